"""Checks which version of the program runs after an update, after a rollback, after a version that does not start, and
after a power cut at each step.

The systemd in these tests is a few lines of Python. test_package.py does the same with the package and the real
systemd.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from controller.basics.errors import TableError
from controller.daemon.config import load
from controller.people.cli import versions
from controller.people.cli.programs import simulated_table
from controller.people.cli.versions import PIT, TABLE, Versions
from controller.table.facts import Fact, ShoeOpened
from controller.table.public import PHASE_NAMES
from tests.deploy.clean_debian import ROOT
from tests.support.errors import raising
from tests.support.stopped import stopped_table


class PowerCut(BaseException):
    pass


class Machine:
    """A machine with pretended systemd services. `ran` maps each service to the version of the program that it runs.
    The versions in `broken` do not become ready."""

    def __init__(
        self,
        folder: Path,
        broken: tuple[str, ...] = (),
        power_cut_after: int | None = None,
        services: Sequence[str] = (TABLE,),
    ) -> None:
        self.folder, self.broken, self.left, self.enabled = folder, broken, power_cut_after, services
        self.ran: dict[str, str | None] = dict.fromkeys(services, "1")
        self.versions = Versions(folder, self.systemctl)
        for name in ("1", "2", "3"):
            (folder / name / "bin").mkdir(parents=True)
            (folder / name / "bin" / "tablectl").touch()
        (folder / "current").symlink_to("1")
        (folder / "before").symlink_to("1")

    def systemctl(self, *words: str) -> bool:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise PowerCut
        match words:
            case "is-active", _, unit:
                return self.ran.get(unit) is not None
            case "is-enabled", _, unit:
                return unit in self.enabled
            case "stop", unit:
                self.ran[unit] = None
            case "start", unit:
                if self.ran[unit] is None:
                    self.start(unit)
                return self.ran[unit] is not None
        return True

    def start(self, unit: str) -> None:
        current = self.versions.link("current")
        self.ran[unit] = None if current in self.broken else current

    def boot(self) -> None:
        for unit in self.enabled:
            self.start(unit)

    @property
    def runs(self) -> str | None:
        """The version of the program that every enabled service of the machine runs; None if none runs."""
        (version,) = {self.ran[unit] for unit in self.enabled}
        return version

    def switch(self, shoe: list[bool] | None = None, unfit: str | None = None) -> bool:
        """Switch to the version of the program that was asked for last, and return whether that version runs. `shoe`
        holds the answers to the question whether a shoe is open, in the order in which the question is asked. `unfit`
        is the reason why the version cannot run, or None."""
        opens = iter(shoe or [])
        return self.versions.switch(lambda: next(opens, False), lambda _version: unfit)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_POLL_S", 0)


def test_an_update_runs_the_new_version_and_keeps_the_one_before(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.versions.ask_for("2", False)
    assert table.switch()
    assert (table.runs, table.versions.link("current"), table.versions.link("before")) == ("2", "2", "1")
    table.versions.ask_for("1", False)
    assert table.switch()
    assert (table.runs, table.versions.link("current"), table.versions.link("before")) == ("1", "1", "2")


def test_an_update_waits_for_the_end_of_the_shoe(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.versions.ask_for("2", False)
    ran: list[str | None] = []
    opens = iter([True, True, False])

    def shoe_is_open() -> bool:
        ran.append(table.runs)
        return next(opens)

    assert table.versions.switch(shoe_is_open, lambda _version: None)
    assert ran == ["1", "1", "1"]
    assert table.runs == "2"


@pytest.mark.parametrize("phase", PHASE_NAMES.values())
def test_a_shoe_is_open_in_every_phase_but_before_and_after_one(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def status_of(table: Path) -> SimpleNamespace:
        asked.append(table)
        return SimpleNamespace(face=SimpleNamespace(phase=phase))

    monkeypatch.setattr(versions, "status_of", status_of)
    monkeypatch.setattr(versions, "default_table", lambda _: Path("table.toml"))
    assert versions._shoe_is_open() == (phase not in ("no_shoe", "shoe_ended"))
    assert asked == [Path("table.toml")]


def _stopped(monkeypatch: pytest.MonkeyPatch, folder: Path, facts: Sequence[Fact]) -> Path:
    """Make a table that is not running, with these facts in its journal, and make it the machine's default table.
    Return the journal's path."""
    table = stopped_table(folder, facts)
    monkeypatch.setattr(versions, "default_table", lambda _: table)
    monkeypatch.setattr(versions, "_ACCOUNT", None)
    return Path(load(table).file.journal.path)


def test_a_stopped_tables_journal_says_whether_a_shoe_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load(simulated_table(tmp_path, 1)).rules
    opened = ShoeOpened(1, "dealer", rules, "digest", "test")
    journal = _stopped(monkeypatch, tmp_path, [])
    assert not versions._shoe_is_open(), "the journal holds nothing"
    journal.unlink()
    assert not versions._shoe_is_open(), "there is no journal yet"
    (tmp_path / "table.key").unlink()
    (tmp_path / "table.key.journals").unlink()
    journal = _stopped(monkeypatch, tmp_path, [opened])
    assert versions._shoe_is_open()
    journal.write_bytes(b"no journal")
    assert not versions._shoe_is_open(), "this version never comes to that shoe's end"


_FAKED = """#!/bin/sh
count=$(($(cat "$FAKES/count") + 1))
echo $count > "$FAKES/count"
if [ $count = "$CUT_AT" ]; then kill -9 $PPID; exit 1; fi
PATH=$REAL exec {} "$@"
"""


def _installs(tmp_path: Path, cut_at: int) -> tuple[bool, Path]:
    """Run the package's postinst script for another build of the same version, and cut the power before one of its
    commands. `cut_at` is the number of that command. Return two values: whether the power was cut, and the folder of
    the versions."""
    kept, own, fakes = tmp_path / "opt", tmp_path / "own", tmp_path / "fakes"
    for folder in (kept, own / "9.1.0" / "bin", fakes):
        folder.mkdir(parents=True)
    for name in ("rm", "mv", "cp", "ln", "mkdir", "mktemp", "sync", "chmod"):
        (fakes / name).write_text(_FAKED.format(name))
        (fakes / name).chmod(0o755)
    for name in ("systemd-sysusers", "udevadm"):
        (fakes / name).symlink_to("/bin/true")
    text = (ROOT / "debian" / "postinst").read_text("utf-8").replace("@VERSION@", "9.1.0")
    text = text.replace("/opt/table-controller", str(kept)).replace("/usr/lib/table-controller", str(own))
    script = tmp_path / "postinst"
    environment = {"PATH": f"{fakes}:{os.environ['PATH']}", "REAL": os.environ["PATH"], "FAKES": str(fakes)}

    def configure(build: str, cut_at: int) -> int:
        (fakes / "count").write_text("0")
        (own / "9.1.0" / "bin" / "tablectl").unlink(missing_ok=True)  # as dpkg: another file, not other content
        (own / "9.1.0" / "bin" / "tablectl").write_text(build)
        script.write_text(text)
        return subprocess.run(
            ["sh", str(script), "configure"], env=environment | {"CUT_AT": str(cut_at)}, check=False
        ).returncode

    assert configure("first", 0) == 0
    cut = configure("second", cut_at) != 0
    runs = (kept / "current" / "bin" / "tablectl").read_text()
    assert runs in ("first", "second"), "a whole version is there after the cut"
    assert configure("second", 0) == 0
    return cut, kept


def test_a_power_cut_at_any_command_of_a_reinstallation_leaves_a_version_to_run(tmp_path: Path) -> None:
    cut, cut_at = True, 0
    while cut:
        cut_at += 1
        cut, kept = _installs(tmp_path / str(cut_at), cut_at)
        assert (kept / "current" / "bin" / "tablectl").read_text() == "second"
        assert Versions(kept).installed() == ["9.1.0"]
        assert len([path for path in kept.iterdir() if path.is_dir() and not path.is_symlink()]) <= 2
    assert cut_at > 4


def test_an_update_told_to_be_now_does_not_ask_for_the_shoe(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.versions.ask_for("2", True)
    assert table.switch([True] * 100)
    assert table.runs == "2"


def test_what_is_asked_for_last_counts_while_a_shoe_is_open(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.versions.ask_for("2", False)

    def shoe_is_open() -> bool:
        table.versions.ask_for("3", True)
        return True

    assert table.versions.switch(shoe_is_open, lambda _version: None)
    assert table.runs == "3"


def test_a_version_that_does_not_become_ready_is_left_by_itself(tmp_path: Path) -> None:
    table = Machine(tmp_path, broken=("2",))
    table.versions.ask_for("2", False)
    assert not table.switch()
    assert (table.runs, table.versions.link("current"), table.versions.asked()) == ("1", "1", (None, False))
    assert "Version 2 did not become ready, so 1 runs again." in table.versions.told()


def test_a_version_that_says_it_cannot_run_this_table_is_not_tried(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.versions.ask_for("2", False)
    assert not table.switch(unfit="journal_too_new: The journal has form 9.")
    assert (table.runs, table.versions.link("current")) == ("1", "1")
    assert "journal_too_new" in table.versions.told()


def test_a_version_is_rehearsed_once_before_the_shoe_is_waited_for_and_the_version_before_never(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    opens, rehearsed = iter([True, True, False]), list[str]()

    def rehearse(version: Path) -> str:
        rehearsed.append(version.name)
        assert table.runs == "1", "while the version that runs deals on"
        return "9 shoes told again."

    table.versions.ask_for("2", False)
    assert table.versions.switch(lambda: next(opens), lambda _version: None, rehearse)
    assert table.versions.told() == "Version 2 runs. 9 shoes told again."
    table.versions.ask_for("1", False)
    assert table.versions.switch(lambda: False, lambda _version: None, rehearse)
    assert (rehearsed, table.runs) == (["2"], "1")


def test_a_version_that_tells_the_past_otherwise_is_not_taken(tmp_path: Path) -> None:
    def rehearse(version: Path) -> str:
        raise TableError("told_differently", "Shoe 3, round 12: otherwise.", "Send this.")

    table = Machine(tmp_path)
    table.versions.ask_for("2", True)
    assert not table.versions.switch(lambda: False, lambda _version: None, rehearse)
    assert (table.runs, table.versions.link("current"), table.versions.asked()) == ("1", "1", (None, False))
    assert table.versions.told().startswith("Version 2 is not taken, so 1 stays. told_differently: Shoe 3, round 12")


_KEY = "/run/credentials/table-controller.service/table.key"


@pytest.mark.parametrize(
    ("mistakes", "fit"),
    [
        ([f"table.toml: pit.private_key: '{_KEY}' cannot be read: Permission denied"], True),
        (["table.toml: pit.private_key: '/etc/table.key' cannot be read: Permission denied"], False),
        ([f"table.toml: pit.private_key: '{_KEY}' cannot be read: Permission denied", "table.toml: pit.x: why"], False),
        ([], False),
    ],
)
def test_a_credential_that_only_the_tables_unit_sees_is_no_reason_against_a_version(
    mistakes: list[str], fit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["config_invalid: the configuration has mistakes", *(f"{each}\n  what to do: so" for each in mistakes)]
    refused = subprocess.CompletedProcess([], 1, "", "\n".join(lines))
    monkeypatch.setattr(versions, "default_table", lambda _: tmp_path / "table.toml")
    monkeypatch.setattr(versions, "_asked", lambda _version, *_words: refused)
    assert (versions._unfit(tmp_path) is None) == fit


def test_a_stopped_table_stays_stopped(tmp_path: Path) -> None:
    table = Machine(tmp_path)
    table.ran[TABLE] = None
    table.versions.ask_for("2", False)
    assert table.switch()
    assert (table.runs, table.versions.link("current")) == (None, "2")


def test_a_version_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with raising("version_unknown"):
        Machine(tmp_path).versions.ask_for("4", False)


def test_where_no_package_was_installed_an_update_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "PACKAGED", tmp_path / "none")
    with raising("version_unknown"):
        versions.update(None, now=False)


def test_where_the_version_before_is_not_ready_either_a_person_is_told(tmp_path: Path) -> None:
    table = Machine(tmp_path, broken=("1", "2"))
    table.versions.ask_for("2", False)
    assert not table.switch()
    assert "so 1 was started again, and did not become ready either." in table.versions.told()


@pytest.mark.parametrize("services", [(TABLE,), (PIT,), (TABLE, PIT)], ids=["table", "pit", "both"])
@pytest.mark.parametrize("broken", [(), ("2",)], ids=["good", "broken"])
def test_after_a_power_cut_at_any_step_the_switch_comes_to_its_end(
    tmp_path: Path, broken: tuple[str, ...], services: tuple[str, ...]
) -> None:
    for after in range(14):
        (folder := tmp_path / f"{after}").mkdir()
        _the_switch_comes_to_its_end(folder, after, broken, services)


def _the_switch_comes_to_its_end(
    tmp_path: Path, after: int, broken: tuple[str, ...], services: tuple[str, ...]
) -> None:
    table = Machine(tmp_path, broken, after, services)
    table.versions.ask_for("2", False)
    try:
        table.switch()
    except PowerCut:
        table.left = None
        table.boot()
        if table.versions.asked()[0] is not None:  # what the unit table-controller-switch.path looks for
            table.switch()
    assert table.runs == ("1" if broken else "2")
    assert table.versions.asked() == (None, False)
