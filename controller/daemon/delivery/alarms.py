"""Tells people about troubles that last for some time, such as forged messages. People are told of each kind of trouble
when it begins, and after that at most once in ten minutes."""

from __future__ import annotations

import logging
from collections.abc import Callable

from controller.daemon import clock
from controller.table.facts import OwnFact

_log = logging.getLogger(__name__)

_AGAIN_AFTER_S = 600.0
"""Two clients of one id push each other off the broker for as long as they run, and a forger forges on and on. People
are told of each at most so often."""


class Alarms:
    """Tells people about troubles that last for some time, but at most once in ten minutes for each kind of trouble.
    People learn of a trouble through a fact (an entry for the table's journal), which is passed to the function `tell`.
    """

    def __init__(self, tell: Callable[[OwnFact], None]) -> None:
        self._tell = tell
        self._told_at_s: dict[str, float] = {}

    def alarm(self, kind: str, fact: OwnFact, what: str) -> None:
        """Log the trouble that the text `what` describes, and pass `fact`, which tells people of the trouble, to the
        table. Do nothing if people were told of this `kind` of trouble in the last ten minutes."""
        now_s = clock.monotonic_s()
        told_s = self._told_at_s.get(kind)
        if told_s is None or now_s - told_s >= _AGAIN_AFTER_S:
            self._told_at_s[kind] = now_s
            _log.error("%s: %s", kind, what)
            self._tell(fact)
