"""Simulates what is around a table's controller (shoe, buttons, lamps, people): `python -m drivers.sim TABLE.toml`."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

from controller.basics.errors import TableError
from drivers.sim.run import Habits, run_table


def main(arguments: list[str] | None = None) -> int:
    """Simulate the table that the table file names, until its rounds or shoes are all dealt or a signal ends it, and
    return 0. After an error, print the error to stderr and return 1."""
    options = _parser().parse_args(arguments)
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs ignore SIGINT
        signal.signal(ending, _interrupt)
    habits = Habits(
        seed=options.seed,
        rounds=options.rounds,
        shoes=options.shoes,
        speed=options.speed,
        error_rate=options.error_rate,
        wrap=options.wrap,
        watch_lamps=not options.blind,
        patience_s=options.patience,
    )
    try:
        run_table(options.table, options.account, habits)
    except KeyboardInterrupt:
        return 0
    except (TableError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m drivers.sim", description="A simulated table: shoe, pins, people.")
    parser.add_argument("table", type=Path, metavar="TABLE.toml", help="the table file that the controller runs with")
    parser.add_argument(
        "--account", type=Path, required=True, help="where to write what really happened, as JSON lines"
    )
    parser.add_argument("--seed", type=int, default=0, help="decides the cards, the wagers and the dealer's slips")
    parser.add_argument("--rounds", type=int, help="stop after this many wagered rounds (default: never)")
    parser.add_argument("--shoes", type=int, help="stop after this many shoes (default: never)")
    parser.add_argument("--speed", type=float, default=1.0, help="2: twice as fast as people; 0: no pauses")
    parser.add_argument("--error-rate", type=float, default=0.0, help="chance of a card drawn in error after a round")
    parser.add_argument("--wrap", type=int, choices=(0, 1), default=0, help="the shoe's Seq digit after 9")
    parser.add_argument("--blind", action="store_true", help="deal by the human times alone, and look at no lamp")
    parser.add_argument("--patience", type=float, default=60.0, help="how many seconds to wait for each lamp")
    return parser


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
