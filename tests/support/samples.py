"""The number of examples that a property test tries: a small fixed sample in `make test`, and more than twenty times as
many in `make proof`."""

from __future__ import annotations

from hypothesis import settings

PROOF_TIMES = 15
_UNASKED = 33
"""Of a property that names no count, where `make proof` tries Hypothesis's hundred."""

at_length = False
"""Whether this is `make proof`; `of_a_run` says so before any test is collected."""


def of_a_run(proof: bool) -> None:
    """Set up Hypothesis for this test run. `proof` is True in `make proof`. In `make test` the same examples are drawn
    each time. No example has a deadline."""
    global at_length
    at_length = proof
    settings.register_profile("a run", deadline=None, derandomize=not proof, max_examples=100 if proof else _UNASKED)
    settings.load_profile("a run")


def examples(count: int) -> settings:
    """Return Hypothesis settings for a property test: a third of `count` examples in `make test`, and `PROOF_TIMES`
    times `count` in `make proof`."""
    return settings(max_examples=count * PROOF_TIMES if at_length else max(1, count // 3))
