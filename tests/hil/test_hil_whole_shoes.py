"""Plays whole shoes, dealt by simulated people through every connection of the table. The pit's account is compared
with the simulated people's account, line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.bench.far_pit import Event
from controller.people.cli import programs
from tests.hil.bench import Bench

_A_SHOE_S = 120
_ENVELOPE = {"id", "contract", "table", "epoch", "seq", "at", "clock_synchronised", "chain", "signature", "not_read"}


def _in_the_houses_words(event: Event) -> dict[str, Any]:
    """Return a round's event in the form in which the simulated house notes a round in its account."""
    return {key: value for key, value in event.items() if key not in _ENVELOPE}


def _account(path: Path, type_: str, shoes: int) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if line["type"] == type_ and line["shoe"] <= shoes]


@pytest.mark.parametrize(
    ("seed", "shoes"),
    [
        pytest.param(7, 1, marks=pytest.mark.proof, id="a shoe"),
        pytest.param(70, 12, marks=pytest.mark.proof, id="proof"),
    ],
)
def test_the_pits_account_of_a_whole_shoe_is_the_houses(
    seed: int, shoes: int, at: Bench, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    if at.table.files.header_is_real:
        pytest.skip("the simulated people press and look on the pins page alone")
    at.shoe.unplug()  # the people bring their own
    account = tmp_path / "account"
    people = ["-m", "drivers.sim", str(at.table.files.for_people), "--account", str(account)]
    habits = ["--seed", str(seed), "--speed", "0", "--error-rate", "0.05", "--wrap", str(seed % 2)]

    def over() -> bool:
        assert dealing.poll() is None, (tmp_path / "people.log").read_text("utf-8")
        return account.exists() and account.read_bytes().count(b'"shoe_closed"') >= shoes

    with programs.started(programs.python(*people, *habits), tmp_path / "people.log") as dealing:
        at.eventually(over, within_s=shoes * _A_SHOE_S)
    at.eventually(lambda: at.table.unacknowledged() == 0)

    def told(type_: str) -> list[Event]:
        return [event for event in at.pit.told(type_) if event["shoe"] <= shoes]  # they may have begun one more

    theirs = _account(account, "round", shoes)
    ours = [_in_the_houses_words(event) for event in told("round")]
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True), 1):
        assert our == their, f"round {number}"
    won = [(line["shoe"], line["round"], win["seat"], win["tier"]) for line in theirs for win in line["awards"]]
    assert [(hit["shoe"], hit["round"], hit["seat"], hit["tier"]) for hit in told("hit")] == won
    for our, their in zip(told("shoe_closed"), _account(account, "shoe_closed", shoes), strict=True):
        assert {key: our[key] for key in their} == their
        assert our["reason"] == "final_round"
    assert (told("fault"), told("alarm"), told("void")) == ([], [], [])
    assert at.table.verify().messages == len(at.pit.events)

    assert len(theirs) > 70 * shoes
    assert any(line["simulated"] for line in theirs), "no card was drawn in error: choose another seed"
    assert won, "no wager won: choose another seed"
    figure(f"{shoes} shoes, {len(theirs)} rounds and {len(won)} hits compared, {len(at.pit.events)} events, none wrong")
