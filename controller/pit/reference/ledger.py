"""The pit's ledger: every event of every adopted table, once, in order, byte for byte as it came.

Each new journal of a table has a random name, its epoch. The pit takes events of a table only in the epoch that people
adopted last, and only if the public key adopted with it signed them. The last event of a table is read from the
committed events and kept nowhere else, so the pit never acknowledges an event that is not on the disk.

A RefusedError means that one message was not taken, while the ledger itself is sound. Any other TableError means that
the ledger could not do what was asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.events import Win
from controller.contract.pit_words import AckWord, AwardStep
from controller.contract.signing import Signer
from controller.pit.reference import alarms, house_rules, people, slips
from controller.pit.reference.account import Account, draw_up
from controller.pit.reference.adoptions import Adoption, Adoptions
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Awards, Step
from controller.pit.reference.books import Books
from controller.pit.reference.clock import next_number
from controller.pit.reference.closing import Closings
from controller.pit.reference.committed import Ack, Events
from controller.pit.reference.days import Days
from controller.pit.reference.decisions import Decisions, every
from controller.pit.reference.house_rules import HouseRules
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.intake import Intake
from controller.pit.reference.measures import Measures
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place, open_store
from controller.pit.reference.proposals import Proposal, Proposals
from controller.pit.reference.refused import Refusal, Refused
from controller.pit.reference.session import Session
from controller.pit.reference.slips import Slip, Slips, ToPrint
from controller.pit.reference.store import nonsense_explained
from controller.pit.reference.strangers import Met, ShownState, Strangers, read_state
from controller.pit.reference.taking import Received, Taking
from controller.pit.reference.terms import MeterTerms
from controller.pit.reference.witness import Witness


class Ledger:
    """An open ledger of the pit. A method that writes returns once the disk has what it wrote.

    Every method raises TableError if the ledger cannot be used: `ledger_locked`, `ledger_unusable`, `ledger_damaged`,
    or an error of the file or database in which the ledger is kept.
    """

    def __init__(self, at: Place, begin: bool = True, replicated: bool = False) -> None:
        """Open the ledger at `at`, a file or a database. With `begin`, make a new ledger if none is there.

        With `replicated`, a commit counts only once a second machine has it too. A ledger in a file cannot do that.
        """
        self._db = open_store(at, begin, replicated)
        self._adoptions = Adoptions(self._db)
        self._session = Session(self._db)
        self._decisions = Decisions(self._db)
        self._books = Books(self._db, self._decisions)
        self._awards = Awards(self._db, self._books, self._decisions)
        self._closings = Closings(self._db, self._books, self._decisions)
        self._slips = Slips(self._db, self._awards, self._decisions)
        self._days = Days(self._db)
        self._proposals = Proposals(self._db)
        self._refused = Refused(self._db)
        self._inside = False  # a block that is one transaction
        self._desk_of: str | None = None  # the session whose decisions come through this ledger, where it is a desk's
        self.witness = Witness(self._db, self._adoptions, self._awards)
        self.measures = Measures(self._db, self._adoptions, self._decisions)
        self._intake = Intake(self._db, self._books, self._awards, self.witness, self.measures)
        self._events = Events(self._db, self._adoptions)
        self._strangers = Strangers(self._db, self._adoptions)
        self._taking = Taking(self._db, self._events, self._strangers, self._intake, self._books)
        self._met: dict[str, tuple[Adoption, list[object]]] = {}  # what a table's state showed: no news if repeated
        with nonsense_explained(self._db):
            leaping = self._awards.leaping()
        if leaping:
            with nonsense_explained(self._db), self._db.transaction():
                for table in leaping:
                    self._awards.number_anew(table)

    def serve(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Make this process the one pit that runs on the ledger, until the ledger is closed, and begin a session.

        Raises TableError `ledger_locked` if another pit runs on a ledger file. If the ledger is in a database and
        another pit leads on it, this method waits instead, and tells people so by `say`.
        """
        with self._db.lead(say) as token:
            self._session.begin(token)

    def sign_by(self, key: Signer, own_keys: Iterable[bytes] = ()) -> None:
        """Sign every later decision with `key`. `own_keys` are the pit's public keys, new and former."""
        self._awards.shown.keys = tuple(own_keys)
        self._decisions.sign_by(key)

    def name_desk(self, control: Path) -> None:
        """Set the path of the desk's control socket, for the commands that the pit tells people to type."""
        self._strangers.control = str(control)

    def session(self) -> str:
        """Return the session token of the pit that runs on this ledger, or ran last; empty before the first pit."""
        with self._reading():
            return self._session.token() or ""

    def decide_for(self, session: str) -> None:
        """Let people decide only while `session` (one run of a pit) is the newest session in the ledger.

        After another pit has begun a session, each decision raises TableError `leadership_lost`.
        """
        self._desk_of = session

    def propose(self, account: str, request: str, shown: str, now_ms: int) -> Proposal:
        """Keep a request until a second person confirms it. Raises TableError `too_many_proposals`."""
        with self._asked():
            return self._proposals.propose(account, request, shown, now_ms)

    def waiting(self, now_ms: int) -> list[Proposal]:
        """Return the proposals (requests for a decision) that wait for a second person, the oldest first."""
        with self._reading():
            return self._proposals.waiting(now_ms)

    def proposal(self, number: int, digest: str, now_ms: int) -> Proposal:
        """Return the waiting proposal of this number. Raises TableError `no_proposal` or `proposal_changed`."""
        with self._reading():
            return self._proposals.named(number, digest, now_ms)

    def proposal_over(self, number: int) -> None:
        """Remove the proposal of this number, which has been decided."""
        with self._asked():
            self._proposals.over(number)

    def keep_refused(self, account: str, request: str, code: str, why: str, count: int) -> bool:
        """Keep a refused request of the desk. If the day's list is full, add `count` to a counter and return False."""
        with self._asked():
            return self._refused.keep(account, request, code, why, count)

    def refused(self) -> list[Refusal]:
        """Return all requests that the desk refused, the oldest first."""
        with self._reading():
            return self._refused.every()

    def decided(self) -> list[dict[str, object]]:
        """Return every decision in the ledger, the oldest first."""
        with self._reading():
            return every(self._db)

    def adopt(self, table: str, epoch: str, key: str, by: str = people.PIT, witness: str | None = None) -> Adoption:
        """Adopt an epoch (a journal's random name), as `by` decided: from now on events in it that `key` signed count.

        `key` is the key's 64 hex digits, or the fingerprint of a key that the table's state showed with this epoch.
        Returns the adoption. Raises RefusedError `adoption_malformed`; `key_unseen` if no such key was seen; or
        `epoch_of_another_key` if the epoch was adopted with another key, and that adoption was not taken back.
        """
        adoption = self.offered(table, epoch, key)
        with self._asked():
            adopted = self._adoptions.key_of(table, epoch)
            if adopted not in (None, adoption.public_key):
                raise self._strangers.of_another_key(table, epoch, adoption.public_key, adopted)
            if self._adoptions.of(table) != adoption:
                number = self._adoptions.adopt(table, epoch, adoption.public_key)
                told = {"adopted": table, "epoch": epoch, "public_key": adoption.public_key.hex()}
                self._decisions.note("adopted", number, by, witness, told)
            self._session.note_progress(self._events.heads((table,)))
        return adoption

    def offered(self, table: str, epoch: str, key: str) -> Adoption:
        """Return the adoption of this epoch and key, to be confirmed. Raises `adoption_malformed` or `key_unseen`."""
        with self._reading():
            return self._strangers.offered(table, epoch, key)

    def unadopt(self, table: str, epoch: str, by: str, why: str, witness: str | None = None) -> str:
        """Take a wrong adoption back, as people decided: nothing that the table sent in the epoch counts any more.

        The wagers of that epoch are voided, and its awards are rejected. Its events are kept under a new name of the
        epoch, which is returned. The table's previous adoption is in force again. Raises TableError `name_missing`,
        `reason_missing`, `adoption_unknown`, or `award_paid` if one of the awards was paid.
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
            before_event = self._events.next_number()
            set_aside_as = f"{epoch}~{number}"  # no epoch has this form
            self._awards.take_back(table, epoch, set_aside_as, by)
            self._books.take_back(table, epoch, set_aside_as, before_event, number)
            self._awards.order.set_aside(table, epoch)
            self._events.set_aside(table, epoch, set_aside_as)
            self.witness.set_aside(table, epoch, set_aside_as)
            self._adoptions.take_back(table, epoch, set_aside_as, before_event, people.both(by, witness), why)
            told = {"table": table, "set_aside_as": set_aside_as, "reason": why}
            self._decisions.note("set_aside", number, by, witness, told)
            self._session.forget(table)
        return set_aside_as

    def retire(self, table: str, by: str, witness: str, why: str) -> None:
        """Retire a table that is gone for good: refuse its events, and wait for none, until somebody adopts it again.

        Raises TableError `name_missing`, `not_two_people`, `reason_missing`, `table_unknown`.
        """
        by, witness = people.two_people(by, witness)
        why = people.reason(why)
        with self._asked():
            if self._adoptions.of(table) is None and not self._session.waited_for(table):
                heard = ", ".join(self._adoptions.heard()) or "none"
                what = f"No table {table!r} is adopted; adopted are: {heard}."
                raise TableError("table_unknown", what, "Check the table's name.")
            number = self._adoptions.retire(table, people.both(by, witness), why)
            self._session.forget(table)
            self._decisions.note("retired", number, by, witness, {"retired": table, "reason": why})

    def meet_all(
        self, states: Sequence[tuple[str, bytes]], adopt_new: bool
    ) -> tuple[list[str], list[tuple[str, RefusedError]]]:
        """Judge the state messages of tables. `states` holds pairs: a table's id, and the payload of its message.

        Returns the ids of the tables adopted in this call, and pairs of a table and its refusal. With `adopt_new` the
        pit adopts the epoch of a table that it never heard of. Refusals: `epoch_to_adopt`, with the command to adopt
        it, `epoch_of_another_key`, `state_malformed`, and `meter_unknown`, which does not stop the table's events.
        """
        met = Met()
        with self._db.explained():
            heard = self._adoptions.heard({table for table, _ in states if table not in self._met})
        for table, payload in states:
            try:
                if (read := read_state(table, payload)) is not None:
                    self._meet(table, read, heard.get(table), adopt_new, met)
            except RefusedError as refusal:
                met.refused.append((table, refusal))
        if met.to_look:
            self.look_whether_heard(met.to_look)
        return met.adopted, met.refused

    def _meet(self, table: str, state: ShownState, heard: Adoption | None, adopt_new: bool, met: Met) -> None:
        """Judge one table's state; put the result into `met`. `heard` is the adoption in force. Raises RefusedError."""
        shown, head_seq = state.adoption, state.head_seq
        if self._met.get(table) == (shown, state.meters):
            if head_seq is not None and self._session.note_head(table, shown, head_seq, known=True):
                met.to_look.add(table)
            return
        with self._db.explained():
            known = heard is not None or self._adoptions.knows(table)
        if not known and adopt_new:
            self.adopt(table, shown.epoch, shown.public_key.hex())
            met.adopted.append(table)
        if head_seq is not None:
            self._session.note_head(table, shown, head_seq, known)
        with self._db.explained():
            holds = shown == heard or shown == self._adoptions.of(table)
            if not holds:
                raise self._strangers.refusal(table, shown)
            unknown = self._intake.unknown_feeds(table, state.meters)
        met.refused += [(table, refusal) for refusal in unknown]
        met.to_look.add(table)
        self._met[table] = shown, state.meters

    def look_whether_heard(self, tables: Collection[str]) -> None:
        """Record which of these tables have all events committed, up to the last event that the table's state names."""
        with nonsense_explained(self._db):
            news = any(self._session.news(self._events.heads(tables)))
        if news:
            with self._db.transaction():
                self._session.note_progress(self._events.heads(tables))

    def receive(self, events: Sequence[tuple[str, bytes]], longest_s: float = math.inf) -> Received:
        """Commit in one transaction each event that is its table's next. `events` holds pairs: a table's id, a payload.

        The next event is counted in the table's adopted epoch. An event that was committed before is dropped, and so is
        an event after a gap: the table sends again what is not acknowledged. Refusals: `event_malformed`,
        `event_of_another_table`, `event_id_differs`, `contract_unknown`, `event_of_another_epoch`, `signature_invalid`,
        `body_differs` for another body under the id of a committed event, and `event_not_booked`.

        After `longest_s` seconds no further event is begun. Example: with 1 s, a database that takes 100 ms for an
        event takes ten events, and acknowledges those ten.
        """
        until_s = time.monotonic() + longest_s
        self._days.keep_up()
        with self._db.transaction():
            taken = self._taking.take_all(events, until_s)
            heads = self._events.heads({table for table, _ in events})
            self._session.note_progress(heads)
        acks = {table: Ack.of(head) for table, head in heads.items()}
        return Received(tuple(taken.committed), acks, tuple(taken.refused), tuple(events[taken.looked_at :]))

    def ack(self, table: str) -> Ack | None:
        """Return the last committed event of the table's adopted epoch; None if no epoch is adopted."""
        with nonsense_explained(self._db):
            head = self._events.heads((table,)).get(table)
        return None if head is None else Ack.of(head)

    def ack_of(self, table: str, epoch: str) -> Ack:
        """Return the last committed event of this epoch of the table, whether the epoch is adopted or not."""
        with nonsense_explained(self._db):
            return Ack(epoch, *self._events.last({table: epoch})[table])

    def acks(self) -> dict[str, Ack]:
        """Return, for every adopted table, the last committed event of its adopted epoch."""
        with nonsense_explained(self._db):
            return {table: Ack.of(head) for table, head in self._events.heads().items()}

    def hear_own_ack(self, table: str, payload: bytes) -> None:
        """Check an acknowledgement of this pit, which the broker retains for a table, against the ledger.

        Raises RefusedError `ledger_behind_acks` if the ledger lacks the acknowledged event: the ledger is then an older
        copy. Raises RefusedError `ack_malformed` if the message is no acknowledgement for this table.
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
            if seq == 0 or self._events.has(table, epoch, seq, ack.chain):
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

    def refuse_if_taken_over(self) -> None:
        """Raise TableError if this pit does not run on the ledger any more. Example: `ledger_replaced`."""
        with self._db.explained():
            self._session.refuse_if_taken_over()

    def terms(self) -> dict[str, Terms]:
        """Return each meter's terms (seed, growth and limits) by the meter's name; empty if no meter exists yet."""
        with self._reading():
            return self._books.terms()

    def watch_voids(self, most_in_a_shoe: int) -> None:
        """Set how many rounds of a shoe may be voided: a shoe with more voided rounds than this raises an alarm."""
        self._intake.most_voids_in_a_shoe = most_in_a_shoe

    def name_settings(self, file: Path) -> None:
        """Set the path of the file into which people write the meters. The alarm about a missing meter names it."""
        self._intake.settings = str(file)

    def set_terms(
        self,
        meters: Mapping[str, Terms],
        by: str = people.PIT,
        witness: str | None = None,
        why: str = "",
        open_again: Collection[str] = (),
    ) -> tuple[str, ...]:
        """Approve terms of meters. Changed terms of a meter that was played for wait until the meter is won.

        A change of prices alone never waits. Opens the closed meters in `open_again`. Returns each change as a line for
        people. Raises TableError `meter_left_out`, `terms_wait`, `limit_below_level`.
        """
        with self._asked():
            return self._books.set_terms(meters, by, witness, why, open_again)

    @contextmanager
    def meter_terms(self) -> Iterator[MeterTerms]:
        """Yield the meters' terms, in one consistent view of the ledger."""
        with self._reading():
            yield self._books.meter_terms

    def withdraw_terms(self, meter: str, by: str, witness: str, why: str) -> Terms:
        """Take back a meter's waiting terms, as two people decided. Raises `no_terms_wait` or `terms_have_run`."""
        by, witness = people.two_people(by, witness)
        with self._asked():
            return self._books.meter_terms.withdraw(meter, by, witness, people.reason(why))

    @contextmanager
    def closing_meters(self) -> Iterator[Closings]:
        """Open a transaction to close or correct meters. Raises TableError while nobody may decide on awards."""
        with self._deciding():
            yield self._closings

    def set_house_rules(self, rules: HouseRules) -> str | None:
        """Put these house rules into force. Returns the change as a line for people; None if nothing changed."""
        with nonsense_explained(self._db):
            if self._days.has_begun():
                self._days.keep_up()  # by the rules until now; a ledger's first day begins by its first rules
            with self._db.transaction():
                changed = house_rules.set_rules(self._db, rules, self._decisions)
        self._days.look_again()
        return changed

    def begin_day_if_due(self) -> None:
        """Record that a gaming day began, with every meter's reading, if the hour at which the day begins has come."""
        with nonsense_explained(self._db):
            self._days.keep_up()

    def keep(self, refusals: Sequence[tuple[str, RefusedError]]) -> list[RefusedError]:
        """Keep refusals (pairs of a table's id and an error) as alarms, once for each table, code and wording.

        The same transaction keeps the keys that tables' states showed since the last call for epochs not in force.
        Returns the refusals for which the list was full. If this method raises, the ledger is unchanged, and the next
        call keeps these keys.
        """
        if not refusals:
            return []
        with self._db.transaction():
            for shown in self._strangers.shown:
                self._adoptions.see_key(*shown)
            left_out = alarms.keep(self._db, refusals)
        self._strangers.shown.clear()
        return left_out

    def count_left_out(self, table: str, code: str, count: int) -> None:
        """Count alarms for which the list was full. An empty `table` stands for all tables that were never adopted."""
        with self._db.transaction():
            alarms.count_left_out(self._db, table, code, count)

    def room_of(self, table: str) -> str:
        """Return the name of the list that takes a table's alarms: the table's id, or "" if it was never adopted."""
        with self._db.explained():
            return alarms.room_of(self._db, table)

    def levels(self) -> dict[str, int]:
        """Return every open meter's level in cents, by the meter's name."""
        with nonsense_explained(self._db):
            return self._books.levels()

    def meters_seqs(self, count: int) -> range:
        """Return `count` new numbers for messages about the meters. No number is given out twice."""
        with self._db.transaction():
            (next_seq,) = self._db.execute("SELECT next_seq FROM meters_message").fetchone()
            first = next_number(next_seq - 1)
            self._db.execute("UPDATE meters_message SET next_seq = ?", (first + count,))
        return range(first, first + count)

    def win_after(self, seq: int | None) -> Win | None:
        """Return the first win numbered above `seq`, or the last win if `seq` is None; None if there is none."""
        with nonsense_explained(self._db):
            return self._awards.wins.after(seq)

    def held_ack_time(self) -> int:
        """Return the time, in ms since 1970, that no acknowledgement may exceed so far; 0 before the first one."""
        with self._reading():
            (held_ms,) = self._db.execute("SELECT held_ms FROM ack_time").fetchone()
            return int(held_ms)

    def hold_ack_time(self, held_ms: int) -> None:
        """Set the time, in ms since 1970, that no acknowledgement of the pit may exceed."""
        with self._db.transaction():
            self._db.execute("UPDATE ack_time SET held_ms = ?", (held_ms,))

    def award(self, id_: str) -> Award:
        """Return one award as it stands now. Raises TableError `award_unknown`."""
        with self._reading():
            return self._awards.named(id_)

    def adoption(self, table: str) -> Adoption | None:
        """Return the table's adoption that is in force; None if there is none."""
        with self._reading():
            return self._adoptions.of(table)

    def awards(self) -> list[Award]:
        """Return every award as it stands now, the oldest first."""
        with self._reading():
            return self._awards.listed()

    def take_step(
        self, award: str, step: Step, by: str, witness: str | None = None, without_waiting: bool = False
    ) -> Award:
        """Take a step of an award (for example "paid"), as `by` decided, with `witness` if two people are needed.

        With `without_waiting`, two people verify an award without waiting for possible earlier hits of other tables.
        Raises TableError if the step is not allowed now.
        """
        with self._deciding():
            if step == "paid":
                slips.refuse_unmarked(self._db, award)
            return self._awards.take(award, step, by, witness, without_waiting)

    def print_slip(self, award: str, by: str) -> ToPrint:
        """Record that `by` prints an award's slip. Return what to print. Raises TableError, such as `slip_not_due`."""
        with self._asked():
            return self._slips.print_one(award, by)

    def ask_measure(self, table: str, by: str) -> str:
        """Ask a table which program it runs. Returns the question's nonce. Raises TableError `table_unknown`."""
        with self._asked():
            return self.measures.ask(table, by)

    def slips(self) -> list[Slip]:
        """Return every slip with its prints, in the order of the slips' numbers."""
        with self._reading():
            return slips.listed(self._db)

    def recall(self, award: str, by: str, witness: str | None = None) -> Award:
        """Add the award steps to this ledger that the award's table reported and the ledger lacks, as people decided.

        Raises TableError if no step is lacking, or while nobody may decide on awards.
        """
        with self._deciding():
            return self._awards.recall(award, by, witness)

    def undecidable(self) -> TableError | None:
        """Return why nobody may decide on an award now; None if people may decide."""
        with self._reading():
            try:
                self._session.refuse_decisions(self._adoptions.heard())
            except TableError as refusal:
                return refusal
        return None

    def dismiss(self, award: str, by: str, witness: str) -> Award:
        """Record that two people reject a table's report: the award steps that the table reported never happened.

        Raises TableError if the table reported no such step, or while nobody may decide on awards.
        """
        with self._deciding():
            return self._awards.dismiss(award, by, witness)

    def next_steps(self, tables: Collection[str]) -> dict[str, AwardStep]:
        """Return each table's first award step in its adopted epoch that its events do not mention yet, if any."""
        with nonsense_explained(self._db):
            waiting = self._awards.waited_for().intersection(tables)
            return {
                table: step
                for table, adoption in self._adoptions.heard(waiting).items()
                for step in self._awards.unheard(table, adoption.epoch, most=1)
            }

    def others_wrote(self) -> bool:
        """Tell whether another process has written to the ledger since the last call."""
        with self._db.explained():
            wrote = self._db.others_wrote()
        if wrote:
            self._met.clear()
        return wrote

    def account(self) -> Account:
        """Draw up the account of meters and awards up to now. This is slow on a large ledger, but holds up no pit."""
        with self._reading():
            self._db.refuse_unsound()
            return draw_up(self._db)

    def close(self) -> None:
        """Let go of the ledger, so that another pit can run on it."""
        self._db.close()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Run a block in one transaction. No other process writes meanwhile. Undo everything if the block raises."""
        with self._asked():
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Open a transaction in which people decide something."""
        if self._inside:
            yield
            return
        self._met.clear()
        with nonsense_explained(self._db):
            self._days.keep_up()
            with self._db.transaction():
                if self._desk_of is not None:
                    self._session.refuse_unless(self._desk_of)
                yield

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """Open a transaction to decide on an award. Raises TableError while nobody may decide on awards."""
        with self._asked():
            self._session.refuse_decisions(self._adoptions.heard())
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Open one consistent view of the ledger, which no other process's writing changes."""
        if self._inside:
            yield
            return
        with nonsense_explained(self._db), self._db.reading():
            yield
