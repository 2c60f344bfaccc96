"""The commands of `pitctl` that send requests to the running pit. People decide at the pit's control socket, each from
a user account of their own."""

from __future__ import annotations

import socket
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode, encode

from controller.basics.errors import TableError
from controller.pit.reference.commands.options import add_control, add_json, print_json
from controller.pit.reference.desk import Answer, Waits

_MEASURED_WITHIN_S = 30.0  # reading all files takes a table a second or two
_ASKED_EVERY_S = 0.5
_ANSWERS_WITHIN_S = 60.0  # a decision waits for the ledger's disk, in a database for its replica too


def ask(control: Path, request: dict[str, Any]) -> Answer:
    """Send a request to the pit's control socket and return the pit's answer. Raises TableError with the pit's refusal,
    or `pit_not_running` if no pit takes decisions."""
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(_ANSWERS_WITHIN_S)
            channel.connect(str(control))
            channel.sendall(encode(request) + b"\n")
            answer: Answer = decode(channel.makefile("rb").readline(), type=Answer)
    except (OSError, DecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TableError(
            "pit_not_running",
            f"No pit takes decisions at {control}: {why}.",
            "People decide at a running pit alone. Start the pit (`run`), or name its socket with --control. Of pits on"
            " several machines, the one that leads has it.",
        ) from error
    if not answer.ok:
        raise TableError(answer.code, answer.what, answer.do)
    return answer


def decide(options: Namespace, request: dict[str, Any]) -> int:
    """Send the pit a request for a decision, and print the outcome: done, or waiting for a second person. At a pit for
    practice, the person that `--with` names confirms at once."""
    answer = ask(options.control, said_by(options.practised_by, request))
    if options.practised_with is not None:
        for waits in answer.waits:
            answer = ask(options.control, said_by(options.practised_with, _confirmation(waits)))
    if answer.told:
        print(answer.told)
    for waits in answer.waits:
        print(waits.shown)
        print(f"This waits for a second person, for {waits.left_s // 60} minutes: pitctl confirm {waits.number}")
    return 0


def asks(do: str, *names: str) -> Callable[[Namespace], int]:
    """Return the function that runs one `pitctl` command: it sends the pit a request for the act `do`. `names` are the
    command-line options whose values go into the request."""
    return lambda options: decide(options, {"do": do, **{name: getattr(options, name) for name in names}})


def add_confirm(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl confirm` to its parser."""
    add_control(parser)
    parser.add_argument("proposal", type=int, metavar="NUMBER", help="what waits, as `pitctl desk` numbers it")
    parser.add_argument("--yes", action="store_true", help="do not ask: for scripts that have looked")


def confirm(options: Namespace) -> int:
    looked = ask(options.control, said_by(options.practised_by, {"do": "look"}))
    waits = next((each for each in looked.waits if each.number == options.proposal), None)
    if waits is None:
        what = f"No proposal {options.proposal} waits (any more)."
        raise TableError("no_proposal", what, "See what waits: `pitctl desk`.")
    _print_waits(waits)
    if not options.yes:
        _ask_for_yes()
    return decide(options, _confirmation(waits))


def _ask_for_yes() -> None:
    """Ask the second person at the terminal to check the proposal and to type yes. Raises TableError `nobody_to_ask`
    without a terminal, or `not_confirmed`."""
    if not sys.stdin.isatty():
        what = "A confirmation is a person's decision, and standard input is no terminal."
        raise TableError("nobody_to_ask", what, "Run this on a terminal, or with --yes once you have looked.")
    print("Compare an adoption's key with `tablectl status` at the table: a thief's machine has another key.")
    try:
        said = input("Confirm this? Write the whole word yes, or no: ")
    except EOFError:
        said = ""
    if said.strip().lower() != "yes":
        do = "Where it is right, write the whole word yes. Where it is wrong, find out who proposed it, and why."
        raise TableError("not_confirmed", "Nothing was decided.", do)


def add_desk(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl desk` to its parser."""
    add_control(parser)
    add_json(parser, "the pit's answer, as one JSON object")


def desk(options: Namespace) -> int:
    """Print the proposals that wait for a second person, the open awards, and the caller's own account and roles at the
    pit."""
    looked = ask(options.control, said_by(options.practised_by, {"do": "look"}))
    if options.json:
        print_json(looked)
        return 0
    print(f"you are {looked.account}: {', '.join(looked.roles)}")
    print(looked.told or "no awards are open")
    for waits in looked.waits:
        _print_waits(waits)
    return 0


def _print_waits(waits: Waits) -> None:
    who = f"{waits.account} ({waits.name})" if waits.name else waits.account
    print(f"{waits.number}: proposed by {who}, waits for {waits.left_s} s")
    for line in waits.shown.splitlines():
        print(f"    {line}")


def add_measure(parser: ArgumentParser) -> None:
    """Add the arguments of `pitctl measure` to its parser."""
    add_control(parser)
    parser.add_argument("table", metavar="TABLE", help="an adopted table")


def measure(options: Namespace) -> int:
    """Let a table measure its program, wait for the answer, and print the result. Raises TableError if the table's
    program differs from the pit's, and `measure_unanswered` if no answer comes."""
    nonce = ask(options.control, said_by(options.practised_by, {"do": "measure", "table": options.table})).told
    until_s = time.monotonic() + _MEASURED_WITHIN_S
    while time.monotonic() < until_s:
        told = ask(options.control, said_by(options.practised_by, {"do": "measured", "nonce": nonce})).told
        if told:
            print(told)
            return 0
        time.sleep(_ASKED_EVERY_S)
    raise TableError(
        "measure_unanswered",
        f"Table {options.table} has not answered within {_MEASURED_WITHIN_S:.0f} s. The question stands in the record.",
        "See whether the pit hears the table. Then ask again.",
    )


def _confirmation(waits: Waits) -> dict[str, Any]:
    return {"do": "confirm", "proposal": waits.number, "digest": waits.digest}


def said_by(name: str | None, request: dict[str, Any]) -> dict[str, Any]:
    """Return the request. If `name` is given, add it as the person who asks. Only a pit that was started with
    `--practice` accepts such a name."""
    return request if name is None else {**request, "as": name}
