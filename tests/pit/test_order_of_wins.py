"""Checks that wins are ordered by the moment when betting closed in their rounds, and not by the arrival of events. A
table that lost its connection therefore does not lose its meter level to a later win."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from controller.contract.envelope import Stamp
from controller.contract.keys import SigningKey
from controller.contract.pit_words import MetersWord
from controller.pit.reference.award import Award
from controller.pit.reference.clock import now_in_ms
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from tests.pit import evening
from tests.pit.evening import EPOCH, KEY, SPOT, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import balanced, code_of, give, opened
from tests.support.ledgers import meet, unheard_steps

PIT = SigningKey(bytes([9] * 32))
METERS = ("big", "small")


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        ledger.sign_by(PIT, [PIT.public])
        Seat.begun_ms = now_in_ms()
        yield ledger


class Seat(TableEvening):
    """A table that can close the betting of a round at a given moment of the pit's clock. The moment is in ms from the
    beginning of the test."""

    begun_ms = 0

    def locked(self, ledger: Ledger, at_ms: int, *seats: int, ago_ms: int = 500, key: SigningKey = PIT) -> bytes:
        said = MetersWord(1, Stamp(self.begun_ms + at_ms - ago_ms, True).text(), ledger.levels()).payload(key)
        self.round += 1
        bet = {"spot": SPOT, "seats": [*seats] or [1], "price_cents": 300, "meters": [*METERS]}
        return self.say("wagers_locked", progressive=[bet], told={"word": json.loads(said), "ago_ms": ago_ms})

    def won(self, *seats: int, share: str = "1:1") -> list[bytes]:
        seats = seats or (1,)
        return [
            self.finish(*((seat, "top") for seat in seats)),
            *(self.hit(seat, "top", "big", share) for seat in seats),
        ]

    def tells(self, ledger: Ledger) -> bytes:
        """Let the table report that it received the last win that the pit published."""
        win = ledger.win_after(None)
        assert win is not None
        return self.say("win_told", win={"seq": win.seq}, shown=True, word_seq=win.seq)


def two(ledger: Ledger) -> tuple[Seat, Seat]:
    """Return two tables. Each has opened a shoe and played one round with wagers that feed the meters."""
    early, late = Seat("t-0"), Seat("t-1")
    give(ledger, early, early.say("shoe_opened", round=None), early.lock(1, 4), early.finish())
    give(ledger, late, late.say("shoe_opened", round=None), late.lock_on((SPOT, (1,), 3, METERS)), late.finish())
    assert ledger.levels()["big"] == 1_334
    return early, late


def of(ledger: Ledger, table: str) -> Award:
    return next(award for award in reversed(ledger.awards()) if award.table == table)


def test_a_win_that_came_after_many_names_the_first_of_them(ledger: Ledger) -> None:
    """If the events of a win arrive after those of many later wins, the alarm names the awards of the first five later
    wins and counts the rest. In a test with broken connections, an earlier version named a hundred awards in one
    sentence."""
    early, late = two(ledger)
    kept = [early.locked(ledger, 0), *early.won()]
    for number in range(7):
        give(ledger, late, late.locked(ledger, 1_000 + number), *late.won())
    (event, *_) = ledger.receive([(early.table, body) for body in kept]).committed[::-1]
    (alarm,) = event.alarms
    named = ", ".join(f"t-1.{number}" for number in range(1, 6))
    assert f"before the round of award {named} and 2 more, and its win came later." in alarm.what


@over_both
def test_a_table_that_was_cut_off_has_the_level_of_its_lock_and_both_awards_are_told_anew(ledger: Ledger) -> None:
    early, late = two(ledger)
    kept = [early.locked(ledger, 0), *early.won()]
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    assert of(ledger, "t-1").cents == 1_434, "the pit knows of no other lock by then"
    assert give(ledger, early, *kept) == ["wins_put_in_order"]
    assert [(step.award, step.cents) for step in unheard_steps(ledger, "t-1")] == [("t-1.1", 1_434), ("t-1.1", 1_334)]
    assert (of(ledger, "t-0").cents, of(ledger, "t-0").shown_cents) == (1_434, 0), "the level at the first hit"
    assert of(ledger, "t-1").cents == 1_334, "what its table showed, though the meter had begun again by then"
    wins, last = [], ledger.win_after(0)
    while last is not None:
        wins.append((last.award, last.cents))
        last = ledger.win_after(last.seq)
    assert wins[0] == ("t-1.1", 1_434)
    assert sorted(wins[1:]) == [("t-0.1", 1_434), ("t-1.1", 1_334)], "each screen hears the amounts anew"
    balanced(ledger)


def test_who_locked_first_and_comes_first_keeps_its_level(ledger: Ledger) -> None:
    early, late = two(ledger)
    give(ledger, early, early.locked(ledger, 0), *early.won())
    assert give(ledger, late, late.locked(ledger, 1_000), *late.won()) == []
    assert of(ledger, "t-0").cents == 1_434
    balanced(ledger)


def test_an_award_that_people_have_verified_keeps_its_level_and_the_house_pays_the_difference(ledger: Ledger) -> None:
    early, late = two(ledger)
    kept = [early.locked(ledger, 0), *early.won()]
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    ledger.take_step("t-1.1", "verified", "Ann", "Bob", without_waiting=True)
    ledger.take_step("t-1.1", "paid", "Cas")
    assert ledger.decided()[-2]["without"] == ["t-0"]
    assert give(ledger, early, *kept) == ["win_came_late"]
    award = of(ledger, "t-0")
    assert award.cents == 1_334, "what it showed at its lock"
    assert award.shown_cents == ledger.account().shown_cents > 0
    assert of(ledger, "t-1").cents == 1_434
    balanced(ledger)


def test_an_award_waits_until_each_other_table_has_told_of_the_win_or_two_people_decide(ledger: Ledger) -> None:
    early, late = two(ledger)
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    ((table, why),) = of(ledger, "t-1").waits
    assert (table, why) == ("t-0", "it has yet to tell that it heard of this win")
    assert code_of(lambda: ledger.take_step("t-1.1", "verified", "Ann")) == "award_waits"
    assert code_of(lambda: ledger.take_step("t-1.1", "verified", "Ann", without_waiting=True)) == "award_waits"
    assert code_of(lambda: ledger.take_step("t-1.1", "verified", "Ann", "Bob")) == "award_waits", "who despite doubts"
    give(ledger, early, early.tells(ledger))
    assert of(ledger, "t-1").waits == ()
    assert ledger.take_step("t-1.1", "verified", "Ann").step == "verified"


def test_a_table_is_waited_for_with_a_new_journal_too(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    _, late = two(ledger)
    with monkeypatch.context() as another:
        another.setattr(evening, "EPOCH", "ffffffffff")
        anew = Seat("t-0")
        ledger.adopt("t-0", "ffffffffff", KEY.public.hex())
        meet(ledger, "t-0", anew.state(), adopt_new=False)
        give(ledger, anew, anew.say("shoe_opened", round=None))
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    assert [table for table, _ in of(ledger, "t-1").waits] == ["t-0"], "the table played for the meter before"


def test_a_lock_shows_that_its_tables_shoe_is_open(ledger: Ledger) -> None:
    early, late = Seat("t-0"), Seat("t-1")  # whose shoes were opened before the ledger knew of that
    give(ledger, early, early.locked(ledger, 0), early.finish())
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    assert [table for table, _ in of(ledger, "t-1").waits] == ["t-0"]


@over_both
def test_an_award_waits_for_the_end_of_a_round_that_was_locked_before(ledger: Ledger) -> None:
    early, late = two(ledger)
    give(ledger, early, early.locked(ledger, 0, 1, 2))
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    give(ledger, early, early.tells(ledger))
    ((table, why),) = of(ledger, "t-1").waits
    assert (table, why) == ("t-0", "it locked shoe 1 round 2 before, and has yet to tell how that round ended")
    give(ledger, early, early.finish((1, "top"), (2, "top")))
    for seat in (1, 2):
        assert of(ledger, "t-1").waits, "its hits come after the round"
        give(ledger, early, early.hit(seat, "top", "big"))
    assert of(ledger, "t-1").waits == ()
    assert [of(ledger, "t-1").cents, *(award.cents for award in ledger.awards()[1:])] == [1_534, 817, 817]
    balanced(ledger)


@pytest.mark.parametrize("end", ["void", "shoe", "later lock", "retired"])
def test_a_table_without_an_open_round_or_shoe_holds_no_award_up(ledger: Ledger, end: str) -> None:
    early, late = two(ledger)
    give(ledger, early, early.locked(ledger, 0))
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    match end:
        case "void":
            give(ledger, early, early.void(1), early.tells(ledger))
        case "shoe":
            give(ledger, early, early.finish(), early.say("shoe_closed", round=None))
        case "later lock":
            give(ledger, early, early.finish(), early.locked(ledger, 2_000))
        case _:
            ledger.retire("t-0", "Ann", "Bob", "burnt down")
    assert of(ledger, "t-1").waits == ()


def test_a_table_that_never_played_for_the_meter_or_speaks_an_earlier_contract_is_not_waited_for(
    ledger: Ledger,
) -> None:
    early, late = Seat("t-0", ("small",)), Seat("t-1")
    give(ledger, early, early.say("shoe_opened", round=None), early.lock(1), early.finish())
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    assert of(ledger, "t-1").waits == ()
    old = Seat("t-2")
    ledger.adopt("t-2", EPOCH, KEY.public.hex())
    meet(ledger, "t-2", old.state(), adopt_new=False)
    give(ledger, old, old.say("shoe_opened", round=None, contract=3), old.lock(1), old.finish())
    assert of(ledger, "t-1").waits == ()


def test_hits_that_share_a_level_move_together_and_a_late_hit_of_the_same_round_shares_the_right_level(
    ledger: Ledger,
) -> None:
    early, late = two(ledger)
    kept = [early.locked(ledger, 0, 1, 2), *early.won(1, 2)]
    give(ledger, late, late.locked(ledger, 1_000, 1, 2), *late.won(1, 2))
    level = sum(award.cents for award in ledger.awards())
    give(ledger, early, *kept)
    cents = {award.id: award.cents for award in ledger.awards()}
    assert cents["t-0.1"] + cents["t-0.2"] == level
    assert cents["t-1.1"] - cents["t-1.2"] in (0, 1)
    balanced(ledger)


def test_a_rejected_win_leaves_the_others_as_they_are_and_the_books_whole(ledger: Ledger) -> None:
    early, late = two(ledger)
    kept = [early.locked(ledger, 0), *early.won()]
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    give(ledger, early, *kept)
    for award in ("t-0.1", "t-1.1"):
        ledger.take_step(award, "rejected", "Ann", "Bob")
        balanced(ledger)
    assert ledger.levels()["big"] == 1_534, "as if nobody had won"
    assert ledger.account().shown_cents == 0


def test_a_rejection_that_lowers_a_meter_is_on_record_with_both_figures_and_both_people(ledger: Ledger) -> None:
    early, late = two(ledger)
    give(ledger, early, early.locked(ledger, 0), *early.won())
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    for award, lowers in (("t-0.1", False), ("t-1.1", True)):
        before = ledger.levels()
        ledger.take_step(award, "rejected", "Ann", "Bob")
        after = ledger.levels()
        decided = ledger.decided()[-1]
        assert (after["big"] < before["big"]) == lowers
        told = {"meter": "big", "from_cents": before["big"], "to_cents": after["big"]}
        assert decided.get("lowered") == (told if lowers else None)
        assert (decided["by"], decided["witness"]) == ({"account": "Ann", "name": ""}, {"account": "Bob", "name": ""})


# Who gains by a lie?


def test_a_lock_by_a_word_that_the_pit_never_signed_overtakes_nobody(ledger: Ledger) -> None:
    early, late = two(ledger)
    give(ledger, late, late.locked(ledger, 1_000), *late.won())
    forged = early.locked(ledger, 0, key=SigningKey(bytes(32)))
    assert give(ledger, early, forged, *early.won()) == ["lock_unproven"]
    assert of(ledger, "t-1").cents == 1_434


def test_a_table_cannot_claim_a_lock_before_its_own_last_one(ledger: Ledger) -> None:
    """A table cannot claim that betting closed earlier than in its own previous round, even if it shows an old message
    of the pit. A dealer therefore gains nothing by keeping an old message until another table has won."""
    early, late = two(ledger)
    give(ledger, early, early.locked(ledger, 5_000), early.finish())
    give(ledger, late, late.locked(ledger, 4_000), *late.won())
    give(ledger, early, early.locked(ledger, 0), *early.won())
    assert of(ledger, "t-1").cents == 1_534


def test_a_dealer_who_holds_the_cable_gains_nothing_by_the_age_of_the_word(ledger: Ledger) -> None:
    """A dealer gains nothing by pulling the network cable, so that the table shows an older message of the pit than
    another table does. The pit adds the age of the message to the message's time, so the betting of the first table
    still counts as closed later."""
    early, late = two(ledger)
    give(ledger, late, late.locked(ledger, 1_000, ago_ms=100), *late.won())
    give(ledger, early, early.locked(ledger, 8_000, ago_ms=8_000), *early.won())
    assert of(ledger, "t-1").cents == 1_434


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(2, 12))])
def test_whatever_order_the_streams_come_in_no_later_lock_has_an_earlier_level(at: Place, seed: int) -> None:
    """Wins get the levels of a meter in the order in which betting closed in their rounds. This holds even if tables
    lose the connection and the pit restarts, and both for wins of a whole level and for shared levels."""
    chance = random.Random(seed)
    Seat.begun_ms = now_in_ms()
    ledger = opened(at)
    tables = [Seat("t-0"), Seat("t-1"), Seat("t-2")]
    ledger.adopt("t-2", EPOCH, KEY.public.hex())
    ledger.sign_by(PIT, [PIT.public])
    moments: dict[str, int] = {}
    streams: list[tuple[Seat, list[bytes]]] = []
    for table in tables:
        events, at_ms = [], 0
        for _ in range(3):
            at_ms += chance.randint(1, 3_000)
            seats = chance.sample((1, 2, 3), chance.randint(1, 2))
            events.append(table.locked(ledger, at_ms, *seats))
            won = table.won(*seats)
            moments |= {json.loads(each)["id"]: at_ms for each in won}
            events += won
        streams.append((table, events))
    while streams := [each for each in streams if each[1]]:
        table, events = chance.choice(streams)
        received = ledger.receive([(table.table, events.pop(0)) for _ in range(chance.randint(1, 4)) if events])
        assert not received.refused
        if chance.random() < 0.2:
            ledger.close()
            ledger = Ledger(at)
            ledger.serve()
            ledger.sign_by(PIT, [PIT.public])
    with closing(ledger):
        in_order = sorted(ledger.awards(), key=lambda award: moments[award.hit])
        levels = [award.lock for award in in_order if award.lock is not None]
        assert levels == sorted(levels)
        assert len(levels) == len(moments) - 9, "every hit"
        balanced(ledger)
