"""How the table stops: the events about faults and alarms, the acts that may end the standing fault, and the facts that
wait while a fault stands."""

from __future__ import annotations

from itertools import chain

from msgspec.structs import replace

from controller.contract import events
from controller.contract.events import Event
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    JournalFoundBehindPit,
    OwnFact,
    PitTookBack,
    ShoeFact,
    StepFailed,
    begins_shoe,
)
from controller.table.faults import COUNTED, EXITS_BY_PROCEDURE_2, FAULTS, Exit
from controller.table.states import (
    Burning,
    FirstCardDue,
    Held,
    Locked,
    NoShoe,
    RoundInPlay,
    Shoe,
    ShoeEnded,
    StandingFault,
    Table,
)

Stepped = tuple[Table, tuple[Event, ...]]

_OF_THE_CONTROLLER = (
    JournalFoundBehindPit,
    PitTookBack,
    *(kind.fact for kind in FAULTS.values() if kind.fact is not None and kind.of_the_controller),
)


def exits(table: Table) -> tuple[Exit, ...]:
    """Return the acts by which a supervisor can end the standing fault in the table's present state. Return an empty
    tuple if no fault stands."""
    if table.fault is None:
        return ()
    kind = FAULTS[table.fault.code]
    in_round = isinstance(table.phase, Locked | RoundInPlay)
    nowhere = {Exit.NEW_SHOE if in_round else Exit.VOID}
    if table.fault.code == "unreadable_card" and not isinstance(table.phase, Burning):
        nowhere.add(Exit.CLEAR)  # only a burned card may stay unnamed
    kind_exits = kind.exits
    if table.rules.procedure <= 2:  # the number of a procedure
        kind_exits = EXITS_BY_PROCEDURE_2.get(table.fault.code, kind_exits)
    is_counted = table.fault.code in COUNTED and Exit.COUNT in kind_exits
    if is_counted and not (in_round or isinstance(table.phase, FirstCardDue)):
        nowhere.add(Exit.CARD)  # unheard cards are counted: they lie in no hand of ours
    if waits_for_pit(table):
        nowhere.add(Exit.CLEAR)
    if isinstance(table.phase, NoShoe | ShoeEnded) and not kind.new_shoe_takes_held:
        nowhere.add(Exit.NEW_SHOE)  # there is no shoe to end, and waiting cards may be the next shoe's
    return tuple(exit_ for exit_ in kind_exits if exit_ not in nowhere)


def waits_for_pit(table: Table) -> bool:
    """Return True if the table stopped because the pit acknowledged an event that does not fit this journal. If the pit
    has taken that acknowledgement back since, return False."""
    took_back = any(isinstance(held.fact, PitTookBack) for held in table.held)
    return table.fault is not None and table.fault.code == "journal_behind_pit" and not took_back


def behind_pit_at(table: Table) -> str | None:
    """Return the time, by the pit's clock, of an acknowledgement that does not fit this journal. The text is empty if
    the time is not known. Return None if the pit has sent no such acknowledgement, or has taken it back, or if people
    have cleared the fault."""
    at: str | None = None
    if table.fault is not None and table.fault.code == "journal_behind_pit":
        at = str(table.fault.details.get("acked_at", ""))
    for held in table.held:
        match held.fact:
            case JournalFoundBehindPit(at=said_at):
                at = said_at
            case PitTookBack():
                at = None
    return at


def raiser(fault: StandingFault) -> tuple[Held, ...]:
    """Return a tuple with the fact that raised the fault, or an empty tuple if that fact does not wait for a person's
    decision."""
    return () if fault.raised_by is None else (fault.raised_by,)


def stop(table: Table, code: str, details: dict[str, str | int], raised_by: Held | None = None) -> Stepped:
    """Stop the table with the fault `code`. Return the stopped table and the event that reports the fault."""
    stops = table.stops + 1
    table = replace(
        table, fault=StandingFault(code, details, raised_by, f"{shoe_number(table) or 0}-{stops}"), stops=stops
    )
    event = events.Fault(
        shoe=shoe_number(table),
        round=table.round_number,
        code=code,
        details=details,
        exits=tuple(exit_.value for exit_ in exits(table)),
    )
    return table, (event,)


def cleared(
    table: Table, by: str, exit_: Exit, code: str | None = None, cards_unheard: int | None = None
) -> events.FaultCleared:
    """Return the event that says that the act `exit_` has ended a fault. `code` is the fault's code, or None for the
    fault that stands now."""
    if code is None:
        assert table.fault is not None
        code = table.fault.code
    return events.FaultCleared(shoe_number(table), table.round_number, code, by, exit_.value, cards_unheard)


def alarm(table: Table, code: str, details: dict[str, str | int]) -> events.Alarm:
    """Return the event that reports the alarm `code`, one of the codes in `ALARMS`."""
    return events.Alarm(shoe_number(table), table.round_number, code, details)


def shoe_number(table: Table) -> int | None:
    """Return the number of the shoe that new events belong to, or None before the first shoe."""
    return table.shoe.number if table.shoe else None


def open_shoe(table: Table) -> Shoe:
    """Return the open shoe. The caller makes sure that a shoe is open."""
    assert table.shoe is not None, "a shoe is open here"
    return table.shoe


def cards_left(table: Table) -> int:
    """Return how many cards are left in the open shoe. The caller makes sure that a shoe is open."""
    left = table.cards_left
    assert left is not None, "a shoe is open here"
    return left


def is_card(held: Held) -> bool:
    """Tell whether the held fact reports a card that left the shoe."""
    return isinstance(held.fact, CardDrawn | CardKept | CardDrawnOutsideGame)


def held_cards(table: Table) -> int:
    """Return how many cards have left the shoe and wait for a person's decision about the standing fault."""
    if table.fault is None:
        return 0
    return sum(map(is_card, (*raiser(table.fault), *table.held)))


def holds_a_card(table: Table) -> bool:
    """Tell whether a card has left the shoe and waits for a person's decision. Faster than counting all such cards,
    because the search ends at the first one."""
    return table.fault is not None and any(map(is_card, chain(raiser(table.fault), table.held)))


def known_left(table: Table) -> int | None:
    """Return how many cards are left in the shoe by all reports, or None if there is no shoe. A card that waits counts
    as gone, whether a fault holds it or it waits until face-down cards are turned up."""
    if table.cards_left is None:
        return None
    ahead = table.phase.ahead if isinstance(table.phase, RoundInPlay) else ()
    return max(0, table.cards_left - held_cards(table) - sum(map(is_card, ahead)))


def carried_into_new_shoe(table: Table) -> tuple[ShoeFact | OwnFact, ...]:
    """Return the held facts that are taken over when a new shoe is opened.

    These are the facts that the controller noticed about itself, and every fact from the new shoe's first card onwards.
    """
    if table.fault is None:
        return ()
    waiting = [held.fact for held in (*raiser(table.fault), *table.held)]
    takes_all = FAULTS[table.fault.code].new_shoe_takes_held
    carried: list[ShoeFact | OwnFact] = []
    for fact in waiting:
        takes_all = takes_all or begins_shoe(fact)
        if takes_all:
            carried.append(fact)
        elif isinstance(fact, _OF_THE_CONTROLLER):  # an old shoe's report must not be believed after later reports
            carried.append(replace(fact, report=None) if isinstance(fact, StepFailed) else fact)
    return tuple(carried)
