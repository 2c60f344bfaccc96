"""Asks a table's screen server whether the monitor at the table shows the players' page."""

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
    """Ask the screen server at `at` (HOST:PORT), and return the line of the table's status that says whether the
    monitor shows the players' page of this table. The wait is short, because an unrelated program may listen at that
    address and answer slowly or wrongly."""
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
    """Ask the screen server at `at` (HOST:PORT) whether the monitor shows the players' page, and append the server's
    answer to `answers`."""
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
