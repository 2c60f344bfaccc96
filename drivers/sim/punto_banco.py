"""The rules of punto banco for the simulation. The tableau and the pay of the bets come from the game file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.felt import Dealt, Felt
from drivers.sim.house import CENTS_UP, Bet, Rounding, Row
from drivers.sim.wagers import Bets


class PuntoBanco(Struct, frozen=True):
    """The simulated game punto banco.

    `bets` are the bets of the game file, and `says` is the file's tableau. With `midi`, the cards lie face down until
    the players have squeezed them. `printed` holds the King and the 9 that are printed at each seat, such as `KS 9H`.
    """

    bets: Sequence[Bet] = ()
    says: rules.Drawing = rules.USUAL
    midi: bool = False
    printed: Mapping[int, str] = field(default_factory=dict)
    rounding: Rounding = CENTS_UP

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round of punto banco and return its result. `bets` is None for a round without wagers."""
        player: list[str] = []
        banker: list[str] = []
        hands = {"player": player, "banker": banker}
        while (side := rules.next_side(player, banker, self.says)) is not None:
            hands[side].append(felt.card(side))
            if self.midi and len(banker) >= 2:
                felt.reveal(*(hands if len(hands[side]) == 2 else (side,)))
        naturals = self.says.natural
        told = two_hands_json(player, banker, naturals)
        won = book.awards(self.bets, bets, hands, self.printed, naturals=naturals)
        told |= book.awards_json(self.bets, bets, won)
        told |= {
            "dragon_bonus": self._dragon_bonus(hands),
            "actives": None,
            "settlement": None,
        }
        if bets is None or bets.standing is None:
            return Dealt(rules.outcome(player, banker), told, awards=won)
        paid = [
            book.pay(self._bet(wager.spot), wager, hands, self.printed, rounding=self.rounding, naturals=naturals)
            for wager in bets.standing
        ]
        told |= {"settlement": cashier.settlement(paid)}
        return Dealt(rules.outcome(player, banker), told, cashier.owed(paid), won, paid)

    def _bet(self, spot: str) -> Bet:
        return next((bet for bet in self.bets if bet.spot == spot), Bet(spot))

    def _dragon_bonus(self, hands: book.Hands) -> dict[str, object] | None:
        """Return the result of the Dragon Bonus bet on each side, and the odds that it pays. Return None if the game
        does not have that bet."""
        if {"dragon_player", "dragon_banker"} - {bet.spot for bet in self.bets}:
            return None
        on_player, on_banker = (
            book.row_for(self._bet(f"dragon_{side}"), hands, naturals=self.says.natural) or Row()
            for side in ("player", "banker")
        )
        odds = on_player.pays or on_banker.pays
        return {
            "player": "win" if on_player.pays else on_player.result,
            "banker": "win" if on_banker.pays else on_banker.result,
            "pays_to_one": int(odds.removesuffix(":1")) if odds else None,
        }


def two_hands_json(player: list[str], banker: list[str], naturals: Collection[int]) -> dict[str, object]:
    """Return Player's and Banker's complete hands and the outcome, as a JSON object for the simulation's record."""
    return {
        "outcome": rules.outcome(player, banker),
        "player": rules.hand_json(player),
        "banker": rules.hand_json(banker),
        "natural": rules.is_natural(player, naturals) or rules.is_natural(banker, naturals),
        "margin": abs(rules.total(player) - rules.total(banker)),
        "pairs": {"player": rules.is_pair(player), "banker": rules.is_pair(banker)},
    }
