"""Checks when the daemon decides that it has not heard the shoe for a while.

The time is measured by a clock that nobody can set, from the last moment at which the shoe was certainly heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import controller.daemon.clock
import controller.daemon.runtime
from controller.contract.envelope import Stamp
from controller.contract.keys import SigningKey
from controller.contract.topics import Topics
from controller.daemon.config import Config, load
from controller.daemon.record.journal import Journal
from controller.daemon.record.replay import replay
from controller.daemon.runtime import Runtime
from controller.daemon.shoe_heard import Mark
from controller.people.cli.programs import simulated_table
from controller.rules.game.cards import Card
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, CountCards
from controller.table.facts import CardDrawn, ShoeStoodBy
from controller.table.states import Table
from tests.daemon.daemon_world import HeldBroker, HeldPins, HeldShoe
from tests.support.tables import TableUnderTest, hand, seen
from tests.support.waiting import eventually

GAP_SHOWS_MS = 312
KEPT_UNREAD_MS = 8531
BOOT = "c0ffee"

PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": TableUnderTest,
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).believe(drawn("AS", 1)),
    "wagers_open": lambda: TableUnderTest().do(NewShoe()).believe(drawn("AS", 1), drawn("2D", 2)),
    "wagers_locked": lambda: PHASES["wagers_open"]().lock(),
    "round_in_play": lambda: PHASES["wagers_locked"]().believe(drawn("KH", 3)),
    "shoe_ended": lambda: PHASES["wagers_open"]().draw("CUT").lock().draw("KH KS 9H 8S"),
}
SHOE_OPEN = PHASES.keys() - {"no_shoe", "shoe_ended"}
DEALING = {"burning", "round_in_play"}


def drawn(card: str, seq: int | None) -> CardDrawn:
    return CardDrawn(Card.parse(card), report=seen(seq))


class Daemon:
    """One run of the daemon on the journal in `folder`. It starts from the state `table`, or else from the replayed
    journal.

    The machine has been up for `now_ms` milliseconds, and its wall clock shows `wall_ms`.
    """

    now_ms = 1_000_000
    wall_ms = 1_800_000_000_000
    beat_s = 0.01

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        table: Table | None = None,
        gap_shows_within_ms: int = GAP_SHOWS_MS,
        boot: str = BOOT,
    ) -> None:
        self._config: Config = load(simulated_table(folder, 1883))
        self._table = table
        self._key = SigningKey(bytes(32))
        self._path = folder / "table.journal"
        self._mark = Mark(folder / "heard", boot)
        self._boot = boot
        self.shoe = HeldShoe(gap_shows_within_ms, KEPT_UNREAD_MS, up=False)
        self.pins = HeldPins(self._config)
        monkeypatch.setattr(controller.daemon.clock, "since_boot_ms", lambda: self.now_ms)
        monkeypatch.setattr(controller.daemon.runtime, "until_beat_s", lambda: self.beat_s)
        monkeypatch.setattr(
            controller.daemon.clock, "stamp_now", lambda: Stamp(self.wall_ms, True, self._boot, self.now_ms)
        )

    def live(self, story: Callable[[Daemon], Awaitable[None]]) -> None:
        """Run the daemon while the function `story` acts on it, and then end the daemon."""
        asyncio.run(self._live(story))

    def live_heard(self, story: Callable[[Daemon], Awaitable[None]]) -> None:
        """Run the daemon while the function `story` acts on it.

        Before `story` begins, the shoe's line is up and a supervisor has counted the cards.
        """

        async def heard(daemon: Daemon) -> None:
            await daemon.up()
            await daemon.counts()
            await story(daemon)

        self.live(heard)

    async def _live(self, story: Callable[[Daemon], Awaitable[None]]) -> None:
        file = self._config.file
        journal = Journal(self._path, file.table.id, self._key, self._key.public)
        try:
            table, differs = replay(journal.open_shoe(), self._config.rules, file.table.id, journal.epoch)
            assert differs is None
            self.runtime = Runtime(
                self._config,
                journal,
                self._key.public,
                self._table or table,
                None,
                "0" * 64,
                self.pins,
                self.shoe,
                HeldBroker(Topics(self._config.file.pit.root, self._config.file.table.id)),
                alive=lambda: None,
                mark=self._mark,
            )
            running = asyncio.create_task(self.runtime.run())
            await self.settled()
            await story(self)
            running.cancel()
            await asyncio.wait([running])
        finally:
            journal.close()

    async def settled(self) -> None:
        """Wait until the daemon has committed everything that came so far."""
        refused = await self.runtime.ask(ClearFault(None))
        assert refused.refused == "no_supervisor"

    async def beats(self, times: int = 2) -> None:
        """Wait until the daemon's main loop has done its regular work (a beat) `times` more times."""
        until = self.pins.beats + times
        await eventually(lambda: self.pins.beats >= until)

    async def last_beat(self) -> None:
        """Wait for one more beat of the daemon's main loop. The beat after that is an hour away, unless something asks
        for one earlier."""
        self.beat_s = 3600.0
        await self.beats(1)

    async def up(self) -> None:
        """Bring the shoe's line up, and wait until the daemon has counted the shoe as heard."""
        self.shoe.link(True)
        await self.beats()
        await self.settled()

    async def blip(self, down_ms: int = 0) -> None:
        """Let the shoe's line go down, and come back up after `down_ms` milliseconds."""
        self.shoe.link(False)
        self.now_ms += down_ms
        self.shoe.link(True)
        await self.settled()

    async def do(self, *requests: Request) -> None:
        for request in requests:
            fault = self.runtime.face.fault
            answer = await self.runtime.ask(request, fault=fault.id if fault else None)
            assert answer.refused is None

    @property
    def fault(self) -> str | None:
        """The code of the table's present fault; None if it has no fault."""
        return self.runtime.face.fault.code if self.runtime.face.fault else None

    @property
    def details(self) -> dict[str, str | int]:
        """The details of the table's present fault."""
        assert self.runtime.face.fault is not None
        return self.runtime.face.fault.details

    async def counts(self) -> None:
        """Let a supervisor report the number of cards left in the shoe, as the table itself has counted them."""
        await self.do(CountCards(self.runtime.face.cards_left or 0, "Smith"))


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Daemon]:
    return lambda phase=None, **kind: Daemon(tmp_path, monkeypatch, PHASES[phase]().table if phase else None, **kind)


MakeDaemon = Callable[..., Daemon]


# The line.


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(("gap_shows_within_ms", "down_ms"), [(GAP_SHOWS_MS, GAP_SHOWS_MS), (0, 0), (0, 20_000)])
def test_a_line_that_was_lost_long_enough_stops_the_table_in_every_phase_of_an_open_shoe(
    daemon: MakeDaemon, phase: str, gap_shows_within_ms: int, down_ms: int
) -> None:
    async def story(daemon: Daemon) -> None:
        if daemon.fault == "shoe_unheard":
            await daemon.counts()
        await daemon.up()
        if daemon.fault == "shoe_unheard":
            await daemon.counts()
        assert daemon.fault is None
        daemon.shoe.link(False)
        await daemon.settled()
        assert daemon.fault == ("shoe_unplugged" if phase in DEALING else None)
        if phase in DEALING:
            await daemon.do(ClearFault("Smith"))
        forgot = daemon.shoe.forgot
        daemon.now_ms += down_ms
        daemon.shoe.link(True)
        await daemon.settled()
        assert daemon.fault == ("shoe_unheard" if phase in SHOE_OPEN else None)
        assert daemon.shoe.forgot - forgot == (phase in SHOE_OPEN), "what comes is no copy of the last report"

    daemon(phase, gap_shows_within_ms=gap_shows_within_ms).live(story)


@pytest.mark.parametrize("phase", ["wagers_open", "wagers_locked"])
def test_a_blip_in_which_the_numbers_cannot_have_come_round_stops_nothing(daemon: MakeDaemon, phase: str) -> None:
    async def story(daemon: Daemon) -> None:
        daemon.shoe.listener.shoe_reported(ShoeStoodBy(seen(7)))  # a number to count from
        await daemon.settled()
        forgot = daemon.shoe.forgot
        await daemon.blip(GAP_SHOWS_MS - 1)
        assert (daemon.fault, daemon.shoe.forgot) == (None, forgot)

    daemon(phase).live_heard(story)


def test_with_no_number_heard_since_every_blip_stops_it(daemon: MakeDaemon) -> None:
    async def story(daemon: Daemon) -> None:
        await daemon.blip()
        assert daemon.fault == "shoe_unheard"

    daemon("wagers_open").live_heard(story)


def test_after_a_nine_every_blip_stops_it_until_the_shoe_is_known_to_count_a_zero(daemon: MakeDaemon) -> None:
    """After a report numbered 9, every short loss of the shoe's line stops the table, until a report numbered 0 has
    come.

    Some shoes count from 9 on to 1, others from 9 to 0. Until the table knows which, it cannot tell whether a report
    numbered 0 was missed.
    """

    async def story(daemon: Daemon) -> None:
        daemon.shoe.listener.shoe_reported(ShoeStoodBy(seen(9)))
        await daemon.settled()
        await daemon.blip()
        assert daemon.fault == "shoe_unheard"
        await daemon.counts()
        for seq in (8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9):
            daemon.shoe.listener.shoe_reported(ShoeStoodBy(seen(seq)))
        await daemon.settled()
        await daemon.blip()
        assert daemon.runtime.face.fault is None

    daemon("wagers_open").live_heard(story)


def test_wagers_locked_while_the_line_was_out_do_not_play_before_a_count(daemon: MakeDaemon) -> None:
    async def story(daemon: Daemon) -> None:
        daemon.shoe.link(False)
        await daemon.do(LockWagers())
        daemon.now_ms += 15_000
        await daemon.up()
        assert (daemon.fault, daemon.details["unheard_s"]) == ("shoe_unheard", 15)

    daemon("wagers_open").live_heard(story)


# A loop that stood still.


@pytest.mark.parametrize(("stood_ms", "stops"), [(KEPT_UNREAD_MS, False), (KEPT_UNREAD_MS + 1, True), (30_000, True)])
def test_a_freeze_longer_than_what_the_kernel_keeps_stops_the_table(
    daemon: MakeDaemon, stood_ms: int, stops: bool
) -> None:
    async def story(daemon: Daemon) -> None:
        await daemon.beats()
        daemon.now_ms += stood_ms
        await daemon.beats(3)
        await daemon.settled()
        assert daemon.fault == ("shoe_unheard" if stops else None)

    daemon("wagers_open").live_heard(story)


def test_a_cable_pulled_and_plugged_during_a_freeze_is_unheard_since_before_it(daemon: MakeDaemon) -> None:
    async def story(daemon: Daemon) -> None:
        await daemon.beats()
        daemon.now_ms += 7_000  # less than the kernel keeps, but the line was gone
        await daemon.blip(5)
        assert (daemon.fault, daemon.details["unheard_s"]) == ("shoe_unheard", 8)

    daemon("wagers_open").live_heard(story)


def test_a_thaw_in_the_middle_of_a_turn_hides_no_freeze(daemon: MakeDaemon) -> None:
    """If the program stood still for 7 seconds, the table counts the shoe as unheard for that time.

    This holds even if the main loop does its regular work (a beat) after the standstill, before it learns that the
    shoe's line was lost. The time is measured from the last beat before the standstill.
    """

    async def story(daemon: Daemon) -> None:
        await daemon.beats()
        daemon.now_ms += 7_000
        await daemon.beats(1)
        await daemon.blip(5)
        assert daemon.fault == "shoe_unheard"

    daemon("wagers_open").live_heard(story)


def test_a_beat_that_is_asked_for_waits_until_the_line_was_looked_at(daemon: MakeDaemon) -> None:
    """If two beats (the main loop's regular work) come together after a standstill of the program, the table still
    counts the shoe as unheard for all that time.

    The first is the beat of the clock, and the second is asked for by the watching thread. The second waits until the
    loop has learned that the shoe's line was lost.
    """

    async def story(daemon: Daemon) -> None:
        await daemon.last_beat()
        daemon.now_ms += 7_000
        daemon.runtime._beats._beat(False)
        daemon.runtime._beats.soon()
        await daemon.blip(5)
        assert (daemon.fault, daemon.details["unheard_s"]) == ("shoe_unheard", 8)

    daemon("wagers_open").live_heard(story)


@pytest.mark.parametrize("lost", ["frozen", "suspended"])
def test_the_watch_asks_for_a_beat_where_bytes_may_be_lost(
    daemon: MakeDaemon, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    slept = [0]
    monkeypatch.setattr(controller.daemon.clock, "slept_ms", lambda: slept[0])

    async def story(daemon: Daemon) -> None:
        assert not daemon.runtime._has_changed()
        daemon.now_ms += 30_000 if lost == "frozen" else 1_000
        slept[0] += 0 if lost == "frozen" else 1_000
        assert daemon.runtime._has_changed()
        await eventually(lambda: daemon.fault == "shoe_unheard")

    daemon("wagers_open").live_heard(story)


# The program.


def two_lives(daemon: MakeDaemon, second: Callable[[Daemon], Awaitable[None]], later_ms: int, **kind: str) -> None:
    """Run the daemon twice. The first run locks wagers and begins a round. The second run starts `later_ms`
    milliseconds later, while the function `second` acts on it. `kind` holds the arguments with which the second daemon
    is made."""

    async def first(daemon: Daemon) -> None:
        await daemon.do(NewShoe())
        await daemon.up()
        await daemon.counts()
        daemon.shoe.deal("AS 2D")
        await daemon.settled()
        await daemon.do(LockWagers())
        daemon.shoe.deal("9H KS")
        await daemon.settled()
        for _ in range(10):  # more than a minute in which nothing happens, and the shoe is heard
            daemon.now_ms += 8_000
            await daemon.beats(1)
        daemon.now_ms += 1_000
        await daemon.beats(1)

    one = daemon()
    one.live(first)
    two = daemon(**kind)
    two.now_ms = one.now_ms + later_ms
    two.wall_ms = one.wall_ms - 20_000  # it was set back meanwhile
    two.live(second)


def test_a_program_that_was_gone_for_twenty_seconds_says_so_whatever_the_wall_clock_says(daemon: MakeDaemon) -> None:
    async def second(daemon: Daemon) -> None:
        assert daemon.fault == "shoe_unheard"
        assert daemon.details["unheard_s"] == 21, "and not the quiet minute before, but that of the last second's mark"
        daemon.shoe.link(True)
        await daemon.settled()
        await daemon.counts()
        assert daemon.runtime.face.fault is None
        daemon.shoe.deal("TD")
        await daemon.settled()
        assert hand(daemon.runtime.face, "player").cards == ("9H", "TD")

    two_lives(daemon, second, 20_000)


def test_after_a_boot_nobody_knows_for_how_long(daemon: MakeDaemon) -> None:
    async def second(daemon: Daemon) -> None:
        assert daemon.fault == "shoe_unheard"
        assert "unheard_s" not in daemon.details
        assert daemon.details["last_heard_at"] == Stamp(Daemon.wall_ms, True).text()

    two_lives(daemon, second, -500_000, boot="an0ther")


def test_cards_drawn_before_the_line_is_there_need_another_count(daemon: MakeDaemon) -> None:
    async def second(daemon: Daemon) -> None:
        await daemon.counts()
        assert daemon.fault is None
        daemon.now_ms += 5_000
        daemon.shoe.link(True)
        await daemon.settled()
        assert daemon.fault == "shoe_unheard"

    two_lives(daemon, second, 1_000)


# The mark.


@pytest.mark.parametrize(
    "found", ["", "c0ffee", "c0ffee x", "c0ffee -5", "c0ffee 99", "an0ther 7", "c0ffee 1 2", "\xff"]
)
def test_a_mark_that_is_none_tells_nothing(tmp_path: Path, found: str) -> None:
    (tmp_path / "heard").write_text(found, "latin-1")
    assert Mark(tmp_path / "heard", "c0ffee").read(98) is None


def test_a_mark_is_read_by_whoever_starts_next(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "heard", "c0ffee")
    for heard_ms in (123_456_789, 7):
        mark.write(heard_ms)
    assert Mark(tmp_path / "heard", "c0ffee").read(98) == 7
    assert Mark(tmp_path / "heard", "").read(98) is None, "without a boot id no clock can be trusted"


def test_a_mark_that_cannot_be_written_does_not_stop_the_table(tmp_path: Path) -> None:
    Mark(tmp_path / "no" / "such" / "folder", "c0ffee").write(7)
