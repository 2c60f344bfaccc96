"""A pit's broker as it is shipped, with certificates of a bench's CA; and clients of it that need no product code."""

from __future__ import annotations

import getpass
import queue
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.cli.certs import BenchCa
from controller.cli.surroundings import free_port, mosquitto_program, started
from controller.delivery.mqtt_tls import TlsFiles
from tests.daemon.daemon_world import PATIENCE_S, eventually_now

SHIPPED = Path(__file__).parents[2] / "config" / "mosquitto"
HOST = "localhost"
CLIENTS = ("royal9-01", "royal9-02", "pit", "bets")


class House:
    """The broker on `localhost:port`, and everybody's PEM files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.ca = BenchCa()
        (folder / "ca.crt").write_bytes(self.ca.certificate)
        for name in CLIENTS:
            write(folder, name, self.ca.issue(name))
        self.broker = write(folder, "broker", self.ca.issue(HOST))

    def files(self, name: str) -> TlsFiles:
        """The PEM files of one client."""
        return TlsFiles(self.folder / "ca.crt", self.folder / f"{name}.crt", self.folder / f"{name}.key")

    def config(self, revoking: bool = False) -> str:
        """The shipped configuration, but for where its files lie, its port, and the user it runs as.

        Where it is `revoking`, the line that names the list of revoked certificates is no comment.
        """
        text = (SHIPPED / "mosquitto.conf").read_text("utf-8")
        assert "listener 8883\n" in text
        if revoking:
            assert "\n#crlfile " in text
            text = text.replace("\n#crlfile ", "\ncrlfile ")
        text = text.replace("listener 8883\n", f"listener {self.port} 127.0.0.1\n")
        return text.replace("/etc/mosquitto/", f"{self.folder}/") + f"user {getpass.getuser()}\n"


def write(folder: Path, name: str, pair: tuple[bytes, bytes]) -> tuple[Path, Path]:
    """Put a certificate and its key at NAME.crt and NAME.key."""
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    for path, pem in zip(paths, pair, strict=True):
        path.write_bytes(pem)
    return paths


@contextmanager
def running_house(folder: Path) -> Iterator[House]:
    """The shipped broker, running; skips where there is no Mosquitto."""
    house = House(folder)
    with broker_of(house):
        yield house


@contextmanager
def broker_of(house: House, revoking: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """A house's broker, running; it remembers nothing of an earlier run."""
    program = mosquitto_program()
    if program is None:
        pytest.skip("Mosquitto is not installed")
    shutil.copy(SHIPPED / "acl", house.folder / "acl")
    config, log = house.folder / "mosquitto.conf", house.folder / "mosquitto.log"
    config.write_text(house.config(revoking), "utf-8")
    log.unlink(missing_ok=True)
    with started([program, "-c", str(config)], log) as process:
        eventually_now(lambda: process.poll() is not None or "running" in log.read_text())
        assert process.poll() is None, log.read_text()
        yield process


class Peer:
    """A client of the broker by paho alone, with one of its certificates."""

    def __init__(self, house: House, name: str, topics: Sequence[str] = ()) -> None:
        self.messages: queue.SimpleQueue[MQTTMessage] = queue.SimpleQueue()
        self._codes: queue.SimpleQueue[int] = queue.SimpleQueue()
        files = house.files(name)
        context = ssl.create_default_context(cafile=files.ca)
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # what Python 3.13 asks of a certificate
        context.load_cert_chain(files.certificate, files.private_key)
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        self._client.tls_set_context(context)
        self._client.on_message = lambda _client, _data, message: self.messages.put(message)
        self._client.on_publish = lambda _client, _data, _mid, code, _properties: self._codes.put(code.value)
        ready: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._client.on_connect = lambda *_: ready.put(True)
        self._client.on_subscribe = lambda *_: ready.put(True)
        self._client.connect(HOST, house.port)
        self._client.loop_start()
        ready.get(timeout=PATIENCE_S)
        if topics:
            self._client.subscribe([(topic, 1) for topic in topics])
            ready.get(timeout=PATIENCE_S)

    def publish(self, topic: str, payload: bytes = b"{}", retain: bool = False) -> int:
        """Publish, and return the reason code of the broker's answer."""
        self._client.publish(topic, payload, qos=1, retain=retain)
        return self._codes.get(timeout=PATIENCE_S)

    def hears(self) -> tuple[str, bytes]:
        """The next message, its topic and payload."""
        message = self.messages.get(timeout=PATIENCE_S)
        return message.topic, bytes(message.payload)

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()
        self._client.loop_stop()


@contextmanager
def peer(house: House, name: str, *topics: str) -> Iterator[Peer]:
    """A client, connected and subscribed; who may not hear a topic is not told so by Mosquitto."""
    other = Peer(house, name, topics)
    try:
        yield other
    finally:
        other.close()
