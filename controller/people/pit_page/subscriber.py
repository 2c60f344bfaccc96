"""The page's client at the broker. It hears what tables and the pit publish, and never publishes."""

from __future__ import annotations

import secrets
import time
from typing import Any, NoReturn

from msgspec import Struct
from paho.mqtt.enums import MQTTErrorCode

from controller.basics.errors import TableError
from controller.contract.bounds import MOST_PAYLOAD_BYTES, TABLE
from controller.contract.canonical import parse_object
from controller.contract.topics import Topics
from controller.contract.wire.mqtt_link import Link, new_run
from controller.contract.wire.mqtt_tls import TlsFiles, client_context

NOT_YET = "not connected yet"
"""Why nothing is heard at the start."""

_KEEPALIVE_S = 10
_TURN_S = 0.5
_RETRY_S = 1.0
_MOST_TABLES = 10_000  # anybody can invent names of tables
_LONGEST = 100  # characters of what is shown
_SHOWN = (
    "online",
    "epoch",
    "phase",
    "shoe",
    "round",
    "fault",
    "pit",
    "unacknowledged",
    "oldest_unacknowledged_at",
)
_LINKS = ("shoe", "journal")


class HeardState(Struct, frozen=True):
    """The part of a table's last published state that the page shows, and the time in ms since 1970 from which the
    table has been online, or offline."""

    state: dict[str, Any]
    since_ms: int

    @property
    def online(self) -> bool:
        """Whether the table's program is connected to the broker, by its own state."""
        return self.state.get("online") is True


class Subscriber:
    """The connection to the broker. `run` runs in a thread and fills the attributes below; all other code only reads
    them.

    `why_not`: why nothing is heard; None while the broker is connected. `pit_heard_ms`: when the pit last published, in
    ms since 1970; None before this program has heard the pit.
    """

    def __init__(self, host: str, port: int, root: str, tls: TlsFiles | None) -> None:
        self._host, self._port, self._root, self._tls = host, port, root, tls
        self._every = Topics(root, "+")
        self._ended: str | None = None
        self.why_not: str | None = NOT_YET
        self.pit_heard_ms: int | None = None
        self.states: dict[str, HeardState] = {}

    def run(self) -> NoReturn:
        """Listen at the broker for ever, and connect again a second after a connection ends, whatever ended it."""
        while True:
            self.why_not = self._listen()
            time.sleep(_RETRY_S)

    def _listen(self) -> str:
        """Serve one connection until it ends. Returns why it ended."""
        self._ended = None
        topics = (self._every.state, self._every.meters)
        name = f"pit-page-{secrets.token_hex(4)}"
        own_topic = f"{self._root}/{name}"  # on which nobody publishes: the page has nothing to say
        link = Link(self, self._host, self._port, name, _KEEPALIVE_S, topics, own_topic, new_run())
        try:
            link.dial(None if self._tls is None else client_context(self._tls))
        except (OSError, ValueError) as error:
            return f"cannot reach the broker {self._host}:{self._port}: {error}"
        except TableError as error:
            return error.what
        try:
            while link.loop(_TURN_S) is MQTTErrorCode.MQTT_ERR_SUCCESS and self._ended is None:
                pass
        finally:
            link.disconnect()
            link.hang_up()
        return self._ended or f"the broker {self._host}:{self._port} went away"

    # What paho's loop calls.

    def link_stands(self) -> None:
        """Note that the broker has accepted the subscriptions."""
        self.why_not = None

    def link_ended(self, why: str) -> None:
        """Note that the connection has ended, and why."""
        self._ended = why

    def link_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Note a table's state, or the time at which the pit published its meters."""
        now_ms = time.time_ns() // 1_000_000
        if topic == self._every.meters:
            if not retained:
                self.pit_heard_ms = now_ms
            return
        table = topic.rpartition("/")[0].rpartition("/")[2]
        before = self.states.get(table)
        if not TABLE.fullmatch(table):
            return  # the pit itself tells people
        if len(payload) > MOST_PAYLOAD_BYTES["state"] or (before is None and len(self.states) >= _MOST_TABLES):
            return
        now = HeardState(_shown(parse_object(payload)), now_ms)
        if before is not None and before.online == now.online:
            now = HeardState(now.state, before.since_ms)
        self.states = {**self.states, table: now}

    def link_unreadable(self, topic: str, why: str) -> None:
        """Ignore an unreadable message, because the pit itself tells people of it."""

    def link_own_topic(self, ours: bool) -> None:
        """Ignore the client's own topic, on which nobody publishes."""

    def link_answered(self, token: int, reason_code: int) -> None:
        """Ignore an answer to a publication, because this client publishes nothing."""


def _shown(state: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a table's state that the page can show. The rest is not kept, because anybody can publish
    250,000 bytes for each of many invented tables."""
    shown: dict[str, Any] = {
        key: said for key in _SHOWN if isinstance(said := state.get(key), int | str) and len(str(said)) <= _LONGEST
    }
    if isinstance(links := state.get("links"), dict):
        shown["links"] = {link: links.get(link) is True for link in _LINKS}
    return shown
