"""Correct the meters after a void: two people, who name a document, remove from the meters the money that the voided
wagers had given.

One person at a table may void a round, but a void lowers no meter that players were shown. The house bears what the
wagers gave. So a void by itself lets nobody gain at the players' cost, and a house may leave a void uncorrected. A
correction gives the money back to the house, except for what hits have won meanwhile. Each void can be corrected once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor

from msgspec import Struct

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.contract.canonical import parse_object
from controller.pit.reference.books import Books
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.people import reason, two_people
from controller.pit.reference.store import Store

_EVENT = re.compile("([a-z0-9-]{1,64})/([a-z0-9-]{1,64})/([1-9][0-9]{0,15})")


class LeftByVoid(Struct, frozen=True):
    """The money of one void's wagers that is still on the meters: the id of the void event, its shoe and round, and the
    whole cents on each meter."""

    void: str
    shoe: int
    round: int
    left_cents: dict[str, int]

    def __str__(self) -> str:
        left = ", ".join(f"{figures(cents)} on {meter}" for meter, cents in self.left_cents.items())
        return f"{self.void}  shoe {self.shoe} round {self.round}  {left}"


class Corrections:
    """Corrects the meters in a ledger after voids. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store, books: Books, decisions: Decisions) -> None:
        self._db = db
        self._books = books
        self._decisions = decisions

    def waiting(self) -> list[LeftByVoid]:
        """Return the voids that can still be corrected, because money of their wagers is still on a meter. The oldest
        void comes first."""
        return [
            LeftByVoid(void, shoe, round_, cents)
            for number, left in self._books.left_by_voids().items()
            if (cents := self._on_meters(left))
            for void, shoe, round_ in self._round(number)
        ]

    def shown(self, void: str, document: str, why: str) -> str:
        """Describe in words what a correction of this void would do, for the people who decide. Raises TableError
        `nothing_left` or `reason_missing`."""
        left = self._on_meters(self._left(void)[1])
        lines = [f"take off the meter {meter} what the void {void} left: {figures(left[meter])}" for meter in left]
        return "\n".join([*lines, f"document: {reason(document)}", f"why: {reason(why)}"])

    def correct(self, void: str, by: str, witness: str, document: str, why: str) -> dict[str, int]:
        """Move to the house the money of this void's wagers that is still on the meters and in their reserves. Return
        by how many cents each meter's level fell.

        Raises TableError `nothing_left`, `name_missing`, `not_two_people` or `reason_missing`.
        """
        by, witness = two_people(by, witness)
        number, _ = self._left(void)
        before = self._books.levels()
        (last,) = self._db.execute("SELECT max(number) FROM event").fetchone()
        self._books.take_off("voided_by = ?", (number,), last + 1)
        after = self._books.levels()
        off = {meter: cents - after[meter] for meter, cents in before.items() if cents != after[meter]}
        told = {"corrected": void, "off_cents": off, "document": reason(document), "reason": reason(why)}
        self._decisions.note("corrected", number, by, witness, told)
        return off

    def _on_meters(self, left: Mapping[str, Fraction]) -> dict[str, int]:
        return {name: floor(left[f"meter:{name}"]) for name in self._books.terms() if left.get(f"meter:{name}")}

    def _round(self, number: int) -> Iterator[tuple[str, int, int]]:
        """Yield one tuple for the event with this number: its id, its shoe and its round. Yield nothing if the event
        has no round."""
        (body,) = self._db.execute("SELECT body FROM event WHERE number = ?", (number,)).fetchone()
        match parse_object(bytes(body)):
            case {"id": str(id_), "shoe": int(shoe), "round": int(round_)}:
                yield id_, shoe, round_

    def _left(self, void: str) -> tuple[int, dict[str, Fraction]]:
        """Return the number of the void event with the id `void`, and how many cents of its wagers are still on each
        account. Raises TableError `nothing_left`."""
        match = _EVENT.fullmatch(void)
        row = (
            match
            and self._db.execute(
                "SELECT number FROM event WHERE table_id = ? AND epoch = ? AND seq = ?",
                (match[1], match[2], int(match[3])),
            ).fetchone()
        )
        left = self._books.left_by_voids("voided_by = ?", row).get(row[0], {}) if row else {}
        if row is None or not any(left.values()):
            raise TableError(
                "nothing_left",
                f"{void} is no void that has left anything on a meter.",
                "See which voids have: `pitctl meter voids`.",
            )
        return int(row[0]), left
