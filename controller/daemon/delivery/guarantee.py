"""Decides which events the table sends to the pit now, and keeps count of the events that the pit has acknowledged.
This is the delivery guarantee. The code is pure: the caller passes the time in.

The events have numbers without gaps. An acknowledgement (ack) of the pit covers all events up to one number. It names
the last event that the pit has committed, and that event's chain value (a hash over all rows of the journal before the
event).

- Nothing is lost: an event is sent again until the pit acknowledges it.
- Nothing counts twice: the pit drops an event whose number it already has.
- An old ack, which somebody may have sent again, is not believed. An ack is old if its time is earlier than the time of
  the last believed ack. There is one exception, because the pit's clock may have been ahead and then been set right.
  Nobody can sign a chain value before the table has made it. So an ack of an event that was first sent after the last
  believed ack came is *certainly later* than that ack, and is believed although its time is earlier. The times of later
  acks are then compared with its time, and acks of events that were sent earlier are refused, because they may be old.
- A wrong journal is found out. Example: an old copy of the journal is put back, and other events are written to it.
  Then the chain value in the pit's ack differs from this journal's. The chain value of an event covers all rows before
  the event's own row, and each run of the program begins with a salted row (`ProgramStarted`). So the value differs
  even if the journal lost only its last event and wrote another event in its place.
- A pit whose clock went back does not stop the sending. On a new connection an old ack that fits this journal is enough
  to begin, because this run has already checked the journal against a later ack. The old ack changes nothing else.

    OFFLINE ─ connected ─> ASKING ─ an ack that fits, or word that none is retained ─> STREAMING <─> REFUSED
                             ├─── an ack that this journal cannot have earned ──> BEHIND ─────┘ a later one that fits
                             └─ an event that is not as it was signed, until the next connection > ALTERED

This module does not check signatures. The caller passes in only acks that the pit's key signed.
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
    """The state of the sending of events to the pit, on the present connection to the broker."""

    OFFLINE = auto()
    ASKING = auto()  # connected; the pit's last word is not known yet, so nothing is sent
    STREAMING = auto()
    REFUSED = auto()  # the broker refused an event; the oldest is offered again from time to time
    ALTERED = auto()  # the journal does not hold the next event as it was signed: nothing is sent on this connection
    BEHIND = auto()  # the pit has acknowledged what this journal does not hold: nothing is sent until an ack fits


class Behind(Struct, frozen=True):
    """The finding that an acknowledgement (ack) of the pit does not fit this journal.

    Either the number `acked_seq` in the ack is above `head_seq`, the last event that the pit can have from this
    journal, or the chain value in the ack differs from the journal's (`chain_differs`). `at` is the time of the ack by
    the pit's clock.
    """

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str


class TookBack(Struct, frozen=True):
    """The finding that an acknowledgement of the pit fits this journal, although the acknowledgement before did not
    fit. The pit's earlier acknowledgement was therefore wrong."""

    acked_seq: int
    at: str


class Older(Struct, frozen=True):
    """The finding that an acknowledgement of the pit has an earlier time than the last believed acknowledgement.
    Somebody may have sent an old acknowledgement again. `last_at` is the time of the last believed acknowledgement."""

    last_at: str


class Delivery:
    """Keeps count of which events of one table's journal were sent to the pit and which were acknowledged. Times are
    seconds of a monotonic clock.

    `acked_seq` is the number of the last event that the pit has acknowledged, and `head_seq` the number of the
    journal's last event. `behind_at` is the time of an acknowledgement that did not fit this journal, if the table has
    stopped the sending because of that acknowledgement; else None.
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
        """Return how many events of the journal the pit has not acknowledged."""
        return self.head_seq - self.acked_seq

    def committed(self, head_seq: int, now_s: float) -> None:
        """Note that the journal has grown, and that its last event now has the number `head_seq`."""
        if self.unacknowledged == 0 and head_seq > self.head_seq:
            self._silent_since_s = now_s
        self.head_seq = head_seq

    def connected(self) -> None:
        """Note that the table has a new connection to the broker. No event is sent on the new connection before the
        pit's last acknowledgement is known."""
        if self.phase is not Phase.BEHIND:
            self.phase = Phase.ASKING

    def disconnected(self, now_s: float) -> None:
        """Note that the connection to the broker is gone. Events that were sent but not acknowledged will be sent
        again."""
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase is not Phase.BEHIND:
            self.phase = Phase.OFFLINE

    def nothing_retained(self, now_s: float) -> None:
        """Note that the broker retains no acknowledgement of the pit for this table. If the table waits for that
        acknowledgement, begin to send events. Sending begins after the last event that the journal has marked as
        acknowledged."""
        if self.phase is Phase.ASKING:
            self._stream(now_s)

    def certainly_later(self, ack: AckWord, own_chain: str | None) -> bool:
        """Tell whether the pit must have signed this acknowledgement after every acknowledgement that was believed
        before. Return False at once if the table is offline, or if the acknowledgement has another epoch or chain value
        than this journal.

        `own_chain` is the chain value that this journal has for event `ack.seq`; None if the journal has no such event.
        """
        if self.phase is Phase.OFFLINE or ack.epoch != self.epoch or own_chain != ack.chain:
            return False
        return self._known_then_seq < ack.seq <= self._known_seq

    def acked(
        self, ack: AckWord, own_chain: str | None, now_s: float, latest_at: str = _END_OF_TIME
    ) -> Behind | TookBack | Older | None:
        """Judge an acknowledgement (ack) of the pit. If it is sound, count its events as acknowledged. Return what the
        ack shows (`Behind`, `TookBack` or `Older`); None if it only acknowledges events, or if it is ignored.

        `own_chain` is the chain value that this journal has for event `ack.seq`; None if the journal has no such event.
        `latest_at` is the latest time that an ack can bear by now. If the last believed ack bears a later time than
        `latest_at`, that time was wrong, so this ack is not compared with it.

        An ack with an earlier time than the last believed ack is refused (`Older`), unless its chain value proves that
        the pit signed it later. A refused ack acknowledges no event. But if it names an event that waits, the next
        events to send are counted from that event on. Otherwise the sending would stop, because only acks of newly sent
        events can prove that they are later.

        An ack of another epoch (another journal's name) is ignored. An ack of an event that was already acknowledged is
        sound: a pit that lost events 5 to 9 acknowledges event 4, and is sent 5 to 9 again. Returns `Behind` if the ack
        does not fit this journal. After that, acks are ignored until a later ack fits: then `TookBack` is returned.
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
        """Count all events up to the number in the pit's acknowledgement as acknowledged, and all later events as not
        acknowledged."""
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
        """Send the unacknowledged events again, because a program of the pit has just begun to listen, and nobody
        received the events that were sent before.

        At first only the oldest event is sent. After each acknowledgement twice as many events may be on their way, up
        to the usual 50. All tables of a floor have waited for the pit. If all tables sent all their events at once, the
        pit's own messages would be held up at the broker.
        """
        if self.phase is Phase.STREAMING:
            self._stream(now_s, window=1)

    def due(self, now_s: float) -> range:
        """Return the numbers of the events to send now, often none. The returned events count as sent, so the caller
        must send them."""
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
        """Note the broker's answer to the message with event `seq`. `reason_code` is the answer as an MQTT reason code.
        Return True if the sending of events stops because of this answer.

        Sending stops when the broker refuses an event. Sending goes on once the broker takes the oldest unacknowledged
        event. The broker may take a later event although it refused an earlier one, so a later event is not enough.
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
        """Stop the sending of events, because an event in the journal differs from the event that was signed. Neither
        that event nor any later event is sent.

        On the next connection the event is read from the journal again.
        """
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase not in (Phase.OFFLINE, Phase.BEHIND):
            self.phase = Phase.ALTERED

    def fresh(self, now_s: float) -> bool:
        """Tell whether the sending of events works well enough to take bets on progressives. Return False if events
        have waited for `stale_after_s` seconds without an acknowledgement. Otherwise return True if events are being
        sent, or were being sent less than `stale_after_s` seconds ago."""
        if self._silent_since_s is not None and now_s - self._silent_since_s >= self._stale_after_s:
            return False
        if self.phase is Phase.STREAMING:
            return True
        return self._streamed_s is not None and now_s - self._streamed_s < self._stale_after_s

    def waits_s(self, now_s: float) -> float:
        """Return for how many seconds events have waited without any progress of the pit's acknowledgements; 0.0 if no
        event waits."""
        return 0.0 if self._silent_since_s is None else now_s - self._silent_since_s

    def next_due_s(self, now_s: float) -> float | None:
        """Return in how many seconds events have to be sent again if no acknowledgement comes before. Return None if no
        event will have to be sent again."""
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
