"""How a card or a call changes the table: the burn, the cards of a round, and the end of a round.

The game's rules (`game/games.py`) say what comes next. This module computes the table's next state and its events from
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from controller.contract import events
from controller.contract.events import Event
from controller.rules.game.bets import Row, ratio_text
from controller.rules.game.cards import Card, total
from controller.rules.game.hands import Done, SeatHands, TwoHands
from controller.rules.game.play import Call, Choose, Draw, Reveal
from controller.rules.game.seating import NOBODY, next_actives
from controller.table import doubts, paying, shoe_life
from controller.table.facts import SeatHit
from controller.table.rules import TableRules
from controller.table.states import (
    NO_WAGERS,
    Burning,
    FinishedRound,
    KnownCard,
    Locked,
    Paused,
    RoundInPlay,
    ShoeEnded,
    Table,
    WagersOpen,
)
from controller.table.stops import Stepped, cards_left, known_left, open_shoe, shoe_number, stop
from controller.table.voiding import void_event

# What follows.


def following(table: Table) -> Draw | Choose | Reveal | None:
    """Return what the present round needs next: a card, a seat's choice, or the turning up of cards. Return None if no
    round is going on, that is, no round is locked or in play."""
    match table.phase:
        case Locked(_, seating):
            step = table.rules.play.next_step(seating, ())
        case RoundInPlay(plays, _, seating):
            step = table.rules.play.next_step(seating, plays)
        case _:
            return None
    assert not isinstance(step, Done), "a complete round is not in play"
    return step


def next_in_round(table: Table) -> Draw | None:
    """Return to which hand the round's next card goes, or None if the round does not need a card next."""
    match following(table):
        case Draw() as draw:
            return draw
        case _:
            return None


def odd_card(table: Table) -> bool:
    """Return True if the last card was drawn in error and began a simulated hand (a round without wagers), and no card
    has followed it. Until a card follows, a person may say that nobody saw the card."""
    return isinstance(table.phase, RoundInPlay) and table.phase.wagers is None and len(table.phase.plays) == 1


def finished_round(table: Table, number: int) -> FinishedRound | None:
    """Return the finished round with this number in the open shoe, or None if the shoe has no such finished round."""
    return next((finished for finished in table.finished if finished.number == number), None)


def last_wagered(table: Table) -> FinishedRound | None:
    """Return the last finished round of the open shoe that was dealt with wagers, or None if there is no such round."""
    return next((finished for finished in reversed(table.finished) if not finished.simulated), None)


# The burn, and a card that nobody needs.


def burn(table: Table, cards: int = 1) -> Stepped:
    """Count `cards` more cards as burned. After the last card of the burn, wagers open. If the table is not in the
    burn, nothing changes."""
    if not isinstance(table.phase, Burning):
        return table, ()
    shoe, left = open_shoe(table), table.phase.left - cards
    phase = replace(table.phase, left=left) if left else WagersOpen()
    return replace(table, phase=phase, shoe=replace(shoe, burned=shoe.burned + cards)), ()


def turn_first_card(table: Table, card: Card) -> Stepped:
    """Turn up the shoe's first card and begin the burn. The first card's value decides how many cards are burned after
    it. The first card itself counts as burned too."""
    return burn(replace(table, phase=Burning(card, shoe_life.cards_to_burn(card, table.rules.shoe) + 1)))


def take_cards_in_error(table: Table, cards: tuple[KnownCard, ...]) -> Stepped:
    """Take in cards that no round needs. The house's rule `drawn_in_error` says what happens to them: they begin a
    simulated hand (a round without wagers), are burned, or are kept for the next round."""
    fate = table.rules.shoe.drawn_in_error
    made = odd_card_events(table, fate, len(cards), "rules")
    match fate:
        case "simulated_hand":
            shoe = open_shoe(table)
            shoe = replace(shoe, rounds=shoe.rounds + 1)
            begun = replace(table, phase=RoundInPlay((), wagers=None), shoe=shoe, kept=())
            table, after = deal_kept(begun, (*table.kept, *cards))
        case "burn":
            table, after = after_round(burned_in_error(table))
        case "next_card":
            table, after = replace(table, kept=(*table.kept, *cards)), ()
        case never:
            assert_never(never)
    return table, (*made, *after)


def odd_card_events(table: Table, fate: str, cards: int, by: str, witness: str | None = None) -> tuple[Event, ...]:
    """Return the event about cards drawn in error. It says how many cards they are, what happens to them (`fate`), and
    who said so (`by`, `witness`). Return no event for a shoe that was opened under procedure 1 or 2 (earlier versions
    of the rules)."""
    if table.rules.procedure <= 2:
        return ()
    return (events.OddCard(shoe_number(table), table.round_number, fate, cards, by, witness),)


def burned_in_error(table: Table) -> Table:
    """Record that a card drawn in error was burned. A shoe that follows the game with rules of its own counts the
    burned card as part of a round. So the next result that the shoe reports may be wrong, and is not compared with the
    table's result. Under procedure 1 (an earlier version of the rules) nothing is recorded."""
    return replace(table, awaiting_result="voided", burned_in_shoes_round=True) if table.rules.procedure > 1 else table


# The round.


def deal(table: Table, known: KnownCard, kept: tuple[KnownCard, ...] = ()) -> Stepped:
    """Deal the card in the round that is locked or in play. The card may finish the round.

    `kept` are cards that left the shoe early. They are dealt after this card, as long as the round takes cards. If the
    round must first wait for a call, the kept cards wait too.
    """
    match table.phase:
        case Locked(wagers, seating):
            shoe = open_shoe(table)
            in_play = RoundInPlay((known.card,), wagers, seating, kept=kept)
            table = replace(table, shoe=replace(shoe, wagered_rounds=shoe.wagered_rounds + 1))
        case RoundInPlay(plays):
            in_play = replace(table.phase, plays=(*plays, known.card), kept=kept)
        case _:
            raise AssertionError(f"no round takes a card in {table.phase}")
    if known.typed_by:
        drawn = sum(isinstance(play, Card) for play in in_play.plays)
        in_play = replace(in_play, typed=in_play.typed | {drawn: known})
    return _go_on(replace(table, phase=in_play, last_round=None, awaiting_result=None))


def deal_kept(table: Table, cards: tuple[KnownCard, ...]) -> Stepped:
    """Deal the cards that left the shoe before the round began, as the first cards of the round."""
    return deal(table, cards[0], kept=cards[1:]) if cards else (table, ())


def call(table: Table, called: Call) -> Stepped:
    """Apply the dealer's call (hit, stand, split or reveal) to the round. Then deal the cards that were kept for the
    round, as long as the round takes cards."""
    in_play = table.phase
    assert isinstance(in_play, RoundInPlay), "only called inside a round"
    return _go_on(replace(table, phase=replace(in_play, plays=(*in_play.plays, called))))


def _go_on(table: Table) -> Stepped:
    """Continue the round after its last card or call: finish the round, deal a kept card, void the round because no
    card is left, or wait. Kept cards that the round does not need go to the next round."""
    in_play = table.phase
    assert isinstance(in_play, RoundInPlay)
    step = table.rules.play.next_step(in_play.seating, in_play.plays)
    if isinstance(step, Done):
        return _finish(table, in_play, step)
    if isinstance(step, Draw) and in_play.kept:
        return deal(table, in_play.kept[0], kept=in_play.kept[1:])
    if isinstance(step, Draw) and cards_left(table) == 0:
        return _run_out(table)
    return table, ()


def _finish(table: Table, in_play: RoundInPlay, done: Done) -> Stepped:
    """Finish a complete round. Send its event and the events of its hits, and then prepare the next round or end the
    shoe. Stop the table if the cards came too fast."""
    shoe, wagers = open_shoe(table), in_play.wagers or NO_WAGERS
    won = paying.awards(table.rules, in_play.seating, done, wagers)
    settled = paying.settlement(table.rules, in_play.seating, wagers.placed, done) if in_play.wagers else None
    finished = FinishedRound(shoe.rounds, done, in_play.wagers, in_play.seating, settled)
    cards = sum(isinstance(play, Card) for play in in_play.plays)
    too_fast = in_play.wagers is not None and doubts.too_fast(table, cards)
    if too_fast:
        table = doubts.of_round(table, "round_too_fast")
    hits = paying.hits(shoe.number, shoe.rounds, won, wagers.levels)
    table = replace(
        table,
        finished=(*table.finished, finished),
        last_round=finished,
        hits=(*table.hits, *hits),
        awaiting_result=done if isinstance(done, TwoHands) else None,
        commission_owed=owing(table.commission_owed, dict(settled.owed) if settled else {}),
    )
    if (actives := in_play.seating.actives) is not None and done.outcome is not None:
        play = table.rules.play
        table = replace(table, actives=next_actives(actives, done.outcome, table.occupied, play.on_win, play.on_tie))
    round_event = _round(table, finished, won, _not_read(table, in_play))
    if round_event.not_read:
        table = doubts.of_round(table, "typed_card")
    in_doubt = doubts.standing(table)
    hit_events = tuple(_hit(round_event, hit, each.row, in_doubt) for hit, each in zip(hits, won, strict=True))
    table, overdue = doubts.round_ended(table)
    table, after = after_round(table, in_play.kept)
    stopped: tuple[Event, ...] = ()
    if too_fast:
        table, stopped = doubts.stop_for_speed(table, cards, compared(table))
    return table, (round_event, *hit_events, *overdue, *after, *stopped)


def compared(table: Table) -> dict[str, str | int]:
    """Return the numbers that a person compares with the shoe and the felt after a fault: how many cards are left, and
    the number and the result of the last round. The numbers never reveal a face-down card."""
    details: dict[str, str | int] = {}
    if (left := known_left(table)) is not None:
        details["cards_left"] = left
    if table.finished:
        last = table.finished[-1]
        details["last_round"] = last.number
        if last.done.outcome is not None:
            details["last_result"] = last.done.outcome.value
    return details


def owing(owed: Mapping[int, int], more: Mapping[int, int]) -> dict[int, int]:
    """Return the commission that each seat owes, in cents: the sum of `owed` and `more`. A seat that owes nothing is
    left out."""
    cents = {seat: owed.get(seat, 0) + more.get(seat, 0) for seat in sorted({*owed, *more})}
    return {seat: owes for seat, owes in cents.items() if owes}


def _not_read(table: Table, in_play: RoundInPlay) -> tuple[events.NotRead, ...]:
    """Return the cards of the round that the shoe did not read and that people typed, in the form that the event of the
    round uses. Return none for a shoe that was opened under procedure 1 or 2 (earlier versions of the rules)."""
    if table.rules.procedure <= 2:
        return ()
    return tuple(
        events.NotRead(drawn, str(known.card), "typed", known.typed_by[0], next(iter(known.typed_by[1:]), None))
        for drawn, known in in_play.typed.items()
    )


def _round(
    table: Table, finished: FinishedRound, won: list[paying.Won], not_read: tuple[events.NotRead, ...]
) -> events.Round | events.SeatsRound:
    """Return the event that reports a finished round. For games with Player and Banker it is a `Round`. For Lucky 9 it
    is a `SeatsRound`."""
    shoe, done = open_shoe(table), finished.done
    final_round = not finished.simulated and shoe.wagered_rounds == shoe.final_round
    settlement = paying.settlement_shown(finished.settlement)
    if isinstance(done, SeatHands):
        return events.SeatsRound(
            shoe=shoe.number,
            round=finished.number,
            dealer=shown(done.dealer),
            hands=hands_shown(table.rules, done),
            simulated=finished.simulated,
            final_round=final_round,
            cards_left=cards_left(table),
            settlement=settlement,
            not_read=not_read,
        )
    return events.Round(
        shoe=shoe.number,
        round=finished.number,
        outcome=done.outcome.value,
        player=shown(done.player),
        banker=shown(done.banker),
        natural=done.natural,
        margin=done.margin,
        pairs=events.Pairs(done.player_pair, done.banker_pair),
        simulated=finished.simulated,
        final_round=final_round,
        cards_left=cards_left(table),
        dragon_bonus=paying.dragon_bonus_shown(table.rules, finished.seating, done),
        progressive=paying.progressive_shown(finished.wagers),
        awards=paying.awards_shown(won),
        actives=paying.actives_shown(finished.seating.actives),
        settlement=settlement,
        not_read=not_read,
    )


def _hit(
    round_event: events.Round | events.SeatsRound, hit: SeatHit, row: Row, in_doubt: tuple[str, ...]
) -> events.Hit:
    assert isinstance(round_event, events.Round), "awards are judged on two hands"
    return events.Hit(
        shoe=round_event.shoe,
        round=round_event.round,
        spot=hit.spot,
        seat=hit.seat,
        tier=hit.tier,
        player=round_event.player,
        banker=round_event.banker,
        progressive=None
        if row.meter is None
        else events.Progressive(row.meter, ratio_text(row.share), hit.shown_cents),
        fixed=None if row.cents is None else events.Fixed(row.cents),
        not_read=round_event.not_read,
        doubts=in_doubt,
    )


def _run_out(table: Table) -> Stepped:
    """Void a round that needs another card, because no card is left, neither in the shoe nor kept. End the shoe, and
    stop the table with a fault."""
    void = void_event(table, by="table", reason="shoe_exhausted")
    closed, close_event = close_shoe(table, "exhausted", by="table")
    stopped, fault = stop(closed, "shoe_exhausted", {})
    return stopped, (void, close_event, *fault)


def after_round(table: Table, not_needed: tuple[KnownCard, ...] = ()) -> Stepped:
    """Open wagers again after a round, or end the shoe. A paused table stays paused.

    `not_needed` are cards that were kept for the round and that the round did not need. They belong to the next round,
    like the cards still in the shoe. If a card was kept for the next round while this round was dealt, the card is
    treated as drawn in error. Under procedure 1 (an earlier version of the rules) such a card stays kept.
    """
    in_error = table.kept if isinstance(table.phase, RoundInPlay) and table.rules.procedure > 1 else ()
    table = replace(table, kept=(*not_needed, *(() if in_error else table.kept)))
    left = cards_left(table) + len(table.kept) + len(in_error)
    if reason := shoe_life.ended(open_shoe(table), table.rules.shoe, left):
        closed, event = close_shoe(table, reason, by="table")
        return closed, (event,)
    if not isinstance(table.phase, Paused):
        table = replace(table, phase=WagersOpen())
    if not in_error:
        return table, ()
    begun, made = take_cards_in_error(table, in_error)
    no_round_since = begun.finished == table.finished and table.rules.procedure > 2
    if table.awaiting_result and (isinstance(begun.phase, RoundInPlay) or no_round_since):
        begun = replace(begun, awaiting_result=table.awaiting_result)  # the shoe has yet to state that result
    return begun, made


def close_shoe(table: Table, reason: str, by: str) -> tuple[Table, Event]:
    """End the shoe. Return the table and the event `shoe_closed`, which lists the commission that each seat owes."""
    shoe = open_shoe(table)
    event = events.ShoeClosed(
        shoe=shoe.number,
        round=None,
        reason=reason,
        by=by,
        rounds=shoe.rounds,
        wagered_rounds=shoe.wagered_rounds,
        cards_left=cards_left(table),
        commission_owed=tuple(events.SeatCents(seat, cents) for seat, cents in table.commission_owed.items()),
    )
    return replace(table, phase=ShoeEnded(), kept=(), kept_results=()), event


def shown(cards: tuple[Card, ...]) -> events.HandShown:
    """Return a hand in the form that events use: its cards as text, and its total."""
    return events.HandShown(*_parts(cards))


def hands_shown(rules: TableRules, done: SeatHands) -> tuple[events.SeatHandShown, ...]:
    """Return the seats' hands at Lucky 9 in the form that events use, each with its result."""
    return tuple(
        events.SeatHandShown(hand.seat, hand.number, *_parts(hand.cards), result)
        for hand, (_, _, result) in zip(done.hands, paying.played(rules, NOBODY, done), strict=True)
    )


def _parts(cards: tuple[Card, ...]) -> tuple[tuple[str, ...], int]:
    return tuple(map(str, cards)), total(cards)
