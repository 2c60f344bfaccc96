"""The simulated house deals and pays punto banco: the sheets of Royal 9 (000), Kansas Star (001), SugarHouse (004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt, Felt
from drivers.sim.wagers import Bets, Wager

_AWARDS_CENTS = {
    "other_identical": 5000_00,
    "suited_vs_suited": 1500_00,
    "royal_vs_royal": 250_00,
    "suited_royal": 50_00,
    "any_royal": 25_00,
}
_KANSAS_STARS_DRAGON = {9: 30, 8: 10, 7: 4, 6: 4, 5: 2, 4: 2}


@dataclass(frozen=True)
class PuntoBanco:
    """The game of one of the three sheets.

    `midi`: the cards lie face down until they are handed back. `printed` has every seat's Royal 9 combination, `meters`
    the meter of each award that pays one.
    """

    sheet: str = "000"
    midi: bool = False
    printed: Mapping[int, str] = field(default_factory=dict)
    meters: Mapping[str, str] = field(default_factory=dict)

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole hand; `bets` None in one without wagers."""
        hands: dict[str, list[str]] = {"player": [], "banker": []}
        while (side := rules.next_side(hands["player"], hands["banker"])) is not None:
            hands[side].append(felt.card(side))
            if self.midi and len(hands["banker"]) >= 2:
                felt.reveal(*(hands if len(hands[side]) == 2 else (side,)))
        player, banker = hands["player"], hands["banker"]
        seats = sorted(bets.royal9_seats) if bets else []
        tiers = {seat: rules.royal9_tier(seat, self.printed, player, banker) for seat in seats}
        on_player, player_pays = rules.dragon_bonus(player, banker, self._dragon)
        on_banker, banker_pays = rules.dragon_bonus(banker, player, self._dragon)
        told = two_hands_told(player, banker) | {
            "dragon_bonus": {"player": on_player, "banker": on_banker, "pays_to_one": player_pays or banker_pays},
            "wagered_seats": seats,
            "royal9": [
                {"seat": seat, "tier": best} for best in rules.ROYAL9_TIERS for seat in seats if tiers[seat] == best
            ],
            "actives": None,
            "settlement": None,
        }
        if bets is None or bets.standing is None:
            return Dealt(rules.outcome(player, banker), told)
        paid = [self._pay(wager, player, banker, tiers) for wager in bets.standing]
        told["settlement"] = cashier.settlement(paid, commission_later=self.commission_later)
        owed = cashier.owed(paid) if self.commission_later else {}
        return Dealt(rules.outcome(player, banker), told, owed)

    @property
    def commission_later(self) -> bool:
        """Royal 9's sheet has commission collected as it is paid; the others later."""
        return self.sheet != "000"

    @property
    def _dragon(self) -> Mapping[int, int]:
        return _KANSAS_STARS_DRAGON if self.sheet == "001" else rules.DRAGON_PAYS

    def _pay(self, wager: Wager, player: list[str], banker: list[str], tiers: Mapping[int, str | None]) -> Paid:
        winner = rules.outcome(player, banker)
        match wager.spot:
            case "royal9":
                return self._award(wager, tiers[wager.seat])
            case "tie":
                return cashier.win(wager, 8) if winner == "tie" else cashier.lose(wager)
            case "player" | "banker" as side:
                if winner == "tie":
                    return cashier.push(wager)
                return cashier.win(wager, 1, commission=side == "banker") if side == winner else cashier.lose(wager)
            case "dragon_player":
                result, to_one = rules.dragon_bonus(player, banker, self._dragon)
            case _:
                result, to_one = rules.dragon_bonus(banker, player, self._dragon)
        if to_one is not None:
            return cashier.win(wager, to_one)
        return cashier.push(wager) if result == "push" else cashier.lose(wager)

    def _award(self, wager: Wager, tier: str | None) -> Paid:
        """An award is the whole pay: the chip goes to the house all the same."""
        if tier is None:
            return cashier.lose(wager)
        return Paid(wager, "won", 0, _AWARDS_CENTS.get(tier, 0), meter=self.meters.get(tier))


def two_hands_told(player: list[str], banker: list[str]) -> dict[str, object]:
    """Two complete hands and their outcome, as the account writes them."""
    return {
        "outcome": rules.outcome(player, banker),
        "player": rules.hand_told(player),
        "banker": rules.hand_told(banker),
        "natural": rules.is_natural(player) or rules.is_natural(banker),
        "margin": abs(rules.total(player) - rules.total(banker)),
        "pairs": {"player": rules.is_pair(player), "banker": rules.is_pair(banker)},
    }
