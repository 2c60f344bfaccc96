"""Fixtures for the pit's tests: a PostgreSQL server, and a place for a new ledger, which is either a file or a
database."""

from __future__ import annotations

import fcntl
import gzip
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from shutil import rmtree

import pytest

from controller.pit.reference.opening import Place
from tests.pit.house import House
from tests.pit.postgresql import DATABASE, FILE, Server, needs_postgresql, new_folder

_numbers = count()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as ends:
        yield House(tmp_path, ends)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a path in a temporary folder. No file is there yet; a test can make a ledger's file at the path."""
    return tmp_path / "ledger.sqlite"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server that all worker processes of a test run share. The first worker starts the server, and the
    worker that ends last stops it."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    with _users_of(shared) as users:
        if not users:
            users.append(str(new_folder()))
        else:
            users.append("")
        server = Server(Path(users[0]) / "server")
        if len(users) == 1:
            server.begin()
            server.start()
    yield server
    with _users_of(shared) as users:
        users.pop()
        if not users:
            server.stop()
            rmtree(server.folder.parent, ignore_errors=True)


@contextmanager
def _users_of(shared: Path) -> Iterator[list[str]]:
    """Yield the lines of the file that lists the worker processes which use the shared database server. The first line
    names the server's folder, and each worker has one line. The file is locked during the `with` block, so no other
    worker can open it."""
    with (shared / "postgresql").open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        users = file.read().split("\n")[:-1]
        yield users
        file.truncate(0)
        file.write("".join(f"{user}\n" for user in users))


@pytest.fixture
def database(server: Server) -> str:
    """Return the URL of a new, empty database schema."""
    schema = f"test_{os.getpid()}_{next(_numbers)}"
    server.query(f"CREATE SCHEMA {schema}")
    return f"{server.url}&options=-csearch_path%3D{schema}"


@pytest.fixture(params=[FILE, pytest.param(DATABASE, marks=(needs_postgresql, pytest.mark.proof))])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The place of a new ledger: a file or a database. A test that uses this fixture runs once with each. Without the
    option `--proof` the run with the database is skipped, unless the test has the mark `over_both`."""
    place: Place = tmp_path / "ledger.sqlite" if request.param == FILE else request.getfixturevalue("database")
    return place


@pytest.fixture
def form_6(tmp_path: Path) -> Path:
    """A ledger file in form 6 (an old version of the database schema), as an earlier program wrote it. Award t-0.1 is
    paid, and t-0.2 is rejected. Award t-1.1 is pending, although its table reported a further step that this ledger
    does not have."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("ledger_form_6.sqlite.gz").read_bytes()))
    return path
