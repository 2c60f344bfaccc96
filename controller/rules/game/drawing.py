"""Who draws a third card, as a casino prints it: what each hand does with each total of its first two cards.

Each game makes this table of its rules, for people to read. Nothing is dealt by it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Does = Literal["draw", "stand", "choose"]


class BankerDraws(Struct, frozen=True):
    """What Banker does with one total."""

    player_stood: Does
    """Where Player took no third card."""

    on_third_card: tuple[Does, ...]
    """Where Player drew: by the value of Player's third card, 0 to 9."""


class Drawing(Struct, frozen=True):
    """What each hand does, by its total from 0 up. The totals after the last are naturals. A hand that the game does
    not have, or that its player plays freely, is empty."""

    player: tuple[Does, ...] = ()
    banker: tuple[BankerDraws, ...] = ()
    dealer: tuple[Does, ...] = ()
