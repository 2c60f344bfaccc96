"""Which rows of a bet can ever decide a hand: so that a row no hand reaches is found before the cards are.

Hands that no row can tell apart are tried once. So few cards stand for all: one for each point value, and more only
where a row looks at ranks, suits or colours. Every hand tried is one that the tableau deals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Literal

from controller.game.baccarat import PuntoBanco, Tableau, next_step
from controller.game.baccarat_royal import BaccaratRoyal
from controller.game.bets import Bet, Finished, HandIs, holds
from controller.game.bets import hand_holds as hand_is_so
from controller.game.cards import Card, PersonalK9, total
from controller.game.hands import TwoHands, as_it_lies

_Cards = tuple[Card, ...]
_Shape = tuple[int, int | None]
"""A hand as the tableau sees it: the total of its first two cards, and the points of its third, None without one."""

_K9S = ("KS 9S", "KH 9H", "KS 9H", "KH 9S")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A row, counted from 0, that decides no hand: it never holds, or an earlier row holds wherever it does."""

    bet: int
    row: int
    why: Literal["never_holds", "hidden"]


def unreachable(game: PuntoBanco | BaccaratRoyal, bets: Sequence[Bet], decks: int) -> tuple[Unreachable, ...]:
    """The rows of the bets that can decide no hand of the game, dealt from so many decks."""
    shapes = _shapes(game)
    naturals = game.tableau.natural if isinstance(game, PuntoBanco) else game.natural
    found: list[Unreachable] = []
    for place, bet in enumerate(bets):
        held: set[int] = set()
        deciding: set[int] = set()
        hands = _hands(naturals, shapes, bet, decks)
        while len(deciding) < len(bet.rows) and (finished := next(hands, None)):
            rows = [number for number, row in enumerate(bet.rows) if holds(row.when, finished)]
            held.update(rows)
            deciding.update(rows[:1])
        found += [
            Unreachable(place, row, "hidden" if row in held else "never_holds")
            for row in range(len(bet.rows))
            if row not in deciding
        ]
    return tuple(found)


def _hands(
    naturals: Collection[int], shapes: Sequence[tuple[_Shape, _Shape]], bet: Bet, decks: int
) -> Iterator[Finished]:
    """A hand of each kind that the bet's rows could tell apart."""
    words = _words(bet)
    identical = any(row.when.identical is not None for row in bet.rows)
    printed = [PersonalK9.parse(text) for text in _K9S]
    seats = (printed[0], printed[2]) if any(word.seat_pair for word in words) else (None,)
    for own in seats:
        others = tuple(k9 for k9 in printed if k9 != own)
        seen_from = Finished(as_it_lies((), _ANY_TWO, _ANY_TWO), naturals, own, others)
        by_shape: dict[_Shape, dict[tuple[bool, ...], list[_Cards]]] = {}
        for cards in _single_hands(words, decks, identical):
            truths = tuple(hand_is_so(word, cards, seen_from) for word in words)
            alike = by_shape.setdefault(_shape(cards), {}).setdefault(truths, [])
            if len(alike) < 2 or identical:
                alike.append(cards)
        tried: set[object] = set()
        for of_player, of_banker in shapes:
            for (is_player, players), (is_banker, bankers) in product(
                by_shape.get(of_player, {}).items(), by_shape.get(of_banker, {}).items()
            ):
                player, banker = players[0], next((each for each in bankers if each[:2] != players[0][:2]), bankers[0])
                kind = total(player), len(player), total(banker), len(banker), is_player, is_banker
                pairs = [] if kind in tried else [(player, banker)]
                tried.add(kind)
                if identical and (kind, True) not in tried and (same := _same_two(players, bankers)):
                    tried.add((kind, True))
                    pairs.append(same)
                for both in pairs:
                    if _in_the_shoe(identical, both, decks):
                        yield Finished(as_it_lies(naturals, *both), naturals, own, others)


_ANY_TWO = (Card.parse("2S"), Card.parse("2S"))


def _words(bet: Bet) -> tuple[HandIs, ...]:
    """All that its rows say of single hands; that all cards of both are of a colour is said of each."""
    whens = [row.when for row in bet.rows]
    colors = [HandIs(color=(color,)) for when in whens for color in when.color or ()]
    return tuple(dict.fromkeys([*(hand for when in whens for hand in when.hands()), *colors]))


def _single_hands(words: Sequence[HandIs], decks: int, identical: bool) -> Iterator[_Cards]:
    """Hands of two and three cards, of as few cards as tell apart what the words tell apart."""
    by_suit = any(word.suited is not None or word.same_suit is not None for word in words)
    by_color = any(word.color for word in words)
    by_printed = any(word.seat_pair for word in words)
    by_rank = by_printed or any(word.first_two or word.third for word in words)
    by_pair = any(word.pair is not None or word.same_rank is not None for word in words)
    suits = "SHCD" if by_color else "SHC" if by_printed or identical else "SH" if by_suit else "S"
    ranks = "A23456789" + ("TJQK" if by_rank else "TK" if by_pair or identical else "T")
    by_third = any(
        word.third or word.same_rank is not None or word.same_suit is not None or word.color for word in words
    )
    cards = [Card.parse(rank + suit) for rank, suit in product(ranks, suits)]
    thirds = cards if by_third else [Card.parse(rank + "S") for rank in "TA23456789"]
    for two in combinations_with_replacement(cards, 2):
        if decks > 1 or two[0] != two[1] or len(suits) == 1:
            yield two
            for third in thirds:
                if (*two, third).count(third) <= decks or not by_third:
                    yield (*two, third)


def _same_two(players: Sequence[_Cards], bankers: Sequence[_Cards]) -> tuple[_Cards, _Cards] | None:
    by_two = {each[:2]: each for each in bankers}
    return next(((each, by_two[each[:2]]) for each in players if each[:2] in by_two), None)


def _in_the_shoe(identical: bool, both: tuple[_Cards, _Cards], decks: int) -> bool:
    """A card stands for itself only where suits are told apart."""
    cards = both[0] + both[1]
    return not identical or all(cards.count(card) <= decks for card in cards)


def _shape(cards: Sequence[Card]) -> _Shape:
    return total(cards[:2]), cards[2].points if len(cards) == 3 else None


def _shapes(game: PuntoBanco | BaccaratRoyal) -> Sequence[tuple[_Shape, _Shape]]:
    """Player's and Banker's hands that can lie together. At Baccarat Royal, where they choose: any."""
    if isinstance(game, PuntoBanco):
        return _dealt(game.tableau)
    every = [(two, third) for two in range(10) for third in (None, *range(10))]
    drawn = [shape for shape in every if shape[0] not in game.natural or shape[1] is None]
    return list(product(drawn, drawn))


def _dealt(tableau: Tableau) -> Sequence[tuple[_Shape, _Shape]]:
    card = {points: Card.parse(rank + "S") for points, rank in enumerate("TA23456789")}
    zero = card[0]
    shapes: list[tuple[_Shape, _Shape]] = []
    for player, banker in product(range(10), repeat=2):
        open_: list[_Cards] = [(card[player], card[banker], zero, zero)]
        while open_:
            dealt = open_.pop()
            step = next_step(tableau, dealt)
            if isinstance(step, TwoHands):
                shapes.append((_shape(step.player), _shape(step.banker)))
            else:
                open_ += [(*dealt, each) for each in card.values()]
    return shapes
