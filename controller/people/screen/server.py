"""`tablectl screen`: the web server with the pages of one table, for the monitor at the table and for everybody who may
look at it.

The server reads only what the table tells every user of this machine, and opens no journal. It answers GET requests
only. The one thing that a browser can tell it is that a page still works. A supervisor may run a second server, with
`--supervisor`, under the supervisor's own account. The table answers that server on the control socket. So that server
can show finished rounds with the bytes that the shoe sent, to whoever has its key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Collection
from operator import is_
from pathlib import Path
from typing import Any, TypeVarTuple

import msgspec
from msgspec import Struct, to_builtins
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from controller.basics.journald import Kind, tell
from controller.contract.face.answers import Answer
from controller.contract.face.feed import Rounds
from controller.contract.face.page import PAGE_STANDING, PageStanding
from controller.contract.face.table import BETWEEN_SHOES
from controller.people.exposition import CONTENT_TYPE
from controller.people.screen import web
from controller.people.screen.audience import Audience, Kiosks, packed
from controller.people.screen.checkpoints import checkpoint_page, checkpoint_view
from controller.people.screen.day import Day
from controller.people.screen.door import place_of
from controller.people.screen.feed import Feed
from controller.people.screen.figures import past_view, rounds_of
from controller.people.screen.hand_page import hand_page
from controller.people.screen.hands import hand_view, meters_view
from controller.people.screen.house import SHIPPED, Face
from controller.people.screen.kiosk import SILENT_S
from controller.people.screen.metrics import FaultCount, table_metrics
from controller.people.screen.past import Past
from controller.people.screen.placards import placard_view
from controller.people.screen.rules import rules_page
from controller.people.screen.shoes import shoe_view, shown_rounds
from controller.people.screen.technicians import Ages, page_standing, rounds_csv, technician_view
from controller.people.screen.wording import chosen, filled, with_money
from controller.words.found import SIDE_BY_SIDE
from controller.words.language import language

_PAGES = Path(__file__).with_name("pages")
_LOOK_S = 1.0
_Sources = TypeVarTuple("_Sources")
_PATIENCE_S = 20.0
_MOST_ANSWER_BYTES = 10_000_000


class Sockets(Struct, frozen=True):
    """The paths of a table's sockets: the feed with its state, the socket that tells its past events, and the control
    socket, on which a supervisor's account asks for finished rounds."""

    feed: Path
    past: Path
    control: Path


class Screen:
    """The contents of all web pages of a table. They are renewed with each line of the table's feed."""

    def __init__(self, sockets: Sockets, day_begins: str = "06:00") -> None:
        self.feed = Feed(sockets.feed, self._changed)
        self.past = Past(sockets.past)
        self._day = Day(sockets.past, day_begins)
        self._day_as_of: object = None
        self.players, self.technicians = Audience(), Audience()
        self.kiosks = Kiosks()
        self._ages = Ages()
        self._faults = FaultCount(language().sections["fault"])
        self._now: dict[str, Any] | None = None
        self.page: PageStanding | None = None
        self._made_of: dict[str, tuple[object, ...]] = {}
        self._rounds: Rounds | None = None
        self._looked_back: tuple[str, int] | None = None
        self._one_look = asyncio.Lock()
        self._changed()

    async def look_back(self) -> None:
        """Get the table's new past events, and show statistics of them on the technician's page. If the table does not
        answer, the page stays as it is."""
        async with self._one_look:
            if (status := self.feed.said.status) is None:
                return
            head = status.pit.epoch, status.pit.head_seq
            if head != self._looked_back:
                with contextlib.suppress(OSError, ValueError, TimeoutError):
                    await self.past.catch_up(head[0])
                    self._looked_back = head
                    self.technicians.show("past", past_view(self.past.events))

    async def look_at_the_day(self) -> None:
        """Count the rounds of the gaming day again, if anything has happened since the last count. If the table does
        not answer, the counts on the page stay as they are."""
        if (status := self.feed.said.status) is None or not self.feed.live:
            return
        if (as_of := (status.pit.epoch, status.pit.head_seq, self._day.since())) != self._day_as_of:
            with contextlib.suppress(OSError, ValueError, TimeoutError):
                await self._day.catch_up(status.pit.epoch)
                self._day_as_of = as_of
                self.players.show("day", self._day.view())

    async def keep_looking_back(self) -> None:
        """Renew the counts of the gaming day once a second, for ever. While a technician has the page open, get new
        past events too."""
        while True:
            await self.look_at_the_day()
            if self.technicians.browsers:
                await self.look_back()
            await asyncio.sleep(_LOOK_S)

    def languages(self, request: Request) -> tuple[str, ...]:
        """Return the languages that the request asks for. If it asks for none, return the languages that the house has
        chosen."""
        placard = self.feed.said.placard
        return chosen(request.query_params.get("lang", ""), SIDE_BY_SIDE if placard is None else placard.languages)

    def metrics(self) -> str:
        """Return the table's metrics as text in Prometheus's format."""
        return table_metrics(self.feed.live, self.feed.said.status, self._now, self._faults)

    def _changed(self) -> None:
        said = self.feed.said
        for audience in (self.players, self.technicians):
            audience.show("link", {"live": self.feed.live})
        placard, rounds, status = said.placard, said.rounds, said.status
        if placard is not None:
            self._show("placard", placard_view, placard)
        if rounds is not None:
            self._rounds = shown_rounds(rounds, self._rounds, status)
            self._show("shoe", shoe_view, self._rounds)
        if said.wiring is not None:
            self.technicians.show("wiring", to_builtins(said.wiring))
        if said.checkpoint is not None and status is not None:
            self._show("checkpoint", checkpoint_view, said.checkpoint, status.face.phase in BETWEEN_SHOES)
        if placard is not None and status is not None:
            self._show("meters", meters_view, placard, status)
            self._show("hand", hand_view, placard, status)
            self._faults.see(status.face.fault)
            code = page_standing(self.kiosks.paints(SILENT_S), self.players.browsers)
            self._now = technician_view(placard, status, self._ages, code)
            self.technicians.show("now", self._now)
            self.page = PageStanding(status.face.table, code, self._ages.of("page", code))

    def _show(self, part: str, view: Callable[[*_Sources], object], *sources: *_Sources) -> None:
        """Show a part of the players' page. The function `view` makes the part from the `sources`. The part is made
        anew only if at least one of the sources has been replaced by another object since the last call."""
        if not _same(self._made_of.get(part), sources):
            self._made_of[part] = sources
            self.players.show(part, view(*sources))


def _same(before: tuple[object, ...] | None, now: tuple[object, ...]) -> bool:
    return before is not None and all(map(is_, before, now))


def application(screen: Screen, control: Path | None = None, key: str | None = None, face: Face = SHIPPED) -> ASGIApp:
    """Return the web application with all pages, in the house's look (`face`), and their streams of events.

    With a `key`, the technician's page is only for whoever has that key, and finished rounds are asked for at the
    socket `control`.
    """
    pages, technician = _Pages(screen, face), _TechniciansPages(screen, control, key)
    return Starlette(
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
        routes=[
            Route("/", pages.page),
            Route("/events", pages.events),
            *technician.routes(),
            Route("/help", pages.help),
            Route("/checkpoint", pages.checkpoint),
            Route("/metrics", pages.metrics),
            Route(PAGE_STANDING, pages.standing),
            Route("/alive/{kiosk}", pages.alive),
            Route("/alive/{kiosk}/age", pages.age),
            Route("/favicon.ico", pages.icon),
            *face.routes(),
            Mount("/pages", StaticFiles(directory=_PAGES)),
        ],
    )


def _place(request: Request) -> bytes:
    return place_of((request.client.host, request.client.port) if request.client else None)


def _stream(request: Request, audience: Audience, place: bytes, languages: tuple[str, ...] = SIDE_BY_SIDE) -> Response:
    """Return the stream of a page's events as the answer to a request. If the address `place` has too many streams
    open, refuse the request. The stream is compressed for a browser that accepts gzip."""
    if not audience.has_room(place):
        return PlainTextResponse("This address has too many streams of this page open.\n", 503)
    events, headers = audience.events(place, languages), {"vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)
    headers |= {"content-encoding": "gzip"}
    return StreamingResponse(packed(events), media_type="text/event-stream", headers=headers)


class _Pages:
    """The web pages that everybody may see, such as the players' page and the rules."""

    def __init__(self, screen: Screen, face: Face) -> None:
        self._screen = screen
        self._face = face

    async def page(self, request: Request) -> Response:
        languages = self._screen.languages(request)
        return HTMLResponse(self._face.filled(filled(_PLAYERS, languages, "label", "link"), languages))

    async def events(self, request: Request) -> Response:
        place, players = _place(request), self._screen.players
        if self._screen.kiosks.knows(place, request.query_params.get("kiosk", "")):
            place = b"a kiosk's own"
        return _stream(request, players, place, self._screen.languages(request))

    async def alive(self, request: Request) -> Response:
        self._screen.kiosks.painted(_place(request), request.path_params["kiosk"])
        return Response(status_code=204)

    async def age(self, request: Request) -> Response:
        return JSONResponse({"age_s": self._screen.kiosks.age_s(_place(request), request.path_params["kiosk"])})

    async def metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._screen.metrics(), media_type=CONTENT_TYPE)

    async def standing(self, _request: Request) -> Response:
        return JSONResponse(to_builtins(self._screen.page if self._screen.feed.live else None))

    async def icon(self, _request: Request) -> Response:
        return FileResponse(web.ICON)

    async def checkpoint(self, _request: Request) -> Response:
        feed = self._screen.feed
        if (checkpoint := feed.said.checkpoint) is None or not feed.live:
            return PlainTextResponse("The table has signed no checkpoint yet, or is not heard.\n", 404)
        return HTMLResponse(checkpoint_page(checkpoint))

    async def help(self, request: Request) -> Response:
        return HTMLResponse(rules_page(self._screen.feed.said.placard, self._screen.languages(request)))


class _TechniciansPages:
    """The web pages for technicians. If there is a `key`, only whoever has the key may see them."""

    def __init__(self, screen: Screen, control: Path | None, key: str | None) -> None:
        self._screen = screen
        self._control = control
        self._key = key

    def routes(self) -> list[Route]:
        return [
            Route(f"/technician{path}", self._guarded(answer))
            for path, answer in (
                ("", self._page),
                ("/events", self._events),
                ("/rounds.csv", self._rounds),
                ("/rounds.json", self._rounds),
                ("/hand", self._hand),
            )
        ]

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            said = request.query_params.get("key", "").encode()
            if self._key is not None and not secrets.compare_digest(said, self._key.encode()):
                return PlainTextResponse("Use the address that `tablectl screen --supervisor` printed.\n", 403)
            return await answer(request)

        return guarded

    async def _page(self, _request: Request) -> Response:
        return HTMLResponse(with_money((_PAGES / "technician.html").read_text("utf-8")))

    async def _events(self, request: Request) -> Response:
        return _stream(request, self._screen.technicians, _place(request))

    async def _rounds(self, request: Request) -> Response:
        await self._screen.look_back()
        rows = rounds_of(self._screen.past.events)
        if request.url.path.endswith(".csv"):
            return PlainTextResponse(rounds_csv(rows), media_type="text/csv")
        return JSONResponse(to_builtins(rows))

    async def _hand(self, request: Request) -> Response:
        if self._control is None or self._key is None:
            do = "A supervisor can see a hand with its frames on another screen: tablectl screen TABLE.toml"
            return PlainTextResponse(f"{do} --supervisor\n", 403)
        try:
            answer = await _asked(self._control, {"do": "replay", "round": request.query_params.get("round", "")})
        except (OSError, ValueError, TimeoutError) as error:
            return PlainTextResponse(f"The table does not answer: {error}\n", 503)
        if answer.hand is None:
            return PlainTextResponse(f"{answer.what} {answer.do}\n", 404)
        inline = web.HEADERS["Content-Security-Policy"].replace("style-src 'self'", "style-src 'unsafe-inline'")
        return HTMLResponse(hand_page(answer.hand), headers={"Content-Security-Policy": inline})


async def _asked(control: Path, request: dict[str, str]) -> Answer:
    """Send a request to the table's control socket, and return the table's answer. Raises OSError, ValueError or
    TimeoutError if no answer comes."""
    reader, writer = await asyncio.open_unix_connection(control, limit=_MOST_ANSWER_BYTES)
    try:
        writer.write(json.dumps(request).encode() + b"\n")
        async with asyncio.timeout(_PATIENCE_S):
            return msgspec.json.decode(await reader.readline(), type=Answer)
    finally:
        writer.close()


_PLAYERS = (_PAGES / "players.html").read_text("utf-8")


def serve(
    sockets: Sockets,
    host: str,
    port: int,
    names: Collection[str] = (),
    supervisor: bool = False,
    face: Face = SHIPPED,
    day_begins: str = "06:00",
) -> int:
    """Serve a table's web pages, in the house's look (`face`), until SIGTERM or Ctrl-C. With `supervisor`, serve
    finished rounds too, to whoever has the key in the printed address. The house's gaming day begins at `day_begins`,
    HH:MM.

    Browsers may address the server by `host`, by one of `names`, by the machine's own name, or by an address in
    numbers. Raises TableError `screen_address` if the server cannot listen at `host` and `port`.
    """
    listening, address = web.listen(host, port)
    key = secrets.token_urlsafe(24) if supervisor else None
    if key is None:
        tell(f"The screen is at {address}", Kind.PAGE_SERVED, sys.stdout, "tablectl")
    else:  # for whoever started it alone, and for no log's fields
        print(f"The screen is at {address}technician?key={key}", flush=True)
    asyncio.run(_serve(Screen(sockets, day_begins), sockets.control, listening, (host, *names), key, face))
    return 0


async def _serve(
    screen: Screen, control: Path, listening: socket.socket, names: Collection[str], key: str | None, face: Face
) -> None:
    app = application(screen, control, key, face)
    await web.serve(app, listening, names, screen.feed.run(), screen.keep_looking_back())
