"""The pit's ledger: every event of every adopted table, once, in order, byte for byte as it came.

One SQLite file. A table is heard in one epoch at a time, the last one adopted for it, under the public key adopted
with that epoch. How far a table has got is read from its committed events and kept nowhere beside them, so an
acknowledgement can never be ahead of the disk.

What came and is not taken is a RefusedError, the ledger being well; any other TableError says that it is not well.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from controller.contract.canonical import canonical
from controller.contract.envelope import GENESIS
from controller.errors import TableError
from controller.pit import alarms, awards, books, intake
from controller.pit.account import Account, draw_up
from controller.pit.alarms import KeptAlarm
from controller.pit.awards import Award, Awards, AwardStep, Step
from controller.pit.books import Books
from controller.pit.clock import next_number
from controller.pit.incoming import FORMS, RefusedError, in_form, parse, read_event, signature_holds
from controller.pit.intake import Intake
from controller.pit.meters import Terms

SCHEMA_VERSION = 3

_APPLICATION_ID = 0x50495431  # "PIT1": a table's journal is an SQLite file too, and not a ledger
_BUSY_S = 5.0  # an adoption by a person holds the file for some milliseconds

_SCHEMA = """
CREATE TABLE adoption (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    public_key BLOB NOT NULL
) STRICT;
CREATE INDEX adoption_table ON adoption (table_id, number);
CREATE TABLE event (
    number INTEGER PRIMARY KEY, -- the order of commitment, over all tables
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (table_id, epoch, seq)
) STRICT;
CREATE TABLE meters_message (next_seq INTEGER NOT NULL) STRICT;
INSERT INTO meters_message VALUES (1);
"""


@dataclass(frozen=True, slots=True)
class Ack:
    """The pit's word to a table: everything of `epoch` through `seq` is committed; `chain` is that event's.

    At seq 0 nothing is committed yet, and the chain is 64 zeros.
    """

    epoch: str
    seq: int
    chain: str

    def payload(self) -> bytes:
        """As it is published."""
        return canonical({"epoch": self.epoch, "seq": self.seq, "chain": self.chain})


@dataclass(frozen=True, slots=True)
class Committed:
    """An event that is in the ledger now, and what alarms it gave reason to."""

    table: str
    seq: int
    type: str
    alarms: tuple[TableError, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a batch: the events committed, in order; how far each adopted table of the batch is; and what
    was refused, each with the table whose topic it came on."""

    committed: tuple[Committed, ...]
    acks: dict[str, Ack]
    refused: tuple[tuple[str, RefusedError], ...]


class Ledger:
    """An open ledger. Every method blocks on the disk, and raises TableError where the file will not do:
    `ledger_locked`, `ledger_unusable`, `ledger_damaged`."""

    def __init__(self, path: Path) -> None:
        """Open the ledger at `path`, or begin it. Also raises `ledger_of_another_program` and `ledger_too_new`."""
        self._path = path
        with _told(path):
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
            self._data_version: int | None = None
            self._books = Books(self._db)
            self._awards = Awards(self._db, self._books)
            self._intake = Intake(self._db, self._books, self._awards)
            self._begin_or_check()
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            # A sync of an earlier run may have failed, and the kernel takes the log for written: write it anew.
            self._db.execute("PRAGMA wal_checkpoint")

    def adopt(self, table: str, epoch: str, public_key: str) -> None:
        """Hear the table in this epoch from now on, under this key (64 hex digits); a person's decision.

        Raises RefusedError `adoption_malformed`, or `epoch_of_another_key`: an epoch has one key for ever.
        """
        for name, value in (("table", table), ("epoch", epoch), ("public_key", public_key)):
            if not FORMS[name].fullmatch(value):
                raise RefusedError(
                    "adoption_malformed",
                    f"{value!r} cannot be a {name.replace('_', ' ')}.",
                    "Take the three words from what the pit says when the table speaks.",
                )
        with self._transaction():
            known = self._db.execute(
                "SELECT public_key FROM adoption WHERE table_id = ? AND epoch = ?", (table, epoch)
            ).fetchone()
            if known is not None and known[0].hex() != public_key:
                raise _of_another_key(table, epoch)
            if self._adopted(table) != (epoch, bytes.fromhex(public_key)):
                self._db.execute(
                    "INSERT INTO adoption (table_id, epoch, public_key) VALUES (?, ?, ?)",
                    (table, epoch, bytes.fromhex(public_key)),
                )

    def meet(self, table: str, payload: bytes, adopt_new: bool) -> bool:
        """Judge the state that a table retains; True when its epoch was adopted just now.

        That happens with `adopt_new` alone, and for a table never heard of. Raises RefusedError `epoch_to_adopt` with
        the command that adopts it, `epoch_of_another_key`, or `state_malformed`.
        """
        match parse(payload):
            case {"online": False}:
                return False
            case {"online": True, "table": str(name), "epoch": str(epoch), "public_key": str(public_key)} if (
                name == table and in_form(table=table, epoch=epoch, public_key=public_key)
            ):
                pass
            case _:
                raise RefusedError(
                    "state_malformed",
                    f"What came on the state topic of {table!r} is not that table's state.",
                    "Find out who publishes there: only the table may.",
                )
        with _told(self._path):
            adopted = self._adopted(table)
        if adopted is None and adopt_new:
            self.adopt(table, epoch, public_key)
            return True
        if adopted is None or adopted[0] != epoch:
            program = (sys.executable, "-m", "controller.pit")
            command = shlex.join((*program, "adopt", "--ledger", str(self._path), table, epoch, public_key))
            raise RefusedError(
                "epoch_to_adopt",
                f"Table {table} speaks in the epoch {epoch}, which nobody has adopted; its events are not committed.",
                f"If its journal is known to be new, adopt it: {command}",
            )
        if adopted[1].hex() != public_key:
            raise _of_another_key(table, epoch)
        return False

    def receive(self, events: Sequence[tuple[str, bytes]]) -> Received:
        """Commit what may be committed of `events`, each a topic's table and a payload, in one transaction.

        An event is committed when it is the next of its table's adopted epoch. One committed before is dropped, one
        after a gap too: the table sends again what is not acknowledged. Refusals: `event_malformed`,
        `event_of_another_table`, `event_id_differs`, `contract_unknown`, `event_of_another_epoch`,
        `signature_invalid`, and `body_differs` for another body under the id of a committed event.
        """
        committed: list[Committed] = []
        refused: list[tuple[str, RefusedError]] = []
        with self._transaction():
            for table, payload in events:
                try:
                    committed.extend(self._receive(table, payload))
                except RefusedError as refusal:
                    refused.append((table, refusal))
            acks = self._acks(table for table, _ in events)
        return Received(tuple(committed), acks, tuple(refused))

    def ack(self, table: str) -> Ack | None:
        """How far the table's adopted epoch is committed; None when none is adopted."""
        with _told(self._path):
            return self._ack(table)

    def acks(self) -> dict[str, Ack]:
        """How far every adopted table is."""
        with _told(self._path):
            return self._acks(row[0] for row in self._db.execute("SELECT DISTINCT table_id FROM adoption"))

    def terms(self) -> dict[str, Terms]:
        """The terms that the meters are run by; none in a ledger that has no meter yet."""
        with self._reading():
            return self._books.terms()

    def set_terms(self, meters: Mapping[str, Terms]) -> tuple[str, ...]:
        """Run the meters on these terms from now on. Returns what that changed, in a line for people each.

        Raises TableError `meter_left_out`.
        """
        with self._transaction():
            return self._books.set_terms(meters)

    def keep(self, table: str, refusal: RefusedError) -> None:
        """Keep what came on a table's topic and was refused, once per table, code and wording.

        Raises TableError `alarms_too_many`; whatever it raises, the ledger is as it was.
        """
        with self._transaction():
            alarms.keep(self._db, table, refusal)

    def levels(self) -> dict[str, int]:
        """Every meter's level in cents."""
        with _told(self._path):
            return self._books.levels()

    def meters_seqs(self, count: int) -> range:
        """So many numbers for messages about the meters, that were given to nobody before."""
        with self._transaction():
            (next_seq,) = self._db.execute("SELECT next_seq FROM meters_message").fetchone()
            first = next_number(next_seq - 1)
            self._db.execute("UPDATE meters_message SET next_seq = ?", (first + count,))
        return range(first, first + count)

    def awards(self) -> list[Award]:
        """Every award as it stands, oldest first."""
        with self._reading():
            return self._awards.listed()

    def take_step(self, award: str, step: Step, by: str) -> Award:
        """A person decides on an award. Raises TableError as `Awards.take` does."""
        with self._transaction():
            return self._awards.take(award, step, by)

    def recall(self, award: str, by: str) -> Award:
        """A person lets the ledger take over what a table told of an award. Raises TableError as `Awards.recall`."""
        with self._transaction():
            return self._awards.recall(award, by)

    def unheard_steps(self, table: str, after_seq: int) -> list[AwardStep]:
        """The steps of a table's awards after this one that its stream has not told of, in order."""
        with _told(self._path):
            return self._awards.unheard(table, after_seq)

    def others_wrote(self) -> bool:
        """Whether somebody else has written to the file since this was asked last."""
        with _told(self._path):
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
        before, self._data_version = self._data_version, version
        return bool(version != before)

    def account(self) -> Account:
        """The account of everything up to now. It may take long over a large ledger; the running pit is not held up."""
        with self._reading():
            return draw_up(self._db)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _receive(self, table: str, payload: bytes) -> Iterator[Committed]:
        """One event, inside the transaction: itself when it is committed, nothing when it is dropped."""
        event = read_event(table, payload)
        adopted = self._adopted(table)
        if adopted is None or adopted[0] != event.epoch:
            raise RefusedError(
                "event_of_another_epoch",
                f"Table {table} sends events of the epoch {event.epoch}, which is not the one adopted.",
                "Adopt it if its journal is known to be new; otherwise find out which machine speaks for the table.",
            )
        head_seq = self._head_seq(table, event.epoch)
        body = self._body(table, event.epoch, event.seq) if event.seq <= head_seq else None
        if body == payload:
            return
        if not signature_holds(event.message, adopted[1]):
            raise RefusedError(
                "signature_invalid",
                f"An event of {table}/{event.epoch} is not signed by the key adopted with that epoch.",
                "Find out which machine speaks for the table: it does not hold the table's key.",
            )
        if body is not None:
            raise RefusedError(
                "body_differs",
                f"{table}/{event.epoch}/{event.seq} came with another body than the one committed, which stands.",
                "Stop the table and verify its journal: its disk lost what it had written, or it was copied.",
            )
        if event.seq == head_seq + 1:
            self._intake.refuse_unknown_meter(table, event)
            number = self._db.execute(
                "INSERT INTO event (table_id, epoch, seq, body) VALUES (?, ?, ?, ?)",
                (table, event.epoch, event.seq, payload),
            ).lastrowid
            assert number is not None
            yield Committed(table, event.seq, event.type, self._intake.take(number, table, event))

    def _adopted(self, table: str) -> tuple[str, bytes] | None:
        """The epoch the table is heard in, and its public key."""
        row: tuple[str, bytes] | None = self._db.execute(
            "SELECT epoch, public_key FROM adoption WHERE table_id = ? ORDER BY number DESC LIMIT 1", (table,)
        ).fetchone()
        return row

    def _ack(self, table: str) -> Ack | None:
        adopted = self._adopted(table)
        if adopted is None:
            return None
        epoch = adopted[0]
        seq = self._head_seq(table, epoch)
        body = self._body(table, epoch, seq)
        chain = GENESIS.hex() if body is None else parse(body).get("chain")
        if not isinstance(chain, str):
            raise sqlite3.DatabaseError(f"what it holds as {table}/{epoch}/{seq} is no event")
        return Ack(epoch, seq, chain)

    def _acks(self, tables: Iterable[str]) -> dict[str, Ack]:
        return {table: ack for table in dict.fromkeys(tables) if (ack := self._ack(table)) is not None}

    def _head_seq(self, table: str, epoch: str) -> int:
        row = self._db.execute("SELECT max(seq) FROM event WHERE table_id = ? AND epoch = ?", (table, epoch)).fetchone()
        return int(row[0] or 0)

    def _body(self, table: str, epoch: str, seq: int) -> bytes | None:
        row = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND epoch = ? AND seq = ?", (table, epoch, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def _begin_or_check(self) -> None:
        empty = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        if empty:
            with self._transaction():
                for schema in (_SCHEMA, books.SCHEMA, awards.SCHEMA, intake.SCHEMA):
                    for statement in schema.split(";"):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        _check_form(self._db, self._path)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One view of the file, whoever writes to it meanwhile."""
        with _told(self._path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _told(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


def read_log(path: Path, table: str, epoch: str | None) -> Iterator[bytes]:
    """The bodies of a table's events in one epoch, as they came, in order; with None, in the epoch adopted last.

    Reads only, the ledger as it stands at this moment, also while a pit runs on it. Raises TableError `table_unknown`
    and `epoch_unknown`, and those of opening a ledger.
    """
    with _read_only(path) as db:
        epochs = _epochs(db, path, table)
        if epoch is not None and epoch not in epochs:
            raise TableError(
                "epoch_unknown",
                f"Table {table} was never adopted in the epoch {epoch!r}; it was in {', '.join(epochs)}.",
                "Give one of these; `tablectl verify JOURNAL` tells which is the journal's.",
            )
        of_epoch = (table, epochs[-1] if epoch is None else epoch)
        for (body,) in db.execute("SELECT body FROM event WHERE table_id = ? AND epoch = ? ORDER BY seq", of_epoch):
            yield body


def read_alarms(path: Path, table: str | None) -> list[KeptAlarm]:
    """The alarms that the ledger keeps, a table's or with None everybody's, oldest first.

    Reads only, as `read_log` does. Raises TableError `table_unknown` for one never adopted and never refused, and those
    of opening a ledger.
    """
    with _read_only(path) as db:
        kept = [alarm for alarm in alarms.kept(db) if table in (None, alarm.table)]
        if table is not None and not kept:
            _epochs(db, path, table)
    return kept


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """The ledger as it stands at this moment, whoever writes to it meanwhile."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    with _told(path), closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_S)) as db:
        db.execute("BEGIN")
        _check_form(db, path)
        yield db


def _epochs(db: sqlite3.Connection, path: Path, table: str) -> list[str]:
    """The epochs that were adopted for a table, the last of them last."""
    adopted = db.execute(
        "SELECT epoch FROM adoption WHERE table_id = ? GROUP BY epoch ORDER BY max(number)", (table,)
    ).fetchall()
    if not adopted:
        tables = [name for (name,) in db.execute("SELECT DISTINCT table_id FROM adoption ORDER BY table_id")]
        raise TableError(
            "table_unknown",
            f"The ledger {path} knows no table {table!r}; it knows {', '.join(tables) or 'none'}.",
            "Check the table's name and --ledger.",
        )
    return [epoch for (epoch,) in adopted]


def _check_form(db: sqlite3.Connection, path: Path) -> None:
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application_id != _APPLICATION_ID:
        raise TableError(
            "ledger_of_another_program",
            f"{path} is a database, but no pit's ledger.",
            "Correct --ledger.",
        )
    if version < SCHEMA_VERSION:
        raise TableError(
            "ledger_too_old",
            f"The ledger {path} has form {version}; this program knows form {SCHEMA_VERSION}.",
            "Keep it for the audit, and begin a new one: the tables send their streams again, and what was decided on"
            " an award is to be recalled (`award list`, `award recall`).",
        )
    if version > SCHEMA_VERSION:
        raise TableError(
            "ledger_too_new",
            f"The ledger {path} has form {version}; this program knows form {SCHEMA_VERSION}.",
            "Run the version of the pit that wrote it.",
        )


@contextmanager
def only_pit(path: Path) -> Iterator[None]:
    """Be the one pit that runs on this ledger: an advisory lock on a file beside it. Adopting needs no lock.

    Raises TableError `ledger_locked` when another pit runs on it, `ledger_unusable` when the folder will not do.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(path, error.strerror) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _locked(path) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """SQLite's complaints about a file, in words for people."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _locked(path) from error
        raise _unusable(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise TableError(
            "ledger_damaged",
            f"The ledger {path} is not sound: {error}.",
            "Keep the file for the audit and restore the last good copy: the tables send again what it lacks, and what"
            " was decided on an award since is to be recalled (`award list`, `award recall`).",
        ) from error


def _locked(path: Path) -> TableError:
    return TableError(
        "ledger_locked",
        f"Another process has the ledger {path}.",
        "Stop the other pit or whatever has the file open, or give this pit a ledger of its own.",
    )


def _unusable(path: Path, why: str | None) -> TableError:
    return TableError(
        "ledger_unusable",
        f"The ledger {path} cannot be used: {why}.",
        "Check the path, that the disk is not full, and that the user the pit runs as may write there.",
    )


def _of_another_key(table: str, epoch: str) -> RefusedError:
    return RefusedError(
        "epoch_of_another_key",
        f"Table {table} is said to speak in the epoch {epoch} with another key than the one adopted with it.",
        "Find out which machine speaks for the table. A table with a new key has a new journal and a new epoch.",
    )
