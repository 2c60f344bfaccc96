"""An evening at a table where people cheat, each within the rights of that person.

A simulator of faults loses messages. Cheats lose nothing: they look for a legal sequence of acts that pays. The player
is always a cheat, who puts chips down and takes them off at any moment. `officials` are the people of the house who
help the player. Everybody else is honest: an honest dealer deals on, an honest supervisor tells the truth, and an
honest second person agrees to nothing but a true card.

The judge knows what no program knows: each card that left the shoe, the chips that lay on the felt by then, and the
printed sheet. A gain is an award that those do not give, or an award that those give and that a void took away.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from controller.rules.game.cards import Card
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Request
from controller.table.acts.hand import LockWagers, OddCardFate, TellOddCard, VoidHand
from controller.table.acts.shoe import CloseShoe, NewShoe
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    ShoeError,
    ShoeErrorRaised,
    ShoeUnheard,
    ShoeUnplugged,
)
from controller.table.rules import TableRules
from controller.table.states import NoShoe, ShoeEnded, WagersOpen
from tests.support.sheets import royal9_tier
from tests.support.tables import ROYAL9, TableUnderTest

Official = Literal["dealer", "supervisor", "second supervisor"]
Kind = Literal["a chip put down after a card was out", "cards that never lay", "a won award voided"]

SEATS = tuple(seat.number for seat in ROYAL9.seats)
PRINTED = {seat.number: str(seat.k9) for seat in ROYAL9.seats}
ACTS = 60
_LUCKY = [f"K{suit}" for suit in "SHDC"], [f"9{suit}" for suit in "SHDC"]
_OTHERS = [f"{rank}{suit}" for rank in "2345678" for suit in "SHDC"]


@dataclass(frozen=True, slots=True)
class Gain:
    """What the cheats won beyond the game. `held`: the pit keeps the award until two of its people have decided, since
    the hit says how its cards are known or what speaks against them."""

    kind: Kind
    held: bool


@dataclass(frozen=True, slots=True)
class _Out:
    """A card that left the shoe, and the seats that had a chip on Royal 9 by then, or whose chip was locked by then."""

    card: str
    chips: frozenset[int]


class Evening:
    """One shoe, made from a seed, with the acts that were done and the gains that the judge found."""

    def __init__(self, seed: int, rules: TableRules, officials: frozenset[Official]) -> None:
        self.gains: list[Gain] = []
        self.acts: list[str] = []
        self._luck = random.Random(f"{seed} cheats")
        self._officials = officials
        self._table = TableUnderTest(rules)
        self._cards = self._shoe()
        self._out: list[_Out] = []
        self._untold: list[str] = []
        self._two_asked = False  # whether two people made the last request
        self._round_from = 0
        self._locked: frozenset[int] = frozenset()
        self._judged = 0
        self._table.open_shoe()

    def play(self) -> None:
        """Do all acts of the evening. The judge looks after each."""
        bold = self._luck.choice((0.3, 0.5, 0.7))
        for _ in range(ACTS):
            honest: tuple[str, Callable[[], object]] = ("honest people go on", self._go_on)
            name, act = self._luck.choice([*self._cheats()]) if self._luck.random() < bold else honest
            self.acts.append(f"{name:30} {self._table.face.phase}")
            act()
            self._judge()

    def _shoe(self) -> Iterator[str]:
        """Two kings, two nines, two kings: a round of four such cards wins, wherever the round begins."""
        luck, left = self._luck, Counter(dict.fromkeys((*_LUCKY[0], *_LUCKY[1], *_OTHERS), 7))
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

    # What cheats may do, each by a right of one person.

    def _cheats(self) -> Iterator[tuple[str, Callable[[], object]]]:
        for _ in range(3):
            yield "player: a chip", self._chip
        if "dealer" in self._officials:
            yield from self._of_the_dealer()
        if "supervisor" in self._officials:
            yield from self._of_the_supervisor()

    def _of_the_dealer(self) -> Iterator[tuple[str, Callable[[], object]]]:
        for _ in range(4):
            yield "dealer: a card", self._draw
        yield "dealer: deal", partial(self._ask, LockWagers())
        yield "dealer: void without the key", partial(self._ask, VoidHand(None))
        for fate in OddCardFate:
            yield f"dealer: {fate.name}", partial(self._ask, TellOddCard(fate, "dealer"))
        yield "dealer: a button mishandled", partial(self._happens, ShoeErrorRaised(ShoeError.BUTTON_MISHANDLED))
        yield "dealer: a card with the shoe locked", self._draw_outside
        yield "dealer: the plug", self._unplug
        yield "dealer: a card unheard", self._draw_unheard

    def _of_the_supervisor(self) -> Iterator[tuple[str, Callable[[], object]]]:
        witness = "Jones" if "second supervisor" in self._officials else None
        yield "supervisor: void", partial(self._ask, VoidHand("Smith", witness))
        yield "supervisor: clear", partial(self._ask, ClearFault("Smith", witness))
        yield "supervisor: new shoe", partial(self._ask, NewShoe("Smith"))
        yield "supervisor: close the shoe", partial(self._ask, CloseShoe("Smith"))
        for fate in OddCardFate:
            yield f"supervisor: {fate.name}", partial(self._ask, TellOddCard(fate, "Smith", witness))
        for _ in range(3):
            yield "supervisor: types a card", partial(self._type, witness)
        yield "supervisor: counts", self._count
        yield "supervisor: the plug", self._unplug
        yield "supervisor: corrects", partial(self._correct, witness)

    def _type(self, witness: str | None) -> None:
        """Type a card that makes a Royal 9."""
        self._ask(NameCard(Card.parse(self._luck.choice((*_LUCKY[0], *_LUCKY[1]))), "Smith", witness))

    def _correct(self, witness: str | None) -> None:
        """Correct the last round into two Royal 9 hands."""
        kings, nines = (self._luck.sample(cards, 2) for cards in _LUCKY)
        player, banker = (tuple(map(Card.parse, pair)) for pair in zip(kings, nines, strict=True))
        self._ask(CorrectRound(self._table.table.round_number or 1, player, banker, "Smith", witness))

    def _chip(self) -> None:
        self._table.wagers ^= {self._luck.choice(SEATS)}

    def _unplug(self) -> None:
        opens = isinstance(self._table.table.phase, WagersOpen)
        self._happens(ShoeUnheard(5_000) if opens else ShoeUnplugged())

    def _draw_unheard(self) -> None:
        """The plug is pulled, and a card is drawn that nobody hears of."""
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
        """The next card leaves the shoe; None where the shoe is empty."""
        card = next(self._cards, None)
        if card is not None:
            self._out.append(_Out(card, self._locked | self._table.wagers))
        return card

    def _count(self) -> None:
        left = self._table.table.cards_left
        if left is not None:
            self._ask(CountCards(left - self._luck.choice((0, 0, len(self._untold))), "Smith"))

    # What honest people do.

    def _go_on(self) -> None:
        table = self._table.table
        if table.fault is not None:
            self._leave_the_fault()
        elif isinstance(table.phase, NoShoe | ShoeEnded):
            self._ask(NewShoe())
        elif self._table.face.odd_card and self._luck.random() < 0.5:
            self._ask(TellOddCard(OddCardFate.BURN, "dealer"))
        elif isinstance(table.phase, WagersOpen):
            self._ask(LockWagers())
        else:
            self._draw()

    def _leave_the_fault(self) -> None:
        """An honest supervisor and an honest second one: the true card, the true count, then the rest."""
        left = self._table.table.cards_left
        true: list[Request] = []
        if self._untold:
            true.append(NameCard(Card.parse(self._untold[0]), "Reed", "Stone"))
        if left is not None:
            true.append(CountCards(left - len(self._untold), "Reed"))
        true += [ClearFault("Reed", "Stone"), VoidHand("Reed", "Stone")]
        for request in true:
            if self._ask(request):
                if isinstance(request, NameCard):
                    del self._untold[0]
                elif not isinstance(request, ClearFault):
                    self._untold.clear()
                return

    # How it goes in.

    def _ask(self, request: Request) -> bool:
        """Ask; where the act needs a second person, an honest one agrees to a true card alone."""
        self._two_asked = getattr(request, "witness", None) is not None
        refused = self._table.ask(request)
        if refused == "second_person_due" and isinstance(request, NameCard) and [str(request.card)] == self._untold[:1]:
            del self._untold[0]
            refused = self._table.ask(replace(request, witness="Stone"))
        return refused is None

    def _happens(self, fact: Any) -> None:
        if not isinstance(self._table.table.phase, NoShoe | ShoeEnded):
            self._table.believe(fact)

    # The judge.

    def _judge(self) -> None:
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
                    self._judge_void(event)
                    self._ended()

    def _ended(self) -> None:
        """The round's cards go to the discard rack, also those that nobody has told."""
        self._locked = frozenset()
        self._untold.clear()

    def _judge_hit(self, hit: dict[str, Any]) -> None:
        held = bool(hit["not_read"] or hit["doubts"])
        first = self._first_of(Counter(hit["player"]["cards"] + hit["banker"]["cards"]))
        if first is None:
            self.gains.append(Gain("cards that never lay", held))
        elif hit["seat"] not in first.chips:
            self.gains.append(Gain("a chip put down after a card was out", held))

    def _first_of(self, cards: Counter[str]) -> _Out | None:
        """The first card of a round with these cards, looked for from the last card back; None: some never lay."""
        for out in reversed(self._out):
            cards[out.card] -= cards[out.card] > 0
            if not cards.total():
                return out
        return None

    def _judge_void(self, void: dict[str, Any]) -> None:
        """Cards 1 and 3 are Player's, 2 and 4 Banker's. A hand is seen once both of its cards lie."""
        cards = [out.card for out in self._out[self._round_from :]][:4]
        player, banker = cards[0:4:2], cards[1:4:2]
        if self._two_asked or len(player) < 2:
            return
        seats = [seat for bet in void["progressive"] or () for seat in bet["seats"]]
        if any(royal9_tier(seat, PRINTED, player, banker) for seat in seats):
            self.gains.append(Gain("a won award voided", held=False))
