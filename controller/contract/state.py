"""The retained state of a table: how the table is while its program is connected, and that the program is gone."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION


def online_state(table: str, epoch: str, boot: int, now: Mapping[str, object]) -> bytes:
    """The state of a connected table. `boot` names the run of the program; `now` has the state's other fields."""
    return _state(True, table, epoch, boot, now)


def offline_state(table: str, epoch: str, boot: int) -> bytes:
    """The state of a table that is gone: published by the table as its last message, or by the broker as its will."""
    return _state(False, table, epoch, boot, {})


def _state(online: bool, table: str, epoch: str, boot: int, now: Mapping[str, object]) -> bytes:
    head = {"online": online, "table": table, "epoch": epoch, "boot": boot, "contract": CONTRACT_VERSION}
    return canonical({**now, **head})
