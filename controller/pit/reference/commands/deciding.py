"""The commands of `pitctl` that show the awards and the meters' account, and take people's decisions on awards."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from controller.basics.money import figures
from controller.basics.waited import waited_for
from controller.pit.reference.account import Account, MeterAccount
from controller.pit.reference.asked import award_lines
from controller.pit.reference.commands import asking
from controller.pit.reference.commands.options import add_control, add_json, add_ledger, existing, print_json, report


def add_list(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl award list` to its parser."""
    add_ledger(parser)
    parser.add_argument("--all", action="store_true", help="the paid and rejected awards too")
    add_json(parser, "the awards, as one JSON list")


def list_awards(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        awards = ledger.awards()
    shown = [award for award in awards if options.all or award.open]
    none = "no awards" if options.all else "no awards are open"
    return report(options, shown, [line for award in shown for line in award_lines(award)] or [none])


def add_decision(do: str) -> Callable[[ArgumentParser], None]:
    """Return a function that adds the arguments of one decision on an award to a parser. `do` is the pit's name of the
    decision."""

    def add(parser: ArgumentParser) -> None:
        add_control(parser)
        parser.add_argument("award", metavar="AWARD", help="the award, as `pitctl desk` names it")
        parser.set_defaults(decision=do, despite_doubts=False, without_waiting=False)
        if do in ("verify", "pay"):
            what = "the table doubts the round, and two people looked into it: decide all the same"
            parser.add_argument("--despite-doubts", action="store_true", help=what)
        if do == "verify":
            what = "the award waits for tables that may have won before, and two people decide without them"
            parser.add_argument("--without-waiting", action="store_true", help=what)

    return add


def decide(options: Namespace) -> int:
    despite = {name: True for name in ("despite_doubts", "without_waiting") if getattr(options, name)}
    return asking.decide(options, {"do": options.decision, "award": options.award, **despite})


def add_decisions(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl decisions` to its parser."""
    add_ledger(parser)
    parser.add_argument("--refused", action="store_true", help="what was refused, and to whom, in the place of these")
    add_json(parser, "everything, as one JSON list")


def decisions(options: Namespace) -> int:
    """Print the decisions that people took. With `--refused`, print instead the requests that the pit refused."""
    with existing(options.ledger) as ledger:
        found: Sequence[object] = ledger.refused() if options.refused else ledger.decided()
    return report(options, found, (_decision_line(each) if isinstance(each, dict) else each for each in found))


def _decision_line(decided: dict[str, Any]) -> str:
    """Return a decision as a line for people. A decision that an earlier version recorded names no person."""
    own = ("decision", "before", "at", "after", "by", "witness", "signature")
    told = ", ".join(f"{name} {value}" for name, value in decided.items() if name not in own)
    people = [" ".join(each.values()).strip() for each in (decided.get("by"), decided.get("witness")) if each]
    return f"{decided.get('at', 'at no known time')}  {' and '.join(people) or 'nobody named'}  {told}"


def add_account(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl account` to its parser."""
    add_ledger(parser)
    add_json(parser, "every figure, as one JSON object; the exit code stays the same")


def account(options: Namespace) -> int:
    """Draw up and print the account of the meters' money. Returns 1 if something in it does not balance."""
    with waited_for("Drawing up the account"), existing(options.ledger) as ledger:
        drawn_up = ledger.account()
    if options.json:
        print_json(drawn_up)
    else:
        _print_account(drawn_up)
    return 1 if drawn_up.findings else 0


def _print_account(drawn_up: Account) -> None:
    for meter in drawn_up.meters:
        _print_meter(meter)
    for award in drawn_up.awards:
        hits = f"{award.hits} hits ({award.rejected} rejected)"
        print(f"{award.spot} {award.award}: {hits}, won {figures(award.won_cents)}, paid {figures(award.paid_cents)}")
    print(f"awards owed {figures(drawn_up.owed_cents)}, paid {figures(drawn_up.paid_cents)}")
    if drawn_up.house_reserve_cents:
        print(f"the house's reserve, from closed meters: {figures(drawn_up.house_reserve_cents)}")
    if drawn_up.shown_cents:
        print(f"of these amounts the house added since tables had shown more: {figures(drawn_up.shown_cents)}")
    if drawn_up.recalled_cents:
        print(f"of these amounts the house added to recalled awards: {figures(drawn_up.recalled_cents)}")
    for finding in drawn_up.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    if not drawn_up.findings:
        print("the account balances")


def _print_meter(meter: MeterAccount) -> None:
    print(meter.meter)
    for what, cents in (
        ("seeds, by the house", meter.seeds_cents),
        ("contributions, less corrections", meter.contributions_cents),
        ("from the reserve", meter.from_reserve_cents),
        ("awards", -meter.awards_cents),
        ("rejected awards, back", meter.returned_cents),
        ("moved by closings", meter.moved_cents),
        ("= level", meter.level_cents),
        ("overflow over the limit", meter.overflow_cents),
        ("reserve", meter.reserve_cents),
    ):
        print(f"    {what:<26}{figures(cents):>18}")
    print(f"    qualifying wagers         {meter.wagers:>18,}  together {figures(meter.wagered_cents)}")
    print(f"    carried, in cents         {meter.carried!s:>18}  reserve {meter.reserve_carried}")
