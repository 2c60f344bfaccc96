"""The live picture of a table in a terminal. It shows what the table waits for, the cards, the lamps, the hits, and how
many of the table's events the pit has acknowledged.

The picture fits 80 columns, and fills a wider terminal. Its lamps blink as the table's lamps do.
"""

from __future__ import annotations

import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from controller.contract.face.status import PitLink, Status
from controller.contract.face.table import Public, PublicHand
from controller.people.cli.status import place, waiting
from controller.people.screen.wording import SUIT_SIGNS
from controller.table.lamps import LAMPS, Pattern
from controller.table.rules import TableRules
from controller.words.events import commission_line, hand_name, hit_line, meters_line
from controller.words.language import Language

_COLOURS = {
    "player": "bright_blue",
    "banker": "bright_red",
    "dealer": "bright_red",
    "tie": "bright_green",
    "fault": "bright_red",
}


@contextmanager
def keys_unseen() -> Iterator[None]:
    """Turn the terminal's echo off for the length of a `with` block. Otherwise typed keys, Ctrl-C too, would spoil the
    picture in the terminal."""
    before = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    if before is not None:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, [*before[:3], before[3] & ~termios.ECHO, *before[4:]])
    try:
        yield
    finally:
        if before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


class Picture:
    """A live picture of a table in a terminal, which the `rich` library paints. Each painting shows every lamp as lit
    or dark, as the lamp's blinking pattern requires at that moment.

    `status` is the last status that the daemon gave; None before the first.
    """

    def __init__(self, title: str, rules: TableRules, words: Language) -> None:
        self._title = title
        self._words = words
        self._printed = {seat.number: str(seat.k9).split() for seat in rules.seats if seat.k9 is not None}
        self.status: Status | None = None

    def __rich__(self) -> RenderableType:
        if self.status is None:
            return Text()
        return Panel(Group(*self._parts(self.status)), title=self._title)

    def _parts(self, status: Status) -> Iterator[RenderableType]:
        face, pit, words = status.face, status.pit, self._words
        yield Text(waiting(status, words), style="bold yellow")
        yield Text(place(face, words))
        if face.simulated:
            yield Text(words.name("say", "simulated"), style="magenta")
        for hit in face.hits:
            yield Text(f"HIT: {hit_line(hit)}", style="bold black on bright_yellow")
        if face.fault:
            what, do = words.fault(face.fault.code)
            yield Text(f"FAULT {face.fault.code}: {what}\n{do}", style="bold red")
        yield from self._hands(face)
        if (do := words.pit(pit.standing.code).do) and pit.standing.code != "no_broker":
            yield Text(do.format(**pit.standing.details, fingerprint=status.key_fingerprint), style="yellow")
        yield from (Text(line, style="yellow") for line in [commission_line(face)] if line)
        yield Text()
        wide = len("● ") + max(map(len, words.sections["sign"].values()))
        yield Columns([self._seat(seat, status.lamps) for seat in face.seats], width=wide, padding=(0, 1))
        yield Columns([_lamp(name, status.lamps) for name in LAMPS], padding=(0, 2))
        yield Text()
        yield Text(self._links(status), style="dim")
        yield from (Text(line, style="dim") for line in [_meters(pit, words)] if line)

    def _hands(self, face: Public) -> Iterator[RenderableType]:
        """Yield the lines of the picture that show the cards of all hands. Player's, Banker's and the dealer's hand
        have a line each. The hands of the seats stand side by side."""
        sides = [hand for hand in face.hands if not hand.hand.startswith("seat")]
        seats = [hand for hand in face.hands if hand.hand.startswith("seat")]
        yield from (self._hand(hand, face) for hand in sides)
        if seats:
            yield Columns([self._hand(hand, face) for hand in seats], padding=(0, 3))

    def _hand(self, hand: PublicHand, face: Public) -> Text:
        name = hand.hand
        text = Text(f"{hand_name(name, self._words)}  ", style=_COLOURS.get(name, "bright_cyan"))
        for card in hand.cards:
            text.append(f"{_card(card)} ", style="bright_red" if card[-1] in "HD" else "bright_white")
        text.append("" if hand.total is None or not hand.cards else f"= {hand.total}")
        if face.outcome in (name, "tie"):
            text.append(f"  {self._words.name('outcome', face.outcome)}", style="bold")
        return text

    def _seat(self, seat: int, patterns: dict[str, str]) -> Text:
        """Return the text about one seat: its number, the cards printed there, its lamp, and the lamp's meaning in one
        word. `patterns` holds the blinking pattern of each lamp, by the lamp's name."""
        name = f"seat_{seat}"
        text = Text(hand_name(name, self._words), style="bright_cyan")
        if self._printed:
            text.append(f"\n{' '.join(map(_card, self._printed.get(seat, [])))}", style="bright_white")
        if name in patterns:
            text.append("\n").append(_burning(name, patterns[name]))
            text.append(f" {self._words.name('sign', patterns[name])}", style="dim")
        return text

    def _links(self, status: Status) -> str:
        say, pit = partial(self._words.text, "say"), status.pit
        if status.shoe.up:
            shoe = say("shoe_up", where="").rstrip(", ")
        else:
            shoe = say("shoe_down", why=status.shoe.why.partition(";")[0])
        finds = self._words.pit(pit.standing.code).what.format(**pit.standing.details).partition(". ")[0]
        counts = say("acked", acked=pit.acked_seq, head=pit.head_seq)
        return f"{shoe}; {say('pit')} {counts}" + ("" if pit.standing.code == "well" else f". {finds}")


def _meters(pit: PitLink, words: Language) -> str:
    levels = meters_line(pit)
    return words.text("say", "meters", levels=levels) if levels else ""


def _lamp(name: str, patterns: dict[str, str]) -> Text:
    return _burning(name, patterns[name]).append(f" {name.replace('_', ' ')}")


def _burning(name: str, pattern: str) -> Text:
    """Return the sign for the lamp `name`: a full circle if its blinking pattern has it lit at this moment, otherwise
    an empty circle."""
    lit = Pattern[pattern.upper()].lit(time.monotonic_ns() // 1_000_000)
    style = _COLOURS.get(name.removeprefix("draw_"), "bright_yellow") if lit else "dim"
    return Text("●" if lit else "○", style=style)


def _card(text: str) -> str:
    return text[:-1] + SUIT_SIGNS.get(text[-1], text[-1])
