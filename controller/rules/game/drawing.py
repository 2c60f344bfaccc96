"""The rules for third cards in the form that a casino prints: what each hand does on each total of its first two cards.

Each game derives these lists from its rules, only for people to read. The dealing of cards does not use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

Does = Literal["draw", "stand", "choose"]


class BankerDraws(Struct, frozen=True):
    """What Banker does ("draw", "stand" or "choose") when Banker's first two cards have a certain total. There is one
    answer for the case that Player stood, and one for each value of Player's third card."""

    player_stood: Does
    """Where Player took no third card."""

    on_third_card: tuple[Does, ...]
    """Where Player drew: by the value of Player's third card, 0 to 9."""


class Drawing(Struct, frozen=True):
    """The rules for third cards. Each field lists what one hand does on a total of 0, of 1, and so on. Totals beyond
    the end of a list are naturals. A list is empty if the game does not have that hand, or if the hand's player chooses
    freely."""

    player: tuple[Does, ...] = ()
    banker: tuple[BankerDraws, ...] = ()
    dealer: tuple[Does, ...] = ()


def check_draws(natural: Collection[int], lists: Mapping[str, Collection[int]], rows: str, of: Sequence[int]) -> None:
    """Check a house's rules for third cards. `natural` are the totals that are naturals. `lists` maps a key of the game
    file to the totals on which a hand draws or chooses. `rows` is the key of Banker's drawing rules in the game file,
    and `of` are the totals for which these rules have a row.

    Raises ValueError unless the naturals are the highest totals, nobody draws on a natural, and every lower total has
    exactly one row.
    """
    check_once({"natural": natural, **lists})
    below = range(10 - len(natural))
    if beaten := sorted(set(natural) & set(below)):
        better = next(total for total in range(9, 0, -1) if total not in natural)
        raise ValueError(f"natural says {beaten[0]} and not {better}, a better total")
    for key, totals in lists.items():
        if on_natural := sorted(set(totals) & set(natural)):
            raise ValueError(f"{key} says {on_natural[0]}, a natural, on which nobody draws")
    for total in below:
        if total not in of:
            raise ValueError(f"{rows} has no row for the total {total}")
    for place, total in enumerate(of):
        if total not in below:
            raise ValueError(f"{rows} has a row for {total}, a natural, on which nobody draws")
        if total in of[:place]:
            raise ValueError(f"{rows} has two rows for the total {total}")


def check_once(lists: Mapping[str, Collection[int]]) -> None:
    """Raise ValueError if a list names a number twice, because another number was probably meant. `lists` maps the key
    of each list in the game file to the list."""
    for key, numbers in lists.items():
        if twice := [number for number, times in Counter(numbers).items() if times > 1]:
            raise ValueError(f"{key} says {twice[0]} twice")
