"""Checks all commands of `pitctl`: their help, manual page and completion, and which input they refuse."""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from controller.basics.manual import parsers
from controller.contract.keeping import seal
from controller.people.pit_page.__main__ import parser as page_parser
from controller.pit.conformance.main import parser as conformance_parser
from controller.pit.head_office.main import parser as head_office_parser
from controller.pit.reference.__main__ import main, parser
from controller.pit.reference.commands.entries import COMMANDS, PROGRAM
from tests.pit.evening import TableEvening
from tests.pit.test_meters import give, opened


def _ended(*words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


def test_the_help_has_each_command_with_a_sentence_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended("--help") == 0
    told = capsys.readouterr().out
    for command in COMMANDS:
        assert f"{command.name:<13} {command.says}" in told
        assert _ended(*command.name.split(), "--help") == 0
        assert f"pitctl {command.name} {command.example}".rstrip() in capsys.readouterr().out
    assert [group for group in PROGRAM.groups if f"\n{group}:\n" in told] == list(PROGRAM.groups)
    assert {command.group for command in COMMANDS} == set(PROGRAM.groups)
    assert all(says in told for _, says in PROGRAM.exit_codes)


def test_the_examples_are_command_lines() -> None:
    of_all = parser()
    for command in COMMANDS:
        words = shlex.split(command.example.partition("|")[0])
        assert of_all.parse_args([*command.name.split(), *words]).command is command


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("acount", "there is no command acount, is account meant?; pitctl --help lists all"),
        ("award verfy 7", "there is no command award verfy, is award verify meant?; pitctl --help lists all"),
        ("award verify 7 --despite --by S", "there is no option --despite, is --despite-doubts meant?"),
        ("restore kept --unsign", "there is no option --unsign, is --unsigned meant?"),
        ("run --ledger=l --broker=h:1 --adopt", "there is no option --adopt, is --adopt-new meant?"),
        ("--verson", "there is no option --verson, is --version meant?"),
    ],
)
def test_what_is_mistyped_or_shortened_is_told_with_what_is_meant(
    typed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands refuse mistyped and shortened options. A shortened option in a decision on money could mean
    something else as soon as a new option is added."""
    assert _ended(*typed.split()) == 2
    assert capsys.readouterr().err.endswith(f": error: {told}\n")


def test_no_other_program_of_a_house_takes_a_shortened_option(capsys: pytest.CaptureFixture[str]) -> None:
    for made, typed in (
        (conformance_parser(), "--brok"),
        (head_office_parser(), "--rememb=f"),
        (page_parser(), "--ledge"),
    ):
        with pytest.raises(SystemExit):
            made.parse_args([typed])
        assert f"there is no option {typed.partition('=')[0]}, is --" in capsys.readouterr().err


def test_the_manual_page_has_each_command_and_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manual"]) == 0
    page = capsys.readouterr().out
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
    assert requests == {".TH", ".SH", ".TP", ".B", ".br", ".I"}
    plain = page.replace("\\-", "-").replace("\\(aq", "'")
    assert plain.startswith(".TH PITCTL 1")
    for name, own in parsers(parser()).items():
        entry = plain.partition(f"\n.B pitctl {name}\n")[2].partition("\n.TP")[0]
        for action in own._actions:
            assert action.dest == "help" or (action.option_strings or [str(action.metavar)])[0] in entry


def test_the_shells_complete_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manual", "--completion", "bash"]) == 0
    script = tmp_path / "pitctl.bash"
    script.write_text(capsys.readouterr().out)

    def completed(*words: str) -> list[str]:
        typed = f"COMP_WORDS=(pitctl {' '.join(words)}); COMP_CWORD={len(words)}; _shtab_pitctl"
        command = ["bash", "-c", f"source {script}; {typed}; echo ${{COMPREPLY[@]}}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert completed("una") == ["unadopt"]
    assert completed("award", "dis") == ["dismiss"]
    assert completed("award", "verify", "--d") == ["--despite-doubts"]
    assert main(["manual", "--completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef pitctl")


def test_a_program_reads_what_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seal, "_COST", 2)
    ledger, table = tmp_path / "ledger", TableEvening("t-0")
    with closing(opened(ledger)) as open_:
        give(open_, table, table.lock(3))

    def told(*words: object) -> str:
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    account = json.loads(told("account", "--ledger", ledger, "--json"))
    assert account["findings"] == []
    assert all(meter["contributions_cents"] > 0 and isinstance(meter["carried"], str) for meter in account["meters"])
    assert json.loads(told("award", "list", "--all", "--ledger", ledger, "--json")) == []
    assert json.loads(told("alarms", "--ledger", ledger, "--json")) == []

    key, backup, passphrase = told("key", "--ledger", ledger).strip(), tmp_path / "backup", tmp_path / "words"
    passphrase.write_text("seven words that nobody else would write\n")
    passphrase.chmod(0o600)
    told("backup", backup, "--ledger", ledger, "--passphrase-file", passphrase)
    verified = json.loads(told("verify", backup, "--json"))
    assert (verified["key"], verified["tables"], verified["findings"]) == (key, {"t-0": 1, "t-1": 0}, [])
