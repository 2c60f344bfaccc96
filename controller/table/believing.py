"""How the table treats the reports of its shoe and of its own links. While a fault stands, a report is held. Once no
fault stands, the report takes effect on the table (in this module: the table "believes" the report)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from controller.contract.events import Event
from controller.rules.game.cards import Card
from controller.rules.game.play import Choose, Reveal
from controller.table import doubts, locking, shoe_life
from controller.table.dealing import (
    burn,
    compared,
    deal,
    following,
    take_cards_in_error,
    turn_first_card,
)
from controller.table.face_down import comes_face_down, kept_make_a_round, next_is_secret
from controller.table.facts import (
    BurnCountReported,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CutCardDrawn,
    Fact,
    JournalFoundBehindPit,
    OwnFact,
    PitTookBack,
    Report,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeFact,
    ShoeLockReported,
    ShoePoweredUp,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnheard,
    ShoeUnplugged,
    begins_shoe,
)
from controller.table.faults import raised_by
from controller.table.legality import Move, RaiseFault, Row, legality
from controller.table.referees import both_opinions, compare_burn_count, compare_result, differing_target, where
from controller.table.states import (
    Held,
    KnownCard,
    NoShoe,
    RoundInPlay,
    ShoeEnded,
    StandingFault,
    Table,
    WagersOpen,
    Waiting,
)
from controller.table.stops import Stepped, alarm, known_left, open_shoe, stop


def it_came(table: Table, fact: ShoeFact | OwnFact) -> Stepped:
    """Take in a fact that the shoe or the controller reported. While a fault stands, hold the fact; drop it if the
    person who looks at the felt for the fact before answers for this one too. Otherwise let the fact take effect. In
    both cases, check by the report's sequence number whether earlier reports were lost."""
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
    return believe(table, held)


def _latest(fault: StandingFault, held: Waiting) -> ShoeFact | OwnFact | None:
    """Return the last of the facts that wait for a person's decision. If facts are held, this is the last held fact. If
    no fact is held, it is the fact that raised the fault. Return None if no fact raised the fault."""
    if held:
        return held[-1].fact
    if fault.code == "shoe_unplugged":
        return ShoeUnplugged()
    return fault.raised_by.fact if fault.raised_by else None


def _answers_for(fact: ShoeUnplugged | ShoeUnheard, latest: ShoeFact | OwnFact | None) -> bool:
    """Return True if a person needs to look at the felt only once for two facts: `latest`, which already waits, and the
    new `fact`, which says that the shoe was not heard for a time. The result is True if both are `ShoeUnplugged`. It is
    True too if `latest` is `ShoeUnheard`, because the person then counts the cards, and that count covers a lost line.
    """
    return isinstance(latest, ShoeUnheard) or (isinstance(latest, ShoeUnplugged) and isinstance(fact, ShoeUnplugged))


def _counts_zero(table: Table, fact: Fact, report: Report) -> bool:
    """Tell whether the shoe's sequence numbers have gone from 9 to 0 at least once since the shoe was switched on.

    Only a 0 that follows a 9 counts. A shoe whose numbers go from 9 to 1 may still begin with 0.
    """
    if isinstance(fact, ShoePoweredUp):
        return False
    after_nine = table.last_report is not None and table.last_report.seq == 9
    return table.seq_counts_zero or (after_nine and report.seq == 0)


def _reports_missed(table: Table, fact: Fact, report: Report) -> bool:
    """Tell from this report's sequence number whether reports were lost just before it. After 9 some shoes go on with
    0, and others with 1.

    A shoe that went from 9 to 0 once since it was switched on always does so. If the table accepted a 1 after a 9 from
    such a shoe, one lost report in ten would stay unnoticed. For a shoe without sequence numbers the answer is always
    False.
    """
    last = table.last_report
    if last is None or last.seq is None or report.seq is None or isinstance(fact, ShoePoweredUp):
        return False
    if last.seq == 9:
        return report.seq != 0 and (report.seq != 1 or table.seq_counts_zero)
    return report.seq != last.seq + 1


def gap_would_show(table: Table) -> bool:
    """Tell whether the sequence number of the next report would show that the report before it was lost.

    The number cannot show the loss if there is no last report to count on from. (A shoe that sends no numbers is not
    looked at here: the answer is then True.) It cannot show the loss after a 9 either, unless the shoe is known to go
    on with 0, because the next number might be 0 or 1.
    """
    last = table.last_report
    return last is not None and (last.seq != 9 or table.seq_counts_zero)


def believe(table: Table, held: Held) -> Stepped:
    """Let a reported fact take effect on the table. The caller makes sure that no fault stands."""
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
        case ShoeResultReported(result) if result is not ShoeResult.FORCE_QUIT and kept_make_a_round(table):
            return replace(table, kept_results=(*table.kept_results, Held(fact))), ()
        case ShoeResultReported(ShoeResult.FORCE_QUIT):
            return _legally(replace(table, burned_in_shoes_round=False), Row.SHOE_FORCE_QUIT, held)
        case ShoeResultReported():
            return _legally(table, Row.SHOE_RESULT, held)
        case ShoeErrorRaised(error):
            # An overdraw says that the round takes no more cards, which may still lie face down.
            return _legally(table, Row.SHOE_ERROR, held, {} if next_is_secret(table) else {"error": error.value})
        case ShoePoweredUp():
            details = compared(table) if is_counted_after_power_up(table) else {}
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
        case _ if (raised := raised_by(fact)) is not None:
            return stop(table, *raised)
        case _:
            raise AssertionError(f"{fact} is an act and is never held")


def _without_doubt(held: Held) -> Held:
    """Return the held fact without its flags `after_gap` and `in_doubt`, because the person who decides on the fact
    settles these doubts too."""
    return replace(held, after_gap=False, in_doubt=False)


def is_counted_after_power_up(table: Table) -> bool:
    """Tell whether a person must count the cards after the shoe was switched on. Cards may have been drawn while the
    shoe was off. A shoe that was opened under procedure 1 or 2 (earlier versions of the rules) needs no count; a person
    only clears the fault."""
    return table.rules.procedure > 2  # the number of a procedure


def _legally(table: Table, row: Row, held: Held, details: dict[str, str | int] | None = None) -> Stepped:
    """Look up in the table of legality (`legality.py`) what this kind of report does in the present phase, and do it:
    make a move or raise a fault."""
    match legality(row, table.phase, table.rules.procedure):
        case RaiseFault(code):
            waits = row in (Row.CARD, Row.CARD_KEPT, Row.CARD_OUTSIDE_GAME, Row.SHOE_UNHEARD)
            waits = waits or (row is Row.SHOE_POWERED_UP and is_counted_after_power_up(table))
            return stop(table, code, details or {}, raised_by=_without_doubt(held) if waits else None)
        case move:
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


def _card_came(table: Table, held: Held, fact: CardDrawn | CardKept) -> Stepped:
    """Take in a card that left the shoe. First check the phase, then the place to which the shoe says that the card
    goes, then whether the shoe could read the card, and last whether the card is possible. If all is well, put the card
    where it belongs, or let the card wait while face-down cards must be turned up. A card that comes while a seat's
    choice is due stops the table."""
    waits = _without_doubt(held)
    row = Row.CARD if isinstance(fact, CardDrawn) else Row.CARD_KEPT
    if _announces_too_soon(table, fact):
        owed = table.commission_owed
        seats = ", ".join(map(str, owed))
        return stop(table, "commission_owed", {"seats": seats, "owed_cents": sum(owed.values())}, raised_by=waits)
    if isinstance(legality(row, table.phase, table.rules.procedure), RaiseFault):
        return _legally(table, row, held)
    if table.rules.lock_on == "first_card" and isinstance(table.phase, WagersOpen) and locking.why_no_round(table):
        return stop(table, "card_not_due", {}, raised_by=waits)
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
    """Return True if the shoe reports the first card of a new shoe while seats still owe commission that must be
    collected first."""
    return begins_shoe(fact) and isinstance(table.phase, ShoeEnded) and table.owes_before_new_shoe


def _wait_for_reveal(table: Table, held: Held) -> Stepped:
    """Let a fact wait until the face-down cards of the round are turned up, because the effect of the fact would reveal
    what these cards are."""
    assert isinstance(table.phase, RoundInPlay)
    return replace(table, phase=replace(table.phase, ahead=table.phase.ahead.then(_without_doubt(held)))), ()


def _place_card(table: Table, move: Move, known: KnownCard) -> Stepped:
    """Put a card that has left the shoe where `move` says: burn it, deal it, keep it for the next round, or treat it as
    drawn in error."""
    match move:
        case Move.TURN_FIRST_CARD:
            return turn_first_card(table, known.card)
        case Move.BURN_CARD:
            return burn(table)
        case Move.TAKE_CARD_IN_ERROR:
            table, made = take_cards_in_error(table, (known,))
            table, told = release_kept_results(table)
            return table, (*made, *told)
        case Move.KEEP_CARD:
            return replace(table, kept=(*table.kept, known)), ()
        case Move.DEAL_CARD:
            return deal(table, known)
        case _:
            raise AssertionError(f"{move} places no card")


def _note_cut_card(table: Table) -> Stepped:
    shoe = open_shoe(table)
    if shoe.final_round is not None:
        return stop(table, "second_cut_card", {})
    in_wagered_round = isinstance(table.phase, RoundInPlay) and table.phase.wagers is not None
    left = known_left(table)
    assert left is not None, "a shoe is open here"
    shoe = replace(shoe_life.after_cut_card(shoe, table.rules.shoe, in_wagered_round), left_at_cut_card=left)
    return doubts.cut_card_came(replace(table, shoe=shoe), left)


def _unheard(table: Table, fact: ShoeUnheard) -> dict[str, str | int]:
    """Return the details of the fault `shoe_unheard`: how long the shoe was not heard (or, if that is not known, when
    something was last heard), and the numbers that a person compares with the felt. The details never reveal a
    face-down card."""
    details: dict[str, str | int] = {}
    if fact.unheard_ms is not None:
        details["unheard_s"] = -(-fact.unheard_ms // 1000)
    elif fact.last_heard_at is not None:
        details["last_heard_at"] = fact.last_heard_at
    return details | compared(table)


def release_kept_results(table: Table) -> Stepped:
    """Let the waiting results of rounds take effect. The shoe reported such a result while the cards of its round were
    still kept for later. A result whose cards are still kept now goes on waiting."""
    return release(replace(table, kept_results=()), table.kept_results)


def release(table: Table, waiting: Sequence[Held]) -> Stepped:
    """Let the waiting facts take effect in the order in which they came. If one of them raises a fault, the facts after
    it are held again. If the fault `round_too_fast` stands already, all of them are held at once."""
    made: list[Event] = []
    if table.fault is not None and table.fault.code == "round_too_fast":  # the round ended with the call before
        return replace(table, held=Waiting((*table.held, *waiting))), ()
    for come, held in enumerate(waiting, 1):
        table, more = believe(table, held)
        made += more
        if table.fault is not None:
            return replace(table, held=Waiting((*table.held, *waiting[come:]))), tuple(made)
    return table, tuple(made)
