"""What the pit says: its key, its acks, the steps of awards, the meters, and what it has cosigned.

Each type here writes such a word and reads it. `payload` makes the bytes that are published. `read` takes a received
JSON object, and gives None where that is no such word (`schemas/` has the same rules). Neither proves who said the
word: `signature_holds` (`keys.py`) does.
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
    """Milliseconds since 1970 of an `at` (RFC 3339, UTC, to the millisecond); None where the text is no such time."""
    try:
        return round(datetime.fromisoformat(at).timestamp() * 1000) if _AT.fullmatch(at) else None
    except ValueError:
        return None


_Count = Annotated[int, Meta(ge=0, le=MOST_SEQ)]


class Word(Struct, frozen=True, forbid_unknown_fields=True):
    """A word that its speaker signs: the pit, or bet recognition. Every word has `at`: when it was said, by the
    speaker's clock."""

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word in the message; None where the message is no such word."""
        at = message.get("at")
        if not isinstance(at, str) or moment_ms(at) is None or not isinstance(message.get("signature"), str):
            return None
        try:
            word = convert({name: value for name, value in message.items() if name != "signature"}, cls)
        except (ValidationError, ValueError):  # ValueError: a name that is no Unicode
            return None
        return word if word._fits() else None

    def _fits(self) -> bool:
        """Whether the word keeps what its types do not say."""
        return True

    def payload(self, signer: Signer) -> bytes:
        """The bytes that are published."""
        return signed(to_builtins(self), signer)


class AckWord(Word, frozen=True):
    """The pit has committed this table's events through number `seq`. `chain` is the chain value of that event, or 64
    zeros where `seq` is 0."""

    table: TableId
    epoch: EpochName
    seq: _Count
    chain: Hash
    at: str


class CosignedWord(Word, frozen=True):
    """The last checkpoint of this journal that the pit has cosigned has `size` leaves; 0 where it has cosigned none.

    `cosignature` is what the pit's line in the note has, in Base64: empty at size 0. `refused` says why the pit has not
    cosigned what the table showed last, a code of REFUSED_CHECKPOINTS; None where it refuses nothing.
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
    """The pit asks what runs at this table: the table measures its program's files now. `nonce` is 64 random
    hexadecimal digits, which no question had before."""

    table: TableId
    epoch: EpochName
    nonce: Hash
    at: str


class AwardStep(Word, frozen=True):
    """A step of an award. `seq` numbers the steps of one table's awards. `hit` is the id of the hit's event."""

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
        """The epoch of the hit's event."""
        return self.hit.split("/")[1]

    @property
    def hit_seq(self) -> int:
        """The number of the hit's event."""
        return int(self.hit.split("/")[2])


class MetersWord(Word, frozen=True):
    """The levels of all meters in cents, for all tables, and the last win that the pit tells them of. A pit of an
    earlier version names no win."""

    seq: Number
    at: str
    meters: Annotated[dict[Name, Cents], Meta(max_length=MOST_METERS)]
    win: Win | None = None

    def _fits(self) -> bool:
        return self.win is None or moment_ms(self.win.at) is not None


class Rotation(Struct, frozen=True, forbid_unknown_fields=True):
    """A key replaced a former key, and the former key signed that. Both are public keys, in hex."""

    former: Hash
    public_key: Hash
    signature: str

    @classmethod
    def by(cls, former: str, signer: Signer, public_key: str) -> Self:
        """The rotation by which the former key, with its `signer`, hands over to the key `public_key`."""
        handed_over: dict[str, object] = {"former": former, "public_key": public_key}
        return cls(former, public_key, signature_of(handed_over, signer))

    @classmethod
    def read(cls, message: object) -> Self | None:
        """The rotation in the message; None where the message is no rotation."""
        try:
            return convert(message, cls)
        except (ValidationError, ValueError):
            return None


class PitKeyWord(Word, frozen=True):
    """The pit's public key in hex, signed by itself, and the rotations that led to it, the oldest first."""

    public_key: Hash
    at: str
    rotations: Annotated[tuple[Rotation, ...], Meta(max_length=MOST_ROTATIONS)]


def is_name_of_a_person(by: str) -> bool:
    """Whether a message may hold this name of a person: printable letters, and not too many."""
    return by.isprintable() and bool(by.strip()) and len(by) <= _LONGEST_NAME_OF_A_PERSON
