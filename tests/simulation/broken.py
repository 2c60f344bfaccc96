"""The error by which the simulation reports a promise that did not hold."""

from __future__ import annotations


class Broken(Exception):  # noqa: N818  # what was promised is broken
    """A promise that did not hold. `invariant` is the promise's name, which is the same for every way in which it can
    break."""

    def __init__(self, invariant: str, detail: object = "") -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant


def hold(invariant: str, holds: bool, detail: object = "") -> None:
    """Raise Broken, with this detail, unless the promise holds."""
    if not holds:
        raise Broken(invariant, detail)
