"""How the figures of a par sheet change with the shoe: each bet's house edge with the number of decks, and the number
of rounds in a shoe with the place of the cut card.

The place of the cut card changes no house edge, because a late round of the shoe has the same odds as an early one, as
long as nobody knows the cards that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from controller.people.par.sheet import Par, RoundsInShoe, Subject, par, rounds_in_a_shoe

_DECKS = (1, 2, 4, 6, 7, 8, 9, 10, 12)
_BEHIND = (7, 14, 26, 52, 104)


class ByDecks(Struct, frozen=True):
    """The par sheet of a game as it would be with `decks` decks, in place of the number of decks in the game's file."""

    decks: int
    sheet: Par


def by_decks(of: Subject) -> Iterator[ByDecks]:
    """Yield the par sheet of a game with other numbers of decks: the nearest usual numbers below and above the number
    in the game's file, at most two of each."""
    here = of.shoe.decks
    below, above = [many for many in _DECKS if many < here], [many for many in _DECKS if many > here]
    for decks in (*below[-2:], *above[:2]):
        yield ByDecks(decks, par(replace(of, shoe=replace(of.shoe, decks=decks))))


def by_cut_card(sheet: Par) -> Iterator[tuple[int, RoundsInShoe]]:
    """Yield pairs of two values: a number of cards behind the cut card, and how many rounds such a shoe has if as many
    seats as possible are in play."""
    of = sheet.subject
    for behind in sorted({*_BEHIND, of.shoe.cut_card_from_end}):
        if sheet.hands and behind < 52 * of.shoe.decks // 2:
            hands = sheet.hands[-1]
            moved = replace(of, shoe=replace(of.shoe, cut_card_from_end=behind))
            yield behind, rounds_in_a_shoe(moved, hands.seats, hands.by_cards, hands.cards_a_round)
