"""Decides which wagers bettors may make, and which may lie side by side, by the limits of the house and of its bets.
Money is whole cents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct

from controller.rules.game.bets import Bet, bet_on


class Wager(Struct, frozen=True, forbid_unknown_fields=True):
    """The chips on one spot at a seat. If `back` is True, the chips are those of the back bettor, who stands behind the
    seated player."""

    seat: int
    spot: str
    cents: int
    back: bool = False


class RefusedWager(Struct, frozen=True, forbid_unknown_fields=True):
    """A wager that does not count in the round, and the code of the reason."""

    wager: Wager
    code: str


class WagerRules(Struct, frozen=True, forbid_unknown_fields=True):
    """A table's limits on wagers, in cents.

    Raises ValueError unless each maximum is at least its minimum, and the increment is at least one cent.
    """

    circle_minimum_cents: int
    """The least in a betting circle: one seat's spot of a bet with `limits = "circle"` and no least of its own."""

    circle_maximum_cents: int
    """The most in a betting circle whose bet has no most of its own."""

    side_minimum_cents: int
    """The least on every other spot whose bet has no price and no least of its own."""

    side_maximum_cents: int
    """The most on every other spot whose bet has no price and no most of its own."""

    increment_cents: int
    """Every wager without a price of its own is a multiple of this. 1: any amount in cents."""

    tie_only_meets_minimum: bool
    """Whether a lone tie wager must meet the circle's minimum (sheet 004)."""

    back_bettors: bool
    """Whether one back bettor may stand behind each seat (sheet 001)."""

    one_of: tuple[tuple[str, ...], ...] = (("player", "banker"),)
    """Groups of spots. A bettor may have a wager on only one spot of a group (sheet 000). Example: with the group
    `["dragon_player", "dragon_banker"]` added, no bettor has Dragon Bonus on both hands."""

    counted_together: Literal["every_spot", "circles"] = "every_spot"
    """Where a seated bet and the back bet beside it are held to the limits together. `"every_spot"`: on every spot.
    `"circles"`: in betting circles alone; on every other spot each of the two bets is held to the limits by itself."""

    back_bets_beside: Literal["any_bet", "same_bet"] = "any_bet"
    """Beside which wager of the seated player a back bettor may bet on a spot outside of the circles. `"any_bet"`:
    beside any wager. `"same_bet"`: beside the seated player's wager on the same spot, as in a circle."""

    no_bets_after_round: int | None = None
    """The last round of a shoe in which any wager is taken, by the number that the table shows. A bet may have such a
    number of its own."""

    no_bets_in_final_round: bool = False
    """No wager at all is taken in a shoe's last round. A bet may have this word for itself."""

    largest_circle_counts: Literal["seated_and_back", "seated"] = "seated_and_back"
    """Midi: what makes a circle the largest. `"seated_and_back"`: both bets in the circle together. `"seated"`: the
    seated player's bet alone."""

    equal_circles_squeezed_by: Literal["lowest_seat", "highest_seat", "dealer"] = "lowest_seat"
    """Midi: who gets a hand's cards to squeeze where two or more circles are equally the largest."""

    def __post_init__(self) -> None:
        for of, minimum, maximum in (
            ("circle", self.circle_minimum_cents, self.circle_maximum_cents),
            ("side", self.side_minimum_cents, self.side_maximum_cents),
        ):
            if minimum > maximum:
                above = f"{of}_minimum_cents = {minimum} is above {of}_maximum_cents = {maximum}"
                raise ValueError(f"{above}, which leaves no wager to make", "Lower the minimum or raise the maximum.")
        if self.increment_cents < 1:
            what = f"increment_cents = {self.increment_cents} leaves no wager to make"
            raise ValueError(what, "Write the increment in cents, 1 for any amount.")

    def minimum_cents(self, bet: Bet) -> int:
        """Return the minimum for wagers on this bet: its own, or the house's. Only for a bet without a fixed price."""
        if bet.minimum_cents is not None:
            return bet.minimum_cents
        return self.circle_minimum_cents if bet.limits == "circle" else self.side_minimum_cents

    def least_wager_cents(self, bet: Bet) -> int:
        """Return the smallest possible wager on this bet: its fixed price, or else the smallest multiple of the
        increment that meets the minimum."""
        if bet.price_cents is not None:
            return bet.price_cents
        return -(-self.minimum_cents(bet) // self.increment_cents) * self.increment_cents

    def most_wager_cents(self, bet: Bet) -> int:
        """Return the largest possible wager on this bet: its fixed price, or else the largest multiple of the increment
        within the maximum."""
        if bet.price_cents is not None:
            return bet.price_cents
        return self.maximum_cents(bet) // self.increment_cents * self.increment_cents

    def maximum_cents(self, bet: Bet) -> int:
        """Return the maximum for wagers on this bet: its own, or the house's. Only for a bet without a fixed price."""
        if bet.maximum_cents is not None:
            return bet.maximum_cents
        return self.circle_maximum_cents if bet.limits == "circle" else self.side_maximum_cents


class RoundAhead(Struct, frozen=True):
    """The next round of a shoe on which bettors can wager: its number, and whether it is known to be the shoe's last
    round."""

    number: int
    final: bool = False


def closed_spots(rules: WagerRules, bets: Sequence[Bet], ahead: RoundAhead) -> frozenset[str]:
    """Return the spots that take no wager in the round `ahead`, by the house's rules or by the bet's own rule.

    Some bets need another wager of the bettor beside them. Such a bet is closed too if all the bets that it needs are
    closed.
    """
    closed = {bet.spot for bet in bets if _closes(rules, ahead) or _closes(bet, ahead)}
    while beside := {bet.spot for bet in bets if bet.needs and closed.issuperset(bet.needs)} - closed:
        closed |= beside
    return frozenset(closed)


def _closes(word: WagerRules | Bet, ahead: RoundAhead) -> bool:
    last = word.no_bets_after_round
    return (last is not None and ahead.number > last) or (ahead.final and word.no_bets_in_final_round)


def place(placed: Sequence[Wager], wager: Wager) -> tuple[Wager, ...]:
    """Return the wagers `placed` with `wager` added. It replaces an earlier wager of the same bettor on the same spot.
    A wager of 0 cents removes the earlier wager."""
    others = tuple(other for other in placed if _chips(other) != _chips(wager))
    return (*others, wager) if wager.cents else others


def placing(
    rules: WagerRules,
    bets: Sequence[Bet],
    seats: Collection[int],
    placed: Sequence[Wager],
    wager: Wager,
    actives: Collection[int] = (),
    closed: Collection[str] = (),
) -> str | None:
    """Return the code of the reason to refuse this wager at once, or None if the wager may be put down beside the
    wagers in `placed`.

    `seats` are the seats that may bet. `actives` are the two seats that play against each other in Baccarat Royal.
    `closed` are the spots that take no wager in this round; chips may still be taken away from them. A wager over the
    maximum is refused at once. A wager under the minimum is not refused here, because more chips may follow. `stand`
    judges minimums, and bets that need another bet.
    """
    bet = bet_on(bets, wager.spot)
    if wager.seat not in seats:
        return "no_such_seat"
    if bet is None:
        return "no_such_spot"
    if wager.cents < 0:
        return "not_an_amount"
    if wager.cents == 0:
        return None
    if wager.spot in closed:
        return "bet_closed"
    if wager.back and (not rules.back_bettors or bet.price_cents is not None or bet.between_actives):
        return "no_back_bettors"  # an award is won by the seat, whose printed pair of cards decides
    if (wager.seat in actives) != bet.between_actives:
        return "active_seat" if wager.seat in actives else "not_active"
    if bet.price_cents is not None:
        return None if wager.cents == bet.price_cents else "wrong_price"
    if wager.cents % rules.increment_cents:
        return "not_in_increment"
    others = _spots_of(wager, placed) - {wager.spot}
    if any(wager.spot in group and not others.isdisjoint(group) for group in rules.one_of):
        return "both_sides"
    together = _held_to_limits(rules, bet, wager, place(placed, wager))
    return "over_maximum" if together > rules.maximum_cents(bet) else None


def stand(
    rules: WagerRules,
    bets: Sequence[Bet],
    seats: Collection[int],
    placed: Sequence[Wager],
    actives: Collection[int] = (),
    closed: Collection[str] = (),
) -> tuple[tuple[Wager, ...], tuple[RefusedWager, ...]]:
    """Judge all wagers at the end of betting. Return the wagers that count in the round, and the refused wagers, each
    with the first reason found.

    `placed` holds at most one wager for each bettor and spot. `seats` are the seats that may bet. `actives` are the two
    seats that play against each other in Baccarat Royal. `closed` are the spots that take no wager in this round.
    First, each wager is judged as `placing` does, beside the wagers kept so far. Then wagers that lack another wager,
    or are under a minimum, are refused. This is repeated until no further wager is refused, because a refused wager may
    be one that another wager needs. For example, if a banker wager is under the minimum, it is refused, and the Dragon
    Bonus of the same bettor with it.
    """
    refused: dict[Wager, str] = {}
    standing: tuple[Wager, ...] = ()
    for wager in placed:
        if code := placing(rules, bets, seats, standing, wager, actives, closed):
            refused[wager] = code
        else:
            standing = (*standing, wager)
    while falling := {wager: code for wager in standing if (code := _falls(rules, bets, standing, wager))}:
        refused |= falling
        standing = tuple(wager for wager in standing if wager not in falling)
    return standing, tuple(RefusedWager(wager, refused[wager]) for wager in placed if wager in refused)


def squeezing(rules: WagerRules, wagers: Sequence[Wager]) -> tuple[int | None, int | None]:
    """Return the two seats that squeeze (turn up) Player's cards and Banker's cards. On each side it is the seat with
    the largest wager in that side's betting circle.

    A seat is None if the dealer turns up the cards. The dealer does so if nobody bet on that side. If the largest
    wagers are equal, the house's rules may let the dealer do so too.
    """
    return _largest(rules, wagers, "player"), _largest(rules, wagers, "banker")


def _falls(rules: WagerRules, bets: Sequence[Bet], standing: Sequence[Wager], wager: Wager) -> str | None:
    """Return the code of the reason why `wager` does not count in the round, or None if it counts. `standing` are all
    wagers that have not been refused so far, `wager` among them."""
    bet, own = bet_on(bets, wager.spot), _spots_of(wager, standing)
    assert bet is not None, "it stands"
    if bet.needs and own.isdisjoint(bet.needs):
        return _NEEDS.get(bet.spot, "needs_another")
    if bet.maximum_of_needed is not None and wager.cents > bet.maximum_of_needed * _needed_cents(bet, wager, standing):
        return "over_needed"
    circles = {each.spot for each in bets if each.limits == "circle"}
    if wager.back and not _beside_the_seated(rules, standing, wager, circles):
        return "back_without_seat"
    if bet.price_cents is not None:
        return None
    together, minimum = _held_to_limits(rules, bet, wager, standing), rules.minimum_cents(bet)
    alone = wager.spot == "tie" and own.isdisjoint(circles)
    if alone and rules.tie_only_meets_minimum and together < rules.circle_minimum_cents:
        return "tie_under_minimum"
    if together < minimum:
        return "under_minimum"
    stakes = {other.cents for other in standing if other.spot == bet.spot and other.cents >= minimum}
    return "stakes_differ" if bet.unequal_stakes == "refused" and len(stakes) > 1 else None


_NEEDS = {
    "tie": "tie_needs_hand",
    "lucky9_bonus": "bonus_needs_hand",
    "dragon_player": "dragon_needs_main",
    "dragon_banker": "dragon_needs_main",
}
"""The codes for bets of the five sheets that need another bet. Every other such bet has the code `needs_another`."""


def _beside_the_seated(rules: WagerRules, standing: Sequence[Wager], back: Wager, circles: Collection[str]) -> bool:
    """Tell whether a back bettor's wager (`back`) is allowed beside the wagers of the seated player. In a betting
    circle, the seated player must have a wager in the same circle. On any other spot, the house's rule
    `back_bets_beside` says whether the seated player needs a wager on the same spot or on any spot."""
    seated = {wager.spot for wager in standing if wager.seat == back.seat and not wager.back}
    return back.spot in seated if back.spot in circles or rules.back_bets_beside == "same_bet" else bool(seated)


def _spots_of(bettor: Wager, wagers: Sequence[Wager]) -> set[str]:
    """Return every spot on which the bettor who made the wager `bettor` has a wager."""
    return {other.spot for other in wagers if (other.seat, other.back) == (bettor.seat, bettor.back)}


def _needed_cents(bet: Bet, bettor: Wager, wagers: Sequence[Wager]) -> int:
    """Return the sum in cents of a bettor's wagers on the spots that `bet` needs beside it. `bettor` is any wager of
    that bettor."""
    own = [other for other in wagers if (other.seat, other.back) == (bettor.seat, bettor.back)]
    return sum(other.cents for other in own if other.spot in bet.needs)


def _held_to_limits(rules: WagerRules, bet: Bet, wager: Wager, wagers: Sequence[Wager]) -> int:
    """Return the amount in cents that is compared with the bet's limits. This is the wager alone, or the sum of the
    seated player's wager and the back bettor's wager on the same spot at the seat."""
    together = bet.limits == "circle" or rules.counted_together == "every_spot"
    return _together(wager, wagers) if together else wager.cents


def _together(wager: Wager, wagers: Sequence[Wager]) -> int:
    """Return the sum in cents of the seated player's wager and the back bettor's wager, on the spot and at the seat of
    `wager`."""
    return sum(other.cents for other in wagers if (other.seat, other.spot) == (wager.seat, wager.spot))


def _largest(rules: WagerRules, wagers: Sequence[Wager], side: str) -> int | None:
    counted = [wager for wager in wagers if rules.largest_circle_counts == "seated_and_back" or not wager.back]
    cents = Counter({wager.seat: _together(wager, counted) for wager in counted if wager.spot == side})
    largest = sorted(seat for seat in cents if cents[seat] == max(cents.values()))
    if not largest or (len(largest) > 1 and rules.equal_circles_squeezed_by == "dealer"):
        return None
    return largest[-1 if rules.equal_circles_squeezed_by == "highest_seat" else 0]


def _chips(wager: Wager) -> tuple[int, bool, str]:
    """Return what identifies a wager among those of a round: its seat, whether it is a back bettor's, and its spot."""
    return wager.seat, wager.back, wager.spot
