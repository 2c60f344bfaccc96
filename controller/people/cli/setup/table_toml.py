"""Writes a table's file as TOML. The complete file is replaced at once, and only if the new values have no mistake."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.keys import write_whole
from controller.daemon.config import Config, load
from controller.daemon.config.problems import ConfigError
from controller.people.cli.setup.questions import Dialogue

_HEAD = "# Written by `tablectl setup`. You may change this file; `tablectl check` finds a mistake in it.\n"


def table_toml(values: Mapping[str, Any]) -> str:
    """Return the TOML text of a table's file with these values."""
    return _HEAD + "".join(f"\n{block}" for name, section in values.items() for block in _blocks(name, section))


def _blocks(name: str, section: Any) -> Iterator[str]:
    if isinstance(section, list):
        yield "".join(f"[[{name}]]\n{_lines(each)}" for each in section)
        return
    yield f"[{name}]\n" + _lines({key: value for key, value in section.items() if not isinstance(value, dict)})
    for below, wired in section.items():
        if isinstance(wired, dict):
            yield f"[{name}.{below}]\n" + _lines(wired)


def _lines(keys: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in keys.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)  # TOML writes a text, a number, true and false as JSON does


def write_table(dialogue: Dialogue, table: Path, values: Mapping[str, Any]) -> Config:
    """Write the table's file and return its configuration. The file is written only if it has no mistake. If an
    existing file would change, the differences are printed first, and the person must agree.

    A changed file is kept beside the new one. Raises TableError: `setup_not_written`, `setup_not_replaced`.
    """
    new = table.with_name(f"{table.name}.new")
    text = table_toml(values)
    try:
        _written(new, text)
        config = load(new)
    except ConfigError as error:
        new.unlink()
        lines = "\n".join(map(str, error.problems)).replace(str(new), str(table))
        do = "Run `tablectl setup` again, and give other answers where these lines name a mistake."
        raise TableError(
            "setup_not_written", f"With these answers the file would have mistakes:\n{lines}", do
        ) from None
    except OSError as error:
        do = "Run the same command again with sudo."
        raise TableError("setup_not_written", f"{new} cannot be written: {error.strerror}.", do) from None
    before = table.read_text("utf-8") if table.exists() else text
    if before != text:
        changes = difflib.unified_diff(
            before.splitlines(), text.splitlines(), str(table), "as answered now", "", "", 1, ""
        )
        dialogue.say(f"{table} is there already. What would change:", *changes)
        explains = f"The file that is there is kept as {table.name}.before."
        if not dialogue.agrees("setup.replace", "Write the new file in its place", explains, False):
            new.unlink()
            do = "Run `tablectl setup` again: your answers are kept. A file of answers must hold setup.replace."
            raise TableError("setup_not_replaced", f"{table} stays as it was.", do)
        _written(table.with_name(f"{table.name}.before"), before)
    new.replace(table)
    sync_folder(table)
    for warning in config.warnings:
        dialogue.say(f"warning: {warning}")
    return config


def _written(path: Path, text: str) -> None:
    write_whole(path, text.encode())
    path.chmod(0o644)
