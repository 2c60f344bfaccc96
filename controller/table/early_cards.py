"""Rules for cards that leave the shoe before the wagers of their round are locked.

Somebody who has seen a card must not wager on the round that this card decides. Example: the dealer draws the king of
spades while wagers are open, and says that nobody saw it, so the king becomes the next round's first card. Somebody who
places a wager at seat 1 now may know that card. So the wagers of the round are those that lay on the table when its
first card left the shoe:

- if the table knows all wagers, no wager can be placed, changed or taken back after that moment;
- if sensors see the progressive wagers, the seats that the sensors saw at that moment are journalled as the fact
  `ChipsNoted`, just before the card. A chip that is put down later does not count;
- nobody can change who sits where, or which seats are active.

If nobody can say when the card left the shoe, no progressive wager counts in that round. Example: a card was missed,
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
    """Return True if a card that belongs to the next round, or may belong to it, has already left the shoe."""
    return table.chips_noted is not None


def chips_to_note(table: Table, fact: Fact, sensed: AbstractSet[int]) -> ChipsNoted | None:
    """Return the fact `ChipsNoted` if `fact` is a card that leaves the shoe between two rounds, and so may be the first
    card of the next round, while no such card is out yet. `ChipsNoted` names the seats where sensors see chips, and is
    journalled before `fact`. Return None in every other case, and in a shoe opened under procedure 1 or 2 (earlier
    versions of the rules)."""
    is_card = isinstance(fact, CardDrawn | CardKept | CardDrawnOutsideGame)
    if not is_card or card_is_out(table) or not isinstance(table.phase, BetweenRounds) or table.rules.procedure <= 2:
        return None
    return ChipsNoted(tuple(sorted(sensed & set(table.rules.seat_numbers))))


def with_chips_noted(table: Table) -> Table:
    """Return the table with its field `chips_noted` brought up to date. While a card of the next round is out of the
    shoe, the field holds the seats that had chips when the card left, and no seats if they were not noted. Otherwise it
    is None. For a shoe opened under procedure 1 or 2 (earlier versions of the rules) the table is returned unchanged.
    """
    if table.rules.procedure <= 2:
        return table
    waits = isinstance(table.phase, BetweenRounds) and holds_a_card(table)
    if not (table.kept or odd_card(table) or waits):
        return table if table.chips_noted is None else replace(table, chips_noted=None)
    return table if table.chips_noted is not None else replace(table, chips_noted=())
