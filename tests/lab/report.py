"""The report for a test laboratory: each clause of the regulations, with its verdict and the outcomes of its tests, as
one signed page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from msgspec import Struct, to_builtins

from controller.contract.keys import SigningKey
from controller.contract.signed_page import HELD, signed_page
from tests.lab.clauses import Clause, Read, Verdict
from tests.proof.page import read

SAYS = {
    Verdict.MET: "met",
    Verdict.PART: "met in part",
    Verdict.LACKING: "lacking",
    Verdict.HARDWARE: "the hardware's",
    Verdict.HOUSE: "the house's",
}
KNOWN = {
    Read.TEXT: "text read in a public copy",
    Read.CONTENTS: "table of contents or opening read",
    Read.KNOWN: "known to us, not read again",
}


class Outcome(Struct, frozen=True):
    """The outcome of one test that a clause names, or of a whole test file: how many tests passed, failed, and did not
    run on this machine. All three numbers are 0 if the tests run only with `pytest --proof`."""

    test: str
    passed: int
    failed: int
    skipped: int


class Component(Struct, frozen=True):
    """A library with which the program is installed, in the version that the lock files pin. `sha256` lists the allowed
    SHA-256 hashes of the library's files."""

    name: str
    version: str
    sha256: tuple[str, ...]


class Tried(Struct, frozen=True):
    """A clause of a regulation, and the outcomes of its tests. `shown` is True if the clause's verdict is "met", and
    all its tests ran and passed."""

    clause: Clause
    outcomes: tuple[Outcome, ...]
    shown: bool


class Report(Struct, frozen=True):
    """Everything that the page for the test laboratory shows. `figures` are lines of proof/FIGURES.md, each as three
    texts: the name of a test, what the test measured, and the time and commit of the measurement."""

    version: str
    commit: str
    program_digest: str
    contract_version: str
    machine: str
    packages: tuple[tuple[str, str], ...]
    components: tuple[Component, ...]
    figures: tuple[tuple[str, str, str], ...]
    clauses: tuple[Tried, ...]


def tried(clauses: Iterable[Clause], outcomes: Mapping[str, str]) -> tuple[Tried, ...]:
    """Return each clause with the outcomes of its tests. `outcomes` has `passed`, `failed` or `skipped` for each test
    of the run, by the test's name."""
    counts: dict[str, Counter[str]] = {}
    for name, outcome in outcomes.items():
        file, _, test = name.removeprefix("tests/").partition("::")
        for each in (file, f"{file}::{test.partition('[')[0]}"):
            counts.setdefault(each, Counter())[outcome] += 1

    def of(clause: Clause) -> Tried:
        found = tuple(_outcome(name, counts.get(name, Counter())) for name in clause.tests)
        all_passed = bool(found) and all(each.passed and not each.failed and not each.skipped for each in found)
        return Tried(clause, found, shown=clause.verdict is Verdict.MET and all_passed)

    return tuple(map(of, clauses))


def _outcome(test: str, counts: Counter[str]) -> Outcome:
    return Outcome(test, counts["passed"], counts["failed"], counts["skipped"])


_PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^ \\]+)(?P<rest>(?:.*\\\n)*.*)$", re.MULTILINE)


def components(locks: Iterable[Path]) -> tuple[Component, ...]:
    """Return the libraries that these lock files pin, sorted by name."""
    found = {
        pin["name"]: Component(pin["name"], pin["version"], tuple(re.findall(r"sha256:([0-9a-f]{64})", pin["rest"])))
        for lock in locks
        for pin in _PIN.finditer(lock.read_text("utf-8"))
    }
    return tuple(found[name] for name in sorted(found))


def figures(page: Path) -> tuple[tuple[str, str, str], ...]:
    """Return the results of long measurements that stand on the page proof/FIGURES.md. Each has three texts: the name
    of the test, what the test measured, and the time and commit of the measurement."""
    return tuple((test.rpartition("::")[2], it.measured, it.when) for test, it in read(page).figures.items())


def page(report: Report, key: SigningKey | None) -> str:
    """Return the report as one HTML page that needs no other file. The page is signed if a key is given."""
    body = "".join(
        (
            _table("", _head(report)),
            "<h2>In one look</h2>",
            _table("", _counts(report.clauses)),
            "<h2>The clauses</h2>",
            "".join(map(_clause, report.clauses)),
            "<h2>How to build the same bytes</h2>",
            _HOW,
            _table("", report.packages) if report.packages else "<p>No packages were made here.</p>",
            "<h2>Components</h2>",
            "".join(map(_component, report.components)),
            "<h2>Figures of the proof</h2>",
            "".join(
                f"<p><b>{escape(test)}</b>: {escape(said)} ({escape(when)})</p>\n"
                for test, said, when in report.figures
            ),
        )
    )
    return signed_page(_PAGE.format(version=escape(report.version), body=body, held=HELD), to_builtins(report), key)


def _head(report: Report) -> list[tuple[str, str]]:
    return [
        ("version", report.version),
        ("commit", report.commit),
        ("digest of the program", report.program_digest),
        ("version of the contract", report.contract_version),
        ("the tests ran on", report.machine),
    ]


def _counts(clauses: Iterable[Tried]) -> list[tuple[str, str]]:
    every = list(clauses)
    of = Counter(each.clause.verdict for each in every)
    shown = sum(each.shown for each in every)
    return [
        ("clauses", str(len(every))),
        ("met, and each of their tests passed here", str(shown)),
        ("met, with a test that did not run here or did not pass", str(of[Verdict.MET] - shown)),
        *((SAYS[verdict], str(of[verdict])) for verdict in Verdict if verdict is not Verdict.MET),
        ("tests that passed", str(_sum(every, "passed"))),
        ("tests that failed", str(_sum(every, "failed"))),
        ("tests that did not run on this machine", str(_sum(every, "skipped"))),
    ]


def _sum(clauses: Iterable[Tried], what: str) -> int:
    """Count the tests with the outcome `what` ("passed", "failed" or "skipped"). A test that several clauses name
    counts once."""
    outcomes = {outcome.test: outcome for each in clauses for outcome in each.outcomes}
    whole = {test for test in outcomes if "::" not in test}
    return sum(
        getattr(each, what) for test, each in outcomes.items() if test in whole or test.split("::")[0] not in whole
    )


def _clause(tried: Tried) -> str:
    clause = tried.clause
    tests = "".join(f"<li><code>{escape(each.test)}</code>: {_became(each)}" for each in tried.outcomes)
    lacks = f"<p><b>Missing:</b> {escape(clause.missing)}" if clause.missing else ""
    verdict = SAYS[clause.verdict] + (" and shown here" if tried.shown else "")
    return (
        f'<section class="{clause.verdict.value}"><h3>{clause.number}. {escape(clause.source)}</h3>'
        f"<p>{escape(clause.asks)} <small>({KNOWN[clause.read]})</small>"
        f"<p><b>Verdict:</b> {verdict}.{lacks}{f'<ul>{tests}</ul>' if tests else ''}</section>\n"
    )


def _became(outcome: Outcome) -> str:
    said = [f"{count} {what}" for what in ("passed", "failed") if (count := getattr(outcome, what))]
    said += [f"{outcome.skipped} did not run on this machine"] if outcome.skipped else []
    return ", ".join(said) or "not run: only the proof runs it"


def _figure(figure: tuple[str, str, str]) -> str:
    test, said, when = map(escape, figure)
    return f"<p><b>{test}</b>: {said} ({when})</p>\n"


def _component(component: Component) -> str:
    hashes = "<br>".join(component.sha256)
    return (
        f"<details><summary>{escape(component.name)} {escape(component.version)}</summary>"
        f"<p>SHA-256 of each file that may be installed:<p><code>{hashes}</code></details>\n"
    )


def _table(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}<td>{escape(said)}" for name, said in rows)
    return f"{heading}<table>{cells}</table>\n"


_HOW = """<p>Clone the repository at this commit. Run <code>make package</code>. Two runs at one commit give the same
bytes. Compare the digests of the packages with those below. The digest of the program is what
<code>tablectl digest</code> prints at a table, and what <code>sha256sum</code> gives over the same files in the
order of their names.</p>
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Report for a laboratory, version {version}</title><style>
body {{ font: 14px/1.45 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; width: 100%; }} h2 {{ margin: 1.6em 0 .4em; }} h3 {{ font-size: 1em; margin: 0; }}
td, th {{ border: 1px solid #bbb; padding: .3em .5em; text-align: left; vertical-align: top; overflow-wrap: anywhere; }}
th {{ width: 22em; font-weight: normal; background: #f4f4f4; }} p {{ margin: .3em 0; }} ul {{ margin: .2em 0; }}
code {{ font-size: 12px; overflow-wrap: anywhere; }} small {{ color: #555; }}
section {{ border-left: 6px solid #2c7a3f; margin: .8em 0; padding: .1em 0 .1em .8em; break-inside: avoid; }}
section.part {{ border-color: #b7791f; }} section.lacking {{ border-color: #b3261e; }}
section.hardware, section.house {{ border-color: #777; }}
</style></head><body><main><h1>Report for a laboratory</h1>
<p>This page tells which clauses of public regulations the table controller was held against, what each asks in our
words, and what its tests showed. What is not met stands here too. A lawyer reads each clause before a filing.</p>
{body}{held}
</main></body></html>
"""
