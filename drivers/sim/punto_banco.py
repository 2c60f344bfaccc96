"""The simulated house deals punto banco as the game file says, and pays what the file's bets say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.felt import Dealt, Felt
from drivers.sim.house import CENTS_UP, Rounding
from drivers.sim.wagers import Bets


class PuntoBanco(Struct, frozen=True):
    """The game.

    `bets` as the game file has them; `says` is the file's tableau. `midi`: the cards lie face down until they are given
    back. `printed`: the King and the 9 of every seat.
    """

    bets: Sequence[Mapping[str, Any]] = ()
    says: rules.Drawing = rules.USUAL
    midi: bool = False
    printed: Mapping[int, str] = field(default_factory=dict)
    rounding: Rounding = CENTS_UP

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round. `bets` is None for a round without wagers."""
        hands: dict[str, list[str]] = {"player": [], "banker": []}
        while (side := rules.next_side(hands["player"], hands["banker"], self.says)) is not None:
            hands[side].append(felt.card(side))
            if self.midi and len(hands["banker"]) >= 2:
                felt.reveal(*(hands if len(hands[side]) == 2 else (side,)))
        player, banker = hands["player"], hands["banker"]
        naturals = self.says.natural
        told = two_hands_json(player, banker, naturals)
        told |= book.awards(self.bets, bets, hands, self.printed, naturals=naturals)
        told |= {
            "dragon_bonus": self._dragon_bonus(hands),
            "actives": None,
            "settlement": None,
        }
        if bets is None or bets.standing is None:
            return Dealt(rules.outcome(player, banker), told)
        paid = [
            book.pay(self._bet(wager.spot), wager, hands, self.printed, rounding=self.rounding, naturals=naturals)
            for wager in bets.standing
        ]
        told["settlement"] = cashier.settlement(paid)
        return Dealt(rules.outcome(player, banker), told, cashier.owed(paid))

    def _bet(self, spot: str) -> Mapping[str, Any]:
        return next((bet for bet in self.bets if bet["spot"] == spot), {"rows": []})

    def _dragon_bonus(self, hands: book.Hands) -> dict[str, object] | None:
        """What the Dragon Bonus of each hand pays; None where the game does not have that bet."""
        if {"dragon_player", "dragon_banker"} - {bet["spot"] for bet in self.bets}:
            return None
        on_player, on_banker = (
            book.row_for(self._bet(f"dragon_{side}"), hands, naturals=self.says.natural) or {}
            for side in ("player", "banker")
        )
        odds = on_player.get("pays") or on_banker.get("pays")
        return {
            "player": "win" if "pays" in on_player else on_player.get("result", "lose"),
            "banker": "win" if "pays" in on_banker else on_banker.get("result", "lose"),
            "pays_to_one": int(odds.removesuffix(":1")) if odds else None,
        }


def two_hands_json(player: list[str], banker: list[str], naturals: Collection[int]) -> dict[str, object]:
    """Two complete hands and their outcome, as the account writes them."""
    return {
        "outcome": rules.outcome(player, banker),
        "player": rules.hand_json(player),
        "banker": rules.hand_json(banker),
        "natural": rules.is_natural(player, naturals) or rules.is_natural(banker, naturals),
        "margin": abs(rules.total(player) - rules.total(banker)),
        "pairs": {"player": rules.is_pair(player), "banker": rules.is_pair(banker)},
    }
