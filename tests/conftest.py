"""What holds for every test: the bench, `--proof`, and that nothing is skipped where everything is installed."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

pytest_plugins = ["tests.hil.plugin"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proof", action="store_true", help="also make the long measurements")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "proof: a long measurement, made only with --proof")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long measurements out, unless they were asked for. They are not skipped: nothing is missing."""
    if not config.getoption("--proof"):
        long = [item for item in items if item.get_closest_marker("proof")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """CI has everything: there a skipped test has lost its reason to be skipped, and fails."""
    return _no_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that skips itself while it is collected."""
    return _no_skip((yield))


_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


def _no_skip(report: _Report) -> _Report:
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.longrepr = f"skipped, where CI has everything: {why}"
    return report
