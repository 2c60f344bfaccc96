"""The shoe at the far end of the wire: the simulated Angel Eye on a pty, in a dealer's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from drivers.sim.angel_eye import PtyLine, SimulatedAngelEye

NO_READING = "??"
CUTTING_CARD = "CUT"


class FarShoe(SimulatedAngelEye):
    """A shoe whose device appears under the name `link`.

    `sent` has every report's frame in hex, once each, whether or not anybody heard it. `before_copy(copy)`, when set,
    is called before copy 0, 1 or 2 of a report is written.
    """

    def __init__(self, link: Path, wrap: int = 0) -> None:
        self.line = PtyLine(link)
        self.sent: list[str] = []
        self.before_copy: Callable[[int], None] | None = None
        super().__init__(self.line, wrap=wrap)
        self.corrupt = self._note

    def deal(self, cards: str, **lies: Any) -> None:
        """Draw these cards one after another: `8S TD`, `CUT` the cutting card, `??8S` one that cannot be read.

        `lies` are those of `SimulatedAngelEye.draw`.
        """
        for card in cards.split():
            if card == CUTTING_CARD:
                self.cut_card()
            elif card.startswith(NO_READING):
                self.unreadable(card.removeprefix(NO_READING))
            else:
                self.draw(card, **lies)

    def unplug(self) -> None:
        """Pull the adapter: the device vanishes."""
        self.line.unplug()

    def plug(self) -> None:
        """Plug the adapter in again, under the same name."""
        self.line.plug()

    def _note(self, copy: int, frame: bytes) -> bytes:
        if self.before_copy is not None:
            self.before_copy(copy)
        if copy == 0:
            self.sent.append(frame.hex())
        return frame
