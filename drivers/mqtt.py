"""The MQTT broker through paho, MQTT 5 at QoS 1.

paho keeps messages in memory and re-sends them after a reconnect even on a clean session. The journal's outbox is the
only queue here, so each connection gets a new client that is thrown away with it, and nothing is published without
one. paho runs in a thread of its own; an exception in one of its callbacks would end that thread while it still claims
to be connected, so the callbacks only hop over to the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.devices import BrokerListener
from controller.errors import TableError

_log = logging.getLogger(__name__)

_FIRST_RETRY_S = 0.2
_LONGEST_RETRY_S = 5.0
_PUSHED_OUT_RETRY_S = 10.0  # whoever has our id comes back too, and hurrying would only push each other out
_PUSHED_OUT = 5  # times in a row, each connection shorter than this:
_SHORT_S = 30.0
_CONNECT_TIMEOUT_S = 5.0
_IN_FLIGHT = 100  # more than the stream's window and the states beside it: paho must not queue
_SESSION_TAKEN_OVER = 0x8E  # MQTT 5
_WITHOUT_A_WORD = 0x80  # paho's, where the line was cut


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker publishes, retained, when this connection ends without a word; published on a clean end too."""

    topic: str
    payload: bytes


class MqttBroker:
    """One table's connection to its broker. `topics` are subscribed to on every connection before it counts as up.

    `tls` makes the context of each connection anew, or raises TableError; there is then never one in the clear.
    """

    def __init__(
        self,
        host: str,
        port: int,
        client_id: str,
        keepalive_s: int,
        will: Will,
        topics: Sequence[str],
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._host = host
        self._port = port
        self._client_id = client_id
        self._keepalive_s = keepalive_s
        self._will = will
        self._topics = topics
        self._tls = tls
        self._client: Client | None = None  # while the connection is up

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected and tell the listener, until cancelled; then say goodbye with the will's words."""
        retry_s = _FIRST_RETRY_S
        told, pushed_out = "", 0
        while True:
            connection = _Connection(asyncio.get_running_loop())
            client = self._new_client(connection, listener)
            try:
                await self._connect(client, connection)
                if await connection.stands():
                    told, retry_s = "", _FIRST_RETRY_S
                why = await connection.ended
            finally:
                up, self._client = self._client is client, None
                await asyncio.shield(asyncio.to_thread(self._end, client, up))
            _log.log(logging.DEBUG if why == told else logging.WARNING, "%s", why)
            told = why
            pushed_out = connection.pushed_out(pushed_out)
            if pushed_out >= _PUSHED_OUT:
                listener.broker_id_taken()
            listener.broker_disconnected(why)
            await asyncio.sleep(_PUSHED_OUT_RETRY_S if pushed_out >= _PUSHED_OUT else retry_s)
            retry_s = min(2 * retry_s, _LONGEST_RETRY_S)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish at QoS 1; `event_type` goes into a user property. The token is answered by `broker_answered`."""
        if self._client is None:
            return None
        info = self._client.publish(topic, payload, qos=1, retain=retain, properties=_properties(event_type))
        return info.mid if info.rc is MQTTErrorCode.MQTT_ERR_SUCCESS else None

    async def _connect(self, client: Client, connection: _Connection) -> None:
        broker = f"the broker {self._host}:{self._port}"
        try:
            await asyncio.to_thread(self._dial, client)
            client.loop_start()
        except TableError as error:
            connection.end(f"no connection to {broker}: {error.what}")
        except ssl.SSLCertVerificationError as error:
            connection.end(f"{broker} is not to be trusted: {error.verify_message}")
        except ssl.SSLError as error:
            connection.end(f"no TLS with {broker}: {error.reason or error}")
        except (OSError, ValueError) as error:  # the latter for a host that cannot be one
            connection.end(f"cannot reach {broker}: {error}")

    def _dial(self, client: Client) -> None:
        if self._tls is not None:
            client.tls_set_context(self._tls())
        client.connect(self._host, self._port, self._keepalive_s, clean_start=True)

    def _come_up(self, connection: _Connection, client: Client, listener: BrokerListener) -> None:
        """The connection stands. Told at once: the messages retained for it are next in line."""
        if connection.ended.done():
            return
        _log.info("connected to the broker %s:%d", self._host, self._port)
        self._client = client
        connection.up.set_result(None)
        listener.broker_connected()

    def _new_client(self, connection: _Connection, listener: BrokerListener) -> Client:
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=self._client_id,
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
        )
        client.connect_timeout = _CONNECT_TIMEOUT_S
        client.max_inflight_messages_set(_IN_FLIGHT)
        client.will_set(self._will.topic, self._will.payload, qos=1, retain=True)

        def on_connect(_client: Client, _data: Any, _flags: Any, reason_code: Any, _properties: Any) -> None:
            connection.greeted = True
            if reason_code.is_failure:
                connection.hop(connection.end, f"the broker refused the connection: {reason_code}")
            else:
                # The table's own state comes too, if the broker retains it: then this is the broker of before.
                client.subscribe(
                    [
                        *((topic, SubscribeOptions(qos=1)) for topic in self._topics),
                        (self._will.topic, SubscribeOptions(qos=1, noLocal=True)),
                    ]
                )

        def on_subscribe(_client: Client, _data: Any, _mid: int, codes: list[Any], _properties: Any) -> None:
            refused = [topic for topic, code in zip(self._topics, codes, strict=False) if code.is_failure]
            if refused:
                connection.hop(connection.end, f"the broker refused the subscription to {', '.join(refused)}")
            else:
                connection.hop(self._come_up, connection, client, listener)

        def on_disconnect(_client: Client, _data: Any, _flags: Any, reason_code: Any, _properties: Any) -> None:
            connection.reason_code = reason_code.value
            broker = f"the broker {self._host}:{self._port}"
            if connection.greeted:
                connection.hop(connection.end, f"{broker} went away: {reason_code}")
            else:  # TLS 1.3 tells a client that its certificate is refused after the handshake, if at all
                hint = "it does not speak MQTT in the clear" if self._tls is None else "it refuses this certificate"
                connection.hop(connection.end, f"{broker} hung up before a word; perhaps {hint}: see its log")

        def on_message(_client: Client, _data: Any, message: Any) -> None:
            if message.topic == self._will.topic:
                connection.same_broker = True
            else:
                connection.hop(listener.broker_message, message.topic, bytes(message.payload), message.retain)

        def on_publish(_client: Client, _data: Any, mid: int, reason_code: Any, _properties: Any) -> None:
            connection.hop(listener.broker_answered, mid, int(reason_code.value))

        client.on_socket_open = _send_at_once
        client.on_connect = on_connect
        client.on_subscribe = on_subscribe
        client.on_disconnect = on_disconnect
        client.on_message = on_message
        client.on_publish = on_publish
        return client

    def _end(self, client: Client, say_goodbye: bool) -> None:
        """Let go of a client, in a thread: paho joins its own."""
        if say_goodbye and client.is_connected():
            info = client.publish(self._will.topic, self._will.payload, qos=1, retain=True)
            try:
                info.wait_for_publish(1.0)
            except (RuntimeError, ValueError) as error:
                _log.debug("no goodbye: %s", error)
        client.disconnect()
        client.loop_stop()


@cache
def _properties(event_type: str | None) -> Properties:
    """A publish's properties, which are the same for all events of a type: paho takes its time to make them."""
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    if event_type is not None:
        properties.UserProperty = ("type", event_type)
    return properties


def _send_at_once(_client: Client, _data: Any, connection: Any) -> None:
    """A packet does not wait for the one before to have arrived: the kernel may take 40 ms to say so."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class _Connection:
    """One connection's way from paho's thread to the loop: up once, ended once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.up: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()
        # These are written in paho's thread.
        self.greeted = False  # by the broker's CONNACK
        self.same_broker = False  # it retains what a connection before this one said
        self.reason_code = 0  # of its end
        self._began_s = loop.time()

    def hop(self, call: Callable[..., None], *args: object) -> None:
        """Call on the loop, from paho's thread; what it raises ends `run`. After the loop's end nobody is told."""
        try:
            self._loop.call_soon_threadsafe(self._call, call, *args)
        except RuntimeError:
            _log.debug("the loop is closed")

    def _call(self, call: Callable[..., None], *args: object) -> None:
        try:
            call(*args)
        except Exception as error:  # noqa: BLE001  # whatever it is, it goes on in `run`
            if not self.ended.done():
                self.ended.set_exception(error)

    def end(self, why: str) -> None:
        if not self.ended.done():
            self.ended.set_result(why)

    def pushed_out(self, before: int) -> int:
        """How many times in a row another client seems to have taken our place, this ended connection included.

        MQTT 5 has a word for it, but Mosquitto says it only from 2.0.15 on. An older one just closes the connection.
        Once that may be anything; again and again, by a broker that has not been restarted, it is somebody with our id.
        """
        if self.reason_code == _SESSION_TAKEN_OVER:
            return _PUSHED_OUT
        if not self.up.done() or not self.same_broker or self.reason_code != _WITHOUT_A_WORD:
            return 0
        return before + 1 if self._loop.time() - self._began_s < _SHORT_S else 1

    async def stands(self) -> bool:
        """Wait for the connection to stand; one that does not in time has ended."""
        await asyncio.wait((self.up, self.ended), timeout=_CONNECT_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        if not self.up.done():
            self.end("the broker took the connection and did not answer")
        return self.up.done()
