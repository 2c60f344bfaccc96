"""Compares the eight rows of the Royal 9 bet's pay table with a simple implementation of the rule sheet's words, for
each seat."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from controller.rules.game.bets import Bet, HandIs, Row, When
from controller.rules.game.cards import Card, PersonalK9
from controller.rules.game.hands import TwoHands, as_it_lies
from tests.support.bets import NATURAL, bet, comes_to
from tests.support.samples import at_length

# The sheet's pay table, from the top: 100% of a meter, or dollars.
PAYS: dict[str, str | int] = {
    "personal_vs_personal": "100%",
    "banker_personal": "100%",
    "player_personal": "100%",
    "other_identical": 5_000,
    "suited_vs_suited": 1_500,
    "royal_vs_royal": 250,
    "suited_royal": 50,
    "any_royal": 25,
}


def royal(hand: str) -> bool:
    """Tell whether a hand such as "KS 9H" is a 9 with a jack, queen or king, in either order."""
    return sorted(hand[0] + hand[3]) in (["9", "J"], ["9", "K"], ["9", "Q"])


def suited(hand: str) -> bool:
    return hand[1] == hand[4]


def king_first(hand: str) -> str:
    """Return the hand's two cards with the King first, for example "KS 9H". Seats print their King and nine in this
    order. A hand without a King comes with its two cards exchanged."""
    return hand if hand[0] == "K" else f"{hand[3:]} {hand[:2]}"


def read_from_the_sheet(player: str, banker: str, own: str, others: list[str]) -> str | None:
    """Return the row of the Royal 9 bet that pays these two hands, by the rule sheet's words; None if no row does. If
    several rows hold, the best-paid row counts. `own` is the King and 9 printed at the bettor's seat, and `others` are
    those printed at the other seats."""
    player_k9, banker_k9 = king_first(player), king_first(banker)
    royals = [hand for hand in (player, banker) if royal(hand)]
    suited_royals = [hand for hand in royals if suited(hand)]
    if player_k9 == own:
        return "personal_vs_personal" if banker_k9 == own else "player_personal"
    if banker_k9 == own:
        return "banker_personal"
    if player_k9 == banker_k9 and player_k9 in others:
        return "other_identical"
    if len(royals) == 2:
        return "suited_vs_suited" if len(suited_royals) == 2 else "royal_vs_royal"
    if len(royals) == 1:
        return "suited_royal" if suited_royals else "any_royal"
    return None


def two(hand: str) -> tuple[Card, Card]:
    first, second = hand.split()
    return Card.parse(first), Card.parse(second)


@pytest.fixture(scope="module")
def royal9(bets: tuple[Bet, ...]) -> Bet:
    return bet(bets, "royal9")


def hand(player: str, banker: str) -> TwoHands:
    return as_it_lies(NATURAL, two(player), two(banker))


def tier_for(royal9: Bet, player: str, banker: str, own: str, others: list[str]) -> str | None:
    tier = comes_to(royal9, hand(player, banker), PersonalK9.parse(own), [PersonalK9.parse(k9) for k9 in others])
    return None if tier == "lose" else tier


# Four seats of a table: two suited K9s, two unsuited, and one of these the other's suits exchanged. KC 9C, KC 9S and
# the rest are printed nowhere.
SEATS = ["KS 9S", "KH 9H", "KS 9H", "KH 9S"]

# Every card that matters, of two decks, and of those that do not the ones most easily taken for them.
CARDS = ["KS", "KH", "KC", "9S", "9H", "9C", "QS", "JH", "TS"]
CARDS += ["KD", "9D", "TH", "8S", "AS"] if at_length else []


@pytest.mark.parametrize(
    "own", [SEATS[2], *(pytest.param(own, marks=pytest.mark.proof) for own in SEATS if own != SEATS[2])]
)
def test_every_deal_pays_each_seat_what_the_sheet_says(royal9: Bet, own: str) -> None:
    others = [seat for seat in SEATS if seat != own]
    k9, others_k9 = PersonalK9.parse(own), [PersonalK9.parse(seat) for seat in others]
    card = {text: Card.parse(text) for text in CARDS}
    seen = set()
    for deal in product(CARDS, repeat=4):
        if any(deal.count(text) > 2 for text in deal):
            continue
        player_1, banker_1, player_2, banker_2 = deal
        expected = read_from_the_sheet(f"{player_1} {player_2}", f"{banker_1} {banker_2}", own, others)
        done = as_it_lies(NATURAL, (card[player_1], card[player_2]), (card[banker_1], card[banker_2]))
        assert comes_to(royal9, done, k9, others_k9) == (expected or "lose"), deal
        seen.add(expected)
    assert seen == {*PAYS, None}


@pytest.mark.parametrize(
    ("player", "banker", "own", "tier"),
    [
        ("KS 9H", "9H KS", "KS 9H", "personal_vs_personal"),
        ("QS 9D", "9H KS", "KS 9H", "banker_personal"),
        ("9H KS", "2D 3C", "KS 9H", "player_personal"),
        ("KS 9S", "9S KS", "KS 9S", "personal_vs_personal"),
        ("KS 9H", "9H KS", "KS 9S", "other_identical"),
        ("KS 9S", "9S KS", "KS 9H", "other_identical"),  # suited too, and the fixed $5,000 is the better
        ("KC 9C", "9C KC", "KS 9H", "suited_vs_suited"),  # identical, but printed at no seat
        ("KC 9D", "9D KC", "KS 9H", "royal_vs_royal"),
        ("JC 9C", "9D QD", "KS 9H", "suited_vs_suited"),  # ranks and suits free
        ("JC 9C", "9D QC", "KS 9H", "royal_vs_royal"),
        ("KH 9H", "KH 9S", "KS 9H", "royal_vs_royal"),  # two other seats' K9s, not identical
        ("JC 9C", "2D 3C", "KS 9H", "suited_royal"),
        ("2D 3C", "9D JC", "KS 9H", "any_royal"),
        ("KH 9S", "2D 3C", "KS 9H", "any_royal"),  # the suits the wrong way round
        ("TS 9S", "9H TH", "KS 9H", None),  # a ten is no face card
        ("KS KS", "9H 9H", "KS 9H", None),
        ("KS QS", "9H AS", "KS 9H", None),  # a King in one hand and a 9 in the other
    ],
)
def test_rows_by_example(royal9: Bet, player: str, banker: str, own: str, tier: str | None) -> None:
    assert tier_for(royal9, player, banker, own, [seat for seat in SEATS if seat != own]) == tier


def test_one_deal_can_be_two_seats_personal(royal9: Bet) -> None:
    assert tier_for(royal9, "KS 9S", "KH 9H", "KS 9S", ["KH 9H"]) == "player_personal"
    assert tier_for(royal9, "KS 9S", "KH 9H", "KH 9H", ["KS 9S"]) == "banker_personal"


def test_the_game_files_awards_are_the_sheets(royal9: Bet) -> None:
    for row, (tier, pays) in zip(royal9.rows, PAYS.items(), strict=True):
        expected = (tier, tier, None) if pays == "100%" else (tier, None, int(pays) * 100)
        assert (row.award, row.meter, row.cents) == expected


ANY = Row(When(either=HandIs(first_two=(("K",), ("9",)))), award="any_royal", cents=2500)
SUITED = Row(When(either=HandIs(first_two=(("K",), ("9",)), suited=True)), award="suited_royal", cents=5000)


def test_the_first_row_configured_is_the_one_that_pays() -> None:
    assert tier_for(Bet("royal9", rows=(ANY, SUITED)), "KC 9C", "2D 3C", "KS 9H", []) == "any_royal"


def test_a_row_not_configured_pays_nothing() -> None:
    assert tier_for(Bet("royal9", rows=(SUITED,)), "KC 9D", "2D 3C", "KS 9H", []) is None


@pytest.mark.parametrize(
    "says",
    [
        {"award": "any_royal"},
        {"award": "any_royal", "meter": "m", "cents": 2500},
        {"meter": "m"},
        {"pays": Fraction(1), "cents": 5},
        {"result": "push", "commission_taken": Fraction(1, 20)},
        {"pays": Fraction(1), "commission_taken": Fraction(1, 20), "commission_owed": Fraction(1, 20)},
        {"pays": Fraction(1), "result": "push"},
        {},
    ],
)
def test_a_row_says_one_thing(says: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Row(When(), **says)


SIXTEEN = [f"K{king} 9{nine}" for king, nine in product("SHDC", repeat=2)]


@pytest.mark.parametrize("printed", SIXTEEN)
def test_each_of_the_sixteen_reads_in_either_order_and_is_written_king_first(printed: str) -> None:
    king, nine = printed.split()
    assert str(PersonalK9.parse(printed)) == printed
    assert PersonalK9.parse(f"{nine} {king}") == PersonalK9.parse(printed)


@pytest.mark.parametrize("printed", SIXTEEN)
def test_each_of_the_sixteen_is_matched_by_its_own_two_cards_alone(printed: str) -> None:
    k9 = PersonalK9.parse(printed)
    assert [hand for hand in SIXTEEN if k9.matches(two(hand))] == [printed]
    assert [hand for hand in SIXTEEN if k9.matches(two(hand)[::-1])] == [printed]


@pytest.mark.parametrize(
    "text", ["", "KS", "KS KH", "9S 9H", "KS 9H KS", "KS 9H 9H", "QS 9H", "KS TH", "KS9H", "KS 9X"]
)
def test_text_that_is_no_personal_k9_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        PersonalK9.parse(text)
