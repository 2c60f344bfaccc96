"""How far a hit has come at the pit, and what becomes of an award that its hit cannot have.

An award of an impossible amount is disputed: it is told as an alarm, and not believed. The pit tells the steps of other
hits meanwhile. Two people at the table accept the amount where it is true; where it is not, people at the pit reject
the award, which pays nothing and so is believed at any amount.
"""

from __future__ import annotations

from dataclasses import replace

from controller.contract import events
from controller.table.facts import AwardRefused, AwardStepped, DisputedAward, SeatHit
from controller.table.states import Table
from controller.table.stops import Stepped, alarm

_DECIDED = ("paid", "rejected")


def is_possible(table: Table, step: AwardStepped, least_cents: int, most_cents: int) -> bool:
    """Whether the step's amount can be: it is within its bounds, was told of the hit before, or was accepted."""
    told = {hit.cents for hit in table.hits if _is_of_hit(step, hit)}
    accepted = {other.step.cents for other in table.disputed if other.accepted and other.step.hit == step.hit}
    return step.step == "rejected" or least_cents <= step.cents <= most_cents or step.cents in told | accepted


def disputed(table: Table, award: str) -> DisputedAward | None:
    """What is disputed of the award, and not accepted yet."""
    return next((other for other in table.disputed if other.step.award == award and not other.accepted), None)


def is_disputed(table: Table, step: AwardStepped) -> bool:
    """Whether people were told already that the hit cannot have an award of that amount."""
    return any((other.step.hit, other.step.cents) == (step.hit, step.cents) for other in table.disputed)


def step_award(table: Table, fact: AwardStepped) -> Stepped:
    """The pit's word on a hit, told again in our own stream: so the pit knows that we know."""
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
    """The award is disputed now, in place of what was disputed of its hit before."""
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
    """The disputed step is believed; so is what follows of that award at the same amount."""
    dispute = disputed(table, award)
    assert dispute is not None, "asked before"
    others = tuple(other for other in table.disputed if other != dispute)
    table = replace(table, disputed=(*others, replace(dispute, accepted=True)))
    return step_award(table, replace(dispute.step, seq=max(dispute.step.seq, table.award_seq)))


def _is_of_hit(step: AwardStepped, hit: SeatHit) -> bool:
    return (hit.shoe, hit.round, hit.spot, hit.seat) == (step.shoe, step.round, step.spot, step.seat)
