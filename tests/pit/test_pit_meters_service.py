"""Checks the meters, the awards and people's commands with a pit on a real broker. Each message that the pit publishes
must agree with its schema."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from controller.basics.digest import program_digest
from controller.contract.envelope import Stamp
from controller.pit.reference.__main__ import main
from controller.pit.reference.clock import now_in_ms
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from tests.pit.evening import EPOCH, PRICE_CENTS, TableEvening
from tests.pit.house import ROOT, TABLE, Far, House, ack
from tests.support import samples
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import PATIENCE_S, until

pytestmark = needs_mosquitto

METERS = ("player_personal",)
SETTINGS = """
[meters.player_personal]
seed_cents = 200000
contribution = "1:10"
reserve = "1:50"
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    (tmp_path / "pit.toml").write_text(SETTINGS)
    with ExitStack() as ends:
        yield House(tmp_path, ends)


def started(house: House) -> tuple[Far, str]:
    """Return a client that plays a table and has published its state, and the path for the pit's settings file."""
    far = house.far()
    far.say_state()
    return far, str(house.ledger.with_name("pit.toml"))


def checked(name: str, message: dict[str, Any]) -> dict[str, Any]:
    schema = json.loads(files("controller.contract").joinpath(f"schemas/{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(message)
    return message


def meters(far: Far, wanted: Callable[[dict[str, int]], bool] = lambda _: True) -> dict[str, Any]:
    """Return the next message about the meters whose levels satisfy the function `wanted`."""
    while True:
        message = checked("meters", far.said())
        if wanted(message["meters"]):
            return message


def step(far: Far) -> tuple[str, str, int, str]:
    """Wait for the next step of an award that the pit publishes. Return four values: the award's id, the step, the
    cents, and the name of the person."""
    told = checked("award", far.said())
    assert (told["table"], told["hit"].partition("/")[0]) == (TABLE, TABLE)
    return told["award"], told["step"], told["cents"], told["by"].removeprefix("practice:")


def ack_said(seq: int) -> dict[str, Any]:
    """Return the pit's acknowledgement of event `seq` as a dictionary, in the form in which the test's client returns
    acknowledgements."""
    message: dict[str, Any] = json.loads(ack(seq))
    return message


def decide(house: House, act: str, award: str, by: str) -> int:
    return house.decide("award", act, award, by=by, witness="Zoe")


def with_a_hit(table: TableEvening) -> list[bytes]:
    return [table.lock(1), table.finish((1, "player_personal")), table.hit(1, "player_personal", "player_personal")]


def test_the_meters_are_said_without_a_change_too_retained_and_numbered_over_a_restart(house: House) -> None:
    far, settings = started(house)
    listener = house.far("pit/v1/meters")
    pit = house.pit("--adopt-new", "--settings", settings)
    first, second = meters(listener), meters(listener)
    assert first["meters"] == second["meters"] == {"player_personal": 200_000}
    assert first["seq"] < second["seq"]
    far.ack(ack(0))
    far.send_events(TableEvening(TABLE, METERS).lock(1, 2))
    grown = meters(listener, lambda levels: levels["player_personal"] == 200_000 + 2 * PRICE_CENTS // 10)
    pit.ended(signal.SIGKILL)
    later = meters(house.far("pit/v1/meters"))
    assert (later["meters"], later["seq"] >= grown["seq"]) == (grown["meters"], True), "the broker retains it"
    said_ms = now_in_ms() + 600_000  # the clock is set back by ten minutes
    with sqlite3.connect(house.ledger) as db:
        db.execute("UPDATE ack_time SET held_ms = ?", (said_ms,))
    house.pit("--settings", settings)
    again = house.far("pit/v1/meters")
    assert meters(again)["seq"] >= later["seq"]
    last = meters(again)
    assert last["seq"] > later["seq"]
    assert last["at"] > Stamp(said_ms, True).text(), "wins go by the times of these words"


def test_an_awards_way_is_published_whoever_takes_the_step(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    far, settings = started(house)
    listener = house.far(f"pit/v1/{TABLE}/award")
    house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    table = TableEvening(TABLE, METERS)
    *_, hit = with_a_hit(table)
    far.send_events(*table.sent)
    award = f"{TABLE}.1"
    assert step(listener) == (award, "pending", 200_050, "pit")
    assert decide(house, "verify", award, "Ann") == 0
    far.send_events(table.award(hit, "pending", 200_050))
    assert step(listener) == (award, "verified", 200_050, "Ann")
    far.send_events(table.award(hit, "verified", 200_050, "practice:Ann"))
    assert decide(house, "pay", award, "Bob") == 0
    assert step(listener) == (award, "paid", 200_050, "Bob")
    assert capsys.readouterr().out.splitlines()[-1].split()[:3] == [award, "paid", "2,000.50"]


def test_steps_are_said_again_to_a_table_that_comes_back_until_its_stream_tells_of_them(house: House) -> None:
    far, settings = started(house)
    listener = house.far(f"pit/v1/{TABLE}/award")
    pit = house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    table = TableEvening(TABLE, METERS)
    *_, hit = with_a_hit(table)
    far.send_events(*table.sent)
    pending = (f"{TABLE}.1", "pending", 200_050, "pit")
    assert step(listener) == pending
    far.say_state(boot=2)
    assert step(listener) == pending
    pit.ended(signal.SIGKILL)
    pit = house.pit("--settings", settings)
    until(pit.err, "awards can be decided on")
    assert decide(house, "reject", f"{TABLE}.1", "Ann") == 0
    rejected = (f"{TABLE}.1", "rejected", 200_050, "Ann")
    assert step(listener) == pending, "the table has not told of it, so it is told of no later one"
    far.send_events(table.award(hit, "pending", 200_050))
    far.ack(ack(4))
    while step(listener) != rejected:  # what was on its way at the restart
        pass
    pit.ended(signal.SIGKILL)
    last = house.far(f"pit/v1/{TABLE}/award")
    house.pit("--settings", settings)
    assert step(last) == rejected


def test_a_step_waits_until_the_tables_stream_has_told_of_the_one_before(house: House) -> None:
    """The pit publishes an award's second step only after the table has confirmed the first step. A table refuses a
    step that is older than the last step it has taken. So if the pit published both steps and the second one arrived
    first, the table would refuse the first step, and that step would be lost."""
    far, settings = started(house)
    listener = house.far(f"pit/v1/{TABLE}/+")
    house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    table = TableEvening(TABLE, METERS)
    *_, hit = with_a_hit(table)
    far.send_events(*table.sent)
    far.ack(ack(3))
    assert decide(house, "verify", f"{TABLE}.1", "Ann") == 0
    far.send_events(table.lock(2))
    far.ack(ack(4))
    far.send_events(table.finish())
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1] != ack_said(5):
        heard.append(listener.said())
    assert {message["step"] for message in heard if "award" in message and "by" in message} == {"pending"}
    far.send_events(table.award(hit, "pending", 200_050))
    while listener.said().get("step") != "verified":
        pass


def test_killed_again_and_again_between_two_tables_no_cent_is_lost_or_doubled(house: House) -> None:
    far, settings = started(house)
    other = house.far("pit/v1/royal9-02/ack")
    other.say_state("royal9-02")
    tables = [TableEvening(TABLE, METERS), TableEvening("royal9-02", METERS)]
    rounds = 30 if samples.at_length else 12
    for _ in range(rounds):
        for table in tables:
            table.lock(1, 2, 3)
            table.void(1, 2, 3) if table.round % 3 == 0 else table.finish()
    tables[0].lock(5)
    tables[0].finish((5, "player_personal"))
    tables[0].hit(5, "player_personal", "player_personal")
    for _ in range(4):
        pit = house.pit("--adopt-new", "--settings", settings)
        until(pit.err, "connected")
        for mine, his in zip_longest(tables[0].sent, tables[1].sent, fillvalue=tables[1].sent[-1]):
            far.send_events(mine)
            far.send_events(his, table="royal9-02")
        until(pit.out, " ")
        pit.ended(signal.SIGKILL)
        assert main(["account", "--ledger", str(house.ledger)]) == 0
        if len(house.held()) == sum(len(table.sent) for table in tables):
            break
    pit = house.pit("--settings", settings)
    until(pit.err, "connected")
    far.send_events(*tables[1].sent, table="royal9-02")
    other.ack(ack(len(tables[1].sent)))
    far.send_events(*tables[0].sent)
    far.ack(ack(len(tables[0].sent)))
    wagers = 2 * rounds * 3 + 1  # also those that were voided: what they gave stays
    listed = run("award", "list", "--ledger", str(house.ledger))
    won = 200_000 + wagers * PRICE_CENTS // 10
    assert listed.stdout.split()[:3] == [f"{TABLE}.1", "pending", f"{won // 100:,}.{won % 100:02d}"]
    assert main(["account", "--ledger", str(house.ledger)]) == 0
    assert len(house.held()) == sum(len(table.sent) for table in tables)


def test_a_hit_on_an_unknown_meter_is_an_alarm_and_is_settled_once_the_settings_name_it(house: House) -> None:
    far, settings = started(house)
    pit = house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    table = TableEvening(TABLE, METERS)
    far.send_events(table.lock(1), table.finish(), table.hit(1, "banker_personal", "banker_personal"), table.finish())
    told = until(pit.err, "meter_unknown")[-1] + until(pit.err, "")[0]
    for named in (TABLE, f"{TABLE}/{EPOCH}/3", "[meters.banker_personal]", settings):
        assert named in told
    far.ack(ack(2))
    pit.ended(signal.SIGTERM)
    more = house.ledger.with_name("more.toml")
    more.write_text(SETTINGS + SETTINGS.replace("player", "banker"))
    pit = house.pit("--settings", str(more))
    until(pit.err, "connected")
    far.send_events(*table.sent)
    far.ack(ack(4))


def test_an_event_that_contradicts_is_told_on_standard_error(house: House) -> None:
    far, settings = started(house)
    pit = house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    table = TableEvening(TABLE, METERS)
    far.send_events(table.lock(1), table.void(2), table.say("wagers_locked", progressive="all"))
    told = until(pit.err, "event_not_understood")
    assert any(line.startswith("event_contradicts: ") for line in told)
    far.ack(ack(3))


def test_after_a_restore_what_was_told_as_paid_is_held_then_recalled_and_the_table_takes_what_is_said(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    far, settings = started(house)
    steps, levels = house.far(f"pit/v1/{TABLE}/award"), house.far("pit/v1/meters")
    pit = house.pit("--adopt-new", "--settings", settings)
    far.ack(ack(0))
    pit.ended(signal.SIGTERM)
    copy = house.ledger.read_bytes()
    pit = house.pit("--settings", settings)
    until(pit.err, "connected")
    table, award = TableEvening(TABLE, METERS), f"{TABLE}.1"
    *_, hit = with_a_hit(table)
    far.send_events(*table.sent)
    for act, step_told in (
        ("verify", ("pending", "pit")),
        ("pay", ("verified", "practice:Ann")),
        (None, ("paid", "practice:Cas")),
    ):
        said = checked("award", steps.said())
        assert (said["step"], said["by"]) == step_told
        far.send_events(table.award(hit, said["step"], said["cents"], said["by"]))
        far.ack(ack(len(table.sent)))
        if act is not None:
            assert decide(house, act, award, "Ann" if act == "verify" else "Cas") == 0
    last_level = meters(levels)
    pit.ended(signal.SIGKILL)
    for beside in ("-wal", "-shm"):
        house.ledger.with_name(house.ledger.name + beside).unlink(missing_ok=True)
    house.ledger.write_bytes(copy)

    pit = house.pit("--settings", settings)
    until(pit.err, "connected")
    far.send_events(*table.sent)
    until(pit.err, "award_told")
    assert decide(house, "verify", award, "Ann") == 1
    told = capsys.readouterr().err
    assert told.startswith("award_told: ")
    listed = run("award", "list", "--ledger", str(house.ledger)).stdout
    assert f"paid, 2,000.50, by practice:Cas (event {TABLE}/{EPOCH}/" in listed
    assert decide(house, "recall", award, "Carl") == 0
    while (again := checked("award", steps.said()))["step"] != "paid":
        pass
    assert (again["by"], again["cents"], again["seq"] > said["seq"]) == ("practice:Cas", 200_050, True)
    assert meters(house.far("pit/v1/meters"))["seq"] > last_level["seq"]
    listed = run("award", "list", "--all", "--ledger", str(house.ledger)).stdout
    assert "recalled by practice:Carl, witness practice:Zoe" in listed
    assert run("account", "--ledger", str(house.ledger)).returncode == 0


# The commands.

RUN = ["run", "--broker", "127.0.0.1:1", "--ledger", "{new}"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "controller.pit.reference", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["award", "list", "--ledger", "nowhere"], "ledger_missing"),
        (["account", "--ledger", "nowhere"], "ledger_missing"),
        (["award", "verify", "--control", "nowhere", "t.1"], "pit_not_running"),
        ([*RUN, "--settings", "nowhere"], "settings_invalid"),
        ([*RUN, "--ca", "ca.crt"], "tls_incomplete"),
        (
            [*RUN, "--ca", "no", "--certificate", "no", "--private-key", "no"],
            "tls_unusable",
        ),
    ],
)
def test_what_will_not_do_is_told_and_begins_no_ledger(tmp_path: Path, arguments: list[str], code: str) -> None:
    new = tmp_path / "ledger.sqlite"
    ended = run(*(argument.format(new=new) for argument in arguments))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"{code}: ")
    assert "Traceback" not in ended.stderr
    assert not new.exists()


def test_a_pit_whose_program_is_not_approved_does_not_run_and_one_whose_program_is_says_its_digest(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings, new = tmp_path / "pit.toml", tmp_path / "ledger.sqlite"
    meter = '[meters.a]\nseed_cents = 5\ncontribution = "12:100"\n'
    command = ["run", "--broker", "127.0.0.1:1", "--ledger", str(new), "--settings", str(settings)]
    settings.write_text(f'{meter}[program]\napproved = ["{"0" * 64}"]\n')
    assert main(command) == 1
    told = capfd.readouterr().err
    assert told.startswith("program_not_approved: ")
    assert program_digest() in told
    assert not new.exists()
    settings.write_text(f'{meter}[program]\napproved = ["{"0" * 64}", "{program_digest()}"]\n')
    new.with_name("ledger.sqlite.key").mkdir()  # so that this pit ends at its key, after it has measured itself
    assert main(command) == 1
    told = capfd.readouterr().err
    assert f"pit: the digest of the program is {program_digest()}\n" in told
    assert "program_not_approved" not in told


def test_the_commands_of_a_house_without_awards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.set_terms(default().meters)
    ledger.adopt(TABLE, EPOCH, "00" * 32)
    ledger.close()
    assert main(["award", "list", "--ledger", str(path)]) == 0
    assert capsys.readouterr().out == "no awards are open\n"
    assert main(["award", "pay", "--control", str(path), "t.1"]) == 1
    assert capsys.readouterr().err.startswith("pit_not_running: ")
    assert main(["account", "--ledger", str(path)]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0] == "banker_personal"
    assert "= level" in told
    assert told.endswith("the account balances\n")


def test_an_account_that_does_not_balance_ends_with_1_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_the_commands_of_a_house_without_awards(tmp_path, capsys)
    db = sqlite3.connect(tmp_path / "ledger.sqlite")
    db.execute("UPDATE fund SET cents = cents + 1 WHERE account = 'meter:banker_personal'")
    db.commit()
    db.close()
    assert main(["account", "--ledger", str(tmp_path / "ledger.sqlite")]) == 1
    assert "does not balance: meter:banker_personal says 150001 cents" in capsys.readouterr().err
