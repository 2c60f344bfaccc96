"""The example tables of the five games, and an onlooker who records after each fact everything that can be seen of a
table."""

from __future__ import annotations

import json
from typing import Any, Literal, Self

from msgspec import to_builtins
from msgspec.structs import replace

from controller.daemon.config import load
from controller.rules.game.baccarat import PuntoBanco
from controller.rules.game.cards import Card
from controller.rules.game.play import Call
from controller.rules.game.wagers import Wager
from controller.table.acts.rounds import MakeCall
from controller.table.acts.seats import PlaceWager, TakeSeats
from controller.table.facts import CardDrawn, Fact, Report
from controller.table.lamps import Live, Pattern, lamps
from controller.table.rules import TableRules
from tests.support.tables import TABLES, TableUnderTest

KANSAS_STAR = load(TABLES / "kansas_star.toml").rules
"""Back bettors stand behind its seats 1 to 7."""
SUGARHOUSE_MIDI = load(TABLES / "sugarhouse_midi.toml").rules
"""The cards lie face down until the dealer's `reveal`."""
ROYAL9_SEEN_TWICE = replace(load(TABLES / "royal9.toml").rules, bet_recognition=True)
"""Its Royal 9 wagers are told by the seats' sensors and by bet recognition."""

HEALTHY = Live(frozenset(), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)


def dealt(rules: TableRules, reveal: Literal["dealt", "input", "hand_end"]) -> TableRules:
    """Return these rules of punto banco with a different setting `reveal`, which says when cards are turned up: as they
    are dealt, on the dealer's call, or at the end of the round."""
    assert isinstance(rules.play, PuntoBanco)
    return replace(rules, play=replace(rules.play, reveal=reveal))


def wager(text: str) -> PlaceWager:
    """Parse a wager: `wager("3b player 1500")` is $15 of the back bettor behind seat 3 on Player."""
    seat, spot, cents = text.split()
    return PlaceWager(Wager(int(seat.removesuffix("b")), spot, int(cents), seat.endswith("b")), "test")


def wagers(text: str) -> list[PlaceWager]:
    """Parse several wagers: `wagers("3 player 1500, 3 tie 500")`."""
    return [wager(one) for one in text.split(",")]


def seats(*numbers: int) -> TakeSeats:
    """Return the request that tells the table which seats are occupied."""
    return TakeSeats(numbers, "test")


def call(name: str) -> MakeCall:
    """Return the request that makes the dealer's call of this name: `call("reveal")`."""
    return MakeCall(Call(name), "dealer")


class Watched(TableUnderTest):
    """A table under test with an onlooker, who records everything that can be seen.

    `seen` has an entry after every fact: the public face, the lamps and the events that the fact made. Two parts of an
    event are left out. Its chain value is left out because it is salted, and so shows nothing. Its time is left out
    because the clock in these tests counts facts, even those that nobody sees. The shoe's reports have numbers, and
    name their card, as on a real serial line.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seen: list[tuple[str, str]] = []
        self._seq = 0

    def believe(self, *facts: Fact) -> Self:
        for fact in facts:
            before = len(self.events)
            super().believe(fact)
            self.seen.append((type(fact).__name__, self._shown(before)))
        return self

    def _shown(self, before: int) -> str:
        new = [
            {name: said for name, said in event.items() if name not in ("chain", "at")}
            for event in self.events[before:]
        ]
        lit = {name: pattern.name for name, pattern in lamps(self.face, HEALTHY).items()}
        return json.dumps([new, to_builtins(self.face), lit], sort_keys=True)

    def report(self, card: Card | None, *, missed: int = 0) -> Report:
        """Return the shoe's next report, whose bytes name the card. `missed` is the number of reports before it that do
        not reach the table."""
        self._seq = (self._seq + 1 + missed) % 10
        return Report(self._seq, f"05 {card}")

    def drawn(self, card: Card, *, missed: int = 0) -> Self:
        """Draw a card, and let the shoe report it, but not to which hand the card goes. `missed` reports before it do
        not reach the table."""
        return self.believe(CardDrawn(card, report=self.report(card, missed=missed)))


def account(event: dict[str, Any]) -> tuple[int, int, int, int, int]:
    """Add up a settlement's money anew from its wagers. Returns five sums in cents: staked, returned to the bettors,
    gone to the house, commission taken, commission owed.

    The house has what the bettors do not get back. The part of a wager's commission that was not taken from the pay is
    owed.
    """
    rows = event["settlement"]["wagers"]
    staked = sum(row["cents"] for row in rows)
    returned = sum(row["returned_cents"] for row in rows)
    taken = owed = 0
    for row in rows:
        stake_kept_or_back = row["returned_cents"] - row["pays_cents"]
        is_taken = row["result"] == "won" and stake_kept_or_back == row["cents"] - row["commission_cents"]
        taken += row["commission_cents"] if is_taken and row["commission_cents"] else 0
        owed += 0 if is_taken else row["commission_cents"]
    return staked, returned, staked - returned, taken, owed


def assert_money_adds_up(event: dict[str, Any]) -> None:
    """Check that the settlement's totals are the sums over its wagers, so that no cent appears or is lost."""
    staked, returned, gone, taken, owed = account(event)
    totals = event["settlement"]["totals"]
    assert totals == {
        "staked_cents": staked,
        "returned_cents": returned,
        "house_cents": gone - taken,
        "commission_taken_cents": taken,
        "commission_owed_cents": owed,
    }


def turns(table: TableUnderTest) -> set[int]:
    """Return the seats whose lamps say that the round waits for the seat's decision."""
    lit = lamps(table.face, HEALTHY)
    return {seat for seat in table.face.seats if lit[f"seat_{seat}"] is Pattern.LONG_FLASH}
