"""The parts of a journal: a fact before it is kept, the row that is kept, and a message (a signed event) of a row."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.json import decode

from controller.contract.envelope import Stamp
from controller.contract.event_reading import read
from controller.contract.events import Event
from controller.table.facts import Fact

_T = TypeVar("_T")


class Entry(Struct, frozen=True):
    """A fact to be written into the journal, when it came and the events it made.

    `via` is the way on which the fact came: the shoe with its brand (`shoe beetek`), `controller`, `pit`, a button's
    name, or who was on the control socket.
    """

    stamp: Stamp
    fact: Fact
    events: tuple[Event, ...]
    via: str = ""


class Row(Struct, frozen=True):
    """A row of the journal: a fact, when it came, and the bytes of its messages. `via` is as in `Entry`,
    `previous_head` the chain head before the row."""

    number: int
    stamp: Stamp
    fact: Fact
    messages: tuple[bytes, ...]
    previous_head: bytes
    first_seq: int
    via: str = ""


class Head(Struct, frozen=True):
    """The fields that an event has in every version of the contract: its type, its time and its place."""

    type: str
    at: str
    chain: str
    shoe: int | None
    round: int | None


class Message(Struct, frozen=True, dict=True):  # what it says is read once
    """A signed event for the pit: its number in the stream and its bytes."""

    seq: int
    body: bytes

    @cached_property
    def head(self) -> Head:
        """Return the fields of this event that every version of the contract has."""
        return decode(self.body, type=Head)

    @cached_property
    def event(self) -> Event | None:
        """Return the event, where this version of the program knows its form; None for an event in the form of another
        version."""
        return read(self.says)

    @cached_property
    def says(self) -> dict[str, Any]:
        """Return the event's fields, decoded from JSON once."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class OnJournal(Protocol):
    """A function that runs other functions on the one thread that may touch the journal."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Run `work` on the journal's thread, and return its result."""
