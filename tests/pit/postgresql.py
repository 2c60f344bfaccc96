"""PostgreSQL servers for the tests. Each server has a folder of its own, and a socket instead of a port."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from controller.pit.reference.opening import Place
from tests.support.network import Network
from tests.support.waiting import eventually_now

_BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), Path("/usr/bin"))
needs_postgresql = pytest.mark.skipif(
    not (_BIN / "initdb").exists(), reason="needs Debian's postgresql, which is not installed here"
)
FILE, DATABASE = "a file", "a database"
over_both = pytest.mark.parametrize("at", [FILE, pytest.param(DATABASE, marks=needs_postgresql)], indirect=True)
"""A test of the sample that runs over both in every run."""

_USER = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to be run by root
_CONFIG = """
max_connections = 40
shared_buffers = 16MB
wal_level = replica
wal_keep_size = 256MB
max_wal_senders = 4
wal_retrieve_retry_interval = '100ms'
"""


class Server:
    """A PostgreSQL server in a folder of its own, which listens at `address`. `url` is the URL of its database.

    If the server runs on another machine, `on` is the beginning of each command line that runs a command on that
    machine.
    """

    def __init__(self, folder: Path, on: Sequence[str] = (), address: str = "") -> None:
        self.folder = folder
        self.address = address
        self._on = on
        self._data = folder / "data"

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder), safe='')}"

    def begin(self) -> None:
        """Make an empty database in the server's folder."""
        self._own()
        self._run(
            "initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "-D", str(self._data)
        )
        with (self._data / "pg_hba.conf").open("a", encoding="utf-8") as access:
            access.write("host all all samenet trust\nhost replication all samenet trust\n")
        self.configure(_CONFIG)
        self._listen()

    def follow(self, primary: Server) -> None:
        """Make this server a replica of the running server `primary`."""
        self._own()
        of = f"host={primary.address or primary.folder} user=postgres application_name={self.folder.name}"
        self._run("pg_basebackup", "--no-sync", "--checkpoint=fast", "-R", "-D", str(self._data), "-d", of)
        self._listen()

    def forget(self) -> None:
        """Delete all data of the server."""
        shutil.rmtree(self._data)

    def configure(self, lines: str) -> None:
        """Append lines to the server's configuration file. If two lines set the same option, the later line counts."""
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as config:
            config.write(lines)

    def start(self) -> None:
        self._run("pg_ctl", "-w", "-D", str(self._data), "-l", str(self.folder / "log"), "start")

    def until_it_receives(self) -> None:
        """Wait until this replica receives data from its primary.

        Each attempt opens a new connection, because a connection wakes the replica's main process. Without that, in an
        earlier test run, the replica began to receive so late that commits on the primary had given up waiting for it.
        """
        asked = "SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'"
        eventually_now(lambda: self.query(asked), f"for {self.folder.name} to receive from its primary")

    def reload(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "reload")

    def promote(self) -> None:
        """Promote this replica to be the primary."""
        self._run("pg_ctl", "-w", "-D", str(self._data), "promote")

    def stop(self, how: str = "immediate") -> None:
        """Stop the server. With "immediate" it ends as if its machine had lost power."""
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "-w", "-m", how, "-D", str(self._data), "stop")

    def pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().splitlines()[0])

    def query(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _listen(self) -> None:
        self.configure(f"unix_socket_directories = '{self.folder}'\nlisten_addresses = '{self.address}'\n")

    def _own(self) -> None:
        self.folder.mkdir(exist_ok=True)
        if _USER is not None:
            shutil.chown(self.folder, _USER)

    def _run(self, program: str, *arguments: str) -> None:
        as_user = [] if _USER is None else ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"]
        done = subprocess.run(
            [*self._on, *as_user, str(_BIN / program), *arguments],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout


def rows(at: Place, statement: str, *values: object) -> list[Any]:
    """Return the rows of an SQL query on a ledger's file or database. The query does not go through the ledger's own
    code."""
    if isinstance(at, Path):
        with closing(sqlite3.connect(at)) as file:
            return file.execute(statement, values).fetchall()
    with psycopg.connect(at) as database:
        return database.execute(statement.replace("?", "%s").encode(), values).fetchall()


def write(at: Place, statement: str) -> None:
    """Change a ledger's file or database by an SQL statement. The statement does not go through the ledger's own
    code."""
    if isinstance(at, Path):
        with closing(sqlite3.connect(at, isolation_level=None)) as file:
            file.execute(statement)
        return
    with psycopg.connect(at) as database:
        database.execute(statement.encode())


def new_folder(on_disk: bool = False) -> Path:
    """Make a folder for a server's data. The folder is in memory if possible, because each commit is synced to the
    disk, and a sync in memory takes no time. With `on_disk` it is on the disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="pit-", dir=memory if memory.is_dir() and not on_disk else None))
    folder.chmod(0o755)
    return folder


@contextmanager
def servers(*names: str, network: Network | None = None, on_disk: bool = False) -> Iterator[list[Server]]:
    """Yield one PostgreSQL server for each name. The first server runs with an empty database; the others are not set
    up yet. If `network` is given, each server is on the network's machine of the same name."""
    folder = new_folder(on_disk)
    every = [Server(folder / name) for name in names]
    if network is not None:
        every = [Server(folder / name, network.on(name), network.address(name)) for name in names]
    try:
        every[0].begin()
        every[0].start()
        yield every
    finally:
        for server in every:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
