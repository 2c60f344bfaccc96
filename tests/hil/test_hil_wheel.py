"""The wheel, installed far from the checkout: everything that an installation promises is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from controller.bench.daemon import ROOT
from controller.digest import program_digest
from tests.hil.elsewhere import A_HAND

_PATIENCE_S = 120


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with the wheel in it. What the project depends on comes from this one."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("controller", "drivers", "config"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder / "source")
    venv.create(folder / "venv")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(folder / "source"))
    (wheel,) = folder.glob("*.whl")
    _run(*pip, "--python", str(folder / "venv" / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    shutil.rmtree(folder / "source")
    return folder / "venv" / "bin"


def _run(*command: str, folder: Path | None = None) -> str:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    run = subprocess.run(
        command,
        cwd=folder,
        env=inherited | {"PYTHONPATH": sysconfig.get_path("purelib")},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    told = _run(str(installed / "tablectl"), "demo", "--rounds", "1", "--speed", "0", "--seed", "7", folder=tmp_path)
    assert "the pit acknowledged all of them" in told


def test_the_wheels_digest_is_the_checkouts(installed: Path, tmp_path: Path) -> None:
    table = installed.parent / "share" / "table-controller" / "tables" / "royal9.toml"
    told = _run(str(installed / "tablectl"), "digest", str(table), folder=tmp_path)
    assert told.split()[:2] == ["program", program_digest()]


@pytest.mark.proof
def test_another_repository_s_test_needs_nothing_but_the_installation(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_other.py").write_text(A_HAND, "utf-8")
    (tmp_path / "tests" / "test_as_documented.py").write_text(_first_test(), "utf-8")
    told = _run(str(installed / "python"), "-m", "pytest", "-p", "no:cacheprovider", folder=tmp_path)
    assert "2 passed" in told
    of = r"^bench: table-controller-\S+ commit unknown, RPi.GPIO-\S+ pyserial-\S+ paho-mqtt-\S+, mosquitto-"
    assert re.search(of, told, re.M)
    assert re.search(r"^bench: the shoe on ptys, broker its own Mosquitto, header simulated: ", told, re.M)


def _first_test() -> str:
    """The test that docs/bench.md gives to another repository as its first."""
    page = (ROOT / "docs" / "bench.md").read_text("utf-8")
    code = re.search(r"^A first test, whole\..*\n\n```python\n((?:.*\n)+?)```$", page, re.M)
    assert code
    return code[1]
