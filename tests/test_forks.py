"""Checks that a program which a test forks behaves like a program that is started anew, and that a program which cannot
be forked is started."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from controller.people.cli.programs import EXAMPLE_TABLE, example_table, free_port, python
from tests.support import forks, waiting

TABLECTL = python("-m", "controller.people.cli.main")
COMMANDS = [
    ["check", "absent.toml"],
    ["deal"],
    *(
        pytest.param(each, marks=pytest.mark.proof)
        for each in (["check", str(example_table("pairs"))], ["no-such-command"])
    ),
]


def _told(command: list[str], monkeypatch: pytest.MonkeyPatch, forked: bool) -> tuple[int, bytes, bytes]:
    monkeypatch.setattr(forks, "on", forked)
    environment = os.environ | {"TABLE_CONTROLLER_TABLE": str(EXAMPLE_TABLE)}
    run = subprocess.run(
        [*TABLECTL, *command], cwd=forks.ROOT, input=b"3H\n", capture_output=True, env=environment, check=False
    )
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_fork_says_and_ends_as_a_start_does(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _told(command, monkeypatch, forked=True) == _told(command, monkeypatch, forked=False)


def _pit(folder: Path) -> list[str]:
    return python(
        "-m", "controller.pit.reference", "run", "--broker", f"127.0.0.1:{free_port()}", "--ledger", str(folder / "l")
    )


def test_a_fork_is_a_process_of_its_own_and_our_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "on", True)
    running = _pit(tmp_path)
    for ends_by in (signal.SIGKILL, signal.SIGTERM):
        with subprocess.Popen(running, cwd=forks.ROOT, stderr=subprocess.PIPE, start_new_session=True) as pit:
            assert pit.stderr is not None
            assert pit.stderr.readline().startswith(b"pit: ")
            status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pit.pid}/status").read_text().splitlines())
            assert status["PPid"] == str(os.getpid())
            assert os.getsid(pit.pid) == pit.pid
            assert b"tests.support.forks" in Path(f"/proc/{pit.pid}/cmdline").read_bytes(), "this was a start"
            pit.send_signal(ends_by)
            assert pit.wait(waiting.PATIENCE_S) == (0 if ends_by == signal.SIGTERM else -signal.SIGKILL)


def test_code_is_run_in_a_fork_where_it_says_that_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "on", True)
    code = "import sys; print(*sys.argv, 'controller.daemon.app' in sys.modules)"
    for begins, forked in ((forks.ALIKE, "True"), ("", "False")):
        command = python("-c", begins + code, "a", "b")
        assert subprocess.check_output(command, cwd=forks.ROOT, text=True) == f"-c a b {forked}\n"


def test_a_fork_ends_with_the_tests_even_where_they_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forker = forks._start()
    monkeypatch.setattr(forks, "on", True)
    monkeypatch.setattr(forks, "_forkers", [forker])
    with subprocess.Popen(_pit(tmp_path), cwd=forks.ROOT, stderr=subprocess.PIPE, start_new_session=True) as pit:
        assert pit.stderr is not None
        assert pit.stderr.readline().startswith(b"pit: ")
        forks._started[-1].terminate()  # as `timeout` ends the tests: with all that is in their group
        forker._channel.close()
        assert pit.wait(waiting.PATIENCE_S) == -signal.SIGKILL


_TELLS = """
import os

def test_of_this_process():
    print(f"told {os.umask(0):03o}")
"""


@pytest.mark.parametrize("forked", [True, pytest.param(False, marks=pytest.mark.proof)])
def test_a_process_has_the_umask_of_who_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: bool
) -> None:
    (tmp_path / "test_it.py").write_text(_TELLS, "utf-8")
    monkeypatch.setattr(forks, "on", forked)
    before = os.umask(0o027)
    try:
        run = subprocess.run(python("-m", "pytest", "-qs"), cwd=tmp_path, capture_output=True, text=True, check=True)
    finally:
        os.umask(before)
    assert "told 027" in run.stdout


_STARTS = """
import os, subprocess, sys
from pathlib import Path

def test_of_what_it_starts():
    command = [sys.executable, "-m", "controller.people.cli.main", "deal", "config/tables/royal9.toml", "-"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as deals:
        told = [Path(f"/proc/{deals.pid}/{name}").read_text() for name in ("cmdline", "status")]
        deals.stdin.close()
    assert "tests.support.forks" in told[0]
    assert f"PPid:\\t{os.getpid()}\\n" in told[1]
"""


@pytest.mark.proof
def test_a_fork_that_starts_a_program_forks_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_it.py").write_text(_STARTS.replace("ROOT", repr(str(forks.ROOT))), "utf-8")
    monkeypatch.setattr(forks, "on", True)
    run = subprocess.run(python("-m", "pytest", "-q"), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


_A_RUN = """
import subprocess
from tests.support import forks

def pytest_configure(config):
    forks.on, forks.tests_of_workers, subprocess.Popen = True, config.args, forks.Popen

def pytest_pyfunc_call(pyfuncitem):
    print("the hook saw", pyfuncitem.name)
"""


@pytest.mark.proof
def test_a_file_of_tests_that_cannot_be_collected_fails_the_run_though_workers_collect_nothing(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_A_RUN, "utf-8")
    (tmp_path / "test_broken.py").write_text("import no_such_module", "utf-8")
    (tmp_path / "test_it.py").write_text("def test_it(): pass", "utf-8")
    environment = os.environ | {"PYTHONPATH": str(forks.ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(
        python("-m", "pytest", "-p", "xdist", "-n", "1"), cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 1, run.stdout
    assert "No module named 'no_such_module'" in run.stdout
    assert "1 passed, 1 error" in run.stdout


@pytest.mark.proof
def test_the_hooks_of_a_folder_see_the_tests_of_the_folders_below_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_A_RUN, "utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "test_it.py").write_text("def test_it(): pass", "utf-8")
    environment = os.environ | {"PYTHONPATH": str(forks.ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(
        python("-m", "pytest", "-p", "xdist", "-n", "1", "-rP"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "the hook saw test_it" in run.stdout
