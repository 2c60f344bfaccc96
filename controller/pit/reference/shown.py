"""What a table showed on its meters when it locked a round's wagers, as the pit's own signed message proves.

When a table locks wagers, its event carries the pit's last signed message about the meters. A hit of that round is paid
no less than that message said of its meter. If the meter holds less when the hit comes, because another table won
first, the house adds the difference. Only a message that this pit has signed counts, so nobody can claim a level that
the pit never told.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from controller.basics.errors import TableError
from controller.contract.bounds import MOST_AHEAD_MS, is_count
from controller.contract.keys import signature_holds
from controller.contract.pit_words import MetersWord, moment_ms
from controller.pit.reference.clock import now_in_ms
from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE shown ( -- what a round's table showed at the lock, by the pit's word
    hand INTEGER NOT NULL REFERENCES hand,
    meter TEXT NOT NULL,
    cents INTEGER NOT NULL,
    word_seq INTEGER NOT NULL,
    PRIMARY KEY (hand, meter)
) STRICT, WITHOUT ROWID;
CREATE TABLE added ( -- what the house added to a lock, and still has in it
    lock INTEGER PRIMARY KEY REFERENCES lock,
    cents INTEGER NOT NULL
) STRICT;
"""

_LATE_MS = 60_000


class Shown:
    """The meter levels that tables showed, in a ledger. Every method must be called inside the ledger's transaction.

    `keys` are the pit's key and its former keys. If `keys` is empty, the pit's messages in tables' events are ignored.
    """

    def __init__(self, db: Store) -> None:
        self._db = db
        self.keys: tuple[bytes, ...] = ()
        self._proved: dict[str, object] | None = None

    def lock(self, hand: int, table: str, proof: object, meters: set[str]) -> tuple[int | None, TableError | None]:
        """Record what the table showed of these meters when the wagers of the round `hand` were locked. `proof` is the
        pit's signed message that the table's event carries.

        Returns two values. The first is the time of the lock in ms since 1970; None if no message of the pit proves it.
        The second is an alarm; None if nothing is wrong. The alarm says that the pit did not sign the message, or that
        the pit heard of the lock more than a minute late.
        """
        if not self.keys or proof is None or not meters:
            return None, None
        word, ago_ms = self._proven(proof)
        if word is None:
            return None, TableError(
                "lock_unproven",
                f"Table {table} locked progressive wagers by a word on the meters that this pit has not signed.",
                "Its hits have what the meters hold, whatever the table says that it showed. Find out which program"
                " runs at the table, and who else speaks for the pit.",
            )
        self._db.executemany(
            "INSERT INTO shown (hand, meter, cents, word_seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(hand, name, word.meters[name], word.seq) for name in sorted(meters & word.meters.keys())],
        )
        at_ms = moment_ms(word.at)
        assert at_ms is not None, "a word that was read has a moment"
        locked_ms = at_ms + ago_ms
        late_ms = now_in_ms() - locked_ms
        if late_ms <= _LATE_MS:
            return locked_ms, None
        return locked_ms, TableError(
            "lock_heard_late",
            f"Table {table} locked progressive wagers by the pit's word of {word.at}, and the pit heard of that lock"
            f" {late_ms // 1000} s later.",
            "The table was cut off, or says so. Compare the film with that time before an award of this round is paid.",
        )

    def least_cents(self, hand: int, meter: str, share: Fraction) -> int:
        """Return the least amount, in cents, that a hit of this share of the meter is paid in the round `hand`: this
        share of the level that the table showed, rounded down; 0 if no message proves a level. What other shares of the
        round have won is first subtracted from the level. Example: the table showed $1,000, and another hit of the
        round won $100. A hit of a half gets at least $450."""
        row = self._db.execute(
            "SELECT cents - (SELECT coalesce(sum(lock.cents + coalesce(added.cents, 0)), 0) FROM lock"
            " LEFT JOIN added ON added.lock = lock.number"
            " WHERE lock.hand = shown.hand AND lock.meter = shown.meter AND share != ?)"
            " FROM shown WHERE hand = ? AND meter = ?",
            (str(share), hand, meter),
        ).fetchone()
        return 0 if row is None else max(0, floor(row[0] * share))

    def _proven(self, proof: object) -> tuple[MetersWord | None, int]:
        """Return the pit's message in `proof`, and the milliseconds from its arrival at the table to the lock of the
        wagers. The message is None if the pit did not sign it."""
        match proof:
            case {"word": dict(said), "ago_ms": ago_ms, **others} if not others and is_count(ago_ms, 0, MOST_AHEAD_MS):
                if said != self._proved and any(signature_holds(said, key) for key in self.keys):
                    self._proved = said  # tables that hear one word lock by it
                return (MetersWord.read(said) if said == self._proved else None), ago_ms
            case _:
                return None, 0
