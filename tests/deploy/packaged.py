"""A table's machine with a clean Debian. A test installs the package on it, runs the table and deals at it as people
do."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from controller import __version__
from controller.daemon.record.journal_reading import Verified, verify
from tests.deploy.clean_debian import Machine, booted, clean_root, layer
from tests.support.waiting import eventually_now

STATE = Path("/var/lib/table-controller")
_ANSWERS = f"""
table.game = "royal9"
setup.shoe = "{STATE}/shoe"
shoe.driver = "angel_eye"
pins.driver = "simulated"
pins.page = "{STATE}/header"
pit.port = 1
journal.path = "{STATE}/journal"
journal.signing_key = "{STATE}/key"
control.socket = "/run/table-controller/s"
setup.report = "/root/report.html"
"""
_OPENS_A_SHOE = ("3H", "8C", "KD", "2S")  # the first card burns three more


class Table:
    """A table's machine, on which a test installs the package, runs the table and deals at it as people do."""

    def __init__(self, machine: Machine, state: Path) -> None:
        self.machine, self.state = machine, state
        self.shoe: subprocess.Popen[str] | None = None

    def install(self, package: Path) -> str:
        """Install the Debian package with `apt install ./FILE`, and return what apt printed."""
        shutil.copy(package, self.machine.root / "root" / package.name)
        return self.machine.run("apt-get", "install", "-y", "-q", "--allow-downgrades", f"/root/{package.name}").stdout

    def set_up(self) -> None:
        """Run `tablectl setup` for a table with simulated hardware, and start the table."""
        self.asked("setup.start = 'no'")
        self.plug_in()
        self.machine.run("systemctl", "enable", "--now", "table-controller")

    def asked(self, more: str) -> str:
        """Run `tablectl setup` with a file of answers, and return what it printed. `more` is added to the usual
        answers."""
        file = self.machine.root / "root" / "answers"
        file.write_text(_ANSWERS + more, "utf-8")
        told = self.machine.run("tablectl", "setup", "--answers", "/root/answers", check=False)  # 1: not ready yet
        assert "The report is" in told.stdout, told.stderr
        return told.stdout

    def plug_in(self) -> None:
        """Connect a simulated shoe to the table's serial port."""
        deal = "exec /opt/table-controller/current/bin/tablectl sim shoe --pty /var/lib/table-controller/shoe --verbs"
        command = self.machine.command("runuser", "-u", "table-controller", "--", "sh", "-c", deal)
        self.shoe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd="/")
        eventually_now(lambda: (self.state / "shoe").is_symlink())

    def says(self, *verbs: str) -> None:
        """Send these commands to the simulated shoe, in the form that `tablectl sim shoe --verbs` takes."""
        assert self.shoe is not None
        assert self.shoe.stdin is not None
        self.shoe.stdin.write("".join(f"{verb}\n" for verb in verbs))
        self.shoe.stdin.flush()

    def draw(self, *cards: str) -> None:
        self.says(*(f"draw {card}" for card in cards))

    def open_a_shoe(self) -> None:
        eventually_now(lambda: '"up":true' in self.status().replace(" ", ""))
        self.machine.run("tablectl", "new-shoe", "--by", "Smith")
        self.says("new-shoe")
        self.draw(*_OPENS_A_SHOE)
        eventually_now(lambda: '"wagers_open"' in self.status())

    def close_the_shoe(self) -> None:
        self.machine.run("tablectl", "close-shoe", "--by", "Smith", "--yes")

    def status(self) -> str:
        return self.machine.run("tablectl", "status", "--json", check=False).stdout

    def runs(self, unit: str = "table-controller") -> str:
        """Return which version of the program the systemd unit's process runs, as the kernel shows it; empty if no
        process runs."""
        pid = self.machine.run("systemctl", "show", "-P", "MainPID", unit).stdout.strip()
        maps = self.machine.run("cat", f"/proc/{pid}/maps", check=False).stdout if pid != "0" else ""
        return maps.partition("/opt/table-controller/.")[2].partition("/")[0].rpartition(".")[0]

    def journal(self) -> Verified:
        return verify(self.state / "journal")


@contextmanager
def clean_table(folder: Path, name: str, state: Path, release: str = "bookworm") -> Iterator[Table]:
    """Boot a machine called `name` with a clean Debian of this release. `state` is the folder of the table's own files;
    it lies apart from the machine's system, and outlives it."""
    with layer([clean_root(release)], folder / name) as root, booted(root, name, state) as machine:
        table = Table(machine, state)
        yield table
        if table.shoe is not None:
            table.shoe.kill()
            table.shoe.wait()


def another(package: Path, version: str, folder: Path, change: Callable[[Path], None] = lambda _program: None) -> Path:
    """Return a copy of the Debian package that claims to be version `version`. `change` may alter the program in it."""
    tree = folder / version
    subprocess.run(["dpkg-deb", "-R", str(package), str(tree)], check=True)
    versions = tree / "usr" / "lib" / "table-controller"
    (versions / __version__).rename(versions / version)
    for name in ("control", "postinst", "md5sums"):
        file = tree / "DEBIAN" / name
        file.write_text(file.read_text("utf-8").replace(__version__, version), "utf-8")
    (program,) = versions.glob("*/lib/*/site-packages/controller")
    for bytecode in program.rglob("*.pyc"):
        bytecode.unlink()
    (program / "__init__.py").write_text(f'__version__ = "{version}"\n', "utf-8")
    change(program)
    (tree / "DEBIAN" / "md5sums").unlink()
    made = folder / f"table-controller_{version}.deb"
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", str(tree), str(made)], check=True)
    return made
