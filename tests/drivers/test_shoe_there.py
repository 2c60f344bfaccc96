"""Checks whether the table notices that the shoe is gone from the far end of its cable, while the serial port is open.

The table asks the shoe, or looks at its plug. The test decides at which time, in milliseconds, the beats (the main
loop's regular work), the answers, and the looks at the plug come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from controller.table.facts import ShoeFact
from drivers import shoe as shoes
from drivers.devices import PRESENT_INPUT
from drivers.line import shoe_on_line
from drivers.line.shoe_on_line import ShoeOnLine
from drivers.sim.shoe.angel_eye import frame

BEAT_MS = 250
SILENT_MS = 1500
ACK, REFUSED, BUSY = b"\x06", b"\x1514", b"\x1521"
STAND_BY = frame("3", b"P")
THERE, GONE = {PRESENT_INPUT: True}, {PRESENT_INPUT: False}


class Port:
    """A stand-in for a port that opens at once. `line` is the level of its modem line, or None if that cannot be
    read."""

    def __init__(self, _url: str, _baud: int, on_bytes: Callable[[bytes], None], on_link: Any, **_: Any) -> None:
        self.on_bytes, self.on_link = on_bytes, on_link
        self.sent: list[bytes] = []
        self.line: bool | None = True

    async def run(self) -> None:
        self.on_link(True, "the port is open")

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def modem_level(self) -> bool | None:
        return self.line


class Line:
    """A shoe on its line. `links` holds each change of the line that was reported, with its time. `heard` holds
    everything that was reported, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, brand: str = "angel_eye", **kind: Any) -> None:
        made: list[Port] = []

        def port(*arguments: Any, **named: Any) -> Port:
            made.append(Port(*arguments, **named))
            return made[-1]

        monkeypatch.setattr(shoe_on_line, "ShoePort", port)
        self.now_ms = 10_000
        self.inputs: dict[str, bool] = {}
        self.links: list[tuple[int, bool]] = []
        self.heard: list[str] = []
        self.why = ""
        self.shoe = ShoeOnLine(shoes.brand(brand), "/dev/shoe", **kind)
        asyncio.run(self.shoe.run(self))
        self.port = made[0]

    def shoe_link(self, up: bool, why: str) -> None:
        self.links.append((self.now_ms, up))
        self.heard.append("up" if up else "down")
        self.why = why

    def shoe_heard_again(self) -> None:
        self.heard.append("again")

    def shoe_reported(self, fact: ShoeFact) -> None:
        self.heard.append(type(fact).__name__)

    def shoe_noise(self, reason: str, count: int) -> None:
        self.heard.append(f"{count} {reason}")

    def beats(self, times: int, answer: bytes | None = None) -> None:
        """Let the main loop do its regular work (a beat) `times` times. If `answer` is given, the shoe answers each
        question with it at once."""
        for _ in range(times):
            self.now_ms += BEAT_MS
            asked = len(self.port.sent)
            self.shoe.beat(self.now_ms, self.inputs)
            if answer is not None and len(self.port.sent) > asked:
                self.port.on_bytes(answer)

    def looks(self, levels: str, apart_ms: int = 30) -> None:
        """Let the watching thread look at the plug once for each character of `levels`. At `+` the plug is in, and at
        `-` it is out. Each look comes `apart_ms` milliseconds after the look before.
        """
        for level in levels:
            self.now_ms += apart_ms
            self.port.line = level == "+"
            self.inputs = {PRESENT_INPUT: level == "+"}
            self.shoe.look(self.now_ms, self.inputs)

    @property
    def up(self) -> bool:
        return bool(self.links) and self.links[-1][1]


MakeLine = Callable[..., Line]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> MakeLine:
    return lambda brand="angel_eye", **kind: Line(monkeypatch, brand, **kind)


# It is asked.


@pytest.mark.parametrize("answer", [ACK, REFUSED, BUSY])
def test_the_line_is_up_once_the_shoe_has_answered_and_as_long_as_it_does(line: MakeLine, answer: bytes) -> None:
    shoe = line()
    shoe.beats(1)
    assert (shoe.links, len(shoe.port.sent)) == ([], 1), "an open port proves nothing"
    shoe.port.on_bytes(answer)
    assert shoe.links == [(10_250, True)]
    shoe.beats(400, answer)
    assert (shoe.links, shoe.heard) == ([(10_250, True)], ["up"])
    assert len(shoe.port.sent) == 201, "twice a second, and never more"
    assert set(shoe.port.sent) == {bytes.fromhex("02 4F 50 5A 5A 30 30 03") + b"1E"}


def test_without_answers_the_line_is_down_before_hands_can_draw_ten_reports(line: MakeLine) -> None:
    shoe = line()
    shoe.beats(9, ACK)
    last_ms = shoe.now_ms
    proven_ms = shoe.shoe.proven_ms
    assert proven_ms is not None
    assert last_ms - proven_ms < 500
    shoe.beats(20)
    [_, (down_ms, up)] = shoe.links
    assert (up, SILENT_MS < down_ms - proven_ms <= SILENT_MS + BEAT_MS) == (False, True)
    assert "does not answer" in shoe.why
    assert "plug" in shoe.why
    asked = len(shoe.port.sent)
    shoe.beats(2)
    assert len(shoe.port.sent) == asked + 1, "the shoe is asked on"
    shoe.port.on_bytes(REFUSED)
    assert shoe.up
    shoe.beats(40, REFUSED)
    assert [up for _, up in shoe.links] == [True, False, True], "the silence is over"


def test_two_answers_that_are_lost_or_damaged_stop_nothing(line: MakeLine) -> None:
    shoe = line()
    for _ in range(50):
        shoe.beats(4, b"\x159")
        shoe.beats(8, ACK)
    assert [up for _, up in shoe.links] == [True]


def test_an_answer_that_is_read_after_a_standstill_proves_no_more_than_the_moment_of_its_question(
    line: MakeLine,
) -> None:
    shoe = line()
    shoe.beats(3, ACK)
    proven_ms = shoe.shoe.proven_ms
    shoe.beats(2)
    shoe.now_ms += 5000
    shoe.port.on_bytes(ACK)
    assert shoe.shoe.proven_ms == (proven_ms or 0) + 500
    shoe.beats(1)
    assert not shoe.up, "nobody knows of the five seconds"


@pytest.mark.parametrize("late_ms", [0, 500, 1000])
def test_a_shoe_that_is_slow_but_answers_in_time_is_there(line: MakeLine, late_ms: int) -> None:
    shoe = line()
    due: list[int] = []
    for _ in range(200):
        asked = len(shoe.port.sent)
        shoe.beats(1)
        due += [shoe.now_ms + late_ms] * (len(shoe.port.sent) - asked)
        while due and due[0] <= shoe.now_ms:
            due.pop(0)
            shoe.port.on_bytes(BUSY)
    assert [up for _, up in shoe.links] == [True]


def test_a_house_may_give_a_slow_shoe_more_time(line: MakeLine) -> None:
    shoe = line(answers_within_ms=3500)
    shoe.beats(1, ACK)
    shoe.beats(14)
    assert shoe.up
    shoe.beats(1)
    assert not shoe.up


def test_a_report_alone_proves_nothing_and_changes_no_moment(line: MakeLine) -> None:
    """If a shoe stops answering the table's questions, the table always counts the shoe's line as down after the same
    time. Reports that the shoe still sends do not change this time.

    One of these reports is the round's result, which shows that the round is complete. People must not learn the moment
    of that report from the line.
    """
    downs = []
    for reports in (0, 1, 5):
        shoe = line()
        shoe.beats(1, ACK)
        for _ in range(5):
            shoe.beats(1)
            for _ in range(reports):
                shoe.port.on_bytes(STAND_BY * 3)
        shoe.beats(3)
        downs.append(shoe.links[-1])
    assert len(set(downs)) == 1


def test_a_report_after_a_silence_comes_after_the_news_and_people_see_the_line_on_a_beat(line: MakeLine) -> None:
    """After a silence, the table is told of the silence before it gets the next report, because nobody knows what was
    missed.

    People see only at a beat of the main loop that the line is up, so that they cannot tell the report's own moment.
    """
    shoe = line()
    shoe.beats(1, ACK)
    shoe.beats(8)
    assert shoe.heard == ["up", "down"]
    shoe.port.on_bytes(STAND_BY * 3)
    assert shoe.heard == ["up", "down", "again", "ShoeStoodBy"]
    shoe.beats(1)
    assert shoe.heard == ["up", "down", "again", "ShoeStoodBy", "up"]
    assert shoe.links[-1] == (shoe.now_ms, True)


@pytest.mark.parametrize("lost", ["the shoe", "the port"])
def test_the_first_report_after_an_absence_is_new_though_it_looks_like_the_last_one(line: MakeLine, lost: str) -> None:
    """The first report after an absence of the shoe counts as new, even if it has the same bytes as the last report
    before.

    The test behaves as if the shoe had sent ten reports during the absence. Then the next report has the same sequence
    digit again.
    """
    shoe = line()
    shoe.beats(1, ACK)
    shoe.port.on_bytes(STAND_BY * 3)
    if lost == "the port":
        shoe.port.on_link(False, "the port went")
        shoe.port.on_link(True, "the port is open")
    else:
        shoe.beats(8)
    shoe.port.on_bytes(STAND_BY * 3)
    assert shoe.heard == ["up", "ShoeStoodBy", "down", "again", "ShoeStoodBy"]


def test_a_report_before_the_answer_that_ends_the_silence(line: MakeLine) -> None:
    shoe = line()
    shoe.beats(1, ACK)
    shoe.beats(8)
    shoe.port.on_bytes(STAND_BY * 3 + ACK)
    assert shoe.heard == ["up", "down", "up", "ShoeStoodBy"], "the answer is read with the report"


def test_a_report_after_which_the_port_goes(line: MakeLine) -> None:
    shoe = line()
    shoe.beats(1, ACK)
    shoe.beats(8)
    shoe.port.on_bytes(STAND_BY * 3)
    shoe.port.on_link(False, "the port went")
    assert shoe.heard == ["up", "down", "again", "ShoeStoodBy", "down"]


def test_off_is_off_and_another_command_may_ask(line: MakeLine) -> None:
    off = line(ask="off")
    off.beats(40)
    assert (off.heard, off.port.sent, off.shoe.proven_ms) == (["up"], [], None)
    other = line(ask="LK01")
    other.beats(1)
    assert other.port.sent == [bytes.fromhex("02 4F 50 4C 4B 30 31 03") + b"18"]


def test_a_shoe_that_takes_no_commands_is_sent_nothing(line: MakeLine) -> None:
    shoe = line("beetek")
    shoe.beats(40)
    assert (shoe.heard, shoe.port.sent) == (["up"], [])


# Its plug is seen.


@pytest.mark.parametrize("present", ["cts", "dsr", "dcd", "input"])
def test_a_beetek_whose_plug_is_out_at_one_look_may_have_lost_a_card(line: MakeLine, present: str) -> None:
    shoe = line("beetek", present=present)
    shoe.looks("+")
    assert shoe.links == [], "nobody has looked yet"
    shoe.beats(1)
    assert shoe.heard == ["up"]
    shoe.looks("++-+++")
    shoe.beats(1)
    assert shoe.heard == ["up", "down", "up"]
    shoe.looks("--")
    shoe.beats(4)
    assert shoe.heard == ["up", "down", "up", "down"]
    assert ("the input shoe_present" if present == "input" else f"line {present.upper()}") in shoe.why


def test_an_angel_eyes_numbers_show_what_a_flicker_took(line: MakeLine) -> None:
    """If the plug of an Angel Eye is out for a short time, its line stays up. If it is out for longer, the line goes
    down.

    Each report has a number, and at 4800 baud the same number can come again only after 312 ms. In a shorter time,
    every missed report leaves a gap in the numbers.
    """
    shoe = line(present="cts", ask="off")
    shoe.looks("+")
    shoe.beats(1)
    shoe.looks("---------+")
    shoe.looks("---------+")
    shoe.beats(1)
    assert shoe.heard == ["up"]
    shoe.looks("------------+")
    shoe.beats(1)
    assert shoe.heard == ["up", "down", "up"]


def test_the_watch_asks_for_a_beat_when_the_plug_moves_and_for_no_other(line: MakeLine) -> None:
    shoe = line("beetek", present="input")
    assert shoe.shoe.look(shoe.now_ms, THERE)
    shoe.inputs = THERE
    shoe.beats(1)
    assert not shoe.shoe.look(shoe.now_ms, THERE)
    assert shoe.shoe.look(shoe.now_ms + 30, GONE)
    shoe.inputs = GONE
    shoe.beats(1)
    assert not shoe.shoe.look(shoe.now_ms + 30, GONE)


def test_a_plug_that_is_out_from_the_start_is_told(line: MakeLine) -> None:
    for kind in ({"brand": "beetek"}, {"ask": "off"}):
        shoe = line(**kind, present="cts")
        shoe.port.line = False
        shoe.beats(1)
        assert shoe.heard == ["down"]


def test_both_must_be_well_where_the_shoe_is_asked_and_its_plug_is_seen(line: MakeLine) -> None:
    shoe = line(present="input")
    told = []
    for inputs, beats, answer in ((GONE, 3, ACK), (THERE, 1, ACK), (THERE, 8, None)):
        shoe.inputs = inputs
        shoe.beats(beats, answer)
        told.append(shoe.up)
    assert told == [False, True, False]


def test_what_comes_though_the_plug_seems_out_is_believed_after_the_news(line: MakeLine) -> None:
    """If the plug seems to be out but reports come, the table is first told that the line is down, and then gets the
    reports.

    In the test the wire loop in the plug is broken, and the shoe still works. The table goes on asking people to count
    the cards.
    """
    shoe = line("beetek", present="cts")
    shoe.beats(1)
    shoe.looks("-")
    shoe.beats(1)
    shoe.port.on_bytes(b"*0D38DF\r\n")
    shoe.beats(2)
    assert shoe.heard == ["up", "down", "again", "CardDrawn", "up", "down"]


@pytest.mark.parametrize(
    ("brand", "kind", "most_ms"),
    [
        ("angel_eye", {"ask": "off"}, 8531),
        ("angel_eye", {}, 1500),
        ("beetek", {}, 4265),
        ("beetek", {"present": "cts"}, 1000),
    ],
)
def test_a_program_that_stands_still_longer_than_nobody_looks_may_have_missed_a_plug(
    line: MakeLine, brand: str, kind: dict[str, str], most_ms: int
) -> None:
    assert line(brand, **kind).shoe.kept_unread_ms == most_ms
