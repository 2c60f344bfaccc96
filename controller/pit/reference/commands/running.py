"""The commands of `pitctl` that run the pit, and that make what a pit needs before it runs: its key, and the files of
its machines."""

from __future__ import annotations

import gc
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from controller.basics.digest import check_approved, program_digest
from controller.basics.errors import TableError
from controller.basics.journald import Kind
from controller.basics.notify import notify
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import load_or_make_key, rotate_key, rotations_of
from controller.contract.wire.broker_options import add_broker, tls_files
from controller.contract.wire.mqtt_tls import TlsFiles
from controller.pit.reference.commands.options import (
    OF_THE_PACKAGE_CONTROL,
    add_key,
    add_ledger,
    existing,
    key_file,
    place,
)
from controller.pit.reference.desk import Desk
from controller.pit.reference.desk_socket import open_desk
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.log import say
from controller.pit.reference.machines import NAMES, write_files
from controller.pit.reference.opening import Place
from controller.pit.reference.service import Pit
from controller.pit.reference.settings import Settings, default, load
from controller.pit.reference.store import locked, missing, unusable

_STAND_BY_AFTER = ("leadership_lost", "ledger_unreachable", "commit_unconfirmed")
"""After these errors a pit on a database leaves the broker, and stands by until it may lead again."""

_STAND_BY_S = 0.5


def add_run(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl run` to its parser. `--ledger` is required, so a pit is never started on a ledger
    that nobody named."""
    what = "a file, or postgresql://HOST[,HOST]/DATABASE for pits that take over from each other; begun if missing"
    parser.add_argument("--ledger", type=place, required=True, metavar="FILE|URL", help=what)
    add_broker(parser, "the pit's")
    parser.add_argument(
        "--adopt-new", action="store_true", help="adopt the first epoch of a new table unasked: for demos and tests"
    )
    parser.add_argument(
        "--replicated",
        action="store_true",
        help="with PostgreSQL: acknowledge an event only once a synchronous standby of the database has it too",
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="the meters' terms from now on; without this option a ledger keeps its terms, and a new ledger gets those"
        " of config/pit.toml",
    )
    parser.add_argument(
        "--control",
        type=Path,
        metavar="FILE",
        help="the socket at which people decide; without this option LEDGER.control beside a ledger in a file, and"
        f" with PostgreSQL {OF_THE_PACKAGE_CONTROL}",
    )
    what = "believe whoever decides under which name (`--as`): for demos and tests; the record tells"
    parser.add_argument("--practice", action="store_true", help=what)
    add_key(parser)


def run(options: Namespace) -> int:
    """Run the pit until SIGTERM or Ctrl-C. An exit at any point is safe, because what is not committed is not
    acknowledged."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: sys.exit(0))
    tls = tls_files(options)
    settings = None if options.settings is None else load(options.settings)
    program = program_digest()
    check_approved(program, settings.approved if settings else (), f"[program] approved in {options.settings}")
    key = key_file(options)
    if isinstance(options.ledger, Path):
        try:
            options.ledger.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable(options.ledger, error.strerror) from error

    said: set[str] = set()  # since this pit led

    def stand_by(why: str, kind: Kind = Kind.PIT_TOLD) -> None:
        if why not in said:
            said.add(why)
            say(why, kind)
            notify("READY=1")  # a pit that stands by is ready to take over

    while True:
        try:
            with closing(Ledger(options.ledger, replicated=options.replicated)) as ledger:
                ledger.serve(stand_by)
                said.clear()
                _lead(ledger, options, settings, key, tls, program)
        except TableError as error:
            if error.code not in _STAND_BY_AFTER:
                raise
            stand_by(str(error), Kind.PIT_CUT)
            time.sleep(_STAND_BY_S)


def _lead(
    ledger: Ledger, options: Namespace, settings: Settings | None, key_at: Path, tls: TlsFiles | None, program: str
) -> NoReturn:
    """Prepare the ledger, the desk and the pit, and serve the tables. No other pit writes to the ledger meanwhile."""
    say(f"the digest of the program is {program}")
    ledger.watch_voids((settings or default()).most_voids_in_a_shoe)
    if options.settings is not None:
        ledger.name_settings(options.settings)
    key = load_or_make_key(key_at)
    rotations = rotations_of(key_at, key.public)
    ledger.sign_by(key, [key.public, *(bytes.fromhex(rotation.former) for rotation in rotations)])
    if settings is not None and (changed := ledger.set_house_rules(settings.house)):
        say(changed)
    _set_terms(ledger, settings)
    say(f"the pit's key has the fingerprint {fingerprint(key.public)}")
    host, port = options.broker
    pit = Pit(ledger, host, port, options.root, options.adopt_new, key, rotations, tls)
    gc.freeze()  # what the start made stays: no collection goes through it while tables wait
    control = _control(options)
    if control != OF_THE_PACKAGE_CONTROL:
        ledger.name_desk(control)
    groups = (settings or default()).roles
    desk = Desk(options.ledger, ledger.session(), key, groups, options.settings, options.practice)
    with open_desk(control, desk):
        notify("READY=1")
        pit.run()


def _set_terms(ledger: Ledger, settings: Settings | None) -> None:
    """Put the settings' terms of new meters into force. Changed terms of known meters wait until two people have
    approved them."""
    known = ledger.terms()
    # Without settings nobody said at which prices wagers may come.
    priceless = {name: replace(terms, prices_cents=()) for name, terms in default().meters.items()}
    wanted = (settings and settings.meters) or known or priceless
    for change in ledger.set_terms({**wanted, **{name: terms for name, terms in known.items() if name in wanted}}):
        say(change)
    with ledger.meter_terms() as terms:
        shown, differing = terms.approved(), terms.differing(wanted)
    for each in shown.terms:
        if each.waits:
            say(f"other terms of the meter {each.meter} wait until it is won: {each.terms}")
    for name in sorted(wanted.keys() - ledger.terms().keys()):
        say(f"the meter {name} is closed: take its name out of the settings")
    if differing:
        lines = "; ".join(map(str, differing))
        say(f"these terms do not hold before two people have approved them (`pitctl terms propose`): {lines}")
    say(f"the terms that run have the digest {shown.digest}")


def _control(options: Namespace) -> Path:
    """Return the path of the control socket at which people decide."""
    if options.control is not None:
        return Path(options.control)
    ledger: Place = options.ledger
    return ledger.with_name(f"{ledger.name}.control") if isinstance(ledger, Path) else OF_THE_PACKAGE_CONTROL


def add_key_of_ledger(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl key` or `pitctl rotate-key` to its parser."""
    add_ledger(parser)
    add_key(parser)


def show_key(options: Namespace) -> int:
    if isinstance(options.ledger, Path) and not options.ledger.is_file():
        raise missing(options.ledger)
    print(fingerprint(load_or_make_key(key_file(options)).public))
    return 0


def rotate(options: Namespace) -> int:
    def refuse(_: str) -> NoReturn:
        raise locked(options.ledger)

    with existing(options.ledger) as ledger:
        ledger.serve(refuse)  # no pit runs meanwhile
        key = rotate_key(key_file(options))
    print(f"the pit's new key has the fingerprint {fingerprint(key.public)}; start the pit, which tells its tables")
    return 0


def add_machines(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl machines` to its parser."""
    parser.add_argument("models", type=Path, metavar="MODELS", help=f"the folder of {NAMES} and of the models")
    parser.add_argument("into", type=Path, metavar="FOLDER", help="made new, with a folder for each machine")


def machines(options: Namespace) -> int:
    for folder in write_files(options.models, options.into):
        print(folder)
    print("Carry each folder to its machine by hand, and delete it here: the files hold the passwords.")
    return 0
