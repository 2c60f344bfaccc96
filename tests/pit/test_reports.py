"""Checks that each JSON report of the pit and of head office agrees with its schema, and has no key that the schema
does not describe."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from jsonschema import ValidationError

from controller.contract.keeping import seal
from controller.contract.keys import load_or_make_key
from controller.people.care.row import absent, fault, ok, warning
from controller.pit.head_office.main import main as head_office
from controller.pit.reference.__main__ import main
from tests.documents.reports_page import DOCTOR_REPORTS, OFFICE_REPORTS, PIT_REPORTS, held
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.test_gaming_day import Clock, SimulatedHouse, opened
from tests.support.at_desk import practising

PASSPHRASE = "seven words that nobody else would write"


def _reports(folder: Path, wall: Clock) -> Mapping[str, Any]:
    """Return a JSON report of each `pitctl` command, and head office's report on the pit's log. The pit's ledger
    contains each kind of thing that can happen at least once."""
    path, words, output = folder / "ledger", folder / "words", folder / "backup"
    words.write_text(f"{PASSPHRASE}\n")
    words.chmod(0o600)
    key = load_or_make_key(folder / "ledger.key")
    with closing(opened(path, 2)) as ledger:
        ledger.sign_by(key)
        (day,) = SimulatedHouse(ledger, wall, 2, seed=8).play(1, 12)
        award = next(each for each in ledger.awards() if each.step == "pending")
        ledger.take_step(award.id, "verified", "Ann")
        ledger.print_slip(award.id, "Ann")
        ledger.adopt("t-7", EPOCH, KEY.public.hex(), "Ann", "Ben")
        ledger.receive([("t-7", TableEvening("t-9").say("fault", code="x"))])
        ledger.unadopt("t-7", EPOCH, "Ann", "a wrong key", "Ben")
        ledger.retire("t-1", "Ann", "Ben", "sold")
        other = TableEvening("t-5")
        ledger.adopt("t-5", EPOCH, KEY.public.hex(), "Ann", "Ben")
        ledger.receive([("t-5", other.lock(1)), ("t-5", other.void(1))])
        ledger.retire("t-5", "Ann", "Ben", "sold")
        with practising(ledger, path, key) as control:
            assert _printed("award", "pay", "no-such", "--control", control, "--as", "Cas") == (1, "")
            assert _printed("retire", "t-0", "--reason", "x", "--control", control, "--as", "Cas")[0] == 0
            asked = {"desk": ("--control", control, "--as", "Cas"), "verify": (output,), "day": (day,)}
            assert _printed("backup", output, "--ledger", path, "--passphrase-file", words)[0] == 0
            reports = {}
            for report in PIT_REPORTS:
                of = report.command.split("--")[0].strip()
                where = () if of in ("desk", "verify") else ("--ledger", path)
                _, told = _printed(*report.command.split(), *asked.get(of, ()), *where, "--json")
                reports[report.name] = json.loads(told)
    log = folder / "log"
    log.write_text(_printed("events", "--ledger", path)[1] + _printed("statement", "--ledger", path)[1])
    return reports | {"houses": json.loads(_printed(f"north={log}", "--json", program=head_office)[1])}


def _printed(*words: object, program: Callable[[list[str]], int] = main) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as out:
        code = program([str(word) for word in words])
    return code, out.getvalue()


def test_each_report_holds_to_its_schema_and_has_no_other_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "_COST", 2)
    told = _reports(tmp_path, Clock(monkeypatch))
    for report in (*PIT_REPORTS, *OFFICE_REPORTS):
        held(report, told[report.name])
        assert told[report.name], f"{report.name}: there is something to hold"
    with pytest.raises(ValidationError):
        held(PIT_REPORTS[0], told["account"] | {"more": 1})


def test_what_the_doctor_found_holds_to_its_schema() -> None:
    rows = (ok("p", "says"), absent("p", "says"), warning("p", "c", "says", "do"), fault("p", "c", "says", "do"))
    held(*DOCTOR_REPORTS, [row.as_json() for row in rows])
