"""Checks a table's game against the pit's settings. Each progressive meter must begin high enough: the cards that win
the meter must never pay less than a fixed award that the same cards would win. No progressive bet may lose the house's
money in the long run.

Example: the cards that win the meter would also win a fixed award of $1,500. The meter must then begin at $1,500 or
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from controller.basics.money import amount
from controller.daemon.config.problems import ConfigError, Problem
from controller.people.par.long_run import LongRun, long_run
from controller.people.par.page import name_of, percent
from controller.people.par.reach import least_meters
from controller.people.par.sheet import Par
from controller.pit.reference.settings import Settings, load
from controller.rules.game.bets import Bet, bet_on


def meter_lines(sheet: Par, settings: Path | None) -> list[str]:
    """Return the lines that `tablectl check` prints about progressive meters. `settings` is the path of the pit's
    settings file. Without it, one line names the least starting amount of each meter that has one; there is no line if
    no meter has one. With it, each progressive bet whose edge cannot be counted gets a warning. A meter gets a warning
    if a new meter pays less than another award of the same bet that is won at least as often.

    Raises ConfigError if the settings lack a meter, begin a meter too low, or do not accept the price of a bet. Raises
    ConfigError too if a bet keeps less for the house in the long run than the least edge that the settings demand.
    Raises TableError if the settings cannot be read.
    """
    of = sheet.subject
    least_cents = least_meters(of.play, of.bets, of.shoe.decks)
    if settings is None:
        least = [f"{meter} at {amount(cents)} or more" for meter, cents in sorted(least_cents.items()) if cents]
        why = "since the cards that win it can win another award of that worth"
        compares = "`--pit-settings FILE` compares the pit's settings"
        return [f"the pit must begin the meter {', and '.join(least)}, {why}: {compares}"] if least else []
    pit = load(settings)
    runs = long_runs(sheet, pit)
    if wrong := [*_wrong_seeds(least_cents, pit), *_wrong_prices(of.bets, pit), *_wrong_edges(runs, pit)]:
        raise ConfigError(Problem(str(settings), *each) for each in wrong)
    counted = {run.spot for run in runs}
    not_counted = [bet.spot for bet in of.bets if bet.progressive and bet.spot not in counted]
    uncounted = [f"warning: the long-run edge of {spot} is not counted, since people choose" for spot in not_counted]
    return [*uncounted, *dict.fromkeys(_low_seeds(sheet, pit))]


def long_runs(sheet: Par, pit: Settings) -> list[LongRun]:
    """Return what each progressive bet keeps for the house in the long run. A bet is left out if its outcomes are not
    counted, or if the pit's settings lack one of its meters."""
    found = []
    for odds in sheet.bets:
        bet = bet_on(sheet.subject.bets, odds.spot)
        if bet is not None and bet.progressive and odds.outcomes and pit.meters.keys() >= set(bet.meters):
            found.append(long_run(bet, odds, pit.meters))
    return found


def _wrong_seeds(least_cents: dict[str, int], pit: Settings) -> Iterator[tuple[str, str, str]]:
    for meter, least in sorted(least_cents.items()):
        if meter not in pit.meters:
            yield f"meters.{meter}", "is missing, and this table awards it", "Add its terms."
        elif pit.meters[meter].seed_cents < least:
            less = "the meter pays less than a fixed award that the same cards can win"
            what = f"with {pit.meters[meter].seed_cents} cents {less}"
            yield f"meters.{meter}.seed_cents", what, f"Write {least} or more."


def _low_seeds(sheet: Par, pit: Settings) -> Iterator[str]:
    """Yield a warning for each progressive meter that pays too little while it is new: its starting amount pays less
    than another award of the same bet that is won at least as often."""
    for odds in sheet.bets:
        bet = bet_on(sheet.subject.bets, odds.spot)
        each = [*zip(bet.rows if bet is not None else (), odds.outcomes, strict=False)]  # the last is the lost wager's
        for row, outcome in each:
            if row.meter is None or row.meter not in pit.meters:
                continue
            begins = pit.meters[row.meter].seed_cents * row.share
            most = max(other.cents or 0 for other, falls in each if falls.ways >= outcome.ways)
            if begins < most:
                less = f"less than an award that falls more often, {amount(most)}"
                yield f"warning: {odds.spot}: while {row.meter} is new, {row.award} pays {amount(begins)}, {less}"


def _wrong_prices(bets: Iterable[Bet], pit: Settings) -> Iterator[tuple[str, str, str]]:
    for bet in bets:
        for meter in bet.meters if bet.progressive else ():
            prices = pit.meters[meter].prices_cents if meter in pit.meters else ()
            if prices and bet.price_cents not in prices:
                what = f"the pit would refuse each wager on {bet.spot}, which costs {bet.price_cents}"
                yield f"meters.{meter}.prices_cents", what, f"Add {bet.price_cents}, or correct the game's file."


def _wrong_edges(runs: list[LongRun], pit: Settings) -> Iterator[tuple[str, str, str]]:
    for run in runs:
        each = "".join(
            f" {meter.meter} takes {percent(meter.given, 2)}, and its seeds {percent(meter.from_house, 2)} more."
            for meter in run.fillings
        )
        if run.given > 1:
            what = f"{name_of(run)} gives {percent(run.given, 1)} of each wager to its meters and their reserves"
            yield "meters", what, f"Lower these shares, to less than the whole wager together.{each}"
        elif run.edge < pit.least_edge:
            keeps = f"{name_of(run)} keeps {percent(run.edge, 2)} of each wager in the long run"
            what = f"{keeps}, less than {percent(pit.least_edge, 2)}"
            do = "Lower the seeds or the contributions, or raise the bet's price. [tables] least_edge is the least."
            yield "meters", what, f"{do}{each}"
