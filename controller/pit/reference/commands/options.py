"""The options that several commands of `pitctl` share, for example for the ledger, the reason, the key and the
passphrase."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from msgspec import to_builtins

from controller.basics.errors import TableError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place

OF_THE_PACKAGE = Path("/var/lib/table-pit/ledger")
"""The ledger of the pit that the package runs as a service, where the variable LEDGER names no other."""
OF_THE_PACKAGE_KEY = OF_THE_PACKAGE.with_name("ledger.key")
OF_THE_PACKAGE_CONTROL = Path("/run/table-pit/control")
"""The control socket of that pit, where the variable CONTROL names no other."""


def add_ledger(parser: ArgumentParser, what: str = "") -> None:
    """Add the option `--ledger`, which names the ledger. The default is the environment variable LEDGER, or else the
    installed package's ledger. `what` says in the help what the command does with the ledger."""
    default = place(os.environ.get("LEDGER") or str(OF_THE_PACKAGE))
    says = "; ".join(filter(None, (what, "without this option the package's")))
    parser.add_argument("--ledger", type=place, default=default, metavar="FILE|URL", help=says)


def add_control(parser: ArgumentParser) -> None:
    """Add the option `--control`, which names the pit's control socket. The default is the environment variable
    CONTROL, or else the installed package's socket. Also add `--as` and `--with`, which name the people who decide, at
    a pit for practice."""
    default = Path(os.environ.get("CONTROL") or OF_THE_PACKAGE_CONTROL)
    what = "the running pit's control socket; without this option the package's"
    parser.add_argument("--control", type=Path, default=default, metavar="FILE", help=what)
    parser.add_argument("--as", dest="practised_by", metavar="NAME", help="at a pit for practice alone: who you are")
    parser.add_argument("--with", dest="practised_with", metavar="NAME", help="and the second person, who confirms")


def add_reason(parser: ArgumentParser) -> None:
    """Add the required option `--reason`, in which a person gives the reason for a decision."""
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever looks later")


def add_json(parser: ArgumentParser, what: str) -> None:
    """Add the option `--json`, which prints the report as JSON for a program."""
    parser.add_argument("--json", action="store_true", help=what)


def add_passphrase(parser: ArgumentParser, what: str) -> None:
    """Add the option `--passphrase-file`, which names the file of the passphrase that seals a backup's key."""
    parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help=what)


def add_key(parser: ArgumentParser) -> None:
    """Add the option `--signing-key`, which names the file of the pit's key."""
    parser.add_argument(
        "--signing-key",
        type=Path,
        metavar="FILE",
        help="the pit's own key; for a ledger in a file LEDGER.key, which the first run makes; with PostgreSQL "
        f"without this option {OF_THE_PACKAGE_KEY}",
    )


def print_json(reported: object) -> None:
    """Print a report as JSON for a program. A number that is kept as a fraction, such as a carried part of a cent, is
    written as text: "1/3"."""
    print(json.dumps(to_builtins(reported, enc_hook=str), indent=2))


def report(options: Namespace, found: object, lines: Iterable[object]) -> int:
    """Print `found` as JSON if the command line has `--json`. Otherwise print `lines`, for people. Returns the exit
    code 0."""
    if options.json:
        print_json(found)
    else:
        for line in lines:
            print(line)
    sys.stdout.flush()  # here, where `main` still catches a broken pipe
    return 0


def place(text: str) -> Place:
    """Parse the value of `--ledger`: the address of a PostgreSQL database, or the path of a file."""
    return text if text.startswith(("postgresql://", "postgres://")) else Path(text)


def existing(at: Place) -> closing[Ledger]:
    """Open a ledger that exists already. The ledger is closed at the end of the `with` block."""
    return closing(Ledger(at, begin=False))


def key_file(options: Namespace) -> Path:
    """Return the path of the pit's key. Raises TableError `signing_key_missing` if the ledger is a database and that
    file is missing. The command `key`, which makes the key, does not raise this.

    All pits of one database share one key, so a pit that runs on a database never makes a key by itself.
    """
    ledger: Place = options.ledger
    if isinstance(ledger, Path):
        return options.signing_key or ledger.with_name(ledger.name + ".key")
    given: Path = options.signing_key or OF_THE_PACKAGE_KEY
    if options.command.name != "key" and not given.exists():
        do = f"Copy the pit's key there, with its rotations. For a new pit make one, once: key --signing-key {given}"
        raise TableError("signing_key_missing", f"There is no key {given}.", do)
    return given
