"""The wiring is walked: each lamp is lit and a person says which one it is; a person presses each input.

So the table's file names what is really wired to each pin. Lamps are proposed on pins that stay dark while the Pi
boots, as in docs/wiring.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.contract.keys import for_owner
from controller.daemon.config.game_file import GameFile, play_of
from controller.daemon.header import take_pins
from controller.daemon.pins.inputs import deed, to_wire
from controller.people.cli.setup.house import choice
from controller.people.cli.setup.questions import Dialogue, Terminal
from controller.table.lamps import LAMPS
from drivers import shoe as shoes
from drivers.devices import InputWiring, LampWiring
from drivers.gpio import BOARD, GpioPins
from drivers.header_map import PHYSICAL

_FOR_LAMPS = (16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 12, 13, 26, 27)
_FOR_INPUTS = (4, 5, 6, 7, 8, 9, 10, 11, 27, 2, 3, 15, 14)
_POLL_S = 0.01
_STEADY_S = 0.05
_NONE = "none"
_HEADER_FILE = "/var/lib/table-controller/daemon/header"


def ask_wiring(dialogue: Dialogue, rules: GameFile, values: dict[str, Any]) -> bool:
    """Ask for `[pins]` and what locks the wagers, into `values`. Returns whether a person walked the wiring."""
    pins = values.setdefault("pins", {})
    explains = "rpi_gpio: the header of a Raspberry Pi. simulated: a file in its place, for a machine without a header."
    default = "rpi_gpio" if BOARD.exists() and b"raspberrypi" in BOARD.read_bytes() else "simulated"
    pins["driver"] = dialogue.ask("pins.driver", "The pins", explains, default, choice("rpi_gpio", "simulated"))
    pins.pop("page", None)
    if pins["driver"] == "simulated":
        explains = "The full path of the file that stands in for the header."
        pins["page"] = dialogue.ask("pins.page", "File in place of the header", explains, _HEADER_FILE, _path)
    walks = dialogue.terminal is not None and dialogue.agrees(
        "setup.walk",
        "Walk the wiring, lamp by lamp and button by button",
        "Each lamp is lit in turn, and you say which one it is. Then you press each button. With no, the wiring of "
        "docs/wiring.md is written down, and nobody has looked at a lamp. On a simulated header nobody can see one.",
        pins["driver"] == "rpi_gpio",
    )
    if walks:
        try:
            take_pins(pins["driver"], pins.get("page"), {}, {}).close()
            if "page" in pins:
                for_owner(Path(pins["page"]), Path(pins["page"]).parent)
        except TableError as error:
            dialogue.say(str(error), "So the wiring cannot be walked, and the usual wiring is written down.")
            walks = False
    lamps, inputs = _names(rules, values, walks)
    _ask_pins(dialogue, pins, lamps, inputs, walks)
    locks = "deal" if "deal" in pins["inputs"] or play_of(rules).tableau is None else "first_card"
    explains = "deal: the dealer's button locks the wagers. first_card: a round's first card locks them, and no button."
    read = choice("deal", "first_card")
    values["table"]["lock_on"] = dialogue.ask("table.lock_on", "What locks the wagers", explains, locks, read)
    return walks


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("Write the full path, from /.")
    return text


def _names(rules: GameFile, values: Mapping[str, Any], walks: bool) -> tuple[list[str], list[str]]:
    """The lamps and the inputs that such a table can have."""
    seats = [f"seat_{seat['number']}" for seat in values["seats"]]
    calls = play_of(rules, values["table"].get("dealt", "mini")).calls
    of_brand = shoes.brand(values["shoe"]["driver"]).buttons
    sensors = seats if any(bet.progressive for bet in rules.bets) else []
    return [*seats, *LAMPS], [*sensors, *to_wire(calls, of_brand, walks)]


def _ask_pins(dialogue: Dialogue, pins: dict[str, Any], lamps: list[str], inputs: list[str], walks: bool) -> None:
    explains = "high: through a transistor or a driver. low: some relay boards light their lamp at a low level."
    says = "A lamp is lit by a high or a low level"
    level = dialogue.ask("setup.lamps_lit_by", says, explains, "high", choice("high", "low"))
    usual = [text.split()[0] for name in lamps if (text := dialogue.usual(f"pins.lamps.{name}", _NONE)) != _NONE]
    explains = (
        "The BCM numbers of the pins that lamps are wired to, in any order. The program drives only these pins. "
        "docs/wiring.md says which pins suit a lamp."
    )
    default = " ".join(usual or map(str, _FOR_LAMPS[: len(lamps)]))
    on = dialogue.ask("setup.lamp_pins", "Pins of the lamps", explains, default, _bcms)
    proposed = [f"{bcm} {level}" for bcm in on]
    pins["lamps"] = _known(dialogue, "pins.lamps", lamps, proposed, walks)
    if walks and dialogue.terminal is not None:
        left_pins = [bcm for bcm in on if bcm not in {wiring["bcm"] for wiring in pins["lamps"].values()}]
        _walk_lamps(dialogue, dialogue.terminal, pins, left_pins, lamps, level)
    free = [bcm for bcm in (*_FOR_INPUTS, *PHYSICAL) if bcm not in on]
    proposed = [f"{bcm} low up" for bcm in dict.fromkeys(free)]
    pins["inputs"] = _known(dialogue, "pins.inputs", inputs, proposed, walks)
    if walks and dialogue.terminal is not None:
        _walk_inputs(dialogue, dialogue.terminal, pins, free, inputs)
    for kind, names in (("lamps", lamps), ("inputs", inputs)):
        if absent := [name for name in names if name not in pins[kind]]:
            dialogue.say(f"The table has none of these {kind}: {', '.join(absent)}. A later walk can add them.")


def _bcms(text: str) -> list[int]:
    found = [int(word) for word in text.split() if word.isdecimal()]
    if len(found) < len(text.split()) or len(set(found)) < len(found) or not set(found) <= PHYSICAL.keys():
        raise ValueError("Write the BCM numbers of pins of the header, 2 to 27, each once, with spaces between.")
    return found


def _known(
    dialogue: Dialogue, section: str, names: Sequence[str], proposed: Sequence[str], walks: bool
) -> dict[str, Any]:
    """The wiring that is known without a walk: earlier answers and, where nobody walks the wiring, the usual pins."""
    wired: dict[str, Any] = {}
    for name, usually in zip(names, [*proposed, *[_NONE] * len(names)], strict=False):
        key = f"{section}.{name}"
        text = dialogue.known(key) if walks else dialogue.known(key) or dialogue.usual(key, usually)
        if text is None:
            continue
        dialogue.keep(key, text)
        if text != _NONE:
            wired[name] = _wiring(key, text)
    return wired


def _wiring(key: str, text: str) -> dict[str, Any]:
    found = re.fullmatch(r"([0-9]{1,2}) (high|low)(?: (up|down|off))?", text)
    if found is None:
        do = 'Write the BCM number, the level and, for an input, its pull: "16 high", "11 low up"; or "none".'
        raise TableError("answer_wrong", f"{key} = {text!r} is not a wiring.", do)
    bcm, active, pull = found.groups()
    return {"bcm": int(bcm), "active": active} | ({} if pull is None else {"pull": pull})


def _walk_lamps(
    dialogue: Dialogue, terminal: Terminal, pins: dict[str, Any], on: Sequence[int], names: Sequence[str], level: Any
) -> None:
    """Light each of these pins, and write down which lamp the person saw."""
    left = [name for name in names if name not in pins["lamps"] and dialogue.known(f"pins.lamps.{name}") is None]
    if not left:
        return
    dialogue.say(
        "The lamps, one by one: answer with the name of the lamp that you see lit, or none.",
        f"The lamps are {', '.join(left)}.",
    )
    header = take_pins(pins["driver"], pins.get("page"), {str(bcm): LampWiring(bcm, level) for bcm in on}, {})
    try:
        for bcm in on:
            header.write(str(bcm), True)
            name = _which(terminal, f"BCM {bcm}, pin {PHYSICAL[bcm]}: which lamp is lit", left)
            header.write(str(bcm), False)
            if name != _NONE:
                left.remove(name)
                pins["lamps"][name] = {"bcm": bcm, "active": level}
                dialogue.keep(f"pins.lamps.{name}", f"{bcm} {level}")
    finally:
        header.close()
    for name in left:
        dialogue.keep(f"pins.lamps.{name}", _NONE)


def _which(terminal: Terminal, says: str, left: Sequence[str]) -> str:
    """The lamp that the person sees lit. An empty line is no answer: perhaps the person did not look at the lamps."""
    planned = f" [yes: {left[0]}]" if left else ""
    while True:
        text = terminal.line(f"{says}{planned}: ")
        if text == "yes" and left:
            return left[0]
        if text in (*left, _NONE):
            return text
        yes = f"yes for {left[0]}, or one of: " if left else ""
        print(f"  Answer {yes}{', '.join((*left, _NONE))}.")


def _walk_inputs(
    dialogue: Dialogue, terminal: Terminal, pins: dict[str, Any], free: Sequence[int], names: Sequence[str]
) -> None:
    """Ask the person to press each input, and write down which pin changed and to what level."""
    on = [bcm for bcm in dict.fromkeys(free) if bcm not in {each["bcm"] for each in pins["inputs"].values()}]
    if all(name in pins["inputs"] or dialogue.known(f"pins.inputs.{name}") is not None for name in names):
        return
    dialogue.say("The inputs, one by one: press the button, turn the key, cover the sensor. Enter: there is none.")
    wiring = {str(bcm): InputWiring(bcm, "low", "up") for bcm in on}
    header = take_pins(pins["driver"], pins.get("page"), {}, wiring)
    try:
        for name in names:
            key = f"pins.inputs.{name}"
            if name in pins["inputs"] or dialogue.known(key) is not None:
                continue
            rest = header.read()
            print(f"{deed(name)}: ", end="", flush=True)
            if (pressed := _pressed(terminal, header, rest)) is None:
                dialogue.say(f"  There is no input {name}.")
                dialogue.keep(key, _NONE)
                continue
            pin, low = pressed
            pins["inputs"][name] = {
                "bcm": int(pin),
                "active": "low" if low else "high",
                "pull": "up" if low else "down",
            }
            dialogue.say(
                f"BCM {pin}, pin {PHYSICAL[int(pin)]}, pressed is {'low' if low else 'high'}. Let the button go."
            )
            dialogue.keep(key, " ".join(map(str, pins["inputs"][name].values())))
            _await_release(terminal, header, pin, low)
    finally:
        header.close()


def _pressed(terminal: Terminal, header: GpioPins, rest: Mapping[str, bool]) -> tuple[str, bool] | None:
    """The one pin whose level differs from `rest`, and whether its level is low; None after Enter."""
    since: dict[str, float] = {}
    while terminal.line_within(_POLL_S) is None:
        now = header.read()
        changed = [pin for pin in now if now[pin] != rest[pin]]
        since = {pin: since.get(pin, time.monotonic()) for pin in changed}
        steady = [pin for pin in changed if time.monotonic() - since[pin] >= _STEADY_S]
        if len(steady) == 1 and changed == steady:
            return steady[0], now[steady[0]]
    return None


def _await_release(terminal: Terminal, header: GpioPins, pin: str, low: bool) -> None:
    """Wait until the pin has had the other level for `_STEADY_S`, or the person presses Enter."""
    since: float | None = None
    while terminal.line_within(_POLL_S) is None:
        since = (since or time.monotonic()) if header.read()[pin] != low else None
        if since is not None and time.monotonic() - since >= _STEADY_S:
            return
