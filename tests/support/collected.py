"""Collects the tests of a run once, for all workers of pytest-xdist. Each worker is a fork of the process that has
collected the tests, which saves each worker two seconds of a core.

A worker uses the pytest session of that process, with its own configuration. Options that choose among the collected
tests (`-k`, `-m`, `--deselect`) work as usual. Each worker collects the tests by itself if an option changes which
tests are found, or if a file of tests could not be collected.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from _pytest.fixtures import FixtureManager

_CHANGE_WHAT_IS_FOUND = ("ignore", "ignore_glob", "doctestmodules", "importmode", "keepduplicates", "pyargs")
_new_session = pytest.Session.from_config
_of_the_run: list[pytest.Session] = []


def collect(tests: Sequence[str]) -> None:
    """Collect these tests in this process. The process, or one fork of it, then becomes a worker of pytest-xdist and
    takes the collected tests."""
    options = ["--collect-only", "-qq", "-p", "no:cacheprovider"]
    pytest.main([*options, *tests], plugins=[_Keeps()])
    cast(Any, pytest.Session).from_config = _session


def are_taken(config: pytest.Config) -> bool:
    """Tell whether this configuration belongs to a worker that takes the tests collected before it started."""
    return config.pluginmanager.has_plugin(_Takes.__name__)


class _Keeps:
    """A pytest plugin that keeps the pytest session of the run that collects the tests."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items and not session.testsfailed:  # else each worker collects, and tells what is wrong
            _of_the_run.append(session)


def _session(config: pytest.Config) -> pytest.Session:
    """Return the pytest session for a worker with this configuration: the session that has collected the tests, or a
    new one."""
    cast(Any, pytest.Session).from_config = _new_session
    if not _of_the_run or _found_by(config) != _found_by(_of_the_run[0].config):
        return _new_session(config)
    session = _of_the_run[0]
    for node in {node for item in session.items for node in item.iter_parents()}:
        node.config = config
    _load_conftests(config, {item.path.parent for item in session.items})
    config.pluginmanager.register(session, name="session")
    config.pluginmanager.register(_Takes(session._fixturemanager), name=_Takes.__name__)
    return session


def _load_conftests(config: pytest.Config, folders: set[Path]) -> None:
    """Load each folder's conftest.py, and let its hooks see the tests below the folder, as if the tests were collected
    at this moment."""
    for folder in folders:
        config.pluginmanager._loadconftestmodules(
            folder,
            importmode=config.getoption("importmode"),
            rootpath=config.rootpath,
            consider_namespace_packages=config.getini("consider_namespace_packages"),
        )


def _found_by(config: pytest.Config) -> tuple[object, ...]:
    return (config.args, *(config.getoption(name) or None for name in _CHANGE_WHAT_IS_FOUND))


class _Takes:
    """A pytest plugin of a worker that takes the tests collected before it started."""

    def __init__(self, fixtures: FixtureManager) -> None:
        self._fixtures = fixtures

    def pytest_collection(self, session: pytest.Session) -> bool:
        config = session.config
        config.pluginmanager.unregister(session._fixturemanager)  # the new one knows no test's fixtures
        session._fixturemanager = self._fixtures
        self._fixtures.config = config
        config.hook.pytest_collection_modifyitems(session=session, config=config, items=session.items)
        config.hook.pytest_collection_finish(session=session)
        session.testscollected = len(session.items)
        return True
