"""Plays an evening at a table whose daemon is killed again and again. There are a dealer, a supervisor, and somebody
who kills the daemon.

The dealer deals seeded decks by the rule sheet. The supervisor sees the cards on the felt. If the table missed a card,
the supervisor names the card or voids the round. The test compares the journal with what the shoe sent, and so finds
the reports that the table missed. In this way it knows when the table must have a fault. `played` has the rounds that
the table must have reported to the pit in the end.
"""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from controller.bench.daemon import Table
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from drivers.sim import rules
from drivers.sim.deck import shuffled_decks
from tests.support.felt import FeltRound
from tests.support.second_person import agree

DECKS = 8
_ROUNDS_A_SHOE = 30  # then a supervisor ends it early, before the cut card
_SEATS = range(1, 8)
_MOST_UNHEARD = 30  # before one more mischief: several rounds of the shoe's numbers
_ANY_MOMENT_S = 0.02  # from a byte on the wire to its commit takes a few ms

# What happens at a card, and how often.
_MISCHIEF = {
    "none": 10,
    "killed after it": 6,
    "killed between its copies": 4,
    "killed before it": 4,
    "killed at rest after it": 3,
    "killed twice after it": 1,
}


@dataclass
class Wire:
    """Compares the reports that the shoe sent with those in the journal. Each report must be in the journal once and in
    order, or not at all.

    A BeeTek shoe reports the same card twice in the same words. If several reports fit, the last one is taken.
    """

    table: Table
    shoe: FarShoe | FarBeeTek
    heard: int = 0  # reports up to the last one in the journal
    _row: int = 0

    def look(self) -> None:
        """Read the new rows of the journal. Check that the shoe really sent each report in them, in the same order."""
        facts = self.table.facts(self._row)
        self._row = facts[-1]["row"] if facts else self._row
        frames = [fact["report"]["frame"] for fact in facts if fact.get("report") is not None]
        sent, reached, place = self.shoe.sent, self.heard, len(self.shoe.sent)
        for frame in reversed(frames):
            place = max((at for at in range(self.heard, place) if sent[at] == frame), default=-1)
            assert place >= 0, f"the shoe did not send this now, or sent it only once: {facts}"
            reached = max(reached, place + 1)
        self.heard = reached

    def unheard(self) -> int:
        """Return how many reports the shoe has sent since the last report that is in the journal."""
        return len(self.shoe.sent) - self.heard


class Evening:
    """An evening of dealing, in which the table's daemon is killed again and again. `deal` goes on until it was killed
    `kills` times and the round is over."""

    def __init__(
        self, table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, eventually: Eventually, seed: int, kills: int
    ) -> None:
        self._table = table
        self._shoe = shoe
        self._pins = pins
        self._eventually = eventually
        self._wire = Wire(table, shoe)
        self._rng = random.Random(seed)
        self._decks = shuffled_decks(seed, DECKS, 0)
        self._kills_to_go = kills
        self._shoe_number = 0
        self._drawn = 0  # cards drawn from this shoe
        self._felt: list[str] = []  # the cards of this burn or round, in the order they were drawn
        self._absent = False  # the daemon was, and nobody has counted the cards since
        self.played: list[FeltRound] = []
        self.happened: Counter[str] = Counter()

    def deal(self) -> None:
        """Deal shoes and rounds until the daemon was killed often enough."""
        self._shoe.power_up()
        self._await_all_heard()
        while self._kills_to_go > 0:
            self._open_shoe()
            for number in range(1, _ROUNDS_A_SHOE + 1):
                if self._kills_to_go > 0:
                    self._deal_round(number)

    # The dealer.

    def _open_shoe(self) -> None:
        """Announce a shoe and burn its first cards. If the table missed the end of the burn, announce another shoe with
        other cards."""
        while True:
            self._deck = next(self._decks)
            self._shoe_number += 1
            self._drawn = 0
            self._felt = []
            self._have_done("new_shoe", lambda: self._table.face.shoe == self._shoe_number)
            self._count()
            self._shoe.new_shoe()
            left = 1
            while left:
                self._draw()
                left = 1 + rules.burn_count(self._felt[0]) - len(self._felt)
                if not self._stays_down(left > 0):
                    self._set_right_in_burn()
            if self._table.phase == "wagers_open":
                return
            self.happened["a burn was begun anew"] += 1

    def _deal_round(self, number: int) -> None:
        seats = sorted(self._rng.sample(_SEATS, self._rng.randint(0, 3)))
        round_ = FeltRound(self._shoe_number, number, seats)
        self._pins.uncover(*_SEATS)
        self._pins.cover(*seats)
        self._eventually(lambda: self._table.status().sensors == tuple(seats))
        self._lock()
        self._felt = []
        while not round_.voided and round_.side is not None:
            round_.take(self._draw())
            if not self._stays_down(round_.side is not None):
                self._set_right(round_)
        round_.cards_left = 52 * DECKS - self._drawn
        self.played.append(round_)

    def _lock(self) -> None:
        if self._chance(0.25):
            self._pins.hold("deal")
            time.sleep(self._rng.uniform(0, 0.08))
            self._kill("at the deal button")
            self._pins.let_go("deal")
            self._start()
            self._count()
        if self._table.phase != "wagers_locked":
            self._pins.press("deal", until=lambda: self._table.phase == "wagers_locked")

    def _draw(self) -> str:
        """Draw and return a card, and perhaps kill the daemon around that moment. When this returns, the daemon is
        down, or it has read everything that still reaches it."""
        card = self._deck.draw()
        self._felt.append(card)
        self._drawn += 1
        match self._mischief():
            case "still down":
                self._shoe.deal(card)
            case "none":
                self._deal_and_be_heard(card)
            case "killed before it" as mischief:
                self._kill(mischief)
                self._shoe.deal(card)
            case "killed after it" as mischief:
                self._shoe.deal(card)
                time.sleep(self._rng.uniform(0, _ANY_MOMENT_S))
                self._kill(mischief)
                self._start()
            case "killed between its copies":
                self._deal_and_kill_before_copy(card, self._rng.choice((1, 2)))
            case mischief:
                self._deal_and_be_heard(card)
                self._kill_at_rest(mischief)
        return card

    def _mischief(self) -> str:
        if not self._table.runs:
            return "still down"
        if self._kills_to_go <= 0 or self._wire.unheard() > _MOST_UNHEARD:
            return "none"
        mischief = self._rng.choices(list(_MISCHIEF), list(_MISCHIEF.values()))[0]
        return mischief if isinstance(self._shoe, FarShoe) else mischief.replace("killed between its copies", "none")

    def _stays_down(self, more_cards: bool) -> bool:
        """Tell whether the daemon stays down while the dealer deals on. Return True at random, and if so, play a dealer
        who does not look at the lamps. Otherwise start the daemon if it is down, and return False."""
        if self._table.runs:
            self._look()
            return False
        if more_cards and self._wire.unheard() <= _MOST_UNHEARD and self._rng.random() < 0.5:
            self.happened["dealt on while the daemon was down"] += 1
            return True
        self._start()
        return False

    def _deal_and_be_heard(self, card: str) -> None:
        face = self._table.face
        self._shoe.deal(card)
        self._await_all_heard()
        self._eventually(lambda: self._table.face != face)  # it follows the commit, in which they were heard

    def _deal_and_kill_before_copy(self, card: str, doomed: int) -> None:
        """Deal the card `card`, whose report the shoe sends three times. Kill the daemon before copy number `doomed` of
        the report, and start it again before the remaining copies are sent."""

        def before_copy(copy: int) -> None:
            if copy == doomed:
                self._shoe.before_copy = None
                self._kill(f"after copy {copy} of 3")
                self._start()

        self._shoe.before_copy = before_copy
        already_sent = len(self._shoe.sent)
        face = self._table.face
        self._shoe.deal(card)
        if doomed == 1 or len(self._shoe.sent) > already_sent + 1:
            self._await_all_heard()  # two copies of it, or all of a report after it, came to a daemon that runs
            self._eventually(lambda: self._table.face != face)

    # The supervisor.

    def _set_right_in_burn(self) -> None:
        """Make up for what the table missed of the burn: name the first card if the table missed it, and tell the table
        how many cards are left in the shoe."""
        if self._fault() is None:
            return
        if self._table.phase == "first_card_due" and self._held() < len(self._felt):
            self._have_done("card", lambda: self._table.phase != "first_card_due", card=self._felt[0])
            self.happened["a card was named"] += 1
        self._count()
        assert self._burned() == len(self._felt), f"the table has burned {self._burned()} of {self._felt}"

    def _burned(self) -> int:
        """Return how many cards of the present burn the table has counted, including the first card."""
        face = self._table.face
        if face.phase == "burning":
            return 1 + rules.burn_count(face.first_card or "") - (face.burn_left or 0)
        return 0 if face.phase == "first_card_due" else len(self._felt)

    def _set_right(self, round_: FeltRound) -> None:
        """Make sure that the table shows every card of the round so far. If the table has stopped at a fault, first
        name the missing cards to it, or void the round."""
        if self._fault() is not None:
            if self._rng.random() < 0.3:
                self._void(round_)
                return
            self._name_and_count()
        assert round_.shown(self._table.hands) == len(self._felt)

    def _shown(self) -> int:
        return sum(map(len, self._table.hands.values()))

    def _held(self) -> int:
        fault = self._table.face.fault
        return 0 if fault is None else int(fault.held_cards)

    def _name_and_count(self) -> None:
        """Name to the table, in order, the cards on the felt that it neither shows nor holds. After that, count the
        cards left in the shoe."""
        while (place := self._shown()) + self._held() < len(self._felt):
            self._name(place)
        self._count()

    def _name(self, place: int) -> None:
        self._have_done("card", lambda: self._shown() > place, card=self._felt[place])
        self.happened["a card was named"] += 1

    def _count(self) -> None:
        """Tell the table how many cards are left in the shoe, if its daemon was down. Repeat this if the daemon was
        killed meanwhile."""
        while self._absent:
            self._absent = False
            self._have_done("count", lambda: self._table.fault is None, left=52 * DECKS - self._drawn)
            self.happened["the cards were counted"] += 1

    def _void(self, round_: FeltRound) -> None:
        if self._table.phase != "wagers_open":  # else all of it was heard, and it is over
            self._have_done("void", lambda: self._table.phase == "wagers_open")
            round_.voided = True
        self._count()
        if not round_.voided:
            return
        self.happened["a round was voided"] += 1
        if round_.side is not None and isinstance(self._shoe, FarShoe):  # a BeeTek plays no game of its own
            self._shoe.force_quit()
            self._await_all_heard()

    def _have_done(self, act: str, done: Callable[[], bool], **said: str | int) -> None:
        """Let the supervisor repeat the act until `done` returns True. The daemon may be killed meanwhile, so only
        `done` shows whether the act took effect."""
        while not done():
            if self._chance(0.2):
                fault = self._table.face.fault
                named = {} if fault is None else {"fault": fault.id}
                self._ask_and_kill({"do": act, "by": "Ann", **said, **named})
            else:
                waits = self._table.supervisor(act, **said)
                agree(waits, Path(self._table.files.values["control"]["socket"]), self._pins.confirm)
                assert done(), f"{act} was answered, and is not done"

    def _ask_and_kill(self, request: dict[str, str | int]) -> None:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.connect(self._table.files.values["control"]["socket"])
            channel.sendall(json.dumps(request).encode() + b"\n")
            time.sleep(self._rng.uniform(0, _ANY_MOMENT_S))
            self._kill(f"at a supervisor's {request['do']}")
        self._start()

    # Whether a fault is right.

    def _fault(self) -> str | None:
        """Return the code of the fault at which the table stands; None if there is no fault. Check that the table has a
        fault if its daemon was down, and no fault otherwise."""
        fault, due = self._table.fault, "shoe_unheard" if self._absent else None
        assert fault == due, f"the fault is {fault}, and should be {due}"
        return fault

    def _look(self) -> None:
        self._wire.look()

    def _await_all_heard(self) -> None:
        def heard() -> bool:
            self._look()
            return self._wire.unheard() == 0

        self._eventually(heard)

    # The one who kills.

    def _chance(self, probability: float) -> bool:
        return self._kills_to_go > 0 and self._rng.random() < probability

    def _kill_at_rest(self, how: str) -> None:
        face = self._table.face
        self._kill(how)
        if how == "killed twice after it":
            self._table.start(await_ready=False)
            time.sleep(self._rng.uniform(0, 0.3))
            self._kill("while it started")
        self._start()
        self._count()
        after = self._table.face
        assert after == face, f"nothing was missed, and yet the table stands elsewhere: {after}, not {face}"

    def _kill(self, when: str) -> None:
        self._table.kill()
        self._kills_to_go -= 1
        self.happened["kills"] += 1
        self.happened[when] += 1

    def _start(self) -> None:
        self._table.start()
        self._eventually(lambda: self._table.status().shoe.up)
        if self._table.phase not in ("no_shoe", "shoe_ended"):
            self._eventually(lambda: self._table.fault == "shoe_unheard")
            self._absent = True
