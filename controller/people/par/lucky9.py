"""The odds of Lucky 9: a seat's best play against the dealer, found exactly, and what the seat's wagers are worth under
that play.

A seat decides by its own cards and the dealer's up card. After a split, it also decides by the cards that its split
hands have drawn, when it may split again. The dealer's other card is as unknown as any card in the shoe. Other seats'
cards count as unknown too; a seat that takes those cards into account can do better.

A deal here is as many cards, in order, as one seat and the dealer can take at most: eleven with three splits. A round
that takes fewer cards counts with every order of the cards after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, product
from math import perm
from operator import mul

from msgspec import Struct
from msgspec.structs import fields, replace

from controller.basics.errors import TableError
from controller.people.par.odds import Counted, Odds, Outcome, outcomes
from controller.people.par.shoe import Shoe
from controller.people.par.sights import Sight, kinds_of_card, tells, told_apart, told_apart_as_third, words_in
from controller.people.par.splits import NEW_PAIR, Again, Cards, Dealer, Judge, Pair, Splits
from controller.rules.game.bets import AfterSplit, Bet, When, cards_hold, seen_of
from controller.rules.game.cards import DECK, WORTH, Card, Rank
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call, Choose, Play
from controller.rules.game.seating import Seating
from controller.table.rules import Seat as TableSeat

_SEAT = Seating(in_play=(1,))
_ANY = WORTH[0]
"""Takes the place of the dealer's face-down card, which decides nothing before that card is turned up."""


class Turn(Struct, frozen=True):
    """What a seat of Lucky 9 knows when it must act: its own two cards and the dealer's up card. Of each card only the
    rank matters."""

    first: Card
    second: Card
    up: Card


class _Spot(Struct, frozen=True):
    """A group of situations in which a seat of Lucky 9 has the same choices with the same worth. It is described by the
    points of the seat's two cards and of the dealer's up card, the calls that the rules allow, and, if the seat may
    split, the pair."""

    points: tuple[int, int, int]
    options: tuple[Call, ...]
    pair: Pair | None


class Seat:
    """A seat of Lucky 9, for counting its odds: the situations that it can meet with the cards of a shoe, and the deals
    to which each of its calls leads."""

    def __init__(self, game: Lucky9, hand: Bet, shoe: Shoe) -> None:
        self._game, self._dealer = game, Dealer(game)
        self.hand = self.judge(hand)
        self._ranks, self._by_points = Counter[Rank](), [0] * 10
        for card, many in shoe.items():
            self._ranks[card.rank] += many
            self._by_points[card.points] += many
        self.cards = {card.rank: card for card in shoe if self._ranks[card.rank]}
        """One card of each rank; a rank stands for all cards that are the same to the seat."""

        self.most_cards = game.most_cards(1)
        """How many cards a deal has."""

        self._after = self.most_cards - 3

        self._is_pair, self._most_hands = cache(self._makes_a_pair), cache(self._comes_to)
        self.splits = cache(partial(Splits, self._dealer, self.hand))
        self._rows = cache(self._decided)
        self.turns = {turn: self._spot(turn) for turn in self._turns()}
        self.threes = Counter[_Spot]()
        """By spot, how many ordered threes of the seat's two cards and the dealer's up card are that spot."""

        for turn, spot in self.turns.items():
            self.threes[spot] += self._threes(turn)
        self.play = {spot: max(spot.options, key=partial(self.worth, spot)) for spot in self.threes}
        """The best call at each spot."""

    def judge(self, bet: Bet) -> Judge:
        """Return an object that evaluates the bet on this seat's hands."""
        return Judge(self._game, self._dealer, bet)

    def _turns(self) -> Iterator[Turn]:
        cards = self.cards
        for (one, other), up in product(combinations_with_replacement(cards, 2), cards):
            if not Counter([one, other, up]) - self._ranks:
                yield Turn(cards[one], cards[other], cards[up])

    def _threes(self, turn: Turn) -> int:
        first, second, up = (card.rank for card in (turn.first, turn.second, turn.up))
        ranks = self._ranks
        ways = ranks[first] * (ranks[second] - (second == first)) * (ranks[up] - (up == first) - (up == second))
        return ways if first == second else 2 * ways

    # What the rules say.

    def _spot(self, turn: Turn) -> _Spot:
        points = turn.first.points, turn.second.points, turn.up.points
        options = self._options([turn.first, _ANY, turn.second, turn.up]) or (Call.STAND,)
        if Call.SPLIT not in options:
            return _Spot(points, options, None)
        kinds = [0] * (NEW_PAIR + 1)
        for rank, card in self.cards.items():
            many = self._ranks[rank] - [turn.first, turn.second, turn.up].count(card)
            kinds[NEW_PAIR if self._is_pair(turn.first, card) else card.points] += many
        return _Spot(points, options, Pair(points[0], points[2], tuple(kinds), self._most_hands(turn.first)))

    def _options(self, plays: Sequence[Play]) -> tuple[Call, ...]:
        step = self._game.next_step(_SEAT, plays)
        return step.options if isinstance(step, Choose) else ()

    def _makes_a_pair(self, first: Card, second: Card) -> bool:
        return Call.SPLIT in self._options([first, _ANY, second, _ANY])

    def _comes_to(self, card: Card) -> int:
        """Return the most hands that a seat can have if it splits a pair of this card as often as the rules allow."""
        plays: list[Play] = [card, _ANY, card, _ANY]
        hands = 1
        while Call.SPLIT in self._options(plays):
            plays += [Call.SPLIT, card]
            hands += 1
        return hands

    # What a call leads to.

    def _decided(self, bet: Judge, points: tuple[int, int, int], call: Call) -> list[int]:
        """Count how many deals each row of the bet's pay table decides if the seat makes the call `call`, to stand or
        to hit. `points` are the points of the seat's two cards and of the dealer's up card."""
        first, second, up = points
        left, rows = list(self._by_points), [0] * len(bet.net)
        for card in points:
            left[card] -= 1
        hands: list[tuple[Cards, int]] = [((first, second), 1)]
        if call is Call.HIT:
            hands = [((first, second, third), many) for third, many in enumerate(left) if many]
        for hand, many in hands:
            after = list(left)
            for third in hand[2:]:
                after[third] -= 1
            cards = sum(after)
            times = many * perm(cards - 2, self._after - len(hand))
            came = bet.by_row(hand, False, up, self._dealer.known_ways(tuple(after), up))
            rows = [all_ + times * ways for all_, ways in zip(rows, came, strict=True)]
        return rows

    def worth(self, spot: _Spot, call: Call) -> int:
        """Return what the bettor gains in total over all deals if the seat makes this call and then plays as well as it
        can. The unit is one stake divided by `self.hand.parts`, so that the result is a whole number."""
        if call is Call.SPLIT and spot.pair is not None:
            return self.splits(spot.pair).worth()
        return self.hand.up(self._rows(self.hand, spot.points, call))

    def decided(self, bet: Judge, spot: _Spot, call: Call, again: Again | None = None) -> list[int]:
        """Count how many deals each row of a bet's pay table decides after this call. The bet is on the seat's only
        hand or, after a split, on the seat's leftmost hand.

        `again` is a function that says whether a new pair is split again. Without it, new pairs are played as is best
        for the seat's own hand.
        """
        if call is Call.SPLIT and spot.pair is not None:
            splits = self.splits(spot.pair)
            return splits.leftmost(bet, again or splits.as_is_best)
        return self._rows(bet, spot.points, call)

    def unsplit(self) -> list[int]:
        """Count the deals in which the seat does not split under its best play. The result has one count for each row
        of the pay table, by the row that decides the seat's hand, and a last count for no row."""
        calls = [(spot, call) for spot, call in self.play.items() if call is not Call.SPLIT]
        return self._all(self.hand, ((spot, self.decided(self.hand, spot, call)) for spot, call in calls))

    def split(self) -> Counter[tuple[int, int]]:
        """Count the deals in which the seat splits under its best play. The keys are pairs: the number of hands that
        the seat then has, and what these hands gain together. The gain's unit is one stake divided by
        `self.hand.parts`."""
        ends: Counter[tuple[int, int]] = Counter()
        for spot, call in self.play.items():
            if call is Call.SPLIT and spot.pair is not None:
                for end, ways in self.splits(spot.pair).ends().items():
                    ends[end] += self.threes[spot] * ways
        return ends

    def odds(self, bet: Bet) -> Odds:
        """Return what a side bet on the seat's hand is worth if the seat plays its own hand as well as it can, and the
        bounds of the side bet's house edge under any play."""
        judge = self.judge(bet)
        rows = self._all(judge, ((spot, self.decided(judge, spot, call)) for spot, call in self.play.items()))
        most, least = (self._farthest(judge, sign) for sign in (1, -1))
        units = sum(rows) * judge.parts
        return Odds(bet.spot, (), _by_row(bet, rows), (Fraction(-most, units), Fraction(-least, units)))

    def by_cards(self, split: Mapping[tuple[int, int], int]) -> dict[int, Fraction]:
        """Return how often the seat takes each number of cards in a round. The result maps a number of cards to a
        fraction of all deals. `split` counts the deals in which the seat splits, by the number of hands and their gain.
        """
        deals, after = Counter[int](), perm(sum(self._by_points) - 3, self._after)
        for spot, call in self.play.items():
            if call is not Call.SPLIT:
                deals[3 if call is Call.HIT else 2] += self.threes[spot] * after
        for (hands, _), ways in split.items():
            deals[2 * hands] += ways
        return {cards: Fraction(ways, deals.total()) for cards, ways in sorted(deals.items())}

    def dealers(self) -> Fraction:
        """Return how many cards the dealer takes in a round on average."""
        cards = Fraction()
        for up, many in enumerate(self._by_points):
            left = tuple(each - (points == up) for points, each in enumerate(self._by_points))
            ways = self._dealer.ways(left, up)
            cards += many * sum(map(mul, ways, map(len, self._dealer.hands[up])))
        return cards / perm(sum(self._by_points), 3)

    def _farthest(self, bet: Judge, sign: int) -> int:
        """Return what the bettor gains in total if the seat plays as is best for this bet (`sign` 1) or worst for it
        (`sign` -1). The unit is one stake divided by `bet.parts`, so that the result is a whole number."""

        def again(_: int, stand: list[int], split: list[int]) -> bool:
            return sign * bet.up(split) > sign * bet.up(stand)

        best = (
            threes * max(sign * bet.up(self.decided(bet, spot, call, again)) for call in spot.options)
            for spot, threes in self.threes.items()
        )
        return sign * sum(best)

    def _all(self, bet: Judge, by_spot: Iterable[tuple[_Spot, list[int]]]) -> list[int]:
        rows = [0] * len(bet.net)
        for spot, decided in by_spot:
            rows = [all_ + self.threes[spot] * ways for all_, ways in zip(rows, decided, strict=True)]
        return rows


class Best(Struct, frozen=True):
    """The result of counting Lucky 9: a seat with its best play, the odds of the bets that can be counted, and the
    names (spots) of the bets that cannot be counted."""

    seat: Seat
    bets: tuple[Odds, ...]
    left_out: tuple[str, ...]
    by_cards: dict[int, Fraction]
    """How often a seat takes each number of cards."""

    dealers: Fraction
    """How many cards the dealer takes, on average."""


def best(game: Lucky9, bets: Sequence[Bet], shoe: Shoe) -> Best:
    """Return what a seat's own hand of Lucky 9 is worth under its best play, and what the seat's other bets are worth
    under that play.

    Raises TableError `par_not_counted` if a row of the bet on the hand depends on more than the points of cards, such
    as on which of the first two cards came first.
    """
    game, bets = _as_counted(game, bets)
    hand = next(bet for bet in bets if bet.each_hand)
    beyond = next((number for number, row in enumerate(hand.rows, 1) if not _sees_points_alone(row.when)), None)
    if beyond is not None:
        what = (
            f"Row {beyond} of {hand.spot} tells cards of the same points apart, or a hand's first card from its second."
        )
        do = (
            "A seat's best play is counted by points. Rows may look at points, totals and numbers of cards, at the "
            "ranks A to 9, and at tens and faces together. Put anything else into a bet beside the hand."
        )
        raise TableError("par_not_counted", what, do)
    seat = Seat(game, hand, shoe)
    rows, split = seat.unsplit(), seat.split()
    after = perm(sum(shoe.values()) - 3, game.most_cards(1) - 3)
    found, left_out = [], []
    for bet in bets:
        if bet is hand:
            found.append(Odds(bet.spot, (), (*_by_row(bet, rows), *_together(seat.hand, split))))
        elif all(words_in(row.when) == {"with_up_card"} for row in bet.rows):
            found.append(Odds(bet.spot, (), outcomes(bet, _by_up_card(bet, shoe, after))))
        elif _by_points_alone(bet) and bet.after_split == "leftmost":
            found.append(seat.odds(bet))
        else:
            left_out.append(bet.spot)
    return Best(seat, tuple(found), tuple(left_out), seat.by_cards(split), seat.dealers())


def _as_counted(game: Lucky9, bets: Sequence[Bet]) -> tuple[Lucky9, Sequence[Bet]]:
    """Return the game and its bets in the form in which they are counted: pairs are split from the left.

    The order in which unknown cards are dealt changes no figure. A house that begins at the right and decides by the
    rightmost hand is the mirror image of a house that begins at the left.
    """
    if game.split_order == "rightmost_first":
        mirrored: dict[AfterSplit, AfterSplit] = {"leftmost": "rightmost", "rightmost": "leftmost"}
        bets = [replace(bet, after_split=mirrored.get(bet.after_split, bet.after_split)) for bet in bets]
    by_default = {field.name: field.default for field in fields(Lucky9) if not field.required}
    return replace(game, **by_default), bets


def _by_row(bet: Bet, rows: Sequence[int]) -> tuple[Outcome, ...]:
    *decided, lost = rows
    return outcomes(bet, {**dict(enumerate(decided)), None: lost})


def _together(hand: Judge, split: Mapping[tuple[int, int], int]) -> Iterator[Outcome]:
    """Yield the outcomes of the deals in which a seat splits. All hands of the seat count as one result. `split` counts
    these deals by the number of hands and their gain."""
    ways = Counter[int]()
    for (_, up), many in split.items():
        ways[up] += many
    for up, many in sorted(ways.items(), reverse=True):
        net = Fraction(up, hand.parts)
        result = f"up {net}" if net > 0 else f"down {-net}" if net else "even"
        yield Outcome("split, all hands together", result, many, net, paid=net > 0)


def _by_points_alone(bet: Bet) -> bool:
    """Tell whether the rows of the bet depend only on the points of cards."""
    return all(_sees_points_alone(row.when) for row in bet.rows)


_WHOLE = frozenset(
    {"winner", "margin", "cards", "total_sum", "split", "own", "dealer", "winning", "losing", "either", "both"}
)


def _sees_points_alone(when: When) -> bool:
    """Tell whether the condition depends only on the points of cards, and not on which of a hand's first two cards came
    first."""
    seen = Sight(False, when.hands(), False)
    return (
        words_in(when) <= _WHOLE
        and not any(hand.first or hand.second for hand in seen.hands)
        and all(told(seen, card) == told(seen, WORTH[card.points]) for told in _TOLD for card in DECK)
    )


_TOLD = told_apart, told_apart_as_third


def _by_up_card(bet: Bet, shoe: Shoe, after: int) -> Counter[int | None]:
    """Count how many deals each row of the pay table decides, for a bet on three cards: a seat's first two cards and
    the dealer's up card.

    `after` is the number of orders of the cards that come after these three cards.
    """
    conditions = [row.when.with_up_card for row in bet.rows]
    words = [word for are in conditions if are for word in tells(are, (1,))]
    kinds = kinds_of_card(lambda card: tuple(are and seen_of(are, card) for are in conditions))
    cards = [each[0] for each in kinds]
    many = [sum(shoe.get(card, 0) for card in each) for each in kinds]
    alike: dict[object, tuple[int, int]] = {}
    twos, holding = Counter[tuple[int, int]](), Counter[tuple[tuple[int, int], int]]()
    for two in combinations_with_replacement(range(len(cards)), 2):
        one, other = two
        ways = many[one] * (many[other] - 1) if one == other else 2 * many[one] * many[other]
        example = alike.setdefault(tuple(word(cards[one], cards[other]) for word in words), two)
        twos[example] += ways
        for kind in two:
            holding[example, kind] += ways
    rows: Counter[int | None] = Counter()
    for (two, ways), up in product(twos.items(), range(len(cards))):
        three = *map(cards.__getitem__, two), cards[up]
        decided = next((n for n, are in enumerate(conditions) if are is None or cards_hold(are, three)), None)
        rows[decided] += (ways * many[up] - holding[two, up]) * after
    return rows


def play_lines(seat: Seat) -> Iterator[str]:
    """Yield a seat's best play in words. All hands that are played alike share one line."""
    calls_on: dict[str, dict[str, dict[str, set[Call]]]] = {"without a pair": {}, "pair": {}, "new pair": {}}
    for turn, spot in seat.turns.items():
        up, pair = turn.up.letter, spot.pair
        if len(spot.options) > 1:
            hand = str((turn.first.points + turn.second.points) % 10) if pair is None else turn.first.letter
            on = calls_on["without a pair" if pair is None else "pair"].setdefault(hand, {})
            on.setdefault(up, set()).add(seat.play[spot])
            if pair is not None and seat.play[spot] is Call.SPLIT and (calls := seat.splits(pair).on_new_pairs()):
                calls_on["new pair"].setdefault(hand, {})[up] = calls
    for kind, hands in calls_on.items():
        alike: dict[str, list[str]] = {}
        for hand, by_up in hands.items():
            alike.setdefault(_against(by_up, every=len(seat.cards)), []).append(hand)
        for calls_, which in alike.items():
            of = (
                f"{', '.join(sorted(which))} without a pair"
                if kind == "without a pair"
                else f"a {kind} of {', '.join(which)}"
            )
            yield f"On {of}: {calls_}"


def _against(by_up: Mapping[str, set[Call]], every: int) -> str:
    """Return in words what the seat does with a hand against each up card of the dealer. `by_up` maps the up card to
    the seat's calls, and `every` is the number of possible up cards."""
    ups: dict[str, list[str]] = {}
    for up, calls in by_up.items():
        which = " or ".join(sorted(call.value for call in calls))
        ups.setdefault(f"{which}, by the cards drawn," if len(calls) > 1 else which, []).append(up)
    return "; ".join(
        f"{which} against {'any card' if len(each) == every else ', '.join(each)}" for which, each in ups.items()
    )


_METHOD = (
    "The seat plays its own hand as well as it can by its own cards and the dealer's up card. That play was found "
    "exactly: the worth of each call goes over every order of the cards that follow, further splits included. A seat "
    "that takes other seats' cards into account can do better. The figures of the hand are for each unit first staked. "
    "After a split, all hands of the seat count together. A bet that depends on the play of the hand is counted under "
    "that play; its bounds hold however the seat plays."
)


def counted(game: Lucky9, seats: Sequence[TableSeat], bets: Sequence[Bet], shoe: Shoe) -> Counted:
    """Return what the bets of a seat of Lucky 9 are worth under the seat's best play."""
    seat = best(game, bets, shoe)
    method = f"{_METHOD} Not counted: {', '.join(seat.left_out)}." if seat.left_out else _METHOD
    return Counted(seat.bets, lambda: seat.by_cards, tuple(play_lines(seat.seat)), method, seat.dealers, seat.left_out)
