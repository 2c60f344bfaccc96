"""Compares the names of two people. Where two people must agree, the second must be another person than the first."""

from __future__ import annotations

from unicodedata import normalize


def same_name(one: str, other: str) -> bool:
    """Tell whether two names belong to one person, however they are written. Example: "Ann" and "ann." do."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", name).casefold())
    return "".join(character for character in folded if character.isalnum())
