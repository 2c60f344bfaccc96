"""The least amount at which each progressive meter must begin, so that a smaller award never pays more than the meter.

Example: the cards that win the meter would win a fixed award of $1,500 too. So the meter must begin at $1,500 or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from controller.daemon.config.problems import ConfigError, Problem
from controller.pit.reference.settings import load
from controller.rules.game.reach import least_meters
from controller.table.rules import TableRules
from controller.words.events import dollars


def meter_lines(rules: TableRules, settings: Path | None) -> list[str]:
    """A line with the least amount of each meter that has one; no line where the pit's `settings` are given.

    Raises ConfigError where a seed in the settings is too low or missing, TableError where they cannot be read.
    """
    least_cents = least_meters(rules.play, rules.bets, rules.shoe.decks)
    if settings is None:
        least = [f"{meter} at {dollars(cents)} or more" for meter, cents in sorted(least_cents.items()) if cents]
        compares = "`--pit-settings FILE` compares the pit's settings"
        return [f"the pit must begin the meter {', and '.join(least)}: {compares}"] if least else []
    if problems := [*_wrong(least_cents, settings)]:
        raise ConfigError(problems)
    return []


def _wrong(least_cents: dict[str, int], settings: Path) -> Iterator[Problem]:
    terms = load(settings).meters
    for meter, least in sorted(least_cents.items()):
        if meter not in terms:
            yield Problem(str(settings), f"meters.{meter}", "is missing, and this table awards it", "Add its terms.")
        elif terms[meter].seed_cents < least:
            less = "the meter pays less than a fixed award that the same cards can win"
            what = f"with {terms[meter].seed_cents} cents {less}"
            yield Problem(str(settings), f"meters.{meter}.seed_cents", what, f"Write {least} or more.")
