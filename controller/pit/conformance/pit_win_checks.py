"""The conformance checks of how a pit announces that a meter was won, and of what it pays for a hit if another table
won the meter shortly before."""

from __future__ import annotations

from controller.contract.events import Win
from controller.contract.pit_words import AwardStep, MetersWord
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, BrokenError, Checks
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.pit_kit import PitKit, a_meter, committed, hits, level, win
from controller.pit.conformance.pit_money_checks import reject

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
    """Return the win (the announcement that a meter was won) that belongs to this award, from the pit's messages on the
    meters. Raises BrokenError if fewer than two of these messages contain the win, or if the win's table, meter or
    amounts are wrong."""

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
        other.send(other.lock(meter, (1,)))
        win(other, meter)
        holds_cents = level(table, meter)
        award = win(table, meter)
        due_cents = shown_cents if proven else holds_cents
        if award.cents != due_cents:
            raise BrokenError(
                f"The meter {meter} holds {holds_cents} cents at a hit, since another table was first. At the lock the"
                f" table showed {shown_cents}, {'and proves' if proven else 'and does not prove'} that the pit said so."
                f" The award is {award.cents} cents, and must be {due_cents}."
            )
        reject(kit, table, award)
        if (now_cents := level(table, meter)) != holds_cents:
            raise BrokenError(
                f"The meter {meter} held {holds_cents} cents at a hit of {award.cents}, which was rejected. Then the"
                f" meter is at {now_cents}."
            )
        _leave(table, other)


@_clause("P43")
def _in_the_order_of_the_locks(kit: PitKit) -> None:
    early, late = kit.new_table(), kit.new_table()
    meter, shown_cents = _locked_one_after_the_other(early, late)
    first = win(late, meter)
    holds_cents = level(early, meter)
    since = len(late.wire.heard)
    second = win(early, meter)

    def anew() -> list[int]:
        return [step.cents for step in late.steps(since) if (step.award, step.step) == (first.award, "pending")]

    due_cents = max(shown_cents, holds_cents)
    late.wire.wait(lambda: due_cents in anew(), ANSWERS_WITHIN_S)
    if second.cents != first.cents or anew()[-1:] != [due_cents]:
        raise BrokenError(
            f"A hit won the meter's {first.cents} cents. Then a hit came whose wagers were locked a second before. It"
            f" has {second.cents} cents. The other must be pending anew with {due_cents}, and came with {anew()}."
        )
    _leave(early, late)


@_clause("P44")
def _waits_for_an_earlier_lock(kit: PitKit) -> None:
    early, late = kit.new_table(), kit.new_table()
    meter, _ = _locked_one_after_the_other(early, late)
    award = win(late, meter)
    which = "was locked after a round of another table, which is not over"
    kit.must_refuse(late, award, "verify", which=which)
    early.send(early.dealt((1,), ()))
    _leave(early)
    kit.decide("verify", late, award)
    _leave(late)


def _leave(*tables: FarTable) -> None:
    """Close the shoes of these tables, because the pit makes the awards of other tables wait as long as a table has
    locked wagers."""
    for table in tables:
        table.send(table.shoe_closed())
        committed(table)


def _locked_one_after_the_other(early: FarTable, late: FarTable) -> tuple[str, int]:
    """Lock wagers at the table `early`, and one second later at the table `late`. Both tables show the meters' levels
    of the same message of the pit. Returns the pit's first meter, and its level in cents in that message.

    The function does not really wait one second. Instead, each table's event says how long ago the pit's message came:
    0 ms at `early` and 1000 ms at `late`.
    """
    meter = a_meter(early)
    early.send(early.lock(meter, _SEATS, _PRICE_CENTS), early.dealt(_SEATS, ()))
    committed(early)
    level(early, meter)
    said = early.heard_on(early.topics.meters)[-1].message
    for table, ago_ms in ((early, 0), (late, 1000)):
        table.send({**table.lock(meter, (1,)), "told": {"word": said, "ago_ms": ago_ms}})
        committed(table)
    word = MetersWord.read(said)
    assert word is not None, "it was read before"
    return meter, word.meters[meter]
