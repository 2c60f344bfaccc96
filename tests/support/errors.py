"""A check that the program refuses something with a given error code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from controller.basics.errors import TableError


@contextmanager
def raising(code: str) -> Iterator[pytest.ExceptionInfo[TableError]]:
    """Check that a block raises TableError with this code."""
    with pytest.raises(TableError) as caught:
        yield caught
    assert caught.value.code == code, caught.value
