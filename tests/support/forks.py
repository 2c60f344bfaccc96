"""Starts the program's processes as forks of a process that has already imported the program. This saves half a second
of a core at each of several hundred starts. A worker of pytest-xdist is also started as a fork, of a process that has
collected the tests. This saves six seconds of a core for each worker.

`subprocess.Popen` is replaced in the tests' own process. While `on`, it forks for the program's commands, for example
`python -m controller.pit.reference run ...`, and starts anything else as usual. A fork is a process of its own. Its
arguments, environment, open files, umask and session are those that were asked for. It is the tests' child, and has an
exit code of its own. All forks of a worker use the same random seed for hashes, so a set has the same order in all of
them, which it may not have after a real start. What only a real start shows is tested with a real start: `make proof`
starts everything as it is shipped, and so do the tests with the fixture `as_shipped`, and any start in another folder
or with another environment for Python.

A forked program may itself start programs, as the demo does. It forks them too, from a forking process of its own.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]
on = False
"""Whether programs are forked now."""
tests_of_workers: Sequence[str] = ()
"""What workers of this process will run: folders and files of tests, as pytest takes them."""

_PROGRAMS = (
    *("controller.people.cli.main", "controller.pit.reference", "drivers.sim"),
    *("tests.fire.cashier", "tests.fire.noted", "tests.hil.broken_table"),
)
_ANYWHERE = ("pytest",)  # in another folder too: the bench, as another repository has it
_WORKER = ["-u", "-c", "import sys;exec(eval(sys.stdin.readline()))"]  # Python's arguments where xdist starts one
ALIKE = "# In a fork of the program this does the same.\n"
"""Code for `python -c` that begins so is run in a fork."""
_START_OTHERS = {"demo", "pytest"}  # forks of these fork what they start
_IMPORTED = (
    "controller.basics.manual",
    "controller.daemon.app",
    "controller.people.cli.acts",
    "controller.people.cli.commands",
    "controller.people.cli.history",
    "controller.pit.reference.commands.entries",
    "controller.pit.reference.service",
    "drivers.sim.run",
)
_READ_BY_A_START = ("LD_", "LC_", "LANG", "PYTHON", "TZ")  # variables whose names begin so
_SHIM = "gpio_shim.so"  # the only library that a fork can load as a start would: before all that it stands in for
_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_REQUEST_BYTES = 1 << 18
_Popen = subprocess.Popen


def take_terminal() -> None:
    """Make the terminal at standard input the controlling terminal of the new session. For the argument `preexec_fn` of
    Popen."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Popen(_Popen[Any]):
    """A `subprocess.Popen` that starts the program as a fork of a process that has imported it, if that is possible."""

    def _execute_child(self, *given: Any) -> None:
        """Start the program as a fork if that is possible, else as a new process. This replaces CPython's own method,
        with the same arguments."""
        args, executable, preexec, _, pass_fds, cwd, env, _, _, shell, *pipes = given[:16]
        _, gid, gids, uid, umask, new_session, group = given[16:]
        plain = not (executable or pass_fds or shell or gid or gids or uid) and umask == group == -1
        plain = plain and preexec in (None, take_terminal)
        environment = dict(os.environ if env is None else env)
        folder = str(Path(cwd or "").absolute())
        if not (on and plain and _is_ours(args, folder) and _can_be_forked_with(environment)):
            cast(Any, super())._execute_child(*given)
            return
        stdin, _, _, stdout, _, stderr = pipes
        become = {"arguments": args[1:], "folder": folder, "new_session": new_session, "environment": environment}
        become |= {"umask": _umask(), "own_terminal": preexec is take_terminal}
        files = [own if file == -1 else file for own, file in enumerate((stdin, stdout, stderr))]
        self.pid = _forker(of_workers=args[1:] == _WORKER).fork(become, files)
        self._child_created = True
        cast(Any, self)._close_pipe_fds(*pipes)


def _is_ours(args: Any, folder: str) -> bool:
    match args:
        case [sys.executable, "-m", module, *_]:
            return module in _ANYWHERE or (module in _PROGRAMS and folder == str(ROOT))
        case [sys.executable, "-c", str(code), *_] if code.startswith(ALIKE):
            return folder == str(ROOT)
        case [sys.executable, *arguments]:
            return arguments == _WORKER and bool(tests_of_workers)
    return False


def _can_be_forked_with(environment: Mapping[str, str]) -> bool:
    """Tell whether a fork can replace a program that is to run with these environment variables. The variables that
    Python reads only at its start must be the same in the forking process."""
    preload = environment.get("LD_PRELOAD", _SHIM)
    if ":" in preload or Path(preload).name != _SHIM:
        return False
    return _read_by_a_start(environment) == _read_by_a_start(os.environ)


def _umask() -> int:
    """Return this process's own umask. `os.umask` is not used, because it would change the umask of all threads for a
    moment."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask:"))
    return int(line.split()[1], 8)


def _read_by_a_start(environment: Mapping[str, str]) -> dict[str, str]:
    names = {name for name in environment if name.startswith(_READ_BY_A_START)} - {"LD_PRELOAD"}
    return {name: environment[name] for name in names}


class _Forker:
    """A connection to a process that has imported the program, and that forks itself for each request."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._one_at_a_time = threading.Lock()
        # A fork's own parent ends at once: it becomes the child of the nearest ancestor that asked for such orphans.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def fork(self, request: Mapping[str, object], files: Sequence[int]) -> int:
        """Ask for a fork, and return the process id of the new process, which is a child of this one. `files` become
        its open files 0, 1 and 2."""
        with self._one_at_a_time:
            socket.send_fds(self._channel, [json.dumps(request).encode()], files)
            pid = self._channel.recv(100)
        if not pid:
            raise OSError("the process that forks the program has ended")
        return int(pid)


def _start(*tests: str) -> _Forker:
    """Start a process that has imported the program, or, if `tests` are given, that has collected these tests. It ends
    with this process."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with far:
        command = [sys.executable, "-m", "tests.support.forks", str(far.fileno()), *tests]
        folder = None if tests else ROOT  # tests may be named from where pytest runs
        _started.append(_Popen(command, stdin=subprocess.DEVNULL, cwd=folder, pass_fds=[far.fileno()]))
    return _Forker(near)


_started: list[_Popen[Any]] = []  # what nobody holds is warned of
_forkers: list[_Forker] = []
_forkers_of_workers: list[_Forker] = []
_one_forker_at_a_time = threading.Lock()


def _forker(of_workers: bool) -> _Forker:
    """Return the process that forks: for workers of pytest-xdist, or else for the program. It is started at the first
    call."""
    with _one_forker_at_a_time:
        if of_workers:
            _forkers_of_workers[:] = _forkers_of_workers or [_start(*tests_of_workers)]
            return _forkers_of_workers[0]
        _forkers[:] = _forkers or [_start()]
        return _forkers[0]


def _is_a_fork(pid: int) -> bool:
    """Tell whether the process is still a fork of this one. All forks have the same command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()
    except OSError:
        return False


def _serve(channel: socket.socket) -> dict[str, Any]:
    """Fork for each request on the channel, until the other end is closed. Returns only in the forks, each with its
    request.

    Forks that still run when the other end is closed were left by tests that were killed, and are killed too. Otherwise
    they would go on for good, and a table whose shoe's pty has gone would open the pty of a later test under the same
    number.
    """
    forks: list[int] = []
    while True:
        request, files, _, _ = socket.recv_fds(channel, _REQUEST_BYTES, 3)
        if not request:
            for fork in filter(_is_a_fork, forks):
                os.kill(fork, signal.SIGKILL)
            raise SystemExit
        told, tell = os.pipe()
        between = os.fork()
        if between == 0 and (fork := os.fork()) != 0:
            os.write(tell, str(fork).encode())
            os._exit(0)
        if between == 0:
            for number, file in enumerate(files):
                os.dup2(file, number)
            os.closerange(3, max(*files, told, tell, channel.detach()) + 1)
            asked: dict[str, Any] = json.loads(request)
            return asked
        os.waitpid(between, 0)
        fork_number = os.read(told, 100)
        forks.append(int(fork_number))
        channel.send(fork_number)
        for file in (*files, told, tell):
            os.close(file)


def _asked(channel: socket.socket) -> dict[str, Any]:
    """Fork for each request on the channel. Return only in the forks, each with its request. If a fork will start other
    programs, a forking process is started for it before this function returns."""
    global on
    asked = _serve(channel)
    while _START_OTHERS & {*asked["arguments"][1:3]}:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork():
            far.close()
            _forkers[:] = [_Forker(near)]
            cast(Any, subprocess).Popen = Popen
            on = True
            break
        near.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in (0, 1, 2):
            os.dup2(nothing, file)
        os.close(nothing)
        asked = _serve(far)
    return asked


def _import(tests: Sequence[str]) -> None:
    """Import the program, or, if `tests` are given, collect these tests for the workers of pytest-xdist."""
    if tests:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            import_module("tests.support.collected").collect(tests)
        return
    # Each table that starts reads all files of the program for their digest. A test that changes one starts its own.
    digest = cast(Any, import_module("controller.basics.digest"))
    digest.program_digest = cache(digest.program_digest)
    digest.program_digest()
    for name in _IMPORTED:
        import_module(name)
    from controller.daemon.config import load
    from controller.people.cli.programs import example_table
    from controller.words.language import language
    from tests.support.remembered import remember

    remember()
    _work_types_out()
    for kind in ("royal9", "baccarat_royal", "lucky9"):
        load(example_table(kind))  # what is made of the types on the way serves each fork
    language()


def _work_types_out() -> None:
    """Let msgspec prepare the types of facts and events, and argparse the commands' words, before the first fork. Each
    fork then has them ready."""
    from msgspec import ValidationError, convert

    from controller.contract import event_reading
    from controller.daemon.record import fact_json
    from controller.people.cli.command import parser_of

    for type_ in event_reading._TYPES.values():
        with suppress(ValidationError):
            convert({}, type_)
    with suppress(ValidationError):
        convert({}, fact_json._GAME)
    parser_of(())


def _main() -> None:
    sys.modules["tests.support.forks"] = sys.modules["__main__"]  # for the tests that a forked pytest runs
    for ends in (signal.SIGINT, signal.SIGTERM):  # of a terminal or `timeout`: all get them, and they are for the tests
        signal.signal(ends, signal.SIG_IGN)
    _import(sys.argv[2:])
    gc.collect()
    gc.freeze()
    asked = _asked(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.umask(asked["umask"])
    if asked["new_session"]:
        os.setsid()
    if asked["own_terminal"]:
        take_terminal()
    os.environ.clear()
    os.environ.update(asked["environment"])
    if "LD_PRELOAD" in os.environ:
        ctypes.CDLL(os.environ["LD_PRELOAD"], ctypes.RTLD_GLOBAL)
    os.chdir(asked["folder"])
    sys.path[0] = asked["folder"]
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    try:
        match asked["arguments"]:
            case ["-m", module, *arguments]:
                sys.argv = ["-m", *arguments]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case ["-c", code, *arguments]:
                sys.argv = ["-c", *arguments]
                exec(code, {"__name__": "__main__"})
            case [*_, code]:
                sys.argv = ["-c"]
                exec(code, {"__name__": "__main__"})
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        _end(end.code or 0)
    _end(0)


def _end(code: int) -> None:
    """End the process as Python does, but without freeing its memory. A fork that freed its memory would first have to
    copy most of it."""
    cast(Any, threading)._shutdown()
    cast(Any, atexit)._run_exitfuncs()
    with suppress(OSError, ValueError):  # what cannot be written, Python tells in its own way
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)


if __name__ == "__main__":
    _main()
