"""The command `pitctl day`, which prints the figures of a gaming day that is over."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.errors import TableError
from controller.basics.waited import waited_for
from controller.contract.keys import load_or_make_key
from controller.pit.paper.day_file import day_csv, day_json, day_page
from controller.pit.reference import day_book
from controller.pit.reference.commands.options import add_key, add_ledger, key_file
from controller.pit.reference.opening import read_only


def add_day(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl day` to its parser."""
    add_ledger(parser, "read only; also while the pit runs")
    parser.add_argument("day", metavar="DATE", help="the house's date on which the day began, as YYYY-MM-DD")
    what = "what `tablectl par TABLE.toml --json` printed of a table; repeat for each table's file"
    parser.add_argument("--par", type=Path, action="append", default=[], metavar="FILE", help=what)
    what = "the count room's drops: lines of table,shift,drop_cents below that heading"
    parser.add_argument("--drop", type=Path, metavar="FILE", help=what)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the day's file, signed by the pit's key (the default)")
    form.add_argument("--csv", action="store_true", help="a line for each figure, for a spreadsheet")
    form.add_argument("--html", action="store_true", help="a page to print")
    add_key(parser)


def day(options: Namespace) -> int:
    """Print the figures of a gaming day that is over. Returns 1 if the day has findings, for example a meter reading
    that the books do not explain. The findings go to standard error too. Raises TableError `signing_key_missing` if the
    day's signed file is wanted and there is no key."""
    sheets = [day_book.read_sheet(path) for path in options.par]
    drops = () if options.drop is None else day_book.read_drops(options.drop)
    with waited_for("Drawing up the day"), read_only(options.ledger) as db:
        drawn_up = day_book.draw_up(db, options.day, sheets, drops)
    if options.csv:
        sys.stdout.write(day_csv(drawn_up))
    elif options.html:
        sys.stdout.write(day_page(drawn_up))
    else:
        key_at = key_file(options)
        if not key_at.is_file():
            raise TableError("signing_key_missing", f"There is no key {key_at}.", "Name the pit's key: --signing-key.")
        key = load_or_make_key(key_at)
        print(day_json(drawn_up, key, key.public).decode())
    for finding in drawn_up.findings:
        print(f"finding: {finding}", file=sys.stderr)
    return 1 if drawn_up.findings else 0
