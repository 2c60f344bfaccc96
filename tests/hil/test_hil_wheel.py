"""Checks that the project's wheel, installed outside the source tree, contains everything that an installation
promises."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from controller.basics.digest import program_digest
from controller.bench.daemon import ROOT
from tests.hil.elsewhere import A_ROUND
from tests.support.wheel import built_wheel, installed_wheel, run


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the project's wheel in a new virtual environment, and return the folder with its programs."""
    return installed_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_the_whole_program_and_its_files(tmp_path: Path) -> None:
    with ZipFile(built_wheel(tmp_path)) as wheel:
        wheel.extractall(tmp_path / "unpacked")
    assert program_digest(tmp_path / "unpacked") == program_digest()
    (share,) = tmp_path.glob("unpacked/*.data/data/share/table-controller")
    for path in ("pit.toml", *_names_of("games"), *_names_of("tables")):
        assert (share / path).read_bytes() == (ROOT / "config" / path).read_bytes()


def _names_of(folder: str) -> list[str]:
    return [f"{folder}/{path.name}" for path in (ROOT / "config" / folder).glob("*.toml")]


@pytest.mark.proof
def test_a_house_s_own_file_is_checked_counted_and_played_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    own, tablectl = tmp_path / "own.toml", str(installed / "tablectl")
    own.write_text(
        (ROOT / "config" / "games" / "even_draw.toml").read_text("utf-8").replace("Even Draw", "Ours"), "utf-8"
    )
    assert "Ours: at most 7 seats, 8 decks. No mistakes." in run(
        tablectl, "check", "own.toml", "--strict", folder=tmp_path
    )
    assert "Ours (rule sheet even_draw)" in run(tablectl, "par", "own.toml", folder=tmp_path)
    told = run(tablectl, "demo", "own.toml", "--rounds", "1", "--speed", "0", "--seed", "7", folder=tmp_path)
    assert "the pit acknowledged all of them" in told


@pytest.mark.proof
def test_the_wheels_digest_is_the_checkouts(installed: Path, tmp_path: Path) -> None:
    table = installed.parent / "share" / "table-controller" / "tables" / "royal9.toml"
    told = run(str(installed / "tablectl"), "digest", str(table), folder=tmp_path)
    assert told.split()[:2] == ["program", program_digest()]


@pytest.mark.proof
def test_another_repository_s_test_needs_nothing_but_the_installation(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_other.py").write_text(A_ROUND, "utf-8")
    (tmp_path / "tests" / "test_as_documented.py").write_text(_first_test(), "utf-8")
    told = run(str(installed / "python"), "-m", "pytest", "-p", "no:cacheprovider", folder=tmp_path)
    assert "2 passed" in told
    of = r"^bench: table-controller-\S+ commit unknown, RPi.GPIO-\S+ pyserial-\S+ paho-mqtt-\S+, mosquitto-"
    assert re.search(of, told, re.M)
    assert re.search(r"^bench: the shoe on ptys, broker its own Mosquitto, header simulated: ", told, re.M)


def _first_test() -> str:
    """Return the source of the first example test in docs/bench.md, which is meant for another repository."""
    page = (ROOT / "docs" / "bench.md").read_text("utf-8")
    code = re.search(r"^A first test, whole\..*\n\n```python\n((?:.*\n)+?)```$", page, re.M)
    assert code
    return code[1]
