"""Fixtures for tests of the Debian package: the package, which is built once, and a machine to install it on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.clean_debian import make_package
from tests.deploy.packaged import Table, clean_table


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest) -> str:
    """The name of the Debian release for which the package is built. A test chooses another release by pytest's
    `indirect`."""
    named: str = getattr(request, "param", "bookworm")
    return named


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory, release: str) -> Path:
    """The Debian package of this working copy, built once for all workers of a test run."""
    own = tmp_path_factory.getbasetemp()  # a worker's is in that of the run
    return make_package((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / release, release=release)


@pytest.fixture
def table(tmp_path: Path, release: str) -> Iterator[Table]:
    """A machine with a clean Debian that has booted. No table is installed on it yet."""
    with clean_table(tmp_path, "table", tmp_path / "state", release) as each:
        yield each
