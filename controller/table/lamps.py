"""What every lamp of the table shows, computed from the table's public state, its sensors and its links. The functions
are pure.

The lamps' names are those in the section `[pins.lamps]` of the table's file. `Pattern` lists the patterns in which
lamps blink, and `SeatSign` says what they mean at a seat's lamp.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum
from itertools import accumulate

from msgspec import Struct

from controller.contract.face.table import Public
from controller.table.acts.itself import HitTested, LampsTested

LAMPS = ("player", "tie", "banker", "draw_player", "draw_banker", "fault")
"""The lamps that are not seats' lamps."""


class Pattern(Enum):
    """How a lamp blinks. The values are milliseconds, lit and dark in turn, repeated for ever: `(600, 600)` is a slow
    blink. No value means dark, and a single value means steadily lit."""

    DARK = ()
    STEADY = (1,)
    FLASH = (150, 1850)
    DOUBLE_FLASH = (120, 120, 120, 1640)
    SLOW_BLINK = (600, 600)
    FAST_BLINK = (120, 120)
    LONG_FLASH = (1500, 300)

    def __init__(self, *spells_ms: int) -> None:
        self._ends_ms = tuple(accumulate(spells_ms))

    def lit(self, clock_ms: int) -> bool:
        """Tell whether a lamp with this pattern is lit at the time `clock_ms` of a monotonic clock. All lamps with the
        same pattern blink in step."""
        if len(self._ends_ms) < 2:
            return bool(self._ends_ms)
        return bisect_right(self._ends_ms, clock_ms % self._ends_ms[-1]) % 2 == 0

    def changes_at_ms(self, clock_ms: int) -> int | None:
        """Return the next time after `clock_ms`, in milliseconds of a monotonic clock, at which a lamp with this
        pattern goes on or off. Return None if the pattern never changes."""
        if len(self._ends_ms) < 2:
            return None
        into_ms = clock_ms % self._ends_ms[-1]
        return clock_ms - into_ms + self._ends_ms[bisect_right(self._ends_ms, into_ms)]


class SeatSign(Enum):
    """The signs that a seat's lamp gives to its player about the progressive wager or about the seat's turn, each with
    its pattern."""

    NOTHING = Pattern.DARK
    INVITATION = Pattern.FLASH  # the wager may be placed
    WAGER_SEEN = Pattern.SLOW_BLINK  # the sensor sees the wager; wagers are not locked yet
    ACCEPTED = Pattern.STEADY  # wagers are locked: this wager plays
    REFUSED = Pattern.DOUBLE_FLASH  # wagers are locked: this wager does not play
    HIT = Pattern.FAST_BLINK  # the wager won: until the next lock, or a progressive until a person resets the hit
    TURN = Pattern.LONG_FLASH  # the seat acts: it chooses, takes the next card, or squeezes face-down cards


class Live(Struct, frozen=True):
    """The present readings of the sensors and states of the links, which are not journalled.

    `sensed_seats`: the seats whose sensor sees a wager. `pit_fresh`: whether progressives can be bet on.
    `refused_seats`: the seats at which a wager was refused since the last lock, and no wager was accepted later.
    `sensed_open`: whether the bet that the sensors watch takes wagers. `second_person`: whether an act waits for a
    second person.
    """

    sensed_seats: frozenset[int]
    pit_fresh: bool
    shoe_up: bool
    pit_up: bool
    journal_ok: bool
    refused_seats: frozenset[int] = frozenset()
    second_person: bool = False
    sensed_open: bool = True


def lamps(face: Public, live: Live) -> dict[str, Pattern]:
    """Return the pattern that each lamp of the table shows now, by the lamp's name."""
    burn_due = face.phase in ("first_card_due", "burning") and face.fault is None
    shown = {f"seat_{seat}": seat_sign(face, live, seat).value for seat in face.seats}
    for outcome in ("player", "banker", "tie"):
        shown[outcome] = _steady(face.outcome == outcome)
    for lamp, hands in (("draw_player", ("player",)), ("draw_banker", ("banker", "dealer"))):
        shown[lamp] = _guidance(face, hands, burn_due)
    shown["fault"] = _fault_lamp(face, live)
    return shown


def under_test(shown: dict[str, Pattern], test: LampsTested | HitTested) -> dict[str, Pattern]:
    """Return the patterns that the lamps show while somebody tests them. `shown` are the patterns that they would show
    without the test."""
    match test:
        case HitTested(seat):
            return shown | {f"seat_{seat}": SeatSign.HIT.value}
        case LampsTested(lamp=lamp):  # pragma: no branch: the last test
            return {name: _steady(lamp in (None, name)) for name in shown}


def _guidance(face: Public, hands: tuple[str, ...], burn_due: bool) -> Pattern:
    """Return the pattern of the lamp that guides the dealer at one hand. The lamp says that a card for the hand is due,
    that the hand's face-down cards must be turned up next, or that the table is paused."""
    if face.fault is None and set(face.reveal) & set(hands):
        return Pattern.DOUBLE_FLASH
    if face.phase == "paused" and face.fault is None:
        return Pattern.FLASH
    due = burn_due or face.next_hand in hands
    return Pattern.SLOW_BLINK if due and face.odd_card else _steady(due)


def seat_sign(face: Public, live: Live, seat: int) -> SeatSign:
    """Return the sign that the lamp of this seat gives to its player."""
    if any(hit.seat == seat for hit in face.hits):
        return SeatSign.HIT
    if face.fault is None and seat in _acting(face):
        return SeatSign.TURN
    refused = any(seat in on.refused_seats for on in face.progressive)
    if refused or any(wager.refused and wager.seat == seat for wager in face.wagers):
        return SeatSign.REFUSED
    if any(seat in on.seats for on in face.progressive):
        return SeatSign.ACCEPTED
    if face.phase != "wagers_open" or face.fault is not None:
        return SeatSign.NOTHING
    spots = {on.spot for on in face.progressive}
    sensed = seat in live.sensed_seats
    laid = {wager.spot for wager in face.wagers if wager.seat == seat} & spots
    seen = sensed or bool(laid)
    late = face.wagers_stand is not None and sensed and seat not in face.wagers_stand
    closed = (sensed and not live.sensed_open) or not laid.isdisjoint(face.closed)
    if seat in live.refused_seats or (seen and not live.pit_fresh) or late or closed:
        return SeatSign.REFUSED
    if not live.pit_fresh or not spots:
        return SeatSign.NOTHING
    if seen:
        return SeatSign.WAGER_SEEN
    invited = face.wagers_stand is None and not spots.issubset(face.closed)
    return SeatSign.INVITATION if invited else SeatSign.NOTHING


def _acting(face: Public) -> set[int | None]:
    """Return the seats that the round waits for. Such a seat must make a choice, gets the next card, or must squeeze
    (slowly turn up) face-down cards."""
    holding = {**face.squeezing, **face.actives}
    squeezing = {seat for hand, seat in holding.items() if hand in face.reveal}
    if face.squeezing and sum(len(hand.cards) for hand in face.hands) >= 4:  # also at a table without the button reveal
        squeezing |= {face.squeezing[hand.hand] for hand in face.hands if hand.total is None}
    return {face.next_seat, face.choice.seat if face.choice else None, *squeezing} - {None}


def _fault_lamp(face: Public, live: Live) -> Pattern:
    """Return the pattern of the fault lamp. Double flash: an act waits for a second person. Fast blink: the table is
    stopped, or its journal cannot be written. Slow blink: the table plays, but the link to the shoe or to the pit is
    down."""
    if live.second_person:
        return Pattern.DOUBLE_FLASH
    if face.fault is not None or not live.journal_ok:
        return Pattern.FAST_BLINK
    return Pattern.DARK if live.shoe_up and live.pit_up else Pattern.SLOW_BLINK


def _steady(lit: bool) -> Pattern:
    return Pattern.STEADY if lit else Pattern.DARK
