"""Lucky 9: dealt like blackjack, counted like baccarat, with splits and two side bets (sheet 003).

Every seat in play has a hand of its own against the dealer's. The order of play is one generator, `_round`, that asks
for each card and call in turn; everything is recomputed by running it over the plays so far.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Literal

from controller.game.cards import Card, total
from controller.game.hands import DEALER, Done, HandsError, SeatHand, SeatHands, seat_hand_name
from controller.game.play import LOST, PUSHED, Call, Choose, Draw, Laid, Play, Reveal, Verdict, won
from controller.game.seating import Seating

HAND, TIE, BONUS = "hand", "tie", "lucky9_bonus"
"""The spots: the seat's own hand against the dealer's, and the two side bets."""

_RATIO = re.compile(r"([1-9]\d*):([1-9]\d*)")


class Kind(Enum):
    """What a hand counts as where wagers are settled; the value is its name in game files."""

    LUCKY9 = "lucky9"  # 9 on two cards that both count
    NATURAL9 = "natural9"  # 9 on two cards, one of them worth nothing
    SPLIT9 = "split9"  # a seat's 9 on two cards, after a split
    THREE_CARD_9 = "three_card_9"
    DEAD = "dead"  # a seat's three cards with a total that loses whatever the dealer has
    OTHER = "other"


_DEALERS_KINDS = (Kind.LUCKY9, Kind.NATURAL9, Kind.THREE_CARD_9, Kind.OTHER)


@dataclass(frozen=True, slots=True)
class BonusPays:
    """What the Lucky 9 Bonus pays to one, best first, on three cards with the total 9."""

    suited_333: Fraction
    suited_234: Fraction
    any_333: Fraction
    any_234: Fraction
    suited_9: Fraction
    any_9: Fraction


@dataclass(frozen=True, slots=True)
class Lucky9:
    """A house's rules. Raises ValueError where they contradict themselves."""

    pair: Literal["rank", "value"]
    """What splits: two cards of one rank, or of one point value (a ten and a king)."""

    most_splits: int
    """How often a seat may split: one less than the hands it may come to."""

    dealer_draws_on: tuple[int, ...]
    """The dealer's two-card totals that take a third card."""

    dead_totals: tuple[int, ...]
    """A seat's three-card totals that lose whatever the dealer has."""

    outcomes: dict[str, tuple[str, ...]]
    """A row for each `Kind` of a seat's hand, and in it a cell for the dealer's lucky9, natural9, three_card_9 and
    other, in this order: "push", "lose", a ratio such as "3:2" that the hand wins, or "higher", the totals decide."""

    higher_pays: Fraction
    """To one, where the totals decide and the seat's is the higher."""

    tie_pays: Fraction
    """To one, the side bet that the seat's total and the dealer's are equal."""

    bonus_pays: BonusPays

    def __post_init__(self) -> None:
        if self.most_splits < 0:
            raise ValueError("most_splits is a number of splits: 0 or more")
        if not {*self.dealer_draws_on, *self.dead_totals} <= set(range(9)):
            raise ValueError("dealer_draws_on and dead_totals are totals below 9")
        if self.outcomes.keys() != {kind.value for kind in Kind}:
            raise ValueError("outcomes needs these rows and no others: " + ", ".join(kind.value for kind in Kind))
        for row, cells in self.outcomes.items():
            if len(cells) != len(_DEALERS_KINDS):
                raise ValueError(f"outcomes.{row} needs a cell for each kind of hand of the dealer's, four")
            for cell in cells:
                if cell not in ("push", "lose", "higher") and not _RATIO.fullmatch(cell):
                    raise ValueError(f"outcomes.{row}: {cell!r} is not push, lose, higher or a ratio such as 3:2")
        if min(self.higher_pays, self.tie_pays, *astuple(self.bonus_pays)) <= 0:
            raise ValueError("what a winning wager pays is more than nothing")

    roles_play: ClassVar[bool] = False
    seats_play: ClassVar[bool] = True
    tableau: ClassVar[None] = None
    naturals: ClassVar[tuple[int, ...]] = ()
    squeezed: ClassVar[bool] = False
    deals_face_down: ClassVar[bool] = True
    calls: ClassVar[tuple[Call, ...]] = (Call.HIT, Call.STAND, Call.SPLIT, Call.REVEAL)

    def next_step(self, seating: Seating, plays: Sequence[Play]) -> Step:
        """What follows once `plays`, in order from the round's first card, have happened.

        Two cards go to every seat and the dealer in turn. Then each seat acts: on a 9 it has nothing to choose; else it
        stands, hits once, or splits a pair. A split puts a hand to the right of the one that was split, and the hands
        further right move on by one number: the leftmost is always "seat_3", the next "seat_3_hand_2". From the left,
        each takes one card and stands, before the next takes its own; a new pair may split again within the limit. Last
        the dealer reveals and draws by his rule, even if every hand is dead.

        Raises ValueError at a play that was not due: a card where none is, or a call that is not offered.
        """
        return _replay(self, seating.in_play, plays)[1]

    def laid(self, seating: Seating, plays: Sequence[Play]) -> tuple[Laid, ...]:
        """Every hand as it lies, each seat's from left to right and then the dealer's; empty until its first card.

        Raises ValueError as `next_step` does.
        """
        layout, _ = _replay(self, seating.in_play, plays)
        theirs = [
            Laid(seat_hand_name(seat, number), tuple(cards), (False,) * len(cards), seat)
            for seat, hands in layout.hands.items()
            for number, cards in enumerate(hands, start=1)
        ]
        face_down = tuple(place == 0 and not layout.revealed for place in range(len(layout.dealer)))
        return (*theirs, Laid(DEALER, tuple(layout.dealer), face_down))

    def corrected(self, told: Done, hands: Mapping[str, tuple[Card, ...]]) -> SeatHands:
        """The round that was `told`, once its hands turn out to lie so.

        The choices follow from the hands: a seat with several has split, one with three cards has hit. (choice) Where a
        seat split more than once, the felt does not tell which of its hands begins with its second card: the same one
        as was told, and its second hand where it was told to have another number of them. Raises HandsError.
        """
        assert isinstance(told, SeatHands), "a round of this game"
        read = dict(hands)
        dealer = read.pop(DEALER, None)
        in_order = {seat: _taken_out(read, seat) for seat in told.first_two}
        if dealer is None:
            raise HandsError("other_hands")
        if read or not all(in_order.values()):
            raise HandsError("other_seats")
        if not all(2 <= len(cards) <= 3 for cards in hands.values()):
            raise HandsError("not_a_hand")
        dealers_own = len(dealer) == (3 if total(dealer[:2]) in self.dealer_draws_on else 2)
        if not dealers_own or not all(_may_lie(self, theirs) for theirs in in_order.values()):
            raise HandsError("not_by_the_rules")
        first_two = {seat: _first_two(told, seat, theirs) for seat, theirs in in_order.items()}
        return SeatHands(dealer, _played(in_order), first_two)


def _taken_out(read: dict[str, tuple[Card, ...]], seat: int) -> list[tuple[Card, ...]]:
    """The hands of this seat from left to right, taken out of what was read."""
    theirs: list[tuple[Card, ...]] = []
    while (cards := read.pop(seat_hand_name(seat, len(theirs) + 1), None)) is not None:
        theirs.append(cards)
    return theirs


Step = Draw | Choose | Reveal | SeatHands


def seat_kind(game: Lucky9, hand: SeatHand) -> Kind:
    """What a seat's hand counts as: a row of the outcomes."""
    kind = dealer_kind(hand.cards)
    if hand.from_split and kind in (Kind.LUCKY9, Kind.NATURAL9):
        return Kind.SPLIT9
    if kind is Kind.OTHER and len(hand.cards) == 3 and total(hand.cards) in game.dead_totals:
        return Kind.DEAD
    return kind


def dealer_kind(cards: Sequence[Card]) -> Kind:
    """What the dealer's two or three cards count as: a column of the outcomes."""
    if total(cards) != 9:
        return Kind.OTHER
    if len(cards) == 3:
        return Kind.THREE_CARD_9
    return Kind.LUCKY9 if all(card.points for card in cards) else Kind.NATURAL9


def hand_verdict(game: Lucky9, hand: SeatHand, dealer: Sequence[Card]) -> Verdict:
    """What becomes of the wager on a hand, by itself, against the dealer's cards."""
    cell = game.outcomes[seat_kind(game, hand).value][_DEALERS_KINDS.index(dealer_kind(dealer))]
    match cell:
        case "push":
            return PUSHED
        case "lose":
            return LOST
        case "higher":
            return _by_totals(game, total(hand.cards), total(dealer))
        case ratio:
            return won(Fraction(*map(int, ratio.split(":"))))


def tie_verdict(game: Lucky9, done: SeatHands, seat: int) -> Verdict:
    """What becomes of a seat's Tie bet, whatever its hand wins or loses; after a split the leftmost hand counts.

    Raises ValueError where the seat was not in play.
    """
    leftmost, *_ = [hand for hand in done.hands if hand.seat == seat]
    return won(game.tie_pays) if total(leftmost.cards) == total(done.dealer) else LOST


def bonus_verdict(game: Lucky9, first_two: Sequence[Card], dealer_up: Card) -> Verdict:
    """What becomes of a seat's Lucky 9 Bonus, by its first two cards and the dealer's up card: the best row alone."""
    cards = [*first_two, dealer_up]
    if total(cards) != 9:
        return LOST
    ranks = sorted(card.rank for card in cards)
    suited = len({card.suit for card in cards}) == 1
    pays = game.bonus_pays
    best_first = (
        (suited and ranks == [3, 3, 3], pays.suited_333),
        (suited and ranks == [2, 3, 4], pays.suited_234),
        (ranks == [3, 3, 3], pays.any_333),
        (ranks == [2, 3, 4], pays.any_234),
        (suited, pays.suited_9),
        (True, pays.any_9),
    )
    return won(next(to_one for holds, to_one in best_first if holds))


def _by_totals(game: Lucky9, seats: int, dealers: int) -> Verdict:
    if seats == dealers:
        return PUSHED
    return won(game.higher_pays) if seats > dealers else LOST


@dataclass(slots=True)
class _Layout:
    """The felt while a round is played: each seat's hands from left to right, and the dealer's."""

    hands: dict[int, list[list[Card]]]
    dealer: list[Card] = field(default_factory=list)
    revealed: bool = False


_Asking = Generator[Step, Play, None]
"""A part of the round: it yields what comes next, and is sent the play that came."""


def _replay(game: Lucky9, seats: Sequence[int], plays: Sequence[Play]) -> tuple[_Layout, Step]:
    """The felt after the plays, and what comes next."""
    layout = _Layout({seat: [[]] for seat in seats})
    asking = _round(game, layout)
    step = next(asking)
    for play in plays:
        step = asking.send(play)
    return layout, step


def _round(game: Lucky9, layout: _Layout) -> _Asking:
    for dealers_lies_face_down in (True, False):
        for seat, hands in layout.hands.items():
            yield from _draw(hands[0], Draw(seat_hand_name(seat), seat))
        yield from _draw(layout.dealer, Draw(DEALER, face_down=dealers_lies_face_down))
    first_two = {seat: tuple(hands[0]) for seat, hands in layout.hands.items()}
    for seat, hands in layout.hands.items():
        yield from _act(game, seat, hands)
    yield from _reveal(layout)
    if total(layout.dealer) in game.dealer_draws_on:
        yield from _draw(layout.dealer, Draw(DEALER))
    play = yield SeatHands(tuple(layout.dealer), _played(layout.hands), first_two)
    raise ValueError(f"the round was complete before {_told(play)}")


def _act(game: Lucky9, seat: int, hands: list[list[Card]]) -> _Asking:
    """A seat's turn, from its first two cards."""
    if total(hands[0]) == 9:  # Lucky 9 or Natural 9
        return
    split = (Call.SPLIT,) if _may_split(game, hands, 0) else ()
    match (yield from _choose(Choose(seat_hand_name(seat), seat, (Call.HIT, Call.STAND, *split)))):
        case Call.HIT:
            yield from _draw(hands[0], Draw(seat_hand_name(seat), seat))
        case Call.SPLIT:
            yield from _split(game, seat, hands)


def _split(game: Lucky9, seat: int, hands: list[list[Card]]) -> _Asking:
    """The rest of a seat's turn once it has split its first two cards."""
    _part(hands, 0)
    at = 0
    while at < len(hands):
        name = seat_hand_name(seat, at + 1)
        yield from _draw(hands[at], Draw(name, seat))
        again = _may_split(game, hands, at) and (yield from _choose(Choose(name, seat, (Call.STAND, Call.SPLIT))))
        if again is Call.SPLIT:
            _part(hands, at)
        else:
            at += 1


def _may_split(game: Lucky9, hands: list[list[Card]], at: int) -> bool:
    # Each split so far has added a hand to the first.
    return _is_pair(game, *hands[at]) and len(hands) <= game.most_splits


def _is_pair(game: Lucky9, first: Card, second: Card) -> bool:
    return first.rank == second.rank if game.pair == "rank" else first.points == second.points


def _part(hands: list[list[Card]], at: int) -> None:
    """Make two hands of the pair at this place."""
    hands[at : at + 1] = [[card] for card in hands[at]]


def _draw(cards: list[Card], draw: Draw) -> _Asking:
    card = yield draw
    if not isinstance(card, Card):
        raise ValueError(f"{_told(card)} where {draw.hand} is due a card")
    cards.append(card)


def _choose(choose: Choose) -> Generator[Step, Play, Play]:
    call = yield choose
    if call not in choose.options:
        raise ValueError(
            f"{_told(call)} where {choose.hand} has the choice to {' or '.join(map(_told, choose.options))}"
        )
    return call


def _reveal(layout: _Layout) -> _Asking:
    call = yield Reveal((DEALER,))
    if call is not Call.REVEAL:
        raise ValueError(f"{_told(call)} where the dealer is due to reveal")
    layout.revealed = True


def _played(hands: Mapping[int, Sequence[Sequence[Card]]]) -> tuple[SeatHand, ...]:
    return tuple(
        SeatHand(seat, number, tuple(cards), from_split=len(theirs) > 1)
        for seat, theirs in hands.items()
        for number, cards in enumerate(theirs, start=1)
    )


def _may_lie(game: Lucky9, hands: Sequence[tuple[Card, ...]]) -> bool:
    """Whether a seat can have come to these hands, from left to right."""
    if len(hands) == 1:
        (cards,) = hands
        return len(cards) == 2 or (len(cards) == 3 and total(cards[:2]) != 9)
    # What was split off a hand is a pair with its first card, and so with the leftmost's.
    from_splits = all(len(cards) == 2 and _is_pair(game, hands[0][0], cards[0]) for cards in hands)
    return from_splits and 2 <= len(hands) <= game.most_splits + 1


def _first_two(told: SeatHands, seat: int, hands: Sequence[tuple[Card, ...]]) -> tuple[Card, ...]:
    """A seat's cards before any split or hit, once its hands lie so."""
    if len(hands) == 1:
        return hands[0][:2]
    begin = [hand.cards[0] for hand in told.hands if hand.seat == seat]
    second = begin.index(told.first_two[seat][1], 1) if len(begin) == len(hands) else 1
    return hands[0][0], hands[second][0]


def _told(play: Play) -> str:
    return play.value if isinstance(play, Call) else str(play)
