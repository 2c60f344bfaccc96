"""Suggests the known name that a mistyped name may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: object, known: Iterable[object]) -> str | None:
    """Return the known name that is most like this name, or None where no name is like it."""
    from difflib import get_close_matches  # `tablectl dark` does not wait for it

    return next(iter(get_close_matches(str(name), [*map(str, known)], 1)), None)


def meant(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence about an unknown name, which suggests the known name most like it. The end is empty
    where no name is like it."""
    close = nearest(name, known)
    return "" if close is None else f", is {close} meant?"


def ended(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence about an unknown name, with a suggestion and a question mark, or only with a full
    stop."""
    return meant(name, known) or "."
