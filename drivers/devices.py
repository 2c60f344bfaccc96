"""The devices that a table is wired to, as the daemon sees them: one Protocol for each device, and the pins' wiring."""

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
    """The wiring of one lamp: its pin, and the level that lights it."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that lights the lamp."""


class InputWiring(NamedTuple):
    """The wiring of one button, key or sensor: its pin, its active level and its pull."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that means pressed, turned or covered."""

    pull: Pull
    """The Pi's own resistor: what the pin reads while nothing drives it."""


class Pins(Protocol):
    """The table's lamps and inputs, by the names in the table file.

    An input is read as it is at that moment. The caller debounces the readings.
    """

    def read(self) -> dict[str, bool]:
        """Return the level of every input by name: True is pressed, turned or covered."""

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp that the table does not have."""

    def close(self) -> None:
        """Darken every lamp and release the pins."""


class ShoeListener(Protocol):
    """A listener to the card-reading shoe. The event loop makes these calls."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """Take a fact that the shoe reported and that can be believed."""

    def shoe_link(self, up: bool, why: str) -> None:
        """Take note whether the line to the shoe works, and why.

        `why` is a sentence for people, and may change alone.
        """

    def shoe_heard_again(self) -> None:
        """Take note that something comes from the shoe while its line is down. Nobody knows what was missed before.

        This call comes before that of the report. Only at the next beat of the loop is the line called up
        (`shoe_link`), so that the moment of that call reveals nothing of the report.
        """

    def shoe_noise(self, reason: str, count: int) -> None:
        """Take note that `count` bytes could not be read as a report, for this reason. The bytes themselves are not
        passed on."""


class Shoe(Protocol):
    """The card-reading shoe, at the far end of its serial line."""

    @property
    def gap_shows_within_ms(self) -> int:
        """For how long the line may go unheard while a missed report still shows as a gap in the shoe's report numbers.

        After a longer time the numbers may have gone all the way round. The value is 0 for a shoe without numbers,
        which never shows a gap.
        """

    @property
    def kept_unread_ms(self) -> int:
        """For how long, at the least, nothing is missed while the program stands still.

        The kernel's buffer keeps what the shoe sends in that time. Nobody looks meanwhile whether the shoe is there,
        which shortens the time.
        """

    @property
    def proven_ms(self) -> int | None:
        """The moment, in milliseconds since boot, until which the shoe's answers prove that the shoe was heard.

        None where the shoe is not asked, so that nothing is proven, or has not answered since its port was opened.
        """

    def look(self, now_ms: int, inputs: Mapping[str, bool]) -> bool:
        """Look whether the shoe's plug is in, and tell whether that has changed, so that a beat is due. Any thread may
        call this.

        `inputs` are the levels of the header's inputs at `now_ms`, in milliseconds since boot.
        """

    def beat(self, now_ms: int, inputs: Mapping[str, bool]) -> None:
        """Do the shoe's work at a beat of the loop: ask the shoe, and tell the listener whether the line is up."""

    def forget(self) -> None:
        """Forget the last report, so that the next one counts as new even where it looks the same."""

    async def run(self, listener: ShoeListener) -> None:
        """Keep the shoe's line open and call the listener, until cancelled."""


class BrokerListener(Protocol):
    """A listener to the MQTT broker. The event loop makes these calls."""

    def broker_connected(self) -> None:
        """Take note that a new connection has its subscriptions. This comes before anything that is received on the
        connection."""

    def broker_disconnected(self, why: str) -> None:
        """Take note that the connection is gone, or could not be made."""

    def broker_id_taken(self) -> None:
        """Take note of a sign that another client took this table's place with its id, or publishes on this table's
        topic."""

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Take a message on a subscribed topic.

        `retained`: the broker kept the message from before the subscription.
        """

    def broker_unreadable(self, topic: str, why: str) -> None:
        """Take note of a message that cannot be read. No other method is called for that message."""

    def broker_answered(self, token: int, reason_code: int) -> None:
        """Take the broker's answer (its PUBACK, with an MQTT 5 reason code) to the message published with this
        token."""


class Broker(Protocol):
    """The MQTT broker. Where the table's file names several, this is the one that serves now."""

    @property
    def address(self) -> str:
        """The broker's host and port."""

    @property
    def has_others(self) -> bool:
        """True where the table's file names more than one broker."""

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected to the broker and call the listener, until cancelled."""

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish a message at QoS 1. Return a token for the broker's answer, or None where nothing was sent.

        Nothing is sent while there is no connection.
        """

    def drop(self, why: str, move: bool = False) -> None:
        """End the connection, for a reason in people's words. `run` makes a new one, and with `move` to the next
        broker."""

    def often_cut(self) -> str:
        """Return a sentence for people where the connection is cut often; an empty text where it is not."""
