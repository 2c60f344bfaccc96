"""A house for tests that run the pit as a separate process: a real broker, the pit, and clients of the broker that play
the tables."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from paho.mqtt.client import MQTTMessage

from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.pit.reference.__main__ import main
from controller.pit.reference.opening import Place
from tests.support.brokers import Broker, Peer
from tests.support.pit_process import PitProcess

ROOT = Path(__file__).resolve().parents[2]
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
    """Return the acknowledgement of event `seq` without its table, time and signature. `Far`, the client that plays a
    table, returns acknowledgements in the same form, so a test can compare the two."""
    return canonical({"epoch": EPOCH, "seq": seq, "chain": f"{seq:064x}"})


class Far(Peer):
    """A client of the broker that plays a table. It receives the pit's acks for the table, or the messages of another
    topic."""

    def __init__(self, port: int, topic: str = f"pit/v1/{TABLE}/ack") -> None:
        super().__init__(port, topic)

    def send_events(self, *events: bytes, table: str = TABLE) -> None:
        """Publish these events as a table does, and do not wait for the broker's answers."""
        self.send(f"pit/v1/{table}/event", *events)

    def say_state(self, table: str = TABLE, boot: int = 1, head_seq: int = 0, key: SigningKey = KEY) -> None:
        self.publish(f"pit/v1/{table}/state", state(table, boot, head_seq, key), retain=True)

    def said(self) -> dict[str, Any]:
        """Return the next message on the client's topic. If the message is an acknowledgement, leave out its table,
        time and signature."""
        message: dict[str, Any] = json.loads(_bare(self.next()))
        return message

    def ack(self, wanted: bytes) -> list[tuple[bytes, bool]]:
        """Wait for the ack `wanted`. Return all acks that arrived, `wanted` last, each with a flag that says whether
        the broker had retained it."""
        seen: list[tuple[bytes, bool]] = []
        while not seen or seen[-1][0] != wanted:
            message = self.next()
            seen.append((_bare(message), message.retain))
        return seen

    def acks_so_far(self) -> list[bytes]:
        """Return the acks that have arrived and that the test has not taken yet."""
        return [_bare(message) for message in self.so_far()]


def _bare(message: MQTTMessage) -> bytes:
    """Return an acknowledgement without its table, time and signature. Check that its table is the one in the topic.
    Return any other message unchanged."""
    if not message.topic.endswith("/ack") or not message.payload:
        return bytes(message.payload)
    said = json.loads(message.payload)
    assert said.pop("table") == message.topic.split("/")[-2]
    assert said.pop("at")
    assert said.pop("signature")
    return canonical(said)


class House:
    """A broker, together with the pits and clients that a test starts on it. All of them are stopped when the test
    ends."""

    def __init__(self, folder: Path, ends: ExitStack, access_list: str = "") -> None:
        self.ledger = folder / "ledger.sqlite"
        self.control = folder / "ledger.sqlite.control"
        self.broker = Broker(folder, access_list=access_list).start()
        self._ends = ends
        ends.callback(lambda: self.broker.kill())

    def pit(self, *options: str, ledger: Place | None = None, program: Sequence[str] = (sys.executable,)) -> PitProcess:
        pit = PitProcess(self.broker.port, ledger or self.ledger, "--practice", *options, program=program)
        self._ends.callback(pit.process.wait)
        self._ends.callback(pit.process.kill)
        return pit

    def far(self, topic: str = f"pit/v1/{TABLE}/ack") -> Far:
        far = Far(self.broker.port, topic)
        self._ends.callback(far.close)
        return far

    def adopting(self) -> tuple[Far, PitProcess]:
        """Return two values: a client that plays a table and has published its state, and a running pit that adopts the
        table without asking a person."""
        far = self.far()
        far.say_state()
        return far, self.pit("--adopt-new")

    def decide(self, *words: str, by: str = "Ann", witness: str = "Bob") -> int:
        """Run a `pitctl` command at this pit as two people would, one who proposes and one who confirms. Return the
        exit code. The command names both people, because the pit runs with --practice."""
        return main([*words, "--control", str(self.control), "--as", by, "--with", witness])

    def held(self) -> list[tuple[int, bytes]]:
        db = sqlite3.connect(self.ledger)
        try:
            return db.execute("SELECT seq, body FROM event ORDER BY number").fetchall()
        finally:
            db.close()
