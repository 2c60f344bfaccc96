"""Tests of the simulated Angel Eye shoe: its bytes are compared with reports written by hand, and its own game is
checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial

from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.shoe.angel_eye import Result, SimulatedAngelEye, Target
from tests.support.errors import raising
from tests.support.waiting import PATIENCE_S


class RecordedLine:
    """A stand-in for a shoe's serial line, which keeps the bytes of each write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def listen(self, heard: object) -> None:
        pass

    def reports(self) -> list[str]:
        """Return the shoe's reports since the last call of this method, in hex. Raises AssertionError if the three
        copies of a report differ."""
        firsts = self.writes[::3]
        assert self.writes == [copy for copy in firsts for _ in range(3)]
        self.writes = []
        return [copy.hex(" ").upper() for copy in firsts]


@pytest.fixture
def line() -> RecordedLine:
    return RecordedLine()


@pytest.fixture
def shoe(line: RecordedLine) -> SimulatedAngelEye:
    """A simulated Angel Eye shoe after its burn: an ace was the first card, and one more card was burned. The next
    report has the number (Seq digit) 0."""
    shoe = SimulatedAngelEye(line)
    shoe.draw("AS")
    shoe.draw("2S")
    shoe.skip_seq(7)
    line.writes = []
    return shoe


def draw(shoe: SimulatedAngelEye, cards: str) -> None:
    for card in cards.split():
        shoe.draw(card)


def data(report: str) -> str:
    """Return the code letter and payload of a shoe's report, in hex."""
    return report[6:-9]


# The bytes.


def test_the_golden_frame(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    shoe.skip_seq()
    shoe.draw("8S")
    assert line.reports() == ["05 31 44 81 B8 03 34 46"]


def test_burn(line: RecordedLine) -> None:
    shoe = SimulatedAngelEye(line)
    shoe.power_up()
    draw(shoe, "7D KH AC")
    assert line.reports() == [
        "05 30 53 03 36 30",
        "05 31 44 C0 97 03 32 31",
        "05 32 44 D7 80 03 32 32",
        "05 33 44 A1 CD 03 31 38",
        "05 34 44 A2 A1 03 37 30",
    ]


@pytest.mark.parametrize(
    ("does", "hex_frame"),
    [
        (lambda shoe: shoe.power_up(), "05 30 53 03 36 30"),
        (lambda shoe: shoe.stand_by(), "05 30 50 03 36 33"),
        (lambda shoe: shoe.cut_card(), "05 30 43 03 37 30"),
        (lambda shoe: shoe.keep("9C"), "05 30 52 81 A9 03 34 39"),
        (lambda shoe: shoe.force_quit(), "05 30 47 F0 03 38 34"),
        (lambda shoe: shoe.raise_error(1), "05 30 45 C1 03 42 37"),
        (lambda shoe: shoe.cancel_error(1), "05 30 65 81 03 44 37"),
        (lambda shoe: shoe.report_lock(True), "05 30 4C 81 03 46 45"),
        (lambda shoe: shoe.report_lock(False), "05 30 4C 80 03 46 46"),
        (lambda shoe: shoe.draw_outside_game("lock"), "05 30 64 80 03 44 37"),
        (lambda shoe: shoe.draw_outside_game("error"), "05 30 64 90 03 43 37"),
        (lambda shoe: shoe.draw_outside_game("setting"), "05 30 64 A0 03 46 37"),
        (lambda shoe: shoe.unreadable("9C"), "05 30 44 81 80 03 37 36"),
    ],
)
def test_every_report(
    line: RecordedLine, shoe: SimulatedAngelEye, does: Callable[[SimulatedAngelEye], None], hex_frame: str
) -> None:
    does(shoe)
    assert line.reports() == [hex_frame]


@pytest.mark.parametrize(
    ("card", "byte"), [("AD", "91"), ("TC", "AA"), ("JS", "BB"), ("QH", "CC"), ("KD", "9D"), ("9H", "C9")]
)
def test_card_bytes(line: RecordedLine, shoe: SimulatedAngelEye, card: str, byte: str) -> None:
    shoe.draw(card)
    assert data(line.reports()[0]) == f"44 81 {byte}"


@pytest.mark.parametrize(("wrap", "digits"), [(0, "012345678901"), (1, "123456789123")])
def test_seq_wraps_in_either_reading(line: RecordedLine, wrap: int, digits: str) -> None:
    shoe = SimulatedAngelEye(line, wrap=wrap)
    for _ in digits:
        shoe.cut_card()
    assert "".join(chr(int(report[3:5], 16)) for report in line.reports()) == digits


def test_seq_starts_anew_at_power_up(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    shoe.cut_card()
    shoe.cut_card()
    shoe.power_up()
    shoe.cut_card()
    assert [report[3:5] for report in line.reports()] == ["30", "31", "30", "31"]


def test_three_copies_take_the_wire_its_time(line: RecordedLine) -> None:
    slept: list[float] = []
    SimulatedAngelEye(line, speed=1.0, sleep=slept.append).draw("AS")
    assert slept == [pytest.approx(8 * 10 / 4800)] * 6  # the card and the burn count


# Its own game.


def test_targets_and_result_of_a_six_card_hand(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "2S KD 3H KC 6S 2H")
    assert [data(report) for report in line.reports()] == [
        "44 81 B2",
        "44 91 9D",
        "44 82 C3",
        "44 92 AD",
        "44 83 B6",
        "44 93 C2",
        "47 C2",  # Banker by 2 to 1, and a pair of kings
    ]


@pytest.mark.parametrize(
    ("cards", "result"),
    [("4S 3D 5S 4D", "47 90"), ("4S KD 4H 8D", "47 A1"), ("9S 9D KS 9H", "47 92"), ("4S 4D 4H 4C", "47 A3")],
)
def test_results_and_pairs(line: RecordedLine, shoe: SimulatedAngelEye, cards: str, result: str) -> None:
    draw(shoe, cards)
    reports = line.reports()
    assert len(reports) == 5
    assert data(reports[-1]) == result


def test_the_card_after_a_hand_opens_the_next(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "4S 3D 5S 4D AC")
    assert data(line.reports()[-1]) == "44 81 A1"


def test_a_kept_card_is_the_next_hands_first(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "4S 3D 5S 4D")
    shoe.keep("9C")
    shoe.draw("KD")
    assert [data(report) for report in line.reports()[-2:]] == ["52 81 A9", "44 91 9D"]


def test_after_a_force_quit_a_hand_begins(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "4S 3D")
    shoe.force_quit()
    shoe.draw("KD")
    assert data(line.reports()[-1]) == "44 81 9D"


def test_a_new_shoe_begins_with_a_first_card(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "4S 3D")
    shoe.new_shoe()
    shoe.draw("KD")
    assert [data(report) for report in line.reports()[-2:]] == ["44 C0 9D", "44 DA 80"]


def test_an_unreadable_card_still_counts_in_its_game(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    draw(shoe, "4S 3D 5S")
    shoe.unreadable("4D")
    assert [data(report) for report in line.reports()[-2:]] == ["44 92 80", "47 90"]


@pytest.mark.parametrize(
    ("closes", "told"), [(lambda shoe: shoe.report_lock(True), "64 80"), (lambda shoe: shoe.raise_error(2), "64 90")]
)
def test_a_locked_or_failed_shoe_does_not_say_which_card(
    line: RecordedLine, shoe: SimulatedAngelEye, closes: Callable[[SimulatedAngelEye], None], told: str
) -> None:
    closes(shoe)
    shoe.draw("KD")
    assert data(line.reports()[-1]) == told


# Its lies and losses.


def test_a_lie_leaves_its_own_game_as_it_was(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    shoe.draw("4S", target=Target.BANKER, index=3)
    draw(shoe, "3D 5S")
    shoe.draw("4D", result=Result.TIE)
    assert [data(report) for report in line.reports()] == ["44 93 B4", "44 91 93", "44 82 B5", "44 92 94", "47 A0"]


def test_lost_and_damaged_copies(line: RecordedLine, shoe: SimulatedAngelEye) -> None:
    shoe.draw("8S", copies=(True, False, False))
    assert len(line.writes) == 1
    shoe.corrupt = lambda copy, frame: frame if copy else frame[:-1]
    shoe.draw("9S")
    assert [len(written) for written in line.writes] == [8, 7, 8, 8]


# The line.


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[PtyLine]:
    line = PtyLine(tmp_path / "shoe")
    yield line
    line.unplug()


def open_host(tmp_path: Path) -> serial.Serial:
    return serial.Serial(str(tmp_path / "shoe"), 4800, timeout=PATIENCE_S)


def test_bytes_over_a_pty(tmp_path: Path, pty: PtyLine) -> None:
    shoe = SimulatedAngelEye(pty)
    with open_host(tmp_path) as host:
        shoe.power_up()
        assert host.read(18).hex(" ").upper() == " ".join(["05 30 53 03 36 30"] * 3)


def test_what_nobody_hears_is_lost(tmp_path: Path, pty: PtyLine) -> None:
    heard = [pty.heard]
    pty.write(b"unheard")
    with (tmp_path / "shoe").open("rb", buffering=0) as host:  # this one flushes nothing
        heard.append(pty.heard)
        pty.write(b"heard")
        assert host.read(12) == b"heard"
    assert [*heard, pty.heard] == [False, True, False]


def test_a_reader_that_sleeps_does_not_stop_the_shoe(tmp_path: Path, pty: PtyLine) -> None:
    with open_host(tmp_path):
        for _ in range(1000):
            pty.write(bytes(100))


def test_ears_that_begin_when_the_line_is_gone_end_in_silence(pty: PtyLine) -> None:
    """The thread that listens to the serial line can start after a signal has already closed the line. In that case the
    thread ends without a traceback."""
    gone, far = os.pipe()
    os.close(far)
    ended, end = os.pipe()
    os.close(gone)
    try:
        pty._hear(gone, ended)
    finally:
        os.close(end)


def test_unplugged_and_plugged_again(tmp_path: Path, pty: PtyLine) -> None:
    with open_host(tmp_path) as host:
        pty.unplug()
        assert not (tmp_path / "shoe").is_symlink()
        with pytest.raises(serial.SerialException):
            host.read(1)
    pty.write(b"lost")
    pty.plug()
    with open_host(tmp_path) as host:
        pty.write(b"back")
        assert host.read(4) == b"back"


def test_a_file_of_that_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shoe").write_text("mine")
    with raising("sim_port_taken"):
        PtyLine(tmp_path / "shoe")
    assert (tmp_path / "shoe").read_text() == "mine"


def test_a_port_that_cannot_appear(tmp_path: Path) -> None:
    with raising("sim_port"):
        PtyLine(tmp_path / "nowhere" / "shoe")


def test_the_far_end_of_a_cable() -> None:
    far, near = os.openpty()
    line = SerialLine(os.ttyname(near), 4800)
    line.write(b"\x06")
    assert os.read(far, 10) == b"\x06"
    line.unplug()
    os.close(near)
    os.close(far)


def test_a_cable_that_is_not_there() -> None:
    with raising("sim_port"):
        SerialLine("/dev/no-such-port", 4800)
