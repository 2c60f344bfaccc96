"""Doubts: signs that the cards that the table has recorded for a round may be wrong, although nothing is proved. The
functions are pure.

The table plays its rounds from the cards that its shoe reports. If cards were dealt without a report, the table may
still notice one of these signs:

- `round_too_fast`: the cards of a round came faster than hands can deal, so something else sent them. The table stops.
- `lock_lay_long`: between the lock of the wagers and the round's first card more time passed than the house allows.
  Cards may have been dealt unheard in that time, and the cards that came then may not be those of the locked round.
- `cut_card_misplaced`: by the table's count of cards, the cut card came too early or too late, or is overdue.
- `count_differs`: a person counted the cards that are left, and the table's count differs.
- `typed_card`: the shoe did not read a card of the round, and a person typed it.

A hit carries the doubts of its round and of its shoe. A pit does not pay a hit with doubts before people have decided
on it. Doubts are computed only from durations and counts, so they tell nothing about a face-down card. A shoe's doubts
last until a person's count agrees with the table's.
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
    """Return the table with one more doubt about the cards of the present round. `code` names the doubt, for example
    "typed_card"."""
    return table if code in table.doubts else replace(table, doubts=(*table.doubts, code))


def of_shoe(table: Table, code: str) -> Table:
    """Return the table with one more doubt about the open shoe. The doubt `code` then holds for every round of the shoe
    that ends later."""
    return table if code in table.shoe_doubts else replace(table, shoe_doubts=(*table.shoe_doubts, code))


def standing(table: Table) -> tuple[str, ...]:
    """Return the codes of all doubts about the round that ends now: the round's own doubts and the doubts of its shoe,
    each code once."""
    return tuple(dict.fromkeys((*table.doubts, *table.shoe_doubts)))


def locked(table: Table, kept: bool) -> Table:
    """Return the table as it is when a round's wagers are locked: with no doubts about that round yet. `kept` is True
    if the round begins with cards that left the shoe earlier. In this case the time that the dealing takes is unknown.
    """
    return replace(table, doubts=(), dealt_ms=None if kept else 0)


def card_came(table: Table, fact: CardDrawn | CardKept) -> tuple[Table, tuple[Event, ...]]:
    """Add the time that passed before this card to the time that the present round has taken. The sum is unknown (None)
    once one of the times is unknown. Raise an alarm if the card is the round's first and came too long after the lock
    of the wagers."""
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
    """Tell whether the `cards` cards of the round that ends now came faster than hands can deal. False if the time that
    they took is not known."""
    fastest_ms = table.rules.fastest_card_ms * (cards - 1)
    return table.dealt_ms is not None and table.dealt_ms < fastest_ms


def stop_for_speed(table: Table, cards: int, last_details: dict[str, str | int]) -> Stepped:
    """Stop the table with a fault, because the `cards` cards of a round came faster than hands can deal. A person must
    then count the cards that are left."""
    assert table.dealt_ms is not None, "the round was timed"
    details: dict[str, str | int] = {"cards": cards, "round_ms": table.dealt_ms}
    return stop(table, "round_too_fast", details | last_details)


def cut_card_came(table: Table, left: int) -> tuple[Table, tuple[Event, ...]]:
    """Raise an alarm if the cut card came too far from its place. `left` is how many cards were left in the shoe when
    it came."""
    return (table, ()) if shoe_life.near_its_place(left, table.rules.shoe) else _misplaced(table, left)


def round_ended(table: Table) -> tuple[Table, tuple[Event, ...]]:
    """Raise an alarm at the end of a round if the cut card is overdue. No alarm is raised while the shoe already has
    this doubt, nor under procedure 1 or 2 (earlier versions of the rules)."""
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
    """Compare a person's count of the cards left (`left`) with the table's count. If the two agree, remove the shoe's
    doubts. If they differ, add a doubt about the shoe and raise an alarm."""
    known = known_left(table)
    assert known is not None, "a count is only taken of a shoe"
    if left == known:
        return replace(table, shoe_doubts=()), ()
    told = alarm(table, "count_differs", {"cards_left": known, "counted": left})
    return of_shoe(table, "count_differs"), (told,)
