"""The package's wheel, installed into a Python environment of its own, far from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from controller.bench.daemon import ROOT

_PATIENCE_S = 120


def built_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout in `folder`, with the project's build backend, and return the wheel's path."""
    for name in ("controller", "drivers", "config"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder / "source")
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    run(sys.executable, "-c", build, str(folder), folder=folder / "source")
    shutil.rmtree(folder / "source")
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed_wheel(folder: Path) -> Path:
    """Make a Python environment in `folder`, install the wheel, and return the environment's folder of programs. The
    libraries come from the environment of the tests."""
    venv.create(folder / "venv")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    python = str(folder / "venv" / "bin" / "python")
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", str(built_wheel(folder)))
    return folder / "venv" / "bin"


def environment() -> dict[str, str]:
    """Return the environment variables with which a program of the installed wheel runs."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return inherited | {"PYTHONPATH": sysconfig.get_path("purelib")}


def run(*command: str, folder: Path | None = None) -> str:
    """Run the command in `folder`, and return what it prints. Raises AssertionError if the command fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
