"""`tablectl setup` as a whole: all its steps, from the first question to the report."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins

from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.contract.face.table import BETWEEN_SHOES
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import write_whole
from controller.daemon.config import Config, load
from controller.daemon.config.problems import ConfigError
from controller.people.care.row import Verdict
from controller.people.cli.client import ask, status_of
from controller.people.cli.doctor import examine_here, row_lines
from controller.people.cli.files import writing
from controller.people.cli.setup.broker import ask_broker, ask_networks
from controller.people.cli.setup.draft import Draft
from controller.people.cli.setup.house import ask_house
from controller.people.cli.setup.listening import ask_shoe
from controller.people.cli.setup.machine import Machine
from controller.people.cli.setup.plug import ask_plug
from controller.people.cli.setup.questions import Dialogue, TakenBackError, Terminal, check_answers, flat, read_answers
from controller.people.cli.setup.report import Report, made_report, page, verified
from controller.people.cli.setup.table_toml import write_table
from controller.people.cli.setup.wiring import ask_wiring
from controller.people.cli.status import status_lines

_PATIENCE_S = 15.0
_POLL_S = 0.2
_STATE, _RUN = "/var/lib/table-controller", "/run/table-controller"


def setup(table: Path, answers: Path | None, terminal: Terminal | None, machine: Machine | None = None) -> int:
    """Ask the technician all questions of a setup, write the table's file, start the table and write the report.

    `answers` is a file of answers for a fleet of tables: a question that the file answers is not asked. Returns 1 if
    the check of the machine finds a fault, so that a fleet's script learns that the table is not ready; otherwise 0.
    Raises TableError.
    """
    machine = machine or Machine()
    table = table.absolute()
    dialogue = _begun(table, _given(answers), terminal)
    while True:
        try:
            config, found, networks = _ask_all(dialogue, table, machine)
            break
        except TakenBackError:
            continue
    dialogue.settle()
    dialogue.say(f"{table} is written: {config.rules.game}, {len(config.rules.seats)} seats.")
    status = _start(dialogue, table, machine, networks)
    by = dialogue.ask("setup.by", "Your name, for the report", "The report shows this name.", "technician", str)
    if status is not None:
        _compare(dialogue, table, by, status)
        status = status_of(table)
        dialogue.say("", *status_lines(status, table), "")
    rows = [*examine_here(table)]
    dialogue.say(*row_lines(rows))
    _write_report(dialogue, config, made_report(config, by, found, status, rows))
    if faults := [row.part for row in rows if row.verdict is Verdict.FAULT]:
        dialogue.say(
            f"The table is NOT ready: the check found a fault at {', '.join(faults)}. Each line above says what to do. "
            "Then check again: sudo tablectl doctor"
        )
    return 1 if faults else 0


def _given(answers: Path | None) -> dict[str, str]:
    """Return the answers in the file `answers`, which a person wrote for a fleet of tables, or an empty dict if
    `answers` is None. Raises TableError if the file cannot be used."""
    if answers is None:
        return {}
    given = read_answers(answers)
    if not given:
        raise TableError("answers_unreadable", f"There are no answers in {answers}.", "Name the file of answers.")
    check_answers(given, answers)
    return given


def _begun(table: Path, given: Mapping[str, str], terminal: Terminal | None) -> Dialogue:
    """Return the dialogue (the object that asks the questions) of this setup. If an earlier setup was broken off, the
    person is asked whether to go on with its answers. Raises TableError."""
    if terminal is None and not given:
        do = "Run `tablectl setup` at a terminal, or with the answers in a file: tablectl setup --answers FILE"
        raise TableError("no_terminal", "A setup asks questions, and nobody is at a terminal.", do)
    kept = table.with_name("setup.answers")
    of_file = flat(_values(table))
    earlier = read_answers(kept)
    done = earlier.pop("setup.done", "no") == "yes"
    for key in ("setup.goes_on", "setup.stop", "setup.replace"):  # the person says these anew each time
        earlier.pop(key, None)
    dialogue = Dialogue(terminal, given, of_file | ({} if done else earlier), kept)
    if terminal is None:
        return dialogue
    dialogue.say(
        "An empty line takes the answer in brackets, ? explains, and back takes the answer before back. "
        "Ctrl-C breaks off; no answer is lost."
    )
    if earlier and not done:
        says = "An earlier setup was broken off. Go on with its answers"
        dialogue.answers = earlier
        if not dialogue.agrees("setup.goes_on", says, "After a no, its answers are only proposed.", True):
            dialogue.answers = {}
        dialogue.settle()
    return dialogue


def _write_report(dialogue: Dialogue, config: Config, made: Report) -> None:
    """Write the report of the setup to the file that the person names, and record that the setup is done."""
    explains = "A page to print and to file. `tablectl setup --verify FILE` checks its signature."
    default = str(Path.cwd() / f"commissioning-{made.table}.html")
    report = Path(dialogue.ask("setup.report", "File of the commissioning report", explains, default, str))
    with writing(report):
        write_whole(report, page(made, Path(config.file.journal.signing_key)).encode())
    dialogue.keep("setup.done", "yes")
    dialogue.say(f"The report is {report}. Print it, sign it and file it.")


def _ask_all(dialogue: Dialogue, table: Path, machine: Machine) -> tuple[Config, dict[str, str], list[str]]:
    """Ask every question of a setup, and write the table's file. Returns the table's configuration, a dict of what was
    found at each part in words, and the networks with which the table may communicate.

    Raises TableError. Raises TakenBackError if the person takes an answer back; the caller must then call this function
    once more. A question that still has an answer is not asked a second time.
    """
    _let_go(dialogue, table, machine)
    draft = convert(_values(table), Draft)
    rules = ask_house(dialogue, table.parent, draft)
    heard = ask_shoe(dialogue, draft)
    walked = ask_wiring(dialogue, rules, draft)
    plug, broker = ask_plug(dialogue, draft), ask_broker(dialogue, table.parent, draft)
    _ask_places(dialogue, draft)
    networks = ask_networks(dialogue, draft)
    found = {
        "shoe": heard,
        "wiring": "walked: each lamp seen, each input pressed" if walked else "not walked: as written in the answers",
        "plug": plug,
        "broker": broker,
        "networks": " ".join(networks),
    }
    return write_table(dialogue, table, to_builtins(draft)), found, networks


def verify_report(path: Path) -> int:
    """Check the signature of a commissioning report, and print whose report it is. Raises TableError if the page was
    altered since the table signed it."""
    report = verified(path)
    key = fingerprint(bytes.fromhex(report.public_key))
    print(f"{path}: table {report.table}, {report.at}, by {report.by}. Signed with the key {key}.")
    return 0


def _values(table: Path) -> dict[str, Any]:
    """Return the values in the existing table's file, or an empty dict if there is no file or the file has mistakes.
    The new file then keeps the keys that no question of the setup asks for."""
    if not table.exists():
        return {}
    try:
        load(table)
    except ConfigError as error:
        print(f"{table} has mistakes, so the setup takes nothing from that file. {error}")
        return {}
    return tomllib.loads(table.read_text("utf-8"))


def _let_go(dialogue: Dialogue, table: Path, machine: Machine) -> None:
    """Stop the table that runs on this machine, so that the setup can use its shoe and pins. A person is asked first.
    Raises TableError: `shoe_is_open`, `table_runs`."""
    if not table.exists():
        return
    try:
        phase = status_of(table).face.phase
    except TableError as error:
        if error.code in ("table_not_running", "config_invalid"):
            return
        raise
    if phase not in BETWEEN_SHOES:
        do = (
            "Wait for the end of the shoe, or close it: tablectl close-shoe --by NAME. Then run `tablectl setup` again."
        )
        raise TableError("shoe_is_open", "The table is in the middle of a shoe, and a setup needs its shoe.", do)
    explains = "The setup listens to the shoe and lights the lamps. Only one program can do that."
    if not dialogue.agrees("setup.stop", "The table runs. Stop it for the setup", explains, True) or not machine.stop():
        raise TableError("table_runs", "The table runs.", "Stop the table, and run `tablectl setup` again.")


def _ask_places(dialogue: Dialogue, draft: Draft) -> None:
    """Put the paths of journal, key and socket into the draft of the table's file. No person is asked: the usual paths
    are used, unless a file of answers, an earlier setup or the existing table's file names others."""
    for name, section, usual in (
        ("journal.path", draft.journal, f"{_STATE}/{draft.id}.journal"),
        ("journal.signing_key", draft.journal, f"{_STATE}/{draft.id}.key"),
        ("control.socket", draft.control, f"{_RUN}/{draft.id}.sock"),
    ):
        place = dialogue.known(name) or dialogue.usual(name, usual)
        section[name.partition(".")[2]] = place
        dialogue.keep(name, place)


def _start(dialogue: Dialogue, table: Path, machine: Machine, networks: list[str]) -> Status | None:
    """Start the table's systemd unit, and wait until the table has found its shoe and its pit, or until `_PATIENCE_S`
    seconds have passed. Returns the table's status, or None if the table is not started."""
    if not machine.has_unit():
        dialogue.say(f"This machine has no systemd unit of the table. Start the table by hand: tablectl run {table}")
        return None
    limit = machine.allow(networks)
    dialogue.say(
        f"The networks that the unit may speak with are in {limit}."
        if limit.exists()
        else "The unit has no limit of networks."
    )
    explains = "The table then starts at each boot too."
    if not dialogue.agrees("setup.start", "Start the table now", explains, True):
        return None
    if not machine.start():
        do = "See why: journalctl -u table-controller. Then run `tablectl setup` again."
        raise TableError("table_not_started", "The file is written, but the table did not become ready.", do)
    return _status(table, lambda status: status.shoe.up and status.pit.key.offered is not None)


def _status(table: Path, enough: Callable[[Status], bool]) -> Status:
    """Wait until `enough` returns True for the table's status, or until `_PATIENCE_S` seconds have passed. Returns the
    last status."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        status = status_of(table)
        if enough(status) or time.monotonic() > deadline:
            return status
        time.sleep(_POLL_S)


def _compare(dialogue: Dialogue, table: Path, by: str, status: Status) -> None:
    """Show the fingerprint of the table's key. If the pit offers a key that the table does not trust yet, show that
    key's fingerprint too, and ask the person to compare it with the key that the pit itself shows. If the person says
    that both are the same, tell the table to trust that key. Without a terminal nobody is asked."""
    key = status.pit.key
    dialogue.say(f"The table's key: {status.key_fingerprint}. The pit shows the same when it adopts the table.")
    if key.offered is None or key.offered == key.pinned:
        return
    dialogue.say(f"The pit's key:   {key.offered}. `sudo pitctl key` at the pit shows the same.")
    explains = "Read the pit's key at the pit, or have it read to you. Only a key that was compared can be believed."
    says = "Have you compared the pit's key, and is it the same"
    if dialogue.terminal is not None and dialogue.agrees("setup.pit_key", says, explains, False):
        try:
            ask(table, {"do": "pit_key", "trust": key.offered, "by": by})
        except TableError as error:
            dialogue.say(str(error))
