"""The arithmetic of a progressive meter, exact to the fraction of a cent. Nothing here reads or writes a file.

A wager's contribution need not be whole cents. A fund shows the whole cents that it holds and carries the rest in its
remainder, so nothing is rounded away: cents and remainder together are exactly what went in less what went out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import sha256
from math import floor, prod

from msgspec import Struct
from msgspec.structs import replace

from controller.basics.money import figures
from controller.contract.canonical import canonical


class Terms(Struct, frozen=True):
    """The terms of a meter: its seed (the level at which it begins), what each wager adds to the meter and to its
    reserve, how much of the reserve may begin it again, its limit, and the prices at which a wager may feed it."""

    seed_cents: int
    """The level at which the meter begins. After a hit that wins all of the meter, the meter begins again at this level
    at least. The house adds what the reserve does not hold."""

    contribution: Fraction
    """The part that goes on the meter, of each locked wager that can win the meter. Example: 12/100."""

    reserve: Fraction
    """The part of such a wager that goes into the reserve, which is not shown and pays for the next seed."""

    reseed_at_most_cents: int
    """The highest level at which a full reserve begins the meter again. Example: with a seed of $100, at most $120 and
    $150 in the reserve, the meter begins again at $120."""

    limit_cents: int | None = None
    """The highest level of the meter. What comes then goes into the meter's overflow, which is shown apart, and from
    there on the next level. None: the meter has no limit."""

    prices_cents: tuple[int, ...] = ()
    """The prices at which a wager may feed the meter. Empty: a wager at each price may."""

    def is_priced_otherwise(self, before: Terms) -> bool:
        """Tell whether these terms differ from the terms `before` in the wager's prices, and in nothing else."""
        return self != before and replace(self, prices_cents=before.prices_cents) == before

    def level(self, cents: int) -> int:
        """Return the level that a meter shows when it holds `cents`: all of `cents`, but at most the limit. A hit can
        win this level. Cents above the limit are the meter's overflow."""
        return cents if self.limit_cents is None else min(cents, self.limit_cents)

    def told(self) -> dict[str, object]:
        """Return these terms as a dict with the keys that the pit's decisions and the terms' digest use. A limit or
        prices that the meter does not have are left out."""
        limit: dict[str, object] = {} if self.limit_cents is None else {"limit_cents": self.limit_cents}
        prices: dict[str, object] = {"prices_cents": [*self.prices_cents]} if self.prices_cents else {}
        return {
            "contribution": str(self.contribution),
            "reserve": str(self.reserve),
            "seed_cents": self.seed_cents,
            "reseed_at_most_cents": self.reseed_at_most_cents,
            **limit,
            **prices,
        }

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self._words().items())

    def changes_from(self, before: Terms | None) -> str:
        """Return a line for people that tells what differs from the terms `before`. For a new meter (None) the line has
        all terms."""
        if before is None:
            return f"new, {self}"
        now, was = self._words(), before._words()
        return ", ".join(f"{name} {was[name]} -> {value}" for name, value in now.items() if value != was[name])

    def _words(self) -> dict[str, str]:
        return {
            "contribution": _share(self.contribution),
            "seed": figures(self.seed_cents),
            "reserve": _share(self.reserve),
            "reseed at most": figures(self.reseed_at_most_cents),
            "limit": "none" if self.limit_cents is None else figures(self.limit_cents),
            "prices": " or ".join(map(figures, self.prices_cents)) or "any",
        }


class Fund(Struct, frozen=True):
    """An amount in whole cents, and the part of a cent (from 0, below 1) that is carried until there is a whole
    cent."""

    cents: int = 0
    remainder: Fraction = Fraction(0)

    def plus(self, cents: Fraction | int) -> Fund:
        """Return the fund with `cents` added, or taken away if `cents` is below 0."""
        exact = self.cents + self.remainder + cents
        return Fund(floor(exact), exact - floor(exact))


class Reseed(Struct, frozen=True):
    """The amounts with which a meter begins again after a win: one part from its reserve, one part from the house."""

    from_reserve_cents: int
    from_house_cents: int


def reseed(terms: Terms, reserve_cents: int) -> Reseed:
    """Return the two amounts with which a meter begins again after a win. Money comes first from the meter's reserve,
    at most `reseed_at_most_cents`. If that is less than the seed, the house adds the rest."""
    from_reserve = min(reserve_cents, terms.reseed_at_most_cents)
    return Reseed(from_reserve, max(0, terms.seed_cents - from_reserve))


def left_after(shares: Iterable[Fraction]) -> tuple[Fraction, Fraction]:
    """Return which fraction of a meter, and which fraction of its reserve, is left after hits won these shares one
    after another.

    Example: hits of a tenth and then a half leave 9/20 of the meter and all of the reserve. If one hit wins the whole
    meter, nothing is left of both: the meter is paid out, and the reserve becomes the start of the next meter.
    """
    won = [*shares]
    return prod((1 - share for share in won), start=Fraction(1)), Fraction(1 not in won)


def digest_of(meters: Mapping[str, Terms]) -> str:
    """Return the SHA-256 over the terms of these meters, in hexadecimal. Equal terms give the same digest on every
    machine."""
    return sha256(canonical({name: terms.told() for name, terms in meters.items()})).hexdigest()


def share_of(text: str) -> Fraction:
    """Parse a share of a wager or of a meter, which settings and events write as "12:100"."""
    part, _, whole = text.partition(":")
    return Fraction(int(part), int(whole))


def _share(share: Fraction) -> str:
    """Return a share of a wager as settings write it, for example "12:100". The share is in hundredths if that is
    exact, else in lowest terms."""
    hundredths = share * 100
    return f"{hundredths}:100" if hundredths.denominator == 1 else f"{share.numerator}:{share.denominator}"


def split(cents: int, hits: int) -> list[int]:
    """Split an amount into equal parts, one for each hit. Cents that are left over go to the first hits, one cent
    each."""
    each, left = divmod(cents, hits)
    return [each + (place < left) for place in range(hits)]
