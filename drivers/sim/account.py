"""The simulation's record (the account) of what really happened at the table, in JSON lines: each lock of the wagers,
each finished round, each payment of commission, each shoe's beginning and end. Tests compare what the controller says
with this record."""

from __future__ import annotations

import json
from collections import Counter
from typing import TextIO

from drivers.sim.felt import Dealt
from drivers.sim.wagers import Bets


class Account:
    """Writes the simulation's record of what really happened at the table to `out`, in JSON lines. Each line is
    flushed, so that nothing is lost if the simulation is killed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._owed: Counter[int] = Counter()
        self._shoe = 0

    @property
    def owed(self) -> dict[int, int]:
        """The commission that each seat owes now: a dictionary from the seat's number to cents."""
        return dict(+self._owed)

    def shoe_opened(self, *, shoe: int, first_card: str, burned: int, cards_left: int) -> None:
        """Record that a shoe is ready to play: its first card was shown, and `burned` more cards were burned."""
        self._write("shoe_opened", shoe=shoe, first_card=first_card, burned=burned, cards_left=cards_left)

    def wagers_locked(self, *, shoe: int, round_: int, bets: Bets) -> None:
        """Record that the wagers of a round are locked: the accepted wagers and the refused ones. Nothing is recorded
        at a table where only sensors see wagers."""
        self._shoe = shoe
        if bets.standing is None:
            return
        self._write(
            "wagers_locked",
            shoe=shoe,
            round=round_,
            wagers=[wager.as_json() for wager in bets.standing],
            refused=[each.wager.as_json() | {"code": each.code} for each in bets.refused if not each.at_once],
            refused_at_once=[each.wager.as_json() | {"code": each.code} for each in bets.refused if each.at_once],
        )

    def round(
        self, *, shoe: int, round_: int, simulated: bool, final_round: bool, cards_left: int, dealt: Dealt
    ) -> None:
        """Record a complete round, and add the commission that seats owe for it. `round_` is the round's number in the
        shoe, from 1, in which rounds without wagers count too."""
        self._owed.update(dealt.owed)
        self._write(
            "round",
            shoe=shoe,
            round=round_,
            simulated=simulated,
            final_round=final_round,
            cards_left=cards_left,
            **dealt.told,
        )

    def commission(self, seat: int) -> None:
        """Record that a seat pays all the commission that it owes."""
        self._write("commission", shoe=self._shoe, seat=seat, cents=self._owed.pop(seat))

    def shoe_closed(self, *, shoe: int, rounds: int, wagered_rounds: int, cards_left: int) -> None:
        """Record that the shoe's last round is over, with the commission that each seat still owes."""
        self._write(
            "shoe_closed",
            shoe=shoe,
            rounds=rounds,
            wagered_rounds=wagered_rounds,
            cards_left=cards_left,
            commission_owed=[{"seat": seat, "cents": cents} for seat, cents in sorted(self.owed.items())],
        )

    def _write(self, type_: str, **fields: object) -> None:
        self._out.write(json.dumps({"type": type_, **fields}) + "\n")
        self._out.flush()
