"""Checks that a damaged ledger file of a pit never causes a traceback: every command that reads it finds it sound or
reports the damage."""

from __future__ import annotations

import contextlib
import faulthandler
import gzip
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import pytest

from controller.basics.errors import TableError
from controller.pit.reference.__main__ import main
from controller.pit.reference.asked import Decision, parse
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.service import Pit
from controller.pit.reference.session import Session
from tests.fuzz.journals import damaged
from tests.support.ledgers import unheard_steps

_FORM_6 = Path(__file__).parents[1] / "pit" / "ledger_form_6.sqlite.gz"
_HANGS_AFTER_S = 120  # only so that a hang names its place
_SAMPLE, _PROOF = 24, 600
_COMMANDS = (
    ("account",),
    ("award", "list", "--all"),
    ("alarms",),
    ("events", "t-0"),
    ('{"do":"verify","award":"t-1.1"}',),
    ('{"do":"recall","award":"t-1.1"}',),
    ('{"do":"reject","award":"t-1.1"}',),
    (f'{{"do":"adopt","table":"t-0","epoch":"beef","key":"{"77" * 32}"}}',),
    ('{"do":"unadopt","table":"t-1","epoch":"ab12cd","reason":"tried"}',),
    ('{"do":"retire","table":"t-0","reason":"tried"}',),
    ("decisions",),
    ("run", "--broker", "127.0.0.1:1"),
)
_CODES = "|".join(
    (
        "ledger_damaged",
        "ledger_unusable",
        "ledger_locked",
        "ledger_of_another_program",
        "ledger_too_new",
        "ledger_too_old",
        "ledger_replaced",
        "table_unknown",
        "award_unknown",
        "award_told",
        "award_paid",
        "award_incomplete",
        "adoption_unknown",
        "nothing_to_recall",
        "step_not_next",
        "meter_left_out",
        "epoch_of_another_key",
        "does not balance",
        "pit",
    )
)
_TOLD = re.compile(rf"(?:{_CODES}): ")
_NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, -(2**63))
_TEXTS = ("", "1/0", "x", "-1", "\x00", "9" * 5_000, "1e999", "a~b", "paid", "pending")
_BLOBS = (b"", b"\xff", b"[", b"{}", b"null", b'{"type":"hit"}', b"[" * 100_000, b'{"type":"wagers_locked"}')


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def _decidable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace two parts of the program for the tests of this file. Decisions on awards are allowed although no pit
    runs. The command that runs a pit reads the ledger once and ends."""

    def look(pit: Pit) -> NoReturn:
        ledger = pit._ledger
        for read in (ledger.acks, ledger.levels, ledger.undecidable, ledger.terms):
            read()
        for table in ledger.acks():
            unheard_steps(ledger, table)
        raise SystemExit(0)

    monkeypatch.setattr(Session, "refuse_decisions", lambda *_: None)
    monkeypatch.setattr(Pit, "run", look)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound ledger. It holds adopted tables, awards in every step, alarms, and a table's stream
    of events that was set aside. It also holds an award step that a table reported and that the ledger did not have."""
    path = tmp_path_factory.mktemp("whole") / "ledger"
    path.write_bytes(gzip.decompress(_FORM_6.read_bytes()))
    with closing(Ledger(path)) as ledger:
        ledger.adopt("t-2", "ab12cd", "11" * 32)
        ledger.unadopt("t-2", "ab12cd", "Ann", "tried")
        ledger.count_left_out("t-0", "body_differs", 3)
    return path.read_bytes()


def _with_another_cell(luck: random.Random, whole: bytes, path: Path) -> bytes:
    """Return the bytes of a ledger in which one value of one row was replaced by a value that the pit never wrote. The
    file itself stays a sound SQLite file."""
    path.write_bytes(whole)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
        table = luck.choice(tables)
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        _, name, kind, *_ = luck.choice(columns)
        value: Any = luck.choice({"INTEGER": _NUMBERS, "TEXT": _TEXTS, "BLOB": _BLOBS}[kind])
        with contextlib.suppress(sqlite3.IntegrityError):
            db.execute("PRAGMA ignore_check_constraints = ON")
            if luck.random() < 0.2:
                db.execute(f"DELETE FROM {table}")
            else:
                (rows,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
                one = f"(SELECT {name} FROM {table} LIMIT 1 OFFSET {luck.randrange(rows or 1)})"
                db.execute(f"UPDATE {table} SET {name} = ? WHERE {name} IS {one}", (value,))
    return path.read_bytes()


def _abuse(folder: Path, whole: bytes, seed: int, count: int) -> Counter[str]:
    """Run the commands that read a ledger on `count` damaged ledgers. Return how often they ended in each way."""
    luck, ends = random.Random(seed), Counter[str]()
    for number in range(count):
        path = folder / f"{seed}-{number}"
        other = luck.random() < 0.5
        harmed = _with_another_cell(luck, whole, path) if other else damaged(luck, whole, whole)
        for name, *words in luck.sample(_COMMANDS, 4) if count == _SAMPLE else _COMMANDS:
            for beside in ("-wal", "-shm", ".lock"):
                path.with_name(path.name + beside).unlink(missing_ok=True)
            path.write_bytes(harmed)
            act, words = (words[:1], words[1:]) if name == "award" else ([], words)
            faulthandler.dump_traceback_later(_HANGS_AFTER_S, exit=True)
            try:
                request = name.startswith("{")
                code, told = _decide(path, name) if request else _run([name, *act, "--ledger", str(path), *words])
            except Exception as error:
                raise AssertionError(f"seed {seed}, ledger {number}, {name} {act}: {path}") from error
            assert code in (0, 1), (seed, number, name)
            assert code == 0 or _TOLD.match(told), (seed, number, name, told)
            ends[told.partition(":")[0] if code else "well"] += 1
        path.unlink()
    return ends


def _decide(path: Path, request: str) -> tuple[int, str]:
    """Make a decision about an award on this ledger, as people at the pit do. Return an exit code and the text of the
    refusal."""
    decision = parse(request)
    assert isinstance(decision, Decision)
    try:
        with closing(Ledger(path, begin=False)) as ledger, ledger.at_once():
            decision.shown(ledger, None)
            decision.done(ledger, None, "Ann", "Bob")
    except TableError as refusal:
        return 1, str(refusal)
    return 0, ""


def _run(arguments: list[str]) -> tuple[int, str]:
    out, err = TextIOWrapper(BytesIO()), StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            return main(arguments), err.getvalue()
        except SystemExit as end:
            return int(end.code or 0), err.getvalue()


def test_a_sample_of_harmed_ledgers(tmp_path: Path, whole: bytes) -> None:
    ends = _abuse(tmp_path, whole, 1, _SAMPLE)
    assert ends["well"] > _SAMPLE // 4, "some harm meets nobody"
    assert ends["ledger_damaged"] > _SAMPLE // 4


@pytest.mark.proof
def test_harmed_ledgers(tmp_path: Path, whole: bytes, figure: Callable[[str], None]) -> None:
    ends = _abuse(tmp_path, whole, 2, _PROOF)
    told = ", ".join(f"{count:,} {how}" for how, count in ends.most_common())
    figure(f"{_PROOF:,} harmed ledgers under {len(_COMMANDS)} commands each: {told}")
