"""The message in which a bet-recognition system reports a seat's chips, on the table's `wager` topic, and the message
in which the table refuses such a report."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, to_builtins

from controller.contract.bounds import MOST_WAGER_CENTS, EpochName, Name, Number, SeatNumber, TableId
from controller.contract.canonical import canonical
from controller.contract.pit_words import Word
from controller.rules.game.wagers import Wager

BET_RECOGNITION = "bet recognition"
"""Who saw a wager that came over the network."""


class WagerWord(Word, frozen=True):
    """A bet-recognition system's report of the chips on one spot at a seat. The report counts only for the round that
    it names: otherwise a report that the network delayed would count in the next round.

    `seq` is higher in each report than in every earlier one. Otherwise an earlier report that arrives twice would put
    back chips that were taken away since. `at` is the time of the report, by the recognition system's clock. `epoch` is
    the random name of the table's journal.

    `read` does not prove who sent the report: `signature_holds` (`controller/contract/keys.py`) does.
    """

    table: TableId
    epoch: EpochName
    shoe: Number
    round: Number
    seat: SeatNumber
    spot: Name
    cents: Annotated[int, Meta(ge=0, le=MOST_WAGER_CENTS)]
    back: bool
    seq: Number
    at: str

    @property
    def wager(self) -> Wager:
        """The wager that bet recognition saw. 0 cents mean that the chips were taken away. The table still has to check
        whether it has this spot."""
        return Wager(self.seat, self.spot, self.cents, self.back)


def refused_wager(wager: Wager, seq: int, code: str) -> bytes:
    """Return the bytes of the message in which the table refuses a wager that bet recognition reported. `seq` is the
    number of that report, and `code` is the reason."""
    return canonical(to_builtins(wager) | {"seq": seq, "code": code})
