"""The devices that the table is wired to, as the runtime sees them: one Protocol a device, and the wiring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:  # the pins' driver alone loads nothing of the table
    from controller.table.facts import ShoeFact

Level = Literal["high", "low"]
"""The electrical level at which a lamp is lit, or an input is pressed or covered."""

Pull = Literal["up", "down", "off"]
"""The Pi's own resistor on an input: what the pin reads while nothing drives it."""


PRESENT_INPUT = "shoe_present"
"""The input that the shoe's own supply closes while its plug is in."""


class LampWiring(NamedTuple):
    """One lamp's pin."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that lights the lamp."""


class InputWiring(NamedTuple):
    """One button's, key's or sensor's pin."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that means pressed, turned or covered."""

    pull: Pull
    """The Pi's own resistor: what the pin reads while nothing drives it."""


class Pins(Protocol):
    """The table's lamps and inputs, by the names of the table file.

    Inputs are sampled as they are now; the caller debounces them.
    """

    def read(self) -> dict[str, bool]:
        """Every input by name: True is pressed, turned or covered."""

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp that the table does not have."""

    def close(self) -> None:
        """Darken every lamp and release the pins."""


class ShoeListener(Protocol):
    """Whoever hears the shoe. The event loop makes these calls."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """The shoe reported this, and the report can be believed."""

    def shoe_link(self, up: bool, why: str) -> None:
        """The line to the shoe works or does not, or has another reason; `why` is a sentence for people."""

    def shoe_heard_again(self) -> None:
        """Something comes from the shoe while the line is down. What was missed before, nobody knows. Called before the
        report; that the line is up is told at the next beat, so that its moment tells nothing of the report."""

    def shoe_noise(self, reason: str, count: int) -> None:
        """`count` bytes could not be read as a report, for this reason. The bytes themselves are not passed on."""


class Shoe(Protocol):
    """The card-reading shoe on its line."""

    @property
    def gap_shows_within_ms(self) -> int:
        """How long the line may be unheard so that a missed report still shows as a gap in the shoe's numbers.

        After a longer time the numbers may have come round. A shoe without numbers never shows a gap: 0.
        """

    @property
    def kept_unread_ms(self) -> int:
        """For how long, at the least, nothing is missed while the program stands still.

        The kernel keeps so much of what the shoe sends, and in that time nobody looks whether the shoe is there.
        """

    @property
    def proven_ms(self) -> int | None:
        """The moment, in milliseconds since boot, until which answers prove that the shoe was heard.

        None where the shoe is not asked, so that nothing is proven, or has not answered since its port was opened.
        """

    def look(self, now_ms: int, inputs: Mapping[str, bool]) -> bool:
        """Look whether the shoe's plug is in; returns whether a beat is due for that. Any thread may call this.

        `inputs` are the levels of the header's inputs at `now_ms`, in milliseconds since boot.
        """

    def beat(self, now_ms: int, inputs: Mapping[str, bool]) -> None:
        """The loop's beat: ask the shoe, and tell the listener whether the line is up."""

    def forget(self) -> None:
        """Take the next report for a new report, even where it looks like the last one."""

    async def run(self, listener: ShoeListener) -> None:
        """Keep the line open and call the listener, until cancelled."""


class BrokerListener(Protocol):
    """Whoever hears the broker. The event loop makes these calls."""

    def broker_connected(self) -> None:
        """A new connection has its subscriptions. Called before anything that comes on this connection."""

    def broker_disconnected(self, why: str) -> None:
        """The connection is gone, or could not be made."""

    def broker_id_taken(self) -> None:
        """Another client took our place with our id, or speaks on our topic. Called at each sign of that."""

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """A message on a subscribed topic. `retained`: the broker kept the message from before we subscribed."""

    def broker_unreadable(self, topic: str, why: str) -> None:
        """A message came that cannot be read. Nothing else is called for that message."""

    def broker_answered(self, token: int, reason_code: int) -> None:
        """The broker's PUBACK, an MQTT 5 reason code, for the publish with this token."""


class Broker(Protocol):
    """The MQTT broker; where there are several, the one whose turn it is."""

    @property
    def address(self) -> str:
        """The broker's host and port."""

    @property
    def has_others(self) -> bool:
        """Whether the table's file names more than one broker."""

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected and call the listener, until cancelled."""

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish at QoS 1. Returns a token for the answer, or None: there is no connection, and nothing was sent."""

    def drop(self, why: str, move: bool = False) -> None:
        """End the connection, for a reason in people's words. `run` makes a new one, with `move` to the next broker."""

    def often_cut(self) -> str:
        """A sentence for people where the connection is cut often; empty where it is not."""
