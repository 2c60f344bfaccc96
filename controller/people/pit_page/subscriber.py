"""The MQTT client of the pit's page. It receives what tables and the pit publish, and publishes nothing itself."""

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
    """The last state that a table published, reduced to what the page shows. `since_ms` is the time since which the
    table has been online, or offline, in ms since 1970."""

    state: dict[str, Any]
    since_ms: int

    @property
    def online(self) -> bool:
        """Tell whether the table's last state says that its program is connected to the broker."""
        return self.state.get("online") is True


class Subscriber:
    """The connection of the pit's web page to the broker. The method `run` runs in a thread of its own and sets the
    attributes. All other code only reads them.

    `why_not` says why nothing is heard; it is None while the broker is connected. `pit_heard_ms` is the time at which
    the pit last published, in ms since 1970; it is None until this program has heard the pit.
    """

    def __init__(self, host: str, port: int, root: str, tls: TlsFiles | None) -> None:
        self._host, self._port, self._root, self._tls = host, port, root, tls
        self._every = Topics(root, "+")
        self._ended: str | None = None
        self.why_not: str | None = NOT_YET
        self.pit_heard_ms: int | None = None
        self.states: dict[str, HeardState] = {}

    def run(self) -> NoReturn:
        """Listen at the broker for ever. If the connection ends for any reason, connect again a second later."""
        while True:
            self.why_not = self._listen()
            time.sleep(_RETRY_S)

    def _listen(self) -> str:
        """Connect to the broker and listen until the connection ends. Return a text that says why it ended."""
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
        """Note that the broker has accepted the subscriptions, so that the page hears the tables from now on."""
        self.why_not = None

    def link_ended(self, why: str) -> None:
        """Record that the connection to the broker has ended, and why."""
        self._ended = why

    def link_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Record the state that a table published or, for a message with the pit's meters, the time at which the pit
        published it."""
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
        """Ignore an unreadable message. The pit receives the same message and reports it to people."""

    def link_own_topic(self, ours: bool) -> None:
        """Ignore the client's own topic, on which nobody publishes."""

    def link_answered(self, token: int, reason_code: int) -> None:
        """Ignore an answer to a publication, because this client publishes nothing."""


def _shown(state: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a table's published state that the page can show. The other fields are dropped to save
    memory, because anybody can publish 250,000 bytes for each of many invented tables."""
    shown: dict[str, Any] = {
        key: said for key in _SHOWN if isinstance(said := state.get(key), int | str) and len(str(said)) <= _LONGEST
    }
    if isinstance(links := state.get("links"), dict):
        shown["links"] = {link: links.get(link) is True for link in _LINKS}
    return shown
