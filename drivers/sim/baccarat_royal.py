"""The simulated house's own reading of the Baccarat Royal sheet (002), both as printed and as corrected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt, Felt
from drivers.sim.punto_banco import two_hands_told
from drivers.sim.wagers import Actives, Bets, Wager

# The drawing tables, by the total of the hole cards. In Banker's tables the column `s` is for a Player who stood, the
# other columns are for the value of Player's third card. D: draws. c: free choice.
_PLAYER = "DDDcccc."
_AS_PRINTED = """
      s 0123456789
    0 D DDDDDDDDDD
    1 D DDDDDDDDDD
    2 D DDDDDDDDDD
    3 . cc......cc
    4 . cc......cc
    5 D ccccDDDDcc
    6 D ccccDDDDcc
    7 . ..........
"""
_CORRECTED = """
      s 0123456789
    0 D DDDDDDDDDD
    1 D DDDDDDDDDD
    2 D DDDDDDDDDD
    3 D ccDDDDDDcc
    4 D ccDDDDDDcc
    5 D ccccDDDDcc
    6 . ccccDDDDcc
    7 . ..........
"""
_OPTIONS = {"D": ("hit",), ".": ("stand",), "c": ("hit", "stand")}


@dataclass(frozen=True)
class BaccaratRoyal:
    """The game, with Banker's table as printed or as corrected. `bets` as the game file has them."""

    bets: Sequence[Mapping[str, Any]]
    corrected: bool = False

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round between the two active seats."""
        assert bets is not None, "a round needs its players"
        assert bets.actives is not None, "a round needs its active seats"
        player, banker = self.played(felt, bets.actives)
        paid = self._pay(bets, {"player": player, "banker": banker})
        told = two_hands_told(player, banker) | book.awards(self.bets, bets, {"player": player, "banker": banker}, {})
        told |= {
            "dragon_bonus": None,
            "actives": {"player": bets.actives.player, "banker": bets.actives.banker},
            "settlement": cashier.settlement(paid),
        }
        return Dealt(rules.outcome(player, banker), told)

    def played(self, felt: Felt, actives: Actives) -> tuple[list[str], list[str]]:
        """Player's hand and Banker's, as the two active seats play them."""
        banker = [felt.card("banker"), felt.card("banker")]
        player = [felt.card("player"), felt.card("player")]
        if not (rules.is_natural(player) or rules.is_natural(banker)):
            if felt.choice(actives.player, player_options(player), rules.total(player)) == "hit":
                player.append(felt.card("player"))
            felt.reveal("banker")
            options = banker_options(banker, player, corrected=self.corrected)
            must = options[0] if len(options) == 1 else None
            if (must or felt.choice(actives.banker, options, rules.total(banker))) == "hit":
                banker.append(felt.card("banker"))
            felt.reveal("player")
        return player, banker

    def _pay(self, bets: Bets, hands: book.Hands) -> list[Paid]:
        """Pay every wager of a round: the active seats play against each other, the other seats against the house."""
        of = {bet["spot"]: bet for bet in self.bets}
        return [
            _stake(bets, of["stake"], wager, hands)
            if wager.spot == "stake"
            else book.pay(of[wager.spot], wager, hands, {})
            for wager in bets.standing or ()
        ]


def player_options(hole_cards: list[str]) -> tuple[str, ...]:
    """What Player may call. A single option is what Player must do."""
    return _OPTIONS[_PLAYER[rules.total(hole_cards)]]


def banker_options(hole_cards: list[str], player: list[str], *, corrected: bool) -> tuple[str, ...]:
    """What Banker may call once Player has two or three cards. A single option is what Banker must do."""
    rows = (_CORRECTED if corrected else _AS_PRINTED).strip().splitlines()[1:]
    row = rows[rules.total(hole_cards)].split(maxsplit=1)[1].replace(" ", "")
    return _OPTIONS[row[1 + rules.points(player[2]) if len(player) == 3 else 0]]


def _stake(bets: Bets, bet: Mapping[str, Any], wager: Wager, hands: book.Hands) -> Paid:
    """The active seats play for the smaller stake. What a stake has more than that goes back."""
    assert bets.actives is not None
    others = [other.cents for other in bets.on("stake") if other.seat != wager.seat]
    if not others:
        return Paid(wager, "returned", wager.cents)
    plays = min(wager.cents, *others)
    own = hands["player" if wager.seat == bets.actives.player else "banker"]
    paid = book.pay(bet, replace(wager, cents=plays), {**hands, "own": own}, {})
    return replace(paid, wager=wager, back=paid.back + wager.cents - plays)


def rotated(actives: Actives, outcome: str, occupied: Collection[int]) -> Actives:
    """Who is active in the next round: the loser's position goes clockwise to the next seat without a role.

    On a tie both positions move on by one occupied seat. Where the two active seats are neighbours, they swap.
    """
    if outcome == "tie":
        return Actives(*(_one_on(seat, occupied) for seat in actives.both))
    loser = actives.banker if outcome == "player" else actives.player
    without = set(occupied) - set(actives.both)
    to = _one_on(loser, without) if without else loser
    return Actives(actives.player, to) if outcome == "player" else Actives(to, actives.banker)


def _one_on(start: int, seats: Collection[int]) -> int:
    """The first of these seats, going clockwise from `start`."""
    ring = sorted({*seats, start})
    return ring[(ring.index(start) + 1) % len(ring)]
