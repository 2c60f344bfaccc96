"""How much a property is tried: a small fixed sample in `make test`, more than twenty times as much in `make proof`."""

from __future__ import annotations

from hypothesis import settings

PROOF_TIMES = 15

at_length = False
"""Whether this is `make proof`; the tests' conftest says so before any test is collected."""


def examples(count: int) -> settings:
    """Try the property on so many examples times `PROOF_TIMES` with the proof, and without on two thirds of so many.

    No example has a deadline. `make test` draws the same examples each time.
    """
    most = count * PROOF_TIMES if at_length else max(1, count * 2 // 3)
    return settings(max_examples=most, deadline=None, derandomize=not at_length)
