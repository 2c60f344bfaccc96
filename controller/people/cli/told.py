"""Shared by all commands with the option `--json`: prints a report as one JSON object."""

from __future__ import annotations

import msgspec


def print_report(report: msgspec.Struct) -> None:
    """Print a report as one JSON object, whose fields are those of the report's type. A fraction is printed as a text,
    such as "1/80"."""
    print(msgspec.json.format(msgspec.json.encode(report, enc_hook=str), indent=2).decode())
