"""The package's extras: libraries that a table does without, and whoever asks for more installs."""

from __future__ import annotations

import importlib.util

NEEDS = {
    "demo": ("starlette", "tomli_w", "uvicorn"),
    "bench": ("jsonschema", "tomli_w"),
}
"""By an extra of `pyproject.toml`, the modules that come with the extra."""


def missing(extra: str) -> list[str]:
    """The modules of this extra that are not installed here."""
    return [name for name in NEEDS[extra] if importlib.util.find_spec(name) is None]


def how_to_install(extra: str) -> str:
    """What to do where modules of this extra are missing."""
    return f'Install them: pip install "table-controller[{extra}]"; in a copy of the project: tools/setup.sh.'
