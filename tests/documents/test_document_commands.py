"""Runs every command in every document, in a scratch copy of the project. A command that cannot be run in such a copy
is only parsed by its own parser."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from controller.basics.manual import parsers
from controller.people.cli.command import parser_of
from controller.people.cli.commands import every_command
from controller.people.cli.files import VARIABLE
from controller.people.cli.main import parsed
from controller.people.cli.programs import EXAMPLE_TABLE
from controller.people.pit_page.__main__ import parser as pit_page_parser
from controller.pit.conformance.main import parser as conformance_parser
from controller.pit.head_office.main import parser as head_office_parser
from controller.pit.reference.__main__ import parser as pit_parser
from tests.documents.blocks import DOCUMENTS, ROOT, Block, blocks, without_code
from tests.support.each import each
from tests.support.waiting import PATIENCE_S

_A_TAP_IS_SEEN_S = 10.0
_ORDINARY = {
    ".",
    "/usr/sbin/mosquitto",
    "apt",
    "apt-get",
    "cat",
    "nano",
    "tar",
    "cd",
    "chmod",
    "chown",
    "cp",
    "echo",
    "export",
    "find",
    "git",
    "grep",
    "etcdctl",
    "gpg",
    "install",
    "journalctl",
    "modprobe",
    "keepalived",
    "kill",
    "ls",
    "man",
    "mkdir",
    "pip",
    "openssl",
    "pg_dump",
    "pg_restore",
    "patroni",
    "patronictl",
    "poweroff",
    "python3",
    "psql",
    "raspi-config",
    "usermod",
    "rm",
    "sed",
    "sh",
    "sleep",
    "sort",
    "sha256sum",
    "systemctl",
    "tee",
    "xargs",
    "tools/repository.sh",
    "tools/setup.sh",
}
"""Programs that are not ours: only that they are meant is known."""

_RUN = [page for page in DOCUMENTS if any(each.kind == "sh" and not each.elsewhere for each in blocks(page))]

_LONG = tuple(ROOT / "docs" / name for name in ("practice.md", "play.md", "own-house.md", "ha.md", "wire.md"))
"""Pages that take seconds, and whose commands other pages and tests run too."""


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Reading.


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in a code block. `sudo` and variables before the command are left out."""
    joined = re.sub(r"<<'(\w+)'(.*?)^\1$", "", text.replace("\\\n", " "), flags=re.MULTILINE | re.DOTALL)
    for line in joined.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("&|;"):
                if words:
                    yield _bare(words)
                words = []
            else:
                words.append(word)


def _bare(words: list[str]) -> list[str]:
    while words and (words[0] == "sudo" or re.match(r"[A-Z_]+=", words[0])):
        words = words[1:]
    if words[:1] == ["runuser"]:
        words = words[words.index("--") + 1 :]
    end = next((place for place, word in enumerate(words) if set(word) <= set("<>")), len(words))
    return words[:end]


_PROGRAMS = {
    "pitctl": cache(pit_parser),
    "table-controller-conformance": cache(conformance_parser),
    "table-controller-head-office": cache(head_office_parser),
}
_MODULES = {"controller.people.pit_page": cache(pit_page_parser)}


def _wrong_with(words: list[str]) -> str:
    """Return the reason why these words cannot be a command, or "" if they can."""
    match words:
        case [program, *arguments] if Path(program).name == "tablectl":
            return _as_typed(arguments)
        case [python, "-m", module, *arguments] | [python, "-I", "-m", module, *arguments] if module in _MODULES:
            return _parses(_MODULES[module](), arguments)
        case [python, "-m", "pytest", *paths] if Path(python).name == "python":
            named = [path for path in paths if path.startswith("tests/")]
            return "".join(f"there is no {path}" for path in named if not (ROOT / path).exists())
        case [python, "-"] if Path(python).name == "python":
            return ""
        case [program, *arguments] if Path(program).name in _PROGRAMS:
            return _parses(_PROGRAMS[Path(program).name](), arguments)
        case ["make", target, *variables]:
            return _wrong_with_make(target, variables)
        case [program, *_] if program in _ORDINARY:
            return ""
    return f"{words[0]} is a program that nobody knows"


def _parses(parser: ArgumentParser, arguments: list[str]) -> str:
    try:
        parser.parse_args(arguments)
    except SystemExit as told:
        return "" if told.code == 0 else f"its parser refuses {shlex.join(arguments)}"
    return ""


def _as_typed(arguments: list[str]) -> str:
    """Return the reason why `tablectl` refuses these arguments on a machine with a default table, or "" if it takes
    them."""
    try:
        parsed(arguments)
    except SystemExit as told:
        return "" if told.code == 0 else f"its parser refuses {shlex.join(arguments)}"
    return ""


@pytest.fixture(autouse=True)
def _own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the example table the default table of this machine for every test."""
    monkeypatch.setenv(VARIABLE, str(EXAMPLE_TABLE))


def _wrong_with_make(target: str, variables: list[str]) -> str:
    """Return what make complains about in a target and its variables, or "" if make would run it."""
    if not re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE):
        return f"there is no target {target}"
    plain = [f"{name}=1" for name, _, _ in (variable.partition("=") for variable in variables)]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}  # `make test`
    words = ["make", "--dry-run", target, *plain]
    tried = subprocess.run(words, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    return tried.stderr if tried.returncode else ""


@each("page", DOCUMENTS)
def test_each_command_can_be_one(page: Path) -> None:
    wrong = [
        f"line {block.line}: {shlex.join(words)}: {told}"
        for block in blocks(page)
        if block.kind == "sh"
        for words in _commands(block.text)
        if (told := _wrong_with(words))
    ]
    assert wrong == []


@cache
def _every_parser() -> dict[str, dict[str, ArgumentParser]]:
    return {"tablectl": parsers(parser_of(every_command())), "pitctl": parsers(_PROGRAMS["pitctl"]())}


@each("page", DOCUMENTS)
def test_each_command_in_a_sentence_has_a_name_and_options_that_there_are(page: Path) -> None:
    every = _every_parser()
    text = without_code(page.read_text("utf-8"))
    wrong = []
    for program, said in re.findall(r"`(?:\.venv/bin/)?(tablectl|pitctl) ([^`]+)`", text):
        own = every[program]
        words = said.partition("|")[0].split()
        name = " ".join(words[:2]) if " ".join(words[:2]) in own else words[0]
        if name in ("COMMAND", "--help", "--version", "sim", "award"):
            continue
        known = own[name].format_help() if name in own else ""
        wrong += [said for word in words if name not in own or (word.startswith("--") and word not in known)]
    assert wrong == []


def test_each_target_of_make_inside_a_sentence_has_its_variables() -> None:
    """Each make target that a sentence in the documents names has the variables that the sentence gives. A page once
    named `make pictures EACH=FOLDER`, and make knew no variable EACH."""
    said = {
        (target, *re.findall(r"[A-Z]+(?==)", variables))
        for page in DOCUMENTS
        for target, variables in re.findall(r"`make ([a-z-]+)((?: [A-Z]+=[^` ]*)+)`", page.read_text("utf-8"))
    }
    wrong = {words: _wrong_with_make(words[0], [f"{name}=1" for name in words[1:]]) for words in said}
    assert len(said) > 5
    assert {words: told for words, told in wrong.items() if told} == {}


def test_no_document_has_commands_outside_of_a_fence() -> None:
    for page in DOCUMENTS:
        indented = re.findall(
            r"^ {4}+(?:\.venv/|make |tablectl |sudo ).*$", without_code(page.read_text("utf-8")), re.M
        )
        assert indented == [], f"{_name(page)}: put them into a fence of the kind sh"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("tablectl clear --by Smith", ""),
        ("sudo tablectl clear --buy Smith", "its parser refuses"),
        ("make test ARGS=-x", ""),
        ("make tests", "there is no target tests"),
        ("make demo ROUND=5", "demo knows no variable ROUND"),
        (".venv/bin/python -m pytest tests/hill", "there is no tests/hill"),
        (".venv/bin/pitctl award pays A --ledger L --by N", "its parser refuses"),
        ("frobnicate", "is a program that nobody knows"),
    ],
)
def test_a_command_that_cannot_be_one_is_found(words: str, told: str) -> None:
    (command,) = _commands(words)
    wrong = _wrong_with(command)
    assert (told in wrong) if told else wrong == ""


# Running.


class _Scratch:
    """A scratch copy of the project, in which the commands of one page are run in the page's order and in one
    environment."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doc-")))
        self._env = {name: value for name, value in os.environ.items() if not name.startswith("TABLE_CONTROLLER")}
        self._copy = self._folder / "copy"
        self._copy.mkdir()
        for path in ROOT.iterdir():
            if path.name not in (".git", "site"):
                (self._copy / path.name).symlink_to(path)
        self._table: _PracticeTable | None = None

    def do(self, block: Block, printed: str | None) -> None:
        """Run the commands in a code block, whose output must be `printed` (None: any output). A block of kind
        "practice" is typed at the practice table."""
        if block.kind == "practice":
            assert self._table is not None, f"line {block.line}: no practice table runs"
            self._table.type(block)
        elif re.search(r"tablectl practice", block.text):
            command = shlex.split(self._here(block.text))
            self._table = self._stack.enter_context(_PracticeTable(command, self._copy, self._env).running())
        else:
            self._run(block, printed)

    def _run(self, block: Block, printed: str | None) -> None:
        text = self._here(block.text)
        self._env |= dict(re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE))
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self._copy,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert run.returncode == 0, f"line {block.line}: {block.text}\n{run.stdout}{run.stderr}"
        if printed is not None:
            assert run.stdout.replace(f"{self._folder}/", "/tmp/") == printed, f"line {block.line}: what is printed"

    def _here(self, text: str) -> str:
        return text.replace("/tmp/", f"{self._folder}/").replace(" /etc/", f" {self._folder}/etc/")


class _PracticeTable:
    """A running `tablectl practice`, at whose prompt the test types as a person would. Before the next line is typed,
    the test waits for the answer that the page promises."""

    def __init__(self, command: list[str], folder: Path, env: dict[str, str]) -> None:
        self._started = command, folder, env
        self._said = ""
        self._read = 0
        self._more = threading.Condition()

    @contextmanager
    def running(self) -> Iterator[_PracticeTable]:
        command, folder, env = self._started
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._await("In another terminal", "")
            yield self
        finally:
            assert self._process.stdin is not None
            self._process.stdin.close()
            ended = self._process.wait(PATIENCE_S)
        assert ended == 0

    def type(self, block: Block) -> None:
        """Type each line of the code block, and wait until the table prints what the comment in the line says."""
        for line in block.text.splitlines():
            verb, _, comment = line.partition("#")
            with self._more:
                self._read = len(self._said) if verb.strip() else self._read
            self._enter(line)
            if verb.startswith("tap ") and not self._says(comment.strip(), _A_TAP_IS_SEEN_S):
                self._enter(line)  # a busy machine may not look at the button in the 80 ms of a tap
            self._await(comment.strip(), line)

    def _enter(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._more:
                self._said += line
                self._more.notify_all()

    def _await(self, told: str, line: str) -> None:
        assert self._says(told, PATIENCE_S), f"{line}: {told!r} was not said, but\n{self._said}"

    def _says(self, told: str, within_s: float) -> bool:
        with self._more:
            return self._more.wait_for(lambda: told in self._said[self._read :], within_s)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.proof] * (page in _LONG)) for page in _RUN], ids=_name
)
def test_the_commands_of_a_page_do_what_they_say(page: Path, request: pytest.FixtureRequest) -> None:
    of_page = blocks(page)
    with ExitStack() as stack:
        scratch = _Scratch(stack)
        for block, after in zip(of_page, [*of_page[1:], None], strict=True):
            if block.kind not in ("sh", "practice") or block.elsewhere:
                continue
            if not block.proof or request.config.getoption("--proof"):
                scratch.do(block, after.text if after is not None and after.kind == "text" else None)
