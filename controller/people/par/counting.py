"""In how many ways the cards can fall: whole integers, over all ordered deals of six cards from a known shoe.

A deal is six cards in order, without replacement: 416 · 415 · 414 · 413 · 412 · 411 deals from eight decks. A round of
four or five cards counts with every order of the cards after it. Nothing is sampled, and nothing is rounded.

Deals that a bet cannot tell apart are counted together. What a bet can tell apart is its `Sight`: a bet that looks at
totals alone sees ten kinds of card, a bet on suited pairs sees fifty-two. The first two cards of a hand belong to a
class. How often Player's two cards are of one class and Banker's of another follows from the number of partners that
each card has in either class. So no list of all deals is ever made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from operator import mul
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from controller.people.par.shoe import Shoe
from controller.rules.game.baccarat import Tableau, next_step
from controller.rules.game.bets import Bet, CardsAre, Finished, HandIs, When, deciding, hand_holds, seen_of
from controller.rules.game.cards import DECK, WORTH, Card, PersonalK9, total
from controller.rules.game.hands import Hand, as_it_lies
from controller.rules.game.play import Draw

_SEEN_BY_TOTAL = frozenset({"total", "cards", "natural"})
_SEEN_BY_RANK = frozenset(
    {
        "pair",
        "first_two",
        "third",
        "same_rank",
        "seat_pair",
        "ranks",
        "of_one_rank",
        "different_ranks",
        "straight",
        "has",
    }
)
_SEEN_BY_SUIT = frozenset({"suited", "same_suit", "seat_pair", "suit", "of_one_suit", "has"})
_SEEN_BY_COLOR = frozenset({"color", "colored"})
_SEEN_ON_THE_FIRST_TWO = frozenset({"pair", "suited", "colored", "first_two", "first_two_total", "seat_pair"})
HAND_WORDS = _SEEN_BY_TOTAL | _SEEN_BY_RANK | _SEEN_BY_SUIT | _SEEN_BY_COLOR | _SEEN_ON_THE_FIRST_TWO | {"points"}
"""Every word about a single hand that the counting can tell apart."""

_BY_BOTH_TOTALS = frozenset({"winner", "natural", "margin", "cards", "total_sum", "winning", "losing"})
_OF_OTHER_GAMES = frozenset({"own", "dealer", "split", "with_up_card"})
_OF_BOTH = frozenset({"identical", "color", "player", "banker", "either", "both", "exactly_one"})
WHEN_WORDS = _BY_BOTH_TOTALS | _OF_BOTH | _OF_OTHER_GAMES | {"all_cards", "first_four"}
"""Every word about two hands that the counting can tell apart."""


Names = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of the two hands in rows: each hand has one or several."""

NAMES: Names = (("player",), ("banker",))


class Sight(Struct, frozen=True):
    """By what a bet can tell finished rounds apart. Two rounds that agree in all of this are the same to the bet."""

    totals: bool
    """How many cards each hand has, and its total."""

    hands: tuple[HandIs, ...]
    """Whether each hand fits each of these conditions."""

    identical: bool
    """Whether the first two cards of both hands are the same two."""

    first_four: tuple[CardsAre, ...] = ()
    all_cards: tuple[CardsAre, ...] = ()
    """Whether the cards of both hands together fit each of these conditions."""

    own: PersonalK9 | None = None
    others: tuple[PersonalK9, ...] = ()
    """What is printed at the bettor's seat and at the table's other seats, where the bet asks for that."""


def sight(bet: Bet, own: PersonalK9 | None = None, others: Sequence[PersonalK9] = ()) -> Sight:
    """What the bet's rows can tell apart, as seen from a seat."""
    whens = [row.when for row in bet.rows]
    asked = {word for when in whens for word in words_in(when)}
    words = dict.fromkeys(word for when in whens for word in when.hands())
    colors = [HandIs(color=(color,)) for when in whens for color in when.color or ()]
    deeper = [word for word in words if words_in(word) - _SEEN_BY_TOTAL]
    of_totals = bool(asked & _BY_BOTH_TOTALS) or any(words_in(word) & _SEEN_BY_TOTAL for word in words)
    first_four = tuple(dict.fromkeys(when.first_four for when in whens if when.first_four))
    all_cards = tuple(dict.fromkeys(when.all_cards for when in whens if when.all_cards))
    seen_of_hands = tuple(dict.fromkeys([*deeper, *colors]))
    found = Sight(of_totals, seen_of_hands, "identical" in asked, first_four, all_cards)
    printed = any(word.seat_pair for word in words)
    return replace(found, own=own, others=tuple(others)) if printed else found


def words_in(words: CardsAre | When) -> set[str]:
    """The words that the condition has."""
    return {name for name, value in asdict(words).items() if value is not None}


class Draws(Protocol):
    """Who may take a third card: one answer where the rules decide, both answers where somebody chooses."""

    def player(self, player: Two, banker: Two) -> Collection[bool]:
        """Whether Player draws."""

    def banker(self, player: Two, banker: Two, third: int | None) -> Collection[bool]:
        """Whether Banker draws after Player's third card with these points. None: Player stood."""


class TableauDraws(Struct, frozen=True):
    """Who draws by a tableau: at these totals of the first two cards of each hand, and at no other totals."""

    players: frozenset[tuple[int, int]]
    bankers: frozenset[tuple[int, int, int | None]]

    def player(self, player: Two, banker: Two) -> Collection[bool]:
        return ((player.total, banker.total) in self.players,)

    def banker(self, player: Two, banker: Two, third: int | None) -> Collection[bool]:
        return ((player.total, banker.total, third) in self.bankers,)


def tableau_draws(tableau: Tableau) -> TableauDraws:
    """Who draws at the totals of any two hands. The rules are asked once for each pair of totals."""
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


Seen = tuple[object, ...]
"""What a bet sees of one finished round."""

Alike = tuple[Seen, Seen, bool]
"""What a bet sees of Player's hand and of Banker's, and whether their first two cards are identical."""


_Class = tuple[int, tuple[int, ...], Seen, tuple[Seen, ...]]


class Two(Struct, frozen=True):
    """A class of first two cards of a hand: a bet sees the same in all of them, now and with any third card."""

    total: int
    points: tuple[int, ...]
    """The points of the two cards, the lower first, where somebody chooses by them; empty where the total decides."""

    bare: Seen
    drawn: tuple[Seen, ...]
    """What the bet sees with each kind of third card."""

    example: tuple[Card, ...]
    another: tuple[Card, ...] | None
    """Two other cards of the class, if there are any."""


class Deal(Struct, frozen=True):
    """Deals that are the same to a bet: both hands' classes, the kinds of their third cards, and how many such deals.

    A third card is the number of its kind. None: the hand took no third card.
    """

    player: Two
    player_third: int | None
    banker: Two
    banker_third: int | None
    identical: bool
    ways: int


class Kinds:
    """The kinds of card that a sight tells apart, and the classes of the first two cards, for any shoe."""

    def __init__(self, seen: Sight, naturals: Sequence[int], by_points: bool) -> None:
        words = {name for word in (*seen.hands, *seen.first_four, *seen.all_cards) for name in words_in(word)}
        self.sight = seen
        self.naturals = tuple(naturals)
        of_hands = {name for word in seen.hands for name in words_in(word)}
        self.first_two_only = not seen.totals and not seen.all_cards and of_hands <= _SEEN_ON_THE_FIRST_TWO
        self.sides_alike = self.first_two_only and not (seen.hands or seen.identical)
        by_rank = seen.identical or bool(words & _SEEN_BY_RANK)
        by_suit = seen.identical or bool(words & _SEEN_BY_SUIT)
        by_color = bool(words & _SEEN_BY_COLOR) and not by_suit
        kinds: dict[object, list[Card]] = {}
        for card in DECK:
            told = card.rank if by_rank else card.points, card.suit if by_suit else card.color if by_color else None
            kinds.setdefault(told, []).append(card)
        self.cards = [*kinds.values()]
        self.points = [cards[0].points for cards in self.cards]
        self._rows_of: dict[tuple[Bet, Names], dict[Alike, int | None]] = {}
        self._seen_from = Finished(as_it_lies((), DECK[:2], DECK[:2]), naturals, seen.own, seen.others)
        self._classify(by_points)

    def _classify(self, by_points: bool) -> None:
        examples: dict[_Class, list[tuple[Card, Card]]] = {}
        first_of = [cards[0] for cards in self.cards]
        placed: dict[tuple[int, int], _Class] = {}
        for one, other in combinations_with_replacement(range(len(first_of)), 2):
            two = first_of[one], first_of[other]
            if self.first_two_only:
                told: _Class = (0, (), self._see(two), ())
            else:
                points = tuple(sorted(card.points for card in two)) if by_points else ()
                told = total(two), points, self._see(two), tuple(self._see((*two, third)) for third in first_of)
            placed[one, other] = placed[other, one] = told
            examples.setdefault(told, []).append(two)
        number = {told: place for place, told in enumerate(examples)}
        self.twos = [Two(*told, alike[0], alike[1] if len(alike) > 1 else None) for told, alike in examples.items()]
        many = range(len(first_of))
        self.of_pair = [[number[placed[one, other]] for other in many] for one in many]

    def _see(self, hand: tuple[Card, ...]) -> Seen:
        if self.sides_alike:
            return tuple(sorted(tuple(seen_of(are, card) for are in self.sight.first_four) for card in hand))
        told: Seen = tuple(hand_holds(word, hand, self._seen_from) for word in self.sight.hands)
        if self.sight.first_four or self.sight.all_cards:
            of_both = self.sight.first_four + self.sight.all_cards
            cards = [tuple(seen_of(are, card) for are in of_both) for card in hand[:2]]
            third = tuple(seen_of(are, card) for are in self.sight.all_cards for card in hand[2:])
            told = (*told, tuple(sorted(cards)), third, len(hand) if self.sight.all_cards else 0)
        return (len(hand), total(hand), *told) if self.sight.totals else told

    def in_shoe(self, shoe: Shoe) -> list[int]:
        """How many cards of each kind are in the shoe."""
        return [sum(shoe.get(card, 0) for card in cards) for cards in self.cards]

    def seen(self, deal: Deal) -> Alike:
        """All that the bet sees of such a deal: where the sides are alike to it, the first four cards together."""
        if self.sides_alike:
            return tuple(sorted(deal.player.bare + deal.banker.bare, key=str)), (), False
        player = deal.player.bare if deal.player_third is None else deal.player.drawn[deal.player_third]
        banker = deal.banker.bare if deal.banker_third is None else deal.banker.drawn[deal.banker_third]
        return player, banker, deal.identical

    def rows(self, bet: Bet, examples: Mapping[Alike, Deal], names: Names = NAMES) -> Mapping[Alike, int | None]:
        """By what the bet sees of a deal, the number of the row that decides the bet; each of the examples is there.

        Rows count from 0; None: the wager is lost. The evaluator is asked once, since the shoe does not change the row.
        """
        known = self._rows_of.setdefault((bet, names), {})
        for alike, deal in examples.items():
            if alike not in known:
                known[alike] = self._row(bet, deal, names)
        return known

    def _row(self, bet: Bet, deal: Deal, names: Names) -> int | None:
        player = deal.player.example
        banker = deal.banker.example
        if deal.player is deal.banker and self.sight.identical and not deal.identical:
            assert deal.banker.another is not None, "such deals were counted, so there is a second pair"
            banker = deal.banker.another
        if deal.player_third is not None:
            player = (*player, self.cards[deal.player_third][0])
        if deal.banker_third is not None:
            banker = (*banker, self.cards[deal.banker_third][0])
        done = as_it_lies(self.naturals, player, banker)
        decided = deciding(bet, Finished(done, self.naturals, self.sight.own, self.sight.others, names))
        return None if decided is None else next(place for place, row in enumerate(bet.rows) if row is decided)


@cache
def kinds(seen: Sight, naturals: tuple[int, ...], by_points: bool = False) -> Kinds:
    """The kinds of a sight, made once. `by_points`: somebody chooses by the cards of a hand."""
    return Kinds(seen, naturals, by_points)


class _FourCards:
    """How the first four cards can fall, from this number of cards of each kind."""

    def __init__(self, of: Kinds, counts: Sequence[int]) -> None:
        self._of, self._counts = of, counts
        partners = [[0] * len(counts) for _ in of.twos]
        for one, row in enumerate(of.of_pair):
            for other, class_ in enumerate(row):
                partners[class_][one] += counts[other]
            partners[row[one]][one] -= 1  # a card is not its own partner
        self._partners = partners
        self._weighted = [list(map(mul, counts, row)) for row in partners]
        self._pairs = list(map(sum, self._weighted))

    def ways(self, player: int, banker: int) -> int:
        """How many ordered fours have first two cards of Player's class and other two cards of Banker's class.

        These are all pairs of pairs, less the pairs of pairs that share a card.
        """
        sharing: int = sum(map(mul, self._weighted[player], self._partners[banker]))
        twice = 2 * self._pairs[player] if player == banker else 0
        return self._pairs[player] * self._pairs[banker] - 4 * sharing + twice

    def identical(self, class_: int) -> int:
        """How many ordered fours of this class have the same first two cards and other two cards."""
        ways, counts = 0, self._counts
        for one, row in enumerate(self._of.of_pair):
            for other in range(one + 1):
                if row[other] == class_:
                    a, b = counts[one], counts[other]
                    ways += a * (a - 1) * (a - 2) * (a - 3) if one == other else 4 * a * (a - 1) * b * (b - 1)
        return ways


def deals(of: Kinds, counts: Sequence[int], draws: Draws) -> Iterator[Deal]:
    """All deals from a shoe with this number of cards of each kind. Deals that are the same to a bet come together."""
    cards = sum(counts)
    fours = _FourCards(of, counts)
    many = range(len(of.twos))
    if of.first_two_only:
        thirds = (cards - 4) * (cards - 5)
        if of.sides_alike:  # the sides changed about, four cards are the same to the bet
            for player, banker in combinations_with_replacement(many, 2):
                both_ways = thirds if player == banker else 2 * thirds
                yield from _alike(of, fours, player, None, banker, None, both_ways)
            return
        for player, banker in product(many, repeat=2):
            yield from _alike(of, fours, player, None, banker, None, thirds)
        return
    plan = _plan(of, draws)
    for player, banker in plan.neither:
        yield from _alike(of, fours, player, None, banker, None, (cards - 4) * (cards - 5))
    points = of.points
    for third, left in enumerate(counts):
        if not left:
            continue
        without = list(counts)
        without[third] -= 1
        fours = _FourCards(of, without)
        for player, banker in plan.player_alone[points[third]]:
            yield from _alike(of, fours, player, third, banker, None, left * (cards - 5))
        for player, banker in plan.banker_alone:
            yield from _alike(of, fours, player, None, banker, third, left * (cards - 5))
        for other in range(third + 1):
            if not (ways := left * without[other]):
                continue
            fours = _FourCards(of, [many - (kind == other) for kind, many in enumerate(without)])
            for player, banker in plan.both[points[third]]:
                yield from _alike(of, fours, player, third, banker, other, ways)
            if other != third:
                for player, banker in plan.both[points[other]]:
                    yield from _alike(of, fours, player, other, banker, third, ways)


def _alike(
    of: Kinds,
    fours: _FourCards,
    player: int,
    player_third: int | None,
    banker: int,
    banker_third: int | None,
    thirds: int,
) -> Iterator[Deal]:
    ways = fours.ways(player, banker)
    hands = of.twos[player], player_third, of.twos[banker], banker_third
    if of.sight.identical and player == banker:
        same = fours.identical(player)
        if same * thirds:
            yield Deal(*hands, True, same * thirds)
        ways -= same
    if ways * thirds:
        yield Deal(*hands, False, ways * thirds)


_Classes = Sequence[tuple[int, int]]


class _Plan(Struct, frozen=True):
    """Player's and Banker's classes by who draws, and by the points of Player's third card where Player draws."""

    neither: _Classes
    player_alone: Mapping[int, _Classes]
    banker_alone: _Classes
    both: Mapping[int, _Classes]


def _plan(of: Kinds, draws: Draws) -> _Plan:
    every = list(product(enumerate(of.twos), repeat=2))

    def chosen(player_draws: bool, third: int | None, banker_draws: bool) -> _Classes:
        return [
            (number, other)
            for (number, player), (other, banker) in every
            if player_draws in draws.player(player, banker) and banker_draws in draws.banker(player, banker, third)
        ]

    return _Plan(
        chosen(False, None, False),
        {third: chosen(True, third, False) for third in range(10)},
        chosen(False, None, True),
        {third: chosen(True, third, True) for third in range(10)},
    )


def by_row(bets: Sequence[Bet], of: Kinds, shoe: Shoe, draws: Draws) -> list[Counter[int | None]]:
    """For each bet, how many deals each of its rows decides; None is no row. All the bets have the sight of `of`."""
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
