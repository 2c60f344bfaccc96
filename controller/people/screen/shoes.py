"""Prepares what the players' page shows of the open shoe: the roads (charts of past results), the marks that would come
next on them, and the counts of results."""

from __future__ import annotations

from typing import Any

from controller.contract.face.feed import Rounds
from controller.contract.face.status import Status
from controller.rules.roads.marks import Roads, rounds_of


def shown_rounds(rounds: Rounds, before: Rounds | None, status: Status | None) -> Rounds:
    """Return the rounds to show on the players' page. `before` are the rounds that were shown so far. After a new shoe
    was opened, the rounds of the last shoe are shown until the new shoe's first card comes."""
    waits_for_first = status is not None and status.face.phase == "first_card_due"
    return before if waits_for_first and before is not None and not rounds.hands else rounds


def shoe_view(rounds: Rounds) -> dict[str, Any]:
    """Return the open shoe's rounds as roads (charts of results) and counts. Simulated rounds are left out of both."""
    finished = [one for one in rounds.hands if not one.simulated]
    roads = Roads(rounds_of(rounds.hands))
    decided = [bead.round for bead in roads.beads]
    return {
        "counts": {
            **{side: sum(one.winner == side for one in decided) for side in ("player", "banker", "tie")},
            "natural": sum(one.natural for one in finished),
            "player_pair": sum(one.player_pair for one in decided),
            "banker_pair": sum(one.banker_pair for one in decided),
            "rounds": len(finished),
        },
        "beads": [
            [*bead.place, bead.round.winner, bead.round.player_pair, bead.round.banker_pair] for bead in roads.beads
        ],
        "circles": [[*circle.place, circle.winner, circle.ties] for circle in roads.circles],
        "derived": {name: [[*mark.place, mark.color] for mark in road.marks] for name, road in roads.derived.items()},
        "ask": {"banker": roads.ask("banker"), "player": roads.ask("player")},
    }
