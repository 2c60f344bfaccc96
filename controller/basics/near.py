"""What may have been meant by a name that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def meant(name: object, known: Iterable[object]) -> str:
    """The end of a sentence about an unknown name: the known name that is most like it, or nothing."""
    from difflib import get_close_matches  # `tablectl dark` does not wait for it

    close = get_close_matches(str(name), [*map(str, known)], 1)
    return f", is {close[0]} meant?" if close else ""
