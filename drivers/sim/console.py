"""A simulated device at a prompt: one verb a line, with the device's faults among them.

Each device has one table of verbs; `help` prints it. A line that cannot be done is told and changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from controller.errors import TableError
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import SimulatedPins
from drivers.sim.pit import SimulatedPit

_MOST_SEQ = 999_999_999


@dataclass(frozen=True, slots=True)
class Verb:
    """What a word does. `arguments` names what follows it, the last with "…" where more of it may follow; `do` takes
    those words and may return what to tell."""

    arguments: str
    help: str
    do: Callable[..., str | None]


Verbs = dict[str, Verb]


def converse(verbs: Verbs, lines: TextIO) -> None:
    """Do what each line says until the lines end. `#` begins a comment.

    `lines` is a terminal, a pipe or a file, of which nobody has read yet.
    """
    verbs = {**verbs, "help": Verb("", "this", lambda: _help(verbs))}
    for line in _lines(lines.fileno()):
        told = _do(verbs, re.sub(r"(^|\s)#.*", "", line).split())
        if told:
            print(told, flush=True)


def _lines(descriptor: int) -> Iterator[str]:
    """Each line as soon as it is there: a buffered reader would keep the second of two that come at once."""
    begun = b""
    while True:
        data = os.read(descriptor, 4096)
        *whole, begun = (begun + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
        if not data:
            yield begun.decode("utf-8", "replace")
            return


def _do(verbs: Verbs, words: list[str]) -> str | None:
    if not words:
        return None
    name, *arguments = words
    verb = verbs.get(name)
    if verb is None:
        return f"{name} is no verb here; `help` names them"
    least, many = len(verb.arguments.split()), verb.arguments.endswith("…")
    if len(arguments) < least or (len(arguments) > least and not many):
        return f"write: {name} {verb.arguments}"
    try:
        return verb.do(*arguments)
    except KeyError as unknown:
        return f"{name} cannot be done: there is no {unknown.args[0]}"
    except (ValueError, OSError, TableError) as error:
        return f"{name} cannot be done: {error}"


def _help(verbs: Verbs) -> str:
    return "\n".join(f"{f'{name} {verb.arguments}':<22} {verb.help}" for name, verb in verbs.items())


def number_word(word: str, lowest: int, highest: int) -> int:
    """A number from `lowest` to `highest`. Raises ValueError."""
    number = int(word) if word.isdecimal() else -1
    if not lowest <= number <= highest:
        raise ValueError(f"{word} is no number from {lowest} to {highest}")
    return number


def cable_verbs(line: PtyLine | SerialLine) -> Verbs:
    """What may happen to any shoe's line."""
    verbs = {"noise": Verb("HEX", "put these bytes on the wire", lambda text: line.write(bytes.fromhex(text)))}
    if isinstance(line, PtyLine):
        verbs["unplug"] = Verb("", "pull the cable", line.unplug)
        verbs["plug"] = Verb("", "put it back", line.plug)
    return verbs


def pins_verbs(pins: SimulatedPins) -> Verbs:
    """A table's front: buttons and sensors in, lamps out."""

    def seat(number: str, covered: bool) -> None:
        pins.set(f"seat_{number}", covered)

    return {
        "press": Verb("INPUT", "press it and hold it", pins.press),
        "release": Verb("INPUT", "let it go", pins.release),
        "tap": Verb("INPUT", "press it as a quick person does, and let it go", pins.tap),
        "bounce": Verb("INPUT", "press it with a contact that chatters for 60 ms and ends pressed", pins.bounce),
        "cut": Verb("INPUT", "cut its wire, so that its pull decides; press and release mend it", pins.cut),
        "cover": Verb("SEAT", "put a chip on the seat's sensor", lambda number: seat(number, True)),
        "uncover": Verb("SEAT", "take it away", lambda number: seat(number, False)),
        "lamps": Verb("", "how each lit or blinking lamp burns, looked at for 2 s", lambda: _burning(pins)),
    }


def _burning(pins: SimulatedPins) -> str:
    """Every lamp that is not dark: steady, or how often it came on and for how much of the time it was lit."""
    return "; ".join(f"{name} {how}" for name, how in pins.burning().items()) or "all lamps are dark"


def pit_verbs(pit: SimulatedPit) -> Verbs:
    """A pit that acknowledges, or does not."""
    return {
        "silent": Verb("", "take events and acknowledge nothing", pit.silent),
        "speak": Verb("", "acknowledge again", pit.speak),
        "forget": Verb(
            "SEQ",
            "go back to having committed only through SEQ",
            lambda seq: pit.forget(number_word(seq, 0, _MOST_SEQ)),
        ),
        "claim": Verb(
            "SEQ",
            "acknowledge SEQ with a chain that never was",
            lambda seq: pit.claim(number_word(seq, 0, _MOST_SEQ)),
        ),
        "gone": Verb("", "leave the broker", pit.gone),
        "come": Verb("", "come back to it", pit.come),
    }


def prompt(what: str) -> None:
    """Say on a terminal that verbs are awaited."""
    if sys.stdin.isatty():
        print(f"{what}: `help` names the verbs, Ctrl-D ends it", flush=True)
