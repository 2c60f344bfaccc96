"""The Merkle tree of a journal. Its leaves are the chain heads after the journal's rows, in order.

A chain head is a salted hash over its row and all rows before it. So a leaf tells nothing of its row, but whoever is
shown the row can find the leaf again. The tree is computed between rounds, and not during a commit.

The journal's file stores the hash of each whole subtree of 256 rows and more. It also stores the tree's edge (the
hashes of its largest whole subtrees) at the end of each archive. So a checkpoint, and the proof for the next one, can
be made without reading an archive. Only a proof that begins in the middle of an archive needs the archive's rows.

A journal that was begun with an earlier version of the file has a tree from its first row on. If some of its rows were
already in archives, the tree begins with the last of these rows, whose chain head covers all the rows before it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from controller.contract.merkle import Edge, Node, edge_of, leaf_hash, wholes
from controller.daemon.record.archive import read_archive
from controller.daemon.record.journal_form import row_damaged
from controller.daemon.record.journal_reading import archived_runs, file_of_run

_KEPT_LEVEL = 8  # subtrees from this level on are kept: some 50 bytes for each 128 rows


class Tree:
    """The Merkle tree of an open journal, whose file has version 3 or later of the database schema.

    `folders` are where archives are looked for if they are not at the path that the journal names. `first_row` is the
    number of the row that is the tree's first leaf.
    """

    def __init__(self, db: sqlite3.Connection, *folders: Path) -> None:
        self._db = db
        self._folders = folders
        self.first_row: int = db.execute("SELECT first_row FROM tree").fetchone()[0]
        self._edge: Edge | None = None

    def place_of(self, row: int) -> int:
        """Return the place of a journal's row among the leaves of the tree, counted from 0."""
        return row - self.first_row

    def grow(self) -> Edge:
        """Add the rows that are new since the last call to the tree, and return the tree's edge (the hashes of its
        largest whole subtrees).

        Must be called inside a transaction, because the hashes of newly completed subtrees are stored too.
        """
        edge = self._edge or self._kept_edge()
        for head in self._heads(self.first_row + edge.size):
            edge, made = edge.grown(leaf_hash(head))
            self._keep(node for node in made if node.level >= _KEPT_LEVEL)
        return edge

    def grown_to(self, edge: Edge) -> None:
        """Remember that the tree has grown to `edge` (the hashes of its largest whole subtrees), so that the next call
        of `grow` starts there. The caller has committed the transaction in which the tree grew.

        Without this, `grow` might start at a row that was archived since. The journal keeps only the hash of an
        archive's last row, so the rows before it would be missing in the tree.
        """
        self._edge = edge

    def keep_edge(self, last_row: int) -> None:
        """Store the hashes of the largest whole subtrees up to the row numbered `last_row`, because the rows up to that
        row go to an archive. Must be called inside a transaction."""
        size = self.place_of(last_row) + 1
        self._keep(Node(level, place, self.whole(level, place)) for level, place in wholes(0, max(size, 0)))

    def whole(self, level: int, place: int) -> bytes:
        """Return the hash of a complete subtree. It has 2 to the power `level` leaves, and is number `place` among the
        subtrees of that level, counted from 0. Raises TableError if an archive that is needed is missing."""
        kept = self._db.execute("SELECT hash FROM subtree WHERE level = ? AND place = ?", (level, place)).fetchone()
        if kept is not None:
            return bytes(kept[0])
        first = self.first_row + (place << level)
        edge = Edge()
        for head in self._heads(first, first + (1 << level) - 1):
            edge, _ = edge.grown(leaf_hash(head))
        if edge.size != 1 << level:
            raise row_damaged(self._path, first, "the tree needs it, and it is missing")
        return edge.root()

    def _kept_edge(self) -> Edge:
        """Return the edge of the tree (the hashes of its largest whole subtrees) up to the last row for which the
        journal's file stores the hashes."""
        (blocks,) = self._db.execute("SELECT count(*) FROM subtree WHERE level = ?", (_KEPT_LEVEL,)).fetchone()
        (archived,) = self._db.execute("SELECT coalesce(max(last_row), 0) FROM archive").fetchone()
        return edge_of(max(blocks << _KEPT_LEVEL, self.place_of(archived) + 1, 0), self.whole)

    def _keep(self, nodes: Iterable[Node]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO subtree VALUES (?, ?, ?)", ((node.level, node.place, node.hash) for node in nodes)
        )

    def _heads(self, first: int, last: int | None = None) -> list[bytes]:
        """Return the chain heads (the leaves of the tree) after the rows numbered `first` to `last`. With `last` None,
        go on to the journal's last row."""
        end = 2**63 - 1 if last is None else last
        found = dict(
            self._db.execute(
                "SELECT last_row, head_after FROM archive WHERE last_row BETWEEN ?1 AND ?2"
                " UNION SELECT row, head FROM fact WHERE row BETWEEN ?1 AND ?2 ORDER BY 1",
                (first, end),
            ).fetchall()
        )
        if last is not None and len(found) <= last - first:
            for run, recorded in archived_runs(self._db, "WHERE first_row <= ?2 AND last_row >= ?1", first, last):
                rows = read_archive(file_of_run(run, recorded, *self._folders), run)
                found |= {row.number: row.head for row in rows if first <= row.number <= last}
        return [found[row] for row in sorted(found)]

    @property
    def _path(self) -> Path:
        return Path(self._db.execute("PRAGMA database_list").fetchone()[2])
