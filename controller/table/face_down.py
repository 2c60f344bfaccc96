"""Which cards lie face down, so that no fault, alarm or message may tell them. Every module asks here.

Three kinds of cards lie face down: burned cards, cards kept for the next round until they are dealt, and in a game that
deals face down the cards that have yet to be turned up. `public.py` says how the hands themselves are shown.

The moment of a message can tell a card as well as its content. For example: an Angel Eye (a card-reading shoe) reports
a round's result as soon as the round is complete. A person who saw that a report came would know whether a third card
is due.
"""

from __future__ import annotations

from controller.rules.game.play import Draw, Reveal
from controller.table.dealing import following
from controller.table.legality import Move, Row, legality
from controller.table.states import BetweenRounds, Burning, Locked, RoundInPlay, Table
from controller.table.stops import held_cards


def comes_face_down(table: Table, row: Row) -> bool:
    """Tell whether the card that comes now lies where nobody sees it. `row` is the row of the table of legality that
    fits the card."""
    match legality(row, table.phase, table.rules.procedure):
        case Move.TURN_FIRST_CARD:
            return False
        case Move.DEAL_CARD:
            step = following(table)
            return not isinstance(step, Draw) or step.face_down
        case Move.TAKE_CARD_IN_ERROR:  # exposed only where a simulated hand is dealt with it
            return table.rules.shoe.drawn_in_error != "simulated_hand" or table.rules.play.squeezed
        case _:
            return True


def next_is_secret(table: Table) -> bool:
    """Tell whether face-down cards would be given away by saying where the next card goes, or that no card is due."""
    match following(table):
        case Reveal():
            return True
        case Draw(secret=secret):
            return secret
        case _:
            return len(table.kept) >= 4  # the first four cards go by turns; from there on the cards decide


def result_is_secret(table: Table) -> bool:
    """Tell whether face-down cards would be given away by the result that the shoe reports for a round which is not
    complete at the table."""
    return table.rules.play.squeezed or bool(table.kept)


def kept_make_a_round(table: Table) -> bool:
    """Tell whether the cards kept for the next round, which nobody has seen, may already be a whole round by the shoe's
    own count."""
    if table.rules.procedure == 1 or table.awaiting_result is not None:
        return False
    return isinstance(table.phase, BetweenRounds) and len(table.kept) >= 4


def hides_cards(table: Table) -> bool:
    """Tell whether there are cards of a round that nobody has seen: dealt face down, kept for the next round, or held
    by a fault.

    While there are, anything that the shoe sends may tell these cards.
    """
    if table.kept:
        return True
    if held_cards(table) > _not_hidden(table):
        return True
    match table.phase:
        case RoundInPlay(plays, _, seating):
            return any(any(hand.face_down) for hand in table.rules.play.laid(seating, plays))
        case Locked():
            return table.rules.play.deals_face_down
        case _:
            return False


def _not_hidden(table: Table) -> int:
    """Return how many of the cards that a standing fault holds need not be hidden.

    These are cards of the burn, which is never turned up, and cards that a round takes face up.
    """
    play = table.rules.play
    match table.phase:
        case Burning(left=left):
            return left
        case Locked() if not play.deals_face_down:
            return play.most_cards(len(table.rules.seats))
        case RoundInPlay(plays) if not play.deals_face_down:
            return play.most_cards(len(table.rules.seats)) - len(plays)
        case _:
            return 0
