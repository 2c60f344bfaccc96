"""Runs many cases as one test. Each separate test would cost some milliseconds of a core, and each worker of a run
would collect it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, cast

from _pytest.mark.structures import ParameterSet

_Test = Callable[..., None]


def each(names: str, values: Iterable[Any]) -> Callable[[_Test], _Test]:
    """Return a decorator that runs the test once with each of these values, and counts as one test. `names` and
    `values` are as for `pytest.mark.parametrize`, but without marks. A failure names its case."""
    own = names.split(", ")
    cases = [value if isinstance(value, ParameterSet) else _case(value, len(own)) for value in values]
    assert cases, "no case would run"
    assert not any(case.marks for case in cases), "a mark would be lost"

    def decorated(test: _Test) -> _Test:
        @wraps(test)
        def every(**fixtures: Any) -> None:
            for case in cases:
                try:
                    test(**fixtures, **dict(zip(own, case.values, strict=True)))
                except BaseException as error:
                    error.add_note(f"where {names} is {case.id or case.values!r}")
                    raise

        signature = inspect.signature(test)
        others = [parameter for parameter in signature.parameters.values() if parameter.name not in own]
        cast(Any, every).__signature__ = signature.replace(parameters=others)
        return every

    return decorated


def _case(value: Any, count: int) -> ParameterSet:
    return ParameterSet(value if count > 1 else (value,), (), None)
