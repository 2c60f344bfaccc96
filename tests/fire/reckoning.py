"""The judge of the pit in the stress tests. It computes meters and awards from the tables' journals, compares them with
the pit's ledger, and shares no arithmetic with the pit.

The events are read from the tables' journal files. Only the order in which several tables' events and people's
decisions came is taken from the pit's ledger, because nobody else knows it. Every amount is computed anew.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from controller.daemon.record.journal_reading import reading_messages
from controller.pit.reference.opening import Place
from tests.fire.dealing import Dealt
from tests.pit.postgresql import rows
from tests.support import sheets
from tests.support.contract import check_event

Event = dict[str, Any]
Round = tuple[str, int, int]
Terms = Mapping[str, tuple[int, Fraction, Fraction, int]]
"""Seed in cents, share, share into the reserve, the most to begin again with."""


@dataclass
class Level:
    """The amounts that a meter must have by the judge's own computation: its exact cents and its reserve. `won` lists
    the meter's wins. A voided round does not change a meter."""

    cents: Fraction
    reserve: Fraction = Fraction(0)
    won: list[Won] = field(default_factory=list)


@dataclass
class Won:
    """A win of a meter in one round: the round, the amount, the hits that share it, and the money with which the meter
    began again.

    The house added `added_cents` to the win, because the table had shown more when wagers were locked. `in_it_cents` is
    the part of the added cents that has not yet gone back to the house. A part goes back when a hit is rejected.
    """

    round: Round
    cents: int
    added_cents: int
    from_reserve: int
    from_house: int
    hits: list[str] = field(default_factory=list)
    rejected: set[str] = field(default_factory=set)
    paid: set[str] = field(default_factory=set)
    in_it_cents: int = 0


class Reckoning:
    """The meters and awards that the judge computes from the tables' events and people's decisions, in the given order.
    `cents` has the award of each hit."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.levels = {name: Level(Fraction(seed)) for name, (seed, *_) in terms.items()}
        self._shown: dict[Round, dict[str, int]] = {}
        self._locked_ms: dict[Round, float] = {}
        self._won: dict[tuple[Round, str], Won] = {}
        self._meter_of: dict[str, tuple[Round, str]] = {}
        self.cents: dict[str, int] = {}
        self._decided: set[str] = set()

    def take(self, event: Event) -> None:
        """Apply one event of a table to the computed meters and awards."""
        round_ = (str(event["table"]), event["shoe"], event["round"])
        match event["type"]:
            case "wagers_locked":
                assert round_ not in self._shown, f"{round_} is locked twice"
                self._shown[round_] = told["word"]["meters"] if (told := event.get("told")) else {}
                if told:
                    at_ms = 1000 * datetime.fromisoformat(told["word"]["at"]).timestamp() + told["ago_ms"]
                    before = [ms for of, ms in self._locked_ms.items() if of[0] == round_[0]]
                    self._locked_ms[round_] = max([round(at_ms), *before])
                (royal9,) = event["progressive"]
                for name, level in self.levels.items():
                    _, share, reserve, _ = self._terms[name]
                    wagered_cents = royal9["price_cents"] * len(royal9["seats"])
                    level.cents += wagered_cents * share
                    level.reserve += wagered_cents * reserve
            case "hit" if event["progressive"] is None:
                self.cents[event["id"]] = event["fixed"]["cents"]
            case "hit":
                self._hit(round_, event["progressive"]["meter"], event["id"])

    def decide(self, hit: str, step: str) -> None:
        """Apply people's decision on the award of this hit to the computed meters and awards. `step` is the award's new
        step: "verified", "rejected" or "paid"."""
        self._decided.add(hit)
        if hit not in self._meter_of or step == "verified":
            return
        round_, meter = self._meter_of[hit]
        won, level = self._won[round_, meter], self.levels[meter]
        if step == "paid":
            won.paid.add(hit)
            return
        won.rejected.add(hit)
        left = [other for other in won.hits if other not in won.rejected]
        if left and not won.paid:
            self._share(won.cents + won.added_cents, left)
            return
        to_the_house = min(self.cents[hit], won.in_it_cents)
        won.in_it_cents -= to_the_house
        level.cents += self.cents[hit] - to_the_house
        while level.won and set(level.won[-1].hits) == level.won[-1].rejected:  # nobody ever won it
            undone = level.won.pop()
            level.cents -= undone.from_reserve + undone.from_house
            level.reserve += undone.from_reserve

    def _share(self, cents: int, hits: Sequence[str]) -> None:
        each, left = divmod(cents, len(hits))
        for place, sharer in enumerate(hits):
            cents = each + (1 if place < left else 0)
            if self.cents.get(sharer) != cents:
                self._decided.discard(sharer)
            self.cents[sharer] = cents

    def _hit(self, round_: Round, meter: str, hit: str) -> None:
        level = self.levels[meter]
        if (round_, meter) not in self._won:
            seed, _, _, most = self._terms[meter]
            cents, from_reserve = floor(level.cents), min(floor(level.reserve), most)
            added = max(0, self._shown[round_].get(meter, 0) - cents)
            won = Won(round_, cents, added, from_reserve, max(0, seed - from_reserve), in_it_cents=added)
            level.cents += won.from_reserve + won.from_house - cents
            level.reserve -= from_reserve
            level.won.append(won)
            self._won[round_, meter] = won
        won = self._won[round_, meter]
        won.hits.append(hit)
        self._meter_of[hit] = round_, meter
        self._share(won.cents + won.added_cents, won.hits)
        if round_ in self._locked_ms:
            self._put_in_order(meter, self._locked_ms[round_])

    def _put_in_order(self, meter: str, since_ms: float) -> None:
        """Sort the wins of a meter by the time when their rounds locked wagers: the round that locked first gets the
        first win. Only rounds that locked at `since_ms` or later, and on whose awards nobody has decided, change
        places."""
        open_ = [won for won in self.levels[meter].won if not self._decided.intersection(won.hits)]
        free = [won for won in open_ if self._locked_ms.get(won.round, -1) >= since_ms]
        of_rounds = sorted(((won.round, won.hits) for won in free), key=lambda each: self._locked_ms[each[0]])
        for won, (round_, hits) in zip(free, of_rounds, strict=True):
            if won.round != round_:
                won.round, won.hits = round_, hits
                won.added_cents = won.in_it_cents = max(0, self._shown[round_].get(meter, 0) - won.cents)
                self._won[round_, meter] = won
                self._share(won.cents + won.added_cents, hits)


class Books:
    """The contents of a pit's ledger, read from its database when the object is made. The pit must not write to the
    ledger meanwhile."""

    def __init__(self, ledger: Place) -> None:
        self.events = [
            (number, table, seq, bytes(body))
            for number, table, seq, body in rows(
                ledger, "SELECT number, table_id, seq, body FROM event ORDER BY number"
            )
        ]
        self.awards = rows(ledger, "SELECT hit, cents, step FROM award ORDER BY number")
        self.paid = [award for (award,) in rows(ledger, "SELECT id FROM award WHERE step = 'paid' ORDER BY number")]
        self.steps = rows(
            ledger,
            "SELECT step.table_id, id, step.step, step.cents FROM step JOIN award ON award.number = step.award"
            " ORDER BY step.table_id, seq",
        )
        self.alarms = rows(ledger, "SELECT code, what FROM alarm")
        funds = rows(ledger, "SELECT account, cents, remainder FROM fund")
        self.funds = {name: cents + Fraction(rest) for name, cents, rest in funds}
        self.decisions = _decisions(ledger)


def _decisions(ledger: Place) -> dict[int, list[tuple[str, str]]]:
    """Return people's decisions on awards: a dictionary from the number of the event before the decision to pairs of
    the hit and the decision."""
    decisions: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for after, what, hit in rows(
        ledger,
        "SELECT after_event, what, hit FROM decision JOIN award ON award.number = subject"
        " WHERE what IN ('verified', 'paid', 'rejected') ORDER BY decision.number",
    ):
        decisions[after].append((hit, what))
    return decisions


def messages(journal: Path) -> list[bytes]:
    """Return the messages in a table's journal and its archives, in order."""
    with reading_messages(journal) as spoken:
        return [message.body for message in spoken.messages]


def contract_findings(table: str, sent: Sequence[bytes]) -> Iterator[str]:
    """Yield a text for each event in `sent` that breaks the written contract."""
    for body in sent:
        try:
            check_event(body)
        except AssertionError as error:
            yield f"{table}: {error}"


def stream_findings(table: str, sent: Sequence[bytes], books: Books) -> Iterator[str]:
    """Yield a text for each difference between the events that the table sent and those that the pit committed: events
    that are lost, doubled, out of order or changed on the way."""
    committed = [(seq, body) for _, name, seq, body in books.events if name == table]
    if [seq for seq, _ in committed] != [*range(1, len(committed) + 1)]:
        yield f"{table}: the pit's order of commitment is not the order of its numbers"
    bodies = [body for _, body in committed]
    counted, owed = Counter(bodies), Counter(sent)
    if lost := owed - counted:
        yield f"{table}: {lost.total()} events are lost"
    if more := counted - owed:
        yield f"{table}: {more.total()} events are doubled or were never sent"
    if bodies != list(sent):
        yield f"{table}: the ledger is not byte for byte the journal"


def felt_findings(table: str, sent: Sequence[bytes], dealt: Sequence[Dealt]) -> Iterator[str]:
    """Yield a text for each difference between the table's events and the rounds that were dealt. The events must
    report every round once, in order, with its cards. They must report a round as void only if it was voided."""
    events = [json.loads(body) for body in sent]
    ended = [event for event in events if event["type"] in ("round", "void")]
    if [(event["shoe"], event["round"]) for event in ended] != [(round_.shoe, round_.round) for round_ in dealt]:
        yield f"{table}: the rounds of the stream are not the rounds that were dealt"
    for event, round_ in zip(ended, dealt, strict=False):
        told = None if event["type"] == "void" else (event["player"]["cards"], event["banker"]["cards"])
        if told != (None if round_.voided else (round_.player, round_.banker)):
            yield f"{table}: {round_} is told as {told}"


def hit_findings(
    table: str, sent: Sequence[bytes], dealt: Sequence[Dealt], combinations: Sequence[tuple[int, list[str]]]
) -> Iterator[str]:
    """Yield a text for each round whose reported hits are wrong. The right hits follow from the cards that were dealt,
    for the seats whose wagers were locked. `combinations` has each seat with its printed King and 9."""
    printed = {seat: " ".join(k9) for seat, k9 in combinations}
    locked: dict[tuple[int, int], list[int]] = {}
    told: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    for event in map(json.loads, sent):
        if event["type"] == "wagers_locked":
            locked[event["shoe"], event["round"]] = event["progressive"][0]["seats"]
        if event["type"] == "hit":
            told[event["shoe"], event["round"]][event["seat"]] = event["tier"]
    for round_ in dealt:
        place = round_.shoe, round_.round
        tiers = {seat: sheets.royal9_tier(seat, printed, round_.player, round_.banker) for seat in locked[place]}
        won = {} if round_.voided else {seat: tier for seat, tier in tiers.items() if tier is not None}
        if told.pop(place, {}) != won:
            yield f"{table}: {round_} won {won}, and the stream tells otherwise"
    if told:
        yield f"{table}: hits of rounds that were never dealt: {dict(told)}"


def award_findings(table: str, sent: Sequence[bytes], books: Books) -> Iterator[str]:
    """Yield a text if a hit has no award or several, and for each award whose steps the table's events do not report
    once and in order."""
    events = [json.loads(body) for body in sent]
    hits = [event["id"] for event in events if event["type"] == "hit"]
    awarded = [hit for hit, *_ in books.awards if hit.startswith(f"{table}/")]
    if awarded != hits:
        yield f"{table}: {len(hits)} hits have {len(awarded)} awards, or in another order"
    told: dict[str, list[tuple[str, int]]] = defaultdict(list)
    taken: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for event in events:
        if event["type"] == "award":
            told[event["award"]].append((event["step"], event["cents"]))
    for name, award, step, cents in books.steps:
        if name == table:
            taken[award].append((step, cents))
    for award in sorted(told.keys() | taken.keys()):
        if told[award] != taken[award]:
            yield f"{table}: the stream tells {told[award]} of award {award}, which went {taken[award]}"


def reckoned(journals: Mapping[str, Sequence[bytes]], books: Books, terms: Terms) -> Iterator[Reckoning]:
    """Compute every meter and award anew from the tables' journals. Yields the computed state before the first event,
    and then after each event and each decision of people. `terms` has the seed and the shares of each meter."""
    reckoning = Reckoning(terms)
    yield reckoning
    for number, table, seq, _ in books.events:
        reckoning.take(json.loads(journals[table][seq - 1]))
        yield reckoning
        for hit, step in books.decisions.get(number, ()):
            reckoning.decide(hit, step)
            yield reckoning


def reckon(journals: Mapping[str, Sequence[bytes]], books: Books, terms: Terms) -> Reckoning:
    """Compute every meter and award anew from the tables' journals, and return the state at the end. `terms` has the
    seed and the shares of each meter."""
    *_, last = reckoned(journals, books, terms)
    return last


def money_findings(reckoning: Reckoning, books: Books) -> Iterator[str]:
    """Yield a text for each meter, reserve or award in the ledger that differs from the judge's own computation, exact
    to fractions of a cent."""
    for name, level in reckoning.levels.items():
        for account, due in ((f"meter:{name}", level.cents), (f"reserve:{name}", level.reserve)):
            if books.funds[account] != due:
                yield f"{account} is {books.funds[account]}, and should be {due}"
    for account, steps in (("awards", ("pending", "verified")), ("paid", ("paid",))):
        due_cents = sum(reckoning.cents[hit] for hit, _, step in books.awards if step in steps)
        if books.funds.get(account, 0) != due_cents:
            yield f"{account} is {books.funds.get(account, 0)}, and should be {due_cents}"
    booked = {hit: cents for hit, cents, _ in books.awards}
    if booked != reckoning.cents:
        yield f"awards differ: {set(booked.items()) ^ set(reckoning.cents.items())}"
