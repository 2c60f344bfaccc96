"""What the table counts of a shoe: which cards are left, how many are burned, where the cut card came, and when the
shoe ends (sheet 000)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card, Rank
from controller.table.rules import ShoeRules
from controller.table.states import Shoe

_PLACE = {card: place for place, card in enumerate(DECK)}


def can_still_come(shoe: Shoe, rules: ShoeRules, card: Card) -> bool:
    """Tell whether a copy of this card can still be in the shoe. At its start the shoe held each card once for each
    deck."""
    return shoe.gone[_PLACE[card]] < rules.decks


def without(shoe: Shoe, rules: ShoeRules, card: Card | None) -> Shoe:
    """Return the shoe's counts after this card left it. If `card` is None, or no copy of it is left, a card without a
    name is counted as gone."""
    if card is None or not can_still_come(shoe, rules, card):
        return replace(shoe, unnamed=shoe.unnamed + 1)
    place = _PLACE[card]
    return replace(shoe, gone=(*shoe.gone[:place], shoe.gone[place] + 1, *shoe.gone[place + 1 :]))


def corrected(shoe: Shoe, rules: ShoeRules, were: Iterable[Card], are: Iterable[Card]) -> Shoe:
    """Return the shoe's counts after a correction. The cards `were` had been counted as gone, and the cards `are` are
    now counted as gone in their place."""
    gone = list(shoe.gone)
    for card in were:
        gone[_PLACE[card]] -= 1
    shoe = replace(shoe, gone=tuple(gone))
    for card in are:
        shoe = without(shoe, rules, card)
    return shoe


def reconciled(shoe: Shoe, rules: ShoeRules, rest: Iterable[Card]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Compare the cards of an ended shoe with its decks. `rest` are the cards that were still in the shoe. Return two
    tuples: the cards that are missing, and the cards that are too many. A card that is missing twice is listed twice.
    """
    counts = Counter(rest)
    over = {card: gone + counts[card] - rules.decks for card, gone in zip(DECK, shoe.gone, strict=True)}
    missing = (str(card) for card, more in over.items() for _ in range(-more))
    return tuple(missing), tuple(str(card) for card, more in over.items() for _ in range(more))


def worth_in_burn(first_card: Card) -> int:
    """Return how many points the first card counts for the burn: an ace 1, a 2 to 9 its face value, a ten or a face
    card 10."""
    return min(first_card.rank, Rank.TEN)


def cards_to_burn(first_card: Card, rules: ShoeRules) -> int:
    """Return how many cards are burned, face down, after the first card."""
    return worth_in_burn(first_card) - (1 if rules.burn_counts_first_card else 0)


def after_cut_card(shoe: Shoe, rules: ShoeRules, in_wagered_round: bool) -> Shoe:
    """Return the shoe's counts after the cut card came. The cut card fixes the number of the shoe's last wagered round.

    If the cut card comes inside a wagered round, `hands_after_cut_card` more rounds are dealt after that round.
    Otherwise `hands_after_cut_card_first` more rounds are dealt.
    """
    further = rules.hands_after_cut_card if in_wagered_round else rules.hands_after_cut_card_first
    return replace(shoe, final_round=shoe.wagered_rounds + further)


def after_void(shoe: Shoe, rules: ShoeRules) -> Shoe:
    """Return the shoe's counts after a wagered round, which had begun, became void. If the number of the last round is
    known already, and the house's rules do not count a void round, one more round is dealt before the shoe ends."""
    another = shoe.final_round is not None and not rules.voided_hand_counts
    return replace(shoe, final_round=(shoe.final_round or 0) + 1) if another else shoe


def near_its_place(cards_left: int, rules: ShoeRules) -> bool:
    """Tell whether the cut card came close enough to the place where it should be. `cards_left` is how many cards were
    left in the shoe when it came."""
    return abs(cards_left - rules.cut_card_from_end) <= rules.cut_card_tolerance


def ended(shoe: Shoe, rules: ShoeRules, cards_left: int) -> str | None:
    """Return a code that says why no further wagered round may begin in this shoe, or None if one may begin.
    `cards_left` is how many cards can still be dealt."""
    if shoe.final_round is not None and shoe.wagered_rounds >= shoe.final_round:
        return "final_round"
    if cards_left < rules.fewest_cards_to_open:
        return "too_few_cards"
    return None
