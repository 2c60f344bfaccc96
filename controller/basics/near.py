"""What may have been meant by a name that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: object, known: Iterable[object]) -> str | None:
    """The known name that is most like this name; None where no name is like it."""
    from difflib import get_close_matches  # `tablectl dark` does not wait for it

    return next(iter(get_close_matches(str(name), [*map(str, known)], 1)), None)


def meant(name: object, known: Iterable[object]) -> str:
    """The end of a sentence about an unknown name: the known name that is most like it, or nothing."""
    close = nearest(name, known)
    return "" if close is None else f", is {close} meant?"


def ended(name: object, known: Iterable[object]) -> str:
    """The end of a whole sentence about an unknown name, with its question mark or its full stop."""
    return meant(name, known) or "."
