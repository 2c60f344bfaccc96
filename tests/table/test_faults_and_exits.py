"""Checks of every fault: how the table gets into it, which acts end it, and what happens to cards that waited."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import Card
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Request
from controller.table.acts.itself import PauseTable
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.seats import ChooseActives, PlaceWager, TakeSeats
from controller.table.acts.shoe import NewShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import (
    ArchiveFailed,
    BurnCountReported,
    CabinetOpened,
    CabinetOpeningNoted,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CommitFailed,
    CutCardDrawn,
    Fact,
    HitUnheard,
    JournalAltered,
    JournalFoundBehindPit,
    JournalGone,
    JournalLarge,
    OutboxFilling,
    OutboxFull,
    PitKeyDiffers,
    PitTookBack,
    PitWordForged,
    ProgramMeasured,
    ProgramStarted,
    PublishRefused,
    RecognitionKeyDue,
    ReplayDiffered,
    ShoeError,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeLockReported,
    ShoePoweredUp,
    ShoePresetChanged,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnheard,
    ShoeUnplugged,
    StepFailed,
    Target,
    WagerWordForged,
    WagerWordUnfit,
)
from controller.table.faults import FAULTS
from controller.table.rules import LockOn
from controller.table.states import Waiting
from controller.table.stops import behind_pit_at
from tests.support.each import each
from tests.support.tables import BACCARAT_ROYAL, SUGARHOUSE, TableUnderTest, between, hand, house, seen

PLAYER, BANKER, BURN, FIRST_CARD = Target.PLAYER, Target.BANKER, Target.BURN, Target.FIRST_CARD
ONE_DECK = house(decks=1, drawn_in_error="burn")
ALL_BUT_SIX = (
    "TS 2S 2H 2D 2C 3S 3H 3D 3C 7S 7H KS AS 9S AH KH AD 9H AC QS 6S 8S 7D QH 6H 8H 7C "
    "KD 6D 9D QD KC 6C 9C QC JS 5S 8D JH JD 5H 8C JC 4S TH 4H"
)
TIE = ShoeResultReported(ShoeResult.TIE, player_pair=False, banker_pair=False)
PLAYER_WON = ShoeResultReported(ShoeResult.PLAYER, player_pair=False, banker_pair=False)
FORCE_QUIT = ShoeResultReported(ShoeResult.FORCE_QUIT, player_pair=False, banker_pair=False)
ERROR = ShoeErrorRaised(ShoeError.CANNOT_READ)


def announced() -> TableUnderTest:
    return TableUnderTest().do(NewShoe())


def burning() -> TableUnderTest:
    """Return a table whose first card is shown and which must burn three more cards."""
    return announced().draw("3H")


BEHIND = JournalFoundBehindPit(9, 4, chain_differs=False, at="2026-01-01T00:00:01.000Z")


def in_round() -> TableUnderTest:
    """Return a table in the middle of a round: seats 2 and 5 bet on Royal 9, Player has 4♠, and Banker has T♥."""
    return between().lock(2, 5).draw("4S TH")


def ended() -> TableUnderTest:
    return between().lock().draw("CUT 4S TH 5D 9C")


def owing() -> TableUnderTest:
    """Return a table of the SugarHouse game whose shoe is over. Seat 2 owes commission for a win on Banker."""
    table = TableUnderTest(SUGARHOUSE).open_shoe().do(PlaceWager(Wager(2, "banker", 2000), "dealer"))
    return table.lock().draw("CUT 4S TH 4D 9C")


def seated() -> TableUnderTest:
    """Return a Baccarat Royal table whose active seats are 2 (Player) and 5 (Banker). Banker's two cards come first,
    then Player's."""
    table = TableUnderTest(BACCARAT_ROYAL)
    table.do(TakeSeats((2, 5), "dealer"), ChooseActives(Actives(player=2, banker=5), "Smith"))
    return table.open_shoe().lock()


def choosing() -> TableUnderTest:
    """Return a table at which Player's hand totals 4 and may hit or stand, while Banker has 5."""
    return seated().draw("2S 3H 2D 2C")


def differing() -> TableUnderTest:
    """Return a table that stopped when the dealer wanted to lock wagers. Bet recognition saw Royal 9 wagers at seats 1
    and 3, but the sensors saw wagers at seats 1 and 4."""
    table = TableUnderTest(replace(house(), bet_recognition=True)).open_shoe()
    table.do(*(PlaceWager(Wager(seat, "royal9", 500), "recognition") for seat in (1, 3)))
    return table.lock(1, 4)


def nobody_plays() -> TableUnderTest:
    """Return a Baccarat Royal table that locks wagers on the first card, but at which no seats are active."""
    return TableUnderTest(replace(BACCARAT_ROYAL, lock_on="first_card")).open_shoe()


def too_fast(kept: str | None = None) -> TableUnderTest:
    """Return a table that stopped because the four cards of a round came within 300 ms. If `kept` is a card, the shoe
    kept that card, and the card has begun a simulated hand (a round without wagers) after the round."""
    table = TableUnderTest().open_shoe().lock()
    cards: list[Fact] = [CardDrawn(Card.parse(card), after_ms=100) for card in ["4S", "TH", "5D", "9C"]]
    if kept is not None:
        cards.insert(3, CardKept(Card.parse(kept), Target.PLAYER, 1, after_ms=100))
    return table.believe(*cards)


def after_gap(table: TableUnderTest) -> TableUnderTest:
    """Let report 2 of the shoe get lost between its reports 1 and 3. Report 3 is Player's 5♦. The card of report 2 lies
    on the felt, and the table does not know it."""
    return table.believe(ShoeStoodBy(seen(1)), CardDrawn(Card.parse("5D"), report=seen(3)))


# Every fault, in each phase that has another way out of it.
IN: dict[str, list[Callable[[], TableUnderTest]]] = {
    "card_without_shoe": [lambda: TableUnderTest().draw("KS")],
    "card_after_shoe": [lambda: ended().draw("KS")],
    "first_card_in_shoe": [
        lambda: between().to(FIRST_CARD, 0, "2C"),
        lambda: in_round().to(FIRST_CARD, 0, "2C"),
        lambda: burning().to(FIRST_CARD, 0, "2C"),
    ],
    "burn_short": [lambda: burning().to(PLAYER, 1, "2C"), lambda: announced().to(PLAYER, 1, "2C")],
    "burn_long": [lambda: between().to(BURN, 2, "2C"), lambda: in_round().to(BURN, 2, "2C")],
    "burn_count_differs": [lambda: burning().believe(BurnCountReported(4))],
    "cut_card_in_burn": [lambda: burning().draw("CUT"), lambda: announced().draw("CUT")],
    "second_cut_card": [lambda: between().draw("CUT CUT"), lambda: in_round().draw("CUT CUT")],
    "shoe_exhausted": [
        lambda: (
            TableUnderTest(ONE_DECK)
            .do(NewShoe())
            .draw(ALL_BUT_SIX)
            .lock(3)
            .draw("TD")
            .believe(CardKept(Card.parse("4C")))  # for a round that never comes
            .draw("TC 5D 4D 5C")
        )
    ],
    "commission_owed": [lambda: owing().to(FIRST_CARD, 0, "KS")],
    "unreadable_card": [
        lambda: burning().draw("??"),
        lambda: in_round().draw("??"),
        lambda: between().draw("??"),
        lambda: announced().draw("??"),
    ],
    "impossible_card": [
        lambda: TableUnderTest(ONE_DECK).open_shoe("AS 2D").lock(4).draw("KS KS"),
        lambda: TableUnderTest(ONE_DECK).open_shoe("AS 2D").draw("2D"),
        lambda: TableUnderTest(ONE_DECK).do(NewShoe()).draw("2S 2S"),
    ],
    "card_not_due": [
        lambda: between().do(PauseTable("Smith")).draw("KS"),
        lambda: between().do(PauseTable("Smith")).believe(CardDrawnOutsideGame("lock")),
        lambda: nobody_plays().draw("KS"),
    ],
    "card_outside_game": [
        lambda: in_round().believe(CardDrawnOutsideGame("lock")),
        lambda: between().believe(CardDrawnOutsideGame("error")),
    ],
    "choice_due": [lambda: choosing().draw("5D")],
    "wagers_differ": [differing],
    "target_differs": [lambda: in_round().to(BANKER, 2, "5D"), lambda: between().to(BANKER, 1, "3H")],
    "result_differs": [lambda: in_round().believe(TIE), lambda: between().believe(TIE)],
    "force_quit": [lambda: in_round().believe(FORCE_QUIT)],
    "shoe_error": [lambda: in_round().believe(ERROR), lambda: between().believe(ERROR)],
    "reports_missed": [lambda: after_gap(in_round()), lambda: after_gap(between())],
    "shoe_restarted": [lambda: in_round().believe(ShoePoweredUp()), lambda: between().believe(ShoePoweredUp())],
    "round_too_fast": [too_fast, lambda: too_fast("AS")],
    "shoe_unplugged": [lambda: in_round().believe(ShoeUnplugged()), lambda: burning().believe(ShoeUnplugged())],
    "shoe_unheard": [
        lambda: in_round().believe(ShoeUnheard(12_345)),
        lambda: between().believe(ShoeUnheard(None, "2026-11-22T01:02:03.004Z")),
        lambda: burning().believe(ShoeUnheard(12_345)),
        lambda: announced().believe(ShoeUnheard(12_345)),
    ],
    "journal_behind_pit": [
        lambda: in_round().believe(BEHIND),
        lambda: in_round().believe(BEHIND, PitTookBack(4, "2026-01-01T00:00:02.000Z")),
    ],
    "journal_failed": [
        lambda: in_round().believe(CommitFailed("SQLITE_FULL")),
        lambda: between().believe(CommitFailed("SQLITE_FULL")),
    ],
    "journal_gone": [
        lambda: in_round().believe(JournalGone("table.journal", "removed")),
        lambda: between().believe(JournalGone("table.journal", "removed")),
    ],
    "journal_altered": [
        lambda: in_round().believe(JournalAltered(3)),
        lambda: between().believe(JournalAltered(3)),
    ],
    "cabinet_opened": [lambda: in_round().believe(CabinetOpened()), lambda: between().believe(CabinetOpened())],
    "outbox_full": [lambda: in_round().believe(OutboxFull(9, 9)), lambda: between().believe(OutboxFull(9, 9))],
    "replay_differs": [
        lambda: in_round().believe(ReplayDiffered(7)),
        lambda: between().believe(ReplayDiffered(7)),
    ],
    "internal": [
        lambda: in_round().fail_on(CardDrawn(Card.parse("5D"))),
        lambda: between().fail_on(CutCardDrawn("shoe")),
    ],
}
EACH = [(code, enter) for code, ways in IN.items() for enter in ways]

EXITS: dict[str, Request] = {
    "clear": ClearFault("Smith", "Jones"),
    "card": NameCard(Card.parse("9D"), "Smith", "Jones"),
    "void": VoidRound("Smith", "Jones"),
    "new_shoe": NewShoe("Smith"),
    "count": CountCards(0, "Smith"),  # as many as the table knows of
}
COMES_BY_ITSELF: list[Fact] = [
    CardDrawn(Card.parse("9C")),
    CardDrawn(None, PLAYER, 2),
    CardKept(Card.parse("9C")),
    CardDrawnOutsideGame("setting"),
    CutCardDrawn("shoe"),
    BurnCountReported(10),
    TIE,
    FORCE_QUIT,
    ERROR,
    ShoeErrorCancelled(ShoeError.CANNOT_READ),
    ShoePoweredUp(),
    ShoeStoodBy(),
    ShoeLockReported(locked=True),
    ShoePresetChanged("01", "0008"),
    ShoeUnplugged(),
    ShoeUnheard(9_000),
    JournalFoundBehindPit(9, 4, chain_differs=True),
    CommitFailed("SQLITE_FULL"),
    JournalGone("table.journal", "removed"),
    JournalAltered(3),
    CabinetOpened(),
    CabinetOpeningNoted(),
    ReplayDiffered(7),
    PublishRefused(3, 0x87),
    HitUnheard(3),
    OutboxFilling(8, 10),
    OutboxFull(10, 10),
    JournalLarge(300, 200),
    ArchiveFailed("SQLITE_FULL"),
    ProgramStarted(7),
    ProgramMeasured("1", "aa", "bb"),
]


BY_TWO = {"journal_behind_pit"}
"""The faults that two people leave together."""


def test_every_fault_is_entered_here_and_every_exit_taken() -> None:
    assert IN.keys() == FAULTS.keys()
    for code, ways in IN.items():
        taken = set().union(*(enter().exits for enter in ways))
        assert taken == {exit_.value for exit_ in FAULTS[code].exits}, code


@each("code, enter", EACH)
def test_the_fault_is_told_once_with_its_exits_and_what_to_do(code: str, enter: Callable[[], TableUnderTest]) -> None:
    table = enter()
    (fault,) = table.of_type("fault")
    face = table.face.fault
    assert face is not None
    assert (fault["code"], face.code) == (code, code)
    assert set(face.exits) == table.exits
    assert set(fault["exits"]) == (set() if code in BY_TWO else table.exits), "the pit has taken nothing back yet"
    assert fault["details"] == face.details
    assert set(fault["details"]) <= set(FAULTS[code].details), "only what the documents name"
    assert fault["round"] == table.table.round_number


@each("code, enter", EACH)
def test_nothing_that_comes_by_itself_leaves_it(code: str, enter: Callable[[], TableUnderTest]) -> None:
    table = enter()
    fault, phase = table.table.fault, table.table.phase
    table.told()
    table.believe(*COMES_BY_ITSELF).fail_on(CutCardDrawn("shoe"))
    assert (table.table.fault, table.table.phase) == (fault, phase)
    assert set(table.told_types()) == {"alarm"}, "alarms do not wait"
    assert table.replayed()[0] == table.table, "nor does a restart"


@each("code, enter", EACH)
def test_no_other_act_leaves_it_and_none_without_a_supervisor(code: str, enter: Callable[[], TableUnderTest]) -> None:
    table = enter()
    stopped = table.table
    assert table.ask(LockWagers()) == "fault_stands"
    assert table.ask(SeeCutCard()) == "fault_stands"
    for name, act in EXITS.items():
        if name not in table.exits:
            stands_by_it = (name, code) == ("clear", "journal_behind_pit")
            assert table.ask(act) == ("pit_stands_by_it" if stands_by_it else "not_an_exit")
    for act in (ClearFault(None), NameCard(Card.parse("9D"), None), VoidRound(None), NewShoe(None)):
        assert table.ask(act) == "no_supervisor"
    assert table.table == stopped


@each("code, enter", EACH)
def test_each_exit_leaves_it(code: str, enter: Callable[[], TableUnderTest]) -> None:
    for exit_ in sorted(enter().exits):
        _this_exit_leaves_it(code, enter, exit_)


def _this_exit_leaves_it(code: str, enter: Callable[[], TableUnderTest], exit_: str) -> None:
    table = enter()
    table.told()
    act = EXITS[exit_]
    table.do(replace(act, left=table.face.cards_left or 0) if isinstance(act, CountCards) else act)
    if exit_ == "card" and not FAULTS[code].card_ends_it:
        assert table.fault == code, "more cards may have been missed"
        assert "fault_cleared" not in table.told_types()
        return
    if code in ("shoe_unheard", "shoe_restarted") and exit_ == "void":
        assert (table.fault, table.exits) == (code, {"count", "new_shoe"}), "the hand is over, not the count"
    elif (code, exit_, table.fault) == ("first_card_in_shoe", "void", "first_card_in_shoe"):
        assert table.exits == {"new_shoe", "clear"}, "the hand is over, and the new shoe's first card still waits"
    else:
        assert table.fault is None
    cleared = [event for event in table.told() if event["type"] == "fault_cleared"]
    if exit_ in ("card", "void") and table.of_type("wagers_locked"):  # a Royal 9 wager may win by the missing card
        assert [event["by"] for event in cleared] in (["Smith"], ["Smith, Jones"])
    else:
        assert [event["by"] for event in cleared] == ["Smith, Jones" if code in BY_TWO else "Smith"]
    assert [(event["code"], event["exit"]) for event in cleared] == [(code, exit_)]


# The pit's word that this journal could not have earned.


def test_two_people_leave_it_once_the_pit_has_taken_its_word_back() -> None:
    table = in_round().believe(BEHIND)
    assert table.ask(ClearFault("Smith", "Jones")) == "pit_stands_by_it"
    table.believe(PitTookBack(3, "2026-01-01T00:00:02.000Z")).draw("5D")
    assert table.ask(ClearFault("Smith")) == "second_person_due"
    assert table.ask(ClearFault("Smith", " smith.")) == "not_two_people"
    table.do(ClearFault("Smith", "Jones"))
    assert (table.fault, table.exits) == (None, set())
    assert table.replayed()[0] == table.table
    assert behind_pit_at(table.table) is None


def test_what_the_pit_took_back_clears_no_later_word_of_it() -> None:
    again = replace(BEHIND, at="2026-01-01T00:00:03.000Z")
    table = in_round().believe(BEHIND, PitTookBack(3, "2026-01-01T00:00:02.000Z"), again)
    assert behind_pit_at(table.table) == again.at, "nothing is sent"
    table.do(ClearFault("Smith", "Jones"))
    assert table.fault == "journal_behind_pit"
    assert table.ask(ClearFault("Smith", "Jones")) == "pit_stands_by_it"


def test_it_is_known_after_a_restart_when_the_pit_said_so() -> None:
    assert behind_pit_at(TableUnderTest().table) is None
    assert behind_pit_at(in_round().believe(BEHIND).table) == BEHIND.at
    assert behind_pit_at(in_round().believe(CommitFailed("SQLITE_FULL"), BEHIND).table) == BEHIND.at
    old = replace(BEHIND, at="")
    assert behind_pit_at(in_round().believe(old).table) == "", "an earlier version did not keep it"
    assert "acked_at" not in in_round().believe(old).of_type("fault")[0]["details"], "and its journal replays"


# A card with no shoe, or in the wrong one.


@pytest.mark.parametrize("stray", ["no_shoe", "ended"])
def test_a_card_before_the_announcement_is_the_announced_shoes_first(stray: str) -> None:
    table = TableUnderTest() if stray == "no_shoe" else ended()
    table.draw("3H 8C KD")  # nobody pressed `new shoe`, and the dealer burns on
    assert table.fault in ("card_without_shoe", "card_after_shoe")
    table.told()
    table.new_shoe_by_supervisor()
    assert table.told_types() == ["fault_cleared", "shoe_opened"]
    assert (table.face.phase, table.face.first_card, table.face.burn_left) == ("burning", "3H", 1)
    assert table.face.cards_left == 413


def test_a_card_that_was_no_shoes_is_taken_back() -> None:
    table = TableUnderTest().draw("3H").clear()
    assert (table.face.phase, table.face.cards_left) == ("no_shoe", None)
    assert table.open_shoe().face.cards_left == 414


def test_a_first_card_inside_a_shoe_may_begin_the_next_one() -> None:
    table = between().to(FIRST_CARD, 0, "3H").to(BURN, 1, "8C")
    table.told()
    table.new_shoe_by_supervisor()
    closed, cleared, opened = table.told()
    assert (closed["type"], closed["reason"], closed["by"]) == ("shoe_closed", "closed_early", "Smith")
    assert cleared["exit"] == "new_shoe"
    assert (opened["type"], opened["shoe"]) == ("shoe_opened", 2)
    assert (table.face.first_card, table.face.burn_left, table.face.cards_left) == ("3H", 2, 414)


def test_after_a_void_hand_it_still_begins_the_next_one() -> None:
    table = in_round().to(FIRST_CARD, 0, "3H").void()
    assert (table.fault, table.face.phase) == ("first_card_in_shoe", "wagers_open")
    table.new_shoe_by_supervisor()
    assert (table.fault, table.face.first_card, table.face.cards_left) == (None, "3H", 415)


def test_a_burned_card_is_never_turned_up_for_the_first_card() -> None:
    table = announced().to(BURN, 1, "7D")
    assert table.fault == "reports_missed"
    assert table.clear().face.burn_left is None
    assert table.fault == "reports_missed", "the first card is still to be named"
    face = table.name("3H").clear().face
    assert (face.fault, face.first_card, face.burn_left) == (None, "3H", 2)


def test_a_void_hand_hides_no_gap() -> None:
    table = in_round().believe(ERROR, ShoeStoodBy(seen(1)), CardDrawn(Card.parse("5D"), report=seen(5)))
    table.void()
    assert (table.fault, table.face.phase) == ("reports_missed", "wagers_open")
    assert table.clear().fault is None


def test_or_it_is_the_next_card_here() -> None:
    table = in_round().to(FIRST_CARD, 0, "5D").clear()
    assert hand(table.face, "player").cards == ("4S", "5D")


# The burn.


def test_a_card_dealt_before_the_burn_is_complete_is_burned() -> None:
    table = burning().to(PLAYER, 1, "2C")
    assert table.details == {"shoe_says": "player", "rules_say": "burn"}
    table.clear()
    assert (table.face.burn_left, table.face.cards_left) == (2, 414)


def test_a_card_kept_inside_the_burn_is_burned() -> None:
    table = burning().believe(CardKept(Card.parse("2C"), PLAYER, 1))
    assert table.fault == "burn_short"
    assert table.clear().face.burn_left == 2


@pytest.mark.parametrize("where", [between, in_round])
def test_a_burned_card_after_the_burn_is_one_more_and_in_no_hand(where: Callable[[], TableUnderTest]) -> None:
    before, table = where().face, where().to(BURN, 2, "2C")
    assert table.face.cards_left == (before.cards_left or 0) - 1, "it has left the shoe, whatever it is"
    table.clear()
    assert (table.face.phase, table.face.hands) == (before.phase, before.hands)
    assert table.face.cards_left == (before.cards_left or 0) - 1
    assert table.face.next_hand == before.next_hand


def test_where_the_first_card_locks_a_burned_card_does_not() -> None:
    table = TableUnderTest(house(lock_on="first_card")).open_shoe().to(BURN, 2, "2C").clear()
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", 413)


def test_where_the_first_card_locks_a_new_shoes_first_card_does_not() -> None:
    table = TableUnderTest(house(lock_on="first_card")).open_shoe().to(FIRST_CARD, 0, "3H")
    assert (table.face.phase, table.exits) == ("wagers_open", {"new_shoe", "clear"})
    table.clear()
    assert (table.face.simulated, table.face.next_hand) == (False, "banker"), "cleared, it is the hand's first"


@pytest.mark.parametrize("card", ["4S", "??"])
def test_where_the_first_card_locks_so_does_one_that_waited(card: str) -> None:
    table = TableUnderTest(house(lock_on="first_card"), wagers={2}).open_shoe().believe(ERROR).draw(card).clear()
    (locked,) = table.of_type("wagers_locked")
    assert (locked["by"], locked["progressive"][0]["seats"]) == ("first_card", [2])
    assert table.fault == (None if card == "4S" else "unreadable_card")


def test_where_the_first_card_locks_a_missed_one_does() -> None:
    table = after_gap(TableUnderTest(house(lock_on="first_card")).open_shoe())
    assert table.face.phase == "wagers_locked", "the card that came is a hand's"
    failed = StepFailed("ValueError in CardDrawn")
    table = TableUnderTest(house(lock_on="first_card")).open_shoe().believe(failed).name("4S")
    assert (table.face.phase, table.face.next_hand, table.fault) == ("round_in_play", None, "internal")


def test_the_first_cards_worth_is_what_counts() -> None:
    table = burning().believe(BurnCountReported(4))
    assert table.details == {"shoe_says": 4, "first_card_is_worth": 3}
    assert table.clear().draw("2C 2C 2C").face.phase == "wagers_open"


def test_an_unreadable_burned_card_may_stay_unnamed_and_is_burned() -> None:
    table = burning().draw("2C ?? 2C")
    assert table.fault == "unreadable_card"
    table.clear()
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", 412)


# Cards that a person names.


def test_a_named_card_goes_where_it_lay_and_what_waited_follows() -> None:
    table = in_round().believe(CardDrawn(None, PLAYER, 2)).to(BANKER, 2, "9C")
    assert table.face.fault is not None
    assert (table.face.fault.held_cards, table.face.cards_left) == (2, 410)
    table.told()
    table.name("5D")
    cleared, round_ = table.told()
    assert (cleared["type"], cleared["exit"]) == ("fault_cleared", "card")
    assert (round_["player"]["cards"], round_["banker"]["cards"]) == (["4S", "5D"], ["TH", "9C"])
    assert round_["cards_left"] == 410


@pytest.mark.parametrize("lock_on", ["deal", "first_card"])
def test_a_named_card_that_was_kept_is_drawn_in_error(lock_on: LockOn) -> None:
    table = TableUnderTest(house(lock_on=lock_on)).open_shoe().believe(CardKept(None, PLAYER, 1)).name("4S")
    assert (table.face.simulated, hand(table.face, "player").cards) == (True, ("4S",))


def test_a_card_drawn_outside_the_game_is_named_and_is_the_next_card() -> None:
    table = in_round().believe(CardDrawnOutsideGame("lock"))
    assert table.details == {"shoe_mode": "lock"}
    table.name("5D")
    assert (hand(table.face, "player").cards, table.face.cards_left) == (("4S", "5D"), 411)


def test_between_hands_it_begins_a_simulated_one_and_in_the_burn_it_is_burned() -> None:
    table = between().believe(CardDrawnOutsideGame("error")).name("5D")
    assert (table.face.phase, table.face.simulated) == ("round_in_play", True)
    table = burning().believe(CardDrawnOutsideGame("error")).name("5D")
    assert (table.face.phase, table.face.burn_left) == ("burning", 2)


def test_after_the_shoe_it_waits_to_be_named_as_the_next_ones_first() -> None:
    table = ended().believe(CardDrawnOutsideGame("lock")).new_shoe_by_supervisor()
    assert table.fault == "card_outside_game"
    assert table.name("5D").face.first_card == "5D"


# Void with cards waiting.


@pytest.mark.parametrize(
    ("waits", "gone"),
    [
        ([CardDrawn(None)], 1),
        ([CardDrawn(Card.parse("5D"), BANKER, 2), CardDrawn(Card.parse("9C"), PLAYER, 2)], 2),
        ([CardDrawnOutsideGame("lock"), CardKept(Card.parse("9C"))], 2),
        ([ERROR, CardDrawn(Card.parse("9C")), CardDrawn(None)], 2),
    ],
)
def test_void_ends_the_hand_and_the_cards_that_waited_are_dead(waits: list[Fact], gone: int) -> None:
    table = in_round().believe(*waits)
    code = table.fault
    table.told()
    table.void()
    void, cleared = table.told()
    assert (void["type"], void["by"], void["reason"], void["round"]) == ("void", "Smith", code, 1)
    assert (void["simulated"], void["progressive"][0]["seats"]) == (False, [2, 5])
    assert (cleared["code"], cleared["exit"], cleared["round"]) == (code, "void", 1)
    assert (table.face.phase, table.face.cards_left, table.face.hands) == ("wagers_open", 412 - gone, ())


def test_what_else_waited_is_believed_after_the_void() -> None:
    table = in_round().believe(ERROR).draw("5D CUT").void()
    assert table.face.final_round, "the cut card came inside the hand that is void: one more"
    table.lock().draw("4S TH 5D 9C")
    assert table.face.phase == "shoe_ended"
    table = in_round().believe(ERROR, ShoePoweredUp()).void()
    assert table.fault == "shoe_restarted"


def test_more_cards_than_the_shoe_holds_leave_none() -> None:
    table = TableUnderTest(ONE_DECK).do(NewShoe()).draw(ALL_BUT_SIX).lock(3).draw("TD TC").believe(ERROR)
    table.draw("5D 4D 5C 4C ?? ??")
    assert table.face.cards_left == 0
    table.void()
    (closed,) = table.of_type("shoe_closed")
    assert (closed["reason"], closed["cards_left"]) == ("too_few_cards", 0)


# A choice, and wagers seen in two ways.


def test_a_card_before_the_choice_was_called_is_dealt_to_the_seat_that_asked_for_it() -> None:
    table = choosing().draw("5D")
    assert table.details == {"seat": 2}
    assert hand(table.face, "player").cards == ("--", "--"), "it is dealt to nobody yet"
    table.clear()
    assert (table.fault, hand(table.face, "player").cards) == (None, ("--", "--", "5D"))
    assert (table.face.reveal, table.face.cards_left) == (("banker",), 409)


def test_where_the_rules_give_the_seat_no_card_it_is_burned() -> None:
    table = seated().draw("2S 3H 2D 5C 5D")  # Player stands on 7
    assert (table.fault, table.face.cards_left) == ("choice_due", 409)
    table.clear()
    assert (table.fault, hand(table.face, "player").cards, table.face.cards_left) == (None, ("--", "--"), 409)
    assert table.face.choice is not None, "the call is still to be made"


def test_royal9_wagers_seen_in_two_ways_lock_nothing_until_they_agree() -> None:
    table = differing()
    assert (table.details, table.face.phase) == ({"spot": "royal9", "seats": "3, 4"}, "wagers_open")
    assert table.of_type("wagers_locked") == []
    table.clear()
    table.wagers = {1, 3}
    table.do(PlaceWager(Wager(1, "player", 1500), "recognition"))
    table.do(PlaceWager(Wager(3, "player", 1500), "recognition"), LockWagers())
    assert (table.fault, table.face.progressive[0].seats, table.face.progressive[0].refused_seats) == (None, (1, 3), ())


# Two referees.


def test_the_shoes_opinion_is_shown_beside_ours_and_clear_deals_by_the_rules() -> None:
    table = in_round().to(BANKER, 2, "5D")
    assert table.details == {"shoe_says": "banker card 2", "rules_say": "player card 2"}
    table.clear()
    assert hand(table.face, "player").cards == ("4S", "5D")


def test_clear_deals_a_card_by_the_rules_only_once_it_is_known() -> None:
    table = in_round().believe(CardDrawn(None, BANKER, 2)).clear()
    assert table.fault == "unreadable_card"
    assert table.name("5D").face.next_hand == "banker"


def test_a_hand_forced_to_its_end_is_void_or_dealt_on() -> None:
    table = in_round().believe(FORCE_QUIT).void()
    assert table.face.phase == "wagers_open"
    table = in_round().believe(FORCE_QUIT).clear().draw("5D 9C")
    assert table.face.outcome == "tie"


def test_a_result_that_differs_leaves_the_result_by_the_rules() -> None:
    table = between().lock().draw("4S TH 5D 9C").believe(PLAYER_WON)
    assert table.details == {"shoe_says": "player", "rules_say": "tie"}
    table.clear()
    assert (table.face.outcome, table.face.phase) == ("tie", "wagers_open")
    assert [round_["outcome"] for round_ in table.of_type("round")] == ["tie"]


# Reports missed: the felt shows what the shoe did not tell.


def test_missed_cards_are_named_in_their_order_and_then_what_came_is_believed() -> None:
    table = in_round().believe(ShoeStoodBy(seen(1)))
    table.believe(CardDrawn(Card.parse("2C"), PLAYER, 3, seen(4)))  # Player's 5♦ and Banker's A♣ were missed
    assert table.fault == "reports_missed"
    table.name("3D").name("AC")
    assert (table.fault, table.face.next_hand) == ("reports_missed", None)
    table.clear()
    assert (hand(table.face, "player").cards, hand(table.face, "banker").cards) == (("4S", "3D"), ("TH", "AC"))


def test_a_missed_card_that_ends_a_hand_settles_it_while_the_fault_stands() -> None:
    table = in_round().draw("5D").believe(ShoeStoodBy(seen(1)), ShoeStoodBy(seen(3)))
    table.told()
    table.name("9C")
    assert (table.told_types(), table.fault, table.exits) == (
        ["round"],
        "reports_missed",
        {"card", "clear", "new_shoe"},
    )
    assert table.clear().face.phase == "wagers_open"


def test_a_missed_card_after_the_final_round_is_a_fault_of_its_own_and_the_first_is_kept() -> None:
    table = between().lock().draw("CUT 4S TH 5D").believe(ShoeStoodBy(seen(1)), tie_seen(3))
    table.name("9C")
    assert (table.face.phase, table.fault) == ("shoe_ended", "reports_missed")
    table.told()
    assert table.name("KS").fault == "card_after_shoe"
    assert table.told_types() == ["fault_cleared", "fault card_after_shoe"], "one fault stands at a time"
    assert table.clear().fault is None
    assert table.table.awaiting_result is None, "the report that came after the gap was believed"


def tie_seen(seq: int) -> Fact:
    return ShoeResultReported(ShoeResult.TIE, player_pair=False, banker_pair=False, report=seen(seq))


@pytest.mark.parametrize("came", [ShoePoweredUp(), ShoeUnplugged(), StepFailed("ValueError in CardDrawn")])
def test_cards_missed_while_the_shoe_was_away_are_named(came: Fact) -> None:
    table = in_round().believe(came).name("5D").name("9C")
    assert (table.face.outcome, table.face.phase) == ("tie", "wagers_open")
    table.do(CountCards(table.face.cards_left or 0, "Smith") if "count" in table.exits else ClearFault("Smith"))
    assert table.fault is None


def test_a_missed_card_that_cannot_be_is_refused() -> None:
    table = TableUnderTest(ONE_DECK).open_shoe("AS 2D").lock().draw("KS").believe(ShoeUnplugged())
    assert table.ask(NameCard(Card.parse("KS"), "Smith")) == "card_cannot_be"
    assert table.ask(NameCard(Card.parse("KH"), "Smith")) is None


# One fault behind another.


def test_what_waited_is_believed_in_order_until_the_next_fault_and_the_rest_waits_on() -> None:
    table = in_round().believe(ERROR).draw("5D ?? CUT").believe(CommitFailed("SQLITE_FULL"))
    table.told()
    table.clear()
    assert table.told_types() == ["fault_cleared", "fault unreadable_card"]
    assert [type(held.fact) for held in table.table.held] == [CutCardDrawn, CommitFailed]
    table.name("9C")
    assert table.told_types() == ["fault_cleared", "round", "alarm", "fault journal_failed"]
    assert table.face.final_round
    assert (table.clear().fault, table.table.held) == (None, Waiting())


def test_the_cards_that_waited_are_dealt_in_the_order_they_came() -> None:
    table = between().lock(2).believe(ERROR).draw("KH 2S 9H 3D").clear()
    (hit,) = table.of_type("hit")
    assert (hit["seat"], hit["player"]["cards"], hit["banker"]["cards"]) == (2, ["KH", "9H"], ["2S", "3D"])


def test_a_new_shoes_first_card_is_not_lost_with_the_old_shoes_cards() -> None:
    table = between().believe(ShoeStoodBy(seen(1)), CardDrawn(Card.parse("5D"), report=seen(3)))
    table.to(FIRST_CARD, 0, "3H", 4).to(BURN, 1, "8C", 5)
    assert table.fault == "reports_missed"
    assert table.new_shoe_by_supervisor().fault is None
    assert (table.face.first_card, table.face.burn_left, table.face.cards_left) == ("3H", 2, 414)


@pytest.mark.parametrize("came", [ERROR, CommitFailed("SQLITE_FULL"), ReplayDiffered(7), StepFailed("ValueError")])
def test_with_no_shoe_to_end_a_fault_is_cleared_before_the_next_is_announced(came: Fact) -> None:
    """If a fault stands while no shoe is open, people must clear the fault before they announce a new shoe. A card that
    waits because of the fault is perhaps the new shoe's first card, so it must not be thrown away."""
    for table in (TableUnderTest(), ended()):
        table.believe(came).draw("3H")
        assert table.exits == ({"card", "clear"} if isinstance(came, StepFailed) else {"clear"})
        assert table.clear().exits == {"clear", "new_shoe"}
        assert table.new_shoe_by_supervisor().face.first_card == "3H"


def test_a_new_shoe_leaves_the_old_shoes_cards_but_not_what_the_controller_noticed() -> None:
    table = between().believe(ERROR).draw("5D").believe(JournalFoundBehindPit(9, 4, chain_differs=True))
    table.told()
    table.new_shoe_by_supervisor()
    assert table.told_types() == ["shoe_closed", "fault_cleared", "shoe_opened", "fault journal_behind_pit"]
    assert (table.face.phase, table.face.cards_left) == ("first_card_due", 416)
    assert table.exits == set(), "the audit has this table now"


def test_a_shoe_out_of_hearing_twice_needs_one_look() -> None:
    table = in_round().believe(ShoeUnplugged(), ShoeUnplugged()).clear()
    assert table.fault is None
    table = in_round().believe(ShoeUnplugged()).draw("5D").believe(ShoeUnplugged()).clear()
    assert table.fault == "shoe_unplugged", "but a card came in between"


# What the controller notices of itself, and alarms.


@pytest.mark.parametrize(
    ("fact", "details"),
    [
        (JournalFoundBehindPit(9, 4, chain_differs=True), {"acked_seq": 9, "head_seq": 4, "chain": "differs"}),
        (JournalFoundBehindPit(9, 4, chain_differs=False), {"acked_seq": 9, "head_seq": 4, "chain": "unknown"}),
        (CommitFailed("SQLITE_FULL"), {"error": "SQLITE_FULL"}),
        (JournalGone("table.journal-wal", "removed"), {"file": "table.journal-wal", "found": "removed"}),
        (
            JournalGone("table.journal", "replaced", "table.journal.set-aside-1"),
            {"file": "table.journal", "found": "replaced", "kept_as": "table.journal.set-aside-1"},
        ),
        (JournalAltered(3), {"event": 3}),
        (OutboxFull(9, 9), {"waiting": 9, "most": 9}),
        (ReplayDiffered(7), {"journal_row": 7}),
        (StepFailed("ValueError in CardDrawn"), {"error": "ValueError in CardDrawn"}),
    ],
)
def test_the_controllers_own_faults_tell_what_was_found(fact: Fact, details: dict[str, object]) -> None:
    (event,) = TableUnderTest().believe(fact).told()
    assert event["details"] == details


@pytest.mark.parametrize(
    ("fact", "code", "details"),
    [
        (PublishRefused(3, 0x87), "publish_refused", {"seq": 3, "reason_code": 0x87}),
        (HitUnheard(4), "hit_unheard", {"seq": 4}),
        (OutboxFilling(8, 10), "unacknowledged_many", {"waiting": 8, "most": 10}),
        (JournalLarge(300, 200), "journal_large", {"bytes": 300, "most_bytes": 200}),
        (ArchiveFailed("SQLITE_FULL"), "archive_failed", {"error": "SQLITE_FULL"}),
        (PitKeyDiffers("ab12 cd34", "ef56 ab78"), "pit_key_differs", {"offered": "ab12 cd34", "pinned": "ef56 ab78"}),
        (PitWordForged("ack"), "pit_word_forged", {"topic": "ack"}),
        (RecognitionKeyDue(), "recognition_key_due", {}),
        (WagerWordForged("unsigned"), "wager_word_forged", {"why": "unsigned"}),
        (WagerWordUnfit("leaps"), "wager_word_unfit", {"why": "leaps"}),
    ],
)
def test_an_alarm_does_not_stop_the_table(fact: Fact, code: str, details: dict[str, object]) -> None:
    table = in_round()
    before = table.table
    table.told()
    (alarm,) = table.believe(fact).told()
    assert (alarm["type"], alarm["code"], alarm["details"], alarm["round"]) == ("alarm", code, details, 1)
    assert table.table == before


def test_what_runs_is_kept_and_each_change_of_it_is_an_alarm() -> None:
    """The table records the digests of the running program and configuration, and raises an alarm when one changes. The
    first record in a journal raises no alarm. The record outlives the opening of a shoe, because a replay may begin at
    that event."""
    table = in_round()
    table.told()
    assert table.believe(ProgramMeasured("1", "aa", "bb")).told() == []
    table.do(VoidRound("Smith")).do(NewShoe("Smith"))
    assert table.table.measured == ProgramMeasured("1", "aa", "bb")
    table.told()
    (program,) = table.believe(ProgramMeasured("2", "cc", "bb")).told()
    details = {"version_before": "1", "version": "2", "before": "aa", "now": "cc"}
    assert (program["type"], program["code"], program["details"]) == ("alarm", "program_changed", details)
    (same_version,) = table.believe(ProgramMeasured("2", "dd", "bb")).told()
    assert same_version["code"] == "program_changed"
    (configuration,) = table.believe(ProgramMeasured("2", "dd", "ee")).told()
    assert (configuration["code"], configuration["details"]) == ("configuration_changed", {"before": "bb", "now": "ee"})
    both = table.believe(ProgramMeasured("1", "aa", "bb")).told()
    assert [event["code"] for event in both] == ["program_changed", "configuration_changed"]


def test_a_program_that_the_house_has_not_approved_is_told_once() -> None:
    table = in_round()
    table.told()
    (first,) = table.believe(ProgramMeasured("1", "aa", "bb", approved=False)).told()
    assert (first["type"], first["code"], first["details"]) == ("alarm", "program_not_approved", {"now": "aa"})
    again = table.believe(ProgramMeasured("1", "aa", "cc", approved=False)).told()
    assert [event["code"] for event in again] == ["configuration_changed"]
    approved = table.believe(ProgramMeasured("2", "dd", "cc", approved=True)).told()
    assert [event["code"] for event in approved] == ["program_changed"]
    third = table.believe(ProgramMeasured("3", "ee", "cc", approved=False)).told()
    assert [event["code"] for event in third] == ["program_changed", "program_not_approved"]
