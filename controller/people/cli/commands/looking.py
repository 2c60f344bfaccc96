"""The commands of `tablectl` by which a person looks at a running table, such as its status, its roads and its web
pages. The commands `manual` and `witness` (confirm another person's act) are here too.

Each command imports its modules only when it runs. A small command such as `tablectl dark` therefore starts without
loading the modules that `tablectl run` needs.
"""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

from controller.basics.command import Command
from controller.people.cli.command import PROGRAM, File


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
    parser.add_argument("browser", metavar="BROWSER", help="the browser's program, behind `--`")
    words = "the program's own words, among them another `--`; the address is added at their end"
    parser.add_argument("words", nargs=REMAINDER, metavar="WORD", help=words)


def _kiosk(options: Namespace) -> int:
    from controller.people.screen.kiosk import keep_showing

    keep_showing(options.url, [options.browser, *options.words])
    return 0


def _add_status(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="everything that the table says, as one JSON object")
    at = "127.0.0.1:8080"
    where = f"where the table's screen listens (default: {at})"
    parser.add_argument("--screen", metavar="HOST:PORT", default=at, help=where)
    _add_language(parser)


def _add_language(parser: ArgumentParser) -> None:
    from controller.words.found import LANGUAGES

    parser.add_argument(
        "--language", choices=LANGUAGES, default="en", help="the language of the sentences (default: en)"
    )


def _status(options: Namespace) -> int:
    from controller.people.cli.client import status

    return status(options.table, options.json, options.language, options.screen)


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


def _add_manual(parser: ArgumentParser) -> None:
    from controller.basics.manual import add_completion

    add_completion(parser)


def _manual(options: Namespace) -> int:
    from controller.basics.manual import manual
    from controller.people.cli.commands import every_command  # this command among them

    return manual(PROGRAM, every_command(), options.completion)


_LOOK = "Look"

LOOKING: tuple[Command, ...] = (
    Command(
        "status",
        _LOOK,
        "what a running table waits for, and the state of its parts",
        "",
        _status,
        _add_status,
        File.TABLE,
    ),
    Command("manual", _LOOK, "the manual page of all commands, for `man -l -`", "| man -l -", _manual, _add_manual),
    Command("watch", _LOOK, "a running table, live in the terminal", "", _watch, _add_language, File.TABLE),
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
)
