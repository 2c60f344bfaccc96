"""The pit on its broker: what the tables send goes to the ledger, and what the ledger has committed is acknowledged.

The meters are said on every change, and often enough without one that a table knows the pit to be well. The awards'
steps are said once they are in the ledger, whoever put them there, a table's one after the other: each is said, and
said again, until the table's stream has told of it.

Before it says a word on a connection the pit reads its own retained acks: one that is further than the ledger tells
that the ledger is an older copy.

One thread. The network is turned by hand, so that everything waiting in it becomes one transaction and one
acknowledgement a table, and an exception in a callback ends the process instead of a thread nobody watches.

MQTT's own acknowledgement counts for nothing here: paho sends it as soon as `on_message` returns, and it says only that
the broker may forget the message. What a table goes by is the pit's retained ack, published after the commit; what is
lost in between it sends again. So there is no session to keep: each connection is a new client with a clean start,
which also keeps paho from sending an old ack after a newer one.
"""

from __future__ import annotations

import secrets
import socket
import sys
import time
from typing import Any, NoReturn, TextIO

from paho.mqtt.client import Client, error_string
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.contract.canonical import canonical
from controller.contract.topics import Topics
from controller.errors import TableError
from controller.mqtt_tls import TlsFiles, client_context
from controller.pit.awards import AwardStep
from controller.pit.clock import now_text
from controller.pit.incoming import RefusedError, parse
from controller.pit.ledger import Ack, Ledger
from controller.pit.sayings import Sayings

_KEEPALIVE_S = 10
_WAIT_S = 0.25  # for the network, when nothing comes; as often it is looked whether people have decided something
_METERS_AT_MOST_EVERY_S = 0.25
_METERS_AT_LEAST_EVERY_S = 1.5
_STEP_AGAIN_AFTER_S = 5.0
_METERS_SEQS = 1000  # numbers taken from the ledger at once: a restart leaves a gap, and costs no write a heartbeat
_RETRY_S = 0.5
_SESSION_TAKEN_OVER = 0x8E  # MQTT 5; Mosquitto says it from 2.0.15 on, an older one only closes the connection
_WITHOUT_A_WORD = 0x80  # paho's, where the line was cut
_PUSHED_OUT = 5  # connections in a row that were closed, each of them shorter than this:
_SHORT_S = 30.0
_MOST_ALARMS_STANDING = 1000  # tables whose alarms are remembered as said: their names may be anybody's invention
_BATCH = 500  # messages in one transaction at most, so that a flood cannot keep the pit from acknowledging


class _ConnectionEndedError(Exception):
    """The connection will not do, and why."""


class Pit:
    """The reference pit for every table below `root`, on one broker.

    Committed events go to standard output, a line each; alarms and the connection's fortunes to standard error. An
    alarm that stands is said once, and again only when its table has had an event committed since.
    """

    def __init__(
        self, ledger: Ledger, host: str, port: int, root: str, adopt_new: bool, tls: TlsFiles | None = None
    ) -> None:
        self._ledger = ledger
        self._host = host
        self._port = port
        self._root = root
        self._adopt_new = adopt_new
        self._tls = tls
        self._every_table = Topics(root, "+")
        self._arrived: list[tuple[str, bytes]] = []  # topics and payloads waiting for the ledger
        self._acked: dict[str, Ack] = {}  # what each table was told last on this connection
        self._asked_for: int | None = None  # paho's number of the subscription to the own acks
        self._on_the_way: dict[int, str] = {}  # what the broker has not answered: paho's number, the topic
        self._subscribed = False  # on this connection: what the broker retains has come
        self._listening = False  # on this connection: and was looked at
        self._greeted = False  # by the broker, on this connection
        self._same_broker = False  # it remembers what was said before this connection
        self._reason_code = 0  # of this connection's end
        self._pushed_out = 0  # how many times in a row another client seems to have taken our place
        self._boots: dict[str, object] = {}  # which run of each table's program is there; None for none
        self._steps_due: set[str] = set()  # tables whose awards may have steps to say
        self._steps_said: dict[str, tuple[int, float]] = {}  # each table's step that it has not told of, and when said
        self._meters_seqs = iter(range(0))
        self._meters_said: tuple[dict[str, int], float] | None = None  # on this connection: the levels, and when
        self._why_ended = ""  # what was said when the connection ended, until one stands again
        self._alarms: dict[str, dict[str, TableError]] = {}  # that stand, by table and code
        self._sayings = Sayings()
        self._awards_wait: bool | None = None  # for tables to be heard, as people were told
        self._awards_due = True  # to be looked at

    def run(self) -> NoReturn:
        """Serve until the process is ended. Raises TableError when the ledger will not do."""
        while True:
            began_s = time.monotonic()
            try:
                self._serve()
            except _ConnectionEndedError as ended:
                self._look_for_thief(short=time.monotonic() - began_s < _SHORT_S)
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
        self._subscribed = self._listening = self._greeted = self._same_broker = False
        self._reason_code = 0
        self._boots.clear()
        self._steps_said.clear()
        self._meters_said = None
        try:
            client.connect(self._host, self._port, _KEEPALIVE_S, clean_start=True)
        except (OSError, ValueError) as error:  # the latter for a host that cannot be one
            raise _ConnectionEndedError(f"cannot reach the broker {self._host}:{self._port}: {error}") from error
        try:
            while True:
                outcome = self._take_in(client)
                self._ledger.refuse_if_taken_over()
                self._settle(client)
                self._tell_what_was_counted()
                if self._subscribed and not self._listening:
                    self._begin_to_speak(client)
                if self._listening:
                    if self._ledger.others_wrote():
                        self._follow_others(client)
                    if self._awards_wait or self._awards_due:
                        self._look_whether_awards_wait()
                    self._say_steps(client)
                    self._say_meters(client)
                if outcome is not MQTTErrorCode.MQTT_ERR_SUCCESS:
                    broker = f"the broker {self._host}:{self._port}"
                    if not self._greeted:
                        hint = "does not speak MQTT in the clear" if self._tls is None else "refuses this certificate"
                        raise _ConnectionEndedError(f"{broker} hung up before a word; perhaps it {hint}: see its log")
                    raise _ConnectionEndedError(f"{broker} went away: {error_string(outcome)}")
        finally:
            client.disconnect()

    def _look_for_thief(self, short: bool) -> None:
        """A connection ended. Say, once a spell, where it seems that another client has taken the pit's place.

        With TLS the broker knows the pit by its certificate's name. That a connection which stood is closed may be
        anything; again and again, by a broker that was not restarted, it is somebody with the same name.
        """
        before = self._pushed_out
        if self._reason_code == _SESSION_TAKEN_OVER:
            self._pushed_out = max(before + 1, _PUSHED_OUT)
        elif self._tls is not None and self._same_broker and self._reason_code == _WITHOUT_A_WORD:
            self._pushed_out = before + 1 if short else 1
        else:
            self._pushed_out = 0
        if before < _PUSHED_OUT <= self._pushed_out:
            what = "Another client connects to the broker as the pit, and each pushes the other off."
            do = "Find it: a second pit, or somebody with a copy of the pit's certificate. Then give the pit a new one."
            _print(str(TableError("client_id_taken", what, do)), sys.stderr)

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
            elif kind == "ack":
                self._hear_own_ack(table, payload)
            else:
                self._meet(client, table, payload)
        if not events:
            return
        received = self._ledger.receive(events)
        for table, ack in received.acks.items():
            self._acknowledge(client, table, ack)
        for event in received.committed:
            self._alarms.pop(event.table, None)
            self._steps_due.add(event.table)
            _print(f"{event.table} {event.seq} {event.type}", sys.stdout)
            for alarm in event.alarms:
                self._alarm(event.table, alarm)
        for table, refusal in received.refused:
            self._alarm(table, refusal)

    def _hear_own_ack(self, table: str, payload: bytes) -> None:
        """The broker retains what this pit said, perhaps when it had a newer ledger."""
        try:
            self._ledger.said(table, payload)
        except RefusedError as alarm:
            self._alarm(table, alarm)

    def _begin_to_speak(self, client: Client) -> None:
        """The pit has read on this connection what it said before."""
        self._why_ended = ""
        _say(f"connected to the broker {self._host}:{self._port}, listening below {self._root}")
        self._listening = True
        for table, ack in self._ledger.acks().items():
            self._acknowledge(client, table, ack)
            self._steps_due.add(table)

    def _follow_others(self, client: Client) -> None:
        """People have decided something: on awards, or on which tables are heard in which epoch."""
        acks = self._ledger.acks()
        self._steps_due.update(acks)
        self._ledger.look_whether_heard(acks)
        self._awards_due = True
        for table, said in [*self._acked.items()]:  # of an epoch that was taken back nothing is committed any more
            acks.setdefault(table, self._ledger.ack_of(table, said.epoch))
        for table, ack in acks.items():
            if ack != self._acked.get(table):
                self._acknowledge(client, table, ack)

    def _look_whether_awards_wait(self) -> None:
        """Tell people when they have to wait with decisions on awards, and when that is over."""
        self._awards_due, why = False, self._ledger.undecidable()
        if why is not None and not self._awards_wait:
            self._awards_wait = True
            _say(f"awards cannot be decided on yet. {why.what}")
        elif why is None and self._awards_wait is not False and self._acked:
            self._awards_wait = False
            _say("every adopted table is heard: awards can be decided on")

    def _meet(self, client: Client, table: str, payload: bytes) -> None:
        """A table's state came: perhaps an epoch to adopt, or one that was adopted meanwhile."""
        try:
            if self._ledger.meet(table, payload, self._adopt_new):
                _say(f"adopted table {table}, which was new")
                self._awards_due = True
        except RefusedError as alarm:
            self._alarm(table, alarm)
        else:
            self._notice_return(table, payload)
        ack = self._ledger.ack(table)
        if ack is not None and ack != self._acked.get(table):
            self._acknowledge(client, table, ack)

    def _notice_return(self, table: str, state: bytes) -> None:
        """A table that came back may have missed the step that it was told last: it is said again."""
        message = parse(state)
        boot = message.get("boot") if message.get("online") is True else None
        if boot is not None and boot != self._boots.get(table):
            self._steps_said.pop(table, None)
            self._steps_due.add(table)
        self._boots[table] = boot

    def _say_steps(self, client: Client) -> None:
        """Say each table the first step that its stream has not told of. A later one waits for that: a table takes no
        step that is older than one it has, so what it missed could not be made good."""
        now_s = time.monotonic()
        again = {table for table, (_, at_s) in self._steps_said.items() if now_s - at_s >= _STEP_AGAIN_AFTER_S}
        for table in sorted(self._steps_due | again):
            step = self._first_unheard(table)
            if step is None:
                self._steps_said.pop(table, None)
            elif table in again or self._steps_said.get(table, (0, 0.0))[0] != step.seq:
                self._publish(client, Topics(self._root, table).award, step.payload())
                self._steps_said[table] = step.seq, now_s
        self._steps_due.clear()

    def _first_unheard(self, table: str) -> AwardStep | None:
        """The oldest step of the table's adopted epoch that its stream has not told of."""
        ack = self._ledger.ack(table)
        of_epoch = f"{table}/{ack.epoch}/" if ack is not None else ""
        return next((step for step in self._ledger.unheard_steps(table, 0) if step.hit.startswith(of_epoch)), None)

    def _say_meters(self, client: Client) -> None:
        levels, now_s = self._ledger.levels(), time.monotonic()
        if self._meters_said is not None:
            said, at_s = self._meters_said
            wait_s = _METERS_AT_LEAST_EVERY_S if levels == said else _METERS_AT_MOST_EVERY_S
            if now_s - at_s < wait_s:
                return
        seq = next(self._meters_seqs, None)
        if seq is None:
            self._meters_seqs = iter(self._ledger.meters_seqs(_METERS_SEQS))
            seq = next(self._meters_seqs)
        payload = canonical({"seq": seq, "at": now_text(), "meters": levels})
        self._publish(client, self._every_table.meters, payload, retain=True)
        self._meters_said = levels, now_s

    def _acknowledge(self, client: Client, table: str, ack: Ack) -> None:
        self._publish(client, Topics(self._root, table).ack, ack.payload(), retain=True)
        self._acked[table] = ack

    def _publish(self, client: Client, topic: str, payload: bytes, retain: bool = False) -> None:
        self._on_the_way[client.publish(topic, payload, qos=1, retain=retain).mid] = topic

    def _alarm(self, table: str, alarm: TableError) -> None:
        if len(self._alarms) >= _MOST_ALARMS_STANDING and table not in self._alarms:
            self._alarms.clear()
        said = self._alarms.setdefault(table, {}).get(alarm.code)
        if said is None or said.what != alarm.what:
            self._alarms[table][alarm.code] = alarm
            kept = not isinstance(alarm, RefusedError) or self._keep(table, alarm)
            if self._sayings.may_say(self._ledger.room_of(table), alarm, kept, time.monotonic()):
                _print(str(alarm), sys.stderr)

    def _keep(self, table: str, refusal: RefusedError) -> bool:
        """Whether the ledger has room for what was refused.

        Where a full disk does not take it, the pit goes on: no table's stream hangs on it, and people are told.
        """
        try:
            return self._ledger.keep(table, refusal)
        except TableError as error:
            _say(f"the next alarm is not kept: {error.what}")
            return True

    def _tell_what_was_counted(self) -> None:
        """Tell, once a minute, what was too much to be said one by one; and keep how much found no room."""
        for counted in self._sayings.over(time.monotonic()):
            if counted.more:
                _print(str(counted), sys.stderr)
            if counted.left_out:
                try:
                    self._ledger.count_left_out(counted.room, counted.code, counted.left_out)
                except TableError as error:
                    _say(f"{counted.left_out} alarms {counted.code} that were not kept are not counted: {error.what}")

    def _new_client(self) -> Client:
        client = Client(
            CallbackAPIVersion.VERSION2, client_id=f"pit-{secrets.token_hex(4)}", protocol=MQTTProtocolVersion.MQTTv5
        )
        if self._tls is not None:
            try:
                client.tls_set_context(client_context(self._tls))
            except TableError as error:  # a certificate that expired: the renewed one needs no restart
                raise _ConnectionEndedError(f"no connection to the broker: {error.what}") from error
        client.on_socket_open = _send_at_once
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        return client

    def _on_connect(self, client: Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        self._greeted = True
        if reason.is_failure:
            raise _ConnectionEndedError(f"the broker refused the connection: {reason}")
        # Own words first: what the broker retains of them must be here before a table's state is judged.
        self._asked_for = client.subscribe(self._every_table.ack, options=SubscribeOptions(qos=1, noLocal=True))[1]

    def _on_subscribe(self, client: Client, _data: Any, mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        refused = [code for code in codes if code.is_failure]
        if refused:
            raise _ConnectionEndedError(f"the broker refused the subscription below {self._root}: {refused[0]}")
        if mid == self._asked_for:
            topics = (self._every_table.event, self._every_table.state)
            client.subscribe([(topic, SubscribeOptions(qos=1)) for topic in topics])
        else:
            self._subscribed = True

    def _on_disconnect(self, _client: Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        self._reason_code = reason.value

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        self._same_broker = self._same_broker or message.retain
        self._arrived.append((message.topic, bytes(message.payload)))

    def _on_publish(self, _client: Client, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        topic = self._on_the_way.pop(mid)
        if reason.is_failure:
            *_, table, kind = topic.split("/")
            self._alarm(
                table,
                TableError(
                    f"{kind}_refused",
                    f"The broker refused what the pit says on {topic}: {reason}.",
                    f"Let the pit publish on {topic} in the broker's access list.",
                ),
            )


def _send_at_once(_client: Client, _data: Any, connection: Any) -> None:
    """A packet does not wait for the one before to have arrived: the kernel may take 40 ms to say so."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _say(what: str) -> None:
    _print(f"pit: {what}", sys.stderr)


def _print(line: str, to: TextIO) -> None:
    """In one piece: a pit that is killed leaves no half line for the next one to go on with."""
    to.write(f"{line}\n")
    to.flush()
