"""What may happen when, said over again in a dealer's words, and each cell of it tried on a table in that phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from controller.game.baccarat_royal import Actives
from controller.game.cards import Card
from controller.game.play import Call
from controller.game.wagers import Wager
from controller.table.facts import (
    BurnCountReported,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CutCardDrawn,
    OddCardFate,
    OwnFact,
    ShoeError,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeFact,
    ShoeLockReported,
    ShoePoweredUp,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnheard,
    ShoeUnplugged,
    Target,
)
from controller.table.faults import FAULTS
from controller.table.legality import LEADS_TO, LEGALITY, Move, RaiseFault, Refuse, Row
from controller.table.public import PublicWager
from controller.table.requests import (
    ChooseActives,
    CloseShoe,
    CollectCommission,
    CorrectRound,
    LampTest,
    LockWagers,
    MakeCall,
    NewShoe,
    PlaceWager,
    Request,
    SeeCutCard,
    TakeSeats,
    TellOddCard,
    VoidHand,
)
from controller.table.states import Held, Waiting
from controller.words.language import language
from tests.support.tables import BACCARAT_ROYAL, SUGARHOUSE, TableUnderTest, cards

CARD = Card.parse("7C")
_REFUSALS = language().sections["refusal"]

# A word is what must be seen to happen (`SEEN`), a fault's code, or the code of a refusal.
GRID = """
                        no_shoe            first_card_due     burning            wagers_open        wagers_locked      hand_in_play       shoe_ended
card                    card_without_shoe  turned_up          burned             simulated          dealt              dealt              card_after_shoe
card_kept               card_without_shoe  turned_up          burn_short         kept               dealt              kept               card_after_shoe
card_outside_game       card_without_shoe  card_outside_game  card_outside_game  card_outside_game  card_outside_game  card_outside_game  card_after_shoe
cut_card                nothing            cut_card_in_burn   cut_card_in_burn   noted              noted              noted              nothing
burn_count              nothing            nothing            nothing            nothing            nothing            nothing            nothing
shoe_result             nothing            nothing            result_differs     agreed             agreed             result_differs     agreed
shoe_force_quit         nothing            nothing            nothing            result_differs     result_differs     force_quit         result_differs
shoe_error              shoe_error         shoe_error         shoe_error         shoe_error         shoe_error         shoe_error         shoe_error
shoe_powered_up         nothing            nothing            shoe_restarted     shoe_restarted     shoe_restarted     shoe_restarted     nothing
shoe_unplugged          nothing            shoe_unplugged     shoe_unplugged     nothing            shoe_unplugged     shoe_unplugged     nothing
shoe_unheard            nothing            shoe_unheard       shoe_unheard       shoe_unheard       shoe_unheard       shoe_unheard       nothing
new_shoe                opened             shoe_announced     burn_unfinished    shoe_open          already_locked     hand_in_play       opened
new_shoe_by_supervisor  opened             opened             opened             opened             already_locked     hand_in_play       opened
lock_wagers             no_shoe            burn_unfinished    burn_unfinished    locked             already_locked     hand_in_play       no_shoe
see_cut_card            no_shoe            cut_card_in_burn   cut_card_in_burn   noted              noted              noted              no_shoe
void                    no_hand            no_hand            no_hand            no_hand            void               void               no_hand
tell_odd_card           no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card
correct_round           no_such_round      no_such_round      no_such_round      corrected          already_locked     hand_in_play       corrected
close_shoe              no_shoe            closed             closed             closed             already_locked     hand_in_play       no_shoe
test_lamps              nothing            nothing            burn_unfinished    nothing            already_locked     hand_in_play       nothing
place_wager             no_shoe            burn_unfinished    burn_unfinished    placed             already_locked     already_locked     no_shoe
take_seats              seated             seated             seated             seated             already_locked     hand_in_play       seated
choose_actives          chosen             chosen             chosen             chosen             already_locked     hand_in_play       chosen
call                    no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        called             no_call_due
collect_commission      nothing_owed       collected          collected          collected          collected          collected          collected
"""  # noqa: E501
_HEAD, *_ROWS = [line.split() for line in GRID.strip().splitlines()]
CELLS = [(row, phase, word) for row, *words in _ROWS for phase, word in zip(_HEAD, words, strict=True)]

HAPPENINGS: dict[str, ShoeFact | OwnFact | Request] = {
    "card": CardDrawn(CARD),
    "card_kept": CardKept(CARD, Target.PLAYER, 1),
    "card_outside_game": CardDrawnOutsideGame("lock"),
    "cut_card": CutCardDrawn("shoe"),
    "burn_count": BurnCountReported(3),
    "shoe_result": ShoeResultReported(ShoeResult.TIE, player_pair=False, banker_pair=False),
    "shoe_force_quit": ShoeResultReported(ShoeResult.FORCE_QUIT, player_pair=False, banker_pair=False),
    "shoe_error": ShoeErrorRaised(ShoeError.OVERDRAW),
    "shoe_powered_up": ShoePoweredUp(),
    "shoe_unplugged": ShoeUnplugged(),
    "shoe_unheard": ShoeUnheard(12_345),
    "new_shoe": NewShoe(),
    "new_shoe_by_supervisor": NewShoe("Smith"),
    "lock_wagers": LockWagers(),
    "see_cut_card": SeeCutCard(),
    "void": VoidHand("Smith"),
    "tell_odd_card": TellOddCard(OddCardFate.BURN, "Smith"),
    "correct_round": CorrectRound(1, tuple(cards("4S 6D")), tuple(cards("TH 9C")), "Smith", "Jones"),
    "close_shoe": CloseShoe("Smith"),
    "test_lamps": LampTest("Smith"),
    "place_wager": PlaceWager(Wager(3, "player", 2000), "dealer"),
    "take_seats": TakeSeats((4, 2), "dealer"),
    "choose_actives": ChooseActives(Actives(player=6, banker=2), "Smith"),
    "call": MakeCall(Call.HIT, "dealer"),
    "collect_commission": CollectCommission(2, "dealer"),
}

# The hand before was a natural tie, and the shoe has yet to say so.
PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": TableUnderTest,
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).draw("3H"),
    "wagers_open": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C"),
    "wagers_locked": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").lock(),
    "hand_in_play": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").lock().draw("2S"),
    "shoe_ended": lambda: TableUnderTest().open_shoe().lock().draw("CUT 4S TH 5D 9C"),
}


def _owing(dealt: str = "5S 8H KD TC") -> TableUnderTest:
    """SugarHouse: seat 2 won on Banker, and owes the commission."""
    table = TableUnderTest(SUGARHOUSE).open_shoe().do(PlaceWager(Wager(2, "banker", 2000), "dealer"))
    return table.lock().draw(dealt)


def _seated() -> TableUnderTest:
    """Baccarat Royal: seats 2, 5 and 6 are occupied, and seat 2 is Player against seat 5."""
    table = TableUnderTest(BACCARAT_ROYAL)
    return table.do(TakeSeats((2, 5, 6), "dealer"), ChooseActives(Actives(player=2, banker=5), "Smith"))


# Where wagers are known, as above; where no hand was finished, no commission is owed.
OWING: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": lambda: TableUnderTest(SUGARHOUSE),
    "first_card_due": lambda: _owing().new_shoe_by_supervisor(),
    "burning": lambda: _owing().new_shoe_by_supervisor().draw("3H"),
    "wagers_open": _owing,
    "wagers_locked": lambda: _owing().lock(),
    "hand_in_play": lambda: _owing().lock().draw("2S"),
    "shoe_ended": lambda: _owing("CUT 5S 8H KD TC"),
}

# Banker's hand is 5, and Player's a 4: the seat has the choice.
SEATED: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": _seated,
    "first_card_due": lambda: _seated().do(NewShoe()),
    "burning": lambda: _seated().do(NewShoe()).draw("3H"),
    "wagers_open": lambda: _seated().open_shoe(),
    "wagers_locked": lambda: _seated().open_shoe().lock(),
    "hand_in_play": lambda: _seated().open_shoe().lock().draw("2S 3H 2D 2C"),
    "shoe_ended": lambda: _seated().open_shoe().lock().draw("CUT 4S 5H 2D 3C"),
}

# The rows of what the example table has not: where they are tried.
TRIED_AT = {
    "place_wager": OWING,
    "take_seats": OWING,
    "choose_actives": SEATED,
    "call": SEATED,
    "collect_commission": OWING,
}


def _took_a_card(before: TableUnderTest, after: TableUnderTest) -> bool:
    old, new = before.face.cards_left, after.face.cards_left
    return old is not None and new == old - 1


def _on_the_layout(table: TableUnderTest) -> list[str]:
    return [card for hand in table.face.hands for card in hand.cards]


# What must be seen, besides the events (`EVENTS`), when the table was as before and is as after.
SEEN: dict[str, Callable[[TableUnderTest, TableUnderTest], bool]] = {
    "nothing": lambda before, after: after.table == before.table,
    "turned_up": lambda before, after: (after.face.first_card, after.face.burn_left) == ("7C", 7),
    "burned": lambda before, after: (before.face.burn_left, after.face.burn_left) == (3, 2),
    "simulated": lambda before, after: after.face.simulated and _on_the_layout(after) == ["7C"],
    "dealt": lambda before, after: not after.face.simulated and _on_the_layout(after)[-1] == "7C",
    "kept": lambda before, after: after.table.kept == (CARD,) and after.face.phase == before.face.phase,
    "noted": lambda before, after: after.table.shoe is not None and after.table.shoe.last_hand is not None,
    "agreed": lambda before, after: after.table.awaiting_result is None and after.face == before.face,
    "opened": lambda before, after: after.face.phase == "first_card_due" and after.face.cards_left == 416,
    "locked": lambda before, after: after.face.phase == "wagers_locked" and after.face.outcome is None,
    "corrected": lambda before, after: after.face.outcome == "banker" and after.face.phase == before.face.phase,
    "closed": lambda before, after: after.face.phase == "shoe_ended",
    "void": lambda before, after: after.face.phase == "wagers_open" and after.face.outcome is None,
    "placed": lambda before, after: after.face.wagers == (PublicWager(3, False, "player", 2000),),
    "seated": lambda before, after: after.face.occupied == (2, 4),
    "chosen": lambda before, after: after.face.actives == {"player": 6, "banker": 2},
    "called": lambda before, after: before.face.choice is not None and after.face.next_hand == "player",
    "collected": lambda before, after: (before.face.commission_owed, after.face.commission_owed) == ({"2": 100}, {}),
}
EVENTS = {
    "opened": "shoe_opened",
    "locked": "wagers_locked",
    "void": "void",
    "corrected": "correction",
    "closed": "shoe_closed",
    "collected": "commission",
}
TAKES_A_CARD = {"turned_up", "burned", "simulated", "dealt", "kept"}


@pytest.mark.parametrize(("row", "phase", "word"), CELLS)
def test_each_cell_is_what_happens(row: str, phase: str, word: str) -> None:
    in_phase = TRIED_AT.get(row, PHASES)[phase]
    before, table = in_phase(), in_phase()
    assert (before.face.phase, before.fault) == (phase, None)
    table.told()
    happening = HAPPENINGS[row]
    if isinstance(happening, Request):
        refused = table.ask(happening)
        assert refused == (word if word in _REFUSALS else None)
    else:
        table.believe(happening)
    told = [type_ for type_ in table.told_types() if type_ != "shoe_closed" or word == "closed"]
    if word in SEEN:
        assert SEEN[word](before, table)
        assert _took_a_card(before, table) == (word in TAKES_A_CARD)
        assert (table.fault, told) == (None, [EVENTS[word]] if word in EVENTS else [])
    elif word in FAULTS:
        assert (table.fault, told) == (word, [f"fault {word}"])
        assert table.table.phase == before.table.phase
    else:
        assert word in _REFUSALS
        assert (table.table, told) == (before.table, [])


@pytest.mark.parametrize(("row", "phase"), [(row, phase) for row, phase, _ in CELLS])
def test_a_move_leads_where_the_table_says(row: str, phase: str) -> None:
    table, happening = TRIED_AT.get(row, PHASES)[phase](), HAPPENINGS[row]
    was = type(table.table.phase)
    cell = LEGALITY[Row[row.upper()]][was]
    if isinstance(happening, Request):
        table.ask(happening)
    else:
        table.believe(happening)
    is_now = type(table.table.phase)
    assert is_now in LEADS_TO.get(cell, (was,)) if isinstance(cell, Move) and row != "tell_odd_card" else is_now is was


def test_the_grid_is_the_whole_table() -> None:
    assert [row for row, *_ in _ROWS] == [row.name.lower() for row in Row] == list(HAPPENINGS)
    assert list(LEGALITY) == list(Row)
    assert {len(columns) for columns in LEGALITY.values()} == {len(_HEAD)}


def test_what_the_table_raises_and_refuses_has_words_and_every_move_is_in_it() -> None:
    cells = {cell for columns in LEGALITY.values() for cell in columns.values()}
    assert {cell.code for cell in cells if isinstance(cell, RaiseFault)} <= FAULTS.keys()
    assert {cell.code for cell in cells if isinstance(cell, Refuse)} <= _REFUSALS.keys()
    assert {cell for cell in cells if isinstance(cell, Move)} == set(Move)


@pytest.mark.parametrize("row", [row for row, it in HAPPENINGS.items() if not isinstance(it, Request)])
@pytest.mark.parametrize("phase", PHASES)
def test_while_a_fault_stands_a_report_is_held_and_changes_nothing(row: str, phase: str) -> None:
    report = HAPPENINGS[row]
    assert not isinstance(report, Request)
    table = PHASES[phase]().believe(ShoeErrorRaised(ShoeError.CANNOT_READ))
    stopped = table.table
    table.told()
    table.believe(report)
    assert (table.table, table.told()) == (replace(stopped, held=Waiting((Held(report),))), [])


@pytest.mark.parametrize("phase", PHASES)
def test_while_a_fault_stands_the_dealer_is_refused(phase: str) -> None:
    table = PHASES[phase]().believe(ShoeErrorRaised(ShoeError.CANNOT_READ))
    stopped = table.table
    assert table.ask(LockWagers()) == "fault_stands"
    assert table.ask(SeeCutCard()) == "fault_stands"
    assert table.ask(NewShoe()) == "no_supervisor"
    assert table.table == stopped


@pytest.mark.parametrize("phase", PHASES)
def test_the_shoe_talks_of_itself_and_nothing_happens(phase: str) -> None:
    table = PHASES[phase]()
    before = table.table
    table.told()
    table.believe(
        ShoeStoodBy(),
        ShoeLockReported(locked=True),
        ShoePresetChanged("01", "0008"),
        ShoeErrorCancelled(ShoeError.OVERDRAW),
    )
    assert (table.table, table.told()) == (before, [])
