"""Checks that a running table archives rows by itself, between rounds, once the pit has their events, and reports a
failure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import controller.daemon.config.table_file as config_module
import controller.daemon.record.archiving as archiving_module
from controller.daemon.record.archive import Run
from controller.daemon.record.archiving import Archivist
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import read_rows, verify
from controller.rules.game.cards import Card
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.facts import ArchiveFailed, CardDrawn, ShoeOpened
from tests.daemon.daemon_world import World, ack, running
from tests.support.waiting import PATIENCE_S, eventually


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the table look for rows to archive every hundredth of a second, and allow a very small size limit for the
    journal."""
    for name in ("_LOOK_EVERY_S", "_BETWEEN_PORTIONS_S", "_RETRY_S"):
        monkeypatch.setattr(archiving_module, name, 0.01)
    monkeypatch.setattr(config_module, "check_range", lambda *_: ())


@asynccontextmanager
async def table(folder: Path, **journal: Any) -> AsyncIterator[World]:
    values = {"path": str(folder / "table.journal"), "signing_key": str(folder / "table.key"), "keep_shoes": 0}
    async with running(folder, journal=values | journal) as world:
        yield world


async def next_shoe(world: World) -> None:
    """End the open shoe, open the next one and burn its cards. After that, wagers are open."""
    await world.do(NewShoe("Smith"))
    await world.deal("AS 2D")


async def an_archived_shoe(world: World, rounds: int = 0) -> None:
    """Deal a shoe of `rounds` rounds, open the next shoe, and wait until the first one is archived."""
    await world.open_shoe()
    await world.do_rounds(rounds)
    await next_shoe(world)
    await eventually(lambda: first_row(world) == world.rows()[0].number)


def archives(folder: Path) -> list[Path]:
    """Return the archive files of shoes. The archive that holds only the program's first start is left out."""
    found = (folder / "table.journal.archive").glob("*.archive")
    return sorted(path for path in found if not path.stem.endswith("-0000000001-0000000001"))


def alarms(world: World) -> list[str]:
    return [event["code"] for event in world.pit.ledger if event["type"] == "alarm"]


def first_row(world: World) -> int:
    """Return the number of the oldest row that is still in the journal's own file, and not in an archive."""
    found: int = world.journal._db.execute("SELECT min(row) FROM fact").fetchone()[0]
    return found


async def test_a_closed_shoe_that_the_pit_has_is_archived_and_the_table_goes_on(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        await world.open_shoe()
        await world.do_rounds(2)
        assert archives(tmp_path) == []
        await next_shoe(world)
        await eventually(lambda: first_row(world) == world.rows()[0].number)
        assert isinstance(world.rows()[0].fact, ShoeOpened)
        await world.do_rounds(2)
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
    assert len(archives(tmp_path)) == 1

    async with table(tmp_path) as world:
        assert world.runtime.face.phase == "wagers_open", "a start needs no archive"
        await world.do_rounds(1)
        assert world.fault() is None
    good = verify(tmp_path / "table.journal")
    assert (good.archived_rows > 10, good.rows > 2 * good.archived_rows) == (True, True)


async def test_a_pit_that_lost_everything_is_sent_what_is_archived(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        await world.open_shoe()
        await world.play_hit()
        for _ in range(5):
            await world.do_rounds(6)
            await next_shoe(world)
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        await eventually(lambda: first_row(world) == world.rows()[0].number)
        heard = list(world.pit.ledger)
        assert world.journal.head_seq - sum(len(row.messages) for row in world.rows()) > 50, "more than a window"

        world.broker.disconnect()
        world.pit.ledger.clear()
        world.broker.retained = None
        world.broker.connect()
        await eventually(lambda: world.runtime.stream.up)
        world.broker.say(ack(world.journal.epoch, 0, "0" * 64))
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert world.pit.ledger == heard
        assert world.fault() is None


async def test_the_pits_word_on_an_archived_event_is_judged(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        await an_archived_shoe(world, rounds=2)
        chain = world.pit.ledger[2]["chain"]
        del world.pit.ledger[3:]
        world.broker.say(ack(world.journal.epoch, 3, chain))
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert world.fault() is None
        world.broker.say(ack(world.journal.epoch, 3, "0" * 64))
        await eventually(lambda: world.fault() == "journal_behind_pit")


async def test_status_says_why_the_stream_waits_for_a_missing_archive(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        await an_archived_shoe(world, rounds=2)
        (archive,) = archives(tmp_path)
        away = archive.rename(tmp_path / "away")
        world.pit.ledger.clear()
        world.broker.say(ack(world.journal.epoch, 0, "0" * 64))
        await eventually(lambda: str(archive) in world.status.pit.why)
        await world.do_rounds(1)  # the table deals on
        away.rename(archive)
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq)
        assert world.status.pit.why == ""


async def test_nothing_is_archived_inside_a_round(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        world.pit.acks = False
        await world.open_shoe()
        await world.do_rounds(1)
        await next_shoe(world)
        await world.do(LockWagers())
        world.pit.acks = True
        await eventually(lambda: world.journal.acked_seq == world.journal.head_seq)
        await world.deal("KS")
        await world.pins.sampled(20)
        assert archives(tmp_path) == []
        await world.deal("2D 9S 3D")
        await eventually(lambda: archives(tmp_path))


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Let the writing of an archive hang. Yield two events: the first is set when the writing has begun, and setting
    the second lets it go on."""
    begun, go_on, copy = threading.Event(), threading.Event(), Journal.write_archive

    def write_archive(self: Journal, rows: Run) -> Path:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return copy(self, rows)

    monkeypatch.setattr(Journal, "write_archive", write_archive)
    yield begun, go_on
    go_on.set()


async def test_no_card_waits_for_a_copy(tmp_path: Path, slowly: tuple[threading.Event, threading.Event]) -> None:
    begun, go_on = slowly
    async with table(tmp_path) as world:
        await world.open_shoe()
        await next_shoe(world)
        await eventually(begun.is_set)
        await world.do_rounds(2)
        assert first_row(world) == 1
        go_on.set()
        await eventually(lambda: first_row(world) == world.rows()[0].number)


async def test_who_stops_the_archivist_waits_for_the_copy(
    tmp_path: Path, slowly: tuple[threading.Event, threading.Event]
) -> None:
    begun, go_on = slowly
    async with table(tmp_path, keep_shoes=50) as world:
        await world.open_shoe()
        await next_shoe(world)
        await eventually(lambda: world.journal.acked_seq == world.journal.head_seq)
        told: list[object] = []
        archivist = Archivist(world.journal, 0, 10**9, world.runtime._commits.on_journal, lambda: True, told.append)
        task = asyncio.create_task(archivist.run())
        await eventually(begun.is_set)
        task.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        await asyncio.wait([task])
        assert task.cancelled()
        assert len(archives(tmp_path)) == 1
        assert (first_row(world), told) == (1, [])


async def test_an_archive_that_cannot_be_written_is_told_once_and_tried_again(tmp_path: Path) -> None:
    (tmp_path / "table.journal.archive").write_text("a file where the folder should be")
    async with table(tmp_path) as world:
        await world.open_shoe()
        await next_shoe(world)
        await eventually(lambda: world.status.journal.archive_error)
        await eventually(lambda: alarms(world))
        await world.do_rounds(2)
        (tmp_path / "table.journal.archive").unlink()
        await eventually(lambda: first_row(world) == world.rows()[0].number)
        await eventually(lambda: world.status.journal.archive_error is None)
        assert alarms(world) == ["archive_failed"]
        (failed,) = (row.fact for row in world.rows() if isinstance(row.fact, ArchiveFailed))
        assert failed.error in ("EEXIST", "ENOTDIR"), "a code, and no sentence"
        assert world.fault() is None


async def test_a_journal_too_large_because_the_pit_is_silent_is_told_once(tmp_path: Path) -> None:
    async with table(tmp_path, keep_shoes=50, most_bytes=150_000) as world:
        await world.open_shoe()
        world.pit.acks = False
        world.pit.ledger.append({"seq": 0})  # it commits no more
        for _ in range(5):
            await world.do_rounds(7)
            await next_shoe(world)
        await eventually(lambda: world.journal.used_bytes > 150_000)
        await eventually(lambda: "journal_large" in told_of(world))
        assert archives(tmp_path) == []
        assert told_of(world).count("journal_large") == 1

        world.pit.ledger.pop()
        world.pit.acks = True
        await world.do_rounds(1)
        await eventually(lambda: archives(tmp_path), "with the pit back it is short again")
        await eventually(lambda: world.journal.used_bytes < 150_000)
        assert told_of(world).count("journal_large") == 1


def told_of(world: World) -> list[str]:
    """Return the codes of all alarms in the journal, in order."""
    said = [message.says for message in world.journal.messages_after(0, 10**6)]
    return [event["code"] for event in said if event["type"] == "alarm"]


async def test_the_cards_of_an_archived_shoe_are_there(tmp_path: Path) -> None:
    async with table(tmp_path) as world:
        await an_archived_shoe(world)
    facts = [row.fact for row in read_rows(tmp_path / "table.journal")]
    assert [fact.card for fact in facts if isinstance(fact, CardDrawn)] == [
        Card.parse(card) for card in ("AS", "2D", "AS", "2D")
    ]
