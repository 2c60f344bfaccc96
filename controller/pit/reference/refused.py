"""The requests that were refused at the pit's desk: who asked for what, when, and why it was refused.

On each day (UTC) at most MOST_OF_AN_ACCOUNT refusals of one account are kept, and at most MOST_OF_A_DAY of all
accounts. Further refusals only raise a counter: in the account's last kept refusal, or, if the account has none, in the
last of all. So nobody can fill the disk by being refused.
"""

from __future__ import annotations

from msgspec import Struct

from controller.pit.reference.clock import now_text
from controller.pit.reference.store import Store, of_row

SCHEMA = """
CREATE TABLE refused (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    account TEXT NOT NULL,
    request TEXT NOT NULL,
    code TEXT NOT NULL,
    why TEXT NOT NULL,
    more INTEGER NOT NULL DEFAULT 0 -- refusals after this one that found no room
) STRICT;
CREATE INDEX refused_at ON refused (at);
"""

MOST_OF_AN_ACCOUNT = 50
MOST_OF_A_DAY = 500
_MOST_CHARACTERS = 300
_DAY = 10  # characters of a time that are its day


class Refusal(Struct, frozen=True):
    """A request that was refused at the pit's desk. `more` counts the refusals after it that were not kept for lack of
    room."""

    at: str
    account: str
    request: str
    code: str
    why: str
    more: int

    def __str__(self) -> str:
        more = f" ({self.more:,} more found no room)" if self.more else ""
        return f"{self.at}  {self.account}  {self.request}\n    refused: {self.code}: {self.why}{more}"


class Refused:
    """The requests that the pit's desk refused, in a ledger. Every method must be called inside the ledger's
    transaction."""

    def __init__(self, db: Store) -> None:
        self._db = db

    def keep(self, account: str, request: str, code: str, why: str, count: int = 1) -> bool:
        """Keep a refused request, which stands for `count` refusals, if there is room that day. Else only add `count`
        to the counter of the account's last kept refusal, or of the last of all if the account has none. Returns True
        if the refusal was kept."""
        at = now_text()
        of_account, of_all, last = self._db.execute(
            "SELECT count(*) FILTER (WHERE account = ?), count(*), max(number) FROM refused WHERE at >= ?",
            (account, at[:_DAY]),
        ).fetchone()
        if of_account >= MOST_OF_AN_ACCOUNT or of_all >= MOST_OF_A_DAY:
            (own,) = self._db.execute("SELECT max(number) FROM refused WHERE account = ?", (account,)).fetchone()
            self._db.execute("UPDATE refused SET more = more + ? WHERE number = ?", (count, own or last))
            return False
        told = (text[:_MOST_CHARACTERS] for text in (account, request, code, why))
        self._db.execute(
            "INSERT INTO refused (at, account, request, code, why, more) VALUES (?, ?, ?, ?, ?, ?)",
            (at, *told, count - 1),
        )
        return True

    def every(self) -> list[Refusal]:
        """Return all requests that were refused at the desk, the oldest first."""
        rows = self._db.execute("SELECT at, account, request, code, why, more FROM refused ORDER BY number")
        return [of_row(Refusal, row) for row in rows.fetchall()]
