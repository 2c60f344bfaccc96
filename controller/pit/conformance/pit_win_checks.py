"""What a pit tells of wins, and what it pays where another table was before."""

from __future__ import annotations

from controller.contract.events import Win
from controller.contract.pit_words import AwardStep
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, BrokenError, Checks
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.pit_kit import PitKit, a_meter, committed, echo, hits, level

_PRICE_CENTS = 33_300
_SEATS = (1, 2, 3, 4, 5, 6, 7)

CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


@_clause("P39")
def _wins_are_named(kit: PitKit) -> None:
    table, _, _ = hits(kit, [("", "1:1")])
    one = _win_named(table, table.steps()[-1])
    table, _, _ = hits(kit, [("", "1:1")])
    two = _win_named(table, table.steps()[-1])
    if two.seq <= one.seq:
        raise BrokenError(f"The win of {two.award} has number {two.seq}, not higher than {one.seq} before it.")


def _win_named(table: FarTable, award: AwardStep) -> Win:
    """The win of this award in the words on the meters, which must name it and go on naming it."""

    def named() -> list[tuple[Win, dict[str, int]]]:
        return [(word.win, word.meters) for word in table.meters() if word.win and word.win.award == award.award]

    if not table.wire.wait(lambda: len(named()) > 1, 2 * ANSWERS_WITHIN_S):
        raise BrokenError(f"{len(named())} words on the meters name the win of {award.award}. Each names the last win.")
    win, meters = named()[0]
    told, due = (win.table, win.meter, win.cents), (table.table, award.meter, award.cents)
    if told != due:
        raise BrokenError(f"The win of {award.award} is told as {told}, and is {due}.")
    if win.base_cents != meters[win.meter]:
        raise BrokenError(f"After the win {win.meter} shows {meters[win.meter]}, and the win says {win.base_cents}.")
    return win


@_clause("P40")
def _no_less_than_shown(kit: PitKit) -> None:
    for proven in (True, False):
        table, other = kit.table(), kit.new_table()
        meter = a_meter(table)
        table.send(table.lock(meter, _SEATS, _PRICE_CENTS), table.dealt(_SEATS, ()))
        committed(table)
        shown_cents = level(table, meter)
        word = table.heard_on(table.topics.meters)[-1].message
        if not proven:
            word = {**word, "meters": {meter: shown_cents + 1}}
        table.send({**table.lock(meter, (1,)), "told": {"word": word, "ago_ms": 0}})
        committed(table)
        _wins(other, meter)
        holds_cents = level(table, meter)
        (award,) = _wins(table, meter)
        due_cents = shown_cents if proven else holds_cents
        if award.cents != due_cents:
            raise BrokenError(
                f"The meter {meter} holds {holds_cents} cents at a hit, since another table was first. At the lock the"
                f" table showed {shown_cents}, {'and proves' if proven else 'and does not prove'} that the pit said so."
                f" The award is {award.cents} cents, and must be {due_cents}."
            )


def _wins(table: FarTable, meter: str) -> list[AwardStep]:
    """The table's seat 1 wins the whole meter, in the round that is locked or else in the next. Returns its award."""
    if not table.round:
        table.send(table.lock(meter, (1,)))
    since = len(table.wire.heard)
    hit = table.send(table.dealt((1,), (1,)), table.hit(1, (meter, "1:1", 0)))
    committed(table)
    echo(table, since, {f"{table.table}/{table.epoch}/{hit}"})
    return table.steps(since)[-1:]
