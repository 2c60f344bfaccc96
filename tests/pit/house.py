"""A house for the pit as a process: a real broker, the pit on it, and the far end of a table's wire."""

from __future__ import annotations

import getpass
import json
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.cli.surroundings import free_port, mosquitto_program
from controller.contract.canonical import canonical
from controller.keys import SigningKey

ROOT = Path(__file__).resolve().parents[2]
MOSQUITTO = mosquitto_program()
needs_mosquitto = pytest.mark.skipif(MOSQUITTO is None, reason="needs mosquitto, which is not installed here")
PATIENCE_S = 20.0  # a test that waits so long has failed

TABLE, EPOCH = "royal9-01", "ab12cd"
KEY = SigningKey(bytes(32))


def state(table: str = TABLE, boot: int = 1, head_seq: int = 0, key: SigningKey = KEY) -> bytes:
    return canonical(
        {
            "online": True,
            "table": table,
            "epoch": EPOCH,
            "public_key": key.public.hex(),
            "boot": boot,
            "head_seq": head_seq,
        }
    )


def ack(seq: int) -> bytes:
    """An acknowledgement as `Far` has it: without what only this one saying of it has."""
    return canonical({"epoch": EPOCH, "seq": seq, "chain": f"{seq:064x}"})


def lines_of(stream: IO[str]) -> queue.Queue[str]:
    """The stream's lines, as they come."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    threading.Thread(target=read, daemon=True).start()
    return lines


def until(lines: queue.Queue[str], wanted: str) -> list[str]:
    """The lines up to and with the first that holds what is wanted."""
    seen: list[str] = []
    while not seen or wanted not in seen[-1]:
        try:
            seen.append(lines.get(timeout=PATIENCE_S))
        except queue.Empty:
            pytest.fail(f"waited in vain for {wanted!r}; came: {seen}")
    return seen


class Broker:
    """Mosquitto on a loopback port of its own. It remembers nothing over a restart."""

    def __init__(self, folder: Path, access_list: str = "") -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        config = f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest stderr\n"
        config += "max_queued_messages 10000\n"  # as shipped: at its own 1,000 it drops what a busy pit has not taken
        config += f"user {getpass.getuser()}\n"  # else root becomes somebody who may not read the test's folder
        if access_list:
            (folder / "acl").write_text(access_list)
            config += f"acl_file {folder / 'acl'}\n"
        self._config.write_text(config)
        self.start()

    def start(self) -> None:
        assert MOSQUITTO is not None
        self._process = subprocess.Popen([MOSQUITTO, "-c", str(self._config)], stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        until(lines_of(self._process.stderr), " running")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class PitProcess:
    """`python -m controller.pit run`, on the broker."""

    def __init__(self, port: int, ledger: Path, *options: str, host: str = "127.0.0.1") -> None:
        arguments = ["run", "--broker", f"{host}:{port}", "--ledger", str(ledger), *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controller.pit", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out = lines_of(self.process.stdout)
        self.err = lines_of(self.process.stderr)

    def ended(self, by: signal.Signals) -> int:
        """End it by a signal; the exit code."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE_S)


class Far:
    """A table's end of the wire, and anybody's: publishes, and hears one topic, if not another the table's acks."""

    def __init__(self, port: int, topic: str = f"pit/v1/{TABLE}/ack") -> None:
        self._came: queue.Queue[tuple[bytes, bool]] = queue.Queue()
        up = threading.Event()
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

        def on_connect(client: Client, *_: Any) -> None:
            client.subscribe(topic, qos=1)

        def on_message(_client: Client, _data: Any, message: Any) -> None:
            self._came.put((_bare(message.topic, bytes(message.payload)), bool(message.retain)))

        self._client.on_connect = on_connect
        self._client.on_subscribe = lambda *_: up.set()
        self._client.on_message = on_message
        self._client.max_inflight_messages_set(1000)
        self._client.connect("127.0.0.1", port, clean_start=True)
        self._client.loop_start()
        assert up.wait(PATIENCE_S)

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> None:
        """Until the broker has it."""
        self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(PATIENCE_S)

    def send(self, *events: bytes, table: str = TABLE) -> None:
        """As a table does: without waiting for the broker's answers."""
        for body in events:
            self._client.publish(f"pit/v1/{table}/event", body, qos=1)

    def say_state(self, table: str = TABLE, boot: int = 1, head_seq: int = 0, key: SigningKey = KEY) -> None:
        self.publish(f"pit/v1/{table}/state", state(table, boot, head_seq, key), retain=True)

    def next(self) -> dict[str, Any]:
        """The next message on its topic."""
        try:
            message: dict[str, Any] = json.loads(self._came.get(timeout=PATIENCE_S)[0])
        except queue.Empty:
            pytest.fail("waited in vain for a message")
        return message

    def ack(self, wanted: bytes) -> list[tuple[bytes, bool]]:
        """Every ack up to and with the wanted one, each with whether it came from the broker's memory."""
        seen: list[tuple[bytes, bool]] = []
        while not seen or seen[-1][0] != wanted:
            try:
                seen.append(self._came.get(timeout=PATIENCE_S))
            except queue.Empty:
                pytest.fail(f"waited in vain for {wanted!r}; came: {seen}")
        return seen

    def acks_so_far(self) -> list[bytes]:
        """The acks that have come and were not looked at."""
        return [self._came.get_nowait()[0] for _ in range(self._came.qsize())]

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def _bare(topic: str, payload: bytes) -> bytes:
    """An acknowledgement without its table, which is the topic's, and without its time and signature."""
    if not topic.endswith("/ack") or not payload:
        return payload
    said = json.loads(payload)
    assert said.pop("table") == topic.split("/")[-2]
    assert said.pop("at")
    assert said.pop("signature")
    return canonical(said)


class House:
    """A broker, and the pits and far ends that a test puts on it; all gone at its end."""

    def __init__(self, folder: Path, ends: ExitStack, access_list: str = "") -> None:
        self.ledger = folder / "ledger.sqlite"
        self.broker = Broker(folder, access_list)
        self._ends = ends
        ends.callback(lambda: self.broker.stop())

    def pit(self, *options: str) -> PitProcess:
        pit = PitProcess(self.broker.port, self.ledger, *options)
        self._ends.callback(pit.process.wait)
        self._ends.callback(pit.process.kill)
        return pit

    def far(self, topic: str = f"pit/v1/{TABLE}/ack") -> Far:
        far = Far(self.broker.port, topic)
        self._ends.callback(far.close)
        return far

    def held(self) -> list[tuple[int, bytes]]:
        db = sqlite3.connect(self.ledger)
        try:
            return db.execute("SELECT seq, body FROM event ORDER BY number").fetchall()
        finally:
            db.close()
