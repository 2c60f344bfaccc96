"""One table of the simulated house: the real table program in simulated time, with simulated surroundings.

These parts are real: the runtime with its stream of events, the journal, the codec, the debouncer and the lamps, wired
as `controller.daemon.app` wires them. These are simulated: the clock and the event loop, the disk's failures, the lamps
and inputs at the Pi's GPIO pins, the shoe's cable and the broker. A method `do_NAME` performs the action NAME at this
table.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

import controller.table.step as core
from controller.contract.envelope import Stamp
from controller.contract.events import Event
from controller.contract.face.table import Public
from controller.contract.pit_words import AckWord, AwardStep, MetersWord
from controller.daemon.answer import Answer
from controller.daemon.config import Config
from controller.daemon.control.lines import line
from controller.daemon.delivery.standing import GOOD
from controller.daemon.record.journal import Journal
from controller.daemon.record.replay import replay
from controller.daemon.runtime import Runtime
from controller.daemon.shoe_heard import Mark
from controller.pit.reference.clock import next_number, now_text
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import TwoHands
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Request
from controller.table.acts.itself import LampTest
from controller.table.acts.rounds import OddCardFate, TellOddCard, VoidRound
from controller.table.acts.seats import ResetHits
from controller.table.acts.shoe import CloseShoe, NewShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import Fact
from controller.table.faults import Exit
from controller.table.lamps import Live, Pattern, lamps
from controller.table.public import public
from controller.table.states import Table
from drivers.devices import PRESENT_INPUT
from drivers.line.shoe_on_line import ShoeOnLine
from drivers.sim.shoe.angel_eye import Result, Target
from tests.simulation.auditor import PROGRESSIVE, Auditor
from tests.simulation.broken import Broken, hold
from tests.simulation.disk import Disk
from tests.simulation.hearing import Hearing, Verdict
from tests.simulation.loop import VirtualLoop, Worker, watch_in_turns
from tests.simulation.network import Client, Network
from tests.simulation.pit import KEY
from tests.simulation.shoe import ALL_COPIES, CardShoe
from tests.simulation.signing import Signer

_SETTLED_S = 0.151  # a changed input is believed by then, and the lamps shown
_LAMP_TEST_S = 5.2
_FEWEST_UNHEARD = 5  # an action makes up to three reports
_REPORT_TAKES_S = 0.2  # a card's, with the cut card's before it and the result's after it
_BY_HAND_S = 0.3  # no hand draws a card faster
_SLOW_S = 6.0  # by then what a slow disk held up is understood
_WHO = "supervisor anna"


class House(Protocol):
    """What a table needs from the simulated house: time, the wall clock, the network and the pit's award steps."""

    loop: VirtualLoop
    network: Network
    steps: int

    def go_on(self, seconds: float) -> None:
        """Let simulated time go by for the whole house."""

    def stamp(self) -> Stamp:
        """Return the present time by the simulated wall clock."""

    def pit_step(self, table: str, seq: int) -> AwardStep | None:
        """Return the award step with the number `seq` that the pit took for a table; None if there is no such step."""


class _Header:
    """The simulated GPIO pins of the Raspberry Pi: the state of each lamp and each input, by name."""

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


class LiveTable:
    """A table of the simulated house, made from a seed, with its files in `folder`. Its program is not started yet."""

    def __init__(self, house: House, config: Config, seed: str, lucky: bool, folder: Path) -> None:
        self.id = config.file.table.id
        self.config = config
        self.loop = house.loop
        self.network = house.network
        self._house = house
        self._public_key = hashlib.sha256(self.id.encode()).digest()
        luck = random.Random(f"{seed} shoe")
        shoe_rules = config.rules.shoe
        printed = tuple(str(seat.k9) for seat in config.rules.seats) if lucky else ()
        brand, wrap = config.file.shoe.driver.name, luck.choice((0, 1))
        self.shoe = CardShoe(brand, seed, shoe_rules.decks, shoe_rules.cut_card_from_end, wrap, printed)
        if not self.shoe.numbered:
            self.shoe.on_cut_card = lambda: self._ask(SeeCutCard())
        self.shoe.refill()
        self.disk = Disk(folder / f"{self.id}.journal")
        self.header = _Header(iter(config.file.pins.inputs))
        self._move_plug(True)
        self.verdicts: dict[int, Verdict] = {}  # what it could know of its pit, by the wall clock's ms
        self._cut = False
        self._boots = 1  # of its machine
        self._lamp_tests, self._lamp_test_ends_s = 0, 0.0
        self._step_fails = False
        self._running: asyncio.Task[None] | None = None
        self._asked: list[asyncio.Task[Answer]] = []
        self.runtime: Runtime | None = None
        self._auditor: Auditor | None = None

    def close(self) -> None:
        """Kill the table's program, if it runs, and close its auditor."""
        if self.runtime is not None:
            self._kill()
        self.auditor.close()

    @property
    def auditor(self) -> Auditor:
        """Return the auditor that follows the table's journal."""
        assert self._auditor is not None, "made at the first start"
        return self._auditor

    @property
    def face(self) -> Public | None:
        """Return the table's public face (what its screens may show); None while its program is down."""
        return None if self.runtime is None else self.runtime.face

    def keep_gaps_visible(self) -> None:
        """If five or more of the shoe's reports are not in the journal yet, mend the disk and the cable, and start the
        program. The reports' numbers have one digit, so the table could not notice a gap of ten reports."""
        if not self.shoe.numbered or self.auditor.backlog < _FEWEST_UNHEARD:
            return
        self._mend_disk()
        self.do_start()
        self.shoe.cable.plug(True)
        self._move_plug(True)
        self._go_on(1.2)
        self.shoe.report(self.shoe.far.stand_by)
        self._go_on(0.02)
        self.check(settled=True)

    def mend(self) -> None:
        """Mend the disk and the cable, and start the table's program."""
        self._mend_disk()
        self.do_start()
        self.shoe.cable.plug(True)
        self._move_plug(True)

    def settled(self) -> None:
        """Check, some time after everything was mended, that all events are delivered, and that the broker retains the
        table's present state."""
        self.check(settled=True)
        self.check_replay()
        runtime, auditor, state = self._alive(), self.auditor, self.network.state(self.id)
        hold("the line is known as it is", runtime.shoe_line.up == self.shoe.cable.heard, runtime.shoe_line)
        auditor.all_reports_arrived(self.shoe.life)
        hold("the pit's word is marked", runtime.stream.told.status().unacknowledged == 0, self.delivery())
        hold("the stream flows", runtime.stream.up and runtime.stream.fresh(), self.delivery())
        shown = (state.get("phase"), state.get("shoe"), state.get("fault"), state.get("unacknowledged"))
        face = runtime.face
        told = (face.phase, face.shoe, face.fault.code if face.fault else None, 0)
        hold("the retained state tells of the table", shown == told, (shown, told))

    def delivery(self) -> object:
        """Return two things for the error text of a failed check: the status of the delivery of events to the pit, and
        how many events the table has made."""
        return self._alive().stream.told.status(), len(self.auditor.bodies)

    def took_note(self, at_ms: int) -> None:
        """Record what this table can know of its pit at the time `at_ms` of the wall clock. This is called whenever any
        table of the house has written a fact. `at_ms` is the fact's time."""
        self.verdicts[at_ms] = self._hearing.verdict()

    # Actions: the shoe and the dealer's hands on it.

    def do_draw(self, *damage: str) -> None:
        self.shoe.draw(self.shoe.far.draw, damage or ALL_COPIES)

    def do_draw_wrong(self, target: str, index: int) -> None:
        self._draw_lying(target=Target[target], index=index)

    def do_draw_result(self, result: str) -> None:
        self._draw_lying(result=Result[result])

    def _draw_lying(self, **lies: Any) -> None:
        """Draw a card, and let the shoe report it wrongly. `lies` are the wrong values, such as target, index or
        result. A shoe that reports nothing but cards reports correctly."""
        self.shoe.draw(lambda card: self.shoe.far.draw(card, **lies if self.shoe.numbered else {}))

    def do_misread(self, as_card: str) -> None:
        self.shoe.draw(lambda card: self.shoe.far.draw(as_card))

    def do_unreadable(self) -> None:
        self.shoe.draw(self.shoe.far.unreadable if self.shoe.numbered else self.shoe.far.lose)

    def do_draw_outside(self, mode: str) -> None:
        self.shoe.draw(lambda card: self.shoe.far.draw_outside_game(mode) if self.shoe.numbered else None)

    def do_keep(self) -> None:
        self.shoe.draw(self.shoe.far.keep if self.shoe.numbered else self.shoe.far.draw)

    def do_report(self, what: str, *args: Any) -> None:
        if not self.shoe.numbered:
            return
        latest = self.shoe.reported[-self.auditor.backlog - 1 :]
        if what == "power_up" and any(report.kind == "S" and report.good_copies >= 2 for report in latest):
            what, args = "stand_by", ()  # two power-ups with nothing heard in between are the same bytes
        self.shoe.report(lambda: getattr(self.shoe.far, what)(*args))

    def do_report_lost(self, what: str, *args: Any) -> None:
        if self.shoe.numbered:
            self.shoe.report(lambda: getattr(self.shoe.far, what)(*args), ("lost", "good", "lost"))

    def do_crash_in_copies(self, copy: int, back: bool) -> None:
        """Kill the table's program between two copies of a card's report. If `back` is True, the program runs again
        before the next copy."""

        def die(now: int) -> None:
            if now == (copy if self.shoe.numbered else 0):
                self._go_on(0.02)
                self.do_kill()
                if back:
                    self._start()
                    self._go_on(0.01)

        self.shoe.between_copies = die
        self.shoe.draw(self.shoe.far.draw)
        self.shoe.between_copies = lambda now: None

    def do_absence(self, of_the_program: bool, rounds: int, seconds: float) -> None:
        """Stop the table's program (if `of_the_program` is True) or pull the cable. Meanwhile let the dealer deal
        `rounds` whole rounds, and wait `seconds`. Then start the program and plug in the cable."""
        if of_the_program:
            self.do_kill()
        else:
            self.do_cable(False)
        for _ in range(rounds):
            for _ in range(4):
                self.do_draw()
                self._go_on(_REPORT_TAKES_S)
            while self.shoe.in_round and self.shoe.cards_left:
                self.do_draw()
                self._go_on(_REPORT_TAKES_S)
        self._go_on(seconds)
        self.do_start()
        self.do_cable(True)

    def do_shoes_end(self, cards: int, seconds: float) -> None:
        """Pull the plug at the shoe's end, while the serial port stays open, and draw this many cards as fast as a
        person can."""
        self._move_plug(False)
        for _ in range(cards):
            self._go_on(_BY_HAND_S)
            self.do_draw()
        self._go_on(seconds)
        self._move_plug(True)

    def _move_plug(self, is_in: bool) -> None:
        """Put the plug in at the shoe's end, or pull it. If the shoe takes no commands, the table notices this by a
        GPIO input that shows whether the shoe has power."""
        self.shoe.cable.in_shoe = is_in
        if PRESENT_INPUT in self.header.levels:
            self.header.levels[PRESENT_INPUT] = is_in

    def do_refill(self) -> None:
        self.shoe.refill()

    def do_noise(self, text: str) -> None:
        self.shoe.cable.write(bytes.fromhex(text))

    def do_cable(self, plugged: bool) -> None:
        self.shoe.cable.plug(plugged)

    # Actions: inputs.

    def do_press(self, *names: str) -> None:
        """Press the inputs one after another, and then release them all. All are held until the last is pressed."""
        for name in names:
            self.header.levels[name] = True
            self._go_on(_SETTLED_S)
        for name in reversed(names):
            self.header.levels[name] = False
            self._go_on(_SETTLED_S)

    def do_twice(self, name: str) -> None:
        self.do_press(name)
        self.do_press(name)

    def do_wagers(self, *seats: int) -> None:
        for seat in self.config.rules.seats:
            self.header.levels[f"seat_{seat.number}"] = seat.number in seats

    def do_wait(self) -> None:
        pass

    # Actions: the supervisor.

    def do_leave(self, choice: int, by_key: bool) -> None:
        """Perform one of the acts that clear the fault at which the table has stopped. `choice` selects the act. With
        `by_key`, use the key and a button for an act that can be done in this way."""
        if self.runtime is None or self.runtime.face.fault is None:
            return
        fault = self.runtime.face.fault
        if not fault.exits:
            return
        match Exit(fault.exits[choice % len(fault.exits)]):
            case Exit.CLEAR if by_key:
                self.do_press("key", "deal")
            case Exit.CLEAR:
                self._ask(ClearFault(_WHO))
            case Exit.VOID if by_key:
                self.do_press("key", "void")
            case Exit.VOID:
                self._ask_two(VoidRound(_WHO))
            case Exit.NEW_SHOE:
                if self.shoe.in_round or fault.code not in ("card_without_shoe", "card_after_shoe"):
                    self.shoe.refill()
                self._ask(NewShoe(_WHO))
            case Exit.CARD:
                self._ask_two(NameCard(self._card_on_the_felt(), _WHO))
            case Exit.COUNT:
                self._ask(CountCards(self.shoe.cards_left, _WHO))

    def do_name_missed(self) -> None:
        """Name every card that the table missed, in the order in which the cards came. Then ask to clear the fault, and
        tell the table how many cards are left."""
        for missed in self.auditor.missed_since(self.shoe.life):
            if self.face is None or self.face.fault is None:
                return
            self._ask_two(NameCard(Card.parse(missed), _WHO))
            self._go_on(0.02)
            self.auditor.read(self.shoe.life)
        self._ask(ClearFault(_WHO))
        self._ask(CountCards(self.shoe.cards_left, _WHO))

    def do_name(self, card: str) -> None:
        self._ask_two(NameCard(Card.parse(card), _WHO))

    def do_ask(self, what: str) -> None:
        requests: dict[str, Request] = {
            "void": VoidRound(_WHO),
            "clear": ClearFault(_WHO),
            "new_shoe": NewShoe(_WHO),
            "cut_card": SeeCutCard(),
            "odd_is_next": TellOddCard(OddCardFate.NEXT_CARD, "dealer"),
            "odd_is_burned": TellOddCard(OddCardFate.BURN, "dealer"),
            "close_shoe": CloseShoe(_WHO),
            "test_lamps": LampTest("dealer"),
            "reset_hits": ResetHits(None, _WHO),
        }
        self._ask_two(requests[what])

    def do_reset(self, seat: int) -> None:
        """Mark a seat's hits as handled, as a dealer does."""
        self._ask(ResetHits(seat, "dealer"))

    def do_correct(self, round_back: int, card: str) -> None:
        """Correct a finished round: two people say that Player's first card was `card`. `round_back` counts back from
        the last round."""
        rounds = self.auditor.table.finished
        if rounds:
            finished = rounds[-1 - round_back % len(rounds)]
            done = finished.done
            assert isinstance(done, TwoHands), "the simulated house deals punto banco"
            player = (Card.parse(card), *done.player[1:])
            self._ask_two(CorrectRound(finished.number, player, done.banker, _WHO))

    def do_close_round(self) -> None:
        """End the round that the shoe's own game still plays, as the dealer does at the shoe. The table may not know of
        that round."""
        if self.shoe.in_round:
            self.shoe.report(self.shoe.far.force_quit)

    # Actions: the program, its disk and its links.

    def do_kill(self) -> None:
        if self.runtime is not None:
            self._kill()

    def do_lose_power(self) -> None:
        if self.runtime is not None:
            self._kill()
            self.disk.lose_power()
            self._boots += 1

    def do_start(self) -> None:
        if self.runtime is None:
            self._start()

    def do_cut_at_commit(self, when: str) -> None:
        if self.runtime is not None:
            self.disk.cut = "before" if when == "before" else "after"

    def do_cut_at_publish(self, publishes: int) -> None:
        if self.runtime is not None:
            self._client.dies_at_publish = publishes

    def do_disk(self, failing: bool, slow_s: float) -> None:
        if self.runtime is not None:
            self.disk.failing = failing
            self.disk.slow_s = slow_s
            self._worker.takes_s = slow_s

    def do_step_fails(self) -> None:
        self._step_fails = True

    # Actions: words that are none of the pit's, or old ones.

    def do_drop(self) -> None:
        """End the table's connection to the broker."""
        self.network.drop(self.id)

    def do_stray_ack(self, seq: int) -> None:
        """Bring the table an acknowledgement for another epoch of the table, left over from another journal."""
        said = AckWord(self.id, "0ld0ld0ld0", seq, "ab" * 32, now_text())
        self.network.stray(self.id, "ack", said.payload(KEY))

    def do_stray_levels(self, seq: int) -> None:
        """Bring the table a message about the meters that breaks the contract, because its number is not above 0."""
        said = MetersWord(-seq, now_text(), {"player_personal": 1})
        self.network.stray(self.id, "meters", said.payload(KEY))

    def do_stray_award(self, what: str, number: int) -> None:
        """Bring the table an award step that it must refuse, for example one of another table or seat, or one that it
        has already got."""
        said = self.network.pit.steps_said.get(self.id, [])
        steps = said if what == "again" else [self._untrue(what, number)]
        if steps:
            self.network.stray(self.id, "award", steps[number % len(steps)])

    def _untrue(self, what: str, number: int) -> bytes:
        hits = [json.loads(body) for body in self.auditor.bodies if b'"type":"hit"' in body]
        hit: dict[str, Any] = (
            hits[number % len(hits)]
            if hits
            else {"id": f"{self.id}/{self._journal.epoch}/1", "seat": 1, "tier": PROGRESSIVE[0]}
        )
        table, epoch, seq = hit["id"].split("/")
        match what:
            case "of_another_table":
                table = "royal9-99"
            case "of_another_epoch":
                epoch = "0ld0ld0ld0"
            case "of_another_seat":
                hit = hit | {"seat": hit["seat"] % 7 + 1}
            case "of_no_hit":
                seq = str(1 + number)
                if any(other["id"].endswith(f"/{seq}") for other in hits):
                    seq = "999999"
        untrue = AwardStep(
            award=f"{table}.1",
            hit=f"{table}/{epoch}/{seq}",
            table=table,
            seat=hit["seat"],
            tier=hit["tier"],
            meter=None,
            cents=77,
            step="paid",
            by="a stranger",
            at=now_text(),
            seq=next_number(number),
        )
        return untrue.payload(KEY)

    # The program's life.

    def _start(self) -> None:
        """Start the table's program, wired as `controller.daemon.app` wires it."""
        config = self.config
        with self.disk.mounted():
            journal = Journal(self.disk.path, self.id, Signer(self._public_key), self._public_key)
        if self._auditor is None:
            signer = Signer(self._public_key)
            house = self._house
            self._auditor = Auditor(
                self.disk.path,
                config.rules,
                signer,
                self.shoe.reported,
                self.shoe.numbered,
                self.verdicts,
                house.pit_step,
            )
        self.auditor.read(self.shoe.life)
        hold("what was acted on stays", journal.head_seq == len(self.auditor.bodies), journal.head_seq)
        table, differs = replay(journal.open_shoe(), config.rules, self.id, journal.epoch)
        hold("a replay never differs", differs is None, differs)
        hold("a restart finds the table as it was", table == self.auditor.table, (table, self.auditor.table))
        self.shoe.life += 1
        self._journal = journal
        stale_s = float(config.file.pit.stale_after_s)
        self._hearing = Hearing(
            self.loop.time, self._house.stamp, journal.epoch, journal.acked_seq, PROGRESSIVE, stale_s
        )
        self._client = Client(self.network, self.id, self._hearing, self._power_cut)
        self.header = _Header(iter(self.header.levels))
        self._move_plug(self.shoe.cable.in_shoe)
        shoe = ShoeOnLine(config.file.shoe.driver, self.id, last=table.last_report, present=config.file.shoe.present)
        self.runtime = Runtime(
            config,
            journal,
            self._public_key,
            replace(table, pit_key=KEY.public.hex()),
            differs,
            "0" * 64,
            pins=self.header,
            shoe=shoe,
            broker=self._client,
            alive=lambda: None,
            mark=Mark(self.disk.path.with_suffix(".heard"), f"boot {self._boots}".replace(" ", "")),
            watch=watch_in_turns,
        )
        self._worker = Worker(self.disk.slow_s, self._power_cut)
        self.loop.workers[self.runtime._commits._thread] = self._worker
        self._running = self.loop.create_task(self.runtime.run())
        self._go_on(0.01)

    def _kill(self) -> None:
        """End the table's program between two instructions. Nothing that it had begun goes on."""
        assert self._running is not None
        self.header.dead = self._client.dead = True
        self.network.drop(self.id)
        self.shoe.cable.port = None
        self._worker.gone = True
        self.disk.cut, self.disk.failing = None, False
        for task in (self._running, *self._asked):
            task.cancel()
        running, self._running, self.runtime, self._asked = self._running, None, None, []
        running.add_done_callback(lambda _: self.loop.stop())
        while not running.done():  # another table's power may go just now, and stop the loop too
            self.loop.run_forever()
        self._journal.close()

    def _power_cut(self) -> None:
        """Cut the power of the table's computer while the program is doing something."""
        self._cut = self._worker.gone = True
        self.header.dead = self._client.dead = True
        self.loop.stop()

    def went_on(self) -> None:
        """Take into account that simulated time went by. Raises Broken if the table's program has ended by itself."""
        if self._cut:
            self._cut = False
            self._kill()
            self.disk.lose_power()
        if self._running is not None and self._running.done():
            self._asked = []
            error = None if self._running.cancelled() else self._running.exception()
            raise Broken("the program never ends by itself", _innermost(error)) from error
        if self.disk.slow_s or self.disk.failing:
            self._hearing.slow_until_s = self.loop.now_s + _SLOW_S

    def _go_on(self, seconds: float) -> None:
        self._house.go_on(seconds)

    def _mend_disk(self) -> None:
        self.disk.failing, self.disk.cut, self.disk.slow_s = False, None, 0.0
        self._worker.takes_s = 0.0

    def _ask(self, request: Request) -> None:
        if self.runtime is not None:
            fault = self.runtime.face.fault
            self._wait_for(self.runtime.ask(request, fault=fault.id if fault else None))

    def _ask_two(self, request: Request) -> None:
        """Ask the table for an act, and let a second person agree if the table waits for one."""
        self._ask(request)
        self._go_on(_SETTLED_S)
        waits = None if self.runtime is None else self.runtime.told.waits_for_second_person()
        if self.runtime is not None and waits is not None:
            assert isinstance(waits.id, int)
            self._wait_for(self.runtime.confirm(waits.id, "witness bob", "socket bob(1001)"))

    def _wait_for(self, answer: Coroutine[Any, Any, Answer]) -> None:
        self._asked = [task for task in self._asked if not task.done()]
        self._asked.append(self.loop.create_task(answer))

    def _card_on_the_felt(self) -> Card:
        """Return the card that a supervisor reads on the felt: the card that waits for its name, or the first missed
        card."""
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
        return DECK[self._house.steps % 52]

    # Checks.

    def _alive(self) -> Runtime:
        assert self.runtime is not None
        return self.runtime

    def check(self, settled: bool) -> None:
        """Check everything that must hold of this table. `settled` is True if the program has had a moment to show what
        it committed. Only then are the public face and the lamps checked too."""
        if settled and self.disk.slow_s:
            self._go_on(0.0)  # what was committed at this very moment is then told, and nothing more is
        self.auditor.read(self.shoe.life)
        if settled and self.runtime is not None:
            hold("the face is the journal's", self.runtime.face == public(self.auditor.table), self.runtime.face)
            if not self.disk.failing and not self.disk.slow_s:
                self._check_lamps()
        if settled and self._house.steps % 8 == 0:
            self._check_secrets()

    def _check_lamps(self) -> None:
        """Check that every lamp shows what the table's public face and its live values (such as link states) say. The
        check is repeated a few times, because the live values may have changed just now."""
        tests = self.auditor.lamp_tests
        if tests != self._lamp_tests:
            self._lamp_tests, self._lamp_test_ends_s = tests, self.loop.now_s + _LAMP_TEST_S
        if self.loop.now_s < self._lamp_test_ends_s:
            return
        for attempt in range(4):
            shown, expected = self._alive()._panel.shown, self._expected_lamps()
            steady = {name: bool(pattern.value) for name, pattern in expected.items() if len(pattern.value) < 2}
            lit = {name: self.header.lit.get(name) for name in steady}
            if shown == expected and lit == steady:
                seats = {seat for seat in self.config.rules.seat_numbers
                         if shown[f"seat_{seat}"] is Pattern.FAST_BLINK}  # fmt: skip
                hold("the lamps of the seats that hit say so", seats == self.auditor.seats_hit, seats)
                return
            if attempt == 3:
                raise Broken("the lamps show the face", (shown, expected, self.header.lit))
            self._go_on(_SETTLED_S + 0.013 * attempt)  # not always at the same moments between two beats
            self.auditor.read(self.shoe.life)
            if self.runtime is None:
                return

    def _expected_lamps(self) -> dict[str, Pattern]:
        covered = {seat.number for seat in self.config.rules.seats if self.header.levels[f"seat_{seat.number}"]}
        stream = self._alive().stream
        pit_up = stream.told.standing().code in GOOD
        # That the shoe is gone is noticed within two seconds. When all is settled, the line must be known as it is.
        shoe_up = self._alive().shoe_line.up
        waits = self._alive().told.waits_for_second_person() is not None
        live = Live(frozenset(covered), stream.fresh(), shoe_up, pit_up, journal_ok=True, second_person=waits)
        return lamps(public(self.auditor.table), live)

    def check_replay(self) -> None:
        """Check that a replay of the journal's rows since the shoe was opened results in the table's present state."""
        if self.runtime is None or self.disk.failing or self.disk.slow_s:
            return
        auditor = self.auditor
        table, differs = replay(self._journal.open_shoe(), self.config.rules, self.id, self._journal.epoch)
        hold("a replay never differs", differs is None, differs)
        hold("a replay gives the table as it is", table == auditor.table, (table, auditor.table))

    def _check_secrets(self) -> None:
        sent, self._client.sent = self._client.sent, []
        frames = [report.frame for report in self.shoe.reported[-20:]]
        published = [body.decode() for body in sent]
        if self.runtime is not None and not self.disk.slow_s:
            status = self.runtime.told.status()
            published.append(line(status).decode())
            if not self.disk.failing:
                self.auditor.secret_in(line(status.face).decode())
        for text in published:
            hold("no frame gets out", not any(frame in text for frame in frames), text)

    # What the program takes from outside.

    def step(self, table: Table, fact: Fact) -> tuple[Table, tuple[Event, ...]]:
        """Apply a fact by the table's logic, and return the new state and the events. Raises RuntimeError if the
        simulation wants this step to fail."""
        if self._step_fails:
            self._step_fails = False
            self.auditor.step_was_broken = True
            raise RuntimeError("a step that was made to fail")
        return core.step(table, fact)


def _innermost(error: BaseException | None) -> object:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return repr(error)
