"""A replicated pit for the stress tests, on several machines: two databases, brokers, and two pits, of which one leads.
Each machine is a Linux network namespace."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.pit.head_office.audit import audit
from controller.pit.reference.__main__ import main
from controller.pit.reference.award import Award
from controller.pit.reference.ledger import Ledger
from tests.pit.house import ROOT
from tests.pit.postgresql import Server, rows
from tests.support.at_desk import ask_desk
from tests.support.brokers import OPEN, Broker
from tests.support.network import Network

_WHO = re.compile(r"process (\d+)")
_SUPERVISORS = 5002  # a group
_ANN, _BOB = 4001, 4002
_SKEWED = """
import sys, time
skew_ns, right = int(sys.argv.pop(1)) * 10**9, time.time_ns
time.time_ns = lambda: right() + skew_ns
from controller.pit.reference.__main__ import main
sys.exit(main())
"""
"""A pit whose machine's clock is wrong by so many seconds."""


class Cell:
    """A primary database with its standby, brokers, and two pits. A thread starts a pit again whenever it ends.

    `pits` maps each machine that runs a pit to the machine of the broker that this pit uses. `settings` is the text of
    the pits' settings file without the section `[roles]`. `home` is the folder with the pits' program.
    """

    def __init__(
        self,
        folder: Path,
        network: Network,
        databases: list[Server],
        pits: Mapping[str, str],
        ends: ExitStack,
        settings: str,
        home: Path = ROOT,
    ) -> None:
        self.network = network
        self._broker_of = pits
        self._home = home
        self._settings = folder / "pit.toml"
        self._settings.write_text(f"{settings}[roles]\nsupervisor = [{_SUPERVISORS}]\n", "utf-8")
        self.desks = [folder / f"{machine}.control" for machine in pits]
        self.primary, self.standby = databases
        self.primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")  # which the standby copies
        self.primary.reload()
        self.standby.follow(self.primary)
        self.standby.start()
        self.standby.until_it_receives()
        hosts = ",".join(quote(str(server.folder), safe="") for server in databases)
        self.url = f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"
        self._key = str(folder / "key")
        Ledger(self.url).close()
        assert main(["key", "--ledger", self.url, "--signing-key", self._key]) == 0
        self.brokers: dict[str, Broker] = {}  # by their machines
        for machine in dict.fromkeys(pits.values()):
            (folder / machine).mkdir(exist_ok=True)
            broker = Broker(folder / machine, OPEN.replace("127.0.0.1", network.address(machine)))
            broker.command = [*network.on(machine), *broker.command]
            broker.start()
            ends.callback(broker.kill)
            self.brokers[machine] = broker
        self.folder = folder
        self._log = (folder / "pits.log").open("ab")
        self._over = threading.Event()
        self._pits: dict[str, subprocess.Popen[bytes]] = {}  # by their machines
        self.skew_s: dict[str, int] = {}  # by how much the clock of a machine's next pit stands ahead of the right time
        self._supervisor = threading.Thread(target=self._supervise)
        self._supervisor.start()
        ends.callback(self._end)

    def leader(self) -> str | None:
        """Return the machine of the pit that leads now, or None if no pit leads."""
        with suppress(psycopg.Error):
            for (who,) in rows(self.url, "SELECT who FROM leadership WHERE until > clock_timestamp()"):
                found = _WHO.search(str(who))
                for machine, pit in [*self._pits.items()]:
                    if found and int(found[1]) == pit.pid:
                        return machine
        return None

    def some_leader(self) -> str:
        """Wait until one of the pits leads, and return the machine on which it runs."""
        while (machine := self.leader()) is None:
            time.sleep(0.05)
        return machine

    def await_leader_beside(self, former: str) -> None:
        """Wait until a pit on a machine other than `former` leads."""
        while self.leader() in (None, former):
            time.sleep(0.05)

    def signal_pit(self, machine: str, number: signal.Signals) -> None:
        """Send a signal to the process of the pit on this machine. Do nothing if no pit runs there."""
        with suppress(KeyError, ProcessLookupError):
            os.kill(self._pits[machine].pid, number)

    def signal_leader(self, number: signal.Signals) -> tuple[str, int]:
        """Wait until a pit leads, and send its process a signal. Returns the leader's machine and process id."""
        machine = self.some_leader()
        pid = self._pits[machine].pid
        os.kill(pid, number)
        return machine, pid

    def replace_primary(self) -> None:
        """Swap the two databases after the standby has taken over. The promoted standby is now the primary, and the
        former primary starts empty as its standby."""
        self.primary, self.standby = self.standby, self.primary
        self.standby.forget()
        self.standby.follow(self.primary)
        self.standby.start()
        self.standby.until_it_receives()

    @contextmanager
    def silent_standby(self) -> Iterator[None]:
        """Keep the standby database from confirming any commit while the `with` block runs."""
        ((receiver,),) = self.standby.query("SELECT pid FROM pg_stat_wal_receiver") or [(None,)]
        if not isinstance(receiver, int):
            return
        os.kill(receiver, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(receiver, signal.SIGCONT)

    def cancel_commits(self) -> int:
        """Cancel all commits in the primary database that wait for the standby's confirmation. Returns their number."""
        waiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return len(self.primary.query(waiting))

    def _supervise(self) -> None:
        while not self._over.wait(0.05):
            for machine in self._broker_of:
                if machine not in self._pits or self._pits[machine].poll() is not None:
                    self._pits[machine] = self._started_pit(machine)

    def _started_pit(self, machine: str) -> subprocess.Popen[bytes]:
        hosts = ",".join(server.address for server in (self.primary, self.standby))
        broker = self._broker_of[machine]
        at = f"{self.network.address(broker)}:{self.brokers[broker].port}"
        program = [sys.executable, "-c", _SKEWED, str(self.skew_s.get(machine, 0))]
        command = [*self.network.on(machine), *program, "run", "--replicated"]
        command += ["--ledger", f"postgresql://postgres@{hosts}/postgres", "--adopt-new", "--broker", at]
        command += ["--signing-key", self._key, "--settings", str(self._settings)]
        command += ["--control", str(self.folder / f"{machine}.control")]
        environment = {**os.environ, "PYTHONPATH": str(self._home)}
        return subprocess.Popen(command, cwd=self._home, env=environment, stdout=subprocess.DEVNULL, stderr=self._log)

    @property
    def key(self) -> bytes:
        """The public key of the key pair with which both pits sign."""
        return load_or_make_key(Path(self._key)).public

    def head_office_findings(self) -> list[str]:
        """Run the head office's audit on a log of all the events and decisions that the pits have signed. Returns a
        list of texts, one for each error that the audit finds."""
        log = self.folder / "house.log"
        with log.open("w", encoding="utf-8") as out, redirect_stdout(out):
            assert main(["events", "--ledger", self.url]) == 0
            assert main(["statement", "--ledger", self.url, "--signing-key", self._key]) == 0
        return audit("house", [log], None, None, None).findings

    def _end(self) -> None:
        self._over.set()
        self._supervisor.join()
        for pit in self._pits.values():
            pit.kill()
            pit.wait()
        self._log.close()


class Cashier(threading.Thread):
    """A thread that plays two supervisors at the pits, who decide on awards from two user accounts.

    The supervisors do not know which pit leads, and send their requests to the control socket of either machine. A pit
    that no longer leads must decide nothing. If an answer is lost because its pit was killed, the supervisors ask
    again. `paid` counts for each award how often a pit answered that it is paid.
    """

    def __init__(self, cell: Cell, seed: int) -> None:
        super().__init__()
        self._cell = cell
        self._luck = random.Random(seed)
        self.over = threading.Event()
        self.paid: Counter[str] = Counter()
        self.decided = 0

    def run(self) -> None:
        while not self.over.wait(0.5):
            for award in self._awards():
                if award.step in ("pending", "verified") and not self.over.is_set():
                    with suppress(OSError, ValueError):  # the pit was killed, or stood still, before its answer
                        self._decide(award)

    def _awards(self) -> list[Award]:
        with suppress(TableError), closing(Ledger(self._cell.url, begin=False)) as ledger:
            return ledger.awards()
        return []

    def _decide(self, award: Award) -> None:
        if award.step == "verified":
            if self._ask(_BOB, do="pay", award=award.id)["ok"]:
                self.paid[award.id] += 1
                self.decided += 1
        elif self._luck.random() < 0.2:
            for waits in self._ask(_ANN, do="reject", award=award.id).get("waits", ()):
                confirmed = self._ask(_BOB, do="confirm", proposal=waits["number"], digest=waits["digest"])
                self.decided += confirmed["ok"]
        else:
            self.decided += self._ask(_ANN, do="verify", award=award.id)["ok"]

    def _ask(self, who: int, **request: object) -> dict[str, Any]:
        """Send a request from the user account `who` to the first pit whose control socket is open, and return the
        pit's answer."""
        for desk in self._luck.sample(self._cell.desks, len(self._cell.desks)):
            with suppress(FileNotFoundError, ConnectionRefusedError):
                return ask_desk(who, desk, [_SUPERVISORS], **request)
        return {"ok": False}
