"""The demonstration `make ha-demo`: a house runs its pit on three machines, and the viewer sees what a table notices
when the leading pit's machine stops.

The machines are loopback addresses. In a test they may also be network namespaces, with one address for both brokers
that moves from machine to machine. In that case a machine that loses its power is first cut off from the network, so
that no other program is told that its connections ended. Later the machine of the primary database is cut off while it
keeps running.

The files of config/ha configure what runs on the machines. Machines `one` and `two` run etcd, PostgreSQL under Patroni,
a broker and a pit. The witness (the third machine) runs etcd and a third copy of the database. If no address moves, the
table has both brokers in its `hosts`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psycopg
import tomli_w

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.face.status import PitLink
from controller.people.cli import programs
from controller.people.cli.certs import BenchCa
from controller.people.cli.client import status_of
from controller.pit.reference.__main__ import main as pit_command
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.machines import write_files
from tests.support.network import Network

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config" / "ha"
NAMES = "one", "two", "witness"
BROKER = "10.20.0.10"
"""The address before both brokers, by the shipped file."""
PROGRAMS = "patroni", "etcd", "mosquitto"

_NETWORK = "127.20.0."
_PATIENCE_S = 180.0
_LOOK_S = 0.1
_POSTGRES = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to be run by root
_AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if _POSTGRES else []
_STALE_AFTER_S = 5
_LOST_WITHIN_S = 1.0  # a machine's processes end one after the other
_METERS_EVERY_S = 1.5  # the pit says them at least so often
_CUT_FOR_S = 15.0  # Patroni tells old leaders from new by then
_LOOKS_S = 10.0  # at the pace of people: for how long one looks at what is well


def keepalived_file(machine: str, broker_files: Path = Path("/etc/mosquitto")) -> str:
    """Return the text of the machine's configuration file for keepalived, as it is shipped. `broker_files` is the
    folder of the broker's files, which the text names."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(CONFIG, Path(folder) / "machines")
        text = (Path(folder) / "machines" / machine / "keepalived.conf").read_text("utf-8")
    return text.replace("/etc/mosquitto", str(broker_files))


def answering(folder: Path) -> str:
    """Return lines for a broker's configuration file. They open a port at which keepalived checks whether the broker
    answers. The certificate for this port is written into `folder`."""
    for name, pem in zip(("broker.crt", "broker.key"), BenchCa().issue("broker.pit"), strict=True):
        (folder / name).write_bytes(pem)
    return f"listener 8883 127.0.0.1\ncertfile {folder}/broker.crt\nkeyfile {folder}/broker.key\n"


def missing() -> list[str]:
    """Return the names of the programs that the demonstration needs and that this machine does not have."""
    return [name for name in PROGRAMS if _program(name) is None]


class Machine:
    """One of the three machines of the demonstration: its address and its processes."""

    def __init__(self, house: House, name: str) -> None:
        self.name = name
        self.address = house.network.address(name) if house.network else f"{_NETWORK}{NAMES.index(name) + 1}"
        self._on = house.network.on(name) if house.network else []
        self._house = house
        self._folder = house.folder / name
        self._folder.mkdir()
        house.certify(self._folder / "tls", self.address)
        if _POSTGRES is not None:
            for each in (self._folder, self._folder / "tls", *(self._folder / "tls").iterdir()):
                shutil.chown(each, _POSTGRES)
        self._running: list[subprocess.Popen[bytes]] = []
        self.pit = 0
        """The process of its pit."""
        self.has_power = False

    def start(self) -> None:
        """Start everything on the machine except its pit: etcd, PostgreSQL and the broker."""
        self.start_etcd()
        self.start_services()

    def start_etcd(self) -> None:
        """Start the machine's etcd."""
        self.has_power = True
        lines = self._shipped("etcd").splitlines()
        etcd = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        self._run("etcd", [_program("etcd") or ""], {**etcd, "ETCD_DATA_DIR": str(self._folder / "etcd")})

    def start_services(self) -> None:
        """Start PostgreSQL under Patroni on the machine. Start the broker, unless the machine is the witness (the third
        machine). If the demonstration uses an address that moves between the brokers, start keepalived too."""
        patroni = self._folder / "patroni.yml"
        patroni.write_text(self._shipped("patroni.yml"), "utf-8")
        self._run("patroni", [_program("patroni") or "", str(patroni)])
        if self.name == "witness":
            return
        broker = self._folder / "mosquitto.conf"
        listener = f"listener {self._house.broker_port}"
        if self._house.network is None:
            listener += f" {self.address}"
        else:
            keepalived = self._folder / "keepalived.conf"
            keepalived.write_text(keepalived_file(self.name, self._folder), "utf-8")
            files = ["-f", str(keepalived), "-p", f"{keepalived}.pid", "-r", f"{keepalived}.vrrp.pid"]
            self._run("keepalived", [_program("keepalived") or "", "-nlD", *files], as_postgres=False)
        listener += "" if self._house.network is None else f"\n{answering(self._folder)}"
        broker.write_text(f"{listener}\nallow_anonymous true\npersistence false\nmax_queued_messages 10000\n", "utf-8")
        self._run("mosquitto", [_program("mosquitto") or "", "-c", str(broker)])

    def start_pit(self) -> None:
        """Start the machine's pit. The pit connects to the broker at the moving address or, if no address moves, to the
        broker on its own machine."""
        words = ["run", "--ledger", self._house.ledger, "--replicated", "--signing-key", str(self._house.key)]
        broker = self.address if self._house.network is None else BROKER
        words += ["--broker", f"{broker}:{self._house.broker_port}", "--adopt-new"]
        command = [sys.executable, "-m", "controller.pit.reference", *words]
        self.pit = self._run("pit", command, as_postgres=False)

    def stop(self) -> None:
        """Kill everything that runs on the machine, as a loss of power would."""
        self.has_power = False
        for process in self._running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self._running:
            process.wait()
        self._running.clear()
        if self._on:
            subprocess.run([*self._on, "ip", "address", "flush", "to", f"{BROKER}/32"], check=True)
        data = str(self._folder / "data")
        for proc in Path("/proc").glob("[0-9]*/cmdline"):  # PostgreSQL is in a session of its own
            with suppress(OSError):
                if data in proc.read_text():
                    os.kill(int(proc.parent.name), signal.SIGKILL)

    def wrong(self) -> str:
        """Return what Patroni finds wrong with the machine's configuration file, or an empty text if the file is
        correct. Patroni need not run yet."""
        (self._folder / "patroni.yml").write_text(self._shipped("patroni.yml"), "utf-8")
        command = [_program("patroni") or "", "--validate-config", str(self._folder / "patroni.yml")]
        found = subprocess.run(command, capture_output=True, text=True, user=_POSTGRES, cwd="/")
        return found.stdout + found.stderr

    def _shipped(self, name: str) -> str:
        """Return the text of a configuration file that `pitctl machines` wrote for this machine. The ports and folders
        in the text are replaced by those of this demonstration."""
        text = (self._house.files / self.name / name).read_text("utf-8")
        for port, here in self._house.ports.items():
            text = text.replace(f":{port}", f":{here}")
        text = text.replace("/etc/patroni/tls", str(self._folder / "tls"))
        text = text.replace("/etc/etcd/tls", str(self._folder / "tls"))
        text = text.replace("/var/lib/postgresql/15/pit", str(self._folder / "data"))
        text = text.replace("/var/lib/postgresql/pit.pgpass", str(self._folder / "pgpass"))
        text = text.replace("/var/run/postgresql", str(self._folder))
        text = text.replace("/usr/lib/postgresql/15/bin", str(_postgresql()))
        if self._house.network is None:  # on the loopback every connection comes from 127.0.0.1
            text = text.replace(
                "ETCD_ENABLE_V2", "ETCD_EXPERIMENTAL_PEER_SKIP_CLIENT_SAN_VERIFICATION=true\nETCD_ENABLE_V2"
            )
        return text

    def _run(
        self, name: str, command: Sequence[str], env: dict[str, str] | None = None, as_postgres: bool = True
    ) -> int:
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*self._on, *(_AS_POSTGRES if as_postgres else ()), *command],
                cwd="/" if as_postgres else ROOT,
                env={**os.environ, **({"HOME": str(self._folder)} if as_postgres else {}), **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(process)
        return process.pid


class House:
    """The three machines of the demonstration, and a table at which a simulated dealer deals."""

    def __init__(self, folder: Path, speed: float, ends: ExitStack, network: Network | None) -> None:
        self.folder = folder
        self.network = network
        self._speed = speed
        folder.chmod(0o755)
        self.ports = {port: programs.free_port() for port in (2379, 2380, 5432, 8008)}
        self.broker_port = programs.free_port()
        self.key = folder / "pit.key"
        self._ca = BenchCa()
        self.certify(folder / "tls", "people")
        self.machines = {name: Machine(self, name) for name in NAMES}
        self.files = self._written()
        for machine in self.machines.values():
            ends.callback(machine.stop)
        at = ",".join(f"{self.machines[name].address}:{self.ports[5432]}" for name in NAMES[:2])
        leaders = self._password("pgpass", r":leader:(.+)")
        self.ledger = f"postgresql://leader:{leaders}@{at}/pit?target_session_attrs=read-write&{self._verified()}"
        self._ends = ends

    def certify(self, folder: Path, name: str) -> None:
        """Make `folder`, and write three files into it: a certificate for `name`, its private key, and the certificate
        of the authority that issued it."""
        folder.mkdir()
        certificate, key = self._ca.issue(name)
        for file, pem in (("ca.crt", self._ca.certificate), ("machine.crt", certificate), ("machine.key", key)):
            (folder / file).write_bytes(pem)
        (folder / "machine.key").chmod(0o600)

    def _verified(self) -> str:
        """Return the query parameters of a database URL that tell the client how to verify the server's certificate."""
        return f"sslmode=verify-full&sslrootcert={self.folder}/tls/ca.crt"

    def _written(self) -> Path:
        """Write the machines' configuration files with `pitctl machines`, and return their folder."""
        models, names = self.folder / "models", {name: machine.address for name, machine in self.machines.items()}
        shutil.copytree(CONFIG, models)
        shipped = tomllib.loads((models / "machines.toml").read_text("utf-8"))
        names["network"] = shipped["network"] if self.network else "127.0.0.0/8"
        (models / "machines.toml").write_text(tomli_w.dumps(shipped | names), "utf-8")
        write_files(models, self.folder / "machines")
        return self.folder / "machines"

    def _password(self, name: str, pattern: str) -> str:
        """Return a password from the configuration file `name` of machine `one`. `pattern` is a regular expression
        whose first group is the password."""
        found = re.search(pattern, (self.files / "one" / name).read_text("utf-8"))
        assert found is not None
        return found[1]

    def begin(self) -> None:
        """Start the three machines. The pit on the machine of the primary database is started before the second pit, so
        that it leads."""
        for machine in self.machines.values():
            machine.start_etcd()
        client = self.ports[2379]
        self.await_(lambda: all(_answers(machine.address, client) for machine in self.machines.values()), "etcd")
        for machine in self.machines.values():
            assert (wrong := machine.wrong()) == "", wrong
            machine.start_services()
        self.await_(lambda: self.primary() and self.is_replicated(), "a primary with a synchronous standby")
        self._make_roles()
        self.await_(self._has_ledger, "a ledger that both copies have")
        with redirect_stdout(None):
            pit_command(["key", "--ledger", self.ledger, "--signing-key", str(self.key)])
        first = self.machines[self.primary() or "one"]
        first.start_pit()
        self.await_(self.leader, "a pit that leads")
        for name in NAMES[:2]:
            if name != first.name:
                self.machines[name].start_pit()

    @contextmanager
    def without(self, machine: Machine) -> Iterator[None]:
        """Switch off the machine while the `with` block runs, and start the machine and its pit again afterwards."""
        with self.network.cut_off(machine.name) if self.network else nullcontext():
            machine.stop()
            yield
        machine.start()
        machine.start_pit()

    def _make_roles(self) -> None:
        """Create the pit's database and its roles on the primary with the shipped file `roles.sql`, in the way that the
        manual describes."""
        primary = self.primary() or "one"
        file = self.files / primary.replace("witness", "one") / "roles.sql"
        command = ["psql", self._superusers(primary, "postgres"), "--no-psqlrc", "--quiet", "--file", str(file)]
        made = subprocess.run(command, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr

    def _has_ledger(self) -> bool:
        with suppress(TableError):  # the copies may still be coming
            Ledger(self.ledger).close()
            return True
        return False

    def deal(self) -> None:
        """Start the table's daemon and the simulated people who play at the table."""
        self.table = programs.simulated_table(self.folder, self.broker_port, table={"bet_recognition": False})
        values = tomllib.loads(self.table.read_text("utf-8"))
        del values["pit"]["host"]
        brokers = [self.machines[name].address for name in NAMES[:2]]
        values["pit"] |= {"hosts": brokers if self.network is None else [BROKER], "stale_after_s": _STALE_AFTER_S}
        self.table.write_text(tomli_w.dumps(values), "utf-8")
        daemon = programs.python("-m", "controller.people.cli.main", "run", str(self.table))
        started = self._ends.enter_context(programs.started(daemon, self.folder / "table.log"))
        programs.await_table(self.table, started, self.folder / "table.log")
        people = programs.python("-m", "drivers.sim", str(self.table))
        people += ["--account", str(self.folder / "account"), "--speed", str(self._speed), "--seed", "17"]
        self.people = self._ends.enter_context(programs.started(people, self.folder / "people.log"))

    def pit_status(self) -> PitLink:
        """Return the part of the table's status that describes its connection to the pit."""
        return status_of(self.table).pit

    def acked(self) -> int:
        """Return the number of the table's last event that the pit has acknowledged."""
        return self.pit_status().acked_seq

    def copies(self) -> int:
        """Return how many copies of the database receive the primary's changes now."""
        rows = self._query(self.primary() or "one", "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")
        return len(rows)

    def judged(self) -> str:
        """Check that the ledger contains every event that the pit acknowledged to the table, and that its account
        balances. Returns a summary. Raises AssertionError if an event is lost, doubled or out of order.

        The ledger may contain later events too, for example a report that the shoe is silent.
        """
        acked = self.acked()
        with psycopg.connect(self.ledger) as db:
            kept = db.execute("SELECT seq FROM event ORDER BY number").fetchall()
        assert kept == [(seq,) for seq in range(1, len(kept) + 1)], "lost, doubled or out of order"
        assert acked <= len(kept), f"event {acked} was acknowledged, and is not there"
        with closing(Ledger(self.ledger, begin=False)) as ledger:
            assert ledger.account().findings == ()
        return f"{acked} events: 0 lost, 0 doubled, and the account balances"

    def dealt_without(self, lost_s: float, led_s: float, again_s: float) -> tuple[int, int]:
        """Return two numbers for the time without a pit: how many rounds the table dealt, and in how many it refused
        the progressive wager.

        The pit was lost at `lost_s`, another pit began to lead at `led_s`, and it acknowledged an event at `again_s`
        (Unix times). Raises AssertionError if a progressive wager was accepted or refused at the wrong time.
        """
        with psycopg.connect(self.ledger) as db:
            told: list[dict[str, Any]] = [
                parse_object(bytes(body)) for (body,) in db.execute("SELECT body FROM event ORDER BY number")
            ]
        rounds, refused = 0, 0
        last: object = "no lock"
        for event in told:
            at_s = datetime.fromisoformat(str(event["at"])).timestamp()
            rounds += event["type"] == "round" and lost_s < at_s < again_s
            if event["type"] != "wagers_locked" or not event["progressive"]:
                continue
            last = event["progressive"][0]["refusal"]
            refused += last == "pit_stale" and lost_s < at_s < again_s
            if lost_s + _STALE_AFTER_S + _LOST_WITHIN_S < at_s < led_s - _LOOK_S:
                assert last == "pit_stale", f"a pit that was gone for long: {event}"
            elif at_s < lost_s + _STALE_AFTER_S - _METERS_EVERY_S:
                assert last is None, f"a pit that was there: {event}"
        assert last is None, "the progressive wager is taken again"
        return rounds, refused

    def primary(self) -> str | None:
        """Return the machine whose PostgreSQL accepts writes, or None if no machine's PostgreSQL accepts them."""
        return next((name for name in NAMES if self._query(name, "SELECT NOT pg_is_in_recovery()") == [(True,)]), None)

    def leader(self) -> str | None:
        """Return the machine whose pit leads, or None if no pit leads."""
        leads = "SELECT who FROM leadership WHERE until > clock_timestamp() AND NOT pg_is_in_recovery()"
        for at in NAMES[:2]:
            for (who,) in self._query(at, leads, "pit") if self.machines[at].has_power else ():
                return next((name for name in NAMES if f"process {self.machines[name].pit}," in str(who)), None)
        return None

    def await_(self, holds: Callable[[], object], what: str) -> float:
        """Wait until `holds` returns a true value, and return how many seconds that took. Raises TableError if it takes
        too long. `what` is the part of the error's text that says what was awaited."""
        began_s = time.monotonic()
        while not holds():
            if time.monotonic() - began_s > _PATIENCE_S:
                raise TableError("ha_demo_stuck", f"There is not {what}.", f"Look at the logs in {self.folder}.")
            time.sleep(_LOOK_S)
        return time.monotonic() - began_s

    def is_replicated(self) -> bool:
        """Tell whether Patroni has a synchronous standby database that may take over as the primary. The witness's
        database may not take over."""
        ours = ssl.create_default_context(cafile=self.folder / "tls" / "ca.crt")
        ours.load_cert_chain(self.folder / "tls" / "machine.crt", self.folder / "tls" / "machine.key")
        for machine in self.machines.values():
            at = f"https://{machine.address}:{self.ports[8008]}/cluster"
            with suppress(OSError), urlopen(at, timeout=2, context=ours) as said:
                standbys = {each["name"] for each in json.load(said)["members"] if each["role"] == "sync_standby"}
                return bool(standbys - {"witness"})
        return False

    def _query(self, name: str, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with suppress(psycopg.Error), psycopg.connect(self._superusers(name, database), connect_timeout=2) as db:
            return db.execute(statement.encode()).fetchall()
        return []

    def _superusers(self, name: str, database: str) -> str:
        """Return the URL with which PostgreSQL's superuser connects to the database `database` on machine `name`."""
        superusers = self._password("patroni.yml", r"username: postgres\n +password: \"(.+)\"")
        return f"postgresql://postgres:{superusers}@{self.machines[name].address}:{self.ports[5432]}/{database}?{self._verified()}"


def play(
    folder: Path, speed: float, say: Callable[[str], None], network: Network | None = None
) -> tuple[float, int, int]:
    """Play the demonstration: the machine of the leading pit stops and comes back. `say` is called with each line of
    text that describes it.

    Returns three numbers: for how many seconds the table got no acknowledgement, how many rounds it dealt without a
    pit, and in how many of them it refused the progressive wager. Raises TableError if something does not happen in
    time, and AssertionError if an event was lost or doubled.
    """
    with ExitStack() as ends:
        house = House(folder, speed, ends, network)
        say("three machines start: etcd and PostgreSQL on each, broker and pit on one and two")
        house.begin()
        house.deal()
        led = house.leader() or "one"
        say(f"the pit on {led} leads, and the primary database is on {house.primary()}; the table deals")
        look_s = _LOOKS_S / speed
        _watch(house, look_s, say)
        before, lost = house.acked(), house.machines[led]
        lost_s = time.time()
        with house.without(lost):
            say(f"machine {led} has lost its power: pit, database, broker and etcd are gone")
            last_s = time.monotonic()
            house.await_(lambda: house.leader() not in (None, led), "a pit that leads")
            led_s = time.time()
            say(f"the pit on {house.leader()} leads after {time.monotonic() - last_s:.1f} s; the table dealt on")
            house.await_(lambda: house.acked() > before, "an acknowledgement")
            without_s, again_s = time.monotonic() - last_s, time.time()
            say(f"the table's events are acknowledged again: {without_s:.1f} s without acknowledgements")
            _watch(house, look_s, say)
        back_s = house.await_(lambda: house.copies() == 2, "two copies beside the primary")
        say(f"machine {led} is back and has caught up after {back_s:.0f} s; its pit stands by")
        _watch(house, look_s, say)
        if network is not None:
            _cut_the_primary_off(house, network, say)
        programs.stop(house.people)
        house.await_(lambda: house.pit_status().unacknowledged == 0, "an acknowledgement of the last event")
        rounds, refused = house.dealt_without(lost_s, led_s, again_s)
        say(f"without a pit the table dealt {rounds} rounds; the progressive wager was refused at {refused} locks")
        say(house.judged())
        return without_s, rounds, refused


def _cut_the_primary_off(house: House, network: Network, say: Callable[[str], None]) -> None:
    """Cut the machine of the primary database off from the network for a while, although it keeps running. Another
    machine must become the primary, and the pit must acknowledge events again."""
    house.await_(house.is_replicated, "a synchronous standby that may take over")
    cut, before, cut_s = house.primary() or "one", house.acked(), time.monotonic()
    with network.cut_off(cut):
        say(f"machine {cut}, which has the primary database, is cut off and runs on")
        house.await_(lambda: house.primary() not in (None, cut), "a primary on another machine")
        house.await_(lambda: house.acked() > before, "an acknowledgement")
        say(f"{time.monotonic() - cut_s:.1f} s without acknowledgements")
        _watch(house, _CUT_FOR_S, say)
    mended_s = house.await_(lambda: house.copies() == 2, "two copies beside the primary")
    _watch(house, 0.0, say)
    say(f"the cut was mended: {mended_s:.1f} s until there were two copies; the primary is on {house.primary()}")


def _watch(house: House, for_s: float, say: Callable[[str], None]) -> None:
    begun = house.acked()
    time.sleep(for_s)
    house.await_(lambda: house.acked() > begun, "an acknowledgement")
    status = house.pit_status()
    say(f"the table speaks with {status.broker}: {status.acked_seq} of {status.head_seq} events acknowledged")


def _answers(address: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((address, port), 1):
        return True
    return False


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _postgresql() -> Path:
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)))


def main() -> int:
    """Run the demonstration at the speed of real people. Returns the exit code: 0, or 1 if programs are missing or the
    demonstration fails."""
    if lacks := missing():
        print(
            f"This machine lacks {', '.join(lacks)}: sudo apt-get install -y patroni etcd-server mosquitto postgresql"
        )
        return 1
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ha-demo-") as folder:
        try:
            play(Path(folder), 1.0, lambda line: print(f"{time.monotonic() - began_s:6.1f} s  {line}", flush=True))
        except TableError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
