"""The bench's own eyes: a lamp's pattern is told rightly from when it was lit and when dark."""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.hil.header import Stretch, pattern

# Seconds lit and dark in turn, over and over.
BLINKING = {
    "flash": (0.15, 1.85),
    "double_flash": (0.12, 0.12, 0.12, 1.64),
    "slow_blink": (0.6, 0.6),
    "fast_blink": (0.12, 0.12),
}
_LOOK_EVERY_S = 0.05
_TOLD_WITHIN_S = 2.5


def _seen(before: Stretch, lengths_s: tuple[float, ...], watched_s: float) -> list[Stretch]:
    """What was seen of a lamp that began to burn so, after `before`."""
    seen = [before]
    lit = True
    for length_s in cycle(lengths_s):
        seen.append((lit, min(length_s, watched_s)))
        watched_s -= length_s
        lit = not lit
        if watched_s <= 0:
            return seen
    raise AssertionError


@pytest.mark.parametrize("name", BLINKING)
def test_a_lamp_that_begins_to_blink_is_never_told_wrongly_and_soon_rightly(name: str) -> None:
    told_after_s = None
    for looks in range(1, int(8 / _LOOK_EVERY_S)):
        watched_s = looks * _LOOK_EVERY_S
        told = pattern(_seen((False, 3.0), BLINKING[name], watched_s))
        assert told in (None, name), f"{told} after {watched_s} s"
        if told is not None and told_after_s is None:
            told_after_s = watched_s
    assert told_after_s is not None
    assert told_after_s <= _TOLD_WITHIN_S


@pytest.mark.parametrize("name", BLINKING)
def test_a_lamp_that_stops_blinking_is_told_dark_and_nothing_else_in_between(name: str) -> None:
    blinking = [(bool(place % 2 == 0), length) for place, length in enumerate(BLINKING[name] * 3)]
    for looks in range(1, int(4 / _LOOK_EVERY_S)):
        dark_s = looks * _LOOK_EVERY_S
        told = pattern([*blinking[:-1], (False, dark_s)])
        assert told in ((None, name) if dark_s < 2.1 else ("dark",))


def test_a_lamp_that_stays_lit_is_steady_and_one_that_stays_dark_is_dark() -> None:
    assert pattern([(False, 5.0), (True, 0.8)]) == "steady"
    assert pattern([(False, 5.0), (True, 0.7)]) is None
    assert pattern([(True, 5.0), (False, 2.2)]) == "dark"
    assert pattern([(True, 5.0), (False, 2.0)]) is None
