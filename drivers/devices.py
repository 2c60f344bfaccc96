"""The devices that a table is wired to, as the daemon sees them: a Protocol for each device, and the wiring of the
lamps and inputs."""

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
    """The wiring of one lamp: its pin on the Raspberry Pi's header, and the level (high or low) that lights it."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that lights the lamp."""


class InputWiring(NamedTuple):
    """The wiring of one button, key or sensor: its pin on the Raspberry Pi's header, the level that means pressed, and
    its pull-up or pull-down."""

    bcm: int
    """The pin's BCM number."""

    active: Level
    """The level that means pressed, turned or covered."""

    pull: Pull
    """The Pi's own resistor: what the pin reads while nothing drives it."""


class Pins(Protocol):
    """The table's lamps and inputs, by the names in the table file.

    Inputs are read as they are at that moment. The caller debounces the readings.
    """

    def read(self) -> dict[str, bool]:
        """Return the level of every input by name: True is pressed, turned or covered."""

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp that the table does not have."""

    def close(self) -> None:
        """Darken every lamp and release the pins."""


class ShoeListener(Protocol):
    """An object that is told what happens at the card-reading shoe. The event loop makes these calls."""

    def shoe_reported(self, fact: ShoeFact) -> None:
        """Take a fact that the shoe has reported. The driver has already checked the report."""

    def shoe_link(self, up: bool, why: str) -> None:
        """Take note that the line to the shoe works (`up` is True) or does not.

        `why` is a sentence for people. This is also called if only `why` changes.
        """

    def shoe_heard_again(self) -> None:
        """Take note that something comes from the shoe while its line counts as down. Nobody knows what was missed
        before.

        This is called before the report itself is passed on. `shoe_link` reports the line as up only at the next beat
        (the loop's regular work), so that the moment of that call reveals nothing about the report.
        """

    def shoe_noise(self, reason: str, count: int) -> None:
        """Take note that `count` bytes could not be read as a report, for this reason. The bytes themselves are not
        passed on."""


class Shoe(Protocol):
    """The card-reading shoe, at the far end of its serial line."""

    @property
    def gap_shows_within_ms(self) -> int:
        """The longest time without the shoe, in milliseconds, after which a gap in the numbers of the shoe's reports
        still shows that a report was missed.

        After a longer time the numbers may have repeated. The value is 0 for a shoe without report numbers, which never
        shows a gap.
        """

    @property
    def kept_unread_ms(self) -> int:
        """How long the program can stand still, in milliseconds, without missing anything of the shoe.

        The kernel's buffer keeps the bytes that the shoe sends in that time. The value may be smaller than the buffer
        allows, because nobody checks during a standstill whether the shoe is still there.
        """

    @property
    def proven_ms(self) -> int | None:
        """The moment, in milliseconds since boot, up to which the shoe's answers prove that the table heard the shoe.

        None if the table does not ask the shoe, so that nothing is proven, or if the shoe has not answered since its
        port was opened.
        """

    def look(self, now_ms: int, inputs: Mapping[str, bool]) -> bool:
        """Look whether the shoe's plug is in. Return True if that has changed, so that the main loop must act. Any
        thread may call this.

        `inputs` are the levels of the header's inputs at `now_ms`, in milliseconds since boot.
        """

    def beat(self, now_ms: int, inputs: Mapping[str, bool]) -> None:
        """Do the shoe's regular work, at each beat of the main loop: ask the shoe whether it is there, and tell the
        listener whether the line is up."""

    def forget(self) -> None:
        """Forget the last report, so that the next report counts as new even if it looks the same."""

    async def run(self, listener: ShoeListener) -> None:
        """Keep the shoe's line open and tell the listener what happens, until cancelled."""


class BrokerListener(Protocol):
    """An object that is told what happens at the MQTT broker. The event loop makes these calls."""

    def broker_connected(self) -> None:
        """Take note that a new connection to the broker is ready and has its subscriptions. This is called before any
        message of that connection."""

    def broker_disconnected(self, why: str) -> None:
        """Take note that the connection to the broker has ended or could not be made, and why."""

    def broker_id_taken(self) -> None:
        """Take note of a sign that another client uses this table's MQTT client id, or publishes on the topic that only
        this table may use."""

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Take a message on a subscribed topic.

        `retained` is True if the broker had kept the message from before the subscription.
        """

    def broker_unreadable(self, topic: str, why: str) -> None:
        """Take note of a message on this topic that cannot be read, and why. No other method is called for that
        message."""

    def broker_answered(self, token: int, reason_code: int) -> None:
        """Take the broker's answer (its PUBACK, with an MQTT 5 reason code) to a message. `token` is the one that
        `publish` returned for that message."""


class Broker(Protocol):
    """The table's connection to its MQTT broker. If the table's file names several brokers, one of them serves at a
    time."""

    @property
    def address(self) -> str:
        """The host and port of the broker that serves now."""

    @property
    def has_others(self) -> bool:
        """True if the table's file names more than one broker."""

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected to the broker and tell the listener what happens, until cancelled."""

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish a message at QoS 1. Return a token that the broker's answer will carry, or None if nothing was sent.

        Nothing is sent while there is no connection.
        """

    def drop(self, why: str, move: bool = False) -> None:
        """End the connection to the broker, for the reason `why`, a text for people. `run` makes a new connection. The
        new connection is to the next broker if `move` is set or if the old connection was never up, and otherwise to
        the same broker."""

    def often_cut(self) -> str:
        """Return a sentence for people if the connection to the broker ends often; otherwise an empty text."""
