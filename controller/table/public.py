"""The table's public face: all that lamps, status, screen, log lines and the pit's `state` may see of it.

What is face down is not in it: of burned cards only how many are left to burn.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.game.baccarat import Hand, hands
from controller.game.cards import total
from controller.table.facts import CardDrawn, CardDrawnOutsideGame, CardKept
from controller.table.faults import FAULTS
from controller.table.states import (
    Burning,
    FirstCardDue,
    HandInPlay,
    Locked,
    NoShoe,
    Phase,
    ShoeEnded,
    Table,
    WagersOpen,
)
from controller.table.step import exits, next_hand, odd_card

PHASE_NAMES: dict[type[Phase], str] = {
    NoShoe: "no_shoe",
    FirstCardDue: "first_card_due",
    Burning: "burning",
    WagersOpen: "wagers_open",
    Locked: "wagers_locked",
    HandInPlay: "hand_in_play",
    ShoeEnded: "shoe_ended",
}
"""The phases as messages and people name them."""


@dataclass(frozen=True, slots=True)
class PublicHand:
    """A hand on the layout: its cards as text, and their total."""

    cards: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class PublicFault:
    """The standing fault as people are told of it."""

    code: str
    what: str
    do: str
    details: dict[str, str | int]
    exits: tuple[str, ...]
    held_cards: int


@dataclass(frozen=True, slots=True)
class PublicHit:
    """A seat's winning Royal 9 wager."""

    seat: int
    tier: str


@dataclass(frozen=True, slots=True)
class Public:
    """Everything that may be shown. `player` and `banker` are the hand in play, or the last one until the next.

    `odd_card` says that the card just drawn in error may still be told to be something else than a simulated hand's.
    """

    table: str
    game: str
    phase: str
    shoe: int | None
    round: int | None
    seats: tuple[int, ...]
    first_card: str | None
    burn_left: int | None
    player: PublicHand | None
    banker: PublicHand | None
    next_hand: str | None
    outcome: str | None
    simulated: bool
    odd_card: bool
    last_hand: bool
    cards_left: int | None
    royal9_seats: tuple[int, ...]
    refused_seats: tuple[int, ...]
    refusal: str | None
    hits: tuple[PublicHit, ...]
    fault: PublicFault | None


def public(table: Table) -> Public:
    """The public face of `table`."""
    phase, last = table.phase, table.last_round
    wagers = phase.wagers if isinstance(phase, Locked | HandInPlay) else None
    player, banker = _hands(table)
    next_to_draw: Hand | None = None if table.fault else next_hand(table)
    return Public(
        table=table.rules.table,
        game=table.rules.game,
        phase=PHASE_NAMES[type(phase)],
        shoe=table.shoe.number if table.shoe else None,
        round=table.round_number or (last.number if last else None),
        seats=tuple(seat.number for seat in table.rules.seats),
        first_card=str(phase.first_card) if isinstance(phase, Burning) else None,
        burn_left=phase.left if isinstance(phase, Burning) else None,
        player=player,
        banker=banker,
        next_hand=next_to_draw.value if next_to_draw else None,
        outcome=last.done.outcome.value if last else None,
        simulated=(isinstance(phase, HandInPlay) and phase.wagers is None) or bool(last and last.simulated),
        odd_card=odd_card(table),
        last_hand=_is_last_hand(table),
        cards_left=_cards_left(table),
        royal9_seats=wagers.royal9_seats if wagers else (),
        refused_seats=wagers.refused_seats if wagers else (),
        refusal=wagers.refusal if wagers else None,
        hits=tuple(PublicHit(hit.seat, hit.tier) for hit in table.hits),
        fault=_fault(table),
    )


def _hands(table: Table) -> tuple[PublicHand | None, PublicHand | None]:
    if isinstance(table.phase, HandInPlay):
        player, banker = hands(table.rules.tableau, table.phase.dealt)
    elif table.last_round is not None:
        player, banker = table.last_round.done.player, table.last_round.done.banker
    else:
        return None, None
    return (
        PublicHand(tuple(map(str, player)), total(player)),
        PublicHand(tuple(map(str, banker)), total(banker)),
    )


def _is_last_hand(table: Table) -> bool:
    """Whether the hand now wagered on or dealt is the shoe's last."""
    if table.shoe is None or table.shoe.last_hand is None:
        return False
    in_play = isinstance(table.phase, HandInPlay)  # a simulated hand is none of those counted, so never the last
    return table.shoe.wagered_hands + (0 if in_play else 1) >= table.shoe.last_hand


def _fault(table: Table) -> PublicFault | None:
    if table.fault is None:
        return None
    kind = FAULTS[table.fault.code]
    return PublicFault(
        code=table.fault.code,
        what=kind.what,
        do=kind.do,
        details=table.fault.details,
        exits=tuple(exit_.value for exit_ in exits(table)),
        held_cards=_held_cards(table),
    )


def _held_cards(table: Table) -> int:
    """Cards that left the shoe and wait for a person's word."""
    if table.fault is None:
        return 0
    waiting = (table.fault.raised_by, *table.held)
    return sum(
        held is not None and isinstance(held.fact, CardDrawn | CardKept | CardDrawnOutsideGame) for held in waiting
    )


def _cards_left(table: Table) -> int | None:
    return None if table.cards_left is None else max(0, table.cards_left - _held_cards(table))
