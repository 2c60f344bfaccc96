"""Checks the events and states that a running table sends to the pit, the pit's acknowledgements, and what happens if
the pit has more events than the journal."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from controller.contract.pit_words import PitKeyWord
from controller.contract.state import offline_state
from controller.contract.topics import Topics
from controller.contract.wager_words import WagerWord
from controller.daemon.answer import Answer
from controller.daemon.control.lines import line
from controller.daemon.delivery import guarantee as delivery
from controller.daemon.record.journal_reading import copy_database, reading
from controller.daemon.record.journal_rows import Entry, Message
from controller.people.cli import programs
from controller.people.cli.status import pit_lines
from controller.pit.reference.clock import now_text
from controller.rules.game.cards import Card
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from controller.table.facts import HitUnheard, OutboxFilling, PublishRefused
from tests.daemon.daemon_world import (
    KEY,
    LEVELS,
    PIT_KEY,
    RECOGNITION_KEY,
    HeldBroker,
    Published,
    World,
    ack,
    open_journal,
    running,
    table_config,
)
from tests.daemon.test_journal import tampering
from tests.support.waiting import eventually

SCHEMAS = Path(__file__).parents[2] / "controller" / "contract" / "schemas"
STATE = Draft202012Validator(json.loads((SCHEMAS / "state.schema.json").read_text("utf-8")))
ACK = Draft202012Validator(json.loads((SCHEMAS / "ack.schema.json").read_text("utf-8")))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixture that shortens the table's waiting times, so that it sends again within hundredths of a second."""
    monkeypatch.setattr(delivery, "RESEND_AFTER_S", 0.05)
    monkeypatch.setattr(delivery, "RETRY_REFUSED_AFTER_S", 0.05)


def sent(broker: HeldBroker) -> list[int]:
    """Return the numbers of the events that the table has published, in order."""
    return [event["seq"] for event in broker.events()]


def alarms(world: World) -> list[str]:
    return [event["code"] for event in world.pit.ledger if event["type"] == "alarm"]


# Delivery.


async def test_every_event_reaches_the_pit_and_is_marked(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.play_hit()
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked", "round", "hit"])
        await eventually(lambda: world.journal.acked_seq == 4)
        status = world.runtime.stream.told.status()
        assert (status.unacknowledged, status.acked_seq, status.stream) == (0, 4, "streaming")
        assert sent(world.broker) == [1, 2, 3, 4], "nothing was sent twice"


async def test_what_is_not_acknowledged_is_sent_again_until_it_is(tmp_path: Path, quick: None) -> None:
    async with running(tmp_path) as world:
        world.pit.acks = False
        await world.do(NewShoe())
        await eventually(lambda: sent(world.broker).count(1) >= 4)
        first, *others = [published.payload for published in world.broker.published if published.event_type]
        assert set(others) == {first}, "the same bytes each time"
        world.pit.acks = True
        await eventually(lambda: world.journal.acked_seq == 1)


async def test_the_oldest_event_is_sent_at_once_to_a_pit_that_begins_to_listen_and_once_for_each_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "RESEND_AFTER_S", 3600.0)
    async with running(tmp_path) as world:

        def said(at: str, retained: bool = False) -> None:
            word = PitKeyWord(PIT_KEY.public.hex(), f"2026-01-01T00:00:{at}.000Z", ()).payload(PIT_KEY)
            world.broker.say(word, Topics("pit/v1", "royal9-01").pit_key, retained)

        world.pit.acks = False
        await world.open_shoe()
        await eventually(lambda: sent(world.broker) == [1])
        said("10", retained=True)
        await world.do(LockWagers())
        await eventually(lambda: sent(world.broker) == [1, 2])
        said("20")
        await eventually(lambda: sent(world.broker)[2:] == [1])
        said("20")
        said("15")
        await world.deal("KS 2D 9S 3D")
        world.pit.acks = True
        said("30")
        await eventually(lambda: world.journal.acked_seq == 3)
        said("40")
        await world.do(LockWagers())
        await eventually(lambda: world.journal.acked_seq == 4)
        assert sent(world.broker) == [1, 2, 1, 1, 3, 4], "the pit had event 2"


async def test_events_made_without_a_broker_are_delivered_when_it_comes(tmp_path: Path) -> None:
    async with running(tmp_path, connected=False) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("KS 2D 9S 3D")
        assert world.broker.published == []
        assert world.runtime.stream.told.status().stream == "offline"
        world.broker.connect()
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked", "round"])


async def test_a_backlog_on_the_disk_goes_out_in_windows_of_fifty(tmp_path: Path) -> None:
    config = table_config(tmp_path)
    journal = open_journal(config)
    from controller.daemon.clock import stamp_now
    from controller.table.states import Table
    from controller.table.step import step

    for number in range(130):
        _, events = step(Table(config.rules), PublishRefused(number, 0x87))
        journal.append([Entry(stamp_now(), PublishRefused(number, 0x87), tuple(events))])
    journal.close()
    async with running(tmp_path, connected=False) as world:
        world.pit.acks = False
        world.broker.connect()
        await eventually(lambda: len(sent(world.broker)) >= 50)
        await world.pins.sampled(10)
        assert set(sent(world.broker)) == set(range(1, 51))
        assert world.runtime.stream.told.status().unacknowledged == 130
        await world.do(NewShoe())  # an event beyond the window waits on the disk
        await world.pins.sampled(10)
        assert set(sent(world.broker)) == set(range(1, 51))
        world.pit.acks = True
        await eventually(lambda: world.pit.types()[-1:] == ["shoe_opened"])
        await eventually(lambda: world.journal.acked_seq == 131)


async def test_a_new_connection_begins_with_the_pits_retained_word(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await eventually(lambda: world.journal.acked_seq == 2)
        world.broker.disconnect()
        assert not world.runtime.stream.up
        await world.deal("KS 2D 9S 3D")
        before = len(world.broker.published)
        world.broker.connect()
        await eventually(lambda: world.pit.types()[-1] == "round")
        again = [p.value["seq"] for p in world.broker.published[before:] if p.topic.endswith("/event")]
        assert again == [3]


async def test_a_broker_on_which_no_pit_is_heard_is_left_for_the_next(tmp_path: Path) -> None:
    async with running(tmp_path, pit={"stale_after_s": 1}) as world:
        world.broker.has_others = True
        world.broker.levels = None  # the pit is on the other side of a cut
        await eventually(lambda: world.broker.moves == 1)
        assert world.runtime.stream.told.standing().code == "no_broker"
        world.broker.connect()
        assert world.runtime.stream.told.standing().code == "no_pit", "the silence goes on"
        world.broker.levels = dict(LEVELS)
        world.broker.say_levels()
        assert world.runtime.stream.told.standing().code == "not_adopted", "a pit is heard here"


async def test_each_stay_at_a_silent_broker_is_twice_as_long_as_the_one_before_but_never_longer_than_eight_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, pit={"stale_after_s": 10}) as world:
        now_s = int(time.monotonic()) + 1_000  # whole seconds add up exactly
        monkeypatch.setattr("controller.daemon.clock.monotonic_s", lambda: now_s)
        world.broker.has_others = True
        world.broker.levels = None
        world.broker.disconnect()
        world.broker.connect()
        stays_s = []
        for _ in range(6):
            moves, came_s = world.broker.moves, now_s
            while world.broker.moves == moves:
                now_s += 5
                world.runtime.stream._seek_pit()
            stays_s.append(now_s - came_s)
            world.broker.connect()
        assert stays_s == [10, 20, 40, 80, 80, 80]


async def test_a_silent_broker_that_is_the_only_one_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path, pit={"stale_after_s": 1}) as world:
        world.broker.levels = None
        await eventually(lambda: world.runtime.stream.told.standing().code == "silent")
        await world.pins.sampled(40)
        assert world.broker.moves == 0


async def test_nothing_is_sent_until_the_retained_word_or_its_absence_is_known(tmp_path: Path) -> None:
    async with running(tmp_path, connected=False) as world:
        await world.open_shoe()
        silent: list[Published] = []
        world.broker.reason = lambda published: silent.append(published)
        world.broker.connect()
        await eventually(lambda: silent)
        await world.pins.sampled(20)
        assert world.broker.events() == []
        assert world.runtime.stream.told.status().stream == "asking"
        assert not world.runtime.stream.up
        barrier = silent[0]
        assert barrier.topic.endswith("/state"), "the state's answer says that no retained word is coming"
        world.broker.reason = lambda _: 0
        world.broker.listener.broker_answered(barrier.token, 0)
        await eventually(lambda: world.pit.types() == ["shoe_opened"])


async def test_a_connection_that_changes_while_the_disk_is_read_is_asked_anew(tmp_path: Path) -> None:
    """If the connection is lost and made anew while the table reads an event from the disk, the table does not send the
    event immediately. On the new connection it first waits for the acknowledgement that the broker retains."""
    async with running(tmp_path) as first:
        first.pit.acks = False
        await first.open_shoe()
    async with running(tmp_path, connected=False) as world:  # the event is on the disk alone
        async with world.committing(LockWagers()):
            world.broker.connect()
            await eventually(lambda: world.runtime.stream.up)
            await world.pins.sampled(3)  # the journal's thread is asked for the event, and is busy
            world.broker.disconnect()
            world.broker.reason = lambda _: None
            world.broker.connect()
        await world.pins.sampled(5)
        assert world.runtime.stream.told.status().stream == "asking"
        assert world.broker.events() == []


async def test_an_event_waits_for_the_ones_before_it_that_are_read_from_the_disk(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        first.pit.acks = False
        await first.open_shoe()
    async with running(tmp_path, connected=False) as world:  # the first event is on the disk alone
        async with world.committing(LockWagers()):
            world.broker.connect()
            await eventually(lambda: world.runtime.stream.up)
            await world.pins.sampled(3)  # the journal's thread is to read it next, once the second is committed
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked"])
        assert sent(world.broker) == [1, 2]


async def test_a_journal_that_cannot_be_read_holds_up_the_stream_and_not_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("controller.daemon.delivery.sending._RETRY_READ_S", 0.01)
    async with running(tmp_path) as first:
        first.pit.acks = False
        await first.open_shoe()
    async with running(tmp_path, connected=False) as world:  # the event is on the disk alone
        world.journal.unreadable = True
        world.broker.connect()
        await eventually(lambda: "the journal cannot be read" in caplog.text)
        assert await world.runtime.ask(LockWagers()) == Answer(None)
        await world.pins.sampled(3)
        assert world.broker.events() == []
        world.journal.unreadable = False
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked"])
    assert caplog.text.count("the journal cannot be read") == 1


async def test_an_event_goes_out_at_its_commit_and_not_a_turn_of_the_loop_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as world:
        stream, at_commit = world.runtime.stream, list[list[int]]()
        real = stream.committed

        def committed(messages: Sequence[Message], *keys: str | None) -> None:
            real(messages, *keys)
            at_commit.append(sent(world.broker))

        monkeypatch.setattr(stream, "committed", committed)
        await world.do(NewShoe())
        assert at_commit == [[1]]
        await eventually(lambda: world.journal.acked_seq == 1)
        assert sent(world.broker) == [1], "nothing was sent twice"


async def test_an_ack_that_lies_there_is_judged_before_anything_is_sent(tmp_path: Path, quick: None) -> None:
    """Before the table repeats an event, it judges the acknowledgements that have arrived. So it does not repeat an
    event that the pit has acknowledged.

    In the test the pit is silent for too long, and its acknowledgements arrive while a commit hangs.
    """
    async with running(tmp_path) as world:
        world.pit.acks = False
        await world.open_shoe()
        await world.do(LockWagers())
        await eventually(lambda: sent(world.broker)[-1:] == [2])
        async with world.committing(VoidRound("Ann")):
            first, second = {event["seq"]: event for event in world.broker.events()}.values()
            world.broker.say(ack(first["epoch"], 1, first["chain"]))
            await world.pins.sampled(10)  # it is judged, and marked behind the hanging commit
            world.broker.say(ack(second["epoch"], 2, second["chain"]))
            await world.pins.sampled(20)
            before = len(sent(world.broker))
        await eventually(lambda: len(sent(world.broker)) > before)
        assert sent(world.broker)[before:][0] == 3


@pytest.mark.parametrize("retained_seq", [None, 99])
async def test_an_ack_of_the_connection_before_is_no_word_on_this_one(tmp_path: Path, retained_seq: int | None) -> None:
    """If the connection is lost while the table judges an acknowledgement, the acknowledgement does not count on the
    next connection."""
    async with running(tmp_path) as world:
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)
        [first] = world.broker.events()
        world.pit.acks = False
        async with world.committing(LockWagers()):
            world.broker.say(ack(first["epoch"], 1, first["chain"]))  # again: its event is read from the disk
            await world.pins.sampled(5)
            world.broker.disconnect()
            world.broker.retained = ack(first["epoch"], retained_seq, "f" * 64) if retained_seq else None
            world.broker.reason = lambda _: None  # whether there is a retained word is not known yet
            world.broker.connect()
            await world.pins.sampled(5)
        await world.pins.sampled(10)
        assert world.runtime.stream.told.status().stream == ("behind" if retained_seq else "asking")
        assert sent(world.broker) == [1]


async def test_a_wager_that_the_broker_kept_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running(tmp_path, example=programs.example_table("sugarhouse")) as world:
        await world.open_shoe()
        table = world.config.file.table.id
        seen = WagerWord(table, world.journal.epoch, 1, 1, 2, "banker", 2000, False, 1, now_text())
        wager = seen.payload(RECOGNITION_KEY)
        topic = Topics(world.config.file.pit.root, world.config.file.table.id).wager
        world.broker.say(wager, topic, retained=True)
        await world.settle()
        assert not world.status.face.wagers
        assert f"{topic} is refused: the broker retained it" in caplog.text
        world.broker.say(wager, topic)
        await world.settle()
        assert [wager.seat for wager in world.status.face.wagers] == [2]


async def test_a_word_of_another_epoch_is_as_good_as_none(tmp_path: Path) -> None:
    async with running(tmp_path, connected=False) as world:
        await world.open_shoe()
        world.broker.retained = ack("0000000000", 1, "0" * 64)
        world.broker.connect()
        await eventually(lambda: world.pit.types() == ["shoe_opened"])
        assert world.fault() is None


async def test_a_word_said_before_the_answer_to_the_state_is_heard_first(tmp_path: Path) -> None:
    """On a new connection, the table judges the retained acknowledgement first, and only then the pit's next one. The
    order stays the same if the disk is busy."""
    async with running(tmp_path) as world:
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)
        world.broker.disconnect()
        async with world.committing(LockWagers()):
            before = len(world.broker.published)
            world.broker.retained = ack(world.journal.epoch, 0, "0" * 64)  # the pit lost everything
            world.broker.connect()
            await world.pins.sampled(5)
        world.pit.ledger.clear()
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked"])
        events = [p.value["seq"] for p in world.broker.published[before:] if p.topic.endswith("/event")]
        assert events[0] == 1


async def test_too_many_events_waiting_are_told_when_the_pit_goes_back_and_not_at_a_commit(tmp_path: Path) -> None:
    """If the pit has lost events, too many events may wait for an acknowledgement. The table raises this alarm as soon
    as the pit reports the loss, and not at the next commit.

    The next commit may be a result that hidden cards decide. An alarm at that moment would reveal when the result came.
    """
    midi = programs.example_table("sugarhouse_midi")
    async with running(tmp_path, example=midi, pit={"most_unacknowledged": 100}) as world:
        await world.open_shoe()
        for _ in range(40):
            await world.do(LockWagers(), VoidRound("Smith"))
        await world.do(LockWagers())
        await world.deal("4S TH 5D 9C")
        await eventually(lambda: len(world.pit.ledger) == world.journal.head_seq == 82)
        world.pit.acks = False
        world.broker.say(ack(world.journal.epoch, 0, "0" * 64, table=world.config.file.table.id))
        await eventually(lambda: world.journal.head_seq == 83, "for the alarm")
        assert world.rows()[-1].fact == OutboxFilling(82, 100)


async def test_a_pit_that_lost_its_ledger_is_sent_it_again(tmp_path: Path, quick: None) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.play_hit()
        await eventually(lambda: world.journal.acked_seq == 4)
        whole = list(world.pit.ledger)
        del world.pit.ledger[1:]
        world.broker.say(ack(whole[0]["epoch"], 1, whole[0]["chain"]))
        await eventually(lambda: world.pit.ledger == whole)


# A journal the pit does not know.


@pytest.mark.parametrize("case", ["past the head", "another chain", "far past any number"])
@pytest.mark.parametrize("retained", [True, False], ids=["retained", "live"])
async def test_a_journal_behind_the_pit_stops_the_table_and_sends_nothing_more(
    tmp_path: Path, case: str, retained: bool
) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)
        seq = {"past the head": 2, "another chain": 1, "far past any number": 2**63 - 1}[case]
        at = now_text()
        word = ack(world.journal.epoch, seq, "ab" * 32, at)
        before = len(world.broker.events())
        if retained:
            world.broker.disconnect()
            world.broker.retained = word
            world.broker.connect()
        else:
            world.broker.say(word)
        await eventually(world.fault)
        assert world.fault() == "journal_behind_pit"
        fault = world.runtime.face.fault
        assert fault is not None
        assert fault.exits == ()
        assert fault.details == {
            "acked_seq": seq,
            "head_seq": 1,
            "chain": "differs" if case == "another chain" else "unknown",
            "acked_at": at,
        }
        world.broker.retained = None
        for _ in range(2):
            world.broker.disconnect()
            world.broker.connect()
        await world.deal("KS")
        await world.pins.sampled(10)
        assert len(world.broker.events()) == before
        assert world.runtime.stream.told.status().stream == "behind"
        assert world.broker.states()[-1].value["fault"] == "journal_behind_pit"
        assert world.lamps["fault"] == "fast_blink"


def put_in_place_of(copy: Path, path: Path) -> None:
    """Replace the closed journal at `path` by the copy at `copy`."""
    for leftover in (path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")):
        leftover.unlink(missing_ok=True)
    copy.rename(path)


async def test_an_event_in_the_place_of_one_that_the_journal_lost_is_found_out_after_a_restart_too(
    tmp_path: Path,
) -> None:
    """If the journal lost an event and wrote another under the same number, the table finds this out even after
    restarts.

    The journal lost only its last row, and the table was started twice before it heard the pit.
    """
    path = tmp_path / "table.journal"
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("KS 2D 9S")
        with reading(path) as db:
            copy_database(db, tmp_path / "copy")
        await world.deal("3D")
        await eventually(lambda: world.journal.acked_seq == 3)
        lost = world.broker.retained
    put_in_place_of(tmp_path / "copy", path)

    async with running(tmp_path, connected=False) as world:
        assert world.journal.head_seq == 2
        await world.do(VoidRound("Smith"))
        assert world.journal.head_seq == 3
    async with running(tmp_path, connected=False) as world:
        world.broker.retained = lost
        world.broker.connect()
        await eventually(world.fault)
        assert world.fault() == "journal_behind_pit"
        assert world.broker.events() == []


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x00\xff",
        b"[" * 100_000,
        b"[]",
        b'{"seq": 5}',
        b'{"epoch": "%s", "seq": "1", "chain": "x"}',
        b'{"epoch": "%s", "seq": -1, "chain": "x"}',
        b'{"epoch": "%s", "seq": true, "chain": "x"}',
        b'{"epoch": "%s", "seq": 99, "chain": "x", "extra": 1}',
        b'{"epoch": "%s", "seq": 1e3, "chain": "x"}',
        b'{"epoch": "%s", "seq": ' + b"9" * 5000 + b', "chain": "x"}',
    ],
    ids=lambda payload: repr(payload[:45]),
)
async def test_what_is_no_word_of_the_pit_is_passed_over(tmp_path: Path, payload: bytes) -> None:
    async with running(tmp_path) as world:
        world.broker.say(payload.replace(b"%s", world.journal.epoch.encode()))
        await world.open_shoe()
        await eventually(lambda: world.pit.types() == ["shoe_opened"])
        assert world.fault() is None
        world.broker.disconnect()
        world.broker.retained = payload.replace(b"%s", world.journal.epoch.encode())
        world.broker.connect()
        await world.do(LockWagers())
        await eventually(lambda: world.pit.types() == ["shoe_opened", "wagers_locked"])


async def test_what_comes_on_another_topic_is_no_word_of_the_pit(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        word = ack(world.journal.epoch, 99, "x")
        world.broker.say(word, topic="pit/v1/royal9-02/ack")
        world.broker.say(word, topic="pit/v1/royal9-01/award")
        await world.open_shoe()
        await eventually(lambda: world.pit.types() == ["shoe_opened"])
        assert world.fault() is None


# Alarms.


def _not_authorised(published: Published) -> int:
    return 0x87 if published.event_type else 0


async def test_a_refused_event_alarms_once_an_episode(tmp_path: Path, quick: None) -> None:
    async with running(tmp_path) as world:
        world.broker.reason = _not_authorised
        await world.do(NewShoe())
        await eventually(lambda: sent(world.broker).count(1) >= 5)
        assert world.runtime.stream.told.status().stream == "refused"
        what, do, _ = pit_lines(world.status, Path("t.toml"))
        assert what.startswith("pit: The broker refuses event 1 of this table, reason 0x87.")
        assert do == "  what to do: Let this table publish on pit/v1/royal9-01/event in the broker's access list."
        assert not world.runtime.stream.up
        refusals = [row.fact for row in world.rows() if isinstance(row.fact, PublishRefused)]
        assert refusals == [PublishRefused(1, 0x87)]
        assert world.fault() is None, "an alarm stops no table"

        world.broker.reason = lambda _: 0
        await eventually(lambda: world.pit.types() == ["shoe_opened", "alarm"])
        assert world.pit.ledger[1]["code"] == "publish_refused"
        assert world.pit.ledger[1]["details"] == {"seq": 1, "reason_code": 0x87}

        world.broker.reason = _not_authorised
        await world.deal("AS 2D")
        await world.do(LockWagers())
        await eventually(lambda: sent(world.broker).count(3) >= 3)
        world.broker.reason = lambda _: 0
        await eventually(lambda: alarms(world) == ["publish_refused"] * 2)


async def test_a_hit_nobody_heard_alarms_once(tmp_path: Path, quick: None) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)
        world.pit.acks = False
        world.broker.reason = lambda published: 0x10 if published.event_type else 0
        await world.play_hit()
        await eventually(lambda: sent(world.broker).count(4) >= 5)
        unheard = [row.fact for row in world.rows() if isinstance(row.fact, HitUnheard)]
        assert unheard == [HitUnheard(4)], "the hit's, once; a lock or a round unheard is no alarm"
        world.pit.acks = True
        world.broker.reason = lambda _: 0
        await eventually(lambda: alarms(world) == ["hit_unheard"])
        assert world.pit.types()[:4] == ["shoe_opened", "wagers_locked", "round", "hit"]


async def test_without_a_pit_the_royal_9_wager_is_refused_and_baccarat_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path, connected=False) as world:
        await world.open_shoe()
        await world.wager(1)
        await eventually(lambda: world.lamps["seat_1"] == "double_flash")
        await world.do(LockWagers())
        assert world.runtime.face.progressive[0].seats == ()
        assert (world.runtime.face.progressive[0].refused_seats, world.runtime.face.progressive[0].refusal) == (
            (1,),
            "pit_stale",
        )
        await world.deal("KS 2D 9S 3D")
        assert world.runtime.face.outcome == "player"
        assert world.runtime.face.hits == ()


async def test_a_locked_wager_stays_good_without_the_pit_and_its_hit_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.wager(1)
        await world.do(LockWagers())
        world.broker.disconnect()
        await world.deal("KS 2D 9S 3D")
        assert [hit.seat for hit in world.runtime.face.hits] == [1]
        world.broker.connect()
        await eventually(lambda: world.pit.types()[-1] == "hit")


# The retained state.


async def test_the_state_is_retained_follows_the_table_and_keeps_its_schema(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        first = world.broker.published[0]
        assert first.topic == "pit/v1/royal9-01/state", "the first word on a connection is how the table is"
        assert (first.value["online"], first.value["phase"], first.value["boot"]) == (True, "no_shoe", 1)
        assert first.value["public_key"] == KEY.public.hex()
        assert first.value["config_digest"] == world.config.digest
        world.pit.acks = False
        await world.open_shoe()
        await eventually(lambda: world.broker.states()[-1].value["phase"] == "wagers_open")
        last = world.broker.states()[-1].value
        assert (last["unacknowledged"], last["shoe"]) == (1, 1)
        assert last["oldest_unacknowledged_at"] == world.broker.events()[0]["at"]
        world.shoe.deal("AS")  # nobody needs it: a simulated hand begins
        world.shoe.listener.shoe_link(False, "unplugged")
        await eventually(lambda: world.broker.states()[-1].value["fault"] == "shoe_unplugged")
        assert world.broker.states()[-1].value["links"] == {"shoe": False, "journal": True}

    for published in world.broker.states():
        STATE.validate(published.value)
        assert published.retain
        assert published.event_type is None


async def test_a_state_that_does_not_change_is_not_published_again(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await eventually(lambda: world.broker.states()[-1].value["links"]["shoe"])
        await eventually(lambda: world.broker.states()[-1].value["pit"] == "well")
        states = len(world.broker.states())
        await world.pins.sampled(60)  # at 10 ms: more than twice as long as a change may wait
        assert len(world.broker.states()) == states


def test_the_will_keeps_the_schema_and_names_this_boot(tmp_path: Path) -> None:
    will: dict[str, Any] = json.loads(offline_state("royal9-01", "0123456789", 7))
    STATE.validate(will)
    assert will == {"online": False, "table": "royal9-01", "epoch": "0123456789", "boot": 7, "contract": 4}
    ACK.validate(json.loads(ack("0123456789", 0, "0" * 64)))


async def test_face_down_cards_are_in_no_message_and_no_status(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.do(NewShoe())
        await world.deal("3S")
        await world.deal("7C 8H QD")  # burned
        await eventually(lambda: world.broker.states()[-1].value["phase"] == "wagers_open")
        status = line(world.status).decode()

    said = status + "".join(published.payload.decode() for published in world.broker.published)
    assert not any(f'"{card}"' in said for card in ("7C", "8H", "QD"))
    assert Card.parse("7C") in [getattr(fact, "card", None) for fact in _facts(world)]


def _facts(world: World) -> list[object]:
    from controller.daemon.record.journal_reading import read_rows

    return [row.fact for row in read_rows(Path(world.config.file.journal.path))]


# An event that the disk no longer holds as it was signed.


async def test_the_pits_word_on_an_altered_event_is_a_fault_of_the_journal_and_not_of_the_pit(tmp_path: Path) -> None:
    path = Path(table_config(tmp_path).file.journal.path)
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do_rounds(2)
        await eventually(lambda: world.journal.acked_seq == world.journal.head_seq)
        with tampering(path) as db:
            db.execute("UPDATE message SET body = x'00' WHERE seq = 2")
        world.pit.acks = False
        world.broker.say(ack(world.journal.epoch, 2, world.pit.ledger[1]["chain"]))
        await eventually(world.fault)
        fault = world.runtime.face.fault
        assert fault is not None
        assert (fault.code, fault.details) == ("journal_altered", {"event": 2})
        status = world.runtime.stream.told.status()
        assert status.stream == "altered"
        assert status.why == "event 2 is not in the journal as it was signed. No event is sent from that event on"
        assert "does not hold event 2 as this table signed it" in pit_lines(world.status, Path("t.toml"))[0]
        world.broker.say(ack(world.journal.epoch, 2, world.pit.ledger[1]["chain"]))
        await world.do(ClearFault("Smith"))
        world.broker.say(ack(world.journal.epoch, 2, world.pit.ledger[1]["chain"]))
        await world.do_rounds(1)
        assert world.fault() is None, "a person knows"
