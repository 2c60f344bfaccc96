"""Counts of bytes from a shoe that could not be read as a report, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar

from msgspec import Struct

Reason = Literal["noise", "shape", "check", "range", "unconfirmed", "unknown"]

_Heard = TypeVar("_Heard")


class BadBytes(Struct, frozen=True):
    """A count of bytes from the shoe that could not be read as a report. The bytes themselves are not kept, because
    they could reveal a face-down card.

    `noise`: bytes outside of any frame. `shape`: a frame that is cut short, or has a byte in the wrong place. `check`:
    a whole frame with wrong check characters. `range`: a frame with the right check and an impossible value.
    `unconfirmed`: a good frame of which too few copies came. `unknown`: a good frame of a kind that is not described.
    """

    reason: Reason
    count: int

    @property
    def public_reason(self) -> str:
        """The reason that people may be told: `noise` for every bad frame, whatever is wrong with it.

        A card's check characters are made from the card. The same damage gives one card's report a wrong check and
        another card's report a wrong shape. So the exact reason would reveal something about a card that lies face
        down.
        """
        return self.reason if self.reason in ("unconfirmed", "unknown") else "noise"


def joined(heard: Iterable[_Heard]) -> list[_Heard | BadBytes]:
    """Return the items in the same order, but with neighbouring counts of noise bytes added up into one count."""
    out: list[_Heard | BadBytes] = []
    noise = 0
    for item in heard:
        if isinstance(item, BadBytes) and item.reason == "noise":
            noise += item.count
            continue
        if noise:
            out.append(BadBytes("noise", noise))
            noise = 0
        out.append(item)
    if noise:
        out.append(BadBytes("noise", noise))
    return out
