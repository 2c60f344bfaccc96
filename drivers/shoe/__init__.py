"""The brands of card-reading shoe.

Each brand has a file in this folder, which ends with the brand's object `BRAND`. The folder is the only list of brands.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who only asks for the brands' names loads no types
    from drivers.line.brand import Brand

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
"""The names of all brands, as `[shoe] driver` gives them."""


def brand(name: str) -> Brand:
    """Return the brand of shoe with this name, one of `NAMES`."""
    named: Brand = import_module(f"{__name__}.{name}").BRAND
    return named
