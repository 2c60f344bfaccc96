"""Checks of a progressive wager from the hit to its end. A hit records what its meter showed. The award is then
pending, verified, and at last paid or rejected.

The table sends an event for each step, and the seat's lamp stays lit until a person has handled the hit.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.table.acts.corrections import CorrectRound
from controller.table.acts.pit import SeeAward
from controller.table.acts.rounds import LockWagers
from controller.table.acts.seats import ResetHits
from controller.table.acts.shoe import NewShoe
from controller.table.facts import AwardStepped, LevelsNoted
from tests.support.tables import TableUnderTest, cards

LEVELS = {"personal_vs_personal": 1_000_000, "banker_personal": 500_000, "player_personal": 250_000}
SEAT_2_WINS = "KH 2S 9H 3D"  # its own King and 9 as Player's hand
PENDING = AwardStepped(
    seq=1,
    award="royal9-01.1",
    hit="royal9-01/0/4",
    shoe=1,
    round=1,
    spot="royal9",
    seat=2,
    tier="player_personal",
    meter="player_personal",
    cents=250_000,
    step="pending",
    by="pit",
)


@pytest.fixture
def table() -> TableUnderTest:
    """Return a table whose seat 2 won its progressive wager in the shoe's first round."""
    return TableUnderTest(levels=LEVELS).open_shoe().lock(2).draw(SEAT_2_WINS)


def steps(table: TableUnderTest) -> list[tuple[str, int | None]]:
    return [(hit.step, hit.cents) for hit in table.face.hits]


def test_a_hit_notes_the_level_that_was_shown(table: TableUnderTest) -> None:
    [hit] = [event for event in table.events if event["type"] == "hit"]
    assert hit["progressive"] == {"meter": "player_personal", "share": "1:1", "shown_cents": 250_000}


def test_a_hit_notes_what_was_shown_when_its_last_card_came() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2).draw(SEAT_2_WINS[:-3])
    table.levels = {name: cents + 1 for name, cents in LEVELS.items()}
    table.draw(SEAT_2_WINS[-2:])
    table.levels = {name: cents + 2 for name, cents in LEVELS.items()}
    assert table.face.hits[0].shown_cents == 250_001


def test_levels_unheard_since_a_restart_are_as_they_were_last_shown() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2)
    table.levels = {}
    table.draw(SEAT_2_WINS)
    assert table.face.hits[0].shown_cents == 250_000


def test_levels_are_noted_only_while_a_hand_plays_for_them() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock()
    table.levels = {name: cents + 1 for name, cents in LEVELS.items()}
    table.draw(SEAT_2_WINS)
    assert not any(isinstance(fact, LevelsNoted) for fact in (row.fact for row in table.rows))


def test_without_a_level_a_hit_notes_none() -> None:
    table = TableUnderTest().open_shoe().lock(2).draw(SEAT_2_WINS)
    assert table.face.hits[0].shown_cents is None


def test_each_step_of_the_pits_is_an_event_and_is_shown(table: TableUnderTest) -> None:
    for number, step in enumerate(("pending", "verified", "paid"), 1):
        table.do(SeeAward(replace(PENDING, seq=number, step=step, by="Ana")))
        assert steps(table) == [(step, 250_000)]
    told = [event for event in table.events if event["type"] == "award"]
    assert [(event["step"], event["award"], event["seat"], event["cents"], event["by"]) for event in told] == [
        (step, "royal9-01.1", 2, 250_000, "Ana") for step in ("pending", "verified", "paid")
    ]
    assert {(event["shoe"], event["round"]) for event in told} == {(1, 1)}


def test_a_step_said_again_is_told_once(table: TableUnderTest) -> None:
    table.do(SeeAward(PENDING))
    assert table.ask(SeeAward(PENDING)) == "award_old"
    assert table.ask(SeeAward(replace(PENDING, seq=1, step="paid"))) == "award_old"
    assert [event["type"] for event in table.events].count("award") == 1


def test_a_step_of_one_hit_leaves_another_as_it_is() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2).draw(SEAT_2_WINS)
    table.lock(1).draw("KS 2S 9S 3D").do(SeeAward(PENDING))
    assert [(hit.seat, hit.step) for hit in table.face.hits] == [(2, "pending"), (1, "hit")]


def test_the_hit_stays_over_the_next_hands_until_somebody_has_seen_to_it(table: TableUnderTest) -> None:
    table.lock(3).draw("2S 4H 3D 4C")
    assert [hit.seat for hit in table.face.hits] == [2]
    table.do(ResetHits(2, "Smith"))
    assert table.face.hits == ()
    last = table.events[-1]
    assert (last["type"], last["seats"], last["by"]) == ("hit_reset", [2], "Smith")


def test_it_outlives_its_shoe_and_a_restart(table: TableUnderTest) -> None:
    table.do(SeeAward(PENDING), NewShoe("Smith"))
    assert steps(table) == [("pending", 250_000)]
    assert table.replayed() == (table.table, None)
    assert table.ask(SeeAward(PENDING)) == "award_old", "the pit's steps are counted on"
    table.do(SeeAward(replace(PENDING, seq=2, step="paid")))
    assert steps(table) == [("paid", 250_000)]


def test_all_hits_can_be_seen_to_at_once(table: TableUnderTest) -> None:
    table.lock(1).draw("KS 2S 9S 3D").do(ResetHits(None, "key"))
    assert table.face.hits == ()
    assert table.events[-1]["seats"] == [1, 2]


def test_where_no_hit_is_shown_there_is_none_to_see_to(table: TableUnderTest) -> None:
    assert table.ask(ResetHits(5, "Smith")) == "no_hit"
    table.do(ResetHits(None, "key"))
    assert table.ask(ResetHits(None, "key")) == "no_hit"


def test_a_step_after_somebody_has_seen_to_the_hit_is_still_told(table: TableUnderTest) -> None:
    table.do(ResetHits(2, "Smith"), SeeAward(PENDING))
    assert table.events[-1]["type"] == "award", "the pit must know that we know"
    assert table.face.hits == ()


def test_a_fixed_award_is_shown_until_the_next_lock() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2).draw("KS 2S 9H 3D")
    assert [(hit.tier, hit.meter) for hit in table.face.hits] == [("any_royal", None)]
    table.do(LockWagers())
    assert table.face.hits == ()


def test_a_correction_lights_no_hit_again_that_somebody_has_seen_to(table: TableUnderTest) -> None:
    table.do(ResetHits(2, "Smith"))
    table.do(CorrectRound(1, tuple(cards("KH 9H")), tuple(cards("2S 4D")), "Smith", "Jones"))
    assert table.face.hits == ()


def test_a_correction_that_takes_the_hit_away_puts_its_lamp_out(table: TableUnderTest) -> None:
    table.do(CorrectRound(1, tuple(cards("KH 8H")), tuple(cards("2S 3D")), "Smith", "Jones"))
    assert table.face.hits == ()
