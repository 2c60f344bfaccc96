"""Debounces inputs: finds out which level an input has after its contact has stopped bouncing.

This module uses no clock and does no I/O: the samples and their times are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping


class Debouncer:
    """Debounces named inputs. A change counts only after every sample during `debounce_ms` has shown the new level.

    The first sample counts at once, so a button that is already held down at the start is no press. A sample that is
    older than the last one is ignored.
    """

    def __init__(self, debounce_ms: int) -> None:
        self._debounce_ms = debounce_ms
        self._changing_since_ms: dict[str, int] = {}
        self._newest_ms: int | None = None
        self.settled: dict[str, bool] = {}

    @property
    def changing(self) -> bool:
        """True while an input has left its debounced level. The inputs must then be read often, so that no bounce is
        missed."""
        return bool(self._changing_since_ms)

    def sample(self, levels: Mapping[str, bool], now_ms: int) -> dict[str, bool]:
        """Take one sample of all inputs, read at `now_ms`. Return the inputs that have now reached a new debounced
        level, with that level."""
        if self._newest_ms is not None and now_ms < self._newest_ms:
            return {}
        self._newest_ms = now_ms
        if levels == self.settled and not self.changing:
            return {}
        changed: dict[str, bool] = {}
        for name, level in levels.items():
            if name not in self.settled:
                self.settled[name] = level
            elif level == self.settled[name]:
                self._changing_since_ms.pop(name, None)
            elif now_ms - self._changing_since_ms.setdefault(name, now_ms) >= self._debounce_ms:
                del self._changing_since_ms[name]
                self.settled[name] = changed[name] = level
        return changed
