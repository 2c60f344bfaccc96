"""The simulated shoe: one of the brands of `drivers.sim` on a line in memory, its deck of cards, and a record of every
report that it made."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from drivers.sim import rules
from drivers.sim.shoe import maker

ALL_COPIES = ("good", "good", "good")
_CARDS_BYTES = 8


@dataclass
class Reported:
    """One report as it left the shoe: its bytes (in hex), and the card that was truly drawn, or None."""

    frame: str
    real: str | None
    listened: bool = True  # somebody did, when it left
    heard_by: int = 0  # the life of the table's program that got good copies of it
    good_copies: int = 0  # that this life got
    believed_from: int = 2  # so many are needed

    def came(self, life: int) -> bool:
        """Tell whether the table's program, in its run number `life`, heard enough copies of the report to trust it."""
        return self.heard_by == life and self.good_copies >= self.believed_from

    @property
    def kind(self) -> str:
        """Return the letter that names the type of the shoe's report."""
        return chr(int(self.frame[4:6], 16))


class Port:
    """The table's end of the serial line to the shoe, in place of `drivers.line.port.ShoePort`."""

    def __init__(self, cable: Cable, on_bytes: Callable[[bytes], None], on_link: Callable[[bool, str], None]) -> None:
        self.on_bytes = on_bytes
        self.on_link = on_link
        self._cable = cable
        cable.port = self

    def write(self, data: bytes) -> None:
        """Send the table's bytes to the shoe."""
        self._cable.to_shoe(data)

    async def run(self) -> None:
        """Keep the port open for good."""
        self.on_link(self._cable.plugged, "as the cable is")
        await asyncio.Event().wait()


class Cable:
    """The serial line between shoe and table. Bytes that are written while nobody listens are lost.

    The cable has two ends. `plugged` is True while the table's end is in, which the port can see. `in_shoe` is True
    while the shoe's end is in, which the port cannot see.
    """

    def __init__(self) -> None:
        self.plugged = True
        self.in_shoe = True
        self.port: Port | None = None
        self._shoe_hears: Callable[[bytes], None] | None = None

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Set the function by which the shoe hears the table."""
        self._shoe_hears = heard

    def to_shoe(self, data: bytes) -> None:
        """Send the table's bytes to the shoe."""
        if self.plugged and self.in_shoe and self._shoe_hears is not None:
            self._shoe_hears(data)

    def plug(self, plugged: bool) -> None:
        """Plug the cable in at the table's end, or pull it."""
        if plugged != self.plugged:
            self.plugged = plugged
            if self.port is not None:
                self.port.on_link(plugged, "the cable was moved")

    @property
    def heard(self) -> bool:
        """Tell whether the bytes that the shoe sends reach the table's program at this moment."""
        return self.plugged and self.in_shoe and self.port is not None

    def write(self, data: bytes) -> None:
        """Send the shoe's bytes to the table."""
        if self.plugged and self.in_shoe and self.port is not None and data:
            self.port.on_bytes(data)


class CardShoe:
    """The simulated shoe and the cards in it. `life` is the number of the run of the table's program that hears the
    shoe.

    `lucky` are pairs of a king and a nine, written "KS 9H". The cards are arranged so that these pairs often come in
    one hand. If `numbered` is True, the shoe is an Angel Eye: it sends each report three times under a number, plays
    the game itself, and reports the cut card. A BeeTek reports each card once, and does not see the cut card, so
    `on_cut_card` must tell the table of the cut card.
    """

    def __init__(
        self, brand: str, seed: str, decks: int, cut_card_from_end: int, wrap: int, lucky: Sequence[str] = ()
    ) -> None:
        self.cable = Cable()
        self.numbered = brand == "angel_eye"
        self.far = cast(Any, maker(brand)(self.cable, wrap=wrap))  # what only one of the brands can do is asked of it
        self.far.corrupt = self._on_the_wire if self.numbered else lambda line: self._on_the_wire(0, line)
        self.on_cut_card: Callable[[], None] = self.far.cut_card
        self.reported: list[Reported] = []
        self.life = 0
        self.between_copies: Callable[[int], None] = lambda copy: None
        self._seed, self._decks, self._cut = seed, decks, cut_card_from_end
        self._lucky = lucky
        self._shoes = 0
        self._cards: list[str] = []
        self._cut_card_in = False
        self._damage: Sequence[str] = ALL_COPIES
        self._real: str | None = None

    @property
    def cards_left(self) -> int:
        """Return how many cards are still in the shoe."""
        return len(self._cards)

    @property
    def in_round(self) -> bool:
        """Tell whether the shoe's own game is in the middle of a round."""
        return self.numbered and bool(self.far._player)

    def refill(self) -> None:
        """Put freshly shuffled cards into the shoe."""
        self._shoes += 1
        self._cards = [rank + suit for rank in rules.RANKS for suit in rules.SUITS] * self._decks
        luck = random.Random(f"{self._seed} shoe {self._shoes}")
        luck.shuffle(self._cards)
        for pair in self._lucky:  # two cards apart lie in the same hand, when the hand begins with one or before it
            place = luck.randrange(len(self._cards) - 2)
            for at, card in zip((place, place + 2), pair.split(), strict=True):
                was = self._cards.index(card)
                self._cards[was], self._cards[at] = self._cards[at], card
        self._cut_card_in = True
        self.far.new_shoe()

    def draw(self, how: Callable[[str], None], damage: Sequence[str] = ALL_COPIES) -> None:
        """Draw the next card. If the cut card lies before it, draw the cut card first. `how` is the shoe's function
        that reports the card.

        `damage` says for each copy of the card's report how it arrives: "good", "bad" (damaged), "alias" (changed to
        another valid report) or "lost".
        """
        if self._cut_card_in and len(self._cards) <= self._cut:
            self._cut_card_in = False
            self.report(self.on_cut_card)
        if self._cards:
            card = self._cards.pop()
            self._real, self._damage = card, damage
            how(card)
            self._real, self._damage = None, ALL_COPIES

    def report(self, what: Callable[[], None], damage: Sequence[str] = ALL_COPIES) -> None:
        """Call `what`, by which the shoe reports something other than a card. `damage` says for each copy of the report
        how it arrives: "good", "bad" or "lost"."""
        self._damage = damage
        what()
        self._damage = ALL_COPIES

    def _on_the_wire(self, copy: int, frame: bytes) -> bytes:
        """Return the bytes that arrive at the table for copy number `copy` of a report, after possible damage. Record
        the report."""
        if copy == 0:
            believed_from = 2 if self.numbered else 1
            self.reported.append(Reported(frame.hex(), self._real, self.cable.heard, believed_from=believed_from))
        report, fate = self.reported[-1], self._damage[copy]
        if copy or not self.numbered:
            self.between_copies(copy)
        if copy == (2 if self.numbered else 0):
            self._real, self._damage = None, ALL_COPIES  # the next report of the same event is another one
        if fate == "lost":
            return b""
        if fate == "bad":
            return frame[:3] + b"\x7f" + frame[3:]
        if fate == "alias" and len(frame) >= _CARDS_BYTES:  # two flips that the check does not see: another good frame
            return _alias(frame)
        if self.cable.heard:
            report.good_copies = 1 + (report.good_copies if report.heard_by == self.life else 0)
            report.heard_by = self.life
        return frame


def _alias(frame: bytes) -> bytes:
    """Return a card's report with two flipped bits that leave its checksum right. The changed report names another card
    and another index."""
    changed = bytearray(frame)
    changed[-4] ^= 0x01
    changed[-5] ^= 0x01
    return bytes(changed)
