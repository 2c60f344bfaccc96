"""Files that take long to make, made once for all workers of a test run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder of the test run that `make` has filled. The first worker that asks makes the folder, and every
    other worker waits until it is made."""
    own = factory.getbasetemp()  # a worker's is in that of the run
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / name
    whole = folder.with_name(f"{name}.whole")
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
