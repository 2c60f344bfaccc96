"""The alarms that the ledger keeps: those a committed event gave reason to, and those of what came and was not taken.

The latter have a table of their own, made with the first of them, so that a ledger from before it is read as it is.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from controller.errors import TableError
from controller.pit.clock import now_text
from controller.pit.incoming import in_form, parse

_MADE_WITH_THE_FIRST = """
CREATE TABLE IF NOT EXISTS refusal ( -- what came and was not taken: once per table, code and wording
    number INTEGER PRIMARY KEY,
    after_event INTEGER NOT NULL, -- the last one that was committed then: the order, whatever the clocks say
    at TEXT NOT NULL,
    table_id TEXT NOT NULL,
    code TEXT NOT NULL,
    what TEXT NOT NULL,
    do TEXT NOT NULL,
    UNIQUE (table_id, code, what)
) STRICT
"""
MOST_OF_A_CODE = 1000
"""So many refusals of one code are kept: whoever floods the pit with ever new ones does not fill its disk."""

_MOST_CHARACTERS = 1000  # of a wording: a topic's name may be of 65,535 bytes
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z")


@dataclass(frozen=True, slots=True)
class KeptAlarm:
    """An alarm as it is kept. `at`: the table's time of the event, the pit's of what was refused; `event` None: that
    was refused, and no event."""

    at: str
    table: str
    event: str | None
    code: str
    what: str
    do: str

    def __str__(self) -> str:
        table = self.table if in_form(table=self.table) else repr(self.table)
        return (
            f"{self.at}  {table}  {self.event or 'not taken'}  {self.code}\n    {self.what}\n    what to do: {self.do}"
        )


def keep(db: sqlite3.Connection, table: str, refusal: TableError) -> None:
    """Keep what was refused, unless it is kept; inside the ledger's transaction.

    Raises TableError `alarms_too_many` where MOST_OF_A_CODE of its code are kept.
    """
    db.execute(_MADE_WITH_THE_FIRST)
    key = tuple(text[:_MOST_CHARACTERS] for text in (table, refusal.code, refusal.what))
    if db.execute("SELECT 1 FROM refusal WHERE table_id = ? AND code = ? AND what = ?", key).fetchone() is not None:
        return
    (of_code,) = db.execute("SELECT count(*) FROM refusal WHERE code = ?", (refusal.code,)).fetchone()
    if of_code >= MOST_OF_A_CODE:
        raise TableError(
            "alarms_too_many",
            f"The ledger has kept {MOST_OF_A_CODE} alarms {refusal.code}, and keeps no more of these.",
            "Find out who publishes what the pit refuses: `alarms` lists what was kept.",
        )
    db.execute(
        "INSERT INTO refusal (after_event, at, table_id, code, what, do)"
        " SELECT coalesce(max(number), 0), ?, ?, ?, ?, ? FROM event",
        (now_text(), *key, refusal.do[:_MOST_CHARACTERS]),
    )


def kept(db: sqlite3.Connection) -> list[KeptAlarm]:
    """Every alarm that is kept, oldest first."""
    placed = [
        ((event, 0, number), KeptAlarm(_time_of(body), table, f"{table}/{epoch}/{seq}", code, what, do))
        for event, number, body, table, epoch, seq, code, what, do in db.execute(
            "SELECT alarm.event, alarm.number, body, table_id, epoch, seq, code, what, do"
            " FROM alarm JOIN event ON event.number = alarm.event"
        )
    ]
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'refusal'").fetchone() is not None:
        placed += [
            ((after_event, 1, number), KeptAlarm(at, table, None, code, what, do))
            for after_event, number, at, table, code, what, do in db.execute(
                "SELECT after_event, number, at, table_id, code, what, do FROM refusal"
            )
        ]
    return [alarm for _, alarm in sorted(placed, key=lambda place: place[0])]


def _time_of(body: bytes) -> str:
    """When a committed event happened, by its table's clock."""
    at = parse(body).get("at")
    return at if isinstance(at, str) and _TIME.fullmatch(at) else "at no known time"
