"""Records each call of the class that delivers a table's events to the pit, and checks the calls against the contract's
rules, for any number of events.

`noted` patches the class so that it writes a note of each call, with the state after the call. A `Walk` takes the notes
one by one. Its rules are those of the model in `delivery.pml`, without the model's limit on the length of a history. No
step can be hidden, because each note must follow from the note before. `test_walks.py` checks with a `Walk` every step
of the small model. `tests/fire` checks with it tables whose processes and connections are being killed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

NOTED = ("committed", "connected", "disconnected", "nothing_retained", "acked", "pit_came", "due", "published")
REFUSED_FROM, NOBODY_LISTENS = 0x80, 0x10  # MQTT 5


class NotAWalkError(Exception):
    """A note of a call does not follow from the notes before it. The text of the error is the broken rule."""


class Note(NamedTuple):
    """A note of one call of the delivery class: the method's name, its arguments, and the phase and the number of
    acknowledged events after the call."""

    what: str
    told: tuple[Any, ...]
    phase: str
    acked: int


def noted(delivery: type[Any], write: Callable[[object, Note], object]) -> None:
    """Patch the delivery class so that each call also calls `write` with the object and a note of the call. A call of
    `due` that returns no events is not noted."""
    begun = delivery.__init__

    def begin(self: Any, epoch: str, acked_seq: int, head_seq: int, *others: Any) -> None:
        begun(self, epoch, acked_seq, head_seq, *others)
        write(self, Note("started", (acked_seq, head_seq), self.phase.name, self.acked_seq))

    delivery.__init__ = begin
    for name in NOTED:
        setattr(delivery, name, _noting(name, getattr(delivery, name), write))


def _noting(name: str, call: Callable[..., Any], write: Callable[[object, Note], object]) -> Callable[..., Any]:
    def noting(self: Any, *told: Any, **more: Any) -> Any:
        answer = call(self, *told, **more)
        if name == "acked":
            ack, own_chain = told[0], told[1]
            told = (ack.seq, ack.at, ack.epoch == self.epoch, own_chain == ack.chain, ack.chain)
        elif name == "due":
            told = (answer[0], answer[-1]) if answer else ()
        if told or name != "due":
            write(self, Note(name, tuple(told), self.phase.name, self.acked_seq))
        return answer

    return noting


class Walk:
    """Checks the notes of one table's calls against the contract's rules for the delivery of events, one note after
    another. At most `window` events may be sent and not acknowledged."""

    def __init__(self, window: int = 50) -> None:
        self._most = window
        self._phase = ""
        self.acked = self._head = self._cursor = self._claimed = self._known = 0
        self._window = window
        self._last_at = ""
        self._ever_due = 0
        self.went_out = 0

    def take(self, note: Note) -> None:
        """Check that the next note follows the contract's rules. Raises NotAWalkError if it does not."""
        getattr(self, f"_take_{note.what}")(*note.told)
        if (self._phase, self.acked) != (note.phase, note.acked):
            raise NotAWalkError(f"after {note} the table should be {self._phase} with {self.acked} acknowledged")

    def restored(self) -> None:
        """Accept that the table's journal was replaced by an older copy, so that the next start may have fewer
        events."""
        self._head = 0

    def _take_started(self, acked: int, head: int) -> None:
        _must(head >= self._head, "a start brings no event away from the journal")
        _must(acked <= head, "no more is marked as acknowledged than the journal has")
        self._phase, self.acked, self._head, self._known = "OFFLINE", acked, head, head
        self._cursor, self._claimed, self._window, self._last_at = acked, 0, self._most, ""

    def _take_committed(self, head: int, *_: float) -> None:
        _must(head >= self._head, "the journal only grows")
        self._head = head

    def _take_connected(self) -> None:
        if self._phase != "BEHIND":
            self._phase = "ASKING"

    def _take_disconnected(self, *_: float) -> None:
        if self._phase != "BEHIND":
            self._phase = "OFFLINE"

    def _take_nothing_retained(self, *_: float) -> None:
        if self._phase == "ASKING":
            self._stream(self._most)

    def _take_pit_came(self, *_: float) -> None:
        if self._phase == "STREAMING":
            self._stream(1)

    def _take_acked(self, seq: int, at: str, of_this_epoch: bool, same_chain: bool, _: str) -> None:
        if self._phase == "OFFLINE" or not of_this_epoch:
            return
        fits = seq == 0 or (seq <= min(self._known, self._head) and same_chain)
        early = at < self._last_at
        if self._phase == "BEHIND":
            if fits and at > self._last_at:
                self._last_at, self._claimed, self.acked = at, 0, seq
                self._stream(self._most)
            elif not fits:
                self._last_at = max(self._last_at, at)
        elif early:
            if fits:
                self._claimed = max(self._claimed, seq)
                if self._phase == "ASKING":
                    self._stream(self._most)
        elif not fits:
            self._last_at, self._claimed, self._phase = at, 0, "BEHIND"
        else:
            self._last_at, self._claimed = at, 0
            if seq != self.acked:
                self._window = min(2 * self._window, self._most)
            self.acked, self._cursor = seq, max(self._cursor, seq)
            if self._phase == "ASKING" or (self._phase == "REFUSED" and seq == self._head):
                self._stream(self._most)

    def _take_due(self, first: int, last: int) -> None:
        _must(self._phase in ("STREAMING", "REFUSED"), "no event is sent before the pit's last word is known")
        _must(first in (self._cursor + 1, self.acked + 1), "events go out in order, or again from the oldest")
        _must(last <= self._head, "no event is sent that the journal does not hold")
        _must(first > self.acked, "no event is sent that the pit has acknowledged")
        if self._phase == "REFUSED":
            _must(first == last == self.acked + 1, "after a refusal the oldest event is offered alone")
            self._known = max(self._known, last)
        else:
            if first != self._cursor + 1 and self._window < self._most:
                self._window = 1
            _must(last <= max(self.acked, self._claimed) + self._window, "no more is under way than the window")
            self._cursor, self._known = last, max(self._known, last)
        self._ever_due = max(self._ever_due, last)

    def _take_sent(self, first: int, last: int) -> None:
        _must(self._phase in ("STREAMING", "REFUSED"), "no event goes out before the pit's last word is known")
        _must(last <= self._ever_due, "no event goes out that was not due")
        self.went_out = max(self.went_out, last)

    def _take_published(self, seq: int, code: int, *_: float) -> None:
        if code == NOBODY_LISTENS:
            self._window = self._most
        if code >= REFUSED_FROM and self._phase == "STREAMING":
            self._phase = "REFUSED"
        elif code < REFUSED_FROM and self._phase == "REFUSED" and seq == self.acked + 1:
            self._stream(self._most)

    def _stream(self, window: int) -> None:
        self._phase, self._window, self._cursor = "STREAMING", window, self.acked


def _must(holds: bool, rule: str) -> None:
    if not holds:
        raise NotAWalkError(rule)
