"""`tablectl`: everything a person does with a table from a shell."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from controller import __version__
from controller.errors import TableError
from drivers.shoe import NAMES as SHOES

EXIT_TROUBLE = 1
EXIT_STAYS_WRONG = 78  # sysexits EX_CONFIG
STAYS_WRONG = frozenset(
    {
        "config_invalid",
        "journal_damaged",
        "journal_linked",
        "journal_lost",
        "journal_note_unusable",
        "journal_of_another_epoch",
        "journal_of_another_key",
        "journal_of_another_table",
        "journal_too_new",
        "fact_unreadable",
        "replay_failed",
        "signing_key_unusable",
    }
)
"""What keeps a table from starting until a person has mended it: starting again would change nothing. What a disk or
another process is to blame for may pass."""

_EXITS = ("clear", "card", "void", "new-shoe", "count")
"""The commands that leave a fault, where one stands."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code. Trouble is told on standard error, with what to do."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except TableError as error:
        print(error, file=sys.stderr)
        stays_wrong = error.code == "config_invalid" or (options.command is _run and error.code in STAYS_WRONG)
        return EXIT_STAYS_WRONG if stays_wrong else EXIT_TROUBLE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tablectl", description="A casino table's controller, from a shell.")
    parser.add_argument("--version", action="version", version=f"tablectl {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a table until SIGTERM or Ctrl-C")
    run.add_argument("table", type=Path, metavar="TABLE.toml")
    run.set_defaults(command=_run)

    dark = commands.add_parser("dark", help="darken every lamp of a table that does not run")
    dark.add_argument("table", type=Path, metavar="TABLE.toml")
    dark.set_defaults(command=_dark)

    new_journal = commands.add_parser(
        "new-journal", help="set a table's journal aside and begin a new one, to be adopted"
    )
    new_journal.add_argument("table", type=Path, metavar="TABLE.toml")
    new_journal.add_argument("--by", required=True, metavar="NAME", help="who says so; it is noted beside the key")
    new_journal.set_defaults(command=_new_journal)

    check = commands.add_parser("check", help="read a table's configuration and tell everything wrong with it")
    check.add_argument("table", type=Path, metavar="TABLE.toml")
    limit = "warn of a bet of which the house keeps more (default: %(default)s)"
    check.add_argument("--highest-edge", type=float, default=30, metavar="PERCENT", help=limit)
    check.set_defaults(command=_check)

    certs = commands.add_parser("certs", help="make a CA and certificates for a test bench")
    certs.add_argument("folder", type=Path, metavar="FOLDER", help="where they go; nothing there is overwritten")
    certs.add_argument("names", nargs="+", metavar="NAME", help="a table's id, pit, bets, or the broker's host")
    certs.add_argument(
        "--revoke", action="append", default=[], metavar="NAME", help="write ca.crl too, with this one's certificate"
    )
    certs.set_defaults(command=_certs)

    demo = commands.add_parser("demo", help="a whole table on this machine, all of its hardware simulated")
    demo.add_argument("--rounds", type=int, metavar="N", help="stop after N wagered rounds (default: at Ctrl-C)")
    demo.add_argument("--speed", type=float, default=1.0, help="scales time; 0 is as fast as the wire allows")
    demo.add_argument("--seed", type=int, help="repeats a shoe exactly (default: another shoe each time)")
    dealt = "an example game or table, by its file's name; a wrong one tells them all (default: %(default)s)"
    demo.add_argument("--game", default="royal9", metavar="GAME", help=dealt)
    demo.add_argument("--shoe", choices=SHOES, help="the shoe it plays with (default: the one that can deal the game)")
    demo.set_defaults(command=_demo)

    deal = commands.add_parser("deal", help="play a text script on a table's rules and print each event")
    deal.add_argument("table", type=Path, metavar="TABLE.toml")
    deal.add_argument("script", nargs="?", default="-", metavar="SCRIPT", help="a file, or - for standard input")
    deal.add_argument("--words", action="store_true", help="for people, with what became of each wager")
    deal.set_defaults(command=_deal)

    par = commands.add_parser("par", help="what every bet of a game is worth: its odds, counted exactly")
    par.add_argument("file", type=Path, metavar="FILE.toml", help="a table's file, or a game's")
    par.add_argument("--against", type=Path, metavar="OTHER.toml", help="what would change, bet by bet, with this file")
    level = "what is on a progressive meter (default: nothing); once for each meter"
    par.add_argument("--meter", action="append", default=[], metavar="NAME=CENTS", help=level)
    par.add_argument("--json", action="store_true", help="every figure, as one JSON object")
    par.add_argument("--page", type=Path, metavar="PAGE.html", help="write a page to print, too")
    par.set_defaults(command=_par)

    verify = commands.add_parser("verify", help="check every row of a journal; names the first bad one")
    verify.add_argument("journal", type=Path, metavar="JOURNAL")
    against = "hold it against a pit's log too: the events it committed, a line of JSON each"
    verify.add_argument("--against", type=Path, metavar="LOG", help=against)
    verify.set_defaults(command=_verify)
    _add_archive(verify)

    watch = commands.add_parser("watch", help="a running table, live in the terminal")
    watch.add_argument("table", type=Path, metavar="TABLE.toml")
    watch.set_defaults(command=_watch)

    roads = commands.add_parser("roads", help="the five roads of a string of hands")
    roads.add_argument("hands", metavar="HANDS", help="in their order: B for Banker, P for Player, T for a tie")
    roads.set_defaults(command=_roads)

    rounds = commands.add_parser("rounds", help="every round in a journal, a line each")
    rounds.add_argument("journal", type=Path, metavar="JOURNAL")
    rounds.set_defaults(command=_rounds)
    _add_archive(rounds)

    replay = commands.add_parser("replay", help="one finished round, step by step from its own frames")
    replay.add_argument("journal", type=Path, metavar="JOURNAL")
    replay.add_argument("round", metavar="SHOE/ROUND")
    replay.set_defaults(command=_replay)
    _add_archive(replay)

    pit_key = commands.add_parser("pit-key", help="the pit's key, as it is offered and as it is pinned; and pin it")
    pit_key.add_argument("table", type=Path, metavar="TABLE.toml")
    told = "pin the offered key, whose fingerprint the pit shows as this one"
    pit_key.add_argument("--trust", metavar="FINGERPRINT", help=told)
    pit_key.add_argument("--by", metavar="NAME", help="who compared the two; it is journalled")
    pit_key.set_defaults(command=_pit_key)

    _add_acts(commands)

    sim = commands.add_parser("sim", help="a simulated device alone, the far end of its wire")
    devices = sim.add_subparsers(title="devices", required=True, metavar="DEVICE")
    shoe = devices.add_parser("shoe", help="a card shoe that deals seeded shoes")
    shoe.add_argument("--driver", choices=SHOES, default=SHOES[0], help="which one (default: %(default)s)")
    place = shoe.add_mutually_exclusive_group(required=True)
    place.add_argument("--pty", type=Path, metavar="LINK", help="on a pty, with a link to it here")
    place.add_argument("--port", metavar="PORT", help="on a serial port, the far end of the cable")
    shoe.add_argument("--baud", type=int, help="default: what is usual for the shoe")
    shoe.add_argument("--seed", type=int, default=0, help="decides the cards")
    shoe.add_argument("--pace", type=float, default=1.0, metavar="SECONDS", help="between two cards")
    shoe.add_argument("--rounds", type=int, metavar="N", help="stop after N hands (default: at Ctrl-C)")
    shoe.add_argument("--verbs", action="store_true", help="do what standard input says instead; `help` lists it")
    shoe.set_defaults(command=_sim_shoe)
    pins = devices.add_parser("pins", help="a table's buttons, sensors and lamps, by verbs on standard input")
    pins.add_argument("table", type=Path, metavar="TABLE.toml")
    pins.set_defaults(command=_sim_pins)
    pit = devices.add_parser("pit", help="a pit that acknowledges, or not, by verbs on standard input")
    pit.add_argument("table", type=Path, metavar="TABLE.toml")
    pit.set_defaults(command=_sim_pit)
    return parser


def _add_archive(reader: argparse.ArgumentParser) -> None:
    where = "where its archives are (default: where the journal says, or beside it)"
    reader.add_argument("--archive", type=Path, metavar="FOLDER", help=where)


def _add_acts(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The commands that speak to a running table."""
    for name, help_ in (
        ("status", "how a running table is"),
        ("new-shoe", "announce a new shoe, or end the open one early between hands"),
        ("cut-card", "say that the cutting card came, at a shoe that does not report it"),
        ("void", "end the hand and return its wagers"),
        ("card", "name the card the shoe could not tell, or that was missed"),
        ("count", "say how many cards are left in the shoe, after it was not heard for a while"),
        ("clear", "leave the standing fault and let the table go on"),
        ("odd-card", "say that a card drawn in error was not exposed, and what becomes of it"),
        ("correct", "amend a finished round of this shoe, by two people"),
        ("witness", "confirm, as the second person, what another one asked for"),
        ("close-shoe", "end the shoe early, between hands"),
        ("lamp-test", "light every lamp for five seconds"),
        ("hit", "the seat that chooses takes a card"),
        ("stand", "the seat that chooses takes none"),
        ("split", "the seat that chooses splits its pair"),
        ("reveal", "the cards that lie face down and are due have been turned up"),
        ("seats", "these seats are occupied, and no others"),
        ("leave", "the player of a seat leaves the game"),
        ("actives", "choose Baccarat Royal's active seats: by lot, or --player and --banker"),
        ("wager", "chips lie on a spot, in place of what lay there; 0 cents: they were taken away"),
        ("reset-hit", "a seat's hit has been seen to: its lamp goes out"),
        ("commission", "the commission owed; with --collect, a seat pays all of it"),
    ):
        act = commands.add_parser(name, help=help_)
        act.add_argument("table", type=Path, metavar="TABLE.toml")
        if name == "card":
            act.add_argument("card", metavar="CARD", help="rank then suit, for example KS")
        if name == "count":
            act.add_argument("left", type=int, metavar="CARDS", help="as counted, without the cutting card")
        if name == "odd-card":
            act.add_argument("fate", choices=("next_card", "burn"), help="the next hand's first card, or burned")
        if name == "correct":
            act.add_argument("round", type=int, metavar="ROUND", help="its number in the open shoe")
            act.add_argument("--player", metavar="CARDS", help='as they lay, for example "KS 9H"')
            act.add_argument("--banker", metavar="CARDS")
            of_a_seat = 'at Lucky 9, for example 3="8S KS": once for each hand of every seat, a seat\'s from the left'
            act.add_argument("--hand", action="append", metavar="SEAT=CARDS", help=of_a_seat)
            act.add_argument("--dealer", metavar="CARDS", help="at Lucky 9")
        if name == "seats":
            act.add_argument("seats", type=int, nargs="*", metavar="SEAT")
        if name in ("leave", "wager", "reset-hit"):
            act.add_argument("seat", type=int, metavar="SEAT")
        if name == "wager":
            act.add_argument("spot", metavar="SPOT", help="player, banker, tie, dragon_player, …")
            act.add_argument("cents", type=int, metavar="CENTS")
            act.add_argument("--back", action="store_true", help="the back bettor's, behind that seat")
        if name == "actives":
            act.add_argument("--player", type=int, metavar="SEAT")
            act.add_argument("--banker", type=int, metavar="SEAT")
        if name == "commission":
            act.add_argument("--collect", type=int, metavar="SEAT")
        if name not in ("status", "cut-card"):
            required = name != "commission"
            act.add_argument("--by", required=required, metavar="NAME", help="who says so; it is journalled")
        if name in _EXITS:
            seen = "the fault you saw, such as 3-2, and no other (default: the one that stands, which is shown)"
            act.add_argument("--fault", metavar="ID", help=seen)
        if name == "witness":
            seen = "what you saw waiting, and nothing else (default: what waits, which is shown)"
            act.add_argument("--proposal", type=int, metavar="NUMBER", help=seen)
        if name == "status":
            act.add_argument("--json", action="store_true", help="everything, as one JSON object")
        own = {
            "status": _status,
            "commission": _commission,
            "actives": _actives,
            "correct": _correct,
            "witness": _witness,
        }
        act.set_defaults(command=own.get(name, _exit if name in _EXITS else _act), do=name.replace("-", "_"))


# Each command imports what it needs: `tablectl status` should not wait for what `run` loads.


def _run(options: argparse.Namespace) -> int:
    from controller.app import run_table

    return run_table(options.table)


def _dark(options: argparse.Namespace) -> int:
    from controller.header import darken

    # Set by systemd for what runs after a service: "success" is a table that was stopped. By hand there is none.
    darken(options.table, light_fault=os.environ.get("SERVICE_RESULT", "success") != "success")
    return 0


def _new_journal(options: argparse.Namespace) -> int:
    from controller.cli.new_journal import new_journal

    return new_journal(options.table, options.by)


def _check(options: argparse.Namespace) -> int:
    from controller.cli.par import edges_told
    from controller.config import ConfigError, Problem, load
    from controller.delivery.mqtt_tls import wrong_with

    config = load(options.table, reaching=True)
    if (tls := config.file.pit.tls) is not None:
        wrong = wrong_with(tls, config.rules.table)
        if told := [Problem(options.table.name, f"pit.{key}", what, do) for key, what, do in wrong]:
            raise ConfigError(told)
    for warning in config.warnings:
        print(f"warning: {warning}")
    for line in edges_told(options.table, options.highest_edge / 100):
        print(line)
    rules = config.rules
    print(f"{rules.table} plays {rules.game}: {len(rules.seats)} seats, {rules.shoe.decks} decks. No mistakes.")
    return 0


def _certs(options: argparse.Namespace) -> int:
    from controller.cli.certs import certs

    return certs(options.folder, options.names, options.revoke)


def _demo(options: argparse.Namespace) -> int:
    from controller.cli.demo import demo

    return demo(options.rounds, options.speed, options.seed, options.game, options.shoe)


def _deal(options: argparse.Namespace) -> int:
    from controller.cli.deal import deal

    return deal(options.table, options.script, options.words)


def _par(options: argparse.Namespace) -> int:
    from controller.cli.par import par_sheet

    return par_sheet(options.file, options.against, options.meter, options.json, options.page)


def _verify(options: argparse.Namespace) -> int:
    from controller.delivery.pit_log import compare
    from controller.record.journal import verify

    # The pit's word first: it names the event, where the journal could only say that a row is not as it was.
    agreed = compare(options.journal, options.against, options.archive) if options.against else None
    good = verify(options.journal, options.archive)
    print(f"{good.table}/{good.epoch}: {good.rows} rows, {good.messages} events, all good; head {good.head.hex()}")
    if good.archives:
        many = "1 archive" if good.archives == 1 else f"{good.archives} archives"
        print(f"rows 1 to {good.archived_rows} are in {many}, the chain unbroken through them")
    if agreed is not None:
        print(f"the pit's log agrees from event 1 to its last, {agreed}; {_after(agreed, good.messages)}")
    return 0


def _after(log_head: int, journal_head: int) -> str:
    more = journal_head - log_head
    return f"the journal goes on with {more} more, to {journal_head}" if more else "it is the journal's last too"


def _watch(options: argparse.Namespace) -> int:
    from controller.cli.watch import watch_table

    return watch_table(options.table)


def _roads(options: argparse.Namespace) -> int:
    from controller.cli.roads import roads

    return roads(options.hands)


def _rounds(options: argparse.Namespace) -> int:
    from controller.cli.history import rounds

    return rounds(options.journal, options.archive)


def _replay(options: argparse.Namespace) -> int:
    from controller.cli.history import replay_round

    return replay_round(options.journal, options.round, options.archive)


def _status(options: argparse.Namespace) -> int:
    from controller.cli.client import status

    return status(options.table, options.json)


def _act(options: argparse.Namespace) -> int:
    from controller.cli.client import act

    return act(options.table, _said(options))


def _exit(options: argparse.Namespace) -> int:
    from controller.cli.client import answer_fault

    _checked(getattr(options, "card", ""))
    return answer_fault(options.table, _said(options), options.fault)


def _said(options: argparse.Namespace) -> dict[str, object]:
    """The request of an act, with whatever its command line says."""
    said = ("by", "card", "left", "fate", "seats", "seat", "spot", "cents", "back")
    return {"do": options.do} | {key: getattr(options, key) for key in said if hasattr(options, key)}


def _witness(options: argparse.Namespace) -> int:
    from controller.cli.client import witness

    return witness(options.table, options.by, options.proposal)


def _pit_key(options: argparse.Namespace) -> int:
    from controller.cli.client import act, pit_key

    if options.trust is None:
        return pit_key(options.table)
    if options.by is None:
        raise TableError("no_name", "A pinned key needs a name.", "Add --by NAME: it is journalled.")
    return act(options.table, {"do": "pit_key", "trust": options.trust, "by": options.by})


def _commission(options: argparse.Namespace) -> int:
    from controller.cli.client import act, commission

    if options.collect is None:
        return commission(options.table)
    if options.by is None:
        raise TableError("no_name", "A collection needs a name.", "Add --by NAME: it is journalled.")
    return act(options.table, {"do": "collect_commission", "seat": options.collect, "by": options.by})


def _actives(options: argparse.Namespace) -> int:
    from controller.cli.client import act

    named = {"player": options.player, "banker": options.banker}
    if named == {"player": None, "banker": None}:
        return act(options.table, {"do": "draw_actives", "by": options.by})
    if None in named.values() or options.player == options.banker:
        raise TableError("actives_incomplete", "Two different seats are named, or none.", "Give --player and --banker.")
    return act(options.table, {"do": "name_actives", "by": options.by, **named})


def _correct(options: argparse.Namespace) -> int:
    from controller.cli.client import act

    match options.player, options.banker, options.hand, options.dealer:
        case str(player), str(banker), None, None:
            hands: dict[str, object] = {"player": _checked(player), "banker": _checked(banker)}
        case None, None, list(seats), str(dealer):
            hands = {"hands": list(map(_hand_of_a_seat, seats)), "dealer": _checked(dealer)}
        case _:
            do = 'Give --player and --banker; at Lucky 9 --dealer, and for each hand of a seat --hand 3="8S KS".'
            raise TableError("hands_incomplete", "A correction names every hand of the round.", do)
    return act(options.table, {"do": "correct", "round": options.round, **hands, "by": options.by})


def _hand_of_a_seat(text: str) -> dict[str, object]:
    seat, _, cards = text.partition("=")
    if not (seat.isascii() and seat.isdecimal() and len(seat) <= 2):
        raise TableError("no_such_hand", f"{text} is no hand of a seat.", 'Write seat=cards: --hand 3="8S KS".')
    return {"seat": int(seat), "cards": _checked(cards)}


def _checked(cards: str) -> str:
    from controller.game.cards import Card

    for word in cards.split():
        try:
            Card.parse(word)
        except ValueError:
            raise TableError("no_such_card", f"{word} is no card.", "Write rank then suit: KS 9H TD AC.") from None
    return cards


def _sim_shoe(options: argparse.Namespace) -> int:
    from controller.cli.sim import sim_shoe

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


def _sim_pins(options: argparse.Namespace) -> int:
    from controller.cli.sim import sim_pins

    return sim_pins(options.table)


def _sim_pit(options: argparse.Namespace) -> int:
    from controller.cli.sim import sim_pit

    return sim_pit(options.table)


if __name__ == "__main__":
    sys.exit(main())
