"""Checks of the sequence digit in a shoe's reports. It counts from 0 to 9 and then goes on with 0 or 1. If a digit is
left out, a report was lost."""

from __future__ import annotations

import pytest

from controller.rules.game.cards import Card
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import CountCards
from controller.table.facts import CardDrawn, ShoeLockReported, ShoePoweredUp, ShoeStoodBy, Target
from tests.support.tables import TableUnderTest, hand, house, seen

FIRST_CARD, BURN = Target.FIRST_CARD, Target.BURN


def in_round(last_seq: int | None = None) -> TableUnderTest:
    table = TableUnderTest().open_shoe().lock()
    return table if last_seq is None else table.believe(ShoeStoodBy(seen(last_seq)))


def test_a_digit_that_does_not_follow_means_reports_were_missed() -> None:
    for last in range(10):
        for now in range(10):
            _a_digit_after(last, now)


def _a_digit_after(last: int, now: int) -> None:
    follows = now == last + 1 or (last == 9 and now in (0, 1))
    table = in_round(last).believe(ShoeLockReported(locked=False, report=seen(now)))
    assert table.fault == (None if follows else "reports_missed")


def test_the_first_report_of_all_follows_anything() -> None:
    assert in_round().believe(ShoeStoodBy(seen(7))).fault is None


def test_a_shoe_that_numbers_nothing_has_no_gaps() -> None:
    table = in_round(3).believe(ShoeStoodBy(seen(None)), ShoeStoodBy(seen(7)), ShoeStoodBy(seen(8)))
    assert table.fault is None


@pytest.mark.parametrize("after_nine", [0, 1])
def test_a_shoe_dealt_over_its_wrap_misses_nothing(after_nine: int) -> None:
    table, seq = TableUnderTest().do(NewShoe()), after_nine
    table.to(FIRST_CARD, 0, "2H", seq).to(BURN, 1, "3C", seq + 1).to(BURN, 2, "3C", seq + 2)
    seq += 2
    for _ in range(6):
        table.lock()
        for target, index, card in (
            (Target.PLAYER, 1, "2S"),
            (Target.BANKER, 1, "TH"),
            (Target.PLAYER, 2, "3D"),
            (Target.BANKER, 2, "2C"),
            (Target.PLAYER, 3, "9D"),
            (Target.BANKER, 3, "2H"),
        ):
            seq = after_nine if seq == 9 else seq + 1
            table.to(target, index, card, seq)
    assert (table.fault, len(table.of_type("round"))) == (None, 6)


def counting(*seqs: int) -> list[ShoeStoodBy]:
    return [ShoeStoodBy(seen(seq)) for seq in seqs]


def test_a_shoe_that_went_on_with_0_does_so_again() -> None:
    """If a shoe has once gone on from 9 to 0, a later step from 9 to 1 raises a fault. Otherwise nobody would notice
    that the report with the digit 0 was lost."""
    table = TableUnderTest().believe(*counting(9, 0, 1, 2, 3, 4, 5)).open_shoe().believe(*counting(6, 7, 8, 9, 1))
    assert table.fault == "reports_missed"


def test_a_shoe_that_only_began_with_0_or_was_switched_on_since_may_go_on_with_1() -> None:
    table = TableUnderTest().believe(*counting(0, 1, 2, 3, 4, 5)).open_shoe().believe(*counting(6, 7, 8, 9, 1))
    assert table.fault is None
    table = TableUnderTest().believe(*counting(9, 0), ShoePoweredUp(seen(5))).open_shoe()
    assert table.believe(*counting(6, 7, 8, 9, 1)).fault is None


def test_switched_on_again_the_shoe_numbers_from_anywhere() -> None:
    table = in_round(3).believe(ShoePoweredUp(seen(8)))
    assert table.fault == "shoe_restarted"
    assert counted(table.believe(ShoeStoodBy(seen(9)))).fault is None
    assert counted(in_round(3).believe(ShoePoweredUp(seen(8)), ShoeStoodBy(seen(2)))).fault == "reports_missed"


def counted(table: TableUnderTest) -> TableUnderTest:
    """Let a supervisor enter a count of the cards that agrees with the table's own count, and return the table."""
    return table.do(CountCards(table.face.cards_left or 0, "Smith"))


def test_a_gap_outside_a_shoe_is_none_of_its_cards() -> None:
    table = TableUnderTest().believe(ShoeStoodBy(seen(1)), ShoeStoodBy(seen(5)))
    assert table.fault is None
    table.to(FIRST_CARD, 0, "3H", 8)  # it announces the shoe
    assert (table.fault, table.face.first_card) == (None, "3H")
    assert table.to(BURN, 1, "2C", 9).fault is None
    assert table.to(BURN, 2, "2C", 3).fault == "reports_missed"


def test_a_gap_after_the_final_round_is_none_of_its_cards() -> None:
    table = in_round(1).draw("CUT 4S TH 5D 9C")
    assert table.face.phase == "shoe_ended"
    assert table.believe(ShoeStoodBy(seen(5))).fault is None


def test_a_gap_after_the_announcement_is() -> None:
    table = TableUnderTest().believe(ShoeStoodBy(seen(1))).do(NewShoe()).to(FIRST_CARD, 0, "3H", 5)
    assert table.fault == "reports_missed"
    assert table.clear().face.first_card == "3H"


def test_a_gap_while_a_fault_stands_is_the_next_fault() -> None:
    table = in_round(1).believe(CardDrawn(None, report=seen(2)), CardDrawn(Card.parse("5D"), report=seen(7)))
    table.name("4S")
    assert (table.fault, table.face.next_hand) == ("reports_missed", None)
    table.name("TH").clear()
    assert hand(table.face, "player").cards == ("4S", "5D")


def test_a_gap_among_cards_that_waited_for_their_shoe_is_not_lost() -> None:
    table = TableUnderTest().believe(CardDrawn(Card.parse("3H"), report=seen(1)))
    table.believe(CardDrawn(Card.parse("2C"), report=seen(3)))  # a burned card was missed
    assert table.fault == "card_without_shoe"
    table.new_shoe_by_supervisor()
    assert (table.fault, table.face.first_card, table.face.burn_left) == ("reports_missed", "3H", 3)
    table.name("9S")
    assert table.clear().fault is None
    assert table.face.burn_left == 1
    assert table.to(BURN, 3, "2C", 4).face.phase == "wagers_open"


def test_a_gap_after_a_named_card_that_waited_for_its_shoe_is_not_lost() -> None:
    table = TableUnderTest().believe(ShoeStoodBy(seen(1))).fail_on(ShoeStoodBy(seen(2))).name("3H")
    assert table.fault == "card_without_shoe"
    table.new_shoe_by_supervisor()
    assert table.face.first_card == "3H"
    assert table.to(BURN, 1, "2C", 4).fault == "reports_missed"


def test_where_the_first_card_locks_a_gap_before_it_stops_the_locked_hand() -> None:
    table = TableUnderTest(house(lock_on="first_card"), wagers={1}).open_shoe().believe(ShoeStoodBy(seen(1)))
    table.to(Target.PLAYER, 2, "4S", 3)
    assert (table.fault, table.face.phase, table.face.progressive[0].seats) == ("reports_missed", "wagers_locked", (1,))
    table.name("2S").name("TH").clear()
    assert hand(table.face, "player").cards == ("2S", "4S")
