"""The shoe as the main loop hears it: its reports, whether its line is up, how long it went unheard, and bad bytes."""

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
    """A function that puts a fact, or a function to call in its turn, into the loop's inbox; `via` is as in `Entry`."""

    def __call__(self, item: Fact | Callable[[], None], via: str = "controller") -> None: ...


class _Noise(Struct):
    """The bad bytes of the shoe's line, counted by their reason.

    People may know of those in `told`. Nobody may know yet of `untold` and `just_came`: they may be a damaged copy of a
    report whose other copies are still to come.
    """

    told: Counter[str] = field(default_factory=Counter)
    untold: Counter[str] = field(default_factory=Counter)
    just_came: Counter[str] = field(default_factory=Counter)


class ShoeLine:
    """Listens to the shoe (it is a `ShoeListener`), and keeps account of the shoe's line.

    `driver` names the shoe's brand in each journal row, so that a frame can be decoded again. `mark` records until when
    the run before heard the shoe. `last_heard_at` is the time of the journal's last row, for people. `table` gives the
    table's state as of the last commit.
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
        """Keep the shoe's line open, until cancelled."""
        await self._shoe.run(self)

    def close(self) -> None:
        """Close the mark, the file that records until when the shoe was heard."""
        self._mark.close()

    @property
    def bad_bytes(self) -> dict[str, int]:
        """The counts of the bad bytes that people may know of, by reason."""
        return dict(self._noise.told)

    # What the shoe says (`ShoeListener`).

    def shoe_reported(self, fact: Fact) -> None:
        """Put a report of the shoe into the inbox."""
        self._put(fact, self._via)

    def shoe_link(self, up: bool, why: str) -> None:
        """Take note that the line to the shoe went up or down, or that it stays so for another reason."""
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
        """Take note that something came from the shoe while its line still counts as down."""
        self.note_unheard(clock.since_boot_ms())
        self._heard_again = True

    def shoe_noise(self, reason: str, count: int) -> None:
        """Count `count` bytes that became no fact, for this reason.

        The bytes may be a damaged copy of a report: of a card that nobody sees, or of the shoe's result, which reveals
        that the round is complete. Another copy of that report may still be accepted. So the bytes go into the inbox
        only after all copies can have come. Only after the report is committed does the table decide whether people may
        be told of the bytes.
        """
        self._noise.just_came[reason] += count
        self._noise_came.set()

    # Absence.

    def note_unheard(self, now_ms: int) -> None:
        """Put the fact into the inbox that the shoe was not heard between the last time it was heard and `now_ms`."""
        unheard_ms = self._heard.unheard_ms(now_ms)
        if self._numbers_came_round(unheard_ms) and PHASE_NAMES[type(self._table().phase)] in _SHOE_OPEN:
            self._shoe.forget()
        self._put(ShoeUnheard(unheard_ms, self._last_heard_at if unheard_ms is None else None))

    def is_fact(self, noticed: Fact, table: Table) -> bool:
        """Tell whether something noticed about the shoe is a fact in this phase of the table."""
        match noticed:
            case ShoeUnplugged():
                return PHASE_NAMES[type(table.phase)] in _DEALING
            case ShoeUnheard(unheard_ms):
                lost_count = not gap_would_show(table) or self._numbers_came_round(unheard_ms)
                return lost_count and PHASE_NAMES[type(table.phase)] in _SHOE_OPEN
            case _:
                return True

    def is_late(self) -> bool:
        """Tell whether bytes that are read now may have waited in the kernel for a while."""
        return self._heard.is_late(clock.since_boot_ms())

    def stood_still(self) -> bool:
        """Tell whether bytes of the line may be lost, because nobody looked at the line. Any thread may ask."""
        return self._heard.stood_still(clock.since_boot_ms(), clock.slept_ms())

    def look(self, levels: dict[str, bool]) -> bool:
        """Look whether the shoe's plug is in, and tell whether that has changed, so that a beat is due. Any thread may
        call this."""
        return self._shoe.look(clock.since_boot_ms(), levels)

    def beat_begins(self, after_standstill: bool) -> None:
        """Begin a beat of the loop, which has read the line before: move on the moment until which the shoe was
        heard."""
        now_ms, slept_ms = clock.since_boot_ms(), clock.slept_ms()
        if after_standstill:
            self.note_unheard(now_ms)
        self._heard.beat(now_ms, slept_ms, self._shoe.proven_ms)

    def beat(self, levels: dict[str, bool]) -> None:
        """Let the shoe's driver ask the shoe whether it is there. `levels` are the header's inputs."""
        self._shoe.beat(clock.since_boot_ms(), levels)

    def _numbers_came_round(self, unheard_ms: int | None) -> bool:
        """Tell whether the shoe went unheard for so long that its report numbers may have repeated and hide a missed
        report."""
        return unheard_ms is None or unheard_ms >= self._shoe.gap_shows_within_ms

    # Noise.

    async def keep_noting_noise(self) -> None:
        """Put bad bytes into the inbox, at a beat of the clock, once all copies of their report can have come."""
        while True:
            await self._noise_came.wait()
            self._noise_came.clear()
            came, self._noise.just_came = self._noise.just_came, Counter()
            await asyncio.sleep(_COPIES_COME_WITHIN_S)
            await next_beat()
            self._put(partial(self._noise.untold.update, came))

    def tell_noise(self) -> None:
        """Tell people of the bad bytes noted so far, unless the table hides cards, which the bytes might reveal.

        All reports that came before these bytes must be committed.
        """
        if not self._noise.untold or hides_cards(self._table()):
            return
        for reason, count in self._noise.untold.items():
            if not self._noise.told[reason]:
                _log.warning("the shoe's line brings bad bytes (%s); they are counted in the status", reason)
            self._noise.told[reason] += count
        self._noise.untold.clear()
