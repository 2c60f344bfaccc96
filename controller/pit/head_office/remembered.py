"""The file in which head office remembers each house: the last statement whose log had no finding, and a digest of the
events before that statement.

A house can sign an older copy of its log with the same key as the newest one. Head office finds that only if it
remembers what it has already seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, to_builtins

from controller.basics.errors import TableError
from controller.contract.bounds import HASH, MOST_SEQ, is_count
from controller.contract.keys import write_whole
from controller.contract.note import read_note

_AT = re.compile(r"[0-9TZ:.-]{1,40}")


class Seen(Struct, frozen=True):
    """What head office remembers of a house: the time and the position of the last statement that it saw, and digests
    of the events and decisions up to that statement.

    `digest` is the SHA-256, in hexadecimal, over the position and the signature of each event through `position`.
    `decided` is the SHA-256 of the decisions in that statement, and `decisions` is their number. `own` names what only
    one house can have: the pit's key, and each adopted stream with its key. `checkpoints` are the notes that head
    office cosigned last, by the journal's origin (`table/epoch`). Raises ValueError or TypeError if a value does not
    have this form.
    """

    at: str
    position: int
    digest: str
    decisions: int
    decided: str
    own: tuple[str, ...]
    checkpoints: dict[str, str] = {}

    def __post_init__(self) -> None:
        counts, hashes = (self.position, self.decisions), (self.digest, self.decided)
        if not (
            _AT.fullmatch(self.at)
            and all(is_count(each, 0, MOST_SEQ) for each in counts)
            and all(HASH.fullmatch(each) for each in hashes)
            and all(isinstance(name, str) for name in self.own)
            and all((note := read_note(text)) and note.checkpoint() for text in self.checkpoints.values())
        ):
            raise ValueError("what is to be remembered of a house is not what this program writes")


def load(path: Path) -> dict[str, Seen]:
    """Return what the file remembers of each house, or an empty mapping if the file does not exist yet. Raises
    TableError `remembered_unreadable`."""
    try:
        houses = json.loads(path.read_text("utf-8"))
        return {str(name): Seen(**each | {"own": tuple(each["own"])}) for name, each in houses.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _unusable(path, error) from None


def save(path: Path, houses: Mapping[str, Seen]) -> None:
    """Write what head office remembers of each house to the file. The switch is atomic: a reader finds either the old
    file or the new one. Raises TableError `remembered_unreadable`."""
    text = json.dumps({name: to_builtins(seen) for name, seen in houses.items()}, indent=2, sort_keys=True)
    try:
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: Exception) -> TableError:
    return TableError(
        "remembered_unreadable",
        f"What head office remembers, {path}, cannot be used: {error}.",
        "Check the name and the rights. Where the file is damaged, put back head office's own copy of it.",
    )
