"""Cards of the next round that left the shoe before its wagers were locked.

Whoever has seen a card must not wager on the round that it decides. Example: the dealer draws the king of spades while
wagers are open, and says that nobody saw it, so that the king is the next round's first card. A wager that is placed at
seat 1 now could be placed in knowledge of that card. So the wagers of that round are those that lay when its first card
left the shoe:

- where the table knows all wagers, none is placed, changed or taken back from then on;
- where sensors see the progressive wagers, the seats that they saw at that moment are a fact, `ChipsNoted`, which is
  believed before the card. A chip that is put down later does not play;
- nobody changes who sits where, or which seats are active.

Where nobody can say when the card left the shoe, no progressive wager plays on that round. Example: a card was missed,
and a supervisor types it.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from controller.table.dealing import odd_card
from controller.table.facts import CardDrawn, CardDrawnOutsideGame, CardKept, ChipsNoted, Fact
from controller.table.states import BetweenRounds, Table
from controller.table.stops import holds_a_card


def card_is_out(table: Table) -> bool:
    """Tell whether a card that belongs to the next round, or may yet belong to it, has already left the shoe."""
    return table.chips_noted is not None


def chips_to_note(table: Table, fact: Fact, sensed: AbstractSet[int]) -> ChipsNoted | None:
    """Return the fact `ChipsNoted`, to be believed before `fact`, where `fact` is a card that leaves the shoe between
    rounds as the first of the next round. None in every other case."""
    is_card = isinstance(fact, CardDrawn | CardKept | CardDrawnOutsideGame)
    if not is_card or card_is_out(table) or not isinstance(table.phase, BetweenRounds) or table.rules.procedure <= 2:
        return None
    return ChipsNoted(tuple(sorted(sensed & set(table.rules.seat_numbers))))


def with_chips_noted(table: Table) -> Table:
    """Return the table with the noted chips while a card of the next round is out of the shoe, and without them
    otherwise."""
    if table.rules.procedure <= 2:
        return table
    waits = isinstance(table.phase, BetweenRounds) and holds_a_card(table)
    if not (table.kept or odd_card(table) or waits):
        return table if table.chips_noted is None else replace(table, chips_noted=None)
    return table if table.chips_noted is not None else replace(table, chips_noted=())
