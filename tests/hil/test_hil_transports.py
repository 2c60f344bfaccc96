"""Plays one short shoe with both brands of shoe over four kinds of serial line. The table never reports a round
differently from how it was dealt.

The dealer deals by the rule sheet and looks at the draw lamps after each card. If a bad line loses a whole report, an
Angel Eye shows that by the number of its next report: the table stops, and the supervisor names the cards on the felt.
A BeeTek does not number its reports, so the table cannot know: if the dealer went on, every later card would count one
place too early. The dealer sees that the draw lamp did not move, and stops, and the round is voided. No other
protection is possible.
"""

from __future__ import annotations

from typing import Any

import pytest

from controller.bench.daemon import Table, comes_true
from controller.bench.far_shoe import FarBeeTek, FarLine, FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from drivers.sim import rules
from tests.hil.bench import Bench
from tests.hil.transports import TRANSPORTS, Lossy, Perfect
from tests.support.felt import FeltRound

_SEEN_WITHIN_S = 1.5  # a card that the table shows at all is shown long before
_DRAW_LAMPS = {"draw_player", "draw_banker"}


def _told(round_: FeltRound) -> dict[str, Any]:
    """Return the fields that the pit must be told of a round, once it is dealt."""
    outcome = rules.outcome(round_.player, round_.banker)
    return {"player": round_.player, "banker": round_.banker, "outcome": outcome, "simulated": round_.simulated}


class Shoe:
    """One shoe of cards, dealt by a simulated dealer who looks at the lamps after each card. `rounds` are those
    dealt so far."""

    def __init__(self, table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually) -> None:
        self._table = table
        self._shoe = shoe
        self._pins = pins
        self._eventually = eventually
        self.rounds: list[FeltRound] = []

    def open(self) -> None:
        """Announce a shoe and burn its first cards. Announce the shoe anew if the table did not hear all of them."""
        for _ in range(10):
            self._table.supervisor("new_shoe")
            if not self._burned():  # cards that waited behind a gap before their first one are this shoe's
                self._shoe.new_shoe()
                self._shoe.deal("2C KC KC")
            if comes_true(self._burned, _SEEN_WITHIN_S):
                return
        pytest.fail("ten burns, and none was heard to its end")

    def lock(self) -> None:
        """End the betting (lock the wagers). If a fault says that a report of the last round was missed, clear the
        fault first, because the dealer has already looked at that round."""
        while self._table.phase != "wagers_locked":
            self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked" or self._stands())
            if self._stands():
                self._table.supervisor("clear")

    def deal(self, cards: str, round_: FeltRound | None = None) -> FeltRound:
        """Deal these cards to the round `round_`, or to a new round, and return the round. Stop early if the round is
        voided."""
        if round_ is None:
            round_ = FeltRound()
            self.rounds.append(round_)
        for card in cards.split():
            if round_.voided:
                break
            round_.take(card)
            self._shoe.deal(card)
            self._look(round_)
        return round_

    def deal_in_error(self, cards: str) -> None:
        """Deal cards while wagers may still be placed, by mistake. The first card begins a simulated round."""
        self.rounds.append(FeltRound(simulated=True))
        self.deal(cards, self.rounds[-1])

    def cut_card(self, round_: FeltRound) -> None:
        """Draw the cut card inside a round. If the table does not learn of it from the shoe, press the button for it,
        as the dealer does."""
        self._shoe.cut_card()
        if not comes_true(self._knows_cut_card, _SEEN_WITHIN_S if self._shoe.tells_cut_card else 0):
            self._pins.press("cut_card", until=self._knows_cut_card)
        if self._stands():
            self._settle(round_)

    def unplug_and_clear(self, round_: FeltRound) -> None:
        """Pull the shoe's cable inside a round and put it back. After that, clear the fault as a supervisor does, who
        looks at the felt."""
        if round_.voided:
            return
        self._shoe.unplug()
        self._eventually(lambda: self._table.fault == "shoe_unplugged")
        self._shoe.plug()
        self._eventually(self._table.links_up)
        self._settle(round_)

    def _burned(self) -> bool:
        face = self._table.face
        return (face.phase, face.cards_left, face.fault) == ("wagers_open", 8 * 52 - 3, None)

    def _stands(self) -> bool:
        return self._table.fault is not None

    def _knows_cut_card(self) -> bool:
        return any(fact["fact"] == "CutCardDrawn" for fact in self._table.facts())

    def _look(self, round_: FeltRound) -> None:
        """Check, by the draw lamps or by the round's end, whether the table has taken the last card. If it has not, set
        the table right or void the round."""
        seen = comes_true(lambda: self._stands() or self._has(round_), _SEEN_WITHIN_S)
        if not seen:
            self._table.hear_out()  # a busy machine may not have come so far
        if not seen and not comes_true(lambda: self._stands() or self._has(round_), 0):
            if isinstance(self._shoe, FarBeeTek) or round_.side is None:
                self._void(round_)
            return  # an Angel Eye's next report will tell
        if self._stands():
            self._settle(round_)

    def _has(self, round_: FeltRound) -> bool:
        if self._taken(round_) != len(round_.cards):
            return False
        guidance = set() if round_.side is None else {f"draw_{round_.side}"}
        return self._pins.lit() & _DRAW_LAMPS == guidance

    def _taken(self, round_: FeltRound) -> int:
        """Return how many of the round's cards the table shows."""
        face, hands = self._table.face, self._table.hands
        if face.phase == "round_in_play":
            return round_.shown(hands)
        return len(round_.cards) if (hands["player"], hands["banker"]) == (round_.player, round_.banker) else 0

    def _settle(self, round_: FeltRound) -> None:
        """Clear the fault as a supervisor does: compare the felt with the table's display, and name the cards that the
        table lacks."""
        while (fault := self._table.face.fault) is not None:
            taken = self._taken(round_)
            for card in round_.cards[taken : len(round_.cards) - int(fault.held_cards)]:
                self._table.supervisor("card", card=card)
            if fault.code == "shoe_unheard":
                self._table.count()  # what was missed was named, or its round is void
            else:
                self._table.supervisor("clear")
        assert self._taken(round_) == len(round_.cards)

    def _void(self, round_: FeltRound) -> None:
        round_.voided = True
        if self._table.phase != "wagers_open":  # there the table has heard of no round
            self._table.supervisor("void")


@pytest.fixture
def brand(request: pytest.FixtureRequest) -> str:
    """Return the brand of the table's shoe. A pytest mark on the parameter has already put the brand into the table's
    file."""
    return str(request.param)


_AT_LENGTH = ("byte by byte", "perfect", "delayed")
_LINES = ["lossy", *(pytest.param(kind, marks=pytest.mark.proof) for kind in _AT_LENGTH)]


@pytest.fixture(params=_LINES)
def bench_shoe_line(request: pytest.FixtureRequest, bench_shoe_line: FarLine) -> Perfect:
    """Return the shoe's end of a serial line of the kind that the parameter names: lossy, perfect, delayed or byte by
    byte."""
    return TRANSPORTS[request.param](bench_shoe_line)


@pytest.mark.long
@pytest.mark.parametrize(
    "brand",
    [
        pytest.param("angel_eye", marks=[pytest.mark.table(shoe={"driver": "angel_eye"}), pytest.mark.proof]),
        pytest.param("beetek", marks=pytest.mark.table(shoe={"driver": "beetek"})),
    ],
    indirect=True,
)
@pytest.mark.usefixtures("brand")
def test_a_shoe_is_told_as_it_was_dealt(shoe_line: Perfect, at: Bench) -> None:
    dealt = Shoe(at.table, at.shoe, at.pins, at.eventually)
    dealt.open()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    in_burn = len(at.pit.told("fault"))  # each left by announcing anew
    dealt.lock()
    dealt.deal("KS 2D 9S 3C")
    dealt.lock()
    dealt.deal("2H 3D 3H 2S 6D 4C")  # both draw
    dealt.deal_in_error("9C TD TC 5D")
    dealt.lock()
    round_ = dealt.deal("8H QD")
    dealt.unplug_and_clear(round_)
    dealt.deal("QH 5H", round_)
    dealt.lock()
    round_ = dealt.deal("7S JD")
    dealt.cut_card(round_)
    dealt.deal("JH 7D", round_)  # a tie
    if at.table.phase == "wagers_open":
        dealt.lock()
        dealt.deal("4H 9D 5S JC")  # the last round

    at.eventually(lambda: at.table.unacknowledged() == 0)
    told = [
        {
            "player": event["player"]["cards"],
            "banker": event["banker"]["cards"],
            "outcome": event["outcome"],
            "simulated": event["simulated"],
        }
        for event in at.pit.rounds
    ]
    assert told == [_told(round_) for round_ in dealt.rounds if not round_.voided]
    faults = [event["code"] for event in at.pit.told("fault")[in_burn:]]
    if isinstance(shoe_line, Lossy):
        assert set(faults) <= {"shoe_unplugged", "shoe_unheard", "reports_missed"}
        voided = any(round_.voided for round_ in dealt.rounds)
        assert voided or "reports_missed" in faults, "this line lost nothing whole: choose another seed"
    else:
        assert faults == ["shoe_unplugged", "shoe_unheard"]
        assert at.pit.told("void") == []
        assert len(told) == 6
        assert (at.table.phase, at.pit.types[-1]) == ("shoe_ended", "shoe_closed")
