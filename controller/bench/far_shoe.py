"""A simulated shoe of any brand, for tests, on the serial line to the table. It has one method for each thing that a
dealer does with a shoe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from controller.daemon.clock import since_boot_ms
from controller.people.cli.wire import say_again
from controller.table.facts import ShoeFact
from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Answered
from drivers.line.wire import Piece, read_record
from drivers.shoe import brand
from drivers.sim.line import Line
from drivers.sim.rules import a_card
from drivers.sim.shoe import maker
from drivers.sim.shoe.angel_eye import SimulatedAngelEye
from drivers.sim.shoe.beetek import SimulatedBeeTek

NO_READING = "??"
CUT_CARD = "CUT"
_NUMBERS_COME_ROUND_MS = 400


class FarLine(Line, Protocol):
    """The shoe's end of a serial line. The table's end can be pulled out and put back."""

    def unplug(self) -> None:
        """Make the serial device vanish from the table's machine."""

    def plug(self) -> None:
        """Make the serial device appear again, under the same name."""

    def unplug_at_shoe(self) -> None:
        """Let nothing through the line in either direction, while the serial device stays."""

    def plug_at_shoe(self) -> None:
        """Let everything through the line again."""


def stay_unheard(since_ms: int) -> None:
    """Wait until the table may have missed so many reports of the shoe that their one-digit numbers started over.
    `since_ms` is the time since which the table has not heard the shoe, in ms since the machine's start."""
    while (left_ms := since_ms + _NUMBERS_COME_ROUND_MS - since_boot_ms()) > 0:
        time.sleep(left_ms / 1000)


class Recorded(Struct, frozen=True):
    """One piece of a record of the shoe's serial line, and the facts that the brand's codec decodes from this piece,
    for example a drawn card."""

    piece: Piece
    facts: tuple[ShoeFact, ...]


class FarEnd:
    """The methods that the bench adds to a simulated shoe of any brand.

    `sent` lists the frame (the bytes) of every report in hex, also of a report that nobody heard. A shoe may write the
    same report up to three times; `sent` lists the report once. If `before_copy` is set, `before_copy(copy)` is called
    before the copy 0, 1 or 2 of a report is written.
    """

    driver: str
    line: Any  # the FarLine that the brand got; a brand itself needs only a Line
    before_copy: Callable[[int], None] | None = None
    _unplugged_ms = 0

    @cached_property
    def sent(self) -> list[str]:
        """Return the frame (the bytes) of each report that the shoe sent, in hexadecimal, in order."""
        return []

    @property
    def heard(self) -> bool:
        """Tell whether a program has opened the table's end of the line. What the shoe sends before that is lost. On a
        real cable the shoe's end cannot tell, and this returns True."""
        return getattr(self.line, "heard", True)

    def deal(self, cards: str, **lies: Any) -> None:
        """Draw these cards one after another. In `cards`, `8S TD` are two cards, `CUT` is the cut card, and `??8S` is
        an 8S that the shoe cannot read.

        `lies` are passed on to the `draw` method of the shoe's brand, to make the shoe report wrongly.
        """
        shoe: Any = self  # the brand's class is the next base class
        for card in cards.split():
            if card == CUT_CARD:
                shoe.cut_card()
            elif card.startswith(NO_READING):
                shoe.unreadable(card.removeprefix(NO_READING))
            else:
                shoe.draw(a_card(card), **lies)

    def recorded(self, record: str | Path) -> Iterator[Recorded]:
        """Yield, piece by piece, what the shoe sent in a record of its serial line (made by `tablectl shoe record`).
        The recorded answers to questions are left out, because this shoe answers questions itself. Raises TableError
        for a file that is no record."""
        codec = brand(self.driver).codec(None)
        for piece in read_record(Path(record)):
            heard = [] if piece.way == "host" else codec.feed(piece.data)
            facts = tuple(each for each in heard if not isinstance(each, BadBytes | Answered))
            if piece.way != "host" and (facts or not any(isinstance(each, Answered) for each in heard)):
                yield Recorded(piece, facts)

    def replay(self, record: str | Path, speed: float = 1.0) -> None:
        """Send again what the shoe sent in a record of its serial line. `speed` is the pace: 1 is the record's own, 2
        is twice as fast, and 0 sends everything without a pause."""
        say_again((each.piece for each in self.recorded(record)), self.line, speed)

    def unplug(self) -> None:
        """Pull the serial adapter out of the table's machine, so that the device vanishes."""
        self.line.unplug()
        self._unplugged_ms = since_boot_ms()

    def plug(self) -> None:
        """Plug the serial adapter in again, under the same name. First wait until the table may have missed so many
        reports of the shoe that their one-digit numbers started over."""
        stay_unheard(self._unplugged_ms)
        self.line.plug()

    def unplug_at_shoe(self) -> None:
        """Pull the plug at the shoe's end of the cable. The adapter and its device stay."""
        self.line.unplug_at_shoe()

    def plug_at_shoe(self) -> None:
        """Put the plug back in at the shoe's end of the cable."""
        self.line.plug_at_shoe()

    def _note(self, copy: int, frame: bytes) -> bytes:
        if self.before_copy is not None:
            self.before_copy(copy)
        if copy == 0:
            self.sent.append(frame.hex())
        return frame


class FarShoe(FarEnd, SimulatedAngelEye):
    """A simulated Angel Eye shoe on `line`."""

    def __init__(self, line: FarLine, wrap: int = 0) -> None:
        super().__init__(line, wrap=wrap)
        self.corrupt = self._note


class FarBeeTek(FarEnd, SimulatedBeeTek):
    """A simulated BeeTek shoe on `line`."""

    def __init__(self, line: FarLine, wrap: int = 0) -> None:
        super().__init__(line, wrap=wrap)
        self.corrupt = partial(self._note, 0)


def far_shoe(driver: str, line: FarLine, wrap: int) -> Any:
    """Return a simulated shoe on `line`, of the brand that `[shoe] driver` names in a table file. If the brand numbers
    its reports with one digit, `wrap` (0 or 1) is the digit after 9."""
    made_by: Any = maker(driver)
    known = (far for far in (FarShoe, FarBeeTek) if issubclass(far, made_by))
    shoe = next(known, type("FarShoe", (FarEnd, made_by), {}))(line, wrap=wrap)
    shoe.driver = driver
    return shoe
