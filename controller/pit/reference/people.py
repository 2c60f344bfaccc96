"""The people who decide at the pit: their names, their reasons, and that two people are two persons."""

from __future__ import annotations

from controller.basics.errors import TableError
from controller.contract.names import same_name

_MOST_CHARACTERS = 60
_MOST_OF_A_REASON = 300


def name(by: str) -> str:
    """A person's name as it was given. Raises TableError `name_missing`."""
    if not by.strip() or not by.isprintable() or len(by) > _MOST_CHARACTERS:
        do = f"Give the name of the person who decides, in one line of at most {_MOST_CHARACTERS} characters."
        raise TableError("name_missing", f"{by[:_MOST_CHARACTERS]!r} is no person's name.", do)
    return by.strip()


def two_people(by: str, witness: str) -> tuple[str, str]:
    """Two people's names. Raises TableError `name_missing`, or `witness_missing` where both names are one person's.

    Names are compared by their letters and digits alone: `Ann` and `ann.` are one person.
    """
    first, second = name(by), name(witness)
    if same_name(first, second):
        raise TableError(
            "witness_missing",
            f"{first!r} and {second!r} are one person, and this decision needs two.",
            "Let a second person look at this decision, and give that person's name with --witness.",
        )
    return first, second


def reason(text: str) -> str:
    """Why somebody decides so. Raises TableError `reason_missing`."""
    if not text.strip() or not text.isprintable() or len(text) > _MOST_OF_A_REASON:
        raise TableError(
            "reason_missing",
            f"{text[:_MOST_CHARACTERS]!r} is no reason.",
            f"Say why in one line of at most {_MOST_OF_A_REASON} characters, for the people who look later.",
        )
    return text.strip()
