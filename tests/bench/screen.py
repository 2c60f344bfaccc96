"""Measures the players' page: the time from a round's last card at the table to the moment when the page marks the
round's result, and how much CPU the browsers that read the page cost the table."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime

from controller.daemon.record.journal_reading import read_open_shoe
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from tests.bench.house import House, cpu_ms, until
from tests.bench.report import Section, spread
from tests.screen.browser import DRIVER, PROGRAM, Browser, chromium

_SPEED = 10
_MANY = 99

_NOTE_MARKS = """
window.marks = [];
new MutationObserver(() => {
  const many = document.querySelectorAll('#bead_plate [data-mark]').length;
  if (many === (window.marks.at(-1)?.[0] ?? 0)) return;
  const mark = [many, null];
  window.marks.push(mark);
  requestAnimationFrame(() => requestAnimationFrame(() => { mark[1] = performance.timeOrigin + performance.now(); }));
}).observe(document.getElementById('bead_plate'), { childList: true });
"""
"""Each round on the bead plate, and when the frame after the one that painted it began."""

_READERS = """
import selectors, socket, sys
host, port, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
poll = selectors.DefaultSelector()
for place in range(many):  # each from an address of its own: the screen takes few streams of one
    line = socket.create_connection((host, port), source_address=(f"127.0.1.{place + 1}", 0))
    line.sendall(b"GET /events HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
    poll.register(line, selectors.EVENT_READ)
print("all are there", flush=True)
while True:
    for key, _ in poll.select():
        key.fileobj.recv(65536)
"""
"""Browsers that read what the players' page is sent, and draw nothing."""


def measure(house: House, rounds: int, quiet_s: float) -> Iterator[Section]:
    """Measure the players' page in Chromium while a table is dealt at, alone and with 99 other readers. Yields nothing
    if Chromium is not installed."""
    if not (PROGRAM and DRIVER):
        return
    at = f"127.0.0.1:{programs.free_port()}"
    latencies, costs = [], []
    with house.daemon() as (daemon, _), ExitStack() as stack:
        until(lambda: status_of(house.table).pit.meters_fresh, "the pit")
        costs.append(("no screen", *_at_rest(daemon, None, quiet_s)))
        log = house.folder / "screen.log"
        command = programs.python("-m", "controller.people.cli.main", "screen", str(house.table), "--listen", at)
        server = stack.enter_context(programs.started(command, log))
        until(lambda: at in log.read_text("utf-8"), "the screen")
        browser = stack.enter_context(chromium(house.folder))
        browser.size("monitor")
        for browsers in (1, 1 + _MANY):
            if browsers > 1:
                _let_read(house, at, stack)
                ask(house.table, {"do": "close_shoe", "by": "bench"})
            delays_ms = _delays_ms(house, browser, f"http://{at}/", rounds)
            median, p99 = spread(delays_ms)
            latencies.append((str(browsers), str(len(delays_ms)), f"{median:.0f}", f"{p99:.0f}"))
            costs.append((f"{browsers} on the screen", *_at_rest(daemon, server.pid, quiet_s)))
    yield Section(
        "From the table to pixels",
        "From the moment at which a round's last card came to the frame after the one that painted its mark in "
        "Chromium at 1920 x 1080, drawn without a graphics card. The commit and the feed's beat of 200 ms are in it.",
        ("browsers", "rounds", "median ms", "p99 ms"),
        latencies,
    )
    yield Section(
        "What browsers cost",
        f"CPU of the table and of the screen's server, in % of one core over {quiet_s:g} s with wagers open.",
        ("browsers", "table %", "screen's server %"),
        costs,
    )


def _let_read(house: House, at: str, stack: ExitStack) -> None:
    """Let `_MANY` more browsers read the page at the address `at`, until `stack` is closed."""
    said = house.folder / "readers.log"
    readers = programs.python("-c", _READERS, *at.split(":"), str(_MANY))
    stack.enter_context(programs.started(readers, said))
    until(lambda: "all are there" in said.read_text("utf-8"), "the readers")


def _at_rest(daemon: int, server: int | None, quiet_s: float) -> tuple[str, str]:
    processes = [daemon] if server is None else [daemon, server]
    before, begun_s = [cpu_ms(each) for each in processes], time.monotonic()
    time.sleep(quiet_s)
    lasted_ms = 1000 * (time.monotonic() - begun_s)
    shares = [100 * (cpu_ms(each) - was) / lasted_ms for each, was in zip(processes, before, strict=True)]
    return f"{shares[0]:.2f}", "-" if server is None else f"{shares[1]:.2f}"


def _delays_ms(house: House, browser: Browser, url: str, rounds: int) -> list[float]:
    browser.open(url)
    browser.run(_NOTE_MARKS)
    people = ["-m", "drivers.sim", str(house.table), "--account", str(house.folder / "account"), "--seed", "2"]
    subprocess.run(programs.python(*people, "--speed", str(_SPEED), "--rounds", str(rounds)), check=True)
    until(lambda: int(browser.text("[data-count=rounds]") or 0) >= rounds, "the last round")
    until(lambda: browser.read("window.marks.at(-1)[1]"), "its frame")
    came_ms = [
        datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp() * 1000
        for row in read_open_shoe(house.folder / "table.journal")
        for event in map(json.loads, row.messages)
        if event["type"] == "round" and not event["simulated"]
    ]
    marks: list[tuple[int, float]] = browser.read("window.marks")
    return [painted_ms - came_ms[many - 1] for many, painted_ms in marks if 0 < many <= len(came_ms)]
