"""Close a meter: two people move all its money to another meter, or to the house's reserve, and name a document.

The meter is closed and its money is moved in one transaction, so the money is always in exactly one place. Money moves
between meters in no other way. The other meter gets the level and the overflow. The other meter's reserve gets the
reserve. Fractions of a cent are moved too. The house's reserve is players' money that waits: two people move it from
there to a meter.

A meter can be closed only between rounds. No award of the meter may still be undecided, and no hit of a round may still
be to come. No table that the pit listens to may have a round in play with wagers on the meter. A void of an earlier
wager cannot be corrected afterwards, because the money of the wager has moved on. A closed meter keeps its accounts, at
zero. Two people may open it again, with its terms in the settings: it begins at its seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.books import HOUSE_RESERVE, Books
from controller.pit.reference.corrections import Corrections
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.people import reason, two_people
from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE closing (
    number INTEGER PRIMARY KEY,
    meter TEXT NOT NULL,
    generation INTEGER NOT NULL, -- of the meter until then
    after_event INTEGER NOT NULL
) STRICT;
CREATE TABLE moved ( -- what a closing took from an account or gave to it, exactly
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    cents TEXT NOT NULL
) STRICT;
"""


class Closings:
    """Closes meters in a ledger, and moves their money. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store, books: Books, decisions: Decisions) -> None:
        self._db = db
        self._books = books
        self._decisions = decisions
        self._adoptions = Adoptions(db)
        self.corrections = Corrections(db, books, decisions)

    def shown(self, meter: str, into: str | None, document: str, why: str) -> str:
        """Describe in words what closing the meter would do, for the people who decide. Raises TableError
        `meter_not_open`, `not_another_meter`, `awards_open`, `wagers_in_play` or `reason_missing`."""
        self._refuse(meter, into)
        level, overflow, reserve = (figures(fund.cents) for fund in self._books.funds(_accounts(meter)).values())
        lines = [f"close the meter {meter}: no table can wager on it any more"]
        lines.append(f"move its level {level}, its overflow {overflow} and its reserve {reserve} to {_named(into)}")
        return "\n".join([*lines, f"document: {reason(document)}", f"why: {reason(why)}"])

    def close(self, meter: str, into: str | None, by: str, witness: str, document: str, why: str) -> int:
        """Close the meter, and move all its money to the meter `into`, or to the house's reserve if `into` is None.

        Return how many whole cents moved. Raises TableError `meter_not_open`, `not_another_meter`, `awards_open`,
        `wagers_in_play`, `name_missing`, `not_two_people` or `reason_missing`.
        """
        by, witness = two_people(by, witness)
        self._refuse(meter, into)
        held = {account: fund.cents + fund.remainder for account, fund in self._books.funds(_accounts(meter)).items()}
        on_meter, over, in_reserve = held.values()
        if into is None:
            given = {HOUSE_RESERVE: on_meter + over + in_reserve}
        else:
            given = {f"meter:{into}": on_meter + over, f"reserve:{into}": in_reserve}
        told = {"closed": meter, "into": into}
        self._move({account: -cents for account, cents in held.items()} | given)
        (number,) = self._db.execute(
            "INSERT INTO closing (meter, generation, after_event) SELECT name, generation,"
            " (SELECT coalesce(max(number), 0) FROM event) FROM meter WHERE name = ? RETURNING number",
            (meter,),
        ).fetchone()
        self._db.execute("UPDATE meter SET closed = 1, generation = generation + 1 WHERE name = ?", (meter,))
        return self._note("closed", number, by, witness, told, floor(sum(held.values())), document, why)

    def shown_of_reserve(self, into: str, document: str, why: str) -> str:
        """Describe in words what moving the house's reserve to the meter `into` would do, for the people who decide.
        Raises TableError `meter_not_open`, `reserve_empty` or `reason_missing`."""
        cents = floor(self._house_reserve(into))
        what = f"move the house's reserve, {figures(cents)}, to {_named(into)}"
        return f"{what}\ndocument: {reason(document)}\nwhy: {reason(why)}"

    def move_reserve(self, into: str, by: str, witness: str, document: str, why: str) -> int:
        """Move all money of the house's reserve to the open meter `into`. Return how many whole cents moved.

        Raises TableError `meter_not_open`, `reserve_empty`, `name_missing`, `not_two_people` or `reason_missing`.
        """
        by, witness = two_people(by, witness)
        held = self._house_reserve(into)
        self._move({HOUSE_RESERVE: -held, f"meter:{into}": held})
        return self._note("reserve_moved", 0, by, witness, {"reserve_moved_to": into}, floor(held), document, why)

    def _note(
        self,
        what: str,
        subject: int,
        by: str,
        witness: str,
        details: Mapping[str, object],
        cents: int,
        document: str,
        why: str,
    ) -> int:
        about = {**details, "cents": cents, "document": reason(document), "reason": reason(why)}
        self._decisions.note(what, subject, by, witness, about, cents)
        return cents

    def _move(self, amounts: Mapping[str, Fraction]) -> None:
        """Add these amounts to the accounts. The sum of the amounts is zero. If fractions of a cent on an account add
        up to a whole cent, the account `wagers` gives that cent."""
        self._books.post("moved", amounts, "wagers")
        self._db.executemany(
            "INSERT INTO moved (account, cents) VALUES (?, ?)",
            [(account, str(cents)) for account, cents in amounts.items() if cents],
        )

    def _house_reserve(self, into: str) -> Fraction:
        """Return how many cents the house's reserve holds, exactly. Raises TableError `meter_not_open` if the meter
        `into` is not open, or `reserve_empty`."""
        self._refuse_not_open(into)
        (fund,) = self._books.funds([HOUSE_RESERVE]).values()
        if not fund.cents:
            raise TableError("reserve_empty", "The house's reserve is empty.", "See what it holds: `pitctl account`.")
        return fund.cents + fund.remainder

    def _refuse(self, meter: str, into: str | None) -> None:
        self._refuse_not_open(meter)
        if into is not None:
            self._refuse_not_open(into)
        if into == meter:
            what = f"The money of the meter {meter} cannot move to that meter itself."
            raise TableError("not_another_meter", what, "Name another meter, or the house's reserve.")
        if open_awards := sorted({*self._open_awards(meter)}):
            raise TableError(
                "awards_open",
                f"These awards of the meter {meter} are not settled: {', '.join(open_awards)}.",
                "Pay or reject each of them first: `pitctl award list`.",
            )
        if tables := sorted({*self._in_play(meter)}):
            raise TableError(
                "wagers_in_play",
                f"A round with wagers on the meter {meter} is not over at {', '.join(tables)}.",
                "Let the tables play that bet no more, wait until the round is over, and close the meter then.",
            )

    def _refuse_not_open(self, meter: str) -> None:
        if meter not in (running := self._books.terms()):
            what = f"No meter {meter!r} is open; open are: {', '.join(running) or 'none'}."
            raise TableError("meter_not_open", what, "Check the meter's name.")

    def _open_awards(self, meter: str) -> Iterator[str]:
        """Yield each reason why the meter cannot be closed now: an award on which people must still decide, or a round
        whose table has yet to report hits."""
        rows = self._db.execute(
            "SELECT DISTINCT id FROM award LEFT JOIN telling ON telling.award = award.number"
            " AND recalled_by IS NULL AND dismissed_by IS NULL"
            " WHERE meter = ? AND (award.step IN ('pending', 'verified') OR telling.event IS NOT NULL)",
            (meter,),
        )
        yield from (id_ for (id_,) in rows.fetchall())
        rows = self._db.execute(
            "SELECT DISTINCT table_id, shoe, round FROM feeding JOIN stake ON stake.number = stake"
            " JOIN hand ON hand.number = hand WHERE feeding.meter = ?"
            " AND hits > (SELECT count(*) FROM award WHERE award.hand = hand.number)",
            (meter,),
        )
        yield from (f"hits of {table} shoe {shoe} round {round_} to come" for table, shoe, round_ in rows.fetchall())

    def _in_play(self, meter: str) -> Iterator[str]:
        """Yield the tables whose present round has wagers on the meter and is not over. Only tables that the pit
        listens to count."""
        for table, adoption in self._adoptions.heard().items():
            row = self._db.execute(
                "SELECT shoe, round FROM feeding JOIN stake ON stake.number = stake JOIN hand ON hand.number = hand"
                " WHERE feeding.meter = ? AND table_id = ? AND epoch = ? AND EXISTS"
                " (SELECT 1 FROM wager WHERE wager.stake = feeding.stake AND voided_by IS NULL)"
                " ORDER BY hand.number DESC LIMIT 1",
                (meter, table, adoption.epoch),
            ).fetchone()
            if row is not None and self._is_last_round(table, adoption.epoch, tuple(row)):
                yield table

    def _is_last_round(self, table: str, epoch: str, round_: tuple[int, int]) -> bool:
        """Tell whether the newest of the table's `wagers_locked` and `round` events is the lock of exactly this round.
        Voids are not looked at. `round_` is the pair of shoe and round."""
        bodies = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND epoch = ? ORDER BY seq DESC", (table, epoch)
        )
        for (body,) in bodies:
            match json.loads(bytes(body)):
                case {"type": "wagers_locked", "shoe": shoe, "round": number}:
                    return (shoe, number) == round_
                case {"type": "round"}:
                    return False
        return False


def closed(db: Store) -> list[str]:
    """Return the names of the meters that are closed."""
    return [name for (name,) in db.execute("SELECT name FROM meter WHERE closed = 1 ORDER BY name").fetchall()]


def _accounts(meter: str) -> tuple[str, str, str]:
    return f"meter:{meter}", f"overflow:{meter}", f"reserve:{meter}"


def _named(into: str | None) -> str:
    return "the house's reserve" if into is None else f"the meter {into}"
