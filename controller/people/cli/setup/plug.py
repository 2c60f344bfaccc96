"""The plug at the shoe's end is tried: a person pulls it, and the table must see that, although the port stays open.

A shoe that takes commands is asked. For any shoe a modem line or an input of the header may show the plug.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Mapping
from typing import Any

from controller.basics.errors import TableError
from controller.daemon.clock import since_boot_ms
from controller.daemon.header import take_pins
from controller.people.cli.setup.house import choice
from controller.people.cli.setup.questions import Dialogue, Terminal
from controller.table.facts import ShoeFact
from drivers import shoe as shoes
from drivers.devices import PRESENT_INPUT, InputWiring
from drivers.gpio import GpioPins
from drivers.line.port import MODEM_LINES
from drivers.line.shoe_on_line import OFF, ShoeOnLine

_NONE = "none"
_BEAT_S = 0.1
_COMES_UP_WITHIN_S = 4.0
_USUAL_INPUT = "14 low up"


def ask_plug(dialogue: Dialogue, values: dict[str, Any]) -> str:
    """Ask how the table knows that the shoe is there, into `values`, and try it. Returns what was seen, in words."""
    shoe, pins = values["shoe"], values["pins"]
    brand = shoes.brand(shoe["driver"])
    shoe.pop("ask", None)
    shoe.pop("present", None)
    pins["inputs"].pop(PRESENT_INPUT, None)
    asking = brand.asking
    if asking is not None:
        explains = (
            "The table sends this command twice a second, and any answer shows that the shoe is there. The command "
            "must change nothing at the shoe; the shoe may refuse it. off: the shoe is not asked."
        )
        ask = dialogue.ask(
            "shoe.ask", "Command by which the shoe is asked", explains, asking.usual, _command(asking.form)
        )
        if ask != asking.usual:
            shoe["ask"] = ask
    is_asked = asking is not None and shoe.get("ask") != OFF
    explains = (
        "cts, dsr, dcd: the plug at the shoe's end leads RTS back on that line. input: the shoe's supply closes the "
        f"input {PRESENT_INPUT} of the header. none: nothing shows the plug. docs/wiring.md: A plug pulled at the shoe."
    )
    read = choice(_NONE, *MODEM_LINES, "input")
    present = dialogue.ask("shoe.present", "What shows that the shoe's plug is in", explains, _NONE, read)
    if present != _NONE:
        shoe["present"] = present
    if present == "input":
        says, explains = (
            f"Wiring of the input {PRESENT_INPUT}",
            "The BCM number, the level while the plug is in, the pull.",
        )
        key = f"pins.inputs.{PRESENT_INPUT}"
        pins["inputs"][PRESENT_INPUT] = dialogue.ask(key, says, explains, _USUAL_INPUT, _input)
    if not is_asked and present == _NONE:
        dialogue.say("So nobody notices a plug that is pulled at the shoe: count the cards after each shoe.")
        return "nothing shows the plug at the shoe's end"
    explains = "You pull the plug at the shoe's end, and put it back. The table must notice both."
    terminal = dialogue.terminal
    if terminal is None or not dialogue.agrees("setup.plug", "Try the plug at the shoe's end", explains, True):
        return "the plug at the shoe's end was not tried"
    try:
        seen = asyncio.run(_try(dialogue, terminal, shoe, pins))
    except TableError as error:
        seen = f"the plug at the shoe's end was not tried: {error.what}"
        dialogue.say(str(error))
    return seen


def _command(form: str) -> Any:
    def read(text: str) -> str:
        if text != OFF and not re.fullmatch(form, text):
            raise ValueError("Write a command, or off.")
        return text

    return read


def _input(text: str) -> dict[str, Any]:
    found = re.fullmatch(r"([0-9]{1,2}) (high|low) (up|down|off)", text)
    if found is None:
        raise ValueError(f"Write the BCM number, the level and the pull: {_USUAL_INPUT}.")
    return {"bcm": int(found[1]), "active": found[2], "pull": found[3]}


class _Ear:
    """What is heard of the line."""

    def __init__(self) -> None:
        self.up = False
        self.why = "the port was not opened"

    def shoe_link(self, up: bool, why: str) -> None:
        """The line went up or down."""
        self.up, self.why = up, why

    def shoe_heard_again(self) -> None:
        """Nothing to do."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """Nothing to do."""

    def shoe_noise(self, reason: str, count: int) -> None:
        """Nothing to do."""


async def _try(dialogue: Dialogue, terminal: Terminal, shoe: Mapping[str, Any], pins: Mapping[str, Any]) -> str:
    """Have the plug pulled and put back. Returns what was seen. Raises TableError where the port cannot tell."""
    logging.getLogger("drivers").addHandler(logging.NullHandler())  # this setup says what is to be said
    brand = shoes.brand(shoe["driver"])
    ear, header = _Ear(), _header(shoe, pins)
    line = ShoeOnLine(brand, shoe["port"], shoe.get("baud"), ask=shoe.get("ask"), present=shoe.get("present"))
    running = asyncio.create_task(line.run(ear))

    async def comes(up: bool, within_s: float | None) -> bool:
        """Whether the line came up, or went; not so after Enter, or after that time."""
        left_s = within_s
        while ear.up != up:
            if running.done():
                running.result()
            if terminal.line_within(0) is not None or (left_s is not None and left_s <= 0):
                return False
            levels = {} if header is None else header.read()
            line.look(since_boot_ms(), levels)
            line.beat(since_boot_ms(), levels)
            await asyncio.sleep(_BEAT_S)
            left_s = None if left_s is None else left_s - _BEAT_S
        return True

    try:
        if not await comes(True, _COMES_UP_WITHIN_S):
            dialogue.say(
                f"The shoe is not there: {ear.why}.", "Another command, or a line that shows the plug, may help."
            )
            return f"the plug at the shoe's end was not tried: {ear.why}"
        dialogue.say("The shoe is there. Pull the plug at the shoe's end. Enter: go on without.")
        if not await comes(False, None):
            return "the plug at the shoe's end was pulled and not seen, or not pulled"
        dialogue.say(f"Seen: {ear.why}.", "Put the plug back. Enter: go on without.")
        if not await comes(True, None):
            return "the plug at the shoe's end was seen to be pulled, and not to come back"
        dialogue.say("Seen: the shoe is there again.")
        return "the plug at the shoe's end was pulled and put back, and the table saw both"
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError, TableError):
            await running
        if header is not None:
            header.close()


def _header(shoe: Mapping[str, Any], pins: Mapping[str, Any]) -> GpioPins | None:
    if shoe.get("present") != "input":
        return None
    wiring = InputWiring(**pins["inputs"][PRESENT_INPUT])
    return take_pins(pins["driver"], pins.get("page"), {}, {PRESENT_INPUT: wiring})
