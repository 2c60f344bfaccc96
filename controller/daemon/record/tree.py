"""The journal's Merkle tree: its leaves are the chain heads after the journal's rows, in order.

A chain head is a salted hash over its row and all rows before it. So a leaf tells nothing of its row, and whoever is
shown the row can find the leaf again. The tree is computed between rounds, and not by a commit.

The journal's file keeps the hash of each whole subtree of 256 rows and more, and the tree's edge (the hashes of its
largest whole subtrees) at the end of each archive. So neither a checkpoint nor the next one's proof needs the rows of
an archive, but for a proof from the middle of one. A journal that was begun in an earlier form has a tree from its
first row on; where rows were in archives by then, from the last of these rows on, whose head covers all the rows before
it.
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
    """The Merkle tree of an open journal, of form 3 or later.

    `folders` are where archives are looked for besides the place that the journal names. `first_row` is the row of the
    tree's first leaf.
    """

    def __init__(self, db: sqlite3.Connection, *folders: Path) -> None:
        self._db = db
        self._folders = folders
        self.first_row: int = db.execute("SELECT first_row FROM tree").fetchone()[0]
        self._edge: Edge | None = None

    def place_of(self, row: int) -> int:
        """Return the number of the leaf for a row of the journal, counted from 0."""
        return row - self.first_row

    def grow(self) -> Edge:
        """Return the tree of all rows by now. Must be called inside a transaction, in which the hashes of subtrees that
        became whole are stored too."""
        edge = self._edge or self._kept_edge()
        for head in self._heads(self.first_row + edge.size):
            edge, made = edge.grown(leaf_hash(head))
            self._keep(node for node in made if node.level >= _KEPT_LEVEL)
        return edge

    def grown_to(self, edge: Edge) -> None:
        """Go on from this edge the next time, because the transaction in which the tree grew to this edge is committed.

        Otherwise rows that were archived since would be missing: in the journal only the head of an archive's last row
        is left.
        """
        self._edge = edge

    def keep_edge(self, last_row: int) -> None:
        """Store the tree's edge after the row `last_row`, because the rows up to that row go to an archive. Must be
        called inside a transaction."""
        size = self.place_of(last_row) + 1
        self._keep(Node(level, place, self.whole(level, place)) for level, place in wholes(0, max(size, 0)))

    def whole(self, level: int, place: int) -> bytes:
        """Return the hash of the whole subtree at this level and place. Raises TableError where an archive that is
        needed is missing."""
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
        """Return the tree as far as the journal's file stores its hashes."""
        (blocks,) = self._db.execute("SELECT count(*) FROM subtree WHERE level = ?", (_KEPT_LEVEL,)).fetchone()
        (archived,) = self._db.execute("SELECT coalesce(max(last_row), 0) FROM archive").fetchone()
        return edge_of(max(blocks << _KEPT_LEVEL, self.place_of(archived) + 1, 0), self.whole)

    def _keep(self, nodes: Iterable[Node]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO subtree VALUES (?, ?, ?)", ((node.level, node.place, node.hash) for node in nodes)
        )

    def _heads(self, first: int, last: int | None = None) -> list[bytes]:
        """Return the chain heads after the rows from `first` to `last`; to the journal's last row where `last` is
        None."""
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
