"""How far a hit has come at the pit, and what becomes of an award that its hit cannot have.

An award of an impossible amount is disputed: the table tells an alarm, and does not believe the award. The pit goes on
with the steps of other hits. Where the amount is true, two people at the table accept it. Where the amount is false,
people at the pit reject the award. A rejection pays nothing, so the table believes a rejection at any amount. For
example: the meter never showed more than $9,000.00, and the pit says that the hit is worth $90,000.00.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract import events
from controller.table.facts import AwardRefused, AwardStepped, DisputedAward, SeatHit
from controller.table.states import Table
from controller.table.stops import Stepped, alarm

_DECIDED = ("paid", "rejected")


def is_possible(table: Table, step: AwardStepped, least_cents: int, most_cents: int) -> bool:
    """Whether the step's amount is possible: within its bounds, told of this hit before, or accepted by people."""
    told = {hit.cents for hit in table.hits if _is_of_hit(step, hit)}
    accepted = {other.step.cents for other in table.disputed if other.accepted and other.step.hit == step.hit}
    return step.step == "rejected" or least_cents <= step.cents <= most_cents or step.cents in told | accepted


def disputed(table: Table, award: str) -> DisputedAward | None:
    """The dispute about the award that people have not accepted yet; None where there is none."""
    return next((other for other in table.disputed if other.step.award == award and not other.accepted), None)


def is_disputed(table: Table, step: AwardStepped) -> bool:
    """Whether people were told already that the hit cannot have an award of that amount."""
    return any((other.step.hit, other.step.cents) == (step.hit, step.cents) for other in table.disputed)


def is_hit_disputed(table: Table, hit: SeatHit) -> bool:
    """Whether people have to decide on the amount of this hit's award."""
    return any(_is_of_hit(other.step, hit) and not other.accepted for other in table.disputed)


def step_award(table: Table, fact: AwardStepped) -> Stepped:
    """Believe the pit's word on a hit, and tell it in the table's own stream, so that the pit knows it was heard."""
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
    """Dispute the award. This dispute takes the place of any other dispute about the same hit."""
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
    """Believe the disputed step, and from now on every step of that award with the same amount."""
    dispute = disputed(table, award)
    assert dispute is not None, "asked before"
    others = tuple(other for other in table.disputed if other != dispute)
    table = replace(table, disputed=(*others, replace(dispute, accepted=True)))
    return step_award(table, replace(dispute.step, seq=max(dispute.step.seq, table.award_seq)))


def _is_of_hit(step: AwardStepped, hit: SeatHit) -> bool:
    return (hit.shoe, hit.round, hit.spot, hit.seat) == (step.shoe, step.round, step.spot, step.seat)
