"""The types of the JSON reports that `tablectl` commands print with `--json`, one for each command."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class CheckMistake(msgspec.Struct, frozen=True):
    """A mistake in a configuration file, and what to write instead."""

    file: str
    key: str
    what: str
    do: str
    """What to write instead."""


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of `tablectl check --json`, which checks a configuration file. The exit code is the same as without
    `--json`."""

    file: str
    is_right: bool
    """Whether there is no mistake, and with `--strict` no warning either."""

    mistakes: tuple[CheckMistake, ...] = ()
    warnings: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """What else is told, such as the house edges; nothing where there are mistakes."""


class DigestReport(msgspec.Struct, frozen=True):
    """The report of `tablectl digest --json`: the SHA-256 digests of the installed program and of its configuration, in
    hex."""

    version: str
    program: str
    configuration: str
    both: str
    """Over `program`, a line feed, `configuration` and a line feed."""


class RoundsReport(msgspec.Struct, frozen=True):
    """The report of `tablectl rounds --json`: the events about rounds in the table's journal."""

    events: tuple[dict[str, Any], ...]
    """The events `round`, `void` and `correction` of the journal and its archives, in order, as in the contract."""


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of `tablectl verify --json` on a sound journal. For a journal with a bad row, an error is printed
    instead, with or without `--json`."""

    table: str
    epoch: str
    rows: int
    events: int
    head: str
    """The chain's head, in hex."""

    archived_rows: int
    """How many of the rows are in archives."""

    archives: int
    pit_log_agrees_to: int | None
    """The number of the last event of the pit's log, which agrees from event 1; None without `--against`."""


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of `tablectl verify BACKUP --json` on a sound backup."""

    table: str
    epoch: str
    rows: int
    at: str
    """When the backup was made: RFC 3339 in UTC."""

    version: str
    """The version of the program that made it."""

    files: int
    archives: int
    moved_by: str | None
    """Who moved the table by it; None for a copy."""

    signed_by: str | None
    """The fingerprint of the key that signed it; None where an earlier version wrote it, unsigned and unsealed."""

    passphrase_opens: bool | None
    """True where a passphrase was given and opens the keys inside; None without one. A wrong one is an error."""


class VersionTold(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the program that is installed. The fields say whether it runs now, whether a rollback returns to it,
    and whether somebody requested that it run."""

    version: str
    runs: bool
    is_before: bool
    """Whether `tablectl rollback` returns to it."""

    requested: Literal["now", "between_shoes"] | None
    """When it is to run, where that is requested."""


class VersionsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of `tablectl versions --json`: the program's installed versions, and how the last switch between
    versions ended."""

    this_program: str
    """The version of the program that tells this."""

    installed: tuple[VersionTold, ...]
    """By the package; empty on a machine without it."""

    last_switch: str | None
    """How the last switch ended, in words."""
