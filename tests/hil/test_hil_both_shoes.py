"""Plays the same scenarios at tables with both brands of shoe, Angel Eye and BeeTek. The pit must receive the same
events with both. If the brands rightly differ, the test says so.

An Angel Eye numbers its reports, plays the game along with the table, and reports the cut card and a card that it
cannot read. A BeeTek reports each card once and nothing more. If its cable was out while a card was due, a person must
look at the felt.

On a line that loses nothing, it makes no difference how the bytes arrive. With `--proof` they also arrive one by one
and late. `test_hil_transports.py` plays on lines that lose bytes, with a dealer who looks at the lamps.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from controller.bench.far_pit import Event
from controller.bench.far_shoe import FarBeeTek, FarLine, FarShoe
from drivers.sim import rules
from tests.hil.bench import Bench
from tests.hil.transports import TRANSPORTS
from tests.support.errors import raising
from tests.support.felt import FeltRound

BRANDS = ("angel_eye", "beetek")
OPENED = 8 * 52 - 3  # cards left where the first card is a two
_LINES = ["perfect", *(pytest.param(kind, marks=pytest.mark.proof) for kind in ("byte by byte", "delayed"))]


def _params(at_length: str = "", **sections: Any) -> list[Any]:
    """Return both brands of shoe as pytest parameters. `at_length` names the brand that runs only with pytest's option
    `--proof`. `sections` are changes to the table's file."""
    marks = {brand: [pytest.mark.table(shoe={"driver": brand}, **sections)] for brand in BRANDS}
    return [pytest.param(brand, marks=[*marks[brand], *[pytest.mark.proof] * (brand == at_length)]) for brand in BRANDS]


@pytest.fixture(params=_params())
def brand(request: pytest.FixtureRequest) -> str:
    """Return the brand of the table's shoe. A pytest mark on the parameter has already put the brand into the table's
    file."""
    return str(request.param)


_ONE_AND_AT_LENGTH_BOTH = pytest.mark.parametrize("brand", _params(at_length="beetek"), indirect=True)
"""What a BeeTek tells by reports that other tests here have from it too."""
_BEETEK_AND_AT_LENGTH_BOTH = pytest.mark.parametrize("brand", _params(at_length="angel_eye"), indirect=True)
"""What `test_hil_faults.py`, `test_hil_absence.py`, `test_hil_life.py` and the walk to `impossible_card` show with an
Angel Eye, and more."""


@pytest.fixture(params=_LINES)
def bench_shoe_line(request: pytest.FixtureRequest, bench_shoe_line: FarLine) -> FarLine:
    """Return the shoe's end of a serial line that loses no byte."""
    return TRANSPORTS[request.param](bench_shoe_line)


@pytest.fixture
def at(brand: str, at: Bench) -> Bench:
    """Return a table with this brand of shoe, on which no shoe is open yet."""
    assert isinstance(at.shoe, FarBeeTek) == (brand == "beetek")
    return at


def _rounds(at: Bench, expected: int) -> list[dict[str, Any]]:
    """Wait for `expected` rounds, and return what the pit was told of each round's cards."""
    return [_said(event) for event in at.rounds(expected)]


def _said(event: Event) -> dict[str, Any]:
    """Return the fields of a round's event that must be equal with both brands of shoe, such as the cards."""
    keys = ("shoe", "round", "player", "banker", "outcome", "natural", "simulated", "final_round", "cards_left")
    return {key: event[key] for key in keys}


def _round(
    player: str, player_total: int, banker: str, banker_total: int, outcome: str, round_: int, left: int, **more: Any
) -> dict[str, Any]:
    """Return the fields that the pit must be told of a round with these cards."""
    usual = {"shoe": 1, "natural": False, "simulated": False, "final_round": False}
    return usual | {
        "round": round_,
        "player": {"cards": player.split(), "total": player_total},
        "banker": {"cards": banker.split(), "total": banker_total},
        "outcome": outcome,
        "cards_left": left,
        **more,
    }


# Rounds.


@pytest.mark.proof
def test_a_round_with_both_third_cards(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("2H 3D 3H 2S 6D 4C")
    assert _rounds(at, 1) == [_round("2H 3H 6D", 1, "3D 2S 4C", 9, "banker", 1, OPENED - 6)]
    assert at.pit.types == ["shoe_opened", "wagers_locked", "round"]


@pytest.mark.proof
def test_a_natural_draws_nothing_and_the_next_card_is_the_next_rounds(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("4H 2D 4D KS")
    at.dealer.play("7H TD QD 7S")  # a tie
    assert _rounds(at, 2) == [
        _round("4H 4D", 8, "2D KS", 2, "player", 1, OPENED - 4, natural=True),
        _round("7H QD", 7, "TD 7S", 7, "tie", 2, OPENED - 8),
    ]


@_BEETEK_AND_AT_LENGTH_BOTH
def test_equal_cards_one_after_another_are_as_many_cards(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("2H 2H 2H 2H 2H 2H")
    assert _rounds(at, 1) == [_round("2H 2H 2H", 6, "2H 2H 2H", 6, "tie", 1, OPENED - 6)]


@pytest.mark.proof
def test_royal_9_hits_in_two_rounds(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("KS 2D 9S 3C", 1, 2)
    at.dealer.play("5C KH 2C 9H", 2)  # Banker: printed at seat 2
    assert _rounds(at, 2) == [
        _round("KS 9S", 9, "2D 3C", 5, "player", 1, OPENED - 4, natural=True),
        _round("5C 2C", 7, "KH 9H", 9, "banker", 2, OPENED - 8, natural=True),
    ]
    assert [(hit["round"], hit["seat"], hit["tier"]) for hit in at.pit.hits] == [
        (1, 1, "player_personal"),
        (1, 2, "suited_royal"),
        (2, 2, "banker_personal"),
    ]
    assert [event["progressive"][0]["seats"] for event in at.pit.told("wagers_locked")] == [[1, 2], [2]]


@_ONE_AND_AT_LENGTH_BOTH
def test_a_card_drawn_in_error_makes_a_simulated_hand(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pins.cover(1)
    at.shoe.deal("KS")  # nobody pressed `deal`
    at.eventually(lambda: at.table.phase == "round_in_play")
    at.eventually(lambda: at.pins.lamp("draw_banker") == "slow_blink")  # it may still be told to be something else
    at.dealer.deal("2D")
    at.eventually(lambda: at.pins.lamp("draw_player") == "steady")
    at.shoe.deal("9S 3C")
    at.eventually(lambda: len(at.pit.rounds) == 1)
    at.eventually(lambda: at.pins.seat(1) == "wager_seen")
    at.dealer.play("9C TD TC 5D")
    assert _rounds(at, 2) == [
        _round("KS 9S", 9, "2D 3C", 5, "player", at.pit.rounds[0]["round"], OPENED - 4, natural=True, simulated=True),
        _round("9C TC", 9, "TD 5D", 5, "player", at.pit.rounds[1]["round"], OPENED - 8, natural=True),
    ]
    assert at.pit.hits == []  # no wagers were locked, so none could win
    assert at.pit.types == ["shoe_opened", "odd_card", "round", "wagers_locked", "round"]


# A shoe's life.


@pytest.mark.proof  # `test_hil_transports.py` draws it inside a round with both brands
def test_the_cut_card_inside_a_round_leaves_one_more(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.dealer.deal("9C TD")
    at.dealer.cut_card()
    at.shoe.deal("TC 5D")
    at.eventually(lambda: at.table.phase == "wagers_open")
    assert at.table.face.final_round
    at.dealer.play("9D TS TH 5C")
    assert _rounds(at, 2) == [
        _round("9C TC", 9, "TD 5D", 5, "player", 1, OPENED - 4, natural=True),
        _round("9D TH", 9, "TS 5C", 5, "player", 2, OPENED - 8, natural=True, final_round=True),
    ]
    assert at.table.phase == "shoe_ended"
    at.eventually(lambda: at.pins.lamp("player") == "steady")
    [closed] = at.pit.told("shoe_closed")
    assert (closed["reason"], closed["rounds"], closed["wagered_rounds"]) == ("final_round", 2, 2)
    assert closed["cards_left"] == OPENED - 8
    at.dealer.open_shoe()
    assert at.table.face.shoe == 2


@pytest.mark.proof
def test_a_shoe_ended_early_and_the_next(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.table.supervisor("new_shoe")
    at.shoe.new_shoe()
    at.shoe.deal("AD KC")
    at.eventually(lambda: at.table.phase == "wagers_open")
    at.dealer.play("2H 3D 3H 2S 6D 4C")
    assert _rounds(at, 2) == [
        _round("9C TC", 9, "TD 5D", 5, "player", 1, OPENED - 4, natural=True),
        _round("2H 3H 6D", 1, "3D 2S 4C", 9, "banker", 1, 8 * 52 - 2 - 6, shoe=2),
    ]
    assert [(event["shoe"], event["reason"]) for event in at.pit.told("shoe_closed")] == [(1, "closed_early")]


@pytest.mark.parametrize(
    "brand",
    _params("beetek", table={"lock_on": "first_card"}, game={"shoe": {"decks": 1, "cut_card_from_end": 0}}),
    indirect=True,
)
def test_a_shoe_with_too_few_cards_for_a_round_is_over(at: Bench) -> None:
    burned, *rounds = _one_deck()
    at.announce()
    at.shoe.deal(" ".join([*burned, *(card for round_ in rounds for card in round_)]))
    at.eventually(lambda: at.table.phase == "shoe_ended")  # a deck, three times over, comes slowly
    told = _rounds(at, len(rounds))
    assert [_drawn(event) for event in told] == rounds
    [closed] = at.pit.told("shoe_closed")
    left = 52 - len(burned) - sum(map(len, rounds))
    assert (closed["reason"], closed["rounds"], closed["cards_left"]) == ("too_few_cards", len(rounds), left)
    assert at.pit.told("fault") == []


def _one_deck() -> list[list[str]]:
    """Return a shuffled deck in the groups in which it is dealt: first the burn, and then rounds, for as long as at
    least six cards are left."""
    deck = [rank + suit for rank in rules.RANKS for suit in rules.SUITS]
    random.Random(9).shuffle(deck)
    burned = 1 + rules.burn_count(deck[0])
    dealt, deck = [deck[:burned]], deck[burned:]
    while len(deck) >= 6:
        round_ = FeltRound()
        while round_.side is not None:
            round_.take(deck.pop(0))
        dealt.append(round_.cards)
    return dealt


def _drawn(event: dict[str, Any]) -> list[str]:
    """Return the cards of a round, taken from its event, in the order in which they were drawn."""
    return FeltRound(player=event["player"]["cards"], banker=event["banker"]["cards"]).cards


# People.


@pytest.mark.proof  # `test_hil_faults.py` voids with the key, `test_hil_absence.py` by two people
def test_a_supervisor_voids_a_round(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(2)
    at.dealer.deal("KH 2D")
    at.table.supervisor("void")
    at.pins.uncover(2)
    if isinstance(at.shoe, FarShoe):
        at.shoe.force_quit()  # its own game of that round; a BeeTek plays none
    at.dealer.play("9C TD TC 5D")
    assert _rounds(at, 1) == [_round("9C TC", 9, "TD 5D", 5, "player", 2, OPENED - 6, natural=True)]
    [void] = at.pit.told("void")
    assert (void["round"], void["by"], void["reason"], void["progressive"][0]["seats"]) == (1, "Ann", "supervisor", [2])
    assert at.pit.told("fault") == []


@_BEETEK_AND_AT_LENGTH_BOTH
def test_a_card_that_cannot_be_read_is_named(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.dealer.deal("KS")
    if isinstance(at.shoe, FarShoe):
        at.shoe.deal("??2D")
        at.eventually(lambda: at.table.fault == "unreadable_card")
        at.by_two("card", card="2D")
    else:
        _lose_and_name(at, at.shoe, "2D")
    at.shoe.deal("9S 3C")
    assert _rounds(at, 1) == [_round("KS 9S", 9, "2D 3C", 5, "player", 1, OPENED - 4, natural=True)]
    assert [hit["seat"] for hit in at.pit.hits] == [1]
    stops = 2 if isinstance(at.shoe, FarBeeTek) else 1  # its cable was pulled, so its cards were counted too
    assert len(at.pit.told("fault")) == len(at.pit.told("fault_cleared")) == stops


def _lose_and_name(at: Bench, shoe: FarBeeTek, card: str) -> None:
    """Damage the line with which a BeeTek shoe reports a card, and then name the card as a supervisor. The table
    ignores a damaged line, so the draw lamp does not move. The table accepts the card's name only after the cable was
    pulled."""
    shoe.corrupt = lambda line: line[:4] + b"?" + line[5:]
    shoe.deal(card)
    shoe.corrupt = None
    at.eventually(lambda: at.table.status().shoe.bad_bytes.get("noise"))
    assert at.table.hands == {"player": ["KS"], "banker": []}
    with raising("no_card_to_name"):
        at.table.supervisor("card", card=card)
    shoe.unplug()
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    shoe.plug()
    at.eventually(at.table.links_up)
    at.by_two("card", card=card)
    at.table.clear_and_count()


# Out of hearing.


@pytest.mark.proof  # `test_hil_transports.py` unplugs both brands inside a round
def test_unplugged_inside_a_round_the_table_stops_until_a_supervisor_clears_it(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.dealer.deal("KS 2D")
    at.shoe.unplug()
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    at.shoe.plug()
    at.eventually(at.table.links_up)
    assert at.table.fault == "shoe_unplugged"  # the link is back; the fault stands
    at.table.clear_and_count()
    at.shoe.deal("9S 3C")
    assert _rounds(at, 1) == [_round("KS 9S", 9, "2D 3C", 5, "player", 1, OPENED - 4, natural=True)]
    assert [hit["seat"] for hit in at.pit.hits] == [1]
    assert [(event["code"], event["by"], event["exit"]) for event in at.pit.told("fault_cleared")] == [
        ("shoe_unplugged", "Ann", "clear"),
        ("shoe_unheard", "Ann", "count"),
    ]


@pytest.mark.proof  # the walk to `shoe_unheard` in `test_hil_every_fault.py` does the same
def test_unplugged_after_the_lock_a_person_counts(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.unplug()
    at.eventually(lambda: not at.table.status().shoe.up)
    at.shoe.plug()
    at.table.count()
    at.shoe.deal("9C TD TC 5D")
    assert _rounds(at, 1) == [_round("9C TC", 9, "TD 5D", 5, "player", 1, OPENED - 4, natural=True)]
    assert [event["code"] for event in at.pit.told("fault")] == ["shoe_unheard"]


@_BEETEK_AND_AT_LENGTH_BOTH
@pytest.mark.parametrize("drawn", ["KS 2D 9S", *(pytest.param(few, marks=pytest.mark.proof) for few in ("", "KS"))])
def test_killed_with_a_card_due_the_round_goes_on_where_it_stood(at: Bench, drawn: str) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.dealer.deal(drawn)
    before, shown = at.table.face, at.table.hands
    at.restart()
    assert at.table.hands == shown
    assert at.table.face == before
    at.shoe.deal("KS 2D 9S 3C".removeprefix(drawn))
    assert _rounds(at, 1) == [_round("KS 9S", 9, "2D 3C", 5, "player", 1, OPENED - 4, natural=True)]
    assert [hit["seat"] for hit in at.pit.hits] == [1]
    assert [event["code"] for event in at.pit.told("fault")] == ["shoe_unheard"]


@_BEETEK_AND_AT_LENGTH_BOTH
def test_killed_or_unplugged_between_rounds_it_asks_for_a_count(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    if isinstance(at.shoe, FarShoe):  # what it says of the round comes after it, and is not to be lost with the cable
        at.eventually(lambda: any(fact["fact"] == "ShoeResultReported" for fact in at.table.facts()))
    before = at.table.face
    at.restart()
    at.shoe.unplug()
    at.eventually(lambda: not at.table.status().shoe.up)
    at.shoe.plug()
    at.table.count()
    assert at.table.face == before
    at.dealer.play("2H 3D 3H 2S 6D 4C")
    assert _rounds(at, 2) == [
        _round("9C TC", 9, "TD 5D", 5, "player", 1, OPENED - 4, natural=True),
        _round("2H 3H 6D", 1, "3D 2S 4C", 9, "banker", 2, OPENED - 10),
    ]
    assert [event["code"] for event in at.pit.told("fault")] == ["shoe_unheard"] * 2
