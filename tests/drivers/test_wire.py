"""Checks the record of a shoe's wire: its text, the tap on a live table, the replay of a record, and the guessing of an
unknown shoe's frames."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.basics.errors import TableError
from controller.people.cli.main import main
from controller.people.cli.wire_frames import guessed
from drivers.line.tap import Tap, TapListener, tap_of
from drivers.line.wire import Piece, lines_of, pieces_of
from drivers.sim.shoe.angel_eye import card_byte, frame
from drivers.sim.shoe.beetek import card_line

CARDS = [f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "SHDC"]
SAID = st.builds(Piece, st.just(0), st.sampled_from(["shoe", "host"]), st.binary(min_size=1, max_size=40))
PIECES = st.lists(st.one_of(SAID, st.builds(Piece, st.just(0), st.sampled_from(["open", "gone"]))), max_size=6)


@given(pieces=PIECES, pauses_ms=st.lists(st.integers(0, 10**8), min_size=6, max_size=6))
def test_what_is_written_is_read_again_byte_for_byte(pieces: list[Piece], pauses_ms: list[int]) -> None:
    at = [Piece(sum(pauses_ms[: place + 1]), piece.way, piece.data) for place, piece in enumerate(pieces)]
    lines = [line for piece in at for line in lines_of(piece)]
    read = list(pieces_of(["# a remark", "", *lines], "it"))

    def told(of: list[Piece]) -> list[object]:
        return [(piece.at_ms, piece.way, byte) for piece in of for byte in piece.data or b"\0"]

    assert told(read) == told(at)
    assert all(line.isascii() and len(line) < 90 for line in lines)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1.2 shoe 2A", "line 1: '1.2 shoe 2A' is no line"),
        ("1.200 shoe", "line 1"),
        ("1.200 shoe 2", "line 1"),
        ("1.200 shoe 2A # said\n1.100 shoe 2A", "line 2: the moment lies before"),
        ("1.200 shoo 2A", "line 1"),
        ("1.200 host 2A", "no shoe says anything"),
        ("", "no shoe says anything"),
        ("\udcff", "no text"),
    ],
)
def test_a_file_that_is_no_record_is_told_with_its_line(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.wire"
    file.write_text(text, "utf-8", "surrogateescape")
    for command in (["frames", str(file)], ["replay", str(file), "--pty", str(tmp_path / "shoe")]):
        assert main(["shoe", *command]) == 1
        error = capsys.readouterr().err
        assert error.startswith("wire_unreadable: ")
        assert told in error
    assert not (tmp_path / "shoe").is_symlink()


def test_a_record_never_takes_the_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shoe", "record", "/dev/nope", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("wire_file: ")


def test_nobody_listens_a_slow_listener_loses_and_is_told_how_much_and_a_second_is_refused(tmp_path: Path) -> None:
    place = tap_of(tmp_path / "journal")
    tap = Tap(place, lambda: 5)
    tap.tell("shoe", b"unheard")
    with TapListener(place) as listener:
        assert place.stat().st_mode & 0o777 == 0o600
        for _ in range(5000):
            tap.tell("shoe", b"x")
        came = list(listener.pieces(0))
        tap.tell("host", b"y")
        assert next(listener.pieces(0)) == Piece(5, "host", b"y")
        assert 0 < len(came) < 5000
        assert len(came) + listener.lost == 5000
        with pytest.raises(TableError, match="wire_taken"), TapListener(place):
            pass
    assert not place.exists()
    tap.tell("shoe", b"unheard")


def test_a_listener_that_was_killed_leaves_no_name_that_bars_the_next(tmp_path: Path) -> None:
    place = tap_of(tmp_path / "journal")
    left = TapListener(place).__enter__()
    left._socket.close()
    with TapListener(place) as listener:
        Tap(place, lambda: 1).tell("open")
        assert next(listener.pieces(0)) == Piece(1, "open")


def test_a_record_is_said_again_to_whoever_opens_the_pty(tmp_path: Path) -> None:
    file, link = tmp_path / "shoe.wire", tmp_path / "shoe"
    file.write_text("0.000 open\n60.000 shoe 2A 30\n60.001 host FF\n120.000 shoe 0D 0A\n", "ascii")
    saying = threading.Thread(target=main, args=(["shoe", "replay", str(file), "--pty", str(link), "--speed", "0"],))
    saying.start()
    while not link.exists():
        pass
    near = os.open(link, os.O_RDONLY | os.O_NOCTTY)
    heard = b""
    while len(heard) < 4:
        heard += os.read(near, 2)
    saying.join()
    os.close(near)
    assert heard == b"*0\r\n"


def test_the_frames_of_both_shoes_are_guessed_from_what_they_say() -> None:
    beetek = guessed(b"".join(map(card_line, CARDS)))
    assert beetek is not None
    assert beetek.check is not None
    assert (beetek.begin, beetek.check.name, beetek.check.end, beetek.right) == (ord("*"), "sum", 2, 52)
    reports = [frame(str(place % 10), bytes([*b"D", 0x81, card_byte(card)])) for place, card in enumerate(CARDS)]
    angel_eye = guessed(b"".join(reports) + b"\x06" + reports[0])
    assert angel_eye is not None
    assert angel_eye.check is not None
    assert (angel_eye.begin, angel_eye.check.name, angel_eye.check.in_hex) == (5, "XOR", True)


def test_no_check_is_guessed_where_there_is_none() -> None:
    told = guessed(b"".join(b"$%s;" % card.encode() for card in CARDS))
    assert told is None or told.check is None
    assert guessed(b"") is None
