"""The commands of `pitctl`, in one table."""

from __future__ import annotations

from argparse import Namespace

from controller.basics.command import Command, Program
from controller.basics.manual import add_completion, manual
from controller.pit.reference.commands import asking, copies, day, deciding, running, slips, tables, terms

_RUN, _TABLES, _AWARDS, _RECORD = "The pit itself", "Tables", "Awards and the account", "The record"

PROGRAM = Program(
    "pitctl",
    "everything a person does with the reference pit from a shell",
    (_TABLES, _AWARDS, _RECORD, _RUN),
    (
        (0, "done"),
        (1, "an error: standard error has a code, what happened, and what to do; or what was checked does not balance"),
        (2, "the command line itself is wrong"),
        (130, "ended by Ctrl-C"),
    ),
    notes=(
        "Without --ledger: the ledger in the variable LEDGER, or /var/lib/table-pit/ledger, the package's.",
        "Commands that only read the ledger run as the account table-pit, whose the ledger is: sudo pitctl COMMAND.",
        "Commands that decide ask the running pit, at the socket in the variable CONTROL, or /run/table-pit/control,",
        "the package's: from your own account, without sudo. The account's groups give its roles.",
    ),
    families={
        "award": ("see the awards, and decide on them", "ACT"),
        "terms": ("see the meters' terms, and decide on them", "ACT"),
    },
)


def _manual(options: Namespace) -> int:
    return manual(PROGRAM, COMMANDS, options.completion)


COMMANDS: tuple[Command, ...] = (
    Command(
        "adopt",
        _TABLES,
        "hear a table in this epoch from now on; a second person confirms",
        "royal9-01 EPOCH KEY",
        tables.adopt,
        tables.add_adopt,
    ),
    Command(
        "unadopt",
        _TABLES,
        "take back a wrong adoption of which no award is paid, so that it counts no more; a second person confirms",
        "royal9-01 EPOCH --reason 'wrong key'",
        tables.unadopt,
        tables.add_unadopt,
    ),
    Command(
        "retire",
        _TABLES,
        "a table is gone for good: wait for it no more, until somebody adopts it again; a second person confirms",
        "royal9-01 --reason sold",
        tables.retire,
        tables.add_retire,
    ),
    Command(
        "alarms",
        _TABLES,
        "print every alarm that was kept, oldest first; also while the pit runs",
        "royal9-01",
        tables.alarms,
        tables.add_alarms,
    ),
    Command(
        "award list",
        _AWARDS,
        "the awards that are pending or verified",
        "--all",
        deciding.list_awards,
        deciding.add_list,
    ),
    Command(
        "award verify",
        _AWARDS,
        "the hit is true: the cards, the seat and the amount were checked",
        "AWARD",
        deciding.decide,
        deciding.add_decision("verify"),
    ),
    Command(
        "award pay",
        _AWARDS,
        "a verified award is paid, by another person than the person who verified it",
        "AWARD",
        deciding.decide,
        deciding.add_decision("pay"),
    ),
    Command(
        "award reject",
        _AWARDS,
        "the hit is not true: the amount goes back on the meter; a second person confirms",
        "AWARD",
        deciding.decide,
        deciding.add_decision("reject"),
    ),
    Command(
        "award recall",
        _AWARDS,
        "this ledger is an older copy: take over the steps that the table told of the award; a second person confirms",
        "AWARD",
        deciding.decide,
        deciding.add_decision("recall"),
    ),
    Command(
        "award dismiss",
        _AWARDS,
        "nobody took the steps that the table told of the award; a second person confirms",
        "AWARD",
        deciding.decide,
        deciding.add_decision("dismiss"),
    ),
    Command("desk", _AWARDS, "what waits for a decision, and who you are to the pit", "", asking.desk, asking.add_desk),
    Command(
        "confirm",
        _AWARDS,
        "be the second person of what another person proposed",
        "7",
        asking.confirm,
        asking.add_confirm,
    ),
    Command(
        "terms show",
        _AWARDS,
        "the terms that run and those that wait, who approved them, and the digest of what runs",
        "",
        terms.show,
        terms.add_show,
    ),
    Command(
        "terms propose",
        _AWARDS,
        "let the meters have the terms of the pit's settings file as it is now; a second person approves",
        "--reason 'the summer campaign'",
        terms.propose,
        terms.add_propose,
    ),
    Command(
        "terms approve",
        _AWARDS,
        "be the second person of proposed terms: the same as `confirm`",
        "7",
        asking.confirm,
        asking.add_confirm,
    ),
    Command(
        "terms withdraw",
        _AWARDS,
        "take back terms that wait until their meter is won; a second person confirms",
        "player_personal --reason 'wrong rate'",
        terms.withdraw,
        terms.add_withdraw,
    ),
    Command(
        "decisions",
        _RECORD,
        "print who decided what, and when; with --refused, who was refused what",
        "--refused",
        deciding.decisions,
        deciding.add_decisions,
    ),
    Command(
        "slip",
        _AWARDS,
        "print the numbered slip by which a verified award is paid; each later print is marked as a copy",
        "AWARD -o slip.html",
        slips.slip,
        slips.add_slip,
    ),
    Command(
        "slips",
        _AWARDS,
        "every slip with each of its prints: when, and by whom",
        "",
        slips.list_slips,
        slips.add_list,
    ),
    Command(
        "account",
        _AWARDS,
        "draw up the meters' account; exit code 1 where the account does not balance",
        "",
        deciding.account,
        deciding.add_account,
    ),
    Command(
        "day",
        _AWARDS,
        "what a gaming day came to, by table, shift and dealer, with each meter's readings; exit code 1 with findings",
        "2026-11-25 --par royal9-01.par.json",
        day.day,
        day.add_day,
    ),
    Command(
        "events",
        _RECORD,
        "print a table's log, for `tablectl verify --against`; or every table's events, for head office",
        "royal9-01",
        tables.events,
        tables.add_events,
    ),
    Command(
        "statement",
        _RECORD,
        "print how the ledger stands, signed: the last line of a log for head office; also while the pit runs",
        "",
        tables.statement,
        tables.add_statement,
    ),
    Command(
        "backup",
        _RECORD,
        "pack the ledger and the pit's key into a new file, and read it back; also while the pit runs",
        "pit.backup",
        copies.backup,
        copies.add_backup,
    ),
    Command("verify", _RECORD, "check a backup without restoring it", "pit.backup", copies.verify, copies.add_verify),
    Command(
        "restore",
        _RECORD,
        "put a backup in the place of the ledger, which is set aside; not while the pit runs",
        "pit.backup",
        copies.restore,
        copies.add_restore,
    ),
    Command(
        "run",
        _RUN,
        "run the pit: commit and acknowledge what tables send, until SIGTERM or Ctrl-C",
        "--ledger ledger --broker 127.0.0.1:1883",
        running.run,
        running.add_run,
    ),
    Command(
        "key",
        _RUN,
        "the fingerprint of the pit's key, to be compared with `tablectl pit-key`",
        "",
        running.show_key,
        running.add_key_of_ledger,
    ),
    Command(
        "rotate-key",
        _RUN,
        "give the pit a new key, which the former key signs; not while the pit runs",
        "",
        running.rotate,
        running.add_key_of_ledger,
    ),
    Command(
        "machines",
        _RUN,
        "write the files of a pit on two machines, with new passwords, from one file of names and addresses",
        "config/ha machines",
        running.machines,
        running.add_machines,
    ),
    Command("manual", _RUN, "the manual page of all commands, for `man -l -`", "| man -l -", _manual, add_completion),
)
