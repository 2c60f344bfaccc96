"""Checks that the separate program `tools/verify_award.py` accepts true evidence of an award, and refuses every lie.

Somebody who holds an evidence file may want to show another amount or seat. The pit's people may want to hide who paid
what, or to hide that the table reported something else.
"""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey, load_or_make_key, rotate_key, rotations_of
from controller.contract.signing import signed
from controller.pit.reference.__main__ import main
from controller.pit.reference.award_evidence import award_evidence
from controller.pit.reference.ledger import Ledger
from tests.daemon.test_evidence import changed
from tests.documents.blocks import ROOT
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import TERMS, give, opened
from tests.support.errors import raising
from tests.support.ledgers import meet

_TOOL = ROOT / "tools" / "verify_award.py"
_PIT = SigningKey(bytes([7] * 32))
_OTHER = SigningKey(bytes([8] * 32))
AWARD = "t-9.1"


def _tool() -> Any:
    sys.path.insert(0, str(_TOOL.parent))
    try:
        spec = importlib.util.spec_from_file_location("verify_award", _TOOL)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(_TOOL.parent))


VERIFY = _tool()


def refusal(data: bytes, *keys: str | None, of_round: bytes | None = None) -> str | None:
    """Return why the verifier refuses the award's evidence, or None if it accepts the evidence. `of_round` is the
    table's file of the round, if that is checked as well."""
    try:
        VERIFY.judge(data, *keys, of_round=of_round)
    except VERIFY.Refused as refused:
        return str(refused).removeprefix("REFUSED: ")
    return None


def _won(ledger: Ledger) -> tuple[TableEvening, bytes]:
    """Let two people adopt a table, and let the table play three rounds. The second round has a hit of a fixed amount.
    Return the table and the event of the hit."""
    ledger.adopt("t-9", EPOCH, KEY.public.hex(), "ann", "bob")
    table = TableEvening("t-9")
    meet(ledger, "t-9", table.state(), adopt_new=False)
    before = table.lock(2), table.finish()
    won = table.lock(1, 2), table.finish((1, "suited")), table.hit(1, "suited", 5_000)
    give(ledger, table, *before, *won, table.lock(2), table.finish())
    return table, won[-1]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(opened(tmp_path / "ledger", TERMS, _PIT)) as ledger:
        yield ledger


@pytest.fixture
def paid(ledger: Ledger, tmp_path: Path) -> bytes:
    """The evidence file of an award that was verified, printed and paid, and whose verification and payment the table
    has reported."""
    table, hit = _won(ledger)
    ledger.take_step(AWARD, "verified", "ann")
    ledger.print_slip(AWARD, "cho")
    ledger.take_step(AWARD, "paid", "cho")
    table.round = 2
    give(ledger, table, *(_told(table, hit, *step) for step in (("verified", "ann"), ("paid", "cho"))))
    return award_evidence(tmp_path / "ledger", AWARD, _PIT, _PIT.public)


def _told(table: TableEvening, hit: bytes, step: str, by: str) -> bytes:
    return table.say("award", award=AWARD, hit=json.loads(hit)["id"], seat=1, step=step, cents=5_000, by=by)


def test_it_tells_who_verified_printed_and_paid_and_what_the_table_was_told(paid: bytes) -> None:
    told = "\n".join(VERIFY.judge(paid, fingerprint(_PIT.public), fingerprint(KEY.public)))
    for sentence in (
        f"The table's key {fingerprint(KEY.public)} was adopted by account (ann) and account (bob).",
        "Seat 1 won suited on royal9 in round 2 of shoe 1",
        "account (ann) decided",
        "verified, 5000 cents",
        "printed slip 1 at",
        "paid, 5000 cents",
        "The table told of it at 2026-01-01T20:00:00.000Z: paid, 5000 cents, by cho.",
    ):
        assert sentence in told, sentence
    assert {event["round"] for event in json.loads(paid)["events"]} == {2}, "it shows no other round"


@over_both
def test_an_award_on_which_nobody_decided_says_so(at: Any) -> None:
    with closing(opened(at, TERMS, _PIT)) as ledger:
        _won(ledger)
        held = award_evidence(at, AWARD, _PIT, _PIT.public)
        with raising("award_unknown"):
            award_evidence(at, "t-9.2", _PIT, _PIT.public)
    assert "Nobody has decided on this award." in VERIFY.judge(held)


def test_a_file_with_one_byte_changed_is_refused(paid: bytes) -> None:
    places = random.Random(3).sample(range(len(paid)), 150)
    assert [place for place in places if refusal(changed(paid, place)) is None] == []


def _made_anew(paid: bytes, lie: Callable[[Any], object], pit: SigningKey = _PIT, table: SigningKey = KEY) -> bytes:
    """Return an evidence file from a pit that lies with its own key. The function `lie` changes the content of the true
    file `paid`. Every decision and the complete file are then signed again by the key `pit`, and changed events by the
    key `table`."""
    held = json.loads(paid)
    as_it_was = [canonical(event) for event in held["events"]]
    lie(held)
    held["pit_key"] = pit.public.hex()
    again = []
    for event in held["events"]:
        event_of = {name: value for name, value in event.items() if name != "signature"}
        again.append(event if canonical(event) in as_it_was else json.loads(signed(event_of, table)))
    held["events"] = again
    decided: list[Any] = []
    for each in held["decisions"]:
        told = {name: value for name, value in each.items() if name != "signature"}
        if decided and decided[-1]["decision"] + 1 == told["decision"]:
            told["before"] = sha256(canonical(decided[-1])).hexdigest()
        decided.append(json.loads(signed(told, pit)))
    held["decisions"] = decided
    del held["signature"]
    return signed(held, pit)


def _decision(held: Any, step: str) -> Any:
    return next(each for each in held["decisions"] if each.get("step") == step)


def _event(held: Any, kind: str) -> Any:
    return next(each for each in held["events"] if each["type"] == kind)


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        (lambda held: _decision(held, "paid").update(cents=6_000), "not of the hit's amount"),
        (lambda held: _decision(held, "paid").update(by=_decision(held, "verified")["by"]), "verified themselves"),
        (lambda held: held["decisions"].remove(_decision(held, "verified")), "nobody had verified"),
        (lambda held: held.update(decisions=held["decisions"][:1]), "that nobody decided"),
        (lambda held: held["decisions"].reverse(), "out of their order"),
        (lambda held: held["decisions"].pop(0), "Nobody adopted"),
        (lambda held: held["events"].reverse(), "in their order"),
        (lambda held: held["events"].remove(_event(held, "round")), "does not follow a round"),
        (lambda held: held["events"].remove(_event(held, "wagers_locked")), "no wager"),
        (lambda held: held.update(hit=_event(held, "round")["id"]), "of no hit"),
    ],
)
def test_a_pit_that_lies_with_its_own_key_is_refused(lie: Callable[[Any], object], why: str, paid: bytes) -> None:
    assert refusal(_made_anew(paid, lambda _: None)) is None
    assert why in (refusal(_made_anew(paid, lie)) or "holds")


def test_a_pit_cannot_say_of_a_tables_event_what_the_table_did_not(paid: bytes) -> None:
    def other_seat(held: Any) -> None:
        _event(held, "hit").update(seat=2)

    assert "is not as the table signed it" in (refusal(_made_anew(paid, other_seat, table=_OTHER)) or "holds")
    assert "no such award" in (refusal(_made_anew(paid, other_seat)) or "holds"), "a table that lies about its hit"


def test_another_pit_that_signs_everything_anew_has_another_key(paid: bytes) -> None:
    stranger = _made_anew(paid, lambda _: None, pit=_OTHER)
    assert refusal(stranger) is None
    assert refusal(stranger, fingerprint(_PIT.public)) == f"Another pit signed this: {fingerprint(_OTHER.public)}."
    assert refusal(paid, None, fingerprint(_PIT.public)) == f"The table has another key: {fingerprint(KEY.public)}."


def test_a_decision_of_which_the_one_before_was_changed_is_refused(paid: bytes) -> None:
    held = json.loads(paid)
    verified = _decision(held, "verified")
    verified.update(at="2026-01-01T00:00:00.000Z")
    for each in (verified, held):
        del each["signature"]
    held["decisions"] = [json.loads(signed(each, _PIT)) if each is verified else each for each in held["decisions"]]
    assert refusal(signed(held, _PIT)) == "The decisions do not follow each other."


def test_decisions_by_a_former_key_hold_where_it_handed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verifier accepts decisions that a former key of the pit signed, if the former key signed the pit's next key.
    The test uses only commands that people use, and runs the verifier as a separate program."""
    at, key_at = tmp_path / "ledger", tmp_path / "ledger.key"
    with closing(opened(at, TERMS, load_or_make_key(key_at))) as ledger:
        _won(ledger)
        ledger.take_step(AWARD, "verified", "ann")
    rotate_key(key_at)
    new = load_or_make_key(key_at)
    assert len(rotations_of(key_at, new.public)) == 1
    to = tmp_path / "award.evidence"
    assert main(["evidence", AWARD, "--ledger", str(at), "-o", str(to)]) == 0
    assert main(["evidence", AWARD, "--ledger", str(at), "-o", str(to)]) == 1
    assert capsys.readouterr().err.startswith("evidence_not_written: ")
    done = subprocess.run([sys.executable, str(_TOOL), str(to)], capture_output=True, text=True, check=True)
    assert "had handed over to" in done.stdout
    assert done.stdout.endswith("ALL THAT IS SHOWN HOLDS.\n")
    alone = json.loads(to.read_bytes()) | {"rotations": []}
    del alone["signature"]
    assert "did not sign decision" in (refusal(signed(alone, new)) or "holds")
