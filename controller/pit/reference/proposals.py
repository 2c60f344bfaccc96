"""Decisions that one person proposed at the pit, and that a second person has to confirm from an account of their own.

A proposal keeps what the first person was shown. The second person confirms exactly the same: if the facts have changed
meanwhile, the confirmation is refused. A proposal waits for WAITS_MS and is then gone.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from controller.basics.errors import TableError
from controller.pit.reference.people import display_name
from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE proposal (
    number INTEGER PRIMARY KEY,
    until_ms INTEGER NOT NULL, -- since 1970
    account TEXT NOT NULL,
    request TEXT NOT NULL, -- as the control socket takes it
    shown TEXT NOT NULL
) STRICT;
"""

WAITS_MS = 15 * 60_000
"""How long a proposal waits for its second person."""

_MOST_OF_AN_ACCOUNT = 20


class Proposal(Struct, frozen=True):
    """A decision that waits for a second person. `shown` is what the first person was shown. `name` is that person's
    own name, beside the user account."""

    number: int
    until_ms: int
    account: str
    name: str
    request: str
    shown: str

    @property
    def digest(self) -> str:
        """Return a digest that a confirmation must name, so that nobody confirms another proposal by mistake. The
        number alone is not enough, because a later proposal may get the same number."""
        return sha256(f"{self.until_ms} {self.account} {self.request} {self.shown}".encode()).hexdigest()[:16]


class Proposals:
    """The proposals in a ledger. Every method must be called inside the ledger's transaction. `now_ms` is the present
    time, in ms since 1970."""

    def __init__(self, db: Store) -> None:
        self._db = db

    def waiting(self, now_ms: int) -> list[Proposal]:
        """Return the proposals that wait now, the oldest first. A proposal that would wait longer than WAITS_MS,
        because the clock was set back, counts as gone."""
        rows = self._db.execute(
            "SELECT number, until_ms, account, request, shown FROM proposal WHERE until_ms > ? AND until_ms <= ?"
            " ORDER BY number",
            (now_ms, now_ms + WAITS_MS),
        )
        return [
            Proposal(number, until_ms, account, display_name(account), request, shown)
            for number, until_ms, account, request, shown in rows.fetchall()
        ]

    def propose(self, account: str, request: str, shown: str, now_ms: int) -> Proposal:
        """Keep a new proposal, which waits from now on. It replaces an earlier proposal of the same request by the same
        account.

        Raises TableError `too_many_proposals`.
        """
        self._db.execute("DELETE FROM proposal WHERE until_ms <= ? OR until_ms > ?", (now_ms, now_ms + WAITS_MS))
        self._db.execute("DELETE FROM proposal WHERE account = ? AND request = ?", (account, request))
        (waiting,) = self._db.execute("SELECT count(*) FROM proposal WHERE account = ?", (account,)).fetchone()
        if waiting >= _MOST_OF_AN_ACCOUNT:
            raise TableError(
                "too_many_proposals",
                f"{waiting} proposals of the account {account} wait already.",
                "Let a second person confirm some of them, or wait until they are over.",
            )
        (number,) = self._db.execute(
            "INSERT INTO proposal (until_ms, account, request, shown) VALUES (?, ?, ?, ?) RETURNING number",
            (now_ms + WAITS_MS, account, request, shown),
        ).fetchone()
        return Proposal(number, now_ms + WAITS_MS, account, display_name(account), request, shown)

    def named(self, number: int, digest: str, now_ms: int) -> Proposal:
        """Return the waiting proposal of this number. Raises TableError `no_proposal`, or `proposal_changed` if the
        proposal's digest is not `digest`."""
        found = next((each for each in self.waiting(now_ms) if each.number == number), None)
        if found is None:
            raise TableError("no_proposal", f"No proposal {number} waits (any more).", "See what waits: `pitctl desk`.")
        if found.digest != digest:
            raise changed(number)
        return found

    def over(self, number: int) -> None:
        """Delete the proposal of this number, which waits no more."""
        self._db.execute("DELETE FROM proposal WHERE number = ?", (number,))


def changed(number: int) -> TableError:
    """Return the error for a person who confirms something else than what that person was shown."""
    return TableError(
        "proposal_changed",
        f"What proposal {number} is about has changed since it was shown.",
        "Look again: `pitctl desk`. The first person proposes anew what still holds.",
    )
