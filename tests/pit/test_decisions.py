"""Checks when people may decide on awards. The running pit must have received all events of its tables, and its ledger
must be as new as the acks that the pit itself has published.

Otherwise an award could be paid twice after the ledger was restored from an older copy.
"""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path

import pytest

from controller.pit.reference.__main__ import main
from controller.pit.reference.committed import Ack
from controller.pit.reference.ledger import Ledger
from tests.pit.evening import EPOCH, KEY, ROYAL9_METERS, TableEvening
from tests.pit.house import TABLE, Far, House, ack, state
from tests.pit.test_meters import TERMS, code_of, give, opened
from tests.support.brokers import needs_mosquitto
from tests.support.ledgers import meet
from tests.support.pit_process import PitProcess
from tests.support.waiting import PATIENCE_S, until

Told = pytest.CaptureFixture[str]


AWARD = f"{TABLE}.1"
MAY_DECIDE = "awards can be decided on"
WHY = ("--reason", "burnt down")


def decide(house: House, act: str, *options: str, award: str = AWARD) -> int:
    return house.decide("award", act, award, *options, by="Cas" if act == "pay" else "Ann")


def refused(house: House, told: Told, act: str = "verify", award: str = AWARD) -> str:
    """Ask the pit to do `act` with the award, and return the code with which the pit refuses. `told` captures what the
    command prints."""
    told.readouterr()
    assert decide(house, act, award=award) == 1
    return told.readouterr().err.partition(":")[0]


def with_a_hit(table: TableEvening) -> None:
    table.lock(1)
    table.finish((1, "player_personal"))
    table.hit(1, "player_personal", "player_personal")


def speaks(far: Far, table: TableEvening) -> None:
    """Publish the table's state and send its events, as a table does."""
    far.publish(f"pit/v1/{table.table}/state", table.state(), retain=True)
    far.send_events(*table.sent, table=table.table)


def paid_and_restored(house: House, far: Far) -> TableEvening:
    """Let a table report that its award was verified and paid, and then restore the ledger from an earlier copy. Return
    the table. No pit runs at the end."""
    table = TableEvening(TABLE, ROYAL9_METERS)
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    with_a_hit(table)
    speaks(far, table)
    far.ack(ack(3))
    pit.ended(signal.SIGTERM)
    copy = house.ledger.read_bytes()
    pit = house.pit()
    until(pit.err, MAY_DECIDE)
    cents = 150_001
    assert [decide(house, act) for act in ("verify", "pay")] == [0, 0]
    for step in ("pending", "verified", "paid"):
        table.award(table.sent[2], step, cents, {"pending": "pit", "paid": "practice:Cas"}.get(step, "practice:Ann"))
    speaks(far, table)
    far.ack(ack(6))
    pit.ended(signal.SIGKILL)
    restore(house, copy)
    return table


def restore(house: House, copy: bytes) -> None:
    for beside in ("-wal", "-shm"):
        house.ledger.with_name(house.ledger.name + beside).unlink(missing_ok=True)
    house.ledger.write_bytes(copy)


# A restored ledger, with real processes.


@needs_mosquitto
def test_what_was_paid_is_not_paid_again_before_or_while_the_pit_catches_up(house: House, capsys: Told) -> None:
    far = house.far()
    table = paid_and_restored(house, far)
    for act in ("verify", "pay", "reject", "recall"):
        assert refused(house, capsys, act) == "pit_not_running"

    pit = house.pit()
    until(
        pit.err, f"ledger_behind_acks: This ledger is an older copy: the pit acknowledged table {TABLE} through event"
    )
    assert refused(house, capsys) == "ledger_behind_acks"
    assert main(["alarms", "--ledger", str(house.ledger)]) == 0
    assert "ledger_behind_acks" in capsys.readouterr().out

    pit.ended(signal.SIGKILL)  # its own retained word is the older ledger's now
    pit = house.pit()
    until(pit.err, "connected")
    assert refused(house, capsys) == "ledger_behind_acks", "what was said before is not forgotten"

    speaks(far, table)
    until(pit.err, "award_told")
    far.ack(ack(6))
    assert refused(house, capsys) == "award_told"
    assert refused(house, capsys, "pay") == "award_told"
    assert decide(house, "recall") == 0
    assert main(["account", "--ledger", str(house.ledger)]) == 0
    assert "paid 1,500.01" in capsys.readouterr().out


@needs_mosquitto
def test_where_the_broker_forgot_the_acks_the_tables_heads_still_hold_decisions_up(house: House, capsys: Told) -> None:
    far = house.far()
    table = paid_and_restored(house, far)
    house.broker.kill()
    house.broker.start()
    pit = house.pit()
    until(pit.err, "connected")
    assert refused(house, capsys) == "tables_unheard"
    far = house.far()
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    far.send_events(*table.sent[:5])
    far.ack(ack(5))
    assert refused(house, capsys) == "tables_unheard", "its state has one more"
    far.send_events(table.sent[5])
    far.ack(ack(6))
    assert refused(house, capsys) == "award_told"


@needs_mosquitto
def test_a_copy_that_is_put_in_the_ledgers_place_while_the_pit_runs_is_not_decided_on(
    house: House, capsys: Told
) -> None:
    far, table = house.far(), TableEvening(TABLE, ROYAL9_METERS)
    speaks(far, table)
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    with_a_hit(table)
    speaks(far, table)
    far.ack(ack(3))
    assert decide(house, "verify") == 0
    copy = house.ledger.with_name("copy")
    with closing(Ledger(house.ledger)) as ledger:
        ledger._db.execute("VACUUM INTO ?", (str(copy),))
    _held(pit)
    copy.replace(house.ledger)
    for beside in ("-wal", "-shm"):
        house.ledger.with_name(house.ledger.name + beside).unlink(missing_ok=True)
    with closing(Ledger(house.ledger)) as ledger:
        refusal = code_of(lambda: ledger.take_step(AWARD, "paid", "Cas"))
    assert refusal == "ledger_replaced", "the copy has this pit's session in it"
    pit.process.send_signal(signal.SIGCONT)
    assert pit.process.wait(PATIENCE_S) == 1
    assert until(pit.err, "what to do")[-2].startswith("ledger_replaced: ")


def _held(pit: PitProcess) -> None:
    """Freeze the pit's process by a signal, without ending it."""
    pit.process.send_signal(signal.SIGSTOP)


@needs_mosquitto
def test_a_second_pit_that_got_past_the_lock_ends_the_first(house: House) -> None:
    first = house.pit()
    until(first.err, "connected")
    house.ledger.with_name(house.ledger.name + ".lock").unlink()
    second = house.pit()
    until(second.err, "connected")
    assert first.process.wait(PATIENCE_S) == 1
    assert until(first.err, "what to do")[-2].startswith("ledger_replaced: ")
    assert second.ended(signal.SIGTERM) == 0


@needs_mosquitto
def test_a_table_that_is_missing_is_named_and_two_people_can_go_on_without_it(house: House, capsys: Told) -> None:
    far, gone = house.far(), house.far("pit/v1/royal9-02/ack")
    table, other = TableEvening(TABLE, ROYAL9_METERS), TableEvening("royal9-02", ROYAL9_METERS)
    with_a_hit(table)
    speaks(far, table)
    other.lock(3)
    speaks(gone, other)
    pit = house.pit("--adopt-new")
    gone.ack(ack(0))
    speaks(far, table)
    speaks(gone, other)
    gone.ack(ack(1))
    far.ack(ack(3))
    assert decide(house, "verify") == 0
    pit.ended(signal.SIGTERM)
    gone.publish("pit/v1/royal9-02/state", b'{"online":false}', retain=True)
    pit = house.pit()
    assert "royal9-02 (last event" in until(pit.err, "awards cannot be decided on yet")[-1]
    assert decide(house, "pay") == 1
    assert "royal9-02 (last event" in capsys.readouterr().err

    def retire(*options: str, witness: str = "Bob") -> str:
        capsys.readouterr()
        code = house.decide("retire", "royal9-02", *options, witness=witness)
        told = capsys.readouterr()
        return told.err.partition(":")[0] if code else told.out

    assert retire(*WHY, witness="Ann") == "not_two_people"
    assert retire("--reason", " ") == "reason_missing"
    assert "not heard any more" in retire(*WHY)
    until(pit.err, MAY_DECIDE)
    assert decide(house, "pay") == 0

    gone.publish("pit/v1/royal9-02/state", other.state(), retain=True)
    until(pit.err, "epoch_to_adopt")
    assert house.decide("adopt", "royal9-02", EPOCH, KEY.public.hex()) == 0
    other.finish()
    gone.send_events(other.sent[-1], table="royal9-02")
    gone.ack(ack(2))


# The rule.


def test_a_table_is_heard_when_its_events_have_come_as_far_as_its_state_says(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "ledger")) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1), table.finish((1, "x")), table.hit(1, "banker_personal", "big"))
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        ledger.serve()

        def pay() -> str:
            """Try to pay the award, and return the code with which the ledger refuses. Payment is always refused,
            because the award is not verified. The code is `step_not_next` as soon as people may decide, and another
            code before that."""
            return code_of(lambda: ledger.take_step("t-0.1", "paid", "Ann"))

        other = TableEvening("t-1")
        assert pay() == "tables_unheard"
        meet(ledger, "t-1", other.state(), adopt_new=False)
        assert pay() == "tables_unheard"
        meet(ledger, "t-0", table.state(4), adopt_new=False)
        assert pay() == "tables_unheard", "it has one more"
        give(ledger, table, table.finish())
        assert pay() == "step_not_next", "both are heard"

        with closing(Ledger(tmp_path / "ledger")) as other_process:
            assert code_of(lambda: other_process.take_step("t-0.1", "paid", "Ann")) == "step_not_next"
        ledger.adopt("t-1", "beef", KEY.public.hex())
        assert pay() == "tables_unheard", "another journal, of which nothing is known"
        ledger.adopt("t-1", EPOCH, KEY.public.hex())
        assert pay() == "step_not_next"


@pytest.mark.parametrize("head_seq", [None, "3", True, -1, 10**30])
def test_a_state_that_names_no_head_proves_nothing(tmp_path: Path, head_seq: object) -> None:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        ledger.serve()
        ledger.set_terms(TERMS)
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
        payload = state().replace(b'"head_seq":0', f'"head_seq":{json.dumps(head_seq)}'.encode())
        meet(ledger, TABLE, payload, adopt_new=False)
        assert code_of(lambda: ledger.take_step(AWARD, "verified", "Ann")) == "tables_unheard"


def own_ack(seq: int, epoch: str = EPOCH, table: str = "t-0") -> bytes:
    """Return an ack as the pit publishes it. The broker retains such an ack and gives it back to the pit."""
    return Ack(epoch, seq, f"{seq:064x}").payload(table, "2026-01-01T20:00:00.000Z", KEY)


@pytest.mark.parametrize(
    ("seq", "epoch", "code"),
    [
        (0, EPOCH, "step_not_next"),
        (2, EPOCH, "step_not_next"),
        (3, EPOCH, "ledger_behind_acks"),
        (1, "beef", "ledger_behind_acks"),
    ],
)
def test_an_own_ack_that_is_further_than_the_ledger_is_an_older_copy(
    tmp_path: Path, seq: int, epoch: str, code: str
) -> None:
    with closing(opened(tmp_path / "ledger")) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1), table.hit(1, "banker_personal", 500))
        said = own_ack(seq, epoch)
        if code == "step_not_next":
            ledger.hear_own_ack("t-0", said)
        else:
            assert code_of(lambda: ledger.hear_own_ack("t-0", said)) == code
        assert code_of(lambda: ledger.take_step("t-0.1", "paid", "Ann")) == code


@pytest.mark.parametrize("payload", [b"[", b"{}", own_ack(True), own_ack(2**63), own_ack(3, table="t-1")])
def test_an_own_ack_that_is_none_is_told(tmp_path: Path, payload: bytes) -> None:
    with closing(opened(tmp_path / "ledger")) as ledger:
        assert code_of(lambda: ledger.hear_own_ack("t-0", payload)) == "ack_malformed"
        ledger.hear_own_ack("t-0", b"")
        assert code_of(lambda: ledger.take_step("t-0.1", "paid", "Ann")) == "award_unknown"
