"""How the players' page stands, asked of the table's screen: whether the attached monitor paints."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Thread

import msgspec

from controller.contract.face.page import PAGE_STANDING, PageStanding
from controller.daemon.config.table_file import mistakes_in_id
from controller.words.language import Language

_PATIENCE_S = 2
_MOST_BYTES = 1000


def page_line(at: str, table: str, words: Language) -> str:
    """A line of the status: what the screen at this HOST:PORT says of the page of this table. Whoever listens there
    may answer anything, however slowly."""
    say = partial(words.text, "say")
    answers: list[PageStanding | None] = []
    asking = Thread(target=_ask, args=[at, answers], daemon=True)
    asking.start()
    asking.join(_PATIENCE_S)
    if not answers:
        return say("page_silent", at=at)
    if (told := answers[0]) is None:
        return say("page_deaf", at=at)
    if told.table != table:
        return say("page_other", at=at, table=told.table)
    return say("page", says=say(told.code), for_s=told.for_s)


def _ask(at: str, answers: list[PageStanding | None]) -> None:
    """Add the screen's answer, where it is one."""
    with suppress(OSError, HTTPException, ValueError, RecursionError):
        screen = HTTPConnection(at, timeout=_PATIENCE_S)
        try:
            screen.request("GET", PAGE_STANDING)
            response = screen.getresponse()
            told = msgspec.json.decode(response.read(_MOST_BYTES), type=PageStanding | None)
        finally:
            screen.close()
        if response.status == HTTPStatus.OK and not (told and any(mistakes_in_id(told.table))):
            answers.append(told)
