"""What the table's buttons ask for: one table, by button, the supervisor's key turned or not, and the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial

from controller.game.play import Call
from controller.table.dealing import odd_card
from controller.table.facts import OddCardFate
from controller.table.requests import (
    ClearFault,
    LampTest,
    LockWagers,
    MakeCall,
    NewShoe,
    Request,
    ResetHits,
    SeeCutCard,
    TellOddCard,
    VoidHand,
)
from controller.table.states import HandInPlay, Locked, Table

KEY = "key"
"""The name a supervisor's act is journalled under when it is made with the key at the table."""

DEALER = "dealer"

SEEN_AFTER_S = 0.3
"""How long people need to see that a fault came or was left: a press sooner answers what was shown before."""


class When(Enum):
    """The moments that change what a button means."""

    ANY = "at any time"
    FAULT = "while a fault stands"
    ODD_CARD = "after a card drawn in error"
    HIT = "between hands, while a hit is shown"


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
    Meaning("void", True, When.HIT, "the hits have been seen to: their lamps go out", lambda: ResetHits(None, KEY)),
    Meaning("void", True, When.ANY, "the hand is over and wagers go back", lambda: VoidHand(KEY)),
    *(
        Meaning(call.value, key_turned, When.ANY, says, partial(MakeCall, call, DEALER))
        for call, says in (
            (Call.HIT, "the seat whose lamp is lit takes a card"),
            (Call.STAND, "the seat whose lamp is lit takes none"),
            (Call.SPLIT, "the seat whose lamp is lit splits its pair"),
            (Call.REVEAL, "the face-down cards whose lamp flashes are turned up"),
        )
        for key_turned in (False, True)
    ),
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
        case When.HIT:
            between = not isinstance(table.phase, Locked | HandInPlay)
            return table.fault is None and between and bool(table.hits)
