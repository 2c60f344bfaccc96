"""A test's own Mosquitto broker, and other clients of it, made with paho alone and without the product."""

from __future__ import annotations

import getpass
import queue
import ssl
import subprocess
from pathlib import Path
from typing import Self

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.contract.wire.mqtt_link import await_thread
from controller.people.cli import programs
from tests.support.waiting import PATIENCE_S, eventually_now

MOSQUITTO = programs.mosquitto_program()
needs_mosquitto = pytest.mark.skipif(MOSQUITTO is None, reason="needs mosquitto, which is not installed here")

OPEN = """\
listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_queued_messages 10000
"""
"""A configuration. The last line is as shipped: at its own 1,000 it drops what a busy pit has not taken."""


class Broker:
    """A Mosquitto broker with this configuration, on a port of its own. It remembers nothing over a restart.

    `access_list` says what the broker's clients may do; without it they may do everything. If Mosquitto is not
    installed, the test is skipped.
    """

    def __init__(self, folder: Path, config: str = OPEN, access_list: str = "", port: int = 0) -> None:
        self.port = port or programs.free_port()
        self.log = folder / "mosquitto.log"
        text = config.replace("{port}", str(self.port)).replace("/etc/mosquitto/", f"{folder}/")
        if access_list:
            (folder / "acl").write_text(access_list, "utf-8")
            text += "" if "acl_file" in text else f"acl_file {folder / 'acl'}\n"
        # Else root becomes somebody who may not read the test's folder.
        (folder / "mosquitto.conf").write_text(f"{text}\nuser {getpass.getuser()}\n", "utf-8")
        if MOSQUITTO is None:
            pytest.skip("Mosquitto is not installed")
        self.command = [MOSQUITTO, "-c", str(folder / "mosquitto.conf")]

    def start(self) -> Self:
        """Start the broker, and wait until it says that it runs."""
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out)
        eventually_now(lambda: self.process.poll() is not None or "running" in self.log.read_text())
        assert self.process.poll() is None, self.log.read_text()
        return self

    def stop(self) -> None:
        """Ask the broker to end."""
        programs.stop(self.process)

    def kill(self) -> None:
        """Kill the broker."""
        self.process.kill()
        self.process.wait()

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()


class Peer:
    """A connected client of the broker, which subscribes to `topics`. If the broker does not let the client hear a
    topic, Mosquitto does not say so."""

    def __init__(self, port: int, *topics: str, host: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> None:
        self._messages: queue.SimpleQueue[MQTTMessage] = queue.SimpleQueue()
        self._codes: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        if context is not None:
            self._client.tls_set_context(context)
        self._client.max_inflight_messages_set(1000)
        ready: queue.SimpleQueue[bool] = queue.SimpleQueue()

        def on_connect(client: Client, *_: object) -> None:
            if topics:
                client.subscribe([(topic, 1) for topic in topics])
            else:
                ready.put(True)

        self._client.on_connect = on_connect
        self._client.on_subscribe = lambda *_: ready.put(True)
        self._client.on_message = lambda _client, _data, message: self._messages.put(message)
        self._client.on_publish = lambda _client, _data, mid, code, _properties: self._codes.put((mid, code.value))
        self._client.connect(host, port)
        self._client.loop_start()
        ready.get(timeout=PATIENCE_S)

    def publish(self, topic: str, payload: bytes = b"{}", retain: bool = False) -> int:
        """Publish a message, and return the reason code of the broker's answer."""
        published = self._client.publish(topic, payload, qos=1, retain=retain)
        while (answered := self._codes.get(timeout=PATIENCE_S))[0] != published.mid:
            pass  # the answer to something that was only sent
        return answered[1]

    def send(self, topic: str, *payloads: bytes) -> None:
        """Publish messages without waiting for the broker's answers, as a table does."""
        for payload in payloads:
            self._client.publish(topic, payload, qos=1)

    def next(self) -> MQTTMessage:
        """Wait for the next message, and return it."""
        try:
            return self._messages.get(timeout=PATIENCE_S)
        except queue.Empty:
            pytest.fail("waited in vain for a message")

    def hears(self) -> tuple[str, bytes]:
        """Wait for the next message, and return its topic and payload."""
        message = self.next()
        return message.topic, bytes(message.payload)

    def so_far(self) -> list[MQTTMessage]:
        """Return the messages that have come and that no other method has returned."""
        return [self._messages.get_nowait() for _ in range(self._messages.qsize())]

    def close(self) -> None:
        """Disconnect from the broker."""
        self._client.disconnect()
        await_thread(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
