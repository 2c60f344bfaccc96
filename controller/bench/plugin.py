"""The hardware-in-the-loop bench as a pytest plugin: fixtures for the real table daemon, and for the shoe, the pins and
the pit to which the daemon is connected.

If the package is installed with its extra `bench`, every pytest run has these fixtures. The name of each begins with
`bench_`, and each uses only fixtures of such names. `short_names` has them without that prefix, for tests that have no
other use for words such as `table`. A test file or a conftest.py may define a fixture with a short name; the bench's
fixtures go on working.

`@pytest.mark.bench_table(pit={"stale_after_s": 1}, shoe_wrap=1)` changes sections of the table file, and lets the
numbers of the shoe's reports go on with 1 after 9. `shoe={"driver": "beetek"}` uses a shoe of that brand.
`game={"shoe": {"decks": 1}}` changes the game.

Command-line options replace the simulated hardware by real hardware: `--shoe` with `--table-port`, `--gpio real` with
`--jumpers`, and `--broker`, with `--broker-certs` for mutual TLS (docs/bench.md). A test whose broker, port or Pi is
absent is skipped, and says which is absent. With `--bench-strict`, and if CI=true, such a test fails.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import pytest

from controller import __version__
from controller.basics.errors import TableError
from controller.basics.near import ended
from controller.bench.broker_address import Address, broker_address
from controller.bench.broker_certs import TABLE, BrokerCerts
from controller.bench.daemon import ROOT, Broker, ExistingBroker, Table, TableFiles, pit_section
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarBeeTek, FarLine, FarShoe, far_shoe
from controller.bench.header import Front, Pins
from controller.bench.jumpers import JumperedFront, Jumpers
from controller.bench.shim import ShimUnavailableError, build_shim
from controller.bench.waiting import PATIENCE_S, Eventually, Wait
from controller.bench.wires import Wires
from controller.people.cli.programs import EXAMPLE_TABLE, example_table, mosquitto_program
from drivers.devices import PRESENT_INPUT
from drivers.gpio import load_rpi_gpio
from drivers.sim.line import PtyLine, SerialLine
from drivers.sim.pins import SimulatedPins

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
_MARKERS = ("bench_table", "table")
"""The bench's own marker, and its short name: a test with the first may use the second for something else."""
_ABSENT = ("mosquitto_missing", "broker_silent", "sim_port", "gpio_missing", "gpio_not_a_pi", "gpio_folder")
"""The error codes of parts that a bench may lack: their tests are skipped. With any other code a test fails."""


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
    for marker in _MARKERS:
        config.addinivalue_line(
            "markers", f"{marker}(shoe_wrap=0, **sections): changes to the table file of the bench's table"
        )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Raise LookupError for a pytest mark that begins with `bench_` and that the bench does not know. A misspelt mark
    would otherwise change nothing, and the test would pass."""
    for mark in item.iter_markers():
        if mark.name.startswith("bench_") and mark.name not in _MARKERS:
            raise LookupError(f"The bench has no mark {mark.name}{ended(mark.name, _MARKERS)}")


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
    """Refuse to run tests in parallel if they would share one cable, one header or one certificate."""
    for option, why in _ONE_AT_A_TIME.items():
        if config.getoption(option) is not None and config.getoption("numprocesses", None):
            raise pytest.UsageError(f"{why}, so one test runs at a time: leave --numprocesses (-n) out")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return a line for the head of pytest's report that says what the bench consists of."""
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
    """Return, as text for the head of pytest's report, which library drives the simulated header: the real RPi.GPIO, or
    an imitation of it. If the shim does not compile, the text says so."""
    try:
        _built_shim(config)
    except ShimUnavailableError as error:
        return f"simulated: imitated RPi.GPIO: {error}"
    except subprocess.CalledProcessError as error:
        return f"none: the shim does not compile: {error}"
    return "simulated: real RPi.GPIO over the pins page"


def _built_shim(config: pytest.Config) -> Path:
    """Return the path of the shim: a library that lets the real RPi.GPIO use a file instead of the Pi's GPIO registers.
    The shim is compiled once in a test run.

    Raises ShimUnavailableError without a C compiler or RPi.GPIO, and CalledProcessError if the source is wrong.
    """
    if _shim not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="shim-")
        config.add_cleanup(folder.cleanup)
        config.stash[_shim] = build_shim(Path(folder.name))
    return config.stash[_shim]


def commit() -> str:
    """Return the Git commit of this working copy, with a + if files have changed since; "unknown" without Git."""
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


def _absent(config: pytest.Config, what: str) -> NoReturn:
    """Skip the test, because it needs a part that is absent. With `--bench-strict` the test fails."""
    if config.stash[_strict]:
        pytest.fail(f"{what} The bench is strict: without --bench-strict this test is skipped.", pytrace=False)
    pytest.skip(what)


@contextmanager
def _skipped_where_absent(config: pytest.Config) -> Iterator[None]:
    """Run a block. If the block raises the error of an absent part, for example of a missing broker, skip the test with
    the error's message."""
    try:
        yield
    except TableError as error:
        if error.code not in _ABSENT:
            raise
        _absent(config, error.what)


@pytest.fixture(scope="session")
def bench_shim(pytestconfig: pytest.Config) -> Path | None:
    """The library that lets the real RPi.GPIO use a file (the pins page) instead of the Pi's GPIO registers; None if
    the library is not used or cannot be built."""
    if pytestconfig.stash[_jumpers] is not None:
        return None
    try:
        return _built_shim(pytestconfig)
    except ShimUnavailableError:
        return None


@pytest.fixture
def bench_broker(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[Broker | ExistingBroker]:
    """A running MQTT broker: the one that `--broker` names, or else a Mosquitto of the test's own."""
    named: Address | None = pytestconfig.getoption("--broker")
    certs = pytestconfig.stash[_certs]
    broker = Broker(tmp_path) if named is None else ExistingBroker(named.host, named.port, certs)
    with _skipped_where_absent(pytestconfig):
        broker.up()
    yield broker
    if named is None:
        broker.down()


def _changes(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the arguments of the test's marker `bench_table`; empty without a marker. The marker's long name takes
    precedence over its short name."""
    marker = next(filter(None, map(request.node.get_closest_marker, _MARKERS)), None)
    return {} if marker is None else dict(marker.kwargs)


def _example(name: str) -> Path:
    """Return the path of the example table file of this name. Raises LookupError if no example has this name."""
    file = example_table(name)
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.toml"))
        raise LookupError(f"No example table is called {name!r}{ended(name, known)} There are: {', '.join(known)}.")
    return file


@pytest.fixture
def bench_table_files(
    request: pytest.FixtureRequest, tmp_path: Path, bench_broker: Broker, bench_shim: Path | None
) -> TableFiles:
    """The generated files of a table whose daemon has not run yet."""
    sections = _changes(request)
    sections.pop("shoe_wrap", None)
    example = _example(sections.pop("example", "royal9"))
    if isinstance(asked := sections.get("pit", {}), Mapping):  # else TableFiles refuses it
        sections["pit"] = {**pit_section(bench_broker), **asked}
    jumpers = request.config.stash[_jumpers]
    if _cable(request.config):
        sections["shoe"] = {"port": request.config.getoption("--table-port")} | sections.get("shoe", {})
    # An existing broker retains the messages of earlier runs, so each run takes other names.
    table_id = TABLE if bench_broker.certs else f"hil-{os.getpid()}-{next(_numbers)}"
    return TableFiles(tmp_path, table_id, bench_broker.port, bench_shim, jumpers, example, **sections)


@pytest.fixture
def bench_front(pytestconfig: pytest.Config, bench_table_files: TableFiles) -> Iterator[Front]:
    """The interface to the table's inputs and lamps, on a simulated or a real header. Skips the test if there is no
    real header to reach."""
    lamps, inputs = bench_table_files.values["pins"]["lamps"], bench_table_files.values["pins"]["inputs"]
    jumpers = pytestconfig.stash[_jumpers]
    if jumpers is None:
        yield SimulatedPins(bench_table_files.page, lamps, inputs)
        return
    with _skipped_where_absent(pytestconfig):
        gpio = load_rpi_gpio()
    jumpered = JumperedFront(gpio, jumpers, lamps, inputs)
    yield jumpered
    jumpered.close()


@pytest.fixture
def bench_pins(pytestconfig: pytest.Config, bench_table_files: TableFiles, bench_front: Front) -> Iterator[Pins]:
    """The table's buttons, sensors and lamps, as the people at the table use and see them."""
    whole = tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))["pins"]
    unjumpered = () if pytestconfig.stash[_jumpers] is None else {*whole["lamps"], *whole["inputs"]}
    pins = Pins(bench_front, bench_table_files.pins.lamps, bench_table_files.pins.inputs, unjumpered)
    yield pins
    pins.close()


class Cable(SerialLine):
    """The shoe's end of a real cable, which no program can pull out."""

    def unplug(self) -> None:
        """Skip the test, because a real plug is pulled and put in by hand."""
        pytest.skip("a real plug is pulled and put in by hand")

    plug = unplug_at_shoe = plug_at_shoe = unplug

    def close(self) -> None:
        """Close the serial port at the shoe's end."""
        super().unplug()


def _look_for_table_port(config: pytest.Config) -> None:
    """Skip the test if the daemon's end of the cable is absent. The port is not opened, because a serial server takes
    only one client."""
    port: str = config.getoption("--table-port")
    if "://" not in port and not Path(port).exists():
        _absent(config, f"There is no {port}, the table's end of the cable.")


@pytest.fixture
def bench_shoe_line(pytestconfig: pytest.Config, bench_table_files: TableFiles) -> Iterator[FarLine]:
    """The shoe's end of the serial line, plugged in."""
    if _cable(pytestconfig):
        _look_for_table_port(pytestconfig)
        with _skipped_where_absent(pytestconfig):
            cable = Cable(pytestconfig.getoption("--shoe"), bench_table_files.baud)
        yield cable
        cable.close()
    else:
        line = PtyLine(bench_table_files.port)
        yield line
        line.unplug()


@pytest.fixture
def bench_shoe(
    request: pytest.FixtureRequest, bench_table_files: TableFiles, bench_shoe_line: FarLine
) -> FarShoe | FarBeeTek:
    """The simulated shoe, which has sent nothing yet: an Angel Eye, unless the table file names another brand."""
    wrap = _changes(request).get("shoe_wrap", 0)
    shoe: FarShoe | FarBeeTek = far_shoe(bench_table_files.values["shoe"]["driver"], bench_shoe_line, wrap)
    if PRESENT_INPUT in bench_table_files.pins.inputs:
        show_plug(bench_shoe_line, request.getfixturevalue("bench_front"))
    return shoe


def show_plug(line: FarLine, front: Front) -> None:
    """Let the table's input for the shoe's plug follow the simulated plug. At first the plug is in."""
    if isinstance(line, PtyLine):
        line.on_plug = lambda is_in: (front.press if is_in else front.release)(PRESENT_INPUT)
    front.press(PRESENT_INPUT)


@pytest.fixture
def bench_pit(bench_broker: Broker, bench_table_files: TableFiles) -> Iterator[FarPit]:
    """A pit for the test, connected to the broker. At the end of the test, the fixture checks that no message from the
    table broke the contract."""
    pit = FarPit(bench_broker.port, bench_table_files.table_id, host=bench_broker.host, certs=bench_broker.certs)
    yield pit
    pit.gone()
    assert pit.wrong == []


@pytest.fixture
def bench_wires(
    bench_table_files: TableFiles, bench_broker: Broker, bench_pins: Pins, bench_shoe_line: FarLine
) -> Wires:
    """The addresses of the shoe, the header and the broker, for a test of another table daemon than this project's.
    This project's daemon is not started."""
    return Wires.of(bench_table_files, bench_broker.host, bench_broker.port)


@pytest.fixture
def bench_wait(pytestconfig: pytest.Config, bench_pins: Pins, bench_pit: FarPit) -> Wait:
    """A function that waits until a condition is true. It asks no daemon for a status, so it works with every table
    daemon."""
    return Wait(bench_pins, bench_pit, pytestconfig.getoption("--bench-patience"))


@pytest.fixture
def bench_unstarted_table(bench_table_files: TableFiles, bench_pins: Pins, tmp_path: Path) -> Iterator[Table]:
    """The table's daemon, not started yet. At the end of the test the fixture stops the daemon and checks the daemon's
    journal."""
    table = Table(bench_table_files, tmp_path)
    yield table
    table.close()
    if table.journal.exists():
        table.verify()


@pytest.fixture
def bench_eventually(
    pytestconfig: pytest.Config, bench_unstarted_table: Table, bench_pins: Pins, bench_pit: FarPit, tmp_path: Path
) -> Eventually:
    """A function that waits until a condition is true, and fails the test with the table's status if it does not become
    true."""
    return Eventually(
        bench_unstarted_table, bench_pins, bench_pit, tmp_path, pytestconfig.getoption("--bench-patience")
    )


@pytest.fixture
def bench_table(bench_unstarted_table: Table, bench_shoe: FarShoe | FarBeeTek, bench_eventually: Eventually) -> Table:
    """The table's daemon, running, with its shoe and its pit connected."""
    bench_unstarted_table.start()
    bench_eventually(bench_unstarted_table.links_up)
    return bench_unstarted_table


@pytest.fixture
def bench_dealer(
    bench_unstarted_table: Table, bench_shoe: FarShoe | FarBeeTek, bench_pins: Pins, bench_eventually: Eventually
) -> Dealer:
    """A dealer at the table `bench_table`, whose methods work the shoe and the buttons."""
    return Dealer(bench_unstarted_table, bench_shoe, bench_pins, bench_eventually)
