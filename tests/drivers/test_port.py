"""Checks the shoe's port over a real pseudo-terminal (behind a symbolic link, as udev names adapters) and a real TCP
socket."""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import os
import socket
import struct
import termios
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import serial

from drivers.line.port import ShoePort, _doubling
from tests.support.errors import raising
from tests.support.waiting import PATIENCE_S


class Heard:
    """A record of what a shoe's port reported: its bytes, and whether it is open. A test can wait for the next
    report."""

    def __init__(self) -> None:
        self.links: asyncio.Queue[tuple[bool, str]] = asyncio.Queue()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def on_bytes(self, data: bytes) -> None:
        self._chunks.put_nowait(data)

    def on_link(self, up: bool, why: str) -> None:
        self.links.put_nowait((up, why))

    async def bytes_of(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            data += await self._chunks.get()
        return data

    async def up(self) -> str:
        up, why = await self.links.get()
        assert up, why
        return why

    async def down(self) -> str:
        up, why = await self.links.get()
        assert not up, why
        return why


class Adapter:
    """A pseudo-terminal behind a symbolic link, in place of a serial adapter. The test plays the shoe at its far
    end."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.master = -1
        self.plug()

    def plug(self) -> None:
        self.master, slave = os.openpty()
        self.link.symlink_to(os.ttyname(slave))
        os.close(slave)

    def unplug(self) -> None:
        self.link.unlink(missing_ok=True)
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


@pytest.fixture
def adapter(tmp_path: Path) -> Iterator[Adapter]:
    adapter = Adapter(tmp_path / "usb-shoe")
    yield adapter
    adapter.unplug()


@asynccontextmanager
async def running(url: str | Path) -> AsyncIterator[tuple[asyncio.Task[None], Heard]]:
    """Run a shoe's port. At the end, check that it left no task and no open file descriptor behind."""
    tasks, descriptors = asyncio.all_tasks(), open_descriptors()
    heard = Heard()
    port = ShoePort(str(url), 4800, heard.on_bytes, heard.on_link, first_retry_s=0.001, longest_retry_s=0.01)
    task = asyncio.create_task(port.run())
    try:
        yield task, heard
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    assert asyncio.all_tasks() <= tasks
    assert not (open_descriptors() - descriptors), "the port left a descriptor open"


def open_descriptors() -> set[str]:
    """Return the pseudo-terminals and sockets that this process has open, except the ends that the test itself
    holds."""
    names = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            names.add(f"{entry.name} {entry.readlink()}")
        except OSError:
            continue  # the descriptor of this very listing
    return {name for name in names if "/dev/pts/" in name or "socket:" in name}


async def test_bytes_of_a_device_arrive_unchanged(adapter: Adapter) -> None:
    every_byte = bytes(range(256))
    async with running(adapter.link) as (_, heard):
        assert str(adapter.link) in await heard.up()
        os.write(adapter.master, every_byte)
        assert await heard.bytes_of(256) == every_byte


async def test_an_adapter_that_goes_and_comes_back_under_its_name_is_read_again(adapter: Adapter) -> None:
    async with running(adapter.link) as (_, heard):
        for _ in range(3):
            await heard.up()
            os.write(adapter.master, b"card")
            assert await heard.bytes_of(4) == b"card"
            adapter.unplug()
            assert "went away" in await heard.down()
            adapter.plug()
        await heard.up()


async def test_a_port_absent_at_first_is_said_once_and_found_later(tmp_path: Path) -> None:
    link = tmp_path / "usb-shoe"
    async with running(link) as (_, heard):
        why = await heard.down()
        assert "no such device" in why
        assert str(link) in why
        adapter = Adapter(link)
        await heard.up()
        os.write(adapter.master, b"card")
        assert await heard.bytes_of(4) == b"card"
        adapter.unplug()
        await heard.down()


async def test_a_second_opener_is_refused_until_the_first_lets_go(adapter: Adapter) -> None:
    async with running(adapter.link) as (first, heard_first):
        await heard_first.up()
        async with running(adapter.link) as (_, heard_second):
            assert "another program" in await heard_second.down()
            os.write(adapter.master, b"mine")
            assert await heard_first.bytes_of(4) == b"mine"
            keep = os.open(adapter.link, os.O_RDWR | os.O_NOCTTY)  # else the pty hangs up between the two
            first.cancel()
            await heard_second.up()
            os.write(adapter.master, b"yours")
            assert await heard_second.bytes_of(5) == b"yours"
            os.close(keep)


async def test_a_cancelled_run_is_cancelled(adapter: Adapter) -> None:
    heard = Heard()
    before = open_descriptors()
    task = asyncio.create_task(ShoePort(str(adapter.link), 4800, heard.on_bytes, heard.on_link).run())
    await heard.up()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.links.empty(), "stopping is not a lost link"
    assert not open_descriptors() - before, "it lets go of the port before it ends"


@contextmanager
def serial_server() -> Iterator[tuple[socket.socket, str]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server, f"socket://127.0.0.1:{server.getsockname()[1]}"


async def accepted(server: socket.socket) -> socket.socket:
    connection, _ = await asyncio.get_running_loop().sock_accept(server)
    return connection


async def test_bytes_of_a_network_shoe_arrive() -> None:
    with serial_server() as (server, url):
        async with running(url) as (_, heard):
            with await accepted(server) as shoe:
                await heard.up()
                shoe.sendall(b"card")
                assert await heard.bytes_of(4) == b"card"
            await heard.down()


# After a reset, pyserial drops its socket instead of closing it; the descriptor goes all the same.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("abruptly", [False, True], ids=["FIN", "RST"])
async def test_a_network_shoe_that_hangs_up_is_called_again(abruptly: bool) -> None:
    with serial_server() as (server, url):
        async with running(url) as (_, heard):
            for _ in range(2):
                shoe = await accepted(server)
                await heard.up()
                shoe.sendall(b"card")
                assert await heard.bytes_of(4) == b"card"
                if abruptly:
                    shoe.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                shoe.close()
                assert "went away" in await heard.down()


async def test_a_silent_network_connection_is_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[serial.Serial] = []
    serial_for_url = serial.serial_for_url

    def remember(*args: Any, **options: Any) -> serial.Serial:
        opened.append(serial_for_url(*args, **options))
        return opened[-1]

    monkeypatch.setattr(serial, "serial_for_url", remember)
    with serial_server() as (server, url):
        async with running(url) as (_, heard):
            with await accepted(server):
                await heard.up()
                with socket.socket(fileno=os.dup(opened[0].fileno())) as connection:
                    assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
                    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 10


async def test_a_refused_connection_says_where_to_look() -> None:
    with serial_server() as (_, url):
        pass  # nobody listens there any more
    async with running(url) as (_, heard):
        why = await heard.down()
        assert "serial server" in why
        assert url in why


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (serial.SerialException(errno.EACCES, "could not open port"), "dialout"),
        (serial.SerialException(errno.ENOENT, "could not open port"), "plug the adapter in"),
        (serial.SerialException(errno.EAGAIN, "could not lock port"), "another program"),
        (serial.SerialException(errno.EBUSY, "could not open port"), "another program"),
        (serial.SerialException("could not configure port"), "names a serial device"),
        (termios.error(errno.EIO, "Input/output error"), "Input/output error"),  # went while it was being set up
    ],
)
async def test_why_a_port_does_not_open_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def refuse(*_: Any, **__: Any) -> serial.Serial:
        raise error

    monkeypatch.setattr(serial, "serial_for_url", refuse)
    async with running("/dev/shoe") as (_, heard):
        assert told in await heard.down()


async def test_a_file_that_is_no_serial_port_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a port")
    async with running(file) as (_, heard):
        assert "names a serial device" in await heard.down()


@pytest.mark.parametrize("url", ["rfc2217://10.0.0.7:4001", "loop://", "tcp://10.0.0.7:4001"])
def test_other_kinds_of_port_are_refused(url: str) -> None:
    with raising("shoe_port") as refused:
        ShoePort(url, 4800, lambda _: None, lambda _, __: None)
    assert url in refused.value.what


async def test_a_bad_spell_is_logged_loudly_once_and_then_quietly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG, "drivers.line.port")
    tries = itertools.count()
    enough = threading.Event()

    def refuse(*_: Any, **__: Any) -> serial.Serial:
        if next(tries) == 4:
            enough.set()
        raise serial.SerialException(errno.ENOENT, "no such file")

    monkeypatch.setattr(serial, "serial_for_url", refuse)
    async with running(tmp_path / "absent") as (_, heard):
        await heard.down()
        await asyncio.to_thread(enough.wait, PATIENCE_S)
        assert heard.links.empty(), "a link that stays down is told once"
    levels = [record.levelno for record in caplog.records if record.name == "drivers.line.port"]
    assert levels[0] == logging.WARNING
    assert len(levels) >= 4
    assert set(levels[1:]) == {logging.DEBUG}


async def test_each_outage_is_logged_loudly_anew(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    async with running(adapter.link) as (_, heard):
        for _ in range(2):
            await heard.up()
            os.write(adapter.master, b"card")
            await heard.bytes_of(4)
            adapter.unplug()
            await heard.down()
            adapter.plug()
    gone = [record for record in caplog.records if "went away" in record.getMessage()]
    assert [record.levelno for record in gone] == [logging.WARNING] * 2


async def test_a_server_that_only_hangs_up_is_called_less_and_less(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def remember(delay_s: float) -> None:
        waits.append(delay_s)
        await sleep(0)

    monkeypatch.setattr("drivers.line.port.asyncio.sleep", remember)
    with serial_server() as (server, url):
        async with running(url) as (_, heard):
            for _ in range(3):
                (await accepted(server)).close()
                await heard.up()
                await heard.down()
    assert waits[:2] == [0.001, 0.002]


def test_back_off_doubles_up_to_its_cap() -> None:
    assert list(itertools.islice(_doubling(0.2, 5.0), 7)) == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])


async def test_what_the_owner_raises_ends_run(adapter: Adapter) -> None:
    def burst(_: bytes) -> None:
        raise OSError("the owner's own trouble is not the link's")

    heard = Heard()
    before = open_descriptors()
    task = asyncio.create_task(ShoePort(str(adapter.link), 4800, burst, heard.on_link).run())
    await heard.up()
    os.write(adapter.master, b"card")
    with pytest.raises(OSError, match="own trouble"):
        await task
    assert open_descriptors() == before


async def test_a_port_that_opens_after_run_was_cancelled_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    class SlowPort:
        def close(self) -> None:
            closed.set()

    def open_slowly(*_: Any, **__: Any) -> SlowPort:
        begun.set()
        go_on.wait(PATIENCE_S)
        return SlowPort()

    monkeypatch.setattr(serial, "serial_for_url", open_slowly)
    async with running("/dev/shoe"):
        await asyncio.to_thread(begun.wait, PATIENCE_S)
    # `run` has ended although the thread still opens.
    assert not closed.is_set()
    go_on.set()
    assert await asyncio.to_thread(closed.wait, PATIENCE_S)
