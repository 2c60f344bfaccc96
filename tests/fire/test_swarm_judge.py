"""Checks that the judge of the stress test with many tables finds each error that a test plants in the record or in the
ledger, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pytest

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from tests.fire.reckoning import Books
from tests.fire.swarm import TERMS
from tests.fire.swarm_judge import Ack, Seen, findings
from tests.fire.terms import exact
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.postgresql import write
from tests.support.ledgers import meet


@dataclass
class Evening:
    """The record of an evening of play as tables and people saw it, and the pit's ledger of that evening."""

    seen: Seen
    ledger: Path

    def change(self, statement: str) -> None:
        write(self.ledger, statement)

    def found(self) -> list[str]:
        return findings(self.seen, Books(self.ledger), exact(TERMS))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    """An evening of two tables, with voids, a shared hit, a rejected award and a paid award."""
    seen, path = Seen(), tmp_path_factory.mktemp("judged") / "ledger"
    tables = [TableEvening(f"t-{number}", TERMS) for number in range(2)]
    with closing(Ledger(path)) as ledger:
        ledger.serve()
        ledger.set_terms({name: Terms(*each) for name, each in exact(TERMS).items()})

        def say(table: TableEvening, *bodies: bytes) -> None:
            received = ledger.receive([(table.table, body) for body in bodies])
            assert not received.refused
            ack = received.acks[table.table]
            at = f"2026-01-01T20:00:{len(seen.levels):02d}.000Z"
            seen.acks.setdefault(table.table, []).append(Ack(at, ack.seq, ack.chain))
            seen.levels[len(seen.levels)] = ledger.levels()

        def decide(table: TableEvening, award: str, hit: bytes, *steps: str) -> None:
            for step in steps:
                stands = ledger.take_step(award, step, "Bob" if step == "paid" else "Ann")  # type: ignore[arg-type]
                if step == "paid":
                    seen.paid[award] += 1
                    seen.told[award] += 1
                say(table, table.award(hit, step, stands.cents, "Ann"))

        for table in tables:
            seen.sent[table.table] = table.sent
            ledger.adopt(table.table, EPOCH, KEY.public.hex())
            meet(ledger, table.table, table.state(), adopt_new=False)
        for table in tables * 3:
            say(table, table.lock(1, 4, price_cents=333), table.finish())
        say(tables[0], tables[0].lock(2, 3, 5, price_cents=777), tables[0].void(2, 3, 5))
        hits = []
        for table, winners in ((tables[0], (1, 4)), (tables[1], (4,))):
            say(table, table.lock(1, 4, price_cents=333))
            say(table, table.finish(*((seat, "banker_personal") for seat in winners)))
            hits += [table.hit(seat, "banker_personal", "grand") for seat in winners]
            say(table, *hits[-len(winners) :])
        say(tables[1], tables[1].lock(6, price_cents=333), tables[1].finish())
        awards = [award.id for award in ledger.awards()]
        decide(tables[0], awards[0], hits[0], "rejected")
        decide(tables[0], awards[1], hits[1], "verified", "paid")
        say(tables[1], tables[1].lock(7, price_cents=1), tables[1].finish())
    return Evening(seen, path)


@pytest.fixture
def evening(played: Evening, tmp_path: Path) -> Evening:
    """A copy of the played evening (its record and ledger), in which a test may plant an error."""
    return Evening(deepcopy(played.seen), Path(shutil.copy(played.ledger, tmp_path / "ledger")))


def test_of_an_honest_pit_the_judge_finds_nothing(evening: Evening) -> None:
    assert evening.found() == []
    assert evening.seen.paid.total() == 1
    with closing(Ledger(evening.ledger)) as ledger:
        assert ledger.account().findings == ()


def _last_event_gone(evening: Evening) -> None:
    evening.change("DELETE FROM event WHERE number = (SELECT max(number) FROM event)")


def _event_gone(evening: Evening) -> None:
    evening.change("DELETE FROM event WHERE table_id = 't-0' AND seq = 2")


def _event_changed(evening: Evening) -> None:
    body = json.loads(evening.seen.sent["t-1"][0])
    evening.seen.sent["t-1"][0] = json.dumps(body | {"round": 9}, sort_keys=True, separators=(",", ":")).encode()


def _events_out_of_order(evening: Evening) -> None:
    evening.change("UPDATE event SET number = -1 WHERE table_id = 't-0' AND seq = 3")


def _event_of_nobody(evening: Evening) -> None:
    del evening.seen.sent["t-1"][-1]


def _acknowledged_and_never_made(evening: Evening) -> None:
    evening.seen.acks["t-0"].append(Ack("2026-01-01T21:00:00.000Z", 99, f"{99:064x}"))


def _another_chain(evening: Evening) -> None:
    evening.seen.acks["t-0"][1] = evening.seen.acks["t-0"][1]._replace(chain=f"{1:064x}")


def _ack_taken_back(evening: Evening) -> None:
    evening.seen.acks["t-0"].append(evening.seen.acks["t-0"][0]._replace(at="2026-01-01T21:00:00.000Z"))


def _part_of_a_cent(evening: Evening) -> None:
    evening.change("UPDATE fund SET remainder = '1/1000' WHERE account = 'meter:fortune'")


def _reserve(evening: Evening) -> None:
    evening.change("UPDATE fund SET cents = cents - 1 WHERE account = 'reserve:grand'")


def _award(evening: Evening) -> None:
    evening.change("UPDATE award SET cents = cents + 1 WHERE number = 3")


def _level_of_another_time(evening: Evening) -> None:
    evening.seen.levels[99] = evening.seen.levels[0]


def _level_a_cent_too_high(evening: Evening) -> None:
    evening.seen.levels[3]["grand"] += 1


def _paid_twice(evening: Evening) -> None:
    evening.seen.paid.update([*evening.seen.paid])


def _told_twice(evening: Evening) -> None:
    evening.seen.told.update([*evening.seen.told])


def _paid_and_forgotten(evening: Evening) -> None:
    evening.change("UPDATE award SET step = 'verified' WHERE step = 'paid'")


@pytest.mark.parametrize(
    ("falsify", "found"),
    [
        (_last_event_gone, "was acknowledged and is not in the ledger"),
        (_event_gone, "t-0: event 2 was acknowledged and is not in the ledger"),
        (_event_changed, "t-1: the ledger is not byte for byte the journal"),
        (_events_out_of_order, "t-0: the pit's order of commitment is not the order of its numbers"),
        (_event_of_nobody, "t-1: 1 events are doubled or were never sent"),
        (_acknowledged_and_never_made, "t-0: event 99 was acknowledged and never made"),
        (_another_chain, "has another chain"),
        (_ack_taken_back, "and later"),
        (_part_of_a_cent, "meter:fortune is"),
        (_reserve, "reserve:grand is"),
        (_award, "awards differ"),
        (_level_of_another_time, "the word 99 on the meters says"),
        (_level_a_cent_too_high, "the word 3 on the meters says"),
        (_paid_twice, "was paid 2 times"),
        (_told_twice, "was paid 2 times"),
        (_paid_and_forgotten, "was paid, and is not so in the ledger"),
    ],
    ids=lambda value: getattr(value, "__name__", "").strip("_") or None,
)
def test_a_falsehood_is_found(evening: Evening, falsify: Callable[[Evening], None], found: str) -> None:
    falsify(evening)
    assert any(found in each for each in evening.found()), evening.found()
