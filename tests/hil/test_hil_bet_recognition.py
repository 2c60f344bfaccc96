"""Checks bet recognition (a system that sees the chips) with a real broker. Two people adopt its key, and each message
signed with that key counts once."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from controller.contract.fingerprint import fingerprint
from tests.hil.bench import Bench

THIEF = Ed25519PrivateKey.from_private_bytes(bytes(32))


def alarms(at: Bench) -> list[str]:
    return [alarm["code"] for alarm in at.pit.told("alarm")]


def refused(at: Bench) -> dict[str, int]:
    """Return how many messages of bet recognition the table did not believe, by the reason for the disbelief."""
    counts: dict[str, int] = at.table.status().recognition.not_believed
    return counts


@pytest.mark.long
@pytest.mark.table(table={"bet_recognition": True})
def test_only_the_key_that_two_people_adopted_stakes_and_each_of_its_words_stakes_once(at: Bench) -> None:
    at.dealer.open_shoe()
    recorded = at.pit.wager(seat=2, spot="player", cents=2000)
    at.eventually(lambda: alarms(at) == ["recognition_key_due"])
    shown = at.table.tablectl("recognition-key").stdout
    assert "adopted: none" in shown
    assert "tablectl recognition-key" in shown

    asked = at.table.tablectl("recognition-key", "--trust", at.pit.recognition_hex, "--by", "Ann")
    assert "waits" in asked.stdout, asked.stderr
    at.pins.confirm("deal")
    key = fingerprint(bytes.fromhex(at.pit.recognition_hex))
    at.eventually(lambda: at.table.status().recognition.key == key)
    at.eventually(lambda: alarms(at)[1:] == ["recognition_key_adopted"])
    assert at.pit.told("alarm")[1]["details"] == {"key": key, "by": "Ann, key"}
    assert f"bet recognition: its key is {key}" in at.table.tablectl("status").stdout

    unsigned: dict[str, Any] = json.loads(recorded)
    del unsigned["signature"]
    at.pit.say_on("wager", json.dumps(unsigned).encode())
    at.pit.say_on("wager", at.pit.signed("wager", THIEF, **(unsigned | {"seq": time.time_ns() // 1_000_000})))
    at.eventually(lambda: alarms(at)[2:] == ["wager_word_forged"] * 2)
    assert not at.table.face.wagers

    seen = at.pit.wager(seat=2, spot="player", cents=2000)
    at.eventually(lambda: len(at.table.face.wagers) == 1)
    gone = at.pit.wager(seat=2, spot="player", cents=0)
    at.eventually(lambda: not at.table.face.wagers)
    at.table.restart()
    at.eventually(at.table.links_up)
    for word in (recorded, seen, gone, seen):
        at.pit.say_on("wager", word)
    at.pit.say_on("wager", b"the last")
    at.eventually(lambda: refused(at) == {"unsigned": 1})
    assert not at.table.face.wagers
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: len(at.pit.rounds) == 1)
    assert at.pit.told("wagers_locked")[0]["wagers"] == []
    at.pit.say_on("wager", seen)
    at.eventually(lambda: at.pit.state.next_round == 2)
    at.pit.wager(seat=3, spot="banker", cents=2000)
    at.eventually(lambda: [wager.seat for wager in at.table.face.wagers] == [3])
