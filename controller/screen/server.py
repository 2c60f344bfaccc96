"""`tablectl screen`: the pages of one table, for the monitor at the table and for whoever may look at it.

The server reads the table's feed and answers GET alone. It opens no journal, asks the table nothing, and takes no word
from a browser but that it is there.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from html import escape
from operator import is_
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.errors import TableError
from controller.notify import notify
from controller.screen.audience import MOST, Audience
from controller.screen.feed import Feed
from controller.screen.hands import hand_view, meters_view
from controller.screen.placards import placard_view
from controller.screen.shoes import shoe_view
from controller.screen.technicians import Ages, hand_rows, hands_csv, technician_view
from controller.screen.wording import LANGUAGES, words

_PAGES = Path(__file__).with_name("pages")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PING_S = 2.0


class Screen:
    """What the pages show, made anew with each line of the feed."""

    def __init__(self, feed: Path) -> None:
        self.feed = Feed(feed, self._changed)
        self.players, self.technicians = Audience(), Audience()
        self._ages = Ages()
        self._made_of: dict[str, list[object]] = {}
        self._changed()

    def _changed(self) -> None:
        said = self.feed.said
        for audience in (self.players, self.technicians):
            audience.show("link", {"live": self.feed.live})
        for part, (view, *names) in _PLAYERS_PARTS.items():
            sources = [said.get(name) for name in names]
            if None not in sources and not _same(self._made_of.get(part), sources):
                self._made_of[part] = sources
                self.players.show(part, view(*sources))
        if {"placard", "rounds", "status"} <= said.keys():
            told = technician_view(said["placard"], said["rounds"], said["status"], self._ages)
            self.technicians.show("now", told)


_PLAYERS_PARTS: dict[str, tuple[Callable[..., object], *tuple[str, ...]]] = {
    "placard": (placard_view, "placard"),
    "shoe": (shoe_view, "rounds"),
    "meters": (meters_view, "placard", "status"),
    "hand": (hand_view, "placard", "status"),
}
"""What the players' page is sent, and which lines of the feed it is made of."""


def _same(before: list[object] | None, now: list[object]) -> bool:
    return before is not None and all(map(is_, before, now))


def application(screen: Screen) -> ASGIApp:
    """The pages, and what feeds them."""

    async def page(_request: Request) -> Response:
        return HTMLResponse(_PLAYERS)

    def streamed(audience: Audience) -> Response:
        if screen.players.browsers + screen.technicians.browsers >= MOST:
            return PlainTextResponse("There are too many browsers on this screen.\n", 503)
        return StreamingResponse(audience.events(), media_type="text/event-stream")

    async def events(_request: Request) -> Response:
        return streamed(screen.players)

    async def technician(_request: Request) -> Response:
        return HTMLResponse((_PAGES / "technician.html").read_text("utf-8"))

    async def technician_events(_request: Request) -> Response:
        return streamed(screen.technicians)

    async def hands(request: Request) -> Response:
        rounds = screen.feed.said.get("rounds", {"shoe": None, "hands": []})
        if request.url.path.endswith(".csv"):
            return PlainTextResponse(hands_csv(rounds), media_type="text/csv")
        return JSONResponse(hand_rows(rounds))

    async def help_(request: Request) -> Response:
        language = request.query_params.get("lang", "both")
        return HTMLResponse(_help(LANGUAGES if language not in LANGUAGES else (language,)))

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/events", events),
            Route("/technician", technician),
            Route("/technician/events", technician_events),
            Route("/technician/hands.csv", hands),
            Route("/technician/hands.json", hands),
            Route("/help", help_),
            Mount("/pages", StaticFiles(directory=_PAGES)),
        ]
    )
    return _Headed(app, _HEADERS)


class _Headed:
    """Every answer with these headers."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, headed)


def _filled(name: str) -> str:
    """A page with the words of every language where it says `{{label.player}}`."""
    text = (_PAGES / name).read_text("utf-8")
    for section in ("label", "link"):
        for key in words(LANGUAGES[0])[section]:
            text = text.replace(f"{{{{{section}.{key}}}}}", _spans(section, key))
    return text


def _spans(section: str, key: str) -> str:
    return "".join(f'<span lang="{each}">{escape(str(words(each)[section][key]))}</span>' for each in LANGUAGES)


def _help(languages: tuple[str, ...]) -> str:
    columns = []
    for language in languages:
        told = words(language)["help"]
        parts = (f"<h2>{escape(part['title'])}</h2><p>{escape(part['text'])}</p>" for part in told["part"])
        columns.append(f'<section lang="{language}"><h1>{escape(told["title"])}</h1>{"".join(parts)}</section>')
    return (_PAGES / "help.html").read_text("utf-8").replace("{{columns}}", "".join(columns))


_PLAYERS = _filled("players.html")


def serve(feed: Path, host: str, port: int) -> int:
    """Serve the pages until SIGTERM or Ctrl-C. Raises TableError `screen_address` where nobody can listen there."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        do = "Give a free port of this machine, for example --listen 127.0.0.1:8080."
        raise TableError("screen_address", f"Nobody can listen at {host}:{port}: {error}.", do) from None
    shown = f"[{host}]" if ":" in host else host
    print(f"The screen is at http://{shown}:{listening.getsockname()[1]}/", flush=True)
    asyncio.run(_serve(Screen(feed), listening))
    return 0


async def _serve(screen: Screen, listening: socket.socket) -> None:
    config = uvicorn.Config(
        application(screen),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    beside = [asyncio.create_task(work) for work in (screen.feed.run(), _keep_pinging())]
    for task in beside:
        task.add_done_callback(lambda _task: setattr(server, "should_exit", True))  # it never ends by itself
    notify("READY=1")
    await server.serve([listening])
    for task in beside:
        task.cancel()
    for failed in await asyncio.gather(*beside, return_exceptions=True):
        if isinstance(failed, Exception):
            raise failed


async def _keep_pinging() -> None:
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(_PING_S)
