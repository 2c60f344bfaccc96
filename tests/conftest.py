"""Settings for every test: the fixtures of the test bench, the option `--proof`, and the rule that CI skips no test."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from inspect import iscoroutinefunction
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TypeVar, cast
from zlib import crc32

import pytest

from tests.lab.clauses import mark
from tests.proof.page import FAILURE, PAGE, Figure, after, read, write
from tests.proof.versions import commit, version
from tests.support import collected, forks, remembered, samples, waiting

if TYPE_CHECKING:
    from tests.screen.browser import Browser

_COMMIT = pytest.StashKey[str]()  # as the run began: it may be another one when it ends


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proof", action="store_true", help="also make the long measurements, into proof/FIGURES.md")
    parser.addoption("--fire-seed", type=int, default=2026, metavar="N", help="the seed of the long run of tests/fire")


def pytest_xdist_auto_num_workers() -> int:
    """Return the number of test workers: three for each core, because many tests wait for simulated hardware, and the
    core can run other tests meanwhile. With still more workers, their start would cost the cores some seconds."""
    return 3 * (os.cpu_count() or 1)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long(beside): takes many seconds, so a worker begins with it")
    config.addinivalue_line("markers", "proof: a long measurement, made only with --proof")
    config.addinivalue_line("markers", "clause(number): shows a clause of tests/lab/clauses.toml, which names the test")
    if config.getoption("--proof"):
        with suppress(OSError, subprocess.CalledProcessError):  # without Git nobody could say of what the figures are
            config.stash[_COMMIT] = commit()
    os.environ["XDG_CACHE_HOME"] = "/dev/null"  # no test reads what another has counted, nor leaves it in a home
    samples.of_a_run(proof=bool(config.getoption("--proof")))
    if not samples.at_length and _is_room_in(_MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))  # where pytest makes its folders
    forks.on = not samples.at_length
    if not samples.at_length:
        remembered.remember()
    forks.tests_of_workers = config.args
    cast(Any, subprocess).Popen = forks.Popen  # for every program that a test starts


_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 3 << 30
"""A run leaves some 200 MB, and pytest keeps what the last three have left."""


def _is_room_in(folder: Path) -> bool:
    """Tell whether the tests' temporary folders may lie in `folder`, a file system in memory, where no test waits for a
    disk. In a container that file system may be small, or may not allow programs to run. With `--proof` the folders lie
    on a disk."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    runs_programs = not found.f_flag & os.ST_NOEXEC
    return runs_programs and os.access(folder, os.W_OK) and found.f_bavail * found.f_frsize >= _ROOM_BYTES


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove the temporary folders in memory, if all tests of the run passed."""
    if exitstatus == pytest.ExitCode.OK and "PYTEST_XDIST_WORKER" not in os.environ:
        factory: pytest.TempPathFactory = cast(Any, session.config)._tmp_path_factory
        if (folder := factory.getbasetemp()).is_relative_to(_MEMORY):
            rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests with the garbage collector switched off, because the collected tests stay in memory for the
    whole run. Afterwards let the garbage collector run seldom. With Python's usual setting it would use a hundredth of
    the run's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are long measurements, unless `--proof` is given. They do not count as skipped, because
    nothing is missing on this machine."""
    if not collected.are_taken(config):
        mark(items)
    if not config.getoption("--proof"):
        long = [item for item in items if item.get_closest_marker("proof")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("proof")]
    if "PYTEST_XDIST_WORKER" in os.environ:
        items[:] = _for_workers(items, int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))


_QUICK = "tests/table/"
"""A folder whose tests compute and take milliseconds."""


def _for_workers(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return these tests in a good order for `--dist worksteal`. That option gives each worker a stretch of the list,
    and later moves tests from the end of a stretch to idle workers.

    A stretch begins with tests that take many seconds, because such a test at the end would keep one worker busy after
    the others. A stretch ends with tests that take milliseconds, so that all workers end together. The other tests
    stand in the middle, with their files in a mixed order that is always the same. So a test that computes runs while
    others wait for simulated hardware. The long tests of a file go to one worker. The long tests marked
    `long("browser")` go to one worker too, even from several files, because they share a browser.
    """
    long, mixed, quick = [list[pytest.Item]() for _ in range(3)]
    for item in sorted(items, key=lambda item: crc32(_beside(item).encode())):
        is_long = item.get_closest_marker("long") is not None
        (long if is_long else quick if item.nodeid.startswith(_QUICK) else mixed).append(item)
    long_files = [list(of_a_file) for _, of_a_file in groupby(long, _beside)]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        left = workers - worker
        size = (len(items) - len(ordered)) // left  # as the scheduler reckons a stretch
        begin = [item for of_a_file in long_files[worker::workers] for item in of_a_file]
        end = _cut(quick, len(quick) // left)
        ordered += [*begin, *_cut(mixed, max(0, size - len(begin) - len(end))), *end]
    return ordered


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _beside(item: pytest.Item) -> str:
    """Return the name of the group of tests to which this test belongs. One worker runs all tests of a group. The name
    is the test's file, or the name in its mark `long(...)`."""
    long = item.get_closest_marker("long")
    return str(long.args[0]) if long and long.args else _file(item)


def _cut(items: list[pytest.Item], count: int) -> list[pytest.Item]:
    """Remove `count` tests from the front of the list, and return them."""
    taken = items[:count]
    del items[:count]
    return taken


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist send one report for each test instead of five, because a report takes nearly a
    millisecond of a core. A setup or teardown is still reported if it failed, or took so long that `--durations` shows
    it."""
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            cast(Any, plugin).sendevent = _telling(cast(Any, plugin).sendevent)


_QUICK_S = 0.005
_OBJECTS_BEFORE_A_LOOK = 20_000


def _telling(send: Callable[..., None]) -> Callable[..., None]:
    def tell(name: str, **said: Any) -> None:
        if name == "testreport":
            report = said["data"]
            if report["when"] != "call" and report["outcome"] == "passed" and report["duration"] < _QUICK_S:
                return
        if name not in ("logstart", "logfinish"):
            send(name, **said)

    return tell


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    waiting.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


@pytest.fixture
def as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start every program of this test as a new Python process, as a systemd unit or a shell does. In other tests the
    programs are forked from the test's process, which is faster."""
    monkeypatch.setattr(forks, "on", False)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser that all tests of this worker share. At the start of a test its window still has the size, the page
    and the error messages that the previous test left."""
    from tests.screen.browser import chromium  # takes a tenth of a second

    with chromium(tmp_path_factory.mktemp("pictures")) as opened:
        yield opened


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """A function that writes one line into proof/FIGURES.md if the test passes: `figure("100 kills survived")`."""
    return lambda line: request.node.user_properties.append(("figure", line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write into proof/FIGURES.md what the passed tests measured, and which tests failed. The lines about tests that
    did not run stay as they are."""
    if not config.getoption("--proof") or _COMMIT not in config.stash:
        return
    page, measured = read(), dict[str, Figure]()
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M}, {config.stash[_COMMIT]}"
    passed = [report for report in terminalreporter.getreports("passed") if report.when == "call"]
    for report in passed:
        for name, said in report.user_properties:
            if name == "figure":
                measured[report.nodeid] = Figure(str(said), f"{report.duration:.0f}", when)
    for report in (*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")):
        if "proof" in report.keywords or report.nodeid in page.figures:
            measured[report.nodeid] = Figure(FAILURE, f"{report.duration:.0f}", when)
    now = after(page, (report.nodeid for report in passed), measured)
    if now != page:
        write(now, version())
        terminalreporter.write_line(f"figures: {PAGE}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a skipped test fail on CI. CI has everything that a test may need, so no test has a reason to be skipped
    there."""
    return _no_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let a test module that skips itself while it is collected fail on CI."""
    return _no_skip((yield))


_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


def _no_skip(report: _Report) -> _Report:
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.longrepr = f"skipped, where CI has everything: {why}"
    return report
