"""Checks the link between a table and a real Mosquitto broker with the shipped configuration. The link uses mutual TLS,
each table may use only its own topics, and each table has its own client id."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion

from controller.bench.daemon import Table, TableFiles
from controller.contract.bounds import MOST_PACKET_BYTES, MOST_PAYLOAD_BYTES
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, PitKeyWord
from controller.contract.wire.mqtt_tls import TlsFiles, client_context
from controller.people.cli.certs import BenchCa
from controller.people.cli.programs import free_port, mosquitto
from controller.pit.reference.clock import now_text
from drivers import mqtt
from drivers.mqtt import MqttBroker, Will
from tests.daemon.test_mqtt_broker import Connected, Heard
from tests.link.cutting import Ending, cutting_proxy
from tests.link.house import HOST, SHIPPED, House, broker_of, peer, running_house, write
from tests.support.brokers import Peer
from tests.support.contract import check_message
from tests.support.waiting import eventually, eventually_now, run

TABLE, OTHER = "royal9-01", "royal9-02"
REFUSED = "it refuses this certificate"
_WILL = b'{"online":false}'
"""The will of `table_of`, which the broker may tell when the next test listens. No table says so little."""

Tls = Callable[[], ssl.SSLContext]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A Mosquitto broker with the shipped configuration, which runs during this module's tests."""
    with running_house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def pit(house: House) -> Iterator[Peer]:
    """A client with the pit's certificate, subscribed to all tables' events and states."""
    with peer(house, "pit", "pit/v1/+/event", "pit/v1/+/state") as other:
        yield other


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the table's MQTT driver reconnect within hundredths of a second, so that tests are short."""
    monkeypatch.setattr(mqtt, "_FIRST_RETRY_S", 0.01)
    monkeypatch.setattr(mqtt, "_LONGEST_RETRY_S", 0.02)


@asynccontextmanager
async def table_of(
    house: House, tls: Tls, *, name: str = TABLE, client_id: str = "table", host: str = HOST, up: bool = True
) -> AsyncIterator[Connected]:
    """Run a table's MQTT driver against this broker while the block runs. Wait until it is connected, unless `up` is
    False."""
    will = Will(f"pit/v1/{name}/state", _WILL)
    broker, heard = MqttBroker([host], house.port, client_id, 5, will, [f"pit/v1/{name}/ack"], tls), Heard()
    heard.broker = broker
    task = asyncio.create_task(broker.run(heard))
    try:
        if up:
            await eventually(lambda: heard.of("connected") or heard.of("disconnected"))
            assert heard.told == [("connected",)]
        yield Connected(broker, heard, task)
    finally:
        task.cancel()
        await asyncio.wait([task])


async def told_times(heard: Heard, kind: str, times: int) -> None:
    """Wait until the MQTT driver has reported events of this kind, such as "connected", at least `times` times."""
    await eventually(lambda: len(heard.of(kind)) >= times)


def of(house: House, name: str = TABLE) -> Tls:
    """Return a function that makes the TLS context of the client with this name, as the table's program does."""
    return partial(client_context, house.files(name), name)


def why_not(house: House, tls: Tls, host: str = HOST) -> str:
    """Return the reason that the MQTT driver reports if it cannot connect to the broker. Check that several attempts
    give the same reason."""

    async def test() -> str:
        async with table_of(house, tls, host=host, up=False) as table:
            await eventually(lambda: len(table.heard.told) >= 4)
            assert not table.heard.of("connected")
            assert len(set(table.heard.told)) == 1, table.heard.told
            return str(table.heard.told[0][1])

    return run(test())


# A connection.


def test_a_table_streams_to_its_pit_over_mutual_tls(house: House, pit: Peer, tmp_path: Path) -> None:
    """A table sends its events to the pit over mutual TLS. The test runs the real program from its table file."""
    files = house.files(TABLE)
    tls = {"ca": str(files.ca), "certificate": str(files.certificate), "private_key": str(files.private_key)}
    table = Table(TableFiles(tmp_path, TABLE, house.port, None, pit={"host": HOST, "port": house.port} | tls), tmp_path)
    checked = table.tablectl("check")
    assert checked.returncode == 0, checked.stderr
    try:
        table.start()
        eventually_now(lambda: table.status().pit.stream == "streaming")
        assert table.status().pit.why == ""
        table.supervisor("new_shoe")
        heard = [pit.hears()]
        while not heard[-1][0].endswith("/event"):
            heard.append(pit.hears())
        *states, event = (check_message(topic, payload) for topic, payload in heard if payload != _WILL)
        assert states
        assert event["seq"] == 1
        key = SigningKey(bytes(32))
        offered = PitKeyWord(key.public.hex(), now_text(), ()).payload(key)
        check_message("pit/v1/pit-key", offered)
        assert pit.publish("pit/v1/pit-key", offered) == 0
        word = AckWord(TABLE, event["epoch"], event["seq"], event["chain"], now_text()).payload(key)
        check_message(f"pit/v1/{TABLE}/ack", word)
        assert pit.publish(f"pit/v1/{TABLE}/ack", word) == 0
        eventually_now(lambda: table.status().pit.acked_seq == 1)
    finally:
        table.close()


def test_the_configuration_has_one_listener_and_it_is_the_tls_one() -> None:
    lines = [line.split() for line in (SHIPPED / "mosquitto.conf").read_text("utf-8").splitlines() if line.strip()]
    settings = [line for line in lines if not line[0].startswith("#")]
    assert [line[1:] for line in settings if line[0] in ("listener", "port")] == [["8883"]]
    assert ["require_certificate", "true"] in settings
    assert ["allow_anonymous", "false"] in settings


def test_a_client_in_the_clear_gets_no_word(house: House) -> None:
    with socket.create_connection(("127.0.0.1", house.port), 10) as line:
        line.sendall(bytes([0x10, 16, 0, 4]) + b"MQTT" + bytes([5, 2, 0, 5, 0, 0, 3]) + b"abc")
        with suppress(ConnectionResetError):
            assert line.recv(100)[:1] != b"\x20", "a CONNACK"


def test_a_client_without_a_certificate_is_refused(house: House) -> None:
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    client.tls_set_context(ssl.create_default_context(cafile=house.folder / "ca.crt"))
    answers: list[object] = []
    client.on_connect = lambda *arguments: answers.append(arguments)
    client.connect(HOST, house.port)
    while client.loop(1.0) is MQTTErrorCode.MQTT_ERR_SUCCESS:
        pass
    assert answers == []


# No connection, and why.


def test_a_broker_of_another_ca_is_not_trusted(house: House, tmp_path: Path, quick: None) -> None:
    files = house.files(TABLE)
    (tmp_path / "ca.crt").write_bytes(BenchCa().certificate)
    foreign = TlsFiles(tmp_path / "ca.crt", files.certificate, files.private_key)
    why = why_not(house, partial(client_context, foreign, TABLE))
    assert why.startswith(f"the certificate of the broker localhost:{house.port} cannot be trusted: ")


def test_a_broker_with_another_hosts_certificate_is_not_trusted(house: House, quick: None) -> None:
    why = why_not(house, of(house), host="127.0.0.1")
    assert "cannot be trusted: IP address mismatch" in why


def test_a_table_of_another_ca_is_refused_by_the_broker(house: House, tmp_path: Path, quick: None) -> None:
    files = TlsFiles(house.folder / "ca.crt", *write(tmp_path, TABLE, BenchCa().issue(TABLE)))
    why = why_not(house, partial(client_context, files, TABLE))
    assert why == f"the broker localhost:{house.port} hung up before a word; perhaps {REFUSED}: see its log"


def test_an_expired_certificate_is_refused_by_the_broker_too(house: House, tmp_path: Path, quick: None) -> None:
    certificate, key = write(tmp_path, TABLE, house.ca.issue(TABLE, timedelta(days=-1)))

    def unchecked() -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=house.folder / "ca.crt")
        context.load_cert_chain(certificate, key)
        return context

    why = why_not(house, unchecked)
    assert REFUSED in why


async def test_an_expired_certificate_is_told_once_and_its_renewal_is_taken_without_a_restart(
    house: House, tmp_path: Path, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copy(house.folder / "ca.crt", tmp_path)
    files = TlsFiles(tmp_path / "ca.crt", *write(tmp_path, TABLE, house.ca.issue(TABLE, timedelta(days=-1))))
    caplog.set_level(logging.WARNING, "drivers.mqtt")
    async with table_of(house, partial(client_context, files, TABLE), up=False) as table:
        await eventually(lambda: len(table.heard.of("disconnected")) >= 4)
        told = table.heard.told[0][1]
        assert told.startswith(f"no connection to the broker localhost:{house.port}: ")
        assert "expired on" in told
        assert [record.message for record in caplog.records] == [told]
        write(tmp_path, "renewed", house.ca.issue(TABLE))
        (tmp_path / "renewed.key").replace(files.private_key)
        (tmp_path / "renewed.crt").replace(files.certificate)
        await eventually(lambda: table.heard.of("connected"))


async def test_a_broker_whose_certificate_was_revoked_is_not_trusted_and_a_renewed_list_is_taken_at_the_next_connection(
    house: House, tmp_path: Path, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    files = replace(house.files(TABLE), crl=tmp_path / "ca.crl")
    (tmp_path / "ca.crl").write_bytes(house.ca.revoke(house.broker[0].read_bytes()))
    async with table_of(house, partial(client_context, files, TABLE), up=False) as table:
        await told_times(table.heard, "disconnected", 3)
        assert table.heard.told[0][1].endswith("cannot be trusted: certificate revoked")
        (tmp_path / "ca.crl").unlink()
        await eventually(lambda: "cannot be read" in table.heard.of("disconnected")[-1][1])
        (tmp_path / "new").write_bytes(house.ca.revoke())
        (tmp_path / "new").replace(tmp_path / "ca.crl")
        await eventually(lambda: table.heard.of("connected"))


def test_a_revoked_certificate_keeps_its_standing_connection_until_the_broker_is_restarted(tmp_path: Path) -> None:
    """A client whose certificate is revoked keeps its open connection until the broker is restarted. As the broker's
    configuration file says, a reload of the list affects only new connections."""
    house = House(tmp_path)
    (tmp_path / "ca.crl").write_bytes(house.ca.revoke())
    with broker_of(house, revoking=True) as broker:
        with peer(house, TABLE) as thief:
            (tmp_path / "ca.crl").write_bytes(house.ca.revoke((tmp_path / f"{TABLE}.crt").read_bytes()))
            broker.process.send_signal(signal.SIGHUP)
            eventually_now(lambda: "Reloading config" in (tmp_path / "mosquitto.log").read_text())
            assert thief.publish(f"pit/v1/{TABLE}/event") in (0x00, 0x10)
        assert REFUSED in why_not(house, of(house))
        with peer(house, "pit") as other:
            assert other.publish("pit/v1/meters") in (0x00, 0x10)
    with broker_of(house, revoking=True):
        assert REFUSED in why_not(house, of(house))


# What is too long.


async def test_a_packet_longer_than_the_contract_has_is_refused_by_the_broker_and_its_sender_disconnected(
    house: House, pit: Peer
) -> None:
    async with table_of(house, of(house)) as table:
        event = f"pit/v1/{TABLE}/event"
        biggest = b" " * MOST_PAYLOAD_BYTES["event"]
        assert await table.answer(table.broker.publish(event, biggest, event_type="correction_of_seats")) == 0
        heard = await asyncio.to_thread(pit.hears)
        while heard[0] != event:  # its states
            heard = await asyncio.to_thread(pit.hears)
        assert heard == (event, biggest)
        table.broker.publish(event, b" " * MOST_PACKET_BYTES)
        await told_times(table.heard, "disconnected", 1)
        log = house.folder / "mosquitto.log"  # its word to the table may be lost behind what it did not read
        await eventually(lambda: f"Client {TABLE} disconnected due to oversize packet" in log.read_text())


def test_the_broker_is_held_to_the_contracts_longest_packet() -> None:
    lines = [line.split() for line in (SHIPPED / "mosquitto.conf").read_text("utf-8").splitlines()]
    assert ["max_packet_size", str(MOST_PACKET_BYTES)] in lines


async def test_a_broker_in_the_clear_is_never_spoken_to(house: House, quick: None) -> None:
    """A table that is configured for TLS never speaks MQTT to a broker without TLS. Its first bytes are a TLS greeting,
    and it sends nothing more after a wrong answer."""
    heard: list[bytes] = []

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1000))
        writer.write(bytes([0x20, 3, 0, 0, 0]))  # CONNACK, success
        heard.append(await reader.read(1000))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    broker, told = MqttBroker([HOST], port, "table", 5, Will("s", b""), ["t"], of(house)), Heard()
    task = asyncio.create_task(broker.run(told))
    await eventually(lambda: len(told.told) >= 2)
    task.cancel()
    await asyncio.wait([task])
    server.close()
    assert not told.of("connected")
    assert told.told[0][1].startswith(f"no TLS with the broker localhost:{port}: ")
    assert {data[:1] for data in heard[::2]} == {b"\x16"}, "a TLS handshake record"


# The access list.


def test_a_table_speaks_on_its_own_topics_alone(house: House, pit: Peer) -> None:
    with peer(house, TABLE) as table:
        assert table.publish(f"pit/v1/{TABLE}/event", b"said") == 0
        assert table.publish(f"pit/v1/{TABLE}/state", b"said") == 0
        for topic in (
            *(f"pit/v1/{OTHER}/{kind}" for kind in ("event", "state", "ack", "award", "wager")),
            *(f"pit/v1/{TABLE}/{kind}" for kind in ("ack", "award", "wager")),
            "pit/v1/meters",
        ):
            assert table.publish(topic, b"said") == 0x87, topic
        table.publish(f"pit/v1/{TABLE}/event", b"the last")
    heard = iter(pit.hears, (f"pit/v1/{TABLE}/event", b"the last"))
    said = [topic for topic, payload in heard if payload == b"said"]
    assert said == [f"pit/v1/{TABLE}/event", f"pit/v1/{TABLE}/state"]


def test_a_table_hears_its_own_topics_alone(house: House, pit: Peer) -> None:
    with peer(house, "bets") as bets, peer(house, TABLE, "#") as table:
        for id_ in (OTHER, TABLE):
            pit.publish(f"pit/v1/{id_}/ack")
            pit.publish(f"pit/v1/{id_}/award")
        pit.publish("pit/v1/meters")
        bets.publish(f"pit/v1/{OTHER}/wager")
        with peer(house, OTHER) as other:
            other.publish(f"pit/v1/{OTHER}/event")
        bets.publish(f"pit/v1/{TABLE}/wager")
        heard = [*iter(lambda: table.hears()[0], f"pit/v1/{TABLE}/wager"), f"pit/v1/{TABLE}/wager"]
    if heard[0] == f"pit/v1/{TABLE}/state":  # its own, retained
        del heard[0]
    assert heard == [f"pit/v1/{TABLE}/ack", f"pit/v1/{TABLE}/award", "pit/v1/meters", f"pit/v1/{TABLE}/wager"]


def test_the_pit_speaks_for_no_table_and_bet_recognition_for_no_pit(house: House, pit: Peer) -> None:
    with peer(house, TABLE, f"pit/v1/{TABLE}/#"), peer(house, "bets") as bets:
        for kind in ("event", "state", "wager"):
            assert pit.publish(f"pit/v1/{TABLE}/{kind}") == 0x87, kind
        for kind in ("event", "state", "ack", "award"):
            assert bets.publish(f"pit/v1/{TABLE}/{kind}") == 0x87, kind
        assert bets.publish("pit/v1/meters") == 0x87
        assert pit.publish(f"pit/v1/{TABLE}/ack") == 0
        assert bets.publish(f"pit/v1/{TABLE}/wager") == 0


def test_the_pits_page_hears_what_everybody_may_and_the_states_and_speaks_for_nobody(house: House, pit: Peer) -> None:
    with peer(house, TABLE) as table, peer(house, "pit-page", "#") as page:
        for kind in ("event", "state"):
            table.publish(f"pit/v1/{TABLE}/{kind}", b"said")
        for topic in (f"pit/v1/{TABLE}/ack", "pit/v1/pit-key", "pit/v1/meters"):
            pit.publish(topic, b"said")
        heard = iter(page.hears, ("pit/v1/meters", b"said"))
        assert [topic for topic, payload in heard if payload == b"said"] == [f"pit/v1/{TABLE}/state", "pit/v1/pit-key"]
        for topic in (*(f"pit/v1/{TABLE}/{kind}" for kind in ("event", "state", "ack", "award")), "pit/v1/meters"):
            assert page.publish(topic) == 0x87, topic


# The table's place on the broker.


async def test_a_stolen_id_is_noticed_and_nobody_fights_over_it(
    house: House, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If two tables use the same certificate and client id, each connection of one ends the connection of the other.
    After a few times one table notices this and waits. The other table then stays connected."""
    monkeypatch.setattr(mqtt, "_RIVAL_RETRY_S", 1000.0)

    async with table_of(house, of(house)) as one, table_of(house, of(house), up=False) as two:
        for table in (one, two):
            table.heard.greeting = (f"pit/v1/{TABLE}/state", b"{}")
        assert one.broker.publish(f"pit/v1/{TABLE}/state", b"{}", retain=True) is not None

        def waits(table: Connected) -> bool:
            return bool(table.heard.of("id taken")) and table.heard.told[-1][0] == "disconnected"

        await eventually(lambda: waits(one) or waits(two))
        robbed, other = (one, two) if waits(one) else (two, one)
        await eventually(lambda: other.heard.told[-1][0] != "disconnected")
        for _ in range(50):  # in which a table that hurries would have been back
            assert await other.answer(other.broker.publish(f"pit/v1/{TABLE}/event", b"{}")) in (0x00, 0x10)
        assert len(robbed.heard.of("connected")) <= 4


async def test_a_thief_that_says_nothing_is_noticed_by_how_the_broker_ends_the_connection(
    house: House, quick: None
) -> None:
    """A table notices a second client that uses its certificate, even if that client sends nothing. The sign is that
    the broker ends the table's TLS connection properly, twice. A cut line does not end TLS properly: only the broker
    can."""
    async with table_of(house, of(house)) as robbed:
        await robbed.answer(robbed.broker.publish(f"pit/v1/{TABLE}/state", b"{}", retain=True))
        for times in (1, 2):
            assert robbed.heard.of("id taken") == [], "once may be a broker that was restarted"
            with peer(house, TABLE):
                await told_times(robbed.heard, "disconnected", times)
            await told_times(robbed.heard, "connected", times + 1)
        await eventually(lambda: robbed.heard.of("id taken"))


@pytest.mark.parametrize("ending", ["reset", "end", "half", "garbage"])
async def test_a_link_that_is_cut_again_and_again_is_told_as_that_and_as_no_thief(
    house: House, quick: None, ending: Ending, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that is cut again and again is reported as often cut, and not as a second client with the same
    certificate. The proxy that cuts it knows nothing of TLS, just as a network does not."""
    caplog.set_level(logging.WARNING, "drivers.mqtt")
    state = f"pit/v1/{TABLE}/state"
    async with cutting_proxy(house.port) as proxy:
        broker, heard = MqttBroker([HOST], proxy.port, "table", 5, Will(state, b"{}"), ["t"], of(house)), Heard()
        task = asyncio.create_task(broker.run(heard))
        for times in range(1, 9):
            await told_times(heard, "connected", times)
            assert broker.publish(state, b'{"online":true}', retain=True) is not None
            await told_times(heard, "answered", times)
            proxy.cut(ending)
            await told_times(heard, "disconnected", times)
        await eventually(lambda: len(heard.of("connected")) >= 9)
        assert broker.often_cut() == "the link was cut 8 times in the last minute"
        task.cancel()
        await asyncio.wait([task])
    assert heard.of("id taken") == []
    assert heard.of("disconnected")[-1][1].endswith("; the link was cut 8 times in the last minute")
    assert len(caplog.records) == 1, "once a minute is enough"


async def test_a_clone_that_writes_the_tables_state_is_noticed_in_the_clear(tmp_path: Path, quick: None) -> None:
    port = free_port()
    with mosquitto(tmp_path, port):
        ends = []
        for _ in range(2):
            broker, heard = MqttBroker(["127.0.0.1"], port, "table", 5, Will("s", b"gone"), ["t"]), Heard()
            heard.broker, heard.greeting = broker, ("s", b"here")
            ends.append((heard, asyncio.create_task(broker.run(heard))))
        await eventually(lambda: all(heard.of("id taken") for heard, _ in ends))
        for _, task in ends:
            task.cancel()
        await asyncio.wait([task for _, task in ends])


async def test_what_an_earlier_run_of_the_program_said_is_nobody_elses(tmp_path: Path, quick: None) -> None:
    port = free_port()
    with mosquitto(tmp_path, port):
        for _ in range(4):
            broker, heard = MqttBroker(["127.0.0.1"], port, "table", 5, Will("s", b"gone"), ["t"]), Heard()
            heard.broker, heard.greeting = broker, ("s", b"here")
            task = asyncio.create_task(broker.run(heard))
            await told_times(heard, "answered", 1)
            task.cancel()
            await asyncio.wait([task])
            assert heard.of("id taken") == []


async def test_a_broker_that_says_so_is_believed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the broker sends the reason "session taken over", the driver believes at once that another client uses its
    name. Mosquitto sends this reason only from version 2.0.15 on, so the test imitates such a broker."""
    monkeypatch.setattr(mqtt, "_RIVAL_RETRY_S", 1000.0)

    async def take_over(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(bytes([0x20, 3, 0, 0, 0]))  # CONNACK, success
        subscribe = await reader.read(1000)
        writer.write(bytes([0x90, 4, *subscribe[2:4], 0, 1]))  # SUBACK
        writer.write(bytes([0xE0, 1, 0x8E]))  # DISCONNECT, session taken over
        writer.close()

    server = await asyncio.start_server(take_over, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    broker, heard = MqttBroker(["127.0.0.1"], port, "table", 5, Will("s", b""), ["t"]), Heard()
    task = asyncio.create_task(broker.run(heard))
    await eventually(lambda: heard.of("disconnected"))
    task.cancel()
    await asyncio.wait([task])
    server.close()
    why = f"the broker 127.0.0.1:{port} went away: Session taken over"
    assert heard.told == [("connected",), ("id taken",), ("disconnected", why)]


async def test_a_pushed_out_table_comes_back(house: House, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "_RIVAL_RETRY_S", 0.05)
    async with table_of(house, of(house)) as robbed:
        await robbed.answer(robbed.broker.publish(f"pit/v1/{TABLE}/state", b"{}", retain=True))
        while not robbed.heard.of("id taken"):
            times = len(robbed.heard.of("connected"))
            with peer(house, TABLE):
                await told_times(robbed.heard, "disconnected", times)
            await told_times(robbed.heard, "connected", times + 1)
        assert robbed.heard.told[-1][0] != "disconnected"


async def test_a_broker_that_is_killed_again_and_again_is_no_thief(tmp_path: Path, quick: None) -> None:
    """If the broker is killed and started again and again, the table does not suspect a second client. A killed broker
    may be back very soon, but it has then forgotten its retained messages."""
    port = free_port()
    broker, heard = MqttBroker(["127.0.0.1"], port, "table", 5, Will("s", b""), ["t"]), Heard()
    task = asyncio.create_task(broker.run(heard))
    for _ in range(5):
        with mosquitto(tmp_path, port) as process:
            await eventually(lambda: heard.told and heard.told[-1] == ("connected",))
            token = broker.publish("s", b"here", retain=True)
            assert token is not None
            await eventually(lambda: heard.told[-1][0] == "answered")
            process.kill()
        await eventually(lambda: heard.told[-1][0] != "connected")
    task.cancel()
    await asyncio.wait([task])
    assert heard.of("id taken") == []


async def test_another_tables_certificate_takes_nobodys_place(house: House) -> None:
    async with (
        table_of(house, of(house), client_id="table") as table,
        table_of(house, of(house, OTHER), name=OTHER, client_id="table") as other,
    ):
        for one, name in ((other, OTHER), (table, TABLE)):
            answer = await one.answer(one.broker.publish(f"pit/v1/{name}/event", b"{}"))
            assert answer in (0x00, 0x10)
            assert one.heard.of("disconnected") == []
