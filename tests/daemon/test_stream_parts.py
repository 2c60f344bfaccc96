"""Checks the parts of the connection to the pit one by one: what the table sends, and how it takes the messages of the
pit and of bet recognition."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pytest

from controller.contract import events
from controller.contract.envelope import Stamp, seal
from controller.contract.pit_words import AckWord, AwardStep, MeasureWord
from controller.contract.topics import Topics
from controller.contract.wager_words import WagerWord
from controller.daemon import clock
from controller.daemon.answer import Answer
from controller.daemon.delivery import pit_said, recognition_said, sending
from controller.daemon.delivery.alarms import Alarms
from controller.daemon.delivery.guarantee import NOBODY_LISTENS, REFUSED_FROM, Delivery, Phase
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.pit_said import PitSaid
from controller.daemon.delivery.pit_trust import PitTrust
from controller.daemon.delivery.recognition_said import RecognitionSaid
from controller.daemon.delivery.recognition_trust import RecognitionTrust
from controller.daemon.delivery.sending import Sending
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Head, Message
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Request
from controller.table.acts.pit import SeeAward
from controller.table.acts.recognition import SeeWager
from controller.table.facts import (
    AwardStepped,
    HitUnheard,
    JournalAltered,
    OwnFact,
    PitWordForged,
    PublishRefused,
    RecognitionKeyDue,
    WagerWordForged,
    WagerWordUnfit,
)
from drivers.devices import Broker
from tests.daemon.daemon_world import KEY, PIT_KEY, RECOGNITION_KEY
from tests.support.waiting import eventually

_NOW = Stamp(1_800_000_000_000, True, "boot", 5_000)
_AT = _NOW.text()
_TABLE, _EPOCH = "royal9-01", "e" * 32
_TOPICS = Topics("pit/v1", _TABLE)
_GENESIS = "0" * 64
_NO_CHAIN = bytes(32)

_T = TypeVar("_T")

_HIT = events.Hit(
    *(3, 7, "royal9", 2, "personal"),
    player=events.HandShown(("9S", "KS"), 9),
    banker=events.HandShown(("2D", "3D"), 5),
    progressive=None,
    fixed=events.Fixed(500_00),
    not_read=(),
)
_RESET = events.HitReset(3, 7, (2,), "Ann")


def _message(seq: int, event: events.Event = _RESET) -> Message:
    return Message(seq, seal(event, _TABLE, _EPOCH, seq, _NOW, bytes([seq] * 32), KEY))


@pytest.fixture(autouse=True)
def _at_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wall clock always show the same time."""
    for module in (clock, pit_said, recognition_said):
        monkeypatch.setattr(module, "stamp_now", lambda: _NOW)
    monkeypatch.setattr(sending, "_RETRY_READ_S", 0.0)


class _Events:
    """A stand-in for a journal, in memory, that holds only the given messages.

    A test sets `fails` to a number: so many of the next calls raise OSError. `marked` holds the numbers of the events
    that were marked as acknowledged.
    """

    def __init__(self, *messages: Message) -> None:
        self._messages = {message.seq: message for message in messages}
        self.acked_seq = 0
        self.epoch = _EPOCH
        self.fails = 0
        self.marked: list[int] = []

    def _touch(self) -> None:
        if self.fails:
            self.fails -= 1
            raise OSError(5, "bad")

    def messages_after(self, seq: int, limit: int) -> list[Message]:
        self._touch()
        return [self._messages[each] for each in range(seq + 1, seq + 1 + limit) if each in self._messages]

    def message(self, seq: int) -> Message | None:
        self._touch()
        return self._messages.get(seq)

    def mark_acked(self, seq: int) -> None:
        self._touch()
        self.marked.append(seq)


class _Line:
    """A stand-in for a broker that records what is published. It returns a token for each message: 101 for the first,
    102 for the second, and so on.
    """

    address = "127.0.0.1:1883"

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []
        self.topics: list[str] = []

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int:
        self.published.append(json.loads(payload))
        self.topics.append(topic)
        return 100 + len(self.published)

    def seqs(self) -> list[int]:
        return [message["seq"] for message in self.published]


class _Stream:
    """The part of a table that sends events to the pit, on a connection that is up. The number of the journal's last
    event is `head_seq`.

    `told` holds the facts that this part reports to the table.
    """

    def __init__(self, head_seq: int, *messages: Message, most_unacknowledged: int = 1_000) -> None:
        self.journal, self.line = _Events(*messages), _Line()
        self.told: list[OwnFact] = []
        self.before_read: Callable[[], None] = lambda: None
        self._reads = 0
        self.delivery = Delivery(_EPOCH, 0, head_seq, 10.0)
        self.flow()
        journal, broker = cast(Journal, self.journal), cast(Broker, self.line)
        self.sending = Sending(
            _TOPICS.event, journal, broker, self._on_journal, self.told.append, self.delivery, most_unacknowledged
        )

    def flow(self) -> None:
        """Bring up a new connection, at a broker that retains no acknowledgement."""
        self.delivery.connected()
        self.delivery.nothing_retained(clock.monotonic_s())

    async def reads(self, seq: int) -> bool:
        """Get the event `seq`, and return True if it had to be read from the disk."""
        before = self._reads
        assert await self.sending.message(seq) is not None
        return self._reads > before

    async def _on_journal(self, work: Callable[[], _T]) -> _T:
        self._reads += 1
        self.before_read()
        return work()


def test_a_message_says_what_it_is_without_what_only_its_own_type_has() -> None:
    told = _message(1, _HIT)
    assert told.head == Head("hit", _AT, ("01" * 32), 3, 7)
    assert told.event == _HIT
    older = Message(1, told.body.replace(b'"tier"', b'"prize"'))
    assert (older.head, older.event) == (told.head, None)


# What is sent.


async def test_events_are_sent_in_their_order_from_memory_and_else_from_the_disk() -> None:
    stream = _Stream(3, _message(1), _message(2))
    stream.sending.keep([_message(3)])
    stream.sending.send_new()
    assert stream.line.seqs() == [], "event 1 has yet to be read, and no event goes before it"
    await stream.sending.send_due()
    assert (stream.line.seqs(), {*stream.line.topics}) == ([1, 2, 3], {_TOPICS.event})
    assert stream.sending.oldest_at == _AT
    stream.sending.keep([_message(4)])
    stream.delivery.committed(4, clock.monotonic_s())
    stream.sending.send_new()
    assert stream.line.seqs() == [1, 2, 3, 4], "a new event goes at once, where all that wait are in memory"


async def test_no_event_goes_out_after_one_that_the_journal_has_not_as_it_was_signed() -> None:
    stream = _Stream(3, _message(1), _message(3))
    await stream.sending.send_due()
    await stream.sending.send_due()
    assert stream.line.seqs() == [1]
    assert (stream.told, stream.sending.altered, stream.delivery.phase) == ([JournalAltered(2)], 2, Phase.ALTERED)
    assert await stream.sending.message(2) is None
    assert stream.told == [JournalAltered(2)], "people are told once"


async def test_a_disk_that_fails_is_read_again_and_people_read_why_meanwhile() -> None:
    stream, why = _Stream(1, _message(1)), list[str]()
    stream.journal.fails = 2
    stream.before_read = lambda: why.append(stream.sending.unread)
    await stream.sending.send_due()
    assert why == ["", "[Errno 5] bad", "[Errno 5] bad"]
    assert (stream.line.seqs(), stream.sending.unread) == ([1], "")


async def test_nothing_that_was_read_for_a_connection_is_sent_on_the_next() -> None:
    stream = _Stream(1, _message(1))

    def cut() -> None:
        stream.delivery.disconnected(clock.monotonic_s())
        stream.delivery.connected()

    stream.before_read = cut
    await stream.sending.send_due()
    assert (stream.line.seqs(), stream.delivery.phase) == ([], Phase.ASKING)


async def test_an_answer_counts_for_the_event_that_was_published_under_its_token() -> None:
    stream = _Stream(2, _message(1, _HIT), _message(2))
    await stream.sending.send_due()
    assert not stream.sending.answered(100, REFUSED_FROM), "that token is of no event"
    assert stream.sending.answered(101, NOBODY_LISTENS)
    assert stream.told == [HitUnheard(1)]
    assert stream.sending.answered(102, 0x87)
    assert (stream.told[1:], stream.sending.refused) == ([PublishRefused(2, 0x87)], (2, 0x87))
    assert not stream.sending.answered(102, 0x87), "a publish has one answer"
    stream.delivery.disconnected(clock.monotonic_s())
    stream.sending.connected()
    stream.flow()
    await stream.sending.send_due()
    stream.sending.connected()
    assert not stream.sending.answered(103, 0x87), "that was published on the connection before"


async def test_how_far_the_pit_has_got_is_marked_once_and_again_where_the_disk_failed() -> None:
    stream = _Stream(1, _message(1))
    stream.sending.keep([_message(1)])
    stream.delivery.acked_seq = 1
    assert not await stream.reads(1)
    stream.sending.let_go()
    assert await stream.reads(1), "what the pit has need not lie in memory"
    stream.journal.fails = 1
    for marked in ([], [1], [1]):
        await stream.sending.mark_acked()
        assert stream.journal.marked == marked


# What the pit says.


class _Judge:
    """The part of a table that judges the pit's messages. `pinned` is the pit's key that the table trusts. The table
    has made only one event, a hit."""

    def __init__(self, pinned: bytes | None = PIT_KEY.public) -> None:
        self.stream = _Stream(1, _message(1, _HIT))
        self.told, self.asked = self.stream.told, list[Request]()
        self.trust = PitTrust(pinned)
        self.said = PitSaid(
            _TOPICS,
            _TABLE,
            False,
            self.trust,
            self.stream.delivery,
            Levels((), 10.0),
            self.stream.sending,
            self.told.append,
            self._ask,
            Alarms(self.told.append),
        )

    def _ask(self, request: Request) -> asyncio.Future[Answer]:
        self.asked.append(request)
        return asyncio.get_running_loop().create_future()


def _ack(chain: str, seq: int = 1, epoch: str = _EPOCH) -> bytes:
    return AckWord(_TABLE, epoch, seq, chain, _AT).payload(PIT_KEY)


async def test_an_ack_that_fits_is_followed_once_its_events_have_gone_out() -> None:
    judge, chain = _Judge(), bytes([1] * 32).hex()
    await judge.stream.sending.send_due()
    await judge.said.judge_ack(_ack(chain, epoch="f" * 32), False, lambda: False)
    assert (judge.stream.delivery.acked_seq, judge.said.heard.adopted) == (0, False), "it is of another journal"
    await judge.said.judge_ack(_ack(chain), False, lambda: True)
    assert judge.stream.delivery.acked_seq == 0, "the connection that brought it is over"
    await judge.said.judge_ack(_ack(chain), False, lambda: False)
    assert (judge.stream.delivery.acked_seq, judge.said.heard.adopted) == (1, True)
    assert await judge.stream.reads(1), "what the pit has is let go"
    await judge.said.judge_ack(_ack(_GENESIS), False, lambda: False)
    assert judge.stream.delivery.phase is Phase.BEHIND
    assert [type(fact).__name__ for fact in judge.told] == ["JournalFoundBehindPit"]


async def test_an_ack_waits_while_nobody_has_pinned_the_pits_key() -> None:
    judge, payload = _Judge(None), _ack(_GENESIS, 0)
    await judge.said.judge_ack(payload, True, lambda: False)
    assert (judge.said.unbelieved_ack, judge.said.heard.adopted) == ((payload, True), None)
    judge.trust.pin(PIT_KEY.public)
    await judge.said.judge_ack(payload, True, lambda: False)
    assert judge.said.heard.adopted


async def test_a_step_of_an_award_is_of_a_hit_that_this_journal_holds() -> None:
    judge = _Judge()
    step = AwardStep(
        *("pit.7", f"{_TABLE}/{_EPOCH}/1", _TABLE, 2, "personal", None, 500_00, "verified", "Ann", _AT), seq=_NOW.at_ms
    )
    other_table = {"table": "royal9-02", "hit": f"royal9-02/{_EPOCH}/1"}
    other_epoch = {"hit": f"{_TABLE}/{'f' * 32}/1"}
    for wrong in ({"seat": 3}, {"tier": "other"}, {"hit": f"{_TABLE}/{_EPOCH}/2"}, other_table, other_epoch):
        await judge.said.see_award(_changed(step, **wrong))
    assert judge.asked == []
    await judge.said.see_award(step.payload(PIT_KEY))
    (asked,) = judge.asked
    assert isinstance(asked, SeeAward)
    assert asked.step == AwardStepped(
        *(_NOW.at_ms, "pit.7", f"{_TABLE}/{_EPOCH}/1", 3, 7, "royal9", 2, "personal", None, 500_00), "verified", "Ann"
    )
    assert (asked.least_cents, asked.most_cents) == (500_00, 500_00), "an amount is no meter: it is what the hit says"


def _changed(step: AwardStep, **fields: object) -> bytes:
    whole: dict[str, Any] = {name: getattr(step, name) for name in step.__struct_fields__}
    return AwardStep(**(whole | fields)).payload(PIT_KEY)


def test_a_message_that_another_key_signed_is_counted_by_its_topic_and_told_once() -> None:
    judge = _Judge()
    question = MeasureWord(_TABLE, _EPOCH, "0" * 64, _AT)
    assert judge.said.question(question.payload(PIT_KEY)) == question
    assert judge.said.question(MeasureWord(_TABLE, "f" * 32, "0" * 64, _AT).payload(PIT_KEY)) is None
    assert judge.told == []
    for _ in range(2):
        assert judge.said.question(question.payload(KEY)) is None
    assert (judge.told, dict(judge.said.forged)) == ([PitWordForged("measure")], {"measure": 2})


# What bet recognition says.


class _Recognition:
    """The part of a table that judges bet recognition's messages. `adopted` is the key of bet recognition that the
    table trusts.

    The table answers each wager with the refusal `code`.
    """

    def __init__(self, adopted: str | None = RECOGNITION_KEY.public.hex(), code: str | None = None) -> None:
        self.line, self.told, self.asked = _Line(), list[OwnFact](), list[Request]()
        self.connected = True
        self._code = code
        trust, broker = RecognitionTrust(_TABLE, adopted), cast(Broker, self.line)
        self.said = RecognitionSaid(
            _TOPICS, _EPOCH, trust, broker, lambda: self.connected, self._ask, Alarms(self.told.append)
        )

    def _ask(self, request: Request) -> asyncio.Future[Answer]:
        self.asked.append(request)
        answer = asyncio.get_running_loop().create_future()
        answer.set_result(Answer(self._code))
        return answer

    async def hear(self, payload: bytes) -> list[tuple[int, str]]:
        """Give this part a message of bet recognition. Return the number and the code of each message refused so
        far."""
        self.said.see(payload)
        await eventually(lambda: self.said.asked == 0)
        assert {*self.line.topics} <= {_TOPICS.wager_refused}
        return [(answer["seq"], answer["code"]) for answer in self.line.published]


def _wager(seq: int = _NOW.at_ms, table: str = _TABLE, epoch: str = _EPOCH) -> WagerWord:
    return WagerWord(table, epoch, 3, 7, 2, "player", 20_00, False, seq, _AT)


async def test_a_signed_wager_is_asked_of_the_table_and_only_a_refusal_is_answered() -> None:
    for code, answered in ((None, []), ("wager_lies_there", []), ("wager_too_low", [(_NOW.at_ms, "wager_too_low")])):
        heard = _Recognition(code=code)
        assert await heard.hear(_wager().payload(RECOGNITION_KEY)) == answered, code
        key = RECOGNITION_KEY.public.hex()
        assert heard.asked == [SeeWager(Wager(2, "player", 20_00), _NOW.at_ms, 3, 7, key)]
        assert heard.told == []


async def test_a_wager_of_another_journal_or_table_is_refused_unasked() -> None:
    heard = _Recognition()
    answered = await heard.hear(_wager(epoch="f" * 32).payload(RECOGNITION_KEY))
    assert (answered, heard.told) == ([(_NOW.at_ms, "wager_other_table")], []), "a new journal is nobody's mistake"
    answered = await heard.hear(_wager(table="royal9-02").payload(RECOGNITION_KEY))
    assert (answered[1:], heard.told) == ([(_NOW.at_ms, "wager_other_table")], [WagerWordUnfit("other_table")])
    assert heard.asked == []


async def test_a_forger_gets_no_answer_and_whoever_has_no_key_here_gets_one() -> None:
    heard = _Recognition()
    for _ in range(2):
        assert await heard.hear(_wager().payload(KEY)) == []
    assert (heard.told, heard.said.status(True).not_believed) == ([WagerWordForged("other_key")], {"other_key": 2})
    keyless = _Recognition(None)
    assert await keyless.hear(_wager().payload(RECOGNITION_KEY)) == [(_NOW.at_ms, "recognition_key_due")]
    assert (keyless.told, heard.asked, keyless.asked) == ([RecognitionKeyDue()], [], [])


async def test_without_a_connection_nobody_is_answered() -> None:
    heard = _Recognition(code="wager_too_low")
    heard.connected = False
    assert await heard.hear(_wager().payload(RECOGNITION_KEY)) == []
    assert len(heard.asked) == 1, "the table is asked all the same"
