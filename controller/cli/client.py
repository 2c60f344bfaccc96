"""The far end of the control socket: one request to a running table, and its answer for a person."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.cli.words import commission_line, hit_line, meters_line, waits_for
from controller.config import load
from controller.errors import TableError
from controller.words.language import language

_PATIENCE_S = 10.0


def ask(table: Path, request: dict[str, object], control: str | None = None) -> dict[str, Any]:
    """The table's answer to `request`. `control` is its control socket, for who asks often and need not look it up.

    Raises TableError with the table's own words when it refuses, or `table_not_running`.
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
    """The table's status now, and again a few times a second where it differs, until it stops or refuses."""
    with _connected(table) as channel:
        channel.sendall(b'{"do": "watch"}\n')
        for line in channel.makefile("rb"):
            if line.endswith(b"\n"):  # not what a table said as it ended
                yield json.loads(line)["status"]


def act(table: Path, request: dict[str, object]) -> int:
    """Have the table do something; 0 when it is done and journalled, or waits for a second person."""
    waits = ask(table, request).get("waits")
    print("\n".join(_waits_for_second_person(table, waits)) if waits else "done")
    return 0


def answer_fault(table: Path, request: dict[str, object], fault: str | None) -> int:
    """Do what leaves a fault. `fault` is the id of one seen before; None: the one that stands now, which is shown."""
    if fault is None:
        standing = ask(table, {"do": "status"})["status"]["face"]["fault"]
        if standing is not None:
            print("\n".join(_fault_lines(standing)))
            fault = standing["id"]
    return act(table, request | ({} if fault is None else {"fault": fault}))


def witness(table: Path, by: str, proposal: int | None) -> int:
    """Confirm what another person asked for: `proposal` as it was seen before; None: what waits now, shown."""
    if proposal is None:
        waits = ask(table, {"do": "status"})["status"]["second_person"]
        if waits is not None:
            print(f"{waits['by']} asks to {waits['says']}")
            proposal = waits["id"]
    return act(table, {"do": "witness", "proposal": proposal or 0, "by": by})


def status(table: Path, as_json: bool) -> int:
    """Print how the table is."""
    told: dict[str, Any] = ask(table, {"do": "status"})["status"]
    print(json.dumps(told, indent=2) if as_json else "\n".join([*status_lines(told), *key_lines(told["pit"], table)]))
    return 0


def pit_key(table: Path) -> int:
    """Print the pit's key as it is offered and as it is pinned."""
    pit: dict[str, Any] = ask(table, {"do": "status"})["status"]["pit"]
    print(f"offered: {pit['key']['offered'] or 'none: no pit has said its key'}")
    print(f"pinned:  {pit['key']['pinned'] or 'none'}")
    print("\n".join(key_lines(pit, table) or ["The pit that has this key is believed."]))
    return 0


def key_lines(pit: dict[str, Any], table: Path) -> list[str]:
    """What is to be done about the pit's key; nothing where the pinned one is offered, or none is."""
    key = pit["key"]
    if key["pinned"] is None:
        lines = ["NO PIT KEY IS PINNED: nothing that the pit says is believed, and Royal 9 wagers are refused"]
    elif key["offered"] in (None, key["pinned"]):
        lines = []
    else:
        lines = [f"ANOTHER KEY IS OFFERED as the pit's, {key['offered']}, than is pinned, {key['pinned']}"]
    if lines and key["offered"] is None:
        return [*lines, "  what to do: start the pit's program, and mend the link to it: it offers its key"]
    if lines:
        do = "compare with `python -m controller.pit key --ledger FILE` at the pit; if they are the same, type:"
        lines += [f"  what to do: {do}", f'  tablectl pit-key {table} --trust "{key["offered"]}" --by NAME']
    return lines


@contextmanager
def _connected(table: Path, control: str | None = None) -> Iterator[socket.socket]:
    """A line to the running table; what goes wrong on it, in words for people."""
    path = control or load(table).file.control.socket
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            # A table whose line of waiting callers is full lets a blocking caller wait for its turn.
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(_PATIENCE_S), 0))
            channel.connect(path)
            channel.settimeout(_PATIENCE_S)
            yield channel
    except PermissionError:
        do = "Join the socket's group, or ask somebody who is in it."
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


def _hand(hand: dict[str, Any]) -> str:
    name = hand["hand"].replace("_", " ")
    return f"{name} {' '.join(hand['cards'])}" + ("" if hand["total"] is None else f" ({hand['total']})")


def _fault_lines(fault: dict[str, Any]) -> list[str]:
    details = ", ".join(f"{key} {value}" for key, value in fault["details"].items())
    exits = ", ".join(fault["exits"]) or "none"
    what, do = language().fault(fault["code"])
    return [
        f"FAULT {fault['code']}: {what}" + (f" ({details})" if details else ""),
        f"  what to do: {do}",
        f"  exits: {exits}; cards held: {fault['held_cards']}; this one and no other: --fault {fault['id']}",
    ]


def _waits_for_second_person(table: Path | None, waits: dict[str, Any]) -> list[str]:
    return [
        f"WAITS for a second person, {-(-waits['left_s'] // 60)} min more: {waits['by']} asks to {waits['says']}",
        f"  what to do: tablectl witness {table or 'TABLE.toml'} --by NAME, from another account;",
        "  or turn the key at the table (turned already: back and again)",
    ]


def status_lines(told: dict[str, Any]) -> list[str]:
    """A running table's status in words, the time it has been up last."""
    face, pit, shoe, journal = told["face"], told["pit"], told["shoe"], told["journal"]
    lines = [f"{face['table']}: {face['game']}, {face['phase']}, shoe {face['shoe']}, round {face['round']}"]
    if face["fault"]:
        lines += _fault_lines(face["fault"])
    if told["second_person"]:
        lines += _waits_for_second_person(None, told["second_person"])
    if face["hands"]:
        lines.append("  ".join(map(_hand, face["hands"])) + (f"  -> {face['outcome']}" if face["outcome"] else ""))
    lines += waits_for(face)
    lines += (f"ROYAL 9 {hit_line(hit)}" for hit in face["hits"])
    lines += filter(None, [commission_line(face)])
    bad = ", ".join(f"{count} {reason}" for reason, count in shoe["bad_bytes"].items())
    lines += [
        f"shoe: {'up' if shoe['up'] else 'DOWN'}: {shoe['why']}"
        + (f"; bad bytes: {bad}" if bad else "")
        + "; new bad bytes are told once no card lies face down" * shoe["bad_bytes_wait"],
        f"pit: {pit['stream']}, {pit['acked_seq']} of {pit['head_seq']} events acknowledged"
        + (f"; {pit['unacknowledged']} wait, of {pit['most_unacknowledged']} that may" * (pit["unacknowledged"] > 0))
        + ("" if pit["fresh"] else "; Royal 9 wagers are refused")
        + (f"; {pit['why']}" * bool(pit["why"])),
        *(f"meters: {line}" for line in [meters_line(pit)] if line),
        *(f"NOT SIGNED BY THE PIT, and refused: {count} on {topic}" for topic, count in pit["key"]["forged"].items()),
        f"key: {told['key_fingerprint']}, which the pit shows when it is to adopt this table",
        f"journal: {journal['path']}, boot {journal['boot']}"
        + (f"; FAILING: {journal['error']}" * bool(journal["error"]))
        + (f"; rows 1 to {journal['archived_rows']} are archived" * bool(journal["archived_rows"]))
        + (f"; not archived: {journal['archive_error']}" * bool(journal["archive_error"])),
        f"version {told['version']}, up {told['up_s']} s",
    ]
    return lines
