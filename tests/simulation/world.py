"""A whole simulated house in one process: some tables, and the broker and the pit that they share, in simulated time.

A table is a `live_table.LiveTable`; the pit is the reference pit's own ledger. `World.do` performs one action. After
each action, the auditors of the tables and the inspector of the pit check what must hold.
"""

from __future__ import annotations

import contextlib
import functools
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal
from unittest.mock import patch

from msgspec.structs import replace

import controller.daemon.clock
import controller.daemon.delivery.pit_said
import controller.daemon.delivery.pit_trust
import controller.daemon.delivery.recognition_said
import controller.daemon.folding
import controller.daemon.record.journal_reading
import controller.pit.reference.clock
import controller.pit.reference.shown
import controller.pit.reference.strangers
import controller.pit.reference.taking
import drivers.line.shoe_on_line
from controller.contract.envelope import Stamp
from controller.contract.events import Event
from controller.contract.pit_words import AwardStep
from controller.daemon.config import Config, load
from controller.pit.reference.meters import Terms
from controller.table.facts import Fact
from controller.table.states import Table
from drivers import shoe as shoes
from drivers.devices import PRESENT_INPUT, InputWiring
from tests.simulation.broken import hold
from tests.simulation.inspector import Inspector
from tests.simulation.live_table import LiveTable
from tests.simulation.loop import SpinningError, VirtualLoop
from tests.simulation.network import Network, Weather
from tests.simulation.pit import LedgerPit
from tests.simulation.shoe import Port
from tests.simulation.signing import signature_holds
from tests.support.ledgers import unheard_steps

_TABLE_FILE = Path(__file__).parents[2] / "config" / "tables" / "royal9.toml"
_BEGUN_MS = 1_767_225_600_000  # 2026-01-01, when the wall clock's time begins
_SAMPLE_MS = 20
_QUIET_S = 12.0  # by then everything is delivered that can be


Happening = Literal[
    "step of the clock",
    "broker's restart",
    "broker's restart without memory",
    "decision on an award",
    "house of several tables",
    "house with a BeeTek",
]


@dataclass(frozen=True)
class Action:
    """One thing that somebody does or that happens in the simulated house, as plain data. After the action, `pause_s`
    seconds of simulated time go by.

    `table` is the number of the table at which the action happens, if it happens at a table.
    """

    name: str
    args: tuple[Any, ...] = ()
    pause_s: float = 0.02
    table: int = 0

    def __str__(self) -> str:
        return f"table {self.table}: {self.name:16} {' '.join(map(str, self.args)):36} then {self.pause_s:g} s"


class World:
    """The simulated house, made from a seed. Use it as a context manager.

    `happened` maps a kind of action to the number of times that such an action took effect. It has only those kinds
    that may also have no effect.
    """

    def __init__(self, seed: int) -> None:
        self._undo = ExitStack()
        luck = random.Random(f"{seed} house")
        folder = Path(self._undo.enter_context(tempfile.TemporaryDirectory(prefix="table-simulation-")))
        self.steps = 0
        self.happened: Counter[Happening] = Counter()
        self.loop = VirtualLoop()
        self._undo.callback(self.loop.close)
        self._clock_error_ms, self._clock_synchronised = 0, True
        self.tables: list[LiveTable] = []
        self._undo.enter_context(self._in_this_world())
        terms = _terms(luck)
        self.pit = LedgerPit(folder / "ledger", terms, self.loop.call_later)
        self._undo.callback(self.pit.crash)
        self.inspector = Inspector(folder / "ledger", terms)
        self._undo.callback(self.inspector.close)
        self.network = Network(self.loop, _example().file.pit.root, self.pit, str(seed))
        lucky = luck.random() < 0.5
        brand = "beetek" if random.Random(f"{seed} brand").random() < 0.25 else "angel_eye"
        self.happened["house with a BeeTek"] += brand == "beetek"
        for number in range(1, 1 + luck.choice((1, 1, 1, 1, 1, 1, 2, 2, 2, 3))):
            config = _with_shoe(_config(luck, f"royal9-{number:02}"), brand)
            self.tables.append(LiveTable(self, config, f"{seed} table {number}", lucky, folder))
            self.tables[-1].do_start()
        self.happened["house of several tables"] += len(self.tables) > 1

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        with self._undo:
            for table in self.tables:
                with contextlib.suppress(SpinningError):
                    table.close()

    # One step.

    def do(self, action: Action) -> None:
        """Perform the action, let simulated time go by, and check everything. Raises Broken if a promise is broken."""
        self.steps += 1
        table = self.tables[action.table]
        table.keep_gaps_visible()
        perform: Callable[..., None] = getattr(self, f"_do_{action.name}", None) or getattr(table, f"do_{action.name}")
        perform(*action.args)
        self.go_on(action.pause_s)
        table.check(settled=action.pause_s > 0)
        self._check()
        if self.steps % 40 == 0:
            table.check_replay()
            self._check_account()

    def settle(self) -> None:
        """Mend everything that is broken. Then check that all events are delivered and acknowledged, and that the
        broker retains every table's present state."""
        network, pit = self.network, self.pit
        network.weather, network.refuses = Weather(), False
        pit.commit_takes_s, pit.levels = 0.02, "well"
        network.come_up()
        network.start_pit()
        for _ in range(1 + len(self.tables)):  # at each a cut or a crash may be still to come
            for table in self.tables:
                table.mend()
            self.go_on(_QUIET_S)
        for table in self.tables:
            table.settled()
        self._check()
        self._check_account()
        for table in self.tables:
            committed = self.inspector.committed[table.id] == len(table.auditor.bodies)
            hold("with all links up everything is acknowledged", committed, table.delivery())
            unheard = unheard_steps(pit.ledger, table.id)
            hold("every award step is told in the stream, or a later one", not unheard, unheard)
            stands, told = self.inspector.last_steps(table.id), table.auditor.award_steps
            hold("the table knows how far every award has come", stands == told, (stands, told))

    def go_on(self, seconds: float) -> None:
        """Let simulated time go by for the whole house."""
        self.loop.run_for(seconds)
        for table in self.tables:
            table.went_on()

    def stamp(self) -> Stamp:
        """Return the present time by the simulated wall clock."""
        return Stamp(_BEGUN_MS + round(self.loop.now_s * 1000) + self._clock_error_ms, self._clock_synchronised)

    def pit_step(self, table: str, seq: int) -> AwardStep | None:
        """Return the award step with the number `seq` that the pit took for a table; None if there is no such step."""
        return self.inspector.step(table, seq)

    # Actions.

    def _do_weather(self, lost: float, doubled: float, late: float) -> None:
        self.network.weather = Weather(lost, doubled, late)

    def _do_broker(self, what: str) -> None:
        network = self.network
        match what:
            case "down":
                network.go_down()
            case "up":
                network.come_up()
            case "restart" | "forget":
                network.restart(forgets=what == "forget")
                self.happened["broker's restart without memory" if what == "forget" else "broker's restart"] += 1
            case "refuse":
                network.refuses = True
            case _:
                network.refuses = False

    def _do_pit(self, what: str) -> None:
        match what:
            case "crash":
                self.network.crash_pit()
            case "start":
                self.network.start_pit()
            case "slow":
                self.pit.commit_takes_s = 1.5
            case _:
                self.pit.commit_takes_s = 0.02

    def _do_levels(self, how: Any) -> None:
        self.pit.levels = how

    def _do_decide(self, number: int, step: Any) -> None:
        """Let a person at the pit take the step `step` of an award. `number` selects the award, counted back from the
        last one."""
        awards = self.pit.ledger.awards() if self.pit.up else []
        if awards:
            self._read()
            award = self.pit.decide(
                awards[-1 - number % len(awards)].id, step, "cashier cy" if step == "paid" else "attendant al"
            )
            if award is not None:
                self.happened["decision on an award"] += 1
                self.inspector.decided(award)
                self.pit.say_steps()

    def _do_clock(self, error_ms: int, synchronised: bool) -> None:
        """Set the wall clock wrong by `error_ms`, all at once. `synchronised` says whether the clock counts as set."""
        self.happened["step of the clock"] += error_ms != self._clock_error_ms
        self._clock_error_ms, self._clock_synchronised = error_ms, synchronised

    def _do_untrue_pit(self) -> None:
        """Make the inspector (the check of the pit's ledger) believe that the pit committed one event more than the
        table sent. Only the simulation's own test uses this action."""
        self.inspector.committed[self.tables[0].id] += 1

    # Checks.

    def _read(self) -> None:
        for table in self.tables:
            table.auditor.read(table.shoe.life)
        self.inspector.read({table.id: table.auditor.bodies for table in self.tables})

    def _check(self) -> None:
        self._read()
        hold("the pit has nothing to complain of", not self.pit.complaints, self.pit.complaints)
        for table in self.tables:
            committed = self.inspector.committed[table.id]
            hold("the pit knows nothing the journal does not", committed <= len(table.auditor.bodies), committed)
            table.auditor.marked(committed)

    def _check_account(self) -> None:
        if self.pit.up:
            findings = self.pit.ledger.account().findings
            hold("the account balances", not findings, findings)

    # The clock and what else the programs take from outside.

    @contextmanager
    def _in_this_world(self) -> Iterator[None]:
        loop = self.loop
        with (
            patch.object(controller.daemon.clock, "monotonic_s", loop.time),
            patch.object(controller.daemon.clock, "monotonic_ms", lambda: round(loop.now_s * 1e9) // 1_000_000),
            patch.object(
                controller.pit.reference.clock, "time", SimpleNamespace(time_ns=lambda: self.stamp().at_ms * 1_000_000)
            ),
            patch.object(controller.pit.reference.taking, "signature_holds", signature_holds),
            patch.object(controller.pit.reference.strangers, "signature_holds", signature_holds),
            patch.object(controller.pit.reference.shown, "signature_holds", signature_holds),
            patch.object(controller.daemon.record.journal_reading, "signature_holds", signature_holds),
            patch.object(controller.daemon.delivery.pit_trust, "signature_holds", signature_holds),
            patch.object(controller.daemon.delivery.pit_said, "stamp_now", self.stamp),
            patch.object(controller.daemon.delivery.recognition_said, "stamp_now", self.stamp),
            patch.object(controller.daemon.clock, "stamp_now", self._stamp_now),
            patch.object(controller.daemon.clock, "since_boot_ms", lambda: round(loop.now_s * 1000)),
            patch.object(controller.daemon.clock, "slept_ms", lambda: 0),
            patch.object(controller.daemon.folding, "step", self._step),
            patch.object(drivers.line.shoe_on_line, "ShoePort", self._port),
        ):
            yield

    def _stamp_now(self) -> Stamp:
        stamp = self.stamp()
        for table in self.tables:
            table.took_note(stamp.at_ms)
        return stamp

    def _step(self, table: Table, fact: Fact) -> tuple[Table, tuple[Event, ...]]:
        return self._table(table.rules.table).step(table, fact)

    def _port(
        self, url: str, baud: int, on_bytes: Callable[[bytes], None], on_link: Callable[[bool, str], None], **_: object
    ) -> Port:
        return Port(self._table(url).shoe.cable, on_bytes, on_link)

    def _table(self, name: str) -> LiveTable:
        return next(table for table in self.tables if table.id == name)


def _terms(luck: random.Random) -> Mapping[str, Terms]:
    """Return random terms for the meters: the amount with which each begins, its share of the wagers, and the share of
    its reserve. Meters begin with small amounts and get large shares, some of which never give whole cents."""
    share = luck.choice((Fraction(7, 100), Fraction(1, 7), Fraction(7, 333)))
    reserve = luck.choice((Fraction(0), Fraction(2, 100), Fraction(1, 13)))
    return {
        "personal_vs_personal": Terms(5_000_00, share, reserve, 6_000_00),
        "banker_personal": Terms(10_00, share, reserve, 10_00),
        "player_personal": Terms(10_00, share, reserve, luck.choice((10_00, 10_50))),
    }


def _config(luck: random.Random, table: str) -> Config:
    """Return the configuration of the example table, with random values for everything that a house may set. Shoes are
    small, so that they are dealt to their end."""
    config = _example()
    shoe = replace(
        config.rules.shoe,
        decks=luck.choice((1, 1, 1, 2)),
        drawn_in_error=luck.choice(("simulated_hand", "simulated_hand", "simulated_hand", "burn", "next_card")),
        burn_counts_first_card=luck.random() < 0.2,
        cut_card_from_end=luck.choice((14, 14, 14, 5)),
    )
    locks: tuple[Literal["deal", "first_card"], ...] = ("deal", "deal", "deal", "first_card")
    rules = replace(config.rules, table=table, shoe=shoe, lock_on=luck.choice(locks))
    file = replace(
        config.file,
        table=replace(config.file.table, id=table),
        pins=replace(config.file.pins, sample_ms=_SAMPLE_MS, debounce_ms=_SAMPLE_MS),
        pit=replace(config.file.pit, stale_after_s=3),
        journal=replace(config.file.journal, keep_shoes=100_000),  # its signatures would seal no archive
    )
    return replace(config, rules=rules, file=file)


def _with_shoe(config: Config, name: str) -> Config:
    """Return the table's configuration with a shoe of this brand. If the shoe takes no commands, the configuration gets
    a GPIO input that shows whether the shoe has power."""
    brand, pins = shoes.brand(name), config.file.pins
    present: Literal["input"] | None = "input" if brand.asking is None else None
    if present is not None:
        pins = replace(pins, inputs=pins.inputs | {PRESENT_INPUT: InputWiring(2, "low", "up")})
    shoe = replace(config.file.shoe, driver=brand, baud=None, present=present)
    return replace(config, file=replace(config.file, shoe=shoe, pins=pins))


@functools.cache
def _example() -> Config:
    return load(_TABLE_FILE)
