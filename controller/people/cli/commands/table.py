"""The commands of `tablectl` about the table itself: set it up, run it, check it, back it up, move it and update it.

Each command imports its modules only when it runs. A small command such as `tablectl dark` therefore starts without
loading the modules that `tablectl run` needs.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.command import Command
from controller.basics.errors import TableError
from controller.people.cli.command import File
from controller.people.cli.files import CONFIGURATION


def _run(options: Namespace) -> int:
    gc.disable()  # what a start makes stays, and to look through it again and again is a tenth of a start
    from controller.daemon.app import run_table

    return run_table(options.table)


def _dark(options: Namespace) -> int:
    from controller.daemon.header import darken

    # systemd sets this for the command after a service: "success" after a table that was stopped. A shell has none.
    darken(options.table, light_fault=os.environ.get("SERVICE_RESULT", "success") != "success")
    return 0


def _add_backup(parser: ArgumentParser) -> None:
    parser.add_argument(
        "to", type=Path, metavar="FILE", help="the file to write, for its owner alone; no existing file is replaced"
    )
    moves = "the table moves to another machine: stop the table first; its journal is set aside here"
    parser.add_argument("--move", action="store_true", help=moves)
    parser.add_argument("--by", metavar="NAME", help="with --move: who moves it")
    add_passphrase(parser, "the first line of this file seals the keys inside (default: it is asked for, twice)")


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="what is told, as one JSON object")


def add_passphrase(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help=what)


def _backup(options: Namespace) -> int:
    from controller.people.cli.backup import backup

    if options.move != (options.by is not None):
        raise TableError("arguments_incomplete", "--move and --by NAME go together.", "Write both, or neither.")
    return backup(options.table, options.to, options.by, options.passphrase_file)


def _add_restore(parser: ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="FILE", help="what `tablectl backup` wrote")
    anew = "for a backup that was made without --move: who decides that a new epoch begins, which the pit must adopt"
    parser.add_argument("--by", metavar="NAME", help=anew)
    table = "where the table's file is or belongs (default: this machine's table, or /etc/table-controller/table.toml)"
    parser.add_argument("--table", type=Path, metavar="TABLE.toml", help=table)
    add_passphrase(parser, "the first line of this file opens the keys inside (default: it is asked for)")
    unsigned = "restore a backup without a signature, which an earlier version made"
    parser.add_argument("--unsigned", action="store_true", help=unsigned)


def _restore(options: Namespace) -> int:
    from controller.people.cli.backup import restore

    file = options.passphrase_file
    return restore(options.source, options.by, options.table, file, unsigned=options.unsigned)


def _add_setup(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="answers for a fleet; a question that is answered there is not asked",
    )
    table = "the table's file that is written (default: %(default)s)"
    parser.add_argument("--table", type=Path, default=CONFIGURATION / "table.toml", metavar="TABLE.toml", help=table)
    proof = "check the signature of a commissioning report, and ask nothing"
    parser.add_argument("--verify", type=Path, metavar="REPORT", help=proof)


def _setup(options: Namespace) -> int:
    from controller.people.cli.setup.questions import terminal
    from controller.people.cli.setup.wizard import setup, verify_report

    if options.verify is not None:
        return verify_report(options.verify)
    return setup(options.table, options.answers, terminal())


def _add_new_journal(parser: ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who does this; the name is noted beside the key")


def _new_journal(options: Namespace) -> int:
    from controller.people.cli.new_journal import new_journal

    return new_journal(options.table, options.by)


def _add_check(parser: ArgumentParser) -> None:
    limit = "warn of a bet with a higher house edge, in per cent (default: %(default)s)"
    parser.add_argument("--highest-edge", type=float, default=30, metavar="PERCENT", help=limit)
    seeds = "the pit's settings: check that each meter's seed is high enough, and that no bet gives money away"
    parser.add_argument("--pit-settings", type=Path, metavar="FILE", help=seeds)
    parser.add_argument("--strict", action="store_true", help="a warning is refused too")
    add_json(parser)


def _check(options: Namespace) -> int:
    from controller.people.cli.check import check

    return check(options.table, options.pit_settings, options.highest_edge / 100, options.strict, options.json)


def _add_check_words(parser: ArgumentParser) -> None:
    words = "NAME.toml, or NAME.screen.toml for the pages; NAME is a language, such as zh-Hant"
    parser.add_argument("file", type=Path, metavar="FILE", help=words)


def _check_words(options: Namespace) -> int:
    from controller.people.cli.words import check

    return check(options.file)


def _add_doctor(parser: ArgumentParser) -> None:
    parser.add_argument("table", type=Path, nargs="?", metavar="TABLE.toml", help="default: this machine's table")
    parser.add_argument("--json", action="store_true", help="every row, as one JSON list")


def _doctor(options: Namespace) -> int:
    from controller.people.cli.doctor import doctor

    return doctor(options.table, options.json)


def _add_self_test(parser: ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who is at the table; each test is journalled")


def _self_test(options: Namespace) -> int:
    from controller.people.cli.self_test import self_test

    return self_test(options.table, options.by)


def _digest(options: Namespace) -> int:
    from controller.people.cli.digest import print_digest

    return print_digest(options.table, options.json)


def _add_certs(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="the folder to write to; nothing there is overwritten"
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="a table's id, pit, bets, or the broker's host")
    revoked = "write ca.crl too, and revoke this certificate there"
    parser.add_argument("--revoke", action="append", default=[], metavar="NAME", help=revoked)


def _certs(options: Namespace) -> int:
    from controller.people.cli.certs import certs

    return certs(options.folder, options.names, options.revoke)


def _versions(options: Namespace) -> int:
    from controller.people.cli.versions import versions

    return versions(options.json)


def _add_now(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--now", action="store_true", help="do not wait for the shoe's end; the table then asks for a count"
    )


def _add_update(parser: ArgumentParser) -> None:
    parser.add_argument("version", nargs="?", metavar="VERSION", help="default: the version that was installed last")
    rehearse = "switch nothing: let that version, or the program in that folder, tell this table's whole past again"
    parser.add_argument("--rehearse", action="store_true", help=rehearse)
    _add_now(parser)


def _update(options: Namespace) -> int:
    from controller.people.cli.versions import update

    return update(options.version, options.now, options.rehearse)


def _rollback(options: Namespace) -> int:
    from controller.people.cli.versions import rollback

    return rollback(options.now)


def _rehearse(_options: Namespace) -> int:
    from controller.people.cli.rehearsal import tell_again

    return tell_again(sys.stdin.buffer, sys.stdout.buffer)


def _switch(_options: Namespace) -> int:
    from controller.people.cli.versions import switch

    return switch()


_TABLE = "The table itself"

OF_TABLE: tuple[Command, ...] = (
    Command(
        "setup",
        _TABLE,
        "set up this machine for a table: ask for game, seats, shoe, wiring and pit, and write a signed report",
        "",
        _setup,
        _add_setup,
    ),
    Command("run", _TABLE, "run a table until SIGTERM or Ctrl-C", "TABLE.toml", _run, file=File.TABLE),
    Command(
        "check",
        _TABLE,
        "name every mistake in a table's configuration, or in a game's file alone",
        "GAME.toml --strict",
        _check,
        _add_check,
        File.TABLE,
    ),
    Command(
        "words check",
        _TABLE,
        "name every mistake in a house's own file of words, and what is said in English for want of a sentence",
        "ko.screen.toml",
        _check_words,
        _add_check_words,
    ),
    Command(
        "doctor",
        _TABLE,
        "look at every part of this machine and its table, and say what to do",
        "--json",
        _doctor,
        _add_doctor,
    ),
    Command(
        "self-test",
        _TABLE,
        "try each lamp and input, and a test hit, with a person at the table",
        "--by Smith",
        _self_test,
        _add_self_test,
        File.TABLE,
    ),
    Command("digest", _TABLE, "one digest over the program and the configuration", "", _digest, add_json, File.TABLE),
    Command("dark", _TABLE, "darken every lamp of a table that does not run", "TABLE.toml", _dark, file=File.TABLE),
    Command(
        "new-journal",
        _TABLE,
        "set a stopped table's journal aside and begin a new journal, which the pit must adopt",
        "--by Smith",
        _new_journal,
        _add_new_journal,
        File.TABLE,
    ),
    Command(
        "backup",
        _TABLE,
        "write the table's journal, archives, key and configuration into one file, also while the table runs",
        "royal9-01.backup --move --by Smith",
        _backup,
        _add_backup,
        File.TABLE,
    ),
    Command(
        "restore",
        _TABLE,
        "make this machine the table of a backup",
        "royal9-01.backup --by Smith",
        _restore,
        _add_restore,
    ),
    Command(
        "versions", _TABLE, "the installed versions of the program, and the version that runs", "", _versions, add_json
    ),
    Command("update", _TABLE, "run another version once no shoe is open", "0.2.0", _update, _add_update),
    Command("rollback", _TABLE, "return to the version before, once no shoe is open", "", _rollback, _add_now),
    Command(
        "rehearse", _TABLE, "answer facts with their events; the version that runs asks this of another", "", _rehearse
    ),
    Command("switch", _TABLE, "do the requested update or rollback; systemd runs this", "", _switch),
    Command(
        "certs",
        _TABLE,
        "make a CA and certificates for a test bench",
        "tls broker.pit royal9-01 pit bets",
        _certs,
        _add_certs,
    ),
)
