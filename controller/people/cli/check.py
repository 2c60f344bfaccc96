"""`tablectl check`: find every mistake in a table's file and its game file, or in a game file alone. Also warn of
settings that are allowed but seldom intended.

The findings that need no counting of deals are printed first, because counting takes long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from controller.basics import money
from controller.basics.colours import painted
from controller.basics.errors import TableError
from controller.basics.waited import waited_for
from controller.contract.face.reports import CheckMistake, CheckReport
from controller.contract.wire.mqtt_tls import wrong_with
from controller.daemon.config import Config, game_path, is_game_file, load, load_game, told_of
from controller.daemon.config.problems import ConfigError, Mistake, Problem
from controller.daemon.config.seldom_meant import seldom_meant
from controller.people.cli.counted import counted
from controller.people.cli.meters import meter_lines
from controller.people.cli.par import edge_lines
from controller.people.cli.told import print_report
from controller.people.par.reach import Idle, idle_rows, idle_rows_uncounted
from controller.people.par.sheet import subject
from controller.rules.game.bets import Bet
from controller.words.found import gaps, papers_in_english
from drivers.header_map import CONFIG_TXT, overlaid

_WARNING = "warning: "


def check(file: Path, pit_settings: Path | None, highest_edge: float, strict: bool, as_json: bool = False) -> int:
    """Check a table's file or a game file, and print its warnings and the house edge of each bet. A bet whose edge is
    above `highest_edge`, a fraction such as 0.3, gets a warning, unless a progressive meter lowers the edge.

    Raises ConfigError with every mistake. With `strict`, raises TableError `config_invalid` if there was a warning.
    With `as_json` the mistakes are printed as a JSON report, and ConfigError is raised as well.
    """
    told: list[str] = []
    try:
        last = _look(file, pit_settings, highest_edge, told, as_json)
    except ConfigError as error:
        if as_json:
            print_report(_report(file, error.problems, told, is_right=False))
        raise
    count = sum(map(_warns, told))
    warned = f"{count} {'warning' if count == 1 else 'warnings'}"
    if as_json:
        print_report(_report(file, (), told, is_right=not (count and strict)))
    else:
        print(f"{last}. No mistakes{f', {warned}' if count else ''}.")
    if count and strict:
        raise TableError("config_invalid", f"the configuration has {warned}, and --strict allows none", "Correct each.")
    return 0


def _look(file: Path, pit_settings: Path | None, highest_edge: float, lines: list[str], as_json: bool) -> str:
    """Check a table's file or a game file, and append each warning and each other finding to `lines`. Print the lines
    too, unless `as_json`. Returns the line to print last, which says which table or game the file describes."""
    of_a_game = is_game_file(file)
    warnings, last = _of_the_game(file) if of_a_game else _of_the_table(file)
    lines += _told((f"warning: {each}" for each in warnings), as_json)
    of = subject(file)
    with waited_for("Counting every deal"):
        try:
            sheet = counted(of)
            idle = idle_rows(sheet)
            by_count = [*meter_lines(sheet, pit_settings), *edge_lines(sheet, highest_edge)]
        except TableError as error:
            if error.code != "par_not_counted":
                raise
            idle, by_count = idle_rows_uncounted(of), [f"warning: no odds are counted. {error.what} {error.do}"]
        of_rows = [*_idle(idle, of.bets, file if of_a_game else game_path(file))]
    lines += _told([*of_rows, *by_count], as_json)
    return last


def _report(file: Path, mistakes: Sequence[Problem], lines: Sequence[str], is_right: bool) -> CheckReport:
    return CheckReport(
        file=str(file),
        is_right=is_right,
        mistakes=tuple(CheckMistake(each.file, each.place or each.key, each.what, each.do) for each in mistakes),
        warnings=tuple(line.removeprefix(_WARNING) for line in lines if _warns(line)),
        told=tuple(line for line in lines if not _warns(line)),
    )


def _of_the_table(file: Path) -> tuple[list[str], str]:
    """Check a table's file, without counting deals. Returns the warnings, and a line that names table and game."""
    config = load(file, with_images=True)
    if (tls := config.file.pit.tls) is not None and (wrong := [*wrong_with(tls, config.rules.table)]):
        raise ConfigError(told_of(file, [(f"pit.{key}", what, do) for key, what, do in wrong]))
    pins, rules = config.file.pins, config.rules
    seats = f"{len(rules.seats)} seats, {rules.shoe.decks} decks"
    warnings = [*config.warnings, *overlaid(pins.lamps, pins.inputs, CONFIG_TXT), *_lacking(config)]
    return warnings, f"{rules.table} plays {rules.game}: {seats}"


def _lacking(config: Config) -> Iterator[str]:
    """Yield warnings of texts that are missing in this table's languages, because people then see these texts in
    English. One warning counts the missing texts of a language. A house's own text for a row of a pay table gets one
    warning for each bet and language. Raises ConfigError if the house's file names a language that is not installed."""
    try:
        yield from (f"the house's file: {told}" for told in papers_in_english())
    except TableError as error:
        raise ConfigError([Problem(str(money.HOUSE), "languages", error.what, error.do)]) from None
    languages = config.file.screen.languages
    for name in languages:
        if lacking := gaps(name, "players"):
            yield f"screen.languages: {name} lacks {len(lacking)} of the players' words, which stand there in English"
    for bet in config.game.bets:
        others = {name for row in bet.rows if row.words for name in languages if name not in row.words}
        for name in sorted(others):
            yield f"{bet.spot}: a row's own words are not in {name}: words of its condition stand there"


def _of_the_game(file: Path) -> tuple[list[str], str]:
    game, _ = load_game(file)
    return [*seldom_meant(game)], f"{game.name}: at most {game.most_seats} seats, {game.shoe.decks} decks"


def _idle(idle: Sequence[Idle], bets: Sequence[Bet], game_file: Path) -> Iterator[str]:
    """Yield a warning for each row of a pay table that decides no round at one spot but decides rounds at another spot.
    Such a row is harmless if the same bet is sold at many spots. Raises ConfigError for every other row that decides no
    round. `idle` lists the rows that decide no round."""
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


def _warns(line: str) -> bool:
    return line.startswith(_WARNING)


def _told(lines: Iterable[str], as_json: bool) -> list[str]:
    """Return the lines as a list, and print each of them unless `as_json`."""
    told = []
    for line in lines:
        told.append(line)
        if not as_json:
            print(painted(line, "yellow", sys.stdout) if _warns(line) else line, flush=True)
    return told
