"""The dealer at the bench, with one method for each thing that a dealer does with the shoe and the buttons."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from controller.bench.daemon import Table
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from controller.contract.face.table import BETWEEN_SHOES
from controller.people.cli.wire import say_again
from controller.table.facts import CardDrawn, ShoeFact

_OF_SHOE = {kind.__name__ for kind in get_args(ShoeFact)}
_QUICKEST_PRESS_MS = 1000


class Dealer:
    """A dealer at the table under test. Each method returns once the table's status shows the result."""

    def __init__(self, table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually) -> None:
        self._table = table
        self._shoe = shoe
        self._pins = pins
        self._eventually = eventually

    def open_shoe(self, first_card: str = "2C", burned: str = "KC KD") -> None:
        """Announce a new shoe, draw its first card and burn. Afterwards wagers are open."""
        self._pins.press("new_shoe", until=lambda: self._table.phase == "first_card_due")
        standing = self._table.fault
        self._shoe.new_shoe()
        self._shoe.deal(f"{first_card} {burned}")
        self._eventually.unless_stopped(
            f"the shoe is open after its first card {first_card} and the burned cards {burned}",
            lambda: self._table.phase == "wagers_open",
            standing,
        )

    def lock(self, *seats: int) -> None:
        """Put a wager on these seats' sensors, and lock the wagers."""
        self._pins.cover(*seats)
        self._eventually(lambda: set(seats) <= set(self._table.status().sensors))
        self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked")

    def deal(self, cards: str) -> None:
        """Deal these cards of a round, and wait until the table shows the last of them."""
        already = 0 if self._table.phase == "wagers_locked" else self._shown()
        self._shoe.deal(cards)
        self._eventually(lambda: self._shown() == already + len(cards.split()))

    def _shown(self) -> int:
        return sum(map(len, self._table.hands.values()))

    def cut_card(self) -> None:
        """Let the cut card come out of the shoe. At a shoe that does not report the cut card, press the button
        `cut_card`."""
        seen = self._cut_cards()
        self._shoe.cut_card()
        if not self._shoe.tells_cut_card:
            self._pins.press("cut_card", until=lambda: self._cut_cards() > seen)
        self._eventually(lambda: self._cut_cards() > seen)

    def _cut_cards(self) -> int:
        return sum(fact["fact"] == "CutCardDrawn" for fact in self._table.facts())

    def replay(self, record: str | Path) -> None:
        """Let the shoe send again what a record of its serial line has, as fast as the table takes it, and press the
        buttons that a dealer has to press.

        The record has no buttons. So the dealer announces a shoe if none is open, and locks the wagers before a round's
        first card. There is one exception: if a card came within a second of the shoe's report before it, no dealer
        could have pressed a button in time, so the wagers are not locked. If the table stops by a fault, the rest of
        the record is sent without pressing any button.
        """
        standing, before_ms, given = self._table.fault, 0, self._reports()

        def stopped() -> bool:
            return self._table.fault not in (None, standing)

        def came() -> bool:
            return stopped() or self._reports() >= given

        for each in self._shoe.recorded(record):
            piece = each.piece
            if any(isinstance(fact, CardDrawn) for fact in each.facts) and not stopped():
                self._make_ready(in_time=piece.at_ms - before_ms >= _QUICKEST_PRESS_MS)
            if each.facts:
                before_ms = piece.at_ms
            say_again([piece], self._shoe.line, 0)
            given += len(each.facts)
            self._eventually(came)

    def _reports(self) -> int:
        return sum(fact["fact"] in _OF_SHOE for fact in self._table.facts())

    def _make_ready(self, in_time: bool) -> None:
        phase = self._table.phase
        if phase in BETWEEN_SHOES:
            self._pins.press("new_shoe", until=lambda: self._table.phase == "first_card_due")
        elif phase == "wagers_open" and in_time:
            self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked")

    def play(self, cards: str, *seats: int) -> None:
        """Put wagers on these seats, lock the wagers, deal a whole round of these cards, and wait until the round is
        over."""
        self.lock(*seats)
        standing = self._table.fault
        self._shoe.deal(cards)
        self._eventually.unless_stopped(
            f"the round is over after its cards {cards}",
            lambda: self._table.phase in ("wagers_open", "shoe_ended"),
            standing,
        )
        self._pins.uncover(*seats)
