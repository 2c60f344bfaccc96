"""A par sheet: what every bet of a game or of a table is worth, with the cards of a given shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, perm
from pathlib import Path

from controller.config import is_game_file, load, load_game
from controller.config.game_file import play_of
from controller.errors import TableError
from controller.game.baccarat import PuntoBanco, Tableau
from controller.game.baccarat_royal import BaccaratRoyal
from controller.game.bets import Bet, Row, When
from controller.game.cards import DECK, PersonalK9
from controller.game.games import Game
from controller.game.lucky9 import Lucky9
from controller.par import actives, lucky9
from controller.par.counting import Sight, by_row, kinds, sight, tableau_draws
from controller.par.odds import Odds, Outcome, outcomes
from controller.par.shoe import Shoe, fresh
from controller.table.rules import Seat, ShoeRules
from controller.table.shoe_life import cards_to_burn


@dataclass(frozen=True, slots=True)
class Subject:
    """The rules that are counted, of a game or of a table. `digest`: SHA-256 over the values of its files."""

    name: str
    sheet: str
    digest: str
    seats: tuple[Seat, ...]
    """Empty for a game file, which has no table."""

    most_seats: int
    shoe: ShoeRules
    play: Game
    bets: tuple[Bet, ...]


@dataclass(frozen=True, slots=True)
class Hands:
    """How many cards a hand takes, and how many hands a shoe has."""

    seats: int | None
    """Where every seat has a hand of its own: the number of seats in play."""

    by_cards: dict[int, Fraction]
    """How often a hand takes each number of cards; where every seat has its own hand, how often a seat does."""

    cards_a_hand: Fraction
    """How many cards a hand takes on average, with the dealer's and every seat's."""

    about: float
    """Wagered hands in a shoe: an estimate, since the order of hands in a shoe is not counted."""

    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class Par:
    """The par sheet of a subject, with the cards from which it was counted."""

    subject: Subject
    cards: int
    bets: tuple[Odds, ...]
    hands: tuple[Hands, ...]
    """One entry, or one for each number of seats where that number matters; empty for an open shoe."""

    play: tuple[str, ...]
    """The best play where people choose, a line for each choice."""

    method: str
    """How the figures were counted, in a paragraph."""

    left_out: tuple[str, ...] = ()
    """The spots of the bets that were not counted."""

    @property
    def deals(self) -> int:
        """The ordered deals of the cards. Each deal has as many cards as a hand can take, with one seat in play."""
        return perm(self.cards, self.cards_a_deal)

    @property
    def cards_a_deal(self) -> int:
        """The most cards that a hand can take, with one seat in play."""
        return self.subject.play.most_cards(1)


def subject(path: Path) -> Subject:
    """The rules in a table's file or a game file. Raises ConfigError, which names every mistake."""
    if is_game_file(path):
        game, digest = load_game(path)
        return Subject(game.name, game.sheet, digest, (), game.most_seats, game.shoe, play_of(game), game.bets)
    config = load(path)
    rules = config.rules
    seats = rules.seats
    return Subject(rules.game, config.game.sheet, config.digest, seats, len(seats), rules.shoe, rules.play, rules.bets)


def par(of: Subject, shoe: Shoe | None = None) -> Par:
    """The par sheet with the cards of this shoe, by default of a fresh shoe.

    Raises TableError `too_few_cards`, and `par_not_counted` for a game that cannot be counted.
    """
    cards = fresh(of.shoe.decks) if shoe is None else shoe
    many, needed = sum(cards.values()), of.play.most_cards(1)
    if many < needed:
        do = "Use a shoe that can still deal a hand."
        raise TableError("too_few_cards", f"{many} cards are left, and a hand can take {needed}.", do)
    hands: tuple[Hands, ...] = ()
    play: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    method = _METHOD.format(cards=needed)
    match of.play:
        case PuntoBanco(tableau=tableau):
            found = _punto_banco(of, tableau, cards)
            if shoe is None:
                ((_, by_cards),) = _counted({_CARDS: [sight(_CARDS)]}, tableau, cards).items()
                hands = (_hands(of, _by_cards(by_cards)),)
        case BaccaratRoyal() as game:
            both = actives.solved(game, (*of.bets, _CARDS), cards)
            *bets, of_cards = both.bets
            found, method = tuple(bets), f"{method} {_NO_PLAY if both.play is None else _BEST_PLAY}"
            play = () if both.play is None else tuple(actives.told(both.play))
            if shoe is None and play:
                hands = (_hands(of, _by_cards({row: each.ways for row, each in enumerate(of_cards.outcomes)})),)
        case Lucky9() as game:
            seat = lucky9.best(game, of.bets, cards)
            found, play = seat.bets, tuple(lucky9.told(seat.seat))
            left_out = seat.left_out
            method = f"{method} {_SEAT}" + (f" Not counted: {', '.join(left_out)}." if left_out else "")
            if shoe is None:
                hands = tuple(_hands(of, seat.by_cards, seats, seat.dealers) for seats in range(1, of.most_seats + 1))
        case _:
            raise TableError("par_not_counted", f"The odds of {of.name} cannot be counted.", "Name another game.")
    return Par(of, many, found, hands, play, method, left_out)


_METHOD = (
    "Every figure is counted; nothing is simulated. The count goes over all ordered deals of {cards} cards from the "
    "cards of the shoe, without replacement. A hand that takes fewer cards counts with every order of the cards after "
    "it. Deals that a bet cannot tell apart are counted together, in whole numbers. The rules that deal and settle at "
    "the table also decide each wager here. The house edge is the part of each unit staked that the house keeps on "
    "average; pushed wagers count as staked. Rounding to the cent is left out. A hand later in the shoe has the same "
    "odds, as long as nobody knows the cards that are gone."
)

_BOUNDS = "The bounds of a bet hold whatever the active seats choose, also if they saw each other's cards."
_BEST_PLAY = (
    "The active seats play as well as they can: each by its own cards, and Banker by Player's third card too. That "
    "play was found exactly, by iterated dominance: each choice is the better one against everything that the other "
    "seat may still do, so neither seat gains by another choice. What a seat loses of its stake goes to the other "
    f"seat, and on a tie to the house. {_BOUNDS}"
)
_SEAT = (
    "The seat plays its own hand as well as it can by its own cards and the dealer's up card. That play was found "
    "exactly: the worth of each call goes over every order of the cards that follow, further splits included. A seat "
    "that takes other seats' cards into account can do better. The figures of the hand are for each unit first staked. "
    "After a split, all hands of the seat count together. A bet that depends on the play of the hand is counted under "
    "that play; its bounds hold however the seat plays."
)
_NO_PLAY = f"No best play of the active seats was found by iterated dominance, so there are only bounds. {_BOUNDS}"


@dataclass(frozen=True, slots=True)
class _View:
    """The place from which a bet is seen: a seat, what is printed there, and at the table's other seats."""

    seat: str
    own: PersonalK9
    others: tuple[PersonalK9, ...] = ()


_ANY_TABLE = (
    _View("a seat with a suited King and 9", PersonalK9.parse("KS 9S")),
    _View("a seat with a King and 9 of two suits", PersonalK9.parse("KS 9H")),
)
"""The seats from which a game file's bets are seen. Without a table nothing is printed at another seat."""


def _views(seats: Sequence[Seat]) -> Sequence[_View]:
    printed = [(seat.number, seat.k9) for seat in seats if seat.k9 is not None]
    return [
        _View(f"seat {number}", k9, tuple(other for _, other in printed if other != k9)) for number, k9 in printed
    ] or _ANY_TABLE


def _punto_banco(of: Subject, tableau: Tableau, shoe: Shoe) -> tuple[Odds, ...]:
    views = _views(of.seats)
    seen = {bet: [sight(bet, view.own, view.others) for view in views] for bet in of.bets}
    ways = _counted(seen, tableau, shoe)
    found = []
    for bet, sights in seen.items():
        seats: dict[tuple[Outcome, ...], list[str]] = {}
        for view, each in zip(views, sights, strict=True):
            seats.setdefault(outcomes(bet, ways[bet, each]), []).append(view.seat)
        by_seat = sights[0].own is not None
        found += [Odds(bet.spot, tuple(where) if by_seat else (), ends) for ends, where in seats.items()]
    return tuple(found)


def _counted(
    seen: Mapping[Bet, Sequence[Sight]], tableau: Tableau, shoe: Shoe
) -> dict[tuple[Bet, Sight], Counter[int | None]]:
    """How many deals each bet's rows decide. Bets with the same sight are counted together."""
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


# How many cards a hand takes, and how many hands a shoe has.

_CARDS = Bet("cards", rows=tuple(Row(When(cards=(many,)), result="push") for many in (4, 5, 6)))


def _by_cards(ways: Mapping[int | None, int]) -> dict[int, Fraction]:
    return {4 + (row or 0): Fraction(many, sum(ways.values())) for row, many in sorted(ways.items()) if many}


def _hands(of: Subject, by_cards: dict[int, Fraction], seats: int | None = None, dealers: Fraction | int = 0) -> Hands:
    mean = dealers + (seats or 1) * sum((cards * often for cards, often in by_cards.items()), Fraction())
    burned = [1 + cards_to_burn(first, of.shoe) for first in DECK]
    least, dealt, most = (
        52 * of.shoe.decks - many - of.shoe.cut_card_from_end
        for many in (max(burned), Fraction(sum(burned), len(burned)), min(burned))
    )
    after, first = of.shoe.hands_after_cut_card, of.shoe.hands_after_cut_card_first
    # The cutting card comes inside a hand: half a hand more, on average.
    about = dealt / mean + Fraction(1, 2) + after
    longest, shortest = of.play.most_cards(seats or 1), 2 * ((seats or 1) + 1)
    fewest = ceil(least / longest) + min(after, first)
    return Hands(seats, by_cards, mean, float(about), fewest, ceil(most / shortest) + max(after, first))
