"""Checks the order of play in Lucky 9, card by card and call by call, with examples in the words of a dealer.

A round is written as the cards and calls in order: `5S` is a card, and `hit`, `stand`, `split` and `reveal` are calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import HandsError, SeatHand, SeatHands, seat_hand_name
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call, Choose, Draw, Laid, Play, Reveal
from controller.rules.game.seating import Seating
from tests.support.samples import examples
from tests.support.tables import LUCKY9

HIT, STAND, SPLIT, REVEAL = Call.HIT, Call.STAND, Call.SPLIT, Call.REVEAL


GAME = cast(Lucky9, LUCKY9.play)


def plays(text: str) -> list[Play]:
    calls = {call.value: call for call in Call}
    return [calls[word] if word in calls else Card.parse(word) for word in text.split()]


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def worth(points: int) -> str:
    return "TA23456789"[points] + "S"


def felt(text: str, seats: tuple[int, ...] = (3,), game: Lucky9 = GAME) -> dict[str, str]:
    """Return the cards of each hand on the layout, by the hand's name, after the cards and calls in `text`. A face-down
    card is written ##."""
    return {
        hand.hand: " ".join("##" if down else str(card) for card, down in zip(hand.cards, hand.face_down, strict=True))
        for hand in game.laid(Seating(seats), plays(text))
    }


def after(text: str, seats: tuple[int, ...] = (3,), game: Lucky9 = GAME) -> Draw | Choose | Reveal | SeatHands:
    return game.next_step(Seating(seats), plays(text))


def done(text: str, seats: tuple[int, ...] = (3,), game: Lucky9 = GAME) -> SeatHands:
    step = after(text, seats, game)
    assert isinstance(step, SeatHands)
    return step


def split_hands(text: str) -> list[tuple[int, str]]:
    """Return the number and the cards of each hand of seat 3 at the end of the round in `text`. Check that each hand is
    marked as coming from a split."""
    hands = done(text).hands
    assert all(hand.seat == 3 and hand.from_split for hand in hands)
    return [(hand.number, " ".join(map(str, hand.cards))) for hand in hands]


# The deal.


def test_two_cards_go_to_each_seat_and_then_the_dealer() -> None:
    dealt = plays("2S 3H 5C 4D 2H 6C")
    seats = (1, 4)
    assert [GAME.next_step(Seating(seats), dealt[:n]) for n in range(6)] == [
        Draw("seat_1", 1),
        Draw("seat_4", 4),
        Draw("dealer", face_down=True),
        Draw("seat_1", 1),
        Draw("seat_4", 4),
        Draw("dealer"),
    ]
    assert felt("2S 3H 5C 4D 2H 6C", seats) == {"seat_1": "2S 4D", "seat_4": "3H 2H", "dealer": "## 6C"}


def test_the_dealers_first_card_lies_face_down_until_he_reveals() -> None:
    assert felt("2S 5C") == {"seat_3": "2S", "dealer": "##"}
    assert felt("2S 5C 4D 6C")["dealer"] == "## 6C"
    assert felt("2S 5C 4D 6C stand")["dealer"] == "## 6C"
    assert felt("2S 5C 4D 6C stand reveal")["dealer"] == "5C 6C"
    assert felt("2S 5C 4D 6C stand reveal 7S")["dealer"] == "5C 6C 7S"


def test_a_hand_lies_with_its_seat_and_the_dealers_last() -> None:
    assert GAME.laid(Seating((7, 2)), plays("2S 3H 5C")) == (
        Laid("seat_7", cards("2S"), (False,), 7),
        Laid("seat_2", cards("3H"), (False,), 2),
        Laid("dealer", cards("5C"), (True,)),
    )
    assert GAME.laid(Seating((7,)), []) == (Laid("seat_7", (), (), 7), Laid("dealer", (), ()))


# A seat's turn.


def test_a_seat_may_hit_or_stand() -> None:
    assert after("2S 5C 4D 6C") == Choose("seat_3", 3, (HIT, STAND))


def test_a_hit_is_one_card() -> None:
    assert after("2S 5C 4D 6C hit") == Draw("seat_3", 3)
    assert after("2S 5C 4D 6C hit AC") == Reveal(("dealer",))
    assert felt("2S 5C 4D 6C hit AC")["seat_3"] == "2S 4D AC"


@pytest.mark.parametrize("nine", ["AS 8H", "2S 7H", "3S 6H", "4S 5H", "9S TH", "KH 9D", "JC 9C", "9S QH"])
def test_a_lucky_9_and_a_natural_9_have_no_choice(nine: str) -> None:
    first, second = nine.split()
    assert after(f"{first} 5C {second} 6C") == Reveal(("dealer",))


def test_every_other_total_has_one() -> None:
    for first, second in product(range(10), range(10)):
        if (first + second) % 10 != 9:
            _has_a_choice(first, second)


def _has_a_choice(first: int, second: int) -> None:
    step = after(f"{worth(first)} 5C {worth(second)} 6C")
    split = (SPLIT,) if first == second else ()
    assert step == Choose("seat_3", 3, (HIT, STAND, *split))


def test_seats_act_in_turn_and_the_dealer_after_them() -> None:
    dealt = "2S 4S 3S 5C  4D 5D 2D 6C"  # seat 2 has a Lucky 9
    seats = (1, 2, 6)
    assert after(dealt, seats) == Choose("seat_1", 1, (HIT, STAND))
    assert after(f"{dealt} hit", seats) == Draw("seat_1", 1)
    assert after(f"{dealt} hit 9S", seats) == Choose("seat_6", 6, (HIT, STAND))
    assert after(f"{dealt} hit 9S stand", seats) == Reveal(("dealer",))
    assert after(f"{dealt} hit 9S stand reveal", seats) == Draw("dealer")
    assert done(f"{dealt} hit 9S stand reveal 4C", seats) == SeatHands(
        cards("5C 6C 4C"),
        (
            SeatHand(1, 1, cards("2S 4D 9S"), from_split=False),
            SeatHand(2, 1, cards("4S 5D"), from_split=False),
            SeatHand(6, 1, cards("3S 2D"), from_split=False),
        ),
        {1: cards("2S 4D"), 2: cards("4S 5D"), 6: cards("3S 2D")},
    )


# Splits.


def test_a_pair_may_split_and_each_hand_takes_one_card_and_stands() -> None:
    pair = "8S 5C 8D 6C"
    assert after(pair) == Choose("seat_3", 3, (HIT, STAND, SPLIT))
    assert felt(f"{pair} split") == {"seat_3": "8S", "seat_3_hand_2": "8D", "dealer": "## 6C"}
    assert after(f"{pair} split") == Draw("seat_3", 3)
    assert after(f"{pair} split 2C") == Draw("seat_3_hand_2", 3)
    assert after(f"{pair} split 2C 3C") == Reveal(("dealer",))
    assert split_hands(f"{pair} split 2C 3C reveal 4C") == [(1, "8S 2C"), (2, "8D 3C")]


def test_a_pair_may_still_hit_or_stand() -> None:
    assert felt("8S 5C 8D 6C hit 2C")["seat_3"] == "8S 8D 2C"
    assert after("8S 5C 8D 6C hit 8C") == Reveal(("dealer",))
    assert after("8S 5C 8D 6C stand") == Reveal(("dealer",))


def test_a_new_pair_may_split_again_but_not_hit() -> None:
    assert after("8S 5C 8D 6C split 8C") == Choose("seat_3", 3, (STAND, SPLIT))
    assert after("8S 5C 8D 6C split 8C stand") == Draw("seat_3_hand_2", 3)
    assert after("8S 5C 8D 6C split 8C stand 8H") == Choose("seat_3_hand_2", 3, (STAND, SPLIT))
    assert after("8S 5C 8D 6C split 8C stand 8H stand") == Reveal(("dealer",))


def test_a_split_puts_the_new_hand_to_the_right_and_the_others_move_on() -> None:
    once = "8S 5C 8D 6C split"
    assert felt(f"{once} 8C split") == {"seat_3": "8S", "seat_3_hand_2": "8C", "seat_3_hand_3": "8D", "dealer": "## 6C"}
    assert felt(f"{once} 2C 8H split") == {
        "seat_3": "8S 2C",
        "seat_3_hand_2": "8D",
        "seat_3_hand_3": "8H",
        "dealer": "## 6C",
    }


def test_three_splits_make_four_hands_and_a_fourth_is_not_offered() -> None:
    thrice = "8S 5C 8D 6C split 8C split 8H split"
    assert felt(thrice) == {
        "seat_3": "8S",
        "seat_3_hand_2": "8H",
        "seat_3_hand_3": "8C",
        "seat_3_hand_4": "8D",
        "dealer": "## 6C",
    }
    assert after(f"{thrice} 8S") == Draw("seat_3_hand_2", 3)
    assert after(f"{thrice} 8S 8S") == Draw("seat_3_hand_3", 3)
    assert after(f"{thrice} 8S 8S 2C") == Draw("seat_3_hand_4", 3)
    assert after(f"{thrice} 8S 8S 2C 8C") == Reveal(("dealer",))
    assert split_hands(f"{thrice} 8S 8S 2C 8C reveal KC") == [(1, "8S 8S"), (2, "8H 8S"), (3, "8C 2C"), (4, "8D 8C")]


def test_the_three_splits_may_be_of_any_hands() -> None:
    played = "8S 5C 8D 6C split  2C  8H split  8C split  AC 3C 4C  reveal KC"
    assert split_hands(played) == [(1, "8S 2C"), (2, "8D AC"), (3, "8C 3C"), (4, "8H 4C")]


def test_each_seat_has_its_own_three_splits() -> None:
    dealt = "8S 7S 5C 8D 7D 6C"
    first = "split 8C split 8H split 2C 2C 2C 2C"
    assert after(f"{dealt} {first}", (3, 5)) == Choose("seat_5", 5, (HIT, STAND, SPLIT))
    assert after(f"{dealt} {first} split 7C split 7H", (3, 5)) == Choose("seat_5", 5, (STAND, SPLIT))


def test_the_first_two_cards_are_kept_through_splits_and_hits() -> None:
    played = done("8S 2S 5C 8D 4D 6C split 8C split 2C 2D 2H hit 3H reveal KC", (3, 5))
    assert played.first_two == {3: cards("8S 8D"), 5: cards("2S 4D")}
    assert played.dealer[1] == Card.parse("6C")


def test_no_more_splits_than_the_house_allows() -> None:
    assert after("8S 5C 8D 6C", game=replace(GAME, most_splits=0)) == Choose("seat_3", 3, (HIT, STAND))
    assert after("8S 5C 8D 6C split 8C", game=replace(GAME, most_splits=1)) == Draw("seat_3_hand_2", 3)


@pytest.mark.parametrize(
    ("first", "second", "by_rank", "by_value"),
    [
        ("KS", "KH", True, True),
        ("KS", "QS", False, True),
        ("TS", "JH", False, True),
        ("AS", "AS", True, True),
        ("AS", "2S", False, False),
    ],
)
def test_a_pair_is_of_rank_or_of_value_as_the_house_says(
    first: str, second: str, by_rank: bool, by_value: bool
) -> None:
    offered = []
    for game in (replace(GAME, pair="rank"), replace(GAME, pair="value")):
        step = after(f"{first} 5C {second} 6C", game=game)
        assert isinstance(step, Choose)
        offered.append(SPLIT in step.options)
    assert offered == [by_rank, by_value]


# The dealer's turn.


def test_the_dealer_draws_one_card_on_0_to_4_and_stands_on_5_to_9() -> None:
    for seat in ("2S 4D stand", "2S 9D hit AS", "2S 9D hit TS", "9S TD"):  # 6, dead 2, dead 1, a natural
        for dealers in range(10):
            _the_dealer_draws(seat, dealers, dealers < 5)


def _the_dealer_draws(seat: str, dealers: int, draws: bool) -> None:
    first, second, *acted = seat.split()
    for up in range(10):
        down = (dealers - up) % 10
        revealed = f"{first} {worth(down)} {second} {worth(up)} {' '.join(acted)} reveal"
        if draws:
            assert after(revealed) == Draw("dealer")
            assert done(f"{revealed} AC").dealer == cards(f"{worth(down)} {worth(up)} AC")
        else:
            assert done(revealed).dealer == cards(f"{worth(down)} {worth(up)}")


# What is not due.


@pytest.mark.parametrize(
    ("played", "told"),
    [
        ("hit", "hit came where seat_3 is due a card"),
        ("2S 5C 4D reveal", "reveal came where dealer is due a card"),
        ("2S 5C 4D 6C AC", "AC came where seat_3 has the choice to hit or stand"),
        ("2S 5C 4D 6C split", "split came where seat_3 has"),
        ("2S 5C 4D 6C reveal", "reveal came where seat_3 has"),
        ("2S 5C 4D 6C hit stand", "stand came where seat_3 is due a card"),
        ("2S 5C 4D 6C hit AS hit", "hit came where the dealer is due to reveal"),
        ("2S 5C 4D 6C stand 4C", "4C came where the dealer is due to reveal"),
        ("8S 5C 8D 6C split 8C hit", "hit came where seat_3 has the choice to stand or split"),
        ("8S 5C 8D 6C split 2C stand", "stand came where seat_3_hand_2 is due a card"),
        ("4S 5C 5D 6C hit", "hit came where the dealer is due to reveal"),
        ("9S 5C KD 6C stand", "stand came where the dealer is due to reveal"),
        ("2S 5C 4D KC stand reveal 4C", "the round was complete before 4C"),
        ("2S 5C 4D KC stand reveal reveal", "the round was complete before reveal"),
    ],
)
def test_a_play_that_is_not_due_is_refused(played: str, told: str) -> None:
    for function in (GAME.next_step, GAME.laid):
        with pytest.raises(ValueError, match=told):
            function(Seating((3,)), plays(played))


# Any round at all.


@examples(50)
@given(
    seats=st.permutations(range(1, 8)).flatmap(lambda order: st.integers(1, 4).map(lambda n: tuple(order[:n]))),
    pair=st.sampled_from(["rank", "value"]),
    most_splits=st.integers(0, 3),
    few_ranks=st.booleans(),
    shoe=st.randoms(use_true_random=False),
)
def test_any_round_takes_what_is_due_and_refuses_all_else(
    seats: tuple[int, ...], pair: Literal["rank", "value"], most_splits: int, few_ranks: bool, shoe: Random
) -> None:
    game = replace(GAME, pair=pair, most_splits=most_splits)
    deck = [card for card in DECK if card.rank in (8, 11, 13)] if few_ranks else list(DECK)  # few: many splits
    played: list[Play] = []
    while not isinstance(step := game.next_step(Seating(seats), played), SeatHands):
        drawn = shoe.choice(deck)
        due: list[Play] = (
            [drawn] if isinstance(step, Draw) else [REVEAL] if isinstance(step, Reveal) else [*step.options]
        )
        refuses_all_but(due, game, seats, [*played], drawn)
        on_the_felt = {hand.hand: len(hand.cards) for hand in game.laid(Seating(seats), played)}
        played.append(shoe.choice([*due, *([SPLIT] * 5 if SPLIT in due else [])]))
        now = {hand.hand: len(hand.cards) for hand in game.laid(Seating(seats), played)}
        if isinstance(step, Draw):  # one hand has one card more, and it is the hand that was named
            assert now == on_the_felt | {step.hand: on_the_felt[step.hand] + 1}
            assert step.hand == "dealer" if step.seat is None else step.hand.startswith(f"seat_{step.seat}")
        assert len(now) == 1 + len(seats) + played.count(SPLIT)
        every_card_lies_once(game, seats, played)
    refuses_all_but([], game, seats, played, shoe.choice(deck))
    ends_as_it_lies(step, game, seats, played)
    assert game.corrected(step, named({seat: hands_of(step, seat) for seat in sorted(seats)}, step.dealer)) == step


def hands_of(end: SeatHands, seat: int) -> tuple[tuple[Card, ...], ...]:
    return tuple(hand.cards for hand in end.hands if hand.seat == seat)


def refuses_all_but(due: list[Play], game: Lucky9, seats: tuple[int, ...], played: list[Play], card: Card) -> None:
    for play in (card, *Call):
        if play not in due:
            with pytest.raises(ValueError):
                game.next_step(Seating(seats), [*played, play])


def every_card_lies_once(game: Lucky9, seats: tuple[int, ...], played: list[Play]) -> None:
    came = sorted(str(play) for play in played if isinstance(play, Card))
    lie = game.laid(Seating(seats), played)
    assert sorted(str(card) for hand in lie for card in hand.cards) == came
    assert [hand.hand for hand in lie if any(hand.face_down)] == (
        ["dealer"] if len(came) > len(seats) and REVEAL not in played else []
    )


def ends_as_it_lies(end: SeatHands, game: Lucky9, seats: tuple[int, ...], played: list[Play]) -> None:
    *theirs, dealers = game.laid(Seating(seats), played)
    assert [(hand.seat, hand.cards) for hand in end.hands] == [(hand.seat, hand.cards) for hand in theirs]
    assert end.dealer == dealers.cards
    first = [play for play in played if isinstance(play, Card)]
    for place, seat in enumerate(seats):
        numbers = [hand.number for hand in end.hands if hand.seat == seat]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) <= game.most_splits + 1
        assert {hand.from_split for hand in end.hands if hand.seat == seat} == {len(numbers) > 1}
        assert end.first_two[seat] == (first[place], first[place + len(seats) + 1])
    assert end.dealer[1] == first[2 * len(seats) + 1]
    assert all(len(hand.cards) == 2 or (len(hand.cards) == 3 and not hand.from_split) for hand in end.hands)


# Hands read anew from the felt.

Hands = tuple[tuple[Card, ...], ...]


def named(of_seats: dict[int, Hands], dealer: tuple[Card, ...]) -> dict[str, tuple[Card, ...]]:
    hands = {seat_hand_name(seat, n): hand for seat, theirs in of_seats.items() for n, hand in enumerate(theirs, 1)}
    return hands | {"dealer": dealer}


def read(told: SeatHands, hands: str, dealer: str, game: Lucky9 = GAME) -> SeatHands:
    """Return the finished round `told`, corrected to the hands that people read on the layout. `hands` are the hands of
    seat 3, separated by commas, and `dealer` is the dealer's hand."""
    return game.corrected(told, named({3: tuple(map(cards, hands.split(",")))}, cards(dealer)))


def test_hands_read_anew_are_a_round_like_any_other() -> None:
    told = done("8S 2C 8D 9C split KS QS reveal TC")
    assert read(told, "8S KS, 8D 3S", "2C 9C TC") == done("8S 2C 8D 9C split KS 3S reveal TC")
    assert read(told, "8S 8D", "2C 9C TC") == done("8S 2C 8D 9C stand reveal TC")
    assert read(told, "8S 7D AC", "2C 5C") == done("8S 2C 7D 5C hit AC reveal")


@pytest.mark.parametrize(
    ("hands", "dealer"),
    [
        ("4S 5D 2S", "2C 9C TC"),  # a 9 does not hit
        ("8S KS, 7D QS", "2C 9C TC"),  # no pair
        ("8S KS, 8D QS 2H", "2C 9C TC"),  # no hit after a split
        ("8S KS 2H, 8D QS", "2C 9C TC"),
        ("8S 2S, 8D 3S, 8C 4S, 8H 5S, 8S 6S", "2C 9C TC"),  # five hands
        ("8S KS", "2C 9C"),  # the dealer has 1, and draws
        ("8S KS", "2C 3C 4C"),  # he has 5, and stands
        ("8S", "2C 9C TC"),
        ("8S 2S 2D 2H", "2C 9C TC"),
    ],
)
def test_hands_that_no_play_leads_to_are_refused(hands: str, dealer: str) -> None:
    told = done("8S 2C 8D 9C split KS QS reveal TC")
    with pytest.raises(HandsError):
        read(told, hands, dealer)


@pytest.mark.parametrize(
    ("played", "hands", "second"),
    [
        # Hand 1 split again: the seat's second card begins the third hand.
        ("8S 5C 8D 6C split 8C split 2S 3S 4S reveal KC", "8S 2S, 8C 3S, 8H 4S", "8H"),
        # Hand 2 split again: it begins the second.
        ("8S 5C 8D 6C split 2S 8C split 3S 4S reveal KC", "8S 2S, 8H 3S, 8C 4S", "8H"),
        # Told with two hands, and there were three: the second.
        ("8S 5C 8D 6C split 2S 3S reveal KC", "8S 2S, 8H 3S, 8C 4S", "8H"),
    ],
)
def test_a_seats_second_card_is_found_again_among_its_split_hands(played: str, hands: str, second: str) -> None:
    told = done(played)
    assert told.first_two[3] == cards("8S 8D")
    assert read(told, hands, "5C 6C KC").first_two[3] == cards(f"8S {second}")


FEW = st.sampled_from([Card.parse(word) for word in ("4S", "5D", "KH", "KD", "QS")])
FEW_KINGS = st.sampled_from([Card.parse(word) for word in ("KH", "KD", "KD", "QS")])
ANY_HANDS = st.lists(st.lists(FEW, min_size=1, max_size=4).map(tuple), min_size=1, max_size=4).map(tuple)
SPLIT_HANDS = st.lists(st.tuples(FEW_KINGS, FEW), min_size=2, max_size=4).map(tuple)


@examples(100)
@given(
    ANY_HANDS | SPLIT_HANDS,
    st.lists(FEW, min_size=2, max_size=3).map(tuple),
    st.sampled_from(["rank", "value"]),
    st.integers(0, 3),
)
def test_hands_may_lie_just_where_some_play_leads_to_them(
    hands: Hands, dealer: tuple[Card, ...], pair: Literal["rank", "value"], most_splits: int
) -> None:
    game = replace(GAME, pair=pair, most_splits=most_splits)
    told = done("2S 5C 4D 6C stand reveal KC")
    try:
        given_back: SeatHands | None = game.corrected(told, named({3: hands}, dealer))
    except HandsError:
        given_back = None
    ways = list(ways_to(game, hands, dealer, [], Counter([*dealer, *(card for hand in hands for card in hand)])))
    assert (given_back is not None) == bool(ways)
    assert given_back is None or given_back in ways


def ways_to(
    game: Lucky9, hands: Hands, dealer: tuple[Card, ...], played: list[Play], left: Counter[Card]
) -> Iterator[SeatHands]:
    """Yield every round of seat 3 that begins with the cards and calls `played`, and ends with these hands of the seat
    and the dealer. The rounds are found by trying every call and every card in `left` in turn."""
    step = game.next_step(Seating((3,)), played)
    *theirs, dealers = (hand.cards for hand in game.laid(Seating((3,)), played))
    if isinstance(step, SeatHands):
        if (tuple(theirs), dealers) == (hands, dealer):
            yield step
        return
    finished = [cards for cards in theirs if len(cards) >= 2][:-1]  # a hand further right has been dealt to
    if dealers != dealer[: len(dealers)] or tuple(finished) != hands[: len(finished)] or len(theirs) > len(hands):
        return
    coming: list[Play] = [card for card, count in left.items() if count] if isinstance(step, Draw) else []
    for play in coming or (
        [REVEAL] if isinstance(step, Reveal) else [*step.options] if isinstance(step, Choose) else []
    ):
        after_it = left - Counter([play]) if isinstance(play, Card) else left
        yield from ways_to(game, hands, dealer, [*played, play], after_it)


# The rules as data.


@pytest.mark.parametrize(
    ("wrong", "told"), [({"most_splits": -1}, "most_splits"), ({"dealer_draws_on": (0, 9)}, "totals from 0 to 8")]
)
def test_rules_that_make_no_sense_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(GAME, **wrong)
