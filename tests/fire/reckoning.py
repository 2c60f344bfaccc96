"""The judge of the pit, which compares the tables' journals with what the pit made of them, and shares none of the
pit's arithmetic.

The messages of a journal are read from the files. Only the order of several tables' events and of people's decisions
comes from the pit's ledger, because nobody else knows it. Every amount is worked out anew.
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
Hand = tuple[str, int, int]
Terms = Mapping[str, tuple[int, Fraction, Fraction, int]]
"""Seed in cents, share, share into the reserve, the most to begin again with."""


@dataclass
class Level:
    """A meter as it should be: its exact cents, its reserve, and how it was won. A void moves no meter."""

    cents: Fraction
    reserve: Fraction = Fraction(0)
    won: list[Won] = field(default_factory=list)


@dataclass
class Won:
    """A level of a meter that a round won: which round, which hits share it, and with what the meter began again. The
    house added `added_cents`, because the table had shown more when wagers were locked; `in_it_cents` of them are still
    the house's."""

    hand: Hand
    cents: int
    added_cents: int
    from_reserve: int
    from_house: int
    hits: list[str] = field(default_factory=list)
    rejected: set[str] = field(default_factory=set)
    paid: set[str] = field(default_factory=set)
    in_it_cents: int = 0


class Reckoning:
    """The meters and awards that follow from the events in the journals and from the decisions, in the given order.
    `cents` has the award of each hit."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.levels = {name: Level(Fraction(seed)) for name, (seed, *_) in terms.items()}
        self._shown: dict[Hand, dict[str, int]] = {}
        self._locked_ms: dict[Hand, float] = {}
        self._won: dict[tuple[Hand, str], Won] = {}
        self._meter_of: dict[str, tuple[Hand, str]] = {}
        self.cents: dict[str, int] = {}
        self._decided: set[str] = set()

    def take(self, event: Event) -> None:
        """Apply one event of a table to the meters and awards."""
        hand = (str(event["table"]), event["shoe"], event["round"])
        match event["type"]:
            case "wagers_locked":
                assert hand not in self._shown, f"{hand} is locked twice"
                self._shown[hand] = told["word"]["meters"] if (told := event.get("told")) else {}
                if told:
                    at_ms = 1000 * datetime.fromisoformat(told["word"]["at"]).timestamp() + told["ago_ms"]
                    before = [ms for of, ms in self._locked_ms.items() if of[0] == hand[0]]
                    self._locked_ms[hand] = max([round(at_ms), *before])
                (royal9,) = event["progressive"]
                for name, level in self.levels.items():
                    _, share, reserve, _ = self._terms[name]
                    wagered_cents = royal9["price_cents"] * len(royal9["seats"])
                    level.cents += wagered_cents * share
                    level.reserve += wagered_cents * reserve
            case "hit" if event["progressive"] is None:
                self.cents[event["id"]] = event["fixed"]["cents"]
            case "hit":
                self._hit(hand, event["progressive"]["meter"], event["id"])

    def decide(self, hit: str, step: str) -> None:
        """Apply the decision of people to verify, reject or pay the award of this hit; `step` is the award's new
        step."""
        self._decided.add(hit)
        if hit not in self._meter_of or step == "verified":
            return
        hand, meter = self._meter_of[hit]
        won, level = self._won[hand, meter], self.levels[meter]
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

    def _hit(self, hand: Hand, meter: str, hit: str) -> None:
        level = self.levels[meter]
        if (hand, meter) not in self._won:
            seed, _, _, most = self._terms[meter]
            cents, from_reserve = floor(level.cents), min(floor(level.reserve), most)
            added = max(0, self._shown[hand].get(meter, 0) - cents)
            won = Won(hand, cents, added, from_reserve, max(0, seed - from_reserve), in_it_cents=added)
            level.cents += won.from_reserve + won.from_house - cents
            level.reserve -= from_reserve
            level.won.append(won)
            self._won[hand, meter] = won
        won = self._won[hand, meter]
        won.hits.append(hit)
        self._meter_of[hit] = hand, meter
        self._share(won.cents + won.added_cents, won.hits)
        if hand in self._locked_ms:
            self._put_in_order(meter, self._locked_ms[hand])

    def _put_in_order(self, meter: str, since_ms: float) -> None:
        """Assign the levels on which nobody has decided in the order in which the rounds locked their wagers: the first
        to lock has the first level. Only rounds that locked at `since_ms` or later change places."""
        open_ = [won for won in self.levels[meter].won if not self._decided.intersection(won.hits)]
        free = [won for won in open_ if self._locked_ms.get(won.hand, -1) >= since_ms]
        of_hands = sorted(((won.hand, won.hits) for won in free), key=lambda each: self._locked_ms[each[0]])
        for won, (hand, hits) in zip(free, of_hands, strict=True):
            if won.hand != hand:
                won.hand, won.hits = hand, hits
                won.added_cents = won.in_it_cents = max(0, self._shown[hand].get(meter, 0) - won.cents)
                self._won[hand, meter] = won
                self._share(won.cents + won.added_cents, hits)


class Books:
    """The contents of a ledger, as read from its database. Nobody may write to the ledger meanwhile."""

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
    """Return people's decisions on awards, each as the hit and the decision, by the number of the event that came
    before."""
    decisions: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for after, what, hit in rows(
        ledger,
        "SELECT after_event, what, hit FROM decision JOIN award ON award.number = subject"
        " WHERE what IN ('verified', 'paid', 'rejected') ORDER BY decision.number",
    ):
        decisions[after].append((hit, what))
    return decisions


def messages(journal: Path) -> list[bytes]:
    """Return the messages of a journal and its archives, in order."""
    with reading_messages(journal) as spoken:
        return [message.body for message in spoken.messages]


def contract_findings(table: str, sent: Sequence[bytes]) -> Iterator[str]:
    """Yield a finding for each event that breaks the written contract."""
    for body in sent:
        try:
            check_event(body)
        except AssertionError as error:
            yield f"{table}: {error}"


def stream_findings(table: str, sent: Sequence[bytes], books: Books) -> Iterator[str]:
    """Yield a finding where the pit committed something else than the table sent: events lost, doubled, out of order or
    changed on the way."""
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
    """Yield a finding where the stream differs from what was dealt. The stream must have every round once, in order,
    with its cards, and must report a void only where the round was voided."""
    events = [json.loads(body) for body in sent]
    ended = [event for event in events if event["type"] in ("round", "void")]
    if [(event["shoe"], event["round"]) for event in ended] != [(hand.shoe, hand.round) for hand in dealt]:
        yield f"{table}: the hands of the stream are not the hands that were dealt"
    for event, hand in zip(ended, dealt, strict=False):
        told = None if event["type"] == "void" else (event["player"]["cards"], event["banker"]["cards"])
        if told != (None if hand.voided else (hand.player, hand.banker)):
            yield f"{table}: {hand} is told as {told}"


def hit_findings(
    table: str, sent: Sequence[bytes], dealt: Sequence[Dealt], combinations: Sequence[tuple[int, list[str]]]
) -> Iterator[str]:
    """Yield a finding where the reported hits are not those of the seats that were locked for a round, by the cards
    that were dealt."""
    printed = {seat: " ".join(k9) for seat, k9 in combinations}
    locked: dict[tuple[int, int], list[int]] = {}
    told: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    for event in map(json.loads, sent):
        if event["type"] == "wagers_locked":
            locked[event["shoe"], event["round"]] = event["progressive"][0]["seats"]
        if event["type"] == "hit":
            told[event["shoe"], event["round"]][event["seat"]] = event["tier"]
    for hand in dealt:
        place = hand.shoe, hand.round
        tiers = {seat: sheets.royal9_tier(seat, printed, hand.player, hand.banker) for seat in locked[place]}
        won = {} if hand.voided else {seat: tier for seat, tier in tiers.items() if tier is not None}
        if told.pop(place, {}) != won:
            yield f"{table}: {hand} won {won}, and the stream tells otherwise"
    if told:
        yield f"{table}: hits of hands that were never dealt: {dict(told)}"


def award_findings(table: str, sent: Sequence[bytes], books: Books) -> Iterator[str]:
    """Yield a finding where a hit has no award or several, or where the stream does not report each step of an award
    once, in order."""
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
    """Work out every meter and award anew from the journals' messages. Yields the reckoning after each event and
    decision."""
    reckoning = Reckoning(terms)
    yield reckoning
    for number, table, seq, _ in books.events:
        reckoning.take(json.loads(journals[table][seq - 1]))
        yield reckoning
        for hit, step in books.decisions.get(number, ()):
            reckoning.decide(hit, step)
            yield reckoning


def reckon(journals: Mapping[str, Sequence[bytes]], books: Books, terms: Terms) -> Reckoning:
    """Work out every meter and award anew, and return the reckoning at the end."""
    *_, last = reckoned(journals, books, terms)
    return last


def money_findings(reckoning: Reckoning, books: Books) -> Iterator[str]:
    """Yield a finding where a meter, a reserve or an award in the ledger differs from the reckoning, exact to parts of
    a cent."""
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
