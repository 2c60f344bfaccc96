"""The commands of `pitctl` that print the paper slips by which awards are paid, and list these slips."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from msgspec.json import decode

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.pit.paper.slip_page import check_house, slip_page
from controller.pit.reference.commands import asking
from controller.pit.reference.commands.options import add_control, add_json, add_ledger, existing, report
from controller.pit.reference.slips import Slip, ToPrint


def add_slip(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl slip` to its parser."""
    add_control(parser)
    parser.add_argument("award", metavar="AWARD", help="the award, as `pitctl award list` names it")
    what = "the page to print; no existing file is replaced"
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=what)


def slip(options: Namespace) -> int:
    """Write an award's slip into a file, ready to print. The ledger records the print first, so the ledger knows of
    every page that exists."""
    in_english = check_house()  # before a print is kept
    to: Path = options.output
    asked = {"award": options.award}
    try:
        with to.open("x", encoding="utf-8") as file:
            try:
                answer = asking.ask(options.control, asking.said_by(options.practised_by, {"do": "slip", **asked}))
                paper = decode(answer.told, type=ToPrint)
            except BaseException:
                to.unlink()
                raise
            file.write(slip_page(paper))
    except OSError as error:
        do = "Name a new file in a folder where you may write. Look at `pitctl slips`: a print that was kept counts."
        raise TableError("slip_not_written", f"The slip {to} cannot be written: {error.strerror}.", do) from error
    print(_line(paper.slip))
    for told in in_english:
        print(f"the house's file: {told}", file=sys.stderr)
    return 0


def add_list(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl slips` to its parser."""
    add_ledger(parser)
    add_json(parser, "the slips with their prints, as one JSON list")


def list_slips(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        slips = ledger.slips()
    return report(options, slips, [line for each in slips for line in _lines(each)] or ["no slips were printed"])


def _lines(slip: Slip) -> Iterator[str]:
    yield _line(slip)
    for printed in slip.prints:
        what = "original" if printed.copy == 1 else f"copy {printed.copy - 1}"
        yield f"    {what}, {printed.at}, by {printed.by}"


def _line(slip: Slip) -> str:
    tax = f"  {slip.tax_form}" if slip.tax_form else ""
    return f"slip {slip.number}  {slip.award}  {figures(slip.cents)}{tax}{'  void' if slip.void else ''}"
