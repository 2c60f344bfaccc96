"""Checks that the journal returns the rows that were committed, finds damage, and loses nothing if the disk fails."""

from __future__ import annotations

import base64
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from controller.basics.errors import TableError
from controller.contract.envelope import GENESIS, Stamp, chain_head
from controller.contract.keys import SigningKey
from controller.daemon.config import load
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import Verified, read_rows, verify
from controller.daemon.record.journal_rows import Entry, Message, Row
from controller.rules.game.cards import Card
from controller.table.facts import CardDrawn, Fact, ProgressiveWagers, ShoeOpened, StepFailed, WagersLocked
from controller.table.states import Table
from controller.table.step import step
from tests.support import forks
from tests.support.contract import check_event
from tests.support.errors import raising
from tests.support.in_a_fork import exit_code
from tests.support.samples import examples

ROOT = Path(__file__).parents[2]
CONFIG = load(ROOT / "config" / "tables" / "royal9.toml")
RULES = CONFIG.rules
KEY = SigningKey(bytes(range(32)))
OTHER_KEY = SigningKey(bytes(32))
TABLE = RULES.table


def opened(path: Path, table_id: str = TABLE, key: SigningKey = KEY) -> Journal:
    return Journal(path, table_id, key, key.public)


def shoe(number: int, hands: int) -> list[Fact]:
    """Return the facts of a shoe: its opening, the burn, and `hands` rounds, each with a Royal 9 hit at seat 1."""
    facts: list[Fact] = [ShoeOpened(number, "dealer", RULES, CONFIG.digest, "test")]
    facts += [CardDrawn(Card.parse(text)) for text in ("AS", "2D")]
    for _ in range(hands):
        facts.append(WagersLocked("dealer", (ProgressiveWagers("royal9", (1, 2)),)))
        facts += [CardDrawn(Card.parse(text)) for text in ("KS", "2D", "9S", "3D")]
    return facts


def entries(facts: list[Fact], table: Table | None = None) -> list[Entry]:
    """Return the journal entries that the daemon would commit for these facts."""
    table, made = table or Table(RULES), []
    for place, fact in enumerate(facts):
        table, events = step(table, fact)
        made.append(Entry(Stamp(1_700_000_000_000 + 1000 * place, place % 2 == 0), fact, tuple(events)))
    return made


SHOES = entries([*shoe(1, 2), *shoe(2, 2)])
OPENED_SECOND = 1 + len(shoe(1, 2))


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a closed journal of two shoes, which no test has changed."""
    path = tmp_path_factory.mktemp("pristine") / "table.journal"
    with closing(opened(path)) as journal:
        journal.append(SHOES)
        journal.mark_acked(journal.head_seq)
    return path


@pytest.fixture
def copy(pristine: Path, tmp_path: Path) -> Path:
    path = tmp_path / "table.journal"
    shutil.copyfile(pristine, path)
    return path


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as db, db:
        yield db


def damaged_row(path: Path) -> int:
    """Return the number of the row that `verify` names as damaged."""
    with raising("journal_damaged") as caught:
        verify(path)
    assert "at row " in caught.value.what, caught.value.what
    return int(caught.value.what.partition("at row ")[2].partition(":")[0])


# What is committed comes back.


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        made = journal.append(SHOES[:7])
        made += journal.append(SHOES[7:])

    rows = list(read_rows(tmp_path / "j"))
    assert [row.number for row in rows] == list(range(1, len(SHOES) + 1))
    assert [row.fact for row in rows] == [entry.fact for entry in SHOES]
    assert [row.stamp for row in rows] == [entry.stamp for entry in SHOES]
    assert [len(row.messages) for row in rows] == [len(entry.events) for entry in SHOES]
    assert [body for row in rows for body in row.messages] == [message.body for message in made]


def test_events_are_numbered_without_gaps_across_openings_signed_and_chained(tmp_path: Path) -> None:
    made: list[Message] = []
    for place in range(0, len(SHOES), 5):
        with closing(opened(tmp_path / "j")) as journal:
            made += journal.append(SHOES[place : place + 5])
            epoch = journal.epoch

    assert [message.seq for message in made] == list(range(1, len(made) + 1))
    heads = [row.previous_head.hex() for row in read_rows(tmp_path / "j") for _ in row.messages]
    for message, head in zip(made, heads, strict=True):
        event = check_event(message.body)
        assert event["id"] == f"{TABLE}/{epoch}/{message.seq}"
        assert event["chain"] == head
        unsigned = {name: value for name, value in event.items() if name != "signature"}
        text = json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        Ed25519PublicKey.from_public_bytes(KEY.public).verify(base64.b64decode(event["signature"]), text.encode())


def test_a_row_of_several_events_gives_them_all_the_same_chain(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        made = [json.loads(message.body) for message in journal.append(SHOES)]
        rounds = [event for event in made if event["type"] == "round"]
        hits = [event for event in made if event["type"] == "hit"]
        assert {event["chain"] for event in rounds} == {event["chain"] for event in hits}


def test_the_epoch_stays_and_the_boot_counts_openings(tmp_path: Path) -> None:
    told = []
    for _ in range(3):
        with closing(opened(tmp_path / "j")) as journal:
            told.append((journal.epoch, journal.boot))
    assert [boot for _, boot in told] == [1, 2, 3]
    assert len({epoch for epoch, _ in told}) == 1


def test_two_journals_have_different_epochs_and_salts(tmp_path: Path) -> None:
    seen = []
    for name in ("a", "b"):
        with closing(opened(tmp_path / name)) as journal:
            journal.append(SHOES[:1])
        with closing(sqlite3.connect(tmp_path / name)) as db:
            seen.append((journal.epoch, *db.execute("SELECT salt FROM fact").fetchone()))
    (epoch_a, salt_a), (epoch_b, salt_b) = seen
    assert epoch_a != epoch_b
    assert salt_a != salt_b
    assert len(salt_a) == 16


def test_the_outbox_is_what_follows_a_number_and_no_more_than_asked(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        made = journal.append(SHOES)
        assert journal.messages_after(0, 1000) == made
        assert journal.messages_after(3, 2) == made[3:5]
        assert journal.messages_after(len(made), 5) == []
        assert journal.message(2) == made[1]
        assert journal.message(len(made) + 1) is None
        assert journal.message(0) is None


def test_the_pits_mark_is_kept_and_deletes_nothing(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        made = journal.append(SHOES)
        journal.mark_acked(4)
    with closing(opened(tmp_path / "j")) as journal:
        assert journal.acked_seq == 4
        assert journal.head_seq == len(made)
        assert journal.messages_after(0, 1000) == made


def test_the_open_shoe_begins_at_the_last_opening(copy: Path) -> None:
    with closing(opened(copy)) as journal:
        rows = list(journal.open_shoe())
        assert [row.number for row in rows] == list(range(OPENED_SECOND, len(SHOES) + 1))
        assert isinstance(rows[0].fact, ShoeOpened)
        assert rows[0].fact.shoe == 2
        whole = {row.number: row for row in read_rows(copy)}
        assert rows == [whole[row.number] for row in rows]


def test_an_opening_whose_step_failed_opened_nothing(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        journal.append(entries(shoe(1, 1)))
        failed = ShoeOpened(2, "dealer", RULES, CONFIG.digest, "test")
        stamp = Stamp(1_700_000_000_000, True)
        journal.append([Entry(stamp, failed, ()), Entry(stamp, StepFailed("ValueError in ShoeOpened"), ())])
        first = next(iter(journal.open_shoe()))
        assert isinstance(first.fact, ShoeOpened)
        assert first.fact.shoe == 1


def test_a_journal_without_a_shoe_replays_from_its_first_row(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")) as journal:
        journal.append(entries([CardDrawn(Card.parse("KS"))]))
        assert [row.number for row in journal.open_shoe()] == [1]


def test_verify_tells_what_it_found(copy: Path) -> None:
    good = verify(copy)
    with closing(opened(copy)) as journal:
        assert good == Verified(TABLE, journal.epoch, len(SHOES), journal.head_seq, good.head)
        assert len(good.head) == 32


@pytest.mark.parametrize("name", ["table 1?.journal", "table#1.journal", "100%25.journal"])
def test_verify_reads_the_file_it_is_given_whatever_its_name(copy: Path, name: str) -> None:
    odd = copy.rename(copy.with_name(name))
    assert verify(odd).rows == len(SHOES)


def test_verify_a_journal_that_has_no_rows_yet(tmp_path: Path) -> None:
    opened(tmp_path / "j").close()
    assert verify(tmp_path / "j").rows == 0


def test_verify_names_a_missing_journal(tmp_path: Path) -> None:
    with raising("journal_missing"):
        verify(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_verify_while_the_table_runs(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with closing(opened(path)) as journal:
        journal.append(SHOES[:1])
        failed: list[BaseException] = []

        def append_all() -> None:
            try:
                table = Table(RULES)
                table, _ = step(table, SHOES[0].fact)
                for number in range(2, 40):
                    journal.append(entries(shoe(number, 0)[:1], table))
            except BaseException as error:  # noqa: BLE001  # a thread is read by nobody: the test looks at it
                failed.append(error)

        writer = threading.Thread(target=append_all)
        writer.start()
        seen = []
        while writer.is_alive():
            seen.append(verify(path).rows)
        writer.join()
    assert not failed
    assert seen == sorted(seen)
    assert verify(path).rows == 39


# Whose journal it is.


def test_one_process_a_journal(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j")), raising("journal_in_use"):
        opened(tmp_path / "j")
    opened(tmp_path / "j").close()


def test_another_process_is_kept_away_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    program = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from controller.daemon.record.journal import Journal
        from controller.contract.keys import SigningKey
        key = SigningKey(bytes(range(32)))
        journal = Journal(Path(sys.argv[1]), {TABLE!r}, key, key.public)
        print("open", flush=True)
        sys.stdin.read()
    """
    path = tmp_path / "j"
    command = [sys.executable, "-c", forks.ALIKE + textwrap.dedent(program), str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with raising("journal_in_use"):
            opened(path)
        other.kill()
    opened(path).close()


REFUSED_OPENINGS: dict[str, tuple[str, Callable[[Path], Journal]]] = {
    "another table": ("journal_of_another_table", lambda path: opened(path, table_id="royal9-02")),
    "another key": ("journal_of_another_key", lambda path: opened(path, key=OTHER_KEY)),
}


@pytest.mark.parametrize("case", REFUSED_OPENINGS)
def test_a_refused_opening_changes_nothing_and_lets_go(copy: Path, case: str) -> None:
    code, open_it = REFUSED_OPENINGS[case]
    before = copy.read_bytes()
    with raising(code):
        open_it(copy)
    assert copy.read_bytes() == before
    with closing(opened(copy)) as journal:
        assert journal.boot == 2


def test_a_newer_form_is_left_alone(copy: Path) -> None:
    with tampering(copy) as db:
        db.execute("PRAGMA user_version = 99")
    before = copy.read_bytes()
    for look in (opened, verify):
        with raising("journal_too_new"):
            look(copy)
    assert copy.read_bytes() == before


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "addresses.db"
    with tampering(path) as db:
        db.execute("CREATE TABLE address (name TEXT)")
    before = path.read_bytes()
    for look in (opened, verify):
        with raising("journal_damaged"):
            look(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with raising("journal_unusable"):
        opened(tmp_path / "file" / "j")


def test_a_folder_in_the_journals_place(tmp_path: Path) -> None:
    (tmp_path / "j").mkdir()
    with raising("journal_unusable"):
        opened(tmp_path / "j")


# Damage inside: the first bad row is named.

ROWS = len(SHOES)
WITH_MESSAGES = [place for place, entry in enumerate(SHOES, 1) if entry.events]
SILENT = [place for place, entry in enumerate(SHOES, 1) if not entry.events]


def _flip(path: Path, table: str, column: str, key: str, at: int, byte: int, bit: int) -> None:
    with tampering(path) as db:
        (value,) = db.execute(f"SELECT {column} FROM {table} WHERE {key} = ?", (at,)).fetchone()
        if isinstance(value, int):
            flipped: object = value ^ (1 << (bit % 40))
        elif isinstance(value, str):
            flipped = value[:-1] + chr(ord(value[-1]) ^ 1)
        else:
            changed = bytearray(value)
            changed[byte % len(changed)] ^= 1 << (bit % 8)
            flipped = bytes(changed)
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (flipped, at))


@examples(40)
@given(
    column=st.sampled_from(["fact", "salt", "head", "at_ms", "kind"]),
    row=st.integers(1, ROWS),
    byte=st.integers(0, 5000),
    bit=st.integers(0, 63),
)
def test_any_changed_bit_of_a_row_is_found_at_that_row(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, column: str, row: int, byte: int, bit: int
) -> None:
    path = shutil.copyfile(pristine, tmp_path_factory.getbasetemp() / "flipped.journal")
    _flip(path, "fact", column, "row", row, byte, bit)
    assert damaged_row(path) == row


@examples(20)
@given(seq=st.integers(1, sum(len(entry.events) for entry in SHOES)), byte=st.integers(0, 5000), bit=st.integers(0, 7))
def test_any_changed_bit_of_a_message_is_found_at_its_row(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, seq: int, byte: int, bit: int
) -> None:
    path = shutil.copyfile(pristine, tmp_path_factory.getbasetemp() / "flipped.journal")
    with tampering(path) as db:
        (row,) = db.execute("SELECT row FROM message WHERE seq = ?", (seq,)).fetchone()
    _flip(path, "message", "body", "seq", seq, byte, bit)
    assert damaged_row(path) == row


LAST_MESSAGE = sum(len(entry.events) for entry in SHOES)

TAMPERED: dict[str, tuple[str, int]] = {
    "the clock said it was synchronised": ("UPDATE fact SET clock_synchronised = 0 WHERE row = 3", 3),
    "a deleted row": ("DELETE FROM fact WHERE row = 6", 6),
    "a deleted first row": ("DELETE FROM fact WHERE row = 1", 1),
    "a deleted last row that said something": (f"DELETE FROM fact WHERE row = {ROWS}", ROWS - 1),
    "a deleted row and its messages": (
        f"DELETE FROM message WHERE row = {WITH_MESSAGES[1]}; DELETE FROM fact WHERE row = {WITH_MESSAGES[1]}",
        WITH_MESSAGES[1],
    ),
    "two rows swapped": (
        "UPDATE fact SET row = -row WHERE row IN (5, 6); UPDATE fact SET row = 11 + row WHERE row < 0",
        5,
    ),
    "an added message at a row that said nothing": (
        f"INSERT INTO message VALUES (999, {SILENT[0]}, CAST('{{}}' AS BLOB))",
        SILENT[0],
    ),
    "a deleted message": ("DELETE FROM message WHERE seq = 2", WITH_MESSAGES[1]),
    "a message of no row": (f"INSERT INTO message VALUES (999, {ROWS + 7}, CAST('{{}}' AS BLOB))", ROWS),
    "a message before the first": (f"INSERT INTO message VALUES (-1, {ROWS + 7}, CAST('{{}}' AS BLOB))", ROWS),
    "messages numbered otherwise": ("UPDATE message SET seq = seq + 100", WITH_MESSAGES[0]),
    "a message moved to another row": (f"UPDATE message SET row = {SILENT[0]} WHERE seq = 1", WITH_MESSAGES[0]),
    "an acknowledgement past the last event": (f"UPDATE journal SET acked_seq = {LAST_MESSAGE + 1}", ROWS),
    "an acknowledgement below nothing": ("UPDATE journal SET acked_seq = -1", ROWS),
    "another epoch": ("UPDATE journal SET epoch = 'deadbeef00'", WITH_MESSAGES[0]),
    "another table": ("UPDATE journal SET table_id = 'other'", WITH_MESSAGES[0]),
    "another public key": (f"UPDATE journal SET public_key = x'{OTHER_KEY.public.hex()}'", WITH_MESSAGES[0]),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_verify_names_the_first_bad_row(copy: Path, case: str) -> None:
    script, row = TAMPERED[case]
    with closing(sqlite3.connect(copy)) as db:
        db.executescript(script)
    assert damaged_row(copy) == row


def test_of_two_bad_rows_the_first_is_named(copy: Path) -> None:
    for row in (9, 4):
        _flip(copy, "fact", "salt", "row", row, 0, 0)
    assert damaged_row(copy) == 4


BROKEN_SQL = {
    "a public key that is none": "UPDATE journal SET public_key = x'00'",
    "no line about the journal": "DELETE FROM journal",
    "no facts": "DROP TABLE fact",
    "no messages": "DROP TABLE message",
    "no form": "PRAGMA user_version = 0",
    "a kind that is no text": "UPDATE fact SET kind = CAST(x'ff' AS TEXT) WHERE row = 2",
}


@pytest.mark.parametrize("case", BROKEN_SQL)
def test_what_is_no_sound_journal_is_told_as_damage(copy: Path, case: str) -> None:
    with closing(sqlite3.connect(copy)) as db:
        db.executescript(BROKEN_SQL[case])
    with raising("journal_damaged"):
        verify(copy)


@pytest.mark.parametrize("garbage", [b"[1]", b"{}", b'{"signature": 5}', b'{"signature": "AAAA"}', b"[" * 100_000])
def test_a_forged_message_that_fits_the_chain_still_lacks_the_signature(copy: Path, garbage: bytes) -> None:
    """A forged message is found, because a forger can recompute the hash chain but cannot sign without the key."""
    victim = WITH_MESSAGES[1]
    with tampering(copy) as db:
        db.execute("UPDATE message SET body = ? WHERE row = ?", (garbage, victim))
        head = GENESIS
        for row, at_ms, synchronised, fact, salt in db.execute(
            "SELECT row, at_ms, clock_synchronised, fact, salt FROM fact ORDER BY row"
        ).fetchall():
            bodies = [body for (body,) in db.execute("SELECT body FROM message WHERE row = ? ORDER BY seq", (row,))]
            head = chain_head(head, f"{at_ms} {synchronised} ".encode() + fact, bodies, salt)
            db.execute("UPDATE fact SET head = ? WHERE row = ?", (head, row))
    assert damaged_row(copy) == victim


# Damage to the file.


def test_every_zeroed_page_is_found(copy: Path) -> None:
    whole = copy.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    for start in range(0, len(whole), page):
        copy.write_bytes(whole[:start] + bytes(page) + whole[start + page :])
        with raising("journal_damaged"):
            verify(copy)


def test_every_truncation_is_found(copy: Path) -> None:
    whole = copy.read_bytes()
    for size in (0, 1, 99, 100, 511, *range(4096, len(whole), 4096), *range(5000, len(whole), 4096)):
        copy.write_bytes(whole[:size])
        with raising("journal_damaged"):
            verify(copy)


@examples(67)
@given(at=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_found_or_changed_nothing_of_the_rows(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, at: int, bit: int
) -> None:
    whole = bytearray(pristine.read_bytes())
    whole[at % len(whole)] ^= 1 << bit
    path = tmp_path_factory.getbasetemp() / "bit.journal"
    path.write_bytes(whole)
    try:
        found: object = verify(path)
    except TableError as error:
        found = error.code
    assert found in ("journal_damaged", "journal_too_new", "journal_unusable") or found == verify(pristine)


FILES: dict[str, Callable[[bytes], bytes]] = {
    "garbage": lambda whole: os.urandom(len(whole)),
    "text": lambda whole: b"This is no journal.\n" * 100,
    "zeros": lambda whole: bytes(len(whole)),
    "the first page zeroed": lambda whole: bytes(4096) + whole[4096:],
    "half a page": lambda whole: whole[:2048],
    "half the file": lambda whole: whole[: len(whole) // 2],
    "the last page gone": lambda whole: whole[:-4096],
}


@pytest.mark.parametrize("case", FILES)
def test_opening_a_damaged_file_says_so_and_changes_nothing(copy: Path, case: str) -> None:
    copy.write_bytes(FILES[case](copy.read_bytes()))
    before = copy.read_bytes()
    with raising("journal_damaged"):
        opened(copy)
    assert copy.read_bytes() == before
    wal = copy.with_name(copy.name + "-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_opening_refuses_an_acknowledgement_past_the_last_event(copy: Path) -> None:
    with tampering(copy) as db:
        db.execute("UPDATE journal SET acked_seq = 1000")
    with raising("journal_damaged"):
        opened(copy)


@pytest.mark.parametrize("row", [OPENED_SECOND, OPENED_SECOND + 3, ROWS])
def test_replaying_a_damaged_shoe_stops_at_the_damage(copy: Path, row: int) -> None:
    _flip(copy, "fact", "salt", "row", row, 3, 3)
    with closing(opened(copy)) as journal:
        good: list[Row] = []
        with raising("journal_damaged") as caught:
            good.extend(journal.open_shoe())
        assert f"at row {row}:" in caught.value.what


# A disk that is full.


def test_a_full_disk_writes_nothing_and_the_chain_goes_on_afterwards(tmp_path: Path) -> None:
    """Nothing is written on a full disk (simulated in a process with a file-size limit), and the hash chain stays
    whole."""
    assert exit_code(lambda: _on_a_full_disk(tmp_path / "j")) == 0
    assert verify(tmp_path / "j").rows == ROWS


def _on_a_full_disk(path: Path) -> None:
    journal = opened(path)
    journal.append(SHOES[:5])
    before = (journal.head_seq, verify(path))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    for _ in range(3):
        with pytest.raises(OSError):
            journal.append(SHOES[5:])
    with pytest.raises(OSError):
        journal.mark_acked(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert (journal.head_seq, verify(path)) == before, "something was half-written"
    assert journal.messages_after(before[0], 10) == []
    made = journal.append(SHOES[5:])
    assert made[0].seq == before[0] + 1
    journal.close()
    assert verify(path).rows == len(SHOES)


def test_a_batch_is_committed_whole_or_not_at_all(tmp_path: Path) -> None:
    class Broken(SigningKey):
        left = 3

        def sign(self, data: bytes) -> bytes:
            self.left -= 1
            if self.left < 0:
                raise MemoryError
            return super().sign(data)

    key = Broken(bytes(range(32)))
    journal = Journal(tmp_path / "j", TABLE, key, key.public)
    with pytest.raises(MemoryError):
        journal.append(SHOES)
    assert verify(tmp_path / "j").rows == 0
    key.left = 1000
    journal.append(SHOES)
    journal.close()
    assert verify(tmp_path / "j").rows == ROWS
