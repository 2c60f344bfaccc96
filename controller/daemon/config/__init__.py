"""Reads a table's configuration into frozen types. A configuration is two TOML files: the table's own file and the file
of the game that the table deals.

A person is told all mistakes together, each with its file, its key, what is wrong and what to write instead. A key that
the program does not know is a mistake too. The types in `table_file` and `game_file` have the same sections and names
as the files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from controller.basics import money
from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.config.fitting import check_game_fits, rules_of, warnings
from controller.daemon.config.game_file import GAME_CHECKS, GAME_KEYS, GameFile, of_kind, old_form
from controller.daemon.config.problems import ConfigError, Mistake, Problem, placed
from controller.daemon.config.screen_section import check_images
from controller.daemon.config.seldom_meant import seldom_meant
from controller.daemon.config.table_file import TABLE_CHECKS, TableFile
from controller.daemon.config.values import check, read, sound_sections, structure
from controller.table.rules import TableRules


class Config(Struct, frozen=True):
    """A table's whole configuration. `digest` is the SHA-256 of the values in the table's file and the game's file.
    `warnings` are texts for people."""

    file: TableFile
    game: GameFile
    rules: TableRules
    digest: str
    warnings: tuple[str, ...]


def load(path: Path, with_images: bool = False) -> Config:
    """Read the table's file at `path` and the game file that it names. Raises ConfigError, which lists every mistake in
    both and in the house's file.

    If the table's file names no game, only its own mistakes are listed. With `with_images`, a mistake in an image that
    `[screen]` names counts too. Without it such a mistake is ignored, because a table can play without its house's
    logo.
    """
    values, problems = read(path, "table")
    table = structure(values, TableFile, path, problems)
    sections = sound_sections(values, TableFile, table)
    section = values.get("table")
    game_name = section.get("game") if isinstance(section, dict) else None
    if not isinstance(game_name, str):
        raise ConfigError(_placed(problems, {path: values}))
    game_path = Path(os.path.normpath(path.parent / game_name))
    game_values, game, game_problems = _read_game(game_path)
    checks = (*TABLE_CHECKS, check_images) if with_images else TABLE_CHECKS
    problems += [*check(checks, sections, str(path)), *game_problems, *_house()]
    if game is not None:
        problems += check((check_game_fits,), sections | {"game": game}, str(path))
    if problems or table is None or game is None:
        raise ConfigError(_placed(problems, {path: values, game_path: game_values}))
    digest = hashlib.sha256(canonical({"table": values, "game": game_values})).hexdigest()
    return Config(table, game, rules_of(table, game), digest, (*warnings(table, game), *seldom_meant(game)))


def _house() -> Iterable[Problem]:
    """Yield the mistake in the house's file, which names the house's currency. Yield nothing if the file is sound."""
    try:
        money.in_use()
    except TableError as error:
        yield Problem(str(money.HOUSE), "currency", error.what, error.do)


def game_path(table: Path) -> Path:
    """Read the table's file at `table`, and return the path of the game file that it names. Raises ConfigError, which
    lists every mistake in the table's file."""
    return Path(os.path.normpath(table.parent / load_table_file(table).table.game))


def told_of(path: Path, mistakes: Iterable[Mistake]) -> list[Problem]:
    """Return these mistakes in the game file at `path` as problems for people. People count the entries of a list from
    1, while the keys in the mistakes count from 0."""
    return _placed([Problem(str(path), *mistake) for mistake in mistakes], {path: read(path, "game")[0]})


def load_table_file(path: Path) -> TableFile:
    """Read the table's file at `path`, but not the game file that it names. Raises ConfigError, which lists every
    mistake in the table's file."""
    values, problems = read(path, "table")
    table = structure(values, TableFile, path, problems)
    problems += check(TABLE_CHECKS, sound_sections(values, TableFile, table), str(path))
    if problems or table is None:
        raise ConfigError(_placed(problems, {path: values}))
    return table


def _placed(problems: list[Problem], files: dict[Path, dict[str, Any]]) -> list[Problem]:
    """Return the problems with their keys written for people, for example `bets entry 2 (banker)` for `bets.1`. `files`
    holds the values of each file by its path."""
    values = {str(path): values for path, values in files.items()}
    return [replace(each, place=placed(each.key, values.get(each.file))) for each in problems]


def load_game(path: Path) -> tuple[GameFile, str]:
    """Read a game file by itself, without a table's file. Return the game, and the SHA-256 of the file's values. Raises
    ConfigError, which lists every mistake."""
    values, game, problems = _read_game(path)
    if problems or game is None:
        raise ConfigError(_placed(problems, {path: values}))
    return game, hashlib.sha256(canonical(values)).hexdigest()


def is_game_file(path: Path) -> bool:
    """Return True if the file at `path` has a key that game files have or once had, and table's files never have. Any
    other file is read as a table's file, and the mistakes then say what it lacks."""
    values, _ = read(path, "game")
    return not values.keys().isdisjoint(GAME_KEYS)


def _read_game(path: Path) -> tuple[dict[str, Any], GameFile | None, list[Problem]]:
    """Read a game file. Return its raw values, the game made from them (None if they are wrong), and every mistake in
    the file."""
    values, problems = read(path, "game")
    problems += old_form(values, str(path))
    game = structure(values, GameFile, path, problems)
    sections = sound_sections(values, of_kind(values), game)
    if (kind := sections.get("kind")) in sections:
        sections["section"] = sections[kind]
    return values, game, [*problems, *check(GAME_CHECKS, sections, str(path))]
