"""The topics of one table. They lie below a root that table and pit are configured with (default `pit/v1`)."""

from __future__ import annotations

from msgspec import Struct


class Topics(Struct, frozen=True):
    """The topics on which a table speaks and listens."""

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

    @property
    def award(self) -> str:
        """The pit's steps of this table's awards; never retained."""
        return f"{self.root}/{self.table}/award"

    @property
    def wager(self) -> str:
        """What bet recognition says of wagers at this table's seats before the lock; never retained."""
        return f"{self.root}/{self.table}/wager"

    @property
    def wager_refused(self) -> str:
        """The table's answer to a wager that bet recognition saw and the rules refuse; never retained."""
        return f"{self.root}/{self.table}/wager-refused"

    @property
    def checkpoint(self) -> str:
        """Checkpoints of the journal, from the table, for the pit to cosign; never retained."""
        return f"{self.root}/{self.table}/checkpoint"

    @property
    def cosigned(self) -> str:
        """The last checkpoint of this table that the pit has cosigned; retained."""
        return f"{self.root}/{self.table}/cosigned"

    @property
    def measure(self) -> str:
        """The pit's question what runs at this table; never retained."""
        return f"{self.root}/{self.table}/measure"

    @property
    def meters(self) -> str:
        """The levels of all progressive meters, from the pit; retained, and one topic for all tables."""
        return f"{self.root}/meters"

    @property
    def pit_key(self) -> str:
        """The pit's public key, from the pit; retained, and one topic for all tables."""
        return f"{self.root}/pit-key"
