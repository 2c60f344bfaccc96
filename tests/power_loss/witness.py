"""Finds out what the table told or showed while the daemon was recorded. After a power cut, the journal must hold at
least the rows from which the table told it.

An event on its way to the broker promises its own row. A published state, an answer on the control socket and a lit
lamp promise the first row after which the table looks as they show it. Such a row is never before a row that the same
thread of the daemon promised earlier. The answer to a supervisor's act promises the fact in that supervisor's name.
Only lamps whose steady light has one meaning are read: the outcome lamps and the guidance lamps.
"""

from __future__ import annotations

import json
import tomllib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from controller.contract.face.table import Public
from controller.contract.keys import load_or_make_key
from controller.daemon.config import load
from controller.daemon.record.journal_reading import read_rows, verify
from controller.table.public import public
from controller.table.rules import TableRules
from controller.table.states import Table
from controller.table.step import step
from tests.power_loss.disk import FOLDER, JOURNAL, KEY
from tests.power_loss.life import SUPERVISOR
from tests.power_loss.recording import CLOSED, LIT, SAID, Note

_CONNECT, _PUBLISH = 1, 3  # MQTT packet types
_OF_A_STATE = ("phase", "shoe", "round", "fault")


@dataclass(frozen=True)
class Truth:
    """The journal that the recorded daemon left, read row by row. In the lists `heads` and `faces`, entry `[n]` is the
    value after row n, and `[0]` is the value before the first row."""

    rules: TableRules
    table_id: str
    epoch: str
    public_key: bytes
    heads: list[bytes]
    faces: list[Public]
    row_of_seq: list[int]  # [0] is no event's
    supervised: list[int]  # the rows of facts in the supervisor's name
    lamps: dict[int, tuple[str, int]]  # by BCM number: its name, and the level at which it burns


def read_truth(folder: Path) -> Truth:
    """Read the journal of a finished recording, row by row."""
    config = load(folder / "daemon.toml")
    journal, table = folder / FOLDER / JOURNAL, Table(config.rules)
    good = verify(journal)
    heads, faces, row_of_seq, supervised = [], [public(table)], [0], []
    for row in read_rows(journal):
        table, _ = step(table, row.fact)
        heads.append(row.previous_head)
        faces.append(public(table))
        row_of_seq += [row.number] * len(row.messages)
        if getattr(row.fact, "by", None) == SUPERVISOR:
            supervised.append(row.number)
    lamps = tomllib.loads((folder / "daemon.toml").read_text("utf-8"))["pins"]["lamps"]
    return Truth(
        config.rules,
        good.table,
        good.epoch,
        load_or_make_key(folder / FOLDER / KEY).public,
        [*heads, good.head],
        faces,
        row_of_seq,
        supervised,
        {wired["bcm"]: (name, int(wired["active"] == "high")) for name, wired in lamps.items()},
    )


@dataclass(frozen=True, slots=True)
class Promised:
    """The last journal row and the last start of the daemon that anybody outside the table knows of, and the message by
    which the row became known (`by`)."""

    row: int = 0
    boot: int = 0
    by: str = "nothing"


class Witness:
    """An observer that reads the notes of a recording, one after another. `promised` is the last journal row and the
    last start of the daemon that the observer has learned of. If the daemon sends a message that was never true, an
    assertion fails."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._rows_by_look: dict[Hashable, list[int]] = defaultdict(list)
        for row, face in enumerate(truth.faces):
            for look in (_face(to_builtins(face)), _state(face), *(("lamp", lamp) for lamp in _lit(face))):
                self._rows_by_look[look].append(row)
        self._said: dict[tuple[int, int], bytes] = {}
        self._acts_answered = 0
        # What goes to the broker is written by a thread of its own, perhaps after a lamp that was lit later.
        self._promised_by: dict[tuple[int, str], int] = {}  # the last row that a process's thread has promised
        self._thread = (0, "table")
        self.promised = Promised()
        self.heard: Counter[str] = Counter()
        self.events: set[int] = set()

    def take(self, note: Note) -> None:
        """Read one more note of the recording, and learn what the daemon told or showed by it."""
        channel = note.process, note.handle
        if note.kind == CLOSED:
            self._said.pop(channel, None)
        elif note.kind == LIT:
            lamp, burning = self._truth.lamps.get(note.handle, ("", -1))
            if note.number == burning and lamp in _STEADY_LAMPS:
                self._hear(note, "table")
                self._saw(("lamp", lamp), "lamp")
        elif note.kind == SAID:
            said = self._said.get(channel, b"") + note.data
            if said[0] == ord("{"):
                self._hear(note, "table")
                *lines, said = said.split(b"\n")
                for line in lines:
                    self._answer(json.loads(line))
            elif said[0] >> 4 == _CONNECT or channel in self._said:
                self._hear(note, "broker")
                said = self._packets(said)
            else:
                return  # a byte that only wakes another thread
            self._said[channel] = said

    def _hear(self, note: Note, thread: str) -> None:
        """Record which thread of the daemon wrote this note. What a thread tells is never older than the journal row
        that was promised before the thread's first note."""
        self._thread = note.process, thread
        self._promised_by.setdefault(self._thread, self.promised.row)

    def _packets(self, said: bytes) -> bytes:
        """Read the complete MQTT packets at the start of `said`, and return the bytes that remain."""
        while (size := _packet_size(said)) is not None and size <= len(said):
            packet, said = said[:size], said[size:]
            if packet[0] >> 4 == _PUBLISH:
                message = json.loads(packet[packet.index(b'{"') :])
                if "seq" in message:
                    self.events.add(message["seq"])
                    self._promise(self._truth.row_of_seq[message["seq"]], f"event {message['seq']}", "event")
                elif message["online"]:
                    self._booted(message["boot"])
                    self._saw(tuple(message[key] for key in _OF_A_STATE), "state")
        return said

    def _answer(self, answer: dict[str, Any]) -> None:
        assert answer["ok"], f"the recorded life should hold no refusal: {answer}"
        if "status" in answer:
            self._booted(answer["status"]["journal"]["boot"])
            self._saw(_face(answer["status"]["face"]), "status")
        else:
            self._acts_answered += 1
            row = self._truth.supervised[self._acts_answered - 1]
            self._promise(row, f"{SUPERVISOR}'s act {self._acts_answered}", "act")

    def _saw(self, look: Hashable, kind: str) -> None:
        rows, promised = self._rows_by_look[look], self._promised_by[self._thread]
        place = bisect_left(rows, promised)
        assert place < len(rows), f"after row {promised} was promised, the table showed what it never was then: {look}"
        self._promise(rows[place], f"a {kind} that shows row {rows[place]}", kind)

    def _promise(self, row: int, what: str, kind: str) -> None:
        self.heard[kind] += 1
        self._promised_by[self._thread] = max(row, self._promised_by[self._thread])
        if row > self.promised.row:
            self.promised = replace(self.promised, row=row, by=what)

    def _booted(self, boot: int) -> None:
        if boot > self.promised.boot:
            self.promised = replace(self.promised, boot=boot)


_STEADY_LAMPS = ("player", "banker", "tie", "draw_player", "draw_banker")


def _lit(face: Public) -> set[str]:
    """Return the names of the lamps that are lit steadily: the lamp of the last outcome, and the lamp of the hand that
    gets the next card. Before and during a burn the lamps of both hands are lit."""
    lit = {face.outcome} if face.outcome else set()
    if face.phase in ("first_card_due", "burning"):
        return lit | {"draw_player", "draw_banker"}
    return lit | ({f"draw_{face.next_hand}"} if face.next_hand else set())


def _face(face: dict[str, Any]) -> Hashable:
    return json.dumps(face, sort_keys=True)


def _state(face: Public) -> Hashable:
    return face.phase, face.shoe, face.round, face.fault.code if face.fault else None


def _packet_size(said: bytes) -> int | None:
    """Return the size of the whole first MQTT packet in `said`, or None if too few bytes have come. The packet gives
    its size after its first byte, with seven bits of the number in each byte."""
    size = 0
    for place, byte in enumerate(said[1:5]):
        size |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return 2 + place + size
    return None
