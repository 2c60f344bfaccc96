"""Tests of the stress test's own tools: a seed repeats its schedule, connections are cut at the planned byte, and the
tools find out which messages had arrived before a cut."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.fire.cuts import BEFORE_ACK, BEFORE_PUBACK, ELSEWHERE, Cut, Records, places
from tests.fire.links import Links
from tests.fire.schedule import Direction, Kind, Plan, Trouble, Victim, strikes, troubles

_KILLS: dict[Victim, int] = {"daemon": 5, "broker": 6, "pit": 7}
_BYTES: dict[Direction, int] = {"to_broker": 1000, "from_broker": 2000}


def test_a_seed_repeats_its_strikes() -> None:
    assert strikes(1, 2, 50, _KILLS) == strikes(1, 2, 50, _KILLS)
    assert strikes(1, 2, 50, _KILLS) != strikes(2, 2, 50, _KILLS)


def test_there_are_as_many_strikes_as_were_asked_for_and_one_a_round_at_most() -> None:
    drawn = strikes(1, 2, 50, _KILLS)
    assert {victim: sum(strike.victim == victim for strike in drawn) for victim in _KILLS} == _KILLS
    assert len({(strike.table, strike.round) for strike in drawn}) == len(drawn)


def test_a_seed_repeats_what_befalls_a_connection() -> None:
    def drawn(seed: int) -> list[Plan]:
        return [troubles(seed, link, connection, _BYTES) for link in ("pit", "t-1") for connection in range(20)]

    assert drawn(1) == drawn(1)
    assert all(one != other for one, other in zip(drawn(1), drawn(2), strict=True))
    assert all(plan not in drawn(1)[:place] for place, plan in enumerate(drawn(1)))


@pytest.fixture
def links() -> Iterator[Links]:
    opened = Links()
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", ["reset", "close", "half_close", "silence"])
def test_a_link_is_cut_at_its_byte_and_the_next_connection_is_whole(links: Links, kind: Kind) -> None:
    plans: list[Plan] = [{"to_broker": [Trouble(5, "delay", 0.01), Trouble(7, kind, 0.01)]}, {}]
    with socket.create_server(("127.0.0.1", 0)) as far_end:
        link = links.link(far_end.getsockname()[1], lambda connection: plans[connection])
        cut = _heard(far_end, link.port)
        if kind in ("close", "half_close"):
            assert cut == b"0123456"
        else:  # a reset throws away what the far end has not read yet
            assert b"0123456".startswith(cut)
        assert _heard(far_end, link.port) == b"0123456789"
    assert link.suffered == {("delay", "to_broker"): 1, (kind, "to_broker"): 1}


_BEFORE_EVENTS = 100, 23, 69, 250  # the TLS handshake, the answers to CONNECT and SUBSCRIBE, and the like
_PUBACK, _ACK, _LEVELS = 21, 148, 185  # as records: 4 bytes; an ack of 105 bytes on a topic of 18; levels of 147
_LOG = """7: New client connected from 127.0.0.1:900 as fire-01 (p5, c1, k5, u'fire-01').
7: Sending PUBLISH to fire-01 (d0, q1, r0, m1, 'pit/v1/fire-01/ack', ... (105 bytes))
8: New client connected from 127.0.0.1:900 as fire-01 (p5, c1, k5, u'fire-01').
8: Sending PUBLISH to fire-01 (d0, q1, r1, m1, 'pit/v1/meters', ... (147 bytes))
8: Received PUBLISH from fire-01 (d0, q1, r1, m2, 'pit/v1/fire-01/state', ... (401 bytes))
8: Sending PUBACK to fire-01 (m2, rc0)
8: Received PUBLISH from fire-01 (d0, q1, r0, m3, 'pit/v1/fire-01/event', ... (723 bytes))
8: Sending PUBACK to fire-01 (m3, rc0)
9: Sending PUBLISH to fire-01 (d0, q1, r0, m2, 'pit/v1/fire-01/ack', ... (105 bytes))"""


@pytest.mark.parametrize(
    ("passed", "place"),
    [
        ((), ELSEWHERE),
        ((_LEVELS,), BEFORE_PUBACK),
        ((_LEVELS, _PUBACK), BEFORE_PUBACK),
        ((_LEVELS, _PUBACK, _PUBACK), BEFORE_ACK),
        ((_LEVELS, _PUBACK, _PUBACK, 19), BEFORE_ACK),
        ((_LEVELS, _PUBACK, _PUBACK, _ACK), ELSEWHERE),
        ((_LEVELS, _PUBACK, _PUBACK, 999), ELSEWHERE),
    ],
)
def test_where_a_cut_fell_is_told_by_what_had_passed(passed: tuple[int, ...], place: str) -> None:
    records = Records()
    stream = b"".join(b"\x17\x03\x03" + length.to_bytes(2) + bytes(length) for length in (*_BEFORE_EVENTS, *passed))
    for byte in (*stream, 0x17):  # one more has begun to pass
        records.pass_on(bytes([byte]))
    assert places(_LOG, [("fire-01", Cut(900, 9.5, records))])[place] == 1


def _heard(far_end: socket.socket, port: int) -> bytes:
    """Send ten bytes to the proxy at `port`, and return the bytes that arrive at the socket `far_end`, behind the
    proxy, before the connection ends."""
    with socket.create_connection(("127.0.0.1", port), 10) as near, far_end.accept()[0] as far:
        heard = b""
        with suppress(ConnectionError):
            near.sendall(b"0123456789")
            near.shutdown(socket.SHUT_WR)
            while data := far.recv(100):
                heard += data
        return heard
