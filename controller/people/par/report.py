"""The JSON report of `tablectl par --json`: every figure of a par sheet (the odds of every bet), for programs.

Counts are whole numbers. An exact figure is a fraction, written as a text such as "1/80".
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from controller.people.par.capped import Capped
from controller.people.par.liability import liability
from controller.people.par.odds import Levels, Odds
from controller.people.par.page import NO_TERMS, OnTerms, capped_of, closing
from controller.people.par.sheet import Par
from controller.people.par.together import Pair, Together, pairs


class OutcomeTold(Struct, frozen=True):
    """One way in which a wager can end, in the report of `tablectl par --json`."""

    when: str
    """The condition, in the words of the game file."""

    result: str
    """What becomes of the wager, for people."""

    ways: int
    """How many deals end so."""

    probability: float
    net: Fraction
    """The bettor's gain for each unit staked, with the levels of `meters_cents`: 1 for even money, -1 for a loss."""


class MeterTold(Struct, frozen=True):
    """How a bet's house edge changes with the amount on one progressive meter."""

    edge_each_cent: Fraction
    """How much each cent on the meter lowers the edge."""

    break_even_cents: Fraction | None
    """The amount on the meter at which the edge is zero. Zero or less: there is no edge even while it is empty."""


class FillingTold(Struct, frozen=True):
    """What one progressive meter costs the house for each wager on a bet. Every figure is a fraction of the wager's
    price."""

    given: Fraction
    """What the wager gives to the meter and to its reserve."""

    seeds: Fraction
    """What the new seeds cost."""

    seeds_from_house: Fraction
    """What of the seeds the house pays."""


class LongRunTold(Struct, frozen=True):
    """What a progressive bet keeps for the house and pays to bettors in the long run, by the pit's settings for its
    meters."""

    edge: Fraction
    """The part of each price that the house keeps."""

    meters: dict[str, FillingTold]
    awards: dict[str, Fraction]
    """How often a wager wins each award."""


class BetTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The figures of one bet, at some seats or at every seat, in the report of `tablectl par --json`."""

    spot: str
    seats: tuple[str, ...]
    """The seats where the bet has these figures, as people call them: "seat 3". Empty: every seat."""

    edge: Fraction | None = None
    """The part of each unit staked that the house keeps. Absent where choices decide and no best play is known."""

    edge_percent: float | None = None
    standard_deviation: float | None = None
    """Of the bettor's gain, for each unit staked."""

    hit_frequency: Fraction | None = None
    """How often the wager wins a pay or an award."""

    hold_an_hour: tuple[float, float, float] | None = None
    """What the house keeps of one unit in each round of an hour: the average, the least and the most of 19 in 20."""

    bounds: tuple[Fraction, Fraction] | None
    """Where choices decide: the least and the greatest edge, whatever is chosen."""

    outcomes: tuple[OutcomeTold, ...]
    meters: dict[str, MeterTold]
    """By its name, each meter that the bet can win."""

    long_run: LongRunTold | None = None
    """With `--pit-settings`, of a bet whose meters are there."""

    pays_at_most: Capped | None = None
    """At the greatest wager, where the house pays at most so much for one wager."""

    no_bets_after_round: int | None = None
    no_bets_in_final_round: bool | None = None


class RoundsTold(Struct, frozen=True):
    """How many cards a round takes, and how many rounds a shoe has."""

    seats: int | None
    """The seats in play, where every seat has a hand of its own."""

    cards_a_hand: Fraction
    by_cards: dict[str, Fraction]
    """How often a round, or a seat, takes each number of cards."""

    about: float
    """Rounds in a shoe: an estimate."""

    fewest: int
    most: int


class TogetherTold(Struct, frozen=True):
    """The figures about all bets of a round together, such as the most that the house can pay in it."""

    largest_liability_cents: int | None
    """The most that one round can cost the house, beside the stakes. None: not counted."""

    not_counted_together: tuple[str, ...]
    """The spots that `pairs` leaves out."""

    pairs: tuple[Pair, ...]


class ParReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The par sheet (the odds of every bet) of a game or of a table, as `tablectl par --json` prints it."""

    game: str
    sheet: str
    digest: str
    """SHA-256 over the values in the table's and the game's file, in hex."""

    cards: int
    """With how many cards it was counted."""

    deals: int
    """How many deals were counted: cards in order."""

    meters_cents: dict[str, int]
    """The levels with which it was counted; a meter that is not there counts as empty."""

    bets: tuple[BetTold, ...]
    hands: tuple[RoundsTold, ...]
    left_out: dict[str, str]
    """The keys that are the same in every shipped game, and the value of each that holds here."""

    play: tuple[str, ...]
    """The best play where people choose, a line for each choice."""

    method: str
    """How the figures were counted."""

    together: TogetherTold | None = None
    """Absent where two sheets are compared."""


class ParChange(Struct, frozen=True, rename={"from_": "from"}):
    """Two par sheets to compare. With `--against FILE` they are the sheet of the first file and the sheet of FILE. With
    `--composition` they are the sheet of a fresh shoe and the sheet of the open shoe's unseen cards."""

    from_: ParReport
    to: ParReport


def report(of: Par, levels: Levels, on_terms: OnTerms = NO_TERMS, count: Together | None = None) -> ParReport:
    """Return every figure of the par sheet, as a report for programs. With `count`, the figures about all bets together
    are included."""
    subject = of.subject
    return ParReport(
        game=subject.name,
        sheet=subject.sheet,
        digest=subject.digest,
        cards=of.cards,
        deals=of.deals,
        meters_cents=dict(levels),
        bets=tuple(_bet(of, bet, levels, on_terms) for bet in of.bets),
        hands=tuple(
            RoundsTold(
                hands.seats,
                hands.cards_a_round,
                {str(cards): often for cards, often in hands.by_cards.items()},
                round(hands.about, 1),
                hands.fewest,
                hands.most,
            )
            for hands in of.hands
        ),
        left_out=dict(subject.left_out),
        play=of.play,
        method=of.method,
        together=None if count is None else _together(of, count, levels),
    )


def _bet(of: Par, bet: Odds, levels: Levels, on_terms: OnTerms) -> BetTold:
    counted, run, (last, final) = bool(bet.outcomes), on_terms.of(bet), closing(of, bet)
    closes = last is not None or final
    return BetTold(
        spot=bet.spot,
        seats=bet.seats,
        edge=bet.edge(levels) if counted else None,
        edge_percent=100 * float(bet.edge(levels)) if counted else None,
        standard_deviation=bet.deviation(levels) if counted else None,
        hit_frequency=bet.hit_frequency if counted else None,
        hold_an_hour=bet.hold(levels, on_terms.rounds_an_hour) if counted else None,
        bounds=bet.bounds,
        outcomes=tuple(
            OutcomeTold(each.when, each.result, each.ways, each.ways / bet.deals, each.worth(levels))
            for each in bet.outcomes
        ),
        meters={
            meter: MeterTold(each_cent, bet.break_even_cents(meter, levels))
            for meter, each_cent in bet.edge_by_meter().items()
        },
        long_run=None
        if run is None
        else LongRunTold(
            run.edge,
            {each.meter: FillingTold(each.given, each.seeds, each.from_house) for each in run.fillings},
            dict(run.often),
        ),
        pays_at_most=capped_of(of, bet),
        no_bets_after_round=last,
        no_bets_in_final_round=final if closes else None,
    )


def _together(of: Par, count: Together, levels: Levels) -> TogetherTold:
    most = liability(of.subject, count, levels)
    return TogetherTold(None if most is None else most.cents, count.left_out, (*pairs(of, count, levels),))
