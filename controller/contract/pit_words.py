"""What the pit says: its key, its acknowledgements, the steps of awards, the meters. Each word owns both directions.

`payload` makes the bytes that are published. `read` takes the JSON object that came, and gives None where that is no
such word (`schemas/` has the same rules). Neither says whose word it is: `signature_holds` (`controller/keys.py`) does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Self

from controller.contract.bounds import (
    EPOCH,
    EVENT_ID,
    HASH,
    MOST_CENTS,
    MOST_METERS,
    MOST_ROTATIONS,
    MOST_SEQ,
    NAME,
    TABLE,
    is_count,
)
from controller.contract.signing import Signer, signature_of, signed

STEPS = ("pending", "verified", "paid", "rejected")

_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z")
_AWARD = re.compile(r"[a-z0-9-]{1,100}[.][1-9][0-9]{0,17}")
_LONGEST_NAME_OF_A_PERSON = 200


def moment_ms(at: str) -> int | None:
    """Milliseconds since 1970 of an `at` (RFC 3339, UTC, to the millisecond); None where there is no such moment."""
    try:
        return round(datetime.fromisoformat(at).timestamp() * 1000) if _AT.fullmatch(at) else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the pit. Each has an `at`: when it was said, by the pit's clock."""

    def payload(self, signer: Signer) -> bytes:
        """As it is published."""
        return signed(asdict(self), signer)


@dataclass(frozen=True, slots=True)
class AckWord(Word):
    """Everything of this table's epoch through `seq` is committed; `chain` is that event's, 64 zeros at seq 0."""

    table: str
    epoch: str
    seq: int
    chain: str
    at: str

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word that the message is."""
        match message:
            case {
                "table": str(table),
                "epoch": str(epoch),
                "seq": int(seq),
                "chain": str(chain),
                "at": str(at),
                "signature": str(),
                **others,
            } if (
                not others
                and TABLE.fullmatch(table)
                and EPOCH.fullmatch(epoch)
                and is_count(seq, 0, MOST_SEQ)
                and HASH.fullmatch(chain)
                and moment_ms(at) is not None
            ):
                return cls(table, epoch, seq, chain, at)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AwardStep(Word):
    """A step of an award. `seq` numbers the steps of a table's awards; `hit` is the id of the hit's event."""

    award: str
    hit: str
    table: str
    seat: int
    tier: str
    meter: str | None
    cents: int
    step: str
    by: str
    at: str
    seq: int

    @property
    def epoch(self) -> str:
        """The epoch of the hit's event."""
        return self.hit.split("/")[1]

    @property
    def hit_seq(self) -> int:
        """The number of the hit's event."""
        return int(self.hit.split("/")[2])

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word that the message is."""
        match message:
            case {
                "award": str(award),
                "hit": str(hit),
                "table": str(table),
                "seat": int(seat),
                "tier": str(tier),
                "meter": str() | None as meter,
                "cents": int(cents),
                "step": str(step),
                "by": str(by),
                "at": str(at),
                "seq": int(seq),
                "signature": str(),
                **others,
            } if (
                not others
                and _AWARD.fullmatch(award)
                and (parts := EVENT_ID.fullmatch(hit)) is not None
                and parts[1] == table
                and is_count(seat, 1, 99)
                and NAME.fullmatch(tier)
                and (meter is None or NAME.fullmatch(meter))
                and is_count(cents, 0, MOST_CENTS)
                and step in STEPS
                and _is_name_of_a_person(by)
                and is_count(seq, 1, MOST_SEQ)
                and moment_ms(at) is not None
            ):
                return cls(award, hit, table, seat, tier, meter, cents, step, by, at, seq)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class MetersWord(Word):
    """Every progressive level in cents, for all tables."""

    seq: int
    at: str
    meters: dict[str, int]

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word that the message is."""
        match message:
            case {"seq": int(seq), "at": str(at), "meters": dict(meters), "signature": str(), **others} if (
                not others
                and is_count(seq, 1, MOST_SEQ)
                and len(meters) <= MOST_METERS
                and all(NAME.fullmatch(name) and is_count(cents, 0, MOST_CENTS) for name, cents in meters.items())
                and moment_ms(at) is not None
            ):
                return cls(seq, at, meters)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Rotation:
    """A key took the place of a former one, which signed that: both public, in hex."""

    former: str
    public_key: str
    signature: str

    @classmethod
    def by(cls, former: str, signer: Signer, public_key: str) -> Self:
        """The former key, `signer`, hands over to this one."""
        handed_over: dict[str, object] = {"former": former, "public_key": public_key}
        return cls(former, public_key, signature_of(handed_over, signer))

    @classmethod
    def read(cls, message: object) -> Self | None:
        """The rotation that the message is."""
        match message:
            case {"former": str(former), "public_key": str(public_key), "signature": str(signature), **others} if (
                not others and HASH.fullmatch(former) and HASH.fullmatch(public_key)
            ):
                return cls(former, public_key, signature)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class PitKeyWord(Word):
    """The pit's public key in hex, signed by itself, and how it came to be that, the oldest rotation first."""

    public_key: str
    at: str
    rotations: tuple[Rotation, ...]

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word that the message is."""
        match message:
            case {
                "public_key": str(public_key),
                "rotations": list(listed),
                "at": str(at),
                "signature": str(),
                **others,
            } if not others and HASH.fullmatch(public_key) and len(listed) <= MOST_ROTATIONS:
                rotations = tuple(rotation for each in listed if (rotation := Rotation.read(each)) is not None)
                whole = len(rotations) == len(listed) and moment_ms(at) is not None
                return cls(public_key, at, rotations) if whole else None
            case _:
                return None


def _is_name_of_a_person(by: str) -> bool:
    return by.isprintable() and bool(by.strip()) and len(by) <= _LONGEST_NAME_OF_A_PERSON
