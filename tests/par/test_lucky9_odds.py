"""Lucky 9: a seat's best play, against every round of a few cards played out by the rules with every call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import perm

import pytest

from controller.game.bets import bet_on, deciding
from controller.game.cards import Card
from controller.game.hands import SeatHands
from controller.game.lucky9 import Lucky9
from controller.game.play import Call, Choose, Draw, Play
from controller.game.seating import Seating
from controller.par.lucky9 import best as best_of_seat
from controller.par.lucky9 import best_play
from tests.support.tables import LUCKY9

assert isinstance(LUCKY9.play, Lucky9)
GAME = replace(LUCKY9.play, most_splits=2)
SEAT = Seating(in_play=(1,))
HAND = bet_on(LUCKY9.bets, "hand")
FACE_DOWN = Card.parse("2S")
"""In place of the dealer's face-down card, until it is turned up."""


def left(few: Sequence[Card], plays: Sequence[Play]) -> Counter[Card]:
    """The cards that can still come: the dealer's face-down one, the second play, is among them."""
    seen = [play for place, play in enumerate(plays) if isinstance(play, Card) and place != 1]
    return Counter(few) - Counter(seen)


def best(few: Sequence[Card], plays: Sequence[Play]) -> Fraction:
    """What the seat is up from here, with the best call at each turn."""
    step = GAME.next_step(SEAT, plays)
    if isinstance(step, Choose):
        return max(best(few, [*plays, call]) for call in step.options)
    if isinstance(step, Draw) and step.hand != "dealer":
        return mean(left(few, plays), lambda card: best(few, [*plays, card]))
    return mean(left(few, plays), lambda card: dealt_out(few, [plays[0], card, *plays[2:], Call.REVEAL]))


def dealt_out(few: Sequence[Card], plays: Sequence[Play]) -> Fraction:
    """What the seat is up once the dealer has turned up his card, the second play."""
    step = GAME.next_step(SEAT, plays)
    if isinstance(step, Draw):
        cards = left(few, plays) - Counter([card for card in plays[1:2] if isinstance(card, Card)])
        return mean(cards, lambda card: dealt_out(few, [*plays, card]))
    assert isinstance(step, SeatHands)
    assert HAND is not None
    up = Fraction()
    for seen in GAME.seen(step, SEAT, 1, (None, ())):
        row = deciding(HAND, seen)
        up += -1 if row is None or row.result == "lose" else row.pays or 0
    return up


def mean(cards: Counter[Card], worth) -> Fraction:  # type: ignore[no-untyped-def]
    return sum((many * worth(card) for card, many in cards.items()), Fraction()) / cards.total()


MANY_SPLITS = "5S 5H 5D 5C 4C 4S KH 3D AS 8D"
FEW = "8S 8H 8D KC KS QH AD 6S 6H"


@pytest.mark.parametrize("few", [FEW, pytest.param(MANY_SPLITS, marks=pytest.mark.proof)])
def test_the_best_play_is_worth_what_every_call_comes_to(few: str) -> None:
    cards = [Card.parse(card) for card in few.split()]
    assert HAND is not None
    play = best_play(GAME, HAND, Counter(cards))
    pairs = [turn for turn in play if turn.first.rank == turn.second.rank]
    for turn in [*pairs[:3], *list(play)[::25]]:
        rest, dealt = list(cards), []
        for of in (turn.first, turn.second, turn.up):
            dealt.append(next(card for card in rest if card.rank == of.rank))
            rest.remove(dealt[-1])
        assert play[turn][1] == best(cards, [dealt[0], FACE_DOWN, dealt[1], dealt[2]]), turn


def test_the_bonus_is_counted_and_what_cannot_be_is_named() -> None:
    cards = [Card.parse(card) for card in FEW.split()]
    found = best_of_seat(GAME, LUCKY9.bets, Counter(cards))
    hand, bonus = found.bets
    assert hand.bounds is not None
    assert (hand.spot, hand.bounds[0]) == ("hand", hand.bounds[1])
    nines = sum(sum(card.points for card in three) % 10 == 9 for three in permutations(cards, 3))
    assert sum(outcome.ways for outcome in bonus.outcomes if outcome.paid) == nines
    assert (bonus.spot, bonus.deals) == ("lucky9_bonus", perm(len(cards), 3))
    assert found.left_out == ("tie",)
