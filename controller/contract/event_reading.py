"""Parses an event from a table's stream into an object of its type. The types are in `events.py`. Every program that
receives events uses the function `read`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, convert

from controller.contract import events
from controller.contract.events import Event

_T = TypeVar("_T")

_NOT_THERE: dict[str, Any] = {
    **dict.fromkeys(("settlement", "settlement_before", "dragon_bonus", "actives", "would_settle"), None),
    **dict.fromkeys(("exits", "not_read", "awards", "awards_before", "progressive"), ()),
}
"""What an event is read with that has no such field: an event of an earlier version, or one whose teller left it out
(`control/past.py`)."""


def _by_type() -> dict[tuple[str, bool], type[Event]]:
    made = [type_ for type_ in vars(events).values() if isinstance(type_, type) and issubclass(type_, Event)]
    return {(type_.TYPE, "dealer" in type_.__annotations__): type_ for type_ in made if type_ is not Event}


_TYPES = _by_type()

EVENT_TYPES = tuple(sorted({name for name, _ in _TYPES}))
"""The types of events, by their names on the wire, such as `hit`."""


def read(event: Mapping[str, Any]) -> Event | None:
    """Return the event as an object of its type, such as `events.Round`. Returns None if this version of the program
    does not know the type, or if the fields do not fit the type."""
    seats = "dealer" in event
    type_ = _TYPES.get((str(event.get("type")), seats))
    if type_ is None:
        return None
    try:
        return convert(_NOT_THERE | dict(event), type=type_)
    except ValueError:
        return None


class Sent(Struct, frozen=True):
    """An event as the table's stream carries it: with its number, its id, its time, and the head of the journal's hash
    chain before the event."""

    seq: int
    id: str
    at: str
    chain: str
    event: Event


def sent(message: Mapping[str, Any]) -> Sent | None:
    """Parse a message of a table's event stream. Returns None if the message has no number, if its type is unknown, or
    if its fields do not fit the type."""
    seq, id_, at, chain = (message.get(name) for name in ("seq", "id", "at", "chain"))
    event = read(message)
    if event is None or not isinstance(seq, int):
        return None
    return Sent(seq, str(id_), str(at), str(chain), event)
