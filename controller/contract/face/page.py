"""What the program that drives a table's screen reports to other programs on the machine about its players' page."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PageCode = Literal["page_on_monitor", "page_in_browser", "page_unseen", "page_dark"]
"""Who sees the players' page, by the words' code: an attached monitor, a browser elsewhere, nobody; or the attached
monitor has painted nothing for some time."""

PAGE_STANDING = "/standing"
"""Where a screen tells it, as JSON: null while the screen does not hear the table."""


class PageStanding(Struct, frozen=True):
    """Where the players' page of this table can be seen, as a code such as "page_on_monitor", and for how many seconds
    this has been so."""

    table: str
    code: PageCode
    for_s: int
