"""Colours for text at a terminal. Text for a file or a pipe gets no colours, and no text gets any if the variable
NO_COLOR is set (no-color.org)."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {"bold": 1, "red": 31, "yellow": 33}


def painted(text: str, style: str, stream: TextIO) -> str:
    """Return the text with terminal codes for this style, such as "bold" or "red". Return the text unchanged if
    `stream` is not a terminal that takes colours."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"
