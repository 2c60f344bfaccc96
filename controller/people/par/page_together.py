"""Makes lines for people about all bets of a round together, and about how the figures of the bets change with the
number of decks and the cut card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from controller.basics.money import amount
from controller.people.par.liability import Liability, liability
from controller.people.par.odds import Levels
from controller.people.par.page import name_of, percent
from controller.people.par.sensitivity import ByDecks
from controller.people.par.sheet import Par, RoundsInShoe
from controller.people.par.together import Together, pairs
from controller.rules.game.wagers import Wager


def together_lines(sheet: Par, count: Together, levels: Levels) -> Iterator[str]:
    """Yield lines with the most that one round can cost the house, and with the correlation of every two bets that one
    bettor may make. `count` holds how often each combination of results of the bets occurs in one round."""
    if (most := liability(sheet.subject, count, levels)) is not None:
        yield _liability(most)
    if count.left_out:
        yield f"Not counted together with other bets: {', '.join(count.left_out)}. {_why(sheet)}"
        yield from _awards_beside(sheet, count)
    elif sheet.subject.play.tableau is None:
        yield "No correlation is told, since it depends on what people choose."
    for pair in pairs(sheet, count, levels):
        one, other = pair.spots
        yield f"{one} and {other}: correlation {pair.correlation:+.5f}, covariance exactly {pair.covariance}"


def _liability(most: Liability) -> str:
    seated, behind = (_on(wager for wager in most.wagers if wager.back is back) for back in (False, True))
    seats = f"{most.seats} seats" if most.seats != 1 else "one seat"
    said = [f"{seats} with {seated or 'nothing'}" + (f", and behind each {behind}" if behind else "")]
    if most.stakes:
        player, banker = (amount(wager.cents) for wager in most.stakes[:2])
        said.append(f"the active seats with {player} (Player) and {banker} (Banker)")
    if most.meters:
        said.append(f"the meters {', '.join(most.meters)}")
    return f"The most that the house pays in one round is {amount(most.cents)}: {', and '.join(said)}."


def _on(wagers: Iterable[Wager]) -> str:
    return ", ".join(f"{amount(wager.cents)} on {wager.spot}" for wager in wagers)


def _awards_beside(sheet: Par, count: Together) -> Iterator[str]:
    for bet in sheet.subject.bets:
        if bet.spot in count.left_out and bet.progressive:
            greatest = max((row.cents or 0 for row in bet.rows), default=0)
            yield f"Each wager on {bet.spot} can win up to {amount(greatest)} more, or a meter."


def _why(sheet: Par) -> str:
    play = sheet.subject.play
    if play.seats_play:
        return "Every seat has a hand of its own."
    return (
        "The active seats play each other."
        if play.roles_play
        else "What is printed at a seat decides them, or they tell too many cards apart."
    )


def sensitivity_lines(
    sheet: Par, decks: Iterable[ByDecks], cut_cards: Sequence[tuple[int, RoundsInShoe]], levels: Levels
) -> Iterator[str]:
    """Yield lines with each bet's house edge for several numbers of decks, and with the number of rounds in a shoe for
    several places of the cut card."""
    of_decks = {each.decks: each.sheet for each in decks} | {sheet.subject.shoe.decks: sheet}
    sheets = sorted(of_decks.items(), key=lambda of: of[0])
    for place, bet in enumerate(sheet.bets):
        if bet.outcomes:
            edges = (f"{many} deck{'s'[: many - 1]} {percent(of.bets[place].edge(levels))}" for many, of in sheets)
            yield f"{name_of(bet)}: house edge with {', '.join(edges)}"
    for behind, hands in cut_cards:
        rounds = f"about {hands.about:.0f} rounds in a shoe, from {hands.fewest} to {hands.most}"
        yield f"{behind} cards behind the cut card: {rounds}"
    if cut_cards:
        yield "The place of the cut card changes no edge."
