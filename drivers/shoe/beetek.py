"""BeeTek: the shoe's bytes in, facts out. A pure byte machine: no clock, no I/O.

A card on the wire is the line `*0D`, suit, rank, two check characters, CR LF: 9 bytes, 9.4 ms at 9600 8N1. The suit is
0 hearts, 1 diamonds, 2 clubs, 3 spades; the rank a hexadecimal digit, 1 the ace to D the king; the check the low byte
of the sum of the characters between `*` and itself, as two upper-case hexadecimal characters. `*` begins a line anew
wherever it stands: whatever damage came before it, the next good line is found, and no more than one line is ever kept.

A line is a card only when it is whole, CR and LF included: what is cut off before its end tells nothing. A card whose
line was damaged is missed, and since this shoe repeats and numbers nothing, a missed card shows only as a hand that
waits for a card already on the felt. For the same reason two equal lines in a row are two cards.

What the check cannot tell: any one changed character shows in a sum, but not two that change places (`*0D21`, the ace
of clubs, and `*0D12`, the 2 of diamonds, both have the check D7), nor two changes that make up for each other. With one
copy of each line there is nothing to hold such a line against; the shoe's composition and the eyes at the table remain.

Only card lines have been described. Any other line whose check is right is told as `unknown` and counted; its
characters are not kept, since nobody knows that they tell no face-down card.
"""

from __future__ import annotations

from collections.abc import Iterable

from controller.game.cards import Card, Rank, Suit
from controller.table.facts import CardDrawn, Report, ShoeFact
from drivers.line.bad_bytes import BadBytes, joined
from drivers.line.brand import Brand

_STAR, _CR, _LF = b"*\r\n"
_CARD_LINE = b"0D"
_CARDS = {
    b"0D%d%X" % (number, rank): Card(rank, suit)
    for number, suit in enumerate((Suit.HEARTS, Suit.DIAMONDS, Suit.CLUBS, Suit.SPADES))
    for rank in Rank
}
_TEXT = frozenset(range(0x20, 0x7F)) - {_STAR}
_LONGEST = 64  # a card's line has 9 bytes; how long the shoe's other lines are nobody has said
_SHORTEST = len("*00\r\n")


class BeeTekCodec:
    """The bytes of one shoe, in chunks of any size, to facts. What came before a restart means nothing to it."""

    def __init__(self) -> None:
        self._open = bytearray()  # the line begun and not yet ended

    def feed(self, data: bytes) -> list[ShoeFact | BadBytes]:
        """What `data` completes, in the order it came. Total: any bytes at all are answered, never with an error."""
        return joined(item for byte in data for item in self._take(byte))

    def forget(self) -> None:
        """Nothing to forget: two equal lines are two cards."""

    def _take(self, byte: int) -> Iterable[ShoeFact | BadBytes]:
        if byte == _STAR:
            broken = self._drop()
            self._open.append(byte)
            return broken
        if not self._open:
            return (BadBytes("noise", 1),)
        fits = byte == _LF if self._open[-1] == _CR else byte == _CR or byte in _TEXT
        self._open.append(byte)
        if not fits or len(self._open) > _LONGEST:
            return self._drop()
        if byte != _LF:
            return ()
        line = bytes(self._open)
        self._open.clear()
        return (_told(line),)

    def _drop(self) -> Iterable[BadBytes]:
        """What is open will never be whole."""
        count = len(self._open)
        self._open.clear()
        return (BadBytes("shape", count),) if count else ()


def _told(line: bytes) -> ShoeFact | BadBytes:
    """What a line, whole from its star to its LF, tells."""
    said, check = line[1:-4], line[-4:-2]
    if len(line) < _SHORTEST:
        return BadBytes("shape", len(line))
    if check != b"%02X" % (sum(said) & 0xFF):
        return BadBytes("check", len(line))
    if not said.startswith(_CARD_LINE):
        return BadBytes("unknown", len(line))
    if said not in _CARDS:
        return BadBytes("range", len(line))
    return CardDrawn(_CARDS[said], report=Report(seq=None, frame=line.hex()))


BRAND = Brand(
    name="beetek",
    called="a BeeTek",
    bauds=(9600, 4800),
    copies=1,
    bits_until_numbers_repeat=0,  # it has none
    deals=None,
    buttons={"cut_card": "a BeeTek does not report that card: only `tablectl cut-card` can"},
    codec=lambda last: BeeTekCodec(),
)
