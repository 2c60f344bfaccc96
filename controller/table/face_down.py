"""What faults and alarms may not tell: the one place that says which cards lie face down as they come.

Burned cards do, cards kept for the next hand until they are dealt, and the cards of a game that deals them so until
they are turned up. How the hands themselves are shown is `public.py`'s.
"""

from __future__ import annotations

from controller.game.baccarat import PuntoBanco
from controller.game.play import Draw, Reveal
from controller.table.dealing import following
from controller.table.legality import Move, Row, legality
from controller.table.states import Table


def comes_face_down(table: Table, row: Row) -> bool:
    """Whether nobody sees the card that comes now, by `row` of the table of legality."""
    match legality(row, table.phase):
        case Move.TURN_FIRST_CARD:
            return False
        case Move.DEAL_CARD:
            step = following(table)
            return not isinstance(step, Draw) or step.face_down
        case Move.TAKE_CARD_IN_ERROR:  # exposed only where a simulated hand is dealt with it
            return table.rules.shoe.drawn_in_error != "simulated_hand" or _dealt_face_down(table)
        case _:
            return True


def next_is_secret(table: Table) -> bool:
    """Whether where the next card goes, or that none is due, would tell cards that lie face down."""
    match following(table):
        case Reveal():
            return True
        case Draw(secret=secret):
            return secret
        case _:
            return len(table.kept) >= 4  # the first four go by turns; from there on it hangs on the cards


def result_is_secret(table: Table) -> bool:
    """Whether the shoe's result of a hand that is not complete here would tell cards that lie face down."""
    return _dealt_face_down(table) or bool(table.kept)


def _dealt_face_down(table: Table) -> bool:
    return isinstance(table.rules.play, PuntoBanco) and table.rules.play.reveal != "dealt"
