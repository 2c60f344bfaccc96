"""The best way to play Lucky 9, as the par sheet (the game's calculation) found it. Tests use it for the seats'
decisions."""

from __future__ import annotations

from collections.abc import Sequence

from controller.people.par.lucky9 import Seat, Turn
from controller.people.par.splits import NEW_PAIR
from controller.rules.game.cards import Card
from controller.rules.game.play import Call


def lucky9_call(seat: Seat, first: Card, second: Card, up: Card) -> Call:
    """Return the best decision of a seat of Lucky 9 on its first two cards, if the dealer's card `up` lies face up."""
    return seat.play[seat.turns[_turn(seat, first, second, up)]]


def lucky9_splits_again(seat: Seat, pair: Card, up: Card, drawn: Sequence[Card], hands: int) -> bool:
    """Tell whether a seat of Lucky 9 should split a new pair, if the seat has `hands` hands already. `up` is the
    dealer's face-up card. `drawn` are the cards that the hands to the left of the pair have drawn."""
    of = seat.turns[_turn(seat, pair, pair, up)].pair
    assert of is not None, "it was split"
    kinds = sorted(NEW_PAIR if card.rank == pair.rank else card.points for card in drawn)
    return seat.splits(of).splits_again(tuple(kinds), hands)


def _turn(seat: Seat, *cards: Card) -> Turn:
    first, second, up = (seat.cards[card.rank] for card in cards)
    turn = Turn(first, second, up)
    return turn if turn in seat.turns else Turn(second, first, up)
