"""The odds of a bet: in how many deals each of its outcomes happens, and what follows from these counts for the house
and the bettor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt

from msgspec import Struct
from msgspec.structs import asdict

from controller.rules.game.bets import Bet, CardsAre, Has, Row, When, ratio_text

Levels = Mapping[str, int]
"""The cents on each progressive meter. A meter that is missing here counts as empty."""


class Outcome(Struct, frozen=True):
    """One way in which a wager can end, and the number of deals in which the wager ends like this."""

    when: str
    """The condition, in the words of the game file."""

    result: str
    """What becomes of the wager, for people."""

    ways: int
    net: Fraction
    """The bettor's gain for each unit staked, with empty meters: 1 for even money, -1 for a loss."""

    paid: bool
    """Whether the wager wins a pay or an award."""

    meter: str | None = None
    per_cent_of_meter: Fraction = Fraction()
    """How much each cent on the meter adds to `net`."""

    def worth(self, levels: Levels) -> Fraction:
        """Return the bettor's gain for each unit staked, if the progressive meters stand at `levels`."""
        return self.net + self.per_cent_of_meter * levels.get(self.meter or "", 0)


class Odds(Struct, frozen=True):
    """What a bet is worth at the seats named in `seats`. If `seats` is empty, the figures hold for every seat."""

    spot: str
    seats: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    """Empty where choices decide and no best play is known."""

    bounds: tuple[Fraction, Fraction] | None = None
    """Where choices decide: the least and the greatest edge, whatever is chosen."""

    @property
    def deals(self) -> int:
        """The number of all deals (orders of the cards) that were counted for the bet."""
        return sum(outcome.ways for outcome in self.outcomes)

    @property
    def hit_frequency(self) -> Fraction:
        """The share of all deals in which the wager wins a pay or an award, as a fraction."""
        return Fraction(sum(outcome.ways for outcome in self.outcomes if outcome.paid), self.deals)

    def edge(self, levels: Levels) -> Fraction:
        """Return the house edge: the part of each unit staked that the house keeps on average. `levels` are the amounts
        on the progressive meters. A negative edge means that the house pays more than it wins."""
        return -sum((outcome.ways * outcome.worth(levels) for outcome in self.outcomes), Fraction()) / self.deals

    def deviation(self, levels: Levels) -> float:
        """Return the standard deviation of the bettor's gain in one round, for each unit staked."""
        squares = sum((outcome.ways * outcome.worth(levels) ** 2 for outcome in self.outcomes), Fraction())
        return sqrt(squares / self.deals - self.edge(levels) ** 2)

    def hold(self, levels: Levels, rounds: int) -> tuple[float, float, float]:
        """Return what the house keeps if one unit is staked in each of `rounds` rounds, as three numbers: the average,
        and a low and a high limit. In 19 of 20 series of that length the result lies between the limits. The rounds are
        taken as independent, which makes the limits nearly right for a hundred rounds or more."""
        mean, spread = rounds * float(self.edge(levels)), 1.96 * self.deviation(levels) * sqrt(rounds)
        return mean, mean - spread, mean + spread

    def edge_by_meter(self) -> dict[str, Fraction]:
        """Return how much each cent on a progressive meter lowers the house edge. The result maps each meter that the
        bet can win to a fraction."""
        found: dict[str, Fraction] = {}
        for outcome in self.outcomes:
            if outcome.meter is not None:
                part = outcome.ways * outcome.per_cent_of_meter / self.deals
                found[outcome.meter] = found.get(outcome.meter, Fraction()) + part
        return found

    def break_even_cents(self, meter: str, levels: Levels) -> Fraction | None:
        """Return the amount on the progressive meter `meter` at which the house edge is zero, while the other meters
        hold `levels`.

        Returns None if the bet never wins the meter. Zero or less means that the house has no edge even while the meter
        is empty.
        """
        each_cent = self.edge_by_meter().get(meter, Fraction())
        return self.edge({**levels, meter: 0}) / each_cent if each_cent else None


def outcomes(bet: Bet, ways: Mapping[int | None, int]) -> tuple[Outcome, ...]:
    """Return the bet's outcomes in the order of the rows of its pay table. The last outcome is the lost wager, which no
    row decides. `ways` holds the number of deals that each row decides."""
    rows = [_outcome(bet, row, ways.get(number, 0)) for number, row in enumerate(bet.rows)]
    return (*rows, Outcome("anything else", "lose", ways.get(None, 0), Fraction(-1), paid=False))


def _outcome(bet: Bet, row: Row, ways: int) -> Outcome:
    when = said(row.when) or "always"
    if row.award is not None:
        assert bet.price_cents is not None, "a bet with awards has a price"
        net = Fraction(row.cents or 0, bet.price_cents) - (0 if bet.awards_return_stake else 1)
        if row.meter is None:
            return Outcome(when, f"{row.award}: ${(row.cents or 0) / 100:,.2f}", ways, net, paid=True)
        part = "all" if row.share == 1 else f"{row.share.numerator}/{row.share.denominator} of what is"
        result = f"{row.award}: {part} on the meter {row.meter}"
        return Outcome(when, result, ways, net, True, row.meter, row.share / bet.price_cents)
    if row.pays is not None:
        kept = row.commission_taken or row.commission_owed
        pays = f"pays {ratio_text(row.pays)}" + (f" less {kept} of it" if kept else "")
        return Outcome(when, pays, ways, row.pays * (1 - (kept or 0)), paid=True)
    assert row.result is not None, "a row has pays, an award or a result"
    return Outcome(when, row.result, ways, _RESULTS[row.result], paid=False)


_RESULTS = {"push": Fraction(), "half": Fraction(-1, 2), "lose": Fraction(-1)}
"""By the result in a row, the bettor's gain for each unit staked."""


def said(condition: CardsAre | Has | When) -> str:
    """Return the condition of a pay table's row as a text, with the words of the game file. Example: "winner banker,
    banker (total 7, cards 3)"."""
    words = {name: value for name, value in asdict(condition).items() if value is not None}
    return ", ".join(f"{name} {_value(value)}" for name, value in words.items())


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case (tuple(), tuple()):
            return " with ".join(map(_value, value))
        case tuple():
            return "/".join(map(str, value))
        case CardsAre() | Has():
            return f"({said(value)})"
        case _:
            return str(value)


class Counted(Struct, frozen=True):
    """The odds of all bets of a game, as the module that counts that kind of game returns them."""

    bets: tuple[Odds, ...]
    by_cards: Callable[[], dict[int, Fraction]]
    """Counts how often a round takes each number of cards; where every seat has its own hand, how often a seat does.
    Empty where choices are open."""

    play: tuple[str, ...] = ()
    """The best play where people choose, a line for each choice."""

    method: str = ""
    """How this game was counted, where that differs from other games, in sentences."""

    dealers: Fraction = Fraction()
    """How many cards the dealer takes on average, beside those of `by_cards`."""

    left_out: tuple[str, ...] = ()
    """The spots of the bets that were not counted."""


CARDS = Bet("cards", rows=tuple(Row(When(cards=(many,)), result="push") for many in (4, 5, 6)))
"""A bet for counting, which no house offers: its rows tell how many cards Player and Banker take together."""


def by_cards(ways: Mapping[int | None, int]) -> dict[int, Fraction]:
    """Return how often Player and Banker together take four, five and six cards, as a dict from the number of cards to
    a fraction. `ways` counts the deals that each row of the artificial bet `CARDS` decides."""
    return {4 + (row or 0): Fraction(many, sum(ways.values())) for row, many in sorted(ways.items()) if many}
