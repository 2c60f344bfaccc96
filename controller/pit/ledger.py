"""The pit's ledger: every event of every adopted table, once, in order, byte for byte as it came.

One SQLite file. A table is heard in one epoch at a time, the last one adopted for it, under the public key adopted
with that epoch. How far a table has got is read from its committed events and kept nowhere beside them, so an
acknowledgement can never be ahead of the disk.

What came and is not taken is a RefusedError, the ledger being well; any other TableError says that it is not well.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS
from controller.contract.fingerprint import fingerprint
from controller.contract.pit_words import AckWord, AwardStep
from controller.contract.signing import Signer
from controller.errors import TableError
from controller.keys import signature_holds
from controller.pit import adoptions, alarms, awards, books, intake, people, session
from controller.pit.account import Account, draw_up
from controller.pit.adoptions import Adoption, Adoptions
from controller.pit.alarms import KeptAlarm, LeftOut
from controller.pit.awards import Award, Awards, Step
from controller.pit.books import Books
from controller.pit.clock import next_number
from controller.pit.incoming import FORMS, RefusedError, TableEvent, in_form, read_event
from controller.pit.intake import Intake
from controller.pit.ledger_file import (
    APPLICATION_ID,
    FORM,
    NONSENSE,
    PitLock,
    damaged,
    form_of,
    refuse_linked,
    told,
    told_of_nonsense,
)
from controller.pit.meters import Terms
from controller.pit.session import Session

_BUSY_S = 5.0  # an adoption by a person holds the file for some milliseconds
_MOST_KEYS_TRIED = 4  # of those seen in an epoch that nobody adopted: each costs a tenth of a millisecond an event

_SCHEMA = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY, -- the order of commitment, over all tables
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL, -- or the name under which a stream was set aside
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (table_id, epoch, seq)
) STRICT;
CREATE TABLE meters_message (next_seq INTEGER NOT NULL) STRICT;
INSERT INTO meters_message VALUES (1);
"""
_ROOMS = (_SCHEMA, adoptions.SCHEMA, books.SCHEMA, awards.SCHEMA, intake.SCHEMA, alarms.SCHEMA, session.SCHEMA)
_FROM_FORM = {
    3: (adoptions.FROM_FORM_3, awards.FROM_FORM_3, books.FROM_FORM_3, alarms.SCHEMA, session.SCHEMA),
    4: (awards.FROM_FORM_4, books.FROM_FORM_4),
}
"""By the form of a ledger, what makes the next one of it."""

_HEX_OF_KEY = 64
_KEY = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")  # a fingerprint, or the key itself


@dataclass(frozen=True, slots=True)
class Ack:
    """How far a table is committed: everything of `epoch` through `seq`, whose chain is `chain`.

    At seq 0 nothing is committed yet, and the chain is 64 zeros.
    """

    epoch: str
    seq: int
    chain: str

    def payload(self, table: str, at: str, signer: Signer) -> bytes:
        """As it is published to the table it is of."""
        return AckWord(table, self.epoch, self.seq, self.chain, at).payload(signer)


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
        """Open the ledger at `path`, or begin it. Also raises `ledger_of_another_program`, `ledger_too_old`,
        `ledger_too_new` and `ledger_linked`."""
        self._path = path
        refuse_linked(path)
        with told_of_nonsense(path):
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
            self._data_version: int | None = None
            self._adoptions = Adoptions(self._db)
            self._session = Session(self._db, path)
            self._books = Books(self._db)
            self._awards = Awards(self._db, self._books)
            self._intake = Intake(self._db, self._books, self._awards)
            self._begin_or_check()
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            # A sync of an earlier run may have failed, and the kernel takes the log for written: write it anew.
            self._db.execute("PRAGMA wal_checkpoint")
            leaping = self._awards.leaping()
        if leaping:
            with self._transaction():
                for table in leaping:
                    self._awards.number_anew(table)

    def serve(self) -> None:
        """Be the one pit that runs on this ledger, until it is closed. From now on it is known what this pit has heard.

        Raises TableError `ledger_locked` when another pit runs on it.
        """
        lock = PitLock(self._path)
        self._session.hold(lock)
        with self._transaction():
            self._session.begin(lock.token)
        lock.serve()

    def adopt(self, table: str, epoch: str, key: str) -> Adoption:
        """Hear the table in this epoch from now on, under this key; a person's decision. How it is heard then.

        The key is its 64 hex digits, or the fingerprint of one that the table's state showed with this epoch. Raises
        RefusedError `adoption_malformed`; `key_unseen` for a fingerprint of no such key; or `epoch_of_another_key`: an
        epoch has one key, unless its adoption is taken back.
        """
        adoption = self.offered(table, epoch, key)
        with self._asked():
            adopted = self._adoptions.key_of(table, epoch)
            if adopted not in (None, adoption.public_key):
                raise self._of_another_key(table, epoch, adoption.public_key, adopted)
            self._adoptions.adopt(table, epoch, adoption.public_key)
            self._note_progress(table)
        return adoption

    def offered(self, table: str, epoch: str, key: str) -> Adoption:
        """What `adopt` would adopt; raises what it raises, but for `epoch_of_another_key`."""
        digits = "".join(key.split()).lower()
        for name, value, form in (
            ("table", table, FORMS["table"]),
            ("epoch", epoch, FORMS["epoch"]),
            ("public key or fingerprint", digits, _KEY),
        ):
            if not form.fullmatch(value):
                raise RefusedError(
                    "adoption_malformed",
                    f"{value!r} cannot be a {name}.",
                    "Take the three words from what the pit says when the table speaks.",
                )
        if len(digits) == _HEX_OF_KEY:
            return Adoption(epoch, bytes.fromhex(digits))
        with self._reading():
            for seen in self._adoptions.keys_seen(table, epoch):
                if "".join(fingerprint(seen).split()) == digits:
                    return Adoption(epoch, seen)
        raise RefusedError(
            "key_unseen",
            f"The pit has seen no key of table {table} in the epoch {epoch} that has this fingerprint.",
            "Compare it with `tablectl status` at the table, and see that the table reaches the pit's broker.",
        )

    def unadopt(self, table: str, epoch: str, by: str, why: str) -> str:
        """An adoption was wrong: nothing that was sent under it counts any more. A person's decision.

        Its wagers are voided and its awards rejected; its events are kept under the epoch's other name, which is
        returned. The adoption before it holds again. Raises TableError `name_missing`, `reason_missing`,
        `adoption_unknown`, or `award_paid` when something of it was paid.
        """
        by, why = people.name(by), people.reason(why)
        with self._asked():
            number = self._adoptions.last(table, epoch)
            if number is None:
                raise TableError(
                    "adoption_unknown",
                    f"Table {table} is not adopted in the epoch {epoch}.",
                    "Check both names: `alarms` shows them.",
                )
            (before_event,) = self._db.execute("SELECT coalesce(max(number), 0) + 1 FROM event").fetchone()
            set_aside_as = f"{epoch}~{number}"  # no epoch has this form
            self._awards.take_back(table, epoch, set_aside_as, by)
            self._books.take_back(table, epoch, set_aside_as, before_event, number)
            self._db.execute(
                "UPDATE event SET epoch = ? WHERE table_id = ? AND epoch = ?", (set_aside_as, table, epoch)
            )
            self._adoptions.take_back(table, epoch, set_aside_as, before_event, by, why)
            self._session.forget(table)
        return set_aside_as

    def retire(self, table: str, by: str, witness: str, why: str) -> None:
        """A table is gone for good: it is neither heard nor waited for, until somebody adopts it again.

        Raises TableError `name_missing`, `witness_missing`, `reason_missing`, `table_unknown`.
        """
        by, witness = people.two_people(by, witness)
        why = people.reason(why)
        with self._asked():
            if self._adoptions.of(table) is None and not self._session.waited_for(table):
                heard = ", ".join(self._adoptions.heard()) or "none"
                raise TableError("table_unknown", f"No table {table!r} is adopted; adopted are: {heard}.", "Check it.")
            self._adoptions.retire(table, f"{by}, witness {witness}", why)
            self._session.forget(table)

    def meet(self, table: str, payload: bytes, adopt_new: bool) -> bool:
        """Judge the state that a table retains; True when its epoch was adopted just now.

        That happens with `adopt_new` alone, and for a table never heard of. Raises RefusedError `epoch_to_adopt` with
        the command that adopts it, `epoch_of_another_key`, or `state_malformed`.
        """
        match parse_object(payload):
            case {"online": False}:
                return False
            case {"online": True, "table": str(name), "epoch": str(epoch), "public_key": str(public_key), **more} if (
                name == table and in_form(table=table, epoch=epoch, public_key=public_key)
            ):
                shown, head_seq = Adoption(epoch, bytes.fromhex(public_key)), more.get("head_seq")
            case _:
                raise RefusedError(
                    "state_malformed",
                    f"What came on the state topic of {table!r} is not that table's state.",
                    "Find out who publishes there: only the table may.",
                )
        with told(self._path):
            adopted, known = self._adoptions.of(table), self._adoptions.knows(table)
        if not known and adopt_new:
            adopted = self.adopt(table, epoch, public_key)
        if is_count(head_seq, 0, MOST_SEQ):
            self._session.head_told(table, shown, head_seq)
        if adopted == shown:
            self.look_whether_heard((table,))
            return not known
        raise self._stranger(table, shown)

    def look_whether_heard(self, tables: Iterable[str]) -> None:
        """Note which of these tables are heard to their heads now: a state came, or somebody adopted one of them."""
        for table in tables:
            with told(self._path):
                adopted = self._adoptions.of(table)
                news = adopted and self._session.has_news(table, adopted, self._head_seq(table, adopted.epoch))
            if news:
                with self._transaction():
                    self._note_progress(table)

    def _stranger(self, table: str, shown: Adoption) -> RefusedError:
        """A table shows what was not adopted."""
        epoch = shown.epoch
        with self._transaction():
            adopted = self._adoptions.key_of(table, epoch)
            others = [key for key in self._adoptions.keys_seen(table, epoch) if key != shown.public_key]
            if len(others) == len(self._adoptions.keys_seen(table, epoch)):
                self._adoptions.see_key(table, epoch, shown.public_key)
        if adopted not in (None, shown.public_key):
            return self._of_another_key(table, epoch, shown.public_key, adopted)
        command = self._command("adopt", table, epoch, shown.public_key.hex())
        if others:
            shown_before = " and ".join(sorted(map(fingerprint, others)))
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {epoch} with two keys: now {shown.fingerprint}, and {shown_before}"
                " before. One of them is not the table's.",
                f"Look at the table what `tablectl status` says of its key. If that is {shown.fingerprint}, adopt it:"
                f" {command}",
            )
        return RefusedError(
            "epoch_to_adopt",
            f"Table {table} speaks in the epoch {epoch}, which is not adopted, with the key {shown.fingerprint}; its"
            " events are not committed.",
            "If its journal is known to be new, and `tablectl status` at the table shows this very key, adopt it:"
            f" {command}",
        )

    def _command(self, act: str, *words: str) -> str:
        return shlex.join((sys.executable, "-m", "controller.pit", act, "--ledger", str(self._path), *words))

    def _of_another_key(self, table: str, epoch: str, key: bytes, adopted: bytes | None) -> RefusedError:
        names = "none" if adopted is None else fingerprint(adopted)
        unadopt = self._command("unadopt", table, epoch)
        return RefusedError(
            "epoch_of_another_key",
            f"Table {table} speaks in the epoch {epoch} with the key {fingerprint(key)}; adopted with it is {names}.",
            "Find out which machine speaks for the table: `tablectl status` at the table shows its key. If the adopted"
            f" one is not that, take the adoption back: {unadopt} --by NAME --reason TEXT",
        )

    def receive(self, events: Sequence[tuple[str, bytes]]) -> Received:
        """Commit what may be committed of `events`, each a topic's table and a payload, in one transaction.

        An event is committed when it is the next of its table's adopted epoch. One committed before is dropped, one
        after a gap too: the table sends again what is not acknowledged. Refusals: `event_malformed`,
        `event_of_another_table`, `event_id_differs`, `contract_unknown`, `event_of_another_epoch`,
        `signature_invalid`, `body_differs` for another body under the id of a committed event, and `event_not_booked`.
        """
        committed: list[Committed] = []
        refused: list[tuple[str, RefusedError]] = []
        with self._transaction():
            for table, payload in events:
                try:
                    with self._undone_if_nonsense(table):
                        committed.extend(self._receive(table, payload))
                except RefusedError as refusal:
                    refused.append((table, refusal))
            acks = self._acks(table for table, _ in events)
            for table in acks:
                self._note_progress(table)
        return Received(tuple(committed), acks, tuple(refused))

    def ack(self, table: str) -> Ack | None:
        """How far the table's adopted epoch is committed; None when none is adopted."""
        with told(self._path):
            return self._ack(table)

    def ack_of(self, table: str, epoch: str) -> Ack:
        """How far an epoch is committed, adopted or not."""
        with told(self._path):
            return self._ack_of(table, epoch)

    def acks(self) -> dict[str, Ack]:
        """How far every adopted table is."""
        with told_of_nonsense(self._path):
            return self._acks(self._adoptions.heard())

    def said(self, table: str, payload: bytes) -> None:
        """An ack of this pit's, which the broker retains for a table. Raises RefusedError `ledger_behind_acks` when the
        ledger has less than that, and so is an older copy; or `ack_malformed`."""
        match parse_object(payload):
            case {"epoch": str(epoch), "seq": int(seq), "chain": str(chain)} if is_count(seq, 0, MOST_SEQ) and in_form(
                table=table, epoch=epoch, chain=chain
            ):
                pass
            case _:
                if not payload:
                    return  # nobody's word
                raise RefusedError(
                    "ack_malformed",
                    f"What the broker retains on the ack topic of {table!r} is no acknowledgement.",
                    "Find out who publishes there: only the pit may.",
                )
        with self._transaction():
            if seq == 0 or self._has(table, epoch, seq, chain):
                return
            self._session.said(table, epoch, seq)
        raise RefusedError(
            "ledger_behind_acks",
            f"This ledger is an older copy: the pit acknowledged table {table} through event {table}/{epoch}/{seq},"
            " which it does not have.",
            "Nobody can decide on an award until the tables have sent again what it lacks. If there is a newer copy of"
            " the ledger, stop the pit and restore that one.",
        )

    def _has(self, table: str, epoch: str, seq: int, chain: str) -> bool:
        """Whether that is committed: in the table's own stream, or in one that was set aside."""
        if self._head_seq(table, epoch) >= seq:
            return True
        bodies = (self._body(table, name, seq) for name in self._adoptions.set_aside(table, epoch))
        return any(body is not None and parse_object(body).get("chain") == chain for body in bodies)

    def refuse_if_taken_over(self) -> None:
        """Raises TableError `ledger_replaced` where this pit's ledger is not the one that people see any more."""
        with told(self._path):
            self._session.refuse_if_taken_over()

    def terms(self) -> dict[str, Terms]:
        """The terms that the meters are run by; none in a ledger that has no meter yet."""
        with self._reading():
            return self._books.terms()

    def set_terms(self, meters: Mapping[str, Terms]) -> tuple[str, ...]:
        """Run the meters on these terms from now on. Returns what that changed, in a line for people each.

        Raises TableError `meter_left_out`.
        """
        with self._asked():
            return self._books.set_terms(meters)

    def keep(self, table: str, refusal: RefusedError) -> bool:
        """Keep what came on a table's topic and was refused, once per table, code and wording. False where so many of
        them are kept that there is no room. Whatever it raises, the ledger is as it was."""
        with self._transaction():
            return alarms.keep(self._db, table, refusal)

    def count_left_out(self, table: str, code: str, count: int) -> None:
        """So many more refusals found no room; an empty table: of all that were never adopted."""
        with self._transaction():
            alarms.count_left_out(self._db, table, code, count)

    def room_of(self, table: str) -> str:
        """Whose room a table's alarms take: its own, or the empty name's that those never adopted share."""
        with told(self._path):
            return alarms.room_of(self._db, table)

    def levels(self) -> dict[str, int]:
        """Every meter's level in cents."""
        with told_of_nonsense(self._path):
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
        """A person decides on an award. Raises TableError as `Awards.take` does, and as `Session.refuse_decisions`."""
        with self._deciding():
            return self._awards.take(award, step, by)

    def recall(self, award: str, by: str) -> Award:
        """A person lets the ledger take over what a table told of an award. Raises TableError as `Awards.recall`, and
        as `Session.refuse_decisions`."""
        with self._deciding():
            return self._awards.recall(award, by)

    def undecidable(self) -> TableError | None:
        """Why nobody may decide on an award now, if so."""
        with self._reading():
            try:
                self._session.refuse_decisions(self._adoptions.heard())
            except TableError as refusal:
                return refusal
        return None

    def dismiss(self, award: str, by: str, witness: str) -> Award:
        """Two people dismiss what a table told of an award. Raises TableError as `Awards.dismiss` and
        `Session.refuse_decisions`."""
        with self._deciding():
            return self._awards.dismiss(award, by, witness)

    def unheard_steps(self, table: str, after_seq: int) -> list[AwardStep]:
        """The steps of a table's awards after this one that its stream has not told of, in order."""
        with told(self._path):
            return self._awards.unheard(table, after_seq)

    def others_wrote(self) -> bool:
        """Whether somebody else has written to the file since this was asked last."""
        with told(self._path):
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
        before, self._data_version = self._data_version, version
        return bool(version != before)

    def account(self) -> Account:
        """The account of everything up to now. It may take long over a large ledger; the running pit is not held up."""
        with self._reading():
            (sound,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if sound != "ok":
                raise sqlite3.DatabaseError(sound)
            return draw_up(self._db)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        self._session.close()

    def _receive(self, table: str, payload: bytes) -> Iterator[Committed]:
        """One event, inside the transaction: itself when it is committed, nothing when it is dropped."""
        event = read_event(table, payload)
        adopted = self._adoptions.of(table)
        if adopted is None or adopted.epoch != event.epoch:
            raise self._of_another_epoch(table, event)
        head_seq = self._head_seq(table, event.epoch)
        body = self._body(table, event.epoch, event.seq) if event.seq <= head_seq else None
        if body == payload:
            return
        if not signature_holds(event.message, adopted.public_key):
            for key in self._adoptions.keys_seen(table, event.epoch):
                if key != adopted.public_key and signature_holds(event.message, key):
                    raise self._of_another_key(table, event.epoch, key, adopted.public_key)
            raise RefusedError(
                "signature_invalid",
                f"An event of {table}/{event.epoch} is not signed by the key adopted with that epoch,"
                f" {adopted.fingerprint}.",
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

    def _of_another_epoch(self, table: str, event: TableEvent) -> RefusedError:
        """An event came of an epoch that is not adopted."""
        seen = self._adoptions.keys_seen(table, event.epoch)[:_MOST_KEYS_TRIED]
        if seen and not any(signature_holds(event.message, key) for key in seen):
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {event.epoch} with two keys: an event is signed by none that its"
                f" state showed, {' and '.join(map(fingerprint, seen))}.",
                "One of them is not the table's. Adopt the one that `tablectl status` shows at the table, or none.",
            )
        return RefusedError(
            "event_of_another_epoch",
            f"Table {table} sends events of the epoch {event.epoch}, which is not the one adopted.",
            "Adopt it if its journal is known to be new; otherwise find out which machine speaks for the table.",
        )

    def _note_progress(self, table: str) -> None:
        """Inside the transaction: perhaps the table is heard to its head now."""
        adopted = self._adoptions.of(table)
        if adopted is not None:
            self._session.note_progress(table, adopted, self._head_seq(table, adopted.epoch))

    def _ack(self, table: str) -> Ack | None:
        adopted = self._adoptions.of(table)
        return None if adopted is None else self._ack_of(table, adopted.epoch)

    def _ack_of(self, table: str, epoch: str) -> Ack:
        seq = self._head_seq(table, epoch)
        body = self._body(table, epoch, seq)
        chain = GENESIS.hex() if body is None else parse_object(body).get("chain")
        if not isinstance(chain, str):
            raise damaged(self._path, ValueError(f"{table}/{epoch}/{seq} is no event"))
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
                self._make(_ROOMS)
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        elif form_of(self._db, self._path) < FORM:
            with self._transaction():  # nobody else has done it meanwhile, or it is done no more
                for form in range(form_of(self._db, self._path), FORM):
                    self._make(_FROM_FORM[form])
        form_of(self._db, self._path)

    def _make(self, schemas: Iterable[str]) -> None:
        for schema in schemas:
            for statement in schema.split(";"):
                self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {FORM}")

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """A transaction in which a person decides something."""
        with told_of_nonsense(self._path), self._transaction():
            yield

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """A transaction in which a person decides on an award, if that may be."""
        with self._asked():
            self._session.refuse_decisions(self._adoptions.heard())
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One view of the file, whoever writes to it meanwhile."""
        with told_of_nonsense(self._path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with told(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _undone_if_nonsense(self, table: str) -> Iterator[None]:
        """Inside the transaction: what cannot be reckoned with is one table's trouble, and the other tables go on."""
        self._db.execute("SAVEPOINT event")
        try:
            yield
        except NONSENSE as error:
            self._db.execute("ROLLBACK TO event")
            raise RefusedError(
                "event_not_booked",
                f"An event of table {table} cannot be booked, and nothing of it is committed: {error!r:.200}.",
                "The table keeps the event and what follows it, and sends them again. Draw up the `account`: it tells"
                " whether the ledger is sound. If it is, report this to the maker.",
            ) from error
        self._db.execute("RELEASE event")


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


def read_alarms(path: Path, table: str | None) -> list[KeptAlarm | LeftOut]:
    """The alarms that the ledger keeps, a table's or with None everybody's, oldest first; then how many it had no room
    for.

    Reads only, as `read_log` does. Raises TableError `table_unknown` for one never adopted and never refused, and those
    of opening a ledger.
    """
    with _read_only(path) as db:
        every: list[KeptAlarm | LeftOut] = [*alarms.kept(db), *alarms.left_out(db)]
        kept = [alarm for alarm in every if table in (None, alarm.table)]
        if table is not None and not kept:
            _epochs(db, path, table)
    return kept


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """The ledger as it stands at this moment, whoever writes to it meanwhile."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    with (
        told_of_nonsense(path),
        closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_S)) as db,
    ):
        db.execute("BEGIN")
        form_of(db, path)
        yield db


def _epochs(db: sqlite3.Connection, path: Path, table: str) -> list[str]:
    """The epochs that were adopted for a table, the last of them last; before them, what was set aside."""
    adopted = db.execute(
        "SELECT epoch FROM adoption WHERE table_id = ? GROUP BY epoch ORDER BY max(number)", (table,)
    ).fetchall()
    if "set_aside_as" in (name for _, name, *_ in db.execute("PRAGMA table_info(adoption)")):  # from form 4 on
        adopted = db.execute(
            "SELECT coalesce(set_aside_as, epoch) FROM adoption WHERE table_id = ? GROUP BY 1"
            " ORDER BY max(set_aside_as IS NULL), max(number)",
            (table,),
        ).fetchall()
    if not adopted:
        tables = [name for (name,) in db.execute("SELECT DISTINCT table_id FROM adoption ORDER BY table_id")]
        raise TableError(
            "table_unknown",
            f"The ledger {path} knows no table {table!r}; it knows {', '.join(tables) or 'none'}.",
            "Check the table's name and --ledger.",
        )
    return [epoch for (epoch,) in adopted]
