"""Opens a pit's ledger, in a file or a database: for the pit that runs on it, or only to read it as it stands now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from controller.basics.errors import TableError
from controller.pit.reference import alarms
from controller.pit.reference.alarms import KeptAlarm, LeftOut
from controller.pit.reference.ledger_file import LedgerFile
from controller.pit.reference.store import Store, nonsense_explained
from controller.pit.reference.witness import Fork, forks

Place = Path | str
"""Where a ledger is kept: in a file, or in the PostgreSQL database of a URL."""


def open_store(at: Place, begin: bool, replicated: bool = False, read_only: bool = False) -> Store:
    """Open the ledger's file or database. Raises TableError `not_replicated` for a replicated ledger in a file,
    `postgresql_missing`, or an error about the file or database itself."""
    if isinstance(at, Path):
        if replicated:
            what = f"The ledger {at} is a file, which no second machine has."
            raise TableError("not_replicated", what, "Leave --replicated out, or keep the ledger in PostgreSQL.")
        return LedgerFile(at, begin, read_only)
    try:
        from controller.pit.reference.ledger_database import (
            LedgerDatabase,  # psycopg is only where somebody wants PostgreSQL
        )
    except ImportError as error:
        raise TableError(
            "postgresql_missing",
            f"A ledger in PostgreSQL needs psycopg 3, which cannot be loaded: {error}.",
            "Install it: pip install 'table-controller[postgresql]'",
        ) from error
    return LedgerDatabase(at, begin, replicated)


@contextmanager
def read_only(at: Place) -> Iterator[Store]:
    """Yield the ledger as it stands at this moment, only to be read. Other processes may go on writing to it."""
    with closing(open_store(at, begin=False, read_only=True)) as db, nonsense_explained(db), db.reading():
        yield db


def read_log(at: Place, table: str, epoch: str | None) -> Iterator[bytes]:
    """Yield the bodies of a table's events in one epoch, byte for byte as they came, in order. If `epoch` is None, read
    the epoch that was adopted last.

    This only reads the ledger, as the ledger stands at this moment, even while a pit runs on it. Raises TableError
    `table_unknown` or `epoch_unknown`, or an error of opening the ledger.
    """
    with read_only(at) as db:
        epochs = _epochs(db, table)
        if epoch is not None and epoch not in epochs:
            raise TableError(
                "epoch_unknown",
                f"Table {table} was never adopted in the epoch {epoch!r}. Its adopted epochs are {', '.join(epochs)}.",
                "Name one of these epochs. `tablectl verify JOURNAL` tells which epoch the journal is of.",
            )
        of_epoch = (table, epochs[-1] if epoch is None else epoch)
        for (body,) in db.stream("SELECT body FROM event WHERE table_id = ? AND epoch = ? ORDER BY seq", of_epoch):
            yield body


def read_alarms(at: Place, table: str | None) -> list[KeptAlarm | LeftOut]:
    """Return the alarms that the ledger keeps of a table, or of all tables if `table` is None, oldest first. After them
    come the counts of alarms that were not kept for lack of room.

    This only reads the ledger, even while a pit runs on it. Raises TableError `table_unknown` for a table that was
    never adopted and never refused, or an error of opening the ledger.
    """
    with read_only(at) as db:
        every: list[KeptAlarm | LeftOut] = [*alarms.kept(db), *alarms.left_out(db)]
        kept = [alarm for alarm in every if table in (None, alarm.table)]
        if table is not None and not kept:
            _epochs(db, table)
    return kept


def read_forks(at: Place) -> list[Fork]:
    """Return the forks that the pit noted, the oldest first. A fork is two checkpoints of a table's journal, both
    signed by the table: the pit cosigned one, and no proof joined the other to it. This only reads the ledger, even
    while a pit runs on it."""
    with read_only(at) as db:
        return forks(db)


def _epochs(db: Store, table: str) -> list[str]:
    """Return the epochs that were adopted for a table, in the order of adoption. Epochs whose adoption was taken back
    stand before all others. Raises TableError `table_unknown`."""
    adopted = db.execute(
        "SELECT coalesce(set_aside_as, epoch) FROM adoption WHERE table_id = ? GROUP BY 1"
        " ORDER BY max(CASE WHEN set_aside_as IS NULL THEN 1 ELSE 0 END), max(number)",
        (table,),
    ).fetchall()
    if not adopted:
        tables = [name for (name,) in db.execute("SELECT DISTINCT table_id FROM adoption ORDER BY table_id")]
        raise TableError(
            "table_unknown",
            f"The ledger {db} knows no table {table!r}. Its tables are: {', '.join(tables) or 'none'}.",
            "Check the table's name and --ledger.",
        )
    return [epoch for (epoch,) in adopted]
