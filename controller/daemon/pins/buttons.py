"""Decides which request a press of a button makes. That depends on the position of the supervisor's key and on the
table's state."""

from __future__ import annotations

from controller.table.acts.entry import Press, Request, When
from controller.table.acts.every import ACTS
from controller.table.dealing import odd_card
from controller.table.states import Locked, Paused, RoundInPlay, Table

SEEN_AFTER_S = 0.3
"""The time that people need to see that a fault came or went: an earlier press answers what was shown before."""

PRESSES: tuple[Press, ...] = tuple(
    sorted(
        (press for act in ACTS for press in act.presses),
        key=lambda press: (press.button, press.key_turned, press.when is When.ANY),
    )
)
"""What each button means, from the acts' entries. The first row that fits holds, so rows for any moment come last."""


def pressed(button: str, key_turned: bool, table: Table) -> Request | None:
    """Return the request that a press of `button` makes in this state of the table; None if the press means nothing."""
    for press in PRESSES:
        if (press.button, press.key_turned) == (button, key_turned) and _is(press.when, table):
            return press.request()
    return None


def _is(when: When, table: Table) -> bool:
    match when:
        case When.ANY:
            return True
        case When.FAULT:
            return table.fault is not None
        case When.ODD_CARD:
            return table.fault is None and odd_card(table)
        case When.PAUSED:
            return isinstance(table.phase, Paused)
        case When.HIT:
            between = not isinstance(table.phase, Locked | RoundInPlay)
            return table.fault is None and between and bool(table.hits)
