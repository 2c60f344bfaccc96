"""Every command of `tablectl`, gathered from the modules of this folder."""

from __future__ import annotations

from controller.basics.command import Command
from controller.people.cli.command import GROUPS
from controller.people.cli.commands.looking import LOOKING
from controller.people.cli.commands.record import OF_RECORD
from controller.people.cli.commands.table import OF_TABLE
from controller.people.cli.commands.wire import OF_WIRE
from controller.people.cli.commands.without_hardware import WITHOUT_HARDWARE

COMMANDS: tuple[Command, ...] = (*LOOKING, *OF_TABLE, *OF_RECORD, *WITHOUT_HARDWARE, *OF_WIRE)
"""The commands that are not acts."""


def every_command() -> tuple[Command, ...]:
    """Return all commands of `tablectl`, in the order of its help."""
    from controller.people.cli import acts

    return tuple(sorted((*acts.commands(), *COMMANDS), key=lambda command: GROUPS.index(command.group)))
