"""Checks the main loop: it shows and sends nothing before the commit, and loses no card whatever goes wrong."""

from __future__ import annotations

import asyncio
import re
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from controller.contract.face.status import ShoeLine, Standing, Status
from controller.contract.face.table import Public
from controller.daemon import commits, folding, panel, shoe_line
from controller.daemon import runtime as runtime_module
from controller.daemon.beat import next_beat
from controller.daemon.record.journal_reading import read_rows, verify
from controller.daemon.record.journal_rows import Row
from controller.daemon.record.replay import replay
from controller.people.cli.programs import EXAMPLE_TABLE, example_table
from controller.rules.game.cards import Card
from controller.rules.game.play import Call
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, MakeCall, VoidRound
from controller.table.acts.shoe import NewShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import (
    CardDrawn,
    CommitFailed,
    Fact,
    ShoeError,
    ShoeErrorRaised,
    ShoeOpened,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeUnplugged,
    WagersLocked,
)
from controller.table.public import public
from controller.table.states import Table
from controller.table.step import step
from tests.daemon.daemon_world import World, open_journal, running, table_config
from tests.support.contract import check_event
from tests.support.told import but
from tests.support.waiting import eventually, run


def kinds(rows: list[Row]) -> list[str]:
    return [type(row.fact).__name__ for row in rows]


def replayed(folder: Path) -> tuple[Public, int | None]:
    """Replay the journal in `folder`, as after a restart. Return the table's public view, and the number of the first
    row whose replay gives other events (None if no row does)."""
    config = table_config(folder)
    journal = open_journal(config)
    try:
        table, differs = replay(journal.open_shoe(), config.rules, config.file.table.id, journal.epoch)
        return public(table), differs
    finally:
        journal.close()


# Commit, then act.


async def test_until_the_commit_nothing_is_shown_said_or_answered_and_sampling_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        # The fault lamp blinks until the pit is heard, which no commit decides.
        await eventually(lambda: world.lamps["fault"] == "dark" and not world.pins.lit["fault"])
        before = dict(world.pins.lit)
        async with world.committing(NewShoe()) as asked:
            await world.pins.sampled(6)

            assert not asked.done()
            assert world.runtime.face.phase == "no_shoe"
            assert world.lamps["draw_player"] == "dark"
            burn = {name for name, pattern in world.lamps.items() if pattern in ("dark", "steady")}
            assert {name: world.pins.lit[name] for name in burn} == {name: before[name] for name in burn}
            assert world.broker.events() == []

        assert (await asked).refused is None
        assert world.runtime.face.phase == "first_card_due"
        await eventually(lambda: world.pins.lit["draw_player"] and world.pins.lit["draw_banker"])
        await eventually(lambda: world.pit.types() == ["shoe_opened"])


async def test_a_lamp_shows_at_once_what_a_commit_changes_of_how_the_pit_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as world:
        await eventually(lambda: world.lamps["fault"] == "dark")
        stream = world.runtime.stream
        unread = Standing("journal_unread", {"why": "a test"})
        committed = stream.committed

        def then_unread(*of: Any) -> None:
            committed(*of)
            monkeypatch.setattr(stream.told, "standing", lambda: unread)

        monkeypatch.setattr(stream, "committed", then_unread)
        world.runtime._committed([])  # no beat comes between this line and the next
        assert world.lamps["fault"] == "slow_blink"


async def test_a_lamp_blinks_while_nothing_else_happens(tmp_path: Path) -> None:
    """After a card came without an open shoe, the fault lamp blinks fast, although the main loop has nothing else to
    do."""
    async with running(tmp_path) as world:
        world.shoe.deal("KS")
        await eventually(lambda: world.lamps["fault"] == "fast_blink")
        for _ in range(3):
            await eventually(lambda: world.pins.lit["fault"])
            await eventually(lambda: not world.pins.lit["fault"])


async def test_an_event_is_on_the_disk_before_it_is_published(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        on_disk: list[int] = []
        committed = world.pit._hear

        def look_at_the_disk(event: dict[str, Any]) -> None:
            on_disk.append(verify(Path(world.config.file.journal.path)).messages)
            assert event["seq"] <= on_disk[-1]
            committed(event)

        world.broker.on_event = look_at_the_disk
        await world.open_shoe()
        await world.play_hit()
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert len(on_disk) >= 4


async def test_what_comes_while_the_disk_is_busy_is_the_next_commit(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        world.journal.batches.clear()
        async with world.committing(LockWagers()):
            world.shoe.deal("KS 2D 9S 3D")
            await world.pins.sampled(3)
            assert world.runtime.face.phase == "wagers_open"
        await world.settle()
        assert world.journal.batches == [["WagersLocked"], ["CardDrawn"] * 4]
        assert world.runtime.face.outcome == "player"


async def test_the_lamps_follow_the_hand(tmp_path: Path) -> None:
    async with running(tmp_path) as world:

        def shown(*lamps: str) -> list[str]:
            return [world.lamps[lamp] for lamp in lamps]

        await world.open_shoe()
        await world.wager(1)
        assert shown("seat_1", "seat_2") == ["slow_blink", "flash"]
        await world.do(LockWagers())
        assert shown("seat_1", "seat_2", "draw_player") == ["steady", "dark", "steady"]
        await world.deal("KS 2D 9S 3D")
        assert shown("seat_1", "player", "banker") == ["fast_blink", "steady", "dark"]
        await eventually(lambda: world.pins.lit["player"])


async def test_the_lamps_are_dark_once_the_table_has_ended(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.do(NewShoe())
        await eventually(lambda: world.pins.lit["draw_player"])

    assert world.pins.closed
    assert not any(world.pins.lit.values())


# Requests.


async def test_a_request_that_may_not_be_is_refused_with_its_code(tmp_path: Path) -> None:
    cases: dict[str, list[tuple[Request, str]]] = {
        "no_shoe": [
            (LockWagers(), "no_shoe"),
            (SeeCutCard(), "no_shoe"),
            (VoidRound("Smith"), "no_round"),
            (VoidRound(None), "no_supervisor"),
            (ClearFault("Smith"), "no_fault"),
            (NameCard(Card.parse("KS"), "Smith"), "no_card_to_name"),
        ],
        "wagers_open": [(NewShoe(), "shoe_open")],
        "wagers_locked": [(LockWagers(), "already_locked"), (NewShoe("Smith"), "already_locked")],
    }

    async def refuse_all(world: World, phase: str) -> None:
        assert world.runtime.face.phase == phase
        for request, code in cases[phase]:
            answer = await world.runtime.ask(request)
            assert answer.refused == code

    async with running(tmp_path) as world:
        await refuse_all(world, "no_shoe")
        assert world.rows() == [], "a refused request is no fact"
        await world.open_shoe()
        await refuse_all(world, "wagers_open")
        await world.do(LockWagers())
        await refuse_all(world, "wagers_locked")
        assert kinds(world.rows()) == ["ShoeOpened", "CardDrawn", "CardDrawn", "WagersLocked"]


async def test_whoever_asked_and_left_does_not_stop_the_table(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        async with world.committing(NewShoe()) as asked:
            asked.cancel()
            await asyncio.wait([asked])
        await world.settle()
        assert world.runtime.face.phase == "first_card_due"


# A step that fails.


def _failing_on(monkeypatch: pytest.MonkeyPatch, kind: type[Fact], secret: str) -> None:
    def failing(table: Table, fact: Fact) -> Any:
        if isinstance(fact, kind):
            raise ValueError(secret)
        return step(table, fact)

    monkeypatch.setattr(folding, "step", failing)


async def test_a_step_that_raises_is_a_fault_and_the_table_stays_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        _failing_on(monkeypatch, ShoePresetChanged, secret="a face-down king")
        world.journal.batches.clear()
        world.shoe.listener.shoe_reported(ShoePresetChanged("01", "2"))
        await world.settle()

        assert world.journal.batches == [["ShoePresetChanged", "StepFailed"]]
        assert world.fault() == "internal"
        assert "king" not in str(world.runtime.face.fault)
        await eventually(lambda: world.pit.types()[-1:] == ["fault"])
        assert "king" not in str(world.pit.ledger[-1])
        world.shoe.deal("9D")  # a card goes on being journalled
        await world.settle()
        assert kinds(world.rows())[-1] == "CardDrawn"
        face = world.runtime.face

    assert "king" not in caplog.text
    again, differs = replayed(tmp_path)
    assert again == face
    assert differs is None
    assert again.fault is not None
    assert again.fault.code == "internal"


@pytest.mark.parametrize("kind", [ShoeOpened, WagersLocked])
async def test_an_act_whose_step_raised_changed_nothing_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Fact]
) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("KS 2D 9S 3D")
        _failing_on(monkeypatch, kind, "")
        await world.do(NewShoe("Smith") if kind is ShoeOpened else LockWagers())
        face = world.runtime.face
        assert face.fault is not None
        assert (face.fault.code, face.phase, face.shoe) == ("internal", "wagers_open", 1)

    monkeypatch.undo()
    assert replayed(tmp_path) == (face, None)

    async with running(tmp_path) as world:
        await world.do(ClearFault("Smith"), LockWagers())
        await world.deal("KS 2D 9S 3D")
        assert world.runtime.face.outcome == "player"


def test_what_fails_besides_the_step_ends_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(face: Public, live: object) -> Any:
        raise ZeroDivisionError

    async def test() -> None:
        async with running(tmp_path) as world:
            monkeypatch.setattr(panel, "lamps", failing)
            world.pins.pressed.add("seat_1")
            await eventually(world.task.done)

    with pytest.raises(ExceptionGroup) as caught:
        run(test())
    assert caught.group_contains(ZeroDivisionError)


# A restart.


async def test_a_restart_in_a_hand_goes_on_where_it_was(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.wager(2)
        await world.do(LockWagers())
        await world.deal("KS 2D 9S")
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked"])
        before = world

    async with running(tmp_path, ledger=before.pit.ledger) as world:
        assert world.runtime.face == before.runtime.face
        assert world.journal.boot == 2
        await world.deal("3D")
        assert world.runtime.face.outcome == "player"
        await eventually(lambda: world.pit.types()[2:] == ["round", "hit"])

    assert verify(Path(table_config(tmp_path).file.journal.path)).rows == 10, "two of them are the starts"


async def test_a_replay_that_gives_other_events_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a replay gives other events than the journal holds, the table reports a fault. This can happen after an update
    that judges a round differently."""

    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())

    from controller.daemon.record import replay as replay_module

    def other_step(table: Table, fact: Fact) -> Any:
        table, events = step(table, fact)
        return table, () if isinstance(fact, WagersLocked) else events

    monkeypatch.setattr(replay_module, "step", other_step)

    async with running(tmp_path) as world:
        await world.settle()
        fault = world.runtime.face.fault
        assert fault is not None
        assert (fault.code, fault.details) == ("replay_differs", {"journal_row": 5})


# A disk that fails.


async def test_a_failing_disk_keeps_what_waits_and_tells_of_it_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_RETRY_S", 0.02)
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        world.journal.failing = True
        world.shoe.deal("KS 2D")
        await eventually(lambda: world.status.journal.error)
        world.shoe.deal("9S 3D")
        asked = asyncio.create_task(world.runtime.ask(NewShoe("Smith")))
        pings, samples = len(world.pings), world.pins.samples
        await eventually(lambda: len(world.pings) > pings + 2)  # a failing disk is no hanging program
        await eventually(lambda: world.pins.samples > samples + 5)
        assert world.lamps["fault"] == "fast_blink"
        assert not asked.done()
        assert world.runtime.face.phase == "wagers_locked"
        await eventually(lambda: world.broker.states()[-1].value["links"]["journal"] is False)

        world.journal.failing = False
        await asyncio.wait([asked])
        await eventually(world.fault)
        assert world.fault() == "journal_failed"
        assert world.status.journal.error is None
        await eventually(lambda: world.broker.states()[-1].value["links"]["journal"] is True)
        assert kinds(world.rows()) == ["ShoeOpened", CommitFailed.__name__]
        assert (await asked).refused is None
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert world.pit.types().count("round") == 1
        assert world.pit.types()[-1] == "fault"
    rows = list(read_rows(Path(table_config(tmp_path).file.journal.path)))
    cards = [str(row.fact.card) for row in rows if isinstance(row.fact, CardDrawn)]
    assert cards == ["AS", "2D", "KS", "2D", "9S", "3D"]


# The shoe.


async def test_a_link_lost_in_a_hand_is_a_fault_and_between_hands_is_not(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        world.shoe.listener.shoe_link(False, "unplugged")
        await world.settle()
        assert world.fault() is None
        assert world.status.shoe == ShoeLine(up=False, why="unplugged", bad_bytes={}, bad_bytes_wait=False)
        await eventually(lambda: world.lamps["fault"] == "slow_blink")
        world.shoe.listener.shoe_link(True, "back")
        await world.do(LockWagers())
        await world.deal("KS")
        world.shoe.listener.shoe_link(False, "unplugged")
        await world.settle()
        assert world.fault() == "shoe_unplugged"
        assert kinds(world.rows())[-1] == ShoeUnplugged.__name__


async def test_bad_bytes_are_counted_by_kind_and_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running(tmp_path) as world:
        for reason, count in (("checksum", 3), ("checksum", 4), ("no frame", 1)):
            world.shoe.listener.shoe_noise(reason, count)
        await eventually(lambda: world.status.shoe.bad_bytes == {"checksum": 7, "no frame": 1})
        assert world.rows() == []
    assert len(re.findall("bad bytes", caplog.text)) == 2


async def test_bad_bytes_are_told_only_once_all_copies_of_their_report_have_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shoe_line, "_COPIES_COME_WITHIN_S", 3600.0)
    async with running(tmp_path) as world:
        world.shoe.listener.shoe_noise("checksum", 7)
        for _ in range(2):
            await next_beat()
        await world.settle()
        assert world.status.shoe.bad_bytes == {}


@pytest.fixture
def all_copies_have_come(monkeypatch: pytest.MonkeyPatch) -> Callable[[World], Awaitable[None]]:
    """A function that waits until the table may show people that bad bytes (bytes that are no valid report) came from
    the shoe. The test shortens this waiting time to a tenth of a second."""
    copies_come_within_s = 0.1
    monkeypatch.setattr(shoe_line, "_COPIES_COME_WITHIN_S", copies_come_within_s)

    async def wait(world: World) -> None:
        await asyncio.sleep(copies_come_within_s)
        for _ in range(2):
            await next_beat()
        await world.settle()

    return wait


@pytest.mark.parametrize("ends", ["reveal", "void"])
async def test_bad_bytes_are_told_to_nobody_while_cards_lie_face_down(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    all_copies_have_come: Callable[[World], Awaitable[None]],
    ends: str,
) -> None:
    """While cards lie face down, nobody is shown that bad bytes came from the shoe. After the cards are turned up or
    voided, all bad bytes are shown.

    The shoe sends a round's result when the round is complete. Bad bytes may be a damaged copy of it, and would reveal
    that moment.
    """
    async with running(tmp_path, example=example_table("sugarhouse_midi")) as world:
        shoe, listener = world.shoe, world.shoe.listener
        assert listener is not None
        await world.open_shoe()
        await world.do(LockWagers())
        listener.shoe_noise("noise", 8)  # of the first card's report, whose other copies come yet
        for card in ["4S", "TH", "5D", "9C"]:
            shoe.deal(card)
            listener.shoe_noise("noise", 8)
        await all_copies_have_come(world)
        as_it_was = told(world)
        assert as_it_was.shoe.bad_bytes == {}
        assert as_it_was.shoe.bad_bytes_wait
        listener.shoe_reported(ShoeResultReported(ShoeResult.TIE, False, False))
        listener.shoe_noise("noise", 7)
        listener.shoe_noise("unconfirmed", 7)
        await all_copies_have_come(world)
        assert told(world) == as_it_was
        assert "bad bytes" not in caplog.text
        await world.do(MakeCall(Call.REVEAL, "dealer") if ends == "reveal" else VoidRound("Smith"))
        await eventually(lambda: world.status.shoe.bad_bytes == {"noise": 47, "unconfirmed": 7})
        assert not world.status.shoe.bad_bytes_wait
    assert len(re.findall("bad bytes", caplog.text)) == 2


def told(world: World) -> Status:
    """Return the table's status, with the time since its start left out."""
    return but(world.status, up_s=0)


async def test_a_damaged_copy_before_a_card_that_comes_face_down_is_told_as_late_as_one_after_it(
    tmp_path: Path, all_copies_have_come: Callable[[World], Awaitable[None]]
) -> None:
    """Bad bytes that come before a face-down card are shown only after that card is turned up or voided.

    No card lies face down when the bytes come. But they may be a damaged copy of the report of the card that comes
    next, face down.
    """
    async with running(tmp_path, example=example_table("sugarhouse_midi")) as world:
        await world.open_shoe()
        world.shoe.listener.shoe_noise("noise", 8)
        await world.settle()
        world.shoe.deal("4S")
        await all_copies_have_come(world)
        assert world.status.shoe.bad_bytes == {}
        await world.do(VoidRound("Smith"))
        assert world.status.shoe.bad_bytes == {"noise": 8}


async def test_bad_bytes_wait_for_the_commit_of_a_card_that_lies_face_down(
    tmp_path: Path, all_copies_have_come: Callable[[World], Awaitable[None]]
) -> None:
    """Bad bytes that came with a face-down card are not shown before that card is committed and turned up.

    In the test the disk is slow. The main loop has received the cards of a whole round, but the table shows nothing of
    that round yet, not even that cards lie face down.
    """
    async with running(tmp_path, example=example_table("sugarhouse_midi")) as world:
        await world.open_shoe()
        async with world.committing(LockWagers()):
            world.shoe.deal("4S TH 5D 9C")
            world.shoe.listener.shoe_noise("noise", 7)
            await asyncio.sleep(0.3)
            assert world.status.shoe.bad_bytes == {}
        await all_copies_have_come(world)
        assert world.status.shoe.bad_bytes == {}
        await world.do(MakeCall(Call.REVEAL, "dealer"))
        await eventually(lambda: world.status.shoe.bad_bytes == {"noise": 7})


# Buttons.


async def _press(world: World, button: str) -> None:
    world.pins.pressed.add(button)
    await world.pins.sampled(8)
    world.pins.pressed.discard(button)
    await world.pins.sampled(8)


async def test_the_buttons_play_a_hand(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await _press(world, "new_shoe")
        await eventually(lambda: world.runtime.face.phase == "first_card_due")
        await world.deal("AS 2D")
        await _press(world, "deal")
        await eventually(lambda: world.runtime.face.phase == "wagers_locked")
        await _press(world, "void")  # without the key: refused
        assert world.runtime.face.phase == "wagers_locked"
        world.pins.pressed.add("key")
        await world.pins.sampled(8)
        await _press(world, "void")
        await eventually(lambda: world.runtime.face.phase == "wagers_open")
        assert kinds(world.rows()) == ["ShoeOpened", "CardDrawn", "CardDrawn", "WagersLocked", "RoundVoided"]
        assert world.pit.ledger[-1]["by"] == "key"


@pytest.mark.parametrize("button", ["deal", "void", "new_shoe"])
async def test_the_key_leaves_no_fault_that_nobody_can_have_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, button: str
) -> None:
    """A press with the key turned clears a fault only if the lamps have shown the fault long enough for a person to see
    it."""
    monkeypatch.setattr("controller.daemon.presses.SEEN_AFTER_S", 3600.0)
    async with running(tmp_path) as world:
        await world.open_shoe()
        if button == "void":
            await world.do(LockWagers())
        world.runtime.shoe_line.shoe_reported(ShoeErrorRaised(ShoeError.OVERDRAW))
        await world.settle()
        assert world.lamps["fault"] == "fast_blink"
        world.pins.pressed.add("key")
        await world.pins.sampled(8)
        before = len(world.rows())
        await _press(world, button)
        await world.settle()
        assert world.fault() == "shoe_error"
        assert len(world.rows()) == before
        monkeypatch.setattr("controller.daemon.presses.SEEN_AFTER_S", 0.0)
        await _press(world, button)
        await world.settle()
        assert world.fault() is None
        assert world.rows()[-1].via == f"button {button}" or button == "new_shoe"


async def test_a_press_for_a_fault_that_was_just_left_begins_no_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a person presses `deal` with the key turned to clear a fault, and somebody else cleared the fault an instant
    before, the press does not lock wagers."""
    async with running(tmp_path) as world:
        await world.open_shoe()
        world.runtime.shoe_line.shoe_reported(ShoeErrorRaised(ShoeError.OVERDRAW))
        await world.settle()
        monkeypatch.setattr("controller.daemon.presses.SEEN_AFTER_S", 0.0)
        world.pins.pressed.add("key")
        await world.pins.sampled(8)
        await world.do(ClearFault("Smith"))
        monkeypatch.setattr("controller.daemon.presses.SEEN_AFTER_S", 3600.0)
        await _press(world, "deal")
        await world.settle()
        assert world.runtime.face.phase == "wagers_open"


async def test_a_button_held_at_start_is_no_press(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.daemon import daemon_world

    class Held(daemon_world.HeldPins):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.pressed = {"new_shoe"}

    monkeypatch.setattr(daemon_world, "HeldPins", Held)
    async with running(tmp_path) as world:
        await world.pins.sampled(10)
        await world.settle()
        assert world.rows() == []
        world.pins.pressed.clear()
        await world.pins.sampled(8)
        world.pins.pressed.add("new_shoe")
        await eventually(lambda: world.runtime.face.phase == "first_card_due")


async def test_a_press_between_two_beats_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_module, "until_beat_s", lambda: 3600.0)
    async with running(tmp_path) as world:
        await _press(world, "new_shoe")
        await eventually(lambda: world.runtime.face.phase == "first_card_due")


async def test_a_press_counts_from_the_watchs_look_while_the_loop_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short press counts even if the main loop is busy during the press. It counts from the moment at which the
    watching thread saw it.

    In the test the button is let go as soon as the main loop itself has looked at it once.
    """
    monkeypatch.setattr(runtime_module, "until_beat_s", lambda: 3600.0)
    async with running(tmp_path) as world:
        await eventually(lambda: world.lamps["fault"] == "dark")
        read = world.pins.read

        def read_and_let_go() -> dict[str, bool]:
            levels = read()
            if threading.current_thread() is threading.main_thread():
                world.pins.pressed.clear()
            return levels

        def keep_the_loop_busy() -> None:
            samples = world.pins.samples
            while world.pins.samples < samples + 4:  # the watch looks meanwhile
                time.sleep(0.001)

        monkeypatch.setattr(world.pins, "read", read_and_let_go)
        world.pins.pressed.add("new_shoe")
        keep_the_loop_busy()
        await eventually(lambda: world.runtime.face.phase == "first_card_due")


async def test_a_lamp_that_begins_to_blink_between_two_beats_goes_out_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as world:
        await eventually(lambda: world.lamps["fault"] == "dark")
        monkeypatch.setattr(runtime_module, "until_beat_s", lambda: 3600.0)
        beats = world.pins.beats
        await eventually(lambda: world.pins.beats > beats)
        await world.do(NewShoe())
        world.runtime.shoe_line.shoe_reported(ShoeErrorRaised(ShoeError.OVERDRAW))
        await eventually(lambda: world.lamps["fault"] == "fast_blink")
        await eventually(lambda: world.pins.lit["fault"])
        await eventually(lambda: not world.pins.lit["fault"])


async def test_what_the_watch_notices_while_the_program_ends_makes_no_beat(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await eventually(lambda: world.lamps["fault"] == "dark")
    beats = world.pins.beats
    world.runtime._beats.soon()
    await next_beat()
    assert world.pins.beats == beats


async def test_a_press_that_came_and_went_while_the_loop_was_busy_is_a_press(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        released = world.pins.read()
        pressed = released | {"new_shoe": True}
        at_ms = time.monotonic_ns() // 1_000_000 + 1_000  # later than any look of its own
        looks = ((pressed, 0), (pressed, 35), (released, 70), (released, 105))
        world.runtime._panel._looks = [(levels, at_ms + after_ms) for levels, after_ms in looks]
        world.runtime._panel.sample()
        await eventually(lambda: world.runtime.face.phase == "first_card_due")


async def test_pins_that_cannot_be_read_end_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> dict[str, bool]:
        raise RuntimeError("the header is gone")

    async def live() -> None:
        async with running(tmp_path) as world:
            monkeypatch.setattr(world.pins, "read", read)
            await eventually(world.task.done)

    with pytest.raises(ExceptionGroup) as ended:
        await live()
    assert "the header is gone" in str(ended.value.exceptions[0])


# The watchdog.


async def test_the_watchdog_is_told_through_the_fold_and_not_when_it_hangs(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await eventually(lambda: len(world.pings) >= 2)
        async with world.committing(NewShoe()):
            told = len(world.pings)
            await world.pins.sampled(130)  # at 10 ms: more than a second, in which a ping is due
            assert len(world.pings) == told
        await eventually(lambda: len(world.pings) > told)


async def test_an_absent_shoe_and_broker_do_not_stop_the_watchdog(tmp_path: Path) -> None:
    async with running(tmp_path, connected=False) as world:
        world.shoe.listener.shoe_link(False, "no such device")
        await eventually(lambda: len(world.pings) >= 3)


async def test_every_event_of_a_whole_shoe_keeps_the_contract_and_the_journal_verifies(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.play_hit()
        await world.deal("4C 5C 5D 7C")  # the first nobody needs: a simulated hand
        await world.do(NewShoe("Smith"))
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)

    events = [
        check_event(published.payload) for published in world.broker.published if published.topic.endswith("/event")
    ]
    assert {"shoe_opened", "wagers_locked", "round", "hit", "shoe_closed"} <= {event["type"] for event in events}
    assert all(p.event_type == p.value["type"] for p in world.broker.published if p.topic.endswith("/event"))
    assert not any(published.retain for published in world.broker.published if published.topic.endswith("/event"))
    assert verify(Path(world.config.file.journal.path)).messages == len(world.pit.ledger)


async def test_a_chip_that_lies_at_a_seat_the_next_shoe_brings_is_seen_when_it_opens(tmp_path: Path) -> None:
    """If a seat is added to the table's file while a shoe is open, a chip at the new seat is seen as soon as the next
    shoe opens.

    An open shoe keeps the seats with which it was opened.
    """
    table = tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))
    table["table"]["game"] = str((EXAMPLE_TABLE.parent / table["table"]["game"]).resolve())
    last = table["seats"].pop()["number"]
    del table["pins"]["lamps"][f"seat_{last}"], table["pins"]["inputs"][f"seat_{last}"]
    fewer = tmp_path / "fewer.toml"
    fewer.write_text(tomli_w.dumps(table), "utf-8")
    async with running(tmp_path, example=fewer) as world:
        await world.open_shoe()
    async with running(tmp_path) as world:
        world.pins.pressed |= {f"seat_{last}"}
        await world.pins.sampled(6)
        assert not world.status.sensors
        await world.do(NewShoe("Ann"))
        await world.deal("AS 2D")
        assert world.status.sensors == (last,)
        assert world.lamps[f"seat_{last}"] == "slow_blink"
