"""Checks of the shoe as a second referee, because the shoe applies the drawing rules too. The table compares the shoe's
reports with its own rules: in which place a card belongs, what the result is, and which card is for the next round."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card
from controller.table.acts.rounds import OddCardFate, TellOddCard
from controller.table.acts.shoe import NewShoe
from controller.table.facts import CardKept, ShoeError, ShoeErrorRaised, ShoeResult, ShoeResultReported, Target
from controller.table.rules import TableRules
from tests.support.five_games import Watched, call
from tests.support.tables import MIDI, ROYAL9, TableUnderTest, between, cards, hand, house

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


def result(of: ShoeResult, *, player_pair: bool = False, banker_pair: bool = False) -> ShoeResultReported:
    return ShoeResultReported(of, player_pair, banker_pair)


@pytest.mark.parametrize("hand", [SIX_CARDS, PLAYER_STANDS, BANKER_STANDS, NATURAL])
def test_an_honest_shoe_is_never_contradicted(hand: list[Placed]) -> None:
    table = TableUnderTest().do(NewShoe()).to(FIRST_CARD, 0, "2D").to(BURN, 1, "KS").to(BURN, 2, "KS").lock()
    for placed in hand:
        assert table.face.phase in ("wagers_locked", "round_in_play")
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
    """The table stops if the shoe's result of a round differs from the table's own result, or if their pairs differ.
    The shoe may report the result after the next lock, but only once."""
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


KEPT = CardKept(Card.parse("2S"), PLAYER, 1)


TOLD: dict[str, Callable[[TableUnderTest], TableUnderTest]] = {
    "drawn between hands": lambda table: table.draw("2S"),
    "kept between hands": lambda table: table.believe(KEPT),
    "kept in a hand": lambda table: table.lock().draw("4S TH").believe(KEPT).draw("5D 9C"),
    "kept in a void hand": lambda table: table.lock().draw("4S TH").believe(KEPT).void(),
}
HOWEVER_TOLD = pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
"""Sheet 000 knows one card drawn in error, however a shoe tells of it."""


@HOWEVER_TOLD
def test_a_card_drawn_in_error_is_a_simulated_hands_first(told: Callable[[TableUnderTest], TableUnderTest]) -> None:
    table = told(between())
    assert (table.face.phase, table.face.simulated, table.face.odd_card) == ("round_in_play", True, True)
    assert (hand(table.face, "player").cards, table.face.next_hand) == (("2S",), "banker")
    for placed in SIX_CARDS[1:]:
        table.to(*placed)
    rounds = table.of_type("round")
    assert (table.fault, table.face.phase, rounds[-1]["simulated"]) == (None, "wagers_open", True)
    assert rounds[-1]["player"]["cards"] == ["2S", "3D", "9D"]
    assert table.replayed() == (table.table, None)


@HOWEVER_TOLD
def test_unexposed_it_is_the_next_card(told: Callable[[TableUnderTest], TableUnderTest]) -> None:
    table = told(between()).do(TellOddCard(OddCardFate.NEXT_CARD, "dealer"))
    assert (table.face.phase, table.face.kept) == ("wagers_open", 1)
    table.lock()
    assert (table.face.simulated, hand(table.face, "player").cards) == (False, ("2S",))


@HOWEVER_TOLD
@pytest.mark.parametrize(("drawn_in_error", "begins"), [("burn", ()), ("next_card", ("2S",))])
def test_another_house_burns_it_or_deals_it(
    told: Callable[[TableUnderTest], TableUnderTest], drawn_in_error: str, begins: tuple[str, ...]
) -> None:
    table = told(TableUnderTest(house(drawn_in_error=drawn_in_error)).open_shoe())
    assert (table.fault, table.face.phase, table.face.kept) == (None, "wagers_open", len(begins))
    table.lock()
    assert tuple(card for each in table.face.hands for card in each.cards) == begins


@pytest.mark.parametrize("drawn_in_error", ["simulated_hand", "burn", "next_card"])
@pytest.mark.parametrize("more", ["", "CUT"], ids=["shoe goes on", "shoe ends"])
def test_the_result_of_the_round_in_which_a_card_was_kept_is_compared(drawn_in_error: str, more: str) -> None:
    """If the shoe keeps a card in a round, the table still compares the shoe's result of that round with its own. The
    results can differ, because for the shoe the kept card begins a new round. The shoe's result is then about other
    cards than those on the felt."""
    for of in ShoeResult:
        table = Watched(house(drawn_in_error=drawn_in_error)).open_shoe().draw(more).lock()
        table.draw("4S TH").believe(KEPT).draw("5D 9C")
        assert (table.of_type("round")[-1]["outcome"], table.fault) == ("tie", None)
        table.believe(result(of))
        raised = "force_quit" if of is ShoeResult.FORCE_QUIT and table.face.simulated else "result_differs"
        assert table.fault == (None if of is ShoeResult.TIE else raised)
        if drawn_in_error == "burn" and not more and of in (ShoeResult.PLAYER, ShoeResult.BANKER):
            assert table.details == {}, "nobody has seen the burned card that the shoe counts into that result"
        assert table.replayed() == (table.table, None)


def test_a_shoe_opened_by_an_earlier_version_goes_on_without_that_comparison() -> None:
    """An earlier version of the program did not compare the shoe's result of a round with a kept card. If that version
    opened the shoe, the table still does not compare it, because a replay of the journal must give the same events."""
    table = TableUnderTest(replace(house(drawn_in_error="burn"), procedure=2)).open_shoe().lock()
    assert table.draw("4S TH").believe(KEPT).draw("5D 9C").believe(result(ShoeResult.PLAYER)).fault is None


def test_the_final_rounds_leftover_is_burned_and_the_shoe_is_over_with_too_few_cards() -> None:
    not_dead = cards("AS 2D 4S TH 5D 9C 2S 3S 4H 6C 7D 8D")
    others = [str(card) for card in DECK if card not in not_dead]
    table = TableUnderTest(house(decks=1, drawn_in_error="burn")).open_shoe("AS 2D").lock()
    table.believe(ShoeErrorRaised(ShoeError.CANNOT_READ)).draw(" ".join(others)).void()
    table.lock().draw("4S TH").believe(KEPT).draw("5D 9C")
    assert (table.face.phase, table.face.cards_left) == ("shoe_ended", 5)


def test_a_kept_card_is_the_first_of_a_hand_already_locked() -> None:
    table = between().lock().believe(CardKept(Card.parse("2S"), PLAYER, 1))
    assert table.face.next_hand == "banker"


def test_where_the_first_card_locks_only_a_kept_card_is_known_to_be_drawn_in_error() -> None:
    kept = TableUnderTest(house(lock_on="first_card")).open_shoe().believe(KEPT)
    assert (kept.face.phase, kept.face.simulated) == ("round_in_play", True)
    drawn = TableUnderTest(house(lock_on="first_card")).open_shoe().draw("2S")
    assert (drawn.face.phase, drawn.face.simulated) == ("round_in_play", False)


def test_in_midi_a_kept_card_says_nothing_before_the_cards_are_turned_up() -> None:
    """At Midi, nothing shows that the shoe kept a card for the next round until the cards are turned up. Otherwise
    people would learn that the round takes no more cards."""
    table = Watched(MIDI).open_shoe("2D 3H 4C").lock().draw("4S TH 5D 9C")
    kept = table.face.kept
    table.believe(KEPT)
    assert (table.fault, table.face.phase, table.face.kept) == (None, "round_in_play", kept)
    table.do(call("reveal"))
    assert (table.of_type("round")[-1]["outcome"], table.face.simulated, table.face.odd_card) == ("tie", True, True)
    assert table.replayed() == (table.table, None)


def test_an_impossible_kept_card_is_found_too() -> None:
    table = TableUnderTest(house(decks=1)).open_shoe("AS 2D").believe(CardKept(Card.parse("AS"), PLAYER, 1))
    assert table.fault == "impossible_card"
    assert hand(table.name("AH").face, "player").cards == ("AH",)


def test_a_kept_card_left_when_the_shoe_ends_is_gone_with_it() -> None:
    table = between().lock().draw("CUT 4S TH")
    table.believe(CardKept(Card.parse("2S"), PLAYER, 1)).draw("5D 9C")
    assert table.face.phase == "shoe_ended"
    assert table.open_shoe().lock().face.hands == ()


# Cards that are burned in error: nobody has seen them, and the shoe counts them into a hand.

BURNED_HANDS = ["4S TH 5D 9C", "4S TH 4D 9C", "9S TH 5D 2C"]
"""A tie, a win of Banker's, and a hand that is not over."""


def burned(cards_: str, rules: TableRules) -> Watched:
    """Return a table on which these cards came between two rounds and were burned. The shoe counted them as cards of a
    round of its own."""
    table = Watched(house(rules, drawn_in_error="burn")).open_shoe("2D 3H 4C")
    places = [(PLAYER, 1), (BANKER, 1), (PLAYER, 2), (BANKER, 2)]
    for (target, index), card in zip(places, cards_.split(), strict=False):
        table.to(target, index, card)
        if table.fault:
            table.clear()
    return table


RESULTS = [
    ShoeResultReported(ShoeResult.TIE, False, False),
    ShoeResultReported(ShoeResult.BANKER, False, False),
    ShoeResultReported(ShoeResult.PLAYER, True, False),
]


@pytest.mark.parametrize("rules", [ROYAL9, MIDI], ids=["mini", "midi"])
@pytest.mark.parametrize("said", RESULTS, ids=lambda said: said.result.value)
def test_the_shoes_result_of_burned_cards_is_of_no_hand_and_stops_nobody(
    rules: TableRules, said: ShoeResultReported
) -> None:
    table = burned(BURNED_HANDS[0], rules)
    as_it_was = (list(table.events), table.face)
    table.believe(said)
    assert (table.events, table.face) == as_it_was
    table.lock().to(PLAYER, 1, "KS")
    assert table.fault is None
    assert table.replayed() == (table.table, None)


@pytest.mark.parametrize("rules", [ROYAL9, MIDI], ids=["mini", "midi"])
def test_what_the_shoe_says_of_a_hand_with_burned_cards_is_told_by_no_fault(rules: TableRules) -> None:
    """If the shoe counted burned cards as cards of a round, a fault about that round does not show where the shoe put a
    card, or the shoe's result. Both would reveal what the burned cards are."""
    seen_at = []
    for cards_, place in zip(BURNED_HANDS, [(BANKER, 1), (PLAYER, 2), (PLAYER, 3)], strict=True):
        table = burned(cards_, rules).lock().to(*place, "KS")
        assert table.fault == "target_differs"
        assert table.details == {}
        table.clear().believe(RESULTS[0])
        assert table.fault == "result_differs"
        assert table.details == {}
        seen_at.append(table.seen)
        table.clear()
        table.to(BANKER, 2, "KD")
        assert table.details != {}, "the shoe's next hand has no burned card"
    assert seen_at[1:] == seen_at[:1] * 2


@pytest.mark.parametrize("fate", OddCardFate)
def test_a_card_told_to_be_burned_is_as_secret(fate: OddCardFate) -> None:
    table = between().draw("2S").do(TellOddCard(fate, "dealer")).lock().to(BANKER, 3, "TH")
    assert table.fault == "target_differs"
    assert (table.details == {}) == (fate is OddCardFate.BURN)


def test_once_the_shoe_has_given_its_hand_up_it_is_heard_again() -> None:
    table = burned("4S", ROYAL9).believe(ShoeResultReported(ShoeResult.FORCE_QUIT, False, False)).lock()
    for placed in SIX_CARDS:
        table.to(*placed)
    assert table.fault is None
    assert len(table.of_type("round")) == 1
