"""Turns facts that earlier versions of the program wrote into the form of this version. The names of facts and the
rules of a shoe have changed.

In earlier versions a shoe's rules only named the spots. What a spot pays stood in `pays`, `dragon_bonus`, `royal9` and,
at Baccarat Royal, in three keys of that game. This module makes a list of bets from such rules, so an open shoe goes on
with the same bets. Royal 9 was the only progressive bet, so the facts of wagers, hits and awards had its name.
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
"""The spots, in the order in which their wagers were settled."""

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


_ZERO = ["T", "J", "Q", "K"]
_KINDS: dict[str, dict[str, object]] = {
    "lucky9": {"cards": [2], "total": [9], "has": {"of": _ZERO, "times": [0]}},
    "natural9": {"cards": [2], "total": [9], "has": {"of": _ZERO}},
    "split9": {"cards": [2], "total": [9]},
    "three_card_9": {"cards": [3], "total": [9]},
    "other": {},
}
"""The kinds of a hand at Lucky 9, each with its condition. A hand is of the first kind that holds."""

_BONUS: dict[str, dict[str, object]] = {
    "suited_333": {"ranks": ["3", "3", "3"], "same_suit": True},
    "suited_234": {"ranks": ["2", "3", "4"], "same_suit": True},
    "any_333": {"ranks": ["3", "3", "3"]},
    "any_234": {"ranks": ["2", "3", "4"]},
    "suited_9": {"total": [9], "same_suit": True},
    "any_9": {"total": [9]},
}


RENAMED = {"Royal9WagersDiffered": "WagersDiffered", "HandVoided": "RoundVoided"}
"""By its earlier name, the name of a fact in this version. A journal's row keeps the name that it was written with."""


def fact_as_now(fact: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a fact in the form of this version: with the present names. A fact of this version is returned
    as it is.

    Raises KeyError or TypeError if the fact has no known form.
    """
    match fact["fact"]:
        case "WagersLocked" if "royal9_seats" in fact:
            wagers = {"seats": fact["royal9_seats"], **{name: fact[name] for name in ("refused_seats", "refusal")}}
            wagers["refusal"] = "wagers_differ" if wagers["refusal"] == "royal9_wagers_differ" else wagers["refusal"]
            others = {name: value for name, value in fact.items() if name != "royal9_seats" and name not in wagers}
            wagered = wagers["seats"] or wagers["refused_seats"]
            return others | {"progressive": [{"spot": "royal9", **wagers}] if wagered else []}
        case name if name in RENAMED:
            return fact | {"fact": RENAMED[name]}
        case "AwardStepped" if "spot" not in fact:
            return fact | {"spot": "royal9"}
        case "ShoeOpened":
            return fact | {"hits": [{"spot": "royal9", **hit} for hit in fact["hits"]]}
    return fact


def as_bets(rules: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a table's rules in the form of this version: with a list of bets. Rules that already have a
    list of bets are returned as they are.

    Raises KeyError or TypeError if the rules have no known form.
    """
    if "bets" in rules:
        return rules
    rules = dict(rules)
    rows = _rows(rules)
    rules["wagers"] = {key: value for key, value in rules["wagers"].items() if key != "spots"}
    rules["bets"] = [rows[spot] for spot in _SPOTS if spot in rows]
    rules["sensed"] = "royal9" if "royal9" in rows else None
    rules["procedure"] = 1
    rules["shoe"] = rules["shoe"] | {
        "cut_card_tolerance": 52 * rules["shoe"]["decks"],
        "commission_before_new_shoe": False,
    }
    return rules


def _rows(rules: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a dict from each spot to its bet, made from rules of an earlier version. The keys that described the bets
    are removed from `rules`."""
    pays, dragon, royal9 = (rules.pop(key) for key in ("pays", "dragon_bonus", "royal9"))
    rows: dict[str, list[dict[str, Any]]] = {spot: [] for spot in rules["wagers"]["spots"]}
    on_tie: dict[str, Any] = {"result": "push"}
    if rules["play"]["kind"] == "BaccaratRoyal":
        play = rules["play"] = dict(rules["play"])
        to_one = play.pop("gamblers_pay")
        pays = {"player": to_one, "banker": to_one, "tie": play.pop("tie_pays")}
        on_tie = {"result": play.pop("gamblers_on_tie")}
        play["on_tie"] = "free_seat"  # at that time the roles always went to a free seat after a tie
    if pays is not None:
        for side in ("player", "banker"):
            wins: dict[str, Any] = {"when": {"winner": [side]}, "pays": pays[side]}
            if side == "banker" and "commission" in pays:
                wins[f"commission_{pays['commission']}"] = pays["banker_commission"]
            rows |= {side: [wins, {"when": {"winner": ["tie"]}, **on_tie}]}
        rows["tie"] = [{"when": {"winner": ["tie"]}, "pays": pays["tie"]}]
    if rules["play"]["kind"] == "Lucky9":
        play = rules["play"] = dict(rules["play"])
        rows["hand"] = _against_the_dealer(*(play.pop(key) for key in ("outcomes", "dead_totals", "higher_pays")))
        rows["tie"] = [{"when": {"winner": ["tie"]}, "pays": play.pop("tie_pays")}]
        bonus_pays = play.pop("bonus_pays")
        rows["lucky9_bonus"] = [
            {"when": {"with_up_card": are}, "pays": bonus_pays[name]} for name, are in _BONUS.items()
        ]
    if "stake" in rows:
        rows["stake"] = [
            {"when": {"winner": ["own"]}, "pays": "1:1"},
            {"when": {"winner": ["tie"]}, "result": "half"},
        ]
    if dragon is not None:
        rows |= {f"dragon_{side}": _dragon_bonus(side, dragon) for side in ("player", "banker")}
    if royal9 is not None:
        rows["royal9"] = [_award(award) for award in royal9["awards"]]
    return {spot: _bet(spot, each, rules["wagers"]["spots"], royal9) for spot, each in rows.items()}


def _against_the_dealer(
    outcomes: dict[str, list[str]], dead_totals: list[int], higher_pays: str
) -> list[dict[str, Any]]:
    """Return the pay table rows, in order, of the bet on a Lucky 9 hand against the dealer's hand. They are made from
    the table of outcomes of an earlier version, which has a line for each kind of hand and a cell for each kind of the
    dealer's hand.

    A cell is "push", "lose", a ratio, or "higher". With "higher" the totals decide, and the cell becomes three rows.
    """
    dealers = [kind for name, kind in _KINDS.items() if name != "split9"]
    dead = {"dead": {"cards": [3], "total": dead_totals}} if dead_totals else {}
    rows: list[dict[str, Any]] = []
    for name, kind in (dead | _KINDS).items():
        own = {"own": kind} if kind else {}
        of_split = {"split": name == "split9"} if name in ("lucky9", "natural9", "split9") else {}
        for dealer, cell in zip(dealers, outcomes[name], strict=True):
            when = own | of_split | ({"dealer": dealer} if dealer else {})
            match cell:
                case "push" | "lose":
                    rows.append({"when": when, "result": cell})
                case "higher":
                    rows.append({"when": when | {"winner": ["own"]}, "pays": higher_pays})
                    rows.append({"when": when | {"winner": ["tie"]}, "result": "push"})
                    rows.append({"when": when, "result": "lose"})
                case ratio:
                    rows.append({"when": when, "pays": ratio})
    return rows


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
    if spot == "hand":
        bet["each_hand"] = True
    if spot == "stake":
        bet["between_actives"] = True
    if spot == "royal9" and royal9 is not None:
        bet["price_cents"] = royal9["price_cents"]
    return bet
