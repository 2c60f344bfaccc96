"""The delivery guarantee: what of the outbox to send now, and how far the pit has got. Pure; the time comes in.

The stream is numbered without gaps and the pit acknowledges cumulatively, with the chain hash of the event it has got
to. So nothing is lost while the pit's word is missing, nothing is doubled that the pit can tell apart by its number,
and a journal that is not the one the pit was told from is found out: it would have to forge the chain. An event's chain
holds all that came before it, and not the event. So where a journal lost its last event alone, and wrote another in its
place, the chain fits; but the pit then acknowledges what this program has not sent.

    OFFLINE ─ connected ─> ASKING ─ the pit's retained ack, or word that there is none ─> STREAMING <─> REFUSED
                             ├─── an ack that this journal cannot have earned ──> BEHIND ─────┘ a later one that fits
                             └─ an event that is not as it was signed, until the next connection > ALTERED

Whether an ack is the pit's own is not judged here: what comes in has been signed by its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from controller.contract.pit_words import AckWord

WINDOW = 50
"""At most so many events are on their way without the pit's acknowledgement."""

RESEND_AFTER_S = 2.0
"""The pit was silent for so long on what it was sent: all of it is sent again."""

RETRY_REFUSED_AFTER_S = 5.0
"""After the broker refused an event, the oldest is offered again so much later."""

REFUSED_FROM = 0x80
"""MQTT 5 reason codes from here on are refusals."""

_END_OF_TIME = "9999-12-31T23:59:59.999Z"

NOBODY_LISTENS = 0x10
"""MQTT 5: the broker took the message and has nobody to give it to."""


class Phase(Enum):
    """Where the stream stands on this connection."""

    OFFLINE = auto()
    ASKING = auto()  # connected; the pit's last word is not known yet, so nothing is sent
    STREAMING = auto()
    REFUSED = auto()  # the broker refused an event; the oldest is offered again from time to time
    ALTERED = auto()  # the journal does not hold the next event as it was signed: nothing is sent on this connection
    BEHIND = auto()  # the pit has acknowledged what this journal does not hold: nothing is sent until it says otherwise


@dataclass(frozen=True, slots=True)
class Behind:
    """The pit's word does not fit this journal: past the last event it can have from here, `head_seq`, or another chain
    at that place. `at` is when the pit said it, by its clock."""

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str


@dataclass(frozen=True, slots=True)
class TookBack:
    """The pit's later word fits this journal again: what it said before was wrong."""

    acked_seq: int
    at: str


@dataclass(frozen=True, slots=True)
class Older:
    """The word was said before one that was believed: somebody says it again. `last_at` is when that one was said."""

    last_at: str


class Delivery:
    """One table's stream to the pit. Times are seconds of a monotonic clock.

    `behind_at` is when the pit said what this journal could not have earned, while a fault stands for that; else None.
    """

    def __init__(
        self, epoch: str, acked_seq: int, head_seq: int, stale_after_s: float, behind_at: str | None = None
    ) -> None:
        self.epoch = epoch
        self.acked_seq = acked_seq
        self.head_seq = head_seq
        self.phase = Phase.OFFLINE if behind_at is None else Phase.BEHIND
        self._last_at = behind_at or ""  # when the pit said what it said last, by its clock
        self._stale_after_s = stale_after_s
        self._known_seq = head_seq  # the last event the pit can know: an earlier run may have sent all there was
        self._sent_seq = acked_seq  # sent on this connection and not taken back for a resend
        self._act_at_s = 0.0  # when to send again what the pit is silent on, or to offer again what was refused
        self._streamed_s: float | None = None  # when the stream last worked
        self._silent_since_s: float | None = None  # since when events wait without any progress

    @property
    def unacknowledged(self) -> int:
        """Events the pit has not acknowledged."""
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
        """The connection is gone; what was on its way counts as unsent."""
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase is not Phase.BEHIND:
            self.phase = Phase.OFFLINE

    def nothing_retained(self, now_s: float) -> None:
        """The broker keeps no word of the pit for this epoch: the journal's own mark stands."""
        if self.phase is Phase.ASKING:
            self._stream(now_s)

    def acked(
        self, ack: AckWord, own_chain: str | None, now_s: float, latest_at: str = _END_OF_TIME
    ) -> Behind | TookBack | Older | None:
        """The pit's word came.

        `own_chain` is the chain of our event `ack.seq`, None when there is none. `latest_at` is the latest time that a
        word can have by now: one that was said later makes no other old.

        A word on another epoch says nothing about this stream. A word that goes back is followed: a pit that lost
        events 5 to 9 says 4, and is sent 5 to 9 again. Returns `Behind` where this journal cannot have earned the word,
        `TookBack` where a later word fits after such a word, and `Older` where the word was said before the last one.
        """
        if self.phase is Phase.OFFLINE or ack.epoch != self.epoch:
            return None
        behind = self.phase is Phase.BEHIND
        if self._last_at > latest_at:
            self._last_at = ""
        if ack.at < self._last_at or (behind and ack.at == self._last_at):
            return None if behind else Older(self._last_at)
        chain_differs = 0 < ack.seq <= self.head_seq and own_chain != ack.chain
        fits = not chain_differs and ack.seq <= self._known_seq
        if behind and not fits:
            return None
        self._last_at = ack.at
        if not fits:
            self.phase = Phase.BEHIND
            return Behind(ack.seq, self._known_seq, chain_differs, ack.at)
        self._follow(ack, now_s)
        if not behind:
            return None
        self._stream(now_s)
        return TookBack(ack.seq, ack.at)

    def _follow(self, ack: AckWord, now_s: float) -> None:
        """The pit has got to where it says."""
        if ack.seq > self.acked_seq:
            self._silent_since_s = now_s if ack.seq < self.head_seq else None
        elif ack.seq < self.acked_seq and self._silent_since_s is None:
            self._silent_since_s = now_s  # it went back; going back again is no sign of life
        if ack.seq != self.acked_seq:
            self._act_at_s = now_s + RESEND_AFTER_S
        self.acked_seq = ack.seq
        self._sent_seq = max(self._sent_seq, ack.seq)
        done = self.phase in (Phase.REFUSED, Phase.ALTERED) and not self.unacknowledged
        if self.phase is Phase.ASKING or done:
            self._stream(now_s)

    def due(self, now_s: float) -> range:
        """The numbers of the events to send now; they count as sent. Often empty."""
        if self.phase is Phase.REFUSED and now_s >= self._act_at_s:
            self._act_at_s = now_s + RETRY_REFUSED_AFTER_S
            return self._sending(self.acked_seq + 1, min(self.head_seq, self.acked_seq + 1))
        if self.phase is not Phase.STREAMING:
            return range(0)
        if self.unacknowledged and now_s >= self._act_at_s:
            self._sent_seq = self.acked_seq
        first, last = self._sent_seq + 1, min(self.head_seq, self.acked_seq + WINDOW)
        if first > last:
            return range(0)
        if self._sent_seq == self.acked_seq:
            self._act_at_s = now_s + RESEND_AFTER_S
        self._sent_seq = last
        return self._sending(first, last)

    def _sending(self, first: int, last: int) -> range:
        self._known_seq = max(self._known_seq, last)
        return range(first, last + 1)

    def published(self, seq: int, reason_code: int, now_s: float) -> bool:
        """The broker answered for event `seq`. True when it refused and the stream stopped just now.

        Only its taking the oldest one sets the stream going again: others may have been taken beside a refused one.
        """
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
        """The journal does not hold an event as it was signed: it is not sent, nor anything after it. The next
        connection asks again."""
        if self.phase is Phase.STREAMING:
            self._streamed_s = now_s
        if self.phase not in (Phase.OFFLINE, Phase.BEHIND):
            self.phase = Phase.ALTERED

    def fresh(self, now_s: float) -> bool:
        """Whether there is a pit to bet a progressive with: the stream works and the pit keeps up, within the limit."""
        if self._silent_since_s is not None and now_s - self._silent_since_s >= self._stale_after_s:
            return False
        if self.phase is Phase.STREAMING:
            return True
        return self._streamed_s is not None and now_s - self._streamed_s < self._stale_after_s

    def waits_s(self, now_s: float) -> float:
        """For how long events wait without any progress; 0.0 where none waits."""
        return 0.0 if self._silent_since_s is None else now_s - self._silent_since_s

    def next_due_s(self, now_s: float) -> float | None:
        """How long until `due` may have something without anything else happening; None for never."""
        if self.phase in (Phase.STREAMING, Phase.REFUSED) and self.unacknowledged:
            return max(0.0, self._act_at_s - now_s)
        return None

    def _stream(self, now_s: float) -> None:
        self.phase = Phase.STREAMING
        self._sent_seq = self.acked_seq
        self._act_at_s = now_s
        if self.unacknowledged and self._silent_since_s is None:
            self._silent_since_s = now_s
