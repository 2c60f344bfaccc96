"""Checks the connections that watch a table: all get the same status at each beat of the clock, and one that does not
read is cut."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from controller.daemon.beat import BEAT_S
from controller.daemon.control.watchers import Watchers
from tests.simulation.loop import VirtualLoop


class Reader(asyncio.Transport):
    """The reading end of a connection. It records what it was sent and when. A `deaf` reader reads nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop, deaf: bool = False) -> None:
        super().__init__()
        self._loop, self._deaf = loop, deaf
        self.got: list[tuple[float, bytes]] = []
        self._unread = 0
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop)
        protocol.connection_made(self)
        self._protocol = protocol
        self.writer = asyncio.StreamWriter(self, protocol, None, loop)
        self.here = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.got.append((self._loop.time(), bytes(data)))
        self._unread += len(data) if self._deaf else 0

    def get_write_buffer_size(self) -> int:
        return self._unread

    def is_closing(self) -> bool:
        return not self.here

    def abort(self) -> None:
        if self.here:
            self.here = False
            self._loop.call_soon(self._protocol.connection_lost, None)


class Watched:
    """A stand-in for a table with a status. It counts how often the status was rendered."""

    def __init__(self) -> None:
        self.status, self.renderings = b"as it was", 0

    def render(self) -> tuple[bytes]:
        self.renderings += 1
        return (self.status,)


@pytest.fixture
def loop() -> Any:
    loop = VirtualLoop()
    yield loop
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_for(0.01)
    loop.close()


def started(loop: VirtualLoop, *watching: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    tasks = [loop.create_task(each) for each in watching]
    loop.run_for(0.01)
    return tasks


def test_what_is_new_is_told_at_the_next_beat_whenever_it_came(loop: VirtualLoop) -> None:
    """A change is sent at the next beat of the clock, to all connections at the same moment, whenever the change
    came."""
    watched, readers = Watched(), [Reader(loop) for _ in range(2)]
    watchers = Watchers(watched.render)
    started(loop, watchers.watch(readers[0].writer))
    loop.run_for(0.31)
    started(loop, watchers.watch(readers[1].writer))
    for number in range(5):
        loop.run_for(0.137)
        watched.status = b"%d" % number
    loop.run_for(1.0)
    beats = [[(round(at_s / BEAT_S, 6), said) for at_s, said in reader.got[1:]] for reader in readers]
    assert all(at == round(at) for at, _ in beats[0])
    assert beats[0] == beats[1]
    assert [said for _, said in beats[0]][-1] == b"4"
    assert [reader.got[0][1] for reader in readers] == [b"as it was"] * 2, "told at once, when they ask"


def test_what_is_not_new_is_not_sent_again(loop: VirtualLoop) -> None:
    watched, reader = Watched(), Reader(loop)
    started(loop, Watchers(watched.render).watch(reader.writer))
    loop.run_for(5.0)
    assert [said for _, said in reader.got] == [b"as it was"]


def test_of_several_lines_only_the_new_ones_are_sent(loop: VirtualLoop) -> None:
    lines, reader = [b"rules\n", b"rounds\n", b"status\n"], Reader(loop)
    started(loop, Watchers(lambda: tuple(lines)).watch(reader.writer))
    lines[2] = b"another\n"
    loop.run_for(BEAT_S)
    lines[0] = b"others\n"
    loop.run_for(5 * BEAT_S)
    assert [said for _, said in reader.got] == [b"rules\nrounds\nstatus\n", b"another\n", b"others\n"]


def test_one_rendering_a_beat_is_for_all(loop: VirtualLoop) -> None:
    watched, readers = Watched(), [Reader(loop) for _ in range(150)]
    watchers = Watchers(watched.render)
    started(loop, *(watchers.watch(reader.writer) for reader in readers))
    before = watched.renderings
    watched.status = b"new"
    loop.run_for(10 * BEAT_S)
    assert watched.renderings - before == 10
    assert all(reader.got[-1][1] == b"new" for reader in readers)


def test_who_does_not_read_is_dropped_and_the_others_are_not(loop: VirtualLoop) -> None:
    watched, deaf, reads = Watched(), Reader(loop, deaf=True), Reader(loop)
    watchers = Watchers(watched.render)
    of_the_deaf, of_the_other = started(loop, watchers.watch(deaf.writer), watchers.watch(reads.writer))
    for number in range(40):
        watched.status = b"%d" % number * 4000
        loop.run_for(BEAT_S)
    assert of_the_deaf.done()
    assert not deaf.here
    assert len(deaf.got) < 30
    assert not of_the_other.done()
    assert reads.got[-1][1] == watched.status


def test_with_nobody_watching_nothing_is_rendered(loop: VirtualLoop) -> None:
    watched, reader = Watched(), Reader(loop)
    watchers = Watchers(watched.render)
    started(loop, watchers.watch(reader.writer))
    reader.abort()
    loop.run_for(1.0)
    before = watched.renderings
    loop.run_for(5.0)
    assert watched.renderings == before
    again = Reader(loop)
    started(loop, watchers.watch(again.writer))
    watched.status = b"new"
    loop.run_for(1.0)
    assert again.got[-1][1] == b"new"
