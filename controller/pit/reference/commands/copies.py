"""The commands of `pitctl` that make, check and restore backups of the pit."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.contract.fingerprint import fingerprint
from controller.pit.reference import keeping
from controller.pit.reference.commands.options import (
    add_json,
    add_key,
    add_ledger,
    add_passphrase,
    key_file,
    print_json,
)
from controller.pit.reference.keeping import Kept
from controller.pit.reference.reports import BackupTold


def add_backup(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl backup` to its parser."""
    add_ledger(parser, "a file")
    parser.add_argument("to", type=Path, metavar="FILE", help="the file to write; no existing file is replaced")
    add_key(parser)
    add_passphrase(parser, "the first line of this file seals the key inside (default: it is asked for, twice)")


def backup(options: Namespace) -> int:
    kept = keeping.back_up(options.ledger, _key_beside(options), options.to, options.passphrase_file)
    print(f"{options.to}: {kept.events}; read back")
    print("The passphrase seals the pit's key inside. Keep it apart from the backup.")
    return _print_findings(kept)


def add_verify(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl verify` to its parser."""
    parser.add_argument("source", type=Path, metavar="FILE", help="what `pitctl backup` wrote")
    add_passphrase(parser, "try whether the first line of this file opens the key inside")
    add_json(parser, "what the backup holds, as one JSON object; `key` is null where an earlier version wrote it")


def verify(options: Namespace) -> int:
    kept = keeping.verify_backup(options.source, options.passphrase_file)
    if options.json:
        key = None if kept.public_key is None else fingerprint(kept.public_key)
        print_json(BackupTold(kept.at, kept.tables, key, kept.findings))
        return 1 if kept.findings else 0
    print(f"{options.source}: of {kept.at}, {kept.events}; all good")
    if kept.public_key is None:
        print("It is not signed, and its key is not sealed: an earlier version wrote it. Make a new backup.")
        return _print_findings(kept)
    print(f"It is signed by the key of fingerprint {fingerprint(kept.public_key)}. The tables must show the same.")
    if options.passphrase_file is not None:
        print("The passphrase opens the key inside, and that key signed the backup.")
    return _print_findings(kept)


def add_restore(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl restore` to its parser."""
    add_ledger(parser, "the file to put the backup's ledger in")
    parser.add_argument("source", type=Path, metavar="FILE", help="what `pitctl backup` wrote")
    add_passphrase(parser, "the first line of this file opens the key inside (default: it is asked for)")
    what = "restore a folder without a signature, which an earlier version made"
    parser.add_argument("--unsigned", action="store_true", help=what)
    parser.add_argument("--by", metavar="NAME", help="who decides so, if the ledger in place has more than the backup")
    add_key(parser)


def restore(options: Namespace) -> int:
    secret, unsigned = options.passphrase_file, options.unsigned
    key = _key_beside(options)
    kept, aside = keeping.restore(options.source, options.ledger, key, options.by, secret, unsigned=unsigned)
    if aside is not None:
        print(f"The ledger that was here is kept as {aside}.")
    print(f"{options.ledger} is as it was at {kept.at}: {kept.events}.")
    print("Start the pit: the tables send again what the ledger lacks. Until then nobody can decide on an award.")
    print("Then look at `award list`: it shows what was decided since the backup, as the tables tell, to be recalled.")
    print("An award may have been paid while no table was told of the payment. Ask the cashier before you pay.")
    return _print_findings(kept)


def _key_beside(options: Namespace) -> Path:
    return key_file(options) if isinstance(options.ledger, Path) else Path()


def _print_findings(kept: Kept) -> int:
    for finding in kept.findings:
        print(f"does not balance: {finding}", file=sys.stderr)
    return 1 if kept.findings else 0
