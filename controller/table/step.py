"""The table's one step: a fact happened, so this is the state now and these are the events that the fact makes.

`step(table, fact)` is pure and total. It does what `legality.py` says for the fact and the phase. The moves are below,
and in `dealing.py` and `referees.py`. While a fault stands, every report is held. An act that is an exit leaves the
fault. The held reports are then believed in the order they came, and may raise the next fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import assert_never

from controller.contract import events
from controller.contract.events import Event
from controller.contract.fingerprint import fingerprint
from controller.rules.game.cards import Card
from controller.rules.game.play import Call, Choose, Reveal
from controller.rules.game.seating import Seating
from controller.rules.game.wagers import place
from controller.table import doubts, paying, shoe_life
from controller.table.acts.corrections import RoundCorrected, SeatsRoundCorrected
from controller.table.acts.hand import Called, HandVoided, OddCardFate, OddCardTold
from controller.table.acts.itself import HitTested, InputsTested, LampsTested
from controller.table.acts.pit import AwardAccepted, PitKeyPinned
from controller.table.acts.recognition import RecognitionKeyPinned
from controller.table.acts.seats import ActivesChosen, CommissionCollected, HitsReset, SeatsTaken, WagerPlaced
from controller.table.acts.shoe import ShoeClosed
from controller.table.acts.stopped import CardNamed, CardsCounted, FaultCleared
from controller.table.awards import accept_award, refuse_award, step_award
from controller.table.correcting import correct
from controller.table.dealing import (
    after_hand,
    burn,
    burned_in_error,
    call,
    close_shoe,
    compared,
    deal,
    deal_kept,
    following,
    odd_card_events,
    owing,
    take_cards_in_error,
    turn_first_card,
)
from controller.table.early_cards import with_chips_noted
from controller.table.face_down import comes_face_down, kept_make_a_hand, next_is_secret
from controller.table.facts import (
    ArchiveFailed,
    AwardRefused,
    AwardStepped,
    BurnCountReported,
    ByPerson,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    ChipsNoted,
    ClientIdTaken,
    CommitFailed,
    CutCardDrawn,
    Fact,
    HitUnheard,
    JournalAltered,
    JournalFoundBehindPit,
    JournalGone,
    JournalLarge,
    LevelsNoted,
    OutboxFilling,
    OutboxFull,
    OwnFact,
    PitKeyDiffers,
    PitKeyRotated,
    PitTookBack,
    PitWordForged,
    ProgramMeasured,
    PublishRefused,
    RecognitionKeyDue,
    ReplayDiffered,
    Report,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeFact,
    ShoeLockReported,
    ShoeOpened,
    ShoePoweredUp,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnheard,
    ShoeUnplugged,
    StepFailed,
    WagersDiffered,
    WagerSeen,
    WagersLocked,
    WagerWordForged,
    WagerWordUnfit,
    begins_shoe,
)
from controller.table.faults import FAULTS, Clearing, Exit
from controller.table.legality import Move, RaiseFault, Row, legality
from controller.table.referees import both_opinions, compare_burn_count, compare_result, differing_target, where
from controller.table.states import (
    Burning,
    FirstCardDue,
    HandInPlay,
    Held,
    KnownCard,
    Locked,
    NoShoe,
    Shoe,
    ShoeEnded,
    StandingFault,
    Table,
    Wagers,
    WagersOpen,
    Waiting,
)
from controller.table.stops import Stepped, alarm, cleared, is_card, known_left, open_shoe, raiser, shoe_number, stop
from controller.table.voiding import void_event


def step(table: Table, fact: Fact) -> Stepped:
    """The table after `fact`, and the events it makes, in the order they are sent."""
    table, made = _step(table, fact)
    if isinstance(fact, ChipsNoted):  # the card that they are noted for comes next
        return table, made
    return with_chips_noted(table), made


def _step(table: Table, fact: Fact) -> Stepped:
    match fact:
        case ShoeOpened():
            return _open_shoe(table, fact)
        case WagersLocked():
            return _lock_wagers(table, fact)
        case ChipsNoted(seats):
            return replace(table, chips_noted=seats), ()
        case WagerPlaced(wager):
            return replace(table, placed=place(table.placed, wager)), ()
        case WagerSeen():
            return _see_wager(table, fact), ()
        case WagersDiffered(seats):
            return stop(table, "wagers_differ", {"spot": table.rules.sensed or "", "seats": ", ".join(map(str, seats))})
        case SeatsTaken(seats):
            return replace(table, occupied=seats), ()
        case ActivesChosen(actives):
            return replace(table, actives=actives), ()
        case Called(called):
            return _call(table, called)
        case CommissionCollected():
            return _collect_commission(table, fact)
        case AwardStepped():
            return step_award(table, fact)
        case AwardRefused():
            return refuse_award(table, fact)
        case AwardAccepted(award):
            return accept_award(table, award)
        case PitKeyPinned(public_key) | PitKeyRotated(public_key):
            return replace(table, pit_key=public_key), ()
        case RecognitionKeyPinned():
            return _adopt_recognition(table, fact)
        case HitsReset(seat, by):
            return _reset_hits(table, seat, by)
        case HandVoided(by, witness):
            return _void_hand(table, by, witness)
        case CardNamed():
            return _name_card(table, fact)
        case CardsCounted(left) if table.fault is None:
            return _note_count(table, left)
        case CardsCounted(left, by):
            return _go_on_with_count(table, left, by)
        case FaultCleared(by, witness):
            return _clear(table, by if witness is None else f"{by}, {witness}")
        case OddCardTold():
            return _change_odd_card(table, fact)
        case RoundCorrected() | SeatsRoundCorrected():
            return correct(table, fact)
        case ShoeClosed(by):
            closed, event = close_shoe(table, "closed_early", by)
            return closed, (event,)
        case LampsTested() | InputsTested():
            return table, ()  # for lamps and buttons alone; it is journalled because somebody did it
        case HitTested(seat, by):
            return table, (events.TestHit(shoe_number(table), None, seat, by),)
        case PublishRefused(seq, reason_code):
            return table, (alarm(table, "publish_refused", {"seq": seq, "reason_code": reason_code}),)
        case ProgramMeasured():
            return replace(table, measured=fact), _changes(table, fact)
        case HitUnheard(seq):
            return table, (alarm(table, "hit_unheard", {"seq": seq}),)
        case OutboxFilling(waiting, most):
            return table, (alarm(table, "unacknowledged_many", {"waiting": waiting, "most": most}),)
        case JournalLarge(bytes_, most_bytes):
            return table, (alarm(table, "journal_large", {"bytes": bytes_, "most_bytes": most_bytes}),)
        case ArchiveFailed(error):
            return table, (alarm(table, "archive_failed", {"error": error}),)
        case LevelsNoted(levels):
            return _note_levels(table, levels), ()
        case ClientIdTaken():
            return table, (alarm(table, "client_id_taken", {}),)
        case PitKeyDiffers(offered, pinned):
            return table, (alarm(table, "pit_key_differs", {"offered": offered, "pinned": pinned}),)
        case PitWordForged(topic):
            return table, (alarm(table, "pit_word_forged", {"topic": topic}),)
        case RecognitionKeyDue():
            return table, (alarm(table, "recognition_key_due", {}),)
        case WagerWordForged(why):
            return table, (alarm(table, "wager_word_forged", {"why": why}),)
        case WagerWordUnfit(why):
            return table, (alarm(table, "wager_word_unfit", {"why": why}),)
        case ByPerson():
            raise AssertionError(f"step does not say what {fact} does")
        case _:
            return _it_came(table, fact)


def _changes(table: Table, now: ProgramMeasured) -> tuple[Event, ...]:
    """An alarm for each of program and configuration that is not what ran before on this journal."""
    before, made = table.measured, []
    if before is not None and (before.version, before.program) != (now.version, now.program):
        versions = {"version_before": before.version, "version": now.version}
        made.append(alarm(table, "program_changed", {**versions, "before": before.program, "now": now.program}))
    if before is not None and before.configuration != now.configuration:
        changed = {"before": before.configuration, "now": now.configuration}
        made.append(alarm(table, "configuration_changed", {**changed}))
    return tuple(made)


# What comes by itself: the shoe's reports and what the controller notices.


def _it_came(table: Table, fact: ShoeFact | OwnFact) -> Stepped:
    """Hold the fact while a fault stands; otherwise believe it. The number of its report is checked in both cases."""
    held = Held(fact)
    report: Report | None = getattr(fact, "report", None)
    if isinstance(fact, ShoeUnheard):  # the shoe's numbers prove nothing across that time
        since = table.last_report or table.unheard_since
        table = replace(table, last_report=None, unheard_since=since, seq_counts_zero=False)
    elif report is not None:
        since = table.unheard_since
        in_doubt = since == report and report.seq is not None
        held = Held(fact, after_gap=_reports_missed(table, fact, report), in_doubt=in_doubt)
        counts_zero = _counts_zero(table, fact, report)
        table = replace(table, last_report=report, unheard_since=None, seq_counts_zero=counts_zero)
    if table.fault is not None:
        if isinstance(fact, ShoeUnplugged | ShoeUnheard) and _answers_for(fact, _latest(table.fault, table.held)):
            return table, ()  # nothing came in between: a single look at the felt answers both
        return replace(table, held=table.held.then(held)), ()
    return _believe(table, held)


def _latest(fault: StandingFault, held: Waiting) -> ShoeFact | OwnFact | None:
    """The last of all facts that wait for a person's word; None where the fault came without such a fact."""
    if held:
        return held[-1].fact
    if fault.code == "shoe_unplugged":
        return ShoeUnplugged()
    return fault.raised_by.fact if fault.raised_by else None


def _answers_for(fact: ShoeUnplugged | ShoeUnheard, latest: ShoeFact | OwnFact | None) -> bool:
    """Whether a person's word on the fact before answers for this one too: a count also answers for a lost line."""
    return isinstance(latest, ShoeUnheard) or (isinstance(latest, ShoeUnplugged) and isinstance(fact, ShoeUnplugged))


def _counts_zero(table: Table, fact: Fact, report: Report) -> bool:
    """Whether the shoe has gone on with 0 after 9 at least once since it was switched on.

    A 0 at another place proves nothing: a shoe that goes on with 1 may begin with 0.
    """
    if isinstance(fact, ShoePoweredUp):
        return False
    after_nine = table.last_report is not None and table.last_report.seq == 9
    return table.seq_counts_zero or (after_nine and report.seq == 0)


def _reports_missed(table: Table, fact: Fact, report: Report) -> bool:
    """Whether reports were lost before this report. After 9 some shoes go on with 0, others with 1.

    A shoe that has once gone on with 0 since it was switched on always does. If a 1 were accepted after its 9, one lost
    report in ten would stay unnoticed. A shoe without numbers never shows that a report was lost.
    """
    last = table.last_report
    if last is None or last.seq is None or report.seq is None or isinstance(fact, ShoePoweredUp):
        return False
    if last.seq == 9:
        return report.seq != 0 and (report.seq != 1 or table.seq_counts_zero)
    return report.seq != last.seq + 1


def gap_would_show(table: Table) -> bool:
    """Whether the number of the next report will show if a report just before it is missed.

    It will not where there is no number to count on from, nor after a 9 while the shoe may go on with 0 or with 1.
    """
    last = table.last_report
    return last is not None and (last.seq != 9 or table.seq_counts_zero)


def _believe(table: Table, held: Held) -> Stepped:
    """What the fact does while no fault stands."""
    fact = held.fact
    if (held.after_gap or held.in_doubt) and not isinstance(table.phase, NoShoe | ShoeEnded):
        return stop(table, "reports_missed", {}, raised_by=_without_doubt(held))
    match fact:
        case CardDrawn() | CardKept():
            return _card_came(table, held, fact)
        case CardDrawnOutsideGame(shoe_mode):
            return _legally(table, Row.CARD_OUTSIDE_GAME, held, {"shoe_mode": shoe_mode})
        case CutCardDrawn():
            return _legally(table, Row.CUT_CARD, held)
        case BurnCountReported():
            return _legally(table, Row.BURN_COUNT, held)
        case ShoeResultReported(result) if result is not ShoeResult.FORCE_QUIT and isinstance(following(table), Reveal):
            return _wait_for_reveal(table, held)
        case ShoeResultReported(result) if result is not ShoeResult.FORCE_QUIT and kept_make_a_hand(table):
            return replace(table, kept_results=(*table.kept_results, Held(fact))), ()
        case ShoeResultReported(ShoeResult.FORCE_QUIT):
            return _legally(replace(table, burned_in_shoes_hand=False), Row.SHOE_FORCE_QUIT, held)
        case ShoeResultReported():
            return _legally(table, Row.SHOE_RESULT, held)
        case ShoeErrorRaised(error):
            # An overdraw says that the round takes no more cards, which may still lie face down.
            return _legally(table, Row.SHOE_ERROR, held, {} if next_is_secret(table) else {"error": error.value})
        case ShoePoweredUp():
            details = compared(table) if _is_counted_after_power_up(table) else {}
            return _legally(table, Row.SHOE_POWERED_UP, held, details)
        case ShoeUnplugged():
            return _legally(table, Row.SHOE_UNPLUGGED, held)
        case ShoeUnheard():
            return _legally(table, Row.SHOE_UNHEARD, held, _unheard(table, fact))
        case ShoeErrorCancelled() | ShoeStoodBy() | ShoeLockReported() | ShoePresetChanged():
            return table, ()  # the shoe reports on itself, and no round depends on that
        case JournalFoundBehindPit(acked_seq, head_seq, chain_differs, at):
            details = {"acked_seq": acked_seq, "head_seq": head_seq, "chain": "differs" if chain_differs else "unknown"}
            return stop(table, "journal_behind_pit", details | ({"acked_at": at} if at else {}))
        case PitTookBack():
            return table, ()  # about a fault that has been left
        case OutboxFull(waiting, most):
            return stop(table, "outbox_full", {"waiting": waiting, "most": most})
        case CommitFailed(error):
            return stop(table, "journal_failed", {"error": error})
        case JournalGone(file, found, kept_as):
            kept = {} if kept_as is None else {"kept_as": kept_as}
            return stop(table, "journal_gone", {"file": file, "found": found, **kept})
        case JournalAltered(seq):
            return stop(table, "journal_altered", {"event": seq})
        case ReplayDiffered(row):
            return stop(table, "replay_differs", {"journal_row": row})
        case StepFailed(error):
            return stop(table, "internal", {"error": error})
        case _:
            raise AssertionError(f"{fact} is an act and is never held")


def _without_doubt(held: Held) -> Held:
    """The fact as it waits for a person's word, which decides the doubt."""
    return replace(held, after_gap=False, in_doubt=False)


def _is_counted_after_power_up(table: Table) -> bool:
    """Whether cards that were drawn while the shoe was off are counted. Until procedure 2 a person only cleared it."""
    return table.rules.procedure > 2  # the number of a procedure


def _legally(table: Table, row: Row, held: Held, details: dict[str, str | int] | None = None) -> Stepped:
    """Do what the table of legality says about the report in this phase."""
    match legality(row, table.phase, table.rules.procedure):
        case RaiseFault(code):
            waits = row in (Row.CARD, Row.CARD_KEPT, Row.CARD_OUTSIDE_GAME, Row.SHOE_UNHEARD)
            waits = waits or (row is Row.SHOE_POWERED_UP and _is_counted_after_power_up(table))
            return stop(table, code, details or {}, raised_by=_without_doubt(held) if waits else None)
        case Move() as move:
            return _move(table, move, held)


def _move(table: Table, move: Move, held: Held) -> Stepped:
    fact = held.fact
    match move, fact:
        case Move.IGNORE, _:
            return table, ()
        case Move.NOTE_CUT_CARD, CutCardDrawn():
            return _note_cut_card(table)
        case Move.COMPARE_BURN_COUNT, BurnCountReported(count):
            return compare_burn_count(table, count)
        case Move.COMPARE_RESULT, ShoeResultReported():
            return compare_result(table, fact)
        case (_, CardDrawn(card=Card() as card) | CardKept(card=Card() as card)):
            taken = replace(table, shoe=shoe_life.without(open_shoe(table), table.rules.shoe, card))
            taken, told = doubts.card_came(taken, fact) if move is Move.DEAL_CARD else (taken, ())
            table, made = _place_card(taken, move, KnownCard(card, held.typed_by))
            return table, (*told, *made)
        case _:
            raise AssertionError(f"{move} does not fit {fact}")


# Cards.


def _card_came(table: Table, held: Held, fact: CardDrawn | CardKept) -> Stepped:
    """A card left the shoe. Check its phase, the shoe's opinion, its reading and its possibility; then place it."""
    waits = _without_doubt(held)
    row = Row.CARD if isinstance(fact, CardDrawn) else Row.CARD_KEPT
    if _announces_too_soon(table, fact):
        owed = table.commission_owed
        seats = ", ".join(map(str, owed))
        return stop(table, "commission_owed", {"seats": seats, "owed_cents": sum(owed.values())}, raised_by=waits)
    if isinstance(legality(row, table.phase, table.rules.procedure), RaiseFault):
        return _legally(table, row, held)
    step = following(table)
    if isinstance(fact, CardDrawn) and not isinstance(step, Reveal) and (code := differing_target(table, fact)):
        return stop(table, code, both_opinions(table, fact), raised_by=waits)
    if fact.card is None:
        return stop(table, "unreadable_card", {"where": where(table)}, raised_by=waits)
    if not shoe_life.can_still_come(open_shoe(table), table.rules.shoe, fact.card):
        return _impossible_card(table, row, waits, fact.card)
    match fact, step:
        case _, Reveal() if isinstance(fact, CardDrawn) or table.rules.procedure > 1:
            return _wait_for_reveal(table, waits)
        case CardDrawn(), Choose(_, seat):
            return stop(table, "choice_due", {"seat": seat}, raised_by=waits)
        case _:
            return _legally(table, row, held)


def _impossible_card(table: Table, row: Row, waits: Held, card: Card) -> Stepped:
    details: dict[str, str | int] = {"where": where(table)}
    if not comes_face_down(table, row):
        details["card"] = str(card)
    stopped, fault = stop(table, "impossible_card", details, raised_by=waits)
    return stopped, (alarm(table, "impossible_card", details), *fault)


def _announces_too_soon(table: Table, fact: CardDrawn | CardKept) -> bool:
    """Whether the shoe says that a new shoe has begun, while commission is owed that must be collected before."""
    return begins_shoe(fact) and isinstance(table.phase, ShoeEnded) and table.owes_before_new_shoe


def _wait_for_reveal(table: Table, held: Held) -> Stepped:
    """A fact came while cards lie face down that must be turned up. It waits, for its effect would tell them."""
    assert isinstance(table.phase, HandInPlay)
    return replace(table, phase=replace(table.phase, ahead=table.phase.ahead.then(_without_doubt(held)))), ()


def _place_card(table: Table, move: Move, known: KnownCard) -> Stepped:
    """Put a card that has left the shoe where it belongs."""
    match move:
        case Move.TURN_FIRST_CARD:
            return turn_first_card(table, known.card)
        case Move.BURN_CARD:
            return burn(table)
        case Move.TAKE_CARD_IN_ERROR:
            table, made = take_cards_in_error(table, (known,))
            table, told = _release_kept_results(table)
            return table, (*made, *told)
        case Move.KEEP_CARD:
            return replace(table, kept=(*table.kept, known)), ()
        case Move.DEAL_CARD:
            return deal(table, known)
        case _:
            raise AssertionError(f"{move} places no card")


def _note_cut_card(table: Table) -> Stepped:
    shoe = open_shoe(table)
    if shoe.last_hand is not None:
        return stop(table, "second_cut_card", {})
    in_wagered_hand = isinstance(table.phase, HandInPlay) and table.phase.wagers is not None
    left = known_left(table)
    assert left is not None, "a shoe is open here"
    shoe = replace(shoe_life.after_cut_card(shoe, table.rules.shoe, in_wagered_hand), left_at_cut_card=left)
    return doubts.cut_card_came(replace(table, shoe=shoe), left)


# Acts.


def _open_shoe(table: Table, fact: ShoeOpened) -> Stepped:
    """A new shoe. A shoe that is still open is closed early, and a standing fault is left.

    The new state is made from the fact alone, so that a replay may begin here.
    """
    made: tuple[Event, ...] = ()
    if table.shoe is not None and not isinstance(table.phase, ShoeEnded):
        table, closed = close_shoe(table, "closed_early", fact.by)
        made = (closed,)
    if table.fault is not None:
        made = (*made, cleared(table, fact.by, Exit.NEW_SHOE))
    rules = fact.rules
    event = events.ShoeOpened(
        shoe=fact.shoe,
        round=None,
        by=fact.by,
        game=rules.game,
        decks=rules.shoe.decks,
        cut_card_from_end=rules.shoe.cut_card_from_end,
        seats=tuple(events.SeatK9(seat.number, str(seat.k9) if seat.k9 else None) for seat in rules.seats),
        config_digest=fact.config_digest,
        version=fact.version,
    )
    opened = Table(
        rules,
        FirstCardDue(),
        Shoe(fact.shoe),
        shoes_opened=fact.shoe,
        last_report=fact.last_report,
        seq_counts_zero=fact.seq_counts_zero,
        placed=fact.placed,
        occupied=fact.occupied,
        actives=fact.actives,
        commission_owed=fact.commission_owed,
        hits=fact.hits,
        award_seq=fact.award_seq,
        disputed=fact.disputed,
        pit_key=fact.pit_key,
        measured=fact.measured,
        recognition_key=fact.recognition_key,
        wager_seq=fact.wager_seq,
    )
    made = (*made, event)
    for carried in fact.carried:
        opened, more = _it_came(opened, carried)
        made = (*made, *more)
    return opened, made


def _note_levels(table: Table, levels: dict[str, int]) -> Table:
    """Note what the meters show now, for the round that plays for them."""
    phase = table.phase
    assert isinstance(phase, Locked | HandInPlay), "levels are noted for a round"
    assert phase.wagers is not None, "this round has wagers"
    return replace(table, phase=replace(phase, wagers=replace(phase.wagers, levels=levels)))


def _lock_wagers(table: Table, fact: WagersLocked) -> Stepped:
    """Wagers are locked. The round gets its number. Its first cards are those that were kept for it."""
    shoe = open_shoe(table)
    shoe = replace(shoe, rounds=shoe.rounds + 1)
    wagers = Wagers(fact.progressive, fact.wagers, fact.refused, fact.levels)
    seating = Seating(fact.in_play, table.actives if table.rules.play.roles_play else None)
    table = doubts.locked(table, kept=bool(table.kept))
    kept, open_hits = table.kept, tuple(hit for hit in table.hits if hit.meter is not None)
    table = replace(
        table, phase=Locked(wagers, seating), shoe=shoe, kept=(), placed=(), last_round=None, hits=open_hits
    )
    made: tuple[Event, ...] = (
        events.WagersLocked(
            shoe=shoe.number,
            round=shoe.rounds,
            by=fact.by,
            progressive=paying.progressive_locked(table.rules, wagers),
            wagers=paying.wagers_shown(wagers.placed),
            refused=paying.refused_shown(wagers.refused),
            in_play=seating.in_play,
            actives=paying.actives_shown(seating.actives),
        ),
        *_chips_moved(table, fact),
        *_chips_differ(table, fact),
    )
    table, dealt = deal_kept(table, kept)
    table, told = _release_kept_results(table)
    return table, (*made, *dealt, *told)


def _chips_moved(table: Table, fact: WagersLocked) -> tuple[Event, ...]:
    """An alarm where chips were put down or taken back after a card of the round had left the shoe."""
    if not fact.chips_added and not fact.chips_taken:
        return ()
    seats = {"added": fact.chips_added, "taken": fact.chips_taken}
    details = {name: ", ".join(map(str, at)) or "-" for name, at in seats.items()}
    return (alarm(table, "chips_moved", {"spot": table.rules.sensed or "", **details}),)


def _chips_differ(table: Table, fact: WagersLocked) -> tuple[Event, ...]:
    """An alarm where a first card locked the wagers while a sensor and bet recognition disagreed.

    A dealer who wants to lock then stops the table: fault `wagers_differ`.
    """
    if not fact.differ:
        return ()
    details = {"spot": table.rules.sensed or "", "seats": ", ".join(map(str, fact.differ))}
    return (alarm(table, "wagers_differ", {**details}),)


def _call(table: Table, called: Call) -> Stepped:
    """Play the dealer's call, and then believe the facts that came ahead of the call."""
    assert isinstance(table.phase, HandInPlay), "a call is inside a round"
    ahead = table.phase.ahead
    table, made = call(replace(table, phase=replace(table.phase, ahead=Waiting())), called)
    table, released = _release(table, ahead)
    return table, (*made, *released)


def _reset_hits(table: Table, seat: int | None, by: str) -> Stepped:
    """The hits of a seat, or all hits, are handled."""
    seen_to = {hit.seat for hit in table.hits if seat in (None, hit.seat)}
    event = events.HitReset(shoe_number(table), table.round_number, tuple(sorted(seen_to)), by)
    return replace(table, hits=tuple(hit for hit in table.hits if hit.seat not in seen_to)), (event,)


def _see_wager(table: Table, fact: WagerSeen) -> Table:
    """Bet recognition said what lies on a spot. The word's number counts, whether its wager was refused or not."""
    placed = place(table.placed, fact.wager) if fact.refusal is None else table.placed
    return replace(table, placed=placed, wager_seq=fact.seq)


def _adopt_recognition(table: Table, fact: RecognitionKeyPinned) -> Stepped:
    """Two people adopted another key. Its words are numbered anew, and what the former key says is nobody's word."""
    key = fingerprint(bytes.fromhex(fact.public_key))
    told = alarm(table, "recognition_key_adopted", {"key": key, "by": f"{fact.by}, {fact.witness}"})
    return replace(table, recognition_key=fact.public_key, wager_seq=0), (told,)


def _collect_commission(table: Table, fact: CommissionCollected) -> Stepped:
    """The seat has paid the commission that it owed."""
    event = events.Commission(shoe_number(table), table.round_number, fact.seat, fact.cents, fact.by)
    return replace(table, commission_owed=owing(table.commission_owed, {fact.seat: -fact.cents})), (event,)


def _void_hand(table: Table, by: str, witness: str | None) -> Stepped:
    """A supervisor ends the round. Wagers go back, and cards that a fault held are dead."""
    reason = table.fault.code if table.fault else "supervisor"
    made: tuple[Event, ...] = (void_event(table, by, reason, witness),)
    waiting: tuple[Held, ...] = ()
    not_needed: tuple[KnownCard, ...] = ()
    if isinstance(table.phase, HandInPlay):
        waiting, not_needed = tuple(table.phase.ahead), table.phase.kept
        if table.phase.wagers is not None:
            table = replace(table, shoe=shoe_life.after_void(open_shoe(table), table.rules.shoe))
    if table.fault is not None:
        made = (*made, cleared(table, by if witness is None else f"{by}, {witness}", Exit.VOID))
        waiting = (*waiting, *raiser(table.fault), *table.held)
    table = replace(table, fault=None, held=Waiting(), last_round=None, awaiting_result="voided")
    dead, others = _dead_with_the_hand(waiting)
    for held in dead:
        table = _out_of_shoe(table, held)
    table, after = after_hand(table, not_needed)
    if any(held.after_gap for held in dead) and not isinstance(table.phase, ShoeEnded):
        table, stopped = stop(table, "reports_missed", {})  # a cutting card may have been among them
        return replace(table, held=Waiting(others)), (*made, *after, *stopped)
    table, released = _release(table, others)
    return table, (*made, *after, *released)


def _dead_with_the_hand(waiting: tuple[Held, ...]) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """The waiting facts of a void round, and the others: from a new shoe's first card on, none is of that round."""
    is_new_shoes = [begins_shoe(held.fact) for held in waiting]
    ends = is_new_shoes.index(True) if True in is_new_shoes else len(waiting)
    dead = tuple(filter(is_card, waiting[:ends]))
    return dead, (*filterfalse(is_card, waiting[:ends]), *waiting[ends:])


def _out_of_shoe(table: Table, held: Held) -> Table:
    """The waiting card, named or not, counts as gone from the shoe and lies in no hand."""
    card = held.fact.card if isinstance(held.fact, CardDrawn | CardKept) else None
    return replace(table, shoe=shoe_life.without(open_shoe(table), table.rules.shoe, card))


def _change_odd_card(table: Table, told: OddCardTold) -> Stepped:
    """The simulated hand never began. Its one card becomes the next round's first card, or is burned."""
    assert isinstance(table.phase, HandInPlay), "the odd card's hand is in play"
    shoe = open_shoe(table)
    typed = table.phase.typed
    cards = tuple(
        typed.get(drawn, KnownCard(card))
        for drawn, card in enumerate((play for play in table.phase.plays if isinstance(play, Card)), 1)
    )
    kept = cards if told.fate is OddCardFate.NEXT_CARD else ()
    made = odd_card_events(table, told.fate.value, 1, told.by, told.witness)
    table = table if kept else burned_in_error(table)
    shoe = replace(shoe, rounds=shoe.rounds - 1, unseen_cards=shoe.unseen_cards + 1)
    table, after = after_hand(replace(table, shoe=shoe), kept)
    return table, (*made, *after)


def _name_card(table: Table, named: CardNamed) -> Stepped:
    """A supervisor names the card that the shoe could not read, or a card that was missed."""
    fault, later = table.fault, table.held
    assert fault is not None
    typed_by = tuple(name for name in (named.by, named.witness) if name is not None)
    by = ", ".join(typed_by)
    freed = replace(table, fault=None, held=Waiting())
    if FAULTS[fault.code].card_ends_it and fault.raised_by is not None:
        typed = Held(_with_card(fault.raised_by.fact, named.card), typed_by=typed_by)
        table, released = _release(freed, (typed, *later))
        return table, (cleared(freed, by, Exit.CARD, fault.code), *released)
    table, made = _believe(freed, Held(CardDrawn(named.card), typed_by=typed_by))
    if table.fault is None:
        return replace(table, fault=fault, held=later), made
    gone = cleared(freed, by, Exit.CARD, fault.code)  # the named card raised a fault of its own
    return replace(table, held=Waiting((*table.held, *raiser(fault), *later))), (gone, *made)


def _with_card(fact: ShoeFact | OwnFact, card: Card) -> CardDrawn | CardKept:
    """The report as it would be if the shoe had read the card."""
    if isinstance(fact, CardDrawn | CardKept):
        return replace(fact, card=card)
    return CardDrawn(card)


def _clear(table: Table, by: str) -> Stepped:
    """A supervisor lets the table go on."""
    fault = table.fault
    assert fault is not None
    later: tuple[Held, ...] = tuple(table.held)
    made: tuple[Event, ...] = (cleared(table, by, Exit.CLEAR),)
    table = replace(table, fault=None, held=Waiting())
    waiting = raiser(fault)
    match FAULTS[fault.code].clearing:
        case Clearing.PLAY:
            later = (*waiting, *later)
        case Clearing.PLAY_AS_OURS:
            later = (*(replace(held, fact=_without_opinion(held.fact)) for held in waiting), *later)
        case Clearing.BURN:
            for held in waiting:
                table, _ = burn(_out_of_shoe(table, held))
        case Clearing.HIT:
            table, hit = _hit_or_burn(table, waiting)
            made = (*made, *hit)
        case Clearing.DROP:
            pass
        case never:
            assert_never(never)
    table, released = _release(table, later)
    return table, (*made, *released)


def _go_on_with_count(table: Table, left: int, by: str) -> Stepped:
    """A supervisor counted the cards that are left. Cards of which nothing was heard are gone, without a name.

    The held facts are believed then. The table can count one card too many, and never two: a single held report may be
    a late copy of another report, and so stand for no card.
    """
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    unheard, waiting = known - left, tuple(table.held)
    made: tuple[Event, ...] = (cleared(table, by, Exit.COUNT, cards_unheard=max(0, unheard)),)
    if unheard < 0:
        waiting = tuple(held for held in waiting if not (held.in_doubt and is_card(held)))
    answered = (ShoeUnheard, ShoeUnplugged) + ((ShoePoweredUp,) if _is_counted_after_power_up(table) else ())
    waiting = tuple(held for held in waiting if not isinstance(held.fact, answered))  # counted since
    if unheard == 0:
        table, _ = doubts.counted(table, left)
    table = replace(table, fault=None, held=Waiting())
    if unheard > 0:
        table, after = _lose_unheard(table, unheard)
        made = (*made, *after)
    table, released = _release(table, waiting)
    return table, (*made, *released)


def _note_count(table: Table, left: int) -> Stepped:
    """A supervisor counted the cards although the table goes on. Cards that are fewer than the table's are gone."""
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    table, told = doubts.counted(table, left)
    if left >= known:
        return table, told
    table, after = _lose_unheard(table, known - left)
    return table, (*told, *after)


def _lose_unheard(table: Table, cards: int) -> Stepped:
    """So many cards left the shoe unheard. They were burned, or were cards of rounds that this table did not deal."""
    shoe = open_shoe(table)
    table = replace(table, shoe=replace(shoe, unnamed=shoe.unnamed + cards))
    if isinstance(table.phase, Burning):
        return burn(table, cards)
    if isinstance(table.phase, ShoeEnded):
        return table, ()
    assert isinstance(table.phase, WagersOpen), "such a count is refused in any other phase"
    return after_hand(replace(table, last_round=None, awaiting_result="voided"))


def _unheard(table: Table, fact: ShoeUnheard) -> dict[str, str | int]:
    """How long the shoe was not heard, and what a person compares with the felt; no face-down card."""
    details: dict[str, str | int] = {}
    if fact.unheard_ms is not None:
        details["unheard_s"] = -(-fact.unheard_ms // 1000)
    elif fact.last_heard_at is not None:
        details["last_heard_at"] = fact.last_heard_at
    return details | compared(table)


def _hit_or_burn(table: Table, waiting: tuple[Held, ...]) -> Stepped:
    """A card came before the seat's choice was called, so the seat hit. Where its rules give no card, burn the card."""
    step = following(table)
    if isinstance(step, Choose) and Call.HIT in step.options:
        table, made = call(table, Call.HIT)
        table, dealt = _release(table, waiting)
        return table, (*made, *dealt)
    for held in waiting:
        table = _out_of_shoe(table, held)
    return table, ()


def _without_opinion(fact: ShoeFact | OwnFact) -> ShoeFact | OwnFact:
    """The card without the shoe's opinion of its place."""
    return CardDrawn(fact.card, report=fact.report) if isinstance(fact, CardDrawn | CardKept) else fact


def _release_kept_results(table: Table) -> Stepped:
    """Believe the shoe's results of kept cards that are dealt now. Its results of cards still kept go on waiting."""
    return _release(replace(table, kept_results=()), table.kept_results)


def _release(table: Table, waiting: Sequence[Held]) -> Stepped:
    """Believe what was held, in the order it came, until the next fault holds the rest."""
    made: list[Event] = []
    if table.fault is not None and table.fault.code == "round_too_fast":  # the round ended with the call before
        return replace(table, held=Waiting((*table.held, *waiting))), ()
    for come, held in enumerate(waiting, 1):
        table, more = _believe(table, held)
        made += more
        if table.fault is not None:
            return replace(table, held=Waiting((*table.held, *waiting[come:]))), tuple(made)
    return table, tuple(made)
