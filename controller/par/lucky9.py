"""Lucky 9: a seat's best play against the dealer, found exactly, and what its wagers are worth under it.

A seat decides by its own cards and the dealer's up card, and whether to split again by what its splits have drawn so
far. The dealer's other card is as unknown as any in the shoe. Other seats' cards are taken as unknown too: a seat that
counts them in can do better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, factorial, lcm, perm

from controller.errors import TableError
from controller.game.bets import Bet, CardsAre, Finished, When, deciding, seen_of
from controller.game.cards import DECK, Card
from controller.game.hands import TwoHands, closer_to_nine
from controller.game.lucky9 import Lucky9
from controller.game.play import Call, Choose, Play
from controller.game.seating import Seating
from controller.par.odds import Odds, outcomes
from controller.par.shoe import Shoe

_BY_POINTS = [Card.parse(rank + "S") for rank in "TA23456789"]
_Cards = tuple[int, ...]
"""The points of cards."""


class _Pays:
    """What a bet on the seat's own hand comes to, by the points of the cards alone."""

    def __init__(self, game: Lucky9, bet: Bet) -> None:
        self._game, self._bet = game, bet
        self.net = [ending.net for ending in outcomes(bet, {})]
        self.parts = lcm(*(each.denominator for each in self.net))
        self._known: dict[tuple[_Cards, bool, _Cards], int] = {}

    def row(self, seat: _Cards, split: bool, dealer: _Cards) -> int:
        """The place of the row that decides; the last: none does."""
        key = seat, split, dealer
        if key not in self._known:
            hand, dealers = (tuple(_BY_POINTS[points] for points in cards) for cards in (seat, dealer))
            done = TwoHands(hand, dealers, closer_to_nine(hand, dealers), natural=False)
            seen = Finished(done, self._game.naturals, names=(("own",), ("dealer",)), number=1 if split else None)
            decided = deciding(self._bet, seen)
            rows = self._bet.rows
            self._known[key] = len(rows) if decided is None else next(n for n, row in enumerate(rows) if row is decided)
        return self._known[key]

    def worth(self, seat: _Cards, split: bool, dealer: _Cards) -> int:
        """What the bettor is up, in parts of a unit."""
        return int(self.net[self.row(seat, split, dealer)] * self.parts)


_SEAT = Seating(in_play=(1,))
_ANY = _BY_POINTS[0]
"""In place of the dealer's face-down card, which decides nothing before it is turned up."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a seat knows when it acts: its own two cards and the dealer's up card, by rank."""

    first: Card
    second: Card
    up: Card

    @property
    def points(self) -> tuple[int, int, int]:
        """Of the three; what a stand or a hit is worth follows from them."""
        return self.first.points, self.second.points, self.up.points


class Seat:
    """What a seat's calls are worth, from the cards of a shoe."""

    def __init__(self, game: Lucky9, bet: Bet, shoe: Shoe) -> None:
        self._game, self._pays = game, _Pays(game, bet)
        self._ranks: Counter[int] = Counter()
        for card, many in shoe.items():
            self._ranks[card.rank] += many
        self._by_points = [0] * 10
        for card, many in shoe.items():
            self._by_points[card.points] += many
        self._stand = cache(self._stood)
        self._hit = cache(self._drew)

    def options(self, turn: Turn) -> tuple[Call, ...]:
        """What the rules let the seat call; none on a nine."""
        return self._options([turn.first, _ANY, turn.second, turn.up])

    def _options(self, plays: Sequence[Play]) -> tuple[Call, ...]:
        step = self._game.next_step(_SEAT, plays)
        return step.options if isinstance(step, Choose) else ()

    def worth(self, turn: Turn, call: Call) -> Fraction:
        """What the bettor is up for each unit first staked."""
        match call:
            case Call.HIT:
                return self._hit(*turn.points)
            case Call.SPLIT:
                return self._split(turn)
            case _:
                return self._stand(*turn.points)

    def _without(self, *points: int) -> list[int]:
        left = list(self._by_points)
        for each in points:
            left[each] -= 1
        return left

    def dealers(self, left: Sequence[int], up: int) -> Iterator[tuple[_Cards, int]]:
        """The dealer's hands with this up card, and the ordered twos of the cards left that lead to each."""
        rest = sum(left) - 1
        for down, many in enumerate(left):
            if (down + up) % 10 not in self._game.dealer_draws_on:
                yield (down, up), many * rest
                continue
            for third, others in enumerate(left):
                yield (down, up, third), many * (others - (third == down))

    def _stood(self, first: int, second: int, up: int) -> Fraction:
        left = self._without(first, second, up)
        worth = sum(
            ways * self._pays.worth((first, second), False, dealer) for dealer, ways in self.dealers(left, up) if ways
        )
        return Fraction(worth, perm(sum(left), 2) * self._pays.parts)

    def _drew(self, first: int, second: int, up: int) -> Fraction:
        left, worth = self._without(first, second, up), 0
        for third, many in enumerate(left):
            if many:
                after = self._without(first, second, up, third)
                worth += many * sum(
                    ways * self._pays.worth((first, second, third), False, dealer)
                    for dealer, ways in self.dealers(after, up)
                    if ways
                )
        return Fraction(worth, perm(sum(left), 3) * self._pays.parts)

    def _split(self, turn: Turn) -> Fraction:
        return _Splits(self, self._pays, turn, self._most_hands(turn)).worth()

    def _most_hands(self, turn: Turn) -> int:
        """How many hands the pair may come to: as many as the rules let it, where each hand draws its like."""
        plays: list[Play] = [turn.first, _ANY, turn.second, turn.up]
        hands = 1
        while Call.SPLIT in self._options(plays):
            plays += [Call.SPLIT, turn.first]
            hands += 1
        return hands

    def kinds(self, turn: Turn) -> list[tuple[int, int, bool]]:
        """The cards that are left by what a split sees of them: points, how many, and whether they make a new pair."""
        left = Counter(self._ranks)
        left.subtract([turn.first.rank, turn.second.rank, turn.up.rank])
        found: Counter[tuple[int, bool]] = Counter()
        for rank, many in left.items():
            card = next(card for card in DECK if card.rank == rank)
            pair = Call.SPLIT in self.options(replace(turn, second=card)) and Call.SPLIT in self.options(turn)
            found[card.points, pair] += many
        return [(points, many, pair) for (points, pair), many in sorted(found.items())]


class _Splits:
    """A split and all that can follow. Each hand takes one card; a new pair may be split again, or stands."""

    def __init__(self, seat: Seat, pays: _Pays, turn: Turn, most_hands: int) -> None:
        self._up, self._most_hands, self._pays = turn.up.points, most_hands, pays
        self._kinds = seat.kinds(turn)
        self._pair = next((place for place, (_, _, pair) in enumerate(self._kinds) if pair), None)
        self._seat = seat
        every = [dealer for dealer, _ in seat.dealers([9] * 10, self._up)]
        self._worth = [
            [pays.worth((turn.first.points, points), True, dealer) for dealer in every] for points, _, _ in self._kinds
        ]
        self._value = cache(self._valued)

    def worth(self) -> Fraction:
        draws = 2 * (self._most_hands - 1)
        cards = sum(many for _, many, _ in self._kinds)
        return Fraction(self._value((), 2, 2, draws), perm(cards, draws + 2) * self._pays.parts)

    def _valued(self, done: tuple[int, ...], pending: int, hands: int, draws: int) -> int:
        """What the hands are worth by the kinds of card that those done have drawn: over all orders of so many draws
        and the dealer's two."""
        left = [many for _, many, _ in self._kinds]
        for kind in done:
            left[kind] -= 1
        if self._pair is not None:
            left[self._pair] -= hands - 2  # each new split began with a card that made a pair
        if not pending:
            by_points = [0] * 10
            for (points, _, _), many in zip(self._kinds, left, strict=True):
                by_points[points] += many
            ways = [many for _, many in self._seat.dealers(by_points, self._up)]
            worth = sum(sum(way * each for way, each in zip(ways, self._worth[kind], strict=True)) for kind in done)
            return worth * perm(sum(left) - 2, draws)
        value = 0
        for kind, many in enumerate(left):
            if many > 0:
                best = self._value(tuple(sorted((*done, kind))), pending - 1, hands, draws - 1)
                if kind == self._pair and hands < self._most_hands:
                    best = max(best, self._value(done, pending + 1, hands + 1, draws - 1))
                value += many * best
        return value


def best_play(game: Lucky9, bet: Bet, shoe: Shoe) -> dict[Turn, tuple[Call, Fraction]]:
    """The best call at each turn, and what the bettor is up by it for each unit first staked."""
    seat = Seat(game, bet, shoe)
    cards = {card.rank: card for card, many in shoe.items() if many}
    of_rank = Counter[Card]()
    for card, many in shoe.items():
        if many:
            of_rank[cards[card.rank]] += many
    play: dict[Turn, tuple[Call, Fraction]] = {}
    for (first, second), up in product(combinations_with_replacement(of_rank, 2), of_rank):
        if not Counter([first, second, up]) - of_rank:
            turn = Turn(first, second, up)
            calls = seat.options(turn) or (Call.STAND,)
            play[turn] = max(((call, seat.worth(turn, call)) for call in calls), key=lambda each: each[1])
    return play


@dataclass(frozen=True, slots=True)
class Best:
    """The bets that can be counted, the best play in words, and the spots that are left out."""

    bets: tuple[Odds, ...]
    play: tuple[str, ...]
    left_out: tuple[str, ...]


def best(game: Lucky9, bets: Sequence[Bet], shoe: Shoe) -> Best:
    """What a seat's own hand is worth under its best play, and the bets that no choice touches.

    Raises TableError `par_not_counted` where the hand's rows look at more than points.
    """
    hand = next((bet for bet in bets if bet.each_hand), None)
    if hand is None or not _by_points_alone(hand):
        do = "Its rows may look at points, totals and numbers of cards, and at tens and faces together."
        raise TableError("par_not_counted", "The wager on a seat's own hand looks at more than points.", do)
    play = best_play(game, hand, shoe)
    ranks = Counter[int]()
    for card, many in shoe.items():
        ranks[card.rank] += many
    up = sum((_ways(turn, ranks) * worth for turn, (_, worth) in play.items()), Fraction())
    edge = -up / perm(ranks.total(), 3)
    found, left_out = [], []
    for bet in bets:
        if bet is hand:
            found.append(Odds(bet.spot, (), (), (edge, edge)))
        elif all(_words(row.when) == {"with_up_card"} for row in bet.rows):
            found.append(Odds(bet.spot, (), outcomes(bet, _by_up_card(game, bet, shoe))))
        else:
            left_out.append(bet.spot)
    return Best(tuple(found), tuple(_told(Seat(game, hand, shoe), play)), tuple(left_out))


def _words(words: CardsAre | When) -> set[str]:
    return {field.name for field in fields(words) if getattr(words, field.name) is not None}


def _by_points_alone(bet: Bet) -> bool:
    """Whether cards of the same points are alike to the bet."""
    known = {field.name for field in fields(CardsAre)}
    hands = [hand for row in bet.rows for hand in row.when.hands()]
    whole = {"winner", "margin", "cards", "total_sum", "split", "own", "dealer", "winning", "losing", "either", "both"}
    return (
        all(_words(row.when) <= whole for row in bet.rows)
        and all(_words(hand) <= known for hand in hands)
        and all(seen_of(hand, card) == seen_of(hand, _BY_POINTS[card.points]) for hand in hands for card in DECK)
    )


def _ways(turn: Turn, ranks: Counter[int]) -> int:
    """The ordered deals of the seat's two cards and the dealer's up card that are so."""
    first, second, up = turn.first.rank, turn.second.rank, turn.up.rank
    ways = ranks[first] * (ranks[second] - (second == first)) * (ranks[up] - (up == first) - (up == second))
    return ways if first == second else 2 * ways


def _by_up_card(game: Lucky9, bet: Bet, shoe: Shoe) -> Counter[int | None]:
    """The ordered threes of a seat's first two cards and the dealer's up card that each row decides."""
    rows: Counter[int | None] = Counter()
    any_hand = (_ANY, _ANY)
    done = TwoHands(any_hand, any_hand, closer_to_nine(any_hand, any_hand), natural=False)
    for cards in combinations_with_replacement([card for card, many in shoe.items() if many], 3):
        ways = factorial(3)
        for card, times in Counter(cards).items():
            ways *= comb(shoe[card], times)
        if ways:
            seen = Finished(done, game.naturals, names=(("own",), ("dealer",)), with_up_card=cards)
            decided = deciding(bet, seen)
            rows[None if decided is None else next(n for n, row in enumerate(bet.rows) if row is decided)] += ways
    return rows


def _told(seat: Seat, play: Mapping[Turn, tuple[Call, Fraction]]) -> Iterator[str]:
    """The best play in words: a line for each total, and for each pair that may be split."""
    told: dict[str, dict[str, set[str]]] = {}
    for turn, (call, _) in play.items():
        options = seat.options(turn)
        if options:
            total_ = (turn.first.points + turn.second.points) % 10
            hand = f"a pair of {turn.first.letter}" if Call.SPLIT in options else f"{total_}, no pair"
            told.setdefault(hand, {}).setdefault(turn.up.letter, set()).add(call.value)
    for hand, by_up in sorted(told.items()):
        calls: dict[str, list[str]] = {}
        for up, which in by_up.items():
            calls.setdefault(" or ".join(sorted(which)), []).append(up)
        yield f"On {hand}: " + "; ".join(f"{call} against {', '.join(ups)}" for call, ups in calls.items())
