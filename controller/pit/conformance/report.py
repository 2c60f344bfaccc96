"""The report on a run of the conformance tests, as text, as JUnit XML, as an HTML page, and as a signed JSON object."""

from __future__ import annotations

import html
import platform
from collections.abc import Sequence
from enum import Enum
from xml.etree import ElementTree

from msgspec import Struct, to_builtins

from controller import __version__
from controller.contract.signing import Signer, signed
from controller.pit.conformance.clauses import CONTRACT, Clause
from controller.pit.conformance.wire import now_text


class Result(Enum):
    """The result of the test of one clause of the contract: kept, broken, or not tried."""

    KEPT = "kept"
    BROKEN = "broken"
    NOT_TRIED = "not tried"


class Line(Struct, frozen=True):
    """One line of a conformance report: a clause of the contract and its result. `why` says what was expected and what
    came, or why the clause was not tested."""

    clause: Clause
    result: Result
    why: str
    seconds: float


class Report(Struct, frozen=True):
    """The report on a whole run of the conformance tests: what was tested (`the pit`, or `the table NAME`), on which
    broker, when the run ended (UTC), and one line for each clause in the contract's order."""

    tried: str
    broker: str
    at: str
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, tried: str, broker: str, lines: Sequence[Line]) -> Report:
        """Return the report of a run that ends now. `tried` is `the pit` or `the table NAME`, and `lines` has a line
        for each clause."""
        return cls(tried, broker, now_text(), tuple(lines))

    def count(self, result: Result) -> int:
        """Return the number of clauses that have this result."""
        return sum(line.result is result for line in self.lines)

    @property
    def summary(self) -> str:
        """One line of text with the number of clauses for each result."""
        return ", ".join(f"{self.count(result)} {result.value}" for result in Result)

    def heading(self) -> str:
        """Return a line with the versions of the contract, the conformance kit and Python, and the time of the run."""
        return f"The contract, {CONTRACT}; conformance kit {__version__}; Python {platform.python_version()}; {self.at}"

    def text(self) -> str:
        """Return the report as text for a terminal."""
        lines = [self.heading(), f"Tried: {self.tried} on the broker {self.broker}", ""]
        for line in self.lines:
            asked = f"since version {line.clause.since}"
            lines.append(f"{line.clause.number}  {line.result.value:9}  {asked}  {line.clause.text}")
            if line.why:
                lines.append(f"                {line.why}")
        return "\n".join([*lines, "", self.summary, ""])

    def junit(self) -> bytes:
        """Return the report as JUnit XML, for a program that collects test results."""
        suite = ElementTree.Element(
            "testsuite",
            name=f"conformance of {self.tried}, contract {CONTRACT}",
            tests=str(len(self.lines)),
            failures=str(self.count(Result.BROKEN)),
            skipped=str(self.count(Result.NOT_TRIED)),
            timestamp=self.at,
        )
        for line in self.lines:
            case = ElementTree.SubElement(
                suite, "testcase", classname=line.clause.number, name=line.clause.text, time=f"{line.seconds:.3f}"
            )
            if line.result is Result.BROKEN:
                ElementTree.SubElement(case, "failure", message=line.why)
            elif line.result is Result.NOT_TRIED:
                ElementTree.SubElement(case, "skipped", message=line.why)
        whole: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
        return whole

    def page(self) -> str:
        """Return the report as one HTML page that needs no other file, to read and to print."""
        rows = "".join(
            f'<tr class="{line.result.name.lower()}"><td>{line.clause.number}</td><td>{line.clause.since}</td>'
            f"<td>{html.escape(line.clause.text)}</td><td>{line.result.value}</td><td>{html.escape(line.why)}</td></tr>\n"
            for line in self.lines
        )
        return _PAGE.format(
            heading=html.escape(self.heading()),
            tried=html.escape(self.tried),
            broker=html.escape(self.broker),
            summary=self.summary,
            rows=rows,
        )

    def signed(self, signer: Signer, public_key: str) -> bytes:
        """Return the report as canonical JSON with a signature that `signer` makes. The signature has the form that a
        table's event has. The JSON contains `public_key`."""
        lines = [
            {**to_builtins(line.clause), "result": line.result.value, "why": line.why, "ms": round(line.seconds * 1000)}
            for line in self.lines
        ]
        whole = {
            "contract": CONTRACT,
            "kit": __version__,
            "tried": self.tried,
            "broker": self.broker,
            "at": self.at,
            "lines": lines,
            "public_key": public_key,
        }
        return signed(whole, signer)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Conformance of {tried}</title><style>
body {{ font: 15px/1.4 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid #bbb; padding: .4em; text-align: left; vertical-align: top; }}
.broken td:nth-child(4) {{ background: #c00; color: #fff; font-weight: bold; }}
.kept td:nth-child(4) {{ background: #dfd; }} .not_tried td:nth-child(4) {{ background: #eee; }}
</style></head><body><main><h1>Conformance of {tried}</h1><p>{heading}</p>
<p>On the broker {broker}: {summary}.</p>
<table><tr><th>Clause</th><th>Asked since version</th><th>What {tried} must do</th><th>Result</th>
<th>What came instead, or why not tried</th></tr>
{rows}</table></main></body></html>
"""
