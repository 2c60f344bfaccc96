"""Checks the MQTT driver against a real Mosquitto: connections, answers, refusals, the will, and a broker that goes
away."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controller.people.cli.programs import free_port, mosquitto
from drivers import mqtt
from drivers.mqtt import MqttBroker, Will
from tests.support import forks
from tests.support.brokers import Broker, Peer
from tests.support.waiting import eventually, run

ROOT = Path(__file__).parents[2]
ACK = "pit/v1/table/ack"
EVENT = "pit/v1/table/event"
STATE = "pit/v1/table/state"
WILL = Will(STATE, b'{"online":false}')


@dataclass
class Heard:
    """A listener that records what the MQTT driver tells it, in order.

    `greeting` is a topic and a payload that the listener publishes, retained, as soon as it is connected.
    """

    told: list[tuple[Any, ...]] = field(default_factory=list)
    raising: Exception | None = None
    broker: MqttBroker | None = None
    greeting: tuple[str, bytes] | None = None

    def broker_connected(self) -> None:
        self.told.append(("connected",))
        if self.broker is not None and self.greeting is not None:
            self.broker.publish(*self.greeting, retain=True)

    def broker_disconnected(self, why: str) -> None:
        self.told.append(("disconnected", why))

    def broker_id_taken(self) -> None:
        self.told.append(("id taken",))

    def broker_message(self, topic: str, payload: bytes, retained: bool) -> None:
        self.told.append(("message", topic, payload, retained))
        if self.raising is not None:
            raise self.raising

    def broker_unreadable(self, topic: str, why: str) -> None:
        self.told.append(("unreadable", topic, why))

    def broker_answered(self, token: int, reason_code: int) -> None:
        self.told.append(("answered", token, reason_code))

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        return [told for told in self.told if told[0] == kind]


@dataclass
class Connected:
    broker: MqttBroker
    heard: Heard
    task: asyncio.Task[None]

    async def answer(self, token: int | None) -> int:
        """Wait for the broker's answer to the message with this token, and return its reason code."""
        assert token is not None
        await eventually(lambda: any(told[1] == token for told in self.heard.of("answered")))
        return next(int(told[2]) for told in self.heard.of("answered") if told[1] == token)


@asynccontextmanager
async def broker_at(
    port: int, host: str = "127.0.0.1", up: bool = True, keepalive_s: int = 5
) -> AsyncIterator[Connected]:
    """Run the MQTT driver with this broker, and wait until it is connected unless `up` is False."""
    async with brokers_at(host, port=port, keepalive_s=keepalive_s) as table:
        if up:
            await eventually(lambda: table.heard.of("connected"))
        yield table


@asynccontextmanager
async def brokers_at(*hosts: str, port: int, keepalive_s: int = 5) -> AsyncIterator[Connected]:
    """Run the MQTT driver with these hosts. The test's Mosquitto listens only on 127.0.0.1, so any other host fails."""
    broker, heard = MqttBroker(hosts, port, "table-test", keepalive_s, WILL, [ACK]), Heard()
    heard.broker = broker
    task = asyncio.create_task(broker.run(heard))
    try:
        yield Connected(broker, heard, task)
    finally:
        task.cancel()
        await asyncio.wait([task])


def far_end(port: int) -> Peer:
    """Return another client of the same broker. It plays the part of the pit's program."""
    return Peer(port, EVENT, STATE)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Mosquitto broker that all tests in this file use."""
    free = free_port()
    with mosquitto(tmp_path_factory.mktemp("mosquitto"), free):
        yield free


@pytest.fixture
def pit(port: int) -> Iterator[Peer]:
    """A client of the broker that plays the part of the pit's program. After the test it removes its retained
    messages."""
    with far_end(port) as other:
        yield other
        for topic in (ACK, STATE):
            other.publish(topic, b"", retain=True)


async def test_what_is_published_arrives_with_its_type_and_is_answered(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        token = table.broker.publish(EVENT, b'{"seq":1}', event_type="round")
        assert await table.answer(token) == 0x00
    message = pit.next()
    assert (message.topic, message.payload, message.qos, message.retain) == (EVENT, b'{"seq":1}', 1, False)
    assert message.properties is not None
    assert vars(message.properties)["UserProperty"] == [("type", "round")]


async def test_a_host_that_does_not_answer_is_passed_over(port: int, pit: Peer) -> None:
    async with brokers_at("127.0.0.2", "127.0.0.3", "127.0.0.1", port=port) as table:
        await eventually(lambda: table.heard.of("connected"))
        assert table.broker.address == f"127.0.0.1:{port}"
        whys = [why for _, why in table.heard.of("disconnected")]
        assert [f"127.0.0.{n}:{port}" in whys[n - 2] for n in (2, 3)] == [True, True]


async def test_a_connection_that_stood_is_made_again_to_its_own_host_and_a_move_is_to_the_next(
    port: int, pit: Peer
) -> None:
    async with brokers_at("127.0.0.1", "127.0.0.2", port=port) as table:
        await eventually(lambda: len(table.heard.of("connected")) == 1)
        table.broker.drop("cut")
        await eventually(lambda: len(table.heard.of("connected")) == 2)
        assert table.heard.of("disconnected") == [("disconnected", "cut")]
        table.broker.drop("nobody is heard here", move=True)
        await eventually(lambda: len(table.heard.of("connected")) == 3)
        *_, moved, failed = [why for _, why in table.heard.of("disconnected")]
        assert moved == "nobody is heard here"
        assert f"127.0.0.2:{port}" in failed


async def test_an_event_nobody_subscribes_to_is_answered_0x10(port: int) -> None:
    async with broker_at(port) as table:
        assert await table.answer(table.broker.publish(EVENT, b"{}")) == 0x10


def test_the_retained_word_comes_after_the_connection_is_told_and_before_any_answer(port: int, pit: Peer) -> None:
    pit.publish(ACK, b"the last word", retain=True)

    class Asking(Heard):
        def broker_connected(self) -> None:
            super().broker_connected()
            assert self.broker is not None
            assert self.broker.publish(STATE, b"{}", retain=True) is not None, "publishing works from here on"

    async def once() -> None:
        heard = Asking(broker=MqttBroker(["127.0.0.1"], port, "table-test", 5, WILL, [ACK]))
        assert heard.broker is not None
        task = asyncio.create_task(heard.broker.run(heard))
        await eventually(lambda: heard.of("answered"))
        task.cancel()
        await asyncio.wait([task])
        assert [told[0] for told in heard.told[:3]] == ["connected", "message", "answered"]
        assert heard.told[1] == ("message", ACK, b"the last word", True)

    for _ in range(10):
        run(once())


async def test_what_the_pit_says_comes_through(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        await asyncio.to_thread(pit.publish, ACK, b"word")
        await asyncio.to_thread(pit.publish, "pit/v1/other/ack", b"not ours")
        await asyncio.to_thread(pit.publish, ACK, b"another")
        await eventually(lambda: len(table.heard.of("message")) == 2)
        assert table.heard.of("message") == [("message", ACK, b"word", False), ("message", ACK, b"another", False)]


async def test_a_state_is_retained(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        await table.answer(table.broker.publish(STATE, b'{"online":true}', retain=True))
        with far_end(port) as late:
            message = await asyncio.to_thread(late.next)
        assert (message.payload, message.retain) == (b'{"online":true}', True)


async def test_many_at_once_are_each_answered_in_order(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        tokens = [table.broker.publish(EVENT, str(number).encode()) for number in range(90)]
        assert None not in tokens
        await eventually(lambda: len(table.heard.of("answered")) == 90)
        assert {told[1] for told in table.heard.of("answered")} == set(tokens)
    assert [int(pit.next().payload) for _ in range(90)] == list(range(90))


async def test_a_clean_end_says_goodbye_with_the_wills_words(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        await table.answer(table.broker.publish(STATE, b'{"online":true}', retain=True))
    assert [pit.next().payload for _ in range(2)] == [b'{"online":true}', WILL.payload]
    with far_end(port) as late:
        message = late.next()
        assert (message.payload, message.retain) == (WILL.payload, True)


def test_a_process_that_is_killed_leaves_its_will(port: int, pit: Peer) -> None:
    program = f"""
        import asyncio, sys
        sys.path.insert(0, {str(ROOT)!r})
        from tests.daemon.test_mqtt_broker import broker_at, STATE
        async def main():
            async with broker_at({port}) as table:
                await table.answer(table.broker.publish(STATE, b'{{"online":true}}', retain=True))
                await asyncio.Event().wait()
        asyncio.run(main())
    """
    with subprocess.Popen([sys.executable, "-c", forks.ALIKE + textwrap.dedent(program)], cwd=ROOT) as table:
        assert pit.next().payload == b'{"online":true}'
        table.kill()
    assert pit.next().payload == WILL.payload
    with far_end(port) as late:
        message = late.next()
        assert (message.payload, message.retain) == (WILL.payload, True)


async def test_a_broker_that_goes_is_told_and_one_that_comes_back_is_found(tmp_path: Path) -> None:
    free = free_port()
    with ExitStack() as first:
        process = first.enter_context(mosquitto(tmp_path, free))
        async with broker_at(free) as table:
            process.send_signal(signal.SIGKILL)
            await eventually(lambda: table.heard.of("disconnected"))
            assert "went away" in table.heard.told[-1][1]
            assert table.broker.publish(EVENT, b"{}") is None, "nothing is queued without a connection"
            first.pop_all().close()
            with mosquitto(tmp_path, free), far_end(free) as pit:
                await eventually(lambda: len(table.heard.of("connected")) == 2)
                assert await table.answer(table.broker.publish(EVENT, b"after")) == 0
                assert pit.next().payload == b"after", "nothing from before was sent again"


async def test_an_unreachable_broker_is_told_once_and_tried_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "_FIRST_RETRY_S", 0.01)
    monkeypatch.setattr(mqtt, "_LONGEST_RETRY_S", 0.02)
    caplog.set_level(logging.DEBUG, "drivers.mqtt")
    async with broker_at(free_port(), up=False) as table:
        await eventually(lambda: len(table.heard.told) >= 5)
        assert not table.heard.of("connected")
        assert "cannot reach the broker" in table.heard.told[0][1]
    told = [(record.levelname, record.message) for record in caplog.records if "cannot reach" in record.message]
    assert [level for level, _ in told][:5] == ["WARNING", "DEBUG", "DEBUG", "DEBUG", "DEBUG"]


@pytest.mark.parametrize("host", ["", "no such host", "a..b", "x" * 70 + ".example", "\0"])
async def test_a_host_that_cannot_be_is_told_like_one_that_is_not_there(host: str) -> None:
    async with broker_at(1883, host=host, up=False) as table:
        await eventually(lambda: table.heard.of("disconnected") or table.task.done())
        assert not table.task.done()
        assert "cannot reach the broker" in table.heard.told[0][1]


async def test_something_that_takes_the_connection_and_says_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mqtt, "CONNECT_TIMEOUT_S", 0.2)
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    free = server.sockets[0].getsockname()[1]
    async with broker_at(free, up=False) as table:
        await eventually(lambda: table.heard.of("disconnected"))
        assert "did not answer" in table.heard.told[0][1]
    server.close()


async def test_a_listener_that_raises_ends_the_run(port: int, pit: Peer) -> None:
    async with broker_at(port) as table:
        table.heard.raising = ZeroDivisionError()
        await asyncio.to_thread(pit.publish, ACK, b"x")
        await eventually(table.task.done)
        assert isinstance(table.task.exception(), ZeroDivisionError)


# A broker with an access list.


async def test_an_event_the_access_list_refuses_is_answered_0x87_and_others_go_on(tmp_path: Path) -> None:
    with Broker(tmp_path, access_list=f"topic read {ACK}\ntopic write {STATE}\n") as guarded:
        async with broker_at(guarded.port) as table:
            assert await table.answer(table.broker.publish(EVENT, b"{}")) == 0x87
            assert await table.answer(table.broker.publish(STATE, b"{}", retain=True)) in (0x00, 0x10)
            assert not table.heard.of("disconnected")


async def test_a_refused_subscription_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection whose subscription the broker refuses does not count as up.

    Mosquitto never refuses a subscription (it accepts and then delivers nothing), so the test makes a broker that does.
    """

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(bytes([0x20, 3, 0, 0, 0]))  # CONNACK, success
        subscribe = await reader.read(1000)
        writer.write(bytes([0x90, 4, *subscribe[2:4], 0, 0x87]))  # SUBACK, not authorised
        await reader.read(1000)
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with broker_at(server.sockets[0].getsockname()[1], up=False) as table:
        await eventually(lambda: table.heard.of("disconnected"))
        assert not table.heard.of("connected")
        assert table.heard.told[0][1] == f"the broker refused the subscription to {ACK}"
    server.close()


async def test_a_refused_connection_is_told_with_its_reason() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(bytes([0x20, 3, 0, 0x87, 0]))  # CONNACK, not authorised
        await reader.read(1000)
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with broker_at(server.sockets[0].getsockname()[1], up=False) as table:
        await eventually(lambda: table.heard.of("disconnected"))
        assert not table.heard.of("connected")
        assert table.heard.told[0][1] == "the broker refused the connection: Not authorized"
    server.close()
