"""The delivery guarantee: which events to send now, and how far the pit has got. Pure: the time is an argument.

The stream is numbered without gaps. The pit acknowledges cumulatively: its ack names the last event that the pit has
committed, and that event's chain value.

- Nothing is lost: an event is sent again until the pit acknowledges it.
- Nothing counts twice: the pit drops an event whose number it has.
- An old ack is not believed. The times of acks order them. But a pit's clock can be wrong, and then its times begin
  anew. Nobody can sign a chain value before the table has made it. So an ack of an event that was first sent after the
  last believed ack is *certainly later* than that ack. Where its time is earlier, times count from it on, and acks of
  earlier events are refused: some of them may be old.
- A wrong journal is found out. Example: an old copy of the journal is put back and goes on with other events. Then the
  chain value in the pit's ack differs from this journal's. The chain value of an event covers all rows before the
  event's own row, and each run of the program begins with a salted row (`ProgramStarted`). So the value differs also
  where the journal lost its last event alone and wrote another event in its place.
- A pit whose clock went back holds up nobody. On a new connection an old ack that fits this journal is enough to begin:
  this run has judged the journal by a later ack. The old ack changes nothing else.

    OFFLINE ─ connected ─> ASKING ─ an ack that fits, or word that none is retained ─> STREAMING <─> REFUSED
                             ├─── an ack that this journal cannot have earned ──> BEHIND ─────┘ a later one that fits
                             └─ an event that is not as it was signed, until the next connection > ALTERED

Whether an ack is the pit's own is judged before: each ack that comes here was signed by the pit's key.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from controller.contract.pit_words import AckWord

WINDOW = 50
"""At most so many events are sent without the pit's acknowledgement."""

RESEND_AFTER_S = 2.0
"""After so long without an acknowledgement, all unacknowledged events that were sent are sent again."""

RESEND_AT_MOST_AFTER_S = 16.0
"""Each wait in a row is twice as long as the wait before, up to this. An acknowledgement makes it short again."""

RETRY_REFUSED_AFTER_S = 5.0
"""After the broker refused an event, the oldest unacknowledged event is offered again so much later."""

REFUSED_FROM = 0x80
"""MQTT 5 reason codes from here on are refusals."""

NOBODY_LISTENS = 0x10
"""MQTT 5: the broker took the message and has nobody to give it to."""

_END_OF_TIME = "9999-12-31T23:59:59.999Z"  # later than every time of an ack


class Phase(Enum):
    """Where the stream stands on this connection."""

    OFFLINE = auto()
    ASKING = auto()  # connected; the pit's last word is not known yet, so nothing is sent
    STREAMING = auto()
    REFUSED = auto()  # the broker refused an event; the oldest is offered again from time to time
    ALTERED = auto()  # the journal does not hold the next event as it was signed: nothing is sent on this connection
    BEHIND = auto()  # the pit has acknowledged what this journal does not hold: nothing is sent until an ack fits


class Behind(Struct, frozen=True):
    """The pit's ack does not fit this journal.

    Either the ack is past `head_seq`, the last event that the pit can have from here, or its chain value is another.
    `at` is the time of the ack by the pit's clock.
    """

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str


class TookBack(Struct, frozen=True):
    """A later ack of the pit fits this journal again. The ack that did not fit was wrong."""

    acked_seq: int
    at: str


class Older(Struct, frozen=True):
    """The ack is older than the last believed ack, so somebody repeats it. `last_at` is the time of the last ack."""

    last_at: str


class Delivery:
    """One table's stream to the pit. Times are seconds of a monotonic clock.

    `behind_at` is the time of an ack that did not fit this journal, while the fault for that ack stands; else None.
    """

    def __init__(
        self, epoch: str, acked_seq: int, head_seq: int, stale_after_s: float, behind_at: str | None = None
    ) -> None:
        self.epoch = epoch
        self.acked_seq = acked_seq
        self.head_seq = head_seq
        self.phase = Phase.OFFLINE if behind_at is None else Phase.BEHIND
        self._last_at = behind_at or ""  # the time of the pit's last ack, by its clock
        self._least_seq = 0  # acks of earlier events may be of before the pit's times began anew
        self._stale_after_s = stale_after_s
        self._known_seq = head_seq  # the last event that the pit can know: an earlier run may have sent every event
        self._known_then_seq = head_seq  # the same when the last believed ack came
        self._claimed_seq = 0  # how far refused acks claim that the pit has got
        self._sent_seq = acked_seq  # the last event that was sent on this connection, and need not be sent again
        self._window = WINDOW  # how many events may be on their way now
        self._resend_after_s = RESEND_AFTER_S
        self._act_at_s = 0.0  # when to send events again, or to offer a refused event again
        self._streamed_s: float | None = None  # when the stream last worked
        self._silent_since_s: float | None = None  # since when events wait without progress

    @property
    def unacknowledged(self) -> int:
        """How many events the pit has not acknowledged."""
        return self.head_seq - self.acked_seq

    def committed(self, head_seq: int, now_s: float) -> None:
        """The journal has grown to `head_seq`."""
        if self.unacknowledged == 0 and head_seq > self.head_seq:
            self._silent_since_s = now_s
        self.head_seq = head_seq

    def connected(self) -> None:
        """A new connection: nothing is sent before the pit's last word is known."""
        if self.phase is not Phase.BEHIND:
            self.phase = Phase.ASKING

    def disconnected(self, now_s: float) -> None:
        """The connection is gone. Events that were on their way count as unsent."""
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase is not Phase.BEHIND:
            self.phase = Phase.OFFLINE

    def nothing_retained(self, now_s: float) -> None:
        """The broker retains no ack for this table. So the acknowledgement that the journal has noted holds."""
        if self.phase is Phase.ASKING:
            self._stream(now_s)

    def certainly_later(self, ack: AckWord, own_chain: str | None) -> bool:
        """Whether the pit signed this ack after every ack that was believed before. Arguments are as for `acked`."""
        if self.phase is Phase.OFFLINE or ack.epoch != self.epoch or own_chain != ack.chain:
            return False
        return self._known_then_seq < ack.seq <= self._known_seq

    def acked(
        self, ack: AckWord, own_chain: str | None, now_s: float, latest_at: str = _END_OF_TIME
    ) -> Behind | TookBack | Older | None:
        """An ack of the pit came.

        `own_chain` is the chain value of our event `ack.seq`; None where we have no such event. `latest_at` is the
        latest time that an ack can have by now. An ack of a still later time was wrong, and makes no other ack old.

        An ack with an earlier time than the last believed ack is refused, unless it is certainly later. While such an
        ack names waiting events, the window is counted from there, and none of these events counts as acknowledged. So
        the events go out whose acks are certainly later, however many events wait.

        An ack of another epoch says nothing about this stream. An ack that goes back is followed: a pit that lost
        events 5 to 9 acknowledges 4, and is sent 5 to 9 again. Returns `Behind` where the ack does not fit this
        journal, `TookBack` where an ack fits after one that did not, and `Older` where the ack is older than the last.
        """
        if self.phase is Phase.OFFLINE or ack.epoch != self.epoch:
            return None
        behind = self.phase is Phase.BEHIND
        if self._last_at > latest_at:
            self._last_at = ""
        chain_differs = 0 < ack.seq <= self.head_seq and own_chain != ack.chain
        fits = not chain_differs and ack.seq <= self._known_seq
        early = ack.at < self._last_at
        if behind and (not fits or early or ack.at == self._last_at):
            if not fits and not early:
                self._last_at = ack.at  # what takes back is later than every wrong ack
            return None
        if not behind and (ack.seq < self._least_seq or (early and not self.certainly_later(ack, own_chain))):
            self._claimed_seq = max(self._claimed_seq, ack.seq if fits else 0)
            if fits and self.phase is Phase.ASKING:
                self._stream(now_s)  # this run has judged the journal by a later ack, and no later word may come
            return Older(self._last_at)
        if behind:
            self._least_seq = 0
        elif early:
            self._least_seq = self._known_then_seq + 1
        self._last_at = ack.at
        self._known_then_seq, self._claimed_seq = self._known_seq, 0
        if not fits:
            self.phase = Phase.BEHIND
            return Behind(ack.seq, self._known_seq, chain_differs, ack.at)
        self._follow(ack, now_s)
        if not behind:
            return None
        self._stream(now_s)
        return TookBack(ack.seq, ack.at)

    def _follow(self, ack: AckWord, now_s: float) -> None:
        """Take over how far the pit says that it has got."""
        if ack.seq > self.acked_seq:
            self._silent_since_s = now_s if ack.seq < self.head_seq else None
        elif ack.seq < self.acked_seq and self._silent_since_s is None:
            self._silent_since_s = now_s  # the pit went back. If it goes back again, that is no progress either
        if ack.seq != self.acked_seq:
            self._window = min(2 * self._window, WINDOW)
            self._resend_after_s = RESEND_AFTER_S
            self._act_at_s = now_s + self._resend_after_s
        self.acked_seq = ack.seq
        self._sent_seq = max(self._sent_seq, ack.seq)
        done = self.phase in (Phase.REFUSED, Phase.ALTERED) and not self.unacknowledged
        if self.phase is Phase.ASKING or done:
            self._stream(now_s)

    def pit_came(self, now_s: float) -> None:
        """A pit's program begins to listen. Nobody heard what was sent while no program listened: that is due again.

        A whole floor has waited for the pit, and where all tables send at once, the broker comes late to what the pit
        says. So the oldest event goes alone. After each acknowledgement twice as many events may be on their way, up to
        the window.
        """
        if self.phase is Phase.STREAMING:
            self._stream(now_s, window=1)

    def due(self, now_s: float) -> range:
        """The numbers of the events to send now, which count as sent from here on. Often there is none."""
        if self.phase is Phase.REFUSED and now_s >= self._act_at_s:
            self._act_at_s = now_s + RETRY_REFUSED_AFTER_S
            return self._sending(self.acked_seq + 1, min(self.head_seq, self.acked_seq + 1))
        if self.phase is not Phase.STREAMING:
            return range(0)
        if self._sent_seq > self.acked_seq and now_s >= self._act_at_s:
            self._sent_seq = self.acked_seq
            self._resend_after_s = min(2 * self._resend_after_s, RESEND_AT_MOST_AFTER_S)
            if self._window < WINDOW:
                self._window = 1  # the pit has yet to take in what a floor has sent
        first, last = self._sent_seq + 1, min(self.head_seq, max(self.acked_seq, self._claimed_seq) + self._window)
        if first > last:
            return range(0)
        if self._sent_seq == self.acked_seq:
            self._act_at_s = now_s + self._resend_after_s
        self._sent_seq = last
        return self._sending(first, last)

    def _sending(self, first: int, last: int) -> range:
        self._known_seq = max(self._known_seq, last)
        return range(first, last + 1)

    def published(self, seq: int, reason_code: int, now_s: float) -> bool:
        """The broker answered for event `seq`. True where the broker refused the event and the stream stopped just now.

        The stream goes on only once the broker takes the oldest unacknowledged event. A later event may have been taken
        although an event before it was refused.
        """
        if reason_code == NOBODY_LISTENS:
            self._window = WINDOW  # there is nobody to flood, and people are told of a hit that nobody hears
        if reason_code < REFUSED_FROM:
            if self.phase is Phase.REFUSED and seq == self.acked_seq + 1:
                self._stream(now_s)
            return False
        if self.phase is not Phase.STREAMING:
            return False
        self._streamed_s = now_s
        self.phase = Phase.REFUSED
        self._act_at_s = now_s + RETRY_REFUSED_AFTER_S
        return True

    def altered(self, now_s: float) -> None:
        """The journal does not hold an event as it was signed. Neither that event nor any later event is sent.

        The next connection reads the journal again.
        """
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase not in (Phase.OFFLINE, Phase.BEHIND):
            self.phase = Phase.ALTERED

    def fresh(self, now_s: float) -> bool:
        """Whether progressives can be bet on: the stream works and the pit keeps up, or did so within the limit."""
        if self._silent_since_s is not None and now_s - self._silent_since_s >= self._stale_after_s:
            return False
        if self.phase is Phase.STREAMING:
            return True
        return self._streamed_s is not None and now_s - self._streamed_s < self._stale_after_s

    def waits_s(self, now_s: float) -> float:
        """For how long events have waited without progress; 0.0 where none waits."""
        return 0.0 if self._silent_since_s is None else now_s - self._silent_since_s

    def next_due_s(self, now_s: float) -> float | None:
        """How long until `due` may return events though nothing else happens; None where it never will."""
        if self.phase in (Phase.STREAMING, Phase.REFUSED) and self.unacknowledged:
            return max(0.0, self._act_at_s - now_s)
        return None

    def _stream(self, now_s: float, window: int = WINDOW) -> None:
        self.phase = Phase.STREAMING
        self._window = window
        self._resend_after_s = RESEND_AFTER_S
        self._sent_seq = self.acked_seq
        self._act_at_s = now_s
        if self.unacknowledged and self._silent_since_s is None:
            self._silent_since_s = now_s
