"""The signed messages of a pit: its key, its acknowledgements, the steps of awards, the levels of the meters, and the
checkpoints that it has cosigned.

Each type writes and parses one kind of message. `payload` makes the bytes that are published. `read` parses a received
JSON object, and returns None if the object is not a message of this kind (`schemas/` has the same rules). Neither
proves who sent the message: `signature_holds` (`keys.py`) does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Self

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from controller.contract.bounds import (
    EVENT_ID,
    MOST_METERS,
    MOST_ROTATIONS,
    MOST_SEQ,
    AwardName,
    Cents,
    EpochName,
    Hash,
    Name,
    Number,
    SeatNumber,
    TableId,
    whole,
)
from controller.contract.events import Win
from controller.contract.signing import Signer, signature_of, signed

STEPS = ("pending", "verified", "paid", "rejected")

REFUSED_CHECKPOINTS = ("forked", "smaller", "not_from_last")
"""Why a pit does not cosign: the journal's history is another than the cosigned one; the journal is smaller than it
was; or the proof is not from the checkpoint that was cosigned last."""

_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z")
_COSIGNATURE = re.compile(r"([A-Za-z0-9+/]{101}[AQgw]==)?")
_LONGEST_NAME_OF_A_PERSON = 200


def moment_ms(at: str) -> int | None:
    """Parse the time of a message (RFC 3339, UTC, to the millisecond) into milliseconds since 1970. Returns None if the
    text is not such a time."""
    try:
        return round(datetime.fromisoformat(at).timestamp() * 1000) if _AT.fullmatch(at) else None
    except ValueError:
        return None


_Count = Annotated[int, Meta(ge=0, le=MOST_SEQ)]


class Word(Struct, frozen=True, forbid_unknown_fields=True):
    """The base of the messages that a pit or a bet-recognition system signs. Every message has `at`, the time at which
    it was sent, by the sender's clock."""

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """Parse a received message as this type. Returns None if the message is not of this type."""
        at = message.get("at")
        if not isinstance(at, str) or moment_ms(at) is None or not isinstance(message.get("signature"), str):
            return None
        try:
            word = convert({name: value for name, value in message.items() if name != "signature"}, cls)
        except (ValidationError, ValueError):  # ValueError: a name that is no Unicode
            return None
        return word if word._fits() else None

    def _fits(self) -> bool:
        """Return True if the message keeps the rules that its field types cannot express. This base class has no such
        rules."""
        return True

    def payload(self, signer: Signer) -> bytes:
        """Return the bytes to publish: the message, with a signature made by `signer`."""
        return signed(to_builtins(self), signer)


class AckWord(Word, frozen=True):
    """The pit's message that it has stored this table's events up to the number `seq`. `chain` is the hash chain's
    value in that event, or 64 zeros if `seq` is 0."""

    table: TableId
    epoch: EpochName
    seq: _Count
    chain: Hash
    at: str


class CosignedWord(Word, frozen=True):
    """The pit's message about the last checkpoint of a table's journal that the pit has cosigned. That checkpoint
    covers `size` rows of the journal. If `size` is 0, the pit has cosigned no checkpoint yet.

    `cosignature` is the pit's signature line in the checkpoint's note, in Base64. It is empty if `size` is 0. `refused`
    is one of the codes in REFUSED_CHECKPOINTS. It says why the pit has not cosigned the checkpoint that the table
    showed last, and is None if the pit refused no checkpoint.
    """

    table: TableId
    epoch: EpochName
    size: _Count
    cosignature: Annotated[str, whole(_COSIGNATURE)]
    refused: str | None
    at: str

    def _fits(self) -> bool:
        return self.refused in (None, *REFUSED_CHECKPOINTS)


class MeasureWord(Word, frozen=True):
    """The pit's message that asks a table which program it runs. The table answers by hashing its program's files
    again, together with the `nonce`: 64 random hexadecimal digits, which no earlier question had."""

    table: TableId
    epoch: EpochName
    nonce: Hash
    at: str


class AwardStep(Word, frozen=True):
    """The pit's message that an award has reached a step, such as "paid". `seq` numbers the steps of all awards of one
    table. `hit` is the id of the event in which the table reported the winning wager."""

    award: AwardName
    hit: Annotated[str, whole(EVENT_ID)]
    table: TableId
    seat: SeatNumber
    tier: Name
    meter: Name | None
    cents: Cents
    step: str
    by: str
    at: str
    seq: Number

    def _fits(self) -> bool:
        return self.hit.split("/")[0] == self.table and self.step in STEPS and is_name_of_a_person(self.by)

    @property
    def epoch(self) -> str:
        """The epoch (the random name of a journal) in the id of the event that reported the winning wager."""
        return self.hit.split("/")[1]

    @property
    def hit_seq(self) -> int:
        """The number, within its journal, of the event that reported the winning wager."""
        return int(self.hit.split("/")[2])


class MetersWord(Word, frozen=True):
    """The pit's message to all tables with the levels of all progressive meters in cents. `win` is the last win of a
    meter that the pit announces. A pit of an earlier version names no win."""

    seq: Number
    at: str
    meters: Annotated[dict[Name, Cents], Meta(max_length=MOST_METERS)]
    win: Win | None = None

    def _fits(self) -> bool:
        return self.win is None or moment_ms(self.win.at) is not None


class Rotation(Struct, frozen=True, forbid_unknown_fields=True):
    """The replacement of a pit's former key by the key `public_key`, signed by the former key. `former` and
    `public_key` are public keys, in hex."""

    former: Hash
    public_key: Hash
    signature: str

    @classmethod
    def by(cls, former: str, signer: Signer, public_key: str) -> Self:
        """Make the rotation that replaces the key `former` by the key `public_key`. `signer` holds the former key and
        signs with it."""
        handed_over: dict[str, object] = {"former": former, "public_key": public_key}
        return cls(former, public_key, signature_of(handed_over, signer))

    @classmethod
    def read(cls, message: object) -> Self | None:
        """Parse a received key rotation. Returns None if the message is not a rotation."""
        try:
            return convert(message, cls)
        except (ValidationError, ValueError):
            return None


class PitKeyWord(Word, frozen=True):
    """The pit's message with its public key in hex, signed by that key. `rotations` are the earlier replacements of the
    pit's key, the oldest first; each is signed by the key that it replaced."""

    public_key: Hash
    at: str
    rotations: Annotated[tuple[Rotation, ...], Meta(max_length=MOST_ROTATIONS)]


def is_name_of_a_person(by: str) -> bool:
    """Return True if a message may give this text as a person's name: it is printable, not blank, and has at most 200
    characters."""
    return by.isprintable() and bool(by.strip()) and len(by) <= _LONGEST_NAME_OF_A_PERSON
