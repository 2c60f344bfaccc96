"""Makes the files with which the demo and the practice table play: the table's file and the pit's settings. The table's
file comes from an example or from a house's own files. The pit's settings get every meter of the game."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli_w

from controller.basics.errors import TableError
from controller.basics.money import amount
from controller.basics.shipped import CONFIG
from controller.daemon.config import Config, is_game_file, load, load_game
from controller.daemon.config.problems import ConfigError
from controller.people.cli import programs
from controller.people.par.reach import least_meters
from controller.pit.reference.settings import load as load_settings

_SEED_CENTS = 10_000
_CONTRIBUTION = "1:100"


def played(folder: Path, port: int, game: str | Path, shoe: str | None = None, **table: Any) -> tuple[Path, Config]:
    """Write the file of a table with simulated hardware into `folder`. Returns the file's path and the loaded
    configuration. `port` is the port of the table's broker.

    `game` is an example's name, or the path of a house's own table file or game file. A game without a table is played
    at the first example table that fits. `shoe` is a brand of shoe, which replaces the table's own. `table` holds new
    values for keys of the section `[table]`. Raises ConfigError with every mistake of the files, and TableError
    `game_unknown` or `game_unfit`.
    """
    most_seats = None
    examples = [game] if isinstance(game, Path) else [programs.example_table(game)]
    at = game if isinstance(game, Path) else programs.example_game(game)
    if not isinstance(game, Path) and game not in (names := programs.example_names()):
        likely = "".join(f"Did you mean {name}? " for name in get_close_matches(game, names, 1))
        do = f"{likely}A house's own file is named by its path. GAME is one of: {', '.join(names)}."
        raise TableError("game_unknown", f"There is no example game {game}.", do)
    if not examples[0].exists() or is_game_file(examples[0]):
        own, _ = load_game(at)
        most_seats = own.most_seats
        table |= {"game": str(at.resolve())}
        every = sorted((CONFIG / "tables").glob("*.toml"))  # a table of the same kind has the dealer's buttons for it
        examples = sorted(every, key=lambda example: load(example).game.kind != own.kind)
    elif isinstance(game, Path):
        load(game)
    brand = {} if shoe is None else {"driver": shoe}
    unfit = []
    for example in examples:
        made = programs.simulated_table(folder, port, example, shoe=brand, table=table)
        if most_seats is not None:
            programs.take_seats_away(made, most_seats)
        try:
            return made, load(made)
        except ConfigError as error:
            unfit = [f"{problem.key} {problem.what}" for problem in error.problems]
    what = f"GAME={game} cannot be played{f' with SHOE={shoe}' if shoe else ''}: {'; '.join(unfit)}."
    raise TableError("game_unfit", what, "Leave SHOE out, or name a table's own file.")


def settings_of(folder: Path, config: Config, own: Path | None) -> Path:
    """Write the pit's settings into `folder`, and return the path of that file. The settings are a copy of the house's
    file `own`, or else of the shipped file. Each meter of the game that the file lacks is added, and the amount at
    which that meter begins is printed. Raises TableError if the settings cannot be used."""
    at, rules = own or CONFIG / "pit.toml", config.rules
    load_settings(at)
    values = tomllib.loads(at.read_text("utf-8"))
    least_cents = least_meters(rules.play, rules.bets, rules.shoe.decks)
    meters = values["meters"]
    for meter in sorted(rules.meters - meters.keys()):
        seed_cents = max(_SEED_CENTS, least_cents.get(meter, 0))
        meters[meter] = {"seed_cents": seed_cents, "contribution": _CONTRIBUTION}
        print(f"The pit begins the meter {meter} at {amount(seed_cents)}: {at} has no [meters.{meter}].", flush=True)
    path = folder / "pit.toml"
    path.write_text(tomli_w.dumps(values), "utf-8")
    return path
