"""How the players' page stands, asked of the table's screen: whether the attached monitor paints."""

from __future__ import annotations

from functools import partial
from http.client import HTTPConnection, HTTPException

import msgspec

from controller.contract.face.page import PAGE_STANDING, PageStanding
from controller.words.language import Language

_PATIENCE_S = 2
_MOST_BYTES = 1000


def page_line(at: str, table: str, words: Language) -> str:
    """A line of the status: what the screen at this HOST:PORT says of the page of this table."""
    say = partial(words.text, "say")
    try:
        told = _asked(at)
    except (OSError, HTTPException, msgspec.MsgspecError):
        told = None
    if told is None:
        return say("page_silent", at=at)
    if told.table != table:
        return say("page_other", at=at, table=told.table)
    return say("page", says=say(told.code), for_s=told.for_s)


def _asked(at: str) -> PageStanding | None:
    screen = HTTPConnection(at, timeout=_PATIENCE_S)
    try:
        screen.request("GET", PAGE_STANDING)
        return msgspec.json.decode(screen.getresponse().read(_MOST_BYTES), type=PageStanding | None)
    finally:
        screen.close()
