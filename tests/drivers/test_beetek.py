"""Checks the codec of the BeeTek shoe: lines made by hand from the wire's description, every card, and a noisy line.

For the noisy line, an independent decoder (the referee) sees the whole stream at once and finds the good lines with a
regular expression. The codec sees the stream in chunks and byte by byte. Both must accept exactly the same cards.
"""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterable

import pytest

from controller.rules.game.cards import DECK, Card
from controller.table.facts import CardDrawn, Report
from drivers.line.bad_bytes import BadBytes, Reason
from drivers.shoe.beetek import BeeTekCodec
from tests.drivers.chunks import chunked
from tests.support import samples
from tests.support.each import each

ACE_OF_CLUBS = b"*0D21D7\r\n"

# By hand from the page: suit 0 hearts, 1 diamonds, 2 clubs, 3 spades; rank 1 to D. `0` is 48 and `D` 68, so a card's
# sum begins at 116.
GOLDEN = {
    "AC": b"*0D21D7\r\n",  # 116 + 50 + 49 = 215 = D7
    "AH": b"*0D01D5\r\n",  # 116 + 48 + 49 = 213 = D5
    "9D": b"*0D19DE\r\n",  # 116 + 49 + 57 = 222 = DE
    "TS": b"*0D3AE8\r\n",  # 116 + 51 + 65 = 232 = E8
    "JH": b"*0D0BE6\r\n",  # 116 + 48 + 66 = 230 = E6
    "QD": b"*0D1CE8\r\n",  # 116 + 49 + 67 = 232 = E8
    "KS": b"*0D3DEB\r\n",  # 116 + 51 + 68 = 235 = EB
}

CARD_LINE = re.compile(rb"\*(0D([0-3])([1-9A-D]))([0-9A-F]{2})\r\n")


def referee(stream: bytes) -> list[str]:
    """Return the cards in the good lines of the stream, found by a regular expression."""
    return [
        "?A23456789TJQK"[int(rank, 16)] + "HDCS"[int(suit)]
        for said, suit, rank, check in CARD_LINE.findall(stream)
        if int(check, 16) == sum(said) % 256
    ]


def line(text: bytes) -> bytes:
    """Return the bytes of a BeeTek line that holds `text`, with the right check characters."""
    return b"*%b%02X\r\n" % (text, sum(text) % 256)


def believed(chunks: Iterable[bytes]) -> list[str]:
    codec = BeeTekCodec()
    return [str(item.card) for chunk in chunks for item in codec.feed(chunk) if isinstance(item, CardDrawn)]


# Good lines.


@pytest.mark.parametrize(("card", "whole"), GOLDEN.items())
def test_golden_lines(card: str, whole: bytes) -> None:
    drawn = CardDrawn(Card.parse(card), target=None, index=None, report=Report(seq=None, frame=whole.hex()))
    assert BeeTekCodec().feed(whole) == [drawn]


def test_every_card_of_the_deck() -> None:
    lines = [line(b"0D%d%X" % (suit, rank)) for suit in range(4) for rank in range(1, 14)]
    cards = believed(lines)
    assert cards == [rank + suit for suit in "HDCS" for rank in "A23456789TJQK"] == referee(b"".join(lines))
    assert {Card.parse(card) for card in cards} == set(DECK)


def test_two_equal_lines_are_two_cards() -> None:
    assert believed([ACE_OF_CLUBS * 2]) == ["AC", "AC"]


@pytest.mark.parametrize("size", range(1, 20))
def test_any_chunking(size: int) -> None:
    stream = b"".join(GOLDEN.values())
    assert believed(stream[start : start + size] for start in range(0, len(stream), size)) == list(GOLDEN)


def test_a_card_is_told_with_the_last_byte_of_its_line_and_not_before() -> None:
    codec = BeeTekCodec()
    assert [codec.feed(bytes([byte])) for byte in ACE_OF_CLUBS[:-1]] == [[]] * 8
    assert len(codec.feed(ACE_OF_CLUBS[-1:])) == 1


# Bad lines.


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (b"hello\r\n", "noise"),
        (b"0D21D7\r\n", "noise"),  # its star was lost
        (b"*0D21D8\r\n", "check"),
        (b"*0D21d7\r\n", "check"),  # lower case
        (b"*0D2\r\n", "check"),
        (line(b"0D41"), "range"),  # a fifth suit
        (line(b"0D20"), "range"),  # no rank
        (line(b"0D2E"), "range"),  # a rank beyond the king
        (line(b"0D2d"), "range"),
        (line(b"0D21 "), "range"),
        (line(b"0D2"), "range"),
        (line(b"0D"), "range"),
        (line(b"0E21"), "unknown"),
        (line(b"0d21"), "unknown"),
        (line(b"D021"), "unknown"),
        (line(b"HELLO, SHOE"), "unknown"),
        (line(b""), "unknown"),
        (b"*\r\n", "shape"),
        (b"*7\r\n", "shape"),
    ],
)
def test_what_is_no_card_is_told_as_bytes_of_a_kind_and_nothing_more(stream: bytes, reason: Reason) -> None:
    heard = BeeTekCodec().feed(stream)
    assert heard == [BadBytes(reason, len(stream))]
    assert set(BadBytes.__struct_fields__) == {"reason", "count"}


@pytest.mark.parametrize(
    "broken",
    [
        b"*0D21D7\r",  # its LF was lost
        b"*0D21D7\n",  # its CR was lost
        b"*0D21D7",
        b"*0D21D7\n\r",
        b"*0D21D7 \r\n",
        b"*0D21\x00D7\r\n",
        b"*0D21\xb1D7\r\n",
        b"*0D21D7\r\r\n",
        b"*" + b"0" * 100 + b"\r\n",
        *(ACE_OF_CLUBS[:cut] for cut in range(1, 9)),
    ],
)
def test_a_broken_line_is_no_card_and_the_next_one_is_found(broken: bytes) -> None:
    heard = BeeTekCodec().feed(broken + GOLDEN["KS"])
    assert [str(item.card) for item in heard if isinstance(item, CardDrawn)] == ["KS"]
    bad = [item for item in heard if isinstance(item, BadBytes)]
    assert sum(item.count for item in bad) == len(broken)
    assert bad[0].reason in ("shape", "check")


@pytest.mark.parametrize("byte", [0x00, 0x1F, 0x7F, 0x80, 0xB1, 0xFF])
def test_a_byte_that_is_no_character_ends_the_line(byte: int) -> None:
    assert BeeTekCodec().feed(line(b"OK%c" % byte))[0] == BadBytes("shape", 4)


def test_a_star_begins_a_line_anew() -> None:
    assert BeeTekCodec().feed(b"*0D2" + ACE_OF_CLUBS)[0] == BadBytes("shape", 4)
    assert believed([b"***0D" + ACE_OF_CLUBS]) == ["AC"]


def test_two_lines_run_together_are_two_cards() -> None:
    assert believed([b"".join(GOLDEN.values())]) == list(GOLDEN)


def test_a_run_of_noise_is_one() -> None:
    assert BeeTekCodec().feed(b"\xff" * 70 + ACE_OF_CLUBS + b"\r\n")[::2] == [
        BadBytes("noise", 70),
        BadBytes("noise", 2),
    ]


@each("card", DECK if samples.at_length else DECK[::7])
def test_no_changed_byte_is_ever_believed(card: Card) -> None:
    """A line with one changed byte is never accepted. A change of the text or its check shows in the check, which is a
    sum. A change of the line's end leaves no line."""
    good = line(b"0D%d%X" % ("HDCS".index(card.suit.value), card.rank))
    assert believed([good]) == [str(card)]
    for place in range(len(good)):
        for byte in set(range(256)) - {good[place]}:
            spoilt = good[:place] + bytes([byte]) + good[place + 1 :]
            assert believed([spoilt]) == [], spoilt


def test_a_lost_or_added_byte_is_believed_only_where_the_referee_finds_a_line() -> None:
    for good in GOLDEN.values():
        lost = [good[:place] + good[place + 1 :] for place in range(len(good))]
        added = [good[:place] + bytes([byte]) + good[place:] for place in range(len(good) + 1) for byte in range(256)]
        assert not any(believed([spoilt * 2]) for spoilt in lost)
        for spoilt in added:
            assert believed([spoilt * 2]) == referee(spoilt * 2), spoilt


def test_the_checks_limit_two_characters_that_change_places() -> None:
    """The codec of the BeeTek shoe accepts a line in which two characters have changed places, if the line still names
    a card. The check is a sum, which does not depend on the order."""
    assert believed([b"*0D12D7\r\n"]) == ["2D"]
    assert believed([b"*D021D7\r\n"]) == []


def garbage(size: int, rng: random.Random) -> bytes:
    """Return `size` bytes of noise that look like lines: their characters, pieces of good lines, lines with wrong
    checks, damaged lines."""
    pieces = []
    while size > 0:
        good = line(b"0D%d%X" % (rng.randrange(4), rng.randrange(1, 14)))
        cut = rng.randrange(1, len(good))
        spoilt = bytearray(good)
        spoilt[rng.randrange(len(good))] = rng.randrange(256)
        piece = rng.choice(
            (
                rng.randbytes(rng.randrange(1, 40)),
                bytes(rng.choices(b"*0D123ABCDE579\r\n", k=rng.randrange(1, 40))),
                good[:cut],
                good[cut:],
                bytes(spoilt),
                b"*" * rng.randrange(1, 5),
                b"*0D%d%X%02X\r\n" % (rng.randrange(5), rng.randrange(16), rng.randrange(0xD4, 0xEC)),
                line(rng.choice((b"0E21", b"0D", b"0D4D", b"A", b"OK", b"0D211"))),
            )
        )
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def test_much_noise_around_good_lines() -> None:
    rng = random.Random(20240902)
    pieces: list[bytes] = []
    planted: list[str] = []
    while sum(map(len, pieces)) < (1_000_000 if samples.at_length else 100_000):
        suit, rank = rng.randrange(4), rng.randrange(1, 14)
        planted.append("?A23456789TJQK"[rank] + "HDCS"[suit])
        pieces += [garbage(rng.randrange(4000), rng), line(b"0D%d%X" % (suit, rank))]
    stream = b"".join(pieces)
    cards = believed(chunked(stream, rng))
    assert cards == referee(stream)
    rest = iter(cards)
    assert all(card in rest for card in planted), "a good line was lost"
    assert len(cards) > len(planted) > 50, "the noise holds good lines by chance, too"


def test_every_byte_is_answered_for() -> None:
    rng = random.Random(7)
    codec = BeeTekCodec()
    stream = garbage(100_000, rng) + b"\n"  # which ends whatever is open
    heard = [item for chunk in chunked(stream, rng) for item in codec.feed(chunk)]
    counts = [item.count if isinstance(item, BadBytes) else len(ACE_OF_CLUBS) for item in heard]
    assert sum(counts) == len(stream)
    reasons = {item.reason for item in heard if isinstance(item, BadBytes)}
    assert reasons == {"noise", "shape", "check", "range", "unknown"}


@pytest.mark.parametrize("endless", [b"\x00", b"*", b"*0D21D7", b"A", b"\r", ACE_OF_CLUBS, b"*0D21D7\r"], ids=repr)
def test_what_is_kept_is_bounded(endless: bytes) -> None:
    codec = BeeTekCodec()
    fresh = len(pickle.dumps(codec))
    for start in (b"", b"*"):
        codec.feed(start + endless * 10_000)
        assert len(pickle.dumps(codec)) < fresh + 100


def test_the_referee_itself() -> None:
    assert referee(b"".join(GOLDEN.values())) == list(GOLDEN)
    assert referee(b"*0D21D8\r\n*0D21D7\r*0D21D7\n*0D41D9\r\n") == []
