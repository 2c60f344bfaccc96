"""What the program asks of a brand of card-reading shoe. The brand's own file in `drivers/shoe` answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # who only asks for the brands' names loads nothing of the table
    from controller.rules.game.baccarat import Tableau
    from controller.table.facts import Report, ShoeFact
    from drivers.line.bad_bytes import BadBytes


class Answered(Struct, frozen=True):
    """The shoe answered a command: it hears the table, and the table hears the shoe.

    `refusal` is the shoe's code where it refuses the command, None where it does the command. The answer has `count`
    bytes.
    """

    refusal: str | None
    count: int


class Asking(Struct, frozen=True):
    """How a brand of shoe is asked whether it is still there: by a command that changes nothing, which it answers.

    `usual` is the command that is sent where a table's file names none. `frame` makes a command's bytes. A command has
    the form `form`, a regular expression, which `such_as` shows. A command that begins with a key of `acts` does what
    that entry says, and is never sent. `unlocks` is a command that opens a locked shoe and else changes nothing.
    `answers_within_ms`: the shoe answers within that time, in which its numbers cannot come round by hand.
    """

    usual: str
    frame: Callable[[str], bytes]
    form: str
    such_as: str
    acts: Mapping[str, str]
    unlocks: str
    answers_within_ms: int


class Codec(Protocol):
    """Turns one shoe's bytes into facts. A codec keeps the frame that has begun and not ended, and does no I/O."""

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes | Answered]:
        """What `data` completes, in the order it came. Any bytes at all get an answer, never an error."""

    def forget(self) -> None:
        """Nothing was heard for so long that the next report is new, even where it looks like the last report."""


class Brand(Struct, frozen=True):
    """One brand of shoe.

    `name`: the name of the brand's file, and its `[shoe] driver`. `called`: what people call such a shoe, with the
    article. `bauds`: the speeds of the line, the usual speed first; all are 8N1. `copies`: how many times the shoe
    sends each report. `bits_until_numbers_repeat`: the fewest bits that the wire carries while so many reports are
    missed that the next report's number shows no gap; 0 where reports have no numbers. `tableau`: the rules of drawing
    that the shoe runs itself and judges by, and so the only game that it deals; None for a shoe that decides nothing.
    `buttons`: each button that only this shoe's dealer needs, and why. `codec` makes the codec of one shoe, and gets
    the last report that was believed before a restart. `asking` says how the shoe is asked whether it is there; None
    for a shoe that takes no commands.
    """

    name: str
    called: str
    bauds: tuple[int, ...]
    copies: int
    bits_until_numbers_repeat: int
    tableau: Tableau | None
    buttons: Mapping[str, str]
    codec: Callable[[Report | None], Codec]
    asking: Asking | None = None

    def read_again(self, frame: bytes) -> list[ShoeFact | BadBytes | Answered]:
        """The facts of a report, read again from its kept frame; each fact once."""
        return list(dict.fromkeys(self.codec(None).feed(frame * self.copies)))
