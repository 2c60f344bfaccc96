"""The topics of one table, below a root that both sides are set to (default `pit/v1`)."""

from __future__ import annotations

from dataclasses import dataclass

from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION


@dataclass(frozen=True, slots=True)
class Topics:
    """Where the table speaks and listens."""

    root: str
    table: str

    @property
    def event(self) -> str:
        """The durable stream, from the table; never retained."""
        return f"{self.root}/{self.table}/event"

    @property
    def state(self) -> str:
        """The table's state, from the table; retained."""
        return f"{self.root}/{self.table}/state"

    @property
    def ack(self) -> str:
        """The pit's cumulative acknowledgement; retained."""
        return f"{self.root}/{self.table}/ack"


def offline_state(table: str, epoch: str, boot: int) -> bytes:
    """The state of a table that is gone: its will, and its goodbye. `boot` says which run of the program it was."""
    return canonical({"online": False, "table": table, "epoch": epoch, "boot": boot, "contract": CONTRACT_VERSION})
