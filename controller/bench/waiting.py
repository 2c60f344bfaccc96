"""Classes that wait for a condition, a round, a hit or a fault. If a wait fails, the message shows the table's last
state."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

import pytest
from msgspec import to_builtins

from controller.basics.errors import TableError
from controller.bench.daemon import Table, comes_true
from controller.bench.far_pit import Event, FarPit
from controller.bench.header import Pins
from controller.table.faults import FAULTS

PATIENCE_S = 60.0
"""How long a test waits for a condition. A busy machine needs some of that time; a lamp's pattern takes 4 s."""

_LOG_LINES, _LAST_EVENTS, _SOURCE_CHARACTERS = 3, 5, 200  # a failure must fit on the screen


class Wait:
    """An object that is called like a function: `wait(condition)` waits until the condition is true. If it fails, the
    message says what the test waited for, which lamps are not dark, and the last state that the pit heard. It asks no
    daemon for a status, so it works with every table daemon."""

    def __init__(self, pins: Pins, pit: FarPit, patience_s: float = PATIENCE_S) -> None:
        self._pins = pins
        self._pit = pit
        self._patience_s = patience_s

    def __call__(self, condition: Callable[[], object], within_s: float | None = None) -> None:
        """Wait until the condition is true, for at most `within_s` seconds. Without `within_s` the limit is the one
        that the option `--bench-patience` sets. If the condition is still not true, fail the test."""
        __tracebackhide__ = True
        self._wait(_source(condition), condition, within_s)

    def _wait(self, awaited: str, condition: Callable[[], object], within_s: float | None) -> None:
        __tracebackhide__ = True
        if not callable(condition):
            raise TypeError(f"What is awaited is a function, and not {condition!r}: eventually(lambda: ...).")
        within_s = self._patience_s if within_s is None else within_s
        if not comes_true(condition, within_s):
            pytest.fail(f"not true within {within_s:g} s: {awaited}\n{self._picture()}", pytrace=True)

    def _picture(self) -> str:
        return "\n".join((self._lamps(), f"the pit heard last: {self._pit.states[-1:]}", *self._of_pit()))

    def _lamps(self) -> str:
        burning = {name: shown or "changing" for name, shown in self._pins.lamps().items() if shown != "dark"}
        lamps = " ".join(f"{name}={shown}" for name, shown in burning.items())
        return f"lamps not dark: {lamps or 'none'}"

    def _of_pit(self) -> list[str]:
        return [f"wrong at the pit: {wrong}" for wrong in self._pit.wrong]


class Eventually(Wait):
    """An object that is called like a function: `eventually(condition)` waits until the condition is true. If it fails,
    the message says in ten lines what the test waited for and what the table's status was. The message also names a
    file with the whole status."""

    def __init__(self, table: Table, pins: Pins, pit: FarPit, folder: Path, patience_s: float = PATIENCE_S) -> None:
        super().__init__(pins, pit, patience_s)
        self._table = table
        self._whole = folder / "when-it-failed.json"

    def unless_stopped(self, awaited: str, condition: Callable[[], object], standing: str | None) -> None:
        """Wait until the condition is true. Fail at once if the table stops by a fault. `standing` is the code of a
        fault that the table has already, which does not count. `awaited` says in the failure's message what the test
        waited for."""
        __tracebackhide__ = True
        met: object = False

        def met_or_stopped() -> bool:
            nonlocal met
            met = condition()
            return bool(met) or self._table.fault not in (None, standing)

        stopped = comes_true(met_or_stopped, self._patience_s)
        if not met:
            if stopped:
                why = f"the table stopped by the fault {self._table.fault} before this"
            else:
                why = f"not true within {self._patience_s:g} s"
            pytest.fail(f"{why}: {awaited}\n{self._picture()}", pytrace=True)

    def wait_for_round(self, number: int | None = None, within_s: float | None = None) -> Event:
        """Wait until the pit has heard of round `number`, or of any round if it is None. Returns the newest event of
        such a round. Rounds count from 1."""
        __tracebackhide__ = True
        awaited = "a round" if number is None else f"round {number}"
        return self._wait_for(awaited, lambda: self._pit.rounds, lambda it: number in (None, it["round"]), within_s)

    def wait_for_hit(self, seat: int | None = None, within_s: float | None = None) -> Event:
        """Wait until the pit has heard of a hit of this seat, or of any seat if it is None. Returns the newest such
        event."""
        __tracebackhide__ = True
        awaited = "a hit" if seat is None else f"a hit at seat {seat}"
        return self._wait_for(awaited, lambda: self._pit.hits, lambda it: seat in (None, it["seat"]), within_s)

    def wait_for_fault(self, code: str, within_s: float | None = None) -> None:
        """Wait until the table has stopped with this fault. Raises LookupError for an unknown code."""
        __tracebackhide__ = True
        if code not in FAULTS:
            likely = get_close_matches(code, FAULTS, 1)
            hint = f"Did you mean {likely[0]}?" if likely else "docs/faults.md lists them."
            raise LookupError(f"No fault is called {code!r}. {hint}")
        self._wait(f"the fault {code}", lambda: self._table.fault == code, within_s)

    def _wait_for(
        self, awaited: str, events: Callable[[], list[Event]], fits: Callable[[Event], bool], within_s: float | None
    ) -> Event:
        __tracebackhide__ = True
        self._wait(f"{awaited} at the pit", lambda: any(map(fits, events())), within_s)
        return [event for event in events() if fits(event)][-1]

    def _picture(self) -> str:
        try:
            status = self._table.status()
        except TableError as error:
            return f"the table says: {error}\nlog:\n{self._table.log_tail(_LOG_LINES)}"
        self._whole.write_text(
            json.dumps({"status": to_builtins(status), "events": self._pit.events}, indent=1), "utf-8"
        )
        face, pit = status.face, status.pit
        fault = "no fault" if face.fault is None else f"fault {face.fault.code}"
        hands = ", ".join(f"{hand.hand} {' '.join(hand.cards)}" for hand in face.hands)
        events = " ".join(event["type"] for event in self._pit.events[-_LAST_EVENTS:])
        line = "up" if status.shoe.up else "down"
        return "\n".join(
            (
                f"table: {face.phase}, {fault}; {hands or 'no cards'}; the shoe's line is {line}",
                self._lamps(),
                f"pit: {pit.stream}, {len(self._pit.events)} events, the last: {events or 'none'}",
                *self._of_pit(),
                f"the whole status: {self._whole}",
                f"log:\n{self._table.log_tail(_LOG_LINES)}",
            )
        )


def _source(condition: Callable[[], object]) -> str:
    """Return the source text of the condition, as its test writes it, on one line."""
    try:
        lines, _ = inspect.getsourcelines(condition)
    except (OSError, TypeError):  # typed at a prompt
        return repr(condition)
    return " ".join(line.strip() for line in lines)[:_SOURCE_CHARACTERS]
