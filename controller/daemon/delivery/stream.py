"""The table's side of the stream to the pit.

`guarantee.py` decides what to send and when. This module carries out these decisions with the broker and the journal,
and judges the pit's messages. What the table or a person has to know becomes a fact. Example: the broker refuses an
event, and the table gets `PublishRefused`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import asdict

from controller.contract.bounds import MOST_LEAP_MS, MOST_PAYLOAD_BYTES
from controller.contract.canonical import parse_object
from controller.contract.envelope import CONTRACT_VERSION, Stamp
from controller.contract.face.state import State, TableState
from controller.contract.face.status import PitKeys, PitLink, Recognition, Standing
from controller.contract.fingerprint import fingerprint
from controller.contract.old_events import as_now
from controller.contract.pit_words import AckWord, AwardStep, MetersWord
from controller.contract.state import online_state
from controller.contract.topics import Topics
from controller.contract.wager_words import WagerWord, refused_wager
from controller.daemon.answer import Answer
from controller.daemon.beat import next_beat
from controller.daemon.clock import stamp_now
from controller.daemon.delivery.guarantee import (
    NOBODY_LISTENS,
    REFUSED_FROM,
    RETRY_REFUSED_AFTER_S,
    WINDOW,
    Behind,
    Delivery,
    Older,
    Phase,
    TookBack,
)
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.outbox import OutboxWatch
from controller.daemon.delivery.pit_trust import Offer, PitClock, PitTrust, latest_at, latest_ms, leaps
from controller.daemon.delivery.recognition_trust import Doubt, RecognitionTrust
from controller.daemon.delivery.standing import PitHeard
from controller.daemon.record.journal import Journal, Message, OnJournal
from controller.rules.game.bets import ratio
from controller.table.acts.entry import Request
from controller.table.acts.pit import PinPitKey, SeeAward
from controller.table.acts.recognition import SeeWager
from controller.table.facts import (
    AwardStepped,
    ClientIdTaken,
    HitUnheard,
    JournalAltered,
    JournalFoundBehindPit,
    OwnFact,
    PitKeyDiffers,
    PitKeyRotated,
    PitTookBack,
    PitWordForged,
    PublishRefused,
    RecognitionKeyDue,
    WagerWordForged,
    WagerWordUnfit,
)
from drivers.devices import Broker

_log = logging.getLogger(__name__)

_LONGEST_STAY = 8  # at a broker on which no pit is heard, in times of `stale_after_s`
_RETRY_READ_S = 1.0
_NOT_AUTHORISED = 0x87  # MQTT 5
_MOST_UNJUDGED = 1000
"""So many messages of the network may wait for the table. A pit sends a few; bet recognition one for each spot."""
_ALARM_AGAIN_AFTER_S = 600.0
"""Two clients of one id push each other off the broker for as long as they run, and a forger forges on and on. People
are told of each at most so often."""

_TRUSTED_UNASKED = "trust_first_key"
"""The name under which the first offered key is pinned where the table's file has `trust_first_key`."""

_ANSWERED = {
    Doubt.NO_KEY: "recognition_key_due",
    Doubt.OTHER_TABLE: "wager_other_table",
    Doubt.LEAPS: "wager_leaps",
}
"""The doubts of which whoever said the word is told, by the code of the answer. A forger gets no answer."""

_T = TypeVar("_T")


class PitStream:
    """One table's stream and state, on one broker. `tell` takes the facts that the table must know.

    `stale_after_s`, `most_unacknowledged` and `trust_first_key` are as in the table file's `[pit]`. `pit_key` is the
    pit's pinned key in hex, `recognition` what is known of bet recognition's; `behind_at` is as in `Delivery`.
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
        pit_key: str | None,
        recognition: RecognitionTrust,
        behind_at: str | None,
    ) -> None:
        self._table_id = table_id
        self._trust = PitTrust(None if pit_key is None else bytes.fromhex(pit_key))
        self._pit_clock = PitClock()
        self._trust_first_key = trust_first_key
        self._recognition = recognition
        self._doubted: Counter[str] = Counter()  # messages on the wagers' topic that were not believed, by the doubt
        self._journalled_key = pit_key
        self._topics = topics
        self._journal = journal
        self._broker = broker
        self._on_journal = on_journal
        self._tell = tell
        self._ask = ask
        self.levels = levels
        self._delivery = Delivery(journal.epoch, journal.acked_seq, journal.head_seq, stale_after_s, behind_at)
        self._most_unacknowledged = most_unacknowledged
        self._stale_after_s = stale_after_s
        self._watch = OutboxWatch(most_unacknowledged)
        self._marked_seq = journal.acked_seq
        self._outbox: dict[int, Message] = {}  # the next events of the window, by seq; later events are on the disk
        self._on_the_way: dict[int, int] = {}  # by the broker's token, the seq of the event
        self._altered = 0  # the event that was last found altered in the journal, of which people were told
        self._unheard: set[int] = set()  # hits that had no listener at the broker, of which people were told
        self._acks: list[tuple[bytes, bool]] = []  # acks to be judged, and whether the broker had retained each
        self._awards: list[bytes] = []  # steps of awards to be judged
        self._wagers_asked = 0  # wagers that the table has not answered yet
        self._unbelieved_ack: tuple[bytes, bool] | None = None  # the last ack, while no key is pinned to judge it by
        self._forged: Counter[str] = Counter()  # messages that the pinned key has not signed, by the topic's last word
        self._moves = 0  # how often in a row the table left a broker on which no pit was heard
        self._came_s = 0.0  # when the table came to this broker
        self._something_happened = asyncio.Event()
        self._at_rest = False  # whether the delivering task waits for that event
        self._connections = 0
        self._connected = False
        self._why_down = "not connected yet"
        self._heard = PitHeard(time.monotonic())
        self._unread = ""  # why the journal cannot be read; empty where it can
        self._refused = 0, 0  # the event that the broker refused last, and the reason code
        self._alarmed_at_s: dict[str, float] = {}  # when people were last told of something that goes on and on
        self._barrier: int | None = None  # once this publish is answered, no retained ack comes any more
        self._state_sent = b""
        self._state_token: int | None = None
        self._state: Callable[[], TableState]  # from `run` on

    @property
    def up(self) -> bool:
        """Whether events flow."""
        return self._delivery.phase is Phase.STREAMING

    @property
    def offered_pit_keys(self) -> tuple[str, ...]:
        """The last keys that were offered as the pit's, in hex."""
        return tuple(key.hex() for key in self._trust.offers)

    def latest_seq(self, own: Stamp) -> int:
        """The highest number that a word of the pit can have by now. `own` is now by the table's clock."""
        return latest_ms(self._pit_clock.now(own, time.monotonic())) + MOST_LEAP_MS

    def fresh(self) -> bool:
        """Whether progressives can be bet on: a pit is heard, and its levels are known."""
        now_s = time.monotonic()
        return not self._trust.undecided and self._delivery.fresh(now_s) and self.levels.fresh(now_s)

    def status(self) -> PitLink:
        """How the stream is, for people."""
        delivery = self._delivery
        return PitLink(
            connected=self._connected,
            broker=self._broker.address,
            why=self._why_not(),
            standing=self.standing(),
            stream=delivery.phase.name.lower(),
            fresh=self.fresh(),
            epoch=delivery.epoch,
            head_seq=delivery.head_seq,
            acked_seq=delivery.acked_seq,
            unacknowledged=delivery.unacknowledged,
            most_unacknowledged=self._most_unacknowledged,
            meters=self.levels.of_this_game(),
            meters_fresh=self.levels.fresh(time.monotonic()),
            meters_refused=self.levels.refusal(),
            key=PitKeys(
                pinned=_shown(self._trust.pinned), offered=_shown(self._trust.offered), forged=dict(self._forged)
            ),
        )

    def recognition_status(self, expected: bool) -> Recognition:
        """Whose word the table takes for bet recognition's, and what it did not believe, for people."""
        adopted = self._recognition.adopted
        key = _shown(None if adopted is None else bytes.fromhex(adopted))
        return Recognition(expected, key, dict(self._doubted))

    def standing(self) -> Standing:
        """How the table finds the pit at this moment."""
        now_s, delivery, trust = time.monotonic(), self._delivery, self._trust
        if not self._connected:
            return Standing("no_broker", {"for_s": int(now_s - self._heard.since_s), "why": self._why_down})
        if self._unread:
            return Standing("journal_unread", {"why": self._unread})
        match delivery.phase:
            case Phase.ALTERED:
                return Standing("journal_altered", {"event": self._altered})
            case Phase.BEHIND:
                return Standing("journal_behind")
            case Phase.REFUSED:
                seq, code = self._refused
                again_s = int(RETRY_REFUSED_AFTER_S)
                details: dict[str, str | int] = {
                    "event": seq,
                    "reason": f"0x{code:02x}",
                    "topic": self._topics.event,
                    "again_s": again_s,
                }
                return Standing("refused", details)
        if trust.pinned is None:
            return Standing("no_key") if trust.offered is None else Standing("key_unpinned", self._keys())
        if trust.successor is not None:
            return Standing("key_handed_over", self._keys() | {"offered": fingerprint(trust.successor)})
        found = self._found(now_s)
        match found.code:
            case "no_pit" | "silent" if trust.offered not in (None, trust.pinned):
                return Standing("key_differs", self._keys())
            case "no_pit":
                return Standing("no_pit", found.details | {"root": self._topics.root})
            case "behind":
                return Standing("behind", found.details | {"waiting": delivery.unacknowledged})
            case _:
                return found

    def _found(self, now_s: float) -> Standing:
        """How the pit is found on a connection on which nothing is refused."""
        return self._heard.standing(self._stale_after_s, self._delivery.waits_s(now_s), self.levels.expected, now_s)

    def _keys(self) -> dict[str, str | int]:
        return {"offered": _shown(self._trust.offered) or "", "pinned": _shown(self._trust.pinned) or ""}

    def _why_not(self) -> str:
        """Why no events flow, and what to do; or that the link is cut often; empty where events flow."""
        if self._unread:
            return f"the stream waits, for the journal cannot be read: {self._unread}"
        if self._delivery.phase is Phase.ALTERED:
            return f"event {self._altered} is not in the journal as it was signed. No event is sent from that event on"
        if self._delivery.phase is not Phase.REFUSED:
            return self._why_down or self._broker.often_cut()
        seq, code = self._refused
        why, do = f"0x{code:02x}", "look at the broker's log"
        if code == _NOT_AUTHORISED:
            why, do = f"{why}, not authorised", f"let this table publish on {self._topics.event} in its access list"
        again = f"The event is offered again every {RETRY_REFUSED_AFTER_S:g} s"
        return f"the broker refuses event {seq} ({why}): {do}. {again}"

    async def run(self, state: Callable[[], TableState]) -> None:
        """Keep connected and deliver, until cancelled. `state` is the table's part of its retained state."""
        self._state = state
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._broker.run(self))
            tasks.create_task(self._keep_delivering())
            tasks.create_task(self._keep_state_published())

    def committed(self, messages: Sequence[Message], pit_key: str | None, recognition_key: str | None) -> None:
        """The journal has these new events, if any, and these keys of the pit and of bet recognition.

        The events are sent at once, unless an acknowledgement waits to be judged, or an earlier event waits to be sent
        that has yet to be read from the disk.
        """
        self._recognition.adopted = recognition_key
        if pit_key != self._journalled_key:  # while a rotation is being journalled, the journal still has the old key
            self._journalled_key = pit_key
            self._pinned(pit_key)
        for message in messages:
            if message.says["type"] == "hit" and message.says["progressive"] is not None:
                self.levels.hit(message.says["progressive"]["meter"], message.seq)
            if message.seq <= self._delivery.acked_seq + WINDOW:
                self._outbox[message.seq] = message
        if messages:
            self._delivery.committed(self._journal.head_seq, time.monotonic())
            if self._nothing_waits() and len(self._outbox) == self._delivery.unacknowledged:
                self._send(self._delivery.due(time.monotonic()))
            self._something_happened.set()
            self._look_at_outbox()

    def _look_at_outbox(self) -> None:
        """Tell the table where too many events wait. Called only where the number of waiting events has changed.

        A fact without an event may be the shoe's result of cards that lie face down. Nothing may be said at the moment
        when such a fact is committed.
        """
        for fact in self._watch.look(self._delivery.unacknowledged):
            self._tell(fact)

    def _pinned(self, pit_key: str | None) -> None:
        """Take over a newly pinned key. The pit's last acknowledgement can then be judged by that key."""
        if pit_key is None or (bytes.fromhex(pit_key) == self._trust.pinned and not self._trust.undecided):
            return
        _log.info("the pit's key is pinned: %s", fingerprint(bytes.fromhex(pit_key)))
        self._trust.pin(bytes.fromhex(pit_key))
        self._heard.link(self._connected, time.monotonic())  # messages that came before were not known to be the pit's
        if self._unbelieved_ack is not None:
            self._acks.append(self._unbelieved_ack)
            self._unbelieved_ack = None
            self._something_happened.set()

    def _nothing_waits(self) -> bool:
        """Whether all that has happened is dealt with."""
        return self._at_rest and not self._something_happened.is_set()

    # What the broker tells.

    def broker_connected(self) -> None:
        """A new connection: publish the table's state, and learn the pit's last acknowledgement.

        The broker sends what it retains before it answers the state's publish. So once that publish is answered and no
        acknowledgement has come, the broker retains none.
        """
        self._connected, self._why_down = True, ""
        self._came_s = time.monotonic()
        self._heard.link(True, self._came_s)
        self._connections += 1
        self._on_the_way.clear()
        self._delivery.connected()
        self._state_sent = self._whole_state()
        self._barrier = self._broker.publish(self._topics.state, self._state_sent, retain=True)

    def broker_disconnected(self, why: str) -> None:
        """The connection is gone."""
        self._connected, self._why_down = False, why
        self._heard.link(False, time.monotonic())
        self._barrier = None
        self._acks.clear()
        self._unbelieved_ack = None
        self._delivery.disconnected(time.monotonic())
        self.levels.disconnected()

    def broker_id_taken(self) -> None:
        """Another client took this table's place at the broker, so it has a copy of the table's certificate."""
        what = f"another client connected to the broker as table {self._table_id}"
        self._alarm("client_id_taken", ClientIdTaken(), what)

    def _alarm(self, kind: str, fact: OwnFact, what: str) -> None:
        """Tell people, unless they were told lately of this kind."""
        now_s = time.monotonic()
        told_s = self._alarmed_at_s.get(kind)
        if told_s is None or now_s - told_s >= _ALARM_AGAIN_AFTER_S:
            self._alarmed_at_s[kind] = now_s
            _log.error("%s: %s", kind, what)
            self._tell(fact)

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """A message came: an acknowledgement, a step of an award or the levels; or a wager of bet recognition."""
        topics = self._topics
        if len(payload) > MOST_PAYLOAD_BYTES.get(topic.rpartition("/")[2], 0):
            _log.warning("a message of %d bytes on %.100r is refused unread", len(payload), topic)
        elif topic != topics.meters and len(self._acks) + len(self._awards) + self._wagers_asked >= _MOST_UNJUDGED:
            self._broker.drop("more messages come on this table's topics than the table can judge")
        elif topic == topics.ack:
            self._acks.append((payload, retained))
            self._something_happened.set()
        elif topic == topics.award:
            self._awards.append(payload)
            self._something_happened.set()
        elif topic == topics.meters:
            self._see_meters(payload, retained)
        elif topic == topics.pit_key:
            self._see_pit_key(payload, retained)
        elif topic == topics.wager and retained:
            _log.warning("a message on %s is refused: the broker retained it, so it may be of long ago", topic)
        elif topic == topics.wager:
            self._see_wager(payload)
        else:
            _log.warning("a message on %s is not for this table and is refused", topic)

    def broker_unreadable(self, topic: str, why: str) -> None:
        """A message cannot be read. The log says so."""
        _log.warning("a message on %r is refused: it cannot be read (%s)", topic, why)

    def broker_answered(self, token: int, reason_code: int) -> None:
        """The broker took or refused a message that the table published."""
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
        """Judge the pit's acks and send the events that are due, whenever something happened or a time has come."""
        while True:
            wait_s = self._delivery.next_due_s(time.monotonic())
            self._at_rest = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # wait_for of Python 3.11 can swallow a cancellation
                    await self._something_happened.wait()
            self._at_rest = False
            self._something_happened.clear()
            if self._connected:  # a retained ack may come before the broker has confirmed the subscription
                acks, self._acks = self._acks, []
                connection = self._connections
                for payload, retained in acks:
                    await self._judge_ack(payload, retained, connection)
            awards, self._awards = self._awards, []
            for payload in awards:
                await self._see_award(payload)
            if self._delivery.phase is Phase.ASKING and self._barrier is None and not self._acks:
                self._delivery.nothing_retained(time.monotonic())
            await self._send_due()
            await self._mark_acked()

    def _see_pit_key(self, payload: bytes, retained: bool) -> None:
        """A key is offered as the pit's. Where a pit begins to listen, the pit says its key, and then its acks."""
        before = self._trust.pinned
        offer = self._trust.offer(payload, not retained and self._heard.present(time.monotonic()))
        if offer in (Offer.ANEW, Offer.ROTATED) and not retained:
            self._delivery.pit_came(time.monotonic())
            self._something_happened.set()
        match offer:
            case Offer.MALFORMED:
                _log.warning("a message on %s is refused: it is no key with its own signature", self._topics.pit_key)
            case Offer.UNPINNED if self._trust_first_key:
                self._ask(PinPitKey(_shown(self._trust.offered) or "", _TRUSTED_UNASKED))
            case Offer.ROTATED:
                assert before is not None
                assert self._trust.pinned is not None
                _log.info("the pit has rotated its key: %s", _shown(self._trust.pinned))
                self._tell(PitKeyRotated(self._trust.pinned.hex(), before.hex()))
            case Offer.DIFFERS | Offer.HANDED_OVER:
                offered, pinned = _shown(self._trust.offered) or "", _shown(before) or ""
                what = f"the key {offered} is offered as the pit's, and {pinned} is pinned"
                self._alarm("pit_key_differs", PitKeyDiffers(offered, pinned), what)
            case _:
                pass

    def _is_the_pits(self, topic: str, message: dict[str, object]) -> bool:
        """Whether the pinned key signed the message. While no key is pinned, no message is the pit's, nor forged."""
        if self._trust.signed(message):
            return True
        if not self._trust.undecided:
            self._heard.other_s = time.monotonic()
            kind = topic.rpartition("/")[2]
            self._forged[kind] += 1
            self._alarm(f"pit_word_forged on {topic}", PitWordForged(kind), "the pit's key has not signed this message")
        return False

    def _see_meters(self, payload: bytes, retained: bool) -> None:
        message = parse_object(payload)
        said = MetersWord.read(message)
        if said is not None and not self._is_the_pits(self._topics.meters, message):
            return
        malformed = "it is no message of the meters"
        now_s = time.monotonic()
        now = self._pit_clock.now(stamp_now(), now_s)
        why = malformed if said is None else self.levels.heard(said, now_s, now)
        if why is not None or said is None:
            _log.warning("a message on %s is refused: %s", self._topics.meters, why)
            if said is not None and not retained:
                self._refused_for_its_time("meters", payload, said.at, self.levels.last_at, now)
        elif self._heard.is_news("meters", payload) and not retained:
            self._heard.meters_old = None if self.levels.said_lately(said, now) else said.at
            if self._heard.meters_old is None:
                self._heard.word(now_s)

    def _refused_for_its_time(self, kind: str, payload: bytes, at: str, last_at: str, now: Stamp) -> None:
        """A word of the pit was refused. Where its time is the reason, people are told how the clocks stand.

        `last_at` is the time of a word that was believed before. `now` is the time by which the word was judged.
        """
        if not self._heard.is_news(kind, payload):
            return
        if at > latest_at(now):
            self._heard.refuses(Standing("clock_ahead", {"at": at, "now": now.text()}), time.monotonic())
        elif at < last_at:
            self._heard.refuses(Standing("clock_behind", {"at": at, "last_at": last_at}), time.monotonic())

    async def _judge_ack(self, payload: bytes, retained: bool, connection: int) -> None:
        """Follow the pit's acknowledgement, unless the connection that brought the acknowledgement has ended.

        The next connection begins with the acknowledgement that the broker retains.
        """
        message = parse_object(payload)
        ack = AckWord.read(message)
        if ack is None:
            _log.warning("a message on %s is no acknowledgement and is ignored", self._topics.ack)
            return
        if self._trust.undecided:
            self._unbelieved_ack = payload, retained
            return
        if not self._is_the_pits(self._topics.ack, message):
            return
        self._heard.adopted = (ack.table, ack.epoch) == (self._table_id, self._delivery.epoch)
        if not self._heard.adopted:
            if self._heard.is_news("ack", payload) and not retained:
                self._heard.word(time.monotonic())
            told = f"{ack.table}/{ack.epoch}"
            _log.warning("an acknowledgement of epoch %.40r is refused: that is not this journal's epoch", told)
            return
        ours = ack.seq <= self._delivery.head_seq
        own = await self._message(ack.seq) if ours else None
        own_chain = None if own is None else str(own.says["chain"])
        if connection != self._connections or (own is None and ours and ack.seq > 0):
            return  # the event of this ack is altered, so the ack cannot be judged
        now_s = time.monotonic()
        if self._delivery.certainly_later(ack, own_chain):
            self._pit_clock.heard(ack.at, now_s)
        now = stamp_now()
        if (why := leaps(ack, now)) is not None:
            _log.warning("an acknowledgement is refused: %s", why)
            if not retained:
                self._refused_for_its_time("ack", payload, ack.at, "", now)
            return
        before_seq = self._delivery.acked_seq
        followed = self._delivery.acked(ack, own_chain, now_s, latest_at(now))
        if not isinstance(followed, Older) and self._heard.is_news("ack", payload) and not retained:
            self._heard.word(now_s)
        match followed:
            case Behind(acked_seq, head_seq, chain_differs, at):
                self._tell(JournalFoundBehindPit(acked_seq, head_seq, chain_differs, at))
            case TookBack(acked_seq, at):
                self._tell(PitTookBack(acked_seq, at))
            case Older(last_at):
                _log.warning(
                    "an acknowledgement of %s is refused: a later one, of %s, was believed before", ack.at, last_at
                )
                if not retained:
                    self._refused_for_its_time("ack", payload, ack.at, last_at, now)
            case None if self._delivery.acked_seq < before_seq:
                _log.warning(
                    "the pit went back from event %d to %d: the events between are sent again", before_seq, ack.seq
                )
        self._look_at_outbox()
        for seq in [seq for seq in self._outbox if seq <= self._delivery.acked_seq]:
            del self._outbox[seq]

    async def _see_award(self, payload: bytes) -> None:
        """Judge a step of an award: the step must be the pit's, and of a hit that this journal holds."""
        message = parse_object(payload)
        said = AwardStep.read(message)
        hit = None
        if said is not None:
            if not self._is_the_pits(self._topics.award, message):
                return
            if (why := leaps(said, self._pit_clock.now(stamp_now(), time.monotonic()))) is not None:
                _log.warning("a message on %s is refused: %s", self._topics.award, why)
                return
            if (said.table, said.epoch) == (self._table_id, self._journal.epoch):
                hit = await self._message(said.hit_seq) if said.hit_seq <= self._delivery.head_seq else None
        event = {} if hit is None else as_now(hit.says)
        if said is None or not _is_of_hit(said, event):
            _log.warning("a message on %s is refused: it is no step of an award of this table", self._topics.award)
            return
        step = AwardStepped(
            seq=said.seq,
            award=said.award,
            hit=said.hit,
            shoe=event["shoe"],
            round=event["round"],
            spot=event["spot"],
            seat=said.seat,
            tier=said.tier,
            meter=said.meter,
            cents=said.cents,
            step=said.step,
            by=said.by,
        )
        self._ask(SeeAward(step, *self._possible_cents(event)))

    def _possible_cents(self, hit: dict[str, Any]) -> tuple[int, int]:
        """The least and the most cents that the award of this hit, an event, can be."""
        if hit["fixed"] is not None:
            return hit["fixed"]["cents"], hit["fixed"]["cents"]
        won = hit["progressive"]
        return 0, int(ratio(won["share"]) * self.levels.most_cents(won["meter"], won["shown_cents"], hit["seq"]))

    def _see_wager(self, payload: bytes) -> None:
        """Tell the table of a wager that bet recognition saw. Its other wagers stand where this one is refused."""
        message = parse_object(payload)
        judged = self._recognition.judge(message, stamp_now())
        if isinstance(judged, Doubt):
            self._doubt_wager(judged)
            word = WagerWord.read(message) if judged in _ANSWERED else None
            if word is not None:
                self._refuse_wager(word, _ANSWERED[judged])
            return
        if judged.epoch != self._journal.epoch:  # a new journal has begun while the word was on its way
            self._refuse_wager(judged, "wager_other_table")
            return
        assert self._recognition.adopted is not None, "a word is believed by a key alone"
        seen = SeeWager(judged.wager, judged.seq, judged.shoe, judged.round, self._recognition.adopted)
        self._wagers_asked += 1
        self._ask(seen).add_done_callback(lambda done: self._wager_answered(judged, done.result().refused))

    def _wager_answered(self, word: WagerWord, code: str | None) -> None:
        self._wagers_asked -= 1
        if code not in (None, "wager_lies_there"):
            self._refuse_wager(word, code)

    def _refuse_wager(self, word: WagerWord, code: str) -> None:
        """Tell bet recognition that the word changed nothing, and why."""
        if self._connected:
            self._broker.publish(self._topics.wager_refused, refused_wager(word.wager, word.seq, code))

    def _doubt_wager(self, doubt: Doubt) -> None:
        """Tell people of a message in the name of bet recognition that is not believed."""
        topic = self._topics.wager
        self._doubted[doubt.value] += 1
        _log.warning("a message on %s is refused: it is no wager of bet recognition: %s", topic, doubt.value)
        match doubt:
            case Doubt.NO_KEY:
                fact: OwnFact = RecognitionKeyDue()
            case Doubt.UNSIGNED | Doubt.OTHER_KEY:
                fact = WagerWordForged(doubt.value)
            case _:
                fact = WagerWordUnfit(doubt.value)
        self._alarm(f"wager {doubt.value}", fact, f"a message on {topic} is not believed")

    async def _message(self, seq: int) -> Message | None:
        if seq in self._outbox:
            return self._outbox[seq]
        message = await self._read(lambda: self._journal.message(seq))
        if message is None and 0 < seq <= self._delivery.head_seq:
            self._found_altered(seq)
        return message

    def _found_altered(self, seq: int) -> None:
        """Event `seq` is not in the journal as it was signed, so the event was altered: a journal has no gaps."""
        self._delivery.altered(time.monotonic())
        if seq != self._altered:
            self._altered = seq
            _log.error("event %d is not in the journal as it was signed: neither it nor any later event is sent", seq)
            self._tell(JournalAltered(seq))

    async def _read(self, work: Callable[[], _T]) -> _T:
        """Read from the journal. Where the disk fails, try again: the stream waits meanwhile, and the table goes on."""
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
        """Mark in the journal how far the pit has got, once nothing else is to do.

        Without the mark a restart sends events again, and nothing worse.
        """
        seq = self._delivery.acked_seq
        if seq > self._marked_seq and not self._acks:
            try:
                await self._on_journal(lambda: self._journal.mark_acked(seq))
                self._marked_seq = seq
            except OSError as error:
                _log.warning("the pit's acknowledgement could not be marked: %s", error)

    async def _keep_state_published(self) -> None:
        while True:
            await next_beat()
            self._seek_pit()
            state = self._whole_state()
            if self._connected and state != self._state_sent:
                self._state_token = self._broker.publish(self._topics.state, state, retain=True)
                self._state_sent = state

    def _seek_pit(self) -> None:
        """Leave a broker on which no pit is heard for the next. The line between that broker and the pit may be cut.

        Each stay is twice as long as the stay before: where no broker has a pit, a move helps nobody.
        """
        if not (self._connected and self._broker.has_others):
            return
        now_s = time.monotonic()
        if self._found(now_s).code not in ("no_pit", "silent", "clock_ahead", "clock_behind"):
            self._moves = 0
        elif now_s - self._came_s >= self._stale_after_s * min(2**self._moves, _LONGEST_STAY):
            self._moves += 1
            self._heard.moves()
            self._broker.drop(f"no pit is heard on the broker {self._broker.address}", move=True)

    def _whole_state(self) -> bytes:
        oldest = self._outbox.get(self._delivery.acked_seq + 1)
        return online_state(
            State(
                **asdict(self._state()),
                online=True,
                table=self._table_id,
                epoch=self._journal.epoch,
                boot=self._journal.boot,
                contract=CONTRACT_VERSION,
                head_seq=self._delivery.head_seq,
                unacknowledged=self._delivery.unacknowledged,
                pit=self.standing().code,
                broker=self._broker.address,
                oldest_unacknowledged_at=oldest.says["at"] if oldest else None,
            )
        )


def _shown(key: bytes | None) -> str | None:
    """A key as the fingerprint that people compare."""
    return None if key is None else fingerprint(key)


def _is_of_hit(step: AwardStep, event: dict[str, Any]) -> bool:
    """Whether the event is the hit that the step is of."""
    if (event.get("type"), event.get("seat"), event.get("tier")) != ("hit", step.seat, step.tier):
        return False
    meter = None if event["progressive"] is None else event["progressive"]["meter"]
    return bool(meter == step.meter)
