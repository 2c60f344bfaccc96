"""The pit's settings file: the meters' terms, what the house watches at its tables, its day, its tax forms and roles.

`config/pit.toml` is the example. Its meters are what a new ledger without settings has.

[meters.player_personal]
seed_cents = 1000000
contribution = "12:100"
reserve = "3:100"

[tables]
most_voids_in_a_shoe = 2
least_edge = "0:100"

[house]
zone = "America/Los_Angeles"
day_begins = "06:00"
shifts = ["06:00", "14:00", "22:00"]

[[tax]]
form = "W-2G"
since = 2026-01-01
times_the_wager = 300
at_least_cents = 200000

[roles]
accounting = ["pit-accounting"]

[program]
approved = ["05d1…", "9c40…"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from msgspec import Struct, ValidationError, convert, field

from controller.basics.digest import is_digest
from controller.basics.errors import TableError
from controller.basics.shipped import CONFIG
from controller.contract.bounds import MOST_CENTS, MOST_WAGER_CENTS, NAME, is_count
from controller.pit.reference.house_rules import HouseRules, TaxRule
from controller.pit.reference.meters import Terms, share_of
from controller.pit.reference.roles import OF_THE_PACKAGE, ROLES, Groups

MOST_VOIDS_IN_A_SHOE = 2
"""A shoe of a table with more voided rounds than this is an alarm, where the settings name no other number. Only rounds
with a progressive wager count."""


class Settings(Struct, frozen=True):
    """The pit's settings. They hold the terms of every meter by its name, and what the house watches (how many rounds
    of a shoe may be voided without an alarm, and the least house edge of a progressive bet). They also hold the house's
    rules, the user groups that give people their roles at the pit, and the digests of approved programs."""

    meters: Mapping[str, Terms]
    most_voids_in_a_shoe: int = MOST_VOIDS_IN_A_SHOE
    least_edge: Fraction = Fraction(0)
    """The least part of its price that a progressive bet keeps in the long run. `tablectl check` refuses less."""

    house: HouseRules = HouseRules()
    roles: Groups = field(default_factory=lambda: OF_THE_PACKAGE)

    approved: tuple[str, ...] = ()
    """The digests of the programs that may be the pit's, as `tablectl digest` prints them. Empty: each may."""


_MOST_VOIDS = 100
_MOST_TIMES = 1_000_000
_SECTIONS = {"meters", "tables", "house", "tax", "roles", "program"}
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./-]{0,29}")
_LONGEST_GROUP = 32
_MOST_GROUP = 2**32 - 2
_KEYS = {"seed_cents", "contribution", "reserve", "reseed_at_most_cents", "limit_cents", "prices_cents"}
_RATIO = re.compile(r"([0-9]{1,9}):([1-9][0-9]{0,8})")


def load(path: Path) -> Settings:
    """Read the settings from a file. Raises TableError `settings_invalid` with everything that is wrong."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _invalid(path, [f"the file cannot be read: {why}"]) from error
    wrong = [*_wrong(values)]
    if wrong:
        raise _invalid(path, wrong)
    watched = values.get("tables", {})
    return Settings(
        {name: _terms(meter) for name, meter in values["meters"].items()},
        watched.get("most_voids_in_a_shoe", MOST_VOIDS_IN_A_SHOE),
        share_of(watched.get("least_edge", "0:1")),
        house=convert({**values.get("house", {}), "tax": values.get("tax", ())}, HouseRules),
        roles=OF_THE_PACKAGE | {role: tuple(groups) for role, groups in values.get("roles", {}).items()},
        approved=tuple(values.get("program", {}).get("approved", ())),
    )


@cache
def default() -> Settings:
    """Return the settings of `config/pit.toml`, which come with the program. A new ledger without settings gets these.

    The game's published rule sheets print no amounts for the meters, so the amounts come from that file.
    """
    return load(CONFIG / "pit.toml")


def _terms(meter: dict[str, Any]) -> Terms:
    return Terms(
        meter["seed_cents"],
        share_of(meter["contribution"]),
        share_of(meter.get("reserve", "0:1")),
        meter.get("reseed_at_most_cents", meter["seed_cents"]),
        meter.get("limit_cents"),
        tuple(meter.get("prices_cents", ())),
    )


def _wrong(values: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong in the settings file, one line each. Whether a meter takes more than the whole wager is
    checked only if nothing else is wrong with the meters."""
    if values.keys() - _SECTIONS:
        unknown = ", ".join(map(repr, sorted(values.keys() - _SECTIONS)))
        there = "[meters.NAME], [tables], [house], [[tax]], [roles], [program]"
        yield f"{unknown} is no key of the file, which holds {there} alone"
    yield from _wrong_tables(values.get("tables", {}))
    yield from _wrong_house(values.get("house", {}))
    yield from _wrong_tax(values.get("tax", []))
    yield from _wrong_roles(values.get("roles", {}))
    yield from _wrong_program(values.get("program", {}))
    meters = values.get("meters")
    if not isinstance(meters, dict) or not meters:
        yield "the file names no meter: write [meters.NAME] for each meter that the tables' game files name"
        return
    wrong = [*_wrong_meters(meters)]
    yield from wrong
    for name, meter in meters.items() if not wrong else ():
        terms = _terms(meter)
        if terms.contribution + terms.reserve > 1:
            yield f"meters.{name}: the meter and its reserve together take more than the whole wager"


def _wrong_tables(tables: Any) -> Iterator[str]:
    if not isinstance(tables, dict):
        yield "tables: write [tables] and its keys below it"
        return
    for key in sorted(tables.keys() - {"most_voids_in_a_shoe", "least_edge"}):
        yield f"tables.{key!r}: is no key of [tables]; the keys are most_voids_in_a_shoe, least_edge"
    if not is_count(most := tables.get("most_voids_in_a_shoe", 0), 0, _MOST_VOIDS):
        yield f"tables.most_voids_in_a_shoe: {_shown(most)} is no whole number from 0 to {_MOST_VOIDS}"
    edge = tables.get("least_edge", "0:1")
    if not (isinstance(edge, str) and _RATIO.fullmatch(edge)) or share_of(edge) >= 1:
        yield f'tables.least_edge: {_shown(edge)} is no part of a wager; write it as "5:100"'


def _wrong_house(house: Any) -> Iterator[str]:
    if not isinstance(house, dict):
        yield "house: write [house] and its keys below it"
        return
    for key in sorted(house.keys() - {"zone", "day_begins", "shifts"}):
        yield f"house.{key!r}: is no key of [house]; the keys are zone, day_begins, shifts"
    zone = house.get("zone", "UTC")
    if not _zones():
        yield "house.zone: this machine knows no time zone; install them: sudo apt-get install -y tzdata"
    elif not isinstance(zone, str) or zone not in _zones():
        yield f'house.zone: {_shown(zone)} is no time zone; write it as "America/Los_Angeles"'
    if not _is_time(begins := house.get("day_begins", "06:00")):
        yield f'house.day_begins: {_shown(begins)} is no time; write it as "06:00"'
    shifts = house.get("shifts", [])
    if not isinstance(shifts, list) or not all(map(_is_time, shifts)) or len({*shifts}) != len(shifts):
        yield f'house.shifts: {_shown(shifts)} are no times, each once; write them as ["06:00", "14:00", "22:00"]'


_zones = cache(available_timezones)  # which looks at some six hundred files


def _is_time(value: object) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _wrong_tax(rules: Any) -> Iterator[str]:
    if not isinstance(rules, list):
        yield "tax: write [[tax]] and its keys below it, for each date from which a rule holds"
        return
    for place, rule in enumerate(rules, 1):
        try:
            read = convert(rule, TaxRule)
        except ValidationError as error:
            yield f"tax, rule {place}: {error}"
            continue
        if strange := sorted(rule.keys() - set(TaxRule.__struct_fields__)):
            yield f"tax, rule {place}: {strange[0]!r} is no key of [[tax]]"
        if not (is_count(read.times_the_wager, 0, _MOST_TIMES) and is_count(read.at_least_cents, 0, MOST_CENTS)):
            yield f"tax, rule {place}: times_the_wager or at_least_cents is out of bounds"
        if not _FORM.fullmatch(read.form):
            yield f"tax, rule {place}: {_shown(read.form)} is no name of a form, such as W-2G"


def _wrong_roles(roles: Any) -> Iterator[str]:
    if not isinstance(roles, dict):
        yield "roles: write [roles] and its keys below it"
        return
    for role, groups in roles.items():
        if role not in ROLES:
            yield f"roles.{role!r}: is no role; the roles are {', '.join(ROLES)}"
        elif not isinstance(groups, list) or not all(map(_is_group, groups)):
            yield f'roles.{role}: write a list of groups of this machine, such as ["pit-{role}"]'


def _is_group(group: object) -> bool:
    if isinstance(group, str):
        return 0 < len(group) <= _LONGEST_GROUP and group.isprintable()
    return is_count(group, 0, _MOST_GROUP)


def _wrong_program(program: Any) -> Iterator[str]:
    if not isinstance(program, dict) or program.keys() - {"approved"}:
        yield "program: write [program] with the one key approved below it"
    elif not isinstance(digests := program.get("approved", []), list) or not all(map(is_digest, digests)):
        yield "program.approved: write a list of digests of 64 digits, as `tablectl digest` prints them"


def _wrong_meters(meters: dict[str, Any]) -> Iterator[str]:
    for name, meter in meters.items():
        if not NAME.fullmatch(name):
            yield f"meters.{name!r}: a meter's name is of a-z, 0-9 and _"
        elif not isinstance(meter, dict):
            yield f"meters.{name}: write [meters.{name}] and its keys below it"
        else:
            yield from (f"meters.{name}.{what}" for what in _wrong_in(meter))


def _wrong_in(meter: dict[str, Any]) -> Iterator[str]:
    for key in sorted(meter.keys() - _KEYS):
        yield f"{key!r}: is no key of a meter; the keys are {', '.join(sorted(_KEYS))}"
    for key in ("seed_cents", "contribution"):
        if key not in meter:
            yield f"{key}: is missing"
    for key in ("seed_cents", "reseed_at_most_cents", "limit_cents"):
        if key in meter and not is_count(meter[key], 0, MOST_CENTS):
            yield f"{key}: {_shown(meter[key])} is no amount in whole cents"
    shares = [key for key in ("contribution", "reserve") if key in meter]
    unsound = [key for key in shares if not (isinstance(meter[key], str) and _RATIO.fullmatch(meter[key]))]
    for key in unsound:
        yield f'{key}: {_shown(meter[key])} is no share of a wager; write it as "12:100"'
    prices = meter.get("prices_cents", [1])
    if not (isinstance(prices, list) and prices and all(is_count(each, 1, MOST_WAGER_CENTS) for each in prices)):
        yield f"prices_cents: {_shown(prices)} are no prices in whole cents; write them as [500]"
    seed, most = meter.get("seed_cents"), meter.get("reseed_at_most_cents")
    if isinstance(seed, int) and isinstance(most, int) and most < seed:
        yield "reseed_at_most_cents: is below seed_cents, the lowest level at which a meter begins"
    begins_at_most, limit = most if isinstance(most, int) else seed, meter.get("limit_cents")
    if isinstance(begins_at_most, int) and isinstance(limit, int) and limit < begins_at_most:
        yield "limit_cents: is below the level at which the meter may begin"


def _shown(value: object) -> str:
    """Return the value of a setting as text for people. Python itself refuses to write out a number of thousands of
    digits."""
    return "a number far too large" if isinstance(value, int) and value.bit_length() > 63 else repr(value)


def _invalid(path: Path, wrong: list[str]) -> TableError:
    return TableError(
        "settings_invalid",
        f"The settings {path} cannot be used: {'; '.join(wrong)}.",
        "Correct the file; config/pit.toml shows its form.",
    )
