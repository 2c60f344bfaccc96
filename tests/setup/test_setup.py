"""Checks `tablectl setup` with simulated wires: a person tests each wire, and the setup writes the table's file and a
report."""

from __future__ import annotations

import asyncio
import os
import random
import re
import socket
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from controller.basics.errors import TableError
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import load_or_make_key
from controller.daemon.config import load
from controller.people.care import machine as care
from controller.people.care import program
from controller.people.care.libraries import changed
from controller.people.care.row import Row, Verdict
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from controller.people.cli.setup import listening, wizard
from controller.people.cli.setup.broker import ask_broker
from controller.people.cli.setup.draft import Draft
from controller.people.cli.setup.house import read_id
from controller.people.cli.setup.listening import Ear
from controller.people.cli.setup.machine import Machine
from controller.people.cli.setup.questions import Dialogue, TakenBackError, Terminal, flat, read_answers
from controller.people.cli.setup.wizard import setup, verify_report
from drivers.sim.line import PtyLine
from drivers.sim.shoe import maker
from tests.deploy.clean_debian import ROOT
from tests.setup.technician import Technician
from tests.support.brokers import needs_mosquitto
from tests.support.errors import raising
from tests.support.waiting import eventually, eventually_now, run

_LAMPS = ["seat_1", "seat_2", "seat_3", "player", "tie", "banker", "draw_player", "draw_banker", "fault"]
_PINS = [17, 16, 18, 19, 20, 21, 22, 23, 24]
_INPUTS = {"seat_1": 4, "seat_2": 6, "seat_3": 5, "deal": 27, "new_shoe": 11, "key": 3}


_libraries_changed = cache(changed)


@cache
def _packages_compared(machine: care.Machine, check: Callable[[care.Machine], Iterator[Row]]) -> tuple[Row, ...]:
    return tuple(check(machine))


@pytest.fixture(autouse=True)
def _the_system_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the system's libraries and packages once for all tests, because that takes most of a second. No test in this
    file changes one, unlike the tests in `tests/care`."""
    monkeypatch.setattr(program, "changed", _libraries_changed)
    monkeypatch.setattr(program, "system", partial(_packages_compared, check=program.system))


def _folder(tmp_path: Path) -> Path:
    """Return a configuration folder as a new installation leaves it: with game files, but no table's file."""
    (tmp_path / "games").symlink_to(ROOT / "config" / "games")
    return tmp_path


def _says(folder: Path, port: int = 1) -> dict[str, str | list[str]]:
    return {
        "Game ": "royal9",
        "Seats ": "3",
        "Printed at seat 1 ": "kd 9s",
        "Port of the shoe ": str(folder / "shoe"),
        "File in place of the header ": str(folder / "header"),
        "Walk the wiring": "yes",
        "Pins of the lamps ": " ".join(map(str, sorted(_PINS))),
        "Port of the broker ": str(port),
        "Go on all the same ": "yes",
        "Your name": "Smith",
        "File of the commissioning report ": str(folder / "report.html"),
    }


def _technician(folder: Path, breaks_off: str | None = None) -> Technician:
    lamps = dict(zip(_PINS, _LAMPS, strict=True))
    return Technician(folder, _says(folder), lamps, _INPUTS, ("KS", "9H"), breaks_off=breaks_off)


def _ends_not_ready(technician: Technician, table: str) -> None:
    """Run a setup to its end, and check that it says that the table is not ready, because this test has no broker."""
    assert technician.runs("setup", "--table", table) == 1, technician.seen
    assert "The table is NOT ready: the check found a fault at " in technician.seen


def _is_as_its_wires_are(technician: Technician, folder: Path) -> None:
    """Check what a setup has printed and written, after a person has tested each wire of the table."""
    config = load(folder / "table.toml")
    assert {lamp.bcm: name for name, lamp in config.file.pins.lamps.items()} == dict(zip(_PINS, _LAMPS, strict=True))
    assert {name: wired.bcm for name, wired in config.file.pins.inputs.items()} == _INPUTS
    assert {(wired.active, wired.pull) for wired in config.file.pins.inputs.values()} == {("low", "up")}
    assert [str(seat.k9) for seat in config.file.seats] == ["KD 9S", "KS 9S", "KH 9H"]
    assert (config.file.shoe.driver.name, config.file.shoe.port) == ("angel_eye", str(folder / "shoe"))
    assert re.findall(r"the shoe says: ([2-9TJQKA][SHDC])$", technician.seen, re.M) == ["KS", "9H"]
    assert not any(technician.page.output(bcm) for bcm in _PINS), "all lamps are dark at the end"
    assert "Walk the wiring, lamp by lamp and button by button [no]: " in technician.asked, (
        "nobody sees a simulated lamp"
    )
    assert "The table is NOT ready: the check found a fault at " in technician.seen, "the broker is not there"
    report = (folder / "report.html").read_text("utf-8")
    for told in ("Smith", "KD 9S", "BCM 17, pin 11", config.digest, "the table has not been started"):
        assert told in report
    assert technician.runs("check", str(folder / "table.toml")) == 0


@pytest.mark.proof
def test_a_table_is_found_walked_and_written_as_its_wires_are(tmp_path: Path) -> None:
    technician = _technician(_folder(tmp_path))
    _ends_not_ready(technician, str(tmp_path / "table.toml"))
    _is_as_its_wires_are(technician, tmp_path)


@pytest.mark.parametrize(
    "at", [*(pytest.param(at, marks=pytest.mark.proof) for at in ("Seats ", "BCM 19")), "Host of the pit"]
)
def test_broken_off_it_goes_on_with_what_was_answered(tmp_path: Path, at: str) -> None:
    broken = _technician(_folder(tmp_path), breaks_off=at)
    table = str(tmp_path / "table.toml")
    assert broken.runs("setup", "--table", table) is None
    assert not (tmp_path / "table.toml").exists()
    again = _technician(tmp_path)
    _ends_not_ready(again, table)
    answered = {prompt.partition("[")[0] for prompt in broken.asked[:-1]}
    assert answered.isdisjoint(prompt.partition("[")[0] for prompt in again.asked), "nothing is asked twice"
    assert load(tmp_path / "table.toml").file.pins.lamps["seat_2"].bcm == 16


def test_each_time_a_person_says_anew_whether_the_earlier_answers_stand(tmp_path: Path) -> None:
    kept = tmp_path / "setup.answers"
    kept.write_text('setup.goes_on = "no"\ntable.id = "royal9-07"\n', "utf-8")
    technician = Technician(_folder(tmp_path), {}, {}, {}, breaks_off="An earlier setup")
    assert technician.runs("setup", "--table", str(tmp_path / "table.toml")) is None
    assert technician.asked == ["An earlier setup was broken off. Go on with its answers [yes]: "]


def test_each_time_a_person_says_anew_whether_the_running_table_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each setup asks again whether to stop the running table, even if a person once answered "no"."""
    _fleet(_folder(tmp_path), "")
    (tmp_path / "setup.answers").write_text('setup.stop = "no"\ntable.id = "royal9-07"\n', "utf-8")
    running = SimpleNamespace(face=SimpleNamespace(phase="no_shoe"))
    monkeypatch.setattr(wizard, "status_of", lambda _: running)
    with raising("table_runs"):
        setup(tmp_path / "table.toml", None, _Scripted("yes", "no"))
    assert "The table runs. Stop it for the setup [yes]: " in capsys.readouterr().out


@pytest.mark.long
def test_an_answer_is_taken_back_and_no_other_is_asked_again(tmp_path: Path) -> None:
    says = _says(_folder(tmp_path)) | {
        "Name of the table for people": ["back", "Royal nine"],
        "Name of the table at the pit": ["mistaken", "royal9-07"],
        "What locks the wagers": ["back", "deal"],
        "Pins of the lamps ": ["17", " ".join(map(str, sorted(_PINS)))],
        "Your name": ["back", "Smith"],
    }
    lamps = dict(zip(_PINS, _LAMPS, strict=True))
    technician = Technician(tmp_path, says, lamps, _INPUTS, ("KS", "9H"))
    _ends_not_ready(technician, str(tmp_path / "table.toml"))
    times = Counter(prompt.partition(" [")[0] for prompt in technician.asked)
    twice = {
        "Name of the table for people",
        "Name of the table at the pit",
        "Pins of the lamps",
        "What locks the wagers",
        "Your name, for the report",
    }
    assert {prompt for prompt, count in times.items() if count > 1} == twice | {"BCM 17, pin 11: which lamp is lit"}
    config = load(tmp_path / "table.toml")
    assert (config.file.table.id, config.file.table.name) == ("royal9-07", "Royal nine")
    assert {"player", "fault"} <= config.file.pins.lamps.keys(), "the lamps are walked again on the right pins"
    assert "heard at" in (tmp_path / "report.html").read_text("utf-8"), "the shoe is not asked for again"
    assert "pulled and put back, and the table saw both" in (tmp_path / "report.html").read_text("utf-8")
    _is_as_its_wires_are(technician, tmp_path)


def test_in_a_setup_that_goes_on_an_answer_is_taken_back_too(tmp_path: Path) -> None:
    into, typed = os.pipe()
    try:
        os.write(typed, b"broker.wrong\nback\nbroker.pit\n8883\n")
        dialogue = Dialogue(Terminal(into), {}, {}, tmp_path / "kept")
        dialogue.answers = {"table.id": "royal9-07"}
        keys = ("table.id", "pit.host", "pit.port")
        with pytest.raises(TakenBackError):
            [dialogue.ask(key, key, "", "", str) for key in keys]
        assert [dialogue.ask(key, key, "", "", str) for key in keys] == ["royal9-07", "broker.pit", "8883"]
    finally:
        os.close(into)
        os.close(typed)


def test_after_an_answer_was_taken_back_a_broker_that_does_not_answer_is_asked_for_again(tmp_path: Path) -> None:
    person = _Scripted("127.0.0.2", "no", "back", "no", "1", "", "no", "127.0.0.1", "no", "1", "", "yes")
    dialogue = Dialogue(person, {}, {}, tmp_path / "kept")
    values = Draft(table={"id": "royal9-01"})
    with pytest.raises(TakenBackError):
        ask_broker(dialogue, tmp_path, values)
    ask_broker(dialogue, tmp_path, values)
    assert values.pit["host"] == "127.0.0.1"


def test_where_a_broker_is_asked_for_again_back_takes_the_answer_before_the_broker_back(tmp_path: Path) -> None:
    person = _Scripted("royal9-07", "127.0.0.2", "no", "1", "", "no", "back")
    dialogue = Dialogue(person, {}, {}, tmp_path / "kept")
    values = Draft(table={"id": dialogue.ask("table.id", "Name", "", "", read_id)})
    with pytest.raises(TakenBackError):
        ask_broker(dialogue, tmp_path, values)
    assert not dialogue.answers


def test_after_a_break_no_answer_stands_that_was_only_proposed_or_was_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _fleet(_folder(tmp_path), "")
    table = tmp_path / "table.toml"
    with pytest.raises(IndexError):  # the person goes away
        setup(table, None, _Scripted("", "mistaken", "back"))
    capsys.readouterr()
    with pytest.raises(IndexError):
        setup(table, None, _Scripted("yes", "royal9-07"))
    asked = re.findall(r"^(.+) \[(.+)\]: $", capsys.readouterr().out, re.M)
    assert asked[1:] == [
        ("Name of the table at the pit", "royal9-01"),
        ("Name of the table for people", "Royal 9 Mini Baccarat, table 1"),
    ]


def test_a_lamp_that_nobody_looked_at_was_not_seen(tmp_path: Path) -> None:
    lamps = {17: ["", "yes"]} | dict(zip(_PINS[1:], _LAMPS[1:], strict=True))
    technician = Technician(_folder(tmp_path), _says(tmp_path) | {"Try the plug ": "no"}, lamps, {}, ("KS",))
    _ends_not_ready(technician, str(tmp_path / "table.toml"))
    assert "Answer yes for seat_1, or one of: " in technician.seen
    assert load(tmp_path / "table.toml").file.pins.lamps["seat_1"].bcm == 17
    assert "The table has none of these inputs: seat_1, seat_2, seat_3, deal, " in technician.seen


def test_an_existing_file_is_shown_as_a_difference_and_stays_without_a_yes(tmp_path: Path) -> None:
    _fleet(_folder(tmp_path), "")
    before = (tmp_path / "table.toml").read_text("utf-8")
    (tmp_path / "table.toml").write_text(before.replace("[pins]\n", "[pins]\ndebounce_ms = 45\n"), "utf-8")
    changed = (tmp_path / "table.toml").read_text("utf-8")
    with raising("setup_not_replaced"):
        _fleet(tmp_path, 'table.name = "Another"')
    assert (tmp_path / "table.toml").read_text("utf-8") == changed
    _fleet(tmp_path, 'table.name = "Another"\nsetup.replace = "yes"')
    file = load(tmp_path / "table.toml").file
    assert (file.table.name, file.pins.debounce_ms) == ("Another", 45), "what no question asks for stays"
    assert (tmp_path / "table.toml.before").read_text("utf-8") == changed


@pytest.mark.long
def test_a_file_that_was_not_replaced_is_shown_again_when_the_setup_goes_on(tmp_path: Path) -> None:
    _fleet(_folder(tmp_path), "")
    says = _says(tmp_path) | {"Walk the wiring": "no", "Seats ": "2", "Try the plug ": "no"}
    refused = Technician(tmp_path, says, {}, {})
    assert refused.runs("setup", "--table", str(tmp_path / "table.toml")) == 1, refused.seen
    again = Technician(tmp_path, says | {"Write the new file": "yes"}, {}, {})
    _ends_not_ready(again, str(tmp_path / "table.toml"))
    assert again.asked[1].startswith("Write the new file in its place")
    assert len(load(tmp_path / "table.toml").file.seats) == 2


def _fleet(folder: Path, more: str, game: str = "royal9") -> int:
    """Run a setup that takes its answers from a file, with nobody at a terminal. The file has the usual answers for a
    table of the game `game`, and the lines `more`. Return the setup's exit code."""
    shoe = tomllib.loads((ROOT / "config" / "tables" / f"{game}.toml").read_text("utf-8"))["shoe"]["driver"]
    answers = folder / "fleet"
    answers.write_text(
        f'table.game = "{game}"\nshoe.driver = "{shoe}"\n'
        f'pins.driver = "rpi_gpio"\nsetup.report = "{folder}/report.html"\n{more}\n'
        + ("" if "setup.shoe" in more else 'setup.shoe = "/dev/shoe"\n'),
        "utf-8",
    )
    return setup(folder / "table.toml", answers, None)


@pytest.mark.parametrize(("verdict", "code"), [(Verdict.OK, 0), (Verdict.FAULT, 1)])
def test_a_table_that_is_not_ready_is_told_by_the_exit_code_too(
    verdict: Verdict, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "controller.people.cli.setup.wizard.examine_here", lambda _: [Row("broker", verdict, "code", "said")]
    )
    assert _fleet(_folder(tmp_path), "") == code


@pytest.mark.parametrize(
    "game",
    ["sugarhouse", *(pytest.param(game, marks=pytest.mark.proof) for game in ("royal9", "baccarat_royal", "lucky9"))],
)
def test_with_defaults_alone_every_games_table_has_no_mistake(tmp_path: Path, game: str) -> None:
    _fleet(_folder(tmp_path), "", game)
    file = load(tmp_path / "table.toml").file
    with (ROOT / "config" / "tables" / f"{game}.toml").open("rb") as example:
        pins = tomllib.load(example)["pins"]
    assert {name: lamp.bcm for name, lamp in file.pins.lamps.items()} == {
        name: lamp["bcm"] for name, lamp in pins["lamps"].items()
    }
    needless = {"cut_card"} - file.shoe.driver.buttons.keys()
    assert file.pins.inputs.keys() == pins["inputs"].keys() - needless


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('table.id = "Royal 9"', "answer_wrong"),
        ('seats.numbers = "9"', "answer_wrong"),
        ('seats.1.k9 = "KS 9S"\nseats.2.k9 = "KS 9S"', "answer_wrong"),
        ('pins.lamps.seat_1 = "16 bright"', "answer_wrong"),
        ('pins.lamps.seat_1 = "16 high"\npins.lamps.seat_2 = "16 high"', "setup_not_written"),
        ('pit.host = "127.0.0.1"\nsetup.networks = "10.0.0.0/40"', "answer_wrong"),
        ("not TOML", "answers_unreadable"),
    ],
)
def test_no_file_is_ever_written_with_a_mistake_in_it(tmp_path: Path, more: str, code: str) -> None:
    with raising(code):
        _fleet(_folder(tmp_path), more)
    assert not (tmp_path / "table.toml").exists()
    assert not (tmp_path / "table.toml.new").exists()


def test_without_a_terminal_and_answers_it_says_so(tmp_path: Path) -> None:
    with raising("no_terminal"):
        setup(_folder(tmp_path) / "table.toml", None, None)


def test_the_kept_answers_are_the_answers_of_the_next_table(tmp_path: Path) -> None:
    _fleet(_folder(tmp_path), "")
    first = (tmp_path / "table.toml").read_text("utf-8")
    kept = tmp_path / "setup.answers"
    assert read_answers(kept)["setup.done"] == "yes"
    (tmp_path / "table.toml").unlink()
    setup(tmp_path / "table.toml", kept.rename(tmp_path / "next"), None)
    assert (tmp_path / "table.toml").read_text("utf-8") == first


def test_a_broker_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _fleet(_folder(tmp_path), "pit.port = 1")
    assert "127.0.0.1:1 does not answer: Connection refused." in capsys.readouterr().out
    with socket.create_server(("127.0.0.1", 0)) as broker:
        _fleet(tmp_path, f'pit.port = {broker.getsockname()[1]}\nsetup.replace = "yes"')
        assert "answers." in capsys.readouterr().out


class _Started(Machine):
    """A stand-in for the machine, without systemd. It starts the table as a process, which ends when the exit stack
    `stack` is closed."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__(folder / "units")
        self._folder, self._stack = folder, stack
        self.networks: Sequence[str] = ()
        self.process: subprocess.Popen[bytes] | None = None

    def has_unit(self) -> bool:
        return True

    def start(self) -> bool:
        run = programs.python("-m", "controller.people.cli.main", "run", str(self._folder / "table.toml"))
        self.process = self._stack.enter_context(programs.started(run, self._folder / "table.log"))
        eventually_now(self._answers)
        return True

    def _answers(self) -> bool:
        try:
            return bool(ask(self._folder / "table.toml", {"do": "status"}))
        except TableError:
            return False

    def stop(self) -> bool:
        assert self.process is not None
        return programs.stop(self.process) == 0


@contextmanager
def _running(folder: Path) -> Iterator[_Started]:
    """Run a table that a setup has started, with its broker and its pit. Yield the machine."""
    port = programs.free_port()
    with ExitStack() as stack:
        stack.enter_context(programs.mosquitto(folder, port))
        stack.enter_context(programs.pit(folder, port, folder / "ledger"))
        line = PtyLine(folder / "shoe")
        stack.callback(line.unplug)
        maker("angel_eye")(line)  # answers the table's questions, so that nobody waits for it in vain
        machine = _Started(folder, stack)
        places = (
            f'journal.path = "{folder}/journal"\njournal.signing_key = "{folder}/key"\n'
            f'control.socket = "{folder}/sock"\npins.page = "{folder}/header"\npit.port = {port}\n'
        )
        text = f'table.game = "royal9"\nsetup.shoe = "{folder}/shoe"\npins.driver = "simulated"\n{places}'
        text += f'setup.report = "{folder}/report.html"\nsetup.networks = "10.20.0.0/16"\nsetup.replace = "yes"\n'
        (folder / "fleet").write_text(text)
        setup(folder / "table.toml", folder / "fleet", None, machine)
        yield machine


@needs_mosquitto
def test_the_started_table_is_reported_under_its_own_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path)
    with _running(folder) as machine:
        told = capsys.readouterr().out
        key = fingerprint(load_or_make_key(folder / "key").public)
        pit_key = status_of(folder / "table.toml").pit.key
        assert f"The table's key: {key}." in told
        assert f"The pit's key:   {pit_key.offered}." in told
        assert pit_key.pinned is None, "nobody compared it"
        unit = (folder / "units" / "table-controller.service.d" / "50-networks.conf").read_text("utf-8")
        assert unit.splitlines()[1:] == ["[Service]", "IPAddressDeny=any", "IPAddressAllow=localhost 10.20.0.0/16"]
        report = folder / "report.html"
        assert key in report.read_text("utf-8")
        assert verify_report(report) == 0
        good = report.read_text("utf-8")
        for forged in _forged(good):
            assert forged != good
            report.write_text(forged, "utf-8")
            with raising("report_altered"):
                verify_report(report)
        fleet = (folder / "fleet").read_text("utf-8")
        (folder / "fleet").write_text(fleet.replace("10.20.0.0/16", "any"), "utf-8")
        setup(folder / "table.toml", folder / "fleet", None, machine)  # between shoes the table is stopped for it
        assert "50-networks.conf" not in capsys.readouterr().out
        assert verify_report(report) == 0
        ask(folder / "table.toml", {"do": "new_shoe", "by": "Smith"})
        with raising("shoe_is_open"):
            setup(folder / "table.toml", folder / "fleet", None, machine)


def test_networks_without_a_limit_leave_no_line_in_the_unit(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    path = machine.allow(["10.0.0.1"])
    assert path.exists()
    machine.allow(["any"])
    assert not path.exists()


class _Scripted(Terminal):
    """A stand-in for a terminal at which a person gives these answers, one after the other."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self._lines = [*lines]

    def line(self, prompt: str) -> str:
        print(prompt)
        return self._lines.pop(0)

    def line_within(self, seconds: float | None) -> str | None:
        return None


def test_a_question_explains_itself_and_comes_again_after_a_wrong_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dialogue = Dialogue(_Scripted("?", "Royal 9", "pit", ""), {}, {}, tmp_path / "kept")
    assert dialogue.ask("table.id", "Name", "It stands in each message.", "royal9-01", read_id) == "royal9-01"
    told = capsys.readouterr().out
    assert "  It stands in each message." in told
    assert "'Royal 9' cannot be part of a topic" in told
    assert "'pit' is the name of the pit's program" in told


def test_a_broker_that_does_not_answer_is_asked_for_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker:
        port = str(broker.getsockname()[1])
        person = _Scripted("127.0.0.1", "no", "1", "", "no", "127.0.0.1", "no", port, "")
        values = Draft(table={"id": "royal9-01"})
        told = ask_broker(Dialogue(person, {}, {}, tmp_path / "kept"), tmp_path, values)
    assert f"127.0.0.1:{port} answers." in told
    assert values.pit["port"] == int(port)
    assert "127.0.0.1:1 does not answer" in capsys.readouterr().out


def test_the_list_of_revoked_certificates_stays_where_tls_does(tmp_path: Path) -> None:
    for name in ("ca", "crt", "key"):
        (tmp_path / name).touch()
    files = [str(tmp_path / name) for name in ("ca", "crt", "key")]
    values = Draft(table={"id": "royal9-01"}, pit={"crl": "/house.crl"})
    person = _Scripted("127.0.0.1", "yes", "1", *files, "", "yes", "127.0.0.1", "no", "1", "", "yes")
    ask_broker(Dialogue(person, {}, {}, tmp_path / "kept"), tmp_path, values)
    assert values.pit["crl"] == "/house.crl"
    ask_broker(Dialogue(person, {}, {}, tmp_path / "kept"), tmp_path, values)
    assert "crl" not in values.pit


def test_several_brokers_of_the_tables_file_stay_and_can_become_one(tmp_path: Path) -> None:
    pit: dict[str, object] = {"hosts": ["127.0.0.1", "127.0.0.2"]}
    values = Draft(table={"id": "royal9-01"}, pit=pit, shoe={"port": "/dev/shoe"})
    person = _Scripted("", "", "1", "", "yes", "127.0.0.1 127.0.0.1", "127.0.0.1", "no", "1", "", "yes")
    told = ask_broker(Dialogue(person, {}, {}, tmp_path / "kept"), tmp_path, values)
    assert "127.0.0.1:1 does not answer" in told
    assert "127.0.0.2:1 does not answer" in told
    assert (pit["hosts"], "host" in pit) == (("127.0.0.1", "127.0.0.2"), False)
    ask_broker(Dialogue(person, {}, {}, tmp_path / "kept"), tmp_path, values)
    assert (pit["host"], "hosts" in pit) == ("127.0.0.1", False)


def test_a_beetek_is_told_from_an_angel_eye_after_bytes_of_another_speed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = PtyLine(tmp_path / "shoe")
    ear, dealer = Ear(), maker("beetek")(line)

    def noise_was_heard() -> bool:
        line.write(bytes([0xF0, 0x1E] * 20))
        return "trying the next speed" in capsys.readouterr().out

    def card_was_heard() -> bool:
        dealer.draw("KS")
        return ear.heard is not None

    async def hears() -> None:
        listening = asyncio.create_task(ear.hear(str(tmp_path / "shoe")))
        await eventually(noise_was_heard)
        await eventually(card_was_heard)
        listening.cancel()

    try:
        run(hears())
    finally:
        line.unplug()
    assert ear.heard is not None
    assert (ear.heard.driver, ear.heard.baud, set(ear.heard.cards)) == ("beetek", 9600, {"KS"})


def test_a_fleets_shoe_is_the_one_adapter_that_is_plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapters = tmp_path / "by-id"
    adapters.mkdir()
    monkeypatch.setattr(listening, "_BY_ID", adapters)
    monkeypatch.setattr(listening, "_HEADER_PORT", tmp_path / "none")
    find = 'setup.shoe = "find"'
    with pytest.raises(TableError) as none:
        _fleet(_folder(tmp_path), find)
    (adapters / "one").touch()
    _fleet(tmp_path, find)
    assert load(tmp_path / "table.toml").file.shoe.port == str(adapters / "one")
    (tmp_path / "table.toml").unlink()
    (adapters / "two").touch()
    with pytest.raises(TableError) as several:
        _fleet(tmp_path, find)
    assert {none.value.code, several.value.code} == {"answer_missing"}


def test_the_pages_answers_for_a_fleet_are_ones_that_a_setup_asks_for(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "commission.md").read_text("utf-8")
    shown = tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])
    _fleet(_folder(tmp_path), "")
    assert flat(shown).keys() <= read_answers(tmp_path / "setup.answers").keys()


def test_a_file_of_answers_with_a_word_that_nobody_asks_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    answers = tmp_path / "fleet"
    answers.write_text('setup.networs = "any"\ntable.gaem = "royal9"\nseats.1.k9 = "KS 9S"\n', "utf-8")
    with raising("answers_unknown") as error:
        setup(tmp_path / "table.toml", answers, None)
    assert "there is no key setup.networs, is setup.networks meant?" in str(error.value)
    assert "there is no key table.gaem, is table.game meant?" in str(error.value)
    assert "seats.1.k9" not in str(error.value)
    answers.write_text('setup.networs = ["10.0.0.0/8"]\nshoe.bauds = 4.8\nseats = ["1"]\n', "utf-8")
    with raising("answers_unknown") as error:
        setup(tmp_path / "table.toml", answers, None)
    assert "setup.networs" in str(error.value)
    assert "shoe.bauds" in str(error.value)
    assert "no key seats, is" in str(error.value)
    assert flat({"pit": {"host": ["one.pit", "two.pit"]}}) == {"pit.host": "one.pit two.pit"}
    assert [*tmp_path.iterdir()] == [answers]


def _forged(page: str) -> list[str]:
    """Return forged copies of the report's page, each with one change: a cell, a heading, a style or a script."""
    changes = {
        "<td>KS 9S": "<td>KS 9C",
        '"KS 9S"': '"KS 9C"',
        "<title>Comm": "<title>Not comm",
        "<h1>": "<h1>Not the ",
        "<h2>Lamps": "<h2>Inputs",
        "th { width": "td { visibility: hidden } th { width",
        "</body>": "<script>document.title = 1</script></body>",
        "</html>\n": "</html>",
    }
    shown = page.index("<script")
    places = random.Random(5).sample(range(shown), 12)
    letters = [page[:place] + chr(ord(page[place]) ^ 1) + page[place + 1 :] for place in places]
    spaced = page[:shown] + page[shown:].replace('", "', '",  "', 1)
    return [page.replace(old, new) for old, new in changes.items() if old in page] + letters + [spaced]
