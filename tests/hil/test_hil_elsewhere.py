"""Checks the bench as other people use it: from another repository, with GPIO pins that are wired with jumpers, and
with wrong options.

Each test runs a pytest of its own in an empty folder.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from controller.bench.daemon import ROOT, Broker, TableFiles
from controller.bench.jumpers import Jumpers
from controller.daemon import config
from controller.people.cli import programs
from drivers.sim.pins import OUTPUT, PinsPage
from tests.hil.elsewhere import A_ROUND, run_elsewhere, run_pytest, told_elsewhere
from tests.support import samples

JUMPERS = ROOT / "controller" / "bench" / "jumpers.toml"

_SEAT_3 = """
def test_seat_3(table, dealer):
    dealer.open_shoe()
    dealer.lock(3)
"""


@pytest.mark.proof
def test_the_bench_runs_from_any_folder(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, str(ROOT / "tests" / "hil" / "test_hil_story.py"), "-k", "first_card_announces")
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_a_section_that_the_examples_leave_out_comes_into_the_game_file(tmp_path: Path) -> None:
    files = TableFiles(tmp_path, "quarters", 1883, None, game={"rounding": {"unit_cents": 25, "pays": "up"}})
    assert config.load(files.for_people).rules.rounding.unit_cents == 25


@contextmanager
def _wired(page: PinsPage, jumpers: Jumpers) -> Iterator[None]:
    """Simulate jumper wires between GPIO pins during the block: the level that is written at one end of a wire is
    driven at the other end."""
    ways = [(one, other) for jumper in jumpers.all() for one, other in _both_ways(jumper.table, jumper.bench)]
    closing = threading.Event()

    def carry() -> None:
        while not closing.wait(0.001):
            for from_, to in ways:
                page.drive(to, page.output(from_) if page.function(from_) == OUTPUT else None)

    carrying = threading.Thread(target=carry, name="jumpers", daemon=True)
    carrying.start()
    yield
    closing.set()
    carrying.join()


def _both_ways(one: int, other: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one, other), (other, one)


@pytest.mark.proof
def test_a_jumpered_header_plays_what_it_has_pins_for(tmp_path: Path, shim: Path | None) -> None:
    """Over jumper wires between GPIO pins, a test can play everything for which there are enough pins. Bench and daemon
    share the pins of one machine, each through the real RPi.GPIO. The registers and the wires are simulated."""
    if shim is None:
        pytest.skip("no shim here: there is no C compiler or no RPi.GPIO, or the header is a real one")
    real = ("--gpio", "real", "--jumpers", str(JUMPERS))
    preloaded = {"LD_PRELOAD": str(shim), "TABLE_PINS_PAGE": str(tmp_path / "header"), "CI": ""}
    with _wired(PinsPage(tmp_path / "header"), Jumpers.read(JUMPERS)):
        run = run_elsewhere(tmp_path, A_ROUND + _SEAT_3, *real, **preloaded)
    assert run.returncode == 0, run.stdout
    assert "1 passed, 1 skipped" in run.stdout
    assert "no seat_3 here" in run.stdout
    assert "header real, 13 jumpers" in run.stdout


@pytest.mark.proof
def test_without_a_pi_a_jumpered_header_is_skipped_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "RPi").mkdir()
    refusal = "This module can only be run on a Raspberry Pi!"
    (tmp_path / "RPi" / "GPIO.py").write_text(f"raise RuntimeError({refusal!r})\n", "utf-8")
    (tmp_path / "RPi" / "__init__.py").touch()
    run = run_elsewhere(tmp_path, A_ROUND, "--gpio", "real", "--jumpers", str(JUMPERS), CI="")
    assert run.returncode == 0, run.stdout
    assert "1 skipped" in run.stdout
    assert f"RPi.GPIO refuses this machine: {refusal}" in run.stdout


_NO_MOSQUITTO = """
import shutil

which = shutil.which
shutil.which = lambda program, *a, **k: None if program == "mosquitto" else which(program, *a, **k)
"""
"""A conftest.py that hides Mosquitto: it is looked for in /usr/sbin too, so the path alone cannot."""


@pytest.mark.proof
def test_without_mosquitto_a_test_is_skipped_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_NO_MOSQUITTO, "utf-8")
    run = run_elsewhere(tmp_path, "def test_none(broker): pass", CI="")
    assert run.returncode == 0, run.stdout
    assert "1 skipped" in run.stdout
    assert "Mosquitto, the MQTT broker, is not installed." in run.stdout
    assert "mosquitto-absent" in run.stdout


_WRONG_NAMES = """
import pytest
one_deck = pytest.mark.table(game={"shoe": {"decks": 1}})
def test_a_lamp(pins): pins.lamp("draw_playr")
def test_a_button(pins): pins.press("deel")
def test_a_seat(pins): pins.cover(9)
def test_a_card(shoe): shoe.deal("1S")
def test_a_fault(eventually): eventually.wait_for_fault("shoe_unheart")
def test_an_act(unstarted_table): unstarted_table.supervisor("clera")
def test_an_argument(unstarted_table): unstarted_table.supervisor("count", cards=397)
def test_an_event(pit): pit.told("viod")
@pytest.mark.table(example="lucky8")
def test_an_example(table_files): pass
@pytest.mark.table(shoe={"driver": "bee"})
def test_a_brand(table_files): pass
def test_a_command(unstarted_table): unstarted_table.tablectl("rounds")
@pytest.mark.table(pitt={"port": 1})
def test_a_section(table_files): pass
@pytest.mark.table(game={"shoo": {"decks": 1}})
def test_a_games_section(table_files): pass
@pytest.mark.table(game="games/royal9.toml")
def test_a_whole_game(table_files): pass
@pytest.mark.table(pit="127.0.0.1")
def test_no_section(table_files): pass
@pytest.mark.bench_tabel(pit={"stale_after_s": 1})
def test_a_mark(): pass
def test_a_moment(bench_wait): bench_wait(True)
def test_a_target(shoe): shoe.draw("KS", target="player")
@one_deck
def test_a_stop(table, dealer): dealer.open_shoe("2C", "KC KC")
@one_deck
def test_a_wait(table, dealer, eventually):
    dealer.open_shoe()
    eventually(lambda: table.phase == "wagers_locked", within_s=0)
def test_a_wait_of_the_dealers(table, eventually, monkeypatch):
    monkeypatch.setattr(eventually, "_patience_s", 0.1)
    eventually.unless_stopped("the shoe is open", lambda: table.phase == "wagers_open", None)
"""


def test_a_typo_is_an_error_that_says_what_was_meant_and_a_failure_is_short(tmp_path: Path) -> None:
    few = "test_a_lamp or test_an_argument or test_a_brand or test_a_wait or test_a_mark or test_a_whole"
    some = () if samples.at_length else ("-k", f"({few}) and not dealers")
    run = run_elsewhere(tmp_path, _WRONG_NAMES, *some, CI="")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    ended = "3 failed, 15 deselected, 1 warning, 3 errors" if some else "14 failed, 1 warning, 7 errors"
    assert ended in run.stdout, run.stdout
    if not some:
        _says_what_each_meant(run.stdout)
    for meant in (
        "lamp 'draw_playr' there. Did you mean draw_player?",
        "count is not asked for with cards. Its arguments: left.",
        "No shoe is called 'bee', is beetek meant?",
        "The bench has no mark bench_tabel, is bench_table meant?",
        "'games/royal9.toml' is not what changes in a game's file.",
    ):
        assert meant in run.stdout, (meant, run.stdout)
    failure = run.stdout.partition("_ test_a_wait _")[2].partition("E ")[2].partition("test_other.py:")[0]
    assert 'not true within 0 s: eventually(lambda: table.phase == "wagers_locked"' in failure
    assert "table: wagers_open, no fault; " in failure
    assert len(failure.strip().splitlines()) <= 11, failure


def _says_what_each_meant(told: str) -> None:
    for meant in (
        "lamp 'draw_playr' there. Did you mean draw_player?",
        "'deel' there. Did you mean deal?",
        "'seat_9' there. Did you mean seat_",
        "1S is not a card; write rank then suit: KS 9H TD AC",
        "No fault is called 'shoe_unheart'. Did you mean shoe_unheard?",
        'No act is called \'clera\', is clear meant? Write for example: supervisor("card", card="8S")',
        "count is not asked for with cards. Its arguments: left.",
        "No event has the type 'viod', is void meant?",
        "No example table is called 'lucky8', is lucky9 meant?",
        "No shoe is called 'bee', is beetek meant?",
        "tablectl rounds failed with exit code 1:",
        "A table's file has no section pitt, is pit meant?",
        "A game's file has no section shoo, is shoe meant?",
        "'games/royal9.toml' is not what changes in a game's file.",
        "'127.0.0.1' is not what changes in the section pit.",
        "The bench has no mark bench_tabel, is bench_table meant?",
        "What is awaited is a function, and not True: eventually(lambda: ...).",
        "'player' is no Target: write Target.PLAYER.",
        "the table stopped by the fault impossible_card before this: ",
        "not true within 0.1 s: the shoe is open",
    ):
        assert meant in told, (meant, told)


@pytest.mark.proof
def test_a_mosquitto_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    hidden = _NO_MOSQUITTO.replace("None", repr("/bin/false"))
    (tmp_path / "conftest.py").write_text(hidden, "utf-8")
    run = run_elsewhere(tmp_path, "def test_none(broker): pass", CI="")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 error" in run.stdout
    assert "mosquitto_failed" in run.stdout


@pytest.mark.proof
def test_a_named_broker_that_does_not_answer_is_skipped_and_says_why(tmp_path: Path) -> None:
    named = f"127.0.0.1:{programs.free_port()}"
    run = run_elsewhere(tmp_path, "def test_none(broker): pass", "--broker", named, CI="")
    assert run.returncode == 0, run.stdout
    assert "1 skipped" in run.stdout
    assert f"the broker at {named} does not answer: " in run.stdout
    assert "refused" in run.stdout


@pytest.mark.proof
@pytest.mark.parametrize(
    ("shoe", "table_port", "told"),
    [
        ("/dev/no-shoe", "/dev/null", "the simulated shoe cannot open /dev/no-shoe: "),
        ("loop://", "/dev/no-table", "There is no /dev/no-table, the table's end of the cable"),
    ],
)
def test_a_cable_end_that_is_not_there_is_skipped_and_named(
    shoe: str, table_port: str, told: str, tmp_path: Path
) -> None:
    cable = ("--shoe", shoe, "--table-port", table_port)
    run = run_elsewhere(tmp_path, "def test_none(shoe_line): pass", *cable, CI="")
    assert run.returncode == 0, run.stdout
    assert "1 skipped" in run.stdout
    assert told in run.stdout
    assert f"bench: the shoe on {shoe} to {table_port}, broker" in run.stdout


@pytest.mark.proof
@pytest.mark.parametrize(("ci", "options"), [("true", ()), ("", ("--bench-strict",))])
def test_what_is_absent_fails_where_the_bench_is_strict(ci: str, options: tuple[str, ...], tmp_path: Path) -> None:
    named = f"127.0.0.1:{programs.free_port()}"
    run = run_elsewhere(tmp_path, "def test_none(broker): pass", "--broker", named, *options, CI=ci)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"the broker at {named} does not answer: " in run.stdout
    assert "without --bench-strict this test is skipped" in run.stdout


@pytest.mark.proof
def test_the_head_says_when_the_real_rpi_gpio_is_driven(tmp_path: Path, shim: Path | None) -> None:
    if shim is None:
        pytest.skip("no shim here: there is no C compiler or no RPi.GPIO, or the header is a real one")
    run = run_elsewhere(tmp_path, "def test_none(shim): assert shim.is_file()")
    assert run.returncode == 0, run.stdout
    assert re.search(r", header simulated: real RPi.GPIO over the pins page$", run.stdout, re.M)


@pytest.mark.proof
def test_without_a_compiler_the_head_says_that_rpi_gpio_is_imitated(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    run = run_elsewhere(tmp_path, "def test_none(shim): assert shim is None", PATH=str(tmp_path / "nothing"))
    assert run.returncode == 0, run.stdout
    assert re.search(r", header simulated: imitated RPi.GPIO: no C compiler: cc is not on the path$", run.stdout, re.M)
    assert "commit unknown" in run.stdout


_WRONG_OPTIONS = [
    (["--broker", "mqtt://ann:secret@pit.example"], "has no passwords"),
    (["--broker", "mqtts://ann:secret@pit.example"], "has no passwords"),
    (["--broker", "http://pit.example"], "mqtt://HOST"),
    (["--broker", "mqtt://pit.example:many"], "not an address of a broker"),
    (["--broker", "mqtt://pit.example:70000"], "not an address of a broker"),
    (["--broker", "mqtt://pit.example:0"], "not an address of a broker"),
    (["--broker", "mqtt://pit.example/pit"], "not an address of a broker"),
    (["--broker", ":1883"], "not an address of a broker"),
    (["--gpio", "real"], "needs its jumpers"),
    (["--gpio", "real", "--jumpers", "absent.toml"], "absent.toml does not name jumpers"),
    (["--gpio", "real", "--jumpers", "twice.toml"], "BCM 5 is not on the header, or is used twice"),
    (["--gpio", "real", "--jumpers", "unknown.toml"], "a table has no lamp or input 'seat_9'"),
    (["--shoe", "/dev/null"], "a cable has two ends"),
    # What there is one of, workers cannot share.
    (["--shoe", "/dev/null", "--table-port", "/dev/null", "-n", "2"], "the cable is for one table, so one test runs"),
    (["--gpio", "real", "--jumpers", str(JUMPERS), "-n", "2"], "the header is for one table, so one test runs"),
]


def test_wrong_options_are_told_before_anything_runs_and_a_strict_bench_fails_by_what_is_absent(tmp_path: Path) -> None:
    (tmp_path / "twice.toml").write_text("lamps.tie = {table = 5, bench = 6}\ninputs.deal = {table = 5, bench = 7}\n")
    (tmp_path / "unknown.toml").write_text("lamps.seat_9 = {table = 5, bench = 6}\ninputs = {}\n")
    tried = _WRONG_OPTIONS if samples.at_length else _WRONG_OPTIONS[::3]
    named = f"127.0.0.1:{programs.free_port()}"
    strict = ["--broker", named, "--bench-strict"]
    *calls, (failed, absent) = told_elsewhere(tmp_path, [*(options for options, _ in tried), strict], CI="")
    for (options, told), (code, said) in zip(tried, calls, strict=True):
        assert (code, told in said) == (pytest.ExitCode.USAGE_ERROR, True), (options, said)
        assert "secret" not in said
    assert failed == pytest.ExitCode.TESTS_FAILED, absent
    assert f"the broker at {named} does not answer: " in absent
    assert "without --bench-strict this test is skipped" in absent


@pytest.mark.proof
@pytest.mark.parametrize(
    ("form", "tests"),
    [
        ("mqtt://{host}:{port}", "def test_none(broker): pass"),
        ("{host}:{port}", A_ROUND),
        ("mqtt://{host}:{port}", A_ROUND),
    ],
)
def test_a_broker_that_runs_is_used(form: str, tests: str, tmp_path: Path, broker: Broker) -> None:
    run = run_elsewhere(tmp_path, tests, "--broker", form.format(host=broker.host, port=broker.port))
    assert run.returncode == 0, run.stdout
    assert f"broker {broker.host}:{broker.port}, header" in run.stdout


@pytest.mark.proof
def test_without_the_extra_other_tests_run_and_a_fixture_says_what_to_install(tmp_path: Path) -> None:
    """If the bench's optional packages are missing, another repository's own tests still run, and a bench fixture says
    what to install. So a plain `pip install table-controller` breaks no tests."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['tomli_w'] = None\n", "utf-8")
    tests = "def test_of_another_kind():\n    pass\n\ndef test_of_the_table(table):\n    pass\n"
    run = run_elsewhere(tmp_path, tests, PYTHONPATH=str(tmp_path))
    assert "1 passed, 1 error" in run.stdout, run.stdout + run.stderr
    do = 'not installed: tomli_w. Install the bench: pip install "table-controller[bench]"'
    assert do in run.stdout, run.stdout
