"""The commands `pitctl terms …`, by which people see the meters' terms and decide on them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from controller.pit.reference.commands.options import (
    add_control,
    add_json,
    add_ledger,
    add_reason,
    existing,
    report,
)


def add_show(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl terms show` to its parser."""
    add_ledger(parser)
    add_json(parser, "the terms and their digest, as one JSON object")


def show(options: Namespace) -> int:
    """Print the meters' terms in force, and the terms that wait."""
    with existing(options.ledger) as ledger, ledger.meter_terms() as terms:
        shown = terms.approved()
    return report(options, shown, [*shown.terms, f"the terms that run have the digest {shown.digest}"])


def add_propose(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl terms propose` to its parser."""
    add_control(parser)
    what = "a closed meter that begins again at its seed, on its terms in the settings; may be repeated"
    parser.add_argument("--open-again", action="append", default=[], metavar="METER", help=what)
    add_reason(parser)


def add_withdraw(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl terms withdraw` to its parser."""
    add_control(parser)
    parser.add_argument("meter", metavar="METER", help="the meter whose terms wait")
    add_reason(parser)
