"""The floor of the measurements: a bare table and a bare pit that do only the work that every table and pit must do.
`python -m tests.bench.floor table|pit FOLDER PORT`.

The bare table reads from a serial line. For each read it commits one row with synchronous=FULL and writes one lamp. If
the read begins with H, the row has a message, which is then published at QoS 1. The bare pit commits each message and
acknowledges it. Both use what the real programs use: SQLite in WAL mode, paho, and the file of simulated pins.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.basics.notify import notify
from drivers.sim.pins import PinsPage

EVENT, ACK = "floor/event", "floor/ack"
LAMP = 9
"""The lamp's BCM number."""
CARD, ROUND = b"D" * 8, b"R" * 8
"""What a shoe says, as long as a card's report."""

_FACT_BYTES, _MESSAGE_BYTES = 300, 1100  # about what a card's row and a round's event have


def at_once(_client: Client, _data: Any, connection: Any) -> None:
    """Set TCP_NODELAY on the connection, so that each packet is sent as soon as it is written. This is a callback for
    paho's `on_socket_open`."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def main() -> int:
    """Run the bare table or the bare pit, as the command line says, until the process is ended."""
    role, folder, port = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    client.on_socket_open = at_once
    client.connect("127.0.0.1", port)
    db = sqlite3.connect(folder / f"floor-{role}.sqlite", isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, fact BLOB, message BLOB)")
    if role == "pit":
        _acknowledge(client, db)
    else:
        _read(client, db, folder)
    return 0


def _read(client: Client, db: sqlite3.Connection, folder: Path) -> None:
    line = os.open(folder / "floor-line", os.O_RDWR | os.O_NOCTTY)
    page = PinsPage(folder / "floor-header")
    client.loop_start()
    while not client.is_connected():
        time.sleep(0.01)
    notify("READY=1")
    number = 0
    while data := os.read(line, 64):
        number += 1
        message = b"%d " % number + bytes(_MESSAGE_BYTES) if data == ROUND else None
        db.execute("INSERT INTO row VALUES (?, ?, ?)", (number, os.urandom(_FACT_BYTES), message))
        page.write(LAMP, number % 2)
        if message is not None:
            client.publish(EVENT, message, qos=1)


def _acknowledge(client: Client, db: sqlite3.Connection) -> None:
    def on_message(_client: Client, _data: Any, message: Any) -> None:
        number = int(message.payload.partition(b" ")[0])
        db.execute("INSERT INTO row VALUES (?, NULL, ?)", (number, message.payload))
        client.publish(ACK, b"%d" % number, qos=1, retain=True)

    client.on_message = on_message
    client.on_subscribe = lambda *_: notify("READY=1")
    client.subscribe(EVENT, qos=1)
    client.loop_forever()


if __name__ == "__main__":
    sys.exit(main())
