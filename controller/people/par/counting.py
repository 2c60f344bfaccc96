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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from operator import mul
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from controller.people.par.shoe import Shoe
from controller.rules.game.baccarat import Tableau, next_step
from controller.rules.game.bets import Bet, CardsAre, Finished, HandIs, When, cards_hold, deciding, hand_holds, seen_of
from controller.rules.game.cards import DECK, RANKS, WORTH, Card, PersonalK9, Rank, total
from controller.rules.game.hands import Hand, as_it_lies
from controller.rules.game.play import Draw

_SEEN_BY_TOTAL = frozenset({"total", "cards", "natural"})
_SEEN_ON_THE_FIRST_TWO = frozenset(
    {"pair", "suited", "colored", "first_two", "first_two_total", "seat_pair"} | {"first", "second"}
)
_SEEN_BY_CARD = frozenset(
    {"points", "third", "same_rank", "ranks", "of_one_rank", "different_ranks", "straight", "has"}
    | {"same_suit", "suit", "of_one_suit", "color"}
)
HAND_WORDS = _SEEN_BY_TOTAL | _SEEN_ON_THE_FIRST_TWO | _SEEN_BY_CARD
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
    """What a bet can tell of a finished round. Two rounds that agree in all of this are the same to the bet."""

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

Alike = tuple[Seen, Seen, bool, int]
"""What a bet sees of Player's hand and of Banker's, whether their first two cards are identical, and the number of what
the bet sees of the cards of both hands together."""


_Class = tuple[int, tuple[int, ...], Seen, tuple[Seen, ...], int]


class Two(Struct, frozen=True):
    """A class of first two cards of a hand: a bet sees the same in all of them, now and with any third card."""

    total: int
    points: tuple[int, ...]
    """The points of the two cards, the lower first, where somebody chooses by them; empty where the total decides."""

    bare: Seen
    drawn: tuple[Seen, ...]
    """What the bet sees with each kind of third card."""

    looks: int
    """How the two cards look to the conditions on the cards of both hands: the sum of what `Kinds.looks` has of each
    card."""

    examples: tuple[tuple[Card, Card], ...]
    """The twos of the class, one card for each kind of card."""

    @property
    def example(self) -> tuple[Card, Card]:
        """Any two of the class."""
        return self.examples[0]


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

    def __init__(self, seen: Sight, naturals: Sequence[int], chosen_on: Collection[int]) -> None:
        self.sight = seen
        self.naturals = tuple(naturals)
        of_hands = {name for word in seen.hands for name in words_in(word)}
        self.first_two_only = not seen.totals and not seen.all_cards and of_hands <= _SEEN_ON_THE_FIRST_TWO
        self.sides_alike = self.first_two_only and not (seen.hands or seen.identical)
        self.in_order = bool(of_hands & {"first", "second"})
        """Whether a bet tells a hand's first card from its second. Otherwise each class has its twos in both orders."""

        kinds: dict[object, list[Card]] = {}
        for card in DECK:
            kinds.setdefault(_told_apart(seen, card), []).append(card)
        self.cards = [*kinds.values()]
        self.points = [cards[0].points for cards in self.cards]
        first_of = [cards[0] for cards in self.cards]
        self._suits = _by_suit(self.cards) if _compares_suits(seen) else []
        self._of_both = seen.first_four + seen.all_cards
        self.looks = dict(
            zip(
                first_of, _numbers(tuple(seen_of(are, card) for are in self._of_both) for card in first_of), strict=True
            )
        )
        """By the first card of each kind, a number for each look. A sum of up to six such numbers tells how many cards
        have each look."""

        self._third_looks = [*self.looks.values()]
        self._looks_to = [
            dict(zip(first_of, _numbers(seen_of(are, card) for card in first_of), strict=True)) for are in self._of_both
        ]
        self._truth: dict[tuple[int, int], bool] = {}
        self._together: dict[tuple[int, int], int] = {}
        self._numbered: dict[tuple[bool, ...], int] = {}
        self._rows_of: dict[tuple[Bet, Names], dict[Alike, int | None]] = {}
        self._seen_from = Finished(as_it_lies((), DECK[:2], DECK[:2]), naturals, seen.own, seen.others)
        self._classify(chosen_on)

    def _classify(self, chosen_on: Collection[int]) -> None:
        examples: dict[_Class, list[tuple[Card, Card]]] = {}
        first_of = [cards[0] for cards in self.cards]
        placed: dict[tuple[int, int], _Class] = {}
        many = range(len(first_of))
        for one, other in product(many, repeat=2) if self.in_order else combinations_with_replacement(many, 2):
            two = first_of[one], first_of[other]
            looks = sum(map(self.looks.__getitem__, two))
            if self.first_two_only:
                told: _Class = (0, (), self._see(two), (), looks)
            else:
                points = tuple(sorted(card.points for card in two)) if total(two) in chosen_on else ()
                told = total(two), points, self._see(two), tuple(self._see((*two, third)) for third in first_of), looks
            placed[one, other] = told
            placed.setdefault((other, one), told)  # in order, its own turn comes
            examples.setdefault(told, []).append(two)
        number = {told: place for place, told in enumerate(examples)}
        self.twos = [Two(*told, tuple(alike)) for told, alike in examples.items()]
        self.of_pair = [[number[placed[one, other]] for other in many] for one in many]

    def _see(self, hand: tuple[Card, ...]) -> Seen:
        told: Seen = tuple(hand_holds(word, hand, self._seen_from) for word in self.sight.hands)
        return (len(hand), total(hand), *told) if self.sight.totals else told

    def in_shoe(self, shoe: Shoe) -> list[int]:
        """How many cards of each kind are in the shoe."""
        return [sum(shoe.get(card, 0) for card in cards) for cards in self.cards]

    def thirds(self, counts: Sequence[int]) -> Iterator[tuple[int, int, Iterable[tuple[int, int]]]]:
        """Each kind of a third card, how many kinds it stands for, and the kinds of the other third card, each with
        how many pairs of kinds it stands for then. Each pair of kinds comes once, whichever hand draws which card.

        Where suits are only compared with each other, and the shoe has as many cards of each suit, a spade stands for
        a card of any suit, and a spade with a heart for any two suits.
        """
        every = range(len(counts))
        if not self._suits or any(counts[kind] != counts[spade] for spade, *kinds in self._suits for kind in kinds):
            yield from ((third, 1, ((other, 1) for other in range(third + 1))) for third in every)
            return
        for place, (third, *_) in enumerate(self._suits):
            before = [other for spade, heart, *_ in self._suits[:place] for other in ((spade, 4), (heart, 12))]
            yield third, 4, (*before, (third, 4), (self._suits[place][1], 6))

    def seen(self, deal: Deal) -> Alike:
        """All that the bet sees of such a deal."""
        player = deal.player.bare if deal.player_third is None else deal.player.drawn[deal.player_third]
        banker = deal.banker.bare if deal.banker_third is None else deal.banker.drawn[deal.banker_third]
        return player, banker, deal.identical, self._both(deal) if self._of_both else 0

    def _both(self, deal: Deal) -> int:
        """The number of what the bet sees of the cards of both hands together. Cards that look alike are asked once."""
        four = deal.player.looks + deal.banker.looks
        every = four
        for third in (deal.player_third, deal.banker_third):
            if third is not None:
                every += self._third_looks[third]
        key = four if self.sight.first_four else 0, every
        if key not in self._together:
            thirds = [self.cards[third][0] for third in (deal.player_third, deal.banker_third) if third is not None]
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
        """The number of the row that decides the bet, by what the bet sees of a deal. Each of the examples is there.

        Rows count from 0; None: the wager is lost. The evaluator is asked once, since the shoe does not change the row.
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
        """A finished round of such a deal."""
        player: tuple[Card, ...] = deal.player.example
        banker: tuple[Card, ...] = deal.banker.example
        if self.sight.identical:
            twos = product(deal.player.examples, deal.banker.examples)
            player, banker = next((one, other) for one, other in twos if ({*one} == {*other}) is deal.identical)
        if deal.player_third is not None:
            player = (*player, self.cards[deal.player_third][0])
        if deal.banker_third is not None:
            banker = (*banker, self.cards[deal.banker_third][0])
        done = as_it_lies(self.naturals, player, banker)
        return Finished(done, self.naturals, self.sight.own, self.sight.others, names)


def _told_apart(seen: Sight, card: Card) -> object:
    """All that the sight sees of this card. Two cards for which it is equal are the same to the bet."""
    return (
        card.points,
        card if seen.identical else None,
        *(_looks_in_hand(word, card) for word in seen.hands),
        *(seen_of(are, card) for are in seen.first_four + seen.all_cards),
    )


def _looks_in_hand(word: HandIs, card: Card) -> object:
    """What the words about one hand see of one of its cards."""
    return (
        *seen_of(word, card),
        card.rank if word.pair is not None or word.seat_pair else None,
        card.suit if word.suited is not None or word.seat_pair else None,
        card.color if word.colored is not None else None,
        *(card.letter in letters for letters in word.first_two or ()),
        *word.by_place(card),
    )


def _compares_suits(seen: Sight) -> bool:
    """Whether the sight compares suits with each other, and tells no suit from another."""
    words = (*seen.hands, *seen.first_four, *seen.all_cards)
    told = {name for word in words for name in words_in(word)}
    by_name = told & {"suit", "color", "colored", "seat_pair"} or any(word.has for word in words)
    places = [text for word in seen.hands for place in (word.first, word.second, word.third) for text in place or ()]
    by_name = by_name or not set(places) <= set(RANKS)
    return not by_name and bool(seen.identical or told & {"suited", "same_suit", "of_one_suit"})


def _by_suit(kinds: Sequence[Sequence[Card]]) -> list[list[int]]:
    """Whether the sight compares suits with each other, and does not name any suit."""
    found: dict[Rank, list[int]] = {}
    for number, cards in enumerate(kinds):
        found.setdefault(cards[0].rank, []).append(number)
    return [*found.values()]


def _numbers(looks: Iterable[object]) -> list[int]:
    """A number for each look, so that the sum of up to seven numbers tells how often each look is among them."""
    known: dict[object, int] = {}
    return [8 ** known.setdefault(look, len(known)) for look in looks]


@cache
def kinds(seen: Sight, naturals: tuple[int, ...], chosen_on: frozenset[int] = frozenset()) -> Kinds:
    """The kinds of a sight, made once. `chosen_on`: the totals on which somebody chooses by the cards of a hand."""
    return Kinds(seen, naturals, chosen_on)


class _FourCards:
    """How the first four cards can fall, from this number of cards of each kind."""

    def __init__(self, of: Kinds, counts: Sequence[int]) -> None:
        self._of, self._counts = of, counts
        partners = [[0] * len(counts) for _ in of.twos]  # by class and first card, the second cards
        for one, row in enumerate(of.of_pair):
            for other, class_ in enumerate(row):
                partners[class_][one] += counts[other]
            partners[row[one]][one] -= 1  # a card is not its own partner
        self._pairs: list[int] = [sum(map(mul, counts, row)) for row in partners]
        self._turned: Counter[tuple[int, int]] | None = None
        if of.in_order:
            self._add_second_cards(partners)
        else:
            partners = [[2 * many for many in row] for row in partners]
        self._partners = partners
        self._weighted = [list(map(mul, counts, row)) for row in partners]

    def _add_second_cards(self, partners: list[list[int]]) -> None:
        """Add to each card of a class, as its second card, the first cards; and note the twos that turned about are of
        another class."""
        counts, of_pair = self._counts, self._of.of_pair
        self._turned = Counter()
        for one, row in enumerate(of_pair):
            for other, class_ in enumerate(row):
                same = one == other
                partners[class_][other] += counts[one] - same
                self._turned[class_, of_pair[other][one]] += counts[one] * (counts[other] - same)

    def ways(self, player: int, banker: int) -> int:
        """How many ordered fours have first two cards of Player's class and other two cards of Banker's class.

        These are all pairs of pairs, less the pairs of pairs that share a card. Those that share both cards were taken
        away twice.
        """
        sharing: int = sum(map(mul, self._weighted[player], self._partners[banker]))
        both = self._pairs[player] if player == banker else 0
        turned = both if self._turned is None else self._turned[player, banker]
        return self._pairs[player] * self._pairs[banker] - sharing + both + turned

    @cached_property
    def identical(self) -> Counter[tuple[int, int]]:
        """How many ordered fours have the same first two cards and other two cards, by Player's class and Banker's."""
        ways, counts, of_pair = Counter[tuple[int, int]](), self._counts, self._of.of_pair
        for one, row in enumerate(of_pair):
            for other, class_ in enumerate(row):
                a, b = counts[one], counts[other]
                if one == other:
                    ways[class_, class_] += a * (a - 1) * (a - 2) * (a - 3)
                else:
                    ways[class_, class_] += a * (a - 1) * b * (b - 1)
                    ways[class_, of_pair[other][one]] += a * (a - 1) * b * (b - 1)
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
    for third, times, others in of.thirds(counts):
        if not (left := counts[third]):
            continue
        without = list(counts)
        without[third] -= 1
        fours = _FourCards(of, without)
        for player, banker in plan.player_alone[points[third]]:
            yield from _alike(of, fours, player, third, banker, None, times * left * (cards - 5))
        for player, banker in plan.banker_alone:
            yield from _alike(of, fours, player, None, banker, third, times * left * (cards - 5))
        for other, both in others:
            if not (ways := both * left * without[other]):
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
    if of.sight.identical:
        same = fours.identical[player, banker]
        if same * thirds:
            yield Deal(*hands, True, same * thirds)
        ways -= same
    if ways * thirds:
        yield Deal(*hands, False, ways * thirds)


_Classes = Sequence[tuple[int, int]]


class _Plan(Struct, frozen=True):
    """Player's and Banker's classes, by who draws and by the points of Player's third card where Player draws."""

    neither: _Classes
    player_alone: Mapping[int, _Classes]
    banker_alone: _Classes
    both: Mapping[int, _Classes]


def _plan(of: Kinds, draws: Draws) -> _Plan:
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, two in enumerate(of.twos):
        alike.setdefault((two.total, two.points), []).append(number)
    pairs = [
        (of.twos[players[0]], of.twos[bankers[0]], [*product(players, bankers)])
        for players, bankers in product(alike.values(), repeat=2)
    ]

    def chosen(player_draws: bool, third: int | None, banker_draws: bool) -> _Classes:
        return [
            each
            for player, banker, classes in pairs
            if player_draws in draws.player(player, banker) and banker_draws in draws.banker(player, banker, third)
            for each in classes
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
