"""Checks of the best play that the par sheet computes for the two active seats of Baccarat Royal. As a comparison, the
checks deal a few cards in every order by the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import perm
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from controller.people.cli.main import main
from controller.people.par.baccarat_royal import Play, Points, Round, best_play, solved
from controller.people.par.counting import kinds
from controller.people.par.shoe import Shoe
from controller.people.par.sights import sight
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.cards import Card
from controller.rules.game.hands import Outcome, TwoHands
from controller.rules.game.play import Call, Choose, Draw
from controller.rules.game.seating import Actives, Seating
from tests.support.bets import bet, bets_of
from tests.support.samples import at_length
from tests.support.tables import BACCARAT_ROYAL

assert isinstance(BACCARAT_ROYAL.play, BaccaratRoyal)
GAME = BACCARAT_ROYAL.play
BETS = bets_of("baccarat_royal")
SEATING = Seating((1, 2), Actives(1, 2))
# Few cards, of which the best play follows; and some that leave it open.
FEW = tuple(map(Card.parse, ["2S", "3H", "4D", "5C", "KS", "6D", "AH"]))
OPEN = tuple(map(Card.parse, ["3H", "7H", "7S", "8C", "KH", "5D", "TS", "6S"]))
STAKE = {Outcome.PLAYER: (2, -2), Outcome.BANKER: (-2, 2), Outcome.TIE: (-1, -1)}
"""What Player and Banker are up, in halves of a stake."""


def points(cards: Sequence[Card]) -> Points:
    return tuple(sorted(card.points for card in cards[:2]))


def played(six: Sequence[Card], play: Play, game: BaccaratRoyal = GAME) -> TwoHands:
    """Deal these six cards, and return the finished round. `play` makes every choice."""
    plays: list[Card | Call] = []
    cards = iter(six)
    hands: dict[str, list[Card]] = {"player": [], "banker": []}
    while not isinstance(step := game.next_step(SEATING, plays), TwoHands):
        if isinstance(step, Draw):
            card = next(cards)
            hands[step.hand].append(card)
            plays.append(card)
        elif isinstance(step, Choose):
            third = hands["player"][2].points if len(hands["player"]) == 3 else None
            if len(step.options) == 1:
                plays += step.options
            elif step.hand == "player":
                plays.append(Call.HIT if play.player[points(hands["player"])] else Call.STAND)
            else:
                plays.append(Call.HIT if play.banker[points(hands["banker"]), third] else Call.STAND)
        else:
            plays.append(Call.REVEAL)
    return step


def up(play: Play) -> tuple[int, int]:
    """Deal a few cards in every order, and let `play` make every choice. Return the total gains of Player and Banker,
    counted in halves of a stake."""
    each = [STAKE[played(six, play).outcome] for six in permutations(FEW, 6)]
    return sum(player for player, _ in each), sum(banker for _, banker in each)


@cache
def of_few() -> tuple[Round, Play, bool]:
    return told_apart_on(range(3, 7))


def told_apart_on(totals: Iterable[int]) -> tuple[Round, Play, bool]:
    """Compute the rounds of a few cards, their best play, and whether that best play is certain. Hands with the same
    total but different cards are counted separately if the total is in `totals`."""
    winner = bet(BETS, "player")
    of = Round(kinds(sight(winner), GAME.naturals, frozenset(totals)), shoe(), GAME)
    player, banker = (of.values(winner, [Fraction(n) for n in net]) for net in ((2, -1, -2), (-2, -1, 2)))
    return of, *best_play(player, banker)


def shoe() -> Shoe:
    return Counter(FEW)


def test_the_rounds_of_few_cards_are_counted_as_they_are_played() -> None:
    of, play, is_settled = of_few()
    assert is_settled
    came = Counter(played(six, play).outcome for six in permutations(FEW, 6))
    rows = of.by_row(bet(BETS, "player"), of.under(play))
    assert (rows[0], rows[1], rows[None]) == (came[Outcome.PLAYER], came[Outcome.TIE], came[Outcome.BANKER])


def test_cards_make_no_difference_on_a_total_on_which_nobody_chooses() -> None:
    tie = bet(BETS, "tie")
    (joined, play, _), (apart, same_play, _) = of_few(), told_apart_on(range(10))
    assert play == same_play
    assert joined.by_row(tie, joined.under(play)) == apart.by_row(tie, apart.under(play))
    assert joined.bounds(tie, [Fraction(8), Fraction(-1)]) == apart.bounds(tie, [Fraction(8), Fraction(-1)])


def test_neither_seat_gains_by_another_choice() -> None:
    _, play, _ = of_few()
    player, banker = up(play)
    for choice in list(play.player)[: 2 if at_length else 1]:
        assert up(replace(play, player=play.player | {choice: not play.player[choice]}))[0] <= player
    for turn in list(play.banker)[: 2 if at_length else 1]:
        assert up(replace(play, banker=play.banker | {turn: not play.banker[turn]}))[1] <= banker


def test_no_play_goes_beyond_the_bounds() -> None:
    of, play, _ = of_few()
    tie, random = bet(BETS, "tie"), Random(5)
    least, most = of.bounds(tie, [Fraction(8), Fraction(-1)])
    assert least < most
    for _ in range(3 if at_length else 1):
        player = {choice: random.random() < 0.5 for choice in play.player}
        any_play = Play(player, {turn: random.random() < 0.5 for turn in play.banker})
        ties = sum(played(six, any_play).outcome is Outcome.TIE for six in permutations(FEW, 6))
        assert least <= 1 - Fraction(9 * ties, perm(len(FEW), 6)) <= most


def test_where_choices_stay_open_only_bounds_are_told() -> None:
    """If Player had a choice and stood, and Banker then has a choice too, the par sheet gives only bounds and no exact
    figure. In this case each side's best choice depends on the choice of the other side."""
    free = tuple(replace(row, player_stood="choose") for row in GAME.banker)
    found = solved(replace(GAME, banker=free), BETS, Counter(OPEN))
    assert found.play is None
    for odds in found.bets:
        assert odds.outcomes == ()
        assert odds.bounds is not None
        assert odds.bounds[0] < odds.bounds[1]


def test_a_gamblers_bet_that_pays_to_play_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    """The command `check` warns of a bet on which the house loses money on average. By the printed sheet Banker draws
    to 6 after Player stood. This costs Banker so much that Player's bet, paid at even money, wins from the house."""
    table = Path(__file__).parents[2] / "config" / "tables" / "baccarat_royal.toml"
    assert main(["check", str(table)]) == 0
    told = capsys.readouterr().out
    assert "warning: the house loses on player: its edge is -3.75419%" in told
    assert "house edges: stake at the seat that is Player 0.579%, " in told
