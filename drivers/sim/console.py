"""A simulated device at a prompt: one verb a line, with the device's faults among them.

Each device has one table of verbs; `help` prints it. A line that cannot be done is told and changes nothing.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from controller.errors import TableError
from drivers.sim.angel_eye import PtyLine, SerialLine, SimulatedAngelEye, Target
from drivers.sim.beetek import SimulatedBeeTek
from drivers.sim.pins import SimulatedPins
from drivers.sim.pit import SimulatedPit
from drivers.sim.rules import a_card

_ATTEND_S = 0.02


@dataclass(frozen=True, slots=True)
class Verb:
    """What a word does. `arguments` names what follows it; `do` takes those words and may return what to tell."""

    arguments: str
    help: str
    do: Callable[..., str | None]


Verbs = dict[str, Verb]


def converse(verbs: Verbs, lines: TextIO, attend: Callable[[], None] = lambda: None) -> None:
    """Do what each line says until the lines end; `attend` is called meanwhile, some fifty times a second.

    `lines` is a terminal, a pipe or a file, of which nobody has read yet.
    """
    verbs = {**verbs, "help": Verb("", "this", lambda: _help(verbs))}
    for line in _lines(lines.fileno(), attend):
        told = _do(verbs, line.split())
        if told:
            print(told, flush=True)


def _lines(descriptor: int, attend: Callable[[], None]) -> Iterator[str]:
    """Each line as soon as it is there: a buffered reader would keep the second of two that come at once."""
    begun = b""
    while True:
        while not select.select([descriptor], [], [], _ATTEND_S)[0]:
            attend()
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
    if len(arguments) != len(verb.arguments.split()):
        return f"write: {name} {verb.arguments}"
    try:
        return verb.do(*arguments)
    except KeyError as unknown:
        return f"{name} cannot be done: there is no {unknown.args[0]}"
    except (ValueError, OSError, TableError) as error:
        return f"{name} cannot be done: {error}"


def _help(verbs: Verbs) -> str:
    return "\n".join(f"{f'{name} {verb.arguments}':<22} {verb.help}" for name, verb in verbs.items())


_TARGETS = {
    "player": Target.PLAYER,
    "banker": Target.BANKER,
    "burn": Target.BURNED,
    "first_card": Target.FIRST_CARD,
}


def _number(word: str, lowest: int, highest: int) -> int:
    """A number from `lowest` to `highest`. Raises ValueError."""
    number = int(word) if word.isdecimal() else -1
    if not lowest <= number <= highest:
        raise ValueError(f"{word} is no number from {lowest} to {highest}")
    return number


def angel_eye_verbs(shoe: SimulatedAngelEye, line: PtyLine | SerialLine) -> Verbs:
    """An Angel Eye, good and bad."""

    def only(copies: str, card: str) -> None:
        going_out = _number(copies, 0, 3)
        shoe.draw(a_card(card), copies=tuple(copy < going_out for copy in range(3)))

    def lie(target: str, card: str) -> None:
        shoe.draw(a_card(card), target=_TARGETS[target])

    return {
        "draw": Verb(
            "CARD",
            "draw it; the shoe's own game says where it goes, and reports a hand's result",
            lambda card: shoe.draw(a_card(card)),
        ),
        "cut": Verb("", "the cutting card comes", shoe.cut_card),
        "new-shoe": Verb("", "the next card is a new shoe's first", shoe.new_shoe),
        "copies": Verb("N CARD", "draw it, but only N of its three copies reach the wire", only),
        "lie": Verb("TARGET CARD", "draw it and say it went to player, banker, burn or first_card", lie),
        "unreadable": Verb("CARD", "draw it without being able to read it", lambda card: shoe.unreadable(a_card(card))),
        "keep": Verb("CARD", "a card kept after an overdraw: the next round's", lambda card: shoe.keep(a_card(card))),
        "outside": Verb("MODE", "a card leaves outside the game: lock, error or setting", shoe.draw_outside_game),
        "error": Verb(
            "N",
            "go into error N: 1 cannot read, 2 overdraw ... 7 time-out",
            lambda n: shoe.raise_error(_number(n, 1, 7)),
        ),
        "cancel": Verb("N", "error N is cancelled at the shoe", lambda n: shoe.cancel_error(_number(n, 1, 7))),
        "force-quit": Verb("", "end the hand by force", shoe.force_quit),
        "power-up": Verb("", "switch off and on", shoe.power_up),
        "skip": Verb("N", "lose N reports whole", lambda n: shoe.skip_seq(_number(n, 0, 99))),
        **_cable_verbs(line),
    }


def beetek_verbs(shoe: SimulatedBeeTek, line: PtyLine | SerialLine) -> Verbs:
    """A BeeTek, which says nothing but its cards."""
    return {
        "draw": Verb("CARD", "draw it", lambda card: shoe.draw(a_card(card))),
        "lose": Verb("CARD", "draw it, and nothing reaches the wire", lambda card: shoe.lose(a_card(card))),
        "damage": Verb("CARD", "draw it, and its line comes with a byte wrong", lambda card: shoe.damage(a_card(card))),
        "say": Verb("TEXT", "send this line, whatever it is", shoe.say),
        **_cable_verbs(line),
    }


def _cable_verbs(line: PtyLine | SerialLine) -> Verbs:
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
            "SEQ", "go back to having committed only through SEQ", lambda seq: pit.forget(_number(seq, 0, 999_999_999))
        ),
        "claim": Verb(
            "SEQ", "acknowledge SEQ with a chain that never was", lambda seq: pit.claim(_number(seq, 0, 999_999_999))
        ),
        "gone": Verb("", "leave the broker", pit.gone),
        "come": Verb("", "come back to it", pit.come),
    }


def prompt(what: str) -> None:
    """Say on a terminal that verbs are awaited."""
    if sys.stdin.isatty():
        print(f"{what}: `help` names the verbs, Ctrl-D ends it", flush=True)
