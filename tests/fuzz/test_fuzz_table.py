"""Checks of a running table that receives garbage on all its connections at the same time: it goes on running and
answering, its journal stays sound, and its memory does not grow."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import random
import socket
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from controller.contract.topics import Topics
from controller.contract.wire import callers
from controller.daemon.record.journal_reading import verify
from controller.rules.game.wagers import Wager
from controller.table.acts.seats import PlaceWager
from tests.daemon.daemon_world import World, served
from tests.fuzz.fuzzing import TOKENS, mutated
from tests.fuzz.targets import TARGETS
from tests.support.waiting import PATIENCE_S, eventually, run

_SAMPLE, _PROOF = 200, 20_000
_LONGEST = 1_000_000
"""Bytes; a table refuses less."""
_WAGERS = (("player", 2_000), ("royal9", 500))


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[tuple[World, Path]]:
    async with served(folder, table={"bet_recognition": True}) as (world, path):
        yield world, path
        await world.settle()
    verify(Path(world.config.file.journal.path))


def _inputs(name: str, seeds: list[bytes], count: int) -> Iterator[bytes]:
    luck = random.Random(name)
    tokens = [*TOKENS, *TARGETS[name].tokens]
    for _ in range(count):
        yield mutated(luck, seeds, seeds, tokens, _LONGEST)


async def _ask(path: Path, line: bytes) -> list[bytes]:
    """Send a line to the control socket, close the sending side, and return the answers."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line)
    writer.write_eof()
    said = []
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionResetError):  # whoever is turned away was not read
            while line := await reader.readline():
                said.append(line)
    writer.close()
    return said


async def _abuse_socket(path: Path, count: int) -> None:
    seeds = [seed for seed in TARGETS["request"].seeds if b"watch" not in seed]
    for data in _inputs("request", seeds, count):
        if b"watch" in data:
            continue  # it would be told for ever
        for answer in await _ask(path, data[:6000] + b"\n"):
            said = json.loads(answer)
            assert said["ok"] or (said["code"] and said["what"] and said["do"]), data


async def _abuse_topics(world: World, count: int) -> None:
    """Publish `count` payloads on every topic. They resemble messages of the pit and of bet recognition, but are
    damaged."""
    epoch = world.journal.epoch.encode()
    topics = Topics(world.config.file.pit.root, world.config.file.table.id)
    hit = next(event for event in world.pit.ledger if event["type"] == "hit")
    award = [
        seed.replace(b"ab12cd/7", epoch + b"/%d" % hit["seq"]).replace(b'"player_personal",', b'"%s",' % tier)
        for seed in TARGETS["award"].seeds
        for tier in [hit["tier"].encode()]
    ]
    wires: tuple[tuple[str, str, list[bytes]], ...] = (
        ("ack", topics.ack, list(TARGETS["ack"].seeds)),
        ("award", topics.award, award),
        ("wager", topics.wager, list(TARGETS["wager"].seeds)),
        ("meters", topics.meters, list(TARGETS["meters"].seeds)),
        ("meters", "pit/v1/another/table", [b""]),
    )
    for name, topic, seeds in wires:
        for number, data in enumerate(_inputs(name, seeds, count)):
            world.broker.say(data, topic)
            if number % 100 == 0:
                await world.settle()
    await world.settle()


async def _abuse_everything(folder: Path, count: int) -> int:
    """Send garbage on every connection of a table. Return how many events the table has at the end."""
    async with _served(folder) as (world, path):
        await world.open_shoe()
        await world.do(*(PlaceWager(Wager(1, spot, cents), "Smith") for spot, cents in _WAGERS))
        await world.play_hit()
        await eventually(lambda: "hit" in world.pit.types())
        await _abuse_topics(world, count)
        await _abuse_socket(path, count)
        return world.journal.head_seq


def test_garbage_on_every_wire(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR")
    events = run(_abuse_everything(tmp_path, _SAMPLE))
    assert events > 4, "some of it was near enough to be believed"
    assert not [record for record in caplog.records if record.exc_info], "nothing raised where nobody looks"


@pytest.mark.proof
def test_much_garbage_on_every_wire(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, figure: Callable[[str], None]
) -> None:
    caplog.set_level("ERROR")
    events = asyncio.run(_abuse_everything(tmp_path, _PROOF))
    assert not [record for record in caplog.records if record.exc_info]
    figure(
        f"{_PROOF:,} bad payloads on each of five topics and as many bad requests on the socket of a running table: no"
        f" traceback, {events:,} events in a journal that verifies"
    )


async def test_garbage_on_the_pits_topics_leaves_nothing_in_memory(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: logging.disable(logging.NOTSET))
    logging.disable(logging.CRITICAL)  # the tests' own log would keep each refusal

    async with _served(tmp_path) as (world, _):
        luck = random.Random(1)
        topics = Topics(world.config.file.pit.root, world.config.file.table.id)

        async def shower() -> int:
            for n in range(2_000):
                if n % 500 == 0:
                    await world.settle()  # a burst that the table takes; of a longer one it leaves the broker
                topic = luck.choice((topics.ack, topics.award, topics.meters, topics.wager, "pit/v1/none"))
                world.broker.say(luck.randbytes(luck.choice((3, 300, 3_000))), topic)
            await world.settle()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            await shower()
            before = await shower()
            assert await shower() - before < 100_000, "of some 2 MB that came"
        finally:
            tracemalloc.stop()


async def test_more_connections_than_any_house_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table answers one more connection and goes on dealing although 200 other connections are silent, send half a
    request, or never read their answers."""
    monkeypatch.setattr(callers, "MOST_OF_A_USER", 60)
    async with _served(tmp_path) as (world, path):
        with ExitStack() as crowd:
            for number in range(200):
                one = crowd.enter_context(socket.socket(socket.AF_UNIX))
                one.connect(str(path))
                with suppress(BrokenPipeError):
                    raw = (b"", b'{"do": "stat', b'{"do": "watch"}\n', b'{"do": "status"}\n' * 200)[number % 4]
                    one.sendall(raw)
                await asyncio.sleep(0)
            await eventually(lambda: world.pins.samples > 0)
            (answer,) = await _ask(path, b'{"do": "status"}\n')
            assert json.loads(answer)["ok"]
            await world.open_shoe()
            await world.do_rounds(2)
            assert world.runtime.face.round == 2
