"""Record the decisions of people, each with its place in the order of events.

The books follow from the events and from these decisions, in this order. So head office can compute the books anew from
both.

The pit's key signs each decision, and each decision holds a digest of the decision before it. So head office finds a
decision that was changed, inserted, moved or removed. Only the removal of the last decisions does not show in the
digests. Decisions that an earlier version of the program recorded have no signature. The first signed decision holds
the digest of all of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from controller.contract.canonical import canonical, parse_object
from controller.contract.signing import Signer, signed
from controller.pit.reference.clock import now_text
from controller.pit.reference.people import PIT, display_name
from controller.pit.reference.store import Store, nonsense_explained

SCHEMA = """
CREATE TABLE decision (
    number INTEGER PRIMARY KEY,
    after_event INTEGER NOT NULL, -- the last event that was committed by then
    what TEXT NOT NULL, -- a step of an award, terms, set_aside, adopted, retired, house_rules, slip, measure and more
    subject INTEGER NOT NULL, -- the number of what was decided on, 0 for none
    cents INTEGER NOT NULL -- the amount with which an award was verified or paid, or of a slip, else 0
) STRICT;
"""

_LAST_EVENT = "(SELECT coalesce(max(number), 0) FROM event)"
_BEFORE_ITS_SEED = """coalesce((SELECT earlier.event FROM posting JOIN entry ON posting = posting.number
    JOIN posting AS earlier ON earlier.number < posting.number AND earlier.event IS NOT NULL
    WHERE posting.why = 'seed' AND account = 'meter:' || meter ORDER BY earlier.number DESC LIMIT 1), 0)"""
_BEFORE_THE_FIRST_WAGERS = f"""coalesce((SELECT min(event.number) - 1 FROM stake JOIN hand ON hand.number = stake.hand
    JOIN event ON event.table_id = hand.table_id AND event.epoch = hand.epoch
    WHERE stake.number = (SELECT min(stake) FROM feeding JOIN terms AS later ON later.number = feeding.terms
        WHERE later.meter = terms.meter AND later.number >= terms.number)
    AND instr(CAST(body AS TEXT), '"type":"wagers_locked"')
    AND instr(CAST(body AS TEXT), '"shoe":' || shoe || ',')
    AND instr(CAST(body AS TEXT), '"round":' || round || ',')), {_LAST_EVENT})"""
_BEFORE_THE_NEXT_POSTING = f"""coalesce((SELECT event - 1 FROM posting AS next
    WHERE next.number > posting.number AND event IS NOT NULL ORDER BY next.number LIMIT 1), {_LAST_EVENT})"""
_BEFORE_IT_WAS_SET_ASIDE = f"""coalesce((SELECT before_event - 1 FROM adoption
    WHERE instr(hit, adoption.table_id || '/' || set_aside_as || '/') = 1 LIMIT 1), {_LAST_EVENT})"""
FROM_FORM_6 = f"""{SCHEMA}
INSERT INTO decision (after_event, what, subject, cents)
SELECT after_event, what, subject, cents FROM (
    SELECT CASE WHEN number = (SELECT min(number) FROM terms AS every WHERE every.meter = terms.meter)
        THEN {_BEFORE_ITS_SEED} ELSE {_BEFORE_THE_FIRST_WAGERS} END AS after_event,
        'terms' AS what, number AS subject, 0 AS cents, 0 AS kind, number AS place FROM terms
    UNION ALL SELECT min({_BEFORE_THE_NEXT_POSTING}, {_BEFORE_IT_WAS_SET_ASIDE}),
        why, award, CASE why WHEN 'paid' THEN cents ELSE 0 END, 1, posting.number
    FROM posting JOIN award ON award.number = posting.award WHERE why IN ('rejected', 'paid')
    UNION ALL SELECT {_BEFORE_IT_WAS_SET_ASIDE},
        step, number, CASE step WHEN 'rejected' THEN 0 ELSE cents END, 2, number
    FROM award
    WHERE step != 'pending' AND (number, step) NOT IN (SELECT award, why FROM posting WHERE award IS NOT NULL)
    UNION ALL SELECT before_event - 1, 'set_aside', max(number), 0, 3, max(number)
    FROM adoption WHERE set_aside_as IS NOT NULL GROUP BY before_event, set_aside_as
) AS were ORDER BY after_event, kind, place
"""
"""An older ledger tells by its postings between which events people decided, and by wagers when terms changed."""


RECORD = """
CREATE TABLE decided ( -- a decision as the pit signed it
    number INTEGER PRIMARY KEY REFERENCES decision,
    by_account TEXT NOT NULL,
    witness_account TEXT,
    body BLOB NOT NULL
) STRICT;
"""

_UPDATE = f"{PIT}:update"  # by whom a decision is that an update of the ledger took
_NOTED_BY_AN_UPDATE = """SELECT number, after_event FROM decision
    WHERE what = 'voids_stay' AND number > (SELECT max(number) FROM decided)"""
_AMOUNTS = ("seed_cents", "reseed_at_most_cents", "limit_cents", "prices_cents")
_TERMS = ("meter", "since", "contribution", "reserve", *_AMOUNTS)


class Decisions:
    """Records decisions in a ledger. Every method works inside the ledger's transaction.

    From the call of `sign_by` on, each decision is signed by the pit's key. A decision before that call gets no
    signature, which head office reports.
    """

    def __init__(self, db: Store) -> None:
        self._db = db
        self._signer: Signer | None = None

    def sign_by(self, signer: Signer) -> None:
        """Sign each decision from now on with this key. If an update of the program has added an unsigned decision
        after the signed ones, sign that decision first, in a transaction of its own."""
        self._signer = signer
        with nonsense_explained(self._db):
            noted = self._db.execute(_NOTED_BY_AN_UPDATE).fetchone()
        if noted is not None:
            with nonsense_explained(self._db), self._db.transaction():
                number, after = noted
                self._keep(number, after, _UPDATE, None, {"voids_stay": True})

    def note(
        self,
        what: str,
        subject: int,
        by: str,
        witness: str | None,
        details: Mapping[str, object],
        cents: int = 0,
    ) -> None:
        """Record a decision that the account `by`, and the account `witness` if it is given, took just now. `what` is
        the kind of decision. `subject` is the database number of the thing that was decided on, for example of an
        award. Must be called inside the transaction that carries the decision out."""
        number, after = self._db.execute(
            "INSERT INTO decision (after_event, what, subject, cents)"
            " SELECT coalesce(max(number), 0), ?, ?, ? FROM event RETURNING number, after_event",
            (what, subject, cents),
        ).fetchone()
        self._keep(number, after, by, witness, details)

    def _keep(self, number: int, after: int, by: str, witness: str | None, details: Mapping[str, object]) -> None:
        """Sign the decision with this number, and store it after all signed decisions. `after` is the number of the
        last event before the decision."""
        place, before = self._head(number)
        body: dict[str, object] = {
            "decision": place + 1,
            "before": before,
            "at": now_text(),
            "after": after,
            "by": _person(by),
            "witness": None if witness is None else _person(witness),
            **details,
        }
        kept = canonical(body) if self._signer is None else signed(body, self._signer)
        self._db.execute("INSERT INTO decided VALUES (?, ?, ?, ?)", (number, by, witness, kept))

    def verifiers(self, award: int) -> set[str]:
        """Return the accounts (one or two) that took the last decision to verify this award. Return an empty set if no
        such decision is recorded with its accounts."""
        row = self._db.execute(
            "SELECT by_account, witness_account FROM decided JOIN decision ON decision.number = decided.number"
            " WHERE what = 'verified' AND subject = ? ORDER BY decided.number DESC LIMIT 1",
            (award,),
        ).fetchone()
        return set() if row is None else {account for account in row if account is not None}

    def _head(self, number: int) -> tuple[int, str]:
        """Return what the next signed decision must hold about those before it: their count, and the digest of the last
        one. If no decision is signed yet, this is the count and the digest of all unsigned decisions before `number`.
        """
        row = self._db.execute("SELECT body FROM decided ORDER BY number DESC LIMIT 1").fetchone()
        if row is None:
            unsigned = unsigned_before(self._db, number)
            return len(unsigned), sha256(canonical({"decisions": unsigned})).hexdigest()
        return int(str(parse_object(bytes(row[0])).get("decision"))), sha256(bytes(row[0])).hexdigest()


def terms_told(db: Store, number: int) -> dict[str, object]:
    """Return the meter's terms with this number, as a dictionary in the form in which a decision on terms records
    them."""
    row = db.execute(f"SELECT {', '.join(_TERMS)} FROM terms WHERE number = ?", (number,)).fetchone()
    *others, prices = row
    told = dict(zip(_TERMS, (*others, prices and json.loads(prices)), strict=True))
    # What an earlier form of a ledger lacks is not told: digests stay as they are.
    return {"terms": {name: value for name, value in told.items() if value is not None}}


def every(db: Store) -> list[dict[str, object]]:
    """Return every decision in order, in the form that head office reads. Decisions that an earlier version of the
    program recorded have no signature."""
    rows = db.execute(
        "SELECT decision.number, body FROM decision LEFT JOIN decided ON decided.number = decision.number"
        " ORDER BY decision.number"
    ).fetchall()
    signed_ones = {number: parse_object(bytes(body)) for number, body in rows if body is not None}
    bare = unsigned_before(db, None) if len(signed_ones) < len(rows) else []
    others = iter(bare)
    return [signed_ones[number] if number in signed_ones else next(others) for number, _ in rows]


def unsigned_before(db: Store, number: int | None) -> list[dict[str, object]]:
    """Return the decisions that an earlier version of the program recorded without a signature, in order. If `number`
    is given, return only those that were recorded before the decision with this number."""
    rows = db.execute(
        "SELECT decision.number, after_event, what, subject, cents FROM decision"
        " LEFT JOIN decided ON decided.number = decision.number WHERE body IS NULL"
        f"{'' if number is None else ' AND decision.number < ?'} ORDER BY decision.number",
        () if number is None else (number,),
    ).fetchall()
    return [{"after": after, **_told(db, what, subject, cents)} for _, after, what, subject, cents in rows]


def _told(db: Store, what: str, subject: int, cents: int) -> dict[str, object]:
    match what:
        case "terms":
            return terms_told(db, subject)
        case "set_aside":
            table, name = db.execute(
                "SELECT table_id, set_aside_as FROM adoption WHERE number = ?", (subject,)
            ).fetchone()
            return {"table": table, "set_aside_as": name}
        case "house_rules":
            since, body = db.execute("SELECT since, body FROM house_rules WHERE number = ?", (subject,)).fetchone()
            return {"since": since, "house_rules": parse_object(body.encode())}
        case "slip":  # of a slip that is gone, the account tells
            row = db.execute("SELECT id FROM slip JOIN award ON award.number = award WHERE slip.number = ?", (subject,))
            of_award = row.fetchone()
            return {"slip": subject, "of_award": of_award and of_award[0], "cents": cents}
        case "verified" | "paid" | "rejected":
            (award,) = db.execute("SELECT id FROM award WHERE number = ?", (subject,)).fetchone()
            return {"award": award, "step": what, "cents": cents}
        case "voids_stay":  # before that a void took off the meters what its wagers gave
            return {"voids_stay": True}
        case _:  # somebody took away what was signed
            return {"what": what}


def _person(account: str) -> dict[str, object]:
    return {"account": account, "name": display_name(account)}
