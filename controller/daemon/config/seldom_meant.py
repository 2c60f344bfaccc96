"""Warnings about values in a game's file that are allowed, but are probably a slip. Each warning names the key as the
file has it.

Such a value is no mistake, because a house may want it, and a table can play with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from controller.basics.money import amount, in_use
from controller.daemon.config.game_file import GameFile, play_of
from controller.rules.game.baccarat import Section as PuntoBanco
from controller.rules.game.baccarat import Tableau
from controller.rules.game.bets import Bet, ratio_text
from controller.rules.game.usual import USUAL
from controller.rules.game.wagers import WagerRules

_A_DOLLAR_CENTS = 100
"""The least chip of a table. A smaller amount was likely written in dollars."""


_A_LARGE_COMMISSION = Fraction(1, 10)


def seldom_meant(game: GameFile) -> Iterator[str]:
    """Yield a warning for each value of the game's file that is allowed, but is probably a slip. The file must have no
    mistakes."""
    if in_use().digits:
        yield from _small_amounts(game.wagers, game.bets)
    yield from _limits_between_chips(game.wagers, game.bets)
    yield from _cut_card(game)
    yield from _closing(game)
    if isinstance(game.section, PuntoBanco):
        yield from _tableau(game.section)
    for bet in game.bets:
        yield from _most_paid_is_never_reached(game.wagers, bet)
        yield from _awards_out_of_order(bet)
        yield from _awards_below_the_price(bet)
        yield from _ties_that_lose(bet)
        yield from _commissions(bet)


def _small_amounts(wagers: WagerRules, bets: Iterable[Bet]) -> Iterator[str]:
    limits = ("circle_minimum_cents", "circle_maximum_cents", "side_minimum_cents", "side_maximum_cents")
    amounts = [(f"wagers.{key}", getattr(wagers, key)) for key in limits]
    own = ("price_cents", "minimum_cents", "maximum_cents")
    amounts += [(f"{bet.spot}: {key}", getattr(bet, key)) for bet in bets for key in own]
    amounts += [(f"{bet.spot}: {row.award}: cents", row.cents) for bet in bets for row in bet.rows]
    if wagers.increment_cents != 1:  # any amount
        amounts.append(("wagers.increment_cents", wagers.increment_cents))
    for key, cents in amounts:
        if cents is not None and 0 < cents < _A_DOLLAR_CENTS:
            yield f"{key} = {cents} is {amount(cents)}: is {100 * cents} meant, {amount(100 * cents)}?"


def _limits_between_chips(wagers: WagerRules, bets: Iterable[Bet]) -> Iterator[str]:
    step = wagers.increment_cents
    of_all = [(f"wagers.{of}_{{}}_cents", wagers, f"{of}_{{}}_cents") for of in ("circle", "side")]
    of_bets = [(f"{bet.spot}: {{}}_cents", bet, "{}_cents") for bet in bets]
    for said, where, field in (*of_all, *of_bets):
        for bound, name, far in (("minimum", "least", 1), ("maximum", "greatest", 0)):
            cents = getattr(where, field.format(bound))
            if cents is not None and cents % step:
                nearest = amount((cents // step + far) * step)
                yield (
                    f"{said.format(bound)} = {cents} is no multiple of increment_cents = {step}: "
                    f"the {name} wager is {nearest}"
                )


def _cut_card(game: GameFile) -> Iterator[str]:
    shoe, begun = game.shoe, play_of(game).most_cards(game.most_seats) - 1
    behind, after = shoe.cut_card_from_end, shoe.hands_after_cut_card
    least = max(1, after * shoe.fewest_cards_to_open)
    if behind < least:
        rounds = f"the {'round' if after == 1 else f'{after} rounds'} after it" if after else "it is never seen"
        lost = f"{rounds} cannot be dealt" if after else rounds
        yield f"shoe.cut_card_from_end = {behind}: with fewer than {least} cards behind the cut card {lost}"
    elif behind < begun:
        more = f"a round of {game.most_seats} seats that has begun can take {begun} more cards"
        yield f"shoe.cut_card_from_end = {behind}: {more}, and a round for which no card is left is void"


def _closing(game: GameFile) -> Iterator[str]:
    """Warn of keys that should close a bet, but have no effect or seldom one. Either another key closes the bet in that
    round anyway, or the last round becomes known only after its wagers are placed."""
    wagers, last_of_all = game.wagers, game.wagers.no_bets_after_round
    for bet in game.bets:
        last = bet.no_bets_after_round
        if last is not None and last_of_all is not None and last >= last_of_all:
            yield f"{bet.spot}: no_bets_after_round = {last}: every bet is closed after round {last_of_all}"
        if bet.no_bets_in_final_round and wagers.no_bets_in_final_round:
            yield f"{bet.spot}: no_bets_in_final_round = true: every bet is closed in the last round"
    in_final = wagers.no_bets_in_final_round or any(bet.no_bets_in_final_round for bet in game.bets)
    if in_final and not game.shoe.hands_after_cut_card:
        why = "the cut card inside a round makes this round the last, and its wagers stand by then"
        yield f"shoe.hands_after_cut_card = 0: {why}, so no_bets_in_final_round seldom closes a bet"


def _commissions(bet: Bet) -> Iterator[str]:
    """Warn of a commission above a tenth of the win. The usual commission is five per cent, which is written "1:20".
    Whoever wrote `5:20` or `1:2` probably wanted five per cent."""
    for row in bet.rows:
        for word in ("commission_taken", "commission_owed"):
            part: Fraction | None = getattr(row, word)
            if part is not None and part > _A_LARGE_COMMISSION:
                says = f"{bet.spot}: {word} = {ratio_text(part)} is {100 * float(part):g}% of the win"
                yield f"{says}: is 1:20 meant, 5%?"


def _tableau(section: PuntoBanco) -> Iterator[str]:
    otherwise = ", ".join(differences(section.tableau, USUAL))
    if otherwise and not section.own_tableau:
        do = "write punto_banco.own_tableau = true where that is meant"
        yield f"{otherwise}: punto banco is dealt otherwise everywhere else; {do}"
    if section.own_tableau and not otherwise:
        yield "punto_banco.own_tableau = true, and the tableau is the usual one: is another meant?"


def differences(tableau: Tableau, other: Tableau) -> Iterator[str]:
    """Yield a text for each key in which `tableau` (the rules for drawing a third card) differs from `other`. The text
    names the points that only `tableau` has, and the points that only `other` has.

    The order in which a key lists its points does not matter.
    """
    for key in ("natural", "player_draws_on", "banker_draws_on_when_player_stands"):
        yield from _difference(key, getattr(tableau, key), getattr(other, key))
    rows, others = tableau.banker_draws_on_third_card, other.banker_draws_on_third_card
    for banker in sorted(rows.keys() & others.keys()):  # which rows there are follows from the naturals
        yield from _difference(f"banker_draws_on_third_card.{banker}", rows[banker], others[banker])


def _difference(key: str, says: Iterable[int], usual: Iterable[int]) -> Iterator[str]:
    if set(says) != set(usual):
        more, less = sorted(set(says) - set(usual)), sorted(set(usual) - set(says))
        parts = [f"{what} {', '.join(map(str, points))}" for what, points in (("has", more), ("lacks", less)) if points]
        yield f"tableau.{key} {' and '.join(parts)}"


def _most_paid_is_never_reached(wagers: WagerRules, bet: Bet) -> Iterator[str]:
    most, pays = wagers.most_wager_cents(bet), max((row.pays for row in bet.rows if row.pays is not None), default=0)
    if bet.pays_at_most_cents is not None and pays * most <= bet.pays_at_most_cents:
        wins = f"the greatest wager, {amount(most)}, wins {amount(pays * most)}"
        yield f"{bet.spot}: pays_at_most_cents = {bet.pays_at_most_cents} cuts no pay: {wins}"


def _awards_out_of_order(bet: Bet) -> Iterator[str]:
    """Warn of a bet whose pay table has its awards in a wrong order. The first row that fits a hand decides. So a row
    with a smaller award that stands above a row with a greater one may hide the greater award."""
    for place, row in enumerate(bet.rows):
        for above in bet.rows[:place]:
            more = row.cents is not None and above.cents is not None and row.cents > above.cents
            if more or (row.meter is not None and row.meter == above.meter and row.share > above.share):
                yield f"{bet.spot}: {row.award} pays more than {above.award} above it: the first row that holds decides"
                break


def _awards_below_the_price(bet: Bet) -> Iterator[str]:
    """Warn of an award of a dollar or more that is smaller than the price of the wager. It was probably written in
    dollars and not in cents.

    Bets whose awards also return the wager are left out.
    """
    price = 0 if bet.awards_return_stake else bet.price_cents or 0
    for row in bet.rows:
        if row.cents is not None and _A_DOLLAR_CENTS <= row.cents < price:
            yield f"{bet.spot}: {row.award} pays {amount(row.cents)}, less than a wager costs, {amount(price)}"


def _ties_that_lose(bet: Bet) -> Iterator[str]:
    """Warn of a bet on the winner whose pay table has no row for a tie, so that the bet loses on a tie.

    If the loss is meant, a row for the tie with `result = "lose"` says so.
    """
    winners = {side for row in bet.rows for side in row.when.winner or ()}
    if bet.limits == "circle" and winners and "tie" not in winners:
        push = '{ when = { winner = "tie" }, result = "push" }'
        yield f'{bet.spot}: a tie loses, since no row says what a tie does: add {push}, or result = "lose"'
