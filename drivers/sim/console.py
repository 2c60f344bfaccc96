"""A command prompt for a simulated device, such as a shoe or a pit. Each line is one command (a verb). Some of the
commands cause a fault of the device.

The command `help` lists the device's commands. A line that cannot be carried out gets an answer and changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from msgspec import Struct

from controller.basics.errors import TableError
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import SimulatedPins
from drivers.sim.pit import SimulatedPit
from drivers.sim.recognition import SimulatedRecognition

_MOST_SEQ = 999_999_999
_MOST_SEAT, _MOST_CENTS = 99, 100_000_000


class Verb(Struct, frozen=True):
    """One command of a simulated device's prompt. `arguments` names the words that follow the command; "…" after the
    last word means that it may be repeated. `do` is called with those words, and may return a text to print."""

    arguments: str
    help: str
    do: Callable[..., str | None]


Verbs = dict[str, Verb]


def converse(verbs: Verbs, lines: TextIO) -> None:
    """Read lines until they end, and carry out each line as one of the commands in `verbs`. In a line, `#` begins a
    comment.

    `lines` is a terminal, a pipe or a file from which nothing has been read yet.
    """
    verbs = {**verbs, "help": Verb("", "show these verbs", lambda: listed(verbs))}
    for line in _lines(lines.fileno()):
        told = _do(verbs, re.sub(r"(^|\s)#.*", "", line).split())
        if told:
            print(told, flush=True)


def _lines(descriptor: int) -> Iterator[str]:
    """Yield each line of text as soon as it has arrived at the file descriptor. The descriptor is read directly,
    because a buffered reader would hold back the second of two lines that arrive together."""
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
        return f"{name} is not a verb here; `help` shows all verbs"
    least, many = len(verb.arguments.split()), verb.arguments.endswith("…")
    if len(arguments) < least or (len(arguments) > least and not many):
        return f"write: {name} {verb.arguments}"
    try:
        return verb.do(*arguments)
    except KeyError as unknown:
        return f"{name} cannot be done: there is no {unknown.args[0]}"
    except (ValueError, OSError, TableError) as error:
        return f"{name} cannot be done: {error}"


def listed(verbs: Verbs) -> str:
    """Return a help text with one line for each command: its name, its arguments and what it does."""
    return "\n".join(f"{f'{name} {verb.arguments}':<22} {verb.help}" for name, verb in verbs.items())


def number_word(word: str, lowest: int, highest: int) -> int:
    """Convert the word to an integer. Raises ValueError if the word is not a number from `lowest` to `highest`."""
    number = int(word) if word.isdecimal() else -1
    if not lowest <= number <= highest:
        raise ValueError(f"{word} is not a number from {lowest} to {highest}")
    return number


def cable_verbs(line: PtyLine | SerialLine) -> Verbs:
    """Return the prompt's commands that disturb a simulated shoe's serial line, such as `noise` and `unplug`. They are
    the same for shoes of all brands."""
    verbs = {"noise": Verb("HEX", "put these bytes on the wire", lambda text: line.write(bytes.fromhex(text)))}
    if isinstance(line, PtyLine):
        verbs["unplug"] = Verb("", "pull the cable", line.unplug)
        verbs["plug"] = Verb("", "put the cable back", line.plug)
        verbs["unplug-at-shoe"] = Verb("", "pull the plug at the shoe's end; the device stays", line.unplug_at_shoe)
        verbs["plug-at-shoe"] = Verb("", "put the plug back in at the shoe's end", line.plug_at_shoe)
    return verbs


def pins_verbs(pins: SimulatedPins) -> Verbs:
    """Return the prompt's commands for a simulated table's buttons, sensors and lamps, such as `press` and `lamps`."""

    def seat(number: str, covered: bool) -> None:
        pins.set(f"seat_{number}", covered)

    return {
        "press": Verb("INPUT", "press the input and hold it", pins.press),
        "release": Verb("INPUT", "let the input go", pins.release),
        "tap": Verb("INPUT", "press the input and let it go, as a quick person does", pins.tap),
        "confirm": Verb("INPUT", "turn the key and hold the button, as the second person of an act does", pins.confirm),
        "bounce": Verb("INPUT", "press the input; its contact chatters for 60 ms and ends pressed", pins.bounce),
        "cut": Verb("INPUT", "cut the input's wire: its pull decides. press and release repair the wire", pins.cut),
        "cover": Verb("SEAT", "put a chip on the seat's sensor", lambda number: seat(number, True)),
        "uncover": Verb("SEAT", "take the chip away", lambda number: seat(number, False)),
        "lamps": Verb("", "which lamps are lit or blink, watched for 2 s", lambda: _burning(pins)),
    }


def _burning(pins: SimulatedPins) -> str:
    """Return a text that names every lamp that is not dark. The text says that the lamp is steady, or how often it came
    on and for what part of the time it was lit."""
    return "; ".join(f"{name} {how}" for name, how in pins.burning().items()) or "all lamps are dark"


def pit_verbs(pit: SimulatedPit) -> Verbs:
    """Return the prompt's commands for a simulated pit. With them the pit can, for example, acknowledge events, be
    silent, or forget events."""
    return {
        "silent": Verb("", "take events and acknowledge none", pit.silent),
        "speak": Verb("", "acknowledge again", pit.speak),
        "forget": Verb(
            "SEQ",
            "forget all events after SEQ, as a pit does that was restored from an old copy",
            lambda seq: pit.forget(number_word(seq, 0, _MOST_SEQ)),
        ),
        "claim": Verb(
            "SEQ",
            "acknowledge SEQ with a chain value that never existed",
            lambda seq: pit.claim(number_word(seq, 0, _MOST_SEQ)),
        ),
        "gone": Verb("", "leave the broker", pit.gone),
        "come": Verb("", "come back to the broker", pit.come),
    }


def recognition_verbs(recognition: SimulatedRecognition) -> Verbs:
    """Return the prompt's commands for a simulated bet recognition. Some of them send a message twice, as a faulty
    network does, or forge a message, as a thief does.

    In a command, a bettor is written as a seat, such as 3, or 3b for the back bettor behind seat 3.
    """

    def chips(say: Callable[[int, bool, str, int], None]) -> Callable[[str, str, str], None]:
        def said(bettor: str, spot: str, cents: str) -> None:
            seat = number_word(bettor.removesuffix("b"), 1, _MOST_SEAT)
            say(seat, bettor.endswith("b"), spot, number_word(cents, 0, _MOST_CENTS))

        return said

    takes = "BETTOR SPOT CENTS"
    return {
        "chips": Verb(takes, "bet recognition sees chips there; 0 cents: they are gone", chips(recognition.sees)),
        "chips-again": Verb("", "the network brings bet recognition's last word once more", recognition.again),
        "chips-forged": Verb(takes, "somebody without bet recognition's key says that", chips(recognition.forged)),
    }


def prompt(what: str) -> None:
    """If the input is a terminal, print a hint that the simulated device `what` waits for commands."""
    if sys.stdin.isatty():
        print(f"{what}: `help` shows the verbs, Ctrl-D ends the prompt", flush=True)
