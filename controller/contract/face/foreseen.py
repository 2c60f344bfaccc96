"""The types that describe what an act would change, so that a person can read it before confirming the act.
`controller/table/foreseen.py` derives these values from the event that the act would make."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.events import AwardWon, ProgressiveSeats, SeatCents, SettlementShown
from controller.contract.face.table import PublicHand


class Worth(msgspec.Struct, frozen=True):
    """The value of an award of a progressive bet: an amount in cents, or a share of a meter, such as "1:10"."""

    cents: int | None
    meter: str | None
    share: str


class WouldCorrect(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="correction"):
    """What the correction of a finished round would change."""

    shoe: int
    round: int
    hands_before: tuple[PublicHand, ...]
    """The hands as they were told."""

    hands: tuple[PublicHand, ...]
    by_the_rules: bool
    """Whether the rules deal the new hands so."""

    worth: dict[str, dict[str, Worth]]
    """By progressive bet and award."""

    outcome: str | None = None
    awards: tuple[AwardWon, ...] = ()
    awards_before: tuple[AwardWon, ...] = ()
    settlement: SettlementShown | None = None
    settlement_before: SettlementShown | None = None


class WouldVoid(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="void"):
    """What would follow if the round in play were ended without a result."""

    shoe: int
    round: int
    progressive: tuple[ProgressiveSeats, ...]
    awards: tuple[AwardWon, ...]
    """What would have been won whatever cards came."""

    settlement: SettlementShown | None = None


class WouldClose(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="shoe_closed"):
    """What would be left if the shoe were ended now: the number of its rounds, the number of cards in it, and the
    commission owed."""

    shoe: int
    rounds: int
    cards_left: int
    commission_owed: tuple[SeatCents, ...]


Would = WouldCorrect | WouldVoid | WouldClose


def would(answer: dict[str, Any]) -> Would | None:
    """Parse the field `would` of an answer on the control socket, which says what the requested act would change.
    Returns None if the act has no preview. Raises ValueError if another version of the program made the answer."""
    return msgspec.convert(answer, Would) if answer else None
