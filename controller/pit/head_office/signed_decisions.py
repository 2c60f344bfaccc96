"""Check that a house's decisions are those that its pit signed, in the order of signing. Check that two people took
each decision that needs two.

Each signed decision has its number and the SHA-256 of the decision before it, both under the signature. So nobody can
change, remove, insert or move a decision unnoticed. Somebody can still leave out the last decisions of the list.
Against that, head office remembers how many decisions it has seen (`remembered`), and each table reports its own
awards. The pit's key may be rotated: the former key signs its successor, and signs no decision after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from controller.contract.canonical import canonical
from controller.contract.keys import signature_holds
from controller.contract.pit_words import Rotation

_PRACTICE = "practice:"


class _Person(Struct, frozen=True):
    account: str


class _Terms(Struct, frozen=True):
    meter: str


class _Signed(Struct, frozen=True):
    """The fields of a signed decision that head office checks."""

    decision: int
    before: str
    at: str
    by: _Person
    witness: _Person | None
    award: str | None = None
    step: str | None = None
    recalled: bool = False
    terms: _Terms | None = None
    set_aside_as: str | None = None
    retired: str | None = None
    dismissed: str | None = None
    withdrawn: str | None = None
    closed: str | None = None
    reserve_moved_to: str | None = None
    corrected: str | None = None

    def __str__(self) -> str:
        return f"decision {self.decision} of {self.at:.40}"

    @property
    def accounts(self) -> set[str]:
        """Return the accounts of the one or two people who decided."""
        return {person.account for person in (self.by, self.witness) if person is not None}

    @property
    def takes_two(self) -> bool:
        """Tell whether the contract (the rules for table, pit and head office) asks for two people for every decision
        of this kind."""
        return (
            self.step == "rejected"
            or self.recalled
            or any((self.set_aside_as, self.retired, self.dismissed, self.withdrawn, self.closed))
            or any((self.reserve_moved_to, self.corrected))
        )


class _Stated(Struct, frozen=True):
    """The fields of a pit's statement that head office checks."""

    public_key: str
    rotations: list[dict[str, Any]]
    decisions: list[dict[str, Any]]


def findings(statement: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the signed decisions of a pit's statement. Raises ValueError if the statement does not
    have the right form."""
    try:
        stated = convert(statement, _Stated)
        unsigned = next((place for place, each in enumerate(stated.decisions) if "signature" in each), None)
        place = len(stated.decisions) if unsigned is None else unsigned
        read = [convert(each, _Signed) for each in stated.decisions[place:]]
    except ValidationError as error:
        raise ValueError(str(error)) from None
    yield from _chain(stated, place, read)
    yield from _people(read)


def _chain(stated: _Stated, unsigned: int, read: Sequence[_Signed]) -> Iterator[str]:
    """Yield what is wrong with the order and the signatures of the decisions. `read` holds the signed decisions; the
    first `unsigned` decisions of the statement have no signature."""
    keys = _keys(stated)
    if keys is None:
        yield "the statement's rotations do not lead to the pit's key"
        keys = [bytes.fromhex(stated.public_key)]
    before = sha256(canonical({"decisions": stated.decisions[:unsigned]})).hexdigest()
    of_key = 0
    for place, (bare, each) in enumerate(zip(stated.decisions[unsigned:], read, strict=True), unsigned + 1):
        if (each.decision, each.before) != (place, before):
            yield f"{each} does not follow the decision before it: one was taken out, put in, moved or changed"
        signed_by = next((number for number in range(of_key, len(keys)) if signature_holds(bare, keys[number])), None)
        if signed_by is None:
            yield f"{each} is not signed by the pit's key"
        else:
            of_key = signed_by
        before = sha256(canonical(bare)).hexdigest()


def pit_keys(statement: Mapping[str, Any] | None) -> list[bytes]:
    """Return the public keys with which the pit has signed so far, oldest first. Return an empty list if the statement
    does not give the keys."""
    try:
        return _keys(convert(statement or {}, _Stated)) or []
    except ValueError:
        return []


def _keys(stated: _Stated) -> list[bytes] | None:
    """Return the public keys that the pit has used, oldest first. Each key must be signed by the key before it, and the
    last must be the statement's key. Return None if that does not hold, or if a rotation cannot be read."""
    rotations = [rotation for each in stated.rotations if (rotation := Rotation.read(each)) is not None]
    holds = (
        len(rotations) == len(stated.rotations)
        and all(one.public_key == other.former for one, other in pairwise(rotations))
        and all(signature_holds(to_builtins(each), bytes.fromhex(each.former)) for each in rotations)
        and (not rotations or rotations[-1].public_key == stated.public_key)
    )
    return [bytes.fromhex(key) for key in (*(each.former for each in rotations), stated.public_key)] if holds else None


def _people(decisions: Sequence[_Signed]) -> Iterator[str]:
    """Yield a finding for each decision that one person took although it needs two, and for each decision of a practice
    pit (a pit that does not check who asks)."""
    verified: dict[str | None, set[str]] = {}
    meters: set[str] = set()
    for each in decisions:
        if any(account.startswith(_PRACTICE) for account in each.accounts):
            yield f"{each} was taken at a pit for practice, where nobody is known"
        if each.step == "verified":
            verified[each.award] = each.accounts
        if each.step == "paid" and not each.recalled and each.by.account in verified.get(each.award, ()):
            yield f"{each}: {each.by.account} verified and paid award {each.award}"
        changes_terms = each.terms is not None and each.terms.meter in meters
        if each.terms is not None:
            meters.add(each.terms.meter)
        if (each.takes_two or changes_terms) and len(each.accounts) < 2:
            yield f"{each} was one person's, and takes two"
