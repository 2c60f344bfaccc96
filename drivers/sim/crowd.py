"""The simulated players at a table whose controller is told every wager: they come and go, wager, choose, and pay
commission.

The simulation sends these acts to the table's control socket, in the roles of bet recognition and of the dealer's
screen. If the table refuses something that it should accept, the simulation ends with an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from controller.basics.errors import TableError
from drivers.sim.account import Account
from drivers.sim.baccarat_royal import rotated
from drivers.sim.house import Coming
from drivers.sim.screen import Screen
from drivers.sim.wagers import Actives, Bets, Bettors, Refusal, Wager

_COMES_OR_GOES = 0.06  # the chance that somebody does, before each round
_FEWEST = 3
_HITS_BELOW = 5
_WISE = 0.6  # this part of the choices is wise; the others are anything that the table must allow


def wise_choice(options: Sequence[str], points: int) -> str:
    """Return the wise choice among the options ("hit", "stand", "split") for a player whose hand has so many points."""
    wise = "split" if "split" in options else "hit" if points < _HITS_BELOW else "stand"
    return wise if wise in options else options[0]


class Crowd:
    """The simulated players at the seats of a table.

    Some games have two active seats, which are drawn by lot at first and then change in turn. `roles` is the game
    file's section on them, or None in a game without active seats.
    """

    def __init__(
        self,
        seed: int,
        screen: Screen,
        account: Account,
        bettors: Bettors,
        seats: Collection[int],
        *,
        roles: Mapping[str, Any] | None,
    ) -> None:
        self._rng = random.Random(f"{seed} crowd")
        self._screen = screen
        self._account = account
        self._bettors = bettors
        self._seats = sorted(seats)
        self._roles = roles
        self._actives: Actives | None = None
        self.occupied: set[int] = set()

    def come_and_go(self) -> None:
        """Before the first round, let players take most of the seats. Before a later round, sometimes let one player
        come or go. If the game has active seats and they are not all occupied, draw them by lot."""
        self._move()
        if self._roles is not None and (self._actives is None or not set(self._actives.both) <= self.occupied):
            self._do(do="actives", by="dealer")
            self._actives = Actives(**self._screen.face().actives)

    def _move(self) -> None:
        if not self.occupied:
            self._sit(set(self._rng.sample(self._seats, min(len(self._seats), max(_FEWEST, len(self._seats) - 1)))))
        elif self._rng.random() < _COMES_OR_GOES:
            seat = self._rng.choice(self._seats)
            if seat not in self.occupied:
                self._sit(self.occupied | {seat})
            elif len(self.occupied) > _FEWEST:
                self._leave(seat)

    def wager(self, covered: Mapping[int, bool], coming: Coming, pause: Callable[[int], None]) -> Bets:
        """Let every player wager on the round `coming`, tell the table of each wager, and return the wagers.

        `covered` says for each seat whether chips cover its sensor. After each wager, `pause` is called with the total
        number of wagers in the round. It can then wait for that wager's share of the betting time.
        """
        made, refused = self._bettors.choose(self.occupied, covered, self._actives, coming)
        foreseen = {each.wager: each for each in refused}
        for wager in made:
            self._tell(wager, foreseen.get(wager))
            pause(len(made))
        standing = tuple(wager for wager in made if wager not in foreseen)
        return Bets(self._bettors.progressive(standing), standing, refused, self._actives)

    def choose(self, options: Sequence[str], points: int) -> str:
        """Return the choice of a player whose hand has this many points. In six of ten cases this is the wise choice.
        Otherwise it is one of the options at random."""
        wise = wise_choice(options, points)
        return wise if self._rng.random() < _WISE else self._rng.choice(options)

    def round_over(self, outcome: str) -> None:
        """Move the roles of the two active seats after a round with this outcome. Do nothing in a game without active
        seats."""
        if self._actives is not None:
            self._actives = rotated(self._actives, outcome, self.occupied, self._roles or {})

    def pay_up(self) -> None:
        """Let every seat pay the commission that it owes, at the table and in the simulation's record."""
        for seat in sorted(self._account.owed):
            self._pay(seat)

    def _sit(self, seats: set[int]) -> None:
        self.occupied = seats
        self._do(do="seats", seats=sorted(seats), by="dealer")

    def _leave(self, seat: int) -> None:
        if seat in self._account.owed:
            self._pay(seat)
        self.occupied.remove(seat)
        self._do(do="leave", seat=seat, by="dealer")

    def _pay(self, seat: int) -> None:
        self._do(do="commission", seat=seat, by="dealer")
        self._account.commission(seat)

    def _tell(self, wager: Wager, refusal: Refusal | None) -> None:
        foreseen = refusal.code if refusal is not None and refusal.at_once else None
        bettor = f"{wager.seat}b" if wager.back else wager.seat
        self._do(foreseen, do="wager", seat=bettor, spot=wager.spot, cents=wager.cents, by="bets")

    def _do(self, foreseen: str | None = None, /, **request: object) -> None:
        """Send a request to the table's control socket. Raises TableError `sim_answered_otherwise` unless the table
        gives the expected answer: a refusal with the code `foreseen`, or acceptance if `foreseen` is None."""
        answer = self._screen.ask(**request)
        if answer.get("code") != foreseen:
            raise TableError(
                "sim_answered_otherwise",
                f"the table answered {answer.get('code', 'ok')} to {request}, and {foreseen or 'ok'} was foreseen",
                "one of the two does not follow the sheet: find out which",
            )
