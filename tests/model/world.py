"""A small model world around the product's own class that delivers a table's events: one table, one pit, and a link
between them that may lose, delay, repeat and reorder messages.

The table is the product's own `Delivery`. The pit follows the contract's rule for receiving an event: the event with
the next number is committed, any other event is not. The pit answers each event with the number of the last committed
event. A message may arrive never, late, twice or in another order. So whatever was ever sent can arrive at any step. An
attacker who repeats the pit's acks (acknowledgements) can do no more. These misfortunes may happen at any step: the
table is killed, the pit's ledger becomes an older copy, the pit's clock is set back, the table's journal becomes an
older copy, or the broker refuses messages.

Some steps are *calm*: nothing is lost, and nobody repeats an old message. From every state, calm steps must lead to the
end at which all is acknowledged.

The model does not distinguish messages on their way from lost messages, because either may arrive at a later step or
never. So a state holds what was ever sent. The calm steps must do without the messages that were sent before, because
all of them may be lost. What a calm step sends arrives at the pit immediately and in order. That is one of the ways of
a calm link, and one way is enough.

A state is a value: if two ways lead to the same state, the state is explored once. So times are dropped, except for
what they decide. Of a time at the table, it only counts whether it has come. Of the times in acks, only their order
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from types import ModuleType
from typing import Any, NamedTuple

from controller.contract.pit_words import AckWord

NOW_S = 100.0
LATER_S = 1000.0
_SAID = 3  # acks of the pit that may still come, the last of them retained by the broker
_FORGOTTEN = ("epoch", "_resend_after_s", "_streamed_s", "_silent_since_s", "_stale_after_s")


class BrokenError(Exception):
    """A step in a model broke one of its rules. The text of the error is the broken rule."""


class Bounds(NamedTuple):
    """The size of a model world: how many events there are, and how often each misfortune happens at most."""

    events: int = 4
    kills: int = 1
    goes_back: int = 1
    clock_back: int = 0
    restores: int = 0
    refusals: int = 0


class Ack(NamedTuple):
    """An acknowledgement of the pit, in the model. `seq` is the number of the acknowledged event. `history` stands for
    its chain value: the events before it, and the run of the table that wrote it. `at` is the time, as a rank."""

    seq: int
    history: str
    at: int


class State(NamedTuple):
    """The state of the model at one moment. An event is a letter. If the journal was replaced by an older copy, its new
    events have other letters.

    `journal` has the events that the table has written. `marked` is the number of the last event that the table has
    recorded as acknowledged. `ledger` has the events that the pit has committed. `ever` has every history of events
    that the pit ever had committed. `sent` has the events that were sent, each with those before it. `said` are the
    pit's last acknowledgements. `newest` is the time of the latest acknowledgement that this run of the table has
    received. `spent` counts the misfortunes, in the order of `Bounds`.
    """

    delivery: Any
    held: tuple[object, ...] = ()
    journal: str = ""
    marked: int = 0
    connected: bool = False
    ledger: str = ""
    ever: frozenset[str] = frozenset({""})
    clock: int = 1
    sent: frozenset[str] = frozenset()
    said: tuple[Ack, ...] = ()
    newest: int = 0
    spent: Bounds = Bounds(*[0] * 6)

    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for states between which the rules see no difference. In the key, the times in
        acknowledgements are replaced by their ranks."""
        held, last_at = self.held[:-1], int(str(self.held[-1]))
        times = sorted({ack.at for ack in self.said} | {0, self.clock, self.newest} | {last_at})
        rank = {time: place for place, time in enumerate(times)}
        said = tuple((seq, history, rank[at]) for seq, history, at in self.said)
        return (
            *held,
            rank[last_at],
            *self[2:7],
            rank[self.clock],
            rank[self.newest],
            self.sent,
            said,
            self.spent,
        )


class World:
    """The rules of the model world: the steps that can follow each state. `guarantee` is the module with the class
    `Delivery`: the product's, or one with a planted defect.

    With `starts_noted`, each start of the table is a row of its journal, as in the product. So if the journal was
    replaced by an older copy and the table was started again, its next event has another chain value.
    """

    def __init__(self, guarantee: ModuleType, bounds: Bounds, starts_noted: bool = True) -> None:
        self._of = guarantee
        self._bounds = bounds
        self._starts_noted = starts_noted
        names = vars(self._started(0, 0)).keys() - {*_FORGOTTEN, "_last_at"}
        self._counts = attrgetter(*sorted(names))

    def begin(self) -> State:
        """Return the model's first state, before anything has happened."""
        return self._held(State(self._started(0, 0)))

    def steps(self, state: State) -> Iterator[tuple[str, bool, State]]:
        """Yield everything that can happen next in this state: its name, whether it is calm (nothing is lost or
        repeated), and the state after it. Raises BrokenError if a step breaks a rule."""
        for name, after in (*self._at_the_table(state), *self._on_the_link(state)):
            yield name, True, self._held(after)
        for name, due, after in self._sendings(state):
            yield name, False, self._held(after)
            for seq in due:
                after = self._taken(after, state.journal[:seq])
            yield f"{name}, and the pit takes them", True, self._held(after)
        for name, after in (*self._come_once_more(state), *self._misfortunes(state)):
            yield name, False, self._held(after)

    def _at_the_table(self, state: State) -> Iterator[tuple[str, State]]:
        if len(state.journal) < self._bounds.events:
            table, letter = _copy(state.delivery), "abc"[state.spent.restores]
            table.committed(len(state.journal) + 1, NOW_S)
            yield "the table writes an event", state._replace(delivery=table, journal=state.journal + letter)
        if state.delivery.acked_seq != state.marked:
            yield "the table marks how far the pit is", state._replace(marked=state.delivery.acked_seq)
        if not state.connected:
            table = _copy(state.delivery)
            table.connected()
            yield "the table connects", state._replace(delivery=table, connected=True)
        elif not state.said:
            table = _copy(state.delivery)
            table.nothing_retained(NOW_S)
            yield "the broker retains no ack", state._replace(delivery=table)

    def _sendings(self, state: State) -> Iterator[tuple[str, range, State]]:
        for now_s, when in ((NOW_S, "now"), (LATER_S, "after a while")):
            table = _copy(state.delivery)
            if due := table.due(now_s):
                _allowed(due, table, self._of.WINDOW)
                sent = state.sent.union(state.journal[:seq] for seq in due)
                yield f"the table sends {[*due]} {when}", due, state._replace(delivery=table, sent=sent)

    def _on_the_link(self, state: State) -> Iterator[tuple[str, State]]:
        if state.connected and state.said:
            yield f"{state.said[-1]} comes to the table", self._heard(state, state.said[-1])
        if state.connected and self._bounds.refusals:
            yield from self._of_the_broker(state, 0)

    def _come_once_more(self, state: State) -> Iterator[tuple[str, State]]:
        for event in sorted(state.sent):
            yield f"event {event!r} comes to the pit", self._taken(state, event)
        if state.connected:
            for ack in state.said[:-1]:
                yield f"{ack} comes late", self._heard(state, ack)

    def _misfortunes(self, state: State) -> Iterator[tuple[str, State]]:
        spent, most = state.spent, self._bounds
        if state.connected:
            table = _copy(state.delivery)
            table.disconnected(NOW_S)
            yield "the connection is cut", state._replace(delivery=table, connected=False)
            table = _copy(state.delivery)
            table.pit_came(NOW_S)
            yield "a pit begins to listen", self._acked(state._replace(delivery=table))
        if spent.kills < most.kills:
            table = self._started(state.marked, len(state.journal))
            dead = state._replace(
                delivery=table, connected=False, newest=0, spent=spent._replace(kills=spent.kills + 1)
            )
            yield "the table is killed", dead
        if spent.goes_back < most.goes_back:
            for seq in range(len(state.ledger)):
                older = state._replace(
                    ledger=state.ledger[:seq],
                    spent=spent._replace(goes_back=spent.goes_back + 1),
                )
                yield f"the pit's ledger is a copy of event {seq}", self._acked(older)
        if spent.clock_back < most.clock_back and state.clock:
            yield (
                "the pit's clock is set back",
                state._replace(clock=0, spent=spent._replace(clock_back=spent.clock_back + 1)),
            )
        if spent.restores < most.restores:
            for seq in range(len(state.journal)):
                marked = min(state.marked, seq)
                older = state._replace(delivery=self._started(marked, seq), journal=state.journal[:seq], marked=marked)
                spent_ = spent._replace(restores=spent.restores + 1)
                yield (
                    f"the table's journal is a copy of event {seq}",
                    older._replace(connected=False, newest=0, spent=spent_),
                )
        if state.connected and spent.refusals < most.refusals:
            yield from self._of_the_broker(state._replace(spent=spent._replace(refusals=spent.refusals + 1)), 0x87)

    def _of_the_broker(self, state: State, code: int) -> Iterator[tuple[str, State]]:
        for seq in range(state.delivery.acked_seq + 1, len(state.journal) + 1):
            if state.journal[:seq] not in state.sent:
                continue
            table = _copy(state.delivery)
            table.published(seq, code, NOW_S)
            yield f"the broker {'refuses' if code else 'takes'} event {seq}", state._replace(delivery=table)

    def _taken(self, state: State, event: str) -> State:
        """Return the state after the pit received this event. If the event has the next number, the pit commits the
        event. The pit sends an acknowledgement in any case."""
        if len(event) == len(state.ledger) + 1:
            ledger = state.ledger + event[-1]
            state = state._replace(ledger=ledger, ever=state.ever | {ledger})
        return self._acked(state)

    def _acked(self, state: State) -> State:
        """Return the state after the pit sent an acknowledgement. If the pit's previous acknowledgement named the same
        event, the state holds only the new one of the two."""
        ack = Ack(len(state.ledger), self._chain(state.ledger), state.clock)
        before = state.said[:-1] if state.said and state.said[-1][:2] == ack[:2] else state.said
        return state._replace(said=(*before, ack)[-_SAID:], clock=state.clock + 1)

    def _heard(self, state: State, ack: Ack) -> State:
        """Return the state after the table received this acknowledgement. Raises BrokenError if the table believes an
        older acknowledgement after a newer one."""
        table = _copy(state.delivery)
        own = self._chain(state.journal[: ack.seq]) if 0 < ack.seq <= len(state.journal) else None
        table.acked(AckWord("t", "e", ack.seq, ack.history, f"{ack.at:06d}"), own, NOW_S)
        early = ack.at < state.newest and not state.spent.clock_back
        if early and table.acked_seq != state.delivery.acked_seq:
            raise BrokenError("an older ack is believed after a later one")
        return state._replace(delivery=table, newest=max(state.newest, ack.at))

    def _chain(self, events: str) -> str:
        """Return the hash chain's value in the last of these events. Two events with the same number have different
        values if their histories differ."""
        return f"+{events if self._starts_noted else events[:-1]}"

    def _started(self, marked: int, head: int) -> Any:
        return self._of.Delivery("e", marked, head, 10.0)

    def _held(self, state: State) -> State:
        """Return the state, with the table's clock times simplified. Only one question about a time matters here:
        whether the time for the table's next action has come."""
        table = state.delivery
        table._act_at_s = 0.0 if table._act_at_s <= NOW_S else NOW_S + 1
        table._resend_after_s, table._streamed_s, table._silent_since_s = 0.0, None, None
        return state._replace(held=(*self._counts(table), int(table._last_at or 0)))


def _copy(table: Any) -> Any:
    """Return a shallow copy of the object, as `copy.copy` would, in a third of the time."""
    other = object.__new__(type(table))
    vars(other).update(vars(table))
    return other


def _allowed(due: range, table: Any, window: int) -> None:
    """Raise BrokenError if the table may not send the events `due` now. The table may not send events before it knows
    the pit's last acknowledgement, events that are acknowledged, events that are not in its journal, or more events
    than the window allows."""
    if table.phase.name not in ("STREAMING", "REFUSED"):
        raise BrokenError("an event is sent before the pit's last word is known")
    if due.start <= table.acked_seq:
        raise BrokenError("an event is sent that the pit has acknowledged")
    if due.stop - 1 > table.head_seq:
        raise BrokenError("an event is sent that the journal does not hold")
    if due.stop - 1 > max(table.acked_seq, table._claimed_seq) + window:
        raise BrokenError("more events are on their way than the window")
