"""Measures how fast waiting events reach the pit: a daemon starts on a journal with many events that the pit has not
acknowledged."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from controller.contract.keys import load_or_make_key
from controller.contract.topics import Topics
from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Entry
from controller.table.acts.shoe import NewShoe
from controller.table.rules import TableRules
from tests.bench import core
from tests.bench.house import House, cpu_ms, resident_kib, until
from tests.bench.latency import Ears
from tests.bench.report import Section
from tests.support.tables import TableUnderTest

_ROUNDS_A_SHOE = 80
_ROWS_A_COMMIT = 1000
_PATIENCE_S = 600.0


def measure(house: House, events: int) -> Iterator[Section]:
    """Measure how long `events` waiting events take to reach the pit after the table's daemon starts."""
    config = load(house.table)
    file = config.file
    _fill(Path(file.journal.path), Path(file.journal.signing_key), config.rules, events)
    topics = Topics(file.pit.root, file.table.id)
    ears = Ears(house.port, topics.ack)
    begun_ns = time.monotonic_ns()
    pit_cpu = cpu_ms(house.pit)
    with house.daemon() as (daemon, _):
        first_ns, ack = ears.first(topics.ack, lambda ack: json.loads(ack)["seq"] > 0, begun_ns)
        already = json.loads(ack)["seq"]
        until(house.all_is_acknowledged, "the pit", _PATIENCE_S)
        last_ns, _ = ears.first(topics.ack, lambda ack: json.loads(ack)["seq"] >= events, begun_ns)
        taken_s = (last_ns - first_ns) / 1e9
        of_table, of_pit = cpu_ms(daemon) / events, (cpu_ms(house.pit) - pit_cpu) / events
        memory_kib = resident_kib(daemon)
    ears.close()
    yield Section(
        "What waited",
        f"{events} events in the journal, locks and rounds, when the daemon starts; from the pit's first "
        "acknowledgement to its last. The CPU is over all of it, the daemon's start included.",
        ("", "figure"),
        [
            ("events a second", f"{(events - already) / taken_s:.0f}"),
            ("CPU an event, table / pit", f"{of_table:.2f} / {of_pit:.2f} ms"),
            ("the daemon's memory at the end", f"{memory_kib / 1024:.1f} MiB"),
        ],
    )


def _fill(path: Path, key_file: Path, rules: TableRules, events: int) -> None:
    """Fill a journal with `events` events: the locks and rounds of shoe after shoe, and the opening of a last shoe.

    A daemon replays the journal from the opening of the last shoe. So it starts with an open shoe from which nothing is
    dealt.
    """
    key = load_or_make_key(key_file)
    journal = Journal(path, rules.table, key, key.public)
    rounds = islice(_rounds(), events - 1)
    while some := [*islice(rounds, _ROWS_A_COMMIT)]:
        journal.append(some)
    journal.append(TableUnderTest(rules).do(NewShoe()).entries)
    journal.close()


def _rounds() -> Iterator[Entry]:
    _, facts, _ = core.played(core.ROYAL9)
    makers = (facts[0], facts[-1])  # of the lock's event, and of the round's
    template, stamp = core.royal9_events(), stamp_now()
    for number in count(_ROUNDS_A_SHOE):  # shoe 1 is the last one's
        shoe, round_ = divmod(number, _ROUNDS_A_SHOE)
        for fact, event in zip(makers, core.numbered(1 + shoe, 1 + round_, template), strict=True):
            yield Entry(stamp, fact, (event,))
