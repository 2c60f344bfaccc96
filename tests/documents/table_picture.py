"""Draws `docs/table.svg`, a picture of what `tablectl watch` shows when a round has a Royal 9 hit. The round is played
for the picture."""

from __future__ import annotations

from io import StringIO
from unittest.mock import patch

from rich.console import Console

from controller.people.cli.picture import Picture
from controller.words.language import language
from tests.daemon.test_picture import LEVELS, status
from tests.support.tables import TableUnderTest

_COLUMNS = 116
_FORM = """\
<svg class="rich-terminal" viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font: {char_height}px/{line_height}px DejaVu Sans Mono, Menlo, Consolas, monospace; }}
{styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
<rect fill="#16202a" width="{terminal_width}" height="{terminal_height}" rx="8"/>
<g clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def table_picture() -> str:
    """Draw what `tablectl watch` shows, as SVG. Lamps that blink are drawn lit."""
    table = TableUnderTest(levels=LEVELS).open_shoe("3H 8C KD 2S").lock(2, 5).draw("KH 2C 9H 5D")
    console = Console(record=True, width=_COLUMNS, file=StringIO())
    picture = Picture("Royal 9, table 1", table.rules, language())
    picture.status = status(table)
    with patch("controller.people.cli.picture.time.monotonic_ns", lambda: 0):
        console.print(picture)
    return console.export_svg(title="", code_format=_FORM, unique_id="table")
