"""The retained state of a table: how the table is while its program is connected, and that the program is gone."""

from __future__ import annotations

from msgspec import to_builtins

from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.face.state import Presence, State


def online_state(state: State) -> bytes:
    """The state of a connected table."""
    return canonical(to_builtins(state))


def offline_state(table: str, epoch: str, boot: int) -> bytes:
    """The state of a table that is gone: published by the table as its last message, or by the broker as its will.
    `boot` names the run of the program."""
    gone = Presence(online=False, table=table, epoch=epoch, boot=boot, contract=CONTRACT_VERSION)
    return canonical(to_builtins(gone))
