"""The rules of Lucky 9 (rule sheet 003) for the simulation, written without code of the controller. The settings come
from the game file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from drivers.sim import bets as book
from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt, Felt
from drivers.sim.house import CENTS_UP, Bet, Rounding
from drivers.sim.wagers import Bets, Wager


class SeatHand(Struct):
    """A hand of a seat in Lucky 9, with two or three cards. `from_split` says whether a split pair made the hand."""

    cards: list[str]
    from_split: bool = False


class Section(Struct, frozen=True):
    """The section `[lucky9]` of a game file, which says how the game Lucky 9 is dealt."""

    pair: str
    most_splits: int
    dealer_draws_on: Sequence[int]
    deal_order: str = "seats_first"
    first_seat: str = "lowest"
    dealer_shows: str = "second_card"
    split_order: str = "leftmost_first"


class Lucky9(Struct, frozen=True):
    """The simulated game Lucky 9. `bets` are the bets of the game file, and `says` is the file's section on how the
    game is dealt."""

    bets: Sequence[Bet]
    says: Section
    rounding: Rounding = CENTS_UP

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round of Lucky 9 to every seat that has a wager on the spot "hand". Returns the round's result,
        and what every wager is paid."""
        assert bets is not None, "a round needs its players"
        first_two, hands, dealer = played(felt, sorted({wager.seat for wager in bets.on("hand")}), self.says)
        paid = [each for wager in bets.standing or () for each in self.pay(wager, hands[wager.seat], first_two, dealer)]
        told: dict[str, object] = {
            "dealer": rules.hand_json(dealer),
            "hands": [
                {"seat": seat, "hand": number, **rules.hand_json(hand.cards), "result": one.result}
                for seat, of_seat in hands.items()
                for number, (hand, one) in enumerate(
                    zip(of_seat, self.pay(Wager(seat, "hand", 0), of_seat, first_two, dealer), strict=True), 1
                )
            ],
            "settlement": cashier.settlement(paid),
        }
        return Dealt(None, told, cashier.owed(paid), paid=paid)

    def pay(
        self, wager: Wager, hands: Sequence[SeatHand], first_two: Mapping[int, Sequence[str]], dealer: Sequence[str]
    ) -> list[Paid]:
        """Return what a seat's wager is paid, after the seat has played its `hands`. `first_two` maps each seat to its
        first two cards.

        For some bets, every hand of the seat has an equal wager and a result of its own. For every other bet, one hand
        decides, and the bet says which.
        """
        bet = next(bet for bet in self.bets if bet.spot == wager.spot)
        with_up_card = [*first_two[wager.seat], dealer[0 if self.says.dealer_shows == "first_card" else 1]]
        paid = [
            book.pay(
                bet,
                wager,
                {"own": hand.cards, "dealer": dealer, "with_up_card": with_up_card},
                {},
                number if bet.each_hand and hand.from_split else None,
                split=hand.from_split,
                rounding=self.rounding,
            )
            for number, hand in enumerate(hands, 1)
        ]
        if bet.each_hand:
            return paid
        if bet.after_split != "best":
            return [paid[0 if bet.after_split == "leftmost" else -1]]
        rows = [
            book.row_for(
                bet, {"own": hand.cards, "dealer": dealer, "with_up_card": with_up_card}, split=hand.from_split
            )
            for hand in hands
        ]
        places = [next((n for n, row in enumerate(bet.rows) if row is decides), len(bet.rows)) for decides in rows]
        return [paid[places.index(min(places))]]


def played(
    felt: Felt, seats: Sequence[int], says: Section
) -> tuple[dict[int, list[str]], dict[int, list[SeatHand]], list[str]]:
    """Deal a round to these seats. Returns three things: the first two cards of each seat, the hands of each seat at
    the end, and the dealer's hand."""
    going = sorted(seats, reverse=says.first_seat == "highest")
    round_ = [*map("seat_{}".format, going)]
    round_.insert(0 if says.deal_order == "dealer_first" else len(going), "dealer")
    twice = [who for who in round_ for _ in "12"] if says.deal_order == "two_at_once" else round_ * 2
    dealer: list[str] = []
    lie: dict[str, list[str]] = {who: [] for who in round_} | {"dealer": dealer}
    for who in twice:
        lie[who].append(felt.card(who))
    first_two = {seat: lie[f"seat_{seat}"] for seat in seats}
    acted = {seat: _play(felt, seat, list(first_two[seat]), says) for seat in going}
    hands = {seat: acted[seat] for seat in seats}
    felt.reveal("dealer")
    if rules.total(dealer) in says.dealer_draws_on:
        dealer.append(felt.card("dealer"))
    return first_two, hands, dealer


def _play(felt: Felt, seat: int, cards: list[str], says: Section) -> list[SeatHand]:
    """Let a seat hit, stand or split on its first two cards. A seat whose two cards total 9 stands without a choice.
    Returns the seat's hands from left to right."""
    if rules.total(cards) == 9:
        return [SeatHand(cards)]
    may_split = ["split"] if _splits(cards, says, hands=1) else []
    match felt.choice(seat, ["hit", "stand", *may_split], rules.total(cards)):
        case "hit":
            return [SeatHand([*cards, felt.card(f"seat_{seat}")])]
        case "split":
            return _split(felt, seat, cards, says, others=0)
    return [SeatHand(cards)]


def _splits(two: Sequence[str], says: Section, hands: int) -> bool:
    """Tell whether a seat may split these two cards. `hands` is the number of hands that the seat has, these two cards
    included."""
    by_value = says.pair == "value" and rules.points(two[0]) == rules.points(two[1])
    return (by_value or rules.is_pair(two)) and hands <= says.most_splits


def _split(felt: Felt, seat: int, pair: Sequence[str], says: Section, others: int) -> list[SeatHand]:
    """Split a pair: each of the two cards becomes a hand and gets a second card. The game file's `split_order` decides
    the order of dealing. Returns the new hands from left to right. `others` is the number of other hands that the seat
    has."""
    played: list[SeatHand] = []
    from_right = says.split_order == "rightmost_first"
    for to_come, card in zip((1, 0), reversed(pair) if from_right else pair, strict=True):
        besides = others + to_come + len(played)
        two = [card, felt.card(f"seat_{seat}")]
        if _splits(two, says, besides + 1) and felt.choice(seat, ["stand", "split"], rules.total(two)) == "split":
            hands = _split(felt, seat, two, says, besides)
        else:
            hands = [SeatHand(two, from_split=True)]
        played = [*hands, *played] if from_right else [*played, *hands]
    return played
