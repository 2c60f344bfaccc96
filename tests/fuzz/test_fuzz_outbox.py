"""Checks of a table whose pit is silent for weeks: every event is kept on the disk, memory does not grow, and at last
all events are sent in order."""

from __future__ import annotations

import asyncio
import gc
import logging
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.delivery.outbox import OutboxWatch
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from controller.table.facts import OutboxFilling, OutboxFull
from controller.words.language import language
from tests.daemon.daemon_world import World, ack, running
from tests.support.waiting import eventually

_ON_ITS_WAY_BYTES = 130_000  # a window of events is sent or read at one moment, and at another not
_KEPT_BYTES = 100  # of each event: an entry in a dict takes more, and an event has some 600; Python itself takes some
_ROUNDS_A_SHOE = 7  # of the same four cards, of which a shoe has eight each
_EVENTS_A_SHOE = 20  # at most; they may be committed at once


def test_the_watch_tells_once_and_again_only_after_fewer_than_half() -> None:
    watch = OutboxWatch(100)
    told = [watch.look(waiting) for waiting in (79, 80, 99, 100, 101, 60, 85, 50, 81, 49, 80)]

    def many(waiting: int) -> OutboxFilling:
        return OutboxFilling(waiting, 100)

    def full(waiting: int) -> OutboxFull:
        return OutboxFull(waiting, 100)

    assert told == [(), (many(80),), (), (full(100),), (full(101),), (), (), (), (), (), (many(80),)]
    assert OutboxWatch(100).look(120) == (many(120), full(120))


def _alarms(events: list[dict[str, Any]]) -> list[str]:
    return [event["code"] for event in events if event["type"] in ("alarm", "fault")]


async def test_the_table_warns_and_then_stops_between_rounds_and_loses_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, pit={"most_unacknowledged": 100}) as world:
        world.pit.acks = False
        await world.open_shoe()
        await _deal_until(world, lambda: world.journal.head_seq >= 82)
        assert world.fault() is None, "a warning stops nothing"
        await _deal_until(world, lambda: world.fault() is not None)
        assert world.fault() == "outbox_full"
        assert world.runtime.face.phase == "wagers_open", "no round was cut short"
        waiting = world.journal.head_seq
        assert 100 <= waiting <= 102

        answer = await world.runtime.ask(LockWagers())
        assert answer.refused is not None, "no round begins"
        await world.do(ClearFault("Smith"))
        await eventually(lambda: world.fault() == "outbox_full", "it is full still")
        assert world.status.pit.unacknowledged == world.journal.head_seq > waiting

        await _let_the_pit_speak(world)
        await world.do(ClearFault("Smith"))
        await world.do_rounds(1)
        assert world.fault() is None
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert [event["seq"] for event in world.pit.ledger] == list(range(1, world.journal.head_seq + 1))
        assert _alarms(world.pit.ledger) == ["unacknowledged_many", "outbox_full", "outbox_full"]


async def _deal_until(world: World, holds: Callable[[], bool]) -> None:
    while not holds():
        if (world.runtime.face.round or 0) >= _ROUNDS_A_SHOE:
            await world.do(NewShoe("Smith"))
            await world.deal("AS 2D")
        else:
            await world.do_rounds(1)
        await world.settle()  # what the commit itself led to


async def _let_the_pit_speak(world: World) -> None:
    world.pit.acks = True
    last = world.pit.ledger[-1]
    world.broker.say(ack(last["epoch"], last["seq"], last["chain"]))
    await eventually(lambda: world.journal.acked_seq == world.journal.head_seq)


class _CountingPit:
    """A stand-in for the pit that checks that each event has the next number, and keeps only the alarms among the
    events."""

    def __init__(self, world: World) -> None:
        self.speaks = False
        self.seq = len(world.pit.ledger)
        self.alarms: list[tuple[str, int]] = []  # code and seq
        self._world = world
        self._chain = "0" * 64
        world.broker.on_event = self._hear

    async def gets_on(self) -> None:
        """Wait until the pit has received one more event."""
        before = self.seq
        await eventually(lambda: self.seq > before)

    def _hear(self, event: dict[str, Any]) -> None:
        self._world.broker.published.clear()
        if event["seq"] == self.seq + 1 and self.speaks:
            self.seq, self._chain = event["seq"], event["chain"]
            self.alarms += [(code, self.seq) for code in _alarms([event])]
        if self.speaks:
            self._world.broker.say(ack(event["epoch"], self.seq, self._chain))


async def _deal_a_shoe(world: World) -> None:
    """Deal a whole shoe and open the next one, without waiting until each fact is committed to the journal."""
    asked = []
    for _ in range(_ROUNDS_A_SHOE):
        asked.append(asyncio.create_task(world.runtime.ask(LockWagers())))
        await asyncio.sleep(0)
        world.shoe.deal("KS 2D 9S 3D")
    asked.append(asyncio.create_task(world.runtime.ask(NewShoe("Smith"))))
    await asyncio.sleep(0)
    await world.deal("AS 2D")
    assert {answer.refused for answer in await asyncio.gather(*asked)} == {None}


def _held_in_memory() -> int:
    """Return how many bytes, of those allocated since the tracing of memory began, Python still holds."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.fixture
def _traced() -> Iterator[None]:
    language()  # the sentences are read with the first that is told
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.fixture
def _unlogged() -> Iterator[None]:
    logging.disable(logging.CRITICAL)  # the tests' own log would keep every line
    yield
    logging.disable(logging.NOTSET)


async def _hold(folder: Path, limit: int) -> str:
    """Keep the pit silent until `limit` events wait, which is the most that may wait, and the table stops. Then let the
    pit receive all events. Returns a line of figures for the test report."""
    async with running(folder, pit={"most_unacknowledged": limit}) as world:
        pit = _CountingPit(world)
        await world.open_shoe()
        sizes, counts = [], []
        for tenths in (3, 5, 7, 9):
            while world.journal.head_seq < tenths * limit // 10:
                await _deal_a_shoe(world)
                for record in (world.journal.batches, world.broker.published, world.pings):  # the test's own
                    record.clear()
            sizes.append(_held_in_memory() if tracemalloc.is_tracing() else 0)
            counts.append(world.journal.head_seq)
        kept = (sizes[-1] - sizes[0] - _ON_ITS_WAY_BYTES) / (counts[-1] - counts[0])
        assert kept < _KEPT_BYTES, f"bytes of each event in memory; {sizes} at {counts}"
        assert world.fault() is None, "a warning stops nothing"
        await _deal_until(world, lambda: world.fault() is not None)
        assert world.fault() == "outbox_full"
        held = world.journal.head_seq
        assert limit < held <= limit + 2, "the last round is told whole, and the fault"
        assert world.status.pit.unacknowledged == held
        pit.speaks = True
        while pit.seq < held:
            await pit.gets_on()
        await eventually(lambda: world.journal.acked_seq == world.journal.head_seq)
        assert world.status.pit.unacknowledged == 0
        # Where the silence lasts for long, it is told too.
        alarms = [alarm for alarm in pit.alarms if not alarm[0].startswith("pit_link")]
        (warning, warned), (fault, stopped) = alarms
        assert (warning, fault, stopped) == ("unacknowledged_many", "outbox_full", held)
        assert 0 < warned - limit * 4 // 5 <= _EVENTS_A_SHOE
        return (
            f"{held:,} events held for a silent pit: warned at event {warned:,}, stopped at the limit of {limit:,}, all"
            f" told in order afterwards; {max(kept, 0):.1f} bytes of each held in memory"
        )


@pytest.mark.usefixtures("_unlogged")
def test_hundreds_of_events_are_held_and_told(tmp_path: Path) -> None:
    """Hundreds of events wait on the disk and are then sent in order. Growth of memory would show only with many
    thousand events, which `make proof` tries."""
    asyncio.run(_hold(tmp_path, 300))


@pytest.mark.proof
@pytest.mark.usefixtures("_unlogged", "_traced")
def test_many_thousand_events_are_held_and_told(tmp_path: Path, figure: Callable[[str], None]) -> None:
    figure(asyncio.run(_hold(tmp_path, 20_000)))
