"""The acts by which two people correct a finished round. They read the cards that lie on the felt, and the cards that
they read replace the cards that the table recorded."""

from __future__ import annotations

from typing import Any

from controller.rules.game.cards import Card
from controller.rules.game.hands import BANKER, DEALER, PLAYER, HandsError, cards_of, seat_hand_name
from controller.table import shoe_life
from controller.table.acts.entry import (
    IN_A_ROUND,
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
from controller.table.acts.rounds import GROUP
from controller.table.dealing import finished_round
from controller.table.facts import ByPerson, Fact
from controller.table.legality import Refuse, refuse
from controller.table.states import Burning, FirstCardDue, NoShoe, Table


class RoundCorrected(ByPerson, frozen=True):
    """The journalled fact that two people corrected a finished round to the cards `player` and `banker`. The event that
    the table sent when the round ended stays unchanged."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    by: str
    witness: str

    @property
    def read(self) -> dict[str, tuple[Card, ...]]:
        """Return a dictionary from the name of each hand ("player", "banker") to its cards, as the two people read
        them."""
        return {PLAYER: self.player, BANKER: self.banker}


class SeatsRoundCorrected(ByPerson, frozen=True):
    """The journalled fact that two people corrected a finished round of Lucky 9. `hands` maps a seat's number to the
    hands of that seat, from left to right; `dealer` is the dealer's hand."""

    round: int
    hands: dict[int, tuple[tuple[Card, ...], ...]]
    dealer: tuple[Card, ...]
    by: str
    witness: str

    @property
    def read(self) -> dict[str, tuple[Card, ...]]:
        """Return a dictionary from the name of each hand to its cards, as the two people read them."""
        of_seats = {
            seat_hand_name(seat, number): cards
            for seat, hands in self.hands.items()
            for number, cards in enumerate(hands, 1)
        }
        return of_seats | {DEALER: self.dealer}


CorrectionFact = RoundCorrected | SeatsRoundCorrected


class _Correction(Request, frozen=True):
    """A request to correct a finished round, which two people must make together. If the request is granted, the table
    journals the fact `_fact`."""

    @property
    def _fact(self) -> CorrectionFact:
        raise NotImplementedError

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: the round's number and its corrected hands."""
        fact = self._fact
        return {"round": fact.round, "hands": {hand: [*map(str, cards)] for hand, cards in fact.read.items()}}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the correction, or a refusal.

        The correction is refused if the open shoe has no round of this number, if the hands break the game's rules, if
        nothing would change, or if the shoe cannot hold so many copies of a card. It is also refused until a second
        person asks for it.
        """
        fact = self._fact
        told = finished_round(table, fact.round)
        if told is None or table.shoe is None:
            return refuse("no_such_round")
        try:
            done = table.rules.play.corrected(told.done, fact.read)
        except HandsError as error:
            return refuse(error.code)
        if done == told.done:
            return refuse("nothing_differs")
        corrected = shoe_life.corrected(table.shoe, table.rules.shoe, cards_of(told.done), cards_of(done))
        if corrected.unnamed > table.shoe.unnamed:
            return refuse("card_cannot_be")
        return by_two(self, fact)


class CorrectRound(_Correction, frozen=True):
    """A request to correct a finished round of the open shoe to the cards that two people read on the felt."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    supervisor: str
    witness: str | None = None

    @property
    def _fact(self) -> RoundCorrected:
        return RoundCorrected(self.round, self.player, self.banker, self.supervisor, self.witness or "")


class CorrectSeatsRound(_Correction, frozen=True):
    """A request to correct a finished round of Lucky 9 to the cards that two people read. `hands` maps a seat's number
    to the hands of that seat, from left to right; `dealer` is the dealer's hand."""

    round: int
    hands: dict[int, tuple[tuple[Card, ...], ...]]
    dealer: tuple[Card, ...]
    supervisor: str
    witness: str | None = None

    @property
    def _fact(self) -> SeatsRoundCorrected:
        return SeatsRoundCorrected(self.round, self.hands, self.dealer, self.supervisor, self.witness or "")


def _hand_of_text(text: str) -> dict[str, object]:
    """Parse one seat's hand into its JSON form. A person writes the hand in a shell as 3="8S KS", or in a script as
    3=8S,KS. Raises BadArgumentError if the text is not of this form."""
    its_seat, sign, its_cards = text.partition("=")
    if not sign:
        raise BadArgumentError(f"{text} is not a hand of a seat.", 'Write seat=cards: 3="8S KS".')
    return {"seat": number(its_seat), "cards": cards_of_text(its_cards)}


def _hands(value: Any) -> dict[int, tuple[tuple[Card, ...], ...]]:
    """Parse the JSON list `[{"seat": 3, "cards": "8S KS"}, …]`. Return a dictionary from a seat's number to the hands
    of that seat, from left to right. Raises BadArgumentError if an entry of the list has another form."""
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
    group=GROUP,
    who=Who.TWO_PEOPLE,
    says="correct a finished round of this shoe; a second person must agree within 30 seconds",
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
                    'at Lucky 9: 3="8S KS", once for each hand of every seat, from left to right',
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
    confirmed_by=("cut_card", "deal", "void"),
    shows="correction",
    refused={NoShoe: "no_such_round", FirstCardDue: "no_such_round", Burning: "no_such_round", **IN_A_ROUND},
)


ACTS = (CORRECT,)
