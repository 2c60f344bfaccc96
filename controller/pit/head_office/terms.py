"""The terms of a meter (seed, parts of a wager, limit, prices) as head office reads them, and the digest of terms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from typing import NamedTuple

from controller.basics.money import figures
from controller.contract.canonical import canonical


class Terms(NamedTuple):
    """The terms of a meter: the seed with which it begins, and the parts of a wager that the meter and its reserve get.
    Amounts are in cents."""

    seed_cents: int
    contribution: Fraction
    reserve: Fraction
    reseed_at_most_cents: int
    limit_cents: int | None = None
    prices_cents: tuple[int, ...] | None = None

    def __str__(self) -> str:
        prices = f", at {' or '.join(map(figures, self.prices_cents))}" if self.prices_cents else ""
        limit = "" if self.limit_cents is None else f", limit {figures(self.limit_cents)}"
        parts = f"seed {figures(self.seed_cents)}, {self.contribution} of a wager and {self.reserve} into the reserve"
        return f"{parts}, at most {figures(self.reseed_at_most_cents)} to begin again{limit}{prices}"

    def told(self) -> dict[str, object]:
        """Return the terms as a dictionary, in the form over which their digest is computed."""
        told = {**self._asdict(), "contribution": str(self.contribution), "reserve": str(self.reserve)}
        told |= {} if self.prices_cents is None else {"prices_cents": [*self.prices_cents]}
        return {name: value for name, value in told.items() if value is not None}


def digest_of(meters: Mapping[str, Terms]) -> str:
    """Return the SHA-256 digest, in hexadecimal, of these meters' terms. `meters` gives the terms by the meter's
    name."""
    return sha256(canonical({name: terms.told() for name, terms in meters.items()})).hexdigest()
