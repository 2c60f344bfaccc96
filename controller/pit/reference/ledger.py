"""The pit's ledger: every event of every adopted table, once, in order, byte for byte as it came.

A table is heard in one epoch at a time, the epoch that was adopted last, under the public key that was adopted with the
epoch. How far a table has got is read from its committed events and kept nowhere else, so an acknowledgement can never
be ahead of the disk. Where the ledger is kept is its store's matter (`store`).

A RefusedError says that a message is not taken; the ledger itself is well. Any other TableError says that the ledger is
not well.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct, field

from controller.basics.errors import TableError
from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import signature_holds
from controller.contract.pit_words import AckWord, AwardStep
from controller.contract.signing import Signer
from controller.pit.reference import alarms, decisions, people
from controller.pit.reference.account import Account, draw_up
from controller.pit.reference.adoptions import Adoption, Adoptions
from controller.pit.reference.alarms import KeptAlarm, LeftOut
from controller.pit.reference.awards import Award, Awards, Step
from controller.pit.reference.books import Books
from controller.pit.reference.clock import next_number
from controller.pit.reference.incoming import FORMS, RefusedError, TableEvent, in_form, read_event
from controller.pit.reference.intake import Intake
from controller.pit.reference.ledger_file import LedgerFile
from controller.pit.reference.meters import Terms
from controller.pit.reference.session import Head, Session
from controller.pit.reference.store import Store, damaged, nonsense_explained, undone_if_raised

_MOST_KEYS_TRIED = 4  # and named, of those seen in an epoch: each takes a tenth of a millisecond an event
_MOST_SHOWN = 1000  # keys that wait for a disk that takes nothing

_INSTALLED = Path("/usr/bin/pitctl")
_HEX_OF_KEY = 64
_KEY = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")  # a fingerprint, or the key itself


Place = Path | str
"""Where a ledger is kept: in a file, or in the PostgreSQL database of a URL."""


class Ack(Struct, frozen=True):
    """How far a table is committed: every event of `epoch` through number `seq`, whose chain value is `chain`.

    With `seq` 0 nothing is committed yet, and the chain value is 64 zeros.
    """

    epoch: str
    seq: int
    chain: str

    def payload(self, table: str, at: str, signer: Signer) -> bytes:
        """The bytes that are published to the table."""
        return AckWord(table, self.epoch, self.seq, self.chain, at).payload(signer)


class Committed(Struct, frozen=True):
    """An event that is in the ledger now, and the alarms that the event gave reason to."""

    table: str
    seq: int
    type: str
    alarms: tuple[TableError, ...]


class Received(Struct, frozen=True):
    """What became of a batch of messages.

    `committed` are the committed events, in order. `acks` says how far each adopted table of the batch is. `refused`
    are the messages that were not taken, each with the table on whose topic the message came. `left` are the messages
    for which there was no time.
    """

    committed: tuple[Committed, ...]
    acks: dict[str, Ack]
    refused: tuple[tuple[str, RefusedError], ...]
    left: Sequence[tuple[str, bytes]] = ()


class _Taken(Struct):
    """What became of the first `looked_at` messages of a batch. Of the tables in `gaps` events came after a gap."""

    committed: list[Committed] = field(default_factory=list)
    refused: list[tuple[str, RefusedError]] = field(default_factory=list)
    gaps: set[str] = field(default_factory=set)
    looked_at: int = 0


class Ledger:
    """An open ledger. Every method waits for the disk.

    Every method raises TableError where the ledger cannot be used: `ledger_locked`, `ledger_unusable`,
    `ledger_damaged`, or as the methods of its store say.
    """

    def __init__(self, at: Place, begin: bool = True, replicated: bool = False) -> None:
        """Open the ledger at a place, or `begin` a new one there. Raises TableError as opening its store does.

        `replicated`: a commit counts once a second machine has it too. A ledger in a file cannot do that.
        """
        self._db = _store(at, begin, replicated)
        self._adoptions = Adoptions(self._db)
        self._session = Session(self._db)
        self._books = Books(self._db)
        self._awards = Awards(self._db, self._books)
        self._intake = Intake(self._db, self._books, self._awards)
        self._shown: list[tuple[str, str, bytes]] = []  # table, epoch and key of states, not kept yet
        self._met: dict[str, Adoption] = {}  # what a table's state showed, as adopted: no news if repeated
        with nonsense_explained(self._db):
            leaping = self._awards.leaping()
        if leaping:
            with self._db.transaction():
                for table in leaping:
                    self._awards.number_anew(table)

    def serve(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Be the one pit that runs on this ledger, until the ledger is closed, and note from now on what it hears.

        Raises TableError `ledger_locked` where another pit runs on the ledger. In a database the pit stands by instead
        until no other pit leads, and tells people so by `say`.
        """
        with self._db.lead(say) as token:
            self._session.begin(token)

    def adopt(self, table: str, epoch: str, key: str) -> Adoption:
        """Hear the table in this epoch from now on, under this key: a person's decision. Returns the adoption.

        `key` is the key's 64 hex digits, or the fingerprint of a key that the table's state showed with this epoch.
        Raises RefusedError `adoption_malformed`; `key_unseen` where no key with that fingerprint was seen; or
        `epoch_of_another_key` where the epoch was adopted with another key, and that adoption was not taken back.
        """
        adoption = self.offered(table, epoch, key)
        with self._asked():
            adopted = self._adoptions.key_of(table, epoch)
            if adopted not in (None, adoption.public_key):
                raise self._of_another_key(table, epoch, adoption.public_key, adopted)
            self._adoptions.adopt(table, epoch, adoption.public_key)
            self._session.note_progress(self._heads((table,)))
        return adoption

    def offered(self, table: str, epoch: str, key: str) -> Adoption:
        """The adoption that `adopt` would make. Raises as `adopt` does, but never `epoch_of_another_key`."""
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
                    "Copy the three words from the pit's message about the table: `alarms` shows that message.",
                )
        if len(digits) == _HEX_OF_KEY:
            return Adoption(epoch, bytes.fromhex(digits))
        with self._reading():
            for seen in self._keys_seen(table, epoch):
                if "".join(fingerprint(seen).split()) == digits:
                    return Adoption(epoch, seen)
        raise RefusedError(
            "key_unseen",
            f"The pit has seen no key of table {table} in the epoch {epoch} that has this fingerprint.",
            "Compare the fingerprint with `tablectl status` at the table. Check that the table reaches the pit's"
            " broker.",
        )

    def unadopt(self, table: str, epoch: str, by: str, why: str) -> str:
        """An adoption was wrong: nothing that was sent under the adoption counts any more. A person's decision.

        The wagers that came under the adoption are voided, and the awards rejected. The events are kept under another
        name of the epoch, which is returned. The adoption before this one holds again. Raises TableError
        `name_missing`, `reason_missing`, `adoption_unknown`, or `award_paid` where one of the awards was paid.
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
            decisions.note(self._db, "set_aside", number)
            self._session.forget(table)
        return set_aside_as

    def retire(self, table: str, by: str, witness: str, why: str) -> None:
        """A table is gone for good. The pit neither hears the table nor waits for it until somebody adopts it again.

        Raises TableError `name_missing`, `witness_missing`, `reason_missing`, `table_unknown`.
        """
        by, witness = people.two_people(by, witness)
        why = people.reason(why)
        with self._asked():
            if self._adoptions.of(table) is None and not self._session.waited_for(table):
                heard = ", ".join(self._adoptions.heard()) or "none"
                what = f"No table {table!r} is adopted; adopted are: {heard}."
                raise TableError("table_unknown", what, "Check the table's name.")
            self._adoptions.retire(table, f"{by}, witness {witness}", why)
            self._session.forget(table)

    def meet(self, table: str, payload: bytes, adopt_new: bool) -> bool:
        """As `meet_all`, with one state. True where its epoch was adopted just now. Raises the RefusedError."""
        adopted, refused = self.meet_all([(table, payload)], adopt_new)
        for _, refusal in refused:
            raise refusal
        return bool(adopted)

    def meet_all(
        self, states: Sequence[tuple[str, bytes]], adopt_new: bool
    ) -> tuple[list[str], list[tuple[str, RefusedError]]]:
        """Judge states that tables retain at the broker, each a topic's table and a payload.

        Returns the tables that were adopted just now, and the refusals, each with its table. With `adopt_new` the pit
        itself adopts the epoch of a table that it never heard of. Refusals: `epoch_to_adopt` with the command that
        adopts the epoch, `epoch_of_another_key`, or `state_malformed`.
        """
        adopted: list[str] = []
        refused: list[tuple[str, RefusedError]] = []
        with self._db.explained():
            heard = self._adoptions.heard({table for table, _ in states if table not in self._met})
        to_look: set[str] = set()
        for table, payload in states:
            try:
                read = _read_state(table, payload)
                if read is None:
                    continue
                shown, head_seq = read
                if self._met.get(table) == shown:
                    if head_seq is not None and self._session.note_head(table, shown, head_seq, known=True):
                        to_look.add(table)
                    continue
                with self._db.explained():
                    known = table in heard or self._adoptions.knows(table)
                if not known and adopt_new:
                    self.adopt(table, shown.epoch, shown.public_key.hex())
                    adopted.append(table)
                if head_seq is not None:
                    self._session.note_head(table, shown, head_seq, known)
                with self._db.explained():
                    holds = shown == heard.get(table) or shown == self._adoptions.of(table)
                if not holds:
                    raise self._stranger(table, shown)
            except RefusedError as refusal:
                refused.append((table, refusal))
            else:
                to_look.add(table)
                self._met[table] = shown
        if to_look:
            self.look_whether_heard(to_look)
        return adopted, refused

    def look_whether_heard(self, tables: Collection[str]) -> None:
        """Note which of these tables are heard to their heads now: a state came, or somebody adopted a table."""
        with nonsense_explained(self._db):
            news = any(self._session.news(self._heads(tables)))
        if news:
            with self._db.transaction():
                self._session.note_progress(self._heads(tables))

    def _stranger(self, table: str, shown: Adoption) -> RefusedError:
        """Why the epoch or the key that a table shows is not heard."""
        epoch = shown.epoch
        with self._db.explained():
            adopted, seen = self._adoptions.key_of(table, epoch), self._keys_seen(table, epoch)
        others = [key for key in seen if key != shown.public_key]
        if len(others) == len(seen) and len(self._shown) < _MOST_SHOWN:
            self._shown.append((table, epoch, shown.public_key))
        if adopted not in (None, shown.public_key):
            return self._of_another_key(table, epoch, shown.public_key, adopted)
        command = self._command("adopt", table, epoch, shown.public_key.hex())
        if others:
            shown_before = " and ".join(sorted(map(fingerprint, others[:_MOST_KEYS_TRIED])))
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {epoch} with two keys: now {shown.fingerprint}, and {shown_before}"
                " before. One of them is not the table's.",
                "Compare both with the key that `tablectl status` shows at the table. If that key is"
                f" {shown.fingerprint}, adopt it: {command}",
            )
        return RefusedError(
            "epoch_to_adopt",
            f"Table {table} speaks in the epoch {epoch} with the key {shown.fingerprint}. Nobody has adopted that"
            " epoch, so the table's events are not committed.",
            "If the table's journal is known to be new, and `tablectl status` at the table shows this very key, adopt"
            f" it: {command}",
        )

    def _keys_seen(self, table: str, epoch: str) -> list[bytes]:
        """The keys that states showed with an epoch, those that have yet to be kept too."""
        return [*self._adoptions.keys_seen(table, epoch), *(key for *of, key in self._shown if of == [table, epoch])]

    def _command(self, act: str, *words: str) -> str:
        """A whole command for a person to type: `sudo pitctl ...` for the package's pit, else this program's path."""
        program = Path(sys.executable).with_name("pitctl")
        installed = _INSTALLED.resolve() == program.resolve()
        return shlex.join(
            (*(("sudo", "pitctl") if installed else (str(program),)), act, "--ledger", str(self._db), *words)
        )

    def _of_another_key(self, table: str, epoch: str, key: bytes, adopted: bytes | None) -> RefusedError:
        adopted_key = "none" if adopted is None else fingerprint(adopted)
        unadopt = self._command("unadopt", table, epoch)
        return RefusedError(
            "epoch_of_another_key",
            f"Table {table} speaks in the epoch {epoch} with the key {fingerprint(key)}. The epoch was adopted with"
            f" the key {adopted_key}.",
            "Find out which machine speaks for the table: `tablectl status` at the table shows its key. If the adopted"
            f" key is another, take the adoption back: {unadopt} --by NAME --reason TEXT",
        )

    def receive(self, events: Sequence[tuple[str, bytes]], longest_s: float = math.inf) -> Received:
        """Commit what may be committed of `events`, each a topic's table and a payload, in one transaction.

        An event is committed where it is the next event of its table's adopted epoch. An event that was committed
        before is dropped, and so is an event after a gap: the table sends again what is not acknowledged. Refusals:
        `event_malformed`, `event_of_another_table`, `event_id_differs`, `contract_unknown`, `event_of_another_epoch`,
        `signature_invalid`, `body_differs` for another body under the id of a committed event, and `event_not_booked`.

        After `longest_s` no further event is begun. Example: a database that takes 100 ms for an event has taken ten
        events after one second, and acknowledges those.
        """
        until_s = time.monotonic() + longest_s
        with self._db.transaction():
            try:
                with self._undone_if_raised():
                    taken = self._take(events, until_s)
            except self._db.nonsense:  # perhaps of one event alone, and all are undone: take each by itself
                taken = self._take_each(events, until_s)
            heads = self._heads({table for table, _ in events})
            self._session.note_progress(heads)
        acks = {table: _ack(head) for table, head in heads.items()}
        return Received(tuple(taken.committed), acks, tuple(taken.refused), tuple(events[taken.looked_at :]))

    def _take(self, events: Sequence[tuple[str, bytes]], until_s: float) -> _Taken:
        """Commit what may be committed of these events, inside the transaction. Raises the store's `nonsense`."""
        taken, heads = _Taken(), self._heads({table for table, _ in events})
        read = [_read(*each) for each in events]
        bodies = self._bodies(
            {
                (table, event.epoch, event.seq)
                for (table, _), event in zip(events, read, strict=True)
                if isinstance(event, TableEvent) and table in heads and event.seq <= heads[table].seq
            }
        )
        for (table, payload), event in zip(events, read, strict=True):
            if taken.looked_at and time.monotonic() >= until_s:
                break
            taken.looked_at += 1
            try:
                if isinstance(event, RefusedError):
                    raise event
                if self._is_next(table, payload, event, heads.get(table), bodies, taken.gaps):
                    taken.committed.append(self._commit(table, payload, event))
                    heads[table].seq = event.seq
                    bodies[table, event.epoch, event.seq] = payload
            except RefusedError as refusal:
                taken.refused.append((table, refusal))
        return taken

    def _take_each(self, events: Sequence[tuple[str, bytes]], until_s: float) -> _Taken:
        """As `_take`, with each event by itself: an event that cannot be booked is undone, and the others go on."""
        every = _Taken()
        for event in events:
            if every.looked_at and time.monotonic() >= until_s:
                break
            try:
                with self._undone_if_raised():
                    taken = self._take((event,), until_s)
            except self._db.nonsense as error:
                taken = _Taken(refused=[(event[0], _not_booked(event[0], error))])
            every.looked_at += 1
            every.committed += taken.committed
            every.refused += taken.refused
        return every

    def ack(self, table: str) -> Ack | None:
        """How far the table's adopted epoch is committed; None where no epoch is adopted."""
        with self._db.explained():
            head = self._heads((table,)).get(table)
        return None if head is None else _ack(head)

    def ack_of(self, table: str, epoch: str) -> Ack:
        """How far an epoch is committed, adopted or not."""
        with self._db.explained():
            return Ack(epoch, *self._last({table: epoch})[table])

    def acks(self) -> dict[str, Ack]:
        """How far every adopted table is committed."""
        with nonsense_explained(self._db):
            return {table: _ack(head) for table, head in self._heads().items()}

    def hear_own_ack(self, table: str, payload: bytes) -> None:
        """Judge an ack of this pit that the broker retains for a table.

        Raises RefusedError `ledger_behind_acks` where the ledger has less than the ack says: the ledger is then an
        older copy. Raises RefusedError `ack_malformed` where the message is no ack.
        """
        if not payload:
            return  # an empty message: the broker retains no ack any more
        ack = AckWord.read(parse_object(payload))
        if ack is None or ack.table != table:  # an ack of another table could be repeated here by anybody
            raise RefusedError(
                "ack_malformed",
                f"What the broker retains on the ack topic of {table!r} is no acknowledgement for that table.",
                "Find out who publishes there: only the pit may.",
            )
        epoch, seq = ack.epoch, ack.seq
        with nonsense_explained(self._db):
            if seq == 0 or self._has(table, epoch, seq, ack.chain):
                return
        with self._db.transaction():
            self._session.note_acknowledged(table, epoch, seq)
        raise RefusedError(
            "ledger_behind_acks",
            f"This ledger is an older copy: the pit acknowledged table {table} through event {table}/{epoch}/{seq},"
            " which is not in the ledger.",
            "Nobody can decide on an award until the tables have sent again what the ledger lacks. If there is a newer"
            " copy of the ledger, stop the pit and restore that copy.",
        )

    def _has(self, table: str, epoch: str, seq: int, chain: str) -> bool:
        """Whether this event is committed: in the table's own stream, or in a stream that was set aside."""
        if self._head_seq(table, epoch) >= seq:
            return True
        bodies = (self._body(table, name, seq) for name in self._adoptions.set_aside(table, epoch))
        return any(body is not None and parse_object(body).get("chain") == chain for body in bodies)

    def refuse_if_taken_over(self) -> None:
        """Raises TableError where this pit does not run on the ledger any more, for example `ledger_replaced`."""
        with self._db.explained():
            self._session.refuse_if_taken_over()

    def terms(self) -> dict[str, Terms]:
        """The meters' terms, by the meter's name; empty in a ledger that has no meter yet."""
        with self._reading():
            return self._books.terms()

    def watch_voids(self, most_in_a_shoe: int) -> None:
        """From now on a shoe of a table with more voided rounds than this is an alarm."""
        self._intake.most_voids_in_a_shoe = most_in_a_shoe

    def name_settings(self, file: Path) -> None:
        """People write meters into this file: the alarm about a meter that is not there names the file."""
        self._intake.settings = str(file)

    def set_terms(self, meters: Mapping[str, Terms]) -> tuple[str, ...]:
        """Give the meters these terms from now on. Returns each change as a line for people.

        Raises TableError `meter_left_out`.
        """
        with self._asked():
            return self._books.set_terms(meters)

    def keep(self, refusals: Sequence[tuple[str, RefusedError]]) -> list[RefusedError]:
        """Keep refusals, each of what came on a table's topic, once per table, code and wording.

        The same transaction keeps the keys that states of unknown epochs showed since the last call. Returns the
        refusals for which there is no room. Where this raises, the ledger is unchanged, and the next call keeps these
        keys.
        """
        if not refusals:
            return []
        with self._db.transaction():
            for shown in self._shown:
                self._adoptions.see_key(*shown)
            left_out = alarms.keep(self._db, refusals)
        self._shown.clear()
        return left_out

    def count_left_out(self, table: str, code: str, count: int) -> None:
        """Count refusals that found no room. An empty `table` stands for all tables that were never adopted."""
        with self._db.transaction():
            alarms.count_left_out(self._db, table, code, count)

    def room_of(self, table: str) -> str:
        """Whose room a table's alarms take: the table's own, or "", which all tables share that were never adopted."""
        with self._db.explained():
            return alarms.room_of(self._db, table)

    def levels(self) -> dict[str, int]:
        """Every meter's level in cents."""
        with nonsense_explained(self._db):
            return self._books.levels()

    def meters_seqs(self, count: int) -> range:
        """So many numbers for messages about the meters, each given out for the first time."""
        with self._db.transaction():
            (next_seq,) = self._db.execute("SELECT next_seq FROM meters_message").fetchone()
            first = next_number(next_seq - 1)
            self._db.execute("UPDATE meters_message SET next_seq = ?", (first + count,))
        return range(first, first + count)

    def held_ack_time(self) -> int:
        """A time that no ack of this ledger's pits has passed, in ms since 1970; 0 before the first ack."""
        with self._reading():
            (held_ms,) = self._db.execute("SELECT held_ms FROM ack_time").fetchone()
            return int(held_ms)

    def hold_ack_time(self, held_ms: int) -> None:
        """From now on no ack passes this time, in ms since 1970."""
        with self._db.transaction():
            self._db.execute("UPDATE ack_time SET held_ms = ?", (held_ms,))

    def awards(self) -> list[Award]:
        """Every award as it stands, oldest first."""
        with self._reading():
            return self._awards.listed()

    def take_step(self, award: str, step: Step, by: str, witness: str | None = None) -> Award:
        """A person decides on an award; on an award in doubt, two people.

        Raises TableError as `Awards.take` and `Session.refuse_decisions` do.
        """
        with self._deciding():
            return self._awards.take(award, step, by, witness)

    def recall(self, award: str, by: str) -> Award:
        """A person lets the ledger take over what a table told of an award.

        Raises TableError as `Awards.recall` and `Session.refuse_decisions` do.
        """
        with self._deciding():
            return self._awards.recall(award, by)

    def undecidable(self) -> TableError | None:
        """Why nobody may decide on an award now; None where people may decide."""
        with self._reading():
            try:
                self._session.refuse_decisions(self._adoptions.heard())
            except TableError as refusal:
                return refusal
        return None

    def dismiss(self, award: str, by: str, witness: str) -> Award:
        """Two people dismiss what a table told of an award.

        Raises TableError as `Awards.dismiss` and `Session.refuse_decisions` do.
        """
        with self._deciding():
            return self._awards.dismiss(award, by, witness)

    def unheard_steps(self, table: str) -> list[AwardStep]:
        """The steps of a table's awards that the table's stream has not told of, in order."""
        with self._db.explained():
            return self._awards.unheard(table)

    def next_steps(self, tables: Collection[str]) -> dict[str, AwardStep]:
        """Of each of these tables the first step of its adopted epoch that the table's stream has not told of."""
        with self._db.explained():
            waiting = self._awards.waited_for().intersection(tables)
            return {
                table: step
                for table, adoption in self._adoptions.heard(waiting).items()
                for step in self._awards.unheard(table, adoption.epoch, most=1)
            }

    def others_wrote(self) -> bool:
        """Whether another process has written to the ledger since the last call."""
        with self._db.explained():
            wrote = self._db.others_wrote()
        if wrote:
            self._met.clear()
        return wrote

    def account(self) -> Account:
        """The account of everything up to now. On a large ledger this takes long, and holds up no running pit."""
        with self._reading():
            self._db.refuse_unsound()
            return draw_up(self._db)

    def close(self) -> None:
        """Let go of the ledger. Another pit can run on it then."""
        self._db.close()

    def _is_next(
        self,
        table: str,
        payload: bytes,
        event: TableEvent,
        head: Head | None,
        bodies: Mapping[tuple[str, str, int], bytes],
        gaps: set[str],
    ) -> bool:
        """Whether this event, which came as this payload, is the table's next; otherwise the message is dropped.

        `bodies` are the committed events among those that came. Writes nothing. Raises RefusedError.

        To verify a signature takes longer than all else, so what is dropped is dropped before. But of the events after
        a gap the first of each table is verified, which puts the table into `gaps`: people are told of a forger who
        does not know which event is next.
        """
        if head is None or head.adoption.epoch != event.epoch:
            raise self._of_another_epoch(table, event)
        adopted, after_gap = head.adoption, event.seq > head.seq + 1
        body = bodies.get((table, event.epoch, event.seq))
        if body == payload or (after_gap and table in gaps):
            return False
        if after_gap:
            gaps.add(table)
        if not signature_holds(event.message, adopted.public_key):
            for key in self._keys_seen(table, event.epoch):
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
                f"Event {table}/{event.epoch}/{event.seq} came with another body than the committed body, which"
                " stands.",
                "Stop the table and verify its journal: the disk lost what the table had written, or the journal was"
                " copied.",
            )
        if event.seq != head.seq + 1:
            return False
        self._intake.refuse_unknown_meter(table, event)
        return True

    def _commit(self, table: str, payload: bytes, event: TableEvent) -> Committed:
        (number,) = self._db.execute(
            "INSERT INTO event (table_id, epoch, seq, body) VALUES (?, ?, ?, ?) RETURNING number",
            (table, event.epoch, event.seq, payload),
        ).fetchone()
        return Committed(table, event.seq, event.type, self._intake.take(number, table, event))

    def _of_another_epoch(self, table: str, event: TableEvent) -> RefusedError:
        """Why an event of an epoch that is not adopted is refused."""
        seen = self._keys_seen(table, event.epoch)[:_MOST_KEYS_TRIED]
        if seen and not any(signature_holds(event.message, key) for key in seen):
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {event.epoch} with two keys: an event is not signed by the key"
                f" that the table's state showed, {' nor by '.join(map(fingerprint, seen))}.",
                "One of the keys is not the table's. Adopt the key that `tablectl status` shows at the table, or none.",
            )
        return RefusedError(
            "event_of_another_epoch",
            f"Table {table} sends events of the epoch {event.epoch}, which is not the adopted epoch.",
            "Adopt that epoch if the table's journal is known to be new. Otherwise find out which machine speaks for"
            " the table.",
        )

    def _heads(self, tables: Collection[str] | None = None) -> dict[str, Head]:
        """How far each table that is heard is committed; of these `tables` alone, where they are given."""
        adopted = self._adoptions.heard(tables)
        last = self._last({table: adoption.epoch for table, adoption in adopted.items()})
        return {table: Head(adoption, *last[table]) for table, adoption in adopted.items()}

    def _last(self, epochs: Mapping[str, str]) -> dict[str, tuple[int, str]]:
        """Of each table the number and the chain value of the last committed event in an epoch."""
        if not epochs:
            return {}
        of_table = "FROM event WHERE table_id = heard.table_id AND epoch = heard.epoch ORDER BY seq DESC LIMIT 1"
        rows = self._db.execute(
            f"WITH heard (table_id, epoch) AS (VALUES {', '.join(['(?, ?)'] * len(epochs))})"
            f" SELECT table_id, coalesce((SELECT seq {of_table}), 0), (SELECT body {of_table}) FROM heard",
            [each for pair in epochs.items() for each in pair],
        )
        return {table: (seq, self._chain(table, epochs[table], seq, body)) for table, seq, body in rows}

    def _chain(self, table: str, epoch: str, seq: int, body: bytes | None) -> str:
        chain = GENESIS.hex() if body is None else parse_object(bytes(body)).get("chain")
        if not isinstance(chain, str):
            raise damaged(self._db, f"{table}/{epoch}/{seq} is no event")
        return chain

    def _head_seq(self, table: str, epoch: str) -> int:
        row = self._db.execute("SELECT max(seq) FROM event WHERE table_id = ? AND epoch = ?", (table, epoch)).fetchone()
        return int(row[0] or 0)

    def _body(self, table: str, epoch: str, seq: int) -> bytes | None:
        row = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND epoch = ? AND seq = ?", (table, epoch, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def _bodies(self, ids: Collection[tuple[str, str, int]]) -> dict[tuple[str, str, int], bytes]:
        """The bodies of these committed events, each named by its table, epoch and number."""
        if not ids:
            return {}
        rows = self._db.execute(
            f"WITH wanted (table_id, epoch, seq) AS (VALUES {', '.join(['(?, ?, ?)'] * len(ids))})"
            " SELECT table_id, epoch, seq, body FROM wanted JOIN event USING (table_id, epoch, seq)",
            [each for id_ in ids for each in id_],
        )
        return {(table, epoch, seq): bytes(body) for table, epoch, seq, body in rows}

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """A transaction in which a person decides something."""
        self._met.clear()
        with nonsense_explained(self._db), self._db.transaction():
            yield

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """A transaction in which a person decides on an award, refused while nobody may decide."""
        with self._asked():
            self._session.refuse_decisions(self._adoptions.heard())
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One view of the ledger, whoever writes to it meanwhile."""
        with nonsense_explained(self._db), self._db.reading():
            yield

    @contextmanager
    def _undone_if_raised(self) -> Iterator[None]:
        """Inside the transaction: where the block raises, what the block did is undone, in the books too."""
        with undone_if_raised(self._db), self._books.gathered():
            yield


def _read(table: str, payload: bytes) -> TableEvent | RefusedError:
    """The event in a payload that came on a table's topic, or why there is none."""
    try:
        return read_event(table, payload)
    except RefusedError as refusal:
        return refusal


def _read_state(table: str, payload: bytes) -> tuple[Adoption, int | None] | None:
    """What a table's state shows, and the number of its last event; None where the table says goodbye.

    Raises RefusedError `state_malformed`.
    """
    match parse_object(payload):
        case {"online": False}:
            return None
        case {"online": True, "table": str(name), "epoch": str(epoch), "public_key": str(public_key), **more} if (
            name == table and in_form(table=table, epoch=epoch, public_key=public_key)
        ):
            head_seq = more.get("head_seq")
            noted = head_seq if is_count(head_seq, 0, MOST_SEQ) else None
            return Adoption(epoch, bytes.fromhex(public_key)), noted
    raise RefusedError(
        "state_malformed",
        f"What came on the state topic of {table!r} is not that table's state.",
        "Find out who publishes there: only the table may.",
    )


def _ack(head: Head) -> Ack:
    return Ack(head.adoption.epoch, head.seq, head.chain)


def _not_booked(table: str, error: Exception) -> RefusedError:
    return RefusedError(
        "event_not_booked",
        f"An event of table {table} cannot be booked, and was not committed: {error!r:.200}.",
        "The table keeps the event and all later events, and sends them again. Run `account`, which tells whether the"
        " ledger is sound. If the ledger is sound, report this to the maker.",
    )


def _store(at: Place, begin: bool, replicated: bool = False, read_only: bool = False) -> Store:
    """The open store. Raises TableError `not_replicated` or `postgresql_missing`, or as the stores do."""
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


def read_log(at: Place, table: str, epoch: str | None) -> Iterator[bytes]:
    """The bodies of a table's events in one epoch, as they came, in order; without `epoch`, in the epoch adopted last.

    Only reads the ledger, as the ledger stands at this moment, also while a pit runs on it. Raises TableError
    `table_unknown` or `epoch_unknown`, or as opening a ledger does.
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
    """The alarms that the ledger keeps of a table, or of all tables, oldest first; then how many found no room.

    Only reads the ledger, as `read_log` does. Raises TableError `table_unknown` for a table that was never adopted and
    never refused, or as opening a ledger does.
    """
    with read_only(at) as db:
        every: list[KeptAlarm | LeftOut] = [*alarms.kept(db), *alarms.left_out(db)]
        kept = [alarm for alarm in every if table in (None, alarm.table)]
        if table is not None and not kept:
            _epochs(db, table)
    return kept


@contextmanager
def read_only(at: Place) -> Iterator[Store]:
    """The ledger as it stands at this moment, whoever writes to it meanwhile."""
    with closing(_store(at, begin=False, read_only=True)) as db, nonsense_explained(db), db.reading():
        yield db


def _epochs(db: Store, table: str) -> list[str]:
    """The epochs that were adopted for a table, the last adopted last. Streams that were set aside come before."""
    adopted = db.execute(
        "SELECT epoch FROM adoption WHERE table_id = ? GROUP BY epoch ORDER BY max(number)", (table,)
    ).fetchall()
    if db.has("key_seen"):  # from form 4 on
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
