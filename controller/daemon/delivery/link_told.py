"""Tells the table when the link to the pit is lost and when it is back, as facts for the journal. The journal then
shows from when to when the link did not work."""

from __future__ import annotations

from collections.abc import Callable

from controller.daemon import clock
from controller.table.facts import OwnFact
from controller.table.journalled import PitLinkBack, PitLinkLost

_WELL = "well"


class LinkTold:
    """Tells people once that the link to the pit is lost, and once that the link is back.

    `lost` is True after people were told of the loss, until they are told of the link's return. A cut of less than
    `stale_after_s` seconds is not told, because the table relies on the pit's last message for that long.
    """

    def __init__(self, lost: bool, stale_after_s: float, tell: Callable[[OwnFact], None]) -> None:
        self._lost = lost
        self._stale_after_s = stale_after_s
        self._tell = tell
        self._well_s: float | None = None  # when the pit was found well last; None: not since the program started
        self._lost_s = clock.monotonic_s()  # when the loss was told, or the program started

    def look(self, standing: str, now_s: float) -> None:
        """Take in the state of the link to the pit: "well", or the code of what is wrong. Tell people that the link is
        back, or that the link is lost: the link was well since the program started, but not in the last `stale_after_s`
        seconds."""
        if standing == _WELL:
            self._well_s = now_s
            if self._lost:
                self._lost = False
                self._tell(PitLinkBack(int(now_s - self._lost_s)))
        elif not self._lost and self._well_s is not None and now_s - self._well_s >= self._stale_after_s:
            self._lost, self._lost_s = True, now_s
            self._tell(PitLinkLost(standing))
