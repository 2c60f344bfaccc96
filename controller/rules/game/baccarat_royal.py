"""Baccarat Royal: two active seats play against each other and choose freely, and the other seats bet on them (sheet
002).

A table of rules in the game file says whether Banker draws: no number of the rules is in this code. Player's first two
cards stay face down to the end, and Banker's stay face down until Banker decides. No step reveals more about these
cards than the sheet shows.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import ClassVar, Literal, Self

from msgspec import Struct, field

from controller.rules.game.bets import Finished, Printed
from controller.rules.game.cards import WORTH, Card, Points, total
from controller.rules.game.drawing import BankerDraws, Does, Drawing, check_draws, check_once
from controller.rules.game.hands import BANKER, PLAYER, Done, TwoHands, closer_to_nine, two_hands_read
from controller.rules.game.play import Call, Choose, Draw, Laid, Play, Reveal
from controller.rules.game.seating import Actives, Seating, TieMoves, WinMoves

DealOrder = Literal["banker_first", "player_first", "alternating"]
"""How the hole cards come: two to Banker and then two to Player, the reverse, or by turns from Player."""

Step = Draw | Choose | Reveal | TwoHands
"""What a round asks for next, or its end."""


class BankerRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of Banker's drawing rules: what Banker does on certain totals of Banker's first two cards."""

    hole_cards: tuple[Points, ...]
    """The totals of Banker's hole cards that the row is for."""

    free_choice_on: tuple[Points, ...]
    """The values of Player's third card, 0 to 9, on which Banker chooses freely."""

    all_other_cases: Literal["draw", "stand"]
    """What Banker must do on any other third card."""

    player_stood: Literal["draw", "stand", "choose"]
    """What Banker does where Player took no third card."""

    def decides(self, third: Card | None) -> Literal["draw", "stand", "choose"]:
        """Return what Banker does after Player's third card: "draw", "stand" or "choose". `third` is None if Player
        stood."""
        if third is None:
            return self.player_stood
        return "choose" if third.points in self.free_choice_on else self.all_other_cases


class BaccaratRoyal(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag=True):
    """The game of Baccarat Royal by the rules of one house. Totals are 0 to 9.

    Raises ValueError unless these rules hold: the naturals are the highest totals, nobody draws on a natural, every
    lower total stands in exactly one row of Banker's drawing rules, and no list names a number twice. Also raises
    ValueError if Player has to draw on a total and has a free choice on the same total.
    """

    deal_order: DealOrder
    """How the hole cards come: two to Banker and then two to Player, the reverse, or by turns from Player."""

    natural: tuple[Points, ...]
    """Totals of either hand's hole cards on which the round is over."""

    player_draws_on: tuple[Points, ...]
    """Totals of Player's hole cards that must take a third card."""

    player_chooses_on: tuple[Points, ...]
    """Totals of Player's hole cards that may take a third card. All other totals below the naturals stand."""

    banker: tuple[BankerRow, ...]
    """`[[baccarat_royal.banker]]`: the banker's drawing table, a row for some totals."""

    on_tie: TieMoves
    """Where both roles go after a tie. `"next_seat"`: each to the next occupied seat. `"free_seat"`: each to the next
    occupied seat without a role. `"nowhere"`: both stay."""

    on_win: WinMoves = "loser_to_free_seat"
    """Which roles move after a win. `"loser_to_free_seat"`: the loser's role goes to the next occupied seat without a
    role, and stays where there is no such seat. `"loser_to_next_seat"`: the loser's role goes to the next occupied
    seat; where the winner sits there, the two seats change roles. `"both"`: both roles move as after a tie."""

    def __post_init__(self) -> None:
        totals = {"player_draws_on": self.player_draws_on, "player_chooses_on": self.player_chooses_on}
        check_draws(self.natural, totals, "banker", [total for row in self.banker for total in row.hole_cards])
        for row in self.banker:
            check_once({"free_choice_on": row.free_choice_on})
        if set(self.player_draws_on) & set(self.player_chooses_on):
            raise ValueError("a total on which Player must draw cannot be a free choice")

    roles_play: ClassVar[bool] = True
    seats_play: ClassVar[bool] = False
    tableau: ClassVar[None] = None
    squeezed: ClassVar[bool] = False
    deals_face_down: ClassVar[bool] = True
    calls: ClassVar[tuple[Call, ...]] = (Call.HIT, Call.STAND, Call.REVEAL)

    @property
    def house_ways(self) -> dict[str, str]:
        """The house's choices for this game, for players to read. "win" and "tie" are the keys of two rules: which
        seats play Player and Banker in the next round after a win, and which after a tie."""
        return {"win": self.on_win, "tie": self.on_tie}

    @property
    def drawing(self) -> Drawing:
        """The rules for third cards of Player and Banker, as lists of totals for players to read."""
        below = sorted(points for row in self.banker for points in row.hole_cards)
        rows = [next(row for row in self.banker if points in row.hole_cards) for points in below]
        draws: dict[int, Does] = dict.fromkeys(self.player_draws_on, "draw")
        draws |= dict.fromkeys(self.player_chooses_on, "choose")
        return Drawing(
            player=tuple(draws.get(points, "stand") for points in below),
            banker=tuple(
                BankerDraws(row.player_stood, tuple(row.decides(WORTH[third]) for third in range(10))) for row in rows
            ),
        )

    @property
    def naturals(self) -> tuple[int, ...]:
        """The totals of a hand's first two cards that end a round before any third card."""
        return self.natural

    def next_step(self, seating: Seating, plays: Sequence[Play]) -> Step:
        """Return the next step of the round. `plays` are the cards and the calls so far, in the order in which they
        came.

        The step at Player's turn is always a `Choose`, even if Player has a single option, because a missing choice
        would reveal Player's total. Raises ValueError for a card or a call that the game did not ask for. The error
        names no card.
        """
        return _played(self, _actives(seating), plays)[1]

    def laid(self, seating: Seating, plays: Sequence[Play]) -> tuple[Laid, ...]:
        """Return Player's hand and Banker's as they lie on the layout after these cards and calls. Raises ValueError
        for a card or a call that the game did not ask for."""
        actives = _actives(seating)
        layout, _ = _played(self, actives, plays)
        return layout.lies(PLAYER, actives.player), layout.lies(BANKER, actives.banker)

    def corrected(self, _: Done, hands: Mapping[str, tuple[Card, ...]]) -> TwoHands:
        """Return the finished round with the hands that people read on the layout. `hands` maps the name of each hand
        to its cards. Raises HandsError if the hands are not Player's and Banker's, or if one of them does not have two
        or three cards."""
        return two_hands_read(self.naturals, hands)

    def seen(self, done: Done, seating: Seating, seat: int | None, printed: Printed) -> tuple[Finished, ...]:
        """Return the finished round in the form in which a seat's bets are judged. If the seat is one of the two active
        seats, one of the two hands is marked as the seat's own."""
        assert isinstance(done, TwoHands), "a round of this game"
        actives = _actives(seating)
        player = (PLAYER, "own") if seat == actives.player else (PLAYER,)
        banker = (BANKER, "own") if seat == actives.banker else (BANKER,)
        return (Finished(done, self.naturals, *printed, names=(player, banker)),)

    def most_cards(self, _: int) -> int:
        """Return the most cards that a round can take: three for each of the two hands."""
        return 6

    def dealt(self, how: Literal["mini", "midi"]) -> Self | None:
        """Return this game if `how` is "mini". Return None if `how` is "midi", because this game cannot be dealt in
        that way."""
        return self if how == "mini" else None

    def player_options(self, hole_cards: Sequence[Card]) -> tuple[Call, ...]:
        """Return what Player may call with the first two cards `hole_cards`. On a total with a free choice these are
        hit and stand. On every other total it is only the call that the rules demand."""
        points = total(hole_cards)
        if points in self.player_draws_on:
            return (Call.HIT,)
        return (Call.HIT, Call.STAND) if points in self.player_chooses_on else (Call.STAND,)

    def banker_options(self, hole_cards: Sequence[Card], third: Card | None) -> tuple[Call, ...]:
        """Return what Banker may call with these first two cards (`hole_cards`) after Player's third card. `third` is
        None if Player stood."""
        row = next(row for row in self.banker if total(hole_cards) in row.hole_cards)
        return {"draw": (Call.HIT,), "stand": (Call.STAND,), "choose": (Call.HIT, Call.STAND)}[row.decides(third)]


def _actives(seating: Seating) -> Actives:
    assert seating.actives is not None, "wagers are not locked without active seats"
    return seating.actives


# A round.


class _Layout(Struct):
    """The cards on the layout during a round, and the hands whose first two cards have been turned up."""

    cards: dict[str, tuple[Card, ...]] = field(default_factory=lambda: {PLAYER: (), BANKER: ()})
    face_up: tuple[str, ...] = ()

    def take(self, step: Step, play: Play) -> None:
        """Apply a card or a call to the cards on the layout. Raises ValueError unless it is what `step` asks for."""
        match step, play:
            case Draw(hand=hand), Card():
                self.cards[hand] += (play,)
            case Choose(options=options), Call() if play in options:
                pass
            case Reveal(hands=hands), Call.REVEAL:
                self.face_up += hands
            case _:
                what = f"the call {play.value}" if isinstance(play, Call) else "a card"
                raise ValueError(f"{what} was not due")

    def lies(self, hand: str, seat: int) -> Laid:
        """Return the hand named `hand`, of the seat `seat`, as it lies on the layout. A third card is always
        face up."""
        cards = self.cards[hand]
        hidden = hand not in self.face_up
        return Laid(hand, cards, tuple(hidden and place < 2 for place in range(len(cards))), seat)

    def done(self, *, natural: bool) -> TwoHands:
        """Return the finished round, made of the cards on the layout."""
        player, banker = self.cards[PLAYER], self.cards[BANKER]
        return TwoHands(player, banker, closer_to_nine(player, banker), natural)


_HOLE_CARDS: dict[DealOrder, tuple[str, ...]] = {
    "banker_first": (BANKER, BANKER, PLAYER, PLAYER),
    "player_first": (PLAYER, PLAYER, BANKER, BANKER),
    "alternating": (PLAYER, BANKER, PLAYER, BANKER),
}


def _played(game: BaccaratRoyal, actives: Actives, plays: Sequence[Play]) -> tuple[_Layout, Step]:
    """Return two values: the cards on the layout after these cards and calls, and the next step of the round."""
    layout = _Layout()
    round_ = _round(game, actives, layout)
    step = next(round_)
    for play in plays:
        layout.take(step, play)
        step = round_.send(play)
    return layout, step


def _round(game: BaccaratRoyal, actives: Actives, layout: _Layout) -> Generator[Step, Play, None]:
    """Yield the steps of a round, in the order of sheet 002. After each step, the caller applies the card or the call
    to the layout, and then sends it into the generator."""
    for hand in _HOLE_CARDS[game.deal_order]:
        yield Draw(hand, face_down=True)
    player, banker = layout.cards[PLAYER], layout.cards[BANKER]
    if total(player) in game.natural or total(banker) in game.natural:
        layout.face_up = (PLAYER, BANKER)
        yield layout.done(natural=True)
        return  # pragma: no cover: nobody asks for a step after the last

    third = None
    call = yield Choose(PLAYER, actives.player, game.player_options(player), secret=True)
    if call is Call.HIT:
        yield Draw(PLAYER, actives.player)
        third = layout.cards[PLAYER][2]

    yield Reveal((BANKER,))
    options = game.banker_options(banker, third)
    call = options[0] if len(options) == 1 else (yield Choose(BANKER, actives.banker, options))
    if call is Call.HIT:
        yield Draw(BANKER, actives.banker)

    yield Reveal((PLAYER,))
    yield layout.done(natural=False)
