"""What may happen when: the literal table of reports and requests against phases.

`step` does what this table says, `requests` refuses what it refuses, and the documents' table is drawn from it. A row
is what happened, a column the phase it happened in. A cell is a `Move`, or `fault("…")`, or for requests
`refuse("…")`. A standing fault comes before this table: reports are then held, and requests are its exits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from controller.game.wagers import WAGER_REFUSALS
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

REFUSALS: dict[str, str] = {
    "no_shoe": "No shoe is open: announce a new shoe first.",
    "shoe_open": "A shoe is being dealt. A supervisor may end it early, between hands.",
    "shoe_announced": "A shoe is announced already: turn up its first card.",
    "burn_unfinished": "The burn is not complete.",
    "already_locked": "Wagers are locked already.",
    "hand_in_play": "A hand is being dealt.",
    "no_hand": "There is no hand to void.",
    "fault_stands": "The table is stopped by a fault: leave it first.",
    "no_odd_card": "No card drawn in error waits for a word: only its first card can be told otherwise.",
    "no_such_round": "This shoe has no finished round of that number.",
    "other_hands": "The game has other hands: Player's and Banker's, or at Lucky 9 each seat's and the dealer's.",
    "other_seats": "Other seats were in play: name the hands of each of those, and of no other.",
    "second_person_due": "This needs two people: it waits until a second one confirms it.",
    "not_two_people": "Two people are needed: two accounts with two names, or an account and the key at the table.",
    "no_proposal": "Nothing waits for a second person.",
    "proposal_changed": "What you confirmed is not what waits for a second person now: look again.",
    "not_a_hand": "A hand is two or three cards.",
    "not_by_the_rules": "By the rules no hands lie so: they decide what splits and who draws. Correct this one on paper.",
    "nothing_differs": "The round has these very cards.",
    "fault_changed": "The fault you answered is not the one that stands now: look again.",
    "fault_unnamed": "A fault stands, and this act does not say that it answers it: look, and name the fault.",
    "no_fault": "No fault stands.",
    "not_an_exit": "The standing fault cannot be left that way.",
    "pit_stands_by_it": "The pit has said nothing later that fits this journal: while it stands by its word, nobody clears.",
    "no_card_to_name": "No card is waiting to be named.",
    "card_cannot_be": "That card cannot be: all of them have left the shoe.",
    "count_too_high": "So many cards cannot be left: the table knows of more that came. Count again, or end the shoe.",
    "cards_missed": "Cards of this hand came unheard: name each in the order it came and count again, or void the hand.",
    "first_card_missed": "The shoe's first card came unheard: end this shoe and begin another.",
    "burn_missed": "More cards came unheard than were to be burned: end this shoe and begin another.",
    "cut_card_missed": "Cards came unheard to below the cutting card's place, and nobody saw that card: end the shoe.",
    "card_in_doubt": "The first card heard since is like the last one before: it may be that one, told again. "
    "Void the hand, or end the shoe.",
    "not_this_game": "The game dealt at this table has no such thing.",
    "no_wagers_known": "This table knows no wagers but the seats' sensors: `bet_recognition` is off.",
    "no_such_seat": "The table has no such seat.",
    "no_seats": "Nobody plays: a seat in play needs a wager, or to be told as occupied.",
    "no_actives": "The two active seats are not chosen: draw them or name them.",
    "seats_too_few": "Two occupied seats are needed.",
    "not_occupied": "Nobody sits at that seat.",
    "no_call_due": "Nothing is to be called now.",
    "not_an_option": "The rules do not allow that call here.",
    "reveal_due": "Cards lie face down that are to be turned up first.",
    "nothing_owed": "That seat owes no commission.",
    "commission_owed": "Commission is owed: collect it first.",
    "wager_lies_there": "That very wager lies there already, or none to take away.",
    "award_old": "The pit said this step of an award before.",
    "award_impossible": "The hit cannot have an award of that amount.",
    "no_pit_key": "No pit offers its key: start the pit's program, and mend the link to it.",
    "pit_key_differs": "The key that is offered has another fingerprint: compare the two again, and find out whose it is.",
    "pit_key_pinned": "That very key is pinned already.",
    "no_hit": "No hit is shown there.",
    "no_supervisor": "A supervisor must do this: the key, or a name.",
}
"""Why a request was refused, for the person who asked."""


def fault(code: str) -> RaiseFault:
    """A cell that raises a fault of `faults.FAULTS`."""
    return RaiseFault(code)


def refusal_words(code: str) -> str:
    """The refusal's sentence, of a request or of a wager."""
    return REFUSALS[code] if code in REFUSALS else WAGER_REFUSALS[code]


def refuse(code: str) -> Refuse:
    """A cell that refuses a request with a code of `REFUSALS`."""
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
