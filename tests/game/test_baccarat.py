"""Checks the rules of punto banco for third cards against the tables printed on the rule sheet. Every pair of two-card
totals and every third card is tried."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.rules.game.baccarat import Tableau, hands, next_step
from controller.rules.game.cards import Card
from controller.rules.game.hands import Hand, Outcome, TwoHands
from controller.rules.game.play import Draw
from tests.support.tables import cards

# The sheet's drawing rules. D draws, S stands.
PLAYER = "DDDDDDSS"  # by Player's total, 0 to 7
BANKER_WHEN_PLAYER_STANDS = "DDDDDDSS"  # by Banker's total, 0 to 7
BANKER_WHEN_PLAYER_DREW = [
    # by the value of Player's third card:
    # 0123456789
    "DDDDDDDDDD",  # Banker has 0
    "DDDDDDDDDD",  # 1
    "DDDDDDDDDD",  # 2
    "DDDDDDDDSD",  # 3
    "SSDDDDDDSS",  # 4
    "SSSSDDDDSS",  # 5
    "SSSSSSDDSS",  # 6
    "SSSSSSSSSS",  # 7
]
TOTALS = range(10)


def worth(points: int) -> Card:
    return Card.parse("TA23456789"[points] + "S")


def two_cards(total: int) -> tuple[Card, Card]:
    """Return two cards that add up to the total: an ace and a card that makes up the rest. Example: 9 is A and 8, and 0
    is A and 9."""
    return worth(1), worth((total - 1) % 10)


def first_four(player_total: int, banker_total: int) -> list[Card]:
    (player_1, player_2), (banker_1, banker_2) = two_cards(player_total), two_cards(banker_total)
    return [player_1, banker_1, player_2, banker_2]


def outcome(player_total: int, banker_total: int) -> Outcome:
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER


def ends(tableau: Tableau, dealt: list[Card], player_total: int, banker_total: int, *, natural: bool) -> None:
    """Check that the cards `dealt` complete a round of punto banco with these totals and the right outcome, and that
    the round takes no further card."""
    done = next_step(tableau, dealt)
    assert isinstance(done, TwoHands)
    assert (done.player_total, done.banker_total) == (player_total, banker_total)
    assert done.outcome is outcome(player_total, banker_total)
    assert done.natural is natural
    assert done.margin == max(player_total, banker_total) - min(player_total, banker_total)
    assert sorted(map(str, done.player + done.banker)) == sorted(map(str, dealt))
    with pytest.raises(ValueError, match="complete before 5D"):
        next_step(tableau, [*dealt, *cards("5D")])


def test_the_first_four_cards_alternate_from_player(tableau: Tableau) -> None:
    dealt = cards("2S 3H 4D 5C")
    turns = [next_step(tableau, dealt[:n]) for n in range(4)]
    assert turns == [Draw(Hand.PLAYER), Draw(Hand.BANKER), Draw(Hand.PLAYER), Draw(Hand.BANKER)]
    assert [hands(tableau, dealt[:n]) for n in (0, 1, 2, 3, 4)] == [
        ((), ()),
        ((*cards("2S"),), ()),
        ((*cards("2S"),), (*cards("3H"),)),
        ((*cards("2S 4D"),), (*cards("3H"),)),
        ((*cards("2S 4D"),), (*cards("3H 5C"),)),
    ]


def test_every_hand_is_dealt_and_ended_as_the_sheet_says(tableau: Tableau) -> None:
    for banker in TOTALS:
        for player in TOTALS:
            _is_dealt_and_ended(tableau, player, banker)


def _is_dealt_and_ended(tableau: Tableau, player: int, banker: int) -> None:
    dealt = first_four(player, banker)
    if player > 7 or banker > 7:
        ends(tableau, dealt, player, banker, natural=True)
    elif PLAYER[player] == "D":
        assert next_step(tableau, dealt) == Draw(Hand.PLAYER)
        for third in TOTALS:
            banker_acts(tableau, [*dealt, worth(third)], player + third, banker, BANKER_WHEN_PLAYER_DREW[banker][third])
    else:
        banker_acts(tableau, dealt, player, banker, BANKER_WHEN_PLAYER_STANDS[banker])


def banker_acts(tableau: Tableau, dealt: list[Card], player: int, banker: int, letter: str) -> None:
    """Check that Banker draws or stands after the cards `dealt`. `letter` is the cell of the rule sheet's grid that
    says which of the two is right. `player` and `banker` are the totals. If Banker draws, check for each third card
    that it ends the round."""
    if letter == "S":
        ends(tableau, dealt, player % 10, banker, natural=False)
        return
    assert next_step(tableau, dealt) == Draw(Hand.BANKER)
    for third in TOTALS:
        ends(tableau, [*dealt, worth(third)], player % 10, (banker + third) % 10, natural=False)


def test_the_sheets_letters_say_what_its_sentences_say() -> None:
    """The grid of letters in this test file agrees with the rule sheet's column `Does Not Draw`. So a mistake in
    copying the grid from the sheet would be found."""
    does_not_draw = {0: "", 1: "", 2: "", 3: "8", 4: "1890", 5: "123890", 6: "12345890", 7: "0123456789"}
    for banker, values in does_not_draw.items():
        row = BANKER_WHEN_PLAYER_DREW[banker]
        assert {str(value) for value in TOTALS if row[value] == "S"} == set(values)


@pytest.mark.parametrize(
    ("dealt", "player", "banker"),
    [
        ("2S 3H KD 4C 8S", "2S KD 8S", "3H 4C"),  # Banker stands on 7
        ("2S 3H KD 2C 7S 9D", "2S KD 7S", "3H 2C 9D"),  # both draw: the fifth is Player's
        ("6S 3H KD 2C 7S", "6S KD", "3H 2C 7S"),  # Player stands: the fifth is Banker's
    ],
)
def test_third_cards_lie_with_the_hand_that_drew(tableau: Tableau, dealt: str, player: str, banker: str) -> None:
    done = next_step(tableau, cards(dealt))
    assert isinstance(done, TwoHands)
    assert (done.player, done.banker) == (tuple(cards(player)), tuple(cards(banker)))
    assert hands(tableau, cards(dealt)) == (done.player, done.banker)


def test_nine_on_three_cards_is_not_a_natural(tableau: Tableau) -> None:
    done = next_step(tableau, cards("2S 3H KD 4C 7S"))
    assert isinstance(done, TwoHands)
    assert (done.player_total, done.outcome, done.natural) == (9, Outcome.PLAYER, False)


@pytest.mark.parametrize(
    ("dealt", "player_pair", "banker_pair"),
    [
        ("4S 9H 4D KC", True, False),  # the same rank, suits free
        ("KS 4H 9D 4C", False, True),
        ("4S 4H 4D 4C", True, True),
        ("KS 8H QD TC", False, False),  # equal in points, not in rank
        ("8S KH QD TC", False, False),
        ("2S 7H KD TC KH", False, False),  # a third card pairs with nothing
    ],
)
def test_a_pair_is_two_first_cards_of_one_rank(
    tableau: Tableau, dealt: str, player_pair: bool, banker_pair: bool
) -> None:
    done = next_step(tableau, cards(dealt))
    assert isinstance(done, TwoHands)
    assert (done.player_pair, done.banker_pair) == (player_pair, banker_pair)


def test_hands_refuses_a_card_nobody_takes(tableau: Tableau) -> None:
    with pytest.raises(ValueError, match="complete before 2C"):
        hands(tableau, cards("9S 3H KD 4C 2C"))


@pytest.mark.parametrize("missing", range(8))
def test_a_tableau_without_a_row_for_every_banker_total_is_refused(tableau: Tableau, missing: int) -> None:
    rows = {banker: row for banker, row in tableau.banker_draws_on_third_card.items() if banker != missing}
    with pytest.raises(ValueError, match=f"no row for the total {missing}"):
        replace(tableau, banker_draws_on_third_card=rows)


@pytest.mark.parametrize("natural", [(), (9,), (0, 9), (7, 8, 9), (8, 9, 10)])
def test_a_tableau_whose_naturals_are_not_the_totals_above_its_rows_is_refused(tableau: Tableau, natural: Any) -> None:
    with pytest.raises(ValueError, match=r"has no row for the total 8|has a row for 7|natural says 0 and not 8"):
        replace(tableau, natural=natural)


def test_a_natural_that_another_total_beats_is_refused(tableau: Tableau) -> None:
    with pytest.raises(ValueError, match="natural says 0 and not 8"):
        replace(tableau, natural=(0, 9), banker_draws_on_third_card=dict.fromkeys(range(1, 9), ()))
