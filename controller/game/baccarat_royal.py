"""Baccarat Royal: two active seats play each other with free choices, the others bet on them (sheet 002).

Whether the banker draws follows from a table of the game file; nothing here knows a number of it. The player's hole
cards stay face down to the end, the banker's until he decides, and no step says more of them than the sheet shows.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Literal

from controller.game.baccarat import Done, Hand, Outcome
from controller.game.cards import Card, total
from controller.game.play import HALF_LOST, LOST, Call, Choose, Draw, Laid, Play, Reveal, Verdict, won

DealOrder = Literal["banker_first", "player_first", "alternating"]
"""How the hole cards come: two to Banker then two to Player, the reverse, or by turns from Player."""

Step = Draw | Choose | Reveal | Done
"""What a round asks for next, or its end."""


@dataclass(frozen=True, slots=True)
class BankerRow:
    """A row of the banker's drawing table: what he does with these totals."""

    hole_cards: tuple[int, ...]
    """The totals of Banker's hole cards that the row is for."""

    free_choice_on: tuple[int, ...]
    """The values of Player's third card, 0 to 9, on which Banker chooses."""

    all_other_cases: Literal["draw", "stand"]
    """What he must do on any other third card."""

    player_stood: Literal["draw", "stand", "choose"]
    """What he does when Player took no third card."""

    def decides(self, third: Card | None) -> Literal["draw", "stand", "choose"]:
        """What Banker does after Player's third card; None: Player stood."""
        if third is None:
            return self.player_stood
        return "choose" if third.points in self.free_choice_on else self.all_other_cases


@dataclass(frozen=True, slots=True)
class BaccaratRoyal:
    """The rules of a house. Totals are 0 to 9.

    Raises ValueError unless the naturals are the highest totals, every lower one stands in one row of the banker's
    table, and no total of Player's both must draw and may choose.
    """

    deal_order: DealOrder

    natural: tuple[int, ...]
    """Totals of either hand's hole cards on which the round is over."""

    player_draws_on: tuple[int, ...]
    """Totals of Player's hole cards that must take a third card."""

    player_chooses_on: tuple[int, ...]
    """Totals of Player's hole cards that may take one; all others below the naturals stand."""

    banker: tuple[BankerRow, ...]

    def __post_init__(self) -> None:
        if [*sorted(of for row in self.banker for of in row.hole_cards), *sorted(self.natural)] != list(range(10)):
            raise ValueError("the banker's table needs each total below the naturals in one row")
        if set(self.player_draws_on) & set(self.player_chooses_on):
            raise ValueError("a total on which Player must draw is no free choice")

    def player_options(self, hole_cards: Sequence[Card]) -> tuple[Call, ...]:
        """What Player may call on these hole cards: one call where he must, both where he is free."""
        points = total(hole_cards)
        if points in self.player_draws_on:
            return (Call.HIT,)
        return (Call.HIT, Call.STAND) if points in self.player_chooses_on else (Call.STAND,)

    def banker_options(self, hole_cards: Sequence[Card], third: Card | None) -> tuple[Call, ...]:
        """What Banker may do on these hole cards after Player's third card; None: Player stood."""
        row = next(row for row in self.banker if total(hole_cards) in row.hole_cards)
        return {"draw": (Call.HIT,), "stand": (Call.STAND,), "choose": (Call.HIT, Call.STAND)}[row.decides(third)]


@dataclass(frozen=True, slots=True)
class Actives:
    """The seats that play each other. Raises ValueError where they are one seat."""

    player: int
    banker: int

    def __post_init__(self) -> None:
        if self.player == self.banker:
            raise ValueError("one seat cannot be both Player and Banker")


# A round.


def next_step(game: BaccaratRoyal, actives: Actives, plays: Sequence[Play]) -> Step:
    """What follows once these plays, in order from the round's first card, have happened.

    Player's turn is always a Choose, with the one option where he has no choice: that none was due would tell his
    total. Raises ValueError for a play that was not due; it names no card.
    """
    return _played(game, actives, plays)[1]


def laid(game: BaccaratRoyal, actives: Actives, plays: Sequence[Play]) -> tuple[Laid, ...]:
    """Player's hand and Banker's, as they lie after these plays. Raises ValueError for a play that was not due."""
    layout, _ = _played(game, actives, plays)
    return layout.lies("player", actives.player), layout.lies("banker", actives.banker)


@dataclass(slots=True)
class _Layout:
    """The cards on the felt, and the hands whose hole cards have been turned up."""

    cards: dict[str, tuple[Card, ...]] = field(default_factory=lambda: {"player": (), "banker": ()})
    face_up: tuple[str, ...] = ()

    def take(self, step: Step, play: Play) -> None:
        """Do what the play does to the layout. Raises ValueError unless it is what the step asks for."""
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
        """The hand as it lies: a third card is always face up."""
        cards = self.cards[hand]
        hidden = hand not in self.face_up
        return Laid(hand, cards, tuple(hidden and place < 2 for place in range(len(cards))), seat)

    def done(self, *, natural: bool) -> Done:
        """The round's end, by the cards that lie there."""
        player, banker = self.cards["player"], self.cards["banker"]
        return Done(player, banker, _outcome(total(player), total(banker)), natural)


_HOLE_CARDS: dict[DealOrder, tuple[str, ...]] = {
    "banker_first": ("banker", "banker", "player", "player"),
    "player_first": ("player", "player", "banker", "banker"),
    "alternating": ("player", "banker", "player", "banker"),
}


def _played(game: BaccaratRoyal, actives: Actives, plays: Sequence[Play]) -> tuple[_Layout, Step]:
    """The layout after these plays, and what follows."""
    layout = _Layout()
    round_ = _round(game, actives, layout)
    step = next(round_)
    for play in plays:
        layout.take(step, play)
        step = round_.send(play)
    return layout, step


def _round(game: BaccaratRoyal, actives: Actives, layout: _Layout) -> Generator[Step, Play, None]:
    """A round as the sheet tells it: yields each step, and is sent the play once that lies on the layout."""
    for hand in _HOLE_CARDS[game.deal_order]:
        yield Draw(hand, face_down=True)
    player, banker = layout.cards["player"], layout.cards["banker"]
    if total(player) in game.natural or total(banker) in game.natural:
        layout.face_up = ("player", "banker")
        yield layout.done(natural=True)
        return

    third = None
    call = yield Choose("player", actives.player, game.player_options(player), secret=True)
    if call is Call.HIT:
        yield Draw("player", actives.player)
        third = layout.cards["player"][2]

    yield Reveal(("banker",))
    options = game.banker_options(banker, third)
    call = options[0] if len(options) == 1 else (yield Choose("banker", actives.banker, options))
    if call is Call.HIT:
        yield Draw("banker", actives.banker)

    yield Reveal(("player",))
    yield layout.done(natural=False)


def _outcome(player_total: int, banker_total: int) -> Outcome:
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER


# The seats that play.


def drawn_actives(occupied: Collection[int], lot: int) -> Actives:
    """The lot's ordered pair of n occupied seats: every n(n-1) lots in a row name each pair once.

    Raises ValueError with fewer than two seats.
    """
    pairs = list(permutations(sorted(set(occupied)), 2))
    if not pairs:
        raise ValueError("two seats must be occupied to draw Player and Banker")
    return Actives(*pairs[lot % len(pairs)])


def next_actives(actives: Actives, outcome: Outcome, occupied: Collection[int]) -> Actives:
    """Who plays the next round: the loser's position moves on clockwise, on a tie both.

    Clockwise is by ascending seat number, and after the highest the lowest. A position moves to the next occupied
    seat that held neither, and stays where there is none. On a tie both look at the seats as they were; where both
    would move to the same one, the nearer has it and the other takes the one after.
    """
    free = set(occupied) - {actives.player, actives.banker}
    if outcome is Outcome.PLAYER:
        return replace(actives, banker=_next_seat(actives.banker, free))
    if outcome is Outcome.BANKER:
        return replace(actives, player=_next_seat(actives.player, free))
    # The nearer moves first. Both aim at one seat only where none is free between them.
    if _next_seat(actives.player, free | {actives.banker}) == actives.banker:
        banker = _next_seat(actives.banker, free)
        return Actives(_next_seat(actives.player, free - {banker}), banker)
    player = _next_seat(actives.player, free)
    return Actives(player, _next_seat(actives.banker, free - {player}))


def _next_seat(seat: int, free: Collection[int]) -> int:
    """The first of these seats clockwise from `seat`, or `seat` itself where there is none."""
    return min(free, key=lambda other: (other < seat, other), default=seat)


def active_verdict(outcome: Outcome, role: Hand) -> Verdict:
    """What becomes of an active seat's stake: the loser pays the winner, as much as he staked.

    On a tie each loses half to the house.
    """
    if outcome is Outcome.TIE:
        return HALF_LOST
    return won(1) if outcome.value == role.value else LOST
