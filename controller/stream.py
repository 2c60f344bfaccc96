"""The table's side of the stream to the pit: the delivery's decisions put to the broker and the journal.

What to send and when is `delivery.py`'s to say. Here its answers become publishes, the pit's acknowledgements its
questions, and what neither can mend a fact for the table.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from controller.answer import Answer
from controller.award_step import parse_award
from controller.bet_recognition import BET_RECOGNITION, parse_json, wager_from_json, wager_to_json
from controller.config import PitSection
from controller.contract.bounds import MOST_PAYLOAD_BYTES
from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.topics import Topics
from controller.delivery import (
    NOBODY_LISTENS,
    REFUSED_FROM,
    RETRY_REFUSED_AFTER_S,
    WINDOW,
    Delivery,
    Phase,
    parse_ack,
)
from controller.devices import Broker
from controller.game.wagers import Wager
from controller.journal import Journal, Message
from controller.levels import Levels
from controller.outbox import OutboxWatch
from controller.table.facts import (
    AwardStepped,
    ClientIdTaken,
    HitUnheard,
    JournalAltered,
    JournalFoundBehindPit,
    OwnFact,
    PublishRefused,
)
from controller.table.legality import refusal_words
from controller.table.requests import PlaceWager, Request, SeeAward

_log = logging.getLogger(__name__)

_STATE_EVERY_S = 0.25
_RETRY_READ_S = 1.0
_NOT_AUTHORISED = 0x87  # MQTT 5
_MOST_UNJUDGED = 1000
"""Messages of the network that wait for the table: a pit has a few, bet recognition one for each spot of the layout."""
_ID_TAKEN_AGAIN_AFTER_S = 600.0
"""Two that push each other off the broker do it for as long as they run; people are told at most so often."""

_T = TypeVar("_T")


class OnJournal(Protocol):
    """Does work in the one thread that may touch the journal."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """The result of `work`."""


class PitStream:
    """One table's stream and state, on one broker. `tell` takes what the table must know as facts."""

    def __init__(
        self,
        pit: PitSection,
        table_id: str,
        journal: Journal,
        broker: Broker,
        on_journal: OnJournal,
        tell: Callable[[OwnFact], None],
        ask: Callable[[Request], asyncio.Future[Answer]],
        levels: Levels,
    ) -> None:
        self._table_id = table_id
        self._topics = Topics(pit.root, table_id)
        self._journal = journal
        self._broker = broker
        self._on_journal = on_journal
        self._tell = tell
        self._ask = ask
        self.levels = levels
        self._delivery = Delivery(journal.epoch, journal.acked_seq, journal.head_seq, float(pit.stale_after_s))
        self._most_unacknowledged = pit.most_unacknowledged
        self._watch = OutboxWatch(pit.most_unacknowledged)
        self._marked_seq = journal.acked_seq
        self._outbox: dict[int, Message] = {}  # the next events of the window, by seq; the rest is on the disk
        self._on_the_way: dict[int, int] = {}  # the broker's tokens for events, to their seq
        self._altered = 0  # the event that the journal was last found not to hold as it was signed; people were told
        self._unheard: set[int] = set()  # hits already known to have had no listener
        self._acks: list[bytes] = []  # come and not judged yet
        self._awards: list[bytes] = []  # likewise
        self._wagers_asked = 0  # and not answered yet
        self._something_happened = asyncio.Event()
        self._at_rest = False  # whether the delivering task awaits just that
        self._connections = 0
        self._connected = False
        self._why_down = "not connected yet"
        self._unread = ""  # why what is to be sent, or judged by, cannot be read
        self._refused = 0, 0  # the event that the broker refused last, and its reason code
        self._id_taken_at_s: float | None = None  # when people were last told so
        self._barrier: int | None = None  # the token whose answer says that no retained ack is coming
        self._state_sent = b""
        self._state_token: int | None = None
        self._state: Callable[[], dict[str, object]] = dict

    @property
    def up(self) -> bool:
        """Whether events flow."""
        return self._delivery.phase is Phase.STREAMING

    def fresh(self) -> bool:
        """Whether there is a pit to bet a progressive with, and its levels are known."""
        now_s = time.monotonic()
        return self._delivery.fresh(now_s) and self.levels.fresh(now_s)

    def status(self) -> dict[str, object]:
        """How the stream is, for people."""
        delivery = self._delivery
        return {
            "connected": self._connected,
            "why": self._why_not(),
            "stream": delivery.phase.name.lower(),
            "fresh": self.fresh(),
            "epoch": delivery.epoch,
            "head_seq": delivery.head_seq,
            "acked_seq": delivery.acked_seq,
            "unacknowledged": delivery.unacknowledged,
            "most_unacknowledged": self._most_unacknowledged,
            "meters": self.levels.cents,
            "meters_fresh": self.levels.fresh(time.monotonic()),
        }

    def _why_not(self) -> str:
        """Why no events flow, and what to do; or that the link is cut often; empty where people are told otherwise."""
        if self._unread:
            return f"the stream waits, for the journal cannot be read: {self._unread}"
        if self._delivery.phase is Phase.ALTERED:
            return f"event {self._altered} is not in the journal as it was signed: nothing is sent from there on"
        if self._delivery.phase is not Phase.REFUSED:
            return self._why_down or self._broker.often_cut()
        seq, code = self._refused
        why, do = f"0x{code:02x}", "look at the broker's log"
        if code == _NOT_AUTHORISED:
            why, do = f"{why}, not authorised", f"let this table publish on {self._topics.event} in its access list"
        return f"the broker refuses event {seq} ({why}): {do}. It is offered again every {RETRY_REFUSED_AFTER_S:g} s"

    async def run(self, state: Callable[[], dict[str, object]]) -> None:
        """Keep connected and deliver, until cancelled. `state` is the table's part of its retained state."""
        self._state = state
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._broker.run(self))
            tasks.create_task(self._keep_delivering())
            tasks.create_task(self._keep_state_published())

    def committed(self, messages: Sequence[Message]) -> None:
        """The journal has these events, if any. They go at once, unless an ack is to be judged first, or an event that
        is on the disk alone is to go before them."""
        for message in messages:
            if message.seq <= self._delivery.acked_seq + WINDOW:
                self._outbox[message.seq] = message
        if messages:
            self._delivery.committed(self._journal.head_seq, time.monotonic())
            if self._nothing_waits() and len(self._outbox) == self._delivery.unacknowledged:
                self._send(self._delivery.due(time.monotonic()))
            self._something_happened.set()
            self._look_at_outbox()

    def _look_at_outbox(self) -> None:
        """Tell the table when too much waits; only where that has changed. A fact that makes no event may be the result
        of cards that lie face down, and nothing is said at its commit."""
        for fact in self._watch.look(self._delivery.unacknowledged):
            self._tell(fact)

    def _nothing_waits(self) -> bool:
        """Whether all that has happened is dealt with."""
        return self._at_rest and not self._something_happened.is_set()

    # What the broker tells.

    def broker_connected(self) -> None:
        """A new connection: say how the table is, and learn the pit's last word.

        The broker sends what it retains before it answers the state, so once that is answered and no ack has come,
        there is none.
        """
        self._connected, self._why_down = True, ""
        self._connections += 1
        self._on_the_way.clear()
        self._delivery.connected()
        self._state_sent = self._whole_state()
        self._barrier = self._broker.publish(self._topics.state, self._state_sent, retain=True)

    def broker_disconnected(self, why: str) -> None:
        """The connection is gone."""
        self._connected, self._why_down = False, why
        self._barrier = None
        self._acks.clear()
        self._delivery.disconnected(time.monotonic())
        self.levels.disconnected()

    def broker_id_taken(self) -> None:
        """Another client took our place: somebody has a copy of this table's certificate, or of the table."""
        now_s = time.monotonic()
        if self._id_taken_at_s is None or now_s - self._id_taken_at_s >= _ID_TAKEN_AGAIN_AFTER_S:
            self._id_taken_at_s = now_s
            _log.error("client_id_taken: another client connected to the broker as table %s", self._table_id)
            self._tell(ClientIdTaken())

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """The pit's word came: an acknowledgement, a step of an award, the levels; or bet recognition's."""
        topics = self._topics
        if len(payload) > MOST_PAYLOAD_BYTES.get(topic.rpartition("/")[2], 0):
            _log.warning("a message of %d bytes on %.100r is refused unread", len(payload), topic)
        elif topic != topics.meters and len(self._acks) + len(self._awards) + self._wagers_asked >= _MOST_UNJUDGED:
            self._broker.drop("more comes on this table's topics than it can judge")
        elif topic == topics.ack:
            self._acks.append(payload)
            self._something_happened.set()
        elif topic == topics.award:
            self._awards.append(payload)
            self._something_happened.set()
        elif topic == topics.meters:
            if (why := self.levels.heard(payload, time.monotonic())) is not None:
                _log.warning("a message on %s is refused: %s", topic, why)
        elif topic == topics.wager and retained:
            _log.warning("a message on %s is refused: the broker kept it, so the chips lay there once", topic)
        elif topic == topics.wager:
            self._see_wager(payload)
        else:
            _log.warning("a message on %s is not for this table and is refused", topic)

    def broker_unreadable(self, topic: str, why: str) -> None:
        """What came is no message: the log says so."""
        _log.warning("a message on %r is refused: it cannot be read (%s)", topic, why)

    def broker_answered(self, token: int, reason_code: int) -> None:
        """The broker took or refused what we published."""
        if token in (self._barrier, self._state_token) and reason_code >= REFUSED_FROM:
            _log.warning("the broker refuses the table's state (0x%02x): look at its access list", reason_code)
        if token == self._barrier:
            self._barrier = None
            self._something_happened.set()
            return
        seq = self._on_the_way.pop(token, None)
        if seq is None:
            return
        if reason_code >= REFUSED_FROM:
            self._refused = seq, reason_code
        if self._delivery.published(seq, reason_code, time.monotonic()):
            self._tell(PublishRefused(seq, reason_code))
        elif reason_code == NOBODY_LISTENS and seq not in self._unheard:
            message = self._outbox.get(seq)
            if message is not None and message.says["type"] == "hit":
                self._unheard.add(seq)
                self._tell(HitUnheard(seq))
        self._something_happened.set()

    async def _keep_delivering(self) -> None:
        """Judge the pit's acks and send what is due, whenever something happened or time has passed."""
        while True:
            wait_s = self._delivery.next_due_s(time.monotonic())
            self._at_rest = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # wait_for of Python 3.11 can swallow a cancellation
                    await self._something_happened.wait()
            self._at_rest = False
            self._something_happened.clear()
            if self._connected:  # the broker may bring the retained word before it confirms the subscription
                acks, self._acks = self._acks, []
                connection = self._connections
                for payload in acks:
                    await self._judge_ack(payload, connection)
            awards, self._awards = self._awards, []
            for payload in awards:
                await self._see_award(payload)
            if self._delivery.phase is Phase.ASKING and self._barrier is None and not self._acks:
                self._delivery.nothing_retained(time.monotonic())
            await self._send_due()
            await self._mark_acked()

    async def _judge_ack(self, payload: bytes, connection: int) -> None:
        """Follow the pit's word, unless its connection has ended: the next one begins with the word retained for it."""
        ack = parse_ack(payload)
        if ack is None:
            _log.warning("a message on %s is no acknowledgement and is ignored", self._topics.ack)
            return
        if ack.epoch != self._delivery.epoch:
            _log.warning("an acknowledgement of epoch %.40r is refused: it is not this journal's", ack.epoch)
            return
        ours = ack.seq <= self._delivery.head_seq
        own = await self._message(ack.seq) if ours else None
        own_chain = None if own is None else str(own.says["chain"])
        if connection != self._connections or (own is None and ours and ack.seq > 0):
            return  # such a word cannot be judged: it is on an event that is altered
        if ours and ack.seq < self._delivery.acked_seq:
            _log.warning("the pit went back from event %d to %d; it is sent again", self._delivery.acked_seq, ack.seq)
        behind = self._delivery.acked(ack, own_chain, time.monotonic())
        if behind is not None:
            self._tell(JournalFoundBehindPit(behind.acked_seq, behind.head_seq, behind.chain_differs))
        self._look_at_outbox()
        for seq in [seq for seq in self._outbox if seq <= self._delivery.acked_seq]:
            del self._outbox[seq]

    async def _see_award(self, payload: bytes) -> None:
        """A step of an award: it must be of a hit that this journal holds."""
        said = parse_award(payload)
        hit = None
        if said is not None and (said.table, said.epoch) == (self._table_id, self._journal.epoch):
            hit = await self._message(said.hit_seq) if said.hit_seq <= self._delivery.head_seq else None
        event = {} if hit is None else hit.says
        if said is None or (event.get("type"), event.get("seat"), event.get("tier")) != ("hit", said.seat, said.tier):
            _log.warning("a message on %s is refused: it is no step of an award of this table", self._topics.award)
            return
        step = AwardStepped(
            seq=said.seq,
            award=said.award,
            hit=said.hit,
            shoe=event["shoe"],
            round=event["round"],
            seat=said.seat,
            tier=said.tier,
            meter=said.meter,
            cents=said.cents,
            step=said.step,
            by=said.by,
        )
        self._ask(SeeAward(step))

    def _see_wager(self, payload: bytes) -> None:
        """Chips that bet recognition saw. A wager that is refused is told back, and the others stand."""
        wager = wager_from_json(parse_json(payload))
        if wager is None:
            _log.warning("a message on %s is refused: it is no wager", self._topics.wager)
            return
        answer = self._ask(PlaceWager(wager, BET_RECOGNITION))
        self._wagers_asked += 1
        answer.add_done_callback(lambda done: self._wager_answered(wager, done.result().refused))

    def _wager_answered(self, wager: Wager, code: str | None) -> None:
        self._wagers_asked -= 1
        self._tell_refused(wager, code)

    def _tell_refused(self, wager: Wager, code: str | None) -> None:
        if code is None or code == "wager_lies_there" or not self._connected:
            return
        told = wager_to_json(wager) | {"code": code, "what": refusal_words(code)}
        self._broker.publish(self._topics.wager_refused, canonical(told))

    async def _message(self, seq: int) -> Message | None:
        if seq in self._outbox:
            return self._outbox[seq]
        message = await self._read(lambda: self._journal.message(seq))
        if message is None and 0 < seq <= self._delivery.head_seq:
            self._found_altered(seq)
        return message

    def _found_altered(self, seq: int) -> None:
        """The journal has every event up to its head: one that it does not give as it was signed was altered."""
        self._delivery.altered(time.monotonic())
        if seq != self._altered:
            self._altered = seq
            _log.error("event %d is not in the journal as it was signed; it is not sent, nor anything after it", seq)
            self._tell(JournalAltered(seq))

    async def _read(self, work: Callable[[], _T]) -> _T:
        """Read from the journal. A disk that would not is tried again: the stream waits, and the table need not."""
        while True:
            try:
                read = await self._on_journal(work)
            except OSError as error:
                if not self._unread:
                    _log.error("the journal cannot be read, and is tried again: %s", error)
                self._unread = str(error)
            else:
                self._unread = ""
                return read
            await asyncio.sleep(_RETRY_READ_S)

    async def _send_due(self) -> None:
        due = self._delivery.due(time.monotonic())
        if due and any(seq not in self._outbox for seq in due):
            for message in await self._read(lambda: self._journal.messages_after(due.start - 1, len(due))):
                self._outbox[message.seq] = message
            if self._delivery.phase not in (Phase.STREAMING, Phase.REFUSED):
                return  # while the disk was read the connection went, and perhaps a new one came
        altered = next((seq for seq in due if seq not in self._outbox), None)
        self._send(due if altered is None else range(due.start, altered))
        if altered is not None:
            self._found_altered(altered)

    def _send(self, due: range) -> None:
        for seq in due:
            message = self._outbox[seq]
            token = self._broker.publish(self._topics.event, message.body, event_type=message.says["type"])
            if token is not None:
                self._on_the_way[token] = seq

    async def _mark_acked(self) -> None:
        """Mark the pit's progress. Lost marks cost a resend and no more, so it waits until nothing else is to do."""
        seq = self._delivery.acked_seq
        if seq > self._marked_seq and not self._acks:
            try:
                await self._on_journal(lambda: self._journal.mark_acked(seq))
                self._marked_seq = seq
            except OSError as error:
                _log.warning("the pit's acknowledgement could not be marked: %s", error)

    async def _keep_state_published(self) -> None:
        while True:
            await asyncio.sleep(_STATE_EVERY_S)
            state = self._whole_state()
            if self._connected and state != self._state_sent:
                self._state_token = self._broker.publish(self._topics.state, state, retain=True)
                self._state_sent = state

    def _whole_state(self) -> bytes:
        oldest = self._outbox.get(self._delivery.acked_seq + 1)
        return canonical(
            {
                **self._state(),
                "online": True,
                "contract": CONTRACT_VERSION,
                "table": self._table_id,
                "epoch": self._journal.epoch,
                "boot": self._journal.boot,
                "head_seq": self._delivery.head_seq,
                "unacknowledged": self._delivery.unacknowledged,
                "oldest_unacknowledged_at": oldest.says["at"] if oldest else None,
            }
        )
