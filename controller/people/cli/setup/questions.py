"""How `tablectl setup` asks a question, and stores each answer on the disk as soon as the person gives it.

An answer is a text under a key. If the answer is a value of the table's file, its key is the key in that file, such as
`pit.host`. The answers are stored as TOML, so that the file of one setup can answer the questions for the next table of
a fleet.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import termios
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from controller.basics.errors import TableError
from controller.contract.keys import write_whole
from controller.daemon.config.problems import unknown
from controller.daemon.pins.inputs import INPUTS
from controller.table.lamps import LAMPS

_T = TypeVar("_T")


class TakenBackError(Exception):
    """Raised when the person takes the last answer of a setup back. The setup then begins again from the start, but
    asks only the questions that have no answer."""


class Terminal:
    """The terminal at which a person answers questions. The typed lines are read from the file descriptor `into`."""

    def __init__(self, into: int = 0) -> None:
        self.into = into
        self._begun = b""

    def forget(self) -> None:
        """Drop everything that was typed so far, because it could otherwise answer a question that is shown later."""
        self._begun = b""
        if os.isatty(self.into):
            termios.tcflush(self.into, termios.TCIFLUSH)

    def line(self, prompt: str) -> str:
        """Print `prompt`, and return the line that the person types. Raises TableError `terminal_closed` if the
        terminal is closed."""
        print(prompt, end="", flush=True)
        while (line := self.line_within(None)) is None:
            pass
        return line

    def line_within(self, seconds: float | None) -> str | None:
        """Return the next line that the person types, or None if no line comes within `seconds`. If `seconds` is None,
        there is no limit. Raises TableError `terminal_closed` if the terminal is closed."""
        while b"\n" not in self._begun:
            if not select.select([self.into], [], [], seconds)[0]:
                return None
            try:
                data = os.read(self.into, 4096)
            except OSError:  # the terminal was closed
                data = b""
            if not data:
                do = "Run the same command again. A setup goes on with the answers that were given."
                raise TableError("terminal_closed", "The terminal was closed before the last answer.", do)
            self._begun += data
        line, _, self._begun = self._begun.partition(b"\n")
        return line.decode("utf-8", "replace").strip()


def flat(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Convert the values of a TOML file into the answers of a setup: `{"pit": {"port": 8883}}` becomes `{"pit.port":
    "8883"}`. The values of a list are joined with blanks. The list of seats becomes one answer with the seats' numbers,
    and one more answer for the cards printed at each seat."""
    answers: dict[str, str] = {}
    for name, value in values.items():
        key = f"{before}{name}"
        if isinstance(value, Mapping):
            answers |= _wired(key, value) if "bcm" in value else flat(value, f"{key}.")
        elif isinstance(value, bool):
            answers[key] = "yes" if value else "no"
        elif name == "seats" and isinstance(value, list) and all(isinstance(seat, Mapping) for seat in value):
            answers["seats.numbers"] = " ".join(str(seat.get("number", "")) for seat in value)
            answers |= {f"seats.{seat.get('number')}.k9": str(seat["k9"]) for seat in value if "k9" in seat}
        else:
            answers[key] = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return answers


def _wired(key: str, wiring: Mapping[str, Any]) -> dict[str, str]:
    return {key: " ".join(str(wiring[name]) for name in ("bcm", "active", "pull") if name in wiring)}


def read_answers(path: Path) -> dict[str, str]:
    """Return the answers in the file at `path`, or an empty dict if there is no such file. Raises TableError
    `answers_unreadable`."""
    try:
        return flat(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        do = f"Correct the file, or remove it: then every question is asked. A line of it: {_EXAMPLE}."
        raise TableError("answers_unreadable", f"The answers in {path} cannot be read: {error}.", do) from None


_EXAMPLE = 'pit.host = "broker.pit"'

_OF_SETUP = (
    "broker_stays by done goes_on heard key_owner lamp_pins lamps_lit_by networks pit_key plug replace report shoe "
    "start stop tls walk"
)
QUESTIONS = (
    *(f"setup.{name}" for name in _OF_SETUP.split()),
    *(f"table.{name}" for name in ("id", "name", "game", "dealt", "lock_on", "bet_recognition")),
    *(f"pit.{name}" for name in ("host", "port", "root", "ca", "certificate", "private_key")),
    *(f"shoe.{name}" for name in ("driver", "port", "baud", "ask", "present")),
    *("journal.path", "journal.signing_key", "control.socket"),
    *("seats.numbers", "seats.1.k9", "pins.driver", "pins.page", "pins.lamps.seat_1", "pins.inputs.seat_1"),
    *(f"pins.lamps.{name}" for name in LAMPS),
    *(f"pins.inputs.{name}" for name in INPUTS),
)
"""The key of every question that a setup can ask. Seat 1 stands for every seat."""


def is_question(key: str) -> bool:
    """Tell whether `tablectl setup` can ask a question with this key."""
    return re.sub(r"^(seats\.|pins\.(?:lamps|inputs)\.seat_)[0-9]+", r"\g<1>1", key) in QUESTIONS


def check_answers(given: Mapping[str, str], path: Path) -> None:
    """Check that each key in a file of answers belongs to a question of `tablectl setup`. Raises TableError
    `answers_unknown`, which names every key that does not."""
    if wrong := [unknown(key, QUESTIONS) for key in given if not is_question(key)]:
        do = "Correct these keys, or take them out. Nothing was asked or written yet."
        end = "" if wrong[-1].endswith("?") else "."
        raise TableError("answers_unknown", f"{path} answers what nobody asks: {'; '.join(wrong)}{end}", do)


class Dialogue:
    """Gets the answer to each question of a setup: from the person at the terminal, or from a file that has the answer
    already.

    `given` are the answers in a file that a person wrote. A question with an answer in `given` is not asked. `usual`
    are answers of an earlier setup or values in the table's file. They are proposed to the person. If there is no
    `terminal`, they are taken as the answers. `kept` is the file in which this setup stores its answers.
    """

    def __init__(self, terminal: Terminal | None, given: Mapping[str, str], usual: Mapping[str, str], kept: Path):
        self.terminal = terminal
        self.answers: dict[str, str] = {}
        """The answers of this setup, in their order. A setup that goes on with a broken-off one has its answers too."""

        self._given = given
        self._usual = dict(usual)
        self._kept_at = kept
        self._asked: list[str] = []  # the keys that were asked at the terminal, in order: `back` takes back the last

    def known(self, key: str) -> str | None:
        """Return the answer to the question `key`, if a file of answers or this setup has it already. Otherwise return
        None, which means that the person must be asked."""
        return self._given.get(key) or self.answers.get(key)

    def noted(self, key: str) -> str | None:
        """Return the text that this setup itself stored under `key`. Returns None if it stored nothing, or if a file of
        answers that a person wrote has the key."""
        return None if key in self._given else self.answers.get(key)

    def usual(self, key: str, default: str) -> str:
        """Return the answer to propose for the question `key`. That is the last answer of this setup or of an earlier
        one, or the value in the table's file. If none exists, `default` is returned."""
        return self._usual.get(key, default)

    def say(self, *lines: str) -> None:
        """Print these lines for the person at the terminal."""
        print("\n".join(lines), flush=True)

    def ask(self, key: str, says: str, explains: str, default: str, read: Callable[[str], _T]) -> _T:
        """Ask the person the question `says`, and return the answer as converted by `read`. If the answer is bad,
        `read` raises ValueError, which says what is wrong, and the question is asked once more. A question that has an
        answer already is not asked.

        The person may type `?` for the explanation `explains`, `back` to take back the previous answer, or an empty
        line for the default. Raises TableError `answer_wrong` for a wrong answer in a file, and TakenBackError if the
        person takes an answer back.
        """
        if (known := self.known(key)) is not None:
            value = self._read(key, known, read)
            self.say(f"{says}: {known}")
            self.keep(key, known)
            return value
        usual = self.usual(key, default)
        if self.terminal is None:
            value = self._read(key, usual, read)
            self.keep(key, usual)
            return value
        while True:
            text = self.terminal.line(f"{says} [{usual}]: ") or usual
            if text == "?":
                self.say(f"  {explains}")
                continue
            if text == "back":
                self._take_back()
                continue
            try:
                value = read(text)
            except ValueError as error:
                self.say(f"  {error}")
                continue
            self.keep(key, text)
            self._asked.append(key)
            return value

    def agrees(self, key: str, says: str, explains: str, default: bool) -> bool:
        """Ask the person a question with the answer yes or no, and return whether the answer is yes. `explains` is
        shown to a person who types `?`."""
        return self.ask(key, says, explains, "yes" if default else "no", read_yes)

    def asks_again(self, *begins: str) -> None:
        """Forget the answer to each question whose key begins with one of `begins`, so that the person is asked once
        more. The forgotten answer is only proposed."""
        self._given = {key: text for key, text in self._given.items() if not key.startswith(begins)}
        self.answers = {key: text for key, text in self.answers.items() if not key.startswith(begins)}
        self._asked = [key for key in self._asked if not key.startswith(begins)]

    def keep(self, key: str, text: str) -> None:
        """Store the answer `text` under `key` on the disk, so that an interrupted setup or a power cut does not lose
        the answer. Raises TableError `answers_unwritable`."""
        assert is_question(key), f"{key} is missing in QUESTIONS"
        self._usual[key] = self.answers[key] = text
        lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in self.answers.items())
        try:
            write_whole(self._kept_at, "".join(sorted(lines)).encode())
        except OSError as error:
            do = "Run the same command again with sudo."
            what = f"The answers cannot be kept in {self._kept_at}: {error.strerror}."
            raise TableError("answers_unwritable", what, do) from None

    def settle(self) -> None:
        """Make every answer given so far final. If the person types `back`, only later answers are taken back."""
        self._asked.clear()

    def _take_back(self) -> None:
        """Drop the last answer that was typed, and every answer that the setup stored after it, and raise
        TakenBackError. If no answer is left, only tell the person so."""
        if not self._asked:
            self.say("  There is no answer to take back. A later setup can change every answer.")
            return
        keys = list(self.answers)
        for key in keys[keys.index(self._asked.pop()) :]:
            del self.answers[key]
        raise TakenBackError

    def _read(self, key: str, text: str, read: Callable[[str], _T]) -> _T:
        try:
            return read(text)
        except ValueError as error:
            do = f"Correct {key} in the file of answers, or run `tablectl setup` at a terminal."
            raise TableError("answer_wrong", f"{key} = {text!r}: {error}", do) from None


def read_yes(text: str) -> bool:
    """Return whether the answer `text` means yes. Raises ValueError if it means neither yes nor no."""
    if text.casefold() in ("yes", "y", "no", "n"):
        return text.casefold().startswith("y")
    raise ValueError("Answer yes or no.")


def terminal() -> Terminal | None:
    """Return the terminal at which the command was typed, or None if standard input is no terminal."""
    return Terminal() if sys.stdin.isatty() else None
