"""Checks which of two GPIO libraries is used on each kind of Raspberry Pi, if an installation has both."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from drivers.gpio import choose_library

# As the boards' device trees begin, their parts ended by zeros.
_PI_3 = b"raspberrypi,3-model-b\0brcm,bcm2837\0"
_PI_4 = b"raspberrypi,4-model-b\0brcm,bcm2711\0"
_PI_5 = b"raspberrypi,5-model-b\0brcm,bcm2712\0"


@pytest.mark.parametrize(
    ("board", "gpiomem", "library"),
    [
        (_PI_3, True, "rpi_gpio"),
        (_PI_4, True, "rpi_gpio"),
        (_PI_5, True, "rpi_lgpio"),
        (_PI_5, False, "rpi_lgpio"),
        (_PI_4, False, "rpi_lgpio"),  # Debian's own kernel has no /dev/gpiomem, without which RPi.GPIO cannot
    ],
)
def test_a_board_gets_the_library_that_drives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: bytes, gpiomem: bool, library: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    (tmp_path / "pins").mkdir()
    (tmp_path / "compatible").write_bytes(board)
    if gpiomem:
        (tmp_path / "gpiomem").touch()
    choose_library(tmp_path / "pins", tmp_path / "compatible", tmp_path / "gpiomem")
    assert sys.path == [*before, str(tmp_path / "pins" / library)]


def test_where_no_libraries_are_brought_the_path_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    choose_library(tmp_path / "pins")
    assert sys.path == before
