"""Bets as data: the conditions on a finished round under which a wager wins, pushes, loses, or wins an award.

A bet has a pay table: a list of rows, each with a condition. The first row whose condition holds decides the wager. If
no row's condition holds, the wager is lost. A condition is written with a fixed set of words for properties of finished
rounds: the fields of `When`, `HandIs` and `CardsAre`. A condition holds if every word written in it holds. A word with
several values holds if any one of the values does. `docs/bets.md` explains each word with an example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from controller.rules.game.cards import DECK, RANKS, SUITS, Card, PersonalK9, Points, total
from controller.rules.game.hands import Outcome, TwoHands

RankLetter = Literal["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"]
SuitLetter = Literal["S", "H", "D", "C"]
Color = Literal["red", "black"]
AfterSplit = Literal["leftmost", "rightmost", "best"]

DRAGON_BONUS = ("dragon_player", "dragon_banker")
"""The spots of Dragon Bonus on either hand. Where a game has both, a round's event tells what each spot pays."""


class Has(Struct, frozen=True, forbid_unknown_fields=True):
    """The condition that a certain number of the cards are among `of`: ranks, suits, or whole cards. Example: two of
    the cards are eights."""

    of: tuple[str, ...]
    """"8" is every eight, "H" every heart, "KS" the king of spades."""

    times: tuple[int, ...] | None = None
    """How many of the cards. None: one or more."""

    def __post_init__(self) -> None:
        _check_known(self.of)


def _check_known(texts: Collection[str]) -> None:
    """Raise ValueError unless each of these texts names a rank ("8"), a suit ("H") or a card ("KS")."""
    if wrong := [text for text in texts if text not in _KNOWN]:
        ten = f", is {wrong[0].replace('10', 'T')} meant?" if wrong[0].replace("10", "T") in _KNOWN else ""
        raise ValueError(f"{wrong[0]!r} is not a rank, a suit or a card{ten}")


_KNOWN = frozenset({*RANKS, *SUITS, *map(str, DECK)})


class CardsAre(Struct, frozen=True, forbid_unknown_fields=True):
    """A condition of a bet on several cards, which may be of one hand or of both hands. Fields that are None are not
    checked."""

    total: tuple[Points, ...] | None = None
    """The last digit of the sum of their points."""

    points: tuple[int, ...] | None = None
    """The sum of their points: the whole sum, not its last digit."""

    cards: tuple[int, ...] | None = None
    """How many cards they are."""

    ranks: tuple[RankLetter, ...] | None = None
    """They have exactly these ranks, each as often as it is written here, in any order."""

    has: Has | None = None

    of_one_rank: tuple[int, ...] | None = None
    """How many of them have the rank that most of them have."""

    of_one_suit: tuple[int, ...] | None = None
    different_ranks: tuple[int, ...] | None = None
    """How many different ranks they have."""

    straight: bool | None = None
    """Their ranks follow each other. The ace is below the 2 or above the King."""

    same_rank: bool | None = None
    """All have the same rank."""

    same_suit: bool | None = None
    suit: tuple[SuitLetter, ...] | None = None
    """All have this suit."""

    color: tuple[Color, ...] | None = None
    """All have this colour."""


class HandIs(CardsAre, frozen=True, forbid_unknown_fields=True):
    """A condition of a bet on one hand. The field of `When` that holds this condition says which hand is meant. Fields
    that are None are not checked."""

    natural: bool | None = None
    """Its first two cards are a natural."""

    pair: bool | None = None
    """Its first two cards have the same rank. A ten and a king do not."""

    suited: bool | None = None
    """Its first two cards have the same suit."""

    colored: bool | None = None
    """Its first two cards have the same colour."""

    first_two: tuple[tuple[RankLetter, ...], ...] | None = None
    """The ranks of its first two cards, in either order: one rank of the first list and one of the second."""

    first_two_total: tuple[Points, ...] | None = None
    first: tuple[str, ...] | None = None
    """Its first card is among these ranks, suits and whole cards."""

    second: tuple[str, ...] | None = None
    third: tuple[str, ...] | None = None
    """Its third card is among these. A hand without a third card does not hold."""

    seat_pair: Literal["own", "another"] | None = None
    """Its first two cards are the King and the 9 printed at the bettor's seat, or at another seat of the table."""

    def __post_init__(self) -> None:
        if self.first_two is not None and len(self.first_two) != 2:
            raise ValueError("first_two needs two ranks, or two lists of ranks")
        _check_known((*(self.first or ()), *(self.second or ()), *(self.third or ())))

    def by_place(self, card: Card) -> tuple[bool, ...]:
        """Return three answers about a card: whether it satisfies what this condition asks of a hand's first card, of
        its second card, and of its third card. An answer is False if the condition asks nothing of that card."""
        return tuple(of is not None and _is_of(card, of) for of in (self.first, self.second, self.third))


class When(Struct, frozen=True, forbid_unknown_fields=True):
    """A condition of a bet on a finished round with its two hands. Fields that are None are not checked."""

    winner: tuple[Literal["player", "banker", "own", "dealer", "tie"], ...] | None = None
    """The side that came closer to nine, by any of its names."""

    natural: bool | None = None
    """The round ended on the first two cards of each side, because one side or both had a natural."""

    margin: tuple[Points, ...] | None = None
    """The points between the two totals; 0 for a tie."""

    cards: tuple[Literal[4, 5, 6], ...] | None = None
    """How many cards both sides have together."""

    total_sum: tuple[int, ...] | None = None
    """The sum of both totals, 0 to 18."""

    identical: bool | None = None
    """Player's first two cards and Banker's first two cards are the same two, in either order."""

    split: bool | None = None
    """The bettor's own hand came from a split."""

    color: tuple[Color, ...] | None = None
    """All cards of both sides have this colour."""

    player: HandIs | None = None
    banker: HandIs | None = None
    own: HandIs | None = None
    """The hand that the bettor's own seat plays. A seat that plays no hand does not hold."""

    dealer: HandIs | None = None
    """The dealer's hand, in games where the dealer has one."""

    winning: HandIs | None = None
    """The hand that won. A tie does not hold."""

    losing: HandIs | None = None
    either: HandIs | None = None
    """One hand, or both."""

    both: HandIs | None = None
    exactly_one: HandIs | None = None
    all_cards: CardsAre | None = None
    """The cards of both sides together."""

    first_four: CardsAre | None = None
    """The first two cards of each side together."""

    with_up_card: CardsAre | None = None
    """The first two cards of the bettor's seat and the dealer's up card together."""

    def __post_init__(self) -> None:
        if wrong := [points for points in self.total_sum or () if not 0 <= points <= 18]:
            raise ValueError(f"{wrong[0]} cannot be the sum of two totals")

    def hands(self) -> tuple[HandIs, ...]:
        """Return those parts of this condition that are about a single hand."""
        of_sides = self.player, self.banker, self.own, self.dealer, self.winning, self.losing
        each = *of_sides, self.either, self.both, self.exactly_one
        return tuple(hand for hand in each if hand is not None)

    def together(self) -> tuple[CardsAre, ...]:
        """Return those parts of this condition that are about cards of both hands together."""
        return tuple(are for are in (self.all_cards, self.first_four, self.with_up_card) if are is not None)


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a bet's pay table: a condition on the finished round, and what becomes of the wager if the condition
    holds.

    Raises ValueError unless the row has exactly one of `pays`, `result` and `award`.
    """

    when: When
    pays: Fraction | None = None
    """The wager wins so much to one. The stake goes back too."""

    commission_taken: Fraction | None = None
    """The part of the win that the house keeps: 1/20 for five in a hundred."""

    commission_owed: Fraction | None = None
    """The part of the win that the seat owes from now on, collected later."""

    result: Literal["push", "half", "lose"] | None = None
    """The stake goes back, half of it goes back, or nothing."""

    award: str | None = None
    """The name of an award. The stake does not go back."""

    cents: int | None = None
    """The amount of a fixed award."""

    meter: str | None = None
    """The progressive meter that the award pays."""

    share: Fraction = Fraction(1)
    """How much of the meter the award pays: all of it, or a part such as 1/10."""

    words: dict[str, str] | None = None
    """What players read in place of the condition, by language. Without its words a language has words made of the
    condition."""

    def __hash__(self) -> int:
        """Return a hash of the row. It leaves out the row's texts for players, which have no effect on the wager."""
        return hash((self.when, self.pays, self.result, self.award, self.cents, self.meter, self.share))

    def __post_init__(self) -> None:
        if sum(said is not None for said in (self.pays, self.result, self.award)) != 1:
            raise ValueError("the row needs exactly one of pays, result and award")
        if (self.award is not None) != ((self.cents is None) != (self.meter is None)) or (
            self.award is None and (self.cents, self.meter) != (None, None)
        ):
            raise ValueError("an award needs either a meter or cents, and no other row may have them")
        if self.share != 1 and self.meter is None:
            raise ValueError("share needs a meter, and the row names none")
        if (self.commission_taken, self.commission_owed) != (None, None) and (
            self.pays is None or None not in (self.commission_taken, self.commission_owed)
        ):
            raise ValueError("commission needs pays, and is either taken or owed")


class Bet(Struct, frozen=True, forbid_unknown_fields=True):
    """A bet of a game: its spot on the layout, its limits, the wagers that it needs beside it, and the rows of its pay
    table, which decide a wager on it."""

    spot: str
    """The name of its place on the layout, in files, scripts and messages."""

    limits: Literal["circle", "side"] = "side"
    """Which limits hold: the limits of a betting circle, or the limits of side bets."""

    minimum_cents: int | None = None
    """The least on this spot, in place of the minimum of `limits`."""

    maximum_cents: int | None = None
    """The most on this spot, in place of the maximum of `limits`. Example: a sign that says "Tie $5 to $1,000"."""

    price_cents: int | None = None
    """The single price of a wager, instead of limits and increments. Only the seated player may make such a bet."""

    pays_at_most_cents: int | None = None
    """The most that one wager wins by a row that `pays`, before commission: what is above stays with the house."""

    needs: tuple[str, ...] = ()
    """The bettor must have a wager on at least one of these spots too."""

    maximum_of_needed: Fraction | None = None
    """The most on this spot, as a multiple or a part of the same bettor's wagers on the spots of `needs` together."""

    no_bets_after_round: int | None = None
    """The last round of a shoe in which a wager is taken here, by the number that the table shows."""

    no_bets_in_final_round: bool = False
    """No wager is taken here in a shoe's last round."""

    optional: bool = False
    """The bet is settled after the traditional bets."""

    awards_return_stake: bool = False
    """The stake goes back beside an award."""

    each_hand: bool = False
    """The wager lies on the seat's own hand. Where the seat has split, each of its hands has an equal wager."""

    between_actives: bool = False
    """Only the two active seats make this wager, against each other."""

    unequal_stakes: Literal["smaller_plays", "refused", "house_covers"] = "smaller_plays"
    """What plays of two unequal wagers between the active seats. "smaller_plays": of each wager the smaller amount
    plays, and the rest goes back. "refused": neither plays. "house_covers": each plays whole, and the house pays or
    takes the difference."""

    after_split: AfterSplit = "leftmost"
    """Which hand of a split seat decides a wager that does not lie on each hand. "best": the hand whose row stands
    first among the rows."""

    rows: tuple[Row, ...] = ()

    @property
    def progressive(self) -> bool:
        """True if the bet can win an award. The pit pays every award, from a meter or as a fixed amount, and the table
        reports each as a hit (a winning wager on such a bet)."""
        return any(row.award is not None for row in self.rows)

    @property
    def meters(self) -> tuple[str, ...]:
        """The progressive meters that this bet can win, each named once. Every wager on the bet adds money to each of
        them."""
        return tuple(dict.fromkeys(row.meter for row in self.rows if row.meter is not None))


class Finished(Struct, frozen=True):
    """A finished round in the form in which the bets of one seat are judged.

    `naturals` are the two-card totals that end a round. `own` is the King and 9 printed at the bettor's seat. `others`
    are the Kings and 9s printed at the table's other seats, whether players sit there or not. `names` holds two tuples:
    the names that a bet's pay table may use for the first hand, and those for the second hand. `number` numbers the
    hands of a seat that has split, from 1 at the left; it is None if the seat has not split.
    """

    done: TwoHands
    naturals: Collection[int]
    own: PersonalK9 | None = None
    others: Collection[PersonalK9] = ()
    names: tuple[tuple[str, ...], tuple[str, ...]] = (("player",), ("banker",))
    number: int | None = None
    with_up_card: tuple[Card, ...] = ()


Printed = tuple[PersonalK9 | None, Collection[PersonalK9]]
"""What is printed at a bettor's seat, and at the table's other seats, taken or empty."""


def ratio_text(ratio: Fraction) -> str:
    """Write a ratio as the game files and the messages do: "1:20"."""
    return f"{ratio.numerator}:{ratio.denominator}"


def ratio(text: str) -> Fraction:
    """Parse a ratio such as "1:20", as `ratio_text` writes it."""
    return Fraction(*map(int, text.split(":")))


def bet_on(bets: Sequence[Bet], spot: str) -> Bet | None:
    """Return the bet on this spot of the layout, or None if the game has no such spot."""
    return next((bet for bet in bets if bet.spot == spot), None)


def deciding(bet: Bet, finished: Finished) -> Row | None:
    """Return the row of the bet's pay table that decides a wager in this finished round: the first row whose condition
    holds. None means that no row's condition holds, so the wager is lost."""
    return next((row for row in bet.rows if holds(row.when, finished)), None)


def deciding_of(bet: Bet, seen: Sequence[Finished]) -> Row | None:
    """Return the row of the bet's pay table that decides a seat's single wager, even if the seat has split and has
    several hands. `seen` holds the finished round once for each hand of the seat, from the left. The bet's
    `after_split` says which hand counts. None means that the wager is lost."""
    match bet.after_split:
        case "leftmost":
            return deciding(bet, seen[0])
        case "rightmost":
            return deciding(bet, seen[-1])
        case "best":  # pragma: no branch: the last choice
            return next((row for row in bet.rows if any(deciding(bet, one) is row for one in seen)), None)


def holds(when: When, finished: Finished) -> bool:
    """Tell whether the finished round satisfies every part of the condition `when`.

    Only what `when` asks for is computed, because about thirty conditions are checked after a round's last card, before
    the table lights the next lamp.
    """
    done, (firsts, seconds) = finished.done, finished.names
    player, banker = done.player, done.banker

    def each(hand_is: HandIs, *hands: Sequence[Card]) -> list[bool]:
        return [hand_holds(hand_is, hand, finished) for hand in hands]

    def named(name: str, hand_is: HandIs) -> bool:
        return any(each(hand_is, *[hand for names, hand in ((firsts, player), (seconds, banker)) if name in names]))

    winners, won, lost = _won_by(finished)
    return (
        (when.winner is None or any(name in when.winner for name in winners))
        and (when.natural is None or done.natural is when.natural)
        and (when.margin is None or done.margin in when.margin)
        and (when.cards is None or len(player) + len(banker) in when.cards)
        and (when.total_sum is None or done.player_total + done.banker_total in when.total_sum)
        and (when.identical is None or _same_two(player, banker) is when.identical)
        and (when.split is None or (finished.number is not None) is when.split)
        and _of_color((*player, *banker), when.color)
        and (when.player is None or named("player", when.player))
        and (when.banker is None or named("banker", when.banker))
        and (when.own is None or named("own", when.own))
        and (when.dealer is None or named("dealer", when.dealer))
        and (when.winning is None or any(each(when.winning, *won)))
        and (when.losing is None or any(each(when.losing, *lost)))
        and (when.either is None or any(each(when.either, player, banker)))
        and (when.both is None or all(each(when.both, player, banker)))
        and (when.exactly_one is None or sum(each(when.exactly_one, player, banker)) == 1)
        and (when.all_cards is None or cards_hold(when.all_cards, (*player, *banker)))
        and (when.first_four is None or cards_hold(when.first_four, (*player[:2], *banker[:2])))
        and (when.with_up_card is None or cards_hold(when.with_up_card, finished.with_up_card))
    )


def _won_by(finished: Finished) -> tuple[Collection[str], list[Sequence[Card]], list[Sequence[Card]]]:
    """Return three values: the winner's names, the winning hand and the losing hand. Each hand is in a list, which is
    empty after a tie."""
    done, (firsts, seconds) = finished.done, finished.names
    if done.outcome is Outcome.PLAYER:
        return firsts, [done.player], [done.banker]
    if done.outcome is Outcome.BANKER:
        return seconds, [done.banker], [done.player]
    return ("tie",), [], []


def hand_holds(hand_is: HandIs, cards: Sequence[Card], finished: Finished) -> bool:
    """Tell whether a hand of two or three cards satisfies every part of the condition `hand_is`."""
    first, second = two = cards[0], cards[1]
    return (
        cards_hold(hand_is, cards)
        and (hand_is.natural is None or (len(cards) == 2 and total(two) in finished.naturals) is hand_is.natural)
        and (hand_is.pair is None or (first.rank == second.rank) is hand_is.pair)
        and (hand_is.suited is None or (first.suit == second.suit) is hand_is.suited)
        and (hand_is.colored is None or (first.color == second.color) is hand_is.colored)
        and (hand_is.first_two is None or _ranks(two, hand_is.first_two))
        and (hand_is.first_two_total is None or total(two) in hand_is.first_two_total)
        and (hand_is.first is None or _is_of(first, hand_is.first))
        and (hand_is.second is None or _is_of(second, hand_is.second))
        and (hand_is.third is None or (len(cards) == 3 and _is_of(cards[2], hand_is.third)))
        and (hand_is.seat_pair is None or any(k9.matches(two) for k9 in _printed(hand_is.seat_pair, finished)))
    )


def cards_hold(are: CardsAre, cards: Sequence[Card]) -> bool:
    """Tell whether the cards satisfy every part of the condition `are`. Without any cards the answer is False."""
    return bool(cards) and (
        (are.total is None or total(cards) in are.total)
        and (are.points is None or sum(card.points for card in cards) in are.points)
        and (are.cards is None or len(cards) in are.cards)
        and (are.ranks is None or sorted(card.letter for card in cards) == sorted(are.ranks))
        and (are.has is None or _has(are.has, cards))
        and (are.of_one_rank is None or _most(card.rank for card in cards) in are.of_one_rank)
        and (are.of_one_suit is None or _most(card.suit for card in cards) in are.of_one_suit)
        and (are.different_ranks is None or len({card.rank for card in cards}) in are.different_ranks)
        and (are.straight is None or _straight(cards) is are.straight)
        and (are.same_rank is None or (len({card.rank for card in cards}) == 1) is are.same_rank)
        and (are.same_suit is None or (len({card.suit for card in cards}) == 1) is are.same_suit)
        and (are.suit is None or any(all(card.suit.value == suit for card in cards) for suit in are.suit))
        and _of_color(cards, are.color)
    )


def seen_of(are: CardsAre, card: Card) -> tuple[str, ...]:
    """Return the properties of one card that matter to the condition `are`. Two cards with equal results are
    interchangeable for that condition."""
    return (
        str(card.points) if are.total is not None or are.points is not None else "",
        card.letter if _compares_ranks(are) or (are.ranks and card.letter in are.ranks) else "",
        card.suit.value if are.suit or are.of_one_suit or are.same_suit is not None else "",
        card.color if are.color else "",
        str(_is_of(card, are.has.of)) if are.has else "",
    )


def sees_ranks(are: CardsAre) -> bool:
    """Return True if the condition `are` tells each rank from every other. For such a condition, even a single ten and
    a King differ, although both are worth nothing. The fields `has` and `same_rank` do not count here."""
    return bool(are.ranks or are.of_one_rank or are.different_ranks or are.straight is not None)


def _compares_ranks(are: CardsAre) -> bool:
    """Tell whether the condition `are` compares the ranks of the cards with each other."""
    return bool(are.of_one_rank or are.different_ranks or are.straight is not None or are.same_rank is not None)


def _is_of(card: Card, of: Collection[str]) -> bool:
    """Tell whether the card's rank, the card's suit or the card itself is listed in `of`."""
    return card.letter in of or card.suit.value in of or str(card) in of


def _has(has: Has, cards: Sequence[Card]) -> bool:
    times = sum(_is_of(card, has.of) for card in cards)
    return times > 0 if has.times is None else times in has.times


def _most(kinds: Iterable[object]) -> int:
    return max(Counter(kinds).values())


def _straight(cards: Sequence[Card]) -> bool:
    """Tell whether the cards' ranks follow each other. Q-K-A and A-2-3 follow each other, and K-A-2 does not."""
    low = sorted(RANKS.index(card.letter) for card in cards)
    high = sorted(rank or len(RANKS) for rank in low)
    return any(ranks == list(range(ranks[0], ranks[0] + len(cards))) for ranks in (low, high))


def _of_color(cards: Sequence[Card], colors: Collection[str] | None) -> bool:
    return colors is None or any(all(card.color == color for card in cards) for color in colors)


def _same_two(player: Sequence[Card], banker: Sequence[Card]) -> bool:
    return tuple(player[:2]) in (tuple(banker[:2]), (banker[1], banker[0]))


def _ranks(two: Sequence[Card], wanted: Sequence[Collection[str]]) -> bool:
    (first, second), (one, other) = (card.letter for card in two), wanted
    return (first in one and second in other) or (first in other and second in one)


def _printed(whose: Literal["own", "another"], finished: Finished) -> Collection[PersonalK9]:
    if whose == "another":
        return finished.others
    return () if finished.own is None else (finished.own,)
