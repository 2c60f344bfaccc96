"""The checkpoints (signed notes of the tree's size and root) that a journal's file keeps: the table's last, and the
last that a witness cosigned."""

from __future__ import annotations

import sqlite3

from controller.contract.merkle import Edge
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.signing import Signer


def signed_checkpoint(origin: str, edge: Edge, signer: Signer, key: bytes) -> Note:
    """Return a checkpoint of the journal's tree, signed with the table's key. `origin` is the name of the journal's
    log, and of the key."""
    return Note(Checkpoint(origin, edge.size, edge.root()).text(), ()).signed(origin, signer, key)


def keep_note(db: sqlite3.Connection, kind: str, size: int, note: Note) -> None:
    """Keep the last checkpoint of a kind in the journal's file: "signed" by the table alone, or "cosigned" by a
    witness."""
    db.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)", (kind, size, str(note)))


def kept_note(db: sqlite3.Connection, kind: str) -> Note | None:
    """Return the last kept checkpoint of a kind ("signed" or "cosigned"); None where there is none."""
    row = db.execute("SELECT note FROM checkpoint WHERE kind = ?", (kind,)).fetchone()
    return None if row is None else read_note(row[0])
