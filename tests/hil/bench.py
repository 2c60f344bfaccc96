"""One object with everything that a test at the bench may use. The bench is a running table with simulated devices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from tests.support.second_person import agree


@dataclass(frozen=True)
class Bench:
    """A running table, with the other end of each of its connections, which the test controls: shoe, pins, pit and
    dealer."""

    table: Table
    shoe: Any  # an Angel Eye with all its lies, unless the test is of another brand
    pins: Pins
    pit: FarPit
    dealer: Dealer
    eventually: Eventually

    def with_key(self, button: str) -> None:
        """Clear a fault at the table: turn the supervisor's key, press this button until the fault is cleared, and turn
        the key back."""
        self.pins.turn_key()
        self.pins.press(button, until=lambda: self.table.fault is None)
        self.pins.turn_key_back()

    def by_two(self, act: str, **said: str | int) -> None:
        """Do a supervisor's act and, if the table asks for a second person, agree to it as that person. `said` are the
        act's arguments."""
        waits = self.table.supervisor(act, **said)
        agree(waits, Path(self.table.files.values["control"]["socket"]), self.pins.confirm)
        self.eventually(lambda: self.table.status().second_person is None)

    def announce(self) -> None:
        """Announce a new shoe with the table's button, and wait until the table expects its first card."""
        self.pins.press("new_shoe", until=lambda: self.table.phase == "first_card_due")

    def await_phase(self, phase: str) -> None:
        """Wait until the table is in the phase `phase`, for example "wagers_open"."""
        self.eventually(lambda: self.table.phase == phase)

    def rounds(self, expected: int) -> list[dict[str, Any]]:
        """Wait until the pit has received at least `expected` rounds and has acknowledged every event. Return the
        rounds."""
        self.eventually(lambda: len(self.pit.rounds) >= expected and self.table.unacknowledged() == 0)
        return self.pit.rounds

    def restart(self) -> None:
        """Kill the table's daemon, start it again, and wait until its links (for example, to shoe and pit) are up."""
        self.table.restart()
        self.eventually(self.table.links_up)

    def play_on(self, after: int) -> None:
        """Play one more round, and check that the table sends it to the pit. `after` is the number of rounds that the
        pit has received so far. An Angel Eye shoe plays the game by itself too, so it is first made to end its
        unfinished game."""
        if isinstance(self.shoe, FarShoe):
            self.shoe.force_quit()
        self.dealer.play("9C TD TC 5D")
        self.eventually(lambda: len(self.pit.rounds) == after + 1)
        assert self.pit.rounds[-1]["player"]["cards"] == ["9C", "TC"]
