"""Checks how people compare a table's key before the pit adopts the table. If they adopted a thief's key by mistake,
they can take the adoption back. After that, only the alarms and the events of the thief remain."""

from __future__ import annotations

import base64
import json
import os
import pty
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.pit.reference.__main__ import main, parser
from controller.pit.reference.forms import FROM_FORM
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place, read_log
from controller.pit.reference.standing import read_standing
from tests.pit.evening import EPOCH, KEY, ROYAL9_METERS, TableEvening
from tests.pit.house import ROOT, TABLE, House, ack, state
from tests.pit.postgresql import over_both, rows
from tests.pit.test_meters import TERMS, balanced, code_of, counted, give, opened
from tests.support.at_desk import practising
from tests.support.brokers import needs_mosquitto
from tests.support.ledgers import meet, unheard_steps
from tests.support.samples import examples
from tests.support.waiting import PATIENCE_S, until

Told = pytest.CaptureFixture[str]


THIEF = SigningKey(bytes([7] * 32))
OURS, THEIRS = fingerprint(KEY.public), fingerprint(THIEF.public)
BY = ("Ann", "a stolen certificate")


def stolen(bodies: list[bytes]) -> list[bytes]:
    """Return these events as a thief would send them: signed by the thief's key, and with other chain values (digests
    of the journal)."""
    return [_signed(json.loads(body) | {"chain": "77" * 32}) for body in bodies]


def _signed(message: dict[str, Any]) -> bytes:
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return canonical(unsigned | {"signature": base64.b64encode(THIEF.sign(canonical(unsigned))).decode()})


def shown(table: str, key: SigningKey) -> bytes:
    return state(table, key=key)


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    """A ledger with two meters. It has adopted table t-0 under a thief's key, and table t-1 under its true key."""
    with closing(robbed(at)) as ledger:
        yield ledger


def robbed(at: Place) -> Ledger:
    ledger = opened(at)
    ledger.unadopt("t-0", EPOCH, *BY)
    ledger.adopt("t-0", EPOCH, THIEF.public.hex())
    meet(ledger, "t-0", shown("t-0", THIEF), adopt_new=False)
    return ledger


def thieves_evening() -> TableEvening:
    """Return a thief's stream of events with three rounds. In the first, two hits share the level of one meter. In the
    second, a hit wins a fixed amount. The wagers of the third are voided."""
    table = TableEvening("t-0")
    table.lock(1, 2)
    table.finish((1, "banker_personal"), (2, "banker_personal"))
    table.hit(1, "banker_personal", "big")
    hit = table.hit(2, "banker_personal", "big")
    table.award(hit, "paid", 1_000, "Mallory")
    table.lock(5)
    table.finish((5, "any_royal"))
    table.hit(5, "any_royal", 2_500)
    table.lock(1, 2, 3)
    table.void(2)
    return table


def take(ledger: Ledger, bodies: list[bytes], table: str = "t-0") -> None:
    received = ledger.receive([(table, body) for body in bodies])
    assert not received.refused
    assert len(received.committed) == len(bodies)


# The fingerprint.


def test_a_fingerprint_is_the_first_16_bytes_of_the_keys_sha_256_in_groups_of_four() -> None:
    """The fingerprint of the key of 32 zero bytes agrees with the SHA-256 that the program `sha256sum` computed."""
    assert fingerprint(bytes(32)) == "6668 7aad f862 bd77 6c8f c18b 8e9f 8e20"


def test_a_table_is_adopted_by_the_fingerprint_that_its_own_status_shows(at: Place) -> None:
    with closing(Ledger(at)) as ledger:
        assert code_of(lambda: ledger.adopt(TABLE, EPOCH, OURS)) == "key_unseen"
        assert code_of(lambda: meet(ledger, TABLE, shown(TABLE, KEY), adopt_new=False)) == "epoch_to_adopt"
        assert code_of(lambda: ledger.adopt(TABLE, EPOCH, THEIRS)) == "key_unseen"
        assert ledger.adopt(TABLE, EPOCH, OURS.upper().replace(" ", "")).public_key == KEY.public
        assert not meet(ledger, TABLE, shown(TABLE, KEY), adopt_new=False)


def test_the_keys_that_are_kept_for_it_are_bounded(at: Place) -> None:
    with closing(Ledger(at)) as ledger:
        for number in range(30):
            with pytest.raises(Exception, match="adopt"):
                meet(ledger, TABLE, state(key=SigningKey(bytes([number] * 32))), adopt_new=False)
        ledger.keep([(TABLE, RefusedError("epoch_to_adopt", "Nobody adopted it.", "Adopt it."))])
    assert rows(at, "SELECT count(*) FROM key_seen") == [(20,)]


# Two keys.


def what_is_said(call: Any) -> str:
    with pytest.raises(Exception) as told:  # its code is looked at
        call()
    return str(told.value)


def test_a_second_key_for_an_epoch_that_nobody_adopted_is_told_with_both(at: Place) -> None:
    with closing(Ledger(at)) as ledger:
        first = what_is_said(lambda: meet(ledger, TABLE, shown(TABLE, THIEF), adopt_new=False))
        assert (first.partition(":")[0], THEIRS in first) == ("epoch_to_adopt", True)
        ledger.keep([(TABLE, RefusedError("epoch_to_adopt", "Nobody adopted it.", "Adopt it."))])
    with closing(Ledger(at)) as ledger:  # also after a restart of the pit
        for key, other in ((KEY, THEIRS), (THIEF, OURS)):
            told = what_is_said(lambda key=key: meet(ledger, TABLE, shown(TABLE, key), adopt_new=False))
            assert told.startswith("epoch_of_another_key: ")
            assert (OURS in told, THEIRS in told, other in told) == (True, True, True)
            command = shlex.split(told.partition("adopt it: ")[2])
            assert command[-1] == key.public.hex()


def test_a_second_key_beside_the_adopted_one_is_told_with_both_in_state_and_events(at: Place) -> None:
    table = TableEvening(TABLE, ROYAL9_METERS)
    table.lock(1)
    (forged,) = stolen(table.sent)
    with closing(Ledger(at)) as ledger:
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
        (refused,) = ledger.receive([(TABLE, forged)]).refused
        assert (refused[1].code, OURS in refused[1].what) == ("signature_invalid", True)
        told = [what_is_said(lambda: meet(ledger, TABLE, shown(TABLE, THIEF), adopt_new=True))]
        (refused,) = ledger.receive([(TABLE, forged)]).refused
        told.append(str(refused[1]))
        for said in told:
            assert said.startswith("epoch_of_another_key: ")
            assert OURS in said
            assert THEIRS in said
            assert "unadopt" in said


def test_an_event_that_no_key_of_the_state_signed_is_told_before_anything_is_adopted(at: Place) -> None:
    table = TableEvening(TABLE, ROYAL9_METERS)
    table.lock(1)
    with closing(Ledger(at)) as ledger:
        what_is_said(lambda: meet(ledger, TABLE, shown(TABLE, KEY), adopt_new=False))
        codes = [refusal.code for _, refusal in ledger.receive([(TABLE, table.sent[0])]).refused]
        assert codes == ["event_of_another_epoch"]
        ((_, refusal),) = ledger.receive([(TABLE, stolen(table.sent)[0])]).refused
        assert (refusal.code, OURS in refusal.what) == ("epoch_of_another_key", True)


# Asked.


def confirm(control: Path, answer: str | None = None) -> tuple[int, str]:
    """Run `pitctl confirm` as a process, and return its exit code and its output. If `answer` is given, type it on the
    process's terminal. Otherwise the process has no terminal."""
    command = [sys.executable, "-m", "controller.pit.reference", "confirm", "1"]
    command += ["--control", str(control), "--as", "Bob"]
    if answer is None:
        ended = subprocess.run(command, cwd=ROOT, input="yes\n", capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        os.write(master, answer.encode())
        said, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, said
    finally:
        os.close(slave)
        os.close(master)


def test_the_second_person_of_an_adoption_sees_the_key_and_is_asked(tmp_path: Path) -> None:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        ledger.serve()
        with practising(ledger, tmp_path / "ledger", KEY) as control:
            assert main(["adopt", TABLE, EPOCH, KEY.public.hex(), "--control", str(control), "--as", "Ann"]) == 0
            code, said = confirm(control)
            assert (code, "nobody_to_ask: " in said) == (1, True), "a pipe's yes is nobody's"
            code, said = confirm(control, answer="y\x04\x04")
            assert (code, "not_confirmed: " in said) == (1, True)
            for words in (TABLE, EPOCH, OURS, "practice:Ann", "`tablectl status` at the table"):
                assert words in said
            assert ledger.acks() == {}
            assert confirm(control, answer="yes\n")[0] == 0
        assert ledger.acks().keys() == {TABLE}


def test_a_state_that_tells_nothing_new_asks_the_ledger_nothing_until_somebody_else_decides(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(at)) as leader, closing(Ledger(at)) as person:
        leader.others_wrote()
        shown = TableEvening("t-0").state()
        meet(leader, "t-0", shown, adopt_new=False)
        with monkeypatch.context() as patched:
            statements = counted(leader, patched)
            meet(leader, "t-0", shown, adopt_new=False)
        assert statements == []
        person.retire("t-0", "Ann", "Bob", "gone")
        assert leader.others_wrote()
        assert code_of(lambda: meet(leader, "t-0", shown, adopt_new=False)) == "epoch_to_adopt"


# Taken back.


@over_both
def test_an_adoption_that_is_taken_back_leaves_the_meters_as_if_it_had_not_been(ledger: Ledger, at: Place) -> None:
    other = TableEvening("t-1")
    give(ledger, other, other.lock(1))
    before = ledger.account()
    table = thieves_evening()
    take(ledger, stolen(table.sent))
    assert sorted(award.step for award in ledger.awards()) == ["pending"] * 3
    assert ledger.account().owed_cents > 0
    balanced(ledger)

    set_aside_as = ledger.unadopt("t-0", EPOCH, *BY)
    balanced(ledger)
    after = ledger.account()
    assert [(one.level_cents, one.carried, one.reserve_cents, one.reserve_carried) for one in after.meters] == [
        (one.level_cents, one.carried, one.reserve_cents, one.reserve_carried) for one in before.meters
    ]
    assert (after.owed_cents, after.paid_cents) == (0, 0)
    assert {award.step for award in ledger.awards()} == {"rejected"}
    assert not any(award.held for award in ledger.awards())
    assert unheard_steps(ledger, "t-0") == []
    assert ledger.ack("t-0") is None, "never adopted but by the thief, and by a test that took it back"
    assert list(read_log(at, "t-0", set_aside_as)) == stolen(table.sent), "kept for the audit"


def test_the_true_key_is_adopted_for_the_same_epoch_and_heard_from_its_first_event(ledger: Ledger) -> None:
    table = thieves_evening()
    take(ledger, stolen(table.sent))
    assert code_of(lambda: ledger.adopt("t-0", EPOCH, KEY.public.hex())) == "epoch_of_another_key"
    ledger.unadopt("t-0", EPOCH, *BY)
    codes = [refusal.code for _, refusal in ledger.receive([("t-0", table.sent[0])]).refused]
    assert codes == ["event_of_another_epoch"]
    ledger.adopt("t-0", EPOCH, KEY.public.hex())
    assert ledger.acks()["t-0"].seq == 0
    take(ledger, table.sent)
    balanced(ledger)
    assert [award.id for award in ledger.awards() if award.step == "pending"] == ["t-0.4", "t-0.5", "t-0.6"]
    assert code_of(lambda: ledger.take_step("t-0.6", "verified", "Ann")) == "tables_unheard", "since its adoption"
    meet(ledger, "t-0", table.state(), adopt_new=False)
    ledger.take_step("t-0.6", "verified", "Ann")
    ledger.take_step("t-0.6", "paid", "Bob")
    assert code_of(lambda: ledger.unadopt("t-0", EPOCH, *BY)) == "award_paid"
    balanced(ledger)


def test_what_was_paid_or_never_adopted_is_not_taken_back(ledger: Ledger) -> None:
    table = TableEvening("t-1")
    give(ledger, table, table.lock(1), table.finish((1, "x")), table.hit(1, "any_royal", 500))
    assert code_of(lambda: ledger.unadopt("t-1", "beef", *BY)) == "adoption_unknown"
    assert code_of(lambda: ledger.unadopt("t-1", EPOCH, " ", "why")) == "name_missing"
    assert code_of(lambda: ledger.unadopt("t-1", EPOCH, "Ann", "")) == "reason_missing"
    assert ledger.acks()["t-1"].seq == 3


def test_the_adoption_before_it_holds_again(ledger: Ledger) -> None:
    table = TableEvening("t-1")
    give(ledger, table, table.lock(1))
    ledger.adopt("t-1", "beef", THIEF.public.hex())
    assert ledger.acks()["t-1"].epoch == "beef"
    ledger.unadopt("t-1", "beef", *BY)
    assert (ledger.acks()["t-1"].epoch, ledger.acks()["t-1"].seq) == (EPOCH, 1)


@examples(8)
@given(st.data())
def test_whatever_was_played_meanwhile_every_account_balances_after_it_was_taken_back(data: Any) -> None:
    with closing(Ledger(Path(":memory:"))) as ledger:
        ledger.set_terms(TERMS)
        for name, key in (("t-0", THIEF), ("t-1", KEY)):
            ledger.adopt(name, EPOCH, key.public.hex())
        tables = [TableEvening("t-0"), TableEvening("t-1")]
        for _ in range(data.draw(st.integers(1, 12))):
            table = tables[data.draw(st.integers(0, 1))]
            seats = data.draw(st.sets(st.integers(1, 4), min_size=1))
            begin = len(table.sent)
            table.lock(*sorted(seats))
            match data.draw(st.sampled_from(["void", "lose", "win", "win"])):
                case "void":
                    table.void(*sorted(data.draw(st.sets(st.sampled_from(sorted(seats)), min_size=1))))
                case "lose":
                    table.finish()
                case _:
                    table.finish(*((seat, "x") for seat in sorted(seats)))
                    for seat in sorted(seats):
                        table.hit(seat, "x", data.draw(st.sampled_from(["big", "small", 700])))
            said = table.sent[begin:]
            take(ledger, stolen(said) if table is tables[0] else said, table.table)
            for award in ledger.awards():
                if award.step == "pending" and data.draw(st.booleans()):
                    ledger._awards.take(award.id, data.draw(st.sampled_from(["verified", "rejected"])), "Ann")
        ledger.unadopt("t-0", EPOCH, *BY)
        balanced(ledger)
        ledger.adopt("t-0", EPOCH, KEY.public.hex())
        take(ledger, tables[0].sent)
        balanced(ledger)
        for award in ledger.awards():
            if award.step == "pending":
                ledger._awards.take(award.id, "rejected", "Ann")
                balanced(ledger)


# The attack, with real processes.


@needs_mosquitto
def test_a_stolen_adoption_is_told_taken_back_and_the_true_table_is_heard(tmp_path: Path, capsys: Told) -> None:
    with ExitStack() as ends:
        house = House(tmp_path, ends)
        far = house.far()
        pit = house.pit()
        until(pit.err, "connected")
        far.say_state(key=THIEF)
        command = shlex.split(until(pit.err, "adopt it: ")[-1].partition("adopt it: ")[2])
        subprocess.run([*command, *_PRACTISED], cwd=ROOT, check=True, capture_output=True)
        far.ack(ack(0))
        evening = TableEvening(TABLE, ROYAL9_METERS)
        evening.lock(1)
        evening.finish((1, "player_personal"))
        evening.hit(1, "player_personal", "player_personal")
        far.send_events(*stolen(evening.sent))
        until(pit.out, f"{TABLE} 3 hit")

        far.say_state(head_seq=3)  # the true table comes
        told = until(pit.err, "take the adoption back: ")
        assert OURS in told[-2]
        assert THEIRS in told[-2]
        assert main(["alarms", "--ledger", str(house.ledger)]) == 0
        assert OURS in capsys.readouterr().out
        assert house.decide("adopt", TABLE, EPOCH, OURS) == 1
        assert capsys.readouterr().err.startswith("epoch_of_another_key: ")

        assert house.decide("unadopt", TABLE, EPOCH, "--reason", "stolen") == 0
        set_aside = capsys.readouterr().out.split()[-1]
        far.ack(ack(0))  # the running pit takes its word back
        assert house.decide("adopt", TABLE, EPOCH, OURS) == 0
        far.send_events(*evening.sent)
        far.ack(ack(3))
        assert main(["account", "--ledger", str(house.ledger)]) == 0
        assert house.decide("award", "verify", f"{TABLE}.2") == 0
        capsys.readouterr()
        assert main(["events", "--ledger", str(house.ledger), TABLE, "--epoch", set_aside]) == 0
        assert capsys.readouterr().out.splitlines() == [body.decode() for body in stolen(evening.sent)]


_PRACTISED = ("--as", "Ann", "--with", "Bob")


# A ledger of the form before.


def test_a_ledger_of_form_6_is_read_as_it_is_and_goes_on_in_place(form_6: Path, capsys: Told) -> None:
    before = form_6.read_bytes()
    assert main(["alarms", "--ledger", str(form_6)]) == 0
    assert "signature_invalid" in capsys.readouterr().out
    bodies = list(read_log(form_6, "t-0", None))
    assert code_of(lambda: read_standing(form_6)) == "ledger_of_earlier_form"
    assert form_6.read_bytes() == before, "whoever only reads leaves it as it was"

    with closing(Ledger(form_6)) as ledger:
        balanced(ledger)
        assert [(award.id, award.step) for award in ledger.awards()] == [
            ("t-0.1", "paid"),
            ("t-0.2", "rejected"),
            ("t-1.1", "pending"),
        ]
        assert (ledger.account().paid_cents, ledger.levels()) == (667, {"big": 1_666, "small": 80})
        ledger.serve()
        for table, head_seq in (("t-0", 5), ("t-1", 6)):
            meet(ledger, table, TableEvening(table).state(head_seq), adopt_new=False)
        assert ledger.recall("t-1.1", "Carl").step == "verified"
        ledger.unadopt("t-1", EPOCH, *BY)
        balanced(ledger)
        assert not ledger.keep([("t-0", ledger._strangers.of_another_key("t-0", EPOCH, THIEF.public, KEY.public))])
    assert list(read_log(form_6, "t-0", None)) == bodies
    with closing(Ledger(form_6)) as ledger:
        balanced(ledger)


def test_a_migrated_ledger_has_the_form_of_a_new_one(form_6: Path, tmp_path: Path) -> None:
    def form(path: Path) -> object:
        Ledger(path).close()
        with closing(sqlite3.connect(path)) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
            columns = {name: [row[1:] for row in db.execute(f"PRAGMA table_info({name})")] for name in tables}
            indexes = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name").fetchall()
            return db.execute("PRAGMA user_version").fetchone(), columns, indexes

    assert form(form_6) == form(tmp_path / "new.sqlite")


def test_a_migration_that_does_not_end_leaves_the_ledger_as_it_was(
    form_6: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setitem(FROM_FORM, 7, ("CREATE TABLE unheard_of (x)", "CREATE TABLE adoption (x)"))
        assert code_of(lambda: Ledger(form_6)) == "ledger_unusable"
    with closing(sqlite3.connect(form_6)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (6,)
        made = "SELECT count(*) FROM sqlite_schema WHERE name IN ('doubt', 'unheard_of')"
        assert db.execute(made).fetchone() == (0,)
    with closing(Ledger(form_6)) as ledger:
        balanced(ledger)


def test_a_command_takes_the_packages_ledger_and_a_pit_is_started_on_none_that_nobody_named() -> None:
    assert parser().parse_args(["account"]).ledger == Path("/var/lib/table-pit/ledger")
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "--broker", "127.0.0.1:1"])
