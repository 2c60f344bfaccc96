"""Compares a table's journal with the pit's log of the table's events. The log is a witness, because nobody at the
table can change it.

The log is a file with one event in JSON on each line, beginning with the first event of the journal. White space and
the order of keys do not matter, because the canonical form of each event was signed, and the canonical forms are
compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.keys import signature_holds
from controller.daemon.record.journal_reading import Spoken, reading_messages
from controller.daemon.record.journal_rows import Message

_ASK_THE_PIT = "Have the pit write its log again. If the new log is like this one, examine the pit's own ledger."
_KEEP_IT = "Keep the journal and the log for the audit, and find out who could write to the journal's disk."


class _Line(Struct, frozen=True):
    """One event of the pit's log: the number of its line, its fields, and its canonical bytes."""

    number: int
    event: dict[str, Any]
    body: bytes


def compare(journal: Path, log: Path, archive: Path | None = None) -> int:
    """Check that the journal holds every event of the pit's log, exactly as the log has it. Return the number of the
    last event in the log.

    The files are only read, and the table may run meanwhile. Raises TableError about the log: `log_unreadable`,
    `log_empty`, `log_unsound`, `log_of_another_journal`; about the journal: `journal_lacks_event`,
    `journal_shorter_than_log`, `journal_differs_from_log`; and if the journal or its archives cannot be read. An event
    of the log counts against the journal only if the event's signature is valid. `archive` is the folder with the
    journal's archives; with None they are looked for where the journal says that they are, or beside the journal.
    """
    seq = 0
    with reading_messages(journal, archive) as spoken:
        lines = _lines(log, spoken)
        for seq, line in enumerate(lines, 1):
            message = next(spoken.messages, None)
            if message is None:
                _check_signature(line, log, spoken)
                raise _shorter(journal, seq - 1, _last_seq(seq, lines, log, spoken))
            if message.seq != seq or message.body != line.body:
                _check_signature(line, log, spoken)
                raise _lacking(journal, seq, message.seq) if message.seq != seq else _differing(journal, line, message)
    if seq == 0:
        raise TableError("log_empty", f"The log {log} holds no event, so it proves nothing.", _ASK_THE_PIT)
    return seq


def _lines(log: Path, spoken: Spoken) -> Iterator[_Line]:
    """Yield the events of the log, parsed. Raises TableError if an event belongs to another journal than `spoken`, or
    if its number is not one more than the number of the event before it."""
    for seq, (number, text) in enumerate(_texts(log), 1):
        line = _parsed(number, text)
        if line is None:
            raise _unsound(log, number, "it is not a whole event in JSON")
        told = tuple(line.event.get(name) for name in ("table", "epoch"))
        if told != (spoken.table, spoken.epoch):
            raise TableError(
                "log_of_another_journal",
                f"Line {number} of the log {log} is of {_shown(told[0])}, epoch {_shown(told[1])}; "
                f"the journal is {spoken.table}'s, epoch {spoken.epoch}.",
                "Give the log of this table and this epoch alone. A new epoch is a new journal.",
            )
        said = line.event.get("seq")
        if type(said) is not int or said != seq:
            raise _unsound(log, number, f"event {_shown(said)} stands where event {seq} should")
        yield line


def _texts(log: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line of the log with its line number, and skip empty lines. Raises TableError if the log cannot be
    read."""
    try:
        with log.open("rb") as file:
            yield from ((number, text) for number, text in enumerate(file, 1) if text.strip())
    except OSError as error:
        raise TableError(
            "log_unreadable", f"The log {log} cannot be read: {error.strerror}.", "Check the path given to --against."
        ) from error


def _parsed(number: int, text: bytes) -> _Line | None:
    try:
        event = json.loads(text)
        return _Line(number, event, canonical(event)) if isinstance(event, dict) else None
    except (ValueError, RecursionError):
        return None


def _check_signature(line: _Line, log: Path, spoken: Spoken) -> None:
    if not signature_holds(line.event, spoken.public_key):
        why = "its signature does not hold with the journal's key: the line was changed, or another key signed it"
        raise _unsound(log, line.number, why)


def _last_seq(seq: int, rest: Iterator[_Line], log: Path, spoken: Spoken) -> int:
    """Read the rest of the log, check the signature of each event, and return the number of the last event. `seq` is
    the number of the last event that was already read."""
    for line in rest:
        seq += 1
        _check_signature(line, log, spoken)
    return seq


def _shorter(journal: Path, journal_head: int, log_head: int) -> TableError:
    return TableError(
        "journal_shorter_than_log",
        f"The journal {journal} ends with event {journal_head}, and the pit has committed events up to {log_head}. "
        f"So the last {log_head - journal_head} events of the journal were cut off.",
        _KEEP_IT,
    )


def _lacking(journal: Path, seq: int, next_seq: int) -> TableError:
    return TableError(
        "journal_lacks_event",
        f"Event {seq}, which the pit has, is missing in the journal {journal}, which goes on with event {next_seq}.",
        _KEEP_IT,
    )


def _differing(journal: Path, line: _Line, message: Message) -> TableError:
    kept = _parsed(0, message.body)
    how = "it is no event at all"
    if kept is not None:
        names = sorted(name for name in line.event.keys() | kept.event.keys() if _differ(name, line.event, kept.event))
        how = f"they differ in {', '.join(map(_shown, names))}" if names else "its bytes are not canonical"
    return TableError(
        "journal_differs_from_log",
        f"Event {line.event['seq']} in the journal {journal} is not the event that the pit committed: {how}.",
        _KEEP_IT,
    )


def _differ(name: str, *events: dict[str, Any]) -> bool:
    """Tell whether the field `name` has different values in two events. The values are compared as canonical JSON,
    because in Python 1 and True are equal."""
    one, other = (canonical({name: event[name]} if name in event else {}) for event in events)
    return one != other


def _unsound(log: Path, number: int, why: str) -> TableError:
    return TableError("log_unsound", f"Line {number} of the log {log} cannot be used: {why}.", _ASK_THE_PIT)


def _shown(value: object) -> str:
    """Return a value from the log as text that is safe to print on a terminal. The text is cut after 40 characters, and
    dots mark the cut."""
    text = value if isinstance(value, str) and value.isascii() and value.isprintable() else ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
