"""Write the evidence of one award: a file that a stranger can check without this program, by means of
`tools/verify_award.py`.

The file has the award's round as its table signed it, and what people decided on the award as the pit signed it: the
steps with their accounts, the slip, and who adopted the table's key. The file shows no other round. The pit's key signs
the whole file, so nobody who holds the file can leave out a part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.pit_words import Rotation
from controller.contract.signing import Signer, signed
from controller.pit.reference import decisions
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Awards
from controller.pit.reference.books import Books
from controller.pit.reference.clock import now_text
from controller.pit.reference.opening import Place, read_only
from controller.pit.reference.store import Store

_FORM = 1


def award_evidence(at: Place, id_: str, signer: Signer, public_key: bytes, rotations: Sequence[Rotation] = ()) -> bytes:
    """Return the signed evidence file of the award `id_`. The function only reads the ledger, so it may run while the
    pit runs.

    `rotations` are the signed steps from the pit's former keys to `public_key`. Raises TableError `award_unknown`, or
    another TableError if the ledger cannot be opened.
    """
    with read_only(at) as db:
        books = Books(db)
        found = Awards(db, books).listed("id = ?", id_)
        if not found:
            raise TableError("award_unknown", f"There is no award {id_!r}.", "See the awards: `award list --all`.")
        (award,) = found
        _, kept_as, seq = award.hit.split("/")
        epoch, _, set_aside = kept_as.partition("~")
        body: dict[str, object] = {
            "award_evidence": _FORM,
            "at": now_text(),
            "award": id_,
            "hit": f"{award.table}/{epoch}/{seq}",
            "table_key": _key(db, award.table, kept_as).hex(),
            "pit_key": public_key.hex(),
            "rotations": [to_builtins(each) for each in rotations],
            "events": _of_round(db, award, kept_as),
            "decisions": [each for each in decisions.every(db) if _is_about(each, id_, award.table, epoch)],
            "set_aside": bool(set_aside),
            "terms_digest": books.meter_terms.digest(),
        }
    return signed(body, signer)


def _of_round(db: Store, award: Award, kept_as: str) -> list[dict[str, Any]]:
    """Return the events that the table sent about the award's round and about the award itself, in order. `kept_as` is
    the name under which the ledger keeps the table's stream."""
    of_round = f'"round":{award.round},'.encode(), f'"shoe":{award.shoe},'.encode()
    bodies = db.stream("SELECT body FROM event WHERE table_id = ? AND epoch = ? ORDER BY seq", (award.table, kept_as))
    likely = (parse_object(bytes(body)) for (body,) in bodies if all(each in bytes(body) for each in of_round))
    return [event for event in likely if (event.get("shoe"), event.get("round")) == (award.shoe, award.round)]


def _key(db: Store, table: str, kept_as: str) -> bytes:
    """Return the table's public key under which people adopted the stream that the ledger keeps as `kept_as`."""
    (key,) = db.execute(
        "SELECT public_key FROM adoption WHERE table_id = ? AND coalesce(set_aside_as, epoch) = ?"
        " ORDER BY number DESC LIMIT 1",
        (table, kept_as),
    ).fetchone()
    return bytes(key)


def _is_about(decision: dict[str, object], award: str, table: str, epoch: str) -> bool:
    """Tell whether the decision is about the award, about its slip, or about the adoption of the table in this
    epoch."""
    of_award = award in (decision.get("award"), decision.get("of_award"), decision.get("dismissed"))
    return of_award or (decision.get("adopted"), decision.get("epoch")) == (table, epoch)
