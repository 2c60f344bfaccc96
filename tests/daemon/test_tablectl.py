"""Checks `tablectl` as a person uses it: the exit codes, what is printed on stdout and stderr, and that no traceback is
ever shown."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.contract.keys import SigningKey
from controller.daemon.record.journal import Journal
from controller.people.cli.main import main
from controller.people.cli.programs import simulated_table
from controller.table.acts.every import ACTS
from controller.table.faults import Exit
from drivers.sim.pins import PinsPage
from tests.support.each import each
from tests.support.waiting import PATIENCE_S, eventually_now

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config" / "tables" / "royal9.toml"
KEY = SigningKey(bytes(range(32)))

ACTS_OF_PEOPLE = [act.name for act in ACTS if act.on_socket]
COMMANDS = [
    *ACTS_OF_PEOPLE,
    *("status", "watch", "witness", "run", "check", "dark", "new-journal", "certs", "rounds", "replay"),
    *("evidence", "verify", "words"),
    *("demo", "deal", "kiosk", "manual", "par", "practice", "roads", "screen", "shoe", "sim"),
    *("backup", "digest", "doctor", "rehearse", "restore", "rollback", "self-test", "setup", "switch"),
    *("update", "versions"),
]
DEVICES = ["sim shoe", "sim pins", "sim pit", "shoe record", "shoe replay", "shoe frames"]


def tablectl(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `tablectl` in a process of its own, and check that it prints no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "controller.people.cli.main", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        **options,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The file of a simulated table, with all its files in a folder of its own, and without a broker."""
    return simulated_table(tmp_path, 1)


@each("command", ["", *COMMANDS, *DEVICES])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: tablectl {command}".rstrip())


@pytest.mark.parametrize("exit_", Exit)
def test_every_exit_can_name_the_fault_it_answers(exit_: Exit, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([exit_.value.replace("_", "-"), "--help"])
    assert "--fault ID" in capsys.readouterr().out


def test_the_help_tells_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines() if re.match("    [a-z]", line)]
    assert sorted(set(told)) == sorted(COMMANDS)


def test_no_command_is_a_mistake_of_usage() -> None:
    done = tablectl()
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: tablectl" in done.stderr


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    from controller import __version__

    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"tablectl {__version__}\n"


# Configuration.


def test_check_a_table_that_is_right() -> None:
    done = tablectl("check", EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "")
    meters, edges, right = done.stdout.splitlines()
    assert meters.startswith("the pit must begin the meter banker_personal at $1,500.00 or more, and ")
    assert "since the cards that win it can win another award of that worth" in meters
    assert edges.startswith("house edges: player 1.235%, banker 1.058%, tie 14.360%, ")
    assert right == "royal9-01 plays Royal 9 Mini Baccarat: 7 seats, 8 decks. No mistakes."


@pytest.mark.parametrize(
    ("seed_cents", "told"),
    [
        ("150000", []),
        ("149999", ["meters.player_personal.seed_cents: with 149999 cents the meter pays", "Write 150000 or more."]),
        (None, ["meters.player_personal: is missing, and this table awards it"]),
    ],
)
def test_a_meter_begins_at_what_the_awards_below_its_own_are_worth(
    seed_cents: str | None, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` complains if a meter may pay less than a fixed award that the same cards would have won without the
    meter.

    In rule sheet 000, the first three rows of the bet's pay table win a meter. The first row that holds decides.
    Without these rows, a later row with $1,500 could have decided, so each of the three meters must begin with at least
    $1,500.
    """
    text = (EXAMPLE.parents[1] / "pit.toml").read_text("utf-8")
    own = "[meters.player_personal]\nseed_cents = 150000"
    assert own in text
    settings = tmp_path / "pit.toml"
    settings.write_text(
        text.replace(own, own.replace("150000", seed_cents or "1") if seed_cents else "[meters.other]\nseed_cents = 1")
    )
    assert main(["check", str(EXAMPLE), "--pit-settings", str(settings)]) == (78 if told else 0)
    out, err = capsys.readouterr()
    assert "the pit must begin" not in out
    assert all(words in err for words in told)


def test_check_tells_warnings_and_is_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = simulated_table(tmp_path, 1)
    text = table.read_text().replace("[pins.inputs.void]", "[pins.lamps.tie2]")
    table.write_text(text.replace('[pins.lamps.tie2]\nbcm = 2\nactive = "low"\npull = "up"\n', ""))
    assert main(["check", str(table)]) == 0
    *lines, verdict = capsys.readouterr().out.splitlines()
    warning, other = (line for line in lines if line.startswith("warning: "))
    assert "there is no input void" in warning + other
    assert verdict.endswith(" 8 decks. No mistakes, 2 warnings.")
    assert main(["check", str(table), "--strict"]) == 78
    assert "the configuration has 2 warnings, and --strict allows none" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "run", "status", "new-shoe --by Smith", "deal"])
def test_mistakes_are_told_all_at_once_with_exit_78(tmp_path: Path, command: str) -> None:
    table = simulated_table(tmp_path, 1, shoe={"bauds": 1})
    name, *rest = command.split()
    done = tablectl(name, table, *rest, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith("config_invalid: the configuration has 1 mistake\n")
    assert "table.toml: shoe: there is no key bauds, is baud meant?" in done.stderr

    table = simulated_table(tmp_path, 1, pit={"port": 0, "root": "#"})
    done = tablectl(name, table, *rest, stdin=subprocess.DEVNULL)
    assert done.returncode == 78
    assert "has 2 mistakes" in done.stderr
    assert done.stderr.count("what to do:") == 2


def test_a_table_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "nowhere.toml")]) == 78
    assert "No such file" in capsys.readouterr().err


def test_a_mistyped_command_is_told_with_the_one_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["clera"])
    assert ended.value.code == 2
    assert "there is no command clera, is clear meant?" in capsys.readouterr().err


# A table that does not run.


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "status --json",
        "watch",
        "new-shoe --by S",
        "cut-card",
        "void --by S",
        "card KS --by S",
        "count 397 --by S",
        "clear --by S",
        "clear --fault 3-2 --by S",
        "witness --by S",
        "close-shoe --by S",
        "lamp-test --by S",
    ],
)
def test_without_a_running_table_it_says_so(
    table: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *rest = command.split()
    assert main([name, str(table), *rest]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("table_not_running: ")
    assert "what to do: Start it: tablectl run" in said.err


@pytest.mark.parametrize("answer", [b"", b'{"ok": tr', b'{"ok": true, "status": {'])
def test_a_table_that_ends_before_it_has_answered(
    table: Path, answer: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    def end() -> None:
        channel, _ = server.accept()
        with channel:
            channel.recv(1000)
            channel.sendall(answer)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(table.parent / "table.sock"))
        server.listen()
        table_end = threading.Thread(target=end)
        table_end.start()
        assert main(["status", str(table)]) == 1
        table_end.join()
    assert capsys.readouterr().err.startswith("table_silent: The table closed the line without an answer.")


def test_a_supervisors_act_needs_a_name(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["void", str(table)])
    assert ended.value.code == 2
    assert "--by" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hands", "code"),
    [
        ([], "arguments_incomplete"),
        (["--player", "KS 9S"], "arguments_incomplete"),
        (["--dealer", "KS 9S"], "arguments_incomplete"),
        (["--hand", "3=KS 9S"], "arguments_incomplete"),
        (["--player", "KS 9S", "--banker", "2D 3D", "--dealer", "2D 3D"], "arguments_incomplete"),
        (["--hand", "KS 9S", "--dealer", "2D 3D"], "bad_argument"),
        (["--hand", "seat_3=KS 9S", "--dealer", "2D 3D"], "bad_argument"),
        (["--hand", "3=KS 9Z", "--dealer", "2D 3D"], "bad_argument"),
        (["--hand", "3=KS 9S", "--dealer", "2D 3Z"], "bad_argument"),
        (["--player", "KS 9S", "--banker", "2D 3Z"], "bad_argument"),
        (["--hand", "3=KS 9S", "--dealer", "2D 3D"], "table_not_running"),
        (["--player", "KS 9S", "--banker", "2D 3D"], "table_not_running"),
    ],
)
def test_a_correction_names_every_hand(
    table: Path, hands: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["correct", str(table), "1", *hands, "--by", "Smith"]) == 1
    assert capsys.readouterr().err.startswith(f"{code}: ")


LAMPS = sorted({12, 13, *range(16, 27)})
"""The example's; the last is the fault lamp."""
FAULT = 26


@pytest.fixture
def lit(tmp_path: Path) -> PinsPage:
    """The file of a simulated header whose lamps are all lit, as a killed program leaves them."""
    page = PinsPage(tmp_path / "header")
    for bcm in LAMPS:
        page.set_up(bcm, 2, 0)
        page.write(bcm, 1)
    return page


def lit_lamps(page: PinsPage) -> list[int]:
    assert {page.function(bcm) for bcm in LAMPS} == {2}, "held, not let go"
    return [bcm for bcm in LAMPS if page.output(bcm)]


def test_dark_darkens_whatever_ran_before(table: Path, lit: PinsPage) -> None:
    assert tablectl("dark", table).returncode == 0
    assert lit_lamps(lit) == []


@pytest.mark.parametrize("result", ["exit-code", "watchdog"])
def test_after_a_service_that_was_not_stopped_the_fault_lamp_is_lit(table: Path, lit: PinsPage, result: str) -> None:
    """`tablectl dark` lights the fault lamp if the table's service ended by itself, and lights no lamp if somebody
    stopped it.

    systemd runs this command after the service, and tells it how the service ended.
    """
    assert tablectl("dark", table, env={**os.environ, "SERVICE_RESULT": result}).returncode == 0
    assert lit_lamps(lit) == [FAULT]
    assert tablectl("dark", table, env={**os.environ, "SERVICE_RESULT": "success"}).returncode == 0
    assert lit_lamps(lit) == []


def test_dark_minds_no_mistake_elsewhere_in_the_file(tmp_path: Path, lit: PinsPage) -> None:
    table = simulated_table(tmp_path, 1, shoe={"bauds": 1}, table={"game": "nowhere.toml"})
    assert tablectl("run", table).returncode == 78
    assert tablectl("dark", table, env={**os.environ, "SERVICE_RESULT": "exit-code"}).returncode == 0
    assert lit_lamps(lit) == [FAULT]


@pytest.mark.parametrize(
    "text", ["", "[", "pins = 1", "[pins]\nlamps = 2", "[pins.lamps]", "[pins]\ndriver = 'simulated'\n[pins.lamps]"]
)
def test_dark_says_what_keeps_it_from_the_lamps(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.toml").write_text(text)
    done = tablectl("dark", tmp_path / "table.toml")
    assert done.returncode == 78
    assert done.stderr.startswith("config_invalid: ")
    assert "tablectl check" in done.stderr


# The journal.


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    from tests.daemon.test_journal import SHOES, TABLE

    path = tmp_path / "a journal"
    opened = Journal(path, TABLE, KEY, KEY.public)
    opened.append(SHOES)
    opened.close()
    return path


def test_verify_a_good_journal(journal: Path) -> None:
    done = tablectl("verify", journal)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all good" in done.stdout


def test_verify_a_missing_journal(tmp_path: Path) -> None:
    done = tablectl("verify", tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("journal_missing: ")


def test_verify_a_damaged_journal(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("UPDATE fact SET salt = zeroblob(16) WHERE row = 4")
    done = tablectl("verify", journal)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("journal_damaged: ")
    assert "at row 4:" in done.stderr
    assert "what to do: Stop the table and begin a new journal" in done.stderr


def test_verify_something_else(tmp_path: Path) -> None:
    for content in (b"", b"no journal", os.urandom(9000)):
        (tmp_path / "file").write_bytes(content)
        done = tablectl("verify", tmp_path / "file")
        assert done.returncode == 1
        assert done.stderr.startswith("journal_damaged: ")
        assert "Check the path first." in done.stderr, "a mistyped path must not lead to a new journal"


# A table that runs.


@contextmanager
def running_table(table: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `tablectl run` in a process, and wait until it is ready for requests."""
    with subprocess.Popen(
        [sys.executable, "-m", "controller.people.cli.main", "run", str(table)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            eventually_now(lambda: process.poll() is not None or (table.parent / "table.sock").is_socket())
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("as_shipped")
def test_a_whole_life_from_the_shell(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running_table(table) as process:
        eventually_now(lambda: main(["status", str(table)]) == 0)
        assert main(["new-shoe", str(table), "--by", "Smith"]) == 0
        assert main(["void", str(table), "--by", "Smith"]) == 1
        assert "no_round: There is no round to void." in capsys.readouterr().err
        assert main(["status", str(table), "--json"]) == 0
        status = json.loads(capsys.readouterr().out)
        assert (status["face"]["phase"], status["face"]["shoe"]) == ("first_card_due", 1)
        assert main(["status", str(table)]) == 0
        told = capsys.readouterr().out
        assert told.startswith("The table waits for the new shoe's first card")
        assert "royal9-01, Royal 9 Mini Baccarat: a new shoe, shoe 1, 416 cards left" in told

        second = tablectl("run", table)
        assert second.returncode == 1
        assert "journal_in_use: " in second.stderr

        page = PinsPage(tmp_path / "header")
        eventually_now(lambda: page.output(12) and page.output(13))  # draw_player, draw_banker
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert [page.output(bcm) for bcm in LAMPS] == [0] * 13
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert main(["verify", str(tmp_path / "table.journal")]) == 0
    assert "3 rows, 1 events, all good" in capsys.readouterr().out


def test_a_table_whose_journal_is_damaged_does_not_start_and_changes_nothing(table: Path, tmp_path: Path) -> None:
    with running_table(table) as process:
        eventually_now(lambda: main(["new-shoe", str(table), "--by", "Smith"]) == 0)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    path = tmp_path / "table.journal"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE fact SET salt = zeroblob(16)")
    facts = _facts(path)
    done = tablectl("run", table)
    assert done.returncode == 78
    assert "journal_damaged: " in done.stderr
    assert "at row 3:" in done.stderr  # the first of the open shoe
    assert _facts(path) == facts


def _facts(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM fact").fetchall() + db.execute("SELECT * FROM message").fetchall()


@pytest.mark.parametrize(
    ("section", "keys", "code", "ends_with"),
    [
        ("journal", {"path": "/proc/no/journal"}, "journal_unusable", 1),
        ("journal", {"signing_key": "/proc/no/key"}, "signing_key_unusable", 78),
        ("control", {"socket": "/proc/no/socket"}, "control_socket", 1),
        ("pins", {"page": "/proc/no/page"}, "pins_page", 1),
    ],
)
def test_what_a_table_cannot_have_is_told(
    tmp_path: Path, section: str, keys: dict[str, str], code: str, ends_with: int
) -> None:
    done = tablectl("run", simulated_table(tmp_path, 1, EXAMPLE, **{section: keys}))
    assert done.returncode == ends_with
    assert f"{code}: " in done.stderr
    assert "what to do: " in done.stderr


def test_a_game_file_is_checked_without_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = EXAMPLE.parents[1] / "games" / "ez_baccarat.toml"
    assert main(["check", str(game), "--strict"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "EZ Baccarat: at most 7 seats, 8 decks. No mistakes."
    wrong = tmp_path / "game.toml"
    wrong.write_text(game.read_text("utf-8").replace('kind = "punto_banco"\n', ""), "utf-8")
    assert main(["check", str(wrong)]) == 78
    assert "kind is missing" in capsys.readouterr().err, "and not that a table's file is needed"
