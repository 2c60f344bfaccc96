"""Makes the messages that a pit sends to a table about an award."""

from __future__ import annotations

from typing import Any


def award_step(hit: dict[str, Any], **said: Any) -> dict[str, Any]:
    """Return the pit's message about the first step of the award for the hit `hit`. The fields in `said` replace or add
    to the usual fields."""
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
