"""Doubts: what speaks against a round's cards without proving anything. Pure.

The table plays its rounds from the cards that its shoe reported. Cards that were not reported leave traces all the
same:

- `round_too_fast`: the cards of a round came faster than hands can deal. Something else sent them. The table stops.
- `lock_lay_long`: wagers were locked for longer than the house's pace before the round's first card. Cards may have
  been dealt unheard meanwhile, and the cards that came then may not be those of the locked round.
- `cut_card_misplaced`: the cut card came early or late, or is overdue, by the cards that the table counts.
- `count_differs`: a person counted another number of cards than the table.
- `typed_card`: the shoe did not read a card of the round, and a person typed it.

A hit carries the doubts of its round and of its shoe, and no pit pays such a hit before people have decided. A doubt is
made of durations and counts alone, so that it tells nothing of a face-down card. A shoe's doubts last until a person's
count agrees with the table's.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.events import Event
from controller.table import shoe_life
from controller.table.facts import CardDrawn, CardKept
from controller.table.states import Locked, Table
from controller.table.stops import Stepped, alarm, known_left, open_shoe, stop

_SINCE_PROCEDURE = 3


def of_round(table: Table, code: str) -> Table:
    """Return the table with the doubt `code` noted against the round that is locked or in play."""
    return table if code in table.doubts else replace(table, doubts=(*table.doubts, code))


def of_shoe(table: Table, code: str) -> Table:
    """Return the table with the doubt `code` noted against the open shoe, and so against each of its rounds from now
    on."""
    return table if code in table.shoe_doubts else replace(table, shoe_doubts=(*table.shoe_doubts, code))


def standing(table: Table) -> tuple[str, ...]:
    """Return the doubts of a round that ends now: its own and its shoe's, each once."""
    return tuple(dict.fromkeys((*table.doubts, *table.shoe_doubts)))


def locked(table: Table, kept: bool) -> Table:
    """Return the table with no doubts against the round whose wagers are locked now. Where the round begins with `kept`
    cards, its duration is unknown."""
    return replace(table, doubts=(), dealt_ms=None if kept else 0)


def card_came(table: Table, fact: CardDrawn | CardKept) -> tuple[Table, tuple[Event, ...]]:
    """Add a card's time to the duration of the round that is locked or in play. The round's first card may raise an
    alarm that the lock lasted too long."""
    if isinstance(table.phase, Locked):
        return _first_card_came(table, fact)
    known = table.dealt_ms is not None and fact.after_ms is not None
    return replace(table, dealt_ms=(table.dealt_ms or 0) + (fact.after_ms or 0) if known else None), ()


def _first_card_came(table: Table, fact: CardDrawn | CardKept) -> tuple[Table, tuple[Event, ...]]:
    most_s = table.rules.longest_lock_s
    lay_ms = fact.after_ms if table.rules.lock_on == "deal" else None
    if not most_s or lay_ms is None or lay_ms <= 1000 * most_s:
        return table, ()
    left = known_left(table)
    assert left is not None, "a round that is locked has a shoe"
    details: dict[str, str | int] = {"lay_s": lay_ms // 1000, "cards_left": left}
    return of_round(table, "lock_lay_long"), (alarm(table, "lock_lay_long", details),)


def too_fast(table: Table, cards: int) -> bool:
    """Tell whether a round of `cards` cards, which ends now, came faster than hands can deal."""
    fastest_ms = table.rules.fastest_card_ms * (cards - 1)
    return table.dealt_ms is not None and table.dealt_ms < fastest_ms


def stop_for_speed(table: Table, cards: int, last_details: dict[str, str | int]) -> Stepped:
    """Stop the table because a round of `cards` cards came faster than hands can deal. A person then counts the cards
    that are left."""
    assert table.dealt_ms is not None, "the round was timed"
    details: dict[str, str | int] = {"cards": cards, "round_ms": table.dealt_ms}
    return stop(table, "round_too_fast", details | last_details)


def cut_card_came(table: Table, left: int) -> tuple[Table, tuple[Event, ...]]:
    """Raise an alarm where the cut card came too far from its place. `left` is how many cards were left in the shoe."""
    return (table, ()) if shoe_life.near_its_place(left, table.rules.shoe) else _misplaced(table, left)


def round_ended(table: Table) -> tuple[Table, tuple[Event, ...]]:
    """Raise an alarm at a round's end, once in a shoe, where the cut card is overdue."""
    shoe, left = open_shoe(table), known_left(table)
    if table.rules.procedure < _SINCE_PROCEDURE or shoe.final_round is not None or left is None:
        return table, ()
    is_overdue = left < table.rules.shoe.cut_card_from_end - table.rules.shoe.cut_card_tolerance
    return _misplaced(table, left) if is_overdue and "cut_card_misplaced" not in table.shoe_doubts else (table, ())


def _misplaced(table: Table, left: int) -> tuple[Table, tuple[Event, ...]]:
    details: dict[str, str | int] = {"cards_left": left, "cut_card_from_end": table.rules.shoe.cut_card_from_end}
    told = (alarm(table, "cut_card_misplaced", details),)
    return (of_shoe(table, "cut_card_misplaced") if table.rules.procedure >= _SINCE_PROCEDURE else table), told


def counted(table: Table, left: int) -> tuple[Table, tuple[Event, ...]]:
    """Compare a person's count of the cards left with the table's. The shoe's doubts end where the two agree; otherwise
    there is a new doubt and an alarm."""
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    if left == known:
        return replace(table, shoe_doubts=()), ()
    told = alarm(table, "count_differs", {"cards_left": known, "counted": left})
    return of_shoe(table, "count_differs"), (told,)
