"""The acts of people (the deeds) that a conformance test needs at a pit or at a table. Examples are adopting a table,
dealing a round, and ending a program.

Each pit and each table has its own commands for these acts. The conformance kit runs the command that a file gives for
an act, or asks a person at the terminal to do the act.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from controller.basics.errors import TableError

PIT_DEEDS = {
    "adopt": "Adopt table {table}, epoch {epoch}, public key {key} (fingerprint {fingerprint}).",
    "verify": "Verify the award {award} of table {table}.",
    "pay": "Pay the award {award} of table {table}.",
    "reject": "Reject the award {award} of table {table}.",
    "limit": "As two people, give the meter {meter} a limit of {limit_cents} cents; change nothing else.",
    "price": "As two people, let wagers of {price_cents} cents alone feed the meter {meter}; change nothing else.",
    "close": "As two people, close the meter {meter}, and move all that it holds to the meter {into}.",
    "correct": "As two people, take off the meters what the void {event} has left there.",
    "restart": "End the pit as a power cut would (kill -9), and start the pit again on the same books.",
    "clock": "End the pit as a power cut would, and start the pit again on the same books with a clock that stands"
    " {behind_s} s behind: on the pit's other machine where there is one, with 0 on this machine.",
}
"""The deeds at a pit, and what a person is asked to do. A command may use the names in braces too."""

TABLE_DEEDS = {
    "pin": "Pin the pit's key with the fingerprint {fingerprint}.",
    "events": "Let the table make {count} events or more, for example by test hits between two rounds.",
    "round": "Deal a round to its end, with a wager on a progressive bet at a seat, and without a hit.",
    "void": "Lock a round with a wager on a progressive bet at a seat, and void it.",
    "hit_meter": "Deal a round to its end in which a progressive bet wins a meter, and reset the hit.",
    "hit_fixed": "Deal a round to its end in which a progressive bet wins a fixed award, and reset the hit.",
    "clear": "Leave the fault {fault} of the table, as two people.",
    "recognition": "Adopt bet recognition's key {key}, as two people.",
    "restart": "End the table's program as a power cut would (kill -9), start the program again, let the table go on.",
    "broker": "End the broker and start the broker again, so that no retained message is left.",
}
"""The same at a table."""

_WITHIN_S = 600  # a command that hangs is ended; one for sixty events takes minutes on a machine with much to do


class NotTriedError(Exception):
    """Raised when a clause of the contract cannot be tested, for example because nobody can do an act that the test
    needs. The text gives the reason."""


class DeedFailedError(Exception):
    """Raised when the pit or the table refuses an act of people (a deed) that must be possible, or when the command for
    the act fails. The text gives the reason."""


class Deeds:
    """The acts of people (deeds) that a conformance test may ask for at one pit or table, each with its command.

    `known` maps the name of each act to the instruction for a person. `commands` maps the name of an act to a shell
    command. With `asks`, a person at the terminal is asked to do an act that has no command.
    """

    def __init__(self, known: Mapping[str, str], commands: Mapping[str, str], asks: bool) -> None:
        self._known = known
        self._commands = commands
        self._asks = asks

    def has(self, deed: str) -> bool:
        """Tell whether a shell command was given for this act of people."""
        return deed in self._commands

    def need(self, deed: str) -> None:
        """Raise NotTriedError if this act of people has no command and there is no person to ask."""
        if not self.has(deed) and not self._asks:
            raise NotTriedError(f"no command for {deed!r} was given, and there is nobody to ask")

    def do(self, deed: str, **names: str) -> None:
        """Have an act of people (a deed) done, by its command or by a person. `names` are the values for the braces in
        the command.

        Raises NotTriedError if there is no command and no person to ask. Raises DeedFailedError if the pit or the table
        refused the act, or if its command failed. This is a fault, because people must be able to do each of these
        acts.
        """
        if (refusal := self.refusal(deed, **names)) is not None:
            raise DeedFailedError(refusal)

    def refusal(self, deed: str, **names: str) -> str | None:
        """Let people try an act (a deed), by its command or by asking a person. Returns the reason why the pit or the
        table refused the act or why its command failed, or None if the act was done. `names` are the values for the
        braces in the command.

        Raises NotTriedError if there is no command and no person to ask.
        """
        self.need(deed)
        command = self._commands.get(deed)
        if command is None:
            print(self._known[deed].format(**names), file=sys.stderr)
            refused = input("Press Enter when this is done. Where the program refuses it, write why: ").strip()
            return refused or None
        line = command
        for name, value in names.items():
            line = line.replace("{" + name + "}", value)
        try:
            run = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
        except subprocess.TimeoutExpired:
            return f"the command for {deed!r} did not end within {_WITHIN_S} s: {line}"
        if run.returncode == 0:
            return None
        said = " ".join((run.stderr or run.stdout).split())[-300:]  # a line of the report
        return f"the command for {deed!r} ended with {run.returncode}: {line}: {said}"


def read_commands(path: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Read the commands for the acts of people (deeds) from a TOML file, and return them by the name of the act. Raises
    TableError `deeds_unusable` if the file cannot be read, if it names an act that is not in `known`, or if a command
    is not text."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise TableError("deeds_unusable", f"{path} cannot be read: {error}.", "Give a TOML file.") from error
    wrong = [name for name, value in found.items() if name not in known or not isinstance(value, str)]
    if wrong:
        do = f"Each line is a deed and its command in quotes. The deeds are {', '.join(known)}."
        raise TableError("deeds_unusable", f"{path}: {', '.join(wrong)} is not a deed with a command.", do)
    return found
