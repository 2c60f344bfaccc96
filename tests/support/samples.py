"""How much a property is tried: a small fixed sample in `make test`, fifteen times as much in `make proof`."""

from __future__ import annotations

from hypothesis import settings

PROOF_TIMES = 15

at_length = False
"""Whether this is `make proof`; the tests' conftest says so before any test is collected."""


def examples(count: int) -> settings:
    """Try the property on so many examples, and on `PROOF_TIMES` as many with the proof. No example has a deadline.

    `make test` draws the same examples each time.
    """
    return settings(max_examples=count * PROOF_TIMES if at_length else count, deadline=None, derandomize=not at_length)
