"""Simulates an evening at a table where people cheat, from the first card to the payment in cash. Each person uses only
the rights that this person really has.

A simulator of faults loses messages. The cheats here lose no messages: they look for a legal sequence of acts that
pays. The player is always a cheat, who puts chips down and takes them off at any moment. Some people of the house help
the player, as `rights` says. Everybody else is honest: an honest dealer deals on, an honest supervisor tells the truth,
and an honest second person agrees to nothing but a true card. Honest people are not careful: the supervisor's key stays
in its switch. At the pit, honest people pay every award that nothing speaks against.

The judge is the part of the simulation that knows the truth: each card that left the shoe, the chips that lay on the
felt at that moment, the rule sheet, and the cash. The judge notes a gain in two cases: an award is not due by cards,
chips and rule sheet, or an award that is due was thrown away.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from controller.contract.envelope import GENESIS, Stamp, seal
from controller.contract.events import Event
from controller.daemon.pins.buttons import SEEN_AFTER_S, pressed
from controller.daemon.second_person import Confirmed, SecondPerson
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Step
from controller.rules.game.cards import Card
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Request
from controller.table.acts.itself import PauseTable, ResumeTable
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard, VoidRound
from controller.table.acts.shoe import CloseShoe, NewShoe
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    Fact,
    ShoeError,
    ShoeErrorRaised,
    ShoeUnheard,
    ShoeUnplugged,
)
from controller.table.faults import Exit
from controller.table.requests import ByTwo, not_answered
from controller.table.rules import TableRules
from controller.table.states import NoShoe, Paused, RoundInPlay, ShoeEnded, WagersOpen
from controller.table.stops import exits
from tests.collusion.window import Window, event_of
from tests.support.sheets import royal9_tier
from tests.support.tables import EPOCH, ROYAL9, TableUnderTest

Right = Literal["dealer", "supervisor", "key", "second supervisor", "attendant", "cashier"]
"""What a person may do. Who has an account and the key at the table too has the rights "supervisor" and "key"."""

Kind = Literal[
    "a chip put down after a card was out",
    "cards that never lay",
    "a won award voided",
    "a won award rejected",
    "an award paid twice",
]

SEATS = tuple(seat.number for seat in ROYAL9.seats)
PRINTED = {seat.number: str(seat.k9) for seat in ROYAL9.seats}
BUTTONS = ("key", "deal", "void", "cut_card", "new_shoe")
_SMITH, _JONES, _STONE = ("Smith", "socket smith"), ("Jones", "socket jones"), ("Stone", "socket stone")
_AT_THE_PIT: dict[Right, str] = {"attendant": "Ann", "cashier": "Cas"}
_HONEST = "honest people at the table go on"
_PACES_S = 0.1, 1.0, 3.0, 12.0
_HELD_S = 0.5, 2.5
_LUCKY = [f"K{suit}" for suit in "SHDC"], [f"9{suit}" for suit in "SHDC"]
_OTHERS = [f"{rank}{suit}" for rank in "2345678" for suit in "SHDC"]


@dataclass(frozen=True, slots=True)
class Gain:
    """One thing that the cheats won although the rules of the game do not give it.

    `cents` are the cash beyond what was due: 0 if the cheats gained only a false hit, or if an award was thrown away.
    `trace` is what the house can see of the gain afterwards without a film: doubts and alarms about the award, and the
    names of people who must answer for an act. The names of those who verify and pay an award are no trace, because
    every award has them.
    """

    kind: Kind
    cents: int
    trace: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Out:
    """A card that left the shoe, and the seats that had a chip on Royal 9 at that moment, on the felt or already
    locked."""

    card: str
    chips: frozenset[int]


class Evening:
    """One simulated evening with cheats at a table: a shoe made from a seed, and the acts that people do. The list
    `gains` is complete when the evening has ended."""

    def __init__(self, seed: int, rules: TableRules, rights: frozenset[Right], folder: Path) -> None:
        self.gains: list[Gain] = []
        self._rights = rights
        self._folder = folder
        self._table = _UncheckedTable(rules)
        self._cards = self._shoe(random.Random(f"{seed} shoe"))
        self._luck = random.Random()
        self._now_s = 1000.0
        self._second = SecondPerson(BUTTONS)
        self._key_turned = False
        self._looked_at: int | None = None  # the act that the honest second person is about to confirm
        self._window: Window | None = None
        self._out: list[_Out] = []
        self._untold: list[str] = []
        self._round_from = 0
        self._locked: frozenset[int] = frozenset()
        self._judged = 0
        self._false: dict[int, Kind | None] = {}  # by the number of each hit's event, why it is no true hit
        self._acts = {name: (weight, act) for name, weight, act in self._menu()}
        self._table.open_shoe()

    @property
    def cheats(self) -> list[str]:
        """Return the names of the acts that cheats may do. A name occurs several times if the act should be chosen more
        often."""
        return [
            name for name, (weight, _) in self._acts.items() if not name.startswith("honest") for _ in range(weight)
        ]

    @property
    def honest(self) -> list[str]:
        """Return the names of the acts that honest people may do. A name occurs several times if the act should be
        chosen more often."""
        return [name for name, (weight, _) in self._acts.items() if name.startswith("honest") for _ in range(weight)]

    def act(self, name: str, die: int) -> None:
        """Do the act of this name, and let the judge look for new gains of the cheats. Choices within the act are drawn
        from the seed `die`."""
        self._luck.seed(die)
        self._now_s += self._luck.choice(_PACES_S)
        self._acts[name][1]()
        self._judge(honest=name == _HONEST)

    def end(self) -> None:
        """End the evening: let the honest people at the pit finish the open awards, and let the judge count the cash.

        If every hit is true and no cheat decided at the pit, do nothing, because honest people would pay exactly what
        was won.
        """
        if self._window is None and any(self._false.values()):
            self._window = Window(self._table, self._folder)
        if self._window is not None:
            for _ in range(3 * len(self._false)):
                self._honest_pit()
            self._count_cash(self._window)
            self._window.close()

    @property
    def events(self) -> list[dict[str, Any]]:
        """Return all events that the table has sent so far."""
        return self._table.events

    @property
    def in_round(self) -> frozenset[str]:
        """Return the steps towards a gain that the cheats have reached so far, as texts. Examples are a card that the
        table did not hear, a chip that came late, a false hit, and a second person who is about to agree. Awards that
        are still open at the pit count too."""
        table = self._table.table
        plays = table.locked_wagers is not None and any(on.seats for on in table.locked_wagers.progressive)
        waiting = self._second.waiting(self._moment(), self._now_s)
        held = {
            "a wager plays": plays,
            "a chip came late": self._chip_is_late() and not table.shoe_doubts,
            "a card went unheard": bool(self._untold),
            "a card is missing": table.fault is not None and Exit.CARD in exits(table),
            "the round has won": plays and self._has_won(self._locked),
            "an act waits": waiting is not None,
            "the key is turned": self._key_turned and waiting is not None,
            "a second person is about to agree": self._looked_at is not None,
            "a false hit": any(self._false.values()),
        }
        in_round = {what for what, is_so in held.items() if is_so} | self._in_hand_at_the_pit()
        if plays and self._round_is_false() and not (table.doubts or table.shoe_doubts):
            in_round |= {f"{cards} cards of a false round" for cards in range(len(self._out) - self._round_from + 1)}
        return frozenset(in_round)

    def _round_is_false(self) -> bool:
        """Tell whether the round in play holds something false: a card that a person typed, or a wager that came after
        the round's first card."""
        hand = self._table.table.phase
        first = self._out[self._round_from :][:1]
        is_late = any(self._locked - out.chips for out in first)
        return is_late or (isinstance(hand, RoundInPlay) and bool(hand.typed))

    def _in_hand_at_the_pit(self) -> frozenset[str]:
        if self._window is None:
            return frozenset()
        awards = self._window.awards()
        known = {event_of(award): award for award in awards}
        lost = [hit for hit, cents in self._window.cash.items() if hit not in known or known[hit].step != "paid"]
        steps = {f"an award is {award.step}" for award in awards if award.step in ("pending", "verified")}
        return frozenset(steps | ({"the ledger lacks a payment"} if lost else set()))

    def _chip_is_late(self) -> bool:
        """Tell whether a chip on the felt was put down too late: after a card left the shoe that may count in the next
        round."""
        table = self._table.table
        is_out = (isinstance(table.phase, WagersOpen) and bool(table.kept or self._untold)) or self._table.face.odd_card
        return bool(is_out and self._out and self._table.wagers - self._out[-1].chips)

    @staticmethod
    def _shoe(luck: random.Random) -> Iterator[str]:
        """Yield the cards of a shoe that helps the cheats: mostly two kings, two nines, two kings, two nines, and so
        on. Any four such cards in a row make a winning round, no matter with which of them the round begins."""
        left = Counter(dict.fromkeys((*_LUCKY[0], *_LUCKY[1], *_OTHERS), 7))
        place = 0
        while True:
            among = _LUCKY[place // 2 % 2] if luck.random() < 0.85 else _OTHERS
            place += 1
            there = [card for card in among if left[card]]
            if not there:
                return
            card = luck.choice(there)
            left[card] -= 1
            yield card

    # What people may do, each by a right of one person: the act, its weight, and how it is done.

    def _menu(self) -> Iterator[tuple[str, int, Callable[[], object]]]:
        yield "player: a chip", 3, self._chip
        if "dealer" in self._rights:
            yield from self._of_the_dealer()
        if "supervisor" in self._rights:
            yield from self._of_the_supervisor()
        if self._rights & {"dealer", "supervisor"}:
            for button in ("deal", "void", "cut_card"):
                yield f"holds {button}", 1, partial(self._hold, button)
        if "key" in self._rights:
            yield "turns the own key", 2, partial(self._turn_key, honest=False)
        if "second supervisor" in self._rights:
            yield "second supervisor: agrees", 5, partial(self._agree, *_JONES)
        for right, name in _AT_THE_PIT.items():
            if right in self._rights:
                yield from self._of_the_pit(right, name)
        yield _HONEST, 8, self._go_on
        yield "honest: the key is turned, or back", 2, partial(self._turn_key, honest=True)
        yield "honest: a second person looks", 1, self._look
        yield "honest: and confirms what was looked at", 1, self._confirm
        if self._rights & {"attendant", "cashier"}:
            yield "honest: the link to the pit", 1, partial(self._at_the_window, Window.hear)
            yield "honest: a copy of the ledger", 1, partial(self._at_the_window, Window.copy)
            yield "honest: the ledger is restored", 1, partial(self._at_the_window, Window.restore)
            yield "honest people at the pit go on", 2, self._honest_pit

    def _of_the_dealer(self) -> Iterator[tuple[str, int, Callable[[], object]]]:
        yield "dealer: a card", 4, self._draw
        yield "dealer: deal", 1, partial(self._ask, LockWagers())
        yield "dealer: pauses", 1, partial(self._ask, PauseTable("dealer"))
        yield "dealer: resumes", 1, partial(self._ask, ResumeTable("dealer"))
        yield "dealer: void without the key", 1, partial(self._ask, VoidRound(None))
        for fate in OddCardFate:
            yield f"dealer: {fate.name}", 1, partial(self._ask, TellOddCard(fate, "dealer"))
        yield "dealer: a button mishandled", 1, partial(self._happens, ShoeErrorRaised(ShoeError.BUTTON_MISHANDLED))
        yield "dealer: a card with the shoe locked", 1, self._draw_outside
        yield "dealer: the plug", 1, self._unplug
        yield "dealer: a card unheard", 1, self._draw_unheard

    def _of_the_supervisor(self) -> Iterator[tuple[str, int, Callable[[], object]]]:
        name, _ = _SMITH
        yield "supervisor: void", 1, partial(self._ask, VoidRound(name))
        yield "supervisor: clear", 1, partial(self._ask, ClearFault(name))
        yield "supervisor: new shoe", 1, partial(self._ask, NewShoe(name))
        yield "supervisor: close the shoe", 1, partial(self._ask, CloseShoe(name))
        for fate in OddCardFate:
            yield f"supervisor: {fate.name}", 1, partial(self._ask, TellOddCard(fate, name))
        yield "supervisor: types a card", 3, self._type
        yield "supervisor: types the true card", 1, self._type_the_truth
        yield "supervisor: counts", 1, self._count
        yield "supervisor: the plug", 1, self._unplug
        yield "supervisor: corrects", 1, self._correct
        yield "supervisor: agrees, by the own account", 1, partial(self._agree, *_SMITH)
        yield "supervisor: agrees, under another name", 1, partial(self._agree, _JONES[0], _SMITH[1])

    def _of_the_pit(self, right: Right, name: str) -> Iterator[tuple[str, int, Callable[[], object]]]:
        decide = partial(partial, self._decide)
        yield f"{right}: verifies", 2, decide(lambda at, award: at.take(award, "verified", name))
        yield f"{right}: pays", 2, decide(lambda at, award: at.take(award, "paid", name))
        if witness := self._witness(name):
            two = f"{right}: with {witness}"
            yield f"{two} rejects", 1, decide(lambda at, award: at.take(award, "rejected", name, witness))
            yield f"{two} recalls", 1, decide(lambda at, award: at.recall(award, name, witness))
            yield f"{two} takes the adoption back", 1, decide(lambda at, _: at.unadopt(name, witness))
            yield f"{two} verifies", 1, decide(lambda at, award: at.take(award, "verified", name, witness))
            yield f"{two} pays", 1, decide(lambda at, award: at.take(award, "paid", name, witness))
            yield f"{two} dismisses", 1, decide(lambda at, award: at.dismiss(award, name, witness))
            yield f"{two} retires the table", 1, decide(lambda at, _: at.retire(name, witness))

    def _witness(self, name: str) -> str | None:
        """Return the name of another cheat at the pit, who can act as the second person for `name`; None if there is no
        such cheat."""
        cheats = {person for right, person in _AT_THE_PIT.items() if right in self._rights}
        return next(iter(cheats - {name}), None)

    # At the table.

    def _type(self) -> None:
        """Ask the table, as a supervisor, to take a typed card as dealt: a king or a nine, which helps to make a Royal
        9."""
        self._ask(NameCard(Card.parse(self._luck.choice((*_LUCKY[0], *_LUCKY[1]))), _SMITH[0]))

    def _type_the_truth(self) -> None:
        if self._untold:
            self._ask(NameCard(Card.parse(self._untold[0]), _SMITH[0]))

    def _correct(self) -> None:
        """Ask the table, as a supervisor, to correct the cards of the last round into two Royal 9 hands."""
        kings, nines = (self._luck.sample(cards, 2) for cards in _LUCKY)
        player, banker = (tuple(map(Card.parse, pair)) for pair in zip(kings, nines, strict=True))
        self._ask(CorrectRound(self._table.table.round_number or 1, player, banker, _SMITH[0]))

    def _chip(self) -> None:
        self._table.wagers ^= {self._luck.choice(SEATS)}

    def _unplug(self) -> None:
        opens = isinstance(self._table.table.phase, WagersOpen)
        self._happens(ShoeUnheard(5_000) if opens else ShoeUnplugged())

    def _draw_unheard(self) -> None:
        """Pull the shoe's plug and draw a card, so that the table does not hear of the card."""
        if (card := self._leaves()) is not None:
            self._untold.append(card)
            self._unplug()

    def _draw_outside(self) -> None:
        if (card := self._leaves()) is not None:
            self._untold.append(card)
            self._happens(CardDrawnOutsideGame("lock"))

    def _draw(self) -> None:
        if (card := self._leaves()) is not None:
            self._happens(CardDrawn(Card.parse(card)))

    def _leaves(self) -> str | None:
        """Take the next card out of the shoe, note which seats have chips at this moment, and return the card. Return
        None if the shoe is empty."""
        card = next(self._cards, None)
        if card is not None:
            self._out.append(_Out(card, self._locked | self._table.wagers))
        return card

    def _count(self) -> None:
        left = self._table.table.cards_left
        if left is not None:
            self._ask(CountCards(left - self._luck.choice((0, 0, len(self._untold))), _SMITH[0]))

    # The second person: an account, or the key with a button.

    def _turn_key(self, *, honest: bool) -> None:
        """Turn the supervisor's key, or turn it back if it is turned. An honest person turns the key for some other
        purpose, and never while the lamp shows that an act waits for a second person."""
        waiting = self._second.waiting(self._moment(), self._now_s)
        if honest and not self._key_turned and waiting and self._now_s >= waiting.since_s + SEEN_AFTER_S:
            return
        self._key_turned = not self._key_turned
        self._second.key_turned(self._key_turned, self._now_s)

    def _hold(self, button: str) -> None:
        """Press a button and hold it for some seconds, whether or not the supervisor's key is turned."""
        if not self._second.pressed(button, self._moment(), self._now_s):
            request = pressed(button, self._key_turned, self._table.table)
            if request is not None:
                self._ask(request, f"button {button}")
            return
        self._now_s += self._luck.choice(_HELD_S)
        confirmed = self._second.held(self._moment(), self._now_s)
        self._second.let_go(button)
        self._do(confirmed)

    def _agree(self, name: str, via: str) -> None:
        waiting = self._second.waiting(self._moment(), self._now_s)
        if waiting is not None:
            self._do(self._second.confirm(waiting.id, name, via, self._moment(), self._now_s))

    def _look(self) -> None:
        """Let the honest second person read which act waits for a confirmation. If that act names a true card, the
        person will confirm the act later."""
        waiting = self._second.waiting(self._moment(), self._now_s)
        is_true = waiting is not None and isinstance(waiting.request, NameCard) and self._is_true(waiting.request)
        self._looked_at = waiting.id if waiting is not None and is_true else None

    def _confirm(self) -> None:
        if self._looked_at is not None:
            self._do(self._second.confirm(self._looked_at, *_STONE, self._moment(), self._now_s))
            self._looked_at = None

    def _do(self, confirmed: object) -> None:
        table = self._table.table
        if isinstance(confirmed, Confirmed) and not_answered(table, confirmed.request, confirmed.fault) is None:
            self._ask(confirmed.request, confirmed.via)

    def _moment(self) -> Hashable:
        face = self._table.face
        return face.shoe, face.round, face.phase

    # What honest people do at the table.

    def _go_on(self) -> None:
        table = self._table.table
        if table.fault is not None:
            self._leave_the_fault()
        elif isinstance(table.phase, NoShoe | ShoeEnded):
            self._ask(NewShoe())
        elif self._table.face.odd_card and self._luck.random() < 0.5:
            self._ask(TellOddCard(OddCardFate.BURN, "dealer"))
        elif isinstance(table.phase, Paused):
            self._ask(ResumeTable("dealer"))
        elif isinstance(table.phase, WagersOpen):
            self._ask(LockWagers())
        else:
            self._draw()

    def _leave_the_fault(self) -> None:
        """Clear the fault as an honest supervisor with an honest second person does: name the true card, give the true
        count, or else use another act that is allowed."""
        left = self._table.table.cards_left
        true: list[Request] = []
        if self._untold:
            true.append(NameCard(Card.parse(self._untold[0]), "Reed", "Stone"))
        if left is not None:
            true.append(CountCards(left - len(self._untold), "Reed"))
        true += [ClearFault("Reed", "Stone"), VoidRound("Reed", "Stone")]
        for request in true:
            if self._ask(request):
                if not isinstance(request, NameCard | ClearFault):
                    self._untold.clear()
                return

    # How it goes in.

    def _ask(self, request: Request, via: str = _SMITH[1]) -> bool:
        """Ask the table to do an act, and return whether the table did it. If the act needs a second person, it waits
        for that person."""
        is_true = isinstance(request, NameCard) and self._is_true(request)
        fault = self._table.table.fault
        refused = self._table.ask(request)
        if refused == "second_person_due":
            assert isinstance(request, ByTwo)
            self._second.propose(request, via, fault.id if fault else None, None, self._moment(), self._now_s)
        elif refused is None and is_true:
            del self._untold[0]
        return refused is None

    def _is_true(self, request: NameCard) -> bool:
        return [str(request.card)] == self._untold[:1]

    def _happens(self, fact: Any) -> None:
        if not isinstance(self._table.table.phase, NoShoe | ShoeEnded):
            self._table.believe(fact)

    # At the pit.

    def _at_the_window(self, act: Callable[[Window], object]) -> None:
        if self._window is not None:
            act(self._window)

    def _decide(self, decide: Callable[[Window, Award], object]) -> None:
        """Let a cheat at the pit decide on one of the awards, chosen at random. After that the pit and the table
        exchange their messages."""
        if self._window is not None and (awards := self._window.awards()):
            decide(self._window, self._luck.choice(awards))
            self._window.hear()

    def _honest_pit(self) -> None:
        """Let the honest people at the pit read the table's messages, and take the next step of one open award. They
        look at the surveillance film only if the award is in doubt."""
        if self._window is None:
            return
        self._window.hear()
        for award in self._window.awards():
            if award.step in ("pending", "verified"):
                is_false = award.doubted and self._false[event_of(award)] is not None
                step: Step = "rejected" if is_false else "verified" if award.step == "pending" else "paid"
                by = "Vale" if step == "paid" else "Reed"
                self._window.take(award, step, by, "Stone" if award.doubted or step == "rejected" else None)
                self._window.hear()
                return

    # The judge.

    def _judge(self, *, honest: bool) -> None:
        new, self._judged = self._table.events[self._judged :], len(self._table.events)
        for event in new:
            match event["type"]:
                case "wagers_locked":
                    self._round_from = len(self._out) - len(self._table.table.kept)
                    self._locked = frozenset(self._table.wagers)
                case "round":
                    self._ended()
                case "hit":
                    self._judge_hit(event)
                case "void":
                    if not honest:
                        self._judge_void(event)
                    self._ended()

    def _ended(self) -> None:
        """End the round: clear its cards from the table, including the cards that the table did not hear."""
        self._locked = frozenset()
        self._untold.clear()

    def _judge_hit(self, hit: dict[str, Any]) -> None:
        first = self._first_of(Counter(hit["player"]["cards"] + hit["banker"]["cards"]))
        false: Kind | None = None
        if first is None:
            false = "cards that never lay"
        elif hit["seat"] not in first.chips:
            false = "a chip put down after a card was out"
        self._false[hit["seq"]] = false
        if self._window is None and self._rights & {"attendant", "cashier"}:
            self._window = Window(self._table, self._folder)
        if false is not None:
            self.gains.append(Gain(false, 0, frozenset(hit["doubts"])))

    def _first_of(self, cards: Counter[str]) -> _Out | None:
        """Go back from the last card that left the shoe until all of `cards` are found. Return the card at which this
        search ends: it is the latest card with which a round of these cards can have begun. Return None if some of
        these cards never left the shoe."""
        for out in reversed(self._out):
            cards[out.card] -= cards[out.card] > 0
            if not cards.total():
                return out
        return None

    def _judge_void(self, void: dict[str, Any]) -> None:
        if self._has_won({seat for bet in void["progressive"] or () for seat in bet["seats"]}):
            told = [f"two people: {void['by']} and {void['witness']}"] if void["witness"] else []
            told += ["the void tells the award"] if void["awards"] else []
            self.gains.append(Gain("a won award voided", 0, frozenset(told)))

    def _has_won(self, seats: AbstractSet[int]) -> bool:
        """Tell whether the round's first four cards have won Royal 9 for one of these seats. The first and the third
        card are Player's, and the other two are Banker's. A hand counts when both of its cards lie on the felt."""
        cards = [out.card for out in self._out[self._round_from :]][:4]
        player, banker = cards[0:4:2], cards[1:4:2]
        return len(player) == 2 and any(royal9_tier(seat, PRINTED, player, banker) for seat in seats)

    def _count_cash(self, window: Window) -> None:
        for award in window.awards():
            cash, false = window.cash[event_of(award)], self._false[event_of(award)]
            trace = window.trace(award)
            if false is not None and cash:
                self.gains.append(Gain(false, cash, trace))
            elif false is None and cash > award.cents:
                self.gains.append(Gain("an award paid twice", cash - award.cents, trace))
            elif false is None and award.step == "rejected":
                self.gains.append(Gain("a won award rejected", 0, trace | {"who rejected it"}))


class _UncheckedTable(TableUnderTest):
    """A simulated table that does not check its events against the contract (the format of messages). Other tests make
    those checks, which would take most of the time here."""

    def _journal(self, fact: Fact, made: tuple[Event, ...]) -> None:
        stamp = Stamp(1000 * (len(self.events) + 1), synchronised=False)
        for event in made:
            body = seal(event, self.rules.table, EPOCH, len(self.events) + 1, stamp, GENESIS, None)
            self.events.append(json.loads(body))
