"""The simulated house's own reading of how a bet is written in a game file: see `docs/bets.md`, page by page.

It shares nothing with the controller. A bet and its rows stay as TOML gives them, a hand is a list of cards in text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from drivers.sim import cashier, rules
from drivers.sim.cashier import Paid
from drivers.sim.wagers import Wager

Hands = Mapping[str, Sequence[str]]
"""Player's and Banker's cards of a finished hand."""


def row_for(bet: Mapping[str, Any], hands: Hands, seat: int = 0, printed: Mapping[int, str] | None = None) -> Any:
    """The row that decides the bet at the seat, None where none holds. `printed`: each seat's King and 9, `KS 9H`."""
    own = {} if printed is None else {"own": [printed.get(seat, "")]}
    another = [pair for other, pair in (printed or {}).items() if other != seat]
    for row in bet["rows"]:
        if _so(row["when"], hands, {**own, "another": another}):
            return row
    return None


def pay(bet: Mapping[str, Any], wager: Wager, hands: Hands, printed: Mapping[int, str]) -> Paid:
    """What becomes of a wager on the bet."""
    row = row_for(bet, hands, wager.seat, printed)
    match row:
        case {"award": _}:  # the whole pay: the chip goes to the house all the same
            return Paid(wager, "won", 0, row.get("cents", 0), meter=row.get("meter"))
        case {"pays": odds}:
            part = row.get("commission_taken") or row.get("commission_owed")
            to, one = map(int, odds.split(":"))
            charged = Fraction(*map(int, part.split(":"))) if part else None
            return cashier.win(wager, to, one, commission=charged, later="commission_owed" in row)
        case {"result": "push"}:
            return cashier.push(wager)
        case {"result": "half"}:
            return Paid(wager, "half_lost", -(-wager.cents // 2))
        case _:
            return cashier.lose(wager)


def _so(when: Mapping[str, Any], hands: Hands, pairs: Mapping[str, Sequence[str]]) -> bool:
    """Every word that is written holds."""
    player, banker = hands["player"], hands["banker"]
    winner = rules.outcome(player, banker)
    loser = {"player": "banker", "banker": "player", "tie": "nobody"}[winner]
    facts: dict[str, object] = {
        "winner": winner,
        "natural": rules.is_natural(player) or rules.is_natural(banker),
        "margin": abs(rules.total(player) - rules.total(banker)),
        "cards": len(player) + len(banker),
        "total_sum": rules.total(player) + rules.total(banker),
        "identical": sorted(player[:2]) == sorted(banker[:2]),
        "color": _color([*player, *banker]),
    }

    def count(words: Mapping[str, Any], *names: str) -> int:
        return sum(_hand_so(words, hands[name], pairs) for name in names if name in hands)

    named: dict[str, Callable[[Mapping[str, Any]], bool]] = {
        "player": lambda words: count(words, "player") == 1,
        "banker": lambda words: count(words, "banker") == 1,
        "winning": lambda words: count(words, winner) == 1,
        "losing": lambda words: count(words, loser) == 1,
        "either": lambda words: count(words, "player", "banker") >= 1,
        "both": lambda words: count(words, "player", "banker") == 2,
        "exactly_one": lambda words: count(words, "player", "banker") == 1,
    }
    return all(named[word](said) if word in named else _any(facts[word], said) for word, said in when.items())


def _hand_so(words: Mapping[str, Any], cards: Sequence[str], pairs: Mapping[str, Sequence[str]]) -> bool:
    ranks, suits = [card[0] for card in cards], [card[1] for card in cards]
    facts: dict[str, object] = {
        "total": rules.total(cards),
        "cards": len(cards),
        "natural": rules.is_natural(cards),
        "pair": ranks[0] == ranks[1],
        "suited": suits[0] == suits[1],
        "first_two_total": rules.total(cards[:2]),
        "third": ranks[2] if len(ranks) == 3 else None,
        "same_rank": len(set(ranks)) == 1,
        "same_suit": len(set(suits)) == 1,
        "color": _color(cards),
    }

    def holds(word: str, said: Any) -> bool:
        if word == "seat_pair":
            return any(sorted(pair.split()) == sorted(cards[:2]) for pair in pairs.get(said, ()))
        if word == "first_two":
            one, other = ([ranks_] if isinstance(ranks_, str) else ranks_ for ranks_ in said)
            return any(a in one and b in other for a, b in (ranks[:2], ranks[1::-1]))
        return _any(facts[word], said)

    return all(holds(word, said) for word, said in words.items())


def _any(fact: object, said: Any) -> bool:
    """The fact is what was said, or among the several things that were."""
    return fact in said if isinstance(said, list) else fact == said


def _color(cards: Sequence[str]) -> str | None:
    """The colour of them all; None where there are two."""
    colors = {"red" if card[1] in "HD" else "black" for card in cards}
    return colors.pop() if len(colors) == 1 else None
