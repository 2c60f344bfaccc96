"""The commands of `tablectl` that read a table's record: its journal and the journal's archives. `verify` checks a
backup too.

Each command imports its modules only when it runs. A small command such as `tablectl dark` therefore starts without
loading the modules that `tablectl run` needs.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from controller.basics.command import Command
from controller.people.cli.command import File
from controller.people.cli.commands.table import add_json, add_passphrase


def _add_archive(parser: ArgumentParser) -> None:
    where = "the folder of the archives (default: the folder that the journal names, or the folder beside the journal)"
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help=where)


def _add_verify(parser: ArgumentParser) -> None:
    against = "compare the journal with a pit's log too: the events that the pit committed, one JSON line each"
    parser.add_argument("--against", type=Path, metavar="LOG", help=against)
    _add_archive(parser)
    add_json(parser)
    add_passphrase(parser, "of a backup: try whether the first line of this file opens the keys inside")


def _verify(options: Namespace) -> int:
    from controller.daemon.record.backup import is_backup
    from controller.people.cli.history import verify_journal

    if is_backup(options.journal):
        from controller.people.cli.backup import verify_backup

        return verify_backup(options.journal, options.passphrase_file, options.json)
    return verify_journal(options.journal, options.against, options.archive, options.json)


def _add_rounds(parser: ArgumentParser) -> None:
    _add_archive(parser)
    add_json(parser)


def _rounds(options: Namespace) -> int:
    from controller.people.cli.history import rounds

    return rounds(options.journal, options.archive, options.json)


def _add_replay(parser: ArgumentParser) -> None:
    parser.add_argument("round", metavar="SHOE/ROUND", help="the round as `tablectl rounds` numbers it: 3/12")
    page = "write the round as one HTML page: cards, frames, lamps, times, events"
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", type=Path, metavar="FILE", help=page)
    form.add_argument("--json", action="store_true", help="what is told, as one JSON object")
    _add_archive(parser)


def _replay(options: Namespace) -> int:
    from controller.people.cli.history import replay_round

    return replay_round(options.journal, options.round, options.archive, options.html, options.json)


def _add_evidence(parser: ArgumentParser) -> None:
    parser.add_argument("round", metavar="SHOE/ROUND", help="the round as `tablectl rounds` numbers it: 3/12")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write")
    in_ = parser.add_mutually_exclusive_group()
    in_.add_argument("--frame", metavar="TEXT", help="the checkpoint that a film of the screen shows")
    note = "a file with the checkpoint that head office has cosigned"
    in_.add_argument("--cosigned", dest="frame", type=_text_of, metavar="NOTE", help=note)
    _add_archive(parser)


def _evidence(options: Namespace) -> int:
    from controller.people.cli.history import write_evidence

    return write_evidence(options.journal, options.round, options.output, options.archive, options.frame)


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ArgumentTypeError(f"{path} cannot be read: {error}") from None


_RECORD = "The record"

OF_RECORD: tuple[Command, ...] = (
    Command("rounds", _RECORD, "every round in a journal, a line each", "", _rounds, _add_rounds, File.JOURNAL),
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
        "evidence",
        _RECORD,
        "one round in a file that a stranger checks with tools/verify.py",
        "3/12 -o FILE",
        _evidence,
        _add_evidence,
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
)
