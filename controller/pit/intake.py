"""What each committed event means to the meters and awards, and what of it a person must look at.

A table's event stands, whatever it says: what contradicts what went before is committed and told as an alarm, which
is kept beside the hand that it is about. One thing is not taken: a hit on a meter that the pit does not have. The
table keeps it, and sends it again until the settings name the meter.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from controller.errors import TableError
from controller.pit.awards import Awards
from controller.pit.books import Books
from controller.pit.incoming import RefusedError, TableEvent
from controller.pit.settings import MOST_CENTS

SCHEMA = """
CREATE TABLE alarm (
    number INTEGER PRIMARY KEY,
    event INTEGER NOT NULL,
    hand INTEGER,
    code TEXT NOT NULL,
    what TEXT NOT NULL,
    do TEXT NOT NULL
) STRICT;
CREATE INDEX alarm_hand ON alarm (hand);
"""

_MOST_SEATS = 100
_WORD = re.compile(r"[a-z0-9_]{1,60}")
_HIT = re.compile(r"[a-z0-9-]+/[a-z0-9]+/[1-9][0-9]{0,17}")
_STEP = re.compile("pending|verified|paid|rejected")


class _NotUnderstoodError(Exception):
    """An event's body is not as the contract has it."""


class Intake:
    """The reader of committed events. Every method works inside the ledger's transaction."""

    def __init__(self, db: sqlite3.Connection, books: Books, awards: Awards) -> None:
        self._db = db
        self._books = books
        self._awards = awards

    def refuse_unknown_meter(self, table: str, event: TableEvent) -> None:
        """Asked before the event is committed. Raises RefusedError `meter_unknown`."""
        match event.message:
            case {"type": "hit", "progressive": {"meter": str(meter)}} if _WORD.fullmatch(meter):
                if not self._books.has_meter(meter):
                    raise RefusedError(
                        "meter_unknown",
                        f"Table {table} has a hit on the meter {meter}, which this pit does not have.",
                        "Add the meter to the settings and start the pit again: the table sends the hit until then.",
                    )

    def take(self, number: int, table: str, event: TableEvent) -> tuple[TableError, ...]:
        """Do what the event, committed under this number, means. Returns the alarms it gave reason to."""
        try:
            alarms: tuple[tuple[int | None, TableError], ...] = tuple(self._take(number, table, event))
        except _NotUnderstoodError as error:
            what = f"Event {table}/{event.epoch}/{event.seq}, a {event.type}, is not understood: {error}."
            do = "It is in the ledger and changed no meter. Compare the table's version with the pit's."
            alarms = ((None, TableError("event_not_understood", what, do)),)
        self._db.executemany(
            "INSERT INTO alarm (event, hand, code, what, do) VALUES (?, ?, ?, ?, ?)",
            [(number, hand, alarm.code, alarm.what, alarm.do) for hand, alarm in alarms],
        )
        return tuple(alarm for _, alarm in alarms)

    def _take(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        """The alarms, each with its hand. Whatever is not understood is so before anything is written."""
        message = event.message
        match event.type:
            case "wagers_locked":
                seats = _seats(message, "royal9_seats")
                if seats:  # a game without the wager has no price for it
                    price_cents, hand = _cents(message, "royal9_price_cents"), self._hand(table, event)
                    if not self._books.lock_wagers(number, hand, seats, price_cents):
                        yield hand, _contradiction(table, event, "locks the wagers of a hand whose wagers were locked")
            case "void":
                seats = _seats(message, "royal9_seats")
                if seats:
                    yield from self._void(number, table, event, seats)
            case "round":
                hits = message.get("royal9")
                if isinstance(hits, list) and hits:
                    hand = self._hand(table, event)
                    self._db.execute("UPDATE hand SET hits = ? WHERE number = ?", (len(hits), hand))
            case "hit":
                yield from self._hit(number, table, event)
            case "correction":
                if message.get("royal9") != message.get("royal9_before"):
                    hand = self._hand(table, event)
                    what = f"Table {table} corrected {_named(event)}, and its Royal 9 hits are now other ones."
                    do = "Compare both with the felt. Reject what was no hit; settle by hand what was one."
                    yield hand, TableError("hits_corrected", what, do)
            case "award":
                yield from self._award(number, table, event)
            case "alarm" if message.get("code") == "award_impossible":
                yield from self._disputed_award(table, event)

    def _void(
        self, number: int, table: str, event: TableEvent, seats: tuple[int, ...]
    ) -> Iterator[tuple[int | None, TableError]]:
        hand = self._hand(table, event)
        has_hit = self._db.execute("SELECT 1 FROM award WHERE hand = ?", (hand,)).fetchone() is not None
        if missing := self._books.void_wagers(number, hand, seats):
            told = ", ".join(map(str, missing))
            yield hand, _contradiction(table, event, f"voids wagers that no lock told of or were voided: seat {told}")
        if has_hit:
            yield hand, _contradiction(table, event, "voids a hand that has had a hit")

    def _hit(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        seat, tier, won = _seat(event.message.get("seat")), _word(event.message, "tier"), _won(event.message)
        hand = self._hand(table, event)
        repeated = self._db.execute("SELECT 1 FROM award WHERE hand = ? AND seat = ?", (hand, seat)).fetchone()
        told = f"{table}/{event.epoch}/{event.seq}"
        if not self._awards.hit(number, told, hand, seat, tier, won):
            yield hand, _contradiction(table, event, f"is a hit at seat {seat} on a level that was settled without it")
        if repeated is not None:
            yield hand, _contradiction(table, event, f"is a second hit at seat {seat} in one hand")
        if not self._books.has_wager(hand, seat):
            yield hand, _contradiction(table, event, f"is a hit at seat {seat}, which has no locked wager")

    def _award(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        message = event.message
        hit, step, cents = _word(message, "hit", _HIT), _word(message, "step", _STEP), _cents(message, "cents")
        by = message.get("by")
        if not isinstance(by, str) or not by.strip() or not by.isprintable():
            raise _NotUnderstoodError("by is nobody's name")
        hand = self._awards.hand_of(table, hit)
        if hand is None:
            yield None, _contradiction(table, event, "is a step of an award of a hit that this ledger does not have")
        elif (alarm := self._awards.heard(number, hit, step, cents, by)) is not None:
            yield hand, alarm

    def _disputed_award(self, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        details = event.message.get("details")
        if not isinstance(details, dict):
            raise _NotUnderstoodError("details are none")
        hit, cents = _word(details, "hit", _HIT), _cents(details, "cents")
        hand = self._awards.hand_of(table, hit)
        if hand is None:
            yield None, _contradiction(table, event, "disputes an award of a hit that this ledger does not have")
        else:
            yield hand, self._awards.dispute(hit, cents)

    def _hand(self, table: str, event: TableEvent) -> int:
        shoe, round_ = (_whole(event.message.get(key), 1, MOST_CENTS, key) for key in ("shoe", "round"))
        return self._books.hand(table, event.epoch, shoe, round_)


def _contradiction(table: str, event: TableEvent, what: str) -> TableError:
    return TableError(
        "event_contradicts",
        f"Event {table}/{event.epoch}/{event.seq} ({_named(event)}) {what}.",
        "Find out at the table what happened there before any award of the hand is paid.",
    )


def _named(event: TableEvent) -> str:
    shoe, hand = (value if type(value := event.message.get(key)) is int else "?" for key in ("shoe", "round"))
    return f"shoe {shoe}, hand {hand}"


def _whole(value: object, least: int, most: int, meant: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _NotUnderstoodError(f"{meant} is not what it should be")
    return value


def _cents(message: dict[str, object], key: str) -> int:
    return _whole(message.get(key), 0, MOST_CENTS, key)


def _seat(value: object) -> int:
    return _whole(value, 1, _MOST_SEATS, "a seat")


def _seats(message: dict[str, object], key: str) -> tuple[int, ...]:
    value = message.get(key)
    if not isinstance(value, list):
        raise _NotUnderstoodError(f"{key} is no list")
    seats = tuple(map(_seat, value))
    if len(set(seats)) != len(seats):
        raise _NotUnderstoodError(f"{key} names a seat twice")
    return seats


def _word(message: dict[str, object], key: str, form: re.Pattern[str] = _WORD) -> str:
    value = message.get(key)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise _NotUnderstoodError(f"{key} is no word of the contract")
    return value


def _won(message: dict[str, object]) -> str | int:
    """The meter's name, or the fixed amount in cents."""
    match message:
        case {"progressive": dict() as progressive, "fixed": None}:
            return _word(progressive, "meter")
        case {"progressive": None, "fixed": dict() as fixed}:
            return _cents(fixed, "cents")
        case _:
            raise _NotUnderstoodError("it is on a meter or of an amount, and never both")
