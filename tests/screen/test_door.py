"""Checks the limits on who may use the web servers, over real sockets. The clients send nothing for a long time, take
all connections, or use a foreign host name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from controller.people.cli.main import main
from controller.people.cli.programs import free_port
from controller.people.pit_page.__main__ import main as pit_page
from controller.people.pit_page.subscriber import Subscriber
from controller.people.screen import web
from controller.people.screen.door import Connection, Known, place_of

_ONE, _OTHER = "127.0.0.1", "127.0.0.2"
_BIG = b"x" * 30_000_000
_SOON_S = 0.05


async def _page(_request: Request) -> Response:
    return PlainTextResponse("page")


async def _big(_request: Request) -> Response:
    return PlainTextResponse(_BIG)


async def _events(request: Request) -> Response:
    async def long() -> AsyncIterator[bytes]:
        yield b"first"
        await request.app.state.over.wait()

    return StreamingResponse(long())


_PAGES = Starlette(routes=[Route("/", _page), Route("/big", _big), Route("/events", _events)])


def _asked(path: str = "/", host: str = "127.0.0.1") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


class Far:
    """The client ends of the connections to the web server under test."""

    def __init__(self, port: int) -> None:
        self._port = port
        _PAGES.state.over = self.over = asyncio.Event()  # sets an end to every stream
        self._writers: list[asyncio.StreamWriter] = []

    async def line(self, sent: bytes, of: str = _ONE) -> asyncio.StreamReader:
        """Connect to the server from the address `of`, send these bytes, and return the reader for the answer."""
        reader, writer = await asyncio.open_connection(_ONE, self._port, local_addr=(of, 0))
        self._writers.append(writer)
        writer.write(sent)
        return reader

    def last(self) -> Callable[[bytes], None]:
        """Return a function that sends bytes over the connection that was opened last before this call."""
        return self._writers[-1].write

    async def stream(self, of: str = _ONE) -> asyncio.StreamReader:
        """Open a stream of events from the address `of`, which goes on until the test ends. Return its reader."""
        reader = await self.line(_asked("/events"), of)
        await reader.readuntil(b"first\r\n")
        return reader

    async def dribble(self, sent: bytes) -> None:
        """Send these bytes on a new connection, and then byte after byte, until the server ends the connection."""
        reader = await self.line(sent)
        with suppress(ConnectionError):
            while not reader.at_eof():
                self._writers[-1].write(b"x")
                await self._writers[-1].drain()
                await asyncio.sleep(0)

    def end(self) -> None:
        """Close every connection of these clients."""
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def _served() -> AsyncIterator[Far]:
    listening, address = web.listen(_ONE, 0)
    ended = asyncio.Event()

    async def until_the_end() -> None:
        await ended.wait()

    far = Far(int(address.rstrip("/").rpartition(":")[2]))
    async with asyncio.TaskGroup() as group:
        group.create_task(web.serve(_PAGES, listening, (), until_the_end()))
        try:
            async with asyncio.timeout(20):
                yield far
        finally:
            far.end()
            ended.set()


async def _all_of(line: asyncio.StreamReader) -> bytes:
    """Read from the connection until it ends, and return all bytes that came."""
    said = b""
    with suppress(ConnectionError):
        while more := await line.read(65536):
            said += more
    return said


async def test_half_a_request_and_an_answer_that_nobody_reads_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "asked_within_s", _SOON_S)
    head = b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    half = b"", head[:9], head, _asked() + head, head + b"Content-Length: 9\r\n\r\nhalf"
    async with _served() as far:
        stream = await far.stream()
        slow = await far.line(_asked("/big"))
        await slow.readexactly(1)
        for line in [await far.line(sent) for sent in half]:
            await _all_of(line)
        await far.dribble(head + b"A: ")
        await far.dribble(head.replace(b"GET", b"POST") + b"Content-Length: 999999999\r\n\r\n")
        assert len(await _all_of(slow)) < len(_BIG)
        assert not stream.at_eof(), "an answer takes as long as it takes"


async def test_half_a_request_after_a_long_answer_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "asked_within_s", _SOON_S)
    async with _served() as far:
        stream = await far.stream()
        say = far.last()
        await _all_of(await far.line(b""))  # the stream's own time is over by now
        far.over.set()
        await stream.readuntil(b"0\r\n\r\n")
        say(b"GET / HT")
        await _all_of(stream)


def _at_most_eight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "most", 8)
    monkeypatch.setattr(Connection, "asked_within_s", 60)


async def test_half_requests_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_most_eight(monkeypatch)
    async with _served() as far:
        stream = await far.stream()
        half = await asyncio.gather(*(far.line(b"GET / HT") for _ in range(30)))
        for address in (_ONE, _OTHER):
            assert (await (await far.line(_asked(), address)).readline()).startswith(b"HTTP/1.1 200")
        ending = {asyncio.create_task(_all_of(line)) for line in half}
        while len(ending) > 8:
            _, ending = await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
        assert not stream.at_eof()


async def test_one_address_keeps_no_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_most_eight(monkeypatch)
    async with _served() as far:
        crowd = [await far.stream() for _ in range(8)]
        await _all_of(await far.line(_asked("/events")))  # the ninth of this address
        others = [await far.stream(_OTHER) for _ in range(4)]
        for newest in crowd[4:]:
            await _all_of(newest)
        await _all_of(await far.line(_asked("/events"), _OTHER))  # each address has its half
        assert not any(each.at_eof() for each in (*crowd[:4], *others))


async def test_where_each_address_has_as_much_the_last_to_come_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_most_eight(monkeypatch)
    async with _served() as far:
        crowd = [await far.stream(f"127.0.0.{number}") for number in range(1, 9)]
        for number in range(9, 17):
            await _all_of(await far.line(_asked("/events"), f"127.0.0.{number}"))
        assert not any(each.at_eof() for each in crowd)


def test_a_machine_with_a_whole_network_of_addresses_is_one_place() -> None:
    one, same, next_ = ("2001:db8::1", 1), ("2001:db8::ffff:1", 2), ("2001:db8:0:1::1", 1)
    assert place_of(one) == place_of(same) != place_of(next_)
    assert place_of(("10.0.0.1", 1)) != place_of(("10.0.0.2", 1))


_NAMED = "royal9-01.house"


@pytest.mark.parametrize(
    ("heads", "known"),
    [
        *(([host], True) for host in ("127.0.0.1", "10.0.0.7:8080", "[::1]:8080", "[fe80::1]", "localhost:8080")),
        *(([host], True) for host in (_NAMED, f"{_NAMED}:8080", "Royal9-01.House.:80")),
        *(
            ([host], False)
            for host in ("", "evil.example", "evil.example:8080", f"{_NAMED}.evil.example", "127.0.0.1.evil")
        ),
        *(([host], False) for host in ("[::1", "0x7f.1", "house", "royal9-01", "127.0.0.1@evil.example")),
        ([], False),
    ],
)
async def test_a_name_of_elsewhere_reads_nothing(heads: list[str], known: bool) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", head.encode()) for head in heads]}
    await Known(_PAGES, [_NAMED])(scope, receive, send)
    assert sent[0]["status"] == (200 if known else 421)
    assert (sent[1]["body"] == b"page") == known


async def test_a_refusal_and_a_page_have_the_same_headers_on_the_wire() -> None:
    async with _served() as far:
        for sent, status in (
            (_asked(), b"200"),
            (_asked(host="evil.example"), b"421"),
            (b"GET / HTTP/1.0\r\n\r\n", b"421"),
            (b"GET / HTTP/1.1\r\n\r\n", b"400"),
            (_asked().replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\n\r\n"), b"400"),
            (_asked().replace(b"\r\n\r\n", b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"), b"200"),
        ):
            head = await (await far.line(sent)).readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 " + status)
            assert (b"frame-ancestors 'none'" in head) == (status != b"400")


def test_the_programs_hand_their_names_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[object] = []

    async def serve(_app: object, _listening: object, names: object, *beside: Coroutine[Any, Any, None]) -> None:
        given.append(names)
        for work in beside:
            work.close()

    monkeypatch.setattr(web, "serve", serve)
    monkeypatch.setattr(Subscriber, "run", lambda _: None)
    at = "--listen", f"{_ONE}:{free_port()}", "--names", _NAMED, "other"
    assert main(["screen", "config/tables/royal9.toml", *at]) == 0
    assert pit_page(["--ledger", str(tmp_path / "ledger"), "--broker", "127.0.0.1:1883", *at]) == 0
    assert given == [(_ONE, _NAMED, "other")] * 2
