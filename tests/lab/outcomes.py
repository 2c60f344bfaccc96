"""A pytest plugin that only the laboratory's report uses: it writes the outcome of each test of a run into a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_WEIGHT = {"passed": 0, "skipped": 1, "failed": 2}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, metavar="FILE", help="write what became of each test into this file")


def pytest_configure(config: pytest.Config) -> None:
    if "workerinput" not in config.__dict__:  # a worker tells its tests to the run that started it
        config.pluginmanager.register(_Outcomes(config.getoption("--outcomes")))


class _Outcomes:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of a test's three outcomes: of its setup, of the test itself, and of its teardown."""
        before = self._of.get(report.nodeid, "passed")
        if report.when == "call" or report.outcome != "passed":
            self._of[report.nodeid] = max(before, report.outcome, key=lambda outcome: _WEIGHT[outcome])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a test file as failed if pytest could not collect it."""
        if report.outcome != "passed":
            self._of[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the outcomes of all tests to the file for the laboratory's report."""
        self._path.write_text(json.dumps(self._of, sort_keys=True), "utf-8")
