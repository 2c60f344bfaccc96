"""A made-up casino for tests of the pit's page: a broker, a pit with the events of one evening, the states of its
tables, and the page itself."""

from __future__ import annotations

import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from controller.contract.canonical import canonical
from controller.people.cli import programs
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.house import House, ack
from tests.support.waiting import eventually_now

_UNITS = Path(__file__).resolve().parents[2] / "systemd"
_MADE = "2026-01-01T20:00:00.000Z"
_ONLINE: dict[str, Any] = {
    "online": True,
    "epoch": EPOCH,
    "boot": 1,
    "contract": 4,
    "version": "1",
    "program_digest": "0" * 64,
    "config_digest": "0" * 64,
    "digest": "0" * 64,
    "public_key": KEY.public.hex(),
    "phase": "wagers_open",
    "shoe": 1,
    "round": 2,
    "fault": None,
    "links": {"shoe": True, "journal": True},
    "pit": "well",
    "head_seq": 0,
    "unacknowledged": 0,
    "oldest_unacknowledged_at": None,
}
_OFFLINE = canonical({"online": False, "table": "royal9-03", "epoch": EPOCH, "boot": 1, "contract": 4})


def held_to(unit: str) -> list[str]:
    """Return a command that runs the Python interpreter under the system-call filter of the systemd unit `unit`."""
    return programs.python("-m", "tests.support.unit_filter", str(_UNITS / f"{unit}.service"), sys.executable)


class Scene:
    """A made-up casino with three tables: one with a hit that waits for a decision, one that has stopped with a fault,
    and one that is offline.

    The pit and its page run under the system-call filters of their systemd units.
    """

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self.folder = folder
        self._ends = ends
        self.house = House(folder, ends)
        self.meters = ("banker_personal", "player_personal")
        self.pit = self.house.pit("--adopt-new", program=held_to("table-pit"))
        self.far = self.house.far()
        self.one = TableEvening("royal9-01", self.meters)
        self.state("royal9-01")
        self.state("royal9-02", fault="journal_failed", links={"shoe": False, "journal": False}, pit="behind",
                   unacknowledged=7, oldest_unacknowledged_at=_MADE)  # fmt: skip
        self.far.publish("pit/v1/royal9-03/state", _OFFLINE, retain=True)
        self.far.ack(ack(0))
        for _ in range(40):
            self.one.lock(1, 4)
            self.one.finish()
        self.one.lock(2, 4)
        self.one.finish((4, "banker_personal"))
        self.hit = self.one.hit(4, "banker_personal", "banker_personal")
        self.one.say("alarm", code="x")
        self.far.send_events(*self.one.sent, b"no event", table="royal9-01")
        self.far.ack(ack(len(self.one.sent)))
        self.page_at = self._start_page()

    def state(self, table: str, **more: object) -> None:
        said = _ONLINE | {"table": table} | more
        self.far.publish(f"pit/v1/{table}/state", canonical(said), retain=True)

    def _start_page(self) -> str:
        port = programs.free_port()
        command = (
            *held_to("table-pit-page"),
            *("-m", "controller.people.pit_page", "--ledger", str(self.house.ledger), "--listen", f"127.0.0.1:{port}"),
            *("--broker", f"127.0.0.1:{self.house.broker.port}"),
        )
        log = self.folder / "page.log"
        self._ends.enter_context(programs.started(command, log))
        eventually_now(lambda: "http" in log.read_text("utf-8"), "the page's server")
        return f"http://127.0.0.1:{port}/"

    def metrics(self) -> str:
        with urllib.request.urlopen(f"{self.page_at}metrics", timeout=20) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return str(answer.read().decode())
