"""Checks of a void, which takes away what a round's cards had already won. The void names every award that was certain,
and two people must agree to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
from msgspec.structs import replace

from controller.rules.game.bets import Bet, HandIs, Row, When
from controller.rules.game.cards import DECK, Card
from controller.rules.game.wagers import Wager
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.seats import PlaceWager
from controller.table.facts import CardDrawn, ShoeError, ShoeErrorRaised, ShoePoweredUp, ShoeUnplugged
from tests.support.five_games import wagers
from tests.support.sheets import ROYAL9_TIERS, royal9_tier
from tests.support.tables import MIDI, ROYAL9, SUGARHOUSE, TableUnderTest

SEATS = tuple(seat.number for seat in ROYAL9.seats)
PRINTED = {seat.number: str(seat.k9) for seat in ROYAL9.seats}
_MIDI_ROYAL9 = replace(ROYAL9, play=MIDI.play)


def least_award(seat: int, seen: Sequence[str]) -> str | None:
    """Return the smallest award that the seat can end with, over all cards that can still come. Return None if the seat
    might win no award.

    The function uses the rule sheet alone: cards 1 and 3 are Player's, 2 and 4 Banker's, and only the first two cards
    of a hand count.
    """
    worst = -1
    for rest in product(map(str, DECK), repeat=4 - len(seen)):
        four = [*seen, *rest]
        tier = royal9_tier(seat, PRINTED, (four[0], four[2]), (four[1], four[3]))
        if tier is None:
            return None
        worst = max(worst, ROYAL9_TIERS.index(tier))
    return ROYAL9_TIERS[worst]


def begun(*seen: str) -> TableUnderTest:
    """Return a table in a round in which these cards have come. Every seat has a Royal 9 wager."""
    return TableUnderTest().open_shoe("2D 3H 4C").lock(*SEATS).draw(" ".join(seen))


_dice = random.Random(7)
_FACES = [f"{rank}{suit}" for rank in "KQJ" for suit in "SHDC"]
_NINES = [f"9{suit}" for suit in "SHDC"]
THREE = [
    (_dice.choice(first), str(_dice.choice(DECK)), _dice.choice(third))
    for first, third in ([(_FACES, _NINES)] * 12 + [(_NINES, _FACES)] * 6)
]
"""Three cards of which Player's two are a Royal 9."""
OTHERS = [tuple(str(card) for card in _dice.sample(DECK, 3)) for _ in range(12)]


@pytest.mark.parametrize("seen", [*THREE, *OTHERS])
def test_the_awards_that_are_certain_are_told_and_no_others(seen: tuple[str, str, str]) -> None:
    table = begun(*seen)
    assert table.face.phase == "round_in_play"
    certain = {seat: least for seat in SEATS if (least := least_award(seat, seen)) is not None}
    assert table.ask(VoidRound("Smith")) == ("second_person_due" if certain else None)
    if certain:
        assert table.ask(VoidRound("Smith", "Jones")) is None
    (void,) = table.of_type("void")
    assert {won["seat"]: won["tier"] for won in void["awards"]} == certain
    assert void["witness"] == ("Jones" if certain else None)
    hands = {hand["hand"]: hand["cards"] for hand in void["hands"]}
    assert hands == {"player": [seen[0], seen[2]], "banker": [seen[1]]}


@pytest.mark.parametrize("seen", [(), ("KS",), ("KS", "KS"), ("9H", "KH")])
def test_a_round_in_which_nothing_is_won_yet_is_voided_by_one(seen: tuple[str, ...]) -> None:
    assert begun(*seen).ask(VoidRound("Smith")) is None


def test_the_card_that_a_fault_holds_is_seen_too() -> None:
    """A void counts the winning card as seen even if the card waits because of a fault. Here the dealer pressed a
    button of the shoe, which raised the fault, and then drew that card."""
    table = begun("KS", "2D").believe(ShoeErrorRaised(ShoeError.BUTTON_MISHANDLED)).draw("9S")
    assert table.ask(VoidRound("Smith")) == "second_person_due"
    table.void()
    (void,) = table.of_type("void")
    assert (void["held"], void["awards"][0]["tier"]) == (["9S"], "player_personal")


@pytest.mark.parametrize("lost", [ShoeUnplugged(), ShoePoweredUp()])
def test_where_cards_may_lie_unheard_nobody_voids_alone(lost: ShoeUnplugged | ShoePoweredUp) -> None:
    """One person alone cannot void a round in which cards may have been dealt without a report. Example: somebody pulls
    the shoe's cable out, and the winning hand is dealt."""
    table = begun("KS").believe(lost)
    assert table.ask(VoidRound("Smith")) == "second_person_due"
    table.void()
    assert table.of_type("void")[0]["awards"] == [], "nothing is told that the table does not know"


def test_a_round_without_progressive_wagers_is_voided_by_one() -> None:
    table = TableUnderTest().open_shoe("2D 3H 4C").lock().draw("KS 2D 9S")
    assert table.ask(VoidRound("Smith")) is None
    assert table.of_type("void")[0]["awards"] == []


def test_a_simulated_hand_wins_nothing() -> None:
    table = TableUnderTest().open_shoe("2D 3H 4C")
    table.wagers = {1}
    assert table.draw("KS 2D 9S").ask(VoidRound("Smith")) is None


def test_what_lies_face_down_is_not_told_and_nobody_voids_it_alone() -> None:
    """A void at Midi with Royal 9 wagers needs two people, because the face-down cards may have won. The void names
    none of these cards."""
    table = TableUnderTest(_MIDI_ROYAL9).open_shoe("2D 3H 4C").lock(1).draw("KS 2D 9S")
    assert table.ask(VoidRound("Smith")) == "second_person_due", "also where nothing is won: the need tells no card"
    other = TableUnderTest(_MIDI_ROYAL9).open_shoe("2D 3H 4C").lock(1).draw("4S 2D 7H")
    assert other.ask(VoidRound("Smith")) == "second_person_due"
    (void,) = table.void().of_type("void")
    assert [hand["cards"] for hand in void["hands"]] == [["--", "--"], ["--"]]
    assert (void["held"], void["awards"]) == ([], [])


def test_a_settlement_that_no_card_can_change_is_told() -> None:
    """A void event contains the settlement that the round would have had, if no further card could change it. Here
    Player's 9 beats whatever Banker can reach with the card that waits because of a fault."""
    table = TableUnderTest(SUGARHOUSE).open_shoe("2D 3H 4C")
    table.do(PlaceWager(Wager(2, "player", 2000), "dealer"), LockWagers()).draw("4S TH 5D")
    table.believe(ShoeErrorRaised(ShoeError.OVERDRAW), CardDrawn(Card.parse("2C"))).void()
    (void,) = table.of_type("void")
    (settled,) = void["would_settle"]["wagers"]
    assert (settled["seat"], settled["result"], settled["pays_cents"]) == (2, "won", 2000)
    assert void["settlement"]["totals"]["returned_cents"] == 2000


def test_a_settlement_that_hangs_on_a_card_is_not_told() -> None:
    table = TableUnderTest(SUGARHOUSE).open_shoe("2D 3H 4C")
    table.do(PlaceWager(Wager(2, "player", 2000), "dealer"), LockWagers()).draw("4S TH 5D").void()
    assert table.of_type("void")[0]["would_settle"] is None


_PAIR = Bet("pair", rows=(Row(When(player=HandIs(pair=True)), pays=Fraction(11)),))


def test_a_settlement_with_too_many_ends_to_look_at_is_not_told() -> None:
    """If a round could end in too many ways, its void event has no settlement that the round would have had. Here
    Player's pair has won in any case, but two third cards can come, and the table does not try some 2,700 ends."""
    table = TableUnderTest(replace(SUGARHOUSE, bets=(*SUGARHOUSE.bets, _PAIR))).open_shoe("2D 3H 4C")
    table.do(*wagers("2 pair 2000"), LockWagers()).draw("2S TH 2D").void()
    assert table.of_type("void")[0]["would_settle"] is None


def test_by_the_procedure_of_before_nothing_of_this_is_told() -> None:
    table = TableUnderTest(replace(ROYAL9, procedure=2)).open_shoe("2D 3H 4C").lock(1).draw("KS 2D 9S").void()
    (void,) = table.of_type("void")
    assert (void["hands"], void["held"], void["awards"], void["would_settle"]) == ([], [], [], None)
