"""The bets Dragon Bonus and Royal 9, written anew in Python from the casino's rule sheets. Tests compare the product's
own pays for those bets with these functions.

A card is text, rank then suit. A hand is a sequence of cards in the order in which they were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from drivers.sim import rules

ROYAL9_TIERS = (
    "personal_vs_personal",
    "banker_personal",
    "player_personal",
    "other_identical",
    "suited_vs_suited",
    "royal_vs_royal",
    "suited_royal",
    "any_royal",
)
"""The Royal 9 awards, best first."""

DRAGON_PAYS = {9: 30, 8: 10, 7: 6, 6: 4, 5: 2, 4: 1}
"""Dragon Bonus: the margin of a win without a natural, and what it pays to one."""


def dragon_bonus(mine: Sequence[str], theirs: Sequence[str]) -> tuple[Literal["win", "push", "lose"], int | None]:
    """Return how a wager on the Dragon Bonus of the hand `mine` ends against the hand `theirs`: the outcome, and the
    pay to one for a winner."""
    margin = rules.total(mine) - rules.total(theirs)
    if rules.is_natural(mine):
        if margin > 0:
            return "win", 1
        return ("push" if margin == 0 else "lose"), None
    pays = DRAGON_PAYS.get(margin)
    return ("win", pays) if pays else ("lose", None)


def royal9_tier(seat: int, printed: Mapping[int, str], player: Sequence[str], banker: Sequence[str]) -> str | None:
    """Return the best Royal 9 award of a wager at `seat`, or None if the wager wins no award.

    `printed` has every seat of the table, with the king and the nine printed there, for example "KS 9H". Only a hand's
    first two cards count, in either order.
    """
    players, bankers = set(player[:2]), set(banker[:2])
    mine = set(printed[seat].split())
    others = [set(combination.split()) for other, combination in printed.items() if other != seat]
    royals = sum(map(_is_royal, (player, banker)))
    suited = sum(map(_is_suited_royal, (player, banker)))
    holds = (
        players == bankers == mine,
        bankers == mine,
        players == mine,
        players == bankers and players in others,
        suited == 2,
        royals == 2,
        suited == 1,
        royals == 1,
    )
    return next((tier for tier, held in zip(ROYAL9_TIERS, holds, strict=True) if held), None)


def _is_royal(cards: Sequence[str]) -> bool:
    ranks = {card[0] for card in cards[:2]}
    return "9" in ranks and bool(ranks & set("JQK"))


def _is_suited_royal(cards: Sequence[str]) -> bool:
    return _is_royal(cards) and cards[0][1] == cards[1][1]
