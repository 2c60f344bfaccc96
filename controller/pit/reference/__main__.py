"""`pitctl`: run the reference pit, adopt an epoch, see log, alarms, awards and account."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from controller.basics.errors import TableError
from controller.basics.notify import notify
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import load_or_make_key, rotate_key, rotations_of
from controller.contract.wire.broker_options import add_broker, tls_files
from controller.pit.reference import house_log
from controller.pit.reference.adoptions import Adoption
from controller.pit.reference.awards import Award, Step, Telling
from controller.pit.reference.keeping import Kept, back_up, restore, verify_backup
from controller.pit.reference.ledger import Ledger, Place, read_alarms, read_log
from controller.pit.reference.machines import NAMES, write_files
from controller.pit.reference.meters import money
from controller.pit.reference.service import Pit, say
from controller.pit.reference.settings import default, load
from controller.pit.reference.store import locked, missing, unusable

OF_THE_PACKAGE = Path("/var/lib/table-pit/ledger")
"""The ledger of the pit that the package runs as a service, where the variable LEDGER names no other."""
OF_THE_PACKAGE_KEY = OF_THE_PACKAGE.with_name("ledger.key")

_STAND_BY_AFTER = ("leadership_lost", "ledger_unreachable", "commit_unconfirmed")
"""After these errors a pit on a database leaves the broker, and stands by until it may lead again."""

_STAND_BY_S = 0.5
_FOLLOW_S = 1.0


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code. An error goes to standard error, with what to do."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone
        return 1
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of all commands of the pit."""
    parser = argparse.ArgumentParser(
        prog="pitctl", description="The reference pit: commits every event of its tables, in order."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    what = "a file, or postgresql://HOST[,HOST]/DATABASE for pits that take over from each other; begun if missing"
    does = "run the pit: commit and acknowledge what tables send, until SIGTERM or Ctrl-C"
    run = _add(commands, "run", does, _run, ledger=what)
    add_broker(run, "the pit's")
    run.add_argument(
        "--adopt-new", action="store_true", help="adopt the first epoch of a new table unasked: for demos and tests"
    )
    run.add_argument(
        "--replicated",
        action="store_true",
        help="with PostgreSQL: acknowledge an event only once a synchronous standby of the database has it too",
    )
    run.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="the meters' terms from now on; without this option a ledger keeps its terms, and a new ledger gets those"
        " of config/pit.toml",
    )
    _add_key(run)

    _add_key(_add(commands, "key", "the fingerprint of the pit's key, to be compared with `tablectl pit-key`", _key))
    what = "give the pit a new key, which the former key signs; not while the pit runs"
    _add_key(_add(commands, "rotate-key", what, _rotate_key))

    adopt = _add(commands, "adopt", "hear a table in this epoch from now on; also while the pit runs", _adopt)
    adopt.add_argument("table", metavar="TABLE")
    adopt.add_argument("epoch", metavar="EPOCH")
    adopt.add_argument(
        "key", metavar="KEY", help="the table's public key, or its fingerprint as `tablectl status` shows it"
    )
    adopt.add_argument("--yes", action="store_true", help="do not ask: for scripts that have compared the key")

    what = "take back a wrong adoption of which no award is paid: what came under the adoption counts no more"
    unadopt = _add(commands, "unadopt", what, _unadopt, by="who takes the adoption back")
    unadopt.add_argument("table", metavar="TABLE")
    unadopt.add_argument("epoch", metavar="EPOCH")
    unadopt.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever looks later")

    what = "a table is gone for good: neither wait for the table nor hear it, until somebody adopts it again"
    retire = _add(commands, "retire", what, _retire, by="who says so", witness="a second person who has seen it")
    retire.add_argument("table", metavar="TABLE")
    retire.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever looks later")

    what = "print a table's log, for `tablectl verify --against`; or every table's events, for head office"
    events = _add(commands, "events", what, _events, ledger="read only; also while the pit runs")
    events.add_argument("table", nargs="?", metavar="TABLE", help="without TABLE every table's, for head office")
    events.add_argument("--epoch", metavar="EPOCH", help="of TABLE; without this option the epoch adopted last")
    what = "of every table: the events after position N (%(default)s: from the beginning)"
    events.add_argument("--from", type=int, default=0, dest="after", metavar="N", help=what)
    form = events.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="of every table: signed events with positions (the default)")
    form.add_argument("--csv", action="store_true", help="of every table: a spreadsheet, which proves nothing")
    events.add_argument("--follow", action="store_true", help="of every table: print new events too, until Ctrl-C")

    what = "print how the ledger stands, signed: the last line of a log for head office; also while the pit runs"
    _add_key(_add(commands, "statement", what, _statement, ledger="read only"))

    what = "pack the ledger and the pit's key into a new file, and read it back; also while the pit runs"
    backup = _add(commands, "backup", what, _backup, ledger="a file")
    backup.add_argument("to", type=Path, metavar="FILE")
    _add_key(backup)
    _add_passphrase(backup, "the first line of this file seals the key inside (default: it is asked for, twice)")
    check = commands.add_parser("verify", help="check a backup without restoring it")
    check.add_argument("source", type=Path, metavar="FILE")
    _add_passphrase(check, "try whether the first line of this file opens the key inside")
    check.set_defaults(command=_verify)
    what = "put a backup in the place of the ledger, which is set aside; not while the pit runs"
    restore = _add(commands, "restore", what, _restore, ledger="the file to put the backup's ledger in")
    restore.add_argument("source", type=Path, metavar="FILE")
    _add_passphrase(restore, "the first line of this file opens the key inside (default: it is asked for)")
    what = "restore a folder without a signature, which an earlier version made"
    restore.add_argument("--unsigned", action="store_true", help=what)
    restore.add_argument("--by", metavar="NAME", help="who decides so, if the ledger in place has more than the backup")
    _add_key(restore)

    what = "print every alarm that was kept, oldest first; also while the pit runs"
    alarms = _add(commands, "alarms", what, _alarms, ledger="read only")
    alarms.add_argument("table", nargs="?", metavar="TABLE", help="without TABLE every table's")

    what = "write the files of a pit on two machines, with new passwords, from one file of names and addresses"
    machines = commands.add_parser("machines", help=what)
    machines.add_argument("models", type=Path, metavar="MODELS", help=f"the folder of {NAMES} and of the models")
    machines.add_argument("into", type=Path, metavar="FOLDER", help="made new, with a folder for each machine")
    machines.set_defaults(command=_machines)

    award = commands.add_parser("award", help="see the awards, and decide on them; also while the pit runs")
    acts = award.add_subparsers(title="acts", required=True, metavar="ACT")
    listing = _add(acts, "list", "the awards that are pending or verified", _list_awards)
    listing.add_argument("--all", action="store_true", help="the paid and rejected awards too")
    steps: tuple[tuple[str, Step, str], ...] = (
        ("verify", "verified", "the hit is true: the cards, the seat and the amount were checked"),
        ("pay", "paid", "a verified award is paid"),
        ("reject", "rejected", "the hit is not true: the amount goes back on the meter"),
    )
    for act, step, what in steps:
        decision = _add(acts, act, what, _decide, by="who decides this")
        decision.add_argument("award", metavar="AWARD")
        decision.set_defaults(step=step, despite_doubts=False, witness=None)
        if step != "rejected":
            what = "the table doubts the round, and two people looked into it: decide all the same"
            decision.add_argument("--despite-doubts", action="store_true", help=what)
            decision.add_argument("--witness", metavar="NAME", help="the second person, who looked into the doubts too")
    what = "this ledger is an older copy: take over the steps that the table told of the award"
    seen = "who has seen that the steps are true"
    _add(acts, "recall", what, _recall, by=seen).add_argument("award", metavar="AWARD")
    what = "nobody took the steps that the table told of the award: two people dismiss what the table told"
    seen = "who has seen that the steps are false"
    dismiss = _add(acts, "dismiss", what, _dismiss, by=seen, witness="the second person")
    dismiss.add_argument("award", metavar="AWARD")

    _add(commands, "account", "draw up the meters' account; exit code 1 where the account does not balance", _account)
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    help_: str,
    command: Callable[[argparse.Namespace], int],
    ledger: str | None = None,
    by: str | None = None,
    witness: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command on a ledger. `ledger`, `by` and `witness` are what the help says of these options."""
    added = commands.add_parser(name, help=help_)
    runs = name == "run"  # a pit is never started on a ledger that nobody named
    default = None if runs else place(os.environ.get("LEDGER") or str(OF_THE_PACKAGE))
    says = "; ".join((*([ledger] if ledger else []), *([] if runs else ["without this option the package's"])))
    added.add_argument("--ledger", type=place, required=runs, default=default, metavar="FILE|URL", help=says)
    for option, person in (("--by", by), ("--witness", witness)):
        if person is not None:
            added.add_argument(option, required=True, metavar="NAME", help=person)
    added.set_defaults(command=command)
    return added


def _add_passphrase(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--passphrase-file", type=Path, metavar="FILE", help=what)


def _add_key(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--signing-key",
        type=Path,
        metavar="FILE",
        help="the pit's own key; for a ledger in a file LEDGER.key, which the first run makes; with PostgreSQL "
        f"without this option {OF_THE_PACKAGE_KEY}",
    )


def place(text: str) -> Place:
    """What `--ledger` names."""
    return text if text.startswith(("postgresql://", "postgres://")) else Path(text)


def _key_file(options: argparse.Namespace) -> Path:
    """The file of the pit's key. Raises TableError `signing_key_missing`.

    The pits of one database have one key, so no pit makes a key there.
    """
    ledger: Place = options.ledger
    if isinstance(ledger, Path):
        return options.signing_key or ledger.with_name(ledger.name + ".key")
    given: Path = options.signing_key or OF_THE_PACKAGE_KEY
    if options.command is not _key and not given.exists():
        do = f"Copy the pit's key there, with its rotations. For a new pit make one, once: key --signing-key {given}"
        raise TableError("signing_key_missing", f"There is no key {given}.", do)
    return given


def _run(options: argparse.Namespace) -> int:
    # An exit at any point is safe, as a kill is: what is not committed is not acknowledged.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: sys.exit(0))
    host, port = options.broker
    tls = tls_files(options)
    settings = None if options.settings is None else load(options.settings)
    key_file = _key_file(options)
    if isinstance(options.ledger, Path):
        try:
            options.ledger.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable(options.ledger, error.strerror) from error

    said: set[str] = set()  # since this pit led

    def stand_by(why: str) -> None:
        if why not in said:
            said.add(why)
            say(why)
            notify("READY=1")  # a pit that stands by is ready to take over

    def lead() -> NoReturn:
        with closing(Ledger(options.ledger, replicated=options.replicated)) as ledger:
            ledger.serve(stand_by)
            said.clear()
            ledger.watch_voids((settings or default()).most_voids_in_a_shoe)
            if options.settings is not None:
                ledger.name_settings(options.settings)
            for change in ledger.set_terms((settings and settings.meters) or ledger.terms() or default().meters):
                say(change)
            key = load_or_make_key(key_file)
            say(f"the pit's key has the fingerprint {fingerprint(key.public)}")
            rotations = rotations_of(key_file, key.public)
            pit = Pit(ledger, host, port, options.root, options.adopt_new, key, rotations, tls)
            notify("READY=1")
            pit.run()

    while True:
        try:
            lead()
        except TableError as error:
            if error.code not in _STAND_BY_AFTER:
                raise
            stand_by(str(error))
            time.sleep(_STAND_BY_S)


def _key(options: argparse.Namespace) -> int:
    if isinstance(options.ledger, Path) and not options.ledger.is_file():
        raise missing(options.ledger)
    print(fingerprint(load_or_make_key(_key_file(options)).public))
    return 0


def _machines(options: argparse.Namespace) -> int:
    for folder in write_files(options.models, options.into):
        print(folder)
    print("Carry each folder to its machine by hand, and delete it here: the files hold the passwords.")
    return 0


def _rotate_key(options: argparse.Namespace) -> int:
    def refuse(_: str) -> NoReturn:
        raise locked(options.ledger)

    with _existing(options.ledger) as ledger:
        ledger.serve(refuse)  # no pit runs meanwhile
        key = rotate_key(_key_file(options))
    print(f"the pit's new key has the fingerprint {fingerprint(key.public)}; start the pit, which tells its tables")
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
    print("Compare the key with `tablectl status` at the table: a thief's machine has another key.")
    try:
        answer = input("Adopt this key? Write the whole word yes, or no: ")
    except EOFError:
        answer = ""
    if answer.strip().lower() != "yes":
        do = "Where the keys are the same, write the whole word yes. Where they differ, find out whose key this is."
        raise TableError("adoption_declined", f"Table {table} was not adopted.", do)


def _unadopt(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        set_aside_as = ledger.unadopt(options.table, options.epoch, options.by, options.reason)
    print(f"table {options.table} is not heard in the epoch {options.epoch} any more; its events there count no more")
    print(f"those events are kept for the audit: events --epoch {set_aside_as}")
    return 0


def _retire(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        ledger.retire(options.table, options.by, options.witness, options.reason)
    print(f"table {options.table} is not heard any more, until somebody adopts it again")
    print("people can decide on its awards without what the table knows: see that none of these awards was paid")
    return 0


def _events(options: argparse.Namespace) -> int:
    if options.table is None:
        return _every_event(options)
    for body in read_log(options.ledger, options.table, options.epoch):
        sys.stdout.buffer.write(body + b"\n")
    sys.stdout.flush()  # here, where `main` still catches a broken pipe
    return 0


def _every_event(options: argparse.Namespace) -> int:
    if options.csv and options.after == 0:
        print(",".join(house_log.COLUMNS))
    line_of = house_log.csv_line if options.csv else house_log.json_line
    after: int = options.after
    while True:
        for position, epoch, event in house_log.read_events(options.ledger, after):
            print(line_of(position, epoch, event))
            after = position
        sys.stdout.flush()
        if not options.follow:
            return 0
        time.sleep(_FOLLOW_S)


def _statement(options: argparse.Namespace) -> int:
    key_file = _key_file(options)
    if not key_file.is_file():
        raise TableError("signing_key_missing", f"There is no key {key_file}.", "Name the pit's key: --signing-key.")
    key = load_or_make_key(key_file)
    print(house_log.statement(options.ledger, key, key.public).decode())
    return 0


def _backup(options: argparse.Namespace) -> int:
    kept = back_up(options.ledger, _key_beside(options), options.to, options.passphrase_file)
    print(f"{options.to}: {kept.events}; read back")
    print("The passphrase seals the pit's key inside. Keep it apart from the backup.")
    return _print_findings(kept)


def _verify(options: argparse.Namespace) -> int:
    kept = verify_backup(options.source, options.passphrase_file)
    print(f"{options.source}: of {kept.at}, {kept.events}; all good")
    if kept.public_key is None:
        print("It is not signed, and its key is not sealed: an earlier version wrote it. Make a new backup.")
        return _print_findings(kept)
    print(f"It is signed by the key of fingerprint {fingerprint(kept.public_key)}. The tables must show the same.")
    if options.passphrase_file is not None:
        print("The passphrase opens the key inside, and that key signed the backup.")
    return _print_findings(kept)


def _restore(options: argparse.Namespace) -> int:
    secret, unsigned = options.passphrase_file, options.unsigned
    kept, aside = restore(options.source, options.ledger, _key_beside(options), options.by, secret, unsigned=unsigned)
    if aside is not None:
        print(f"The ledger that was here is kept as {aside}.")
    print(f"{options.ledger} is as it was at {kept.at}: {kept.events}.")
    print("Start the pit: the tables send again what the ledger lacks. Until then nobody can decide on an award.")
    print("Then look at `award list`: it shows what was decided since the backup, as the tables tell, to be recalled.")
    print("An award may have been paid while no table was told of the payment. Ask the cashier before you pay.")
    return _print_findings(kept)


def _key_beside(options: argparse.Namespace) -> Path:
    return _key_file(options) if isinstance(options.ledger, Path) else Path()


def _print_findings(kept: Kept) -> int:
    for finding in kept.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    return 1 if kept.findings else 0


def _alarms(options: argparse.Namespace) -> int:
    kept = read_alarms(options.ledger, options.table)
    for alarm in kept:
        print(alarm)
    if not kept:
        print("no alarms are kept" + ("" if options.table is None else f" of {options.table}"))
    sys.stdout.flush()  # here, where `main` still catches a broken pipe
    return 0


def _list_awards(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        awards = ledger.awards()
    shown = [award for award in awards if options.all or award.held or award.step in ("pending", "verified")]
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


def _decide(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        witness = (options.witness or "") if options.despite_doubts else None
        award = ledger.take_step(options.award, options.step, options.by, witness)
    print(_award_line(award))
    return 0


def _recall(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        award = ledger.recall(options.award, options.by)
    print(_award_line(award))
    return 0


def _dismiss(options: argparse.Namespace) -> int:
    with _existing(options.ledger) as ledger:
        award = ledger.dismiss(options.award, options.by, options.witness)
    print(_award_line(award))
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
        print(f"of these amounts the house added to recalled awards: {money(account.recalled_cents)}")
    for finding in account.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    if not account.findings:
        print("the account balances")
    return 1 if account.findings else 0


def _award_line(award: Award) -> str:
    won = award.meter or "fixed"
    where = f"shoe {award.shoe} round {award.round} seat {award.seat}"
    return f"{award.id}  {award.step:<8}  {money(award.cents):>14}  {where}  {award.spot} {award.tier} ({won})"


def _became(telling: Telling) -> str:
    if telling.dismissed_by is not None:
        return f"dismissed as false by {telling.dismissed_by}, witness {telling.dismissed_witness}"
    return "to be recalled or dismissed" if telling.recalled_by is None else f"recalled by {telling.recalled_by}"


def _existing(at: Place) -> closing[Ledger]:
    return closing(Ledger(at, begin=False))


if __name__ == "__main__":
    sys.exit(main())
