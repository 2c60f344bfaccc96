"""The shoe in numbers: which cards are left, the burn, the cut card and the shoe's end (sheet 000)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card, Rank
from controller.table.rules import ShoeRules
from controller.table.states import Shoe

_PLACE = {card: place for place, card in enumerate(DECK)}


def can_still_come(shoe: Shoe, rules: ShoeRules, card: Card) -> bool:
    """Tell whether a copy of this card can still be in the shoe. The shoe began with each card once for each deck."""
    return shoe.gone[_PLACE[card]] < rules.decks


def without(shoe: Shoe, rules: ShoeRules, card: Card | None) -> Shoe:
    """Return the shoe after this card left it. Where `card` is None or has no copy left, a card without a name is
    counted as gone."""
    if card is None or not can_still_come(shoe, rules, card):
        return replace(shoe, unnamed=shoe.unnamed + 1)
    place = _PLACE[card]
    return replace(shoe, gone=(*shoe.gone[:place], shoe.gone[place] + 1, *shoe.gone[place + 1 :]))


def corrected(shoe: Shoe, rules: ShoeRules, were: Iterable[Card], are: Iterable[Card]) -> Shoe:
    """Return the shoe after a correction: the cards that were counted as `were` are really `are`."""
    gone = list(shoe.gone)
    for card in were:
        gone[_PLACE[card]] -= 1
    shoe = replace(shoe, gone=tuple(gone))
    for card in are:
        shoe = without(shoe, rules, card)
    return shoe


def reconciled(shoe: Shoe, rules: ShoeRules, rest: Iterable[Card]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cards that are missing and the cards that are too many, once the cards left in the ended shoe (`rest`)
    were read. A card that is missing twice is listed twice."""
    counts = Counter(rest)
    over = {card: gone + counts[card] - rules.decks for card, gone in zip(DECK, shoe.gone, strict=True)}
    missing = (str(card) for card, more in over.items() for _ in range(-more))
    return tuple(missing), tuple(str(card) for card, more in over.items() for _ in range(more))


def worth_in_burn(first_card: Card) -> int:
    """Return what the first card is worth for the burn: ace 1, 2-9 at face value, tens and faces 10."""
    return min(first_card.rank, Rank.TEN)


def cards_to_burn(first_card: Card, rules: ShoeRules) -> int:
    """Return how many cards are burned, face down, after the first card."""
    return worth_in_burn(first_card) - (1 if rules.burn_counts_first_card else 0)


def after_cut_card(shoe: Shoe, rules: ShoeRules, in_wagered_round: bool) -> Shoe:
    """Return the shoe once the cut card has come, which fixes the number of its last wagered round.

    Where the cut card comes inside a wagered round, the last round is `hands_after_cut_card` rounds further on.
    Elsewhere the last round is `hands_after_cut_card_first` rounds further on.
    """
    further = rules.hands_after_cut_card if in_wagered_round else rules.hands_after_cut_card_first
    return replace(shoe, final_round=shoe.wagered_rounds + further)


def after_void(shoe: Shoe, rules: ShoeRules) -> Shoe:
    """Return the shoe once a wagered round that had begun is void. Where a void round does not count, the shoe's last
    round moves one further."""
    another = shoe.final_round is not None and not rules.voided_hand_counts
    return replace(shoe, final_round=(shoe.final_round or 0) + 1) if another else shoe


def near_its_place(cards_left: int, rules: ShoeRules) -> bool:
    """Tell whether the cut card came close enough to its place, `cards_left` cards before the shoe's end."""
    return abs(cards_left - rules.cut_card_from_end) <= rules.cut_card_tolerance


def ended(shoe: Shoe, rules: ShoeRules, cards_left: int) -> str | None:
    """Return why no further wagered round may begin in this shoe; None where one may. `cards_left` is how many cards
    can still be dealt."""
    if shoe.final_round is not None and shoe.wagered_rounds >= shoe.final_round:
        return "final_round"
    if cards_left < rules.fewest_cards_to_open:
        return "too_few_cards"
    return None
