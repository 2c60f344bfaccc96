"""Tests of the command prompts of the simulated devices: what each command does at the controller's end of the device's
wire, and how the prompt answers a wrong command."""

from __future__ import annotations

import json
import os
import queue
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import serial

from controller.people.cli.main import main
from controller.people.cli.programs import free_port, mosquitto, simulated_table
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
    ShoePoweredUp,
    ShoeResult,
    ShoeResultReported,
    Target,
)
from drivers.line.bad_bytes import BadBytes
from drivers.shoe.angel_eye import AngelEyeCodec
from drivers.shoe.beetek import BeeTekCodec
from drivers.sim.console import Verb, Verbs, cable_verbs, converse, pins_verbs, pit_verbs
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import INPUT, OUTPUT, PULL_DOWN, PULL_UP, PinsPage, SimulatedPins
from drivers.sim.pit import SimulatedPit
from drivers.sim.shoe.angel_eye import SimulatedAngelEye
from drivers.sim.shoe.beetek import SimulatedBeeTek
from tests.support.brokers import OPEN, Broker, Peer
from tests.support.waiting import PATIENCE_S

END = b"\xff"  # neither shoe ever says this byte

Console = tuple[str, Verbs, PtyLine]
"""A shoe's driver, its verbs and its pty."""


def say(verbs: Verbs, script: str) -> None:
    """Give each line of the script to a device's prompt, and then the end of input. `;` separates the lines."""
    reads, writes = os.pipe()
    os.write(writes, script.replace(";", "\n").encode())
    os.close(writes)
    with os.fdopen(reads, encoding="utf-8") as lines:
        converse(verbs, lines)


@contextmanager
def in_conversation(verbs: Verbs) -> Iterator[int]:
    """Run a device's prompt while the `with` block runs. Yields the file descriptor for the test's commands."""
    reads, writes = os.pipe()
    with os.fdopen(reads, encoding="utf-8") as lines:
        talk = threading.Thread(target=converse, args=(verbs, lines))
        talk.start()
        try:
            yield writes
        finally:
            os.close(writes)
            talk.join(PATIENCE_S)
    assert not talk.is_alive()


# The shoes.


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[PtyLine]:
    line = PtyLine(tmp_path / "shoe")
    yield line
    line.unplug()


@pytest.fixture
def angel_eye(pty: PtyLine) -> Verbs:
    """The prompt commands of a simulated Angel Eye shoe after its burn. The shoe has sent three reports before anybody
    listened."""
    verbs = SimulatedAngelEye(pty).verbs() | cable_verbs(pty)
    say(verbs, "draw AS; draw 2S")
    return verbs


@pytest.fixture
def beetek(pty: PtyLine) -> Verbs:
    return SimulatedBeeTek(pty).verbs() | cable_verbs(pty)


@contextmanager
def host(folder: Path) -> Iterator[serial.Serial]:
    with serial.Serial(str(folder / "shoe"), 9600, timeout=PATIENCE_S) as port:
        yield port


def heard(verbs: Verbs, script: str, pty: PtyLine, folder: Path) -> bytes:
    """Give the script to a device's prompt, and return all bytes that reach the controller's end of the serial line
    meanwhile."""
    with host(folder) as port:
        say(verbs, script)
        pty.write(END)
        data: bytes = port.read_until(END)
    assert data.endswith(END)
    return data.removesuffix(END)


def drawn(card: str, target: Target, index: int) -> CardDrawn:
    return CardDrawn(Card.parse(card), target, index, ANY)


P, B = Target.PLAYER, Target.BANKER

ANGEL_EYE: list[tuple[str, str, list[Any]]] = [
    (
        "draw",
        "draw 4S; draw 3D; draw 5S; draw 4D",
        [
            *(drawn("4S", P, 1), drawn("3D", B, 1), drawn("5S", P, 2), drawn("4D", B, 2)),
            ShoeResultReported(ShoeResult.PLAYER, False, False, ANY),
        ],
    ),
    ("cut", "cut", [CutCardDrawn("shoe", Report(3, ANY))]),
    ("new-shoe", "new-shoe; draw KD", [drawn("KD", Target.FIRST_CARD, 0), BurnCountReported(10, ANY)]),
    ("copies", "copies 3 4S", [drawn("4S", P, 1)]),
    ("copies", "copies 2 4S", [drawn("4S", P, 1)]),
    ("copies", "copies 1 4S; draw 3D; draw 5S", [BadBytes("unconfirmed", 8), drawn("3D", B, 1), drawn("5S", P, 2)]),
    ("copies", "copies 0 4S; draw 3D", [drawn("3D", B, 1)]),
    ("lie", "lie player 4S; lie player 3D", [drawn("4S", P, 1), drawn("3D", P, 1)]),
    ("lie", "lie banker 4S; draw 3D", [drawn("4S", B, 1), drawn("3D", B, 1)]),
    ("lie", "lie burn 4S", [drawn("4S", Target.BURN, 1)]),
    ("lie", "lie first_card 4S", [drawn("4S", Target.FIRST_CARD, 1)]),
    ("unreadable", "unreadable 4S; draw 3D", [CardDrawn(None, P, 1, ANY), drawn("3D", B, 1)]),
    ("keep", "keep 9C; draw KD", [CardKept(Card.parse("9C"), P, 1, ANY), drawn("KD", B, 1)]),
    ("outside", "outside lock", [CardDrawnOutsideGame("lock", ANY)]),
    ("outside", "outside error", [CardDrawnOutsideGame("error", ANY)]),
    ("outside", "outside setting", [CardDrawnOutsideGame("setting", ANY)]),
    (
        "error",
        "error 1; error 7; draw KD",
        [
            ShoeErrorRaised(ShoeError.CANNOT_READ, ANY),
            ShoeErrorRaised(ShoeError.DRAW_TIMEOUT, ANY),
            CardDrawnOutsideGame("error", ANY),
        ],
    ),
    (
        "cancel",
        "error 2; cancel 2; draw KD",
        [
            ShoeErrorRaised(ShoeError.OVERDRAW, ANY),
            ShoeErrorCancelled(ShoeError.OVERDRAW, ANY),
            drawn("KD", P, 1),
        ],
    ),
    (
        "force-quit",
        "draw 4S; force-quit; draw KD",
        [drawn("4S", P, 1), ShoeResultReported(ShoeResult.FORCE_QUIT, False, False, ANY), drawn("KD", P, 1)],
    ),
    ("power-up", "power-up; cut", [ShoePoweredUp(Report(0, ANY)), CutCardDrawn("shoe", Report(1, ANY))]),
    ("power-off", "draw 4S; power-off; draw 3D; power-up", [drawn("4S", P, 1), ShoePoweredUp(Report(0, ANY))]),
    ("skip", "cut; skip 3; cut", [CutCardDrawn("shoe", Report(3, ANY)), CutCardDrawn("shoe", Report(7, ANY))]),
    ("noise", "noise 0102; draw 4S", [BadBytes("noise", 2), drawn("4S", P, 1)]),
]

CLUB_ACE, KING = CardDrawn(Card.parse("AC"), report=ANY), CardDrawn(Card.parse("KS"), report=ANY)
BEETEK: list[tuple[str, str, list[Any]]] = [
    ("draw", "draw AC; draw AC; draw KS", [CLUB_ACE, CLUB_ACE, KING]),
    ("lose", "draw AC; lose KS; draw AC", [CLUB_ACE, CLUB_ACE]),
    ("damage", "damage KS; draw AC", [BadBytes("check", 9), CLUB_ACE]),
    ("say", "say OK; draw AC", [BadBytes("unknown", 7), CLUB_ACE]),
    ("noise", "noise 0102; draw AC", [BadBytes("noise", 2), CLUB_ACE]),
]
CABLE = {"unplug", "plug", "unplug-at-shoe", "plug-at-shoe"}
ANSWERS = {"mute", "busy", "late", "answer"}


def tried(verb: str, script: str) -> str:
    """Return `verb`, the command that a case of a parametrised test is about. Raises AssertionError if the case's
    script does not use the command."""
    assert verb in (line.split()[0] for line in script.split(";"))
    return verb


@pytest.mark.parametrize(("verb", "script", "facts"), ANGEL_EYE)
def test_angel_eye(verb: str, script: str, facts: list[Any], angel_eye: Verbs, pty: PtyLine, tmp_path: Path) -> None:
    assert AngelEyeCodec().feed(heard(angel_eye, script, pty, tmp_path)) == facts


@pytest.mark.parametrize(("verb", "script", "facts"), BEETEK)
def test_beetek(verb: str, script: str, facts: list[Any], beetek: Verbs, pty: PtyLine, tmp_path: Path) -> None:
    assert BeeTekCodec().feed(heard(beetek, script, pty, tmp_path)) == facts


def test_without_a_line_the_verbs_of_a_shoe_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "shoe", "--driver", "beetek", "--verbs"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()][:5] == [
        "draw",
        "lose",
        "damage",
        "say",
        "noise",
    ]
    assert main(["sim", "shoe"]) == 1
    assert capsys.readouterr().err.startswith("sim_place: ")


@pytest.mark.parametrize("driver", ["angel_eye", "beetek"])
def test_the_cable_is_pulled_and_put_back(
    driver: str, pty: PtyLine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    verbs: Verbs = request.getfixturevalue(driver)
    with host(tmp_path) as port:
        say(verbs, "unplug")
        assert not (tmp_path / "shoe").is_symlink()
        with pytest.raises(serial.SerialException):
            port.read(1)
    say(verbs, "noise 01; plug")
    assert heard(verbs, "noise 02", pty, tmp_path) == b"\x02"


@pytest.mark.parametrize("driver", ["angel_eye", "beetek"])
def test_the_plug_is_pulled_at_the_shoe_and_the_device_stays(
    driver: str, pty: PtyLine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    verbs: Verbs = request.getfixturevalue(driver)
    moved: list[bool] = []
    pty.on_plug = moved.append
    with host(tmp_path) as port:
        say(verbs, "unplug-at-shoe; noise 01; plug-at-shoe; noise 02")
        assert port.read(1) == b"\x02"
    assert moved == [False, True]


# A command is 02, OP, a type, two digits, 03 and the XOR of all of these.
UNLOCK, UNKNOWN = bytes.fromhex("02 4F 50 4C 4B 30 31 03") + b"18", bytes.fromhex("02 4F 50 5A 5A 30 30 03") + b"1E"


@pytest.mark.parametrize(
    ("script", "command", "answer"),
    [
        ("answer", UNKNOWN, b"\x1514"),
        ("answer", UNKNOWN[:-1] + b"F", b"\x1502"),
        ("answer", UNKNOWN[:3] + b"ZZ0x" + UNKNOWN[7:], b"\x1511"),
        ("answer", UNLOCK, b"\x06"),
        ("busy", UNKNOWN, b"\x1521"),
        ("mute; busy; answer", UNKNOWN, b"\x1514"),
        ("late 10", UNKNOWN, b"\x1514"),
        ("power-off; power-up", UNKNOWN, b"\x1514"),
    ],
)
def test_an_angel_eye_answers_commands(
    script: str, command: bytes, answer: bytes, angel_eye: Verbs, tmp_path: Path
) -> None:
    with host(tmp_path) as port:
        say(angel_eye, script)
        port.write(command[:4])
        port.write(command[4:])
        said = port.read(len(answer) if b"\x06" not in answer else 1)
        while said[:1] not in (b"\x06", b"\x15"):  # reports come before
            said = said[1:] + port.read(1)
        assert said == answer


@pytest.mark.parametrize("script", ["mute", "power-off", "unplug-at-shoe"])
def test_a_shoe_that_does_not_answer_says_nothing(script: str, angel_eye: Verbs, pty: PtyLine, tmp_path: Path) -> None:
    with host(tmp_path) as port:
        say(angel_eye, script)
        port.write(UNKNOWN)
        port.timeout = 0.2
        assert port.read(1) == b""
        say(angel_eye, "plug-at-shoe; answer; power-up")
        port.timeout = PATIENCE_S
        port.write(UNKNOWN)
        assert port.read_until(b"14").endswith(b"\x1514"), "the command before was lost, and not kept"


def test_a_cable_that_cannot_be_put_back_is_told(
    angel_eye: Verbs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(angel_eye, "unplug")
    (tmp_path / "shoe").write_text("mine")
    say(angel_eye, "plug; nonsense")
    said = capsys.readouterr().out
    assert "sim_port_taken: " in said
    assert said.endswith("nonsense is not a verb here; `help` shows all verbs\n")


def test_a_real_cable_is_pulled_by_hand() -> None:
    far, near = os.openpty()
    line = SerialLine(os.ttyname(near), 4800)
    verbs = cable_verbs(line)
    assert not CABLE & verbs.keys()
    say(verbs, "noise 0102")
    assert os.read(far, 10) == b"\x01\x02"
    line.unplug()
    os.close(near)
    os.close(far)


def test_every_verb_of_the_shoes_is_tried(angel_eye: Verbs, beetek: Verbs) -> None:
    assert {tried(verb, script) for verb, script, _ in ANGEL_EYE} | CABLE | ANSWERS == angel_eye.keys()
    assert {tried(verb, script) for verb, script, _ in BEETEK} | CABLE == beetek.keys()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("shuffle", "shuffle is not a verb here; `help` shows all verbs"),
        ("draw", "write: draw CARD…"),
        ("unreadable KS 9H", "write: unreadable CARD"),
        ("cut KS", "write: cut"),
        ("draw XS", "draw cannot be done: XS is not a card; write rank then suit: KS 9H TD AC"),
        ("draw K", "draw cannot be done: K is not a card; write rank then suit: KS 9H TD AC"),
        ("draw KSS", "draw cannot be done: KSS is not a card; write rank then suit: KS 9H TD AC"),
        ("unreadable KX", "unreadable cannot be done: KX is not a card; write rank then suit: KS 9H TD AC"),
        ("keep KX", "keep cannot be done: KX is not a card; write rank then suit: KS 9H TD AC"),
        ("lie player KX", "lie cannot be done: KX is not a card; write rank then suit: KS 9H TD AC"),
        ("lie tie KS", "lie cannot be done: there is no tie"),
        ("copies 4 KS", "copies cannot be done: 4 is not a number from 0 to 3"),
        ("copies two KS", "copies cannot be done: two is not a number from 0 to 3"),
        ("outside home", "outside cannot be done: there is no home"),
        ("error 8", "error cannot be done: 8 is not a number from 1 to 7"),
        ("cancel 0", "cancel cannot be done: 0 is not a number from 1 to 7"),
        ("skip -1", "skip cannot be done: -1 is not a number from 0 to 99"),
        ("noise 0g", "noise cannot be done: non-hexadecimal number found in fromhex() arg at position 1"),
    ],
)
def test_a_line_that_cannot_be_done_is_told_and_changes_nothing(
    line: str, told: str, angel_eye: Verbs, pty: PtyLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = heard(angel_eye, f"{line}; draw 4S; ; draw 3D", pty, tmp_path)
    assert AngelEyeCodec().feed(data) == [CardDrawn(Card.parse("4S"), P, 1, Report(3, ANY)), drawn("3D", B, 1)]
    assert [said.rstrip() for said in capsys.readouterr().out.splitlines()] == [told]


@pytest.mark.parametrize("line", ["draw KX", "lose KX", "damage KX", "say Ä"])
def test_the_beetek_tells_what_it_cannot_do(
    line: str, beetek: Verbs, pty: PtyLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert BeeTekCodec().feed(heard(beetek, f"{line}; draw AC", pty, tmp_path)) == [CLUB_ACE]
    assert capsys.readouterr().out.startswith(f"{line.split()[0]} cannot be done: ")


def test_help_names_every_verb(angel_eye: Verbs, capsys: pytest.CaptureFixture[str]) -> None:
    say(angel_eye, "help")
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {*angel_eye, "help"}


def test_lines_that_come_at_once_are_done_at_once(pty: PtyLine, tmp_path: Path) -> None:
    with host(tmp_path) as port, in_conversation(SimulatedAngelEye(pty).verbs()) as writes:
        os.write(writes, b"power-up\ncut\ndr")
        facts = AngelEyeCodec().feed(port.read(2 * 3 * 6))
        assert facts == [ShoePoweredUp(Report(0, ANY)), CutCardDrawn("shoe", Report(1, ANY))]
        os.write(writes, b"aw KS\n")
        assert AngelEyeCodec().feed(port.read(2 * 8))[0] == drawn("KS", Target.FIRST_CARD, 0)


def test_the_lines_may_be_a_file_without_a_last_line_end(
    tmp_path: Path, beetek: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lines").write_text("one\ntwo")
    with (tmp_path / "lines").open() as lines:
        converse(beetek, lines)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["one", "two"]


# The pins: a button and a sensor to ground with a pull-up, a key to 3.3 V with a pull-down, a lamp.

DEAL, SEAT, KEY, LAMP = 22, 17, 26, 9
INPUTS = {
    "deal": {"bcm": DEAL, "active": "low", "pull": "up"},
    "seat_3": {"bcm": SEAT, "active": "low", "pull": "up"},
    "key": {"bcm": KEY, "active": "high", "pull": "down"},
}
LAMPS = {"player": {"bcm": LAMP, "active": "high"}}


@pytest.fixture
def page(tmp_path: Path) -> PinsPage:
    """The file that stands in for the Raspberry Pi's pins, with the pins set up as a table's daemon does it."""
    page = PinsPage(tmp_path / "header")
    for bcm, pull in ((DEAL, PULL_UP), (SEAT, PULL_UP), (KEY, PULL_DOWN)):
        page.set_up(bcm, INPUT, pull)
    page.set_up(LAMP, OUTPUT, 0)
    return page


@pytest.fixture
def pins(page: PinsPage, tmp_path: Path) -> Verbs:
    return pins_verbs(SimulatedPins(tmp_path / "header", LAMPS, INPUTS, sleep=lambda _: None))


PINS = [
    ("press", "press deal", DEAL, 0),
    ("press", "press key", KEY, 1),
    ("release", "press deal; release deal", DEAL, 1),
    ("release", "press key; release key", KEY, 0),
    ("tap", "press deal; tap deal", DEAL, 1),
    ("confirm", "confirm deal", DEAL, 1),
    ("confirm", "confirm deal", KEY, 0),
    ("bounce", "bounce deal", DEAL, 0),
    ("cut", "press deal; cut deal", DEAL, 1),
    ("cut", "press key; cut key", KEY, 0),
    ("cut", "cut key; press key", KEY, 1),
    ("cover", "cover 3", SEAT, 0),
    ("uncover", "cover 3; uncover 3", SEAT, 1),
]


@pytest.mark.parametrize(("verb", "script", "bcm", "level"), PINS)
def test_pins(verb: str, script: str, bcm: int, level: int, pins: Verbs, page: PinsPage) -> None:
    say(pins, script)
    assert page.level(bcm) == level
    idle = {DEAL: 1, SEAT: 1, KEY: 0}
    assert {other: page.level(other) for other in idle if other != bcm} == {o: idle[o] for o in idle if o != bcm}


def test_a_cut_wire_is_driven_by_nothing(pins: Verbs, page: PinsPage) -> None:
    say(pins, "press deal; cut deal")
    page.set_up(DEAL, INPUT, PULL_DOWN)
    assert page.level(DEAL) == 0
    page.set_up(DEAL, INPUT, PULL_UP)
    assert page.level(DEAL) == 1


def test_a_bouncing_contact_chatters_and_ends_pressed(page: PinsPage, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    front = SimulatedPins(
        tmp_path / "header", LAMPS, INPUTS, sleep=lambda s: seen.append((page.level(DEAL), round(s * 1000)))
    )
    say(pins_verbs(front), "bounce deal")
    assert [level for level, _ in seen] == [0, 1, 0, 1, 0, 1]
    assert max(ms for _, ms in seen) < 30 <= sum(ms for _, ms in seen) < 100, "shorter than the debounce, each"
    assert page.level(DEAL) == 0


def test_a_tap_is_pressed_for_as_long_as_a_quick_person_does(page: PinsPage, tmp_path: Path) -> None:
    seen: list[tuple[int, float]] = []
    front = SimulatedPins(tmp_path / "header", LAMPS, INPUTS, sleep=lambda s: seen.append((page.level(DEAL), s)))
    say(pins_verbs(front), "tap deal")
    assert (seen, page.level(DEAL)) == ([(0, 0.08)], 1)


def test_a_second_person_turns_the_key_and_then_holds_the_button(page: PinsPage, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    front = SimulatedPins(
        tmp_path / "header", LAMPS, INPUTS, sleep=lambda _: seen.append((page.level(KEY), page.level(DEAL)))
    )
    say(pins_verbs(front), "confirm deal")
    assert seen == [(0, 1), (1, 1), (1, 0)], "the button is low while it is held"


def test_the_lamps_are_told_over_a_whole_pattern(
    page: PinsPage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at_s = [0.0]

    def sleep(s: float) -> None:
        at_s[0] += s
        page.write(LAMP, blinks and int(at_s[0] % 0.5 >= 0.375))

    front = pins_verbs(SimulatedPins(tmp_path / "header", LAMPS, INPUTS, sleep=sleep))
    blinks = 0
    say(front, "lamps")
    page.write(LAMP, 1)
    blinks = 1
    say(front, "lamps")
    page.write(LAMP, 1)
    say(pins_verbs(SimulatedPins(tmp_path / "header", LAMPS, INPUTS, sleep=lambda _: None)), "lamps")
    dark, blinking, steady = capsys.readouterr().out.splitlines()
    assert (dark, steady) == ("all lamps are dark", "player steady")
    assert re.fullmatch(r"player blinks [34] times in 2 s, lit 2\d% of the time", blinking)


@pytest.mark.parametrize(
    "line", ["press fold", "release fold", "bounce fold", "cut fold", "cover 9", "uncover x", "cut", "lamps on"]
)
def test_an_input_the_table_has_not(line: str, pins: Verbs, page: PinsPage, capsys: pytest.CaptureFixture[str]) -> None:
    say(pins, f"{line}; press deal")
    assert page.level(DEAL) == 0
    assert capsys.readouterr().out.startswith((f"{line.split()[0]} cannot be done: there is no ", "write: "))


def test_an_input_that_is_nearly_one_is_suggested(pins: Verbs, capsys: pytest.CaptureFixture[str]) -> None:
    say(pins, "press dael")
    assert capsys.readouterr().out == "press cannot be done: there is no dael: is deal meant?\n"


def test_every_verb_of_the_pins_is_tried(pins: Verbs) -> None:
    assert {tried(verb, script) for verb, script, _, _ in PINS} | {"lamps"} == pins.keys()


# The pit.

TOPIC = "pit/v1/table-9"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    free = free_port()
    with mosquitto(tmp_path_factory.mktemp("mosquitto"), free):
        yield free


class Table(Peer):
    """A stand-in for a table at the MQTT broker, which sends events and receives acknowledgements."""

    def tell(self, seq: int) -> None:
        event = {"epoch": "e1", "seq": seq, "chain": str(seq) * 64}
        self.publish(f"{TOPIC}/event", json.dumps(event).encode())

    def acked(self) -> tuple[int, str]:
        """Return the next acknowledgement that came, as a pair: the event's number, and the digit of which its chain
        value consists. (In these tests a chain value is one digit 64 times.)"""
        word = json.loads(self.next().payload)
        (digit,) = set(word["chain"])
        assert (word["epoch"], len(word["chain"])) == ("e1", 64)
        return word["seq"], digit


@pytest.fixture
def table(port: int) -> Iterator[Table]:
    with Table(port, f"{TOPIC}/ack") as table:
        yield table
        table.publish(f"{TOPIC}/ack", b"", retain=True)


@pytest.fixture
def taken() -> queue.SimpleQueue[int]:
    """A queue to which the simulated pit adds the number of each event that it commits."""
    return queue.SimpleQueue()


@pytest.fixture
def pit(port: int, taken: queue.SimpleQueue[int]) -> Iterator[Verbs]:
    pit = SimulatedPit("127.0.0.1", port, TOPIC, lambda event: taken.put(event["seq"]))
    yield pit_verbs(pit)
    pit.gone()


PIT = {"silent", "speak", "forget", "claim", "gone", "come"}


def test_the_pit(pit: Verbs, table: Table, taken: queue.SimpleQueue[int]) -> None:
    assert pit.keys() == PIT, "each is tried below"
    table.tell(1)
    assert table.acked() == (1, "1")
    say(pit, "silent")
    table.tell(2)
    table.tell(3)
    assert [taken.get(timeout=PATIENCE_S) for _ in range(3)] == [1, 2, 3]  # and whatever it said to 2 it has said
    say(pit, "claim 9")
    assert table.acked() == (9, "f"), "nothing before it"
    say(pit, "speak")
    assert table.acked() == (3, "3")
    say(pit, "forget 1")
    assert table.acked() == (1, "1")
    say(pit, "forget 0")
    assert table.acked() == (0, "0")
    say(pit, "gone")
    table.tell(1)
    say(pit, "come")
    table.tell(1)  # it is heard once: what was sent while the pit was gone was lost
    assert table.acked() == (1, "1")
    say(pit, "come; claim 9")
    assert table.acked() == (9, "f")
    table.tell(2)
    table.tell(3)
    assert [table.acked(), table.acked()] == [(2, "2"), (3, "3")], "one pit, however often it came"


def test_what_the_pit_cannot_do_is_told(pit: Verbs, table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    say(pit, "claim 1; forget 1; forget -1; claim x; silent now; sing; gone; claim 1; come")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "claim cannot be done: no event has come yet",
        "forget cannot be done: 0 events are committed",
        "forget cannot be done: -1 is not a number from 0 to 999999999",
        "claim cannot be done: x is not a number from 0 to 999999999",
        "write: silent",
        "sing is not a verb here; `help` shows all verbs",
        "claim cannot be done: the pit is not on the broker",
    ]
    table.tell(1)
    assert table.acked() == (1, "1")


def test_a_broker_that_went_is_told_and_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    free = free_port()
    with mosquitto(tmp_path, free):
        verbs = pit_verbs(SimulatedPit("127.0.0.1", free, TOPIC, lambda _: None))
    say(verbs, "come; sing")
    said = capsys.readouterr().out
    assert said.startswith(f"come cannot be done: sim_broker: No broker at 127.0.0.1:{free}: ")
    assert said.endswith("sing is not a verb here; `help` shows all verbs\n")


def _sim_pit(table: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["sim", "pit", str(table)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_no_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    free = free_port()
    said = _sim_pit(simulated_table(tmp_path, free), capsys)
    assert said.startswith(f"sim_broker: No broker at 127.0.0.1:{free}: ")


def test_a_broker_that_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Broker(tmp_path, OPEN.replace("anonymous true", "anonymous false")) as broker:
        said = _sim_pit(simulated_table(tmp_path, broker.port), capsys)
    assert said.startswith("sim_broker_refused: ")
    assert "does not let the simulated pit in: Not authorized.\n" in said


def test_something_that_hangs_up_before_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def hang_up() -> None:
        server.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        other = threading.Thread(target=hang_up)
        other.start()
        said = _sim_pit(simulated_table(tmp_path, server.getsockname()[1]), capsys)
        other.join(PATIENCE_S)
    assert "does not let the simulated pit in: it hung up.\n" in said


def test_a_pit_that_must_prove_itself_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {key: str(tmp_path / key) for key in ("ca", "certificate", "private_key")}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        said = _sim_pit(simulated_table(tmp_path, server.getsockname()[1], pit=files), capsys)
        with pytest.raises(BlockingIOError):  # nobody connected
            server.accept()
    assert said.startswith("sim_pit_tls: ")
    assert "`pitctl run`" in said


def test_a_line_may_end_in_a_comment_and_draw_may_name_several_cards(capsys: pytest.CaptureFixture[str]) -> None:
    drawn: list[str] = []
    verbs = {"draw": Verb("CARD…", "", lambda *cards: drawn.extend(cards)), "cut": Verb("", "", lambda: None)}
    say(verbs, "draw KS 2D  # Player, Banker;# nothing;draw 9S;draw;cut it")
    assert drawn == ["KS", "2D", "9S"]
    assert capsys.readouterr().out.splitlines() == ["write: draw CARD…", "write: cut "]


def test_a_practice_table_is_of_an_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["practice", str(tmp_path), "--game", "roulette"]) == 1
    assert "lucky9, pairs" in capsys.readouterr().err


def test_a_practice_table_needs_a_folder_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["practice", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.startswith("practice_options: ")
