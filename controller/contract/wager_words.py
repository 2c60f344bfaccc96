"""What a bet-recognition system says of a seat's chips on the table's `wager` topic, and the table's refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from controller.contract.bounds import EPOCH, MOST_SEAT, MOST_SEQ, MOST_WAGER_CENTS, NAME, TABLE, is_count
from controller.contract.canonical import canonical
from controller.contract.pit_words import moment_ms
from controller.contract.signing import Signer, signed
from controller.rules.game.wagers import Wager

BET_RECOGNITION = "bet recognition"
"""Who saw a wager that came over the network."""


class WagerWord(Struct, frozen=True):
    """Chips that were seen at one table, in one epoch of its journal, for one round of one shoe.

    The word counts in that round alone. Without the round, a word that the network kept would play in the next round.
    `seq` is higher in each word than in every word before. Without it, an earlier word that comes once more would put
    chips back that were taken away since. `at` is when the word was said, by the recognition system's clock.

    `read` does not prove who said the word: `signature_holds` (`controller/contract/keys.py`) does.
    """

    table: str
    epoch: str
    shoe: int
    round: int
    wager: Wager
    seq: int
    at: str

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """The word in the message; None where the message is no such word.

        A word of 0 cents says that the chips were taken away. The table judges later whether the game has such a spot.
        """
        match message:
            case {
                "table": str(table),
                "epoch": str(epoch),
                "shoe": int(shoe),
                "round": int(round_),
                "seat": int(seat),
                "back": bool(back),
                "spot": str(spot),
                "cents": int(cents),
                "seq": int(seq),
                "at": str(at),
                "signature": str(),
                **others,
            } if (
                not others
                and TABLE.fullmatch(table)
                and EPOCH.fullmatch(epoch)
                and is_count(shoe, 1, MOST_SEQ)
                and is_count(round_, 1, MOST_SEQ)
                and is_count(seat, 1, MOST_SEAT)
                and is_count(cents, 0, MOST_WAGER_CENTS)
                and NAME.fullmatch(spot)
                and is_count(seq, 1, MOST_SEQ)
                and moment_ms(at) is not None
            ):
                return cls(table, epoch, shoe, round_, Wager(seat, spot, cents, back), seq, at)
            case _:
                return None

    def payload(self, signer: Signer) -> bytes:
        """The bytes that are published."""
        place = {"table": self.table, "epoch": self.epoch, "shoe": self.shoe, "round": self.round}
        return signed(place | _wager_to_json(self.wager) | {"seq": self.seq, "at": self.at}, signer)


def refused_wager(wager: Wager, seq: int, code: str) -> bytes:
    """The table's answer to the word with this number, whose wager is refused with this code."""
    return canonical(_wager_to_json(wager) | {"seq": seq, "code": code})


def _wager_to_json(wager: Wager) -> dict[str, object]:
    return {"seat": wager.seat, "back": wager.back, "spot": wager.spot, "cents": wager.cents}
