"""The code that all web servers of the project share: HTTP headers, a listening socket, and serving until SIGTERM or
Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Coroutine
from pathlib import Path
from typing import Any

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.basics.errors import TableError
from controller.basics.notify import notify
from controller.people.screen.door import Connection, Known

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""A page loads from its own server alone, and no other page may frame it."""

ICON = Path(__file__).with_name("pages") / "icon.svg"

_PING_S = 2.0


class Headed:
    """An ASGI wrapper that adds each HTTP header in `HEADERS` to every answer that does not have it yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, said in HEADERS.items():
                    headers.setdefault(name, said)
            await send(message)

        await self._app(scope, receive, headed)


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Open a socket that listens at this host and port. Return the socket, and the address that a browser uses for it.
    Raises TableError `screen_address`."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        do = "Give a free port of this machine, for example --listen 127.0.0.1:8080."
        raise TableError("screen_address", f"The screen cannot listen at {host}:{port}: {error}.", do) from None
    shown = f"[{host}]" if ":" in host else host
    return listening, f"http://{shown}:{listening.getsockname()[1]}/"


async def serve(
    app: ASGIApp, listening: socket.socket, names: Collection[str], *beside: Coroutine[Any, Any, None]
) -> None:
    """Serve `app` until SIGTERM or Ctrl-C, and run the coroutines `beside` meanwhile. If one of them ends, the server
    stops.

    Browsers may address the server by its `names`, by the machine's own name, or by an address in numbers.
    """
    config = uvicorn.Config(
        Headed(Known(app, names)),
        http=Connection,
        ws="none",
        backlog=128,  # so many are accepted at once, before the door sees them
        lifespan="off",
        log_level="error",  # a warning tells only what a stranger sent
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    tasks = [asyncio.create_task(work) for work in (*beside, _keep_pinging())]
    for task in tasks:
        task.add_done_callback(lambda _task: setattr(server, "should_exit", True))
    notify("READY=1")
    await server.serve([listening])
    for task in tasks:
        task.cancel()
    for failed in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(failed, Exception):
            raise failed


async def _keep_pinging() -> None:
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(_PING_S)
