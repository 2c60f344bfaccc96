"""The example game files, read with the simulation's own code instead of the controller's."""

from __future__ import annotations

import tomllib
from typing import Any

from msgspec import convert

from controller.people.cli import programs
from drivers.sim.house import Bet, Limits


def bets_of(game: str) -> list[Bet]:
    """Return the bets of an example game file."""
    return convert(_values(game)["bets"], list[Bet])


def says_of(game: str) -> dict[str, Any]:
    """Return the section of an example game file that says how the game is dealt, as a dictionary."""
    values = _values(game)
    says: dict[str, Any] = values[values["kind"]]
    return says


def limits_of(game: str) -> Limits:
    """Return the wager limits of an example game file."""
    return Limits(**_values(game)["wagers"], bets=tuple(bets_of(game)), sensed="royal9" if game == "royal9" else None)


def _values(game: str) -> dict[str, Any]:
    return tomllib.loads(programs.example_game(game).read_text("utf-8"))
