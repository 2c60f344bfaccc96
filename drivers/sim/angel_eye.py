"""An Angel Eye II-EX seen from outside: a shoe with its own game logic at the far end of a line.

Written from the description of the wire, and from nothing of the driver that reads it. A report to the host is

    05  Seq  code  payload...  03  BCC BCC

three times over, with one Seq digit; BCC is the XOR of the bytes from Seq through 03, as two upper-case hex characters;
every payload byte has bit 7 set. The host's commands are

    02  'O' 'P'  type type  digit digit  03  BCC BCC

answered by 06, or by 15 and two characters that say why not.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
import tty
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Protocol

import serial

from controller.errors import TableError
from drivers.sim import rules

BAUD = 4800
_PTYS = Path("/dev/pts")
_BYTE_S = 10 / BAUD  # 8N1: ten bits a byte
_STX, _ETX, _ENQ, _ACK, _NAK = b"\x02", b"\x03", b"\x05", b"\x06", b"\x15"
_NO_CARD = 0x80
_ALL_COPIES = (True, True, True)
_OUTSIDE_GAME = {"lock": 0, "error": 1, "setting": 2}


class Target(IntEnum):
    """Where the shoe's own game sends a card: bits 6-4 of the target byte."""

    PLAYER = 0
    BANKER = 1
    BURNED = 2
    FIRST_CARD = 4
    BURN_COUNT = 5


class Result(IntEnum):
    """The shoe's own result of a hand: bits 6-4 of the result byte."""

    PLAYER = 1
    TIE = 2
    BANKER = 4
    FORCE_QUIT = 7


class _CommandError(Exception):
    """Why the shoe refuses a host's command: the two characters after NAK."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Line(Protocol):
    """The shoe's end of a serial line. Neither method blocks."""

    def write(self, data: bytes) -> None:
        """Put bytes on the line. As on a wire, what nobody takes is lost."""

    def read(self) -> bytes:
        """The bytes that have come from the host since the last call."""


class PtyLine:
    """A pty whose host end is a raw terminal behind the symbolic link `link`.

    Bytes written while no program has the host end open are dropped, and so are those a reader leaves until the pty is
    full. Bytes left unread when a program closes its end stay for the next one that opens it, unless that one flushes
    its input on opening, as pyserial does.
    """

    def __init__(self, link: Path) -> None:
        self._link = link
        self._master: int | None = None
        self.plug()

    def plug(self) -> None:
        """Make the device appear under its name, a new pty each time.

        Raises TableError: `sim_port_taken` when that name is something else's, `sim_port` when it cannot be made.
        """
        if self._link.exists() and self._link.resolve().parent != _PTYS:
            raise TableError(
                "sim_port_taken",
                f"{self._link} exists and is no pty, so the simulated shoe will not take its place",
                "give the simulated shoe another `[shoe] port` in the table file",
            )
        self._master, slave = os.openpty()
        os.set_blocking(self._master, False)
        tty.setraw(slave)
        self._device = os.ttyname(slave)
        os.close(slave)
        fresh = self._link.with_name(f"{self._link.name}.{os.getpid()}")
        try:
            fresh.symlink_to(self._device)
            fresh.replace(self._link)
        except OSError as error:
            self.unplug()
            raise TableError(
                "sim_port",
                f"the simulated shoe cannot appear as {self._link}: {error}",
                "set `[shoe] port` in the table file to a name in a folder you may write to",
            ) from error

    def unplug(self) -> None:
        """Make the device vanish: the link goes, and whoever has the host end open loses it."""
        if self._master is None:
            return
        if self._link.is_symlink() and str(self._link.readlink()) == self._device:
            self._link.unlink()
        os.close(self._master)
        self._master = None

    @property
    def heard(self) -> bool:
        """Whether a program has the host end open."""
        if self._master is None:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def write(self, data: bytes) -> None:
        """Put bytes on the line; drop them when it is unplugged, unheard or full."""
        if self._master is not None and self.heard:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, data)

    def read(self) -> bytes:
        """The bytes that have come from the host; none when nobody is there."""
        if self._master is None:
            return b""
        try:
            return os.read(self._master, 4096)
        except OSError:  # nothing waiting, or nobody there
            return b""


class SerialLine:
    """The shoe's end of a real cable, on a port name or pyserial URL. Raises TableError `sim_port` if it won't open."""

    def __init__(self, port: str, baud: int = BAUD) -> None:
        try:
            self._port = serial.serial_for_url(port, baudrate=baud, timeout=0)
        except (OSError, ValueError) as error:
            raise TableError(
                "sim_port", f"the simulated shoe cannot open {port}: {error}", "check the port's name and its rights"
            ) from error

    def write(self, data: bytes) -> None:
        """Put bytes on the cable."""
        self._port.write(data)

    def read(self) -> bytes:
        """The bytes that have come from the host."""
        return bytes(self._port.read(4096))

    def unplug(self) -> None:
        """Close the port."""
        self._port.close()


def check_characters(covered: bytes) -> bytes:
    """The two check characters over these bytes."""
    return b"%02X" % reduce(xor, covered, 0)


def frame(seq: str, data: bytes) -> bytes:
    """One copy of a report: `data` is its code letter and payload."""
    covered = seq.encode() + data + _ETX
    return _ENQ + covered + check_characters(covered)


def card_byte(card: str) -> int:
    """A card's byte: bits 6-4 the suit (1 diamonds, 2 clubs, 3 spades, 4 hearts), bits 3-0 the rank, ace 1, king 13."""
    return 0x80 | (1 + rules.SUITS.index(card[1])) << 4 | (1 + rules.RANKS.index(card[0]))


class SimulatedAngelEye:
    """The shoe: it numbers its reports, and tells each card's target and each hand's result by its own tableau.

    `wrap` is the Seq digit after 9, 0 or 1, by which the digits also begin. `speed` 1 takes the time three copies take
    on a 4800 baud wire, 0 takes none, and what lies between takes that share. `bcc_includes_stx` is the reading of the
    check of a host's command. `corrupt(copy, frame)`, when set, gives the bytes that reach the line for copy 0, 1 or 2.
    """

    tells_cut_card = True

    def __init__(
        self,
        line: Line,
        *,
        wrap: int = 0,
        speed: float = 0.0,
        bcc_includes_stx: bool = True,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._line = line
        self._digits = "123456789" if wrap else "0123456789"
        self._speed = speed
        self._bcc_includes_stx = bcc_includes_stx
        self._sleep = sleep
        self.corrupt: Callable[[int, bytes], bytes] | None = None
        self._reports = 0  # since power-up: the Seq digit is taken from it
        self._locked = False
        self._error: int | None = None
        self._commands = b""
        self.new_shoe()

    # The shoe's own game.

    def new_shoe(self) -> None:
        """Make the next card the first of a new shoe. The shoe says nothing of it."""
        self._to_burn: int | None = None  # unknown until the first card is seen
        self._burned = 0
        self._clear_hand()

    def draw(
        self,
        card: str,
        *,
        target: Target | None = None,
        index: int | None = None,
        result: Result | None = None,
        copies: Sequence[bool] = _ALL_COPIES,
    ) -> None:
        """Draw a card: report it, and the hand's result if it was the hand's last.

        A shoe that is locked or in error reports only that a card came. `target`, `index` and `result` make the report
        lie, while the shoe's own game goes on as it should; `copies` says which copies of the card's report go out.
        """
        self._drawn(card, card_byte(card), target, index, result, copies)

    def unreadable(self, card: str) -> None:
        """Draw a card that cannot be read: reported as none. The shoe's own game goes on with what it really is."""
        self._drawn(card, _NO_CARD, None, None, None, _ALL_COPIES)

    def keep(self, card: str) -> None:
        """Keep a card after an overdraw was cleared: Player's first card of the next hand."""
        self._clear_hand()
        target, index = self._expected()
        self._report(b"R", _target_byte(target, index), card_byte(card))
        self._take(card, target, None)

    def force_quit(self) -> None:
        """Give the hand up: the result says so, and the next card is a new hand's first."""
        self._report_result(Result.FORCE_QUIT)

    # What else it reports.

    def power_up(self) -> None:
        """Switch the shoe on: its Seq starts anew, with this report. Its game stays where it was."""
        self._reports = 0
        self._report(b"S")

    def stand_by(self) -> None:
        """Report stand-by."""
        self._report(b"P")

    def cut_card(self) -> None:
        """Draw the cutting card."""
        self._report(b"C")

    def draw_outside_game(self, mode: str) -> None:
        """Draw a card outside the game: `mode` is "lock", "error" or "setting". Which card it was is not told."""
        self._report(b"d", 0x80 | _OUTSIDE_GAME[mode] << 4)

    def raise_error(self, number: int) -> None:
        """Go into error: 1 cannot read, 2 overdraw, 3 button, 4 and 5 reverse run, 6 card code, 7 draw time-out."""
        self._error = number
        self._report(b"E", 0xC0 | number)

    def cancel_error(self, number: int) -> None:
        """Cancel an error, at the shoe or by the host's command."""
        self._error = None
        self._report(b"e", 0x80 | number)

    def report_lock(self, locked: bool) -> None:
        """Close or open the lock, and report it."""
        self._locked = locked
        self._report(b"L", 0x80 | locked)

    def skip_seq(self, reports: int = 1) -> None:
        """Lose whole reports: their Seq digits are used up and nothing is sent."""
        self._reports += reports

    # What the host asks of it.

    def attend(self) -> None:
        """Answer the commands that have come from the host. Call it often; it does not wait."""
        self._commands += self._line.read()
        while (command := self._next_command()) is not None:
            try:
                kind, number = self._checked(command)
                effect = self._effect(kind, number)
            except _CommandError as refused:
                self._line.write(_NAK + refused.code.encode())
            else:
                self._line.write(_ACK)
                effect()

    def _next_command(self) -> bytes | None:
        """The next command in the buffer: whole, or broken as far as it came; None while there is none yet."""
        start = self._commands.find(_STX)
        self._commands = self._commands[start:] if start >= 0 else b""
        after = self._commands.find(_STX, 1)
        end = self._commands.find(_ETX)
        if end < 0 or 0 < after < end:  # cut short by the next one, or by a lost ETX
            length = after if after > 0 else len(self._commands)
            if after < 0 and length < 10:
                return None
        else:
            length = end + 3
            if len(self._commands) < length:
                return None
        command, self._commands = self._commands[:length], self._commands[length:]
        return command

    def _checked(self, command: bytes) -> tuple[str, int]:
        """A command's type and number. Raises _CommandError with the shoe's code for what is wrong with it."""
        if command[-3:-2] != _ETX:
            raise _CommandError("03")
        covered = command[:-2] if self._bcc_includes_stx else command[1:-2]
        if command[-2:] != check_characters(covered):
            raise _CommandError("02")
        body = command[1:-3]
        if len(body) != 6 or not body[4:].isdigit():
            raise _CommandError("11")
        if body[:2] != b"OP":
            raise _CommandError("13")
        return body[2:4].decode("latin-1"), int(body[4:])

    def _effect(self, kind: str, number: int) -> Callable[[], None]:
        """What a command does once it is acknowledged. Raises _CommandError for one that the shoe does not do."""
        match kind, number:
            case "LK", (1 | 2):
                return lambda: self.report_lock(number == 2)
            case "EC", _ if number == self._error:
                return lambda: self.cancel_error(number)
            case "GP", 0:
                return lambda: None
            case (("LK" | "EC" | "GP"), _):
                raise _CommandError("FF")
            case _:
                raise _CommandError("14")

    def _drawn(
        self,
        card: str,
        shown: int,
        target: Target | None,
        index: int | None,
        result: Result | None,
        copies: Sequence[bool],
    ) -> None:
        if self._locked:
            return self.draw_outside_game("lock")
        if self._error is not None:
            return self.draw_outside_game("error")
        due, due_index = self._expected()
        told = _target_byte(due if target is None else target, due_index if index is None else index)
        self._report(b"D", told, shown, copies=copies)
        return self._take(card, due, result)

    def _expected(self) -> tuple[Target, int]:
        """Where the next card goes and which of that target's cards it is, from 1; the first card's index is 0."""
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
        self._clear_hand()

    def _clear_hand(self) -> None:
        self._player: list[str] = []
        self._banker: list[str] = []

    def _report(self, code: bytes, *payload: int, copies: Sequence[bool] = _ALL_COPIES) -> None:
        seq = self._digits[self._reports % len(self._digits)]
        self._reports += 1
        sent = frame(seq, code + bytes(payload))
        for copy, goes_out in enumerate(copies):
            if goes_out:
                self._line.write(self.corrupt(copy, sent) if self.corrupt else sent)
            if self._speed:
                self._sleep(self._speed * len(sent) * _BYTE_S)


def _target_byte(target: Target, index: int) -> int:
    return 0x80 | target << 4 | index
