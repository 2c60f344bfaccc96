"""A simulated technician at the terminal of a table's machine. The shoe, lamps and buttons are simulated too."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from drivers.sim.line import PtyLine
from drivers.sim.pins import OUTPUT, PinsPage
from drivers.sim.shoe import maker
from tests.deploy.clean_debian import ROOT

PATIENCE_S = 240.0


class Technician:
    """A simulated person who answers the questions of `tablectl setup`.

    `says` maps the beginning of a question to the answer. If the answer is a list, its items are the answers for the
    first time that the question comes, the second, and so on. Any other question is answered with an empty line.
    `lamps` and `inputs` say what is wired to which pin. The person sees which lamp is lit, and does not use any pin
    number that the program prints. At the question that begins with `breaks_off`, the person closes the terminal.
    """

    def __init__(
        self,
        folder: Path,
        says: Mapping[str, str | list[str]],
        lamps: Mapping[int, str | list[str]],
        inputs: Mapping[str, int],
        cards: tuple[str, ...] = (),
        shoe: str = "angel_eye",
        breaks_off: str | None = None,
    ) -> None:
        self._folder, self._says, self._lamps, self._inputs = folder, says, lamps, inputs
        self._cards, self._shoe, self._breaks_off = cards, shoe, breaks_off
        self.page = PinsPage(folder / "header")
        self.seen = ""
        self.asked: list[str] = []

    def runs(self, *words: str) -> int | None:
        """Run `tablectl` with these words until it ends. Return its exit code, or None if the technician closed the
        terminal."""
        line = PtyLine(self._folder / "shoe")
        try:
            command = [sys.executable, "-m", "controller.people.cli.main", *words]
            plugs = (line.unplug_at_shoe, line.plug_at_shoe)
            return self.at_terminal(command, maker(self._shoe)(line).draw, plugs)
        finally:
            line.unplug()

    def at_terminal(
        self, command: Sequence[str], draw: Callable[[str], None], plugs: tuple[Callable[[], None], Callable[[], None]]
    ) -> int | None:
        """Run this command at a terminal until it ends, and answer its questions. Return its exit code, or None if the
        technician closed the terminal.

        `draw` makes the shoe draw a card. `plugs` are two functions: one pulls the plug at the shoe's end, the other
        puts it in again.
        """
        self._draw, self._drawn, (self._pull, self._put) = draw, 0, plugs
        self._at, end = pty.openpty()
        modes = termios.tcgetattr(end)
        modes[3] &= ~termios.ECHO  # an echo may come after what the program says next
        termios.tcsetattr(end, termios.TCSANOW, modes)
        program = subprocess.Popen(command, cwd=ROOT, stdin=end, stdout=end, stderr=end, start_new_session=True)
        os.close(end)
        try:
            if not self._converses(program):
                os.close(self._at)
                program.wait(PATIENCE_S)
                return None
            return program.wait(PATIENCE_S)
        finally:
            program.kill()
            program.wait()

    def _converses(self, program: subprocess.Popen[bytes]) -> bool:
        deadline, answered = time.monotonic() + PATIENCE_S, 0
        while time.monotonic() < deadline:
            if select.select([self._at], [], [], 0.1)[0]:
                try:
                    data = os.read(self._at, 4096)
                except OSError:
                    return True  # it ended
                self.seen += data.decode().replace("\r", "")
            new = self.seen[answered:]
            if self._drew_all(new):
                self._answer("")
                answered = len(self.seen)
            elif found := re.search(r"(Pull|Put) the plug .*\n$", new):
                answered = len(self.seen)
                (self._pull if found[1] == "Pull" else self._put)()
            elif found := re.search(r"(?:Press the button|Cover the sensor|Turn the|Open the) (\w+): $", new):
                answered = len(self.seen)
                self._press("cabinet_open" if found[1] == "cabinet" else found[1])
            elif new.endswith("]: ") or "which lamp is lit: " in new[-20:]:
                answered = len(self.seen)
                prompt = new.splitlines()[-1]
                self.asked.append(prompt)
                if self._breaks_off is not None and prompt.startswith(self._breaks_off):
                    return False
                self._answer(self._answer_to(prompt))
        raise AssertionError(f"the setup hangs:\n{self.seen[-2000:]}")

    def _answer(self, text: str) -> None:
        os.write(self._at, text.encode() + b"\n")

    def _answer_to(self, prompt: str) -> str:
        if "which lamp is lit" in prompt:
            lit = [bcm for bcm in range(28) if self.page.function(bcm) == OUTPUT and self.page.output(bcm)]
            assert len(lit) == 1, "one lamp is lit at a time"
            answer = self._lamps.get(lit[0], "none")
        else:
            answer = next((answer for begins, answer in self._says.items() if prompt.startswith(begins)), "")
        return answer if isinstance(answer, str) else answer.pop(0)

    def _drew_all(self, new: str) -> bool:
        """Draw the next card if the setup listens to the shoe and has shown all cards drawn so far. Return True if the
        setup has shown all cards. `new` is the text that the setup has printed."""
        if not ("Listening at" in new and "is open" in new):  # until then, what a shoe says is thrown away
            return False
        shown = [card for card in self._cards if f"the shoe says: {card}\n" in new]
        if len(shown) == self._drawn < len(self._cards):
            self._draw(self._cards[self._drawn])
            self._drawn += 1
        return len(shown) == len(self._cards)

    def _press(self, name: str) -> None:
        bcm = self._inputs.get(name)
        if bcm is None:
            self._answer("")
            return
        self.page.drive(bcm, 0)
        deadline, before = time.monotonic() + PATIENCE_S, len(self.seen)
        while "Let the button go." not in self.seen[before:]:
            assert time.monotonic() < deadline, f"{name} was not seen:\n{self.seen[-500:]}"
            if select.select([self._at], [], [], 0.05)[0]:
                self.seen += os.read(self._at, 4096).decode().replace("\r", "")
        self.page.drive(bcm, 1)
