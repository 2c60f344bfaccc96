"""Cards, hands and the rules of drawing for the simulation, written without code of the controller.

Because the two share no code, they agree only if both are right. A card is plain text, rank then suit (`KS`, `TD`). A
hand is a sequence of cards in the order in which they were drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

Side = Literal["player", "banker"]
Outcome = Literal["player", "banker", "tie"]

RANKS = "A23456789TJQK"
SUITS = "DCSH"

# Banker's part of the sheets. A row is Banker's total on two cards. The column `s` is for a Player who stood, the
# other columns are for the value of Player's third card. D: Banker draws.
_BANKER = """
      s 0123456789
    0 D DDDDDDDDDD
    1 D DDDDDDDDDD
    2 D DDDDDDDDDD
    3 D DDDDDDDD.D
    4 D ..DDDDDD..
    5 D ....DDDD..
    6 . ......DD..
    7 . ..........
"""
_BANKER_ROWS = [row.split(maxsplit=1)[1].replace(" ", "") for row in _BANKER.strip().splitlines()[1:]]


class Drawing(Struct, frozen=True):
    """The rules of drawing a third card: the section `[punto_banco.tableau]` of a game file."""

    natural: Sequence[int]
    player_draws_on: Sequence[int]
    banker_draws_on_when_player_stands: Sequence[int]
    banker_draws_on_third_card: Mapping[str, Sequence[int]]


USUAL = Drawing(
    natural=[8, 9],
    player_draws_on=[0, 1, 2, 3, 4, 5],
    banker_draws_on_when_player_stands=[total for total, row in enumerate(_BANKER_ROWS) if row[0] == "D"],
    banker_draws_on_third_card={
        str(total): [third for third, draws in enumerate(row[1:]) if draws == "D"]
        for total, row in enumerate(_BANKER_ROWS)
    },
)
"""The rules of the sheets, which an Angel Eye runs too. A house deals by its own game file."""


def a_card(word: str) -> str:
    """Return the word unchanged if it names a card, such as `KS`. Otherwise raises ValueError with a text that says how
    cards are written."""
    if len(word) != 2 or word[0] not in RANKS or word[1] not in SUITS:
        raise ValueError(f"{word} is not a card; write rank then suit: KS 9H TD AC")
    return word


def points(card: str) -> int:
    """Return the points of a card: 1 for the ace, 0 for the ten and the face cards, and the face value for every other
    card."""
    return (RANKS.index(card[0]) + 1) % 10 if card[0] not in "JQK" else 0


def total(cards: Sequence[str]) -> int:
    """Return the total of a hand in baccarat: the last digit of the sum of its cards' points."""
    return int(str(sum(map(points, cards)))[-1])


def burn_count(first_card: str, *, counts_first: bool = False) -> int:
    """Return how many more cards are burned after the shoe's first card: the first card's face value, or ten for a ten
    or a face card. With `counts_first`, the first card counts as one of them, so that one fewer is burned."""
    return (points(first_card) or 10) - counts_first


def is_natural(cards: Sequence[str], naturals: Collection[int] = (8, 9)) -> bool:
    """Tell whether a hand is a natural: two cards with one of the house's natural totals, usually 8 or 9."""
    return len(cards) == 2 and total(cards) in naturals


def next_side(player: Sequence[str], banker: Sequence[str], says: Drawing = USUAL) -> Side | None:
    """Return which side, "player" or "banker", gets the next card after the cards dealt so far. Return None if the
    round is complete."""
    dealt = len(player) + len(banker)
    if dealt < 4:
        return "banker" if dealt % 2 else "player"
    one, other = total(player[:2]), total(banker[:2])
    if len(banker) == 3 or {one, other} & {*says.natural}:
        return None
    if one not in says.player_draws_on:
        return "banker" if other in says.banker_draws_on_when_player_stands else None
    if len(player) == 2:
        return "player"
    return "banker" if points(player[2]) in says.banker_draws_on_third_card[str(other)] else None


def outcome(player: Sequence[str], banker: Sequence[str]) -> Outcome:
    """Return who has won a complete round: "player", "banker" or "tie"."""
    if total(player) == total(banker):
        return "tie"
    return "player" if total(player) > total(banker) else "banker"


def hand_json(cards: Sequence[str]) -> dict[str, object]:
    """Return a hand's cards and total, as a JSON object for the simulation's record."""
    return {"cards": list(cards), "total": total(cards)}


def is_pair(cards: Sequence[str]) -> bool:
    """Tell whether the first two cards of a hand have the same rank."""
    return cards[0][0] == cards[1][0]
