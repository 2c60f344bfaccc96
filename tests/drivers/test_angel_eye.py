"""Checks the codec of the Angel Eye shoe against the page that describes the bytes on the wire.

The encoder in this test is written by hand from that page, and not from the codec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.cards import Card
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
from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Answered
from drivers.shoe.angel_eye import AngelEyeCodec, Heard, command
from tests.support.each import each

# Golden: Player's first card, the 8 of spades, sequence digit 1.
EIGHT_OF_SPADES = bytes.fromhex("05 31 44 81 B8 03 34 46")


def wire(seq: int, data: bytes) -> bytes:
    """Return one copy of a report as bytes: ENQ, the sequence digit, data, ETX, and the XOR of digit through ETX as two
    hex characters."""
    checked = str(seq).encode() + data + b"\x03"
    check = 0
    for byte in checked:
        check ^= byte
    return b"\x05" + checked + f"{check:02X}".encode()


def facts(heard: Sequence[Heard]) -> list[ShoeFact]:
    return [item for item in heard if not isinstance(item, BadBytes | Answered)]


def bad(heard: Sequence[Heard]) -> list[BadBytes]:
    return [item for item in heard if isinstance(item, BadBytes)]


def test_the_golden_frame() -> None:
    assert wire(1, b"D\x81\xb8") == EIGHT_OF_SPADES
    assert AngelEyeCodec().feed(EIGHT_OF_SPADES * 3) == [
        CardDrawn(Card.parse("8S"), Target.PLAYER, 1, Report(1, "05314481b8033446"))
    ]


# The reports, by hand from the page. Target and card bytes: bit 7, three bits of target or suit, four of index or rank.
REPORTS: list[tuple[bytes, ShoeFact]] = [
    (b"S", ShoePoweredUp()),
    (b"P", ShoeStoodBy()),
    (b"C", CutCardDrawn("shoe")),
    (b"D\x81\x91", CardDrawn(Card.parse("AD"), Target.PLAYER, 1)),
    (b"D\x91\xad", CardDrawn(Card.parse("KC"), Target.BANKER, 1)),
    (b"D\x93\xc9", CardDrawn(Card.parse("9H"), Target.BANKER, 3)),
    (b"D\xaa\xbb", CardDrawn(Card.parse("JS"), Target.BURN, 10)),
    (b"D\xc0\xcc", CardDrawn(Card.parse("QH"), Target.FIRST_CARD, 0)),
    (b"D\x83\x80", CardDrawn(None, Target.PLAYER, 3)),
    (b"D\xd7\x80", BurnCountReported(7)),
    (b"D\xda\x80", BurnCountReported(10)),
    (b"R\x81\xb8", CardKept(Card.parse("8S"), Target.PLAYER, 1)),
    (b"R\x82\x80", CardKept(None, Target.PLAYER, 2)),
    (b"d\x80", CardDrawnOutsideGame("lock")),
    (b"d\x90", CardDrawnOutsideGame("error")),
    (b"d\xa0", CardDrawnOutsideGame("setting")),
    (b"G\x90", ShoeResultReported(ShoeResult.PLAYER, player_pair=False, banker_pair=False)),
    (b"G\xa1", ShoeResultReported(ShoeResult.TIE, player_pair=True, banker_pair=False)),
    (b"G\xc2", ShoeResultReported(ShoeResult.BANKER, player_pair=False, banker_pair=True)),
    (b"G\xf3", ShoeResultReported(ShoeResult.FORCE_QUIT, player_pair=True, banker_pair=True)),
    (b"E\x81", ShoeErrorRaised(ShoeError.CANNOT_READ)),
    (b"E\xc2", ShoeErrorRaised(ShoeError.OVERDRAW)),  # in error mode
    (b"E\x83", ShoeErrorRaised(ShoeError.BUTTON_MISHANDLED)),
    (b"E\x84", ShoeErrorRaised(ShoeError.REVERSE_AT_EXIT)),
    (b"E\x85", ShoeErrorRaised(ShoeError.REVERSE_MIDWAY)),
    (b"E\x86", ShoeErrorRaised(ShoeError.CARD_CODE)),
    (b"E\xc7", ShoeErrorRaised(ShoeError.DRAW_TIMEOUT)),
    (b"e\x82", ShoeErrorCancelled(ShoeError.OVERDRAW)),
    (b"L\x81", ShoeLockReported(locked=True)),
    (b"L\x80", ShoeLockReported(locked=False)),
    (b"M120030", ShoePresetChanged("12", "0030")),
    (b"M" + bytes(0x80 | byte for byte in b"0A1 z~"), ShoePresetChanged("0A", "1 z~")),
]


@each("data, fact", REPORTS)
def test_every_report_of_the_page(data: bytes, fact: ShoeFact) -> None:
    for seq in range(10):
        [heard] = AngelEyeCodec().feed(wire(seq, data) * 3)
        assert heard == replace(fact, report=Report(seq, wire(seq, data).hex()))


def test_every_card_at_its_byte() -> None:
    codec = AngelEyeCodec()
    for suit, letter in (0x90, "D"), (0xA0, "C"), (0xB0, "S"), (0xC0, "H"):
        for rank, figure in enumerate("A23456789TJQK", start=1):
            [heard] = codec.feed(wire(rank % 10, bytes([ord("D"), 0x81, suit + rank])) * 3)
            assert isinstance(heard, CardDrawn)
            assert heard.card == Card.parse(figure + letter)


OUT_OF_RANGE = [
    *(bytes([ord("D"), 0x81, 0x80 | suit << 4 | rank]) for suit in range(1, 5) for rank in (0, 14, 15)),
    *(bytes([ord("D"), 0x81, 0x80 | suit << 4 | 1]) for suit in (0, 5, 6, 7)),
    *(bytes([ord(kind), 0x80 | target << 4 | 1, 0xB8]) for kind in "DR" for target in (3, 5, 6, 7)),
    *(bytes([ord(kind), 0x80 | target << 4 | 11, 0xB8]) for kind in "DR" for target in (0, 1, 2, 4)),
    b"D\xdb\x80",  # a burn of 11
    b"R\xd7\x80",  # a burn count is never kept
    *(bytes([ord("G"), 0x80 | result << 4]) for result in (0, 3, 5, 6)),
    b"G\x94",  # a bit the page gives no meaning
    b"E\x80",
    b"E\x88",
    b"e\xff",
    b"d\xb0",
    b"d\x81",
    b"L\x82",
]


@each("data", OUT_OF_RANGE)
def test_a_value_no_report_has_is_never_a_fact(data: bytes) -> None:
    frame = wire(3, data)
    assert AngelEyeCodec().feed(frame * 3) == [BadBytes("range", len(frame))] * 3


OUT_OF_SHAPE = [
    b"",
    b"X",
    b"X\x81",
    b"D",
    b"D\x81",
    b"D\x81\xb8\xb8",
    b"D\x01\xb8",  # payload without bit 7
    b"D\x81\x38",
    b"S\x80",
    b"C\x81",
    b"d",
    b"G\x90\x90",
    b"L\x01",
    b"M12003",
    b"M1200300",
    b"M12\x000030",
]


@pytest.mark.parametrize("data", OUT_OF_SHAPE, ids=bytes.hex)
def test_a_report_of_the_wrong_shape_is_never_a_fact(data: bytes) -> None:
    heard = AngelEyeCodec().feed(wire(3, data) * 3)
    assert {item.reason for item in bad(heard)} <= {"shape", "noise"}
    assert sum(item.count for item in bad(heard)) == len(wire(3, data)) * 3
    assert not facts(heard)


@pytest.mark.parametrize("frame", [EIGHT_OF_SPADES.replace(b"1D", b"AD"), EIGHT_OF_SPADES[:-1] + b"f"])
def test_a_sequence_character_that_is_no_digit_or_a_lower_case_check_is_refused(frame: bytes) -> None:
    assert not facts(AngelEyeCodec().feed(frame * 3))


def test_a_wrong_check_is_counted_and_its_bytes_are_not_shown() -> None:
    [heard] = AngelEyeCodec().feed(EIGHT_OF_SPADES[:-1] + b"E")
    assert heard == BadBytes("check", 8)
    assert set(BadBytes.__struct_fields__) == {"reason", "count"}


# Two of three copies.

A, B, C = (wire(seq, b"D\x81" + card) for seq, card in ((1, b"\xb8"), (2, b"\xc9"), (3, b"\x91")))
DAMAGED = EIGHT_OF_SPADES[:4] + b"\xb9" + EIGHT_OF_SPADES[5:]
NOISE = b"\x03\xff4F\x00\xb8"


def frames(heard: Sequence[Heard]) -> list[bytes]:
    """Return the frame of each fact that the codec decoded."""
    return [bytes.fromhex(fact.report.frame) for fact in facts(heard) if fact.report]


@pytest.mark.parametrize(
    ("copies", "believed"),
    [
        ([A, A, A], [A]),
        ([A, A, DAMAGED], [A]),
        ([A, DAMAGED, A], [A]),
        ([DAMAGED, A, A], [A]),
        ([A, NOISE, A, NOISE, NOISE, A], [A]),
        ([A, A], [A]),
        ([A, A[:5], A], [A]),  # the second copy cut short
        ([A, A[:-1], A[1:], A], [A]),
        ([A], []),
        ([A, DAMAGED, DAMAGED], []),
        ([DAMAGED, DAMAGED, DAMAGED], []),
        ([A, B, B, B], [B]),
        ([A, A, B, B], [A, B]),
        ([A, A, A, B, C, C], [A, C]),
        ([A, B, C], []),
        ([A, B, C, A], []),  # not within three frames of each other
        ([A, B, A], [A]),  # B would be a damaged copy that passed its check: two of the three agree
        ([A, A, A, A, A, A], [A]),
        ([A] * 3 + [B] * 3 + [A] * 3, [A, B, A]),  # only the last believed report is remembered
    ],
)
def test_two_identical_copies_of_three_make_one_fact(copies: list[bytes], believed: list[bytes]) -> None:
    assert frames(AngelEyeCodec().feed(b"".join(copies))) == believed


def test_the_fact_comes_with_the_second_copy_and_not_before() -> None:
    codec = AngelEyeCodec()
    assert codec.feed(A) == []
    assert codec.feed(A[:-1]) == []
    assert frames(codec.feed(A[-1:])) == [A]
    assert codec.feed(A) == []


def test_a_lone_copy_is_unconfirmed_once_the_next_report_is_believed() -> None:
    heard = AngelEyeCodec().feed(A + B + B)
    assert heard[0] == BadBytes("unconfirmed", len(A))
    assert frames(heard[1:]) == [B]


def test_lone_copies_are_unconfirmed_as_they_fall_out_of_the_last_three_frames() -> None:
    lone = [wire(seq, b"L\x81") for seq in range(10)]
    codec = AngelEyeCodec()
    assert codec.feed(b"".join(lone)) == [BadBytes("unconfirmed", 7)] * 7
    assert codec.feed(lone[-1])[:2] == [BadBytes("unconfirmed", 7)] * 2


# Repeats across time.


def test_the_same_card_under_the_same_digit_ten_reports_later_is_new() -> None:
    ten = [wire(seq % 10, b"D\x81\xb8") for seq in range(1, 11)]
    heard = AngelEyeCodec().feed(b"".join(frame * 3 for frame in ten + ten))
    assert frames(heard) == ten + ten


def test_after_a_restart_copies_of_the_last_believed_frame_are_repeats() -> None:
    last = Report(1, A.hex())
    assert AngelEyeCodec(last=last).feed(A * 2) == []
    assert frames(AngelEyeCodec(last=last).feed(A + B * 3)) == [B]
    assert frames(AngelEyeCodec(last=Report(1, B.hex())).feed(A * 3)) == [A]


def test_after_a_power_up_the_same_frame_is_new() -> None:
    power_up = wire(0, b"S")
    assert frames(AngelEyeCodec().feed(A * 3 + power_up * 3 + A * 3)) == [A, power_up, A]


# Finding the next good frame.


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x05",
        b"\x05" * 20,
        b"\x051",
        b"\x051D",
        b"\x051D\x81",
        b"\x051D\x81\xb8\x03",
        b"\x051D\x81\xb8\x034",
        b"\x051M12003",
        b"\x15",
        b"\x150",
        b"\x06\x15\x05\x15",
        A[1:],
        DAMAGED,
        b"\x051D\x81\x05\x031",
    ],
    ids=bytes.hex,
)
def test_a_good_frame_is_found_right_behind_any_garbage(garbage: bytes) -> None:
    codec = AngelEyeCodec()
    assert frames(codec.feed(garbage + A)) == []
    assert frames(codec.feed(A)) == [A]
    assert frames(AngelEyeCodec().feed((garbage + A) * 2)) == [A]


def test_every_bad_byte_is_counted() -> None:
    assert AngelEyeCodec().feed(b"\x00\xff" + A[:5] + A + b"\x03\x04" + A) == [
        BadBytes("noise", 2),
        BadBytes("shape", 5),
        BadBytes("noise", 2),
        *AngelEyeCodec().feed(A + A),
    ]


def test_a_frame_cut_in_two_is_waited_for() -> None:
    for cut in range(1, len(A)):
        codec = AngelEyeCodec()
        assert codec.feed(A + A[:cut]) == []
        assert frames(codec.feed(A[cut:])) == [A]


pieces = st.one_of(
    st.builds(
        lambda seq, data, copies: wire(seq, data) * copies,
        st.integers(0, 9),
        st.sampled_from([data for data, _ in REPORTS]),
        st.integers(1, 3),
    ),
    st.binary(max_size=6),
    st.text("\x05\x031D\x06\x15", max_size=6).map(lambda text: text.encode("latin-1")),
    st.just(A[:5]),
)


@given(st.lists(pieces, max_size=12).map(b"".join), st.data())
def test_the_chunks_make_no_difference(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    codec = AngelEyeCodec()
    chunked = [
        item
        for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for item in codec.feed(stream[start:end])
    ]
    whole = AngelEyeCodec().feed(stream)
    assert without_noise(chunked) == without_noise(whole)
    assert bytes_by_reason(chunked) == bytes_by_reason(whole)


def without_noise(heard: Sequence[Heard]) -> list[Heard]:
    return [item for item in heard if not (isinstance(item, BadBytes) and item.reason == "noise")]


def bytes_by_reason(heard: Sequence[Heard]) -> Counter[str]:
    total: Counter[str] = Counter()
    for item in bad(heard):
        total[item.reason] += item.count
    return total


# What the line does to one copy, given a place and a change. A changed byte always fails the XOR; a lost one leaves too
# few for the check or the shape.
Damage = Callable[[bytes, int, int], bytes]


def whole(frame: bytes, place: int, change: int) -> bytes:
    return frame


def changed(frame: bytes, place: int, change: int) -> bytes:
    place %= len(frame)
    return frame[:place] + bytes([frame[place] ^ change]) + frame[place + 1 :]


def cut_short(frame: bytes, place: int, change: int) -> bytes:
    return frame[: place % len(frame)]


damages = st.tuples(st.sampled_from([whole, whole, changed, cut_short]), st.integers(0, 11), st.integers(1, 255))


@given(st.lists(st.tuples(st.sampled_from(REPORTS), st.lists(damages, min_size=3, max_size=3)), max_size=9))
def test_a_report_is_a_fact_exactly_when_two_copies_come_whole(
    reports: list[tuple[tuple[bytes, ShoeFact], list[tuple[Damage, int, int]]]],
) -> None:
    stream, expected, lone_bytes = b"", [], 0
    for seq, ((data, fact), copies) in enumerate(reports):
        frame = wire(seq, data)
        sent = [damage(frame, place, change) for damage, place, change in copies]
        stream += b"".join(sent)
        expected += [fact] if sent.count(frame) >= 2 else []
        lone_bytes += len(frame) if sent.count(frame) == 1 else 0
    heard = AngelEyeCodec().feed(stream + wire(9, b"C") * 3)  # the last one settles what waits
    assert [replace(fact, report=None) for fact in facts(heard)] == [*expected, CutCardDrawn("shoe")]
    assert bytes_by_reason(heard)["unconfirmed"] == lone_bytes


# The shoe answers only what it is asked, and nobody asks it: what looks like an answer is damage.


CODES = ("01", "02", "03", "11", "12", "13", "14", "21", "22", "FF")
ANSWERS = {b"\x06": None} | {b"\x15" + code.encode(): code for code in CODES}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_comes_between_two_copies_in_any_chunks(answer: bytes) -> None:
    told = Answered(ANSWERS[answer], len(answer))
    stream = answer + A + answer + A + answer
    assert AngelEyeCodec().feed(stream) == [told, told, *AngelEyeCodec().feed(A * 2), told]
    codec = AngelEyeCodec()
    assert [item for byte in stream for item in codec.feed(bytes((byte,)))] == AngelEyeCodec().feed(stream)


@pytest.mark.parametrize("damaged", [b"\x15", b"\x152", b"\x1599", b"\x150", b"\x15\x06\x06", b"\x1521"[1:], b"\x07"])
def test_a_damaged_answer_is_none_and_hides_no_report(damaged: bytes) -> None:
    heard = AngelEyeCodec().feed(damaged + A * 2)
    assert facts(heard) == AngelEyeCodec().feed(A * 2)
    bad_bytes = sum(item.count for item in bad(heard))
    answers = [item for item in heard if isinstance(item, Answered)]
    assert bad_bytes + sum(item.count for item in answers) == len(damaged)
    assert not [item for item in answers if item.refusal is not None]


def test_an_answer_inside_a_frame_is_damage() -> None:
    assert AngelEyeCodec().feed(A[:3] + b"\x06" + A[3:]) == [BadBytes("shape", 4), BadBytes("noise", len(A) - 3)]


def test_a_command_is_as_the_wires_description_shows_it() -> None:
    """The command that locks the shoe has the same bytes as the example on the page that describes the wire. Its check
    characters cover the STX too."""
    assert command("LK02") == bytes.fromhex("02 4F 50 4C 4B 30 32 03") + b"1B"


@pytest.mark.parametrize("stream", [b"\x051\x06", b"\x051D\x81\x15"])
def test_a_control_byte_breaks_a_frame(stream: bytes) -> None:
    assert AngelEyeCodec().feed(stream) == [BadBytes("shape", len(stream))]
