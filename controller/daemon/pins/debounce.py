"""Debounces inputs: finds the level of an input once its contact has stopped bouncing.

No clock and no I/O: the samples and their times are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping


class Debouncer:
    """The debounced levels of named inputs. A change counts once each sample during `debounce_ms` had the new level.

    The first sample settles at once: a button that is held down at the start is not a press. A sample that is older
    than the last one counts for nothing.
    """

    def __init__(self, debounce_ms: int) -> None:
        self._debounce_ms = debounce_ms
        self._changing_since_ms: dict[str, int] = {}
        self._newest_ms: int | None = None
        self.settled: dict[str, bool] = {}

    @property
    def changing(self) -> bool:
        """True while an input is changing. The inputs must then be read often, so that no bounce is missed."""
        return bool(self._changing_since_ms)

    def sample(self, levels: Mapping[str, bool], now_ms: int) -> dict[str, bool]:
        """Take one sample of all inputs. Return each input that has now settled at a new level, with that level."""
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
