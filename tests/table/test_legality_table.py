"""Checks of which reports and acts are allowed in which phase of the table. The expected answers are written in a
dealer's words. Each answer is tried on a table in that phase."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from msgspec.structs import replace

from controller.contract.face.table import PublicWager
from controller.rules.game.cards import Card
from controller.rules.game.play import Call
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import CorrectRound, SeatsRoundCorrected
from controller.table.acts.entry import Request
from controller.table.acts.every import ACTS
from controller.table.acts.itself import HitTest, InputTest, LampTest, PauseTable, ResumeTable
from controller.table.acts.pit import AcceptAward, AwardAccepted, PinPitKey, PitKeyPinned
from controller.table.acts.recognition import PinRecognitionKey
from controller.table.acts.rounds import LockWagers, MakeCall, OddCardFate, TellOddCard, VoidRound
from controller.table.acts.seats import ChooseActives, CollectCommission, LeaveSeat, PlaceWager, ResetHits, TakeSeats
from controller.table.acts.shoe import CloseShoe, InspectShoe, NewShoe, ReconcileShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import (
    BurnCountReported,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CutCardDrawn,
    Fact,
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
    WagersDiffered,
)
from controller.table.faults import FAULTS
from controller.table.legality import LEADS_TO, LEGALITY, Move, RaiseFault, Row
from controller.table.public import PHASE_NAMES
from controller.table.states import Held, KnownCard, Paused, WagersOpen, Waiting
from controller.words.language import language
from tests.support.each import each
from tests.support.tables import BACCARAT_ROYAL, SUGARHOUSE, TableUnderTest, cards

CARD = Card.parse("7C")
_REFUSALS = language().sections["refusal"]

# A word is what must be seen to happen (`SEEN`), a fault's code, or the code of a refusal.
GRID = """
                        no_shoe            first_card_due     burning            wagers_open        paused             wagers_locked      round_in_play       shoe_ended
card                    card_without_shoe  turned_up          burned             simulated          card_not_due       dealt              dealt              card_after_shoe
card_kept               card_without_shoe  turned_up          burn_short         simulated          card_not_due       dealt              kept               card_after_shoe
card_outside_game       card_without_shoe  card_outside_game  card_outside_game  card_outside_game  card_not_due       card_outside_game  card_outside_game  card_after_shoe
cut_card                nothing            cut_card_in_burn   cut_card_in_burn   noted              noted              noted              noted              nothing
burn_count              nothing            nothing            nothing            nothing            nothing            nothing            nothing            nothing
shoe_result             nothing            nothing            result_differs     agreed             agreed             agreed             result_differs     agreed
shoe_force_quit         nothing            nothing            nothing            result_differs     result_differs     result_differs     force_quit         result_differs
shoe_error              shoe_error         shoe_error         shoe_error         shoe_error         shoe_error         shoe_error         shoe_error         shoe_error
shoe_powered_up         nothing            nothing            shoe_restarted     shoe_restarted     shoe_restarted     shoe_restarted     shoe_restarted     nothing
shoe_unplugged          nothing            shoe_unplugged     shoe_unplugged     nothing            nothing            shoe_unplugged     shoe_unplugged     nothing
shoe_unheard            nothing            shoe_unheard       shoe_unheard       shoe_unheard       shoe_unheard       shoe_unheard       shoe_unheard       nothing
!announce-shoe          opened             shoe_announced     burn_unfinished    shoe_open          shoe_open          already_locked     round_in_play       opened
!new-shoe               opened             opened             opened             opened             opened             already_locked     round_in_play       opened
!cut-card               no_shoe            cut_card_in_burn   cut_card_in_burn   noted              paused             noted              noted              no_shoe
!close-shoe             no_shoe            closed             closed             closed             closed             already_locked     round_in_play       no_shoe
!reconcile-shoe         no_shoe            shoe_open          shoe_open          shoe_open          shoe_open          shoe_open          shoe_open           reconciled
!inspect-shoe           inspected          inspected          inspected          inspected          inspected          already_locked     round_in_play       inspected
!deal                   no_shoe            burn_unfinished    burn_unfinished    locked             paused             already_locked     round_in_play       no_shoe
!hit                    no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        called             no_call_due
!stand                  no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        stood              no_call_due
!split                  no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        not_an_option      no_call_due
!reveal                 no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        no_call_due        not_an_option      no_call_due
!void                   no_round            no_round            no_round            no_round            no_round            void               void               no_round
!odd-card               no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card        no_odd_card
!correct                no_such_round      no_such_round      no_such_round      corrected          corrected          already_locked     round_in_play       corrected
!clear                  no_fault           no_fault           no_fault           no_fault           no_fault           no_fault           no_fault           no_fault
!card                   no_card_to_name    no_card_to_name    no_card_to_name    no_card_to_name    no_card_to_name    no_card_to_name    no_card_to_name    no_card_to_name
!count                  no_count_due       no_count_due       no_count_due       counted            counted            no_count_due       no_count_due       counted
!seats                  seated             seated             seated             seated             seated             already_locked     round_in_play       seated
!leave                  left               left               left               left               left               already_locked     round_in_play       left
!actives                chosen             chosen             chosen             chosen             chosen             already_locked     round_in_play       chosen
!wager                  no_shoe            burn_unfinished    burn_unfinished    placed             paused             already_locked     already_locked     no_shoe
!commission             nothing_owed       collected          collected          collected          collected          collected          collected          collected
!reset-hit              no_hit             no_hit             no_hit             no_hit             no_hit             no_hit             no_hit             no_hit
!pit-key                no_pit_key         no_pit_key         no_pit_key         no_pit_key         no_pit_key         no_pit_key         no_pit_key         no_pit_key
!accept-award           no_disputed_award  no_disputed_award  no_disputed_award  no_disputed_award  no_disputed_award  no_disputed_award  no_disputed_award  no_disputed_award
!recognition-key        adopted            adopted            adopted            adopted            adopted            adopted            adopted            adopted
!pause                  no_shoe            burn_unfinished    burn_unfinished    paused_it          paused             already_locked     round_in_play       no_shoe
!resume                 not_paused         not_paused         not_paused         not_paused         resumed            not_paused         not_paused         not_paused
!lamp-test              nothing            nothing            burn_unfinished    nothing            nothing            already_locked     round_in_play       nothing
!input-test             nothing            shoe_open          shoe_open          shoe_open          shoe_open          shoe_open          shoe_open          nothing
!test-hit               told               told               burn_unfinished    told               told               already_locked     round_in_play       told
"""  # noqa: E501  # a column for every phase
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
    "!announce-shoe": NewShoe(),
    "!new-shoe": NewShoe("Smith"),
    "!cut-card": SeeCutCard(),
    "!close-shoe": CloseShoe("Smith"),
    "!reconcile-shoe": ReconcileShoe((), "Smith"),
    "!inspect-shoe": InspectShoe("AE-22314", "4.17", "Smith"),
    "!deal": LockWagers(),
    **{f"!{call.value}": MakeCall(call, "dealer") for call in Call},
    "!void": VoidRound("Smith"),
    "!odd-card": TellOddCard(OddCardFate.BURN, "Smith"),
    "!correct": CorrectRound(1, tuple(cards("4S 6D")), tuple(cards("TH 9C")), "Smith", "Jones"),
    "!clear": ClearFault("Smith"),
    "!card": NameCard(CARD, "Smith"),
    "!count": CountCards(397, "Smith"),
    "!seats": TakeSeats((4, 2), "dealer"),
    "!leave": LeaveSeat(6, "dealer"),
    "!actives": ChooseActives(Actives(player=6, banker=2), "Smith"),
    "!wager": PlaceWager(Wager(3, "player", 2000), "dealer"),
    "!commission": CollectCommission(2, "dealer"),
    "!reset-hit": ResetHits(3, "Smith"),
    "!pit-key": PinPitKey("12 34", "Smith"),
    "!accept-award": AcceptAward("royal9-01.1", 5, "Smith"),
    "!recognition-key": PinRecognitionKey("ab" * 32, "Smith", "Jones"),
    "!pause": PauseTable("Smith"),
    "!resume": ResumeTable("Smith"),
    "!lamp-test": LampTest("Smith"),
    "!input-test": InputTest("Smith"),
    "!test-hit": HitTest(1, "Smith"),
}

# The hand before was a natural tie, and the shoe has yet to say so.
PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": TableUnderTest,
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).draw("3H"),
    "wagers_open": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C"),
    "paused": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").do(PauseTable("Smith")),
    "wagers_locked": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").lock(),
    "round_in_play": lambda: TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").lock().draw("2S"),
    "shoe_ended": lambda: TableUnderTest().open_shoe().lock().draw("CUT 4S TH 5D 9C"),
}


def _owing(dealt: str = "5S 8H KD TC") -> TableUnderTest:
    """Return a table of the SugarHouse game at which seat 2 won on Banker and owes the commission."""
    table = TableUnderTest(SUGARHOUSE).open_shoe().do(PlaceWager(Wager(2, "banker", 2000), "dealer"))
    return table.lock().draw(dealt)


def _seated() -> TableUnderTest:
    """Return a Baccarat Royal table: seats 2, 5 and 6 are occupied, and seat 2 is Player against seat 5."""
    table = TableUnderTest(BACCARAT_ROYAL)
    return table.do(TakeSeats((2, 5, 6), "dealer"), ChooseActives(Actives(player=2, banker=5), "Smith"))


# Where wagers are known, as above; where no hand was finished, no commission is owed.
OWING: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": lambda: TableUnderTest(SUGARHOUSE),
    "first_card_due": lambda: _owing().new_shoe_by_supervisor(),
    "burning": lambda: _owing().new_shoe_by_supervisor().draw("3H"),
    "wagers_open": _owing,
    "paused": lambda: _owing().do(PauseTable("Smith")),
    "wagers_locked": lambda: _owing().lock(),
    "round_in_play": lambda: _owing().lock().draw("2S"),
    "shoe_ended": lambda: _owing("CUT 5S 8H KD TC"),
}

# Banker's hand is 5, and Player's a 4: the seat has the choice.
SEATED: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": _seated,
    "first_card_due": lambda: _seated().do(NewShoe()),
    "burning": lambda: _seated().do(NewShoe()).draw("3H"),
    "wagers_open": lambda: _seated().open_shoe(),
    "paused": lambda: _seated().open_shoe().do(PauseTable("Smith")),
    "wagers_locked": lambda: _seated().open_shoe().lock(),
    "round_in_play": lambda: _seated().open_shoe().lock().draw("2S 3H 2D 2C"),
    "shoe_ended": lambda: _seated().open_shoe().lock().draw("CUT 4S 5H 2D 3C"),
}

# The rows of what the example table has not: where they are tried.
TRIED_AT = {
    "!wager": OWING,
    "!seats": OWING,
    "!commission": OWING,
    "!leave": SEATED,
    "!actives": SEATED,
    **{f"!{call.value}": SEATED for call in Call},
}


# A fault stands that can be left by each of its exits.
TRIED_IN_FAULT: dict[str, Callable[[], TableUnderTest]] = {
    "in a hand": lambda: TableUnderTest().open_shoe().lock().draw("4S ??"),
    "between hands": lambda: TableUnderTest().open_shoe().believe(ShoeErrorRaised(ShoeError.CANNOT_READ)),
    "uncounted": lambda: TableUnderTest().open_shoe().believe(ShoeUnheard(1000)),
}

# No fault stands, and there is something that only few acts are about.
TRIED_AT_REST: dict[str, Callable[[], TableUnderTest]] = {
    "a card drawn in error": lambda: TableUnderTest().open_shoe().draw("4S"),
    "a hit of seat 3": lambda: TableUnderTest().open_shoe().lock(3).draw("KS 2D 9S 3C"),
}
# Their own tests make these: what answers the pit or the sensors, and the correction of a game of seats.
MADE_ELSEWHERE = {PitKeyPinned, AwardAccepted, WagersDiffered, SeatsRoundCorrected}

_ACTS = {f"!{act.name}": act for act in ACTS}


def _took_a_card(before: TableUnderTest, after: TableUnderTest) -> bool:
    old, new = before.face.cards_left, after.face.cards_left
    return old is not None and new == old - 1


def _on_the_layout(table: TableUnderTest) -> list[str]:
    return [card for hand in table.face.hands for card in hand.cards]


# What must be seen, besides the events (`EVENTS`), when the table was as before and is as after.
SEEN: dict[str, Callable[[TableUnderTest, TableUnderTest], bool]] = {
    "told": lambda before, after: after.table == before.table,
    "reconciled": lambda before, after: after.table == before.table,
    "inspected": lambda before, after: after.table == before.table,
    "nothing": lambda before, after: after.table == before.table,
    "adopted": lambda before, after: after.table == replace(before.table, recognition_key="ab" * 32),
    "turned_up": lambda before, after: (after.face.first_card, after.face.burn_left) == ("7C", 7),
    "burned": lambda before, after: (before.face.burn_left, after.face.burn_left) == (3, 2),
    "simulated": lambda before, after: after.face.simulated and _on_the_layout(after) == ["7C"],
    "dealt": lambda before, after: not after.face.simulated and _on_the_layout(after)[-1] == "7C",
    "kept": lambda before, after: after.table.kept == (KnownCard(CARD),) and after.face.phase == before.face.phase,
    "noted": lambda before, after: after.table.shoe is not None and after.table.shoe.final_round is not None,
    "agreed": lambda before, after: after.table.awaiting_result is None and after.face == before.face,
    "opened": lambda before, after: after.face.phase == "first_card_due" and after.face.cards_left == 416,
    "locked": lambda before, after: after.face.phase == "wagers_locked" and after.face.outcome is None,
    "corrected": lambda before, after: after.face.outcome == "banker" and after.face.phase == before.face.phase,
    "closed": lambda before, after: after.face.phase == "shoe_ended",
    "counted": lambda before, after: after.table.shoe_doubts[-1:] == ("count_differs",),
    "paused_it": lambda before, after: after.table == replace(before.table, phase=Paused()),
    "resumed": lambda before, after: after.table == replace(before.table, phase=WagersOpen()),
    "void": lambda before, after: after.face.phase == "wagers_open" and after.face.outcome is None,
    "placed": lambda before, after: after.face.wagers == (PublicWager(3, False, "player", 2000),),
    "left": lambda before, after: (before.face.occupied, after.face.occupied) == ((2, 5, 6), (2, 5)),
    "seated": lambda before, after: after.face.occupied == (2, 4),
    "chosen": lambda before, after: after.face.actives == {"player": 6, "banker": 2},
    "called": lambda before, after: before.face.choice is not None and after.face.next_hand == "player",
    "stood": lambda before, after: before.face.choice is not None and after.face.choice is None,
    "collected": lambda before, after: (before.face.commission_owed, after.face.commission_owed) == ({"2": 100}, {}),
}
EVENTS = {
    "opened": "shoe_opened",
    "simulated": "odd_card",
    "told": "test_hit",
    "reconciled": "shoe_reconciled",
    "inspected": "shoe_inspected",
    "locked": "wagers_locked",
    "void": "void",
    "corrected": "correction",
    "closed": "shoe_closed",
    "collected": "commission",
    "adopted": "alarm",  # the pit hears whose key stakes at the table
    "counted": "alarm",  # the row's count is another than the table's
    "noted": "alarm",  # in the shoe's first hands it cannot be in its place
}
TAKES_A_CARD = {"turned_up", "burned", "simulated", "dealt", "kept"}


@each("row, phase, word", CELLS)
def test_each_cell_is_what_happens_and_leads_where_it_says(row: str, phase: str, word: str) -> None:
    in_phase = TRIED_AT.get(row, PHASES)[phase]
    before, table = _untouched(in_phase), in_phase()
    assert (before.face.phase, before.fault) == (phase, None)
    table.told()
    refused = _happens(row, table)
    _is_what_happens(row, phase, word, refused, before, table)
    _leads_where_it_says(row, phase, refused, before, table)


@cache
def _untouched(in_phase: Callable[[], TableUnderTest]) -> TableUnderTest:
    return in_phase()


def _happens(row: str, table: TableUnderTest) -> str | None:
    """Apply the report or the act that `row` names to the table. Return the code of the refusal, or None if the table
    did not refuse."""
    happening = HAPPENINGS[row]
    if isinstance(happening, Request):
        return table.ask(happening)
    table.believe(happening)
    return None


def _is_what_happens(
    row: str, phase: str, word: str, refused: str | None, before: TableUnderTest, table: TableUnderTest
) -> None:
    at = (row, phase)
    assert refused == (word if word in _REFUSALS and row in _ACTS else None), at
    told = [type_ for type_ in table.told_types() if type_ != "shoe_closed" or word == "closed"]
    if word in SEEN:
        assert SEEN[word](before, table), at
        assert _took_a_card(before, table) == (word in TAKES_A_CARD), at
        assert (table.fault, told) == (None, [EVENTS[word]] if word in EVENTS else []), at
    elif word in FAULTS:
        assert (table.fault, told) == (word, [f"fault {word}"]), at
        assert table.table.phase == before.table.phase, at
    else:
        assert word in _REFUSALS
        assert (table.table, told) == (before.table, []), at


def _leads_where_it_says(
    row: str, phase: str, refused: str | None, before: TableUnderTest, table: TableUnderTest
) -> None:
    was = type(before.table.phase)
    if act := _ACTS.get(row):
        assert refused == act.refused.get(was, refused), "the entry refuses it where the table does"
        leads_to = () if refused else act.leads_to
    else:
        cell = LEGALITY[Row[row.upper()]][was]
        leads_to = LEADS_TO.get(cell, ()) if isinstance(cell, Move) else ()
    assert type(table.table.phase) in (leads_to or (was,)), (row, phase)


def test_the_grid_is_the_whole_table() -> None:
    assert [row for row, *_ in _ROWS] == [*(row.name.lower() for row in Row), *_ACTS] == list(HAPPENINGS)
    assert list(LEGALITY) == list(Row)
    assert {len(columns) for columns in LEGALITY.values()} == {len(_HEAD)}
    assert all(set(act.refused) <= set(PHASE_NAMES) for act in ACTS)


def _made(row: str) -> set[type[Fact]]:
    """Try the act named `row` at every table where it may be allowed. Return the classes of the facts that the act
    made. This shows that the function `step` handles each of these facts."""
    made = set()
    for in_phase in (*TRIED_AT.get(row, PHASES).values(), *TRIED_AT_REST.values(), *TRIED_IN_FAULT.values()):
        table = in_phase()
        rows, happening = len(table.rows), HAPPENINGS[row]
        assert isinstance(happening, Request)
        if table.ask(happening) is None:
            made.add(type(table.rows[rows].fact))
    return made


def test_an_act_becomes_the_facts_that_its_entry_names() -> None:
    """The description of each act lists the facts that the act can make. The act makes no other facts, and every listed
    fact is really made. If an act is refused in every phase, the test needs an entry in `TRIED_AT`: a table at which
    the act is allowed."""
    made = {row: _made(row) for row, it in HAPPENINGS.items() if isinstance(it, Request)}
    assert {row: facts for row, facts in made.items() if not facts <= {*_ACTS[row].becomes}} == {}
    named = {fact for act in ACTS for fact in act.becomes}
    assert named - set().union(*made.values()) == MADE_ELSEWHERE


def test_what_the_table_raises_and_refuses_has_words_and_every_move_is_in_it() -> None:
    cells = {cell for columns in LEGALITY.values() for cell in columns.values()}
    assert {cell.code for cell in cells if isinstance(cell, RaiseFault)} <= FAULTS.keys()
    assert {code for act in ACTS for code in act.refused.values()} <= _REFUSALS.keys()
    assert {cell for cell in cells if isinstance(cell, Move)} == set(Move)


REPORTS = [
    (row, report, phase) for row, report in HAPPENINGS.items() for phase in PHASES if not isinstance(report, Request)
]


@each("row, report, phase", REPORTS)
def test_while_a_fault_stands_a_report_is_held_and_changes_nothing(
    row: str, report: ShoeFact | OwnFact, phase: str
) -> None:
    table = PHASES[phase]().believe(ShoeErrorRaised(ShoeError.CANNOT_READ))
    stopped = table.table
    table.told()
    table.believe(report)
    noted = (
        () if phase in ("wagers_open", "paused") and row.startswith("card") else None
    )  # no wager for its round from now on
    assert (table.table, table.told()) == (replace(stopped, held=Waiting((Held(report),)), chips_noted=noted), [])


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
