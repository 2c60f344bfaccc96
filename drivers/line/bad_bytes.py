"""What a shoe's codec says of bytes that became no fact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

Reason = Literal["noise", "shape", "check", "range", "unconfirmed", "unknown"]

_Heard = TypeVar("_Heard")


@dataclass(frozen=True, slots=True)
class BadBytes:
    """`count` bytes that became no fact. They are not kept: they could tell a face-down card.

    `noise` stood outside any frame; `shape` is a frame cut short or with a byte that cannot stand there; `check` a
    whole frame whose check characters are wrong; `range` one whose check is right and which says what no report can;
    `unconfirmed` a good frame of which too few copies came; `unknown` a good frame of a kind nobody has described.
    """

    reason: Reason
    count: int

    @property
    def told(self) -> str:
        """The reason as people are told it: `noise` for every frame that is none, whatever is wrong with it.

        A card's check is made from the card. With the same damage, one card's report has a wrong check and another's
        the wrong shape: which of the two would say something of a card that lies face down.
        """
        return self.reason if self.reason in ("unconfirmed", "unknown") else "noise"


def joined(heard: Iterable[_Heard]) -> list[_Heard | BadBytes]:
    """What was heard, byte by byte, with each run of noise as one."""
    out: list[_Heard | BadBytes] = []
    for item in heard:
        match out[-1:], item:
            case [BadBytes("noise", count)], BadBytes("noise", more):
                out[-1] = BadBytes("noise", count + more)
            case _:
                out.append(item)
    return out
