"""What the table's buttons ask for: one table, by button, the supervisor's key turned or not, and the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from controller.table.facts import OddCardFate
from controller.table.requests import (
    ClearFault,
    LampTest,
    LockWagers,
    NewShoe,
    Request,
    SeeCutCard,
    TellOddCard,
    VoidHand,
)
from controller.table.states import Table
from controller.table.step import odd_card

KEY = "key"
"""The name a supervisor's act is journalled under when it is made with the key at the table."""

DEALER = "dealer"


class When(Enum):
    """The moments that change what a button means."""

    ANY = "at any time"
    FAULT = "while a fault stands"
    ODD_CARD = "after a card drawn in error"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row: pressing `button`, with the key turned or not, at this moment, makes this request."""

    button: str
    key_turned: bool
    when: When
    says: str
    request: Callable[[], Request]


MEANINGS: tuple[Meaning, ...] = (
    Meaning("deal", False, When.ANY, "no more wagers: the hand begins", LockWagers),
    Meaning("deal", True, When.FAULT, "clear the fault: the table goes on", lambda: ClearFault(KEY)),
    Meaning("deal", True, When.ANY, "no more wagers: the hand begins", LockWagers),
    Meaning("cut_card", False, When.ANY, "the cutting card came (for a shoe that does not report it)", SeeCutCard),
    Meaning("cut_card", True, When.ANY, "light every lamp for five seconds", lambda: LampTest(KEY)),
    Meaning("new_shoe", False, When.ANY, "a new shoe begins", NewShoe),
    Meaning("new_shoe", True, When.ANY, "this shoe ends here and a new one begins", lambda: NewShoe(KEY)),
    Meaning(
        "void",
        False,
        When.ODD_CARD,
        "nobody saw that card: it is the next hand's first",
        lambda: TellOddCard(OddCardFate.NEXT_CARD, DEALER),
    ),
    Meaning("void", False, When.ANY, "nothing: the key must be turned", lambda: VoidHand(None)),
    Meaning("void", True, When.ANY, "the hand is over and wagers go back", lambda: VoidHand(KEY)),
)
"""The first row that fits holds."""


def pressed(button: str, key_turned: bool, table: Table) -> Request | None:
    """The request that pressing `button` makes; None for an input that is no button."""
    for meaning in MEANINGS:
        if (meaning.button, meaning.key_turned) == (button, key_turned) and _is(meaning.when, table):
            return meaning.request()
    return None


def _is(when: When, table: Table) -> bool:
    match when:
        case When.ANY:
            return True
        case When.FAULT:
            return table.fault is not None
        case When.ODD_CARD:
            return table.fault is None and odd_card(table)
