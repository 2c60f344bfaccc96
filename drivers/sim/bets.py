"""The simulation's own evaluation of the bets in a game file, written from the page `docs/bets.md` alone, without code
of the controller.

Each bet has a pay table, and each row of the pay table has conditions. The conditions are kept as the TOML file gives
them. A hand is a list of cards in text, such as `KS`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct, convert

from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.house import CENTS_UP, Bet, Rounding, Row
from drivers.sim.wagers import Bets, Wager

Hands = Mapping[str, Sequence[str]]
"""The cards of a finished round. Two sides are compared: `player` and `banker`, or `own` and `dealer`.

`own` may come beside `player` and `banker` too: there it is the side that the bettor's own seat plays.
"""


_SIDES = "player", "banker", "own", "dealer"
_ORDERS = "A23456789TJQK", "23456789TJQKA"
"""The ranks as they follow each other: the ace below the 2, or above the King."""


class Won(Struct, frozen=True):
    """An award that a seat won: the spot of the bet, the seat, and the row of the bet's pay table that won it."""

    spot: str
    seat: int
    row: Row


def row_for(
    bet: Bet,
    hands: Hands,
    seat: int = 0,
    printed: Mapping[int, str] | None = None,
    *,
    split: bool = False,
    naturals: Collection[int] = (8, 9),
) -> Row | None:
    """Return the first row of the bet's pay table whose conditions hold for the seat, or None if no row's conditions
    hold.

    `printed` maps a seat to the King and the 9 that are printed at that seat, such as `KS 9H`. `split` says whether the
    seat has split its hand. `naturals` are the totals of two cards that count as a natural in this house.
    """
    own = {} if printed is None else {"own": [printed.get(seat, "")]}
    another = [pair for other, pair in (printed or {}).items() if other != seat]
    for row in bet.rows:
        if _so(row.when, hands, {**own, "another": another}, split, naturals):
            return row
    return None


def awards(
    bets: Sequence[Bet], wagered: Bets | None, hands: Hands, printed: Mapping[int, str], *, naturals: Collection[int]
) -> list[Won]:
    """Return the awards that seats won in a round. They are sorted by bet, then by the row of the bet's pay table, then
    by seat."""
    on = wagered.progressive if wagered else {}
    return [
        Won(bet.spot, seat, row)
        for bet in bets
        for row in bet.rows
        for seat in sorted(on.get(bet.spot, ()))
        if row.award and row_for(bet, hands, seat, printed, naturals=naturals) is row
    ]


def awards_json(bets: Sequence[Bet], wagered: Bets | None, won: Sequence[Won]) -> dict[str, object]:
    """Return the seats that wagered on progressive bets, and the awards that they won, as a JSON object for the
    simulation's record."""
    on = wagered.progressive if wagered else {}
    return {
        "progressive": [{"spot": bet.spot, "seats": sorted(on[bet.spot])} for bet in bets if bet.spot in on],
        "awards": [{"spot": each.spot, "seat": each.seat, "tier": each.row.award} for each in won],
    }


def pay(
    bet: Bet,
    wager: Wager,
    hands: Hands,
    printed: Mapping[int, str],
    number: int | None = None,
    *,
    split: bool = False,
    rounding: Rounding = CENTS_UP,
    naturals: Collection[int] = (8, 9),
) -> Paid:
    """Return the outcome of a wager on the bet: what the house pays, and what goes back. If the seat has split its
    hand, `split` is True, and `number` says which of the seat's hands the wager is on."""
    row = row_for(bet, hands, wager.seat, printed, split=split, naturals=naturals)
    if row is None:
        return cashier.lose(wager, number)
    if row.award:  # the award is the whole pay: the house keeps the chip, unless the row gives the chip back
        return Paid(wager, "won", wager.cents if bet.awards_return_stake else 0, row.cents, meter=row.meter)
    if row.pays:
        part = row.commission_taken or row.commission_owed
        to, one = map(int, row.pays.split(":"))
        charged = Fraction(*map(int, part.split(":"))) if part else None
        later, most = row.commission_owed is not None, bet.pays_at_most_cents
        return cashier.win(wager, to, one, most, commission=charged, later=later, hand=number, rounding=rounding)
    match row.result:
        case "push":
            return cashier.push(wager, number)
        case "half":
            return cashier.half(wager, rounding, number)
        case _:
            return cashier.lose(wager, number)


def _so(
    when: Mapping[str, Any],
    hands: Hands,
    pairs: Mapping[str, Sequence[str]],
    split: bool,
    naturals: Collection[int],
) -> bool:
    """Tell whether every condition in `when` holds for the round's hands. `when` comes from a row of a bet's pay table.
    A seat's hand and the dealer's hand never count as a natural; only Player's and Banker's hands can be one."""
    sides = ("player", "banker") if "player" in hands else ("own", "dealer")
    one, other = (hands[side] for side in sides)
    naturals = naturals if sides[0] == "player" else ()
    facts = _of_both(one, other, naturals, split)
    won, lost = {"player": ([one], [other]), "banker": ([other], [one]), "tie": ([], [])}[rules.outcome(one, other)]
    winners = [name for name in _SIDES if any(hands.get(name) is side for side in won)]
    of: dict[str, list[Sequence[str]]] = {
        "winning": won,
        "losing": lost,
        **{side: [hands[side]] if side in hands else [] for side in _SIDES},
    }
    together = {
        "all_cards": [*one, *other],
        "first_four": [*one[:2], *other[:2]],
        "with_up_card": hands.get("with_up_card", ()),
    }

    def holds(word: str, value: Any) -> bool:
        if word == "winner":
            return any(_any(name, value) for name in winners or ["tie"])
        if word in facts:
            return _any(facts[word], value)
        if word in together:
            return bool(together[word]) and _cards_so(value, together[word])
        if word in of:
            return any(_hand_so(value, cards, pairs, naturals) for cards in of[word])
        many = sum(_hand_so(value, cards, pairs, naturals) for cards in (one, other))
        return {"either": many >= 1, "both": many == 2, "exactly_one": many == 1}[word]

    return all(holds(word, said) for word, said in when.items())


def _of_both(one: Sequence[str], other: Sequence[str], naturals: Collection[int], split: bool) -> dict[str, object]:
    """Return the facts about both hands of a round together, such as the margin between their totals. The keys are the
    names that a game file uses for these facts."""
    return {
        "natural": any(rules.is_natural(cards, naturals) for cards in (one, other)),
        "margin": abs(rules.total(one) - rules.total(other)),
        "cards": len(one) + len(other),
        "total_sum": rules.total(one) + rules.total(other),
        "identical": sorted(one[:2]) == sorted(other[:2]),
        "color": _color([*one, *other]),
        "split": split,
    }


_PLACES = {"first": 0, "second": 1, "third": 2}


def _hand_so(
    words: Mapping[str, Any], cards: Sequence[str], pairs: Mapping[str, Sequence[str]], naturals: Collection[int]
) -> bool:
    rank, rank_2 = (card[0] for card in cards[:2])
    facts: dict[str, object] = {
        "natural": rules.is_natural(cards, naturals),
        "pair": rank == rank_2,
        "suited": cards[0][1] == cards[1][1],
        "colored": _color(cards[:2]) is not None,
        "first_two_total": rules.total(cards[:2]),
    }

    def holds(word: str, value: Any) -> bool:
        if word in _PLACES:
            return any(_any(text, value) for card in cards[_PLACES[word] : _PLACES[word] + 1] for text in (card, *card))
        if word == "seat_pair":
            return any(sorted(pair.split()) == sorted(cards[:2]) for pair in pairs.get(value, ()))
        if word == "first_two":
            one, other = ([ranks_] if isinstance(ranks_, str) else ranks_ for ranks_ in value)
            return any(a in one and b in other for a, b in ((rank, rank_2), (rank_2, rank)))
        return _any(facts[word], value) if word in facts else _cards_so({word: value}, cards)

    return all(holds(word, said) for word, said in words.items())


def _cards_so(words: Mapping[str, Any], cards: Sequence[str]) -> bool:
    """Tell whether every condition in `words` (from a bet in the game file) holds for these cards. The order of the
    cards makes no difference."""
    ranks, suits = [card[0] for card in cards], [card[1] for card in cards]
    facts: dict[str, object] = {
        "total": rules.total(cards),
        "points": sum(map(rules.points, cards)),
        "cards": len(cards),
        "of_one_rank": max(map(ranks.count, ranks)),
        "of_one_suit": max(map(suits.count, suits)),
        "different_ranks": len(set(ranks)),
        "straight": any("".join(sorted(ranks, key=order.index)) in order for order in _ORDERS),
        "same_rank": len(set(ranks)) == 1,
        "same_suit": len(set(suits)) == 1,
        "suit": suits[0] if len(set(suits)) == 1 else None,
        "color": _color(cards),
    }

    def holds(word: str, value: Any) -> bool:
        if word == "ranks":
            return sorted(ranks) == sorted([value] if isinstance(value, str) else value)
        if word == "has":
            has = convert(value, _Has)
            of = {has.of} if isinstance(has.of, str) else set(has.of)
            many = len([card for card in cards if {card, card[0], card[1]} & of])
            return many > 0 if has.times is None else _any(many, has.times)
        return _any(facts[word], value)

    return all(holds(word, said) for word, said in words.items())


class _Has(Struct, frozen=True):
    of: str | list[str]
    times: int | list[int] | None = None


def _any(fact: object, value: Any) -> bool:
    """Tell whether the fact equals `value`, a value from the game file. If `value` is a list, tell whether the fact
    equals one of its items."""
    return fact in value if isinstance(value, list) else fact == value


def _color(cards: Sequence[str]) -> str | None:
    """Return "red" or "black" if all the cards have that colour, and None if the cards have two colours."""
    colors = {"red" if card[1] in "HD" else "black" for card in cards}
    return colors.pop() if len(colors) == 1 else None
