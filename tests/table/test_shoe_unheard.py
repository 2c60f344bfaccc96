"""Checks of a shoe that sent nothing for so long that the sequence digits of its reports cannot show how many were
lost. The table goes on only after a person has counted the cards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.game.cards import Card
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import (
    CardDrawn,
    CommitFailed,
    CutCardDrawn,
    Fact,
    Report,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnheard,
    ShoeUnplugged,
    Target,
)
from controller.table.states import Held, Waiting
from tests.support.samples import examples
from tests.support.tables import MIDI, TableUnderTest, hand, house, seen

ABSENT = ShoeUnheard(15_000)
SMALL = house(decks=1, cut_card_from_end=14)

PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).draw("3H"),
    "wagers_open": lambda: TableUnderTest().open_shoe(),
    "wagers_locked": lambda: TableUnderTest().open_shoe().lock(1, 2, 3),
    "round_in_play": lambda: TableUnderTest().open_shoe().lock(1, 2, 3).draw("KH"),
}


def count(table: TableUnderTest, left: int) -> str | None:
    return table.ask(CountCards(left, "Smith"))


def left(table: TableUnderTest) -> int:
    cards = table.face.cards_left
    assert cards is not None
    return cards


def drawn(card: str, seq: int, frame: str, target: Target | None = None, index: int | None = None) -> CardDrawn:
    return CardDrawn(Card.parse(card), target, index, Report(seq, frame))


# The stop.


@pytest.mark.parametrize("phase", PHASES)
def test_with_a_shoe_open_the_table_stops_in_every_phase(phase: str) -> None:
    table = PHASES[phase]()
    table.told()
    table.believe(ABSENT)
    assert table.told_types() == ["fault shoe_unheard"]
    card = {"card"} if phase in ("first_card_due", "wagers_locked", "round_in_play") else set()
    leaves = "void" if phase in ("wagers_locked", "round_in_play") else "new_shoe"
    assert table.exits == {"count", leaves} | card
    assert table.ask(LockWagers()) == "fault_stands"
    assert table.ask(ClearFault("Smith")) == "not_an_exit"


def test_it_tells_for_how_long_what_is_left_and_the_last_result() -> None:
    table = TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").believe(ShoeUnheard(15_001))
    fault = table.face.fault
    assert fault is not None
    assert fault.details == {"unheard_s": 16, "cards_left": 410, "last_round": 1, "last_result": "tie"}
    table = TableUnderTest().open_shoe().believe(ShoeUnheard(None, "2026-11-22T01:02:03.004Z"))
    fault = table.face.fault
    assert fault is not None
    assert fault.details == {"last_heard_at": "2026-11-22T01:02:03.004Z", "cards_left": 414}


def test_the_attack_a_hand_dealt_unheard_after_the_lock_is_void_and_the_next_is_not_the_locked_one() -> None:
    table = TableUnderTest().open_shoe().lock(1, 2, 3)
    table.believe(ABSENT)  # two hands of four cards went unheard
    table.draw("KS 9H 9S 8D")  # and a third is dealt
    assert table.of_type("round") == []
    assert count(table, 414 - 12) == "cards_missed"
    assert table.ask(VoidRound("Smith")) == "second_person_due", "an award may lie on the felt, unheard"
    assert table.ask(VoidRound("Smith", "Jones")) is None
    (void,) = table.of_type("void")
    assert (void["progressive"][0]["seats"], void["reason"]) == ([1, 2, 3], "shoe_unheard")
    assert table.fault == "shoe_unheard", "no way past the count"
    assert count(table, 414 - 12) is None
    assert table.face.fault is None
    assert (left(table), table.face.phase) == (402, "wagers_open")
    assert table.of_type("hit") == []
    assert table.of_type("fault_cleared")[-1]["cards_unheard"] == 8


# The count.


@pytest.mark.parametrize("phase", PHASES)
def test_the_count_the_table_has_lets_it_go_on_where_it_was(phase: str) -> None:
    table, before = PHASES[phase](), PHASES[phase]().face
    table.believe(ABSENT)
    assert count(table, left(table)) is None
    assert table.face == before
    cleared = table.of_type("fault_cleared")[-1]
    assert (cleared["exit"], cleared["by"], cleared["cards_unheard"]) == ("count", "Smith", 0)


@pytest.mark.parametrize("phase", PHASES)
def test_more_cards_than_can_be_are_refused(phase: str) -> None:
    table = PHASES[phase]().believe(ABSENT)
    assert count(table, left(table) + 1) == "count_too_high"
    assert table.fault == "shoe_unheard"


@pytest.mark.parametrize(
    ("phase", "refusal"),
    [("first_card_due", "first_card_missed"), ("wagers_locked", "cards_missed"), ("round_in_play", "cards_missed")],
)
def test_where_the_missed_card_must_be_known_fewer_are_refused(phase: str, refusal: str) -> None:
    table = PHASES[phase]().believe(ABSENT)
    assert count(table, left(table) - 1) == refusal
    assert table.fault == "shoe_unheard"


def test_what_came_is_held_and_believed_once_it_is_counted() -> None:
    table = PHASES["wagers_locked"]().believe(ABSENT).draw("KS 2D")
    assert (table.details["cards_left"], left(table)) == (412, 412), "what the count is held against"
    assert count(table, 413) == "count_too_high"
    assert count(table, 412) is None
    assert (hand(table.face, "player").cards, hand(table.face, "banker").cards) == (("KS",), ("2D",))


def test_between_hands_the_cards_that_went_unheard_are_gone_and_in_no_hand() -> None:
    table = TableUnderTest().open_shoe().lock(1).draw("4S TH 5D 9C").believe(ABSENT)
    assert count(table, 410 - 9) is None
    assert (left(table), table.face.phase, table.face.outcome) == (401, "wagers_open", None)
    table.believe(ShoeResultReported(ShoeResult.BANKER, player_pair=False, banker_pair=False))
    assert table.fault is None, "the shoe may tell of a hand that is none of ours"
    assert table.lock().draw("KS 2D 9S 3D").of_type("round")[-1]["cards_left"] == 397


def test_in_the_burn_they_were_burned_and_no_more_than_were_to_be() -> None:
    table = PHASES["burning"]().believe(ABSENT)
    assert count(table, left(table) - 4) == "burn_missed"
    assert count(table, left(table) - 2) is None
    assert (table.face.burn_left, table.face.burned, table.face.phase, left(table)) == (1, 3, "burning", 413)
    table = PHASES["burning"]().believe(ABSENT)
    assert count(table, left(table) - 3) is None
    assert (table.face.phase, left(table)) == ("wagers_open", 412)


def test_in_a_hand_each_missed_card_is_named_and_then_counted() -> None:
    table = PHASES["round_in_play"]().believe(ABSENT).name("KS")
    assert table.fault == "shoe_unheard"
    assert count(table, 413) == "count_too_high"
    table.name("9H")
    assert count(table, 411) is None
    assert hand(table.face, "player").cards == ("KH", "9H")


def test_below_the_cut_cards_place_and_nobody_saw_that_the_shoe_must_end() -> None:
    def between() -> TableUnderTest:
        return TableUnderTest(SMALL).open_shoe("AS 2D").believe(ABSENT)

    assert count(between(), 13) == "cut_card_missed"
    assert count(between(), 14) is None
    seen_it = TableUnderTest(SMALL).open_shoe("AS 2D").draw("CUT").believe(ABSENT)
    assert count(seen_it, 13) is None
    assert seen_it.face.final_round


def test_too_few_cards_for_a_hand_end_the_shoe() -> None:
    table = TableUnderTest(SMALL).open_shoe("AS 2D").draw("CUT").believe(ABSENT)
    assert count(table, 5) is None
    assert (table.face.phase, table.of_type("shoe_closed")[-1]["reason"]) == ("shoe_ended", "too_few_cards")


def test_where_the_first_card_locks_the_hand_is_void_when_cards_went_unheard() -> None:
    rules = house(lock_on="first_card")
    table = TableUnderTest(rules).open_shoe().believe(ABSENT).draw("KS")
    assert count(table, 413 - 4) == "cards_missed", "nobody knows which card of which hand it is"
    assert (count(table.void(), 413 - 4), table.fault, left(table)) == (None, None, 409)
    table = TableUnderTest(rules).open_shoe().believe(ABSENT).draw("KS")
    assert count(table, 413) is None
    assert (table.face.phase, table.face.simulated) == ("round_in_play", False)


def test_a_face_down_hand_counts_what_waits_for_its_reveal() -> None:
    table = TableUnderTest(MIDI).open_shoe().lock().draw("4S TH 5D 2C 7D").believe(ABSENT)
    assert left(table) == 409
    assert count(table, 409) is None


# No other way.


def test_a_void_does_not_go_past_the_count_nor_does_a_restart() -> None:
    table = PHASES["round_in_play"]().believe(ABSENT).void()
    assert (table.fault, table.face.phase, table.exits) == ("shoe_unheard", "wagers_open", {"count", "new_shoe"})
    assert table.replayed() == (table.table, None)
    assert count(table, left(table) - 3) is None
    assert table.replayed() == (table.table, None)


def test_the_end_of_the_shoe_is_the_other_way() -> None:
    table = PHASES["wagers_open"]().believe(ABSENT).draw("KS").new_shoe_by_supervisor()
    assert (table.fault, table.face.phase, left(table)) == (None, "first_card_due", 416)


def test_behind_another_fault_it_waits_its_turn() -> None:
    table = PHASES["round_in_play"]().believe(ShoeUnplugged(), ABSENT).draw("KS")
    assert table.fault == "shoe_unplugged"
    assert table.clear().fault == "shoe_unheard"
    assert count(table, left(table)) is None
    assert hand(table.face, "banker").cards == ("KS",)
    table = PHASES["round_in_play"]().believe(ShoeUnplugged(), ABSENT).void()
    assert table.fault == "shoe_unheard"


def test_unheard_again_one_count_answers_for_all_before_it() -> None:
    table = PHASES["round_in_play"]().believe(ABSENT, ShoeUnplugged(), ABSENT).draw("KS")
    table.believe(ShoeUnplugged(), ABSENT, CommitFailed("disk full"))
    assert count(table, left(table)) is None
    assert table.fault == "journal_failed"
    assert table.clear().fault is None


# Numbers.


def test_a_number_proves_nothing_across_it_and_everything_after() -> None:
    table = TableUnderTest().open_shoe().believe(ShoeStoodBy(seen(7)), ABSENT, ShoeStoodBy(seen(3)))
    assert count(table, left(table)) is None
    assert table.fault is None
    assert table.believe(ShoeStoodBy(seen(5))).fault == "reports_missed"


def test_a_late_copy_of_the_last_report_is_no_card() -> None:
    table = PHASES["wagers_open"]().lock().believe(drawn("KS", 4, "aa"), ABSENT, drawn("KS", 4, "aa"))
    assert left(table) == 412
    assert count(table, 414) == "count_too_high"
    assert count(table, 412) == "card_in_doubt", "it may be a copy, and another card have come"
    assert count(table, 413) is None
    assert (hand(table.face, "player").cards, hand(table.face, "banker").cards) == (("KS",), ())
    assert table.believe(drawn("2D", 5, "bb")).fault is None


def test_a_new_card_like_the_last_report_is_not_swallowed() -> None:
    table = PHASES["wagers_open"]().lock().believe(drawn("KS", 4, "aa"), ABSENT, drawn("KS", 4, "aa"))
    assert table.ask(VoidRound("Smith")) is None
    assert left(table) == 412, "it is gone with the hand"
    assert count(table, 412) is None


def test_a_late_copy_that_comes_after_the_count_needs_a_word() -> None:
    table = PHASES["wagers_open"]().lock().believe(drawn("KS", 4, "aa"), ABSENT)
    assert count(table, 413) is None
    assert table.believe(drawn("KS", 4, "aa")).fault == "reports_missed"
    assert left(table) == 412


def test_cards_without_numbers_are_never_in_doubt() -> None:
    card = CardDrawn(Card.parse("KS"), report=Report(None, "2a"))
    table = PHASES["wagers_locked"]().believe(card, ABSENT, card)
    assert count(table, 412) is None
    assert hand(table.face, "banker").cards == ("KS",)


# Whatever comes.

FACTS: st.SearchStrategy[Fact | Request] = st.one_of(
    st.sampled_from([ABSENT, ShoeUnheard(None), ShoeUnplugged(), CutCardDrawn("shoe"), CommitFailed("disk full")]),
    st.builds(
        lambda rank, suit, seq: CardDrawn(Card.parse(rank + suit), report=seen(seq)),
        st.sampled_from("A23456789TJQK"),
        st.sampled_from("SHDC"),
        st.integers(0, 9),
    ),
    st.sampled_from([ClearFault("Smith"), VoidRound("Smith"), LockWagers(), NameCard(Card.parse("2C"), "Smith")]),
    st.builds(CountCards, st.integers(-5, 1), st.just("Smith")),  # so many more than the table knows of
)


@examples(100)
@given(st.lists(FACTS, max_size=40))
def test_after_a_count_exactly_so_many_are_left_and_nothing_else_leaves_it_with_the_shoe_open(
    happened: list[Fact | Request],
) -> None:
    table = TableUnderTest().open_shoe()
    for it in happened:
        stood = table.fault == "shoe_unheard"
        if isinstance(it, CountCards):
            it = CountCards(left(table) + it.left, "Smith")
        if not isinstance(it, Request):
            table.believe(it)
        elif isinstance(it, CountCards) and table.fault is None:
            before = left(table)
            if table.ask(it) is None:  # nobody asked for it: fewer cards are gone, and more are only told
                assert left(table) == min(before, it.left)
        elif table.ask(it) is None and isinstance(it, CountCards):
            assert left(table) == it.left
        elif stood and table.fault != "shoe_unheard":
            assert isinstance(it, NameCard | VoidRound)
            waits_its_turn = any(isinstance(held.fact, ShoeUnheard) for held in table.table.held)
            assert waits_its_turn or table.face.phase == "shoe_ended", "a void hand may be the shoe's last"
    assert table.replayed() == (table.table, None)


# What is held.


@given(st.lists(st.integers(0, 3), max_size=30))
def test_what_is_held_never_changes_whatever_is_added_to_what_was_made_from_it(places: list[int]) -> None:
    made: list[Waiting] = [Waiting()]
    expected: list[tuple[Held, ...]] = [()]
    for number, place in enumerate(places):
        at = place % len(made)
        one = Held(CommitFailed(str(number)))
        made.append(made[at].then(one))
        expected.append((*expected[at], one))
        assert [tuple(each) for each in made] == expected
    for each, held in zip(made, expected, strict=True):
        assert (len(each), bool(each), each[-1:], each) == (len(held), bool(held), list(held[-1:]), Waiting(held))


def test_what_is_held_costs_the_same_however_much_is() -> None:
    waiting = Waiting()
    for number in range(1000):
        more = waiting.then(Held(CommitFailed(str(number))))
        assert not number or more._shared is waiting._shared, "nothing is copied"
        waiting = more
