"""The table's public face: all that lamps, status, screen, log lines and the pit's `state` may see of it.

The face holds no card that lies face down, and nothing that such a card could be told from. Of the burned cards the
face says only how many are left to burn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from controller.contract.events import FACE_DOWN
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
    Burning,
    FinishedRound,
    FirstCardDue,
    HandInPlay,
    Locked,
    NoShoe,
    Phase,
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
    Locked: "wagers_locked",
    HandInPlay: "hand_in_play",
    ShoeEnded: "shoe_ended",
}
"""The phases as messages and people name them."""

BETWEEN_ROUNDS = ("no_shoe", "first_card_due", "wagers_open", "shoe_ended")
"""The phases in which no round is in play and no wager is locked."""


@dataclass(frozen=True, slots=True)
class PublicHand:
    """A hand on the layout: its cards as text, and their total, which is None while a card lies face down.

    `hand` is "player", "banker", "dealer", or a seat's: "seat_3", "seat_3_hand_2".
    """

    hand: str
    cards: tuple[str, ...]
    total: int | None


@dataclass(frozen=True, slots=True)
class PublicResult:
    """What became of a hand that a seat played, settled: "won", "lost", "pushed" or "half_lost"."""

    seat: int
    hand: str
    result: str


@dataclass(frozen=True, slots=True)
class PublicSettled:
    """What became of all wagers of a seated player together: "won", "lost" or "even". A progressive award is won,
    whatever its amount. `won` names the spots that won, the one that won most first."""

    result: str
    won: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublicChoice:
    """A seat's turn to choose. `options` is None where the options would tell a face-down card."""

    seat: int
    hand: str
    options: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PublicFault:
    """The standing fault as people are told of it. `id` names this one stop; an act that leaves the fault names it."""

    id: str
    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]
    held_cards: int


@dataclass(frozen=True, slots=True)
class PublicHit:
    """A seat's winning wager on a progressive bet, and its `step` at the pit: hit, pending, verified, paid or rejected;
    or disputed, while people have to decide on the amount.

    The wager was won in `round` of `shoe`. It wins `share` of `meter`: `shown_cents`, by what the meter showed. A fixed
    award has no meter. `cents` is what the pit says.
    """

    shoe: int
    round: int
    spot: str
    seat: int
    tier: str
    meter: str | None
    share: str
    shown_cents: int | None
    step: str
    cents: int | None


@dataclass(frozen=True, slots=True)
class PublicWager:
    """Chips on a spot. `refused` is the code that says why the wager does not play; None where it does."""

    seat: int
    back: bool
    spot: str
    cents: int
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Public:
    """Everything that may be shown.

    - `next_round`: the number of the round that is dealt next. A wager that is placed now is for that round.
    - `burned`: how many cards were put away before the shoe's first round, the first card among them.
    - `left_at_cut_card`: how many cards were left when the cutting card came.
    - `hands`: the hands in play; between rounds, the hands of the last round.
    - `next_hand` takes the next card, at `next_seat` where the hand is a seat's.
    - `reveal`: the hands whose cards are turned up first. `squeezing`: the seat that holds a face-down hand's cards;
      None is the dealer.
    - `results`: what became of each hand that a seat played, at Lucky 9 and at Baccarat Royal, until the next round
      ends.
    - `settled`, for as long: what became of the wagers of each seated player.
    - `odd_card`: whether a person may still say that the card drawn in error opens no simulated hand.
    - `kept`: how many cards were drawn early. They are the first cards of the next round.
    - `wagers_stand`: the seats whose sensor saw a wager when a card of the next round left the shoe. No wager is placed
      or changed from then on. None: wagers may be placed.
    - `wagers` lie on the layout, or play. `progressive`: every progressive bet, and its seats once wagers are locked.
    - `commission_owed`: cents by seat.
    """

    table: str
    game: str
    phase: str
    shoe: int | None
    round: int | None
    next_round: int | None
    seats: tuple[int, ...]
    first_card: str | None
    burn_left: int | None
    burned: int | None
    hands: tuple[PublicHand, ...]
    next_hand: str | None
    next_seat: int | None
    choice: PublicChoice | None
    reveal: tuple[str, ...]
    squeezing: dict[str, int | None]
    occupied: tuple[int, ...]
    actives: dict[str, int]
    outcome: str | None
    results: tuple[PublicResult, ...]
    simulated: bool
    odd_card: bool
    kept: int
    wagers_stand: tuple[int, ...] | None
    last_hand: bool
    cards_left: int | None
    left_at_cut_card: int | None
    wagers: tuple[PublicWager, ...]
    progressive: tuple[ProgressiveWagers, ...]
    hits: tuple[PublicHit, ...]
    settled: dict[str, PublicSettled]
    commission_owed: dict[str, int]
    fault: PublicFault | None


@dataclass(frozen=True, slots=True)
class PublicRound:
    """A finished round of the open shoe, as corrected. `outcome`, `natural` and pairs exist in games of two hands."""

    number: int
    simulated: bool
    outcome: str | None
    natural: bool
    player_pair: bool
    banker_pair: bool
    hands: tuple[PublicHand, ...]


def public_rounds(table: Table) -> tuple[PublicRound, ...]:
    """The finished rounds of the open shoe, without void rounds."""
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
    """The public face of `table`."""
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
        simulated=(isinstance(phase, HandInPlay) and phase.wagers is None) or bool(last and last.simulated),
        odd_card=odd_card(table),
        kept=len(table.kept),
        wagers_stand=table.chips_noted if isinstance(phase, WagersOpen) else None,
        last_hand=_is_last_hand(table),
        cards_left=known_left(table),
        left_at_cut_card=table.shoe.left_at_cut_card if table.shoe else None,
        wagers=_wagers(table, wagers),
        progressive=tuple((wagers or NO_WAGERS).on(bet.spot) for bet in table.rules.progressives),
        hits=tuple(_hit(table, hit) for hit in table.hits),
        settled=_settled(last.settlement) if last and last.settlement else {},
        commission_owed={str(seat): cents for seat, cents in table.commission_owed.items()},
        fault=_fault(table),
    )


def _hands(table: Table) -> tuple[PublicHand, ...]:
    last = table.last_round
    if isinstance(table.phase, HandInPlay):
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
    """Midi: who holds each hand's cards while the round is dealt (sheet 000)."""
    if not isinstance(table.phase, Locked | HandInPlay) or not table.rules.play.squeezed:
        return {}
    player, banker = squeezing(table.rules.wagers, (table.locked_wagers or NO_WAGERS).placed)
    return {"player": player, "banker": banker}


def _wagers(table: Table, locked: Wagers | None) -> tuple[PublicWager, ...]:
    placed = [(wager, None) for wager in (locked.placed if locked else table.placed)]
    refused = [(each.wager, each.code) for each in (locked.refused if locked else ())]
    return tuple(
        PublicWager(wager.seat, wager.back, wager.spot, wager.cents, code) for wager, code in (*placed, *refused)
    )


def _is_last_hand(table: Table) -> bool:
    """Whether the round that takes wagers or is dealt now is the last of the shoe."""
    if table.shoe is None or table.shoe.last_hand is None:
        return False
    in_play = isinstance(table.phase, HandInPlay)  # a simulated hand does not count, so it is never the last
    return table.shoe.wagered_hands + (0 if in_play else 1) >= table.shoe.last_hand


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
