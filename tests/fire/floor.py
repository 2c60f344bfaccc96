"""A gaming floor of real processes for the stress test: the broker as shipped, with mutual TLS, the reference pit, and
tables with simulated shoes.

Pit and tables connect to the broker through proxies that can cut the connection. A supervisor starts each killed
program again, and a cashier decides on awards.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
import time
import tomllib
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.basics.errors import TableError
from controller.bench.daemon import ROOT, Table, TableFiles
from controller.contract.wire.mqtt_link import await_thread
from controller.contract.wire.mqtt_tls import client_context
from controller.people.cli import programs
from controller.pit.reference.ledger import Ledger
from tests.fire import terms
from tests.fire.links import Link, Links
from tests.fire.schedule import Direction, troubles
from tests.link.house import HOST, SHIPPED, House, write
from tests.support.brokers import Broker
from tests.support.contract import check_message
from tests.support.waiting import PATIENCE_S

TERMS: terms.Written = {
    "personal_vs_personal": (100_000, "1:7", "1:11", 150_000),
    "banker_personal": (20_000, "1:9", "1:13", 20_000),
    "player_personal": (20_000, "2:17", "1:19", 30_000),
    "any_royal": (5_000, "1:23", "1:29", 5_000),
}
"""Seed, share, share into the reserve, most to begin again with: of wagers of 5 dollars, none of them whole cents."""

LISTENED_TO = ("+/state", "+/ack", "+/award", "meters")
"""What the listener hears: not the events, or a hit would never be without a listener. Those are in the journals."""

_LISTENER = "listener"
_SHARED = ("suited_royal", "any_royal")  # these pay from a meter here, so that hits of one round share a level
_SETTLE_S = 120.0  # without an event: the award steps' backlog is told one by one
_LOOK_EVERY_S = 0.1
_LAST_LINES = 15  # of a log, where something is wrong
# How much passes on average until a link is cut, at a cut rate of 1. A window of 50 events, some 60 kB, comes again.
_TABLE_BYTES: dict[Direction, int] = {"to_broker": 150_000, "from_broker": 40_000}
_PIT_BYTES: dict[Direction, int] = {"to_broker": 100_000, "from_broker": 400_000}


class Floor:
    """The gaming floor of one stress test: broker, pit, tables and cashier. `seed` decides what happens to the
    connections, and `cut_rate` says how many times more often than usual they are cut.

    `wrong` collects errors that must never happen. A listener connects to the broker without a proxy and checks each
    message against the contract. `heard` counts its messages by the last word of their topic.
    """

    def __init__(self, folder: Path, seed: int, tables: int, cut_rate: int) -> None:
        self.folder = folder
        self._cut_rate = cut_rate
        self.wrong: list[str] = []
        self._house = House(folder)
        self._links = Links()
        self.pit_link = self._link(seed, "pit", _PIT_BYTES)
        self.table_links: list[Link] = []
        self.tables: list[Table] = []
        for number in range(1, tables + 1):
            name = f"fire-{number:02d}"
            write(folder, name, self._house.ca.issue(name))
            self.table_links.append(self._link(seed, name, _TABLE_BYTES))
            self.tables.append(self._table(name, self.table_links[-1].port, "beetek" if number == 2 else "angel_eye"))
        self.ledger = folder / "ledger"
        self.broker_log, self.pit_log = folder / "broker.log", folder / "pit.log"
        self.broker = Process("broker", self._broker_command(), self.broker_log, self.wrong)
        self.pit = Process("pit", self._pit_command(), self.pit_log, self.wrong, self._audit)
        self._closing = threading.Event()
        self._cashier: subprocess.Popen[str] | None = None
        self._seed = seed
        self._watch = threading.Thread(target=self._minded, args=(self._watch_delivery,), name="watch")
        self.decided = 0
        self.longest_wait_s = 0.0
        self.audits = 0
        self.heard: Counter[str] = Counter()
        self._listener = self._new_listener()

    @property
    def links(self) -> list[Link]:
        """The proxies of all connections: first the pit's, then those of the tables."""
        return [self.pit_link, *self.table_links]

    def open(self) -> None:
        """Start the broker, the listener, the pit, the tables and the cashier."""
        self.broker.start()
        self._listener.connect_async(HOST, self._house.port, keepalive=10)
        self._listener.loop_start()
        self.pit.start()
        for table in self.tables:
            table.start()
        came_true(lambda: all(table.links_up() for table in self.tables), PATIENCE_S, self.picture)
        cashier = programs.python("-m", "tests.fire.cashier", str(self.ledger), str(self._seed))
        self._cashier = subprocess.Popen(
            cashier, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
        )
        self._watch.start()

    def settle(self, accept: Callable[[str, str, int], None]) -> None:
        """Cause no more troubles, and wait until the pit and every table have sent each other everything.

        If a table disputes an award, `accept` is called with the table, the award and its cents, so that people at the
        table accept the award.
        """
        for link in self.links:
            link.calm()
        self.broker.await_up()
        self.pit.await_up()
        self._end_cashier()
        came_true(lambda: self._is_settled(accept), _SETTLE_S, self.picture, self._progress, look_every_s=0.2)
        self._closing.set()
        self._watch.join()

    def close(self) -> None:
        """End all processes and connections of the gaming floor."""
        self._end_cashier()
        self._closing.set()
        for table in self.tables:
            table.close()
        self.pit.end()
        self._listener.disconnect()
        await_thread(self._listener)
        self.broker.end()
        self._links.close()

    def _end_cashier(self) -> None:
        """End the cashier's process, and add the number of its decisions to the attribute `decided`."""
        if self._cashier is not None:
            told, _ = self._cashier.communicate()
            self.decided += int(told)
            self._cashier = None

    def picture(self) -> str:
        """Return a description of the gaming floor's state, which is shown if the test fails."""
        lines = ["wrong:", *self.wrong, *self.pit_log.read_text("utf-8", "replace").splitlines()[-_LAST_LINES:]]
        lines += [f"not heard: {step}" for step in self._unheard_steps()]
        for table in self.tables:
            lines += [line for line in table.log.splitlines() if "award_impossible" in line]
            with suppress(TableError):
                told = table.status()
                lines.append(f"{table.table_id}: {told.face.phase} {told.face.fault} {told.pit}")
            lines.append(table.log_tail(6))
        return "\n".join(lines)

    def _is_settled(self, accept: Callable[[str, str, int], None]) -> bool:
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as db:
            disputed = (
                "SELECT step.table_id, id, step.cents FROM step JOIN award ON award.number = award WHERE heard = 2"
            )
            for table, award, cents in db.execute(disputed).fetchall():
                accept(table, award, cents)
        return (
            not self._unheard_steps()
            and self._last_win_was_told()
            and all(table.links_up() and table.unacknowledged() == 0 for table in self.tables)
        )

    def _last_win_was_told(self) -> bool:
        """Tell whether each table has reported the latest win of a meter in its events. Only the latest win is checked,
        because the pit announces wins one after the other."""
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as db:
            (last,) = db.execute("SELECT max(seq) FROM win").fetchone()
            told = "SELECT body FROM event WHERE table_id = ? AND instr(body, 'win_told') ORDER BY seq DESC LIMIT 1"
            rows = [db.execute(told, (table.table_id,)).fetchone() for table in self.tables]
        return last is None or all(row is not None and json.loads(row[0])["win"]["seq"] == last for row in rows)

    def _unheard_steps(self) -> list[tuple[object, ...]]:
        """Return the steps of awards that no table has reported in its events so far, each with its award."""
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as db:
            steps = "SELECT * FROM step JOIN award ON award.number = step.award WHERE heard != 1"
            return db.execute(steps).fetchall()

    def _progress(self) -> object:
        """Return the number of events in the pit's ledger. A test that waits compares two such values: if they are
        equal, no event came between them."""
        return heads(self.ledger, "SELECT 'events', count(*) FROM event")

    # How it is built.

    def _broker_command(self) -> list[str]:
        heard = "".join(f"topic read pit/v1/{topic}\n" for topic in LISTENED_TO)
        access = (SHIPPED / "acl").read_text("utf-8")
        config = self._house.config() + "log_type all\n"  # what it takes and hands on is counted
        return Broker(self.folder, config, f"{access}\nuser {_LISTENER}\n{heard}", self._house.port).command

    def _link(self, seed: int, name: str, mean_bytes: Mapping[Direction, int]) -> Link:
        means = {direction: mean // self._cut_rate for direction, mean in mean_bytes.items()}
        return self._links.link(self._house.port, lambda connection: troubles(seed, name, connection, means))

    def _table(self, name: str, port: int, shoe: str) -> Table:
        folder = self.folder / name
        folder.mkdir()
        files = self._house.files(name)
        tls = {"ca": str(files.ca), "certificate": str(files.certificate), "private_key": str(files.private_key)}
        pit: dict[str, Any] = {"host": HOST, "port": port} | tls
        game = tomllib.loads((ROOT / "config" / "games" / "royal9.toml").read_text("utf-8"))
        for bet in game["bets"]:
            if bet["spot"] == "royal9":
                bet["rows"] = [_from_a_meter(row) if row["award"] in _SHARED else row for row in bet["rows"]]
        pins = {"debounce_ms": 5}
        archiving = {"keep_shoes": 0}  # every closed shoe is archived in the midst of it
        game = {"bets": game["bets"]}
        sections = {"shoe": {"driver": shoe}, "pit": pit, "pins": pins, "game": game, "journal": archiving}
        table = Table(TableFiles(folder, name, port, None, None, **sections), folder)
        table.program = ("-m", "tests.fire.noted", str(notes(folder)))
        return table

    def _pit_command(self) -> list[str]:
        settings = self.folder / "pit.toml"
        settings.write_text(terms.settings(TERMS), "utf-8")
        files = self._house.files("pit")
        return programs.python(
            *("-m", "controller.pit.reference", "run", "--broker", f"{HOST}:{self.pit_link.port}", "--adopt-new"),
            *("--ledger", str(self.ledger), "--settings", str(settings), "--practice"),
            *("--ca", str(files.ca), "--certificate", str(files.certificate), "--private-key", str(files.private_key)),
        )

    def _new_listener(self) -> Client:
        write(self.folder, _LISTENER, self._house.ca.issue(_LISTENER))
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        client.tls_set_context(client_context(self._house.files(_LISTENER)))
        client.reconnect_delay_set(1, 1)
        client.on_connect = _subscribe
        client.on_message = self._listen
        return client

    # Its people.

    def _minded(self, run: Callable[..., None], *args: object) -> None:
        """Run a thread's function, and add any exception to the list `wrong`. Otherwise the exception would end the
        thread unnoticed."""
        try:
            run(*args)
        except Exception:  # noqa: BLE001  # whatever it is, the judge is to see it
            self.wrong.append(traceback.format_exc())

    def _listen(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        try:
            check_message(message.topic, bytes(message.payload))
        except (AssertionError, ValueError) as error:
            self.wrong.append(f"{message.topic}: {error}")
        self.heard[message.topic.rpartition("/")[2]] += 1

    def _audit(self) -> None:
        """Check the ledger file of a pit that was killed. Add an entry to `wrong` if the ledger's money accounts do not
        balance."""
        with closing(Ledger(self.ledger)) as ledger:
            self.wrong.extend(f"after a kill of the pit: {finding}" for finding in ledger.account().findings)
        self.audits += 1

    def _watch_delivery(self) -> None:
        """Measure how long events wait in the tables' journals until the pit has committed them, and keep the longest
        time."""
        waiting: dict[str, deque[tuple[float, int]]] = {table.table_id: deque() for table in self.tables}
        while not self._closing.wait(_LOOK_EVERY_S):
            committed = heads(self.ledger, "SELECT table_id, max(seq) FROM event GROUP BY table_id")
            now_s = time.monotonic()
            for table in self.tables:
                queue = waiting[table.table_id]
                head = heads(table.journal, "SELECT 'head', max(seq) FROM message").get("head", 0)
                if not queue or queue[-1][1] < head:
                    queue.append((now_s, head))
                while queue and queue[0][1] <= committed.get(table.table_id, 0):
                    self.longest_wait_s = max(self.longest_wait_s, now_s - queue.popleft()[0])


def notes(folder: Path) -> Path:
    """Return the path of the file in which the table of this folder records the calls of its event delivery."""
    return folder / "notes"


class Process:
    """A program that a test kills, and that this class starts again some time later. The program must never end by
    itself.

    `before_start` is called before each restart. `kills` counts the kills. If the program ends by itself, a text about
    this is added to the list `wrong`.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        wrong: list[str],
        before_start: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._command = command
        self._log = log
        self._wrong = wrong
        self._before_start = before_start
        self._up = threading.Event()
        self._one_at_a_time = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.kills = 0

    def start(self) -> None:
        """Start the program, with its output appended to the log file."""
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=ROOT, start_new_session=True
            )
        self._up.set()

    def kill(self, down_s: float) -> None:
        """Kill the program with SIGKILL. If it is still down after an earlier kill, first wait until it runs. The
        program is started again after `down_s` seconds."""
        with self._one_at_a_time:
            self.await_up()
            self._up.clear()
            assert self._process is not None
            self._note_end()
            self._process.kill()
            self._process.wait()
            self.kills += 1
            threading.Timer(down_s, self._start_again).start()

    def await_up(self) -> None:
        """Wait until the program runs. It may be down after a kill."""
        assert self._up.wait(PATIENCE_S), f"the {self._name} was not started again"

    def end(self) -> None:
        """Stop the program for good."""
        if self._process is not None:
            self.await_up()
            self._note_end()
            programs.stop(self._process)

    def _note_end(self) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            last = self._log.read_text("utf-8", "replace").splitlines()[-_LAST_LINES:]
            said = "\n  ".join((f"the {self._name} ended by itself, with code {self._process.returncode}", *last))
            self._wrong.append(said)

    def _start_again(self) -> None:
        try:
            self._before_start()
        except (TableError, AssertionError) as error:
            self._wrong.append(f"{self._name}: {error}")
        self.start()


def _from_a_meter(row: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a row of a bet's pay table. In the copy, the award is paid from the meter `any_royal` instead of
    a fixed amount."""
    return {"when": row["when"], "award": row["award"], "meter": "any_royal"}


def _subscribe(client: Client, *_: object) -> None:
    client.subscribe([(f"pit/v1/{topic}", 1) for topic in LISTENED_TO])


def came_true(
    condition: Callable[[], object],
    within_s: float,
    picture: Callable[[], str],
    progress: Callable[[], object] = lambda: None,
    look_every_s: float = 0.02,
) -> None:
    """Wait until `condition` returns a true value. Raises AssertionError if the condition does not hold and the value
    of `progress` has not changed for `within_s` seconds. The error's text contains what `picture` returns."""
    gives_up_s, before = time.monotonic() + within_s, progress()
    while True:
        if (now := progress()) != before:
            gives_up_s, before = time.monotonic() + within_s, now
        with suppress(TableError):
            if condition():
                return
        assert time.monotonic() < gives_up_s, f"not so within {within_s} s\n{picture()}"
        time.sleep(look_every_s)


def heads(file: Path, query: str) -> dict[str, int]:
    """Run a query that gives pairs of a name and a number on an SQLite file, and return the pairs as a dictionary. The
    dictionary is empty if the file does not exist or cannot be read."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        return {name: number or 0 for name, number in db.execute(query)}
    return {}
