"""Checks the three PostgreSQL roles that config/ha/roles.sql makes: what each role may do in the ledger's database, and
what the server refuses."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.machines import write_files
from controller.pit.reference.standing import read_account, read_standing
from tests.pit.evening import TableEvening
from tests.pit.postgresql import Server, needs_postgresql
from tests.pit.test_meters import balanced, give, opened
from tests.support.errors import raising

pytestmark = needs_postgresql
_MODELS = Path(__file__).resolve().parents[2] / "config" / "ha"

_FOR_NOBODY = ("CREATE ROLE thief", "COPY event TO PROGRAM 'true'", "ALTER SYSTEM SET fsync = off")
_NOT_FOR: Mapping[str, Sequence[str]] = {
    "leader": (),
    "people": (
        "INSERT INTO event (table_id, epoch, seq, body) SELECT table_id, epoch, seq + 1, body FROM event",
        "UPDATE event SET body = ''",
        "DELETE FROM event",
        "UPDATE award SET step = 'paid'",
        "UPDATE fund SET cents = 0",
        "INSERT INTO decision (after_event, what, subject, cents) VALUES (0, 'paid', 1, 0)",
        "DELETE FROM decided",
        "UPDATE proposal SET account = 'zoe'",
        "DELETE FROM refused",
        "TRUNCATE event",
        "UPDATE ledger_form SET form = 1",
        "DROP TABLE event",
        "CREATE TABLE mine ()",
    ),
    "reader": (
        "UPDATE leadership SET term = term + 1",
        "SELECT * FROM award FOR UPDATE",
        "CREATE TABLE mine ()",
        "CREATE TEMPORARY TABLE mine ()",
    ),
}


@pytest.fixture
def at(server: Server, tmp_path: Path) -> dict[str, str]:
    """The URLs of the ledger's database, by the name of the PostgreSQL role that connects. The shipped file roles.sql
    has prepared the database."""
    write_files(_MODELS, tmp_path / "machines")
    words = ["psql", server.url, "--quiet", "--no-psqlrc", "--file", str(tmp_path / "machines" / "two" / "roles.sql")]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return {role: server.url.replace("postgres@/postgres", f"{role}@/pit") for role in ("leader", "people", "reader")}


def test_each_role_does_its_own_work_and_the_server_refuses_the_rest(at: dict[str, str]) -> None:
    with raising("ledger_missing"):
        read_standing(at["reader"])
    with raising("ledger_unusable"):
        Ledger(at["people"])  # only the pit begins a ledger
    table = TableEvening("t-0")
    with closing(opened(at["leader"])) as pit:
        give(pit, table, table.lock(1), table.hit(1, "straight", "big"), table.finish((1, "straight")))
        with closing(Ledger(at["people"], begin=False)) as people:
            assert [award.id for award in people.awards()] == ["t-0.1"]
            for decide in (
                lambda: people.take_step("t-0.1", "verified", "Ann"),
                lambda: people.adopt("t-2", "9" * 32, "8" * 64),
            ):
                with raising("ledger_unusable"):  # at the desk of the pit that leads, and nowhere else
                    decide()
        pit.take_step("t-0.1", "verified", "Ann")
        pit.take_step("t-0.1", "paid", "Ben")
        give(pit, table, table.lock(1))
        balanced(pit)
    with closing(Ledger(at["people"], begin=False)) as people:
        people.serve()  # as `rotate-key` does, while no pit runs
    assert read_standing(at["reader"]).paid_cents > 0
    assert read_account(at["reader"]).findings == ()
    names = _tables(at["leader"])
    assert len(names) > 20
    for role, acts in _NOT_FOR.items():
        with psycopg.connect(at[role], autocommit=True) as db:
            for act in (*acts, *_FOR_NOBODY):
                assert _refused(db, act), (role, act)
            for name in names if role == "reader" else ():
                for act in (f"DELETE FROM {name}", f"TRUNCATE {name}", f"INSERT INTO {name} DEFAULT VALUES"):
                    assert _refused(db, act), act


def _tables(address: str) -> list[str]:
    with psycopg.connect(address) as db:
        return [name for (name,) in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


def _refused(db: psycopg.Connection[Any], statement: str) -> bool:
    """Tell whether the server refuses the statement because the role lacks the right. Any other error is raised to the
    test."""
    try:
        db.execute(statement.encode())
    except errors.InsufficientPrivilege:
        return True
    return False
