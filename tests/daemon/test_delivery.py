"""Checks that each event reaches the pit: first the single steps of the delivery, and then all of it over a bad
network."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.contract.canonical import parse_object
from controller.contract.pit_words import AckWord
from controller.daemon.delivery.guarantee import Behind, Delivery, Older, Phase, TookBack
from tests.support.ordered_pit import OrderedPit
from tests.support.samples import examples

EPOCH = "0123456789"
STALE_S = 10.0


def chain(seq: int, journal: str = "ours") -> str:
    """Return a readable text, such as "ours-3", that stands in for the chain hash of event 3."""
    return f"{journal}-{seq}"


AT = "2026-01-01T00:00:00.000Z"


def said(epoch: str, seq: int, chain: str, at: str = AT) -> AckWord:
    """Return an acknowledgement of event `seq` by the pit, sent at the time `at`. It names `chain` as the chain hash of
    that event."""
    return AckWord("royal9-01", epoch, seq, chain, at)


def word(seq: int, at: str = AT) -> AckWord:
    """Return the acknowledgement that an honest pit sends for event `seq` of this table's journal."""
    return said(EPOCH, seq, chain(seq), at)


def streaming(acked: int = 0, head: int = 0, now_s: float = 0.0) -> Delivery:
    """Return the delivery of a table whose connection has just come up at the time `now_s`, at a broker that retains no
    message. The journal's last event has the number `head`, and the pit has acknowledged the events up to `acked`."""
    delivery = Delivery(EPOCH, acked, head, STALE_S)
    delivery.connected()
    delivery.nothing_retained(now_s)
    assert delivery.phase is Phase.STREAMING
    return delivery


# Transitions.


def test_a_new_delivery_is_offline_and_sends_nothing() -> None:
    delivery = Delivery(EPOCH, 0, 5, STALE_S)
    assert delivery.phase is Phase.OFFLINE
    assert list(delivery.due(100.0)) == []
    assert delivery.next_due_s(100.0) is None
    assert delivery.unacknowledged == 5


def test_while_asking_nothing_is_sent_however_long_it_takes() -> None:
    delivery = Delivery(EPOCH, 0, 5, STALE_S)
    delivery.connected()
    assert delivery.phase is Phase.ASKING
    for now_s in (0.0, 1.0, 100.0, 10_000.0):
        assert list(delivery.due(now_s)) == []
        assert delivery.next_due_s(now_s) is None


def test_no_retained_word_and_the_journals_own_mark_stands() -> None:
    assert list(streaming(acked=3, head=5).due(0.0)) == [4, 5]


def test_the_retained_word_is_ahead_of_the_mark() -> None:
    delivery = Delivery(EPOCH, 1, 5, STALE_S)
    delivery.connected()
    assert delivery.acked(word(4), chain(4), 0.0) is None
    assert delivery.phase is Phase.STREAMING
    assert list(delivery.due(0.0)) == [5]


def test_the_retained_word_is_behind_the_mark() -> None:
    delivery = Delivery(EPOCH, 4, 5, STALE_S)
    delivery.connected()
    assert delivery.acked(word(1), chain(1), 0.0) is None
    assert list(delivery.due(0.0)) == [2, 3, 4, 5]


def test_the_retained_word_may_be_that_there_is_nothing_yet() -> None:
    delivery = Delivery(EPOCH, 0, 2, STALE_S)
    delivery.connected()
    assert delivery.acked(said(EPOCH, 0, "0" * 64), None, 0.0) is None
    assert list(delivery.due(0.0)) == [1, 2]


def test_a_word_of_another_epoch_says_nothing() -> None:
    delivery = Delivery(EPOCH, 1, 5, STALE_S)
    delivery.connected()
    assert delivery.acked(said("other", 99, "x"), None, 0.0) is None
    assert delivery.phase is Phase.ASKING
    assert delivery.acked_seq == 1


def test_a_word_that_comes_offline_says_nothing() -> None:
    delivery = Delivery(EPOCH, 1, 5, STALE_S)
    assert delivery.acked(word(4), chain(4), 0.0) is None
    assert delivery.acked_seq == 1


def test_nothing_is_sent_twice_without_a_reason() -> None:
    delivery = streaming(head=3)
    assert list(delivery.due(0.0)) == [1, 2, 3]
    assert list(delivery.due(1.9)) == []
    delivery.committed(4, 1.9)
    assert list(delivery.due(1.9)) == [4]


def test_a_silent_pit_is_sent_everything_again_after_two_seconds() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    assert delivery.next_due_s(0.5) == pytest.approx(1.5)
    assert list(delivery.due(1.99)) == []
    assert list(delivery.due(2.0)) == [1, 2, 3]
    assert list(delivery.due(2.0)) == []


def test_a_pit_that_stays_silent_is_tried_ever_less_often_and_after_its_word_soon_again() -> None:
    delivery, now_s, waits_s = streaming(head=3), 0.0, []
    delivery.due(now_s)
    for _ in range(6):
        wait_s = delivery.next_due_s(now_s)
        assert wait_s is not None
        assert list(delivery.due(now_s + wait_s - 0.01)) == []
        now_s += wait_s
        assert list(delivery.due(now_s)) == [1, 2, 3]
        waits_s.append(wait_s)
    assert waits_s == [2.0, 4.0, 8.0, 16.0, 16.0, 16.0]
    delivery.acked(said(EPOCH, 0, "0" * 64), None, now_s)
    assert delivery.next_due_s(now_s) == 16.0, "the same word again is no progress"
    delivery.acked(word(1), chain(1), now_s)
    assert delivery.next_due_s(now_s) == 2.0


def test_a_pit_that_comes_back_is_sent_the_oldest_event_and_twice_as_many_after_each_word() -> None:
    delivery = streaming(head=100)
    delivery.due(0.0)
    delivery.due(2.0)
    delivery.pit_came(3.0)
    came, now_s = [list(delivery.due(3.0))], 3.0
    while delivery.unacknowledged:
        assert list(delivery.due(now_s)) == [], "nothing more before its word"
        now_s += 0.1
        last = came[-1][-1]
        delivery.acked(word(last), chain(last), now_s)
        came.append(list(delivery.due(now_s)))
    assert [len(each) for each in came] == [1, 2, 4, 8, 16, 32, 37, 0]
    assert [seq for each in came for seq in each] == [*range(1, 101)]


def test_a_pit_that_comes_back_and_is_slow_is_sent_the_oldest_event_alone_again() -> None:
    delivery = streaming(head=100)
    delivery.pit_came(0.0)
    assert list(delivery.due(0.0)) == [1]
    delivery.acked(word(1), chain(1), 0.1)
    assert list(delivery.due(0.1)) == [2, 3]
    assert list(delivery.due(2.1)) == [2]
    assert list(delivery.due(6.1)) == [2]
    delivery.acked(word(3), chain(3), 7.0)
    assert list(delivery.due(7.0)) == [4, 5]


def test_while_nobody_listens_a_hit_need_not_wait_for_a_word() -> None:
    delivery = streaming(head=100)
    delivery.pit_came(0.0)
    assert list(delivery.due(0.0)) == [1]
    delivery.published(1, 0x10, 0.1)
    assert list(delivery.due(0.1)) == [*range(2, 51)]


def test_a_pit_that_makes_progress_is_given_two_seconds_more() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.acked(word(1), chain(1), 1.5)
    assert list(delivery.due(2.0)) == []
    assert list(delivery.due(3.5)) == [2, 3]


def test_a_pit_that_repeats_itself_makes_no_progress() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.acked(word(1), chain(1), 0.5)
    delivery.acked(word(1), chain(1), 2.0)
    assert list(delivery.due(2.5)) == [2, 3]


def test_the_window_is_fifty() -> None:
    delivery = streaming(head=120)
    assert list(delivery.due(0.0)) == list(range(1, 51))
    assert list(delivery.due(0.1)) == []
    delivery.acked(word(10), chain(10), 0.2)
    assert list(delivery.due(0.2)) == list(range(51, 61))
    assert list(delivery.due(2.2)) == list(range(11, 61))


def test_everything_acknowledged_leaves_nothing_to_do() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.acked(word(3), chain(3), 0.1)
    assert delivery.unacknowledged == 0
    assert list(delivery.due(100.0)) == []
    assert delivery.next_due_s(100.0) is None


def test_a_word_that_goes_back_is_followed() -> None:
    delivery = streaming(head=5)
    delivery.due(0.0)
    delivery.acked(word(5), chain(5), 0.1)
    delivery.acked(word(2), chain(2), 50.0)
    assert delivery.unacknowledged == 3
    assert list(delivery.due(50.0)) == []
    assert list(delivery.due(52.0)) == [3, 4, 5]


def test_a_lost_connection_takes_back_what_was_on_its_way() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.disconnected(0.5)
    assert delivery.phase is Phase.OFFLINE
    assert list(delivery.due(5.0)) == []
    delivery.connected()
    assert list(delivery.due(5.0)) == []
    delivery.acked(word(1), chain(1), 5.0)
    assert list(delivery.due(5.0)) == [2, 3]


def test_word_that_nothing_is_retained_counts_only_while_asking() -> None:
    delivery = streaming(head=1)
    delivery.disconnected(0.0)
    delivery.nothing_retained(0.0)
    assert delivery.phase is Phase.OFFLINE


# A journal that the pit does not know.


@pytest.mark.parametrize(
    ("ack", "own_chain", "behind"),
    [
        (word(6), None, Behind(6, 5, chain_differs=False, at=AT)),
        (said(EPOCH, 3, chain(3, "theirs")), chain(3), Behind(3, 5, chain_differs=True, at=AT)),
        (said(EPOCH, 3, chain(3)), None, Behind(3, 5, chain_differs=True, at=AT)),
    ],
    ids=["past its head", "another chain", "an event that is gone"],
)
@pytest.mark.parametrize("asking", [True, False], ids=["asking", "streaming"])
def test_a_word_this_journal_cannot_have_earned_ends_the_stream_for_good(
    ack: AckWord, own_chain: str | None, behind: Behind, asking: bool
) -> None:
    delivery = streaming(acked=1, head=5)
    if asking:
        delivery.disconnected(0.0)
        delivery.connected()
    assert delivery.acked(ack, own_chain, 1.0) == behind
    assert delivery.phase is Phase.BEHIND
    later: list[Callable[[], object]] = [
        lambda: delivery.acked(word(2), chain(2), 2.0),
        lambda: delivery.committed(9, 2.0),
        lambda: delivery.published(1, 0, 2.0),
        lambda: delivery.published(1, 0x87, 2.0),
        lambda: delivery.disconnected(2.0),
        lambda: delivery.connected(),
        lambda: delivery.nothing_retained(2.0),
    ]
    for act in (*later, *later):
        act()
        assert list(delivery.due(1000.0)) == []
        assert delivery.phase is Phase.BEHIND
    assert not delivery.fresh(1000.0)


# A broker that refuses.


def test_a_refusal_stops_the_stream_and_is_told_once() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    assert delivery.published(1, 0x87, 0.1)
    assert delivery.phase is Phase.REFUSED
    assert not delivery.published(1, 0x87, 0.1)
    assert not delivery.published(1, 0x97, 0.2)
    assert list(delivery.due(5.0)) == []


@pytest.mark.parametrize(("reason_code", "refused"), [(0x00, False), (0x10, False), (0x7F, False), (0x80, True)])
def test_a_reason_from_0x80_on_is_a_refusal(reason_code: int, refused: bool) -> None:
    delivery = streaming(head=1)
    delivery.due(0.0)
    assert delivery.published(1, reason_code, 0.1) is refused
    assert delivery.phase is (Phase.REFUSED if refused else Phase.STREAMING)


def test_what_was_refused_is_offered_alone_every_five_seconds() -> None:
    delivery = streaming(acked=1, head=60)
    delivery.due(0.0)
    delivery.published(1, 0x87, 0.0)
    assert delivery.next_due_s(1.0) == pytest.approx(4.0)
    assert list(delivery.due(4.9)) == []
    assert list(delivery.due(5.0)) == [2]
    assert list(delivery.due(5.1)) == []
    assert list(delivery.due(10.0)) == [2]


def test_an_offer_that_is_taken_lets_everything_flow_again() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.published(1, 0x87, 0.0)
    delivery.due(5.0)
    assert not delivery.published(1, 0, 5.1)
    assert delivery.phase is Phase.STREAMING
    assert list(delivery.due(5.1)) == [1, 2, 3]
    assert delivery.published(1, 0x87, 6.0), "the next episode is told again"


def test_a_refused_stream_that_loses_its_connection_asks_again() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.published(1, 0x87, 0.0)
    delivery.disconnected(1.0)
    delivery.connected()
    assert delivery.phase is Phase.ASKING


def test_nothing_is_sent_from_an_altered_event_on_until_the_next_connection() -> None:
    delivery = streaming(head=3)
    assert list(delivery.due(0.0)) == [1, 2, 3]
    delivery.altered(0.0)  # event 2: the first was sent
    assert delivery.phase is Phase.ALTERED
    delivery.acked(word(1), chain(1), 1.0)
    assert delivery.acked_seq == 1, "the pit's word on what was sent before counts"
    assert list(delivery.due(100.0)) == []
    assert delivery.next_due_s(100.0) is None
    delivery.committed(4, 100.0)
    assert list(delivery.due(200.0)) == []
    assert not delivery.fresh(200.0)
    delivery.disconnected(200.0)
    delivery.connected()
    delivery.acked(word(1), chain(1), 201.0)
    assert list(delivery.due(201.0)) == [2, 3, 4], "it is read anew"


def test_an_altered_event_ends_a_refused_stream_too_and_changes_nothing_where_no_stream_is() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.published(1, 0x87, 0.0)
    delivery.altered(1.0)
    assert delivery.phase is Phase.ALTERED
    offline = Delivery(EPOCH, 0, 3, STALE_S)
    offline.altered(1.0)
    assert offline.phase is Phase.OFFLINE, "the next connection reads the journal again"


def test_a_pit_that_comes_where_nothing_is_sent_yet_has_nothing_sent_again() -> None:
    offline = Delivery(EPOCH, 0, 3, STALE_S)
    offline.pit_came(1.0)
    assert (offline.phase, list(offline.due(1.0))) == (Phase.OFFLINE, [])


def test_events_wait_from_the_last_progress_on() -> None:
    delivery = streaming(head=2, now_s=1.0)
    delivery.due(1.0)
    assert delivery.waits_s(3.5) == pytest.approx(2.5)
    delivery.acked(word(1), chain(1), 4.0)
    assert delivery.waits_s(5.0) == pytest.approx(1.0)
    delivery.acked(word(2), chain(2), 6.0)
    assert delivery.waits_s(9.0) == 0.0


def test_an_altered_event_that_the_pit_has_after_all_is_no_longer_needed() -> None:
    delivery = streaming(head=3)
    delivery.due(0.0)
    delivery.altered(0.0)
    delivery.acked(word(3), chain(3), 1.0)
    assert delivery.phase is Phase.STREAMING


# Whether there is a pit to bet with.


def test_without_a_pit_ever_there_is_nothing_to_bet_with() -> None:
    delivery = Delivery(EPOCH, 0, 0, STALE_S)
    assert not delivery.fresh(0.0)
    delivery.connected()
    assert not delivery.fresh(0.0)
    delivery.nothing_retained(0.0)
    assert delivery.fresh(0.0)


def test_an_idle_stream_stays_fresh() -> None:
    assert streaming().fresh(100_000.0)


def test_a_lost_connection_is_fresh_until_the_limit() -> None:
    delivery = streaming()
    delivery.disconnected(50.0)
    assert delivery.fresh(59.9)
    assert not delivery.fresh(60.0)
    delivery.connected()
    assert not delivery.fresh(60.0), "connected is not yet streaming"
    delivery.nothing_retained(60.0)
    assert delivery.fresh(60.0)


def test_retrying_in_vain_does_not_keep_it_fresh() -> None:
    delivery = streaming()
    delivery.disconnected(50.0)
    for now_s in (52.0, 55.0, 58.0):
        delivery.connected()
        delivery.disconnected(now_s)
    assert not delivery.fresh(60.0)


def test_a_refused_stream_is_fresh_until_the_limit() -> None:
    delivery = streaming(head=1)
    delivery.due(0.0)
    delivery.published(1, 0x87, 1.0)
    assert delivery.fresh(9.9)
    assert not delivery.fresh(11.0)


def test_a_pit_that_acknowledges_nothing_is_stale_at_the_limit() -> None:
    delivery = streaming(now_s=0.0)
    delivery.committed(1, 100.0)
    delivery.due(100.0)
    assert delivery.fresh(109.9)
    assert not delivery.fresh(110.0)
    delivery.committed(2, 111.0)
    delivery.due(111.0)
    assert not delivery.fresh(111.0), "more events are no word of the pit"
    delivery.acked(word(1), chain(1), 112.0)
    assert delivery.fresh(112.0)
    assert not delivery.fresh(122.0)
    delivery.acked(word(2), chain(2), 123.0)
    assert delivery.fresh(100_000.0)


def test_a_pit_that_repeats_itself_is_stale_at_the_limit() -> None:
    delivery = streaming(head=2, now_s=0.0)
    delivery.acked(word(1), chain(1), 1.0)
    for now_s in (3.0, 6.0, 9.0):
        delivery.acked(word(1), chain(1), now_s)
    assert not delivery.fresh(11.0)


def test_events_that_waited_offline_are_stale_until_acknowledged() -> None:
    delivery = streaming(now_s=0.0)
    delivery.disconnected(1.0)
    delivery.committed(1, 2.0)
    delivery.connected()
    delivery.nothing_retained(100.0)
    delivery.due(100.0)
    assert not delivery.fresh(100.0)
    delivery.acked(word(1), chain(1), 100.5)
    assert delivery.fresh(100.5)


@pytest.mark.parametrize("sent", [True, False])
def test_the_pit_cannot_have_an_event_that_was_never_sent(sent: bool) -> None:
    """If the pit acknowledges an event that this table never sent, the table reports that its journal has lost events.

    In the test the journal lost its last event 6, which the pit has, and then wrote another event 6. The two have the
    same place in the hash chain, so only the missing sending reveals the loss.
    """
    delivery = streaming(acked=4, head=5)
    assert list(delivery.due(0.0)) == [5]
    delivery.committed(6, 1.0)
    if sent:
        assert list(delivery.due(1.0)) == [6]
    delivery.disconnected(2.0)
    delivery.connected()
    behind = delivery.acked(word(6), chain(6), 3.0)
    assert behind == (None if sent else Behind(6, 5, chain_differs=False, at=AT))


def test_an_earlier_run_may_have_sent_all_that_it_left() -> None:
    delivery = Delivery(EPOCH, 2, 5, STALE_S)
    delivery.connected()
    assert delivery.acked(word(5), chain(5), 0.0) is None
    assert delivery.phase is Phase.STREAMING


# A word that was said before, and one that takes another back.


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000Z"


def test_a_word_that_is_older_than_one_believed_is_somebody_elses_repeat() -> None:
    delivery = streaming(head=5)
    delivery.due(0.0)
    assert delivery.acked(word(2, at(1)), chain(2), 0.1) is None
    assert delivery.acked(word(5, at(2)), chain(5), 0.2) is None
    assert delivery.acked(word(2, at(1)), chain(2), 0.3) == Older(at(2))
    assert delivery.unacknowledged == 0
    assert delivery.acked(word(2, at(3)), chain(2), 0.4) is None, "the pit itself goes back by a later word"
    assert delivery.unacknowledged == 3


def test_an_older_word_that_fits_lets_a_new_connection_begin_and_changes_nothing_else() -> None:
    """An acknowledgement whose time is too old has only one effect on a new connection: if it names an event of the
    journal, the table may begin to send.

    In the test the pit's clock was set back. No event is unacknowledged, so the pit cannot prove by a new
    acknowledgement that its message is new.
    """
    delivery = streaming(head=5)
    delivery.due(0.0)
    assert delivery.acked(word(5, at(9)), chain(5), 0.1) is None
    delivery.disconnected(0.2)
    delivery.connected()
    assert delivery.acked(said(EPOCH, 5, "other", at(3)), chain(5), 0.3) == Older(at(9))
    assert delivery.acked(word(7, at(3)), chain(7), 0.3) == Older(at(9))
    assert delivery.phase is Phase.ASKING, "of no event of this journal"
    assert delivery.acked(word(2, at(3)), chain(2), 0.3) == Older(at(9))
    assert (delivery.phase, delivery.unacknowledged) == (Phase.STREAMING, 0)
    delivery.committed(6, 0.4)
    assert list(delivery.due(0.4)) == [6]
    assert delivery.acked(word(6, at(4)), chain(6), 0.5) is None
    assert delivery.unacknowledged == 0


def test_a_time_that_no_word_can_have_by_now_makes_none_old() -> None:
    delivery = streaming(head=5)
    delivery.due(0.0)
    delivery.acked(word(2, "2030-01-01T00:00:00.000Z"), chain(2), 0.1)
    assert delivery.acked(word(5, at(2)), chain(5), 0.2, latest_at=at(1)) is None
    assert delivery.unacknowledged == 0


_YEARS_AHEAD = "2036-01-01T00:00:00.000Z"


def test_an_ack_of_an_event_that_was_first_sent_later_is_believed_whatever_its_time() -> None:
    delivery = streaming(head=5)
    delivery.due(0.0)
    assert delivery.acked(word(4, _YEARS_AHEAD), chain(4), 0.1) is None
    assert delivery.acked(word(5, at(1)), chain(5), 0.2) == Older(_YEARS_AHEAD), "perhaps it was signed before"
    delivery.committed(6, 0.3)
    delivery.due(0.3)
    assert delivery.acked(word(6, at(2)), "another", 0.4) == Older(_YEARS_AHEAD), "of another journal's event"
    assert delivery.acked(word(6, at(2)), chain(6), 0.4) is None
    assert delivery.unacknowledged == 0
    assert delivery.acked(word(6, at(3)), chain(6), 0.5) is None, "times count from there on"
    for old in (word(4, _YEARS_AHEAD), word(5, at(1)), word(5, at(4)), word(6, at(2))):
        assert isinstance(delivery.acked(old, chain(old.seq), 0.6), Older), old
    assert delivery.unacknowledged == 0


def test_where_whole_windows_wait_for_acks_that_are_refused_the_events_after_them_are_sent() -> None:
    """Usually at most 50 events are on their way without an acknowledgement. The table sends the events after these 50
    all the same, if the pit acknowledges them in messages whose time is too old to be accepted.

    The program starts with 60 events, which its earlier run may have sent already. So only an acknowledgement of event
    61 proves that the pit's messages are new.
    """
    delivery = streaming(head=60)
    assert list(delivery.due(0.0)) == [*range(1, 51)]
    delivery.acked(word(0, _YEARS_AHEAD), chain(0), 0.1)
    delivery.committed(61, 0.1)
    assert list(delivery.due(0.1)) == []
    for refused in (word(50, at(1)), word(0, at(0)), said(EPOCH, 55, "other", at(1))):
        assert delivery.acked(refused, chain(refused.seq), 0.2) == Older(_YEARS_AHEAD)
    assert list(delivery.due(0.2)) == [*range(51, 62)]
    assert delivery.acked(word(60, at(2)), chain(60), 0.3) == Older(_YEARS_AHEAD)
    assert delivery.unacknowledged == 61
    assert delivery.acked(word(61, at(2)), chain(61), 0.3) is None
    assert delivery.unacknowledged == 0


@pytest.mark.parametrize("seed", range(8))
def test_nobody_takes_back_an_ack_with_old_words_of_a_pit_whose_clock_leaps(seed: int) -> None:
    """If a pit's clock leaps, nobody can undo an acknowledgement by repeating the pit's old messages.

    An adversary has recorded every message that the pit ever sent, and repeats them in any order. The pit itself never
    loses an event.
    """
    chance = random.Random(seed)
    delivery, said_ever, committed, now = streaming(), list[AckWord](), 0, 0
    for step in range(400):
        match chance.randrange(6):
            case 0:
                now = chance.randrange(100_000_000)
            case 1 | 2:
                delivery.committed(delivery.head_seq + 1, step)
                committed = max([committed, *delivery.due(step)])
            case 3:
                acked = delivery.acked_seq
                for old in chance.sample(said_ever, min(5, len(said_ever))):
                    delivery.acked(old, chain(old.seq), step)
                    assert acked <= delivery.acked_seq <= committed
            case _:
                now += 1
                said_ever.append(word(committed, f"2026-{now:09}"))
                delivery.acked(said_ever[-1], chain(committed), step)
    delivery.committed(delivery.head_seq + 1, 400.0)
    committed = max([committed, *delivery.due(400.0)])
    if committed < delivery.head_seq:
        delivery.acked(word(committed, f"2026-{now + 1:09}"), chain(committed), 400.0)
        committed = max([committed, *delivery.due(400.0)])
    delivery.acked(word(committed, f"2026-{now + 2:09}"), chain(committed), 400.0)
    assert delivery.acked_seq == committed, "the next event's ack is believed"


def test_a_later_word_that_fits_takes_the_wrong_one_back() -> None:
    delivery = streaming(acked=1, head=5)
    assert delivery.acked(word(9, at(3)), None, 1.0) == Behind(9, 5, chain_differs=False, at=at(3))
    for wrong in (word(4, at(2)), word(4, at(3)), word(8, at(4)), said(EPOCH, 4, "other", at(4))):
        assert delivery.acked(wrong, chain(4), 2.0) is None
        assert delivery.phase is Phase.BEHIND
        assert list(delivery.due(100.0)) == []
    assert delivery.acked(word(4, at(5)), chain(4), 3.0) == TookBack(4, at(5))
    assert delivery.phase is Phase.STREAMING
    assert list(delivery.due(3.0)) == [5]


@pytest.mark.parametrize("wrong", [word(9, at(6)), said(EPOCH, 4, "other", at(6))], ids=["past", "another chain"])
def test_a_word_of_before_the_last_wrong_one_takes_nothing_back(wrong: AckWord) -> None:
    """A correct acknowledgement does not end the alarm about a wrong one, if it is older than the pit's last wrong one.

    In the test the pit sends a wrong acknowledgement, a correct one, and another wrong one. The correct one arrives
    late, or is repeated.
    """
    delivery = streaming(acked=1, head=5)
    delivery.acked(word(9, at(3)), None, 1.0)
    assert delivery.acked(wrong, chain(4), 2.0) is None
    for between in (word(1, at(5)), word(1, at(6))):
        assert delivery.acked(between, chain(1), 3.0) is None
        assert delivery.phase is Phase.BEHIND
    assert delivery.acked(word(1, at(7)), chain(1), 4.0) == TookBack(1, at(7))


@pytest.mark.parametrize("behind_at", [at(3), ""], ids=["told", "of a journal that did not keep it"])
def test_after_a_restart_the_wrong_word_is_still_to_be_taken_back(behind_at: str) -> None:
    delivery = Delivery(EPOCH, 1, 5, STALE_S, behind_at)
    delivery.connected()
    delivery.nothing_retained(0.0)
    assert list(delivery.due(0.0)) == []
    assert delivery.acked(word(9, behind_at or at(1)), None, 1.0) is None, "it was told of that"
    assert delivery.acked(word(1, at(4)), chain(1), 2.0) == TookBack(1, at(4))
    assert list(delivery.due(2.0)) == [2, 3, 4, 5]


# The pit's word as a message.

GOOD = {"table": "t", "epoch": "e", "seq": 7, "chain": "0" * 64, "at": AT, "signature": "AA=="}


def test_a_word_is_read() -> None:
    assert AckWord.read(GOOD) == AckWord("t", "e", 7, "0" * 64, AT)


@pytest.mark.parametrize(
    "change",
    [
        *({name: None} for name in GOOD),
        {"table": "t/u"},
        {"epoch": ""},
        {"seq": "7"},
        {"seq": 7.0},
        {"seq": True},
        {"seq": -1},
        {"seq": 2**63},
        {"chain": "c"},
        {"at": "2026-02-30T00:00:00.000Z"},
        {"at": "2026-01-01 00:00:00"},
        {"at": "9999-12-31T24:00:00.000Z"},
        {"more": 1},
    ],
    ids=repr,
)
def test_what_is_no_word_is_none(change: dict[str, object]) -> None:
    assert AckWord.read(GOOD | change) is None


@pytest.mark.parametrize("payload", [b"", b"7", b"null", b"[]", b"not JSON", b"\xff\xfe", b"[" * 100_000], ids=repr)
def test_bytes_that_are_no_object_are_no_word(payload: bytes) -> None:
    assert AckWord.read(parse_object(payload)) is None


@examples(30)
@given(
    st.dictionaries(
        st.sampled_from(sorted(GOOD)), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
    )
)
def test_no_message_makes_the_reader_fall_over(message: dict[str, object]) -> None:
    AckWord.read(GOOD | message)


# The whole of it: a table, a broker that loses, repeats and delays, and a pit that may forget.


class Network:
    """A table, its broker and its pit, in simulated time. Its methods check all guarantees of the delivery of
    events."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.now_s = 0.0
        self.head = 0
        self.mark = 0
        self.delivery = Delivery(EPOCH, 0, 0, STALE_S)
        self.pit = OrderedPit[str]()
        self.retained: AckWord | None = None
        self.to_pit: list[int] = []
        self.to_table: list[AckWord] = []
        self.asking_answered = False

    # What may happen.

    def commit(self, count: int) -> None:
        self.head += 1 + count % 30
        self.delivery.committed(self.head, self.now_s)

    def wait(self, tenths: int) -> None:
        self.now_s += tenths / 10

    def connect(self, _: int) -> None:
        if self.delivery.phase is Phase.OFFLINE:
            self.to_table.clear()
            self.delivery.connected()

    def disconnect(self, _: int) -> None:
        if self.delivery.phase is not Phase.OFFLINE:
            self.to_table.clear()
            self.delivery.disconnected(self.now_s)

    def hear_retained(self, _: int) -> None:
        if self.delivery.phase is Phase.ASKING:
            if self.retained is not None:
                self.table_hears(self.retained)
            self.delivery.nothing_retained(self.now_s)
            assert self.delivery.next_due_s(self.now_s) is not None or self.delivery.unacknowledged == 0, "it streams"

    def send(self, _: int = 0) -> None:
        """Let the table send the events that are due, and check that it may send them now."""
        acked, phase = self.delivery.acked_seq, self.delivery.phase
        due = self.delivery.due(self.now_s)
        if not due:
            return
        assert phase in (Phase.STREAMING, Phase.REFUSED), f"sent while {phase}"
        assert acked < due.start <= due[-1] <= min(self.head, acked + 50), "sent what is not to be sent"
        assert len(due) == 1 or phase is Phase.STREAMING
        self.to_pit += due

    def deliver(self, place: int) -> None:
        """Bring one event that is under way to the pit. `place` chooses among the three oldest."""
        if self.to_pit:
            seq = self.to_pit.pop(place % min(3, len(self.to_pit)))
            self.pit.commit(seq, f"body {seq}")
            self.pit_says(word(len(self.pit.ledger)))

    def deliver_many(self, count: int) -> None:
        for _ in range(count):
            self.deliver(0)

    def repeat(self, place: int) -> None:
        """Add a second copy of the oldest event under way to the events on their way to the pit. `place` chooses the
        copy's position among them."""
        if self.to_pit:
            self.to_pit.insert(place % len(self.to_pit), self.to_pit[0])

    def lose(self, count: int) -> None:
        del self.to_pit[: count % 7]

    def hear_pit(self, place: int) -> None:
        """Bring one of the pit's messages under way to the table. `place` chooses which one, so it is not always the
        oldest."""
        if self.to_table and self.delivery.phase is not Phase.OFFLINE:
            self.table_hears(self.to_table.pop(place % len(self.to_table)))

    def lose_word(self, count: int) -> None:
        del self.to_table[: count % 5]

    def forget(self, count: int) -> None:
        """Take the last `count` events out of the pit's ledger, as if it was restored from an older copy. If `count` is
        odd, the pit then sends an acknowledgement that shows the loss."""
        del self.pit.ledger[max(0, len(self.pit.ledger) - count) :]
        if count % 2:
            self.pit_says(word(len(self.pit.ledger)))

    def lose_retained(self, _: int) -> None:
        self.retained = None

    def retain_another_epoch(self, seq: int) -> None:
        self.retained = said("fedcba9876", seq, "x")

    def hear_another_epoch(self, seq: int) -> None:
        self.table_hears(said("fedcba9876", seq * 100, "x"))

    def refuse(self, _: int) -> None:
        self.delivery.published(1, 0x87, self.now_s)

    def accept(self, _: int) -> None:
        self.delivery.published(1, 0, self.now_s)

    def mark_on_disk(self, _: int) -> None:
        self.mark = self.delivery.acked_seq

    def restart(self, _: int) -> None:
        """Start the table's program again. The program knows of an acknowledgement only if its disk has recorded it."""
        self.to_table.clear()
        self.delivery = Delivery(EPOCH, self.mark, self.head, STALE_S)

    # How they meet.

    def pit_says(self, said: AckWord) -> None:
        self.retained = said
        if self.delivery.phase is not Phase.OFFLINE:
            self.to_table.append(said)

    def table_hears(self, said: AckWord) -> None:
        before = self.delivery.acked_seq
        own = chain(said.seq) if 0 < said.seq <= self.head else None
        assert self.delivery.acked(said, own, self.now_s) is None, "a pit that spoke the truth is believed"
        if said.epoch != EPOCH:
            assert self.delivery.acked_seq == before
        assert self.delivery.unacknowledged >= 0

    def settle(self) -> None:
        """Stop all losses and let the table go on. Check that every event arrives and is acknowledged within
        minutes."""
        if self.dice.random() < 0.5:
            self.lose_retained(0)
        self.commit(0)
        for _ in range(3000):
            if self.delivery.acked_seq == self.head == len(self.pit.ledger) and not self.to_table:
                return
            self.connect(0)
            self.hear_retained(0)
            self.send()
            if self.delivery.phase is Phase.REFUSED and self.to_pit:
                self.accept(0)
            while self.to_pit:
                self.deliver(0)
            while self.to_table:
                self.table_hears(self.to_table.pop(0))
            self.now_s += 0.5
        raise AssertionError(f"stuck: {self.delivery.acked_seq} of {self.head}, the pit has {len(self.pit.ledger)}")


HAPPENINGS = (
    *(Network.commit,) * 4,
    *(Network.send,) * 6,
    *(Network.deliver,) * 3,
    *(Network.deliver_many,) * 3,
    *(Network.hear_pit,) * 5,
    *(Network.connect,) * 4,
    *(Network.hear_retained,) * 4,
    *(Network.wait,) * 3,
    Network.disconnect,
    Network.repeat,
    Network.lose,
    Network.lose_word,
    Network.forget,
    Network.lose_retained,
    Network.retain_another_epoch,
    Network.hear_another_epoch,
    Network.refuse,
    Network.accept,
    Network.mark_on_disk,
    Network.restart,
)


def _hold(network: Network, story: list[tuple[Callable[[Network, int], None], int]]) -> None:
    for happening, number in story:
        happening(network, number)
        ledger = network.pit.ledger
        assert ledger == [f"body {seq}" for seq in range(1, len(ledger) + 1)]
    network.settle()
    assert network.pit.ledger == [f"body {seq}" for seq in range(1, network.head + 1)]
    assert network.delivery.unacknowledged == 0
    assert network.delivery.fresh(network.now_s)


@examples(50)
@given(st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 60)), max_size=60), st.integers(0, 1))
def test_whatever_the_network_does_the_pit_gets_everything_once_and_in_order(
    story: list[tuple[Callable[[Network, int], None], int]], seed: int
) -> None:
    _hold(Network(random.Random(seed)), story)


@pytest.mark.parametrize("seed", range(30))
def test_a_long_bad_night(seed: int) -> None:
    dice = random.Random(seed)
    _hold(Network(dice), [(dice.choice(HAPPENINGS), dice.randrange(61)) for _ in range(1500)])
