"""A table under test: a test gives it facts and requests as the daemon does, and every event that the table sends is
checked.

Every fact is written as JSON and read back before the table takes it. Every event is sealed and checked against the
contract. The journal's rows are kept, so that any test can ask for a replay.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.contract.events import Event
from controller.contract.face.table import Public, PublicHand
from controller.daemon.config import load
from controller.daemon.record.fact_json import fact_from_json, fact_to_json
from controller.daemon.record.journal_rows import Entry, Row
from controller.daemon.record.replay import replay
from controller.rules.game.cards import Card
from controller.table.acts.entry import Ambient, Request
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import (
    CardDrawn,
    CutCardDrawn,
    Fact,
    Report,
    ShoeOpened,
    StepFailed,
    Target,
)
from controller.table.legality import Refuse
from controller.table.public import public
from controller.table.requests import after, before, decide
from controller.table.rules import LockOn, TableRules
from controller.table.states import Table
from controller.table.step import step
from controller.table.stops import exits
from tests.support.contract import check_event

TABLES = Path(__file__).parents[2] / "config" / "tables"
TABLE_FILE = TABLES / "royal9.toml"
ROYAL9 = load(TABLE_FILE).rules
"""The example table: eight decks, seats 1 to 7 with KS 9S, KH 9H, KD 9D, KC 9C, KS 9H, KH 9S, KD 9C."""
SUGARHOUSE = load(TABLES / "sugarhouse.toml").rules
"""Punto banco with bet recognition: seats 1 to 7, Banker's commission of 5% owed, no Royal 9 bet."""
MIDI = load(TABLES / "sugarhouse_midi.toml").rules
"""The same, its cards dealt face down until the dealer says that they are turned up."""
BACCARAT_ROYAL = load(TABLES / "baccarat_royal.toml").rules
LUCKY9 = load(TABLES / "lucky9.toml").rules
"""Both with bet recognition and seats 1 to 7."""

EPOCH = "0"


def house(rules: TableRules = ROYAL9, *, lock_on: LockOn | None = None, **shoe: Any) -> TableRules:
    """Return the rules with these settings of the shoe changed, as a house may change them: `house(decks=1,
    drawn_in_error="burn")`."""
    changed = replace(rules, shoe=replace(rules.shoe, **shoe))
    return changed if lock_on is None else replace(changed, lock_on=lock_on)


def cards(text: str) -> list[Card]:
    """Parse a text into cards: `cards("KS 9H")`."""
    return [Card.parse(word) for word in text.split()]


def hand(face: Public, name: str) -> PublicHand:
    """Return the hand called `name` from the table's public face: `hand(face, "banker")`. The hand must be on the
    layout."""
    return {hand.hand: hand for hand in face.hands}[name]


_read = lru_cache(10_000)(fact_from_json)  # tables under test live through the same again and again


@dataclass
class TableUnderTest:
    """A table under test, with all events that it has sent and the rows of its journal."""

    rules: TableRules = ROYAL9
    pit_fresh: bool = True
    wagers: set[int] = field(default_factory=set)  # the seats whose sensor is covered
    levels: dict[str, int] = field(default_factory=dict)  # the progressive meters' cents, as the pit says them

    def __post_init__(self) -> None:
        self.table = Table(self.rules)
        self.rows: list[Row] = []
        self.entries: list[Entry] = []
        self.events: list[dict[str, Any]] = []
        self._read = 0
        self._head = GENESIS

    # What happens to it.

    def believe(self, *facts: Fact) -> Self:
        """Give these facts to the table one after another, as the daemon does. Each comes with the facts that the
        daemon adds before and after it."""
        for fact in facts:
            for believed in (*before(self.table, fact, self.ambient), fact):
                self._step(believed)
            for follows in after(self.table, self.ambient):
                self._step(follows)
        return self

    def ask(self, request: Request) -> str | None:
        """Make a request to the table. Returns None if the request was granted, otherwise the code of the refusal."""
        fact = decide(self.table, request, self.ambient)
        if isinstance(fact, Refuse):
            return fact.code
        self.believe(fact)
        return None

    def do(self, *requests: Request) -> Self:
        """Make requests that the table must allow. Raises AssertionError if the table refuses one."""
        for request in requests:
            assert (refused := self.ask(request)) is None, f"{request} was refused: {refused}"
        return self

    def draw(self, text: str) -> Self:
        """Draw the cards in `text`: `CUT` is the cut card, `??` a card that cannot be read. The shoe does not report to
        which hand a card goes."""
        for word in text.split():
            self.believe(
                CutCardDrawn("shoe") if word == "CUT" else CardDrawn(None if word == "??" else Card.parse(word))
            )
        return self

    def to(self, target: Target, index: int, card: str, seq: int | None = None) -> Self:
        """Draw a card for which the shoe reports the hand, `target`, and the card's place in it, `index`. `seq` is the
        number of the shoe's report, if the test needs one."""
        return self.believe(CardDrawn(Card.parse(card), target, index, None if seq is None else seen(seq)))

    def open_shoe(self, burn: str = "AS 2D") -> Self:
        """Announce a new shoe and burn. `burn` is the first card, and after it as many cards as the first card is
        worth."""
        if self.rows or type(self) is not TableUnderTest:
            return self.do(NewShoe()).draw(burn)
        alike = (id(self.rules), self.pit_fresh, *sorted(self.wagers), *sorted(self.levels.items()), burn)
        opened = _OPENED.get(alike)
        if opened is None:
            opened = _OPENED[alike] = _unused(self).do(NewShoe()).draw(burn)
        self.table, self._head = opened.table, opened._head
        self.rows, self.entries, self.events = [*opened.rows], [*opened.entries], deepcopy(opened.events)
        return self

    def lock(self, *seats: int) -> Self:
        """Put Royal 9 wagers at these seats, and lock the wagers as the dealer's button `deal` does."""
        self.wagers = set(seats)
        return self.do(LockWagers())

    def clear(self) -> Self:
        return self.do(ClearFault("Smith"))

    def void(self) -> Self:
        return self.do(VoidRound("Smith", "Jones"))

    def name(self, card: str) -> Self:
        return self.do(NameCard(Card.parse(card), "Smith", "Jones"))

    def new_shoe_by_supervisor(self) -> Self:
        return self.do(NewShoe("Smith"))

    def fail_on(self, fact: Fact) -> Self:
        """Let the table's logic fail on `fact`. The journal keeps the fact, which has no effect, and a second fact that
        records the failure."""
        self._journal(fact, ())
        self._step(StepFailed(f"ValueError in {type(fact).__name__}", getattr(fact, "report", None)))
        return self

    def _step(self, fact: Fact) -> None:
        self.table, made = step(self.table, fact)
        self._journal(fact, made)

    def _journal(self, fact: Fact, made: tuple[Event, ...]) -> None:
        as_json = fact_to_json(fact)
        read_back = _read(as_json)
        assert read_back == fact, "the journal gives the fact back as it was"
        stamp = Stamp(1000 * (len(self.rows) + 1), synchronised=False)
        first = len(self.events) + 1
        self.entries.append(Entry(stamp, fact, made))
        bodies = tuple(
            seal(event, self.rules.table, EPOCH, first + place, stamp, self._head, None)
            for place, event in enumerate(made)
        )
        self.events += [check_event(body, signed=False) for body in bodies]
        self.rows.append(Row(len(self.rows) + 1, stamp, read_back, bodies, self._head, first))
        self._head = chain_head(self._head, as_json, bodies, bytes(16))

    # What it says.

    @property
    def ambient(self) -> Ambient:
        return Ambient(frozenset(self.wagers), self.pit_fresh, self.rules, "0" * 64, "test", levels=self.levels)

    @property
    def face(self) -> Public:
        return public(self.table)

    @property
    def details(self) -> dict[str, str | int]:
        """Return the details of the fault by which the table has stopped."""
        assert self.face.fault is not None
        return self.face.fault.details

    @property
    def fault(self) -> str | None:
        """Return the code of the fault by which the table has stopped; None without a fault."""
        return self.table.fault.code if self.table.fault else None

    @property
    def exits(self) -> set[str]:
        """Return the acts by which the table's present fault can be cleared now."""
        return {exit_.value for exit_ in exits(self.table)}

    def told(self) -> list[dict[str, Any]]:
        """Return the events that the table has sent since the last call of this method."""
        new, self._read = self.events[self._read :], len(self.events)
        return new

    def told_types(self) -> list[str]:
        """Return the types of the events that the table has sent since the last call. The type of a fault event comes
        with the fault's code."""
        return [f"fault {event['code']}" if event["type"] == "fault" else event["type"] for event in self.told()]

    def of_type(self, type_: str) -> list[dict[str, Any]]:
        """Return every event of this type that the table has sent so far."""
        return [event for event in self.events if event["type"] == type_]

    def replayed(self) -> tuple[Table, int | None]:
        """Replay the journal's rows since the shoe was opened. Return the table that results, and the number of the
        first row whose replay made different events, or None if there is no such row."""
        opened = [place for place, row in enumerate(self.rows) if isinstance(row.fact, ShoeOpened)]
        return replay(self.rows[opened[-1] if opened else 0 :], self.rules, self.rules.table, EPOCH)


def _unused(table: TableUnderTest) -> TableUnderTest:
    """Return a new table with the same rules, wagers and meters, at which nothing has happened."""
    return TableUnderTest(table.rules, table.pit_fresh, {*table.wagers}, {**table.levels})


_OPENED: dict[tuple[object, ...], TableUnderTest] = {}
"""A table that opened its shoe, by the number of its rules, which it keeps, and by all else that it opened with. Some
thousand tests begin with such a table."""


def seen(seq: int | None) -> Report:
    """Return a report of the shoe with the one-digit number `seq`; None is for a shoe whose reports have no numbers."""
    return Report(seq, "05")


def between() -> TableUnderTest:
    """Return a table with an open shoe, from which two cards are gone, and with open wagers."""
    return TableUnderTest().open_shoe()
