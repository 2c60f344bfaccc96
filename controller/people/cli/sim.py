"""`tablectl sim`: run one simulated device (a shoe, pins or a pit) alone, for a real or a simulated table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.contract.topics import Topics
from controller.daemon.config import Config, load
from controller.words.events import event_line
from drivers.sim import console
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import SimulatedPins
from drivers.sim.pit import SimulatedPit
from drivers.sim.run import run_shoe_alone
from drivers.sim.shoe import maker


def sim_shoe(
    driver: str,
    pty: Path | None,
    port: str | None,
    baud: int | None,
    seed: int,
    pace_s: float,
    rounds: int | None,
    verbs: bool,
) -> int:
    """Run a simulated shoe on a pty or a serial port until `rounds` rounds are dealt, and print what it dealt.

    With `verbs` the shoe deals nothing by itself, but obeys the commands typed on standard input. `driver` is the
    brand, as in a table file's `[shoe]`. Without `baud` the port has the usual speed of that brand. With `verbs` and
    neither `pty` nor `port`, the commands are only listed. Raises TableError `sim_place` if `pty`, `port` and `verbs`
    are all missing.
    """
    if pty is None and port is None:
        if not verbs:
            do = "Write --pty LINK or --port PORT. `tablectl sim shoe --verbs` prints what the shoe can be told to do."
            raise TableError("sim_place", "The simulated shoe has no line to deal on.", do)
        print(console.listed(verbs_of(driver)))
        return 0
    line = PtyLine(pty) if pty is not None else SerialLine(str(port), baud or maker(driver).baud)
    try:
        if verbs:
            console.prompt(f"a simulated {driver} shoe")
            console.converse(maker(driver)(line).verbs() | console.cable_verbs(line), sys.stdin)
        else:
            run_shoe_alone(line, seed, pace_s, rounds, sys.stdout, driver)
    finally:
        line.unplug()
    return 0


def verbs_of(driver: str) -> console.Verbs:
    """Return the commands that a person can type to control a simulated shoe of the brand `driver`, and the simulated
    cable of that shoe."""
    line = PtyLine(Path(driver), plugged=False)
    return maker(driver)(line).verbs() | console.cable_verbs(line)


def sim_pins(table: Path) -> int:
    """Simulate the buttons, sensors and lamps of a table that is configured with simulated pins. A person types on
    standard input what to press or cover."""
    pins = simulated_pins(load(table))
    console.prompt("the table's buttons, sensors and lamps")
    console.converse(console.pins_verbs(pins), sys.stdin)
    return 0


def simulated_pins(config: Config) -> SimulatedPins:
    """Return the simulated pins of a table. Raises TableError `sim_not_simulated` for a table with real pins."""
    wiring = config.file.pins
    if wiring.page is None:
        do = 'Set pins.driver = "simulated" and pins.page, or press the real buttons.'
        raise TableError("sim_not_simulated", "The pins of this table are real.", do)
    lamps: dict[str, dict[str, Any]] = {
        name: {"bcm": lamp.bcm, "active": lamp.active} for name, lamp in wiring.lamps.items()
    }
    inputs: dict[str, dict[str, Any]] = {
        name: {"bcm": wired.bcm, "active": wired.active, "pull": wired.pull} for name, wired in wiring.inputs.items()
    }
    return SimulatedPins(Path(wiring.page), lamps, inputs)


def sim_pit(table: Path) -> int:
    """Run a simulated pit on the broker of the table. The pit prints each event that it receives, and obeys the
    commands typed on standard input.

    Raises TableError `sim_pit_tls` for a table whose pit needs TLS, before anything is sent to the broker.
    """
    file = load(table).file
    if file.pit.tls is not None:
        what = "This table's [pit] needs TLS, and the simulated pit has none."
        do = "Run the reference pit with a certificate of its own: `pitctl run`, see its --help."
        raise TableError("sim_pit_tls", what, do)
    topic = Topics(file.pit.root, file.table.id).event.removesuffix("/event")
    pit = SimulatedPit(file.pit.brokers[0], file.pit.port, topic, lambda event: print(event_line(event), flush=True))
    console.prompt("a pit that acknowledges")
    try:
        console.converse(console.pit_verbs(pit), sys.stdin)
    finally:
        pit.gone()
    return 0
