"""The two messages that the MQTT broker retains about a table: its state while its program is connected, and the notice
that the program is gone."""

from __future__ import annotations

from msgspec import to_builtins

from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.face.state import Presence, State


def online_state(state: State) -> bytes:
    """Return the bytes to publish as the state of a connected table."""
    return canonical(to_builtins(state))


def offline_state(table: str, epoch: str, boot: int) -> bytes:
    """Return the bytes of the message that a table is disconnected. The table publishes it as its last message, or the
    broker publishes it for the table, as the MQTT will. `boot` numbers the run of the program."""
    gone = Presence(online=False, table=table, epoch=epoch, boot=boot, contract=CONTRACT_VERSION)
    return canonical(to_builtins(gone))
