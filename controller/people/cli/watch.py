"""`tablectl watch`: show a running table live in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from controller.contract.face.status import Standing, Status
from controller.daemon.config import load
from controller.people.cli.client import watch
from controller.people.cli.status import happening_lines
from controller.words.language import Language, language

_PICTURES_PER_S = 10  # the shortest part of a lamp's pattern is 120 ms


def watch_table(table: Path, language_name: str) -> int:
    """Show the running table until Ctrl-C or until the table ends. A terminal shows a live picture; any other output
    gets a line for each change.

    Raises TableError with the reason when the table sends no more statuses.
    """
    words = language(language_name)
    if not sys.stdout.isatty():
        for line in changes(watch(table), table, words):
            print(f"{datetime.now().astimezone():%H:%M:%S}  {line}", flush=True)
        return 0
    from rich.live import Live

    from controller.people.cli.picture import Picture, keys_unseen

    config = load(table)
    title = f"{config.file.table.name} - Ctrl-C ends this view, not the table"
    picture = Picture(title, config.rules, words)
    with keys_unseen(), Live(picture, refresh_per_second=_PICTURES_PER_S) as live:
        for status in watch(table):
            picture.status = status
            live.refresh()
    return 0


def changes(statuses: Iterable[Status], table: Path, words: Language) -> Iterator[str]:
    """Yield, for each status of the table, the lines of text that were not among the lines of the previous status."""
    shown: list[str] = []
    standing: Standing | None = None
    for status in statuses:
        if standing is None or standing.code != status.pit.standing.code:
            standing = status.pit.standing  # else only the time in its details has grown
        lines = happening_lines(replace(status, pit=replace(status.pit, standing=standing)), table, words)
        yield from (line for line in lines if line not in shown)
        shown = lines
