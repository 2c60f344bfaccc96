"""Checks that a damaged journal never causes a traceback. Verifying it, reading it, or starting a table with it either
finds the journal sound or reports the damage."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import random
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.config import Config
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import verify
from controller.daemon.record.replay import replay
from controller.people.cli.main import main
from tests.daemon.daemon_world import KEY, table_config
from tests.fuzz.fuzzing import change_json, growth
from tests.fuzz.journals import damaged, rechained, write_journal
from tests.support import samples

_TOLD = {
    "journal_damaged",
    "journal_missing",
    "journal_of_another_key",
    "journal_of_another_table",
    "journal_too_new",
    "journal_unusable",
    "fact_unreadable",
    "replay_failed",
    "no_such_round",
}
_HANGS_AFTER_S = 120  # only so that a hang names its place


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return table_config(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, config: Config) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "journal"
    write_journal(path, config, 6)
    return path.read_bytes()


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, config: Config) -> bytes:
    path = tmp_path_factory.mktemp("other") / "journal"
    write_journal(path, config, 4)
    return path.read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yield the path at which damaged journals are written. It is in memory if possible, because each journal is synced
    and a disk would be slow."""
    memory = Path("/dev/shm")
    folder = memory / f"fuzz-{tmp_path.name}-{id(tmp_path)}" if memory.is_dir() else tmp_path
    folder.mkdir(exist_ok=True)
    yield folder / "journal"
    shutil.rmtree(folder, ignore_errors=True)


def _lay(path: Path, data: bytes, beside: bytes | None = None) -> None:
    """Write a journal's file with the bytes `data` at `path`, and remove all other files of the journal. If `beside` is
    given, it becomes the journal's write-ahead log."""
    for leftover in path.parent.iterdir():
        leftover.unlink()
    path.write_bytes(data)
    if beside is not None:
        path.with_name(path.name + "-wal").write_bytes(beside)


def _examine(path: Path, config: Config) -> dict[str, str]:
    """Read the journal in each way that the program has. Return a dictionary from the way to "sound" or to the code of
    the error."""
    ways: dict[str, Callable[[], object]] = {
        "verify": lambda: verify(path),
        "rounds": lambda: _shell("rounds", str(path)),
        "replay": lambda: _shell("replay", str(path), "1/2"),
        "run": lambda: _run(path, config),
    }
    faulthandler.dump_traceback_later(_HANGS_AFTER_S, exit=True)
    return {way: _outcome(read) for way, read in ways.items()}


def _outcome(read: Callable[[], object]) -> str:
    try:
        read()
    except TableError as error:
        told = error
    else:
        return "sound"
    assert told.code in _TOLD, told
    assert told.what.endswith(".")
    assert told.do.endswith(".")
    return told.code


def _shell(*arguments: str) -> None:
    """Run `tablectl` with these arguments. Raises TableError if the command printed an error to standard error and
    ended with an error code."""
    with contextlib.redirect_stdout(StringIO()) as out, contextlib.redirect_stderr(StringIO()) as err:
        code = main([*arguments])
    said = err.getvalue()
    if code == 0:
        assert said == ""
        assert out.getvalue(), "it shows what it was asked for"
        return
    assert code == 1
    told = re.fullmatch(r"([a-z_]+): (.+)\n  what to do: (.+)\n", said, re.DOTALL)
    assert told, said
    raise TableError(*told.groups())


def _run(path: Path, config: Config) -> None:
    journal = Journal(path, config.file.table.id, KEY, KEY.public)
    try:
        replay(journal.open_shoe(), config.rules, config.file.table.id, journal.epoch)
    finally:
        journal.close()


def _harm(path: Path, whole: bytes, other: bytes, config: Config, seed: int, count: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for number in range(count):
        luck = random.Random(f"{seed} {number}")
        data = damaged(luck, whole, other)
        _lay(path, data)
        try:
            came_to = _examine(path, config)
        except Exception as error:
            raise AssertionError(f"seed {seed}, journal {number}") from error
        # What `verify` calls sound can be read. It can be run too, unless SQLite would only read it.
        if came_to["verify"] == "sound":
            assert came_to["rounds"] == came_to["replay"] == "sound", (seed, number, came_to)
            assert came_to["run"] in ("sound", "journal_unusable"), (seed, number, came_to)
        seen.update(came_to.values())
    return seen


def test_a_whole_journal_is_sound_in_every_way(place: Path, whole: bytes, config: Config) -> None:
    _lay(place, whole)
    assert set(_examine(place, config).values()) == {"sound"}


def test_a_sample_of_harmed_journals(place: Path, whole: bytes, other: bytes, config: Config) -> None:
    seen = _harm(place, whole, other, config, seed=1, count=10)
    assert seen["journal_damaged"] > 8


@pytest.mark.proof
def test_harmed_journals(
    place: Path, whole: bytes, other: bytes, config: Config, figure: Callable[[str], None]
) -> None:
    count = 1_000
    seen = _harm(place, whole, other, config, seed=2, count=count)
    told = ", ".join(f"{ways:,} {code}" for code, ways in seen.most_common())
    figure(f"{count:,} harmed journals, each read in four ways, no traceback: {told}")


@pytest.mark.proof
def test_reading_harmed_journals_leaves_nothing_in_memory(
    place: Path, whole: bytes, other: bytes, config: Config
) -> None:
    luck = random.Random(1)

    def read(data: bytes) -> None:
        _lay(place, data)
        _examine(place, config)

    assert growth(read, lambda: (damaged(luck, whole, other) for _ in range(4))) < 4 * len(whole) // 10


def test_a_harmed_wal_costs_what_was_in_it_and_no_more(place: Path, config: Config) -> None:
    """If the write-ahead log is damaged, only rows that were in it are lost. The log has checksums of its own, so a
    damaged part counts as never written."""
    place.parent.mkdir(exist_ok=True)
    write_journal(place, config, 1)
    journal = Journal(place, config.file.table.id, KEY, KEY.public)
    journal.mark_acked(3)
    whole, wal = place.read_bytes(), place.with_name(place.name + "-wal").read_bytes()
    journal.close()
    assert len(wal) > 4096
    for number in range(40 if samples.at_length else 8):
        luck = random.Random(number)
        _lay(place, whole, damaged(luck, wal, whole))
        _examine(place, config)


def test_another_programs_database_is_no_journal(place: Path, config: Config) -> None:
    for version, schema in ((0, "CREATE TABLE hits (n)"), (1, "CREATE TABLE hits (n)"), (1, "CREATE TABLE fact (row)")):
        _lay(place, b"")
        with closing(sqlite3.connect(place)) as db:
            db.execute(schema)
            db.execute(f"PRAGMA user_version = {version}")
        assert _outcome(lambda: _run(place, config)) == "journal_damaged"
        assert _outcome(lambda: verify(place)) == "journal_damaged"


# A forger who knows the chain but not the key.


def _forged(place: Path, whole: bytes, config: Config, seed: int, count: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for number in range(count):
        luck = random.Random(f"{seed} {number}")
        _lay(place, whole)
        with closing(sqlite3.connect(place)) as db:
            rows = db.execute("SELECT count(*) FROM fact").fetchone()[0]
        at = luck.randint(1, rows)

        def change(row: int, kind: str, fact: bytes, luck: random.Random = luck, at: int = at) -> tuple[str, bytes]:
            if row != at:
                return kind, fact
            changed = change_json(luck, fact, (), ())
            with contextlib.suppress(ValueError, AttributeError):
                value = json.loads(changed)
                return str(value.get("fact", kind)), canonical(value)
            return kind, changed

        rechained(place, change)
        try:
            came_to = _examine(place, config)
        except Exception as error:
            raise AssertionError(f"seed {seed}, journal {number}, row {at}") from error
        if came_to["verify"] == "sound":
            assert came_to["rounds"] == "sound", (seed, number, came_to)
            assert came_to["replay"] in ("sound", "replay_failed"), (seed, number, came_to)
        seen.update(came_to.values())
    return seen


def test_a_sample_of_forged_facts(place: Path, whole: bytes, config: Config) -> None:
    seen = _forged(place, whole, config, seed=1, count=10)
    assert seen["fact_unreadable"] > 3


@pytest.mark.proof
def test_forged_facts(place: Path, whole: bytes, config: Config, figure: Callable[[str], None]) -> None:
    count = 600
    seen = _forged(place, whole, config, seed=2, count=count)
    told = ", ".join(f"{ways:,} {code}" for code, ways in seen.most_common())
    figure(f"{count:,} forged journals whose chain fits, each read in four ways, no traceback: {told}")
