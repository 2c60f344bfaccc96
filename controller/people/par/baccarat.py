"""The odds of punto banco: what each bet is worth. The drawing rules of this game leave nobody a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from controller.people.par.counting import Draws, by_row, kinds, tableau_draws
from controller.people.par.odds import CARDS, Counted, Odds, Outcome, by_cards, outcomes
from controller.people.par.shoe import Shoe
from controller.people.par.sights import Sight, sight
from controller.rules.game.baccarat import PuntoBanco, Tableau
from controller.rules.game.bets import Bet
from controller.rules.game.cards import PersonalK9
from controller.table.rules import Seat


def counted(game: PuntoBanco, seats: Sequence[Seat], bets: Sequence[Bet], shoe: Shoe) -> Counted:
    """Return what each bet of punto banco is worth with the cards of this shoe. A bet on the cards printed at the
    bettor's seat gets separate figures for each seat."""
    views = _views(seats)
    seen = {bet: [sight(bet, view.own, view.others) for view in views] for bet in bets}
    ways = _ways(seen, game.tableau, shoe)
    found = []
    for bet, sights in seen.items():
        where: dict[tuple[Outcome, ...], list[str]] = {}
        for view, each in zip(views, sights, strict=True):
            where.setdefault(outcomes(bet, ways[bet, each]), []).append(view.seat)
        by_seat = sights[0].own is not None
        found += [Odds(bet.spot, tuple(at) if by_seat else (), ends) for ends, at in where.items()]

    def of_cards() -> dict[int, Fraction]:
        (ways,) = _ways({CARDS: [sight(CARDS)]}, game.tableau, shoe).values()
        return by_cards(ways)

    return Counted(tuple(found), of_cards)


def draws(game: PuntoBanco) -> Draws:
    """Return which hands take a third card by the tableau (the drawing rules) of the game."""
    return tableau_draws(game.tableau)


class _View(Struct, frozen=True):
    """The view that a bet has from one seat: the seat's name, the cards printed at the seat, and the cards printed at
    the table's other seats."""

    seat: str
    own: PersonalK9
    others: tuple[PersonalK9, ...] = ()


_ANY_TABLE = (
    _View("a seat with a suited King and 9", PersonalK9.parse("KS 9S")),
    _View("a seat with a King and 9 of two suits", PersonalK9.parse("KS 9H")),
)
"""The seats for which a game file's bets are counted. Without a table nothing is printed at another seat."""


def _views(seats: Sequence[Seat]) -> Sequence[_View]:
    printed = [(seat.number, seat.k9) for seat in seats if seat.k9 is not None]
    return [
        _View(f"seat {number}", k9, tuple(other for _, other in printed if other != k9)) for number, k9 in printed
    ] or _ANY_TABLE


def _ways(
    seen: Mapping[Bet, Sequence[Sight]], tableau: Tableau, shoe: Shoe
) -> dict[tuple[Bet, Sight], Counter[int | None]]:
    """Count how many deals each row of a bet's pay table decides, for each bet as seen from each seat. The keys of the
    result are pairs of a bet and the sight that the bet has from a seat (what it can tell apart). Bets that can tell
    the same things apart are counted in one pass."""
    together: dict[Sight, list[Bet]] = {}
    for bet, sights in seen.items():
        for each in dict.fromkeys(sights):
            together.setdefault(each, []).append(bet)
    draws = tableau_draws(tableau)
    return {
        (bet, each): ways
        for each, bets in together.items()
        for bet, ways in zip(bets, by_row(bets, kinds(each, tableau.natural), shoe, draws), strict=True)
    }
