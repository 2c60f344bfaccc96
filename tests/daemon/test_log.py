"""The log is a record: it has each event and each refusal at a fitting level, with its code and a sentence."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.stopped import ClearFault
from controller.table.facts import ShoeError, ShoeErrorRaised
from controller.words.language import language
from tests.daemon.daemon_world import running


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
