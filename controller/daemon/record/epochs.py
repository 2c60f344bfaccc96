"""Notes in a file beside a table's key which journals were begun with the key. If the file lists a journal that is not
at its place, the table notices that its journal is missing.

Each journal has an epoch (a random name) of its own. The note has a line of JSON for each journal that was begun, the
latest last. An empty note is written before a new key is made. So a key without a note was made by an earlier version,
which wrote no notes, and counts as having begun its journal.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.keys import SigningKey, load_or_make_key, write_whole
from controller.daemon.clock import stamp_now
from controller.daemon.record.journal import Journal, rescued


def open_journal(
    path: Path, key_path: Path, table_id: str, archive: Path | None = None, new_by: str | None = None
) -> tuple[SigningKey, Journal]:
    """Return the table's key and its last journal, opened. If the key is new, begin its first journal.

    `archive` is the folder of the journal's archives; with None they are beside the journal. If `new_by` is given, the
    person of that name asks for a new journal. In that case a new journal is begun, and no file may exist at `path`.

    Raises TableError if the key or the journal cannot be used, and `journal_lost`, `journal_of_another_epoch` or
    `journal_note_unusable`.
    """
    note = note_of(key_path)
    epochs = _read(note, path)
    if epochs is None and not key_path.exists():
        epochs = []
        _write(note, b"")  # before the key: a key without a note counts as having begun a journal
    key = load_or_make_key(key_path)
    if new_by is None and epochs != [] and not _begun(path):
        raise _lost(path, key_path, epochs)
    last = epochs[-1] if epochs and new_by is None else None
    journal = Journal(path, table_id, key, key.public, archive, last)
    if last is None:
        try:
            _add(note, journal.epoch, new_by)
        except TableError:
            journal.close()
            raise
    return key, journal


def note_of(key_path: Path) -> Path:
    """Return the path of the note beside a key file. The note lists the epochs (names of journals) that the key has
    begun."""
    return key_path.with_name(f"{key_path.name}.journals")


def _begun(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _read(note: Path, journal: Path) -> list[str] | None:
    """Return the epochs (names of journals) that the note lists, the oldest first; None if there is no note. `journal`
    is only named in the error."""
    try:
        lines = note.read_text("utf-8").splitlines()
        return [str(json.loads(line)["epoch"]) for line in lines]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise TableError(
            "journal_note_unusable",
            f"The note {note} of the journals that the key has begun cannot be read ({type(error).__name__}: {error}).",
            f"Where {journal} is this table's last journal, move the note away: it is written anew. "
            "Otherwise put that journal there first.",
        ) from error


def _add(note: Path, epoch: str, by: str | None) -> None:
    line = {"epoch": epoch, "at": stamp_now().text()} | ({} if by is None else {"by": by})
    before = note.read_bytes() if note.exists() else b""
    _write(note, before + json.dumps(line).encode() + b"\n")


def _write(note: Path, content: bytes) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        write_whole(note, content)
    except OSError as error:
        raise TableError(
            "signing_key_unusable",
            f"The note {note} beside the signing key cannot be written: {error.strerror}.",
            "Make room on its disk, and give the folder to the user the table runs as.",
        ) from error


def _lost(path: Path, key_path: Path, epochs: list[str] | None) -> TableError:
    which = f" (epoch {epochs[-1]})" if epochs else ""
    what = f"There is no journal at {path}, though the key {key_path} has begun and signed a journal{which}."
    copies = [rescued(Path(os.path.realpath(path)), epoch) for epoch in (epochs or [])[-1:]]
    if found := next((copy for copy in copies if copy.exists()), None):
        do = f"{found} is a copy of that journal: move it to {path}."
    else:
        do = (
            "Put that journal back; a copy older than the last event sent will not do. Where it is lost, begin a new "
            "one, which the pit must adopt: tablectl new-journal TABLE.toml --by NAME."
        )
    return TableError("journal_lost", what, do)
