"""Formats money as a house writes it: the currency's sign and its place, the groups of digits, and the minor units.

An amount is a whole number of the currency's smallest unit. Names in the program call that unit `cents`, whatever the
currency: cents of a dollar, avos of a pataca, or the dong or won itself, which has no smaller unit. Only texts for
people depend on the currency.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from controller.basics.errors import TableError
from controller.basics.near import meant

HOUSE = Path("/etc/table-controller/house.toml")
"""The house's file: `currency = "VND"`, and `languages` of the pit's papers. A machine without it counts in dollars."""

_KEYS = ("currency", "languages")


class Currency(NamedTuple):
    """The way in which a currency is written. `digits` is how many digits follow the decimal point, 0 for a currency
    without minor units."""

    code: str
    sign: str
    before: bool = True
    """Whether the sign stands before the figures."""

    group: str = ","
    point: str = "."
    digits: int = 2


_DOLLARS = Currency("USD", "$")
_ALL = (
    _DOLLARS,
    Currency("HKD", "HK$"),
    Currency("MOP", "MOP$"),
    Currency("PHP", "₱"),
    Currency("VND", "\u00a0₫", before=False, group=".", point=",", digits=0),
    Currency("KRW", "₩", digits=0),
)
CURRENCIES: Mapping[str, Currency] = MappingProxyType({each.code: each for each in _ALL})
"""The currencies by their ISO 4217 codes."""


def in_use() -> Currency:
    """Return the currency that the house's file on this machine names, or US dollars if there is no such file. Raises
    TableError `house_file` if the file cannot be read, names no known currency, or has an unknown key."""
    return _of(HOUSE)


def house_file() -> Mapping[str, Any]:
    """Return the content of the house's file on this machine, or an empty mapping if there is no such file. Raises
    TableError `house_file` if the file cannot be read, names no currency, or has an unknown key."""
    return _read(HOUSE)


@cache
def _read(path: Path) -> Mapping[str, Any]:
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        do = 'Write, for example: currency = "USD"'
        raise TableError("house_file", f"{path} cannot be read: {error}", do) from None
    strange = "; ".join(f"there is no key {key}{meant(key, _KEYS)}" for key in said if key not in _KEYS)
    if strange or "currency" not in said:
        raise TableError("house_file", f"{path}: {strange or 'currency is missing'}", 'Write: currency = "USD"')
    return said


@cache
def _of(path: Path) -> Currency:
    if not (said := _read(path)):
        return _DOLLARS
    code = str(said.get("currency"))
    if (found := CURRENCIES.get(code)) is None:
        what = f"{path}: there is no currency {code}{meant(code, CURRENCIES)}"
        raise TableError("house_file", what, f"The currencies here are: {', '.join(CURRENCIES)}.")
    return found


def figures(cents: int | Fraction, currency: Currency | None = None) -> str:
    """Format an amount without the currency's sign: `1,234.50`."""
    as_ = currency or in_use()
    minus, whole = "-" if cents < 0 else "", abs(round(cents))
    units, minor = divmod(whole, 10**as_.digits)
    grouped = f"{units:,}".replace(",", as_.group)
    return f"{minus}{grouped}{as_.point}{minor:0{as_.digits}d}" if as_.digits else f"{minus}{grouped}"


def amount(cents: int | Fraction, currency: Currency | None = None) -> str:
    """Format an amount for people: `$1,234.50`."""
    as_ = currency or in_use()
    return _signed(figures(cents, as_), as_)


def short(cents: int, currency: Currency | None = None) -> str:
    """Format an amount for people, without minor units if the amount is a whole number of units: `$1,234`, `$12.50`."""
    as_ = currency or in_use()
    said = figures(cents, as_)
    return _signed(said if cents % 10**as_.digits or not as_.digits else said.partition(as_.point)[0], as_)


def _signed(figures_: str, as_: Currency) -> str:
    minus = "-" if figures_.startswith("-") else ""
    bare = figures_.removeprefix("-")
    return f"{minus}{as_.sign}{bare}" if as_.before else f"{minus}{bare}{as_.sign}"
