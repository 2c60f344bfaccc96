"""The hardware-in-the-loop bench as a pytest plugin: the real daemon, and the far end of each of its wires.

`-p tests.hil.plugin` brings these fixtures to any test, this repository's or another's:

    table       the daemon `tablectl run` on a generated table file, its pins through the real RPi.GPIO where possible
    shoe        an Angel Eye (or a BeeTek) on a pty
    pins        the buttons, sensors and lamps, with the patterns the lamps burn in
    pit         a pit of the tests' own, which checks every event it hears, and acknowledges
    dealer      what a dealer does with shoe and buttons between the lines of a story
    broker      the Mosquitto between table and pit
    eventually  waits until a condition holds, and shows the whole table when it does not

`@pytest.mark.table(pit={"stale_after_s": 1}, shoe_wrap=1)` changes sections of the table file, and the Seq after 9;
`shoe={"driver": "beetek"}` plays with that shoe, `game={"shoe": {"decks": 1}}` changes the game.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.errors import TableError
from drivers.sim.angel_eye import PtyLine
from tests.hil.daemon import Broker, Table, TableFiles, comes_true
from tests.hil.far_pit import FarPit
from tests.hil.far_shoe import FarBeeTek, FarLine, FarShoe
from tests.hil.header import Pins
from tests.shim.build import ShimUnavailableError, build_shim

_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "table(shoe_wrap=0, **sections): changes to the table file of the fixture `table`"
    )


class Dealer:
    """What a dealer does again and again. Each method returns when the table has taken it in."""

    def __init__(self, table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually) -> None:
        self._table = table
        self._shoe = shoe
        self._pins = pins
        self._eventually = eventually

    def open_shoe(self, first_card: str = "2C", burned: str = "KC KC") -> None:
        """Announce a new shoe, turn its first card and burn: wagers are open."""
        self._pins.press("new_shoe", until=lambda: self._table.phase == "first_card_due")
        self._shoe.new_shoe()
        self._shoe.deal(f"{first_card} {burned}")
        self._eventually(lambda: self._table.phase == "wagers_open")

    def lock(self, *seats: int) -> None:
        """Let these seats wager on Royal 9, and lock."""
        self._pins.cover(*seats)
        self._eventually(lambda: set(seats) <= set(self._table.status()["sensors"]))
        self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked")

    def deal(self, cards: str) -> None:
        """Deal these cards of a hand, and wait until the last of them is shown."""
        already = 0 if self._table.phase == "wagers_locked" else self._shown()
        self._shoe.deal(cards)
        self._eventually(lambda: self._shown() == already + len(cards.split()))

    def _shown(self) -> int:
        return sum(map(len, self._table.hands.values()))

    def play(self, cards: str, *seats: int) -> None:
        """Lock, deal a whole hand, and wait until it is over."""
        self.lock(*seats)
        self._shoe.deal(cards)
        self._eventually(lambda: self._table.phase in ("wagers_open", "shoe_ended"))
        self._pins.uncover(*seats)


class Eventually:
    """`eventually(condition)`: waits until it holds; what it shows otherwise is all that can be seen of the table."""

    def __init__(self, table: Table, pins: Pins, pit: FarPit) -> None:
        self._table = table
        self._pins = pins
        self._pit = pit

    def __call__(self, condition: Callable[[], object], within_s: float = 5.0) -> None:
        __tracebackhide__ = True
        if not comes_true(condition, within_s):
            pytest.fail(f"not so within {within_s} s\n{self._picture()}")

    def _picture(self) -> str:
        try:
            status = json.dumps(self._table.status(), indent=1)
        except TableError as error:
            status = str(error)
        lamps = " ".join(f"{name}={shown}" for name, shown in self._pins.lamps().items() if shown != "dark")
        events = "\n".join(f"  {event}" for event in self._pit.events[-5:])
        return (
            f"status: {status}\nlamps not dark: {lamps}\n"
            f"pit: {len(self._pit.events)} events, wrong: {self._pit.wrong}\n{events}\n"
            f"log:\n{self._table.log_tail()}"
        )


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """What puts the pins page under the real RPi.GPIO; None where that cannot be, and the header is simulated."""
    try:
        return build_shim(tmp_path_factory.mktemp("shim"))
    except ShimUnavailableError:
        return None


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A Mosquitto that runs. Fails with TableError `mosquitto_missing` where there is none."""
    broker = Broker(tmp_path)
    broker.up()
    yield broker
    broker.down()


@pytest.fixture
def table_files(request: pytest.FixtureRequest, tmp_path: Path, broker: Broker, shim: Path | None) -> TableFiles:
    """The files of a table nobody has run yet."""
    marker = request.node.get_closest_marker("table")
    sections: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
    sections.pop("shoe_wrap", None)
    return TableFiles(tmp_path, f"hil-{next(_numbers)}", broker.port, shim, **sections)


@pytest.fixture
def pins(table_files: TableFiles) -> Iterator[Pins]:
    """The table's front: buttons, sensors, lamps."""
    pins = Pins(table_files.page, table_files.values["pins"]["lamps"], table_files.values["pins"]["inputs"])
    yield pins
    pins.close()


@pytest.fixture
def shoe_line(table_files: TableFiles) -> Iterator[FarLine]:
    """The shoe's end of the line, plugged in."""
    line = PtyLine(table_files.port)
    yield line
    line.unplug()


@pytest.fixture
def shoe(request: pytest.FixtureRequest, table_files: TableFiles, shoe_line: FarLine) -> FarShoe | FarBeeTek:
    """The shoe, silent: an Angel Eye, unless the table file names another."""
    if table_files.values["shoe"]["driver"] == "beetek":
        return FarBeeTek(shoe_line)
    marker = request.node.get_closest_marker("table")
    return FarShoe(shoe_line, wrap=0 if marker is None else marker.kwargs.get("shoe_wrap", 0))


@pytest.fixture
def pit(broker: Broker, table_files: TableFiles) -> Iterator[FarPit]:
    """The pit, connected. At the test's end nothing it heard may have been wrong."""
    pit = FarPit(broker.port, table_files.table_id)
    yield pit
    pit.gone()
    assert pit.wrong == []


@pytest.fixture
def unstarted_table(table_files: TableFiles, pins: Pins, tmp_path: Path) -> Iterator[Table]:
    """The daemon before its header, not started yet. It is ended with the test, and its journal must then be sound."""
    table = Table(table_files, tmp_path)
    yield table
    table.close()
    if table.journal.exists():
        table.verify()


@pytest.fixture
def eventually(unstarted_table: Table, pins: Pins, pit: FarPit) -> Eventually:
    """Waits until a condition holds."""
    return Eventually(unstarted_table, pins, pit)


@pytest.fixture
def table(unstarted_table: Table, shoe: FarShoe | FarBeeTek, eventually: Eventually) -> Table:
    """The daemon, running, with its shoe and its pit."""
    unstarted_table.start()
    eventually(unstarted_table.links_up)
    return unstarted_table


@pytest.fixture
def dealer(unstarted_table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually) -> Dealer:
    """The dealer of `table`."""
    return Dealer(unstarted_table, shoe, pins, eventually)
