"""A Merkle tree over leaves in memory, for tests: the hashes of its full subtrees, and a log that signs checkpoints of
the tree."""

from __future__ import annotations

from collections.abc import Sequence

from controller.contract.keys import SigningKey
from controller.contract.merkle import Edge, Whole, consistency_proof, edge_of, leaf_hash
from controller.contract.witnessing import ShownCheckpoint
from controller.daemon.record.checkpoints import signed_checkpoint


def whole_of(leaves: Sequence[bytes]) -> Whole:
    """Return a function that returns the hash of a full subtree over these leaves. Its arguments are the subtree's
    level and its place in that level."""

    def whole(level: int, place: int) -> bytes:
        edge = Edge()
        for leaf in leaves[place << level : (place + 1) << level]:
            edge, _ = edge.grown(leaf)
        return edge.root()

    return whole


class Log:
    """A table's journal as a witness sees it, with one leaf for each row. Two logs with the same name and different
    `story` have the same first four rows and then differ."""

    def __init__(self, origin: str, key: SigningKey, rows: int, story: bytes = b"") -> None:
        self.origin, self._key = origin, key
        self._leaves = [leaf_hash(b"%s %d" % (story if row > 3 else b"", row)) for row in range(rows)]

    def shown(self, size: int, old: int = 0) -> bytes:
        """Return the table's message with the checkpoint of the first `size` rows, and the proof that these rows begin
        with the first `old` rows unchanged."""
        whole = whole_of(self._leaves)
        note = signed_checkpoint(self.origin, edge_of(size, whole), self._key, self._key.public)
        return ShownCheckpoint.of(note, old, consistency_proof(old, size, whole)).payload()
