"""What tests ask of a pit's ledger, and no pit does."""

from __future__ import annotations

from controller.contract.pit_words import AwardStep
from controller.pit.reference.ledger import Ledger


def meet(ledger: Ledger, table: str, payload: bytes, adopt_new: bool) -> bool:
    """Judge the state of one table, and return whether its epoch was adopted just now. Raises the RefusedError."""
    adopted, refused = ledger.meet_all([(table, payload)], adopt_new)
    for _, refusal in refused:
        raise refusal
    return bool(adopted)


def unheard_steps(ledger: Ledger, table: str) -> list[AwardStep]:
    """The steps of a table's awards that the table's stream has not told of, in order."""
    with ledger._db.explained():
        return ledger._awards.unheard(table)
