"""The checkpoints that a journal's file keeps of its tree: the table's last, and the last that was cosigned."""

from __future__ import annotations

import sqlite3

from controller.contract.merkle import Edge
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.signing import Signer


def signed_checkpoint(origin: str, edge: Edge, signer: Signer, key: bytes) -> Note:
    """The table's word about its journal's tree. `origin` is the log's name, and the name of the table's key in it."""
    return Note(Checkpoint(origin, edge.size, edge.root()).text(), ()).signed(origin, signer, key)


def keep_note(db: sqlite3.Connection, kind: str, size: int, note: Note) -> None:
    """Keep the last note of a kind: "signed" by the table alone, or "cosigned"."""
    db.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)", (kind, size, str(note)))


def kept_note(db: sqlite3.Connection, kind: str) -> Note | None:
    """The last note of a kind; None where there is none."""
    row = db.execute("SELECT note FROM checkpoint WHERE kind = ?", (kind,)).fetchone()
    return None if row is None else read_note(row[0])
