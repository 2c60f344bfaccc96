"""The function `step`, which computes how a fact changes the table. From the table's state and one fact it returns the
next state and the events that are sent.

`step(table, fact)` is pure and handles every kind of fact. For a report of the shoe it does what the table of legality
(`legality.py`) says for the fact and the phase. The moves themselves are in this module, in `dealing.py` and in
`referees.py`. While a fault stands, every report is held. An act that may clear the fault ends it. The held reports
then take effect in the order in which they came, and may raise the next fault.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract import events
from controller.contract.events import Event
from controller.contract.fingerprint import fingerprint
from controller.rules.game.cards import Card
from controller.rules.game.play import Call
from controller.rules.game.seating import Seating
from controller.rules.game.wagers import place
from controller.table import doubts, paying, shoe_life
from controller.table.acts.corrections import RoundCorrected, SeatsRoundCorrected
from controller.table.acts.itself import HitTested, InputsTested, LampsTested, TablePaused, TableResumed
from controller.table.acts.pit import AwardAccepted, PitKeyPinned
from controller.table.acts.recognition import RecognitionKeyPinned
from controller.table.acts.rounds import Called, OddCardTold, RoundVoided
from controller.table.acts.seats import ActivesChosen, CommissionCollected, HitsReset, SeatsTaken, WagerPlaced
from controller.table.acts.shoe import ShoeClosed, ShoeInspected, ShoeReconciled
from controller.table.acts.stopped import CardNamed, CardsCounted, FaultCleared
from controller.table.awards import accept_award, refuse_award, step_award
from controller.table.believing import it_came, release, release_kept_results
from controller.table.correcting import correct
from controller.table.dealing import call, close_shoe, deal_kept, owing
from controller.table.early_cards import with_chips_noted
from controller.table.facts import (
    ActRefused,
    ArchiveFailed,
    AwardRefused,
    AwardStepped,
    ByPerson,
    CabinetOpeningNoted,
    ChipsNoted,
    Fact,
    HitUnheard,
    JournalForked,
    JournalLarge,
    LevelsNoted,
    OutboxFilling,
    PitKeyDiffers,
    PitKeyRotated,
    PitWordForged,
    ProgramMeasured,
    ProgramStarted,
    PublishRefused,
    RecognitionKeyDue,
    ShoeOpened,
    WagersDiffered,
    WagerSeen,
    WagersLocked,
    WagerWordForged,
    WagerWordUnfit,
    WinHeard,
)
from controller.table.faults import Exit
from controller.table.going_on import change_odd_card, clear, go_on_with_count, name_card, note_count, void_round
from controller.table.journalled import ClientIdTaken, MeasureAnswered, PitLinkBack, PitLinkLost
from controller.table.states import (
    FirstCardDue,
    Locked,
    Paused,
    RoundInPlay,
    Shoe,
    ShoeEnded,
    Table,
    Wagers,
    WagersOpen,
    Waiting,
)
from controller.table.stops import Stepped, alarm, cleared, open_shoe, shoe_number, stop


def step(table: Table, fact: Fact) -> Stepped:
    """Return the table's state after `fact`, and the events that the fact causes, in the order of sending."""
    table, made = _step(table, fact)
    if isinstance(fact, ChipsNoted):  # the card for which they are noted is the next fact
        return table, made
    return with_chips_noted(table), made


def _step(table: Table, fact: Fact) -> Stepped:
    if (told := _only_told(fact)) is not None:
        return table, (alarm(table, *told),)
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
        case WinHeard(win, shown, word_seq):
            return replace(table, win_seq=win.seq), (
                events.WinTold(shoe_number(table), table.round_number, win, shown, word_seq),
            )
        case AwardAccepted(award):
            return accept_award(table, award)
        case PitKeyPinned(public_key) | PitKeyRotated(public_key):
            return replace(table, pit_key=public_key), ()
        case RecognitionKeyPinned():
            return _adopt_recognition(table, fact)
        case HitsReset(seat, by):
            return _reset_hits(table, seat, by)
        case RoundVoided(by, witness):
            return void_round(table, by, witness)
        case CardNamed():
            return name_card(table, fact)
        case CardsCounted(left) if table.fault is None:
            return note_count(table, left)
        case CardsCounted(left, by):
            return go_on_with_count(table, left, by)
        case FaultCleared(by, witness):
            return clear(table, by if witness is None else f"{by}, {witness}")
        case OddCardTold():
            return change_odd_card(table, fact)
        case RoundCorrected() | SeatsRoundCorrected():
            return correct(table, fact)
        case ShoeClosed(by):
            closed, event = close_shoe(table, "closed_early", by)
            return closed, (event,)
        case TablePaused():
            return replace(table, phase=Paused()), ()
        case TableResumed():
            return replace(table, phase=WagersOpen()), ()
        case ShoeReconciled(rest, by):
            return table, (_reconciled(table, rest, by),)
        case ShoeInspected(serial, firmware, by):
            return table, (events.ShoeInspected(shoe_number(table), None, serial, firmware, by),)
        case LampsTested() | InputsTested():
            return table, ()  # for lamps and buttons alone; it is journalled because somebody did it
        case HitTested(seat, by):
            return table, (events.TestHit(shoe_number(table), None, seat, by),)
        case ActRefused():
            return table, ()  # it is journalled because somebody tried it
        case ProgramStarted():
            return table, ()  # it parts the events of this run from those of every other
        case ProgramMeasured():
            return replace(table, measured=fact), _changes(table, fact)
        case MeasureAnswered():
            return replace(table, measure_asked_at=fact.at), (alarm(table, "program_measured", _measured(fact)),)
        case PitLinkLost(standing):
            return replace(table, pit_link_lost=True), (alarm(table, "pit_link_lost", {"standing": standing}),)
        case PitLinkBack(lost_s):
            return replace(table, pit_link_lost=False), (alarm(table, "pit_link_back", {"lost_s": lost_s}),)
        case LevelsNoted(levels):
            return _note_levels(table, levels), ()
        case ByPerson():
            raise AssertionError(f"step does not say what {fact} does")
        case _:
            return it_came(table, fact)


def _only_told(fact: Fact) -> tuple[str, dict[str, str | int]] | None:
    """Return the code and details of an alarm if the fact only raises an alarm and does not change the table. Otherwise
    return None."""
    match fact:
        case PublishRefused(seq, reason_code):
            return "publish_refused", {"seq": seq, "reason_code": reason_code}
        case HitUnheard(seq):
            return "hit_unheard", {"seq": seq}
        case OutboxFilling(waiting, most):
            return "unacknowledged_many", {"waiting": waiting, "most": most}
        case JournalLarge(bytes_, most_bytes):
            return "journal_large", {"bytes": bytes_, "most_bytes": most_bytes}
        case ArchiveFailed(error):
            return "archive_failed", {"error": error}
        case ClientIdTaken():
            return "client_id_taken", {}
        case JournalForked(size, rows):
            return "journal_forked", {"size": size, "rows": rows}
        case CabinetOpeningNoted():
            return "cabinet_opened", {}
        case PitKeyDiffers(offered, pinned):
            return "pit_key_differs", {"offered": offered, "pinned": pinned}
        case PitWordForged(topic):
            return "pit_word_forged", {"topic": topic}
        case RecognitionKeyDue():
            return "recognition_key_due", {}
        case WagerWordForged(why):
            return "wager_word_forged", {"why": why}
        case WagerWordUnfit(why):
            return "wager_word_unfit", {"why": why}
        case _:
            return None


def _reconciled(table: Table, rest: tuple[Card, ...], by: str) -> Event:
    """Return the event that compares all cards of an ended shoe (those that left it, and the cards `rest` that are
    still in it) with the cards of its decks."""
    shoe, rules = open_shoe(table), table.rules.shoe
    missing, extra = shoe_life.reconciled(shoe, rules, rest)
    gone = sum(shoe.gone) + shoe.unnamed
    complete = not extra and len(missing) == shoe.unnamed
    cards = 52 * rules.decks, gone, shoe.burned, shoe.unnamed, len(rest)
    return events.ShoeReconciled(shoe.number, None, *cards, missing, extra, complete, by)


def _measured(fact: MeasureAnswered) -> dict[str, str | int]:
    """Return the details of the alarm that tells the pit which program and configuration the table runs."""
    return {
        "nonce": fact.nonce,
        "version": fact.version,
        "now": fact.program,
        "configuration": fact.configuration,
        "proof": fact.proof,
    }


def _changes(table: Table, now: ProgramMeasured) -> tuple[Event, ...]:
    """Return the alarms about the program and the configuration that the table now runs. One alarm says that the
    program differs from the one that ran on this journal before. A second alarm says the same of the configuration. A
    third alarm says that the house has not approved the program; it is raised once for each such program."""
    before, made = table.measured, []
    if before is not None and (before.version, before.program) != (now.version, now.program):
        versions = {"version_before": before.version, "version": now.version}
        made.append(alarm(table, "program_changed", {**versions, "before": before.program, "now": now.program}))
    if before is not None and before.configuration != now.configuration:
        changed = {"before": before.configuration, "now": now.configuration}
        made.append(alarm(table, "configuration_changed", {**changed}))
    told = before is not None and before.approved is False and before.program == now.program
    if now.approved is False and not told:
        made.append(alarm(table, "program_not_approved", {"now": now.program}))
    return tuple(made)


def _open_shoe(table: Table, fact: ShoeOpened) -> Stepped:
    """Open a new shoe. If a shoe is still open, it is closed early. If a fault stands, it ends.

    The new state is made from the fact alone, so that a replay of the journal may begin at this fact.
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
    opened = _opened(fact)
    made = (*made, event)
    for carried in fact.carried:
        opened, more = it_came(opened, carried)
        made = (*made, *more)
    return opened, made


def _opened(fact: ShoeOpened) -> Table:
    """Return the table with a new shoe, made only from the fact that opens the shoe."""
    return Table(
        fact.rules,
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
        win_seq=fact.win_seq,
        measure_asked_at=fact.measure_asked_at,
        pit_link_lost=fact.pit_link_lost,
    )


def _note_levels(table: Table, levels: dict[str, int]) -> Table:
    """Record the amounts that the progressive meters show now, for the round that plays for these meters."""
    phase = table.phase
    assert isinstance(phase, Locked | RoundInPlay), "levels are noted for a round"
    assert phase.wagers is not None, "this round has wagers"
    return replace(table, phase=replace(phase, wagers=replace(phase.wagers, levels=levels)))


def _lock_wagers(table: Table, fact: WagersLocked) -> Stepped:
    """Lock the wagers and give the round its number. Cards that were kept for the round are dealt at once."""
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
            told=_told(fact),
        ),
        *_chips_moved(table, fact),
        *_chips_differ(table, fact),
    )
    table, dealt = deal_kept(table, kept)
    table, told = release_kept_results(table)
    return table, (*made, *dealt, *told)


def _told(fact: WagersLocked) -> events.Told | None:
    """Return the pit's signed message that gave the meters shown at the lock, in the form that events use. Return None
    if there was no such message."""
    if (told := fact.told) is None:
        return None
    return events.Told(events.SaidMeters(told.seq, told.at, fact.levels, told.win, told.signature), told.ago_ms)


def _chips_moved(table: Table, fact: WagersLocked) -> tuple[Event, ...]:
    """Return an alarm if chips were put down or taken back after a card of the round had left the shoe. Otherwise
    return an empty tuple."""
    if not fact.chips_added and not fact.chips_taken:
        return ()
    seats = {"added": fact.chips_added, "taken": fact.chips_taken}
    details = {name: ", ".join(map(str, at)) or "-" for name, at in seats.items()}
    return (alarm(table, "chips_moved", {"spot": table.rules.sensed or "", **details}),)


def _chips_differ(table: Table, fact: WagersLocked) -> tuple[Event, ...]:
    """Return an alarm if the round's first card locked the wagers while a sensor and bet recognition disagreed.
    Otherwise return an empty tuple.

    If the dealer, and not a card, locks the wagers while they disagree, the table stops with the fault `wagers_differ`
    instead.
    """
    if not fact.differ:
        return ()
    details = {"spot": table.rules.sensed or "", "seats": ", ".join(map(str, fact.differ))}
    return (alarm(table, "wagers_differ", {**details}),)


def _call(table: Table, called: Call) -> Stepped:
    """Apply the dealer's call to the round. Then let the facts take effect that came before the call and had to wait
    for it."""
    assert isinstance(table.phase, RoundInPlay), "a call is inside a round"
    ahead = table.phase.ahead
    table, made = call(replace(table, phase=replace(table.phase, ahead=Waiting())), called)
    table, released = release(table, ahead)
    return table, (*made, *released)


def _reset_hits(table: Table, seat: int | None, by: str) -> Stepped:
    """Remove the hits of a seat, or all hits if `seat` is None, because a supervisor has handled them."""
    seen_to = {hit.seat for hit in table.hits if seat in (None, hit.seat)}
    event = events.HitReset(shoe_number(table), table.round_number, tuple(sorted(seen_to)), by)
    return replace(table, hits=tuple(hit for hit in table.hits if hit.seat not in seen_to)), (event,)


def _see_wager(table: Table, fact: WagerSeen) -> Table:
    """Record the wager that bet recognition saw, unless it was refused. Record the message's number in both cases."""
    placed = place(table.placed, fact.wager) if fact.refusal is None else table.placed
    return replace(table, placed=placed, wager_seq=fact.seq)


def _adopt_recognition(table: Table, fact: RecognitionKeyPinned) -> Stepped:
    """Adopt the public key of bet recognition that two people accepted. The numbers of messages signed with the new key
    are not compared with the numbers of the former key's messages. Messages signed with the former key are no longer
    believed."""
    key = fingerprint(bytes.fromhex(fact.public_key))
    told = alarm(table, "recognition_key_adopted", {"key": key, "by": f"{fact.by}, {fact.witness}"})
    return replace(table, recognition_key=fact.public_key, wager_seq=0), (told,)


def _collect_commission(table: Table, fact: CommissionCollected) -> Stepped:
    """Subtract the commission that a seat has paid from what the seat owes."""
    event = events.Commission(shoe_number(table), table.round_number, fact.seat, fact.cents, fact.by)
    return replace(table, commission_owed=owing(table.commission_owed, {fact.seat: -fact.cents})), (event,)
