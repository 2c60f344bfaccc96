"""A model that explores every way of one award through the reference pit's own ledger: what the pit's people decide,
and which messages the table gets.

The pit is the product's own `Ledger`, with its books, over a database in memory. Each step begins with a copy of that
database. The table follows the contract's rule: it accepts a step of an award whose number is above the last, and
reports the step in its stream of events. If the table has reported no step of that amount, it may dispute the amount.
Then it accepts only a rejection, until two of its people accept the amount. Its stream begins with the hit (the winning
wager). A message to the table may come late, twice or never. An event of the stream may come in order, too early, or
again. The pit's program may end after each step, because a step is one transaction. Then the table hears nothing of the
step until the pit repeats it. Once, the ledger is replaced by an older copy, from before the hit or from before anybody
decided. Then the table's stream is sent to it again. The cash that people paid is counted outside of the ledger.

A state is a value. Numbers of steps are replaced by their ranks, and the pit's clock is later than each number that was
ever given. `steps` yields what can follow a state, and whether a step is a misfortune, such as a lost message. From
each state, steps without a misfortune must lead to an end.
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
from unittest import mock

from controller.basics.errors import TableError
from controller.contract.pit_words import AwardStep
from controller.pit.reference import clock
from controller.pit.reference.ledger import Ledger
from tests.model.world import BrokenError
from tests.pit.evening import EPOCH, TableEvening

TABLE = "t-0"
AWARD = f"{TABLE}.1"
CENTS = 5_000
_BEFORE_THE_HIT = 2  # events: the wagers are locked, and the round is over
_SAID = 3  # messages that may still come to the table
_PENDING = 2  # events that may wait for the pit
_DISPUTED = "disputed"


class Told(NamedTuple):
    """The content of an event that the model's table sends: the winning wager, a step of its award, or a dispute of the
    award's amount."""

    what: str
    cents: int = CENTS
    by: str = ""


_HIT = Told("hit")


class Rows(NamedTuple):
    """The content of a pit's ledger in the model, as a value. `acked` is the number up to which the table's events are
    acknowledged. `tellings` are award steps that the table reported and that the ledger does not have. `verifiers` are
    the people who verified the award. `findings` says what is wrong with the ledger's accounts."""

    acked: int
    events: tuple[str, ...]
    awards: tuple[tuple[str, str, int, int], ...]
    steps: tuple[tuple[int, str, int, str, int], ...]
    tellings: tuple[tuple[object, ...], ...]
    verifiers: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def step(self) -> str:
        """The step that the award has reached, such as "paid", or "" if there is no award yet."""
        return self.awards[0][1] if self.awards else ""


class State(NamedTuple):
    """The state of the model at one moment. `said` are the pit's messages that may still arrive at the table. `last` is
    the number of the last message that the table accepted. `disputes` is the message whose amount the table does not
    believe. `told` are all events that the table has reported. `cash` counts payments of the award. `unknown` counts
    those payments that the table had not reported when the ledger was lost."""

    ledger: Rows
    said: tuple[tuple[int, Told], ...] = ()
    last: int = 0
    disputes: tuple[int, Told] | None = None
    told: tuple[Told, ...] = (_HIT,)
    cash: int = 0
    unknown: int = 0
    restored: bool = False

    @property
    def sent(self) -> int:
        """The number of the table's events in `told` that the ledger has received."""
        return self.ledger.acked - _BEFORE_THE_HIT

    @property
    def waits(self) -> int:
        """The number of the table's events in `told` that the ledger has not received yet."""
        return len(self.told) - self.sent

    @property
    def believed(self) -> bool:
        """True if the table has reported a step of the award, because then the table believes the award's amount."""
        return any(told.what not in (_HIT.what, _DISPUTED) for told in self.told)

    def numbers(self) -> set[int]:
        """Return every step number that occurs in the ledger, at the table or in a message under way."""
        disputed = () if self.disputes is None else (self.disputes[0],)
        return {*(row[0] for row in self.ledger.steps), *(seq for seq, _ in self.said), self.last, *disputed}


class World:
    """A model world in which one award goes every possible way. `restores` says whether the ledger may be replaced by
    an older copy. `change` patches the ledger, to plant a defect."""

    def __init__(self, ledger: Ledger, restores: bool, change: Callable[[Ledger], None] = lambda _: None) -> None:
        self._ledger = ledger
        self._restores = restores
        change(ledger)
        self._database: sqlite3.Connection = ledger._db.connection  # type: ignore[attr-defined]  # of a file
        self._database.execute("PRAGMA journal_mode = MEMORY")
        self._copies: dict[Rows, bytes] = {}
        self._open: Rows | None = None
        self._done: dict[tuple[object, ...], Rows | None] = {}
        self._due: dict[Rows, tuple[int, Told] | None] = {}
        self._began_ms = clock.now_in_ms()
        table = TableEvening(TABLE)
        table.lock(1)
        table.finish((1, "suited"))
        self._hit: dict[str, Any] = json.loads(table.hit(1, "suited", CENTS))
        received = ledger.receive([(TABLE, body) for body in table.sent[:_BEFORE_THE_HIT]])
        assert not received.refused
        self.first = State(self._kept())

    def key(self, state: State) -> tuple[object, ...]:
        """Return a key that is equal for states between which the rules see no difference. In the key, the numbers of
        steps are replaced by their ranks."""
        rank = {seq: place for place, seq in enumerate(sorted(state.numbers()))}
        return (
            state.ledger._replace(steps=tuple((rank[seq], *rest) for seq, *rest in state.ledger.steps)),  # type: ignore[misc]
            tuple((rank[seq], told) for seq, told in state.said),
            rank[state.last],
            state.disputes and (rank[state.disputes[0]], state.disputes[1]),
            *state[4:],
        )

    def is_over(self, state: State) -> bool:
        """Return True if the award is paid or rejected, and the ledger has received the table's report of that."""
        step = state.ledger.step
        return step in ("paid", "rejected") and state.told[-1].what == step and not state.waits

    def broken(self, state: State) -> str | None:
        """Return the rule that this state breaks, or None if all rules hold."""
        ledger = state.ledger
        hits = [self._hit["id"]] * (ledger.acked > _BEFORE_THE_HIT)
        if [row[0] for row in ledger.awards] != hits or ledger.events.count("hit pit") != len(hits):
            return ONE_FOR_EACH_HIT
        if state.cash > 1 + state.unknown:
            return PAID_TWICE
        if state.cash and not state.restored and ledger.step != "paid":
            return LOST
        return BOOKS if ledger.findings else None

    def steps(self, state: State) -> Iterator[tuple[str, bool, State]]:
        """Yield everything that can happen next in this state: its name, whether it happens without a misfortune, and
        the state after it. Raises BrokenError if a step breaks a rule."""
        yield from self._at_the_desk(state)
        due = self._is_due(state.ledger)
        if due is not None and due not in state.said[-1:]:
            yield "the pit says the step that is due", True, state._replace(said=(*state.said, due)[-_SAID:])
        if state.waits < _PENDING:
            yield from self._at_the_table(state)
        for place, told in enumerate(state.told):
            after = self._after(state, ("receive", place, told))
            assert after is not None
            again = " again" if place < state.sent else ""
            yield f"{told} comes to the pit{again}", place == state.sent, state._replace(ledger=after)
        if self._restores and not state.restored:
            yield from self._restored(state)

    def _at_the_desk(self, state: State) -> Iterator[tuple[str, bool, State]]:
        if state.waits and state.restored:
            return  # nobody decides before the table is heard to its head (tests/pit/test_decisions.py)
        verified_by = {by for _, step, _, by, _ in state.ledger.steps if step == "verified"}
        is_disputed = state.sent and state.told[state.sent - 1].what == _DISPUTED
        for what, act in (
            *((f"{by} verifies", ("take", "verified", by)) for by in ("ann", "bob")),
            *((f"{by} pays", ("take", "paid", by)) for by in ("ann", "bob")),
            ("ann and bob reject", ("take", "rejected", "ann", "bob")),
            ("ann and bob recall", ("recall", "ann", "bob")),
        ):
            after = self._after(state, act)
            if after is None:
                continue  # nothing was written
            pays = act[:2] == ("take", "paid")
            if pays and (act[2] in verified_by or state.ledger.step != "verified"):
                raise BrokenError(ALONE)
            if is_disputed and act[0] == "take" and act[1] != "rejected":
                raise BrokenError(WHILE_DISPUTED)
            yield what, True, state._replace(ledger=after, cash=state.cash + pays)

    def _at_the_table(self, state: State) -> Iterator[tuple[str, bool, State]]:
        for place, (seq, told) in enumerate(state.said):
            if seq <= state.last:
                continue
            calm = place + 1 == len(state.said)
            if told.what == "rejected" or state.believed or state.disputes is None:
                after = state._replace(last=seq, disputes=None, told=(*state.told, told))
                yield f"the table takes {told}", calm, after
            if told.what != "rejected" and not state.believed and state.disputes is None:
                after = state._replace(disputes=(seq, told), told=(*state.told, Told(_DISPUTED)))
                yield f"the table disputes {told}", False, after
        if state.disputes is not None:
            seq, told = state.disputes
            after = state._replace(last=max(seq, state.last), disputes=None, told=(*state.told, told))
            yield f"two people at the table accept {told}", True, after

    def _restored(self, state: State) -> Iterator[tuple[str, bool, State]]:
        unknown = state.cash if all(told.what != "paid" for told in state.told) else 0
        of_the_hit = self._after(self.first, ("receive", 0, _HIT))
        assert of_the_hit is not None
        for when, older in (("the hit", self.first.ledger), ("anybody decided", of_the_hit)):
            if state.ledger.acked > older.acked or state.ledger.step not in ("", "pending"):
                after = state._replace(ledger=older, restored=True, unknown=unknown)
                yield f"the ledger becomes the copy from before {when}", False, after

    def _after(self, state: State, act: tuple[Any, ...]) -> Rows | None:
        """Return the content of the ledger after this act, or None if the ledger refuses the act. Results are cached,
        because the same act on the same ledger is needed often."""
        now_ms = max(self._began_ms, *state.numbers()) + 1
        done = state.ledger, now_ms, act
        if done not in self._done:
            self._put(state.ledger)
            written = self._database.total_changes
            with mock.patch.object(clock, "_now_ms", return_value=now_ms):
                was_done = self._do(*act)
            kept = state.ledger if self._database.total_changes == written else self._kept()
            self._done[done] = kept if was_done else None
        return self._done[done]

    def _do(self, act: str, *told: Any) -> bool:
        """Do this act, such as "take" (an award's step) or "receive" (an event), on the opened ledger. Return False if
        the ledger refuses it."""
        if act == "receive":
            received = self._ledger.receive([(TABLE, self._event(*told))])
            assert not received.refused, received.refused
            return True
        try:
            with self._ledger._db.transaction():
                getattr(self._ledger._awards, act)(AWARD, *told)
        except TableError:
            return False
        return True

    def _event(self, place: int, told: Told) -> bytes:
        """Return the bytes of an event of the table with this content. `place` is the event's position after the hit
        (the winning wager): the hit has 0, the next event 1."""
        table = TableEvening(TABLE)
        table.sent, table.round = [b""] * (_BEFORE_THE_HIT + place), 1
        hit = self._hit["id"]
        match told.what:
            case _HIT.what:
                return table.hit(1, "suited", told.cents)
            case "disputed":
                return table.say("alarm", code="award_impossible", details={"hit": hit, "cents": told.cents})
            case step:
                return table.say("award", award=AWARD, hit=hit, spot="royal9", seat=1, tier="suited", meter=None,
                                 step=step, cents=told.cents, by=told.by)  # fmt: skip

    def _is_due(self, rows: Rows) -> tuple[int, Told] | None:
        """Return the number and the content of the award's step that a pit with this ledger would now send to the
        table, or None if it would send nothing."""
        if rows not in self._due:
            self._put(rows)
            due = self._ledger.next_steps([TABLE]).get(TABLE)
            self._due[rows] = None if due is None else (due.seq, _of(due))
        return self._due[rows]

    def _kept(self) -> Rows:
        """Return the content of the open ledger as a value. Keep a copy of its database, so that `_put` can load that
        content later."""
        ack = self._ledger.ack(TABLE)
        assert ack is not None
        rows = Rows(
            ack.seq,
            tuple(_told(json.loads(body)) for (body,) in self._rows("SELECT body FROM event ORDER BY number")),
            self._rows("SELECT hit, step, cents, house_cents FROM award ORDER BY number"),
            self._rows("SELECT seq, step, cents, by_whom, heard FROM step ORDER BY seq"),
            self._rows("SELECT step, cents, by_whom, recalled_by, dismissed_by FROM telling ORDER BY event"),
            tuple(sorted(self._ledger._decisions.verifiers(1))),
            self._ledger.account().findings,
        )
        self._open = rows
        if rows not in self._copies:
            self._copies[rows] = zlib.compress(self._database.serialize(), 1)
        return rows

    def _put(self, rows: Rows) -> None:
        """Replace the database of the open ledger by the kept copy that has this content."""
        if rows == self._open:
            return
        data = bytearray(zlib.decompress(self._copies[rows]))
        data[18:20] = b"\1\1"  # in memory there is no write-ahead log
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.deserialize(bytes(data))
            copy.backup(self._database)
        self._open = rows

    def _rows(self, query: str) -> tuple[Any, ...]:
        return tuple(tuple(row) for row in self._ledger._db.execute(query))


def _of(step: AwardStep) -> Told:
    return Told(step.step, step.cents, step.by)


def _told(event: dict[str, Any]) -> str:
    return f"{event.get('step', event['type'])} {event.get('by', 'pit')}"


ONE_FOR_EACH_HIT = "an award has no hit in the ledger, or a hit has no award or more than one"
PAID_TWICE = "an award is paid twice"
LOST = "a paid award is not paid in the ledger"
BOOKS = "the books do not balance"
ALONE = "one person alone verifies and pays, or pays what nobody verified"
WHILE_DISPUTED = "an award whose amount its table disputes is verified or paid before two people accepted the amount"
RULES = (ONE_FOR_EACH_HIT, PAID_TWICE, LOST, BOOKS, ALONE, WHILE_DISPUTED)
"""What never happens. An award that was paid while its table heard nothing of it can be paid again from an older copy
of the ledger: that limit is known, and the world counts it apart. Nobody forges here, so nobody dismisses what the
table told: two people who do that lie."""


class Found(NamedTuple):
    """The result of exploring a model: the number of states, and the number of steps to the farthest state. If a rule
    is broken, `broken` names the rule, and `way` has the steps that lead to it."""

    states: int
    depth: int
    broken: str | None = None
    way: tuple[str, ...] = ()


DEAD_END = "from here nothing that happens of itself leads to the end of the award"
_State = TypeVar("_State")


class Explored(Protocol[_State]):
    """The interface of a model that the function `explore` can explore. It gives the first state, a key for each state,
    the rule that a state breaks (None if it breaks none), whether a state is an end, and the steps that can follow a
    state."""

    first: _State

    def key(self, state: _State) -> object: ...
    def broken(self, state: _State) -> str | None: ...
    def is_over(self, state: _State) -> bool: ...
    def steps(self, state: _State) -> Iterator[tuple[str, bool, _State]]: ...


def explore(world: Explored[_State], most: int = 200_000, dead_end: str = DEAD_END) -> Found:
    """Explore every state that the model can reach, the nearest first, and return the result. The exploration stops at
    the first broken rule. `most` is the largest number of states that is allowed. `dead_end` is the name of a rule:
    from every state, steps without a misfortune must lead to an end."""
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
    """Make a pit's ledger in the new file `at`, and adopt one table in it."""
    from tests.pit.test_meters import opened

    ledger = opened(at)
    assert ledger.ack(TABLE) is not None, EPOCH
    return ledger
