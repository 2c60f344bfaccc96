"""Checks the two sockets that report a running table's past. On the first, anybody on the machine may read past events.

On the second, the control socket, only the members of its group may read the shoe's frames of a finished round.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.control.past import past_of
from controller.daemon.record.journal_reading import read_events
from tests.daemon.daemon_world import World, served
from tests.support.waiting import PATIENCE_S


async def told_after(control: Path, asked: bytes) -> list[dict[str, Any]]:
    """Send the line `asked` to the socket for past events that belongs to the control socket `control`. Return all
    events in the answer."""
    reader, writer = await asyncio.open_unix_connection(past_of(control))
    writer.write(asked)
    async with asyncio.timeout(PATIENCE_S):
        lines = [json.loads(line) async for line in reader]
    writer.close()
    return lines


async def asked(control: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send this request to the control socket, and return the answer."""
    reader, writer = await asyncio.open_unix_connection(control, limit=1_000_000)
    writer.write(json.dumps(request).encode() + b"\n")
    async with asyncio.timeout(PATIENCE_S):
        answer: dict[str, Any] = json.loads(await reader.readline())
    writer.close()
    return answer


def journalled(world: World) -> list[dict[str, Any]]:
    """Return every event in the table's journal, in order."""
    return [json.loads(body) for row in world.rows() for body in row.messages]


async def test_the_events_are_told_from_where_the_asker_is(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        assert stat.S_IMODE(past_of(control).stat().st_mode) == 0o666
        await world.open_shoe()
        await world.do_rounds(3)
        events = journalled(world)
        said = await told_after(control, b"0\n")
        kinds = ("shoe_opened", "round", "fault", "alarm", "hit")
        assert [event["seq"] for event in said] == [e["seq"] for e in events if e["type"] in kinds]
        for event in said:
            whole = events[event["seq"] - 1]
            assert event.items() <= whole.items()
            assert whole.keys() - event.keys() <= {"signature", "contract", "settlement", "exits"}
        last = said[-1]["seq"]
        assert await told_after(control, b"%d\n" % last) == []
        assert [e["seq"] for e in await told_after(control, b"%d\n" % (last - 1))] == [last]


@pytest.mark.parametrize("line", [b"\n", b"-1\n", b"all\n", b"1" * 5000, b"9" * 30 + b"\n", b'{"do": "status"}\n'])
async def test_what_is_no_number_is_answered_with_nothing(
    tmp_path: Path, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path) as (world, control):
        await world.open_shoe()
        assert await told_after(control, line) == []
    assert not caplog.records, "the answer failed"


async def test_a_closed_hand_is_told_on_the_control_socket_and_one_in_play_is_not(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        await world.open_shoe()
        await world.do_rounds(2)
        hand = (await asked(control, {"do": "replay", "round": "1/2"}))["hand"]
        rows = {row.number: row for row in world.rows()}
        assert hand["round"] == "1/2"
        for step in hand["steps"]:
            report = getattr(rows[step["row"]].fact, "report", None)
            assert step["frame"] == (None if report is None else report.frame)
        for none in ("1/3", "2/1", "0/0", "x"):
            assert (await asked(control, {"do": "replay", "round": none}))["code"] == "no_such_round"
        assert (await asked(control, {"do": "replay"}))["code"] == "bad_request"


async def test_the_rounds_of_a_day_are_told_from_its_beginning(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        await world.open_shoe()
        await world.do_rounds(3)
        first, second, third = (event for event in journalled(world) if event["type"] == "round")
        said = await told_after(control, f"0 {second['at']}\n".encode())
        from_there = [each["seq"] for each in (first, second, third) if each["at"] >= second["at"]]
        assert [event["seq"] for event in said] == from_there
        assert await told_after(control, f"{third['seq']} {first['at']}\n".encode()) == []
        for wrong in (b"0 yesterday\n", b"0 \xff\n"):
            assert await told_after(control, wrong) == []


async def test_a_clock_that_was_wrong_for_a_while_hides_no_round_before(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _):
        await world.open_shoe()
        await world.do_rounds(3)
        journal = Path(world.config.file.journal.path)
    with closing(sqlite3.connect(journal)) as db, db:
        (second,) = (
            (seq, event)
            for seq, body in db.execute("SELECT seq, body FROM message")
            if (event := json.loads(body))["type"] == "round" and event["round"] == 2
        )
        old = json.dumps(second[1] | {"at": "1970-01-01T00:00:00.000Z"}, separators=(",", ":")).encode()
        db.execute("UPDATE message SET body = ? WHERE seq = ?", (old, second[0]))
    told = [json.loads(body) for body in read_events(journal, 0, 9, since="2000")]
    assert [event["round"] for event in told if event["type"] == "round"] == [1, 3]
