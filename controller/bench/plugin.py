"""The hardware-in-the-loop bench as a pytest plugin: the real daemon, and the far end of each of its wires.

Where the package is installed with its extra `bench`, every pytest has these fixtures:

    table       the daemon `tablectl run` on a generated table file, its pins through the real RPi.GPIO where possible
    shoe        an Angel Eye (or a BeeTek) on a pty
    pins        the buttons, the sensors and the lamps with their patterns
    pit         the tests' own pit, which checks every event that it hears, and acknowledges
    dealer      what a dealer does with shoe and buttons, in one word each
    broker      the Mosquitto between table and pit
    eventually  waits for a condition, a round, a hit or a fault; a failure says in ten lines what was there instead

`@pytest.mark.table(pit={"stale_after_s": 1}, shoe_wrap=1)` changes sections of the table file, and lets the numbers
of the shoe's reports go on with 1 after 9. `shoe={"driver": "beetek"}` plays with that shoe. `game={"shoe": {"decks":
1}}` changes the game. Real hardware takes the place of simulated hardware by `--shoe` with `--table-port`, by `--gpio
real` with `--jumpers`, and by `--broker`, with `--broker-certs` for mutual TLS (docs/bench.md). A test whose broker,
port or Pi is absent is skipped, and says which; with `--bench-strict`, and where CI=true, such a test fails.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import pytest
from msgspec import to_builtins

from controller import __version__
from controller.basics.errors import TableError
from controller.basics.near import meant
from controller.bench.broker_address import Address, broker_address
from controller.bench.broker_certs import TABLE, BrokerCerts
from controller.bench.daemon import ROOT, Broker, ExistingBroker, Table, TableFiles, comes_true, pit_section
from controller.bench.far_pit import Event, FarPit
from controller.bench.far_shoe import FarBeeTek, FarLine, FarShoe, far_shoe
from controller.bench.header import Front, Pins
from controller.bench.jumpers import JumperedFront, Jumpers
from controller.bench.shim import ShimUnavailableError, build_shim
from controller.people.cli.programs import EXAMPLE_TABLE, example_table, mosquitto_program
from controller.table.faults import FAULTS
from drivers.devices import PRESENT_INPUT
from drivers.gpio import load_rpi_gpio
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import SimulatedPins

PATIENCE_S = 60.0
"""How long a test waits for a condition. A busy machine needs some of that time; a lamp's pattern takes 4 s."""

_numbers = itertools.count(1)
_jumpers = pytest.StashKey[Jumpers | None]()
_certs = pytest.StashKey[BrokerCerts | None]()
_shim = pytest.StashKey[Path]()
_strict = pytest.StashKey[bool]()
_ONE_AT_A_TIME = {
    "--broker-certs": "the certificate is for one table",
    "--shoe": "the cable is for one table",
    "--jumpers": "the header is for one table",
}
_ABSENT = ("mosquitto_missing", "broker_silent", "sim_port", "gpio_missing", "gpio_not_a_pi", "gpio_folder")
"""The error codes of parts that a bench may lack: their tests are skipped. With any other code a test fails."""

_LOG_LINES, _LAST_EVENTS, _SOURCE_CHARACTERS = 3, 5, 200  # a failure must fit on the screen


def pytest_addoption(parser: pytest.Parser) -> None:
    bench_ = parser.getgroup("bench", "the hardware-in-the-loop bench; everything that is not named is simulated")
    bench_.addoption(
        "--bench-strict",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="a part that is absent fails its tests, which are skipped otherwise (by itself where CI=true)",
    )
    bench_.addoption(
        "--bench-patience",
        type=float,
        default=PATIENCE_S,
        metavar="SECONDS",
        help="how long a test waits for a condition (default: %(default)g)",
    )
    bench_.addoption("--shoe", metavar="PORT", help="the simulated shoe's end of a real cable")
    bench_.addoption("--table-port", metavar="PORT", help="the daemon's end of that cable")
    bench_.addoption("--gpio", choices=("simulated", "real"), default="simulated", help="the header under the daemon")
    bench_.addoption("--jumpers", metavar="FILE", help="which pins of the real header are wired together")
    bench_.addoption(
        "--broker",
        type=broker_address,
        metavar="mqtt://HOST[:PORT]",
        help="a running broker instead of the bench's own; HOST:PORT too, and mqtts:// with --broker-certs",
    )
    bench_.addoption(
        "--broker-certs", metavar="FOLDER", help="as `tablectl certs FOLDER HOST hil pit bets` writes it, for mqtts://"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_jumpers] = _named_jumpers(config)
    config.stash[_certs] = _named_certs(config)
    config.stash[_strict] = config.getoption("--bench-strict")
    if (config.getoption("--shoe") is None) != (config.getoption("--table-port") is None):
        raise pytest.UsageError("a cable has two ends: give both --shoe and --table-port")
    _refuse_workers(config)
    config.addinivalue_line(
        "markers", "table(shoe_wrap=0, **sections): changes to the table file of the fixture `table`"
    )


def _named_jumpers(config: pytest.Config) -> Jumpers | None:
    named: str | None = config.getoption("--jumpers")
    if (config.getoption("--gpio") == "real") != (named is not None):
        raise pytest.UsageError("a real header needs its jumpers: give both --gpio real and --jumpers FILE")
    if named is None:
        return None
    try:
        jumpers = Jumpers.read(config.invocation_params.dir / named)
        jumpers.wiring(tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))["pins"])
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    except KeyError as error:
        raise pytest.UsageError(f"{named}: a table has no lamp or input {error}") from error
    return jumpers


def _named_certs(config: pytest.Config) -> BrokerCerts | None:
    address: Address | None = config.getoption("--broker")
    named: str | None = config.getoption("--broker-certs")
    if (address is not None and address.tls) != (named is not None):
        raise pytest.UsageError(
            "mutual TLS needs the bench's certificates: give both --broker mqtts://HOST[:PORT] and --broker-certs"
            " FOLDER, as `tablectl certs FOLDER HOST hil pit bets` writes it"
        )
    if address is None or named is None:
        return None
    try:
        return BrokerCerts.read(config.invocation_params.dir / named, address.host)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def _refuse_workers(config: pytest.Config) -> None:
    """Refuse parallel tests where they would share one cable, one header or one certificate."""
    for option, why in _ONE_AT_A_TIME.items():
        if config.getoption(option) is not None and config.getoption("numprocesses", None):
            raise pytest.UsageError(f"{why}, so one test runs at a time: leave --numprocesses (-n) out")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what the bench consists of, for the head of pytest's report."""
    versions = " ".join(f"{name}-{_version(name)}" for name in ("RPi.GPIO", "pyserial", "paho-mqtt"))
    cable = f"{config.getoption('--shoe')} to {config.getoption('--table-port')}" if _cable(config) else "ptys"
    named: Address | None = config.getoption("--broker")
    broker = "its own Mosquitto" if named is None else f"{named.host}:{named.port}{' over TLS' if named.tls else ''}"
    jumpers = config.stash[_jumpers]
    header = _simulated_header(config) if jumpers is None else f"real, {len(jumpers.all())} jumpers"
    return [
        f"bench: table-controller-{__version__} commit {commit()}, {versions}, {_mosquitto_version()}",
        f"bench: the shoe on {cable}, broker {broker}, header {header}",
    ]


def _simulated_header(config: pytest.Config) -> str:
    """What the daemon drives where the header is simulated."""
    try:
        _built_shim(config)
    except ShimUnavailableError as error:
        return f"simulated: imitated RPi.GPIO: {error}"
    except subprocess.CalledProcessError as error:
        return f"none: the shim does not compile: {error}"
    return "simulated: real RPi.GPIO over the pins page"


def _built_shim(config: pytest.Config) -> Path:
    """The shim, compiled once a run: for the report's head, or for the first table where no head is printed.

    Raises the errors of `build_shim`.
    """
    if _shim not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="shim-")
        config.add_cleanup(folder.cleanup)
        config.stash[_shim] = build_shim(Path(folder.name))
    return config.stash[_shim]


def commit() -> str:
    """The commit of this working copy, with a + where files have changed since; "unknown" without Git."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():  # an installed package may lie inside another repository
        return "unknown"
    described = subprocess.run(
        [git, "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return described.stdout.strip() or "unknown"


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def _mosquitto_version() -> str:
    program = mosquitto_program()
    if program is None:
        return "mosquitto-absent"
    usage = subprocess.run([program, "-h"], capture_output=True, text=True, check=False).stdout
    return usage.partition("\n")[0].replace(" version ", "-")


def _cable(config: pytest.Config) -> bool:
    return config.getoption("--shoe") is not None


class Dealer:
    """What a dealer does again and again. Each method returns once the table's status shows what was done."""

    def __init__(self, table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually) -> None:
        self._table = table
        self._shoe = shoe
        self._pins = pins
        self._eventually = eventually

    def open_shoe(self, first_card: str = "2C", burned: str = "KC KD") -> None:
        """Announce a new shoe, draw its first card and burn. Afterwards wagers are open."""
        self._pins.press("new_shoe", until=lambda: self._table.phase == "first_card_due")
        standing = self._table.fault
        self._shoe.new_shoe()
        self._shoe.deal(f"{first_card} {burned}")
        self._eventually.unless_stopped(
            f"the shoe is open after its first card {first_card} and the burned cards {burned}",
            lambda: self._table.phase == "wagers_open",
            standing,
        )

    def lock(self, *seats: int) -> None:
        """Put a wager on these seats' sensors, and lock the wagers."""
        self._pins.cover(*seats)
        self._eventually(lambda: set(seats) <= set(self._table.status().sensors))
        self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked")

    def deal(self, cards: str) -> None:
        """Deal these cards of a round, and wait until the table shows the last of them."""
        already = 0 if self._table.phase == "wagers_locked" else self._shown()
        self._shoe.deal(cards)
        self._eventually(lambda: self._shown() == already + len(cards.split()))

    def _shown(self) -> int:
        return sum(map(len, self._table.hands.values()))

    def cut_card(self) -> None:
        """The cut card comes. At a shoe that does not report it, the dealer presses `cut_card`."""
        seen = self._cut_cards()
        self._shoe.cut_card()
        if not self._shoe.tells_cut_card:
            self._pins.press("cut_card", until=lambda: self._cut_cards() > seen)
        self._eventually(lambda: self._cut_cards() > seen)

    def _cut_cards(self) -> int:
        return sum(fact["fact"] == "CutCardDrawn" for fact in self._table.facts())

    def play(self, cards: str, *seats: int) -> None:
        """Lock the wagers, deal a whole round, and wait until the round is over."""
        self.lock(*seats)
        standing = self._table.fault
        self._shoe.deal(cards)
        self._eventually.unless_stopped(
            f"the round is over after its cards {cards}",
            lambda: self._table.phase in ("wagers_open", "shoe_ended"),
            standing,
        )
        self._pins.uncover(*seats)


class Eventually:
    """`eventually(condition)` waits until the condition is true. A failure says in ten lines what the test waited for
    and how the table was, and names a file with the whole status.
    """

    def __init__(self, table: Table, pins: Pins, pit: FarPit, folder: Path, patience_s: float = PATIENCE_S) -> None:
        self._table = table
        self._pins = pins
        self._pit = pit
        self._patience_s = patience_s
        self._whole = folder / "when-it-failed.json"

    def __call__(self, condition: Callable[[], object], within_s: float | None = None) -> None:
        __tracebackhide__ = True
        self._wait(_source(condition), condition, within_s)

    def unless_stopped(self, awaited: str, condition: Callable[[], object], standing: str | None) -> None:
        """Wait until the condition is true, which a failure calls `awaited`. Fail at once where the table stops by
        another fault than `standing`."""
        __tracebackhide__ = True
        met: object = False

        def met_or_stopped() -> bool:
            nonlocal met
            met = condition()
            return bool(met) or self._table.fault not in (None, standing)

        stopped = comes_true(met_or_stopped, self._patience_s)
        if not met:
            if stopped:
                why = f"the table stopped by the fault {self._table.fault} before this"
            else:
                why = f"not true within {self._patience_s:g} s"
            pytest.fail(f"{why}: {awaited}\n{self._picture()}", pytrace=True)

    def wait_for_round(self, number: int | None = None, within_s: float | None = None) -> Event:
        """Wait until the pit has round `number`, or any round. Returns the newest such round. Rounds count from 1."""
        __tracebackhide__ = True
        awaited = "a round" if number is None else f"round {number}"
        return self._wait_for(awaited, lambda: self._pit.rounds, lambda it: number in (None, it["round"]), within_s)

    def wait_for_hit(self, seat: int | None = None, within_s: float | None = None) -> Event:
        """Wait until the pit has a hit of this seat, or of any seat. Returns the newest such hit."""
        __tracebackhide__ = True
        awaited = "a hit" if seat is None else f"a hit at seat {seat}"
        return self._wait_for(awaited, lambda: self._pit.hits, lambda it: seat in (None, it["seat"]), within_s)

    def wait_for_fault(self, code: str, within_s: float | None = None) -> None:
        """Wait until the table has stopped with this fault. Raises LookupError for an unknown code."""
        __tracebackhide__ = True
        if code not in FAULTS:
            likely = get_close_matches(code, FAULTS, 1)
            meant = f"Did you mean {likely[0]}?" if likely else "docs/faults.md lists them."
            raise LookupError(f"No fault is called {code!r}. {meant}")
        self._wait(f"the fault {code}", lambda: self._table.fault == code, within_s)

    def _wait_for(
        self, awaited: str, events: Callable[[], list[Event]], fits: Callable[[Event], bool], within_s: float | None
    ) -> Event:
        __tracebackhide__ = True
        self._wait(f"{awaited} at the pit", lambda: any(map(fits, events())), within_s)
        return [event for event in events() if fits(event)][-1]

    def _wait(self, awaited: str, condition: Callable[[], object], within_s: float | None) -> None:
        __tracebackhide__ = True
        within_s = self._patience_s if within_s is None else within_s
        if not comes_true(condition, within_s):
            pytest.fail(f"not true within {within_s:g} s: {awaited}\n{self._picture()}", pytrace=True)

    def _picture(self) -> str:
        try:
            status = self._table.status()
        except TableError as error:
            return f"the table says: {error}\nlog:\n{self._table.log_tail(_LOG_LINES)}"
        self._whole.write_text(
            json.dumps({"status": to_builtins(status), "events": self._pit.events}, indent=1), "utf-8"
        )
        face, pit = status.face, status.pit
        fault = "no fault" if face.fault is None else f"fault {face.fault.code}"
        hands = ", ".join(f"{hand.hand} {' '.join(hand.cards)}" for hand in face.hands)
        burning = {name: shown or "changing" for name, shown in self._pins.lamps().items() if shown != "dark"}
        lamps = " ".join(f"{name}={shown}" for name, shown in burning.items())
        events = " ".join(event["type"] for event in self._pit.events[-_LAST_EVENTS:])
        line = "up" if status.shoe.up else "down"
        return "\n".join(
            (
                f"table: {face.phase}, {fault}; {hands or 'no cards'}; the shoe's line is {line}",
                f"lamps not dark: {lamps or 'none'}",
                f"pit: {pit.stream}, {len(self._pit.events)} events, the last: {events or 'none'}"
                + "".join(f"\nwrong at the pit: {wrong}" for wrong in self._pit.wrong),
                f"the whole status: {self._whole}",
                f"log:\n{self._table.log_tail(_LOG_LINES)}",
            )
        )


def _source(condition: Callable[[], object]) -> str:
    """The condition as its test writes it, on one line."""
    try:
        lines, _ = inspect.getsourcelines(condition)
    except (OSError, TypeError):  # typed at a prompt
        return repr(condition)
    return " ".join(line.strip() for line in lines)[:_SOURCE_CHARACTERS]


def _absent(config: pytest.Config, what: str) -> NoReturn:
    """Skip the test, which needs a part that is absent. With `--bench-strict` the test fails."""
    if config.stash[_strict]:
        pytest.fail(f"{what} The bench is strict: without --bench-strict this test is skipped.", pytrace=False)
    pytest.skip(what)


@contextmanager
def _skipped_where_absent(config: pytest.Config) -> Iterator[None]:
    """Skip the test, in the error's words, where a part that the test needs is absent."""
    try:
        yield
    except TableError as error:
        if error.code not in _ABSENT:
            raise
        _absent(config, error.what)


@pytest.fixture(scope="session")
def shim(pytestconfig: pytest.Config) -> Path | None:
    """The library that puts the pins page under the real RPi.GPIO; None where that is not used or cannot be built."""
    if pytestconfig.stash[_jumpers] is not None:
        return None
    try:
        return _built_shim(pytestconfig)
    except ShimUnavailableError:
        return None


@pytest.fixture
def broker(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[Broker | ExistingBroker]:
    """A running broker: the one that `--broker` names, or else a Mosquitto of the test's own."""
    named: Address | None = pytestconfig.getoption("--broker")
    certs = pytestconfig.stash[_certs]
    broker = Broker(tmp_path) if named is None else ExistingBroker(named.host, named.port, certs)
    with _skipped_where_absent(pytestconfig):
        broker.up()
    yield broker
    if named is None:
        broker.down()


def _example(name: str) -> Path:
    """An example's table file. Raises LookupError for a name that is no example's."""
    file = example_table(name)
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.toml"))
        raise LookupError(f"No example table is called {name!r}{meant(name, known)}. There are: {', '.join(known)}.")
    return file


@pytest.fixture
def table_files(request: pytest.FixtureRequest, tmp_path: Path, broker: Broker, shim: Path | None) -> TableFiles:
    """The files of a table that has not run yet."""
    marker = request.node.get_closest_marker("table")
    sections: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
    sections.pop("shoe_wrap", None)
    example = _example(sections.pop("example", "royal9"))
    sections["pit"] = pit_section(broker) | sections.get("pit", {})
    jumpers = request.config.stash[_jumpers]
    if _cable(request.config):
        sections["shoe"] = {"port": request.config.getoption("--table-port")} | sections.get("shoe", {})
    # An existing broker retains the messages of earlier runs, so each run takes other names.
    table_id = TABLE if broker.certs else f"hil-{os.getpid()}-{next(_numbers)}"
    return TableFiles(tmp_path, table_id, broker.port, shim, jumpers, example, **sections)


@pytest.fixture
def front(pytestconfig: pytest.Config, table_files: TableFiles) -> Iterator[Front]:
    """How the table's inputs and lamps are reached. Skips the test where there is no real header to reach."""
    lamps, inputs = table_files.values["pins"]["lamps"], table_files.values["pins"]["inputs"]
    jumpers = pytestconfig.stash[_jumpers]
    if jumpers is None:
        yield SimulatedPins(table_files.page, lamps, inputs)
        return
    with _skipped_where_absent(pytestconfig):
        gpio = load_rpi_gpio()
    jumpered = JumperedFront(gpio, jumpers, lamps, inputs)
    yield jumpered
    jumpered.close()


@pytest.fixture
def pins(pytestconfig: pytest.Config, table_files: TableFiles, front: Front) -> Iterator[Pins]:
    """The table's front: buttons, sensors, lamps."""
    whole = tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))["pins"]
    unjumpered = () if pytestconfig.stash[_jumpers] is None else {*whole["lamps"], *whole["inputs"]}
    pins = Pins(front, table_files.values["pins"]["lamps"], table_files.values["pins"]["inputs"], unjumpered)
    yield pins
    pins.close()


class Cable(SerialLine):
    """The shoe's end of a real cable, which no program can pull."""

    def unplug(self) -> None:
        """Skip the test."""
        pytest.skip("a real cable is pulled by hand")

    def plug(self) -> None:
        """Skip the test."""
        pytest.skip("a real cable is plugged in by hand")

    def unplug_at_shoe(self) -> None:
        """Skip the test."""
        pytest.skip("a real plug is pulled by hand")

    def plug_at_shoe(self) -> None:
        """Skip the test."""
        pytest.skip("a real plug is put in by hand")

    def close(self) -> None:
        """Let go of the port."""
        super().unplug()


def _look_for_table_port(config: pytest.Config) -> None:
    """Skip the test where the daemon's end is absent. The port is not opened: a serial server takes only one client."""
    port: str = config.getoption("--table-port")
    if "://" not in port and not Path(port).exists():
        _absent(config, f"There is no {port}, the table's end of the cable.")


@pytest.fixture
def shoe_line(pytestconfig: pytest.Config, table_files: TableFiles) -> Iterator[FarLine]:
    """The shoe's end of the line, plugged in."""
    if _cable(pytestconfig):
        _look_for_table_port(pytestconfig)
        with _skipped_where_absent(pytestconfig):
            cable = Cable(pytestconfig.getoption("--shoe"), table_files.baud)
        yield cable
        cable.close()
    else:
        line = PtyLine(table_files.port)
        yield line
        line.unplug()


@pytest.fixture
def shoe(request: pytest.FixtureRequest, table_files: TableFiles, shoe_line: FarLine) -> FarShoe | FarBeeTek:
    """The shoe, which has sent nothing yet: an Angel Eye, unless the table file names another brand."""
    marker = request.node.get_closest_marker("table")
    wrap = 0 if marker is None else marker.kwargs.get("shoe_wrap", 0)
    shoe: FarShoe | FarBeeTek = far_shoe(table_files.values["shoe"]["driver"], shoe_line, wrap)
    if PRESENT_INPUT in table_files.values["pins"]["inputs"]:
        show_plug(shoe_line, request.getfixturevalue("front"))
    return shoe


def show_plug(line: FarLine, front: Front) -> None:
    """Let the input for the shoe's plug follow the plug, which is in at first."""
    if isinstance(line, PtyLine):
        line.on_plug = lambda is_in: (front.press if is_in else front.release)(PRESENT_INPUT)
    front.press(PRESENT_INPUT)


@pytest.fixture
def pit(broker: Broker, table_files: TableFiles) -> Iterator[FarPit]:
    """The pit, connected. At the end of the test, nothing that it heard may have been wrong."""
    pit = FarPit(broker.port, table_files.table_id, host=broker.host, certs=broker.certs)
    yield pit
    pit.gone()
    assert pit.wrong == []


@pytest.fixture
def unstarted_table(table_files: TableFiles, pins: Pins, tmp_path: Path) -> Iterator[Table]:
    """The daemon, not started yet. It ends with the test, and its journal must then be sound."""
    table = Table(table_files, tmp_path)
    yield table
    table.close()
    if table.journal.exists():
        table.verify()


@pytest.fixture
def eventually(
    pytestconfig: pytest.Config, unstarted_table: Table, pins: Pins, pit: FarPit, tmp_path: Path
) -> Eventually:
    """Waits until a condition is true."""
    return Eventually(unstarted_table, pins, pit, tmp_path, pytestconfig.getoption("--bench-patience"))


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
