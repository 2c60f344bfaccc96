"""Checks of the self-tests of lamps, buttons and sensors: what lamps show and what buttons do during a test, that a
test ends, and that no false message is sent or kept."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from controller.daemon import panel
from controller.people.cli.programs import python
from controller.people.cli.setup.questions import Terminal
from controller.people.cli.status import status_lines
from controller.table.acts.entry import Request
from controller.table.acts.itself import HitTest, InputsTested, InputTest, LampTest
from controller.table.acts.rounds import LockWagers
from tests.daemon.daemon_world import World, running, served
from tests.support.waiting import PATIENCE_S, eventually

SEATS = 7


def _lit(world: World) -> set[str]:
    return {lamp for lamp, lit in world.pins.lit.items() if lit}


def _told(world: World) -> str:
    return "\n".join(status_lines(world.status, Path("table.toml")))


async def test_one_lamp_is_lit_alone_until_a_hand_begins(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        for lamp in ("seat_3", "banker", "fault"):
            await world.do(LampTest("Smith", lamp))
            assert _lit(world) == {lamp}
            assert world.status.test == "lamp_test"
            assert "for the lamp test" in _told(world)
            assert "won" not in _told(world)
        await world.do(LampTest("Smith"))
        assert _lit(world) == set(world.pins.lit)
        await world.do(LockWagers())
        assert world.status.test is None
        assert _lit(world) != set(world.pins.lit), "the lamps are the hand's"


async def test_a_hand_that_begins_at_the_moment_of_a_test_ends_it(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await asyncio.gather(world.do(LampTest("Smith")), world.do(LockWagers()))  # in one commit
        assert world.status.face.phase == "wagers_locked"
        assert world.status.test is None
        assert _lit(world) != set(world.pins.lit)


async def test_a_test_hit_blinks_and_is_told_and_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        before, lamps = world.runtime.table, world.lamps
        await world.do(HitTest(3, "Smith"))
        assert world.lamps == lamps | {"seat_3": "fast_blink"}
        assert world.status.test == "test_hit"
        assert "nothing was won" in _told(world)
        assert world.runtime.table == before
        assert not world.status.face.hits
        await eventually(lambda: world.pit.types()[-1] == "test_hit")
        event = world.pit.ledger[-1]
        assert (event["seat"], event["by"], event["round"]) == (3, "Smith", None)
        await world.do(LockWagers())
        assert world.status.test is None


async def test_no_test_hit_is_shown_beside_a_hit(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.play_hit()
        assert world.status.face.hits
        assert (await world.ask(HitTest(3, "Smith"))).refused == "hit_shown"
        assert (await world.ask(HitTest(SEATS + 1, "Smith"))).refused == "no_such_seat"


async def test_in_a_test_of_the_inputs_no_button_means_anything_and_then_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as world:
        await world.do(InputTest("Smith"))
        for pressed in ({"new_shoe"}, {"void"}, {"deal"}, {"key"}, set[str]()):
            world.pins.pressed = pressed
            await eventually(lambda: set(world.status.inputs) == world.pins.pressed)
        assert "no press means anything" in _told(world)
        assert world.status.face.phase == "no_shoe"
        monkeypatch.setitem(panel._TEST_MS, InputsTested, 0)
        await world.do(InputTest("Smith"))
        await eventually(lambda: world.status.test is None)
        world.pins.pressed = {"new_shoe"}
        await eventually(lambda: world.status.face.phase == "first_card_due")


@pytest.mark.parametrize("asked", [LampTest("Smith", "tie"), HitTest(1, "Smith")], ids=["a lamp", "a test hit"])
async def test_a_test_ends_by_itself(asked: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        lamps = world.lamps
        monkeypatch.setattr(panel, "_TEST_MS", dict.fromkeys(panel._TEST_MS, 0))
        await world.do(asked)
        await eventually(lambda: world.lamps == lamps and world.status.test is None)


def test_what_was_typed_before_a_question_answers_nothing() -> None:
    far, near = os.openpty()
    try:
        person = Terminal(near)
        os.write(far, b"y\ny\n")
        assert person.line_within(PATIENCE_S) == "y"
        person.forget()
        os.write(far, b"n\n")
        assert person.line_within(PATIENCE_S) == "n", "the second y was typed before the question"
    finally:
        os.close(far)
        os.close(near)


def test_a_person_at_the_table_is_led_through_all_of_it(tmp_path: Path) -> None:
    """The self-test command tells a person at the table what to do in each test, and reports what failed. In this test
    the person answers that the Tie lamp is wrong, and cannot reach the sensor of seat 5."""

    async def test() -> tuple[str, int | None]:
        async with served(tmp_path) as (world, _path):
            command = (
                *python("-m", "controller.people.cli.main", "self-test"),
                f"{tmp_path}/table.toml",
                "--by",
                "Ann",
            )
            pipe = asyncio.subprocess.PIPE
            person = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
            assert person.stdin is not None
            assert person.stdout is not None
            told = ""
            async for line in person.stdout:
                said = line.decode()
                told += said
                if lamp := re.match(r"Is the lamp (\w+) lit", said):
                    assert _lit(world) == {lamp[1]}
                    stray = b"\n" * (told.count(said) == 1)
                    person.stdin.write(stray or (b"n\n" if lamp[1] == "tie" else b"y\n"))
                elif button := re.match(r"Press, cover or turn (\w+) ", said):
                    world.pins.pressed = {button[1]} - {"seat_5"}
                    if button[1] == "seat_5":
                        person.stdin.write(b"\n")
                elif "blink fast?" in said:
                    assert world.lamps["seat_1"] == "fast_blink"
                    person.stdin.write(b"y\n")
            assert world.status.face.phase == "no_shoe", "no press meant anything"
            return told, await person.wait()

    told, code = asyncio.run(test())
    assert code == 1
    assert re.findall(r"\((\w+)\)", re.sub(r"BCM.*", "", told)) == ["lamp_not_lit", "input_not_seen"]
    assert "ok      lamp fault: This lamp alone was lit." in told
    assert "ok      input key: The table saw this input." in told
    assert "ok      test hit: The pit has the test hit" in told
