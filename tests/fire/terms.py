"""The terms of a pit's meters (seed, shares, reserve) for the stress tests, as text for the pit's settings file and as
exact numbers for a judge."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Written = Mapping[str, tuple[int, str, str, int]]
"""By meter: seed in cents, share, share into the reserve, the most to begin again with."""


def settings(written: Written) -> str:
    """Return the text of a pit's settings file with these terms of its meters."""
    return "".join(
        f'[meters.{name}]\nseed_cents = {seed}\ncontribution = "{share}"\nreserve = "{reserve}"\n'
        f"reseed_at_most_cents = {most}\n"
        for name, (seed, share, reserve, most) in written.items()
    )


def exact(written: Written) -> dict[str, tuple[int, Fraction, Fraction, int]]:
    """Return the terms of the meters with their shares as exact fractions."""
    return {
        name: (seed, _share(share), _share(reserve), most) for name, (seed, share, reserve, most) in written.items()
    }


def _share(ratio: str) -> Fraction:
    return Fraction(ratio.replace(":", "/"))
