"""Finds the rows of a bet that can never decide a round, before such a row stands in a live game. Finds also how high a
meter must begin, so that the row which awards the meter never pays less than a row that it passes over.

Hands that no row can tell apart are tried once. So a few cards stand for all: one card for each point value, and more
only where a row looks at ranks, suits or colours. Every tried hand is a hand that the game deals. Where a bet's rows
look at so much that there are too many hands, a part of the hands is tried, and no row is called unreachable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import ceil
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from controller.rules.game.bets import Bet, Finished, HandIs, When, hand_holds, holds, seen_of, sees_ranks
from controller.rules.game.cards import RANKS, WORTH, Card, PersonalK9, total
from controller.rules.game.games import Game
from controller.rules.game.hands import Shape, as_it_lies, shape

_Cards = tuple[Card, ...]
_Pair = tuple[_Cards, _Cards]
_Kind = tuple[object, list[_Cards]]
_Names = tuple[tuple[str, ...], tuple[str, ...]]
_Shapes = tuple[tuple[Shape, Shape], ...]
_MOST_PAIRS = 150_000
_BETS_REMEMBERED = 256

_K9S = ("KS 9S", "KH 9H", "KS 9H", "KH 9S")


class Unreachable(Struct, frozen=True):
    """A row, counted from 0, that decides no round: it never holds, or an earlier row holds wherever this row does."""

    bet: int
    row: int
    why: Literal["never_holds", "hidden"]


def unreachable(game: Game, bets: Sequence[Bet], decks: int) -> tuple[Unreachable, ...]:
    """The rows of the bets that can decide no round of the game, dealt from this number of decks."""
    idle = (_idle(bet, decks, *_of_game(game, bet)) for bet in bets)
    return tuple(Unreachable(place, row, why) for place, rows in enumerate(idle) for row, why in rows)


def _of_game(game: Game, bet: Bet) -> tuple[tuple[int, ...], _Shapes, tuple[_Names, ...]]:
    """All of a game that decides which hands a bet sees: the naturals, the forms of the hands, and their names."""
    return tuple(game.naturals), tuple(game.shapes()), tuple(_names(game, bet))


@lru_cache(_BETS_REMEMBERED)  # a setup asks again whenever it looks at the same file
def _idle(
    bet: Bet, decks: int, naturals: tuple[int, ...], shapes: _Shapes, names: tuple[_Names, ...]
) -> tuple[tuple[int, Literal["never_holds", "hidden"]], ...]:
    """The rows of one bet that can decide no round, and why."""
    held: set[int] = set()
    deciding: set[int] = set()
    tries = _Tries(bet, decks, naturals, shapes)
    for seen in tries.seen(names):
        rows = [number for number, row in enumerate(bet.rows) if holds(row.when, seen)]
        held.update(rows)
        deciding.update(rows[:1])
        if len(deciding) == len(bet.rows):
            return ()
    idle = (row for row in range(len(bet.rows)) if row not in deciding and tries.are_all)
    return tuple((row, "hidden" if row in held else "never_holds") for row in idle)


def least_meters(game: Game, bets: Sequence[Bet], decks: int) -> dict[str, int]:
    """The least cents at which each meter may begin, so that the deciding row never pays less than another that holds.

    Example: a seat's own King and 9 in one suit, beside another suited Royal 9, wins a meter. The other Royal 9 alone
    would have paid $1,500. So that meter must begin at $1,500 or more.
    """
    least = dict[str, int]()
    for bet in bets:
        for meter, cents in _least(bet, decks, *_of_game(game, bet)) if bet.meters else ():
            least[meter] = max(least.get(meter, 0), cents)
    return least


@lru_cache(_BETS_REMEMBERED)
def _least(
    bet: Bet, decks: int, naturals: tuple[int, ...], shapes: _Shapes, names: tuple[_Names, ...]
) -> tuple[tuple[str, int], ...]:
    """The least cents of each meter that one bet awards."""
    least = dict[str, int]()
    for seen in _Tries(bet, decks, naturals, shapes).seen(names):
        rows = [each for each in bet.rows if holds(each.when, seen)]
        if rows and (meter := rows[0].meter) is not None:
            best_cents = max(each.cents or 0 for each in rows)
            least[meter] = max(least.get(meter, 0), ceil(best_cents / rows[0].share))
    return (*least.items(),)


def _names(game: Game, bet: Bet) -> Sequence[_Names]:
    """The names that the bet's rows may use for the two hands, for every kind of seat that can make the bet."""
    if game.seats_play:
        return [(("own",), ("dealer",))]
    if bet.between_actives:
        return [(("player", "own"), ("banker",)), (("player",), ("banker", "own"))]
    return [(("player",), ("banker",))]


class _Tries:
    """One hand of each kind that the bet's rows could tell apart. `are_all`: no kind is left out, for certain."""

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

    def seen(self, names: Sequence[_Names]) -> Iterator[Finished]:
        """Each hand, as every kind of seat sees it. Either of the dealer's first two cards may be the up card."""
        if self._up_card_alone:
            cards = [hand for hand in self._single_hands() if len(hand) == 2]
            ups = sorted({card for two in cards for card in two}, key=str)
            for two, up in product(cards, ups):
                if (*two, up).count(up) <= self._decks:
                    done = as_it_lies((), two, (up, up))
                    yield Finished(done, self._naturals, names=names[0], with_up_card=(*two, up))
            return
        printed = [PersonalK9.parse(text) for text in _K9S]
        seats = (printed[0], printed[2]) if any(word.seat_pair for word in self._words) else (None,)
        for own in seats:
            others = tuple(k9 for k9 in printed if k9 != own)
            for player, banker in self._pairs(own, others):
                done = as_it_lies(self._naturals, player, banker)
                ups = list(banker[: 2 if self._up_card else 1])
                for named, number, up in product(names, self._split, ups):
                    if number is None or len(player) == 2:
                        yield Finished(done, self._naturals, own, others, named, number, (*player[:2], up))

    def _pairs(self, own: PersonalK9 | None, others: Collection[PersonalK9]) -> Iterator[_Pair]:
        """Two hands of each kind, side by side."""
        nothing = Finished(as_it_lies((), _ANY_TWO, _ANY_TWO), self._naturals, own, others)
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
        """The kinds of hands that may lie beside each other: all kinds, or a random part where there are too many."""
        beside = [
            ([*by_shape[one].items()], [*by_shape[other].items()])
            for one, other in self._shapes
            if one in by_shape and other in by_shape
        ]
        many = [len(players) * len(bankers) for players, bankers in beside]
        if not self._together or sum(many) <= _MOST_PAIRS:
            for players, bankers in beside:
                yield from product(players, bankers)
            return
        self.are_all = False
        chance = Random(9)
        for players, bankers in chance.choices(beside, weights=many, k=_MOST_PAIRS):
            yield chance.choice(players), chance.choice(bankers)

    def _key(self, cards: _Cards) -> object:
        """What the conditions about both hands together can see of this hand's cards."""
        if not self._together:
            return None
        seen = [tuple(seen_of(are, card) for are in self._together) for card in cards]
        return tuple(sorted(seen[:2])), tuple(seen[2:]) if self._all_cards and len(seen) == 3 else None

    def _single_hands(self) -> Iterator[_Cards]:
        """Hands of two and three cards, made of one card for each kind of card that the words tell apart."""
        words, every = self._words, (*self._words, *self._together)
        by_named_suit = any(are.suit or are.of_one_suit or are.color for are in every)
        by_named_suit = by_named_suit or any(are.has and not set(are.has.of) <= set(RANKS) for are in every)
        places = [place for word in words for place in (word.first, word.second, word.third) if place]
        by_named_suit = by_named_suit or any(not set(place) <= set(RANKS) for place in places)
        by_printed = any(word.seat_pair for word in words)
        by_suit = any(are.same_suit is not None for are in every) or any(word.suited is not None for word in words)
        by_named_rank = any(sees_ranks(are) or are.has for are in every)
        by_rank = by_named_rank or by_printed or bool(places) or any(word.first_two for word in words)
        by_pair = any(are.same_rank is not None for are in every) or any(word.pair is not None for word in words)
        suits = "S"
        if by_named_suit or any(word.colored is not None for word in words) or self._decks < 3:
            suits = "SHCD"  # three cards of one rank from one or two decks are of several suits
        elif by_printed or self._identical:
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
        """Whether the shoe holds these cards. A card stands only for itself where suits are told apart."""
        cards = both[0] + both[1]
        alone = self._identical or bool(self._together)
        return not alone or all(cards.count(card) <= self._decks for card in cards)


_ANY_TWO = (Card.parse("2S"), Card.parse("2S"))


def _same_two(players: Sequence[_Cards], bankers: Sequence[_Cards]) -> _Pair | None:
    by_two = {frozenset(each[:2]): each for each in bankers}
    return next(((each, by_two[two]) for each in players if (two := frozenset(each[:2])) in by_two), None)
