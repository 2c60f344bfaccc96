"""The command `python -m controller.people.pit_page`, which serves the pit's web page and metrics."""

from __future__ import annotations

import argparse
import sys

from controller.basics.command import OptionParser
from controller.basics.errors import TableError
from controller.basics.extras import how_to_install
from controller.basics.journald import tell_error
from controller.contract.wire.broker_options import add_broker, host_and_port, tls_files
from controller.people.pit_page.sight import NAME
from controller.people.pit_page.subscriber import Subscriber
from controller.pit.reference.commands.options import place


def main(arguments: list[str] | None = None) -> int:
    """Serve the pit's web page, and return the exit code. An error is printed on standard error, with what to do about
    it."""
    options = parser().parse_args(arguments)
    try:
        from controller.people.pit_page.server import serve
    except ImportError as error:
        do = how_to_install("screen")
        missing = TableError("screen_missing", f"The page needs a library that is not installed: {error}.", do)
        tell_error(missing, sys.stderr, NAME)
        return 1
    try:
        (broker, broker_port), (host, port) = options.broker, options.listen
        subscriber = Subscriber(broker, broker_port, options.root, tls_files(options))
        return serve(options.ledger, subscriber, host, port, options.names)
    except TableError as error:
        tell_error(error, sys.stderr, NAME)
        return 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = OptionParser(
        prog="python -m controller.people.pit_page",
        description="The pit's page for people, and /metrics for Prometheus. The program reads, and changes nothing.",
    )
    parser.add_argument("--ledger", type=place, required=True, metavar="FILE|URL", help="the pit's ledger; only read")
    parser.add_argument(
        "--listen", type=host_and_port, required=True, metavar="HOST:PORT", help="where browsers and Prometheus ask"
    )
    names = "other names by which browsers and Prometheus ask, for example pit.house"
    parser.add_argument("--names", nargs="*", default=(), metavar="NAME", help=names)
    add_broker(parser, "the page's")
    return parser


if __name__ == "__main__":
    sys.exit(main())
