"""A pit's present state, read from its ledger by another process: for the pit's page, its metrics and the head office.

Nothing here writes, and whoever runs it needs no more than the right to read the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from controller.basics.errors import TableError
from controller.pit.reference import alarms
from controller.pit.reference.account import Account, draw_up
from controller.pit.reference.adoptions import Adoption, Adoptions
from controller.pit.reference.alarms import KeptAlarm
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Awards
from controller.pit.reference.books import Books
from controller.pit.reference.clock import now_ms
from controller.pit.reference.opening import Place, read_only
from controller.pit.reference.proposals import Proposal, Proposals
from controller.pit.reference.session import Session
from controller.pit.reference.store import Store

_MOST_ALARMS = 50


class HeardTable(Struct, frozen=True):
    """A table whose events the pit takes: its epoch, its key's fingerprint, and the number of its last committed
    event."""

    table: str
    epoch: str
    fingerprint: str
    seq: int


class Waiting(Struct, frozen=True):
    """An award on which people still have to decide, and when its hit happened, by its table's clock."""

    award: Award
    hit_at: str


class Standing(Struct, frozen=True):
    """The pit's state at one moment, as the ledger has it.

    `undecidable` says why people cannot decide on awards now; None if they can. `running` is True if a pit runs on the
    ledger. `levels`, `reserves` and `overflows` map each meter to cents. `alarms` are the latest alarms, the newest
    first. `alarms_by_code` maps an error code to the count of all its alarms.
    """

    running: bool
    undecidable: TableError | None
    tables: tuple[HeardTable, ...]
    levels: dict[str, int]
    reserves: dict[str, int]
    waiting: tuple[Waiting, ...]
    owed_cents: int
    paid_cents: int
    alarms: tuple[KeptAlarm, ...]
    alarms_by_code: dict[str, int]
    proposals: tuple[Proposal, ...] = ()
    """What waits for a second person."""
    overflows: dict[str, int] = {}
    terms_digest: str = ""
    """The digest of the terms that run."""
    waiting_terms: dict[str, str] = {}
    """By meter, for people, the terms that wait until the meter is won."""


def read_standing(at: Place) -> Standing:
    """Read the pit's present state from the ledger. Raises TableError if the ledger cannot be opened."""
    with read_only(at) as db:
        adopted = Adoptions(db).heard()
        undecidable = _undecidable(db, adopted)
        books = Books(db)
        heads = {
            (table, epoch): seq
            for table, adoption in adopted.items()
            for epoch, seq in db.execute(
                "SELECT epoch, max(seq) FROM event WHERE table_id = ? AND epoch = ? GROUP BY epoch",
                (table, adoption.epoch),
            )
        }
        funds = dict(db.execute("SELECT account, cents FROM fund"))
        return Standing(
            undecidable is None or undecidable.code not in ("pit_not_running", "ledger_replaced"),
            undecidable,
            tuple(
                HeardTable(table, adoption.epoch, adoption.fingerprint, heads.get((table, adoption.epoch), 0))
                for table, adoption in adopted.items()
            ),
            books.levels(),
            _of_meters("reserve:", funds),
            tuple(_waiting(db, books)),
            funds.get("awards", 0),
            funds.get("paid", 0),
            tuple(alarms.kept(db, _MOST_ALARMS)),
            alarms.by_code(db),
            tuple(Proposals(db).waiting(now_ms())),
            _of_meters("overflow:", funds),
            books.meter_terms.digest(),
            {name: str(terms) for name, (_, terms) in books.meter_terms.waiting().items()},
        )


def _waiting(db: Store, books: Books) -> Iterator[Waiting]:
    """Yield the awards on which people still have to decide, each with the time of its hit."""
    for award in Awards(db, books).listed("award.step IN ('pending', 'verified')"):
        (body,) = db.execute(
            "SELECT body FROM event JOIN award ON event = event.number WHERE id = ?", (award.id,)
        ).fetchone()
        yield Waiting(award, alarms.time_of(body))


def _of_meters(kind: str, funds: Mapping[str, int]) -> dict[str, int]:
    """Return a dict that maps each meter's name to the cents in its money account of this kind. `kind` is the beginning
    of the account's name, for example "reserve:". `funds` maps every account's name to its cents."""
    return {account.removeprefix(kind): cents for account, cents in funds.items() if account.startswith(kind)}


def _undecidable(db: Store, adopted: Mapping[str, Adoption]) -> TableError | None:
    """Return why nobody may decide on an award now; None if people may decide."""
    try:
        Session(db).refuse_decisions(adopted)
    except TableError as refusal:
        return refusal
    return None


def read_account(at: Place) -> Account:
    """Draw up the account of all meters and awards up to now. This is slow on a large ledger, but holds up no running
    pit."""
    with read_only(at) as db:
        db.refuse_unsound()
        return draw_up(db)
