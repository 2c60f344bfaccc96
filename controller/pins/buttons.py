"""What the table's buttons ask for: by button, the supervisor's key turned or not, and the moment."""

from __future__ import annotations

from controller.table.acts.entry import Press, Request, When
from controller.table.acts.every import ACTS
from controller.table.dealing import odd_card
from controller.table.states import HandInPlay, Locked, Table

SEEN_AFTER_S = 0.3
"""How long people need to see that a fault came or was left: a press sooner answers what was shown before."""

PRESSES: tuple[Press, ...] = tuple(
    sorted(
        (press for act in ACTS for press in act.presses),
        key=lambda press: (press.button, press.key_turned, press.when is When.ANY),
    )
)
"""What each button means, by the acts' entries. The first row that fits holds: what is meant at any time comes last."""


def pressed(button: str, key_turned: bool, table: Table) -> Request | None:
    """The request that pressing `button` makes; None for an input that is no button."""
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
        case When.HIT:
            between = not isinstance(table.phase, Locked | HandInPlay)
            return table.fault is None and between and bool(table.hits)
