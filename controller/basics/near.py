"""Suggests the known name that a mistyped name may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: object, known: Iterable[object]) -> str | None:
    """Return the known name that is most like `name`, for a suggestion after a typing mistake. Return None if no known
    name is like it."""
    from difflib import get_close_matches  # `tablectl dark` does not wait for it

    return next(iter(get_close_matches(str(name), [*map(str, known)], 1)), None)


def meant(name: object, known: Iterable[object]) -> str:
    """Return the end of an error sentence about an unknown name, such as ", is KEY meant?", which suggests the known
    name most like it. Return an empty string if no known name is like it."""
    close = nearest(name, known)
    return "" if close is None else f", is {close} meant?"


def ended(name: object, known: Iterable[object]) -> str:
    """Return the end of an error sentence about an unknown name: a suggestion such as ", is KEY meant?", or a full stop
    if no known name is like it."""
    return meant(name, known) or "."
