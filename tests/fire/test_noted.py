"""Checks that a missing note in the record of a table's event delivery is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fire.noted import findings

_SENT = [json.dumps({"chain": f"c{seq}"}).encode() for seq in (1, 2, 3)]
_NOTES: tuple[tuple[str, list[object], str, int], ...] = (
    ("started", [0, 0], "OFFLINE", 0),
    ("committed", [3, 0.0], "OFFLINE", 0),
    ("connected", [], "ASKING", 0),
    ("nothing_retained", [0.0], "STREAMING", 0),
    ("due", [1, 3], "STREAMING", 0),
    ("sent", [1, 3], "STREAMING", 0),
    ("acked", [3, "2026-11-26T09:00:00.000Z", True, True, "c3"], "STREAMING", 3),
)
"""A table whose three events were committed, sent and acknowledged at once: two notes an event."""


def _found(tmp_path: Path, missing: str) -> list[str]:
    notes = tmp_path / "notes"
    notes.write_text("".join(f"{json.dumps(note)}\n" for note in _NOTES if note[0] != missing))
    return findings("t", notes, _SENT)[1]


def test_notes_of_all_events_are_whole(tmp_path: Path) -> None:
    assert _found(tmp_path, "") == []


@pytest.mark.parametrize("missing", ["committed", "connected", "nothing_retained", "due", "sent", "acked"])
def test_a_missing_note_is_found(tmp_path: Path, missing: str) -> None:
    assert _found(tmp_path, missing) != []
