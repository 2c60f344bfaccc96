"""The types of the JSON that `pitctl` commands print with `--json`. Here are only those reports for which the ledger's
own modules have no type."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from controller.pit.reference.house_rules import HouseRules


class BackupTold(Struct, frozen=True):
    """What a backup holds, as `pitctl verify` prints it."""

    at: str
    """When it was made: RFC 3339 in UTC."""

    tables: dict[str, int]
    """By table, the number of its last event in the backup."""

    key: str | None
    """The fingerprint of the key that signed it; null where an earlier version wrote it, unsigned."""

    findings: tuple[str, ...]
    """What does not balance in it."""


class Person(Struct, frozen=True):
    """A person who took a decision: the user account, as the kernel named it, and the person's own name."""

    account: str
    name: str


class DecisionTold(Struct, frozen=True, kw_only=True):
    """A decision in the ledger's chain of decisions, as the pit signed it. A decision that an earlier version recorded
    has no signature.

    The fields after `signature` differ from one kind of decision to another. Fields that the kind does not use are not
    set.
    """

    after: int
    """The position of the last event that was committed by then."""

    decision: int | UnsetType = UNSET
    """Its number, from 1."""

    before: str | UnsetType = UNSET
    """The digest of the decision before it: SHA-256 in hex."""

    at: str | UnsetType = UNSET
    by: Person | UnsetType = UNSET
    witness: Person | UnsetType | None = UNSET
    """The second person, where the decision takes two."""

    signature: str | UnsetType = UNSET
    """By the pit's key, of the other fields."""

    award: str | UnsetType = UNSET
    step: str | UnsetType = UNSET
    """What became of the award: "verified", "paid" or "rejected"."""

    cents: int | UnsetType = UNSET
    """With which amount; 0 of a rejected award."""

    dismissed: str | UnsetType = UNSET
    """The award of which people dismissed what a table told."""

    slip: int | UnsetType = UNSET
    """The number of a slip that was printed."""

    of_award: str | UnsetType | None = UNSET
    """The slip's award."""

    adopted: str | UnsetType = UNSET
    """The table that is heard from then on, in this `epoch` and under this `public_key`."""

    epoch: str | UnsetType = UNSET
    public_key: str | UnsetType = UNSET
    retired: str | UnsetType = UNSET
    """The table that is gone for good."""

    table: str | UnsetType = UNSET
    set_aside_as: str | UnsetType = UNSET
    """The name under which the events of a wrong adoption are kept."""

    reason: str | UnsetType = UNSET
    """Why a table was retired, an adoption taken back or terms changed, as a person typed it."""

    terms: dict[str, Any] | UnsetType = UNSET
    """A meter's terms from then on, or from when the meter is won, where they wait."""

    closed: str | UnsetType = UNSET
    """The meter that was closed, of which `cents` moved."""

    into: str | UnsetType | None = UNSET
    """The meter to which they moved; null for the house's reserve."""

    reserve_moved_to: str | UnsetType = UNSET
    """The meter to which the house's reserve moved."""

    corrected: str | UnsetType = UNSET
    """The id of the void event: what it had left on the meters was taken off."""

    off_cents: dict[str, int] | UnsetType = UNSET
    """By meter, what it shows less by that."""

    voids_stay: bool | UnsetType = UNSET
    """That from then on a void lowers no meter: a ledger of an earlier version has this once."""

    document: str | UnsetType = UNSET
    """The reference of the document by which money moved."""

    waits: bool | UnsetType = UNSET
    """Whether these terms waited until the meter was won; absent where they did not."""

    recalled: bool | UnsetType = UNSET
    """Whether people took over a step that the table had told: they decided on nothing, and paid nobody."""

    lowered: dict[str, Any] | UnsetType = UNSET
    """The meter that shows less by a rejection, `from_cents` and `to_cents`."""

    without: list[str] | UnsetType = UNSET
    """The tables for which the award waited, and without which two people decided."""

    measure: str | UnsetType = UNSET
    """The table that was asked what it runs."""

    nonce: str | UnsetType = UNSET
    """Of that question: 64 hexadecimal digits."""

    program: str | UnsetType = UNSET
    """The digest of the pit's own program by then."""

    proof: str | UnsetType = UNSET
    """What the pit's own files give for that nonce."""

    withdrawn: str | UnsetType = UNSET
    """The meter whose waiting terms were taken back."""

    digest: str | UnsetType = UNSET
    """The digest of these terms: SHA-256 in hex."""

    since: str | UnsetType = UNSET
    """From when the house's rules hold."""

    house_rules: HouseRules | UnsetType = UNSET
    what: str | UnsetType = UNSET
    """What kind of decision it was, where its own row is gone from the ledger."""
