"""Counts how the bets of one round end together: in exactly how many deals the bets are decided by each combination of
their pay tables' rows.

From these counts follow the covariance of any two bets, and the most that the house can pay in one round (`liability`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations

from msgspec import Struct

from controller.people.par.baccarat_royal import OWN
from controller.people.par.counting import Alike, Deal, deals, kinds
from controller.people.par.odds import Levels, Odds
from controller.people.par.sheet import Par, Subject, draws_of
from controller.people.par.shoe import fresh
from controller.people.par.sights import Sight, sight
from controller.rules.game.bets import Bet, seen_of
from controller.rules.game.cards import DECK

Rows = tuple[int | None, ...]
"""For each bet the number of the row that decides it, from 0. None: no row."""


class Together(Struct, frozen=True):
    """How the bets of one round end together: the number of deals for each combination of pay table rows that decide
    the bets. If people choose, the deals of all their choices are included."""

    bets: tuple[Bet, ...]
    stakes: tuple[Bet, ...]
    """The wagers of two active seats against each other. Their rows stand behind those of the bets: of each, the row
    that decides for the seat that is Player, and for the seat that is Banker."""

    ways: tuple[tuple[Rows, int], ...]
    left_out: tuple[str, ...]
    """The spots of the bets that are not counted together with the others."""


def together(of: Subject) -> Together:
    """Count how the bets of the game or table end together in one round, with the cards of a fresh shoe.

    Three sorts of bet are left out: bets on the cards printed at the bettor's seat, because they end differently at
    each seat; bets that distinguish many cards of both hands, because the count would take too long; and all bets of a
    game in which every seat has its own hand. A bet of the two active seats against each other is counted twice, once
    for each of the two seats.
    """
    found = tuple(bet for bet in of.bets if not (of.play.seats_play or _looks_too_far(bet)))
    bets, stakes = (tuple(bet for bet in found if bet.between_actives is active) for active in (False, True))
    left_out = tuple(bet.spot for bet in of.bets if bet not in bets)
    if not found:
        return Together((), (), (), left_out)
    seen, ways, examples = kinds(_joint(map(sight, found)), of.play.naturals), Counter[Alike](), dict[Alike, Deal]()
    for deal in deals(seen, seen.in_shoe(fresh(of.shoe.decks)), draws_of(of.play)):
        alike = seen.seen(deal)
        ways[alike] += deal.ways
        examples.setdefault(alike, deal)
    rows_of = [seen.rows(bet, examples) for bet in bets]
    rows_of += [seen.rows(bet, examples, names) for bet in stakes for names in OWN.values()]
    by_rows = Counter[Rows]()
    for alike, many in ways.items():
        by_rows[tuple(rows[alike] for rows in rows_of)] += many
    return Together(bets, stakes, tuple(by_rows.items()), left_out)


_MOST_LOOKS = 4


def _looks_too_far(bet: Bet) -> bool:
    seen = sight(bet)
    looks = {tuple(seen_of(are, card) for are in seen.first_four + seen.all_cards) for card in DECK}
    return len(looks) > _MOST_LOOKS or any(hand.seat_pair for hand in seen.hands)


def _joint(sights: Iterable[Sight]) -> Sight:
    """Combine several sights (a sight is what a bet can tell apart) into one sight, which tells apart everything that
    any of them tells apart."""
    each = [*sights]
    return Sight(
        any(seen.totals for seen in each),
        tuple(dict.fromkeys(word for seen in each for word in seen.hands)),
        any(seen.identical for seen in each),
        tuple(dict.fromkeys(are for seen in each for are in seen.first_four)),
        tuple(dict.fromkeys(are for seen in each for are in seen.all_cards)),
    )


class Pair(Struct, frozen=True):
    """Two bets that one bettor may make in the same round, with one unit on each."""

    spots: tuple[str, str]
    covariance: Fraction
    """Of what the bettor gains on each."""

    correlation: float


def pairs(sheet: Par, of: Together, levels: Levels) -> Iterator[Pair]:
    """Yield every two bets that one bettor may make in the same round, with their covariance and correlation. If people
    choose in the game, nothing is yielded, because the figures would depend on their choices."""
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
    """Return what the bettor gains for each unit staked, as a dict from the index of the deciding row of the pay table
    to the gain. The key None stands for the lost wager."""
    *rows, lost = (outcome.worth(levels) for outcome in odds.outcomes)
    return dict[int | None, Fraction](enumerate(rows)) | {None: lost}
