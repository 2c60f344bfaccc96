"""A whole table in one process: the real runtime and all that is around it, in simulated time.

Real: the runtime with its stream, journal, codec, debouncer and lamps, wired as `controller.app` wires them. Simulated:
the clock and the event loop, the disk's failures, the header, the shoe's cable, the broker and the pit. `World.do`
performs one action; after each, the auditor looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import controller.runtime
import controller.stream
import controller.table.step as core
import drivers.shoe.line
from controller.config import Config, load
from controller.contract.envelope import Stamp
from controller.contract.events import Event
from controller.game.baccarat import Done
from controller.game.cards import DECK, Card
from controller.journal import Journal
from controller.replay import replay
from controller.runtime import Answer, Runtime
from controller.table.facts import Fact, OddCardFate
from controller.table.faults import Exit
from controller.table.lamps import Live, Pattern, lamps
from controller.table.public import Public, public
from controller.table.requests import (
    ClearFault,
    CloseShoe,
    CorrectRound,
    LampTest,
    NameCard,
    NewShoe,
    Request,
    SeeCutCard,
    TellOddCard,
    VoidHand,
)
from controller.table.states import Table
from drivers.shoe.angel_eye import AngelEyeCodec
from drivers.shoe.line import ShoeOnLine
from drivers.sim.angel_eye import Result, Target
from tests.simulation.auditor import Auditor, Broken, hold
from tests.simulation.disk import Disk
from tests.simulation.loop import SpinningError, VirtualLoop
from tests.simulation.network import Client, Network, Weather
from tests.simulation.shoe import ALL_COPIES, CardShoe, Port

_TABLE_FILE = Path(__file__).parents[2] / "config" / "tables" / "royal9.toml"
_SAMPLE_MS = 50
_SETTLED_S = 0.151  # a changed input is believed by then, and the lamps shown
_QUIET_S = 12.0  # by then everything is delivered that can be
_LAMP_TEST_S = 5.2
_FEWEST_UNHEARD = 5  # an action makes up to three reports
_WHO = "supervisor anna"

Do = tuple[str, tuple[Any, ...]]


@dataclasses.dataclass(frozen=True)
class Action:
    """One thing that somebody does or that happens, and how long everything then goes on: plain data."""

    name: str
    args: tuple[Any, ...] = ()
    pause_s: float = 0.02

    def __str__(self) -> str:
        return f"{self.name:16} {' '.join(map(str, self.args)):36} then {self.pause_s:g} s"


class _Signer:
    """Signs fast; a signature's own soundness is proven elsewhere."""

    def sign(self, data: bytes) -> bytes:
        return hashlib.sha512(b"the table" + data).digest()


class _Header:
    """The Pi's header: lamps and inputs by name."""

    def __init__(self, inputs: Iterator[str]) -> None:
        self.levels = dict.fromkeys(inputs, False)
        self.lit: dict[str, bool] = {}
        self.dead = False

    def read(self) -> dict[str, bool]:
        return dict(self.levels)

    def write(self, lamp: str, lit: bool) -> None:
        if not self.dead:
            self.lit[lamp] = lit

    def close(self) -> None:
        pass


class World:
    """The table and everything around it, made from a seed. Use it as a context manager."""

    def __init__(self, seed: int) -> None:
        self.seed = str(seed)
        self._undo = ExitStack()
        luck = random.Random(f"{seed} house")
        self.config = _config(luck)
        wrap = luck.choice((0, 1))
        self._folder = Path(self._undo.enter_context(tempfile.TemporaryDirectory(prefix="table-simulation-")))
        self.loop = VirtualLoop(self._power_cut)
        self._undo.callback(self.loop.close)
        self._undo.enter_context(self._in_this_world())
        shoe_rules = self.config.rules.shoe
        self.shoe = CardShoe(self.seed, shoe_rules.decks, shoe_rules.cut_card_from_end, wrap)
        self.shoe.refill()
        self.network = Network(self.loop, self.config.file.pit.root, self.config.file.table.id, self.seed)
        self.disk = Disk(self._folder / "journal")
        self.header = _Header(iter(self.config.file.pins.inputs))
        self.steps = 0
        self._cut = False
        self._lamp_tests, self._lamp_test_ends_s = 0, 0.0
        self._step_fails = False
        self._running: asyncio.Task[None] | None = None
        self._asked: list[asyncio.Task[Answer]] = []
        self.runtime: Runtime | None = None
        self.auditor: Auditor | None = None
        self._start()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        with self._undo:
            if self.runtime is not None:
                with contextlib.suppress(SpinningError):
                    self._kill()
            if self.auditor is not None:
                self.auditor.close()

    # What the generator of actions looks at.

    @property
    def face(self) -> Public | None:
        """The table's public face, None while its program is down."""
        return None if self.runtime is None else self.runtime.face

    # One step.

    def do(self, action: Action) -> None:
        """Perform the action, let time go by, and check everything. Raises Broken."""
        self.steps += 1
        self._keep_gaps_visible()
        getattr(self, f"_do_{action.name}")(*action.args)
        self._go_on(action.pause_s)
        self._check(settled=action.pause_s > 0)
        if self.steps % 40 == 0:
            self._check_replay()

    def _keep_gaps_visible(self) -> None:
        """Ten reports in a row must not be lost: their digits would come round, and no gap could show it."""
        assert self.auditor is not None
        if self.auditor.backlog < _FEWEST_UNHEARD:
            return
        self.disk.failing, self.disk.cut, self.loop.work_takes_s = False, None, 0.0
        self._do_start()
        self.shoe.cable.plug(True)
        self._go_on(1.2)
        self.shoe.report(self.shoe.angel.stand_by)
        self._go_on(0.02)
        self._check(settled=True)

    def settle(self) -> None:
        """Mend all that is broken: everything is then delivered and acknowledged, and the table's state known."""
        self.disk.failing, self.disk.cut = False, None
        self.loop.work_takes_s = 0.0
        if self.runtime is None:
            self._start()
        self.shoe.cable.plug(True)
        network = self.network
        network.weather, network.refuses = Weather(), False
        network.pit.commit_takes_s = 0.02
        network.come_up()
        network.pit.start()
        self._go_on(_QUIET_S)
        if self.runtime is None:  # a cut or a crash was still to come
            self._start()
            self._go_on(_QUIET_S)
        self._check(settled=True)
        self._check_replay()
        runtime, auditor = self._alive()
        auditor.all_reports_arrived(self.shoe.life)
        hold("with all links up everything is acknowledged", network.pit.ledger == auditor.bodies, self._delivery())
        hold("the pit's word is marked", runtime.stream.status()["unacknowledged"] == 0, self._delivery())
        hold("the stream flows", runtime.stream.up and runtime.stream.fresh(), self._delivery())
        state = json.loads(network.table_state or b"{}")
        shown = (state.get("phase"), state.get("shoe"), state.get("fault"), state.get("unacknowledged"))
        face = runtime.face
        told = (face.phase, face.shoe, face.fault.code if face.fault else None, 0)
        hold("the retained state tells of the table", shown == told, (shown, told))

    # Actions: the shoe and the dealer's hands on it.

    def _do_draw(self, *damage: str) -> None:
        self.shoe.draw(self.shoe.angel.draw, damage or ALL_COPIES)

    def _do_draw_wrong(self, target: str, index: int) -> None:
        self.shoe.draw(lambda card: self.shoe.angel.draw(card, target=Target[target], index=index))

    def _do_draw_result(self, result: str) -> None:
        self.shoe.draw(lambda card: self.shoe.angel.draw(card, result=Result[result]))

    def _do_misread(self, as_card: str) -> None:
        self.shoe.draw(lambda card: self.shoe.angel.draw(as_card))

    def _do_unreadable(self) -> None:
        self.shoe.draw(self.shoe.angel.unreadable)

    def _do_draw_outside(self, mode: str) -> None:
        self.shoe.draw(lambda card: self.shoe.angel.draw_outside_game(mode))

    def _do_keep(self) -> None:
        self.shoe.draw(self.shoe.angel.keep)

    def _do_report(self, what: str, *args: Any) -> None:
        assert self.auditor is not None
        latest = self.shoe.reported[-self.auditor.backlog - 1 :]
        if what == "power_up" and any(report.kind == "S" and report.good_copies >= 2 for report in latest):
            what, args = "stand_by", ()  # two power-ups with nothing heard in between are the same bytes
        self.shoe.report(lambda: getattr(self.shoe.angel, what)(*args))

    def _do_report_lost(self, what: str, *args: Any) -> None:
        self.shoe.report(lambda: getattr(self.shoe.angel, what)(*args), ("lost", "good", "lost"))

    def _do_crash_in_copies(self, copy: int, back: bool) -> None:
        """The program dies between two copies of a card's report, and may be back for the next."""

        def die(now: int) -> None:
            if now == copy:
                self._go_on(0.02)
                self._do_kill()
                if back:
                    self._start()
                    self._go_on(0.01)

        self.shoe.between_copies = die
        self.shoe.draw(self.shoe.angel.draw)
        self.shoe.between_copies = lambda now: None

    def _do_refill(self) -> None:
        self.shoe.refill()

    def _do_noise(self, text: str) -> None:
        self.shoe.cable.write(bytes.fromhex(text))

    def _do_cable(self, plugged: bool) -> None:
        self.shoe.cable.plug(plugged)

    # Actions: inputs.

    def _do_press(self, *names: str) -> None:
        """Press, and let go; with several, all but the last are held meanwhile."""
        for name in names:
            self.header.levels[name] = True
            self._go_on(_SETTLED_S)
        for name in reversed(names):
            self.header.levels[name] = False
            self._go_on(_SETTLED_S)

    def _do_twice(self, name: str) -> None:
        self._do_press(name)
        self._do_press(name)

    def _do_wagers(self, *seats: int) -> None:
        for seat in self.config.rules.seats:
            self.header.levels[f"seat_{seat.number}"] = seat.number in seats

    def _do_wait(self) -> None:
        pass

    # Actions: the supervisor.

    def _do_leave(self, choice: int, by_key: bool) -> None:
        """Leave the standing fault by one of its exits."""
        if self.runtime is None or self.runtime.face.fault is None:
            return
        fault = self.runtime.face.fault
        if not fault.exits:
            return
        match Exit(fault.exits[choice % len(fault.exits)]):
            case Exit.CLEAR if by_key:
                self._do_press("key", "deal")
            case Exit.CLEAR:
                self._ask(ClearFault(_WHO))
            case Exit.VOID if by_key:
                self._do_press("key", "void")
            case Exit.VOID:
                self._ask(VoidHand(_WHO))
            case Exit.NEW_SHOE:
                if self.shoe.in_hand or fault.code not in ("card_without_shoe", "card_after_shoe"):
                    self.shoe.refill()
                self._ask(NewShoe(_WHO))
            case Exit.CARD:
                self._ask(NameCard(self._card_on_the_felt(), _WHO))

    def _do_name_missed(self) -> None:
        """Name every missed card in the order it came, then clear."""
        assert self.auditor is not None
        for _ in range(len(self.auditor.missed)):
            if self.runtime is None or self.face is None or self.face.fault is None:
                return
            self._ask(NameCard(self._card_on_the_felt(), _WHO))
            self._go_on(0.02)
            self.auditor.read(self.shoe.life)
        self._ask(ClearFault(_WHO))

    def _do_name(self, card: str) -> None:
        self._ask(NameCard(Card.parse(card), _WHO))

    def _do_ask(self, what: str) -> None:
        requests: dict[str, Request] = {
            "void": VoidHand(_WHO),
            "clear": ClearFault(_WHO),
            "new_shoe": NewShoe(_WHO),
            "cut_card": SeeCutCard(),
            "odd_is_next": TellOddCard(OddCardFate.NEXT_CARD, "dealer"),
            "odd_is_burned": TellOddCard(OddCardFate.BURN, "dealer"),
            "close_shoe": CloseShoe(_WHO),
            "test_lamps": LampTest("dealer"),
        }
        self._ask(requests[what])

    def _do_correct(self, round_back: int, card: str) -> None:
        """Two people find another first card in Player's hand of a round, counted back from the last."""
        assert self.auditor is not None
        rounds = self.auditor.table.finished
        if rounds:
            finished = rounds[-1 - round_back % len(rounds)]
            done = finished.done
            assert isinstance(done, Done), "the simulated house deals punto banco"
            player = (Card.parse(card), *done.player[1:])
            self._ask(CorrectRound(finished.number, player, done.banker, _WHO, "witness bob"))

    def _do_close_hand(self) -> None:
        """The dealer ends the shoe's own game of a hand that the table does not know."""
        if self.shoe.in_hand:
            self.shoe.report(self.shoe.angel.force_quit)

    # Actions: the program, its disk and its links.

    def _do_kill(self) -> None:
        if self.runtime is not None:
            self._kill()

    def _do_lose_power(self) -> None:
        if self.runtime is not None:
            self._kill()
            self.disk.lose_power()

    def _do_start(self) -> None:
        if self.runtime is None:
            self._start()

    def _do_cut_at_commit(self, when: str) -> None:
        if self.runtime is not None:
            self.disk.cut = "before" if when == "before" else "after"

    def _do_cut_at_publish(self, publishes: int) -> None:
        if self.runtime is not None:
            self._client.dies_at_publish = publishes

    def _do_disk(self, failing: bool, slow_s: float) -> None:
        if self.runtime is not None:
            self.disk.failing = failing
            self.loop.work_takes_s = slow_s

    def _do_step_fails(self) -> None:
        self._step_fails = True

    def _do_weather(self, lost: float, doubled: float, late: float) -> None:
        self.network.weather = Weather(lost, doubled, late)

    def _do_broker(self, what: str) -> None:
        network = self.network
        match what:
            case "down":
                network.go_down()
            case "up":
                network.come_up()
            case "drop":
                network.drop_table()
            case "restart":
                network.restart(forgets=False)
            case "forget":
                network.restart(forgets=True)
            case "refuse":
                network.refuses = True
            case _:
                network.refuses = False

    def _do_pit(self, what: str) -> None:
        pit = self.network.pit
        match what:
            case "crash":
                pit.crash()
            case "start":
                pit.start()
            case "slow":
                pit.commit_takes_s = 1.5
            case _:
                pit.commit_takes_s = 0.02

    def _do_untrue_pit(self) -> None:
        """A pit that commits what it was never sent: nobody chooses this but the simulation's own test."""
        self.network.pit.ledger.append(b"{}")

    def _do_stray_ack(self, seq: int) -> None:
        self.network.stray_ack(seq)

    # The program's life.

    def _start(self) -> None:
        """Start the table's program, as `controller.app` does."""
        config = self.config
        with self.disk.mounted():
            journal = Journal(self.disk.path, config.file.table.id, _Signer(), bytes(32))
        if self.auditor is None:
            self.auditor = Auditor(self.disk.path, config.rules, _Signer(), self.shoe.reported)
        self.auditor.read(self.shoe.life)
        hold("what was acted on stays", journal.head_seq == len(self.auditor.bodies), journal.head_seq)
        table, differs = replay(journal.open_shoe(), config.rules, config.file.table.id, journal.epoch)
        hold("a replay never differs", differs is None, differs)
        hold("a restart finds the table as it was", table == self.auditor.table, (table, self.auditor.table))
        self.shoe.life += 1
        self._journal = journal
        self._client = Client(self.network)
        self._client.on_death = self._power_cut
        self.header = _Header(iter(self.header.levels))
        codec = AngelEyeCodec(last=table.last_report)
        shoe = ShoeOnLine(codec, "the cable", 4800)
        self.runtime = Runtime(
            config, journal, bytes(32), table, differs, self.header, shoe, self._client, lambda: None
        )
        self._running = self.loop.create_task(self.runtime.run())
        self._go_on(0.01)

    def _kill(self) -> None:
        """The program is gone between two instructions: nothing it had begun goes on."""
        assert self._running is not None
        self.header.dead = self._client.dead = True
        self.network.drop_table()
        self.shoe.cable.port = None
        self.loop.forget_work()
        self.disk.cut, self.disk.failing = None, False
        for task in (self._running, *self._asked):
            task.cancel()
        running, self._running, self.runtime, self._asked = self._running, None, None, []
        if not running.done():
            running.add_done_callback(lambda _: self.loop.stop())
            self.loop.run_forever()
        self._journal.close()

    def _power_cut(self) -> None:
        """The power goes inside the program's own doing."""
        self._cut = True
        self.loop.stop()

    def _go_on(self, seconds: float) -> None:
        """Let time go by; should the program end by itself, that is a failure."""
        self.loop.run_for(seconds)
        if self._cut:
            self._cut = False
            self._kill()
            self.disk.lose_power()
        if self._running is not None and self._running.done():
            self._asked = []
            error = None if self._running.cancelled() else self._running.exception()
            raise Broken("the program never ends by itself", _innermost(error)) from error

    def _ask(self, request: Request) -> None:
        if self.runtime is not None:
            ask: Coroutine[Any, Any, Answer] = self.runtime.ask(request)
            self._asked = [task for task in self._asked if not task.done()]
            self._asked.append(self.loop.create_task(ask))

    def _card_on_the_felt(self) -> Card:
        """The card a supervisor reads there: the one that waits for its name, or the first that was missed."""
        assert self.auditor is not None
        table = self.auditor.table
        raised_by = table.fault.raised_by if table.fault else None
        report = getattr(raised_by.fact, "report", None) if raised_by is not None else None
        waits = table.fault is not None and table.fault.code in (
            "unreadable_card",
            "impossible_card",
            "card_outside_game",
        )
        if waits and report is not None:
            real = next((r.real for r in reversed(self.shoe.reported) if r.frame == report.frame), None)
            if real is not None:
                return Card.parse(real)
        if self.auditor.missed:
            return Card.parse(self.auditor.missed[0])
        return DECK[self.steps % 52]

    # Checks.

    def _alive(self) -> tuple[Runtime, Auditor]:
        assert self.runtime is not None
        assert self.auditor is not None
        return self.runtime, self.auditor

    def _check(self, settled: bool) -> None:
        assert self.auditor is not None
        if settled and self.loop.work_takes_s:
            self._go_on(0.0)  # what was committed at this very moment is then told, and nothing more is
        self.auditor.read(self.shoe.life)
        self.auditor.ledger(self.network.pit.ledger, self.network.pit.alarms)
        if settled and self.runtime is not None:
            hold("the face is the journal's", self.runtime.face == public(self.auditor.table), self.runtime.face)
            if not self.disk.failing and not self.loop.work_takes_s:
                self._check_lamps()
        if settled and self.steps % 8 == 0:
            self._check_secrets()

    def _check_lamps(self) -> None:
        """Every lamp shows what the face and what is live say; what is live may just have changed, a few times over."""
        tests = self._alive()[1].lamp_tests
        if tests != self._lamp_tests:
            self._lamp_tests, self._lamp_test_ends_s = tests, self.loop.now_s + _LAMP_TEST_S
        if self.loop.now_s < self._lamp_test_ends_s:
            return
        for attempt in range(4):
            runtime, auditor = self._alive()
            status = runtime.status()
            expected = self._expected_lamps()
            shown = status["lamps"]
            steady = {name: bool(pattern.value) for name, pattern in expected.items() if len(pattern.value) < 2}
            lit = {name: self.header.lit.get(name) for name in steady}
            if shown == {name: pattern.name.lower() for name, pattern in expected.items()} and lit == steady:
                return
            if attempt == 3:
                raise Broken("the lamps show the face", (shown, expected, self.header.lit))
            self._go_on(_SETTLED_S)
            auditor.read(self.shoe.life)
            if self.runtime is None:
                return

    def _expected_lamps(self) -> dict[str, Pattern]:
        runtime, auditor = self._alive()
        covered = {seat.number for seat in self.config.rules.seats if self.header.levels[f"seat_{seat.number}"]}
        stream = runtime.stream
        live = Live(frozenset(covered), stream.fresh(), self.shoe.cable.heard, stream.up, journal_ok=True)
        return lamps(public(auditor.table), live)

    def _check_replay(self) -> None:
        if self.runtime is None or self.disk.failing or self.loop.work_takes_s:
            return
        auditor = self._alive()[1]
        table, differs = replay(
            self._journal.open_shoe(), self.config.rules, self.config.file.table.id, self._journal.epoch
        )
        hold("a replay never differs", differs is None, differs)
        hold("a replay gives the table as it is", table == auditor.table, (table, auditor.table))

    def _check_secrets(self) -> None:
        sent, self.network.sent = self.network.sent, []
        frames = [report.frame for report in self.shoe.reported[-20:]]
        published = [body.decode() for body in sent]
        if self.runtime is not None and self.auditor is not None and not self.loop.work_takes_s:
            face = dict(self.runtime.status())
            published.append(json.dumps(face))
            if not self.disk.failing:
                self.auditor.secret_in(json.dumps(face["face"]))
        for text in published:
            hold("no frame gets out", not any(frame in text for frame in frames), text)

    def _delivery(self) -> object:
        runtime, auditor = self._alive()
        return runtime.stream.status(), len(self.network.pit.ledger), len(auditor.bodies)

    # The clock and what else the program takes from outside.

    @contextmanager
    def _in_this_world(self) -> Iterator[None]:
        loop = self.loop
        clock = SimpleNamespace(monotonic=loop.time, monotonic_ns=lambda: round(loop.now_s * 1e9))
        with (
            patch.object(controller.runtime, "time", clock),
            patch.object(controller.stream, "time", clock),
            patch.object(controller.runtime, "stamp_now", lambda: Stamp(round(loop.now_s * 1000), True)),
            patch.object(controller.runtime, "step", self._step),
            patch.object(drivers.shoe.line, "ShoePort", functools.partial(_port, self)),
        ):
            yield

    def _step(self, table: Table, fact: Fact) -> tuple[Table, tuple[Event, ...]]:
        if self._step_fails:
            self._step_fails = False
            assert self.auditor is not None
            self.auditor.step_was_broken = True
            raise RuntimeError("a step that was made to fail")
        return core.step(table, fact)


def _port(
    world: World, url: str, baud: int, on_bytes: Callable[[bytes], None], on_link: Callable[[bool, str], None]
) -> Port:
    return Port(world.shoe.cable, on_bytes, on_link)


def _config(luck: random.Random) -> Config:
    """The example table, with what a house may set chosen by the seed: small shoes, so that they end."""
    config = _example()
    shoe = dataclasses.replace(
        config.rules.shoe,
        decks=luck.choice((1, 1, 1, 2)),
        drawn_in_error=luck.choice(("simulated_hand", "simulated_hand", "simulated_hand", "burn", "next_card")),
        burn_counts_first_card=luck.random() < 0.2,
        cut_card_from_end=luck.choice((14, 14, 14, 5)),
    )
    rules = dataclasses.replace(config.rules, shoe=shoe, lock_on=luck.choice(("deal", "deal", "deal", "first_card")))
    file = dataclasses.replace(
        config.file,
        pins=dataclasses.replace(config.file.pins, sample_ms=_SAMPLE_MS, debounce_ms=_SAMPLE_MS),
        pit=dataclasses.replace(config.file.pit, stale_after_s=3),
    )
    return dataclasses.replace(config, rules=rules, file=file)


@functools.cache
def _example() -> Config:
    return load(_TABLE_FILE)


def _innermost(error: BaseException | None) -> object:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return repr(error)
