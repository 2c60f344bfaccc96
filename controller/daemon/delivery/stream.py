"""Sends the table's events to the pit over an MQTT broker, and passes on the messages that come back.

The module `guarantee.py` decides what to send and when. This module carries out its decisions with the broker and the
journal, and passes the pit's messages to the code that judges them. If the table or a person has to know of something,
the table gets a fact. Example: if the broker refuses an event, the table gets the fact `PublishRefused`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from functools import partial

from controller.contract.bounds import MOST_LEAP_MS, MOST_PAYLOAD_BYTES
from controller.contract.envelope import Stamp
from controller.contract.events import Hit, Progressive, WinTold
from controller.contract.face.state import TableState
from controller.contract.face.status import Recognition
from controller.contract.fingerprint import fingerprint
from controller.contract.note import Note
from controller.contract.pit_words import MeasureWord
from controller.contract.state import online_state
from controller.contract.topics import Topics
from controller.daemon import clock
from controller.daemon.answer import Answer
from controller.daemon.beat import next_beat
from controller.daemon.delivery.alarms import Alarms
from controller.daemon.delivery.guarantee import REFUSED_FROM, Delivery, Phase
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.link_told import LinkTold
from controller.daemon.delivery.pit_said import PitSaid
from controller.daemon.delivery.pit_trust import PitTrust, latest_ms
from controller.daemon.delivery.recognition_said import RecognitionSaid
from controller.daemon.delivery.recognition_trust import RecognitionTrust
from controller.daemon.delivery.sending import Sending
from controller.daemon.delivery.told import StreamTold
from controller.daemon.delivery.witness import Witness
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Message, OnJournal
from controller.table.acts.entry import Request
from controller.table.facts import OwnFact
from controller.table.journalled import ClientIdTaken
from drivers.devices import Broker

_log = logging.getLogger(__name__)

_LONGEST_STAY = 8  # at a broker on which no pit is heard, in times of `stale_after_s`
_MOST_UNJUDGED = 1000
"""So many messages of the network may wait for the table. A pit sends a few; bet recognition one for each spot."""


class PitStream:
    """Sends one table's events and its retained state to the pit over one broker at a time, and takes in the messages
    that come back. `tell` takes the facts that the table must know.

    `stale_after_s`, `most_unacknowledged` and `trust_first_key` are settings from the table file's section `[pit]`.
    `game_file` is the path of the game's file from the section `[table]`. `pit_key` is the pit's pinned key in hex.
    `recognition` judges the messages of bet recognition by its key. `behind_at` is the time of a pit's acknowledgement
    that did not fit this journal, if the table is still stopped because of it; else None. `measure` takes the question
    in which the pit asks which program files run at the table. `link_lost` says whether people have been told that the
    link to the pit is lost.
    """

    def __init__(
        self,
        topics: Topics,
        table_id: str,
        stale_after_s: int,
        most_unacknowledged: int,
        trust_first_key: bool,
        journal: Journal,
        broker: Broker,
        on_journal: OnJournal,
        tell: Callable[[OwnFact], None],
        ask: Callable[[Request], asyncio.Future[Answer]],
        levels: Levels,
        game_file: str,
        pit_key: str | None,
        recognition: RecognitionTrust,
        behind_at: str | None,
        measure: Callable[[MeasureWord], None],
        link_lost: bool,
    ) -> None:
        self._topics, self._table_id = topics, table_id
        self._trust = PitTrust(None if pit_key is None else bytes.fromhex(pit_key))
        self._journalled_key = pit_key
        self._journal, self._broker, self.levels = journal, broker, levels
        self._stale_after_s = stale_after_s
        alarms = self._alarms = Alarms(tell)
        delivery = Delivery(journal.epoch, journal.acked_seq, journal.head_seq, stale_after_s, behind_at)
        sending = Sending(topics.event, journal, broker, on_journal, tell, delivery, most_unacknowledged)
        self._delivery, self._sending = delivery, sending
        self._said = PitSaid(
            topics, table_id, trust_first_key, self._trust, delivery, levels, sending, tell, ask, alarms
        )
        self._recognition = RecognitionSaid(
            topics, journal.epoch, recognition, broker, lambda: self._connected, ask, alarms
        )
        self._heard = self._said.heard
        self.told = self._new_told(game_file, most_unacknowledged)
        self._measure, self._link = measure, LinkTold(link_lost, stale_after_s, tell)
        self._witness = Witness(topics, journal, broker, on_journal, self._trust, self._said.is_the_pits, alarms)
        self._begin()

    def _new_told(self, game_file: str, most_unacknowledged: int) -> StreamTold:
        return StreamTold(
            *(self._topics, game_file, self._stale_after_s, most_unacknowledged, self._journal.boot, self._broker),
            *(self._trust, self._delivery, self._sending, self._said, self.levels, self.fresh),
        )

    def _begin(self) -> None:
        """Set the attributes to their values before the first connection to a broker."""
        self._acks: list[tuple[bytes, bool]] = []  # acks to be judged, and whether the broker had retained each
        self._awards: list[bytes] = []  # steps of awards to be judged
        self._moves = 0  # how often in a row the table left a broker on which no pit was heard
        self._came_s = 0.0  # when the table came to this broker
        self._something_happened = asyncio.Event()
        self._at_rest = False  # whether the delivering task waits for that event
        self._connections = 0
        self._connected = False
        self._barrier: int | None = None  # once this publish is answered, no retained ack comes any more
        self._state_sent = b""
        self._state_token: int | None = None
        self._state: Callable[[], TableState]  # from `run` on

    def checkpoint_signed(self, note: Note, at_end: bool) -> None:
        """Take in a checkpoint of the journal that the table has just signed, so that the pit may be shown it. `at_end`
        says whether a shoe has just ended."""
        self._witness.signed(note, at_end)

    @property
    def up(self) -> bool:
        """Tell whether events are being sent to the pit at present."""
        return self._delivery.phase is Phase.STREAMING

    @property
    def offered_pit_keys(self) -> tuple[str, ...]:
        """Return the last keys that messages offered as the pit's key, in hex."""
        return tuple(key.hex() for key in self._trust.offers)

    def latest_seq(self, own: Stamp) -> int:
        """Return the highest number that a message of the pit can bear by now: a day and a second ahead of the present
        time. (The number of a message is its time in ms since 1970.) If the present time is not known, the number is
        that of one second after the year 9999. `own` is the present time by the table's clock."""
        return latest_ms(self._said.clock.now(own, clock.monotonic_s())) + MOST_LEAP_MS

    def fresh(self) -> bool:
        """Tell whether bets on progressives may be taken. They may if the pit's key is pinned and not in doubt, events
        are sent and acknowledged in time, and the levels of the meters are fresh."""
        now_s = clock.monotonic_s()
        return not self._trust.undecided and self._delivery.fresh(now_s) and self.levels.fresh(now_s)

    def recognition_status(self, expected: bool) -> Recognition:
        """Return the state of bet recognition (a system that sees the chips) to show to people: whether it is
        `expected` at this table, the fingerprint of its key, and how many messages were not believed."""
        return self._recognition.status(expected)

    async def run(self, state: Callable[[], TableState]) -> None:
        """Keep connected to the broker and deliver events, until cancelled. `state` returns the part of the retained
        state that the table itself knows."""
        self._state = state
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._broker.run(self))
            tasks.create_task(self._keep_delivering())
            tasks.create_task(self._keep_state_published())
            tasks.create_task(self._witness.run())

    def committed(self, messages: Sequence[Message], pit_key: str | None, recognition_key: str | None) -> None:
        """Take in what the journal has just committed: new events, if any, and the keys of the pit and of bet
        recognition.

        Events that are due are sent at once, unless something is still to be judged, such as an acknowledgement, or an
        earlier event has to be read from the disk first.
        """
        self._recognition.adopted(recognition_key)
        if pit_key != self._journalled_key:  # while a rotation is being journalled, the journal still has the old key
            self._journalled_key = pit_key
            self._pinned(pit_key)
        for message in messages:
            match message.event:
                case Hit(progressive=Progressive(meter=meter)):
                    self.levels.hit(meter, message.seq)
                case WinTold(shown=True, win=win):
                    self.told.win(win)
        self._sending.keep(messages)
        if messages:
            self._delivery.committed(self._journal.head_seq, clock.monotonic_s())
            if self._nothing_waits():
                self._sending.send_new()
            self._something_happened.set()
            self._sending.look_at_outbox()

    def _pinned(self, pit_key: str | None) -> None:
        """Take over a key that a person has just pinned as the pit's. If an acknowledgement waited for a key, have it
        judged by the new key."""
        if pit_key is None or (bytes.fromhex(pit_key) == self._trust.pinned and not self._trust.undecided):
            return
        _log.info("the pit's key is pinned: %s", fingerprint(bytes.fromhex(pit_key)))
        self._trust.pin(bytes.fromhex(pit_key))
        self._heard.link(
            self._connected, clock.monotonic_s()
        )  # messages that came before were not known to be the pit's
        if self._said.unbelieved_ack is not None:
            self._acks.append(self._said.unbelieved_ack)
            self._said.unbelieved_ack = None
            self._something_happened.set()

    def _nothing_waits(self) -> bool:
        """Tell whether the task that sends events is waiting, with no event to send and no message to judge."""
        return self._at_rest and not self._something_happened.is_set()

    # What the broker tells.

    def broker_connected(self) -> None:
        """Begin on a new connection to the broker: publish the table's state, and wait for the pit's last
        acknowledgement, which the broker may have retained.

        The broker sends its retained messages before it answers the publish of the state. So if the answer comes before
        any acknowledgement, the broker has retained none.
        """
        self._connected, self.told.why_down = True, ""
        self._came_s = clock.monotonic_s()
        self._heard.link(True, self._came_s)
        self._connections += 1
        self._sending.connected()
        self._delivery.connected()
        self._state_sent = self._whole_state()
        self._barrier = self._broker.publish(self._topics.state, self._state_sent, retain=True)

    def broker_disconnected(self, why: str) -> None:
        """Note that the connection to the broker is gone. `why` is the reason, as text for people."""
        self._connected, self.told.why_down = False, why
        self._heard.link(False, clock.monotonic_s())
        self._barrier = None
        self._acks.clear()
        self._said.unbelieved_ack = None
        self._delivery.disconnected(clock.monotonic_s())
        self._witness.disconnected()
        self.levels.disconnected()

    def broker_id_taken(self) -> None:
        """Tell people that another client connected to the broker under this table's name. Such a client has a copy of
        the table's certificate."""
        what = f"another client connected to the broker as table {self._table_id}"
        self._alarms.alarm("client_id_taken", ClientIdTaken(), what)

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Pass a message from the broker on to the code for its topic. Such messages come from the pit (its key, an
        acknowledgement, an award, levels, a cosigned checkpoint, a question) or from bet recognition (a wager).

        A message is refused if it is too long, or if its topic is none of this table's topics. A wager or question is
        refused if the broker retained it. If too many messages wait to be judged, the connection is dropped.
        """
        topics = self._topics
        if len(payload) > MOST_PAYLOAD_BYTES.get(topic.rpartition("/")[2], 0):
            _log.warning("a message of %d bytes on %.100r is refused unread", len(payload), topic)
        elif topic != topics.meters and len(self._acks) + len(self._awards) + self._recognition.asked >= _MOST_UNJUDGED:
            self._broker.drop("more messages come on this table's topics than the table can judge")
        elif topic == topics.ack:
            self._acks.append((payload, retained))
            self._something_happened.set()
        elif topic == topics.award:
            self._awards.append(payload)
            self._something_happened.set()
        elif topic == topics.meters:
            self._said.see_meters(payload, retained)
        elif topic == topics.pit_key:
            if self._said.see_pit_key(payload, retained):
                self._something_happened.set()
        elif topic == topics.cosigned:
            self._witness.heard(payload)
        elif topic in (topics.wager, topics.measure) and retained:
            _log.warning("a message on %s is refused: the broker retained it, so it may be of long ago", topic)
        elif topic == topics.measure:
            if (question := self._said.question(payload)) is not None:
                self._measure(question)
        elif topic == topics.wager:
            self._recognition.see(payload)
        else:
            _log.warning("a message on %s is not for this table and is refused", topic)

    def broker_unreadable(self, topic: str, why: str) -> None:
        """Log that a message from the broker cannot be read."""
        _log.warning("a message on %r is refused: it cannot be read (%s)", topic, why)

    def broker_answered(self, token: int, reason_code: int) -> None:
        """Take in the broker's answer to the message that the table published under `token`: taken or refused, as an
        MQTT reason code."""
        if token in (self._barrier, self._state_token) and reason_code >= REFUSED_FROM:
            _log.warning("the broker refuses the table's state (0x%02x): look at its access list", reason_code)
        if token == self._barrier:
            self._barrier = None
            self._something_happened.set()
            return
        if self._sending.answered(token, reason_code):
            self._something_happened.set()

    async def _keep_delivering(self) -> None:
        """Judge the acknowledgements and awards that have come from the pit, and send the events that are due, again
        and again. Each turn begins when something has happened or when the time for the next sending has come."""
        while True:
            wait_s = self._delivery.next_due_s(clock.monotonic_s())
            self._at_rest = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # wait_for of Python 3.11 can swallow a cancellation
                    await self._something_happened.wait()
            self._at_rest = False
            self._something_happened.clear()
            if self._connected:  # a retained ack may come before the broker has confirmed the subscription
                acks, self._acks = self._acks, []
                is_over = partial(self._is_over, self._connections)
                for payload, retained in acks:
                    await self._said.judge_ack(payload, retained, is_over)
            awards, self._awards = self._awards, []
            for payload in awards:
                await self._said.see_award(payload)
            if self._delivery.phase is Phase.ASKING and self._barrier is None and not self._acks:
                self._delivery.nothing_retained(clock.monotonic_s())
            await self._sending.send_due()
            if not self._acks:
                await self._sending.mark_acked()

    def _is_over(self, connection: int) -> bool:
        return connection != self._connections

    async def _keep_state_published(self) -> None:
        while True:
            await next_beat()
            self._seek_pit()
            self._link.look(self.told.standing().code, clock.monotonic_s())
            state = self._whole_state()
            if self._connected and state != self._state_sent:
                self._state_token = self._broker.publish(self._topics.state, state, retain=True)
                self._state_sent = state

    def _seek_pit(self) -> None:
        """Move to the next broker if no pit is heard on the present broker, because the line between that broker and
        the pit may be cut.

        Each stay at a broker is twice as long as the stay before, up to 8 times `stale_after_s`, because moving does
        not help if no broker has a pit.
        """
        if not (self._connected and self._broker.has_others):
            return
        now_s = clock.monotonic_s()
        if self.told.found(now_s).code not in ("no_pit", "silent", "clock_ahead", "clock_behind"):
            self._moves = 0
        elif now_s - self._came_s >= self._stale_after_s * min(2**self._moves, _LONGEST_STAY):
            self._moves += 1
            self._heard.moves()
            self._broker.drop(f"no pit is heard on the broker {self._broker.address}", move=True)

    def _whole_state(self) -> bytes:
        return online_state(self.told.state(self._state()))
