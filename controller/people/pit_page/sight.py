"""The log messages that say that the pit's page can no longer see the ledger or the broker, or sees them again."""

from __future__ import annotations

import sys

from controller.basics.journald import Kind, Priority, tell
from controller.people.pit_page.look import Look
from controller.people.pit_page.subscriber import NOT_YET

NAME = "table-pit-page"
"""The page's name in the log."""


class Sight:
    """The log of whether the pit's page sees the ledger and the broker. Each change is logged once, and nothing is
    logged while the state stays the same."""

    def __init__(self) -> None:
        self._blind: dict[str, str] = {}  # by what cannot be seen: what was said of it

    def see(self, look: Look) -> None:
        """Log on standard error what has changed since the last call: that the ledger or the broker can no longer be
        seen, or that it can be seen again."""
        error = look.ledger_error
        self._say("ledger", None if error is None else str(error), None if error is None else error.code)
        if look.broker_error != NOT_YET:
            self._say("broker", look.broker_error, None if look.broker_error is None else "broker_away")

    def _say(self, what: str, why: str | None, code: str | None) -> None:
        if why is None:
            if self._blind.pop(what, None) is not None:
                tell(f"The page sees the {what} again.", Kind.PAGE_SEES, sys.stderr, NAME)
        elif self._blind.get(what) != why:
            self._blind[what] = why
            told = f"The page does not see the {what}: {why}"
            tell(told, Kind.PAGE_BLIND, sys.stderr, NAME, Priority.WARNING, {"TABLE_CODE": code})
