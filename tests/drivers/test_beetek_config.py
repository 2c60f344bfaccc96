"""Checks the configuration of a table with a BeeTek shoe: what its file may say, which warnings it causes, and how the
daemon opens the shoe's line."""

from __future__ import annotations

import asyncio
import os
import termios
import tomllib
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from controller.daemon.config import Config, load
from controller.daemon.config.problems import ConfigError
from controller.people.cli.programs import EXAMPLE_TABLE
from controller.table.facts import CardDrawn, Fact, Report
from drivers import shoe as shoes
from drivers.line import shoe_on_line
from drivers.line.shoe_on_line import ShoeOnLine
from drivers.sim.shoe import maker


def with_table(folder: Path, **changes: Any) -> Config:
    """Load the example table after these changes to its file. For example, `shoe={"baud": None}` removes the key `baud`
    from `[shoe]`."""
    values = tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))
    values["table"]["game"] = str((EXAMPLE_TABLE.parent / values["table"]["game"]).resolve())
    for section, keys in changes.items():
        values[section] |= keys
        values[section] = {key: value for key, value in values[section].items() if value is not None}
    path = folder / "table.toml"
    path.write_text(tomli_w.dumps(values), "utf-8")
    return load(path)


def without_input(name: str) -> dict[str, Any]:
    values = tomllib.loads(EXAMPLE_TABLE.read_text("utf-8"))
    return {"inputs": {key: wiring for key, wiring in values["pins"]["inputs"].items() if key != name}}


@pytest.mark.parametrize("baud", [4800, 9600, None])
@pytest.mark.parametrize("driver", ["angel_eye", "beetek"])
def test_either_shoe_at_either_baud(tmp_path: Path, driver: str, baud: int | None) -> None:
    shoe = with_table(tmp_path, shoe={"driver": driver, "baud": baud}).file.shoe
    assert (shoe.driver.name, shoe.baud) == (driver, baud)


@pytest.mark.parametrize("driver", shoes.NAMES)
@pytest.mark.parametrize("baud", [9601, 0])
def test_another_baud_is_refused_with_the_choices(tmp_path: Path, driver: str, baud: int) -> None:
    with pytest.raises(ConfigError) as error:
        with_table(tmp_path, shoe={"driver": driver, "baud": baud})
    [problem] = error.value.problems
    assert problem.key == "shoe.baud"
    assert problem.do == f"Write one of: {', '.join(map(str, sorted(shoes.brand(driver).bauds)))}."


@pytest.mark.parametrize(
    ("baud", "meant"), [("9600", ""), (9600.0, "; is 9600 meant? For an amount in cents, is 960000 meant?"), (True, "")]
)
def test_a_baud_is_a_whole_number(tmp_path: Path, baud: object, meant: str) -> None:
    with pytest.raises(ConfigError) as error:
        with_table(tmp_path, shoe={"baud": baud})
    assert [(problem.key, problem.what) for problem in error.value.problems] == [
        ("shoe.baud", f"{baud!r} is not a whole number{meant}")
    ]


def test_another_shoe_is_refused_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        with_table(tmp_path, shoe={"driver": "bee_tek"})
    [problem] = error.value.problems
    assert problem.key == "shoe.driver"
    assert "angel_eye, beetek" in problem.do


@pytest.mark.parametrize("name", shoes.NAMES)
def test_a_brand_has_its_files_name(name: str) -> None:
    """A brand's name is the name of its files, because a table's file names the brand, and the driver and the simulator
    are looked up by that name."""
    assert shoes.brand(name).name == name
    assert maker(name).baud == shoes.brand(name).bauds[0]
    assert maker(name).tells_cut_card == ("cut_card" not in shoes.brand(name).buttons)


@pytest.mark.parametrize(("driver", "warned"), [("angel_eye", False), ("beetek", True)])
def test_a_beetek_needs_somebody_to_tell_the_cut_card(tmp_path: Path, driver: str, warned: bool) -> None:
    told = with_table(tmp_path, shoe={"driver": driver}, pins=without_input("cut_card")).warnings
    assert any("`tablectl cut-card`" in warning for warning in told) == warned


@pytest.mark.parametrize("driver", ["angel_eye", "beetek"])
def test_a_table_with_all_its_buttons_has_no_warnings(tmp_path: Path, driver: str) -> None:
    inputs = without_input("seat_7")["inputs"]
    inputs["cut_card"] = inputs["deal"] | {"bcm": 10}
    warnings = with_table(tmp_path, shoe={"driver": driver}, pins={"inputs": inputs}).warnings
    known = ("seat 7 has no sensor", "shoe.present is left out")
    assert [told for told in warnings if not told.startswith(known)] == []


def test_a_beetek_without_a_new_shoe_button_is_warned_of(tmp_path: Path) -> None:
    told = with_table(tmp_path, shoe={"driver": "beetek"}, pins=without_input("new_shoe")).warnings
    assert any("new_shoe" in warning and "tablectl" in warning for warning in told)


@pytest.mark.parametrize(("driver", "warned"), [("angel_eye", False), ("beetek", True)])
def test_locking_on_a_card_that_may_be_lost_is_warned_of(tmp_path: Path, driver: str, warned: bool) -> None:
    told = with_table(tmp_path, shoe={"driver": driver}, table={"lock_on": "first_card"}).warnings
    assert any("goes unnoticed" in warning for warning in told) == warned


class Listener:
    """A listener to the shoe that waits until the link is up and a card has come."""

    def __init__(self) -> None:
        self.up = asyncio.Event()
        self.heard = asyncio.Event()
        self.reported: list[Fact] = []
        self.bad: list[tuple[str, int]] = []

    def shoe_link(self, up: bool, why: str) -> None:
        if up:
            self.up.set()

    def shoe_heard_again(self) -> None:
        raise AssertionError("its line was never down")

    def shoe_reported(self, fact: Fact) -> None:
        self.reported.append(fact)
        self.heard.set()

    def shoe_noise(self, reason: str, count: int) -> None:
        self.bad.append((reason, count))


def test_what_looks_like_an_answer_to_a_command_is_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """If nobody asked the shoe, bytes that look like an answer count as noise.

    No line is logged at that moment, because it would reveal that a report was damaged.
    """

    class Port:
        def __init__(self, url: str, baud: int, on_bytes: Callable[[bytes], None], on_link: Any, **_: Any) -> None:
            self._on_bytes, self._on_link = on_bytes, on_link

        async def run(self) -> None:
            self._on_link(True, "open")
            self._on_bytes(b"\x06\x1502")

    monkeypatch.setattr(shoe_on_line, "ShoePort", Port)
    listener = Listener()
    asyncio.run(ShoeOnLine(shoes.brand("angel_eye"), "the port", ask="off").run(listener))
    assert listener.bad == [("noise", 4)]


@pytest.mark.parametrize(
    ("driver", "baud", "speed", "gap_shows_within_ms", "kept_unread_ms", "frame"),
    [
        ("angel_eye", None, termios.B4800, 312, 8531, bytes.fromhex("05 31 44 81 B8 03 34 46")),
        ("angel_eye", 9600, termios.B9600, 156, 4265, bytes.fromhex("05 31 44 81 B8 03 34 46")),
        ("beetek", None, termios.B9600, 0, 4265, b"*0D38DF\r\n"),
        ("beetek", 4800, termios.B4800, 0, 8531, b"*0D38DF\r\n"),
    ],
)
def test_the_daemon_opens_the_line_of_the_shoe_it_is_told(
    driver: Any, baud: Any, speed: int, gap_shows_within_ms: int, kept_unread_ms: int, frame: bytes
) -> None:
    """The daemon opens the shoe's port at the configured speed, and decodes the bytes with the codec of the configured
    brand.

    In the test the 8 of spades comes over a pseudo-terminal, at the speed to which the port is set.
    """
    far, near = os.openpty()
    tty.setraw(near)
    listener = Listener()
    shoe = ShoeOnLine(shoes.brand(driver), os.ttyname(near), baud, ask="off")
    assert (shoe.gap_shows_within_ms, shoe.kept_unread_ms) == (gap_shows_within_ms, kept_unread_ms)

    async def hear() -> None:
        running = asyncio.create_task(shoe.run(listener))
        await asyncio.wait_for(listener.up.wait(), 10)
        assert termios.tcgetattr(near)[4:6] == [speed, speed]
        os.write(far, b"?" + frame + frame)
        await asyncio.wait_for(listener.heard.wait(), 10)
        running.cancel()
        await asyncio.wait([running])

    try:
        asyncio.run(hear())
    finally:
        os.close(far)
        os.close(near)
    [told, *_] = listener.reported
    assert isinstance(told, CardDrawn)
    assert str(told.card) == "8S"
    assert told.report == Report(1 if gap_shows_within_ms else None, frame.hex())
    assert listener.bad == [("noise", 1)]
