"""Checks the feed, a socket that sends everything public about the table to anybody on the machine, and reads nothing.

A new reader gets everything at once, and after that each part whenever it changes.
"""

from __future__ import annotations

import asyncio
import json
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import convert

from controller.contract.face.table import PublicRound
from controller.contract.note import read_frame
from controller.daemon.control.feed import feed_of
from controller.people.cli.client import shoe_rounds
from tests.daemon.daemon_world import KEY, served
from tests.support.waiting import PATIENCE_S


async def told(reader: asyncio.StreamReader, part: str) -> Any:
    """Read the feed until a line has the key `part`, and return the value of that key."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            said = json.loads(await reader.readline())
            if part in said:
                return said[part]


async def test_the_feed_tells_the_rules_the_rounds_and_the_status(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        await world.open_shoe()
        await world.do_rounds(1)
        assert [stat.S_IMODE(path.stat().st_mode) for path in (feed_of(control), control)] == [0o666, 0o660]
        reader, writer = await asyncio.open_unix_connection(feed_of(control))
        placard = await told(reader, "placard")
        assert placard["name"] == world.config.file.table.name
        assert placard["seats"][0] == {"seat": 1, "k9": "KS 9S"}
        rounds = await told(reader, "rounds")
        assert [hand["number"] for hand in rounds["hands"]] == [1]
        assert (await told(reader, "status"))["face"]["phase"] == "wagers_open"
        assert await asyncio.to_thread(shoe_rounds, tmp_path / "table.toml") == convert(
            rounds["hands"], tuple[PublicRound, ...]
        )
        await world.do_rounds(1)
        assert [hand["number"] for hand in (await told(reader, "rounds"))["hands"]] == [1, 2]
        writer.close()


async def test_the_feed_tells_the_last_checkpoint_as_the_table_signed_it(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        await world.open_shoe()
        reader, writer = await asyncio.open_unix_connection(feed_of(control))
        await world.do_rounds(1)
        note = read_frame(await told(reader, "checkpoint"))
        assert note is not None
        assert note.signed_by(note.text.split("\n")[0], KEY.public)
        await world.do_rounds(1)
        later = read_frame(await told(reader, "checkpoint"))
        assert later is not None
        assert later.text != note.text
        writer.close()


async def test_what_is_said_on_the_feed_does_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, control):
        rows = len(world.rows())
        reader, writer = await asyncio.open_unix_connection(feed_of(control))
        with suppress(ConnectionError):
            for _ in range(50):
                writer.write(b'{"do": "new_shoe", "by": "Smith"}\n' * 1000)
        await told(reader, "status")
        await told(reader, "status")
        assert world.runtime.face.shoe is None
        assert len(world.rows()) == rows
        writer.close()
