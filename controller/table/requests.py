"""What people ask of the table, and what the shoe's report asks for before it can be believed.

A request becomes a fact only when the table of legality, or the standing fault's exits, allow it; otherwise it is
refused with a code that says why. Pure: what is ambient (sensors, the pit's link) comes in as `Ambient`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import lcm
from unicodedata import normalize

from controller.contract.bounds import MOST_CENTS, MOST_SEQ
from controller.contract.fingerprint import fingerprint
from controller.game import baccarat, lucky9
from controller.game.baccarat_royal import Actives, drawn_actives
from controller.game.cards import Card
from controller.game.games import cards, roles_play, seats_play
from controller.game.play import Call, Choose, Reveal
from controller.game.wagers import Wager
from controller.table import locking, shoe_life
from controller.table.correcting import CorrectionFact, as_corrected
from controller.table.dealing import finished_round, following, odd_card
from controller.table.facts import (
    ActivesChosen,
    AwardStepped,
    Called,
    CardDrawn,
    CardNamed,
    CardsCounted,
    CommissionCollected,
    CutCardDrawn,
    Fact,
    FaultCleared,
    HandVoided,
    HitsReset,
    LampsTested,
    LevelsNoted,
    OddCardFate,
    OddCardTold,
    PitKeyPinned,
    RoundCorrected,
    Royal9WagersDiffered,
    RoyalHit,
    SeatsRoundCorrected,
    SeatsTaken,
    ShoeClosed,
    ShoeOpened,
    Target,
    WagerPlaced,
    WagersLocked,
)
from controller.table.faults import FAULTS, Clearing, Exit
from controller.table.legality import RaiseFault, Refuse, Row, legality, refuse
from controller.table.rules import TableRules
from controller.table.states import (
    Burning,
    FinishedRound,
    FirstCardDue,
    HandInPlay,
    Locked,
    NoShoe,
    ShoeEnded,
    StandingFault,
    Table,
    WagersOpen,
)
from controller.table.step import carried_into_new_shoe
from controller.table.stops import exits, is_card, known_left, waits_for_pit


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
class CountCards:
    """Say how many cards are left in the shoe now: counted, or read off."""

    left: int
    supervisor: str


@dataclass(frozen=True, slots=True)
class ClearFault:
    """Let the table go on. Some faults ask for two people."""

    supervisor: str | None
    witness: str | None = None

    @property
    def says(self) -> str:
        """The request in words."""
        return "clear the fault"


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
    witness: str | None = None

    @property
    def says(self) -> str:
        """The request in words."""
        return f"correct round {self.round}: player {_read(self.player)}, banker {_read(self.banker)}"


@dataclass(frozen=True, slots=True)
class CorrectSeatsRound:
    """The same of a round of Lucky 9: each seat's hands from left to right, by the seat, and the dealer's."""

    round: int
    hands: dict[int, tuple[tuple[Card, ...], ...]]
    dealer: tuple[Card, ...]
    supervisor: str
    witness: str | None = None

    @property
    def says(self) -> str:
        """The request in words."""
        hands = (f"seat {seat} {_read(hand)}" for seat, theirs in sorted(self.hands.items()) for hand in theirs)
        return f"correct round {self.round}: dealer {_read(self.dealer)}, {', '.join(hands)}"


@dataclass(frozen=True, slots=True)
class CloseShoe:
    """End the shoe early, between hands."""

    supervisor: str


@dataclass(frozen=True, slots=True)
class LampTest:
    """Light every lamp for a while."""

    by: str


@dataclass(frozen=True, slots=True)
class PlaceWager:
    """Chips lie on a spot, in place of what lay there; 0 cents: they were taken away. `by` is whoever saw it."""

    wager: Wager
    by: str


@dataclass(frozen=True, slots=True)
class TakeSeats:
    """These seats are occupied, and no others."""

    seats: tuple[int, ...]
    by: str


@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """The player of a seat leaves the game."""

    seat: int
    by: str


@dataclass(frozen=True, slots=True)
class ChooseActives:
    """Baccarat Royal's active seats: as named, or drawn by lot where `actives` is None."""

    actives: Actives | None
    by: str


@dataclass(frozen=True, slots=True)
class MakeCall:
    """The dealer calls hit, stand, split or reveal."""

    call: Call
    by: str


@dataclass(frozen=True, slots=True)
class CollectCommission:
    """A seat pays the commission it owes."""

    seat: int
    by: str


@dataclass(frozen=True, slots=True)
class SeeAward:
    """The pit's word on how far a hit of this journal's has come, and what that hit's award can be, in cents."""

    step: AwardStepped
    least_cents: int = 0
    most_cents: int = MOST_CENTS


@dataclass(frozen=True, slots=True)
class PinPitKey:
    """Believe the pit whose key has this fingerprint, as a person read it at the pit."""

    fingerprint: str
    by: str


@dataclass(frozen=True, slots=True)
class ResetHits:
    """A seat's hit has been seen to, or every one (None): its lamp may go out."""

    seat: int | None
    by: str


Request = (
    NewShoe
    | LockWagers
    | SeeCutCard
    | VoidHand
    | NameCard
    | CountCards
    | ClearFault
    | TellOddCard
    | CorrectRound
    | CorrectSeatsRound
    | CloseShoe
    | LampTest
    | PlaceWager
    | TakeSeats
    | LeaveSeat
    | ChooseActives
    | MakeCall
    | CollectCommission
    | SeeAward
    | PinPitKey
    | ResetHits
)

ByTwo = ClearFault | CorrectRound | CorrectSeatsRound
"""What two people ask for: `witness` is the second one, None until there is one."""

EXITS: dict[type[Request], Exit] = {
    ClearFault: Exit.CLEAR,
    CountCards: Exit.COUNT,
    NameCard: Exit.CARD,
    VoidHand: Exit.VOID,
    NewShoe: Exit.NEW_SHOE,
}
"""The requests that leave a fault, where one stands."""

LOTS = lcm(*range(1, 15))
"""How many lots there are to draw by: a multiple of the ordered pairs of any 2 to 14 seats, so each is as likely."""


@dataclass(frozen=True, slots=True)
class Ambient:
    """What decides a request and is not the table's own state.

    `royal9_seats` are the seats with a Royal 9 wager in place now. `pit_fresh` is false when the pit has been silent
    beyond its limit: there is then no progressive to bet on. `levels` are the meters' cents as shown; `lot` is a random
    number, to draw by; `offered_pit_key` is the key, in hex, that is offered as the pit's, and `latest_seq` the highest
    number that a word of the pit can have by now. The rest is what a new shoe would open with.
    """

    royal9_seats: frozenset[int]
    pit_fresh: bool
    rules: TableRules
    config_digest: str
    version: str
    lot: int = 0
    levels: Mapping[str, int] = field(default_factory=dict)
    offered_pit_key: str | None = None
    latest_seq: int = MOST_SEQ


def decide(table: Table, request: Request, ambient: Ambient) -> Fact | Refuse:
    """The fact that `request` becomes, or why it is refused."""
    match request:
        case NewShoe(supervisor):
            return _new_shoe(table, supervisor, ambient)
        case LockWagers():
            return _refused(table, Row.LOCK_WAGERS) or _lock_by_dealer(table, ambient)
        case SeeCutCard():
            return _refused(table, Row.SEE_CUT_CARD) or CutCardDrawn("dealer")
        case VoidHand(supervisor):
            if supervisor is None:
                return refuse("no_supervisor")
            if table.fault is None:
                return _refused(table, Row.VOID) or HandVoided(supervisor)
            return _not_an_exit(table, Exit.VOID) or HandVoided(supervisor)
        case NameCard(card, supervisor):
            return _name_card(table, card, supervisor)
        case CountCards(left, supervisor):
            return _not_an_exit(table, Exit.COUNT) or _miscounted(table, left) or CardsCounted(left, supervisor)
        case ClearFault():
            return _clear(table, request)
        case TellOddCard(fate, by):
            refusal = None if odd_card(table) else refuse("no_odd_card")
            return _refused(table, Row.TELL_ODD_CARD) or refusal or OddCardTold(fate, by)
        case CorrectRound() | CorrectSeatsRound():
            return _refused(table, Row.CORRECT_ROUND) or _correct_round(table, request)
        case CloseShoe(supervisor):
            return _refused(table, Row.CLOSE_SHOE) or ShoeClosed(supervisor)
        case LampTest(by):
            return _refused(table, Row.TEST_LAMPS) or LampsTested(by)
        case PlaceWager():
            return _place_wager(table, request)
        case TakeSeats(seats, by):
            return _refused(table, Row.TAKE_SEATS) or _take_seats(table, seats, by)
        case LeaveSeat(seat, by):
            return _refused(table, Row.TAKE_SEATS) or _leave_seat(table, seat, by)
        case ChooseActives(actives, by):
            return _refused(table, Row.CHOOSE_ACTIVES) or _choose_actives(table, actives, by, ambient.lot)
        case MakeCall(called, by):
            return _refused(table, Row.CALL) or _call(table, called, by)
        case CollectCommission(seat, by):
            owed = table.commission_owed.get(seat)
            collected = refuse("nothing_owed") if owed is None else CommissionCollected(seat, owed, by)
            return _refused(table, Row.COLLECT_COMMISSION) or collected
        case SeeAward():
            return _see_award(table, request, ambient)
        case PinPitKey(told, by):
            return _pin_pit_key(table, told, by, ambient)
        case ResetHits(seat, by):
            known = any(seat in (None, hit.seat) for hit in table.hits)
            return HitsReset(seat, by) if known else refuse("no_hit")


def not_answered(table: Table, request: Request, fault: str | None) -> Refuse | None:
    """Why a supervisor's word may not be taken for the fault that stands: it answers `fault`, another one or None.

    What stands was perhaps never seen by who answers: somebody else left the fault that was shown, and the next came.
    """
    standing = table.fault.id if table.fault else None
    if type(request) not in EXITS or getattr(request, "supervisor", None) is None or fault == standing:
        return None
    return refuse("fault_unnamed" if fault is None else "fault_changed")


def same_name(one: str, other: str) -> bool:
    """Whether two names are one person's, however they are written: "Ann" and "ann." are."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", name).casefold())
    return "".join(character for character in folded if character.isalnum())


def before(table: Table, fact: Fact, ambient: Ambient) -> tuple[Fact, ...]:
    """The facts that a fact brings with it, to be believed first.

    The shoe's own first-card report announces a new shoe; on a table that locks on the first card, that card locks
    the wagers. Whatever comes while a hand plays for the meters may decide it: what they show by now is noted first.
    """
    if _announces_a_shoe(table, fact):
        return (_opened(table, "first_card", ambient),)
    if _meters_moved(table, ambient):
        return (LevelsNoted(dict(ambient.levels)),)
    locks = table.rules.lock_on == "first_card" and isinstance(table.phase, WagersOpen)
    if not (locks and _deals_a_card(table, fact)):
        return ()
    if _is_for_a_hand(fact):
        return (_lock(table, "first_card", ambient),)
    return (_lock(table, "first_card", ambient, late=True),)


def _meters_moved(table: Table, ambient: Ambient) -> bool:
    """Whether a hand plays for the meters, and they show otherwise than is noted. Unheard meters show nothing new."""
    wagers = table.phase.wagers if isinstance(table.phase, Locked | HandInPlay) else None
    if wagers is None or not wagers.royal9_seats or not ambient.levels:
        return False
    return ambient.levels != wagers.levels


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
    if refusal := _refused(table, row):
        return refusal
    if table.commission_owed and supervisor is None:
        return refuse("commission_owed")  # sheet 004: collected before the cards are shuffled again
    return _opened(table, supervisor or "dealer", ambient)


def _opened(table: Table, by: str, ambient: Ambient) -> ShoeOpened:
    carried = carried_into_new_shoe(table)
    # What was missed before the shoe's first card is none of its cards: its reports follow one another from there.
    # A card that a person named came without a number: what follows it is still counted from the last report.
    numbered = any(getattr(fact, "report", None) is not None for fact in carried)
    first_card_came = by == "first_card" or numbered
    return ShoeOpened(
        shoe=table.shoes_opened + 1,
        by=by,
        rules=ambient.rules,
        config_digest=ambient.config_digest,
        version=ambient.version,
        last_report=None if first_card_came else table.last_report,
        seq_counts_zero=table.seq_counts_zero,
        carried=carried,
        occupied=table.occupied,
        actives=table.actives,
        commission_owed=table.commission_owed,
        placed=table.placed,
        hits=tuple(hit for hit in table.hits if hit.meter is not None),
        award_seq=table.award_seq,
        pit_key=table.pit_key,
    )


def _lock_by_dealer(table: Table, ambient: Ambient) -> Fact | Refuse:
    """The dealer's lock; not where nobody plays, or the table would have to guess who wagered."""
    if roles_play(table.rules.play) and not _actives_seated(table):
        return refuse("no_actives")
    locked = _lock(table, "dealer", ambient)
    if seats_play(table.rules.play) and not locked.in_play:
        return refuse("no_seats")
    if differ := locking.royal9_wagers_differ(table, ambient.royal9_seats):
        return Royal9WagersDiffered(differ)
    return locked


def _actives_seated(table: Table) -> bool:
    return table.actives is not None and {table.actives.player, table.actives.banker} <= set(table.occupied)


def _lock(table: Table, by: str, ambient: Ambient, *, late: bool = False) -> WagersLocked:
    locked = locking.lock(table, by, ambient.royal9_seats, ambient.pit_fresh, late=late)
    return replace(locked, levels=dict(ambient.levels) if locked.royal9_seats else {})


def _place_wager(table: Table, request: PlaceWager) -> Fact | Refuse:
    in_simulated_hand = isinstance(table.phase, HandInPlay) and table.phase.wagers is None and table.fault is None
    if not in_simulated_hand and (refusal := _refused(table, Row.PLACE_WAGER)):
        return refusal
    if locking.lies(table, request.wager):
        return refuse("wager_lies_there")
    code = locking.refusal(table, request.wager)
    return refuse(code) if code else WagerPlaced(request.wager, request.by)


def _take_seats(table: Table, seats: tuple[int, ...], by: str) -> Fact | Refuse:
    if not set(seats) <= set(table.rules.seat_numbers):
        return refuse("no_such_seat")
    if set(table.occupied) & table.commission_owed.keys() - set(seats):
        return refuse("commission_owed")  # sheet 004: collected when the customer leaves the game
    return SeatsTaken(tuple(sorted(set(seats))), by)


def _leave_seat(table: Table, seat: int, by: str) -> Fact | Refuse:
    if seat not in table.rules.seat_numbers:
        return refuse("no_such_seat")
    if seat in table.commission_owed:
        return refuse("commission_owed")
    if seat not in table.occupied:
        return refuse("not_occupied")
    return SeatsTaken(tuple(other for other in table.occupied if other != seat), by)


def _choose_actives(table: Table, actives: Actives | None, by: str, lot: int) -> Fact | Refuse:
    if not roles_play(table.rules.play):
        return refuse("not_this_game")
    if len(table.occupied) < 2:
        return refuse("seats_too_few")
    if actives is None:
        return ActivesChosen(drawn_actives(table.occupied, lot), "lot")
    if not {actives.player, actives.banker} <= set(table.occupied):
        return refuse("not_occupied")
    return ActivesChosen(actives, by)


def _call(table: Table, called: Call, by: str) -> Fact | Refuse:
    match following(table):
        case Reveal():
            return Called(called, by) if called is Call.REVEAL else refuse("reveal_due")
        case Choose(options=options):
            return Called(called, by) if called in options else refuse("not_an_option")
        case _:
            return refuse("no_call_due")


def _clear(table: Table, request: ClearFault) -> Fact | Refuse:
    if request.supervisor is None:
        return refuse("no_supervisor")
    if refusal := _not_an_exit(table, Exit.CLEAR):
        return refuse("pit_stands_by_it") if table.fault and waits_for_pit(table) else refusal
    assert table.fault is not None, "it has an exit"
    if not FAULTS[table.fault.code].two_people:
        return FaultCleared(request.supervisor)
    return _by_two(request, FaultCleared(request.supervisor, request.witness))


def _see_award(table: Table, request: SeeAward, ambient: Ambient) -> Fact | Refuse:
    """The step, unless it is old or of an amount that cannot be; what was told of the hit once can be told again.

    A number that no pit can have given by now was forged, before the pit signed its words: it makes no step old.
    """
    step = request.step
    if step.seq <= table.award_seq <= ambient.latest_seq:
        return refuse("award_old")
    told_before = {hit.cents for hit in table.hits if _is_of_hit(step, hit)}
    if not request.least_cents <= step.cents <= request.most_cents and step.cents not in told_before:
        return refuse("award_impossible")
    return step


def _is_of_hit(step: AwardStepped, hit: RoyalHit) -> bool:
    return (hit.shoe, hit.round, hit.seat) == (step.shoe, step.round, step.seat)


def _pin_pit_key(table: Table, told: str, by: str, ambient: Ambient) -> Fact | Refuse:
    """Pin the key that is offered, if it is the one whose fingerprint a person read at the pit."""
    if ambient.offered_pit_key is None:
        return refuse("no_pit_key")
    if "".join(told.split()).casefold() != "".join(fingerprint(bytes.fromhex(ambient.offered_pit_key)).split()):
        return refuse("pit_key_differs")
    if ambient.offered_pit_key == table.pit_key:
        return refuse("pit_key_pinned")
    return PitKeyPinned(ambient.offered_pit_key, by)


def _name_card(table: Table, card: Card, supervisor: str | None) -> Fact | Refuse:
    """The card that waits, or was missed, by its name.

    One of which none is left is refused, those that lie face down counted too: it was misread, or one before it was.
    Whoever reads the felt is told that, and nobody else. Were it believed, all would be told: the table would stop at
    an impossible card. A guess is not free either: a name that is not refused is journalled, and is the card.
    """
    if supervisor is None:
        return refuse("no_supervisor")
    if table.fault is None:
        return refuse("no_card_to_name")
    if refusal := _not_an_exit(table, Exit.CARD):
        return refusal
    if table.shoe is not None and not shoe_life.can_still_come(table.shoe, table.rules.shoe, card):
        return refuse("card_cannot_be")
    return CardNamed(card, supervisor)


def _miscounted(table: Table, left: int) -> Refuse | None:
    """Why so many cards cannot be left, or what must be told first; None where the table can go on with the count.

    A late copy of a report makes one card more than came: the count proves it. Were it lower as well, nobody could
    tell whether that card or another one came.
    """
    known = known_left(table)
    assert known is not None, "with no shoe nothing stops for a count"
    in_doubt = any(held.in_doubt and is_card(held) for held in table.held)
    if in_doubt:
        return None if left == known + 1 else refuse("count_too_high" if left > known else "card_in_doubt")
    if left >= known:
        return None if left == known else refuse("count_too_high")
    match table.phase:
        case FirstCardDue():
            return refuse("first_card_missed")
        case Burning(left=to_burn):
            return None if known - left <= to_burn else refuse("burn_missed")
        case Locked() | HandInPlay():
            return refuse("cards_missed")
        case WagersOpen():
            shoe = table.shoe
            below = left < table.rules.shoe.cut_card_from_end
            return refuse("cut_card_missed") if below and shoe is not None and shoe.last_hand is None else None
        case _:
            return None


def _correct_round(table: Table, request: CorrectRound | CorrectSeatsRound) -> Fact | Refuse:
    told = finished_round(table, request.round)
    if told is None or table.shoe is None:
        return refuse("no_such_round")
    fact = _as_read(told, request)
    if isinstance(fact, Refuse):
        return fact
    try:
        done = as_corrected(table.rules.play, told.done, fact)
    except ValueError:
        return refuse("not_by_the_rules")
    if done == told.done:
        return refuse("nothing_differs")
    corrected = shoe_life.corrected(table.shoe, table.rules.shoe, cards(told.done), cards(done))
    if corrected.unnamed > table.shoe.unnamed:
        return refuse("card_cannot_be")
    return _by_two(request, fact)


def _by_two(request: ByTwo, fact: Fact) -> Fact | Refuse:
    """The fact of an act that would be allowed, once two people ask for it."""
    if request.witness is None:
        return refuse("second_person_due")
    return refuse("not_two_people") if same_name(request.supervisor or "", request.witness) else fact


def _as_read(told: FinishedRound, request: CorrectRound | CorrectSeatsRound) -> CorrectionFact | Refuse:
    """The cards that were read, as the fact they become where the round has such hands."""
    match request, told.done:
        case CorrectRound(number, player, banker, by, witness), baccarat.Done():
            if not (_is_hand(player) and _is_hand(banker)):
                return refuse("not_a_hand")
            return RoundCorrected(number, player, banker, by, witness or "")
        case CorrectSeatsRound(number, hands, dealer, by, witness), lucky9.Done(first_two=in_play):
            if hands.keys() != in_play.keys():
                return refuse("other_seats")
            if not all(map(_is_hand, (*(hand for theirs in hands.values() for hand in theirs), dealer))):
                return refuse("not_a_hand")
            return SeatsRoundCorrected(number, hands, dealer, by, witness or "")
        case _:
            return refuse("other_hands")


def _read(cards_read: tuple[Card, ...]) -> str:
    return " ".join(map(str, cards_read))


def _is_hand(cards_read: tuple[Card, ...]) -> bool:
    return 2 <= len(cards_read) <= 3


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
