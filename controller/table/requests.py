"""What people ask of the table, and what the shoe's report asks for before it can be believed.

A request becomes a fact only when the table of legality, or the standing fault's exits, allow it; otherwise it is
refused with a code that says why. Pure: what is ambient (sensors, the pit's link) comes in as `Ambient`.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.game.cards import Card
from controller.table import shoe_life
from controller.table.facts import (
    CardDrawn,
    CardNamed,
    CutCardDrawn,
    Fact,
    FaultCleared,
    HandVoided,
    LampsTested,
    OddCardFate,
    OddCardTold,
    RoundCorrected,
    ShoeClosed,
    ShoeFact,
    ShoeOpened,
    Target,
    WagersLocked,
)
from controller.table.faults import FAULTS, Clearing, Exit
from controller.table.legality import RaiseFault, Refuse, Row, legality, refuse
from controller.table.rules import TableRules
from controller.table.states import NoShoe, ShoeEnded, StandingFault, Table, WagersOpen
from controller.table.step import carried_into_new_shoe, exits, finished_round, odd_card


@dataclass(frozen=True, slots=True)
class NewShoe:
    """Announce a new shoe. By a supervisor (a name, or "key") it may also end the open one, between hands."""

    supervisor: str | None = None


@dataclass(frozen=True, slots=True)
class LockWagers:
    """The dealer's `deal`: no more wagers, the hand begins."""


@dataclass(frozen=True, slots=True)
class SeeCutCard:
    """The dealer saw the cutting card, at a shoe that does not report it."""


@dataclass(frozen=True, slots=True)
class VoidHand:
    """End the hand and return its wagers."""

    supervisor: str | None


@dataclass(frozen=True, slots=True)
class NameCard:
    """Say which card it was."""

    card: Card
    supervisor: str | None


@dataclass(frozen=True, slots=True)
class ClearFault:
    """Let the table go on."""

    supervisor: str | None


@dataclass(frozen=True, slots=True)
class TellOddCard:
    """The card just drawn in error was not exposed."""

    fate: OddCardFate
    by: str


@dataclass(frozen=True, slots=True)
class CorrectRound:
    """Amend a finished round of the open shoe: the cards as two people read them."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    supervisor: str
    witness: str


@dataclass(frozen=True, slots=True)
class CloseShoe:
    """End the shoe early, between hands."""

    supervisor: str


@dataclass(frozen=True, slots=True)
class LampTest:
    """Light every lamp for a while."""

    by: str


Request = (
    NewShoe
    | LockWagers
    | SeeCutCard
    | VoidHand
    | NameCard
    | ClearFault
    | TellOddCard
    | CorrectRound
    | CloseShoe
    | LampTest
)


@dataclass(frozen=True, slots=True)
class Ambient:
    """What decides a request and is not the table's own state.

    `royal9_seats` are the seats with a Royal 9 wager in place now. `pit_fresh` is false when the pit has been silent
    beyond its limit: there is then no progressive to bet on. The rest is what a new shoe would open with.
    """

    royal9_seats: frozenset[int]
    pit_fresh: bool
    rules: TableRules
    config_digest: str
    version: str


def decide(table: Table, request: Request, ambient: Ambient) -> Fact | Refuse:
    """The fact that `request` becomes, or why it is refused."""
    match request:
        case NewShoe(supervisor):
            return _new_shoe(table, supervisor, ambient)
        case LockWagers():
            return _refused(table, Row.LOCK_WAGERS) or _lock(table, "dealer", ambient)
        case SeeCutCard():
            return _see_cut_card(table)
        case VoidHand(supervisor):
            if supervisor is None:
                return refuse("no_supervisor")
            if table.fault is None:
                return _refused(table, Row.VOID) or HandVoided(supervisor)
            return _not_an_exit(table, Exit.VOID) or HandVoided(supervisor)
        case NameCard(card, supervisor):
            return _name_card(table, card, supervisor)
        case ClearFault(supervisor):
            if supervisor is None:
                return refuse("no_supervisor")
            return _not_an_exit(table, Exit.CLEAR) or FaultCleared(supervisor)
        case TellOddCard(fate, by):
            refusal = None if odd_card(table) else refuse("no_odd_card")
            return _refused(table, Row.TELL_ODD_CARD) or refusal or OddCardTold(fate, by)
        case CorrectRound():
            return _refused(table, Row.CORRECT_ROUND) or _correct_round(table, request)
        case CloseShoe(supervisor):
            return _refused(table, Row.CLOSE_SHOE) or ShoeClosed(supervisor)
        case LampTest(by):
            return _refused(table, Row.TEST_LAMPS) or LampsTested(by)


def before(table: Table, fact: Fact, ambient: Ambient) -> tuple[Fact, ...]:
    """The facts that a fact brings with it, to be believed first.

    The shoe's own first-card report announces a new shoe; on a table that locks on the first card, that card locks
    the wagers.
    """
    if _announces_a_shoe(table, fact):
        return (_opened(table, "first_card", ambient),)
    locks = table.rules.lock_on == "first_card" and isinstance(table.phase, WagersOpen)
    if not (locks and _deals_a_card(table, fact)):
        return ()
    if _is_for_a_hand(fact):
        return (_lock(table, "first_card", ambient),)
    return (_locked_late(table, ambient),)


def _announces_a_shoe(table: Table, fact: Fact) -> bool:
    closed = isinstance(table.phase, NoShoe | ShoeEnded) and table.fault is None
    return closed and isinstance(fact, CardDrawn) and fact.target is Target.FIRST_CARD


def _deals_a_card(table: Table, fact: Fact) -> bool:
    """Whether the fact deals a card to a hand: one drawn, or a person's word on one that waits or was missed."""
    if _is_for_a_hand(fact):
        return True
    if table.fault is None:
        return False
    match fact:
        case CardNamed():
            return True
        case FaultCleared():
            return _raiser_is_dealt(table.fault) or any(_is_for_a_hand(held.fact) for held in table.held)
        case _:
            return False


def _raiser_is_dealt(fault: StandingFault) -> bool:
    """Whether clearing the fault deals the card that raised it to a hand."""
    if fault.raised_by is None:
        return False
    match FAULTS[fault.code].clearing:
        case Clearing.PLAY:
            return _is_for_a_hand(fault.raised_by.fact)
        case Clearing.PLAY_AS_OURS:
            return isinstance(fault.raised_by.fact, CardDrawn)
        case _:
            return False


def _is_for_a_hand(fact: Fact) -> bool:
    """Whether the shoe, if it has an opinion, puts the card drawn in a hand."""
    return isinstance(fact, CardDrawn) and fact.target not in (Target.FIRST_CARD, Target.BURN)


def _new_shoe(table: Table, supervisor: str | None, ambient: Ambient) -> Fact | Refuse:
    if table.fault is not None:
        if supervisor is None:
            return refuse("no_supervisor")
        return _not_an_exit(table, Exit.NEW_SHOE) or _opened(table, supervisor, ambient)
    row = Row.NEW_SHOE if supervisor is None else Row.NEW_SHOE_BY_SUPERVISOR
    return _refused(table, row) or _opened(table, supervisor or "dealer", ambient)


def _opened(table: Table, by: str, ambient: Ambient) -> ShoeOpened:
    carried = carried_into_new_shoe(table)
    # What was missed before the shoe's first card is none of its cards: its reports follow one another from there.
    first_card_came = by == "first_card" or any(isinstance(fact, ShoeFact) for fact in carried)
    return ShoeOpened(
        shoe=table.shoes_opened + 1,
        by=by,
        rules=ambient.rules,
        config_digest=ambient.config_digest,
        version=ambient.version,
        last_report=None if first_card_came else table.last_report,
        seq_counts_zero=table.seq_counts_zero,
        carried=carried,
    )


def _lock(table: Table, by: str, ambient: Ambient) -> WagersLocked:
    seats = tuple(sorted(ambient.royal9_seats & {seat.number for seat in table.rules.seats}))
    if ambient.pit_fresh or not seats:
        return WagersLocked(by, royal9_seats=seats)
    return WagersLocked(by, royal9_seats=(), refused_seats=seats, refusal="pit_stale")


def _locked_late(table: Table, ambient: Ambient) -> WagersLocked:
    """The hand's first card came unseen: nobody knows what lay at the seats then, so no Royal 9 wager plays."""
    seats = tuple(sorted(ambient.royal9_seats & {seat.number for seat in table.rules.seats}))
    return WagersLocked("first_card", royal9_seats=(), refused_seats=seats, refusal="locked_late" if seats else None)


def _see_cut_card(table: Table) -> Fact | Refuse:
    if table.fault is not None:
        return refuse("fault_stands")
    if isinstance(table.phase, NoShoe | ShoeEnded):
        return refuse("no_shoe")
    return CutCardDrawn("dealer")


def _name_card(table: Table, card: Card, supervisor: str | None) -> Fact | Refuse:
    if supervisor is None:
        return refuse("no_supervisor")
    if table.fault is None:
        return refuse("no_card_to_name")
    if refusal := _not_an_exit(table, Exit.CARD):
        return refusal
    if table.shoe is not None and not shoe_life.can_still_come(table.shoe, table.rules.shoe, card):
        return refuse("card_cannot_be")
    return CardNamed(card, supervisor)


def _correct_round(table: Table, request: CorrectRound) -> Fact | Refuse:
    finished = finished_round(table, request.round)
    if finished is None or table.shoe is None:
        return refuse("no_such_round")
    if request.supervisor.strip().casefold() == request.witness.strip().casefold():
        return refuse("not_two_people")
    if not all(2 <= len(hand) <= 3 for hand in (request.player, request.banker)):
        return refuse("not_a_hand")
    if (request.player, request.banker) == (finished.done.player, finished.done.banker):
        return refuse("nothing_differs")
    were, are = (*finished.done.player, *finished.done.banker), (*request.player, *request.banker)
    corrected = shoe_life.corrected(table.shoe, table.rules.shoe, were, are)
    if corrected.unnamed > table.shoe.unnamed:
        return refuse("card_cannot_be")
    return RoundCorrected(request.round, request.player, request.banker, request.supervisor, request.witness)


def _refused(table: Table, row: Row) -> Refuse | None:
    """Why the request of `row` is not allowed now; None when it is."""
    if table.fault is not None:
        return refuse("fault_stands")
    cell = legality(row, table.phase)
    assert not isinstance(cell, RaiseFault), "a request never raises a fault"
    return cell if isinstance(cell, Refuse) else None


def _not_an_exit(table: Table, exit_: Exit) -> Refuse | None:
    if table.fault is None:
        return refuse("no_fault")
    return None if exit_ in exits(table) else refuse("not_an_exit")
