"""The table's public face: the part of the table's state that everybody may see. `controller/contract/face/table.py`
defines its form. The functions are pure."""

from __future__ import annotations

from math import inf

from controller.contract.events import FACE_DOWN
from controller.contract.face.table import (
    Public,
    PublicChoice,
    PublicFault,
    PublicHand,
    PublicHit,
    PublicProgressive,
    PublicResult,
    PublicRound,
    PublicSettled,
    PublicWager,
)
from controller.rules.game.bets import ratio_text
from controller.rules.game.cards import total
from controller.rules.game.hands import TwoHands
from controller.rules.game.play import Choose, Draw, Laid, Reveal
from controller.rules.game.settlement import Settlement
from controller.rules.game.wagers import squeezing
from controller.table.awards import is_hit_disputed
from controller.table.dealing import following, odd_card
from controller.table.facts import ProgressiveWagers, SeatHit
from controller.table.paying import played
from controller.table.states import (
    NO_WAGERS,
    BetweenRounds,
    Burning,
    FinishedRound,
    FirstCardDue,
    Locked,
    NoShoe,
    Paused,
    Phase,
    RoundInPlay,
    ShoeEnded,
    Table,
    Wagers,
    WagersOpen,
)
from controller.table.stops import exits, held_cards, known_left

PHASE_NAMES: dict[type[Phase], str] = {
    NoShoe: "no_shoe",
    FirstCardDue: "first_card_due",
    Burning: "burning",
    WagersOpen: "wagers_open",
    Paused: "paused",
    Locked: "wagers_locked",
    RoundInPlay: "round_in_play",
    ShoeEnded: "shoe_ended",
}
"""The phases as messages and people name them."""

BETWEEN_ROUNDS = ("no_shoe", "first_card_due", "wagers_open", "paused", "shoe_ended")
"""The phases in which no round is in play and no wager is locked."""


def public_rounds(table: Table) -> tuple[PublicRound, ...]:
    """Return the finished rounds of the open shoe in the form that everybody may see. Void rounds are left out."""
    return tuple(map(_round, table.finished))


def _round(finished: FinishedRound) -> PublicRound:
    done = finished.done
    two = done if isinstance(done, TwoHands) else None
    return PublicRound(
        finished.number,
        finished.simulated,
        done.outcome.value if done.outcome else None,
        two is not None and two.natural,
        two is not None and two.player_pair,
        two is not None and two.banker_pair,
        tuple(map(_hand, done.laid)),
    )


def public(table: Table) -> Public:
    """Return the part of the state of `table` that everybody may see."""
    phase, last = table.phase, table.last_round
    wagers = table.locked_wagers
    step = None if table.fault else following(table)
    draw = step if isinstance(step, Draw) and not step.secret else None
    return Public(
        table=table.rules.table,
        game=table.rules.game,
        phase=PHASE_NAMES[type(phase)],
        shoe=table.shoe.number if table.shoe else None,
        round=table.round_number or (last.number if last else None),
        next_round=table.next_round[1] if table.next_round else None,
        seats=table.rules.seat_numbers,
        first_card=str(phase.first_card) if isinstance(phase, Burning) else None,
        burn_left=phase.left if isinstance(phase, Burning) else None,
        burned=table.shoe.burned if table.shoe else None,
        hands=_hands(table),
        next_hand=str(draw.hand) if draw else None,
        next_seat=draw.seat if draw else None,
        choice=_choice(step) if isinstance(step, Choose) else None,
        reveal=tuple(map(str, step.hands)) if isinstance(step, Reveal) else (),
        squeezing=_squeezing(table),
        occupied=table.occupied,
        actives={"player": table.actives.player, "banker": table.actives.banker} if table.actives else {},
        outcome=last.done.outcome.value if last and last.done.outcome else None,
        results=tuple(PublicResult(*each) for each in played(table.rules, last.seating, last.done)) if last else (),
        simulated=(isinstance(phase, RoundInPlay) and phase.wagers is None) or bool(last and last.simulated),
        odd_card=odd_card(table),
        kept=len(table.kept),
        wagers_stand=table.chips_noted if isinstance(phase, BetweenRounds) else None,
        final_round=_is_final_round(table),
        cards_left=known_left(table),
        left_at_cut_card=table.shoe.left_at_cut_card if table.shoe else None,
        wagers=_wagers(table, wagers),
        progressive=tuple(_progressive((wagers or NO_WAGERS).on(bet.spot)) for bet in table.rules.progressives),
        hits=tuple(_hit(table, hit) for hit in table.hits),
        settled=_settled(last.settlement) if last and last.settlement else {},
        commission_owed={str(seat): cents for seat, cents in table.commission_owed.items()},
        fault=_fault(table),
        closed=_closed(table),
    )


def _hands(table: Table) -> tuple[PublicHand, ...]:
    last = table.last_round
    if isinstance(table.phase, RoundInPlay):
        return tuple(map(_hand, table.rules.play.laid(table.phase.seating, table.phase.plays)))
    return tuple(map(_hand, last.done.laid)) if last else ()


def _hand(hand: Laid) -> PublicHand:
    cards = tuple(FACE_DOWN if down else str(card) for card, down in zip(hand.cards, hand.face_down, strict=True))
    return PublicHand(str(hand.hand), cards, None if any(hand.face_down) else total(hand.cards))


def _settled(settlement: Settlement) -> dict[str, PublicSettled]:
    gains: dict[int, dict[str, float]] = {}
    for one in settlement.settled:
        if not one.wager.back:
            gain = inf if one.meter is not None else one.returned_cents - one.wager.cents
            its = gains.setdefault(one.wager.seat, {})
            its[one.wager.spot] = its.get(one.wager.spot, 0) + gain
    return {str(seat): _gained(its) for seat, its in gains.items()}


def _gained(by_spot: dict[str, float]) -> PublicSettled:
    gain = sum(by_spot.values())
    result = "won" if gain > 0 else "lost" if gain < 0 else "even"
    won = sorted((spot for spot in by_spot if by_spot[spot] > 0), key=by_spot.__getitem__, reverse=True)
    return PublicSettled(result, tuple(won))


def _hit(table: Table, hit: SeatHit) -> PublicHit:
    shown_cents = None if hit.shown_cents is None else int(hit.shown_cents * hit.share)
    share = ratio_text(hit.share)
    step = "disputed" if is_hit_disputed(table, hit) else hit.step
    return PublicHit(hit.shoe, hit.round, hit.spot, hit.seat, hit.tier, hit.meter, share, shown_cents, step, hit.cents)


def _choice(step: Choose) -> PublicChoice:
    options = None if step.secret else tuple(option.value for option in step.options)
    return PublicChoice(step.seat, str(step.hand), options)


def _squeezing(table: Table) -> dict[str, int | None]:
    """Return which seat turns up Player's cards and which seat turns up Banker's, while a round of Midi is dealt (sheet
    000). At Midi, players turn up the cards themselves. A seat is None if the dealer turns them up. Return an empty
    dictionary for other games.
    """
    if not isinstance(table.phase, Locked | RoundInPlay) or not table.rules.play.squeezed:
        return {}
    player, banker = squeezing(table.rules.wagers, (table.locked_wagers or NO_WAGERS).placed)
    return {"player": player, "banker": banker}


def _wagers(table: Table, locked: Wagers | None) -> tuple[PublicWager, ...]:
    placed = [(wager, None) for wager in (locked.placed if locked else table.placed)]
    refused = [(each.wager, each.code) for each in (locked.refused if locked else ())]
    return tuple(
        PublicWager(wager.seat, wager.back, wager.spot, wager.cents, code) for wager, code in (*placed, *refused)
    )


def _progressive(on: ProgressiveWagers) -> PublicProgressive:
    return PublicProgressive(on.spot, on.seats, on.refused_seats, on.refusal)


def _is_final_round(table: Table) -> bool:
    """Tell whether the present round, which takes wagers or is being dealt, is the last round of the shoe."""
    if table.shoe is None or table.shoe.final_round is None:
        return False
    in_play = isinstance(table.phase, RoundInPlay)  # a simulated hand does not count, so it is never the last
    return table.shoe.wagered_rounds + (0 if in_play else 1) >= table.shoe.final_round


def _closed(table: Table) -> tuple[str, ...]:
    closed = table.closed_spots
    return tuple(bet.spot for bet in table.rules.bets if bet.spot in closed)


def _fault(table: Table) -> PublicFault | None:
    if table.fault is None:
        return None
    details, left = table.fault.details, known_left(table)
    if "cards_left" in details and left is not None:
        details = details | {"cards_left": left}  # what a count is compared with now
    return PublicFault(
        id=table.fault.id,
        code=table.fault.code,
        details=details,
        exits=tuple(exit_.value for exit_ in exits(table)),
        held_cards=held_cards(table),
    )
