"""`pitctl` shows the awards and the account, and takes people's decisions on awards."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from controller.pit.reference.account import Account, MeterAccount
from controller.pit.reference.awards import Award, Step, Telling
from controller.pit.reference.commands.options import add_json, add_ledger, add_person, existing, print_json
from controller.pit.reference.meters import money


def add_list(parser: ArgumentParser) -> None:
    """The arguments of `pitctl award list`."""
    add_ledger(parser)
    parser.add_argument("--all", action="store_true", help="the paid and rejected awards too")
    add_json(parser, "the awards, as one JSON list")


def list_awards(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        awards = ledger.awards()
    shown = [award for award in awards if options.all or award.held or award.step in ("pending", "verified")]
    if options.json:
        print_json(shown)
        return 0
    for award in shown:
        print(_award_line(award))
        if award.house_cents:
            print(f"    the house added {money(award.house_cents)}: the table told another amount than this ledger had")
        for telling in award.tellings:
            print(f"    told by the table: {telling}, {_became(telling)}")
        for doubt in award.doubts:
            print(f"    ? {doubt}")
        if award.more:
            print(f"    the table has yet to tell of {award.more} more winning wagers of this round")
        for alarm in award.alarms:
            print(f"    ! {alarm}")
    if not shown:
        print("no awards" if options.all else "no awards are open")
    return 0


def add_decision(step: Step) -> Callable[[ArgumentParser], None]:
    """The arguments of `pitctl award verify`, `pay` and `reject`, each of which takes one step."""

    def add(parser: ArgumentParser) -> None:
        _add_award(parser, "who decides this")
        parser.set_defaults(step=step, despite_doubts=False, witness=None)
        if step != "rejected":
            what = "the table doubts the round, and two people looked into it: decide all the same"
            parser.add_argument("--despite-doubts", action="store_true", help=what)
            parser.add_argument("--witness", metavar="NAME", help="the second person, who looked into the doubts too")

    return add


def _add_award(parser: ArgumentParser, who: str) -> None:
    add_ledger(parser)
    add_person(parser, "--by", who)
    parser.add_argument("award", metavar="AWARD", help="the award, as `pitctl award list` names it")


def decide(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        witness = (options.witness or "") if options.despite_doubts else None
        award = ledger.take_step(options.award, options.step, options.by, witness)
    print(_award_line(award))
    return 0


def add_recall(parser: ArgumentParser) -> None:
    """The arguments of `pitctl award recall`."""
    _add_award(parser, "who has seen that the steps are true")


def recall(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        award = ledger.recall(options.award, options.by)
    print(_award_line(award))
    return 0


def add_dismiss(parser: ArgumentParser) -> None:
    """The arguments of `pitctl award dismiss`."""
    _add_award(parser, "who has seen that the steps are false")
    add_person(parser, "--witness", "the second person")


def dismiss(options: Namespace) -> int:
    with existing(options.ledger) as ledger:
        award = ledger.dismiss(options.award, options.by, options.witness)
    print(_award_line(award))
    return 0


def add_account(parser: ArgumentParser) -> None:
    """The arguments of `pitctl account`."""
    add_ledger(parser)
    add_json(parser, "every figure, as one JSON object; the exit code stays the same")


def account(options: Namespace) -> int:
    """Draw up the meters' account."""
    with existing(options.ledger) as ledger:
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
        print(f"{award.spot} {award.award}: {hits}, won {money(award.won_cents)}, paid {money(award.paid_cents)}")
    print(f"awards owed {money(drawn_up.owed_cents)}, paid {money(drawn_up.paid_cents)}")
    if drawn_up.recalled_cents:
        print(f"of these amounts the house added to recalled awards: {money(drawn_up.recalled_cents)}")
    for finding in drawn_up.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    if not drawn_up.findings:
        print("the account balances")


def _print_meter(meter: MeterAccount) -> None:
    print(meter.meter)
    for what, cents in (
        ("seeds, by the house", meter.seeds_cents),
        ("contributions, less voids", meter.contributions_cents),
        ("from the reserve", meter.from_reserve_cents),
        ("awards", -meter.awards_cents),
        ("rejected awards, back", meter.returned_cents),
        ("= level", meter.level_cents),
        ("reserve", meter.reserve_cents),
    ):
        print(f"    {what:<26}{money(cents):>18}")
    print(f"    qualifying wagers         {meter.wagers:>18,}  together {money(meter.wagered_cents)}")
    print(f"    carried, in cents         {meter.carried!s:>18}  reserve {meter.reserve_carried}")


def _award_line(award: Award) -> str:
    won = award.meter or "fixed"
    where = f"shoe {award.shoe} round {award.round} seat {award.seat}"
    return f"{award.id}  {award.step:<8}  {money(award.cents):>14}  {where}  {award.spot} {award.tier} ({won})"


def _became(telling: Telling) -> str:
    if telling.dismissed_by is not None:
        return f"dismissed as false by {telling.dismissed_by}, witness {telling.dismissed_witness}"
    return "to be recalled or dismissed" if telling.recalled_by is None else f"recalled by {telling.recalled_by}"
