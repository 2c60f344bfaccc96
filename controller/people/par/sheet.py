"""The par sheet: the house edge and the other odds of every bet of a game or of a table, with the cards of a given
shoe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from math import ceil, perm
from pathlib import Path

from msgspec import Struct

from controller.basics.errors import TableError
from controller.daemon.config import is_game_file, load, load_game
from controller.daemon.config.game_file import left_out, play_of
from controller.people.par.counting import Draws
from controller.people.par.odds import Counted, Odds
from controller.people.par.shoe import Shoe, fresh
from controller.rules.game.bets import Bet
from controller.rules.game.cards import DECK
from controller.rules.game.games import Game
from controller.rules.game.settlement import Rounding
from controller.rules.game.wagers import WagerRules
from controller.table.rules import Seat, ShoeRules
from controller.table.shoe_life import cards_to_burn


class Subject(Struct, frozen=True):
    """The rules of the game or table whose odds are counted. `digest` is a SHA-256 over the values in its files."""

    name: str
    sheet: str
    digest: str
    seats: tuple[Seat, ...]
    """Empty for a game file, which has no table."""

    most_seats: int
    shoe: ShoeRules
    play: Game
    wagers: WagerRules
    bets: tuple[Bet, ...]
    rounding: Rounding
    left_out: tuple[tuple[str, str], ...]
    """The keys that are the same in every shipped game, and the value of each that holds here."""


class RoundsInShoe(Struct, frozen=True):
    """How many cards a round takes, and how many rounds a shoe has."""

    seats: int | None
    """Where every seat has a hand of its own: the number of seats in play."""

    by_cards: dict[int, Fraction]
    """How often a round takes each number of cards; where every seat has its own hand, how often a seat does."""

    cards_a_round: Fraction
    """How many cards a round takes on average, with the dealer's and every seat's."""

    about: float
    """Wagered rounds in a shoe: an estimate, since the order of rounds in a shoe is not counted."""

    fewest: int
    most: int


class Par(Struct, frozen=True):
    """The par sheet of a game or a table: the odds of every bet. `cards` is the number of cards in the shoe for which
    they were counted."""

    subject: Subject
    cards: int
    bets: tuple[Odds, ...]
    hands: tuple[RoundsInShoe, ...]
    """One entry, or one for each number of seats where that number matters; empty for an open shoe."""

    play: tuple[str, ...]
    """The best play where people choose, a line for each choice."""

    method: str
    """How the figures were counted, in a paragraph."""

    left_out: tuple[str, ...] = ()
    """The spots of the bets that were not counted."""

    @property
    def deals(self) -> int:
        """The number of ordered deals over which the odds were counted. Each deal has as many cards as one round can
        take at most, with one seat in play."""
        return perm(self.cards, self.cards_a_deal)

    @property
    def cards_a_deal(self) -> int:
        """The most cards that one round can take, with one seat in play."""
        return self.subject.play.most_cards(1)


def subject(path: Path) -> Subject:
    """Read the rules whose odds are to be counted from a table's file or a game file. Raises ConfigError, which names
    every mistake."""
    if is_game_file(path):
        game, digest = load_game(path)
        named = game.name, game.sheet, digest
        shoe, play, rounding = game.shoe, play_of(game), game.rounding
        return Subject(*named, (), game.most_seats, shoe, play, game.wagers, game.bets, rounding, left_out(game))
    config = load(path)
    rules = config.rules
    seats = rules.seats
    named = rules.game, config.game.sheet, config.digest
    shoe, play, rounding = rules.shoe, rules.play, rules.rounding
    left = left_out(config.game)
    return Subject(*named, seats, len(seats), shoe, play, rules.wagers, rules.bets, rounding, left)


def par(of: Subject, shoe: Shoe | None = None) -> Par:
    """Count the par sheet (the odds of every bet) of a game or table with the cards of this shoe. Without `shoe` a
    fresh shoe is taken.

    Raises TableError `too_few_cards`, and `par_not_counted` for a game that cannot be counted.
    """
    cards = fresh(of.shoe.decks) if shoe is None else shoe
    many, needed = sum(cards.values()), of.play.most_cards(1)
    if many < needed:
        do = "Use a shoe that can still deal a round."
        raise TableError("too_few_cards", f"{many} cards are left, and a round can take {needed}.", do)
    counted = _counting(of)(of.play, of.seats, of.bets, cards)
    by_cards = counted.by_cards() if shoe is None else {}
    in_play = range(1, of.most_seats + 1) if of.play.seats_play else (None,)
    hands = tuple(_hands(of, by_cards, seats, counted.dealers) for seats in in_play) if by_cards else ()
    method = f"{_METHOD.format(cards=needed)} {counted.method}".strip()
    return Par(of, many, counted.bets, hands, counted.play, method, counted.left_out)


_Counting = Callable[[Game, Sequence[Seat], Sequence[Bet], Shoe], Counted]


def _counting(of: Subject) -> _Counting:
    """Return the function that counts the odds of this kind of game. It is the function `counted` in a module of this
    folder, which has the same name as the module with the game's rules. Raises TableError `par_not_counted` if there is
    no such module."""
    if find_spec(_file_of(of.play)) is None:
        what = f"The odds of {of.name} cannot be counted: the program has no counting for this kind of game."
        raise TableError("par_not_counted", what, "Name another game.")
    counted: _Counting = import_module(_file_of(of.play)).counted
    return counted


def _file_of(play: Game) -> str:
    return f"{__package__}.{type(play).__module__.rpartition('.')[2]}"


def draws_of(play: Game) -> Draws:
    """Return who may take a third card in this game, which must have the two hands Player and Banker."""
    draws: Callable[[Game], Draws] = import_module(_file_of(play)).draws
    return draws(play)


_METHOD = (
    "Every figure is counted; nothing is simulated. The count goes over all ordered deals of {cards} cards from the "
    "cards of the shoe, without replacement. A round that takes fewer cards counts with every order of the cards after "
    "it. Deals that a bet cannot tell apart are counted together, in whole numbers. The rules that deal and settle at "
    "the table also decide each wager here. The house edge is the part of each unit staked that the house keeps on "
    "average; pushed wagers count as staked. Rounding to the cent is left out. A round later in the shoe has the same "
    "odds, as long as nobody knows the cards that are gone."
)

# How many cards a round takes, and how many rounds a shoe has.


def _hands(of: Subject, by_cards: dict[int, Fraction], seats: int | None, dealers: Fraction) -> RoundsInShoe:
    mean = dealers + (seats or 1) * sum((cards * often for cards, often in by_cards.items()), Fraction())
    return rounds_in_a_shoe(of, seats, by_cards, mean)


def rounds_in_a_shoe(of: Subject, seats: int | None, by_cards: dict[int, Fraction], mean: Fraction) -> RoundsInShoe:
    """Return how many rounds the shoe has, if a round takes `mean` cards on average. `by_cards` maps each number of
    cards to how often a round takes that many. `seats` is the number of seats in play, or None if it does not matter.
    """
    burned = [1 + cards_to_burn(first, of.shoe) for first in DECK]
    least, dealt, most = (
        52 * of.shoe.decks - many - of.shoe.cut_card_from_end
        for many in (max(burned), Fraction(sum(burned), len(burned)), min(burned))
    )
    after, first = of.shoe.hands_after_cut_card, of.shoe.hands_after_cut_card_first
    # The cut card comes inside a round, on average in its middle: half a round more.
    about = dealt / mean + Fraction(1, 2) + after
    longest, shortest = of.play.most_cards(seats or 1), 2 * ((seats or 1) + 1)
    fewest = ceil(least / longest) + min(after, first)
    return RoundsInShoe(seats, by_cards, mean, float(about), fewest, ceil(most / shortest) + max(after, first))
