"""Tests whether the table notices an unplugged shoe. A person pulls the plug at the shoe's end of the cable, while the
serial port stays open.

A shoe that accepts commands is asked whether it is connected. With any shoe, a modem line or an input of the pin header
may show that the plug is in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
from collections.abc import Awaitable, Callable

from msgspec import Struct, convert, to_builtins

from controller.basics.errors import TableError
from controller.daemon.clock import since_boot_ms
from controller.daemon.header import take_pins
from controller.people.cli.setup.draft import Draft, Wired
from controller.people.cli.setup.house import choice
from controller.people.cli.setup.questions import Dialogue, Terminal
from controller.table.facts import ShoeFact
from drivers.devices import PRESENT_INPUT, InputWiring
from drivers.gpio import GpioPins
from drivers.line.port import MODEM_LINES
from drivers.line.shoe_on_line import OFF, ShoeOnLine

_NONE = "none"
_BEAT_S = 0.1
_COMES_UP_WITHIN_S = 4.0
_USUAL_INPUT = "14 low up"


class _Line(Struct, frozen=True):
    """The keys of the section `[shoe]` in a table's file that say how the shoe is connected."""

    driver: str
    port: str
    baud: int | None = None
    ask: str | None = None
    present: str | None = None


def ask_plug(dialogue: Dialogue, draft: Draft) -> str:
    """Ask the technician how the table knows that the shoe is connected, put the answers into the draft of the table's
    file, and test the plug. Returns in words what the test found."""
    for key in ("ask", "present"):
        draft.shoe.pop(key, None)
    inputs: dict[str, object] = draft.pins.get("inputs", {})
    inputs.pop(PRESENT_INPUT, None)
    is_asked = _ask_command(dialogue, draft)
    present, wired = _ask_present(dialogue)
    if present != _NONE:
        draft.shoe |= {"present": present}
    if wired is not None:
        inputs[PRESENT_INPUT] = to_builtins(wired)
    if not is_asked and present == _NONE:
        dialogue.say("So nobody notices a plug that is pulled at the shoe: count the cards after each shoe.")
        return "nothing shows the plug at the shoe's end"
    explains = "You pull the plug at the shoe's end, and put it back. The table must notice both."
    terminal = dialogue.terminal
    if terminal is None or not dialogue.agrees("setup.plug", "Try the plug at the shoe's end", explains, True):
        return "the plug at the shoe's end was not tried"
    try:
        return asyncio.run(_try(dialogue, terminal, draft, wired))
    except TableError as error:
        dialogue.say(str(error))
        return f"the plug at the shoe's end was not tried: {error.what}"


def _ask_command(dialogue: Dialogue, draft: Draft) -> bool:
    """Ask the technician for the command with which the table checks that the shoe is connected, and put the command
    into the draft of the table's file. Returns whether the table sends such a command."""
    asking = draft.brand.asking
    if asking is None:
        return False
    explains = (
        "The table sends this command twice a second, and any answer shows that the shoe is there. The command "
        "must change nothing at the shoe; the shoe may refuse it. off: the shoe is not asked."
    )
    ask = dialogue.ask("shoe.ask", "Command by which the shoe is asked", explains, asking.usual, _command(asking.form))
    if ask != asking.usual:
        draft.shoe |= {"ask": ask}
    return ask != OFF


def _ask_present(dialogue: Dialogue) -> tuple[str, Wired | None]:
    """Ask the technician how the table can see that the shoe's plug is in. Returns two values: the answer, and the
    wiring of the input that shows the plug (None if no input of the pin header shows it)."""
    explains = (
        "cts, dsr, dcd: the plug at the shoe's end leads RTS back on that line. input: the shoe's supply closes the "
        f"input {PRESENT_INPUT} of the header. none: nothing shows the plug. docs/wiring.md: A plug pulled at the shoe."
    )
    read = choice(_NONE, *MODEM_LINES, "input")
    present = dialogue.ask("shoe.present", "What shows that the shoe's plug is in", explains, _NONE, read)
    if present != "input":
        return present, None
    says, explains = f"Wiring of the input {PRESENT_INPUT}", "The BCM number, the level while the plug is in, the pull."
    return present, dialogue.ask(f"pins.inputs.{PRESENT_INPUT}", says, explains, _USUAL_INPUT, _input)


def _command(form: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text != OFF and not re.fullmatch(form, text):
            raise ValueError("Write a command, or off.")
        return text

    return read


def _input(text: str) -> Wired:
    found = re.fullmatch(r"([0-9]{1,2}) (high|low) (up|down|off)", text)
    if found is None:
        raise ValueError(f"Write the BCM number, the level and the pull: {_USUAL_INPUT}.")
    return convert({"bcm": int(found[1]), "active": found[2], "pull": found[3]}, Wired)


class _Ear:
    """Receives what the driver of the shoe reports during the plug test. `up` says whether the shoe is connected, and
    `why` gives the reason in words."""

    def __init__(self) -> None:
        self.up = False
        self.why = "the port was not opened"

    def shoe_link(self, up: bool, why: str) -> None:
        """Store whether the shoe is connected, and why."""
        self.up, self.why = up, why

    def shoe_heard_again(self) -> None:
        """Do nothing, because this test looks only at whether the shoe is connected."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """Do nothing, because this test looks only at whether the shoe is connected."""

    def shoe_noise(self, reason: str, count: int) -> None:
        """Do nothing, because this test looks only at whether the shoe is connected."""


async def _try(dialogue: Dialogue, terminal: Terminal, draft: Draft, wired: Wired | None) -> str:
    """Let the person pull the shoe's plug and put it back. Returns in words what the table noticed. Raises TableError
    if the port cannot show whether the plug is in."""
    logging.getLogger("drivers").addHandler(logging.NullHandler())  # this setup says what is to be said
    said = convert(draft.shoe, _Line)
    ear, header = _Ear(), None if wired is None else _header(draft, wired)
    line = ShoeOnLine(draft.brand, said.port, said.baud, ask=said.ask, present=said.present)
    running = asyncio.create_task(line.run(ear))

    async def comes(up: bool, within_s: float = math.inf) -> bool:
        """Wait until the shoe is connected (`up` is True) or disconnected (`up` is False). Returns True when that
        happens. Returns False after `within_s` seconds, or when the person presses Enter."""
        left_s = within_s
        while ear.up != up:
            if running.done():
                running.result()
            if terminal.line_within(0) is not None or left_s <= 0:
                return False
            levels = {} if header is None else header.read()
            line.look(since_boot_ms(), levels)
            line.beat(since_boot_ms(), levels)
            await asyncio.sleep(_BEAT_S)
            left_s -= _BEAT_S
        return True

    try:
        return await _pulled(dialogue, ear, comes)
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError, TableError):
            await running
        if header is not None:
            header.close()


async def _pulled(dialogue: Dialogue, ear: _Ear, comes: Callable[..., Awaitable[bool]]) -> str:
    """Ask the person to pull the shoe's plug and to put it back. Returns in words what the table noticed. `comes` is a
    function that waits until the shoe is connected (True) or disconnected (False)."""
    if not await comes(True, _COMES_UP_WITHIN_S):
        dialogue.say(f"The shoe is not there: {ear.why}.", "Another command, or a line that shows the plug, may help.")
        return f"the plug at the shoe's end was not tried: {ear.why}"
    dialogue.say("The shoe is there. Pull the plug at the shoe's end. Enter: go on without.")
    if not await comes(False):
        return "the plug at the shoe's end was pulled and not seen, or not pulled"
    dialogue.say(f"Seen: {ear.why}.", "Put the plug back. Enter: go on without.")
    if not await comes(True):
        return "the plug at the shoe's end was seen to be pulled, and not to come back"
    dialogue.say("Seen: the shoe is there again.")
    return "the plug at the shoe's end was pulled and put back, and the table saw both"


def _header(draft: Draft, wired: Wired) -> GpioPins:
    wiring = InputWiring(wired.bcm, wired.active, wired.pull or "off")
    return take_pins(draft.pins.get("driver", ""), draft.pins.get("page"), {}, {PRESENT_INPUT: wiring})
