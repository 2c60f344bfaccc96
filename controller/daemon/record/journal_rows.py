"""What stands in a journal: a fact before it is kept, the row that is kept, and a message of a row."""

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
    """A fact to be journalled, when it came and the events it made.

    `via` is the way on which the fact came: the shoe with its brand (`shoe beetek`), `controller`, `pit`, a button's
    name, or who was on the socket.
    """

    stamp: Stamp
    fact: Fact
    events: tuple[Event, ...]
    via: str = ""


class Row(Struct, frozen=True):
    """A fact as it stands in the journal, and the bytes of its messages; `via` as in `Entry`."""

    number: int
    stamp: Stamp
    fact: Fact
    messages: tuple[bytes, ...]
    previous_head: bytes
    first_seq: int
    via: str = ""


class Head(Struct, frozen=True):
    """What an event of every version of the contract says of itself: its type, its time and its place."""

    type: str
    at: str
    chain: str
    shoe: int | None
    round: int | None


class Message(Struct, frozen=True, dict=True):  # what it says is read once
    """A message of the outbox: its number in the stream and its bytes."""

    seq: int
    body: bytes

    @cached_property
    def head(self) -> Head:
        """What the body says of itself."""
        return decode(self.body, type=Head)

    @cached_property
    def event(self) -> Event | None:
        """The event that this version made; None for an event of a version that told it in other words."""
        return read(self.says)

    @cached_property
    def says(self) -> dict[str, Any]:
        """The body, read once."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class OnJournal(Protocol):
    """Does work in the one thread that may touch the journal."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """The result of `work`."""
