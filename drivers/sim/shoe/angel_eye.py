"""A simulated Angel Eye II-EX: a shoe that follows the game by a logic of its own, at the far end of a serial line.

Written from the description of the bytes on the serial line, and not from the driver that reads them. A report to the
controller is

    05  Seq  code  payload...  03  BCC BCC

Each report is sent three times, with the same Seq digit. BCC is the XOR of the bytes from Seq through 03, as two
upper-case hex characters. Every payload byte has bit 7 set. The controller may send a command:

    02  "OP"  type type  digit digit  03  BCC BCC

The BCC of a command covers all bytes before it. The shoe answers with 06, or with 15 and the two characters of a
reason.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import reduce
from operator import xor

from drivers.sim import rules
from drivers.sim.console import Verb, Verbs, number_word
from drivers.sim.line import Line
from drivers.sim.shoe import ShoeMaker

_BAUD = 4800
_BYTE_S = 10 / _BAUD  # 8N1: ten bits a byte
_STX, _ETX, _ENQ, _ACK, _NAK = b"\x02", b"\x03", b"\x05", b"\x06", b"\x15"
_COMMAND = re.compile(rb"\x02OP(..)([0-9]{2})\x03(..)", re.DOTALL)
_COMMAND_BYTES = 10
_NO_CARD = 0x80
_ALL_COPIES = (True, True, True)
_OUTSIDE_GAME = {"lock": 0, "error": 1, "setting": 2}


class Target(IntEnum):
    """Where an Angel Eye shoe believes that a card goes, such as Player's hand or the burn. The value is in bits 6-4 of
    the target byte in the shoe's report."""

    PLAYER = 0
    BANKER = 1
    BURNED = 2
    FIRST_CARD = 4
    BURN_COUNT = 5


_TARGETS = {
    "player": Target.PLAYER,
    "banker": Target.BANKER,
    "burn": Target.BURNED,
    "first_card": Target.FIRST_CARD,
}


class Result(IntEnum):
    """The result of a round as an Angel Eye shoe reports it. The value is in bits 6-4 of the report's result byte."""

    PLAYER = 1
    TIE = 2
    BANKER = 4
    FORCE_QUIT = 7


def check_characters(covered: bytes) -> bytes:
    """Return the two check characters for these bytes: the XOR of the bytes, in upper-case hex."""
    return b"%02X" % reduce(xor, covered, 0)


def frame(seq: str, data: bytes) -> bytes:
    """Return the bytes of one copy of an Angel Eye's report. `seq` is the report's digit, and `data` is its code letter
    and payload."""
    covered = seq.encode() + data + _ETX
    return _ENQ + covered + check_characters(covered)


def card_byte(card: str) -> int:
    """Return the byte that stands for a card in an Angel Eye's report. Bits 6-4 are the suit (1 diamonds, 2 clubs, 3
    spades, 4 hearts), and bits 3-0 are the rank (13 for the king)."""
    return 0x80 | (1 + rules.SUITS.index(card[1])) << 4 | (1 + rules.RANKS.index(card[0]))


class SimulatedAngelEye:
    """A simulated Angel Eye shoe. It numbers its reports. It follows the game by its own tableau, and reports to which
    hand each card goes (the card's target) and the result of each round.

    The first report has the number (Seq digit) `wrap`, 0 or 1, and so has the report after number 9. With `speed` 1, a
    report takes as long as three copies on a 4800 baud wire, with 2 half as long, and with 0 no time. Each report is
    sent as the copies 0, 1 and 2. If `corrupt` is set, `corrupt(copy, frame)` returns the bytes that are sent in place
    of that copy's bytes.

    The shoe answers commands. If `mute` is True, it answers none. If `busy` is True, it refuses them all (reason 21).
    Each answer comes `answers_after_s` seconds after its command. `answered` counts the answers.
    """

    baud = _BAUD
    tells_cut_card = True

    def __init__(
        self,
        line: Line,
        *,
        wrap: int = 0,
        speed: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.line = line
        self._digits = "123456789" if wrap else "0123456789"
        self._speed = speed
        self._sleep = sleep
        self.corrupt: Callable[[int, bytes], bytes] | None = None
        self.mute = self.busy = False
        self.answers_after_s = 0.0
        self.answered = 0
        self._reports = 0  # since power-up: they give the Seq digit
        self._locked = False
        self._error: int | None = None
        self._is_on = True
        self._begun = b""  # of a command
        self._writes = threading.RLock()  # an answer comes between two copies, and never inside one
        self.new_shoe()
        line.listen(self.hear)

    # The shoe's own game.

    def new_shoe(self) -> None:
        """Begin a new shoe: the next card is its first card. The simulated Angel Eye does not report this."""
        self._to_burn: int | None = None  # unknown until the first card is seen
        self._burned = 0
        self._clear_round()

    def draw(
        self,
        card: str,
        *,
        target: Target | None = None,
        index: int | None = None,
        result: Result | None = None,
        copies: Sequence[bool] = _ALL_COPIES,
    ) -> None:
        """Draw a card: report the card and, if the round is complete with it, the round's result.

        A shoe that is locked or in error reports only that a card came. `target`, `index` and `result` replace true
        values in the reports with false ones, while the shoe's own game goes on with the true ones. `copies` says for
        each of the three copies of the card's report whether it is sent.
        """
        for given, kind in ((target, Target), (result, Result)):
            if isinstance(given, str):
                raise TypeError(f"{given!r} is no {kind.__name__}: write {kind.__name__}.{given.upper()}.")
        self._drawn(card, card_byte(card), target, index, result, copies)

    def unreadable(self, card: str) -> None:
        """Draw a card that the shoe cannot read. The report names no card, but the shoe's own game goes on with the
        real card."""
        self._drawn(card, _NO_CARD, None, None, None, _ALL_COPIES)

    def keep(self, card: str) -> None:
        """Keep a card that was drawn beyond the end of a round (an overdraw), after that error was cleared. The card
        becomes the first card of Player's hand in the next round."""
        self._clear_round()
        target, index = self._expected()
        self._report(b"R", _target_byte(target, index), card_byte(card))
        self._take(card, target, None)

    def force_quit(self) -> None:
        """End the round without an outcome. The shoe reports the result FORCE_QUIT, and the next card begins a new
        round."""
        self._report_result(Result.FORCE_QUIT)

    # Commands.

    def hear(self, data: bytes) -> None:
        """Receive bytes from the controller. When the bytes complete a command, the shoe carries it out or refuses it,
        and answers."""
        begun = self._begun + data
        while (place := begun.find(_STX)) >= 0 and len(begun) - place >= _COMMAND_BYTES:
            self._answer(begun[place : place + _COMMAND_BYTES])
            begun = begun[place + _COMMAND_BYTES :]
        self._begun = begun[place:] if place >= 0 else b""

    def _answer(self, command: bytes) -> None:
        if self.mute or not self._is_on:
            return
        if self.answers_after_s:
            self._sleep(self.answers_after_s)
        refused = self._refused(command)
        with self._writes:
            self.line.write(_NAK + refused if refused else _ACK)
            self.answered += 1
        if not refused and command[3:7] in (b"LK01", b"LK02"):
            self.report_lock(command[3:7] == b"LK02")

    def _refused(self, command: bytes) -> bytes:
        """Return the two characters of the reason why the shoe refuses the command, or no bytes if it accepts the
        command."""
        if self.busy:
            return b"21"
        form = _COMMAND.fullmatch(command)
        if form is None:
            return b"03" if command[7:8] != _ETX else b"11"
        if check_characters(command[:-2]) != form[3]:
            return b"02"
        known = form[1] in (b"LK", b"EC", b"GP")
        return b"" if known else b"14"

    # Its other reports.

    def power_up(self) -> None:
        """Switch the shoe on, and report that. This report gets the first report number (Seq digit) again. The shoe's
        own game keeps its state."""
        self._is_on = True
        self._reports = 0
        self._report(b"S")

    def power_off(self) -> None:
        """Switch the shoe off. From now on it reads no card, reports nothing and answers nothing."""
        self._is_on = False

    def stand_by(self) -> None:
        """Send a stand-by report."""
        self._report(b"P")

    def cut_card(self) -> None:
        """Draw the cut card, and report it."""
        self._report(b"C")

    def draw_outside_game(self, mode: str) -> None:
        """Draw a card while the shoe does not follow the game. `mode` says why: "lock", "error" or "setting". The
        report does not name the card."""
        self._report(b"d", 0x80 | _OUTSIDE_GAME[mode] << 4)

    def raise_error(self, number: int) -> None:
        """Put the shoe into error `number`, and report that: 1 cannot read, 2 overdraw, 3 button, 4 and 5 reverse run,
        6 card code, 7 draw time-out."""
        self._error = number
        self._report(b"E", 0xC0 | number)

    def cancel_error(self, number: int) -> None:
        """Cancel error `number` of the shoe, and report that."""
        self._error = None
        self._report(b"e", 0x80 | number)

    def report_lock(self, locked: bool) -> None:
        """Lock or unlock the shoe, and report that."""
        self._locked = locked
        self._report(b"L", 0x80 | locked)

    def skip_seq(self, reports: int = 1) -> None:
        """Lose this many reports: their numbers (Seq digits) are used up, but nothing is sent."""
        self._reports += reports

    def _draw_each(self, *cards: str) -> None:
        for card in [rules.a_card(card) for card in cards]:
            self.draw(card)

    def verbs(self) -> Verbs:
        """Return the prompt's commands for a simulated Angel Eye shoe. Some of them cause the shoe's faults."""

        def only(copies: str, card: str) -> None:
            going_out = number_word(copies, 0, 3)
            self.draw(rules.a_card(card), copies=tuple(copy < going_out for copy in range(3)))

        def lie(target: str, card: str) -> None:
            self.draw(rules.a_card(card), target=_TARGETS[target])

        def late(ms: str) -> None:
            self.answers_after_s = number_word(ms, 0, 60_000) / 1000

        def usual() -> None:
            self.mute = self.busy = False
            self.answers_after_s = 0.0

        return {
            "draw": Verb(
                "CARD…",
                "draw one card or several; the shoe's own game says where each goes, and reports each round's result",
                self._draw_each,
            ),
            "cut": Verb("", "the cut card comes", self.cut_card),
            "new-shoe": Verb("", "the next card is a new shoe's first", self.new_shoe),
            "copies": Verb("N CARD", "draw a card of whose report only N of three copies reach the wire", only),
            "lie": Verb(
                "TARGET CARD", "draw a card and report that it goes to player, banker, burn or first_card", lie
            ),
            "unreadable": Verb(
                "CARD", "draw a card that cannot be read", lambda card: self.unreadable(rules.a_card(card))
            ),
            "keep": Verb(
                "CARD", "keep a card after an overdraw, for the next round", lambda card: self.keep(rules.a_card(card))
            ),
            "outside": Verb("MODE", "draw a card outside the game: lock, error or setting", self.draw_outside_game),
            "error": Verb(
                "N",
                "go into error N: 1 cannot read, 2 overdraw ... 7 time-out",
                lambda n: self.raise_error(number_word(n, 1, 7)),
            ),
            "cancel": Verb("N", "cancel error N at the shoe", lambda n: self.cancel_error(number_word(n, 1, 7))),
            "force-quit": Verb("", "end the round by force", self.force_quit),
            "power-up": Verb("", "switch the shoe off and on", self.power_up),
            "power-off": Verb("", "switch the shoe off: cards are drawn unread until power-up", self.power_off),
            "mute": Verb("", "answer no command", lambda: setattr(self, "mute", True)),
            "busy": Verb("", "refuse each command: busy", lambda: setattr(self, "busy", True)),
            "late": Verb("MS", "answer each command so many milliseconds late", late),
            "answer": Verb("", "answer commands as usual", usual),
            "skip": Verb("N", "lose N whole reports", lambda n: self.skip_seq(number_word(n, 0, 99))),
        }

    def _drawn(
        self,
        card: str,
        shown: int,
        target: Target | None,
        index: int | None,
        result: Result | None,
        copies: Sequence[bool],
    ) -> None:
        if not self._is_on:
            return None
        if self._locked:
            return self.draw_outside_game("lock")
        if self._error is not None:
            return self.draw_outside_game("error")
        due, due_index = self._expected()
        told = _target_byte(due if target is None else target, due_index if index is None else index)
        self._report(b"D", told, shown, copies=copies)
        return self._take(card, due, result)

    def _expected(self) -> tuple[Target, int]:
        """Return where the next card goes by the shoe's own game, and the card's number among the cards that went to
        the same place, counted from 1. The first card of a shoe has the number 0."""
        if self._to_burn is None:
            return Target.FIRST_CARD, 0
        if self._burned < self._to_burn:
            return Target.BURNED, self._burned + 1
        if rules.next_side(self._player, self._banker) == "player":
            return Target.PLAYER, len(self._player) + 1
        return Target.BANKER, len(self._banker) + 1

    def _take(self, card: str, target: Target, result: Result | None) -> None:
        if target is Target.FIRST_CARD:
            self._to_burn = rules.burn_count(card)
            self._report(b"D", _target_byte(Target.BURN_COUNT, self._to_burn), _NO_CARD)
        elif target is Target.BURNED:
            self._burned += 1
        else:
            (self._player if target is Target.PLAYER else self._banker).append(card)
            if rules.next_side(self._player, self._banker) is None:
                self._report_result(result or Result[rules.outcome(self._player, self._banker).upper()])

    def _report_result(self, result: Result) -> None:
        pairs = 0
        if result is not Result.FORCE_QUIT:
            pairs = rules.is_pair(self._player) | rules.is_pair(self._banker) << 1
        self._report(b"G", 0x80 | result << 4 | pairs)
        self._clear_round()

    def _clear_round(self) -> None:
        self._player: list[str] = []
        self._banker: list[str] = []

    def _report(self, code: bytes, *payload: int, copies: Sequence[bool] = _ALL_COPIES) -> None:
        if not self._is_on:
            return
        seq = self._digits[self._reports % len(self._digits)]
        self._reports += 1
        sent = frame(seq, code + bytes(payload))
        for copy, goes_out in enumerate(copies):
            if goes_out:
                on_the_wire = self.corrupt(copy, sent) if self.corrupt else sent
                with self._writes:
                    self.line.write(on_the_wire)
            if self._speed:
                self._sleep(len(sent) * _BYTE_S / self._speed)


def _target_byte(target: Target, index: int) -> int:
    return 0x80 | target << 4 | index


SHOE: ShoeMaker = SimulatedAngelEye
