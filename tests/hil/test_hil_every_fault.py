"""Checks every fault at a running table: how the fault is caused, what people see, and by which exit (an act that
clears a fault) it ends."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from unittest.mock import ANY

import pytest

from controller.basics.errors import TableError
from controller.bench.far_shoe import FarShoe
from controller.table.facts import ShoeError
from controller.table.faults import FAULTS
from drivers.sim import rules
from drivers.sim.shoe.angel_eye import Result, Target, card_byte, frame
from drivers.sim.signing import at_now
from tests.hil.bench import Bench
from tests.support.errors import raising
from tests.support.felt import FeltRound

CARDS = 8 * 52
_LAMP_IS_OFF_S = 0.8  # dark for longer than the fault lamp's slow blink leaves it dark
_NO_EXIT = ""
_AT_LENGTH = {
    *("journal_failed-beetek", "journal_gone-beetek", "internal-beetek", "impossible_card-beetek"),
    *("shoe_unplugged-beetek", "shoe_unheard-beetek", "cut_card_in_burn", "second_cut_card", "second_cut_card-beetek"),
    *("card_after_shoe", "card_after_shoe-beetek", "first_card_in_shoe", "burn_long", "burn_count_differs"),
    *("shoe_exhausted", "commission_owed", "unreadable_card", "card_not_due", "choice_due", "burn_short"),
    *("card_without_shoe", "card_outside_game", "force_quit"),
    *("shoe_error-overdraw", "shoe_error-overdraw_kept_between_rounds", "shoe_error-overdraw_kept_in_play"),
    *("shoe_error-button_mishandled", "shoe_error-reverse_midway", "shoe_error-reverse_at_exit"),
    *("shoe_error-card_code", "shoe_error-draw_timeout", "target_differs", "reports_missed", "round_too_fast"),
    *("cut_card_in_burn-beetek", "commission_owed-collected"),
    *("shoe_error-cannot_read", "shoe_restarted", "shoe_unheard"),
    *("cabinet_opened", "journal_gone", "journal_behind_pit", "shoe_unplugged", "outbox_full"),
}
"""Walks that no shoe changes, with a second brand of shoe; errors of the shoe that are left as another is; and faults
that the core makes of a report and its phase alone. Of these `tests/table` proves each cell and each exit, and
`tests/drivers` that the report's bytes are that report. Here they show once more the lamp, the pit and the socket.
An error of the shoe stands and is answered in `test_hil_people.py`; a shoe that was switched off or went unheard is
counted in `test_hil_shoes_end.py` and `test_hil_absence.py`.
The last five are walked by tests of their own: of the cabinet, of a vanishing journal, of the stream, of a shoe that is
unplugged inside a round, and of a full outbox in `tests/fuzz`."""


Way = Callable[[Bench], Iterator[dict[str, Any]]]


@dataclass(frozen=True)
class Walk:
    """The test of one fault, from its cause to its end.

    The generator `way` causes the fault, and yields the details that the fault must have. When `way` is resumed, it
    clears the fault by the act `exit_`. `heard` says whether the pit hears of the fault before it is cleared.
    """

    code: str
    how: str
    way: Way
    exit_: str
    by: str
    heard: bool
    table: dict[str, Any]


WALKS: dict[str, Walk] = {}


def walk(
    code: str, exit_: str, by: str = "Ann", how: str = "", both_shoes: bool = False, heard: bool = True, **table: Any
) -> Callable[[Way], Way]:
    """Return a decorator that registers a generator as the test of the fault `code`, which the act `exit_` by the
    person `by` clears.

    `how` names the cause, if a fault can have several causes. With `both_shoes` the test also runs with a BeeTek shoe.
    `heard` says whether the pit hears of the fault. `table` holds changes to the table's files.
    """
    name = f"{code}-{how}" if how else code

    def note(way: Way) -> Way:
        assert name not in WALKS
        WALKS[name] = Walk(code, how, way, exit_, by, heard, table)
        if both_shoes:
            WALKS[f"{name}-beetek"] = Walk(code, how, way, exit_, by, heard, {**table, "shoe": {"driver": "beetek"}})
        return way

    return note


# The shoe's life.


@walk("card_without_shoe", "new_shoe", by="key", shoe={"driver": "beetek"})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.shoe.deal("2C KC")
    yield {}
    at.with_key("new_shoe")
    assert (at.table.phase, at.table.face.first_card) == ("burning", "2C")
    at.shoe.deal("KC")
    at.await_phase("wagers_open")
    assert at.table.face.cards_left == CARDS - 3


@walk("card_after_shoe", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("CUT 9C TD TC 5D")
    at.await_phase("shoe_ended")
    at.shoe.draw_outside_game("setting")
    yield {"shoe_mode": "setting"}
    at.table.supervisor("clear")
    at.dealer.open_shoe("AD", "KD")
    assert (at.table.face.shoe, at.table.face.cards_left) == (2, CARDS - 2)


@walk("card_after_shoe", "clear", how="beetek", shoe={"driver": "beetek"})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.cut_card()
    at.dealer.play("9C TD TC 5D")
    at.await_phase("shoe_ended")
    at.shoe.deal("2H")
    yield {}
    at.table.supervisor("clear")
    at.dealer.open_shoe("AD", "KD")
    assert (at.table.face.shoe, at.table.face.cards_left) == (2, CARDS - 2)


@walk("first_card_in_shoe", "new_shoe", by="key")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.shoe.new_shoe()
    at.shoe.deal("2D")
    yield {"shoe_says": "first_card card 0", "rules_say": "player card 1"}
    at.with_key("new_shoe")
    at.shoe.deal("KD KD")
    at.await_phase("wagers_open")
    assert (at.table.face.shoe, at.table.face.cards_left) == (2, CARDS - 3)
    at.eventually(lambda: at.pit.types[-3:] == ["shoe_closed", "fault_cleared", "shoe_opened"])


@walk("burn_short", "clear", by="key")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.announce()
    at.shoe.deal("3H")
    at.shoe.deal("KC", target=Target.PLAYER, index=1)
    yield {"shoe_says": "player", "rules_say": "burn"}
    at.with_key("deal")
    assert (at.table.phase, at.table.face.burn_left) == ("burning", 2)
    at.shoe.deal("KC KC")
    at.await_phase("wagers_open")


@walk("burn_long", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.shoe.deal("5C", target=Target.BURNED, index=3)
    yield {"shoe_says": "burn card 3", "rules_say": "player card 1"}
    at.table.supervisor("clear")
    assert (at.table.phase, at.table.face.cards_left) == ("wagers_open", CARDS - 4)
    at.play_on(after=0)


@walk("burn_count_differs", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.announce()
    counted_right, counted_wrong = b"D\xd3\x80", b"D\xd4\x80"
    at.shoe.corrupt = lambda _, sent: frame(chr(sent[1]), counted_wrong) if sent[2:5] == counted_right else sent
    at.shoe.deal("3H")
    yield {"shoe_says": 4, "first_card_is_worth": 3}
    at.table.supervisor("clear")
    at.shoe.deal("KC KC KC")
    at.await_phase("wagers_open")


@walk("cut_card_in_burn", "clear", by="key", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.announce()
    at.shoe.deal("3H KC")
    at.eventually(lambda: at.table.face.burn_left == 2)
    at.dealer.cut_card()
    yield {}
    at.with_key("deal")
    at.shoe.deal("KC KC")
    at.await_phase("wagers_open")
    assert not at.table.face.final_round


@walk("second_cut_card", "new_shoe", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.cut_card()
    at.dealer.cut_card()
    yield {}
    at.table.supervisor("new_shoe")
    assert (at.table.phase, at.table.face.shoe) == ("first_card_due", 2)
    at.eventually(lambda: [event["reason"] for event in at.pit.told("shoe_closed")] == ["closed_early"])


@walk("shoe_exhausted", "clear", by="key", table={"lock_on": "first_card"}, game={"shoe": {"decks": 1}})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    *final_round, kept = ["TD", "TC", "5D", "4D", "5C", "4C"]
    at.announce()
    at.shoe.deal(" ".join(_whole_rounds_without({*final_round, kept})))
    at.eventually(lambda: (at.table.phase, at.table.face.cards_left) == ("wagers_open", 6))
    at.shoe.deal(final_round[0])
    _report_kept(at.shoe, kept)  # for a round that never comes, and so Banker's third card is not there
    at.shoe.deal(" ".join(final_round[1:]))
    yield {}
    at.with_key("deal")
    assert at.table.phase == "shoe_ended"
    at.eventually(lambda: at.pit.types[-4:] == ["void", "shoe_closed", "fault", "fault_cleared"])
    assert at.pit.told("void")[0]["round"] == len(at.pit.rounds) + 1


def _whole_rounds_without(others: set[str]) -> list[str]:
    """Return a shuffled deck without the cards `others`, in an order in which the last card ends a round."""
    deck = [rank + suit for rank in rules.RANKS for suit in rules.SUITS if rank + suit not in others]
    for seed in count():
        random.Random(seed).shuffle(deck)
        round_ = FeltRound()
        for card in deck[1 + rules.burn_count(deck[0]) :]:
            round_ = FeltRound() if round_.side is None else round_
            round_.take(card)
        if round_.side is None:
            return deck
    raise AssertionError


def _report_kept(shoe: FarShoe, card: str) -> None:
    """Send a shoe's report that the shoe kept a card for the next round. The simulated shoe would not send this report
    by itself at this moment."""
    seq = (int(chr(bytes.fromhex(shoe.sent[-1])[1])) + 1) % 10
    shoe.skip_seq()
    shoe.line.write(3 * frame(str(seq), bytes([ord("R"), 0x80 | Target.PLAYER << 4 | 1, card_byte(card)])))


@walk("commission_owed", "new_shoe", by="key", example="sugarhouse")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    _owe_at_the_shoes_end(at)
    yield {"seats": "2", "owed_cents": 100}
    at.with_key("new_shoe")
    assert (at.table.face.shoe, at.table.face.commission_owed) == (2, {"2": 100})
    at.await_phase("wagers_open")


@walk("commission_owed", "new_shoe", by="first_card", how="collected", example="sugarhouse")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    _owe_at_the_shoes_end(at)
    yield {"seats": "2", "owed_cents": 100}
    at.table.tablectl("commission", "2", "--by", "Ann")
    at.await_phase("wagers_open")
    assert (at.table.face.shoe, at.table.face.commission_owed) == (2, {})


def _owe_at_the_shoes_end(at: Bench) -> None:
    """Let seat 2 win on Banker in the last round of the shoe, so that it owes commission. After that, let the shoe
    begin a new shoe by itself."""
    at.dealer.open_shoe()
    at.table.tablectl("wager", "2", "banker", "2000", "--by", "Ann")
    at.dealer.lock()
    at.shoe.deal("CUT 4S TH 4D 9C")
    at.await_phase("shoe_ended")
    at.shoe.new_shoe()
    at.shoe.deal("AD KD")


# Cards.


@walk("unreadable_card", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.announce()
    at.shoe.deal("2C ??KC")
    yield {"where": "burn"}
    at.table.supervisor("clear")  # a burned card may stay unnamed
    at.shoe.deal("KC")
    at.await_phase("wagers_open")
    assert at.table.face.cards_left == CARDS - 3


@walk("impossible_card", "card", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    for _ in range(2):
        at.dealer.play("8H 8H 8H 8H")
    at.dealer.lock()
    at.shoe.deal("8H")
    yield {"where": "player", "card": "8H"}
    assert at.pit.types[-2:] == ["alarm", "fault"]
    with raising("card_cannot_be"):
        at.table.supervisor("card", card="8H")
    at.table.supervisor("card", card="8D")
    assert at.table.hands == {"player": ["8D"], "banker": []}


@walk("card_not_due", "clear", table={"lock_on": "first_card"})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.table.supervisor("pause")
    left = at.table.face.cards_left
    at.shoe.deal("9C")
    yield {}
    at.table.supervisor("clear")
    at.await_phase("paused")
    assert left is not None
    assert at.table.face.cards_left == left - 1
    with raising("paused"):
        at.table.supervisor("wager", seat=1, spot="player", cents=2000)
    at.table.supervisor("resume")
    at.shoe.force_quit()  # its own game of that card
    at.shoe.deal("9D")
    at.await_phase("round_in_play")


@walk("card_outside_game", "card")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.draw_outside_game("lock")
    yield {"shoe_mode": "lock"}
    at.table.supervisor("card", card="5D")
    assert at.table.hands == {"player": ["5D"], "banker": []}


# Two referees.


@walk("target_differs", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C")
    at.shoe.deal("TD", target=Target.PLAYER, index=2)
    yield {"shoe_says": "player card 2", "rules_say": "banker card 1"}
    assert at.table.hands["banker"] == []
    at.table.supervisor("clear")  # the card lies where the rules put it
    at.shoe.deal("TC 5D")
    at.eventually(lambda: [event["banker"]["cards"] for event in at.pit.rounds] == [["TD", "5D"]])


@walk("result_differs", "clear", by="key")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C TD TC")
    at.shoe.deal("5D", result=Result.BANKER)
    yield {"shoe_says": "banker", "rules_say": "player"}
    at.eventually(lambda: at.pins.lamp("player") == "steady")
    at.pins.press("deal")
    assert at.table.phase == "wagers_open"  # and stays so: the table is stopped
    at.with_key("deal")
    at.eventually(lambda: at.pit.types[-3:] == ["round", "fault", "fault_cleared"])
    at.play_on(after=1)


@walk("force_quit", "void", by="key")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(4)
    at.dealer.deal("9C TD")
    at.shoe.force_quit()
    yield {}
    at.with_key("void")
    assert at.table.phase == "wagers_open"
    at.eventually(
        lambda: [event["progressive"] for event in at.pit.told("void")] == [[{"spot": "royal9", "seats": [4]}]]
    )
    at.play_on(after=0)


# The shoe as a machine.


@walk("shoe_error", "void", by="key", how="cannot_read")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(4)
    at.dealer.deal("9C")
    at.shoe.raise_error(1)
    yield {"error": "cannot_read"}
    at.shoe.cancel_error(1)
    at.with_key("void")
    at.eventually(
        lambda: [event["progressive"] for event in at.pit.told("void")] == [[{"spot": "royal9", "seats": [4]}]]
    )
    at.play_on(after=0)


@walk("shoe_error", "clear", how="overdraw")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C")
    at.shoe.raise_error(2)
    yield {"error": "overdraw"}
    at.shoe.cancel_error(2)
    at.table.supervisor("clear")
    at.shoe.deal("TD TC 5D")
    at.eventually(lambda: len(at.pit.rounds) == 1)


@walk("shoe_error", "clear", how="overdraw_kept_between_rounds")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.shoe.raise_error(2)
    yield {"error": "overdraw"}
    at.shoe.cancel_error(2)
    at.table.supervisor("clear")
    at.shoe.keep("8S")
    at.eventually(lambda: at.table.face.cards_left == CARDS - 3 - 4 - 1)
    assert at.table.hands == {"player": ["8S"], "banker": []}  # drawn in error: a simulated hand's first
    assert at.table.face.simulated
    at.shoe.deal("2D TC 4D")  # the shoe's own game goes on with the kept card too
    at.eventually(lambda: [event["player"]["cards"] for event in at.pit.rounds[1:]] == [["8S", "TC"]])
    assert at.pit.rounds[1]["banker"]["cards"] == ["2D", "4D"]


@walk("shoe_error", "clear", how="overdraw_kept_in_play")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.dealer.deal("9C")
    at.shoe.raise_error(2)
    yield {"error": "overdraw"}
    at.shoe.cancel_error(2)
    _report_kept(at.shoe, "7H")
    at.table.supervisor("clear")
    assert at.table.hands == {"player": ["9C"], "banker": []}
    at.shoe.deal("TD TC 5D")
    at.eventually(lambda: [event["banker"]["cards"] for event in at.pit.rounds] == [["TD", "5D"]])
    assert at.pit.rounds[0]["player"]["cards"] == ["9C", "TC"]
    assert at.table.hands == {"player": ["7H"], "banker": []}  # drawn in error: a simulated hand's first
    at.shoe.deal("2C", target=Target.BANKER, index=1)
    at.shoe.deal("2H", target=Target.PLAYER, index=2)
    at.shoe.deal("KD", target=Target.BANKER, index=2)
    at.eventually(lambda: [event["player"]["cards"] for event in at.pit.rounds[1:]] == [["7H", "2H"]])
    assert at.pit.rounds[1]["banker"]["cards"] == ["2C", "KD"]


@walk("shoe_error", "clear", how="button_mishandled")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.shoe.raise_error(3)
    yield {"error": "button_mishandled"}
    at.shoe.cancel_error(3)
    at.table.supervisor("clear")
    assert at.table.phase == "no_shoe"
    at.dealer.open_shoe()
    at.play_on(after=0)


@walk("shoe_error", "clear", by="key", how="reverse_at_exit")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.dealer.deal("9C TD")
    at.shoe.raise_error(4)
    yield {"error": "reverse_at_exit"}
    at.shoe.cancel_error(4)
    at.with_key("deal")
    assert at.table.hands == {"player": ["9C"], "banker": ["TD"]}
    at.shoe.deal("TC 5D")
    at.eventually(lambda: [event["banker"]["cards"] for event in at.pit.rounds] == [["TD", "5D"]])


@walk("shoe_error", "clear", how="reverse_midway")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.announce()
    at.shoe.deal("3H KC")
    at.eventually(lambda: at.table.face.burn_left == 2)
    at.shoe.raise_error(5)
    yield {"error": "reverse_midway"}
    at.shoe.cancel_error(5)
    at.table.supervisor("clear")
    assert (at.table.phase, at.table.face.burn_left) == ("burning", 2)
    at.shoe.deal("KC KC")
    at.await_phase("wagers_open")


@walk("shoe_error", "new_shoe", how="card_code")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.shoe.raise_error(6)
    yield {"error": "card_code"}
    at.shoe.cancel_error(6)
    at.table.supervisor("new_shoe")
    assert (at.table.phase, at.table.face.shoe) == ("first_card_due", 2)
    at.shoe.new_shoe()
    at.shoe.deal("AD KD")
    at.await_phase("wagers_open")
    assert at.table.face.cards_left == CARDS - 2


@walk("shoe_error", "clear", how="draw_timeout")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.dealer.deal("9C")
    at.shoe.raise_error(7)
    yield {"error": "draw_timeout"}
    at.shoe.cancel_error(7)
    at.shoe.deal("TD TC 5D")  # the dealer goes on before the supervisor has come: the cards wait
    at.eventually(lambda: at.table.stop_told.held_cards == 3)
    assert (at.table.hands, at.pit.rounds) == ({"player": ["9C"], "banker": []}, [])
    at.table.supervisor("clear")
    at.eventually(lambda: [event["banker"]["cards"] for event in at.pit.rounds] == [["TD", "5D"]])


@walk("reports_missed", "clear")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C")
    at.shoe.deal("TD", copies=(True, False, False))  # one copy of three is not enough to believe
    at.shoe.deal("TC")
    yield {}
    at.table.supervisor("card", card="TD")
    at.table.supervisor("clear")
    at.shoe.deal("5D")
    at.eventually(lambda: [event["banker"]["cards"] for event in at.pit.rounds] == [["TD", "5D"]])
    at.eventually(lambda: at.table.status().shoe.bad_bytes.get("unconfirmed"))


@walk("shoe_restarted", "count")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    left = at.table.cards_left
    at.shoe.power_up()
    yield {"cards_left": left}
    at.table.supervisor("count", left=left)
    at.play_on(after=0)  # its numbering began anew with the report that it was switched on


@walk("round_too_fast", "count", table={"fastest_card_ms": 150})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C TD TC 5D")  # four cards at once
    at.eventually(lambda: at.table.fault is not None)
    left, round_ms = at.table.cards_left, int(at.table.stop_told.details["round_ms"])
    assert round_ms < 450
    yield {"cards": 4, "round_ms": round_ms, "cards_left": left, "last_round": 1, "last_result": "player"}
    at.table.supervisor("count", left=left)


@walk("shoe_unplugged", "void", by="Ann, Bea", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(2)
    at.dealer.deal("9C")
    at.shoe.unplug()
    yield {}
    at.shoe.plug()
    at.eventually(at.table.links_up)
    at.by_two("void")
    assert at.table.phase == "wagers_open"
    at.table.count()
    at.play_on(after=0)


@walk("shoe_unheard", "count", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(2)
    at.shoe.unplug()
    at.eventually(lambda: not at.table.status().shoe.up)
    at.shoe.plug()
    yield {"cards_left": 413}
    at.table.supervisor("count", left=413)
    at.shoe.deal("9C TD TC 5D")
    at.eventually(lambda: at.table.phase == "wagers_open")


# The controller itself.


@walk("journal_behind_pit", _NO_EXIT)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.pit.silent()
    acked_at = at_now()
    at.pit.say(at.pit.ack(epoch=at.pit.events[0]["epoch"], seq=1, chain="ab" * 32, at=acked_at))
    yield {"acked_seq": 1, "head_seq": 1, "chain": "differs", "acked_at": acked_at}
    at.table.restart()
    for act, code in (("clear", "pit_stands_by_it"), ("void", "not_an_exit"), ("new_shoe", "not_an_exit")):
        with raising(code):
            at.table.supervisor(act)
    assert at.table.fault == "journal_behind_pit"


@walk("journal_failed", "clear", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    with at.table.busy_disk():
        at.shoe.deal("KS 2D 9S 3C")
        at.eventually(lambda: at.table.status().journal.error)
        at.eventually(lambda: at.pins.lamp("fault") == "fast_blink")
    at.eventually(lambda: at.table.fault is not None)
    yield {"error": ANY}
    at.table.supervisor("clear")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])


@walk("journal_gone", "clear", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.dealer.lock(1)
    for suffix in ("", "-wal", "-shm"):
        at.table.journal.with_name(at.table.journal.name + suffix).unlink()
    at.shoe.deal("KS 2D 9S 3C")
    yield {"file": "table.journal", "found": "removed"}
    assert at.table.status().journal.error is None
    at.table.supervisor("clear")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.table.restart()
    at.play_on(after=2)
    assert at.table.verify().messages == len(at.pit.events)


@walk("journal_altered", "clear", heard=False)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.pit.silent()
    at.dealer.open_shoe()
    at.dealer.play("KS 2D 9S 3C", 1)
    at.table.supervisor("new_shoe")
    at.table.stop()
    with closing(sqlite3.connect(at.table.journal)) as db, db:
        sent = db.execute("SELECT seq, body FROM message ORDER BY seq").fetchall()
        altered, hit = next((seq, body) for seq, body in sent if json.loads(body)["type"] == "hit")
        db.execute("UPDATE message SET body = ? WHERE seq = ?", (hit.replace(b'"seat":1', b'"seat":2'), altered))
    at.pit.forget()
    at.pit.speak()
    at.table.start()
    at.table.count()
    at.eventually(lambda: at.table.fault == "journal_altered")
    yield {"event": altered}
    at.eventually(lambda: [event["seq"] for event in at.pit.events] == list(range(1, altered)))
    told = at.table.status().pit
    assert (told.stream, told.fresh) == ("altered", ANY)
    assert told.why.startswith(f"event {altered} is not in the journal as it was signed")
    at.table.supervisor("clear")
    at.shoe.new_shoe()
    at.shoe.deal("2C KC KC")
    at.await_phase("wagers_open")
    assert at.table.fault is None, "a person knows of it: it is told once"
    assert (at.table.status().pit.stream, at.pit.hits) == ("altered", [])
    assert at.pit.told("fault") == at.pit.told("fault_cleared") == []
    with closing(sqlite3.connect(at.table.journal)) as db, db:
        db.execute("UPDATE message SET body = ? WHERE seq = ?", (hit, altered))
    at.table.restart()  # the next connection asks again
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])


@walk("cabinet_opened", "clear", pins={"cabinet_opened": "fault"})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.pins.hold("cabinet_open")
    yield {}
    at.table.supervisor("clear")
    at.shoe.deal("KS 2D 9S 3C")
    at.await_phase("wagers_open")
    assert at.table.fault is None, "the cabinet is still open, and somebody has looked"


@walk("outbox_full", "clear", pit={"most_unacknowledged": 100})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.pit.silent()
    while at.table.fault is None:
        with suppress(TableError):  # the fault came in between
            at.table.supervisor("new_shoe")
    at.pit.speak()
    yield {"waiting": ANY, "most": 100}
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.table.supervisor("clear")
    at.dealer.open_shoe()


@walk("replay_differs", "clear", by="key")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.dealer.deal("9C")
    (locked,) = [fact["row"] for fact in at.table.facts() if fact["fact"] == "WagersLocked"]
    at.table.stop()
    at.table.program = ("-m", "tests.hil.broken_table", "forgets")
    at.table.start()
    yield {"journal_row": locked}
    at.pins.turn_key()
    at.pins.press("deal", until=lambda: at.table.fault == "shoe_unheard")
    at.pins.turn_key_back()
    at.table.count()
    assert at.table.hands == {"player": ["9C"], "banker": []}
    at.shoe.deal("TD TC 5D")
    at.eventually(lambda: len(at.pit.rounds) == 1)


@walk("internal", "clear", both_shoes=True)
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.table.stop()
    at.table.program = ("-m", "tests.hil.broken_table", "raises=TD")
    at.table.start()
    at.eventually(at.table.links_up)
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("9C TD")
    yield {"error": "ArithmeticError in CardDrawn"}
    assert at.table.hands == {"player": ["9C"], "banker": []}
    at.table.supervisor("card", card="TD")
    at.table.supervisor("clear")
    assert at.table.hands == {"player": ["9C"], "banker": ["TD"]}


# Choices and wagers.


@walk("choice_due", "clear", example="lucky9")
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.table.supervisor("wager", seat=2, spot="hand", cents=1000)
    at.eventually(lambda: len(at.table.face.wagers) == 1)
    at.dealer.lock()
    at.shoe.deal("2S TD 3S 4D")
    at.eventually(lambda: at.table.face.choice is not None)
    at.shoe.deal("4C")
    yield {"seat": 2}
    assert at.table.hands == {"player": [], "banker": [], "seat_2": ["2S", "3S"], "dealer": ["--", "4D"]}
    at.table.supervisor("clear")
    assert at.table.hands["seat_2"] == ["2S", "3S", "4C"]
    at.pins.press("reveal", until=lambda: at.table.face.reveal == ())
    at.shoe.deal("5H")
    at.eventually(lambda: len(at.pit.rounds) == 1)
    assert at.pit.rounds[0]["dealer"] == {"cards": ["TD", "4D", "5H"], "total": 9}


@walk("wagers_differ", "clear", table={"bet_recognition": True})
def _(at: Bench) -> Iterator[dict[str, Any]]:
    at.dealer.open_shoe()
    at.table.supervisor("wager", seat=2, spot="player", cents=2000)
    at.table.supervisor("wager", seat=2, spot="royal9", cents=500)
    at.eventually(lambda: len(at.table.face.wagers) == 2)
    at.pins.press("deal", until=lambda: at.table.fault is not None)
    yield {"spot": "royal9", "seats": "2"}
    assert at.table.phase == "wagers_open"
    at.pins.cover(2)
    at.eventually(lambda: at.table.status().sensors == (2,))
    at.table.supervisor("clear")
    at.dealer.lock()
    at.eventually(lambda: at.pit.told("wagers_locked")[-1]["progressive"][0]["seats"] == [2])


# What all walks have in common.


def test_every_fault_has_its_walk() -> None:
    assert {way.code for way in WALKS.values()} == FAULTS.keys()
    assert {error.value for error in ShoeError} <= {way.how for way in WALKS.values() if way.code == "shoe_error"}
    for way in WALKS.values():
        exits = {exit_.value for exit_ in FAULTS[way.code].exits}
        by_the_pit = FAULTS[way.code].two_people  # left only once the pit has taken its word back: another test's
        assert way.exit_ in exits or (way.exit_ == _NO_EXIT and by_the_pit)


def _marks(name: str, way: Walk) -> list[pytest.MarkDecorator]:
    return [pytest.mark.table(**way.table), *([pytest.mark.proof] if name in _AT_LENGTH else [])]


@pytest.mark.parametrize("walked", [pytest.param(way, id=name, marks=_marks(name, way)) for name, way in WALKS.items()])
def test_the_fault_comes_is_seen_and_is_left(walked: Walk, at: Bench) -> None:
    code = walked.code
    going = walked.way(at)
    details = next(going)

    at.eventually(lambda: at.table.fault is not None)
    shown = at.table.stop_told
    how_long = {"unheard_s"} & shown.details.keys()  # nobody here can tell exactly
    assert (shown.code, _but(how_long, shown.details)) == (code, details)
    assert shown.details.keys() <= set(FAULTS[code].details)
    at.eventually(lambda: at.pins.lamp("fault") == "fast_blink")
    assert not at.pins.lit() & {"draw_player", "draw_banker"}
    if walked.exit_ == _NO_EXIT:
        _stands_for_good(going, code, at)
        return
    at.eventually(lambda: at.pit.told("fault") if walked.heard else at.pit.state.fault == code)
    assert at.pit.told("fault_cleared") == []

    assert list(going) == []
    at.eventually(lambda: _of(code, at.pit.told("fault")))
    (told,) = _of(code, at.pit.told("fault"))
    assert {event["code"] for event in at.pit.told("fault")} <= {code, "shoe_unheard"}, "a count came after"
    assert (told["code"], _but(how_long, told["details"]), told["exits"]) == (code, details, [*shown.exits])
    assert at.table.fault is None
    assert walked.exit_ in shown.exits
    at.eventually(lambda: _of(code, at.pit.told("fault_cleared")))
    cleared, *_ = _of(code, at.pit.told("fault_cleared"))
    assert (cleared["code"], cleared["exit"], cleared["by"]) == (code, walked.exit_, walked.by)
    at.eventually(lambda: at.pins.dark_s("fault") > _LAMP_IS_OFF_S)


def _of(code: str, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of the events that report the fault `code`."""
    return [event for event in events if event["code"] == code]


def _but(names: set[str], details: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if name not in names}


def _stands_for_good(going: Iterator[Any], code: str, at: Bench) -> None:
    """Check the one fault that no act can clear. While the table has this fault, it sends no event to the pit, only its
    state."""
    at.eventually(lambda: at.pit.state.fault == code)
    assert list(going) == []
    at.eventually(lambda: at.pins.lamp("fault") == "fast_blink")
    at.eventually(lambda: at.pit.online and at.pit.state.fault == code)
    assert at.pit.told("fault") == at.pit.told("fault_cleared") == []
