"""The pytest plugin of the installed package, which every pytest run loads. If the extra `bench` is installed too, this
plugin loads the bench: fixtures for the real table daemon with simulated hardware.

Without this extra, other tests in the same environment run as before. A test that asks for a fixture of the bench then
fails with a sentence that names what to install.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.basics.extras import missing

_SHORT = ("broker", "dealer", "eventually", "pins", "pit", "shoe", "table")
_FIXTURES = (*_SHORT, *(f"bench_{name}" for name in (*_SHORT, "wires", "wait")))
_MISSING = missing("bench")


def _tells_what_to_install(name: str) -> Callable[[], None]:
    @pytest.fixture(name=name)
    def absent() -> None:
        pytest.fail(
            f"The fixture {name!r} of the table's bench needs libraries that are not installed: {', '.join(_MISSING)}."
            ' Install the bench: pip install "table-controller[bench]"',
            pytrace=False,
        )

    return absent


if _MISSING:
    globals().update({name: _tells_what_to_install(name) for name in _FIXTURES})
else:
    pytest_plugins = ["controller.bench.plugin", "controller.bench.short_names"]
