"""The codec of the Angel Eye II-EX shoe: decodes the shoe's bytes into facts, without any clock or I/O.

A report on the wire is ENQ, a sequence digit, a type byte, its payload, ETX and two upper-case hex characters: the XOR
of everything from the sequence digit through ETX. Only the first byte of a frame (a report on the wire) can be ENQ, so
an ENQ always begins a new frame. Whatever damage came before, the next good frame is found, and the codec never keeps
more than one frame.

The shoe sends each report three times. An 8-bit XOR lets one damaged frame in 256 through, so a report is believed only
when two of the last three good frames are identical. The wait for the second copy is the wire time of one frame, plus
the shoe's pause between copies. At 4800 8N1 a byte has 10 bits: 17 ms for a card (8 bytes), at most 25 ms (a preset, 12
bytes). A damaged copy makes the wait one frame longer.

If the sequence digits skip a number, the table decides what that means: the codec only puts each digit into its fact's
`Report`.

The shoe takes commands: STX, `OP`, a type of two letters, two digits, ETX and the XOR of all bytes before, as two
characters. The shoe answers each command, with ACK, or with NAK and two characters. A command of an unknown type
changes nothing and is answered with a NAK, so the table uses such a command to ask whether the shoe is there. Answers
come between reports and between the copies of a report. A byte like an answer inside a frame is damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import xor

from controller.rules.game.cards import Card, Rank, Suit
from controller.rules.game.usual import USUAL
from controller.table.facts import (
    BurnCountReported,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CutCardDrawn,
    Report,
    ShoeError,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeFact,
    ShoeLockReported,
    ShoePoweredUp,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    Target,
)
from drivers.line.bad_bytes import BadBytes, joined
from drivers.line.brand import Answered, Asking, Brand

_STX, _ETX, _ENQ, _ACK, _NAK = 0x02, 0x03, 0x05, 0x06, 0x15
_COPIES = 3  # the shoe sends every report this many times
_CONFIRMED_BY = 2  # this many identical copies make a report a fact
_FEWEST_NUMBERS = 9  # 1 to 9; with the 0 there are ten
_AROUND_PAYLOAD = 6  # ENQ, digit, type, ETX and two check characters
_BITS_A_BYTE = 10  # 8N1

# What the shoe reports, from the description of its wire. By type: the payload's length in bytes, and the fact that is
# made of payload `p` and report `r`. A decoder looks every byte up in the tables below; a missing value is out of
# range.
_REPORTS: dict[int, tuple[int, Callable[[bytes, Report], ShoeFact]]] = {
    ord("S"): (0, lambda p, r: ShoePoweredUp(r)),
    ord("P"): (0, lambda p, r: ShoeStoodBy(r)),
    ord("D"): (2, lambda p, r: _drawn(p, r)),  # target, card
    ord("d"): (1, lambda p, r: CardDrawnOutsideGame(_MODES[p[0]], r)),
    ord("R"): (2, lambda p, r: CardKept(_CARDS[p[1]], *_TARGETS[p[0]], r)),  # target, card
    ord("G"): (1, lambda p, r: ShoeResultReported(*_RESULTS[p[0]], r)),
    ord("C"): (0, lambda p, r: CutCardDrawn("shoe", r)),
    ord("E"): (1, lambda p, r: ShoeErrorRaised(_ERRORS[p[0]], r)),
    ord("e"): (1, lambda p, r: ShoeErrorCancelled(_ERRORS[p[0]], r)),
    ord("L"): (1, lambda p, r: ShoeLockReported(_LOCKED[p[0]], r)),
    ord("M"): (6, lambda p, r: ShoePresetChanged(_text(p[:2]), _text(p[2:]), r)),  # address, value
}

# Payload bytes, whole: bit 7 is always set, and a bit without a described meaning must be 0.
_NO_CARD = 0x80
_CARDS: dict[int, Card | None] = {_NO_CARD: None} | {
    0x80 | number << 4 | rank: Card(rank, suit)
    for number, suit in {1: Suit.DIAMONDS, 2: Suit.CLUBS, 3: Suit.SPADES, 4: Suit.HEARTS}.items()
    for rank in Rank
}
_TARGETS: dict[int, tuple[Target, int]] = {
    0x80 | number << 4 | index: (target, index)
    for number, target in {0: Target.PLAYER, 1: Target.BANKER, 2: Target.BURN, 4: Target.FIRST_CARD}.items()
    for index in range(11)
}
_BURN_COUNTS = {0x80 | 5 << 4 | count: count for count in range(11)}
_RESULTS: dict[int, tuple[ShoeResult, bool, bool]] = {
    0x80 | number << 4 | pairs: (result, bool(pairs & 1), bool(pairs & 2))  # Player pair, Banker pair
    for number, result in {
        1: ShoeResult.PLAYER,
        2: ShoeResult.TIE,
        4: ShoeResult.BANKER,
        7: ShoeResult.FORCE_QUIT,
    }.items()
    for pairs in range(4)
}
_ERRORS: dict[int, ShoeError] = {
    0x80 | in_error_mode << 6 | number: error
    for number, error in {
        1: ShoeError.CANNOT_READ,
        2: ShoeError.OVERDRAW,
        3: ShoeError.BUTTON_MISHANDLED,
        4: ShoeError.REVERSE_AT_EXIT,
        5: ShoeError.REVERSE_MIDWAY,
        6: ShoeError.CARD_CODE,
        7: ShoeError.DRAW_TIMEOUT,
    }.items()
    for in_error_mode in (0, 1)
}
_MODES: dict[int, str] = {0x80: "lock", 0x90: "error", 0xA0: "setting"}
_LOCKED: dict[int, bool] = {0x80: False, 0x81: True}

# Which bytes may stand where. By the description, payload bytes have bit 7 set and a preset's characters are ASCII. For
# `M` both spellings of a printable character are accepted, since neither can be a control code.
_DIGIT = frozenset(b"0123456789")
_TYPE = frozenset(_REPORTS)
_HEX = frozenset(b"0123456789ABCDEF")
_HIGH = frozenset(range(0x80, 0x100))
_CHARACTER = frozenset(byte | bit_7 for byte in range(0x20, 0x7F) for bit_7 in (0, 0x80))
_SHAPES = {
    kind: (_DIGIT, _TYPE, *[_CHARACTER if kind == ord("M") else _HIGH] * length, frozenset({_ETX}), _HEX, _HEX)
    for kind, (length, _) in _REPORTS.items()
}
_REFUSALS = frozenset(b"01 02 03 11 12 13 14 21 22 FF".split())
"""The codes after a NAK that are described. No digit and type of a report look like one of these."""

_REFUSAL_BYTES = 3


Heard = ShoeFact | BadBytes | Answered


class AngelEyeCodec:
    """Decodes the bytes of one Angel Eye shoe, in chunks of any size, into facts.

    `last` is the last report that was believed before a restart: copies of exactly that frame are repeats and make no
    fact. Only the last report is remembered. So the same card under the same sequence digit ten reports later is a new
    fact, and so is any frame that came before the shoe's power-up (`S`). Two power-ups with nothing in between are the
    same bytes and count as one.
    """

    def __init__(self, last: Report | None = None) -> None:
        self._believed = bytes.fromhex(last.frame) if last else b""
        self._open = bytearray()  # the frame that has begun and not ended: 12 bytes at most
        self._unconfirmed: list[bytes] = []  # the last good frames that are not believed yet: 3 at most

    def forget(self) -> None:
        """Forget the last report, so that a frame with the same bytes counts as a new report.

        This is called after nothing was heard for so long that the sequence digits may have repeated. A single late
        copy of the last report makes no fact. Several late copies do, and then a person decides.
        """
        self._believed = b""

    def feed(self, data: bytes) -> list[Heard]:
        """Decode the next bytes from the shoe. Return the facts, bad bytes and answers that these bytes complete, in
        order. No bytes, whatever they are, raise an error."""
        if not self._open and data in (self._believed, *self._unconfirmed):
            return joined(self._frame(data))  # a copy that came in one piece, as nearly all do: its shape is known
        return joined(item for byte in data for item in self._take(byte))

    def _take(self, byte: int) -> Iterable[Heard]:
        """Take the next byte from the shoe. Return the fact, bad bytes or answer that this byte completes, or nothing.

        Each byte of a frame is checked as it comes. So if damage looks like the start byte ENQ, the false frame is soon
        given up.
        """
        if byte == _ENQ:
            broken = self._drop()
            self._open.append(byte)
            return broken
        if (self._open[0] if self._open else byte) == _NAK:
            return self._take_refusal(byte)
        if not self._open:
            return (Answered(None, 1) if byte == _ACK else BadBytes("noise", 1),)
        shape = _shape(self._open)
        place = len(self._open) - 1
        self._open.append(byte)
        if byte not in shape[place]:
            return self._drop()
        if place + 1 < len(shape):
            return ()
        whole = bytes(self._open)
        self._open.clear()
        return self._frame(whole)

    def _take_refusal(self, byte: int) -> Iterable[Heard]:
        """Take the next byte of an answer that began with NAK. Two characters must follow the NAK. Return the answer
        when it is complete, or bad bytes."""
        self._open.append(byte)
        said = bytes(self._open[1:])
        if not any(code.startswith(said) for code in _REFUSALS):
            return self._drop()
        if len(self._open) < _REFUSAL_BYTES:
            return ()
        self._open.clear()
        return (Answered(said.decode("ascii"), _REFUSAL_BYTES),)

    def _drop(self) -> Iterable[Heard]:
        """Give up the frame or NAK answer that has begun but cannot be completed. Return a count of its bytes as bad
        bytes."""
        count, begins = len(self._open), self._open[:1]
        self._open.clear()
        if not count:
            return ()
        return (BadBytes("noise" if begins == bytes((_NAK,)) else "shape", count),)

    def _frame(self, frame: bytes) -> Iterable[Heard]:
        """Check a complete frame: its check characters, its values, and whether enough copies agree. Return bad bytes
        if it fails, and the fact if it is confirmed. Return nothing for a repeat of the last report, or while copies
        are missing.

        Earlier frames of which too few copies came are returned as bad bytes too.
        """
        if frame == self._believed:
            return ()
        if _bcc(frame[1:-2]) != frame[-2:]:
            return (BadBytes("check", len(frame)),)
        try:
            fact = _fact(frame)
        except KeyError:
            return (BadBytes("range", len(frame)),)
        heard = [*self._unconfirmed, frame]
        passed_by, copies = heard[:-_COPIES], heard[-_COPIES:]
        if copies.count(frame) < _CONFIRMED_BY:
            self._unconfirmed = copies
            return map(_unconfirmed, passed_by)
        self._unconfirmed = []
        self._believed = frame
        return (*map(_unconfirmed, [*passed_by, *(other for other in copies if other != frame)]), fact)


def _shape(begun: bytearray) -> tuple[frozenset[int], ...]:
    """Return the bytes that may stand in a frame: one set of bytes for each place after the first byte.

    `begun` holds the bytes of the frame that came so far. The second and third byte have the same sets in all frames.
    The third byte is the frame's type, and decides the sets of the places after it.
    """
    return _SHAPES[begun[2] if len(begun) > 2 else ord("S")]


def _fact(frame: bytes) -> ShoeFact:
    """Return the fact that a complete frame reports. Raises KeyError if a payload byte is out of range."""
    _, decode = _REPORTS[frame[2]]
    return decode(frame[3:-3], Report(seq=frame[1] - ord("0"), frame=frame.hex()))


def _drawn(payload: bytes, report: Report) -> CardDrawn | BurnCountReported:
    target, card = payload
    if target in _BURN_COUNTS and card == _NO_CARD:
        return BurnCountReported(_BURN_COUNTS[target], report)
    return CardDrawn(_CARDS[card], *_TARGETS[target], report)


def _text(characters: bytes) -> str:
    return bytes(byte & 0x7F for byte in characters).decode("ascii")


def _unconfirmed(frame: bytes) -> BadBytes:
    return BadBytes("unconfirmed", len(frame))


def _bcc(checked: bytes) -> bytes:
    """Return the two check characters of a frame: the XOR of the bytes `checked`, as two upper-case hex characters."""
    return b"%02X" % reduce(xor, checked)


def command(text: str) -> bytes:
    """Return the bytes that send a command such as `LK01` to the shoe. The check characters cover the start byte STX
    too, as in the manufacturer's own example."""
    covered = bytes((_STX, *b"OP", *text.encode("ascii"), _ETX))
    return covered + _bcc(covered)


_DRAWN_BY_HAND_MS = 300
"""A person draws no card faster."""

_FEWEST_CARDS_AROUND = 7
"""Of nine reports in a row at least so many are drawn cards: a round has four cards or more, and one result."""

_LOOKS_AFTER_MS = 300
"""The controller's beat looks for the answer no later than so long after its time was over."""

_MISSED_BY = _COPIES - _CONFIRMED_BY + 1
"""A report is missed where this many of its copies are missed."""

BRAND = Brand(
    name="angel_eye",
    called="an Angel Eye",
    bauds=(4800, 9600),
    copies=_COPIES,
    # Where 1 follows 9, the digits come round after nine missed reports. A report is missed where two of its three
    # copies are missed. Of the seven reports between the first and the last missed report every copy is missed. So at
    # least 25 copies are missed. The shortest has 6 bytes: 1500 bits, 312 ms at 4800. The shoe cannot be asked for
    # them: its commands lock, clear an error and confirm the game process, and none tells a count or a last report.
    bits_until_numbers_repeat=(2 * _MISSED_BY + (_FEWEST_NUMBERS - 2) * _COPIES) * _AROUND_PAYLOAD * _BITS_A_BYTE,
    tableau=USUAL,  # of its commands, LK, EC and GP, none switches its own game off
    buttons={},
    codec=AngelEyeCodec,
    asking=Asking(
        usual="ZZ00",  # a type that nobody has described: NAK 14, or 13
        frame=command,
        form="[A-Z]{2}[0-9]{2}",
        such_as="ZZ00",
        acts={"LK02": "locks the shoe", "EC": "clears an error of the shoe", "GP": "confirms the shoe's game process"},
        unlocks="LK01",
        answers_within_ms=(_FEWEST_CARDS_AROUND - 1) * _DRAWN_BY_HAND_MS - _LOOKS_AFTER_MS,
    ),
)
