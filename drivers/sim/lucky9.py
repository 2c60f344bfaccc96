"""The simulated house's own reading of the Lucky 9 sheet (003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt, Felt
from drivers.sim.wagers import Bets, Wager

_MOST_HANDS = 4


@dataclass
class SeatHand:
    """A hand of a seat: two or three cards."""

    cards: list[str]
    from_split: bool = False


@dataclass(frozen=True)
class Lucky9:
    """The game. `bets` as the game file has them."""

    bets: Sequence[Mapping[str, Any]]

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round to every seat with a wager on its hand."""
        assert bets is not None, "a round needs its players"
        first_two, hands, dealer = played(felt, sorted(wager.seat for wager in bets.on("hand")))
        paid = [each for wager in bets.standing or () for each in self.pay(wager, hands[wager.seat], first_two, dealer)]
        told: dict[str, object] = {
            "dealer": rules.hand_told(dealer),
            "hands": [
                {"seat": seat, "hand": number, **rules.hand_told(hand.cards), "result": one.result}
                for seat, of_seat in hands.items()
                for number, (hand, one) in enumerate(
                    zip(of_seat, self.pay(Wager(seat, "hand", 0), of_seat, first_two, dealer), strict=True), 1
                )
            ],
            "settlement": cashier.settlement(paid),
        }
        return Dealt(None, told)

    def pay(
        self, wager: Wager, hands: Sequence[SeatHand], first_two: Mapping[int, Sequence[str]], dealer: Sequence[str]
    ) -> list[Paid]:
        """Pay a seat's wager: on each of its hands, where each hand has an equal wager, or on its leftmost hand."""
        bet = next(bet for bet in self.bets if bet["spot"] == wager.spot)
        with_up_card = [*first_two[wager.seat], dealer[1]]
        return [
            book.pay(
                bet,
                wager,
                {"own": hand.cards, "dealer": dealer, "with_up_card": with_up_card},
                {},
                number if bet.get("each_hand") and hand.from_split else None,
            )
            for number, hand in enumerate(hands if bet.get("each_hand") else hands[:1], 1)
        ]


def played(felt: Felt, seats: Sequence[int]) -> tuple[dict[int, list[str]], dict[int, list[SeatHand]], list[str]]:
    """Deal a round to these seats. Returns each seat's first two cards, its hands at the end, and the dealer's hand."""
    first_two: dict[int, list[str]] = {seat: [] for seat in seats}
    dealer: list[str] = []
    for _ in range(2):
        for seat, cards in first_two.items():
            cards.append(felt.card(f"seat_{seat}"))
        dealer.append(felt.card("dealer"))
    hands = {seat: _play(felt, seat, list(cards)) for seat, cards in first_two.items()}
    felt.reveal("dealer")
    if rules.total(dealer) < 5:
        dealer.append(felt.card("dealer"))
    return first_two, hands, dealer


def _play(felt: Felt, seat: int, cards: list[str]) -> list[SeatHand]:
    """A seat's turn: its hands from left to right."""
    if rules.total(cards) == 9:
        return [SeatHand(cards)]
    may_split = ["split"] if rules.is_pair(cards) else []
    match felt.choice(seat, ["hit", "stand", *may_split], rules.total(cards)):
        case "hit":
            return [SeatHand([*cards, felt.card(f"seat_{seat}")])]
        case "split":
            return _split(felt, seat, cards, others=0)
    return [SeatHand(cards)]


def _split(felt: Felt, seat: int, pair: Sequence[str], others: int) -> list[SeatHand]:
    """Each card of a pair becomes a hand, the left card first. `others`: how many other hands the seat has."""
    played: list[SeatHand] = []
    for to_come, card in ((1, pair[0]), (0, pair[1])):
        besides = others + to_come + len(played)
        two = [card, felt.card(f"seat_{seat}")]
        room = besides + 2 <= _MOST_HANDS
        if rules.is_pair(two) and room and felt.choice(seat, ["stand", "split"], rules.total(two)) == "split":
            played += _split(felt, seat, two, besides)
        else:
            played.append(SeatHand(two, from_split=True))
    return played
