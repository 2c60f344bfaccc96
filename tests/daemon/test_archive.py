"""Checks that rows move from a journal to its archives without loss, and that readers read both as one journal."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import lzma
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.envelope import Stamp, chain_head
from controller.daemon.record.archive import Run, beside
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import Verified, read_events, read_rows, read_shoe, verify
from controller.daemon.record.journal_rows import Entry, Row
from controller.daemon.record.replay import replay
from controller.people.cli.main import main
from controller.table.facts import CardDrawn, Fact, ShoeOpened, ShoeResult, ShoeResultReported, StepFailed, Target
from drivers.sim import rules
from drivers.sim.deck import shuffled_decks
from tests.daemon.daemon_world import LEVELS
from tests.daemon.test_history import Recorded
from tests.daemon.test_journal import CONFIG, KEY, OTHER_KEY, RULES, TABLE, entries, opened, shoe, tampering
from tests.journals.old_journals import NAMES, copied
from tests.support import samples
from tests.support.archives import AtStep, archive_all, watch_files, watch_statements
from tests.support.felt import FeltRound
from tests.support.in_a_fork import exit_code

ROOT = Path(__file__).parents[2]
SHOES = 5
ALL = 10**6  # more rows, or messages, than there are


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed journal of several shoes. The pit has all of its events, and no rows are archived yet."""
    path = tmp_path_factory.mktemp("whole") / "table.journal"
    journal = opened(path)
    journal.append(entries([fact for number in range(1, SHOES + 1) for fact in shoe(number, 2)]))
    journal.mark_acked(journal.head_seq)
    journal.close()
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """The path of a copy of the journal `whole`, which a test may change."""
    return Path(shutil.copyfile(whole, tmp_path / "table.journal"))


def archived(path: Path, keep_shoes: int = 0, at_most_rows: int = 30, folder: Path | None = None) -> list[Path]:
    """Archive all rows of a closed journal that may be archived, but keep the last `keep_shoes` shoes. An archive gets
    at most about `at_most_rows` rows and is written to `folder`, or to the usual folder if that is None. Return the
    archives."""
    with closing(Journal(path, TABLE, KEY, KEY.public, folder)) as journal:
        return archive_all(journal, keep_shoes, at_most_rows)


def kept_rows(path: Path) -> list[int]:
    """Return the numbers of the rows that are still in the journal's own file, and not in an archive."""
    with closing(sqlite3.connect(path)) as db:
        return [row for (row,) in db.execute("SELECT row FROM fact ORDER BY row")]


def refusal(read: Callable[[], object]) -> TableError:
    """Call `read`, which must raise TableError, and return that error."""
    with pytest.raises(TableError) as caught:
        read()
    return caught.value


def openings(path: Path) -> list[int]:
    return [row.number for row in read_rows(path) if isinstance(row.fact, ShoeOpened)]


# What reads a journal reads its archives.


@pytest.mark.parametrize("at_most_rows", [13, *(pytest.param(many, marks=pytest.mark.proof) for many in (5, ALL))])
def test_every_reader_gives_the_same_with_and_without_archives(
    whole: Path, path: Path, tmp_path: Path, at_most_rows: int, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "pit.log"
    log.write_bytes(b"".join(body + b"\n" for row in read_rows(whole) for body in row.messages))
    made = archived(path, at_most_rows=at_most_rows)
    assert kept_rows(path)[0] == openings(whole)[-1], "the last shoe alone is left in the journal"

    before, after = verify(whole), verify(path)
    assert (after.rows, after.messages, after.head, after.epoch) == (
        before.rows,
        before.messages,
        before.head,
        before.epoch,
    )
    assert (after.archived_rows, after.archives) == (kept_rows(path)[0] - 1, len(made))
    assert list(read_rows(path)) == list(read_rows(whole))
    for command in (["rounds"], ["replay", "1/2"], ["replay", "3/1"], ["replay", f"{SHOES}/2"]):
        told = []
        for journal in (whole, path):
            assert main([command[0], str(journal), *command[1:]]) == 0
            told.append(capsys.readouterr().out)
        assert told[0] == told[1] != "", command
    assert main(["verify", str(path), "--against", str(log)]) == 0
    out = capsys.readouterr().out
    assert f"rows 1 to {after.archived_rows} are in {len(made)} archive" in out
    assert f"the pit's log agrees from event 1 to its last, {before.messages}" in out


@pytest.mark.parametrize("at_most_rows", [13, *(pytest.param(many, marks=pytest.mark.proof) for many in (5, ALL))])
def test_what_the_screen_is_told_goes_back_into_archives(whole: Path, path: Path, at_most_rows: int) -> None:
    made = archived(path, at_most_rows=at_most_rows)
    events = read_events(whole, 0, ALL)
    assert len(events) == verify(whole).messages
    for after in range(0, len(events) + 1, 3 if samples.at_length else 29):
        for rounds in (0, 1, 5, ALL):
            assert read_events(path, after, rounds) == read_events(whole, after, rounds)
    for number in range(SHOES + 2):
        assert list(read_shoe(path, number)) == list(read_shoe(whole, number))
        assert bool(list(read_shoe(path, number))) == (1 <= number <= SHOES)
    moved = path.with_name("moved")
    beside(path).rename(moved)
    assert list(read_shoe(path, 1, moved)) == list(read_shoe(whole, 1))
    assert read_events(path, 0, ALL, moved) == events
    (moved / made[-1].name).unlink()
    assert 0 < len(read_events(path, 0, ALL, moved)) < len(events), "they end before an archive that is lost"


def test_the_stream_reads_on_through_archives(whole: Path, path: Path) -> None:
    with closing(opened(whole)) as journal:
        stream = journal.messages_after(0, ALL)
    archived(path)
    with closing(opened(path)) as journal:
        assert (journal.head_seq, journal.acked_seq) == (len(stream), len(stream))
        for seq in range(len(stream) + 1):
            assert journal.messages_after(seq, 7) == stream[seq : seq + 7]
            assert journal.message(seq) == (stream[seq - 1] if seq else None)
        assert journal.messages_after(0, ALL) == stream
        assert journal.message(len(stream) + 1) is None


def test_the_table_goes_on_where_it_was(whole: Path, path: Path) -> None:
    archived(path)
    with closing(opened(path)) as journal:
        table, differs = replay(journal.open_shoe(), RULES, TABLE, journal.epoch)
        assert differs is None
        with closing(opened(whole)) as unarchived:
            assert table == replay(unarchived.open_shoe(), RULES, TABLE, journal.epoch)[0]
            as_before = list(unarchived.open_shoe())
        assert list(journal.open_shoe()) == as_before
        journal.append(entries(shoe(SHOES + 1, 1), table))
        assert journal.next_to_archive(0, ALL) is None, "the pit has not acknowledged that the shoe was closed early"
        journal.mark_acked(journal.head_seq)
        assert len(archive_all(journal)) == 1
    assert verify(path).rows == verify(whole).rows + len(shoe(SHOES + 1, 1))


def test_archives_are_read_while_the_table_goes_on_archiving(path: Path) -> None:
    with closing(opened(path)) as journal:
        reader = read_rows(path)
        seen = [next(reader).number]
        archive_all(journal, at_most_rows=10)
        seen += [row.number for row in reader]
    assert seen == [*range(1, verify(path).rows + 1)], "a reader keeps to the moment at which it began"


@pytest.mark.parametrize(
    "name", [name if name in ("royal9", "lucky9") else pytest.param(name, marks=pytest.mark.proof) for name in NAMES]
)
def test_a_journal_of_form_1_is_archived_and_gone_on_with(name: str, tmp_path: Path) -> None:
    old = copied(name, tmp_path)
    before, rows = verify(old.journal), list(read_rows(old.journal))
    key = KEY.__class__(old.key.read_bytes())
    with closing(Journal(old.journal, before.table, key, key.public)) as journal:
        journal.append([Entry(Stamp(1_800_000_000_000, True, "feed", 1), _opening(2), ())])
        journal.mark_acked(journal.head_seq)
        assert archive_all(journal)
        assert journal.messages_after(0, ALL) == list(journal.messages_after(0, ALL))
    assert list(read_rows(old.journal))[:-1] == rows
    assert kept_rows(old.journal) == [before.rows + 1]


def _opening(number: int) -> ShoeOpened:
    return ShoeOpened(number, "dealer", RULES, CONFIG.digest, "test")


# What may go, and what stays.


@pytest.mark.parametrize("keep_shoes", [0, 1, 3, SHOES - 1, SHOES, 50])
def test_the_last_shoe_and_so_many_before_it_stay(whole: Path, path: Path, keep_shoes: int) -> None:
    archived(path, keep_shoes)
    stays = max(0, SHOES - 1 - keep_shoes)
    assert kept_rows(path)[0] == (openings(whole)[stays] if stays else 1)
    assert verify(path).rows == verify(whole).rows


@pytest.mark.parametrize(("row_of_shoe", "stays"), [(0, 1), (1, 2), (8, 2)])
def test_a_shoe_with_an_event_that_the_pit_lacks_stays(
    whole: Path, tmp_path: Path, row_of_shoe: int, stays: int
) -> None:
    """A shoe is not archived while the pit lacks one of its events.

    The event that opens the third shoe also reports the end of the second shoe. If the pit lacks that event, the second
    shoe is not archived either.
    """
    third = openings(whole)[2]
    acked = next(row.first_seq - 1 for row in read_rows(whole) if row.messages and row.number >= third + row_of_shoe)
    path = tmp_path / "table.journal"
    with closing(opened(path)) as journal:
        journal.append(entries([fact for number in range(1, SHOES + 1) for fact in shoe(number, 2)]))
        journal.mark_acked(acked)
        archive_all(journal)
    assert kept_rows(path)[0] == openings(whole)[stays]


def test_an_archive_ends_with_a_shoe_where_it_can(whole: Path, path: Path) -> None:
    size = len(shoe(1, 2))
    made = archived(path, at_most_rows=2 * size + 3)
    assert [name.name[-len("0000000001-0000000001.archive") :] for name in made] == [
        f"{first:010d}-{last:010d}.archive" for first, last in ((1, 2 * size), (2 * size + 1, 4 * size))
    ]


def test_nothing_goes_before_a_shoe_is_open_or_by_an_opening_that_failed(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        journal.append(entries([CardDrawn(None)]))
        journal.mark_acked(journal.head_seq)
        assert journal.next_to_archive(0, ALL) is None
        stamp = Stamp(1_700_000_000_000, True)
        facts: tuple[Fact, ...] = (_opening(1), StepFailed("ValueError in ShoeOpened"))
        journal.append([Entry(stamp, fact, ()) for fact in facts])
        assert journal.next_to_archive(0, ALL) is None


def test_a_damaged_row_goes_nowhere(path: Path) -> None:
    with tampering(path) as db:
        db.execute("UPDATE fact SET salt = zeroblob(16) WHERE row = 4")
    told = refusal(lambda: archived(path))
    assert (told.code, "row 4" in told.what) == ("journal_damaged", True)
    assert kept_rows(path)[:2] == [1, 2]
    assert not list(beside(path).glob("*"))


def test_an_event_that_the_table_never_signed_goes_nowhere_though_its_chain_fits(path: Path) -> None:
    with tampering(path) as db:
        head, body = db.execute("SELECT head, body FROM fact JOIN message USING (row) WHERE row = 1").fetchone()
        changed = body.replace(b'"by":"dealer"', b'"by":"nobody"')
        assert changed != body
        fact, salt, at_ms, synchronised = db.execute(
            "SELECT fact, salt, at_ms, clock_synchronised FROM fact WHERE row = 1"
        ).fetchone()
        new = chain_head(bytes(32), f"{at_ms} {synchronised} ".encode() + fact, [changed], salt)
        assert new != head
        db.execute("UPDATE message SET body = ? WHERE row = 1", (changed,))
        db.execute("UPDATE fact SET head = ? WHERE row = 1", (new,))
    told = refusal(lambda: archived(path))
    assert (told.code, "signature of message" in told.what) == ("journal_damaged", True)
    assert kept_rows(path)[:2] == [1, 2]


def test_nobody_else_may_read_an_archive(path: Path) -> None:
    (first, *_) = archived(path)
    assert first.stat().st_mode & 0o777 == 0o600
    assert first.parent.stat().st_mode & 0o777 == 0o700


# Where archives are.


def test_archives_of_another_folder_are_found_again(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    made = archived(path, folder=folder)
    assert {archive.parent for archive in made} == {folder}
    good = verify(path)

    moved = tmp_path / "moved"
    folder.rename(moved)
    told = refusal(lambda: verify(path))
    assert (told.code, str(made[0]) in told.what) == ("archive_missing", True)
    assert verify(path, moved) == good
    moved.rename(beside(path))
    assert verify(path) == good, "beside the journal they are found too"
    with closing(Journal(path, TABLE, KEY, KEY.public, folder)) as journal:
        assert len(journal.messages_after(0, ALL)) == journal.head_seq


def test_archive_names_the_only_folder_to_look_in(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(path)
    (tmp_path / "empty").mkdir()
    for command in (["verify", str(path)], ["rounds", str(path)], ["replay", str(path), "1/1"]):
        assert main([*command, "--archive", str(tmp_path / "empty")]) == 1
        assert "archive_missing" in capsys.readouterr().err
        assert main([*command, "--archive", str(beside(path))]) == 0
        capsys.readouterr()


def test_two_tables_share_a_folder(path: Path, tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "other", "royal9-02", OTHER_KEY, OTHER_KEY.public, beside(path))) as other:
        other.append(entries([*shoe(1, 1), *shoe(2, 1)]))
        other.mark_acked(other.head_seq)
        archive_all(other)
    archived(path)
    assert verify(path).archives
    assert verify(tmp_path / "other").archives


# A missing or altered archive.


def test_a_missing_archive_is_named_and_stops_no_start(path: Path) -> None:
    made = archived(path)
    made[1].unlink()
    told = refusal(lambda: verify(path))
    assert told.code == "archive_missing"
    assert str(made[1]) in told.what
    with closing(opened(path)) as journal:
        assert replay(journal.open_shoe(), RULES, TABLE, journal.epoch)[1] is None
        journal.append(entries([CardDrawn(None)]))
        with pytest.raises(OSError, match="is missing"):
            journal.messages_after(0, ALL)
        shutil.copyfile(made[0], made[1])
        with pytest.raises(OSError, match="other rows than the journal says"):
            journal.messages_after(0, ALL)


def test_any_changed_bit_of_an_archive_is_found(path: Path) -> None:
    (archive, *_) = archived(path, at_most_rows=ALL)
    sound, luck = archive.read_bytes(), random.Random(5)
    places = {*range(0, 8 * len(sound), 8 * len(sound) // 60), *(luck.randrange(8 * len(sound)) for _ in range(60))}
    for place in places:
        flipped = bytearray(sound)
        flipped[place // 8] ^= 1 << place % 8
        archive.write_bytes(flipped)
        assert refusal(lambda: verify(path)).code == "archive_damaged", place
    for data in (b"", b"\n", sound[:-1], sound[:700], sound + b"\n", b"[]\n", b"[" * 100_000, b"\xff" * 900):
        archive.write_bytes(data)
        assert refusal(lambda: verify(path)).code == "archive_damaged", data[:20]
    archive.write_bytes(sound)
    verify(path)


def _forged(archive: Path, key: Any, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Change the rows in an archive file, and sign the file again with the given key."""
    head, _, packed = archive.read_bytes().partition(b"\n")
    rows = change([json.loads(line) for line in lzma.decompress(packed).split(b"\n")])
    packed = lzma.compress(b"\n".join(map(canonical, rows)))
    header = json.loads(head) | {"rows_sha256": hashlib.sha256(packed).hexdigest(), "public_key": key.public.hex()}
    del header["signature"]
    header["signature"] = base64.b64encode(key.sign(canonical(header))).decode()
    archive.write_bytes(canonical(header) + b"\n" + packed)


@pytest.mark.parametrize("key", [KEY, OTHER_KEY], ids=["the table's key", "another key"])
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[:-1],
        lambda rows: [rows[0] | {"at_ms": 7}, *rows[1:]],
        lambda rows: [rows[0] | {"at_ms": "7"}, *rows[1:]],
        lambda rows: [*rows[:-1], rows[-1] | {"messages": []}],
        lambda rows: [{}, *rows[1:]],
    ],
)
def test_an_archive_that_was_sealed_again_does_not_fit_the_chain(
    path: Path, key: Any, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    (archive, *_) = archived(path)
    _forged(archive, key, change)
    assert refusal(lambda: verify(path)).code == "archive_damaged"


def test_rows_packed_anew_are_refused_before_they_are_unpacked(path: Path) -> None:
    (archive, *_) = archived(path)
    header, _, packed = archive.read_bytes().partition(b"\n")
    archive.write_bytes(header + b"\n" + lzma.compress(lzma.decompress(packed), preset=0))
    assert "not those that were signed" in refusal(lambda: verify(path)).what


def test_another_programs_file_in_the_way_is_left_alone(path: Path) -> None:
    with closing(opened(path)) as journal:
        run = journal.next_to_archive(0, ALL)
        assert run is not None
        in_the_way = beside(path) / run.file_name
        in_the_way.parent.mkdir()
        in_the_way.write_bytes(b"another life of this journal")
        assert refusal(lambda: journal.write_archive(run)).code == "archive_in_the_way"
    assert in_the_way.read_bytes() == b"another life of this journal"
    assert kept_rows(path)[0] == 1


# A disk that refuses, and a power cut, at every step.


@contextmanager
def refusing(monkeypatch: pytest.MonkeyPatch, passes: int) -> Iterator[AtStep]:
    """Let the disk do `passes` steps, and refuse the next step with "No space left on device"."""

    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    refusing = AtStep(passes, fail)
    with monkeypatch.context() as patch:
        watch_files(patch.setattr, refusing)
        yield refusing


def test_a_disk_that_refuses_any_step_loses_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, passes = verify(whole), 0
    while True:
        path = Path(shutil.copyfile(whole, tmp_path / f"{passes}.journal"))
        with closing(opened(path)) as journal:
            run = journal.next_to_archive(0, ALL)
            assert run is not None
            with refusing(monkeypatch, passes) as refused, suppress(OSError, TableError):
                journal.write_archive(run)
            assert kept_rows(path)[0] == 1, "nothing has left before its archive was read back"
            assert not list(beside(path).glob("*.new"))
            assert len(archive_all(journal)) == 1, "and it goes the next time"
        assert verify(path).head == good.head
        if refused.passes >= 0:
            break
        passes += 1 if samples.at_length else 3
    assert passes >= 8


def test_an_archive_that_reads_back_otherwise_is_not_believed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened(path)) as journal:
        run = journal.next_to_archive(0, ALL)
        assert run is not None
        with monkeypatch.context() as patch:
            read = Path.read_bytes
            patch.setattr(Path, "read_bytes", lambda path: read(path)[:-9] + bytes(9))
            assert refusal(lambda: journal.write_archive(run)).code == "archive_damaged"
    assert kept_rows(path)[0] == 1


def test_a_commit_that_fails_leaves_the_rows_in_the_journal(path: Path) -> None:
    with closing(opened(path)) as journal:
        run = journal.next_to_archive(0, ALL)
        assert run is not None
        archive = journal.write_archive(run)
        with tampering(path) as db:
            db.execute("CREATE TRIGGER no BEFORE DELETE ON fact BEGIN SELECT raise(ABORT, 'disk I/O error'); END")
        with pytest.raises(OSError, match="disk I/O error"):
            journal.leave_to_archive(run, archive)
        good = verify(path)
        assert (good.archives, kept_rows(path)[0]) == (0, 1)
        with tampering(path) as db:
            db.execute("DROP TRIGGER no")
        assert archive_all(journal) == [archive], "the archive that is there already is taken"
    assert verify(path).head == good.head


def test_rows_that_are_not_those_of_the_archive_stay(path: Path) -> None:
    with closing(opened(path)) as journal:
        run = journal.next_to_archive(0, 20)
        assert run is not None
        archive = journal.write_archive(run)
        journal.leave_to_archive(run, archive)
        assert refusal(lambda: journal.leave_to_archive(run, archive)).code == "journal_damaged"
    assert verify(path).archived_rows == run.last_row


def _killed_at(path: Path, passes: int) -> bool:
    """Archive the journal in a process that is killed after `passes` steps on the disk.

    Return True if the process was killed, and False if it had finished before.
    """

    def archives() -> None:
        journal = opened(path)
        step = AtStep(passes, lambda: os.kill(os.getpid(), signal.SIGKILL))
        watch_files(setattr, step)
        watch_statements(journal, step)
        archive_all(journal, at_most_rows=30)

    ended = exit_code(archives)
    assert ended in (0, -signal.SIGKILL)
    return ended != 0


def _survives(whole: Path, path: Path, good: Verified, rows: list[Row]) -> None:
    assert verify(path).head == good.head, "before anybody starts it again"
    assert list(read_rows(path)) == rows, "none lost, none doubled"
    archived(path)
    after = verify(path)
    assert (after.rows, after.head, kept_rows(path)[0]) == (good.rows, good.head, openings(whole)[-1])
    assert not list(beside(path).glob("*.new"))


def test_a_kill_before_some_of_the_steps_loses_and_doubles_nothing(whole: Path, tmp_path: Path) -> None:
    good, rows = verify(whole), list(read_rows(whole))
    for passes in (
        6,
        14,
    ):  # before the folder of the first archive is synced, and before its rows' deletion is committed
        path = Path(shutil.copyfile(whole, tmp_path / f"{passes}.journal"))
        assert _killed_at(path, passes)
        _survives(whole, path, good, rows)


@pytest.mark.proof
def test_a_kill_before_any_step_loses_and_doubles_nothing(
    whole: Path, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    good, rows, passes = verify(whole), list(read_rows(whole)), 0
    while True:
        path = Path(shutil.copyfile(whole, tmp_path / f"{passes}.journal"))
        killed = _killed_at(path, passes)
        _survives(whole, path, good, rows)
        if not killed:
            break
        passes += 1
    assert passes > 25
    figure(f"killed before each of the {passes} steps of archiving a journal: no row lost, none doubled")


# The journal stays small.


def _grown(path: Path, most_bytes: int, made: Sequence[Entry]) -> tuple[int, int]:
    """Write the entries `made`, which make up twelve shoes, to a journal. After each shoe the pit acknowledges all
    events, old shoes are archived, and the journal's file is shrunk towards `most_bytes`.

    Return the largest size of the journal's file in bytes, and the number of rows at the end.
    """
    largest, size = 0, len(made) // 12
    with closing(opened(path)) as journal:
        for first in range(0, len(made), size):
            journal.append(made[first : first + size])
            journal.mark_acked(journal.head_seq)
            archive_all(journal, keep_shoes=2)
            while journal.give_back_room(most_bytes):
                pass
            with closing(sqlite3.connect(path)) as db:
                db.execute("PRAGMA wal_checkpoint")
            largest = max(largest, path.stat().st_size)
    return largest, verify(path).rows


def test_a_journal_stays_below_its_size_however_many_shoes_are_dealt(tmp_path: Path) -> None:
    most_bytes = 145_000
    made = entries([fact for number in range(1, 13) for fact in shoe(number, 5)])
    largest, rows = _grown(tmp_path / "archived", most_bytes, made)
    with closing(opened(tmp_path / "unarchived")) as journal:
        journal.append(made)
        unarchived = journal.used_bytes
    assert rows == verify(tmp_path / "unarchived").rows
    assert largest < most_bytes < unarchived / 2, (largest, unarchived)


def test_a_journal_that_grew_while_the_pit_was_away_shrinks_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with closing(opened(path)) as journal:
        journal.append(entries([fact for number in range(1, 13) for fact in shoe(number, 6)]))
        assert archive_all(journal) == []
        grown = journal.used_bytes
        journal.mark_acked(journal.head_seq)
        archive_all(journal)
        assert journal.used_bytes < grown / 4
        while journal.give_back_room(grown // 3):
            pass
        assert not journal.give_back_room(grown // 3)
    assert path.stat().st_size <= grown / 3
    verify(path)


def test_a_run_says_what_its_header_says() -> None:
    run = Run("t", "e", b"\1" * 32, 1, 2, 3, 4, b"\2" * 32, b"\3" * 32)
    assert run.file_name == "t-e-0000000001-0000000002.archive"
    assert run.header()["head_after"] == "03" * 32


def _real_shoes(shoes: int, rounds: int) -> list[Entry]:
    """Return the journal entries of `shoes` shoes with `rounds` rounds each, as at a real table with two Royal 9
    wagers.

    As in a real journal, each entry has the shoe's frame, a time and a source. The shoe also reports the results of
    rounds.
    """
    table, luck = Recorded(levels=LEVELS), random.Random(3)
    decks = shuffled_decks(3, 8, 0)
    for _ in range(shoes):
        deck = next(decks)
        table.new_shoe_by_supervisor()
        first = deck.draw()
        table.believe(table.card(Target.FIRST_CARD, 0, first))
        for place in range(1, rules.burn_count(first) + 1):
            table.believe(table.card(Target.BURN, place, deck.draw()))
        for _ in range(rounds):
            round_ = FeltRound()
            table.lock(*luck.sample(range(1, 8), 2))
            while round_.side is not None:
                card = deck.draw()
                side, index = round_.take(card)
                table.believe(table.card(Target(side), index, card))
            result = ShoeResult(table.of_type("round")[-1]["outcome"])
            player_pair, banker_pair = (rules.is_pair(on) for on in (round_.player, round_.banker))
            table.believe(ShoeResultReported(result, player_pair, banker_pair, table.report(b"G\x90")))
            assert table.fault is None, table.table.fault
    return [
        replace(
            entry,
            stamp=Stamp(1_750_000_000_000 + 8_123 * place, True, "0123456789abcdef" * 2, 91_000 + 8_123 * place),
            via="shoe" if isinstance(entry.fact, CardDrawn | ShoeResultReported) else "button deal",
        )
        for place, entry in enumerate(table.entries)
    ]


@pytest.mark.proof
def test_what_a_round_takes_in_the_journal_and_in_an_archive(tmp_path: Path, figure: Callable[[str], None]) -> None:
    shoes, rounds, rounds_a_year = 5, 70, 530_000
    with closing(opened(tmp_path / "j")) as journal:
        journal.append(_real_shoes(shoes, rounds))
        journal.mark_acked(journal.head_seq)
        before = journal.used_bytes
        run = journal.next_to_archive(0, ALL)
        assert run is not None
        begun_s = time.thread_time()
        archive = journal.write_archive(run)
        cpu_ms = 1000 * (time.thread_time() - begun_s) / (shoes - 1)
        journal.leave_to_archive(run, archive)
        journalled = (before - journal.used_bytes) / (rounds * (shoes - 1))
    compressed = archive.stat().st_size / (rounds * (shoes - 1))
    figure(
        f"a round takes {journalled / 1000:.2f} kB in the journal and {compressed / 1000:.2f} kB in an archive, "
        f"{journalled / compressed:.1f} times less; a year of {rounds_a_year:,} rounds "
        f"{journalled * rounds_a_year / 1e9:.2f} GB and {compressed * rounds_a_year / 1e9:.2f} GB; "
        f"a shoe of {rounds} rounds is copied in {cpu_ms:.0f} ms of a core"
    )
    assert journalled > 4 * compressed
