"""The client's side of the table's control socket: send one request to a running table, and show the table's answer to
a person."""

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
    """Send `request` to the running table, and return the table's answer. `control` is the path of the control socket.
    Without `control` the path is read from the table's file, which takes longer.

    Raises TableError with the table's own words if the table refuses the request, or `table_not_running`.
    """
    with _connected(table, control) as channel:
        channel.sendall(json.dumps(request).encode() + b"\n")
        line = channel.makefile("rb").readline()
    if not line.endswith(b"\n"):
        raise _silent()
    return _taken(line)


def status_of(table: Path, control: str | None = None) -> Status:
    """Ask the running table for its status, and return it. `control` is the path of the control socket, if the caller
    knows it. Raises TableError with the table's own words if the table refuses, or `table_not_running`."""
    return _status(ask(table, {"do": "status"}, control))


def watch(table: Path) -> Iterator[Status]:
    """Yield the running table's status now, and then each time that it changes, at most a few times a second.

    Raises TableError when the table sends no more statuses: `table_stopped`, `table_ended`, or the error with which the
    table refused.
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
    """Return the finished rounds of a running table's open shoe, read from the table's feed socket."""
    with _connected(table, str(feed_of(Path(load(table).file.control.socket)))) as channel:
        for line in channel.makefile("rb"):
            if (rounds := _read(line, FeedLine).rounds) is not None:
                return rounds.hands
    raise _silent()


def _taken(line: bytes) -> Answer:
    """Parse one line from the control socket into the table's answer. Raises TableError, with the table's own words, if
    the table refused the request."""
    answer = _read(line, Answer)
    if not answer.ok:
        raise TableError(answer.code, answer.what, answer.do)
    return answer


def _status(answer: Answer) -> Status:
    assert answer.status is not None, "the table was asked for its status"
    return answer.status


def _read(line: bytes, of: type[_Line]) -> _Line:
    """Parse a line that the table sent: JSON of the type `of`. Raises TableError `table_unreadable` if the line has
    another form, because another version of the program sent it."""
    try:
        return msgspec.json.decode(line, type=of)
    except ValueError as error:
        do = "Run that version's tablectl: /opt/table-controller/current/bin/tablectl"
        what = f"The table that runs is of another version, and its answer cannot be read: {error}."
        raise TableError("table_unreadable", what, do) from None


def _silent() -> TableError:
    return TableError("table_silent", "The table closed the line without an answer.", "Look at the table's log.")


def act(table: Path, request: dict[str, object]) -> int:
    """Ask the running table to do something, such as voiding a round, and print how that ended. Returns 0 when the
    table has written the act into its journal, or when the act must wait until a second person confirms it."""
    waits = ask(table, request).waits
    print("\n".join(second_person_lines(waits, table)) if waits else "done")
    if "fault" in request and not (shoe := status_of(table).shoe).up:
        print(language().text("say", "shoe_still_down", why=shoe.why))
    return 0


def answered_fault(table: Path, fault: str | None) -> dict[str, object]:
    """Return the part of a request that names the fault to be cleared: `{"fault": id}`, or an empty dict if the table
    has no fault. `fault` is the id that the person typed. If `fault` is None, the fault that the table has now is
    printed, and its id is used."""
    if fault is None:
        standing = status_of(table).face.fault
        if standing is not None:
            print("\n".join(fault_lines(standing, table)))
            fault = standing.id
    return {} if fault is None else {"fault": fault}


def witness(table: Path, by: str, proposal: int | None) -> int:
    """Confirm, in the name of the second person `by`, an act that another person has proposed at the table. `proposal`
    is the id of that proposal. If `proposal` is None, the proposal that is waiting now is printed, and that one is
    confirmed."""
    if proposal is None:
        waits = status_of(table).second_person
        if waits is not None:
            print(second_person_lines(waits, table)[0])
            proposal = waits.id
    return act(table, {"do": "witness", "proposal": proposal or 0, "by": by})


def status(table: Path, as_json: bool, language_name: str, screen: str) -> int:
    """Print the status of the running table in the language called `language_name`. The last line says whether the
    monitor shows the players' page of this table, as reported by the screen server at `screen` (HOST:PORT). With
    `as_json` only the table's own status is printed, as JSON."""
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
    """Print the fingerprints of two public keys of the pit: the key that the pit offers now, and the key that the table
    trusts (the pinned key)."""
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
    """Print the fingerprint of the public key of bet recognition (the system that reports the wagers), if the table
    trusts such a key. Otherwise print how a person adopts one."""
    now = status_of(table)
    if as_json:
        print_report(now.recognition)
        return 0
    print(f"adopted: {now.recognition.key or 'none'}")
    print("\n".join(recognition_lines(now, table)))
    return 0


def _group_of(path: str) -> str | None:
    """Return the name of the group that owns the socket at `path`. If the socket cannot be examined, or if its group
    has no name, return the group that owns its folder. Returns None if neither group has a name."""
    for each in (Path(path), Path(path).parent):
        with suppress(OSError, KeyError):
            return each.group()
    return None


@contextmanager
def _connected(table: Path, control: str | None = None) -> Iterator[socket.socket]:
    """Connect to the running table's control socket for the length of a `with` block. Raises TableError `not_allowed`,
    `table_silent`, `table_not_running`."""
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
