"""The commands of `tablectl` by which a person acts on a running table, such as voiding a round.
`controller.table.acts` lists the acts (the things that a person may do at a table). Each command is built from one
entry of that list."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

from controller.basics.colours import painted
from controller.basics.command import Command
from controller.basics.errors import TableError
from controller.contract.face.foreseen import would
from controller.people.cli import client
from controller.people.cli.command import File
from controller.people.cli.would import would_lines
from controller.table.acts.entry import Act, Argument, BadArgumentError, Form
from controller.table.acts.every import ACTS

_LOOKS = {"pit-key": client.pit_key, "recognition-key": client.recognition_key}
"""What a `look` act prints where a person gives no argument."""


def commands() -> Iterator[Command]:
    """Yield one command of `tablectl` for each act that a person can send to the table's control socket, such as
    voiding a round."""
    for act in ACTS:
        if act.on_socket:
            add, run = partial(_add, act), partial(_run, act)
            yield Command(act.name, act.group, act.says, act.example, run, add, File.TABLE)


def _add(act: Act, parser: ArgumentParser) -> None:
    needed = len(act.forms) == 1 and not act.look
    for argument in {argument.name: argument for form in act.forms for argument in form.arguments}.values():
        many: dict[str, Any] = {}
        if argument.many:
            many = {"action": "append"} if argument.flag else {"nargs": "*"}
        if argument.flag:
            many |= {"dest": argument.name, "required": needed}
        name = f"--{argument.flag}" if argument.flag else argument.name
        parser.add_argument(name, metavar=argument.word, help=argument.says, **many)
    if any(form.named for form in act.forms):
        parser.add_argument("--by", required=not act.look, metavar="NAME", help="who does this; the name is journalled")
    if act.exit is not None:
        seen = "leave only this fault, such as 3-2, which you saw (default: the standing fault, which is shown)"
        parser.add_argument("--fault", metavar="ID", help=seen)
    if act.look:
        parser.add_argument("--json", action="store_true", help="what is told without an argument, as one JSON object")
    if act.shows:
        parser.add_argument("--yes", action="store_true", help="do it without asking")


def _run(act: Act, options: Namespace) -> int:
    names = {argument.name for form in act.forms for argument in form.arguments} | {"by"}
    given = {name: value for name in names if (value := getattr(options, name, None)) is not None}
    if act.look and not given:
        return _LOOKS[act.name](options.table, options.json)
    request = _request(act, given)
    if act.exit is not None:
        request |= client.answered_fault(options.table, options.fault)
    while act.shows:
        foreseen = client.ask(options.table, {"do": "foresee", "act": request})
        for line in would_lines(would(foreseen.would or {})):
            print(painted(line, "red", sys.stdout) if "WARNING" in line else line)
        if foreseen.would and not options.yes and not _confirmed():
            print("Nothing was done.")
            return 1
        try:
            return client.act(options.table, request | {"shown": foreseen.shown})
        except TableError as refusal:
            if refusal.code != "shown_changed" or options.yes:
                raise
            print(refusal.what)
    return client.act(options.table, request)


def _confirmed() -> bool:
    """Ask the person at the terminal whether to do the act, and return whether the answer is yes. Raises TableError
    `not_confirmed` if standard input is no terminal, because then nobody can be asked."""
    if not sys.stdin.isatty():
        do = "Read above what the act would do. Then repeat the command with --yes."
        raise TableError("not_confirmed", "This act needs a yes, and no terminal is here. Nothing was done.", do)
    return input("Do it? Type yes: ").strip().casefold() in ("yes", "y")


def _request(act: Act, given: dict[str, Any]) -> dict[str, object]:
    """Return the JSON request that asks the table, at its control socket, to do `act`. `given` maps the names of the
    typed arguments to their values. Raises TableError if an argument is bad, or if `act` does not accept this
    combination of arguments."""
    for form in act.forms:
        if given.keys() == form.said:
            return {"do": act.do, **{each.name: _read(each, given[each.name]) for each in form.arguments}} | (
                {"by": given["by"]} if form.named else {}
            )
    ways = "; or ".join(_usage(act, form) for form in act.forms)
    raise TableError("arguments_incomplete", f"These arguments do not go together: {act.name}.", f"Write {ways}.")


def _read(argument: Argument, given: Any) -> Any:
    """Convert the typed text `given` into the value to send to the table for this argument. Raises TableError
    `bad_argument` if the table could not read the value."""
    try:
        value = [*map(argument.of_text, given)] if argument.many else argument.of_text(given)
        argument.read(value)
    except BadArgumentError as error:
        raise TableError("bad_argument", error.what, error.do) from None
    return value


def _usage(act: Act, form: Form) -> str:
    words = [f"--{each.flag} {each.word}" if each.flag else each.word for each in form.arguments]
    return " ".join(["tablectl", act.name, *words, *(["--by NAME"] * form.named)])
