"""Connects the card-reading shoe to the main loop: the shoe's reports, whether its line works, for how long nobody
heard the shoe, and bad bytes."""

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
    """A function that puts an item into the main loop's inbox. The item is a fact, or a function to be called when its
    turn comes. `via` says from where a fact came, such as "shoe beetek"."""

    def __call__(self, item: Fact | Callable[[], None], via: str = "controller") -> None: ...


class _Noise(Struct):
    """Counts of bad bytes on the shoe's line, by the reason why they are bad.

    The bytes in `told` may be shown to people. Those in `untold` and `just_came` may not be shown yet, because they may
    be a damaged copy of a report whose other copies are still to come.
    """

    told: Counter[str] = field(default_factory=Counter)
    untold: Counter[str] = field(default_factory=Counter)
    just_came: Counter[str] = field(default_factory=Counter)


class ShoeLine:
    """Listens to the shoe for the main loop (as its `ShoeListener`), and keeps account of the shoe's line.

    `driver` is the shoe's brand, which is written into each journal row so that a frame can be decoded again. `mark`
    records until when the program's run before this one heard the shoe. `last_heard_at` is the time of the journal's
    last row, for people. `put` puts an item into the main loop's inbox. `table` returns the table's state after the
    last commit.
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
        """Keep the shoe's serial line open and listen to it, until cancelled."""
        await self._shoe.run(self)

    def close(self) -> None:
        """Close the mark, the file that records until when the shoe was heard."""
        self._mark.close()

    @property
    def bad_bytes(self) -> dict[str, int]:
        """The number of bad bytes from the shoe for each reason, as far as people may know."""
        return dict(self._noise.told)

    # What the shoe says (`ShoeListener`).

    def shoe_reported(self, fact: Fact) -> None:
        """Put the fact that the shoe reported into the main loop's inbox."""
        self._put(fact, self._via)

    def shoe_link(self, up: bool, why: str) -> None:
        """Take note that the line to the shoe now works (`up`) or does not, or that only the reason `why` has
        changed."""
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
        """Take note that something came from the shoe although its line still counts as down. The time without the shoe
        ends here."""
        self.note_unheard(clock.since_boot_ms())
        self._heard_again = True

    def shoe_noise(self, reason: str, count: int) -> None:
        """Add `count` bytes from the shoe that could not be read, under this reason.

        The bytes may be a damaged copy of a report: of a card that nobody sees, or of the shoe's result, which reveals
        that the round is complete. Another copy of that report may still be accepted. So the bytes go into the inbox
        only after all copies have had time to come. Only after the report is committed does the table decide whether
        people may be told of the bytes.
        """
        self._noise.just_came[reason] += count
        self._noise_came.set()

    # Absence.

    def note_unheard(self, now_ms: int) -> None:
        """Put a fact into the main loop's inbox that says for how long, until `now_ms`, the shoe was not heard."""
        unheard_ms = self._heard.unheard_ms(now_ms)
        if self._numbers_came_round(unheard_ms) and PHASE_NAMES[type(self._table().phase)] in _SHOE_OPEN:
            self._shoe.forget()
        self._put(ShoeUnheard(unheard_ms, self._last_heard_at if unheard_ms is None else None))

    def is_fact(self, noticed: Fact, table: Table) -> bool:
        """Tell whether something noticed about the shoe matters in the table's present phase, and so becomes a fact in
        the journal. Example: a pulled plug matters only during the burn and during a round."""
        match noticed:
            case ShoeUnplugged():
                return PHASE_NAMES[type(table.phase)] in _DEALING
            case ShoeUnheard(unheard_ms):
                lost_count = not gap_would_show(table) or self._numbers_came_round(unheard_ms)
                return lost_count and PHASE_NAMES[type(table.phase)] in _SHOE_OPEN
            case _:
                return True

    def is_late(self) -> bool:
        """Return True if bytes of the shoe that are read now may have waited in the kernel for more than half a second,
        because the main loop was busy."""
        return self._heard.is_late(clock.since_boot_ms())

    def stood_still(self) -> bool:
        """Tell whether bytes of the shoe's line may be lost, because the program stood still or the machine was
        suspended. Any thread may call this."""
        return self._heard.stood_still(clock.since_boot_ms(), clock.slept_ms())

    def look(self, levels: dict[str, bool]) -> bool:
        """Look whether the shoe's plug is in. Return True if that has changed, so that the main loop must act. `levels`
        are the header's inputs. Any thread may call this."""
        return self._shoe.look(clock.since_boot_ms(), levels)

    def beat_begins(self, after_standstill: bool) -> None:
        """Begin a beat (the main loop's regular work): move the moment until which the shoe was certainly heard. If the
        program stood still before this beat, first put a fact into the inbox that says for how long the shoe was not
        heard."""
        now_ms, slept_ms = clock.since_boot_ms(), clock.slept_ms()
        if after_standstill:
            self.note_unheard(now_ms)
        self._heard.beat(now_ms, slept_ms, self._shoe.proven_ms)

    def beat(self, levels: dict[str, bool]) -> None:
        """Let the shoe's driver do its regular work, such as asking the shoe whether it is there. `levels` are the
        header's inputs."""
        self._shoe.beat(clock.since_boot_ms(), levels)

    def _numbers_came_round(self, unheard_ms: int | None) -> bool:
        """Return True if the shoe was unheard for so long that its report numbers may have repeated. A missed report
        would then show no gap in the numbers."""
        return unheard_ms is None or unheard_ms >= self._shoe.gap_shows_within_ms

    # Noise.

    async def keep_noting_noise(self) -> None:
        """Put the counts of bad bytes into the main loop's inbox, each after all copies of the damaged report have had
        time to come."""
        while True:
            await self._noise_came.wait()
            self._noise_came.clear()
            came, self._noise.just_came = self._noise.just_came, Counter()
            await asyncio.sleep(_COPIES_COME_WITHIN_S)
            await next_beat()
            self._put(partial(self._noise.untold.update, came))

    def tell_noise(self) -> None:
        """Show people the counts of bad bytes that came so far, unless the table hides cards, which the counts might
        reveal.

        All reports that came before these bytes must already be committed.
        """
        if not self._noise.untold or hides_cards(self._table()):
            return
        for reason, count in self._noise.untold.items():
            if not self._noise.told[reason]:
                _log.warning("the shoe's line brings bad bytes (%s); they are counted in the status", reason)
            self._noise.told[reason] += count
        self._noise.untold.clear()
