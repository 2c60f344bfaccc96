"""Checks which pins of the Raspberry Pi's header suit a lamp or an input, and what `check` says about the other
pins."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from controller.daemon.config import load
from drivers.devices import InputWiring, LampWiring, Level, Pull
from drivers.header_map import GROUNDS, PHYSICAL, POWER, conflicts, overlaid

TABLES = sorted((Path(__file__).parents[2] / "config" / "tables").glob("*.toml"))


def test_the_header_is_forty_pins() -> None:
    assert sorted([*PHYSICAL.values(), *GROUNDS, *POWER]) == list(range(1, 41))
    assert sorted(PHYSICAL) == list(range(2, 28))


def test_a_lamp_lit_by_a_high_level_is_lit_at_boot_on_the_pins_that_reset_to_a_pull_up() -> None:
    """A warning names each lamp that is lit by a high level and wired to one of GPIO 0 to 8, because these are pulled
    high at reset. GPIO 9 to 27 are pulled low.

    The pulls come from the BCM2835 ARM Peripherals manual, table 6-31.
    """
    lit = [
        bcm
        for bcm in range(2, 28)
        if any("lit until" in told for told in conflicts({"tie": LampWiring(bcm, "high")}, {}))
    ]
    assert lit == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_example_tables_are_wired_without_a_conflict(path: Path, tmp_path: Path) -> None:
    pins = load(path).file.pins
    (tmp_path / "config.txt").write_text("# as Raspberry Pi OS brings it\n#dtparam=spi=on\ndtparam=audio=on\n[all]\n")
    assert [*conflicts(pins.lamps, pins.inputs), *overlaid(pins.lamps, pins.inputs, tmp_path / "config.txt")] == []


def test_one_button_has_one_pin_at_every_example_table_without_seat_sensors() -> None:
    at: dict[str, set[int]] = {}
    for path in TABLES:
        for name, wiring in tomllib.loads(path.read_text("utf-8"))["pins"]["inputs"].items():
            at.setdefault(name, set()).add(wiring["bcm"])
    assert {name: bcms for name, bcms in at.items() if len(bcms) > 1} == {}


LOW: Level = "low"
UP: Pull = "up"


@pytest.mark.parametrize(
    ("lamps", "inputs", "told"),
    [
        ({"tie": LampWiring(5, "high")}, {}, ["lamp tie: BCM 5 is high from power-up"]),
        ({"tie": LampWiring(5, "low")}, {}, []),
        ({"tie": LampWiring(16, "low")}, {}, ["lamp tie: BCM 16 is low from power-up"]),
        ({"tie": LampWiring(14, "high")}, {}, ["lamp tie: BCM 14 is the header's serial port"]),
        ({}, {"deal": InputWiring(15, LOW, UP)}, ["input deal: BCM 15 is the header's serial port"]),
        ({}, {"deal": InputWiring(2, "high", "down")}, ["input deal: BCM 2 is pulled up on the board"]),
        ({}, {"deal": InputWiring(2, LOW, UP)}, []),
    ],
    ids=str,
)
def test_a_conflict_is_told(lamps: dict[str, LampWiring], inputs: dict[str, InputWiring], told: list[str]) -> None:
    found = list(conflicts(lamps, inputs))
    assert len(found) == len(told), found
    assert all(sentence.startswith(words) for sentence, words in zip(found, told, strict=True)), found


@pytest.mark.parametrize(
    ("line", "bcm", "what"),
    [
        ("dtparam=spi=on", 9, "SPI"),
        ("dtparam = i2c_arm=on", 3, "I2C"),
        ("enable_uart=1", 15, "the serial console"),
        ("dtoverlay=w1-gpio,gpiopin=4", 4, "the 1-Wire bus"),
        ("dtparam=i2s=on", 20, "digital audio (I2S)"),
        ("dtparam=audio=on,spi=yes", 8, "SPI"),
        ("dtparam=i2c_arm", 2, "I2C"),
        ("dtoverlay=i2c-rtc,ds3231", 2, "I2C"),
        ("dtoverlay=w1-gpio-pullup,gpiopin=17", 17, "the 1-Wire bus"),
        ("dtoverlay=w1-gpio-pullup,gpiopin=17", 5, "the 1-Wire bus"),
        ("dtoverlay=gpio-fan,temp=55000", 12, "a fan"),
        ("dtoverlay=gpio-poweroff", 26, "the power's switch"),
        ("dtoverlay=spi1-1cs", 16, "SPI"),
        ("dtoverlay=hifiberry-dac", 18, "digital audio (I2S)"),
    ],
)
def test_an_overlay_that_takes_a_wired_pin_is_told(line: str, bcm: int, what: str, tmp_path: Path) -> None:
    (tmp_path / "config.txt").write_text(f"arm_64bit=1\n{line}\n")
    wired = {"key": InputWiring(bcm, LOW, UP), "deal": InputWiring(27, LOW, UP)}
    (told,) = overlaid({}, wired, tmp_path / "config.txt")
    assert told.startswith("input key: the line ")
    assert told.endswith(f" gives BCM {bcm} to {what}")


@pytest.mark.parametrize(
    "line",
    [
        "#dtparam=spi=on",
        "dtparam=spi=off",
        "dtparam=i2c_arm_baudrate=400000",
        "dtoverlay=w1-gpio,gpiopin=17",
        "dtoverlay=vc4-kms-v3d",
        "enable_uart=0",
        "gpio=4,7-11=pu",
        "gpio=16=op,dl",
        "gpio=28-9999999999=op,dh",  # read at once, though no header has so many pins
        f"gpio={'9' * 5000}=op,dh",  # Python reads no number of so many digits
        f"dtoverlay=gpio-fan,gpiopin={'9' * 5000}",
    ],
)
def test_a_line_that_takes_no_wired_pin_is_not_told(line: str, tmp_path: Path) -> None:
    (tmp_path / "config.txt").write_text(f"{line}\n")
    inputs = {f"seat_{bcm}": InputWiring(bcm, LOW, UP) for bcm in (2, 3, 4, 7, 8, 9, 10, 11, 15)}
    assert list(overlaid({"tie": LampWiring(16, "high")}, inputs, tmp_path / "config.txt")) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "gpio=12,16-20=op,dh",
            "lamp tie: the line gpio=12,16-20=op,dh of CONFIG lights this lamp until the table runs",
        ),
        ("gpio=4-6=op,dl", "input deal: the line gpio=4-6=op,dl of CONFIG drives BCM 5 against its contact"),
    ],
)
def test_a_line_that_lights_a_lamp_or_drives_an_input_at_boot_is_told(line: str, told: str, tmp_path: Path) -> None:
    config = tmp_path / "config.txt"
    config.write_text(f"{line}\n")
    lamps, inputs = {"tie": LampWiring(18, "high")}, {"deal": InputWiring(5, LOW, UP)}
    assert list(overlaid(lamps, inputs, config)) == [told.replace("CONFIG", str(config))]


def test_a_machine_that_is_no_pi_has_no_overlays(tmp_path: Path) -> None:
    assert list(overlaid({}, {"key": InputWiring(9, LOW, UP)}, tmp_path / "config.txt")) == []
