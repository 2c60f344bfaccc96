"""The most that the house pays in one round, beside the stakes that it returns. Every seat, and everybody who bets
behind a seat, is assumed to have made the wagers that win most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from controller.people.par.odds import Levels
from controller.people.par.sheet import Subject
from controller.people.par.together import Rows, Together
from controller.rules.game.bets import Bet, Row
from controller.rules.game.settlement import Rounding, settled_by_row
from controller.rules.game.wagers import Wager, WagerRules, stand


class Liability(Struct, frozen=True, kw_only=True):
    """The most that the house pays in one round, in whole cents, after commission. The stakes that the house returns do
    not count. Every seat is assumed to have made the wagers that win most, each at its limit. Wagers that lose are not
    deducted."""

    cents: int
    wagers: tuple[Wager, ...]
    """What one seat has then on the spots that win, and the bettor behind it, `seat` 1 for any."""

    seats: int
    meters: tuple[str, ...]
    """The meters that the same round wins: each at its level, in `cents` once."""

    stakes: tuple[Wager, ...] = ()
    """What the two active seats have staked, Player's seat first, where the house pays a part of what one of them
    wins. What the other one loses is set off."""


_Layout = Sequence[tuple[Bet, Wager]]


def liability(of: Subject, count: Together, levels: Levels) -> Liability | None:
    """Return the most that the house can pay in one round. Returns None if no bet is counted. `count` holds each
    combination of pay table rows that can decide the bets in one round. `levels` are the amounts on the progressive
    meters."""
    seats = max(of.most_seats - 2 * of.play.roles_play, 0)  # the active seats make no wager with the house
    layouts = [*_layouts(of.wagers, count.bets)]
    found = [_round(of, count, rows, levels, layouts, seats) for rows, _ in count.ways]
    return max(found, key=lambda loss: loss.cents, default=None)


def _round(
    of: Subject, count: Together, rows: Rows, levels: Levels, layouts: Iterable[_Layout], seats: int
) -> Liability:
    """Return the most that the house pays in a round in which the bets are decided by `rows`, one row of each bet's pay
    table. `layouts` are the sets of wagers that one seat can make. `seats` is the number of seats that make wagers."""
    decided = dict(zip(count.bets, rows, strict=False))  # the stakes' rows follow
    best, made = 0, tuple[Wager, ...]()
    for layout in layouts if seats else ():
        won = [(wager, _pays(of.rounding, bet, wager, _row(bet, decided[bet]))) for bet, wager in layout]
        if (cents := sum(pays for _, pays in won)) > best:
            best, made = cents, tuple(wager for wager, pays in won if pays)
    shares: dict[str, Fraction] = {}
    for bet, row in decided.items():
        if row is not None and (meter := bet.rows[row].meter) is not None:
            shares[meter] = max(shares.get(meter, Fraction()), bet.rows[row].share)
    cents = seats * best + (sum(int(levels.get(meter, 0) * share) for meter, share in shares.items()) if seats else 0)
    staked = tuple[Wager, ...]()
    for place, stake in enumerate(count.stakes):
        one, other = (_row(stake, row) for row in rows[len(count.bets) + 2 * place :][:2])
        more, both = _of_actives(of, stake, one, other)
        cents, staked = cents + more, staked + both
    return Liability(cents=cents, wagers=made, seats=seats, meters=tuple(shares), stakes=staked)


def _row(bet: Bet, number: int | None) -> Row | None:
    return None if number is None else bet.rows[number]


def _pays(rounding: Rounding, bet: Bet, wager: Wager, row: Row | None) -> int:
    settled = settled_by_row(rounding, bet, wager, row)
    return settled.pays_cents - settled.commission_cents


# The active seats.


def _of_actives(of: Subject, stake: Bet, one: Row | None, other: Row | None) -> tuple[int, tuple[Wager, ...]]:
    """Return the most that the house pays for the stakes of the two active seats against each other, and the stakes
    with which that happens. The loss of the losing seat is subtracted. `one` and `other` are the rows of the pay table
    that decide for the two seats."""
    ends = of.wagers.least_wager_cents(stake), of.wagers.most_wager_cents(stake)
    found = [(_beside(of, stake, (one, other), cents), cents) for cents in product(ends, repeat=2)]
    most, cents = max(found)
    return (most, tuple(Wager(seat, stake.spot, each) for seat, each in enumerate(cents, 1))) if most > 0 else (0, ())


def _beside(of: Subject, stake: Bet, rows: Iterable[Row | None], cents: Sequence[int]) -> int:
    """Return how many cents more the two active seats together get back than they have staked. `cents` holds the stakes
    of the two seats, and `rows` the rows of the pay table that decide for them."""
    covered, same = stake.unequal_stakes == "house_covers", len({*cents}) == 1
    plays = cents if covered else [0, 0] if stake.unequal_stakes == "refused" and not same else [min(cents)] * 2
    return sum(
        settled_by_row(of.rounding, stake, Wager(1, stake.spot, each), row).returned_cents - each
        for row, each in zip(rows, plays, strict=True)
    )


# The seats.


def _layouts(rules: WagerRules, bets: Sequence[Bet]) -> Iterator[_Layout]:
    """Yield the sets of wagers that the bettors of one seat may make at the same time, each wager as great as the rules
    allow."""
    of = {bet.spot: bet for bet in bets}
    made = dict.fromkeys(tuple(placed) for placed in _placed(rules, bets))
    for placed in made:
        standing, _ = stand(rules, bets, (1,), placed)
        yield [(of[wager.spot], wager) for wager in standing]


def _placed(rules: WagerRules, bets: Sequence[Bet]) -> Iterator[list[Wager]]:
    """Yield the sets of wagers that a seat alone can make, and those that a seat and a bettor behind it can make, each
    wager as great as possible. If one limit holds for both bettors together, they either share it equally, or one bets
    the smallest unit and the other the rest."""
    chosen = [*_chosen(rules, bets)]
    for own in chosen:
        most = {spot: rules.most_wager_cents(bet) for spot, bet in own.items()}
        yield _greatest(rules, own, most)
        for behind in chosen if rules.back_bettors else ():
            yield from _with_back_bettor(rules, own, {**behind})


def _chosen(rules: WagerRules, bets: Sequence[Bet]) -> Iterator[dict[str, Bet]]:
    """Yield the sets of bets that one bettor may make at the same time. From a group of spots that exclude each other,
    each set has only one spot."""
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
            yield {bet.spot: bet for bet in bets if bet.spot in taken}


def _with_back_bettor(rules: WagerRules, own: dict[str, Bet], behind: dict[str, Bet]) -> Iterator[list[Wager]]:
    may = {
        spot: bet
        for spot, bet in behind.items()
        if bet.price_cents is None
        and (spot in own or not (bet.limits == "circle" or rules.back_bets_beside == "same_bet"))
    }
    step = rules.increment_cents
    for part in (lambda most: most // step // 2 * step, lambda _: step, lambda most: most - step):
        seated, back = ({spot: rules.most_wager_cents(bet) for spot, bet in of.items()} for of in (own, may))
        for spot in seated.keys() & may.keys():
            if may[spot].limits == "circle" or rules.counted_together == "every_spot":
                back[spot] = max(0, part(seated[spot]))
                seated[spot] -= back[spot]
        yield [
            *_greatest(rules, own, seated, shared=True),
            *(replace(wager, back=True) for wager in _greatest(rules, may, back, shared=True)),
        ]


def _greatest(rules: WagerRules, bets: dict[str, Bet], most: dict[str, int], *, shared: bool = False) -> list[Wager]:
    """Return the greatest wager on each of these bets, up to `most` cents for each spot. Some bets are allowed only
    beside a wager on another bet, or are limited by that wager. With `shared` a wager below the bet's minimum is kept,
    because another bettor at the seat may add to it."""
    cents = dict(most)
    while True:
        limited = dict(cents)
        for spot, bet in bets.items():
            beside = sum(cents.get(needed, 0) for needed in bet.needs)
            if bet.needs and not beside:
                limited[spot] = 0
            elif bet.maximum_of_needed is not None:
                step = rules.increment_cents
                limited[spot] = min(cents[spot], int(bet.maximum_of_needed * beside) // step * step)
            if limited[spot] < rules.least_wager_cents(bet) and not shared:
                limited[spot] = 0
        if limited == cents:
            return [Wager(1, spot, cents[spot]) for spot in bets if cents[spot]]
        cents = limited
