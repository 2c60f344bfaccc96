"""Writes the game's drawing rules as tables of a few lines for the rules page. The rules come from a table's placard
(what holds for the whole shoe). Example of a line: "3 | draws on 0–7, 9; stands on 8"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from controller.contract.face.placard import Drawing
from controller.people.screen.wording import words

Lines = list[tuple[str, str]]
"""The lines of a table: totals, and what a hand does with them."""

_ORDER = ("choose", "draw", "stand")


def numbers(values: Iterable[int]) -> str:
    """Return whole numbers as a text in which runs are shortened: 0, 1, 2, 3 and 5 become `"0–3, 5"`."""
    said = []
    for _, run in groupby(enumerate(sorted(values)), lambda placed: placed[1] - placed[0]):
        first, *rest = (value for _, value in run)
        said.append(f"{first}–{rest[-1]}" if rest else str(first))
    return ", ".join(said)


def tables(drawing: Drawing, language: str) -> dict[str, Lines]:
    """Return the tables of drawing rules that this game needs, by the tables' names. Rules for cases that cannot occur
    are left out.

    The table `banker` is returned if Banker's rule is the same whatever Player did, or if Player always draws or always
    stands. Otherwise there are two tables: `banker_stood` for rounds in which Player stood, and `banker_drew`, which
    depends on Player's third card.
    """
    does = words(language)["draws"]
    found = {name: [does[each] for each in getattr(drawing, name)] for name in ("player", "dealer")}
    stood = [does[row.player_stood] for row in drawing.banker]
    drew = [_by_third_card(row.on_third_card, does) for row in drawing.banker]
    may_stand = any(each != "draw" for each in drawing.player)
    may_draw = any(each != "stand" for each in drawing.player)
    if may_stand and may_draw and stood != drew:
        found |= {"banker_stood": stood, "banker_drew": drew}
    else:
        found["banker"] = drew if may_draw else stood
    return {name: _lines(said) for name, said in found.items() if said}


def _by_third_card(on: Sequence[str], does: dict[str, str]) -> str:
    if len(set(on)) == 1:
        return does[on[0]]
    values = {each: [value for value in range(10) if on[value] == each] for each in _ORDER}
    return "; ".join(f"{does[f'{each}_on']} {numbers(of)}" for each, of in values.items() if of)


def _lines(texts: Sequence[str]) -> Lines:
    """Return the lines of a table of drawing rules. `texts` holds a text for each total, beginning with 0, that says
    what the hand does. Successive totals with the same text share a line."""
    lines = []
    for text, run in groupby(enumerate(texts), lambda placed: placed[1]):
        lines.append((numbers(total for total, _ in run), text))
    return lines
