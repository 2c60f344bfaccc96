"""Judges the messages that the pit sends to one table: the pit's key, acknowledgements, steps of awards, and the levels
of the meters."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable

from controller.contract.canonical import parse_object
from controller.contract.envelope import Stamp
from controller.contract.event_reading import sent
from controller.contract.events import Hit, Win
from controller.contract.face.status import Standing
from controller.contract.fingerprint import shown
from controller.contract.old_events import as_now
from controller.contract.pit_words import AckWord, AwardStep, MeasureWord, MetersWord, moment_ms
from controller.contract.topics import Topics
from controller.daemon import clock
from controller.daemon.answer import Answer
from controller.daemon.clock import stamp_now
from controller.daemon.delivery.alarms import Alarms
from controller.daemon.delivery.guarantee import (
    Behind,
    Delivery,
    Older,
    TookBack,
)
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.pit_trust import Offer, PitClock, PitTrust, latest_at, leaps
from controller.daemon.delivery.sending import Sending
from controller.daemon.delivery.standing import PitHeard
from controller.rules.game.bets import ratio
from controller.table.acts.entry import Request
from controller.table.acts.pit import PinPitKey, SeeAward, SeeWin
from controller.table.facts import (
    AwardStepped,
    JournalFoundBehindPit,
    OwnFact,
    PitKeyDiffers,
    PitKeyRotated,
    PitTookBack,
    PitWordForged,
)

_log = logging.getLogger(__name__)

_TRUSTED_UNASKED = "trust_first_key"
"""The name under which the first offered key is pinned where the table's file has `trust_first_key`."""


WIN_SHOWN_S = 60
"""For so long after it was won a table's screen tells a win. Who comes later is told nothing old."""


class PitSaid:
    """Judges the messages that the pit sends to one table, and tells the table of the messages that are believed.

    `heard` notes when and how the pit was heard. `clock` estimates the pit's present time from the pit's messages.
    `forged` maps the last part of a topic, such as "ack", to the number of messages on it that the pinned key did not
    sign. `unbelieved_ack` is a pair: the last acknowledgement that came while no key was pinned, and whether the broker
    had retained it.
    """

    def __init__(
        self,
        topics: Topics,
        table_id: str,
        trust_first_key: bool,
        trust: PitTrust,
        delivery: Delivery,
        levels: Levels,
        sending: Sending,
        tell: Callable[[OwnFact], None],
        ask: Callable[[Request], asyncio.Future[Answer]],
        alarms: Alarms,
    ) -> None:
        self._topics = topics
        self._table_id = table_id
        self._trust_first_key = trust_first_key
        self._trust = trust
        self._delivery = delivery
        self._levels = levels
        self._sending = sending
        self._tell = tell
        self._ask = ask
        self._alarms = alarms
        self.heard = PitHeard(clock.monotonic_s())
        self.clock = PitClock()
        self.forged: Counter[str] = Counter()
        self.unbelieved_ack: tuple[bytes, bool] | None = None
        self._win: Win | None = None  # the last win that the pit named

    def see_pit_key(self, payload: bytes, retained: bool) -> bool:
        """Judge a message that offers a key as the pit's key. Return True if the message shows that a program of the
        pit has just begun to listen.

        A program of the pit that begins to listen sends its key first, and its acknowledgements afterwards.
        """
        before = self._trust.pinned
        offer = self._trust.offer(payload, not retained and self.heard.present(clock.monotonic_s()))
        came = offer in (Offer.ANEW, Offer.ROTATED) and not retained
        if came:
            self._delivery.pit_came(clock.monotonic_s())
        match offer:
            case Offer.MALFORMED:
                _log.warning("a message on %s is refused: it is no key with its own signature", self._topics.pit_key)
            case Offer.UNPINNED if self._trust_first_key:
                self._ask(PinPitKey(shown(self._trust.offered) or "", _TRUSTED_UNASKED))
            case Offer.ROTATED:
                assert before is not None
                assert self._trust.pinned is not None
                _log.info("the pit has rotated its key: %s", shown(self._trust.pinned))
                self._tell(PitKeyRotated(self._trust.pinned.hex(), before.hex()))
            case Offer.DIFFERS | Offer.HANDED_OVER:
                offered, pinned = shown(self._trust.offered) or "", shown(before) or ""
                what = f"the key {offered} is offered as the pit's, and {pinned} is pinned"
                self._alarms.alarm("pit_key_differs", PitKeyDiffers(offered, pinned), what)
            case _:
                pass
        return came

    def see_meters(self, payload: bytes, retained: bool) -> None:
        message = parse_object(payload)
        said = MetersWord.read(message)
        if said is not None and not self.is_the_pits(self._topics.meters, message):
            return
        malformed = "it is no message of the meters"
        now_s, own = clock.monotonic_s(), stamp_now()
        now = self.clock.now(own, now_s)
        why = malformed if said is None else self._levels.heard(said, now_s, own, str(message["signature"]), now)
        if why is not None or said is None:
            _log.warning("a message on %s is refused: %s", self._topics.meters, why)
            if said is not None and not retained:
                self._refused_for_its_time("meters", payload, said.at, self._levels.last_at, now)
        elif self.heard.is_news("meters", payload) and not retained:
            self.heard.meters_old = None if self._levels.said_lately(said, own) else said.at
            if self.heard.meters_old is None:
                self.heard.word(now_s)
        if why is None and said is not None and said.win is not None and said.win != self._win:
            self._see_win(said.win, said.seq, now, retained)

    def _see_win(self, win: Win, word_seq: int, now: Stamp, retained: bool) -> None:
        """Tell the table of a win that the pit's message before did not report. `word_seq` is the number of the
        message."""
        self._win = win
        at_ms = moment_ms(win.at)
        assert at_ms is not None, "a win that was read has a moment"
        young = now.at_ms - at_ms < 1000 * WIN_SHOWN_S if now.synchronised else not retained
        self._ask(SeeWin(win, young and win.table != self._table_id, word_seq))

    async def judge_ack(self, payload: bytes, retained: bool, is_over: Callable[[], bool]) -> None:
        """Judge an acknowledgement of the pit. If it is sound, count the events that it covers as acknowledged. Drop it
        if `is_over` returns True, which means that the connection over which it came has ended.

        A dropped acknowledgement is not lost: the broker retains it, and sends it again on the next connection.
        """
        message = parse_object(payload)
        ack = AckWord.read(message)
        if ack is None:
            _log.warning("a message on %s is no acknowledgement and is ignored", self._topics.ack)
            return
        if self._trust.undecided:
            self.unbelieved_ack = payload, retained
            return
        if not self.is_the_pits(self._topics.ack, message):
            return
        self.heard.adopted = (ack.table, ack.epoch) == (self._table_id, self._delivery.epoch)
        if not self.heard.adopted:
            if self.heard.is_news("ack", payload) and not retained:
                self.heard.word(clock.monotonic_s())
            told = f"{ack.table}/{ack.epoch}"
            _log.warning("an acknowledgement of epoch %.40r is refused: that is not this journal's epoch", told)
            return
        ours = ack.seq <= self._delivery.head_seq
        own = await self._sending.message(ack.seq) if ours else None
        own_chain = None if own is None else own.head.chain
        if is_over() or (own is None and ours and ack.seq > 0):
            return  # the event of this ack is altered, so the ack cannot be judged
        self._follow(ack, own_chain, payload, retained)

    def _follow(self, ack: AckWord, own_chain: str | None, payload: bytes, retained: bool) -> None:
        """Count all events up to number `ack.seq` as acknowledged by the pit, unless the time of the acknowledgement
        shows that it is old or wrong, or the acknowledgement does not fit this journal. Tell the table if it does not
        fit, or if it fits again.

        `own_chain` is the chain value that this journal has for that event; None if the journal has no such event.
        """
        now_s = clock.monotonic_s()
        if self._delivery.certainly_later(ack, own_chain):
            self.clock.heard(ack.at, now_s)
        now = stamp_now()
        if (why := leaps(ack, now)) is not None:
            _log.warning("an acknowledgement is refused: %s", why)
            if not retained:
                self._refused_for_its_time("ack", payload, ack.at, "", now)
            return
        before_seq = self._delivery.acked_seq
        followed = self._delivery.acked(ack, own_chain, now_s, latest_at(now))
        if not isinstance(followed, Older) and self.heard.is_news("ack", payload) and not retained:
            self.heard.word(now_s)
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
        self._sending.let_go()

    async def see_award(self, payload: bytes) -> None:
        """Judge a message of the pit about a step of an award, and tell the table of it. The pit must have signed the
        message, its time and number must not be too far ahead, and this journal must hold the hit to which the award
        belongs."""
        message = parse_object(payload)
        said = AwardStep.read(message)
        hit = None
        if said is not None:
            if not self.is_the_pits(self._topics.award, message):
                return
            if (why := leaps(said, self.clock.now(stamp_now(), clock.monotonic_s()))) is not None:
                _log.warning("a message on %s is refused: %s", self._topics.award, why)
                return
            if (said.table, said.epoch) == (self._table_id, self._delivery.epoch):
                hit = await self._sending.message(said.hit_seq) if said.hit_seq <= self._delivery.head_seq else None
        told = None if hit is None else sent(as_now(hit.says))
        won = None if told is None else told.event
        if said is None or told is None or not isinstance(won, Hit) or not _is_of_hit(said, won):
            _log.warning("a message on %s is refused: it is no step of an award of this table", self._topics.award)
            return
        assert won.shoe is not None, "a hit is of a round"
        assert won.round is not None, "a hit is of a round"
        step = AwardStepped(
            seq=said.seq,
            award=said.award,
            hit=said.hit,
            shoe=won.shoe,
            round=won.round,
            spot=won.spot,
            seat=said.seat,
            tier=said.tier,
            meter=said.meter,
            cents=said.cents,
            step=said.step,
            by=said.by,
        )
        self._ask(SeeAward(step, *self._possible_cents(won, told.seq)))

    def question(self, payload: bytes) -> MeasureWord | None:
        """Read a message in which the pit asks which program files run at this table, and return the question. Return
        None if the message is not such a question, is for another table or epoch, is not signed by the pit, or has a
        time more than a day ahead."""
        message = parse_object(payload)
        asked = MeasureWord.read(message)
        if asked is None or (asked.table, asked.epoch) != (self._table_id, self._delivery.epoch):
            _log.warning("a message on %s is refused: it is no question to this table", self._topics.measure)
            return None
        if not self.is_the_pits(self._topics.measure, message):
            return None
        if (why := leaps(asked, self.clock.now(stamp_now(), clock.monotonic_s()))) is not None:
            _log.warning("a message on %s is refused: %s", self._topics.measure, why)
            return None
        return asked

    def _possible_cents(self, hit: Hit, seq: int) -> tuple[int, int]:
        """Return the least and the most cents that the pit can award for this hit. `seq` is the number of the hit's
        event."""
        if hit.fixed is not None:
            return hit.fixed.cents, hit.fixed.cents
        won = hit.progressive
        assert won is not None, "a hit wins a meter or an amount"
        return 0, int(ratio(won.share) * self._levels.most_cents(won.meter, won.shown_cents, seq))

    def is_the_pits(self, topic: str, message: dict[str, object]) -> bool:
        """Tell whether the pinned key signed the message. If it did not, tell people of a forgery.

        While a person has yet to pin a key, no message counts as the pit's, and no message counts as forged.
        """
        if self._trust.signed(message):
            return True
        if not self._trust.undecided:
            self.heard.other_s = clock.monotonic_s()
            kind = topic.rpartition("/")[2]
            self.forged[kind] += 1
            self._alarms.alarm(
                f"pit_word_forged on {topic}", PitWordForged(kind), "the pit's key has not signed this message"
            )
        return False

    def _refused_for_its_time(self, kind: str, payload: bytes, at: str, last_at: str, now: Stamp) -> None:
        """Take in that a message of the pit was refused. If its time `at` is the reason, note whether the pit's clock
        seems to be ahead or to have gone back. Do nothing if the message only repeats the last message of its kind.

        `last_at` is the time of the last believed message. `now` is the time by which the message was judged.
        """
        if not self.heard.is_news(kind, payload):
            return
        if at > latest_at(now):
            self.heard.refuses(Standing("clock_ahead", {"at": at, "now": now.text()}), clock.monotonic_s())
        elif at < last_at:
            self.heard.refuses(Standing("clock_behind", {"at": at, "last_at": last_at}), clock.monotonic_s())


def _is_of_hit(step: AwardStep, hit: Hit) -> bool:
    """Tell whether the step of an award names the same seat, tier and meter as the hit."""
    meter = None if hit.progressive is None else hit.progressive.meter
    return (hit.seat, hit.tier, meter) == (step.seat, step.tier, step.meter)
