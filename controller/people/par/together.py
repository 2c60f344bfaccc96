"""What the bets of one round do together: how many deals each combination of deciding rows has, exactly.

From that follow the covariance of any two bets, and the most that the house pays in one round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

from msgspec import Struct

from controller.people.par.counting import Alike, Deal, Sight, deals, kinds, sight
from controller.people.par.odds import Levels, Odds
from controller.people.par.sheet import Par, Subject, draws_of
from controller.people.par.shoe import fresh
from controller.rules.game.bets import Bet, seen_of
from controller.rules.game.cards import DECK
from controller.rules.game.settlement import Rounding, settled_by_row
from controller.rules.game.wagers import Wager, WagerRules

Rows = tuple[int | None, ...]
"""For each bet the number of the row that decides it, from 0. None: no row."""


class Together(Struct, frozen=True):
    """The deals by the rows that decide these bets at once. Where people choose, by any of their choices."""

    bets: tuple[Bet, ...]
    ways: tuple[tuple[Rows, int], ...]
    left_out: tuple[str, ...]
    """The spots of the bets that are not counted together with the others."""


def together(of: Subject) -> Together:
    """Count the subject's bets together, with the cards of a fresh shoe.

    Left out are bets on a pair that is printed at the bettor's seat, since each seat sees another round; bets that tell
    many cards of both hands apart, beside which a count takes too long; the stakes of two active seats, which the house
    does not pay; and all bets where every seat has a hand of its own.
    """
    bets = tuple(bet for bet in of.bets if not (of.play.seats_play or bet.between_actives or _looks_too_far(bet)))
    left_out = tuple(bet.spot for bet in of.bets if bet not in bets)
    if not bets:
        return Together((), (), left_out)
    seen, ways, examples = kinds(_joint(map(sight, bets)), of.play.naturals), Counter[Alike](), dict[Alike, Deal]()
    for deal in deals(seen, seen.in_shoe(fresh(of.shoe.decks)), draws_of(of.play)):
        alike = seen.seen(deal)
        ways[alike] += deal.ways
        examples.setdefault(alike, deal)
    rows_of = [seen.rows(bet, examples) for bet in bets]
    by_rows = Counter[Rows]()
    for alike, many in ways.items():
        by_rows[tuple(rows[alike] for rows in rows_of)] += many
    return Together(bets, tuple(by_rows.items()), left_out)


_MOST_LOOKS = 4


def _looks_too_far(bet: Bet) -> bool:
    seen = sight(bet)
    looks = {tuple(seen_of(are, card) for are in seen.first_four + seen.all_cards) for card in DECK}
    return len(looks) > _MOST_LOOKS or any(hand.seat_pair for hand in seen.hands)


def _joint(sights: Iterable[Sight]) -> Sight:
    """All that any of these sights tells apart."""
    each = [*sights]
    return Sight(
        any(seen.totals for seen in each),
        tuple(dict.fromkeys(word for seen in each for word in seen.hands)),
        any(seen.identical for seen in each),
        tuple(dict.fromkeys(are for seen in each for are in seen.first_four)),
        tuple(dict.fromkeys(are for seen in each for are in seen.all_cards)),
    )


class Pair(Struct, frozen=True):
    """Two bets that one bettor may make together, one unit on each."""

    spots: tuple[str, str]
    covariance: Fraction
    """Of what the bettor gains on each."""

    correlation: float


def pairs(sheet: Par, of: Together, levels: Levels) -> Iterator[Pair]:
    """Each two bets that may be made together. None where people choose: how they choose decides."""
    if sheet.subject.play.tableau is None:
        return
    odds = {each.spot: each for each in sheet.bets}
    deals_ = sum(many for _, many in of.ways)
    gains = {bet.spot: _gains(bet, odds[bet.spot], levels) for bet in of.bets}
    mean = {spot: -odds[spot].edge(levels) for spot in gains}
    for (place, one), (other_place, other) in combinations(enumerate(of.bets), 2):
        if any({one.spot, other.spot} <= {*group} for group in sheet.subject.wagers.one_of):
            continue
        both = sum(many * gains[one.spot][rows[place]] * gains[other.spot][rows[other_place]] for rows, many in of.ways)
        covariance = Fraction(both) / deals_ - mean[one.spot] * mean[other.spot]
        spread = odds[one.spot].deviation(levels) * odds[other.spot].deviation(levels)
        yield Pair((one.spot, other.spot), covariance, float(covariance) / spread if spread else 0.0)


def _gains(bet: Bet, odds: Odds, levels: Levels) -> dict[int | None, Fraction]:
    """By the row that decides, what the bettor gains for each unit. The last outcome is the lost wager's."""
    *rows, lost = (outcome.worth(levels) for outcome in odds.outcomes)
    return dict[int | None, Fraction](enumerate(rows)) | {None: lost}


class Liability(Struct, frozen=True):
    """The most that the house pays beside the stakes in one round, in whole cents, commission taken off. Every seat has
    made the wagers that win most, each at its limit. Wagers that lose are not set off."""

    cents: int
    wagers: tuple[Wager, ...]
    """What one seat has then on the spots that win, `seat` 1 for any."""

    seats: int
    meters: tuple[str, ...]
    """The meters that the same round wins: each at its level, in `cents` once."""


def liability(of: Subject, count: Together, levels: Levels) -> Liability | None:
    """None where no bet is counted."""
    seats = of.most_seats - 2 * of.play.roles_play  # the active seats make no wager with the house
    found = [_round(of, count, rows, levels, max(seats, 0)) for rows, _ in count.ways]
    return max(found, key=lambda each: each.cents, default=None)


def _round(of: Subject, count: Together, rows: Rows, levels: Levels, seats: int) -> Liability:
    """What the house pays where these rows decide."""
    decided = dict(zip(count.bets, rows, strict=True))
    best, made = 0, tuple[Wager, ...]()
    for layout in _layouts(of.wagers, count.bets):
        won = [(wager, _pays(of.rounding, bet, wager, decided[bet])) for bet, wager in layout.items()]
        if (cents := sum(pays for _, pays in won)) > best:
            best, made = cents, tuple(wager for wager, pays in won if pays)
    shares: dict[str, Fraction] = {}
    for bet, row in decided.items():
        if row is not None and (meter := bet.rows[row].meter) is not None:
            shares[meter] = max(shares.get(meter, Fraction()), bet.rows[row].share)
    on_meters = sum(int(levels.get(meter, 0) * share) for meter, share in shares.items()) if seats else 0
    return Liability(seats * best + on_meters, made, seats, tuple(shares))


def _pays(rounding: Rounding, bet: Bet, wager: Wager, row: int | None) -> int:
    settled = settled_by_row(rounding, bet, wager, None if row is None else bet.rows[row])
    return settled.pays_cents - settled.commission_cents


def _layouts(rules: WagerRules, bets: Sequence[Bet]) -> Iterator[dict[Bet, Wager]]:
    """All that one bettor may wager, each wager at its greatest: one layout for each choice among spots that exclude
    each other."""
    spots = [bet.spot for bet in bets]
    groups = [here for group in rules.one_of if len(here := [spot for spot in group if spot in spots]) > 1]
    seen = set[frozenset[str]]()
    for chosen in product(*groups):
        taken = frozenset(
            spot
            for spot in spots
            if all(spot not in group or spot == one for group, one in zip(groups, chosen, strict=True))
        )
        if taken not in seen:
            seen.add(taken)
            yield _greatest(rules, [bet for bet in bets if bet.spot in taken])


def _greatest(rules: WagerRules, bets: Sequence[Bet]) -> dict[Bet, Wager]:
    """The greatest wager on each of these spots that may stand beside the others."""
    cents = {bet.spot: rules.most_wager_cents(bet) for bet in bets}
    while True:
        limited = dict(cents)
        for bet in bets:
            beside = sum(cents.get(spot, 0) for spot in bet.needs)
            if bet.needs and not beside:
                limited[bet.spot] = 0
            elif bet.maximum_of_needed is not None:
                most, step = int(bet.maximum_of_needed * beside), rules.increment_cents
                limited[bet.spot] = min(cents[bet.spot], most // step * step)
            if limited[bet.spot] < rules.least_wager_cents(bet):
                limited[bet.spot] = 0
        if limited == cents:
            return {bet: Wager(1, bet.spot, cents[bet.spot]) for bet in bets if cents[bet.spot]}
        cents = limited
