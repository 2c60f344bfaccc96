"""The status of a running table: its public face, and the state of everything around it. `controller/daemon/runtime.py`
makes the status."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.face import FACE_VERSION
from controller.contract.face.table import Public


class Waits(msgspec.Struct, frozen=True):
    """An act that a person asked for, and that a second person has yet to confirm."""

    id: int
    """The number by which that person confirms it."""

    act: str
    details: dict[str, Any]
    """What that person is shown of the act: strings, whole numbers, or the cards of each hand by its name."""

    by: str | None
    """Who asked for the act."""

    via: str
    """Where that person's word came from."""

    button: str | None
    """The button that confirms it with the key; None at a table without."""

    left_s: int


class ShoeLine(msgspec.Struct, frozen=True):
    """The state of the serial line to the card shoe."""

    up: bool
    why: str
    """Where the line is, or why it is down."""

    bad_bytes: dict[str, int]
    """Bytes that became no fact since the start, by reason."""

    bad_bytes_wait: bool
    """Whether newer bad bytes are told only once the cards are up."""


class Standing(msgspec.Struct, frozen=True):
    """The state of the table's link to its pit: a code, and the values that are filled into the sentences for that
    code."""

    code: str
    """A key of a language's section `pit`."""

    details: dict[str, str | int] = {}
    """What the sentences of that code name."""


class MetersRefused(msgspec.Struct, frozen=True):
    """The pit's last message about the meters, and the reason why the table refuses to use that message."""

    seq: int
    at: str
    meters: dict[str, int]
    why: str


class PitKeys(msgspec.Struct, frozen=True):
    """The fingerprints of two keys of the pit, for people to compare: the key that the table trusts (`pinned`) and the
    key that the pit offers (`offered`)."""

    pinned: str | None
    offered: str | None
    forged: dict[str, int]
    """How many messages the pinned key has not signed, by the last word of their topic."""


class WinShown(msgspec.Struct, frozen=True):
    """A meter's win at another table, as this table's screen shows it."""

    at: str
    """When the pit committed the win, by the pit's clock."""

    table: str
    """The id of the table that won."""

    award: str
    """The award's name at the pit."""

    tier: str
    meter: str
    cents: int
    """What it won."""

    base_cents: int
    """What the meter showed after the win."""


class PitLink(msgspec.Struct, frozen=True):
    """The state of the link to the pit: the table's events on their way to the pit, and the pit's last messages."""

    connected: bool
    """Whether the broker is."""

    broker: str
    why: str
    """Why no events flow, and what to do; or that the link is cut often; empty where events flow."""

    standing: Standing
    stream: str
    """What the stream does: it is "streaming" where events flow."""

    fresh: bool
    """Whether progressives can be bet on: a pit is heard, and its levels are known."""

    epoch: str
    head_seq: int
    """The number of the table's last event; 0 before the first."""

    acked_seq: int
    """The last event that the pit has acknowledged."""

    unacknowledged: int
    most_unacknowledged: int
    """With so many unacknowledged events the table stops."""

    meters: dict[str, int]
    """The levels in cents that a wager at this table can win."""

    meters_fresh: bool
    """Whether each of these levels was said lately."""

    meters_refused: MetersRefused | None
    key: PitKeys
    win: WinShown | None = None
    """The last win of a meter at another table, for a minute."""


class Recognition(msgspec.Struct, frozen=True):
    """The state of the link to the bet-recognition system: the key that the table trusts, and how many messages the
    table refused to believe."""

    expected: bool
    """Whether the table's file expects bet recognition."""

    key: str | None
    """The fingerprint of the adopted key."""

    not_believed: dict[str, int]
    """How many messages in its name were not believed, by reason."""


class Journal(msgspec.Struct, frozen=True):
    """The state of the table's journal on its disk."""

    path: str
    boot: int
    """The number of this run of the program on this journal."""

    error: str | None
    """Why the journal cannot be written."""

    archived_rows: int
    archive_error: str | None


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about the running table that people and programs on its machine may know."""

    version: str
    """The version of the program."""

    program_digest: str
    """SHA-256 of the program's files."""

    config_digest: str
    """SHA-256 of the configuration."""

    digest: str
    """SHA-256 of both digests."""

    key_fingerprint: str
    """The table's own key, as people compare it."""

    up_s: int
    """For how long the program has run."""

    clock_set: bool
    """Whether the network sets the machine's clock."""

    face: Public
    test: str | None
    """The test that shows: "lamp_test", "input_test" or "test_hit"."""

    lamps: dict[str, str]
    """Each lamp's pattern, by its name."""

    sensors: tuple[int, ...]
    """The seats whose sensor sees a wager."""

    inputs: tuple[str, ...]
    """The inputs that are pressed, covered or turned."""

    second_person: Waits | None
    shoe: ShoeLine
    pit: PitLink
    recognition: Recognition
    journal: Journal
    face_version: int = FACE_VERSION
    """The version of this type, and of every other type of the face."""
