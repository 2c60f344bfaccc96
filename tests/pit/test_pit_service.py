"""The pit as a process of its own, on a real broker: started, fed, killed, started again."""

from __future__ import annotations

import getpass
import os
import queue
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.contract.canonical import canonical
from controller.contract.envelope import Stamp, seal
from controller.contract.events import Alarm
from controller.keys import TableKey

ROOT = Path(__file__).resolve().parents[2]
MOSQUITTO = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin")
PATIENCE_S = 20.0  # a test that waits so long has failed

TABLE, EPOCH = "royal9-01", "ab12cd"
KEY = TableKey(bytes(32))

pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason="needs mosquitto, which is not installed here")


def event(seq: int, table: str = TABLE, key: TableKey = KEY, what: str = "Something.") -> bytes:
    body = Alarm(shoe=None, round=None, code="test", what=what, do="Nothing.", details={})
    return seal(body, table, EPOCH, seq, Stamp(1_750_000_000_000, True), seq.to_bytes(32, "big"), key)


def state(table: str = TABLE) -> bytes:
    return canonical({"online": True, "table": table, "epoch": EPOCH, "public_key": KEY.public.hex()})


def ack(seq: int) -> bytes:
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
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._config = folder / "mosquitto.conf"
        config = f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest stderr\n"
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

    def __init__(self, port: int, ledger: Path, *options: str) -> None:
        arguments = ["run", "--broker", f"127.0.0.1:{port}", "--ledger", str(ledger), *options]
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
    """A table's end of the wire, and anybody's: publishes, and hears the acks of the table."""

    def __init__(self, port: int) -> None:
        self._acks: queue.Queue[tuple[bytes, bool]] = queue.Queue()
        up = threading.Event()
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

        def on_connect(client: Client, *_: Any) -> None:
            client.subscribe(f"pit/v1/{TABLE}/ack", qos=1)

        def on_message(_client: Client, _data: Any, message: Any) -> None:
            self._acks.put((bytes(message.payload), bool(message.retain)))

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

    def say_state(self, table: str = TABLE) -> None:
        self.publish(f"pit/v1/{table}/state", state(table), retain=True)

    def ack(self, wanted: bytes) -> list[tuple[bytes, bool]]:
        """Every ack up to and with the wanted one, each with whether it came from the broker's memory."""
        seen: list[tuple[bytes, bool]] = []
        while not seen or seen[-1][0] != wanted:
            try:
                seen.append(self._acks.get(timeout=PATIENCE_S))
            except queue.Empty:
                pytest.fail(f"waited in vain for {wanted!r}; came: {seen}")
        return seen

    def acks_so_far(self) -> list[bytes]:
        """The acks that have come and were not looked at."""
        return [self._acks.get_nowait()[0] for _ in range(self._acks.qsize())]

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


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

    def far(self) -> Far:
        far = Far(self.broker.port)
        self._ends.callback(far.close)
        return far

    def held(self) -> list[tuple[int, bytes]]:
        db = sqlite3.connect(self.ledger)
        try:
            return db.execute("SELECT seq, body FROM event ORDER BY number").fetchall()
        finally:
            db.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as ends:
        yield House(tmp_path, ends)


def test_events_are_committed_and_acknowledged_for_whoever_comes_later(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    far.send(event(1), event(2), event(3))
    far.ack(ack(3))
    assert house.far().ack(ack(3)) == [(ack(3), True)], "the broker retains the last one"
    assert house.held() == [(n, event(n)) for n in (1, 2, 3)]
    assert [pit.out.get(timeout=PATIENCE_S) for _ in range(3)] == [f"{TABLE} {n} alarm" for n in (1, 2, 3)]


def test_killed_and_started_again_the_pit_says_again_how_far_it_is(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    until(pit.err, "connected")
    far.send(event(1))
    until(pit.out, f"{TABLE} 1 ")
    far.ack(ack(1))
    pit.ended(signal.SIGKILL)
    far.send(event(2))  # nobody hears it
    far.publish(f"pit/v1/{TABLE}/ack", b"", retain=True)
    far.ack(b"")

    house.pit()
    assert far.ack(ack(1)) == [(ack(1), False)]
    far.send(event(1), event(2), event(3))
    far.ack(ack(3))
    assert house.held() == [(n, event(n)) for n in (1, 2, 3)]


def test_killed_in_the_middle_of_a_stream_the_pit_loses_nothing_and_doubles_nothing(house: House) -> None:
    far, last = house.far(), 300
    far.say_state()
    for _ in range(3):
        pit = house.pit("--adopt-new")
        until(pit.err, "connected")
        far.send(*map(event, range(len(house.held()) + 1, last + 1)))
        until(pit.out, TABLE)
        pit.ended(signal.SIGKILL)
        held = house.held()
        assert held == [(n, event(n)) for n in range(1, len(held) + 1)]
        assert set(far.acks_so_far()) <= {ack(n) for n in range(len(held) + 1)}, "no ack is ahead of the file"
        if len(held) == last:
            break
    pit = house.pit()
    until(pit.err, "connected")
    far.send(*map(event, range(1, last + 1)))
    far.ack(ack(last))
    assert house.held() == [(n, event(n)) for n in range(1, last + 1)]


def test_after_a_broker_restart_without_memory_the_acks_are_retained_again(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    until(pit.err, "connected")
    far.send(event(1))
    until(pit.out, f"{TABLE} 1 ")
    house.broker.stop()
    until(pit.err, "went away")
    house.broker.start()
    until(pit.err, "connected")
    far = house.far()
    far.ack(ack(1))
    far.send(event(2))
    far.ack(ack(2))


def test_garbage_does_not_end_the_pit(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    for garbage in (b"", b"\xff\xfe", b"[" * 100_000, b"{}", event(1, key=TableKey(bytes([7] * 32)))):
        far.send(garbage)
        far.send(garbage, table="Nobody's")
        far.publish("pit/v1/garbage/state", garbage)
    far.send(event(1), event(1, what="Something else."), event(2))
    far.ack(ack(2))
    alarms = until(pit.err, "body_differs")
    assert sum("signature_invalid" in line for line in alarms) == 1
    assert not any("Traceback" in line for line in alarms)
    assert house.held() == [(1, event(1)), (2, event(2))]
    assert pit.ended(signal.SIGTERM) == 0


def test_an_alarm_that_stands_is_said_once(house: House) -> None:
    """A table sends again every two seconds; the pit's people are told once, until its stream has gone on."""
    forged = event(1, key=TableKey(bytes([7] * 32)))
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    until(pit.err, "connected")
    far.send(forged, forged, forged, b"the end")
    told = until(pit.err, "event_malformed")
    far.send(event(1))
    until(pit.out, f"{TABLE} 1 ")
    far.send(forged, forged, b"the end")
    told += until(pit.err, "event_malformed")
    codes = [line.partition(":")[0] for line in told if not line.startswith(("pit", " "))]
    assert codes == ["signature_invalid", "event_malformed"] * 2


def test_a_table_is_adopted_by_a_person_while_the_pit_runs(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit()
    told = until(pit.err, "python -m controller.pit adopt")
    assert any(line.startswith("epoch_to_adopt: ") for line in told)
    far.send(event(1))
    until(pit.err, "event_of_another_epoch")
    assert house.held() == []

    command = told[-1].partition("python -m ")[2].split()
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, capture_output=True)
    far.say_state()
    assert far.ack(ack(0)) == [(ack(0), False)]
    far.send(event(1))
    far.ack(ack(1))


def test_an_acknowledgement_the_broker_refuses_is_an_alarm(tmp_path: Path) -> None:
    with ExitStack() as ends:
        house = House(tmp_path, ends, access_list="topic read pit/v1/#\ntopic write pit/v1/+/state\n")
        far = house.far()
        far.say_state()
        pit = house.pit("--adopt-new")
        until(pit.err, "ack_refused")
        assert pit.process.poll() is None


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_ends_well(house: House, by: signal.Signals) -> None:
    pit = house.pit()
    until(pit.err, "connected")
    assert pit.ended(by) == 0
    assert pit.err.empty()


def test_it_waits_for_a_broker_that_is_not_there_yet(house: House) -> None:
    house.broker.stop()
    pit = house.pit()
    until(pit.err, "cannot reach the broker")
    house.broker.start()
    until(pit.err, "connected")
    assert pit.ended(signal.SIGTERM) == 0


def test_a_second_pit_on_the_same_ledger_ends_with_words_for_people(house: House) -> None:
    first = house.pit()
    until(first.err, "connected")
    second = house.pit()
    assert second.process.wait(PATIENCE_S) == 1
    assert until(second.err, "what to do")[0].startswith("ledger_locked: ")


def test_a_ledger_that_is_none_ends_the_pit_with_words_for_people(house: House) -> None:
    house.ledger.write_bytes(b"no ledger" * 1000)
    pit = house.pit()
    assert pit.process.wait(PATIENCE_S) == 1
    assert until(pit.err, "what to do")[0].startswith("ledger_damaged: ")


@pytest.mark.parametrize("lost", ["event", "adoption"])
def test_a_ledger_lost_while_the_pit_runs_ends_it(house: House, lost: str) -> None:
    """Trouble with the ledger is not taken for trouble with what came."""
    far = house.far()
    far.say_state()
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    db = sqlite3.connect(house.ledger)
    db.execute(f"DROP TABLE {lost}")
    db.close()
    far.say_state()
    far.send(event(1))
    assert pit.process.wait(PATIENCE_S) == 1
    told = until(pit.err, "what to do")
    assert told[-2].startswith("ledger_unusable: ")
    assert not any("Traceback" in line for line in told)
