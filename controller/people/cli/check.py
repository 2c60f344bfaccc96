"""`tablectl check`: every mistake in a table's file and its game's, or in a game's file alone, and what is seldom
meant.

What needs no counting is told first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from controller.basics.colours import painted
from controller.basics.errors import TableError
from controller.contract.wire.mqtt_tls import wrong_with
from controller.daemon.config import game_path, is_game_file, load, load_game, told_of
from controller.daemon.config.problems import ConfigError, Mistake
from controller.daemon.config.seldom_meant import seldom_meant
from controller.people.cli.counted import counted
from controller.people.cli.meters import meter_lines
from controller.people.cli.par import edge_lines, waited_for
from controller.people.par.reach import Idle, idle_rows
from controller.people.par.sheet import Par, subject
from drivers.header_map import CONFIG_TXT, overlaid


def check(file: Path, pit_settings: Path | None, highest_edge: float, strict: bool) -> int:
    """Tell the warnings and the edges of a table's file or a game's. `highest_edge`: a fraction, such as 0.3.

    Raises ConfigError with every mistake; with `strict`, TableError `config_invalid` after a warning.
    """
    of_a_game = is_game_file(file)
    warnings, last = _of_the_game(file) if of_a_game else _of_the_table(file)
    count = _told(f"warning: {each}" for each in warnings)
    with waited_for("Every deal is counted."):
        sheet = counted(subject(file))
        idle = _idle(sheet, file if of_a_game else game_path(file))
        by_count = [*idle, *meter_lines(sheet, pit_settings), *edge_lines(sheet, highest_edge)]
    count += _told(by_count)
    told = f"{count} {'warning' if count == 1 else 'warnings'}"
    print(f"{last}. No mistakes{f', {told}' if count else ''}.")
    if count and strict:
        raise TableError("config_invalid", f"the configuration has {told}, and --strict allows none", "Correct each.")
    return 0


def _of_the_table(file: Path) -> tuple[list[str], str]:
    """The warnings that need no counting, and what the table is."""
    config = load(file)
    if (tls := config.file.pit.tls) is not None and (wrong := wrong_with(tls, config.rules.table)):
        raise ConfigError(told_of(file, [(f"pit.{key}", what, do) for key, what, do in wrong]))
    pins, rules = config.file.pins, config.rules
    seats = f"{len(rules.seats)} seats, {rules.shoe.decks} decks"
    warnings = [*config.warnings, *overlaid(pins.lamps, pins.inputs, CONFIG_TXT)]
    return warnings, f"{rules.table} plays {rules.game}: {seats}"


def _of_the_game(file: Path) -> tuple[list[str], str]:
    game, _ = load_game(file)
    return [*seldom_meant(game)], f"{game.name}: at most {game.most_seats} seats, {game.shoe.decks} decks"


def _idle(sheet: Par, game_file: Path) -> Iterator[str]:
    """A warning for each row that decides no round, where its bet is sold at many spots and the row decides rounds at
    another of them. Raises ConfigError for every other such row."""
    idle = idle_rows(sheet)
    bets = sheet.subject.bets
    if mistakes := [_mistake(each, bets[each.bet].spot) for each in idle if not each.at_many_spots]:
        raise ConfigError(told_of(game_file, mistakes))
    for each in idle:
        _, what, _ = _mistake(each, bets[each.bet].spot)
        yield f"warning: row {each.row + 1}: {what}; at another spot the same row does"


def _mistake(idle: Idle, spot: str) -> Mistake:
    key = f"bets.{idle.bet}.rows.{idle.row}"
    if idle.why == "never_holds":
        return key, f"this row of {spot} holds for no round, so it decides nothing", "Correct it, or remove it."
    do = "Move the row up, or remove it: the first row that holds decides."
    return key, f"wherever this row of {spot} holds, an earlier row holds too", do


def _told(lines: Iterable[str]) -> int:
    """Print the lines, and return how many are warnings."""
    count = 0
    for line in lines:
        is_warning = line.startswith("warning: ")
        count += is_warning
        print(painted(line, "yellow", sys.stdout) if is_warning else line, flush=True)
    return count
