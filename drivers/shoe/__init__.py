"""The card-reading shoes: a file a brand, which ends in its `BRAND`. There is no other list of them."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from drivers.line.brand import Brand

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
"""Every brand, as `[shoe] driver` names it."""


def brand(name: str) -> Brand:
    """The brand of that name, one of `NAMES`."""
    named: Brand = import_module(f"{__name__}.{name}").BRAND
    return named
