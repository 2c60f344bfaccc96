"""Checks that each event and each refusal is logged at the right level, with its code and a sentence."""

from __future__ import annotations

import logging
import re
import socket
from pathlib import Path

import pytest

from controller.basics.journald import Kind, message_id
from controller.bench.far_pit import EVENT_TYPES
from controller.daemon.counted_log import CountedLog
from controller.daemon.journald import JournaldLog, log_to, of_event
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.stopped import ClearFault
from controller.table.facts import ShoeError, ShoeErrorRaised
from controller.words.language import language
from tests.daemon.daemon_world import running
from tests.documents.blocks import ROOT
from tests.support.journal import fields_of


async def test_what_happened_is_told_with_its_place_code_and_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("KS 2D 9S 7D")
        await world.do(LockWagers())
        world.shoe.listener.shoe_reported(ShoeErrorRaised(ShoeError.CANNOT_READ))
        await world.settle()
        assert (await world.runtime.ask(ClearFault("Smith"))).refused == "fault_unnamed"
        await world.do(VoidRound("Smith"))

    fault = next(record for record in caplog.records if "fault: shoe_error" in record.message)
    assert vars(fault)["fields"] | {"TABLE_ID": "", "MESSAGE_ID": ""} == {
        "MESSAGE_ID": "",
        "TABLE_ID": "",
        "TABLE_SHOE": 1,
        "TABLE_ROUND": 2,
        "TABLE_EVENT": 5,
        "TABLE_EVENT_TYPE": "fault",
        "TABLE_CODE": "shoe_error",
    }
    ours = [record for record in caplog.records if record.name == "controller.daemon.runtime"]
    told = [f"{record.levelname} {record.message}" for record in ours if "no_supervisor" not in record.message]
    assert told == [
        "INFO event 1, shoe 1, round -: shoe_opened: by dealer",
        "INFO event 2, shoe 1, round 1: wagers_locked: no wagers",
        "INFO event 3, shoe 1, round 1: round: player KS 9S = 9  banker 2D 7D = 9  -> tie (natural)",
        "INFO event 4, shoe 1, round 2: wagers_locked: no wagers",
        f"ERROR event 5, shoe 1, round 2: fault: shoe_error: {language().fault('shoe_error').what}",
        f"INFO refused clear: fault_unnamed: {language().refusal('fault_unnamed')}",
        "WARNING event 6, shoe 1, round 2: void: by Smith",
        "WARNING event 7, shoe 1, round 2: fault_cleared: by Smith",
    ]


def test_journald_is_told_priority_and_fields_and_where_it_is_gone_the_stream_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = (tmp_path / "stderr").open("w+", encoding="utf-8")
    handler = JournaldLog(out, tmp_path / "journal")
    logger = logging.Logger("a table's")
    logger.addHandler(handler)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journald:
        journald.bind(str(tmp_path / "journal"))
        event = {"type": "fault", "shoe": 3, "round": None, "code": "reports_missed"}
        logger.error("event %d", 9, extra=of_event("royal9-01", 9, event))
        assert fields_of(journald.recv(4096)) == {
            "MESSAGE": "event 9",
            "PRIORITY": "3",
            "SYSLOG_IDENTIFIER": "tablectl",
            "LOGGER": "a table's",
            "MESSAGE_ID": message_id("fault"),
            "TABLE_ID": "royal9-01",
            "TABLE_SHOE": "3",
            "TABLE_EVENT": "9",
            "TABLE_EVENT_TYPE": "fault",
            "TABLE_CODE": "reports_missed",
        }
        logger.info("two\nlines")
        assert fields_of(journald.recv(4096))["MESSAGE"] == "two\nlines"
    logger.warning("nobody listens")
    handler.close()
    out.seek(0)
    assert out.read() == "nobody listens\n"
    assert type(log_to(out)) is CountedLog
    there = (tmp_path / "stderr").stat()
    monkeypatch.setenv("JOURNAL_STREAM", f"{there.st_dev}:{there.st_ino}")
    to_journald = log_to(out)
    assert type(to_journald) is JournaldLog
    to_journald.close()
    out.close()


def test_the_page_on_logs_has_each_message_id() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| `([0-9a-f]{32})` \|", (ROOT / "docs" / "logs.md").read_text("utf-8"), re.M))
    assert told == {kind: message_id(kind) for kind in (*EVENT_TYPES, *(kind.value for kind in Kind))}
