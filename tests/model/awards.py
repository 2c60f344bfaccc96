"""Every way of one award through the reference pit's own ledger: what its people decide, and what its table is told.

The pit is the product's own `Ledger`, with its books, over a database in memory that each step begins with a copy of.
The table is the contract's rule: it takes a step of an award whose number is above the last, and tells it in its
stream. A message to the table may come late, twice or never. The pit's program may end after each step, since a step is
one transaction: then the table hears nothing of it until the pit repeats it. Once the ledger becomes the copy from
before anybody decided, and the table's stream is sent to it again. The cash that
people paid is counted outside of the ledger.

A state is a value: numbers of steps are ranks. `steps` names what can follow, and whether people and programs do it of
themselves: from each state such steps must lead to an end.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from controller.basics.errors import TableError
from controller.contract.pit_words import AwardStep
from controller.pit.reference.ledger import Ledger
from tests.model.world import BrokenError
from tests.pit.evening import EPOCH, TableEvening

TABLE = "t-0"
AWARD = f"{TABLE}.1"
CENTS = 5_000
_SAID = 3  # messages that may still come to the table
_PENDING = 2  # events that may wait for the pit


class Told(NamedTuple):
    """A step as the table's stream tells it."""

    step: str
    cents: int
    by: str


class State(NamedTuple):
    """The world at a moment. `ledger` is the database. `said` are the pit's messages that may still come, `last` the
    number of the last one that the table took. `told` is all that the table's stream told, and `sent` how much of it
    this ledger has. `cash` counts payments, and `unknown` those that no table had told when the ledger was lost."""

    ledger: bytes
    said: tuple[tuple[int, Told], ...] = ()
    last: int = 0
    told: tuple[Told, ...] = ()
    sent: int = 0
    cash: int = 0
    unknown: int = 0
    restored: bool = False


class World:
    """The steps of one award. `change` patches the ledger, for a planted defect."""

    def __init__(self, ledger: Ledger, restores: bool, change: Callable[[Ledger], None] = lambda _: None) -> None:
        self._ledger = ledger
        self._restores = restores
        change(ledger)
        ledger._db.connection.execute("PRAGMA journal_mode = MEMORY")  # type: ignore[attr-defined]  # of a file
        self._open = b""
        table = TableEvening(TABLE)
        table.lock(1)
        table.finish((1, "suited"))
        self._hit: dict[str, Any] = json.loads(table.hit(1, "suited", CENTS))
        received = ledger.receive([(TABLE, body) for body in table.sent])
        assert not received.refused
        self.first = State(self._kept())
        self._before = table.sent

    def _kept(self) -> bytes:
        data = self._ledger._db.connection.serialize()  # type: ignore[attr-defined]  # of a file
        self._open = zlib.compress(data, 1)
        return self._open

    def _put(self, kept: bytes) -> None:
        if kept is self._open:
            return
        self._open = kept
        data = bytearray(zlib.decompress(kept))
        data[18:20] = b"\1\1"  # in memory there is no write-ahead log
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.deserialize(bytes(data))
            copy.backup(self._ledger._db.connection)  # type: ignore[attr-defined]  # as above

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._ledger._db.execute(query)]

    def key(self, state: State) -> tuple[object, ...]:
        """What tells this state from others."""
        self._put(state.ledger)
        steps = self._rows("SELECT seq, step, cents, by_whom, heard FROM step ORDER BY seq")
        rank = {
            seq: place for place, seq in enumerate(sorted({*(row[0] for row in steps), *dict(state.said), state.last}))
        }
        return (
            *self._rows("SELECT step, cents, house_cents FROM award"),
            tuple((rank[seq], *rest) for seq, *rest in steps),
            tuple(self._rows("SELECT step, cents, by_whom, recalled_by, dismissed_by FROM telling ORDER BY event")),
            tuple(self._ledger._decisions.verifiers(1)),
            tuple((rank[seq], told) for seq, told in state.said),
            rank[state.last],
            *state[3:],
        )

    def step_of(self, state: State) -> str:
        """The award's step in the ledger."""
        self._put(state.ledger)
        return str(self._rows("SELECT step FROM award")[0][0])

    def findings(self, state: State) -> tuple[str, ...]:
        """What is wrong with the ledger's books."""
        self._put(state.ledger)
        return self._ledger.account().findings

    def is_over(self, state: State) -> bool:
        """Whether the award is paid or rejected, and the table told it."""
        step = self.step_of(state)
        waits = self._rows("SELECT 1 FROM step WHERE heard = 0") or self._ledger._awards.named(AWARD).held
        return step in ("paid", "rejected") and not waits and state.sent == len(state.told)

    def broken(self, state: State) -> str | None:
        """The rule that does not hold in this state; None where all hold."""
        twice, lost, books, _ = RULES
        if state.cash > 1 + state.unknown:
            return twice
        if state.cash and not state.restored and self.step_of(state) != "paid":
            return lost
        return books if self.findings(state) else None

    def steps(self, state: State) -> Iterator[tuple[str, bool, State]]:
        """What can happen now, whether it happens of itself, and the world after it. Raises BrokenError."""
        yield from self._at_the_desk(state)
        self._put(state.ledger)
        due = self._ledger.next_steps([TABLE]).get(TABLE)
        if due is not None and (said := (due.seq, _of(due))) not in state.said[-1:]:
            yield "the pit says the step that is due", True, state._replace(said=(*state.said, said)[-_SAID:])
        for place, (seq, told) in enumerate(state.said):
            if seq > state.last and len(state.told) - state.sent < _PENDING:
                after = state._replace(last=seq, told=(*state.told, told))
                yield f"the table takes {told}", place + 1 == len(state.said), after
        if state.sent < len(state.told):
            self._put(state.ledger)
            self._receive(state.told[state.sent])
            yield "the table's event comes to the pit", True, state._replace(ledger=self._kept(), sent=state.sent + 1)
        if self._restores and not state.restored:
            unknown = state.cash if all(told.step != "paid" for told in state.told) else 0
            older = state._replace(ledger=self.first.ledger, sent=0, restored=True, unknown=unknown)
            yield "the ledger becomes the copy from before anybody decided", False, older

    def _at_the_desk(self, state: State) -> Iterator[tuple[str, bool, State]]:
        if state.sent < len(state.told) and state.restored:
            return  # nobody decides before the table is heard to its head (tests/pit/test_decisions.py)
        for what, act in (
            *((f"{by} verifies", ("take", "verified", by)) for by in ("ann", "bob")),
            *((f"{by} pays", ("take", "paid", by)) for by in ("ann", "bob")),
            ("ann and bob reject", ("take", "rejected", "ann", "bob")),
            ("ann and bob recall", ("recall", "ann", "bob")),
        ):
            self._put(state.ledger)
            verified_by = {row[0] for row in self._rows("SELECT by_whom FROM step WHERE step = 'verified'")}
            was = self.step_of(state)
            try:
                with self._ledger._db.transaction():
                    done = getattr(self._ledger._awards, act[0])(AWARD, *act[1:])
            except TableError:
                continue  # nothing was written
            self._open = b""
            pays = act[0] == "take" and done.step == "paid"
            if pays and (act[2] in verified_by or was != "verified"):
                raise BrokenError(RULES[3])
            yield what, True, state._replace(ledger=self._kept(), cash=state.cash + pays)

    def _receive(self, told: Told) -> None:
        """The table's next event, which tells of a step, comes to the pit."""
        ack = self._ledger.ack(TABLE)
        assert ack is not None
        table = TableEvening(TABLE)
        table.sent = [b""] * ack.seq
        table.round = 1
        body = table.say("award", award=AWARD, hit=self._hit["id"], spot="royal9", seat=1, tier="suited", meter=None,
                         step=told.step, cents=told.cents, by=told.by)  # fmt: skip
        self._open = b""
        received = self._ledger.receive([(TABLE, body)])
        assert not received.refused, received.refused


def _of(step: AwardStep) -> Told:
    return Told(step.step, step.cents, step.by)


RULES = (
    "an award is paid twice",
    "a paid award is not paid in the ledger",
    "the books do not balance",
    "one person alone verifies and pays, or pays what nobody verified",
)
"""What never happens. An award that was paid while its table heard nothing of it can be paid again from an older copy
of the ledger: that limit is known, and the world counts it apart. Nobody forges here, so nobody dismisses what the
table told: two people who do that lie."""


class Found(NamedTuple):
    """How many states there are, how many steps lead to the last, and what is broken, with the way there."""

    states: int
    depth: int
    broken: str | None = None
    way: tuple[str, ...] = ()


DEAD_END = "from here nothing that happens of itself leads to the end of the award"
_State = TypeVar("_State")


class Explored(Protocol[_State]):
    """A world of states: how it begins, and what its methods say as those of `World` do."""

    first: _State

    def key(self, state: _State) -> object: ...
    def broken(self, state: _State) -> str | None: ...
    def is_over(self, state: _State) -> bool: ...
    def steps(self, state: _State) -> Iterator[tuple[str, bool, _State]]: ...


def explore(world: Explored[_State], most: int = 50_000, dead_end: str = DEAD_END) -> Found:
    """Every state, the nearest first."""
    states: list[_State] = [world.first]
    numbers = {world.key(world.first): 0}
    came: list[tuple[int, str]] = [(0, "")]
    depth, before, good = [0], [[]], []  # type: ignore[var-annotated]
    open_ = deque([0])

    def way(at: int) -> tuple[str, ...]:
        steps = []
        while at:
            steps.append(came[at][1])
            at = came[at][0]
        return tuple(reversed(steps))

    while open_:
        number = open_.popleft()
        state = states[number]
        if (rule := world.broken(state)) is not None:
            return Found(len(states), max(depth), rule, way(number))
        if world.is_over(state):
            good.append(number)
        try:
            for name, calm, after in world.steps(state):
                known = numbers.setdefault(world.key(after), len(states))
                if known == len(states):
                    states.append(after)
                    came.append((number, name))
                    depth.append(depth[number] + 1)
                    before.append([])
                    open_.append(known)
                if calm:
                    before[known].append(number)
        except BrokenError as error:
            return Found(len(states), max(depth), str(error), way(number))
        assert len(states) <= most, "the world is larger than was allowed"
    alive = {*good}
    open_.extend(good)
    while open_:
        for earlier in before[open_.popleft()]:
            if earlier not in alive:
                alive.add(earlier)
                open_.append(earlier)
    dead = next((number for number in range(len(states)) if number not in alive), None)
    return Found(len(states), max(depth)) if dead is None else Found(len(states), max(depth), dead_end, way(dead))


def fresh(at: Path) -> Ledger:
    """A ledger in which one table is adopted."""
    from tests.pit.test_meters import opened

    ledger = opened(at)
    assert ledger.ack(TABLE) is not None, EPOCH
    return ledger
