"""One connection to an MQTT broker, made with paho. The harm that a broker can do to its client is bounded.

The library paho alone accepts packets of up to 256 MB, and its thread ends at a string that is not UTF-8. A message
that paho cannot parse ends the connection. If the broker retains such a message, it sends the message again on every
new connection. The table and the pit both use this module. Whatever the broker sends can at most end the connection.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import socket
import ssl
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.contract.bounds import MOST_PACKET_BYTES

CONNECT_TIMEOUT_S = 5.0
_IN_FLIGHT = 100  # more than the stream's window and the states beside it: paho must not queue
_MOST_UNSENT = 1000  # packets: where a broker sends and does not read, our answers do not fill the memory
_SILENT_KEEPALIVES = 1.5  # without a byte from the broker; the broker drops a client after as many
_UNANSWERED_KEEPALIVES = 3.0  # a message of ours without its PUBACK, though other things come
_SESSION_TAKEN_OVER = 0x8E  # MQTT 5
_LONGEST_LINE = 200  # characters of what a broker sent

_CUTS_COUNT_FOR_S = 600.0
_CUTS_TOLD_EVERY_S = 60.0
_OFTEN = 3
_SIGNS_COUNT_FOR_S = 600.0
_SIGNS = 2  # a single sign has innocent causes: a restart of a broker that keeps what it retains, or a second broker

RUN = "run"
"""The user property by which a client knows its own messages on its own topic: each message names a run."""


def await_thread(client: Client) -> None:
    """Wait until the paho thread of a client that has disconnected from the broker ends.

    AttributeError is ignored: paho's `loop_stop` raises it if the thread ends just while `loop_stop` looks at it.
    """
    with contextlib.suppress(AttributeError):
        client.loop_stop()


class LinkBrokenError(Exception):
    """The broker did something for which the client ends the connection. The error's text completes a sentence that
    begins with the broker's name, such as "sends and does not read"."""


class LinkListener(Protocol):
    """The callbacks of a connection to an MQTT broker. They are called in the thread that runs the connection's loop,
    and may raise only LinkBrokenError."""

    def link_stands(self) -> None:
        """Called once, when the broker has accepted the subscriptions. The broker may refuse the one to the client's
        own topic. Messages on the topics in `first` may come before this call."""

    def link_ended(self, why: str) -> None:
        """Called once, when the connection has ended. `why` is a sentence for people, without its full stop."""

    def link_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Called for each message on a subscribed topic."""

    def link_unreadable(self, topic: str, why: str) -> None:
        """Called for a message that cannot be parsed. The message is acknowledged to the broker nevertheless."""

    def link_own_topic(self, ours: bool) -> None:
        """Called for each message on the topic where only this client may publish. `ours` is True if this run of the
        program sent the message."""

    def link_answered(self, token: int, reason_code: int) -> None:
        """Called when the broker acknowledges a published message. `token` is the number under which the message was
        published, and `reason_code` is the code in the broker's PUBACK."""


class Link(Client):
    """One connection to the MQTT broker at `host`, MQTT 5 at QoS 1. The object cannot be used again after the
    connection has ended.

    `own_topic` is the topic on which only this client may publish. The client subscribes to that topic too. From the
    message that the broker retains there, the client sees whether the broker is still the same, and whether another
    client published on the topic. `run` is a random name of this run of the program, and is in every message that the
    client sends on that topic. The topics in `first` are subscribed to before `topics`, so the messages that the broker
    retains on them arrive first. The client does not receive its own messages on `first`.
    """

    def __init__(
        self,
        listener: LinkListener,
        host: str,
        port: int,
        client_id: str,
        keepalive_s: int,
        topics: Sequence[str],
        own_topic: str,
        run: str,
        first: Sequence[str] = (),
    ) -> None:
        super().__init__(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
        )
        self._listener = listener
        self._broker = f"the broker {host}:{port}"
        self._address = host, port
        self._keepalive_s = keepalive_s
        self._topics = topics
        self._first = first
        self._asked_first: int | None = None  # paho's number of that subscription
        self._own_topic = own_topic
        self._run = run
        self._greeted = self._stands = self._over = False
        self._heard_s = time.monotonic()
        self._slow_s = -math.inf  # when a silence of `_silence_s` ended last
        self._silence_s = _SILENT_KEEPALIVES * keepalive_s
        self.in_clear = True
        self.taken_over = False
        """Whether the broker said that another client took our place."""
        self.closed_by_broker = False
        """Whether the broker itself ended the connection without a reason, as an older Mosquitto does where another
        client takes our place. Over TLS that is told from a line that was cut."""
        self._hear()

    def _hear(self) -> None:
        """Set the connection timeout, the limit of messages in flight, and the callbacks that paho calls."""
        self.connect_timeout = CONNECT_TIMEOUT_S
        self.max_inflight_messages_set(_IN_FLIGHT)
        self.on_socket_open = self._opened
        self.on_connect = self._connected
        self.on_subscribe = self._subscribed
        self.on_disconnect = self._disconnected
        self.on_message = self._came
        self.on_publish = self._answered

    def dial(self, tls: ssl.SSLContext | None) -> None:
        """Connect to the broker, and block until the connection is made. The network loop reads the broker's answer
        later. Raises OSError or ValueError."""
        if tls is not None:
            self.in_clear = False
            self.tls_set_context(tls)
        host, port = self._address
        self.connect(host, port, self._keepalive_s, clean_start=True, properties=connect_properties())
        self._heard_s = time.monotonic()

    def leave(self, patience_s: float) -> None:
        """Send MQTT's DISCONNECT, and wait at most `patience_s` seconds until it has been sent. Another thread must run
        the network loop meanwhile."""
        self.disconnect()
        until_s = time.monotonic() + patience_s
        while self.socket() is not None and time.monotonic() < until_s:
            time.sleep(0.005)

    def hang_up(self) -> None:
        """Shut the connection down at once, from any thread, without a call to the listener."""
        self._over = True
        line = self.socket()
        if isinstance(line, socket.socket):
            with contextlib.suppress(OSError):  # the broker was quicker
                line.shutdown(socket.SHUT_RDWR)

    # These methods are private in paho and meant for subclasses. Tests with a hostile broker fail where paho changes
    # them.

    def _loop(self, timeout: float = 1.0) -> MQTTErrorCode:
        """Run one turn of paho's network loop. Any exception that paho raises ends the connection, and the listener
        gets the reason."""
        try:
            outcome = super()._loop(min(timeout, self._keepalive_s / 4))
            if outcome is MQTTErrorCode.MQTT_ERR_SUCCESS:
                self._look_for_life()
        except Exception as error:  # noqa: BLE001  # a packet can make paho raise anything
            outcome = MQTTErrorCode.MQTT_ERR_PROTOCOL
            words = str(error) if isinstance(error, LinkBrokenError) else f"sent what is no MQTT: {_in_a_line(error)}"
            self._end(f"{self._broker} {words}")
            self._sock_close()
        if outcome is not MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._end(f"{self._broker} went away")  # where paho has not told why
        return outcome

    def _look_for_life(self) -> None:
        now_s = time.monotonic()
        if now_s - self._heard_s > self._silence_s:
            raise LinkBrokenError(f"has answered nothing for {self._silence_s:g} s")
        with self._out_message_mutex:
            oldest = next(iter(self._out_messages.values()), None)
        unanswered_s = _UNANSWERED_KEEPALIVES * self._keepalive_s
        if oldest is not None and now_s - oldest.timestamp > unanswered_s:
            raise LinkBrokenError(f"has not answered a message for {unanswered_s:g} s")

    def _sock_recv(self, bufsize: int) -> bytes:
        """Read up to `bufsize` bytes from the broker. paho asks for a packet's whole length, so a packet that is too
        long is refused here. Raises LinkBrokenError."""
        if bufsize > MOST_PACKET_BYTES:
            raise LinkBrokenError(f"sent a packet of {bufsize} bytes, and no message has more than {MOST_PACKET_BYTES}")
        if self._over:
            raise ConnectionError  # bytes that are read after the end are left alone
        data = super()._sock_recv(bufsize)
        now_s = time.monotonic()
        if now_s - self._heard_s > self._silence_s:
            self._slow_s = now_s  # one side stood still, and the broker may end the connection for that
        self._heard_s = now_s
        self.closed_by_broker = not data and not self.in_clear and now_s - self._slow_s > self._silence_s
        return data

    def _packet_handle(self) -> MQTTErrorCode:
        if len(self._out_packet) > _MOST_UNSENT:
            raise LinkBrokenError("sends and does not read")
        return super()._packet_handle()

    def _handle_publish(self) -> MQTTErrorCode:
        """Parse a message from the broker. If paho cannot parse the message, report it to the listener and acknowledge
        it, and keep the connection."""
        qos = (self._in_packet["command"] >> 1) & 3
        if qos > 1:
            raise LinkBrokenError(f"sent a message at QoS {qos}, which nobody subscribed to")
        try:
            return super()._handle_publish()
        except LinkBrokenError:
            raise
        except Exception as error:  # raised by paho: our own callback only passes the message on
            body = bytes(self._in_packet["packet"])
            after_topic = 2 + int.from_bytes(body[:2])
            token = body[after_topic : after_topic + 2]
            if qos and len(token) < 2:
                raise
            topic = body[2:after_topic].decode("utf-8", "backslashreplace")
            self._listener.link_unreadable(topic[:_LONGEST_LINE], _in_a_line(error))
            return self._send_puback(int.from_bytes(token)) if qos else MQTTErrorCode.MQTT_ERR_SUCCESS

    # What paho tells.

    def _opened(self, _client: Client, _data: Any, line: Any) -> None:
        if isinstance(line, ssl.SSLSocket):
            # So a cut line raises, and only an end by the broker itself reads as an end.
            line.suppress_ragged_eofs = False  # type: ignore[attr-defined]  # typeshed leaves it out
        # A packet does not wait until the packet before has arrived, which the kernel may take 40 ms to say.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _connected(self, _client: Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        if reason.is_failure:
            self._end(f"the broker refused the connection: {reason}")
        elif not self._greeted and self._first:
            self._asked_first = self.subscribe([(topic, _without_ours()) for topic in self._first])[1]
        elif not self._greeted:
            self._ask_for_topics()
        self._greeted = True

    def _ask_for_topics(self) -> None:
        topics = [(topic, SubscribeOptions(qos=1)) for topic in self._topics]
        self.subscribe([*topics, (self._own_topic, _without_ours())])

    def _subscribed(self, _client: Client, _data: Any, mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        first, self._asked_first = mid == self._asked_first, None
        asked = self._first if first else self._topics  # the own topic comes last, and may be refused
        refused = [topic for topic, code in zip(asked, codes, strict=False) if code.is_failure]
        if refused:
            self._end(f"the broker refused the subscription to {', '.join(refused)}")
        elif first:
            self._ask_for_topics()
        elif not self._stands and not self._over:
            self._stands = True
            self._listener.link_stands()

    def _disconnected(self, _client: Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        self.taken_over = reason.value == _SESSION_TAKEN_OVER
        if self._greeted:
            self._end(f"{self._broker} went away: {reason}")
        else:  # TLS 1.3 tells a client that its certificate is refused after the handshake, if at all
            hint = "it does not speak MQTT without TLS" if self.in_clear else "it refuses this certificate"
            self._end(f"{self._broker} hung up before a word; perhaps {hint}: see its log")

    def _came(self, _client: Client, _data: Any, message: Any) -> None:
        if message.topic != self._own_topic:
            self._listener.link_message(message.topic, bytes(message.payload), message.retain)
        elif message.payload:  # an empty message only takes back what was retained
            said = getattr(message.properties, "UserProperty", [])
            self._listener.link_own_topic((RUN, self._run) in said)

    def _answered(self, _client: Client, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        self._listener.link_answered(mid, int(reason.value))

    def _end(self, why: str) -> None:
        if not self._over:
            self._over = True
            self._listener.link_ended(why)


def _without_ours() -> SubscribeOptions:
    """Return the options of an MQTT subscription that brings retained messages and other clients' messages, but not the
    messages that this client publishes."""
    return SubscribeOptions(qos=1, noLocal=True)


def new_run() -> str:
    """Return a random name for this run of the program, which no other run has."""
    return secrets.token_hex(8)


def _properties(packet: int) -> Properties:
    """Return empty MQTT properties for a packet of this type, one of paho's PacketTypes."""
    return Properties(packet)  # type: ignore[no-untyped-call]  # paho, typed elsewhere, gives this constructor no types


def connect_properties() -> Properties:
    """Return the MQTT properties with which a client connects. They ask the broker to send no packet longer than
    `MOST_PACKET_BYTES`."""
    properties = _properties(PacketTypes.CONNECT)
    properties.MaximumPacketSize = MOST_PACKET_BYTES
    return properties


def user_properties(packet: int, **named: str) -> Properties:
    """Return the given pairs as MQTT user properties for a packet of this type, one of paho's PacketTypes."""
    properties = _properties(packet)
    for pair in named.items():
        properties.UserProperty = pair
    return properties


class Cuts:
    """Counts how often working connections to the MQTT broker have ended in the last ten minutes. Times are seconds of
    a monotonic clock."""

    def __init__(self) -> None:
        self._at_s: deque[float] = deque()
        self._told_at_s: float | None = None

    def cut(self, now_s: float) -> bool:
        """Count one more working connection that ended. Returns True if people should be told about it now, which is at
        most once a minute."""
        self._at_s.append(now_s)
        self._forget(now_s)
        if self._told_at_s is not None and now_s - self._told_at_s < _CUTS_TOLD_EVERY_S:
            return False
        self._told_at_s = now_s
        return True

    def often(self, now_s: float) -> str:
        """Return a sentence for people if the connection to the broker was cut often lately, or else an empty
        string."""
        self._forget(now_s)
        if len(self._at_s) < _OFTEN:
            return ""
        minutes = max(1, round((now_s - self._at_s[0]) / 60))
        lately = "the last minute" if minutes == 1 else f"the last {minutes} minutes"
        return f"the link was cut {len(self._at_s)} times in {lately}"

    def _forget(self, now_s: float) -> None:
        while self._at_s and now_s - self._at_s[0] > _CUTS_COUNT_FOR_S:
            self._at_s.popleft()


class Rival:
    """Detects that another MQTT client takes this client's place at the broker. Pure.

    Connections are cut for other reasons too, so the number of cut connections is no sign. Two signs within ten minutes
    are enough:

    - A foreign message comes on this client's own topic after the broker had accepted a message of this client there.
    - The broker itself closes a connection, over TLS and without a reason, and the next connection finds all retained
      messages still in place.

    MQTT 5 also has a reason code for this case. If the broker sends that code, it is enough alone. Mosquitto sends it
    from version 2.0.15 on.
    """

    def __init__(self) -> None:
        self._wrote = False
        self._closed = False
        self._signs_s: deque[float] = deque(maxlen=_SIGNS)

    def wrote(self) -> None:
        """Note that the broker accepted a message of this client on the client's own topic."""
        self._wrote = True

    def ended(self, taken_over: bool, closed_by_broker: bool, now_s: float) -> bool:
        """Note that a working connection has ended. `taken_over` is True if the broker said that another client took
        this client's place. `closed_by_broker` is True if the broker closed the connection, over TLS and without a
        reason. Returns True if another client seems to push this client off the broker."""
        self._closed = closed_by_broker
        if taken_over:
            self._signs_s.extend([now_s] * _SIGNS)
        return self.there(now_s)

    def own_topic(self, ours: bool, now_s: float) -> bool:
        """Note that a message arrived on the topic where only this client may publish. `ours` is True if this run of
        the program sent it. Returns True if another client seems to push this client off the broker."""
        if not self._wrote:
            return False  # perhaps the message of an earlier run
        if not ours or self._closed:
            self._signs_s.append(now_s)
        self._closed = False
        return self.there(now_s)

    def there(self, now_s: float) -> bool:
        """Return True if, by the signs of the last ten minutes, another client pushes this client off the broker."""
        return len(self._signs_s) == _SIGNS and now_s - self._signs_s[0] <= _SIGNS_COUNT_FOR_S


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_LINE]
