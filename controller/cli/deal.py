"""`tablectl deal`: a script in, events out, one JSON line each."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.config import load
from controller.errors import TableError
from controller.script import ScriptTable, Told


def deal(table: Path, script: str) -> int:
    """Play the script in the file `script` ("-": standard input); 0 when every token was played without a fault."""
    text = _read(script)
    exit_code = 0
    for outcome in ScriptTable(load(table)).play(text):
        if isinstance(outcome, Told):
            print(outcome, file=sys.stderr)
            exit_code = 1
        else:
            print(outcome.decode())
    return exit_code


def _read(script: str) -> str:
    try:
        return sys.stdin.buffer.read().decode() if script == "-" else Path(script).read_text("utf-8")
    except OSError as error:
        raise TableError(
            "script_unreadable", f"{script} cannot be read: {error.strerror}.", "Check the path."
        ) from None
    except UnicodeDecodeError:
        raise TableError("script_unreadable", f"{script} is not UTF-8 text.", "Save it as UTF-8.") from None
