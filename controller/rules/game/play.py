"""The types that all games share: the plays of a round, its next step, how a hand lies, and the result of a wager.

A game is one function over the plays so far, `next_step`. The function answers with a `Draw`, a `Choose`, a `Reveal`,
or the game's own `Done`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from controller.rules.game.cards import Card


class Call(Enum):
    """A call that the dealer makes during a round, by pressing a button."""

    HIT = "hit"
    STAND = "stand"
    SPLIT = "split"
    REVEAL = "reveal"  # the face-down cards that were due have been turned up


Play = Card | Call
"""One thing that happened in a round: a card drawn, or a call."""


class Draw(Struct, frozen=True):
    """The step in which the next card goes to `hand`. Where that hand is a seat's own, `seat` is the seat.

    `face_down`: the card is laid face down. `secret`: nobody is told which hand draws, because that would give away a
    face-down card.
    """

    hand: str
    seat: int | None = None
    face_down: bool = False
    secret: bool = False


class Choose(Struct, frozen=True):
    """The step in which a seat must call one of `options` for its hand. `secret`: the options are not shown, because
    they would give away a face-down card."""

    hand: str
    seat: int
    options: tuple[Call, ...]
    secret: bool = False


class Reveal(Struct, frozen=True):
    """The step in which the face-down cards of these hands are turned up. The dealer calls when that is done."""

    hands: tuple[str, ...]


class Laid(Struct, frozen=True):
    """A hand as it lies on the layout: its cards in order, and which of them lie face down.

    `hand` is "player", "banker", "dealer", or a seat's: "seat_3", and after splits "seat_3_hand_2" and so on.
    """

    hand: str
    cards: tuple[Card, ...]
    face_down: tuple[bool, ...]
    seat: int | None = None


class Result(Enum):
    """The result of a wager."""

    WON = "won"
    LOST = "lost"
    PUSHED = "pushed"
    HALF_LOST = "half_lost"
    RETURNED = "returned"  # the wager did not play: the round was void, or nobody bet against it
