"""Checks the parts of the daemon's main loop one by one: the timer, commits, the handling of requests, the panel of
buttons and lamps, button presses, and the shoe's line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from controller.contract.envelope import Stamp
from controller.daemon import clock, commits
from controller.daemon.beats import Beats
from controller.daemon.commits import Commits
from controller.daemon.config.table_file import PinsSection
from controller.daemon.folding import Folding
from controller.daemon.inbox import Arrived, Asked
from controller.daemon.panel import Panel
from controller.daemon.presses import Presses
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_file import JournalGoneError
from controller.daemon.record.journal_rows import Entry, Message
from controller.daemon.shoe_heard import Mark
from controller.daemon.shoe_line import ShoeLine
from controller.table.acts.entry import KEY, Request
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.facts import CommitFailed, Fact, JournalGone, Report, ShoeUnheard, ShoeUnplugged
from controller.table.lamps import Live, Pattern
from controller.table.legality import Refuse
from controller.table.public import public
from controller.table.states import Table
from drivers.devices import InputWiring, LampWiring
from tests.daemon.daemon_world import HeldShoe
from tests.support.tables import ROYAL9, TableUnderTest
from tests.support.waiting import eventually

_NOW = Stamp(1_800_000_000_000, True, "boot", 5_000)


async def test_beats_go_on_with_what_each_said_and_one_that_raises_ends_them() -> None:
    heard: list[bool] = []

    def beat(again: bool) -> tuple[float, bool]:
        heard.append(again)
        if len(heard) == 3:
            raise ZeroDivisionError
        return 0.0, not again

    with pytest.raises(ZeroDivisionError):
        await Beats(beat, 0.0).keep_beating()
    assert heard == [False, True, False]


@asynccontextmanager
async def beating_each_hour() -> AsyncIterator[tuple[Beats, list[bool]]]:
    """Yield a running timer and a list. The timer has called its function once, and will call it the next time in an
    hour, unless the test asks for an earlier call. The list holds the argument `again` of each call so far."""
    heard: list[bool] = []

    def beat(again: bool) -> tuple[float, bool]:
        heard.append(again)
        return 3600.0, False

    beats = Beats(beat, 0.0)
    beating = asyncio.create_task(beats.keep_beating())
    await eventually(lambda: len(heard) == 1)
    yield beats, heard
    beating.cancel()
    await asyncio.wait([beating])


async def test_a_beat_that_is_far_away_comes_soon_and_none_comes_after_the_last() -> None:
    async with beating_each_hour() as (beats, heard):
        beats.soon()
        await eventually(lambda: len(heard) == 2)
    beats.soon()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(heard) == 2


async def test_a_beat_is_brought_forward_and_never_put_off() -> None:
    async with beating_each_hour() as (beats, _):
        beats.soon(60.0)
        due_s = beats._next.when()
        assert due_s < asyncio.get_running_loop().time() + 100
        beats.soon(600.0)
        assert beats._next.when() == due_s


class _Disk:
    """A journal on a bad disk. Its first appends raise the errors `fails`, one after the other. Later appends work."""

    def __init__(self, *fails: OSError) -> None:
        self._fails = list(fails)
        self.put_backs = 0

    def append(self, entries: Sequence[Entry]) -> list[Message]:
        if self._fails:
            raise self._fails.pop(0)
        return []

    def put_back(self) -> str | None:
        self.put_backs += 1
        return "kept.bak"


@pytest.mark.parametrize(
    ("fails", "told", "put_backs"),
    [
        ((), [], 0),
        ((OSError(28, "full"), OSError(28, "full")), [CommitFailed("ENOSPC")], 0),
        ((JournalGoneError("t.journal", "removed"),), [JournalGone("t.journal", "removed", "kept.bak")], 1),
        ((OSError(5, "bad"), JournalGoneError("t", "replaced")), [JournalGone("t", "replaced", "kept.bak")], 1),
    ],
    ids=["a sound disk", "a full disk", "a removed file", "both"],
)
async def test_rows_are_committed_in_the_end_and_one_fact_tells_what_failed(
    fails: tuple[OSError, ...], told: list[Fact], put_backs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_RETRY_S", 0.0)
    disk, facts, waits = _Disk(*fails), list[Fact](), list[str | None]()
    part = Commits(cast(Journal, disk), lambda: None, lambda: waits.append(part.error), facts.append)
    try:
        assert await part.commit([]) == []
    finally:
        part.close()
    assert (facts, disk.put_backs, part.error) == (told, put_backs, None)
    assert len(waits) == len(fails)
    assert all(waits), "people are shown the reason while rows wait"


def _fold(table: Table, *requests: Request) -> tuple[Table, list[str], list[str | None]]:
    """Apply these requests to the table. Return the new table, the names of the facts in the new rows, and for each
    request the code of its refusal (None if it was accepted)."""
    answers: list[str | None] = []

    def answered(_arrived: Arrived, _asked: Asked, decided: Fact | Refuse) -> None:
        answers.append(decided.code if isinstance(decided, Refuse) else None)

    folding = Folding(lambda _fact, _table: True, answered)
    ambient = TableUnderTest(ROYAL9).ambient
    inbox: list[Arrived | Callable[[], None]] = [
        Arrived(Asked(request, None, None, None), ambient, _NOW, "socket") for request in requests
    ]
    folded = folding.fold(table, inbox)
    return folded.table, [type(entry.fact).__name__ for entry in folded.entries], answers


def test_what_waits_is_folded_in_its_order_and_a_refused_request_makes_no_row() -> None:
    table, rows, answers = _fold(Table(ROYAL9), LockWagers(), NewShoe(), LockWagers())
    assert public(table).phase == "first_card_due"
    assert rows == ["ShoeOpened"]
    assert answers == ["no_shoe", None, "burn_unfinished"]


def _line(table: Table, folder: Path, put: Callable[[object], None]) -> tuple[ShoeLine, HeldShoe]:
    shoe = HeldShoe(gap_shows_within_ms=300)
    mark = Mark(folder / "heard", "boot")
    return ShoeLine(shoe, "a brand", mark, None, lambda item, via="": put(item), lambda: table), shoe


def test_a_line_that_goes_and_comes_is_noted_and_people_are_told_why(tmp_path: Path) -> None:
    noted: list[object] = []
    line, _shoe = _line(Table(ROYAL9), tmp_path, noted.append)
    line.shoe_link(True, "open")
    line.shoe_link(True, "open still")
    assert (line.up, line.why) == (True, "open still")
    line.shoe_link(False, "the port is gone")
    assert (line.up, line.why) == (False, "the port is gone")
    assert [type(fact) for fact in noted] == [ShoeUnheard, ShoeUnplugged]


def test_an_absence_is_a_fact_only_while_a_shoe_is_open(tmp_path: Path) -> None:
    line, _shoe = _line(Table(ROYAL9), tmp_path, lambda _: None)
    opened = replace(TableUnderTest(ROYAL9).do(NewShoe()).draw("AS 2D").table, last_report=Report(3, "05"))
    assert not line.is_fact(ShoeUnheard(1_000), Table(ROYAL9))
    assert line.is_fact(ShoeUnheard(300), opened)
    assert not line.is_fact(ShoeUnheard(299), opened), "so short a gap shows in the shoe's numbers"
    assert not line.is_fact(ShoeUnplugged(), opened), "between rounds a plug that is pulled loses nothing by itself"


async def test_bad_bytes_are_told_only_while_no_card_lies_face_down(tmp_path: Path) -> None:
    items: list[object] = []
    line, _shoe = _line(Table(ROYAL9), tmp_path, items.append)
    line.shoe_noise("no_etx", 3)
    assert line.bad_bytes == {}
    noting = asyncio.create_task(line.keep_noting_noise())
    await eventually(lambda: len(items) == 1)
    noting.cancel()
    note = items[0]
    assert callable(note)
    note()
    assert line.bad_bytes == {}
    line.tell_noise()
    assert line.bad_bytes == {"no_etx": 3}


class _Header:
    """A stand-in for a Raspberry Pi's header, with its pins in memory."""

    def __init__(self) -> None:
        self.inputs = {"deal": False, KEY: False, "seat_1": False}
        self.lit: dict[str, bool] = {}

    def read(self) -> dict[str, bool]:
        return dict(self.inputs)

    def write(self, lamp: str, lit: bool) -> None:
        self.lit[lamp] = lit

    def close(self) -> None:
        self.lit.clear()


class _Hands:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def pressed(self, name: str, at_s: float) -> None:
        self.heard.append(f"{name} pressed")

    def let_go(self, name: str, at_s: float) -> None:
        self.heard.append(f"{name} let go")

    def sampled(self, at_s: float) -> None:
        pass


@pytest.fixture
def now_ms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The milliseconds of the monotonic clock, which the test sets."""
    now = [1_000]
    monkeypatch.setattr(clock, "monotonic_ms", lambda: now[0])
    monkeypatch.setattr(clock, "monotonic_s", lambda: now[0] / 1000)
    return now


def test_a_panel_debounces_its_inputs_and_writes_only_the_lamps_that_change(now_ms: list[int]) -> None:
    header, hands, face = _Header(), _Hands(), [public(Table(ROYAL9))]
    live = Live(frozenset(), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)
    wiring = PinsSection("simulated", {"fault": LampWiring(1, "high"), "draw_player": LampWiring(2, "high")}, {})
    panel = Panel(header, wiring, {1: "seat_1"}, hands, lambda: (face[0], live))
    panel.sample()
    panel.render()
    assert header.lit == {"fault": False, "draw_player": False}
    header.inputs["seat_1"] = header.inputs["deal"] = True
    panel.sample()
    now_ms[0] += 29
    panel.sample()
    assert (hands.heard, panel.covered) == ([], frozenset())
    now_ms[0] += 1
    panel.sample()
    assert (sorted(hands.heard), panel.covered) == (["deal pressed", "seat_1 pressed"], frozenset({1}))
    header.lit.clear()
    face[0] = public(TableUnderTest(ROYAL9).do(NewShoe()).table)
    panel.render()
    assert header.lit == {"draw_player": True}
    assert panel.shown["draw_player"] is Pattern.STEADY


def test_a_press_answers_what_people_could_see(now_ms: list[int]) -> None:
    asked: list[tuple[Request, str | None]] = []
    world = TableUnderTest(ROYAL9).do(NewShoe()).draw("AS 2D")
    inputs = {"fault_clear": InputWiring(3, "low", "up"), "deal": InputWiring(4, "low", "up")}
    presses = Presses(
        inputs,
        opened=lambda: None,
        ask=lambda item, _via: asked.append((item.request, item.fault)),
        table=lambda: world.table,
        moment=lambda: None,
        settled=dict,
        testing=lambda: False,
    )
    now_ms[0] += 1_000
    before = world.table
    world.draw("??")  # a fault
    fault = world.table.fault
    assert fault is not None
    stopped, world.table = world.table, before
    presses.note_fault(stopped)
    world.table = stopped
    presses.pressed("deal", 0.0)
    now_ms[0] += 301
    presses.pressed("deal", 0.0)
    assert [said for _, said in asked] == [None, fault.id]


def test_no_press_means_anything_while_the_inputs_are_tested(now_ms: list[int]) -> None:
    asked: list[Asked] = []
    table = Table(ROYAL9)
    opened: list[str] = []
    presses = Presses(
        {},
        lambda: opened.append("cabinet"),
        lambda item, _: asked.append(item),
        lambda: table,
        lambda: None,
        dict,
        lambda: True,
    )
    presses.pressed("new_shoe", 0.0)
    assert asked == []
    presses.pressed("cabinet_open", 0.0)
    assert opened == ["cabinet"], "a test of the inputs is no time to open the cabinet unseen"
