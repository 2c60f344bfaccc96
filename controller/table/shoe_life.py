"""A shoe in numbers: its composition, the burn, the cut card and its end (sheet 000)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card, Rank
from controller.table.rules import ShoeRules
from controller.table.states import Shoe

_PLACE = {card: place for place, card in enumerate(DECK)}


def can_still_come(shoe: Shoe, rules: ShoeRules, card: Card) -> bool:
    """Whether this card can still be in the shoe. The shoe began with each card once for each deck."""
    return shoe.gone[_PLACE[card]] < rules.decks


def without(shoe: Shoe, rules: ShoeRules, card: Card | None) -> Shoe:
    """The shoe after this card left it. Where `card` is None or cannot have been there, an unnamed card has left."""
    if card is None or not can_still_come(shoe, rules, card):
        return replace(shoe, unnamed=shoe.unnamed + 1)
    place = _PLACE[card]
    return replace(shoe, gone=(*shoe.gone[:place], shoe.gone[place] + 1, *shoe.gone[place + 1 :]))


def corrected(shoe: Shoe, rules: ShoeRules, were: Iterable[Card], are: Iterable[Card]) -> Shoe:
    """The shoe once people know that the cards taken for `were` are really `are`."""
    gone = list(shoe.gone)
    for card in were:
        gone[_PLACE[card]] -= 1
    shoe = replace(shoe, gone=tuple(gone))
    for card in are:
        shoe = without(shoe, rules, card)
    return shoe


def reconciled(shoe: Shoe, rules: ShoeRules, rest: Iterable[Card]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cards that are missing and those that are extra, once the shoe's `rest` was read: each as often as it is."""
    counts = Counter(rest)
    over = {card: gone + counts[card] - rules.decks for card, gone in zip(DECK, shoe.gone, strict=True)}
    missing = (str(card) for card, more in over.items() for _ in range(-more))
    return tuple(missing), tuple(str(card) for card, more in over.items() for _ in range(more))


def worth_in_burn(first_card: Card) -> int:
    """What the first card is worth: ace 1, 2-9 at face value, tens and faces 10."""
    return min(first_card.rank, Rank.TEN)


def cards_to_burn(first_card: Card, rules: ShoeRules) -> int:
    """How many cards are burned, face down, after the first card."""
    return worth_in_burn(first_card) - (1 if rules.burn_counts_first_card else 0)


def after_cut_card(shoe: Shoe, rules: ShoeRules, in_wagered_round: bool) -> Shoe:
    """The shoe once the cut card has come: the number of its last wagered round is known.

    Where the cut card comes inside a wagered round, the last round is `hands_after_cut_card` rounds further on.
    Elsewhere the last round is `hands_after_cut_card_first` rounds further on.
    """
    further = rules.hands_after_cut_card if in_wagered_round else rules.hands_after_cut_card_first
    return replace(shoe, final_round=shoe.wagered_rounds + further)


def after_void(shoe: Shoe, rules: ShoeRules) -> Shoe:
    """The shoe once a wagered round that had begun is void."""
    another = shoe.final_round is not None and not rules.voided_hand_counts
    return replace(shoe, final_round=(shoe.final_round or 0) + 1) if another else shoe


def near_its_place(cards_left: int, rules: ShoeRules) -> bool:
    """Whether the cut card came close to its place, where so many cards are left."""
    return abs(cards_left - rules.cut_card_from_end) <= rules.cut_card_tolerance


def ended(shoe: Shoe, rules: ShoeRules, cards_left: int) -> str | None:
    """Why no further wagered round may begin in this shoe; None where one may. `cards_left` can still be dealt."""
    if shoe.final_round is not None and shoe.wagered_rounds >= shoe.final_round:
        return "final_round"
    if cards_left < rules.fewest_cards_to_open:
        return "too_few_cards"
    return None
