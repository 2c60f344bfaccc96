"""The pit's ledger: every event of every adopted table, once, in order, byte for byte as it came.

One SQLite file. A table is heard in one epoch at a time, the last one adopted for it, under the public key adopted
with that epoch. How far a table has got is read from its committed events and kept nowhere beside them, so an
acknowledgement can never be ahead of the disk.

What came and is not taken is a RefusedError, the ledger being well; any other TableError says that it is not well.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION, GENESIS
from controller.errors import TableError

SCHEMA_VERSION = 1

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
"""

# Whatever is not of these forms is shown to nobody: it could be made to play tricks on a terminal or a shell.
_FORMS = {
    "table": re.compile(r"[a-z0-9-]+"),
    "epoch": re.compile(r"[a-z0-9]+"),
    "type": re.compile(r"[a-z0-9_]+"),
    "chain": re.compile(r"[0-9a-f]{64}"),
    "public_key": re.compile(r"[0-9a-f]{64}"),
}


class RefusedError(TableError):
    """Something came that the pit does not take, and its people must look at."""


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
    """An event that is in the ledger now."""

    table: str
    seq: int
    type: str


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a batch: the events committed, in order; how far each adopted table of the batch is; and what
    was refused, each with the table whose topic it came on."""

    committed: tuple[Committed, ...]
    acks: dict[str, Ack]
    refused: tuple[tuple[str, RefusedError], ...]


@dataclass(frozen=True, slots=True)
class _Event:
    """What a payload says, checked in itself: its names agree, its bytes are canonical. Its signature is unchecked."""

    epoch: str
    seq: int
    type: str
    message: dict[str, object]


class Ledger:
    """An open ledger. Every method blocks on the disk, and raises TableError where the file will not do:
    `ledger_locked`, `ledger_unusable`, `ledger_damaged`."""

    def __init__(self, path: Path) -> None:
        """Open the ledger at `path`, or begin it. Also raises `ledger_of_another_program` and `ledger_too_new`."""
        self._path = path
        with _told(path):
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
            self._begin_or_check()
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")

    def adopt(self, table: str, epoch: str, public_key: str) -> None:
        """Hear the table in this epoch from now on, under this key (64 hex digits); a person's decision.

        Raises RefusedError `adoption_malformed`, or `epoch_of_another_key`: an epoch has one key for ever.
        """
        for name, value in (("table", table), ("epoch", epoch), ("public_key", public_key)):
            if not _FORMS[name].fullmatch(value):
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
        match _parse(payload):
            case {"online": False}:
                return False
            case {"online": True, "table": str(name), "epoch": str(epoch), "public_key": str(public_key)} if (
                name == table and _in_form(table=table, epoch=epoch, public_key=public_key)
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
            command = f"adopt --ledger {shlex.quote(str(self._path))} {table} {epoch} {public_key}"
            raise RefusedError(
                "epoch_to_adopt",
                f"Table {table} speaks in the epoch {epoch}, which nobody has adopted; its events are not committed.",
                f"If its journal is known to be new, adopt it: python -m controller.pit {command}",
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

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _receive(self, table: str, payload: bytes) -> Iterator[Committed]:
        """One event, inside the transaction: itself when it is committed, nothing when it is dropped."""
        event = _read(table, payload)
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
        if not _signature_holds(event.message, adopted[1]):
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
            self._db.execute(
                "INSERT INTO event (table_id, epoch, seq, body) VALUES (?, ?, ?, ?)",
                (table, event.epoch, event.seq, payload),
            )
            yield Committed(table, event.seq, event.type)

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
        chain = GENESIS.hex() if body is None else _parse(body).get("chain")
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
        application_id = self._db.execute("PRAGMA application_id").fetchone()[0]
        empty = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        if empty:
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif application_id != _APPLICATION_ID:
            raise TableError(
                "ledger_of_another_program",
                f"{self._path} is a database, but no pit's ledger.",
                "Correct --ledger.",
            )
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise TableError(
                "ledger_too_new",
                f"The ledger {self._path} has form {version}; this program knows form {SCHEMA_VERSION}.",
                "Run the version of the pit that wrote it.",
            )

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


def _read(table: str, payload: bytes) -> _Event:
    """The event in a payload that came on a table's topic."""
    message = _parse(payload)
    match message:
        case {
            "id": str(id_),
            "contract": int(contract),
            "type": str(type_),
            "table": str(name),
            "epoch": str(epoch),
            "seq": int(seq),
            "chain": str(chain),
        } if (
            type(seq) is int
            and seq >= 1
            and _in_form(table=name, epoch=epoch, type=type_, chain=chain)
            and _is_canonical(payload, message)
        ):
            pass
        case _:
            raise RefusedError(
                "event_malformed",
                f"What came on the event topic of {table!r} is no event in canonical JSON.",
                "Find out who publishes there: only the table may.",
            )
    if name != table:
        raise RefusedError(
            "event_of_another_table",
            f"An event of table {name} came on the topic of {table!r}.",
            "Find out who publishes there, and check the broker's access list.",
        )
    if id_ != f"{name}/{epoch}/{seq}":
        raise RefusedError(
            "event_id_differs",
            f"An event of {table} has an id that is not {table}/{epoch}/{seq}, which its fields say it is.",
            "Find out which machine speaks for the table: no table controller makes such an event.",
        )
    if contract != CONTRACT_VERSION:
        raise RefusedError(
            "contract_unknown",
            f"Table {table} speaks version {contract} of the contract; this pit knows version {CONTRACT_VERSION}.",
            "Run the pit's version that goes with the table's.",
        )
    return _Event(epoch, seq, type_, message)


def _parse(payload: bytes) -> dict[str, object]:
    """The JSON object in a payload; an empty one when it holds none."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_canonical(payload: bytes, message: dict[str, object]) -> bool:
    """Whether a message has one body only: spaces or a doubled key would make others with the same signature."""
    try:
        return canonical(message) == payload
    except (ValueError, RecursionError):
        return False


def _in_form(**names: str) -> bool:
    return all(_FORMS[name].fullmatch(value) for name, value in names.items())


def _signature_holds(message: dict[str, object], public_key: bytes) -> bool:
    """Whether the table's key signed the message: Ed25519 over its canonical form without the signature."""
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    try:
        signature = base64.b64decode(str(message.get("signature")), validate=True)
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, canonical(unsigned))
    except (ValueError, InvalidSignature):
        return False
    return True


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
            "Keep the file for the audit and restore the last good copy: the tables send again what it lacks.",
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
