"""`pitctl terms`: the meters' terms, seen and decided on."""

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
    """The arguments of `pitctl terms show`."""
    add_ledger(parser)
    add_json(parser, "the terms and their digest, as one JSON object")


def show(options: Namespace) -> int:
    """Show what runs, and what waits."""
    with existing(options.ledger) as ledger, ledger.meter_terms() as terms:
        shown = terms.approved()
    return report(options, shown, [*shown.terms, f"the terms that run have the digest {shown.digest}"])


def add_propose(parser: ArgumentParser) -> None:
    """The arguments of `pitctl terms propose`."""
    add_control(parser)
    what = "a closed meter that begins again at its seed, on its terms in the settings; may be repeated"
    parser.add_argument("--open-again", action="append", default=[], metavar="METER", help=what)
    add_reason(parser)


def add_withdraw(parser: ArgumentParser) -> None:
    """The arguments of `pitctl terms withdraw`."""
    add_control(parser)
    parser.add_argument("meter", metavar="METER", help="the meter whose terms wait")
    add_reason(parser)
