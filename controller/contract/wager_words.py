"""What a bet-recognition system says of a seat's chips on the table's `wager` topic, and the table's refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from controller.contract.bounds import EPOCH, MOST_SEAT, MOST_SEQ, MOST_WAGER_CENTS, NAME, TABLE, is_count
from controller.contract.canonical import canonical
from controller.rules.game.wagers import Wager

BET_RECOGNITION = "bet recognition"
"""The name under which a wager that came over the network is journalled."""


@dataclass(frozen=True, slots=True)
class WagerWord:
    """Chips that were seen at one table, in one epoch of its journal, for one round of one shoe.

    The word counts in that round alone. Without the round, a word that the network kept would play in the next round.
    """

    table: str
    epoch: str
    shoe: int
    round: int
    wager: Wager

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word in the message; None where the message is no such word.

        Without `back` the wager is the seated player's. 0 cents: the chips were taken away. The table judges later
        whether the game has such a spot.
        """
        match message:
            case {
                "table": str(table),
                "epoch": str(epoch),
                "shoe": int(shoe),
                "round": int(round_),
                "seat": int(seat),
                "spot": str(spot),
                "cents": int(cents),
                **rest,
            } if (
                rest.keys() <= {"back"}
                and isinstance(back := rest.get("back", False), bool)
                and TABLE.fullmatch(table)
                and EPOCH.fullmatch(epoch)
                and is_count(shoe, 1, MOST_SEQ)
                and is_count(round_, 1, MOST_SEQ)
                and is_count(seat, 1, MOST_SEAT)
                and is_count(cents, 0, MOST_WAGER_CENTS)
                and NAME.fullmatch(spot)
            ):
                return cls(table, epoch, shoe, round_, Wager(seat, spot, cents, back))
            case _:
                return None

    def to_json(self) -> dict[str, object]:
        """The word as JSON values, as it came."""
        place = {"table": self.table, "epoch": self.epoch, "shoe": self.shoe, "round": self.round}
        return place | _wager_to_json(self.wager)


def refused_wager(wager: Wager, code: str) -> bytes:
    """The table's answer to a wager that is refused with this code."""
    return canonical(_wager_to_json(wager) | {"code": code})


def _wager_to_json(wager: Wager) -> dict[str, object]:
    return {"seat": wager.seat, "back": wager.back, "spot": wager.spot, "cents": wager.cents}
