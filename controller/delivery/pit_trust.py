"""Whose word the table takes for the pit's: the key that a person pinned, and what that key has signed. Pure.

The pit offers its key on a topic of its own, and anybody could. So a person compares its fingerprint with the one that
the pit shows and pins it; from then on a rotation, which the former key has signed, is all that changes the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from controller.contract.bounds import MOST_AHEAD_MS, MOST_LEAP_MS
from controller.contract.canonical import parse_object
from controller.contract.envelope import Stamp
from controller.contract.pit_words import AckWord, AwardStep, MetersWord, PitKeyWord, Rotation, moment_ms
from controller.keys import signature_holds


class Offer(Enum):
    """What a key that came on the pit's topic is to the table."""

    MALFORMED = auto()
    UNPINNED = auto()  # no key is pinned, so a person is to compare it
    PINNED = auto()
    ROTATED = auto()  # the pinned key has signed it, or one that has
    DIFFERS = auto()  # the pinned key knows nothing of it


class PitTrust:
    """The pit's key as the table knows it: `pinned`, and `offered` last, each None where there is none."""

    def __init__(self, pinned: bytes | None) -> None:
        self.pinned = pinned
        self.offered: bytes | None = None

    def offer(self, payload: bytes) -> Offer:
        """A key came on the pit's topic. One that the pinned key hands over to is pinned in its place."""
        message = parse_object(payload)
        word = PitKeyWord.read(message)
        if word is None or not signature_holds(message, bytes.fromhex(word.public_key)):
            return Offer.MALFORMED
        self.offered = bytes.fromhex(word.public_key)
        if self.pinned is None:
            return Offer.UNPINNED
        if self.offered == self.pinned:
            return Offer.PINNED
        if _handed_over(self.pinned, word) != self.offered:
            return Offer.DIFFERS
        self.pinned = self.offered
        return Offer.ROTATED

    def signed(self, message: Mapping[str, object]) -> bool:
        """Whether the pinned key signed the message."""
        return self.pinned is not None and signature_holds(message, self.pinned)


def _handed_over(pinned: bytes, word: PitKeyWord) -> bytes:
    """The key that the rotations lead to from the pinned one."""
    key = pinned
    for rotation in word.rotations:
        if rotation.former == key.hex() and _holds(rotation):
            key = bytes.fromhex(rotation.public_key)
    return key


def _holds(rotation: Rotation) -> bool:
    message = {"former": rotation.former, "public_key": rotation.public_key, "signature": rotation.signature}
    return signature_holds(message, bytes.fromhex(rotation.former))


def leaps(word: AckWord | AwardStep | MetersWord, now: Stamp) -> str | None:
    """Why the word cannot be of this time; None where it can. Its number, where it has one, is a time too."""
    at_ms = moment_ms(word.at)
    assert at_ms is not None, "a word that was read has a moment"
    if isinstance(word, AwardStep | MetersWord) and word.seq > at_ms + MOST_LEAP_MS:
        return f"its number {word.seq} is a time after its own, {word.at}"
    if at_ms > latest_ms(now):
        return f"its time {word.at} is more than a day ahead of the table's clock"
    return None


def latest_ms(now: Stamp) -> int:
    """The latest time that a word said by now can have. Where the table's clock is not set, any time there is."""
    return now.at_ms + MOST_AHEAD_MS if now.synchronised else _LAST_MOMENT_MS


def latest_at(now: Stamp) -> str:
    """The same as an `at`."""
    return Stamp(latest_ms(now), now.synchronised).text()


_LAST_MOMENT_MS = 253_402_300_799_999  # the year 9999 ends: no message tells a later one
