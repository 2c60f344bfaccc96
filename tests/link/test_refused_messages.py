"""Checks messages on the pit's MQTT topics that a table must not accept. The table refuses each of them, writes it to
the log, and changes nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from controller.contract.bounds import MOST_PAYLOAD_BYTES
from controller.daemon.delivery import alarms
from controller.table.acts.rounds import LockWagers
from tests.daemon.daemon_world import ack, running
from tests.support.waiting import eventually


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log lines of the table's event stream, warnings and errors only."""
    caplog.set_level(logging.WARNING, "controller.daemon.delivery.stream")
    return caplog


async def test_a_message_for_another_table_is_refused_and_logged(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    async with running(tmp_path) as world:
        world.broker.say(ack(world.journal.epoch, 99, "x"), topic="pit/v1/royal9-02/ack")
        assert [record.message for record in log.records] == [
            "a message on pit/v1/royal9-02/ack is not for this table and is refused"
        ]
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)
        assert world.fault() is None


async def test_an_old_epochs_acknowledgement_is_refused_and_logged(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as world:
        world.pit.acks = False
        await world.open_shoe()
        world.broker.say(ack("0ldepoch" + "x" * 40, 1, world.broker.events()[0]["chain"]))
        await eventually(lambda: log.records)
        (told,) = [record.message for record in log.records]
        assert "of epoch 'royal9-01/0ldepoch" in told
        assert "is refused" in told
        assert len(told) < 200, "whoever says it does not choose how much is logged"
        assert world.runtime.stream.told.status().acked_seq == 0


async def test_a_message_longer_than_the_contract_has_is_refused_unread(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as world:
        topics = [f"pit/v1/royal9-01/{kind}" for kind in ("ack", "award", "wager")]
        for topic in (*topics, "pit/v1/meters"):
            world.broker.say(b"{" + b" " * MOST_PAYLOAD_BYTES[topic.rpartition("/")[2]], topic=topic)
        told = [record.message for record in log.records]
        assert [message.endswith("is refused unread") for message in told] == [True] * 4
        assert world.runtime.stream.told.status().connected


async def test_more_acknowledgements_than_the_table_can_judge_end_the_connection(tmp_path: Path) -> None:
    async with running(tmp_path, adopted=False) as world:
        for _ in range(1000):
            world.broker.say(ack("another", 1, "x"))
        assert world.status.pit.connected
        world.broker.say(ack("another", 1, "x"))
        cut = world.status.pit
        assert not cut.connected
        assert cut.why == "more messages come on this table's topics than the table can judge"
        world.broker.connect()
        await world.open_shoe()
        await eventually(lambda: world.journal.acked_seq == 1)


async def test_a_link_that_is_cut_often_is_told_while_it_stands(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        world.broker.cuts = "the link was cut 7 times in the last minute"
        assert world.status.pit.why == "the link was cut 7 times in the last minute"


async def test_an_acknowledgement_older_than_one_seen_takes_nothing_back(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    """If the pit acknowledges fewer events than before, the table does not lower its stored number of the last
    acknowledged event. The table logs the message and sends the later events again, because the pit may have lost them.
    """
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await eventually(lambda: world.journal.acked_seq == 2)
        world.broker.say(ack(world.journal.epoch, 1, world.pit.ledger[0]["chain"]))
        await eventually(lambda: log.records)
        assert "the pit went back from event 2 to 1" in log.records[0].message
        assert world.journal.acked_seq == 2, "the mark on the disk stands"
        await eventually(lambda: world.runtime.stream.told.status().acked_seq == 2)
        assert world.pit.types() == ["shoe_opened", "wagers_locked"]
        assert world.fault() is None


async def test_people_are_told_of_a_taken_id_once_in_a_while(
    tmp_path: Path, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as world:
        listener = world.broker.listener
        assert listener is not None
        listener.broker_id_taken()
        listener.broker_id_taken()
        assert ["client_id_taken" in record.message for record in log.records] == [True]
        assert log.records[0].levelno == logging.ERROR
        monkeypatch.setattr(alarms, "_AGAIN_AFTER_S", 0.0)
        listener.broker_id_taken()
        assert len(log.records) == 2


async def test_why_the_pit_is_not_there_stands_in_the_status(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        assert world.status.pit.why == ""
        world.broker.disconnect()
        assert world.status.pit.why == "the test cut it"
