"""The table that a command means where its command line names none."""

from __future__ import annotations

import os
from pathlib import Path

from controller.errors import TableError

VARIABLE = "TABLE_CONTROLLER_TABLE"
CONFIGURATION = Path("/etc/table-controller")


def default_table() -> Path:
    """The table file that the variable names, or the only one in the configuration's folder.

    Raises TableError `no_table` where there is none, or more than one.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    found = sorted(CONFIGURATION.glob("*.toml"))
    if len(found) == 1:
        return found[0]
    there = f"{CONFIGURATION} holds {', '.join(path.name for path in found) or 'none'}"
    do = f"Name its file: tablectl status TABLE.toml. Or set {VARIABLE} to it."
    raise TableError("no_table", f"No table is named, and {there}.", do)


def default_journal() -> Path:
    """The default table's journal."""
    from controller.config import load

    return Path(load(default_table()).file.journal.path)
