"""Checks the meters, the awards and the pit's bookkeeping against a model that is written from the text of the
contract."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.basics.errors import TableError
from controller.contract.signing import Signer
from controller.daemon.record.journal import Journal
from controller.pit.reference.award import Award
from controller.pit.reference.corrections import LeftByVoid
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from controller.pit.reference.store import Rows, unusable
from controller.rules.game.play import Call
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import CorrectSeatsRound
from controller.table.acts.rounds import MakeCall
from controller.table.acts.seats import PlaceWager
from tests.pit.evening import EPOCH, KEY, SPOT, TableEvening
from tests.support.ledgers import change_at_once, meet, unheard_steps
from tests.support.samples import examples
from tests.support.tables import LUCKY9, TableUnderTest, cards

TERMS = {
    "big": Terms(1_000, Fraction(1, 3), Fraction(1, 7), 1_300),
    "small": Terms(70, Fraction(1, 100), Fraction(0), 70),
}


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    """A ledger with two meters that has adopted two tables."""
    with closing(opened(at)) as ledger:
        yield ledger


def opened(at: Place, terms: Mapping[str, Terms] = TERMS, key: Signer | None = None) -> Ledger:
    """Return a ledger with two adopted tables, opened as a running pit opens it. Decisions are signed with `key`, or
    not at all if `key` is None."""
    if isinstance(at, Path) and not at.exists():
        _begin(at)
    ledger = Ledger(at)
    ledger.serve()
    if key is not None:
        ledger.sign_by(key)
    ledger.set_terms(terms)
    for table in ("t-0", "t-1"):
        ledger.adopt(table, EPOCH, KEY.public.hex())
        meet(ledger, table, TableEvening(table).state(), adopt_new=False)  # and heard to its head, at which nothing is
    return ledger


def _begin(at: Path) -> None:
    """Make the file of a new, empty ledger by copying one that was made before. Creating the database tables each time
    would take ten milliseconds, hundreds of times."""
    empty, mode = _begun()
    at.write_bytes(empty)
    at.chmod(mode)


@cache
def _begun() -> tuple[bytes, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        Ledger(path).close()
        return path.read_bytes(), path.stat().st_mode


def give(ledger: Ledger, table: TableEvening, *bodies: bytes) -> list[str]:
    """Commit these events of the table, and return the codes of the alarms that they raise."""
    received = ledger.receive([(table.table, body) for body in bodies])
    assert not received.refused
    assert received.acks[table.table].seq == len(table.sent)
    return [alarm.code for event in received.committed for alarm in event.alarms]


def amounts(ledger: Ledger) -> list[tuple[str, int]]:
    return [(award.step, award.cents) for award in ledger.awards()]


def waiting(ledger: Ledger, table: str = "t-0") -> list[tuple[str, str, int, str]]:
    """Return the steps of awards that the pit has published and the table has not confirmed yet, in the order of their
    numbers. Each is four values: the award's id, the step, the cents, and the person who took the step."""
    steps = unheard_steps(ledger, table)
    assert [step.seq for step in steps] == sorted({step.seq for step in steps})
    return [(step.award, step.step, step.cents, step.by) for step in steps]


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(TableError) as told:
        call()
    return told.value.code


def correct(ledger: Ledger) -> None:
    """Correct the meters after each void: subtract the money that the voided wagers had added to them."""
    with ledger.closing_meters() as closings:
        for left in closings.corrections.waiting():
            closings.corrections.correct(left.void, "Ann", "Bob", "F-19", "a card fell")


def balanced(ledger: Ledger) -> None:
    account = ledger.account()
    assert account.findings == ()


# By hand.


def test_a_meter_begins_at_its_seed_and_grows_by_its_share_of_each_locked_wager_to_the_cent(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    assert ledger.levels() == {"big": 1_000, "small": 70}
    give(ledger, table, table.lock(1, 4))  # two wagers of 500: 333 1/3 and 10
    assert ledger.levels() == {"big": 1_333, "small": 80}
    give(ledger, table, table.finish(), table.lock(1), table.finish(), table.lock(2), table.finish())
    assert ledger.levels() == {"big": 1_666, "small": 90}, "1666 2/3, of which 2/3 are carried"
    give(ledger, table, table.lock(7), table.finish(), table.lock(7))
    assert ledger.levels() == {"big": 2_000, "small": 100}
    balanced(ledger)


def test_only_the_meters_that_a_bet_awards_grow_by_its_wagers(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock_on(("a", (1, 4), 500, ("small",)), ("b", (1,), 300, ("big",)), ("c", (2,), 700, ())))
    assert ledger.levels() == {"big": 1_100, "small": 80}
    give(ledger, table, table.void_on(("a", (1, 4)), ("b", (1,)), ("c", (2,))))
    correct(ledger)
    assert ledger.levels() == {"big": 1_000, "small": 70}
    balanced(ledger)


def test_a_bet_of_fixed_awards_alone_feeds_no_meter(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    before = ledger.levels()
    assert give(ledger, table, table.lock_on(("royal9", (1, 2), 500, ()))) == []
    assert ledger.levels() == before
    balanced(ledger)


def test_locked_wagers_take_few_statements_however_many_seats_and_meters(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1))
    statements = counted(ledger, monkeypatch)
    give(ledger, table, table.lock(1, 2, 3, 4, 5, 6, 7))
    assert len(statements) <= 23, "\n".join(statements)  # each is a round trip to a database on another machine


def test_a_round_more_in_a_transaction_takes_five_statements_more(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If one transaction commits several rounds, each further round takes only five SQL statements: for its two events,
    its round, its stake (the bet of the round) and its posting. All other data is read and written one time for all
    rounds."""
    tables = [TableEvening("t-0"), TableEvening("t-1")]
    statements = counted(ledger, monkeypatch)
    took = []
    for rounds in (1, 11):
        before = len(statements)
        events = [
            (each.table, body) for _ in range(rounds) for each in tables for body in (each.lock(1), each.finish())
        ]
        assert len(ledger.receive(events).committed) == len(events)
        took.append(len(statements) - before)
    assert took[1] - took[0] == 5 * 2 * 10, "\n".join(statements)
    assert ledger.levels() == {"big": 1_000 + 24 * 500 // 3, "small": 70 + 24 * 5}
    balanced(ledger)


def test_a_hit_and_a_void_see_the_wagers_of_their_own_transaction(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    won = [table.lock(1, 2), table.finish((1, "all")), table.hit(1, "all", "big")]
    assert give(ledger, table, *won, table.lock(3), table.void(3)) == []
    assert ledger.levels() == {"big": 1_167, "small": 85}, "begun again at the seed, and a void lowers nothing"
    correct(ledger)
    assert ledger.levels() == {"big": 1_000, "small": 80}
    balanced(ledger)


def test_terms_that_the_disk_did_not_take_leave_nothing_behind(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = {**ledger.terms(), "new": Terms(500, Fraction(1, 100), Fraction(0), 500)}
    run = ledger._db.execute

    def full(statement: str, values: Sequence[object] = ()) -> Rows:
        if statement.startswith("INSERT INTO entry"):
            raise unusable(ledger._db, "database or disk is full")
        return run(statement, values)

    with monkeypatch.context() as while_full:
        while_full.setattr(ledger._db, "execute", full)
        assert code_of(lambda: ledger.set_terms(terms)) == "ledger_unusable"
    ledger.set_terms(terms)
    assert ledger.levels()["new"] == 500
    balanced(ledger)


def counted(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each SQL statement is added that the ledger executes after this call."""
    statements: list[str] = []
    run = ledger._db.execute

    def noted(statement: str, values: Sequence[object] = ()) -> Rows:
        statements.append(statement)
        return run(statement, values)

    monkeypatch.setattr(ledger._db, "execute", noted)
    return statements


def test_steps_that_wait_keep_their_numbers_while_those_before_them_are_told_of(ledger: Ledger) -> None:
    """When a table confirms a step, the later steps that still wait keep their numbers. Thousands of steps may wait,
    and numbering all of them anew each time would take too long."""
    table = TableEvening("t-0")
    hits = []
    for _ in range(3):
        give(ledger, table, table.lock(1), table.finish((1, "x")), hit := table.hit(1, "x", 10))
        hits.append(hit)
    (_, *later) = (step.seq for step in unheard_steps(ledger, "t-0"))
    give(ledger, table, table.award(hits[0], "pending", 10))
    assert [step.seq for step in unheard_steps(ledger, "t-0")] == later


def test_a_part_of_a_meter_leaves_the_rest_and_takes_no_reserve(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 2, 3, 4), table.finish((1, "tenth"), (2, "all"), (3, "tenth"), (4, "tenth")))
    give(ledger, table, table.hit(1, "tenth", "big", "1:10"))
    assert ledger.levels()["big"] == 1_500, "1,666 2/3 less 166"
    give(
        ledger,
        table,
        table.hit(2, "all", "big"),
        table.hit(3, "tenth", "big", "1:10"),
        table.hit(4, "t", "big", "2:20"),
    )
    assert [cents for _, cents in amounts(ledger)] == [56, 1_500, 55, 55], "a tenth of the first level, in three"
    assert ledger.levels()["big"] == 1_000
    balanced(ledger)


def test_of_a_void_corrected_after_a_part_was_won_the_house_bears_that_part(ledger: Ledger) -> None:
    table, other = TableEvening("t-0"), TableEvening("t-1")
    give(ledger, other, other.lock(7, price_cents=300))  # 100 of them on the meter
    give(
        ledger, table, table.lock(1, price_cents=900), table.finish((1, "tenth")), table.hit(1, "tenth", "big", "1:10")
    )
    assert ledger.levels()["big"] == 1_400 - 140
    give(ledger, other, other.void(7))
    assert ledger.levels()["big"] == 1_400 - 140
    correct(ledger)
    assert ledger.levels()["big"] == 1_400 - 140 - 90
    balanced(ledger)
    ledger.take_step(ledger.awards()[0].id, "rejected", "Ann")
    assert ledger.levels()["big"] == 1_300, "as if nobody had won"
    balanced(ledger)


def test_meters_that_take_more_than_a_wager_are_an_alarm(ledger: Ledger) -> None:
    ledger.set_terms(TERMS | {"big": Terms(1_000, Fraction(3, 4), Fraction(1, 4), 1_300)})
    table = TableEvening("t-0")
    assert give(ledger, table, table.lock(1)) == ["meters_take_too_much"]
    assert give(ledger, table, table.lock_on(("a", (1,), 500, ("big",)))) == []


def test_a_wager_on_a_meter_that_the_pit_does_not_have_is_not_taken(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    received = ledger.receive([("t-0", table.lock_on(("a", (1,), 500, ("huge",))))])
    assert [refusal.code for _, refusal in received.refused] == ["meter_unknown"]


def test_a_table_whose_game_has_a_meter_that_the_pit_lacks_is_told_before_anybody_wagers(ledger: Ledger) -> None:
    def state(*meters: object) -> bytes:
        shown = {"online": True, "table": "t-0", "epoch": EPOCH, "public_key": KEY.public.hex(), "head_seq": 0}
        return json.dumps(shown | {"meters": meters}).encode()

    ledger.name_settings(Path("/etc/pit.toml"))
    assert ledger.meet_all([("t-0", state("big", "small"))], adopt_new=False) == ([], [])
    _, told = ledger.meet_all([("t-0", state("big", "huge", 7))], adopt_new=False)
    ((table, refusal),) = told
    assert (table, refusal.code) == ("t-0", "meter_unknown")
    assert all(named in str(refusal) for named in ("t-0", "[meters.huge]", "/etc/pit.toml"))
    assert ledger.meet_all([("t-0", state("big", "huge", 7))], adopt_new=False) == ([], []), "told once"
    ledger.set_terms(TERMS | {"huge": Terms(5_000, Fraction(0), Fraction(0), 5_000)})
    assert ledger.meet_all([("t-0", state("big", "huge"))], adopt_new=False) == ([], [])


def test_the_events_of_version_2_move_the_meters_as_they_did(ledger: Ledger, tmp_path: Path) -> None:
    """The pit books events of contract version 2 by the rules of that version. In version 2 there was only one bet, its
    wagers fed every meter, and a hit won the whole meter."""
    old, now = TableEvening("t-0"), TableEvening("t-0")
    with closing(opened(tmp_path / "now.sqlite")) as beside:
        for hand in range(1, 4):
            old.round = hand
            for event_type, said in (
                ("wagers_locked", {"royal9_seats": [1, 2], "royal9_price_cents": 500, "refused_seats": []}),
                ("round", {"royal9_seats": [1, 2], "royal9": [{"seat": 1, "tier": "all"}] if hand == 2 else []}),
                ("hit", {"seat": 1, "tier": "all", "progressive": {"meter": "big"}, "fixed": None}),
                ("void", {"royal9_seats": [1, 2]}),
            ):
                if (event_type, hand) not in (("hit", 1), ("hit", 3), ("void", 2), ("round", 3)):
                    assert give(ledger, old, old.say(event_type, contract=2, **said)) == []
            give(beside, now, now.lock(1, 2))
            if hand != 3:
                give(beside, now, now.finish(*[(1, "all")] * (hand == 2)))
            if hand == 2:
                give(beside, now, now.hit(1, "all", "big"))
            else:
                give(beside, now, now.void(1, 2))
        assert (ledger.levels(), amounts(ledger)) == (beside.levels(), amounts(beside))
        assert funds(ledger) == funds(beside)
        balanced(ledger)


def test_a_void_lowers_no_meter_and_a_correction_takes_off_exactly_what_its_wagers_gave(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish(), table.lock(2, 3))
    shown, before = ledger.levels(), funds(ledger)
    give(ledger, table, table.void(2, 3))
    assert ledger.levels() == shown == {"big": 1_500, "small": 85}
    now = funds(ledger)
    assert {account for account in now if now[account] != before[account]} == {"house"}, "the house bears it"
    assert give(ledger, table, table.lock(5), table.void(5)) == []
    correct(ledger)
    assert ledger.levels() == {"big": 1_166, "small": 75}
    account = ledger.account()
    (big, _) = account.meters
    assert (big.level_cents, big.carried) == (1_166, Fraction(2, 3))
    assert (big.reserve_cents, big.reserve_carried) == (71, Fraction(3, 7))
    assert account.findings == ()


def test_a_simulated_hand_and_a_lock_without_wagers_move_nothing(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(), table.finish(), table.say("round", simulated=True, awards=[]), table.void())
    assert ledger.levels() == {"big": 1_000, "small": 70}
    balanced(ledger)


def test_a_hit_locks_the_level_and_the_meter_begins_again_from_its_reserve_first(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    assert amounts(ledger) == [("pending", 1_166)]
    (big, small) = ledger.account().meters
    assert (big.level_cents, big.carried) == (1_000, Fraction(2, 3))
    assert (big.seeds_cents, big.from_reserve_cents, big.reserve_cents) == (1_000 + 929, 71, 0)
    assert small.level_cents == 75
    balanced(ledger)


def test_a_full_reserve_begins_a_meter_higher_up_to_its_limit(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, price_cents=7_700), table.finish(), table.lock(1), table.finish())
    give(ledger, table, table.hit(1, "banker_personal", "big"))
    assert ledger.levels()["big"] == 1_171, "7700/7 and 500/7, no cent of it the house's"
    give(ledger, table, table.lock(1, price_cents=14_000), table.finish(), table.hit(1, "banker_personal", "big"))
    (big, _) = ledger.account().meters
    assert (big.level_cents, big.reserve_cents, big.seeds_cents) == (1_300, 700, 1_000)


def test_two_hits_of_one_hand_on_one_meter_share_it_and_the_odd_cent_is_the_firsts(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    winners = ((3, "banker_personal"), (1, "player_personal"))
    give(ledger, table, table.lock(1, 3), table.finish(*winners), table.hit(3, "banker_personal", "big"))
    assert amounts(ledger) == [("pending", 1_333)]
    assert ledger.levels()["big"] == 1_000
    assert code_of(lambda: ledger.take_step("t-0.1", "verified", "Ann")) == "award_incomplete"
    give(ledger, table, table.hit(1, "player_personal", "big"))
    assert amounts(ledger) == [("pending", 667), ("pending", 666)]
    assert ledger.levels()["big"] == 1_000
    assert waiting(ledger) == [
        ("t-0.1", "pending", 1_333, "pit"),
        ("t-0.1", "pending", 667, "pit"),
        ("t-0.2", "pending", 666, "pit"),
    ]
    assert ledger.take_step("t-0.1", "verified", "Ann").step == "verified"
    balanced(ledger)


def test_hits_of_two_tables_take_the_level_in_the_order_committed(ledger: Ledger) -> None:
    first, second = TableEvening("t-0"), TableEvening("t-1")
    give(ledger, first, first.lock(1), first.finish((1, "banker_personal")))
    give(ledger, second, second.lock(1), second.finish((1, "banker_personal")))
    give(ledger, second, second.hit(1, "banker_personal", "big"))
    give(ledger, first, first.hit(1, "banker_personal", "big"))
    assert [(award.id, award.cents) for award in ledger.awards()] == [("t-1.1", 1_333), ("t-0.1", 1_000)]
    balanced(ledger)


def test_what_has_been_won_is_not_taken_off_the_meter_again_by_a_void(ledger: Ledger) -> None:
    """If a wager is voided after its meter was won, the meter does not fall, because the money that the wager added has
    been won. The house bears that money. In the test the wager was made at another table than the win."""
    first, second = TableEvening("t-0"), TableEvening("t-1")
    give(ledger, second, second.lock(1))
    give(ledger, first, first.lock(1), first.finish((1, "banker_personal")), first.hit(1, "banker_personal", "big"))
    give(ledger, second, second.void(1))
    correct(ledger)
    assert amounts(ledger) == [("pending", 1_333)]
    assert ledger.levels() == {"big": 1_000, "small": 75}
    balanced(ledger)


def test_a_fixed_award_is_the_houses_and_leaves_the_meters_alone(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "any_royal")), table.hit(1, "any_royal", 2_500))
    assert amounts(ledger) == [("pending", 2_500)]
    assert ledger.levels() == {"big": 1_166, "small": 75}
    ledger.take_step("t-0.1", "verified", "Ann")
    ledger.take_step("t-0.1", "paid", "Bob")
    account = ledger.account()
    assert (account.owed_cents, account.paid_cents, account.findings) == (0, 2_500, ())


def test_a_rejected_award_goes_back_on_its_meter_and_the_reseed_to_where_it_was_from(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    give(ledger, table, table.lock(1), table.finish())
    ledger.take_step("t-0.1", "rejected", "Ann")
    (big, _) = ledger.account().meters
    assert (big.level_cents, big.carried) == (1_333, Fraction(1, 3)), "as if there had been no hit"
    assert (big.seeds_cents, big.from_reserve_cents, big.reserve_cents) == (1_000, 0, 142)
    balanced(ledger)


def test_the_reseed_stays_while_one_hit_of_the_level_stands(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    winners = ((3, "banker_personal"), (1, "player_personal"))
    give(ledger, table, table.lock(1, 3), table.finish(*winners))
    give(ledger, table, *(table.hit(seat, tier, "big") for seat, tier in winners))
    ledger.take_step("t-0.1", "rejected", "Ann")
    assert ledger.levels()["big"] == 1_000, "the other has it all"
    ledger.take_step("t-0.2", "rejected", "Ann")
    assert ledger.levels()["big"] == 1_333, "as if there had been no hit"
    balanced(ledger)


def shared(ledger: Ledger, *seats: int) -> TableEvening:
    """Return a table at which these seats hit the meter "big" in the same round, and so share its level. The level is
    the seed of 1,000 cents and what the seats' wagers added."""
    table = TableEvening("t-0")
    give(ledger, table, table.lock(*seats), table.finish(*((seat, "banker_personal") for seat in seats)))
    give(ledger, table, *(table.hit(seat, "banker_personal", "big") for seat in seats))
    return table


def test_when_a_hit_is_rejected_before_any_is_paid_the_others_share_the_whole_level(ledger: Ledger) -> None:
    shared(ledger, 1, 3, 5)
    assert amounts(ledger) == [("pending", 500)] * 3
    ledger.take_step("t-0.2", "verified", "Ann")
    ledger.take_step("t-0.1", "rejected", "Ann")
    assert amounts(ledger) == [("rejected", 500), ("pending", 750), ("pending", 750)], "to be verified again"
    balanced(ledger)
    ledger.take_step("t-0.3", "rejected", "Ann")
    assert amounts(ledger) == [("rejected", 500), ("pending", 1_500), ("rejected", 750)]
    assert waiting(ledger)[-6:] == [
        ("t-0.2", "verified", 500, "Ann"),
        ("t-0.1", "rejected", 500, "Ann"),
        ("t-0.2", "pending", 750, "pit"),
        ("t-0.3", "pending", 750, "pit"),
        ("t-0.3", "rejected", 750, "Ann"),
        ("t-0.2", "pending", 1_500, "pit"),
    ]
    for step in ("verified", "paid"):
        ledger.take_step("t-0.2", step, "Bob" if step == "paid" else "Ann")
        balanced(ledger)
    assert (ledger.account().paid_cents, ledger.levels()["big"]) == (1_500, 1_000)


def test_the_part_of_a_hit_that_is_rejected_after_another_was_paid_goes_back_on_the_meter(ledger: Ledger) -> None:
    shared(ledger, 1, 3, 5)
    for step in ("verified", "paid"):
        ledger.take_step("t-0.1", step, "Bob" if step == "paid" else "Ann")
    ledger.take_step("t-0.2", "rejected", "Ann")
    assert amounts(ledger) == [("paid", 500), ("rejected", 500), ("pending", 500)]
    assert ledger.levels()["big"] == 1_500
    balanced(ledger)


def test_a_step_whose_amount_comes_again_is_told_again(ledger: Ledger) -> None:
    """If an award's amount changes from 1333 to 667 and back to 1333, the pit publishes three steps. The table has
    confirmed only the first step, so the pit must still publish the other two, although the third equals the first."""
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 3), table.finish((1, "banker_personal"), (3, "banker_personal")))
    hit = table.hit(1, "banker_personal", "big")
    give(ledger, table, hit, table.hit(3, "banker_personal", "big"))
    ledger.take_step("t-0.2", "rejected", "Ann")
    give(ledger, table, table.award(hit, "pending", 1_333))
    assert [step for step in waiting(ledger) if step[0] == "t-0.1"] == [
        ("t-0.1", "pending", 667, "pit"),
        ("t-0.1", "pending", 1_333, "pit"),
    ]


def test_a_correction_after_a_rejected_hit_shrinks_the_meter_and_after_a_real_win_it_does_not(ledger: Ledger) -> None:
    first, second = TableEvening("t-0"), TableEvening("t-1")
    give(ledger, second, second.lock(1))
    give(ledger, first, first.lock(1), first.finish((1, "banker_personal")), first.hit(1, "banker_personal", "big"))
    ledger.take_step("t-0.1", "rejected", "Ann")
    assert ledger.levels()["big"] == 1_333
    give(ledger, second, second.void(1))
    correct(ledger)
    assert ledger.levels()["big"] == 1_166
    give(ledger, second, second.lock(1))
    give(ledger, first, first.lock(1), first.finish((1, "banker_personal")), first.hit(1, "banker_personal", "big"))
    assert amounts(ledger) == [("rejected", 1_333), ("pending", 1_500)]
    give(ledger, second, second.void(1))
    correct(ledger)
    assert ledger.levels()["big"] == 1_000, "it was won: nothing is left to correct"
    balanced(ledger)
    ledger.take_step("t-0.2", "rejected", "Ann")
    assert ledger.levels()["big"] == 1_333, "it was not won: the meter bears it"
    balanced(ledger)


def test_what_was_given_between_a_hit_and_its_rejection_is_won_by_the_next_hit(ledger: Ledger) -> None:
    first, second = TableEvening("t-0"), TableEvening("t-1")
    won = (1, "banker_personal")
    give(ledger, first, first.lock(1), first.finish(won), first.hit(*won, "big"))
    give(ledger, second, second.lock(1))
    ledger.take_step("t-0.1", "rejected", "Ann")
    give(ledger, first, first.lock(1), first.finish(won), first.hit(*won, "big"))
    assert amounts(ledger) == [("rejected", 1_166), ("pending", 1_500)]
    give(ledger, second, second.void(1))
    assert ledger.levels()["big"] == 1_000, "it was won: the house bears it"
    balanced(ledger)


def test_a_late_hit_on_a_level_that_was_undone_undoes_nothing_more(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 2), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    ledger.take_step("t-0.1", "rejected", "Ann")
    assert give(ledger, table, table.hit(2, "player_personal", "big")) == ["event_contradicts"]
    before = ledger.account()
    ledger.take_step("t-0.2", "rejected", "Ann")
    assert ledger.account().meters == before.meters


def test_a_reseed_that_was_won_since_stays_where_it_went_until_that_is_rejected_too(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    for _ in range(2):
        give(ledger, table, table.lock(1), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    ledger.take_step("t-0.1", "rejected", "Ann")
    assert ledger.levels()["big"] == 1_000 + 1_166
    balanced(ledger)
    ledger.take_step("t-0.2", "rejected", "Ann")
    (big, _) = ledger.account().meters
    assert (big.level_cents, big.seeds_cents, big.reserve_cents) == (1_333, 1_000, 142), "as if there had been no hit"
    balanced(ledger)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ((), "paid"),
        (("verified",), "verified"),
        (("verified", "paid"), "paid"),
        (("verified", "paid"), "rejected"),
        (("rejected",), "verified"),
        (("rejected",), "rejected"),
        (("verified", "rejected"), "paid"),
    ],
)
def test_an_award_goes_its_way_and_no_other(ledger: Ledger, path: tuple[Any, ...], wrong: Any) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    for step in path:
        ledger.take_step("t-0.1", step, "Bob" if step == "paid" else "Ann")
        balanced(ledger)
    before = ledger.account()
    assert code_of(lambda: ledger.take_step("t-0.1", wrong, "Cas")) == "step_not_next"
    assert ledger.account() == before
    steps = [(step, by) for _, step, _, by in waiting(ledger)]
    assert steps == [("pending", "pit"), *((step, "Bob" if step == "paid" else "Ann") for step in path)]


def test_a_decision_needs_an_award_and_a_name(ledger: Ledger) -> None:
    assert code_of(lambda: ledger.take_step("t-0.1", "verified", "Ann")) == "award_unknown"
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish(), table.hit(1, "any_royal", 2_500))
    for name in ("", "  ", "\x1b[2J", "x" * 61):
        assert code_of(partial(ledger.take_step, "t-0.1", "verified", name)) == "name_missing"


def test_a_step_the_tables_stream_tells_of_and_those_before_it_are_not_said_again(ledger: Ledger) -> None:
    table, other = TableEvening("t-0"), TableEvening("t-1")
    hits = []
    for evening in (table, other):
        hits.append(evening.hit(1, "any_royal", 2_500) if evening.lock(1) and evening.finish() else b"")
        give(ledger, evening, *evening.sent)
    ledger.take_step("t-0.1", "verified", "Ann")
    ledger.take_step("t-0.1", "paid", "Bob")
    assert give(ledger, table, table.award(hits[0], "pending", 1)) == [], "another amount: nobody's decision"
    assert give(ledger, other, other.award(hits[0], "paid", 2_500, "Ann")) == ["event_contradicts"], "another table's"
    assert [step for _, step, *_ in waiting(ledger)] == ["pending", "verified", "paid"]
    assert give(ledger, table, table.award(hits[0], "verified", 2_500, "Ann")) == []
    assert [step for _, step, *_ in waiting(ledger)] == ["paid"]
    assert [step for _, step, *_ in waiting(ledger, "t-1")] == ["pending"]


# What contradicts itself stands, and is told.


def test_what_a_person_must_look_at_is_told_and_kept_with_its_award(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    won = (1, "banker_personal")
    assert give(ledger, table, table.lock(1), table.finish(won), table.hit(*won, "big")) == []
    assert give(ledger, table, table.correction((won,), (won,))) == [], "the same hits"
    assert give(ledger, table, table.correction((won,), ())) == ["hits_corrected"]
    assert give(ledger, table, table.void(1)) == ["event_contradicts"]
    assert give(ledger, table, table.void(1)) == ["event_contradicts", "event_contradicts"], "voided before, too"
    (award,) = ledger.awards()
    assert len(award.alarms) == 4
    assert award.alarms[0] == "Table t-0 corrected shoe 1, round 1. The correction changed the round's hits."
    balanced(ledger)


def test_a_correction_of_lucky_9_has_no_hits_and_asks_nothing_of_the_pit(ledger: Ledger, tmp_path: Path) -> None:
    table = TableUnderTest(LUCKY9).open_shoe().do(PlaceWager(Wager(3, "hand", 2000), "dealer")).lock()
    table.draw("2S 2C 3S 6C").do(MakeCall(Call.STAND, "dealer"), MakeCall(Call.REVEAL, "dealer"))
    table.do(CorrectSeatsRound(1, {3: (tuple(cards("2S 4S")),)}, tuple(cards("2C 6C")), "Smith", "Jones"))
    with closing(Journal(tmp_path / "table.journal", LUCKY9.table, KEY, KEY.public)) as journal:
        bodies = [message.body for message in journal.append(table.entries)]
        ledger.adopt(LUCKY9.table, journal.epoch, KEY.public.hex())
    received = ledger.receive([(LUCKY9.table, body) for body in bodies])
    assert [(event.type, event.alarms) for event in received.committed][-2:] == [("round", ()), ("correction", ())]
    assert received.acks[LUCKY9.table].seq == len(bodies)
    balanced(ledger)


def test_a_hit_without_a_wager_or_twice_is_an_award_with_an_alarm(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "any_royal")))
    assert give(ledger, table, table.hit(2, "any_royal", 100)) == ["event_contradicts"]
    assert give(ledger, table, table.hit(1, "any_royal", 100)) == []
    assert give(ledger, table, table.hit(1, "any_royal", 100)) == ["event_contradicts"]
    assert amounts(ledger) == [("pending", 100)] * 3
    balanced(ledger)


def test_a_hit_on_a_level_that_was_paid_without_it_takes_nothing_from_anybody(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 2), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
    ledger.take_step("t-0.1", "verified", "Ann")
    assert give(ledger, table, table.hit(2, "player_personal", "big")) == ["event_contradicts"]
    assert amounts(ledger) == [("verified", 1_333), ("pending", 0)]
    balanced(ledger)


def test_wagers_locked_twice_in_a_hand_count_once(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1))
    table.round -= 1
    assert give(ledger, table, table.lock(1, 2)) == ["event_contradicts"]
    assert ledger.levels() == {"big": 1_166, "small": 75}
    balanced(ledger)


def test_a_hit_on_a_meter_the_pit_does_not_have_waits_for_it(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish())
    hit = table.hit(1, "banker_personal", "huge")
    received = ledger.receive([("t-0", hit)])
    assert [refusal.code for _, refusal in received.refused] == ["meter_unknown"]
    assert received.acks["t-0"].seq == 2
    ledger.set_terms(TERMS | {"huge": Terms(5_000, Fraction(0), Fraction(0), 5_000)})
    give(ledger, table, hit)
    assert amounts(ledger) == [("pending", 5_000)]
    balanced(ledger)


# Terms.


def test_a_wager_is_voided_by_the_terms_under_which_it_was_locked(ledger: Ledger) -> None:
    """The correction after a void takes off the meter what the wager added under the terms that were in force when
    betting closed. The terms may have changed since then, while people played for the meter. Ledgers that an earlier
    version wrote have such changes."""
    first, second = TableEvening("t-0"), TableEvening("t-1")
    give(ledger, first, first.lock(1))
    change_at_once(ledger, TERMS | {"big": Terms(2_000, Fraction(1, 2), Fraction(0), 2_000)})
    assert ledger.levels()["big"] == 1_166
    give(ledger, second, second.lock(1))
    assert ledger.levels()["big"] == 1_416
    give(ledger, first, first.void(1))
    correct(ledger)
    assert ledger.levels()["big"] == 1_250
    balanced(ledger)
    give(ledger, second, second.finish(), second.hit(1, "banker_personal", "big"))
    assert ledger.levels()["big"] == 2_000
    balanced(ledger)


def test_a_meter_is_not_forgotten_by_leaving_it_out(ledger: Ledger) -> None:
    assert code_of(lambda: ledger.set_terms({"big": TERMS["big"]})) == "meter_left_out"
    assert ledger.levels() == {"big": 1_000, "small": 70}


# The account finds what was tampered with.


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE fund SET cents = cents + 1 WHERE account = 'meter:big'",
        "UPDATE fund SET remainder = '1/2' WHERE account = 'meter:big'",
        "UPDATE fund SET cents = cents - 1 WHERE account = 'awards'",
        "UPDATE entry SET cents = cents + 1 WHERE account = 'house'",
        "DELETE FROM entry WHERE posting = (SELECT max(posting) FROM entry)",
        "UPDATE award SET cents = cents + 1",
        "UPDATE award SET step = 'paid'",
        "DELETE FROM award",
        "DELETE FROM event WHERE seq = 1",
    ],
)
def test_the_account_does_not_balance_over_a_ledger_that_was_tampered_with(tmp_path: Path, tampering: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(opened(path)) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1), table.finish((1, "banker_personal")), table.hit(1, "banker_personal", "big"))
        give(ledger, table, table.lock(1), table.finish())
        balanced(ledger)
        with closing(sqlite3.connect(path)) as db:
            db.execute(tampering)
            db.commit()
        assert ledger.account().findings


def test_drawing_up_the_account_does_not_wait_for_the_pit_nor_hold_it_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(opened(path)) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as pit:
        pit.execute("BEGIN IMMEDIATE")
        balanced(ledger)
        assert ledger.awards() == []
        pit.execute("ROLLBACK")


# At random, against the model.


_Wager = tuple[int, int, str, int]
"""Table, hand, spot and seat."""
_Won = tuple[str, str] | int
"""A meter and the share of it, or fixed cents."""


@dataclass
class ModelMeter:
    """A model of one meter, written from the text of the contract. `on_it` maps each wager to two amounts in cents:
    what the wager has on the meter, and what it has in the reserve.

    `locks` holds a dict for each round that won the meter. In the dict, `on_it` maps each wager to the amounts that the
    win took from the wager's money. `borne` lists those of these amounts whose wagers were voided and then corrected by
    people.
    """

    terms: Terms
    level: Fraction
    reserve: Fraction = Fraction(0)
    locks: list[dict[str, Any]] = field(default_factory=list)
    on_it: dict[_Wager, tuple[Fraction, Fraction]] = field(default_factory=dict)


class Model:
    """A model of all meters and awards for two tables, written from the text of the contract."""

    def __init__(self) -> None:
        self.meters = {name: ModelMeter(terms, Fraction(terms.seed_cents)) for name, terms in TERMS.items()}
        self.awards: list[dict[str, Any]] = []

    def lock(self, wager: _Wager, price: int, meters: Collection[str]) -> None:
        for meter in (self.meters[name] for name in meters):
            put = (price * meter.terms.contribution, price * meter.terms.reserve)
            meter.level, meter.reserve = meter.level + put[0], meter.reserve + put[1]
            meter.on_it[wager] = put

    def correct(self, wager: _Wager) -> None:
        """Subtract from the meters the money that this voided wager had added and that has not been won. The void
        itself did not change the meters."""
        for meter in self.meters.values():
            put = meter.on_it.pop(wager, (Fraction(0), Fraction(0)))  # won since: it stays won
            meter.level, meter.reserve = meter.level - put[0], meter.reserve - put[1]
            for lock in meter.locks:
                if wager in lock["on_it"]:
                    lock["borne"].append(lock["on_it"].pop(wager))

    def hits(self, table: int, winners: list[_Won]) -> None:
        """Book all hits of one round."""
        locked: dict[_Won, dict[str, Any]] = {}
        for won in winners:
            if isinstance(won, int):
                self.awards.append({"table": table, "cents": won, "step": "pending", "lock": None})
                continue
            if won not in locked:
                name, share = won[0], Fraction(*map(int, won[1].split(":")))
                meter, whole = self.meters[name], share == 1
                level = floor(floor(meter.level) * share)
                from_reserve = min(floor(meter.reserve), meter.terms.reseed_at_most_cents) if whole else 0
                begun = max(from_reserve, meter.terms.seed_cents) if whole else 0
                meter.level += begun - level
                meter.reserve -= from_reserve
                locked[won] = {"name": name, "level": level, "begun": begun, "from": from_reserve, "borne": []}
                taken = {wager: (put * share, kept * whole) for wager, (put, kept) in meter.on_it.items()}
                locked[won]["on_it"] = taken
                meter.on_it = {
                    wager: (put - taken[wager][0], kept - taken[wager][1]) for wager, (put, kept) in meter.on_it.items()
                }
                meter.locks.append(locked[won])
            self.awards.append({"table": table, "cents": 0, "step": "pending", "lock": locked[won]})
        for lock in locked.values():
            self._share(lock, self._of(lock))

    def _of(self, lock: dict[str, Any]) -> list[dict[str, Any]]:
        return [award for award in self.awards if award["lock"] is lock and award["step"] != "rejected"]

    @staticmethod
    def _share(lock: dict[str, Any], sharing: list[dict[str, Any]]) -> None:
        for place, award in enumerate(sharing):
            award["cents"] = (lock["level"] + len(sharing) - 1 - place) // len(sharing)
            award["step"] = "pending"

    def reject(self, award: dict[str, Any]) -> None:
        award["step"], lock = "rejected", award["lock"]
        if lock is None:
            return
        meter = self.meters[lock["name"]]
        standing = self._of(lock)
        if standing and not any(other["step"] == "paid" for other in standing):
            self._share(lock, standing)
            return
        meter.level += award["cents"]
        while meter.locks and not self._of(meter.locks[-1]):  # it was never won
            undone = meter.locks.pop()
            meter.level -= undone["begun"] + sum(put[0] for put in undone["borne"])
            meter.reserve += undone["from"] - sum(put[1] for put in undone["borne"])
            for wager, (put, kept) in undone["on_it"].items():
                meter.on_it[wager] = (meter.on_it[wager][0] + put, meter.on_it[wager][1] + kept)


_SEATS = st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True)
_WON = st.sampled_from([("big", "1:1"), ("big", "1:1"), ("big", "1:10"), ("big", "2:3"), ("small", "1:1"), 2_500])
_ON_THE_SECOND = st.sampled_from([("small", "1:1"), ("small", "1:2")])
_BETS = ((SPOT, ("big", "small")), ("lucky_pair", ("small",)))


class Play:
    """A random play of two tables and of people, which runs on a ledger and on the model at the same time, so that a
    test can compare the two."""

    def __init__(self, data: Any, path: Path) -> None:
        self._data = data
        self._path = path
        self.ledger = opened(path)
        self.model = Model()
        self.tables = [TableEvening("t-0"), TableEvening("t-1")]
        self._open: dict[int, dict[str, list[int]]] = {}
        self._voided: dict[str, list[_Wager]] = {}

    def step(self) -> None:
        number = self._data.draw(st.integers(0, 1), label="table")
        act = self._data.draw(st.sampled_from(["play", "play", "play", "play", "person", "correct", "again", "kill"]))
        table = self.tables[number]
        match act:
            case "play" if number in self._open:
                self._end_hand(number, table)
            case "play":
                locked = []
                for spot, meters in _BETS if self._data.draw(st.booleans(), label="both bets") else _BETS[:1]:
                    seats = self._data.draw(_SEATS, label="seats")
                    price = self._data.draw(st.sampled_from([500, 1, 777]), label="price")
                    for seat in seats:
                        self.model.lock((number, table.round + 1, spot, seat), price, meters)
                    locked.append((spot, seats, price, meters))
                self._open[number] = {spot: seats for spot, seats, *_ in locked}
                self._commit(table, table.lock_on(*locked))
            case "person" if self.model.awards:
                self._decide()
            case "correct" if self._voided:
                with self.ledger.closing_meters() as closings:
                    left = closings.corrections.waiting()
                if left:
                    self._correct(self._data.draw(st.sampled_from(left), label="void"))
                balanced(self.ledger)
            case "again" if table.sent:
                again = self._data.draw(st.lists(st.sampled_from(table.sent), max_size=5), label="again")
                assert not self.ledger.receive([(table.table, body) for body in again]).committed
            case "kill":
                self.ledger.close()
                self.ledger = opened(self._path)
        self.agrees()

    def _correct(self, left: LeftByVoid) -> None:
        with self.ledger.closing_meters() as closings:
            closings.corrections.correct(left.void, "Ann", "Bob", "F-19", "a card fell")
        for wager in self._voided.pop(left.void):
            self.model.correct(wager)

    def _end_hand(self, number: int, table: TableEvening) -> None:
        bets = self._open.pop(number)
        if self._data.draw(st.booleans(), label="void"):
            self._commit(table, table.void_on(*bets.items()))
            voided = [(number, table.round, spot, seat) for spot, seats in bets.items() for seat in seats]
            self._voided[f"{table.table}/{EPOCH}/{len(table.sent)}"] = voided
            return
        winners: list[tuple[str, int, _Won]] = []
        for spot, seats in bets.items():
            won = _WON if spot == SPOT else _ON_THE_SECOND
            winning = seats[: self._data.draw(st.integers(0, 3))]
            winners += [(spot, seat, self._data.draw(won, label="won")) for seat in winning]
        self._commit(table, table.finish(*((seat, "tier") for _, seat, _ in winners)))
        self.model.hits(number, [won for *_, won in winners])
        for spot, seat, hit in winners:
            meter, share = (hit, "1:1") if isinstance(hit, int) else hit
            self._commit(table, table.hit(seat, "tier", meter, share, spot))

    def _commit(self, table: TableEvening, body: bytes) -> None:
        assert {*give(self.ledger, table, body)} <= {"many_voids"}
        balanced(self.ledger)

    def _decide(self) -> None:
        awards = self.ledger.awards()
        place = self._data.draw(st.integers(0, len(awards) - 1), label="award")
        step = self._data.draw(st.sampled_from(["verified", "paid", "rejected"]), label="step")
        model = self.model.awards[place]
        may = {"pending": ("verified", "rejected"), "verified": ("paid", "rejected")}.get(model["step"], ())
        by = "Bob" if step == "paid" else "Ann"
        if step not in may:
            assert code_of(lambda: self.ledger.take_step(awards[place].id, step, by)) == "step_not_next"
        else:
            self.ledger.take_step(awards[place].id, step, by)
            if step == "rejected":
                self.model.reject(model)
            else:
                model["step"] = step

    def agrees(self) -> None:
        account = self.ledger.account()
        assert account.findings == ()
        shown = {
            meter.meter: (meter.level_cents + meter.carried, meter.reserve_cents + meter.reserve_carried)
            for meter in account.meters
        }
        assert shown == {name: (meter.level, meter.reserve) for name, meter in self.model.meters.items()}
        assert self.ledger.levels() == {name: floor(meter.level) for name, meter in self.model.meters.items()}
        assert [self._plain(award) for award in self.ledger.awards()] == [
            (f"t-{award['table']}", award["cents"], award["step"]) for award in self.model.awards
        ]
        owed = sum(a["cents"] for a in self.model.awards if a["step"] in ("pending", "verified"))
        paid = sum(a["cents"] for a in self.model.awards if a["step"] == "paid")
        assert (account.owed_cents, account.paid_cents) == (owed, paid)

    @staticmethod
    def _plain(award: Award) -> tuple[str, int, str]:
        return award.table, award.cents, award.step


class PlayWithoutHits(Play):
    """A random play of two tables and of people that also runs on a second ledger. The second ledger gets the same
    events except the hits, so that a test can compare the two ledgers."""

    def _commit(self, table: TableEvening, body: bytes) -> None:
        without = self._without.setdefault(table.table, TableEvening(table.table))
        super()._commit(table, body)
        message = json.loads(body)
        if message["type"] != "hit":
            without.round = table.round
            said = {key: message[key] for key in ("progressive", "simulated") if key in message}
            give(self.beside, without, without.say(message["type"], **said, awards=[]))

    def _correct(self, left: LeftByVoid) -> None:
        super()._correct(left)
        table, *_ = left.void.split("/")
        with self.beside.closing_meters() as closings:
            for each in closings.corrections.waiting():
                if each.void.startswith(f"{table}/") and each.round == left.round:
                    closings.corrections.correct(each.void, "Ann", "Bob", "F-19", "a card fell")

    def __init__(self, data: Any, path: Path) -> None:
        super().__init__(data, path)
        self._without: dict[str, TableEvening] = {}
        self.beside = opened(path.with_name("beside.sqlite"))


@examples(13)
@given(st.data())
def test_when_every_hit_is_rejected_everything_is_as_if_there_had_been_none(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play = PlayWithoutHits(data, Path(folder) / "ledger.sqlite")
        try:
            for _ in range(data.draw(st.integers(1, 16), label="steps")):
                play.step()
            for award in data.draw(st.permutations(play.ledger.awards()), label="order"):
                if award.step not in ("paid", "rejected"):
                    play.ledger.take_step(award.id, "rejected", "Ann")
                    balanced(play.ledger)
            if all(award.step == "rejected" for award in play.ledger.awards()):
                with_hits, without = funds(play.ledger), funds(play.beside)
                assert with_hits == without
        finally:
            play.ledger.close()
            play.beside.close()


def funds(ledger: Ledger) -> dict[str, Fraction]:
    """Return the exact cents on each account of the pit's bookkeeping, by the account's name. The account `wagers` and
    empty accounts are left out."""
    rows = ledger._db.execute("SELECT account, cents, remainder FROM fund WHERE account != 'wagers'").fetchall()
    return {account: total for account, cents, rest in rows if (total := cents + Fraction(rest))}


@examples(13)
@given(st.data())
def test_whatever_is_played_decided_repeated_and_killed_the_meters_are_exact(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play = Play(data, Path(folder) / "ledger.sqlite")
        try:
            for _ in range(data.draw(st.integers(1, 20), label="steps")):
                play.step()
        finally:
            play.ledger.close()


_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(1, 7), st.just(10**30), st.text(max_size=3), st.just("big"),
    st.just([]), st.just([1, 1]), st.just([2, [3]]), st.just([True]), st.just({}), st.just({"meter": "big"}),
    st.just({"meter": "\x1b"}), st.just({"cents": -1}), st.just({"cents": 7}),
    st.just({"meter": "big", "share": "1:3"}), st.just({"meter": "big", "share": "4:3"}),
    st.just([{"spot": "a", "seats": [1], "price_cents": 5, "meters": ["big"]}]),
    st.just([{"spot": "royal9", "seats": [1]}]), st.just([{"spot": "a", "seats": [1], "price_cents": 5, "meters": 1}]),
)  # fmt: skip
_FIELDS = ("shoe", "round", "awards", "awards_before", "spot", "seat", "tier")
_MORE_FIELDS = ("progressive", "fixed", "award", "step", "cents", "by")
_TYPES = st.sampled_from(["wagers_locked", "void", "round", "hit", "correction", "award", "alarm", "unheard_of"])


@examples(20)
@given(st.lists(st.tuples(_TYPES, st.dictionaries(st.sampled_from([*_FIELDS, *_MORE_FIELDS]), _JUNK)), max_size=8))
def test_whatever_a_table_signs_is_committed_and_the_account_balances(said: list[tuple[str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(opened(Path(folder) / "ledger.sqlite")) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1, 2))
        for event_type, fields in said:
            give(ledger, table, table.say(event_type, **fields))
            balanced(ledger)
        ledger.awards()


def test_an_event_that_is_not_understood_moves_nothing_and_is_told(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    table.round = 1
    bet = {"spot": "royal9", "seats": [1], "price_cents": 500, "meters": ["big"]}
    hit = {"spot": "royal9", "seat": 1, "tier": "any_royal"}
    for event_type, fields in (
        ("wagers_locked", {"progressive": [bet | {"price_cents": None}]}),
        ("wagers_locked", {"progressive": [bet], "round": None}),
        ("wagers_locked", {"progressive": [bet, bet]}),
        ("wagers_locked", {"progressive": [bet | {"meters": ["big", "big"]}]}),
        ("wagers_locked", {"progressive": [bet | {"meters": "big"}]}),
        ("wagers_locked", {"contract": 2, "royal9_seats": [1], "royal9_price_cents": None}),
        ("void", {"progressive": [{"spot": "royal9", "seats": [1, 1]}]}),
        ("void", {"contract": 2, "royal9_seats": [1, 1]}),
        ("hit", hit | {"progressive": None, "fixed": None}),
        ("hit", hit | {"progressive": {"meter": "big", "share": "1:1"}, "fixed": {"cents": 1}}),
        ("hit", hit | {"progressive": {"meter": "big"}, "fixed": None}),
        ("hit", hit | {"progressive": {"meter": "big", "share": "11:10"}, "fixed": None}),
        ("hit", hit | {"spot": None, "progressive": {"meter": "big", "share": "1:1"}, "fixed": None}),
        ("award", {"hit": "t-0/ab12cd/1", "step": "paid", "cents": "5", "by": "Ann"}),
        ("award", {"hit": "t-0/ab12cd/1", "step": "paid", "cents": 5, "by": "\x1b[2J"}),
        ("award", {"hit": "t-0/ab12cd/1", "step": "lost", "cents": 5, "by": "Ann"}),
    ):
        assert give(ledger, table, table.say(event_type, **fields)) == ["event_not_understood"], event_type
    assert ledger.levels() == {"big": 1_000, "small": 70}
    assert ledger.awards() == []
    balanced(ledger)


def test_games_without_the_wager_move_nothing_and_alarm_nobody(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    table.round = 1
    lock = table.say("wagers_locked", progressive=[])
    assert give(ledger, table, lock, table.say("round", dealer={}), table.void()) == []
    balanced(ledger)


def test_a_refused_event_moves_nothing_even_beside_good_ones(ledger: Ledger) -> None:
    table, forger = TableEvening("t-0"), TableEvening("t-0")
    lock, forged = table.lock(1), forger.lock(1, 2, 3)
    received = ledger.receive([("t-0", lock), ("t-0", forged), ("t-0", forged), ("t-0", lock)])
    assert all(isinstance(refusal, RefusedError) for _, refusal in received.refused)
    assert [refusal.code for _, refusal in received.refused] == ["body_differs"] * 2
    assert ledger.levels() == {"big": 1_166, "small": 75}
    balanced(ledger)
