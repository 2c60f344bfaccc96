"""Plays the examples of the five rule sheets on a simulated table, and compares the table's answers with those in the
example. The examples are written so that a dealer can read them.

Each `.txt` file beside this module is one sheet. Its first line names the table, and then examples follow, separated by
blank lines. Each example begins with a line `# …`, a sentence of the sheet in our own words. Then comes a script in the
form that `tablectl deal` takes. The sign `=>` is followed by all that the table must answer, and the table may answer
nothing more. The sign is on the same line or on a line of its own. Each example is dealt from a new shoe whose burn (AS
2D) is over, unless the example announces a shoe itself. A line `table: …` selects another table, and `game: …` another
game file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.daemon.config import Config, load
from controller.daemon.script import Complaint, ScriptTable
from controller.table.faults import FAULTS
from controller.words.language import language
from tests.support.contract import check_event
from tests.support.tables import TABLES

SHEETS = sorted(Path(__file__).parent.glob("*.txt"))


@dataclass(frozen=True)
class Example:
    """An example for one sentence of a rule sheet: the steps of a script, and the lines that the table must answer to
    each step."""

    sheet: str
    sentence: str
    settings: dict[str, str]
    steps: list[tuple[str, list[str]]]

    def __str__(self) -> str:
        return f"{self.sheet}: {self.sentence}"


def examples() -> list[Example]:
    """Return every example of all five rule sheets."""
    found = []
    for sheet in SHEETS:
        heading, *blocks = re.split(r"\n\s*\n", sheet.read_text(encoding="utf-8").strip())
        found += [_example(sheet.stem, block, _settings(heading)) for block in blocks]
    return found


def _settings(text: str) -> dict[str, str]:
    return dict(re.findall(r"^(table|game): (.*)$", text, re.MULTILINE))


def _example(sheet: str, block: str, settings: dict[str, str]) -> Example:
    sentences, steps = [], list[tuple[str, list[str]]]()
    for line in block.splitlines():
        if line.startswith("#"):
            sentences.append(line.removeprefix("#").strip())
        elif not re.match(r"table: |game: ", line):
            script, _, expected = (part.strip() for part in line.partition("=>"))
            if script or not steps:
                steps.append((script, []))
            if expected:
                steps[-1][1].append(expected)
    return Example(sheet, " ".join(sentences), settings | _settings(block), steps)


@pytest.mark.parametrize("example", examples(), ids=str)
def test_the_table_plays_by_the_sheet(example: Example, tmp_path: Path) -> None:
    table = ScriptTable(as_played(example, tmp_path))
    if not example.steps[0][0].startswith("!new-shoe"):
        assert list(map(_lines, table.play("!new-shoe AS 2D"))) == [[]]
    for script, expected in example.steps:
        told = [line for outcome in table.play(script) for line in _lines(outcome)]
        assert told == expected, f"{example.sentence}: {script}"


def as_played(example: Example, folder: Path) -> Config:
    """Load the configuration of the table on which an example is played. If the example changes the game file, the
    table's file is written to `folder` first."""
    settings = example.settings
    name, *changes = settings["table"].split()
    file = TABLES / name
    if game := settings.get("game"):
        text = re.sub(r'"\.\./games/.*?"', f'"{TABLES.parent / "games" / game}"', file.read_text(encoding="utf-8"))
        file = folder / name
        file.write_text(text, encoding="utf-8")
        return _as_told(load(file), changes)
    return _as_told(_shipped(file), changes)


@cache
def _shipped(file: Path) -> Config:
    return load(file)


def _as_told(config: Config, changes: list[str]) -> Config:
    return replace(config, rules=replace(config.rules, bet_recognition=True)) if changes else config


# What the table says, as a dealer would.


def _lines(outcome: bytes | Complaint) -> list[str]:
    if isinstance(outcome, Complaint):
        is_fault = outcome.code in FAULTS and outcome.what == language().fault(outcome.code).what
        return [f"{'stopped' if is_fault else 'refused'}: {outcome.code}"]
    event = check_event(outcome, signed=False)
    match event["type"]:
        case "wagers_locked":
            actives = event["actives"]
            roles = [f"seat {actives['player']} is Player, seat {actives['banker']} Banker"] if actives else []
            return roles + [f"{_wager(each)} refused: {each['code']}" for each in event["refused"]]
        case "round":
            return [*_hands(event), *_settled(event)]
        case "void":
            return [f"void: {event['reason']}", *_settled(event)]
        case "hit":
            return [f"seat {event['seat']} hits {event['tier']}"]
        case "commission":
            return [f"seat {event['seat']} pays {_dollars(event['cents'])} commission"]
        case "shoe_closed":
            owed = [f"seat {each['seat']} owes {_dollars(each['cents'])}" for each in event["commission_owed"]]
            return [", ".join([f"shoe closed: {event['reason']}", *owed])]
        case "fault_cleared":
            return [f"fault left: {event['exit']}"]
        case _:
            return []  # a shoe opened; a fault, which comes as what the script is told


def _hands(event: dict[str, Any]) -> list[str]:
    marks = [mark.replace("_", " ") for mark in ("natural", "simulated", "final_round") if event.get(mark)]
    if "dealer" in event:
        lines = [f"dealer {_hand(event['dealer'])}"]
        for each in event["hands"]:
            number = (
                f" hand {each['hand']}" if sum(other["seat"] == each["seat"] for other in event["hands"]) > 1 else ""
            )
            lines.append(f"seat {each['seat']}{number} {_hand(each)}")
        return [", ".join([*lines, *marks])]
    hands = f"player {_hand(event['player'])}, banker {_hand(event['banker'])}"
    return [", ".join([f"{hands}: {event['outcome']}", *marks])]


def _settled(event: dict[str, Any]) -> list[str]:
    return [_became(each) for each in (event["settlement"] or {"wagers": []})["wagers"]]


def _became(each: dict[str, Any]) -> str:
    whose = _wager(each) + (f" hand {each['hand']}" if each["hand"] else "")
    back, result = each["returned_cents"], each["result"].replace("_", " ")
    if result != "won":
        kept = {"lost": 0, "half lost": None}.get(result, each["cents"])
        return f"{whose} {result}" + (f", {_dollars(back)} back" if back != kept else "")
    if each["meter"]:
        return f"{whose} won the meter {each['meter']}"
    commission = each["commission_cents"]
    stake_back = each["cents"] if each["spot"] != "royal9" else 0  # an award is the whole pay (choice)
    if back == stake_back + each["pays_cents"]:
        return f"{whose} won {_dollars(each['pays_cents'])}" + (f", owes {_dollars(commission)}" if commission else "")
    if back == stake_back + each["pays_cents"] - commission:
        return f"{whose} won {_dollars(each['pays_cents'])}, {_dollars(commission)} taken"
    return f"{whose} won {_dollars(each['pays_cents'])}, {_dollars(back)} back"


def _wager(each: dict[str, Any]) -> str:
    return f"seat {each['seat']}{'b' if each['back'] else ''} {each['spot']} {_dollars(each['cents'])}"


def _hand(hand: dict[str, Any]) -> str:
    return f"{' '.join(hand['cards'])} = {hand['total']}"


def _dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
