"""What one person proposed at the pit, and a second person has to confirm from an account of that person's own.

A proposal keeps what the first person was shown. The second person confirms just that: where it has changed meanwhile,
the confirmation is refused. A proposal waits for WAITS_MS and is then gone.
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
    """A decision that waits. `shown` is what the first person was shown, `name` that person's name for people."""

    number: int
    until_ms: int
    account: str
    name: str
    request: str
    shown: str

    @property
    def digest(self) -> str:
        """What a confirmation names, so that it confirms just this. A number may be given again, and this is not."""
        return sha256(f"{self.until_ms} {self.account} {self.request} {self.shown}".encode()).hexdigest()[:16]


class Proposals:
    """The proposals in a ledger. Every method works inside the ledger's transaction. `now_ms` is since 1970."""

    def __init__(self, db: Store) -> None:
        self._db = db

    def waiting(self, now_ms: int) -> list[Proposal]:
        """What waits now, the oldest first. What waits longer than any proposal does, by a clock set back, is gone."""
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
        """Let this wait from now on, in the place of the same request of the same account.

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
        """The proposal of this number. Raises TableError `no_proposal`, or `proposal_changed` for another digest."""
        found = next((each for each in self.waiting(now_ms) if each.number == number), None)
        if found is None:
            raise TableError("no_proposal", f"No proposal {number} waits (any more).", "See what waits: `pitctl desk`.")
        if found.digest != digest:
            raise changed(number)
        return found

    def over(self, number: int) -> None:
        """The proposal waits no more."""
        self._db.execute("DELETE FROM proposal WHERE number = ?", (number,))


def changed(number: int) -> TableError:
    """The error that a person confirms something else than that person was shown."""
    return TableError(
        "proposal_changed",
        f"What proposal {number} is about has changed since it was shown.",
        "Look again: `pitctl desk`. The first person proposes anew what still holds.",
    )
