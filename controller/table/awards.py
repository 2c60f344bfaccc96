"""The steps of an award at the pit (pending, verified, paid, rejected), and the dispute about an award whose amount is
impossible.

The table knows the least and the most that the award for a hit can be. If the pit names an amount outside these bounds,
the award is disputed: the table raises an alarm and does not believe the award. The awards of other hits are not
affected. If the amount is right after all, two people at the table accept it. If the amount is wrong, people at the pit
reject the award. A rejection pays nothing, so the table believes a rejection whatever its amount is. For example: the
meter never showed more than $9,000.00, and the pit says that the hit is worth $90,000.00.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract import events
from controller.table.facts import AwardRefused, AwardStepped, DisputedAward, SeatHit
from controller.table.states import Table
from controller.table.stops import Stepped, alarm

_DECIDED = ("paid", "rejected")


def is_possible(table: Table, step: AwardStepped, least_cents: int, most_cents: int) -> bool:
    """Return True if the table can believe the step of an award that the pit reported. It can if the step is a
    rejection, if the amount lies between `least_cents` and `most_cents`, if the table already knows this amount for the
    hit, or if two people have accepted the amount."""
    told = {hit.cents for hit in table.hits if _is_of_hit(step, hit)}
    accepted = {other.step.cents for other in table.disputed if other.accepted and other.step.hit == step.hit}
    return step.step == "rejected" or least_cents <= step.cents <= most_cents or step.cents in told | accepted


def disputed(table: Table, award: str) -> DisputedAward | None:
    """Return the open dispute about the award named `award`, or None if no such dispute waits for a decision."""
    return next((other for other in table.disputed if other.step.award == award and not other.accepted), None)


def is_disputed(table: Table, step: AwardStepped) -> bool:
    """Tell whether the table already has a dispute about this amount for this hit, open or accepted. The alarm was
    raised when the dispute was opened."""
    return any((other.step.hit, other.step.cents) == (step.hit, step.cents) for other in table.disputed)


def is_hit_disputed(table: Table, hit: SeatHit) -> bool:
    """Tell whether the amount of this hit's award is disputed and nobody has decided on the dispute yet."""
    return any(_is_of_hit(other.step, hit) and not other.accepted for other in table.disputed)


def step_award(table: Table, fact: AwardStepped) -> Stepped:
    """Record a step of an award that the pit reported (pending, verified, paid, rejected). The table sends the step
    back as an event of its own, so that the pit sees that the step arrived."""
    event = events.Award(
        shoe=fact.shoe,
        round=fact.round,
        award=fact.award,
        hit=fact.hit,
        spot=fact.spot,
        seat=fact.seat,
        tier=fact.tier,
        meter=fact.meter,
        cents=fact.cents,
        step=fact.step,
        by=fact.by,
    )
    hits = tuple(replace(hit, step=fact.step, cents=fact.cents) if _is_of_hit(fact, hit) else hit for hit in table.hits)
    over = fact.step in _DECIDED
    left = tuple(other for other in table.disputed if other.step.hit != fact.hit or (other.accepted and not over))
    return replace(table, hits=hits, award_seq=fact.seq, disputed=left), (event,)


def refuse_award(table: Table, fact: AwardRefused) -> Stepped:
    """Open a dispute about an award of an impossible amount, and raise an alarm. The dispute replaces any earlier
    dispute about the same hit."""
    step = fact.step
    others = tuple(other for other in table.disputed if other.step.hit != step.hit)
    details: dict[str, str | int] = {
        "award": step.award,
        "hit": step.hit,
        "seat": step.seat,
        "cents": step.cents,
        "least_cents": fact.least_cents,
        "most_cents": fact.most_cents,
    }
    return replace(table, disputed=(*others, DisputedAward(step))), (alarm(table, "award_impossible", details),)


def accept_award(table: Table, award: str) -> Stepped:
    """Believe the disputed step of the award named `award`. Afterwards, believe every later step of that award that has
    the same amount."""
    dispute = disputed(table, award)
    assert dispute is not None, "asked before"
    others = tuple(other for other in table.disputed if other != dispute)
    table = replace(table, disputed=(*others, replace(dispute, accepted=True)))
    return step_award(table, replace(dispute.step, seq=max(dispute.step.seq, table.award_seq)))


def _is_of_hit(step: AwardStepped, hit: SeatHit) -> bool:
    return (hit.shoe, hit.round, hit.spot, hit.seat) == (step.shoe, step.round, step.spot, step.seat)
