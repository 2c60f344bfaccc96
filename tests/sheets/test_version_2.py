"""Checks that the scripts of the rule sheets still give the same events as under version 2 of the contract, except for
renamed fields.

`version_2.json.gz` has the events of each example as the program wrote them at commit c0bad90, but without their
sentences and the hash chain.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.contract.old_events import NEW_IN_4, as_now
from controller.daemon.script import Complaint, ScriptTable
from tests.sheets.test_sheets import Example, as_played, examples

BEFORE: dict[str, Any] = json.loads(gzip.decompress(Path(__file__).with_name("version_2.json.gz").read_bytes()))
_NOT_COMPARED = {"at", "chain", "config_digest", "contract", "version"}
"""A script's time counts its steps, and a round of Baccarat Royal has one more by now."""
RENAMED = {
    "wagers_locked": ({"royal9_seats", "royal9_price_cents", "refused_seats", "refusal"}, {"progressive"}),
    "round": ({"royal9_seats", "royal9", "last_hand"}, {"progressive", "awards", "final_round"}),
    "correction": ({"royal9", "royal9_before"}, {"awards", "awards_before"}),
    "shoe_closed": ({"wagered_hands"}, {"wagered_rounds"}),
    "void": ({"royal9_seats"}, {"progressive"}),
    "hit": (set(), {"spot"}),
    "award": (set(), {"spot"}),
}
"""By the type of an event: the fields that went, and those that came."""
RENAMED_CODES = {"royal9_needs_main": "needs_another"}
"""What a wager was refused with: the code that every bet has which needs another."""


def _compared(event: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps({name: value for name, value in event.items() if name not in _NOT_COMPARED})
    for before, now in RENAMED_CODES.items():
        text = text.replace(f'"{before}"', f'"{now}"')
    told: dict[str, Any] = json.loads(text)
    return told


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=() if example.sheet == "royal9" else pytest.mark.proof, id=str(example))
        for example in examples()
        if str(example) in BEFORE
    ],
)
def test_a_sheets_script_gives_the_events_it_gave(example: Example, tmp_path: Path) -> None:
    before = BEFORE[str(example)]
    config = as_played(example, tmp_path)
    shoe = replace(config.rules.shoe, cut_card_tolerance=52 * config.rules.shoe.decks)  # there was no such alarm
    config = replace(config, rules=replace(config.rules, shoe=shoe, procedure=2))  # nor an event of odd cards
    table = ScriptTable(config)
    scripts = [script for script, _ in example.steps]
    if not scripts[0].startswith("!new-shoe"):
        scripts.insert(0, "!new-shoe AS 2D")
    outcomes = [outcome for script in scripts for outcome in table.play(script)]
    now = [_compared(json.loads(outcome)) for outcome in outcomes if not isinstance(outcome, Complaint)]
    meters = [meter for bet in config.rules.progressives for meter in bet.meters]
    assert now == [_compared(as_now(event, meters)) for event in before]
    for old, new in zip(before, now, strict=True):
        went, came = RENAMED.get(new["type"], (set(), set()))
        if "dealer" in new:  # a round of Lucky 9 says nothing of such bets
            went, came = {"last_hand"}, {"final_round"}
        names = (old.keys() - went | came) | NEW_IN_4.get(new["type"], {}).keys()
        assert new.keys() == names - _NOT_COMPARED
