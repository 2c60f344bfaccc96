"""Checks `pitctl events`, which prints the events that the pit committed, so that people can compare them with a
table's journal."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from controller.people.cli import programs
from controller.people.cli.client import status_of
from controller.people.cli.main import main as tablectl
from controller.pit.reference.__main__ import main as pit
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from tests.bench.house import house, kill, until
from tests.daemon.test_journal import KEY, SHOES, TABLE, opened
from tests.pit.house import ROOT
from tests.support.brokers import needs_mosquitto

Printed = subprocess.CompletedProcess[bytes]
Told = pytest.CaptureFixture[str]


@dataclass
class Evening:
    """A table's journal file, with its epoch (the journal's random name) and the bodies of its events."""

    journal: Path
    epoch: str
    bodies: list[bytes]


def played(journal: Path, entries: int = len(SHOES)) -> Evening:
    """Write the journal of a table that has dealt some shoes, under a new epoch (the journal's random name). The
    journal gets only the first `entries` entries of SHOES."""
    writer = opened(journal)
    try:
        return Evening(journal, writer.epoch, [message.body for message in writer.append(SHOES[:entries])])
    finally:
        writer.close()


def commit(ledger: Ledger, evening: Evening) -> None:
    ledger.adopt(TABLE, evening.epoch, KEY.public.hex())
    received = ledger.receive([(TABLE, body) for body in evening.bodies])
    assert (len(received.committed), received.refused) == (len(evening.bodies), ())


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with closing(Ledger(path)) as ledger:
        ledger.set_terms(default().meters)
        yield ledger


@pytest.fixture
def evening(ledger: Ledger, tmp_path: Path) -> Evening:
    """A table's journal, all of whose events are committed in the ledger."""
    evening = played(tmp_path / "table.journal")
    commit(ledger, evening)
    return evening


def events(path: Path, *words: str) -> Printed:
    """Run `pitctl events` as a separate process with these words, and return the finished process."""
    command = programs.python("-m", "controller.pit.reference", "events", "--ledger", str(path), *words)
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False)


def lines(path: Path, *words: str) -> list[bytes]:
    done = events(path, *words)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"" or done.stdout.endswith(b"\n")
    return done.stdout.split(b"\n")[:-1]


# A table, a pit and a broker.


@pytest.mark.proof
@pytest.mark.long
@needs_mosquitto
def test_a_tables_evening_is_printed_beside_the_running_pit_and_verifies(tmp_path: Path, capsys: Told) -> None:
    with house(tmp_path / "house") as running, running.daemon():
        until(lambda: status_of(running.table).pit.fresh, "the table to hear its pit")
        people = ["-m", "drivers.sim", str(running.table), "--account", str(running.folder / "account")]
        people += ["--rounds", "2", "--speed", "0", "--seed", "7"]
        subprocess.run(programs.python(*people), cwd=ROOT, check=True, capture_output=True)
        until(running.all_is_acknowledged, "the pit to commit the evening")
        ledger, journal, file = (running.folder / name for name in ("ledger", "table.journal", "pit.log.jsonl"))
        file.write_bytes(events(ledger, TABLE).stdout)
        kept = bodies_in(journal)
        assert file.read_bytes() == b"".join(body + b"\n" for body in kept)
        assert [json.loads(body)["type"] for body in kept].count("round") >= 2
        assert tablectl(["verify", str(journal), "--against", str(file)]) == 0
        assert (
            f"agrees from event 1 to its last, {len(kept)}; the journal ends with that event too"
            in capsys.readouterr().out
        )

        kill(running.pit)
        assert lines(ledger, TABLE) == kept, "what it had committed when it was killed"


def bodies_in(journal: Path) -> list[bytes]:
    with closing(sqlite3.connect(journal)) as db:
        return [body for (body,) in db.execute("SELECT body FROM message ORDER BY seq")]


# The lines.


def test_the_lines_are_the_bodies_as_they_came_however_they_lie_in_the_file(
    evening: Evening, ledger: Ledger, path: Path
) -> None:
    assert lines(path, TABLE) == lines(path, TABLE, "--epoch", evening.epoch) == evening.bodies
    assert [json.loads(body)["seq"] for body in evening.bodies] == list(range(1, len(evening.bodies) + 1))
    ledger.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE event SET number = 1000 - number")
    assert lines(path, TABLE) == evening.bodies


def test_two_epochs_are_kept_apart(evening: Evening, ledger: Ledger, path: Path, capsys: Told) -> None:
    later = played(evening.journal.with_name("new.journal"), entries=9)
    commit(ledger, later)
    assert lines(path, TABLE) == lines(path, TABLE, "--epoch", later.epoch) == later.bodies
    assert lines(path, TABLE, "--epoch", evening.epoch) == evening.bodies
    log = evening.journal.with_name("pit.log")
    log.write_bytes(events(path, TABLE).stdout)
    assert tablectl(["verify", str(evening.journal), "--against", str(log)]) == 1
    assert capsys.readouterr().err.startswith("log_of_another_journal: ")

    ledger.adopt(TABLE, evening.epoch, KEY.public.hex())  # the person was wrong, and goes back
    assert lines(path, TABLE) == evening.bodies


def test_an_epoch_of_which_nothing_came_is_an_empty_log(ledger: Ledger, path: Path) -> None:
    ledger.adopt(TABLE, "beef", KEY.public.hex())
    assert lines(path, TABLE) == []


def test_a_pit_that_writes_is_not_waited_for(evening: Evening, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM event")
        assert lines(path, TABLE) == evening.bodies, "what is not committed is not seen"
        db.execute("ROLLBACK")


def test_the_files_of_a_killed_pit_are_read_and_left_as_they_were(evening: Evening, path: Path, tmp_path: Path) -> None:
    killed = [tmp_path / "killed", tmp_path / "killed-wal"]
    for file, left in zip((path, path.with_name(path.name + "-wal")), killed, strict=True):
        shutil.copyfile(file, left)
    before = [file.read_bytes() for file in killed]
    assert lines(killed[0], TABLE) == evening.bodies
    assert [file.read_bytes() for file in killed] == before


# What is not there.


def test_an_unknown_table_or_epoch_is_told_with_those_that_are_known(evening: Evening, path: Path) -> None:
    for words, code, known in (
        (("royal9-77",), "table_unknown", TABLE),
        ((TABLE, "--epoch", "beef"), "epoch_unknown", evening.epoch),
        (("royal9-77", "--epoch", evening.epoch), "table_unknown", TABLE),
    ):
        done = events(path, *words)
        assert (done.returncode, done.stdout) == (1, b"")
        first, do = done.stderr.decode().splitlines()
        assert first.startswith(f"{code}: ")
        assert first.endswith(f" {known}.")
        assert do.startswith("  what to do: ")


def test_a_ledger_that_is_none_is_told_and_left_as_it_was(tmp_path: Path, capsys: Told) -> None:
    def code(path: Path) -> str:
        assert pit(["events", "--ledger", str(path), TABLE]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        return told.err.partition(":")[0]

    path = tmp_path / "ledger?.sqlite"
    assert code(path) == "ledger_missing"
    assert not path.exists()
    assert code(tmp_path) == "ledger_missing"
    path.touch()
    assert code(path) == "ledger_of_another_program"
    assert path.read_bytes() == b""
    path.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    assert code(path) == "ledger_damaged"
    assert code(played(tmp_path / "table.journal").journal) == "ledger_of_another_program"
    Ledger(tmp_path / "later").close()
    with closing(sqlite3.connect(tmp_path / "later")) as db:
        db.execute("PRAGMA user_version = 99")
    assert code(tmp_path / "later") == "ledger_too_new"


@pytest.mark.parametrize("entries", [6, len(SHOES)], ids=["less than a buffer", "more than one"])
def test_a_reader_that_goes_away_is_no_trouble(
    ledger: Ledger, path: Path, tmp_path: Path, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    commit(ledger, played(tmp_path / "table.journal", entries))
    assert (size := sum(map(len, lines(path, TABLE)))) > 0
    assert (size > io.DEFAULT_BUFFER_SIZE) == (entries == len(SHOES))
    command = programs.python("-m", "controller.pit.reference", "events", "--ledger", str(path), TABLE)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_events_are_searched_by_time_and_type_and_table(
    evening: Evening, path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def found(*words: str) -> list[bytes]:
        assert pit(["events", "--ledger", str(path), *words]) == 0
        return capsysbinary.readouterr().out.splitlines()

    told = [json.loads(body) for body in evening.bodies]
    moments = sorted({event["at"] for event in told})
    since, before, type_ = moments[len(moments) // 3][:19], moments[-1][:19], told[-1]["type"]
    asked = [TABLE, "--since", since, "--before", before]
    assert [json.loads(line) for line in found(*asked)] == [event for event in told if since <= event["at"] < before]
    assert [json.loads(line) for line in found(TABLE, "--type", type_, "--type", "fault")] == [
        event for event in told if event["type"] in (type_, "fault")
    ]
    of_every_table = [json.loads(line)["event"] for line in found("--type", type_)]
    assert of_every_table == [event for event in told if event["type"] == type_]
    sheet = found("--csv", "--type", type_)
    assert len(sheet) == 1 + len(of_every_table), "the heading stands in the spreadsheet too"
    for wrong, said in (("--since", b"is no time"), ("--type", b"is no type of an event, is hit meant?")):
        with pytest.raises(SystemExit):
            pit(["events", "--ledger", str(path), TABLE, wrong, "hitt"])
        assert said in capsysbinary.readouterr().err
