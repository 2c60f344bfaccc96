"""The web server of the pit's page and metrics. It answers only GET requests, and takes no input from a browser."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Collection
from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from controller.basics.errors import TableError
from controller.basics.journald import Kind, tell
from controller.people.exposition import CONTENT_TYPE
from controller.people.pit_page.look import DrawnUp, Look
from controller.people.pit_page.metrics import pit_metrics
from controller.people.pit_page.sight import NAME, Sight
from controller.people.pit_page.subscriber import Subscriber
from controller.people.pit_page.view import parts
from controller.people.screen import web
from controller.people.screen.audience import Audience
from controller.people.screen.wording import chosen, filled, words
from controller.pit.reference.opening import Place
from controller.pit.reference.standing import Standing, read_account, read_standing
from controller.words.found import LANGUAGES, houses_languages

_PAGES = Path(__file__).with_name("pages")
_LOOK_S = 1.0
_ACCOUNT_AT_MOST_EVERY_S = 300.0
_REST = 20  # after an account that took a minute, rest for twenty: drawing it up reads the whole ledger


class PitPage:
    """The source of what the pit's page and metrics show: it reads the ledger each second and listens at the broker."""

    def __init__(self, at: Place, subscriber: Subscriber) -> None:
        self._at = at
        self._subscriber = subscriber
        self._standing: Standing | None = None
        self._ledger_error: TableError | None = None
        self._account: DrawnUp | None = None
        self._sight = Sight()
        self.audience = Audience()

    def look(self) -> Look:
        """Return everything that is known of the pit now."""
        subscriber = self._subscriber
        return Look(
            _now_ms(),
            self._standing,
            self._ledger_error,
            self._account,
            subscriber.states,
            subscriber.why_not,
            subscriber.pit_heard_ms,
        )

    async def keep_looking(self) -> None:
        """Read the ledger once a second, for ever, and send the parts that changed to the open pages."""
        while True:
            try:
                self._standing = await asyncio.to_thread(read_standing, self._at)
                self._ledger_error = None
            except TableError as error:
                self._ledger_error = error
            look = self.look()
            self._sight.see(look)
            for name, said in parts(look).items():
                self.audience.show(name, said)
            self.audience.show("now", look.now_ms)
            await asyncio.sleep(_LOOK_S)

    async def keep_drawing_up(self) -> None:
        """Compute the pit's account every five minutes, for ever. If computing takes long, do it less often."""
        while True:
            began_s = time.monotonic()
            try:
                account = await asyncio.to_thread(read_account, self._at)
                self._account = DrawnUp(account, _now_ms())
            except TableError:
                pass  # `keep_looking` tells why the ledger cannot be read
            took_s = time.monotonic() - began_s
            await asyncio.sleep(max(_ACCOUNT_AT_MOST_EVERY_S, _REST * took_s))


def application(page: PitPage) -> ASGIApp:
    """Return the web application with its addresses: the pit's page, the stream of changes to the page, and the
    metrics."""

    async def html(request: Request) -> Response:
        return HTMLResponse(filled(_PAGE, _languages(request), "pit"))

    async def events(request: Request) -> Response:
        return StreamingResponse(page.audience.events(languages=_languages(request)), media_type="text/event-stream")

    async def metrics(_request: Request) -> Response:
        return PlainTextResponse(pit_metrics(page.look()), media_type=CONTENT_TYPE)

    async def icon(_request: Request) -> Response:
        return FileResponse(web.ICON)

    return Starlette(
        routes=[
            Route("/", html),
            Route("/events", events),
            Route("/metrics", metrics),
            Route("/favicon.ico", icon),
            Mount("/pages", StaticFiles(directory=_PAGES)),
        ]
    )


def _languages(request: Request) -> tuple[str, ...]:
    return chosen(request.query_params.get("lang", ""), houses_languages())


def _choices() -> str:
    """Return the HTML links by which a reader chooses the page's language, each labelled in its own language."""
    own = {each: words(each)["label"]["language"] for each in LANGUAGES}
    return " ".join(f'<a href="?lang={each}" lang="{each}">{escape(name)}</a>' for each, name in own.items())


_PAGE = (_PAGES / "pit.html").read_text("utf-8").replace("{{choices}}", _choices())


def serve(at: Place, subscriber: Subscriber, host: str, port: int, names: Collection[str]) -> int:
    """Serve the pit's page until SIGTERM or Ctrl-C. `names` are further host names by which browsers may ask for the
    page. Raises TableError with the code `screen_address` or `house_file`."""
    houses_languages()  # what is wrong in the house's file is told here, and not to a browser
    listening, address = web.listen(host, port)
    threading.Thread(target=subscriber.run, daemon=True).start()
    tell(f"The pit's page is at {address}", Kind.PAGE_SERVED, sys.stdout, NAME)
    page = PitPage(at, subscriber)
    beside = page.keep_looking(), page.keep_drawing_up()
    asyncio.run(web.serve(application(page), listening, (host, *names), *beside))
    return 0


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
