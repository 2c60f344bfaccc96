"""The entry point of `tablectl`, the command-line program by which a person does everything with a table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.colours import painted
from controller.basics.command import Command, named
from controller.basics.errors import TableError
from controller.people.cli.command import File, parser_of
from controller.people.cli.commands import COMMANDS, every_command
from controller.people.cli.files import check_kind, default_journal, default_table

EXIT_TROUBLE = 1
EXIT_STAYS_WRONG = 78  # sysexits EX_CONFIG
EXIT_INTERRUPTED = 130
STAYS_WRONG = frozenset(
    {
        "config_invalid",
        "journal_damaged",
        "journal_linked",
        "journal_lost",
        "journal_note_unusable",
        "journal_of_another_epoch",
        "journal_of_another_key",
        "journal_of_another_table",
        "journal_too_new",
        "program_not_approved",
        "fact_unreadable",
        "replay_failed",
        "shoe_of_another_version",
        "signing_key_unusable",
    }
)
"""Errors that keep a table from starting until a person corrects the cause: a restart changes nothing. Errors of a disk
or of another process are not here, since they may pass."""


_OTHER_PATHS = ("backup", "deal")
"""Commands of a table that take another path too: a table that is named there ends in .toml."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command of `tablectl` that the arguments name, and return the exit code. An error is printed to standard
    error, with what to do about it."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    starts = words[:1] == ["run"]
    try:
        options = parsed(words)
        if options.command.file is not None:
            check_kind(options.command, getattr(options, options.command.file.name.lower()))
        code: int = options.command.run(options)
    except PermissionError as error:
        if starts:
            raise  # the unit says under which user the table runs: sudo is no advice there
        do = "Run the same command again with sudo."
        _print(TableError("not_allowed", f"You may not use {error.filename}.", do))
        return EXIT_TROUBLE
    except TableError as error:
        _print(error)
        stays_wrong = error.code == "config_invalid" or (starts and error.code in STAYS_WRONG)
        return EXIT_STAYS_WRONG if stays_wrong else EXIT_TROUBLE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone
        return 0
    return code


def _print(error: TableError) -> None:
    from controller.basics.journald import tell_error  # `dark` does not wait for it

    if not sys.stderr.isatty():
        tell_error(error, sys.stderr, "tablectl")
        return
    happened, line_end, do = str(error).partition("\n")
    print(f"{painted(happened, 'red', sys.stderr)}{line_end}{do}", file=sys.stderr)


def parsed(words: list[str]) -> Namespace:
    """Parse a command line of `tablectl`. If it names no table, the default table's file is filled in. Raises
    TableError if there is no default table, and SystemExit for a wrong command line."""
    # `dark` must not wait while the acts load, and no command waits for the parsers of all others.
    command = named(words, COMMANDS) or named(words, every_command())
    parser = parser_of((command,) if command is not None else every_command())
    if command is not None and not {"-h", "--help"} & set(words):
        try:
            words = _with_file(command, words)
        except TableError:
            place = len(command.name.split())
            parser.parse_args([*words[:place], "TABLE.toml", *words[place:]])  # a wrong option is told first
            raise
    return parser.parse_args(words)


def _with_file(command: Command, words: list[str]) -> list[str]:
    """Return the words of the command line. If the command needs a table's file or a journal and no word names one, the
    default file is inserted."""
    name, rest = words[: len(command.name.split())], words[len(command.name.split()) :]
    own = ArgumentParser(add_help=False)
    command.add(own)
    given = _positionals(own, rest)
    others = [action for action in own._actions if not action.option_strings]
    wanted = sum(action.nargs is None for action in others)
    if given and not others:
        return words  # the command takes nothing else: the word is meant as the file, whatever it is called
    match command.file:
        case File.TABLE if not any(word.endswith(".toml") or _is_other_table(command, word) for word in given):
            return [*name, str(default_table(command.name)), *rest]
        case File.JOURNAL if len(given) <= wanted:  # `replay` and `evidence` want a round besides
            return [*name, str(default_journal(command.name)), *rest]
        case _:
            return words


def _positionals(own: ArgumentParser, words: list[str]) -> list[str]:
    """Return those words that are neither an option nor the value of an option. `own` is a parser that knows the
    arguments of the command."""
    valued = {option for action in own._actions if action.nargs != 0 for option in action.option_strings}
    return [
        word
        for place, word in enumerate(words)
        if not word.startswith("-") and not (place and words[place - 1] in valued)
    ]


def _is_other_table(command: Command, word: str) -> bool:
    """Tell whether a word of the command line is a path that can only mean a table's file, although the path does not
    end in .toml."""
    is_path = word.startswith(("/", "./", "../")) or ("/" in word and Path(word).is_file())
    return command.name not in _OTHER_PATHS and is_path


if __name__ == "__main__":
    sys.exit(main())
