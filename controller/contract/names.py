"""When two names are one person's: where two people decide, at the table and at the pit, the second is another one."""

from __future__ import annotations

from unicodedata import normalize


def same_name(one: str, other: str) -> bool:
    """Whether two names are one person's, however they are written: "Ann" and "ann." are."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", name).casefold())
    return "".join(character for character in folded if character.isalnum())
