"""The table's events in words, a line each, for people at a terminal."""

from __future__ import annotations

from typing import Any


def event_line(event: dict[str, Any]) -> str:
    """An event of the stream in one line for people."""
    where = f"{event['seq']:>5} shoe {event['shoe'] or '-'} round {event['round'] or '-'}"
    return f"{where}  {event['type']:<13} {_told(event)}"


def _told(event: dict[str, Any]) -> str:
    match event["type"]:
        case "round":
            marks = [mark for mark in ("natural", "simulated", "last_hand") if event[mark]]
            return _hands(event) + (f" ({', '.join(marks)})" if marks else "")
        case "correction":
            return f"{_hands(event)} (by {event['by']} and {event['witness']})"
        case "wagers_locked":
            refused = event["refused_seats"]
            return f"seats {event['royal9_seats']}" + (f", refused {refused}" if refused else "")
        case "hit":
            fixed, meter = event["fixed"], event["progressive"]
            pays = f"${fixed['cents'] / 100:,.0f}" if fixed else f"meter {meter['meter']}"
            return f"seat {event['seat']} {event['tier']}: {pays}"
        case "fault" | "alarm":
            return f"{event['code']}: {event['what']}"
        case "shoe_closed":
            return f"{event['reason']}, {event['rounds']} rounds"
        case _:
            return f"by {event['by']}"


def _hands(event: dict[str, Any]) -> str:
    hands = (f"{side} {' '.join(event[side]['cards'])} = {event[side]['total']}" for side in ("player", "banker"))
    return "  ".join(hands) + f"  -> {event['outcome']}"
