"""Facts of the table about the loss and the return of the pit's link. They show later from when to when the table did
not find its pit well."""

from __future__ import annotations

from collections.abc import Callable

from controller.daemon import clock
from controller.table.facts import OwnFact
from controller.table.journalled import PitLinkBack, PitLinkLost

_WELL = "well"


class LinkTold:
    """Tells people once that the link to the pit is lost, and once that it is back.

    `lost` says whether people were told of a loss, and not yet of a return. A cut that is over within `stale_after_s`
    seconds is no loss, because the table goes by the pit's last message for so long.
    """

    def __init__(self, lost: bool, stale_after_s: float, tell: Callable[[OwnFact], None]) -> None:
        self._lost = lost
        self._stale_after_s = stale_after_s
        self._tell = tell
        self._well_s: float | None = None  # when the pit was found well last; None: not since the program started
        self._lost_s = clock.monotonic_s()  # when the loss was told, or the program started

    def look(self, standing: str, now_s: float) -> None:
        """Take in how the table finds the pit now, as the code `standing`, and tell people where the link was just lost
        or came back."""
        if standing == _WELL:
            self._well_s = now_s
            if self._lost:
                self._lost = False
                self._tell(PitLinkBack(int(now_s - self._lost_s)))
        elif not self._lost and self._well_s is not None and now_s - self._well_s >= self._stale_after_s:
            self._lost, self._lost_s = True, now_s
            self._tell(PitLinkLost(standing))
