"""Checks the settlement of wagers. In these tests, "3 banker 25" is a wager of 25 dollars on Banker at seat 3, and "3b
banker 25" is the wager of the back bettor behind that seat.

The expected settlement of a wager is written as the result and the amount that goes back to the bettor's circle. A
commission, a debt or a meter follows if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game import baccarat
from controller.rules.game.baccarat import Tableau
from controller.rules.game.bets import Bet, Finished, Row, When
from controller.rules.game.cards import DECK, Card, PersonalK9
from controller.rules.game.hands import Outcome, SeatHand, SeatHands, TwoHands, as_it_lies
from controller.rules.game.play import Result
from controller.rules.game.seating import NOBODY, Actives, Seating
from controller.rules.game.settlement import Rounding, Settled, Settlement, returned, settle
from controller.rules.game.wagers import Wager
from tests.support.bets import NATURAL, bets_of
from tests.support.samples import examples
from tests.support.tables import BACCARAT_ROYAL, LUCKY9

CENT = Rounding()
TAKEN, OWED = bets_of("royal9"), bets_of("kansas_star")
ROYAL = bets_of("baccarat_royal")
LUCKY9_BETS = bets_of("lucky9")


def some(text: str) -> tuple[Wager, ...]:
    return tuple(map(a_wager, filter(None, text.split(","))))


def a_wager(text: str) -> Wager:
    seat, spot, dollars = text.split()
    return Wager(int(seat.removesuffix("b")), spot, round(float(dollars) * 100), back=seat.endswith("b"))


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def balanced(settlement: Settlement) -> bool:
    """Tell whether the money of a settlement adds up: within each wager, in the totals, and between the totals and what
    the seats owe."""
    totals, settled = settlement.totals, settlement.settled
    return (
        all(0 <= one.stake_back_cents <= one.wager.cents for one in settled)
        and all(0 <= one.commission_cents + one.owed_cents <= one.pays_cents for one in settled)
        and totals.staked == sum(one.wager.cents for one in settled)
        and totals.returned == sum(one.returned_cents for one in settled)
        and totals.staked == totals.returned + totals.house + totals.commission
        and totals.commission_owed == sum(cents for _, cents in settlement.owed)
    )


def told(settlement: Settlement) -> list[str]:
    """Check that the settlement adds up, and return it as one line for each wager: "seat spot result returned", and
    then the commission, debt or meter if there is one."""
    assert balanced(settlement)
    return [_line(one) for one in settlement.settled]


def _line(one: Settled) -> str:
    circle = f"{one.wager.seat}{'b' * one.wager.back}{'' if one.hand is None else f'#{one.hand}'}"
    words = [circle, one.wager.spot, one.result.value, f"{one.returned_cents / 100:g}"]
    words += [f"commission {one.commission_cents / 100:g}"] * bool(one.commission_cents)
    words += [f"owed {one.owed_cents / 100:g}"] * bool(one.owed_cents)
    words += [f"meter {one.meter}"] * (one.meter is not None)
    return " ".join(words)


# Hands of punto banco, each side's cards as they lie.

PLAYER_NATURAL = ("KS 9H", "KH 7S")
BANKER_NATURAL = ("KH 7S", "KS 8H")
NATURAL_TIE = ("KS 9H", "4S 5H")
PLAYER_BY_9 = ("KS KH 9D", "TC TH KS")
PLAYER_BY_4 = ("KS 7H", "KC 3D KH")
PLAYER_BY_3 = ("KS 7H", "KC 4D KH")
BANKER_BY_7 = ("KS KH KC", "3C 4H")
PLAIN_TIE = ("KS 6H", "2S 4H")


PRINTED = {1: "KC 9D", 2: "KC 9C", 3: "KS 9H"}
SEATS = {seat: PersonalK9.parse(k9) for seat, k9 in PRINTED.items()}


def lying(hands: tuple[str, str]) -> TwoHands:
    player, banker = map(cards, hands)
    return as_it_lies(NATURAL, player, banker)


def punto_banco(
    hands: tuple[str, str], wagers: str, bets: tuple[Bet, ...] = TAKEN, rounding: Rounding = CENT
) -> Settlement:
    done = lying(hands)
    return settle(bets, rounding, lambda seat: [Finished(done, NATURAL, SEATS.get(seat))], some(wagers))


@pytest.mark.parametrize(
    ("hands", "wager", "line"),
    [
        (PLAYER_NATURAL, "1 player 25", "1 player won 50"),
        (PLAYER_BY_3, "1 player 25", "1 player won 50"),
        (BANKER_BY_7, "1 player 25", "1 player lost 0"),
        (PLAIN_TIE, "1 player 25", "1 player pushed 25"),
        (NATURAL_TIE, "1 player 25", "1 player pushed 25"),
        (BANKER_NATURAL, "1 banker 100", "1 banker won 195 commission 5"),
        (BANKER_BY_7, "1 banker 20", "1 banker won 39 commission 1"),
        (PLAYER_BY_3, "1 banker 100", "1 banker lost 0"),
        (PLAIN_TIE, "1 banker 100", "1 banker pushed 100"),
        (PLAIN_TIE, "1 tie 5", "1 tie won 45"),
        (NATURAL_TIE, "1 tie 5", "1 tie won 45"),
        (PLAYER_BY_3, "1 tie 5", "1 tie lost 0"),
        (BANKER_BY_7, "1 tie 5", "1 tie lost 0"),
        (PLAYER_NATURAL, "1 dragon_player 5", "1 dragon_player won 10"),
        (PLAYER_BY_9, "1 dragon_player 5", "1 dragon_player won 155"),
        (PLAYER_BY_4, "1 dragon_player 5", "1 dragon_player won 10"),
        (PLAYER_BY_3, "1 dragon_player 5", "1 dragon_player lost 0"),
        (BANKER_BY_7, "1 dragon_player 5", "1 dragon_player lost 0"),
        (NATURAL_TIE, "1 dragon_player 5", "1 dragon_player pushed 5"),
        (PLAIN_TIE, "1 dragon_player 5", "1 dragon_player lost 0"),
        (BANKER_NATURAL, "1 dragon_banker 5", "1 dragon_banker won 10"),
        (BANKER_BY_7, "1 dragon_banker 5", "1 dragon_banker won 35"),
        (PLAYER_BY_9, "1 dragon_banker 5", "1 dragon_banker lost 0"),
        (NATURAL_TIE, "1 dragon_banker 5", "1 dragon_banker pushed 5"),
        (PLAIN_TIE, "1 dragon_banker 5", "1 dragon_banker lost 0"),
    ],
)
def test_a_wager_of_punto_banco(hands: tuple[str, str], wager: str, line: str) -> None:
    assert told(punto_banco(hands, wager)) == [line]


def test_royal9_is_paid_its_award_and_keeps_no_stake() -> None:
    assert told(punto_banco(BANKER_NATURAL, "1 royal9 5")) == ["1 royal9 lost 0"]
    settlement = punto_banco(PLAYER_NATURAL, "2 royal9 5, 3 royal9 5")
    assert told(settlement) == ["2 royal9 won 25", "3 royal9 won 0 meter player_personal"]
    assert (settlement.totals.staked, settlement.totals.returned, settlement.totals.house) == (10_00, 25_00, -15_00)


def test_another_house_returns_the_stake_besides_the_award() -> None:
    bets = tuple(replace(bet, awards_return_stake=bet.progressive) for bet in TAKEN)
    assert told(punto_banco(BANKER_NATURAL, "1 royal9 5", bets)) == ["1 royal9 lost 0"]
    settlement = punto_banco(PLAYER_NATURAL, "2 royal9 5, 3 royal9 5, 4 player 25", bets)
    assert told(settlement)[1:] == ["2 royal9 won 30", "3 royal9 won 5 meter player_personal"]
    check_money(settlement, [*some("2 royal9 5, 3 royal9 5, 4 player 25")])


def test_traditional_wagers_come_first_and_each_kind_by_seat() -> None:
    wagers = "2 dragon_player 5, 3 banker 25, 1 royal9 5, 2b player 25, 2 tie 5, 2 player 25, 1 dragon_banker 5"
    settlement = punto_banco(PLAYER_BY_4, wagers)
    assert [line.split(" ", 2)[:2] for line in told(settlement)] == [
        ["2", "player"],
        ["2", "tie"],
        ["2b", "player"],
        ["3", "banker"],
        ["1", "dragon_banker"],
        ["1", "royal9"],
        ["2", "dragon_player"],
    ]


def test_commission_owed_is_paid_out_and_kept_on_the_seats_ledger() -> None:
    settlement = punto_banco(BANKER_BY_7, "4 banker 100, 4b banker 50, 2 banker 20, 1 player 25", OWED)
    assert told(settlement) == [
        "1 player lost 0",
        "2 banker won 40 owed 1",
        "4 banker won 200 owed 5",
        "4b banker won 100 owed 2.5",
    ]
    assert settlement.owed == ((2, 1_00), (4, 7_50))  # the seated player answers for the back bettor
    assert (settlement.totals.commission, settlement.totals.commission_owed) == (0, 8_50)
    assert settlement.totals.house == 25_00 - 170_00


def test_commission_taken_is_no_debt() -> None:
    settlement = punto_banco(BANKER_BY_7, "4 banker 100, 4b banker 50")
    assert (settlement.totals.commission, settlement.totals.commission_owed, settlement.owed) == (7_50, 0, ())
    assert (settlement.totals.returned, settlement.totals.house) == (292_50, -150_00)


@pytest.mark.parametrize(
    ("rounding", "dollars", "commission_cents"),
    [
        (Rounding(), 0.19, 1),  # 0.95 of a cent
        (Rounding(), 0.20, 1),  # one exactly
        (Rounding(), 0.21, 2),  # 1.05
        (Rounding(commission="down"), 0.19, 0),
        (Rounding(commission="down"), 0.20, 1),
        (Rounding(commission="down"), 0.21, 1),
        (Rounding(unit_cents=25), 5, 25),  # 25 exactly
        (Rounding(unit_cents=25), 6, 50),  # 30
        (Rounding(unit_cents=25, commission="down"), 6, 25),
        (Rounding(pays="down"), 0.21, 2),
    ],
)
@pytest.mark.parametrize("bets", [TAKEN, OWED])
def test_commission_that_does_not_divide(
    bets: tuple[Bet, ...], rounding: Rounding, dollars: float, commission_cents: int
) -> None:
    (one,) = punto_banco(BANKER_BY_7, f"1 banker {dollars}", bets, rounding).settled
    assert one.commission_cents + one.owed_cents == commission_cents
    assert one.returned_cents == 2 * one.wager.cents - (commission_cents if bets is TAKEN else 0)


def test_commission_is_rounded_wager_by_wager() -> None:
    settlement = punto_banco(BANKER_BY_7, "1 banker 0.10, 1b banker 0.10, 2 banker 0.10")
    assert settlement.totals.commission == 3  # half a cent each, not a cent and a half in all


@pytest.mark.parametrize(("pays", "cents"), [("up", 38), ("down", 37)])
def test_a_banker_paid_nineteen_to_twenty_rounds_its_pay(pays: Any, cents: int) -> None:
    no_commission = (Bet("banker", rows=(Row(When(winner=("banker",)), pays=Fraction(19, 20)),)),)
    settlement = punto_banco(BANKER_BY_7, "1 banker 0.39", no_commission, Rounding(pays=pays))
    assert settlement.settled[0].pays_cents == cents  # 37.05


@pytest.mark.parametrize("wager", ["1 hand 5", "1 stake 5", "1 royal9 5", "1 lucky9_bonus 5"])
def test_a_wager_that_the_table_does_not_have_is_not_settled(wager: str) -> None:
    with pytest.raises(ValueError, match="seat 1 has no wager"):
        punto_banco(PLAYER_BY_3, wager, OWED)


def test_a_void_hand_returns_everything() -> None:
    settlement = returned(TAKEN, some("2 royal9 5, 1 banker 25, 1b banker 25, 1 tie 5"))
    assert told(settlement) == [
        "1 banker returned 25",
        "1 tie returned 5",
        "1b banker returned 25",
        "2 royal9 returned 5",
    ]
    assert (settlement.totals.house, settlement.totals.commission, settlement.owed) == (0, 0, ())
    assert settlement.totals.returned == settlement.totals.staked == 60_00


def test_no_wagers_settle_to_nothing() -> None:
    assert returned(TAKEN, ()).settled == ()
    assert balanced(returned(TAKEN, ()))


def test_money_missing_anywhere_is_out_of_balance() -> None:
    settlement = punto_banco(BANKER_BY_7, "1 banker 100, 2 banker 50", OWED)
    one, other = settlement.settled
    for changed in ("staked", "returned", "house", "commission", "commission_owed"):
        totals = replace(settlement.totals, **{changed: getattr(settlement.totals, changed) + 1})
        assert not balanced(replace(settlement, totals=totals)), changed
    assert not balanced(replace(settlement, owed=()))
    assert not balanced(replace(settlement, settled=(one,)))
    assert not balanced(replace(settlement, settled=(one, replace(other, stake_back_cents=50_01))))
    assert not balanced(replace(settlement, settled=(one, replace(other, owed_cents=50_01))))


# Baccarat Royal: seat 2 is Player, seat 5 is Banker.

ACTIVES = Actives(player=2, banker=5)
PLAYED = BACCARAT_ROYAL.play


HANDS = {Outcome.PLAYER: PLAYER_BY_4, Outcome.BANKER: BANKER_BY_7, Outcome.TIE: PLAIN_TIE}


def settle_royal(
    wagers: Sequence[Wager], outcome: Outcome, rounding: Rounding = CENT, bets: tuple[Bet, ...] = ROYAL
) -> Settlement:
    done = lying(HANDS[outcome])
    return settle(bets, rounding, lambda seat: PLAYED.seen(done, Seating(actives=ACTIVES), seat, (None, ())), wagers)


def baccarat_royal_round(outcome: Outcome, wagers: str, rounding: Rounding = CENT) -> Settlement:
    return settle_royal(some(wagers), outcome, rounding)


@pytest.mark.parametrize(
    ("outcome", "wagers", "lines", "house"),
    [
        (Outcome.PLAYER, "2 stake 50, 5 stake 50", ["2 stake won 100", "5 stake lost 0"], 0),
        (Outcome.BANKER, "2 stake 50, 5 stake 50", ["2 stake lost 0", "5 stake won 100"], 0),
        (Outcome.TIE, "2 stake 50, 5 stake 50", ["2 stake half_lost 25", "5 stake half_lost 25"], 50),
        # the smaller plays, the excess goes back
        (Outcome.PLAYER, "2 stake 80, 5 stake 50", ["2 stake won 130", "5 stake lost 0"], 0),
        (Outcome.BANKER, "2 stake 80, 5 stake 50", ["2 stake lost 30", "5 stake won 100"], 0),
        (Outcome.TIE, "2 stake 80, 5 stake 50", ["2 stake half_lost 55", "5 stake half_lost 25"], 50),
        # nobody to play against
        (Outcome.PLAYER, "2 stake 80", ["2 stake returned 80"], 0),
        (Outcome.TIE, "5 stake 80", ["5 stake returned 80"], 0),
        # gamblers play the house
        (Outcome.PLAYER, "1 player 5, 3 banker 5, 4 tie 5", ["1 player won 10", "3 banker lost 0", "4 tie lost 0"], 5),
        (Outcome.BANKER, "1 player 5, 3 banker 5, 4 tie 5", ["1 player lost 0", "3 banker won 10", "4 tie lost 0"], 5),
        (
            Outcome.TIE,
            "1 player 5, 3 banker 5, 4 tie 5",
            ["1 player pushed 5", "3 banker pushed 5", "4 tie won 45"],
            -40,
        ),
    ],
)
def test_a_round_of_baccarat_royal(outcome: Outcome, wagers: str, lines: list[str], house: int) -> None:
    settlement = baccarat_royal_round(outcome, wagers)
    assert told(settlement) == lines
    assert settlement.totals.house == house * 100


@pytest.mark.parametrize(
    ("outcome", "wagers", "lines", "house"),
    [
        (Outcome.PLAYER, "2 stake 80, 5 stake 50", ["2 stake won 160", "5 stake lost 0"], -30),
        (Outcome.BANKER, "2 stake 80, 5 stake 50", ["2 stake lost 0", "5 stake won 100"], 30),
        (Outcome.TIE, "2 stake 80, 5 stake 50", ["2 stake half_lost 40", "5 stake half_lost 25"], 65),
        (Outcome.PLAYER, "2 stake 80", ["2 stake returned 80"], 0),
    ],
)
def test_another_house_covers_what_the_smaller_stake_lacks(
    outcome: Outcome, wagers: str, lines: list[str], house: int
) -> None:
    bets = tuple(replace(bet, unequal_stakes="house_covers") for bet in ROYAL)
    settlement = settle_royal(some(wagers), outcome, CENT, bets)
    assert told(settlement) == lines
    assert settlement.totals.house == house * 100


@pytest.mark.parametrize(("pays", "back_cents"), [("up", 26), ("down", 25)])
def test_the_odd_cent_of_a_tie(pays: Any, back_cents: int) -> None:
    settlement = baccarat_royal_round(Outcome.TIE, "2 stake 0.51, 5 stake 0.51", Rounding(pays=pays))
    assert [one.returned_cents for one in settlement.settled] == [back_cents, back_cents]
    assert settlement.totals.house == 2 * (51 - back_cents)


@pytest.mark.parametrize(
    ("on_tie", "line"), [("push", "1 player pushed 5"), ("half", "1 player half_lost 2.5"), ("lose", "1 player lost 0")]
)
def test_what_a_tie_does_to_gamblers_is_the_houses_to_say(on_tie: Any, line: str) -> None:
    bets = (Bet("player", rows=(Row(When(winner=("tie",)), result=on_tie),)),)
    assert told(settle_royal(some("1 player 5"), Outcome.TIE, bets=bets)) == [line]


@pytest.mark.parametrize("wager", ["1 stake 5", "2b stake 5", "1 hand 5", "1 dragon_player 5"])
def test_a_wager_that_baccarat_royal_does_not_have(wager: str) -> None:
    with pytest.raises(ValueError):
        baccarat_royal_round(Outcome.PLAYER, wager)


# Lucky 9: each seat's hands, and the dealer's cards with the up card second.


def settle_lucky9(rounding: Rounding, wagers: Sequence[Wager], done: SeatHands) -> Settlement:
    return settle(LUCKY9_BETS, rounding, lambda seat: LUCKY9.play.seen(done, NOBODY, seat, (None, ())), wagers)


def lucky9_round(dealer: str, hands: dict[int, str], wagers: str, rounding: Rounding = CENT) -> Settlement:
    """Return the settlement of a round of Lucky 9. `hands` maps a seat to its hands, with "/" between the hands of a
    split. If the seat did not split, its first two cards dealt are the first two of its hand. After a split they are
    the first card of its first hand and the first card of its second."""
    played, first_two = [], {}
    for seat, text in hands.items():
        theirs = [cards(hand) for hand in text.split("/")]
        first_two[seat] = theirs[0][:2] if len(theirs) == 1 else (theirs[0][0], theirs[1][0])
        played += [SeatHand(seat, n, hand, len(theirs) > 1) for n, hand in enumerate(theirs, start=1)]
    done = SeatHands(cards(dealer), tuple(played), first_two)
    return settle_lucky9(rounding, some(wagers), done)


@pytest.mark.parametrize(
    ("dealer", "hand", "wager", "line"),
    [
        ("KS 7H", "4S 5H", "1 hand 10", "1 hand won 25"),  # Lucky 9: three to two
        ("KS 4H 5S", "4S 5H", "1 hand 10", "1 hand won 25"),
        ("KS 9H", "4S 5H", "1 hand 10", "1 hand pushed 10"),
        ("KS 7H", "KH 9S", "1 hand 10", "1 hand won 20"),
        ("KS 7H", "KH 8S", "1 hand 10", "1 hand won 20"),
        ("KS 7H", "KH 7S", "1 hand 10", "1 hand pushed 10"),
        ("KS 7H", "KH 6S", "1 hand 10", "1 hand lost 0"),
        ("KS KH KD", "KH 6S 6D", "1 hand 10", "1 hand lost 0"),  # a dead two beats nothing
        ("KS 7H", "KH 7S", "1 tie 5", "1 tie won 40"),
        ("KS 2H KD", "KH 6S 6D", "1 tie 5", "1 tie won 40"),
        ("KS 7H", "KH 8S", "1 tie 5", "1 tie lost 0"),
        ("KD 3H 5S", "3S 3C", "1 lucky9_bonus 5", "1 lucky9_bonus won 255"),
        ("KD 3H 5S", "3H 3H", "1 lucky9_bonus 5", "1 lucky9_bonus won 1005"),
        ("KD 3H 5S", "KH 6S", "1 lucky9_bonus 5", "1 lucky9_bonus won 30"),
        ("KD 3H 5S", "KH 7S", "1 lucky9_bonus 5", "1 lucky9_bonus lost 0"),
    ],
)
def test_a_wager_of_lucky9(dealer: str, hand: str, wager: str, line: str) -> None:
    assert told(lucky9_round(dealer, {1: hand}, wager)) == [line]


def test_each_hand_of_a_split_seat_has_an_equal_wager() -> None:
    settlement = lucky9_round(
        "KS 7H", {1: "4D 4C", 3: "4S 5H/4H 3D/4C 2D"}, "3 hand 10, 3 tie 5, 3 lucky9_bonus 5, 1 hand 20"
    )
    assert told(settlement) == [
        "1 hand won 40",
        "3 tie lost 0",  # the leftmost hand has nine
        "3#1 hand won 20",  # a 9 after a split pays even money
        "3#2 hand pushed 10",
        "3#3 hand lost 0",
        "3 lucky9_bonus lost 0",
    ]
    assert (settlement.totals.staked, settlement.totals.returned) == (60_00, 70_00)


@pytest.mark.parametrize(("rounding", "cents"), [(Rounding(), 8), (Rounding(pays="up"), 8), (Rounding(pays="down"), 7)])
def test_three_to_two_of_an_odd_cent(rounding: Rounding, cents: int) -> None:
    settlement = lucky9_round("KS 7H", {1: "4S 5H"}, "1 hand 0.05", rounding)
    assert settlement.settled[0].pays_cents == cents
    assert settlement.totals.house == -cents


@pytest.mark.parametrize("wager", ["1 player 5", "1 royal9 5", "2 hand 5", "2 tie 5", "2 lucky9_bonus 5"])
def test_a_wager_with_nothing_to_play_on_is_not_settled(wager: str) -> None:
    with pytest.raises(ValueError, match="has no wager"):
        lucky9_round("KS 7H", {1: "4S 5H"}, wager)


# Whatever is wagered and whatever comes, no cent appears or is lost.

directions = st.sampled_from(["up", "down"])
roundings = st.builds(Rounding, st.just(1), directions, directions)


def wagers_on(*spots: str, backs: bool = True, seats: int = 7) -> st.SearchStrategy[list[Wager]]:
    wager = st.builds(
        Wager,
        seat=st.integers(1, seats),
        spot=st.sampled_from(spots),
        cents=st.integers(1, 1_000_00),
        back=st.booleans() if backs else st.just(False),
    )
    return st.lists(wager, max_size=12, unique_by=lambda each: (each.seat, each.spot, each.back))


def check_money(settlement: Settlement, wagers: list[Wager]) -> None:
    """Check that every cent of the wagers went back to the bettors, stayed with the house, or was taken as
    commission."""
    assert balanced(settlement)
    theirs = -sum(
        one.wager.cents - one.stake_back_cents - one.pays_cents + one.commission_cents for one in settlement.settled
    )
    assert theirs + settlement.totals.house + settlement.totals.commission == 0
    assert {one.wager for one in settlement.settled} == {*wagers}
    for one in settlement.settled:
        assert one.returned_cents >= (0 if one.result in (Result.LOST, Result.HALF_LOST) else one.wager.cents)


PUNTO_BANCO_SPOTS = ("player", "banker", "tie", "dragon_player", "dragon_banker")


@examples(50)
@given(wagers_on(*PUNTO_BANCO_SPOTS), st.integers(), roundings, st.sampled_from([TAKEN, OWED]))
def test_punto_banco_conserves_money_and_settles_each_wager_by_itself(
    tableau: Tableau, wagers: list[Wager], shuffle: int, rounding: Rounding, bets: tuple[Bet, ...]
) -> None:
    shoe = Random(shuffle).sample(DECK * 8, 6)
    done = next(
        step for dealt in range(4, 7) if isinstance(step := baccarat.next_step(tableau, shoe[:dealt]), TwoHands)
    )
    seen_at = dict.fromkeys(range(1, 8), (Finished(done, NATURAL),)).__getitem__
    settlement = settle(bets, rounding, seen_at, wagers)
    check_money(settlement, wagers)
    alone = [settle(bets, rounding, seen_at, [wager]) for wager in wagers]
    assert {one for each in alone for one in each.settled} == {*settlement.settled}
    assert settlement.totals.house == sum(each.totals.house for each in alone)


@examples(50)
@given(
    wagers_on("player", "banker", "tie", backs=False),
    st.tuples(st.integers(1, 1_000_00), st.integers(1, 1_000_00)),
    st.sampled_from(Outcome),
    roundings,
)
def test_baccarat_royal_conserves_money(
    gamblers: list[Wager], stakes: tuple[int, int], outcome: Outcome, rounding: Rounding
) -> None:
    actives = [Wager(2, "stake", stakes[0]), Wager(5, "stake", stakes[1])]
    settlement = settle_royal([*gamblers, *actives], outcome, rounding)
    assert balanced(settlement)
    between = settle_royal(actives, outcome, rounding)
    alone = [settle_royal([wager], outcome, rounding) for wager in gamblers]
    assert settlement.totals.house == between.totals.house + sum(each.totals.house for each in alone)
    assert settlement.totals.returned == between.totals.returned + sum(each.totals.returned for each in alone)
    if outcome is not Outcome.TIE:
        assert between.totals.house == 0  # what one loses, the other wins
    else:
        assert abs(between.totals.house - min(stakes)) <= 1  # half of each, and an odd cent


@examples(33)
@given(wagers_on("hand", "tie", "lucky9_bonus", backs=False, seats=3), st.integers(), st.integers(1, 4), roundings)
def test_lucky9_conserves_money_and_settles_each_wager_by_itself(
    wagers: list[Wager], shuffle: int, hands: int, rounding: Rounding
) -> None:
    random = Random(shuffle)
    dealer, *theirs = [tuple(random.sample(DECK, random.choice([2, 3]))) for _ in range(3 + hands)]
    played = [SeatHand(seat, 1, theirs[seat - 1], False) for seat in (1, 2)]
    played += [SeatHand(3, n, hand[:2], hands > 1) for n, hand in enumerate(theirs[2:], start=1)]
    first_two = {seat: tuple(random.sample(DECK, 2)) for seat in (1, 2, 3)}
    done = SeatHands(dealer, tuple(played), first_two)
    settlement = settle_lucky9(rounding, wagers, done)
    check_money(settlement, wagers)
    of_seat_3 = [wager.cents for wager in wagers if wager.seat == 3 and wager.spot == "hand"]
    assert settlement.totals.staked == sum(wager.cents for wager in wagers) + sum(of_seat_3) * (len(theirs) - 3)
    alone = [settle_lucky9(rounding, [wager], done) for wager in wagers]
    assert sorted(map(repr, (one for each in alone for one in each.settled))) == sorted(map(repr, settlement.settled))
