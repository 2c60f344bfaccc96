"""What the table is wired to, as the runtime sees it: one Protocol a device, and the wiring behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # the pins' driver alone is to load none of the table
    from controller.table.facts import ShoeFact

Level = Literal["high", "low"]
"""The electrical level at which a lamp is lit, or an input is pressed or covered."""

Pull = Literal["up", "down", "off"]
"""The Pi's own resistor on an input: what the pin reads while nothing drives it."""


@dataclass(frozen=True, slots=True)
class LampWiring:
    """One lamp's pin."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that lights the lamp."""


@dataclass(frozen=True, slots=True)
class InputWiring:
    """One button's, key's or sensor's pin."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that means pressed, turned or covered."""

    pull: Pull
    """The Pi's own resistor: what the pin reads while nothing drives it."""


class Pins(Protocol):
    """The table's lamps and inputs, by the names of the table file.

    Inputs are sampled as they stand this instant; debouncing is the caller's.
    """

    def read(self) -> dict[str, bool]:
        """Every input by name: True is pressed, turned or covered."""

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp the table has not."""

    def close(self) -> None:
        """Darken every lamp and let go of the pins."""


class ShoeListener(Protocol):
    """Whoever hears the shoe. Called on the event loop."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """The shoe said this, and it can be believed."""

    def shoe_link(self, up: bool, why: str) -> None:
        """The line to the shoe is there or not; `why` is a sentence for people."""

    def shoe_noise(self, reason: str, count: int) -> None:
        """So many bytes became no fact, and of what kind they were. The bytes themselves are never told."""


class Shoe(Protocol):
    """The card-reading shoe on its line."""

    @property
    def gap_shows_within_ms(self) -> int:
        """For how long the line may be unheard and a missed report still show as a gap in the shoe's numbers.

        After more time they may have come round; of a shoe without numbers no gap ever shows, so this is 0.
        """

    @property
    def kept_unread_ms(self) -> int:
        """For how long at least the kernel keeps what the shoe says while nobody reads it."""

    def forget(self) -> None:
        """Take what comes next for new, also where it looks like the last report."""

    async def run(self, listener: ShoeListener) -> None:
        """Keep the line open and tell the listener, until cancelled."""


class BrokerListener(Protocol):
    """Whoever hears the broker. Called on the event loop."""

    def broker_connected(self) -> None:
        """A new connection stands and its subscriptions are made; told before anything that comes on it."""

    def broker_disconnected(self, why: str) -> None:
        """The connection is gone, or could not be made."""

    def broker_id_taken(self) -> None:
        """Another client has our id, and the broker gave it our place; or it speaks on our topic. Told at each sign."""

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """A message on a subscribed topic; `retained`: said before we subscribed, and kept by the broker."""

    def broker_unreadable(self, topic: str, why: str) -> None:
        """A message came that cannot be read; nothing else comes of it."""

    def broker_answered(self, token: int, reason_code: int) -> None:
        """The broker's PUBACK, an MQTT 5 reason code, for the publish that `token` came from."""


class Broker(Protocol):
    """The MQTT broker."""

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected and tell the listener, until cancelled."""

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish at QoS 1. Returns a token for the answer; None when there is no connection, and nothing was sent."""

    def drop(self, why: str) -> None:
        """End the connection, for a reason in words for people; `run` makes a new one."""

    def often_cut(self) -> str:
        """That the connection is cut often, for people; empty where it is not."""
