"""Makes the page of regulators' clauses (rules that a table must satisfy) from `tests/lab/clauses.toml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.lab.clauses import Clause, Read, Verdict, clauses
from tests.lab.report import SAYS

_READ = {Read.TEXT: "the text", Read.CONTENTS: "the contents", Read.KNOWN: "not again"}
_GROUPS = {
    1: "Shoe, cards, conduct of the game",
    16: "Progressive: terms and meters",
    61: "Paying, accounting, tax",
    67: "Software: its identity and its change",
    78: "Memory and power",
    85: "Events, audit, time, records",
    97: "Access and communication",
    107: "Tests, display, hardware",
}
"""Each group by the number of its first clause."""


def clauses_page() -> Iterator[str]:
    """Yield the lines of the page of regulators' clauses."""
    every = clauses()
    counts = Counter(clause.verdict for clause in every)
    yield from _HEADING.splitlines()
    yield f"Of {len(every)} clauses " + ", ".join(f"{counts[verdict]} are {SAYS[verdict]}" for verdict in Verdict) + "."
    yield from _HOUSE.splitlines()
    for clause in every:
        if clause.number in _GROUPS:
            yield from ("", f"## {_GROUPS[clause.number]}", "")
            yield from ("| no | clause | we read | it asks | verdict |", "|---|---|---|---|---|")
        yield _row(clause)


def _row(clause: Clause) -> str:
    verdict = f"{SAYS[clause.verdict]}. {clause.missing}".strip() if clause.missing else SAYS[clause.verdict]
    return f"| {clause.number} | {clause.source} | {_READ[clause.read]} | {clause.asks} | {verdict} |"


_HEADING = """# Regulators' clauses

Made from `tests/lab/clauses.toml` by `make pages`. That file names the tests of each clause.

The program was held against public regulations of Pennsylvania, New Jersey, Maryland, New York, Arkansas, New Mexico,
Indiana, Mississippi, Nevada, the United Kingdom, Australia and New Zealand and Macau, and against the standards of a
test laboratory (GLI). Each clause stands here in our words. A lawyer reads the clause itself before a filing.

`make lab-report` runs the tests of all clauses and writes one page, `build/lab-report.html`, which a laboratory reads:
clause, verdict, what became of its tests, components with their hashes, figures of the proof, and how to build the
same bytes. The page is signed, and twice the same at one commit. `make lab-report VERIFY=build/lab-report.html` tells
whether a byte was changed since. `.venv/bin/python -m pytest -m "clause(number=61)"` runs the tests of clause 61 alone.

"""
_HOUSE = """
## What a house still has to do itself

- It has the shoes, the boards and the flash cards tried, and files their makers' papers (clauses 1, 80 and 111).
- It gives each person an account, and sets passwords, lockouts and time-outs of its machines (99).
- It seals the card and the ports that a table does not need, has the board start from its card alone, and keeps a
  table's cabinet locked and wired (72, 86 and 105).
- It reads the record of logins and privileged commands, and sends it out of root's hands ([logs](logs.md)) (44 and 90).
- It keeps records for as long as its regulator asks, in two places (95).
- It makes the field test with a plan, and files the report (112).
- It has a lawyer read each clause that it files under. We are engineers.
"""
