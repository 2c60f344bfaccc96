"""The table of legality: what each kind of report does in each phase, written out as a literal table.

The function `step` does what this table says, and the documents show it. A row stands for a kind of report of the shoe
or the controller. A column stands for the phase in which the report came. A cell is a `Move` or `fault("…")`. While a
fault stands, reports are held, so the table of legality is not used. The acts of people are not in this table: each
act's own entry says in which phases the act is allowed (see `acts`).
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from controller.table.states import (
    Burning,
    FirstCardDue,
    Locked,
    NoShoe,
    Paused,
    Phase,
    RoundInPlay,
    ShoeEnded,
    WagersOpen,
)


class Row(Enum):
    """The kinds of reports of the shoe or the controller that have a row of their own in the table of legality."""

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


class Move(Enum):
    """What the table can do with a report that is possible in the present phase."""

    IGNORE = auto()
    TURN_FIRST_CARD = auto()
    BURN_CARD = auto()
    TAKE_CARD_IN_ERROR = auto()
    DEAL_CARD = auto()
    KEEP_CARD = auto()
    NOTE_CUT_CARD = auto()
    COMPARE_BURN_COUNT = auto()
    COMPARE_RESULT = auto()


class RaiseFault(Struct, frozen=True):
    """A cell of the table of legality for a report that is impossible in its phase. The table stops with the fault
    `code`."""

    code: str


class Refuse(Struct, frozen=True):
    """The answer to a request that is not allowed. `code` says why."""

    code: str


Cell = Move | RaiseFault


def fault(code: str) -> RaiseFault:
    """Return a cell of the table of legality that raises the fault `code`, one of the codes in `faults.FAULTS`."""
    return RaiseFault(code)


def refuse(code: str) -> Refuse:
    """Return a refusal with this code. `controller/words` holds a sentence for each code."""
    return Refuse(code)


_PHASES: tuple[type[Phase], ...] = (NoShoe, FirstCardDue, Burning, WagersOpen, Paused, Locked, RoundInPlay, ShoeEnded)
_M = Move

# fmt: off
_TABLE: dict[Row, tuple[Cell, ...]] = {
    #                            NoShoe                      FirstCardDue                Burning                     WagersOpen                  Paused                      Locked                      RoundInPlay                  ShoeEnded
    Row.CARD:                   (fault("card_without_shoe"), _M.TURN_FIRST_CARD,         _M.BURN_CARD,               _M.TAKE_CARD_IN_ERROR,      fault("card_not_due"),      _M.DEAL_CARD,               _M.DEAL_CARD,               fault("card_after_shoe")),
    Row.CARD_KEPT:              (fault("card_without_shoe"), _M.TURN_FIRST_CARD,         fault("burn_short"),        _M.TAKE_CARD_IN_ERROR,      fault("card_not_due"),      _M.DEAL_CARD,               _M.KEEP_CARD,               fault("card_after_shoe")),
    Row.CARD_OUTSIDE_GAME:      (fault("card_without_shoe"), fault("card_outside_game"), fault("card_outside_game"), fault("card_outside_game"), fault("card_not_due"),      fault("card_outside_game"), fault("card_outside_game"), fault("card_after_shoe")),
    Row.CUT_CARD:               (_M.IGNORE,                  fault("cut_card_in_burn"),  fault("cut_card_in_burn"),  _M.NOTE_CUT_CARD,           _M.NOTE_CUT_CARD,           _M.NOTE_CUT_CARD,           _M.NOTE_CUT_CARD,           _M.IGNORE),
    Row.BURN_COUNT:             (_M.IGNORE,                  _M.IGNORE,                  _M.COMPARE_BURN_COUNT,      _M.IGNORE,                  _M.IGNORE,                  _M.IGNORE,                  _M.IGNORE,                  _M.IGNORE),
    Row.SHOE_RESULT:            (_M.IGNORE,                  _M.IGNORE,                  fault("result_differs"),    _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT),
    Row.SHOE_FORCE_QUIT:        (_M.IGNORE,                  _M.IGNORE,                  _M.IGNORE,                  _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          _M.COMPARE_RESULT,          fault("force_quit"),        _M.COMPARE_RESULT),
    Row.SHOE_ERROR:             (fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error"),        fault("shoe_error")),
    Row.SHOE_POWERED_UP:        (_M.IGNORE,                  _M.IGNORE,                  fault("shoe_restarted"),    fault("shoe_restarted"),    fault("shoe_restarted"),    fault("shoe_restarted"),    fault("shoe_restarted"),    _M.IGNORE),
    Row.SHOE_UNPLUGGED:         (_M.IGNORE,                  fault("shoe_unplugged"),    fault("shoe_unplugged"),    _M.IGNORE,                  _M.IGNORE,                  fault("shoe_unplugged"),    fault("shoe_unplugged"),    _M.IGNORE),
    Row.SHOE_UNHEARD:           (_M.IGNORE,                  fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      fault("shoe_unheard"),      _M.IGNORE),
}
# fmt: on

LEGALITY: dict[Row, dict[type[Phase], Cell]] = {
    row: dict(zip(_PHASES, cells, strict=True)) for row, cells in _TABLE.items()
}

LEADS_TO: dict[Move, tuple[type[Phase], ...]] = {
    Move.TURN_FIRST_CARD: (Burning, WagersOpen),
    Move.BURN_CARD: (Burning, WagersOpen),
    Move.TAKE_CARD_IN_ERROR: (RoundInPlay, WagersOpen),
    Move.DEAL_CARD: (RoundInPlay, WagersOpen, ShoeEnded),
}
"""The phases in which a move may end. A move that is not here leaves the phase as it is."""


_BY_PROCEDURE_1: dict[tuple[Row, type[Phase]], Cell] = {(Row.CARD_KEPT, WagersOpen): Move.KEEP_CARD}
"""The cells that were different in commit f6a00a5, for a shoe opened by that version (`TableRules.procedure`)."""


def legality(row: Row, phase: Phase, procedure: int) -> Cell:
    """Return what the table of legality says about this kind of report in this phase. `procedure` is the version of the
    rules under which the shoe was opened."""
    before = _BY_PROCEDURE_1.get((row, type(phase))) if procedure == 1 else None
    return before or LEGALITY[row][type(phase)]
