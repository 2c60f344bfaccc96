"""The live picture of a table in a terminal: phase, cards, lamps, hits and what the pit has acknowledged."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.cli.status import waiting
from controller.screen.wording import SUIT_SIGNS
from controller.table.lamps import LAMPS, Pattern
from controller.words.events import commission_line, hit_line, meters_line
from controller.words.language import language

_COLOURS = {
    "player": "bright_blue",
    "banker": "bright_red",
    "dealer": "bright_red",
    "tie": "bright_green",
    "fault": "bright_red",
}


def picture(title: str, status: dict[str, Any], last_events: list[str], acked_seq: int) -> RenderableType:
    """One frame. `status` is the daemon's, `last_events` lines for people, `acked_seq` the pit's word."""
    face, pit = status["face"], status["pit"]
    return Panel(
        Group(
            Text(waiting(status, language()), style="bold yellow"),
            _headline(face),
            Text(),
            *(_hand(hand, face) for hand in face["hands"]),
            *_pit(pit),
            *_commission(face),
            Text(),
            _lamps(status["lamps"], face["seats"]),
            Text(),
            *(Text(line, overflow="ellipsis", no_wrap=True) for line in last_events),
            Text(),
            Text(
                f"shoe {'up' if status['shoe']['up'] else 'DOWN'}   pit {pit['stream']}, "
                f"{acked_seq} of {pit['head_seq']} events acknowledged",
                style="dim",
            ),
            Text(f"meters  {meters_line(pit) or '-'}", style="dim"),
        ),
        title=title,
    )


def _headline(face: dict[str, Any]) -> Text:
    text = Text(f"shoe {face['shoe'] or '-'}  round {face['round'] or '-'}  ", style="bold")
    text.append(language().name("phase", face["phase"]), style="bold yellow")
    if face["burn_left"] is not None:
        text.append(f"  first card {_card(face['first_card'])}, {face['burn_left']} to burn")
    if face["cards_left"] is not None:
        text.append(f"  {face['cards_left']} cards left", style="dim")
    for mark, shown in (("simulated hand", face["simulated"]), ("last hand", face["last_hand"])):
        if shown:
            text.append(f"  {mark}", style="magenta")
    for hit in face["hits"]:
        text.append(f"\nHIT: {hit_line(hit)}", style="bold black on bright_yellow")
    if face["fault"]:
        what, do = language().fault(face["fault"]["code"])
        text.append(f"\nFAULT {face['fault']['code']}: {what}\n{do}", style="bold red")
    return text


def _hand(hand: dict[str, Any], face: dict[str, Any]) -> Text:
    name = hand["hand"]
    text = Text(f"{name.replace('_', ' '):>13}  ", style=_COLOURS.get(name, "bright_cyan"))
    for card in hand["cards"]:
        text.append(f"{_card(card)} ", style="bright_red" if card[-1] in "HD" else "bright_white")
    text.append("" if hand["total"] is None or not hand["cards"] else f"= {hand['total']}")
    if face["outcome"] == name:
        text.append("  wins", style="bold")
    elif face["outcome"] == "tie":
        text.append("  tie", style=_COLOURS["tie"])
    return text


def _pit(pit: dict[str, Any]) -> list[Text]:
    """What is not well with the pit."""
    standing = pit["standing"]
    what, do = language().pit(standing["code"])
    return [Text(f"pit: {what.format(**standing['details'])}", style="yellow")] if do else []


def _commission(face: dict[str, Any]) -> list[Text]:
    line = commission_line(face)
    return [Text(line, style="yellow")] if line else []


def _lamps(patterns: dict[str, str], seats: list[int]) -> Table:
    """Every lamp as it burns at this moment, and what its pattern is called."""
    now_ms = time.monotonic_ns() // 1_000_000
    table = Table.grid(padding=(0, 2))
    names = [*(f"seat_{seat}" for seat in seats), *LAMPS]
    for row in (names[: len(seats)], names[len(seats) :]):
        cells = []
        for name in row:
            pattern = patterns[name]
            lit = Pattern[pattern.upper()].lit(now_ms)
            style = _COLOURS.get(name.removeprefix("draw_"), "bright_yellow") if lit else "dim"
            cells.append(Text(f"{'●' if lit else '○'} {name}", style=style))
        table.add_row(*cells)
    return table


def _card(text: str) -> str:
    return text[:-1] + SUIT_SIGNS.get(text[-1], text[-1])
