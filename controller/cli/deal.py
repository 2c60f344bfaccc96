"""`tablectl deal`: a script in, events out, one JSON line each or in words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from controller.config import load
from controller.errors import TableError
from controller.script import ScriptTable, Told
from controller.words.events import event_line, settlement_lines


def deal(table: Path, script: str, in_words: bool) -> int:
    """Play the script in the file `script` ("-": standard input); 0 when every token was played without a fault.

    Each event is printed as its JSON, or `in_words` for people, with what became of every wager.
    """
    text = _read(script)
    exit_code = 0
    for outcome in ScriptTable(load(table)).play(text):
        if isinstance(outcome, Told):
            print(outcome, file=sys.stderr)
            exit_code = 1
        else:
            print("\n".join(_told(json.loads(outcome))) if in_words else outcome.decode())
    return exit_code


def _told(event: dict[str, Any]) -> list[str]:
    return [event_line(event), *(f"      {line}" for line in settlement_lines(event))]


def _read(script: str) -> str:
    try:
        return sys.stdin.buffer.read().decode() if script == "-" else Path(script).read_text("utf-8")
    except OSError as error:
        raise TableError(
            "script_unreadable", f"{script} cannot be read: {error.strerror}.", "Check the path."
        ) from None
    except UnicodeDecodeError:
        raise TableError("script_unreadable", f"{script} is not UTF-8 text.", "Save it as UTF-8.") from None
