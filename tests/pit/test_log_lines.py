"""Checks that the log lines of the pit, of head office and of the web pages carry a priority, an id and fields when
these programs run under systemd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.basics.journald import Kind, Priority, message_id
from controller.people.cli.main import main as tablectl
from controller.people.pit_page.look import Look
from controller.people.pit_page.sight import Sight
from controller.people.pit_page.subscriber import NOT_YET
from controller.pit.head_office.main import main as head_office
from controller.pit.reference.__main__ import main as pitctl
from controller.pit.reference.alarm_limit import Counted
from controller.pit.reference.log import say, say_alarm, say_event
from controller.pit.reference.taking import Committed
from tests.support.journal import Heard, journal

ALARM = TableError("meter_unknown", "Table t-0 has a meter\nthat this pit lacks.", "Write it.")
SEES = Look(0, None, None, None, {}, None, None)


def line(program: str, kind: Kind, priority: Priority, **fields: str) -> dict[str, str]:
    """Return the fields that a log line of this program, kind and priority must have, apart from its text."""
    of_each = {"SYSLOG_IDENTIFIER": program, "MESSAGE_ID": message_id(kind.value), "PRIORITY": str(int(priority))}
    return of_each | fields


def bare(heard: Heard) -> list[dict[str, str]]:
    lines = heard.lines()
    assert all(line.pop("MESSAGE") for line in lines)
    return lines


def test_the_pits_lines_have_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with journal(tmp_path, monkeypatch) as heard:
        say("connected")
        say("the broker went away; trying again", Kind.PIT_CUT)
        say_event(Committed("t-0", 7, "hit", ()))
        say_alarm(ALARM, "t-0")
        say_alarm(Counted("", "not_adopted", 12, 0, None))
        assert bare(heard) == [
            line("pitctl", Kind.PIT_TOLD, Priority.INFO),
            line("pitctl", Kind.PIT_CUT, Priority.WARNING),
            line("pitctl", Kind.PIT_EVENT, Priority.INFO, TABLE_ID="t-0", TABLE_EVENT="7", TABLE_EVENT_TYPE="hit"),
            line("pitctl", Kind.PIT_ALARM, Priority.ERR, TABLE_ID="t-0", TABLE_CODE="meter_unknown"),
            line("pitctl", Kind.PIT_ALARM, Priority.ERR, TABLE_CODE="not_adopted"),
        ]
        say_alarm(ALARM)
        (told,) = heard.lines()
        assert told["MESSAGE"] == str(ALARM), "an alarm of three lines is one line of the log"
    assert (tmp_path / "stream").read_text() == "", "journald gets no line twice"


def test_an_error_that_ends_a_program_is_found_by_its_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = str(tmp_path / "gone")
    for program, words in ((pitctl, ["account", "--ledger", gone]), (tablectl, ["check", f"{gone}.toml"])):
        with journal(tmp_path, monkeypatch) as heard:
            assert program(words)
            (told,) = heard.lines()
            assert (told["PRIORITY"], told["MESSAGE_ID"]) == ("3", message_id("error"))
            assert told["MESSAGE"].startswith(f"{told['TABLE_CODE']}: ")
        (tmp_path / "journal").unlink()


def test_head_office_says_what_is_wrong_at_which_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.write_text('{"position": 1, "event": {}}\n')
    with journal(tmp_path, monkeypatch) as heard:
        assert head_office([f"north={log}"]) == 1
        told = heard.lines()
    assert {each["HOUSE"] for each in told} == {"north"}
    wrong = [each for each in told if each["MESSAGE"].startswith("    WRONG: ")]
    assert wrong
    assert {(each["PRIORITY"], each["MESSAGE_ID"]) for each in wrong} == {("3", message_id("house_finding"))}


def test_the_pits_page_says_once_what_it_does_not_see_and_once_that_it_sees_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, sight = "table-pit-page", Sight()
    gone = TableError("ledger_missing", "There is no ledger.", "Name it.")
    with journal(tmp_path, monkeypatch) as heard:
        sight.see(replace(SEES, broker_error=NOT_YET))
        sight.see(SEES)
        assert heard.lines() == []
        for _ in range(2):
            sight.see(replace(SEES, ledger_error=gone, broker_error="it went away"))
        assert bare(heard) == [
            line(name, Kind.PAGE_BLIND, Priority.WARNING, TABLE_CODE="ledger_missing"),
            line(name, Kind.PAGE_BLIND, Priority.WARNING, TABLE_CODE="broker_away"),
        ]
        sight.see(SEES)
        assert bare(heard) == [line(name, Kind.PAGE_SEES, Priority.INFO)] * 2


def test_elsewhere_the_lines_are_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNAL_STREAM", "0:0")  # as of a parent whose streams were the journal's
    say_event(Committed("t-0", 7, "hit", ()))
    say_alarm(ALARM, "t-0")
    told: Any = capsys.readouterr()
    assert (told.out, told.err) == ("t-0 7 hit\n", f"{ALARM}\n")


def test_where_journald_is_gone_the_line_goes_to_the_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with journal(tmp_path, monkeypatch):
        (tmp_path / "journal").unlink()
        say("connected")
    assert (tmp_path / "stream").read_text() == "pit: connected\n"
