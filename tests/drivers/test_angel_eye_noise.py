"""Checks the codec of the Angel Eye shoe on a noisy line, against an independent decoder of the same bytes (the
referee).

The referee sees a whole stream at once and reads it with a regular expression and bit arithmetic from the page that
describes the wire. The codec sees the stream in chunks and byte by byte. Both must accept exactly the same frames.
"""

from __future__ import annotations

import pickle
import random
import re
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import xor

import pytest

from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Answered
from drivers.shoe.angel_eye import AngelEyeCodec
from tests.drivers.chunks import chunked
from tests.drivers.test_angel_eye import wire
from tests.support import samples

SHAPE = re.compile(
    rb"\x05([0-9](?:[SPC]|[DR][\x80-\xff]{2}|[dGEeL][\x80-\xff]|M[\x20-\x7e\xa0-\xfe]{6})\x03)([0-9A-F]{2})"
)

# One report of each kind: the digit is put in front, the check behind.
KINDS = [b"S", b"P", b"C", b"D\x81\xb8", b"D\xd7\x80", b"R\x92\xc9", b"d\x90", b"G\xc3", b"E\xc2", b"e\x87", b"L\x81"]
KINDS += [b"M120030"]


def in_range(kind: int, payload: bytes) -> bool:
    """Return True if the description of the wire gives these payload bytes a meaning for a report of this type.

    Bit 7 of each byte is known to be set, except for the type M.
    """
    high, low = [byte >> 4 & 7 for byte in payload], [byte & 15 for byte in payload]
    match chr(kind):
        case "D" | "R":
            none = payload[1] == 0x80
            card = none or (1 <= high[1] <= 4 and 1 <= low[1] <= 13)
            target = high[0] in (0, 1, 2, 4) or (high[0] == 5 and none and kind == ord("D"))
            return card and target and low[0] <= 10
        case "d":
            return high[0] <= 2 and low[0] == 0
        case "G":
            return high[0] in (1, 2, 4, 7) and low[0] <= 3
        case "E" | "e":
            return 1 <= payload[0] & 0x3F <= 7
        case "L":
            return payload[0] & 0x7E == 0
        case _:
            return True


def good_frames(stream: bytes) -> list[bytes]:
    """Return every frame in the stream that has a right shape, right check characters and values in range."""
    return [
        found[0]
        for found in SHAPE.finditer(stream)
        if int(found[2], 16) == reduce(xor, found[1]) and in_range(found[1][1], found[1][2:-1])
    ]


def referee(stream: bytes) -> list[bytes]:
    """Return the frames that the codec must accept. A frame counts if two of the last three copies are equal, and if it
    does not repeat the frame accepted last."""
    believed: list[bytes] = []
    since: list[bytes] = []
    for frame in good_frames(stream):
        if believed[-1:] == [frame]:
            continue
        if frame in since[-2:]:
            believed.append(frame)
            since = []
        else:
            since.append(frame)
    return believed


def codec_believes(chunks: Iterable[bytes]) -> list[bytes]:
    codec = AngelEyeCodec()
    return [
        bytes.fromhex(item.report.frame)
        for chunk in chunks
        for item in codec.feed(chunk)
        if not isinstance(item, BadBytes | Answered) and item.report
    ]


def garbage(size: int, rng: random.Random) -> bytes:
    """Return `size` bytes of noise that look like frames: control bytes, hex digits, types, high bytes, and pieces of
    good frames."""
    pieces = []
    while size > 0:
        frame = wire(rng.randrange(10), rng.choice(KINDS))
        cut = rng.randrange(1, len(frame))
        spoilt = bytearray(frame)
        spoilt[rng.randrange(len(frame))] = rng.randrange(256)
        piece = rng.choice(
            (
                rng.randbytes(rng.randrange(1, 40)),
                bytes(rng.choices(b"\x05\x03\x06\x1501239AFDdMLSC\x80\x81\xb8", k=rng.randrange(1, 40))),
                frame[:cut],
                frame[cut:],
                bytes(spoilt),
                b"\x05" * rng.randrange(1, 5),
                b"\x05%dL%c\x03%02X" % (rng.randrange(10), rng.randrange(0x80, 0x84), rng.randrange(256)),
            )
        )
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def test_much_noise_around_good_reports() -> None:
    rng = random.Random(20240901)
    pieces: list[bytes] = []
    planted: list[bytes] = []
    size = 0
    while size < (1_000_000 if samples.at_length else 450_000):
        frame = wire(len(planted) % 10, bytes([ord("D"), 0x81 + len(planted) % 3, 0x91 + rng.randrange(13)]))
        planted.append(frame)
        # Between its copies, noise without a whole frame in it: a lone good copy of something else is not noise.
        quiet = rng.choice((b"", b"\x00\x03", b"\x05", b"\x051D\x81", b"4F"))
        pieces += [garbage(rng.randrange(4000), rng), frame + quiet + frame + quiet + frame]
        size += len(pieces[-2]) + len(pieces[-1])
    stream = b"".join(pieces)
    believed = codec_believes(chunked(stream, rng))
    assert believed == referee(stream)
    rest = iter(believed)
    assert all(frame in rest for frame in planted), "a good report was lost"
    assert len(believed) > len(planted) > 100, "the noise holds confirmed reports by chance, too"


@pytest.mark.parametrize("data", KINDS, ids=bytes.hex)
def test_no_changed_byte_is_ever_believed(data: bytes) -> None:
    """A frame with one changed byte is never accepted, because its XOR check shows every change of one byte."""
    frame = wire(4, data)
    for place in range(len(frame)):
        for byte in range(256):
            if byte != frame[place]:
                spoilt = frame[:place] + bytes([byte]) + frame[place + 1 :]
                assert codec_believes([spoilt * 3]) == [], spoilt.hex()


@pytest.mark.parametrize("data", KINDS, ids=bytes.hex)
def test_a_lost_or_added_byte_is_believed_only_where_the_referee_finds_a_frame(data: bytes) -> None:
    frame = wire(4, data)
    lost = [frame[:place] + frame[place + 1 :] for place in range(len(frame))]
    added = [frame[:place] + bytes([byte]) + frame[place:] for place in range(len(frame) + 1) for byte in range(256)]
    for spoilt in lost + added:
        assert codec_believes([spoilt * 2]) == referee(spoilt * 2), spoilt.hex()


def test_the_referee_itself() -> None:
    golden = bytes.fromhex("05 31 44 81 B8 03 34 46")
    assert referee(golden * 3) == [golden]
    assert referee(golden + b"\x05" + golden) == [golden]
    assert referee(golden) == []
    assert good_frames(golden[:-1] + b"E") == []
    assert good_frames(wire(1, b"D\x81\xbe")) == []  # a spade of rank 14


@pytest.mark.parametrize(
    "endless",
    [b"\x00", b"\x05", b"\x15", b"\x051M", b"\x051D\x81", b"A", b"\x051S\x035", wire(1, b"C") + wire(2, b"C")],
    ids=bytes.hex,
)
def test_what_is_kept_is_bounded(endless: bytes) -> None:
    codec = AngelEyeCodec()
    fresh = len(pickle.dumps(codec))
    for _ in range(10):
        codec.feed(endless * 1000)
        assert len(pickle.dumps(codec)) < fresh + 200


@pytest.mark.parametrize("place", range(8))
def test_how_a_cards_report_was_damaged_says_nothing_of_the_card(place: int) -> None:
    """If a card's report is damaged, the reason that people are shown is the same for every card.

    Otherwise the reason could reveal the card. The check characters depend on the card, so the same flipped bit makes
    them a wrong check for one card, and no hexadecimal digits at all for another card.
    """
    cards = [0x80 | suit << 4 | rank for suit in (1, 2, 3, 4) for rank in range(1, 14)]
    for flipped in range(8):
        told = {_told(card, place, 1 << flipped) for card in cards}
        assert told == {(("noise", 8),)}


def _told(card: int, place: int, damage: int) -> tuple[tuple[str, int], ...]:
    """Decode a card's report of which the last of three copies is damaged, and then another report. `place` is the
    damaged byte, and `damage` holds the bits that change in it. Return what people are shown about bad bytes: pairs of
    a reason and a count of bytes."""
    copy = wire(1, b"D" + bytes([0x81, card]))
    damaged = bytearray(copy)
    damaged[place] ^= damage
    told: Counter[str] = Counter()
    for heard in AngelEyeCodec().feed(copy + copy + bytes(damaged) + wire(2, b"P") * 3):
        if isinstance(heard, BadBytes):
            told[heard.public_reason] += heard.count
    return tuple(told.items())
