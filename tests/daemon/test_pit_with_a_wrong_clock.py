"""Checks a table whose clock is not set, together with a pit whose clock is wrong and then corrected.

The table goes on working, and still refuses the pit's old messages.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.contract.envelope import Stamp
from controller.contract.topics import Topics
from controller.daemon.clock import stamp_now
from controller.pit.reference import clock
from controller.table.acts.rounds import LockWagers
from tests.daemon.daemon_world import LEVELS, World, ack, running
from tests.support.waiting import eventually

DAY_MS = 24 * 3_600_000
TEN_YEARS_MS = 3652 * DAY_MS
METERS = Topics("pit/v1", "royal9-01").meters


class Clocks:
    """The clocks of a pit and a table, which a test sets. An adversary records each message of the pit."""

    def __init__(self, patch: pytest.MonkeyPatch, synchronised: bool) -> None:
        self._patch = patch
        self.synchronised = synchronised
        self.pit_ahead_ms = 0
        self.recorded: list[tuple[str | None, bytes]] = []
        patch.setattr(clock, "_now_ms", lambda: time.time_ns() // 1_000_000 + self.pit_ahead_ms)
        for room in (
            "controller.daemon.delivery.pit_said",
            "controller.daemon.delivery.recognition_said",
            "controller.daemon.clock",
        ):
            patch.setattr(f"{room}.stamp_now", self.stamp)

    def stamp(self) -> Stamp:
        return replace(stamp_now(), synchronised=self.synchronised)

    @asynccontextmanager
    async def table(self, folder: Path) -> AsyncIterator[World]:
        async with running(folder, pit={"stale_after_s": 1}) as self.world:
            say = self.world.broker.say

            def recorded(payload: bytes, topic: str | None = None, retained: bool = False) -> None:
                self.recorded.append((topic, payload))
                say(payload, topic, retained)

            self._patch.setattr(self.world.broker, "say", recorded)
            self._say = say
            await self.world.open_shoe()
            await eventually(lambda: self.at_rest() and self.world.runtime.stream.fresh())
            yield self.world

    def say_again(self) -> None:
        """Send the table once more every message that the pit ever sent."""
        for topic, payload in self.recorded:
            self._say(payload, topic)

    def pit_is_set(self, ahead_ms: int) -> None:
        self.pit_ahead_ms = ahead_ms
        self.world.broker._levels_seq = clock.next_number(0)
        self.world.broker.say_levels()

    def at_rest(self) -> bool:
        status = self.world.status.pit
        return bool(status.head_seq == status.acked_seq == len(self.world.pit.ledger))


async def test_a_pit_that_was_ten_years_ahead_is_believed_again_at_the_next_event_and_nobody_who_repeats_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = Clocks(monkeypatch, synchronised=False)
    async with clocks.table(tmp_path) as world:
        clocks.pit_is_set(TEN_YEARS_MS)
        await world.do(LockWagers())
        await eventually(clocks.at_rest)
        world.broker.levels = dict.fromkeys(LEVELS, 1)
        world.broker.say_levels()
        clocks.pit_is_set(0)
        world.broker.levels = dict(LEVELS)
        world.broker.say_levels()
        refused = world.status.pit.meters_refused
        assert refused is not None
        assert "more than a day ago" in refused.why
        await eventually(lambda: world.runtime.stream.told.standing().code == "clock_behind")
        assert not world.runtime.stream.fresh()
        await world.deal("KS 2D 9S 3D")
        await eventually(clocks.at_rest)
        await eventually(lambda: world.runtime.stream.told.standing().code == "well" and world.runtime.stream.fresh())
        clocks.say_again()
        await world.pins.sampled(5)
        assert clocks.at_rest()
        assert world.status.pit.meters == LEVELS


@pytest.mark.parametrize("behind_ms", [3_600_000, TEN_YEARS_MS], ids=["an hour", "ten years"])
@pytest.mark.parametrize("synchronised", [False, True])
async def test_the_events_of_a_table_reach_a_pit_whose_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronised: bool, behind_ms: int
) -> None:
    clocks = Clocks(monkeypatch, synchronised)
    async with clocks.table(tmp_path) as world:
        clocks.pit_is_set(-behind_ms)
        for _ in range(2):
            await world.do_rounds(1)
            await eventually(clocks.at_rest)
        clocks.say_again()
        await world.pins.sampled(5)
        assert clocks.at_rest()


async def test_a_pit_whose_clock_is_set_back_within_a_day_stays_well_at_a_table_without_a_set_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = Clocks(monkeypatch, synchronised=False)
    async with clocks.table(tmp_path) as world:
        clocks.pit_ahead_ms = DAY_MS // 2
        await world.do(LockWagers())
        await eventually(clocks.at_rest)
        clocks.pit_ahead_ms = 0  # its numbers go on
        for _ in range(2):
            world.broker.say_levels()
            assert (world.runtime.stream.told.standing().code, world.runtime.stream.fresh()) == ("well", True)
            await world.deal("KS 2D 9S 3D")
            await world.do(LockWagers())
            await eventually(clocks.at_rest)


async def test_a_table_that_refuses_the_acks_of_waiting_events_says_that_the_pits_clock_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = Clocks(monkeypatch, synchronised=True)
    async with clocks.table(tmp_path) as world:
        world.pit.acks = False
        await world.do(LockWagers())
        await eventually(lambda: len(world.pit.ledger) == 2)
        first, second = (str(event["chain"]) for event in world.pit.ledger)
        world.broker.say(ack(world.journal.epoch, 1, first))
        code = world.runtime.stream.told.standing

        def says(ahead_ms: int) -> None:
            at = Stamp(stamp_now().at_ms + ahead_ms, synchronised=True).text()
            world.broker.say(ack(world.journal.epoch, 2, second, at))

        def told(ahead_ms: int, wanted: str) -> bool:
            says(ahead_ms)
            return code().code == wanted

        await eventually(lambda: told(-DAY_MS, "clock_behind"))
        await eventually(lambda: told(2 * DAY_MS, "clock_ahead"))
        says(0)
        await eventually(lambda: code().code == "well")
