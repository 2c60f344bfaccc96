"""The figures of a table's past, for the technician's page: rounds, pace, stops, misreads, and the shoe's cards.

Pure: made from the table's events alone, which are public.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from controller.people.screen.wording import say
from controller.words.events import event_sentence
from controller.words.language import language

RANKS = "A23456789TJQK"
_MISREADS = ("unreadable_card", "impossible_card")
_HOURS = 24
_SECONDS_SHOWN = 120
_LONGEST_ROUND_S = 600
"""More time than this between two rounds is a break, and not a slow round."""

_WEIGHT = 52
"""After this many cards of a rank, the guess at its share follows these cards as much as a fair shoe."""

ONCE_IN_SHOES = 10_000
"""A fair table is suspected less often than once in this many shoes."""


def rounds_of(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rounds as corrected, void rounds too, the first one first."""
    rounds: dict[tuple[int, int], dict[str, Any]] = {}
    for event in events:
        where = event["shoe"], event["round"]
        if event["type"] in ("round", "void"):
            rounds[where] = _row(event)
        elif event["type"] == "correction" and where in rounds:
            rounds[where] |= {name: said for name, said in _row(event).items() if name in ("outcome", "hands", "cards")}
            rounds[where]["marks"] = [*rounds[where]["marks"], "corrected"]
    return list(rounds.values())


def past_view(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the technician's page gets of the past."""
    rounds = rounds_of(events)
    stops = list(_stops(events))
    last = events[-1] if events else None
    return {
        "head": None if last is None else {"seq": last["seq"], "chain": last["chain"], "at": last["at"]},
        "rounds": [{name: said for name, said in row.items() if name != "hands"} for row in reversed(rounds)],
        "hours": _hours(rounds, stops),
        "seconds": _seconds(rounds),
        "stops": _by_code(stops),
        "rates": _rates(events, rounds, stops),
        "alarms": [_alarm(event) for event in events if event["type"] == "alarm"][:-11:-1],
        "awards": _awards(events),
        "cards": _cards(events, rounds),
        "shoes": _shoes(events, rounds),
    }


def _row(event: Mapping[str, Any]) -> dict[str, Any]:
    if event["type"] == "void":
        hands = [hand for hand in event["hands"] if hand["cards"]]
        seen = "; ".join(f"{hand['hand'].replace('_', ' ')} {' '.join(hand['cards'])}" for hand in hands)
        return _ended(event, "void", seen, [], [])
    named = [(name, event[name]) for name in ("player", "banker", "dealer") if name in event]
    named += [
        (f"seat {hand['seat']}" + (f" hand {hand['hand']}" if hand["hand"] > 1 else ""), hand)
        for hand in event.get("hands", ())
    ]
    pairs = event.get("pairs") or {}
    marks = [name for name in ("natural", "simulated", "last_hand") if event.get(name)]
    marks += [f"{side}_pair" for side, there in pairs.items() if there]
    shown = "; ".join(f"{name} {' '.join(hand['cards'])} = {hand['total']}" for name, hand in named)
    return _ended(event, event.get("outcome", ""), shown, marks, [hand["cards"] for _, hand in named])


def _ended(event: Mapping[str, Any], outcome: str, cards: str, marks: list[str], hands: list[Any]) -> dict[str, Any]:
    """A round that is over. `cards` are shown; `hands` are counted."""
    return {
        "shoe": event["shoe"],
        "round": event["round"],
        "at": event["at"],
        "outcome": outcome,
        "cards": cards,
        "marks": marks,
        "hands": hands,
        "left": event.get("cards_left"),
    }


def _moment(event: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"].replace("Z", "+00:00"))


# Pace and stops.


def _stops(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, datetime, float]]:
    """Each stop that a person has ended: its code, when it began, its minutes."""
    standing: Mapping[str, Any] | None = None
    for event in events:
        if event["type"] == "fault":
            standing = standing or event
        elif event["type"] == "fault_cleared" and standing is not None:
            began = _moment(standing)
            yield standing["code"], began, max(0.0, (_moment(event) - began).total_seconds() / 60)
            standing = None


def _hours(rounds: Iterable[Mapping[str, Any]], stops: Iterable[tuple[str, datetime, float]]) -> list[dict[str, Any]]:
    """For each clock hour in which the table dealt or stood: its rounds, and the minutes of the stops that began
    then."""
    ended = Counter(row["at"][:13] for row in rounds if row["outcome"] != "void")
    minutes: defaultdict[str, float] = defaultdict(float)
    for _, began, lasted in stops:
        minutes[began.strftime("%Y-%m-%dT%H")] += lasted
    hours = sorted(ended.keys() | minutes.keys())[-_HOURS:]
    return [{"hour": hour, "rounds": ended[hour], "stopped_min": round(minutes[hour], 1)} for hour in hours]


def _seconds(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How long a round takes, from the end of the round before; and the last of these times, for a plot."""
    apart = [
        (_moment(after) - _moment(before)).total_seconds()
        for before, after in pairwise(rounds)
        if before["shoe"] == after["shoe"]
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


def _rates(
    events: Iterable[Mapping[str, Any]], rounds: Sequence[Mapping[str, Any]], stops: Sequence[object]
) -> dict[str, Any]:
    """The number for each thousand rounds."""
    counted = Counter(
        "misreads" if event.get("code") in _MISREADS else "corrections"
        for event in events
        if event["type"] == "correction" or (event["type"] == "fault" and event["code"] in _MISREADS)
    )

    def thousandth(times: int) -> float | None:
        return round(1000 * times / len(rounds), 1) if rounds else None

    return {
        "rounds": len(rounds),
        "misreads": thousandth(counted["misreads"]),
        "corrections": thousandth(counted["corrections"]),
        "stops": thousandth(len(stops)),
    }


def _alarm(event: Mapping[str, Any]) -> dict[str, str]:
    return {"at": event["at"], "says": event_sentence(dict(event))}


def _awards(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each hit: what the table showed for it, and what the pit awarded, if it has. The last hit first."""
    hits: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["type"] == "hit":
            hits[event["id"]] = {
                **{name: event[name] for name in ("at", "seat", "tier")},
                "here_cents": _shown_cents(event),
                "pit_cents": None,
                "step": "hit",
            }
        elif event["type"] == "award" and event["hit"] in hits:
            hits[event["hit"]] |= {"pit_cents": event["cents"], "step": event["step"]}
        elif event.get("code") == "award_impossible" and (hit := event["details"]["hit"]) in hits:
            hits[hit] |= {"pit_cents": event["details"]["cents"], "step": "disputed"}
    return [hit | {"says": say("step", hit["step"])["en"]} for hit in list(hits.values())[:-21:-1]]


def _shown_cents(hit: Mapping[str, Any]) -> int | None:
    if hit["fixed"] is not None:
        return int(hit["fixed"]["cents"])
    won = hit["progressive"]
    part, whole = map(int, won["share"].split(":"))
    return None if won["shown_cents"] is None else won["shown_cents"] * part // whole


# Shoes.


def _shoes(events: Iterable[Mapping[str, Any]], rounds: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each shoe in the events, the last shoe first: its rounds, who won them, and how the shoe ended."""
    shoes: dict[int, dict[str, Any]] = {}
    for event in events:
        if event["type"] == "shoe_opened":
            nothing = {"rounds": 0, "player": 0, "banker": 0, "tie": 0, "left": None, "closed": None}
            shoes[event["shoe"]] = {"shoe": event["shoe"], "at": event["at"], **nothing}
        elif event["type"] == "shoe_closed" and event["shoe"] in shoes:
            shoes[event["shoe"]]["closed"] = event["reason"].replace("_", " ")
    for row in rounds:
        if row["shoe"] in shoes and row["outcome"] != "void" and "simulated" not in row["marks"]:
            its = shoes[row["shoe"]]
            its["rounds"] += 1
            its["left"] = row["left"]
            if row["outcome"]:
                its[row["outcome"]] += 1
    return list(shoes.values())[::-1]


# The cards, compared with what a fair shoe deals.


@dataclass
class FairShoe:
    """A sequential test of the ranks that were dealt.

    In a fair shoe any unseen card is as likely as any other to come next, also where unseen cards were burned. So the
    chance of a rank is exactly its unseen cards among all unseen cards. A guess is compared with that chance: the guess
    leans towards the ranks that came too often before. The product of guess over chance, card by card, is a bet against
    fairness. It starts at 1, and on a fair shoe it is not expected to gain. A new window begins with each shoe. By the
    theorem on such e-detectors, a fair table brings the product to `ONCE_IN_SHOES` less often than once in that many
    shoes, however often anybody looks.
    """

    dealt: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RANKS, 0))
    expected: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RANKS, 0.0))
    log_gain: float = 0.0
    most: float = 0.0

    def shoe(self, decks: int, cards: Iterable[str]) -> None:
        """The cards of one shoe that were seen, in order."""
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
        """The chances, bent by the ranks that came before."""
        bent = {
            rank: chance * (self.dealt[rank] + _WEIGHT) / (self.expected[rank] + _WEIGHT)
            for rank, chance in chances.items()
        }
        whole = sum(bent.values())
        return {rank: share / whole for rank, share in bent.items()}

    @property
    def unfair(self) -> bool:
        """Whether the cards came as a fair shoe does not deal them."""
        return self.most >= math.log(ONCE_IN_SHOES)


def _cards(events: Iterable[Mapping[str, Any]], rounds: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    decks = {event["shoe"]: event["decks"] for event in events if event["type"] == "shoe_opened"}
    seen: dict[int, list[str]] = {}
    for row in rounds:
        seen.setdefault(row["shoe"], []).extend(card for hand in row["hands"] for card in hand)
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
