"""Checks how the table treats the levels of the pit's meters: what it shows, when they are fresh enough to bet on, and
which messages it refuses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.contract.bounds import MOST_CENTS
from controller.contract.canonical import parse_object
from controller.contract.envelope import Stamp
from controller.contract.pit_words import MetersWord
from controller.daemon.delivery.levels import Levels

METERS = {"player_personal": 250_000, "banker_personal": 500_000}
LIMIT_S = 10.0


AT = "2026-01-01T00:00:00.000Z"
NOW = Stamp(1_767_225_600_000, synchronised=True)
DAY_MS = 24 * 60 * 60 * 1000


def said(seq: int, at: str = AT, **meters: int) -> MetersWord:
    return MetersWord(seq, at, METERS | meters)


@pytest.fixture
def levels() -> Levels:
    levels = Levels(METERS, LIMIT_S)
    levels.disconnected()
    return levels


def test_before_the_pit_has_spoken_nothing_is_fresh(levels: Levels) -> None:
    assert (levels.fresh(0.0), levels.cents) == (False, {})


def test_the_first_word_on_a_connection_may_be_an_old_one(levels: Levels) -> None:
    assert levels.heard(said(7), 0.0, NOW) is None
    assert levels.cents == METERS, "it is shown"
    assert not levels.fresh(0.0), "the broker kept it: the pit may be dead"


def test_the_second_tells_that_the_pit_lives(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8, player_personal=250_100), 2.0, NOW)
    assert levels.fresh(2.0)
    assert levels.cents["player_personal"] == 250_100


def old_words_again(levels: Levels, now: Stamp) -> list[bool]:
    """Send a new table 20 messages that the pit signed an hour ago, as an adversary could.

    Return, for each message, whether the table takes the levels for fresh after it.
    """
    fresh = []
    for number in range(20):
        assert levels.heard(said(7 + number, at="2025-12-31T23:00:00.000Z"), 2.0 * number, now) is None
        fresh.append(levels.fresh(2.0 * number))
    return fresh


def test_words_that_are_old_by_their_own_time_are_shown_and_never_fresh(levels: Levels) -> None:
    assert not any(old_words_again(levels, NOW))
    assert levels.cents == METERS
    levels.heard(said(30), 40.0, NOW)
    assert levels.fresh(40.0), "the pit's own word after them is"


@pytest.mark.parametrize(("late_ms", "fresh"), [(-60_000, True), (0, True), (10_000, True), (10_001, False)])
def test_a_word_counts_as_long_as_levels_may_be_old(levels: Levels, late_ms: int, fresh: bool) -> None:
    for number in (7, 8):
        levels.heard(said(number), 0.0, replace(NOW, at_ms=NOW.at_ms + late_ms))
    assert levels.fresh(0.0) is fresh


def test_a_clock_that_is_not_set_knows_no_old_word(levels: Levels) -> None:
    assert any(old_words_again(levels, replace(NOW, synchronised=False)))


@pytest.mark.parametrize(("behind_ms", "taken"), [(11 * 3_600_000, True), (DAY_MS, True), (DAY_MS + 1, False)])
def test_the_pits_clock_tells_a_word_of_another_day_and_makes_no_level_old(
    levels: Levels, behind_ms: int, taken: bool
) -> None:
    reckoned = replace(NOW, at_ms=NOW.at_ms + behind_ms)
    for number in (7, 8):
        why = levels.heard(said(number), 0.0, replace(NOW, synchronised=False), by_pit=reckoned)
        assert (why is None) is taken
    assert levels.fresh(0.0) is taken


@pytest.mark.parametrize(("later_s", "fresh"), [(LIMIT_S - 0.1, True), (LIMIT_S, True), (LIMIT_S + 0.1, False)])
def test_silence_makes_them_stale(levels: Levels, later_s: float, fresh: bool) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8), 2.0, NOW)
    assert levels.fresh(2.0 + later_s) is fresh


def test_the_same_word_again_does_not_keep_them_fresh(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8), 2.0, NOW)
    assert levels.heard(said(8), 11.9, NOW) is None
    assert not levels.fresh(12.1)


def test_a_new_connections_first_word_does_not_either(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8), 2.0, NOW)
    levels.disconnected()
    levels.heard(said(9), 11.9, NOW)
    assert not levels.fresh(12.1)
    levels.heard(said(10), 12.2, NOW)
    assert levels.fresh(12.2)


def test_the_broker_may_bring_the_kept_word_before_it_has_greeted(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8), 2.0, NOW)
    levels.disconnected()
    levels.heard(said(9), 30.0, NOW)
    assert not levels.fresh(30.0), "the pit may have died since"


def test_an_older_word_is_refused_and_changes_nothing(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    levels.heard(said(8, player_personal=1), 2.0, NOW)
    assert "below" in (levels.heard(said(7), 3.0, NOW) or "")
    assert levels.cents["player_personal"] == 1


def test_a_refused_word_is_kept_for_people_until_the_pit_says_one_that_is_taken(levels: Levels) -> None:
    for seq in (7, 8):
        levels.heard(said(seq, player_personal=1), 2.0, NOW)
    assert levels.refusal() is None
    levels.heard(said(5, player_personal=2, of_another_game=3), 3.0, NOW)
    told = levels.refusal()
    assert told is not None
    assert (told.seq, told.at) == (5, AT)
    assert told.meters == METERS | {"player_personal": 2}, "what it says of this game's meters"
    assert "below" in str(told.why)
    levels.heard(said(8, player_personal=1), 4.0, NOW)
    assert levels.refusal() is None, "the pit says again what is shown"


def test_a_level_that_can_be_won_here_must_be_among_them() -> None:
    levels = Levels({*METERS, "personal_vs_personal"}, LIMIT_S)
    levels.disconnected()
    levels.heard(said(1), 0.0, NOW)
    levels.heard(said(2), 1.0, NOW)
    assert not levels.fresh(1.0)
    levels.heard(said(3, personal_vs_personal=1_000_000), 2.0, NOW)
    assert levels.fresh(2.0)


def test_where_none_can_be_won_nothing_is_stale() -> None:
    assert Levels((), LIMIT_S).fresh(1_000.0)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"seq": 0, "meters": {}}',
        b'{"seq": true, "meters": {}}',
        b'{"seq": 1.5, "meters": {}}',
        b'{"seq": 1, "meters": []}',
        b'{"seq": 1, "meters": {"player_personal": "1"}}',
        b'{"seq": 1, "meters": {"player_personal": -1}}',
        b'{"seq": 1, "meters": {"player_personal": true}}',
    ],
)
def test_what_is_no_word_on_the_meters_is_refused(payload: bytes) -> None:
    message = parse_object(payload)
    assert MetersWord.read(message and message | {"at": AT, "signature": "AA=="}) is None


# Numbers and times.


def test_a_number_that_leaps_makes_no_true_one_old(levels: Levels) -> None:
    levels.heard(said(7), 0.0, NOW)
    assert "is a time after its own" in (levels.heard(said(2**63 - 1, player_personal=1), 1.0, NOW) or "")
    assert levels.cents == METERS
    assert levels.heard(said(8), 2.0, NOW) is None


@pytest.mark.parametrize(
    ("apart_ms", "taken"), [(-DAY_MS, True), (-DAY_MS - 1, False), (DAY_MS, True), (DAY_MS + 1, False)]
)
def test_a_word_of_another_day_is_refused_where_the_clock_is_set(apart_ms: int, taken: bool) -> None:
    word = said(7, Stamp(NOW.at_ms + apart_ms, synchronised=True).text())
    assert (Levels(METERS, LIMIT_S).heard(word, 0.0, NOW) is None) is taken
    assert Levels(METERS, LIMIT_S).heard(word, 0.0, replace(NOW, synchronised=False)) is None


def test_what_was_taken_from_the_future_is_forgotten_once_the_clock_is_set(levels: Levels) -> None:
    ahead_ms = NOW.at_ms + 400 * DAY_MS
    word = said(ahead_ms, Stamp(ahead_ms, synchronised=True).text())
    assert levels.heard(word, 0.0, replace(NOW, synchronised=False)) is None
    assert levels.heard(said(NOW.at_ms), 1.0, NOW) is None


# What an award can be.


def test_an_award_is_at_most_what_its_meter_has_shown_since_the_hit_and_a_step_more() -> None:
    levels = Levels(METERS, LIMIT_S, wager_cents=500)
    levels.heard(said(1, player_personal=900_000), 0.0, NOW)
    levels.heard(said(2), 1.0, NOW)
    levels.hit("player_personal", 7)
    assert levels.most_cents("player_personal", 250_000, 7) == 250_000 + 500_000, "what it showed before is another's"
    levels.heard(said(3, player_personal=300_000), 2.0, NOW)
    levels.heard(said(4, player_personal=1_000), 3.0, NOW)
    assert levels.most_cents("player_personal", 250_000, 7) == 300_000 + 500_000
    levels.hit("player_personal", 9)
    assert levels.most_cents("player_personal", 1_000, 9) == 1_000 + 500_000
    assert levels.most_cents("player_personal", 250_000, 7) == 300_000 + 500_000, "a later hit takes nothing from it"
    levels.heard(said(5, player_personal=400_000), 4.0, NOW)
    assert {levels.most_cents("player_personal", 1_000, seq) for seq in (7, 9)} == {900_000}
    assert levels.most_cents("player_personal", 1_000, 5) == 900_000 + 500_000, "of before the start: all since then"
    assert levels.most_cents("banker_personal", 600_000, 7) == 600_000 + 500_000
    assert levels.most_cents("player_personal", None, 7) == MOST_CENTS, "nobody knows what it showed"
