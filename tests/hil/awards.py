"""What the pit says of an award."""

from __future__ import annotations

from typing import Any


def award_step(hit: dict[str, Any], **said: Any) -> dict[str, Any]:
    """The first step of this hit's award, with these fields changed."""
    return {
        "award": f"{hit['table']}.1",
        "hit": hit["id"],
        "table": hit["table"],
        "seat": hit["seat"],
        "tier": hit["tier"],
        "meter": hit["progressive"]["meter"],
        "cents": 250_000,
        "step": "pending",
        "by": "pit",
        "seq": 1,
    } | said
