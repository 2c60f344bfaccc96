"""`tablectl self-test`: guide a person through a test of a running table. The person looks at each lamp, presses each
button, and sees a test hit arrive."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.daemon.config import load
from controller.people.care import program
from controller.people.care.row import Row, Verdict, absent, fault, ok
from controller.people.cli.client import ask, status_of
from controller.people.cli.doctor import row_lines
from controller.people.cli.setup.questions import Terminal, read_yes
from drivers.header_map import PHYSICAL

_POLL_S = 0.1
_ACKED_WITHIN_S = 10.0
_AGAIN_S = 45.0  # a test of the inputs lasts a minute


def self_test(table: Path, by: str) -> int:
    """Test the lamps, the inputs, the running table and a test hit, with the help of the person `by` at the table.
    Returns 1 if a part fails, else 0. Raises TableError."""
    file = load(table).file
    do, person = _Doing(table, file.control.socket, by), Terminal()
    found: list[Row] = []
    for part in (
        _lamps(do, person, {name: wiring.bcm for name, wiring in file.pins.lamps.items()}),
        _inputs(do, person, {name: wiring.bcm for name, wiring in file.pins.inputs.items()}),
        program.running(do.status()),
        _hit(do, person, file.seats[0].number),
    ):
        for row in part:
            print("\n".join(row_lines([row])), flush=True)
            found.append(row)
    bad = sum(row.verdict is Verdict.FAULT for row in found)
    print(f"faults: {bad}, well: {sum(row.verdict is Verdict.OK for row in found)}")
    return int(bad > 0)


class _Doing:
    """A client of the running table for a self-test. It reads the table's status, and does acts (such as a lamp test)
    in the name of the person `by`."""

    def __init__(self, table: Path, control: str, by: str) -> None:
        self._table, self._control, self._by = table, control, by

    def __call__(self, what: str, **arguments: object) -> None:
        ask(self._table, {"do": what, **arguments, "by": self._by}, self._control)

    def status(self) -> Status:
        return status_of(self._table, self._control)


def _lamps(do: _Doing, person: Terminal, wired: dict[str, int]) -> Iterator[Row]:
    for lamp, bcm in wired.items():
        try:
            do("lamp_test", lamp=lamp)
        except TableError as refused:
            yield absent("lamps", f"Not tried: {refused.what}", refused.do)
            return
        if _yes(person, f"Is the lamp {lamp} lit, and no other?"):
            yield ok(f"lamp {lamp}", "This lamp alone was lit.")
        else:
            look = f"Look at its wire: BCM {bcm}, pin {PHYSICAL[bcm]} of the header (docs/wiring.md), and at `active`."
            yield fault(f"lamp {lamp}", "lamp_not_lit", "This lamp was not lit, or another lamp was lit.", look)


def _inputs(do: _Doing, person: Terminal, wired: dict[str, int]) -> Iterator[Row]:
    begun_s = -_AGAIN_S
    for name, bcm in wired.items():
        print(f"Press, cover or turn {name} now (Enter: it cannot be done).", flush=True)
        while True:
            if time.monotonic() - begun_s >= _AGAIN_S:
                try:
                    do("input_test")
                except TableError as refused:
                    yield absent("inputs", f"Not tried: {refused.what}", refused.do)
                    return
                begun_s = time.monotonic()
            pressed = do.status().inputs
            if name in pressed:
                yield ok(f"input {name}", "The table saw this input.")
                break
            if person.line_within(_POLL_S) is not None:
                look = (
                    f"Look at its wire: BCM {bcm}, pin {PHYSICAL[bcm]} of the header (docs/wiring.md), and at `pull`."
                )
                others = f" It saw: {', '.join(pressed)}." if pressed else ""
                yield fault(f"input {name}", "input_not_seen", f"The table did not see this input.{others}", look)
                break


def _hit(do: _Doing, person: Terminal, seat: int) -> Iterator[Row]:
    try:
        do("test_hit", seat=seat)
    except TableError as refused:
        yield absent("test hit", f"Not tried: {refused.what}", refused.do)
        return
    hit_seq = do.status().pit.head_seq
    if not _yes(person, f"Does the lamp of seat {seat} blink fast?"):
        do_ = "Look at the row of that lamp in this list."
        yield fault("test hit", "hit_not_shown", f"The lamp of seat {seat} did not blink.", do_)
    ends_s = time.monotonic() + _ACKED_WITHIN_S
    while do.status().pit.acked_seq < hit_seq:
        if time.monotonic() >= ends_s:
            says = f"The pit has not acknowledged the test hit, event {hit_seq}, within {_ACKED_WITHIN_S:.0f} seconds."
            yield fault("test hit", "hit_not_told", says, "tablectl status says how the table finds its pit.")
            return
        time.sleep(_POLL_S)
    yield ok("test hit", f"The pit has the test hit, event {hit_seq}. A test hit moves no meter.")


def _yes(person: Terminal, question: str) -> bool:
    """Ask the person a question at the terminal, and return whether the answer is yes. Letters that were typed before
    the question do not count."""
    person.forget()
    while True:
        try:
            return read_yes(person.line(f"{question} [y/n]\n"))
        except ValueError as error:
            print(error, flush=True)
