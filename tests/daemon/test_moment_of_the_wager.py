"""Checks which chips count as wagers: those that lay on the felt when the button was pressed or the card came. A slow
disk after that moment changes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from controller.table.acts.itself import LampTest
from controller.table.acts.rounds import LockWagers
from controller.table.acts.stopped import ClearFault
from controller.table.facts import CutCardDrawn, ShoeError, ShoeErrorRaised
from tests.daemon.daemon_world import running
from tests.support.tables import TableUnderTest, house


async def test_a_chip_put_down_after_the_cards_lie_open_plays_no_part(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        async with world.committing(LampTest("key")):  # the disk takes its time
            locking = asyncio.create_task(world.runtime.ask(LockWagers()))
            await world.pins.sampled(2)
            world.shoe.deal("KS 2D 9S 3D")  # seat 1's own K9
            world.pins.pressed.add("seat_1")
            await world.pins.sampled(20)
        assert (await locking).refused is None
        await world.settle()
        assert (world.runtime.face.outcome, world.runtime.face.hits) == ("player", ())


async def test_a_second_word_on_a_fault_does_not_clear_the_next_one(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        for fact in (ShoeErrorRaised(ShoeError.OVERDRAW), CutCardDrawn("shoe"), CutCardDrawn("shoe")):
            world.runtime.shoe_line.shoe_reported(fact)
        await world.settle()
        assert world.fault() == "shoe_error"
        answers = await asyncio.gather(*(world.ask(ClearFault(by)) for by in ("Smith", "Jones")))
        assert [answer.refused for answer in answers] == [None, "fault_changed"]
        assert world.fault() == "second_cut_card"


def test_where_the_first_card_locks_it_does_so_though_a_fault_stands() -> None:
    table = TableUnderTest(house(lock_on="first_card"), wagers={2}).open_shoe()
    table.believe(ShoeErrorRaised(ShoeError.OVERDRAW)).draw("KH 2D 9H 3D")
    table.wagers = {1}  # a chip that came too late, and one that was taken away
    table.clear()
    assert [
        (event["progressive"][0]["seats"], event["progressive"][0]["refused_seats"])
        for event in table.of_type("wagers_locked")
    ] == [([2], [])]
    assert [hit["seat"] for hit in table.of_type("hit")] == [2]


def test_where_the_first_card_came_unseen_no_royal_9_wager_plays() -> None:
    table = TableUnderTest(house(lock_on="first_card"), wagers={2}).open_shoe()
    table.believe(ShoeErrorRaised(ShoeError.OVERDRAW)).clear()
    table.fail_on(CutCardDrawn("shoe")).name("KH")
    (locked,) = table.of_type("wagers_locked")
    assert (
        locked["progressive"][0]["seats"],
        locked["progressive"][0]["refused_seats"],
        locked["progressive"][0]["refusal"],
    ) == ([], [2], "locked_late")
