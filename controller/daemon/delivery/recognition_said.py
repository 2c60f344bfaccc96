"""Judges the wagers that bet recognition (a system that sees the chips on the layout) reports by message, before the
table acts on them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable

from controller.contract.canonical import parse_object
from controller.contract.face.status import Recognition
from controller.contract.fingerprint import shown
from controller.contract.topics import Topics
from controller.contract.wager_words import WagerWord, refused_wager
from controller.daemon.answer import Answer
from controller.daemon.clock import stamp_now
from controller.daemon.delivery.alarms import Alarms
from controller.daemon.delivery.recognition_trust import Doubt, RecognitionTrust
from controller.table.acts.entry import Request
from controller.table.acts.recognition import SeeWager
from controller.table.facts import (
    OwnFact,
    RecognitionKeyDue,
    WagerWordForged,
    WagerWordUnfit,
)
from drivers.devices import Broker

_log = logging.getLogger(__name__)

_ANSWERED = {
    Doubt.NO_KEY: "recognition_key_due",
    Doubt.OTHER_TABLE: "wager_other_table",
    Doubt.LEAPS: "wager_leaps",
}
"""The doubts of which whoever said the word is told, by the code of the answer. A forger gets no answer."""


class RecognitionSaid:
    """Judges the messages that bet recognition (a system that sees the chips on the layout) sends to one table.

    `epoch` is the random name of the table's journal, which a message must bear. `trust` holds the key of bet
    recognition. `asked` counts the wagers on which the table has not decided yet. The function `connected` tells
    whether the table is connected to the broker, so that an answer can be sent.
    """

    def __init__(
        self,
        topics: Topics,
        epoch: str,
        trust: RecognitionTrust,
        broker: Broker,
        connected: Callable[[], bool],
        ask: Callable[[Request], asyncio.Future[Answer]],
        alarms: Alarms,
    ) -> None:
        self._topics = topics
        self._epoch = epoch
        self._trust = trust
        self._broker = broker
        self._connected = connected
        self._ask = ask
        self._alarms = alarms
        self._doubted: Counter[str] = Counter()  # messages on the wagers' topic that were not believed, by the doubt
        self.asked = 0

    def adopted(self, key: str | None) -> None:
        """Take over bet recognition's key, in hex, as the journal has it; None if no key is adopted."""
        self._trust.adopted = key

    def see(self, payload: bytes) -> None:
        """Judge a message about a wager that bet recognition saw, and tell the table of the wager. If the message is
        refused, the wagers of earlier messages stay as they are."""
        message = parse_object(payload)
        judged = self._trust.judge(message, stamp_now())
        if isinstance(judged, Doubt):
            self._doubt_wager(judged)
            word = WagerWord.read(message) if judged in _ANSWERED else None
            if word is not None:
                self._refuse_wager(word, _ANSWERED[judged])
            return
        if judged.epoch != self._epoch:  # a new journal has begun while the word was on its way
            self._refuse_wager(judged, "wager_other_table")
            return
        assert self._trust.adopted is not None, "a word is believed by a key alone"
        seen = SeeWager(judged.wager, judged.seq, judged.shoe, judged.round, self._trust.adopted)
        self.asked += 1
        self._ask(seen).add_done_callback(lambda done: self._wager_answered(judged, done.result().refused))

    def _wager_answered(self, word: WagerWord, code: str | None) -> None:
        self.asked -= 1
        if code not in (None, "wager_lies_there"):
            self._refuse_wager(word, code)

    def _refuse_wager(self, word: WagerWord, code: str) -> None:
        """Tell bet recognition that its message `word` changed nothing at the table. `code` says why."""
        if self._connected():
            self._broker.publish(self._topics.wager_refused, refused_wager(word.wager, word.seq, code))

    def _doubt_wager(self, doubt: Doubt) -> None:
        """Count a message on the topic of wagers that is not believed, and tell people of it. `doubt` is the reason."""
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
        self._alarms.alarm(f"wager {doubt.value}", fact, f"a message on {topic} is not believed")

    def status(self, expected: bool) -> Recognition:
        """Return the state of bet recognition to show to people: whether it is `expected` at this table, the
        fingerprint of its adopted key, and how many messages were not believed, by reason."""
        adopted = self._trust.adopted
        key = shown(None if adopted is None else bytes.fromhex(adopted))
        return Recognition(expected, key, dict(self._doubted))
