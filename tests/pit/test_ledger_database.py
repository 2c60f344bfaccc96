"""Checks a ledger in PostgreSQL for what a ledger in a file cannot do: several pits take over from each other, and a
replica confirms each commit."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from paho.mqtt.client import MQTTMessageInfo

from controller.basics.errors import TableError
from controller.pit.reference import ledger_database, service
from controller.pit.reference.__main__ import main
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.ledger_database import LedgerDatabase
from controller.pit.reference.service import Pit
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.house import TABLE, Far, House, ack
from tests.pit.postgresql import Server, needs_postgresql, rows, servers, write
from tests.pit.test_meters import TERMS, balanced, code_of, give, opened
from tests.support import samples
from tests.support.brokers import needs_mosquitto
from tests.support.errors import raising
from tests.support.ledgers import meet
from tests.support.pit_process import PitProcess
from tests.support.waiting import PATIENCE_S, until

pytestmark = needs_postgresql
HIT = (1, "player_personal")


def quiet(what: str) -> None:
    """Ignore what a pit reports while it waits to become the leader. A test passes this function instead of one that
    prints."""


def expire(at: str) -> None:
    """Set the time until which the leader may lead, in the database, to a past moment, as if the leading pit had been
    silent for too long."""
    write(at, "UPDATE leadership SET until = '-infinity'")


def database_of(ledger: Ledger) -> LedgerDatabase:
    assert isinstance(ledger._db, LedgerDatabase)
    return ledger._db


def heard(ledger: Ledger, *tables: TableEvening) -> None:
    for table in tables:
        meet(ledger, table.table, table.state(), adopt_new=False)


# Who leads.


def test_a_frozen_leader_that_wakes_in_another_pits_term_commits_nothing(database: str) -> None:
    table = TableEvening("t-0")
    with closing(opened(database)) as first, closing(Ledger(database)) as second:
        give(first, table, table.lock(1))
        expire(database)
        second.serve(quiet)
        heard(second, table)
        with raising("leadership_lost") as told:
            first.receive([("t-0", table.void(1))])
        assert f"process {os.getpid()}" in told.value.what, "who leads now"
        assert code_of(lambda: first.take_step("t-0.1", "verified", "Ann")) == "leadership_lost"
        database_of(first)._prolonged_at_s = -10.0  # it last prolonged its time long ago
        assert code_of(first.refuse_if_taken_over) == "leadership_lost"
        assert rows(database, "SELECT max(seq) FROM event") == [(1,)]
        give(second, table, *table.sent[1:])
        balanced(second)


def test_a_leader_frozen_in_a_transaction_holds_nobody_up_and_nothing_of_it_is_kept(database: str) -> None:
    shorter = ledger_database._SETTINGS.replace("timeout = '3s'", "timeout = '50ms'")
    with closing(opened(database)) as first, closing(Ledger(database)) as second:

        def frozen() -> None:
            with first._db.transaction():
                first._db.execute("UPDATE meters_message SET next_seq = 1234567")
                database_of(first)._connection.execute(shorter.encode())  # not before: slow is not frozen
                with psycopg.connect(database, autocommit=True) as db:
                    db.execute("SET lock_timeout = '10s'")
                    db.execute("UPDATE leadership SET until = '-infinity'")  # waits for the frozen one's end
                second.serve(quiet)

        assert code_of(frozen) == "commit_unconfirmed"
        assert rows(database, "SELECT count(*) FROM meters_message WHERE next_seq = 1234567") == [(0,)]
        assert second.acks()["t-0"].seq == 0


def until_it_is(db: psycopg.Connection[Any], query: str, wanted: object) -> None:
    """Repeat the query until the database answers with `wanted`."""
    for _ in range(10_000):
        if db.execute(query.encode()).fetchone() == (wanted,):
            return
    pytest.fail(f"{query} never gave {wanted}")


def test_wherever_a_leader_freezes_in_a_transaction_its_server_counts_the_time(database: str) -> None:
    """The ledger sends its SQL statements one by one, and not in a pipeline, because the server counts no timeout
    within a pipeline. With a pipeline, a leading pit that freezes would keep its lock until it wakes."""
    states: list[object] = []
    with closing(opened(database)) as leader, psycopg.connect(database, autocommit=True) as db:
        ours = "SELECT state FROM pg_stat_activity WHERE pid = %s"
        (backend,) = leader._db.execute("SELECT pg_backend_pid()").fetchone()

        def values() -> Iterator[tuple[int, int]]:
            for seat in range(3):
                states.extend(db.execute(ours, (backend,)).fetchone() or ())
                yield 1, seat

        with leader._db.transaction():
            leader._db.execute("INSERT INTO hand (table_id, epoch, shoe, round) VALUES ('t-0', 'e', 1, 1)")
            leader._db.execute("INSERT INTO stake (hand, spot, price_cents) VALUES (1, 'royal9', 500)")
            leader._db.executemany("INSERT INTO wager (stake, seat) VALUES (?, ?)", values())
    assert states == ["idle in transaction"] * 3


def test_a_leader_whose_process_is_gone_is_followed_before_its_time_is_over(database: str) -> None:
    with closing(Ledger(database)) as second:
        first = opened(database)
        write(database, "UPDATE leadership SET until = 'infinity'")
        assert code_of(lambda: second.take_step("t-0.1", "paid", "Bob")) == "award_unknown", "a pit leads"
        database_of(first)._connection.close()  # the server learns of a killed process by the same end of its line
        follows = threading.Thread(target=second.serve, args=(quiet,), daemon=True)
        follows.start()
        follows.join(PATIENCE_S)
        assert database_of(second).leads


def test_a_former_leader_that_goes_takes_nothing_from_the_leader(database: str) -> None:
    with closing(opened(database)) as first, closing(Ledger(database)) as second, closing(Ledger(database)) as third:
        expire(database)
        second.serve(quiet)
        first.close()
        assert database_of(third)._is_led()
        second.close()
        assert not database_of(third)._is_led()


def test_a_leader_that_ends_leaves_at_once_and_terms_only_grow(database: str) -> None:
    first = opened(database)
    terms = rows(database, "SELECT term FROM leadership")
    first.close()
    with closing(opened(database)):
        assert terms < rows(database, "SELECT term FROM leadership")


def test_of_two_pits_one_leads_and_the_other_says_that_it_stands_by(database: str) -> None:
    said: list[str] = []
    with closing(opened(database)) as first:

        def leave_after(what: str) -> None:
            said.append(what)
            first.close()

        with closing(Ledger(database)) as second:
            second.serve(leave_after)
            assert second.levels() == {"big": 1_000, "small": 70}
    assert len(said) == 1
    assert f"process {os.getpid()}, leads" in said[0]


def test_a_person_decides_while_a_pit_leads_and_never_without(database: str) -> None:
    table = TableEvening("t-0")
    with closing(opened(database)) as leader, closing(Ledger(database)) as people:
        leader.others_wrote()
        give(leader, table, table.lock(1), table.finish(HIT), table.hit(*HIT, "big"))
        assert not leader.others_wrote(), "what it wrote itself"
        assert people.take_step("t-0.1", "verified", "Ann").step == "verified"
        assert leader.others_wrote()
        assert not leader.others_wrote()
        leader.close()
        assert code_of(lambda: people.take_step("t-0.1", "paid", "Bob")) == "pit_not_running"
    assert rows(database, "SELECT step FROM award") == [("verified",)]


def test_a_leader_that_looks_whether_people_may_decide_writes_nothing_meanwhile(database: str) -> None:
    with closing(opened(database)) as leader:
        database_of(leader)._prolonged_at_s = -10.0  # its time is to be prolonged, and not inside of a reading
        assert leader.undecidable() is None
        leader.refuse_if_taken_over()
        assert database_of(leader)._prolonged_at_s > 0


def test_an_award_is_paid_once_and_the_next_leader_decides_once_it_has_heard_its_tables(database: str) -> None:
    table = TableEvening("t-0")
    with closing(opened(database)) as first, closing(Ledger(database)) as second:
        give(first, table, table.lock(1, 2), table.finish(HIT), table.hit(*HIT, "big"))
        for step in ("verified", "paid"):
            first.take_step("t-0.1", step, "Bob" if step == "paid" else "Ann")
        expire(database)
        second.serve(quiet)
        assert code_of(lambda: second.take_step("t-0.1", "paid", "Bob")) == "tables_unheard"
        heard(second, table, TableEvening("t-1"))
        assert code_of(lambda: second.take_step("t-0.1", "paid", "Bob")) == "step_not_next"
        assert code_of(lambda: first.take_step("t-0.1", "paid", "Bob")) == "leadership_lost"
        assert second.account().paid_cents == 1_333
        balanced(second)


def test_pits_that_begin_one_ledger_at_the_same_time_begin_it_once(database: str) -> None:
    wrong: list[BaseException] = []

    def begin() -> None:
        try:
            Ledger(database).close()
        except (TableError, psycopg.Error) as error:
            wrong.append(error)

    both = [threading.Thread(target=begin) for _ in range(4)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert wrong == []
    assert rows(database, "SELECT count(*) FROM leadership") == [(1,)]


def test_a_pit_that_looks_just_before_another_begins_the_ledger_goes_on(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pit still starts if it finds no ledger in the database and another pit creates the ledger a moment later. An
    earlier version mistook the new database tables for those of another program, and stopped."""
    execute, looked = LedgerDatabase.execute, False

    def look(store: LedgerDatabase, statement: str, values: Sequence[object] = ()) -> psycopg.Cursor[Any]:
        nonlocal looked
        found = execute(store, statement, values)
        if not looked:
            looked = True
            Ledger(database).close()
        return found

    monkeypatch.setattr(LedgerDatabase, "execute", look)
    Ledger(database).close()
    assert rows(database, "SELECT count(*) FROM leadership") == [(1,)]


# What is no ledger, and what people are told.


def test_what_cannot_be_opened_is_told_in_words_and_without_the_password(database: str, server: Server) -> None:
    def told(url: str, begin: bool = True) -> TableError:
        with pytest.raises(TableError) as error:
            Ledger(url, begin)
        assert "secret" not in str(error.value)
        return error.value

    assert told(database, begin=False).code == "ledger_missing"
    assert rows(database, "SELECT 1 FROM pg_tables WHERE schemaname = current_schema()") == []
    assert told(database.replace("postgres@", "nobody:secret@")).code == "ledger_unreachable"
    assert told(f"postgresql://postgres:secret@/postgres?host={server.folder}/none").code == "ledger_unreachable"
    assert told("postgresql://postgres:secret@host/db?nonsense=1").code == "ledger_unusable"
    assert told("postgresql://postgres:secret@host/db?connect_timeout=soon").code == "ledger_unusable"
    write(database, "CREATE TABLE fact (number BIGINT)")
    assert told(database).code == "ledger_of_another_program"
    write(database, "DROP TABLE fact")
    Ledger(database).close()
    write(database, "UPDATE ledger_form SET form = 99")
    assert told(database).code == "ledger_too_new"


def test_a_password_is_not_in_the_command_that_an_alarm_shows(database: str) -> None:
    for with_password in (
        database.replace("postgres@", "postgres:secret@"),
        database.replace("postgres@", "postgres:%40secret@"),
        f"{database}&password=%40secret",
        f"{database}&sslpassword=secret",
    ):
        with closing(Ledger(with_password)) as ledger:
            with pytest.raises(TableError) as told:
                meet(ledger, "t-0", TableEvening("t-0").state(), adopt_new=False)
            assert "pitctl adopt t-0 " in told.value.do
            assert "secret" not in told.value.do


def test_the_commands_take_the_url_and_the_key_of_the_package(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.pit.reference.commands.options.OF_THE_PACKAGE_KEY", tmp_path / "key")
    where = ["--ledger", database]
    assert main(["award", "list", *where]) == 1
    assert capsys.readouterr().err.startswith("ledger_missing: ")
    assert main(["run", *where, "--broker", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().err.startswith("signing_key_missing: ")
    assert main(["run", "--ledger", str(tmp_path / "file"), "--broker", "127.0.0.1:1", "--replicated"]) == 1
    assert capsys.readouterr().err.startswith("not_replicated: ")
    opened(database).close()
    assert main(["key", *where]) == 0
    assert main(["rotate-key", *where]) == 0
    assert (tmp_path / "key.rotations").exists()
    with closing(opened(database)) as leader:
        assert main(["rotate-key", *where]) == 1
        assert capsys.readouterr().err.startswith("ledger_locked: ")
        give(leader, table := TableEvening("t-0"), table.lock(1))
    monkeypatch.setenv("LEDGER", database)  # as the package's command sets it
    for command in (["events", *where, "t-0"], ["alarms", *where], ["account"]):
        assert main(command) == 0
    assert table.sent[0].decode() in capsys.readouterr().out


# A leader and its broker.


class _Sent:
    """A fake connection that only records the topics of the messages that are published on it."""

    def __init__(self) -> None:
        self.topics: list[str] = []

    def publish(self, topic: str, *_: object, **__: object) -> MQTTMessageInfo:
        self.topics.append(topic)
        return MQTTMessageInfo(len(self.topics))


def test_a_leader_that_stood_still_says_nothing_before_it_has_looked_who_leads(database: str) -> None:
    with closing(opened(database)) as first, closing(Ledger(database)) as second:
        pit, sent = Pit(first, "nowhere", 1, "pit/v1", False, KEY), _Sent()
        link: Any = sent
        pit._look_who_leads()
        pit._say_meters(link)
        assert sent.topics == ["pit/v1/meters"]
        expire(database)
        second.serve(quiet)
        pit._looked_s -= 5.0  # as if the process had been frozen since
        database_of(first)._prolonged_at_s -= 5.0
        acked = first.acks()["t-0"]
        pit._listening = True
        pit._acknowledge("t-0", acked)
        for speak in (lambda: pit._say_acks(link), lambda: pit._publish(link, "pit/v1/key", b"")):
            assert code_of(speak) == "leadership_lost"
        assert sent.topics == ["pit/v1/meters"]


@needs_mosquitto
def test_a_leader_whose_broker_hangs_gives_up_its_place(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_METERS_AT_LEAST_EVERY_S", 0.1)
    monkeypatch.setattr(service, "_UNHEARD_S", 0.5)
    monkeypatch.setattr(ledger_database, "LEADS_FOR_S", 0.6)
    ended: list[str] = []

    def lead(first: Ledger) -> None:
        ended.append(code_of(Pit(first, "127.0.0.1", house.broker.port, "pit/v1", False, KEY).run))

    with ExitStack() as ends:
        house = House(tmp_path, ends)
        heard = Far(house.broker.port, "pit/v1/meters")
        ends.callback(heard.close)
        first = ends.enter_context(closing(opened(database)))
        pit = threading.Thread(target=lead, args=(first,))
        pit.start()
        heard.next()
        house.broker.process.send_signal(signal.SIGSTOP)
        second = ends.enter_context(closing(Ledger(database)))
        second.serve(quiet)  # stands by until nobody leads
        house.broker.process.send_signal(signal.SIGCONT)
        pit.join(PATIENCE_S)
        assert ended == ["leadership_lost"]


# What a replica confirms.


def confirming(primary: Server, names: str) -> None:
    """Make each commit on the primary wait until a replica with one of these names confirms it."""
    primary.query(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    primary.reload()
    with psycopg.connect(primary.url, autocommit=True) as db:
        until_it_is(db, "SELECT current_setting('synchronous_standby_names')", names)


def leading(url: str) -> Ledger:
    """Return a ledger of a pit that is the leader, with one adopted table. Each of the ledger's commits waits for the
    replica."""
    ledger = Ledger(url, replicated=True)
    ledger.serve(quiet)
    ledger.set_terms(TERMS)
    ledger.adopt("t-0", EPOCH, KEY.public.hex())
    return ledger


def test_a_commit_counts_once_the_replica_confirmed_it_and_never_where_postgresql_only_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with servers("primary", "replica") as (primary, replica):
        replica.follow(primary)
        replica.start()
        replica.until_it_receives()
        confirming(primary, "replica")
        table = TableEvening("t-0")
        with closing(leading(primary.url)) as ledger:
            give(ledger, table, table.lock(1))
        ways = ("cancelled", "emptied", *(("timed out", "terminated") if samples.at_length else ()))
        for count, how in enumerate(ways, 2):
            _unconfirmed(primary, table, how, monkeypatch)
            assert rows(primary.url, "SELECT count(*) FROM event") == [(count,)], "here, and perhaps nowhere else"
            _stays_off(primary, monkeypatch)
            confirming(primary, "replica")
            expire(primary.url)
            with closing(leading(primary.url)) as ledger:
                assert ledger.acks()["t-0"].seq == count, "now that a later commit is confirmed, this one is"
            primary.stop()
            replica_has(replica, count)
            primary.start()
            replica.until_it_receives()


def replica_has(replica: Server, events: int) -> None:
    """Wait until the replica has this many events. The primary must be stopped before, so that the replica can only get
    events that are on its own disk."""
    with psycopg.connect(replica.url, autocommit=True) as db:
        until_it_is(db, "SELECT count(*) FROM event", events)


def _unconfirmed(primary: Server, table: TableEvening, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit an event on the primary although no replica confirms the commit. `how` says how the wait for the
    confirmation ends, for example "timed out"."""
    ledger = leading(primary.url)
    (backend,) = ledger._db.execute("SELECT pg_backend_pid()").fetchone()
    confirming(primary, "nobody")
    if how == "timed out":
        monkeypatch.setattr(ledger_database, "_COMMIT_S", 0.1)
    told: list[TableError] = []

    def receive() -> None:
        try:
            ledger.receive([("t-0", table.lock(1))])
        except TableError as error:
            told.append(error)

    waits = threading.Thread(target=receive)
    waits.start()
    with psycopg.connect(primary.url, autocommit=True) as db:
        if how != "timed out":
            until_it_is(db, f"SELECT wait_event FROM pg_stat_activity WHERE pid = {backend}", "SyncRep")
        if how == "cancelled":
            db.execute(f"SELECT pg_cancel_backend({backend})".encode())
        elif how == "terminated":
            db.execute(f"SELECT pg_terminate_backend({backend})".encode())
        elif how == "emptied":
            confirming(primary, "")
        waits.join(PATIENCE_S)
    assert [error.code for error in told] == ["commit_unconfirmed"], f"{how}: to three of four it says COMMIT"
    ledger._db.close()


def _stays_off(primary: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that no pit becomes the leader while no replica confirms commits."""
    with psycopg.connect(primary.url) as db:
        db.execute("SET synchronous_commit = local")
        db.execute("UPDATE leadership SET until = '-infinity'")
    monkeypatch.setattr(ledger_database, "_COMMIT_S", 0.1)
    with closing(Ledger(primary.url, replicated=True)) as again:
        assert code_of(lambda: again.serve(quiet)) == "commit_unconfirmed"
        assert not again._db.leads
    monkeypatch.undo()


# As processes.


@needs_mosquitto
def test_when_the_leader_is_killed_or_frozen_another_pit_goes_on_and_nothing_is_lost(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Ledger(database).close()
    key = ("--signing-key", str(tmp_path / "key"))
    assert main(["key", "--ledger", database, *key]) == 0
    with ExitStack() as ends:
        house = House(tmp_path, ends)
        _fail_over(database, house.far(), lambda: house.pit("--adopt-new", *key, ledger=database))


def _fail_over(database: str, far: Far, pit: Callable[[], PitProcess]) -> None:
    table = TableEvening(TABLE, ["grand"])
    first = pit()
    until(first.err, "listening below")
    second = pit()
    until(second.err, "standing by")
    far.publish(f"pit/v1/{TABLE}/state", table.state(0), retain=True)
    far.send_events(table.lock(1))
    far.ack(ack(1))
    first.process.kill()
    until(second.err, "listening below")
    far.send_events(*table.sent, table.void(1))
    far.ack(ack(2))
    third = pit()
    until(third.err, "standing by")
    second.process.send_signal(signal.SIGSTOP)
    until(third.err, "listening below")
    far.send_events(table.lock(2))
    far.ack(ack(3))
    second.process.send_signal(signal.SIGCONT)
    until(second.err, "leadership_lost")
    until(second.err, "standing by")
    far.send_events(table.void(2))
    far.ack(ack(4))
    third.process.send_signal(signal.SIGTERM)
    until(second.err, "listening below")
    far.send_events(table.lock(3))
    far.ack(ack(5))
    assert rows(database, "SELECT seq, body FROM event ORDER BY number") == list(enumerate(table.sent, 1))
    with closing(Ledger(database)) as ledger:
        balanced(ledger)
