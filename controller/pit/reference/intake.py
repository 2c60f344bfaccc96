"""Book each committed event on the meters and the awards, and raise the alarms that the event calls for.

A table's event is committed, whatever it says. If an event contradicts earlier events, the pit raises an alarm, which
is kept with the event's round. Only two kinds of wagers and hits are not committed, because the pit cannot book them:
those on a meter that the pit does not have or has closed, and wagers at a price that the meter's terms do not have. The
table keeps such an event, and sends it again until people have changed the settings. So no money is lost. More players
cannot wager on that meter meanwhile: a table without acks refuses progressive bets, and deals on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec.structs import replace

from controller.basics.errors import TableError, listed
from controller.basics.money import figures
from controller.contract.bounds import EVENT_ID, MOST_CENTS, MOST_SEAT, MOST_SEQ, MOST_WAGER_CENTS, NAME, is_count
from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.old_events import as_now
from controller.contract.pit_words import STEPS, is_name_of_a_person
from controller.pit.reference.awards import Awards, Booked
from controller.pit.reference.books import Books
from controller.pit.reference.doubts import OF_THE_SHOE
from controller.pit.reference.incoming import RefusedError, TableEvent
from controller.pit.reference.measures import ANSWER, Measures
from controller.pit.reference.meters import share_of
from controller.pit.reference.settings import MOST_VOIDS_IN_A_SHOE
from controller.pit.reference.store import Store
from controller.pit.reference.witness import FORKED, Witness

SCHEMA = """
CREATE TABLE alarm (
    number INTEGER PRIMARY KEY,
    event INTEGER NOT NULL,
    hand INTEGER,
    code TEXT NOT NULL,
    what TEXT NOT NULL,
    "do" TEXT NOT NULL
) STRICT;
CREATE INDEX alarm_hand ON alarm (hand);
"""

_STEP = re.compile("|".join(STEPS))
_MOST_NAMED = 5
_SHARE = re.compile("[1-9][0-9]{0,3}:[1-9][0-9]{0,3}")


_HAS = {"wagers_locked": "wager", "hit": "hit"}
_UNTIL_THEN = (
    "Until then the table deals on and refuses progressive bets. Other tables go on. Look at the table's game file too:"
    " perhaps the name is wrong there."
)


def _do_with_closed(meter: str) -> str:
    return (
        "Give the table a game without that meter. Where wagers on it were locked already, their table's events wait:"
        f" two people open the meter again, at its seed (`pitctl terms propose --open-again {meter}`). {_UNTIL_THEN}"
    )


class _NotUnderstoodError(Exception):
    """Raised if an event does not have the form that the contract (the format of a table's messages) asks for."""


class Intake:
    """Books committed events on the meters and awards. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store, books: Books, awards: Awards, witness: Witness, measures: Measures) -> None:
        self._db = db
        self._witness = witness
        self._measures = measures
        self._books = books
        self._awards = awards
        self.most_voids_in_a_shoe = MOST_VOIDS_IN_A_SHOE
        self.settings = "the file that `pitctl run --settings FILE` names"

    def refuse_unknown_meter(self, table: str, event: TableEvent) -> None:
        """Check, before an event is committed, that the pit has the meter of a hit and the meters of locked wagers, and
        that each of these meters is open.

        Raises RefusedError `meter_unknown` or `meter_closed`.
        """
        meters: list[object] = []
        match self._as_now(event).message:
            case {"type": "hit", "progressive": {"meter": meter}}:
                meters = [meter]
            case {"type": "wagers_locked", "progressive": list(bets)}:
                for bet in bets:
                    match bet:
                        case {"seats": [_, *_], "meters": list(named)}:
                            meters += named
        seq = f"{table}/{event.epoch}/{event.seq}"
        for meter in self._unknown(meters):
            self._refuse_closed(meter, f"Table {table} has a {_HAS[event.type]} on it (event {seq}, {_named(event)})")
            raise RefusedError(
                "meter_unknown",
                f"Table {table} has a {_HAS[event.type]} on the meter {meter}, which this pit does not have (event"
                f" {seq}, {_named(event)}). This event and all later events of the table wait there.",
                f"{self._add(meter)} Then everything that waits is booked, and nothing is lost. {_UNTIL_THEN}",
            )

    def refuse_strange_price(self, table: str, event: TableEvent) -> None:
        """Check, before an event is committed, that its wagers have a price that their meters' terms allow.

        Raises RefusedError `price_unreasonable`.
        """
        match self._as_now(event).message:
            case {"type": "wagers_locked", "progressive": list(bets)}:
                fed = [each for bet in bets for each in _fed(bet)]
            case _:
                return
        terms = self._books.terms() if fed else {}
        for price_cents, meter in fed:
            prices = terms[meter].prices_cents if meter in terms else ()
            if prices and price_cents not in prices:
                may = " or ".join(map(figures, sorted(prices)))
                raise RefusedError(
                    "price_unreasonable",
                    f"Table {table} has a wager on the meter {meter} at another price than {may} (event"
                    f" {table}/{event.epoch}/{event.seq}, {_named(event)}). This event and all later events of the"
                    " table wait there.",
                    "Compare the table's game file with the game that the house was allowed. If the price is right,"
                    f" write it into meters.{meter}.prices_cents in {self.settings}, and let two people approve it"
                    " (`pitctl terms propose`). If not, let the table play no more, and settle its wagers by hand."
                    f" {_UNTIL_THEN}",
                )

    def unknown_feeds(self, table: str, meters: Iterable[object]) -> list[RefusedError]:
        """Check the meters of a table's game. Return an error for each of them that the pit does not have or has
        closed."""
        unknown, closed = self._unknown(meters), self._books.meter_terms.closed()
        return [
            RefusedError(
                "meter_closed",
                f"Table {table} plays a game with the meter {meter}, which is closed.",
                _do_with_closed(meter),
            )
            if meter in closed
            else RefusedError(
                "meter_unknown",
                f"Table {table} plays a game with the meter {meter}, which this pit does not have.",
                f"{self._add(meter)} {_UNTIL_THEN}",
            )
            for meter in unknown
        ]

    def _refuse_closed(self, meter: str, what: str) -> None:
        if meter in self._books.meter_terms.closed():
            raise RefusedError("meter_closed", f"The meter {meter} is closed. {what}.", _do_with_closed(meter))

    def _unknown(self, meters: Iterable[object]) -> list[str]:
        named_well = [meter for meter in meters if isinstance(meter, str) and NAME.fullmatch(meter)]
        known = self._books.terms() if named_well else ()
        return [meter for meter in named_well if meter not in known]

    def _add(self, meter: str) -> str:
        return f"Write [meters.{meter}] with the meter's terms into {self.settings}, and start the pit again."

    def take(self, number: int, table: str, event: TableEvent) -> tuple[TableError, ...]:
        """Book the event that the ledger committed under this number. Return the alarms that the event raised."""
        try:
            alarms: tuple[tuple[int | None, TableError], ...] = tuple(self._take(number, table, self._as_now(event)))
        except _NotUnderstoodError as error:
            what = f"Event {table}/{event.epoch}/{event.seq}, a {event.type}, is not understood: {error}."
            do = "The event is in the ledger and changed no meter. Compare the table's version with the pit's version."
            alarms = ((None, TableError("event_not_understood", what, do)),)
        self._db.executemany(
            'INSERT INTO alarm (event, hand, code, what, "do") VALUES (?, ?, ?, ?, ?)',
            [(number, hand, alarm.code, alarm.what, alarm.do) for hand, alarm in alarms],
        )
        return tuple(alarm for _, alarm in alarms)

    def _as_now(self, event: TableEvent) -> TableEvent:
        """Return the event in the form of the present version of the contract (the message format). In versions 1 and 2
        a wager fed every meter."""
        if event.message.get("contract") == CONTRACT_VERSION:
            return event
        return replace(event, message=as_now(event.message, [*self._books.terms()]))

    def _take(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        """Book the event. Yield each alarm that it raises, together with the number of its round or None. Raises
        _NotUnderstoodError before anything is written."""
        message = event.message
        match event.type:
            case "wagers_locked":
                yield from self._lock(number, table, event)
            case "void":
                if wagers := [(_word(bet, "spot"), _seats(bet)) for bet in _bets(message)]:
                    yield from self._void(number, table, event, wagers)
            case "round":
                hits = message.get("awards")
                if isinstance(hits, list) and hits:
                    hand = self._hand(table, event)
                    self._db.execute("UPDATE hand SET hits = ? WHERE number = ?", (len(hits), hand))
            case "hit":
                yield from self._hit(number, table, event)
            case "shoe_opened" | "shoe_closed" if message.get("contract") == CONTRACT_VERSION:
                self._awards.order.shoe(table, event.epoch, event.type == "shoe_opened")
            case "win_told":
                match message.get("win"):
                    case {"seq": seq} if is_count(seq, 1, MOST_SEQ):
                        self._awards.order.told(table, event.epoch, seq)
            case "correction":
                if message.get("awards") != message.get("awards_before"):
                    hand = self._hand(table, event)
                    what = f"Table {table} corrected {_named(event)}. The correction changed the round's hits."
                    do = "Compare the hits with the felt. Reject what was no hit, and settle a missing hit by hand."
                    yield hand, TableError("hits_corrected", what, do)
            case "award":
                yield from self._award(number, table, event)
            case "shoe_reconciled" if message.get("complete") is not True:
                yield None, _incomplete(table, message)
            case "alarm" if message.get("code") in OF_THE_SHOE:
                shoe = _whole(message.get("shoe"), 1, MOST_CENTS, "shoe")
                self._awards.doubt_shoe(table, event.epoch, shoe, number, _word(message, "code"))
            case "alarm" if message.get("code") == "award_impossible":
                yield from self._disputed_award(table, event)
            case "alarm" if message.get("code") == ANSWER:
                yield from self._answered(number, table, event)

    def _answered(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[None, TableError]]:
        details = event.message.get("details")
        amiss = self._measures.heard(number, table, event.epoch, details if isinstance(details, dict) else {})
        if amiss is not None:
            yield None, amiss

    def _lock(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        message = event.message
        for spot, seats, price_cents, meters in [locked for bet in _bets(message) if (locked := _locked(bet))[1]]:
            hand = self._hand(table, event)
            if not self._books.lock_wagers(number, hand, spot, seats, price_cents, meters):
                yield hand, _contradiction(table, event, "locks the wagers of a round whose wagers were locked")
            if (part := self._books.part_taken(meters)) > 1:
                what = f"Of each wager on {spot} at table {table} the meters take {part}, more than the wager."
                do = "Correct the contributions and reserves in the settings, and start the pit again."
                yield hand, TableError("meters_take_too_much", what, do)
        if (told := message.get("told")) is not None:
            fed = {name for bet in _bets(message) if bet.get("seats") for name in _locked(bet)[3]}
            hand = self._hand(table, event)
            moment_ms, alarm = self._awards.shown.lock(hand, table, told, fed)
            if moment_ms is not None:
                self._awards.order.lock(table, event.epoch, hand, event.seq, moment_ms)
            if alarm is not None:
                yield hand, alarm

    def _void(
        self, number: int, table: str, event: TableEvent, wagers: Sequence[tuple[str, tuple[int, ...]]]
    ) -> Iterator[tuple[int | None, TableError]]:
        hand = self._hand(table, event)
        has_hit = self._db.execute("SELECT 1 FROM award WHERE hand = ?", (hand,)).fetchone() is not None
        missing = {spot: self._books.void_wagers(number, hand, spot, seats) for spot, seats in wagers}
        if not_open := ", ".join(f"{spot} at {seat}" for spot, seats in missing.items() for seat in seats):
            what = f"voids wagers that were never locked, or were voided before: {not_open}"
            yield hand, _contradiction(table, event, what)
        if has_hit:
            yield hand, _contradiction(table, event, "voids a round that has had a hit")
        if (voided := self._books.voided_rounds(hand)) > self.most_voids_in_a_shoe:
            what = (
                f"Table {table} has voided {voided} rounds with progressive wagers in shoe {event.message.get('shoe')}."
                f" The house expects {self.most_voids_in_a_shoe} at most."
            )
            do = "Look at the film of each: who asked for the void, and what lay on the felt by then?"
            yield hand, TableError("many_voids", what, do)

    def _hit(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        message = event.message
        spot, seat, tier = _word(message, "spot"), _seat(message.get("seat")), _word(message, "tier")
        won, hand = _won(message), self._hand(table, event)
        repeated = self._db.execute(
            "SELECT 1 FROM award WHERE hand = ? AND spot = ? AND seat = ?", (hand, spot, seat)
        ).fetchone()
        doubts = _doubts(message) + [FORKED] * self._witness.forked(table, event.epoch)
        booked = self._awards.hit(number, f"{table}/{event.epoch}/{event.seq}", hand, spot, seat, tier, won, doubts)
        if booked.settled_before:
            yield hand, _contradiction(table, event, f"is a hit at seat {seat} on a level that was settled before")
        for alarm in _out_of_order(table, event, booked):
            yield hand, alarm
        for alarm in self._books.meter_terms.begun_by(number):
            yield None, alarm
        if repeated is not None:
            yield hand, _contradiction(table, event, f"is a second hit of {spot} at seat {seat} in one round")
        if not self._books.has_wager(hand, spot, seat):
            yield hand, _contradiction(table, event, f"is a hit of {spot} at seat {seat}, which has no locked wager")

    def _award(self, number: int, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        message = event.message
        hit, step, cents = _word(message, "hit", EVENT_ID), _word(message, "step", _STEP), _cents(message, "cents")
        by = message.get("by")
        if not isinstance(by, str) or not is_name_of_a_person(by):
            raise _NotUnderstoodError("by is no person's name")
        hand = self._awards.hand_of(table, hit)
        if hand is None:
            yield None, _contradiction(table, event, "is a step of an award of a hit that this ledger does not have")
        elif (alarm := self._awards.heard(number, hit, step, cents, by)) is not None:
            yield hand, alarm

    def _disputed_award(self, table: str, event: TableEvent) -> Iterator[tuple[int | None, TableError]]:
        details = event.message.get("details")
        if not isinstance(details, dict):
            raise _NotUnderstoodError("details is no object")
        hit, cents = _word(details, "hit", EVENT_ID), _cents(details, "cents")
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
        "Find out what happened at the table before any award of this round is paid.",
    )


def _out_of_order(table: str, event: TableEvent, booked: Booked) -> Iterator[TableError]:
    """Yield the alarms for a hit that arrived late. Its wagers were locked before the wagers of hits that arrived
    earlier."""

    def late(awards: Sequence[str]) -> str:
        before = f"before the round of award {listed(awards, _MOST_NAMED)}"
        return f"Table {table} locked {_named(event)} {before}, and its win came later."

    if booked.moved:
        yield TableError(
            "wins_put_in_order",
            f"{late(booked.moved)} The levels went to these wins in the order of the locks.",
            "Read the amounts anew before you decide: `award list`.",
        )
    if booked.decided:
        yield TableError(
            "win_came_late",
            f"{late(booked.decided)} People had decided on that award by then, and it keeps its level. This win is paid"
            " what its table showed, and the house pays the difference.",
            "Find out why the table's events came late.",
        )


def _named(event: TableEvent) -> str:
    shoe, hand = (value if type(value := event.message.get(key)) is int else "?" for key in ("shoe", "round"))
    return f"shoe {shoe}, round {hand}"


def _whole(value: object, least: int, most: int, meant: str) -> int:
    if not is_count(value, least, most):
        raise _NotUnderstoodError(f"{meant} is no whole number from {least} to {most}")
    return value


def _cents(message: dict[str, object], key: str) -> int:
    return _whole(message.get(key), 0, MOST_CENTS, key)


def _seat(value: object) -> int:
    return _whole(value, 1, MOST_SEAT, "a seat")


def _bets(message: dict[str, object]) -> list[dict[str, object]]:
    """Return the list of progressive bets that the event holds. Raises _NotUnderstoodError."""
    bets = message.get("progressive")
    if not isinstance(bets, list) or not all(isinstance(bet, dict) for bet in bets):
        raise _NotUnderstoodError("progressive is no list of bets")
    if len({str(bet.get("spot")) for bet in bets}) != len(bets):
        raise _NotUnderstoodError("progressive names a bet twice")
    return bets


def _locked(bet: dict[str, object]) -> tuple[str, tuple[int, ...], int, list[str]]:
    """Return four values of a bet whose wagers were locked: its spot, the seats with a wager on it, its price in cents,
    and the meters that it feeds. Raises _NotUnderstoodError."""
    meters = bet.get("meters")
    if not isinstance(meters, list) or len(set(map(str, meters))) != len(meters):
        raise _NotUnderstoodError("meters is no list of meters")
    price_cents = _whole(bet.get("price_cents"), 0, MOST_WAGER_CENTS, "price_cents")
    return _word(bet, "spot"), _seats(bet), price_cents, [_as_word(name, "meters") for name in meters]


def _fed(bet: object) -> list[tuple[int, str]]:
    """Return a pair of price in cents and meter for each meter that this bet's wagers feed. Return an empty list if
    nobody wagered on the bet, or if it does not have the form of the contract."""
    match bet:
        case {"seats": [_, *_], "meters": list(meters), "price_cents": int(price_cents)}:
            return [(price_cents, name) for name in meters if isinstance(name, str)]
        case _:
            return []


def _seats(bet: dict[str, object]) -> tuple[int, ...]:
    value = bet.get("seats")
    if not isinstance(value, list):
        raise _NotUnderstoodError("seats is no list")
    seats = tuple(map(_seat, value))
    if len(set(seats)) != len(seats):
        raise _NotUnderstoodError("seats names a seat twice")
    return seats


def _incomplete(table: str, message: dict[str, object]) -> TableError:
    """Return the alarm for a shoe whose cards were not exactly those of its decks: cards are missing, or there are too
    many."""
    lists = [(what, message.get(what)) for what in ("missing", "extra")]
    told = [f"{what} {' '.join(map(str, cards[:20]))}" for what, cards in lists if isinstance(cards, list) and cards]
    why = "; ".join(told) or "the numbers do not fit"
    what = f"Shoe {message.get('shoe')!s:.20} of table {table} is not complete: {why}."
    do = "Keep its cards. Look at the film of that shoe, and at its rounds, before its awards are paid."
    return TableError("shoe_incomplete", what, do)


def _doubts(message: dict[str, object]) -> list[str]:
    """Return the codes of the doubts that the table has about the hit's round, without repetition. Raises
    _NotUnderstoodError."""
    codes = message.get("doubts")
    if not isinstance(codes, list):
        raise _NotUnderstoodError("doubts is no list of codes")
    return list(dict.fromkeys(_as_word(code, "doubts") for code in codes))


def _word(message: dict[str, object], key: str, form: re.Pattern[str] = NAME) -> str:
    return _as_word(message.get(key), key, form)


def _as_word(value: object, meant: str, form: re.Pattern[str] = NAME) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise _NotUnderstoodError(f"{meant} is no word of the contract")
    return value


def _won(message: dict[str, object]) -> tuple[str, Fraction] | int:
    """Return what the hit wins: a pair of a meter's name and the share of it, or a fixed amount in cents. Raises
    _NotUnderstoodError."""
    match message:
        case {"progressive": dict() as progressive, "fixed": None}:
            won = share_of(_word(progressive, "share", _SHARE))
            if not 0 < won <= 1:
                raise _NotUnderstoodError("share is more than the whole")
            return _word(progressive, "meter"), won
        case {"progressive": None, "fixed": dict() as fixed}:
            return _cents(fixed, "cents")
        case _:
            raise _NotUnderstoodError("a hit wins either a share of a meter or a fixed amount")
