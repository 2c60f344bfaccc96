"""The progressive levels as the pit says them, and whether they are fresh enough to bet on. Pure: time comes in.

The pit says them every two seconds, each time with a higher number. The broker keeps the last word and hands it to
whoever connects, whether or not the pit still lives: so the first word on a connection tells amounts and no more.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from controller.contract.bounds import MOST_CENTS, MOST_METERS, MOST_SEQ, NAME, is_count


class Levels:
    """What is known of the levels. `meters` are those a wager here can win; without any, nothing can be stale."""

    def __init__(self, meters: Collection[str], stale_after_s: float) -> None:
        self._meters = frozenset(meters)
        self._stale_after_s = stale_after_s
        self._seq = 0
        self._heard_on_connection = False
        self._fresh_at_s: float | None = None
        self.cents: dict[str, int] = {}

    def disconnected(self) -> None:
        """The connection is gone: what comes first on the next one may be an old word."""
        self._heard_on_connection = False

    def heard(self, payload: bytes, now_s: float) -> str | None:
        """Take the pit's word; why it is refused, None when it is taken."""
        said = _parse(payload)
        if said is None:
            return "it is no word on the meters"
        seq, cents = said
        if seq < self._seq:
            return f"it is older ({seq}) than one already seen ({self._seq})"
        if seq == self._seq:
            self._heard_on_connection = True
            return None
        self._seq, self.cents = seq, cents
        if self._heard_on_connection:
            self._fresh_at_s = now_s
        self._heard_on_connection = True
        return None

    def fresh(self, now_s: float) -> bool:
        """Whether every level that can be won here was said lately."""
        if not self._meters:
            return True
        lately = self._fresh_at_s is not None and now_s - self._fresh_at_s <= self._stale_after_s
        return lately and self._meters <= self.cents.keys()


def _parse(payload: bytes) -> tuple[int, dict[str, int]] | None:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    match value:
        case {"seq": seq, "meters": dict(meters)} if (
            is_count(seq, 1, MOST_SEQ)
            and len(meters) <= MOST_METERS
            and all(NAME.fullmatch(name) and is_count(cents, 0, MOST_CENTS) for name, cents in meters.items())
        ):
            return seq, meters
        case _:
            return None
