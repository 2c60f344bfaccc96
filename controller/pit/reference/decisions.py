"""What people decided that moves money, each decision with its place between the events.

The books follow from the events and from these decisions, in this order. So head office can play both again.
"""

from __future__ import annotations

from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE decision (
    number INTEGER PRIMARY KEY,
    after_event INTEGER NOT NULL, -- the last event that was committed by then
    what TEXT NOT NULL, -- terms, verified, paid, rejected, set_aside, house_rules or slip
    subject INTEGER NOT NULL, -- the number of the terms, of the award, of the adoption, of the rules or of the slip
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
) ORDER BY after_event, kind, place
"""
"""An older ledger tells by its postings between which events people decided, and by wagers when terms changed."""


def note(db: Store, what: str, subject: int, cents: int = 0) -> None:
    """Keep that people decided this just now, inside the transaction of the decision."""
    db.execute(
        "INSERT INTO decision (after_event, what, subject, cents) SELECT coalesce(max(number), 0), ?, ?, ? FROM event",
        (what, subject, cents),
    )
