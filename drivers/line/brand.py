"""The interface for a brand of card-reading shoe. Each brand has a file in `drivers/shoe` that implements it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # who only asks for the brands' names loads nothing of the table
    from controller.rules.game.baccarat import Tableau
    from controller.table.facts import Report, ShoeFact
    from drivers.line.bad_bytes import BadBytes


class Answered(Struct, frozen=True):
    """The shoe's answer to a command. It proves that shoe and table hear each other.

    `refusal` is the shoe's code if it refuses the command, and None if it obeys. `count` is the number of bytes of the
    answer.
    """

    refusal: str | None
    count: int


class Asking(Struct, frozen=True):
    """How the table asks a shoe of this brand whether it is still there: with a command that the shoe answers and that
    changes nothing.

    `usual` is the command that is sent if a table's file names none. `frame` turns a command into bytes. `form` is a
    regular expression that every command matches, and `such_as` an example. `acts` maps the beginnings of commands that
    change something to what they do. The table never sends such a command. `unlocks` is a command that opens a locked
    shoe and changes nothing else. The shoe answers within `answers_within_ms`. In so short a time no person can deal so
    many cards that the report numbers repeat.
    """

    usual: str
    frame: Callable[[str], bytes]
    form: str
    such_as: str
    acts: Mapping[str, str]
    unlocks: str
    answers_within_ms: int


class Codec(Protocol):
    """Decodes the bytes of one shoe into facts.

    A codec keeps the frame (message) whose bytes have come only in part. It does no I/O.
    """

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes | Answered]:
        """Decode the next bytes from the shoe. Return the facts, bad bytes and answers that these bytes complete, in
        order. No bytes, whatever they are, raise an error."""

    def forget(self) -> None:
        """Forget the last report, so that the next report counts as new even if it looks the same.

        This is called after nothing was heard from the shoe for long.
        """


class Brand(Struct, frozen=True):
    """One brand of card-reading shoe.

    `name`: the name of the brand's file, and its `[shoe] driver`. `called`: what people call such a shoe, with the
    article. `bauds`: the speeds of the serial line (8N1), the usual speed first. `copies`: how many times the shoe
    sends each report. `bits_until_numbers_repeat`: how many bits the wire carries at least until the report numbers
    repeat, so that missed reports leave no gap in the numbers; 0 if reports have no numbers. `tableau`: the drawing
    rules that the shoe itself applies, and so the only game that it deals; None for a shoe that decides nothing.
    `buttons`: each button that only this shoe's dealer needs, and why. `codec` makes the codec of one shoe. Its
    argument is the last report that was believed before a restart. `asking` says how the shoe is asked whether it is
    there; None for a shoe that takes no commands.
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
        """Decode the shoe's report once more from the frame that the journal kept. Return the facts in it, each
        once."""
        return list(dict.fromkeys(self.codec(None).feed(frame * self.copies)))
