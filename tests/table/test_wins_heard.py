"""Checks that the table records each win of a progressive meter that the pit reports. Each lock of wagers must name the
pit's message from which the table took the meter levels that it shows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.contract.events import Win
from controller.table.acts.entry import Ambient
from controller.table.acts.pit import SeeWin
from controller.table.acts.shoe import CloseShoe
from controller.table.facts import ToldMeters
from controller.table.requests import decide
from tests.support.tables import ROYAL9, TableUnderTest

_SIGNED = "A" * 86 + "=="
WIN = Win(7, "2026-01-01T20:00:00.000Z", "royal9-02", "royal9-02.1", "royal9", "royal", "big", 5_000, 1_000)
TOLD = ToldMeters(6, "2026-01-01T20:00:00.000Z", None, _SIGNED, 300)


class Heard(TableUnderTest):
    @property
    def ambient(self) -> Ambient:
        return replace(super().ambient, told=TOLD)


def test_a_win_is_told_once_and_an_earlier_one_not_at_all_also_in_the_next_shoe() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").do(SeeWin(WIN, True, 9))
    told = table.events[-1]
    assert (told["type"], told["shown"], told["word_seq"]) == ("win_told", True, 9)
    assert (told["win"]["table"], told["win"]["cents"], told["win"]["base_cents"]) == ("royal9-02", 5_000, 1_000)
    assert table.ask(SeeWin(WIN, True, 10)) == "win_old"
    table.do(CloseShoe("Smith")).open_shoe("2H 3H 4H")
    assert table.ask(SeeWin(WIN, True, 11)) == "win_old"
    assert table.ask(SeeWin(replace(WIN, seq=6), True, 11)) == "win_old"
    table.do(SeeWin(replace(WIN, seq=8), True, 12))


def test_a_number_from_the_future_makes_no_win_old() -> None:
    table = TableUnderTest(ROYAL9).do(SeeWin(replace(WIN, seq=10**15), True, 9))
    fact = decide(table.table, SeeWin(WIN, True, 10), replace(table.ambient, latest_seq=10**6))
    assert getattr(fact, "win", None) == WIN


@pytest.mark.parametrize("seats", [(), (1, 2)])
def test_a_lock_of_progressive_wagers_has_the_pits_word_and_no_other_lock_has_it(seats: tuple[int, ...]) -> None:
    table = Heard(ROYAL9).open_shoe("2H 3H 4H")
    table.levels = {"player_personal": 12_000}
    table.lock(*seats)
    told = table.of_type("wagers_locked")[-1]["told"]
    word = {"seq": 6, "at": TOLD.at, "meters": {"player_personal": 12_000}, "win": None, "signature": _SIGNED}
    assert told == ({"word": word, "ago_ms": 300} if seats else None)
