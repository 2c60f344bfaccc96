"""What is on a table's placard: its game, limits, bets and pays. A public view of its rules alone."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from controller.rules.game.bets import Bet, Row, When, ratio_text
from controller.table.rules import TableRules


def placard(rules: TableRules) -> dict[str, object]:
    """The rules that players go by, as JSON values. Money is cents, odds are `"8:1"`."""
    return {
        "table": rules.table,
        "game": rules.game,
        "dealt_face_down": rules.play.squeezed,
        "roles": rules.play.roles_play,
        "house_ways": dict(rules.play.house_ways),
        "seat_hands": rules.play.seats_play,
        "naturals": rules.play.naturals,
        "decks": rules.shoe.decks,
        "burn_counts_first_card": rules.shoe.burn_counts_first_card,
        "cut_card_from_end": rules.shoe.cut_card_from_end,
        "seats": [{"seat": seat.number, "k9": str(seat.k9) if seat.k9 else None} for seat in rules.seats],
        "limits": asdict(rules.wagers),
        "bets": [_bet(bet) for bet in rules.bets],
    }


def _bet(bet: Bet) -> dict[str, object]:
    return {
        "spot": bet.spot,
        "limits": bet.limits,
        "minimum_cents": bet.minimum_cents,
        "maximum_cents": bet.maximum_cents,
        "price_cents": bet.price_cents,
        "optional": bet.optional,
        "between_actives": bet.between_actives,
        "unequal_stakes": bet.unequal_stakes,
        "rows": [_row(row) for row in bet.rows],
    }


def _row(row: Row) -> dict[str, object]:
    said = {name: _value(value) for name, value in asdict(row).items() if value is not None}
    return said | {"when": _when(row.when)}


def _when(when: When) -> dict[str, Any]:
    """Only the words that the row has."""
    return {
        name: {word: said for word, said in value.items() if said is not None} if isinstance(value, dict) else value
        for name, value in asdict(when).items()
        if value is not None
    }


def _value(value: object) -> object:
    return ratio_text(value) if isinstance(value, Fraction) else value
