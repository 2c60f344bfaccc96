"""`tablectl digest`: digests of what this machine's table runs, to compare with another table's."""

from __future__ import annotations

from pathlib import Path

from controller import __version__
from controller.basics.digest import digest, program_digest
from controller.daemon.config import load


def print_digest(table: Path) -> int:
    """Print the digests of program, configuration, and both. Raises TableError."""
    program, configuration = program_digest(), load(table).digest
    print(f"program        {program}  version {__version__}")
    print(f"configuration  {configuration}  {table}")
    print(f"both           {digest(program, configuration)}")
    return 0
