"""Judges what a pit said in a stress test: whether each award fits its hit, and whether a meter's level fits the events
that could have changed it.

If a breach of either of two clauses of the contract explains an error, the verdict names both: `P20 or P26`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import asdict, replace

from controller.contract.pit_words import AwardStep


class Move(Struct, frozen=True):
    """The change in cents that one event must make to a meter. The pit breaks the clause `lost` of the contract if it
    ignores the event, and the clause `twice` if it counts the event twice.

    `wagers` is the number of equal wagers in the event. The pit may count each of them wrongly by itself. `bears` is
    used for the event that voids a round: it is the cents that the voided wagers had added to the meter. The meter
    keeps these cents, at the house's cost.
    """

    event: str
    what: str
    cents: Fraction
    lost: str
    twice: str
    bears: Fraction = Fraction(0)
    wagers: int = 1


class Won(Struct, frozen=True):
    """A hit that a simulated table reported: the number of its round, its seat, and, for a fixed award, the amount in
    cents."""

    round: int
    seat: int
    cents: int | None


class JudgedError(Exception):
    """Raised when the pit breaks a clause of the contract, with the clause's number (`P20`, or `P20 or P26` when either
    may be broken) and a sentence on what happened."""

    def __init__(self, number: str, why: str) -> None:
        super().__init__(number, why)


def judge_step(step: AwardStep, hit: Won, award: str, of_hit: str) -> None:
    """Raise JudgedError if a step of an award contradicts what the pit or the table said before.

    `hit` is the hit that the step names. `award` is the award that the pit announced first for this hit, and `of_hit`
    is the hit that the award's first step named. The step must repeat both. It must name the hit's seat and, for a
    fixed award, the hit's amount.
    """
    if step.award != award:
        raise JudgedError("P31", f"The hit {step.hit} has two awards, {award} and {step.award}.")
    if step.hit != of_hit:
        raise JudgedError("P31", f"The award {step.award} is of two hits, {of_hit} and {step.hit}.")
    if step.seat != hit.seat or hit.cents not in (None, step.cents):
        due = "" if hit.cents is None else f" of {hit.cents} cents"
        why = f"The award {step.award} is {step.cents} cents at seat {step.seat}: seat {hit.seat} had a hit{due}."
        raise JudgedError("P28" if hit.cents is not None else "P27", why)


def judge_again(before: AwardStep, step: AwardStep) -> None:
    """Raise JudgedError if the pit sent the same step of an award twice with different contents. `before` is the first
    message and `step` the second. Only their times may differ."""
    first, later = asdict(replace(before, at=step.at)), asdict(step)
    differ = [f"{name} {said!r} and later {later[name]!r}" for name, said in first.items() if said != later[name]]
    if differ:
        raise JudgedError("P33", f"Step {step.seq} of the award {step.award} was first {', '.join(differ)}.")


def judge_shares(won: dict[str, Won], last: dict[str, AwardStep]) -> None:
    """Check that two hits of one round that share a meter won equal amounts. Raises JudgedError if the amounts differ
    by more than a cent. `won` maps an event id to the hit that this event reported, and `last` maps an award's name to
    its newest step."""
    of_round: dict[int, list[AwardStep]] = {}
    for step in last.values():
        if won[step.hit].cents is None and step.step != "rejected":
            of_round.setdefault(won[step.hit].round, []).append(step)
    for first, second in ((one, two) for one, two in (each for each in of_round.values() if len(each) == 2)):
        if abs(first.cents - second.cents) > 1:
            why = f"The awards {first.award} and {second.award} share a level: {first.cents} and {second.cents} cents."
            raise JudgedError("P29", why)


def explained(
    off_cents: Fraction, moves: Sequence[Move], of_meter: Sequence[AwardStep], long_before: Sequence[Move] = ()
) -> tuple[str, str]:
    """Find the one error that explains why a meter's level is `off_cents` too high. Returns the number of the clause
    that this error breaks, and a text that describes the error.

    If errors against several clauses fit, all these clauses are returned, as `P20 or P26`. If no single error fits, the
    clause is P24. `moves` are the events since the last correct level, and `of_meter` are the meter's awards. The older
    events `long_before` are considered only if none of these events and awards fits.
    """
    found = [*_by_events(off_cents, moves), *_by_awards(off_cents, of_meter)] or [*_by_events(off_cents, long_before)]
    if not found:
        return "P24", " No event alone explains that."
    nearest = dict(reversed(found))
    numbers = sorted(nearest)
    return " or ".join(numbers), f" So it is as if {', or as if '.join(nearest[number] for number in numbers)}."


def _by_events(off_cents: Fraction, moves: Sequence[Move]) -> Iterator[tuple[str, str]]:
    for move in moves:
        if move.bears and abs(off_cents + move.bears) <= 1:
            yield "P26", f"event {move.event}, {move.what}, lowered the meter"
        for wagers in {1, move.wagers} if move.cents else ():
            of = f"{'one wager of ' * (wagers > 1)}event {move.event}, {move.what},"
            if abs(off_cents + move.cents / wagers) <= 1:
                yield move.lost, f"{of} was acknowledged and does not count"
            if abs(off_cents - move.cents / wagers) <= 1:
                yield move.twice, f"{of} counts twice"


def _by_awards(off_cents: Fraction, of_meter: Sequence[AwardStep]) -> Iterator[tuple[str, str]]:
    for step in of_meter:
        back = step.step == "rejected"
        number, of = ("P34", "went back") if back else ("P30", "was taken")
        for sign, how in ((1, "twice" if back else "never"), (-1, "never" if back else "twice")):
            if abs(off_cents - sign * step.cents) <= 1:
                yield number, f"the award {step.award}, {step.cents} cents, {how} {of}"
