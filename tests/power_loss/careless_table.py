"""A table that never syncs its files, and so loses rows in a power cut. A test uses it to show that the checks of power
loss notice such a table: `python -m tests.power_loss.careless_table run ...`."""

from __future__ import annotations

import sqlite3
import sys
from functools import partial
from typing import Any

from controller.people.cli.main import main


class _Careless(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous = OFF" if "synchronous" in sql else sql, parameters)


if __name__ == "__main__":
    sqlite3.connect = partial(sqlite3.connect, factory=_Careless)  # type: ignore[assignment]  # a partial has no overloads
    sys.exit(main(sys.argv[1:]))
