"""Checks the Merkle tree over the journal's rows: it stays the same after rows are archived, and after a restart.

Journals of an earlier version's form are checked too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from time import perf_counter

import pytest

from controller.contract.keys import load_or_make_key
from controller.contract.merkle import is_consistent
from controller.contract.note import Checkpoint
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import read_origin, read_rows, verify
from tests.daemon.test_journal import KEY, TABLE, entries, opened, shoe
from tests.journals.old_journals import NAMES, OF_0F50807, copied
from tests.support import samples
from tests.support.archives import archive_all
from tests.support.errors import raising


def _root(leaves: list[bytes]) -> bytes:
    """Return the root hash of the Merkle tree over all leaves, which RFC 6962 calls MTH."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01" + _root(leaves[:k]) + _root(leaves[k:])).digest()


def _leaves(path: Path, first_row: int = 1) -> list[bytes]:
    """Return the leaves of the Merkle tree, from row `first_row` on, computed only from the rows of the journal and its
    archives."""
    heads = [*[row.previous_head for row in read_rows(path)][first_row:], verify(path).head]
    return [sha256(b"\x00" + head).digest() for head in heads]


def _said(journal: Journal) -> Checkpoint:
    note = journal.checkpoint()
    assert note.signed_by(journal.origin, KEY.public)
    point = note.checkpoint()
    assert point is not None
    return point


@contextmanager
def _reopened(path: Path) -> Iterator[Journal]:
    with closing(opened(path)) as journal:
        yield journal


def test_the_tree_is_that_of_the_rows_across_restarts_and_archives(tmp_path: Path) -> None:
    """The Merkle tree always covers exactly the rows that the journal has had so far, even after restarts and after
    rows were archived.

    The test writes twelve shoes of some 40 rows. This is enough for stored subtrees of 256 rows, and for archives that
    end inside such a subtree.
    """
    path, said = tmp_path / "table.journal", [Checkpoint("", 0, sha256(b"").digest())]
    made = entries([fact for number in range(1, 13) for fact in shoe(number, 7)])
    for number in range(1, 13):
        with _reopened(path) as journal:
            journal.append(made[38 * (number - 1) : 38 * number])
            said.append(_said(journal))
            if number % 3 == 0:
                journal.mark_acked(journal.head_seq)
                assert archive_all(journal, 0, 50)
                said.append(_said(journal))
    leaves = _leaves(path)
    assert [point.root for point in said] == [_root(leaves[: point.size]) for point in said]
    with _reopened(path) as journal:
        assert journal.archived_rows > 256
        assert [note.checkpoint() for point in said[1:] if (note := journal.note_at(point.size))] == said[1:]
        assert journal.note_at(0) is journal.note_at(said[-1].size + 1) is None
        for old in said if samples.at_length else (*said[:2], *said[2::4]):
            for new in said if samples.at_length else said[::3]:
                if old.size <= new.size:
                    proof = journal.consistency(old.size, new.size)
                    assert is_consistent(old.size, old.root, new.size, new.root, proof)


def test_rows_that_no_checkpoint_covered_before_they_went_to_an_archive_are_in_the_next(tmp_path: Path) -> None:
    """If rows are archived before any checkpoint covers them, the next checkpoint still covers them.

    In the test rows come after the last checkpoint, and they are archived before the next one.
    """
    path = tmp_path / "table.journal"
    made = entries([fact for number in range(1, 8) for fact in shoe(number, 7)])
    with _reopened(path) as journal:
        journal.append(made[:200])
        said = [_said(journal)]
        journal.append(made[200:])
        journal.mark_acked(journal.head_seq)
        assert archive_all(journal, 0, 20)
        assert journal.archived_rows > 200
        said.append(_said(journal))
    leaves = _leaves(path)
    assert [(point.size, point.root) for point in said] == [
        (200, _root(leaves[:200])),
        (len(made), _root(leaves)),
    ]


def test_a_proof_from_the_middle_of_a_missing_archive_waits_and_a_checkpoint_does_not(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    with _reopened(path) as journal:
        journal.append(entries([fact for number in range(1, 9) for fact in shoe(number, 3)]))
        journal.mark_acked(journal.head_seq)
        size = _said(journal).size
        for archive in archive_all(journal, 0, 20):
            archive.unlink()
    with _reopened(path) as journal:
        assert _said(journal).size == size
        with pytest.raises(OSError, match="missing"):
            journal.consistency(3, size)


@pytest.mark.parametrize("name", [NAMES[0], OF_0F50807[0]])
def test_a_journal_of_an_earlier_form_has_a_tree_from_its_first_row_on(name: str, tmp_path: Path) -> None:
    old = copied(name, tmp_path)
    key, origin = load_or_make_key(old.key), read_origin(old.journal)
    with closing(Journal(old.journal, origin.table, key, key.public)) as journal:
        point = journal.checkpoint().checkpoint()
    assert point is not None
    assert point == Checkpoint(f"{origin.table}/{origin.epoch}", verify(old.journal).rows, _root(_leaves(old.journal)))


def test_a_journal_that_had_archives_before_has_a_tree_from_their_end_on(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    with _reopened(path) as journal:
        journal.append(entries([fact for number in range(1, 4) for fact in shoe(number, 2)]))
        journal.mark_acked(journal.head_seq)
        archive_all(journal, 0, 20)
        last = journal.archived_rows
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("tree", "subtree", "checkpoint"):
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 2")
    with _reopened(path) as journal:
        assert last > 0
        assert _said(journal).root == _root(_leaves(path, last))
        journal.append(entries(shoe(1, 2)))
        assert _said(journal).root == _root(_leaves(path, last))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed journal of thirteen shoes with a checkpoint.

    Most shoes are archived, and `tablectl verify` finds nothing wrong.
    """
    path = tmp_path_factory.mktemp("whole") / "table.journal"
    with _reopened(path) as journal:
        journal.append(entries([fact for number in range(1, 14) for fact in shoe(number, 4)]))
        journal.mark_acked(journal.head_seq)
        _said(journal)
        assert archive_all(journal, 0, 30)
    assert verify(path).table == TABLE
    return path


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE subtree SET hash = zeroblob(32) WHERE level = 8",
        "UPDATE subtree SET hash = zeroblob(32) WHERE level = (SELECT min(level) FROM subtree)",
        "UPDATE subtree SET place = place + 1024",
        "UPDATE checkpoint SET size = size - 1",
        "UPDATE checkpoint SET note = 'none'",
        "UPDATE tree SET first_row = 2",
    ],
)
def test_verify_names_a_tree_that_is_not_the_rows(change: str, whole: Path, tmp_path: Path) -> None:
    path = copytree(whole.parent, tmp_path / "copy") / whole.name
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(change).rowcount
    with raising("journal_damaged"):
        verify(path)


@pytest.mark.proof
def test_a_checkpoint_costs_little_beside_the_commits_of_its_round(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """Signing a checkpoint takes little time compared with the commits of its round. Both are measured in the same run.

    A round has seven rows. Each row is committed separately, because the cards come one by one. The time of all seven
    commits is compared with the time of the round's one checkpoint.
    """
    commits_s, checkpoints_s, rounds = 0.0, 0.0, 400
    with _reopened(tmp_path / "table.journal") as journal:
        facts = entries(shoe(1, 10))[3:]
        for number in range(rounds):
            for entry in (facts * 2)[number % 10 : number % 10 + 7]:
                begun_s = perf_counter()
                journal.append([entry])
                commits_s += perf_counter() - begun_s
            begun_s = perf_counter()
            journal.checkpoint()
            checkpoints_s += perf_counter() - begun_s
    part = checkpoints_s / commits_s
    figure(
        f"{rounds} checkpoints take {part:.1%} of the time of their rounds' {7 * rounds} commits:"
        f" each {checkpoints_s / rounds * 1000:.2f} ms, {7 * part:.0%} of one commit"
    )
    assert part < 0.05
