"""The report of the program that drives a table's screen: where the page for players can be seen. Other programs on the
machine read the report."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PageCode = Literal["page_on_monitor", "page_in_browser", "page_unseen", "page_dark"]
"""Who sees the players' page, by the words' code: an attached monitor, a browser elsewhere, nobody; or the attached
monitor has painted nothing for some time."""

PAGE_STANDING = "/standing"
"""Where a screen tells it, as JSON: null while the screen does not hear the table."""


class PageStanding(Struct, frozen=True):
    """A code that says where the players' page of this table can be seen, such as "page_on_monitor", and the number of
    seconds for which this has been so."""

    table: str
    code: PageCode
    for_s: int
