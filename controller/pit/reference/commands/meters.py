"""`pitctl meter`: meters are closed, and their money moves."""

from __future__ import annotations

from argparse import ArgumentParser

from controller.pit.reference.commands.options import add_control, add_reason


def add_close(parser: ArgumentParser) -> None:
    """The arguments of `pitctl meter close`."""
    add_control(parser)
    parser.add_argument("meter", metavar="METER", help="the meter that is closed")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--into", metavar="METER", help="the meter to which its money moves")
    where.add_argument("--to-reserve", action="store_true", help="its money moves to the house's reserve")
    _add_document(parser)


def add_move_reserve(parser: ArgumentParser) -> None:
    """The arguments of `pitctl meter reserve`."""
    add_control(parser)
    parser.add_argument("into", metavar="METER", help="the meter to which the house's reserve moves")
    _add_document(parser)


def _add_document(parser: ArgumentParser) -> None:
    parser.add_argument("--document", required=True, metavar="REFERENCE", help="the document by which the money moves")
    add_reason(parser)
