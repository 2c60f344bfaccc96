"""The rules of Baccarat Royal (rule sheet 002) for the simulation, written without code of the controller. The drawing
tables come from the game file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt, Felt
from drivers.sim.house import CENTS_UP, Bet, Rounding
from drivers.sim.punto_banco import two_hands_json
from drivers.sim.wagers import Actives, Bets, Wager

_MUST = {"draw": ("hit",), "stand": ("stand",), "choose": ("hit", "stand")}


class BankerRow(Struct, frozen=True):
    """One row of the table `[[baccarat_royal.banker]]` in a game file: when Banker must draw, must stand or may choose,
    for some totals of Banker's first two cards."""

    hole_cards: Sequence[int]
    free_choice_on: Sequence[int]
    all_other_cases: str
    player_stood: str


class Section(Struct, frozen=True):
    """The section `[baccarat_royal]` of a game file, which says how the game Baccarat Royal is dealt."""

    natural: Sequence[int]
    player_draws_on: Sequence[int]
    player_chooses_on: Sequence[int]
    banker: Sequence[Mapping[str, Any]]
    deal_order: str = "banker_first"
    on_win: str = "loser_to_free_seat"
    on_tie: str = "next_seat"


class BaccaratRoyal(Struct, frozen=True):
    """The simulated game Baccarat Royal. `bets` are the bets of the game file, and `says` is the file's section on how
    the game is dealt."""

    bets: Sequence[Bet]
    says: Section
    rounding: Rounding = CENTS_UP

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round of Baccarat Royal between the two active seats. Returns the round's result, and what every
        wager is paid."""
        assert bets is not None, "a round needs its players"
        assert bets.actives is not None, "a round needs its active seats"
        player, banker = self.played(felt, bets.actives)
        hands = {"player": player, "banker": banker}
        paid = self._pay(bets, hands)
        told = two_hands_json(player, banker, self.says.natural)
        won = book.awards(self.bets, bets, hands, {}, naturals=self.says.natural)
        told |= book.awards_json(self.bets, bets, won)
        told |= {
            "dragon_bonus": None,
            "actives": {"player": bets.actives.player, "banker": bets.actives.banker},
            "settlement": cashier.settlement(paid),
        }
        return Dealt(rules.outcome(player, banker), told, cashier.owed(paid), won, paid)

    def played(self, felt: Felt, actives: Actives) -> tuple[list[str], list[str]]:
        """Deal the cards of a round, and let the players of the two active seats choose whether to draw. Returns the
        cards of Player's hand and the cards of Banker's hand."""
        order = {"player_first": "ppbb", "alternating": "pbpb"}.get(self.says.deal_order, "bbpp")
        player: list[str] = []
        banker: list[str] = []
        for whose in order:
            (player if whose == "p" else banker).append(felt.card("player" if whose == "p" else "banker"))
        if not any(rules.is_natural(cards, self.says.natural) for cards in (player, banker)):
            if felt.choice(actives.player, player_options(player, self.says), rules.total(player)) == "hit":
                player.append(felt.card("player"))
            felt.reveal("banker")
            options = banker_options(banker, player, self.says)
            must = options[0] if len(options) == 1 else None
            if (must or felt.choice(actives.banker, options, rules.total(banker))) == "hit":
                banker.append(felt.card("banker"))
            felt.reveal("player")
        return player, banker

    def _pay(self, bets: Bets, hands: book.Hands) -> list[Paid]:
        """Return what every wager of a round is paid. The two active seats play against each other, and the other seats
        play against the house."""
        of = {bet.spot: bet for bet in self.bets}
        return [
            _stake(bets, of[wager.spot], wager, hands, self.rounding, self.says.natural)
            if wager.spot == "stake"
            else book.pay(of[wager.spot], wager, hands, {}, rounding=self.rounding, naturals=self.says.natural)
            for wager in bets.standing or ()
        ]


def player_options(hole_cards: list[str], says: Section) -> tuple[str, ...]:
    """Return what Player may do with these first two cards: "hit", "stand" or both. If there is only one option, Player
    must take it."""
    points = rules.total(hole_cards)
    chooses = "choose" if points in says.player_chooses_on else "stand"
    return _MUST["draw" if points in says.player_draws_on else chooses]


def banker_options(hole_cards: list[str], player: list[str], says: Section) -> tuple[str, ...]:
    """Return what Banker may do with these first two cards, after Player has got two or three cards: "hit", "stand" or
    both. If there is only one option, Banker must take it."""
    rows = (BankerRow(**row) for row in says.banker)
    (row,) = (row for row in rows if rules.total(hole_cards) in row.hole_cards)
    if len(player) == 2:
        return _MUST[row.player_stood]
    free = rules.points(player[2]) in row.free_choice_on
    return _MUST["choose" if free else row.all_other_cases]


def _stake(
    bets: Bets,
    bet: Bet,
    wager: Wager,
    hands: book.Hands,
    rounding: Rounding,
    naturals: Collection[int],
) -> Paid:
    """Return what the stake of an active seat is paid. The two active seats play for the smaller of their stakes. The
    rest of the larger stake goes back, unless the game file says that the house covers it. Example: with stakes of $50
    and $30, the seats play for $30, and $20 goes back. If the other active seat has no stake, the whole stake goes
    back."""
    assert bets.actives is not None
    others = [other.cents for other in bets.on("stake") if other.seat != wager.seat]
    if not others:
        return Paid(wager, "returned", wager.cents)
    plays = wager.cents if bet.unequal_stakes == "house_covers" else min(wager.cents, *others)
    own = hands["player" if wager.seat == bets.actives.player else "banker"]
    paid = book.pay(bet, replace(wager, cents=plays), {**hands, "own": own}, {}, rounding=rounding, naturals=naturals)
    return replace(paid, wager=wager, back=paid.back + wager.cents - plays)


def rotated(actives: Actives, outcome: str, occupied: Collection[int], says: Mapping[str, Any]) -> Actives:
    """Return the two active seats of the next round, after a round with this outcome. The game file's section `says`
    decides how the roles move after a win and after a tie."""
    on_win = says.get("on_win", "loser_to_free_seat")
    if outcome == "tie" or on_win == "both":
        return _both_on(actives, occupied, says.get("on_tie", "next_seat"))
    loser = actives.banker if outcome == "player" else actives.player
    winner = actives.player if outcome == "player" else actives.banker
    without = set(occupied) - {loser, *([winner] if on_win == "loser_to_free_seat" else [])}
    to = _one_on(loser, without) if without else loser
    if to == winner:  # the two seats change roles
        return Actives(actives.banker, actives.player)
    return Actives(actives.player, to) if outcome == "player" else Actives(to, actives.banker)


def _both_on(actives: Actives, occupied: Collection[int], on_tie: str) -> Actives:
    """Return the active seats after both roles have moved as `on_tie` says.

    With "next_seat", each role goes to the next occupied seat. With "nowhere", each role stays. With any other value,
    each role goes to the next occupied seat that has no role. The role that has the shorter way to such a seat moves
    first.
    """
    if on_tie == "nowhere":
        return actives
    if on_tie == "next_seat":
        return Actives(*(_one_on(seat, occupied) for seat in actives.both))
    free = sorted(set(occupied) - set(actives.both))
    going = {"player": actives.player, "banker": actives.banker}
    ring = sorted({*free, *going.values()})

    def to_walk(seat: int) -> int:
        return next((step for step in range(1, len(ring)) if ring[(ring.index(seat) + step) % len(ring)] in free), 0)

    for role in sorted(going, key=lambda role: to_walk(going[role])):
        if free:
            going[role] = _one_on(going[role], free)
            free.remove(going[role])
    return Actives(**going)


def _one_on(start: int, seats: Collection[int]) -> int:
    """Return the first of `seats` that follows the seat `start`, clockwise around the table."""
    ring = sorted({*seats, start})
    return ring[(ring.index(start) + 1) % len(ring)]
