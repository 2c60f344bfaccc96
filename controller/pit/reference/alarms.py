"""Record alarms in the ledger: alarms that committed events raised, and messages that the pit refused.

The ledger stores at most MOST_OF_A_CODE refusals of each table and code. Further refusals are only counted. Tables that
nobody ever adopted share this limit, as if they were one table. So somebody who invents names of tables can neither
fill the disk nor use up the limit of a real table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from controller.contract.canonical import parse_object
from controller.pit.reference.clock import now_text
from controller.pit.reference.incoming import RefusedError, in_form
from controller.pit.reference.store import Store, of_row

SCHEMA = """
CREATE TABLE IF NOT EXISTS refusal ( -- what came and was not taken: once per table, code and wording
    number INTEGER PRIMARY KEY,
    after_event INTEGER NOT NULL, -- the event that was committed last: the order, whatever the clocks say
    at TEXT NOT NULL,
    table_id TEXT NOT NULL,
    code TEXT NOT NULL,
    what TEXT NOT NULL,
    "do" TEXT NOT NULL,
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

MOST_OF_A_CODE = 1000
"""At most so many refusals of one code are kept of each table: a flood of refusals does not fill the pit's disk."""

_MOST_CHARACTERS = 1000  # of a wording: a topic's name may be of 65,535 bytes
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z")


class KeptAlarm(Struct, frozen=True):
    """An alarm as the ledger records it.

    For an alarm that an event raised, `at` is the event's time by the table's clock. For a refused message, `event` is
    None and `at` is the time by the pit's clock.
    """

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


class LeftOut(Struct, frozen=True):
    """The number of refusals of one table with one error code that the ledger did not store, because the list was full.
    An empty `table` means all tables that nobody ever adopted."""

    table: str
    code: str
    count: int
    last_at: str

    def __str__(self) -> str:
        whose = self.table or "tables that nobody adopted"
        return f"{self.last_at}  {whose}  not kept  {self.code}\n    {self.count:,} more came, the last at this time."


def keep(db: Store, refusals: Iterable[tuple[str, RefusedError]]) -> list[RefusedError]:
    """Record each refusal, with its table, unless the same refusal is recorded already. The caller must hold the
    ledger's transaction.

    Return the refusals that were not recorded because the list for their table and error code was full.
    """
    left_out: list[RefusedError] = []
    beside: dict[tuple[str, str], int] = {}
    for table, refusal in refusals:
        key = tuple(text[:_MOST_CHARACTERS] for text in (table, refusal.code, refusal.what))
        if db.execute("SELECT 1 FROM refusal WHERE table_id = ? AND code = ? AND what = ?", key).fetchone() is not None:
            continue
        room = room_of(db, key[0])
        if (room, refusal.code) not in beside:
            (beside[room, refusal.code],) = db.execute(
                "SELECT count(*) FROM refusal WHERE code = ? AND CASE ? WHEN '' THEN"
                " table_id NOT IN (SELECT table_id FROM adoption) ELSE table_id = ? END",
                (refusal.code, room, room),
            ).fetchone()
        if beside[room, refusal.code] >= MOST_OF_A_CODE:
            left_out.append(refusal)
            continue
        beside[room, refusal.code] += 1
        db.execute(
            'INSERT INTO refusal (after_event, at, table_id, code, what, "do")'
            " SELECT coalesce(max(number), 0), ?, ?, ?, ?, ? FROM event",
            (now_text(), *key, refusal.do[:_MOST_CHARACTERS]),
        )
    return left_out


def count_left_out(db: Store, table: str, code: str, count: int) -> None:
    """Add `count` to the number of refusals with the error code `code` for which the list was full. `table` is a
    table's name, or "" for all tables that nobody ever adopted. The caller must hold the ledger's transaction."""
    db.execute(
        "INSERT INTO left_out VALUES (?, ?, ?, ?) ON CONFLICT (table_id, code) DO UPDATE"
        " SET count = left_out.count + excluded.count, last_at = excluded.last_at",
        (table, code, count, now_text()),
    )


def room_of(db: Store, table: str) -> str:
    """Return the name under which a table's refusals count against the limit: the table's own name, or "" if nobody
    ever adopted the table, because all tables that were never adopted share one limit."""
    known = db.execute("SELECT 1 FROM adoption WHERE table_id = ?", (table,)).fetchone() is not None
    return table if known else ""


def left_out(db: Store) -> list[LeftOut]:
    """Return how many refusals the ledger did not store because a list was full, for each table and error code. All
    tables that nobody ever adopted count as one."""
    return [of_row(LeftOut, row) for row in db.execute("SELECT * FROM left_out ORDER BY table_id, code")]


def kept(db: Store, newest: int = -1) -> list[KeptAlarm]:
    """Return the alarms in the ledger, oldest first. If `newest` is given, return only that many, the last ones."""
    placed = [
        ((event, 0, number), KeptAlarm(time_of(body), table, f"{table}/{epoch}/{seq}", code, what, do))
        for event, number, body, table, epoch, seq, code, what, do in db.execute(
            'SELECT alarm.event, alarm.number, body, table_id, epoch, seq, code, what, "do" FROM alarm'
            f" JOIN event ON event.number = alarm.event ORDER BY alarm.number DESC{_at_most(newest)}"
        )
    ]
    placed += [
        ((after_event, 1, number), KeptAlarm(at, table, None, code, what, do))
        for after_event, number, at, table, code, what, do in db.execute(
            'SELECT after_event, number, at, table_id, code, what, "do" FROM refusal'
            f" ORDER BY number DESC{_at_most(newest)}"
        )
    ]
    every = [alarm for _, alarm in sorted(placed, key=lambda place: place[0])]
    return every if newest < 0 else every[-newest:]


def by_code(db: Store) -> dict[str, int]:
    """Return how many alarms there were of each error code, including those that the ledger only counted because a list
    was full."""
    return dict(
        db.execute(
            "SELECT code, CAST(sum(count) AS INTEGER) FROM (SELECT code, count(*) AS count FROM alarm GROUP BY code"
            " UNION ALL SELECT code, count(*) FROM refusal GROUP BY code"
            " UNION ALL SELECT code, sum(count) FROM left_out GROUP BY code) AS counted GROUP BY code ORDER BY code"
        ).fetchall()
    )


def _at_most(newest: int) -> str:
    return "" if newest < 0 else f" LIMIT {newest}"


def time_of(body: bytes) -> str:
    """Return the time at which the event with this body happened, by its table's clock. Return "at no known time" if
    the body has no such time."""
    at = parse_object(body).get("at")
    return at if isinstance(at, str) and _TIME.fullmatch(at) else "at no known time"
