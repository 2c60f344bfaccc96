"""Whose word the table takes for the pit's: what the key has signed that a person pinned. Pure.

The pit offers its key on a topic of its own, where other clients could offer a key too. So a person compares the
offered key's fingerprint with the fingerprint that the pit shows, and pins the key. After that the key changes only by
a rotation, which the former key has signed.

A former key may have been stolen: perhaps the pit has a new key for that reason. Its thief signs rotations too. A table
that was there when the pit rotated its key has the new key, and the former key is nothing to it. A table that was away
cannot tell the pit's rotation from the thief's. So that table asks a person, and believes neither key meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from controller.contract.bounds import MOST_AHEAD_MS, MOST_LEAP_MS
from controller.contract.canonical import parse_object
from controller.contract.envelope import Stamp
from controller.contract.keys import signature_holds
from controller.contract.pit_words import AckWord, AwardStep, MeasureWord, MetersWord, PitKeyWord, Rotation, moment_ms
from controller.contract.wager_words import WagerWord

_MOST_OFFERS = 16


class Offer(Enum):
    """How a key that came on the pit's topic stands to the pinned key."""

    MALFORMED = auto()
    UNPINNED = auto()  # no key is pinned yet: a person has to compare the offered key
    ANEW = auto()  # the pinned key, in a later word than every word before: a pit's program begins to listen
    PINNED = auto()  # the pinned key, in a word that came before
    ROTATED = auto()  # the pinned key has handed over to the offered key, directly or through other keys
    HANDED_OVER = auto()  # the same at a table that was away: a person has to compare the offered key
    DIFFERS = auto()  # the pinned key has not handed over to the offered key


class PitTrust:
    """The pit's key as the table knows it: `pinned`, and what was `offered` last. None where there is none.

    `successor` is the key to which the pinned key handed over while the table was away. Until a person pins a key,
    neither the successor nor the pinned key is believed. `offers` are the last keys that were offered: where a thief
    offers a key again and again, a person can still pin the pit's.
    """

    def __init__(self, pinned: bytes | None) -> None:
        self.pinned = pinned
        self.offered: bytes | None = None
        self.successor: bytes | None = None
        self.offers: list[bytes] = []
        self._said_at = ""  # the time of the pit's last word on its key, by the pit's clock

    @property
    def undecided(self) -> bool:
        """Whether a person has to pin a key before the pit is believed."""
        return self.pinned is None or self.successor is not None

    def pin(self, key: bytes) -> None:
        """A person has compared this key at both ends."""
        self.pinned, self.successor = key, None

    def offer(self, payload: bytes, present: bool) -> Offer:
        """A key came on the pit's topic.

        A key that the pinned key hands over to is pinned in its place, where the table was `present`: it has heard the
        pit until now.
        """
        message = parse_object(payload)
        word = PitKeyWord.read(message)
        if word is None or not signature_holds(message, bytes.fromhex(word.public_key)):
            return Offer.MALFORMED
        self.offered = bytes.fromhex(word.public_key)
        self.offers = [*(key for key in self.offers if key != self.offered), self.offered][-_MOST_OFFERS:]
        if self.pinned is None:
            return Offer.UNPINNED
        if self.offered == self.pinned:
            before, self._said_at = self._said_at, max(self._said_at, word.at)
            return Offer.ANEW if word.at > before else Offer.PINNED
        if _handed_over(self.pinned, word) != self.offered:
            return Offer.DIFFERS
        if not present or self.successor is not None:
            self.successor = self.offered
            return Offer.HANDED_OVER
        self._said_at = word.at
        self.pinned = self.offered
        return Offer.ROTATED

    def signed(self, message: Mapping[str, object]) -> bool:
        """Whether the pinned key signed the message, and is believed."""
        return self.pinned is not None and self.successor is None and signature_holds(message, self.pinned)


def _handed_over(pinned: bytes, word: PitKeyWord) -> bytes:
    """The key to which the rotations lead from the pinned key."""
    key = pinned
    for rotation in word.rotations:
        if rotation.former == key.hex() and _holds(rotation):
            key = bytes.fromhex(rotation.public_key)
    return key


def _holds(rotation: Rotation) -> bool:
    message = {"former": rotation.former, "public_key": rotation.public_key, "signature": rotation.signature}
    return signature_holds(message, bytes.fromhex(rotation.former))


class PitClock:
    """The time by which the pit's words are judged: the table's clock, or the pit's where the table's is not set.

    The pit's ack of an event tells the pit's time, where nobody can have signed that ack before. With that time a table
    without a set clock tells words of another day from today's, and forgets a time of the pit that was wrong. It does
    not tell whether levels are fresh: the times of a pit whose clock was set back stand, while the table reckons on.
    Example: the pit's clock stood ten years ahead for two seconds. The ack of the table's next event tells the right
    time.
    """

    def __init__(self) -> None:
        self._ahead_ms: int | None = None  # the pit's time, less the monotonic clock

    def heard(self, at: str, now_s: float) -> None:
        """The pit signed this time just now."""
        at_ms = moment_ms(at)
        assert at_ms is not None, "a word that was read has a moment"
        self._ahead_ms = at_ms - round(1000 * now_s)

    def now(self, own: Stamp, now_s: float) -> Stamp:
        """Now. `own` is by the table's clock. Where nothing is known of either clock, the stamp is not synchronised."""
        if own.synchronised or self._ahead_ms is None:
            return own
        return Stamp(min(self._ahead_ms + round(1000 * now_s), _LAST_MOMENT_MS - MOST_AHEAD_MS), synchronised=True)


def leaps(word: AckWord | AwardStep | MeasureWord | MetersWord | WagerWord, now: Stamp) -> str | None:
    """Why nobody can have said this message by now; None where somebody can.

    The number of a message is a time too, so neither may be ahead of the clock. For example: at 12:00 on 3 May a
    message with the time 5 May is refused, and so is a message with a number that stands for 5 May.
    """
    at_ms = moment_ms(word.at)
    assert at_ms is not None, "a word that was read has a moment"
    if not isinstance(word, AckWord | MeasureWord) and word.seq > at_ms + MOST_LEAP_MS:
        return f"its number {word.seq} is a time after its own, {word.at}"
    if at_ms > latest_ms(now):
        return f"its time {word.at} is more than a day ahead of {now.text()}"
    return None


def latest_ms(now: Stamp) -> int:
    """The latest time that a message can have by now. Where the table's clock is not set, any time is possible."""
    return now.at_ms + MOST_AHEAD_MS if now.synchronised else _LAST_MOMENT_MS


def latest_at(now: Stamp) -> str:
    """`latest_ms` as text, for comparison with the `at` of a message."""
    return Stamp(latest_ms(now), now.synchronised).text()


_LAST_MOMENT_MS = 253_402_300_799_999  # the end of the year 9999, the last moment that a message can tell
