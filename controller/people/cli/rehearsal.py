"""The rehearsal of an update. Before a new version of the program replaces the running one, the new version must
compute the events of this table's past again, from the facts in the journal and its archives. An event that differs
stops the update.

Two programs talk by pipes. The running version's program reads the journal, under the table's account, and compares the
events. The new version's program (`tablectl rehearse`) receives one fact per line and answers with the events that
follow from it. The new version runs under an account that can read neither journal, archives nor keys, and can write
nothing of the table.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryFile
from typing import IO, Annotated, Any, BinaryIO, Literal

import msgspec
from msgspec import Meta, Struct

from controller import __version__
from controller.basics.errors import TableError
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import Stamp, seal
from controller.daemon.clock import monotonic_s
from controller.daemon.record.fact_json import fact_from_json
from controller.daemon.record.journal_reading import read_latest, read_origin
from controller.daemon.record.journal_rows import Row
from controller.daemon.record.replay import refold, with_failures
from controller.table.facts import ShoeOpened
from controller.table.states import NoShoe, ShoeEnded, Table
from controller.words.events import counted, event_sentence

CHANGED = Path(__file__).parents[2] / "contract" / "changed.toml"
LATEST_ROWS = 60_000
"""So many rows are rehearsed before a switch, some eighty shoes: a minute or two on a Pi. A person rehearses all."""
_ANSWER_S = 60.0
"""A Pi folds a row in a millisecond, and needs some seconds to begin."""
_BEFORE_A_SWITCH_S = 1800.0
"""The whole rehearsal of the latest rows takes no longer. A person who rehearses all may wait, or end it."""

_Name = Annotated[str, Meta(pattern="^[a-z][a-z_0-9]*$")]


class Changed(Struct, frozen=True, forbid_unknown_fields=True):
    """One change of events that the release notes of a version declare. The change is of one of two kinds. If `field`
    is set, events of the types `events` may differ from those of earlier versions in this field (`settlement.totals` is
    the field `totals` inside `settlement`). If `told` is set, this version makes new events of these types ("added"),
    or makes them no longer ("removed")."""

    version: Annotated[str, Meta(pattern=r"^\d+\.\d+\.\d+$")]
    events: Annotated[tuple[_Name, ...], Meta(min_length=1)]
    reason: Annotated[str, Meta(min_length=20)]
    field: Annotated[str, Meta(pattern=r"^[a-z][a-z_0-9]*(\.[a-z][a-z_0-9]*)*$")] | None = None
    told: Literal["added", "removed"] | None = None

    def __post_init__(self) -> None:
        if (self.field is None) == (self.told is None):
            raise ValueError("a declared change names one field, or says that events are added or removed")
        if self.field in _PLACE:
            raise ValueError(f"{self.field} says which event it is, and cannot be declared as changed")


_PLACE = ("type", "id", "table", "epoch", "seq", "chain", "shoe", "round")


class _Declared(Struct, frozen=True, forbid_unknown_fields=True):
    changed: tuple[Changed, ...]


class Hello(Struct, frozen=True):
    """The first line that the new version sends in the rehearsal of an update: its version number, and the changes of
    events that its release notes declare."""

    version: str
    changed: tuple[Changed, ...]


class Asked(Struct, frozen=True):
    """One fact that the running version sends to the new version in the rehearsal of an update. The new version must
    answer with the events that follow from it. The fact comes as the journal stores it, with its place in the journal.
    `fresh` means that the fact opens a shoe, and that the new version must begin a new table with the rules in that
    fact."""

    row: int
    fact: str
    fresh: bool
    table: str
    epoch: str
    stamp: Stamp
    chain: str
    first_seq: int


class Answer(Struct, frozen=True):
    """The new version's answer to one fact in the rehearsal of an update: the events that follow from the fact. Each
    event is its JSON text without the signature."""

    row: int
    events: tuple[str, ...]


def declared(path: Path = CHANGED) -> tuple[Changed, ...]:
    """Return the changes of events that this version's release notes declare. `path` is the file in which they are.
    Raises msgspec.ValidationError."""
    return msgspec.toml.decode(path.read_text("utf-8"), type=_Declared).changed


def tell_again(asked: BinaryIO, answers: BinaryIO) -> int:
    """Play the new version's part in the rehearsal of an update: read facts from `asked`, one per line, and write the
    events that follow from each fact to `answers`. Raises TableError if this program cannot read a fact or apply it."""
    _say(answers, Hello(__version__, declared()))
    table: Table | None = None
    for line in asked:
        it = msgspec.json.decode(line, type=Asked)
        row = Row(it.row, it.stamp, fact_from_json(it.fact.encode()), (), bytes.fromhex(it.chain), it.first_seq)
        table, events = _folded(None if it.fresh else table, row, it.table, it.epoch)
        _say(answers, Answer(it.row, events))
    return 0


def _say(to: BinaryIO, message: Struct) -> None:
    to.write(msgspec.json.encode(message) + b"\n")
    to.flush()


def _folded(table: Table | None, row: Row, whose: str, epoch: str) -> tuple[Table, tuple[str, ...]]:
    if table is None:
        assert isinstance(row.fact, ShoeOpened)
        table = Table(row.fact.rules)
    table, events = refold(table, row)
    sealed = (
        seal(event, whose, epoch, seq, row.stamp, row.previous_head, None)
        for seq, event in enumerate(events, row.first_seq)
    )
    return table, tuple(body.decode() for body in sealed)


class Judge:
    """Compares the events that a new version makes from a fact with two others: the events in the journal, and the
    events that the running version makes from the same fact."""

    def __init__(self, hello: Hello) -> None:
        self.version = hello.version
        self.changed = tuple(
            each
            for each in hello.changed
            if _later(each.version, __version__) and not _later(each.version, hello.version)
        )
        self.covered: Counter[Changed] = Counter()
        """How many events differ as declared, by the declaration."""

    def differ(
        self, journalled: Sequence[str], ours: Sequence[str], made: Sequence[str]
    ) -> tuple[str | None, str | None] | None:
        """Return the first event in which the new version differs, as a pair: the event as the running version makes
        it, and the event as the new version makes it. One of the two is None if that version does not make the event.
        The result is None, without a pair, if no event differs. A change that the release notes declare is no
        difference. Events that are all as in the journal never differ.

        `journalled` are the events in the journal, `ours` the events that the running version makes, and `made` the
        events that the new version makes.
        """
        if list(made) in (list(journalled), list(ours)):
            return None
        before, now = [json.loads(body) for body in ours], [json.loads(body) for body in made]
        added = self._told("added", now, before)
        removed = self._told("removed", before, now)
        moved = ("seq", "id") if added or removed else ()
        before = [event for event in before if _type(event) not in removed]
        now = [event for event in now if _type(event) not in added]
        for old, new in zip(before, now, strict=False):
            if not self._same(old, new, moved):
                return canonical(old).decode(), canonical(new).decode()
        if len(before) != len(now):
            rest = [canonical(event).decode() for event in (before if len(before) > len(now) else now)]
            one = rest[min(len(before), len(now))]
            return (one, None) if len(before) > len(now) else (None, one)
        return None

    def _told(self, how: str, events: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> set[str]:
        types = {*map(_type, events)} - {*map(_type, others)}
        found = [each for each in self.changed if each.told == how and types & {*each.events}]
        self.covered.update(found)
        return {type_ for each in found for type_ in each.events} & types

    def _same(self, old: dict[str, Any], new: dict[str, Any], moved: Sequence[str]) -> bool:
        type_ = _type(old)
        if type_ != _type(new):
            return False
        old, new = ({name: value for name, value in event.items() if name not in moved} for event in (old, new))
        for each in self.changed:
            if each.field is not None and type_ in each.events:
                without = _without(old, each.field.split(".")), _without(new, each.field.split("."))
                self.covered[each] += canonical(old) != canonical(new) and without != (old, new)
                old, new = without
        return canonical(old) == canonical(new)


def _type(event: dict[str, Any]) -> str:
    return str(event.get("type"))


def _later(version: str, other: str) -> bool:
    one, two = ([int(part) for part in re.findall(r"\d+", each)[:3]] for each in (version, other))
    return one > two


def _without(value: Any, path: Sequence[str]) -> Any:
    """Return a copy of the JSON value without the field at `path`. If a list lies on the path, the field is removed
    from each element of the list."""
    match value:
        case list():
            return [_without(each, path) for each in value]
        case dict() if path[0] in value:
            rest = {name: each for name, each in value.items() if name != path[0]}
            return rest if len(path) == 1 else rest | {path[0]: _without(value[path[0]], path[1:])}
    return value


class _Other:
    """The connection by pipes to the new version's program in the rehearsal of an update. What the program sends is not
    trusted, and the program may be silent, so that every wait has a limit."""

    def __init__(self, answers: BinaryIO, asks: BinaryIO, most_s: float) -> None:
        self._answers, self._asks = answers, asks
        self._most_s, self._ends_s = most_s, monotonic_s() + most_s
        signal.signal(signal.SIGALRM, self._late)

    def _wait(self) -> None:
        """Start a timer that ends the wait for the new version's next line. Raises TableError `rehearsal_failed` if the
        time limit of the complete rehearsal has passed."""
        left_s = self._ends_s - monotonic_s()
        if left_s <= 0:
            raise TableError("rehearsal_failed", f"It has not told the past again within {self._most_s} s.", _DO)
        signal.setitimer(signal.ITIMER_REAL, min(_ANSWER_S, left_s))

    def _late(self, *_: object) -> None:
        if monotonic_s() >= self._ends_s:
            self._wait()
        raise TableError("rehearsal_failed", f"It gave no answer within {_ANSWER_S} s.", _DO)

    def ask(self, asked: Asked) -> None:
        self._wait()
        try:
            _say(self._asks, asked)
        except BrokenPipeError as error:
            raise TableError("rehearsal_failed", f"It ended before row {asked.row}.", _DO) from error

    def hello(self) -> Hello:
        try:
            return msgspec.json.decode(self._line("its first line"), type=Hello)
        except (msgspec.DecodeError, ValueError) as error:
            raise TableError(
                "rehearsal_failed", f"What it declares as changed cannot be taken: {error}.", _DO
            ) from error

    def answer(self, row: int) -> tuple[str, ...]:
        try:
            answer = msgspec.json.decode(self._line(f"row {row}"), type=Answer)
        except (msgspec.DecodeError, ValueError) as error:
            raise TableError("rehearsal_failed", f"Its answer to row {row} is none: {error}.", _DO) from error
        if answer.row != row:
            raise TableError("rehearsal_failed", f"It answered row {answer.row} where row {row} was asked.", _DO)
        for body in answer.events:
            event = parse_object(body.encode())
            if not isinstance(event.get("type"), str):
                raise TableError("rehearsal_failed", f"Its answer to row {row} has an event without a type.", _DO)
            if not _is_canonical(event, body):
                what = f"Its answer to row {row} has an event that is not in the canonical form."
                raise TableError("rehearsal_failed", what, _DO)
        return answer.events

    def _line(self, of: str) -> bytes:
        self._wait()
        line = self._answers.readline(_LONGEST)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not line.endswith(b"\n"):
            raise TableError("rehearsal_failed", f"It ended before it answered {of}.", _DO)
        return line


def _is_canonical(event: dict[str, object], body: str) -> bool:
    try:
        return canonical(event) == body.encode()
    except (TypeError, ValueError, RecursionError):
        return False


_LONGEST = 16 << 20
_LONGEST_SAID = 4000
_LAST_WORDS = 1000
_DO = "Send this message to whoever made that version. The version that runs goes on."


def judge(journal: Path, archives: Path, most: int | None, answers: BinaryIO, asks: BinaryIO) -> str:
    """Let the new version compute the events of the journal's past again, and compare them. Returns a sentence that
    says how many shoes and events were the same. If `most` is given, only about that many of the latest journal rows
    are used: reading begins at the first row of a shoe or of an archive. Raises TableError `told_differently` at the
    first event that differs, `rehearsal_failed`, and the errors of reading a journal."""
    other = _Other(answers, asks, inf if most is None else _BEFORE_A_SWITCH_S)
    hello = other.hello()
    judge, whose = Judge(hello), read_origin(journal)
    past = _Past(whose.table, whose.epoch)
    shoes = events = 0
    for row, raw, fresh, made_here in past.of_ended_shoes(read_latest(journal, most, archives)):
        chain = row.previous_head.hex()
        other.ask(Asked(row.number, raw, fresh, whose.table, whose.epoch, row.stamp, chain, row.first_seq))
        told = tuple(map(_unsigned, row.messages))
        if differs := judge.differ(told, made_here, other.answer(row.number)):
            raise _told_differently(hello.version, row, told, *differs)
        shoes, events = shoes + isinstance(row.fact, ShoeOpened), events + len(told)
    covered = (f" {_covered(each, count)}" for each, count in judge.covered.items() if count)
    but = " but for what is declared" if any(judge.covered.values()) else ""
    again = f"{counted(shoes, 'shoe')} with {counted(events, 'event')} told again, each event the same{but}."
    left = f" {counted(past.left_out, 'shoe')} left out from a row on that this version cannot fold."
    still_open = " The open shoe was left out." if past.ends_open else ""
    return again + (left if past.left_out else "") + still_open + "".join(covered)


class _Past:
    """The journal rows of shoes that have ended, with the events that the running version makes from them. A shoe is
    left out from the first row that the running version cannot apply. The new version never gets the cards of an open
    shoe, because some of them lie face down, the new version is not trusted, and people read its messages."""

    def __init__(self, table: str, epoch: str) -> None:
        self._whose = table, epoch
        self.left_out = 0
        """Of so many shoes this version cannot fold the rest."""
        self.ends_open = False

    def of_ended_shoes(self, rows: Iterator[tuple[bytes, Row]]) -> Iterator[tuple[Row, str, bool, tuple[str, ...]]]:
        """Yield four values for each journal row of a shoe that has ended: the row, its fact as stored, whether the
        table begins anew with the rules in that fact, and the events that the running version makes from the fact."""
        ours: Table | None = None
        facts: dict[int, str] = {}
        held: list[tuple[Row, str, bool, tuple[str, ...]]] = []
        for row, failed in with_failures(_noting(rows, facts)):
            raw, opens = facts.pop(row.number), isinstance(row.fact, ShoeOpened)
            if failed or (ours is None and not opens):
                continue
            if opens:
                yield from held
                held.clear()
            fresh = ours is None
            try:
                ours, made_here = _folded(ours, row, *self._whose)
            except TableError:  # another version believed this fact: the next shoe is folded again
                ours, self.left_out = None, self.left_out + 1
                continue
            held.append((row, raw, fresh, made_here))
            if isinstance(ours.phase, NoShoe | ShoeEnded):
                yield from held
                held.clear()
        self.ends_open = bool(held)


def _noting(rows: Iterator[tuple[bytes, Row]], facts: dict[int, str]) -> Iterator[Row]:
    for raw, row in rows:
        facts[row.number] = raw.decode()
        yield row


def _unsigned(body: bytes) -> str:
    return canonical({name: value for name, value in json.loads(body).items() if name != "signature"}).decode()


def _covered(declared: Changed, count: int) -> str:
    what = declared.field or declared.told
    return f"Version {declared.version} declares {what} of {', '.join(declared.events)} ({declared.reason}): {count}."


def _told_differently(
    version: str, row: Row, journalled: Sequence[str], old: str | None, new: str | None
) -> TableError:
    place = json.loads(old or new or "{}")
    where = f"Shoe {place.get('shoe')}, round {place.get('round')} (row {row.number} of the journal)"
    then = "the table told" if old is None or old in journalled else "the version that runs would tell"
    what = f"{where}: {then}: {_in_words(old)} Version {version} would tell: {_in_words(new)}"
    if old and new:
        one, two = json.loads(old), json.loads(new)
        fields = sorted(name for name in one | two if canonical({"": one.get(name)}) != canonical({"": two.get(name)}))
        what += f" They differ in {', '.join(fields)}."
    return TableError("told_differently", what, _DO)


def _in_words(body: str | None) -> str:
    if body is None:
        return "nothing."
    try:
        event = json.loads(body)
        return f"{_type(event)}, {event_sentence(event)}."
    except Exception:  # noqa: BLE001  # a new version may tell what this version has no words for
        return body


_JUDGE = "import sys, controller.people.cli.rehearsal as r; r.judging(*sys.argv[1:])"


def judging(journal: str, archives: str, most: str) -> None:
    """Compare the events in a rehearsal of an update, in a process of its own. Standard input and output are connected
    to the new version's program. The verdict goes to standard error as a JSON list. It holds either one sentence that
    says what was the same, or the three parts of an error (code, what happened, what to do).

    This function belongs to the running version. The program that switches versions belongs to the version before it,
    and calls this function. The function's name, its arguments and the form of the verdict are therefore an interface
    between versions.
    """
    try:
        said = [judge(Path(journal), Path(archives), int(most) or None, sys.stdin.buffer, sys.stdout.buffer)]
    except TableError as error:
        said = [error.code, error.what, error.do]
    json.dump([each[:_LONGEST_SAID] for each in said], sys.stderr)


def rehearse(
    version: Path,
    journal: Path,
    archives: Path,
    most: int | None,
    account: str | None,
    nobody: str | None,
    judge_by: str = sys.executable,
) -> str:
    """Let the program in the folder `version` compute the events of the journal's past again, and compare them.
    `account` is the user account that reads the journal and compares, with the Python interpreter `judge_by`. `nobody`
    is the user account that runs the new version. If `most` is given, only about that many of the latest journal rows
    are used: reading begins at the first row of a shoe or of an archive.

    Returns a sentence that says what was the same. Raises TableError: `told_differently`, which describes the first
    event that differs in words; `rehearsal_failed`; and the errors of reading a journal.
    """
    command = [judge_by, "-I", "-c", _JUDGE, str(journal), str(archives), str(most or 0)]
    with TemporaryFile() as words:
        with _begun(version, nobody, words) as new:
            try:
                judged = subprocess.run(
                    command, stdin=new.stdout, stdout=new.stdin, stderr=PIPE, user=account, text=True, check=False
                )
            except OSError as error:
                raise TableError("rehearsal_failed", f"{judge_by} cannot be run to judge: {error}.", _DO) from error
            finally:
                os.killpg(new.pid, signal.SIGKILL)
        from_byte = max(0, os.fstat(words.fileno()).st_size - _LAST_WORDS)
        last_words = os.pread(words.fileno(), _LAST_WORDS, from_byte).decode(errors="replace").strip()
    try:
        said = json.loads(judged.stderr)
    except ValueError:
        said = ["rehearsal_failed", f"The judge of the rehearsal failed: {judged.stderr.strip()[-_LAST_WORDS:]}", _DO]
    match said:
        case [str(good)]:
            return good
        case [code, what, do]:
            raise TableError(code, f"{what} Its last words: {last_words}" if last_words else what, do)
    raise AssertionError(said)


def _begun(version: Path, nobody: str | None, words: IO[bytes]) -> subprocess.Popen[bytes]:
    as_nobody: dict[str, Any] = {} if nobody is None else {"user": nobody, "group": "nogroup", "extra_groups": []}
    asked = [str(version.absolute() / "bin" / "tablectl"), "rehearse"]
    try:
        return subprocess.Popen(
            asked, stdin=PIPE, stdout=PIPE, stderr=words, cwd="/", start_new_session=True, **as_nobody
        )
    except OSError as error:
        what = f"{asked[0]} cannot be run as {nobody or 'this account'}: {error}."
        do = "Lay it where every account may read it, such as /opt."
        raise TableError("rehearsal_failed", what, do) from error
