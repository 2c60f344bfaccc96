"""Helpers for commands that read or write files: find the default table's file, recognise a file of the wrong kind, and
report a page that cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.basics.command import Command
from controller.basics.errors import TableError
from controller.people.cli.command import File

VARIABLE = "TABLE_CONTROLLER_TABLE"
CONFIGURATION = Path("/etc/table-controller")


def default_table(command: str) -> Path:
    """Return the path of the default table's file: the path in the environment variable TABLE_CONTROLLER_TABLE, or
    otherwise the only table file in /etc/table-controller.

    Raises TableError `no_table` if that folder has no table file, or more than one. `command` is the name of the
    command that was typed. The error's advice repeats it.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    found = sorted(CONFIGURATION.glob("*.toml"))
    if len(found) == 1:
        return found[0]
    there = f"{CONFIGURATION} holds {', '.join(path.name for path in found) or 'none'}"
    do = f"Name the table's file: tablectl {command} TABLE.toml. Or set {VARIABLE} to that file's path."
    if not found:
        do += " On a new machine: sudo tablectl setup."
    raise TableError("no_table", f"No table is named, and {there}.", do)


def default_journal(command: str) -> Path:
    """Return the path of the default table's journal. `command` is the name of the command, for an error's advice.
    Raises TableError `no_table` if there is no default table, or more than one."""
    from controller.daemon.config import load

    return Path(load(default_table(command)).file.journal.path)


@contextmanager
def writing(page: Path) -> Iterator[None]:
    """Convert an OSError inside the `with` block into TableError `page_unwritable`. `page` is the file that the block
    writes."""
    try:
        yield
    except OSError as error:
        do = "Name a file in a folder that can be written."
        raise TableError("page_unwritable", f"{page} cannot be written: {error.strerror}.", do) from None


def check_kind(command: Command, path: Path) -> None:
    """Check that the file at `path` is of the kind that the command reads. Raises TableError `wrong_kind_of_file` if
    the file is clearly of another kind, for example a journal although the command reads a table's file."""
    kind = _kind(path)
    if command.file is File.JOURNAL and kind not in (None, _JOURNAL):
        do = "The table's file says where its journal is: [journal] path."
        if kind == _TABLE and (journal := _toml(path)["journal"].get("path")):
            do = f"Its journal is {journal}. Write: tablectl {command.name} {journal}"
        raise TableError("wrong_kind_of_file", f"{path} is {kind}, and {command.name} reads a table's journal.", do)
    if command.file is File.TABLE and kind in (_JOURNAL, _LEDGER, _ARCHIVE):
        do = f"Name the table's file: tablectl {command.name} TABLE.toml"
        raise TableError("wrong_kind_of_file", f"{path} is {kind}, and {command.name} needs a table's file.", do)


_JOURNAL, _LEDGER, _ARCHIVE = "a table's journal", "a pit's ledger", "an archive of a journal"
_TABLE, _GAME, _PIT = "a table's file", "a game's file", "a pit's settings"
_LEDGER_ID = b"PIT1"


def _kind(path: Path) -> str | None:
    """Return what kind of file is at `path`, in words such as "a table's journal". Returns None if the file cannot be
    read or is of no known kind."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return None
    if head.startswith(b"SQLite format 3\0"):
        return _LEDGER if head[68:72] == _LEDGER_ID else _JOURNAL
    if head.startswith(b'{"archive":'):
        return _ARCHIVE
    sections = _toml(path) if path.suffix == ".toml" else {}
    keys = (("journal", _TABLE), ("bets", _GAME), ("kind", _GAME), ("meters", _PIT))
    return next((kind for section, kind in keys if section in sections), None)


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
