"""Checks the report for a test laboratory: each clause names tests that exist, and the page gives the outcome of each
test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.contract.signed_page import said_by
from tests.lab.__main__ import ROOT
from tests.lab.clauses import TESTS, Clause, Read, Verdict, clauses
from tests.lab.report import Report, components, figures, page, tried

_LOCKS = tuple(ROOT / "requirements" / f"{name}.lock" for name in ("demo", "pi"))


def test_each_clause_is_there_once_and_a_verdict_has_what_belongs_to_it() -> None:
    every = clauses()
    assert [clause.number for clause in every] == [*range(1, 113)]
    for clause in every:
        with_tests = clause.verdict in (Verdict.MET, Verdict.PART)
        assert bool(clause.tests) == with_tests, clause.number
        assert bool(clause.missing) == (clause.verdict is not Verdict.MET), clause.number
        assert clause.asks.endswith("."), clause.number


def test_each_test_that_a_clause_names_exists() -> None:
    there: dict[str, set[str]] = {}
    for clause in clauses():
        for name in clause.tests:
            file, _, test = name.partition("::")
            if file not in there:
                there[file] = set(re.findall(r"^(?:async )?def (\w+)\(", (TESTS / file).read_text("utf-8"), re.M))
            assert not test or test in there[file], f"clause {clause.number}: {name}"


def test_a_test_that_a_clause_names_bears_its_number(request: pytest.FixtureRequest) -> None:
    """A test that a clause names has a pytest marker with the clause's number. For example, clause 76 names a test in
    this file, so that test has the number 76."""
    numbers = {
        marker.kwargs["number"]
        for item in request.session.items
        if item.name == test_the_report_lists_each_component_with_its_version_and_hashes.__name__
        for marker in item.iter_markers("clause")
    }
    assert numbers == {76}


def test_the_report_lists_each_component_with_its_version_and_hashes() -> None:
    found = components(_LOCKS)
    pinned = {
        (name, version)
        for lock in _LOCKS
        for name, version in re.findall(r"^([a-z0-9-]+)==([\w.]+)", lock.read_text("utf-8"), re.MULTILINE)
    }
    assert {(each.name, each.version) for each in found} == pinned
    assert all(each.sha256 for each in found)
    every = {digest for lock in _LOCKS for digest in re.findall(r"--hash=sha256:(\w+)", lock.read_text("utf-8"))}
    assert {digest for each in found for digest in each.sha256} == every


_MET = Clause(1, "A 1", Read.TEXT, "Asks.", Verdict.MET, tests=("a/test_a.py::test_one", "a/test_b.py"))


@pytest.mark.parametrize(
    ("outcomes", "shown"),
    [
        ({"tests/a/test_a.py::test_one": "passed", "tests/a/test_b.py::test_x[1]": "passed"}, True),
        ({"tests/a/test_a.py::test_one": "passed"}, False),  # the other did not run
        ({"tests/a/test_a.py::test_one": "passed", "tests/a/test_b.py::test_x": "failed"}, False),
        ({"tests/a/test_a.py::test_one": "passed", "tests/a/test_b.py::test_x": "skipped"}, False),
        (
            {
                "tests/a/test_a.py::test_one[2]": "failed",
                "tests/a/test_a.py::test_one[1]": "passed",
                "tests/a/test_b.py::test_x": "passed",
            },
            False,
        ),
        ({"tests/a/test_a.py::test_one_more": "passed", "tests/a/test_b.py::test_x": "passed"}, False),
    ],
)
def test_a_clause_is_shown_only_where_every_test_of_it_ran_and_passed(outcomes: dict[str, str], shown: bool) -> None:
    (found,) = tried((_MET,), outcomes)
    assert found.shown is shown


def test_a_clause_that_is_not_met_is_never_shown_as_met() -> None:
    part = Clause(2, "A 2", Read.KNOWN, "Asks.", Verdict.PART, "The rest.", ("a/test_a.py::test_one",))
    (found,) = tried((part,), {"tests/a/test_a.py::test_one": "passed"})
    assert not found.shown


def a_report(*outcomes: str) -> Report:
    every = tried(clauses(), dict.fromkeys(outcomes, "passed"))
    return Report("1", "abc", "d", "4", "m", (("x.deb", "1f"),), components(_LOCKS), figures(_FIGURES), every)


_FIGURES = ROOT / "proof" / "FIGURES.md"


def test_the_page_says_every_clause_and_twice_the_same_bytes(tmp_path: Path) -> None:
    key = load_or_make_key(tmp_path / "key")
    report = a_report("tests/pit/test_slips.py::test_numbers_have_no_gaps_and_a_second_print_is_a_copy")
    text = page(report, key)
    assert text == page(report, key)
    for clause in clauses():
        assert f"<h3>{clause.number}. " in text
    assert "not run: only the proof runs it" in text
    assert text.count("<details>") == len(report.components)


def test_a_page_that_was_made_better_than_the_tests_were_is_refused(tmp_path: Path) -> None:
    """The check refuses a report in which somebody has changed one clause's verdict to "met" after the report was
    signed."""
    path = tmp_path / "report.html"
    path.write_text(page(a_report(), load_or_make_key(tmp_path / "key")), "utf-8")
    assert said_by(path, "make lab-report")["version"] == "1"
    whole = path.read_text("utf-8")
    for old, new in (
        ("<b>Verdict:</b> lacking.", "<b>Verdict:</b> met."),
        ('<section class="lacking">', '<section class="met">'),
        ('"shown": false', '"shown": true'),
    ):
        assert old in whole
        path.write_text(whole.replace(old, new, 1), "utf-8")
        with pytest.raises(TableError, match="does not hold"):
            said_by(path, "make lab-report")
