"""The interface to the file or database in which a ledger is kept. The ledger's logic is written once, on this
interface.

The statements are SQL that SQLite and PostgreSQL take alike: `?` stands for a value, a whole number stands for yes or
no, and the number of a new row is read by RETURNING.
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
    """Return question marks with commas between, one for each value, for a list in an SQL statement. The list must not
    be empty."""
    return ", ".join("?" * len(values))


def of_row(kind: type[_T], row: Sequence[object]) -> _T:
    """Convert a row of the database into a Struct of this kind. The Struct's first fields must have the order of the
    row's columns.

    Raises msgspec.ValidationError, one of the errors in NONSENSE, if a value is not of its field's type: for example if
    a damaged file has no amount.
    """
    return convert(dict(zip(kind.__struct_fields__, row, strict=False)), kind)


class Rows(Protocol):
    """The rows that an SQL statement gave."""

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement changed."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the rows that have not been fetched yet."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows, one by one."""


class Store(Protocol):
    """The open file or database in which a ledger is kept. `str(store)` is its place, as the option `--ledger` names
    it."""

    nonsense: tuple[type[Exception], ...]
    """NONSENSE, and what a statement raises for values that no row can hold."""

    @property
    def leads(self) -> bool:
        """Tell whether this process is the pit that runs on the ledger, as far as this process knows. Another pit may
        have taken over."""

    def execute(self, statement: str, values: Sequence[object] = ()) -> Rows:
        """Run one SQL statement with these values."""

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> object:
        """Run one SQL statement for each row of values."""

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """Yield the rows of a query whose result may be too large for the memory. Works only inside a transaction."""

    def explained(self) -> AbstractContextManager[None]:
        """Run a block, and turn the database's errors in it into a TableError."""

    def transaction(self) -> AbstractContextManager[None]:
        """Run a block as one transaction, all or nothing, in which no other process writes. When the block has ended,
        the commit is on the disk."""

    def reading(self) -> AbstractContextManager[None]:
        """Run a block on one consistent view of the ledger, which no other process's writing changes."""

    def others_wrote(self) -> bool:
        """Tell whether another process has written since the last call."""

    def refuse_unsound(self) -> None:
        """Raise the database's own error if it finds that its files are damaged."""

    def lead(self, say: Callable[[str], None]) -> AbstractContextManager[str]:
        """Make this process the pit that runs on the ledger. Yields the new session's token inside a transaction, which
        the `with` block completes.

        Raises TableError `ledger_locked` if another pit runs. A store that several pits share waits instead until none
        of them runs, and tells people so by `say`.
        """

    def refuse_if_taken_over(self, token: Callable[[], str | None]) -> None:
        """Raise TableError if this process ran as the pit on this ledger and does so no more: another pit took its
        place, or another file has the ledger's name. `token` is a function that returns the token of the ledger's
        newest session."""

    def refuse_unserved(self, token: str | None) -> None:
        """Raise TableError `pit_not_running` if no pit runs on this ledger, or `ledger_replaced` if the running pit
        serves another file under the ledger's name. `token` is the token of the newest session in this ledger."""

    def close(self) -> None:
        """Let go of the ledger, so that another pit can run on it."""


@contextmanager
def nonsense_explained(store: Store) -> Iterator[None]:
    """Run a block, and turn two kinds of errors in it into a TableError: errors of the database, and the errors in
    NONSENSE, which mean that a value in the ledger makes no sense, because the ledger is damaged.

    Use this only for code that works on nothing but the ledger. In other code an error in NONSENSE is a defect of this
    program.
    """
    with store.explained():
        try:
            yield
        except NONSENSE as error:
            raise damaged(store, f"a value in it makes no sense ({error!r:.200})") from error


@contextmanager
def undone_if_raised(store: Store) -> Iterator[None]:
    """Run a block inside a transaction. If the block raises, the block's own changes are undone, and the transaction
    can go on."""
    store.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        store.execute("ROLLBACK TO SAVEPOINT part")
        raise
    finally:
        store.execute("RELEASE SAVEPOINT part")


def locked(at: object) -> TableError:
    """Return the error for a ledger that another process has open."""
    return TableError(
        "ledger_locked",
        f"Another process has the ledger {at}.",
        "Stop the other pit or whatever has the ledger open, or give this pit a ledger of its own.",
    )


def missing(at: object) -> TableError:
    """Return the error for a place where there is no ledger."""
    return TableError("ledger_missing", f"There is no ledger at {at}.", "Check --ledger; `run` begins one.")


def unusable(at: object, why: str | None) -> TableError:
    """Return the error for a ledger that cannot be opened or written."""
    return TableError(
        "ledger_unusable",
        f"The ledger {at} cannot be used: {why}.",
        "Check --ledger, that the disk is not full, and that the user the pit runs as may write there.",
    )


def damaged(at: object, why: str) -> TableError:
    """Return the error for a ledger whose content is not what the pit wrote."""
    return TableError(
        "ledger_damaged",
        f"The ledger {at} is not sound: {why}.",
        "Check the path first. If this is the pit's ledger, keep it for the audit and restore the last good copy. The"
        " tables send again what the copy lacks, and people recall what was decided on awards since (`award list`,"
        " `award recall`).",
    )


def of_another_program(at: object) -> TableError:
    """Return the error for a database that is no pit's ledger."""
    return TableError("ledger_of_another_program", f"{at} is a database, but no pit's ledger.", "Correct --ledger.")


def of_earlier_form(at: object, form: int, newest: int) -> TableError:
    """Return the error for a ledger of an earlier form (schema) that lacks what a command wants to read. Only a running
    pit brings a ledger to a newer form."""
    return TableError(
        "ledger_of_earlier_form",
        f"An earlier version wrote the ledger {at}: it has form {form}, and this command reads form {newest}.",
        "Start the pit of this version (`run`): it gives the ledger the newest form. Then repeat the command.",
    )


def refuse_form(at: object, form: int, oldest: int, newest: int) -> None:
    """Raise TableError `ledger_too_old` or `ledger_too_new` if this program cannot read a ledger of the form (schema)
    `form`."""
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
