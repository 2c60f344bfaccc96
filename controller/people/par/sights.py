"""Works out what a bet can tell apart, such as two suits or two totals, so that odds are counted faster.

Cards, pairs of cards and suits that no row of the bet's pay table tells apart are counted as one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from itertools import combinations_with_replacement

from msgspec import Struct
from msgspec.structs import asdict, replace

from controller.rules.game.bets import Bet, CardsAre, HandIs, When, cards_hold, seen_of
from controller.rules.game.cards import DECK, Card, PersonalK9, Rank, Suit

_SEEN_BY_TOTAL = frozenset({"total", "cards", "natural"})
SEEN_ON_THE_FIRST_TWO = frozenset(
    {"pair", "suited", "colored", "first_two", "first_two_total", "seat_pair"} | {"first", "second"}
)
_SEEN_BY_CARD = frozenset(
    {"points", "third", "same_rank", "ranks", "of_one_rank", "different_ranks", "straight", "has"}
    | {"same_suit", "suit", "of_one_suit", "color"}
)
HAND_WORDS = _SEEN_BY_TOTAL | SEEN_ON_THE_FIRST_TWO | _SEEN_BY_CARD
"""Every word about a single hand that the counting can tell apart."""

_BY_BOTH_TOTALS = frozenset({"winner", "natural", "margin", "cards", "total_sum", "winning", "losing"})
_OF_OTHER_GAMES = frozenset({"own", "dealer", "split", "with_up_card"})
_OF_BOTH = frozenset({"identical", "color", "player", "banker", "either", "both", "exactly_one"})
WHEN_WORDS = _BY_BOTH_TOTALS | _OF_BOTH | _OF_OTHER_GAMES | {"all_cards", "first_four"}
"""Every word about two hands that the counting can tell apart."""


class Sight(Struct, frozen=True):
    """Everything that a bet can see of a finished round. If two rounds agree in all of it, the bet ends in the same way
    in both."""

    totals: bool
    """How many cards each hand has, and its total."""

    hands: tuple[HandIs, ...]
    """Whether each hand fits each of these conditions."""

    identical: bool
    """Whether the first two cards of both hands are the same two."""

    first_four: tuple[CardsAre, ...] = ()
    all_cards: tuple[CardsAre, ...] = ()
    """Whether the cards of both hands together fit each of these conditions."""

    own: PersonalK9 | None = None
    others: tuple[PersonalK9, ...] = ()
    """What is printed at the bettor's seat and at the table's other seats, where the bet asks for that."""


def sight(bet: Bet, own: PersonalK9 | None = None, others: Sequence[PersonalK9] = ()) -> Sight:
    """Return what the rows of the bet's pay table can tell apart, as seen from a seat. `own` and `others` are the cards
    printed at that seat and at the table's other seats."""
    whens = [row.when for row in bet.rows]
    asked = {word for when in whens for word in words_in(when)}
    words = dict.fromkeys(word for when in whens for word in when.hands())
    colors = [HandIs(color=(color,)) for when in whens for color in when.color or ()]
    deeper = [word for word in words if words_in(word) - _SEEN_BY_TOTAL]
    of_totals = bool(asked & _BY_BOTH_TOTALS) or any(words_in(word) & _SEEN_BY_TOTAL for word in words)
    first_four = tuple(dict.fromkeys(when.first_four for when in whens if when.first_four))
    all_cards = tuple(dict.fromkeys(when.all_cards for when in whens if when.all_cards))
    seen_of_hands = tuple(dict.fromkeys([*deeper, *colors]))
    found = Sight(of_totals, seen_of_hands, "identical" in asked, first_four, all_cards)
    printed = any(word.seat_pair for word in words)
    return replace(found, own=own, others=tuple(others)) if printed else found


def words_in(words: CardsAre | When) -> set[str]:
    """Return the names of the tests that a condition in a pay table contains, such as "total" or "suited"."""
    return {name for name, value in asdict(words).items() if value is not None}


def kinds_of_card(trait: Callable[[Card], object]) -> list[list[Card]]:
    """Group the 52 cards of a deck: cards with the same `trait` are in the same group."""
    found: dict[object, list[Card]] = {}
    for card in DECK:
        found.setdefault(trait(card), []).append(card)
    return [*found.values()]


def told_apart_as_third(seen: Sight, card: Card) -> object:
    """Return everything that the bet sees of this card if the card is a hand's third card."""
    return (
        card.points,
        *((*seen_of(word, card), *word.by_place(card)[2:]) for word in seen.hands),
        *(seen_of(are, card) for are in seen.all_cards),
    )


def told_apart(seen: Sight, card: Card) -> object:
    """Return everything that the bet sees of this card if the card is a hand's first or second card. Two cards with
    equal results are the same to the bet in these places."""
    return (
        card.points,
        card if seen.identical else None,
        *(_looks_in_hand(word, card) for word in seen.hands),
        *(seen_of(are, card) for are in seen.first_four + seen.all_cards),
    )


def _looks_in_hand(word: HandIs, card: Card) -> object:
    """Return everything about a hand's first or second card that matters to a condition on that hand."""
    return (
        *seen_of(word, card),
        card.rank if word.pair is not None or word.seat_pair else None,
        card.suit if word.suited is not None or word.seat_pair else None,
        card.color if word.colored is not None else None,
        *(card.letter in letters for letters in word.first_two or ()),
        *word.by_place(card)[:2],
    )


def suits_alike(seen: Sight) -> list[list[Suit]]:
    """Group the suits: two suits are in one group if no condition of the bet names only one of them. Conditions may
    still ask whether two cards have the same suit."""
    words = (*seen.hands, *seen.first_four, *seen.all_cards)
    found: dict[object, list[Suit]] = {}
    for suit in Suit:
        found.setdefault(tuple(_named(word, Card(rank, suit)) for word in words for rank in Rank), []).append(suit)
    return [*found.values()]


def _named(word: CardsAre, card: Card) -> object:
    """Return everything about a card that matters to a condition which names suits, colours or cards."""
    told = seen_of(CardsAre(color=word.color, has=word.has), card), card.suit.value in (word.suit or ())
    if not isinstance(word, HandIs):
        return told
    color, suit = word.colored is not None and card.color, word.seat_pair is not None and card.suit
    return told, color, suit, word.by_place(card)


_MOST_LOOKS = 10


class Tells:
    """A callable for one condition on several cards. It takes two of the cards, and returns what they mean for the
    condition, whatever the remaining cards are. `others` lists how many remaining cards there may be.

    If two pairs of cards have equal results, the condition cannot tell them apart. The result is found by trying all
    combinations of remaining cards. If that would take too long, the result only describes the two cards.
    """

    def __init__(self, word: CardsAre, others: Collection[int]) -> None:
        self._word, self._kinds = word, kinds_of_card(partial(seen_of, word))
        looks = range(len(self._kinds))
        self._look_of = {card: look for look, cards in enumerate(self._kinds) for card in cards}
        tried = len(looks) <= _MOST_LOOKS or max(others) == 2
        self._beside = [more for many in others for more in combinations_with_replacement(looks, many) if tried]
        self._holds, self._tells = cache(self._will_hold), cache(self._beside_each)

    def __call__(self, one: Card, other: Card) -> object:
        return self._tells(*sorted((self._look_of[one], self._look_of[other])))

    def _beside_each(self, *two: int) -> object:
        return tuple(self._holds(*sorted((*two, *more))) for more in self._beside) or two

    def _will_hold(self, *looks: int) -> bool:
        return cards_hold(self._word, [self._kinds[look][0] for look in looks])


@cache
def tells(are: CardsAre, others: tuple[int, ...]) -> Sequence[Tells]:
    """Return one function for each test in the condition. Each function takes two cards, and returns what they mean for
    that test, whatever the remaining cards are. `others` lists how many remaining cards there may be."""
    return [Tells(CardsAre(**{name: getattr(are, name)}), others) for name in sorted(words_in(are))]
