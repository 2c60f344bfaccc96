"""The fire itself: its seed repeats it, and its links cut where they should."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.fire.links import Links
from tests.fire.schedule import Direction, Kind, Plan, Trouble, Victim, strikes, troubles

_KILLS: dict[Victim, int] = {"daemon": 5, "broker": 6, "pit": 7}
_BYTES: dict[Direction, int] = {"to_broker": 1000, "from_broker": 2000}


def test_a_seed_repeats_its_strikes() -> None:
    assert strikes(1, 2, 50, _KILLS) == strikes(1, 2, 50, _KILLS)
    assert strikes(1, 2, 50, _KILLS) != strikes(2, 2, 50, _KILLS)


def test_there_are_as_many_strikes_as_were_asked_for_and_one_a_hand_at_most() -> None:
    drawn = strikes(1, 2, 50, _KILLS)
    assert {victim: sum(strike.victim == victim for strike in drawn) for victim in _KILLS} == _KILLS
    assert len({(strike.table, strike.hand) for strike in drawn}) == len(drawn)


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


def _heard(far_end: socket.socket, port: int) -> bytes:
    """What the far end hears of ten bytes, until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), 10) as near, far_end.accept()[0] as far:
        heard = b""
        with suppress(ConnectionError):
            near.sendall(b"0123456789")
            near.shutdown(socket.SHUT_WR)
            while data := far.recv(100):
                heard += data
        return heard
