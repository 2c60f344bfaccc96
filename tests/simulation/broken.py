"""The error by which the simulation reports a promise that did not hold."""

from __future__ import annotations


class Broken(Exception):  # noqa: N818  # what was promised is broken
    """The error that is raised when a promise about the simulated house does not hold. `invariant` is the promise's
    name, which is the same in whichever way the promise was broken."""

    def __init__(self, invariant: str, detail: object = "") -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant


def hold(invariant: str, holds: bool, detail: object = "") -> None:
    """Raise Broken, with the text `detail`, unless the promise called `invariant` holds."""
    if not holds:
        raise Broken(invariant, detail)
