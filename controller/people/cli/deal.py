"""`tablectl deal`: play a script at a table without hardware, and print each event as one JSON line or in words. A
script is a text of cards and acts, such as voiding a round."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.daemon.config import load
from controller.daemon.script import Complaint, ScriptTable
from controller.people.cli.status import face_waits
from controller.words.events import event_line, locked_lines, settlement_lines
from controller.words.language import language


def deal(table: Path, script: str, in_words: bool) -> int:
    """Play a script (cards and acts as text) at a table without hardware. `script` is the path of a file, or "-" for
    standard input. Returns 0 if every token of the script was played and none caused a fault.

    Each event is printed as JSON. With `in_words` it is printed in words, with the result of every wager.
    """
    text = _read(script)
    exit_code = 0
    played = ScriptTable(load(table))
    for outcome in played.play(text):
        if isinstance(outcome, Complaint):
            print(f"{outcome}\n  now: {_due(played)}", file=sys.stderr)
            exit_code = 1
        else:
            print("\n".join(_lines_of(json.loads(outcome))) if in_words else outcome.decode())
    if played.face.fault is not None or played.face.phase in ("burning", "wagers_locked", "round_in_play"):
        print(f"The script ends before the table is ready for the next round. {_due(played)}", file=sys.stderr)
    return exit_code


def _due(table: ScriptTable) -> str:
    """Return, in words, what the table waits for after the last token of the script was played."""
    return face_waits(table.face, language())


def _lines_of(event: dict[str, Any]) -> list[str]:
    lines = locked_lines(event) if event["type"] == "wagers_locked" else settlement_lines(event)
    return [event_line(event), *(f"      {line}" for line in lines)]


def _read(script: str) -> str:
    try:
        return sys.stdin.buffer.read().decode() if script == "-" else Path(script).read_text("utf-8")
    except OSError as error:
        raise TableError(
            "script_unreadable", f"{script} cannot be read: {error.strerror}.", "Check the path."
        ) from None
    except UnicodeDecodeError:
        raise TableError("script_unreadable", f"{script} is not UTF-8 text.", "Save it as UTF-8.") from None
