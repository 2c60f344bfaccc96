"""Checks that every test is in exactly one part of `make proof`, and that proof/FIGURES.md correctly says which rooms
(folders of tests) are proved."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.proof import parts, versions
from tests.proof.__main__ import due, ended, judged
from tests.proof.page import FAILURE, Figure, Page, Run, after, read, standing, text, whole, with_run, write
from tests.proof.parts import PARTS, PRODUCT, READS, ROOMS, ROOT, own_paths, room_of
from tests.proof.versions import Version

NOW = Version("c2", "p", dict.fromkeys(ROOMS, "t"))
PASSED = Run(9, 0, 0, "", 66, "2026-11-26 10:30", "c1", "p", "t", "a Pi")
ALL = Page(dict.fromkeys(ROOMS, PASSED), {"tests/hil/test_a.py::test_b[c d]": Figure("9 kills", "3", "then, c1")})


def test_each_test_is_in_one_room_and_each_room_in_one_part() -> None:
    files = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    assert {room_of(file) for file in files} == set(ROOMS)
    assert max(Counter(room for part in PARTS.values() for room in part.rooms).values()) == 1
    assert all(part.minutes < 60 for part in PARTS.values())


def test_a_rooms_tests_are_made_of_what_they_import_however_far() -> None:
    assert {"tests/conftest.py", "tests/support", "tests/pi", "tests/deploy/clean_debian.py"} <= set(own_paths("pi"))
    assert not {path for path in own_paths("roads") if path.startswith(("tests/hil", "tests/proof"))}
    assert "docs" in own_paths("documents")
    assert "docs/care.md" in own_paths("hil")
    assert "docs" not in own_paths("hil")


def test_a_page_that_the_tests_of_a_room_name_is_among_what_they_are_made_of() -> None:
    for test in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r'"docs" / "([a-z-]+\.md)"', test.read_text("utf-8")):
            assert {"docs", f"docs/{name}"} & {*own_paths(room_of(str(test.relative_to(ROOT))))}, (test, name)


def test_the_page_says_all_that_it_is_told_and_is_read_back(tmp_path: Path) -> None:
    skipped = Run(7, 0, 2, "no QEMU; no Pi", 66, "2026-11-26 10:30", "c1", "p", "t", "a Pi")
    page = Page(ALL.runs | {"pi": skipped}, ALL.figures)
    write(page, NOW, tmp_path / "FIGURES.md")
    assert read(tmp_path / "FIGURES.md") == page
    assert read(tmp_path / "absent") == Page({}, {})


def test_the_shipped_page_is_in_this_form() -> None:
    assert len(read().figures) > 100


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (PASSED, "stands"),
        (None, "never run whole"),
        (Run(8, 1, 0, "", 66, "", "c1", "p", "t", ""), "**failed**"),
        (Run(0, 0, 9, "no QEMU", 66, "", "c1", "p", "t", ""), "no test ran"),
        (Run(9, 0, 0, "", 66, "", "c2", "other", "t", ""), "stale: the product has changed"),
        (Run(9, 0, 0, "", 66, "", "c2", "p", "other", ""), "stale: its tests have changed"),
    ],
)
def test_a_room_stands_that_passed_on_what_is_here(run: Run | None, said: str) -> None:
    runs = ALL.runs | {"pi": run} if run else {room: it for room, it in ALL.runs.items() if room != "pi"}
    page = Page(runs, {})
    assert standing("pi", run, NOW) == said
    assert f"| board | pi | {said} |" in text(page, NOW)
    assert ("**The whole proof stands**" in whole(page, NOW)) is (said == "stands")
    assert due(page, NOW, None) == ([] if said == "stands" else ["pi"])
    assert due(page, NOW, "board") == ["pi"], "a part that stands is run again where it is named"
    assert due(page, NOW, "fuzz") == ["fuzz"]


def test_the_page_names_the_commits_and_what_did_not_run() -> None:
    other = Run(9, 0, 3, "no QEMU", 66, "", "c0", "p", "t", "")
    said = whole(Page(ALL.runs | {"pi": other}, {}), NOW)
    assert "commits c1, c0, with no product change between" in said
    assert "3 tests did not run" in said
    assert "passed at commit c1." in whole(ALL, NOW)
    dirty = Page(dict.fromkeys(ROOMS, Run(9, 0, 0, "", 66, "", "c1+", "p", "t", "")), {})
    assert "passed at commit c1 and changes that are in no commit." in whole(dirty, NOW)


def test_figures_of_tests_that_are_no_more_go_with_the_next_whole_run() -> None:
    assert with_run(ALL, "hil", PASSED, []).figures == {}
    assert with_run(ALL, "pi", PASSED, []).figures == with_run(ALL, "hil", PASSED, ALL.figures).figures == ALL.figures


FAILED = Figure(FAILURE, "3", "before, c0")


def test_a_test_that_passes_without_a_figure_is_said_to_have_failed_no_more() -> None:
    """A test that failed in an earlier run, and now passes without measuring a figure, no longer counts as failed.
    Figures of an earlier run stay, and so does the failure of a test that did not run again."""
    kept = {"tests/hil/test_a.py::test_b[c d]": ALL.figures["tests/hil/test_a.py::test_b[c d]"]}
    page = Page({}, {**kept, "tests/hil/test_a.py::passes": FAILED, "tests/hil/test_a.py::stays": FAILED})
    passed = ["tests/hil/test_a.py::passes", "tests/hil/test_a.py::test_b[c d]", "tests/hil/test_a.py::quick"]
    assert after(page, passed, {}).figures == {**kept, "tests/hil/test_a.py::stays": FAILED}
    again = {"tests/hil/test_a.py::passes": FAILED}
    assert after(page, passed, again).figures == page.figures, "its end failed"


@pytest.mark.parametrize(
    ("run", "when", "said"),
    [
        (PASSED, "then, c1", "stands"),
        (PASSED, "then, c0", "of another commit"),
        (Run(9, 0, 0, "", 66, "", "c1", "other", "t", ""), "then, c1", "stale: the product has changed"),
        (None, "then, c1", "its room was never run whole"),
        (Run(8, 1, 0, "", 66, "", "c1", "p", "t", ""), "then, c1", "its room failed"),
    ],
)
def test_each_figure_says_whether_it_still_stands(run: Run | None, when: str, said: str, tmp_path: Path) -> None:
    page = Page({"hil": run} if run else {}, {"tests/hil/test_a.py::test_b": Figure("9 kills", "3", when)})
    assert f"| tests/hil/test_a.py::test_b | 9 kills | 3 | {when} | {said} |" in text(page, NOW)
    write(page, NOW, tmp_path / "FIGURES.md")
    assert read(tmp_path / "FIGURES.md").figures == page.figures


_REPORT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1"
failures="1" skipped="1" tests="5" time="0.129"><testcase classname="tests.pi.test_some" name="test_a" time="0.001" />
<testcase classname="tests.pi.test_some" name="test_b" time="0.002"><failure message="assert 0">def</failure></testcase>
<testcase classname="tests.pi.test_some" name="test_c[1 2]" time="0.000"><skipped type="pytest.skip"
message="no | Pi">at</skipped></testcase><testcase classname="tests.pi.test_some" name="test_d" time="0.000"><error
message="failed on teardown with &quot;assert 0&quot;">torn</error></testcase></testsuite></testsuites>"""
"""As pytest 8 wrote it."""


def test_a_report_of_pytest_is_counted() -> None:
    run, tests = judged(ElementTree.fromstring(_REPORT), 66.0, NOW, "pi")
    assert (run.passed, run.failed, run.skipped, run.reasons, run.seconds) == (1, 2, 1, "no / Pi", 66)
    assert tests == [f"tests/pi/test_some.py::test_{name}" for name in ("a", "b", "c[1 2]", "d")]


def test_each_room_is_told_as_it_ends() -> None:
    assert (
        ended("pi", Run(9, 1, 2, "no Pi", 90, "", "", "", "", ""))
        == "pi: 9 passed, 1 failed, 2 skipped (no Pi), in 1.5 minutes"
    )
    assert ended("pi", None) == "pi: the run was broken off, and is not noted"


_ALL_TESTS = {room for room, paths in READS.items() if "tests" in paths}


def test_a_version_tells_every_change_that_a_commit_would_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("controller/a.py", "tests/hil/test_a.py", "tests/pi/test_b.py", "tests/conftest.py", "proof/FIGURES.md")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("", "utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    first = versions.version()
    (tmp_path / "proof" / "FIGURES.md").write_text("another", "utf-8")
    assert versions.version() == first, "the page itself is no change"
    (tmp_path / "tests" / "hil" / "test_new.py").write_text("from tests.pi import test_b", "utf-8")
    second = versions.version()
    assert second.commit == f"{first.commit}+"
    assert second.product == first.product
    assert {room for room in ROOMS if first.rooms[room] != second.rooms[room]} == {"hil", *_ALL_TESTS}
    (tmp_path / "tests" / "pi" / "test_b.py").write_text("changed", "utf-8")
    third = versions.version()
    assert {room for room in ROOMS if second.rooms[room] != third.rooms[room]} == {"hil", "pi", *_ALL_TESTS}
    (tmp_path / "controller" / "new.py").write_text("", "utf-8")
    assert versions.version().product != third.product


def test_what_a_room_proves_and_is_made_of_is_there() -> None:
    assert {path for room in ROOMS for path in (*PRODUCT, *own_paths(room)) if not (ROOT / path).exists()} == set()
