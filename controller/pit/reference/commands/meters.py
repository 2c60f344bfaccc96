"""The commands `pitctl meter …`. They close meters, move the meters' money, and remove money that the wagers of a
voided round left on a meter."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from controller.pit.reference.books import Books
from controller.pit.reference.commands.options import add_control, add_json, add_ledger, add_reason, print_json
from controller.pit.reference.corrections import Corrections
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.opening import read_only


def add_close(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl meter close` to its parser."""
    add_control(parser)
    parser.add_argument("meter", metavar="METER", help="the meter that is closed")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--into", metavar="METER", help="the meter to which its money moves")
    where.add_argument("--to-reserve", action="store_true", help="its money moves to the house's reserve")
    _add_document(parser)


def add_move_reserve(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl meter reserve` to its parser."""
    add_control(parser)
    parser.add_argument("into", metavar="METER", help="the meter to which the house's reserve moves")
    _add_document(parser)


def add_voids(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl meter voids` to its parser."""
    add_ledger(parser)
    add_json(parser, "each of them as a JSON object, in one array")


def voids(options: Namespace) -> int:
    """Print the voids whose wagers have left money on a meter."""
    with read_only(options.ledger) as db:
        left = Corrections(db, Books(db), Decisions(db)).waiting()
    if options.json:
        print_json(left)
    else:
        print("\n".join(map(str, left)) or "no void has left anything on a meter")
    return 0


def add_correct(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl meter correct` to its parser."""
    add_control(parser)
    parser.add_argument("void", metavar="VOID", help="the id of the void event, as `pitctl meter voids` prints it")
    _add_document(parser)


def _add_document(parser: ArgumentParser) -> None:
    parser.add_argument("--document", required=True, metavar="REFERENCE", help="the document by which the money moves")
    add_reason(parser)
