"""The path of the folder `config`, with the configuration files that come with the program."""

from __future__ import annotations

import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2] / "config"

CONFIG = _CHECKOUT if _CHECKOUT.is_dir() else Path(sys.prefix) / "share" / "table-controller"
"""The folder with `games`, `tables` and `pit.toml`: a checkout's own, or where a wheel puts it."""
