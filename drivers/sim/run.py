"""Runs the simulations: a whole table in front of a controller, or a shoe by itself."""

from __future__ import annotations

import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from controller.errors import TableError
from drivers.sim.account import Account
from drivers.sim.angel_eye import Line, PtyLine, SimulatedAngelEye
from drivers.sim.beetek import SimulatedBeeTek
from drivers.sim.people import CardShoe, Dealer, Pace, Players, TableCues, shuffled_decks
from drivers.sim.pins import SimulatedPins

_DECKS = 8
_CUT_CARD_FROM_END = 14
_SIMULATED = ("simulated", "deal")
# What the dealer must be able to press, by the shoe's driver.
_BUTTONS = {"angel_eye": {"deal", "new_shoe"}, "beetek": {"deal", "new_shoe", "cut_card"}}
_LISTENING_POLL_S = 0.02


@dataclass(frozen=True)
class Habits:
    """How the simulated table behaves: see `python -m drivers.sim --help`."""

    seed: int = 0
    rounds: int | None = None
    speed: float = 1.0
    error_rate: float = 0.0
    wrap: int = 0
    watch_lamps: bool = True
    patience_s: float = 60.0


def run_table(table_file: Path, account_file: Path, habits: Habits) -> None:
    """Be the far end of every wire of the table that a table file describes: its shoe, its pins and its people.

    Raises TableError when the file cannot be read or is not of a simulated table, and when the table does not play on.
    """
    table = _read(table_file)
    pins = SimulatedPins(table.page, table.lamps, table.inputs)
    line = PtyLine(table.port)
    try:
        _release_all(pins, table)
        shoe = _shoe(table.driver, line, habits)
        cues = TableCues(
            pins,
            Players(habits.seed, sorted(table.printed)),
            shoe.attend,
            debounce_s=table.debounce_s,
            speed=habits.speed,
            watch_lamps=habits.watch_lamps,
            patience_s=habits.patience_s,
        )
        decks = shuffled_decks(habits.seed, table.decks, table.cut_card_from_end)
        with account_file.open("w", encoding="utf-8") as out:
            account = Account(out, table.printed)
            dealer = Dealer(shoe, decks, cues, account, seed=habits.seed, error_rate=habits.error_rate)
            if habits.watch_lamps:
                _await_listener(line, habits.patience_s)
            shoe.power_up()
            dealer.play(habits.rounds)
    finally:
        _release_all(pins, table)
        line.unplug()


def run_shoe_alone(
    line: Line, seed: int, pace_s: float, rounds: int | None, out: TextIO, driver: str = "angel_eye"
) -> None:
    """Deal seeded shoes of eight decks on a line, a card every `pace_s` seconds, with no table to look at.

    Stops after `rounds` hands (None: never). The account goes to `out`, a JSON line a hand.
    """
    shoe = _shoe(driver, line, Habits(speed=0.0))
    shoe.power_up()
    decks = shuffled_decks(seed, _DECKS, _CUT_CARD_FROM_END)
    Dealer(shoe, decks, Pace(pace_s, shoe.attend), Account(out, {})).play(rounds)


def _shoe(driver: str, line: Line, habits: Habits) -> CardShoe:
    """The far end of the driver that the table file names."""
    if driver == "beetek":
        return SimulatedBeeTek(line, speed=habits.speed)
    return SimulatedAngelEye(line, wrap=habits.wrap, speed=habits.speed)


@dataclass(frozen=True)
class _Table:
    """What the people and the shoe have to know of the table file and its game file."""

    driver: str
    port: Path
    page: Path
    lamps: dict[str, Any]
    inputs: dict[str, Any]
    debounce_s: float
    printed: dict[int, str]
    decks: int
    cut_card_from_end: int


def _read(table_file: Path) -> _Table:
    try:
        table = tomllib.loads(table_file.read_text(encoding="utf-8"))
        driver, pins = table["shoe"]["driver"], table["pins"]
        if (pins["driver"], table["table"]["lock_on"]) != _SIMULATED or not _BUTTONS[driver] <= pins["inputs"].keys():
            raise TableError(
                "sim_not_simulated",
                f"{table_file} is not of a table that can be simulated",
                'it needs [pins] driver = "simulated", [table] lock_on = "deal", and the inputs '
                + ", ".join(sorted(_BUTTONS[driver])),
            )
        game_file = table_file.parent / table["table"]["game"]
        game_shoe = tomllib.loads(game_file.read_text(encoding="utf-8"))["shoe"]
        return _Table(
            driver=driver,
            port=Path(table["shoe"]["port"]),
            page=Path(pins["page"]),
            lamps=pins["lamps"],
            inputs=pins["inputs"],
            debounce_s=(pins["debounce_ms"] + 3 * pins["sample_ms"]) / 1000,
            printed={seat["number"]: seat["k9"] for seat in table["seats"]},
            decks=game_shoe["decks"],
            cut_card_from_end=game_shoe["cut_card_from_end"],
        )
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise TableError(
            "sim_table_file", f"{table_file} or its game file cannot be used: {error!r}", "see `tablectl check`"
        ) from error


def _release_all(pins: SimulatedPins, table: _Table) -> None:
    for name in table.inputs:
        pins.release(name)


def _await_listener(line: PtyLine, patience_s: float) -> None:
    """Wait until the controller has the shoe's port open: what is said before is lost."""
    gives_up_s = time.monotonic() + patience_s
    while not line.heard:
        if time.monotonic() >= gives_up_s:
            raise TableError(
                "sim_unheard",
                f"nobody has opened the simulated shoe's port for {patience_s:g} s",
                "start the controller with the same table file",
            )
        time.sleep(_LISTENING_POLL_S)
