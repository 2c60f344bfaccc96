"""Tests of the conformance kit. For each clause of the contract, the kit must pass a pit or a table that keeps the
clause, and must find one that breaks it."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from controller.contract.canonical import parse_object
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.old_events import as_now
from controller.contract.pit_words import AwardStep
from controller.pit.conformance import pit_kit, pit_stream_checks
from controller.pit.conformance.checking import BrokenError, Checks
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.deeds import PIT_DEEDS, TABLE_DEEDS, Deeds, NotTriedError, read_commands
from controller.pit.conformance.far_table import FarTable, in_words_of
from controller.pit.conformance.main import main
from controller.pit.conformance.pit_checks import CHECKS as PIT_CHECKS
from controller.pit.conformance.pit_kit import PitKit, over_starts
from controller.pit.conformance.report import Line, Report, Result
from controller.pit.conformance.table_checks import CHECKS as TABLE_CHECKS
from controller.pit.conformance.wire import Address, Wire, now_text
from tests.conformance.defects import PIT_DEFECTS, ROOT, Defect
from tests.conformance.house import try_reference_pit, try_second_pit
from tests.conformance.table_defects import TABLE_DEFECTS
from tests.conformance.table_house import try_reference_table
from tests.support.brokers import Broker, needs_mosquitto
from tests.support.contract import check_message
from tests.support.errors import raising
from tests.support.waiting import PATIENCE_S

_AT_ONCE = ("P01", "P03", "P04", "P05", "P07", "P09", "P18", "P20")
"""Clauses of a pit that are tried in a few seconds."""

_NOWHERE = Address("127.0.0.1", 1, "pit/v1")

_ENVELOPE = {"id", "contract", "table", "epoch", "seq", "at", "clock_synchronised", "shoe"}

_AT_ONCE_AT_A_TABLE = ("T01", "T05", "T24", "T29", "T30", "T31", "T32", "T33", "T34", "T35")
"""The same of a table."""


def _told(report: Report) -> list[str]:
    return [f"{line.clause.number} {line.result.value}: {line.why}" for line in report.lines if line.why]


@pytest.mark.parametrize(
    ("of", "checks", "defects"), [("P", PIT_CHECKS, PIT_DEFECTS), ("T", TABLE_CHECKS, TABLE_DEFECTS)]
)
def test_every_clause_has_one_check_and_one_defect_at_least(
    of: str, checks: Collection[str], defects: Sequence[Defect]
) -> None:
    numbers = [clause.number for clause in clauses(of)]
    assert sorted(checks) == numbers == sorted({*numbers})
    assert {defect.clause for defect in defects} == {*numbers}


@needs_mosquitto
def test_what_the_kit_says_as_a_table_keeps_the_contract(tmp_path: Path) -> None:
    broker = Broker(tmp_path).start()
    table = FarTable(Address("127.0.0.1", broker.port, "pit/v1"), "kit-1")
    hit = f"kit-1/{table.epoch}/4"
    step = AwardStep("kit-1.1", hit, "kit-1", 1, "kit", "grand", 500, "pending", "pit", now_text(), 1)
    said = (
        table.reset(),
        table.lock("grand", (1, 2)),
        table.lock("grand", (1,), 333, refused=(2,)),
        table.void((1,)),
        table.dealt((1, 2), (1,)),
        table.hit(1, ("grand", "1:10", 1000)),
        table.hit(1, 5000),
        table.award(step),
    )
    try:
        for body in said:
            check_message("event", table.make(body))
        heard = Wire(Address("127.0.0.1", broker.port, "pit/v1"), [table.topics.state])
        assert heard.wait(lambda: bool(heard.heard), PATIENCE_S)
        check_message("state", heard.heard[0].payload)
        heard.close()
    finally:
        table.go()
        broker.stop()


@pytest.mark.proof
def test_a_defect_can_be_planted() -> None:
    for defect in [*PIT_DEFECTS, *TABLE_DEFECTS]:
        _can_be_planted(defect)


def _can_be_planted(defect: Defect) -> None:
    compile(defect.planted(), defect.file, "exec")


def test_a_defect_names_only_what_is_there(tmp_path: Path) -> None:
    """No planted defect uses an undefined name. A program that ends with a NameError would break most clauses, and so
    would not show whether the conformance kit finds the intended defect."""
    for number, defect in enumerate([*PIT_DEFECTS, *TABLE_DEFECTS]):
        (tmp_path / f"{number}.py").write_text(f"# {defect.name}\n{defect.planted()}", "utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=F821", str(tmp_path)]
    done = subprocess.run(ruff, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


_DIED_OF_ITSELF = re.compile(r"^(?:NameError|TypeError|AttributeError): .*", re.MULTILINE)


@pytest.mark.parametrize("page", ["docs/conformance.md", "docs/promises.md", "docs/tests.md"])
def test_the_pages_count_the_planted_defects(page: str) -> None:
    planted = len(PIT_DEFECTS) + len(TABLE_DEFECTS)
    assert re.search(rf"\b{planted}\b", (ROOT / page).read_text("utf-8")), f"{page} does not say {planted}"


def test_a_kit_says_old_events_in_the_words_of_their_version() -> None:
    """The conformance kit can write an event as contract version 2 has it. Its fields are the same as in the real old
    events in `version_2.json.gz`."""
    evenings = json.loads(gzip.decompress((ROOT / "tests/sheets/version_2.json.gz").read_bytes()))
    evenings_of_royal9_last = sorted(evenings, key=lambda name: name.startswith("royal9:"))
    then = {event["type"]: event for name in evenings_of_royal9_last for event in evenings[name]}
    table = object.__new__(FarTable)  # no broker is needed for bodies
    table.round = 0
    for body in (
        table.lock("grand", (1, 2)),
        table.void((1,)),
        table.dealt((1, 2), (1,)),
        table.hit(1, ("grand", "1:1", 5)),
    ):
        ours, theirs = in_words_of(2, body), then[str(body["type"])]
        assert ours.keys() == theirs.keys() - _ENVELOPE | {"type", "round"}
        of_royal9 = json.loads(json.dumps(body).replace('"spot": "kit"', '"spot": "royal9"'))
        assert as_now(ours, ["grand"]) == of_royal9
        assert in_words_of(3, body).keys() != body.keys() or body["type"] == "wagers_locked"


def test_a_deed_that_is_refused_breaks_its_clause_and_a_deed_that_nobody_can_do_is_not_tried() -> None:
    wanted = clauses("P")[:3]
    deeds = Deeds(PIT_DEEDS, {"pay": "printf 'the award\\n{award} is paid' >&2; exit 4", "verify": "true"}, asks=False)
    checks: Checks[Deeds] = Checks()
    for clause, deed in zip(wanted, ("pay", "verify", "reject"), strict=True):
        checks.clause(clause.number)(partial(_do, deed))
    lines = checks.lines(deeds, wanted, lambda line: None)
    assert [line.result for line in lines] == [Result.BROKEN, Result.KEPT, Result.NOT_TRIED]
    assert "ended with 4" in lines[0].why
    assert "the award kit-1.1 is paid" in lines[0].why
    assert deeds.refusal("verify", award="kit-1.1") is None
    assert "is paid" in (deeds.refusal("pay", award="kit-1.1") or "")


@pytest.mark.parametrize(
    ("commands", "why", "looks"),
    [({}, "while the pit runs, .* 'restart'", 0), ({"restart": "true"}, "over a restart, .* 'clock'", 1)],
)
def test_where_nobody_can_start_a_pit_so_the_report_says_what_was_tried(
    commands: dict[str, str], why: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pit_kit, "repeated", lambda *_: None)
    looked: list[None] = []
    with pytest.raises(NotTriedError, match=why):
        over_starts(
            PitKit(_NOWHERE, Deeds(PIT_DEEDS, commands, asks=False)),
            _table_that_hears_nothing(),
            lambda: looked.append(None),
        )
    assert len(looked) == looks


def test_a_pit_that_breaks_a_clause_with_its_clock_behind_gets_its_clock_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pit_kit, "repeated", lambda *_: None)
    clocks = tmp_path / "clocks"
    deeds = Deeds(PIT_DEEDS, {"restart": "true", "clock": f"echo {{behind_s}} >>{clocks}"}, asks=False)

    def look() -> None:
        if clocks.exists():
            raise BrokenError("The times went back.")

    with pytest.raises(BrokenError):
        over_starts(PitKit(_NOWHERE, deeds), _table_that_hears_nothing(), look)
    assert clocks.read_text("utf-8").split() == ["60", "0"]


def _table_that_hears_nothing() -> FarTable:
    """Return a simulated table that has no broker and so receives nothing."""
    table = object.__new__(FarTable)
    table.wire = object.__new__(Wire)
    table.wire.heard = []
    return table


def _do(deed: str, deeds: Deeds) -> None:
    deeds.do(deed, award="kit-1.1")


@pytest.mark.parametrize(("said", "refusal"), [("", None), ("it is paid", "it is paid")])
def test_a_person_who_is_asked_for_a_deed_can_say_that_it_was_refused(
    said: str, refusal: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{said}\n"))
    assert Deeds(PIT_DEEDS, {}, asks=True).refusal("pay", award="kit-1.1", table="kit-1") == refusal


@pytest.mark.long
@needs_mosquitto
def test_the_reference_pit_keeps_the_clauses_of_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pit_stream_checks, "ENDS", 1)
    report = try_reference_pit(tmp_path, only=_AT_ONCE)
    assert not _told(report)
    assert len(report.lines) == len(_AT_ONCE)


@needs_mosquitto
def test_a_defect_of_a_pit_of_a_sample_is_found_at_its_clause(tmp_path: Path) -> None:
    (defect,) = (defect for defect in PIT_DEFECTS if defect.name == "what comes after a gap is committed")
    report = try_reference_pit(tmp_path, defect.plant(tmp_path / "copy"), ["P04", defect.clause])
    assert [line.result for line in report.lines] == [Result.KEPT, Result.BROKEN]


def test_a_report_says_every_line_in_each_form_and_is_signed() -> None:
    one, other, third = clauses()[:3]
    lines = (
        Line(one, Result.KEPT, "", 0.1),
        Line(other, Result.BROKEN, "An ack of <7> came.", 0.2),
        Line(third, Result.NOT_TRIED, "nobody could restart it", 0.3),
    )
    report = Report.of("the pit", "127.0.0.1:1883", lines)
    suite = ElementTree.fromstring(report.junit())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [case.get("classname") for case in suite] == [one.number, other.number, third.number]
    assert "An ack of &lt;7&gt; came." in report.page()
    assert "An ack of <7> came." in report.text()
    key = SigningKey(bytes(32))
    message = parse_object(report.signed(key, key.public.hex()))
    assert signature_holds(message, key.public)
    assert not signature_holds({**message, "at": "2000-01-01T00:00:00.000Z"}, key.public)


def test_a_message_without_a_field_breaks_the_clause_that_looks_at_the_field() -> None:
    wanted = clauses("T")[:2]
    checks: Checks[dict[str, str]] = Checks()
    checks.clause(wanted[0].number)(lambda kit: print(kit["progressive"]))
    checks.clause(wanted[1].number)(lambda kit: None)
    lines = checks.lines({}, wanted, lambda line: None)
    assert [line.result for line in lines] == [Result.BROKEN, Result.KEPT]
    assert "KeyError: 'progressive'" in lines[0].why


@pytest.mark.long
@needs_mosquitto
def test_a_second_pit_of_other_libraries_keeps_the_clauses_of_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pit_stream_checks, "ENDS", 1)
    assert not _told(try_second_pit(tmp_path, only=_AT_ONCE))


@pytest.mark.proof
@needs_mosquitto
def test_a_second_pit_of_other_libraries_keeps_every_clause(tmp_path: Path, figure: Callable[[str], None]) -> None:
    """The second pit, which uses other libraries, keeps every clause that the conformance kit tries. The kit reports
    two clauses as not tried, because they are about cosigning journals. This pit does not cosign, and no pit has to."""
    report = try_second_pit(tmp_path)
    not_tried = [line.clause.number for line in report.lines if line.result is Result.NOT_TRIED]
    assert not_tried == ["P41", "P42"]
    assert len(_told(report)) == len(not_tried)
    assert all("it is no witness" in line.why for line in report.lines if line.result is Result.NOT_TRIED)
    figure(f"{report.summary} of {len(PIT_CHECKS)} clauses")


@pytest.mark.proof
@needs_mosquitto
def test_the_reference_pit_keeps_every_clause(tmp_path: Path, figure: Callable[[str], None]) -> None:
    report = try_reference_pit(tmp_path)
    assert not _told(report)
    figure(f"{report.summary} of {len(PIT_CHECKS)} clauses")


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("defect", PIT_DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_of_a_pit_is_found_at_its_clause(
    defect: Defect, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    report = try_reference_pit(tmp_path, defect.plant(tmp_path / "copy"), [defect.clause])
    log = (tmp_path / "pit.log").read_text("utf-8")
    assert [line.result for line in report.lines] == [Result.BROKEN], log[-2000:]
    assert _DIED_OF_ITSELF.findall(log) == []
    figure(f"found at {defect.clause}: {report.lines[0].why}")


@pytest.mark.long
@needs_mosquitto
def test_the_table_keeps_the_clauses_of_a_sample(tmp_path: Path) -> None:
    report = try_reference_table(tmp_path, only=_AT_ONCE_AT_A_TABLE)
    assert not _told(report)
    assert len(report.lines) == len(_AT_ONCE_AT_A_TABLE)


@pytest.mark.proof
@needs_mosquitto
def test_the_table_keeps_every_clause(tmp_path: Path, figure: Callable[[str], None]) -> None:
    report = try_reference_table(tmp_path)
    assert not _told(report)
    figure(f"{report.summary} of {len(TABLE_CHECKS)} clauses")


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("defect", TABLE_DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_of_a_table_is_found_at_its_clause(
    defect: Defect, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    report = try_reference_table(tmp_path, defect.plant(tmp_path / "copy"), [defect.clause])
    log = (tmp_path / "daemon.log").read_text("utf-8")
    assert [line.result for line in report.lines] == [Result.BROKEN], log[-2000:]
    figure(f"found at {defect.clause}: {report.lines[0].why}")


def test_the_clauses_of_each_side_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert main(["--list", "--table", "kit-01"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*sorted(PIT_CHECKS), *sorted(TABLE_CHECKS), *sorted(TABLE_CHECKS)]


def test_a_reader_of_the_list_may_leave_early(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_text: str) -> int:
        raise BrokenPipeError

    output = io.StringIO()
    monkeypatch.setattr(output, "write", gone)
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main(["--list"]) == 1


def test_a_clause_of_a_table_is_not_tried_at_a_pit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "T01", "--broker", "127.0.0.1:1"]) == 1
    assert "clause_unknown" in capsys.readouterr().err


def test_a_deed_of_a_pit_is_none_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "deeds.toml").write_text('pin = "true"\nadopt = "true"\n')
    with raising("deeds_unusable") as refused:
        read_commands(tmp_path / "deeds.toml", TABLE_DEEDS)
    assert "adopt is not a deed" in str(refused.value)
