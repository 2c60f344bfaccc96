"""Checks of the commission on winning Banker wagers: which seats owe it, when it must be paid before the game goes on,
and that no restart and no new shoe loses it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controller.table.acts.corrections import CorrectRound
from controller.table.acts.rounds import VoidRound
from controller.table.acts.seats import CollectCommission, LeaveSeat
from controller.table.acts.shoe import CloseShoe, NewShoe
from controller.table.facts import CardDrawn, Target
from tests.support.five_games import KANSAS_STAR, ROYAL9_SEEN_TWICE, SUGARHOUSE_MIDI, Watched, call, seats, wagers
from tests.support.samples import examples
from tests.support.tables import SUGARHOUSE, cards, house

BANKER_WINS, PLAYER_WINS, TIE = "4S TH 4D 9C", "4S TH 5D 8C", "4S TH 5D 9C"


def after(*hands: str, bets: str = "2 banker 2000, 3 banker 3500", rules: Any = SUGARHOUSE) -> Watched:
    table = Watched(rules).open_shoe("2D 3H 4C").do(seats(2, 3, 4))
    for hand in hands:
        table.do(*wagers(bets)).lock().draw(hand)
    return table


def collect(seat: int) -> CollectCommission:
    return CollectCommission(seat, "dealer")


def test_a_winning_banker_wager_is_paid_in_full_and_owes_5_percent() -> None:
    table = after(BANKER_WINS)
    (event,) = table.of_type("round")
    rows = [(row["seat"], row["returned_cents"], row["commission_cents"]) for row in event["settlement"]["wagers"]]
    assert rows == [(2, 4000, 100), (3, 7000, 175)]
    assert event["settlement"]["totals"]["commission_owed_cents"] == 275
    assert table.face.commission_owed == {"2": 100, "3": 175}


def test_nothing_else_owes_anything() -> None:
    assert after(PLAYER_WINS, TIE).face.commission_owed == {}
    assert after(BANKER_WINS, bets="2 player 2000, 3 tie 2000").face.commission_owed == {}


def test_where_commission_is_taken_nothing_is_owed() -> None:
    table = after(BANKER_WINS, rules=ROYAL9_SEEN_TWICE)
    (event,) = table.of_type("round")
    assert [row["returned_cents"] for row in event["settlement"]["wagers"]] == [3900, 6825]
    assert event["settlement"]["totals"]["commission_taken_cents"] == 275
    assert table.face.commission_owed == {}


def test_the_seated_player_answers_for_the_back_bettors() -> None:
    table = after(BANKER_WINS, bets="2 banker 2000, 2b banker 3000", rules=KANSAS_STAR)
    assert table.face.commission_owed == {"2": 250}


def test_it_adds_up_over_the_rounds_and_a_void_or_simulated_hand_adds_none() -> None:
    table = after(BANKER_WINS, PLAYER_WINS, BANKER_WINS, TIE)
    table.do(*wagers("2 banker 2000")).lock().draw("4S").do(VoidRound("Smith"))
    table.draw(BANKER_WINS)  # drawn in error
    assert table.of_type("round")[-1]["simulated"]
    assert table.face.commission_owed == {"2": 200, "3": 350}


def test_collecting_is_told_and_ends_it() -> None:
    table = after(BANKER_WINS).do(collect(3))
    (event,) = table.of_type("commission")
    assert (event["seat"], event["cents"], event["by"], event["shoe"]) == (3, 175, "dealer", 1)
    assert (table.face.commission_owed, table.ask(collect(3))) == ({"2": 100}, "nothing_owed")
    assert table.replayed() == (table.table, None)


def test_it_may_be_collected_at_any_moment() -> None:
    table = after(BANKER_WINS).lock().do(collect(2)).draw("4S ??").do(collect(3))
    assert (table.face.commission_owed, table.fault) == ({}, "unreadable_card")


def test_a_player_who_leaves_pays_first() -> None:
    table = after(BANKER_WINS)
    assert table.ask(LeaveSeat(2, "dealer")) == "commission_owed"
    assert 2 in table.face.occupied
    assert table.ask(LeaveSeat(4, "dealer")) is None
    assert table.do(collect(2)).ask(LeaveSeat(2, "dealer")) is None
    assert table.face.occupied == (3,)


def test_a_seat_that_owes_cannot_be_told_empty_either() -> None:
    """The table refuses a list of occupied seats that leaves out a seat which owes commission. Otherwise a player could
    leave without paying."""
    assert after(BANKER_WINS).ask(seats(3, 4)) == "commission_owed"


def test_the_shoes_end_asks_for_it() -> None:
    table = after(BANKER_WINS).do(CloseShoe("Smith"))
    (closed,) = table.of_type("shoe_closed")
    assert closed["commission_owed"] == [{"seat": 2, "cents": 100}, {"seat": 3, "cents": 175}]


def test_the_dealer_announces_no_new_shoe_before_it_is_collected() -> None:
    table = after(BANKER_WINS).do(CloseShoe("Smith"))
    assert table.ask(NewShoe()) == "commission_owed"
    table.do(collect(2))
    assert table.ask(NewShoe()) == "commission_owed"
    table.do(collect(3), NewShoe())
    assert table.face.commission_owed == {}


NEW_SHOES = CardDrawn(cards("3S")[0], Target.FIRST_CARD, 0)


def announced(rules: Any = SUGARHOUSE) -> Watched:
    """Return a table at which the shoe reports the first card of a new shoe while seats 2 and 3 owe commission."""
    return after(BANKER_WINS, rules=rules).do(CloseShoe("Smith")).believe(NEW_SHOES)


def test_a_supervisor_may_and_it_is_still_owed_then() -> None:
    for table in (after(BANKER_WINS).do(NewShoe("Smith")), announced().do(NewShoe("Smith"))):
        assert (table.face.shoe, table.fault, table.face.commission_owed) == (2, None, {"2": 100, "3": 175})
        assert table.replayed() == (table.table, None), "a replay may begin at the new shoe"
        table.do(collect(2))
        assert table.replayed() == (table.table, None)


def test_a_shoe_that_announces_itself_stops_the_table_until_the_last_seat_has_paid() -> None:
    table = announced()
    assert (table.fault, table.face.shoe, table.exits) == ("commission_owed", 1, {"new_shoe", "clear"})
    assert table.details == {"seats": "2, 3", "owed_cents": 275}
    assert table.replayed() == (table.table, None)
    table.do(collect(3)).believe(CardDrawn(cards("4C")[0], Target.BURN, 1))
    assert (table.fault, table.face.shoe) == ("commission_owed", 1)
    table.told()
    table.do(collect(2))
    assert table.told_types() == ["commission", "fault_cleared", "shoe_opened"]
    assert (table.fault, table.face.shoe, table.face.first_card, table.face.burn_left) == (None, 2, "3S", 2)
    assert table.replayed() == (table.table, None)


def test_cleared_no_new_shoe_has_begun() -> None:
    table = announced().clear()
    assert (table.fault, table.face.phase, table.face.commission_owed) == (None, "shoe_ended", {"2": 100, "3": 175})
    assert table.believe(NEW_SHOES).fault == "commission_owed"


def test_nothing_owed_stops_nobody() -> None:
    table = after(PLAYER_WINS).do(CloseShoe("Smith")).believe(NEW_SHOES)
    assert (table.fault, table.face.shoe) == (None, 2)


def test_another_house_collects_when_a_player_leaves_only() -> None:
    lenient = house(SUGARHOUSE, commission_before_new_shoe=False)
    by_dealer = after(BANKER_WINS, rules=lenient).do(CloseShoe("Smith"), NewShoe())
    for table in (by_dealer, announced(lenient)):
        assert (table.face.shoe, table.fault, table.face.commission_owed) == (2, None, {"2": 100, "3": 175})
        assert table.ask(LeaveSeat(2, "dealer")) == "commission_owed"


# A correction.


def test_a_correction_owes_what_the_right_cards_owe() -> None:
    table = after(BANKER_WINS)
    table.do(CorrectRound(1, tuple(cards("4S 5D")), tuple(cards("TH 8C")), "Smith", "Jones"))
    assert table.face.commission_owed == {}
    table.do(CorrectRound(1, tuple(cards("4S 4D")), tuple(cards("TH 9C")), "Smith", "Jones"))
    assert table.face.commission_owed == {"2": 100, "3": 175}


def test_a_correction_leaves_what_other_rounds_owe() -> None:
    table = after(BANKER_WINS, BANKER_WINS)
    table.do(CorrectRound(1, tuple(cards("4S 5D")), tuple(cards("TH 8C")), "Smith", "Jones"))
    assert table.face.commission_owed == {"2": 100, "3": 175}


def test_a_correction_after_it_was_collected_is_made_good_and_stops_nobody() -> None:
    """If commission was collected for wins that a correction takes away, the correction pays the commission back. In
    the end the seats have paid what the corrected cards owe, which is nothing."""
    table = after(BANKER_WINS).do(collect(2), collect(3))
    table.do(CorrectRound(1, tuple(cards("4S 5D")), tuple(cards("TH 8C")), "Smith", "Jones"), CloseShoe("Smith"))
    table.do(*(collect(int(seat)) for seat in table.face.commission_owed))
    assert sum(event["cents"] for event in table.of_type("commission")) == 0
    table.do(LeaveSeat(2, "dealer"), NewShoe())


# Midi owes at reveal.


def test_in_midi_nothing_is_owed_before_the_cards_are_turned_up() -> None:
    table = after(BANKER_WINS, rules=SUGARHOUSE_MIDI)
    assert table.face.commission_owed == {}
    table.do(call("reveal"))
    assert table.face.commission_owed == {"2": 100, "3": 175}


# Any evening.


@examples(10)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([BANKER_WINS, PLAYER_WINS, TIE]),
            st.dictionaries(st.integers(1, 7), st.integers(3, 40), min_size=1, max_size=4),
            st.sampled_from(["", "collect", "new shoe", "correct"]),
            st.integers(1, 7),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_owed_is_what_the_rounds_owed_less_what_was_collected(
    evening: list[tuple[str, dict[int, int], str, int]],
) -> None:
    table = Watched(SUGARHOUSE).open_shoe("2D 3H 4C")
    ledger: dict[int, int] = {}
    for dealt, bets, then, seat in evening:
        for better, fives in bets.items():
            table.do(*wagers(f"{better} banker {500 * fives}"))
        table.lock().draw(dealt)
        won = dealt == BANKER_WINS
        if then == "correct" and not won:
            right = (tuple(cards("4S 4D")), tuple(cards("TH 9C")))
            number = table.of_type("round")[-1]["round"]
            table.do(CorrectRound(number, *right, "Smith", "Jones"))
            won = True
        for better, fives in bets.items() if won else ():
            ledger[better] = ledger.get(better, 0) + 25 * fives
        if then == "collect":
            assert table.ask(collect(seat)) == (None if seat in ledger else "nothing_owed")
            ledger.pop(seat, None)
        if then == "new shoe":
            table.do(NewShoe("Smith")).draw("2D 3H 4C")
        assert table.face.commission_owed == {str(who): cents for who, cents in sorted(ledger.items())}
        assert table.replayed() == (table.table, None)
