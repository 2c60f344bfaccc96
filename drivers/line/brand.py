"""The interface to a brand of card-reading shoe, which the brand's own file in `drivers/shoe` implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # who only asks for the brands' names loads nothing of the table
    from controller.rules.game.baccarat import Tableau
    from controller.table.facts import Report, ShoeFact
    from drivers.line.bad_bytes import BadBytes


class Answered(Struct, frozen=True):
    """The shoe's answer to a command: proof that the shoe hears the table, and the table hears the shoe.

    `refusal` is the shoe's code where it refuses the command, None where it obeys. The answer has `count` bytes.
    """

    refusal: str | None
    count: int


class Asking(Struct, frozen=True):
    """How a brand of shoe is asked whether it is still there: by a command that changes nothing and that it answers.

    `usual` is the command that is sent where a table's file names none. `frame` makes a command's bytes. A command has
    the form `form`, a regular expression, of which `such_as` is an example. A command that begins with a key of `acts`
    is never sent, because it does what that entry says. `unlocks` is a command that opens a locked shoe and changes
    nothing else. The shoe answers within `answers_within_ms`, too short a time for a person to deal so many cards that
    the report numbers repeat.
    """

    usual: str
    frame: Callable[[str], bytes]
    form: str
    such_as: str
    acts: Mapping[str, str]
    unlocks: str
    answers_within_ms: int


class Codec(Protocol):
    """Decodes one shoe's bytes into facts.

    A codec keeps only the frame that has begun and not ended, and does no I/O.
    """

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes | Answered]:
        """Decode the bytes, and return what they complete, in the order it came. No bytes at all cause an error."""

    def forget(self) -> None:
        """Forget the last report, so that the next one counts as new even where it looks the same.

        This is called where nothing was heard from the shoe for long.
        """


class Brand(Struct, frozen=True):
    """One brand of card-reading shoe.

    `name`: the name of the brand's file, and its `[shoe] driver`. `called`: what people call such a shoe, with the
    article. `bauds`: the speeds of the line, the usual speed first; all are 8N1. `copies`: how many times the shoe
    sends each report. `bits_until_numbers_repeat`: the fewest bits that the wire carries while so many reports are
    missed that the next report's number shows no gap; 0 where reports have no numbers. `tableau`: the drawing rules
    that the shoe itself applies and judges by, and so the only game that it deals; None for a shoe that decides
    nothing. `buttons`: each button that only this shoe's dealer needs, and why. `codec` makes the codec of one shoe,
    and gets the last report that was believed before a restart. `asking` says how the shoe is asked whether it is
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
        """Decode a report again from its kept frame, and return its facts, each once."""
        return list(dict.fromkeys(self.codec(None).feed(frame * self.copies)))
