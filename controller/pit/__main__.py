"""`python -m controller.pit`: run the reference pit, adopt an epoch, see log, alarms, awards and account."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from controller.errors import TableError
from controller.mqtt_tls import TlsFiles, client_context
from controller.pit.awards import Award, Step
from controller.pit.ledger import Ledger, only_pit, read_alarms, read_log
from controller.pit.meters import money
from controller.pit.service import Pit
from controller.pit.settings import DEFAULT, load


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
    run.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="the meters' terms from now on; without it the ledger's own, for a new one config/pit.toml's",
    )
    for name, what in (("ca", "the house's CA"), ("certificate", "the pit's own"), ("private-key", "and its key")):
        run.add_argument(f"--{name}", type=Path, metavar="PEM", help=f"mutual TLS, all three or none: {what}")
    run.set_defaults(command=_run)

    adopt = commands.add_parser("adopt", help="hear a table in this epoch from now on; also while the pit runs")
    adopt.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    adopt.add_argument("table", metavar="TABLE")
    adopt.add_argument("epoch", metavar="EPOCH")
    adopt.add_argument("public_key", metavar="PUBLIC_KEY_HEX")
    adopt.set_defaults(command=_adopt)

    events = commands.add_parser(
        "events", help="print a table's events as they came, a line each: the log for `tablectl verify --against`"
    )
    events.add_argument("--ledger", type=Path, required=True, metavar="FILE", help="read only; also while the pit runs")
    events.add_argument("table", metavar="TABLE")
    events.add_argument("--epoch", metavar="EPOCH", help="without it the one adopted last")
    events.set_defaults(command=_events)

    alarms = commands.add_parser(
        "alarms", help="print every alarm that was kept, oldest first; also while the pit runs"
    )
    alarms.add_argument("--ledger", type=Path, required=True, metavar="FILE", help="read only")
    alarms.add_argument("table", nargs="?", metavar="TABLE", help="without it every table's")
    alarms.set_defaults(command=_alarms)

    award = commands.add_parser("award", help="see the awards, and decide on them; also while the pit runs")
    acts = award.add_subparsers(title="acts", required=True, metavar="ACT")
    listing = acts.add_parser("list", help="the awards that are pending or verified")
    listing.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    listing.add_argument("--all", action="store_true", help="the paid and rejected ones too")
    listing.set_defaults(command=_list_awards)
    steps: tuple[tuple[str, Step, str], ...] = (
        ("verify", "verified", "the hit is true: the cards, the seat and the amount were checked"),
        ("pay", "paid", "a verified award is paid"),
        ("reject", "rejected", "the hit is not true: its amount goes back on its meter"),
    )
    for act, step, what in steps:
        decision = acts.add_parser(act, help=what)
        decision.add_argument("--ledger", type=Path, required=True, metavar="FILE")
        decision.add_argument("award", metavar="AWARD")
        decision.add_argument("--by", required=True, metavar="NAME", help="who decides this")
        decision.set_defaults(command=_decide, step=step)

    recall = acts.add_parser(
        "recall", help="this ledger is an older copy: it takes over what the table told of the award"
    )
    recall.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    recall.add_argument("award", metavar="AWARD")
    recall.add_argument("--by", required=True, metavar="NAME", help="who has seen that it is true")
    recall.set_defaults(command=_recall)

    account = commands.add_parser("account", help="draw up the meters' account; exit code 1 when it does not balance")
    account.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    account.set_defaults(command=_account)
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
    tls = _tls(options)
    settings = None if options.settings is None else load(options.settings)
    with only_pit(options.ledger), closing(Ledger(options.ledger)) as ledger:
        for change in ledger.set_terms(settings or ledger.terms() or DEFAULT):
            print(f"pit: {change}", file=sys.stderr, flush=True)
        Pit(ledger, host, port, options.root, options.adopt_new, tls).run()


def _tls(options: argparse.Namespace) -> TlsFiles | None:
    files = (options.ca, options.certificate, options.private_key)
    if not any(files):
        return None
    if not all(files):
        raise TableError("tls_incomplete", "TLS needs all three files.", "Give --ca, --certificate and --private-key.")
    tls = TlsFiles(*files)
    client_context(tls)  # what is wrong with them is told before anything is begun
    return tls


def _adopt(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        ledger.adopt(options.table, options.epoch, options.public_key)
    print(f"table {options.table} is now heard in the epoch {options.epoch}")
    return 0


def _events(options: argparse.Namespace) -> int:
    _check_there(options.ledger)
    for body in read_log(options.ledger, options.table, options.epoch):
        sys.stdout.buffer.write(body + b"\n")
    sys.stdout.flush()  # now, while a pipe that broke is still met by `main`
    return 0


def _alarms(options: argparse.Namespace) -> int:
    _check_there(options.ledger)
    kept = read_alarms(options.ledger, options.table)
    for alarm in kept:
        print(alarm)
    if not kept:
        print("no alarms are kept" + ("" if options.table is None else f" of {options.table}"))
    sys.stdout.flush()  # now, while a pipe that broke is still met by `main`
    return 0


def _list_awards(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        awards = ledger.awards()
    shown = [award for award in awards if options.all or award.held or award.step in ("pending", "verified")]
    for award in shown:
        print(_told(award))
        if award.house_cents:
            print(f"    {money(award.house_cents)} of it is the house's: it was told at another amount than it is here")
        for telling in award.tellings:
            done = "to be recalled" if telling.recalled_by is None else f"recalled by {telling.recalled_by}"
            print(f"    told by the table: {telling}, {done}")
        if award.more:
            print(f"    {award.more} more winning wagers of this hand are still to be told")
        for alarm in award.alarms:
            print(f"    ! {alarm}")
    if not shown:
        print("no awards" if options.all else "no awards are open")
    return 0


def _decide(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        award = ledger.take_step(options.award, options.step, options.by)
    print(_told(award))
    return 0


def _recall(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        award = ledger.recall(options.award, options.by)
    print(_told(award))
    return 0


def _account(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        account = ledger.account()
    for meter in account.meters:
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
        print(f"    carried, in cents         {meter.carried!s:>18}  reserve {meter.reserve_carried}")
    print(f"awards owed {money(account.owed_cents)}, paid {money(account.paid_cents)}")
    if account.recalled_cents:
        print(f"of that, added by the house to what was recalled: {money(account.recalled_cents)}")
    for finding in account.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    if not account.findings:
        print("the account balances")
    return 1 if account.findings else 0


def _told(award: Award) -> str:
    won = award.meter or "fixed"
    hand = f"shoe {award.shoe} hand {award.round} seat {award.seat}"
    return f"{award.id}  {award.step:<8}  {money(award.cents):>14}  {hand}  {award.tier} ({won})"


@contextmanager
def _existing(path: Path) -> Iterator[Ledger]:
    _check_there(path)
    with closing(Ledger(path)) as ledger:
        yield ledger


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise TableError("ledger_missing", f"There is no ledger at {path}.", "Check --ledger; `run` begins one.")


if __name__ == "__main__":
    sys.exit(main())
