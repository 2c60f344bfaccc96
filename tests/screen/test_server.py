"""Checks the answers of the screen's web server. Clients can only read. The pages load nothing from other servers."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from controller.contract.face.feed import FeedLine
from controller.contract.face.page import PageCode
from controller.daemon.control.lines import line
from controller.people.cli import client
from controller.people.cli import page as page_
from controller.people.cli.page import page_line
from controller.people.screen import audience as audience_
from controller.people.screen import feed as feed_
from controller.people.screen import server, web
from controller.people.screen.audience import Audience, Kiosks
from controller.people.screen.door import place_of
from controller.people.screen.feed import Feed
from controller.people.screen.server import Screen, Sockets, application
from controller.people.screen.technicians import page_standing
from controller.table.placard import placard
from controller.words.language import language
from tests.support.tables import ROYAL9, TableUnderTest
from tests.support.told import healthy, read_back

_NOWHERE = Path("/nowhere")
_PAGES = (
    "/",
    "/technician",
    "/help",
    "/checkpoint",
    "/favicon.ico",
    "/alive/a",
    "/alive/a/age",
    "/technician/rounds.csv",
    "/no-such-page",
)
_FILES = sorted((Path(server.__file__).with_name("pages")).iterdir())


def a_screen(key: str | None = None) -> ASGIApp:
    """Return the web application of a screen that is connected to no table."""
    return web.Headed(application(Screen(Sockets(_NOWHERE, _NOWHERE, _NOWHERE)), _NOWHERE, key))


def answered(
    app: ASGIApp, path: str, method: str = "GET", query: str = "", headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[int, dict[str, str], str]:
    """Send a request to the web application, and return the answer's status, headers and text."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return await asyncio.Future()  # whoever asks goes on listening

    asked = {
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "method": method,
        "headers": headers,
    }
    where = {"type": "http", "http_version": "1.1", "scheme": "http", "server": ("here", 80), "root_path": ""}

    async def ask() -> None:
        async with asyncio.timeout(20):
            await app(asked | where, receive, send)

    asyncio.run(ask())
    told = {name.decode(): said.decode() for name, said in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(each.get("body", b"") for each in sent[1:]).decode(errors="replace")


@pytest.mark.parametrize("path", [*_PAGES, *(f"/pages/{file.name}" for file in _FILES)])
def test_every_answer_lets_the_page_load_from_this_server_alone(path: str) -> None:
    _, headers, text = answered(a_screen(), path)
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    assert {rules[kind] for kind in ("script-src", "style-src", "img-src", "font-src", "connect-src")} == {"'self'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert not set(re.findall(r"https?://[^\s\"'`]+", text)) - {"http://www.w3.org/2000/svg"}, "an address elsewhere"
    assert not re.search(r"<script(?! src=\"/pages/)|\sstyle=|\son\w+=", text), "a browser would refuse it by the rules"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_can_be_written(method: str) -> None:
    for path in (*_PAGES[:-1], "/events", "/technician/events", "/technician/hand", "/pages/players.js"):
        assert answered(a_screen(), path, method)[0] == 405, path


def test_a_supervisors_screen_shows_the_technicians_page_by_its_key_alone() -> None:
    app = a_screen("secret")
    for path in (
        "/technician",
        "/technician/events",
        "/technician/rounds.csv",
        "/technician/rounds.json",
        "/technician/hand",
    ):
        for query in ("", "key=", "key=secre", "key=secrets", "key=%C3%A4"):
            assert answered(app, path, query=query)[0] == 403, (path, query)
    assert answered(app, "/technician", query="key=secret")[0] == 200
    assert answered(app, "/")[0] == 200, "the players' page is everybody's"


def test_a_monitor_that_paints_nothing_is_seen_and_nobody_elsewhere_paints_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 1000.0
    monkeypatch.setattr(audience_, "time", SimpleNamespace(monotonic=lambda: now_s))
    here, elsewhere = place_of(("127.0.0.1", 1)), place_of(("192.0.2.7", 1))
    kiosks = Kiosks()
    assert page_standing(kiosks.paints(20), 0) == "page_unseen"
    assert page_standing(kiosks.paints(20), 1) == "page_in_browser"
    kiosks.age_s(here, "a")
    kiosks.age_s(elsewhere, "b")
    kiosks.painted(elsewhere, "b")
    assert page_standing(kiosks.paints(20), 3) == "page_dark"
    kiosks.painted(here, "a")
    assert page_standing(kiosks.paints(20), 1) == "page_on_monitor"
    now_s += 21
    assert page_standing(kiosks.paints(20), 3) == "page_dark"
    kiosks.age_s(here, "again")  # another browser was started
    kiosks.painted(here, "again")
    assert page_standing(kiosks.paints(20), 1) == "page_on_monitor"


def test_status_says_in_words_what_the_screen_says_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(answered(a_screen(), "/standing")[2]) is None, "no table was heard"
    said = {code: page_line_of(monkeypatch, {"table": "t-0", "code": code, "for_s": 7}) for code in get_args(PageCode)}
    assert {line.split(": ")[0] for line in said.values()} == {"players' page, seen so for 7 s"}
    assert len({*said.values()}) == len(said)
    assert all(line.endswith("systemctl status table-kiosk") for line in (said["page_dark"], said["page_unseen"]))
    assert "is of the table t-1" in page_line_of(monkeypatch, {"table": "t-1", "code": "page_dark", "for_s": 7})
    assert "does not hear the table: systemctl status table-screen" in page_line_of(monkeypatch, None)


def test_a_screen_that_has_lost_the_table_says_nothing_of_its_page_and_shows_no_checkpoint() -> None:
    screen = Screen(Sockets(_NOWHERE, _NOWHERE, _NOWHERE))
    screen.feed.said = FeedLine(
        placard=read_back(placard(ROYAL9, "Table 1", ("en",))),
        status=healthy(TableUnderTest(ROYAL9).face),
        checkpoint="a checkpoint",
    )
    app = application(screen)
    for live in (True, False):
        screen.feed.live = live
        screen.feed._changed()
        assert (json.loads(answered(app, "/standing")[2]) is not None) == live
        assert (answered(app, "/checkpoint")[0] == 200) == live


def test_an_answer_that_no_screen_gives_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command `tablectl status` does not show an answer that a screen's server would never give. So another program
    that listens on the server's port cannot write anything into the status."""
    silent = "players' page: no screen at 127.0.0.1:8080 tells of it: systemctl status table-screen, or --screen HOST:"
    right = {"table": "t-0", "code": "page_dark", "for_s": 7}
    for changed in ({"code": "\x1b[31m"}, {"table": "t-1\n"}, {"table": "t-1\x1b[2J"}, {"table": "FAULT x: do this"}):
        assert page_line_of(monkeypatch, right | changed).startswith(silent), changed
    strange: object
    for strange in ({}, "<html>", b"\xff\xfe", b'{"table": "\xff"}'):
        assert page_line_of(monkeypatch, strange).startswith(silent), strange
    for status in (404, 421):
        assert page_line_of(monkeypatch, right, status).startswith(silent), status
        assert page_line_of(monkeypatch, None, status).startswith(silent), status
    monkeypatch.undo()
    for nowhere in ("127.0.0.1:1", "127.0.0.1:x", "", "..:80", "x" * 70 + ":80"):
        assert page_line(nowhere, "t-0", language("en")).startswith(f"players' page: no screen at {nowhere} tells")


def test_a_screen_that_answers_too_slowly_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status command does not wait for a screen's server whose whole answer takes too long. This holds even if no
    single read takes long, as when the server sends a byte now and then."""
    over = Event()
    monkeypatch.setattr(page_, "_PATIENCE_S", 0.01)
    right = {"table": "t-0", "code": "page_dark", "for_s": 7}
    assert "no screen at" in page_line_of(monkeypatch, right, request=lambda *_: over.wait(5))
    over.set()


def test_the_status_is_printed_before_the_screen_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before: list[str] = []
    monkeypatch.setattr(client, "status_of", lambda _: healthy(TableUnderTest().face))

    def asked(*_: object) -> str:
        before.append(capsys.readouterr().out)
        return "the page"

    monkeypatch.setattr(client, "page_line", asked)
    assert client.status(_NOWHERE, False, "en", "127.0.0.1:8080") == 0
    assert "version" in before[0]
    assert capsys.readouterr().out == "the page\n"


def page_line_of(
    monkeypatch: pytest.MonkeyPatch,
    told: object,
    status: int = 200,
    request: Callable[..., object] = lambda *_: None,
) -> str:
    """Return the line about the players' page in the status of table t-0. `told` is the answer of the screen's server:
    bytes, or values for JSON."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    answer = SimpleNamespace(read=lambda most: body[:most], status=status)
    asked = SimpleNamespace(request=request, getresponse=lambda: answer, close=lambda: None)
    monkeypatch.setattr(page_, "HTTPConnection", lambda *_, **__: asked)
    return page_line("127.0.0.1:8080", "t-0", language("en"))


def test_frames_are_not_shown_without_a_supervisors_screen() -> None:
    status, _, text = answered(a_screen(), "/technician/hand", query="round=1/1")
    assert status == 403
    assert "--supervisor" in text


async def test_a_hundred_browsers_get_every_part_and_a_slow_one_the_newest_alone() -> None:
    audience = Audience()
    audience.show("hand", 0)
    browsers = [audience.events() for _ in range(100)]
    assert {await anext(browser) for browser in browsers} == {"event: hand\ndata: 0\n\n"}
    assert audience.browsers == 100
    waiting = [asyncio.ensure_future(anext(browser)) for browser in browsers]
    await asyncio.sleep(0)
    for number in range(1, 51):
        audience.show("hand", number)
    assert {await said for said in waiting} == {"event: hand\ndata: 50\n\n"}
    for browser in browsers:
        await browser.aclose()
    assert audience.browsers == 0


async def test_a_table_of_another_version_is_told_once_and_heard_again_when_it_speaks_as_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The screen goes on after an unreadable line from a table of another version, and reports each kind of error once.
    In an earlier version such a line ended the screen with a traceback, again and again, for as long as the table ran.
    """
    monkeypatch.setattr(feed_, "_AGAIN_S", 0)
    lines = [
        b"[1]\n",
        b"[1]\n",
        b'{"status": {}, "placard": {}}\n',
        b"[" * 100_000 + b"\n",
        line(FeedLine(status=healthy(TableUnderTest().face, up_s=1))),
    ]
    heard: list[object] = []
    well = asyncio.Event()

    async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(lines.pop(0))
        await writer.drain()
        await well.wait()

    def changed() -> None:
        heard.append((feed.live, feed.said.status and feed.said.status.up_s))
        if heard[-1] == (True, 1):
            well.set()

    feed = Feed(tmp_path / "feed", changed)
    async with await asyncio.start_unix_server(tell, tmp_path / "feed"), asyncio.timeout(20):
        listening = asyncio.create_task(feed.run())
        await well.wait()
        listening.cancel()
    assert heard == [(False, 1), (True, 1)], "never live on a line that cannot be read"
    told = capsys.readouterr().err.splitlines()
    assert [each.rpartition(" (")[2] for each in told] == [
        "ValidationError: Expected `object`, got `array`)",
        "ValidationError: Object missing required field `version` - at `$.status`)",
        "ValidationError: Expected `object`, got `array`)",
    ]
    assert all("different versions" in each for each in told)


async def test_a_place_takes_no_more_streams_than_its_own_and_a_kiosk_always_has_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audience_, "MOST_OF_A_PLACE", 3)
    audience = Audience()
    audience.show("hand", 0)
    crowd = [audience.events(b"here") for _ in range(3)]
    for stream in crowd:
        await anext(stream)
    assert (audience.has_room(b"here"), audience.has_room(b"elsewhere")) == (False, True)
    await crowd[0].aclose()
    assert audience.has_room(b"here")


async def test_where_a_machine_has_all_its_streams_its_kiosk_still_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience_, "MOST_OF_A_PLACE", 1)
    screen = Screen(Sockets(_NOWHERE, _NOWHERE, _NOWHERE))
    at = {"type": "http", "client": ("127.0.0.1", 1), "headers": []}
    screen.kiosks.age_s(place_of(("127.0.0.1", 2)), "secret")

    async def status(query: bytes) -> int:
        (events,) = (
            route.endpoint
            for route in cast(Starlette, application(screen)).routes
            if isinstance(route, Route) and route.path == "/events"
        )
        response: Response = await events(Request({**at, "query_string": query}))
        if isinstance(response, StreamingResponse):
            streams.append(response.body_iterator)
            await anext(aiter(response.body_iterator))
        return response.status_code

    streams: list[Any] = []
    assert [await status(query) for query in (b"", b"", b"kiosk=made-up", b"kiosk=secret")] == [200, 503, 503, 200]
    for stream in streams:
        await stream.aclose()


def test_a_file_is_sent_packed() -> None:
    _, headers, _ = answered(a_screen(), "/pages/players.js", headers=[(b"accept-encoding", b"gzip")])
    assert headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("packs", [True, False])
async def test_a_stream_is_sent_packed_to_a_browser_that_unpacks(packs: bool) -> None:
    """A browser that accepts gzip gets a compressed stream. Each message of the stream can be unpacked as soon as it
    has come."""
    screen = Screen(Sockets(_NOWHERE, _NOWHERE, _NOWHERE))
    asked = {
        "type": "http",
        "path": "/events",
        "method": "GET",
        "query_string": b"",
        "headers": [(b"accept-encoding", b"gzip, br")] if packs else [],
        "client": ("127.0.0.1", 1),
    }
    sent: asyncio.Queue[Any] = asyncio.Queue()
    stays: asyncio.Queue[Any] = asyncio.Queue()  # whoever asks goes on listening
    streaming = asyncio.ensure_future(application(screen)(asked, stays.get, sent.put))
    async with asyncio.timeout(20):
        start, first = await sent.get(), await sent.get()
        screen.players.show("hand", "莊" * 1000)
        second = await sent.get()
    streaming.cancel()
    told = dict(start["headers"])
    assert told[b"content-type"].startswith(b"text/event-stream")
    assert told.get(b"content-encoding") == (b"gzip" if packs else None)
    assert told[b"vary"] == b"Accept-Encoding"
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress if packs else bytes
    assert unpack(first["body"]) == b'event: link\ndata: {"live":false}\n\n'
    assert unpack(second["body"]).decode() == 'event: hand\ndata: "' + "莊" * 1000 + '"\n\n'
    assert (len(second["body"]) < 100) == packs


async def test_browsers_share_each_packed_message_and_one_that_comes_later_can_read_it() -> None:
    audience = Audience()
    audience.show("hand", "first")
    early = audience_.packed(audience.events())
    await anext(early)
    audience.show("hand", "second")
    await anext(early)
    late = audience_.packed(audience.events())
    read_late = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress
    assert read_late(await anext(late)) == b'event: hand\ndata: "second"\n\n'
    audience.show("hand", "third")
    piece = await anext(early)
    assert await anext(late) is piece
    assert read_late(piece) == b'event: hand\ndata: "third"\n\n'
    for stream in (early, late):
        await stream.aclose()
    assert audience.browsers == 0


def test_nobody_elsewhere_speaks_for_a_kiosk_or_crowds_it_out() -> None:
    kiosks = Kiosks()
    assert kiosks.age_s(b"here", "secret") is None
    kiosks.painted(b"elsewhere", "secret")
    assert kiosks.age_s(b"here", "secret") is None, "another place's word"
    kiosks.painted(b"here", "secret")
    for number in range(100):
        kiosks.painted(b"here", f"made up {number}")
        kiosks.age_s(b"elsewhere", f"made up {number}")
    age_s = kiosks.age_s(b"here", "secret")
    assert age_s is not None
    assert age_s < 60
