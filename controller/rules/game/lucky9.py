"""Lucky 9: dealt like blackjack, counted like baccarat, with splits (sheet 003).

Every seat in play has a hand of its own against the dealer's hand. The order of play is written as one generator,
`_round`, which asks for each card and each call in turn. Each answer is computed by running that generator over all
cards and calls so far.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import product
from typing import ClassVar, Literal, Self

from msgspec import Struct, field

from controller.rules.game.bets import Finished, Printed
from controller.rules.game.cards import Card, Points, total
from controller.rules.game.drawing import Drawing, check_once
from controller.rules.game.hands import (
    ANY_SHAPE,
    DEALER,
    Done,
    HandsError,
    SeatHand,
    SeatHands,
    Shape,
    TwoHands,
    closer_to_nine,
    seat_hand_name,
)
from controller.rules.game.play import Call, Choose, Draw, Laid, Play, Reveal
from controller.rules.game.seating import Seating, TieMoves, WinMoves


class Lucky9(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag=True):
    """The game of Lucky 9 by the rules of one house. Raises ValueError if the rules contradict each other."""

    pair: Literal["rank", "value"]
    """What may be split: two cards of the same rank, or of the same point value (a ten and a king)."""

    most_splits: int
    """How often a seat may split: one less than the most hands that the seat can have."""

    dealer_draws_on: tuple[Points, ...]
    """The dealer's two-card totals that take a third card."""

    deal_order: Literal["seats_first", "dealer_first", "two_at_once"] = "seats_first"
    """How the first two cards of each hand come. `"seats_first"`: one to each seat and one to the dealer, twice.
    `"dealer_first"`: one to the dealer and one to each seat, twice. `"two_at_once"`: two to each seat, and then two to
    the dealer."""

    first_seat: Literal["lowest", "highest"] = "lowest"
    """The seat in play that is dealt to first and acts first. `"lowest"`: the other seats follow by rising numbers.
    `"highest"`: they follow by falling numbers."""

    dealer_shows: Literal["first_card", "second_card"] = "second_card"
    """Which of the dealer's first two cards lies face up while the seats act."""

    split_order: Literal["leftmost_first", "rightmost_first"] = "leftmost_first"
    """Which hand of a split seat takes its card first."""

    def __post_init__(self) -> None:
        if self.most_splits < 0:
            raise ValueError("most_splits must be 0 or more")
        if 9 in self.dealer_draws_on:
            raise ValueError("dealer_draws_on may hold totals from 0 to 8")
        check_once({"dealer_draws_on": self.dealer_draws_on})

    roles_play: ClassVar[bool] = False
    on_win: ClassVar[WinMoves] = "loser_to_free_seat"
    on_tie: ClassVar[TieMoves] = "next_seat"
    seats_play: ClassVar[bool] = True
    tableau: ClassVar[None] = None
    naturals: ClassVar[tuple[int, ...]] = ()
    squeezed: ClassVar[bool] = False
    deals_face_down: ClassVar[bool] = True
    calls: ClassVar[tuple[Call, ...]] = (Call.HIT, Call.STAND, Call.SPLIT, Call.REVEAL)

    def next_step(self, seating: Seating, plays: Sequence[Play]) -> Step:
        """Return the next step of the round. `plays` are the cards and the calls so far, in the order in which they
        came.

        Two cards go to every seat and to the dealer, in the order that `deal_order` says. Then each seat acts. A seat
        with a total of 9 stands. On any other total the seat stands, hits once, or splits a pair. A split puts a new
        hand to the right of the split hand. A seat's hands are named from the left: "seat_3", "seat_3_hand_2" and so
        on. So the names of the hands further to the right change. Each of the hands takes one card and stands before
        the next hand takes its card, in the order that `split_order` says. A new pair may be split again, up to the
        limit. At last the dealer turns up the face-down card, and draws by the dealer's rule, even if no seat can win
        any more.

        Raises ValueError for a card that is not due, and for a call that is not offered.
        """
        return _replay(self, seating.in_play, plays)[1]

    def laid(self, seating: Seating, plays: Sequence[Play]) -> tuple[Laid, ...]:
        """Return every hand as it lies on the layout: each seat's hands from left to right, then the dealer's. Before
        the first card is dealt, the hands have no cards.

        Raises ValueError for a card or a call that is not due.
        """
        layout, _ = _replay(self, seating.in_play, plays)
        theirs = [
            Laid(seat_hand_name(seat, number), tuple(cards), (False,) * len(cards), seat)
            for seat, hands in layout.hands.items()
            for number, cards in enumerate(hands, start=1)
        ]
        up = self._place_of_up_card
        face_down = tuple(place == 1 - up and not layout.revealed for place in range(len(layout.dealer)))
        return (*theirs, Laid(DEALER, tuple(layout.dealer), face_down))

    def corrected(self, before: Done, hands: Mapping[str, tuple[Card, ...]]) -> SeatHands:
        """Return the finished round `before` with the hands that people read on the layout. `hands` maps the name of
        each hand to its cards.

        The seats' choices follow from the hands: a seat with several hands has split, and a hand with three cards has
        hit. If a seat split more than once, the layout does not show which of its hands begins with the seat's second
        card. The program then takes the hand that began with that card in `before`. If the seat had another number of
        hands in `before`, the program takes the second hand. Raises HandsError if the rules do not allow these hands.
        """
        assert isinstance(before, SeatHands), "a round of this game"
        read = dict(hands)
        dealer = read.pop(DEALER, None)
        in_order = {seat: _taken_out(read, seat) for seat in before.first_two}
        if dealer is None:
            raise HandsError("other_hands")
        if read or not all(in_order.values()):
            raise HandsError("other_seats")
        if not all(2 <= len(cards) <= 3 for cards in hands.values()):
            raise HandsError("not_a_hand")
        dealers_own = len(dealer) == (3 if total(dealer[:2]) in self.dealer_draws_on else 2)
        if not dealers_own or not all(_may_lie(self, theirs) for theirs in in_order.values()):
            raise HandsError("not_by_the_rules")
        first_two = {seat: _first_two(before, seat, theirs) for seat, theirs in in_order.items()}
        return SeatHands(dealer, _played(in_order), first_two)

    def seen(self, done: Done, _: Seating, seat: int | None, printed: Printed) -> tuple[Finished, ...]:
        """Return the finished round in the form in which a seat's bets are judged: each hand of the seat against the
        dealer's hand, from left to right. The result is empty if the seat is not in play."""
        assert isinstance(done, SeatHands), "a round of this game"
        return tuple(
            Finished(
                TwoHands(hand.cards, done.dealer, closer_to_nine(hand.cards, done.dealer), natural=False),
                self.naturals,
                *printed,
                names=(("own",), (DEALER,)),
                number=hand.number if hand.from_split else None,
                with_up_card=(*done.first_two[hand.seat], done.dealer[self._place_of_up_card]),
            )
            for hand in done.hands
            if hand.seat == seat
        )

    @property
    def house_ways(self) -> dict[str, str]:
        """The house's rules for splits: which pairs may be split, and into how many hands."""
        return {"splits": self.pair if self.most_splits else "nothing", "hands": str(self.most_splits + 1)}

    @property
    def drawing(self) -> Drawing:
        """The dealer's rule for a third card, as a list of totals for players to read."""
        return Drawing(dealer=tuple("draw" if points in self.dealer_draws_on else "stand" for points in range(10)))

    @property
    def _place_of_up_card(self) -> int:
        """The index, 0 or 1, of the dealer's card that lies face up while the seats act."""
        return 0 if self.dealer_shows == "first_card" else 1

    def most_cards(self, seats: int) -> int:
        """Return the most cards that a round with this number of seats can take. The dealer takes at most three. A seat
        takes at most three, or two for each hand into which it can split, whichever is more."""
        return max(3, 2 * (self.most_splits + 1)) * seats + 3

    def shapes(self) -> Sequence[tuple[Shape, Shape]]:
        """Return the pairs of hands, a seat's and the dealer's, that the rules allow in the same round. A hand is given
        as the total of its first two cards and the points of its third card. A seat may not hit a total of 9, and the
        dealer must draw or stand by the dealer's rule."""
        seats = [each for each in ANY_SHAPE if each[0] != 9 or each[1] is None]
        dealers = [each for each in ANY_SHAPE if (each[0] in self.dealer_draws_on) is (each[1] is not None)]
        return list(product(seats, dealers))

    def dealt(self, how: Literal["mini", "midi"]) -> Self | None:
        """Return this game if `how` is "mini". Return None if `how` is "midi", because this game cannot be dealt in
        that way."""
        return self if how == "mini" else None


def _taken_out(read: dict[str, tuple[Card, ...]], seat: int) -> list[tuple[Card, ...]]:
    """Remove the hands of this seat from `read` (hands that people read, by name), and return them from left
    to right."""
    theirs: list[tuple[Card, ...]] = []
    while (cards := read.pop(seat_hand_name(seat, len(theirs) + 1), None)) is not None:
        theirs.append(cards)
    return theirs


Step = Draw | Choose | Reveal | SeatHands


class _Layout(Struct):
    """The cards on the layout during a round of Lucky 9: each seat's hands from left to right, and the
    dealer's hand."""

    hands: dict[int, list[list[Card]]]
    dealer: list[Card] = field(default_factory=list)
    revealed: bool = False


_Asking = Generator[Step, Play, None]
"""A part of the round: it yields what comes next, and is sent the play."""


def _replay(game: Lucky9, seats: Sequence[int], plays: Sequence[Play]) -> tuple[_Layout, Step]:
    """Return two values: the cards on the layout after these cards and calls, and the next step of the round."""
    layout = _Layout({seat: [[]] for seat in seats})
    asking = _round(game, layout)
    step = next(asking)
    for play in plays:
        step = asking.send(play)
    return layout, step


def _round(game: Lucky9, layout: _Layout) -> _Asking:
    seats = list(layout.hands) if game.first_seat == "lowest" else list(layout.hands)[::-1]
    for seat in _dealt_to(game, seats):
        if seat is None:
            shown = (game.dealer_shows == "first_card") == (not layout.dealer)
            yield from _draw(layout.dealer, Draw(DEALER, face_down=not shown))
        else:
            yield from _draw(layout.hands[seat][0], Draw(seat_hand_name(seat), seat))
    first_two = {seat: tuple(hands[0]) for seat, hands in layout.hands.items()}
    for seat in seats:
        yield from _act(game, seat, layout.hands[seat])
    yield from _reveal(layout)
    if total(layout.dealer) in game.dealer_draws_on:
        yield from _draw(layout.dealer, Draw(DEALER))
    play = yield SeatHands(tuple(layout.dealer), _played(layout.hands), first_two)
    raise ValueError(f"the round was complete before {_word(play)}")


def _dealt_to(game: Lucky9, seats: list[int]) -> list[int | None]:
    """Return who gets each card of the first deal, in order: the number of a seat, or None for the dealer."""
    match game.deal_order:
        case "seats_first":
            return [*seats, None] * 2
        case "dealer_first":
            return [None, *seats] * 2
        case "two_at_once":  # pragma: no branch: the last choice
            return [to for each in (*seats, None) for to in (each, each)]


def _act(game: Lucky9, seat: int, hands: list[list[Card]]) -> _Asking:
    """Play one seat's turn, beginning after its first two cards. Yield each step of the turn, and receive the card or
    the call that is sent into the generator. `hands` are the seat's hands, and are changed."""
    if total(hands[0]) == 9:  # Lucky 9 or Natural 9
        return
    split = (Call.SPLIT,) if _may_split(game, hands, 0) else ()
    match (yield from _choose(Choose(seat_hand_name(seat), seat, (Call.HIT, Call.STAND, *split)))):
        case Call.HIT:
            yield from _draw(hands[0], Draw(seat_hand_name(seat), seat))
        case Call.SPLIT:
            yield from _split(game, seat, hands)


def _split(game: Lucky9, seat: int, hands: list[list[Card]]) -> _Asking:
    """Split a seat's first two cards, and play the rest of the seat's turn. Yield each step, and receive the card or
    the call that is sent into the generator."""
    _part(hands, 0)
    from_left = game.split_order == "leftmost_first"
    at = 0 if from_left else 1
    while 0 <= at < len(hands):
        name = seat_hand_name(seat, at + 1)
        yield from _draw(hands[at], Draw(name, seat))
        again = _may_split(game, hands, at) and (yield from _choose(Choose(name, seat, (Call.STAND, Call.SPLIT))))
        if again is Call.SPLIT:
            _part(hands, at)
            at += 0 if from_left else 1
        else:
            at += 1 if from_left else -1


def _may_split(game: Lucky9, hands: list[list[Card]], at: int) -> bool:
    # Each split so far has added a hand to the first.
    return _is_pair(game, *hands[at]) and len(hands) <= game.most_splits


def _is_pair(game: Lucky9, first: Card, second: Card) -> bool:
    return first.rank == second.rank if game.pair == "rank" else first.points == second.points


def _part(hands: list[list[Card]], at: int) -> None:
    """Replace the pair at index `at` of a seat's hands by two hands of one card each."""
    hands[at : at + 1] = [[card] for card in hands[at]]


def _draw(cards: list[Card], draw: Draw) -> _Asking:
    card = yield draw
    if not isinstance(card, Card):
        raise ValueError(f"{_word(card)} came where {draw.hand} is due a card")
    cards.append(card)


def _choose(choose: Choose) -> Generator[Step, Play, Play]:
    call = yield choose
    if call not in choose.options:
        raise ValueError(
            f"{_word(call)} came where {choose.hand} has the choice to {' or '.join(map(_word, choose.options))}"
        )
    return call


def _reveal(layout: _Layout) -> _Asking:
    call = yield Reveal((DEALER,))
    if call is not Call.REVEAL:
        raise ValueError(f"{_word(call)} came where the dealer is due to reveal")
    layout.revealed = True


def _played(hands: Mapping[int, Sequence[Sequence[Card]]]) -> tuple[SeatHand, ...]:
    return tuple(
        SeatHand(seat, number, tuple(cards), from_split=len(theirs) > 1)
        for seat, theirs in hands.items()
        for number, cards in enumerate(theirs, start=1)
    )


def _may_lie(game: Lucky9, hands: Sequence[tuple[Card, ...]]) -> bool:
    """Tell whether the rules allow that a seat has these hands, from left to right, at the end of a round."""
    if len(hands) == 1:
        (cards,) = hands
        return len(cards) == 2 or (len(cards) == 3 and total(cards[:2]) != 9)
    # A hand that was split off makes a pair with the first card of the hand it came from, and so with the leftmost's.
    from_splits = all(len(cards) == 2 and _is_pair(game, hands[0][0], cards[0]) for cards in hands)
    return from_splits and 2 <= len(hands) <= game.most_splits + 1


def _first_two(before: SeatHands, seat: int, hands: Sequence[tuple[Card, ...]]) -> tuple[Card, ...]:
    """Return the first two cards of a seat, as dealt before any split or hit. They are derived from the hands that
    people read on the layout after the round."""
    if len(hands) == 1:
        return hands[0][:2]
    begin = [hand.cards[0] for hand in before.hands if hand.seat == seat]
    second = begin.index(before.first_two[seat][1], 1) if len(begin) == len(hands) else 1
    return hands[0][0], hands[second][0]


def _word(play: Play) -> str:
    return play.value if isinstance(play, Call) else str(play)
