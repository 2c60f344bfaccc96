"""Finds rows of a bet's pay table that can decide no round, so that such a mistake is found before the game is dealt to
players. Also finds the least amount at which a progressive meter must begin. With that amount, the cards that win the
meter never pay less than a fixed award that the same cards would win by a later row.

The exact counts that give a bet's odds also show which of its rows decide no deal. If people choose, a row counts as
reached if any of their choices reach it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from controller.people.par.counting import NAMES, Alike, Names, deals, kinds
from controller.people.par.sheet import Par, Subject, draws_of
from controller.people.par.shoe import fresh
from controller.people.par.sights import Sight, sight
from controller.rules.game.bets import Bet, Finished, When, holds
from controller.rules.game.cards import PersonalK9
from controller.rules.game.games import Game
from controller.rules.game.reach import unreachable

_K9S = tuple(map(PersonalK9.parse, ("KS 9S", "KH 9H", "KS 9H", "KH 9S")))
_MANY = 3
"""From so many spots on, bets that pay alike are one bet that is sold at many spots."""


class Idle(Struct, frozen=True):
    """A row of a bet's pay table that decides no round. Either its condition never holds, or an earlier row always
    holds as well and decides. Bets and rows are counted from 0."""

    bet: int
    row: int
    why: Literal["never_holds", "hidden"]
    at_many_spots: bool = False
    """The bet is sold at many spots, and at another of them this row decides rounds."""


def idle_rows(sheet: Par) -> tuple[Idle, ...]:
    """Return the rows of all pay tables that decide no round of the sheet's game, with the cards of a fresh shoe."""
    of = sheet.subject
    found = [
        idle
        for place, bet in enumerate(of.bets)
        if (counted := _idle_by_the_sheet(sheet, bet)) or counted is None
        for idle in without_a_round(of.play, bet, of.shoe.decks, place, counted)
    ]
    rows = {(each.bet, each.row) for each in found}
    return tuple(replace(each, at_many_spots=_decides_elsewhere(of.bets, each, rows)) for each in found)


def idle_rows_uncounted(of: Subject) -> tuple[Idle, ...]:
    """Return the rows of all pay tables that can decide no round. This function is for a game whose odds cannot be
    counted."""
    bets = enumerate(of.bets)
    return tuple(idle for place, bet in bets for idle in without_a_round(of.play, bet, of.shoe.decks, place))


def _idle_by_the_sheet(sheet: Par, bet: Bet) -> set[int] | None:
    """Return the indices of the rows of the bet that decide no deal at any seat, by the counts of the par sheet.
    Returns None if the sheet does not settle this, because people choose, or because other cards may be printed at
    other seats."""
    rows = range(len(bet.rows))
    counted = [odds.outcomes for odds in sheet.bets if odds.spot == bet.spot]
    idle = {row for row in rows if not any(row < len(ends) and ends[row].ways for ends in counted)}
    printed = any(hand.seat_pair for row in bet.rows for hand in row.when.hands())
    return None if idle and (printed or sheet.subject.play.tableau is None) else idle


def _decides_elsewhere(bets: Sequence[Bet], idle: Idle, all_idle: set[tuple[int, int]]) -> bool:
    pays = _pays(bets[idle.bet])
    alike = [place for place, bet in enumerate(bets) if _pays(bet) == pays]
    return len(alike) >= _MANY and any((place, idle.row) not in all_idle for place in alike)


def _pays(bet: Bet) -> object:
    """Return what the rows of the bet's pay table pay, without their conditions."""
    return tuple(replace(row, when=When(), words=None) for row in bet.rows)


def without_a_round(
    game: Game, bet: Bet, decks: int, place: int = 0, idle: Collection[int] | None = None
) -> Iterator[Idle]:
    """Yield the rows of a bet's pay table that can decide no round of the game, if the game is dealt from this number
    of decks. `place` is the bet's index in the game. If the caller knows the indices of these rows already, it passes
    them as `idle`. Only the reason for each row is then worked out."""
    if game.seats_play:
        yield from (Idle(place, each.row, each.why) for each in unreachable(game, bet, decks))
        return
    for row in sorted(set(range(len(bet.rows))) - _deciding(game, bet, decks) if idle is None else idle):
        held = _deciding(game, replace(bet, rows=(bet.rows[row],)), decks)
        yield Idle(place, row, "hidden" if held else "never_holds")


def _deciding(game: Game, bet: Bet, decks: int) -> set[int]:
    """Return the indices of those rows of the bet's pay table that can decide a round."""
    found = set[int]()
    for finished in _rounds(game, bet, decks):
        row = next((number for number, row in enumerate(bet.rows) if holds(row.when, finished)), None)
        found |= set() if row is None else {row}
        if len(found) == len(bet.rows):
            break
    return found


def least_meters(game: Game, bets: Sequence[Bet], decks: int) -> dict[str, int]:
    """Return the least amount in cents at which each progressive meter may begin. With that amount, the cards that win
    the meter never pay less than a fixed award that the same cards would win by another row of the pay table.

    Example: Player's hand is the King and 9 printed at the seat, in one suit, and wins a meter. Banker's hand is a
    suited Royal 9. For these two hands another row would have paid $1,500. The meter must therefore begin at $1,500 or
    more.
    """
    least = dict[str, int]()
    for bet in (bet for bet in bets if bet.meters):
        for finished in _rounds(game, bet, decks):
            rows = [row for row in bet.rows if holds(row.when, finished)]
            if rows and (meter := rows[0].meter) is not None:
                best_cents = max(row.cents or 0 for row in rows)
                least[meter] = max(least.get(meter, 0), ceil(best_cents / rows[0].share))
    return least


def _rounds(game: Game, bet: Bet, decks: int) -> Iterator[Finished]:
    """Yield finished rounds as examples: one for each kind of round that the rows of the bet's pay table can tell
    apart. Every kind of seat that can make the bet is considered."""
    shoe, draws = fresh(decks), draws_of(game)
    for seen, names in _views(bet):
        of, known = kinds(seen, game.naturals), set[Alike]()
        for deal in deals(of, of.in_shoe(shoe), draws):
            if (alike := of.seen(deal)) not in known:
                known.add(alike)
                yield of.finished(deal, names)


def _views(bet: Bet) -> Iterator[tuple[Sight, Names]]:
    owns = dict.fromkeys(sight(bet, own, tuple(k9 for k9 in _K9S if k9 != own)) for own in (_K9S[0], _K9S[2]))
    names = ((("player", "own"), ("banker",)), (("player",), ("banker", "own"))) if bet.between_actives else (NAMES,)
    yield from ((seen, named) for seen in owns for named in names)
