"""The drawing rules of punto banco as a casino prints them: a picture of letters that can be written into a game file
and can judge a round.

The picture states the rules independently: nothing here asks the program, or the simulated house, who draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

WORTH = dict(zip(range(10), ("QH", "AS", "2H", "3D", "4C", "5S", "6H", "7D", "8C", "9S"), strict=True))
"""A card of each value."""


@dataclass(frozen=True)
class Picture:
    """The rules that say on which total a hand draws, as a picture of letters. The letter D stands for "draws". Totals
    above the last letter are naturals.

    `player` has a letter for each total of Player's hand. `banker` has a row for each total of Banker's hand. The first
    letter of a row is for a Player who stood; the others are for the value of Player's third card.
    """

    player: str
    banker: tuple[str, ...]

    def section(self) -> dict[str, Any]:
        """Return the drawing rules as the section `[punto_banco.tableau]` of a game file (TOML)."""
        return {
            "natural": list(range(len(self.player), 10)),
            "player_draws_on": _draws(self.player),
            "banker_draws_on_when_player_stands": [total for total, row in enumerate(self.banker) if row[0] == "D"],
            "banker_draws_on_third_card": {str(total): _draws(row[1:]) for total, row in enumerate(self.banker)},
        }

    def next(self, player: Sequence[int], banker: Sequence[int]) -> str | None:
        """Return which hand draws next, given the values of both hands' cards, two or more each. Return None if no hand
        draws."""
        one, other = sum(player[:2]) % 10, sum(banker[:2]) % 10
        if max(one, other) >= len(self.player) or len(banker) == 3:
            return None
        if len(player) == 2 and self.player[one] == "D":
            return "player"
        column = 1 + player[2] if len(player) == 3 else 0
        return "banker" if self.banker[other][column] == "D" else None

    def flipped(self, place: str) -> Picture:
        """Return the picture with one letter changed, so that a hand draws instead of standing or the reverse. `place`
        is for example `"player 5"`, `"banker 3 s"` (Player stood) or `"banker 3 8"`."""
        who, total, *third = place.split()
        if who == "player":
            return Picture(_flip(self.player, int(total)), self.banker)
        column = 0 if third == ["s"] else 1 + int(third[0])
        rows = [_flip(row, column) if n == int(total) else row for n, row in enumerate(self.banker)]
        return Picture(self.player, tuple(rows))


USUAL = Picture(
    "DDDDDD..",
    (
        "DDDDDDDDDDD",
        "DDDDDDDDDDD",
        "DDDDDDDDDDD",
        "DDDDDDDDD.D",
        "D..DDDDDD..",
        "D....DDDD..",
        ".......DD..",
        "...........",
    ),
)
"""As everywhere: the column of an 8 has a hole at Banker's 3."""

CELLS = (
    *(f"player {total}" for total in range(8)),
    *(f"banker {total} {third}" for total in range(8) for third in "s0123456789"),
)
"""Every letter of the usual picture."""


def at_random(seed: int) -> Picture:
    """Return a random legal picture: any letters, and naturals that begin at 6 or above, or no naturals."""
    luck = Random(f"{seed} tableau")
    totals = luck.choice((6, 7, 8, 8, 9, 10))
    letters = luck.choice(("D.", "DDD.", "D..."))
    return Picture(
        "".join(luck.choices(letters, k=totals)), tuple("".join(luck.choices(letters, k=11)) for _ in range(totals))
    )


def positions() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield every point of a round at which a hand may draw, as two tuples: the values of Player's cards and of
    Banker's. Each combination of totals comes once."""
    for one in range(10):
        for other in range(10):
            yield (0, one), (0, other)
            for third in range(10):
                yield (0, one, third), (0, other)


def _draws(letters: str) -> list[int]:
    return [value for value, letter in enumerate(letters) if letter == "D"]


def _flip(letters: str, place: int) -> str:
    return letters[:place] + (".D"[letters[place] == "."]) + letters[place + 1 :]
