"""A Merkle tree after RFC 6962: its hashes, proofs that a leaf is in the tree, and proofs that the tree only grew. Pure
functions.

A tree of n leaves is split at the largest power of two below n. A *whole* subtree has 2 to the power of `level` leaves,
and `place` is its number among the subtrees of that size, from 0. A whole subtree never changes when the tree grows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""

Whole = Callable[[int, int], bytes]
"""The hash of the whole subtree at this level and place."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of a leaf that holds this entry."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node whose two subtrees have these hashes."""
    return sha256(b"\x01" + left + right).digest()


class Node(Struct, frozen=True):
    """A subtree of a Merkle tree with exactly 2 to the power of `level` leaves, and its hash. `place` numbers the
    subtrees of this size from the left, from 0."""

    level: int
    place: int
    hash: bytes


class Edge(Struct, frozen=True):
    """The part of a Merkle tree that must be known to add leaves: the number of leaves, and the hashes of its largest
    complete subtrees, from left to right. The number of leaves of each subtree is a power of two, and no two subtrees
    have the same size."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def grown(self, leaf: bytes) -> tuple[Edge, list[Node]]:
        """Add a leaf with the hash `leaf`. Returns the edge (size and subtree hashes) of the larger tree, and the
        subtrees above the new leaf that it completed."""
        hashes, node, made = [*self.hashes], Node(0, self.size, leaf), []
        while node.place & 1:
            node = Node(node.level + 1, node.place >> 1, node_hash(hashes.pop(), node.hash))
            made.append(node)
        return Edge(self.size + 1, (*hashes, node.hash)), made

    def root(self) -> bytes:
        """Return the 32-byte root hash of the Merkle tree over the leaves added so far."""
        if not self.hashes:
            return EMPTY
        *left, root = self.hashes
        for each in reversed(left):
            root = node_hash(each, root)
        return root


def edge_of(size: int, whole: Whole) -> Edge:
    """Return the `Edge` of a Merkle tree with `size` leaves: its size and the hashes of its complete subtrees. More
    leaves can be added to an `Edge`. `whole` is a function that returns the hash of a complete subtree, by its level
    and place."""
    return Edge(size, tuple(whole(level, place) for level, place in wholes(0, size)))


def consistency_proof(old: int, size: int, whole: Whole) -> list[bytes]:
    """Return the hashes that prove that a Merkle tree of `size` leaves begins with the tree of its first `old` leaves
    (RFC 6962, 2.1.2). `whole` is a function that returns the hash of a complete subtree, by its level and its place."""

    def proof(old: int, first: int, size: int, known: bool) -> Iterator[bytes]:
        if old == size:
            if not known:
                yield _range(first, size, whole)
            return
        left = _left(size)
        if old <= left:
            yield from proof(old, first, left, known)
            yield _range(first + left, size - left, whole)
        else:
            yield from proof(old - left, first + left, size - left, False)
            yield _range(first, left, whole)

    return [*proof(old, 0, size, True)] if 0 < old < size else []


def is_consistent(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Tell whether `proof` shows that a Merkle tree only grew: the tree with `size` leaves and the root hash `root`
    begins with the tree of `old` leaves and the root hash `old_root`."""
    if not 0 < old <= size:
        return old == 0 <= size and old_root == EMPTY and not proof
    rest = iter(proof)

    def roots(old: int, size: int, known: bool) -> tuple[bytes, bytes]:
        if old == size:
            same = old_root if known else next(rest)
            return same, same
        left = _left(size)
        if old <= left:
            before, after = roots(old, left, known)
            return before, node_hash(after, next(rest))
        before, after = roots(old - left, size - left, False)
        beside = next(rest)
        return node_hash(beside, before), node_hash(beside, after)

    try:
        found = roots(old, size, True)
    except StopIteration:
        return False
    return found == (old_root, root) and next(rest, None) is None


def opening_proof(opened: Collection[int], size: int, whole: Whole) -> list[bytes]:
    """Return the hashes that prove that certain leaves are in a Merkle tree of `size` leaves. `opened` are the numbers
    of these leaves, from 0. The hashes are those of the largest subtrees that contain none of these leaves, from left
    to right. For a single leaf, the result is its inclusion proof (RFC 6962, 2.1.1)."""

    def proof(first: int, size: int) -> Iterator[bytes]:
        if not any(first <= each < first + size for each in opened):
            yield _range(first, size, whole)
        elif size > 1:
            left = _left(size)
            yield from proof(first, left)
            yield from proof(first + left, size - left)

    return [*proof(0, size)] if size else []


def _left(size: int) -> int:
    """Return the number of leaves in the left part of a Merkle tree of `size` leaves: the largest power of two below
    `size`."""
    return 1 << (size - 1).bit_length() - 1


def _range(first: int, size: int, whole: Whole) -> bytes:
    """Return the root hash of the part of a Merkle tree that has `size` leaves, starting at leaf number `first`."""
    return Edge(size, tuple(whole(level, place) for level, place in wholes(first, size))).root()


def wholes(first: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the complete subtrees that together cover `size` leaves, starting at leaf number `first`, the largest
    first. Each subtree is a pair: its level (it has 2 to the power of `level` leaves), and its place among the subtrees
    of that size. `first` must be a leaf number at which a Merkle tree is split."""
    while size:
        level = size.bit_length() - 1
        yield level, first >> level
        first, size = first + (1 << level), size - (1 << level)
