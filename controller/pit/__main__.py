"""`python -m controller.pit`: run the reference pit, or adopt a table's epoch."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from controller.errors import TableError
from controller.pit.ledger import Ledger, only_pit
from controller.pit.service import Pit


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code. Trouble is told on standard error, with what to do."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m controller.pit", description="The reference pit: commits every event of its tables, in order."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="commit and acknowledge until SIGTERM or Ctrl-C")
    run.add_argument("--broker", type=_host_and_port, required=True, metavar="HOST:PORT")
    run.add_argument("--ledger", type=Path, required=True, metavar="FILE", help="begun when there is none")
    run.add_argument("--root", default="pit/v1", help="the topics' root, as in the tables' files (%(default)s)")
    run.add_argument(
        "--adopt-new", action="store_true", help="adopt the first epoch of an unknown table unasked: demo and tests"
    )
    run.set_defaults(command=_run)

    adopt = commands.add_parser("adopt", help="hear a table in this epoch from now on; also while the pit runs")
    adopt.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    adopt.add_argument("table", metavar="TABLE")
    adopt.add_argument("epoch", metavar="EPOCH")
    adopt.add_argument("public_key", metavar="PUBLIC_KEY_HEX")
    adopt.set_defaults(command=_adopt)
    return parser


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def _run(options: argparse.Namespace) -> int:
    # Leaving at any point is safe, as being killed is: what is not committed is not acknowledged.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: sys.exit(0))
    host, port = options.broker
    with only_pit(options.ledger):
        ledger = Ledger(options.ledger)
        try:
            Pit(ledger, host, port, options.root, options.adopt_new).run()
        finally:
            ledger.close()


def _adopt(options: argparse.Namespace) -> int:
    if not options.ledger.is_file():
        raise TableError(
            "ledger_missing", f"There is no ledger at {options.ledger}.", "Check --ledger; `run` begins one."
        )
    ledger = Ledger(options.ledger)
    try:
        ledger.adopt(options.table, options.epoch, options.public_key)
    finally:
        ledger.close()
    print(f"table {options.table} is now heard in the epoch {options.epoch}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
