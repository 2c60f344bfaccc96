"""A hook of `make docs`: draws the pages' Mermaid diagrams as SVG, and gives tables and names in code their room.

The site then needs no script and no network.
GitHub draws the same diagrams by itself. The hook knows what the pages use of Mermaid, and fails at anything else:

- `flowchart LR` with nodes `name` or `name["text"]`, joined by `-->`;
- `sequenceDiagram` with lines `participant a as Text` and `a->>b: what is said`;
- `stateDiagram-v2` with lines `state --> state: by what`. Many lines between few states cross one another in Mermaid's
  own picture. So each state stands on the left with all that leads away from it, and on the right as where that leads.
"""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

_FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
_WIDE_TABLE = re.compile(r"^\|(?:---\|){8,}$", re.M)
_KEY = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?=[^<]*</code></td>)")
_NAME_IN_CODE = re.compile(r"<code>(?=[^<\s]{1,30}</code>)")
_NODE = re.compile(r'(\w+)(?:\["([^"]+)"\])?')
_PARTICIPANT = re.compile(r"participant (\w+) as (.+)")
_SAYS = re.compile(r"(\w+)->>(\w+): (.+)")
_MOVE = re.compile(r"(\w+|\[\*\]) --> (\w+)(?:: (.+))?")
_CHARACTER, _LINE, _PAD = 7.3, 20, 12  # the width and the height of text, and the room around it
_BETWEEN_COLUMNS, _BETWEEN_ROWS = 44, 14
_STATE, _CURVES = 130, 190  # the width of a state, and the room in which lines cross


class _Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    text: str

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.y + self.height / 2

    def drawn(self) -> str:
        """Its rectangle and its text."""
        at = f'x="{self.x:.0f}" y="{self.y:.0f}" width="{self.width:.0f}" height="{self.height:.0f}"'
        return f'<rect {at} rx="4"/>{_text(self.x + self.width / 2, self.middle, self.text, "middle")}'


def on_page_markdown(markdown: str, page: Any = None, **_: object) -> str:
    """Put a picture in the place of each diagram; mkdocs calls this for each page. A page with a table that needs the
    whole width has no list of its headings beside it."""
    if page is not None and _WIDE_TABLE.search(markdown):
        page.meta["hide"] = ["toc"]
    return _FENCE.sub(lambda found: f'<div class="diagram">{svg(found[1])}</div>', markdown)


def on_page_content(html: str, **_: object) -> str:
    """Keep a name in code in one line: browsers break `--json` behind its first hyphen. A key of 64 digits may break:
    else it takes a table's whole width. mkdocs calls this."""
    html = _KEY.sub(lambda found: "<wbr>".join(re.findall(".{16}", found[0])), html)
    return _NAME_IN_CODE.sub('<code class="name">', html)


def svg(source: str) -> str:
    """The picture of a diagram. Raises ValueError for a line that this hook does not know."""
    kind, *lines = [line.strip() for line in source.splitlines() if line.strip()]
    match kind:
        case "flowchart LR":
            return _flow(lines)
        case "stateDiagram-v2":
            return _states(lines)
        case "sequenceDiagram":
            return _sequence(lines)
    raise ValueError(f"no diagram of the kind {kind!r} can be drawn")


def _flow(lines: list[str]) -> str:
    texts: dict[str, str] = {}
    joins: list[tuple[str, str]] = []
    for line in lines:
        nodes = [_NODE.fullmatch(part) for part in line.split(" --> ")]
        names = [node[1] for node in nodes if node is not None]
        if len(names) != len(nodes):
            raise ValueError(f"this line of a flowchart cannot be drawn: {line}")
        for node in filter(None, nodes):
            texts[node[1]] = node[2] or texts.get(node[1], node[1])
        joins += pairwise(names)
    columns: dict[int, list[str]] = {}
    for name in texts:
        columns.setdefault(_column(name, joins), []).append(name)
    high = max(map(len, columns.values()))
    boxes: dict[str, _Box] = {}
    x, height = 1.0, _LINE + _PAD
    for _, names in sorted(columns.items()):
        width = max(len(texts[name]) for name in names) * _CHARACTER + 2 * _PAD
        for place, name in enumerate(names):
            y = 1 + (place + (high - len(names)) / 2) * (height + _BETWEEN_ROWS)
            boxes[name] = _Box(x, y, width, height, texts[name])
        x += width + _BETWEEN_COLUMNS
    curves = [_curve(_end(boxes[one]), (boxes[other].x, boxes[other].middle)) for one, other in joins]
    drawn = [box.drawn() for box in boxes.values()]
    return _picture(x - _BETWEEN_COLUMNS, high * (height + _BETWEEN_ROWS), [*drawn, *curves])


def _column(name: str, joins: list[tuple[str, str]], after: tuple[str, ...] = ()) -> int:
    """How many steps lie before a node. Raises ValueError where the steps lead in a circle."""
    if name in after:
        raise ValueError(f"{name} leads to itself")
    return max((1 + _column(one, joins, (*after, name)) for one, other in joins if other == name), default=0)


def _states(lines: list[str]) -> str:
    begins, moves = "", dict[str, list[tuple[str, str]]]()
    for line in lines:
        found = _MOVE.fullmatch(line)
        if found is None:
            raise ValueError(f"this line of a state diagram cannot be drawn: {line}")
        if found[1] == "[*]":
            begins = found[2]
        else:
            moves.setdefault(found[1], []).append((found[2], found[3] or ""))
    states = [*dict.fromkeys([*([begins] if begins else []), *moves, *(to for tos in moves.values() for to, _ in tos)])]
    words = max((len(by) for tos in moves.values() for _, by in tos), default=0) * _CHARACTER
    left, label_x = 2 * _PAD, 2 * _PAD + _STATE + _PAD
    right = label_x + words + _CURVES
    rows = sum(len(tos) for tos in moves.values())
    height = rows * _LINE + len(moves) * _BETWEEN_ROWS
    step = height / len(states)
    ends = {
        state: _Box(right, step * (place + 0.5) - _LINE / 2 - 4, _STATE, _LINE + 8, _words(state))
        for place, state in enumerate(states)
    }
    drawn, y = [box.drawn() for box in ends.values()], 1.0
    for state in (state for state in states if state in moves):
        tos = moves[state]
        box = _Box(left, y, _STATE, len(tos) * _LINE + 4, _words(state))
        drawn.append(box.drawn())
        if state == begins:
            drawn.append(f'<circle cx="{_PAD}" cy="{box.middle:.0f}" r="5" fill="currentColor"/>')
        for place, (to, by) in enumerate(tos):
            at = y + 2 + (place + 0.5) * _LINE
            drawn.append(_text(label_x, at, by, "start"))
            drawn.append(_curve((label_x + len(by) * _CHARACTER + 4, at), (right, ends[to].middle), right - _CURVES))
        y += len(tos) * _LINE + 4 + _BETWEEN_ROWS - 4
    return _picture(right + _STATE + 1, height, drawn)


def _sequence(lines: list[str]) -> str:
    names: dict[str, str] = {}
    said: list[tuple[str, str, str]] = []
    for line in lines:
        if (who := _PARTICIPANT.fullmatch(line)) is not None:
            names[who[1]] = who[2]
        elif (says := _SAYS.fullmatch(line)) is not None and {says[1], says[2]} <= names.keys():
            said.append((says[1], says[2], says[3]))
        else:
            raise ValueError(f"this line of a sequence diagram cannot be drawn: {line}")
    order = [*names]
    x, at = _PAD + max(map(len, names.values())) * _CHARACTER / 2, dict[str, float]()
    for before, name in zip([None, *order], order, strict=False):
        if before is not None:
            words = [len(text) for one, other, text in said if {one, other} == {before, name}]
            heads = (len(names[before]) + len(names[name])) / 2 + 4
            x += max([heads, *words]) * _CHARACTER + 2 * _PAD
        at[name] = x
    top, row = _LINE + _PAD, _LINE + _BETWEEN_ROWS
    height = top + row * (len(said) + 0.5)
    drawn = [f'<path d="M{at[name]:.0f} {top} V{height:.0f}" stroke-dasharray="3"/>' for name in order]
    for name in order:
        width = len(names[name]) * _CHARACTER + 2 * _PAD
        drawn.append(_Box(at[name] - width / 2, 1, width, _LINE + _PAD - 4, names[name]).drawn())
    for place, (one, other, text) in enumerate(said):
        y = top + row * (place + 1)
        drawn.append(_text((at[one] + at[other]) / 2, y - 9, text, "middle"))
        drawn.append(_straight(at[one], at[other], y))
    last = names[order[-1]]
    return _picture(x + len(last) * _CHARACTER / 2 + _PAD, height, drawn)


def _straight(x: float, to_x: float, y: float) -> str:
    """A level line with an arrow, to either side."""
    back = 7 if to_x < x else -7
    tip = f"M{to_x:.0f} {y:.0f} l{back} -4 v8 z"
    return f'<path d="M{x:.0f} {y:.0f} H{to_x + back:.0f}"/><path d="{tip}" fill="currentColor"/>'


def _words(state: str) -> str:
    return state.replace("_", " ")


def _end(box: _Box) -> tuple[float, float]:
    return box.x + box.width, box.middle


def _text(x: float, y: float, text: str, anchor: str) -> str:
    """Text as it is in code, so that its width is known."""
    return f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def _curve(start: tuple[float, float], end: tuple[float, float], bends_at: float = 0) -> str:
    """A line with an arrow, from left to right. It is straight until `bends_at`."""
    (x, y), (to_x, to_y) = start, end
    straight = max(x, bends_at)
    bend = (to_x - straight) / 2
    tip = f"M{to_x:.0f} {to_y:.0f} l-7 -4 v8 z"
    curve = f"C{straight + bend:.0f} {y:.0f} {to_x - bend:.0f} {to_y:.0f} {to_x - 6:.0f} {to_y:.0f}"
    path = f"M{x:.0f} {y:.0f} H{straight:.0f} {curve}"
    return f'<path d="{path}"/><path d="{tip}" fill="currentColor"/>'


def _picture(width: float, height: float, drawn: list[str]) -> str:
    size = f'viewBox="0 0 {width + 2:.0f} {height + 4:.0f}" style="max-width: {width + 2:.0f}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(drawn)}</svg>'
