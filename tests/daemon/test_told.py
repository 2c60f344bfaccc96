"""Checks what a table reports about itself and about its connection to the pit. The parts that it reports on are
replaced by stand-ins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import convert
from msgspec.structs import replace

from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.events import Win
from controller.contract.face.state import Links, TableState
from controller.contract.face.status import Standing, WinShown
from controller.contract.fingerprint import fingerprint
from controller.contract.topics import Topics
from controller.daemon import clock
from controller.daemon.delivery.guarantee import Delivery, Phase
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.pit_said import WIN_SHOWN_S
from controller.daemon.delivery.pit_trust import PitTrust
from controller.daemon.delivery.standing import PitHeard
from controller.daemon.delivery.told import StreamTold
from controller.daemon.told import Told
from controller.table.acts.shoe import NewShoe
from controller.table.lamps import Pattern
from controller.table.public import public
from tests.daemon.daemon_world import KEY, PIT_KEY, table_config
from tests.support.tables import ROYAL9, TableUnderTest

_TOPICS = Topics("pit/v1", "royal9-01")
_STALE_S = 10


class _Stream:
    """A stand-in for a working connection on which the pit was heard. A test changes one thing about it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1_000.0
        monkeypatch.setattr(clock, "monotonic_s", lambda: self.now_s)
        self.delivery = Delivery("e1", 3, 5, _STALE_S)
        self.delivery.phase = Phase.STREAMING
        self.trust = PitTrust(PIT_KEY.public)
        self.sending = SimpleNamespace(unread="", altered=0, refused=(0, 0), oldest_at="then")
        self.heard = PitHeard(self.now_s, connected=True, adopted=True, heard_s=self.now_s)
        self.levels = Levels((), _STALE_S)
        self.often_cut = ""
        said = SimpleNamespace(heard=self.heard, forged=Counter(ack=2))
        broker = SimpleNamespace(address="10.0.0.1:8883", often_cut=lambda: self.often_cut)
        parts: list[Any] = [broker, self.trust, self.delivery, self.sending, said, self.levels, lambda: True]
        self.told = StreamTold(_TOPICS, "punto.toml", _STALE_S, 1_000, 7, *parts)
        self.told.why_down = ""

    def standing(self) -> tuple[str, dict[str, str | int]]:
        standing = self.told.standing()
        return standing.code, dict(standing.details)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> _Stream:
    return _Stream(monkeypatch)


def test_the_first_of_all_reasons_is_told_why_no_event_flows(stream: _Stream) -> None:
    stream.often_cut = "the link is cut often"
    assert stream.told.status().why == "the link is cut often"
    stream.told.why_down = "the host is unknown"
    assert stream.told.status().why == "the host is unknown"
    stream.delivery.phase, stream.sending.refused = Phase.REFUSED, (4, 0x97)
    assert stream.told.status().why.startswith("the broker refuses event 4 (0x97): look at the broker's log")
    stream.sending.refused = 4, 0x87
    assert f"not authorised): let this table publish on {_TOPICS.event}" in stream.told.status().why
    stream.delivery.phase, stream.sending.altered = Phase.ALTERED, 5
    assert stream.told.status().why.startswith("event 5 is not in the journal as it was signed")
    stream.sending.unread = "bad"
    assert stream.told.status().why == "the stream waits, for the journal cannot be read: bad"


def test_how_the_pit_is_found_begins_with_what_is_nearest_to_the_table(stream: _Stream) -> None:
    shown = {"offered": fingerprint(KEY.public), "pinned": fingerprint(PIT_KEY.public)}
    assert stream.standing() == ("well", {})
    stream.trust.successor = KEY.public
    assert stream.standing() == ("key_handed_over", {"offered": shown["offered"], "pinned": shown["pinned"]})
    stream.trust.pinned = stream.trust.successor = None
    assert stream.standing() == ("no_key", {})
    stream.trust.offered = KEY.public
    assert stream.standing() == ("key_unpinned", {"offered": shown["offered"], "pinned": ""})
    stream.delivery.phase, stream.sending.refused = Phase.REFUSED, (4, 0x87)
    refused = {"event": 4, "reason": "0x87", "topic": _TOPICS.event, "again_s": 5}
    assert stream.standing() == ("refused", refused)
    stream.delivery.phase = Phase.BEHIND
    assert stream.standing() == ("journal_behind", {})
    stream.delivery.phase, stream.sending.altered = Phase.ALTERED, 5
    assert stream.standing() == ("journal_altered", {"event": 5})
    stream.sending.unread = "bad"
    assert stream.standing() == ("journal_unread", {"why": "bad"})
    stream.heard.link(False, stream.now_s)
    stream.told.why_down, stream.now_s = "the host is unknown", stream.now_s + 3
    assert stream.standing() == ("no_broker", {"for_s": 3, "why": "the host is unknown"})


@pytest.mark.parametrize(
    ("offered", "heard", "told"),
    [
        (PIT_KEY.public, True, ("silent", {"for_s": _STALE_S})),
        (KEY.public, True, ("key_differs", None)),
        (PIT_KEY.public, False, ("no_pit", {"for_s": _STALE_S, "root": "pit/v1"})),
        (KEY.public, False, ("key_differs", None)),
    ],
    ids=["silent", "silent beside another key", "none", "none beside another key"],
)
def test_a_pit_that_is_not_heard_may_have_another_key(
    offered: bytes, heard: bool, told: tuple[str, dict[str, object] | None], stream: _Stream
) -> None:
    stream.delivery.committed(6, stream.now_s)
    stream.trust.offered = offered
    if not heard:
        stream.heard.heard_s, stream.heard.adopted = 0.0, None
    stream.delivery._silent_since_s = stream.now_s
    stream.now_s += _STALE_S
    code, details = stream.standing()
    assert (code, details if told[1] is not None else None) == told


def test_a_pit_that_keeps_up_badly_or_lacks_a_meter_is_told(stream: _Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream.levels, "unknown", lambda _: ["grand", "minor"])
    assert stream.standing() == ("meter_unknown", {"meters": "grand, minor", "game": "punto.toml"})
    stream.delivery._silent_since_s = stream.now_s
    stream.now_s += _STALE_S
    stream.heard.word(stream.now_s)
    assert stream.standing() == ("behind", {"for_s": _STALE_S, "waiting": 2})


def test_the_screen_tells_a_win_for_a_while(stream: _Stream) -> None:
    assert stream.told.status().win is None
    stream.told.win(Win(9, "then", "royal9-02", "pit.4", "royal9", "personal", "grand", 900_00, 100_00))
    stream.now_s += WIN_SHOWN_S - 1
    shown = stream.told.status().win
    assert shown is not None
    assert shown == WinShown("then", "royal9-02", "pit.4", "personal", "grand", 900_00, 100_00)
    stream.now_s += 1
    assert stream.told.status().win is None


def test_the_stream_counts_the_same_for_people_and_for_the_pit(stream: _Stream) -> None:
    own = TableState(
        version="1",
        program_digest="1" * 64,
        config_digest="2" * 64,
        digest="3" * 64,
        public_key="4" * 64,
        phase="paused",
        shoe=2,
        round=None,
        next_round=7,
        fault=None,
        links=Links(True, True),
        meters=("grand",),
    )
    state = stream.told.state(own)
    assert convert(state, TableState, from_attributes=True) == own
    assert (state.online, state.table, state.epoch, state.boot) == (True, "royal9-01", "e1", 7)
    assert (state.head_seq, state.unacknowledged, state.oldest_unacknowledged_at) == (5, 2, "then")
    assert (state.pit, state.broker, state.contract) == ("well", "10.0.0.1:8883", CONTRACT_VERSION)
    link = stream.told.status()
    assert (link.epoch, link.head_seq, link.acked_seq, link.unacknowledged) == ("e1", 5, 3, 2)
    assert (link.most_unacknowledged, link.connected, link.fresh, link.stream) == (1_000, True, True, "streaming")
    assert (link.key.pinned, link.key.forged) == (fingerprint(PIT_KEY.public), {"ack": 2})


class _Table:
    """A table with an open shoe, whose parts are stand-ins that report what a test sets."""

    def __init__(self, folder: Path) -> None:
        config = table_config(folder)
        self.config = config
        self.world = TableUnderTest(ROYAL9).do(NewShoe())
        self.commits = SimpleNamespace(error=None)
        self.shoe = SimpleNamespace(up=True, why="open", bad_bytes={"no_etx": 3})
        self.pit = Standing("well")
        self.waits: object = None
        self.closed: tuple[str, ...] = ()
        seats = public(self.world.table).seats
        panel = SimpleNamespace(
            test_name=None,
            shown={"fault": Pattern.FAST_BLINK},
            covered=frozenset({seats[0], 99}),
            settled={"key": True, "deal": False, "cabinet_open": True},
        )
        ran = SimpleNamespace(program="1" * 64, configuration="2" * 64)
        stream = SimpleNamespace(
            fresh=lambda: False,
            told=SimpleNamespace(status=lambda: "the link", standing=lambda: self.pit),
            recognition_status=lambda expected: ("recognition", expected),
        )
        parts: list[Any] = [
            SimpleNamespace(boot=4, archived_rows=8),
            self.commits,
            SimpleNamespace(error="full"),
            SimpleNamespace(measured=ran),
            SimpleNamespace(refused_seats=frozenset({2})),
            self.shoe,
            panel,
            SimpleNamespace(waiting=lambda: self.waits, waiting_status=lambda: self.waits),
            stream,
        ]
        self.seat = seats[0]
        parts += [lambda: self.world.table, lambda: replace(public(self.world.table), closed=self.closed)]
        self.told = Told(config, KEY.public, *parts)


@pytest.fixture
def table(tmp_path: Path) -> _Table:
    return _Table(tmp_path)


def test_a_status_has_what_each_part_says(table: _Table) -> None:
    table.commits.error = "the disk is full"
    status = table.told.status()
    assert status.face == public(table.world.table)
    assert (status.program_digest, status.config_digest) == ("1" * 64, "2" * 64)
    assert (status.lamps, status.inputs) == ({"fault": "fast_blink"}, ("cabinet_open", "key"))
    assert status.sensors == (table.seat,), "this table has no seat 99"
    assert (status.shoe.why, status.shoe.bad_bytes, status.shoe.bad_bytes_wait) == ("open", {"no_etx": 3}, False)
    assert (status.journal.boot, status.journal.error) == (4, "the disk is full")
    assert (status.journal.archived_rows, status.journal.archive_error) == (8, "full")
    assert cast(object, status.pit) == "the link"
    assert cast(object, status.recognition) == ("recognition", table.config.rules.bet_recognition)


def test_the_state_for_the_pit_says_what_the_status_says(table: _Table) -> None:
    table.world.draw("??")
    table.shoe.up = False
    state, status = table.told.state(), table.told.status()
    assert (state.version, state.digest, state.public_key) == (status.version, status.digest, KEY.public.hex())
    face = status.face
    assert (state.phase, state.shoe, state.round, state.next_round) == (face.phase, 1, face.round, face.next_round)
    assert face.fault is not None
    assert state.fault == face.fault.code
    assert state.links == Links(shoe=False, journal=True)
    assert state.meters == tuple(sorted(table.config.rules.meters)) != ()


def test_lamps_show_each_link_by_itself(table: _Table) -> None:
    live = table.told.live()
    assert (live.pit_fresh, live.pit_up, live.shoe_up, live.journal_ok) == (False, True, True, True)
    assert ({*live.sensed_seats}, {*live.refused_seats}, live.second_person) == ({table.seat}, {2}, False)
    assert live.sensed_open
    table.pit, table.waits, table.closed = Standing("no_pit"), object(), (table.world.table.rules.sensed or "",)
    live = table.told.live()
    assert not live.sensed_open
    assert (live.pit_up, live.shoe_up, live.journal_ok, live.second_person) == (False, True, True, True)
    table.shoe.up, table.commits.error = False, "full"
    live = table.told.live()
    assert (live.shoe_up, live.journal_ok) == (False, False)
