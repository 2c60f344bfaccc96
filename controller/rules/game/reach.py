"""Finds the rows of a bet's pay table that can never decide a wager. This search is for Lucky 9, where seats have hands
of their own. For games of two hands, `people/par/reach` finds such rows by an exact count.

The search tries sample hands. Of all hands that no row can tell apart, it tries only one. So a few cards are enough:
one card for each point value, and more cards only if a row looks at ranks, suits or colours. Every sample is a hand
that the game can deal. If a bet's rows look at so much that there are too many hands, none is tried, and no row is
reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from controller.rules.game.bets import Bet, Finished, HandIs, When, hand_holds, holds, seen_of, sees_ranks
from controller.rules.game.cards import RANKS, WORTH, Card, total
from controller.rules.game.games import Game
from controller.rules.game.hands import Shape, as_it_lies, shape
from controller.rules.game.lucky9 import Lucky9

_Cards = tuple[Card, ...]
_Pair = tuple[_Cards, _Cards]
_Kind = tuple[object, list[_Cards]]
_NAMES = (("own",), ("dealer",))
_MOST_PAIRS = 150_000


class Unreachable(Struct, frozen=True):
    """A row of a bet's pay table that can never decide a wager. `row` is its index from 0. Either its condition never
    holds, or whenever its condition holds, the condition of an earlier row holds too."""

    row: int
    why: Literal["never_holds", "hidden"]


def unreachable(game: Game, bet: Bet, decks: int) -> tuple[Unreachable, ...]:
    """Return the rows of the bet's pay table that can never decide a wager in this game, dealt from this number of
    decks."""
    assert isinstance(game, Lucky9), "the only game at which seats play hands of their own"
    held: set[int] = set()
    deciding: set[int] = set()
    tries = _Tries(bet, decks, game.naturals, game.shapes())
    for seen in tries.seen():
        rows = [number for number, row in enumerate(bet.rows) if holds(row.when, seen)]
        held.update(rows)
        deciding.update(rows[:1])
        if len(deciding) == len(bet.rows):
            return ()
    idle = (row for row in range(len(bet.rows)) if row not in deciding and tries.are_all)
    return tuple(Unreachable(row, "hidden" if row in held else "never_holds") for row in idle)


class _Tries:
    """Sample hands for the search: one for each kind of hand that the rows of the bet's pay table can tell apart.
    `are_all` is False if some kinds of hands may be missing."""

    def __init__(self, bet: Bet, decks: int, naturals: Collection[int], shapes: Sequence[tuple[Shape, Shape]]) -> None:
        self.are_all = True
        whens = [row.when for row in bet.rows]
        colors = [HandIs(color=(color,)) for when in whens for color in when.color or ()]
        self._words = tuple(dict.fromkeys([*(hand for when in whens for hand in when.hands()), *colors]))
        self._together = tuple(dict.fromkeys(are for when in whens for are in when.together()))
        self._identical = any(when.identical is not None for when in whens)
        self._split = (None, 1) if any(when.split is not None for when in whens) else (None,)
        self._up_card = any(when.with_up_card for when in whens)
        self._up_card_alone = self._up_card and all(replace(when, with_up_card=None) == When() for when in whens)
        self._all_cards = any(when.all_cards for when in whens)
        self._decks, self._naturals, self._shapes = decks, naturals, shapes

    def seen(self) -> Iterator[Finished]:
        """Yield the finished rounds to try: each sample hand of a seat against each sample hand of the dealer that may
        lie beside it. If a row looks at the dealer's up card, either of the dealer's first two cards is tried as the up
        card. If the rows look at nothing but the seat's first two cards and the up card, only these three cards are
        varied."""
        if self._up_card_alone:
            cards = [hand for hand in self._single_hands() if len(hand) == 2]
            ups = sorted({card for two in cards for card in two}, key=str)
            for two, up in product(cards, ups):
                if (*two, up).count(up) <= self._decks:
                    yield Finished(as_it_lies((), two, (up, up)), self._naturals, names=_NAMES, with_up_card=(*two, up))
            return
        for own, dealers in self._pairs():
            done = as_it_lies(self._naturals, own, dealers)
            ups = list(dealers[: 2 if self._up_card else 1])
            for number, up in product(self._split, ups):
                if number is None or len(own) == 2:
                    yield Finished(done, self._naturals, names=_NAMES, number=number, with_up_card=(*own[:2], up))

    def _pairs(self) -> Iterator[_Pair]:
        """Yield pairs of sample hands, a seat's and the dealer's: one pair for each combination of kinds of hands that
        the bet's rows can tell apart. If a row asks whether both hands have the same first two cards, also yield one
        such pair for each combination that has one."""
        nothing = Finished(as_it_lies((), _ANY_TWO, _ANY_TWO), self._naturals)
        by_shape: dict[Shape, dict[object, list[_Cards]]] = {}
        for cards in self._single_hands():
            truths = tuple(hand_holds(word, cards, nothing) for word in self._words)
            alike = by_shape.setdefault(shape(cards), {}).setdefault((truths, self._key(cards)), [])
            if len(alike) < 2 or self._identical:
                alike.append(cards)
        tried: set[object] = set()
        for (is_player, players), (is_banker, bankers) in self._kinds(by_shape):
            player = players[0]
            banker = next((each for each in bankers if {*each[:2]} != {*player[:2]}), bankers[0])
            kind = total(player), len(player), total(banker), len(banker), is_player, is_banker
            pairs = [] if kind in tried else [(player, banker)]
            tried.add(kind)
            if self._identical and (kind, True) not in tried and (same := _same_two(players, bankers)):
                tried.add((kind, True))
                pairs.append(same)
            for both in pairs:
                if self._in_the_shoe(both):
                    yield both
                elif self._together:
                    self.are_all = False  # other cards of the same kinds could be there

    def _kinds(self, by_shape: dict[Shape, dict[object, list[_Cards]]]) -> Iterator[tuple[_Kind, _Kind]]:
        """Yield the combinations of a kind of seat's hand and a kind of dealer's hand that the rules allow in the same
        round. Yield none if there are too many combinations to try."""
        beside = [
            ([*by_shape[one].items()], [*by_shape[other].items()])
            for one, other in self._shapes
            if one in by_shape and other in by_shape
        ]
        if self._together and sum(len(own) * len(dealers) for own, dealers in beside) > _MOST_PAIRS:
            self.are_all = False
            return
        for own, dealers in beside:
            yield from product(own, dealers)

    def _key(self, cards: _Cards) -> object:
        """Return those properties of this hand's cards that matter to conditions about the cards of both hands
        together."""
        if not self._together:
            return None
        seen = [tuple(seen_of(are, card) for are in self._together) for card in cards]
        return tuple(sorted(seen[:2])), tuple(seen[2:]) if self._all_cards and len(seen) == 3 else None

    def _single_hands(self) -> Iterator[_Cards]:
        """Yield sample hands of two and three cards, made of one card for each kind of card that the bet's rows can
        tell apart."""
        words, every = self._words, (*self._words, *self._together)
        by_named_suit = any(are.suit or are.of_one_suit or are.color for are in every)
        by_named_suit = by_named_suit or any(are.has and not set(are.has.of) <= set(RANKS) for are in every)
        places = [place for word in words for place in (word.first, word.second, word.third) if place]
        by_named_suit = by_named_suit or any(not set(place) <= set(RANKS) for place in places)
        by_suit = any(are.same_suit is not None for are in every) or any(word.suited is not None for word in words)
        by_named_rank = any(sees_ranks(are) or are.has for are in every)
        by_rank = by_named_rank or bool(places) or any(word.first_two for word in words)
        by_pair = any(are.same_rank is not None for are in every) or any(word.pair is not None for word in words)
        suits = "S"
        if by_named_suit or any(word.colored is not None for word in words) or self._decks < 3:
            suits = "SHCD"  # three cards of one rank from one or two decks are of several suits
        elif self._identical:
            suits = "SHC"
        elif by_suit:
            suits = "SH"
        ranks = "A23456789" + ("TJQK" if by_rank else "TK" if by_pair or self._identical else "T")
        by_third = by_named_suit or by_named_rank or any(word.third for word in words)
        by_third = by_third or any(are.same_rank is not None or are.same_suit is not None for are in every)
        cards = [Card.parse(rank + suit) for rank, suit in product(ranks, suits)]
        thirds = cards if by_third else WORTH
        in_order = any(word.first or word.second for word in words)
        for two in product(cards, repeat=2) if in_order else combinations_with_replacement(cards, 2):
            if self._decks > 1 or two[0] != two[1] or len(suits) == 1:
                yield two
                for third in thirds:
                    if (*two, third).count(third) <= self._decks or not by_third:
                        yield (*two, third)

    def _in_the_shoe(self, both: _Pair) -> bool:
        """Tell whether the shoe's decks hold enough copies of each card for both hands of the pair. This is checked
        only if a row looks at the cards of both hands together, or asks whether their first two cards are the same.
        Otherwise return True, because another card of the same kind can take the place of a card that is used up."""
        cards = both[0] + both[1]
        alone = self._identical or bool(self._together)
        return not alone or all(cards.count(card) <= self._decks for card in cards)


_ANY_TWO = (Card.parse("2S"), Card.parse("2S"))


def _same_two(players: Sequence[_Cards], bankers: Sequence[_Cards]) -> _Pair | None:
    by_two = {frozenset(each[:2]): each for each in bankers}
    return next(((each, by_two[two]) for each in players if (two := frozenset(each[:2])) in by_two), None)
