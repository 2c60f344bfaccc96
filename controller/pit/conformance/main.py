"""The command `table-controller-conformance`, which tests a pit or a table against the contract and reports the result
for each clause."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from controller.basics.command import OptionParser
from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.contract.wire.broker_options import add_broker, tls_files
from controller.pit.conformance.clauses import Clause, clauses
from controller.pit.conformance.deeds import PIT_DEEDS, TABLE_DEEDS, Deeds, read_commands
from controller.pit.conformance.fire import try_pit_under_fire
from controller.pit.conformance.pit_checks import CHECKS as PIT_CHECKS
from controller.pit.conformance.pit_kit import PitKit
from controller.pit.conformance.report import Line, Report, Result
from controller.pit.conformance.table_checks import CHECKS as TABLE_CHECKS
from controller.pit.conformance.table_kit import TableKit
from controller.pit.conformance.wire import Address

ALL_KEPT, SOME_BROKEN, SOME_NOT_TRIED = 0, 1, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the conformance tests of a pit or a table. Returns the exit code: 0 if all clauses of the contract are kept,
    1 if a clause is broken or the tests could not run, 3 if some clauses were not tested."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except TableError as error:
        print(error, file=sys.stderr)
        return SOME_BROKEN
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone
        return SOME_BROKEN


def _run(options: argparse.Namespace) -> int:
    _refuse_what_would_be_ignored(options)
    of = "T" if options.table else "" if options.list else "P"
    wanted = [clause for clause in clauses(of) if not options.only or clause.number in options.only]
    if unknown := set(options.only) - {clause.number for clause in wanted}:
        do = "Run with --list: it prints every clause with its number. A clause T… is tried with --table NAME."
        raise TableError("clause_unknown", f"There is no clause {', '.join(sorted(unknown))} to try.", do)
    if options.list:
        for clause in wanted:
            print(f"{clause.number}  since version {clause.since}  {clause.text}")
        return ALL_KEPT
    if options.broker is None:
        raise TableError("broker_missing", "No broker was named.", "Give --broker HOST:PORT.")
    known = TABLE_DEEDS if options.table else PIT_DEEDS
    asks = sys.stdin.isatty() and options.fire is None  # in a fire nobody waits for a person
    deeds = Deeds(known, read_commands(options.deeds, known) if options.deeds else {}, asks)
    host, port = options.broker
    address = Address(host, port, options.root, tls_files(options))
    if options.table:
        report = try_table(address, deeds, options.table, options.stale_after, wanted, _print_line)
    elif options.fire is not None:
        report = try_pit_under_fire(address, deeds, options.fire, options.pit_port, _print_stage)
    else:
        report = try_pit(address, deeds, wanted, _print_line)
    _write(report, options)
    if report.count(Result.BROKEN):
        return SOME_BROKEN
    return SOME_NOT_TRIED if report.count(Result.NOT_TRIED) else ALL_KEPT


def _refuse_what_would_be_ignored(options: argparse.Namespace) -> None:
    """Raise TableError `options_apart` if an option would have no effect: `--table` or `--only` together with `--fire`,
    or `--pit-port` without `--fire`."""
    do = "Leave one of them out: a fire tries a pit, in all the clauses that a fire can try."
    for name, given in (("--table", options.table), ("--only", options.only)):
        if options.fire is not None and given:
            raise TableError("options_apart", f"--fire cannot stand beside {name}.", do)
    if options.fire is None and options.pit_port is not None:
        raise TableError("options_apart", "--pit-port says nothing without --fire.", "Give --fire 10, or leave it out.")


def try_pit(address: Address, deeds: Deeds, wanted: Sequence[Clause], hear: Callable[[Line], None]) -> Report:
    """Test each of the contract's clauses in `wanted` on the pit that uses this broker, and return the report. `hear`
    is called with each line of the report as soon as its clause was tested."""
    with closing(PitKit(address, deeds)) as kit:
        return Report.of("the pit", _where(address), PIT_CHECKS.lines(kit, wanted, hear))


def try_table(
    address: Address,
    deeds: Deeds,
    table: str,
    stale_after_s: float,
    wanted: Sequence[Clause],
    hear: Callable[[Line], None],
) -> Report:
    """Test each of the contract's clauses in `wanted` on the table of this name, and return the report. `stale_after_s`
    is how long, in seconds, the table tolerates a silent pit. `hear` is called with each line of the report as soon as
    its clause was tested."""
    with closing(TableKit(address, deeds, table, stale_after_s)) as kit:
        return Report.of(f"the table {table}", _where(address), TABLE_CHECKS.lines(kit, wanted, hear))


def _where(address: Address) -> str:
    return f"{address.host}:{address.port}, below {address.root}"


def _print_line(line: Line) -> None:
    print(f"{line.clause.number} {line.result.value}{': ' if line.why else ''}{line.why}", file=sys.stderr, flush=True)


def _print_stage(stage: str) -> None:
    print(stage, file=sys.stderr, flush=True)


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
    """Return the parser for the command line of `table-controller-conformance`."""
    made = OptionParser(
        prog="table-controller-conformance",
        description="Plays tables at a pit that runs, or with --table a pit at a table that runs, and reports which "
        "clauses of the contract are kept. Use a pit and a table for tests: the tables that are played are adopted, "
        "their hits are awards, and a table's rounds are dealt and its wagers are refused.",
        epilog="Exit codes: 0 every clause is kept, 1 a clause is broken or the kit could not run, 3 no clause is "
        "broken and some were not tried.",
    )
    add_broker(made, "the kit's", required=False)  # a list of the clauses needs no broker
    made.add_argument("--table", metavar="NAME", help="try the table of this name, and no pit")
    _add_fire(made)
    made.add_argument(
        "--stale-after",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="with --table: how long a pit may be silent before the table refuses progressive bets (%(default)g s)",
    )
    made.add_argument(
        "--deeds",
        type=Path,
        metavar="FILE",
        help=f"a TOML file with a command for each of {', '.join(PIT_DEEDS)}; with --table for each of "
        f"{', '.join(TABLE_DEEDS)}. A person is asked for the others",
    )
    made.add_argument("--only", nargs="+", default=[], metavar="CLAUSE", help="try only these clauses")
    made.add_argument("--list", action="store_true", help="print the clauses and end")
    made.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit XML too")
    made.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page too")
    made.add_argument(
        "--json", type=Path, metavar="FILE", help="write signed JSON too; the kit's key lies beside that file"
    )
    return made


def _add_fire(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fire",
        type=float,
        metavar="MINUTES",
        help="try the pit for so long under fire: links are cut, frozen and slowed, and the pit is ended by the deed "
        "restart, while tables play",
    )
    parser.add_argument(
        "--pit-port",
        type=int,
        metavar="PORT",
        help="with --fire: the pit connects to this port of this machine, and not to the broker. So the pit's own link "
        "is troubled too",
    )
