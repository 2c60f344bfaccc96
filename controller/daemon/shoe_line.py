"""The shoe as the loop hears it: its reports, whether its line is up, for how long it went unheard, and bad bytes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec import Struct, field

from controller.daemon import clock
from controller.daemon.beat import next_beat
from controller.daemon.shoe_heard import Mark, ShoeHeard
from controller.table.believing import gap_would_show
from controller.table.face_down import hides_cards
from controller.table.facts import Fact, ShoeUnheard, ShoeUnplugged
from controller.table.public import PHASE_NAMES
from controller.table.states import Table
from drivers.devices import Shoe

_log = logging.getLogger(__name__)

_COPIES_COME_WITHIN_S = 0.5
"""All copies of a report have come after so long: three copies take 75 ms at most, with pauses between them."""

_DEALING = ("burning", "round_in_play")
_SHOE_OPEN = ("first_card_due", "burning", "wagers_open", "paused", "wagers_locked", "round_in_play")


class Put(Protocol):
    """Puts a fact, or a call to make in its turn, into the loop's inbox; `via` is as in `Entry`."""

    def __call__(self, item: Fact | Callable[[], None], via: str = "controller") -> None: ...


class _Noise(Struct):
    """Bad bytes of the line, counted by their reason.

    Nobody may know yet of `untold`, nor of those that `just_came`: they may be a damaged copy of a report whose other
    copies are still to come.
    """

    told: Counter[str] = field(default_factory=Counter)
    untold: Counter[str] = field(default_factory=Counter)
    just_came: Counter[str] = field(default_factory=Counter)


class ShoeLine:
    """Hears the shoe (`ShoeListener`), and keeps account of the line.

    `driver` names the brand in each row, so that a frame can be read again. `mark` holds until when the run before
    heard the shoe. `last_heard_at` is the time of the journal's last row, for people. `table` gives the table as
    committed last.
    """

    def __init__(
        self,
        shoe: Shoe,
        driver: str,
        mark: Mark,
        last_heard_at: str | None,
        put: Put,
        table: Callable[[], Table],
    ) -> None:
        self._shoe = shoe
        self._via = f"shoe {driver}"
        self._mark = mark
        self._last_heard_at = last_heard_at
        self._put = put
        self._table = table
        self._heard = ShoeHeard(mark.read(clock.since_boot_ms()), mark, shoe.kept_unread_ms)
        self.up = False
        self.why = "not opened yet"
        self._told = False
        self._heard_again = False
        self._noise = _Noise()
        self._noise_came = asyncio.Event()

    async def run(self) -> None:
        """Keep the line open, until cancelled."""
        await self._shoe.run(self)

    def close(self) -> None:
        """Let go of the mark."""
        self._mark.close()

    @property
    def bad_bytes(self) -> dict[str, int]:
        """The bad bytes of which people may know, by their reason."""
        return dict(self._noise.told)

    # What the shoe says (`ShoeListener`).

    def shoe_reported(self, fact: Fact) -> None:
        """A report of the shoe came."""
        self._put(fact, self._via)

    def shoe_link(self, up: bool, why: str) -> None:
        """The line to the shoe went up or down, or is down for another reason."""
        now_ms = clock.since_boot_ms()
        if up == self.up and self._told:
            pass  # only the reason is another
        elif up:
            if not self._heard_again:
                self.note_unheard(now_ms)  # the shoe may have dealt until this very moment
            self._heard.line_up(now_ms, clock.slept_ms())
        else:
            self._heard.line_down()
            self._put(ShoeUnplugged())
        self.up, self.why, self._told, self._heard_again = up, why, True, False

    def shoe_heard_again(self) -> None:
        """Something came from the shoe, whose line is down as far as people know."""
        self.note_unheard(clock.since_boot_ms())
        self._heard_again = True

    def shoe_noise(self, reason: str, count: int) -> None:
        """Bytes that became no fact are counted, and logged where they begin.

        The bytes may be a damaged copy of a report: of a card that nobody sees, or of the shoe's result, which tells
        that the round is complete. Another copy of that report may yet be believed. So the bytes go into the inbox only
        after all copies can have come. Whether people may be told of them is decided then, by a table that has
        committed the report.
        """
        self._noise.just_came[reason] += count
        self._noise_came.set()

    # Absence.

    def note_unheard(self, now_ms: int) -> None:
        """Note that the shoe was not heard from the last time that it was heard until now."""
        unheard_ms = self._heard.unheard_ms(now_ms)
        if self._numbers_came_round(unheard_ms) and PHASE_NAMES[type(self._table().phase)] in _SHOE_OPEN:
            self._shoe.forget()
        self._put(ShoeUnheard(unheard_ms, self._last_heard_at if unheard_ms is None else None))

    def is_fact(self, noticed: Fact, table: Table) -> bool:
        """Whether what was noticed of the shoe is a fact in this phase of the table."""
        match noticed:
            case ShoeUnplugged():
                return PHASE_NAMES[type(table.phase)] in _DEALING
            case ShoeUnheard(unheard_ms):
                lost_count = not gap_would_show(table) or self._numbers_came_round(unheard_ms)
                return lost_count and PHASE_NAMES[type(table.phase)] in _SHOE_OPEN
            case _:
                return True

    def is_late(self) -> bool:
        """Whether what is read now may have waited in the kernel for a while."""
        return self._heard.is_late(clock.since_boot_ms())

    def stood_still(self) -> bool:
        """Whether bytes of the line may be lost, since nobody looked at the line. Any thread may ask."""
        return self._heard.stood_still(clock.since_boot_ms(), clock.slept_ms())

    def look(self, levels: dict[str, bool]) -> bool:
        """Look whether the shoe's plug is in; returns whether a beat is due for that. Any thread may call this."""
        return self._shoe.look(clock.since_boot_ms(), levels)

    def beat_begins(self, after_standstill: bool) -> None:
        """The loop goes round, and has read what the line brought."""
        now_ms, slept_ms = clock.since_boot_ms(), clock.slept_ms()
        if after_standstill:
            self.note_unheard(now_ms)
        self._heard.beat(now_ms, slept_ms, self._shoe.proven_ms)

    def beat(self, levels: dict[str, bool]) -> None:
        """Ask the shoe whether it is there."""
        self._shoe.beat(clock.since_boot_ms(), levels)

    def _numbers_came_round(self, unheard_ms: int | None) -> bool:
        """Whether the shoe went unheard for so long that a gap in its numbers need not show a missed report."""
        return unheard_ms is None or unheard_ms >= self._shoe.gap_shows_within_ms

    # Noise.

    async def keep_noting_noise(self) -> None:
        """Put the bad bytes that came into the inbox, at a beat, once all copies of their report have come."""
        while True:
            await self._noise_came.wait()
            self._noise_came.clear()
            came, self._noise.just_came = self._noise.just_came, Counter()
            await asyncio.sleep(_COPIES_COME_WITHIN_S)
            await next_beat()
            self._put(partial(self._noise.untold.update, came))

    def tell_noise(self) -> None:
        """Tell of the bad bytes noted so far, unless they may tell cards. All reports before them are committed."""
        if not self._noise.untold or hides_cards(self._table()):
            return
        for reason, count in self._noise.untold.items():
            if not self._noise.told[reason]:
                _log.warning("the shoe's line brings bad bytes (%s); they are counted in the status", reason)
            self._noise.told[reason] += count
        self._noise.untold.clear()
