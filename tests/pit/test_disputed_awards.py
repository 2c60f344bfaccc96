"""Checks that a table accepts the amount of every true award of the pit, and what happens if a table disputes the
amount of an award."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.enums import MQTTErrorCode

from controller.contract.envelope import Stamp
from controller.contract.pit_words import AwardStep, MetersWord
from controller.daemon.delivery.levels import Levels
from controller.pit.reference.awards import Step
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.service import Pit
from tests.pit.evening import KEY, TableEvening
from tests.pit.test_meters import balanced, code_of, opened
from tests.support.ledgers import unheard_steps
from tests.support.samples import examples

NOW = Stamp(1_767_225_600_000, synchronised=True)
ONE_STEP_CENTS = 1000  # more than the wagers of a round or two give, and less than an award that is rejected gives back


class HearingTable:
    """A table that receives the meters' levels from the pit. For each of its hits on the meter "big", it stores the
    level that it showed at the time of the hit."""

    def __init__(self, name: str) -> None:
        self.evening = TableEvening(name)
        self.levels = Levels({"big"}, 10.0, wager_cents=ONE_STEP_CENTS // 1000)
        self.shown: dict[str, int | None] = {}
        self.hits: dict[str, bytes] = {}

    def win(self, *seats: int) -> None:
        """Play a round in which these seats hit the meter "big"."""
        self.evening.lock(*seats)
        self.evening.finish(*((seat, "banker_personal") for seat in seats))
        shown = self.levels.cents.get("big")
        for seat in seats:
            body = self.evening.hit(seat, "banker_personal", "big")
            self.levels.hit("big", json.loads(body)["seq"])
            self.hits[json.loads(body)["id"]] = body
            self.shown[json.loads(body)["id"]] = shown

    def most_cents(self, hit: str) -> int:
        return self.levels.most_cents("big", self.shown[hit], json.loads(self.hits[hit])["seq"])


class Floor:
    """A pit's ledger, and two tables that receive the meters' levels from it."""

    def __init__(self, path: Path) -> None:
        self.ledger = opened(path)
        self.tables = [HearingTable("t-0"), HearingTable("t-1")]
        self._words = 0
        self.say_meters()

    def say_meters(self) -> None:
        self._words += 1
        for table in self.tables:
            word = MetersWord(self._words, NOW.text(), self.ledger.levels())
            assert table.levels.heard(word, 0.0, NOW) is None

    def send(self, number: int) -> list[str]:
        """Send the ledger the events of table `number` that the ledger does not have yet. Return the codes of the
        alarms."""
        evening = self.tables[number].evening
        ack = self.ledger.ack(evening.table)
        assert ack is not None
        received = self.ledger.receive([(evening.table, body) for body in evening.sent[ack.seq :]])
        balanced(self.ledger)
        return [alarm.code for event in received.committed for alarm in event.alarms]

    def waiting(self, number: int) -> list[AwardStep]:
        return unheard_steps(self.ledger, self.tables[number].evening.table)


@given(data=st.data())
@examples(15)
def test_whatever_people_decide_an_award_can_be_where_its_table_heard_the_meters_before(data: Any) -> None:
    """A table accepts the amount of every award if the pit published the meters' levels just before it committed the
    hit. The levels can change by any amount between a hit and its commit, because the money of rejected awards goes
    back on the meter."""
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(Path(folder) / "ledger.sqlite")
        with closing(floor.ledger):
            for _ in range(data.draw(st.integers(5, 25), label="acts")):
                number = data.draw(st.integers(0, 1), label="table")
                match data.draw(st.sampled_from(["win", "send", "reject", "reject", "verify", "pay"]), label="act"):
                    case "win":
                        seats = st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True)
                        floor.tables[number].win(*data.draw(seats, label="seats"))
                    case "send":
                        floor.say_meters()  # as the pit does: before it commits
                        floor.send(number)
                        floor.say_meters()
                    case act:
                        before = {"verify": ("pending",), "pay": ("verified",)}.get(act, ("pending", "verified"))
                        if open_awards := [award for award in floor.ledger.awards() if award.step in before]:
                            award = data.draw(st.sampled_from(open_awards), label="award")
                            step: Any = {"verify": "verified", "pay": "paid", "reject": "rejected"}[act]
                            if not award.more:
                                floor.ledger.take_step(award.id, step, "Bob" if step == "paid" else "Ann")
            for number, table in enumerate(floor.tables):
                for said in floor.waiting(number):
                    assert said.step == "rejected" or said.cents <= table.most_cents(said.hit), said


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    """A pit's ledger with two tables, of which the first has two hits. The meter jumped before the first hit was
    committed, and the table did not receive the new level. The table therefore disputes its first award."""
    floor = Floor(tmp_path / "ledger.sqlite")
    with closing(floor.ledger):
        floor.tables[0].win(1)
        for _ in range(4):
            floor.tables[1].win(1)
        floor.send(1)
        for number in range(1, 4):  # the last stands, so that what is rejected stays on the meter
            floor.ledger.take_step(f"t-1.{number}", "rejected", "Ann")
        floor.send(0)
        floor.say_meters()
        floor.tables[0].win(2)
        floor.send(0)
        first, second = floor.waiting(0)
        assert first.cents > floor.tables[0].most_cents(first.hit), "a true award that its table takes for impossible"
        assert second.cents <= floor.tables[0].most_cents(second.hit)
        table = floor.tables[0].evening
        table.say("alarm", code="award_impossible", details={"hit": first.hit, "cents": first.cents})
        assert floor.send(0) == ["award_disputed"]
        yield floor


def test_a_disputed_award_holds_up_no_other_of_its_table(floor: Floor) -> None:
    (second,) = floor.waiting(0)
    table = floor.tables[0]
    table.evening.award(table.hits[second.hit], second.step, second.cents, second.by)
    assert floor.send(0) == []
    assert floor.waiting(0) == []
    floor.ledger.take_step("t-0.2", "verified", "Ann")
    assert [said.award for said in floor.waiting(0)] == ["t-0.2"]


def test_a_disputed_award_is_verified_and_paid_once_its_table_tells_of_it(floor: Floor) -> None:
    assert code_of(lambda: floor.ledger.take_step("t-0.1", "verified", "Ann")) == "award_disputed"
    table, award = floor.tables[0], floor.ledger.awards()[-2]
    assert (award.id, len(award.alarms)) == ("t-0.1", 1)
    table.evening.award(table.hits[award.hit], "pending", award.cents)
    assert floor.send(0) == []
    steps: list[Step] = ["verified", "paid"]
    for taken, step in enumerate(steps, 1):
        floor.ledger.take_step("t-0.1", step, "Bob" if step == "paid" else "Ann")
        assert [said.step for said in floor.waiting(0) if said.award == "t-0.1"] == steps[:taken]
    balanced(floor.ledger)


def test_a_disputed_award_is_rejected_and_its_table_hears_that(floor: Floor) -> None:
    floor.ledger.take_step("t-0.1", "rejected", "Ann")
    assert [(said.award, said.step) for said in floor.waiting(0)] == [("t-0.2", "pending"), ("t-0.1", "rejected")]


@pytest.mark.parametrize(("by", "alarms"), [("Ann", []), ("Zoe", ["award_told"])])
def test_a_table_that_took_a_late_word_of_a_decided_award_is_told_how_it_stands(
    by: str, alarms: list[str], floor: Floor
) -> None:
    """A table may receive an old message "verified" after the message "rejected" of the same award. The pit then
    publishes "rejected" again, because the table would otherwise show "verified" for ever. The old message comes from
    this ledger, or from a lost copy of it."""
    (pending,), table = floor.waiting(0), floor.tables[0]
    floor.ledger.take_step("t-0.2", "verified", "Ann")
    floor.ledger.take_step("t-0.2", "rejected", "Bob")
    for step, name in (("pending", "pit"), ("rejected", "Bob")):
        table.evening.award(table.hits[pending.hit], step, pending.cents, name)
    assert floor.send(0) == []
    assert floor.waiting(0) == []
    table.evening.award(table.hits[pending.hit], "verified", pending.cents, by)
    assert floor.send(0) == alarms
    (anew,) = floor.waiting(0)
    assert (anew.award, anew.step, anew.by) == ("t-0.2", "rejected", "Bob")
    table.evening.award(table.hits[pending.hit], "rejected", pending.cents, "Bob")
    assert floor.send(0) == []
    assert floor.waiting(0) == []


def test_a_dispute_of_what_this_ledger_does_not_have_is_told(floor: Floor) -> None:
    table = floor.tables[1].evening
    table.say("alarm", code="award_impossible", details={"hit": "t-1/ab12cd/999", "cents": 5})
    assert floor.send(1) == ["event_contradicts"]
    table.say("alarm", code="award_impossible", details={"hit": "nobody's", "cents": 5})
    assert floor.send(1) == ["event_not_understood"]


# In which order the pit speaks.


class _DoneError(Exception):
    """Raised to end the pit's loop once the test has seen enough."""


class FarEnd:
    """A fake broker connection. It delivers messages to the pit in each turn of the pit's loop, and stores the meter
    levels and acks that the pit published."""

    taken_over = closed_by_broker = False

    def __init__(self, pit: Pit, *turns: Callable[[], None]) -> None:
        self._pit = pit
        self._turns = iter([pit.link_stands, *turns])
        self.big: list[int] = []
        self.acked: list[int] = []

    def dial(self, _tls: object) -> None:
        pass

    def loop(self, wait_s: float) -> MQTTErrorCode:
        if wait_s:
            next(self._turns, self._over)()
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def publish(self, topic: str, payload: bytes, **_: object) -> SimpleNamespace:
        if topic.endswith("/meters"):
            self.big.append(json.loads(payload)["meters"]["big"])
        elif topic.endswith("/ack"):
            self.acked.append(json.loads(payload)["seq"])
        return SimpleNamespace(mid=len(self.big))

    def disconnect(self) -> None:
        pass

    hang_up = disconnect

    def _over(self) -> None:
        raise _DoneError


def test_a_meter_that_people_raised_is_said_before_a_hit_on_it_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table = tmp_path / "ledger.sqlite", TableEvening("t-0")
    with closing(opened(path)) as ledger, closing(Ledger(path)) as people:
        pit = Pit(ledger, "nowhere", 1, "pit/v1", False, KEY)

        def won() -> None:
            """Let the table win a round, and send the round's events to the pit."""
            table.lock(1)
            table.finish((1, "banker_personal"))
            table.hit(1, "banker_personal", "big")
            for body in table.sent[-3:]:
                pit.link_message("pit/v1/t-0/event", body, False)

        def rejected_and_won() -> None:
            people.take_step("t-0.1", "rejected", "Ann")
            won()

        far = FarEnd(pit, won, won, rejected_and_won)
        monkeypatch.setattr(pit, "_new_link", lambda: far)
        with pytest.raises(_DoneError):
            pit.run()
        assert ledger.awards()[-1].cents > 2_000, "it won what was rejected, too"
        assert max(far.big) > 2_000, "and the tables have heard of that"


def test_a_slow_database_has_its_events_acknowledged_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the ledger needs 0.6 s for each event, the pit acknowledges events in small groups, because a table sends an
    event again if it is not acknowledged within two seconds."""
    clock_s = count(0.0, 0.6)
    for part in ("ledger", "taking"):
        clock = SimpleNamespace(monotonic=lambda: next(clock_s))
        monkeypatch.setattr(f"controller.pit.reference.{part}.time", clock)
    with closing(opened(tmp_path / "ledger.sqlite")) as ledger:
        pit, table = Pit(ledger, "nowhere", 1, "pit/v1", False, KEY), TableEvening("t-0")

        def five_come() -> None:
            for seat in range(1, 6):
                pit.link_message("pit/v1/t-0/event", table.lock(seat), False)

        far = FarEnd(pit, five_come)
        monkeypatch.setattr(pit, "_new_link", lambda: far)
        with pytest.raises(_DoneError):
            pit.run()
        assert far.acked[-3:] == [2, 4, 5]
