"""The base class of all facts, and the facts about the link to the pit and the pit's questions to the table."""

from __future__ import annotations

from msgspec import Struct


class Journalled(Struct, frozen=True, forbid_unknown_fields=True, tag_field="fact", tag=True):
    """The base class of every fact. The journal names a fact by its class."""


class MeasureAnswered(Journalled, frozen=True):
    """The pit asked the table which program runs, with the given nonce at the given time, and the table measured its
    program's files. `program` is their digest. `proof` shows that the files were read after the nonce was known
    (`digest.proof`)."""

    nonce: str
    at: str
    version: str
    program: str
    configuration: str
    proof: str


class ClientIdTaken(Journalled, frozen=True):
    """Another client connected to the broker under this table's client id, and the broker dropped this table's
    connection for it."""


class PitLinkLost(Journalled, frozen=True):
    """The table has been out of touch with the pit for longer than its limit, after being in touch. `standing` says
    what is wrong."""

    standing: str


class PitLinkBack(Journalled, frozen=True):
    """The table is in touch with the pit again, `lost_s` seconds after the loss was reported, or after the table
    started."""

    lost_s: int
