"""Wagers: the spots of a layout, and which wagers may stand together (the sheets' limits). Money is whole cents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum


class Spot(Enum):
    """A place on the layout where chips are put; the value is its name in files, scripts and messages."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    DRAGON_PLAYER = "dragon_player"  # Dragon Bonus on Player's hand
    DRAGON_BANKER = "dragon_banker"
    ROYAL9 = "royal9"
    STAKE = "stake"  # Baccarat Royal: what an active seat plays for against the other
    HAND = "hand"  # Lucky 9: the seat's own hand against the dealer's
    LUCKY9_BONUS = "lucky9_bonus"


@dataclass(frozen=True, slots=True)
class Wager:
    """Chips on a spot of a seat's circle: the seated player's, or the back bettor's behind that seat."""

    seat: int
    spot: Spot
    cents: int
    back: bool = False


@dataclass(frozen=True, slots=True)
class RefusedWager:
    """A wager that does not play, and the code that says why."""

    wager: Wager
    code: str


MAIN = (Spot.PLAYER, Spot.BANKER, Spot.STAKE, Spot.HAND)
"""The spots with a betting circle: each hand or side that a game is played on."""

TRADITIONAL = (*MAIN, Spot.TIE)
"""The wagers that are settled first, and of which an optional one needs another of the same bettor's."""


@dataclass(frozen=True, slots=True)
class WagerRules:
    """A table's limits, in cents. Seated and back bets on one spot of a seat are counted together, on every spot.

    Raises ValueError unless each maximum is at least its minimum, and the increment at least one cent.
    """

    spots: tuple[Spot, ...]
    """Where wagers are taken and known. A table that knows none of `TRADITIONAL` cannot ask another for one of them."""

    circle_minimum_cents: int
    circle_maximum_cents: int
    """Of each circle: a Player, Banker, Stake or Hand spot of one seat."""

    side_minimum_cents: int
    side_maximum_cents: int
    """Of every other spot but Royal 9, which has one price."""

    increment_cents: int
    """Every wager but Royal 9 is a multiple of this; 1 for none."""

    tie_only_meets_minimum: bool
    """A bettor with nothing but a tie wager must meet the circle's minimum with it (sheet 004)."""

    back_bettors: bool
    """One back bettor may stand behind each seat (sheet 001)."""

    def __post_init__(self) -> None:
        if self.circle_minimum_cents > self.circle_maximum_cents or self.side_minimum_cents > self.side_maximum_cents:
            raise ValueError("a maximum below its minimum leaves no wager to make")
        if self.increment_cents < 1:
            raise ValueError("wagers come in increments of at least one cent")


WAGER_REFUSALS = {
    "no_such_seat": "The table has no such seat.",
    "no_such_spot": "This game takes no wager there.",
    "not_an_amount": "A wager cannot be less than nothing.",
    "no_back_bettors": "Only the seated player can wager there.",
    "not_active": "Only the two active seats play for a stake.",
    "active_seat": "An active seat plays for its stake and makes no other wager.",
    "wrong_price": "Royal 9 has one price, no more and no less.",
    "not_in_increment": "The wager is not in the table's increments.",
    "both_sides": "One bettor wagers on Player or on Banker, not on both.",
    "over_maximum": "What lies there together would be over the maximum.",
    "under_minimum": "What lies there together is under the minimum.",
    "tie_under_minimum": "A tie wager with no other must meet the table minimum.",
    "back_without_seat": "A back bet needs a wager of the seated player beside it.",
    "tie_needs_hand": "The tie bet needs a wager on the seat's own hand.",
    "bonus_needs_hand": "The Lucky 9 Bonus needs a wager on the seat's own hand.",
    "dragon_needs_main": "Dragon Bonus needs a traditional wager of the same bettor.",
    "royal9_needs_main": "Royal 9 needs a traditional wager of the same bettor.",
}
"""Every code a wager is refused with, and what to tell who made it."""


def place(placed: Sequence[Wager], wager: Wager) -> tuple[Wager, ...]:
    """The wagers with this one in place of the bettor's earlier one on the spot; one of no cents takes it away."""
    others = tuple(other for other in placed if _chips(other) != _chips(wager))
    return (*others, wager) if wager.cents else others


def placing(
    rules: WagerRules,
    royal9_price_cents: int | None,
    seats: Collection[int],
    placed: Sequence[Wager],
    wager: Wager,
    actives: Collection[int] = (),
) -> str | None:
    """The code that refuses this wager at once, None when it may be put down beside those placed.

    `seats` are those that may bet; `actives` the two of them that play each other, in Baccarat Royal. Only what chips
    still to come cannot mend is refused here: minimums, and what needs another wager, are for `stand`.
    """
    if wager.seat not in seats:
        return "no_such_seat"
    if wager.spot not in rules.spots:
        return "no_such_spot"
    if wager.cents < 0:
        return "not_an_amount"
    if wager.cents == 0:
        return None
    if wager.back and (not rules.back_bettors or wager.spot is Spot.ROYAL9):
        return "no_back_bettors"  # a personal K9 is printed at the seat, and one hit is the seat's
    if (wager.seat in actives) != (wager.spot is Spot.STAKE):
        return "active_seat" if wager.seat in actives else "not_active"
    if wager.spot is Spot.ROYAL9:
        return None if wager.cents == royal9_price_cents else "wrong_price"
    if wager.cents % rules.increment_cents:
        return "not_in_increment"
    if _other_side(wager.spot) in _spots_of(wager, placed):
        return "both_sides"
    maximum = rules.circle_maximum_cents if wager.spot in MAIN else rules.side_maximum_cents
    return "over_maximum" if _together(wager, place(placed, wager)) > maximum else None


def stand(
    rules: WagerRules,
    royal9_price_cents: int | None,
    seats: Collection[int],
    placed: Sequence[Wager],
    actives: Collection[int] = (),
) -> tuple[tuple[Wager, ...], tuple[RefusedWager, ...]]:
    """At lock: the wagers that play, and those that do not with the first reason found, both in the order placed.

    `placed` holds one wager a bettor and spot, as `place` leaves them; `seats` and `actives` as for `placing`. Every
    wager is judged anew as by `placing`, beside those kept before it. Then refusing one may take away what another
    needs, or bring its circle under the minimum, until all that are left stand.
    """
    refused: dict[Wager, str] = {}
    standing: tuple[Wager, ...] = ()
    for wager in placed:
        if code := placing(rules, royal9_price_cents, seats, standing, wager, actives):
            refused[wager] = code
        else:
            standing = (*standing, wager)
    while falling := {wager: code for wager in standing if (code := _falls(rules, standing, wager))}:
        refused |= falling
        standing = tuple(wager for wager in standing if wager not in falling)
    return standing, tuple(RefusedWager(wager, refused[wager]) for wager in placed if wager in refused)


def squeezing(wagers: Sequence[Wager]) -> tuple[int | None, int | None]:
    """The seats that are handed Player's cards and Banker's: each side's largest circle, None for the dealer.

    A seated and a back bet in one circle count together, and of equals the lowest seat number squeezes (choices).
    """
    return _largest(wagers, Spot.PLAYER), _largest(wagers, Spot.BANKER)


def _falls(rules: WagerRules, standing: Sequence[Wager], wager: Wager) -> str | None:
    """Why this wager, of those still standing, does not play; None when nothing is against it."""
    own = _spots_of(wager, standing)
    if code := _needs_another(rules, own, wager.spot):
        return code
    if wager.back and not _beside_the_seated(standing, wager):
        return "back_without_seat"
    if wager.spot is Spot.ROYAL9:
        return None
    together = _together(wager, standing)
    if wager.spot is Spot.TIE and own.isdisjoint(MAIN) and rules.tie_only_meets_minimum:
        return "tie_under_minimum" if together < rules.circle_minimum_cents else None
    minimum = rules.circle_minimum_cents if wager.spot in MAIN else rules.side_minimum_cents
    return "under_minimum" if together < minimum else None


def _needs_another(rules: WagerRules, own: Collection[Spot], spot: Spot) -> str | None:
    """The code for a spot that is bet in addition to another, where the bettor's `own` do not hold that."""
    if spot in MAIN or (spot is Spot.TIE and Spot.HAND not in rules.spots):
        return None
    needed = (Spot.HAND,) if Spot.HAND in rules.spots else TRADITIONAL
    if any(other in own for other in needed) or not any(other in rules.spots for other in needed):
        return None
    return _NEEDS[spot]


_NEEDS = {
    Spot.TIE: "tie_needs_hand",
    Spot.LUCKY9_BONUS: "bonus_needs_hand",
    Spot.DRAGON_PLAYER: "dragon_needs_main",
    Spot.DRAGON_BANKER: "dragon_needs_main",
    Spot.ROYAL9: "royal9_needs_main",
}


def _beside_the_seated(standing: Sequence[Wager], back: Wager) -> bool:
    """The seated player has a wager in the back bettor's circle; beside any other spot, any wager at all (choice)."""
    seated = {wager.spot for wager in standing if wager.seat == back.seat and not wager.back}
    return back.spot in seated if back.spot in MAIN else bool(seated)


def _spots_of(bettor: Wager, wagers: Sequence[Wager]) -> set[Spot]:
    """Every spot on which the bettor of this wager has one."""
    return {other.spot for other in wagers if (other.seat, other.back) == (bettor.seat, bettor.back)}


def _other_side(spot: Spot) -> Spot | None:
    return {Spot.PLAYER: Spot.BANKER, Spot.BANKER: Spot.PLAYER}.get(spot)


def _together(wager: Wager, wagers: Sequence[Wager]) -> int:
    """The cents on this wager's spot of its seat, seated and back."""
    return sum(other.cents for other in wagers if (other.seat, other.spot) == (wager.seat, wager.spot))


def _largest(wagers: Sequence[Wager], side: Spot) -> int | None:
    circles = [wager for wager in wagers if wager.spot is side]
    largest = min(circles, key=lambda wager: (-_together(wager, circles), wager.seat), default=None)
    return largest.seat if largest else None


def _chips(wager: Wager) -> tuple[int, bool, Spot]:
    """Where a wager's chips lie and whose they are: there is one wager at a time."""
    return wager.seat, wager.back, wager.spot
