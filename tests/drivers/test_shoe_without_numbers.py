"""A shoe that numbers nothing: wherever it was out of hearing with a card due, a person must look at the felt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from controller.cli.bench import simulated_table
from controller.config import Config, load
from controller.devices import BrokerListener, ShoeListener
from controller.game.cards import Card
from controller.journal import Journal
from controller.keys import SigningKey
from controller.replay import replay
from controller.runtime import Runtime
from controller.table.facts import CardDrawn, Report, ShoeUnplugged
from controller.table.requests import ClearFault, LockWagers, NameCard, NewShoe, Request
from controller.table.states import Table
from tests.support.tables import TableUnderTest, hand

PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": TableUnderTest,
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).draw("AS"),
    "wagers_open": lambda: TableUnderTest().open_shoe(),
    "wagers_locked": lambda: TableUnderTest().open_shoe().lock(),
    "hand_in_play": lambda: TableUnderTest().open_shoe().lock().draw("KH"),
    "shoe_ended": lambda: TableUnderTest().open_shoe().draw("CUT").lock().draw("KH KS 9H 8S"),
}
CARD_DUE = {"first_card_due", "burning", "wagers_locked", "hand_in_play"}
INSIDE_A_HAND_OR_THE_BURN = {"burning", "hand_in_play"}


def unnumbered(card: str) -> CardDrawn:
    return CardDrawn(Card.parse(card), report=Report(None, "2a"))


# The table.


@pytest.mark.parametrize("phase", PHASES)
def test_the_table_stops_wherever_a_card_may_have_come_unseen(phase: str) -> None:
    table = PHASES[phase]()
    assert table.face.phase == phase
    table.believe(ShoeUnplugged())
    assert table.fault == ("shoe_unplugged" if phase in CARD_DUE else None)
    if table.fault:
        assert table.exits == {"card", "clear", "void" if table.face.round else "new_shoe"}


def test_what_is_missed_before_the_first_card_is_named_as_the_first_card() -> None:
    table = PHASES["first_card_due"]().believe(ShoeUnplugged()).name("2C").clear()
    assert (table.face.first_card, table.face.burn_left) == ("2C", 2)


def test_what_is_missed_at_lock_is_named_as_the_hands_first() -> None:
    table = PHASES["wagers_locked"]().believe(ShoeUnplugged()).name("9H").clear().draw("KS TD 8S")
    assert table.of_type("round")[-1]["player"]["cards"] == ["9H", "TD"]


def test_equal_reports_without_numbers_are_cards_and_no_gap() -> None:
    table = TableUnderTest().do(NewShoe()).believe(unnumbered("AS"), unnumbered("2D")).lock()
    table.believe(*[unnumbered("4S")] * 4)
    assert table.fault is None
    assert table.of_type("round")[-1]["cards_left"] == 416 - 6


@pytest.mark.parametrize(("first", "second"), [(None, 5), (5, None)])
def test_another_shoe_in_its_place_is_no_gap(first: int | None, second: int | None) -> None:
    reports = [Report(first, "2a"), Report(second, "05")]
    table = TableUnderTest().do(NewShoe())
    table.believe(
        *(CardDrawn(Card.parse(card), report=report) for card, report in zip(("AS", "2D"), reports, strict=True))
    )
    assert table.fault is None


def test_out_of_hearing_again_with_nothing_heard_in_between_needs_one_look() -> None:
    table = PHASES["hand_in_play"]().believe(ShoeUnplugged(), ShoeUnplugged(), ShoeUnplugged())
    assert table.clear().fault is None


def test_out_of_hearing_again_after_a_card_needs_another_look() -> None:
    table = PHASES["hand_in_play"]().believe(ShoeUnplugged(), unnumbered("KS"), ShoeUnplugged(), ShoeUnplugged())
    assert table.clear().fault == "shoe_unplugged"
    assert hand(table.face, "banker").cards == ("KS",)
    assert table.clear().fault is None


def test_behind_another_fault_it_waits_its_turn_once() -> None:
    table = PHASES["hand_in_play"]().draw("??").believe(ShoeUnplugged(), ShoeUnplugged())
    assert table.fault == "unreadable_card"
    assert table.name("KS").fault == "shoe_unplugged"
    assert table.clear().fault is None


# The daemon.


class FarShoe:
    """The shoe's driver, without a line: the test says what it hears."""

    def __init__(self, numbered: bool) -> None:
        self.numbered = numbered
        self.listener: ShoeListener | None = None

    async def run(self, listener: ShoeListener) -> None:
        self.listener = listener
        await asyncio.Event().wait()

    def link(self, up: bool) -> None:
        assert self.listener is not None
        self.listener.shoe_link(up, "as the test says")

    def cards(self, text: str) -> None:
        assert self.listener is not None
        for card in text.split():
            self.listener.shoe_reported(unnumbered(card))


class NoPins:
    """A table whose pins nobody touches."""

    def read(self) -> dict[str, bool]:
        return {}

    def write(self, lamp: str, lit: bool) -> None:
        pass

    def close(self) -> None:
        pass


class NoBroker:
    """A broker that is never there."""

    async def run(self, listener: BrokerListener) -> None:
        await asyncio.Event().wait()

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        return None

    def drop(self, why: str) -> None:
        pass

    def often_cut(self) -> str:
        return ""


class Daemon:
    """One life of the daemon on the journal in `folder`, from `table` or what the journal replays to."""

    def __init__(self, folder: Path, numbered: bool, table: Table | None = None) -> None:
        self._config: Config = load(simulated_table(folder, 1883))
        self._table = table
        self._key = SigningKey(bytes(32))
        self._path = folder / "table.journal"
        self.shoe = FarShoe(numbered)

    def live(self, story: Callable[[Daemon], Awaitable[None]]) -> None:
        """Run the daemon through the story, and end it."""
        asyncio.run(self._live(story))

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
                NoPins(),
                self.shoe,
                NoBroker(),
                alive=lambda: None,
            )
            running = asyncio.create_task(self.runtime.run())
            await self.settled()
            await story(self)
            running.cancel()
            await asyncio.wait([running])
        finally:
            journal.close()

    async def settled(self) -> None:
        """Wait until all that came before is committed."""
        refused = await self.runtime.ask(ClearFault(None))
        assert refused.refused == "no_supervisor"

    async def do(self, *requests: Request) -> None:
        for request in requests:
            fault = self.runtime.face.fault
            answer = await self.runtime.ask(request, fault=fault.id if fault else None)
            assert answer.refused is None, answer.why

    def fault(self) -> str | None:
        """The standing fault's code."""
        return self.runtime.face.fault.code if self.runtime.face.fault else None


async def starts(daemon: Daemon) -> None:
    pass


async def link_goes(daemon: Daemon) -> None:
    daemon.shoe.link(False)


async def link_comes(daemon: Daemon) -> None:
    daemon.shoe.link(True)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    ("numbered", "happens", "stops_in"),
    [
        (False, starts, CARD_DUE),
        (False, link_goes, CARD_DUE),
        (False, link_comes, CARD_DUE),
        (True, starts, set()),
        (True, link_goes, INSIDE_A_HAND_OR_THE_BURN),
        (True, link_comes, set()),
    ],
)
def test_when_the_daemon_stops_the_table(
    tmp_path: Path, phase: str, numbered: bool, happens: Callable[[Daemon], Awaitable[None]], stops_in: set[str]
) -> None:
    async def story(daemon: Daemon) -> None:
        await happens(daemon)
        await daemon.settled()
        assert daemon.fault() == ("shoe_unplugged" if phase in stops_in else None)

    Daemon(tmp_path, numbered, PHASES[phase]().table).live(story)


def test_a_link_that_was_down_since_before_the_hand_stops_it_when_it_comes_back(tmp_path: Path) -> None:
    async def story(daemon: Daemon) -> None:
        daemon.shoe.link(False)
        await daemon.do(LockWagers())
        assert daemon.fault() is None
        daemon.shoe.link(True)
        await daemon.settled()
        assert daemon.fault() == "shoe_unplugged"

    Daemon(tmp_path, numbered=False, table=PHASES["wagers_open"]().table).live(story)


def test_restarts_inside_a_hand_end_with_one_look_at_the_felt(tmp_path: Path) -> None:
    async def begins(daemon: Daemon) -> None:
        await daemon.do(NewShoe())
        daemon.shoe.cards("AS 2D")
        await daemon.settled()
        await daemon.do(LockWagers())
        daemon.shoe.cards("9H KS")
        await daemon.settled()
        assert daemon.fault() is None

    async def is_down_again(daemon: Daemon) -> None:
        daemon.shoe.link(False)
        daemon.shoe.link(True)
        await daemon.settled()
        assert daemon.fault() == "shoe_unplugged"

    async def ends(daemon: Daemon) -> None:
        assert daemon.fault() == "shoe_unplugged"
        daemon.shoe.link(True)
        await daemon.do(NameCard(Card.parse("TD"), "Smith"), ClearFault("Smith"))
        assert daemon.fault() is None
        daemon.shoe.cards("8S")
        await daemon.settled()
        face = daemon.runtime.face
        assert (face.outcome, hand(face, "player").cards, hand(face, "banker").cards) == (
            "player",
            ("9H", "TD"),
            ("KS", "8S"),
        )

    for story in (begins, is_down_again, starts, ends):
        Daemon(tmp_path, numbered=False).live(story)
