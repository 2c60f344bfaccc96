"""Checks that the ledger records every alarm and every change of the meters' terms for people to read later."""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.contract.keys import SigningKey
from controller.pit.reference import alarms
from controller.pit.reference.__main__ import main
from controller.pit.reference.alarm_limit import AlarmLimit
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.settings import default
from tests.pit.evening import EPOCH, KEY, ROYAL9_METERS, TableEvening
from tests.pit.house import TABLE, House, ack
from tests.pit.test_pit_service import event
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import until

Told = pytest.CaptureFixture[str]


SETTINGS = """
[meters.royal]
seed_cents = 50000
contribution = "20:100"
"""


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with closing(Ledger(path)) as ledger:
        ledger.set_terms(default().meters)
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
        yield ledger


def printed(path: Path, told: Told, *table: str) -> list[str]:
    """Return the lines that `pitctl alarms` prints. `told` captures the output. If `table` is given, only the alarms of
    that table are printed."""
    told.readouterr()
    assert main(["alarms", "--ledger", str(path), *table]) == 0
    out, err = told.readouterr()
    assert err == ""
    return out.splitlines()


def listed(path: Path, told: Told, *table: str) -> list[list[str]]:
    """Return three fields of each alarm that `pitctl alarms` prints: the table, the event and the code."""
    return [line.split("  ")[1:] for line in printed(path, told, *table) if not line.startswith(" ")]


def refusal(code: str = "body_differs", what: str = "Another body came.") -> RefusedError:
    return RefusedError(code, what, "Stop the table.")


def corrected(ledger: Ledger, table: str = TABLE) -> TableEvening:
    """Return a table that has sent three events. The third event corrects the first round, and so takes that round's
    hit away."""
    evening = TableEvening(table, ROYAL9_METERS)
    evening.lock(1)
    evening.finish((1, "player_personal"))
    evening.correction(((1, "player_personal"),), ())
    ledger.receive([(table, body) for body in evening.sent])
    return evening


def keep(ledger: Ledger, table: str, refusal: RefusedError) -> bool:
    """Record a refusal in the ledger, and return whether the ledger had room for it."""
    return not ledger.keep([(table, refusal)])


# Kept with an event.


def test_a_correction_that_took_away_a_hit_without_an_award_is_listed_with_all_that_was_told(
    ledger: Ledger, path: Path, capsys: Told
) -> None:
    corrected(ledger)
    assert ledger.awards() == [], "`award list` could not show it"
    assert printed(path, capsys) == [
        f"2026-01-01T20:00:00.000Z  {TABLE}  {TABLE}/{EPOCH}/3  hits_corrected",
        f"    Table {TABLE} corrected shoe 1, round 1. The correction changed the round's hits.",
        "    what to do: Compare the hits with the felt. Reject what was no hit, and settle a missing hit by hand.",
    ]


def test_two_alarms_of_one_event_keep_their_order(ledger: Ledger, path: Path, capsys: Told) -> None:
    evening = TableEvening(TABLE, ROYAL9_METERS)
    evening.lock(1)
    evening.hit(1, "player_personal", "player_personal")
    evening.void(1)
    evening.void(1)
    received = ledger.receive([(TABLE, body) for body in evening.sent])
    told = [alarm.what for event in received.committed for alarm in event.alarms]
    assert len(set(told)) == 3, "the last event gives reason to two"
    assert [line[4:] for line in printed(path, capsys)[1::3]] == told


def test_where_there_are_none_it_is_said(ledger: Ledger, path: Path, capsys: Told) -> None:
    assert printed(path, capsys) == ["no alarms are kept"]
    assert printed(path, capsys, TABLE) == [f"no alarms are kept of {TABLE}"]


def test_an_unknown_table_or_a_missing_ledger_is_told(ledger: Ledger, path: Path, capsys: Told) -> None:
    assert main(["alarms", "--ledger", str(path), "royal9-77"]) == 1
    assert capsys.readouterr().err.startswith("table_unknown: ")
    assert main(["alarms", "--ledger", str(path.with_name("none"))]) == 1
    assert capsys.readouterr().err.startswith("ledger_missing: ")


def test_a_pit_that_writes_is_not_waited_for(ledger: Ledger, path: Path, capsys: Told) -> None:
    corrected(ledger)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM alarm")
        assert listed(path, capsys) == [[TABLE, f"{TABLE}/{EPOCH}/3", "hits_corrected"]]
        db.execute("ROLLBACK")


# Kept of what was refused.


def test_refusals_stand_among_the_others_in_the_order_they_came_and_by_table(
    ledger: Ledger, path: Path, capsys: Told
) -> None:
    ledger.adopt("royal9-02", EPOCH, KEY.public.hex())
    keep(ledger, TABLE, refusal("signature_invalid"))
    keep(ledger, TABLE, refusal("event_malformed"))
    corrected(ledger)
    keep(ledger, "royal9-02", refusal())
    corrected(ledger, "royal9-02")
    first = [[TABLE, "not taken", "signature_invalid"], [TABLE, "not taken", "event_malformed"]]
    first.append([TABLE, f"{TABLE}/{EPOCH}/3", "hits_corrected"])
    second = [["royal9-02", "not taken", "body_differs"], ["royal9-02", f"royal9-02/{EPOCH}/3", "hits_corrected"]]
    assert listed(path, capsys) == first + second
    assert listed(path, capsys, TABLE) == first
    assert listed(path, capsys, "royal9-02") == second


def test_a_refusal_is_kept_once_per_table_code_and_wording(ledger: Ledger, path: Path, capsys: Told) -> None:
    for _ in range(3):
        keep(ledger, TABLE, refusal())
        keep(ledger, "royal9-02", refusal())
        keep(ledger, TABLE, refusal("signature_invalid"))
        keep(ledger, TABLE, refusal(what="Yet another body came."))
    assert listed(path, capsys) == [
        [TABLE, "not taken", "body_differs"],
        ["royal9-02", "not taken", "body_differs"],
        [TABLE, "not taken", "signature_invalid"],
        [TABLE, "not taken", "body_differs"],
    ]


def test_a_flood_of_new_wordings_does_not_fill_the_disk(
    ledger: Ledger, path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarms, "MOST_OF_A_CODE", 2)
    keep(ledger, TABLE, refusal(what="x" * 60_000))
    assert keep(ledger, "t" * 60_000, refusal())
    assert keep(ledger, TABLE, refusal())
    for what in ("One more.", "Another."):
        assert not keep(ledger, TABLE, refusal(what=what))
    assert keep(ledger, TABLE, refusal(what="x" * 60_000)), "is kept, so nothing is to be added"
    assert keep(ledger, TABLE, refusal("signature_invalid"))
    lines = printed(path, capsys)
    assert len(lines) == 4 * 3
    assert max(map(len, lines)) < 1_200


def test_a_name_that_plays_tricks_on_a_terminal_is_shown_as_what_it_is(
    ledger: Ledger, path: Path, capsys: Told
) -> None:
    keep(ledger, "\x1b[2J", refusal())
    assert listed(path, capsys) == [[r"'\x1b[2J'", "not taken", "body_differs"]]


def test_each_table_has_room_of_its_own_and_all_that_nobody_adopted_share_one(
    ledger: Ledger, path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger can record a limited number of alarms for each adopted table, and a limited number for all other
    tables together. Neither one table nor somebody who invents tables can therefore crowd out the alarms of other
    tables."""
    monkeypatch.setattr(alarms, "MOST_OF_A_CODE", 3)
    ledger.adopt("royal9-02", EPOCH, KEY.public.hex())
    kept = [keep(ledger, TABLE, refusal(what=f"Body {number}.")) for number in range(5)]
    assert kept == [True] * 3 + [False] * 2
    assert keep(ledger, "royal9-02", refusal())
    assert keep(ledger, TABLE, refusal("signature_invalid"))
    strangers = [keep(ledger, f"stranger-{number}", refusal()) for number in range(5)]
    assert strangers == [True] * 3 + [False] * 2
    assert keep(ledger, "royal9-02", refusal(what="Another."))

    for room, count in ((TABLE, 1_000), (TABLE, 97), ("", 7)):
        ledger.count_left_out(room, "body_differs", count)
    lines = [line.partition("  ")[2] for line in printed(path, capsys)[-4:] if not line.startswith(" ")]
    assert lines == ["tables that nobody adopted  not kept  body_differs", f"{TABLE}  not kept  body_differs"]
    assert "    1,097 more came, the last at this time." in printed(path, capsys, TABLE)


def test_what_comes_often_is_said_a_few_times_a_minute_and_then_counted() -> None:
    alarm_limit = AlarmLimit()
    said = [alarm_limit.may_say(TABLE, refusal(what=f"Body {number}."), True, 0.0) for number in range(1_100)]
    assert said == [True] * 3 + [False] * 1_097
    assert alarm_limit.may_say(TABLE, refusal("signature_invalid"), True, 1.0), "another code"
    assert alarm_limit.may_say("royal9-02", refusal(), True, 1.0), "another table"
    assert alarm_limit.over(59.9) == []
    (counted,) = alarm_limit.over(60.0)
    assert str(counted).startswith(f"body_differs: 1,097 more of table {TABLE} within a minute. The last of them:\n")
    assert "Body 1099." in str(counted)
    assert alarm_limit.over(200.0) == [], "what was said in time needs no count"
    assert alarm_limit.may_say(TABLE, refusal(), True, 200.0)


def test_a_house_that_begins_is_told_of_many_tables_and_of_no_thousands() -> None:
    alarm_limit = AlarmLimit()
    told = sum(
        alarm_limit.may_say("", refusal("epoch_to_adopt", f"{number}"), number < 50, 0.0) for number in range(2_000)
    )
    (counted,) = alarm_limit.over(60.0)
    assert (told, counted.more, counted.left_out) == (30, 1_970, 1_950)
    assert "of tables that nobody adopted" in str(counted)


# The pit as a process.


@needs_mosquitto
def test_what_the_running_pit_refuses_is_kept_over_its_end(house: House, capsys: Told) -> None:
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(event(1), event(2))
    until(pit.out, f"{TABLE} 2 ")
    for _ in range(2):
        far.send_events(event(1, what="Something else."), event(2, key=SigningKey(bytes([7] * 32)), what="Forged."))
        until(pit.err, "signature_invalid")
        far.send_events(event(len(house.held()) + 1))  # the alarms that were said may be said again
        until(pit.out, f"{TABLE} ")
    expected = [[TABLE, "not taken", "body_differs"], [TABLE, "not taken", "signature_invalid"]]
    assert listed(house.ledger, capsys) == expected, "beside the running pit"
    assert any(f"{TABLE}/{EPOCH}/1 came with another body" in line for line in printed(house.ledger, capsys))
    pit.ended(signal.SIGKILL)
    assert listed(house.ledger, capsys) == expected


@needs_mosquitto
def test_a_table_that_floods_the_pit_takes_no_other_tables_room_and_no_thousand_lines(
    house: House, capsys: Told
) -> None:
    far, other = house.far(), house.far("pit/v1/royal9-02/ack")
    far.say_state()
    other.say_state("royal9-02")
    pit = house.pit("--adopt-new")
    other.ack(ack(0))
    forged = SigningKey(bytes([7] * 32))
    epochs = (f"{number:x}" for number in range(alarms.MOST_OF_A_CODE + 50))
    far.send_events(*(event(1, epoch=epoch, key=forged) for epoch in epochs))
    far.send_events(event(1))
    until(pit.out, f"{TABLE} 1 ")
    other.send_events(event(1, "royal9-02", epoch="beef"), table="royal9-02")
    told = until(pit.err, "Table royal9-02 sends events of the epoch beef")
    assert len(told) < 20, "counted, and told when the minute is over"
    assert ["royal9-02", "not taken", "event_of_another_epoch"] in listed(house.ledger, capsys)
    kept = [alarm for alarm in listed(house.ledger, capsys) if alarm[0] == TABLE]
    assert len(kept) == alarms.MOST_OF_A_CODE


@needs_mosquitto
def test_a_full_disk_does_not_end_the_pit_at_a_refusal(house: House, capsys: Told) -> None:
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(event(1))
    until(pit.out, f"{TABLE} 1 ")
    _no_file_may_grow(pit.process.pid)
    far.send_events(event(1, what="Something else."))
    told = until(pit.err, "body_differs")
    assert any("are not kept" in line and "cannot be used" in line for line in told)
    assert printed(house.ledger, capsys) == ["no alarms are kept"]

    _no_file_may_grow(pit.process.pid, no=False)
    far.send_events(event(2))
    until(pit.out, f"{TABLE} 2 ")
    far.send_events(event(1, what="Something else."))
    until(pit.err, "body_differs")
    assert listed(house.ledger, capsys) == [[TABLE, "not taken", "body_differs"]]


def _no_file_may_grow(pid: int, no: bool = True) -> None:
    """Forbid the process `pid` to make any file larger, as if the disk were full. If `no` is false, allow it again. The
    process continues, because Python ignores the signal SIGXFSZ, and only its writes fail."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0 if no else resource.RLIM_INFINITY, resource.RLIM_INFINITY))


# The terms.


@needs_mosquitto
def test_without_settings_the_ledgers_own_terms_stand_and_every_change_is_told(house: House) -> None:
    settings = house.ledger.with_name("pit.toml")

    def told_at_start(*options: str) -> list[str]:
        pit = house.pit(*options)
        lines = until(pit.err, "connected")
        assert pit.ended(signal.SIGTERM) == 0
        return [line for line in lines if line.startswith("pit: meter ")]

    settings.write_text(SETTINGS)
    assert told_at_start("--settings", str(settings)) == [
        (
            "pit: meter royal: new, contribution 20:100, seed 500.00, reserve 0:100, reseed at most 500.00, limit none,"
            " prices any"
        )
    ]
    assert told_at_start() == []
    assert terms(house.ledger) == {"royal": Terms(50_000, Fraction(1, 5), Fraction(0), 50_000)}
    settings.write_text(SETTINGS.replace("20:100", "1:3").replace("50000", "60000"))
    assert told_at_start("--settings", str(settings)) == []
    unchanged = {"royal": Terms(50_000, Fraction(1, 5), Fraction(0), 50_000)}
    assert terms(house.ledger) == unchanged, "a file alone does nothing"
    changes = "meter royal: contribution 20:100 -> 1:3, seed 500.00 -> 600.00, reseed at most 500.00 -> 600.00"
    pit = house.pit("--settings", str(settings))
    assert until(pit.err, changes)[-1].startswith("pit: these terms do not hold before two people have approved them")
    until(pit.err, "connected")
    assert house.decide("terms", "propose", "--reason", "the summer") == 0
    assert pit.ended(signal.SIGTERM) == 0
    assert told_at_start("--settings", str(settings)) == []
    assert told_at_start() == []
    assert terms(house.ledger) == {"royal": Terms(60_000, Fraction(1, 3), Fraction(0), 60_000)}


def terms(path: Path) -> dict[str, Terms]:
    """Return the meters' terms that are in force, read from the ledger's file without the ledger's code."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "SELECT name, seed_cents, contribution, reserve, reseed_at_most_cents FROM meter"
            " JOIN terms ON terms.number = meter.terms"
        ).fetchall()
    return {name: Terms(seed, Fraction(given), Fraction(kept), most) for name, seed, given, kept, most in rows}


@needs_mosquitto
def test_a_new_ledger_without_settings_begins_on_the_examples_terms(house: House) -> None:
    pit = house.pit()
    told = until(pit.err, "connected")
    assert sum(line.startswith("pit: meter ") and ": new, " in line for line in told) == len(default().meters)
    assert terms(house.ledger) == {name: replace(each, prices_cents=()) for name, each in default().meters.items()}


@pytest.mark.parametrize("most", [0, 2])
def test_more_voids_in_a_shoe_than_the_house_expects_are_an_alarm(
    ledger: Ledger, path: Path, capsys: Told, most: int
) -> None:
    """The pit raises an alarm if a shoe has more voided rounds than the house expects. Each void by itself is allowed.
    Without the alarm, one person could void every round whose result he does not like."""
    ledger.watch_voids(most)
    evening = TableEvening(TABLE, ROYAL9_METERS)
    for _ in range(most + 1):
        evening.lock(1, 2)
        evening.void(1, 2)
    ledger.receive([(TABLE, body) for body in evening.sent])
    told = listed(path, capsys)
    assert [code for *_, code in told] == ["many_voids"]
    assert f"has voided {most + 1} rounds with progressive wagers in shoe 1" in printed(path, capsys)[1]


def test_the_voids_of_another_shoe_or_table_are_not_counted(ledger: Ledger, path: Path, capsys: Told) -> None:
    ledger.adopt("royal9-02", EPOCH, KEY.public.hex())
    for table in (TABLE, "royal9-02"):
        evening = TableEvening(table, ROYAL9_METERS)
        for shoe in (1, 2):
            for _ in range(2):
                evening.lock(1)
                evening.void(1)
            evening.shoe = shoe + 1
        ledger.receive([(table, body) for body in evening.sent])
    assert printed(path, capsys) == ["no alarms are kept"]
