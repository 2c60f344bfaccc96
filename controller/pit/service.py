"""The pit on its broker: what the tables send goes to the ledger, and what the ledger has committed is acknowledged.

One thread. The network is turned by hand, so that everything waiting in it becomes one transaction and one
acknowledgement a table, and an exception in a callback ends the process instead of a thread nobody watches.

MQTT's own acknowledgement counts for nothing here: paho sends it as soon as `on_message` returns, and it says only that
the broker may forget the message. What a table goes by is the pit's retained ack, published after the commit; what is
lost in between it sends again. So there is no session to keep: each connection is a new client with a clean start,
which also keeps paho from sending an old ack after a newer one.
"""

from __future__ import annotations

import secrets
import sys
import time
from typing import Any, NoReturn

from paho.mqtt.client import Client, error_string
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.contract.topics import Topics
from controller.pit.ledger import Ack, Ledger, RefusedError

_KEEPALIVE_S = 10
_WAIT_S = 1.0  # for the network, when nothing comes; messages and signals cut it short
_RETRY_S = 0.5
_BATCH = 500  # messages in one transaction at most, so that a flood cannot keep the pit from acknowledging


class _ConnectionEndedError(Exception):
    """The connection will not do, and why."""


class Pit:
    """The reference pit for every table below `root`, on one broker.

    Committed events go to standard output, a line each; alarms and the connection's fortunes to standard error. An
    alarm that stands is said once, and again only when its table has had an event committed since.
    """

    def __init__(self, ledger: Ledger, host: str, port: int, root: str, adopt_new: bool) -> None:
        self._ledger = ledger
        self._host = host
        self._port = port
        self._root = root
        self._adopt_new = adopt_new
        self._every_table = Topics(root, "+")
        self._arrived: list[tuple[str, bytes]] = []  # topics and payloads waiting for the ledger
        self._acked: dict[str, Ack] = {}  # what each table was told last on this connection
        self._on_the_way: dict[int, str] = {}  # acks the broker has not answered: paho's number, the table
        self._why_ended = ""  # what was said when the connection ended, until one stands again
        self._alarms: dict[str, dict[str, RefusedError]] = {}  # said, by table and code

    def run(self) -> NoReturn:
        """Serve until the process is ended. Raises TableError when the ledger will not do."""
        while True:
            try:
                self._serve()
            except _ConnectionEndedError as ended:
                if str(ended) != self._why_ended:
                    _say(f"{ended}; trying again")
                self._why_ended = str(ended)
            time.sleep(_RETRY_S)

    def _serve(self) -> NoReturn:
        """One connection, from its beginning to its end."""
        client = self._new_client()
        self._arrived.clear()
        self._acked.clear()
        self._on_the_way.clear()
        try:
            client.connect(self._host, self._port, _KEEPALIVE_S, clean_start=True)
        except OSError as error:
            raise _ConnectionEndedError(f"cannot reach the broker {self._host}:{self._port}: {error}") from error
        try:
            while True:
                outcome = self._take_in(client)
                self._settle(client)
                if outcome is not MQTTErrorCode.MQTT_ERR_SUCCESS:
                    raise _ConnectionEndedError(
                        f"the broker {self._host}:{self._port} went away: {error_string(outcome)}"
                    )
        finally:
            client.disconnect()

    def _take_in(self, client: Client) -> MQTTErrorCode:
        """Wait for the network, then turn it until nothing more is waiting in it."""
        outcome, before, wait_s = MQTTErrorCode.MQTT_ERR_SUCCESS, -1, _WAIT_S
        while outcome is MQTTErrorCode.MQTT_ERR_SUCCESS and before < len(self._arrived) < _BATCH:
            before = len(self._arrived)
            outcome = client.loop(wait_s)
            wait_s = 0.0
        return outcome

    def _settle(self, client: Client) -> None:
        """Bring what arrived to the ledger, then acknowledge, then tell people."""
        arrived, self._arrived = self._arrived, []
        events: list[tuple[str, bytes]] = []
        for topic, payload in arrived:
            table, kind = topic.split("/")[-2:]
            if kind == "event":
                events.append((table, payload))
            else:
                self._meet(client, table, payload)
        if not events:
            return
        received = self._ledger.receive(events)
        for table, ack in received.acks.items():
            self._acknowledge(client, table, ack)
        for event in received.committed:
            self._alarms.pop(event.table, None)
            print(event.table, event.seq, event.type, flush=True)
        for table, refusal in received.refused:
            self._alarm(table, refusal)

    def _meet(self, client: Client, table: str, payload: bytes) -> None:
        """A table's state came: perhaps an epoch to adopt, or one that was adopted meanwhile."""
        try:
            if self._ledger.meet(table, payload, self._adopt_new):
                _say(f"adopted table {table}, which was new")
        except RefusedError as alarm:
            self._alarm(table, alarm)
        ack = self._ledger.ack(table)
        if ack is not None and ack != self._acked.get(table):
            self._acknowledge(client, table, ack)

    def _acknowledge(self, client: Client, table: str, ack: Ack) -> None:
        info = client.publish(Topics(self._root, table).ack, ack.payload(), qos=1, retain=True)
        self._on_the_way[info.mid] = table
        self._acked[table] = ack

    def _alarm(self, table: str, alarm: RefusedError) -> None:
        said = self._alarms.setdefault(table, {}).get(alarm.code)
        if said is None or said.what != alarm.what:
            self._alarms[table][alarm.code] = alarm
            print(alarm, file=sys.stderr, flush=True)

    def _new_client(self) -> Client:
        client = Client(
            CallbackAPIVersion.VERSION2, client_id=f"pit-{secrets.token_hex(4)}", protocol=MQTTProtocolVersion.MQTTv5
        )
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        return client

    def _on_connect(self, client: Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        if reason.is_failure:
            raise _ConnectionEndedError(f"the broker refused the connection: {reason}")
        topics = (self._every_table.event, self._every_table.state)
        client.subscribe([(topic, SubscribeOptions(qos=1)) for topic in topics])

    def _on_subscribe(self, client: Client, _data: Any, _mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        refused = [code for code in codes if code.is_failure]
        if refused:
            raise _ConnectionEndedError(f"the broker refused the subscription below {self._root}: {refused[0]}")
        self._why_ended = ""
        _say(f"connected to the broker {self._host}:{self._port}, listening below {self._root}")
        for table, ack in self._ledger.acks().items():
            self._acknowledge(client, table, ack)

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        self._arrived.append((message.topic, bytes(message.payload)))

    def _on_publish(self, _client: Client, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        table = self._on_the_way.pop(mid)
        if reason.is_failure:
            self._alarm(
                table,
                RefusedError(
                    "ack_refused",
                    f"The broker refused the acknowledgement for table {table}: {reason}.",
                    f"Let the pit publish on {Topics(self._root, table).ack} in the broker's access list.",
                ),
            )


def _say(what: str) -> None:
    print(f"pit: {what}", file=sys.stderr, flush=True)
