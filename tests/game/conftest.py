"""Fixtures with the Royal 9 game file: the parsed file, its rules for third cards, and its bets."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from controller.rules.game.baccarat import Tableau
from controller.rules.game.bets import Bet
from tests.support.bets import bets_of

_GAME_FILE = Path(__file__).parents[2] / "config" / "games" / "royal9.toml"


@pytest.fixture(scope="session")
def royal9_game() -> dict[str, Any]:
    """The Royal 9 game file as parsed TOML, before the program turns it into rules."""
    return tomllib.loads(_GAME_FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tableau(royal9_game: dict[str, Any]) -> Tableau:
    rows = royal9_game["punto_banco"]["tableau"]
    return Tableau(
        natural=tuple(rows["natural"]),
        player_draws_on=tuple(rows["player_draws_on"]),
        banker_draws_on_when_player_stands=tuple(rows["banker_draws_on_when_player_stands"]),
        banker_draws_on_third_card={int(b): tuple(row) for b, row in rows["banker_draws_on_third_card"].items()},
    )


@pytest.fixture(scope="session")
def bets() -> tuple[Bet, ...]:
    """The bets of rule sheet 000, which is the sheet of the game Royal 9."""
    return bets_of("royal9")
