"""What the screen of a table reports about its players' page to the programs on its machine."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PageCode = Literal["page_on_monitor", "page_in_browser", "page_unseen", "page_dark"]
"""Who sees the players' page, by the words' code: an attached monitor, a browser elsewhere, nobody; or the attached
monitor has painted nothing for some time."""

PAGE_STANDING = "/standing"
"""Where a screen tells it, as JSON: null while the screen does not hear the table."""


class PageStanding(Struct, frozen=True):
    """Who sees the players' page of this table, as a code, and for how many seconds, as far as the screen knows."""

    table: str
    code: PageCode
    for_s: int
