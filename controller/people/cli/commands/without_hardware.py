"""The commands of `tablectl` that need no hardware: a demo, a practice table, scripts, odds and simulators.

Each command imports its modules only when it runs. A small command such as `tablectl dark` therefore starts without
loading the modules that `tablectl run` needs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.command import Command
from controller.basics.errors import TableError
from controller.people.cli.command import File
from drivers.shoe import NAMES as SHOES


def _add_demo(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, metavar="N", help="stop after N wagered rounds (default: at Ctrl-C)")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="2: twice as fast as people (default: 1); 0: no pauses"
    )
    parser.add_argument("--seed", type=int, help="repeats a shoe exactly (default: another shoe each time)")
    _add_game(parser)
    parser.add_argument("--shoe", choices=SHOES, help="the shoe to play with (default: one that can deal the game)")


def _refuse_without_extra(who: str) -> None:
    """Raise TableError `demo_missing` if the libraries of the Python package's optional extra `demo` are not installed.
    `who` names the command that needs the libraries, for the error's text."""
    from controller.basics.extras import how_to_install, missing

    if names := missing("demo"):
        do = how_to_install("demo")
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
    pace = "what the house holds in an hour, and how often each award falls, at this pace (default: %(default)s)"
    parser.add_argument("--rounds-an-hour", type=int, choices=range(1, 1001), default=100, metavar="N", help=pace)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="every figure, as one JSON object")
    form.add_argument("--csv", action="store_true", help="a line for each outcome of each bet, for a spreadsheet")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page to print too")
    shoe = "also each edge by the number of decks, and the rounds of a shoe by the place of the cut card"
    parser.add_argument("--sensitivity", action="store_true", help=shoe)


def _par(options: Namespace) -> int:
    from controller.people.cli.par import par_sheet

    return par_sheet(
        *(options.file, options.against, options.composition, options.meter),
        *(options.json, options.html, options.pit_settings, options.rounds_an_hour, options.csv, options.sensitivity),
    )


def _add_sim_shoe(parser: ArgumentParser) -> None:
    parser.add_argument("--driver", choices=SHOES, default=SHOES[0], help="the brand of shoe (default: %(default)s)")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--pty", type=Path, metavar="LINK", help="deal on a pty, with a link to it at this path")
    place.add_argument("--port", metavar="PORT", help="deal on a serial port, the far end of the cable")
    parser.add_argument("--baud", type=int, help="default: the usual speed of the shoe")
    parser.add_argument("--seed", type=int, default=0, help="decides the cards")
    parser.add_argument("--pace", type=float, default=1.0, metavar="SECONDS", help="the time between two cards")
    parser.add_argument("--rounds", type=int, metavar="N", help="stop after N rounds (default: at Ctrl-C)")
    parser.add_argument(
        "--verbs", action="store_true", help="follow the verbs on standard input; without --pty and --port: print them"
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


_PLAY = "Without hardware"

WITHOUT_HARDWARE: tuple[Command, ...] = (
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
