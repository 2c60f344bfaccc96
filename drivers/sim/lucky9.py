"""The simulated house's own reading of the Lucky 9 sheet (003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


class Lucky9:
    """The game."""

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round to every seat with a wager on its hand."""
        assert bets is not None, "a round needs its players"
        first_two: dict[int, list[str]] = {wager.seat: [] for wager in sorted(bets.on("hand"), key=lambda w: w.seat)}
        dealer: list[str] = []
        for _ in range(2):
            for seat, cards in first_two.items():
                cards.append(felt.card(f"seat_{seat}"))
            dealer.append(felt.card("dealer"))
        hands = {seat: _play(felt, seat, list(cards)) for seat, cards in first_two.items()}
        felt.reveal("dealer")
        if rules.total(dealer) < 5:
            dealer.append(felt.card("dealer"))
        paid = [each for wager in bets.standing or () for each in pay(wager, hands[wager.seat], first_two, dealer)]
        told: dict[str, object] = {
            "dealer": rules.hand_told(dealer),
            "hands": [
                {"seat": seat, "hand": number, **rules.hand_told(hand.cards), "result": result_of(hand, dealer)[0]}
                for seat, of_seat in hands.items()
                for number, hand in enumerate(of_seat, 1)
            ],
            "settlement": cashier.settlement(paid),
        }
        return Dealt(None, told)


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
    """Each card of a pair becomes a hand, the left one first; the seat has so many other hands besides."""
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


def result_of(hand: SeatHand, dealer: Sequence[str]) -> tuple[str, tuple[int, int]]:
    """ "won", "pushed" or "lost", and what a win pays (3, 2) or (1, 1), by the sheet's sentences."""
    mine, theirs = rules.total(hand.cards), rules.total(dealer)
    three_cards = len(hand.cards) == 3
    if three_cards and mine <= 2:
        return "lost", (0, 1)  # whatever the dealer has
    lucky = _is_lucky(hand.cards) and not hand.from_split
    if mine == theirs == 9:
        if lucky and len(dealer) == 3:
            return "won", (3, 2)
        return ("lost" if three_cards and _is_lucky(dealer) else "pushed"), (0, 1)
    if mine == theirs:
        return "pushed", (0, 1)
    return ("won" if mine > theirs else "lost"), ((3, 2) if lucky else (1, 1))


def bonus_pays(first_two: Sequence[str], dealers_up_card: str) -> int:
    """What the Lucky 9 Bonus pays to one; 0 where it loses."""
    cards = [*first_two, dealers_up_card]
    if rules.total(cards) != 9:
        return 0
    suited = len({card[1] for card in cards}) == 1
    match "".join(sorted(card[0] for card in cards)):
        case "333":
            return 200 if suited else 50
        case "234":
            return 100 if suited else 40
    return 30 if suited else 5


def pay(wager: Wager, hands: Sequence[SeatHand], first_two: dict[int, list[str]], dealer: Sequence[str]) -> list[Paid]:
    """A seat's wager: on its hand (each that it split into has one as large), on the tie, or on the bonus."""
    match wager.spot:
        case "hand":
            numbered = enumerate(hands, 1)
            return [_hand(wager, hand, dealer, number if hand.from_split else None) for number, hand in numbered]
        case "tie":
            tied = rules.total(hands[0].cards) == rules.total(dealer)
            return [cashier.win(wager, 7) if tied else cashier.lose(wager)]
        case _:
            to_one = bonus_pays(first_two[wager.seat], dealer[1])
            return [cashier.win(wager, to_one) if to_one else cashier.lose(wager)]


def _hand(wager: Wager, hand: SeatHand, dealer: Sequence[str], number: int | None) -> Paid:
    match result_of(hand, dealer):
        case "won", (to, one):
            return cashier.win(wager, to, one, hand=number)
        case "pushed", _:
            return cashier.push(wager, number)
        case _:
            return cashier.lose(wager, number)


def _is_lucky(cards: Sequence[str]) -> bool:
    """A 9 on two cards that both count."""
    return len(cards) == 2 and rules.total(cards) == 9 and 0 not in map(rules.points, cards)
