"""The shoe as a second referee. A card-reading shoe for punto banco has its own opinions on the burn, on a card's place
and on a round's result. This module compares them with the table's own rules.

If the shoe's opinion differs from the rules, the table stops and shows both, unless that would reveal a face-down card.
Neither opinion is taken silently. For example: the shoe says that a card goes to Banker, and by the table's rules the
card is Player's.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.rules.game import baccarat
from controller.rules.game.baccarat import Tableau
from controller.rules.game.cards import Card
from controller.rules.game.hands import Hand, TwoHands
from controller.table import shoe_life
from controller.table.dealing import next_in_round
from controller.table.face_down import next_is_secret, result_is_secret
from controller.table.facts import CardDrawn, ShoeResult, ShoeResultReported, Target
from controller.table.states import BetweenRounds, Burning, FirstCardDue, RoundInPlay, Table
from controller.table.stops import Stepped, stop


def compare_burn_count(table: Table, count: int) -> Stepped:
    """Compare the number of cards to burn that the shoe reports with the number that the first card's value gives. Stop
    the table if the two differ."""
    assert isinstance(table.phase, Burning)
    worth = shoe_life.worth_in_burn(table.phase.first_card)
    if count == worth:
        return table, ()
    return stop(table, "burn_count_differs", {"shoe_says": count, "first_card_is_worth": worth})


def compare_result(table: Table, fact: ShoeResultReported) -> Stepped:
    """Compare the shoe's result of a round with the table's own result. Stop the table if the two differ. A result is
    not compared if the table has no valid result for it (`awaiting_result` is "voided"), or if the shoe broke off a
    round that has no result here."""
    awaited, burned = table.awaiting_result, table.burned_in_shoes_round
    table = replace(table, awaiting_result=None, burned_in_shoes_round=False)
    if awaited == "voided" or (awaited is None and fact.result is ShoeResult.FORCE_QUIT):
        return table, ()  # the shoe ends its own game of a round that is void here, or that never began here
    ours = _in_words(awaited.outcome.value, awaited.player_pair, awaited.banker_pair) if awaited else "no finished hand"
    shoes = _in_words(fact.result.value, fact.player_pair, fact.banker_pair)
    if ours == shoes:
        return table, ()
    if burned or (awaited is None and result_is_secret(table)):
        return stop(table, "result_differs", {})  # the shoe has read cards that nobody here has seen
    return stop(table, "result_differs", {"shoe_says": shoes, "rules_say": ours})


def _in_words(result: str, player_pair: bool, banker_pair: bool) -> str:
    return result + (", player pair" if player_pair else "") + (", banker pair" if banker_pair else "")


def differing_target(table: Table, fact: CardDrawn) -> str | None:
    """Return the code of the fault if the shoe puts the card in another place than the table's rules do. Return None if
    both agree, or if the shoe does not say where the card goes."""
    if fact.target is None:
        return None
    expected, index = _expected_target(table)
    if fact.target is expected and index in (None, fact.index):
        return None
    if fact.target is Target.FIRST_CARD:
        return "first_card_in_shoe"
    burning = expected in (Target.FIRST_CARD, Target.BURN)
    if fact.target is Target.BURN:  # the missed card was the first one: this card lies face down and is never turned up
        return "reports_missed" if burning else "burn_long"
    return "burn_short" if burning else "target_differs"


def both_opinions(table: Table, fact: CardDrawn) -> dict[str, str | int]:
    """Return where the shoe puts the card and where the table's rules put it, as texts for people. Return an empty
    dictionary if the texts would reveal a face-down card."""
    if next_is_secret(table) or table.burned_in_shoes_round:
        return {}
    assert fact.target is not None
    expected, index = _expected_target(table)
    ours = expected.value if index is None else f"{expected.value} card {index}"
    shoes = fact.target.value if index is None else f"{fact.target.value} card {fact.index}"
    return {"shoe_says": shoes, "rules_say": ours}


def where(table: Table) -> str:
    """Return a word for people that says where the next card goes, such as "burn" or "banker". The word is only "hand"
    if a more precise word would reveal a face-down card, or if no place is known."""
    match table.phase:
        case FirstCardDue():
            return Target.FIRST_CARD.value
        case Burning():
            return Target.BURN.value
        case _:
            if next_is_secret(table):
                return "hand"
            drawn = next_in_round(table)
            if drawn is not None:
                return str(drawn.hand)
            between = isinstance(table.phase, BetweenRounds) and table.rules.play.tableau is not None
            return _expected_target(table)[0].value if between else "hand"


def _expected_target(table: Table) -> tuple[Target, int | None]:
    """Return where the table's rules put the next card, and its index in the hand (1 for the hand's first card). The
    index is None if the card does not go to a hand."""
    match table.phase:
        case FirstCardDue():
            return Target.FIRST_CARD, None
        case Burning():
            return Target.BURN, None
        case RoundInPlay(plays):
            return _target_in_round(table, tuple(play for play in plays if isinstance(play, Card)))
        case _:
            return _target_in_round(table, _begun_by_kept(table))


def _begun_by_kept(table: Table) -> tuple[Card, ...]:
    """Return the kept cards (cards that left the shoe before their round) that begin a round without finishing it. Kept
    cards that make up whole rounds are left out. Example: the first four of six kept cards finish a round, so the last
    two are returned."""
    dealt: tuple[Card, ...] = ()
    for known in table.kept:
        dealt = (*dealt, known.card)
        if isinstance(baccarat.next_step(_tableau(table), dealt), TwoHands):
            dealt = ()
    return dealt


def _target_in_round(table: Table, dealt: tuple[Card, ...]) -> tuple[Target, int]:
    drawn = baccarat.next_step(_tableau(table), dealt)
    assert not isinstance(drawn, TwoHands), "a complete round is not in play"
    index = 3 if len(dealt) >= 4 else len(dealt) // 2 + 1
    return (Target.PLAYER if drawn.hand == Hand.PLAYER else Target.BANKER), index


def _tableau(table: Table) -> Tableau:
    drawing = table.rules.play.tableau
    assert drawing is not None, "a shoe with opinions deals a game with a tableau: the configuration is checked"
    return drawing
