"""Checks the help, the manual page and the shell completion of `tablectl`, which are made from one list of commands.
Also checks which configuration file a command reads."""

from __future__ import annotations

import shlex
import subprocess
from io import StringIO
from pathlib import Path

import pytest

from controller.basics.manual import parsers
from controller.daemon.record.journal import Journal
from controller.people.cli import files
from controller.people.cli.command import EXIT_CODES, GROUPS, parser_of
from controller.people.cli.commands import every_command
from controller.people.cli.main import main
from controller.people.cli.programs import EXAMPLE_TABLE, example_game, simulated_table
from controller.pit.reference.ledger import Ledger
from tests.daemon.test_tablectl import KEY


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the one where a table's machine keeps its configuration."""
    folder = tmp_path / "etc"
    folder.mkdir()
    monkeypatch.setattr(files, "CONFIGURATION", folder)
    monkeypatch.delenv(files.VARIABLE, raising=False)
    return folder


def _help(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


def test_the_help_has_each_command_with_a_sentence_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    told = _help(capsys=capsys)
    for command in every_command():
        assert command.group in GROUPS
        assert f"{command.name:<13} {command.says}" in told
        assert f"tablectl {command.name} {command.example}".rstrip() in _help(*command.name.split(), capsys=capsys)
    assert [group for group in GROUPS if f"\n{group}:\n" in told] == list(GROUPS)
    assert all(says in told for _, says in EXIT_CODES)


def test_the_examples_are_command_lines() -> None:
    """Each example in the help is a valid command line of its command, if the file that it needs is put in."""
    import shlex

    own = parsers(parser_of(every_command()))
    for command in every_command():
        words = shlex.split(command.example.partition("|")[0])
        there = [] if command.file is None or any(word.endswith(".toml") for word in words) else ["table.toml"]
        options = own[command.name].parse_args([*there, *words])
        assert options.command.name == command.name


def test_the_only_table_of_a_machine_need_not_be_named(
    configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["check"]) == 1
    told = capsys.readouterr().err
    assert "no_table: No table is named, and" in told
    assert "tablectl check TABLE.toml" in told
    assert "On a new machine: sudo tablectl setup." in told
    assert main(["check", "/nope"]) == 78
    assert "/nope: (the file): cannot be read: No such file" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 78
    assert f"{tmp_path}: (the file): cannot be read: Is a directory" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["check", configuration.name]) == 78
    assert f"{configuration.name}: (the file): cannot be read: Is a directory" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["status", "--jsn"])
    assert "there is no option --jsn" in capsys.readouterr().err
    here = simulated_table(configuration, 1)
    assert main(["check"]) == 0
    assert main(["count", "397", "--by", "Smith"]) == 1
    assert f"table_not_running: No table listens at {configuration / 'table.sock'}" in capsys.readouterr().err
    assert main(["rounds"]) == 1
    assert f"There is no journal at {configuration / 'table.journal'}" in capsys.readouterr().err
    here.rename(configuration / "one.toml")
    (configuration / "two.toml").touch()
    assert main(["status"]) == 1
    assert "holds one.toml, two.toml" in capsys.readouterr().err
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.setenv(files.VARIABLE, str(simulated_table(there, 1)))
    assert main(["status"]) == 1
    assert f"No table listens at {there / 'table.sock'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("backup {folder}/royal9-01.backup --move --by Smith", "journal_missing: "),
        ("check --pit-settings {folder}/pit.toml", "settings_invalid: "),
        ("status --language en", "table_not_running: "),
        ("rounds --json --archive {folder}", "journal_missing: "),
        ("rounds --json {folder}/other.journal", "journal_missing: There is no journal at {folder}/other.journal"),
        ("verify --against {folder}/log", "journal_missing: "),
    ],
)
def test_a_path_that_is_no_tables_leaves_the_default(
    words: str, error: str, configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated_table(configuration, 1)
    assert main(words.format(folder=tmp_path).split()) == 1
    assert capsys.readouterr().err.startswith(error.format(folder=tmp_path))


def test_a_journals_reader_takes_the_default_journal_beside_its_other_words(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated_table(configuration, 1)
    Journal(configuration / "table.journal", "royal9-01", KEY, KEY.public).close()
    assert main(["replay", "--archive", str(configuration), "3/12"]) == 1
    assert "no_such_round: The journal holds no finished round 3/12." in capsys.readouterr().err
    assert main(["verify"]) == 0


def test_a_file_of_the_wrong_kind_is_named_as_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, journal, ledger = simulated_table(tmp_path, 1), tmp_path / "table.journal", tmp_path / "ledger"
    Journal(journal, "royal9-01", KEY, KEY.public).close()
    Ledger(ledger).close()
    archive, misnamed = tmp_path / "rows.archive", tmp_path / "journal.toml"
    archive.write_bytes(b'{"archive":1}\n')
    misnamed.write_bytes(journal.read_bytes())
    for words, told in (
        (["rounds", table], f"{table} is a table's file, and rounds reads a table's journal."),
        (["verify", ledger], f"{ledger} is a pit's ledger, and verify reads a table's journal."),
        (["verify", archive], f"{archive} is an archive of a journal, and verify reads"),
        (["replay", example_game("royal9"), "1/1"], "is a game's file, and replay reads a table's journal."),
        (["rounds", EXAMPLE_TABLE.parents[1] / "pit.toml"], "is a pit's settings, and rounds reads"),
        (["status", journal], f"{journal} is a table's journal, and status needs a table's file."),
        (["deal", misnamed, "-"], "is a table's journal, and deal needs a table's file."),
    ):
        assert main([str(word) for word in words]) == 1
        said = capsys.readouterr()
        assert (said.out, told in said.err) == ("", True), said.err
    assert main(["rounds", str(table)]) == 1
    assert f"what to do: Its journal is {journal}. Write: tablectl rounds {journal}" in capsys.readouterr().err


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_colours_and_nothing_else_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    said = {}
    streams = (("shown", _Terminal(), ""), ("asked not to", _Terminal(), "1"), ("piped", StringIO(), ""))
    for name, stream, variable in streams:
        monkeypatch.setenv("NO_COLOR", variable)
        monkeypatch.setattr("sys.stderr", stream)
        assert main(["verify", str(tmp_path / "nowhere")]) == 1
        said[name] = stream.getvalue()
    assert said["shown"].startswith("\x1b[31mjournal_missing: There is no journal")
    assert said["shown"].splitlines()[0].endswith("\x1b[0m")
    assert said["asked not to"] == said["piped"] == said["shown"].replace("\x1b[31m", "").replace("\x1b[0m", "")


def test_the_manual_page_has_each_command_and_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manual"]) == 0
    page = capsys.readouterr().out
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
    assert requests == {".TH", ".SH", ".TP", ".B", ".br", ".I"}
    plain = page.replace("\\-", "-").replace("\\(aq", "'")
    for command in every_command():
        assert f"\n.B tablectl {command.name}\n" in plain
    for own in parsers(parser_of(every_command())).values():
        for action in own._actions:
            assert action.dest == "help" or (action.option_strings or [str(action.metavar)])[0] in plain


def test_the_shells_complete_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manual", "--completion", "bash"]) == 0
    script = tmp_path / "tablectl.bash"
    script.write_text(capsys.readouterr().out)

    def completed(*words: str) -> list[str]:
        typed = f"COMP_WORDS=(tablectl {' '.join(words)}); COMP_CWORD={len(words)}; _shtab_tablectl"
        run = subprocess.run(
            ["bash", "-c", f"source {script}; {typed}; echo ${{COMPREPLY[@]}}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout.split()

    assert completed("od") == ["odd-card"]
    assert completed("clear", "--f") == ["--fault"]
    assert main(["manual", "--completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef tablectl")


def test_fish_is_told_every_command_and_option_in_whole_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manual", "--completion", "fish"]) == 0
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    assert all(line[:3] == ["complete", "-c", "tablectl"] for line in lines)
    typed = {(line[4], line[line.index("-l") + 1]) for line in lines if "-l" in line}
    assert ("__fish_seen_subcommand_from clear", "fault") in typed
    assert ("__fish_seen_subcommand_from sim; and __fish_seen_subcommand_from shoe", "verbs") in typed
    assert {line[line.index("-a") + 1] for line in lines if line[4:5] == ["__fish_use_subcommand"]} == {
        command.name.split()[0] for command in every_command()
    }
