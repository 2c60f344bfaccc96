"""Finds out for `tablectl setup` how lamps and inputs are wired. The setup lights one lamp after another, and a person
says which lamp is lit. Then the person presses each input in turn.

The table's file therefore names what is really wired to each pin. The pins proposed for lamps stay dark while the Pi
boots, as in docs/wiring.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, convert, to_builtins

from controller.basics.errors import TableError
from controller.contract.keys import for_owner
from controller.daemon.config.game_file import GameFile, play_of
from controller.daemon.header import take_pins
from controller.daemon.pins.inputs import deed, to_wire
from controller.people.cli.setup.draft import Draft, Wired
from controller.people.cli.setup.house import choice
from controller.people.cli.setup.questions import Dialogue, Terminal
from controller.table.lamps import LAMPS
from drivers.devices import InputWiring, LampWiring, Level
from drivers.gpio import BOARD, GpioPins
from drivers.header_map import PHYSICAL

_FOR_LAMPS = (16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 12, 13, 26, 27)
_FOR_INPUTS = (4, 5, 6, 7, 8, 9, 10, 11, 27, 2, 3, 15, 14)
_POLL_S = 0.01
_STEADY_S = 0.05
_NONE = "none"
_HEADER_FILE = "/var/lib/table-controller/header"


class _Header(Struct, frozen=True):
    """The pin header whose wiring is tried. `driver` is the name of its driver. `page` is the path of a file that is
    used instead of a real header; None if the header is real."""

    driver: str
    page: str | None

    def take(self, lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> GpioPins:
        """Open the header's pins for these lamps and inputs, and return them. `lamps` and `inputs` map each name to its
        wiring. Raises TableError."""
        return take_pins(self.driver, self.page, lamps, inputs)


def ask_wiring(dialogue: Dialogue, rules: GameFile, draft: Draft) -> bool:
    """Ask the technician for the wiring (section `[pins]` of the table's file) and for the event that closes the
    betting. Put the answers into the draft of the file. Returns whether a person tried each lamp and input."""
    header = _ask_header(dialogue)
    walks = dialogue.terminal is not None and dialogue.agrees(
        "setup.walk",
        "Walk the wiring, lamp by lamp and button by button",
        "Each lamp is lit in turn, and you say which one it is. Then you press each button. With no, the wiring of "
        "docs/wiring.md is written down, and nobody has looked at a lamp. On a simulated header nobody can see one.",
        header.driver == "rpi_gpio",
    )
    if walks:
        try:
            header.take({}, {}).close()
            if header.page is not None:
                for_owner(Path(header.page), Path(header.page).parent)
        except TableError as error:
            dialogue.say(str(error), "So the wiring cannot be walked, and the usual wiring is written down.")
            walks = False
    lamps, inputs = _ask_pins(dialogue, header, *_names(rules, draft, walks), walks)
    draft.pins.pop("page", None)
    draft.pins |= {"driver": header.driver} | ({} if header.page is None else {"page": header.page})
    draft.pins |= {"lamps": to_builtins(lamps), "inputs": to_builtins(inputs)}
    locks = "deal" if "deal" in inputs or play_of(rules).tableau is None else "first_card"
    explains = "deal: the dealer's button locks the wagers. first_card: a round's first card locks them, and no button."
    read = choice("deal", "first_card")
    draft.table |= {"lock_on": dialogue.ask("table.lock_on", "What locks the wagers", explains, locks, read)}
    return walks


def _ask_header(dialogue: Dialogue) -> _Header:
    explains = "rpi_gpio: the header of a Raspberry Pi. simulated: a file in its place, for a machine without a header."
    default = "rpi_gpio" if BOARD.exists() and b"raspberrypi" in BOARD.read_bytes() else "simulated"
    driver = dialogue.ask("pins.driver", "The pins", explains, default, choice("rpi_gpio", "simulated"))
    if driver == "rpi_gpio":
        return _Header(driver, None)
    explains = "The full path of the file that stands in for the header."
    return _Header(driver, dialogue.ask("pins.page", "File in place of the header", explains, _HEADER_FILE, _path))


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("Write the full path, from /.")
    return text


def _names(rules: GameFile, draft: Draft, walks: bool) -> tuple[list[str], list[str]]:
    """Return the names of the lamps and the names of the inputs that a table with this game and these seats can have,
    as two lists. `walks` says whether a person will try them one by one."""
    seats = [f"seat_{seat.number}" for seat in draft.seats]
    calls = play_of(rules, draft.table.get("dealt", "mini")).calls
    sensors = seats if any(bet.progressive for bet in rules.bets) else []
    return [*seats, *LAMPS], [*sensors, *to_wire(calls, draft.brand.buttons, walks)]


def _ask_pins(
    dialogue: Dialogue, header: _Header, lamps: list[str], inputs: list[str], walks: bool
) -> tuple[dict[str, Wired], dict[str, Wired]]:
    """Ask the technician for the wiring of the lamps and of the inputs. Returns two dicts, which map the name of each
    lamp and of each input to its wiring. If `walks` is True, a person tries each lamp and each input."""
    explains = "high: through a transistor or a driver. low: some relay boards light their lamp at a low level."
    says = "A lamp is lit by a high or a low level"
    low = dialogue.ask("setup.lamps_lit_by", says, explains, "high", choice("high", "low")) == "low"
    level: Level = "low" if low else "high"
    usual = [text.split()[0] for name in lamps if (text := dialogue.usual(f"pins.lamps.{name}", _NONE)) != _NONE]
    explains = (
        "The BCM numbers of the pins that lamps are wired to, in any order. The program drives only these pins. "
        "docs/wiring.md says which pins suit a lamp."
    )
    default = " ".join(usual or map(str, _FOR_LAMPS[: len(lamps)]))
    on = dialogue.ask("setup.lamp_pins", "Pins of the lamps", explains, default, _bcms)
    lit = _known(dialogue, "pins.lamps", lamps, [f"{bcm} {level}" for bcm in on], walks)
    if walks and dialogue.terminal is not None:
        left = [bcm for bcm in on if bcm not in {wired.bcm for wired in lit.values()}]
        lit |= _walk_lamps(dialogue, dialogue.terminal, header, left, lamps, level)
    free = [*dict.fromkeys(bcm for bcm in (*_FOR_INPUTS, *PHYSICAL) if bcm not in on)]
    pressed = _known(dialogue, "pins.inputs", inputs, [f"{bcm} low up" for bcm in free], walks)
    if walks and dialogue.terminal is not None:
        left = [bcm for bcm in free if bcm not in {wired.bcm for wired in pressed.values()}]
        pressed |= _walk_inputs(dialogue, dialogue.terminal, header, left, inputs)
    for kind, names, wired in (("lamps", lamps, lit), ("inputs", inputs, pressed)):
        if absent := [name for name in names if name not in wired]:
            dialogue.say(f"The table has none of these {kind}: {', '.join(absent)}. A later walk can add them.")
    return lit, pressed


def _bcms(text: str) -> list[int]:
    found = [int(word) for word in text.split() if word.isdecimal()]
    if len(found) < len(text.split()) or len(set(found)) < len(found) or not set(found) <= PHYSICAL.keys():
        raise ValueError("Write the BCM numbers of pins of the header, 2 to 27, each once, with spaces between.")
    return found


def _known(
    dialogue: Dialogue, section: str, names: Sequence[str], proposed: Sequence[str], walks: bool
) -> dict[str, Wired]:
    """Return the wiring that no person needs to try, as a dict from names to wiring. It comes from earlier answers and,
    if `walks` is False, also from the usual pins in `proposed`."""
    wired: dict[str, Wired] = {}
    for name, usually in zip(names, [*proposed, *[_NONE] * len(names)], strict=False):
        key = f"{section}.{name}"
        text = dialogue.known(key) if walks else dialogue.known(key) or dialogue.usual(key, usually)
        if text is None:
            continue
        dialogue.keep(key, text)
        if text != _NONE:
            wired[name] = _wiring(key, text)
    return wired


def _wiring(key: str, text: str) -> Wired:
    found = re.fullmatch(r"([0-9]{1,2}) (high|low)(?: (up|down|off))?", text)
    if found is None:
        do = 'Write the BCM number, the level and, for an input, its pull: "16 high", "11 low up"; or "none".'
        raise TableError("answer_wrong", f"{key} = {text!r} is not a wiring.", do)
    bcm, active, pull = found.groups()
    return convert({"bcm": int(bcm), "active": active, "pull": pull}, Wired)


def _walk_lamps(
    dialogue: Dialogue, terminal: Terminal, on: _Header, bcms: Sequence[int], names: Sequence[str], level: Level
) -> dict[str, Wired]:
    """Light the lamp at each of the pins `bcms` in turn, and ask the person which lamp is lit. Returns the wiring of
    each lamp that the person named. `names` lists the lamps that a table can have."""
    left = [name for name in names if dialogue.known(f"pins.lamps.{name}") is None]
    seen: dict[str, Wired] = {}
    if not left:
        return seen
    dialogue.say(
        "The lamps, one by one: answer with the name of the lamp that you see lit, or none.",
        f"The lamps are {', '.join(left)}.",
    )
    header = on.take({str(bcm): LampWiring(bcm, level) for bcm in bcms}, {})
    try:
        for bcm in bcms:
            header.write(str(bcm), True)
            name = _which(terminal, f"BCM {bcm}, pin {PHYSICAL[bcm]}: which lamp is lit", left)
            header.write(str(bcm), False)
            if name != _NONE:
                left.remove(name)
                seen[name] = Wired(bcm, level)
                dialogue.keep(f"pins.lamps.{name}", seen[name].text())
    finally:
        header.close()
    for name in left:
        dialogue.keep(f"pins.lamps.{name}", _NONE)
    return seen


def _which(terminal: Terminal, says: str, left: Sequence[str]) -> str:
    """Ask the person which lamp is lit, and return the lamp's name or "none". An empty line is not accepted, because
    the person may not have looked at the lamps."""
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
    dialogue: Dialogue, terminal: Terminal, on: _Header, bcms: Sequence[int], names: Sequence[str]
) -> dict[str, Wired]:
    """Ask the person to press each input (button, key or sensor) in `names` in turn. Returns the wiring of each input
    that was pressed: which pin changed, and to what level."""
    left = [name for name in names if dialogue.known(f"pins.inputs.{name}") is None]
    found: dict[str, Wired] = {}
    if not left:
        return found
    dialogue.say("The inputs, one by one: press the button, turn the key, cover the sensor. Enter: there is none.")
    header = on.take({}, {str(bcm): InputWiring(bcm, "low", "up") for bcm in bcms})
    try:
        for name in left:
            rest = header.read()
            print(f"{deed(name)}: ", end="", flush=True)
            if (pressed := _pressed(terminal, header, rest)) is None:
                dialogue.say(f"  There is no input {name}.")
                dialogue.keep(f"pins.inputs.{name}", _NONE)
                continue
            pin, low = pressed
            wired = found[name] = Wired(int(pin), "low", "up") if low else Wired(int(pin), "high", "down")
            dialogue.say(f"BCM {pin}, pin {PHYSICAL[wired.bcm]}, pressed is {wired.active}. Let the button go.")
            dialogue.keep(f"pins.inputs.{name}", wired.text())
            _await_release(terminal, header, pin, low)
    finally:
        header.close()
    return found


def _pressed(terminal: Terminal, header: GpioPins, rest: Mapping[str, bool]) -> tuple[str, bool] | None:
    """Wait until exactly one pin of the header has another level than it had in `rest`. Returns two values: the pin,
    and whether its level is now low. Returns None if the person presses Enter instead. `rest` maps each pin to its
    level while no input is pressed."""
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
    """Wait until the input at `pin` has been released for `_STEADY_S` seconds, or until the person presses Enter. `low`
    says whether the pin is low while the input is pressed."""
    since: float | None = None
    while terminal.line_within(_POLL_S) is None:
        since = (since or time.monotonic()) if header.read()[pin] != low else None
        if since is not None and time.monotonic() - since >= _STEADY_S:
            return
