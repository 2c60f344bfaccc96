"""Checks how people at the pit ask a table which program it runs. The pit compares the table's answer with its own
files, and records the answer.

The adversary is somebody who changed a table's program and gains from a wrong answer. In the tests, a simulated table
gives such answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.basics.digest import program_digest, proof
from controller.basics.errors import TableError
from controller.contract.keys import SigningKey
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import read_alarms
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.house import TABLE, House
from tests.support.brokers import needs_mosquitto
from tests.support.errors import raising

OWN = program_digest()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        ledger.serve()
        ledger.sign_by(SigningKey(bytes([7] * 32)))
        for table in ("a", "b"):
            ledger.adopt(table, EPOCH, KEY.public.hex())
        yield ledger


def answer(nonce: str, program: str = OWN, proven: str | None = None) -> dict[str, Any]:
    return {"nonce": nonce, "version": "1", "now": program, "configuration": "0" * 64, "proof": proven or proof(nonce)}


def tells(ledger: Ledger, table: TableEvening, details: dict[str, Any]) -> list[str]:
    """Let the table answer the pit's question which program it runs, with these details. Return the codes of the
    alarms."""
    received = ledger.receive([(table.table, table.say("alarm", code="program_measured", details=details))])
    assert not received.refused
    return [alarm.code for event in received.committed for alarm in event.alarms]


def judged(ledger: Ledger, nonce: str) -> TableError | None:
    question, told = ledger.measures.answer(nonce)
    assert told is not None
    return question.amiss(told)


def test_a_table_with_the_pits_own_program_is_found_well(ledger: Ledger) -> None:
    table = TableEvening("a")
    nonce = ledger.ask_measure("a", "ann")
    assert ledger.measures.answer(nonce)[1] is None
    assert not tells(ledger, table, answer(nonce))
    assert judged(ledger, nonce) is None


def test_another_program_and_a_remembered_digest_are_found_and_kept(ledger: Ledger, tmp_path: Path) -> None:
    table = TableEvening("a")
    differs, remembered = ledger.ask_measure("a", "ann"), ledger.ask_measure("a", "ann")
    assert tells(ledger, table, answer(differs, "1" * 64)) == ["program_differs"]
    assert tells(ledger, table, answer(remembered, proven=proof(differs))) == ["measure_not_proven"]
    assert [getattr(judged(ledger, nonce), "code", None) for nonce in (differs, remembered)] == [
        "program_differs",
        "measure_not_proven",
    ]


def test_an_old_answer_and_another_tables_answer_count_for_nothing(ledger: Ledger) -> None:
    """The pit asks a table which program it runs. If that program was changed, the table might send its old answer once
    more, or an honest table might answer in its place. The pit accepts neither."""
    changed, true = TableEvening("a"), TableEvening("b")
    old = ledger.ask_measure("a", "ann")
    assert not tells(ledger, changed, answer(old))
    assert tells(ledger, changed, answer(old)) == ["measure_unasked"]
    nonce = ledger.ask_measure("a", "ann")
    assert tells(ledger, changed, answer(old)) == ["measure_unasked"]
    assert tells(ledger, true, answer(nonce)) == ["measure_unasked"]
    assert tells(ledger, true, answer("0" * 64)) == ["measure_unasked"]
    assert ledger.measures.answer(nonce)[1] is None


def test_a_question_needs_an_adopted_table_and_is_a_signed_decision(ledger: Ledger) -> None:
    with raising("table_unknown"):
        ledger.ask_measure("nobody", "ann")
    with raising("measure_unknown"):
        ledger.measures.answer("0" * 64)
    nonce = ledger.ask_measure("a", "ann")
    decided = ledger.decided()[-1]
    told = {name: decided[name] for name in ("measure", "epoch", "nonce", "program", "proof")}
    assert told == {"measure": "a", "epoch": EPOCH, "nonce": nonce, "program": OWN, "proof": proof(nonce)}
    assert "signature" in decided


@needs_mosquitto
def test_whoever_asks_at_the_pit_reads_what_the_table_answered(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person at the pit who asks a table which program it runs reads the table's answer. The table answers two such
    questions: first with its true files, then with another digest."""
    far, _ = house.adopting()
    far.said()
    table = house.far(f"pit/v1/{TABLE}/measure")
    evening = TableEvening(TABLE)
    programs = iter((OWN, "1" * 64))

    def say(_: object) -> None:
        asked = json.loads(table.next().payload)
        details = answer(asked["nonce"], next(programs))
        far.send_events(evening.say("alarm", code="program_measured", details=details))

    for wanted, code in (("this pit's own program", 0), ("program_differs: ", 1)):
        with ThreadPoolExecutor(1) as thread:
            answered = thread.submit(say, None)
            assert house.decide("measure", TABLE) == code
            answered.result()
        assert wanted in "".join(capsys.readouterr())
    assert [alarm.code for alarm in read_alarms(house.ledger, TABLE)] == ["program_differs"]
