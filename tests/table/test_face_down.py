"""Checks that face-down cards stay secret: whichever cards were burned, an onlooker sees exactly the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from controller.rules.game.cards import DECK, Card
from controller.table.acts.shoe import NewShoe
from controller.table.face_down import hides_cards
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    Fact,
    Report,
    ShoeError,
    ShoeErrorRaised,
    Target,
)
from controller.table.lamps import Live, lamps
from tests.support.samples import examples
from tests.support.tables import TableUnderTest, hand

HEALTHY = Live(frozenset({1}), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)
BURN, PLAYER, FIRST_CARD = Target.BURN, Target.PLAYER, Target.FIRST_CARD


class Watched(TableUnderTest):
    """A table under test that records, after each fact, everything that an onlooker can see: the public state, the
    lamps and the events."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seen: list[Any] = []
        self._seq = 0

    def believe(self, *facts: Fact) -> Self:
        for fact in facts:
            super().believe(fact)
            self.seen.append((to_builtins(self.face), lamps(self.face, HEALTHY), self._without_the_chain()))
        return self

    def report(self, card: Card | None, missed: int = 0) -> Report:
        """Return the shoe's next report. Its number is `missed` higher than usual, as if that many reports had been
        lost. Its frame names the card, as a real shoe's does."""
        self._seq = (self._seq + 1 + missed) % 10
        return Report(self._seq, f"05 {card}")

    def _without_the_chain(self) -> list[dict[str, Any]]:
        """Return the events so far without their chain values. The chain values contain a random salt, so they tell
        nothing."""
        return [{name: said for name, said in event.items() if name != "chain"} for event in self.events]


Way = Callable[[Watched, Card], object]

# The ways a card can come to be burned.
WAYS: dict[str, Way] = {
    "with the shoe's opinion": lambda table, card: table.believe(CardDrawn(card, BURN, 1, table.report(card))),
    "without": lambda table, card: table.believe(CardDrawn(card, report=table.report(card))),
    "unreadable and named": lambda table, card: table.believe(CardDrawn(None, BURN, 1, table.report(card))).name(
        str(card)
    ),
    "unreadable and left so": lambda table, card: table.believe(CardDrawn(None, BURN, 1, table.report(card))).clear(),
    "dealt to a hand": lambda table, card: table.believe(CardDrawn(card, PLAYER, 1, table.report(card))).clear(),
    "called a first card": lambda table, card: table.believe(
        CardDrawn(card, FIRST_CARD, 0, table.report(card))
    ).clear(),
    "kept": lambda table, card: table.believe(CardKept(card, PLAYER, 1, table.report(card))).clear(),
    "outside the game": lambda table, card: table.believe(CardDrawnOutsideGame("lock", table.report(card))).name(
        str(card)
    ),
    "while stopped": lambda table, card: table.believe(
        ShoeErrorRaised(ShoeError.CANNOT_READ), CardDrawn(card, BURN, 1, table.report(card))
    ).clear(),
    "after a gap": lambda table, card: table.believe(CardDrawn(card, BURN, 1, table.report(card, missed=2))).clear(),
}


def _play(burned: list[Card], ways: list[str], stray: Card) -> Watched:
    """Burn five cards, each in the way that `ways` names, and play one round. In the next round let the shoe report the
    card `stray` as burned, clear the fault, and finish the round. Return the table."""
    table = Watched()
    table.do(NewShoe()).believe(CardDrawn(Card.parse("5D"), FIRST_CARD, 0, table.report(None)))
    for card, way in zip(burned, ways, strict=True):
        WAYS[way](table, card)
    assert (table.face.phase, table.fault) == ("wagers_open", None)
    table.lock(1).draw("KS 2S 9S 3D").lock(2).draw("4S TH")
    table.believe(CardDrawn(stray, BURN, 6, table.report(stray))).clear().draw("5D 9C")
    assert len(table.of_type("round")) == 2
    return table


@examples(20)
@given(
    st.lists(st.sampled_from(sorted(WAYS)), min_size=5, max_size=5),
    st.lists(st.sampled_from(DECK), min_size=12, max_size=12, unique=True),
)
def test_what_is_burned_cannot_be_told_from_anything_seen(ways: list[str], cards: list[Card]) -> None:
    these, those = (_play(cards[n : n + 5], ways, cards[n + 5]) for n in (0, 6))
    assert these.seen == those.seen
    assert these.table.shoe != those.table.shoe, "but the core knows: the shoe's composition is its to keep"


def test_what_a_fault_holds_hides_cards_but_for_those_of_the_burn_and_of_a_face_up_hand() -> None:
    """If cards come while a fault stands, they count as hidden, except for as many as the burn or a face-up round still
    needs. A round of Baccarat Royal, Lucky 9 or Midi is dealt face down, so its cards count as hidden."""
    stopped = ShoeErrorRaised(ShoeError.CANNOT_READ)

    def hidden(table: TableUnderTest, cards: str) -> list[bool]:
        return [hides_cards(table.draw(card).table) for card in cards.split()]

    assert hidden(TableUnderTest().open_shoe().believe(stopped), "4S") == [True]
    assert hidden(TableUnderTest().do(NewShoe()).draw("3H 8C").believe(stopped), "4S TH 5D") == [False, False, True]
    in_round = TableUnderTest().open_shoe().lock(1).draw("4S TH").believe(stopped)
    assert hidden(in_round, "5D 9C 4S TH 2D") == [False, False, False, False, True]
    assert hidden(TableUnderTest().open_shoe().lock(1).believe(stopped), "5D 9C 4S TH 2D 3D 4D") == [False] * 6 + [True]


def test_the_first_card_is_shown_and_those_burned_after_it_are_counted() -> None:
    table = TableUnderTest().do(NewShoe()).draw("3H 8C")
    assert (table.face.first_card, table.face.burn_left) == ("3H", 2)
    assert "8C" not in str(to_builtins(table.face))
    table.draw("8C 8C")
    assert (table.face.first_card, table.face.burn_left) == (None, None)


def test_the_public_face_of_a_hand() -> None:
    table = TableUnderTest().open_shoe().lock(2)
    assert (table.face.round, table.face.progressive[0].seats, table.face.next_hand) == (1, (2,), "player")
    table.draw("KH 2S 9H")
    assert (hand(table.face, "player").cards, hand(table.face, "player").total) == (("KH", "9H"), 9)
    assert (hand(table.face, "banker").cards, hand(table.face, "banker").total) == (("2S",), 2)
    table.draw("3D")
    assert (table.face.outcome, table.face.next_hand, table.face.round) == ("player", None, 1)
    assert [(hit.seat, hit.tier) for hit in table.face.hits] == [(2, "player_personal")]
    assert hand(table.face, "banker").cards == ("2S", "3D")


def test_the_final_round_is_announced_from_the_cut_card_on() -> None:
    table = TableUnderTest().open_shoe().lock()
    drawn = ["4S", "CUT", "TH 5D 9C"]
    assert [table.draw(cards).face.final_round for cards in drawn] == [False, False, True], "this one, then one more"
    assert table.lock().face.final_round
    assert table.draw("4S").face.final_round


def test_a_simulated_hand_is_never_the_last() -> None:
    table = TableUnderTest().open_shoe().draw("CUT 4S")
    assert (table.face.simulated, table.face.final_round) == (True, False)
    assert table.draw("TH 5D 9C").lock().face.final_round
