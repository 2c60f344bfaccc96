"""The alarms that the ledger keeps: those a committed event gave reason to, and those of what came and was not taken.

Of the latter there is room for so many of each table and code, and what found none is counted. Tables that were never
adopted share one room: whoever invents tables does not fill the disk, nor the room of those that are there.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from controller.contract.canonical import parse_object
from controller.errors import TableError
from controller.pit.clock import now_text
from controller.pit.incoming import in_form

SCHEMA = """
CREATE TABLE IF NOT EXISTS refusal ( -- what came and was not taken: once per table, code and wording
    number INTEGER PRIMARY KEY,
    after_event INTEGER NOT NULL, -- the last one that was committed then: the order, whatever the clocks say
    at TEXT NOT NULL,
    table_id TEXT NOT NULL,
    code TEXT NOT NULL,
    what TEXT NOT NULL,
    do TEXT NOT NULL,
    UNIQUE (table_id, code, what)
) STRICT;
CREATE TABLE left_out ( -- how many refusals found no room
    table_id TEXT NOT NULL, -- empty: of all tables that were never adopted
    code TEXT NOT NULL,
    count INTEGER NOT NULL,
    last_at TEXT NOT NULL,
    PRIMARY KEY (table_id, code)
) STRICT, WITHOUT ROWID;
"""
"""In form 3 `refusal` was made with the first of them, and `left_out` was not there."""

MOST_OF_A_CODE = 1000
"""So many refusals of one code are kept of each table: whoever floods the pit with new ones does not fill its disk."""

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


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many alarms of a table and a code found no room. An empty table: of all that were never adopted."""

    table: str
    code: str
    count: int
    last_at: str

    def __str__(self) -> str:
        whose = self.table or "tables that nobody adopted"
        return f"{self.last_at}  {whose}  not kept  {self.code}\n    {self.count:,} more came, the last of them then."


def keep(db: sqlite3.Connection, table: str, refusal: TableError) -> bool:
    """Keep what was refused, unless it is kept; inside the ledger's transaction. False where there is no room."""
    key = tuple(text[:_MOST_CHARACTERS] for text in (table, refusal.code, refusal.what))
    if db.execute("SELECT 1 FROM refusal WHERE table_id = ? AND code = ? AND what = ?", key).fetchone() is not None:
        return True
    (beside,) = db.execute(
        "SELECT count(*) FROM refusal WHERE code = ?1 AND CASE ?2 WHEN '' THEN"
        " table_id NOT IN (SELECT table_id FROM adoption) ELSE table_id = ?2 END",
        (refusal.code, room_of(db, key[0])),
    ).fetchone()
    if beside >= MOST_OF_A_CODE:
        return False
    db.execute(
        "INSERT INTO refusal (after_event, at, table_id, code, what, do)"
        " SELECT coalesce(max(number), 0), ?, ?, ?, ?, ? FROM event",
        (now_text(), *key, refusal.do[:_MOST_CHARACTERS]),
    )
    return True


def count_left_out(db: sqlite3.Connection, table: str, code: str, count: int) -> None:
    """So many more found no room; inside the ledger's transaction. `table` is empty for those never adopted."""
    db.execute(
        "INSERT INTO left_out VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET count = count + excluded.count, last_at = excluded.last_at",
        (table, code, count, now_text()),
    )


def room_of(db: sqlite3.Connection, table: str) -> str:
    """Whose room a table's refusals take: its own, or the empty name's that those never adopted share."""
    known = db.execute("SELECT 1 FROM adoption WHERE table_id = ?", (table,)).fetchone() is not None
    return table if known else ""


def left_out(db: sqlite3.Connection) -> list[LeftOut]:
    """What found no room."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'left_out'").fetchone() is None:  # form 3
        return []
    return [LeftOut(*row) for row in db.execute("SELECT * FROM left_out ORDER BY table_id, code")]


def kept(db: sqlite3.Connection) -> list[KeptAlarm]:
    """Every alarm that is kept, oldest first."""
    placed = [
        ((event, 0, number), KeptAlarm(time_of(body), table, f"{table}/{epoch}/{seq}", code, what, do))
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


def time_of(body: bytes) -> str:
    """When a committed event happened, by its table's clock."""
    at = parse_object(body).get("at")
    return at if isinstance(at, str) and _TIME.fullmatch(at) else "at no known time"
