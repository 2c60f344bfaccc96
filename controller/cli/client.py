"""The far end of the control socket: one request to a running table, and its answer for a person."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from controller.cli.colours import painted
from controller.cli.status import fault_lines, pit_lines, second_person_lines, status_lines
from controller.config import load
from controller.control.feed import feed_of
from controller.errors import TableError
from controller.words.language import language

_PATIENCE_S = 10.0


def ask(table: Path, request: dict[str, object], control: str | None = None) -> dict[str, Any]:
    """The table's answer to `request`. `control` is its control socket, for a caller that asks often.

    Raises TableError with the table's own words where the table refuses, or `table_not_running`.
    """
    with _connected(table, control) as channel:
        channel.sendall(json.dumps(request).encode() + b"\n")
        line = channel.makefile("rb").readline()
    answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
    if not answer.get("ok"):
        raise TableError(
            answer.get("code", "table_silent"),
            answer.get("what", "The table closed the line without an answer."),
            answer.get("do", "Look at the table's log."),
        )
    return answer


def watch(table: Path) -> Iterator[dict[str, Any]]:
    """The table's status now, and again a few times a second where it differs.

    Raises TableError, which says why it ends: `table_stopped`, `table_ended`, or the table's refusal.
    """
    with _connected(table) as channel:
        channel.sendall(b'{"do": "watch"}\n')
        for line in channel.makefile("rb"):
            if not line.endswith(b"\n"):
                break  # the table's last line was cut off
            told = json.loads(line)
            if not told["ok"]:
                raise TableError(told["code"], told["what"], told["do"])
            yield told["status"]
    do = "Look at its log: journalctl -u table-controller."
    raise TableError("table_ended", "The table's program ended, or dropped this view, without a reason.", do)


def shoe_rounds(table: Path) -> list[dict[str, Any]]:
    """The finished rounds of a running table's open shoe, from its feed."""
    with _connected(table, str(feed_of(Path(load(table).file.control.socket)))) as channel:
        for line in channel.makefile("rb"):
            if "rounds" in (told := json.loads(line)):
                hands: list[dict[str, Any]] = told["rounds"]["hands"]
                return hands
    raise TableError("table_silent", "The table closed the line without an answer.", "Look at the table's log.")


def act(table: Path, request: dict[str, object]) -> int:
    """Have the table do this; 0 once it is done and journalled, or waits for a second person."""
    waits = ask(table, request).get("waits")
    print("\n".join(second_person_lines(waits, table)) if waits else "done")
    if "fault" in request and not (shoe := ask(table, {"do": "status"})["status"]["shoe"])["up"]:
        print(language().name("say", "shoe_still_down").format(why=shoe["why"]))
    return 0


def answered_fault(table: Path, fault: str | None) -> dict[str, object]:
    """What a request adds to leave a fault: the fault's id. `fault` was seen before; None: the fault that stands now,
    which is shown."""
    if fault is None:
        standing = ask(table, {"do": "status"})["status"]["face"]["fault"]
        if standing is not None:
            print("\n".join(fault_lines(standing, table)))
            fault = standing["id"]
    return {} if fault is None else {"fault": fault}


def witness(table: Path, by: str, proposal: int | None) -> int:
    """Confirm another person's act: `proposal`, which was seen before; None: the act that waits now, which is shown."""
    if proposal is None:
        waits = ask(table, {"do": "status"})["status"]["second_person"]
        if waits is not None:
            print(second_person_lines(waits, table)[0])
            proposal = waits["id"]
    return act(table, {"do": "witness", "proposal": proposal or 0, "by": by})


def status(table: Path, as_json: bool, language_name: str = "en") -> int:
    """Print how the table is, in the language of this name."""
    told: dict[str, Any] = ask(table, {"do": "status"})["status"]
    if as_json:
        print(json.dumps(told, indent=2))
        return 0
    waits_for, *around = status_lines(told, table, language(language_name))
    style = "red" if told["face"]["fault"] else "bold"
    print("\n".join((painted(waits_for, style, sys.stdout), *around)))
    return 0


def pit_key(table: Path) -> int:
    """Print the pit's keys, the offered and the pinned."""
    told: dict[str, Any] = ask(table, {"do": "status"})["status"]
    key = told["pit"]["key"]
    print(f"offered: {key['offered'] or 'none: no pit has said its key'}")
    print(f"pinned:  {key['pinned'] or 'none'}")
    print("\n".join(pit_lines(told, table)))
    return 0


def _group_of(path: str) -> str:
    """The group that may use this socket; that of its folder where nobody else may look into the folder."""
    for each in (Path(path), Path(path).parent):
        with suppress(OSError, KeyError):
            return each.group()
    return "that the socket's folder has"


@contextmanager
def _connected(table: Path, control: str | None = None) -> Iterator[socket.socket]:
    """A line to the running table. Its errors are words for people."""
    path = control or load(table).file.control.socket
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            # A table whose line of waiting callers is full lets a blocking caller wait for its turn.
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(_PATIENCE_S), 0))
            channel.connect(path)
            channel.settimeout(_PATIENCE_S)
            yield channel
    except PermissionError:
        group = _group_of(path)
        do = f"Join the group {group}: sudo adduser YOURNAME {group}. Then log in anew. Or ask somebody who is in it."
        raise TableError("not_allowed", f"You may not use the control socket {path}.", do) from None
    except (TimeoutError, BlockingIOError):
        do = "Look at the table's log: its disk may be failing."
        raise TableError("table_silent", "The table runs and does not answer.", do) from None
    except OSError as error:
        raise TableError(
            "table_not_running",
            f"No table listens at {path}: {error.strerror or error}.",
            f"Start it: tablectl run {table}, or systemctl start table-controller.",
        ) from None
