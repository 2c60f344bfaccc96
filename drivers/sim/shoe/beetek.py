"""A simulated BeeTek: a shoe that reports only which cards are drawn, and does not follow the game.

Written from the description of the bytes on the serial line, and not from the driver that reads them. Each card is
reported in one line:

    *  0 D  suit  rank  check check  CR LF

The suit is 0 hearts, 1 diamonds, 2 clubs, 3 spades. The rank is a hexadecimal digit from 1 (ace) to D (king). The check
is the low byte of the sum of the character codes between the star and the check, as two hexadecimal characters.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from drivers.sim import rules
from drivers.sim.console import Verb, Verbs
from drivers.sim.line import Line
from drivers.sim.shoe import ShoeMaker

_BAUD = 9600
_BYTE_S = 10 / _BAUD  # 8N1: ten bits a byte
_SUITS = "HDCS"


def line_of(text: str) -> bytes:
    """Return the line with which a BeeTek shoe reports this text: a star, the text, the check characters and the line
    end."""
    return f"*{text}{sum(map(ord, text)) % 256:02X}\r\n".encode("ascii")


def card_line(card: str) -> bytes:
    """Return the line with which a BeeTek shoe reports a card, such as `KS`."""
    return line_of(f"0D{_SUITS.index(card[1])}{1 + rules.RANKS.index(card[0]):X}")


class SimulatedBeeTek:
    """A simulated BeeTek shoe, which reports drawn cards and nothing else.

    With `speed` 1, a line takes as long as on a 9600 baud wire, with 2 half as long, and with 0 no time. `wrap` is
    ignored, because the lines have no numbers. If `corrupt` is set, `corrupt(line)` returns the bytes that are sent to
    the controller in place of a line. If it returns no bytes, the line is lost.
    """

    baud = _BAUD
    tells_cut_card = False

    def __init__(
        self, line: Line, *, wrap: int = 0, speed: float = 0.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.line = line
        self._speed = speed
        self._sleep = sleep
        self.corrupt: Callable[[bytes], bytes] | None = None

    def draw(self, card: str) -> None:
        """Draw a card, and send its line once."""
        self._send(card_line(card))

    def lose(self, card: str) -> None:
        """Draw a card whose report is lost: no byte of its line is sent."""
        self._send(card_line(card), lambda whole: b"")

    def damage(self, card: str) -> None:
        """Draw a card whose report has a wrong rank byte, so that the check characters do not match."""
        self._send(card_line(card), lambda whole: whole[:4] + bytes([whole[4] ^ 1]) + whole[5:])

    def say(self, text: str) -> None:
        """Send a line with any text and correct check characters. With this a test can send a line that no BeeTek shoe
        is known to send."""
        self._send(line_of(text))

    def power_up(self) -> None:
        """Switch the shoe on. A BeeTek shoe does not report this."""

    def new_shoe(self) -> None:
        """Put a new shoe in place. A BeeTek shoe does not report this."""

    def cut_card(self) -> None:
        """Draw the cut card. A BeeTek shoe does not report this."""

    def _draw_each(self, *cards: str) -> None:
        for card in [rules.a_card(card) for card in cards]:
            self.draw(card)

    def verbs(self) -> Verbs:
        """Return the prompt's commands for a simulated BeeTek shoe. Some of them cause the shoe's faults."""
        return {
            "draw": Verb("CARD…", "draw one card or several", self._draw_each),
            "lose": Verb("CARD", "draw a card whose line is lost", lambda card: self.lose(rules.a_card(card))),
            "damage": Verb(
                "CARD", "draw a card whose line has one wrong byte", lambda card: self.damage(rules.a_card(card))
            ),
            "say": Verb("TEXT", "send a line with this text", self.say),
        }

    def _send(self, whole: bytes, corrupt: Callable[[bytes], bytes] | None = None) -> None:
        corrupt = corrupt or self.corrupt
        self.line.write(corrupt(whole) if corrupt else whole)
        if self._speed:
            self._sleep(len(whole) * _BYTE_S / self._speed)


SHOE: ShoeMaker = SimulatedBeeTek
