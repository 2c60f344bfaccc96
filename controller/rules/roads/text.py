"""Writes the roads (the score boards of a shoe) as text for a terminal, for the command `tablectl roads`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from controller.rules.roads.layout import ROWS, Place
from controller.rules.roads.marks import DERIVED, Roads, Round, Side, Winner

LETTERS: dict[str, Winner] = {"B": "banker", "P": "player", "T": "tie"}

_LETTER = {winner: letter for letter, winner in LETTERS.items()}
_NAMES = {"big_eye_boy": "Big eye boy", "small_road": "Small road", "cockroach_pig": "Cockroach pig"}
_ASKED: tuple[Side, ...] = ("banker", "player")


def rounds_from(letters: str) -> list[Round]:
    """Parse a string of the letters B, P and T, capital or small, into rounds won by Banker, by Player, or tied. Raises
    KeyError for any other letter."""
    return [Round(LETTERS[letter]) for letter in letters.upper()]


def roads_text(roads: Roads) -> str:
    """Return the five roads as text, one block each, and a block with the marks that the next round would give. On the
    derived roads R is red and B is blue. A number counts ties."""
    beads = {bead.place: _LETTER[bead.round.winner] for bead in roads.beads}
    circles = {
        each.place: (_LETTER[each.winner] if each.winner else "-") + (str(each.ties) if each.ties else "")
        for each in roads.circles
    }
    blocks = [_block("Bead plate", beads), _block("Big road (a number counts the ties after a round)", circles)]
    for name in DERIVED:
        marks = {each.place: each.color[0].upper() for each in roads.derived[name].marks}
        blocks.append(_block(f"{_NAMES[name]} (R red, B blue)", marks))
    blocks.append("\n".join(_asked(roads)))
    return "\n\n".join(blocks)


def _block(title: str, cells: Mapping[Place, str]) -> str:
    return "\n".join([title, *(f"  {row}" for row in _rows(cells))]) if cells else f"{title}\n  nothing yet"


def _rows(cells: Mapping[Place, str]) -> Iterable[str]:
    columns = range(1 + max(column for column, _ in cells))
    width = max(map(len, cells.values()))
    rows = (" ".join(cells.get((column, row), "").ljust(width) for column in columns).rstrip() for row in range(ROWS))
    return [row for row in rows if row]


def _asked(roads: Roads) -> Iterator[str]:
    yield "Ask marks: what the next round would bring"
    for side in _ASKED:
        asked = roads.ask(side)
        yield f"  {side:<7} " + ", ".join(f"{_NAMES[name].lower()} {asked[name] or 'nothing'}" for name in DERIVED)
