"""Record the doubts about awards. A doubt is a reason why a round may not have been dealt properly. The table reports
it with the hit, or later for the whole shoe.

Sometimes a table knows that the cards of a round are perhaps not the cards that it read. For example: wagers were
locked for long before the first card came, so that a round may have been dealt unseen by the table. The hit event names
such doubts by code. Other doubts come later, as alarms about the whole shoe, for example that the cut card came out of
its place. Nobody verifies or pays an award in doubt, until two people have said that they looked into the doubts. The
ledger records who they were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from controller import contract
from controller.basics.errors import TableError
from controller.pit.reference.people import two_people
from controller.pit.reference.store import Store, of_row

SCHEMA = """
CREATE TABLE doubt (
    award INTEGER NOT NULL REFERENCES award,
    code TEXT NOT NULL,
    event INTEGER NOT NULL, -- the hit or the alarm that told of it
    decided_by TEXT, -- NULL while nobody has decided
    witness TEXT,
    PRIMARY KEY (award, code)
) STRICT;
"""

OF_THE_SHOE = ("cut_card_misplaced", "count_differs")
"""The alarms that put each award of their shoe in doubt on which people have yet to decide."""


class Doubt(Struct, frozen=True):
    """A doubt about an award. `decided_by` and `witness` are the two people who decided despite the doubt; both are
    None until then."""

    code: str
    decided_by: str | None
    witness: str | None

    @property
    def stands(self) -> bool:
        """Return True if this doubt still blocks the award, because no two people have decided despite the doubt."""
        return self.decided_by is None

    def __str__(self) -> str:
        decided = "" if self.stands else f" ({self.decided_by}, witness {self.witness}, decided despite this)"
        return f"{sentence(self.code)}{decided}"


class Doubts:
    """Records doubts about awards in a ledger. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store) -> None:
        self._db = db

    def of(self, award: int) -> tuple[Doubt, ...]:
        """Return the doubts about the award with this number, in the order in which the table reported them."""
        rows = self._db.execute(
            "SELECT code, decided_by, witness FROM doubt WHERE award = ? ORDER BY event, code", (award,)
        )
        return tuple(of_row(Doubt, row) for row in rows.fetchall())

    def tell(self, award: int, event: int, codes: Iterable[str]) -> None:
        """Record that the event with the number `event` reports these doubts about the award. A doubt that is recorded
        already is not changed."""
        for code in codes:
            self._db.execute(
                "INSERT INTO doubt (award, code, event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (award, code, event)
            )

    def tell_of_shoe(self, table: str, epoch: str, shoe: int, event: int, code: str) -> None:
        """Record the doubt `code` about each award of the shoe that is pending or verified, because the table doubts
        the whole shoe."""
        self._tell_where("hand.shoe = ?", (table, epoch, shoe), event, code)

    def tell_of_journal(self, table: str, epoch: str, event: int, code: str) -> None:
        """Record the doubt `code` about each pending or verified award of the table's whole journal."""
        self._tell_where("true", (table, epoch), event, code)

    def _tell_where(self, which: str, values: Sequence[object], event: int, code: str) -> None:
        rows = self._db.execute(
            "SELECT award.number FROM award JOIN hand ON hand.number = award.hand"
            f" WHERE hand.table_id = ? AND hand.epoch = ? AND {which} AND step IN ('pending', 'verified')",
            values,
        )
        for (award,) in rows.fetchall():
            self.tell(award, event, (code,))

    def decide(self, award: int, id_: str, by: str, witness: str | None) -> None:
        """Record that two people decide on the award despite its doubts. Do nothing if the award has no open doubt.
        Raises TableError `award_doubted` if `witness` is None, `not_two_people`, or `name_missing`."""
        standing = [doubt for doubt in self.of(award) if doubt.stands]
        if not standing:
            return
        if witness is None:
            told = " ".join(map(str, standing))
            raise TableError(
                "award_doubted",
                f"The table doubts the round of award {id_}: {told}",
                "Look into it: the felt, the count of the shoe's cards, the cameras. Then two people decide: reject the"
                " award, or write --despite-doubts with this command, which a second person confirms.",
            )
        first, second = two_people(by, witness)
        self._db.execute(
            "UPDATE doubt SET decided_by = ?, witness = ? WHERE award = ? AND decided_by IS NULL",
            (first, second, award),
        )


def sentence(code: str) -> str:
    """Return the English sentence for the code of a doubt. If this version of the contract (the message format between
    table and pit) does not have the code, return the code itself."""
    return _sentences().get(code, f"{code}.")


@cache
def _sentences() -> dict[str, str]:
    path = Path(contract.__path__[0]) / "sentences.json"
    found: dict[str, str] = json.loads(path.read_text("utf-8"))["en"]["doubt"]
    return found
