"""How a person's decision lets a stopped table go on, although cards wait for a decision or were not reported. The
decision is a void, a named card, a cleared fault, or a count of the cards."""

from __future__ import annotations

from itertools import filterfalse
from typing import assert_never

from msgspec.structs import replace

from controller.contract.events import Event
from controller.rules.game.cards import Card
from controller.rules.game.play import Call, Choose
from controller.table import doubts, shoe_life
from controller.table.acts.rounds import OddCardFate, OddCardTold
from controller.table.acts.stopped import CardNamed
from controller.table.believing import believe, is_counted_after_power_up, release
from controller.table.dealing import (
    after_round,
    burn,
    burned_in_error,
    call,
    following,
    odd_card_events,
)
from controller.table.facts import (
    CardDrawn,
    CardKept,
    OwnFact,
    ShoeFact,
    ShoePoweredUp,
    ShoeUnheard,
    ShoeUnplugged,
    begins_shoe,
)
from controller.table.faults import FAULTS, Clearing, Exit
from controller.table.states import (
    BetweenRounds,
    Burning,
    Held,
    KnownCard,
    RoundInPlay,
    ShoeEnded,
    Table,
    Waiting,
)
from controller.table.stops import Stepped, cleared, is_card, known_left, open_shoe, raiser, stop
from controller.table.voiding import void_event


def void_round(table: Table, by: str, witness: str | None) -> Stepped:
    """End the round without a result, because a supervisor decided so. The wagers are returned, and the cards that a
    fault held are out of play. If reports were missed before one of these cards, the table stops again, unless the shoe
    has ended."""
    reason = table.fault.code if table.fault else "supervisor"
    made: tuple[Event, ...] = (void_event(table, by, reason, witness),)
    waiting: tuple[Held, ...] = ()
    not_needed: tuple[KnownCard, ...] = ()
    if isinstance(table.phase, RoundInPlay):
        waiting, not_needed = tuple(table.phase.ahead), table.phase.kept
        if table.phase.wagers is not None:
            table = replace(table, shoe=shoe_life.after_void(open_shoe(table), table.rules.shoe))
    if table.fault is not None:
        made = (*made, cleared(table, by if witness is None else f"{by}, {witness}", Exit.VOID))
        waiting = (*waiting, *raiser(table.fault), *table.held)
    table = replace(table, fault=None, held=Waiting(), last_round=None, awaiting_result="voided")
    dead, others = _dead_with_the_round(waiting)
    for held in dead:
        table = _out_of_shoe(table, held)
    table, after = after_round(table, not_needed)
    if any(held.after_gap for held in dead) and not isinstance(table.phase, ShoeEnded):
        table, stopped = stop(table, "reports_missed", {})  # a cut card may have been among them
        return replace(table, held=Waiting(others)), (*made, *after, *stopped)
    table, released = release(table, others)
    return table, (*made, *after, *released)


def _dead_with_the_round(waiting: tuple[Held, ...]) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """Split the facts that waited in a void round into two groups: the cards that go out of play with the round, and
    all other facts. The first card of a new shoe and every fact after it do not belong to the void round."""
    is_new_shoes = [begins_shoe(held.fact) for held in waiting]
    ends = is_new_shoes.index(True) if True in is_new_shoes else len(waiting)
    dead = tuple(filter(is_card, waiting[:ends]))
    return dead, (*filterfalse(is_card, waiting[:ends]), *waiting[ends:])


def _out_of_shoe(table: Table, held: Held) -> Table:
    """Return the table with a waiting card counted as gone from the shoe. The card may have no name, and it lies in no
    hand."""
    card = held.fact.card if isinstance(held.fact, CardDrawn | CardKept) else None
    return replace(table, shoe=shoe_life.without(open_shoe(table), table.rules.shoe, card))


def change_odd_card(table: Table, fact: OddCardTold) -> Stepped:
    """Undo a simulated hand (a round without wagers) whose first card nobody saw. That card becomes the next round's
    first card, or it is burned."""
    assert isinstance(table.phase, RoundInPlay), "the odd card's hand is in play"
    shoe = open_shoe(table)
    typed = table.phase.typed
    cards = tuple(
        typed.get(drawn, KnownCard(card))
        for drawn, card in enumerate((play for play in table.phase.plays if isinstance(play, Card)), 1)
    )
    kept = cards if fact.fate is OddCardFate.NEXT_CARD else ()
    made = odd_card_events(table, fact.fate.value, 1, fact.by, fact.witness)
    table = table if kept else burned_in_error(table)
    shoe = replace(shoe, rounds=shoe.rounds - 1, unseen_cards=shoe.unseen_cards + 1)
    table, after = after_round(replace(table, shoe=shoe), kept)
    return table, (*made, *after)


def name_card(table: Table, named: CardNamed) -> Stepped:
    """Take over the card that a supervisor named, because the shoe could not read the card or its report was missed."""
    fault, later = table.fault, table.held
    assert fault is not None
    typed_by = tuple(name for name in (named.by, named.witness) if name is not None)
    by = ", ".join(typed_by)
    freed = replace(table, fault=None, held=Waiting())
    if FAULTS[fault.code].card_ends_it and fault.raised_by is not None:
        typed = Held(_with_card(fault.raised_by.fact, named.card), typed_by=typed_by)
        table, released = release(freed, (typed, *later))
        return table, (cleared(freed, by, Exit.CARD, fault.code), *released)
    table, made = believe(freed, Held(CardDrawn(named.card), typed_by=typed_by))
    if table.fault is None:
        return replace(table, fault=fault, held=later), made
    gone = cleared(freed, by, Exit.CARD, fault.code)  # the named card raised a fault of its own
    return replace(table, held=Waiting((*table.held, *raiser(fault), *later))), (gone, *made)


def _with_card(fact: ShoeFact | OwnFact, card: Card) -> CardDrawn | CardKept:
    """Return the shoe's report of a card with `card` filled in, as if the shoe had read it. A fact that is not a
    `CardDrawn` or a `CardKept` becomes a `CardDrawn`."""
    if isinstance(fact, CardDrawn | CardKept):
        return replace(fact, card=card)
    return CardDrawn(card)


def clear(table: Table, by: str) -> Stepped:
    """Clear the standing fault, because a supervisor decided so, and let the table go on. The kind of the fault says
    what happens to the report that raised it."""
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
        case Clearing.BURN_IN_ERROR:
            for held in waiting:
                table = burned_in_error(_out_of_shoe(table, held))
            table, ended = after_round(table)
            made = (*made, *odd_card_events(table, "burn", len(waiting), by), *ended)
        case Clearing.HIT:
            table, hit = _hit_or_burn(table, waiting)
            made = (*made, *hit)
        case Clearing.DROP:
            pass
        case never:
            assert_never(never)
    table, released = release(table, later)
    return table, (*made, *released)


def go_on_with_count(table: Table, left: int, by: str) -> Stepped:
    """End a fault by a supervisor's count of the cards left. If fewer cards are left than the table knows, the missing
    cards are counted as gone, without a name.

    After that, the held facts take effect. `left` may be one higher than the table's own count, but not more. One held
    report may be a late copy of an earlier report, and then no card belongs to it.
    """
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    unheard, waiting = known - left, tuple(table.held)
    made: tuple[Event, ...] = (cleared(table, by, Exit.COUNT, cards_unheard=max(0, unheard)),)
    if unheard < 0:
        waiting = tuple(held for held in waiting if not (held.in_doubt and is_card(held)))
    answered = (ShoeUnheard, ShoeUnplugged) + ((ShoePoweredUp,) if is_counted_after_power_up(table) else ())
    waiting = tuple(held for held in waiting if not isinstance(held.fact, answered))  # counted since
    if unheard == 0:
        table, _ = doubts.counted(table, left)
    table = replace(table, fault=None, held=Waiting())
    if unheard > 0:
        table, after = _lose_unheard(table, unheard)
        made = (*made, *after)
    table, released = release(table, waiting)
    return table, (*made, *released)


def note_count(table: Table, left: int) -> Stepped:
    """Record a supervisor's count of the cards left while no fault stands. If fewer cards are left than the table
    knows, the missing cards are counted as gone."""
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    table, told = doubts.counted(table, left)
    if left >= known:
        return table, told
    table, after = _lose_unheard(table, known - left)
    return table, (*told, *after)


def _lose_unheard(table: Table, cards: int) -> Stepped:
    """Count `cards` cards as gone from the shoe although the shoe did not report them. They were burned, or dealt in
    rounds that this table did not see."""
    shoe = open_shoe(table)
    table = replace(table, shoe=replace(shoe, unnamed=shoe.unnamed + cards))
    if isinstance(table.phase, Burning):
        return burn(table, cards)
    if isinstance(table.phase, ShoeEnded):
        return table, ()
    assert isinstance(table.phase, BetweenRounds), "such a count is refused in any other phase"
    return after_round(replace(table, last_round=None, awaiting_result="voided"))


def _hit_or_burn(table: Table, waiting: tuple[Held, ...]) -> Stepped:
    """Use a card that came before the dealer called the seat's choice. If the seat may hit, the card counts as its hit.
    Otherwise the card is out of play."""
    step = following(table)
    if isinstance(step, Choose) and Call.HIT in step.options:
        table, made = call(table, Call.HIT)
        table, dealt = release(table, waiting)
        return table, (*made, *dealt)
    for held in waiting:
        table = _out_of_shoe(table, held)
    return table, ()


def _without_opinion(fact: ShoeFact | OwnFact) -> ShoeFact | OwnFact:
    """Return a card's report, as a `CardDrawn`, without the shoe's opinion on where the card goes. Return any other
    fact unchanged."""
    return CardDrawn(fact.card, report=fact.report) if isinstance(fact, CardDrawn | CardKept) else fact
