"""A model of which of two pits leads the ledger in a PostgreSQL database. It explores every order in which the two
pits' statements can follow each other, with the product's own class.

Each pit is the product's own `LedgerDatabase`, with a connection that stops at every statement. The model describes how
PostgreSQL behaves. A statement that waited for a row sees the row's newest committed version. A row is locked until the
transaction ends. There are advisory locks. If a session ends, what it had not committed is undone. SQLite evaluates the
statements themselves. `tests/pit/test_ledger_database.py` tries the same class on a real server.

A pit may stop at any statement for any time. So a frozen leader is one that takes no step while its time passes. A
pit's program is a function of the answers that it has received. For each step it is run anew with these answers, up to
the first statement without an answer. So a state of the model is a value.

Each pit first becomes the leader, and then writes events, each with the number after the last. It acknowledges an event
after the commit.
"""

from __future__ import annotations

import inspect
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from controller.basics.errors import TableError
from controller.pit.reference import ledger_database
from tests.model.award_defects import Defect
from tests.model.world import BrokenError

_NOW, _LATER, _OVER = 1, 2, 0  # the database's clock; a time that has not come; one that has

RULES = (
    "a pit takes over from a leader that is heard and whose time is not over",
    "a leader whose connection ended is taken for one that leads",
    "a pit writes in another pit's term",
    "a number is committed twice, or left out",
    "a pit acknowledges an event that is not committed",
)
TAKEN_OVER, TAKEN_FOR_ALIVE, OTHERS_TERM, NUMBERS, UNCOMMITTED = RULES
DEAD_END = "from here no step of a pit or of the clock leads to the end at which every event is committed"

DEFECTS = (
    Defect('" WHERE holder = ? AND term = ? RETURNING replicated"', '" WHERE ? != ? RETURNING replicated"'),
    Defect("if row is None:\n                    raise self._lost()\n", "row = row or (0,)\n"),
    Defect('secs => ?) WHERE NOT ({_LEADS}) RETURNING term"', 'secs => ?) RETURNING term"'),
    Defect("""self.execute("SELECT pg_advisory_lock('leadership'::regclass::oid::int, ?)", row)""", "pass"),
    Defect('"until > clock_timestamp() AND NOT pg_try', '"NOT pg_try'),
    Defect(" AND NOT pg_try_advisory_xact_lock_shared(tableoid::int, term::int)", ""),
    Defect("term = term + 1, replicated", "term = term, replicated"),
    Defect('        if said != b"COMMIT":', "        if False:"),
    Defect(
        "            raise self._unconfirmed(_in_a_line(error)) from error",
        '            said, standbys = b"COMMIT", True',
    ),
    Defect(
        "        if self._held is None:\n                    row", "        if self._held:\n                    row"
    ),
)


class Pit(NamedTuple):
    """The state of a pit's program in the model: the answers that its statements have received, and the state of its
    session at the database server."""

    answers: tuple[object, ...] = ()
    in_transaction: bool = False
    ended: bool = False  # by the server: the program learns it at its next statement
    token: str = ""
    frozen: bool = False  # for good, with a session that stands
    gave_up: bool = False  # it ends, and has told the server that another pit may lead


class Row(NamedTuple):
    """The database row that says which pit leads, together with the ledger's events, which the model keeps in
    it too."""

    holder: str = ""
    who: str = ""
    term: int = 0
    until: int = _OVER
    replicated: int = 0
    changes: int = 0
    events: tuple[int, ...] = ()


class Spent(NamedTuple):
    """How often each misfortune has happened in the model so far, or how often it may happen at most."""

    over: int = 0  # the leader's time went by
    kills: int = 0  # or a pit stands still for good: once at most
    ends: int = 0  # of sessions and transactions, by the server or the network
    waits: int = 0  # for a lock, for too long


WORLDS = (Spent(over=1), Spent(over=1, ends=1), Spent(over=1, kills=1), Spent(over=1, kills=1, waits=1))


class State(NamedTuple):
    """The state of the model at one moment. `written` is what the transaction of the pit `locked_by` has written and
    not yet committed. `locks` are the advisory locks. Each is a triple: the term (a number that rises with each new
    leader), the pit, and True if the pit's transaction holds the lock (False if its session does)."""

    row: Row = Row()
    written: Row | None = None
    locked_by: int | None = None
    locks: frozenset[tuple[int, int, bool]] = frozenset()
    pits: tuple[Pit, ...] = (Pit(), Pit())
    spent: Spent = Spent()


_STOPPED = Pit(("stopped",))
_ENDED = psycopg.OperationalError("the session has ended")
_WAITED = psycopg.errors.LockNotAvailable("the lock was not there in time")


class _LooksAgainError(BaseException):
    """Stops a pit's program in the model when a pit that does not lead has waited, and would now check again which pit
    leads."""


class _StandsStillError(BaseException):
    """Stops a pit's program in the model at the first statement that has no answer yet."""


class _Server:
    """A model of a PostgreSQL server. It answers one statement of one pit, in a given state of the model."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect(":memory:", isolation_level=None)
        columns = ", ".join((*Row._fields[:-1], "tableoid"))
        self._sql.execute(f"CREATE TABLE leadership ({columns})")
        self._sql.create_function("clock_timestamp", 0, lambda: _NOW)
        self._sql.create_function("make_interval", 1, lambda _: _LATER - _NOW)
        self._sql.create_function("pg_try_advisory_xact_lock_shared", 2, lambda _, term: self._try(term))
        self._sql.create_function("pg_advisory_unlock_all", 0, self._give_up)
        self._sql.create_function("pg_advisory_lock", 2, lambda _, term: self._lock(term))
        self.state = State()
        self._pit = 0
        self._waits = False

    def answer(self, state: State, pit: int, statement: str, values: Sequence[object]) -> tuple[State, object] | None:
        """Return the state after this statement of a pit, and the server's answer. Return None if the statement has to
        wait for the other session. Raises BrokenError if the statement breaks a rule."""
        self.state, self._pit, self._waits = state, pit, False
        if statement in ("BEGIN", "COMMIT", "ROLLBACK"):
            return self._transaction(statement)
        if statement.startswith("SET LOCAL"):
            return state, None
        if statement == "closed":
            return _ended(state, pit), None
        if statement.startswith("INSERT"):
            if state.written is None or state.locked_by != pit:
                raise BrokenError(OTHERS_TERM)
            events = (*state.written.events, int(str(values[0])))
            return state._replace(written=state.written._replace(events=events)), None
        mine = state.locked_by == pit
        answer = self._run(state.written if mine and state.written else state.row, statement, values)
        if self._waits:
            return None
        if not statement.startswith("UPDATE"):
            if not state.pits[pit].in_transaction:
                self._let_go(lambda lock: lock[2])
            if answer == (1,) and not any(each.token == state.row.holder and not each.ended for each in state.pits):
                raise BrokenError(TAKEN_FOR_ALIVE)
            return self.state, answer
        if answer is None:
            return self.state, None
        if state.locked_by not in (None, pit):
            return None  # the row fits as it is committed: what becomes of it is waited for
        changed = self._row(state.written if mine and state.written else state.row)
        if changed.term > state.row.term and self._leads(state):
            raise BrokenError(TAKEN_OVER)
        return self.state._replace(written=changed, locked_by=pit), answer

    def _run(self, row: Row, statement: str, values: Sequence[object]) -> object:
        self._sql.execute("DELETE FROM leadership")
        self._sql.execute("INSERT INTO leadership VALUES (?, ?, ?, ?, ?, ?, 7)", row[:-1])
        if "SELECT max(seq)" in statement:
            return (len(row.events),)
        return self._sql.execute(re.sub(r"::\w+", "", statement).replace("secs => ", ""), values).fetchone()

    def _row(self, before: Row) -> Row:
        columns = ", ".join(Row._fields[:-1])
        values = self._sql.execute(f"SELECT {columns} FROM leadership").fetchone()
        return Row(*values)._replace(events=before.events)

    def _transaction(self, statement: str) -> tuple[State, object]:
        state, pit = self.state, self.state.pits[self._pit]
        if statement == "BEGIN":
            return _with(state, self._pit, pit._replace(in_transaction=True)), None
        if statement == "COMMIT" and state.locked_by == self._pit and state.written is not None:
            if state.written.events != tuple(range(1, len(state.written.events) + 1)):
                raise BrokenError(NUMBERS)
            if state.written.events != state.row.events and state.written.holder != pit.token:
                raise BrokenError(OTHERS_TERM)
            state = state._replace(row=state.written)
        self.state = _taken_back(state, self._pit)
        self._let_go(lambda lock: lock[2])
        return _with(self.state, self._pit, pit._replace(in_transaction=False)), b"COMMIT"

    @staticmethod
    def _leads(state: State) -> bool:
        """Return True if the pit that the committed row names still leads: its session is open, and its time has not
        run out."""
        return state.row.until > _NOW and any(
            pit.token == state.row.holder and not pit.ended and not pit.gave_up for pit in state.pits
        )

    def _others(self, term: int, shared: bool) -> bool:
        return any(
            held == term and pit != self._pit and not (shared and of_transaction)
            for held, pit, of_transaction in self.state.locks
        )

    def _try(self, term: int) -> bool:
        if self._others(term, shared=True):
            return False
        self.state = self.state._replace(locks=self.state.locks | {(term, self._pit, True)})
        return True

    def _lock(self, term: int) -> None:
        self._waits = self._others(term, shared=False)
        if not self._waits:
            self.state = self.state._replace(locks=self.state.locks | {(term, self._pit, False)})

    def _give_up(self) -> None:
        self._let_go(lambda lock: not lock[2])
        self.state = _with(self.state, self._pit, self.state.pits[self._pit]._replace(gave_up=True))

    def _let_go(self, which: Callable[[tuple[int, int, bool]], bool]) -> None:
        kept = frozenset(lock for lock in self.state.locks if lock[1] != self._pit or not which(lock))
        self.state = self.state._replace(locks=kept)


def _with(state: State, number: int, pit: Pit) -> State:
    return state._replace(pits=tuple(pit if at == number else each for at, each in enumerate(state.pits)))


def _taken_back(state: State, number: int) -> State:
    """Return the state after the open transaction of the pit `number` has ended. Whatever the transaction had not
    committed is undone."""
    return state._replace(written=None, locked_by=None) if state.locked_by == number else state


def _ended(state: State, number: int) -> State:
    """Return the state after the database session of the pit `number` has ended. Its transaction and its locks end with
    the session."""
    kept = frozenset(lock for lock in state.locks if lock[1] != number)
    return _taken_back(state, number)._replace(locks=kept)


def _same(answer: object) -> object:
    return answer


class _Connection:
    """A pit's database connection in the model. It gives a pit's statements the answers that are known, and stops the
    program at the first statement without an answer."""

    closed = False
    info = SimpleNamespace(transaction_status=TransactionStatus.IDLE)

    def __init__(self, answers: Sequence[object]) -> None:
        self._answers = iter(answers)
        self.asked: tuple[str, Sequence[object]] | None = None

    def execute(self, statement: bytes | str, values: Sequence[object] | None = None) -> Any:
        text = statement.decode() if isinstance(statement, bytes) else statement
        if self.asked is not None:
            raise _StandsStillError
        for answer in self._answers:
            if isinstance(answer, Exception):
                raise answer
            return SimpleNamespace(fetchone=partial(_same, answer))
        self.asked = (text.replace("%s", "?"), values or ())
        raise _StandsStillError

    def close(self) -> None:
        """End the session: send the statement "closed", which only the model knows."""
        self.execute("closed")


class World:
    """A model world of two pits on one database. `of` is the module with the class `LedgerDatabase`: the product's
    module, or a copy with a planted defect. `most` says how often each misfortune may happen."""

    first = State()

    def __init__(self, of: Any, most: Spent, events: int = 1) -> None:
        self._events = events
        self._most = most
        self._server = _Server()

        class Database(of.LedgerDatabase):  # type: ignore[misc]  # a module of this moment
            """The product's class `LedgerDatabase`, on a connection of the model instead of a real one."""

            def __init__(self, connection: _Connection) -> None:
                self._shown, self._replicated, self._held = "the ledger", False, None
                self._prolonged_at_s, self._changes, self._cancelled = 0.0, None, False
                self._connection = connection

            def _say_commit(self) -> object:
                return self._connection.execute("COMMIT").fetchone()

        self._database, self._of = Database, of

    def key(self, state: State) -> State:
        """Return the key that distinguishes this state from others. In this model the key is the state itself."""
        return state

    def broken(self, state: State) -> None:
        """Return None, because this model has no rules about states. Its rules are about steps, and `steps` checks
        them."""

    def is_over(self, state: State) -> bool:
        """Return True if every event is committed to the ledger."""
        return len(state.row.events) == self._events

    def steps(self, state: State) -> Iterator[tuple[str, bool, State]]:
        """Yield everything that can happen next in this state: its name, whether it happens without a misfortune, and
        the state after it. Raises BrokenError if a step breaks a rule."""
        for number, pit in enumerate(state.pits):
            if pit == _STOPPED:
                continue
            if pit.frozen:
                if pit.in_transaction:
                    yield f"the server ends the session of pit {number}", True, self._idle_ended(state, number)
                continue
            statement, values = self._stands_at(state, number)
            name = f"pit {number}: {statement}"
            if pit.ended:
                yield f"{name}: the session has ended", True, self._answered(state, number, _ENDED)
            elif (answered := self._server.answer(state, number, statement, values)) is not None:
                yield name, True, self._answered(answered[0], number, answered[1])
                if statement == "COMMIT" and (spent := self._spend(state, "ends")) is not None:
                    lost = _with(answered[0], number, pit._replace(ended=True))._replace(spent=spent)
                    yield f"{name}: the answer is lost", False, self._answered(_ended(lost, number), number, _ENDED)
                    back = self._server.answer(state, number, "ROLLBACK", ())
                    if back is not None:
                        after = back[0]._replace(spent=spent)
                        yield f"{name}: it is rolled back", False, self._answered(after, number, b"ROLLBACK")
            elif (spent := self._spend(state, "waits")) is not None:
                yield f"{name} waits too long", False, self._answered(state._replace(spent=spent), number, _WAITED)
            yield from self._misfortunes(state, number, pit)
        frozen = any(pit.frozen for pit in state.pits)
        if state.row.until > _NOW and (spent := state.spent if frozen else self._spend(state, "over")) is not None:
            over = state._replace(row=state.row._replace(until=_OVER), spent=spent)
            yield "the leader's time is over", True, over

    def _misfortunes(self, state: State, number: int, pit: Pit) -> Iterator[tuple[str, bool, State]]:
        if (spent := self._spend(state, "kills")) is not None:
            yield f"pit {number} is killed", False, _with(_ended(state, number), number, Pit())._replace(spent=spent)
            frozen = _with(state, number, pit._replace(frozen=True))
            yield f"pit {number} stands still for good", False, frozen._replace(spent=spent)
        if pit.in_transaction and not pit.ended and (spent := self._spend(state, "ends")) is not None:
            ended = self._idle_ended(state, number)._replace(spent=spent)
            yield f"the server ends the session of pit {number}", False, ended

    @staticmethod
    def _idle_ended(state: State, number: int) -> State:
        pit = state.pits[number]._replace(in_transaction=False, ended=True)
        return _with(_ended(state, number), number, pit)

    def _spend(self, state: State, what: str) -> Spent | None:
        count: int = getattr(state.spent, what)
        return state.spent._replace(**{what: count + 1}) if count < getattr(self._most, what) else None

    def _stands_at(self, state: State, number: int) -> tuple[str, Sequence[object]]:
        pit = state.pits[number]
        connection = _Connection(pit.answers)
        with suppress(_StandsStillError):
            self._program(connection, pit.token or _token(state, number), [])
        assert connection.asked is not None, pit
        return connection.asked

    def _answered(self, state: State, number: int, answer: object) -> State:
        """Give the program of the pit `number` this answer, let the program run to its next statement, and return the
        state after that."""
        pit = state.pits[number]
        pit = pit._replace(answers=(*pit.answers, answer), token=pit.token or _token(state, number))
        acknowledged: list[int] = []
        try:
            self._program(_Connection(pit.answers), pit.token, acknowledged)
            return _with(_ended(state, number), number, _STOPPED)
        except _StandsStillError:
            return _with(state, number, pit)
        except _LooksAgainError:
            return _with(state, number, pit._replace(answers=()))
        except TableError:
            return _with(_ended(state, number), number, Pit())
        finally:
            if any(event not in state.row.events for event in acknowledged):
                raise BrokenError(UNCOMMITTED)

    def _program(self, connection: _Connection, token: str, acknowledged: list[int]) -> None:
        """Run a pit's program on this connection, with the session token `token`: become the leader, write the missing
        events, and end. The numbers of events that the pit acknowledges are added to `acknowledged`. Raises TableError
        if the product's class does."""
        self._of.secrets = SimpleNamespace(token_hex=lambda _: token)
        self._of.time = SimpleNamespace(monotonic=lambda: 0.0, sleep=_look_again)
        database = self._database(connection)
        with database.lead(lambda what: None):
            pass
        last = 0
        while last < self._events:
            with database.transaction():
                (last,) = database.execute("SELECT max(seq) FROM event").fetchone()
                if last < self._events:
                    database.execute("INSERT INTO event VALUES (?)", (last + 1,))
            if last < self._events:
                acknowledged.append(last := last + 1)
        database.close()


def _look_again(_: float) -> None:
    raise _LooksAgainError


def _token(state: State, number: int) -> str:
    """Return a session token that no earlier session has had. It consists of the pit's number and the term (a number
    that rises with each new leader)."""
    return f"{number}.{state.row.term}"


def with_defect(defect: Defect | None) -> ModuleType:
    """Return the module with the class `LedgerDatabase`, with this defect planted in it, or unchanged if `defect` is
    None."""
    source = inspect.getsource(ledger_database)
    if defect is not None:
        assert source.count(defect.was) == 1, f"{defect.was!r} stands there {source.count(defect.was)} times"
        source = source.replace(defect.was, defect.becomes)
    module = ModuleType("ledger_database_of_the_model")
    sys.modules[module.__name__] = module
    exec(compile(source, ledger_database.__file__, "exec"), vars(module))  # the product's own text
    return module
