"""The correction of a finished round: two people read the cards that lay on the felt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from controller.game import baccarat, lucky9
from controller.game.cards import Card
from controller.game.games import Done, Game, cards, naturals, seats_as_they_lie
from controller.table import shoe_life
from controller.table.acts.entry import (
    IN_A_HAND,
    Act,
    Ambient,
    Argument,
    BadArgumentError,
    Form,
    Request,
    Who,
    by_two,
    cards_of_text,
    number,
    read_cards,
    seat,
    whole,
)
from controller.table.dealing import finished_round
from controller.table.facts import ByPerson, Fact
from controller.table.legality import Refuse, refuse
from controller.table.states import Burning, FinishedRound, FirstCardDue, NoShoe, Table


@dataclass(frozen=True, slots=True)
class RoundCorrected(ByPerson):
    """Two people read a finished round's cards anew: these lay on the felt. The round itself stays as it was told."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    by: str
    witness: str


@dataclass(frozen=True, slots=True)
class SeatsRoundCorrected(ByPerson):
    """The same of a round of Lucky 9: each seat's hands from left to right, by the seat, and the dealer's."""

    round: int
    hands: dict[int, tuple[tuple[Card, ...], ...]]
    dealer: tuple[Card, ...]
    by: str
    witness: str


CorrectionFact = RoundCorrected | SeatsRoundCorrected


@dataclass(frozen=True, slots=True)
class CorrectRound(Request):
    """Amend a finished round of the open shoe: the cards as two people read them."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    supervisor: str
    witness: str | None = None

    @property
    def says(self) -> str:
        """The request in words."""
        return f"correct round {self.round}: player {_read(self.player)}, banker {_read(self.banker)}"

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The correction, once two people ask for it."""
        return _correction(table, self)


@dataclass(frozen=True, slots=True)
class CorrectSeatsRound(Request):
    """The same of a round of Lucky 9: each seat's hands from left to right, by the seat, and the dealer's."""

    round: int
    hands: dict[int, tuple[tuple[Card, ...], ...]]
    dealer: tuple[Card, ...]
    supervisor: str
    witness: str | None = None

    @property
    def says(self) -> str:
        """The request in words."""
        hands = (f"seat {seat} {_read(hand)}" for seat, theirs in sorted(self.hands.items()) for hand in theirs)
        return f"correct round {self.round}: dealer {_read(self.dealer)}, {', '.join(hands)}"

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The correction, once two people ask for it."""
        return _correction(table, self)


def _hand_of_text(text: str) -> dict[str, object]:
    """A hand of a seat as a shell or a script writes it: 3="8S KS", or 3=8S,KS."""
    its_seat, sign, its_cards = text.partition("=")
    if not sign:
        raise BadArgumentError(f"{text} is not a hand of a seat.", 'Write seat=cards: 3="8S KS".')
    return {"seat": number(its_seat), "cards": cards_of_text(its_cards)}


def _hands(value: Any) -> dict[int, tuple[tuple[Card, ...], ...]]:
    """`[{"seat": 3, "cards": "8S KS"}, …]`, a seat's from left to right, by the seat."""
    hands: dict[int, tuple[tuple[Card, ...], ...]] = {}
    for hand in value if isinstance(value, list) else [value]:
        if not isinstance(hand, dict) or hand.keys() != {"seat", "cards"}:
            raise BadArgumentError(f"{hand} is not a hand of a seat.", 'Write {"seat": 3, "cards": "8S KS"}.')
        its_seat = _SEAT.read(hand["seat"])
        hands[its_seat] = (*hands.get(its_seat, ()), read_cards(hand["cards"]))
    return hands


def _cards(name: str, says: str) -> Argument:
    return Argument(name, "CARDS", says, read_cards, cards_of_text, name)


_SEAT = seat("seat")
_ROUND = whole("round", "ROUND", "the number of a round of the open shoe", 0, 10**20)

CORRECT = Act(
    name="correct",
    group="The hand",
    who=Who.TWO_PEOPLE,
    says="amend a finished round of this shoe: it waits for a second person, five minutes at most",
    example='12 --player "KS 9H" --banker "2C 5D" --by Smith',
    forms=(
        Form(
            CorrectRound,
            CorrectRound,
            (_ROUND, _cards("player", 'Player\'s cards as they lay: "KS 9H"'), _cards("banker", "Banker's cards")),
        ),
        Form(
            CorrectSeatsRound,
            CorrectSeatsRound,
            (
                _ROUND,
                Argument(
                    "hands",
                    "SEAT=CARDS",
                    'at Lucky 9: 3="8S KS", once for each hand of every seat, a seat\'s from left to right',
                    _hands,
                    _hand_of_text,
                    "hand",
                    many="/",
                ),
                _cards("dealer", "at Lucky 9: the dealer's cards"),
            ),
        ),
    ),
    becomes=(RoundCorrected, SeatsRoundCorrected),
    refused={NoShoe: "no_such_round", FirstCardDue: "no_such_round", Burning: "no_such_round", **IN_A_HAND},
)


def as_corrected(game: Game, told: Done, fact: CorrectionFact) -> Done:
    """The round that was `told`, by the fact. Raises ValueError where the game lets no hands lie so."""
    if isinstance(fact, RoundCorrected):
        return baccarat.as_it_lies(naturals(game), fact.player, fact.banker)
    return seats_as_they_lie(game, told, fact.hands, fact.dealer)


def _correction(table: Table, request: CorrectRound | CorrectSeatsRound) -> Fact | Refuse:
    told = finished_round(table, request.round)
    if told is None or table.shoe is None:
        return refuse("no_such_round")
    fact = _as_read(told, request)
    if isinstance(fact, Refuse):
        return fact
    try:
        done = as_corrected(table.rules.play, told.done, fact)
    except ValueError:
        return refuse("not_by_the_rules")
    if done == told.done:
        return refuse("nothing_differs")
    corrected = shoe_life.corrected(table.shoe, table.rules.shoe, cards(told.done), cards(done))
    if corrected.unnamed > table.shoe.unnamed:
        return refuse("card_cannot_be")
    return by_two(request, fact)


def _as_read(told: FinishedRound, request: CorrectRound | CorrectSeatsRound) -> CorrectionFact | Refuse:
    """The cards that were read, as the fact they become where the round has such hands."""
    match request, told.done:
        case CorrectRound(number, player, banker, by, witness), baccarat.Done():
            if not (_is_hand(player) and _is_hand(banker)):
                return refuse("not_a_hand")
            return RoundCorrected(number, player, banker, by, witness or "")
        case CorrectSeatsRound(number, hands, dealer, by, witness), lucky9.Done(first_two=in_play):
            if hands.keys() != in_play.keys():
                return refuse("other_seats")
            if not all(map(_is_hand, (*(hand for theirs in hands.values() for hand in theirs), dealer))):
                return refuse("not_a_hand")
            return SeatsRoundCorrected(number, hands, dealer, by, witness or "")
        case _:
            return refuse("other_hands")


def _read(cards_read: tuple[Card, ...]) -> str:
    return " ".join(map(str, cards_read))


def _is_hand(cards_read: tuple[Card, ...]) -> bool:
    return 2 <= len(cards_read) <= 3
