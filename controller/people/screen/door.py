"""Limits the use of the web server: how long a client may take for a request, how many connections there may be, and
under which host names the server answers."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Collection
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """One connection to the web server. If there are too many connections, the client address that has the most of them
    loses one.

    The server closes that address's connection which has waited longest for a complete request. If all connections of
    the address are being answered, the newest is closed. So a client that sends only half a request keeps nobody out,
    and one address keeps no other address out.
    """

    asked_within_s = 10.0
    """From the connection's beginning, and from the end of each answer, the next whole request comes within this time.
    An answer that waits in this server for a slow reader is read within this time too."""

    most = 256
    """The most connections at once. A process may open 1024 files, and a hundred browsers are a full house."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._since_s = 0.0
        self._ends: asyncio.TimerHandle | None = None
        self._place = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as H11Protocol does
        super().connection_made(transport)
        self._place = place_of(self.client)
        self._await_request()
        every = [each for each in self.connections if isinstance(each, Connection)]
        if len(every) > self.most:
            of_place = Counter(each._place for each in every)
            fullest = max(of_place, key=lambda place: (of_place[place], place == self._place))
            crowd = [each for each in every if each._place == fullest]
            waiting = [each for each in crowd if not each._is_answered]
            (min if waiting else max)(waiting or crowd, key=lambda connection: connection._since_s)._end()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset()  # a timer would keep each connection of a flood in memory

    @property
    def _is_answered(self) -> bool:
        """Tell whether a whole request has come on this connection, and its answer is not finished yet."""
        return bool(self.cycle) and not (self.cycle.more_body or self.cycle.response_complete)

    def _await_request(self) -> None:
        self._unset()
        self._since_s = self.loop.time()
        self._ends = self.loop.call_later(self.asked_within_s, self._end_late)

    def _unset(self) -> None:
        if self._ends is not None:
            self._ends.cancel()

    def _end_late(self) -> None:
        if not self._is_answered:
            self._end()

    def _end(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


def place_of(client: tuple[str, int] | None) -> bytes:
    """Return the address that a connection comes from: a whole IPv4 address, or only the first 64 bits of an IPv6
    address. The rest is left out, because a machine may take any of the 2^64 addresses of its IPv6 network."""
    address = ip_address(client[0] if client else 0)
    return address.packed[:8] if isinstance(address, IPv6Address) else address.packed


OWN_PLACES = frozenset({place_of(("127.0.0.1", 0)), place_of(("::1", 0))})
"""Where connections of this machine itself come from."""


class Known:
    """Answers a request only if its Host header is a numeric address or one of the server's own names. Any other name
    is refused.

    Otherwise the owner of a foreign web page could let the page's name point to this server, and read the pages here
    through a browser of the house.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        own = socket.gethostname()
        self._app = app
        self._names = frozenset(name.lower().rstrip(".") for name in ("localhost", own, f"{own}.local", *names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = self._knows(Headers(scope=scope).get("host", ""))
        await (self._app if known else _UNKNOWN)(scope, receive, send)

    def _knows(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
            return name in self._names or bool(ip_address(name))
        except ValueError:
            return False


_UNKNOWN = PlainTextResponse(
    "This server does not know itself by that name. Ask by its address in numbers, for example\n"
    "http://192.0.2.10:8080/, or start the server with --names and the name.\n",
    421,
)
