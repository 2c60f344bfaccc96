"""Compares the names of two people. If an act needs two people, the second person must not be the first one."""

from __future__ import annotations

from unicodedata import normalize


def same_name(one: str, other: str) -> bool:
    """Tell whether two names belong to one person, even if they are written differently. Example: "Ann" and "ann."
    belong to one person."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", name).casefold())
    return "".join(character for character in folded if character.isalnum())
