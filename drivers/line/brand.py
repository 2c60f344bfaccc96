"""What the program asks of a brand of card-reading shoe; the brand's own file in `drivers/shoe` answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # to know the brands' names is to load none of the table
    from controller.table.facts import Report, ShoeFact
    from drivers.line.bad_bytes import BadBytes


class Codec(Protocol):
    """One shoe's bytes to facts. It keeps what has begun and not ended, and does no I/O."""

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes]:
        """What `data` completes, in the order it came. Total: any bytes at all are answered, never with an error."""

    def forget(self) -> None:
        """Nothing was heard for so long that what comes next is new, also where it looks like the last report."""


@dataclass(frozen=True, slots=True)
class Brand:
    """One brand of shoe.

    `name` is that of its file, and of `[shoe] driver`; `called` is what people call one, with its article. `bauds` are
    the speeds its line can run at, the usual one first; all are 8N1. `copies`: how often it sends each report.
    `bits_until_numbers_repeat`: how many bits the wire carries at least, at any speed, while so many reports are missed
    that the next one's number shows no gap; 0 where reports carry no number. `deals`: the kinds of game it can deal, as
    game files name them; None where it has no game of its own, and so deals any. `buttons`: what its dealer must be
    able to press that another shoe's need not, and why. `codec` makes one shoe's codec; it gets the last report
    that was believed before a restart.
    """

    name: str
    called: str
    bauds: tuple[int, ...]
    copies: int
    bits_until_numbers_repeat: int
    deals: frozenset[str] | None
    buttons: Mapping[str, str]
    codec: Callable[[Report | None], Codec]

    def read_again(self, frame: bytes) -> list[ShoeFact | BadBytes]:
        """What a report tells whose frame was kept, each thing once."""
        return list(dict.fromkeys(self.codec(None).feed(frame * self.copies)))
