"""Connects a table to its MQTT broker through the library paho: MQTT 5, at QoS 1.

paho keeps messages in memory and sends them again after a reconnect, even on a clean session. But the journal's list of
unsent events must be the only queue. So each connection gets a new client, which is thrown away with the connection,
and nothing is published without a connection. paho runs in a thread of its own. Whatever that thread hears is handed to
the event loop, and the amount that waits for the loop is limited.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from controller.basics.errors import TableError
from controller.contract.wire.mqtt_link import (
    CONNECT_TIMEOUT_S,
    RUN,
    Cuts,
    Link,
    LinkBrokenError,
    Rival,
    await_thread,
    new_run,
    user_properties,
)
from drivers.devices import BrokerListener

_log = logging.getLogger(__name__)

_FIRST_RETRY_S = 0.2
_LONGEST_RETRY_S = 5.0
_RIVAL_RETRY_S = 10.0  # the other client with our id connects again too, and each connection ends the other one
_GOODBYE_S = 1.0
_MOST_WAITING_BYTES = 1_000_000  # of messages that wait for the loop: thousands, where a pit sends a few
_HOP_BYTES = 500  # the memory that a message takes beside its payload


class Will(Struct, frozen=True):
    """The table's MQTT will: a retained message that the broker publishes if the table's connection ends without a
    DISCONNECT packet.

    On a clean end the table publishes the same message itself. No other client publishes on this message's topic.
    """

    topic: str
    payload: bytes


class MqttBroker:
    """One table's connection to its MQTT broker. The connection counts as up when `topics` are subscribed to.

    If there are several `hosts`, one serves at a time. A connection that was up and ends is first made again to the
    same host. After a failed attempt the next host has its turn.

    `tls` makes the TLS context of each connection anew, or raises TableError. If `tls` is given, no connection is ever
    made without TLS.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        port: int,
        client_id: str,
        keepalive_s: int,
        will: Will,
        topics: Sequence[str],
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._hosts = hosts
        self._place = 0  # of the host whose turn it is
        self._port = port
        self._client_id = client_id
        self._keepalive_s = keepalive_s
        self._will = will
        self._topics = topics
        self._tls = tls
        self._run = new_run()
        self._rivals = [Rival() for _ in hosts]  # one for each broker: what one retains says nothing of another broker
        self._cuts = Cuts()
        self._connection: _Connection | None = None  # the connection that is being made, or stands
        self._link: Link | None = None  # while the connection is up
        self._own_words: set[int] = set()  # the tokens of unanswered messages on our own topic

    @property
    def address(self) -> str:
        """The host and port of the broker that is connected now, or that is being tried."""
        return f"{self._hosts[self._place]}:{self._port}"

    @property
    def has_others(self) -> bool:
        """True if the table's file names more than one broker."""
        return len(self._hosts) > 1

    @property
    def _rival(self) -> Rival:
        return self._rivals[self._place]

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected to the broker and tell the listener what happens, until cancelled. At the end publish the
        message of the table's will, and disconnect."""
        now_s = asyncio.get_running_loop().time
        retry_s = _FIRST_RETRY_S
        logged: dict[str, str] = {}  # by broker, why its connection ended last
        while True:
            connection = self._connection = _Connection(asyncio.get_running_loop(), self, listener)
            link = self._new_link(connection)
            try:
                await self._connect(link, connection)
                stood = await connection.stands()
                why = await connection.ended
            finally:
                up, self._link = self._link is link, None
                await asyncio.shield(asyncio.to_thread(self._end, link, up and not connection.ended.done()))
            if stood:
                retry_s, to_tell = _FIRST_RETRY_S, self._cuts.cut(now_s())
                if self._rival.ended(link.taken_over, link.closed_by_broker, now_s()):
                    retry_s = _RIVAL_RETRY_S
                    listener.broker_id_taken()
                if often := self.often_cut():
                    why = f"{why}; {often}"
            else:
                to_tell = why != logged.get(self.address)
            logged[self.address] = why
            _log.log(logging.WARNING if to_tell else logging.DEBUG, "%s", why)
            listener.broker_disconnected(why)
            if connection.moves or not stood:
                self._place = (self._place + 1) % len(self._hosts)
            if connection.moves:
                continue
            await asyncio.sleep(retry_s)
            if self._place == 0:  # each host has had its turn
                retry_s = min(2 * retry_s, max(retry_s, _LONGEST_RETRY_S))

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish a message at QoS 1, with `event_type` as an MQTT user property.

        Return the token with which `broker_answered` will be called, or None if nothing was sent.
        """
        if self._link is None:
            return None
        own = topic == self._will.topic
        info = self._link.publish(topic, payload, 1, retain, _own(self._run) if own else _event(event_type))
        if info.rc is not MQTTErrorCode.MQTT_ERR_SUCCESS:
            return None
        if own:
            self._own_words.add(info.mid)
        return info.mid

    def drop(self, why: str, move: bool = False) -> None:
        """End the connection to the broker, for the reason `why`. `run` makes the next connection. With `move` it does
        so without waiting, and to the next host."""
        if self._connection is not None and not self._connection.ended.done():
            self._connection.moves = move
            self._connection.end(why)

    def often_cut(self) -> str:
        """Return a sentence for people if the connection to the broker ends often; otherwise an empty text."""
        return self._cuts.often(asyncio.get_running_loop().time())

    async def _connect(self, link: Link, connection: _Connection) -> None:
        broker = f"the broker {self.address}"
        try:
            await asyncio.to_thread(self._dial, link)
            link.loop_start()
        except TableError as error:
            connection.end(f"no connection to {broker}: {error.what}")
        except ssl.SSLCertVerificationError as error:
            connection.end(f"the certificate of {broker} cannot be trusted: {error.verify_message}")
        except ssl.SSLError as error:
            connection.end(f"no TLS with {broker}: {error.reason or error}")
        except (OSError, ValueError) as error:  # ValueError: the text cannot be a host
            connection.end(f"cannot reach {broker}: {error}")

    def _dial(self, link: Link) -> None:
        link.dial(None if self._tls is None else self._tls())

    def _new_link(self, connection: _Connection) -> Link:
        link = Link(
            connection,
            self._hosts[self._place],
            self._port,
            self._client_id,
            self._keepalive_s,
            self._topics,
            self._will.topic,
            self._run,
        )
        will = user_properties(PacketTypes.WILLMESSAGE, **{RUN: self._run})
        link.will_set(self._will.topic, self._will.payload, qos=1, retain=True, properties=will)
        connection.link = link
        return link

    def _end(self, link: Link, say_goodbye: bool) -> None:
        """Close a connection to the broker. If `say_goodbye` is set, first publish the message of the table's will.

        This runs in a thread, because paho waits for its own thread to end.
        """
        if say_goodbye and link.is_connected():
            info = link.publish(self._will.topic, self._will.payload, 1, True, _own(self._run))
            try:
                info.wait_for_publish(_GOODBYE_S)
            except (RuntimeError, ValueError) as error:
                _log.debug("no goodbye: %s", error)
            link.leave(_GOODBYE_S)
        link.hang_up()
        await_thread(link)

    # What the connection reports, on the loop.

    def came_up(self, connection: _Connection, listener: BrokerListener) -> None:
        """Take note that the connection to the broker is up. Tell the listener at once, before the broker's retained
        messages are passed on."""
        if connection.ended.done():
            return
        _log.log(logging.DEBUG if self.often_cut() else logging.INFO, "connected to the broker %s", self.address)
        self._link = connection.link
        self._own_words.clear()
        connection.up.set_result(None)
        listener.broker_connected()

    def answered(self, listener: BrokerListener, token: int, reason_code: int) -> None:
        """Pass the broker's PUBACK (its answer to a published message) on to the listener."""
        if token in self._own_words:
            self._own_words.discard(token)
            if reason_code < 0x80:
                self._rival.wrote()
        listener.broker_answered(token, reason_code)

    def own_topic(self, listener: BrokerListener, ours: bool) -> None:
        """Take note of a message on the table's own topic. `ours` is True if this run of the table published the
        message. Otherwise another client published it, and possibly uses this table's client id."""
        if self._rival.own_topic(ours, asyncio.get_running_loop().time()):
            listener.broker_id_taken()


@cache
def _event(event_type: str | None) -> Properties:
    """Return the MQTT properties for an event of this type. They are cached for each type, because paho takes long to
    make them."""
    named = {} if event_type is None else {"type": event_type}
    return user_properties(PacketTypes.PUBLISH, **named)


@cache
def _own(run: str) -> Properties:
    """Return the MQTT properties for a message on the table's own topic. They name this run of the table's program."""
    return user_properties(PacketTypes.PUBLISH, **{RUN: run})


class _Connection:
    """One connection to the broker. It hands what paho's thread hears over to the event loop. A connection comes up at
    most once and ends once."""

    link: Link

    def __init__(self, loop: asyncio.AbstractEventLoop, broker: MqttBroker, listener: BrokerListener) -> None:
        self._loop = loop
        self._broker = broker
        self._listener = listener
        self.up: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.moves = False  # whether this connection ends so that the next host is tried
        self._taken_bytes = 0  # counted in paho's thread
        self._landed_bytes = 0  # counted on the loop

    # In paho's thread.

    def link_stands(self) -> None:
        self._hop(self._broker.came_up, self, self._listener)

    def link_ended(self, why: str) -> None:
        self._hop(self.end, why)

    def link_message(self, topic: str, payload: bytes, retained: bool) -> None:
        self._hop(self._listener.broker_message, topic, payload, retained, extra_bytes=len(payload))

    def link_unreadable(self, topic: str, why: str) -> None:
        self._hop(self._listener.broker_unreadable, topic, why)

    def link_own_topic(self, ours: bool) -> None:
        self._hop(self._broker.own_topic, self._listener, ours)

    def link_answered(self, token: int, reason_code: int) -> None:
        self._hop(self._broker.answered, self._listener, token, reason_code)

    def _hop(self, call: Callable[..., None], *args: object, extra_bytes: int = 0) -> None:
        """Let the event loop make the call `call(*args)`. If the call raises, `MqttBroker.run` raises the same. If the
        loop is closed, do nothing. `extra_bytes` is the size of the message's payload, if the call has one.

        Raises LinkBrokenError if calls with too many bytes already wait for the loop, unless the call is `end`.
        """
        size = _HOP_BYTES + extra_bytes
        if self._taken_bytes - self._landed_bytes > _MOST_WAITING_BYTES and call != self.end:
            raise LinkBrokenError("sends more than this table can hear")
        self._taken_bytes += size
        try:
            self._loop.call_soon_threadsafe(self._land, size, call, *args)
        except RuntimeError:
            _log.debug("the loop is closed")

    # On the loop.

    def _land(self, size: int, call: Callable[..., None], *args: object) -> None:
        self._landed_bytes += size
        try:
            call(*args)
        except Exception as error:  # noqa: BLE001  # whatever was raised, `run` raises it again
            if not self.ended.done():
                self.ended.set_exception(error)

    def end(self, why: str) -> None:
        """End this connection to the broker, for the reason `why`. If it has ended already, the first reason counts."""
        if not self.ended.done():
            self.ended.set_result(why)

    async def stands(self) -> bool:
        """Wait until the connection to the broker is up, and return True. If the connection ends first, return False.
        If it does not come up in time, end it and return False."""
        await asyncio.wait((self.up, self.ended), timeout=CONNECT_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        if not self.up.done():
            self.end("the broker took the connection and did not answer")
        return self.up.done()
