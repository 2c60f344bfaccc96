"""Colours for text at a terminal. A file or a pipe gets none, nor does any stream where NO_COLOR is set
(no-color.org)."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {"bold": 1, "red": 31, "yellow": 33}


def painted(text: str, style: str, stream: TextIO) -> str:
    """Return the text in this style where `stream` is a terminal that takes colours, and unchanged elsewhere."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"
