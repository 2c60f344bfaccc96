"""The judge of the stress test with several hundred tables. At the end it compares the pit's ledger with the records of
the tables, of a listener and of the cashier.

The judge uses no code of the pit's program. Only the order in which several tables' events and people's decisions came
is taken from the ledger, because nobody else knows it. Every amount is computed anew (`reckoning`), and every event is
compared with the event that its table made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import NamedTuple

from tests.fire.reckoning import Books, Reckoning, Terms, money_findings, reckon, reckoned, stream_findings


class Ack(NamedTuple):
    """An acknowledgement that the pit has signed: its time, the number of the event that it acknowledges, and that
    event's chain value."""

    at: str
    seq: int
    chain: str


@dataclass
class Seen:
    """Everything that tables and people saw of the pit during a stress test.

    `sent` has the events that each table made, and `acks` the acknowledgements that came to each table, in order.
    `levels` has the pit's messages on the meters, by their numbers. `paid` counts for each award how often people were
    told that it is paid, and `told` counts how often a table was told this.
    """

    sent: dict[str, list[bytes]] = field(default_factory=dict)
    acks: dict[str, list[Ack]] = field(default_factory=dict)
    levels: dict[int, dict[str, int]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)


def findings(seen: Seen, books: Books, terms: Terms) -> list[str]:
    """Return a text for each error in the record `seen` of a stress test. Call this at the end, when tables and people
    do nothing more. `books` are the contents of the pit's ledger, and `terms` has the seed and the shares of each
    meter."""
    found: list[str] = []
    for table, sent in seen.sent.items():
        found += stream_findings(table, sent, books)
        found += _ack_findings(table, sent, seen.acks[table], books)
    found += _paid_findings(seen, books)
    if any("lost" in each or "never sent" in each for each in found):
        return found  # nothing can be reckoned from other events than the tables'
    found += money_findings(reckon(seen.sent, books, terms), books)
    found += _level_findings(seen, books, terms)
    return found


def _ack_findings(table: str, sent: Sequence[bytes], acks: Sequence[Ack], books: Books) -> Iterator[str]:
    """Yield a text for each wrong acknowledgement: for an event that does not exist, with the chain value of a
    different event, or for an event that comes before the last acknowledged one."""
    committed = {seq: body for _, name, seq, body in books.events if name == table}
    newest = Ack("", 0, "")
    for ack in acks:
        if ack.seq > len(sent):
            yield f"{table}: event {ack.seq} was acknowledged and never made"
        elif ack.seq and f'"chain":"{ack.chain}"'.encode() not in sent[ack.seq - 1]:
            yield f"{table}: the ack of event {ack.seq} has another chain"
        if ack.seq and ack.seq not in committed:
            yield f"{table}: event {ack.seq} was acknowledged and is not in the ledger"
        if ack.at >= newest.at:
            if ack.seq < newest.seq:
                yield f"{table}: event {newest.seq} was acknowledged, and later {ack.seq}"
            newest = ack


def _paid_findings(seen: Seen, books: Books) -> Iterator[str]:
    """Yield a text for each award that was paid twice, or that was paid although the ledger does not say so."""
    for counted in (seen.paid, seen.told, Counter(books.paid)):
        yield from (f"award {award} was paid {times} times" for award, times in counted.items() if times > 1)
        unpaid = counted.keys() - {*books.paid}
        yield from (f"award {award} was paid, and is not so in the ledger" for award in sorted(unpaid))


def _level_findings(seen: Seen, books: Books, terms: Terms) -> Iterator[str]:
    """Yield a text if the pit announced levels that the meters never had, or levels that are older than those it
    announced before."""
    had = (_shown(reckoning) for reckoning in reckoned(seen.sent, books, terms))
    now: dict[str, int] | None = next(had)
    for number, said in sorted(seen.levels.items()):
        of_these = {meter: said[meter] for meter in terms}
        while now not in (None, of_these):
            now = next(had, None)
        if now is None:
            yield f"the word {number} on the meters says {of_these}, which they did not hold then"
            return


def _shown(reckoning: Reckoning) -> dict[str, int]:
    return {meter: floor(level.cents) for meter, level in reckoning.levels.items()}
