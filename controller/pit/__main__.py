"""`python -m controller.pit`: run the reference pit, adopt an epoch, see log, alarms, awards and account."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from controller.contract.fingerprint import fingerprint
from controller.delivery.mqtt_tls import TlsFiles, client_context
from controller.errors import TableError
from controller.keys import load_or_make_key, rotate_key, rotations_of
from controller.pit.adoptions import Adoption
from controller.pit.awards import Award, Step, Telling
from controller.pit.ledger import Ledger, read_alarms, read_log
from controller.pit.ledger_file import PitLock, unusable
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
    run.add_argument("--crl", type=Path, metavar="PEM", help="with TLS: the CA's list of revoked certificates")
    _add_key(run)
    run.set_defaults(command=_run)

    key = commands.add_parser("key", help="the fingerprint of the pit's key, to be compared with `tablectl pit-key`")
    key.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    _add_key(key)
    key.set_defaults(command=_key)

    what = "give the pit a new key, which the former one signs; not while it runs"
    rotate = commands.add_parser("rotate-key", help=what)
    rotate.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    _add_key(rotate)
    rotate.set_defaults(command=_rotate_key)

    adopt = commands.add_parser("adopt", help="hear a table in this epoch from now on; also while the pit runs")
    adopt.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    adopt.add_argument("table", metavar="TABLE")
    adopt.add_argument("epoch", metavar="EPOCH")
    adopt.add_argument(
        "key", metavar="KEY", help="the table's public key, or its fingerprint as `tablectl status` shows it"
    )
    adopt.add_argument("--yes", action="store_true", help="do not ask: for scripts that have compared the key")
    adopt.set_defaults(command=_adopt)

    unadopt = commands.add_parser(
        "unadopt", help="an adoption was wrong, and nothing of it was paid: what came under it counts no more"
    )
    unadopt.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    unadopt.add_argument("table", metavar="TABLE")
    unadopt.add_argument("epoch", metavar="EPOCH")
    unadopt.add_argument("--by", required=True, metavar="NAME", help="who takes it back")
    unadopt.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever looks later")
    unadopt.set_defaults(command=_unadopt)

    retire = commands.add_parser(
        "retire", help="a table is gone for good: it is not waited for, and not heard until it is adopted again"
    )
    retire.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    retire.add_argument("table", metavar="TABLE")
    retire.add_argument("--by", required=True, metavar="NAME", help="who says so")
    retire.add_argument("--witness", required=True, metavar="NAME", help="a second person who has seen it")
    retire.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever looks later")
    retire.set_defaults(command=_retire)

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

    dismiss = acts.add_parser(
        "dismiss", help="what the table told of the award is false, and nobody did so: two people say that"
    )
    dismiss.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    dismiss.add_argument("award", metavar="AWARD")
    dismiss.add_argument("--by", required=True, metavar="NAME", help="who has seen that it is false")
    dismiss.add_argument("--witness", required=True, metavar="NAME", help="the second person")
    dismiss.set_defaults(command=_dismiss)

    account = commands.add_parser("account", help="draw up the meters' account; exit code 1 when it does not balance")
    account.add_argument("--ledger", type=Path, required=True, metavar="FILE")
    account.set_defaults(command=_account)
    return parser


def _add_key(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--signing-key", type=Path, metavar="FILE", help="the pit's own key, made at its first run (LEDGER.key)"
    )


def _key_file(options: argparse.Namespace) -> Path:
    ledger: Path = options.ledger
    return options.signing_key or ledger.with_name(ledger.name + ".key")


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
    try:
        options.ledger.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(options.ledger, error.strerror) from error
    with closing(Ledger(options.ledger)) as ledger:
        ledger.serve()
        for change in ledger.set_terms(settings or ledger.terms() or DEFAULT):
            print(f"pit: {change}", file=sys.stderr, flush=True)
        key = load_or_make_key(_key_file(options))
        rotations = rotations_of(_key_file(options), key.public)
        print(f"pit: its key's fingerprint is {fingerprint(key.public)}", file=sys.stderr, flush=True)
        Pit(ledger, host, port, options.root, options.adopt_new, key, rotations, tls).run()


def _tls(options: argparse.Namespace) -> TlsFiles | None:
    files = (options.ca, options.certificate, options.private_key)
    if not any(files):
        if options.crl is not None:
            raise TableError("tls_incomplete", "--crl is for TLS.", "Give --ca, --certificate and --private-key too.")
        return None
    if not all(files):
        raise TableError("tls_incomplete", "TLS needs all three files.", "Give --ca, --certificate and --private-key.")
    tls = TlsFiles(*files, options.crl)
    client_context(tls)  # what is wrong with them is told before anything is begun
    return tls


def _key(options: argparse.Namespace) -> int:
    _check_there(options.ledger)
    print(fingerprint(load_or_make_key(_key_file(options)).public))
    return 0


def _rotate_key(options: argparse.Namespace) -> int:
    _check_there(options.ledger)
    with closing(PitLock(options.ledger)):  # the pit does not run
        key = rotate_key(_key_file(options))
    print(f"the pit's new key has the fingerprint {fingerprint(key.public)}; start the pit: it tells its tables")
    return 0


def _adopt(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        offered = ledger.offered(options.table, options.epoch, options.key)
        if not options.yes:
            _confirm_adoption(options.table, offered)
        adopted = ledger.adopt(options.table, options.epoch, offered.public_key.hex())
    print(f"table {options.table} is now heard in the epoch {options.epoch}, under the key {adopted.fingerprint}")
    return 0


def _confirm_adoption(table: str, offered: Adoption) -> None:
    """Let a person compare the key. Raises TableError `nobody_to_ask` or `adoption_declined`."""
    print(f"table   {table}\nepoch   {offered.epoch}\nkey     {offered.fingerprint}")
    if not sys.stdin.isatty():
        raise TableError(
            "nobody_to_ask",
            "An adoption is a person's decision, and standard input is no terminal.",
            "Compare the key with `tablectl status` at the table; then run this on a terminal, or with --yes.",
        )
    print("Compare the key with `tablectl status` at the table: a thief's table shows another one.")
    try:
        answer = input("Adopt this key? [yes/no] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() != "yes":
        do = "Where the keys differ, find out which machine speaks for the table."
        raise TableError("adoption_declined", f"Table {table} was not adopted.", do)


def _unadopt(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        set_aside_as = ledger.unadopt(options.table, options.epoch, options.by, options.reason)
    print(f"table {options.table} is not heard in the epoch {options.epoch} any more, and what it sent counts no more")
    print(f"it is kept for the audit: events --epoch {set_aside_as}")
    return 0


def _retire(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        ledger.retire(options.table, options.by, options.witness, options.reason)
    print(f"table {options.table} is not heard any more, until somebody adopts it again")
    print("its awards can be decided on, and what it knows of them is not asked: see that none was paid")
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
            print(f"    told by the table: {telling}, {_became(telling)}")
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


def _dismiss(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        award = ledger.dismiss(options.award, options.by, options.witness)
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
    return f"{award.id}  {award.step:<8}  {money(award.cents):>14}  {hand}  {award.spot} {award.tier} ({won})"


def _became(telling: Telling) -> str:
    if telling.dismissed_by is not None:
        return f"dismissed as false by {telling.dismissed_by}, witness {telling.dismissed_witness}"
    return "to be recalled or dismissed" if telling.recalled_by is None else f"recalled by {telling.recalled_by}"


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
