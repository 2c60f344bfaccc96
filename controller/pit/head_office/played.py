"""The meters, won levels and awards as head office computes them anew from a house's log.

The module stores no running balance. Each figure of a meter is computed from four things: the wagers under each set of
terms, the levels that were won and not undone, what corrections of voids took away, and the money that was moved or
came back.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor, prod
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct, field

from controller.basics.money import figures
from controller.pit.head_office.terms import Terms


class Place(NamedTuple):
    """The place of a round: the table, the name under which the pit keeps the table's stream of events, the shoe, and
    the number of the round in the shoe."""

    table: str
    stream: str
    shoe: int
    round: int

    def __str__(self) -> str:
        return f"table {self.table}, shoe {self.shoe}, round {self.round}"

    @property
    def is_set_aside(self) -> bool:
        """Tell whether people set the stream of events to which the round belongs aside, because a wrong key was
        adopted for the table. Such a stream may be a thief's, so what it reports of payments proves nothing."""
        return "~" in self.stream


class Award(Struct, eq=False):
    """The award that a hit won. `told` lists the steps that the table reported of the award, each with its amount in
    cents.

    `house_cents` is what the house added to `cents`, or below 0 what the house kept. It is 0 unless people took over
    another amount that the table had reported, or took over the award after it was rejected (then the house adds all of
    it).
    """

    id: str
    hit: str
    place: Place
    event: Mapping[str, Any]
    meter: str | None
    won: Won | None
    cents: int
    house_cents: int = 0
    step: str = "pending"
    told: list[tuple[str, int]] = field(default_factory=list)

    def __str__(self) -> str:
        return standing(self.step, self.cents, self.house_cents)

    @property
    def own_cents(self) -> int:
        """Return what the hit itself won, in cents: the award's amount without the part that the house bears."""
        return self.cents - self.house_cents

    def take(self, cents: int) -> None:
        """Give the award the amount `cents`, without an addition by the house, and make the award pending again. Do
        nothing if the award has exactly this amount already, without an addition by the house."""
        if (cents, 0) != (self.cents, self.house_cents):
            self.cents, self.house_cents, self.step = cents, 0, "pending"


class Won(Struct, eq=False):
    """A share of a meter's level that the hits of one round won. The record also says how much money the meter got from
    its reserve and from the house when it began again at its seed."""

    share: Fraction
    cents: int
    from_reserve_cents: int
    from_house_cents: int
    is_closing: bool = False
    """The meter was closed: all of it went on, and nothing of it was won."""
    former: int | None = None
    """The terms that ran until this win, by their number, where others had waited for it."""
    awards: list[Award] = field(default_factory=list)
    stands: bool = True
    added_cents: int = 0
    """What the house added, and still has in it, since the table had shown more at the lock."""


class Wagers(Struct, eq=False):
    """The wagers on one bet in one round. `seats` are the seats whose wagers are not voided. `fed` maps the name of
    each meter that got money from the wagers to two numbers: the number of the meter's terms, and how often the meter
    had been won or closed before. Wins that were undone count."""

    price_cents: int
    seats: set[int]
    fed: dict[str, tuple[int, int]]


class Voided(NamedTuple):
    """The voided wagers of one round on one meter. `cents` is the sum of the wagers. `terms` is the number of the terms
    (seed, shares, prices) that the meter had when the wagers were locked. `since` is how often the meter had been won
    or closed before that."""

    place: Place
    meter: str
    cents: int
    terms: int
    since: int


class Meter(Struct, eq=False):
    """Everything from which a meter's figures are computed. `terms` are all terms that people approved, in order, and
    `runs` is the index of the terms in force.

    `wagered` gives the cents that were wagered under each of the terms. `off` lists the voided wagers whose money a
    correction removed from the meter. Each item has the cents, the number of the terms, how often the meter had been
    won or closed before the wagers were locked, and how often before the correction.
    """

    terms: list[Terms] = field(default_factory=list)
    runs: int = 0
    ran: set[int] = field(default_factory=set)
    withdrawn: set[int] = field(default_factory=set)
    wagered: list[int] = field(default_factory=list)
    won: list[Won] = field(default_factory=list)
    off: list[tuple[int, int, int, int]] = field(default_factory=list)
    voided_cents: int = 0
    given_cents: int = 0
    returned_cents: int = 0
    place: Place | None = None
    was_played_for: bool = False
    closed: bool = False
    reopened_cents: int = 0
    moved: Fraction = Fraction(0)
    moved_cents: int = 0
    reserve_moved: Fraction = Fraction(0)

    @property
    def wagered_cents(self) -> int:
        """Return the cents wagered on the meter, without the voided wagers."""
        return sum(self.wagered) - self.voided_cents

    @property
    def waits(self) -> int | None:
        """Return the number of the terms that come into force when the meter is won next, or None if no terms wait."""
        later = {*range(self.runs + 1, len(self.terms))} - self.withdrawn
        return max(later, default=None)

    def is_priced_otherwise(self, terms: Terms) -> bool:
        """Tell whether the terms `terms` equal the terms in force in everything but the allowed prices of a wager."""
        return terms._replace(prices_cents=None) == self.terms[self.runs]._replace(prices_cents=None)

    def approve(self, terms: Terms, waits: bool) -> None:
        """Record that people approved new terms. If `waits` is true, the terms come into force when the meter is won;
        otherwise they are in force at once. A closed meter opens again."""
        self.terms.append(terms)
        self.wagered.append(0)
        if not waits:
            self.runs = len(self.terms) - 1
        if self.closed:
            self.closed, self.reopened_cents = False, self.reopened_cents + terms.seed_cents

    def move(self, on_meter: Fraction, in_reserve: Fraction) -> None:
        """Add money that comes from a closed meter or from the house's reserve: `on_meter` cents to the meter,
        `in_reserve` cents to the meter's reserve. Negative amounts take money away."""
        fed = self._fed()[0] + self.moved
        self.moved += on_meter
        self.moved_cents += floor(fed + on_meter) - floor(fed)
        self.reserve_moved += in_reserve

    def close(self) -> tuple[Fraction, Fraction]:
        """Close the meter and empty it. Return two amounts in cents: what the meter held, its overflow included, and
        what its reserve held."""
        keys = ("level_cents", "overflow_cents", "carried", "reserve_cents", "reserve_carried")
        level, overflow, carried, *reserve = itemgetter(*keys)(self.figures())
        on_meter, in_reserve = level + overflow + carried, sum(reserve)
        self.move(-on_meter, -in_reserve)
        self.won.append(Won(Fraction(1), 0, 0, 0, is_closing=True))
        self.closed = True
        return on_meter, in_reserve

    def wins(self, share: Fraction) -> Won:
        """Record that a hit wins this share of the meter's level, and return the record of the win. If the hit wins the
        whole level, new terms that waited come into force."""
        figures, whole, former = self.figures(), share == 1, None
        if whole and (waits := self.waits) is not None:
            former, self.runs = self.runs, waits
            self.ran.add(waits)
        terms = self.terms[self.runs]
        from_reserve = min(figures["reserve_cents"], terms.reseed_at_most_cents) if whole else 0
        from_house = max(0, terms.seed_cents - from_reserve) if whole else 0
        self.won.append(Won(share, floor(figures["level_cents"] * share), from_reserve, from_house, former=former))
        self.given_cents += self.won[-1].cents
        return self.won[-1]

    def never_won(self, won: Won) -> None:
        """Undo the last win of the meter, because every award of that win was rejected. If new terms came into force
        with the win, the former terms are in force again."""
        won.stands = False
        if won.former is not None:
            self.runs = won.former

    def figures(self) -> dict[str, Any]:
        """Return the meter's level, reserve and other figures as a dictionary. Its keys are those of a pit's statement.
        Amounts are in cents; what is less than a cent is a fraction."""
        standing = [won for won in self.won if won.stands]
        on_meter, in_reserve = self._fed()
        on_meter, in_reserve = on_meter + self.moved, in_reserve + self.reserve_moved
        seeds = self.terms[0].seed_cents + self.reopened_cents + sum(won.from_house_cents for won in standing)
        from_reserve = sum(won.from_reserve_cents for won in standing)
        fed = floor(on_meter)
        holds = seeds + fed + from_reserve - self.given_cents + self.returned_cents
        limit_cents = self.terms[self.runs].limit_cents
        level = holds if limit_cents is None else min(holds, limit_cents)
        return {
            "seeds_cents": seeds,
            "contributions_cents": fed - self.moved_cents,
            "from_reserve_cents": from_reserve,
            "awards_cents": self.given_cents,
            "returned_cents": self.returned_cents,
            "level_cents": level,
            "overflow_cents": holds - level,
            "moved_cents": self.moved_cents,
            "carried": on_meter - fed,
            "reserve_cents": floor(in_reserve) - from_reserve,
            "reserve_carried": in_reserve - floor(in_reserve),
        }

    def _fed(self) -> tuple[Fraction, Fraction]:
        """Return two amounts in cents: what wagers gave to the meter, and what wagers gave to its reserve. Both amounts
        leave out what corrections of voids took away."""
        on_meter = in_reserve = Fraction(0)
        for cents, terms in zip(self.wagered, self.terms, strict=True):
            on_meter, in_reserve = on_meter + cents * terms.contribution, in_reserve + cents * terms.reserve
        for cents, number, since, until in self.off:
            shares = [won.share for won in self.won[since:until] if won.stands]
            on_meter -= cents * self.terms[number].contribution * prod(1 - share for share in shares)
            in_reserve -= 0 if 1 in shares else cents * self.terms[number].reserve
        return on_meter, in_reserve


def standing(step: str, cents: int, house_cents: int) -> str:
    """Describe an award's step and amount in words. Example: paid with 120.00, of which 20.00 are the house's."""
    of_house = f", of which {figures(house_cents)} are the house's" if house_cents else ""
    return f"{step} with {figures(cents)}{of_house}"
