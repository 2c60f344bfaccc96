"""The far end of the control socket: one request to a running table, and its answer for a person."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from controller.basics.colours import painted
from controller.basics.errors import TableError
from controller.contract.face.answers import Answer
from controller.contract.face.feed import FeedLine
from controller.contract.face.status import Status
from controller.contract.face.table import PublicRound
from controller.daemon.config import load
from controller.daemon.control.feed import feed_of
from controller.people.cli.page import page_line
from controller.people.cli.status import fault_lines, pit_lines, recognition_lines, second_person_lines, status_lines
from controller.people.cli.told import print_report
from controller.words.language import language

_PATIENCE_S = 10.0
_Line = TypeVar("_Line", Answer, FeedLine)


def ask(table: Path, request: dict[str, object], control: str | None = None) -> Answer:
    """The table's answer to `request`. A caller that asks often names the control socket with `control`; without it the
    table's file is read.

    Raises TableError with the table's own words where the table refuses, or `table_not_running`.
    """
    with _connected(table, control) as channel:
        channel.sendall(json.dumps(request).encode() + b"\n")
        line = channel.makefile("rb").readline()
    if not line.endswith(b"\n"):
        raise _silent()
    return _taken(line)


def status_of(table: Path, control: str | None = None) -> Status:
    """The table's status. Raises TableError as `ask`."""
    return _status(ask(table, {"do": "status"}, control))


def watch(table: Path) -> Iterator[Status]:
    """The table's status now, and again a few times a second where the status differs.

    Raises TableError at the end of this view, with the reason: `table_stopped`, `table_ended`, or the table's refusal.
    """
    with _connected(table) as channel:
        channel.sendall(b'{"do": "watch"}\n')
        for line in channel.makefile("rb"):
            if not line.endswith(b"\n"):
                break  # the table's last line was cut off
            yield _status(_taken(line))
    do = "Look at the table's log: journalctl -u table-controller."
    raise TableError("table_ended", "The table's program ended, or dropped this view, without a reason.", do)


def shoe_rounds(table: Path) -> tuple[PublicRound, ...]:
    """The finished rounds of a running table's open shoe, from its feed."""
    with _connected(table, str(feed_of(Path(load(table).file.control.socket)))) as channel:
        for line in channel.makefile("rb"):
            if (rounds := _read(line, FeedLine).rounds) is not None:
                return rounds.hands
    raise _silent()


def _taken(line: bytes) -> Answer:
    """Return the table's answer, which is this line. Raises TableError with the table's own words where the table
    refuses."""
    answer = _read(line, Answer)
    if not answer.ok:
        raise TableError(answer.code, answer.what, answer.do)
    return answer


def _status(answer: Answer) -> Status:
    assert answer.status is not None, "the table was asked for its status"
    return answer.status


def _read(line: bytes, of: type[_Line]) -> _Line:
    """What a line of the table says. Raises TableError `table_unreadable` for a line of another version's form."""
    try:
        return msgspec.json.decode(line, type=of)
    except ValueError as error:
        do = "Run that version's tablectl: /opt/table-controller/current/bin/tablectl"
        what = f"The table that runs is of another version, and its answer cannot be read: {error}."
        raise TableError("table_unreadable", what, do) from None


def _silent() -> TableError:
    return TableError("table_silent", "The table closed the line without an answer.", "Look at the table's log.")


def act(table: Path, request: dict[str, object]) -> int:
    """Send the act `request` to the table. Returns 0 once the act is journalled, or waits for a second person."""
    waits = ask(table, request).waits
    print("\n".join(second_person_lines(waits, table)) if waits else "done")
    if "fault" in request and not (shoe := status_of(table).shoe).up:
        print(language().text("say", "shoe_still_down", why=shoe.why))
    return 0


def answered_fault(table: Path, fault: str | None) -> dict[str, object]:
    """The argument by which a request leaves a fault: the fault's id. `fault` is the id that the person saw; None: the
    standing fault, which is then printed."""
    if fault is None:
        standing = status_of(table).face.fault
        if standing is not None:
            print("\n".join(fault_lines(standing, table)))
            fault = standing.id
    return {} if fault is None else {"fault": fault}


def witness(table: Path, by: str, proposal: int | None) -> int:
    """Confirm another person's act. `proposal` is the number that the person saw; None: the act that waits now, which
    is then printed."""
    if proposal is None:
        waits = status_of(table).second_person
        if waits is not None:
            print(second_person_lines(waits, table)[0])
            proposal = waits.id
    return act(table, {"do": "witness", "proposal": proposal or 0, "by": by})


def status(table: Path, as_json: bool, language_name: str, screen: str) -> int:
    """Print the table's status, in the language of this name, and what the `screen` at this HOST:PORT says of its
    page."""
    now = status_of(table)
    if as_json:
        print(json.dumps(msgspec.to_builtins(now), indent=2))
        return 0
    words = language(language_name)
    waits_for, *around = status_lines(now, table, words)
    style = "red" if now.face.fault else "bold"
    print("\n".join((painted(waits_for, style, sys.stdout), *around)), flush=True)
    print(page_line(screen, now.face.table, words))
    return 0


def pit_key(table: Path, as_json: bool = False) -> int:
    """Print the pit's offered key and its pinned key, as fingerprints."""
    now = status_of(table)
    key = now.pit.key
    if as_json:
        print_report(key)
        return 0
    print(f"offered: {key.offered or 'none: no pit has said its key'}")
    print(f"pinned:  {key.pinned or 'none'}")
    print("\n".join(pit_lines(now, table)))
    return 0


def recognition_key(table: Path, as_json: bool = False) -> int:
    """Print the adopted key of bet recognition as a fingerprint, or how to adopt one."""
    now = status_of(table)
    if as_json:
        print_report(now.recognition)
        return 0
    print(f"adopted: {now.recognition.key or 'none'}")
    print("\n".join(recognition_lines(now, table)))
    return 0


def _group_of(path: str) -> str | None:
    """The group that may use this socket: the socket's, or else its folder's. None where neither group has a name."""
    for each in (Path(path), Path(path).parent):
        with suppress(OSError, KeyError):
            return each.group()
    return None


@contextmanager
def _connected(table: Path, control: str | None = None) -> Iterator[socket.socket]:
    """A connection to the running table. Raises TableError `not_allowed`, `table_silent`, `table_not_running`."""
    path = control or load(table).file.control.socket
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            # Where the table's queue of waiting callers is full, `connect` waits for at most this time.
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(_PATIENCE_S), 0))
            channel.connect(path)
            channel.settimeout(_PATIENCE_S)
            yield channel
    except PermissionError:
        do = "Run the same command again with sudo."
        if (group := _group_of(path)) is not None:
            join = f"Join the group {group}: sudo adduser YOURNAME {group}. Then log out and in."
            do = f"{join} Or ask somebody of that group."
        raise TableError("not_allowed", f"You may not use the control socket {path}.", do) from None
    except (TimeoutError, BlockingIOError):
        do = "Look at the table's log: its disk may be failing."
        raise TableError("table_silent", "The table runs, but does not answer.", do) from None
    except OSError as error:
        raise TableError(
            "table_not_running",
            f"No table listens at {path}: {error.strerror or error}.",
            f"Start it: tablectl run {table}, or systemctl start table-controller.",
        ) from None
