"""`tablectl practice`: run a complete table on this machine. The person at the prompt plays its dealer and its players.

The daemon, Mosquitto and the reference pit are real; the shoe and the pins are simulated. All files stay in a folder
that the person names. A practice table can therefore be stopped and continued, and every other command can be tried on
it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from controller.basics.errors import TableError
from controller.people.cli import programs
from controller.people.cli.client import watch
from controller.people.cli.played import played, settings_of
from controller.people.cli.sim import simulated_pins
from controller.people.cli.watch import changes
from controller.words.language import language
from drivers.sim import console
from drivers.sim.line import PtyLine
from drivers.sim.recognition import PUBLIC_KEY, SimulatedRecognition
from drivers.sim.shoe import maker

_LOOK_EVERY_S = 0.1


def practice(folder: Path, game: str | Path, settings: Path | None) -> int:
    """Run a practice table in `folder`, and obey the commands typed on standard input until the input ends.

    `game` is the name of an example, or the path of a table or game file. `settings` is the pit's settings file. Raises
    TableError `practice_options` for a folder that cannot be used, and TableError or ConfigError if the game cannot be
    played.
    """
    port = programs.free_port()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        table, config = played(folder.resolve(), port, game)
        settings, ledger = settings_of(folder.resolve(), config, settings), folder.resolve() / "ledger"
    except OSError as error:
        what = f"The practice table cannot be made in {folder}: {error.strerror}."
        raise TableError("practice_options", what, "Name a folder that you may write in.") from None
    for number in (signal.SIGTERM, signal.SIGHUP):  # these end all that was started, as the prompt's end does
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    with ExitStack() as stack:
        stack.enter_context(programs.mosquitto(folder, port))
        stack.enter_context(programs.pit(folder, port, ledger, settings))
        line = PtyLine(Path(config.file.shoe.port), plugged=False)
        stack.callback(line.unplug)
        line.plug()
        shoe, pins = maker(config.file.shoe.driver.name)(line), simulated_pins(config)
        run = programs.python("-m", "controller.people.cli.main", "run", str(table))
        log = folder / "table.log"
        programs.await_table(table, stack.enter_context(programs.started(run, log)), log)
        print(f"In another terminal: export TABLE_CONTROLLER_TABLE={table}")
        topic = f"{config.file.pit.root}/{config.file.table.id}"
        recognition = SimulatedRecognition(config.file.pit.brokers[0], port, topic, _tell_line)
        stack.callback(recognition.close)
        if config.rules.bet_recognition:
            print(f"Bet recognition's key, for tablectl recognition-key: {PUBLIC_KEY}")
        print(f"The pit's ledger: {ledger}")
        console.prompt(f"{config.file.table.name}; you are the dealer")
        threading.Thread(target=_tell, args=(table,), daemon=True).start()
        threading.Thread(target=_tell_refusals, args=(log,), daemon=True).start()
        verbs = console.pins_verbs(pins) | console.cable_verbs(line) | console.recognition_verbs(recognition)
        console.converse(verbs | shoe.verbs(), sys.stdin)
    return 0


def _tell_line(line: str) -> None:
    print(f"  {line}", flush=True)


def _tell(table: Path) -> None:
    """Print a line for each change of the table's status, until the table ends."""
    with suppress(TableError):  # the prompt ends with the table
        for line in changes(watch(table), table, language()):
            print(f"  {line}", flush=True)


def _tell_refusals(log: Path) -> None:
    """Follow the log file of the practice table's daemon, and print each refusal that is written from now on, with the
    reason."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(0, os.SEEK_END)
        line = ""
        while True:
            line += lines.readline()
            if not line.endswith("\n"):
                time.sleep(_LOOK_EVERY_S)
                continue
            _, refused, what = line.partition(" INFO controller.daemon.runtime: refused ")
            if refused:
                print(f"  refused {what}", end="", flush=True)
            line = ""
