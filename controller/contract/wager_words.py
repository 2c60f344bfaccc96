"""What a bet-recognition system says of a seat's chips on the table's `wager` topic, and the table's refusal."""

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
    """Chips that were seen at one table, in one epoch of its journal, for one round of one shoe.

    The word counts in that round alone. Without the round, a word that the network kept would play in the next round.
    `seq` is higher in each word than in every word before. Without it, an earlier word that comes once more would put
    chips back that were taken away since. `at` is when the word was said, by the recognition system's clock.

    `read` does not prove who said the word: `signature_holds` (`controller/contract/keys.py`) does.
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
        """The wager that was seen. 0 cents: its chips were taken away. The table judges whether it has such a spot."""
        return Wager(self.seat, self.spot, self.cents, self.back)


def refused_wager(wager: Wager, seq: int, code: str) -> bytes:
    """The table's answer to the word with this number, whose wager is refused with this code."""
    return canonical(to_builtins(wager) | {"seq": seq, "code": code})
