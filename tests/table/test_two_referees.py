"""The shoe runs the drawing rules too: where it puts a card, what it says of a hand, and a card it kept."""

from __future__ import annotations

import pytest

from controller.game.cards import Card
from controller.table.acts.shoe import NewShoe
from controller.table.facts import CardKept, ShoeResult, ShoeResultReported, Target
from tests.support.tables import TableUnderTest, hand, house

PLAYER, BANKER, BURN, FIRST_CARD = Target.PLAYER, Target.BANKER, Target.BURN, Target.FIRST_CARD

Placed = tuple[Target, int, str]

SIX_CARDS: list[Placed] = [
    (PLAYER, 1, "2S"),
    (BANKER, 1, "TH"),
    (PLAYER, 2, "3D"),
    (BANKER, 2, "2C"),
    (PLAYER, 3, "9D"),
    (BANKER, 3, "2H"),
]
PLAYER_STANDS: list[Placed] = [*SIX_CARDS[:2], (PLAYER, 2, "4D"), (BANKER, 2, "5C"), (BANKER, 3, "AH")]
BANKER_STANDS: list[Placed] = [*SIX_CARDS[:3], (BANKER, 2, "7C"), (PLAYER, 3, "9D")]
NATURAL: list[Placed] = [*SIX_CARDS[:2], (PLAYER, 2, "6D"), (BANKER, 2, "5C")]


def between() -> TableUnderTest:
    return TableUnderTest().open_shoe()


def result(of: ShoeResult, *, player_pair: bool = False, banker_pair: bool = False) -> ShoeResultReported:
    return ShoeResultReported(of, player_pair, banker_pair)


@pytest.mark.parametrize("hand", [SIX_CARDS, PLAYER_STANDS, BANKER_STANDS, NATURAL])
def test_an_honest_shoe_is_never_contradicted(hand: list[Placed]) -> None:
    table = TableUnderTest().do(NewShoe()).to(FIRST_CARD, 0, "2D").to(BURN, 1, "KS").to(BURN, 2, "KS").lock()
    for placed in hand:
        assert table.face.phase in ("wagers_locked", "hand_in_play")
        table.to(*placed)
    assert (table.fault, table.face.phase) == (None, "wagers_open")


@pytest.mark.parametrize("at", range(6))
def test_any_other_opinion_of_a_hands_card_stops_the_table(at: int) -> None:
    target, index, card = SIX_CARDS[at]
    for elsewhere in Target:
        for other in (1, 2, 3):
            table = between().lock()
            for placed in SIX_CARDS[:at]:
                table.to(*placed)
            table.to(elsewhere, other, card)
            same = (elsewhere, other) == (target, index)
            raised = {FIRST_CARD: "first_card_in_shoe", BURN: "burn_long"}.get(elsewhere, "target_differs")
            assert table.fault == (None if same else raised)


@pytest.mark.parametrize(
    ("burned", "target", "raised"),
    [
        (0, FIRST_CARD, None),
        (0, BURN, "reports_missed"),
        (0, PLAYER, "burn_short"),
        (0, BANKER, "burn_short"),
        (1, BURN, None),
        (1, FIRST_CARD, "first_card_in_shoe"),
        (1, PLAYER, "burn_short"),
        (1, BANKER, "burn_short"),
    ],
)
def test_the_shoes_opinion_of_the_burn(burned: int, target: Target, raised: str | None) -> None:
    table = TableUnderTest().do(NewShoe()).draw(" ".join(["2D"] * burned)).to(target, 1, "KS")
    assert table.fault == raised


@pytest.mark.parametrize(
    ("cards", "says"),
    [
        ("4S TH 5D 9C", result(ShoeResult.TIE)),
        ("9S 7H KD TC", result(ShoeResult.PLAYER)),
        ("5S 8H KD TC", result(ShoeResult.BANKER)),
        ("4S 7H 4D TC", result(ShoeResult.PLAYER, player_pair=True)),
        ("KS 4H TD 4C", result(ShoeResult.BANKER, banker_pair=True)),
        ("3S 7H 3D 7C 2H", result(ShoeResult.TIE, player_pair=True, banker_pair=True)),
    ],
)
def test_the_shoes_result_is_held_against_ours(cards: str, says: ShoeResultReported) -> None:
    """It agrees in every particular, or the table stops; it may come after the next lock, and it comes once."""
    for locked in (False, True):
        for of in ShoeResult:
            for player_pair in (False, True):
                for banker_pair in (False, True):
                    table = between().lock().draw(cards)
                    table = table.lock() if locked else table
                    other = result(of, player_pair=player_pair, banker_pair=banker_pair)
                    table.believe(other)
                    assert table.fault == (None if other == says else "result_differs")
    table = between().lock().draw(cards).believe(says, says)
    assert table.fault == "result_differs", "of no finished hand"


def test_a_simulated_hand_has_its_result_too() -> None:
    table = between().draw("4S TH 5D 9C").believe(result(ShoeResult.TIE))
    assert table.fault is None
    assert between().draw("4S TH 5D 9C").believe(result(ShoeResult.PLAYER)).fault == "result_differs"


@pytest.mark.parametrize("of", ShoeResult)
def test_what_the_shoe_says_of_a_hand_that_is_void_here_is_nothing_to_compare(of: ShoeResult) -> None:
    table = between().lock().draw("4S TH").void().believe(result(of))
    assert table.fault is None
    again = table.believe(result(of))
    assert again.fault == (None if of is ShoeResult.FORCE_QUIT else "result_differs")


def test_the_result_of_the_next_hand_is_compared_again_after_a_void() -> None:
    table = between().lock().draw("4S TH").void().lock().draw("4S TH 5D 9C").believe(result(ShoeResult.PLAYER))
    assert table.fault == "result_differs"


def test_a_game_forced_to_its_end_where_none_was_is_nothing() -> None:
    assert between().believe(result(ShoeResult.FORCE_QUIT)).fault is None
    assert between().lock().believe(result(ShoeResult.FORCE_QUIT)).fault is None


@pytest.mark.parametrize("drawn_in_error", ["simulated_hand", "burn", "next_card"])
def test_a_card_the_shoe_kept_is_the_next_hands_first(drawn_in_error: str) -> None:
    table = TableUnderTest(house(drawn_in_error=drawn_in_error)).open_shoe()
    table.believe(CardKept(Card.parse("2S"), PLAYER, 1))
    assert (table.face.phase, table.face.hands, table.face.cards_left) == ("wagers_open", (), 413)
    table.lock()
    assert (hand(table.face, "player").cards, table.face.next_hand) == (("2S",), "banker")
    for placed in SIX_CARDS[1:]:
        table.to(*placed)
    assert (table.fault, table.face.phase, table.face.cards_left) == (None, "wagers_open", 408)


def test_a_card_kept_inside_a_hand_waits_for_the_next() -> None:
    table = between().lock().draw("4S TH").believe(CardKept(Card.parse("2S"), PLAYER, 1)).draw("5D 9C")
    assert table.face.outcome == "tie"
    table.lock()
    assert hand(table.face, "player").cards == ("2S",)


def test_a_kept_card_is_the_first_of_a_hand_already_locked() -> None:
    table = between().lock().believe(CardKept(Card.parse("2S"), PLAYER, 1))
    assert table.face.next_hand == "banker"


def test_a_void_hand_does_not_take_the_kept_card_with_it() -> None:
    table = between().lock().draw("4S TH").believe(CardKept(Card.parse("2S"), PLAYER, 1)).void().lock()
    assert hand(table.face, "player").cards == ("2S",)


def test_where_the_first_card_locks_a_kept_card_waits_for_it() -> None:
    table = TableUnderTest(house(lock_on="first_card")).open_shoe().believe(CardKept(Card.parse("2S"), PLAYER, 1))
    assert table.face.phase == "wagers_open"
    table.to(BANKER, 1, "TH")
    assert (table.fault, table.face.next_hand) == (None, "player")


def test_more_kept_cards_than_a_hand_takes_go_to_the_hand_after() -> None:
    table = between()
    for card in ("4S", "TH", "5D", "9C", "2S"):
        table.believe(CardKept(Card.parse(card), PLAYER, 1))
    table.lock()
    assert (table.face.outcome, table.face.phase, table.face.cards_left) == ("tie", "wagers_open", 409)
    table.lock().to(BANKER, 1, "TH")
    assert (table.fault, table.face.next_hand) == (None, "player")


def test_an_impossible_kept_card_is_found_too() -> None:
    table = TableUnderTest(house(decks=1)).open_shoe("AS 2D").believe(CardKept(Card.parse("AS"), PLAYER, 1))
    assert table.fault == "impossible_card"
    assert list(map(str, table.name("AH").table.kept)) == ["AH"]


def test_a_kept_card_left_when_the_shoe_ends_is_gone_with_it() -> None:
    table = between().lock().draw("CUT 4S TH")
    table.believe(CardKept(Card.parse("2S"), PLAYER, 1)).draw("5D 9C")
    assert table.face.phase == "shoe_ended"
    assert table.open_shoe().lock().face.hands == ()
