"""A table's lamps and inputs on the Raspberry Pi's GPIO header: reads and debounces the inputs, writes the lamps, and
runs tests of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from controller.contract.face.table import Public
from controller.daemon import clock
from controller.daemon.config.table_file import PinsSection
from controller.daemon.pins.debounce import Debouncer
from controller.table.acts.itself import TESTS, HitTested, InputsTested, LampsTested
from controller.table.lamps import Live, Pattern, lamps, under_test
from drivers.devices import PRESENT_INPUT, Pins

_TEST_MS = {LampsTested: 5_000, HitTested: 5_000, InputsTested: 60_000}
"""For how long a test shows."""


class Hands(Protocol):
    """The interface of an object that is told when somebody uses a table's buttons and key. Moments are seconds of the
    monotonic clock."""

    def pressed(self, name: str, at_s: float) -> None:
        """Take note that an input closed: a button is pressed or begins to be held, or the key was turned."""

    def let_go(self, name: str, at_s: float) -> None:
        """Take note that an input opened: a button was let go, or the key was turned back."""

    def sampled(self, at_s: float) -> None:
        """Take note that all inputs were read at `at_s`."""


class Panel:
    """The lamps and the inputs of one table.

    `sensors` holds the input name of each seat's chip sensor. `covered` are the seats whose sensor sees a wager.
    `shown` is the pattern (lit, dark or blinking) of each lamp. `levels` are the inputs as last read by `sample`.
    `test` is the running test of lamps or inputs, or None.
    """

    def __init__(
        self,
        pins: Pins,
        wiring: PinsSection,
        sensors: Mapping[int, str],
        hands: Hands,
        view: Callable[[], tuple[Public, Live]],
    ) -> None:
        self._pins = pins
        self._lamps = tuple(wiring.lamps)
        self._sensors = sensors
        self._hands = hands
        self._view = view
        self._debouncer = Debouncer(wiring.debounce_ms)
        self._looks: list[tuple[dict[str, bool], int]] = []  # of the watch, since an input changed; with their times
        self.levels: dict[str, bool] = {}
        self.covered: frozenset[int] = frozenset()
        self.test: LampsTested | HitTested | InputsTested | None = None
        self._test_ends_ms = 0
        self._shows: tuple[Public, Live, object] | None = None  # what `shown` are the lamps of
        self.shown: dict[str, Pattern] = {}
        self._written: dict[str, bool] = {}
        self._lamps_change_at_ms: int | None = None  # the next change of a lamp by its pattern, on the monotonic clock

    def close(self) -> None:
        """Darken every lamp, and release the pins."""
        self._pins.close()

    # Inputs.

    @property
    def settled(self) -> Mapping[str, bool]:
        """The debounced level of each input by name. True means pressed, turned or covered."""
        return self._debouncer.settled

    def look(self) -> tuple[dict[str, bool], bool]:
        """Read the inputs now. Return their levels, and True if one differs from its debounced level. Any thread may
        call this.

        A reading that shows a change is kept for the next call of `sample`. So a short press counts from this moment,
        even if the main loop is busy.
        """
        levels, now_ms = self._pins.read(), clock.monotonic_ms()
        changed = levels != self._debouncer.settled
        if changed or self._looks:
            self._looks.append((levels, now_ms))
        return levels, changed

    def sample(self) -> None:
        """Debounce the readings that calls of `look` have kept, in order, and after them a new reading of all
        inputs."""
        looks, self._looks = self._looks, []
        self.levels = self._pins.read()
        for levels, at_ms in (*looks, (self.levels, clock.monotonic_ms())):
            self._take_sample(levels, at_ms)

    def _take_sample(self, levels: dict[str, bool], at_ms: int) -> None:
        first = not self._debouncer.settled
        changed = self._debouncer.sample(levels, at_ms)
        if first or changed:
            settled = self._debouncer.settled
            self.covered = frozenset(seat for seat, name in self._sensors.items() if settled.get(name))
        for name, level in changed.items():
            if name == PRESENT_INPUT:
                continue  # the shoe's line looks at it
            if level:
                self._hands.pressed(name, at_ms / 1000)
            else:
                self._hands.let_go(name, at_ms / 1000)
        self._hands.sampled(at_ms / 1000)

    # Lamps.

    def begin_test(self, test: LampsTested | HitTested | InputsTested) -> None:
        """Begin a test of the lamps or inputs. It ends by itself after the time that is fixed for its kind of test."""
        self.test, self._test_ends_ms = test, clock.monotonic_ms() + _TEST_MS[type(test)]

    def end_test(self) -> None:
        """End the running test of lamps or inputs, so that lamps and buttons serve the table again."""
        self.test = None

    @property
    def test_name(self) -> str | None:
        """The name of the running test of lamps or inputs; None if no test runs."""
        return None if self.test is None else TESTS[type(self.test)]

    def render(self) -> None:
        """Switch each lamp that does not show at this moment what it should show. End a test of the lamps or inputs
        whose time is over."""
        now_ms = clock.monotonic_ms()
        if now_ms >= self._test_ends_ms:
            self.test = None
        face, live = self._view()
        if (face, live, self.test) != self._shows:
            self._shows = face, live, self.test
            shown = lamps(face, live)
            self.shown = under_test(shown, self.test) if isinstance(self.test, LampsTested | HitTested) else shown
        elif self._lamps_change_at_ms is None or now_ms < self._lamps_change_at_ms:
            return
        changes = [pattern.changes_at_ms(now_ms) for pattern in {*self.shown.values()}]
        self._lamps_change_at_ms = min((at_ms for at_ms in changes if at_ms is not None), default=None)
        for lamp in self._lamps:
            lit = self.shown.get(lamp, Pattern.DARK).lit(now_ms)  # dark: a seat that is new since the shoe opened
            if self._written.get(lamp) != lit:
                self._pins.write(lamp, lit)
                self._written[lamp] = lit

    def until_change_s(self, at_most_s: float, changing_s: float) -> float:
        """Return in how many seconds the panel must be looked at again.

        While an input is changing, that is `changing_s`. Otherwise it is the time until a lamp goes on or off, but at
        most `at_most_s`.
        """
        if self._debouncer.changing:
            return changing_s
        if self._lamps_change_at_ms is None:
            return at_most_s
        return min(at_most_s, max(0.0, (self._lamps_change_at_ms - clock.monotonic_ms()) / 1000))
