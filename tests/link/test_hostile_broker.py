"""Checks that a hostile MQTT broker, or a hostile client of an honest broker, can only end the connection of a table or
a pit, and do no other harm."""

from __future__ import annotations

import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from controller.bench.daemon import Table, TableFiles
from controller.contract.bounds import MOST_PACKET_BYTES
from tests.daemon.test_mqtt_broker import ACK, STATE, broker_at
from tests.link.hostile import Line, honest, hostile_broker, length, packet, publish, text
from tests.pit.house import House as PitHouse
from tests.support.brokers import needs_mosquitto
from tests.support.pit_process import PitProcess
from tests.support.waiting import PATIENCE_S, eventually, eventually_now, until

WORD = publish(ACK.encode(), b"a word")
_MORE_KB = 40_000  # what an attack may cost in memory
_MUCH = 200_000_000


# One message that cannot be read.


@pytest.mark.parametrize("qos", [0, 1])
async def test_a_topic_that_is_no_utf_8_is_refused_and_the_next_message_is_heard(qos: int) -> None:
    def act(line: Line) -> None:
        line.greets()
        line.says(publish(b"pit/\xff\xfe/ack", b"x", qos) + WORD)
        if qos:
            assert line.hears() == (0x40, b"\0\1"), "it would be sent again and again"
        line.serves()

    with hostile_broker(act) as broker:
        async with broker_at(broker.port) as table:
            await eventually(lambda: table.heard.of("message"))
            assert table.heard.of("message") == [("message", ACK, b"a word", False)]
            [(_, topic, why)] = table.heard.of("unreadable")
            assert topic == r"pit/\xff\xfe/ack"
            assert "UnicodeDecodeError" in why
            assert table.heard.of("disconnected") == []


_BOM = "\ufeff".encode()
POISON = {
    "a user property that begins with U+FEFF": b"\x26" + text(b"a") + text(_BOM),
    "a payload format indicator of 2": b"\x01\x02",
}
"""Properties that Mosquitto 2.0.11 passes on and retains, and paho cannot read."""


@needs_mosquitto
@pytest.mark.parametrize("properties", POISON.values(), ids=POISON.keys())
async def test_a_retained_message_that_cannot_be_read_keeps_neither_the_pit_nor_a_table_off_the_broker(
    properties: bytes, tmp_path: Path
) -> None:
    with ExitStack() as ends:
        house = PitHouse(tmp_path, ends)
        for topic in (b"pit/v1/poison/state", ACK.encode()):
            poison(house.broker.port, publish(topic, b"{}", 1, properties, retain=True))
        far = house.far()
        far.say_state()
        pit = house.pit("--adopt-new")
        told = until(pit.err, "connected")
        far.send_events(b"no event")
        told += until(pit.err, "event_malformed")
        assert sum(line.startswith("message_unreadable: A message came on 'pit/v1/poison/state'") for line in told) == 1
        assert not any("went away" in line for line in told)
        async with broker_at(house.broker.port) as table:
            await eventually(lambda: table.heard.of("unreadable"))
            await table.answer(table.broker.publish(STATE, b"{}", retain=True))
            assert table.heard.of("disconnected") == []


def poison(port: int, message: bytes) -> None:
    """Publish this MQTT packet on a real broker, and wait until the broker acknowledges it."""
    with socket.create_connection(("127.0.0.1", port), 10) as raw:
        line = Line(raw)
        line.says(packet(0x10, text(b"MQTT") + b"\5\2\0\x3c\0" + text(b"poisoner")))
        line.hears()
        line.says(message)
        kind, body = line.hears()
        assert (kind, body[:2]) == (0x40, b"\0\1")


# Whatever else is no MQTT ends the connection, and a new one is made.

ENDINGS = {
    "a PUBACK cut short": packet(0x40, b"\0"),
    "a SUBACK without codes and number": packet(0x90, b""),
    "a DISCONNECT of no reason known": packet(0xE0, b"\x42"),
    "properties that lie about their length": packet(0xE0, b"\0\x7f\x26"),
    "a packet of no kind": packet(0xF0, b"\0"),
    "a PUBLISH without a number": packet(0x32, text(b"t\xff")),
    "a PUBLISH at QoS 2": publish(ACK.encode(), b"x", 2),
    "a length of five bytes": b"\x30\xff\xff\xff\xff\x01",
    "a packet that would be too long": b"\x30" + length(MOST_PACKET_BYTES + 1),
}


@pytest.mark.parametrize("sent", ENDINGS.values(), ids=ENDINGS.keys())
async def test_what_is_no_mqtt_ends_the_connection_and_a_new_one_is_made(sent: bytes) -> None:
    def act(line: Line) -> None:
        line.greets()
        line.says(sent)
        line.serves()

    with hostile_broker(act, honest) as broker:
        async with broker_at(broker.port) as table:
            await eventually(lambda: len(table.heard.of("connected")) == 2)
            [(_, why)] = table.heard.of("disconnected")
            assert why.startswith(f"the broker 127.0.0.1:{broker.port} ")


def test_what_is_no_mqtt_does_not_end_the_pit(tmp_path: Path) -> None:
    def act(sent: bytes, line: Line) -> None:
        line.greets()
        line.says(sent)
        line.serves()

    few = [*ENDINGS.values()][::2]
    acts = [partial(act, sent) for sent in few]
    with hostile_broker(*acts, honest) as broker, running_pit(broker.port, tmp_path) as pit:
        eventually_now(lambda: broker.connections > len(few))
        assert pit.ended(signal.SIGTERM) == 0
        assert not any("Traceback" in line for line in until(pit.err, "connected"))


def test_what_the_pit_has_not_subscribed_to_is_an_alarm_and_no_end(tmp_path: Path) -> None:
    def act(line: Line) -> None:
        line.greets()
        for topic in (b"x", b"pit/v1/royal9-01/award", b"pit/v2/royal9-01/event", b"/", b"pit/v1/" + b"y" * 60_000):
            line.says(publish(topic, b"{}"))
        line.says(publish(b"pit/v1/last/event", b"{}"))
        line.serves()

    with hostile_broker(act) as broker, running_pit(broker.port, tmp_path) as pit:
        told = until(pit.err, "event_malformed")
        assert sum(line.startswith("topic_unknown") for line in told) == 5
        assert max(map(len, told)) < 500


async def test_a_broker_that_says_everything_twice_is_heard_once() -> None:
    def act(line: Line) -> None:
        line.greets()
        line.says(packet(0x20, b"\0\0\0") + packet(0x90, b"\0\1\0\1\1") + packet(0xD0, b"") + WORD)
        line.serves()

    with hostile_broker(act) as broker:
        async with broker_at(broker.port) as table:
            await eventually(lambda: table.heard.of("message"))
            assert [told[0] for told in table.heard.told] == ["connected", "message"]


# A broker that does not answer.


async def test_a_broker_that_falls_silent_is_left_whatever_keep_alive_it_asks_for() -> None:
    """A client ends its connection to a broker that has fallen silent. The client does so even if the broker asked for
    no keep-alive at all, as MQTT 5 allows."""

    def act(line: Line) -> None:
        line.greets(properties=b"\x13\0\0")
        while True:
            line.hears()

    with hostile_broker(act, honest) as broker:
        async with broker_at(broker.port, keepalive_s=1) as table:
            await eventually(lambda: len(table.heard.of("connected")) == 2)
            [(_, why)] = table.heard.of("disconnected")
            assert why.endswith("has answered nothing for 1.5 s")


async def test_a_broker_that_answers_pings_and_no_messages_is_left() -> None:
    def act(line: Line) -> None:
        line.greets()
        while True:
            if line.hears()[0] == 0xC0:
                line.says(packet(0xD0, b""))

    with hostile_broker(act, honest) as broker:
        async with broker_at(broker.port, keepalive_s=1) as table:
            assert table.broker.publish(STATE, b"{}", retain=True) is not None
            await eventually(lambda: len(table.heard.of("connected")) == 2)
            [(_, why)] = table.heard.of("disconnected")
            assert why.endswith("has not answered a message for 3 s")


# A broker that sends too much.


async def test_small_messages_faster_than_the_table_hears_them_end_the_connection() -> None:
    """The connection ends if small messages come faster than the table can read them. In this test the table's loop is
    blocked while the broker sends."""
    over = threading.Event()

    def act(line: Line) -> None:
        line.greets()
        try:
            for _ in range(200):
                line.says(WORD * 1000)
        finally:
            over.set()

    with hostile_broker(act, honest) as broker:
        async with broker_at(broker.port) as table:
            assert over.wait(PATIENCE_S)  # the loop does nothing else
            await eventually(lambda: len(table.heard.of("connected")) == 2)
            [(_, why)] = table.heard.of("disconnected")
            assert why.endswith("sends more than this table can hear")
            assert 1000 < len(table.heard.of("message")) < 5000


def pours(topic: bytes, go: threading.Event) -> Callable[[Line], None]:
    """Return a function that plays the hostile broker for one client. It waits for the event `go`, and then sends the
    client a message of hundreds of megabytes on `topic`, even if the client did not subscribe to it."""

    def act(line: Line) -> None:
        connect = line.greets()
        assert b"\x27" + MOST_PACKET_BYTES.to_bytes(4, "big") in connect[:20], "the Maximum Packet Size"
        assert go.wait(PATIENCE_S)
        line.says(b"\x30" + length(_MUCH) + text(topic) + b"\0")
        for _ in range(_MUCH // 100_000):
            line.says(b" " * 100_000)

    return act


def memory_kb(pid: int) -> int:
    """Return the most memory that the process has ever used, in KB."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[0])


def test_a_message_of_200_mb_costs_the_table_a_connection_and_no_memory(tmp_path: Path) -> None:
    go = threading.Event()
    with hostile_broker(pours(b"pit/v1/royal9-01/meters", go), honest) as broker:
        table = Table(TableFiles(tmp_path, "royal9-01", broker.port, None), tmp_path)
        try:
            table.start()
            eventually_now(lambda: table.status().pit.connected)
            before_kb = memory_kb(table.process.pid)
            go.set()
            eventually_now(lambda: broker.connections == 2 and table.status().pit.stream == "streaming")
            assert memory_kb(table.process.pid) - before_kb < _MORE_KB
            assert f"sent a packet of {_MUCH} bytes" in table.log
        finally:
            table.close()


def test_a_message_of_200_mb_costs_the_pit_a_connection_and_no_memory(tmp_path: Path) -> None:
    go = threading.Event()
    with (
        hostile_broker(pours(b"pit/v1/royal9-01/event", go), honest) as broker,
        running_pit(broker.port, tmp_path) as pit,
    ):
        until(pit.err, "connected")
        before_kb = memory_kb(pit.process.pid)
        go.set()
        told = until(pit.err, "connected")
        assert any(f"sent a packet of {_MUCH} bytes" in line for line in told)
        assert memory_kb(pit.process.pid) - before_kb < _MORE_KB


@contextmanager
def running_pit(port: int, folder: Path) -> Iterator[PitProcess]:
    """Run a pit's program on the broker at this port while the `with` block runs, and kill it at the end."""
    pit = PitProcess(port, folder / "ledger", "--adopt-new")
    try:
        yield pit
    finally:
        pit.process.kill()
        pit.process.wait()
