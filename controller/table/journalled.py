"""What every fact is; and the facts of the link to the pit, and of what the pit asks the table about itself."""

from __future__ import annotations

from msgspec import Struct


class Journalled(Struct, frozen=True, forbid_unknown_fields=True, tag_field="fact", tag=True):
    """What every fact is. The journal names a fact by its class."""


class MeasureAnswered(Journalled, frozen=True):
    """The pit asked with this nonce at this moment, and the table measured its program's files: the digest, and the
    proof that the files were read after the nonce was known (`digest.proof`)."""

    nonce: str
    at: str
    version: str
    program: str
    configuration: str
    proof: str


class ClientIdTaken(Journalled, frozen=True):
    """Another client connected to the broker with this table's id, and the broker gave it this table's place."""


class PitLinkLost(Journalled, frozen=True):
    """The table found the pit well, and for longer than its limit does not. `standing` says how it finds the pit."""

    standing: str


class PitLinkBack(Journalled, frozen=True):
    """The table finds the pit well again, so many seconds after the loss was told, or after the table started."""

    lost_s: int
