"""What the commands that report share: one JSON object for programs."""

from __future__ import annotations

import msgspec


def print_report(report: msgspec.Struct) -> None:
    """Print a report as one JSON object. Its type says what the fields mean. A fraction is a text, such as "1/80"."""
    print(msgspec.json.format(msgspec.json.encode(report, enc_hook=str), indent=2).decode())
