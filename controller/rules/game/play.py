"""The types that all games share: the cards and calls of a round, its next step, how a hand lies, and the result of a
wager.

Each game has a function `next_step` over the cards and calls so far. The function returns a `Draw`, a `Choose`, a
`Reveal`, or the finished round.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from controller.rules.game.cards import Card


class Call(Enum):
    """A signal that the dealer gives during a round by pressing a button, such as that a seat hits."""

    HIT = "hit"
    STAND = "stand"
    SPLIT = "split"
    REVEAL = "reveal"  # the face-down cards that were due have been turned up


Play = Card | Call
"""One thing that happened in a round: a card drawn, or a call."""


class Draw(Struct, frozen=True):
    """The next step of a round, if it is a card for a hand. `hand` is the hand's name. `seat` is the seat for which the
    card is drawn; None for a hand that no seat plays, and for the first two cards of each hand in Baccarat Royal.

    With `face_down` the card is laid face down. With `secret` nobody is told which hand draws, because that would give
    away a face-down card.
    """

    hand: str
    seat: int | None = None
    face_down: bool = False
    secret: bool = False


class Choose(Struct, frozen=True):
    """The next step of a round, if a seat has to choose for its hand: `options` are the calls from which it may choose.
    With `secret` the options are not shown, because they would give away a face-down card."""

    hand: str
    seat: int
    options: tuple[Call, ...]
    secret: bool = False


class Reveal(Struct, frozen=True):
    """The next step of a round, if the face-down cards of `hands` must be turned up. The dealer presses a button after
    turning them up."""

    hands: tuple[str, ...]


class Laid(Struct, frozen=True):
    """A hand as it lies on the layout: its cards in order, and for each card whether it lies face down.

    `hand` is "player", "banker" or "dealer", or the name of a seat's hand: "seat_3", and after splits "seat_3_hand_2"
    and so on.
    """

    hand: str
    cards: tuple[Card, ...]
    face_down: tuple[bool, ...]
    seat: int | None = None


class Result(Enum):
    """How a wager ended: won, lost, pushed, half lost or returned."""

    WON = "won"
    LOST = "lost"
    PUSHED = "pushed"
    HALF_LOST = "half_lost"
    RETURNED = "returned"  # the wager did not play: the round was void, or nobody bet against it
