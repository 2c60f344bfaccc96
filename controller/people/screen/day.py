"""Counts which side won the rounds of the present gaming day at this table. The counts are made from the table's past
events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from controller.contract.event_reading import read
from controller.contract.events import Correction, Round, Void
from controller.people.screen.past import told

Where = tuple[int | None, int | None]
"""A round's shoe and its number."""


def begun(now: datetime, begins: time) -> datetime:
    """Return the moment at which the gaming day that contains `now` began. `begins` is the time of day at which the
    house begins its gaming day, in the machine's own time zone."""
    day = now.date() if now.time() >= begins else now.date() - timedelta(days=1)
    return datetime.combine(day, begins).astimezone(UTC)


def noted(outcomes: Mapping[Where, str], messages: Iterable[Mapping[str, Any]]) -> dict[Where, str]:
    """Return who won each round, by shoe and round. `outcomes` are the results so far, and `messages` are later events,
    which add, correct or void rounds. Simulated and void rounds are left out."""
    now = dict(outcomes)
    for event in map(read, messages):
        match event:
            case Round(simulated=False, outcome=outcome):
                now[event.shoe, event.round] = outcome
            case Correction(outcome=outcome) if (event.shoe, event.round) in now:
                now[event.shoe, event.round] = outcome
            case Void():
                now.pop((event.shoe, event.round), None)
            case _:
                pass
    return now


class Day:
    """Counts the results of the table's present gaming day. `path` is the socket on which the table answers with its
    past events, and `begins` the time of day at which the gaming day begins, HH:MM."""

    def __init__(self, path: Path, begins: str) -> None:
        self._path = path
        self._begins = time.fromisoformat(begins)
        self._of: tuple[str, str] | None = None
        self._last_seq = 0
        self._outcomes: dict[Where, str] = {}

    def since(self) -> str:
        """Return the time at which the present gaming day began, in the text form that events use."""
        return begun(datetime.now().astimezone(), self._begins).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    async def catch_up(self, epoch: str) -> None:
        """Ask the table for the new events of the gaming day, and count them. `epoch` is the name of the table's
        journal. Raises OSError or ValueError if the table gives no proper answer."""
        if (of := (epoch, self.since())) != self._of:
            self._of, self._last_seq, self._outcomes = of, 0, {}
        events = [event async for event in told(self._path, f"{self._last_seq} {of[1]}")]
        self._outcomes = noted(self._outcomes, events)
        if events:
            self._last_seq = events[-1]["seq"]

    def view(self) -> dict[str, int]:
        """Return how many rounds of the gaming day had each outcome, such as "player", "banker" or "tie". Outcomes that
        no round had are left out."""
        return dict(Counter(self._outcomes.values()))
