"""Checks a pit whose ledger was replaced by an older copy or by a new, empty ledger. The pit must not make decisions a
second time that the tables have already seen from the newer ledger."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import controller.pit.reference.clock
from controller.pit.reference.__main__ import main
from controller.pit.reference.awards import Step
from controller.pit.reference.clock import number_text
from controller.pit.reference.ledger import Ledger
from tests.pit.evening import TableEvening
from tests.pit.test_meters import balanced, code_of, opened
from tests.support.errors import raising
from tests.support.ledgers import unheard_steps
from tests.support.samples import examples

BEGUN_MS = 1_750_000_000_000


@dataclass
class Table:
    """A table with its events. `seen` is the highest number of an award's step that the table has accepted, because a
    table accepts only steps with higher numbers."""

    evening: TableEvening
    seen: int = 0
    hits: dict[str, bytes] = field(default_factory=dict)  # by event id

    def win(self, *seats: int, meter: str = "big") -> list[str]:
        """Play a round that these seats win on the meter, and return the ids of the hit events."""
        self.evening.lock(*seats)
        self.evening.finish(*((seat, "banker_personal") for seat in seats))
        bodies = [self.evening.hit(seat, "banker_personal", meter) for seat in seats]
        self.hits |= {json.loads(body)["id"]: body for body in bodies}
        return [json.loads(body)["id"] for body in bodies]


class World:
    """A simulated pit with two tables and a clock that the test moves on. The tables keep their events while the pit's
    ledger is replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ms = BEGUN_MS
        self.tables = [Table(TableEvening("t-0")), Table(TableEvening("t-1"))]
        self.ledger = opened(folder / "ledger-0.sqlite")
        self.ledgers = [self.ledger]

    def copied(self) -> Path:
        """Copy the ledger as it is now, and return the path of the copy."""
        copy = self.folder / f"copy-{len(self.ledgers)}-{self.ms}.sqlite"
        with closing(sqlite3.connect(str(self.ledger._db))) as here, closing(sqlite3.connect(copy)) as there:
            here.backup(there)
        self.ms += 1
        return copy

    def restore(self, copy: Path | None) -> None:
        """Replace the ledger by this copy, or by a new ledger if `copy` is None. A minute passes meanwhile."""
        self.ms += 60_000
        path = self.folder / f"ledger-{len(self.ledgers)}.sqlite"
        if copy is not None:
            path.write_bytes(copy.read_bytes())
        self.ledger = opened(path)
        self.ledgers.append(self.ledger)

    def send(self, *tables: int) -> list[str]:
        """Let these tables, in this order, send the events that the ledger lacks. Return the codes of the alarms."""
        alarms = []
        for number in tables or (0, 1):
            table = self.tables[number].evening
            ack = self.ledger.ack(table.table)
            assert ack is not None
            received = self.ledger.receive([(table.table, body) for body in table.sent[ack.seq :]])
            assert not received.refused
            alarms += [alarm.code for event in received.committed for alarm in event.alarms]
            self.ms += 1
        balanced(self.ledger)
        return alarms

    def tell(self) -> None:
        """Give each table, one after the other, every step of an award that waits for that table, and let the table
        confirm the step."""
        for number, table in enumerate(self.tables):
            while waiting := unheard_steps(self.ledger, table.evening.table):
                step = waiting[0]
                assert step.seq > table.seen, "the table takes none that is older than one it has"
                table.seen = step.seq
                table.evening.award(table.hits[step.hit], step.step, step.cents, step.by)
                assert self.send(number) == []

    def decide(self, award: str, *steps: Any, by: str = "Ann") -> None:
        """Record these steps of the award as decided by the person `by`. If `steps` contains both "verified" and
        "paid", the person Val verifies, because one person may not do both."""
        for step in steps:
            self.ledger.take_step(award, step, "Val" if step == "verified" and "paid" in steps else by)
            self.ms += 1
            balanced(self.ledger)

    def stands(self) -> list[tuple[str, str, int]]:
        return [(award.id, award.step, award.cents) for award in self.ledger.awards()]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with running(tmp_path) as world:
        yield world


@contextmanager
def running(folder: Path) -> Iterator[World]:
    world = World(folder)
    clock = SimpleNamespace(time_ns=lambda: world.ms * 1_000_000)
    with patch.object(controller.pit.reference.clock, "time", clock):
        yield world
    for ledger in world.ledgers:
        ledger.close()


def paid_and_restored(world: World) -> Table:
    """Let a table have a hit whose award is verified and paid. Then restore the ledger from before the hit, and let the
    table send its events again. Return the table."""
    copy = world.copied()
    world.tables[0].win(1)
    world.send(0)
    world.decide("t-0.1", "verified")
    world.decide("t-0.1", "paid", by="Bob")
    world.tell()
    world.restore(copy)
    assert world.send() == ["award_told", "award_told"]
    return world.tables[0]


def test_what_was_told_as_paid_is_not_decided_anew(world: World) -> None:
    paid_and_restored(world)
    assert world.stands() == [("t-0.1", "pending", 1_166)]
    for step in get_args(Step):
        assert code_of(partial(world.ledger.take_step, "t-0.1", step, "Eve")) == "award_told"
    (award,) = world.ledger.awards()
    assert award.held
    assert [str(telling) for telling in award.tellings] == [
        "verified, 11.66, by Ann (event t-0/ab12cd/5)",
        "paid, 11.66, by Bob (event t-0/ab12cd/6)",
    ]
    assert any("was paid, 11.66, by Bob" in alarm for alarm in award.alarms)
    assert unheard_steps(world.ledger, "t-0") == [], "the table knows better"


def test_a_recall_takes_over_what_was_told_under_its_names_and_tells_the_table(world: World) -> None:
    paid_and_restored(world)
    award = world.ledger.recall("t-0.1", "Carl")
    assert (award.step, award.cents, award.house_cents, award.held) == ("paid", 1_166, 0, False)
    assert {telling.recalled_by for telling in award.tellings} == {"Carl"}
    assert [(step.step, step.by) for step in unheard_steps(world.ledger, "t-0")] == [("paid", "Bob")]
    assert world.ledger.account().paid_cents == 1_166
    balanced(world.ledger)
    world.tell()
    assert code_of(lambda: world.ledger.take_step("t-0.1", "paid", "Eve")) == "step_not_next"
    assert code_of(lambda: world.ledger.recall("t-0.1", "Carl")) == "nothing_to_recall"


def test_a_recall_needs_an_award_a_name_and_something_told(world: World) -> None:
    assert code_of(lambda: world.ledger.recall("t-0.1", "Carl")) == "award_unknown"
    paid_and_restored(world)
    assert code_of(lambda: world.ledger.recall("t-0.1", " ")) == "name_missing"
    assert world.ledger.awards()[0].held


def test_two_people_dismiss_what_nobody_did_and_the_table_is_told_how_the_award_stands(world: World) -> None:
    """A table believed a forged message, and reports a payment of 10^12 cents that nobody made. Two people can dismiss
    that payment, and the pit then tells the table the true step of the award."""
    (hit,) = world.tables[0].win(1)
    world.send(0)
    world.tell()
    world.tables[0].evening.award(world.tables[0].hits[hit], "paid", 10**12, "a forger")
    assert world.send(0) == ["award_told"]
    assert code_of(lambda: world.ledger.take_step("t-0.1", "verified", "Ann")) == "award_told"
    assert code_of(lambda: world.ledger.dismiss("t-0.1", "Ann", "Ann")) == "not_two_people"
    assert code_of(lambda: world.ledger.dismiss("t-0.1", "Ann", "")) == "name_missing"
    assert code_of(lambda: world.ledger.dismiss("t-0.9", "Ann", "Bob")) == "award_unknown"
    assert world.ledger.awards()[0].held

    award = world.ledger.dismiss("t-0.1", "Ann", "Bob")
    assert (award.step, award.cents, award.held) == ("pending", 1_166, False)
    assert [(t.cents, t.by, t.dismissed_by, t.dismissed_witness) for t in award.tellings] == [
        (10**12, "a forger", "Ann", "Bob")
    ]
    balanced(world.ledger)
    assert [(step.step, step.cents, step.by) for step in unheard_steps(world.ledger, "t-0")] == [
        ("pending", 1_166, "Ann")
    ]
    world.tell()
    world.decide("t-0.1", "verified", "paid")
    world.tell()
    assert world.ledger.account().paid_cents == 1_166
    assert code_of(lambda: world.ledger.dismiss("t-0.1", "Ann", "Bob")) == "nothing_to_dismiss"
    assert [t.dismissed_by for t in world.ledger.awards()[0].tellings] == ["Ann"], "it is kept"


def test_the_list_shows_by_whom_a_telling_was_dismissed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    paid_and_restored(world)
    ledger = ["--ledger", str(world.folder / "ledger-1.sqlite")]
    main(["award", "list", *ledger])
    assert "paid, 11.66, by Bob (event t-0/ab12cd/6), to be recalled or dismissed" in capsys.readouterr().out
    world.ledger.dismiss("t-0.1", "Ann", "Bob")
    main(["award", "list", "--all", *ledger])
    assert "by Bob (event t-0/ab12cd/6), dismissed as false by Ann, witness Bob" in capsys.readouterr().out


def test_numbers_that_a_wrong_clock_gave_are_given_anew_once_it_is_set(world: World) -> None:
    """Steps that were numbered while the pit's clock was wrong get new numbers once the clock is right. A table accepts
    no number that is more than a day ahead of its clock, so such a step would wait for ever."""
    world.ms += 400 * 24 * 3_600_000
    (hit,) = world.tables[0].win(1)
    world.send(0)
    world.ms = BEGUN_MS + 60_000
    world.restore(world.copied())
    (step,) = unheard_steps(world.ledger, "t-0")
    assert (step.hit, step.seq, step.at) == (hit, world.ms, number_text(world.ms))
    assert world.ledger.meters_seqs(1)[0] == world.ms
    world.tell()
    world.decide("t-0.1", "verified")
    assert [step.seq for step in unheard_steps(world.ledger, "t-0")] <= [world.ms]


def crossed(world: World) -> None:
    """Let table t-1 win a meter level to which wagers of t-0 contributed. Then let t-0 win the next level of the same
    meter."""
    first, second = world.tables
    first.evening.lock(1, 2, 3)
    first.evening.finish()
    world.send(0)
    second.win(1)
    world.send(1)
    first.win(1)
    world.send(0)
    assert world.stands() == [("t-1.1", "pending", 1_666), ("t-0.1", "pending", 1_167)]


def test_a_pending_step_is_told_of_no_decision_whatever_its_amount(world: World) -> None:
    """If a table reports an award as "pending" with another amount than the ledger has, people need not recall
    anything, because "pending" is no decision. In the test, two tables send their events to the restored ledger in
    another order, so their two awards exchange their levels."""
    copy = world.copied()
    crossed(world)
    world.tell()
    world.restore(copy)
    assert world.send(0, 1) == []
    assert world.stands() == [("t-0.1", "pending", 1_666), ("t-1.1", "pending", 1_167)]
    assert not any(award.held for award in world.ledger.awards())
    assert [step.cents for step in unheard_steps(world.ledger, "t-0")] == [1_666], "the table knows of another"
    world.tell()
    world.decide("t-0.1", "verified", "paid")


def test_a_recall_at_another_amount_is_the_houses_to_add_or_to_keep(world: World) -> None:
    copy = world.copied()
    crossed(world)
    for award in ("t-0.1", "t-1.1"):
        world.decide(award, "verified", "paid")
    world.tell()
    world.restore(copy)
    world.send(0, 1)
    assert [unheard_steps(world.ledger, table) for table in ("t-0", "t-1")] == [[], []], "the tables know better"
    recalled = world.ledger.recall("t-1.1", "Carl")
    assert (recalled.step, recalled.cents, recalled.house_cents) == ("paid", 1_666, 499)
    account = world.ledger.account()
    assert (account.paid_cents, account.recalled_cents, account.findings) == (1_666, 499, ())
    recalled = world.ledger.recall("t-0.1", "Carl")
    assert (recalled.step, recalled.cents, recalled.house_cents) == ("paid", 1_167, -499)
    account = world.ledger.account()
    assert (account.paid_cents, account.recalled_cents, account.findings) == (1_666 + 1_167, 0, ())
    world.tell()


def test_hits_that_share_a_level_are_recalled_in_the_order_told(world: World) -> None:
    copy = world.copied()
    world.tables[0].win(1, 3)
    world.send(0)
    world.decide("t-0.2", "verified", by="Dan")
    world.decide("t-0.1", "rejected")
    world.decide("t-0.2", "verified", "paid", by="Bob")
    world.tell()
    was = world.stands()
    assert was == [("t-0.1", "rejected", 667), ("t-0.2", "paid", 1_333)]
    world.restore(copy)
    world.send()
    assert code_of(lambda: world.ledger.recall("t-0.2", "Carl")) == "award_told"
    assert code_of(lambda: world.ledger.take_step("t-0.2", "rejected", "Carl")) == "award_told"
    for award in ("t-0.1", "t-0.2"):
        world.ledger.recall(award, "Carl")
        balanced(world.ledger)
    assert (world.stands(), world.ledger.account().recalled_cents) == (was, 0)
    world.tell()


def test_an_award_that_shares_a_level_waits_for_what_is_told_of_the_other(world: World) -> None:
    copy = world.copied()
    world.tables[0].win(1, 3)
    world.send(0)
    world.decide("t-0.1", "rejected")
    world.tell()
    world.restore(copy)
    world.send()
    assert code_of(lambda: world.ledger.take_step("t-0.2", "verified", "Eve")) == "award_told"
    world.ledger.recall("t-0.1", "Carl")
    assert world.stands() == [("t-0.1", "rejected", 667), ("t-0.2", "pending", 1_333)]
    world.decide("t-0.2", "verified", "paid")


def test_a_part_that_the_house_added_is_the_houses_again_when_the_award_is_rejected(world: World) -> None:
    table = world.tables[0]
    (hit,) = table.win(1)
    table.evening.award(table.hits[hit], "verified", 2_000, "Ann")
    assert world.send(0) == ["award_told"]
    before = world.ledger.levels()
    assert world.ledger.recall("t-0.1", "Carl").house_cents == 2_000 - 1_166
    assert world.ledger.account().recalled_cents == 834
    world.decide("t-0.1", "rejected")
    assert world.ledger.account().recalled_cents == 0
    assert world.ledger.levels()["big"] == before["big"] - 1_000 + 1_166


def test_what_was_rejected_here_and_paid_there_can_be_recalled_at_the_houses_cost(world: World) -> None:
    copy = world.copied()
    world.tables[0].win(1)
    world.send(0)
    copy = world.copied()
    world.decide("t-0.1", "verified", "paid", by="Bob")
    world.tell()
    world.restore(copy)
    world.decide("t-0.1", "rejected", by="Eve")
    assert world.send() == ["award_told", "award_told"]
    award = world.ledger.recall("t-0.1", "Carl")
    assert (award.step, award.cents, award.house_cents) == ("paid", 1_166, 1_166)
    balanced(world.ledger)
    world.tell()


def test_what_was_paid_here_and_there_is_told_and_stands(world: World) -> None:
    world.tables[0].win(1)
    world.send(0)
    copy = world.copied()
    world.decide("t-0.1", "verified", "paid", by="Bob")
    world.tell()
    world.restore(copy)
    world.decide("t-0.1", "verified", by="Eve")
    world.decide("t-0.1", "paid", by="Fay")
    assert world.send() == ["award_told", "award_told"]
    (award,) = world.ledger.awards()
    assert (award.step, award.held, len(award.alarms)) == ("paid", False, 2)
    assert code_of(lambda: world.ledger.recall("t-0.1", "Carl")) == "nothing_to_recall"


def test_what_was_ever_told_as_paid_is_recalled_as_paid(world: World) -> None:
    """In a recall, people take over into the ledger the steps that a table reported. The recall makes the award paid if
    the table ever reported "paid", even if the table reported another step later. In the test, the table received two
    different decisions from two pits."""
    table = world.tables[0]
    (hit,) = table.win(1)
    for step, by in (("verified", "Ann"), ("paid", "Bob"), ("pending", "pit"), ("rejected", "Eve")):
        table.evening.award(table.hits[hit], step, 1_166, by)
    world.send(0)
    assert (world.ledger.recall("t-0.1", "Carl").step, world.ledger.account().paid_cents) == ("paid", 1_166)


def test_a_verified_award_that_was_told_as_pending_again_is_pending(world: World) -> None:
    table = world.tables[0]
    (hit,) = table.win(1)
    table.evening.award(table.hits[hit], "verified", 600, "Ann")
    table.evening.award(table.hits[hit], "pending", 1_200)
    assert world.send(0) == ["award_told"]
    world.decide("t-0.1", "verified", "paid")


# Numbers.


@pytest.mark.parametrize("anew", [False, True])
def test_the_numbers_of_steps_and_meters_do_not_go_back(world: World, anew: bool) -> None:
    copy = world.copied()
    world.tables[0].win(1)
    world.send(0)
    world.tell()
    meters = world.ledger.meters_seqs(1_000)
    assert world.ledger.meters_seqs(10)[0] > meters[-1], "also within the same moment"
    world.restore(None if anew else copy)
    world.send()
    assert world.ledger.meters_seqs(1)[0] > meters[-1]
    world.decide("t-0.1", "verified", "paid")
    world.tell()


def test_a_step_that_waits_in_one_copy_gets_through_after_another_copy_was_served(world: World) -> None:
    table = world.tables[0]
    table.win(1)
    table.win(2)
    world.send(0)
    world.tell()
    older = world.copied()
    world.decide("t-0.1", "verified")
    newer = world.copied()  # in which that step waits
    world.restore(older)
    world.decide("t-0.2", "verified")
    world.tell()
    world.restore(newer)
    assert world.send() == ["award_told"]
    (waiting,) = unheard_steps(world.ledger, "t-0")
    assert (waiting.award, waiting.seq > table.seen) == ("t-0.1", True)
    world.ledger.recall("t-0.2", "Carl")
    world.tell()


def test_a_clock_that_goes_back_holds_no_step_up(world: World) -> None:
    world.tables[0].win(1)
    world.send(0)
    world.tell()
    first = world.ledger.meters_seqs(1)
    world.ms = BEGUN_MS - 23 * 3_600_000  # a day, and it would be taken for a clock that had been wrong before
    world.decide("t-0.1", "verified", "paid")
    world.tell()
    assert world.ledger.meters_seqs(1)[0] > first[0]


# The commands.


def test_the_list_shows_what_is_to_be_recalled_and_what_was(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    table = world.tables[0]
    (hit,) = table.win(1)
    table.evening.award(table.hits[hit], "paid", 1_000_080, "Bob")
    world.send(0)
    ledger = ["--ledger", str(world.folder / "ledger-0.sqlite")]
    with raising("award_told") as refusal:
        world.ledger.take_step("t-0.1", "paid", "Eve")
    told = str(refusal.value)
    for words in ("award_told: ", "paid, 10,000.80, by Bob (event t-0/ab12cd/4)", "award recall t-0.1."):
        assert words in told
    assert main(["award", "list", *ledger]) == 0
    assert "told by the table: paid, 10,000.80, by Bob (event t-0/ab12cd/4), to be recalled" in capsys.readouterr().out
    recalled = world.ledger.recall("t-0.1", "Carl", "Dan")
    assert (recalled.step, recalled.cents) == ("paid", 1_000_080)
    assert main(["award", "list", "--all", *ledger]) == 0
    listed = capsys.readouterr().out
    assert "recalled by Carl, witness Dan" in listed
    assert "the house added 9,989.14" in listed
    assert main(["account", *ledger]) == 0
    assert "the house added to recalled awards: 9,989.14" in capsys.readouterr().out


# At random.


@examples(13)
@given(st.data())
def test_whenever_a_copy_is_restored_nothing_is_paid_twice_and_everything_gets_through(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as world:
        copies: list[Path | None] = [None, world.copied()]
        paid: dict[str, int] = {}  # by award: money went over the table
        for _ in range(data.draw(st.integers(1, 18), label="acts")):
            match data.draw(st.sampled_from(["win", "win", "decide", "decide", "decide", "tell", "copy", "restore"])):
                case "win":
                    number = data.draw(st.integers(0, 1), label="table")
                    world.tables[number].win(*data.draw(st.sampled_from([(1,), (1, 3), (1, 3, 5)]), label="seats"))
                    world.send(number)
                case "decide" if awards := world.ledger.awards():
                    award = data.draw(st.sampled_from(awards), label="award")
                    step = data.draw(st.sampled_from(["verified", "paid", "rejected"]), label="step")
                    by = data.draw(st.sampled_from(["Ann", "Bob"]), label="by")
                    if award.held:
                        assert code_of(partial(world.ledger.take_step, award.id, step, by)) == "award_told"
                    else:
                        _try(world.ledger, award.id, step, by)
                    balanced(world.ledger)
                    now = next(one for one in world.ledger.awards() if one.id == award.id)
                    if (award.step, now.step) == ("verified", "paid"):
                        assert award.id not in paid, "paid once"
                        paid[award.id] = now.cents
                        world.tell()  # what nobody told of nobody can know
                case "tell":
                    world.tell()
                case "copy":
                    copies.append(world.copied())
                case "restore":
                    world.restore(data.draw(st.sampled_from(copies), label="copy"))
                    world.send(*data.draw(st.permutations([0, 1]), label="order"))
        for _ in range(len(world.ledger.awards())):
            for award in world.ledger.awards():
                if award.held:
                    _try(world.ledger, award.id, None, "Carl")
                    balanced(world.ledger)
        at_last = world.ledger.awards()
        assert not any(award.held for award in at_last)
        assert {award.id: award.cents for award in at_last if award.step == "paid"} == paid
        world.tell()


def _try(ledger: Ledger, award: str, step: Any, by: str) -> None:
    """Let the person `by` decide this step of the award, or recall the award's steps if `step` is None. Ignore a
    refusal that can be expected in random play."""
    try:
        if step is None:
            ledger.recall(award, by)
        else:
            ledger.take_step(award, step, by)
    except Exception as refusal:
        if getattr(refusal, "code", "") not in ("step_not_next", "award_incomplete", "award_told", "not_two_people"):
            raise
