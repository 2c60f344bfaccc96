"""Checks that the Merkle tree which a journal's file stores is really the tree of the journal's rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from controller.contract.merkle import Edge, Node, leaf_hash
from controller.daemon.record.checkpoints import kept_note
from controller.daemon.record.journal_form import form_of, row_damaged


class TreeCheck:
    """Checks that the stored hashes and checkpoints of a journal's Merkle tree fit the journal's rows. The caller
    passes in the chain head (a hash over all rows so far) of each row, one by one."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._path = path
        self._edge = Edge()
        self._kept: dict[tuple[int, int], bytes] = {}
        self._roots: list[tuple[int, bytes]] = []
        self._first_row = 2**63
        if form_of(db) < 3:
            return
        (self._first_row,) = db.execute("SELECT first_row FROM tree").fetchone()
        self._kept = {(level, place): bytes(kept) for level, place, kept in db.execute("SELECT * FROM subtree")}
        for kind, size in db.execute("SELECT kind, size FROM checkpoint").fetchall():
            note = kept_note(db, kind)
            point = None if note is None else note.checkpoint()
            if point is None or point.size != size:
                raise row_damaged(path, size, f"the {kind} checkpoint of that many rows cannot be read")
            self._roots.append((size, point.root))

    def row(self, number: int, head: bytes) -> None:
        """Add the chain head after the row numbered `number` to the tree, and check the stored hashes and checkpoints
        that end with this row. Raises TableError `journal_damaged`."""
        if number < self._first_row:
            return
        leaf = leaf_hash(head)
        self._edge, made = self._edge.grown(leaf)
        for node in (Node(0, self._edge.size - 1, leaf), *made):
            if self._kept.pop((node.level, node.place), node.hash) != node.hash:
                raise row_damaged(self._path, number, "the tree that is kept is not the tree of the rows")
        for root in [each for each in self._roots if each[0] == self._edge.size]:
            self._roots.remove(root)
            if root[1] != self._edge.root():
                raise row_damaged(self._path, number, "a checkpoint names another tree than that of the rows")

    def end(self, last_row: int) -> None:
        """Check that the journal's file stores no hash or checkpoint for rows after the journal's last row, whose
        number is `last_row`. Raises TableError `journal_damaged`."""
        if self._kept or self._roots:
            raise row_damaged(self._path, last_row, "the tree that is kept is of more rows")
