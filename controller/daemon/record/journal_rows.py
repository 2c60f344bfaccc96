"""The parts of a journal: an entry (a fact that is not written yet), a row (a fact that is written), and a message (a
signed event that belongs to a row)."""

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
    """A fact to be written into the journal, with the time when it came and the events that it made.

    `via` says from where the fact came: the shoe with its brand (`shoe beetek`), `controller`, `pit`, a button's name,
    or the user who was connected to the control socket.
    """

    stamp: Stamp
    fact: Fact
    events: tuple[Event, ...]
    via: str = ""


class Row(Struct, frozen=True):
    """A row of the journal: a fact, when it came, and the bytes of its messages (signed events).

    `via` says from where the fact came, for example `pit` or a button's name. `previous_head` is the chain head (a hash
    over all earlier rows) before this row. `first_seq` is the number of its first message.
    """

    number: int
    stamp: Stamp
    fact: Fact
    messages: tuple[bytes, ...]
    previous_head: bytes
    first_seq: int
    via: str = ""


class Head(Struct, frozen=True):
    """The fields that an event has in every version of the message format: its type, its time, and its place in the
    journal (chain value, shoe and round)."""

    type: str
    at: str
    chain: str
    shoe: int | None
    round: int | None


class Message(Struct, frozen=True, dict=True):  # what it says is read once
    """A signed event for the pit: its number among the table's events, and its bytes."""

    seq: int
    body: bytes

    @cached_property
    def head(self) -> Head:
        """Return the event's type, time, chain value, shoe and round. All versions of the message format have these
        fields."""
        return decode(self.body, type=Head)

    @cached_property
    def event(self) -> Event | None:
        """Return the event as an object; None if another version of the program wrote it in a form that this version
        does not know."""
        return read(self.says)

    @cached_property
    def says(self) -> dict[str, Any]:
        """Return the event's fields, decoded from its JSON. The result is kept, so the JSON is decoded only once."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class OnJournal(Protocol):
    """A function that runs other functions on the journal's thread, because no other thread may use the journal."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Run `work` on the journal's thread, and return its result."""
