"""The optional dependencies of the Python package, in groups called extras. A table runs without any extra. The demo
and the test bench need extras."""

from __future__ import annotations

import importlib.util

NEEDS = {
    "demo": ("starlette", "tomli_w", "uvicorn"),
    "bench": ("jsonschema", "tomli_w"),
}
"""By an extra of `pyproject.toml`, the modules that come with the extra."""


def missing(extra: str) -> list[str]:
    """Return the modules that this extra (a group of optional dependencies) needs and that are not installed."""
    return [name for name in NEEDS[extra] if importlib.util.find_spec(name) is None]


def how_to_install(extra: str) -> str:
    """Return the sentence that tells a person how to install this extra (a group of optional dependencies)."""
    return f'Install them: pip install "table-controller[{extra}]"; in a copy of the project: tools/setup.sh.'
