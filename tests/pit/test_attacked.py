"""Checks that a broken or hostile sender cannot disturb the events of other tables."""

from __future__ import annotations

import json
import random
import signal
import string
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from paho.mqtt.enums import MQTTErrorCode

from controller.basics.errors import TableError
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord
from controller.pit.reference import alarms
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.ledger_file import LedgerFile
from controller.pit.reference.opening import Place
from controller.pit.reference.service import Pit, _ConnectionEndedError
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.house import TABLE, House, ack, state
from tests.pit.postgresql import over_both, rows
from tests.pit.test_meters import code_of, give, opened
from tests.pit.test_pit_service import event
from tests.support.brokers import needs_mosquitto
from tests.support.ledgers import meet
from tests.support.waiting import until


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


@over_both
def test_a_name_longer_than_any_is_refused_before_a_database_must_index_it(ledger: Ledger) -> None:
    """The pit refuses a message whose table name is too long. PostgreSQL cannot index a key of more than 2,704 bytes,
    so such a name in one retained state message once stopped every pit."""
    epoch = "".join(random.Random(1).choices(string.ascii_lowercase, k=100_000))
    for table, of in (("t-2", epoch), ("t-2", "e" * 61), ("t" * 61, "ab12cd")):
        said = json.dumps({"online": True, "table": table, "epoch": of, "public_key": KEY.public.hex()}).encode()
        assert code_of(partial(meet, ledger, table, said, adopt_new=True)) == "state_malformed"


@pytest.mark.parametrize("type_", ["fault", "fault_cleared"])
@pytest.mark.parametrize("code", [[], {"a": 1}, None, 10**400])
def test_an_old_event_of_any_code_is_committed(ledger: Ledger, type_: str, code: object) -> None:
    table = TableEvening("t-0")
    assert give(ledger, table, table.say(type_, contract=2, code=code)) == []


def test_true_is_no_version_of_the_contract(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    ((_, refusal),) = ledger.receive([("t-0", table.say("shoe_closed", contract=True))]).refused
    assert refusal.code == "event_malformed"


def test_what_no_word_of_the_pit_could_say_is_not_understood(ledger: Ledger) -> None:
    """The pit makes no award from an event with values beyond the contract's bounds, because such an award could never
    be settled. Examples: no table accepts an award at seat 100, and no table can read a step by a person whose name has
    300 letters.
    """
    table, levels = TableEvening("t-0"), ledger.levels()
    assert give(ledger, table, table.lock(1, price_cents=10**8 + 1)) == ["event_not_understood"]
    assert give(ledger, table, table.lock(100)) == ["event_not_understood"]
    assert give(ledger, table, hit := table.hit(100, "all", "big")) == ["event_not_understood"]
    assert give(ledger, table, table.award(hit, "paid", 5, "N" * 201)) == ["event_not_understood"]
    assert (ledger.levels(), ledger.awards()) == (levels, [])


def test_refusals_of_a_moment_are_one_transaction(path: Place) -> None:
    """The pit writes all refusals of one turn of its loop in one transaction. An earlier version made a transaction for
    each refusal. 10,000 invented tables then kept the true tables waiting for 29 s, because each transaction took three
    syncs of the disk."""
    with closing(opened(path)) as ledger:
        commits: list[str] = []
        assert isinstance(ledger._db, LedgerFile)
        ledger._db.connection.set_trace_callback(lambda said: commits.append(said) if said == "COMMIT" else None)
        pit = Pit(ledger, "127.0.0.1", 1, "pit/v1", False, KEY)
        for number in range(100):
            other = SigningKey(bytes([number] * 32))
            pit.link_message(f"pit/v1/x{number}/state", state(f"x{number}", key=other), True)
            pit.link_message("pit/v1/evil/state", state("evil", key=other), True)
            pit.link_message("pit/v1/evil/ack", b"[%d]" % number, True)
        pit._settle(pit._new_link())
        assert len(commits) == 1
    assert rows(path, "SELECT count(*) FROM key_seen") == [(120,)], "20 of one table"
    assert rows(path, "SELECT code, count(*) FROM refusal GROUP BY code") == [
        ("ack_forged", 1),
        ("epoch_of_another_key", 99),
        ("epoch_to_adopt", 101),
    ]


def test_a_key_that_the_disk_did_not_take_is_kept_with_the_next_refusal(
    path: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk is full when the pit wants to record a table's new key, the pit records the key together with the
    next refusal. An earlier version lost the key, so `pitctl adopt` did not know it until the table's next state
    message."""
    shown, other = SigningKey(b"\1" * 32), SigningKey(b"\2" * 32)
    with closing(opened(path)) as ledger:
        pit = Pit(ledger, "127.0.0.1", 1, "pit/v1", False, KEY)
        pit.link_message("pit/v1/x1/state", state("x1", key=shown), True)
        with monkeypatch.context() as broken:
            broken.setattr(alarms, "keep", refuse)
            pit._settle(pit._new_link())
        pit.link_message("pit/v1/x2/state", state("x2", key=other), True)
        pit._settle(pit._new_link())
    assert rows(path, "SELECT table_id FROM key_seen ORDER BY table_id") == [("x1",), ("x2",)]


def test_the_keys_that_wait_for_a_full_disk_are_bounded(path: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk is full, the pit keeps only a limited number of new keys in memory. In an earlier version without
    the limit, a table that showed ever new keys in one epoch filled the memory and slowed each search in its keys."""
    monkeypatch.setattr("controller.pit.reference.strangers._MOST_SHOWN", 3)
    with closing(opened(path)) as ledger:
        for number in range(5):
            shown = partial(meet, ledger, "x1", state("x1", key=SigningKey(bytes([number] * 32))), adopt_new=False)
            assert code_of(shown) == ("epoch_of_another_key" if number else "epoch_to_adopt")
        assert len(ledger._strangers.keys_seen("x1", EPOCH)) == 3


def test_the_heads_of_invented_tables_are_bounded_and_leave_room_for_an_adopted_table(
    path: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pit remembers the last event number of only a limited number of tables that nobody adopted. In an earlier
    version without the limit, each invented table name stayed in memory, with the event number of its state message."""
    monkeypatch.setattr("controller.pit.reference.session._MOST_HEADS", 5)
    with closing(opened(path)) as ledger:
        told = {table: state(table) for table in ("x1", "x2", "x3", "x4", "x5")}
        for table, said in told.items():
            assert code_of(partial(meet, ledger, table, said, adopt_new=False)) == "epoch_to_adopt"
        assert [*ledger._session._heads] == ["t-0", "t-1", "x1", "x2", "x3"]
        for table in ("x3", "x5"):
            ledger.adopt(table, EPOCH, KEY.public.hex())
            meet(ledger, table, told[table], adopt_new=False)
        assert [*ledger._session.heard(("x3", "x5"))] == ["x3", "x5"]


def refuse(*_: object) -> None:
    """Raise the error of a full disk."""
    raise TableError("ledger_unwritable", "The disk is full.", "Make room.")


class _Retaining:
    """A fake connection to a broker. It first delivers three acks that this pit had published earlier and that the
    broker retained. It ends a few turns of the pit's loop later."""

    taken_over = closed_by_broker = False

    def __init__(self, pit: Pit) -> None:
        self._pit, self._turns = pit, 0

    def loop(self, _wait_s: float) -> MQTTErrorCode:
        self._turns += 1
        if self._turns == 1:
            for table in ("t-0", "t-1", "t-2"):
                word = AckWord(table, "ab12cd", 5, "5" * 64, "2025-12-31T18:03:00.000Z")
                self._pit.link_message(f"pit/v1/{table}/ack", word.payload(KEY), True)
            self._pit.link_stands()
        elif self._turns == 10:
            self._pit.link_ended("the broker went away")
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def publish(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(mid=0)

    def dial(self, _tls: object) -> None: ...

    def disconnect(self) -> None: ...

    def hang_up(self) -> None: ...


def test_a_pit_with_a_slow_ledger_looks_at_all_of_its_own_acks_before_it_speaks(
    path: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After it connects, the pit reads all its retained acks before it publishes anything. Otherwise a pit with an
    older copy of the ledger would replace acks of the newer ledger without having read them."""
    monkeypatch.setattr("controller.pit.reference.service._BATCH_S", 0.0)
    with closing(opened(path)) as ledger:
        pit = Pit(ledger, "127.0.0.1", 1, "pit/v1", False, KEY)
        monkeypatch.setattr(pit, "_new_link", lambda: _Retaining(pit))
        with pytest.raises(_ConnectionEndedError):
            pit._serve()
    before, spoke, _ = capsys.readouterr().err.partition("connected to the broker")
    assert spoke
    assert before.count("ledger_behind_acks") == 3


def test_what_there_is_no_time_for_waits_and_is_not_lost(path: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """In each turn of its loop the pit handles only as many messages as it has time for; the others wait. In an earlier
    version, a flood of state messages held up the acks of other tables for 24 s."""
    monkeypatch.setattr("controller.pit.reference.service._BATCH_S", 0.0)
    tables = [f"x{number}" for number in range(3)]
    with closing(opened(path)) as ledger:
        pit = Pit(ledger, "127.0.0.1", 1, "pit/v1", False, KEY)
        for number, table in enumerate(tables):
            pit.link_message(f"pit/v1/{table}/state", state(table, key=SigningKey(bytes([number] * 32))), True)
        for moment in range(3):
            pit._settle(pit._new_link())
            met = [table for (table,) in rows(path, "SELECT table_id FROM key_seen ORDER BY table_id")]
            assert met == tables[: moment + 1]


class _Flooding(_Retaining):
    """A fake connection to a broker, which delivers one more message of 100 kB each time the pit reads."""

    def loop(self, _wait_s: float) -> MQTTErrorCode:
        self._pit.link_message("pit/v1/t-0/event", b"x" * 100_000, False)
        return MQTTErrorCode.MQTT_ERR_SUCCESS


def test_long_messages_that_wait_leave_less_room_for_more(path: Place) -> None:
    """The pit limits how many bytes of messages may wait, and not only how many messages. In an earlier version, a pit
    with a slow ledger held 500 messages of any length."""
    with closing(opened(path)) as ledger:
        pit = Pit(ledger, "127.0.0.1", 1, "pit/v1", False, KEY)
        link = _Flooding(pit)
        for _ in range(3):
            pit._take_in(cast(Any, link))
    assert 4_000_000 <= sum(len(payload) for _, payload in pit._arrived) <= 4_300_000


@needs_mosquitto
def test_a_name_that_turns_a_line_round_is_shown_as_what_it_is(house: House) -> None:
    far, pit = house.adopting()
    far.ack(ack(0))
    far.publish("pit/v1/\u202eevil/state", b" " * 250_001)
    assert "'pit/v1/\\u202eevil/state'" in until(pit.err, "message_too_long")[-1]
    far.publish(f"pit/v1/{'t' * 60_000}/state")
    assert len(until(pit.err, "name_too_long: A message came for a table whose name has 60000 letters")[-1]) < 400
    far.send_events(event(1))
    far.ack(ack(1))
    assert pit.ended(signal.SIGTERM) == 0
    assert rows(house.ledger, "SELECT count(*) FROM event WHERE table_id = ?", TABLE) == [(1,)]


@needs_mosquitto
@pytest.mark.parametrize("lines_go_to", [pytest.param("/dev/full", marks=pytest.mark.proof), ">(true)"])
def test_a_log_that_takes_no_line_does_not_end_the_pit(house: House, lines_go_to: str) -> None:
    """The pit continues if its log lines cannot be written. In earlier versions, a full disk ended the pit with a
    traceback, and the pit stopped without a message when the reader of its log ended."""
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new", program=("bash", "-c", f'exec "$0" "$@" > {lines_go_to}', sys.executable))
    far.ack(ack(0))
    for seq in (1, 2, 3):
        far.send_events(event(seq))
        far.ack(ack(seq))
    assert pit.process.poll() is None
