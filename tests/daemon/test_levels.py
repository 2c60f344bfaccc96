"""The pit's levels: what is shown of them, when they are fresh enough to bet on, and what is no word at all."""

from __future__ import annotations

import json

import pytest

from controller.levels import Levels

METERS = {"player_personal": 250_000, "banker_personal": 500_000}
LIMIT_S = 10.0


def said(seq: int, **meters: int) -> bytes:
    return json.dumps({"seq": seq, "at": "2026-01-01T00:00:00.000Z", "meters": METERS | meters}).encode()


@pytest.fixture
def levels() -> Levels:
    levels = Levels(METERS, LIMIT_S)
    levels.disconnected()
    return levels


def test_before_the_pit_has_spoken_nothing_is_fresh(levels: Levels) -> None:
    assert (levels.fresh(0.0), levels.cents) == (False, {})


def test_the_first_word_on_a_connection_may_be_an_old_one(levels: Levels) -> None:
    assert levels.heard(said(7), 0.0) is None
    assert levels.cents == METERS, "it is shown"
    assert not levels.fresh(0.0), "the broker kept it: the pit may be dead"


def test_the_second_tells_that_the_pit_lives(levels: Levels) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8, player_personal=250_100), 2.0)
    assert levels.fresh(2.0)
    assert levels.cents["player_personal"] == 250_100


@pytest.mark.parametrize(("later_s", "fresh"), [(LIMIT_S - 0.1, True), (LIMIT_S, True), (LIMIT_S + 0.1, False)])
def test_silence_makes_them_stale(levels: Levels, later_s: float, fresh: bool) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8), 2.0)
    assert levels.fresh(2.0 + later_s) is fresh


def test_the_same_word_again_does_not_keep_them_fresh(levels: Levels) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8), 2.0)
    assert levels.heard(said(8), 11.9) is None
    assert not levels.fresh(12.1)


def test_a_new_connections_first_word_does_not_either(levels: Levels) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8), 2.0)
    levels.disconnected()
    levels.heard(said(9), 11.9)
    assert not levels.fresh(12.1)
    levels.heard(said(10), 12.2)
    assert levels.fresh(12.2)


def test_the_broker_may_bring_the_kept_word_before_it_has_greeted(levels: Levels) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8), 2.0)
    levels.disconnected()
    levels.heard(said(9), 30.0)
    assert not levels.fresh(30.0), "the pit may have died since"


def test_an_older_word_is_refused_and_changes_nothing(levels: Levels) -> None:
    levels.heard(said(7), 0.0)
    levels.heard(said(8, player_personal=1), 2.0)
    assert "older" in (levels.heard(said(7), 3.0) or "")
    assert levels.cents["player_personal"] == 1


def test_a_level_that_can_be_won_here_must_be_among_them() -> None:
    levels = Levels({*METERS, "personal_vs_personal"}, LIMIT_S)
    levels.disconnected()
    levels.heard(said(1), 0.0)
    levels.heard(said(2), 1.0)
    assert not levels.fresh(1.0)
    levels.heard(said(3, personal_vs_personal=1_000_000), 2.0)
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
def test_what_is_no_word_on_the_meters_is_refused(levels: Levels, payload: bytes) -> None:
    assert levels.heard(payload, 0.0) is not None
    assert levels.cents == {}
