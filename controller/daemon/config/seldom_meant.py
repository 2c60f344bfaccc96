"""What a game's file may say and seldom means: a warning each, in the file's own keys.

A mistake leaves a table that cannot be played. What stands here can be played, and some house may want it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from controller.daemon.config.game_file import GameFile, play_of
from controller.rules.game.baccarat import Tableau
from controller.rules.game.bets import Bet
from controller.rules.game.wagers import WagerRules
from controller.table.rules import ShoeRules

_A_DOLLAR_CENTS = 100
"""The least chip of a table. A smaller amount was likely written in dollars."""

_PLAYER_DRAWS = range(6)
_BANKER_DRAWS_WHEN_PLAYER_STANDS = range(6)
_BANKER_DRAWS_ON_THIRD_CARD: Mapping[int, Sequence[int]] = {
    **dict.fromkeys(range(3), range(10)),
    3: [third for third in range(10) if third != 8],
    4: range(2, 8),
    5: range(4, 8),
    6: range(6, 8),
    7: (),
}
"""The rules of drawing by which punto banco is dealt everywhere."""


def seldom_meant(game: GameFile) -> Iterator[str]:
    """The warnings about a game's file without mistakes."""
    yield from _small_amounts(game.wagers, game.bets)
    yield from _minimums_between_chips(game.wagers, game.bets)
    yield from _cut_card(game.shoe)
    if (tableau := play_of(game).tableau) is not None:
        yield from _own_tableau(tableau)
    for bet in game.bets:
        yield from _awards_out_of_order(bet)
        yield from _ties_that_lose(bet)


def _small_amounts(wagers: WagerRules, bets: Iterable[Bet]) -> Iterator[str]:
    limits = ("circle_minimum_cents", "circle_maximum_cents", "side_minimum_cents", "side_maximum_cents")
    amounts = [(f"wagers.{key}", getattr(wagers, key)) for key in limits]
    own = ("price_cents", "minimum_cents", "maximum_cents")
    amounts += [(f"{bet.spot}: {key}", getattr(bet, key)) for bet in bets for key in own]
    for key, cents in amounts:
        if cents is not None and 0 < cents < _A_DOLLAR_CENTS:
            yield f"{key} = {cents} is {_dollars(cents)}: is {100 * cents} meant, {_dollars(100 * cents)}?"


def _minimums_between_chips(wagers: WagerRules, bets: Iterable[Bet]) -> Iterator[str]:
    step = wagers.increment_cents
    minimums = [(f"wagers.{key}", getattr(wagers, key)) for key in ("circle_minimum_cents", "side_minimum_cents")]
    minimums += [(f"{bet.spot}: minimum_cents", bet.minimum_cents) for bet in bets if bet.minimum_cents is not None]
    for key, cents in minimums:
        if cents % step:
            least = _dollars(cents + -cents % step)
            yield f"{key} = {cents} is no multiple of increment_cents = {step}: the least wager is {least}"


def _cut_card(shoe: ShoeRules) -> Iterator[str]:
    behind, after = shoe.cut_card_from_end, shoe.hands_after_cut_card
    least = max(1, after * shoe.fewest_cards_to_open)
    if behind < least:
        rounds = f"the {'round' if after == 1 else f'{after} rounds'} after it" if after else "it is never seen"
        lost = f"{rounds} cannot be dealt" if after else rounds
        yield f"shoe.cut_card_from_end = {behind}: with fewer than {least} cards behind the cut card {lost}"


def _own_tableau(tableau: Tableau) -> Iterator[str]:
    yield from _difference("player_draws_on", tableau.player_draws_on, _PLAYER_DRAWS)
    stands = "banker_draws_on_when_player_stands"
    yield from _difference(stands, tableau.banker_draws_on_when_player_stands, _BANKER_DRAWS_WHEN_PLAYER_STANDS)
    for banker, thirds in sorted(tableau.banker_draws_on_third_card.items()):
        usual = _BANKER_DRAWS_ON_THIRD_CARD.get(banker, ())
        yield from _difference(f"banker_draws_on_third_card.{banker}", thirds, usual)


def _difference(key: str, says: Iterable[int], usual: Iterable[int]) -> Iterator[str]:
    if set(says) != set(usual):
        more, less = sorted(set(says) - set(usual)), sorted(set(usual) - set(says))
        parts = [f"{what} {', '.join(map(str, points))}" for what, points in (("has", more), ("lacks", less)) if points]
        yield f"tableau.{key} {' and '.join(parts)}: punto banco is dealt otherwise everywhere else"


def _awards_out_of_order(bet: Bet) -> Iterator[str]:
    """The first row that holds decides, so an award beside a greater one below it may pay less than was won."""
    for place, row in enumerate(bet.rows):
        for above in bet.rows[:place]:
            more = row.cents is not None and above.cents is not None and row.cents > above.cents
            if more or (row.meter is not None and row.meter == above.meter and row.share > above.share):
                yield f"{bet.spot}: {row.award} pays more than {above.award} above it: the first row that holds decides"
                break


def _ties_that_lose(bet: Bet) -> Iterator[str]:
    """A bet on the winner that says nothing of a tie. A row that says `result = "lose"` says what is meant."""
    winners = {side for row in bet.rows for side in row.when.winner or ()}
    if bet.limits == "circle" and winners and "tie" not in winners:
        push = '{ when = { winner = "tie" }, result = "push" }'
        yield f'{bet.spot}: a tie loses, since no row says what a tie does: add {push}, or result = "lose"'


def _dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"
