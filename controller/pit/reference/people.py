"""The people who decide at the pit: their user accounts, their names and their reasons, and the check that two people
have two accounts."""

from __future__ import annotations

import pwd
from contextlib import suppress

from controller.basics.errors import TableError

PIT = "pit"
"""Who takes a step that nobody decides: the pit itself."""

_MOST_CHARACTERS = 60
_MOST_OF_A_REASON = 300


def account_of(uid: int) -> str:
    """Return the name of the user account with this number on this machine. Return for example "#1001" if the machine
    knows no such account, or if the account is named "pit", as the pit itself is."""
    with suppress(KeyError):
        account = pwd.getpwuid(uid).pw_name
        if account != PIT:
            return account
    return f"#{uid}"


def display_name(account: str) -> str:
    """Return the name of the person to whom this user account belongs, from this machine's list of accounts; may be
    empty."""
    with suppress(KeyError, ValueError):
        shown = pwd.getpwnam(account).pw_gecos.partition(",")[0].strip()
        return shown[:_MOST_CHARACTERS] if shown.isprintable() else ""
    return ""


def name(by: str) -> str:
    """Check the name of the user account that takes a decision, and return it. Raises TableError `name_missing`."""
    if not by.strip() or not by.isprintable() or len(by) > _MOST_CHARACTERS:
        do = f"Let the account have a name of at most {_MOST_CHARACTERS} characters."
        raise TableError("name_missing", f"{by[:_MOST_CHARACTERS]!r} is no account's name.", do)
    return by.strip()


def two_people(by: str, witness: str) -> tuple[str, str]:
    """Check that two different user accounts take a decision, and return both. Raises TableError `name_missing`, or
    `not_two_people` if both are the same."""
    first, second = name(by), name(witness)
    if first == second:
        raise not_two_people(first)
    return first, second


def not_two_people(account: str) -> TableError:
    """Return the error for one account that tries to decide as two people."""
    return TableError(
        "not_two_people",
        f"The account {account} has decided on this already, and this decision needs another person.",
        "Let another person decide, from that person's own account.",
    )


def both(by: str, witness: str | None) -> str:
    """Return the names of the user accounts that took a decision, as text for people. Example: "anna, witness ben"."""
    return by if witness is None else f"{by}, witness {witness}"


def reason(text: str) -> str:
    """Check the reason that somebody gave for a decision, and return it. Raises TableError `reason_missing`."""
    if not text.strip() or not text.isprintable() or len(text) > _MOST_OF_A_REASON:
        raise TableError(
            "reason_missing",
            f"{text[:_MOST_CHARACTERS]!r} is no reason.",
            f"Say why in one line of at most {_MOST_OF_A_REASON} characters, for the people who look later.",
        )
    return text.strip()
