"""The shoe on the players' page: the roads, their next marks, and the counts."""

from __future__ import annotations

from typing import Any

from controller.roads.marks import Roads, hands_of


def shoe_view(rounds: dict[str, Any]) -> dict[str, Any]:
    """The open shoe's hands on the roads. Simulated hands are not on the roads, and not counted."""
    hands = [hand for hand in rounds["hands"] if not hand["simulated"]]
    roads = Roads(hands_of(rounds["hands"]))
    decided = [bead.hand for bead in roads.beads]
    return {
        "counts": {
            **{side: sum(hand.winner == side for hand in decided) for side in ("player", "banker", "tie")},
            "natural": sum(hand["natural"] for hand in hands),
            "player_pair": sum(hand.player_pair for hand in decided),
            "banker_pair": sum(hand.banker_pair for hand in decided),
            "rounds": len(hands),
        },
        "beads": [
            [*bead.place, bead.hand.winner, bead.hand.player_pair, bead.hand.banker_pair] for bead in roads.beads
        ],
        "circles": [[*circle.place, circle.winner, circle.ties] for circle in roads.circles],
        "derived": {name: [[*mark.place, mark.color] for mark in road.marks] for name, road in roads.derived.items()},
        "ask": {"banker": roads.ask("banker"), "player": roads.ask("player")},
    }
