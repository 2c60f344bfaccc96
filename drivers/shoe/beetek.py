"""The codec of the BeeTek shoe: decodes the shoe's bytes into facts, without any clock or I/O.

A card on the wire is the line `*0D`, suit, rank, two check characters, CR LF: 9 bytes, 9.4 ms at 9600 8N1. The suit is
0 hearts, 1 diamonds, 2 clubs, 3 spades. The rank is a hexadecimal digit, from 1 (ace) to D (king). The check is the low
byte of the sum of the characters between `*` and the check, as two upper-case hexadecimal characters. A `*` always
begins a new line. Whatever damage came before, the next good line is found. The codec never keeps more than one line.

A line is a card only when it is whole, CR and LF included: a line that is cut off counts for nothing. A card whose line
was damaged is missed. This shoe repeats nothing and numbers nothing, so a missed card shows only as a round that waits
for a card which already lies on the felt. For the same reason two equal lines in a row are two cards.

The check shows any one changed character. It does not show two characters that change places (`*0D21`, the ace of
clubs, and `*0D12`, the 2 of diamonds, both have the check D7), nor two changes that cancel each other. Each line comes
once, so no second copy shows such damage. The remaining safeguards are the count of each card in the shoe, and the eyes
at the table.

Only card lines have been described. Any other line whose check is right is counted as `unknown`. Its characters are not
kept, since they might reveal a face-down card.
"""

from __future__ import annotations

from collections.abc import Iterable

from controller.rules.game.cards import Card, Rank, Suit
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
_LONGEST = 64  # a card's line has 9 bytes; the length of the shoe's other lines is not known
_SHORTEST = len("*00\r\n")


class BeeTekCodec:
    """Decodes the bytes of one BeeTek shoe, in chunks of any size, into facts. Nothing from before a restart is
    needed."""

    def __init__(self) -> None:
        self._open = bytearray()  # the line that has begun and not ended

    def feed(self, data: bytes) -> list[ShoeFact | BadBytes]:
        """Decode the next bytes from the shoe. Return the facts and bad bytes that these bytes complete, in order. No
        bytes, whatever they are, raise an error."""
        return joined(item for byte in data for item in self._take(byte))

    def forget(self) -> None:
        """Do nothing, because this codec remembers no report: two equal lines are two cards."""

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
        return (_meaning(line),)

    def _drop(self) -> Iterable[BadBytes]:
        """Give up the line that has begun but cannot be completed. Return a count of its bytes as bad bytes."""
        count = len(self._open)
        self._open.clear()
        return (BadBytes("shape", count),) if count else ()


def _meaning(line: bytes) -> ShoeFact | BadBytes:
    """Decode a complete line of the shoe, from its star to its LF, into a fact or bad bytes."""
    text, check = line[1:-4], line[-4:-2]
    if len(line) < _SHORTEST:
        return BadBytes("shape", len(line))
    if check != b"%02X" % (sum(text) & 0xFF):
        return BadBytes("check", len(line))
    if not text.startswith(_CARD_LINE):
        return BadBytes("unknown", len(line))
    if text not in _CARDS:
        return BadBytes("range", len(line))
    return CardDrawn(_CARDS[text], report=Report(seq=None, frame=line.hex()))


BRAND = Brand(
    name="beetek",
    called="a BeeTek",
    bauds=(9600, 4800),
    copies=1,
    bits_until_numbers_repeat=0,  # its reports have no numbers
    tableau=None,
    buttons={"cut_card": "the shoe does not report the cut card: without this button only `tablectl cut-card` can"},
    codec=lambda last: BeeTekCodec(),
)
