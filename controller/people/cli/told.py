"""What the commands that report share: one JSON object for programs."""

from __future__ import annotations

import msgspec


def print_report(report: msgspec.Struct) -> None:
    """Print a report as one JSON object. Its type says what the fields mean."""
    print(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
