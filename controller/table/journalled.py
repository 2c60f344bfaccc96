"""The base class of all facts (what the journal records), and the facts about the link to the pit and about the pit's
questions to the table."""

from __future__ import annotations

from msgspec import Struct


class Journalled(Struct, frozen=True, forbid_unknown_fields=True, tag_field="fact", tag=True):
    """The base class of every fact, that is, of everything that the journal records. A row of the journal names the
    fact's class."""


class MeasureAnswered(Journalled, frozen=True):
    """The pit asked the table which program it runs, and the table measured its program's files. `nonce` and `at` are
    the random value and the time of the pit's question. `program` is the digest of the files. `proof` shows that the
    files were read after the nonce was known (see `digest.proof`)."""

    nonce: str
    at: str
    version: str
    program: str
    configuration: str
    proof: str


class ClientIdTaken(Journalled, frozen=True):
    """Another client connected to the broker under this table's client id, so the broker cut this table off."""


class PitLinkLost(Journalled, frozen=True):
    """The link to the pit worked well, and has not worked well for longer than its limit. `standing` is a code that
    says what is wrong."""

    standing: str


class PitLinkBack(Journalled, frozen=True):
    """The link to the pit works well again, `lost_s` seconds after the loss was reported or after the table started."""

    lost_s: int
