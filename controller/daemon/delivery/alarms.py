"""Alarms to people about troubles that go on, such as forged messages: one at once, then at most one in ten minutes for
each kind of trouble."""

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
    """Raises alarms, and remembers when each kind of alarm was raised last. An alarm reaches people as a fact, which is
    given to `tell`."""

    def __init__(self, tell: Callable[[OwnFact], None]) -> None:
        self._tell = tell
        self._told_at_s: dict[str, float] = {}

    def alarm(self, kind: str, fact: OwnFact, what: str) -> None:
        """Log the trouble `what` and tell people of it by `fact`, unless people were told of this `kind` in the last
        ten minutes."""
        now_s = clock.monotonic_s()
        told_s = self._told_at_s.get(kind)
        if told_s is None or now_s - told_s >= _AGAIN_AFTER_S:
            self._told_at_s[kind] = now_s
            _log.error("%s: %s", kind, what)
            self._tell(fact)
