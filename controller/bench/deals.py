"""Random deals for property tests of any table daemon. A deal has shoes, cards that the shoe misreads, and what people
do while the cards are dealt.

`deals()` is a strategy of Hypothesis, which this module needs (`pip install hypothesis`). Hypothesis shrinks a deal
that fails to the shortest deal that fails: few rounds and low cards, without misread cards and acts of people that the
failure does not need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from hypothesis import strategies as st
from msgspec import Struct

from controller.bench.header import Pins
from drivers.sim import rules
from drivers.sim.rules import RANKS, SUITS
from drivers.sim.shoe import maker

CARDS = [f"{rank}{suit}" for rank in RANKS for suit in SUITS]
_MOST_CARDS = 6


class Step(Struct, frozen=True):
    """One step of a deal. `draw CARD` is a card that the shoe reads correctly. `misread CARD HOW` is a card that the
    shoe reports wrongly or not at all, by the command HOW of the simulated shoe's prompt, for example `lose`. `press
    BUTTON`, `cover SEAT` and `uncover SEAT` are acts of people. `unplug` pulls the shoe's cable and puts it back.
    `new_shoe` puts a new shoe in place."""

    do: Literal["new_shoe", "draw", "misread", "press", "cover", "uncover", "unplug"]
    what: str = ""
    how: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.do, self.what, self.how) if word)


class DealtRound(Struct, frozen=True):
    """A round as its cards truly lie on the felt, even if the shoe misread some of them. The cards follow the usual
    drawing rules of punto banco."""

    player: tuple[str, ...]
    banker: tuple[str, ...]
    outcome: Literal["player", "banker", "tie"]
    seats: tuple[int, ...]
    """The seats with chips."""


class Deal(Struct, frozen=True):
    """The deal of one shoe, from its first card on. `steps` are the steps that happen, in order. `rounds` are the
    rounds as the cards truly lie on the felt."""

    steps: tuple[Step, ...]
    rounds: tuple[DealtRound, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.steps))

    def play(self, shoe: Any, pins: Pins, answered: Callable[[Step], bool] | None = None) -> None:
        """Do all steps of the deal at the bench. Example: `deal.play(bench_shoe, bench_pins)`.

        A button is held until `answered(step)` returns True, which says that the daemon has taken the press. Without
        `answered`, the button is held for a moment. The other steps do not wait for the daemon.
        """
        for step in self.steps:
            match step.do:
                case "press":
                    pins.press(step.what, until=None if answered is None else partial(answered, step))
                case "cover":
                    pins.cover(int(step.what))
                case "uncover":
                    pins.uncover(int(step.what))
                case "unplug":
                    shoe.unplug()
                    shoe.plug()
                case _:
                    _say(shoe, step)

    def wire(self, driver: str, wrap: int = 0) -> bytes:
        """Return all bytes that a shoe of the brand `driver` sends in this deal, for a test of a program that decodes
        them. If the brand numbers its reports with one digit, `wrap` (0 or 1) is the digit after 9. The cable is never
        pulled in this deal's bytes."""
        line = _Written()
        shoe = maker(driver)(line, wrap=wrap)
        for step in self.steps:
            _say(shoe, step)
        return bytes(line.said)


class _Written:
    """A serial line that only keeps the bytes that are written to it."""

    def __init__(self) -> None:
        self.said = bytearray()

    def write(self, data: bytes) -> None:
        self.said += data

    def listen(self, heard: object) -> None:
        """Do nothing, because nobody sends anything to this shoe."""


class _Planned(Struct, frozen=True):
    """A round as Hypothesis draws it at random, with more cards than the round may need."""

    cards: tuple[str, ...]
    seats: tuple[int, ...] = ()
    misread: tuple[int, str] | None = None
    unplugged_before: int | None = None


def deals(
    *,
    seats: int = 7,
    most_rounds: int = 4,
    misreads: Sequence[str] = ("unreadable",),
    plugs: bool = False,
    decks: int = 8,
) -> st.SearchStrategy[Deal]:
    """Return a Hypothesis strategy for deals of one shoe of `decks` decks, with up to `most_rounds` rounds and wagers
    on up to `seats` seats.

    `misreads` are the commands of the simulated shoe's prompt by which a card may go wrong: `("unreadable",)` for an
    Angel Eye, `("damage", "lose")` for a BeeTek, `()` for no misread card. If `plugs` is True, a deal may pull the
    shoe's cable between two cards and put it back.
    """
    card = st.sampled_from(CARDS)
    place = st.integers(0, _MOST_CARDS - 1)
    rounds = st.lists(
        st.builds(
            _Planned,
            cards=st.lists(card, max_size=_MOST_CARDS).map(_filled),
            seats=st.lists(st.integers(1, seats), max_size=seats, unique=True).map(lambda of: tuple(sorted(of))),
            misread=st.none() | st.tuples(place, st.sampled_from(misreads)) if misreads else st.none(),
            unplugged_before=st.none() | place if plugs else st.none(),
        ),
        max_size=most_rounds,
    )
    return st.builds(lambda first, planned: _deal(Counter(CARDS * decks), first, planned), card, rounds)


def _deal(left: Counter[str], first: str, planned: Sequence[_Planned]) -> Deal:
    steps = [Step("press", "new_shoe"), Step("new_shoe"), Step("draw", _taken(left, first))]
    steps += [Step("draw", _taken(left, card)) for card in CARDS[-rules.burn_count(first) :]]
    rounds = []
    for each in planned:
        cards = [_taken(left, card) for card in each.cards]
        dealt = _dealt(cards, each.seats)
        rounds.append(dealt)
        steps += _steps_of(each, cards[: len(dealt.player) + len(dealt.banker)])
    return Deal(tuple(steps), tuple(rounds))


def _dealt(cards: Sequence[str], seats: tuple[int, ...]) -> DealtRound:
    player: list[str] = []
    banker: list[str] = []
    for card in cards:
        side = rules.next_side(player, banker)
        if side is not None:
            (player if side == "player" else banker).append(card)
    return DealtRound(tuple(player), tuple(banker), rules.outcome(player, banker), seats)


def _steps_of(planned: _Planned, cards: Sequence[str]) -> Iterator[Step]:
    yield from (Step("cover", str(seat)) for seat in planned.seats)
    yield Step("press", "deal")
    for place, card in enumerate(cards):
        if place == planned.unplugged_before:
            yield Step("unplug")
        if planned.misread is not None and planned.misread[0] == place:
            yield Step("misread", card, planned.misread[1])
        else:
            yield Step("draw", card)
    yield from (Step("uncover", str(seat)) for seat in planned.seats)


def _filled(cards: Sequence[str]) -> tuple[str, ...]:
    """Return these cards with low cards added until there are six, so that Hypothesis can shrink a failing deal card by
    card."""
    return (*cards, *[CARDS[0]] * (_MOST_CARDS - len(cards)))


def _taken(left: Counter[str], card: str) -> str:
    """Remove one `card` from `left`, which maps each card to how often the shoe still has it. Return the card. If the
    shoe has no such card left, remove and return the next card, in the order of CARDS, that it has."""
    begin = CARDS.index(card)
    found = next(each for each in (*CARDS[begin:], *CARDS[:begin]) if left[each])
    left[found] -= 1
    return found


def _say(shoe: Any, step: Step) -> None:
    match step.do:
        case "new_shoe":
            shoe.new_shoe()
        case "draw":
            shoe.draw(step.what)
        case "misread":
            shoe.verbs()[step.how].do(step.what)
        case _:
            return
