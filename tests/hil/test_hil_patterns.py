"""Checks how the bench reads lamps: it names a lamp's blinking pattern from the times at which the lamp was lit and
dark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest

from controller.bench.header import SEAT_SIGNS, Stretch, pattern
from controller.table.lamps import Pattern
from tests.support.samples import at_length

# Seconds lit and dark in turn, over and over.
BLINKING = {
    "flash": (0.15, 1.85),
    "double_flash": (0.12, 0.12, 0.12, 1.64),
    "slow_blink": (0.6, 0.6),
    "fast_blink": (0.12, 0.12),
    "long_flash": (1.5, 0.3),
}
_LOOK_EVERY_S = 0.05
_TOLD_WITHIN_S = 4.0


def _seen(before: Stretch, lengths_s: tuple[float, ...], watched_s: float) -> list[Stretch]:
    """Return the lit and dark stretches that the bench saw of a lamp: first `before`, then a pattern of the lengths
    `lengths_s`, watched for `watched_s` seconds."""
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
    assert pattern([(False, 5.0), (True, 1.8)]) == "steady"
    assert pattern([(False, 5.0), (True, 1.7)]) is None, "it may be a long flash"
    assert pattern([(True, 5.0), (False, 2.2)]) == "dark"
    assert pattern([(True, 5.0), (False, 2.0)]) is None


# The daemon's own lamps. They keep step with a clock, so a lamp that changes its pattern may begin anywhere in it.

_LOOK_EVERY_MS = 20
_CHANGES_AFTER_MS = 8_000
_CHANGES_EVERY_MS = 170 if at_length else 590  # over a cycle of the longest pattern, and not in step with any


def _watched(before: Pattern, after: Pattern, changed_ms: int) -> Iterator[tuple[float, list[Stretch]]]:
    """Yield pairs for a lamp that changes from one pattern to another: the seconds since the change, and the lit and
    dark stretches that the bench saw by then."""
    since_ms = 0
    over: list[Stretch] = []
    lit = before.lit(0)
    for now_ms in range(0, changed_ms + int(_TOLD_WITHIN_S * 1000) + 2_000, _LOOK_EVERY_MS):
        shown = before if now_ms < changed_ms else after
        if shown.lit(now_ms) != lit:
            over.append((lit, (now_ms - since_ms) / 1000))
            lit, since_ms = not lit, now_ms
        if now_ms >= changed_ms:
            yield (now_ms - changed_ms) / 1000, [*over[-9:], (lit, (now_ms - since_ms) / 1000)]


def _stays(told: str | None, last: Stretch) -> bool:
    lit, length_s = last
    return (told, lit) in (("steady", True), ("dark", False)) and length_s > (1.5 if lit else 1.85)


@pytest.mark.parametrize("after", Pattern)
@pytest.mark.parametrize("before", Pattern)
def test_every_pattern_is_told_apart_from_every_other_that_it_follows(before: Pattern, after: Pattern) -> None:
    """After a lamp changes its pattern, the bench names only the old or the new pattern. It calls a lamp steady or dark
    only if the lamp was lit or dark for longer than in any blinking pattern."""
    for changed_ms in range(_CHANGES_AFTER_MS, _CHANGES_AFTER_MS + 2_000, _CHANGES_EVERY_MS):
        for since_s, seen in _watched(before, after, changed_ms):
            told = pattern(seen)
            at = f"{told} {since_s} s after the change at {changed_ms} ms"
            assert told in (None, before.name.lower(), after.name.lower()) or _stays(told, seen[-1]), at
            if since_s > _TOLD_WITHIN_S:
                assert told == after.name.lower(), at


def test_every_pattern_says_something_at_a_seat() -> None:
    assert {shown.name.lower() for shown in Pattern} == SEAT_SIGNS.keys()
