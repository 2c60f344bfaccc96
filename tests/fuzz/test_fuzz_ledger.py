"""Checks of the pit's ledger with changed events that are signed with a table's own key: whatever an event says, the
pit's account still adds up."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.daemon.config import load
from controller.daemon.script import Complaint, ScriptTable
from controller.people.cli.programs import EXAMPLE_TABLE
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from tests.fuzz.fuzzing import change_json
from tests.fuzz.targets import SCRIPTS

_KEY = SigningKey(bytes(32))
_EPOCH = "ab12cd"
_SAMPLE, _PROOF = 150, 6_000


def _events() -> list[dict[str, Any]]:
    """Return the events that a table sends when it plays the example scripts."""
    config = load(EXAMPLE_TABLE)
    played = [
        body for script in sorted(SCRIPTS.glob("*.script")) for body in ScriptTable(config).play(script.read_text())
    ]
    return [json.loads(body) for body in played if not isinstance(body, Complaint)]


def _signed(message: dict[str, Any], table: str, seq: int) -> bytes:
    """Return the message as event number `seq` of the table `table`, signed with the table's key."""
    place = {"id": f"{table}/{_EPOCH}/{seq}", "table": table, "epoch": _EPOCH, "seq": seq, "chain": f"{seq:064x}"}
    unsigned = {name: value for name, value in message.items() if name != "signature"} | place
    return canonical(unsigned | {"signature": base64.b64encode(_KEY.sign(canonical(unsigned))).decode()})


def _abuse(folder: Path, seed: int, count: int) -> tuple[int, int]:
    """Send the pit `count` changed events. Return how many of them it committed, and how many alarms they raised."""
    luck, events, table = random.Random(seed), _events(), "royal9-01"
    ledger = Ledger(folder / "ledger")
    ledger.set_terms(default().meters)
    ledger.adopt(table, _EPOCH, _KEY.public.hex())
    committed = alarms = 0
    for number in range(count):
        changed = change_json(luck, canonical(luck.choice(events)), (), ())
        try:
            body = _signed(json.loads(changed), table, committed + 1)
        except (ValueError, AttributeError):
            body = changed  # what no key could sign
        try:
            received = ledger.receive([(table, body), (table, changed)])
        except Exception as error:
            raise AssertionError(f"seed {seed}, event {number}: {body[:2000]!r}") from error
        committed += len(received.committed)
        alarms += sum(len(event.alarms) for event in received.committed)
        if number % 50 == 49:
            account = ledger.account()
            assert all(meter.balances for meter in account.meters), (seed, number)
            assert account.findings == (), (seed, number)
    ledger.close()
    return committed, alarms


def test_a_sample_of_signed_nonsense(tmp_path: Path) -> None:
    committed, alarms = _abuse(tmp_path, 1, _SAMPLE)
    assert committed > _SAMPLE // 2
    assert alarms > 10


@pytest.mark.proof
def test_signed_nonsense(tmp_path: Path, figure: Callable[[str], None]) -> None:
    committed, alarms = _abuse(tmp_path, 2, _PROOF)
    figure(f"{_PROOF:,} changed and signed events: {committed:,} committed, {alarms:,} alarms, every account adds up")
