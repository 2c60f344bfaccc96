"""`tablectl watch`: a running table, live in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.cli.client import key_lines, status_lines, watch
from controller.config import load


def watch_table(table: Path) -> int:
    """Show the table until Ctrl-C or its end: a live picture on a terminal, otherwise its status when it changes."""
    if not sys.stdout.isatty():
        told: list[str] = []
        for status in watch(table):
            lines = [*status_lines(status)[:-1], *key_lines(status["pit"], table)]  # without the time it has been up
            if lines != told:
                print("\n".join(lines), flush=True)
                told = lines
        return 0
    from rich.live import Live

    from controller.cli.picture import picture

    title = f"{load(table).file.table.name} - Ctrl-C ends this view, not the table"
    with Live(auto_refresh=False) as live:
        for status in watch(table):
            live.update(picture(title, status, [], status["pit"]["acked_seq"]), refresh=True)
    return 0
