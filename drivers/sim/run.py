"""Runs a simulation. It simulates either everything around the controller at a table, or a shoe without a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from controller.basics.errors import TableError
from drivers.devices import PRESENT_INPUT
from drivers.sim import baccarat_royal, lucky9, rules
from drivers.sim.account import Account
from drivers.sim.crowd import Crowd
from drivers.sim.dealer import Dealer
from drivers.sim.deck import Deck, shuffled_decks
from drivers.sim.felt import Game
from drivers.sim.house import House, ShoeProcedure, read_house
from drivers.sim.line import Line, PtyLine
from drivers.sim.people import Clock, Cues, Pace, Players, TableCues
from drivers.sim.pins import SimulatedPins
from drivers.sim.punto_banco import PuntoBanco
from drivers.sim.screen import Screen
from drivers.sim.shoe import CardShoe, maker
from drivers.sim.story import Cast, Stage, StoryCues, StoryShoe, cast_for, planned
from drivers.sim.wagers import Bettors

_LISTENING_POLL_S = 0.02


class Habits(Struct, frozen=True):
    """The settings of a simulation, such as its seed and speed. `python -m drivers.sim --help` explains each one."""

    seed: int = 0
    rounds: int | None = None
    shoes: int | None = None
    speed: float = 1.0
    error_rate: float = 0.0
    wrap: int = 0
    watch_lamps: bool = True
    patience_s: float = 60.0


def run_table(
    table_file: Path, account_file: Path, habits: Habits, *, stage: Stage | None = None, clock: Clock = time
) -> None:
    """Simulate everything around the controller at the table that `table_file` describes: its shoe, its pins and its
    people. The simulation's record of what happened is written to `account_file`.

    With a `stage`, the first shoe is a demonstration with captions (`story.py`). Raises TableError if the table file
    cannot be read, if the simulation cannot play at this table, or if the table does not go on as expected.
    """
    house = read_house(table_file)
    if house.tells_wagers and not habits.watch_lamps:
        raise TableError("sim_blind", "A dealer who looks at nothing cannot take wagers.", "Leave --blind out.")
    pins = SimulatedPins(house.page, house.lamps, house.inputs)
    with ExitStack() as at_the_end:
        line = PtyLine(house.port, plugged=False)
        at_the_end.callback(line.unplug)
        line.plug()
        at_the_end.callback(_release_all, pins, house)
        _release_all(pins, house)
        show_plug(line, pins, house.inputs)
        screen = Screen(house.socket, habits.patience_s)
        at_the_end.callback(screen.close)
        account = Account(at_the_end.enter_context(account_file.open("w", encoding="utf-8")))
        shoe: CardShoe = maker(house.driver)(line, wrap=habits.wrap, speed=habits.speed)
        company = _company(house, habits, screen, account, story=stage is not None)
        cues: Cues = _cues(house, habits, pins, screen, company, clock)
        if stage is not None and company.cast is not None:
            cues = told = StoryCues(cues, company.cast, stage, screen, speed=habits.speed, clock=clock)
            shoe = StoryShoe(shoe, told)
        dealer = Dealer(
            shoe,
            islice(company.decks, habits.shoes),
            cues,
            account,
            game=company.game,
            procedure=house.shoe,
            seed=habits.seed,
            error_rate=habits.error_rate,
        )
        if habits.watch_lamps:
            _await(lambda: line.heard, "nobody has opened the simulated shoe's port", habits.patience_s, clock)
        shoe.power_up()
        if stage is not None:  # a story begins at a table that knows of its shoe
            hears = "the table does not hear the simulated shoe"
            _await(lambda: screen.status().shoe.up, hears, habits.patience_s, clock)
        dealer.play(habits.rounds)
        if stage is not None:
            stage.leave()


class _Company(Struct, frozen=True):
    """The game, its shuffled cards, and the people of a simulated table. In a demonstration, `cast` holds the people
    who follow the demonstration's plan."""

    game: Game
    decks: Iterable[Deck]
    players: Players
    crowd: Crowd | None
    cast: Cast | None = None


def _company(house: House, habits: Habits, screen: Screen, account: Account, *, story: bool) -> _Company:
    game, seed = game_of(house), habits.seed
    decks: Iterable[Deck] = shuffled_decks(seed, house.shoe.decks, house.shoe.cut_card_from_end)
    if story:
        cast = cast_for(planned(house, game, seed), seed, screen, account)
        return _Company(game, chain([cast.plan.deck(seed)], decks), cast.players, cast.crowd, cast)
    crowd = _crowd(house, screen, account, seed) if house.tells_wagers else None
    return _Company(game, decks, Players(seed, house.sensors, house.limits), crowd)


def _cues(
    house: House, habits: Habits, pins: SimulatedPins, screen: Screen, company: _Company, clock: Clock
) -> TableCues:
    return TableCues(
        pins,
        company.players,
        debounce_s=house.debounce_s,
        speed=habits.speed,
        watch_lamps=habits.watch_lamps,
        patience_s=habits.patience_s,
        clock=clock,
        screen=screen,
        crowd=company.crowd,
    )


def run_shoe_alone(line: Line, seed: int, pace_s: float, rounds: int | None, out: TextIO, driver: str) -> None:
    """Deal shoes of punto banco on a serial line, one card every `pace_s` seconds, without a table. The seed decides
    the cards.

    Stops after `rounds` rounds, or never if `rounds` is None. The record of what was dealt goes to `out`, in JSON
    lines.
    """
    shoe = maker(driver)(line)
    shoe.power_up()
    procedure = ShoeProcedure()
    decks = shuffled_decks(seed, procedure.decks, procedure.cut_card_from_end)
    Dealer(shoe, decks, Pace(pace_s), Account(out)).play(rounds)


def game_of(house: House) -> Game:
    """Return the simulated game that the house deals, with the rules of the house's game file."""
    bets, rounding = house.limits.bets, house.rounding
    match house.kind:
        case "lucky9":
            return lucky9.Lucky9(bets, lucky9.Section(**house.section), rounding)
        case "baccarat_royal":
            return baccarat_royal.BaccaratRoyal(bets, baccarat_royal.Section(**house.section), rounding)
        case _:
            return PuntoBanco(bets, rules.Drawing(**house.section["tableau"]), house.midi, house.printed, rounding)


def _crowd(house: House, screen: Screen, account: Account, seed: int) -> Crowd:
    bettors = Bettors(seed, house.limits, house.seats)
    return Crowd(seed, screen, account, bettors, house.seats, roles=house.roles)


def show_plug(line: PtyLine, pins: SimulatedPins, inputs: Collection[str]) -> None:
    """Let the table's input for the shoe's plug show whether the simulated plug is in. At first the plug is in. If the
    table has no such input, do nothing."""
    if PRESENT_INPUT in inputs:
        line.on_plug = partial(pins.set, PRESENT_INPUT)
        pins.press(PRESENT_INPUT)


def _release_all(pins: SimulatedPins, house: House) -> None:
    for name in house.inputs:
        pins.release(name)


def _await(comes: Callable[[], bool], trouble: str, patience_s: float, clock: Clock) -> None:
    """Wait until `comes` returns True. Raises TableError `sim_unheard` with the text `trouble` after `patience_s`
    seconds.

    The simulation waits in this way until the controller has opened the shoe's port, because bytes that a shoe sends
    before are lost.
    """
    gives_up_s = clock.monotonic() + patience_s
    while not comes():
        if clock.monotonic() >= gives_up_s:
            do = "start the controller with the same table file"
            raise TableError("sim_unheard", f"{trouble} for {patience_s:g} s", do)
        clock.sleep(_LISTENING_POLL_S)
