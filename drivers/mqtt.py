"""The MQTT broker through paho, MQTT 5 at QoS 1.

paho keeps messages in memory and re-sends them after a reconnect even on a clean session. The journal's outbox is the
only queue here, so each connection gets a new client that is thrown away with it, and nothing is published without
one. paho runs in a thread of its own; an exception in one of its callbacks would end that thread while it still claims
to be connected, so the callbacks only hop over to the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.devices import BrokerListener

_log = logging.getLogger(__name__)

_FIRST_RETRY_S = 0.2
_LONGEST_RETRY_S = 5.0
_CONNECT_TIMEOUT_S = 5.0
_IN_FLIGHT = 100  # more than the stream's window and the states beside it: paho must not queue


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker publishes, retained, when this connection ends without a word; published on a clean end too."""

    topic: str
    payload: bytes


class MqttBroker:
    """One table's connection to its broker. `topics` are subscribed to on every connection before it counts as up."""

    def __init__(
        self, host: str, port: int, client_id: str, keepalive_s: int, will: Will, topics: Sequence[str]
    ) -> None:
        self._host = host
        self._port = port
        self._client_id = client_id
        self._keepalive_s = keepalive_s
        self._will = will
        self._topics = topics
        self._client: Client | None = None  # while the connection is up

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected and tell the listener, until cancelled; then say goodbye with the will's words."""
        retry_s = _FIRST_RETRY_S
        told = ""
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
            listener.broker_disconnected(why)
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, _LONGEST_RETRY_S)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish at QoS 1; `event_type` goes into a user property. The token is answered by `broker_answered`."""
        if self._client is None:
            return None
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        if event_type is not None:
            properties.UserProperty = ("type", event_type)
        info = self._client.publish(topic, payload, qos=1, retain=retain, properties=properties)
        return info.mid if info.rc is MQTTErrorCode.MQTT_ERR_SUCCESS else None

    async def _connect(self, client: Client, connection: _Connection) -> None:
        try:
            await asyncio.to_thread(client.connect, self._host, self._port, self._keepalive_s, clean_start=True)
            client.loop_start()
        except (OSError, ValueError) as error:  # the latter for a host that cannot be one
            connection.end(f"cannot reach the broker {self._host}:{self._port}: {error}")

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
            if reason_code.is_failure:
                connection.hop(connection.end, f"the broker refused the connection: {reason_code}")
            else:
                client.subscribe([(topic, SubscribeOptions(qos=1)) for topic in self._topics])

        def on_subscribe(_client: Client, _data: Any, _mid: int, codes: list[Any], _properties: Any) -> None:
            refused = [topic for topic, code in zip(self._topics, codes, strict=False) if code.is_failure]
            if refused:
                connection.hop(connection.end, f"the broker refused the subscription to {', '.join(refused)}")
            else:
                connection.hop(self._come_up, connection, client, listener)

        def on_disconnect(_client: Client, _data: Any, _flags: Any, reason_code: Any, _properties: Any) -> None:
            connection.hop(connection.end, f"the broker {self._host}:{self._port} went away: {reason_code}")

        def on_message(_client: Client, _data: Any, message: Any) -> None:
            connection.hop(listener.broker_message, message.topic, bytes(message.payload))

        def on_publish(_client: Client, _data: Any, mid: int, reason_code: Any, _properties: Any) -> None:
            connection.hop(listener.broker_answered, mid, int(reason_code.value))

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


class _Connection:
    """One connection's way from paho's thread to the loop: up once, ended once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.up: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()

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

    async def stands(self) -> bool:
        """Wait for the connection to stand; one that does not in time has ended."""
        await asyncio.wait((self.up, self.ended), timeout=_CONNECT_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        if not self.up.done():
            self.end("the broker took the connection and did not answer")
        return self.up.done()
