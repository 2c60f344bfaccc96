"""The MQTT topics of one table. All topics begin with the root that is configured in table and pit (default
`pit/v1`)."""

from __future__ import annotations

from msgspec import Struct


class Topics(Struct, frozen=True):
    """The MQTT topics on which a table publishes and listens."""

    root: str
    table: str

    @property
    def event(self) -> str:
        """The topic of the table's durable stream of events; never retained."""
        return f"{self.root}/{self.table}/event"

    @property
    def state(self) -> str:
        """The topic on which the table publishes its state; retained."""
        return f"{self.root}/{self.table}/state"

    @property
    def ack(self) -> str:
        """The topic on which the pit acknowledges this table's events, up to a number; retained."""
        return f"{self.root}/{self.table}/ack"

    @property
    def award(self) -> str:
        """The topic on which the pit publishes the steps of this table's awards; never retained."""
        return f"{self.root}/{self.table}/award"

    @property
    def wager(self) -> str:
        """The topic on which bet recognition reports the wagers at this table's seats before betting ends; never
        retained."""
        return f"{self.root}/{self.table}/wager"

    @property
    def wager_refused(self) -> str:
        """The topic on which the table says that it refuses a wager that bet recognition saw; never retained."""
        return f"{self.root}/{self.table}/wager-refused"

    @property
    def checkpoint(self) -> str:
        """The topic on which the table publishes checkpoints of its journal, for the pit to cosign; never retained."""
        return f"{self.root}/{self.table}/checkpoint"

    @property
    def cosigned(self) -> str:
        """The topic on which the pit publishes the last checkpoint of this table's journal that it has cosigned;
        retained."""
        return f"{self.root}/{self.table}/cosigned"

    @property
    def measure(self) -> str:
        """The topic on which the pit asks the table which program runs on it; never retained."""
        return f"{self.root}/{self.table}/measure"

    @property
    def meters(self) -> str:
        """The topic on which the pit publishes the levels of all progressive meters; retained, and the same for all
        tables."""
        return f"{self.root}/meters"

    @property
    def pit_key(self) -> str:
        """The topic on which the pit publishes its public key; retained, and the same for all tables."""
        return f"{self.root}/pit-key"
