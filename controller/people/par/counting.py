"""Count in how many ways the cards of a round can fall: exactly, in whole numbers, over all ordered deals of six cards
from a known shoe.

A deal is six cards in order, without replacement: 416 · 415 · 414 · 413 · 412 · 411 deals from eight decks. A round of
four or five cards counts with every order of the cards after it. Nothing is sampled, and nothing is rounded.

Deals that a bet cannot tell apart are counted together. What a bet can tell apart is its `Sight`: a bet that looks at
totals alone sees ten kinds of card, a bet on suited pairs sees fifty-two. The first two cards of a hand belong to a
class. How often Player's two cards are of one class and Banker's of another follows from the number of partners that
each card has in either class. No list of all deals is therefore ever made.

A third card comes from the cards that the first four leave. To count third cards, two counts over the first four cards
are enough: the number of cards of each kind, and the number of pairs of cards for each two kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import perm
from operator import add, mul
from typing import Protocol

from msgspec import Struct

from controller.people.par.packed import packed, unpacked
from controller.people.par.shoe import Shoe
from controller.people.par.sights import (
    SEEN_ON_THE_FIRST_TWO,
    Sight,
    kinds_of_card,
    suits_alike,
    tells,
    told_apart,
    told_apart_as_third,
    words_in,
)
from controller.rules.game.baccarat import Tableau, next_step
from controller.rules.game.bets import Bet, CardsAre, Finished, cards_hold, deciding, hand_holds, seen_of
from controller.rules.game.cards import DECK, WORTH, Card, Rank, Suit, total
from controller.rules.game.hands import Hand, as_it_lies
from controller.rules.game.play import Draw

Names = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of the two hands in rows: each hand has one or several."""

NAMES: Names = (("player",), ("banker",))


class Draws(Protocol):
    """Says whether Player and Banker take a third card. The answer is one value if the rules decide, and both values if
    somebody chooses."""

    def player(self, player: Two, banker: Two) -> Collection[bool]:
        """Return whether Player takes a third card, as a collection: True, False, or both if somebody chooses. `player`
        and `banker` are the classes of the hands' first two cards."""

    def banker(self, player: Two, banker: Two, third: int | None) -> Collection[bool]:
        """Return whether Banker takes a third card, as a collection: True, False, or both if somebody chooses. `third`
        is the points of Player's third card; None if Player stood."""


class TableauDraws(Struct, frozen=True):
    """The situations in which each hand takes a third card by a tableau (the drawing rules). A situation is the totals
    of both hands' first two cards and, for Banker, the points of Player's third card."""

    players: frozenset[tuple[int, int]]
    bankers: frozenset[tuple[int, int, int | None]]

    def player(self, player: Two, banker: Two) -> Collection[bool]:
        return ((player.total, banker.total) in self.players,)

    def banker(self, player: Two, banker: Two, third: int | None) -> Collection[bool]:
        return ((player.total, banker.total, third) in self.bankers,)


def tableau_draws(tableau: Tableau) -> TableauDraws:
    """Return the totals with which each hand takes a third card by this tableau (the drawing rules). The rules are
    evaluated once for each pair of totals."""
    zero = WORTH[0]
    players: set[tuple[int, int]] = set()
    bankers: set[tuple[int, int, int | None]] = set()
    for player, banker in product(range(10), repeat=2):
        four = WORTH[player], WORTH[banker], zero, zero
        match next_step(tableau, four):
            case Draw(hand=Hand.PLAYER):
                players.add((player, banker))
                bankers |= {
                    (player, banker, third)
                    for third, card in enumerate(WORTH)
                    if isinstance(next_step(tableau, (*four, card)), Draw)
                }
            case Draw():
                bankers.add((player, banker, None))
    return TableauDraws(frozenset(players), frozenset(bankers))


Seen = int
"""The number of what a bet sees of one hand."""

Alike = tuple[Seen, Seen, bool, int]
"""What a bet sees of Player's hand and of Banker's, whether their first two cards are identical, and the number of what
the bet sees of the cards of both hands together."""


_Class = tuple[int, tuple[int, ...], Seen, tuple[Seen, ...], tuple[object, ...]]

_Part = tuple[int, int, int]
"""A class, and the two kinds of third card of which its cards are."""

_Third = tuple[int, int, list[tuple[int, int]]]


class Two(Struct, frozen=True):
    """A class of pairs of cards that a hand can begin with. A bet cannot tell the pairs of one class apart, whatever
    third card follows."""

    total: int
    points: tuple[int, ...]
    """The points of the two cards, the lower first, where somebody chooses by them; empty where the total decides."""

    bare: Seen
    drawn: tuple[Seen, ...]
    """What the bet sees with each kind of third card."""

    looks: int
    """How two cards of the class look to the conditions on the cards of both hands: the sum of what `Kinds.looks` has
    of each card. The other twos may look otherwise, but whatever cards come beside them, the same conditions hold."""

    examples: tuple[tuple[Card, Card], ...]
    """The twos of the class, one card for each kind of card."""

    @property
    def example(self) -> tuple[Card, Card]:
        """Return one pair of cards of this class."""
        return self.examples[0]


class Deal(Struct, frozen=True):
    """A group of deals that a bet cannot tell apart: the class of each hand's first two cards, each hand's third card,
    and the number of deals (`ways`).

    A third card is given as the index of its kind; None if the hand took no third card.
    """

    player: Two
    player_third: int | None
    banker: Two
    banker_third: int | None
    identical: bool
    ways: int


class Kinds:
    """The kinds of card that a bet can tell apart, and the classes of a hand's first two cards that it can tell apart.
    They do not depend on the shoe."""

    def __init__(self, seen: Sight, naturals: Sequence[int], chosen_on: Collection[int]) -> None:
        self.sight = seen
        self.naturals = tuple(naturals)
        of_hands = {name for word in seen.hands for name in words_in(word)}
        self.first_two_only = not seen.totals and not seen.all_cards and of_hands <= SEEN_ON_THE_FIRST_TWO
        self.sides_alike = self.first_two_only and not (seen.hands or seen.identical)
        self.in_order = bool(of_hands & {"first", "second"})
        """Whether a bet tells a hand's first card from its second. Otherwise each class has its twos in both orders."""

        self.third_cards = kinds_of_card(lambda card: None if self.first_two_only else told_apart_as_third(seen, card))
        """The kinds of a third card, of which a bet tells fewer than of the first two cards of a hand."""

        self.points = [cards[0].points for cards in self.third_cards]
        third_of = {card: kind for kind, cards in enumerate(self.third_cards) for card in cards}
        self.cards = kinds_of_card(lambda card: (told_apart(seen, card), third_of[card]))
        first_of = [cards[0] for cards in self.cards]
        self._third_of = [third_of[card] for card in first_of]
        self._kind_of = {card: kind for kind, cards in enumerate(self.cards) for card in cards}
        self._suits = suits_alike(seen)
        self._of_both = seen.first_four + seen.all_cards
        self.looks = dict(
            zip(
                first_of, _numbers(tuple(seen_of(are, card) for are in self._of_both) for card in first_of), strict=True
            )
        )
        """By the first card of each kind, a number for each look. A sum of up to six such numbers tells how many cards
        have each look."""

        self._third_looks = [self.looks[cards[0]] for cards in self.third_cards]
        self._looks_to = [
            dict(zip(first_of, _numbers(seen_of(are, card) for card in first_of), strict=True)) for are in self._of_both
        ]
        self._truth: dict[tuple[int, int], bool] = {}
        self._together: dict[tuple[int, int], int] = {}
        self._numbered: dict[tuple[int, ...], int] = {}
        self._rows_of: dict[tuple[Bet, Names], dict[Alike, int | None]] = {}
        self._seen_from = Finished(as_it_lies((), DECK[:2], DECK[:2]), naturals, seen.own, seen.others)
        self._classify(chosen_on)

    def _classify(self, chosen_on: Collection[int]) -> None:
        examples: dict[_Class, list[tuple[Card, Card]]] = {}
        first_of, thirds = ([cards[0] for cards in kinds] for kinds in (self.cards, self.third_cards))
        words = [word for are in self.sight.first_four for word in tells(are, (2,))]
        words += [word for are in self.sight.all_cards for word in tells(are, (2, 3, 4))]
        placed: dict[tuple[int, int], _Class] = {}
        many = range(len(first_of))
        for one, other in product(many, repeat=2) if self.in_order else combinations_with_replacement(many, 2):
            two = first_of[one], first_of[other]
            looks = tuple(word(*two) for word in words)
            if self.first_two_only:
                told: _Class = (0, (), self._see(two), (), looks)
            else:
                points = tuple(sorted(card.points for card in two)) if total(two) in chosen_on else ()
                told = total(two), points, self._see(two), tuple(self._see((*two, third)) for third in thirds), looks
            placed[one, other] = told
            placed.setdefault((other, one), told)  # in order, its own turn comes
            examples.setdefault(told, []).append(two)
        number = {told: place for place, told in enumerate(examples)}
        self.twos = [
            Two(total_, points, bare, drawn, sum(map(self.looks.__getitem__, alike[0])), tuple(alike))
            for (total_, points, bare, drawn, _), alike in examples.items()
        ]
        parts: dict[_Part, int] = {}
        self.of_pair = [[0 for _ in many] for _ in many]
        for (one, other), told in placed.items():
            first, second = sorted((self._third_of[one], self._third_of[other]))
            self.of_pair[one][other] = parts.setdefault((number[told], first, second), len(parts))
        self.parts = [*parts]
        """Each class divided by which kinds of third card its two cards would be."""

    def _see(self, hand: tuple[Card, ...]) -> Seen:
        told: tuple[int, ...] = tuple(hand_holds(word, hand, self._seen_from) for word in self.sight.hands)
        told = (len(hand), total(hand), *told) if self.sight.totals else told
        return self._numbered.setdefault(told, len(self._numbered))

    def in_shoe(self, shoe: Shoe) -> list[int]:
        """Return how many cards of each kind the shoe has."""
        return [sum(shoe.get(card, 0) for card in cards) for cards in self.cards]

    def as_thirds(self, counts: Sequence[int]) -> list[int]:
        """Group the cards of a shoe by what the bet sees of a third card, and return the number of cards in each group.
        `counts` holds the number of cards of each kind."""
        found = [0] * len(self.third_cards)
        for third, many in zip(self._third_of, counts, strict=True):
            found[third] += many
        return found

    def thirds(self, counts: Sequence[int]) -> list[_Third]:
        """Return which kinds of third card must be evaluated, so that equal kinds are evaluated once. Each item has
        three values: a kind of Player's third card, the number of kinds that it represents, and a list for Banker's
        third card. That list pairs each kind with the number of pairs of kinds that it represents.

        One suit represents a group of suits that no row tells apart, if the shoe has equally many cards of each of
        them. Banker's card needs two such suits: the suit of Player's card, and one that represents the rest.
        """
        suits = self._suits
        if any(len({counts[self._kind_of[Card(rank, suit)]] for suit in at}) > 1 for rank in Rank for at in suits):
            suits = [[suit] for suit in Suit]
        found = []
        for third, times in self._stand_for(suits):
            taken = [self.third_cards[third][0].suit] if times > 1 else []
            beside = [taken, *([suit for suit in at if suit not in taken] for at in suits)]
            found.append((third, times, [(other, times * many) for other, many in self._stand_for(beside)]))
        return found

    def _stand_for(self, suits: Iterable[Sequence[Suit]]) -> Iterator[tuple[int, int]]:
        """Yield each kind of third card that must be evaluated, with the number of kinds that it represents. Each group
        in `suits` holds suits that can represent each other."""
        alike = {suit: at for at in suits for suit in at}
        for third, (card, *_) in enumerate(self.third_cards):
            kinds = {self._third_of[self._kind_of[Card(card.rank, suit)]] for suit in alike[card.suit]}
            if third == min(kinds):
                yield third, len(kinds)

    def seen(self, deal: Deal) -> Alike:
        """Return everything that the bet sees of this group of deals, in four values: a number for Player's hand, a
        number for Banker's hand, whether their first two cards are identical, and a number for the cards of both hands
        together."""
        player = deal.player.bare if deal.player_third is None else deal.player.drawn[deal.player_third]
        banker = deal.banker.bare if deal.banker_third is None else deal.banker.drawn[deal.banker_third]
        return player, banker, deal.identical, self._both(deal) if self._of_both else 0

    def _both(self, deal: Deal) -> int:
        """Return a number for what the bet sees of both hands' cards together. Deals in which the bet sees the same get
        the same number, and are evaluated once."""
        four = deal.player.looks + deal.banker.looks
        every = four
        for third in (deal.player_third, deal.banker_third):
            if third is not None:
                every += self._third_looks[third]
        key = four if self.sight.first_four else 0, every
        if key not in self._together:
            kinds = (deal.player_third, deal.banker_third)
            thirds = [self.third_cards[third][0] for third in kinds if third is not None]
            first_four = (*deal.player.example, *deal.banker.example)
            of_four = len(self.sight.first_four)
            truths = tuple(
                self._holds(number, are, first_four if number < of_four else (*first_four, *thirds))
                for number, are in enumerate(self._of_both)
            )
            self._together[key] = self._numbered.setdefault(truths, len(self._numbered))
        return self._together[key]

    def _holds(self, number: int, are: CardsAre, cards: tuple[Card, ...]) -> bool:
        key = number, sum(map(self._looks_to[number].__getitem__, cards))
        if key not in self._truth:
            self._truth[key] = cards_hold(are, cards)
        return self._truth[key]

    def rows(self, bet: Bet, examples: Mapping[Alike, Deal], names: Names = NAMES) -> Mapping[Alike, int | None]:
        """Return which row of the pay table decides the bet. The result maps everything that the bet can see of a deal
        to a row. It has at least the keys of `examples`, which maps what the bet sees to one such deal.

        Rows count from 0; None means that the wager is lost. Each row is worked out only once, because the cards in the
        shoe do not change which row decides.
        """
        known = self._rows_of.setdefault((bet, names), {})
        for alike, deal in examples.items():
            if alike not in known:
                known[alike] = self._row(bet, deal, names)
        return known

    def _row(self, bet: Bet, deal: Deal, names: Names) -> int | None:
        decided = deciding(bet, self.finished(deal, names))
        return None if decided is None else next(place for place, row in enumerate(bet.rows) if row is decided)

    def finished(self, deal: Deal, names: Names = NAMES) -> Finished:
        """Return a finished round whose cards belong to this group of deals, as an example."""
        player: tuple[Card, ...] = deal.player.example
        banker: tuple[Card, ...] = deal.banker.example
        if self.sight.identical:
            twos = product(deal.player.examples, deal.banker.examples)
            player, banker = next((one, other) for one, other in twos if ({*one} == {*other}) is deal.identical)
        if deal.player_third is not None:
            player = (*player, self.third_cards[deal.player_third][0])
        if deal.banker_third is not None:
            banker = (*banker, self.third_cards[deal.banker_third][0])
        done = as_it_lies(self.naturals, player, banker)
        return Finished(done, self.naturals, self.sight.own, self.sight.others, names)


def _numbers(looks: Iterable[object]) -> list[int]:
    """Return a number for each item of `looks` (what a bet sees of a card): the same number for equal items, and each
    number a power of 8. The sum of up to seven such numbers therefore tells how often each item occurs among up to
    seven cards."""
    known: dict[object, int] = {}
    return [8 ** known.setdefault(look, len(known)) for look in looks]


@cache
def kinds(seen: Sight, naturals: tuple[int, ...], chosen_on: frozenset[int] = frozenset()) -> Kinds:
    """Return the kinds of card that a bet can tell apart if it sees `seen` of a round. The result is computed once and
    cached. `naturals` are the totals that count as a natural. `chosen_on` holds the totals with which somebody may
    choose whether to draw."""
    return Kinds(seen, naturals, chosen_on)


class _Fours:
    """The deals of the first four cards in which both hands' two cards are of given classes. `ways` is how many such
    deals there are.

    `holding[kind]` counts the cards of each kind of third card, over all these deals. `pairs[one][other]` counts the
    pairs of two of the four cards by their kinds. Each pair is counted only once, either at `[one][other]` or at
    `[other][one]`.
    """

    __slots__ = ("holding", "pairs", "ways")

    def __init__(self, thirds: int) -> None:
        self.ways, self.holding = 0, [0] * thirds
        self.pairs = [[0] * thirds for _ in range(thirds)]

    def add(self, ways: int, player: Sequence[int], banker: Sequence[int]) -> None:
        """Add `ways` deals of four cards to the count. `player` and `banker` are the kinds of each hand's two cards."""
        self.ways += ways
        for one, other in combinations((*player, *banker), 2):
            self.pairs[one][other] += ways
        for kind in (*player, *banker):
            self.holding[kind] += ways

    def before_one(self, thirds: Sequence[int], third: int) -> int:
        """Return how many deals of five cards consist of one of these deals of four cards and then a card of the kind
        `third`. `thirds` counts the shoe's cards by kind."""
        return thirds[third] * self.ways - self.holding[third]

    def before_two(self, thirds: Sequence[int], third: int, other: int) -> int:
        """Return how many deals of six cards consist of one of these deals of four cards and then a card of the kind
        `third` and a card of the kind `other`. `thirds` counts the shoe's cards by kind. No card of the first four
        comes a second time."""
        same = third == other
        one, two = thirds[third], thirds[other] - same
        return (
            one * two * self.ways
            - two * self.holding[third]
            - (one - same) * self.holding[other]
            + self.pairs[third][other]
            + self.pairs[other][third]
        )


class _FourCards:
    """Counts in how many ways the first four cards of a round can fall. `counts` holds the number of the shoe's cards
    of each kind."""

    def __init__(self, of: Kinds, counts: Sequence[int]) -> None:
        self._of, self._counts = of, counts
        partners = [[0] * len(counts) for _ in of.parts]  # by part and first card, the second cards
        for one, row in enumerate(of.of_pair):
            for other, part in enumerate(row):
                partners[part][one] += counts[other]
            partners[row[one]][one] -= 1  # a card is not its own partner
        self._pairs: list[int] = [sum(map(mul, counts, row)) for row in partners]
        self._sharing_both = [Counter({part: ways}) for part, ways in enumerate(self._pairs)]
        if of.in_order:
            self._add_second_cards(partners)
        else:
            partners = [[2 * many for many in row] for row in partners]
            self._sharing_both = [Counter({part: 2 * ways}) for part, ways in enumerate(self._pairs)]
        self._weights = [
            [(kind, counts[kind] * many) for kind, many in enumerate(row) if counts[kind] * many] for row in partners
        ]
        # By kind, how many partners a card of it has in each part: a field for each part. Each sum of the four cards
        # fits into its field.
        self._partners = [packed(row[kind] for row in partners) if many else 0 for kind, many in enumerate(counts)]
        self._parts_of: list[list[int]] = [[] for _ in of.twos]
        for part, (class_, *_) in enumerate(of.parts):
            if self._pairs[part]:
                self._parts_of[class_].append(part)
        self._identical = self._same_two() if of.sight.identical else {}

    def _add_second_cards(self, partners: list[list[int]]) -> None:
        """For bets to which the order of a hand's two cards matters, count the possible partners of the second card
        too. `partners[part][card]` is the count. A part is a class of two cards, divided by the kinds of third card to
        which the two cards belong. The method also stores to which part the same two cards belong in the opposite
        order."""
        counts, of_pair = self._counts, self._of.of_pair
        for one, row in enumerate(of_pair):
            for other, part in enumerate(row):
                same = one == other
                partners[part][other] += counts[one] - same
                self._sharing_both[part][of_pair[other][one]] += counts[one] * (counts[other] - same)

    def _ways(self, player: int) -> list[int]:
        """Count the ordered deals of four cards in which Player's two cards are in the part `player` (a part is a
        subdivision of a class of two cards). The result has one count for each part of Banker's two cards.

        The count is the number of all combinations of Player's pair and Banker's pair, less those in which both pairs
        hold the same card. If the pairs share both cards, they were subtracted twice, and are added once more.
        """
        of_parts = sum(weight * self._partners[kind] for kind, weight in self._weights[player])
        sharing, pairs = unpacked(of_parts, len(self._pairs)), self._pairs[player]
        ways = [pairs * theirs - both for theirs, both in zip(self._pairs, sharing, strict=True)]
        for banker, both in self._sharing_both[player].items():
            ways[banker] += both
        return ways

    def by_class(self, player: int) -> Iterator[tuple[int, bool, _Fours]]:
        """Yield the deals of four cards in which Player's two cards are of the class `player`. Each item has three
        values: the class of Banker's two cards, whether the two hands' cards are identical, and the deals."""
        of, classes, thirds = self._of, len(self._of.twos), len(self._of.third_cards)
        apart, same = [_Fours(thirds) for _ in range(classes)], dict[int, _Fours]()
        every = [0] * len(of.parts)
        for part in self._parts_of[player]:
            _, *mine = of.parts[part]
            ways = self._ways(part)
            for banker, both in self._identical.get(part, {}).items():
                class_, *theirs = of.parts[banker]
                same.setdefault(class_, _Fours(thirds)).add(both, mine, theirs)
                ways[banker] -= both
            every = [*map(add, every, ways)]
            self._add(apart, mine, ways)
        for (class_, third, other), many in zip(of.parts, every, strict=True):
            fours = apart[class_]
            fours.ways += many
            fours.holding[third] += many
            fours.holding[other] += many
            fours.pairs[third][other] += many
        yield from ((banker, False, fours) for banker, fours in enumerate(apart) if fours.ways)
        yield from ((banker, True, fours) for banker, fours in same.items())

    def _add(self, apart: Sequence[_Fours], mine: Sequence[int], ways: Sequence[int]) -> None:
        """Combine Player's two cards, of the kinds `mine`, with each class of Banker's cards, and add the deals to
        `apart`. The pairs of one Player's card and one Banker's card are counted too. `ways` holds the number of deals
        for each part of Banker's cards."""
        in_class = [0] * len(apart)
        beside = [[0] * len(self._of.third_cards) for _ in apart]
        for (class_, third, other), many in zip(self._of.parts, ways, strict=True):
            in_class[class_] += many
            beside[class_][third] += many
            beside[class_][other] += many
        one, other = mine
        for fours, many, theirs in zip(apart, in_class, beside, strict=True):
            fours.pairs[one][other] += many
            for kind in mine:
                fours.holding[kind] += many
                fours.pairs[kind] = [*map(add, fours.pairs[kind], theirs)]

    def _same_two(self) -> dict[int, Counter[int]]:
        """Count the ordered deals of four cards in which both hands have the same two cards. The result maps Player's
        part, and then Banker's part, to the count. A part is a subdivision of a class of two cards."""
        ways = {part: Counter[int]() for part in range(len(self._pairs))}
        counts, of_pair = self._counts, self._of.of_pair
        for one, row in enumerate(of_pair):
            for other, part in enumerate(row):
                a, b = counts[one], counts[other]
                if one == other:
                    ways[part][part] += a * (a - 1) * (a - 2) * (a - 3)
                else:
                    ways[part][part] += a * (a - 1) * b * (b - 1)
                    ways[part][of_pair[other][one]] += a * (a - 1) * b * (b - 1)
        return ways


def deals(of: Kinds, counts: Sequence[int], draws: Draws) -> Iterator[Deal]:
    """Yield all deals of a round from a shoe with `counts` cards of each kind. The deals come in groups, and a bet
    cannot tell the deals of one group apart. Each item is one group, and holds the number of its deals."""
    fours, thirds = _FourCards(of, counts), _Thirds(of, counts)
    for player, two in enumerate(of.twos):
        for banker, identical, left in fours.by_class(player):
            both_ways = 1
            if of.sides_alike:  # the sides changed about, four cards are the same to the bet
                if banker < player:
                    continue
                both_ways += banker > player
            other = of.twos[banker]
            for player_third, banker_third, ways in thirds.after(left, two, other, draws):
                if ways:
                    yield Deal(two, player_third, other, banker_third, identical, both_ways * ways)


class _Thirds:
    """Counts in how many ways the third cards of a round can fall after the first four cards. `counts` holds the number
    of the shoe's cards of each kind."""

    def __init__(self, of: Kinds, counts: Sequence[int]) -> None:
        self._of, self._cards = of, sum(counts)
        self._left = of.as_thirds(counts)
        self._each = [
            (third, times, [(other, both) for other, both in others if self._left[other]])
            for third, times, others in of.thirds(counts)
            if self._left[third]
        ]

    def after(
        self, fours: _Fours, player: Two, banker: Two, draws: Draws
    ) -> Iterator[tuple[int | None, int | None, int]]:
        """Yield everything that can follow these first four cards. Each item has three values: the kind of Player's
        third card, the kind of Banker's third card (None for no third card), and the number of deals. The cards after
        the last third card count in every order."""
        left, points, one_more, two_more = self._left, self._of.points, self._cards - 5, perm(self._cards - 4, 2)
        if self._of.first_two_only:
            yield None, None, fours.ways * two_more
            return
        player_draws = draws.player(player, banker)
        if False in player_draws:
            banker_draws = draws.banker(player, banker, None)
            if False in banker_draws:
                yield None, None, fours.ways * two_more
            if True in banker_draws:
                for third, times, _ in self._each:
                    yield None, third, times * fours.before_one(left, third) * one_more
        if True in player_draws:
            for third, times, others in self._each:
                banker_draws = draws.banker(player, banker, points[third])
                if False in banker_draws:
                    yield third, None, times * fours.before_one(left, third) * one_more
                if True in banker_draws:
                    for other, both in others:
                        yield third, other, both * fours.before_two(left, third, other)


def by_row(bets: Sequence[Bet], of: Kinds, shoe: Shoe, draws: Draws) -> list[Counter[int | None]]:
    """Count for each bet how many deals each row of its pay table decides. The key None counts the deals that no row
    decides. All bets in `bets` must be able to tell the same things apart, which `of` describes."""
    ways: dict[Alike, int] = {}
    examples: dict[Alike, Deal] = {}
    for deal in deals(of, of.in_shoe(shoe), draws):
        alike = of.seen(deal)
        ways[alike] = ways.get(alike, 0) + deal.ways
        examples.setdefault(alike, deal)
    decided: list[Counter[int | None]] = [Counter() for _ in bets]
    for bet, rows in zip(bets, decided, strict=True):
        row_of = of.rows(bet, examples)
        for alike, many in ways.items():
            rows[row_of[alike]] += many
    return decided
