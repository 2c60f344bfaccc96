"""The command `tablectl doctor`: all checks of the machine on which a table runs, in the order in which a technician
reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.daemon.config import Config, load
from controller.daemon.config.problems import ConfigError
from controller.people.care import board, keeping, links, program
from controller.people.care.machine import Machine
from controller.people.care.row import Row, fault, ok

_P = ParamSpec("_P")


def examine(machine: Machine, table: Path | None, answer: Status | TableError | None) -> Iterator[Row]:
    """Run all checks of the machine and yield their results. `table` is the path of the table's file, or None if the
    machine has no such file. `answer` is the status of the running table, or the error of asking for it. It is None if
    nobody asked."""
    config = None
    if table is None:
        yield fault("configuration", "no_table", "This machine has no table's file yet.", "sudo tablectl setup")
    else:
        try:
            config = load(table)
            yield ok("configuration", f"{table} has no mistakes.")
        except ConfigError as error:
            for problem in error.problems:
                says = f"{problem.file}: {problem.place or problem.key}: {problem.what}."
                yield fault("configuration", error.code, says, problem.do)
    if answer is not None:
        yield from _each(program.running, answer)
    if config is not None:
        yield from of_table(machine, config)
        status = None if isinstance(answer, TableError) else answer
        noted = keeping.noted(machine, config.file.journal) if status is None else None
        yield from _each(program.measured, config, status, noted)
    for check in (keeping.clock, board.power, board.heat, board.media, program.system, program.units):
        yield from _each(check, machine)


def of_table(machine: Machine, config: Config) -> Iterator[Row]:
    """Check what the table's file names: the shoe, the pins, the certificates, the broker, the disk and the journal."""
    file = config.file
    yield from _each(links.shoe_port, machine, file.shoe)
    yield from _each(links.shoes_plug, machine, file.shoe)
    yield from _each(board.header, machine, file.pins, file.shoe)
    yield from _each(links.certificates, machine, file.pit, file.table.id)
    yield from _each(links.broker, machine, file.pit, file.table.id)
    yield from _each(keeping.disk, machine, file.journal)
    yield from _each(keeping.record, machine, file.journal, file.table.id)


def _each(check: Callable[_P, Iterator[Row]], *args: _P.args, **kwargs: _P.kwargs) -> Iterator[Row]:
    """Run one check and yield its rows. If the check itself fails with an exception, yield a row that says so, so that
    the remaining checks still run."""
    try:
        yield from check(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  # a failed check is a row, and hides no other row
        says = f"This check itself failed ({type(error).__name__}: {error})."
        yield fault("doctor", "check_failed", says, "Report this with the whole output of `tablectl doctor --json`.")
