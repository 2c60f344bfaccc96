"""What may happen when: the literal table of reports and requests against phases.

`step` does what this table says, `requests` refuses what it refuses, and the documents' table is drawn from it. A row
is what happened, a column the phase it happened in. A cell is a `Move`, or `fault("…")`, or for requests
`refuse("…")`. A standing fault comes before this table: reports are then held, and requests are its exits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from controller.table.states import (
    Burning,
    FirstCardDue,
    HandInPlay,
    Locked,
    NoShoe,
    Phase,
    ShoeEnded,
    WagersOpen,
)


class Row(Enum):
    """What happened, as far as the table below tells it apart."""

    # Reports: they have happened, whatever the phase.
    CARD = auto()
    CARD_KEPT = auto()
    CARD_OUTSIDE_GAME = auto()
    CUT_CARD = auto()
    BURN_COUNT = auto()
    SHOE_RESULT = auto()
    SHOE_FORCE_QUIT = auto()
    SHOE_ERROR = auto()
    SHOE_POWERED_UP = auto()
    SHOE_UNPLUGGED = auto()
    SHOE_UNHEARD = auto()
    # Requests of the dealer or a supervisor: they may be refused.
    NEW_SHOE = auto()
    NEW_SHOE_BY_SUPERVISOR = auto()
    LOCK_WAGERS = auto()
    SEE_CUT_CARD = auto()
    VOID = auto()
    TELL_ODD_CARD = auto()
    CORRECT_ROUND = auto()
    CLOSE_SHOE = auto()
    TEST_LAMPS = auto()
    PLACE_WAGER = auto()
    TAKE_SEATS = auto()
    CHOOSE_ACTIVES = auto()
    CALL = auto()
    COLLECT_COMMISSION = auto()


class Move(Enum):
    """What the core does."""

    IGNORE = auto()
    TURN_FIRST_CARD = auto()
    BURN_CARD = auto()
    TAKE_CARD_IN_ERROR = auto()
    DEAL_CARD = auto()
    KEEP_CARD = auto()
    NOTE_CUT_CARD = auto()
    COMPARE_BURN_COUNT = auto()
    COMPARE_RESULT = auto()
    OPEN_SHOE = auto()
    LOCK_WAGERS = auto()
    TELL_CUT_CARD = auto()
    VOID_HAND = auto()
    CHANGE_ODD_CARD = auto()
    CORRECT_ROUND = auto()
    CLOSE_SHOE = auto()
    TEST_LAMPS = auto()
    PLACE_WAGER = auto()
    TAKE_SEATS = auto()
    CHOOSE_ACTIVES = auto()
    CALL = auto()
    COLLECT_COMMISSION = auto()


@dataclass(frozen=True, slots=True)
class RaiseFault:
    """The report is impossible here: this fault."""

    code: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The request is not allowed here, for this reason."""

    code: str


Cell = Move | RaiseFault | Refuse


def fault(code: str) -> RaiseFault:
    """A cell that raises a fault of `faults.FAULTS`."""
    return RaiseFault(code)


def refuse(code: str) -> Refuse:
    """A cell that refuses a request; `controller/words` has a sentence for each code."""
    return Refuse(code)


_PHASES: tuple[type[Phase], ...] = (NoShoe, FirstCardDue, Burning, WagersOpen, Locked, HandInPlay, ShoeEnded)
_M = Move

# fmt: off
_TABLE: dict[Row, tuple[Cell, ...]] = {
    #                            NoShoe                      FirstCardDue                Burning                     WagersOpen                  Locked                      HandInPlay                  ShoeEnded
    Row.CARD:                   (fault("card_without_shoe"), _M.TURN_FIRST_CARD,         _M.BURN_CARD,               _M.TAKE_CARD_IN_ERROR,      _M.DEAL_CARD,               _M.DEAL_CARD,               fault("card_after_shoe")),
    Row.CARD_KEPT:              (fault("card_without_shoe"), _M.TURN_FIRST_CARD,         fault("burn_short"),        _M.KEEP_CARD,               _M.DEAL_CARD,               _M.KEEP_CARD,               fault("card_after_shoe")),
    Row.CARD_OUTSIDE_GAME:      (fault("card_without_shoe"), fault("card_outside_game"), fault("card_outside_game"), fault("card_outside_game"), fault("card_outside_game"), fault("card_outside_game"), fault("card_after_shoe")),
    Row.CUT_CARD:               (_M.IGNORE,                  fault("cut_card_in_burn"),  fault("cut_card_in_burn"),  _M.NOTE_CUT_CARD,           _M.NOTE_CUT_CARD,           _M.NOTE_CUT_CARD,           _M.IGNORE),
    Row.BURN_COUNT:             (_M.IGNORE,                  _M.IGNORE,                  _M.COMPARE_BURN_COUNT,      _M.IGNORE,                  _M.IGNORE,                  _M.IGNORE,                  _M.IGNORE),
    Row.SHOE_RESULT:            (_M.IGNORE,                  _M.IGNORE,                  fault("result_differs"),    _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT),
    Row.SHOE_FORCE_QUIT:        (_M.IGNORE,                  _M.IGNORE,                  _M.IGNORE,                  _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          fault("force_quit"),        _M.COMPARE_RESULT),
    Row.SHOE_ERROR:             (fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error")),
    Row.SHOE_POWERED_UP:        (_M.IGNORE,                  _M.IGNORE,                  fault("shoe_restarted"),    fault("shoe_restarted"),    fault("shoe_restarted"),    fault("shoe_restarted"),    _M.IGNORE),
    Row.SHOE_UNPLUGGED:         (_M.IGNORE,                  fault("shoe_unplugged"),    fault("shoe_unplugged"),    _M.IGNORE,                  fault("shoe_unplugged"),    fault("shoe_unplugged"),    _M.IGNORE),
    Row.SHOE_UNHEARD:           (_M.IGNORE,                  fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      _M.IGNORE),
    Row.NEW_SHOE:               (_M.OPEN_SHOE,               refuse("shoe_announced"),   refuse("burn_unfinished"),  refuse("shoe_open"),        refuse("already_locked"),   refuse("hand_in_play"),     _M.OPEN_SHOE),
    Row.NEW_SHOE_BY_SUPERVISOR: (_M.OPEN_SHOE,               _M.OPEN_SHOE,               _M.OPEN_SHOE,               _M.OPEN_SHOE,               refuse("already_locked"),   refuse("hand_in_play"),     _M.OPEN_SHOE),
    Row.LOCK_WAGERS:            (refuse("no_shoe"),          refuse("burn_unfinished"),  refuse("burn_unfinished"),  _M.LOCK_WAGERS,             refuse("already_locked"),   refuse("hand_in_play"),     refuse("no_shoe")),
    Row.SEE_CUT_CARD:           (refuse("no_shoe"),          _M.TELL_CUT_CARD,           _M.TELL_CUT_CARD,           _M.TELL_CUT_CARD,           _M.TELL_CUT_CARD,           _M.TELL_CUT_CARD,           refuse("no_shoe")),
    Row.VOID:                   (refuse("no_hand"),          refuse("no_hand"),          refuse("no_hand"),          refuse("no_hand"),          _M.VOID_HAND,               _M.VOID_HAND,               refuse("no_hand")),
    Row.TELL_ODD_CARD:          (refuse("no_odd_card"),      refuse("no_odd_card"),      refuse("no_odd_card"),      refuse("no_odd_card"),      refuse("no_odd_card"),      _M.CHANGE_ODD_CARD,         refuse("no_odd_card")),
    Row.CORRECT_ROUND:          (refuse("no_such_round"),    refuse("no_such_round"),    refuse("no_such_round"),    _M.CORRECT_ROUND,           refuse("already_locked"),   refuse("hand_in_play"),     _M.CORRECT_ROUND),
    Row.CLOSE_SHOE:             (refuse("no_shoe"),          _M.CLOSE_SHOE,              _M.CLOSE_SHOE,              _M.CLOSE_SHOE,              refuse("already_locked"),   refuse("hand_in_play"),     refuse("no_shoe")),
    Row.TEST_LAMPS:             (_M.TEST_LAMPS,              _M.TEST_LAMPS,              refuse("burn_unfinished"),  _M.TEST_LAMPS,              refuse("already_locked"),   refuse("hand_in_play"),     _M.TEST_LAMPS),
    Row.PLACE_WAGER:            (refuse("no_shoe"),          refuse("burn_unfinished"),  refuse("burn_unfinished"),  _M.PLACE_WAGER,             refuse("already_locked"),   refuse("already_locked"),   refuse("no_shoe")),
    Row.TAKE_SEATS:             (_M.TAKE_SEATS,              _M.TAKE_SEATS,              _M.TAKE_SEATS,              _M.TAKE_SEATS,              refuse("already_locked"),   refuse("hand_in_play"),     _M.TAKE_SEATS),
    Row.CHOOSE_ACTIVES:         (_M.CHOOSE_ACTIVES,          _M.CHOOSE_ACTIVES,          _M.CHOOSE_ACTIVES,          _M.CHOOSE_ACTIVES,          refuse("already_locked"),   refuse("hand_in_play"),     _M.CHOOSE_ACTIVES),
    Row.CALL:                   (refuse("no_call_due"),      refuse("no_call_due"),      refuse("no_call_due"),      refuse("no_call_due"),      refuse("no_call_due"),      _M.CALL,                    refuse("no_call_due")),
    Row.COLLECT_COMMISSION:     (_M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION,      _M.COLLECT_COMMISSION),
}
# fmt: on

LEGALITY: dict[Row, dict[type[Phase], Cell]] = {
    row: dict(zip(_PHASES, cells, strict=True)) for row, cells in _TABLE.items()
}

LEADS_TO: dict[Move, tuple[type[Phase], ...]] = {
    Move.OPEN_SHOE: (FirstCardDue,),
    Move.TURN_FIRST_CARD: (Burning, WagersOpen),
    Move.BURN_CARD: (Burning, WagersOpen),
    Move.TAKE_CARD_IN_ERROR: (HandInPlay, WagersOpen),
    Move.LOCK_WAGERS: (Locked, HandInPlay, WagersOpen, ShoeEnded),  # kept cards can be a whole hand
    Move.DEAL_CARD: (HandInPlay, WagersOpen, ShoeEnded),
    Move.VOID_HAND: (WagersOpen, ShoeEnded),
    Move.CHANGE_ODD_CARD: (WagersOpen,),
    Move.CALL: (HandInPlay, WagersOpen, ShoeEnded),
    Move.CLOSE_SHOE: (ShoeEnded,),
}
"""The phases a move may end in. A move that is not here leaves the phase as it is."""


def legality(row: Row, phase: Phase) -> Cell:
    """What the table says of `row` happening in `phase`."""
    return LEGALITY[row][type(phase)]
