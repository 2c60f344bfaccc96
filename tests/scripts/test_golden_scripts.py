"""Plays the golden scripts: rounds that a dealer would recognise, each with the events that the table must send.

A `.script` file has the form that `tablectl deal` reads. The lines that begin with `#>` are the expected outcomes of
the lines directly above them (`telling.py` has the form). A first line `# house: decks=1 …` changes the example table's
rules. With `table=lucky9` in that first line, the rules of the shipped table lucky9 are changed instead.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.daemon.config import Config, load
from controller.daemon.script import ScriptTable
from controller.words.language import language
from tests.scripts.telling import line
from tests.support.tables import TABLES, house

SCRIPTS = sorted(Path(__file__).parent.glob("*.script"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_gives_what_stands_beside_it(script: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()
    table = ScriptTable(_config(lines[0]))
    given, first = [], 1
    for expected, block in groupby(lines, lambda text: text.startswith("#>")):
        texts = list(block)
        if not expected:  # blank lines before it, so that what goes wrong is told with its line in the file
            outcomes = table.play("\n" * (first - 1) + "\n".join(texts))
            given += [*texts, *(f"#> {line(outcome)}" for outcome in outcomes)]
        first += len(texts)
    assert given == lines


def _config(first_line: str) -> Config:
    changes = first_line.removeprefix("# house:").split() if first_line.startswith("# house:") else []
    values = {name: _value(text) for name, text in (change.split("=") for change in changes)}
    config = load(TABLES / f"{values.pop('table', 'royal9')}.toml")
    known = values.pop("bet_recognition", config.rules.bet_recognition)
    return replace(config, rules=house(replace(config.rules, bet_recognition=known), **values))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_every_refusal_of_what_a_script_can_ask_for_is_met_in_one() -> None:
    everything = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    of_corrections = {"no_such_round", "not_a_hand"}
    of_corrections |= {"other_hands", "other_seats", "not_by_the_rules"}
    of_hits = {"award_old", "award_impossible", "no_disputed_award", "award_differs", "no_hit", "hit_shown"}
    of_the_pit = {"no_pit_key", "pit_key_differs", "pit_key_pinned", "pit_stands_by_it", "win_old"}
    of_two_people = {"no_proposal", "proposal_changed"}
    of_bet_recognition = {"wager_other_round", "wager_other_table", "wager_old", "wager_leaps"}
    of_bet_recognition |= {"recognition_key_due", "recognition_key_other", "recognition_key_pinned"}
    of_other_acts = {
        "fault_changed",
        "card_in_doubt",
        "fault_unnamed",
        "shown_changed",
        *of_corrections,
        *of_hits,
        *of_two_people,
        *of_bet_recognition,
        *of_the_pit,
    }
    assert {code for code in language().sections["refusal"] if f": {code}\n" not in everything} == of_other_acts
