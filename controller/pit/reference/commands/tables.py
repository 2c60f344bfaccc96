"""The commands of `pitctl` that decide from which tables the pit takes events, and that print what came from the
tables."""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.basics.near import meant
from controller.contract.canonical import parse_object
from controller.contract.event_reading import EVENT_TYPES
from controller.contract.keys import SigningKey, load_or_make_key, rotations_of
from controller.pit.reference import house_log
from controller.pit.reference.award_evidence import award_evidence
from controller.pit.reference.commands.options import (
    add_control,
    add_json,
    add_key,
    add_ledger,
    add_reason,
    key_file,
    report,
)
from controller.pit.reference.opening import read_alarms, read_forks, read_log

_FOLLOW_S = 1.0
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?")


def add_adopt(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl adopt` to its parser."""
    add_control(parser)
    _add_table_and_epoch(parser)
    what = "the table's public key, or its fingerprint as `tablectl status` shows it"
    parser.add_argument("key", metavar="KEY", help=what)


def _add_table_and_epoch(parser: ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table's name")
    parser.add_argument("epoch", metavar="EPOCH", help="the epoch of the table's journal")


def add_unadopt(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl unadopt` to its parser."""
    add_control(parser)
    _add_table_and_epoch(parser)
    add_reason(parser)


def add_retire(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl retire` to its parser."""
    add_control(parser)
    parser.add_argument("table", metavar="TABLE", help="the table's name")
    add_reason(parser)


def add_events(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl events` to its parser."""
    add_ledger(parser, "read only; also while the pit runs")
    parser.add_argument("table", nargs="?", metavar="TABLE", help="without TABLE every table's, for head office")
    parser.add_argument("--epoch", metavar="EPOCH", help="of TABLE; without this option the epoch adopted last")
    what = "of every table: the events after position N (%(default)s: from the beginning)"
    parser.add_argument("--from", type=int, default=0, dest="after", metavar="N", help=what)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="of every table: signed events with positions (the default)")
    form.add_argument("--csv", action="store_true", help="of every table: a spreadsheet, which proves nothing")
    parser.add_argument("--follow", action="store_true", help="of every table: print new events too, until Ctrl-C")
    what = "only events at this time by the table's clock, or later: 2026-11-26 or 2026-11-26T21:30, in UTC"
    parser.add_argument("--since", type=_moment, metavar="TIME", help=what)
    what = "only events before this time. What is left out is in no proof: head office takes the whole log"
    parser.add_argument("--before", type=_moment, metavar="TIME", help=what)
    what = f"only events of this type; may be given again. The types: {', '.join(EVENT_TYPES)}"
    parser.add_argument("--type", action="append", type=_type, default=[], dest="types", metavar="TYPE", help=what)


def _moment(text: str) -> str:
    """Check that `text` is a day or a time in UTC, such as 2026-11-26 or 2026-11-26T21:30. Return the text unchanged,
    because the alphabetical order of such texts is their order in time."""
    if not _MOMENT.fullmatch(text):
        raise ArgumentTypeError(f"{text} is no time: write 2026-11-26, or 2026-11-26T21:30 in UTC")
    return text


def _type(name: str) -> str:
    if name not in EVENT_TYPES:
        raise ArgumentTypeError(f"{name} is no type of an event{meant(name, EVENT_TYPES)}")
    return name


def _wanted(event: dict[str, Any], options: Namespace) -> bool:
    """Tell whether the event is within the times and types that the command line asks for."""
    at = str(event.get("at"))
    in_time = (options.since or "") <= at and (options.before is None or at < options.before)
    return in_time and (not options.types or event.get("type") in options.types)


def events(options: Namespace) -> int:
    if options.table is None:
        return _every_event(options)
    for body in read_log(options.ledger, options.table, options.epoch):
        if _wanted(parse_object(body), options):
            sys.stdout.buffer.write(body + b"\n")
    sys.stdout.flush()  # here, where `main` still catches a broken pipe
    return 0


def _every_event(options: Namespace) -> int:
    if options.csv and options.after == 0:
        print(",".join(house_log.COLUMNS))
    line_of = house_log.csv_line if options.csv else house_log.json_line
    after: int = options.after
    while True:
        for position, epoch, event in house_log.read_events(options.ledger, after):
            if _wanted(event, options):
                print(line_of(position, epoch, event))
            after = position
        sys.stdout.flush()
        if not options.follow:
            return 0
        time.sleep(_FOLLOW_S)


def _existing_key(options: Namespace) -> SigningKey:
    key_at = key_file(options)
    if not key_at.is_file():
        raise TableError("signing_key_missing", f"There is no key {key_at}.", "Name the pit's key: --signing-key.")
    return load_or_make_key(key_at)


def add_statement(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl statement` to its parser."""
    add_ledger(parser, "read only")
    add_key(parser)


def statement(options: Namespace) -> int:
    key_at, key = key_file(options), _existing_key(options)
    print(house_log.statement(options.ledger, key, key.public, rotations_of(key_at, key.public)).decode())
    return 0


def add_evidence(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl evidence` to its parser."""
    add_ledger(parser, "read only")
    add_key(parser)
    parser.add_argument("award", metavar="AWARD", help="the award, as `pitctl award list` names it")
    what = "the file to write; no existing file is replaced"
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=what)


def evidence(options: Namespace) -> int:
    """Write the evidence file of an award, which others can check without the pit, into a new file."""
    key, key_at, to = _existing_key(options), key_file(options), options.output
    held = award_evidence(options.ledger, options.award, key, key.public, rotations_of(key_at, key.public))
    try:
        with to.open("xb") as file:
            file.write(held)
    except OSError as error:
        do = "Name a new file in a folder where you may write."
        raise TableError("evidence_not_written", f"{to} cannot be written: {error.strerror}.", do) from error
    print(f"{to}: award {options.award}, {len(held)} bytes. Check it with tools/verify_award.py, beside verify.py.")
    return 0


def add_alarms(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl alarms` to its parser."""
    add_ledger(parser, "read only")
    parser.add_argument("table", nargs="?", metavar="TABLE", help="without TABLE every table's")
    add_json(parser, "every alarm, as one JSON list; one with a `count` tells how many more found no room")


def alarms(options: Namespace) -> int:
    kept = read_alarms(options.ledger, options.table)
    none = "no alarms are kept" + ("" if options.table is None else f" of {options.table}")
    return report(options, kept, kept or [none])


def add_forks(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl forks` to its parser."""
    add_ledger(parser, "read only; also while the pit runs")
    parser.add_argument("table", nargs="?", metavar="TABLE", help="without TABLE every table's")


def forks(options: Namespace) -> int:
    found = [fork for fork in read_forks(options.ledger) if options.table in (None, fork.table)]
    for fork in found:
        print(fork)
    if not found:
        print("no table has shown a checkpoint that no proof joins to the cosigned one")
    sys.stdout.flush()  # here, where `main` still catches a broken pipe
    return 0
