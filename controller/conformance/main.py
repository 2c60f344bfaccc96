"""`table-controller-conformance`: play tables at a pit that runs, and report clause by clause."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from controller.conformance.clauses import Clause, clauses
from controller.conformance.deeds import DEEDS, Deeds, NotTriedError, read_commands
from controller.conformance.far_table import Address
from controller.conformance.pit_checks import CHECKS, BrokenError, Kit
from controller.conformance.report import Line, Report, Result
from controller.delivery.broker_options import add_broker, tls_files
from controller.errors import TableError
from controller.keys import load_or_make_key

ALL_KEPT, SOME_BROKEN, SOME_NOT_TRIED = 0, 1, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kit. Returns the exit code: 0 all clauses kept, 1 one broken or the kit could not run, 3 some not
    tried."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except TableError as error:
        print(error, file=sys.stderr)
        return SOME_BROKEN


def _run(options: argparse.Namespace) -> int:
    wanted = [clause for clause in clauses() if not options.only or clause.number in options.only]
    if unknown := set(options.only) - {clause.number for clause in wanted}:
        do = "Run with --list: it prints every clause with its number."
        raise TableError("clause_unknown", f"There is no clause {', '.join(sorted(unknown))}.", do)
    if options.list:
        for clause in wanted:
            print(f"{clause.number}  {clause.text}")
        return ALL_KEPT
    if options.broker is None:
        raise TableError("broker_missing", "No broker was named.", "Give --broker HOST:PORT.")
    deeds = Deeds(read_commands(options.deeds) if options.deeds else {}, sys.stdin.isatty())
    host, port = options.broker
    address = Address(host, port, options.root, tls_files(options))
    report = try_pit(address, deeds, wanted, lambda line: print(_line_text(line), file=sys.stderr, flush=True))
    _write(report, options)
    if report.count(Result.BROKEN):
        return SOME_BROKEN
    return SOME_NOT_TRIED if report.count(Result.NOT_TRIED) else ALL_KEPT


def try_pit(address: Address, deeds: Deeds, wanted: Sequence[Clause], hear: Callable[[Line], None]) -> Report:
    """Try each of these clauses at the pit on this broker; `hear` is given each line as it comes."""
    kit = Kit(address, deeds)
    lines: list[Line] = []
    try:
        for clause in wanted:
            lines.append(_tried(kit, clause))
            hear(lines[-1])
    finally:
        kit.close()
    return Report.of(f"{address.host}:{address.port}, below {address.root}", lines)


def _tried(kit: Kit, clause: Clause) -> Line:
    began_s = time.monotonic()
    result, why = Result.KEPT, ""
    try:
        CHECKS[clause.number](kit)
    except BrokenError as broken:
        result, why = Result.BROKEN, str(broken)
    except NotTriedError as not_tried:
        result, why = Result.NOT_TRIED, str(not_tried)
    return Line(clause, result, why, time.monotonic() - began_s)


def _line_text(line: Line) -> str:
    return f"{line.clause.number} {line.result.value}{': ' if line.why else ''}{line.why}"


def _write(report: Report, options: argparse.Namespace) -> None:
    print(report.text())
    if options.junit:
        options.junit.write_bytes(report.junit())
    if options.html:
        options.html.write_text(report.page(), "utf-8")
    if options.json:
        key = load_or_make_key(options.json.with_suffix(".key"))
        options.json.write_bytes(report.signed(key, key.public.hex()))


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    made = argparse.ArgumentParser(
        prog="table-controller-conformance",
        description="Plays tables at a pit that runs, and reports which clauses of the contract the pit keeps. Use a "
        "pit for tests: the tables that are played are adopted, and their hits are awards.",
        epilog="Exit codes: 0 every clause is kept, 1 one is broken or the kit could not run, 3 none is broken and "
        "some were not tried.",
    )
    add_broker(made, "the kit's", required=False)  # a list of the clauses needs no broker
    made.add_argument(
        "--deeds",
        type=Path,
        metavar="FILE",
        help=f"a TOML file with a command for each of {', '.join(DEEDS)}; a person is asked for the others",
    )
    made.add_argument("--only", nargs="+", default=[], metavar="CLAUSE", help="try only these clauses")
    made.add_argument("--list", action="store_true", help="print the clauses and end")
    made.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit XML too")
    made.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page too")
    made.add_argument("--json", type=Path, metavar="FILE", help="write signed JSON too; the key lies beside that file")
    return made
