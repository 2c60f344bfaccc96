"""The table's events in words, a line each, for people at a terminal."""

from __future__ import annotations

from typing import Any


def event_line(event: dict[str, Any]) -> str:
    """An event of the stream in one line for people."""
    where = f"{event['seq']:>5} shoe {event['shoe'] or '-'} round {event['round'] or '-'}"
    match event["type"]:
        case "round":
            hands = "  ".join(
                f"{side} {' '.join(event[side]['cards'])} = {event[side]['total']}" for side in ("player", "banker")
            )
            marks = [mark for mark in ("natural", "simulated", "last_hand") if event[mark]]
            told = f"{hands}  -> {event['outcome']}" + (f" ({', '.join(marks)})" if marks else "")
        case "wagers_locked":
            told = f"seats {event['royal9_seats']}" + (
                f", refused {event['refused_seats']}" * bool(event["refused_seats"])
            )
        case "hit":
            pays = (
                f"${event['fixed']['cents'] / 100:,.0f}" if event["fixed"] else f"meter {event['progressive']['meter']}"
            )
            told = f"seat {event['seat']} {event['tier']}: {pays}"
        case "fault" | "alarm":
            told = f"{event['code']}: {event['what']}"
        case "shoe_closed":
            told = f"{event['reason']}, {event['rounds']} rounds"
        case _:
            told = f"by {event['by']}"
    return f"{where}  {event['type']:<13} {told}"
