"""The rules of a shoe as journals kept them before a bet was data: read as the bets that they were.

Such rules name their spots, and say what those pay in `pays`, `dragon_bonus`, `royal9` and, at Baccarat Royal, in its
own three keys. An open shoe goes on under them; a shoe is opened with bets from then on.
"""

from __future__ import annotations

from typing import Any

_CIRCLES = ("player", "banker", "stake", "hand")
_TRADITIONAL = ("player", "banker", "tie", "stake", "hand")
_SPOTS = (
    "player",
    "banker",
    "tie",
    "dragon_player",
    "dragon_banker",
    "royal9",
    "stake",
    "hand",
    "lucky9_bonus",
)
"""In the order that their wagers were settled."""

_SUITED_ROYAL9 = {"first_two": [["J", "Q", "K"], ["9"]], "suited": True}
_ROYAL9 = {"first_two": [["J", "Q", "K"], ["9"]]}
_TIERS: dict[str, dict[str, object]] = {
    "personal_vs_personal": {"both": {"seat_pair": "own"}},
    "banker_personal": {"banker": {"seat_pair": "own"}},
    "player_personal": {"player": {"seat_pair": "own"}},
    "other_identical": {"identical": True, "both": {"seat_pair": "another"}},
    "suited_vs_suited": {"both": _SUITED_ROYAL9},
    "royal_vs_royal": {"both": _ROYAL9},
    "suited_royal": {"either": _SUITED_ROYAL9},
    "any_royal": {"either": _ROYAL9},
}


def as_bets(rules: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a table's rules with its bets; as it came where it has them. Raises KeyError or TypeError where the
    rules are of no known form."""
    if "bets" in rules:
        return rules
    rules = dict(rules)
    rows = _rows(rules)
    rules["wagers"] = {key: value for key, value in rules["wagers"].items() if key != "spots"}
    rules["bets"] = [rows[spot] for spot in _SPOTS if spot in rows]
    return rules


def _rows(rules: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each spot's bet. What says it is taken out of `rules`."""
    pays, dragon, royal9 = (rules.pop(key) for key in ("pays", "dragon_bonus", "royal9"))
    rows: dict[str, list[dict[str, Any]]] = {spot: [] for spot in rules["wagers"]["spots"]}
    on_tie: dict[str, Any] = {"result": "push"}
    if rules["play"]["kind"] == "BaccaratRoyal":
        play = rules["play"] = dict(rules["play"])
        to_one = play.pop("gamblers_pay")
        pays = {"player": to_one, "banker": to_one, "tie": play.pop("tie_pays")}
        on_tie = {"result": play.pop("gamblers_on_tie")}
    if pays is not None:
        for side in ("player", "banker"):
            wins: dict[str, Any] = {"when": {"winner": [side]}, "pays": pays[side]}
            if side == "banker" and "commission" in pays:
                wins[f"commission_{pays['commission']}"] = pays["banker_commission"]
            rows |= {side: [wins, {"when": {"winner": ["tie"]}, **on_tie}]}
        rows["tie"] = [{"when": {"winner": ["tie"]}, "pays": pays["tie"]}]
    if dragon is not None:
        rows |= {f"dragon_{side}": _dragon_bonus(side, dragon) for side in ("player", "banker")}
    if royal9 is not None:
        rows["royal9"] = [_award(award) for award in royal9["awards"]]
    return {spot: _bet(spot, each, rules["wagers"]["spots"], royal9) for spot, each in rows.items()}


def _dragon_bonus(side: str, pays: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"when": {"winner": [side], "natural": True}, "pays": f"{pays['natural_win_pays']}:1"},
        {"when": {"winner": ["tie"], "natural": True}, "result": "push"},
        *(
            {"when": {"winner": [side], "natural": False, "margin": [int(margin)]}, "pays": f"{to_one}:1"}
            for margin, to_one in pays["margin_pays"].items()
        ),
    ]


def _award(award: dict[str, Any]) -> dict[str, Any]:
    paid = {key: award[key] for key in ("cents", "meter") if award[key] is not None}
    return {"when": _TIERS[award["tier"]], "award": award["tier"], **paid}


def _bet(spot: str, rows: list[dict[str, Any]], spots: list[str], royal9: dict[str, Any] | None) -> dict[str, Any]:
    bet: dict[str, Any] = {"spot": spot, "limits": "circle" if spot in _CIRCLES else "side", "rows": rows}
    if spot not in _CIRCLES and (spot != "tie" or "hand" in spots):
        needed = ("hand",) if "hand" in spots else _TRADITIONAL
        bet["needs"] = [other for other in needed if other in spots]
    if spot not in _TRADITIONAL:
        bet["optional"] = True
    if spot == "royal9" and royal9 is not None:
        bet["price_cents"] = royal9["price_cents"]
    return bet
