"""Checks the limit on the number of connections to the control socket: which caller must wait, and whose connection the
daemon ends. An act that a person requests always gets a connection."""

from __future__ import annotations

import asyncio
import grp
import select
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.contract.wire import callers
from controller.people.cli.client import ask
from tests.daemon.daemon_world import served
from tests.daemon.test_control_socket import Line, connected
from tests.support.waiting import eventually

_MOST = 6


@pytest.fixture(autouse=True)
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MOST_OF_A_USER", _MOST)


async def _silent(crowd: ExitStack, path: Path, count: int) -> list[Line]:
    lines = []
    for _ in range(count):
        line = Line(*await asyncio.open_unix_connection(path))
        crowd.callback(line.writer.close)
        assert (await line.ask(do="status"))["ok"]
        lines.append(line)
    return lines


async def test_the_one_silent_longest_gives_way(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, path):
        with ExitStack() as crowd:
            first, second, *others = await _silent(crowd, path, _MOST)
            assert (await first.ask(do="status"))["ok"]  # so the second is silent longest
            async with connected(path) as newcomer:
                assert (await newcomer.ask(do="status"))["ok"]
                assert await second.closed()
                for line in (first, *others):
                    assert (await line.ask(do="status"))["ok"]


async def test_an_act_under_way_gives_way_to_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path):
        world.journal.gate.clear()
        with ExitStack() as crowd:
            lines = await _silent(crowd, path, _MOST)
            for line in lines:
                await line.send(b'{"do": "new_shoe", "by": "Smith"}\n')
            await eventually(lambda: world.journal.at_gate)
            await world.pins.sampled(10)
            async with connected(path) as newcomer:
                assert (await newcomer.answer())["code"] == "too_many_connections"
                assert await newcomer.closed()
            world.journal.gate.set()
            answers = [await line.answer() for line in lines]
            assert [answer["ok"] for answer in answers] == [True] * _MOST


async def test_when_all_places_are_taken_the_user_who_has_most_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = iter([1000, 1000, 1000, 1001, 1002, 1003])
    monkeypatch.setattr(callers, "_peer_uid", lambda _: next(users))
    monkeypatch.setattr(callers, "MOST_AT_ONCE", 5)
    async with served(tmp_path) as (_, path):
        with ExitStack() as crowd:
            lines = await _silent(crowd, path, 6)
            assert await lines[0].closed(), "user 1000 had three places"
            for line in lines[1:]:
                assert (await line.ask(do="status"))["ok"]


async def test_who_asks_nothing_for_long_is_told_so_and_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "IDLE_S", 0.05)
    async with served(tmp_path) as (_, path):
        async with connected(path) as line:
            assert (await line.answer())["code"] == "idle"
            assert await line.closed()
        async with connected(path) as line:
            await line.send(b'{"do": "stat')  # half a request is none
            assert (await line.answer())["code"] == "idle"
            assert await line.closed()


async def test_who_does_not_read_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon cuts the connection of a caller that does not read its answers. This limits the memory that unread
    answers take.

    First it reads no more of the caller's requests, and then it ends the connection.
    """
    monkeypatch.setattr(callers, "READS_WITHIN_S", 0.05)
    async with served(tmp_path) as (world, path):
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            deaf.setblocking(False)
            await loop.sock_connect(deaf, str(path))
            sending = asyncio.create_task(loop.sock_sendall(deaf, b'{"do": "status"}\n' * 2_000))
            await eventually(lambda: _is_over(deaf))
            sending.cancel()
        async with connected(path) as line:
            assert (await line.ask(do="status"))["ok"]
        assert not world.task.done()


def _is_over(channel: socket.socket) -> bool:
    """Return True if the far end has closed the connection, even if bytes that it sent are still unread."""
    poll = select.poll()
    poll.register(channel, 0)
    return bool(poll.poll(0))


def _refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> TableError:
    """Return the error that `tablectl` shows to a person who has no permission for the socket in this folder."""

    def refuses(_channel: socket.socket, _path: str) -> None:
        raise PermissionError

    monkeypatch.setattr(socket.socket, "connect", refuses)
    with pytest.raises(TableError) as told:
        ask(folder / "table.toml", {"do": "status"}, str(folder / "sock"))
    return told.value


def test_who_may_not_use_the_socket_is_told_the_group_that_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = grp.getgrgid(tmp_path.stat().st_gid).gr_name  # the socket itself cannot be looked at: its folder's
    told = _refused(tmp_path, monkeypatch)
    assert (told.code, f"sudo adduser YOURNAME {group}. " in told.do) == ("not_allowed", True)


def test_where_no_group_has_a_name_nobody_is_told_to_join_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the socket's group has no name, the error message names no command for joining the group.

    An earlier version told people to type `sudo adduser YOURNAME that the socket's folder has`.
    """

    def nameless(_path: Path) -> str:
        raise KeyError

    monkeypatch.setattr(Path, "group", nameless)
    told = _refused(tmp_path, monkeypatch)
    assert (told.code, told.do) == ("not_allowed", "Run the same command again with sudo.")
