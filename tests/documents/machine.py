"""A pretended machine of a table and its pit, at which a test types the commands that the documents give for such a
machine.

The table's program, the pit, the broker, `tablectl` and `pitctl` are the real ones. Whatever the test cannot use for
real is pretended. The folders `/etc`, `/var`, `/run`, `/srv`, `/media` and `/root` lie below a folder of the machine's
own. Every account is the account that runs the test. `apt` and `usermod` only write down what they were asked for,
`nano` types a passphrase, and `systemctl` starts and stops the table. The pit runs with `--practice`, so a `pitctl`
command names the person who decides (`--as Kim`). If a page says proposal 7, the test types the number of the last
proposal that waits.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from controller.daemon.config import load
from controller.people.cli import programs
from controller.people.cli.client import status_of
from controller.people.cli.sim import simulated_pins
from drivers.sim import console
from drivers.sim.line import PtyLine
from drivers.sim.shoe import maker
from tests.documents.blocks import ROOT, Block, blocks
from tests.support.waiting import eventually_now

PASSPHRASE = "seven words that nobody else would write"
_BIN = ROOT / ".venv" / "bin"
_FOLDERS = re.compile(r"(?<![\w.~}-])/(?=(?:etc|var|run|srv|media|root|usr/share/doc)/)")

_STAND_INS = {
    "sudo": 'exec "$@"',
    "runuser": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "install": """words=()
while [ $# -gt 0 ]; do case $1 in -o|-g) shift 2 ;; *) words+=("$1"); shift ;; esac; done
exec /usr/bin/install "${words[@]}\"""",
    "apt": 'echo "apt $*" >>"$MACHINE/asked"',
    "apt-get": 'echo "apt-get $*" >>"$MACHINE/asked"',
    "usermod": 'echo "usermod $*" >>"$MACHINE/asked"',
    "journalctl": 'echo "journalctl $*" >>"$MACHINE/asked"; tail -n 20 "$MACHINE/table.log"',
    "nano": f'echo "{PASSPHRASE}" >"$1"',
    # With a doctor who found a fault a person goes on reading; what is meant is that it looked at everything.
    "tablectl": f"""[ "$1" = doctor ] || exec {_BIN}/tablectl "$@"
{_BIN}/tablectl "$@" || [ $? = 1 ]""",
    "pitctl": f"""case "$1 $2" in
adopt*|"award verify"*|"award recall"*|"award dismiss"*|desk*|slip\\ *) set -- "$@" --as Lee ;;
"award pay"*) set -- "$@" --as Kim ;;
confirm*)
    last=$({_BIN}/pitctl desk --as Kim --json | sed -n 's/.*"number": //p' | tr -d , | tail -1)
    set -- confirm "$last" --as Kim --yes ;;
esac
exec {_BIN}/pitctl "$@\"""",
    "table-controller-head-office": f'exec {_BIN}/table-controller-head-office "$@"',
    "systemctl": f"""echo "systemctl $*" >>"$MACHINE/asked"
case "$*" in *table-controller*) ;; *) exit 0 ;; esac
pid=$MACHINE/table.pid
stop() {{
    [ -e $pid ] || return 0
    kill $(cat $pid)
    while kill -0 $(cat $pid) 2>/dev/null; do sleep 0.05; done
    rm $pid
}}
start() {{
    setsid {_BIN}/tablectl run "$TABLE_CONTROLLER_TABLE" >>"$MACHINE/table.log" 2>&1 </dev/null & echo $! >$pid
    until {_BIN}/tablectl status >/dev/null 2>&1; do kill -0 $(cat $pid); sleep 0.1; done
}}
case $1 in
stop|disable) stop ;;
start|enable) [ -e $pid ] || start ;;
restart) stop; start ;;
status) [ -e $pid ] ;;
esac""",
}


class Machine:
    """A pretended machine for the documents' commands, with a table whose hardware is simulated. `do` plays the people
    at the table."""

    def __init__(self, root: Path, stack: ExitStack) -> None:
        self.root = root
        self._stack = stack
        self._port = programs.free_port()
        self._port_of_pages = programs.free_port()
        for folder in (
            "bin",
            "etc/table-controller",
            "etc/table-pit",
            "var/lib/table-controller",
            "run",
            "media/usb",
            "srv",
            "root/files",
        ):
            (root / folder).mkdir(parents=True)
        for name, text in _STAND_INS.items():
            program = root / "bin" / name
            program.write_text(f"#!/bin/bash\n{text}\n", "utf-8")
            program.chmod(0o755)
        state = root / "var/lib/table-controller"
        self.table = programs.simulated_table(
            root / "etc/table-controller",
            self._port,
            journal={"path": str(state / "royal9-01.journal"), "signing_key": str(state / "royal9-01.key")},
            control={"socket": str(root / "run" / "royal9-01")},
            shoe={"port": str(root / "shoe")},
            pins={"page": str(root / "header")},
        )
        self.journal = state / "royal9-01.journal"
        self.ledger = root / "var/lib/table-pit/ledger"
        self.ledger.parent.mkdir()
        self._env = {name: value for name, value in os.environ.items() if not name.startswith("TABLE_CONTROLLER")} | {
            "MACHINE": str(root),
            "PATH": f"{root}/bin:{_BIN}:{os.environ['PATH']}",
            "TABLE_CONTROLLER_TABLE": str(self.table),
            "LEDGER": str(self.ledger),
            "CONTROL": f"{self.ledger}.control",
        }
        self._pit = stack.enter_context(ExitStack())

    def switch_on(self) -> None:
        """Start the broker and the pit, and connect the simulated shoe and pin header."""
        config = load(self.table)
        self._stack.enter_context(programs.mosquitto(self.root, self._port))
        self.start_pit()
        line = PtyLine(Path(config.file.shoe.port), plugged=False)
        self._stack.callback(line.unplug)
        line.plug()
        shoe = maker(config.file.shoe.driver.name)(line)
        self._verbs = console.pins_verbs(simulated_pins(config)) | shoe.verbs() | console.cable_verbs(line)
        self._stack.callback(self._end_table)

    def start_pit(self) -> None:
        """Start the pit, with the ledger that it had before."""
        self._pit.enter_context(programs.pit(self.root, self._port, self.ledger))

    def stop_pit(self) -> None:
        """Stop the pit."""
        self._pit.close()

    def _end_table(self) -> None:
        with suppress(OSError, ValueError):
            os.kill(int((self.root / "table.pid").read_text()), signal.SIGKILL)

    def do(self, *lines: str) -> None:
        """Do something at the table for each line. A line is a command to the simulated shoe or pin header, such as
        "tap deal"."""
        for line in lines:
            name, *words = line.split()
            assert not (told := self._verbs[name].do(*words)), f"{line}: {told}"

    def becomes(self, phase: str) -> None:
        """Wait until the table is in this phase, such as "wagers_open"."""
        eventually_now(lambda: status_of(self.table).face.phase == phase)

    def events(self, type_: str) -> int:
        """Return how many events of this type the pit has received from the table."""
        return self.said("pitctl events royal9-01").count(f'"type":"{type_}"')

    def said(self, command: str) -> str:
        """Run a command of the project, such as `pitctl`, and return what it printed. The command must succeed."""
        return self._run(command)

    # Blocks of documents.

    def type(
        self,
        page: str,
        name: str,
        where: Mapping[str, str] | None = None,
        answers: Sequence[str] = (),
        folder: str = ".",
        ends: int = 0,
    ) -> str:
        """Run the commands in the code block that the page calls `name`, and return what they printed. The test fails
        if the commands end with another exit code than `ends`.

        `where` maps words of the page to the words to type instead, such as an award's number. `answers` are typed when
        a command asks for something.
        """
        return self._run(self._text(page, name, where), answers, folder, ends)

    def serve(self, page: str, name: str, until: str, where: Mapping[str, str] | None = None, times: int = 1) -> None:
        """Run a code block of a page whose command runs until Ctrl-C. Press Ctrl-C once `until` has appeared `times`
        times in the output.

        The command may end with 1, which means that it had nothing to report yet.
        """
        shell = subprocess.Popen(
            ["bash", "-euc", self._here(self._text(page, name, where))],
            cwd=self.root,
            env=self._env | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert shell.stdout is not None
        said = ""
        for line in shell.stdout:
            said += line
            if said.count(until) == times:
                break
        else:
            raise AssertionError(f"{page}, {name}: {until!r} was not said, but\n{said}")
        os.killpg(shell.pid, signal.SIGINT)
        said += shell.communicate(timeout=30)[0]
        assert shell.returncode in (0, 1, 130), f"{page}, {name}: {shell.returncode}\n{said}"

    def _text(self, page: str, name: str, where: Mapping[str, str] | None) -> str:
        text = named(page, name).text
        for there, here in (where or {}).items():
            assert there in text, f"{page}, {name} has no {there}"
            text = text.replace(there, here)
        return text

    def _here(self, text: str) -> str:
        text = text.replace(".venv/bin/", "").replace(":8080", f":{self._port_of_pages}")
        return _FOLDERS.sub(f"{self.root}/", text)

    def _run(self, text: str, answers: Sequence[str] = (), folder: str = ".", ends: int = 0) -> str:
        command = ["bash", "-euo", "pipefail", "-c", self._here(text)]
        if answers:
            return self._asked(command, text, answers)
        run = subprocess.run(
            command,
            cwd=self.root / folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == ends, f"{text}\n{run.stdout}"
        return run.stdout

    def _asked(self, command: list[str], text: str, answers: Sequence[str]) -> str:
        """Run a command at a terminal of its own, and type the next of `answers` each time that the command asks for
        something. Returns what the command printed."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.root)
            os.execvpe(command[0], command, self._env)
        said, left = b"", [*answers]
        with suppress(OSError):  # the terminal's end is an error of its own
            while data := os.read(terminal, 4096):
                said += data
                if left and said.rstrip().endswith(b":"):
                    os.write(terminal, f"{left.pop(0)}\n".encode())
                    said += b" (answered)"
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        told = said.decode("utf-8", "replace")
        assert status == 0, f"{text}\n{told}"
        assert not left, f"{text}: it did not ask for {left}\n{told}"
        return told


def named(page: str, name: str) -> Block:
    """Return the code block of a page that has this name among the blocks for the pretended machine."""
    (found,) = (block for block in blocks(ROOT / "docs" / page) if block.machine == name)
    return found


@contextmanager
def machine() -> Iterator[Machine]:
    """Yield a pretended machine that is not switched on yet. Its folder has a short path, because Linux limits the
    length of a socket's path."""
    root = Path(tempfile.mkdtemp(prefix="doc-", dir="/tmp"))
    try:
        with ExitStack() as stack:
            yield Machine(root, stack)
    finally:
        shutil.rmtree(root, ignore_errors=True)
