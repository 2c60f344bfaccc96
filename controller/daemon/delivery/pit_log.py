"""Compares a table's journal with a pit's log of its events. The log is a witness that nobody at the table can change.

The log is a file with one event a line, in JSON, in order from the epoch's first event. White space and the order of
keys do not matter, because the canonical form of each event was signed, and that form is compared.
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
    """Check that the journal has every event of the pit's log, exactly as the log has it. Return the number of the
    log's last event.

    Only reads, also while the table runs. Raises TableError about the log: `log_unreadable`, `log_empty`,
    `log_unsound`, `log_of_another_journal`; about the journal: `journal_lacks_event`, `journal_shorter_than_log`,
    `journal_differs_from_log`; and as reading a journal does. An event of the log counts against the journal only where
    the event's signature holds. `archive` is the folder of the journal's archives, as in `journal_reading.verify`.
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
    """Yield the log's events. Raises TableError where an event is of another journal, or is not numbered on from the
    event before."""
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
    """Yield the log's lines with their line numbers, without the empty lines. Raises TableError where the log cannot be
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
    """Read the log to its end, and return the number of its last event. The signature of each further event is
    checked."""
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
    """Tell whether the field `name` differs between two events. Their canonical bytes are compared, because in Python 1
    and true are equal."""
    one, other = (canonical({name: event[name]} if name in event else {}) for event in events)
    return one != other


def _unsound(log: Path, number: int, why: str) -> TableError:
    return TableError("log_unsound", f"Line {number} of the log {log} cannot be used: {why}.", _ASK_THE_PIT)


def _shown(value: object) -> str:
    """Return a value from the log as a text of at most 40 characters and some dots, in characters that are safe to
    print on a terminal."""
    text = value if isinstance(value, str) and value.isascii() and value.isprintable() else ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
