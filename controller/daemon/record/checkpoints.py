"""Makes the checkpoints of a journal, and keeps two of them in the journal's file: the last that the table signed, and
the last that a witness cosigned. A checkpoint is a signed note of the size and root hash of the journal's Merkle tree.
"""

from __future__ import annotations

import sqlite3

from controller.contract.merkle import Edge
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.signing import Signer


def signed_checkpoint(origin: str, edge: Edge, signer: Signer, key: bytes) -> Note:
    """Return a checkpoint (a note with size and root hash) of the journal's Merkle tree, signed with the table's key.
    `edge` holds the tree's hashes. `origin` is the name of the journal and of the key in the note."""
    return Note(Checkpoint(origin, edge.size, edge.root()).text(), ()).signed(origin, signer, key)


def keep_note(db: sqlite3.Connection, kind: str, size: int, note: Note) -> None:
    """Store `note` in the journal's file as the last checkpoint of its kind. `kind` is "signed" (by the table alone) or
    "cosigned" (by a witness too). `size` is the number of rows that the checkpoint covers."""
    db.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)", (kind, size, str(note)))


def kept_note(db: sqlite3.Connection, kind: str) -> Note | None:
    """Return the last checkpoint of the kind "signed" or "cosigned" that the journal's file holds; None if it holds
    none."""
    row = db.execute("SELECT note FROM checkpoint WHERE kind = ?", (kind,)).fetchone()
    return None if row is None else read_note(row[0])
