"""Computes statistics of a table's past for the technician's page: rounds, pace, stops, misreads, and whether the cards
are those of fair shoes.

The code is pure: it uses the table's events alone, which are public.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict, replace

from controller.contract.event_reading import Sent, sent
from controller.contract.events import (
    Alarm,
    Award,
    Correction,
    Fault,
    FaultCleared,
    Hit,
    Round,
    SeatsCorrection,
    SeatsRound,
    ShoeClosed,
    ShoeOpened,
    Void,
)
from controller.people.screen.wording import say
from controller.words.events import alarm_sentence
from controller.words.language import language

RANKS = "A23456789TJQK"
_Named = list[tuple[str, tuple[str, ...], int]]
_MISREADS = ("unreadable_card", "impossible_card")
_HOURS = 24
_SECONDS_SHOWN = 120
_LONGEST_ROUND_S = 600
"""More time than this between two rounds is a break, and not a slow round."""

_WEIGHT = 52
"""After this many cards of a rank, the guess at its share follows these cards as much as a fair shoe."""

ONCE_IN_SHOES = 10_000
"""A fair table is suspected less often than once in this many shoes."""


class RoundRow(Struct, frozen=True):
    """A finished round, for the technician's page. `cards` is a text to show, and `hands` the same cards as a tuple for
    each hand. `marks` are words such as "natural" or "corrected". `left` is how many cards were left in the shoe."""

    shoe: int | None
    round: int | None
    at: str
    outcome: str
    cards: str
    marks: tuple[str, ...]
    hands: tuple[tuple[str, ...], ...]
    left: int | None


def rounds_of(messages: Iterable[Mapping[str, Any]]) -> list[RoundRow]:
    """Return the rounds that these events report, the first round first. Corrections are applied, and void rounds are
    included."""
    return _rounds(_sent(messages))


def past_view(messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return all statistics that the technician's page shows, made from the table's past events."""
    told = _sent(messages)
    rounds = _rounds(told)
    stops = list(_stops(told))
    last = told[-1] if told else None
    return {
        "head": None if last is None else {"seq": last.seq, "chain": last.chain, "at": last.at},
        "rounds": [_row_told(row) for row in reversed(rounds)],
        "hours": _hours(rounds, stops),
        "seconds": _seconds(rounds),
        "stops": _by_code(stops),
        "rates": _rates(told, rounds, stops),
        "alarms": [
            {"at": each.at, "says": alarm_sentence(each.event)} for each in told if isinstance(each.event, Alarm)
        ][:-11:-1],
        "awards": _awards(told),
        "cards": _cards(told, rounds),
        "shoes": _shoes(told, rounds),
    }


def _row_told(row: RoundRow) -> dict[str, Any]:
    """Return a round as values for JSON. The field `hands` is left out, because `cards` shows the same cards."""
    return {name: said for name, said in asdict(row).items() if name != "hands"} | {"marks": [*row.marks]}


def _sent(messages: Iterable[Mapping[str, Any]]) -> list[Sent]:
    return [each for each in map(sent, messages) if each is not None]


def _rounds(events: Iterable[Sent]) -> list[RoundRow]:
    rounds: dict[tuple[int | None, int | None], RoundRow] = {}
    for each in events:
        event = each.event
        where = event.shoe, event.round
        match event:
            case Round() | SeatsRound():
                rounds[where] = _row(each.at, event)
            case Void():
                rounds[where] = _void_row(each.at, event)
            case Correction(outcome=outcome) if where in rounds:
                rounds[where] = _corrected(rounds[where], outcome, _hands(event))
            case SeatsCorrection() if where in rounds:
                rounds[where] = _corrected(rounds[where], "", _hands(event))
            case _:
                pass
    return list(rounds.values())


def _void_row(at: str, event: Void) -> RoundRow:
    hands = [hand for hand in event.hands if hand.cards]
    seen = "; ".join(f"{hand.hand.replace('_', ' ')} {' '.join(hand.cards)}" for hand in hands)
    return RoundRow(event.shoe, event.round, at, "void", seen, (), (), None)


def _row(at: str, event: Round | SeatsRound) -> RoundRow:
    marks = ["natural"] if isinstance(event, Round) and event.natural else []
    marks += ["simulated"] * event.simulated + ["final_round"] * event.final_round
    outcome = ""
    if isinstance(event, Round):
        outcome = event.outcome
        marks += ["player_pair"] * event.pairs.player + ["banker_pair"] * event.pairs.banker
    named = _hands(event)
    hands = tuple(cards for _, cards, _ in named)
    return RoundRow(event.shoe, event.round, at, outcome, _shown(named), tuple(marks), hands, event.cards_left)


def _corrected(row: RoundRow, outcome: str, named: _Named) -> RoundRow:
    hands = tuple(cards for _, cards, _ in named)
    return replace(row, outcome=outcome, cards=_shown(named), hands=hands, marks=(*row.marks, "corrected"))


def _hands(event: Round | SeatsRound | Correction | SeatsCorrection) -> _Named:
    """Return the hands of a round from its event, each as three values: its name, its cards and its total."""
    if isinstance(event, Round | Correction):
        return [(name, hand.cards, hand.total) for name, hand in (("player", event.player), ("banker", event.banker))]
    seats = [
        (f"seat {hand.seat}" + (f" hand {hand.hand}" if hand.hand > 1 else ""), hand.cards, hand.total)
        for hand in event.hands
    ]
    return [("dealer", event.dealer.cards, event.dealer.total), *seats]


def _shown(named: _Named) -> str:
    return "; ".join(f"{name} {' '.join(cards)} = {total}" for name, cards, total in named)


def _moment(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


# Pace and stops.


def _stops(events: Iterable[Sent]) -> Iterator[tuple[str, datetime, float]]:
    """Yield each stop of the table that a person has ended, as three values: the code of its first fault, when the stop
    began, and how many minutes it lasted."""
    standing: tuple[str, datetime] | None = None
    for each in events:
        if isinstance(each.event, Fault):
            standing = standing or (each.event.code, _moment(each.at))
        elif isinstance(each.event, FaultCleared) and standing is not None:
            code, began = standing
            yield code, began, max(0.0, (_moment(each.at) - began).total_seconds() / 60)
            standing = None


def _hours(rounds: Iterable[RoundRow], stops: Iterable[tuple[str, datetime, float]]) -> list[dict[str, Any]]:
    """Return a dict for each of the last 24 hours of the clock in which a round ended or a stop began. It holds the
    hour, how many rounds ended in it (without void rounds), and how many minutes the stops lasted that began in it.
    Stops that still last are left out."""
    ended = Counter(row.at[:13] for row in rounds if row.outcome != "void")
    minutes: defaultdict[str, float] = defaultdict(float)
    for _, began, lasted in stops:
        minutes[began.strftime("%Y-%m-%dT%H")] += lasted
    hours = sorted(ended.keys() | minutes.keys())[-_HOURS:]
    return [{"hour": hour, "rounds": ended[hour], "stopped_min": round(minutes[hour], 1)} for hour in hours]


def _seconds(rounds: Sequence[RoundRow]) -> dict[str, Any]:
    """Return a dict with the pace of the rounds. A round's time in seconds is counted from the end of the round before
    in the same shoe; times above 600 seconds are left out. The dict holds the median time (`median`), the rounds in an
    hour at that time (`rounds_an_hour`), and the last 120 times for a plot (`last`)."""
    apart = [
        (_moment(after.at) - _moment(before.at)).total_seconds()
        for before, after in pairwise(rounds)
        if before.shoe == after.shoe
    ]
    lasted = [seconds for seconds in apart if 0 <= seconds <= _LONGEST_ROUND_S]
    return {
        "median": round(median(lasted), 1) if lasted else None,
        "rounds_an_hour": round(3600 / median(lasted)) if lasted and median(lasted) else None,
        "last": [round(seconds, 1) for seconds in lasted[-_SECONDS_SHOWN:]],
    }


def _by_code(stops: Iterable[tuple[str, datetime, float]]) -> list[dict[str, Any]]:
    minutes: dict[str, list[float]] = {}
    for code, _, lasted in stops:
        minutes.setdefault(code, []).append(lasted)
    return [
        {"code": code, "what": language().fault(code).what, "times": len(each), "minutes": round(sum(each), 1)}
        for code, each in sorted(minutes.items(), key=lambda item: -sum(item[1]))
    ]


def _rates(events: Iterable[Sent], rounds: Sequence[RoundRow], stops: Sequence[object]) -> dict[str, Any]:
    """Return a dict with the number of rounds, and with how many misreads, corrections and stops came on average in a
    thousand rounds."""
    misreads = corrections = 0
    for each in events:
        misreads += isinstance(each.event, Fault) and each.event.code in _MISREADS
        corrections += isinstance(each.event, Correction | SeatsCorrection)

    def thousandth(times: int) -> float | None:
        return round(1000 * times / len(rounds), 1) if rounds else None

    return {
        "rounds": len(rounds),
        "misreads": thousandth(misreads),
        "corrections": thousandth(corrections),
        "stops": thousandth(len(stops)),
    }


class _AwardRow(Struct, frozen=True):
    """A hit, for the technician's page. `here_cents` is the amount that the table showed for the hit, and `pit_cents`
    the amount that the pit awarded; None if it has awarded none yet."""

    at: str
    seat: int
    tier: str
    here_cents: int | None
    pit_cents: object
    step: str


def _awards(events: Iterable[Sent]) -> list[dict[str, Any]]:
    """Return the last 20 hits with their awards, for JSON, the latest hit first."""
    hits: dict[object, _AwardRow] = {}
    for each in events:
        match each.event:
            case Hit(seat=seat, tier=tier) as hit:
                hits[each.id] = _AwardRow(each.at, seat, tier, _shown_cents(hit), None, "hit")
            case Award(hit=id_, cents=cents, step=step) if id_ in hits:
                hits[id_] = replace(hits[id_], pit_cents=cents, step=step)
            case Alarm(code="award_impossible", details={"hit": id_, "cents": cents}) if id_ in hits:
                hits[id_] = replace(hits[id_], pit_cents=cents, step="disputed")
            case _:
                pass
    last = list(hits.values())[:-21:-1]
    return [to_builtins(row) | {"says": say("step", row.step)["en"]} for row in last]


def _shown_cents(hit: Hit) -> int | None:
    if hit.fixed is not None:
        return hit.fixed.cents
    won = hit.progressive
    if won is None or won.shown_cents is None:
        return None
    part, whole = map(int, won.share.split(":"))
    return won.shown_cents * part // whole


# Shoes.


def _shoes(events: Iterable[Sent], rounds: Iterable[RoundRow]) -> list[dict[str, Any]]:
    """Return a dict for each shoe whose opening is among the events, the latest shoe first: how many rounds it had, how
    many each side won, how many cards were left, and why it was closed (None if it was not). Void and simulated rounds
    are not counted."""
    opened: dict[int | None, str] = {}
    closed: dict[int | None, str] = {}
    for each in events:
        if isinstance(each.event, ShoeOpened):
            opened[each.event.shoe] = each.at
        elif isinstance(each.event, ShoeClosed):
            closed[each.event.shoe] = each.event.reason.replace("_", " ")
    of_shoe: dict[int | None, list[RoundRow]] = {}
    for row in rounds:
        if row.outcome != "void" and "simulated" not in row.marks:
            of_shoe.setdefault(row.shoe, []).append(row)
    return [
        {
            "shoe": shoe,
            "at": at,
            "rounds": len(its := of_shoe.get(shoe, [])),
            **{winner: sum(row.outcome == winner for row in its) for winner in ("player", "banker", "tie")},
            "left": its[-1].left if its else None,
            "closed": closed.get(shoe),
        }
        for shoe, at in reversed(opened.items())
    ]


# The cards, compared with what a fair shoe deals.


class FairShoe(Struct):
    """A statistical test of the dealt cards: does each rank come as often as it should from fair shoes? The test is
    sequential, so people may look at its result after every card.

    In a fair shoe each unseen card is as likely as any other to come next, even if unseen cards were burned. So the
    chance of a rank is exactly its share of all unseen cards. The test also makes its own guess for the next card,
    which gives more weight to ranks that came too often before. For each card, the guessed chance of its rank is
    divided by the fair chance, and these quotients are multiplied. The product works like a bet against fairness: it
    starts at 1, and on a fair shoe it is not expected to gain. The page tests a window of shoes that moves on with each
    new shoe, so a test begins at each shoe. By the theorem on such tests (e-detectors), a fair table brings the product
    to `ONCE_IN_SHOES` less often than once in that many shoes, however often anybody looks.
    """

    dealt: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RANKS, 0))
    expected: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RANKS, 0.0))
    log_gain: float = 0.0
    most: float = 0.0

    def shoe(self, decks: int, cards: Iterable[str]) -> None:
        """Add one shoe to the test: the number of its decks, and its cards that were seen, in their order. The cards
        from the first one on that the shoe cannot hold are left out."""
        left = dict.fromkeys(RANKS, 4 * decks)
        for card in cards:
            rank, all_left = card[0], sum(left.values())
            if not left[rank]:
                return  # the shoe cannot hold this card: the table has stopped
            chances = {each: many / all_left for each, many in left.items()}
            guess = self.guess(chances)
            self.log_gain += math.log(guess[rank] / chances[rank])
            self.most = max(self.most, self.log_gain)
            for each, chance in chances.items():
                self.expected[each] += chance
            self.dealt[rank] += 1
            left[rank] -= 1

    def guess(self, chances: Mapping[str, float]) -> dict[str, float]:
        """Return, for each rank, the probability that the test assumes for it as the next card's rank. It is the fair
        chance, made larger for ranks that came too often before, and smaller for ranks that came too seldom. All are
        then scaled so that their sum is 1. `chances` maps each rank to its fair chance."""
        bent = {
            rank: chance * (self.dealt[rank] + _WEIGHT) / (self.expected[rank] + _WEIGHT)
            for rank, chance in chances.items()
        }
        whole = sum(bent.values())
        return {rank: share / whole for rank, share in bent.items()}

    @property
    def unfair(self) -> bool:
        """Tell whether the test has found that the shoes may be unfair, because fair shoes hardly ever deal cards like
        these."""
        return self.most >= math.log(ONCE_IN_SHOES)


def _cards(events: Iterable[Sent], rounds: Iterable[RoundRow]) -> dict[str, Any]:
    decks = {each.event.shoe: each.event.decks for each in events if isinstance(each.event, ShoeOpened)}
    seen: dict[int | None, list[str]] = {}
    for row in rounds:
        seen.setdefault(row.shoe, []).extend(card for hand in row.hands for card in hand)
    test = FairShoe()
    for shoe, cards in seen.items():
        if shoe in decks:
            test.shoe(decks[shoe], cards)
    return {
        "ranks": [[rank, test.dealt[rank], round(test.expected[rank], 1)] for rank in RANKS],
        "gain": round(math.exp(min(test.most, 30.0)), 2),
        "threshold": ONCE_IN_SHOES,
        "unfair": test.unfair,
    }
