"""Checks how the table judges the state of the pit: each way in which the pit may fail has a code, and advice for
people."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from controller.contract import topics
from controller.contract.pit_words import MetersWord
from controller.contract.topics import Topics
from controller.daemon.delivery.standing import GOOD, PitHeard
from controller.people.care import program
from controller.people.cli.status import pit_lines
from controller.people.screen.technicians import Ages, technician_view
from controller.pit.reference.clock import number_text
from controller.table.acts.rounds import LockWagers
from controller.table.placard import placard
from controller.words.language import language
from tests.daemon.daemon_world import LEVELS, PIT_KEY, ack, running
from tests.support.waiting import eventually

STALE_S = 10.0
SCHEMA = Path(topics.__file__).with_name("schemas") / "state.schema.json"


def heard(*, adopted: bool | None = None, word_s: float | None = None) -> PitHeard:
    """Return the record of what a table has heard of the pit, on a connection that was made at second 100.

    `adopted` says whether the pit knows the table's journal, by the pit's last acknowledgement; None if no
    acknowledgement came. `word_s` is the second at which the pit's last message came.
    """
    found = PitHeard(0.0)
    found.link(True, 100.0)
    found.adopted = adopted
    if word_s is not None:
        found.word(word_s)
    return found


@pytest.mark.parametrize(
    ("found", "waits_s", "says_meters", "now_s", "code", "for_s"),
    [
        (heard(), 0.0, True, 109.9, "listening", None),
        (heard(), 0.0, True, 110.0, "no_pit", 10),
        (heard(), 25.0, False, 125.0, "no_pit", 25),
        (heard(), 0.0, False, 999.0, "well", None),  # nothing waits, and such a pit has nothing to say
        (heard(adopted=True), 0.0, True, 140.0, "no_pit", 40),  # the broker kept that word of the pit
        (heard(word_s=90.0), 0.0, True, 105.0, "listening", None),  # heard on the connection before
        (heard(word_s=101.0), 0.0, True, 102.0, "not_adopted", None),
        (heard(adopted=False), 0.0, True, 102.0, "not_adopted", None),
        (heard(adopted=True, word_s=120.0), 0.0, True, 129.9, "well", None),
        (heard(adopted=True, word_s=120.0), 0.0, True, 131.0, "silent", 11),
        (heard(adopted=True, word_s=120.0), 0.0, False, 999.0, "well", None),
        (heard(adopted=True, word_s=120.0), 9.0, True, 121.0, "well", None),
        (heard(adopted=True, word_s=120.0), 12.0, True, 121.0, "behind", 12),
        (heard(adopted=True, word_s=120.0), 30.0, True, 150.0, "silent", 30),
    ],
)
def test_what_is_heard_and_what_is_not(
    found: PitHeard, waits_s: float, says_meters: bool, now_s: float, code: str, for_s: int | None
) -> None:
    standing = found.standing(STALE_S, waits_s, says_meters, now_s)
    assert (standing.code, standing.details.get("for_s")) == (code, for_s)


def test_old_words_on_the_meters_are_told_before_silence_and_forgotten_with_the_connection() -> None:
    found = heard(adopted=True, word_s=120.0)
    found.meters_old = "2026-01-01T00:00:00.000Z"
    standing = found.standing(STALE_S, 0.0, says_meters=True, now_s=200.0)
    assert (standing.code, standing.details) == ("meters_old", {"at": "2026-01-01T00:00:00.000Z"})
    found.link(False, 210.0)
    assert found.meters_old is None


def test_a_lost_connection_forgets_what_was_acknowledged_and_counts_from_its_end() -> None:
    found = heard(adopted=True, word_s=120.0)
    found.link(False, 130.0)
    found.link(False, 140.0)  # another try failed
    assert (found.adopted, found.since_s) == (None, 130.0)


def test_a_table_is_present_while_it_hears_the_pit_on_one_connection_and_nobody_else() -> None:
    found = heard()
    assert not found.present(101.0), "what it heard on the connection before is of before an absence"
    found.word(110.0)
    assert found.present(110.0)
    assert found.present(1909.0), "a pit stops for its rotation"
    assert not found.present(1910.0)
    found.other_s = 111.0
    assert [found.present(now_s) for now_s in (111.0, 120.9, 121.0)] == [False, False, True]
    for connected in (False, True):
        found.link(connected, 130.0)
        assert not found.present(131.0)


def test_a_silence_goes_on_at_the_next_broker() -> None:
    found = heard(adopted=True, word_s=120.0)
    found.moves()
    found.link(False, 131.0)
    found.link(True, 132.0)
    standing = found.standing(STALE_S, 0.0, says_meters=True, now_s=140.0)
    assert (standing.code, standing.details) == ("no_pit", {"for_s": 20})
    found.word(141.0)
    found.adopted = True
    assert found.standing(STALE_S, 0.0, says_meters=True, now_s=142.0).code == "well"
    found.link(False, 150.0)
    assert found.since_s == 150.0, "a later cut is a cut"


def test_where_the_next_broker_does_not_answer_that_is_told_from_then_on() -> None:
    found = heard(adopted=True, word_s=120.0)
    found.moves()
    found.link(False, 131.0)
    found.link(False, 136.0)
    assert found.since_s == 136.0
    found.link(True, 140.0)
    assert found.standing(STALE_S, 0.0, says_meters=True, now_s=149.0).code == "listening"


def test_the_contract_names_every_code_and_each_has_its_sentences() -> None:
    codes = json.loads(SCHEMA.read_text("utf-8"))["$defs"]["online"]["properties"]["pit"]["enum"]
    sentences = language().sections["pit"]
    assert codes == list(sentences)
    assert {code for code, told in sentences.items() if not told["do"]} == GOOD


async def test_a_new_table_that_nobody_adopted_says_so_and_its_lamp_blinks(tmp_path: Path) -> None:
    async with running(tmp_path, adopted=False) as world:
        await eventually(lambda: world.status.pit.standing.code == "not_adopted")
        await eventually(lambda: world.status.lamps["fault"] == "slow_blink")
        await eventually(lambda: world.broker.states()[-1].value["pit"] == "not_adopted")
        world.broker.say(ack(world.journal.epoch, 0, "0" * 64))
        await eventually(lambda: world.status.pit.standing.code == "well")
        await eventually(lambda: world.status.lamps["fault"] == "dark")


async def test_a_meter_that_the_pit_lacks_is_named_with_the_games_file_and_nobody_can_wager_on_it(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        assert world.broker.states()[-1].value["meters"] == sorted(LEVELS)
        world.broker.levels = {name: cents for name, cents in LEVELS.items() if name != "banker_personal"}
        await eventually(lambda: world.status.pit.standing.code == "meter_unknown")
        await eventually(lambda: world.broker.states()[-1].value["pit"] == "meter_unknown")
        status = world.status
        page = technician_view(placard(world.config.rules, "Royal 9", ("en",)), status, Ages())
        (row,) = [row for row in program.running(status) if row.code == "meter_unknown"]
        for told in (
            " ".join(pit_lines(status, tmp_path / "table.toml")),
            " ".join(link["why"] for link in page["links"]),
            f"{row.says} {row.do}",
        ):
            assert all(named in told for named in ("banker_personal", world.config.file.table.game)), told
        await world.wager(2)
        await world.do(LockWagers())
        assert world.runtime.face.progressive[0].refused_seats == (2,)
        world.broker.levels = dict(LEVELS)
        await eventually(lambda: world.status.pit.standing.code == "well")


async def test_the_words_of_a_dead_pit_that_are_said_once_more_do_not_let_it_stand_well(tmp_path: Path) -> None:
    """If a pit is dead, and somebody repeats its old messages, the table does not take the pit for alive.

    Somebody on the network, or a broker, repeats the last acknowledgement and the last meter levels.
    """
    async with running(tmp_path, pit={"stale_after_s": 1}) as world:
        broker = world.broker
        last = ack(world.journal.epoch, 0, "0" * 64)
        broker.levels = None
        number = time.time_ns() // 1_000_000 + 1_000
        levels = MetersWord(number, number_text(number), LEVELS).payload(PIT_KEY)

        def repeats() -> bool:
            broker.say(last)
            broker.say(levels, Topics("pit/v1", "royal9-01").meters)
            return world.runtime.stream.told.standing().code != "well"

        await eventually(lambda: not repeats())
        await eventually(repeats)
        assert not world.runtime.stream.fresh()
        assert world.runtime.stream.told.standing().code == "silent"
