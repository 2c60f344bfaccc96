"""The pit on its broker: what the tables send goes into the ledger, and what the ledger has committed is acknowledged.

**What the pit publishes.** The pit publishes the meters' levels after every change. Without a change it repeats them so
often that the tables know that the pit is well. It also publishes each award step that a person or the pit has put into
the ledger. A table gets its steps one after another: each step is published again and again until the table's own
events mention that step.

**Older copies.** On each connection the pit first reads its own retained acknowledgements (acks). An ack beyond the
ledger's last event shows that the ledger is an older copy.

**One thread.** The pit calls paho's network loop itself, so all messages that wait become one transaction, and one
acknowledgement for each table. Inside that loop messages are only put into a list. An error in the loop ends no more
than the connection, whatever the network sends. Work on the ledger comes after the loop, and its errors end the
process.

**Acknowledgements.** MQTT's own acknowledgement counts for nothing here: paho sends that acknowledgement as soon as
`on_message` returns, and the broker may then forget the message. Tables trust only the pit's retained ack, which is
published after the commit. The table sends again what was not committed, so no MQTT session is kept. Each connection is
a new client with a clean start, which also keeps paho from sending an old ack after a newer ack.
"""

from __future__ import annotations

import math
import secrets
import ssl
import time
from collections.abc import Sequence
from typing import NoReturn

from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from controller.basics.errors import TableError
from controller.basics.journald import Kind
from controller.contract.canonical import parse_object
from controller.contract.events import Win
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.pit_words import AckWord, MetersWord, PitKeyWord, Rotation, moment_ms
from controller.contract.topics import Topics
from controller.contract.wire.mqtt_link import RUN, Cuts, Link, Rival, new_run, user_properties
from controller.contract.wire.mqtt_tls import TlsFiles, client_context
from controller.pit.reference.alarm_limit import AlarmLimit
from controller.pit.reference.clock import Moments
from controller.pit.reference.committed import Ack
from controller.pit.reference.cosigning import Cosigning
from controller.pit.reference.incoming import RefusedError, refused_unread
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.log import say, say_alarm, say_event

_KEEPALIVE_S = 10
_WAIT_S = 0.25  # for the network, where nothing comes; so often the pit looks whether people have decided
_METERS_AT_MOST_EVERY_S = 0.25
_METERS_AT_LEAST_EVERY_S = 1.5
_STEP_AGAIN_AFTER_S = 5.0
_METERS_SEQS = 1000  # taken from the ledger at once: a heartbeat needs no write, and a restart leaves a gap
_RETRY_S = 0.5
_UNHEARD_S = 10.0  # without an answer of the broker; a pit that cannot be heard keeps nobody else from leading
_AWARDS_AGAIN_S = 1.0  # while decisions on awards wait, the pit looks again after so long
_LOOKED_S = 1.0  # for which the pit goes by its last look whether it leads; another may lead after three seconds
_MOST_ALARMS_STANDING = 1000  # tables whose alarms are remembered as said: anybody can invent names of tables
_BATCH = 500  # messages in one transaction at most, so that a flood cannot keep the pit from acknowledging
_BATCH_BYTES = 4_000_000
_MOST_ON_THE_WAY = 100  # messages without the broker's answer: paho sends so many, and keeps more in their order
_BATCH_S = 1.0  # for one transaction: a slow database acknowledges fewer events at once, before they are sent again
_REFUSED_FROM = 0x80  # MQTT 5


class _ConnectionEndedError(Exception):
    """The connection to the broker has ended; the text says why."""


class Pit:
    """The reference pit, which serves every table below the topic `root` on one broker.

    Each committed event is a line on standard output. Alarms, and news of the connection, go to standard error. The
    same alarm of a table is not written again until an event of that table has been committed.
    """

    def __init__(
        self,
        ledger: Ledger,
        host: str,
        port: int,
        root: str,
        adopt_new: bool,
        key: SigningKey,
        rotations: tuple[Rotation, ...] = (),
        tls: TlsFiles | None = None,
    ) -> None:
        self._ledger = ledger
        self._cosigning = Cosigning(ledger, key)
        self._key = key
        self._rotations = rotations
        self._own_keys = [key.public, *(bytes.fromhex(rotation.former) for rotation in rotations)]
        self._moments = Moments(ledger.held_ack_time(), ledger.hold_ack_time)
        self._host = host
        self._port = port
        self._root = root
        self._adopt_new = adopt_new
        self._tls = tls
        self._every_table = Topics(root, "+")
        self._run = new_run()
        self._our_words = user_properties(PacketTypes.PUBLISH, **{RUN: self._run})
        self._begin()

    def _begin(self) -> None:
        """Set the initial state: no message has arrived, and the pit has published nothing."""
        self._arrived: list[tuple[str, bytes]] = []  # topics and payloads that nobody has looked at
        self._arrived_bytes = 0
        self._left: list[tuple[str, bytes]] = []  # events, each with its table, for which a transaction had no time
        self._unreadable: list[tuple[str, str]] = []  # topics of what is no message, and why, until people are told
        self._answered: list[tuple[int, int]] = []  # the broker's answers: paho's number, the reason code
        self._acked: dict[str, Ack] = {}  # the last ack to each table on this connection
        self._acks_due: dict[str, Ack] = {}  # those of them that have yet to be said
        self._on_the_way: dict[int, str] = {}  # what the broker has not answered: paho's number, the topic
        self._stands = False  # on this connection all that the broker retains has come
        self._listening = False  # the pit has looked at all that the broker retains, and speaks
        self._ended: str | None = None  # why this connection came to its end
        self._heard_s = time.monotonic()  # when the broker last sent or answered anything, on whatever connection
        self._looked_s = -math.inf  # when the pit last looked whether it leads
        self._rival = Rival()
        self._rival_told = False  # whether people know of the rival that is there now
        self._cuts = Cuts()
        self._boots: dict[str, object] = {}  # the run of each table's program; None while the program is away
        self._steps_due: set[str] = set()  # tables whose awards may have steps to say
        self._steps_said: dict[str, tuple[int, float]] = {}  # by table: the last published step's number, and when
        self._meters_seqs = iter(range(0))
        self._asked: int | None = None  # the last decision of which tables were asked what it asks
        self._win: Win | None = None  # the last win that was said
        self._meters_said: tuple[dict[str, int], float] | None = None  # on this connection: the levels, and when
        self._why_ended = ""  # what people were told when the connection ended, until a connection stands again
        self._alarms: dict[str, dict[str, TableError]] = {}  # the alarms that were said last, by table and code
        self._untold: list[tuple[str, TableError]] = []  # alarms, each with its table, for the ledger and for people
        self._alarm_limit = AlarmLimit()
        self._awards_wait: bool | None = None  # whether people were told that decisions on awards wait
        self._awards_due = True  # whether to look again whether decisions wait
        self._awards_looked_s = -math.inf

    def run(self) -> NoReturn:
        """Serve until the process is ended. Raises TableError if the ledger cannot be used.

        While another process holds the ledger's file locked, nothing is committed, and the pit tries again.
        """
        while True:
            try:
                self._serve()
            except _ConnectionEndedError as ended:
                why = str(ended)
            except TableError as error:
                if error.code != "ledger_locked":
                    raise
                why = error.what
            now_s = time.monotonic()
            to_tell = self._cuts.cut(now_s) if self._listening else why != self._why_ended
            if to_tell:
                often = self._cuts.often(now_s)
                say(f"{why}{often and '; '}{often}; trying again", Kind.PIT_CUT)
            self._why_ended = why
            time.sleep(_RETRY_S)

    def _serve(self) -> NoReturn:
        """Connect to the broker and serve until this connection ends. Raises _ConnectionEndedError when the connection
        ends."""
        link = self._new_link()
        self._forget()
        try:
            link.dial(self._tls_context())
        except (OSError, ValueError) as error:  # ValueError: the text cannot be a host
            raise _ConnectionEndedError(f"cannot reach the broker {self._host}:{self._port}: {error}") from error
        begun_s = time.monotonic()
        try:
            while True:
                self._take_in(link)
                if self._ended is None and time.monotonic() - self._heard_s > _UNHEARD_S:
                    if time.monotonic() - begun_s > _UNHEARD_S:
                        raise _ConnectionEndedError(f"the broker {self._host}:{self._port} does not answer")
                    continue  # nobody hears us: our time to lead runs out, and a pit that is heard may lead
                self._look_who_leads()
                self._ledger.begin_day_if_due()
                if self._listening and self._ledger.others_wrote():
                    self._follow_others(link)  # before a hit is committed: its table has heard what the hit can win
                self._settle(link)
                self._tell_what_was_counted()
                if self._stands and not self._listening:
                    self._begin_to_speak(link)
                if self._listening:
                    self._look_at_clock()
                    self._look_whether_awards_wait()
                    self._say_steps(link)
                    self._say_meters(link)
                    if self._ended is not None:
                        self._rival.ended(link.taken_over, link.closed_by_broker, time.monotonic())
                    self._look_for_rival()
                if self._ended is not None:
                    raise _ConnectionEndedError(self._ended)
        finally:
            link.disconnect()
            link.hang_up()

    def _forget(self) -> None:
        """Clear everything that belongs to the previous connection to the broker."""
        self._arrived.clear()
        self._left.clear()
        self._unreadable.clear()
        self._answered.clear()
        self._acked.clear()
        self._acks_due.clear()
        self._cosigning.forget()
        self._on_the_way.clear()
        self._stands = self._listening = False
        self._ended = None
        self._boots.clear()
        self._steps_said.clear()
        self._meters_said = None

    def _look_who_leads(self) -> None:
        """Check that this pit still leads on the ledger. Raises TableError if another pit leads now."""
        self._ledger.refuse_if_taken_over()
        self._looked_s = time.monotonic()

    def _take_in(self, link: Link) -> None:
        """Wait for the network, then run paho's loop until no message waits or a batch is full."""
        before, wait_s = -1, 0.0 if self._left or self._arrived else _WAIT_S
        self._arrived_bytes = sum(len(payload) for _, payload in self._left + self._arrived)
        while before < len(self._arrived) and self._ended is None:
            self._say_acks(link)
            full = self._arrived_bytes >= _BATCH_BYTES or len(self._left) + len(self._arrived) >= _BATCH
            if full and before >= 0:  # once in each turn, paho's loop keeps the connection alive
                break
            before = len(self._arrived)
            if link.loop(wait_s) is not MQTTErrorCode.MQTT_ERR_SUCCESS:
                break
            self._hear_answers()
            wait_s = 0.0

    def _look_for_rival(self) -> None:
        """Raise one alarm each time that another client starts to act as the pit at the broker, for example with a copy
        of the pit's certificate."""
        there = self._rival.there(time.monotonic())
        if there and not self._rival_told:
            what = "Another client connects to the broker as the pit, or says its meters."
            do = "Find that client, a second pit or a copy of the pit's certificate. Give the pit a new certificate."
            say_alarm(TableError("client_id_taken", what, do))
        self._rival_told = there

    def _hear_answers(self) -> None:
        """Read the broker's answers to what the pit published, and raise an alarm for each message that the broker
        refused."""
        answered, self._answered = self._answered, []
        for number, code in answered:
            topic = self._on_the_way.pop(number, None)
            if topic is None:
                continue
            *_, table, kind = topic.split("/")
            if code < _REFUSED_FROM:
                if kind == "meters":
                    self._rival.wrote()
                continue
            reason = ReasonCode(PacketTypes.PUBACK, identifier=code)
            self._alarm(
                table,
                TableError(
                    f"{kind}_refused",
                    f"The broker refused what the pit says on {topic}: {reason}.",
                    f"Let the pit publish on {topic} in the broker's access list.",
                ),
            )

    def _settle(self, link: Link) -> None:
        """Put the messages that arrived into the ledger, then acknowledge, then write the alarms.

        After a second the rest of the messages waits for the next call, so a table that sends much does not delay the
        others for long. Only the pit's own retained acks, which come first on a connection, never wait.
        """
        until_s = time.monotonic() + _BATCH_S
        arrived, self._arrived = self._arrived, []
        unreadable, self._unreadable = self._unreadable, []
        for topic, why in unreadable:
            what = f"A message came on {topic!r} that cannot be read: {why}."
            do = "Find out who publishes there: only the table may. Clear the topic's retained message at the broker."
            self._alarm(self._table_of(topic) or "", RefusedError("message_unreadable", what, do))
        events, self._left = self._left, []
        states: list[tuple[str, bytes]] = []
        for place, (topic, payload) in enumerate(arrived):
            table, kind = self._table_of(topic), topic.rpartition("/")[2]
            before_speaking = kind == "ack" and not self._listening  # the pit's next ack would replace this ack
            if place and not before_speaking and time.monotonic() >= until_s:
                self._arrived = arrived[place:]
                break
            if (refused := refused_unread(table, kind, topic, payload)) is not None:
                self._alarm(*refused)
            elif kind == "ack":
                self._hear_own_ack(table or "", payload)
            elif kind == "checkpoint":
                self._cosigning.show(table or "", payload)
            else:
                (events if kind == "event" else states).append((table or "", payload))
        if states:
            self._meet(states)
        for told in self._cosigning.settle():
            self._alarm(*told)
        self._tell_alarms()
        if events:
            self._commit(events)
            self._tell_alarms()

    def _commit(self, events: Sequence[tuple[str, bytes]]) -> None:
        """Put events into the ledger, and acknowledge what is committed."""
        received = self._ledger.receive(events, _BATCH_S)
        self._left = [*received.left]
        for table, ack in received.acks.items():
            self._acknowledge(table, ack)
        for event in received.committed:
            self._alarms.pop(event.table, None)
            self._steps_due.add(event.table)
            if event.type == "hit":
                self._steps_due.update(self._acked)  # awards of other tables may have another level by it
            say_event(event)
            for alarm in event.alarms:
                self._alarm(event.table, alarm)
        for table, refusal in received.refused:
            self._alarm(table, refusal)

    def _hear_own_ack(self, table: str, payload: bytes) -> None:
        """Check the message that the broker retains on a table's ack topic. Raise an alarm if this pit did not sign the
        message, if it is no acknowledgement for the table, or if this ledger lacks the acknowledged event."""
        if payload and not any(signature_holds(parse_object(payload), key) for key in self._own_keys):
            what = f"What the broker retains on the ack topic of {table!r} is not signed by this pit's key."
            do = "Find out who publishes there: only the pit may. The pit's next ack replaces the message."
            self._alarm(table, RefusedError("ack_forged", what, do))
            return
        ack = AckWord.read(parse_object(payload))
        at_ms = None if ack is None else moment_ms(ack.at)
        if at_ms is not None:
            self._moments.heard(at_ms)
        try:
            self._ledger.hear_own_ack(table, payload)
        except RefusedError as alarm:
            self._alarm(table, alarm)

    def _look_at_clock(self) -> None:
        """Raise an alarm if this machine's clock is behind a time that the pit has put into an acknowledgement."""
        if (behind := self._moments.behind()) is None:
            return
        now, said, by_s = behind
        self._alarm(
            "",
            RefusedError(
                "clock_behind",
                f"The pit's clock stands at {now}. That is {by_s} s before {said}, when this pit acknowledged by its"
                " clock of then.",
                "Set the clock of this machine, and of each machine on which the pit has run. Until the clock is past"
                " that time, acknowledgements repeat it. Where that time is more than a day ahead, acknowledgements"
                " have this clock's time.",
            ),
        )
        self._tell_alarms()

    def _begin_to_speak(self, link: Link) -> None:
        """Begin to publish on this connection, after the pit has read its own retained acknowledgements."""
        self._why_ended = ""
        if not self._cuts.often(time.monotonic()):
            say(f"connected to the broker {self._host}:{self._port}, listening below {self._root}")
        self._listening = True
        key = PitKeyWord(self._key.public.hex(), self._moments.next(), self._rotations).payload(self._key)
        self._publish(link, self._every_table.pit_key, key, retain=True)  # before any message that this key signs
        self._say_meters(link)
        self._ask_tables(link)
        for table, ack in self._ledger.acks().items():
            self._acknowledge(table, ack)
            self._steps_due.add(table)

    def _follow_others(self, link: Link) -> None:
        """Publish what other processes wrote into the ledger: people's decisions on awards and on adopted epochs."""
        acks = self._ledger.acks()
        self._steps_due.update(acks)
        self._ledger.look_whether_heard(acks)
        self._awards_due = True
        for table, said in [*self._acked.items()]:  # where an adoption was taken back, its epoch has nothing committed
            acks.setdefault(table, self._ledger.ack_of(table, said.epoch))
        for table, ack in acks.items():
            if ack != self._acked.get(table):
                self._acknowledge(table, ack)
        self._say_meters(link, at_most_every_s=0)
        self._ask_tables(link)

    def _ask_tables(self, link: Link) -> None:
        """Publish the question "which program do you run?" to each table about which people asked since the last call.
        Each question is published once."""
        questions, self._asked = self._ledger.measures.since(self._asked)
        for each in questions:
            payload = each.word(self._moments.later()).payload(self._key)
            self._publish(link, Topics(self._root, each.table).measure, payload)

    def _look_whether_awards_wait(self) -> None:
        """Tell people once that decisions on awards have to wait, and once that they need not wait any more.

        While decisions wait, one look a second is enough, because a look at a thousand tables takes as long as ten
        commits of events.
        """
        now_s = time.monotonic()
        if not self._awards_due and (not self._awards_wait or now_s < self._awards_looked_s + _AWARDS_AGAIN_S):
            return
        self._awards_due, self._awards_looked_s, why = False, now_s, self._ledger.undecidable()
        if why is not None and not self._awards_wait:
            self._awards_wait = True
            say(f"awards cannot be decided on yet. {why.what}")
        elif why is None and self._awards_wait is not False and self._acked:
            self._awards_wait = False
            say("every adopted table is heard: awards can be decided on")

    def _table_of(self, topic: str) -> str | None:
        """Return the id of the table to which this topic belongs; None if the topic belongs to no table."""
        root, _, table = topic.rpartition("/")[0].rpartition("/")
        return table if root == self._root else None

    def _meet(self, states: list[tuple[str, bytes]]) -> None:
        """Judge tables' states. `states` holds pairs of a table's id and a payload. Refusals become alarms, for example
        a refusal of an epoch that people have yet to adopt. An adopted table gets its first acknowledgement."""
        adopted, refused = self._ledger.meet_all(states, self._adopt_new)
        for table in adopted:
            say(f"adopted table {table}, which was new")
            self._awards_due = True
        for table, alarm in refused:
            self._alarm(table, alarm)
        not_well = {table for table, refusal in refused if refusal.code not in ("meter_unknown", "meter_closed")}
        for table, payload in states:
            if table not in self._acked and (ack := self._ledger.ack(table)) is not None:
                self._acknowledge(table, ack)
            if table not in not_well and table in self._acked:
                self._notice_return(table, payload)

    def _notice_return(self, table: str, state: bytes) -> None:
        """When a table's state shows that its program has restarted or come back, publish the table's last award step
        again, because the table may have missed that step."""
        message = parse_object(state)
        boot = message.get("boot") if message.get("online") is True else None
        if boot is not None and boot != self._boots.get(table):
            self._steps_said.pop(table, None)
            self._steps_due.add(table)
        self._boots[table] = boot

    def _say_steps(self, link: Link) -> None:
        """Publish for each table the first award step that the table's own events do not mention yet.

        Later steps wait, because a table takes steps only in the order of their numbers. A table that missed a step
        could not take that step after a later one.
        """
        now_s = time.monotonic()
        again = {table for table, (_, at_s) in self._steps_said.items() if now_s - at_s >= _STEP_AGAIN_AFTER_S}
        due = self._steps_due | again
        steps = self._ledger.next_steps(due) if due else {}
        for table in sorted(due):
            step = steps.get(table)
            if step is None:
                self._steps_said.pop(table, None)
            elif table in again or self._steps_said.get(table, (0, 0.0))[0] != step.seq:
                self._publish(link, Topics(self._root, table).award, step.payload(self._key))
                self._steps_said[table] = step.seq, now_s
        self._steps_due.clear()

    def _say_meters(self, link: Link, at_most_every_s: float = _METERS_AT_MOST_EVERY_S) -> None:
        now_s = time.monotonic()
        said, at_s = self._meters_said or ({}, -math.inf)
        if now_s - at_s < at_most_every_s:
            return
        levels = self._ledger.levels()
        win = self._ledger.win_after(None if self._win is None else self._win.seq) or self._win
        if (levels, win) == (said, self._win) and now_s - at_s < _METERS_AT_LEAST_EVERY_S:
            return
        seq = next(self._meters_seqs, None)
        if seq is None:
            self._meters_seqs = iter(self._ledger.meters_seqs(_METERS_SEQS))
            seq = next(self._meters_seqs)
        payload = MetersWord(seq, self._moments.of_number(seq), levels, win).payload(self._key)
        self._publish(link, self._every_table.meters, payload, retain=True, properties=self._our_words)
        self._meters_said, self._win = (levels, now_s), win

    def _acknowledge(self, table: str, ack: Ack) -> None:
        if table not in self._acked or self._acked[table].epoch != ack.epoch:
            self._cosigning.look((table,))
        self._acked[table] = self._acks_due[table] = ack

    def _say_acks(self, link: Link) -> None:
        """Publish the acknowledgements and cosigned checkpoints that are due, unless many messages wait for the
        broker's answer. This leaves room for the messages about meters' levels.

        A table whose acknowledgement had to wait gets only its newest one.
        """
        while self._listening and self._acks_due and len(self._on_the_way) < _MOST_ON_THE_WAY:
            table = next(iter(self._acks_due))
            ack = self._acks_due.pop(table)
            payload = ack.payload(table, self._moments.next(), self._key)
            self._publish(link, Topics(self._root, table).ack, payload, retain=True)
        while self._listening and self._cosigning.due and len(self._on_the_way) < _MOST_ON_THE_WAY:
            table, payload = self._cosigning.next_word(self._moments.next())
            self._publish(link, Topics(self._root, table).cosigned, payload, retain=True)

    def _publish(
        self, link: Link, topic: str, payload: bytes, retain: bool = False, properties: Properties | None = None
    ) -> None:
        if time.monotonic() - self._looked_s > _LOOKED_S:  # a pit that stood still meanwhile says nothing old
            self._look_who_leads()
        said = link.publish(topic, payload, qos=1, retain=retain, properties=properties)
        self._on_the_way[said.mid] = topic

    def _alarm(self, table: str, alarm: TableError) -> None:
        if len(self._alarms) >= _MOST_ALARMS_STANDING and table not in self._alarms:
            self._alarms.clear()
        said = self._alarms.setdefault(table, {}).get(alarm.code)
        if said is None or said.what != alarm.what:
            self._alarms[table][alarm.code] = alarm
            self._untold.append((table, alarm))

    def _tell_alarms(self) -> None:
        """Keep in the ledger, in one transaction, those alarms that are refusals, and write the alarms for people.
        Alarms beyond the number that `AlarmLimit` allows for a minute are only counted.

        If a full disk does not take the refusals, the pit goes on, because no table's stream depends on refusals.
        """
        untold, self._untold = self._untold, []
        left_out: list[RefusedError] = []
        try:
            left_out = self._ledger.keep([(table, each) for table, each in untold if isinstance(each, RefusedError)])
        except TableError as error:
            say(f"the next alarms are not kept: {error.what}", Kind.PIT_ALARM)
        for table, alarm in untold:
            if self._alarm_limit.may_say(self._ledger.room_of(table), alarm, alarm not in left_out, time.monotonic()):
                say_alarm(alarm, table)

    def _tell_what_was_counted(self) -> None:
        """Once a minute, tell people how many alarms were counted but not written. Add to the ledger's counters how
        many alarms found no room in the ledger."""
        for counted in self._alarm_limit.over(time.monotonic()):
            if counted.more:
                say_alarm(counted, counted.room)
            if counted.left_out:
                try:
                    self._ledger.count_left_out(counted.room, counted.code, counted.left_out)
                except TableError as error:
                    what = f"{counted.left_out} alarms {counted.code} that were not kept are not counted: {error.what}"
                    say(what, Kind.PIT_ALARM)

    def _new_link(self) -> Link:
        every = self._every_table
        name = f"pit-{secrets.token_hex(4)}"
        topics = (every.event, every.state, every.checkpoint)
        # The acks that the broker retains must have come before a table's state is judged.
        return Link(self, self._host, self._port, name, _KEEPALIVE_S, topics, every.meters, self._run, (every.ack,))

    def _tls_context(self) -> ssl.SSLContext | None:
        if self._tls is None:
            return None
        try:
            return client_context(self._tls)
        except TableError as error:  # after a certificate expired, the renewed certificate is read without a restart
            raise _ConnectionEndedError(f"no connection to the broker: {error.what}") from error

    # What paho's loop calls.

    def link_stands(self) -> None:
        """Note that the broker has accepted the pit's subscriptions."""
        self._stands = True
        self._heard_s = time.monotonic()

    def link_ended(self, why: str) -> None:
        """Note that the connection to the broker has ended, and why."""
        self._ended = why

    def link_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Note a message of a table, to be put into the ledger later."""
        self._heard_s = time.monotonic()
        self._arrived.append((topic, payload))
        self._arrived_bytes += len(payload)

    def link_unreadable(self, topic: str, why: str) -> None:
        """Note a message that cannot be read, so that people are told."""
        if len(self._unreadable) < _BATCH:
            self._unreadable.append((topic, why))

    def link_own_topic(self, ours: bool) -> None:
        """Note a message on the meters' topic, on which only the pit may publish. `ours` is True if this pit sent the
        message. Otherwise the message was retained from before, or another client sent it."""
        self._rival.own_topic(ours, time.monotonic())

    def link_answered(self, token: int, reason_code: int) -> None:
        """Note the broker's answer to a message that the pit published."""
        self._heard_s = time.monotonic()
        self._answered.append((token, reason_code))
