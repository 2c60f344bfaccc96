"""The table as the dealer and the players see it: buttons, sensors and lamps. Its classes press the buttons, cover the
sensors, and recognize the lamps' blink patterns."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Sequence
from difflib import get_close_matches
from typing import Protocol

import pytest

SEAT_SIGNS = {
    "dark": "nothing",
    "flash": "invitation",
    "slow_blink": "wager_seen",
    "steady": "accepted",
    "double_flash": "refused",
    "fast_blink": "hit",
    "long_flash": "turn",
}
"""What a seat's lamp tells the seat's player, by the lamp's pattern."""

Stretch = tuple[bool, float]
"""Whether a lamp was lit, and for how many seconds it stayed lit or dark."""

_PATTERNS_S = {
    "flash": (0.15, 1.85),
    "double_flash": (0.12, 0.12, 0.12, 1.64),
    "slow_blink": (0.6, 0.6),
    "fast_blink": (0.12, 0.12),
    "long_flash": (1.5, 0.3),
}
"""The patterns that repeat: seconds lit and dark in turn, over and over."""

_ENOUGH = {"flash": 3, "double_flash": 6, "slow_blink": 3, "fast_blink": 6, "long_flash": 3}
"""How many stretches in a row make a pattern certain, also where a change of pattern cuts a stretch short."""

_SIZES_S = (0.22, 0.45, 1.05, 1.745)
"""The limits between the five sizes of those stretches: 0.12 or 0.15, 0.3, 0.6, 1.5 or 1.64, and 1.85 s."""

_STEADY_S = 1.745  # lit for longer than any pattern that goes out again
_DARK_S = 2.1  # dark for longer than any pattern that comes back

_LOOK_EVERY_S = 0.01
_STRETCHES = 10  # two cycles of the longest pattern, and two stretches before them
_HOLD_S = 0.08  # a quick person's press
_ACT_SEEN_S = 0.5  # a person turns the key once the lamp `fault` says that an act waits
_CONFIRMED_AFTER_S = 2.5  # the table takes two seconds for a confirmation, and beats four times a second
_PRESS_AGAIN_S = 1.0
_PATIENCE_S = 60.0


def pattern(seen: Sequence[Stretch]) -> str | None:
    """Return the name of a lamp's blink pattern; None while several patterns are possible. `seen` has the stretches of
    light and dark that were seen, oldest first. The last stretch is not over yet.

    A repeating pattern is certain once two things are true: it fits enough of the last stretches, and it fits more of
    them than any other pattern does. That takes 4 s at most. A steady lamp is certain after 1.745 s, a dark lamp after
    2.1 s.
    """
    lit, length_s = seen[-1]
    if length_s >= (_STEADY_S if lit else _DARK_S):
        return "steady" if lit else "dark"
    explained = {name: _explained(seen, lengths_s) for name, lengths_s in _PATTERNS_S.items()}
    best, *others = [name for name, count in explained.items() if count == max(explained.values())]
    return None if others or explained[best] < _ENOUGH[best] else best


def _explained(seen: Sequence[Stretch], lengths_s: Sequence[float]) -> int:
    """Return how many of the last stretches of light and dark fit a blink pattern. `lengths_s` are the lengths of light
    and dark in one cycle of the pattern. The pattern may be at any point of its cycle: the best fit counts."""
    sizes = [_size(length_s) for length_s in lengths_s]
    lit = seen[-1][0]
    return max(_explained_at(place, seen, sizes) for place in range(0 if lit else 1, len(sizes), 2))


def _explained_at(place: int, seen: Sequence[Stretch], sizes: Sequence[int]) -> int:
    """Return how many of the last stretches of light and dark fit a blink pattern. `sizes` are the sizes of the
    stretches in one cycle of the pattern. `place` is the index in that cycle at which the last stretch is.

    The last stretch counts once it has its full size. A last stretch of the smallest size does not count.
    """
    *past, (_, length_s) = seen
    if _size(length_s) > sizes[place]:
        return 0
    count = int(_size(length_s) == sizes[place] > 0)
    for back, (_, past_s) in enumerate(reversed(past), 1):
        if _size(past_s) != sizes[(place - back) % len(sizes)]:
            break
        count += 1
    return count


def _size(length_s: float) -> int:
    """Return the size, from 0 (shortest) to 4, of a stretch of light or dark that lasted `length_s` seconds."""
    return bisect_right(_SIZES_S, length_s)


class Front(Protocol):
    """The interface through which a test reaches a table's inputs (buttons, key, sensors) and lamps."""

    def press(self, name: str) -> None:
        """Press a button, turn the key or cover a sensor, by its name."""

    def release(self, name: str) -> None:
        """Let go of a button, turn the key back or uncover a sensor, by its name."""

    def lamps(self) -> dict[str, bool]:
        """Return every lamp by its name: True if the lamp is lit at this moment."""


class Pins:
    """The methods by which a test acts as a person at a table: they press buttons, cover sensors and read lamps, which
    have the names of the table file. A thread watches the lamps until `close`.

    A real header has too few pins to connect every input and lamp of a table by a jumper wire. `unjumpered` has the
    names of a whole table: a test that uses one of them without a wire is skipped. A test that uses any other name that
    the table does not have fails, for example "seat_9" at a table of seven seats.
    """

    def __init__(
        self, front: Front, lamps: Iterable[str], inputs: Iterable[str], unjumpered: Container[str] = ()
    ) -> None:
        self._front = front
        self._inputs = set(inputs)
        self._unjumpered = unjumpered
        for name in inputs:
            self._front.release(name)
        now_s = time.monotonic()
        self._changes: dict[str, tuple[tuple[bool, float], ...]] = dict.fromkeys(lamps, ((False, now_s),))
        self._closing = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="lamps", daemon=True)
        self._watching.start()

    def close(self) -> None:
        """Stop the thread that watches the lamps."""
        self._closing.set()
        self._watching.join()

    def press(self, button: str, until: Callable[[], bool] | None = None) -> None:
        """Press a button for a moment. With `until`, hold the button until that condition is true, and press it anew
        every second."""
        gives_up_s = time.monotonic() + _PATIENCE_S
        while True:
            self.hold(button)
            answered = until is None or _comes_true(until, _PRESS_AGAIN_S)
            if until is None:
                time.sleep(_HOLD_S)
            self.let_go(button)
            time.sleep(_HOLD_S)
            if answered:
                return
            assert time.monotonic() < gives_up_s, f"{button} was pressed for {_PATIENCE_S} s without effect"

    def hold(self, button: str) -> None:
        """Press a button and keep it pressed."""
        self._front.press(self._wired(button, self._inputs))

    def let_go(self, button: str) -> None:
        """Release a button."""
        self._front.release(self._wired(button, self._inputs))

    def cover(self, *seats: int) -> None:
        """Put wagers on these seats' sensors."""
        for seat in seats:
            self.hold(f"seat_{seat}")

    def uncover(self, *seats: int) -> None:
        """Take the wagers of these seats away."""
        for seat in seats:
            self.let_go(f"seat_{seat}")

    def turn_key(self) -> None:
        """Turn the supervisor's key. The key stays turned until `turn_key_back`."""
        self.hold("key")
        time.sleep(_HOLD_S)

    def turn_key_back(self) -> None:
        """Turn the supervisor's key back."""
        self.let_go("key")
        time.sleep(_HOLD_S)

    def confirm(self, button: str) -> None:
        """Confirm the act that waits for a second person, as that person does at the table: turn the key, and hold
        `button`.

        `button` is the one that `tablectl status` names for the act, for example `void` to void a round.
        """
        time.sleep(_ACT_SEEN_S)
        self.turn_key()
        self.hold(button)
        time.sleep(_CONFIRMED_AFTER_S)
        self.let_go(button)
        self.turn_key_back()

    def lamp(self, name: str) -> str | None:
        """Return the blink pattern of a lamp, a key of `SEAT_SIGNS`; None while the pattern is not certain yet."""
        changes, now_s = self._changes[self._wired(name, self._changes)], time.monotonic()
        ends_s = [since_s for _, since_s in changes[1:]] + [now_s]
        return pattern([(lit, end_s - since_s) for (lit, since_s), end_s in zip(changes, ends_s, strict=True)])

    def dark_s(self, name: str) -> float:
        """Return how long a lamp has been dark, in seconds; 0 while it is lit."""
        lit, since_s = self._changes[self._wired(name, self._changes)][-1]
        return 0.0 if lit else time.monotonic() - since_s

    def seat(self, number: int) -> str | None:
        """Return the meaning of a seat's lamp for the player, a value of `SEAT_SIGNS`; None while the lamp's pattern is
        not certain yet."""
        shown = self.lamp(f"seat_{number}")
        return None if shown is None else SEAT_SIGNS[shown]

    def lamps(self) -> dict[str, str | None]:
        """Return every lamp's blink pattern, by the lamp's name."""
        return {name: self.lamp(name) for name in self._changes}

    def lit(self) -> set[str]:
        """Return the names of the lamps that are lit now."""
        return {name for name, lit in self._front.lamps().items() if lit}

    def _wired(self, name: str, there: Iterable[str]) -> str:
        if name in there:
            return name
        if name in self._unjumpered:
            pytest.skip(f"no {name} here: on a real header only jumpered pins can be tested")
        likely = get_close_matches(name, there, 1)
        meant = f"Did you mean {likely[0]}?" if likely else f"The table has {', '.join(sorted(there))}."
        raise LookupError(f"This table has no button, sensor or lamp {name!r} there. {meant}")

    def _watch(self) -> None:
        before: dict[str, bool] = {}
        while not self._closing.is_set():
            now_s = time.monotonic()
            if (lamps := self._front.lamps()) != before:
                before = lamps
                for name, lit in lamps.items():
                    changes = self._changes[name]
                    if changes[-1][0] != lit:
                        self._changes[name] = (*changes, (lit, now_s))[-_STRETCHES:]
            time.sleep(_LOOK_EVERY_S)


def _comes_true(condition: Callable[[], bool], within_s: float) -> bool:
    gives_up_s = time.monotonic() + within_s
    while not (true := condition()) and time.monotonic() < gives_up_s:
        time.sleep(_LOOK_EVERY_S)
    return true
