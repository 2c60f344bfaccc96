"""The types of the lines in a table's feed, the stream of JSON lines that everybody on the table's machine may read.
`controller/daemon/control/feed.py` makes the lines."""

from __future__ import annotations

import msgspec

from controller.contract.face.placard import Placard
from controller.contract.face.status import Status
from controller.contract.face.table import PublicRound


class Rounds(msgspec.Struct, frozen=True):
    """The finished rounds of the shoe that is being dealt, and the number of that shoe."""

    shoe: int
    """How many shoes the table has opened."""

    hands: tuple[PublicRound, ...]


class Wiring(msgspec.Struct, frozen=True):
    """The pins to which the table's lamps and inputs are wired. Each lamp and input has a pair: its GPIO number in
    Broadcom's (BCM) counting, and the pin on the 40-pin header. The second value is None if the GPIO is on no pin of
    the header."""

    digest: str
    """SHA-256 of the configuration."""

    lamps: dict[str, tuple[int, int | None]]
    inputs: dict[str, tuple[int, int | None]]


class FeedLine(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A line of the table's feed. Each line has exactly one of these fields. A line is sent when the value of its field
    has changed."""

    placard: Placard | None = None
    rounds: Rounds | None = None
    wiring: Wiring | None = None
    status: Status | None = None

    checkpoint: str | None = None
    """The last checkpoint of the journal, in a line: `table/epoch`, how many rows, the root of their tree, and the
    table's signature as in the note. None before the first."""
