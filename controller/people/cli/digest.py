"""`tablectl digest`: print digests of the program and of this machine's table configuration. A person compares them
with the digests of another table."""

from __future__ import annotations

from pathlib import Path

from controller import __version__
from controller.basics.digest import digest, program_digest
from controller.contract.face.reports import DigestReport
from controller.daemon.config import load
from controller.people.cli.told import print_report


def print_digest(table: Path, as_json: bool = False) -> int:
    """Print three digests: of the installed program, of the table's configuration, and of both together. Raises
    TableError."""
    program, configuration = program_digest(), load(table).digest
    if as_json:
        print_report(DigestReport(__version__, program, configuration, digest(program, configuration)))
        return 0
    print(f"program        {program}  version {__version__}")
    print(f"configuration  {configuration}  {table}")
    print(f"both           {digest(program, configuration)}")
    return 0
