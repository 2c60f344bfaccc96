"""What lies at a seat counts as it lay when the button or the card came, however long the disk then takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from controller.contract.canonical import canonical
from controller.contract.wager_words import WagerWord
from controller.rules.game.wagers import Wager
from controller.table.acts.hand import LockWagers, VoidHand
from controller.table.acts.itself import LampTest
from controller.table.acts.stopped import ClearFault
from controller.table.facts import CutCardDrawn, ShoeError, ShoeErrorRaised
from tests.daemon.daemon_world import running
from tests.support.tables import TableUnderTest, house
from tests.support.waiting import eventually


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
            world.runtime.shoe_reported(fact)
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


async def test_a_wager_seen_for_one_round_never_plays_in_the_next(tmp_path: Path) -> None:
    """The network keeps a word for too long, or brings it again: the chips may be gone from the felt."""
    async with running(tmp_path, table={"bet_recognition": True}) as world:
        await world.open_shoe()
        topic = "pit/v1/royal9-01/wager"
        state = world.broker.states()[-1].value
        wager = Wager(2, "player", 2000)
        word = WagerWord(state["table"], state["epoch"], 1, 1, wager)
        said = canonical(word.to_json())
        world.broker.say(said, topic=topic)
        await eventually(lambda: len(world.runtime.face.wagers) == 1)
        await world.do(LockWagers(), VoidHand("Smith"))
        assert (world.runtime.face.wagers, world.runtime.face.next_round) == ((), 2)
        for late in (word, replace(word, shoe=2), replace(word, table="other-01"), replace(word, epoch="other")):
            world.broker.say(canonical(late.to_json()), topic=topic)

        def codes() -> list[str]:
            return [each.value["code"] for each in world.broker.published if each.topic == f"{topic}-refused"]

        await eventually(lambda: len(codes()) == 4)
        assert sorted(codes()) == ["wager_other_round", "wager_other_round", "wager_other_table", "wager_other_table"]
        assert world.runtime.face.wagers == ()
        world.broker.say(canonical(replace(word, round=2).to_json()), topic=topic)
        await eventually(lambda: len(world.runtime.face.wagers) == 1)
