"""Counts splits at Lucky 9: what each hand of a split pair gains against each of the dealer's possible hands, over all
hands that the pair can become.

Cards are told apart by their points alone, except for the cards that would make a new pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import lcm, perm
from operator import add, mul

from msgspec import Struct

from controller.people.par.odds import outcomes
from controller.people.par.packed import FIELD_BYTES, packed, unpacked
from controller.rules.game.bets import Bet, Finished, deciding, hand_holds
from controller.rules.game.cards import WORTH, Card, total
from controller.rules.game.hands import TwoHands, closer_to_nine
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call

Cards = tuple[int, ...]
"""The points of cards."""


class Dealer:
    """The hands that the dealer of Lucky 9 can have with each up card. It also counts in how many orders the remaining
    cards lead to each hand."""

    def __init__(self, game: Lucky9) -> None:
        self._draws = [[(down + up) % 10 in game.dealer_draws_on for down in range(10)] for up in range(10)]
        self.hands: list[list[Cards]] = [
            [hand for down in range(10) for hand in self._with(down, up)] for up in range(10)
        ]
        self.known_ways = cache(self.ways)
        """`ways`, kept: the same cards are left after many plays."""

    def _with(self, down: int, up: int) -> list[Cards]:
        return [(down, up, third) for third in range(10)] if self._draws[up][down] else [(down, up)]

    def ways(self, left: tuple[int, ...], up: int) -> list[int]:
        """Return how many ordered pairs of the remaining cards lead to each of the dealer's possible hands with the up
        card of `up` points. `left` holds the number of remaining cards with each number of points."""
        rest, ways = sum(left) - 1, list[int]()
        for down, (many, draws) in enumerate(zip(left, self._draws[up], strict=True)):
            if draws:
                at = len(ways) + down
                ways += map(many.__mul__, left)
                ways[at] -= many  # a card cannot come twice
            else:
                ways.append(many * rest)
        return ways


class Judge:
    """Finds which row of the pay table decides a bet on a seat's hand at Lucky 9, by the points of the cards alone.
    Hands that the bet cannot tell apart are evaluated once."""

    def __init__(self, game: Lucky9, dealer: Dealer, bet: Bet) -> None:
        self._game, self._dealer, self.bet = game, dealer, bet
        self.net = [ending.net for ending in outcomes(bet, {})]
        self.parts = lcm(*(each.denominator for each in self.net))
        self._whole = [int(each * self.parts) for each in self.net]
        self._words = tuple(dict.fromkeys(hand for row in bet.rows for hand in row.when.hands()))
        self._look = cache(self._looks)
        self._row_of: dict[object, int] = {}
        self._rows_of: dict[object, list[int]] = {}
        self._places_of: dict[object, list[list[int]]] = {}
        self._worths_of: dict[object, list[int]] = {}

    def up(self, rows: Iterable[int]) -> int:
        """Return what the bettor gains in total over all deals. The unit is one stake divided by `parts`, so that the
        result is a whole number. `rows` holds the number of deals that each row of the pay table decides."""
        return sum(map(mul, rows, self._whole))

    def rows(self, own: Cards, split: bool, up: int) -> list[int]:
        """Return, for each of the dealer's possible hands, the index of the row of the pay table that decides the bet.
        If no row decides, the index is one more than that of the last row. `own` are the points of the seat's cards,
        `split` says whether the seat has split, and `up` is the points of the dealer's up card."""
        key = self._look(own), split, up
        if key not in self._rows_of:
            self._rows_of[key] = [self._row(own, split, dealers) for dealers in self._dealer.hands[up]]
        return self._rows_of[key]

    def by_row(self, own: Cards, split: bool, up: int, ways: Sequence[int]) -> list[int]:
        """Return how many orders of the cards each row of the pay table decides. `ways` holds the number of orders that
        lead to each of the dealer's possible hands. `own` are the points of the seat's cards, `split` says whether the
        seat has split, and `up` is the points of the dealer's up card."""
        key = self._look(own), split, up
        if (places := self._places_of.get(key)) is None:
            rows = self.rows(own, split, up)
            places = [[at for at, row in enumerate(rows) if row == number] for number in range(len(self.net))]
            self._places_of[key] = places
        return [sum(map(ways.__getitem__, at)) for at in places]

    def worths(self, own: Cards, split: bool, up: int) -> list[int]:
        """Return what the bettor gains against each of the dealer's possible hands. The unit is one stake divided by
        `parts`, so that each gain is a whole number. `own` are the points of the seat's cards, `split` says whether the
        seat has split, and `up` is the points of the dealer's up card."""
        key = self._look(own), split, up
        if key not in self._worths_of:
            self._worths_of[key] = [self._whole[row] for row in self.rows(own, split, up)]
        return self._worths_of[key]

    def _looks(self, points: Cards) -> object:
        cards = _of(points)
        seen = Finished(TwoHands(cards, cards, closer_to_nine(cards, cards), natural=False), self._game.naturals)
        return len(cards), total(cards), *(hand_holds(word, cards, seen) for word in self._words)

    def _row(self, own: Cards, split: bool, dealers: Cards) -> int:
        key = self._look(own), split, self._look(dealers)
        if key not in self._row_of:
            hand, dealer = _of(own), _of(dealers)
            done = TwoHands(hand, dealer, closer_to_nine(hand, dealer), natural=False)
            seen = Finished(done, self._game.naturals, names=(("own",), ("dealer",)), number=1 if split else None)
            self._row_of[key] = _place(self.bet, seen)
        return self._row_of[key]


def _of(points: Cards) -> tuple[Card, ...]:
    return tuple(WORTH[each] for each in points)


def _place(bet: Bet, seen: Finished) -> int:
    """Return the index of the row of the pay table that decides the bet in this finished round. If no row decides,
    return the number of rows."""
    decided = deciding(bet, seen)
    return len(bet.rows) if decided is None else next(n for n, row in enumerate(bet.rows) if row is decided)


NEW_PAIR = 10
"""The kind of the cards that make a new pair. The kinds before it are the points of all other cards."""


class Pair(Struct, frozen=True):
    """A pair that a seat of Lucky 9 may split, with everything on which the worth of the split depends. `points` and
    `up` are the points of one card of the pair and of the dealer's up card. `left` is the number of remaining cards of
    each kind. `most_hands` is the most hands that the pair can become."""

    points: int
    up: int
    left: tuple[int, ...]
    most_hands: int


Again = Callable[[int, list[int], list[int]], bool]
"""Whether a new pair is split, by the number of hands, and by the rows after standing and after splitting."""


class Splits:
    """Counts everything that can follow when a seat of Lucky 9 splits a pair. Each hand takes one card. If that card
    makes a new pair, the pair stands or is split again.

    A state is the kinds of card that the finished hands have drawn (`done`), and the number of hands. The value of a
    state is a sum over all orders of the cards that still come, and of the dealer's two cards.
    """

    def __init__(self, dealer: Dealer, hand: Judge, pair: Pair) -> None:
        self._dealer, self._of, self._draws = dealer, pair, 2 * (pair.most_hands - 1)
        self._points = (*range(10), pair.points)
        self._worths = [hand.worths((pair.points, drawn), True, pair.up) for drawn in range(10)]
        # By the dealer's hand: the worth of every drawn card against it, and the dealer's own cards, which no hand
        # draws.
        columns = list(zip(*self._worths, strict=True))
        self._columns = list(dict.fromkeys(columns))
        self._column = [self._columns.index(column) for column in columns]
        drawn = [hand[:1] + hand[2:] for hand in dealer.hands[pair.up]]
        self._his = [sum(column[card] for card in cards) for column, cards in zip(columns, drawn, strict=True)]
        self._stood = [(at, cards[0]) for at, cards in enumerate(drawn) if len(cards) == 1]
        self._pair = hand.worths((pair.points, pair.points), True, pair.up)
        self._row = list(zip(*self._columns, strict=True))
        """By the points of a drawn card, its worth in each column."""

        self._after = self._orders()
        self._gain, self._by_splitting = cache(self._gaining), cache(self._more_by_splitting)

    def worth(self) -> int:
        """Return what the bettor gains in total over all deals by the split, under the best play. The unit is one stake
        divided by `parts` of the hand's Judge, so that the result is a whole number."""
        left = self._by_points(self._left((), 2))
        _, taken, *ways = self._after(())
        drawing = self._drawing(left, taken, ways)
        return 2 * drawing * perm(sum(left) - 3, self._to_come((), 2) - 1) + self._gain((), 2)

    def _left(self, done: Cards, hands: int) -> list[int]:
        left = list(self._of.left)
        for kind in done:
            left[kind] -= 1
        left[NEW_PAIR] -= hands - 2  # each later split began with a card that made a pair
        return left

    def _by_points(self, left: Sequence[int]) -> tuple[int, ...]:
        by_points = list(left[:NEW_PAIR])
        by_points[self._of.points] += left[NEW_PAIR]
        return tuple(by_points)

    def _to_come(self, done: Cards, hands: int) -> int:
        return self._draws - len(done) - (hands - 2)

    def _gaining(self, done: Cards, hands: int) -> int:
        """Return how much more the hands are worth because the seat may split new pairs again. The seat is assumed to
        do so only if it is better. `done` holds the kinds of card that the finished hands have drawn."""
        if hands == self._of.most_hands or hands == len(done):
            return 0
        left = self._left(done, hands)
        worth = max(self._by_splitting(done, hands), 0) * left[NEW_PAIR] if left[NEW_PAIR] > 0 else 0
        if hands > len(done) + 1:
            worth += sum(many * self._gain(_also(done, kind), hands) for kind, many in enumerate(left) if many > 0)
        return worth

    def _more_by_splitting(self, done: Cards, hands: int) -> int:
        """Return how much a new pair is worth if it is split, less what it is worth if it stands. `done` holds the
        kinds of card that the finished hands have drawn.

        If the pair is split, two hands draw a card, in place of one hand that stands. The remaining hands are worth the
        same either way.
        """
        left, to_come = self._by_points(self._left(done, hands + 1)), self._to_come(done, hands + 1)
        of_pair, taken, *ways = self._after(self._gone(done, hands + 1))
        split = 2 * self._drawing(left, taken, ways) * perm(sum(left) - 3, to_come - 1)
        stood = of_pair * perm(sum(left) - 2, to_come)
        return split - stood + self._gain(done, hands + 1) - self._gain(_also(done, NEW_PAIR), hands)

    def splits_again(self, done: Cards, hands: int) -> bool:
        """Tell whether the seat should split a new pair again. `done` holds the kinds of card that the finished hands
        have drawn, and `hands` is the number of hands now."""
        return hands < self._of.most_hands and self._by_splitting(done, hands) > 0

    def on_new_pairs(self) -> set[Call]:
        """Return what the best play does with new pairs after a split. The set holds one call (split or stand), or both
        calls if the choice depends on the cards drawn so far."""
        calls = set()
        for hands in range(2, self._of.most_hands):
            for drawn in range(hands):
                for done in combinations_with_replacement(range(NEW_PAIR + 1), drawn):
                    left = self._left(done, hands)
                    if min(left) >= 0 and left[NEW_PAIR]:
                        calls.add(Call.SPLIT if self.splits_again(done, hands) else Call.STAND)
        return calls

    def ends(self) -> Counter[tuple[int, int]]:
        """Count the deals that follow a split under the best play. The keys are pairs: the number of hands, and what
        these hands gain together. The gain's unit is one stake divided by `parts` of the hand's Judge."""
        ends = {hands: Counter[int]() for hands in range(2, self._of.most_hands + 1)}  # by gains, in packed orders
        worth_of = [packed(_SHIFT + each for each in self._row[at]) for at in self._points]
        reached: Counter[tuple[Cards, int]] = Counter({((), 2): 1})
        while reached:
            following: Counter[tuple[Cards, int]] = Counter()
            for (done, hands), many in reached.items():
                if len(done) == hands:
                    gains: int = sum(map(worth_of.__getitem__, done))
                    ends[hands][gains] += many * self._after.ways(self._gone(done, hands))
                    continue
                left = self._left(done, hands)
                again = self.splits_again(done, hands)
                for kind, cards in enumerate(left):
                    if cards > 0:
                        to = (done, hands + 1) if again and kind == NEW_PAIR else (_also(done, kind), hands)
                        following[to] += many * cards
            reached = following
        cards = sum(self._of.left)
        after = {hands: perm(cards - 2 * hands, self._draws - 2 * (hands - 1)) for hands in ends}
        found, columns = Counter[tuple[int, int]](), len(self._columns)
        for hands, of in ends.items():
            for gains, orders in of.items():
                for gain, ways in zip(unpacked(gains, columns), unpacked(orders, columns), strict=True):
                    if ways:
                        found[hands, gain - hands * _SHIFT] += ways * after[hands]
        return found

    def _gone(self, done: Cards, hands: int) -> Cards:
        """Return the points of the cards that have been dealt since the seat split for the first time. `done` holds the
        kinds of card that the finished hands have drawn."""
        return (*[self._of.points] * (hands - 2), *map(self._points.__getitem__, done))

    def _orders(self) -> _Orders:
        """Return several sums over all orders of the dealer's two cards, as a function of the cards that are gone. The
        first sum is the worth of a pair that stands. The second sum is a correction: a hand cannot draw the dealer's
        own cards, so what these cards would have been worth is subtracted later. The rest are the numbers of orders
        that lead to the dealer's hands, one for each column (a group of dealer's hands against which every drawn card
        is worth the same)."""
        stood, hand = {down: at for at, down in self._stood}, 0
        pairs, alone = list[list[int]](), list[int]()
        for down in range(10):
            each = [self._weight(hand + third) for third in range(1 if down in stood else 10)]
            hand += len(each)
            if down in stood:
                column, his = self._columns[self._column[stood[down]]], self._his[stood[down]]
                alone.append(each[0] + packed((0, his)))
                pairs.append([each[0] + packed((0, worth)) for worth in column])
            else:
                alone.append(each[down])
                pairs.append(each)
        return _Orders(self._by_points(self._left((), 2)), pairs, alone, 2 + len(self._columns))

    def _weight(self, hand: int) -> int:
        """Return how much each of the sums in `_Orders` grows by one order of the cards that leads to the dealer's hand
        with the index `hand`. All sums are packed into one integer."""
        return packed((self._pair[hand], self._his[hand])) + (1 << 8 * FIELD_BYTES * (2 + self._column[hand]))

    def _drawing(self, left: tuple[int, ...], taken: int, ways: Iterable[int]) -> int:
        """Return the worth of a hand that must still draw its one card. The card may be any of the remaining cards,
        which `left` counts by points. `ways` holds the number of orders of the dealer's cards for each group of
        dealer's hands. `taken` is what the dealer's own cards would have been worth; it is subtracted, because the hand
        cannot draw them."""
        worth: int = sum(
            [orders * sum(map(mul, left, column)) for orders, column in zip(ways, self._columns, strict=True)]
        )
        return worth - taken

    def as_is_best(self, hands: int, *_: object) -> bool:
        """Tell whether the best play splits the leftmost hand again while the seat has this many hands. All further
        arguments are ignored, so that the method can be passed as an `Again` function."""
        return self.splits_again((), hands)

    def leftmost(self, bet: Judge, again: Again, hands: int = 2) -> list[int]:
        """Count how many deals each row of the pay table decides, for a bet on the leftmost of a seat's `hands` hands.

        `again` is a function that says whether a new pair is split again.
        """
        left, rows = self._left((), hands), [0] * len(bet.net)
        orders = perm(sum(left) - 3, self._to_come((), hands) - 1)
        for kind, many in enumerate(left):
            if many > 0:
                points = self._points[kind]
                after = self._by_points(self._left((kind,), hands))
                ways = self._dealer.known_ways(after, self._of.up)
                of_rows = bet.by_row((self._of.points, points), True, self._of.up, ways)
                came = [many * orders * each for each in of_rows]
                if kind == NEW_PAIR and hands < self._of.most_hands:
                    split = [many * ways for ways in self.leftmost(bet, again, hands + 1)]
                    came = split if again(hands, came, split) else came
                rows = list(map(add, rows, came))
        return rows


@cache
def _also(done: Cards, kind: int) -> Cards:
    return tuple(sorted((*done, kind)))


# After more cards than there are, orders are negative.
_SHIFT = 1 << 56
"""What is added to each number that may be negative. Each is nearer to zero."""


class _Orders:
    """Sums over all orders of the dealer's two cards, for any set of cards that are gone. Each sum is a polynomial of
    the second degree in the numbers of remaining cards by points. The sums are therefore updated by differences for
    each card that is gone.

    `pairs[down][third]` is how much the sums gain from the dealer's face-down card and one more card. `alone[down]` is
    subtracted, because both cannot be the same card.
    """

    def __init__(self, first: Sequence[int], pairs: Sequence[Sequence[int]], alone: Sequence[int], many: int) -> None:
        self._many, self._shifts = many, packed([_SHIFT] * (many - 2))
        self._value: Callable[[Cards], int] = cache(self._after_one_more)
        after = [sum(map(mul, first, to)) for to in pairs]
        self._none: int = sum(map(mul, first, after)) - sum(map(mul, first, alone)) + packed([_SHIFT] * many)
        self._two = [[*map(add, of, to)] for of, to in zip(pairs, zip(*pairs, strict=True), strict=True)]
        self._one = [
            pairs[card][card] + alone[card] - sum(map(mul, first, self._two[card])) for card in range(len(first))
        ]

    def __call__(self, gone: Cards) -> Sequence[int]:
        return [each - _SHIFT for each in unpacked(self._value(gone), self._many)]

    def ways(self, gone: Cards) -> int:
        """Return the number of orders of the dealer's two cards that lead to each column (a group of dealer's hands
        that are worth the same), packed into one integer. `gone` are the points of the cards that are gone."""
        return (self._value(gone) >> 8 * FIELD_BYTES * 2) - self._shifts

    def _after_one_more(self, gone: Cards) -> int:
        if not gone:
            return self._none
        before, points = gone[:-1], gone[-1]
        with_each: int = sum(map(self._two[points].__getitem__, before))
        value: int = self._value(before) + self._one[points] + with_each
        return value
