"""The account the simulated house keeps of what really happened: one JSON line a hand, and one where a shoe begins and
where it ends. What the controller says is held against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from drivers.sim import rules


class Account:
    """Writes the account to `out`, each line flushed, so that it stands whatever becomes of the simulation.

    `printed` has every seat of the table and its combination (`KS 9H`).
    """

    def __init__(self, out: TextIO, printed: Mapping[int, str]) -> None:
        self._out = out
        self._printed = printed

    def shoe_opened(self, *, shoe: int, first_card: str, burned: int, cards_left: int) -> None:
        """A shoe is ready to play: its first card was shown, and `burned` more were burned."""
        self._write("shoe_opened", shoe=shoe, first_card=first_card, burned=burned, cards_left=cards_left)

    def round(
        self,
        *,
        shoe: int,
        round_: int,
        player: Sequence[str],
        banker: Sequence[str],
        simulated: bool,
        last_hand: bool,
        wagered_seats: Sequence[int],
        cards_left: int,
    ) -> None:
        """A complete hand. `round_` counts every hand of the shoe from 1; `wagered_seats` had a Royal 9 wager down."""
        on_player, player_pays = rules.dragon_bonus(player, banker)
        on_banker, banker_pays = rules.dragon_bonus(banker, player)
        self._write(
            "round",
            shoe=shoe,
            round=round_,
            outcome=rules.outcome(player, banker),
            player={"cards": list(player), "total": rules.total(player)},
            banker={"cards": list(banker), "total": rules.total(banker)},
            natural=rules.is_natural(player) or rules.is_natural(banker),
            margin=abs(rules.total(player) - rules.total(banker)),
            pairs={"player": rules.is_pair(player), "banker": rules.is_pair(banker)},
            simulated=simulated,
            last_hand=last_hand,
            cards_left=cards_left,
            dragon_bonus={"player": on_player, "banker": on_banker, "pays_to_one": player_pays or banker_pays},
            wagered_seats=sorted(wagered_seats),
            royal9=self._royal9(wagered_seats, player, banker),
        )

    def shoe_closed(self, *, shoe: int, rounds: int, wagered_hands: int, cards_left: int) -> None:
        """The shoe's last hand is over."""
        self._write("shoe_closed", shoe=shoe, rounds=rounds, wagered_hands=wagered_hands, cards_left=cards_left)

    def _royal9(self, seats: Sequence[int], player: Sequence[str], banker: Sequence[str]) -> list[dict[str, int | str]]:
        """The awards of the seats that wagered, best first, then by seat."""
        tiers = [(seat, rules.royal9_tier(seat, self._printed, player, banker)) for seat in sorted(seats)]
        return [{"seat": seat, "tier": best} for best in rules.ROYAL9_TIERS for seat, tier in tiers if tier == best]

    def _write(self, type_: str, **fields: object) -> None:
        self._out.write(json.dumps({"type": type_, **fields}) + "\n")
        self._out.flush()
