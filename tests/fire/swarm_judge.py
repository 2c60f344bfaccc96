"""The judge of the swarm, which compares what the tables, a listener and the cashier saw with the ledger at the end.

The judge knows nothing of the pit's program. Only the order of several tables' events and of people's decisions comes
from the ledger, because nobody else knows it. Every amount is worked out anew (`reckoning`), and every event is
compared with what its table made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import NamedTuple

from tests.fire.reckoning import Books, Reckoning, Terms, money_findings, reckon, reckoned, stream_findings


class Ack(NamedTuple):
    """An ack with the pit's signature: its time, the number of the event that it acknowledges, and that event's chain
    value."""

    at: str
    seq: int
    chain: str


@dataclass
class Seen:
    """Everything that was seen of a run from outside the pit.

    `sent` has the events that each table made, and `acks` the acks that came to it, in order. `levels` has the messages
    on the meters, by their numbers. `paid` counts for each award how often people were told that it is paid, and `told`
    how often a table was told so.
    """

    sent: dict[str, list[bytes]] = field(default_factory=dict)
    acks: dict[str, list[Ack]] = field(default_factory=dict)
    levels: dict[int, dict[str, int]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)


def findings(seen: Seen, books: Books, terms: Terms) -> list[str]:
    """Return everything that is wrong in what was seen, once all tables and people have come to rest."""
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
    """Yield a finding for each ack of an event that does not exist, for each ack with another chain value than its
    event has, and where the acks went back."""
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
    """Yield a finding for each award that was paid twice, or that was paid although the ledger does not say so."""
    for counted in (seen.paid, seen.told, Counter(books.paid)):
        yield from (f"award {award} was paid {times} times" for award, times in counted.items() if times > 1)
        unpaid = counted.keys() - {*books.paid}
        yield from (f"award {award} was paid, and is not so in the ledger" for award in sorted(unpaid))


def _level_findings(seen: Seen, books: Books, terms: Terms) -> Iterator[str]:
    """Yield a finding where the pit announced levels that the meters never had, or levels that are older than those it
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
