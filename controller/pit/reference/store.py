"""What the ledger asks of the place where it is kept. The ledger's logic is stated once, over this protocol.

The statements are SQL that SQLite and PostgreSQL take alike: `?` stands for a value, whole numbers stand for yes and
no, and the number of a new row comes by RETURNING.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from msgspec import Struct, convert

from controller.basics.errors import TableError

_T = TypeVar("_T", bound=Struct)

NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, AssertionError, RecursionError, MemoryError)
"""What values that cannot be reckoned with raise."""


def marks(values: Collection[object]) -> str:
    """A question mark for each value of a list in a statement. The list must not be empty."""
    return ", ".join("?" * len(values))


def of_row(kind: type[_T], row: Sequence[object]) -> _T:
    """A row as a Struct, whose first fields have the order of the row's columns.

    Raises msgspec.ValidationError, which is NONSENSE, where a value is not of its field's type: for example where a
    damaged file has no amount.
    """
    return convert(dict(zip(kind.__struct_fields__, row, strict=False)), kind)


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows, one by one."""


class Store(Protocol):
    """An open ledger's place. Written out as text, the store is what `--ledger` names."""

    nonsense: tuple[type[Exception], ...]
    """NONSENSE, and what a statement raises for values that no row can hold."""

    @property
    def leads(self) -> bool:
        """Whether this process is the pit that runs on the ledger, by all that this process knows."""

    def execute(self, statement: str, values: Sequence[object] = ()) -> Rows:
        """Run one statement."""

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> object:
        """Run one statement for each of these rows of values."""

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query of which there may be too many for the memory, inside a transaction."""

    def explained(self) -> AbstractContextManager[None]:
        """A block in which the database's errors become a TableError."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing. What is committed is on the disk when the block has ended, and nobody wrote meanwhile."""

    def reading(self) -> AbstractContextManager[None]:
        """One view of the ledger, whoever writes to it meanwhile."""

    def others_wrote(self) -> bool:
        """Whether another process has written since the last call."""

    def refuse_unsound(self) -> None:
        """Raises the database's own error where it finds its files damaged."""

    def lead(self, say: Callable[[str], None]) -> AbstractContextManager[str]:
        """A transaction with which this becomes the pit that runs on the ledger. Gives the new session's token.

        Raises TableError `ledger_locked` where another pit runs. A store that several pits share waits instead until
        none of them runs, and says so to people by `say`.
        """

    def refuse_if_taken_over(self, token: Callable[[], str | None]) -> None:
        """Raises TableError where this process led and leads no more. `token` reads the ledger's session."""

    def refuse_unserved(self, token: str | None) -> None:
        """Raises TableError `pit_not_running` or `ledger_replaced` unless a pit runs on this ledger's session."""

    def close(self) -> None:
        """Let go of the ledger. Another pit can run on it then."""


@contextmanager
def nonsense_explained(store: Store) -> Iterator[None]:
    """As `Store.explained`. Values in the ledger that cannot be reckoned with are damage too.

    Only for code that works on nothing but the ledger: elsewhere such an exception is a defect of this program.
    """
    with store.explained():
        try:
            yield
        except NONSENSE as error:
            raise damaged(store, f"a value in it makes no sense ({error!r:.200})") from error


@contextmanager
def undone_if_raised(store: Store) -> Iterator[None]:
    """Inside a transaction: where the block raises, what the block did is undone, and the transaction goes on."""
    store.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        store.execute("ROLLBACK TO SAVEPOINT part")
        raise
    finally:
        store.execute("RELEASE SAVEPOINT part")


def locked(at: object) -> TableError:
    """The error that another process has the ledger."""
    return TableError(
        "ledger_locked",
        f"Another process has the ledger {at}.",
        "Stop the other pit or whatever has the ledger open, or give this pit a ledger of its own.",
    )


def missing(at: object) -> TableError:
    """The error that there is no ledger."""
    return TableError("ledger_missing", f"There is no ledger at {at}.", "Check --ledger; `run` begins one.")


def unusable(at: object, why: str | None) -> TableError:
    """The error that the ledger cannot be opened or written."""
    return TableError(
        "ledger_unusable",
        f"The ledger {at} cannot be used: {why}.",
        "Check --ledger, that the disk is not full, and that the user the pit runs as may write there.",
    )


def damaged(at: object, why: str) -> TableError:
    """The error that the ledger does not hold what was written."""
    return TableError(
        "ledger_damaged",
        f"The ledger {at} is not sound: {why}.",
        "Check the path first. If this is the pit's ledger, keep it for the audit and restore the last good copy. The"
        " tables send again what the copy lacks, and people recall what was decided on awards since (`award list`,"
        " `award recall`).",
    )


def of_another_program(at: object) -> TableError:
    """The error that there is a database, and no ledger in it."""
    return TableError("ledger_of_another_program", f"{at} is a database, but no pit's ledger.", "Correct --ledger.")


def of_earlier_form(at: object, form: int, newest: int) -> TableError:
    """The error that a reader looks for what a ledger of this form lacks. Only a pit that runs changes the form."""
    return TableError(
        "ledger_of_earlier_form",
        f"An earlier version wrote the ledger {at}: it has form {form}, and this command reads form {newest}.",
        "Start the pit of this version (`run`): it gives the ledger the newest form. Then repeat the command.",
    )


def refuse_form(at: object, form: int, oldest: int, newest: int) -> None:
    """Raises TableError `ledger_too_old` or `ledger_too_new` where this program cannot read a ledger of that form."""
    what = f"The ledger {at} has form {form}; this program knows form {newest}."
    if form < oldest:
        raise TableError(
            "ledger_too_old",
            what,
            "Keep that ledger for the audit, and begin a new ledger. The tables send their streams again, and people"
            " recall what was decided on awards (`award list`, `award recall`).",
        )
    if form > newest:
        raise TableError("ledger_too_new", what, "Run the version of the pit that wrote this ledger.")
