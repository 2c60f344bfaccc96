"""Operations on a pit's ledger that only tests need."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.pit_words import AwardStep
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.store import nonsense_explained
from controller.pit.reference.terms import Change


def meet(ledger: Ledger, table: str, payload: bytes, adopt_new: bool) -> bool:
    """Give the ledger the state message of one table. Return True if this call adopted the table's epoch (the random
    name of its journal). Raises RefusedError if the ledger refuses the state."""
    adopted, refused = ledger.meet_all([(table, payload)], adopt_new)
    for _, refusal in refused:
        raise refusal
    return bool(adopted)


def unheard_steps(ledger: Ledger, table: str) -> list[AwardStep]:
    """Return the steps of a table's awards that the table's own events do not mention yet, in order."""
    with nonsense_explained(ledger._db):
        return ledger._awards.unheard(table)


def change_at_once(ledger: Ledger, meters: Mapping[str, Terms]) -> None:
    """Put these terms of meters into force immediately, even if people have played for a meter. Today the pit makes
    such a change wait. Earlier versions did not, and this function makes a ledger as they left it."""
    terms = ledger._books.meter_terms
    with ledger._db.transaction():
        changes = [Change(each.meter, each.terms, each.before, waits=False) for each in terms.differing(meters)]
        terms.approve([each for each in changes if each.before is not None], "Ann", "Bob", "")
        for meter in meters:
            ledger._books._stop_at_limit(f"meter:{meter}", None, None, None)
