"""Checks when a running table signs a checkpoint of its journal: after a round has ended, at a beat of the clock, and
never while a card is hidden."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from controller.contract.canonical import canonical
from controller.daemon.beat import next_beat
from controller.daemon.checkpointing import Checkpointing
from controller.daemon.record.journal_rows import Message
from tests.support.waiting import run


def _told(type_: str) -> list[Message]:
    head = {"type": type_, "at": "2026-05-03T12:00:00.000Z", "chain": "0" * 64, "shoe": 1, "round": None}
    return [Message(1, canonical(head))]


async def _two_beats() -> None:
    await next_beat()
    await next_beat()


def test_a_checkpoint_waits_until_no_card_lies_hidden_and_until_a_round_has_ended() -> None:
    """No checkpoint is signed while cards lie hidden, because it would reveal when rows came and how many."""
    signed: list[str] = []
    hidden = [True]

    async def on_journal(work: Callable[[], Any]) -> Any:
        return work()

    async def evening() -> None:
        journal: Any = SimpleNamespace(checkpoint=lambda: "checkpoint", last_note=lambda kind: None)
        checkpointing = Checkpointing(journal, on_journal, lambda: hidden[0], lambda note, _: signed.append(str(note)))
        task = asyncio.create_task(checkpointing.run())
        checkpointing.committed(_told("wagers_locked"))
        await _two_beats()
        checkpointing.committed(_told("round"))
        assert not signed, "not at the moment of a commit"
        await _two_beats()
        assert not signed, "not while a card lies hidden"
        hidden[0] = False
        assert not signed, "not at the moment at which the card is turned up"
        await _two_beats()
        assert signed == ["checkpoint"]
        assert str(checkpointing.last) == "checkpoint"
        checkpointing.committed(_told("hit_reset"))
        await _two_beats()
        assert signed == ["checkpoint"], "nothing has ended since"
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    run(evening())
