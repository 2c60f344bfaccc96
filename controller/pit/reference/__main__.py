"""The command `pitctl`. It runs the reference pit (the pit program of this project), and has all commands that people
use at the pit."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from controller.basics.command import named
from controller.basics.errors import TableError
from controller.basics.journald import tell_error
from controller.pit.reference.commands.entries import COMMANDS, PROGRAM

_EXIT_TROUBLE, _EXIT_INTERRUPTED = 1, 130


def main(arguments: list[str] | None = None) -> int:
    """Run one `pitctl` command, and return its exit code. Print an error to standard error, with advice on what to
    do."""
    words = sys.argv[1:] if arguments is None else arguments
    command = named(words, COMMANDS)  # no command waits for the parsers of all others
    options = PROGRAM.parser(COMMANDS if command is None else (command,)).parse_args(words)
    try:
        code: int = options.command.run(options)
    except TableError as error:
        tell_error(error, sys.stderr, PROGRAM.name)
        return _EXIT_TROUBLE
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone
        return _EXIT_TROUBLE
    return code


def parser() -> ArgumentParser:
    """Return the command-line parser of all `pitctl` commands."""
    return PROGRAM.parser(COMMANDS)


if __name__ == "__main__":
    sys.exit(main())
