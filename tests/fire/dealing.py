"""A simulated dealer and supervisor at one table of the stress test, who play round after round while programs are
being killed.

The dealer deals each round to its end by the game's rules, even while the table's daemon is down. The supervisor voids
a round if the table did not receive all its cards. For every round they know how the table's events must report it.
"""

from __future__ import annotations

import json
import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import convert

from controller.basics.errors import TableError
from controller.bench.daemon import Table
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.contract.face.status import Waits
from drivers.sim import rules
from drivers.sim.line import PtyLine
from drivers.sim.pins import SimulatedPins
from tests.fire.schedule import UNHEARD, Strike, Victim
from tests.support.felt import FeltRound
from tests.support.second_person import agree
from tests.support.waiting import PATIENCE_S

_ROUNDS_A_SHOE = 30
_DECKS = 8
_POLL_S = 0.002
_HANDED_OVER_S = 0.05
_PRESS_AGAIN_S = 0.3
_LET_GO_S = 0.03  # a press that follows sooner would be the same press
_WINNING = 0.2  # of the rounds have a King and a 9 where they win
_VOIDED = 0.03  # of the rounds are voided though nothing is wrong
_ANOTHER_ROUND_OF_WAGERS = 0.4
_PATIENT = 0.5  # of the players wait a while where there is no pit to bet a progressive with
_PLAYERS_WAIT_S = 3.0
_NOBODYS_SEAT = 99
_FEWEST_CARDS = 60  # in the shoe, for a round and those that go unheard
_LONGER_THAN_KEPT_S = 9.0  # a freeze of which the table must take the shoe for unheard


@dataclass
class Dealt(FeltRound):
    """A round as the simulated dealer has dealt it. `sure` is True if nothing kept the table from receiving all of its
    cards."""

    sure: bool = True


class SecondDealer:
    """A simulated dealer at one table of the stress test, who is independent of the table: it deals by the game's
    rules, whether the table receives the cards or not, and judges the table by the cards that were dealt.

    `strikes` maps the number of a round to the kill or interruption that is planned in it. The function `hurt` kills a
    broker or a pit. `dealt` has the rounds that were dealt, in order. `combinations` has each seat with the King and
    the 9 that are printed there.

    A card that the table has shown is on its disk, and no kill may lose it. For this reason, in a round in which the
    daemon is killed, the dealer waits before each card until the earlier cards are shown. Only the last card may be
    lost.
    """

    def __init__(self, table: Table, seed: int, strikes: Mapping[int, Strike], hurt: Callable[[Strike], None]) -> None:
        self.table_id = table.table_id
        self._table = table
        self._rng = random.Random(f"{seed} {table.table_id}")
        self._strikes = strikes
        self._hurt = hurt
        values = table.files.values
        self.combinations = [(seat["number"], seat["k9"].split()) for seat in values["seats"]]
        self._socket = values["control"]["socket"]
        self._pins = SimulatedPins(table.files.page, values["pins"]["lamps"], values["pins"]["inputs"])
        for name in values["pins"]["inputs"]:
            self._pins.release(name)
        self._line = PtyLine(table.files.port)
        self._shoe = _shoe(table, self._line, self._rng)
        self._gone: Strike | None = None  # by which the table does not hear its shoe now
        self._seats: list[int] = []
        self._cards: list[str] = []
        self._rounds_left = 0  # of this shoe
        self._drawn = 0  # cards of this shoe
        self._shown: dict[str, list[str]] = {}  # the cards of this round seen on the table's face before a strike
        self.dealt: list[Dealt] = []
        self.struck: Counter[Victim] = Counter()
        self.kept = 0  # cards shown before a kill and still there after it

    def deal(self, rounds: int) -> None:
        """Deal `rounds` more rounds at the table."""
        for _ in range(rounds):
            if self._rounds_left == 0:
                self._open_shoe()
            self._deal_round(self._strikes.get(len(self.dealt)))
            self._rounds_left -= 1

    def change_disk(self, copy: Path | None = None, restore: Path | None = None) -> None:
        """Kill the table's daemon between two rounds and start it again. Meanwhile copy the table's journal to `copy`,
        or replace it by the older copy `restore`."""
        self._kill()
        for suffix in ("", "-wal"):
            journal = self._table.journal.with_name(self._table.journal.name + suffix)
            if copy is not None and journal.exists():
                copy.with_name(copy.name + suffix).write_bytes(journal.read_bytes())
            if restore is not None:
                journal.unlink(missing_ok=True)
                kept = restore.with_name(restore.name + suffix)
                if kept.exists():
                    journal.write_bytes(kept.read_bytes())
        if restore is not None:
            self._table.journal.with_name(self._table.journal.name + "-shm").unlink(missing_ok=True)
            self._rounds_left = 0
        self._come_back()

    def status(self) -> dict[str, Any]:
        """Ask the table for its status, and return it."""
        told: dict[str, Any] = self._say({"do": "status"})["status"]
        return told

    def end_shoe(self) -> None:
        """Begin a new shoe as a supervisor does, if the table has stopped because the cards of the old shoe must be
        counted."""
        if _unheard(self.status()["face"]):
            self._supervise("new_shoe")

    def accept_award(self, award: str, cents: int) -> None:
        """Accept an award that the table disputes. A supervisor does this, together with the holder of the table's key,
        after they have compared the amounts."""
        self._by_two("accept_award", award=award, cents=cents)

    def unplug(self) -> None:
        """Pull the shoe's serial cable and leave it unplugged."""
        self._line.unplug()

    # A round.

    def _open_shoe(self) -> None:
        self._cards = [rank + suit for rank in rules.RANKS for suit in rules.SUITS] * _DECKS
        self._rng.shuffle(self._cards)
        self._rounds_left, self._drawn = _ROUNDS_A_SHOE, 0
        self._await(self._is_heard)
        self._await(lambda: self._is_mended(None))
        for seat in sorted({hit["seat"] for hit in self.status()["face"]["hits"]}):
            self._supervise("reset_hit", seat=seat)
        self._supervise("new_shoe")
        self._until(lambda face: face["phase"] == "first_card_due")
        self._shoe.new_shoe()
        first = self._take("2C")
        for card in (first, *(self._cards.pop() for _ in range(rules.burn_count(first)))):
            self._draw(card)
        self._until(lambda face: face["phase"] == "wagers_open")

    def _deal_round(self, strike: Strike | None) -> None:
        self._let_wager()
        round_ = self._lock(strike)
        self.dealt.append(round_)
        round_.voided = strike is None and self._rng.random() < _VOIDED
        cards, drawn = self._next_cards(), 0
        while round_.side is not None and not (round_.voided and drawn == 2):
            if not round_.sure and strike is not None and drawn < strike.place:
                self._await_shown(round_)
            card = next(cards)
            round_.take(card)
            self._draw(card)
            drawn += 1
            if strike is not None and strike.place == drawn:
                self._suffer(strike)
        if strike is not None and strike.place > drawn:  # the round was over before that card
            self._suffer(strike)
        self._see_it_over(round_)
        self._shown = {}
        if len(self._cards) < _FEWEST_CARDS:
            self._rounds_left = 1  # this was the last

    def _draw(self, card: str) -> None:
        self._shoe.deal(card)
        self._drawn += 1

    @property
    def _left(self) -> int:
        """The number of cards left in the shoe, as a person who opens the shoe would count them."""
        return 52 * _DECKS - self._drawn

    def _await_shown(self, round_: Dealt) -> None:
        """Wait until the table's status shows all the cards of the round that have been dealt so far."""
        if self._table.runs:
            self._await(lambda: self._cards_shown() == {"player": round_.player, "banker": round_.banker})
            self._shown = {"player": [*round_.player], "banker": [*round_.banker]}

    def _cards_shown(self) -> dict[str, list[str]]:
        shown: dict[str, list[str]] = {hand["hand"]: hand["cards"] for hand in self.status()["face"]["hands"]}
        return {"player": [], "banker": []} | shown

    def _let_wager(self) -> None:
        if self._rng.random() < _ANOTHER_ROUND_OF_WAGERS:
            self._seats = sorted(self._rng.sample(range(1, 8), self._rng.randint(0, 3)))
            for seat in range(1, 8):
                self._pins.set(f"seat_{seat}", seat in self._seats)
        self._await(lambda: self.status()["sensors"] == self._seats)
        if self._rng.random() < _PATIENT and self._seats:
            with suppress(AssertionError):
                self._await(lambda: self.status()["pit"]["fresh"], _PLAYERS_WAIT_S)

    def _lock(self, strike: Strike | None) -> Dealt:
        if strike is not None and strike.place == 0 and strike.victim in UNHEARD:
            self._await(self._presses_until_locked)
            face = self.status()["face"]
            self._suffer(strike)
            return Dealt(face["shoe"], face["round"], sure=False)
        if strike is not None and strike.place == 0:
            self._pins.press("deal")
            self._suffer(strike)
            self._pins.release("deal")
            if not self._table.runs:
                self._come_back()
            self._await(self._is_counted)
        if self.status()["face"]["phase"] != "wagers_locked":
            self._await(self._presses_until_locked)
        face = self.status()["face"]
        return Dealt(face["shoe"], face["round"], sure=strike is None or strike.victim in ("broker", "pit"))

    def _presses_until_locked(self) -> bool:
        if not self._is_counted():
            return False
        self._pins.press("deal")
        try:
            self._until(lambda face: face["phase"] == "wagers_locked", _PRESS_AGAIN_S)
        except AssertionError:
            return False
        else:
            return True
        finally:
            self._pins.release("deal")
            time.sleep(_LET_GO_S)

    def _next_cards(self) -> Iterator[str]:
        """Yield the cards for a round from the shuffled shoe. Sometimes the first cards contain the King and the 9 that
        are printed at a seat with a wager, so that the seat wins."""
        if self._rng.random() < _WINNING:
            printed = [k9 for seat, k9 in self.combinations if seat in self._seats] or [["KS", "9S"]]
            won = self._rng.choice(printed)
            other = won if self._rng.random() < 0.3 else [self._cards.pop(), self._cards.pop()]
            hands = [list(map(self._take, won)), list(map(self._take, other)) if other is won else other]
            self._rng.shuffle(hands)
            yield from (hands[0][0], hands[1][0], hands[0][1], hands[1][1])
        while True:
            yield self._cards.pop()

    def _take(self, card: str) -> str:
        """Remove this card from the shoe and return it. If the shoe has no more of this card, take the last card of the
        shoe instead."""
        with suppress(ValueError):
            self._cards.remove(card)
            return card
        return self._cards.pop()

    def _see_it_over(self, round_: Dealt) -> None:
        """Wait until the table shows that the dealt round is over. If the table did not receive all of it, have the
        supervisor void it."""
        if round_.sure and not round_.voided:
            self._until(lambda face: face["phase"] == "wagers_open" and face["fault"] is None)
            return
        if self._gone is not None:
            self._hear_again(self._gone)
        if not self._table.runs:
            self._come_back()
        self._await(self._is_heard)
        self._await(lambda: self._is_mended(round_))
        if round_.side is not None:
            if isinstance(self._shoe, FarShoe):
                self._shoe.force_quit()
            self._await(self._is_heard)

    def _is_mended(self, round_: Dealt | None) -> bool:
        """Tell whether the table is ready for the next round. If it is not, let the supervisor void the unfinished
        round, count the cards, or clear the fault, and return False. `round_` is the round that was dealt last, or None
        before a new shoe."""
        face = self.status()["face"]
        in_round = face["phase"] in ("wagers_locked", "round_in_play")
        if not in_round and (face["fault"] is None or (round_ is None and _unheard(face))):
            return True  # a new shoe needs no count of the old one
        if _unheard(face) and face["cards_left"] == self._left:
            self._is_counted()  # all of it was heard: it goes on
        elif in_round:
            if self._by_two("void") and round_ is not None:
                round_.voided = True
        elif _unheard(face):
            self._supervise("count", left=self._left)
        else:
            self._supervise("clear")
        return False

    def _is_counted(self) -> bool:
        """Return True if the table does not ask for a count of the shoe's cards. If it asks for one, let the supervisor
        enter the number of cards left, and return whether the table accepts that number. The table accepts it if it has
        received every card."""
        return not _unheard(self.status()["face"]) or self._supervise("count", left=self._left)

    # Kills.

    def _suffer(self, strike: Strike) -> None:
        time.sleep(strike.after_s)
        match strike.victim:
            case "broker" | "pit":
                self._hurt(strike)
            case "daemon":
                self._kill()
                if not strike.deals_on:
                    self._come_back()
            case victim:
                self.struck[victim] += 1
                self._gone = strike
                self._stop_hearing(strike)

    def _kill(self) -> None:
        self._table.kill()
        self.struck["daemon"] += 1

    # A table that does not hear its shoe.

    def _stop_hearing(self, strike: Strike) -> None:
        if strike.victim == "absence":
            self._table.kill()
        if strike.victim == "freeze":
            self._table.process.send_signal(signal.SIGSTOP)
        if strike.victim == "cable" or strike.replugs:
            self._shoe.unplug()

    def _hear_again(self, strike: Strike) -> None:
        """Deal rounds while the table is kept from receiving the shoe's reports. After those rounds, let the table
        receive reports again. No wagers were locked for those rounds, so the table's events must not report them."""
        for _ in range(strike.unheard_rounds):
            round_ = FeltRound()
            while round_.side is not None:
                card = self._cards.pop()
                round_.take(card)
                self._draw(card)
        time.sleep(strike.down_s)
        self._gone = None
        if strike.victim == "cable" or strike.replugs:
            self._shoe.plug()
        match strike.victim:
            case "absence":
                self._come_back()
                return
            case "freeze":
                self._table.process.send_signal(signal.SIGCONT)
        if strike.victim == "cable" or strike.replugs or strike.down_s > _LONGER_THAN_KEPT_S:
            self._await(lambda: self.status()["shoe"]["up"] and self.status()["face"]["fault"] is not None)

    def _come_back(self) -> None:
        self._table.start(await_ready=False)
        self._await(lambda: self._process_answers() and self.status()["shoe"]["up"])
        for side, cards in self._shown.items():
            now = self._cards_shown()[side]
            assert now[: len(cards)] == cards, f"{side} had {cards}, and after the kill {now}\n{self._picture(0)}"
            self.kept += len(cards)
        if self.status()["face"]["phase"] not in ("no_shoe", "shoe_ended"):
            self._await(lambda: self.status()["face"]["fault"] is not None)
            if self.status()["face"]["cards_left"] == self._left:
                self._is_counted()  # the round goes on

    def _process_answers(self) -> bool:
        assert self._table.runs, f"the table ended by itself:\n{self._table.log_tail()}"
        return True

    def _is_heard(self) -> bool:
        """Tell whether the table has read and committed everything that the shoe has sent.

        A short sleep lets the pseudo-terminal pass on the shoe's bytes. Then the supervisor requests an act that the
        table refuses. The refusal comes only after the table has read those bytes and written them to the disk.
        """
        time.sleep(_HANDED_OVER_S)
        return not self._supervise("reset_hit", seat=_NOBODYS_SEAT)

    # Asking the table.

    def _supervise(self, act: str, **said: int | str) -> bool:
        """Request a supervisor's act from the table, and return whether the table accepted it. `said` gives the fields
        of the request. If the act can clear a fault, the request also names the table's present fault."""
        fault = self.status()["face"]["fault"] if act in ("clear", "void", "count", "new_shoe") else None
        named = {} if fault is None else {"fault": str(fault["id"])}
        return bool(self._say({"do": act, "by": "Ann", **said, **named})["ok"])

    def _by_two(self, act: str, **said: int | str) -> bool:
        """Request an act that may need the agreement of a second person, and let that person agree. Returns whether the
        table accepted the request."""
        done = self._supervise(act, **said)
        agree(convert(self.status()["second_person"], Waits | None), Path(self._socket), self._pins.confirm)
        return done

    def _say(self, request: dict[str, str | int]) -> dict[str, Any]:
        try:
            with socket.socket(socket.AF_UNIX) as channel:
                channel.settimeout(PATIENCE_S)
                channel.connect(self._socket)
                channel.sendall(json.dumps(request).encode() + b"\n")
                answer: dict[str, Any] = json.loads(channel.makefile("rb").readline())
                return answer
        except (OSError, ValueError) as error:
            raise TableError("table_not_running", str(error), "") from error

    def _until(self, seen: Callable[[dict[str, Any]], bool], within_s: float = PATIENCE_S) -> None:
        self._await(lambda: seen(self.status()["face"]), within_s)

    def _await(self, holds: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
        gives_up_s = time.monotonic() + within_s
        while True:
            with suppress(TableError):
                if holds():
                    return
            if time.monotonic() >= gives_up_s:
                raise AssertionError(self._picture(within_s))
            time.sleep(_POLL_S)

    def _picture(self, waited_s: float) -> str:
        try:
            told: object = self.status()
        except TableError as error:
            told = error
        last = self.dealt[-3:]
        return f"{self._table.table_id}: not so within {waited_s} s\n{told}\n{last}\n{self._table.log_tail()}"


def _shoe(table: Table, line: PtyLine, rng: random.Random) -> FarShoe | FarBeeTek:
    """Return a simulated shoe of the table's brand. An Angel Eye shoe numbers its reports with one digit: after 9 it
    goes on with 0 or 1, which is chosen at random. Copies of its reports are damaged, lost or doubled at random."""
    if table.files.values["shoe"]["driver"] == "beetek":
        return FarBeeTek(line)
    shoe = FarShoe(line, wrap=rng.randrange(2))
    whole, bad = shoe.corrupt, [0]

    def lossy(copy: int, frame: bytes) -> bytes:
        """Damage or lose at most one of the three copies of a shoe's report. Any other copy may be sent twice."""
        assert whole is not None
        frame = whole(copy, frame)
        if copy == 0:
            bad[0] = rng.randrange(12)
        if copy == bad[0]:
            return rng.choice((b"", frame[:5], b"\xff" + frame[:2] + frame[3:]))
        return frame * 2 if rng.random() < 0.1 else frame

    shoe.corrupt = lossy
    return shoe


def _unheard(face: dict[str, Any]) -> bool:
    return face["fault"] is not None and face["fault"]["code"] == "shoe_unheard"
