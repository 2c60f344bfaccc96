"""Checks what other people need in order to continue the project: one licence, the licences of the libraries that the
project uses, and releases."""

from __future__ import annotations

import ast
import re
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from tests.documents.blocks import DOCUMENTS, ROOT
from tools.release import amiss

_CELL = re.compile(r"(?<!\\)\|")


def _licences() -> dict[str, str]:
    rows = [line.split(" | ") for line in (ROOT / "THIRD_PARTY.md").read_text("utf-8").splitlines() if " | " in line]
    return {what.removeprefix("| "): licence for what, licence, _ in rows[1:]}


def _passed_on() -> set[str]:
    """Return the name of every library that the Debian package contains. `tools/package.sh` takes them from the lock
    files that this function reads."""
    text = "".join(
        (ROOT / f"requirements/{name}.lock").read_text("utf-8") for name in ("demo", "postgresql", "pi", "pi5")
    )
    return set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def test_each_library_that_is_passed_on_is_told_with_its_licence() -> None:
    assert {name for name in _licences() if "typeface" not in name} == _passed_on()


def test_a_librarys_licence_is_the_one_that_the_library_names() -> None:
    wrong = {}
    for name, licence in _licences().items():
        try:
            own = metadata(name)
        except PackageNotFoundError:  # a typeface; a library of one kind of Pi or Python
            continue
        if (named := own["License-Expression"]) is not None and named != licence:
            wrong[name] = named
    assert wrong == {}


def test_the_licence_is_one_file_and_the_others_refer_to_it() -> None:
    assert 'license = { file = "LICENSE" }' in (ROOT / "pyproject.toml").read_text("utf-8")
    for page in ("README.md", "debian/copyright", "debian/rules", "tools/package.sh"):
        assert "LICENSE" in (ROOT / page).read_text("utf-8"), page


def test_no_cell_of_how_it_is_built_is_too_long_to_read() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    long = [cell for line in text.splitlines() if line.startswith("|") for cell in _CELL.split(line) if len(cell) > 200]
    assert long == []


def _defined(tree: ast.AST, names: list[str]) -> bool:
    for name in names:
        found = [each for each in ast.iter_child_nodes(tree) if getattr(each, "name", None) == name]
        if not found:
            return False
        tree = found[0]
    return isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)


def test_each_step_of_a_cards_way_is_a_function_that_a_reader_can_open() -> None:
    way = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## One card's way\n")[2].partition("\n## ")[0]
    steps = re.findall(r"`((?:controller|drivers)/[a-z_/]+\.py)`,\s+`([A-Za-z_.]+)`", way)
    assert len(steps) == way.count(".py`") >= len(re.findall(r"^\d+\. ", way, re.MULTILINE))
    gone = [
        f"{file}: {name}"
        for file, name in steps
        if not _defined(ast.parse((ROOT / file).read_text("utf-8")), name.split("."))
    ]
    assert gone == []


@pytest.mark.parametrize(
    ("changelog", "tags", "changed", "told"),
    [
        ("## 0.2.0 (2026-12-01)\n", [], [], ""),
        ("## Unreleased\n", [], [], "has no section `## 0.2.0"),
        ("## Unreleased\n\n- A change.\n\n## 0.2.0 (2026-12-01)\n", [], [], "0.2.0 as released, and no tag v0.2.0"),
        ("## Unreleased\n\n- A change.\n\n## 0.2.0\n", [], [], "has changes under `## Unreleased`"),
        ("## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- A change.\n", [], [], ""),
        (
            "## 0.3.0 (2026-12-01)\n\n## 0.2.0 (2026-11-01)\n",
            ["v0.3.0"],
            [],
            "The first section of CHANGELOG.md is 0.3.0",
        ),
        ("## 0.2.0 (unreleased)\n", [], [], "has no date"),
        ("## 0.2.0\n", [], [], "has no date"),
        ("## 0.2.0 (2026-12-01)\n", ["v0.2.0"], [], "The tag v0.2.0 is there already"),
        ("## 0.2.0 (2026-12-01)\n\n## 0.1.0 (2026-11-01)\n", [], [], "releases without a tag: 0.1.0"),
        ("## 0.2.0 (2026-12-01)\n", [], ["Makefile"], "Not committed: Makefile."),
    ],
)
def test_a_release_is_told_what_does_not_agree(changelog: str, tags: list[str], changed: list[str], told: str) -> None:
    found = [*amiss("0.2.0", changelog, tags, changed)]
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_the_changelog_begins_with_what_is_unreleased_or_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version = re.search(r'"(.*)"', (ROOT / "controller/__init__.py").read_text("utf-8").partition("__version__")[2])
    first = re.search(r"^## (\S+)", text, re.MULTILINE)
    assert first is not None
    assert version is not None
    assert first[1] in ("Unreleased", version[1])
    assert ROOT / "CONTRIBUTING.md" in DOCUMENTS


def test_each_promise_has_a_command_that_checks_it_by_tests_that_there_are() -> None:
    """Each promise of the project has commands that check it by existing tests, and says how long each command takes.
    The check that the promise names is among these commands."""
    text = (ROOT / "docs" / "promises.md").read_text("utf-8")
    promised, checked = (part.partition("|---|---|---|\n")[2].partition("\n\n")[0] for part in text.split("## ", 2)[:2])
    rows = [row.removeprefix("| ").removesuffix(" |").split(" | ") for row in checked.splitlines()]
    promises = {row[0]: row[2] for row in (line.removeprefix("| ").split(" | ") for line in promised.splitlines())}
    assert list(dict.fromkeys(promise for promise, _, _ in rows)) == list(promises)
    for _, command, takes in rows:
        program, *words = command.strip("`").split()
        assert re.fullmatch(r"[1-9][0-9]* (s|min)", takes), command
        if program == "make":
            assert re.search(rf"^{' '.join(words)}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), command
        else:
            assert program == "pytest"
            assert [word for word in words if word != "--proof" and not (ROOT / word).exists()] == []
    for promise, tried in promises.items():
        named = {*re.findall(r"`((?:make|pytest) [^`]+)`", tried)} - {"make test", "make proof"}
        assert named <= {command.strip("`") for of, command, _ in rows if of == promise}, promise
