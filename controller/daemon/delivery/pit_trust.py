"""Decides which messages the table accepts as the pit's: those signed by the key that a person pinned (confirmed as the
pit's). The code is pure.

The pit offers its key on an MQTT topic, where other clients could offer a key too. So a person compares the offered
key's fingerprint with the fingerprint that the pit shows, and pins the key. After that the key changes only by a
rotation, in which the former key signs the new key.

A former key may have been stolen, which may be why the pit has a new key. The thief can sign rotations too. A table
that was connected when the pit rotated its key has the new key, and no longer believes the former key. A table that was
away cannot tell the pit's rotation from the thief's. So that table asks a person, and believes neither key meanwhile.
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
    """How a key that a message offered as the pit's relates to the pinned key."""

    MALFORMED = auto()
    UNPINNED = auto()  # no key is pinned yet: a person has to compare the offered key
    ANEW = auto()  # the pinned key, in a later word than every word before: a pit's program begins to listen
    PINNED = auto()  # the pinned key, in a word that came before
    ROTATED = auto()  # the pinned key has handed over to the offered key, directly or through other keys
    HANDED_OVER = auto()  # the same at a table that was away: a person has to compare the offered key
    DIFFERS = auto()  # the pinned key has not handed over to the offered key


class PitTrust:
    """The pit's key as the table knows it: the key that is `pinned` (confirmed by a person), and the key that a message
    `offered` last. Each is None if no such key is known.

    `successor` is the key to which the pinned key handed over while the table was away. Until a person pins a key,
    neither the successor nor the pinned key is believed. `offers` are the last keys that were offered, so that a person
    can still pin the pit's key while a thief offers another key again and again.
    """

    def __init__(self, pinned: bytes | None) -> None:
        self.pinned = pinned
        self.offered: bytes | None = None
        self.successor: bytes | None = None
        self.offers: list[bytes] = []
        self._said_at = ""  # the time of the pit's last word on its key, by the pit's clock

    @property
    def undecided(self) -> bool:
        """Tell whether a person has to pin a key before the table believes any message of the pit."""
        return self.pinned is None or self.successor is not None

    def pin(self, key: bytes) -> None:
        """Pin this key as the pit's. A person has found the same fingerprint at the table and at the pit, or the
        table's settings let it trust the first key unasked."""
        self.pinned, self.successor = key, None

    def offer(self, payload: bytes, present: bool) -> Offer:
        """Judge a message that offers a key as the pit's, and return how that key relates to the pinned key.

        If signed handovers lead from the pinned key to the offered key, and the table is `present`, the offered key
        becomes the pinned key. `present` means that the table has heard the pit without a long break until now. If the
        table is not present, or an earlier handover still waits for a person, the offered key only becomes the
        `successor`.
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
        """Tell whether the pinned key signed the message. Return False if no key is pinned, or if the pinned key is in
        doubt because it handed over to another key."""
        return self.pinned is not None and self.successor is None and signature_holds(message, self.pinned)


def _handed_over(pinned: bytes, word: PitKeyWord) -> bytes:
    """Return the key at the end of the chain of signed rotations that starts at the key `pinned`. Return `pinned`
    itself if the message `word` holds no rotation of that key."""
    key = pinned
    for rotation in word.rotations:
        if rotation.former == key.hex() and _holds(rotation):
            key = bytes.fromhex(rotation.public_key)
    return key


def _holds(rotation: Rotation) -> bool:
    message = {"former": rotation.former, "public_key": rotation.public_key, "signature": rotation.signature}
    return signature_holds(message, bytes.fromhex(rotation.former))


class PitClock:
    """Tells the present time by which the pit's messages are judged: the time of the table's clock or, if that clock is
    not set, the time of the pit's clock.

    The table learns the pit's time from an acknowledgement of a newly sent event, because nobody can have signed that
    acknowledgement earlier. With the pit's time, a table without a set clock can refuse messages of another day. It can
    also discard a wrong time that an earlier message had. Example: the pit's clock stood ten years ahead for two
    seconds. The acknowledgement of the table's next event tells the right time. The pit's time is not used to judge
    whether levels are fresh: after the pit's clock was set back, the table's estimate of the pit's time is ahead.
    """

    def __init__(self) -> None:
        self._ahead_ms: int | None = None  # the pit's time, less the monotonic clock

    def heard(self, at: str, now_s: float) -> None:
        """Note that the pit signed the time `at` just now, so that the table can reckon the pit's time from here."""
        at_ms = moment_ms(at)
        assert at_ms is not None, "a word that was read has a moment"
        self._ahead_ms = at_ms - round(1000 * now_s)

    def now(self, own: Stamp, now_s: float) -> Stamp:
        """Return the present time: `own`, the time of the table's clock, if that clock is set; else the time of the
        pit's clock, if that is known.

        If neither is known, the returned stamp is marked as not synchronised.
        """
        if own.synchronised or self._ahead_ms is None:
            return own
        return Stamp(min(self._ahead_ms + round(1000 * now_s), _LAST_MOMENT_MS - MOST_AHEAD_MS), synchronised=True)


def leaps(word: AckWord | AwardStep | MeasureWord | MetersWord | WagerWord, now: Stamp) -> str | None:
    """Return the reason why this message cannot have been made by now; None if it can. The reason is a time more than a
    day ahead of `now`, or a number that is too high.

    The number of a message is a time in ms since 1970, and may be at most one second ahead of the message's own time.
    (`AckWord` and `MeasureWord` have no such number.) Example: at 12:00 on 3 May a message with the time 5 May is
    refused. A message of 3 May whose number means 5 May is refused too.
    """
    at_ms = moment_ms(word.at)
    assert at_ms is not None, "a word that was read has a moment"
    if not isinstance(word, AckWord | MeasureWord) and word.seq > at_ms + MOST_LEAP_MS:
        return f"its number {word.seq} is a time after its own, {word.at}"
    if at_ms > latest_ms(now):
        return f"its time {word.at} is more than a day ahead of {now.text()}"
    return None


def latest_ms(now: Stamp) -> int:
    """Return the latest time that a message may have, in ms since 1970: one day after `now`. If the clock is not set,
    return the end of the year 9999, because any time is possible."""
    return now.at_ms + MOST_AHEAD_MS if now.synchronised else _LAST_MOMENT_MS


def latest_at(now: Stamp) -> str:
    """Return the latest time that a message may have (one day after `now`, or the end of the year 9999 if the clock is
    not set), as text that can be compared with the `at` of a message."""
    return Stamp(latest_ms(now), now.synchronised).text()


_LAST_MOMENT_MS = 253_402_300_799_999  # the end of the year 9999, the last moment that a message can tell
