"""The commands that are not acts.

Each command imports what it needs when it runs: `tablectl dark` does not wait for what `run` loads.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.colours import painted
from controller.basics.command import Command
from controller.basics.errors import TableError
from controller.people.cli.command import GROUPS, PROGRAM, File
from controller.people.cli.files import CONFIGURATION
from drivers.shoe import NAMES as SHOES


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
    _add_passphrase(parser, "the first line of this file seals the keys inside (default: it is asked for, twice)")


def _add_passphrase(parser: ArgumentParser, what: str) -> None:
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
    _add_passphrase(parser, "the first line of this file opens the keys inside (default: it is asked for)")
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


def _check(options: Namespace) -> int:
    from controller.contract.wire.mqtt_tls import wrong_with
    from controller.daemon.config import load
    from controller.daemon.config.problems import ConfigError, Problem
    from controller.people.cli.meters import meter_lines
    from controller.people.cli.par import edge_lines
    from controller.people.par.sheet import par, subject
    from drivers.header_map import CONFIG_TXT, overlaid

    config = load(options.table, reaching=True)
    if (tls := config.file.pit.tls) is not None:
        wrong = wrong_with(tls, config.rules.table)
        if problems := [Problem(str(options.table), f"pit.{key}", what, do) for key, what, do in wrong]:
            raise ConfigError(problems)
    pins = config.file.pins
    sheet = par(subject(options.table))
    counted = (*meter_lines(sheet, options.pit_settings), *edge_lines(sheet, options.highest_edge / 100))
    warnings = (*config.warnings, *overlaid(pins.lamps, pins.inputs, CONFIG_TXT))
    count = 0
    for line in (*counted, *(f"warning: {warning}" for warning in warnings)):
        is_warning = line.startswith("warning: ")
        count += is_warning
        print(painted(line, "yellow", sys.stdout) if is_warning else line)
    rules, told = config.rules, f"{count} {'warning' if count == 1 else 'warnings'}"
    seats = f"{len(rules.seats)} seats, {rules.shoe.decks} decks"
    print(f"{rules.table} plays {rules.game}: {seats}. No mistakes{f', {told}' if count else ''}.")
    if count and options.strict:
        raise TableError("config_invalid", f"the configuration has {told}, and --strict allows none", "Correct each.")
    return 0


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

    return print_digest(options.table)


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


def _add_demo(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, metavar="N", help="stop after N wagered rounds (default: at Ctrl-C)")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="2: twice as fast as people (default: 1); 0: no pauses"
    )
    parser.add_argument("--seed", type=int, help="repeats a shoe exactly (default: another shoe each time)")
    _add_game(parser)
    parser.add_argument("--shoe", choices=SHOES, help="the shoe to play with (default: one that can deal the game)")


def _refuse_without_extra(who: str) -> None:
    """Raises TableError `demo_missing` where the libraries of the extra `demo` are not installed."""
    from controller.basics.extras import missing

    if names := missing("demo"):
        do = "Install the project with its extra `demo`; tools/setup.sh does."
        raise TableError("demo_missing", f"{who} needs libraries that are not installed: {', '.join(names)}.", do)


def _demo(options: Namespace) -> int:
    _refuse_without_extra("The demo")
    from controller.people.cli.demo import demo

    game = options.file or options.game
    return demo(options.rounds, options.speed, options.seed, game, options.shoe, options.pit_settings)


def _add_practice(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder for its files; made if it is not there")
    _add_game(parser)


def _add_game(parser: ArgumentParser) -> None:
    own = "a house's own file: a table's, or a game's, which is then played at the first example table that fits"
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE.toml", help=own)
    dealt = (
        "without FILE.toml: an example game or table, by its file's name; any other lists all (default: %(default)s)"
    )
    parser.add_argument("--game", default="royal9", metavar="GAME", help=dealt)
    terms = "the pit's settings (default: those that are shipped); a meter of the game that they lack is begun too"
    parser.add_argument("--pit-settings", type=Path, metavar="FILE", help=terms)


def _practice(options: Namespace) -> int:
    _refuse_without_extra("The practice table")
    from controller.people.cli.practice import practice

    return practice(options.folder, options.file or options.game, options.pit_settings)


def _add_deal(parser: ArgumentParser) -> None:
    parser.add_argument("script", nargs="?", default="-", metavar="SCRIPT", help="a file, or - for standard input")
    parser.add_argument("--words", action="store_true", help="in words, with the result of each wager")


def _deal(options: Namespace) -> int:
    from controller.people.cli.deal import deal

    return deal(options.table, options.script, options.words)


def _add_par(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="a table's file, or a game's")
    instead = parser.add_mutually_exclusive_group()
    against = "what each bet would be worth with this file instead"
    instead.add_argument("--against", type=Path, metavar="OTHER.toml", help=against)
    unseen = "what each bet is worth with the unseen cards of the open shoe, from the journal: for surveillance"
    instead.add_argument("--composition", action="store_true", help=unseen)
    level = "the cents on a progressive meter (default: 0); repeat for each meter"
    parser.add_argument("--meter", action="append", default=[], metavar="NAME=CENTS", help=level)
    terms = "the pit's settings: what each progressive bet keeps in the long run; meters stand at their seeds"
    parser.add_argument("--pit-settings", type=Path, metavar="FILE", help=terms)
    pace = "with --pit-settings: how often each award falls at this pace (default: %(default)s)"
    parser.add_argument("--rounds-an-hour", type=int, choices=range(1, 1001), default=100, metavar="N", help=pace)
    parser.add_argument("--json", action="store_true", help="every figure, as one JSON object")
    parser.add_argument("--page", type=Path, metavar="PAGE.html", help="write a page to print too")


def _par(options: Namespace) -> int:
    from controller.people.cli.par import par_sheet

    return par_sheet(
        *(options.file, options.against, options.composition, options.meter),
        *(options.json, options.page, options.pit_settings, options.rounds_an_hour),
    )


def _add_roads(parser: ArgumentParser) -> None:
    hands = (
        "rounds in their order, B for Banker, P for Player, T for a tie; or a running table's file, for its open shoe"
    )
    parser.add_argument("of", nargs="?", metavar="HANDS|TABLE.toml", help=hands)


def _roads(options: Namespace) -> int:
    from controller.people.cli.roads import roads

    return roads(options.of)


def _add_screen(parser: ArgumentParser) -> None:
    where = "the address of the pages; 0.0.0.0:8080 lets other machines look too (default: %(default)s)"
    parser.add_argument("--listen", default="127.0.0.1:8080", metavar="HOST:PORT", help=where)
    names = "other names by which browsers and Prometheus ask, for example royal9-01.house"
    parser.add_argument("--names", nargs="*", default=(), metavar="NAME", help=names)
    mine = "also show finished rounds with their frames, to whoever has the printed address; run this as a supervisor"
    parser.add_argument("--supervisor", action="store_true", help=mine)


def _screen(options: Namespace) -> int:
    from controller.people.cli.screen import screen

    return screen(options.table, options.listen, options.names, options.supervisor)


def _add_kiosk(parser: ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the screen's address: http://127.0.0.1:8080/")
    browser = "the browser's command, behind `--`; the address is added at its end"
    parser.add_argument("browser", nargs="+", metavar="BROWSER", help=browser)


def _kiosk(options: Namespace) -> int:
    from controller.people.screen.kiosk import keep_showing

    keep_showing(options.url, options.browser)
    return 0


def _add_archive(parser: ArgumentParser) -> None:
    where = "the folder of the archives (default: the folder that the journal names, or the folder beside the journal)"
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help=where)


def _add_verify(parser: ArgumentParser) -> None:
    against = "compare the journal with a pit's log too: the events that the pit committed, one JSON line each"
    parser.add_argument("--against", type=Path, metavar="LOG", help=against)
    _add_archive(parser)
    _add_passphrase(parser, "of a backup: try whether the first line of this file opens the keys inside")


def _verify(options: Namespace) -> int:
    from controller.daemon.record.backup import is_backup
    from controller.people.cli.history import verify_journal

    if is_backup(options.journal):
        from controller.people.cli.backup import verify_backup

        return verify_backup(options.journal, options.passphrase_file)
    return verify_journal(options.journal, options.against, options.archive)


def _rounds(options: Namespace) -> int:
    from controller.people.cli.history import rounds

    return rounds(options.journal, options.archive)


def _add_replay(parser: ArgumentParser) -> None:
    parser.add_argument("round", metavar="SHOE/ROUND", help="the round as `tablectl rounds` numbers it: 3/12")
    page = "write the round as one HTML page: cards, frames, lamps, times, events"
    parser.add_argument("--html", type=Path, metavar="FILE", help=page)
    _add_archive(parser)


def _replay(options: Namespace) -> int:
    from controller.people.cli.history import replay_round

    return replay_round(options.journal, options.round, options.archive, options.html)


def _add_status(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="everything, as one JSON object")
    _add_language(parser)


def _add_language(parser: ArgumentParser) -> None:
    from controller.words.language import LANGUAGES

    parser.add_argument(
        "--language", choices=LANGUAGES, default="en", help="the language of the sentences (default: en)"
    )


def _status(options: Namespace) -> int:
    from controller.people.cli.client import status

    return status(options.table, options.json, options.language)


def _watch(options: Namespace) -> int:
    from controller.people.cli.watch import watch_table

    return watch_table(options.table, options.language)


def _add_witness(parser: ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who confirms; the name is journalled")
    seen = "confirm only this act, which you saw waiting (default: the act that waits, which is shown)"
    parser.add_argument("--proposal", type=int, metavar="NUMBER", help=seen)


def _witness(options: Namespace) -> int:
    from controller.people.cli.client import witness

    return witness(options.table, options.by, options.proposal)


def _add_sim_shoe(parser: ArgumentParser) -> None:
    parser.add_argument("--driver", choices=SHOES, default=SHOES[0], help="the brand of shoe (default: %(default)s)")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--pty", type=Path, metavar="LINK", help="deal on a pty, with a link to it at this path")
    place.add_argument("--port", metavar="PORT", help="deal on a serial port, the far end of the cable")
    parser.add_argument("--baud", type=int, help="default: the usual speed of the shoe")
    parser.add_argument("--seed", type=int, default=0, help="decides the cards")
    parser.add_argument("--pace", type=float, default=1.0, metavar="SECONDS", help="the time between two cards")
    parser.add_argument("--rounds", type=int, metavar="N", help="stop after N rounds (default: at Ctrl-C)")
    parser.add_argument(
        "--verbs", action="store_true", help="follow the verbs on standard input; the verb `help` lists them"
    )


def _sim_shoe(options: Namespace) -> int:
    from controller.people.cli.sim import sim_shoe

    return sim_shoe(
        options.driver,
        options.pty,
        options.port,
        options.baud,
        options.seed,
        options.pace,
        options.rounds,
        options.verbs,
    )


def _sim_pins(options: Namespace) -> int:
    from controller.people.cli.sim import sim_pins

    return sim_pins(options.table)


def _sim_pit(options: Namespace) -> int:
    from controller.people.cli.sim import sim_pit

    return sim_pit(options.table)


def _add_manual(parser: ArgumentParser) -> None:
    from controller.basics.manual import add_completion

    add_completion(parser)


def _manual(options: Namespace) -> int:
    from controller.basics.manual import manual

    return manual(PROGRAM, every_command(), options.completion)


def _versions(_options: Namespace) -> int:
    from controller.people.cli.versions import versions

    return versions()


def _add_now(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--now", action="store_true", help="do not wait for the shoe's end; the table then asks for a count"
    )


def _add_update(parser: ArgumentParser) -> None:
    parser.add_argument("version", nargs="?", metavar="VERSION", help="default: the version that was installed last")
    _add_now(parser)


def _update(options: Namespace) -> int:
    from controller.people.cli.versions import update

    return update(options.version, options.now)


def _rollback(options: Namespace) -> int:
    from controller.people.cli.versions import rollback

    return rollback(options.now)


def _switch(_options: Namespace) -> int:
    from controller.people.cli.versions import switch

    return switch()


_LOOK, _TABLE, _RECORD, _PLAY = "Look", "The table itself", "The record", "Without hardware"

COMMANDS: tuple[Command, ...] = (
    Command(
        "status",
        "Look",
        "what a running table waits for, and the state of its parts",
        "",
        _status,
        _add_status,
        File.TABLE,
    ),
    Command("manual", "Look", "the manual page of all commands, for `man -l -`", "| man -l -", _manual, _add_manual),
    Command("watch", "Look", "a running table, live in the terminal", "", _watch, _add_language, File.TABLE),
    Command(
        "witness",
        "The round",
        "confirm, as the second person, what another person asked for",
        "--by Jones",
        _witness,
        _add_witness,
        File.TABLE,
    ),
    Command(
        "setup",
        _TABLE,
        "set up this machine for a table: ask for game, seats, shoe, wiring and pit, and write a signed report",
        "",
        _setup,
        _add_setup,
    ),
    Command("run", _TABLE, "run a table until SIGTERM or Ctrl-C", "TABLE.toml", _run, file=File.TABLE),
    Command("check", _TABLE, "read a table's configuration and name every mistake", "", _check, _add_check, File.TABLE),
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
    Command("digest", _TABLE, "one digest over the program and the configuration", "", _digest, file=File.TABLE),
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
    Command("versions", _TABLE, "the installed versions of the program, and the version that runs", "", _versions),
    Command("update", _TABLE, "run another version once no shoe is open", "0.2.0", _update, _add_update),
    Command("rollback", _TABLE, "return to the version before, once no shoe is open", "", _rollback, _add_now),
    Command("switch", _TABLE, "do the requested update or rollback; systemd runs this", "", _switch),
    Command(
        "certs",
        _TABLE,
        "make a CA and certificates for a test bench",
        "tls broker.pit royal9-01 pit bets",
        _certs,
        _add_certs,
    ),
    Command("rounds", _RECORD, "every round in a journal, a line each", "", _rounds, _add_archive, File.JOURNAL),
    Command(
        "replay",
        _RECORD,
        "one finished round, step by step from the shoe's own frames",
        "3/12",
        _replay,
        _add_replay,
        File.JOURNAL,
    ),
    Command(
        "verify",
        _RECORD,
        "check every row of a journal or of a backup, and name the first bad row",
        "--against LOG",
        _verify,
        _add_verify,
        File.JOURNAL,
    ),
    Command(
        "demo",
        _PLAY,
        "a whole table on this machine, all of its hardware simulated",
        "--game lucky9 --speed 4",
        _demo,
        _add_demo,
    ),
    Command(
        "practice",
        _PLAY,
        "a simulated table on this machine that you deal by hand, at a prompt",
        "/tmp/practice",
        _practice,
        _add_practice,
    ),
    Command(
        "deal",
        _PLAY,
        "play a text script on a table's rules and print each event",
        "TABLE.toml SCRIPT --words",
        _deal,
        _add_deal,
        File.TABLE,
    ),
    Command("par", _PLAY, "what every bet of a game is worth: its odds, counted exactly", "TABLE.toml", _par, _add_par),
    Command(
        "roads", _LOOK, "the five roads of the open shoe, or of a string of rounds", "BBPPPTBPBB", _roads, _add_roads
    ),
    Command(
        "screen",
        _LOOK,
        "serve the pages that show a running table in a browser",
        "TABLE.toml --listen 127.0.0.1:8080",
        _screen,
        _add_screen,
        File.TABLE,
    ),
    Command(
        "kiosk",
        _LOOK,
        "a browser on the attached monitor, restarted where it dies or stays black",
        "http://127.0.0.1:8080/ -- cage -s -- chromium --kiosk",
        _kiosk,
        _add_kiosk,
    ),
    Command(
        "sim shoe",
        _PLAY,
        "a card shoe that deals seeded shoes, at the far end of its wire",
        "--pty /tmp/shoe --seed 7",
        _sim_shoe,
        _add_sim_shoe,
    ),
    Command(
        "sim pins",
        _PLAY,
        "a table's buttons, sensors and lamps, by verbs on standard input",
        "TABLE.toml",
        _sim_pins,
        file=File.TABLE,
    ),
    Command(
        "sim pit",
        _PLAY,
        "a pit that acknowledges events or does not, by verbs on standard input",
        "TABLE.toml",
        _sim_pit,
        file=File.TABLE,
    ),
)


def every_command() -> tuple[Command, ...]:
    """All commands, in the order of the help."""
    from controller.people.cli import acts

    return tuple(sorted((*acts.commands(), *COMMANDS), key=lambda command: GROUPS.index(command.group)))
