"""Compares the product's Merkle tree with published hashes, and with the definitions of RFC 6962, computed in the
simplest way over all leaves."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest

from controller.contract.merkle import (
    EMPTY,
    Edge,
    consistency_proof,
    edge_of,
    is_consistent,
    leaf_hash,
    node_hash,
    opening_proof,
)

# The leaves and roots with which Certificate Transparency's own tests begin (RFC 6962's authors published them).
_ENTRIES = [
    bytes.fromhex(entry)
    for entry in (
        *("", "00", "10", "2021", "3031", "40414243", "5051525354555657"),
        "606162636465666768696a6b6c6d6e6f",
    )
]
_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
_PROOFS = {
    (1, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (6, 8): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 5): (
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}
_LEAVES = [leaf_hash(bytes([number])) for number in range(70)]


def _root(leaves: list[bytes]) -> bytes:
    """Compute the root hash of a Merkle tree over these leaves, exactly as RFC 6962 defines it (MTH)."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    k = max(2**power for power in range(10) if 2**power < len(leaves))
    return sha256(b"\x01" + _root(leaves[:k]) + _root(leaves[k:])).digest()


def _subproof(m: int, leaves: list[bytes], known: bool) -> list[bytes]:
    """Compute the proof that a Merkle tree over these leaves begins with the tree of its first `m` leaves, exactly as
    RFC 6962 defines it (SUBPROOF). If `known` is True, the reader of the proof already has the root hash of those `m`
    leaves."""
    if m == len(leaves):
        return [] if known else [_root(leaves)]
    k = max(2**power for power in range(10) if 2**power < len(leaves))
    if m <= k:
        return [*_subproof(m, leaves[:k], known), _root(leaves[k:])]
    return [*_subproof(m - k, leaves[k:], False), _root(leaves[:k])]


def _path(m: int, leaves: list[bytes]) -> list[bytes]:
    """Compute the proof that leaf number `m` is in a Merkle tree over these leaves, exactly as RFC 6962 defines it
    (PATH), from the leaf up."""
    if len(leaves) == 1:
        return []
    k = max(2**power for power in range(10) if 2**power < len(leaves))
    if m < k:
        return [*_path(m, leaves[:k]), _root(leaves[k:])]
    return [*_path(m - k, leaves[k:]), _root(leaves[:k])]


def _whole(level: int, place: int) -> bytes:
    return _root(_LEAVES[place << level : place + 1 << level])


def test_the_published_roots_and_proofs() -> None:
    edge, leaves = Edge(), [leaf_hash(entry) for entry in _ENTRIES]
    assert edge.root() == EMPTY
    roots = [edge.root().hex()]
    for leaf in leaves:
        edge, _ = edge.grown(leaf)
        roots.append(edge.root().hex())
    assert tuple(roots) == _ROOTS

    def whole(level: int, place: int) -> bytes:
        return _root(leaves[place << level : place + 1 << level])

    for (old, size), published in _PROOFS.items():
        proof = consistency_proof(old, size, whole)
        assert tuple(each.hex() for each in proof) == published
        assert is_consistent(old, bytes.fromhex(_ROOTS[old]), size, bytes.fromhex(_ROOTS[size]), proof)


def test_a_grown_tree_is_the_rfcs_and_its_new_subtrees_are_whole() -> None:
    edge = Edge()
    for size, leaf in enumerate(_LEAVES, 1):
        edge, made = edge.grown(leaf)
        assert edge.root() == _root(_LEAVES[:size])
        assert edge == edge_of(size, _whole)
        assert all(node.hash == _whole(node.level, node.place) for node in made)


def test_every_consistency_proof_is_the_rfcs_and_shows_no_other_tree() -> None:
    for size in range(1, 34):
        root = _root(_LEAVES[:size])
        for old in range(1, size + 1):
            proof = consistency_proof(old, size, _whole)
            assert proof == _subproof(old, _LEAVES[:size], True)
            old_root = _root(_LEAVES[:old])
            assert is_consistent(old, old_root, size, root, proof)
            for wrong in (leaf_hash(b"other"), EMPTY, root if old < size else EMPTY):
                assert not is_consistent(old, wrong, size, root, proof)
                assert wrong == root or not is_consistent(old, old_root, size, wrong, proof)
            assert not is_consistent(old, old_root, size, root, [*proof, root])
            assert not proof or not is_consistent(old, old_root, size, root, proof[:-1])
            for place in range(len(proof)):
                other = [*proof[:place], node_hash(proof[place], EMPTY), *proof[place + 1 :]]
                assert not is_consistent(old, old_root, size, root, other)


def test_a_tree_with_another_past_is_not_consistent_by_any_proof_of_either() -> None:
    """No proof shows that a tree with a rewritten row extends the original tree, or that the original tree extends it.
    The test tries all proofs of both trees, because somebody who rewrites a row can make all of them."""
    other = [*_LEAVES[:3], leaf_hash(b"written anew"), *_LEAVES[4:]]

    def whole(level: int, place: int) -> bytes:
        return _root(other[place << level : place + 1 << level])

    for old in range(4, 20):
        for size in range(old, 33):
            for proof in (consistency_proof(old, size, whole), consistency_proof(old, size, _whole)):
                assert not is_consistent(old, _root(_LEAVES[:old]), size, _root(other[:size]), proof)


def test_an_empty_tree_is_the_beginning_of_every_tree() -> None:
    assert is_consistent(0, EMPTY, 5, _root(_LEAVES[:5]), [])
    assert not is_consistent(0, EMPTY, 5, _root(_LEAVES[:5]), [EMPTY])
    assert not is_consistent(0, leaf_hash(b""), 5, _root(_LEAVES[:5]), [])
    assert not is_consistent(6, _root(_LEAVES[:6]), 5, _root(_LEAVES[:5]), [])


def _opened_root(leaves: Mapping[int, bytes], size: int, proof: Sequence[bytes]) -> bytes | None:
    """Return the root hash of a Merkle tree of `size` leaves, computed from some of its leaf hashes and a proof.
    `leaves` maps a leaf's index to its hash. Returns None if the proof does not fit."""
    rest = iter(proof)

    def root(first: int, size: int) -> bytes:
        if not any(first <= each < first + size for each in leaves):
            return next(rest)
        if size == 1:
            return leaves[first]
        left = 1 << (size - 1).bit_length() - 1
        return node_hash(root(first, left), root(first + left, size - left))

    if not leaves or not all(0 <= each < size for each in leaves):
        return None
    try:
        found = root(0, size)
    except StopIteration:
        return None
    return found if next(rest, None) is None else None


@pytest.mark.parametrize("size", [1, 2, 7, 8, 33])
def test_the_proof_of_one_leaf_has_the_hashes_of_the_rfcs_path(size: int) -> None:
    for place in range(size):
        proof = opening_proof({place}, size, _whole)
        assert sorted(proof) == sorted(_path(place, _LEAVES[:size]))
        assert _opened_root({place: _LEAVES[place]}, size, proof) == _root(_LEAVES[:size])


def test_opened_leaves_show_the_root_and_nothing_else_does() -> None:
    lots = random.Random(30)
    for _ in range(300):
        size = lots.randrange(2, 60)
        opened = {lots.randrange(size) for _ in range(lots.randrange(1, 6))}
        leaves, root = {place: _LEAVES[place] for place in opened}, _root(_LEAVES[:size])
        proof = opening_proof(opened, size, _whole)
        assert _opened_root(leaves, size, proof) == root
        assert not {*proof} & {*leaves.values()}, "what is opened is not told twice"
        one = lots.choice([*opened])
        assert _opened_root({**leaves, one: leaf_hash(b"other")}, size, proof) != root
        assert _opened_root(leaves, size, [*proof, root]) is None
        assert not proof or _opened_root(leaves, size, proof[:-1]) is None
        assert _opened_root({**leaves, size: root}, size, proof) is None
        closed = {*range(size)} - opened
        if closed:
            assert _opened_root({**leaves, lots.choice([*closed]): EMPTY}, size, proof) != root
    assert _opened_root({}, 3, []) is None
