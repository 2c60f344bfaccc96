"""The decision on a request: it becomes a fact, or it is refused. This module also finds the facts that one fact brings
with it.

A request becomes a fact only if the entry of its act allows the act in the present phase, or if the act may clear the
standing fault. Otherwise the request is refused, with a code that says why. For example: `lock` inside a round is
refused with `already_locked`. The functions are pure: the state of the sensors and of the pit is passed in as
`Ambient`.
"""

from __future__ import annotations

from controller.table.acts.corrections import CorrectRound, CorrectSeatsRound
from controller.table.acts.entry import Act, Ambient, Request, Who
from controller.table.acts.every import act_of
from controller.table.acts.pit import AcceptAward
from controller.table.acts.recognition import PinRecognitionKey
from controller.table.acts.rounds import TellOddCard, VoidRound, lock
from controller.table.acts.shoe import opened
from controller.table.acts.stopped import CardNamed, ClearFault, FaultCleared, NameCard
from controller.table.early_cards import chips_to_note
from controller.table.facts import CardDrawn, CardKept, Fact, LevelsNoted, Target, WagersLocked, begins_shoe
from controller.table.faults import FAULTS, Clearing, Exit
from controller.table.legality import Refuse, refuse
from controller.table.states import NoShoe, ShoeEnded, StandingFault, Table
from controller.table.stops import exits, waits_for_pit

ByTwo = (
    ClearFault | NameCard | VoidRound | TellOddCard | CorrectRound | CorrectSeatsRound | AcceptAward | PinRecognitionKey
)
"""The requests that need two people. `witness` is the second person; None until there is one."""


def decide(table: Table, request: Request, ambient: Ambient) -> Fact | Refuse:
    """Decide on a person's request. Return the fact to journal, or the refusal."""
    act = act_of(request)
    return (act and _refused(table, request, act)) or request.becomes(table, ambient)


def _refused(table: Table, request: Request, act: Act) -> Refuse | None:
    """Return the refusal if the table's present state does not allow the act. Return None if the act is allowed."""
    nameless = getattr(request, "supervisor", "") is None
    if nameless and (act.who is not Who.DEALER or table.fault is not None):
        return refuse("no_supervisor")
    code = act.refusal(table)
    if code != "fault_stands" or act.exit is None:
        return refuse(code) if code else None
    if act.exit in exits(table):
        return None
    return refuse("pit_stands_by_it" if act.exit is Exit.CLEAR and waits_for_pit(table) else "not_an_exit")


def not_answered(table: Table, request: Request, fault: str | None) -> Refuse | None:
    """Return a refusal if a supervisor's act was meant for another fault than the standing one. `fault` is the id of
    the fault that the person saw, or None if the person named no fault. Return None if the act may go on.

    The person may never have seen the standing fault. For example: Smith is shown the fault "3-1". Jones clears "3-1",
    and the fault "3-2" comes. Smith's act for "3-1" must not clear "3-2".
    """
    standing = table.fault.id if table.fault else None
    act = act_of(request)
    if act is None or act.exit is None or getattr(request, "supervisor", None) is None or fault == standing:
        return None
    return refuse("fault_unnamed" if fault is None else "fault_changed")


def before(table: Table, fact: Fact, ambient: Ambient) -> tuple[Fact, ...]:
    """Return the facts that must be journalled, and take effect, before `fact`. There are four cases:

    - If the shoe itself reports a first card, that report announces a new shoe.
    - If the table locks wagers on the first card, that card locks the wagers. If the wagers may not be locked, the card
      counts as a card that is not due.
    - If a round plays for progressive meters, any fact may decide the round. So the amounts that the meters show now
      are noted before every fact.
    - If a card leaves the shoe between two rounds and locks no wagers, it may be the next round's first card. So the
      seats where sensors see chips are noted before it, unless such a card is out already.
    """
    if _announces_a_shoe(table, fact):
        return (opened(table, "first_card", ambient),)
    if _meters_moved(table, ambient):
        return (LevelsNoted(dict(ambient.levels)),)
    if table.rules.lock_on == "first_card" and _deals_a_card(table, fact):
        locked = lock(table, "first_card", ambient, late=not _is_for_a_round(fact))
        if isinstance(locked, WagersLocked):
            return (locked,)
    noted = chips_to_note(table, fact, ambient.sensed_seats)
    return () if noted is None else (noted,)


def after(table: Table, ambient: Ambient) -> tuple[Fact, ...]:
    """Return the facts that follow from the table's state without a report or an act. There is one case: the first card
    of a new shoe had to wait because seats owed commission. The new shoe opens once the last seat has paid."""
    waited = table.fault is not None and table.fault.code == "commission_owed" and not table.commission_owed
    return (opened(table, "first_card", ambient),) if waited else ()


def _meters_moved(table: Table, ambient: Ambient) -> bool:
    """Return True if the present round plays for progressive meters and the meters now show other amounts than those
    noted for the round.

    Return False if no amounts of the meters are known.
    """
    wagers = table.locked_wagers
    if wagers is None or not any(on.seats for on in wagers.progressive) or not ambient.levels:
        return False
    return ambient.levels != wagers.levels


def _announces_a_shoe(table: Table, fact: Fact) -> bool:
    closed = isinstance(table.phase, NoShoe | ShoeEnded) and table.fault is None
    return closed and begins_shoe(fact) and not table.owes_before_new_shoe


def _deals_a_card(table: Table, fact: Fact) -> bool:
    """Tell whether the fact deals a card to a hand. Such a fact is a drawn card, or a person's decision on a card that
    waits because of a fault or that was missed."""
    if _is_for_a_round(fact):
        return True
    if table.fault is None:
        return False
    match fact:
        case CardNamed():
            return not (table.fault.raised_by and isinstance(table.fault.raised_by.fact, CardKept))
        case FaultCleared():
            return _raiser_is_dealt(table.fault) or any(_is_for_a_round(held.fact) for held in table.held)
        case _:
            return False


def _raiser_is_dealt(fault: StandingFault) -> bool:
    """Tell whether the card that raised the fault is dealt to a hand when a supervisor clears the fault."""
    if fault.raised_by is None:
        return False
    match FAULTS[fault.code].clearing:
        case Clearing.PLAY:
            return _is_for_a_round(fault.raised_by.fact)
        case Clearing.PLAY_AS_OURS:
            return isinstance(fault.raised_by.fact, CardDrawn)
        case _:
            return False


def _is_for_a_round(fact: Fact) -> bool:
    """Tell whether the fact is a drawn card that, by the shoe's report, may be for a hand. The answer is True if the
    shoe does not say where the card goes. The answer is False for a card that the shoe reports as burned or as the
    first card of a shoe."""
    return isinstance(fact, CardDrawn) and fact.target not in (Target.FIRST_CARD, Target.BURN)
