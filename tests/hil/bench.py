"""Everything that a test at the bench (a running table with simulated devices) may use, in one object."""

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
    """A running table, and the test's end of each of its connections: shoe, pins, pit and dealer."""

    table: Table
    shoe: Any  # an Angel Eye with all its lies, unless the test is of another brand
    pins: Pins
    pit: FarPit
    dealer: Dealer
    eventually: Eventually

    def with_key(self, button: str) -> None:
        """Turn the supervisor's key, press a button until the fault is cleared, and turn the key back."""
        self.pins.turn_key()
        self.pins.press(button, until=lambda: self.table.fault is None)
        self.pins.turn_key_back()

    def by_two(self, act: str, **said: str | int) -> None:
        """Do a supervisor's act, and agree to it as a second person where the table asks for one."""
        waits = self.table.supervisor(act, **said)
        agree(waits, Path(self.table.files.values["control"]["socket"]), self.pins.confirm)
        self.eventually(lambda: self.table.status().second_person is None)

    def announce(self) -> None:
        """Announce a new shoe with the button, and wait until its first card is due."""
        self.pins.press("new_shoe", until=lambda: self.table.phase == "first_card_due")

    def await_phase(self, phase: str) -> None:
        """Wait until the table is in this phase."""
        self.eventually(lambda: self.table.phase == phase)

    def rounds(self, expected: int) -> list[dict[str, Any]]:
        """Wait until the pit has been told of at least `expected` rounds and has acknowledged every event. Return the
        rounds."""
        self.eventually(lambda: len(self.pit.rounds) >= expected and self.table.unacknowledged() == 0)
        return self.pit.rounds

    def restart(self) -> None:
        """Kill the daemon, start it again, and wait until its links are up."""
        self.table.restart()
        self.eventually(self.table.links_up)

    def play_on(self, after: int) -> None:
        """Play one more round, and check that the table tells the pit of it. First an Angel Eye gives up its own game
        of the last round."""
        if isinstance(self.shoe, FarShoe):
            self.shoe.force_quit()
        self.dealer.play("9C TD TC 5D")
        self.eventually(lambda: len(self.pit.rounds) == after + 1)
        assert self.pit.rounds[-1]["player"]["cards"] == ["9C", "TC"]
