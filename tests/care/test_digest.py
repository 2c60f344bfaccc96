"""Checks of the digest over program and configuration: it is the same on every true copy, and a changed byte is found
and reported."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller import __version__
from controller.basics.digest import check_approved, digest, program_digest, proof
from controller.contract.keys import SigningKey
from controller.contract.pit_words import MeasureWord
from controller.daemon.config import load
from controller.daemon.config.table_file import ProgramSection
from controller.daemon.measuring import Measuring
from controller.people.care import libraries, program
from controller.people.care.keeping import noted
from controller.people.care.machine import Machine
from controller.people.care.row import Verdict
from controller.people.cli.main import EXIT_STAYS_WRONG, main
from controller.people.cli.programs import EXAMPLE_TABLE, simulated_table
from controller.pit.reference.clock import now_text
from controller.table.facts import ProgramMeasured
from controller.table.public import public
from controller.table.states import Table
from tests.daemon.daemon_world import PIT_KEY, World, running
from tests.support.errors import raising
from tests.support.told import healthy
from tests.support.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]


_libraries_changed = cache(libraries.changed)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the program. The copy's files have newer times, and Python's cache files are left
    out."""
    for package in ("controller", "drivers"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored, copy_function=shutil.copyfile)
    return tmp_path


def test_the_digest_is_what_the_shells_own_tools_make_of_the_files(copy: Path) -> None:
    """An auditor can check the program's files with the shell command in docs/care.md. That command computes the same
    digest as the program."""
    command = (
        "find controller drivers -type f -not -path '*/__pycache__/*' | LC_ALL=C sort | xargs sha256sum | sha256sum"
    )
    made = subprocess.run(["bash", "-c", command], cwd=copy, capture_output=True, text=True, check=True)
    assert program_digest(copy) == made.stdout.split()[0] == program_digest()
    assert command in (ROOT / "docs" / "care.md").read_text("utf-8")


def test_the_proof_is_what_the_shells_own_tools_make_of_nonce_and_files(copy: Path) -> None:
    """An inspector can check the program's files with a shell command in docs/care.md. That command computes the same
    proof as the program. If a byte or the nonce (a random value) differs, the proof differs."""
    command = (
        "find controller drivers -type f -not -path '*/__pycache__/*' | LC_ALL=C sort"
        " | xargs cat | cat nonce.txt - | sha256sum"
    )
    (copy / "nonce.txt").write_text(f"{'ab' * 32}\n", "utf-8")
    made = subprocess.run(["bash", "-c", command], cwd=copy, capture_output=True, text=True, check=True)
    assert proof("ab" * 32, copy) == made.stdout.split()[0] == proof("ab" * 32) != proof("ba" * 32)
    SPOILED["a byte"](copy)
    assert proof("ab" * 32, copy) != proof("ab" * 32)
    assert command in (ROOT / "docs" / "care.md").read_text("utf-8")


SPOILED: dict[str, Callable[[Path], object]] = {
    "a byte": lambda copy: (copy / "controller/daemon/app.py").write_bytes(
        (copy / "controller/daemon/app.py").read_bytes() + b"\n"
    ),
    "a word of a schema": lambda copy: (copy / "controller/contract/schemas/ack.schema.json").write_text("{}"),
    "a file more": lambda copy: (copy / "drivers/usercustomize.py").touch(),
    "a file less": lambda copy: (copy / "drivers/sim/felt.py").unlink(),
    "two files exchanged": lambda copy: (copy / "drivers/gpio.py").rename(copy / "drivers/mqtt.py"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_each_change_of_a_file_changes_the_digest(how: str, copy: Path) -> None:
    SPOILED[how](copy)
    assert program_digest(copy) != program_digest()


def test_what_python_writes_is_no_change(copy: Path) -> None:
    (copy / "controller" / "__pycache__").mkdir()
    (copy / "controller" / "__pycache__" / "app.cpython-311.pyc").write_bytes(b"anything")
    assert program_digest(copy) == program_digest()


def test_the_command_prints_the_digests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["digest", str(EXAMPLE_TABLE)]) == 0
    words = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    configuration = load(EXAMPLE_TABLE).digest
    both = digest(program_digest(), configuration)
    assert words == [["program", program_digest()], ["configuration", configuration], ["both", both]]


def test_a_library_that_was_changed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert libraries.changed() == []
    found = libraries._found
    monkeypatch.setattr(
        libraries, "_found", lambda library, file: file != "paho/mqtt/client.py" and found(library, file)
    )
    assert libraries.changed() == ["paho-mqtt: paho/mqtt/client.py"]


def test_a_changed_file_of_the_package_is_found_its_bytecode_too(tmp_path: Path) -> None:
    for name in ("a.py", "a.pyc", "gone.so"):
        (tmp_path / name).write_text(name, "utf-8")
    listed = (f"{hashlib.sha256(name.encode()).hexdigest()}  ./{name}\n" for name in ("a.py", "a.pyc", "gone.so"))
    (tmp_path / "SHA256SUMS").write_text("".join(listed), "utf-8")
    assert libraries.changed(tmp_path) == []
    (tmp_path / "a.pyc").write_text("another", "utf-8")
    (tmp_path / "gone.so").unlink()
    assert libraries.changed(tmp_path) == ["./a.pyc", "./gone.so"]


def test_a_start_notes_what_runs_and_tells_a_change_to_the_pit_once(tmp_path: Path) -> None:
    async def start(**sections: Any) -> list[str]:
        async with running(tmp_path, measured=False, **sections) as world:
            measured = ProgramMeasured(__version__, "0" * 64, world.config.digest)
            await eventually(lambda: world.runtime.table.measured == measured)
            state = world.runtime.told.status()
            assert state.digest == digest(measured.program, measured.configuration)
            assert noted(Machine(Path("/")), world.config.file.journal) == measured
            return [json.loads(body)["code"] for row in world.rows() for body in row.messages if b'"alarm"' in body]

    assert asyncio.run(start()) == []
    assert asyncio.run(start()) == []
    changed = {"pins": {"debounce_ms": 40}}
    assert asyncio.run(start(**changed)) == ["configuration_changed"]
    assert asyncio.run(start(**changed)) == ["configuration_changed"], "it is told once"


def test_a_running_table_measures_itself_and_tells_what_somebody_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running table raises an alarm when somebody replaces a file of its program while it plays."""

    async def play() -> list[str]:
        approved = {"approved": ["0" * 64], "unapproved": "alarm"}
        async with running(tmp_path, measured=False, program=approved) as world:
            measuring = world.runtime._measuring
            monkeypatch.setattr("controller.daemon.measuring.program_digest", lambda: "0" * 64)
            await measuring.measure()
            monkeypatch.setattr("controller.daemon.measuring.program_digest", lambda: "1" * 64)
            await measuring.measure()
            await measuring.measure()
            await eventually(lambda: (kept := world.runtime.table.measured) is not None and kept.program == "1" * 64)
            assert world.runtime.told.status().program_digest == "1" * 64
            return [json.loads(body)["code"] for row in world.rows() for body in row.messages if b'"alarm"' in body]

    assert asyncio.run(play()) == ["program_changed", "program_not_approved"]


def test_two_questions_at_once_are_both_answered() -> None:
    told: list[Any] = []

    async def ask() -> None:
        measuring = Measuring(ProgramSection(), "f" * 64, program_digest(), told.append)
        for number in (1, 2):
            measuring.ask(MeasureWord("royal9-01", "e1", f"{number}" * 64, f"2026-01-01T20:00:00.00{number}Z"))
        task = asyncio.create_task(measuring.run())
        await eventually(lambda: told and told[-1].nonce == "2" * 64)
        task.cancel()

    asyncio.run(ask())
    assert [answer.nonce[0] for answer in told] == ["1", "2"]


def test_a_table_that_is_asked_reads_its_files_now_and_answers_each_question_once(
    tmp_path: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the pit asks a table which program it runs, the table reads its files at that moment, so its answer shows a
    changed file. The table ignores a question that is repeated, meant for another table, or forged."""
    monkeypatch.setattr("controller.daemon.measuring.program_digest", lambda: program_digest(copy))
    monkeypatch.setattr("controller.daemon.measuring.proof", lambda nonce: proof(nonce, copy))
    asked: dict[str, Any] = {"table": "royal9-01", "at": now_text()}

    def told(world: World) -> list[dict[str, Any]]:
        return [each["details"] for each in world.pit.ledger if each.get("code") == "program_measured"]

    async def play() -> None:
        async with running(tmp_path) as world:
            asked["epoch"] = world.journal.epoch

            def ask(nonce: str, key: SigningKey = PIT_KEY, retained: bool = False, **other: Any) -> None:
                word = MeasureWord(**{**asked, "nonce": nonce * 32, **other})
                world.broker.say(word.payload(key), "pit/v1/royal9-01/measure", retained)

            ask("00", table="royal9-02")
            ask("01", epoch="another")
            ask("02", SigningKey(bytes(32)))
            ask("04", retained=True)
            world.broker.say(b"{}", "pit/v1/royal9-01/measure")
            SPOILED["a byte"](copy)
            ask("aa")
            ask("aa")
            await eventually(lambda: told(world))
            ask("aa")
            ask("bb", at=now_text())
            await eventually(lambda: len(told(world)) > 1)
            for details, nonce in zip(told(world), ("aa" * 32, "bb" * 32), strict=True):
                assert details == {
                    "nonce": nonce,
                    "version": __version__,
                    "now": program_digest(copy),
                    "configuration": world.config.digest,
                    "proof": proof(nonce, copy),
                }
                assert details["now"] != program_digest()
        async with running(tmp_path) as world:  # after a restart too
            asked["epoch"] = world.journal.epoch
            word = MeasureWord(nonce="aa" * 32, **asked)
            world.broker.say(word.payload(PIT_KEY), "pit/v1/royal9-01/measure")
            word = MeasureWord(nonce="cc" * 32, **{**asked, "at": now_text()})
            world.broker.say(word.payload(PIT_KEY), "pit/v1/royal9-01/measure")
            await eventually(lambda: told(world))
            assert [details["nonce"] for details in told(world)][-1] == "cc" * 32
            assert "aa" * 32 not in [details["nonce"] for details in told(world)][2:]

    asyncio.run(play())


def test_a_program_that_is_not_approved_does_not_start_and_touches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def went_on(*_: object) -> None:
        raise AssertionError("the table went on to its journal")

    monkeypatch.setattr("controller.daemon.app.open_journal", went_on)
    path = simulated_table(tmp_path, 1883, program={"approved": ["0" * 64]})
    assert main(["run", str(path)]) == EXIT_STAYS_WRONG
    told = capsys.readouterr().err
    assert "program_not_approved: " in told
    assert program_digest() in told
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_only_a_named_program_is_approved_and_where_none_is_named_each_is() -> None:
    check_approved("aa", (), "the file")
    check_approved("aa", ("bb", "aa"), "the file")
    with raising("program_not_approved"):
        check_approved("aa", ("bb",), "the file")


def test_the_doctor_names_a_program_that_is_not_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "changed", _libraries_changed)
    approved = replace(CONFIG.file.program, approved=("0" * 64,))
    config = replace(CONFIG, file=replace(CONFIG.file, program=approved))
    codes = [row.code for row in program.measured(config, None, NOW) if row.verdict is Verdict.FAULT]
    assert codes == ["program_not_approved"]


CONFIG = load(EXAMPLE_TABLE)
NOW = ProgramMeasured(__version__, program_digest(), CONFIG.digest)


@pytest.mark.parametrize(
    ("ran", "told"),
    [
        (None, {}),
        (NOW, {}),
        (ProgramMeasured(__version__, "aa", NOW.configuration), {"program_changed": Verdict.FAULT}),
        (ProgramMeasured("0.0.9", "aa", NOW.configuration), {}),
        (ProgramMeasured(__version__, NOW.program, "bb"), {"configuration_changed": Verdict.WARNING}),
    ],
    ids=["never ran", "as it was", "a file changed", "another version", "the table's file changed"],
)
@pytest.mark.parametrize("runs", [True, False])
def test_the_doctor_finds_what_was_changed(
    ran: ProgramMeasured | None, told: dict[str, Verdict], runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "changed", _libraries_changed)  # no case here changes one
    status = None
    if runs and ran is not None:
        face = public(Table(CONFIG.rules))
        status = healthy(face, version=ran.version, program_digest=ran.program, config_digest=ran.configuration)
    rows = program.measured(CONFIG, status, None if runs else ran)
    assert {row.code: row.verdict for row in rows if row.verdict in (Verdict.WARNING, Verdict.FAULT)} == told
