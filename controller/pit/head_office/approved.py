"""Read the meters' terms (seed, shares of a wager, limit, prices) that head office has approved, from head office's own
files. These files have the same form as a pit's settings file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.contract.bounds import MOST_CENTS, MOST_WAGER_CENTS, NAME, is_count
from controller.pit.head_office.terms import Terms

_SHARE = re.compile("([0-9]{1,9}):([1-9][0-9]{0,8})")


def load(files: Sequence[Path]) -> dict[str, list[Terms]]:
    """Return for each meter the list of its approved terms, in the order of the files. Each file holds the terms of all
    meters that were in force at one time. If two files in a row have the same terms of a meter, list them once.

    Raises TableError `terms_unreadable`.
    """
    approved: dict[str, list[Terms]] = {}
    for path in files:
        try:
            meters = tomllib.loads(path.read_text("utf-8"))["meters"]
            for name, each in meters.items():
                terms, before = _terms(name, each), approved.setdefault(name, [])
                if before[-1:] != [terms]:
                    before.append(terms)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TableError(
                "terms_unreadable",
                f"The approved terms {path} cannot be read: {error}.",
                "Write each meter's terms under [meters.NAME], as config/pit.toml does.",
            ) from None
    return approved


def _terms(name: str, section: dict[str, Any]) -> Terms:
    seed_cents = section["seed_cents"]
    most_cents = section.get("reseed_at_most_cents", seed_cents)
    limit_cents = section.get("limit_cents")
    amounts = (seed_cents, most_cents, most_cents if limit_cents is None else limit_cents)
    if not (NAME.fullmatch(name) and all(is_count(cents, 0, MOST_CENTS) for cents in amounts)):
        raise ValueError(f"the seed or the limit of {name!r:.70} is no amount in whole cents")
    shares = _share(section["contribution"]), _share(section.get("reserve", "0:1"))
    return Terms(seed_cents, *shares, most_cents, limit_cents, prices(section.get("prices_cents")))


def prices(cents: Any) -> tuple[int, ...] | None:
    """Check a list of wager prices from a file of terms. Return the prices in cents, or None if `cents` is None,
    because any price is then allowed. Raises ValueError if `cents` is neither None nor a list of prices."""
    if cents is None:
        return None
    if not (isinstance(cents, list) and cents and all(is_count(each, 1, MOST_WAGER_CENTS) for each in cents)):
        raise ValueError(f"{cents!r:.60} are no prices in whole cents")
    return tuple(cents)


def _share(text: str) -> Fraction:
    if (match := _SHARE.fullmatch(text)) is None:
        raise ValueError(f"{text!r:.30} is no part of a wager, such as 12:100")
    return Fraction(int(match[1]), int(match[2]))
