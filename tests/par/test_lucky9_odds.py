"""Checks of the best play that the par sheet computes for a seat at Lucky 9. The checks play every round of a few cards
with every possible call."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from math import perm
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from msgspec.structs import replace

from controller.people.cli import programs
from controller.people.cli.main import main
from controller.people.cli.par import edge_lines
from controller.people.par.lucky9 import Seat
from controller.people.par.lucky9 import best as best_of_seat
from controller.people.par.sheet import Par, par, subject
from controller.people.par.shoe import fresh
from controller.rules.game.bets import Bet, Finished, HandIs, Row, When, deciding
from controller.rules.game.cards import Card
from controller.rules.game.hands import SeatHands
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call, Choose, Draw, Play
from controller.rules.game.seating import Seating
from tests.support.best_play import lucky9_call, lucky9_splits_again
from tests.support.bets import bet
from tests.support.tables import LUCKY9

assert isinstance(LUCKY9.play, Lucky9)
GAME = replace(LUCKY9.play, most_splits=2)
SEAT = Seating(in_play=(1,))
HAND, TIE = bet(LUCKY9.bets, "hand"), bet(LUCKY9.bets, "tie")
FACE_DOWN = Card.parse("2S")
"""In place of the dealer's face-down card, until it is turned up."""


@dataclass
class Calls:
    """A second way to compute what a bettor gains on one bet of Lucky 9: try every call at every turn, over every order
    of a few cards.

    `pick` chooses one call at a turn from the average gains of all possible calls, for example the largest.
    """

    game: Lucky9
    few: Counter[Card]
    bet: Bet
    pick: Callable[[Iterable[Fraction]], Fraction] = max

    def up(self, plays: Sequence[Play]) -> Fraction:
        """Return what the bettor gains on average after these plays (cards and calls). The second card in `plays` is
        the dealer's face-down card, so the function does not use it."""
        step = self.game.next_step(SEAT, plays)
        if isinstance(step, Choose):
            return self.pick(self.up([*plays, call]) for call in step.options)
        if isinstance(step, Draw) and step.hand != "dealer":
            return mean(self._left(plays), lambda card: self.up([*plays, card]))
        return mean(self._left(plays), lambda card: self._dealt_out([plays[0], card, *plays[2:], Call.REVEAL]))

    def _left(self, plays: Sequence[Play], face_down: int = 1) -> Counter[Card]:
        seen = [play for place, play in enumerate(plays) if isinstance(play, Card) and place != face_down]
        return self.few - Counter(seen)

    def _dealt_out(self, plays: Sequence[Play]) -> Fraction:
        step = self.game.next_step(SEAT, plays)
        if isinstance(step, Draw):
            return mean(self._left(plays, face_down=-1), lambda card: self._dealt_out([*plays, card]))
        assert isinstance(step, SeatHands)
        hands = self.game.seen(step, SEAT, 1, (None, ()))
        return sum((up(deciding(self.bet, seen)) for seen in self._decide(hands)), Fraction())

    def _decide(self, hands: tuple[Finished, ...]) -> tuple[Finished, ...]:
        """Return the hands of the seat that decide the bet: every hand, or only the leftmost, or only the last one, as
        the bet's rules say."""
        if self.bet.each_hand:
            return hands
        return hands[:1] if self.bet.after_split == "leftmost" else hands[-1:]


def up(row: Row | None) -> Fraction:
    return Fraction(-1) if row is None or row.result == "lose" else row.pays or Fraction()


def mean(each: Counter[Any], worth: Callable[[Any], Fraction]) -> Fraction:
    return sum((many * worth(one) for one, many in each.items()), Fraction()) / each.total()


MANY_SPLITS = "5S 5H 5D 5C 4C 4S KH 3D AS 8D"
FEW = "8S 8H 8D KC KS QH AD 6S 6H"
SAME = "8S 8S KS KS 6S AS 3S"
EIGHTS = "8S 8S 8S 8S 5S 5S 9S 9S QS"
"""Whether a new pair of eights is split again hangs here on the cards drawn."""


RANKED = replace(
    HAND,
    rows=(
        Row(When(winner=("own",), own=HandIs(third=("8", "A"))), pays=Fraction(5)),
        Row(When(own=HandIs(first_two=(("8",), ("6", "A")), first_two_total=(4, 9))), pays=Fraction(2)),
        *HAND.rows,
    ),
)
"""A house's own hand that names ranks: an eight or an ace as the third card, and an eight with a 6 or an ace."""


@pytest.mark.parametrize(
    ("few", "hand"), [(FEW, HAND), (SAME, RANKED), pytest.param(MANY_SPLITS, HAND, marks=pytest.mark.proof)]
)
def test_the_best_play_is_worth_what_every_call_comes_to(few: str, hand: Bet) -> None:
    cards = [Card.parse(card) for card in few.split()]
    game = replace(GAME, most_splits=GAME.most_splits - (few == SAME))
    seat, calls = best_of_seat(game, (hand,), Counter(cards)).seat, Calls(game, Counter(cards), hand)
    deals = perm(len(cards) - 3, game.most_cards(1) - 3) * seat.hand.parts
    pairs = [turn for turn in seat.turns if turn.first.rank == turn.second.rank]
    for turn in [*pairs[:3], *list(seat.turns)[::25]]:
        rest, dealt = list(cards), []
        for of in (turn.first, turn.second, turn.up):
            dealt.append(next(card for card in rest if card.rank == of.rank))
            rest.remove(dealt[-1])
        spot = seat.turns[turn]
        worth = seat.worth(spot, seat.play[spot])
        assert Fraction(worth, deals) == calls.up([dealt[0], FACE_DOWN, dealt[1], dealt[2]]), turn


@dataclass
class Played:
    """The results of dealing a few cards in every order, by the rules and with the best calls: how often the round
    ended in each way."""

    seat: Seat
    rows: dict[object, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    split: dict[Fraction, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    ties: dict[object, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    cards: dict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    dealers: Fraction = Fraction()

    def out(self, few: Counter[Card], plays: Sequence[Play], often: Fraction) -> None:
        step = GAME.next_step(SEAT, plays)
        if isinstance(step, SeatHands):
            self._end(step, often)
        elif isinstance(step, Draw):
            for card, many in few.items():
                self.out(few - Counter([card]), [*plays, card], often * many / few.total())
        else:
            self.out(few, [*plays, self._call(step, plays) if isinstance(step, Choose) else Call.REVEAL], often)

    def _call(self, choose: Choose, plays: Sequence[Play]) -> Call:
        first, _, second, up = (play for play in plays[:4] if isinstance(play, Card))
        if len(plays) == 4:
            return lucky9_call(self.seat, first, second, up)
        *hands, _ = GAME.laid(SEAT, plays)
        done = next(place for place, hand in enumerate(hands) if hand.hand == choose.hand)
        drawn = [hand.cards[1] for hand in hands[:done]]
        return Call.SPLIT if lucky9_splits_again(self.seat, first, up, drawn, len(hands)) else Call.STAND

    def _end(self, done: SeatHands, often: Fraction) -> None:
        seen = GAME.seen(done, SEAT, 1, (None, ()))
        rows = [deciding(HAND, each) for each in seen]
        if len(rows) == 1:
            self.rows[None if rows[0] is None else HAND.rows.index(rows[0])] += often
        else:
            self.split[sum(map(up, rows), Fraction())] += often
        self.ties[deciding(TIE, seen[0])] += often
        self.cards[sum(len(hand.cards) for hand in done.hands)] += often
        self.dealers += often * len(done.dealer)


@pytest.mark.parametrize("few", [EIGHTS, pytest.param(FEW, marks=pytest.mark.proof)])
def test_every_end_of_a_few_cards_is_counted(few: str) -> None:
    """The par sheet counts every way in which a round of a few cards can end, and how often it comes. The bets are the
    wager on the hand, with and without a split, and the tie bet, which the leftmost hand decides."""
    cards = Counter(map(Card.parse, few.split()))
    played = Played(Seat(GAME, HAND, cards))
    played.out(cards, [], Fraction(1))
    assert played.split, "these cards are split"
    found = best_of_seat(GAME, LUCKY9.bets, cards)
    tie, hand, _ = found.bets
    assert {each.deals for each in found.bets} == {perm(cards.total(), GAME.most_cards(1))}
    *_, lost = alone = hand.outcomes[: len(HAND.rows) + 1]
    for place, each in enumerate(alone):
        assert Fraction(each.ways, hand.deals) == played.rows[None if each is lost else place]
    together = {each.net: Fraction(each.ways, hand.deals) for each in hand.outcomes[len(alone) :]}
    assert {net: often for net, often in together.items() if often} == played.split
    assert Fraction(tie.outcomes[0].ways, tie.deals) == played.ties[TIE.rows[0]]
    assert found.by_cards == {many: often for many, often in sorted(played.cards.items()) if often}
    assert found.dealers == played.dealers


def test_the_order_of_dealing_changes_no_figure() -> None:
    cards = Counter(map(Card.parse, EIGHTS.split()))
    found = best_of_seat(GAME, LUCKY9.bets, cards)
    otherwise = replace(GAME, deal_order="dealer_first", first_seat="highest", dealer_shows="first_card")
    assert best_of_seat(otherwise, LUCKY9.bets, cards).bets == found.bets
    mirrored, rightmost = replace(GAME, split_order="rightmost_first"), replace(TIE, after_split="rightmost")
    assert best_of_seat(mirrored, (rightmost, HAND), cards).bets[0].outcomes == found.bets[0].outcomes
    for game, tie in ((GAME, rightmost), (mirrored, TIE), (GAME, replace(TIE, after_split="best"))):
        assert best_of_seat(game, (tie, HAND), cards).left_out == ("tie",)


@pytest.fixture(scope="module")
def without_the_tie_bet(tmp_path_factory: pytest.TempPathFactory) -> Par:
    """Return the odds of the example game with a changed tie bet, whose odds the program cannot count."""
    text = programs.example_game("lucky9").read_text("utf-8")
    game = tmp_path_factory.mktemp("lucky9") / "game.toml"
    game.write_text(text.replace('after_split = "leftmost"', 'after_split = "best"'), "utf-8")
    return par(subject(game))


def test_a_shoe_is_as_long_as_its_seats_let_it(without_the_tie_bet: Par) -> None:
    """A shoe has fewer rounds if more seats play, because at Lucky 9 each seat's hand takes cards, and so does the
    dealer's."""
    one, two, *_, seven = without_the_tie_bet.hands
    assert [hands.seats for hands in (one, two, seven)] == [1, 2, 7]
    a_seat = two.cards_a_round - one.cards_a_round
    assert a_seat == sum(cards * often for cards, often in one.by_cards.items())
    assert seven.cards_a_round == one.cards_a_round + 6 * a_seat
    assert seven.fewest < seven.about < seven.most < one.about


def test_check_names_a_bet_that_is_not_counted(without_the_tie_bet: Par) -> None:
    *_, edges = edge_lines(without_the_tie_bet, 1)
    assert edges.startswith("house edges: hand 1.2")
    assert edges.endswith(", tie not counted")


def test_a_hand_that_tells_a_king_from_a_ten_is_checked_and_its_odds_are_told_as_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command `check` accepts a bet on a hand that distinguishes a king from a ten, and warns that its odds are not
    counted. An earlier version ended with the error `par_not_counted`, as if the game file could not be used."""
    game = tomllib.loads(programs.example_game("lucky9").read_text("utf-8"))
    hand = next(bet for bet in game["bets"] if bet.get("each_hand"))
    hand["rows"].insert(0, {"when": {"winner": "own", "own": {"third": "K"}}, "pays": "2:1"})
    (tmp_path / "game.toml").write_text(tomli_w.dumps(game), "utf-8")
    assert main(["check", str(tmp_path / "game.toml")]) == 0
    warning, last = capsys.readouterr().out.splitlines()
    assert warning.startswith("warning: no odds are counted. Row 1 of hand tells cards of the same points apart")
    assert last.endswith("No mistakes, 1 warning.")
    hand["rows"].insert(1, hand["rows"][0])
    (tmp_path / "game.toml").write_text(tomli_w.dumps(game), "utf-8")
    assert main(["check", str(tmp_path / "game.toml")]) == 78
    assert "an earlier row holds too" in capsys.readouterr().err


def test_no_play_of_the_hand_takes_the_tie_bet_beyond_its_bounds() -> None:
    game, cards = replace(GAME, most_splits=1), list(map(Card.parse, SAME.split()))

    def farthest(pick: Callable[[Iterable[Fraction]], Fraction]) -> Fraction:
        calls = Calls(game, Counter(cards), TIE, pick)
        return mean(Counter(permutations(cards, 3)), lambda three: calls.up([three[0], FACE_DOWN, *three[1:]]))

    tie, *_ = best_of_seat(game, LUCKY9.bets, Counter(cards)).bets
    assert tie.bounds is not None
    assert tie.bounds == (-farthest(max), -farthest(min))
    assert tie.bounds[0] < tie.edge({}) < tie.bounds[1]


@pytest.mark.parametrize("pays", [pytest.param("1:1", marks=pytest.mark.proof), "97:101"])
def test_what_a_split_is_worth_is_what_its_ends_bring(pays: str) -> None:
    """The program computes the value of a split under the best play backwards, from the end of the round. The value
    equals the average result of all rounds that are played forwards with that play."""
    hand = next(each for each in LUCKY9.bets if each.each_hand)
    hand = replace(hand, rows=(*hand.rows[:-1], replace(hand.rows[-1], pays=Fraction(pays.replace(":", "/")))))
    game = LUCKY9.play
    assert isinstance(game, Lucky9)
    seat = Seat(game, hand, fresh(2))
    splits = {spot.pair: seat.splits(spot.pair) for spot in seat.threes if spot.pair is not None}
    assert len(splits) > 90
    for of in [*splits.values()][::12]:
        assert of.worth() == sum(gain * ways for (_, gain), ways in of.ends().items())
