"""Questions about the cards that lie face down. No fault, no alarm and no report of noise on the shoe's line may reveal
what these cards are. This module is the one place that says which cards lie face down.

Three kinds of cards lie face down: burned cards, cards kept for the next round until they are dealt, and, in a game
that is dealt face down, the cards that have not been turned up yet. `public.py` says how the hands themselves are
shown.

The moment of a message can reveal a card, just as its content can. For example: an Angel Eye (a card-reading shoe)
reports a round's result as soon as the round is complete. A person who saw that a report came would know whether a
third card is due.
"""

from __future__ import annotations

from controller.rules.game.play import Draw, Reveal
from controller.table.dealing import following
from controller.table.legality import Move, Row, legality
from controller.table.states import BetweenRounds, Burning, Locked, RoundInPlay, Table
from controller.table.stops import held_cards


def comes_face_down(table: Table, row: Row) -> bool:
    """Tell whether the card that leaves the shoe now goes to a place where nobody sees it. `row` is the row of the
    table of legality (which says what each kind of report does in each phase) for this card."""
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
    """Tell whether the table must keep secret where the next card goes, or that no card is due. This must be secret if
    it would reveal something about face-down cards."""
    match following(table):
        case Reveal():
            return True
        case Draw(secret=secret):
            return secret
        case _:
            return len(table.kept) >= 4  # the first four cards go by turns; from there on the cards decide


def result_is_secret(table: Table) -> bool:
    """Tell whether a round's result that the shoe reports must be kept secret. The table asks this if the round is not
    complete at the table yet, because such a result can reveal something about face-down cards."""
    return table.rules.play.squeezed or bool(table.kept)


def kept_make_a_round(table: Table) -> bool:
    """Return True if the shoe may already count the cards that are kept for the next round as a complete round. Nobody
    has seen these cards."""
    if table.rules.procedure == 1 or table.awaiting_result is not None:
        return False
    return isinstance(table.phase, BetweenRounds) and len(table.kept) >= 4


def hides_cards(table: Table) -> bool:
    """Return True if a card of a round exists that nobody has seen: a card that was dealt face down, is kept for the
    next round, or is held by a fault. Also return True if wagers are locked in a game that deals face down.

    In this case anything that the shoe sends may reveal something about the card.
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
    """Return how many cards a fault may hold before one of them must be hidden from people. Cards of the burn need not
    be hidden, because they are never turned up. Cards that a round takes face up need not be hidden either."""
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
