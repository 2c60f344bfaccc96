"""Checks the driver of the pins. The same tests run on the simulated header, and on the real RPi.GPIO over the
simulated header's file."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from controller.bench.shim import ShimUnavailableError, build_shim
from drivers.devices import InputWiring, LampWiring, Level, Pull
from drivers.gpio import GpioModule, GpioPins, load_rpi_gpio
from drivers.sim.gpio import SimulatedGpio
from drivers.sim.pins import PinsPage, SimulatedPins
from tests.drivers.rpi_gpio_process import RpiGpioProcess
from tests.support.each import each
from tests.support.errors import raising

ROOT = Path(__file__).parents[2]

LAMPS = {"seat_1": LampWiring(2, "high"), "fault": LampWiring(27, "low"), "tie": LampWiring(10, "high")}
INPUTS = {"deal": InputWiring(22, "low", "up"), "key": InputWiring(26, "high", "down")}
LAMP_TABLE: dict[str, dict[str, Any]] = {
    "seat_1": {"bcm": 2, "active": "high"},
    "fault": {"bcm": 27, "active": "low"},
    "tie": {"bcm": 10, "active": "high"},
}
INPUT_TABLE: dict[str, dict[str, Any]] = {
    "deal": {"bcm": 22, "active": "low", "pull": "up"},
    "key": {"bcm": 26, "active": "high", "pull": "down"},
}
ALL_DARK = {"seat_1": False, "fault": False, "tie": False}


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return build_shim(tmp_path_factory.mktemp("shim"))
    except ShimUnavailableError as error:
        pytest.skip(str(error))


@dataclass
class Header:
    """A simulated header: its GPIO module `gpio` and the file `page` that holds its pins. With `far`, a test reads and
    drives the pins in that file by number. With `table`, it presses inputs and looks at lamps by name."""

    gpio: GpioModule
    page: Path
    far: PinsPage = field(init=False)
    table: SimulatedPins = field(init=False)

    def __post_init__(self) -> None:
        self.far = PinsPage(self.page)
        self.table = SimulatedPins(self.page, LAMP_TABLE, INPUT_TABLE)

    def byte(self, offset: int) -> int:
        """Return one byte of the simulated header's file, at an offset that the file's own description gives."""
        return self.page.read_bytes()[offset]


@pytest.fixture
def simulated(tmp_path: Path) -> Header:
    page = tmp_path / "simulated"
    return Header(SimulatedGpio(page), page)


@pytest.fixture
def real(tmp_path: Path, shim: Path) -> Iterator[Header]:
    page = tmp_path / "real"
    PinsPage(page)
    process = RpiGpioProcess(shim, page)
    yield Header(cast(GpioModule, process), page)
    process.end()


@pytest.fixture(params=["simulated", "real"])
def header(request: pytest.FixtureRequest) -> Header:
    return cast(Header, request.getfixturevalue(request.param))


class Watched:
    """A GPIO module that records, after each call, which of the table's lamps are lit."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self.calls: list[str] = []
        self.ever_lit: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._header.gpio, name)
        return attribute if name.isupper() else lambda *args, **named: self._call(name, attribute, args, named)

    def _call(self, name: str, function: Callable[..., Any], args: Any, named: Any) -> Any:
        result = function(*args, **named)
        self.calls.append(name)
        self.ever_lit |= {lamp for lamp, lit in self._header.table.lamps().items() if lit}
        return result


# The contract, over both headers.


def test_taking_the_pins_darkens_every_lamp_without_a_flash(header: Header) -> None:
    watched = Watched(header)
    GpioPins(cast(GpioModule, watched), LAMPS, INPUTS)
    assert watched.ever_lit == set()
    assert [header.byte(128 + bcm) for bcm in (2, 27, 10)] == [2, 2, 2]  # all of them outputs,
    assert [header.byte(64 + bcm) for bcm in (2, 27, 10)] == [0, 1, 0]  # at the level that leaves them dark


@each("lamp, bcm, lit, dark", [("seat_1", 2, 1, 0), ("fault", 27, 0, 1)])
def test_a_lamp_is_lit_by_its_active_level_and_alone(header: Header, lamp: str, bcm: int, lit: int, dark: int) -> None:
    pins = GpioPins(header.gpio, LAMPS, INPUTS)
    pins.write(lamp, True)
    assert header.byte(64 + bcm) == lit
    assert header.table.lamps() == ALL_DARK | {lamp: True}
    pins.write(lamp, False)
    assert header.byte(64 + bcm) == dark
    assert header.table.lamps() == ALL_DARK


def test_lamps_are_written_through_output_alone(header: Header) -> None:
    watched = Watched(header)
    pins = GpioPins(cast(GpioModule, watched), LAMPS, INPUTS)
    taken = len(watched.calls)
    written = header.far.writes
    pins.write("tie", True)
    pins.write("tie", False)
    assert watched.calls[taken:] == ["output", "output"]
    assert header.far.writes == written + 2


def test_an_unknown_lamp_is_a_key_error(header: Header) -> None:
    with pytest.raises(KeyError):
        GpioPins(header.gpio, LAMPS, INPUTS).write("seat_8", True)


# active, pull, driven level (None: nothing drives the pin), pressed
READINGS: list[tuple[Level, Pull, int | None, bool]] = [
    ("low", "up", None, False),
    ("low", "up", 0, True),
    ("low", "up", 1, False),
    ("low", "down", None, True),
    ("low", "down", 1, False),
    ("high", "down", None, False),
    ("high", "down", 1, True),
    ("high", "down", 0, False),
    ("high", "up", None, True),
    ("high", "off", None, False),
    ("high", "off", 1, True),
    ("low", "off", None, True),
]


def test_inputs_read_by_driven_level_else_pull_and_active_level(header: Header) -> None:
    inputs = {
        f"{active}/{pull}/{level}": InputWiring(bcm, active, pull)
        for bcm, (active, pull, level, _) in enumerate(READINGS, start=2)
    }
    pins = GpioPins(header.gpio, {}, inputs)
    for bcm, (_, _, level, _) in enumerate(READINGS, start=2):
        header.far.drive(bcm, level)
    assert pins.read() == {f"{active}/{pull}/{level}": pressed for active, pull, level, pressed in READINGS}


def test_every_read_is_a_new_sample(header: Header) -> None:
    pins = GpioPins(header.gpio, LAMPS, INPUTS)
    assert pins.read() == {"deal": False, "key": False}
    header.table.press("deal")
    assert pins.read() == {"deal": True, "key": False}
    header.table.set("key", True)
    header.table.release("deal")
    assert pins.read() == {"deal": False, "key": True}


def test_close_leaves_the_lamps_driven_dark_and_lets_the_inputs_go(header: Header) -> None:
    pins = GpioPins(header.gpio, LAMPS, INPUTS)
    pins.write("seat_1", True)
    pins.write("fault", True)
    pins.close()
    assert [header.byte(128 + bcm) for bcm in (2, 27, 10)] == [2, 2, 2]
    assert [header.byte(64 + bcm) for bcm in (2, 27, 10)] == [0, 1, 0]
    assert [header.byte(192 + bcm) for bcm in (22, 26)] == [0, 0]  # no pull left on
    with pytest.raises(RuntimeError):
        pins.read()
    pins.close()  # once more does no harm


def test_a_second_start_darkens_what_a_killed_one_left_lit(header: Header) -> None:
    for lamp in LAMPS:
        GpioPins(header.gpio, LAMPS, INPUTS).write(lamp, True)
    GpioPins(header.gpio, LAMPS, INPUTS).write("tie", True)
    assert header.table.lamps() == ALL_DARK | {"tie": True}
    again = GpioPins(header.gpio, LAMPS, INPUTS)
    assert header.table.lamps() == ALL_DARK
    header.table.press("deal")
    assert again.read() == {"deal": True, "key": False}


def test_a_channel_no_pi_has_is_refused(header: Header) -> None:
    with raising("gpio_refused") as refused:
        GpioPins(header.gpio, {"fault": LampWiring(54, "high")}, {})
    assert "The channel sent is invalid on a Raspberry Pi" in refused.value.what


# What RPi.GPIO says to a program that misuses it.
MISUSES: list[tuple[Callable[[GpioModule], object], type[Exception], str]] = [
    (lambda gpio: gpio.setmode(12), ValueError, "A different mode has already been set!"),
    (lambda gpio: gpio.setup(2, 3), ValueError, "An invalid direction was passed to setup()"),
    (lambda gpio: gpio.setup(2, gpio.OUT, 22), ValueError, "pull_up_down parameter is not valid for outputs"),
    (lambda gpio: gpio.setup(2, gpio.IN, initial=0), ValueError, "initial parameter is not valid for inputs"),
    (
        lambda gpio: gpio.setup(2, gpio.IN, 23),
        ValueError,
        "Invalid value for pull_up_down - should be either PUD_OFF, PUD_UP or PUD_DOWN",
    ),
    (lambda gpio: gpio.setup(54, gpio.OUT), ValueError, "The channel sent is invalid on a Raspberry Pi"),
    (lambda gpio: gpio.input(-1), ValueError, "The channel sent is invalid on a Raspberry Pi"),
    (lambda gpio: gpio.cleanup(54), ValueError, "The channel sent is invalid on a Raspberry Pi"),
    (lambda gpio: gpio.output(22, 1), RuntimeError, "The GPIO channel has not been set up as an OUTPUT"),
    (lambda gpio: gpio.output(3, 1), RuntimeError, "The GPIO channel has not been set up as an OUTPUT"),
    (lambda gpio: gpio.input(3), RuntimeError, "You must setup() the GPIO channel first"),
]


@each("misuse, kind, words", MISUSES)
def test_misuse_is_refused_in_the_packages_words(
    header: Header, misuse: Callable[[GpioModule], object], kind: type[Exception], words: str
) -> None:
    GpioPins(header.gpio, LAMPS, INPUTS)
    with pytest.raises(kind) as refused:
        misuse(header.gpio)
    assert str(refused.value) == words


def test_no_channel_before_the_mode_is_set(header: Header) -> None:
    with pytest.raises(ValueError) as unknown:
        header.gpio.setmode(12)
    assert str(unknown.value) == "An invalid mode was passed to setmode()"
    with pytest.raises(RuntimeError) as refused:
        header.gpio.setup(2, header.gpio.OUT)
    assert "Please set pin numbering mode" in str(refused.value)


# The two headers are one.


def random_call(dice: random.Random) -> tuple[str, list[int], dict[str, int]]:
    """Return a random call on the GPIO module, right or wrong: the function's name, its arguments, and its keyword
    arguments.

    The numbers are small, so that different calls often use the same pins.
    """
    channel = dice.choice([2, 3, 27, 27, 53, 54])
    match dice.choice(["in", "out", "output", "output", "input", "input", "cleanup"]):
        case "in":
            return "setup", [channel, 1], {"pull_up_down": dice.choice([20, 21, 22, 23])}
        case "out":
            return "setup", [channel, 0], {"initial": dice.choice([-1, 0, 1, 2])}
        case "output":
            return "output", [channel, dice.choice([0, 1, 2])], {}
        case name:
            return name, [channel], {}


def outcome(gpio: GpioModule, name: str, args: list[int], named: dict[str, int]) -> object:
    try:
        return getattr(gpio, name)(*args, **named)
    except (ValueError, RuntimeError) as error:
        return repr(error)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_calls_leave_the_same_trace_on_both(simulated: Header, real: Header, seed: int) -> None:
    dice = random.Random(seed)
    for header in (simulated, real):
        header.gpio.setwarnings(False)
        header.gpio.setmode(header.gpio.BCM)
    for step in range(300):
        bcm, level = dice.choice([2, 3, 27, 53]), dice.choice([0, 1, None])
        call = random_call(dice)
        for header in (simulated, real):
            header.far.drive(bcm, level)
        assert outcome(simulated.gpio, *call) == outcome(real.gpio, *call), f"step {step}: {call}"
        assert simulated.page.read_bytes() == real.page.read_bytes(), f"step {step}: {call}"


@each("name", ["BCM", "IN", "OUT", "LOW", "HIGH", "PUD_OFF", "PUD_DOWN", "PUD_UP"])
def test_constants_are_the_packages(real: Header, name: str) -> None:
    assert getattr(SimulatedGpio, name) == getattr(real.gpio, name)


# The real package, loaded as the daemon loads it.

A_DAEMON = """
from drivers.devices import InputWiring, LampWiring
from controller.basics.errors import TableError
from drivers.gpio import GpioPins, load_rpi_gpio
try:
    pins = GpioPins(load_rpi_gpio(), {"fault": LampWiring(27, "low")}, {"deal": InputWiring(22, "low", "up")})
except TableError as error:
    print(error.code)
else:
    pins.write("fault", True)
    print(pins.read())
    pins.close()
"""


def run_a_daemon(shim: Path, page: Path) -> str:
    environment = os.environ | {"LD_PRELOAD": str(shim), "TABLE_PINS_PAGE": str(page)}
    ran = subprocess.run(
        [sys.executable, "-c", A_DAEMON], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_the_real_package_leaves_the_lamps_driven_dark_after_the_process(shim: Path, tmp_path: Path) -> None:
    page = tmp_path / "page"
    SimulatedPins(page, LAMP_TABLE, INPUT_TABLE).press("deal")
    assert run_a_daemon(shim, page) == "{'deal': True}"
    left = page.read_bytes()
    assert (left[128 + 27], left[64 + 27]) == (2, 1)
    assert left[256:264] == bytes([3, 0, 0, 0, 0, 0, 0, 0])  # dark, lit, dark


def test_a_header_that_may_not_be_opened_is_refused(shim: Path, tmp_path: Path) -> None:
    assert run_a_daemon(shim, tmp_path / "none") == "gpio_refused"


def test_the_pi_5s_own_error_is_refused_too() -> None:
    class LgpioError(Exception):
        """The error of lgpio, which is neither a RuntimeError nor an OSError."""

    def setmode(mode: int) -> None:
        raise LgpioError("can not open gpiochip")

    gpio = SimpleNamespace(BCM=11, PUD_OFF=20, PUD_DOWN=21, PUD_UP=22, setwarnings=bool, setmode=setmode)
    with raising("gpio_refused") as refused:
        GpioPins(cast(GpioModule, gpio), LAMPS, INPUTS)
    assert "can not open gpiochip" in refused.value.what


@pytest.fixture
def no_rpi_loaded() -> Iterator[None]:
    """Make sure that no module called RPi is loaded, before and after the test."""
    forget_rpi()
    yield
    forget_rpi()


def forget_rpi() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "RPi"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("import a_library_nobody_has", "gpio_missing"),
        ("raise RuntimeError('This module can only be run on a Raspberry Pi!')", "gpio_not_a_pi"),
        ("raise NotImplementedError('This module does not understand old-style revision codes')", "gpio_not_a_pi"),
        ("open('/nowhere/.lgd-nfy0')", "gpio_folder"),
    ],
)
@pytest.mark.usefixtures("no_rpi_loaded")
def test_a_package_that_will_not_load_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, code: str
) -> None:
    (tmp_path / "RPi" / "GPIO").mkdir(parents=True)
    (tmp_path / "RPi" / "__init__.py").touch()
    (tmp_path / "RPi" / "GPIO" / "__init__.py").write_text(package)
    monkeypatch.syspath_prepend(tmp_path)
    with raising(code):
        load_rpi_gpio()


def test_no_package_at_all_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "RPi", None)  # what the import system takes for "there is none"
    with raising("gpio_missing"):
        load_rpi_gpio()


# The page and its far end.


def test_a_fresh_page_is_as_described(tmp_path: Path) -> None:
    PinsPage(tmp_path / "page")
    assert (tmp_path / "page").read_bytes() == b"\xff" * 64 + b"\0" * 4032
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_a_page_that_is_there_is_kept(tmp_path: Path) -> None:
    PinsPage(tmp_path / "page").drive(22, 0)
    PinsPage(tmp_path / "page")
    assert (tmp_path / "page").read_bytes()[22] == 0


def test_what_is_no_page_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("[pins]")
    for path in (tmp_path / "short", tmp_path / "no_such_folder" / "page", tmp_path):
        with raising("pins_page"):
            SimulatedGpio(path)


def test_pressing_drives_the_level_that_means_pressed(simulated: Header) -> None:
    simulated.table.press("deal")  # active low
    simulated.table.press("key")  # active high
    assert (simulated.byte(22), simulated.byte(26)) == (0, 1)
    simulated.table.release("deal")
    simulated.table.release("key")
    assert (simulated.byte(22), simulated.byte(26)) == (1, 0)


def test_a_lamp_nobody_drives_is_dark(simulated: Header) -> None:
    assert simulated.byte(64 + 27) == 0  # the level that lights `fault`, were the pin an output
    assert simulated.table.lamps() == ALL_DARK


def test_the_example_table_by_its_names(tmp_path: Path) -> None:
    wiring = tomllib.loads((ROOT / "config/tables/royal9.toml").read_text())["pins"]
    table = SimulatedPins(tmp_path / "page", wiring["lamps"], wiring["inputs"])
    lamps = {name: LampWiring(**lamp) for name, lamp in wiring["lamps"].items()}
    inputs = {name: InputWiring(**pin) for name, pin in wiring["inputs"].items()}
    pins = GpioPins(SimulatedGpio(tmp_path / "page"), lamps, inputs)
    for name in lamps:
        pins.write(name, True)
        assert [lamp for lamp, lit in table.lamps().items() if lit] == [name]
        pins.write(name, False)
    for name in inputs:
        table.press(name)
        assert [pressed for pressed, down in pins.read().items() if down] == [name]
        table.release(name)
