"""The odds of Baccarat Royal: the best play of the two active seats, and what every wager is worth under that play.

An active seat decides by its own cards. The seat that is Banker also knows Player's third card. A choice is settled if
one answer is better whatever the opposite seat may still do. Settled choices can settle further choices, and so on. If
every choice is settled, one play is left, in which each side's play is best against the opposite side's. If choices
stay open, the program claims no best play. The bounds of a bet's house edge hold for any play, even if the seats see
each other's cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import lcm, perm
from operator import mul

from msgspec import Struct, field

from controller.basics.errors import TableError
from controller.people.par.counting import NAMES, Alike, Deal, Draws, Kinds, Names, Two, deals, kinds
from controller.people.par.odds import CARDS, Counted, Odds, by_cards, outcomes
from controller.people.par.shoe import Shoe
from controller.people.par.sights import sight
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.bets import Bet
from controller.rules.game.cards import WORTH
from controller.rules.game.hands import Hand
from controller.rules.game.play import Call
from controller.table.rules import Seat

Points = tuple[int, ...]
"""The points of a hand's first two cards, the lower first; their total alone where nobody chooses on that total."""

Turn = tuple[Points, int | None]
"""What Banker decides by: Banker's cards, and the points of Player's third card, or None where Player stood."""


class Play(Struct, frozen=True):
    """A way to play the two active seats of Baccarat Royal. `player` and `banker` map each situation in which the seat
    may choose to True (the seat draws) or False (it stands). A situation that is missing is not settled yet."""

    player: dict[Points, bool] = field(default_factory=dict)
    banker: dict[Turn, bool] = field(default_factory=dict)


class _AnyPlay:
    """Says which hands may take a third card by the rules of Baccarat Royal, with both answers if a seat may choose.
    The rules are evaluated once for each total."""

    def __init__(self, game: BaccaratRoyal) -> None:
        self._game, self._naturals = game, frozenset(game.naturals)
        self._players, self._bankers = cache(self._player_draws), cache(self._banker_draws)

    def player(self, player: Two, banker: Two) -> Collection[bool]:
        return (False,) if self.natural(player, banker) else self._players(player.total)

    def banker(self, player: Two, banker: Two, third: int | None) -> Collection[bool]:
        return (False,) if self.natural(player, banker) else self._bankers(banker.total, third)

    def natural(self, player: Two, banker: Two) -> bool:
        """Tell whether Player's or Banker's first two cards are a natural, so that nobody draws."""
        return player.total in self._naturals or banker.total in self._naturals

    def chosen_on(self) -> frozenset[int]:
        """Return the totals with which Player or Banker may choose whether to draw. With these totals the two cards
        themselves matter; with all others only the total matters."""
        thirds = (None, *range(10))
        below = set(range(10)) - self._naturals
        banker_chooses = {each for each in below for third in thirds if len(self._bankers(each, third)) > 1}
        return frozenset(banker_chooses | {each for each in below if len(self._players(each)) > 1})

    def _player_draws(self, total_: int) -> Collection[bool]:
        return [call is Call.HIT for call in self._game.player_options((WORTH[0], WORTH[total_]))]

    def _banker_draws(self, total_: int, third: int | None) -> Collection[bool]:
        card = None if third is None else WORTH[third]
        return [call is Call.HIT for call in self._game.banker_options((WORTH[0], WORTH[total_]), card)]


def draws(game: BaccaratRoyal) -> Draws:
    """Return who may take a third card in Baccarat Royal, by the rules or by a free choice."""
    return _AnyPlay(game)


_Ends = dict[bool, dict[int, int]]
"""By whether Banker draws, the deals that follow: how many there are of each sort, by the sort's number."""

_Tree = dict[Points, dict[bool, dict[Turn, _Ends]]]
"""By Player's cards, then by whether Player draws, then by Banker's turn."""


Net = Sequence[Fraction]
"""By row, what the bettor gains for each unit staked. The last value is for no row."""


class Round:
    """All deals (orders of the cards) of one round of Baccarat Royal. The deals are grouped in two ways: by the choices
    that lead to them, and by sort. Two deals are of one sort if the bets cannot tell them apart."""

    def __init__(self, of: Kinds, shoe: Shoe, game: BaccaratRoyal) -> None:
        self._of = of
        self._deals = perm(sum(shoe.values()), 6)
        self._sorts: dict[Alike, int] = {}
        self._naturals: dict[int, int] = {}
        self._tree: _Tree = {}
        self._examples: dict[Alike, Deal] = {}
        any_play = _AnyPlay(game)
        for deal in deals(of, of.in_shoe(shoe), any_play):
            alike = of.seen(deal)
            if alike not in self._examples:
                self._sorts[alike], self._examples[alike] = len(self._sorts), deal
            sort = self._sorts[alike]
            sorts = self._naturals
            if not any_play.natural(deal.player, deal.banker):
                third = None if deal.player_third is None else of.points[deal.player_third]
                turns = self._tree.setdefault(_points(deal.player), {}).setdefault(third is not None, {})
                ends = turns.setdefault((_points(deal.banker), third), {})
                sorts = ends.setdefault(deal.banker_third is not None, {})
            sorts[sort] = sorts.get(sort, 0) + deal.ways

    def under(self, play: Play) -> Counter[int]:
        """Count the deals that happen if the active seats follow `play`, which must leave no choice open. The result
        maps the number of each sort (deals that the bets cannot tell apart) to a count."""
        found = Counter(self._naturals)
        for points, drawn in self._tree.items():
            for draws, turns in drawn.items():
                for turn, ends in turns.items():
                    for also, sorts in ends.items():
                        if play.player.get(points, draws) is draws and play.banker.get(turn, also) is also:
                            found.update(sorts)
        return found

    def by_row(self, bet: Bet, under: Mapping[int, int], names: Names = NAMES) -> Counter[int | None]:
        """Count how many deals each row of the bet's pay table decides. The key None counts the deals that no row
        decides. `under` maps the number of each sort (deals that the bets cannot tell apart) to its number of deals."""
        decides, rows = self._rows(bet, names), Counter[int | None]()
        for sort, ways in under.items():
            rows[decides[sort]] += ways
        return rows

    def bounds(self, bet: Bet, net: Net, names: Names = NAMES) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest house edge that the bet can have, whatever the active seats choose. Both
        are fractions of the stake. `net` holds the bettor's gain for each row of the pay table."""
        values = [
            [[ends.values() for ends in turns.values()] for turns in drawn.values()]
            for drawn in self.values(bet, net, names).values()
        ]
        worth = self._worth(bet, net, names)
        fixed = _summed(worth, self._naturals)
        most = fixed + sum(max(sum(map(max, turns)) for turns in drawn) for drawn in values)
        least = fixed + sum(min(sum(map(min, turns)) for turns in drawn) for drawn in values)
        units = self._deals * _parts(net)
        return Fraction(-most, units), Fraction(-least, units)

    def values(self, bet: Bet, net: Net, names: Names = NAMES) -> _Values:
        """Return, for each combination of the active seats' choices, what the bettor gains in total by the deals that
        follow. `net` holds the bettor's gain for each row of the pay table. The unit of the result is one stake divided
        by `_parts(net)`, so that all values are whole numbers."""
        worth = self._worth(bet, net, names)
        return {
            points: {
                draws: {
                    turn: {also: _summed(worth, sorts) for also, sorts in ends.items()} for turn, ends in turns.items()
                }
                for draws, turns in drawn.items()
            }
            for points, drawn in self._tree.items()
        }

    def _worth(self, bet: Bet, net: Net, names: Names) -> list[int]:
        """Return a list of what the bettor gains by one deal of each sort (deals that the bets cannot tell apart).
        `net` holds the bettor's gain for each row of the pay table. The unit is one stake divided by `_parts(net)`."""
        whole = [int(each * _parts(net)) for each in net]
        return [whole[-1 if row is None else row] for row in self._rows(bet, names)]

    def _rows(self, bet: Bet, names: Names) -> list[int | None]:
        """Return, for each sort of deal (deals that the bets cannot tell apart), the row of the pay table that decides
        the bet."""
        row_of = self._of.rows(bet, self._examples, names)
        return [row_of[alike] for alike in self._sorts]


def _points(two: Two) -> Points:
    return two.points or (two.total,)


def _summed(worth: Sequence[int], sorts: Mapping[int, int]) -> int:
    return sum(map(mul, map(worth.__getitem__, sorts), sorts.values()))


def _parts(net: Net) -> int:
    """Return the common denominator of the gains in `net`, each a fraction of one stake. Example: 20 if the only
    fraction is 19/20. Every gain times this number is a whole number."""
    return lcm(*(each.denominator for each in net))


_Values = dict[Points, dict[bool, dict[Turn, dict[bool, int]]]]


def best_play(player: _Values, banker: _Values) -> tuple[Play, bool]:
    """Find the best play of the two active seats. Returns two values: the choices that could be settled, and whether
    every choice was settled. `player` and `banker` hold what each of the two seats gains by each combination of
    choices."""
    play = Play()
    free = [points for points, drawn in player.items() if len(drawn) > 1]
    turns = {
        turn: [(points, drawn) for points, drawn in banker.items() if turn in drawn.get(turn[1] is not None, {})]
        for turn in dict.fromkeys(
            turn for drawn in banker.values() for of in drawn.values() for turn, ends in of.items() if len(ends) > 1
        )
    }
    while True:
        settled_players = {
            points: choice
            for points in free
            if points not in play.player and (choice := _settled(_by_drawing(player[points], play))) is not None
        }
        settled_turns = {
            turn: choice
            for turn, against in turns.items()
            if turn not in play.banker and (choice := _settled(_by_also_drawing(turn, against, play))) is not None
        }
        if not settled_players and not settled_turns:
            return play, len(play.player) == len(free) and len(play.banker) == len(turns)
        play = Play(play.player | settled_players, play.banker | settled_turns)


_Range = tuple[int, int]


def _settled(gain: _Range) -> bool | None:
    least, most = gain
    return True if least >= 0 else False if most <= 0 else None


def _by_drawing(drawn: Mapping[bool, Mapping[Turn, Mapping[bool, int]]], play: Play) -> _Range:
    """Return the least and the most that Player's seat can gain by drawing rather than standing. The exact gain depends
    on the choices that `play` still leaves open to Banker's seat. `drawn` maps whether Player draws, then Banker's
    situation, then whether Banker draws, to Player's gain."""
    least = most = 0
    for draws, turns in drawn.items():
        for turn, ends in turns.items():
            open_ = [value if draws else -value for also, value in ends.items() if play.banker.get(turn, also) is also]
            least, most = least + min(open_), most + max(open_)
    return least, most


def _by_also_drawing(
    turn: Turn, against: Sequence[tuple[Points, Mapping[bool, Mapping[Turn, Mapping[bool, int]]]]], play: Play
) -> _Range:
    """Return the least and the most that Banker's seat can gain, in the situation `turn`, by drawing rather than
    standing. The exact gain depends on the choices that `play` still leaves open to Player's seat."""
    least = most = 0
    draws = turn[1] is not None
    for points, drawn in against:
        if play.player.get(points, draws) is not draws:
            continue
        gain = drawn[draws][turn][True] - drawn[draws][turn][False]
        is_open = len(drawn) > 1 and points not in play.player
        least += min(gain, 0) if is_open else gain
        most += max(gain, 0) if is_open else gain
    return least, most


class Solved(Struct, frozen=True):
    """The odds of the bets of Baccarat Royal, and the best play of its active seats. `play` is None if no best play was
    found."""

    bets: tuple[Odds, ...]
    play: Play | None


OWN: Mapping[Hand, Names] = {
    Hand.PLAYER: (("player", "own"), ("banker",)),
    Hand.BANKER: (("player",), ("banker", "own")),
}
"""An active seat's names for the two hands."""


def solved(game: BaccaratRoyal, bets: Sequence[Bet], shoe: Shoe) -> Solved:
    """Return what each bet is worth under the best play of the two active seats, and the bounds of its house edge under
    any play.

    Raises TableError `par_not_counted` if the game has no bet of the active seats against each other.
    """
    stake = next((bet for bet in bets if bet.between_actives), None)
    if stake is None:
        do = "Add the bet of the active seats against each other: between_actives = true."
        raise TableError("par_not_counted", "The active seats have no stakes, so they have no best play.", do)
    sights = {bet: sight(bet) for bet in bets}
    chosen_on = _AnyPlay(game).chosen_on()
    rounds = {seen: Round(kinds(seen, game.naturals, chosen_on), shoe, game) for seen in dict.fromkeys(sights.values())}
    net = [ending.net for ending in outcomes(stake, {})]
    play, settled = best_play(*(rounds[sights[stake]].values(stake, net, names) for names in OWN.values()))
    under = {seen: of.under(play) if settled else Counter[int]() for seen, of in rounds.items()}
    roles = {(f"the seat that is {role.capitalize()}",): names for role, names in OWN.items()}
    found = []
    for bet, seen in sights.items():
        for seats, names in roles.items() if bet is stake else [((), NAMES)]:
            ends = outcomes(bet, rounds[seen].by_row(bet, under[seen], names))
            bounds = rounds[seen].bounds(bet, [ending.net for ending in ends], names)
            found.append(Odds(bet.spot, seats, ends if settled else (), bounds))
    return Solved(tuple(found), play if settled else None)


def play_lines(play: Play) -> Iterator[str]:
    """Yield the play of the active seats in words, with one line for each total with which a seat may choose."""
    players: dict[int, dict[bool, list[str]]] = {}
    for points, draws in sorted(play.player.items()):
        players.setdefault(sum(points) % 10, {}).setdefault(draws, []).append(_cards(points))
    for total, choices in sorted(players.items()):
        yield f"Player on {total} {_choices(choices)}"
    turns: dict[int, dict[str, dict[bool, list[str]]]] = {}
    for (points, third), draws in sorted(play.banker.items(), key=str):
        by_third = turns.setdefault(sum(points) % 10, {}).setdefault("none" if third is None else str(third), {})
        by_third.setdefault(draws, []).append(_cards(points))
    for total, of_total in sorted(turns.items()):
        thirds: dict[str, list[str]] = {}
        for after, with_cards in of_total.items():
            thirds.setdefault(_choices(with_cards), []).append(after)
        each = (f"{does} after a third card of {', '.join(which)}" for does, which in thirds.items())
        yield f"Banker on {total} {'; '.join(each)}"


def _cards(points: Points) -> str:
    return "-".join(map(str, points))


def _choices(choices: Mapping[bool, Sequence[str]]) -> str:
    """Return in words what a seat does with one total: the choice for most pairs of cards, and then the pairs with
    which the seat chooses the opposite. Example: "draws, but stands with 2-3"."""
    most, *others = sorted(choices, key=lambda draws: -len(choices[draws]))
    words = {True: "draws", False: "stands"}
    return words[most] + "".join(f", but {words[other]} with {' and '.join(choices[other])}" for other in others)


_BOUNDS = "The bounds of a bet hold whatever the active seats choose, also if they saw each other's cards."
_BEST_PLAY = (
    "The active seats play as well as they can: each by its own cards, and Banker by Player's third card too. That "
    "play was found exactly, by iterated dominance: each choice is the better one against everything that the other "
    "seat may still do, so neither seat gains by another choice. What a seat loses of its stake goes to the other "
    f"seat, and on a tie to the house. {_BOUNDS}"
)
_NO_PLAY = f"No best play of the active seats was found by iterated dominance, so there are only bounds. {_BOUNDS}"


def counted(game: BaccaratRoyal, seats: Sequence[Seat], bets: Sequence[Bet], shoe: Shoe) -> Counted:
    """Return what each bet of Baccarat Royal is worth under the best play of the active seats. If no best play was
    found, each bet has only the bounds of its house edge."""
    both = solved(game, (*bets, CARDS), shoe)
    *found, cards = both.bets
    if both.play is None:
        return Counted(tuple(found), dict, method=_NO_PLAY)
    ways: dict[int | None, int] = {row: each.ways for row, each in enumerate(cards.outcomes)}
    return Counted(tuple(found), lambda: by_cards(ways), tuple(play_lines(both.play)), _BEST_PLAY)
