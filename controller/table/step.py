"""The table's one step: a fact happened, so this is the state now and these are the events it makes.

`step(table, fact)` is pure and total. It does what `legality.py` says for the fact and the phase; the functions below
are its moves. While a fault stands, what comes by itself is held, and an act that is an exit leaves the fault: what
was held is then believed in the order it came, which may raise the next fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from controller.contract import events
from controller.contract.events import Event
from controller.game.baccarat import Done, Draw, Hand, as_it_lies, next_step
from controller.game.cards import Card, total
from controller.game.dragon_bonus import dragon_bonus
from controller.game.royal9 import Award, judge
from controller.table import shoe_life
from controller.table.facts import (
    BurnCountReported,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CardNamed,
    CommitFailed,
    CutCardDrawn,
    Fact,
    FaultCleared,
    HandVoided,
    HitUnheard,
    JournalFoundBehindPit,
    LampsTested,
    OddCardFate,
    OddCardTold,
    OwnFact,
    PublishRefused,
    ReplayDiffered,
    Report,
    RoundCorrected,
    ShoeClosed,
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
    ShoeUnplugged,
    StepFailed,
    Target,
    WagersLocked,
)
from controller.table.faults import ALARMS, FAULTS, Clearing, Exit
from controller.table.legality import Move, RaiseFault, Refuse, Row, legality
from controller.table.states import (
    Burning,
    FinishedRound,
    FirstCardDue,
    HandInPlay,
    Held,
    Locked,
    NoShoe,
    RoyalHit,
    Shoe,
    ShoeEnded,
    StandingFault,
    Table,
    Wagers,
    WagersOpen,
)

Stepped = tuple[Table, tuple[Event, ...]]

_OF_THE_CONTROLLER = (JournalFoundBehindPit, CommitFailed, ReplayDiffered, StepFailed)


def step(table: Table, fact: Fact) -> Stepped:
    """The table after `fact`, and the events it makes, in the order they are sent."""
    match fact:
        case ShoeOpened():
            return _open_shoe(table, fact)
        case WagersLocked():
            return _lock_wagers(table, fact)
        case HandVoided(by):
            return _void_hand(table, by)
        case CardNamed(card, by):
            return _name_card(table, card, by)
        case FaultCleared(by):
            return _clear(table, by)
        case OddCardTold(fate):
            return _change_odd_card(table, fate)
        case RoundCorrected():
            return _correct_round(table, fact)
        case ShoeClosed(by):
            closed, event = _close_shoe(table, "closed_early", by)
            return closed, (event,)
        case LampsTested():
            return table, ()  # for the lamps alone; it is journalled because somebody did it
        case PublishRefused(seq, reason_code):
            return table, (_alarm(table, "publish_refused", {"seq": seq, "reason_code": reason_code}),)
        case HitUnheard(seq):
            return table, (_alarm(table, "hit_unheard", {"seq": seq}),)
        case _:
            return _it_came(table, fact)


def exits(table: Table) -> tuple[Exit, ...]:
    """The acts that leave the standing fault as the table is now; none without a fault."""
    if table.fault is None:
        return ()
    kind = FAULTS[table.fault.code]
    in_hand = isinstance(table.phase, Locked | HandInPlay)
    nowhere = {Exit.NEW_SHOE if in_hand else Exit.VOID}
    if table.fault.code == "unreadable_card" and not isinstance(table.phase, Burning):
        nowhere.add(Exit.CLEAR)  # only a burned card may stay unnamed
    if isinstance(table.phase, NoShoe | ShoeEnded) and not kind.new_shoe_takes_held:
        nowhere.add(Exit.NEW_SHOE)  # no shoe is there to end, and cards that wait may be the next one's
    return tuple(exit_ for exit_ in kind.exits if exit_ not in nowhere)


def carried_into_new_shoe(table: Table) -> tuple[ShoeFact | OwnFact, ...]:
    """What the standing fault holds that a new shoe takes over: what the controller noticed of itself, and what came
    from the new shoe's first card on."""
    if table.fault is None:
        return ()
    waiting = [held.fact for held in (*_raiser(table.fault), *table.held)]
    takes_all = FAULTS[table.fault.code].new_shoe_takes_held
    carried: list[ShoeFact | OwnFact] = []
    for fact in waiting:
        takes_all = takes_all or (isinstance(fact, CardDrawn) and fact.target is Target.FIRST_CARD)
        if takes_all:
            carried.append(fact)
        elif isinstance(fact, _OF_THE_CONTROLLER):  # an old shoe's report must not be heard anew after later ones
            carried.append(replace(fact, report=None) if isinstance(fact, StepFailed) else fact)
    return tuple(carried)


def odd_card(table: Table) -> bool:
    """Whether the last card opened a simulated hand and may still be told otherwise: nothing has followed it."""
    return isinstance(table.phase, HandInPlay) and table.phase.wagers is None and len(table.phase.dealt) == 1


def next_hand(table: Table) -> Hand | None:
    """The hand the next card goes to, in a hand about to be dealt or in play."""
    match table.phase:
        case Locked():
            return Hand.PLAYER
        case HandInPlay(dealt):
            drawn = next_step(table.rules.tableau, dealt)
            return drawn.hand if isinstance(drawn, Draw) else None
        case _:
            return None


# What comes by itself: the shoe's reports and what the controller notices.


def _it_came(table: Table, fact: ShoeFact | OwnFact) -> Stepped:
    """Hold the fact while a fault stands, believe it otherwise; the Seq of its report is looked at in either case."""
    held = Held(fact)
    report: Report | None = getattr(fact, "report", None)
    if report is not None:
        held = Held(fact, after_gap=_reports_missed(table, fact, report))
        table = replace(table, last_report=report, seq_counts_zero=_counts_zero(table, fact, report))
    if table.fault is not None:
        if isinstance(fact, ShoeUnplugged) and _out_of_hearing(table.fault, table.held):
            return table, ()  # nothing came in between: one look at the felt answers for both
        return replace(table, held=(*table.held, held)), ()
    return _believe(table, held)


def _out_of_hearing(fault: StandingFault, held: tuple[Held, ...]) -> bool:
    """Whether the latest that waits for a person's word is that the shoe was out of hearing."""
    return isinstance(held[-1].fact, ShoeUnplugged) if held else fault.code == "shoe_unplugged"


def _counts_zero(table: Table, fact: Fact, report: Report) -> bool:
    """Whether the shoe has been seen, since it was switched on, to go on with 0 after 9. A 0 elsewhere proves nothing:
    a shoe that goes on with 1 may well begin with it."""
    if isinstance(fact, ShoePoweredUp):
        return False
    after_nine = table.last_report is not None and table.last_report.seq == 9
    return table.seq_counts_zero or (after_nine and report.seq == 0)


def _reports_missed(table: Table, fact: Fact, report: Report) -> bool:
    """Whether reports were lost before this one. After 9 some shoes go on with 0, some with 1.

    A shoe that has done so once since it was switched on is one of the former: were a 1 taken after its 9, one lost
    report in ten would not show. Of a shoe that numbers nothing none are ever known to be.
    """
    last = table.last_report
    if last is None or last.seq is None or report.seq is None or isinstance(fact, ShoePoweredUp):
        return False
    if last.seq == 9:
        return report.seq != 0 and (report.seq != 1 or table.seq_counts_zero)
    return report.seq != last.seq + 1


def _believe(table: Table, held: Held) -> Stepped:
    """What the fact does, with no fault standing."""
    fact = held.fact
    if held.after_gap and not isinstance(table.phase, NoShoe | ShoeEnded):
        return _stop(table, "reports_missed", {}, raised_by=Held(fact))
    match fact:
        case CardDrawn() | CardKept():
            return _card_came(table, fact)
        case CardDrawnOutsideGame(shoe_mode):
            return _legally(table, Row.CARD_OUTSIDE_GAME, fact, {"shoe_mode": shoe_mode})
        case CutCardDrawn():
            return _legally(table, Row.CUT_CARD, fact)
        case BurnCountReported():
            return _legally(table, Row.BURN_COUNT, fact)
        case ShoeResultReported(result):
            row = Row.SHOE_FORCE_QUIT if result is ShoeResult.FORCE_QUIT else Row.SHOE_RESULT
            return _legally(table, row, fact)
        case ShoeErrorRaised(error):
            return _legally(table, Row.SHOE_ERROR, fact, {"error": error.value})
        case ShoePoweredUp():
            return _legally(table, Row.SHOE_POWERED_UP, fact)
        case ShoeUnplugged():
            return _legally(table, Row.SHOE_UNPLUGGED, fact)
        case ShoeErrorCancelled() | ShoeStoodBy() | ShoeLockReported() | ShoePresetChanged():
            return table, ()  # told by the shoe about itself; no hand depends on it
        case JournalFoundBehindPit(acked_seq, head_seq, chain_differs):
            details = {"acked_seq": acked_seq, "head_seq": head_seq, "chain": "differs" if chain_differs else "unknown"}
            return _stop(table, "journal_behind_pit", details)
        case CommitFailed(error):
            return _stop(table, "journal_failed", {"error": error})
        case ReplayDiffered(row):
            return _stop(table, "replay_differs", {"journal_row": row})
        case StepFailed(error):
            return _stop(table, "internal", {"error": error})
        case _:
            raise AssertionError(f"{fact} is an act and is never held")


def _legally(table: Table, row: Row, fact: ShoeFact | OwnFact, details: dict[str, str | int] | None = None) -> Stepped:
    """Do with the report what the table of legality says for this phase."""
    match legality(row, table.phase):
        case RaiseFault(code):
            waits = row in (Row.CARD, Row.CARD_KEPT, Row.CARD_OUTSIDE_GAME)
            return _stop(table, code, details or {}, raised_by=Held(fact) if waits else None)
        case Refuse(code):
            raise AssertionError(f"a report cannot be refused: {row} in {table.phase}: {code}")
        case Move() as move:
            return _move(table, move, fact)


def _move(table: Table, move: Move, fact: ShoeFact | OwnFact) -> Stepped:
    match move, fact:
        case Move.IGNORE, _:
            return table, ()
        case Move.NOTE_CUT_CARD, CutCardDrawn():
            return _note_cut_card(table)
        case Move.COMPARE_BURN_COUNT, BurnCountReported(count):
            return _compare_burn_count(table, count)
        case Move.COMPARE_RESULT, ShoeResultReported():
            return _compare_result(table, fact)
        case (_, CardDrawn(card=Card() as card) | CardKept(card=Card() as card)):
            taken = replace(table, shoe=shoe_life.without(_shoe(table), table.rules.shoe, card))
            return _place_card(taken, move, card)
        case _:
            raise AssertionError(f"{move} is no move for {fact}")


# Cards.


def _card_came(table: Table, fact: CardDrawn | CardKept) -> Stepped:
    """A card left the shoe: is it legal, where the shoe says it is, readable and possible? Then it is placed."""
    row = Row.CARD if isinstance(fact, CardDrawn) else Row.CARD_KEPT
    if isinstance(legality(row, table.phase), RaiseFault):
        return _legally(table, row, fact)
    if isinstance(fact, CardDrawn) and (code := _differing_target(table, fact)):
        return _stop(table, code, _both_opinions(table, fact), raised_by=Held(fact))
    if fact.card is None:
        return _stop(table, "unreadable_card", {"where": _where(table)}, raised_by=Held(fact))
    if not shoe_life.can_still_come(_shoe(table), table.rules.shoe, fact.card):
        details: dict[str, str | int] = {"where": _where(table)}
        if not isinstance(table.phase, Burning):  # a burned card is face down: it is not named
            details["card"] = str(fact.card)
        stopped, fault = _stop(table, "impossible_card", details, raised_by=Held(fact))
        return stopped, (_alarm(table, "impossible_card", details), *fault)
    return _legally(table, row, fact)


def _place_card(table: Table, move: Move, card: Card) -> Stepped:
    """Put a card that has left the shoe where it belongs."""
    match move:
        case Move.TURN_FIRST_CARD:
            return _burn(replace(table, phase=Burning(card, shoe_life.cards_to_burn(card, table.rules.shoe) + 1)))
        case Move.BURN_CARD:
            return _burn(table)
        case Move.TAKE_CARD_IN_ERROR:
            return _take_card_in_error(table, card)
        case Move.KEEP_CARD:
            return replace(table, kept=(*table.kept, card)), ()
        case Move.DEAL_CARD:
            return _deal(table, card)
        case _:
            raise AssertionError(f"{move} places no card")


def _burn(table: Table) -> Stepped:
    """One more card is burned; after the last, wagers open."""
    if not isinstance(table.phase, Burning):
        return table, ()
    left = table.phase.left - 1
    return replace(table, phase=replace(table.phase, left=left) if left else WagersOpen()), ()


def _take_card_in_error(table: Table, card: Card) -> Stepped:
    """A card nobody needs, by the house's rule for it."""
    match table.rules.shoe.drawn_in_error:
        case "simulated_hand":
            shoe = _shoe(table)
            begun = replace(table, phase=HandInPlay((), wagers=None), shoe=replace(shoe, rounds=shoe.rounds + 1))
            return _deal_kept(begun, (*table.kept, card))
        case "burn":
            return _after_hand(table)
        case "next_card":
            return replace(table, kept=(*table.kept, card)), ()
        case never:
            assert_never(never)


def _deal(table: Table, card: Card) -> Stepped:
    """The card goes to the hand that is locked or in play; the last one finishes it."""
    match table.phase:
        case Locked(wagers):
            shoe = _shoe(table)
            hand = HandInPlay((card,), wagers)
            table = replace(table, shoe=replace(shoe, wagered_hands=shoe.wagered_hands + 1))
        case HandInPlay(dealt, hand_wagers):
            hand = HandInPlay((*dealt, card), hand_wagers)
        case _:
            raise AssertionError(f"no hand takes a card in {table.phase}")
    table = replace(table, phase=hand, last_round=None, awaiting_result=None)
    match next_step(table.rules.tableau, hand.dealt):
        case Done() as done:
            return _finish(table, hand, done)
        case Draw() if _cards_left(table) == 0:
            return _run_out(table)
        case Draw():
            return table, ()


def _finish(table: Table, hand: HandInPlay, done: Done) -> Stepped:
    """The hand is complete: its round, then its hits, then what follows."""
    shoe = _shoe(table)
    simulated = hand.wagers is None
    seats = hand.wagers.royal9_seats if hand.wagers else ()
    awards = _awards(table, done, seats)
    round_event = events.Round(
        shoe=shoe.number,
        round=shoe.rounds,
        outcome=done.outcome.value,
        player=_shown(done.player),
        banker=_shown(done.banker),
        natural=done.natural,
        margin=done.margin,
        pairs=events.Pairs(done.player_pair, done.banker_pair),
        simulated=simulated,
        last_hand=not simulated and shoe.wagered_hands == shoe.last_hand,
        cards_left=_cards_left(table),
        dragon_bonus=_dragon_bonus(table, done),
        royal9_seats=seats,
        royal9=_seat_tiers(awards),
    )
    finished = FinishedRound(shoe.rounds, done, simulated, seats)
    table = replace(
        table,
        finished=(*table.finished, finished),
        last_round=finished,
        hits=table.hits if simulated else _royal_hits(awards),
        awaiting_result=done,
    )
    hits = tuple(_hit(round_event, seat, award) for seat, award in awards)
    table, after = _after_hand(table)
    return table, (round_event, *hits, *after)


def _awards(table: Table, done: Done, seats: Iterable[int]) -> list[tuple[int, Award]]:
    """The winning Royal 9 wagers, best tier first, then by seat."""
    royal9 = table.rules.royal9
    k9_at = {seat.number: seat.k9 for seat in table.rules.seats}
    won: list[tuple[int, Award]] = []
    for seat in seats:
        others = [k9 for other, k9 in k9_at.items() if other != seat]
        award = judge(royal9, done.player[:2], done.banker[:2], k9_at[seat], others)
        if award is not None:
            won.append((seat, award))
    return sorted(won, key=lambda seat_award: (royal9.awards.index(seat_award[1]), seat_award[0]))


def _seat_tiers(awards: Iterable[tuple[int, Award]]) -> tuple[events.SeatTier, ...]:
    return tuple(events.SeatTier(seat, award.tier.value) for seat, award in awards)


def _royal_hits(awards: Iterable[tuple[int, Award]]) -> tuple[RoyalHit, ...]:
    return tuple(RoyalHit(seat, award.tier.value) for seat, award in awards)


def _hit(round_event: events.Round, seat: int, award: Award) -> events.Hit:
    return events.Hit(
        shoe=round_event.shoe,
        round=round_event.round,
        seat=seat,
        tier=award.tier.value,
        player=round_event.player,
        banker=round_event.banker,
        progressive=None if award.meter is None else events.Progressive(award.meter),
        fixed=None if award.cents is None else events.Fixed(award.cents),
    )


def _dragon_bonus(table: Table, done: Done) -> events.DragonBonusShown:
    settled = dragon_bonus(table.rules.dragon_bonus, done)
    return events.DragonBonusShown(settled.player.value, settled.banker.value, settled.pays_to_one)


def _run_out(table: Table) -> Stepped:
    """No card is left and the hand needs one: it is void, and the shoe is over."""
    void = _void_event(table, by="table", reason="shoe_exhausted")
    closed, close_event = _close_shoe(table, "exhausted", by="table")
    stopped, fault = _stop(closed, "shoe_exhausted", {})
    return stopped, (void, close_event, *fault)


def _after_hand(table: Table) -> Stepped:
    """Wagers open again, or the shoe is over."""
    reason = shoe_life.ended(_shoe(table), table.rules.shoe, _cards_left(table))
    if reason is None:
        return replace(table, phase=WagersOpen()), ()
    closed, event = _close_shoe(table, reason, by="table")
    return closed, (event,)


def _close_shoe(table: Table, reason: str, by: str) -> tuple[Table, Event]:
    shoe = _shoe(table)
    event = events.ShoeClosed(
        shoe=shoe.number,
        round=None,
        reason=reason,
        by=by,
        rounds=shoe.rounds,
        wagered_hands=shoe.wagered_hands,
        cards_left=_cards_left(table),
    )
    return replace(table, phase=ShoeEnded(), kept=()), event


# The shoe's other reports.


def _note_cut_card(table: Table) -> Stepped:
    shoe = _shoe(table)
    if shoe.last_hand is not None:
        return _stop(table, "second_cut_card", {})
    return replace(table, shoe=shoe_life.after_cut_card(shoe)), ()


def _compare_burn_count(table: Table, count: int) -> Stepped:
    assert isinstance(table.phase, Burning)
    worth = shoe_life.worth_in_burn(table.phase.first_card)
    if count == worth:
        return table, ()
    return _stop(table, "burn_count_differs", {"shoe_says": count, "first_card_is_worth": worth})


def _compare_result(table: Table, fact: ShoeResultReported) -> Stepped:
    """The shoe's result beside ours: they agree, or the table stops with both."""
    awaited = table.awaiting_result
    table = replace(table, awaiting_result=None)
    if awaited == "voided" or (awaited is None and fact.result is ShoeResult.FORCE_QUIT):
        return table, ()  # the shoe ends its own game of a hand that is void here, or one it never began
    ours = _in_words(awaited.outcome.value, awaited.player_pair, awaited.banker_pair) if awaited else "no finished hand"
    shoes = _in_words(fact.result.value, fact.player_pair, fact.banker_pair)
    if ours == shoes:
        return table, ()
    return _stop(table, "result_differs", {"shoe_says": shoes, "rules_say": ours})


def _in_words(result: str, player_pair: bool, banker_pair: bool) -> str:
    return result + (", player pair" if player_pair else "") + (", banker pair" if banker_pair else "")


# Two referees on a card's place.


def _expected_target(table: Table) -> tuple[Target, int | None]:
    """Where our rules put the next card, and its index in the hand where it goes to one."""
    match table.phase:
        case FirstCardDue():
            return Target.FIRST_CARD, None
        case Burning():
            return Target.BURN, None
        case HandInPlay(dealt):
            return _target_in_hand(table, dealt)
        case _:
            return _target_in_hand(table, _begun_by_kept(table))


def _begun_by_kept(table: Table) -> tuple[Card, ...]:
    """The cards of the hand that the kept cards leave unfinished: they may make whole hands."""
    dealt: tuple[Card, ...] = ()
    for card in table.kept:
        dealt = (*dealt, card)
        if isinstance(next_step(table.rules.tableau, dealt), Done):
            dealt = ()
    return dealt


def _target_in_hand(table: Table, dealt: tuple[Card, ...]) -> tuple[Target, int]:
    drawn = next_step(table.rules.tableau, dealt)
    assert isinstance(drawn, Draw), "a complete hand is not in play"
    index = 3 if len(dealt) >= 4 else len(dealt) // 2 + 1
    return (Target.PLAYER if drawn.hand is Hand.PLAYER else Target.BANKER), index


def _differing_target(table: Table, fact: CardDrawn) -> str | None:
    """The fault when the shoe puts the card elsewhere than our rules; None when it agrees or has no opinion."""
    expected, index = _expected_target(table)
    if fact.target is None or (fact.target is expected and index in (None, fact.index)):
        return None
    if fact.target is Target.FIRST_CARD:
        return "first_card_in_shoe"
    burning = expected in (Target.FIRST_CARD, Target.BURN)
    if fact.target is Target.BURN:  # face down: it is never turned up for the first card, which was missed
        return "reports_missed" if burning else "burn_long"
    return "burn_short" if burning else "target_differs"


def _both_opinions(table: Table, fact: CardDrawn) -> dict[str, str | int]:
    assert fact.target is not None
    expected, index = _expected_target(table)
    ours = expected.value if index is None else f"{expected.value} card {index}"
    shoes = fact.target.value if index is None else f"{fact.target.value} card {fact.index}"
    return {"shoe_says": shoes, "rules_say": ours}


def _where(table: Table) -> str:
    """Where the next card goes, for people."""
    return _expected_target(table)[0].value


# Acts.


def _open_shoe(table: Table, fact: ShoeOpened) -> Stepped:
    """A new shoe; one still open is closed early, and a standing fault is left by it.

    The table is made from the fact alone, so that a replay may begin here.
    """
    made: tuple[Event, ...] = ()
    if table.shoe is not None and not isinstance(table.phase, ShoeEnded):
        table, closed = _close_shoe(table, "closed_early", fact.by)
        made = (closed,)
    if table.fault is not None:
        made = (*made, _cleared(table, fact.by, Exit.NEW_SHOE))
    rules = fact.rules
    event = events.ShoeOpened(
        shoe=fact.shoe,
        round=None,
        by=fact.by,
        game=rules.game,
        decks=rules.shoe.decks,
        cut_card_from_end=rules.shoe.cut_card_from_end,
        seats=tuple(events.SeatK9(seat.number, str(seat.k9)) for seat in rules.seats),
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
    )
    made = (*made, event)
    for carried in fact.carried:
        opened, more = _it_came(opened, carried)
        made = (*made, *more)
    return opened, made


def _lock_wagers(table: Table, fact: WagersLocked) -> Stepped:
    """Wagers are locked: a hand is numbered, and cards kept for it are its first."""
    shoe = _shoe(table)
    shoe = replace(shoe, rounds=shoe.rounds + 1)
    wagers = Wagers(fact.royal9_seats, fact.refused_seats, fact.refusal)
    kept = table.kept
    table = replace(table, phase=Locked(wagers), shoe=shoe, kept=(), last_round=None, hits=())
    made: tuple[Event, ...] = (
        events.WagersLocked(
            shoe=shoe.number,
            round=shoe.rounds,
            by=fact.by,
            royal9_seats=wagers.royal9_seats,
            royal9_price_cents=table.rules.royal9.price_cents,
            refused_seats=wagers.refused_seats,
            refusal=wagers.refusal,
        ),
    )
    table, dealt = _deal_kept(table, kept)
    return table, (*made, *dealt)


def _deal_kept(table: Table, cards: tuple[Card, ...]) -> Stepped:
    """Deal these to the hand; what it does not need is kept for the one after."""
    table = replace(table, kept=())
    made: tuple[Event, ...] = ()
    for place, card in enumerate(cards):
        if not isinstance(table.phase, Locked | HandInPlay):
            return replace(table, kept=cards[place:]), made
        table, dealt = _deal(table, card)
        made = (*made, *dealt)
    return table, made


def _void_hand(table: Table, by: str) -> Stepped:
    """A supervisor ends the hand: wagers go back, and cards held with a fault are dead."""
    reason = table.fault.code if table.fault else "supervisor"
    made: tuple[Event, ...] = (_void_event(table, by, reason),)
    waiting: tuple[Held, ...] = ()
    if table.fault is not None:
        made = (*made, _cleared(table, by, Exit.VOID))
        waiting = (*_raiser(table.fault), *table.held)
    table = replace(table, fault=None, held=(), last_round=None, awaiting_result="voided")
    dead, others = _dead_with_the_hand(waiting)
    for held in dead:
        card = held.fact.card if isinstance(held.fact, CardDrawn | CardKept) else None
        table = replace(table, shoe=shoe_life.without(_shoe(table), table.rules.shoe, card))
    table, after = _after_hand(table)
    if any(held.after_gap for held in dead) and not isinstance(table.phase, ShoeEnded):
        table, stopped = _stop(table, "reports_missed", {})  # a cutting card may have been among them
        return replace(table, held=others), (*made, *after, *stopped)
    table, released = _release(table, others)
    return table, (*made, *after, *released)


def _dead_with_the_hand(waiting: tuple[Held, ...]) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """The cards of a void hand, and what else waits: from a new shoe's first card on nothing is of that hand."""
    is_new_shoes = [isinstance(held.fact, CardDrawn) and held.fact.target is Target.FIRST_CARD for held in waiting]
    ends = is_new_shoes.index(True) if True in is_new_shoes else len(waiting)
    cards = (CardDrawn, CardKept, CardDrawnOutsideGame)
    dead = tuple(held for held in waiting[:ends] if isinstance(held.fact, cards))
    return dead, tuple(held for held in waiting[:ends] if not isinstance(held.fact, cards)) + waiting[ends:]


def _change_odd_card(table: Table, fate: OddCardFate) -> Stepped:
    """The simulated hand never began: its one card is the next hand's first, or burned."""
    assert isinstance(table.phase, HandInPlay), "only asked with an odd card"
    shoe = _shoe(table)
    kept = table.phase.dealt if fate is OddCardFate.NEXT_CARD else ()
    return _after_hand(replace(table, shoe=replace(shoe, rounds=shoe.rounds - 1), kept=(*table.kept, *kept)))


def _correct_round(table: Table, fact: RoundCorrected) -> Stepped:
    """A finished round is amended by reference; its own event stands as it was sent."""
    before = finished_round(table, fact.round)
    assert before is not None, "only asked of a finished round"
    done = as_it_lies(table.rules.tableau, fact.player, fact.banker)
    awards, awards_before = (_awards(table, each, before.royal9_seats) for each in (done, before.done))
    event = events.Correction(
        shoe=_shoe_number(table),
        round=fact.round,
        by=fact.by,
        witness=fact.witness,
        outcome=done.outcome.value,
        player=_shown(done.player),
        banker=_shown(done.banker),
        natural=done.natural,
        margin=done.margin,
        pairs=events.Pairs(done.player_pair, done.banker_pair),
        dragon_bonus=_dragon_bonus(table, done),
        royal9=_seat_tiers(awards),
        royal9_before=_seat_tiers(awards_before),
    )
    after = replace(before, done=done)
    were, are = (*before.done.player, *before.done.banker), (*done.player, *done.banker)
    table = replace(
        table,
        shoe=shoe_life.corrected(_shoe(table), table.rules.shoe, were, are),
        finished=tuple(after if finished is before else finished for finished in table.finished),
        last_round=after if table.last_round is before else table.last_round,
        hits=_royal_hits(awards) if before is _last_wagered(table) else table.hits,
    )
    return table, (event,)


def _last_wagered(table: Table) -> FinishedRound | None:
    return next((finished for finished in reversed(table.finished) if not finished.simulated), None)


def finished_round(table: Table, number: int) -> FinishedRound | None:
    """The open shoe's finished round of that number."""
    return next((finished for finished in table.finished if finished.number == number), None)


def _name_card(table: Table, card: Card, by: str) -> Stepped:
    """A supervisor names the card the shoe could not tell, or one that was missed."""
    fault, later = table.fault, table.held
    assert fault is not None
    freed = replace(table, fault=None, held=())
    if FAULTS[fault.code].card_ends_it and fault.raised_by is not None:
        named = _with_card(fault.raised_by.fact, card)
        table, released = _release(freed, (Held(named), *later))
        return table, (_cleared(freed, by, Exit.CARD, fault.code), *released)
    table, made = _believe(freed, Held(CardDrawn(card)))
    if table.fault is None:
        return replace(table, fault=fault, held=later), made
    cleared = _cleared(freed, by, Exit.CARD, fault.code)  # the named card raised a fault of its own
    return replace(table, held=(*table.held, *_raiser(fault), *later)), (cleared, *made)


def _with_card(fact: ShoeFact | OwnFact, card: Card) -> CardDrawn | CardKept:
    """The report, as it would have been had the shoe known the card."""
    if isinstance(fact, CardDrawn | CardKept):
        return replace(fact, card=card)
    return CardDrawn(card)


def _clear(table: Table, by: str) -> Stepped:
    """A supervisor lets the table go on."""
    fault, later = table.fault, table.held
    assert fault is not None
    made: tuple[Event, ...] = (_cleared(table, by, Exit.CLEAR),)
    table = replace(table, fault=None, held=())
    raiser = _raiser(fault)
    match FAULTS[fault.code].clearing:
        case Clearing.PLAY:
            later = (*raiser, *later)
        case Clearing.PLAY_AS_OURS:
            later = (*(Held(_without_opinion(held.fact)) for held in raiser), *later)
        case Clearing.BURN:
            for held in raiser:
                card = held.fact.card if isinstance(held.fact, CardDrawn | CardKept) else None
                table = replace(table, shoe=shoe_life.without(_shoe(table), table.rules.shoe, card))
                table, _ = _burn(table)
        case Clearing.DROP:
            pass
        case never:
            assert_never(never)
    table, released = _release(table, later)
    return table, (*made, *released)


def _without_opinion(fact: ShoeFact | OwnFact) -> ShoeFact | OwnFact:
    """The card without the shoe's opinion of its place."""
    return CardDrawn(fact.card, report=fact.report) if isinstance(fact, CardDrawn | CardKept) else fact


def _release(table: Table, waiting: tuple[Held, ...]) -> Stepped:
    """Believe what was held, in the order it came, until the next fault holds the rest."""
    made: tuple[Event, ...] = ()
    for place, held in enumerate(waiting):
        table, more = _believe(table, held)
        made = (*made, *more)
        if table.fault is not None:
            return replace(table, held=(*table.held, *waiting[place + 1 :])), made
    return table, made


def _raiser(fault: StandingFault) -> tuple[Held, ...]:
    return () if fault.raised_by is None else (fault.raised_by,)


# Events that several moves make.


def _stop(table: Table, code: str, details: dict[str, str | int], raised_by: Held | None = None) -> Stepped:
    """The table stops with this fault."""
    kind = FAULTS[code]
    table = replace(table, fault=StandingFault(code, details, raised_by))
    event = events.Fault(
        shoe=_shoe_number(table),
        round=table.round_number,
        code=code,
        what=kind.what,
        do=kind.do,
        details=details,
        exits=tuple(exit_.value for exit_ in exits(table)),
    )
    return table, (event,)


def _cleared(table: Table, by: str, exit_: Exit, code: str | None = None) -> events.FaultCleared:
    if code is None:
        assert table.fault is not None
        code = table.fault.code
    return events.FaultCleared(_shoe_number(table), table.round_number, code, by, exit_.value)


def _alarm(table: Table, code: str, details: dict[str, str | int]) -> events.Alarm:
    kind = ALARMS[code]
    return events.Alarm(_shoe_number(table), table.round_number, code, kind.what, kind.do, details)


def _void_event(table: Table, by: str, reason: str) -> events.Void:
    wagers = table.phase.wagers if isinstance(table.phase, Locked | HandInPlay) else None
    return events.Void(
        shoe=_shoe_number(table),
        round=table.round_number,
        by=by,
        reason=reason,
        simulated=wagers is None,
        royal9_seats=wagers.royal9_seats if wagers else (),
    )


def _shown(cards: tuple[Card, ...]) -> events.HandShown:
    return events.HandShown(tuple(map(str, cards)), total(cards))


def _shoe_number(table: Table) -> int | None:
    return table.shoe.number if table.shoe else None


def _shoe(table: Table) -> Shoe:
    assert table.shoe is not None, "only reached with a shoe open"
    return table.shoe


def _cards_left(table: Table) -> int:
    left = table.cards_left
    assert left is not None, "only reached with a shoe open"
    return left
